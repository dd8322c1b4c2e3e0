/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the files of dpdk_l3 share.  The program has one forwarding thread,
 * the main one, which owns everything here; the configuration is constant
 * once main() has read it.
 */
#ifndef _BENCH_DPDK_L3_H_
#define	_BENCH_DPDK_L3_H_

#include <immintrin.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <rte_branch_prediction.h>
#include <rte_fib.h>
#include <rte_lpm.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "bench/routes.h"
#include "bench/traffic.h"

#define	L3_MAXBURST	256
#define	L3_SLACK	32	/* vector stores may write this much further */
#define	L3_NPORTS	2
#define	L3_NOPORT	64	/* the port of frames that must not leave */

enum l3_table { L3_LPM, L3_FIB };

struct l3_nexthop {
	__m128i		nh_eth;		/* Ethernet header, first 14 bytes */
	uint16_t	nh_port;
	uint16_t	nh_mtu;
} __rte_aligned(32);

struct l3_txbuf {
	unsigned int	 t_n;
	struct rte_mbuf	*t_m[L3_MAXBURST + L3_SLACK];
};

struct l3_conf {
	unsigned int	c_routes;
	unsigned int	c_flows;
	unsigned int	c_burst;
	unsigned int	c_inflight;	/* frames the sink holds, or 0 */
	unsigned int	c_badevery;	/* one frame in so many is bad, or 0 */
	double		c_secs;
	enum l3_table	c_table;
	bool		c_base;		/* source and sink only */
	bool		c_verify;
	const char	*c_map;		/* the one route of --eth, or NULL */
};

extern struct l3_conf l3_conf;
extern struct l3_nexthop l3_nexthops[BENCH_NNEXTHOPS + 1];
extern struct l3_txbuf l3_txbufs[L3_NPORTS];
extern __m128i l3_expect[L3_NPORTS];	/* a good frame's first 16 bytes */
extern struct rte_mempool *l3_pool;
extern struct rte_lpm *l3_lpm;
extern struct rte_fib *l3_fib;
extern uint64_t l3_drops, l3_sent[L3_NPORTS];

/* A burst leaves for its port: to the sink, or to a device. */
extern void (*l3_flush)(unsigned int port, struct rte_mbuf **m, unsigned int n);

/* dpdk_l3_scalar.c or dpdk_l3_avx512.c: route n frames, consume them. */
void	l3_route_burst(struct rte_mbuf **m, unsigned int n, unsigned int port);
extern const char l3_loop[];

/* dpdk_l3_table.c: load the routes. */
void	l3_table_build(void);

/* dpdk_l3_mem.c, dpdk_l3_eth.c */
void	l3_mem_run(void);
void	l3_eth_run(void);
double	l3_now(clockid_t clock);
extern volatile sig_atomic_t l3_stop;

static inline void
l3_drop(struct rte_mbuf **m, unsigned int n)
{
	l3_drops += n;
	rte_pktmbuf_free_bulk(m, n);
}

static __rte_always_inline void
l3_txbuf_flush_full(unsigned int port)
{
	struct l3_txbuf *t = &l3_txbufs[port];

	if (unlikely(t->t_n >= l3_conf.c_burst)) {
		l3_flush(port, t->t_m, t->t_n);
		t->t_n = 0;
	}
}

/*
 * Put n frames into the buffers of their ports.  With AVX-512, eight at a
 * time: for each port the pointers that match it move to the front of a
 * vector.  m and port may be read past n, to a multiple of eight.
 */
#ifdef __AVX512F__
static __rte_always_inline void
l3_enqueue(struct rte_mbuf **m, const uint64_t *port, unsigned int n)
{
	__mmask8 live, match;
	__m512i ptrs, ports;
	struct l3_txbuf *t;

	for (unsigned int i = 0; i < n; i += 8) {
		live = n - i >= 8 ? 0xff : (__mmask8)((1u << (n - i)) - 1);
		ptrs = _mm512_maskz_loadu_epi64(live, m + i);
		ports = _mm512_maskz_loadu_epi64(live, port + i);
		for (unsigned int q = 0; q < L3_NPORTS; q++) {
			match = _mm512_mask_cmpeq_epi64_mask(live, ports,
			    _mm512_set1_epi64(q));
			t = &l3_txbufs[q];
			_mm512_storeu_si512(&t->t_m[t->t_n],
			    _mm512_maskz_compress_epi64(match, ptrs));
			t->t_n += (unsigned int)__builtin_popcount(match);
			l3_txbuf_flush_full(q);
		}
	}
}
#else
static __rte_always_inline void
l3_enqueue(struct rte_mbuf **m, const uint64_t *port, unsigned int n)
{
	struct l3_txbuf *t;

	for (unsigned int i = 0; i < n; i++) {
		t = &l3_txbufs[port[i]];
		t->t_m[t->t_n++] = m[i];
		l3_txbuf_flush_full((unsigned int)port[i]);
	}
}
#endif

/* What one loop knows about the frames of a burst that passed its checks. */
struct l3_batch {
	struct rte_mbuf	*b_m[L3_MAXBURST + L3_SLACK];
	uint8_t		*b_p[L3_MAXBURST + L3_SLACK];
	uint32_t	 b_dst[L3_MAXBURST + L3_SLACK];
	uint32_t	 b_len[L3_MAXBURST + L3_SLACK];	/* IP total length */
	uint32_t	 b_nh[L3_MAXBURST + L3_SLACK];
	uint64_t	 b_port[L3_MAXBURST + L3_SLACK];
	unsigned int	 b_n;
};

/* Look every destination of a batch up in DIR-24-8 (rte_fib). */
static __rte_always_inline void
l3_fib_lookup(struct l3_batch *b)
{
	uint64_t nh[L3_MAXBURST];

	rte_fib_lookup_bulk(l3_fib, b->b_dst, nh, (int)b->b_n);
	for (unsigned int i = 0; i < b->b_n; i++)
		b->b_nh[i] = (uint32_t)nh[i];
}

/* The next hop that rte_lpm's answer means. */
static __rte_always_inline uint32_t
l3_lpm_nexthop(uint32_t answer)
{
	return ((answer & RTE_LPM_LOOKUP_SUCCESS) != 0 ?
	    answer & 0xffffff : BENCH_DISCARD);
}

/* The port a frame of this length leaves by, or L3_NOPORT. */
static __rte_always_inline unsigned int
l3_nexthop_port(const struct l3_nexthop *nh, uint32_t len)
{
	return (len > nh->nh_mtu ? L3_NOPORT : nh->nh_port);
}

/* Both addresses and the type; bytes 14 and 15 of the frame stay. */
static __rte_always_inline void
l3_rewrite(uint8_t *p, const struct l3_nexthop *nh)
{
	__m128i h;

	h = _mm_loadu_si128((const __m128i *)(const void *)p);
	h = _mm_blend_epi16(nh->nh_eth, h, 0xc0);
	_mm_storeu_si128((__m128i *)(void *)p, h);
}

/* Drop what has no port, close the gaps, and enqueue the rest. */
static __rte_always_inline void
l3_batch_send(struct l3_batch *b, uint32_t ports_or)
{
	unsigned int g = 0;

	if (unlikely(ports_or >= L3_NOPORT)) {
		for (unsigned int i = 0; i < b->b_n; i++) {
			if (b->b_port[i] >= L3_NOPORT) {
				l3_drop(&b->b_m[i], 1);
			} else {
				b->b_m[g] = b->b_m[i];
				b->b_port[g++] = b->b_port[i];
			}
		}
		b->b_n = g;
	}
	l3_enqueue(b->b_m, b->b_port, b->b_n);
}

#endif /* _BENCH_DPDK_L3_H_ */
