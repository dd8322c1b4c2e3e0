/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* The partial pattern: found exactly where it is, and finished right. */

#include "wire/wire_test.h"

#include "wire/cksum_partial.h"

#define	PKTMAX	2200

/* Offset of the transport in a packet of test_packet(). */
static size_t
l4off(const uint8_t *p)
{
	return (p[0] >> 4 == 4 ? (size_t)(p[0] & 15) * 4 : 40);
}

/* Offset of the checksum field in the transport. */
static size_t
sumoff(uint8_t proto)
{
	return (proto == 6 ? 16 : 6);
}

/* Store the pseudo-header sum, as a peer with offload does. */
static void
make_partial(uint8_t *p, uint8_t proto, size_t len)
{
	size_t off = l4off(p);

	test_put16(p + off + sumoff(proto),
	    ref_pseudo(p, proto, (uint32_t)(len - off)));
}

/* The full transport sum: 0xffff when the checksum is right. */
static uint16_t
full_sum(const uint8_t *p, uint8_t proto, size_t len)
{
	size_t off = l4off(p);

	return (ref_sum(ref_pseudo(p, proto, (uint32_t)(len - off)), p + off,
	    len - off));
}

/* A copy at the very end of its own memory, so that ASan sees an overread. */
static uint8_t *
copy_tight(const uint8_t *p, size_t len)
{
	uint8_t *c = malloc(len == 0 ? 1 : len);

	assert_non_null(c);
	memcpy(c, p, len);
	return (c);
}

static void
test_finish(void **state)
{
	uint8_t p[PKTMAX], *c;
	struct in_partial part;
	size_t len, pad;
	int round, v;
	uint8_t proto;

	for (round = 0; round < 20000; round++) {
		v = (test_rand() & 1) != 0 ? 4 : 6;
		proto = (test_rand() & 1) != 0 ? 6 : 17;
		len = test_packet(p, v, proto, 4 * (test_rand() % 11),
		    test_rand() % 1500);
		make_partial(p, proto, len);
		pad = test_rand() % 30;
		test_fill(p + len, pad);
		c = copy_tight(p, len + pad);
		if (full_sum(p, proto, len) == 0xffff) {
			assert_false(in_partial_pattern(c, len + pad, &part));
			free(c);
			continue;
		}
		assert_true(in_partial_pattern(c, len + pad, &part));
		assert_memory_equal(c, p, len + pad);
		assert_int_equal(part.ipa_start, l4off(p));
		assert_int_equal(part.ipa_offset, sumoff(proto));
		assert_int_equal(part.ipa_len, len);
		assert_true(in_partial_finish(c, part.ipa_len, part.ipa_start,
		    part.ipa_offset));
		assert_int_equal(full_sum(c, proto, len), 0xffff);
		assert_false(in_partial_pattern(c, len + pad, &part));
		free(c);
	}
}

/* A right checksum, and one wrong in any other way, are left alone. */
static void
test_others(void **state)
{
	uint8_t p[PKTMAX];
	struct in_partial part;
	size_t len, off;
	int round, v;
	uint8_t proto;
	uint16_t field;

	for (round = 0; round < 20000; round++) {
		v = (test_rand() & 1) != 0 ? 4 : 6;
		proto = (test_rand() & 1) != 0 ? 6 : 17;
		len = test_packet(p, v, proto, 0, test_rand() % 1500);
		off = l4off(p) + sumoff(proto);
		test_put16(p + off, (uint16_t)~full_sum(p, proto, len));
		field = test_get16(p + off);
		assert_false(in_partial_pattern(p, len, &part));

		make_partial(p, proto, len);
		if (test_get16(p + off) ==
		    (field = (uint16_t)(test_get16(p + off) ^
		    (1u << test_rand() % 16))))
			continue;
		test_put16(p + off, field);
		assert_false(in_partial_pattern(p, len, &part));
	}
}

static void
test_shapes(void **state)
{
	uint8_t p[PKTMAX], *c;
	struct in_partial part;
	size_t cut, len;

	/* Fragments, first and later. */
	len = test_packet(p, 4, 17, 0, 100);
	make_partial(p, 17, len);
	assert_true(in_partial_pattern(p, len, &part));
	test_put16(p + 6, 0x2000);
	assert_false(in_partial_pattern(p, len, &part));
	test_put16(p + 6, 0x0001);
	assert_false(in_partial_pattern(p, len, &part));

	/* Another protocol, another version, a UDP length that lies. */
	len = test_packet(p, 4, 17, 0, 100);
	make_partial(p, 17, len);
	p[9] = 132;
	assert_false(in_partial_pattern(p, len, &part));
	p[9] = 17;
	p[0] = 0x55;
	assert_false(in_partial_pattern(p, len, &part));
	p[0] = 0x45;
	test_put16(p + 24, 107);
	assert_false(in_partial_pattern(p, len, &part));

	/* Any cut of the packet. */
	len = test_packet(p, 4, 6, 8, 30);
	make_partial(p, 6, len);
	for (cut = 0; cut < len; cut++) {
		c = copy_tight(p, cut);
		assert_false(in_partial_pattern(c, cut, &part));
		free(c);
	}
	assert_true(in_partial_pattern(p, len, &part));
}

/* Extension headers: walked, except those that must stop the search. */
static void
test_ip6_ext(void **state)
{
	uint8_t p[PKTMAX], q[PKTMAX], *c;
	struct in_partial part;
	size_t cut, len;

	len = test_packet(p, 6, 6, 0, 77);
	make_partial(p, 6, len);
	memcpy(q, p, 40);
	memset(q + 40, 0, 24);
	q[6] = 0;		/* hop-by-hop, 8 bytes */
	q[40] = 60;		/* destination options, 16 bytes */
	q[48] = 6;
	q[49] = 1;
	memcpy(q + 64, p + 40, len - 40);
	len += 24;
	test_put16(q + 4, (uint32_t)(len - 40));
	assert_true(in_partial_pattern(q, len, &part));
	assert_int_equal(part.ipa_start, 64);
	for (cut = 0; cut < len; cut++) {
		c = copy_tight(q, cut);
		assert_false(in_partial_pattern(c, cut, &part));
		free(c);
	}
	q[40] = 43;		/* routing, used up, then not */
	assert_true(in_partial_pattern(q, len, &part));
	q[51] = 1;
	assert_false(in_partial_pattern(q, len, &part));
	q[40] = 44;		/* fragment */
	assert_false(in_partial_pattern(q, len, &part));
	q[40] = 60;
	q[49] = 255;		/* options longer than the packet */
	assert_false(in_partial_pattern(q, len, &part));
	memset(q + 40, 0, len - 40);	/* a chain without end */
	assert_false(in_partial_pattern(q, len, &part));
}

static void
test_finish_bounds(void **state)
{
	uint8_t p[64], q[64];

	test_fill(p, sizeof(p));
	memcpy(q, p, sizeof(p));
	assert_false(in_partial_finish(p, 64, 65, 0));
	assert_false(in_partial_finish(p, 64, 64, 0));
	assert_false(in_partial_finish(p, 64, 20, 43));
	assert_false(in_partial_finish(p, 64, 20, SIZE_MAX));
	assert_false(in_partial_finish(p, 64, SIZE_MAX, 2));
	assert_memory_equal(p, q, sizeof(p));
	assert_true(in_partial_finish(p, 64, 20, 42));
	assert_int_equal(test_get16(p + 62),
	    (uint16_t)~ref_sum(0, q + 20, 44));

	/* A UDP sum of zero is sent as 0xffff; no other field is. */
	memset(p, 0, sizeof(p));
	memset(p + 20, 0xff, 2);
	assert_true(in_partial_finish(p, 64, 20, 6));
	assert_int_equal(test_get16(p + 26), 0xffff);
	test_put16(p + 26, 0);
	assert_true(in_partial_finish(p, 64, 20, 16));
	assert_int_equal(test_get16(p + 36), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finish),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_ip6_ext),
		cmocka_unit_test(test_finish_bounds),
	};

	test_seed();
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
