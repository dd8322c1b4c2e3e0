/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * dpdk_l3's vector loop: the four-at-a-time idea of DPDK's l3fwd taken to
 * sixteen, with AVX-512.  Pass 1, per frame: data pointer, link-level
 * compare, destination and length into arrays.  Pass 2, sixteen frames: the
 * first 16 bytes of their IP headers are transposed so that each vector holds
 * one 32-bit word of every header; all checks, the new TTL and checksum come
 * from that, and good frames are moved together.  Pass 3: lookup.  Pass 4,
 * per frame: rewrite.  Owned by the forwarding thread.  RFC 1812 5.2, RFC
 * 1624.
 */
#include <signal.h>
#include <time.h>

#include <rte_prefetch.h>

#include "dpdk_l3.h"

#define	ROOM	(L3_MAXBURST + L3_SLACK)

const char l3_loop[] = "avx512";

/* What pass 1 leaves for pass 2. */
struct raw {
	uint8_t		*r_p[ROOM];
	uint32_t	 r_dst[ROOM];
	uint16_t	 r_len[ROOM];	/* bytes in the frame */
	uint16_t	 r_bad[ROOM];	/* bytes that differ from expected */
};

/* One 32-bit word of sixteen headers in each vector. */
struct words {
	__m512i	w[4];
};

static uint8_t padframe[64] __rte_aligned(64);

static __rte_always_inline __m512i
load4(uint8_t *const *p)
{
	__m512i x;

	x = _mm512_castsi128_si512(_mm_loadu_si128((void *)(p[0] + 14)));
	x = _mm512_inserti32x4(x, _mm_loadu_si128((void *)(p[4] + 14)), 1);
	x = _mm512_inserti32x4(x, _mm_loadu_si128((void *)(p[8] + 14)), 2);
	return (_mm512_inserti32x4(x,
	    _mm_loadu_si128((void *)(p[12] + 14)), 3));
}

static __rte_always_inline struct words
transpose(uint8_t *const *p)
{
	const __m512i x0 = load4(p), x1 = load4(p + 1), x2 = load4(p + 2),
	    x3 = load4(p + 3);
	const __m512i a = _mm512_unpacklo_epi32(x0, x1);
	const __m512i b = _mm512_unpacklo_epi32(x2, x3);
	const __m512i c = _mm512_unpackhi_epi32(x0, x1);
	const __m512i d = _mm512_unpackhi_epi32(x2, x3);

	return ((struct words){ {
	    _mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b),
	    _mm512_unpacklo_epi64(c, d), _mm512_unpackhi_epi64(c, d) } });
}

static __rte_always_inline void
gather_burst(struct rte_mbuf **m, unsigned int n, unsigned int port,
    struct raw *r)
{
	const __m128i expect = l3_expect[port];
	uint8_t *p;

	for (unsigned int i = 0; i < 4 && i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(m[i], void *));
	for (unsigned int i = 0; i < n; i++) {
		if (i + 4 < n)
			rte_prefetch0(rte_pktmbuf_mtod(m[i + 4], void *));
		p = rte_pktmbuf_mtod(m[i], uint8_t *);
		r->r_p[i] = p;
		r->r_dst[i] = *(const unaligned_uint32_t *)(p + 30);
		r->r_len[i] = m[i]->data_len;
		/* destination address, type, version and header length */
		r->r_bad[i] = _mm_mask_cmpneq_epi8_mask(0x703f,
		    _mm_loadu_si128((void *)p), expect);
	}
	for (unsigned int i = n; (i & 15) != 0; i++) {
		r->r_p[i] = padframe;
		r->r_bad[i] = 1;
	}
}

/* Ten 16-bit words each; the frames whose sum is -0, of those in ok. */
static __rte_always_inline __mmask16
sum_ok(__mmask16 ok, const struct words *h, __m512i dst)
{
	const __m512i lo = _mm512_set1_epi32(0xffff);
	__m512i s;

	s = _mm512_add_epi32(_mm512_and_si512(dst, lo),
	    _mm512_srli_epi32(dst, 16));
	for (int i = 0; i < 4; i++) {
		s = _mm512_add_epi32(s, _mm512_and_si512(h->w[i], lo));
		s = _mm512_add_epi32(s, _mm512_srli_epi32(h->w[i], 16));
	}
	s = _mm512_add_epi32(_mm512_and_si512(s, lo),
	    _mm512_srli_epi32(s, 16));
	return (_mm512_mask_cmpeq_epu32_mask(ok, s, lo));
}

/* TTL and checksum words after TTL - 1: checksum + 0x0100, end-around. */
static __rte_always_inline __m512i
ttl_dec(__m512i w)
{
	const __m512i one = _mm512_set1_epi32(1);
	__m512i sum;

	sum = _mm512_add_epi32(_mm512_srli_epi32(w, 16), one);
	sum = _mm512_add_epi32(sum, _mm512_srli_epi32(sum, 16));
	return (_mm512_or_si512(_mm512_and_si512(_mm512_sub_epi32(w, one),
	    _mm512_set1_epi32(0xffff)), _mm512_slli_epi32(sum, 16)));
}

/* Check frames i to i+15; append the good to b, their new words to neww. */
static __rte_always_inline __mmask16
check16(struct rte_mbuf **m, unsigned int i, const struct raw *r,
    struct l3_batch *b, uint32_t *neww)
{
	const __m512i swaplen = _mm512_broadcast_i32x4(_mm_setr_epi8(3, 2, -1,
	    -1, 7, 6, -1, -1, 11, 10, -1, -1, 15, 14, -1, -1));
	const __m512i swap4 = _mm512_broadcast_i32x4(_mm_setr_epi8(3, 2, 1, 0,
	    7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
	const struct words h = transpose(r->r_p + i);
	const __m512i dst = _mm512_loadu_si512(r->r_dst + i);
	const __m512i tl = _mm512_shuffle_epi8(h.w[0], swaplen);
	const __m512i flen = _mm512_cvtepu16_epi32(
	    _mm256_loadu_si256((const void *)(r->r_len + i)));
	const __m256i bad = _mm256_loadu_si256((const void *)(r->r_bad + i));
	unsigned int k = b->b_n, k2;
	__mmask16 ok;

	ok = _mm256_testn_epi16_mask(bad, bad);
	ok = _mm512_mask_cmpge_epu32_mask(ok, tl, _mm512_set1_epi32(20));
	ok = _mm512_mask_cmple_epu32_mask(ok,
	    _mm512_add_epi32(tl, _mm512_set1_epi32(14)), flen);
	ok = _mm512_mask_cmpgt_epu32_mask(ok, _mm512_and_si512(h.w[2],
	    _mm512_set1_epi32(0xff)), _mm512_set1_epi32(1));
	ok = sum_ok(ok, &h, dst);

	_mm512_storeu_si512(b->b_dst + k, _mm512_maskz_compress_epi32(ok,
	    _mm512_shuffle_epi8(dst, swap4)));
	_mm512_storeu_si512(b->b_len + k, _mm512_maskz_compress_epi32(ok, tl));
	_mm512_storeu_si512(neww + k, _mm512_maskz_compress_epi32(ok,
	    ttl_dec(h.w[2])));
	k2 = k + (unsigned int)__builtin_popcount(ok & 0xff);
	_mm512_storeu_si512(b->b_p + k, _mm512_maskz_compress_epi64(
	    (__mmask8)ok, _mm512_loadu_si512(r->r_p + i)));
	_mm512_storeu_si512(b->b_p + k2, _mm512_maskz_compress_epi64(
	    (__mmask8)(ok >> 8), _mm512_loadu_si512(r->r_p + i + 8)));
	_mm512_storeu_si512(b->b_m + k, _mm512_maskz_compress_epi64(
	    (__mmask8)ok, _mm512_loadu_si512(m + i)));
	_mm512_storeu_si512(b->b_m + k2, _mm512_maskz_compress_epi64(
	    (__mmask8)(ok >> 8), _mm512_loadu_si512(m + i + 8)));
	b->b_n = k + (unsigned int)__builtin_popcount(ok);
	return (ok);
}

/*
 * The first table of rte_lpm by gather; sixteen of which one points to a
 * second-level group go to the library.
 */
static __rte_always_inline void
lpm_lookup(struct l3_batch *b)
{
	const __m512i ext = _mm512_set1_epi32(
	    RTE_LPM_VALID_EXT_ENTRY_BITMASK & ~RTE_LPM_LOOKUP_SUCCESS);
	unsigned int left;
	__mmask16 live;
	__m512i t;

	for (unsigned int i = 0; i < b->b_n; i += 16) {
		left = b->b_n - i;
		live = left >= 16 ? 0xffff : (__mmask16)((1u << left) - 1);
		t = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), live,
		    _mm512_srli_epi32(_mm512_loadu_si512(b->b_dst + i), 8),
		    l3_lpm->tbl24, 4);
		if (unlikely(_mm512_test_epi32_mask(t, ext) != 0))
			rte_lpm_lookup_bulk(l3_lpm, b->b_dst + i, b->b_nh + i,
			    RTE_MIN(16u, left));
		else
			_mm512_storeu_si512(b->b_nh + i, t);
	}
}

static __rte_always_inline void
route_burst(struct rte_mbuf **m, unsigned int n, unsigned int port,
    const enum l3_table table)
{
	struct rte_mbuf *bad[L3_MAXBURST];
	const struct l3_nexthop *nh;
	struct l3_batch b;
	struct raw r;
	uint32_t neww[ROOM], ports_or = 0;
	unsigned int nbad = 0;
	__mmask16 ok;

	gather_burst(m, n, port, &r);
	b.b_n = 0;
	for (unsigned int i = 0; i < n; i += 16) {
		ok = check16(m, i, &r, &b, neww);
		if (likely(ok == 0xffff))
			continue;
		for (unsigned int q = i; q < i + 16 && q < n; q++)
			if ((ok >> (q - i) & 1) == 0)
				bad[nbad++] = m[q];
	}
	if (unlikely(nbad != 0))
		l3_drop(bad, nbad);
	if (table == L3_LPM)
		lpm_lookup(&b);
	else
		l3_fib_lookup(&b);
	for (unsigned int i = 0; i < b.b_n; i++) {
		nh = &l3_nexthops[table == L3_LPM ?
		    l3_lpm_nexthop(b.b_nh[i]) : b.b_nh[i]];
		b.b_port[i] = l3_nexthop_port(nh, b.b_len[i]);
		ports_or |= (uint32_t)b.b_port[i];
		*(unaligned_uint32_t *)(b.b_p[i] + 22) = neww[i];
		l3_rewrite(b.b_p[i], nh);
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
