/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * bench_forward: what a forwarded packet costs, without any device.
 *
 *	bench_forward [--routes n] [--flows n] [--secs s | --packets n]
 *	    [--burst n] [--inflight n] [--base] [--verify] [--bad-every n]
 *
 * A whole machine forwards between two epairs, on one ithread.  The source
 * is an interrupt handler like a driver's: it takes mbufs in bulk, writes one
 * header line and one 64-byte frame each, and sends them into an epair's far
 * end.  The sink is the if_input of the far ends and frees in bulk, at once
 * or, with --inflight, when so many are held.  --base joins the two without
 * the machine in between, so that the router's own share can be told.
 *
 * --verify checks every frame that arrives: the addresses, TTL, checksum and
 * next hop, which is looked up in another way, and at the end that each frame
 * was either forwarded or had been damaged (--bad-every), and that no mbuf
 * was lost.
 *
 * The variables below belong to the ithread while the traffic runs, and to
 * the main thread before and after; `done' is posted between.
 */
#include <err.h>
#include <getopt.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "bench/forward_lab.h"
#include "bench/routes.h"
#include "bench/traffic.h"
#include "ifnet/if_var.h"
#include "intr/intr_var.h"
#include "stack/machine.h"
#include "sys/thread.h"

#define	WINDOW		4000000u	/* frames a timing */
#define	MAXWINDOWS	4096
#define	MAXINFLIGHT	8192u
#define	QUIET_MS	2000		/* for the last frames to arrive */

static struct {
	unsigned int	routes;
	unsigned int	flows;
	unsigned int	burst;
	unsigned int	inflight;
	unsigned int	badevery;
	uint64_t	packets;	/* or 0: run for secs */
	double		secs;
	bool		base;
	bool		verify;
} conf = { .routes = 1, .flows = 1, .burst = MBUF_BURST, .secs = 1 };

static struct lab lab;
static sem_t done;
static unsigned int nextflow;
static uint64_t made, bad, sunk, others, wrong;
static struct mbuf *held[MAXINFLIGHT];
static unsigned int heldnext, nheld;
static double windows[MAXWINDOWS], window_cpu, end;
static unsigned int nwindows;
static uint64_t window_made;

static double
now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ((double)ts.tv_sec + (double)ts.tv_nsec * 1e-9);
}

/* Keep n frames; free as many of the oldest when inflight are held. */
static void
hold(struct mbuf **m, unsigned int n)
{
	unsigned int first, oldest;

	if (nheld + n > conf.inflight) {
		oldest = (heldnext + conf.inflight - nheld) % conf.inflight;
		first = conf.inflight - oldest < n ?
		    conf.inflight - oldest : n;
		m_free_burst(&held[oldest], first);
		m_free_burst(held, n - first);
		nheld -= n;
	}
	for (unsigned int i = 0; i < n; i++) {
		held[heldnext] = m[i];
		if (++heldnext == conf.inflight)
			heldnext = 0;
	}
	nheld += n;
}

/* What is no frame of ours is the router's own: ARP, ICMP errors. */
static void
frame_verify(const struct ifnet *far, const struct mbuf *m)
{
	const uint8_t *p = mtod(m, const uint8_t *);
	unsigned int nh;

	if (m->m_len < 34 || p[12] != 0x08 || p[13] != 0x00 || p[23] != 17) {
		others++;
		sunk--;
		return;
	}
	nh = bench_frame_nexthop(p, m->m_pkthdr.len);
	if (nh == BENCH_DISCARD ||
	    (!conf.base && !lab_addressed(&lab, far, p, nh)))
		wrong++;
}

static void
sink(struct ifnet *far, struct mbuf **m, unsigned int n)
{

	sunk += n;
	if (__predict_false(conf.verify))
		for (unsigned int i = 0; i < n; i++)
			frame_verify(far, m[i]);
	if (conf.inflight != 0)
		hold(m, n);
	else
		m_free_burst(m, n);
}

static void
burst_damage(struct mbuf **m, unsigned int n)
{
	uint64_t seq = made;

	for (unsigned int i = 0; i < n; i++) {
		if (++seq % conf.badevery != 0)
			continue;
		bad++;
		m[i]->m_len = bench_frame_damage(mtod(m[i], uint8_t *),
		    (unsigned int)(seq / conf.badevery));
		m[i]->m_pkthdr.len = m[i]->m_len;
	}
}

/* Make a burst of frames; 0 if there are no mbufs just now. */
static __attribute__((noinline)) unsigned int
source(struct mbuf **m, unsigned int n)
{
	unsigned int f = nextflow;
	char *p;

	if (m_get_raw(m, n) != n)
		return (0);
	for (unsigned int i = 0; i < n; i++) {
		p = m_dataspace(m[i]);
		m_init(m[i], p, BENCH_FRAME);
		memcpy(p, bench_template, BENCH_FRAME);
		bench_frame_write((uint8_t *)p, &bench_flows[f]);
		if (__predict_false(++f == bench_nflows))
			f = 0;
	}
	nextflow = f;
	if (__predict_false(conf.badevery != 0))
		burst_damage(m, n);
	made += n;
	return (n);
}

/* Close a window of the timing; false when it was the last. */
static bool
window_next(void)
{
	double cpu = now(CLOCK_THREAD_CPUTIME_ID);

	if (window_made != 0)	/* the first one warms up */
		windows[nwindows++] = (cpu - window_cpu) * 1e9 /
		    (double)(made - window_made);
	window_cpu = cpu;
	window_made = made;
	return (nwindows == 0 || (nwindows < MAXWINDOWS &&
	    now(CLOCK_MONOTONIC) < end));
}

/* The interrupt handler: one burst. */
static enum intr_more
source_intr(void *arg)
{
	struct mbuf *m[MBUF_BURST];
	unsigned int n;

	(void)arg;
	if (conf.packets != 0 ? made >= conf.packets :
	    (made - window_made >= WINDOW || made == 0) && !window_next()) {
		sem_post(&done);
		return (INTR_DONE);
	}
	n = source(m, conf.burst);
	if (n != 0 && conf.base)
		sink(lab.lab_far[0], m, n);
	else if (n != 0)
		if_transmit(lab.lab_far[0], m, n);
	return (INTR_MORE);
}

/* Let the source run until it says it is done. */
static void
traffic_run(void)
{
	struct intr_domain *id = lab.lab_machine->ma_vnet->v_intr;
	struct intr_event *ie;
	struct intr_handler *ih;

	sem_init(&done, 0, 0);
	end = now(CLOCK_MONOTONIC) + conf.secs;
	if (intr_event_create(id, "source", 0, -1, 0, &ie) != 0 ||
	    intr_handler_add(ie, INTR_TYPE_NET, source_intr, NULL, NULL,
	    &ih) != 0)
		errx(EX_SOFTWARE, "no interrupt event");
	intr_event_schedule(ie);
	while (sem_wait(&done) != 0)
		continue;
	intr_handler_remove(ih);
	intr_event_destroy(ie);
}

/* Wait for the last frames; is every mbuf back, but for those held? */
static bool
all_back(void)
{

	for (int i = 0; i < QUIET_MS; i++) {
		if (mbuf_nfree() + nheld == mbuf_nframes())
			return (true);
		usleep(1000);
	}
	return (false);
}

static int
compare_double(const void *ap, const void *bp)
{
	const double a = *(const double *)ap, b = *(const double *)bp;

	return (a < b ? -1 : a > b);
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

static void
parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "routes", required_argument, NULL, 'r' },
		{ "flows", required_argument, NULL, 'f' },
		{ "secs", required_argument, NULL, 's' },
		{ "packets", required_argument, NULL, 'n' },
		{ "burst", required_argument, NULL, 'b' },
		{ "inflight", required_argument, NULL, 'i' },
		{ "bad-every", required_argument, NULL, 'B' },
		{ "base", no_argument, NULL, 'w' },
		{ "verify", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	int ch, which;

	while ((ch = getopt_long(argc, argv, "", options, &which)) != -1) {
		if (ch == 'r')
			conf.routes = number("routes", 1, 4000000);
		else if (ch == 'f')
			conf.flows = number("flows", 1, 1 << 23);
		else if (ch == 's')
			conf.secs = atof(optarg);
		else if (ch == 'n')
			conf.packets = number("packets", 1, 1u << 31);
		else if (ch == 'b')
			conf.burst = number("burst", 1, MBUF_BURST);
		else if (ch == 'i')
			conf.inflight = number("inflight", 0, MAXINFLIGHT);
		else if (ch == 'B')
			conf.badevery = number("bad-every", 0, 1000000);
		else if (ch == 'w')
			conf.base = true;
		else if (ch == 'v')
			conf.verify = true;
		else
			exit(EX_USAGE);
	}
	if (optind != argc)
		errx(EX_USAGE, "%s: not an option", argv[optind]);
	if (conf.inflight != 0 && conf.inflight < MBUF_BURST)
		errx(EX_USAGE, "--inflight: 0, or %u and more", MBUF_BURST);
}

int
main(int argc, char **argv)
{
	int cpu;

	parse_options(argc, argv);
	thread_cpus(&cpu, 1);
	bench_routes_make(conf.routes);
	lab_start(&lab, cpu, sink);
	bench_flows_make(conf.flows, lab.lab_port[0]->if_lladdr,
	    lab_source());
	traffic_run();
	if (!all_back()) {
		warnx("%u mbufs were lost",
		    mbuf_nframes() - mbuf_nfree() - nheld);
		wrong++;
	}
	if (conf.verify && made - sunk != bad) {
		warnx("%lu dropped, %lu damaged", made - sunk, bad);
		lab_drops_print(&lab);
		wrong++;
	}
	qsort(windows, nwindows, sizeof(windows[0]), compare_double);
	printf("bench_forward routes=%u flows=%u ns=%.2f min=%.2f "
	    "windows=%u packets=%lu drops=%lu verified=%lu others=%lu "
	    "wrong=%lu\n", conf.routes, conf.flows, windows[nwindows / 2],
	    windows[0], nwindows, made, made > sunk ? made - sunk : 0,
	    conf.verify ? sunk : 0, others, wrong);
	while (nheld > 0) {
		heldnext = (heldnext + conf.inflight - 1) % conf.inflight;
		m_freem(held[heldnext]);
		nheld--;
	}
	lab_stop(&lab);
	return (wrong != 0 ? EX_SOFTWARE : 0);
}
