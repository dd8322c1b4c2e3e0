/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * dpdk_l3's ordinary loop, in the manner of DPDK's l3fwd: one frame at a
 * time through the checks, one bulk lookup, one frame at a time through the
 * rewrite.  Owned by the forwarding thread.  RFC 1812 5.2, RFC 1624.
 */
#include <signal.h>
#include <time.h>

#include <rte_byteorder.h>
#include <rte_prefetch.h>

#include "dpdk_l3.h"

const char l3_loop[] = "scalar";

/* One's-complement sum of the header's 20 bytes: good if it is -0. */
static __rte_always_inline unsigned int
sum_ok(uint64_t a, uint64_t c, uint32_t d)
{
	unsigned long long s;
	unsigned char carry;
	unsigned int f;

	carry = _addcarry_u64(0, a, c, &s);
	carry = _addcarry_u64(carry, s, d, &s);
	s += carry;
	carry = _addcarry_u32(0, (uint32_t)s, (uint32_t)(s >> 32), &f);
	f += carry;
	f = (f & 0xffff) + (f >> 16);		/* at most 0x1fffe */
	return ((f == 0xffff) | (f == 0x1fffe));
}

/* Sort the burst into b and the bad, without a branch on a frame. */
static __rte_always_inline void
check_burst(struct rte_mbuf **m, unsigned int n, unsigned int port,
    struct l3_batch *b)
{
	const __m128i mask = _mm_setr_epi8(-1, -1, -1, -1, -1, -1, 0, 0, 0, 0,
	    0, 0, -1, -1, -1, 0);
	const __m128i expect = l3_expect[port];
	struct rte_mbuf *bad[L3_MAXBURST];
	unsigned int k = 0, nbad = 0, ok, tl;
	uint64_t a, c;
	uint32_t d;
	__m128i h;
	uint8_t *p;

	for (unsigned int i = 0; i < 4 && i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(m[i], void *));
	for (unsigned int i = 0; i < n; i++) {
		if (i + 4 < n)
			rte_prefetch0(rte_pktmbuf_mtod(m[i + 4], void *));
		p = rte_pktmbuf_mtod(m[i], uint8_t *);
		a = *(const unaligned_uint64_t *)(p + 14);
		c = *(const unaligned_uint64_t *)(p + 22);
		d = *(const unaligned_uint32_t *)(p + 30);
		h = _mm_loadu_si128((const __m128i *)(const void *)p);
		ok = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_and_si128(h, mask),
		    expect)) == 0xffff;
		tl = rte_bswap16((uint16_t)(a >> 16));
		ok &= tl >= 20;
		ok &= tl + 14 <= m[i]->data_len;
		ok &= (uint8_t)c > 1;		/* TTL */
		ok &= sum_ok(a, c, d);
		b->b_m[k] = m[i];
		b->b_p[k] = p;
		b->b_dst[k] = rte_bswap32(d);
		b->b_len[k] = tl;
		bad[nbad] = m[i];
		k += ok;
		nbad += 1 - ok;
	}
	b->b_n = k;
	if (unlikely(nbad != 0))
		l3_drop(bad, nbad);
}

static __rte_always_inline void
route_burst(struct rte_mbuf **m, unsigned int n, unsigned int port,
    const enum l3_table table)
{
	const struct l3_nexthop *nh;
	struct l3_batch b;
	uint32_t ports_or = 0, sum, v;
	uint8_t *p;

	check_burst(m, n, port, &b);
	if (table == L3_LPM)
		rte_lpm_lookup_bulk(l3_lpm, b.b_dst, b.b_nh, b.b_n);
	else
		l3_fib_lookup(&b);
	for (unsigned int i = 0; i < b.b_n; i++) {
		nh = &l3_nexthops[table == L3_LPM ?
		    l3_lpm_nexthop(b.b_nh[i]) : b.b_nh[i]];
		b.b_port[i] = l3_nexthop_port(nh, b.b_len[i]);
		ports_or |= (uint32_t)b.b_port[i];
		p = b.b_p[i];
		/* TTL - 1; the checksum grows by 0x0100, end-around */
		v = *(const unaligned_uint32_t *)(p + 22);
		sum = (v >> 16) + 1;
		sum = (sum & 0xffff) + (sum >> 16);
		*(unaligned_uint32_t *)(p + 22) = ((v - 1) & 0xffff) |
		    sum << 16;
		l3_rewrite(p, nh);
	}
	l3_batch_send(&b, ports_or);
}

void
l3_route_burst(struct rte_mbuf **m, unsigned int n, unsigned int port)
{
	if (l3_conf.c_table == L3_LPM)
		route_burst(m, n, port, L3_LPM);
	else
		route_burst(m, n, port, L3_FIB);
}
