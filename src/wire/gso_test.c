/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* Segmentation against a reference that builds each segment field by field. */

#include "wire/wire_test.h"

#include <errno.h>

#include "wire/cksum_partial.h"
#include "wire/gso.h"

#define	FRAMEMAX	66000

static uint8_t frame[FRAMEMAX], got[FRAMEMAX], want[FRAMEMAX];

/*
 * Build segment i of the frame by the rules, byte by byte: link header of l3
 * bytes, IP header of hlen, transport header of thlen.
 */
static size_t
ref_segment(uint32_t i, size_t l3, size_t hlen, size_t thlen, size_t paylen,
    size_t mss)
{
	uint8_t *ip = want + l3, *th = ip + hlen;
	const uint8_t *fip = frame + l3;
	size_t off = i * mss, len, l4len;
	bool last = off + mss >= paylen;
	uint8_t proto = thlen == 8 ? 17 : 6;
	uint32_t seq;

	len = last ? paylen - off : mss;
	l4len = thlen + len;
	memcpy(want, frame, l3 + hlen + thlen);
	memcpy(th + thlen, fip + hlen + thlen + off, len);
	if (ip[0] >> 4 == 4) {
		test_put16(ip + 2, (uint32_t)(hlen + l4len));
		test_put16(ip + 4, test_get16(fip + 4) + i);
		test_put16(ip + 10, 0);
		test_put16(ip + 10, (uint16_t)~ref_sum(0, ip, hlen));
	} else
		test_put16(ip + 4, (uint32_t)l4len);
	if (proto == 6) {
		seq = (uint32_t)test_get16(th + 4) << 16 | test_get16(th + 6);
		seq += (uint32_t)off;
		test_put16(th + 4, seq >> 16);
		test_put16(th + 6, seq);
		if (!last)
			th[13] &= 0xf6;		/* neither FIN nor PSH */
		if (i != 0)
			th[13] &= 0x7f;		/* no CWR */
		test_put16(th + 16, 0);
		test_put16(th + 16, (uint16_t)~ref_sum(ref_pseudo(ip, 6,
		    (uint32_t)l4len), th, l4len));
	} else {
		test_put16(th + 4, (uint32_t)l4len);
		test_put16(th + 6, 0);
		test_put16(th + 6, (uint16_t)~ref_sum(ref_pseudo(ip, 17,
		    (uint32_t)l4len), th, l4len));
		if (test_get16(th + 6) == 0)
			test_put16(th + 6, 0xffff);
	}
	return (l3 + hlen + l4len);
}

/* Split the frame, compare every segment, and put the payload together. */
static void
check_frame(size_t l3, size_t hlen, size_t thlen, size_t paylen, size_t pad,
    size_t mss)
{
	const uint8_t *pay;
	struct gso g;
	size_t flen = l3 + hlen + thlen + paylen, len, sum = 0;
	uint32_t i;

	assert_int_equal(gso_init(&g, frame, flen + pad, l3, mss), 0);
	assert_int_equal(g.gso_hdrlen, l3 + hlen + thlen);
	assert_int_equal(g.gso_nsegs,
	    paylen == 0 ? 1 : (paylen + mss - 1) / mss);
	for (i = 0; i < g.gso_nsegs; i++) {
		len = ref_segment(i, l3, hlen, thlen, paylen, mss);
		memset(got, 0xa5, len + 1);
		assert_int_equal(gso_segment(&g, i, got, len), len);
		assert_memory_equal(got, want, len);
		assert_int_equal(got[len], 0xa5);
		assert_int_equal(gso_segment(&g, i, got, len - 1), 0);
		sum += gso_payload(&g, i, &pay);
		assert_int_equal(pay + (len - g.gso_hdrlen) - frame,
		    l3 + hlen + thlen + sum);
	}
	assert_int_equal(sum, paylen);
}

static void
test_random(void **state)
{
	size_t hlen, l3, mss, optlen, paylen, thlen;
	int round, v;
	uint8_t proto;

	for (round = 0; round < 2000; round++) {
		v = round % 2 == 0 ? 4 : 6;
		proto = round % 4 < 2 ? 6 : 17;
		l3 = test_rand() % 23;
		optlen = v == 4 ? 4 * (test_rand() % 11) : 0;
		paylen = test_rand() % (round % 50 == 0 ? 65400 : 5000);
		mss = 1 + test_rand() % 3000;
		if (paylen / mss > 500)
			mss = 536;
		test_fill(frame, l3);
		test_packet(frame + l3, v, proto, optlen, paylen);
		hlen = v == 4 ? 20 + optlen : 40;
		thlen = proto == 6 ? 20 : 8;
		if (proto == 6 && paylen >= 40 && round % 3 == 0) {
			frame[l3 + hlen + 12] = 0xd0;	/* 32 of options */
			thlen = 52;
			paylen -= 32;
		}
		check_frame(l3, hlen, thlen, paylen, test_rand() % 20, mss);
	}
}

/* Sequence number and identification wrap; the flags stay where they belong. */
static void
test_wrap(void **state)
{
	size_t l3 = 14;

	test_packet(frame + l3, 4, 6, 0, 40000);
	test_put16(frame + l3 + 4, 0xfffe);
	test_put16(frame + l3 + 24, 0xffff);
	test_put16(frame + l3 + 26, 0xf000);
	frame[l3 + 33] = 0xff;
	check_frame(l3, 20, 20, 40000, 0, 1448);
}

static void
test_refused(void **state)
{
	uint8_t *tight;
	struct gso g;
	size_t cut, len;

	len = test_packet(frame, 4, 6, 4, 3000);
	assert_int_equal(gso_init(&g, frame, len, 0, 0), EINVAL);
	assert_int_equal(gso_init(&g, frame, len, 0, 65536), EINVAL);
	assert_int_equal(gso_init(&g, frame, len, len + 1, 100), EINVAL);
	for (cut = 0; cut < 100; cut++) {
		tight = malloc(cut == 0 ? 1 : cut);
		assert_non_null(tight);
		memcpy(tight, frame, cut);
		assert_int_equal(gso_init(&g, tight, cut, 0, 100), EINVAL);
		free(tight);
	}
	frame[24 + 12] = 0x40;		/* TCP header below 20 bytes */
	assert_int_equal(gso_init(&g, frame, len, 0, 100), EINVAL);
	frame[24 + 12] = 0x50;
	frame[6] = 0x20;		/* a fragment */
	assert_int_equal(gso_init(&g, frame, len, 0, 100), EINVAL);
}

/*
 * Whole packets with some bytes damaged, at the end of their own memory, so
 * that ASan sees any look past it.  What is accepted must still make sense.
 */
static void
test_damaged(void **state)
{
	struct in_partial part;
	struct gso g;
	uint8_t *p;
	size_t len, mss;
	uint32_t i;
	int n, round, taken = 0;

	for (round = 0; round < 100000; round++) {
		len = test_packet(frame, round % 2 == 0 ? 4 : 6,
		    round % 4 < 2 ? 6 : 17, 4 * (test_rand() % 3),
		    test_rand() % 200);
		for (n = (int)(test_rand() % 4); n > 0; n--)
			frame[test_rand() % 64] = (uint8_t)test_rand();
		len -= test_rand() % 4 == 0 ? test_rand() % len : 0;
		assert_non_null(p = malloc(len));
		memcpy(p, frame, len);
		if (in_partial_pattern(p, len, &part)) {
			assert_true(part.ipa_len <= len);
			assert_true(in_partial_finish(p, part.ipa_len,
			    part.ipa_start, part.ipa_offset));
		}
		mss = 1 + test_rand() % 100;
		if (gso_init(&g, p, len, 0, mss) == 0) {
			taken++;
			assert_true(g.gso_hdrlen + g.gso_paylen <= len);
			for (i = 0; i < g.gso_nsegs; i++)
				assert_in_range(gso_segment(&g, i, got,
				    sizeof(got)), g.gso_hdrlen,
				    g.gso_hdrlen + mss);
		}
		free(p);
	}
	assert_in_range(taken, 1, round - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_damaged),
	};

	test_seed();
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
