/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Tests of packets in tunnels: found, their unfinished checksum recognised, cut
 * into segments that each have a tunnel of their own; damaged ones are no risk.
 */

#include "wire/wire_test.h"

#include <errno.h>

#include "wire/cksum_partial.h"
#include "wire/gso.h"
#include "wire/in_cksum.h"
#include "wire/in_l4.h"
#include "wire/in_tunnel.h"

#define	L3	14		/* bytes of link header */
#define	FRAMEMAX	66000

static uint8_t frame[FRAMEMAX], got[FRAMEMAX], bare[FRAMEMAX];

/* What lies between the outer IP header and the inner one. */
static const struct tunnel {
	uint8_t		 t_proto;
	bool		 t_v6;		/* the inner packet */
	size_t		 t_len;
	uint8_t		 t_bytes[48];
	bool		 t_nogso;	/* has numbers or sums of its own */
} tunnels[] = {
#define	MACS	2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2
	/* VXLAN, VXLAN with a policy and a tag, Geneve with options. */
	{ 17, false, 30, { 9, 9, 18, 181, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 7, 0,
	    MACS, 8, 0 }, false },
	{ 17, true, 34, { 9, 9, 54, 94, 0, 0, 0, 0, 0x88, 0, 1, 2, 9, 9, 9, 0,
	    MACS, 0x81, 0, 0, 100, 0x86, 0xdd }, false },
	{ 17, false, 38, { 9, 9, 23, 193, 0, 0, 0, 0, 2, 0x80, 0x65, 0x58, 0,
	    0, 7, 0, 1, 2, 3, 1, 4, 4, 4, 4, MACS, 8, 0 }, false },
	/* GRE bare, with a key, with Ethernet; with a sum, with a number. */
	{ 47, false, 4, { 0, 0, 8, 0 }, false },
	{ 47, true, 8, { 0x20, 0, 0x86, 0xdd, 1, 2, 3, 4 }, false },
	{ 47, false, 18, { 0, 0, 0x65, 0x58, MACS, 8, 0 }, false },
	{ 47, false, 8, { 0x80, 0, 8, 0, 1, 2, 0, 0 }, true },
	{ 47, false, 8, { 0x10, 0, 8, 0, 0, 0, 0, 9 }, true },
	/* IP in IP. */
	{ 4, false, 0, { 0 }, false },
	{ 41, true, 0, { 0 }, false },
#undef MACS
};
#define	NTUNNELS	(sizeof(tunnels) / sizeof(tunnels[0]))

/*
 * A tunnelled packet behind L3 bytes, the inner one with paylen bytes; v6: the
 * outer header.  *inner: where that is in the frame.  Returns the end.
 */
static size_t
make(const struct tunnel *t, bool v6, uint8_t proto, size_t paylen,
    size_t *inner)
{
	uint8_t *p = frame + L3;
	size_t hlen = v6 ? 40 : 20, len;

	test_fill(frame, L3);
	*inner = L3 + hlen + t->t_len;
	len = hlen + t->t_len + test_packet(frame + *inner, t->t_v6 ? 6 : 4,
	    proto, 0, paylen);
	memset(p, 0, hlen);
	if (v6) {
		p[0] = 0x60;
		test_put16(p + 4, (uint32_t)(len - 40));
		p[6] = t->t_proto;
		p[7] = 64;
	} else {
		p[0] = 0x45;
		test_put16(p + 2, (uint32_t)len);
		test_put16(p + 4, 0xfffe);
		p[8] = 64;
		p[9] = t->t_proto;
		test_put16(p + 10, (uint16_t)~ref_sum(0, p, 20));
	}
	memcpy(p + hlen, t->t_bytes, t->t_len);
	if (t->t_proto == 17)
		test_put16(p + hlen + 4, (uint32_t)(len - hlen));
	return (L3 + len);
}

/* The sum of the whole transport at l4, 0xffff when it is right. */
static uint16_t
full_sum(const uint8_t *ip, size_t hlen, uint8_t proto, size_t len)
{

	return (ref_sum(ref_pseudo(ip, proto, (uint32_t)(len - hlen)),
	    ip + hlen, len - hlen));
}

/*
 * The inner checksum unfinished, the outer made for what it will be: one is
 * recognised, and then both are right.
 */
static void
test_partial(void **state)
{
	struct in_partial part;
	struct in_tunnel it;
	size_t ohlen, ihlen, end, inner, off, i;
	uint8_t proto, *ip, *p;

	for (int round = 0; round < 2000; round++) {
		const struct tunnel *t = &tunnels[round % NTUNNELS];

		proto = test_rand() % 2 == 0 ? 6 : 17;
		ohlen = test_rand() % 2 == 0 ? 20 : 40;
		end = make(t, ohlen == 40, proto, test_rand() % 1000, &inner);
		p = frame + L3;
		ip = frame + inner;
		ihlen = t->t_v6 ? 40 : 20;
		assert_true(in_tunnel_find(p, end - L3, &it));
		assert_int_equal(it.it_proto, t->t_proto);
		assert_int_equal(it.it_off, ohlen);
		assert_int_equal(it.it_inner, inner - L3);
		assert_int_equal(it.it_end, end - L3);
		off = ihlen + (proto == 6 ? 16 : 6);
		test_put16(ip + off, ref_pseudo(ip, proto,
		    (uint32_t)(end - inner - ihlen)));
		if (full_sum(ip, ihlen, proto, end - inner) == 0xffff)
			continue;
		if (t->t_proto == 17) {
			/* From the pseudo header to the inner transport. */
			i = inner - L3 + ihlen;
			test_put16(p + ohlen + 6, (uint16_t)~ref_sum(
			    ref_sum(ref_pseudo(p, 17,
			    (uint32_t)(end - L3 - ohlen)), p + ohlen,
			    i - ohlen), (uint8_t[2]){
			    (uint8_t)~ip[off], (uint8_t)~ip[off + 1] }, 2));
		}
		assert_true(in_partial_pattern(p, end - L3 + test_rand() % 9,
		    &part));
		assert_int_equal(part.ipa_start, inner - L3 + ihlen);
		assert_int_equal(part.ipa_offset, off - ihlen);
		assert_int_equal(part.ipa_len, end - L3);
		assert_true(in_partial_finish(p, part.ipa_len, part.ipa_start,
		    part.ipa_offset));
		assert_int_equal(full_sum(ip, ihlen, proto, end - inner),
		    0xffff);
		if (t->t_proto == 17)
			assert_int_equal(full_sum(p, ohlen, 17, end - L3),
			    0xffff);
		assert_false(in_partial_pattern(p, end - L3, &part));
	}
}

/* One segment: the outer headers are right, the inner is as without. */
static void
check_segment(const struct gso *g, const struct gso *plain, uint32_t i,
    size_t inner, bool sum)
{
	const uint8_t *p = got + L3;
	size_t hlen = frame[L3] >> 4 == 6 ? 40 : 20, len, n;

	len = gso_segment(g, i, got, sizeof(got));
	n = gso_segment(plain, i, bare, sizeof(bare));
	assert_int_equal(len, inner + n);
	assert_memory_equal(got + inner, bare, n);
	assert_memory_equal(got, frame, L3);
	if (hlen == 20) {
		assert_int_equal(test_get16(p + 2), len - L3);
		assert_int_equal(test_get16(p + 4), (0xfffe + i) & 0xffff);
		assert_int_equal(ref_sum(0, p, 20), 0xffff);
	} else
		assert_int_equal(test_get16(p + 4), len - L3 - 40);
	if (g->gso_tunnel.it_proto == 17) {
		assert_int_equal(test_get16(p + hlen + 4), len - L3 - hlen);
		if (sum)
			assert_int_equal(full_sum(p, hlen, 17, len - L3),
			    0xffff);
		else
			assert_int_equal(test_get16(p + hlen + 6), 0);
		assert_memory_equal(p + hlen + 8, frame + L3 + hlen + 8,
		    inner - L3 - hlen - 8);
	} else
		assert_memory_equal(p + hlen, frame + L3 + hlen,
		    inner - L3 - hlen);
}

static void
test_segments(void **state)
{
	size_t end, hlen, inner, mss;
	struct gso g, plain;
	bool sum;

	for (int round = 0; round < 500; round++) {
		const struct tunnel *t = &tunnels[round % NTUNNELS];

		hlen = test_rand() % 2 == 0 ? 20 : 40;
		mss = 100 + test_rand() % 1400;
		end = make(t, hlen == 40, test_rand() % 2 == 0 ? 6 : 17,
		    test_rand() % 20000, &inner);
		sum = test_rand() % 2 == 0;
		if (t->t_proto == 17 && sum)
			test_put16(frame + L3 + hlen + 6, 0xbaad);
		assert_int_equal(gso_init_tunnel(&g, frame,
		    end + test_rand() % 20, L3, mss), t->t_nogso ? EINVAL : 0);
		if (t->t_nogso)
			continue;
		assert_int_equal(gso_init(&plain, frame + inner, end - inner,
		    0, mss), 0);
		assert_int_equal(g.gso_nsegs, plain.gso_nsegs);
		for (uint32_t i = 0; i < g.gso_nsegs; i++)
			check_segment(&g, &plain, i, inner, sum);
	}
}

/* Cut at every byte, and damaged: nothing is read or written past the end. */
static void
test_damaged(void **state)
{
	struct in_partial part;
	struct gso g;
	size_t end, inner, len;
	int taken = 0;
	uint8_t *p;

	for (int round = 0; round < 50000; round++) {
		end = make(&tunnels[test_rand() % NTUNNELS],
		    test_rand() % 2 == 0, test_rand() % 2 == 0 ? 6 : 17,
		    test_rand() % 100, &inner);
		for (size_t n = test_rand() % 3; n > 0; n--)
			frame[L3 + test_rand() % (end - L3)] =
			    (uint8_t)test_rand();
		len = test_rand() % 4 == 0 ? test_rand() % end : end;
		assert_non_null(p = malloc(len != 0 ? len : 1));
		memcpy(p, frame, len);
		if (len >= L3 && in_partial_pattern(p + L3, len - L3, &part))
			assert_true(part.ipa_len <= len - L3);
		if (gso_init_tunnel(&g, p, len, L3, 40) == 0) {
			taken++;
			assert_true(g.gso_hdrlen + g.gso_paylen <= len);
			for (uint32_t i = 0; i < g.gso_nsegs; i++)
				assert_in_range(gso_segment(&g, i, got,
				    sizeof(got)), g.gso_hdrlen,
				    g.gso_hdrlen + 40);
		}
		free(p);
	}
	assert_in_range(taken, 1000, 49000);
}

/* What looks a little like one. */
static void
test_others(void **state)
{
	struct in_tunnel it;
	size_t end, inner;

	end = make(&tunnels[0], false, 6, 100, &inner);
	assert_true(in_tunnel_find(frame + L3, end - L3, &it));
	frame[L3 + 6] = 0x20;			/* a fragment */
	assert_false(in_tunnel_find(frame + L3, end - L3, &it));
	frame[L3 + 6] = 0;
	frame[L3 + 28] = 0;			/* no VXLAN without its flag */
	assert_false(in_tunnel_find(frame + L3, end - L3, &it));
	frame[L3 + 28] = 8;
	frame[L3 + 48] = 0x12;			/* neither IP nor a tag */
	assert_false(in_tunnel_find(frame + L3, end - L3, &it));
	end = make(&tunnels[3], false, 6, 100, &inner);
	frame[L3 + 20] = 0x40;			/* GRE with a source route */
	assert_false(in_tunnel_find(frame + L3, end - L3, &it));
	frame[L3 + 20] = 0;
	frame[L3 + 21] = 1;			/* of another version */
	assert_false(in_tunnel_find(frame + L3, end - L3, &it));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_partial),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_others),
	};

	test_seed();
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
