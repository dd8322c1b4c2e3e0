/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * bench_netgraph: what a hop through the graph costs, in memory.
 *
 * A source sends the same packets again and again out of a node of the
 * bench's own; another such node, the sink, counts them and gives them back.
 * In between are nothing, a chain of ten hubs or tees of two hooks, or a
 * bridge of four links with a thousand hosts, of which each packet goes from
 * one to another.  Two cases more begin at an Ethernet interface and end at the
 * input of IPv4: without the graph, and by ether's lower into an eiface, whose
 * figure is what it takes more.  A figure is the median of the windows, in CPU
 * time of the sending thread, less what source and sink cost alone.  All cases
 * take turns in each round, so that a slow phase of the machine meets all of
 * them.  Two cores: two threads send through the same nodes.
 *
 * The second table is what mkpeer and shutdown cost by the number of nodes.
 *
 *	bench_netgraph [rounds]
 */
#include <err.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#include <netepoch/epoch.h>
#include <netgraph/netgraph.h>

#include "ether/ether_var.h"
#include "ifnet/if_var.h"
#include "intr/callout.h"
#include "intr/intr_var.h"
#include "mbuf/mbuf.h"
#include "netgraph/ng_var.h"
#include "netgraph/nodes/ng_nodes.h"
#include "sys/sysctl.h"
#include "sys/thread.h"
#include "wire/ether.h"

#define	HOPS		10
#define	LINKS		4
#define	HOSTS		1000
#define	PACKETS		1024		/* of a thread; a multiple of bursts */
#define	FRAME		64
#define	WINDOW		400000u		/* packets a window */
#define	ROUNDS_MAX	101
#define	THREADS		2

enum { NONE, HUB, TEE, BRIDGE, DIRECT, EIFACE, CASES };
static const struct {
	const char	*name;
	double		 hops;		/* what a figure is divided by */
	double		 bar[2];	/* ns: bursts, one by one; 0: none */
} cases[CASES] = {
	[NONE] = { "source and sink", 1, { 0, 0 } },
	[HUB] = { "hub, a hop of ten", HOPS, { 1.5, 25 } },
	[TEE] = { "tee, a hop of ten", HOPS, { 1.5, 25 } },
	[BRIDGE] = { "bridge, 1000 hosts", 1, { 15, 0 } },
	[DIRECT] = { "ether to IPv4", 1, { 0, 0 } },
	[EIFACE] = { "the same by eiface", 1, { 15, 0 } },
};

static struct vnet *vnet;
static node_p ends;			/* source and sink */
static hook_p entry[CASES][LINKS];
static struct ifnet *port[CASES];	/* where DIRECT and EIFACE begin */
static const uint8_t port_mac[6] = { 2, 0, 0, 1, 0, 0 };
static unsigned int nrounds = 15;
static double result[CASES][2][THREADS][THREADS][ROUNDS_MAX];

/* ---- Source and sink ---- */

static _Thread_local uint64_t sunk;

/* The packets are the source's: nothing is freed. */
static int
ends_rcvdata(hook_p hook, item_p item)
{

	(void)hook;
	sunk += item->it_n;
	return (0);
}

static const struct ng_type ends_type = {
	.version = NG_ABI_VERSION,
	.flags = NGTF_PERSISTENT,
	.name = "ends",
	.rcvdata = ends_rcvdata,
};

/* The same at the other end: what IPv4 is given. */
static void
ip_sink(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{

	(void)ifp;
	(void)m;
	sunk += n;
}

/* Nothing is sent by the interfaces. */
static void
port_output(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{

	if_output_drop(ifp, m, n, IFD_TXERR);
}

/* ---- Making graphs ---- */

static int
message(const char *path, uint32_t cmd, const void *arg, size_t len)
{
	struct ng_mesg *msg;

	msg = ng_mkmessage(NGM_GENERIC_COOKIE, cmd, arg, len);
	if (msg == NULL)
		errx(EX_OSERR, "no memory");
	return (ng_send_msg_path(ends, msg, path));
}

static void
mkpeer(const char *path, const char *type, const char *ours, const char *peer)
{
	struct ngm_mkpeer mp = { 0 };

	strcpy(mp.type, type);
	strcpy(mp.ourhook, ours);
	strcpy(mp.peerhook, peer);
	if (message(path, NGM_MKPEER, &mp, sizeof(mp)) != 0)
		errx(EX_SOFTWARE, "mkpeer %s at %s failed", type, path);
}

static void
connect_ends(const char *to, const char *ours, const char *peer)
{
	struct ngm_connect con = { 0 };

	strcpy(con.path, to);
	strcpy(con.ourhook, ours);
	strcpy(con.peerhook, peer);
	if (message(".", NGM_CONNECT, &con, sizeof(con)) != 0)
		errx(EX_SOFTWARE, "connect to %s failed", to);
}

/* From hook name of ends through HOPS nodes and back to ends. */
static void
make_chain(const char *name, const char *type)
{
	char path[NG_PATHSIZ], end[NG_HOOKSIZ];

	mkpeer(".", type, name, "left");
	snprintf(path, sizeof(path), "%s", name);
	for (int i = 1; i < HOPS; i++) {
		mkpeer(path, type, "right", "left");
		strcat(path, ".right");
	}
	snprintf(end, sizeof(end), "%s-end", name);
	connect_ends(path, end, "right");
}

static void
make_bridge(void)
{
	char ours[NG_HOOKSIZ], link[NG_HOOKSIZ];

	mkpeer(".", "bridge", "b0", "link0");
	for (int i = 1; i < LINKS; i++) {
		snprintf(ours, sizeof(ours), "b%d", i);
		snprintf(link, sizeof(link), "link%d", i);
		connect_ends("b0", ours, link);
	}
}

static struct ifnet *
make_port(const char *name)
{
	struct ifnet *ifp;

	if (if_alloc(vnet, IFT_ETHER, name, &ifp) != 0 ||
	    if_setlladdr(ifp, port_mac) != 0)
		errx(EX_SOFTWARE, "no interface %s", name);
	atomic_store(&ifp->if_output, port_output);
	if (if_attach(ifp) != 0 || if_setflags(ifp, IFF_UP, 0) != 0)
		errx(EX_SOFTWARE, "interface %s does not come up", name);
	return (ifp);
}

/* One interface as it is, and one whose frames an eiface takes up. */
static void
make_ports(void)
{
	struct ifnet *ifp;

	port[DIRECT] = make_port("eth0");
	port[EIFACE] = make_port("eth1");
	mkpeer("eth1:", "eiface", "lower", "ether");
	ifp = if_byname(vnet, "ngeth0");
	if (ifp == NULL || if_setlladdr(ifp, port_mac) != 0 ||
	    if_setflags(ifp, IFF_UP, 0) != 0)
		errx(EX_SOFTWARE, "ngeth0 does not come up");
}

static void
make_graphs(void)
{
	static const char *const names[] = { "none", "hub", "tee" };
	char name[NG_HOOKSIZ];

	ng_ctl_enter(vnet);
	if (ng_make_node(vnet, "ends", &ends) != 0)
		errx(EX_SOFTWARE, "no node");
	connect_ends(".", "none", "none-end");
	make_chain("hub", "hub");
	make_chain("tee", "tee");
	make_bridge();
	make_ports();
	for (int c = 0; c < DIRECT; c++)
		for (int i = 0; i < LINKS; i++) {
			snprintf(name, sizeof(name), "b%d", i);
			entry[c][i] = ng_findhook(ends, c == BRIDGE ? name :
			    names[c]);
		}
	ng_ctl_exit(vnet);
}

static void
start(void)
{
	static const struct ng_type *const types[] = { &ends_type,
		&ng_bridge_type, &ng_eiface_type, &ng_ether_type,
		&ng_hub_type, &ng_tee_type };
	int cpus[THREADS], n;

	n = thread_cpus(cpus, THREADS);
	if (mbuf_init(THREADS * PACKETS * 4) != 0 ||
	    (vnet = vnet_alloc()) == NULL ||
	    (vnet->v_sysctl = sysctl_tree_alloc()) == NULL ||
	    intr_domain_alloc(cpus, n, &vnet->v_intr) != 0 ||
	    callout_wheel_create("callout", &vnet->v_callouts) != 0 ||
	    ether_vnet_init(vnet) != 0 ||
	    ether_proto_register(ETHERTYPE_IP, ip_sink) != 0 ||
	    ng_vnet_init(vnet) != 0)
		errx(EX_OSERR, "no machine");
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (ng_type_register(vnet, types[i], NULL) != 0)
			errx(EX_OSERR, "no type %s", types[i]->name);
}

/* ---- Sending ---- */

struct sender {
	unsigned int	 sd_number;
	unsigned int	 sd_together;	/* threads that send */
	struct mbuf	*sd_m[PACKETS];	/* link i % LINKS's in groups of 64 */
	struct mbuf	*sd_f[PACKETS];	/* for the interfaces */
	struct thread	*sd_thread;
};

static struct sender sender[THREADS];
static _Atomic unsigned int ready[CASES * 2 * ROUNDS_MAX];

static double
cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ((double)ts.tv_sec * 1e9 + (double)ts.tv_nsec);
}

/* Host h is at link h % LINKS. */
static void
put_address(uint8_t *to, unsigned int h)
{

	memcpy(to, "\2\0\0\0", 4);
	to[4] = (uint8_t)(h >> 8);
	to[5] = (uint8_t)h;
}

static unsigned int
packet_link(unsigned int i)
{

	return (i / NG_BURST % LINKS);
}

/* Packets from each host to a random one at another link. */
static void
make_packets(struct sender *sd)
{
	uint64_t seed = 88172645463325252u + sd->sd_number;
	uint8_t frame[FRAME] = { 0 };
	unsigned int src, dst, link;

	for (unsigned int i = 0; i < PACKETS; i++) {
		link = packet_link(i);
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		src = (unsigned int)(seed >> 33) % (HOSTS / LINKS) * LINKS +
		    link;
		dst = (unsigned int)(seed >> 45) % (HOSTS / LINKS) * LINKS +
		    (link + 1 + (unsigned int)(seed >> 43) % (LINKS - 1)) %
		    LINKS;
		put_address(frame, dst);
		put_address(frame + 6, src);
		frame[12] = 8;
		sd->sd_m[i] = m_devget(frame, sizeof(frame));
		sd->sd_f[i] = m_devget(frame, sizeof(frame));
		if (sd->sd_m[i] == NULL || sd->sd_f[i] == NULL)
			errx(EX_OSERR, "no mbufs");
	}
}

/* Like a driver, it has just had both lines of a packet in its hands. */
static void
burst(hook_p hook, struct mbuf **m, unsigned int n)
{
	struct ng_item it;

	for (it.it_n = 0; it.it_n < n; it.it_n++) {
		it.it_m[it.it_n] = m[it.it_n];
		m[it.it_n]->m_flags = M_PKTHDR;
		*mtod(m[it.it_n], uint8_t *) = 2;
	}
	if (__predict_false(ng_fwd_item(&it, hook) != 0))
		errx(EX_SOFTWARE, "a send failed");
}

/* The same to an interface; input has taken the link header off. */
static void
burst_in(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	struct mbuf *in[NG_BURST];

	for (unsigned int i = 0; i < n; i++) {
		in[i] = m[i];
		m_init(m[i], m_dataspace(m[i]), FRAME);
		memcpy(mtod(m[i], uint8_t *), port_mac, sizeof(port_mac));
	}
	ifp->if_input(ifp, in, n);
}

/* Nanoseconds a packet. */
static double
window(struct sender *sd, int c, unsigned int n)
{
	unsigned int packets = n == 1 ? WINDOW / 4 : WINDOW;
	struct epoch_tracker et;
	double begin;

	sunk = 0;
	begin = cpu_ns();
	for (unsigned int sent = 0; sent < packets;) {
		NET_EPOCH_ENTER(et);
		for (unsigned int i = 0; i < PACKETS; i += n, sent += n)
			if (c < DIRECT)
				burst(entry[c][packet_link(i)], &sd->sd_m[i],
				    n);
			else
				burst_in(port[c], &sd->sd_f[i], n);
		NET_EPOCH_EXIT(et);
	}
	begin = cpu_ns() - begin;
	packets = (packets + PACKETS - 1) / PACKETS * PACKETS;
	if (sunk != packets)
		errx(EX_SOFTWARE, "%s: %ju of %u packets came back",
		    cases[c].name, (uintmax_t)sunk, packets);
	return (begin / packets);
}

/* All threads begin a case together. */
static void
meet(struct sender *sd, unsigned int number)
{

	atomic_fetch_add(&ready[number], 1);
	while (atomic_load(&ready[number]) < sd->sd_together)
		continue;
}

static void
send_all(void *arg)
{
	struct sender *sd = arg;
	unsigned int number = 0;

	for (unsigned int r = 0; r < nrounds; r++)
		for (int c = 0; c < CASES; c++)
			for (int one = 0; one < 2; one++) {
				meet(sd, number++);
				result[c][one][sd->sd_together - 1]
				    [sd->sd_number][r] = window(sd, c,
				    one ? 1 : NG_BURST);
			}
}

/* Each host is heard once, before any packet is for it. */
static void
teach(void)
{
	uint8_t frame[FRAME] = { 0 };
	struct epoch_tracker et;
	struct mbuf *m;

	NET_EPOCH_ENTER(et);
	for (unsigned int h = 0; h < HOSTS; h++) {
		put_address(frame, h);		/* to itself: goes nowhere */
		put_address(frame + 6, h);
		m = m_devget(frame, sizeof(frame));
		if (m == NULL || ng_send_data(entry[BRIDGE][h % LINKS], m) != 0)
			errx(EX_SOFTWARE, "host %u is not learned", h);
	}
	NET_EPOCH_EXIT(et);
}

static void
run(unsigned int together)
{
	int cpus[THREADS], n;

	n = thread_cpus(cpus, THREADS);
	for (unsigned int i = 0; i < sizeof(ready) / sizeof(ready[0]); i++)
		atomic_store(&ready[i], 0);
	for (unsigned int i = 0; i < together; i++) {
		sender[i].sd_together = together;
		if (thread_create(&sender[i].sd_thread, "sender",
		    cpus[(int)i % n], send_all, &sender[i]) != 0)
			errx(EX_OSERR, "no thread");
	}
	for (unsigned int i = 0; i < together; i++)
		thread_join(sender[i].sd_thread);
}

/* ---- The tables ---- */

static int
compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x < *y ? -1 : *x > *y);
}

/* The figure of a case: of the slower thread, less the base. */
static double
figure(int c, int one, unsigned int together)
{
	double v[ROUNDS_MAX], worst = 0;

	for (unsigned int t = 0; t < together; t++) {
		for (unsigned int r = 0; r < nrounds; r++) {
			v[r] = result[c][one][together - 1][t][r];
			if (c != NONE && c != DIRECT)
				v[r] -= result[c == EIFACE ? DIRECT : NONE]
				    [one][together - 1][t][r];
			v[r] /= cases[c].hops;
		}
		qsort(v, nrounds, sizeof(v[0]), compare);
		if (v[nrounds / 2] > worst)
			worst = v[nrounds / 2];
	}
	return (worst);
}

static void
print_hops(unsigned int ncpus)
{
	double ns[2];

	printf("netgraph: ns of CPU time a packet; medians of %u rounds\n"
	    "%-20s %6s %9s %9s %6s  %s\n", nrounds, "", "burst",
	    "one core", "two", "x", "bar, of one core");
	for (int c = 0; c < CASES; c++)
		for (int one = 0; one < 2; one++) {
			ns[0] = figure(c, one, 1);
			printf("%-20s %6d %9.2f", cases[c].name,
			    one ? 1 : NG_BURST, ns[0]);
			if (ncpus > 1) {
				ns[1] = figure(c, one, 2);
				printf(" %9.2f %6.2f", ns[1], ns[1] / ns[0]);
			} else
				printf(" %9s %6s", "-", "-");
			if (cases[c].bar[one] != 0)
				printf("  <= %g %s", cases[c].bar[one],
				    ns[0] <= cases[c].bar[one] ? "met" :
				    "MISSED");
			printf("\n");
		}
}

#define	CONTROL_RUNS	101

static double
median(double *v, unsigned int n)
{

	qsort(v, n, sizeof(v[0]), compare);
	return (v[n / 2]);
}

/* Medians of making and of ending one node beside those that are there. */
static void
time_control(double *make, double *end)
{
	double m[CONTROL_RUNS], e[CONTROL_RUNS], t;

	for (int i = 0; i < CONTROL_RUNS; i++) {
		ng_ctl_enter(vnet);
		t = (double)time_ns();
		mkpeer(".", "hub", "control", "x");
		m[i] = (double)time_ns() - t;
		t = (double)time_ns();
		if (message("control", NGM_SHUTDOWN, NULL, 0) != 0)
			errx(EX_SOFTWARE, "shutdown failed");
		e[i] = (double)time_ns() - t;
		ng_ctl_exit(vnet);
	}
	*make = median(m, CONTROL_RUNS) / 1000;
	*end = median(e, CONTROL_RUNS) / 1000;
}

static void
print_control(void)
{
	static const unsigned int sizes[] = { 10, 100, 1000, 10000 };
	char name[NG_HOOKSIZ];
	unsigned int made = 0;
	double make, end;

	printf("\nnetgraph: us to make and to end a node beside n others\n"
	    "%8s %9s %9s\n", "n", "mkpeer", "shutdown");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ng_ctl_enter(vnet);
		for (; made < sizes[i]; made++) {
			snprintf(name, sizeof(name), "n%u", made);
			mkpeer(".", "hub", name, "x");
		}
		ng_ctl_exit(vnet);
		time_control(&make, &end);
		printf("%8u %9.2f %9.2f\n", made, make, end);
	}
}

int
main(int argc, char **argv)
{
	int cpus[THREADS], ncpus = thread_cpus(cpus, THREADS);

	if (argc > 1)
		nrounds = (unsigned int)strtoul(argv[1], NULL, 10);
	if (nrounds == 0 || nrounds > ROUNDS_MAX)
		errx(EX_USAGE, "rounds: 1 to %d", ROUNDS_MAX);
	start();
	make_graphs();
	teach();
	for (unsigned int i = 0; i < THREADS; i++) {
		sender[i].sd_number = i;
		make_packets(&sender[i]);
	}
	run(1);
	if (ncpus > 1)
		run(2);
	print_hops((unsigned int)ncpus);
	print_control();
	ng_vnet_shutdown(vnet);
	VNET_CONFIG_LOCK(vnet);
	for (int c = DIRECT; c <= EIFACE; c++) {
		if_detach(port[c]);
		if_free(port[c]);
	}
	VNET_CONFIG_UNLOCK(vnet);
	ng_vnet_fini(vnet);
	return (0);
}
