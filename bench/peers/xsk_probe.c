/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * xsk_probe: what a router over AF_XDP can do here at best.
 *
 *	xsk_probe in out next-hop-mac seconds [busy=n] [batch=n] [txbudget=n]
 *
 * Forwards from one interface to another with one UMEM (no copy in user
 * space), every check an IPv4 router owes and one next hop.  busy sets
 * SO_PREFER_BUSY_POLL with that budget, txbudget XDP_MAX_TX_SKB_BUDGET.
 * Prints "ready", runs, prints one line.  One thread, which owns everything;
 * needs root.  See Documentation/networking/af_xdp.rst in Linux.
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sysexits.h>

#include <bpf/bpf.h>
#include <linux/if_link.h>
#include <linux/if_xdp.h>
#include <xdp/xsk.h>

#include "probe.h"
#include "xsk_probe.skel.h"

#define	NFRAMES		8192u
#define	FRAMESIZE	2048u
#define	RING		2048u
#define	MAXMOVE		512u		/* frames a refill or reap moves */
#define	OPT_TX_SKB_BUDGET 9		/* XDP_MAX_TX_SKB_BUDGET, Linux 6.18 */

struct port {
	const char		*p_name;
	unsigned int		 p_ifindex;
	uint8_t			 p_mac[6];
	int			 p_fd;
	struct xsk_socket	*p_xsk;
	struct xsk_ring_cons	 p_rx;
	struct xsk_ring_cons	 p_cq;
	struct xsk_ring_prod	 p_tx;
	struct xsk_ring_prod	 p_fq;
	unsigned int		 p_unsent;	/* with the kernel, to send */
};

static struct {
	unsigned int	busy;
	unsigned int	batch;
	unsigned int	txbudget;
	double		secs;
} opt = { .batch = 64 };

static uint8_t *area;			/* the UMEM */
static struct xsk_umem *umem;
static uint64_t freeframes[NFRAMES];
static unsigned int nfree;
static struct port in, out;
static struct probe_nexthop nexthop;
static uint64_t rxpkts, txpkts, drops, kicks;
static volatile sig_atomic_t stop;

static void
onsignal(int sig)
{
	(void)sig;
	stop = 1;
}

static void
set_socket_option(int fd, int level, int name, unsigned int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)) != 0)
		err(EX_OSERR, "socket option %d", name);
}

static void
umem_open(void)
{
	const struct xsk_umem_config uc = {
		.fill_size = RING, .comp_size = RING, .frame_size = FRAMESIZE,
	};
	const size_t size = (size_t)NFRAMES * FRAMESIZE;
	const struct rlimit rl = { RLIM_INFINITY, RLIM_INFINITY };
	int error;

	setrlimit(RLIMIT_MEMLOCK, &rl);
	area = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (area == MAP_FAILED)
		err(EX_OSERR, "frames");
	error = xsk_umem__create(&umem, area, size, &in.p_fq, &in.p_cq, &uc);
	if (error != 0) {
		errno = -error;
		err(EX_OSERR, "UMEM");
	}
	for (unsigned int i = 0; i < NFRAMES; i++)
		freeframes[nfree++] = (uint64_t)i * FRAMESIZE;
}

/* Open a socket; the first one on the UMEM has the UMEM's own rings. */
static void
port_open(struct port *p, const char *ifname, bool first)
{
	const struct xsk_socket_config xc = {
		.rx_size = RING, .tx_size = RING,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = XDP_COPY | XDP_USE_NEED_WAKEUP,
	};
	int error;

	p->p_name = ifname;
	p->p_ifindex = if_nametoindex(ifname);
	if (p->p_ifindex == 0 || !probe_mac_get(ifname, p->p_mac))
		err(EX_NOINPUT, "%s", ifname);
	error = first ? xsk_socket__create(&p->p_xsk, ifname, 0, umem,
	    &p->p_rx, &p->p_tx, &xc) : xsk_socket__create_shared(&p->p_xsk,
	    ifname, 0, umem, &p->p_rx, &p->p_tx, &p->p_fq, &p->p_cq, &xc);
	if (error != 0) {
		errno = -error;
		err(EX_OSERR, "%s: socket", ifname);
	}
	p->p_fd = xsk_socket__fd(p->p_xsk);
	if (opt.busy != 0) {
		set_socket_option(p->p_fd, SOL_SOCKET, SO_PREFER_BUSY_POLL, 1);
		set_socket_option(p->p_fd, SOL_SOCKET, SO_BUSY_POLL, 20);
		set_socket_option(p->p_fd, SOL_SOCKET, SO_BUSY_POLL_BUDGET,
		    opt.busy);
	}
	if (opt.txbudget != 0)
		set_socket_option(p->p_fd, SOL_XDP, OPT_TX_SKB_BUDGET,
		    opt.txbudget);
}

/* Send what the port receives to its socket, for as long as we run. */
static void
port_attach(struct port *p)
{
	LIBBPF_OPTS(bpf_link_create_opts, lo, .flags = XDP_FLAGS_DRV_MODE);
	struct xsk_probe_bpf *skel;
	const int key = 0;
	int link;

	skel = xsk_probe_bpf__open_and_load();
	if (skel == NULL)
		err(EX_OSERR, "program");
	link = bpf_link_create(bpf_program__fd(skel->progs.xsk_probe_redirect),
	    (int)p->p_ifindex, BPF_XDP, &lo);
	if (link < 0) {
		errno = -link;
		err(EX_OSERR, "%s: attach", p->p_name);
	}
	if (bpf_map_update_elem(bpf_map__fd(skel->maps.xsks), &key, &p->p_fd,
	    0) != 0)
		err(EX_OSERR, "%s: socket map", p->p_name);
}

static inline void
frame_free(uint64_t addr)
{
	freeframes[nfree++] = addr & ~(uint64_t)(FRAMESIZE - 1);
}

/* Take back the frames that the kernel has sent. */
static inline void
port_reap(struct port *p)
{
	uint32_t pos;
	unsigned int n;

	n = xsk_ring_cons__peek(&p->p_cq, MAXMOVE, &pos);
	if (n == 0)
		return;
	for (unsigned int i = 0; i < n; i++)
		frame_free(*xsk_ring_cons__comp_addr(&p->p_cq, pos + i));
	xsk_ring_cons__release(&p->p_cq, n);
	p->p_unsent -= n;
}

/* Give the kernel frames to receive into, when a batch of them fits. */
static inline void
port_fill(struct port *p)
{
	uint32_t pos;
	unsigned int n;

	n = xsk_prod_nb_free(&p->p_fq, RING / 2);
	if (n < opt.batch || nfree == 0)
		return;
	if (n > nfree)
		n = nfree;
	if (n > MAXMOVE)
		n = MAXMOVE;
	if (xsk_ring_prod__reserve(&p->p_fq, n, &pos) != n)
		return;
	for (unsigned int i = 0; i < n; i++)
		*xsk_ring_prod__fill_addr(&p->p_fq, pos + i) =
		    freeframes[--nfree];
	xsk_ring_prod__submit(&p->p_fq, n);
}

static inline void
port_kick(struct port *p)
{
	if (xsk_ring_prod__needs_wakeup(&p->p_tx) == 0)
		return;
	kicks++;
	(void)sendto(p->p_fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
}

/* Take n received frames from pos and send those that may go on. */
static inline void
forward_batch(uint32_t pos, unsigned int n)
{
	uint64_t good[MAXMOVE];
	uint32_t lens[MAXMOVE];
	const struct xdp_desc *d;
	struct xdp_desc *x;
	unsigned int ngood = 0;
	uint32_t tpos;

	for (unsigned int i = 0; i < n; i++) {
		d = xsk_ring_cons__rx_desc(&in.p_rx, pos + i);
		if (i + 2 < n)
			__builtin_prefetch(area + xsk_ring_cons__rx_desc(
			    &in.p_rx, pos + i + 2)->addr);
		if (probe_forward(area + d->addr, d->len, &nexthop)) {
			good[ngood] = d->addr;
			lens[ngood++] = d->len;
		} else
			frame_free(d->addr);
	}
	xsk_ring_cons__release(&in.p_rx, n);
	drops += n - ngood;
	if (xsk_ring_prod__reserve(&out.p_tx, ngood, &tpos) != ngood) {
		for (unsigned int i = 0; i < ngood; i++)
			frame_free(good[i]);
		drops += ngood;
		return;
	}
	for (unsigned int i = 0; i < ngood; i++) {
		x = xsk_ring_prod__tx_desc(&out.p_tx, tpos + i);
		x->addr = good[i];
		x->len = lens[i];
		x->options = 0;
	}
	xsk_ring_prod__submit(&out.p_tx, ngood);
	out.p_unsent += ngood;
	txpkts += ngood;
}

static void
forward(void)
{
	const double end = probe_now(CLOCK_MONOTONIC) + opt.secs;
	uint64_t turn = 0;
	unsigned int n;
	uint32_t pos = 0;

	while (stop == 0) {
		if ((++turn & 0xff) == 0 && probe_now(CLOCK_MONOTONIC) > end)
			break;
		port_fill(&in);
		if (opt.busy != 0)
			(void)recvfrom(in.p_fd, NULL, 0, MSG_DONTWAIT, NULL,
			    NULL);
		n = xsk_ring_cons__peek(&in.p_rx, opt.batch, &pos);
		port_reap(&out);
		if (n == 0) {
			if (out.p_unsent != 0)
				port_kick(&out);
			continue;
		}
		rxpkts += n;
		forward_batch(pos, n);
		port_kick(&out);
	}
}

static void
parse_options(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (sscanf(argv[i], "busy=%u", &opt.busy) != 1 &&
		    sscanf(argv[i], "batch=%u", &opt.batch) != 1 &&
		    sscanf(argv[i], "txbudget=%u", &opt.txbudget) != 1)
			errx(EX_USAGE, "%s: no such option", argv[i]);
	}
	if (opt.batch == 0 || opt.batch > MAXMOVE)
		errx(EX_USAGE, "batch: 1 to %u", MAXMOVE);
}

int
main(int argc, char **argv)
{
	double c, t;

	if (argc < 5)
		errx(EX_USAGE, "usage: xsk_probe in out next-hop-mac seconds "
		    "[busy=n] [batch=n] [txbudget=n]");
	opt.secs = atof(argv[4]);
	parse_options(argc - 5, argv + 5);
	signal(SIGINT, onsignal);
	signal(SIGTERM, onsignal);
	umem_open();
	port_open(&in, argv[1], true);
	port_open(&out, argv[2], false);
	memcpy(nexthop.pn_own, in.p_mac, 6);
	memcpy(nexthop.pn_eth + 6, out.p_mac, 6);
	if (!probe_mac_parse(argv[3], nexthop.pn_eth))
		errx(EX_USAGE, "%s: not an Ethernet address", argv[3]);
	port_attach(&in);
	puts("ready");
	fflush(stdout);

	t = probe_now(CLOCK_MONOTONIC);
	c = probe_now(CLOCK_THREAD_CPUTIME_ID);
	forward();
	t = probe_now(CLOCK_MONOTONIC) - t;
	c = probe_now(CLOCK_THREAD_CPUTIME_ID) - c;
	printf("xsk_probe rx=%lu tx=%lu drops=%lu kicks=%lu kpps=%.0f "
	    "ns=%.0f\n", rxpkts, txpkts, drops, kicks, (double)txpkts / t / 1e3,
	    txpkts != 0 ? c * 1e9 / (double)txpkts : 0.0);
	return (0);
}
