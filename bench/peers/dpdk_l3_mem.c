/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * dpdk_l3 in memory, all on one core.  The source takes mbufs in bulk, writes
 * one 64-byte line into each (a template with destination, header checksum
 * and source port) and the mbuf's receive fields, as a card and its driver
 * would.  The sink gives mbufs back in bulk, at once or after --inflight of
 * them.  With --verify the sink checks every frame against a lookup done
 * another way.  --base is source, transmit buffers and sink without a router.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_debug.h>
#include <rte_mbuf_ptype.h>

#include "dpdk_l3.h"

#define	WINDOW		4000000		/* frames a timing */
#define	MAXWINDOWS	4096
/* Where the fields lie that a driver writes with two stores. */
#define	REARM		offsetof(struct rte_mbuf, rearm_data)
#define	RXFIELDS	offsetof(struct rte_mbuf, rx_descriptor_fields1)

static unsigned int nextflow;
static uint64_t rearm;			/* an mbuf's fields before receiving */
static uint64_t made, verified, wrong;
static struct rte_mbuf **held;		/* ring of c_inflight frames */
static unsigned int heldnext, nheld;

static void
frame_damage(struct rte_mbuf *m, unsigned int how)
{
	unsigned int len;

	len = bench_frame_damage(rte_pktmbuf_mtod(m, uint8_t *), how);
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
}

static __rte_noinline unsigned int
source(struct rte_mbuf **m, unsigned int n)
{
	const __m256i lo = _mm256_load_si256((const void *)bench_template);
	const __m256i hi = _mm256_load_si256(
	    (const void *)(bench_template + 32));
	const __m128i desc = _mm_set_epi32(0, BENCH_FRAME, BENCH_FRAME,
	    RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4);
	unsigned int f = nextflow;
	struct bench_flow bf;
	uint8_t *p;

	if (unlikely(rte_mempool_get_bulk(l3_pool, (void **)m, n) != 0))
		return (0);
	for (unsigned int i = 0; i < n; i++) {
		p = (uint8_t *)m[i]->buf_addr + RTE_PKTMBUF_HEADROOM;
		bf = bench_flows[f];
		if (unlikely(++f == bench_nflows))
			f = 0;
		_mm256_storeu_si256((void *)p, lo);
		_mm256_storeu_si256((void *)(p + 32), hi);
		bench_frame_write(p, &bf);
		memcpy((char *)m[i] + REARM, &rearm, sizeof(rearm));
		_mm_store_si128((void *)((char *)m[i] + RXFIELDS), desc);
	}
	nextflow = f;
	if (unlikely(l3_conf.c_badevery != 0))
		for (unsigned int i = 0; i < n; i++)
			if (++made % l3_conf.c_badevery == 0)
				frame_damage(m[i],
				    (unsigned int)(made / l3_conf.c_badevery));
	return (n);
}

static void
frame_verify(unsigned int port, struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct l3_nexthop *nh;
	unsigned int idx;

	idx = bench_frame_nexthop(p, m->data_len);
	nh = &l3_nexthops[idx];
	if (idx != BENCH_DISCARD && nh->nh_port == port &&
	    memcmp(p, &nh->nh_eth, 14) == 0)
		verified++;
	else
		wrong++;
}

/* Keep n frames, and free the oldest when there are more than inflight. */
static void
hold(struct rte_mbuf **m, unsigned int n)
{
	const unsigned int size = l3_conf.c_inflight;
	unsigned int first, tail;

	if (nheld + n > size) {
		tail = (heldnext + 2 * size - nheld) % size;
		first = RTE_MIN(n, size - tail);
		rte_mempool_put_bulk(l3_pool, (void **)&held[tail], first);
		if (n > first)
			rte_mempool_put_bulk(l3_pool, (void **)held,
			    n - first);
		nheld -= n;
	}
	for (unsigned int i = 0; i < n; i++) {
		held[heldnext] = m[i];
		if (++heldnext == size)
			heldnext = 0;
	}
	nheld += n;
}

static __rte_noinline void
sink(unsigned int port, struct rte_mbuf **m, unsigned int n)
{
	l3_sent[port] += n;
	if (unlikely(l3_conf.c_verify))
		for (unsigned int i = 0; i < n; i++)
			frame_verify(port, m[i]);
	if (l3_conf.c_inflight != 0)
		hold(m, n);
	else
		rte_mempool_put_bulk(l3_pool, (void **)m, n);
}

static __rte_noinline void
loop(unsigned int turns)
{
	struct rte_mbuf *m[L3_MAXBURST + L3_SLACK];
	uint64_t port[L3_MAXBURST];
	unsigned int n;

	for (unsigned int i = 0; i < L3_MAXBURST; i++)
		port[i] = l3_conf.c_flows == 1 ? 0 : i % L3_NPORTS;
	for (unsigned int i = 0; i < turns; i++) {
		n = source(m, l3_conf.c_burst);
		if (l3_conf.c_base)
			l3_enqueue(m, port, n);
		else
			l3_route_burst(m, n, 0);
	}
}

static int
compare_double(const void *ap, const void *bp)
{
	const double a = *(const double *)ap, b = *(const double *)bp;

	return (a < b ? -1 : a > b);
}

static void
nexthops_make(void)
{
	for (unsigned int i = 1; i <= BENCH_NNEXTHOPS; i++) {
		const uint8_t port = (uint8_t)((i - 1) % L3_NPORTS);
		const uint8_t eth[16] = { 2, 0, 0, 0, 1, (uint8_t)i,
		    2, 0, 0, 0, 2, port, 0x08, 0x00 };

		l3_nexthops[i].nh_eth = _mm_loadu_si128((const void *)eth);
		l3_nexthops[i].nh_port = port;
		l3_nexthops[i].nh_mtu = 1500;
	}
}

static void
mem_init(void)
{
	static const uint8_t own[6] = { 2, 0, 0, 0, 0, 1 };
	uint8_t expect[16] = { 0 };
	struct rte_mbuf m;

	memcpy(expect, own, 6);
	memcpy(expect + 12, bench_template + 12, 3);
	l3_expect[0] = _mm_loadu_si128((const void *)expect);
	memset(&m, 0, sizeof(m));
	m.data_off = RTE_PKTMBUF_HEADROOM;
	m.nb_segs = 1;
	rte_mbuf_refcnt_set(&m, 1);
	memcpy(&rearm, (char *)&m + REARM, sizeof(rearm));
	if (l3_conf.c_inflight != 0) {
		held = calloc(l3_conf.c_inflight, sizeof(*held));
		if (held == NULL || l3_conf.c_inflight < l3_conf.c_burst)
			rte_exit(1, "inflight: at least a burst\n");
	}
	nexthops_make();
	bench_routes_make(l3_conf.c_routes);
	l3_table_build();
	bench_flows_make(l3_conf.c_flows, own, inet_addr("10.255.1.200"));
	l3_flush = sink;
}

void
l3_mem_run(void)
{
	static double ns[MAXWINDOWS];
	const unsigned int turns = WINDOW / l3_conf.c_burst;
	uint64_t done, before;
	unsigned int n = 0;
	double c, end;

	mem_init();
	loop(turns / 4);
	before = l3_sent[0] + l3_sent[1] + l3_drops;
	end = l3_now(CLOCK_MONOTONIC) + l3_conf.c_secs;
	do {
		c = l3_now(CLOCK_THREAD_CPUTIME_ID);
		loop(turns);
		c = l3_now(CLOCK_THREAD_CPUTIME_ID) - c;
		done = l3_sent[0] + l3_sent[1] + l3_drops;
		ns[n++] = c * 1e9 / (double)(done - before);
		before = done;
	} while (l3_stop == 0 && n < MAXWINDOWS &&
	    l3_now(CLOCK_MONOTONIC) < end);
	qsort(ns, n, sizeof(ns[0]), compare_double);
	printf("dpdk_l3 loop=%s routes=%u flows=%u ns=%.2f min=%.2f "
	    "windows=%u packets=%lu drops=%lu verified=%lu wrong=%lu\n",
	    l3_conf.c_base ? "base" : l3_loop, l3_conf.c_routes,
	    l3_conf.c_flows, ns[n / 2], ns[0], n, done, l3_drops, verified,
	    wrong);
}
