/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * bench_experiment: one run of one variant of an experiment, as a JSON line.
 * bench/experiments/run puts runs together.
 *
 *	bench_experiment [--entry interrupt|packet] [--run n] [--burst n]
 *	    [--eiface] [--second-entry] [--batch n] [--secs s] [--flows n]
 *	    [--cpu n] [--helper n] [--routes n] [--neighbours n]
 *	    [--interfaces n] [--nodes n] [--wait]
 *
 * The machine of forward_lab.h forwards.  The source is an interrupt handler
 * like that of a driver: each run makes --run frames (64) and gives them to
 * port 0's if_input, --burst at a time.  --entry interrupt: it is an
 * INTR_TYPE_NET handler, and the ithread enters the epoch.  --entry packet: it
 * is none, port 0 is flagged IFF_NEEDSEPOCH, and ether_input() enters for each
 * burst.  --eiface: frames go from port 0's lower hook to an eiface, ngeth0, and are
 * forwarded from there; --second-entry flags that one.  The rates are those of
 * experiment_change.c, whose threads run on the CPU --helper; --wait has one
 * of them wait for grace periods.
 *
 * Each frame made must come out, or else was "lost".  That must be drops that
 * were counted, among which may be the machine's own ARP: what is neither is
 * "unaccounted", and the exit status is 70 if there is any, or if mbufs were
 * lost.
 *
 * The variables below belong to the ithread while the traffic runs, and to the
 * main thread before and after; `done' is posted between.
 */
#include <err.h>
#include <getopt.h>
#include <malloc.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include <netepoch/epoch.h>
#include <netgraph/netgraph.h>

#include "bench/experiment.h"
#include "bench/routes.h"
#include "bench/traffic.h"
#include "ifnet/if_var.h"
#include "intr/intr_var.h"
#include "netgraph/ng_var.h"
#include "netgraph/nodes/ng_nodes.h"
#include "stack/machine.h"
#include "sys/sysctl.h"
#include "sys/thread.h"

#define	WARM_NS		50000000u	/* before anything is counted */
#define	LOOK_RUNS	16u		/* handler runs between two looks */
#define	SECTION_GAP	1024u		/* handler runs between two timed */
#define	SECTIONS_MAX	(1u << 18)
#define	QUIET_MS	2000		/* for the last frames to arrive */
#define	NIFS		(2 * LAB_PORTS + 1)

static struct {
	bool		packet;		/* the epoch is entered for each */
	bool		eiface;
	bool		second;
	unsigned int	run;
	unsigned int	burst;
	unsigned int	batch;		/* 0: as the machine has it */
	unsigned int	flows;
	double		secs;
	int		cpu;
	struct change_conf change;
} conf = { .run = MBUF_BURST, .burst = MBUF_BURST, .flows = 1024, .secs = 0.25,
    .cpu = -1, .change.cc_cpu = -1 };

static struct lab lab;
static struct ifnet *ifps[NIFS];	/* whose drops are the traffic's */
static unsigned int nifps;
static uint64_t drops_before[IFD_COUNT];
static sem_t done;
static unsigned int nextflow, runs, section_left = 1;
static uint64_t made, sunk, section_begin, first, last;
static uint64_t made_first, made_last;
static double cpu_first, cpu_last;
static struct samples sections;

/* ---- Samples ---- */

void
samples_init(struct samples *sa, size_t max)
{

	sa->sa_ns = malloc(max * sizeof(*sa->sa_ns));
	if (sa->sa_ns == NULL)
		errx(EX_OSERR, "no memory for samples");
	memset(sa->sa_ns, 0, max * sizeof(*sa->sa_ns));
	sa->sa_max = max;
}

void
samples_add(struct samples *sa, uint64_t ns)
{

	if (ns > sa->sa_longest)
		sa->sa_longest = ns;
	if (sa->sa_n < sa->sa_max)
		sa->sa_ns[sa->sa_n++] = ns < UINT32_MAX ? (uint32_t)ns :
		    UINT32_MAX;
}

static int
compare_u32(const void *ap, const void *bp)
{
	const uint32_t a = *(const uint32_t *)ap, b = *(const uint32_t *)bp;

	return (a < b ? -1 : a > b);
}

void
samples_print(struct samples *sa, const char *name)
{
	const size_t n = sa->sa_n;

	qsort(sa->sa_ns, n, sizeof(sa->sa_ns[0]), compare_u32);
	printf(",\"%s\":{\"n\":%zu,\"median\":%.2f,\"p99\":%.2f,"
	    "\"max\":%.2f}", name, n, n == 0 ? 0 : sa->sa_ns[n / 2] * 1e-3,
	    n == 0 ? 0 : sa->sa_ns[n * 99 / 100] * 1e-3,
	    (double)sa->sa_longest * 1e-3);
}

/* ---- Traffic ---- */

static double
cpu_secs(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ((double)ts.tv_sec + (double)ts.tv_nsec * 1e-9);
}

/* What has another length is the machine's own: ARP. */
static void
sink(struct ifnet *far, struct mbuf **m, unsigned int n)
{

	(void)far;
	for (unsigned int i = 0; i < n; i++)
		sunk += m[i]->m_pkthdr.len == BENCH_FRAME;
	m_free_burst(m, n);
}

/* Make n frames; false if there are no mbufs just now. */
static bool
source(struct mbuf **m, unsigned int n)
{
	char *p;

	if (m_get_raw(m, n) != n)
		return (false);
	for (unsigned int i = 0; i < n; i++) {
		p = m_dataspace(m[i]);
		m_init(m[i], p, BENCH_FRAME);
		memcpy(p, bench_template, BENCH_FRAME);
		bench_frame_write((uint8_t *)p, &bench_flows[nextflow]);
		if (__predict_false(++nextflow == bench_nflows))
			nextflow = 0;
	}
	made += n;
	return (true);
}

/* Now and then: begin to count, and end.  False: it is over. */
static bool
look(uint64_t now)
{

	if (first == 0) {
		first = now + WARM_NS;
		last = 0;
	} else if (made_first == 0 && now >= first) {
		first = now;
		made_first = made;
		cpu_first = cpu_secs();
	} else if (made_first != 0 &&
	    now >= first + (uint64_t)(conf.secs * 1e9)) {
		last = now;
		made_last = made;
		cpu_last = cpu_secs();
		sem_post(&done);
		return (false);
	}
	return (true);
}

/*
 * Time a section now and then, so seldom that it costs no variant anything:
 * as many runs in a row as the batch has, for the source never pauses.
 */
static void
section_count(void)
{
	const uint64_t now = time_ns();

	if (section_begin == 0) {
		section_begin = now;
		section_left = conf.batch;
		return;
	}
	if (made_first != 0)
		samples_add(&sections, now - section_begin);
	section_begin = 0;
	section_left = SECTION_GAP;
}

/* The interrupt handler: inside the epoch, or not. */
static enum intr_more
source_intr(void *arg)
{
	struct ifnet *ifp = lab.lab_port[0];
	struct mbuf *m[MBUF_BURST];
	unsigned int n;
	uint64_t now;

	(void)arg;
	if (conf.batch != 0 && --section_left == 0)
		section_count();
	if (runs++ % LOOK_RUNS == 0) {
		now = time_ns();
		if (last != 0 || !look(now))
			return (INTR_DONE);
	}
	if (!source(m, conf.run))
		return (INTR_MORE);
	for (unsigned int i = 0; i < conf.run; i += n) {
		n = conf.run - i < conf.burst ? conf.run - i : conf.burst;
		atomic_load_explicit(&ifp->if_input, memory_order_acquire)
		    (ifp, m + i, n);
	}
	return (INTR_MORE);
}

static void
traffic_run(void)
{
	struct intr_domain *id = lab.lab_machine->ma_vnet->v_intr;
	struct intr_event *ie;
	struct intr_handler *ih;

	sem_init(&done, 0, 0);
	change_start(&lab, &conf.change);
	if (intr_event_create(id, "source", 0, -1, 0, &ie) != 0 ||
	    intr_handler_add(ie, conf.packet ? 0 : INTR_TYPE_NET, source_intr,
	    NULL, NULL, &ih) != 0)
		errx(EX_SOFTWARE, "no interrupt event");
	intr_event_schedule(ie);
	while (sem_wait(&done) != 0)
		continue;
	intr_handler_remove(ih);
	intr_event_destroy(ie);
	change_stop((double)(last - first + WARM_NS) * 1e-9);
}

/* ---- The machine ---- */

static void
setting(const char *name, const char *value)
{
	char text[256];

	if (sysctl_set(lab.lab_machine->ma_vnet->v_sysctl, name, value, text,
	    sizeof(text)) != 0)
		errx(EX_SOFTWARE, "%s: %s", name, text);
}

/* The node types that a variant needs; that of ether makes its nodes. */
static void
types_register(void)
{
	static const struct ng_type *const types[] = { &ng_ether_type,
	    &ng_eiface_type, &ng_hub_type };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (ng_type_register(lab.lab_machine->ma_vnet, types[i],
		    NULL) != 0)
			errx(EX_SOFTWARE, "no type %s", types[i]->name);
}

/* ngeth0 behind port 0's lower hook, up; with a second entry or without. */
static void
eiface_make(void)
{
	const struct ngm_mkpeer mp = { .type = "eiface", .ourhook = "lower",
	    .peerhook = "ether" };
	struct vnet *vnet = lab.lab_machine->ma_vnet;
	struct ng_mesg *msg;
	struct ifnet *ifp;
	node_p port;

	setting("net.graph.eiface.needsepoch", conf.second ? "1" : "0");
	msg = ng_mkmessage(NGM_GENERIC_COOKIE, NGM_MKPEER, &mp, sizeof(mp));
	if (msg == NULL)
		errx(EX_OSERR, "no memory");
	ng_ctl_enter(vnet);
	port = ng_findnode(vnet, lab.lab_port[0]->if_name);
	if (port == NULL || ng_send_msg_path(port, msg, ".") != 0)
		errx(EX_SOFTWARE, "no eiface");
	ng_ctl_exit(vnet);
	VNET_CONFIG_LOCK(vnet);
	ifp = if_byname(vnet, "ngeth0");
	if (ifp == NULL || if_setlladdr(ifp, lab.lab_port[0]->if_lladdr) != 0 ||
	    if_setflags(ifp, IFF_UP, 0) != 0)
		errx(EX_SOFTWARE, "no ngeth0");
	VNET_CONFIG_UNLOCK(vnet);
	ifps[nifps++] = ifp;
}

static uint64_t
drops(enum if_drop why)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < nifps; i++)
		n += if_counter(ifps[i], (enum if_counter)(IFC_DROPS + why));
	return (n);
}

/* What the graph has dropped, by reasons of its own. */
static uint64_t
graph_drops(const char *why)
{
	char name[64], value[32];

	snprintf(name, sizeof(name), "net.graph.drops.%s", why);
	if (sysctl_get(lab.lab_machine->ma_vnet->v_sysctl, name, value,
	    sizeof(value)) != 0)
		errx(EX_SOFTWARE, "no %s", name);
	return (strtoull(value, NULL, 10));
}

static void
machine_make(void)
{
	char number[16];

	bench_routes_make(1);
	lab_start(&lab, conf.cpu, sink);
	for (unsigned int i = 0; i < LAB_PORTS; i++) {
		ifps[nifps++] = lab.lab_port[i];
		ifps[nifps++] = lab.lab_far[i];
	}
	if (conf.batch != 0) {
		snprintf(number, sizeof(number), "%u", conf.batch);
		setting("hw.intr_epoch_batch", number);
		samples_init(&sections, SECTIONS_MAX);
	}
	if (conf.eiface || conf.change.cc_nodes != 0)
		types_register();
	if (conf.eiface)
		eiface_make();
	VNET_CONFIG_LOCK(lab.lab_machine->ma_vnet);
	if (conf.packet)
		atomic_fetch_or(&lab.lab_port[0]->if_flags, IFF_NEEDSEPOCH);
	VNET_CONFIG_UNLOCK(lab.lab_machine->ma_vnet);
	bench_flows_make(conf.flows, lab.lab_port[0]->if_lladdr,
	    lab_source());
	for (int why = 0; why < IFD_COUNT; why++)
		drops_before[why] = drops((enum if_drop)why);
}

/* Wait for the last frames; is every mbuf back? */
static bool
all_back(void)
{

	for (int i = 0; i < QUIET_MS; i++) {
		if (mbuf_nfree() == mbuf_nframes())
			return (true);
		usleep(1000);
	}
	return (false);
}

/* Resident bytes, or 0. */
static size_t
resident(void)
{
	unsigned long pages = 0;
	FILE *f;

	f = fopen("/proc/self/statm", "r");
	if (f == NULL)
		return (0);
	if (fscanf(f, "%*u %lu", &pages) != 1)
		pages = 0;
	fclose(f);
	return (pages * (size_t)sysconf(_SC_PAGESIZE));
}

struct memory {
	size_t		me_resident;	/* bytes, as are all */
	size_t		me_heap;	/* allocated and not freed */
};

static struct memory
memory_now(void)
{

	NET_EPOCH_DRAIN_CALLBACKS();
	return ((struct memory){ resident(), mallinfo2().uordblks });
}

/* ---- Report ---- */

/* Each reason with its count; the sum. */
static uint64_t
report_drops(void)
{
	static const char *const reasons[] = { "no_hook", "dead_hook",
	    "dead_node", "queue_full", "no_mbuf", "recv_full" };
	const char *comma = "";
	uint64_t n, sum = 0;

	printf(",\"drops\":{");
	for (int why = 0; why < IFD_COUNT; why++) {
		n = drops((enum if_drop)why) - drops_before[why];
		if (n == 0)
			continue;
		printf("%s\"%s\":%lu", comma, if_drop_info[why].fd_name, n);
		comma = ",";
		sum += n;
	}
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		n = graph_drops(reasons[i]);
		if (n == 0)
			continue;
		printf("%s\"graph %s\":%lu", comma, reasons[i], n);
		comma = ",";
		sum += n;
	}
	printf("}");
	return (sum);
}

/* The JSON line; is there anything unaccounted? */
static bool
report(const struct memory *before, const struct memory *after)
{
	const double secs = (double)(last - first) * 1e-9;
	const double n = (double)(made_last - made_first);
	struct epoch_stats st;
	const uint64_t lost = made - sunk;
	uint64_t dropped;

	printf("{\"epoch\":\"%s\",\"cpu_mpps\":%.4f,\"mpps\":%.4f,"
	    "\"secs\":%.3f,\"packets\":%lu,\"sunk\":%lu",
	    (epoch_flags(net_epoch_preempt) & EPOCH_ASYMMETRIC) != 0 ?
	    "membarrier" : "fence", n / (cpu_last - cpu_first) * 1e-6,
	    n / secs * 1e-6, secs, made, sunk);
	dropped = report_drops();
	printf(",\"lost\":%lu,\"unaccounted\":%lu", lost,
	    lost > dropped ? lost - dropped : 0);
	printf(",\"memory\":{\"resident_before\":%zu,\"resident_after\":%zu,"
	    "\"heap_before\":%zu,\"heap_after\":%zu}", before->me_resident,
	    after->me_resident, before->me_heap, after->me_heap);
	if (conf.batch != 0) {
		epoch_stats_get(net_epoch_preempt, &st);
		if (st.es_longest_section > sections.sa_longest)
			sections.sa_longest = st.es_longest_section;
		samples_print(&sections, "section_us");
	}
	change_print();
	printf("}\n");
	return (lost > dropped);
}

static unsigned int
number(const char *name, unsigned int lo, unsigned int hi)
{
	unsigned long v;
	char *rest;

	v = strtoul(optarg, &rest, 10);
	if (*optarg == '\0' || *rest != '\0' || v < lo || v > hi)
		errx(EX_USAGE, "--%s: %u to %u", name, lo, hi);
	return ((unsigned int)v);
}

static double
seconds(void)
{
	char *rest;
	double v;

	v = strtod(optarg, &rest);
	if (*optarg == '\0' || *rest != '\0' || !(v > 0 && v <= 60))
		errx(EX_USAGE, "--secs: up to 60");
	return (v);
}

static const struct option options[] = {
	{ "entry", required_argument, NULL, 'e' },
	{ "run", required_argument, NULL, 'u' },
	{ "burst", required_argument, NULL, 'b' },
	{ "eiface", no_argument, NULL, 'E' },
	{ "second-entry", no_argument, NULL, '2' },
	{ "batch", required_argument, NULL, 'B' },
	{ "secs", required_argument, NULL, 's' },
	{ "flows", required_argument, NULL, 'f' },
	{ "cpu", required_argument, NULL, 'c' },
	{ "helper", required_argument, NULL, 'h' },
	{ "routes", required_argument, NULL, 'r' },
	{ "neighbours", required_argument, NULL, 'n' },
	{ "interfaces", required_argument, NULL, 'i' },
	{ "nodes", required_argument, NULL, 'g' },
	{ "wait", no_argument, NULL, 'w' },
	{ NULL, 0, NULL, 0 },
};

static void
option(int ch, const char *name)
{

	switch (ch) {
	case 'e':
		conf.packet = strcmp(optarg, "packet") == 0;
		if (!conf.packet && strcmp(optarg, "interrupt") != 0)
			errx(EX_USAGE, "--entry: interrupt or packet");
		break;
	case 'u': conf.run = number(name, 1, MBUF_BURST); break;
	case 'b': conf.burst = number(name, 1, MBUF_BURST); break;
	case 'E': conf.eiface = true; break;
	case '2': conf.second = true; break;
	case 'B': conf.batch = number(name, 1, 1000000); break;
	case 's': conf.secs = seconds(); break;
	case 'f': conf.flows = number(name, 1, 1 << 20); break;
	case 'c': conf.cpu = (int)number(name, 0, 4095); break;
	case 'h': conf.change.cc_cpu = (int)number(name, 0, 4095); break;
	case 'r': conf.change.cc_routes = number(name, 0, 1000000); break;
	case 'n': conf.change.cc_neighbours = number(name, 0, 1000000); break;
	case 'i': conf.change.cc_interfaces = number(name, 0, 1000); break;
	case 'g': conf.change.cc_nodes = number(name, 0, 1000); break;
	case 'w': conf.change.cc_wait = true; break;
	default: exit(EX_USAGE);
	}
}

int
main(int argc, char **argv)
{
	int ch, cpus[64], ncpus, which = 0;
	struct memory before, after;
	bool back, missing;

	while ((ch = getopt_long(argc, argv, "", options, &which)) != -1)
		option(ch, options[which].name);
	if (optind != argc)
		errx(EX_USAGE, "%s: not an option", argv[optind]);
	if (conf.second && !conf.eiface)
		errx(EX_USAGE, "--second-entry: needs --eiface");
	if (conf.eiface && conf.change.cc_nodes != 0)
		errx(EX_USAGE, "--nodes: not with --eiface");
	ncpus = thread_cpus(cpus, 64);
	if (conf.cpu == -1)
		conf.cpu = cpus[0];
	if (conf.change.cc_cpu == -1)
		conf.change.cc_cpu = cpus[ncpus - 1];
	machine_make();
	before = memory_now();
	traffic_run();
	back = all_back();
	if (!back)
		warnx("%u mbufs were lost", mbuf_nframes() - mbuf_nfree());
	after = memory_now();
	missing = report(&before, &after);
	lab_stop(&lab);
	return (missing || !back ? EX_SOFTWARE : 0);
}
