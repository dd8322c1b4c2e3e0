/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* The checksum against a slow one: every short length, offset and split. */

#include "wire/wire_test.h"

#include <arpa/inet.h>

#include "wire/in_cksum.h"

#define	BUFSIZE	70000

static uint8_t buf[BUFSIZE];

/* A checksum as our code returns it, as a big-endian number. */
static uint16_t
be(uint16_t v)
{
	return (ntohs(v));
}

static void
test_cksum_lengths(void **state)
{
	size_t align, len;

	test_fill(buf, sizeof(buf));
	for (align = 0; align < 16; align++)
		for (len = 0; len <= 300; len++)
			assert_int_equal(be(in_cksum(buf + align, len)),
			    (uint16_t)~ref_sum(0, buf + align, len));
	for (len = 65500; len <= 65536; len++)
		assert_int_equal(be(in_cksum(buf + 1, len)),
		    (uint16_t)~ref_sum(0, buf + 1, len));
}

static void
test_cksum_all_ones(void **state)
{
	memset(buf, 0xff, 65536);
	assert_int_equal(in_cksum(buf, 65536), 0);
	assert_int_equal(in_cksum(buf, 65535), htons(0x00ff));
	memset(buf, 0, 65536);
	assert_int_equal(in_cksum(buf, 65536), 0xffff);
	assert_int_equal(in_cksum(buf, 0), 0xffff);
}

static void
test_cksum_chain(void **state)
{
	size_t len, off, part;
	uint32_t sum;
	int round;

	for (round = 0; round < 3000; round++) {
		len = test_rand() % 2000;
		test_fill(buf, len);
		sum = 0;
		for (off = 0; off < len; off += part) {
			part = test_rand() % 40;
			if (part > len - off)
				part = len - off;
			sum = in_cksum_partial(sum, buf + off, part, off);
			assert_true(sum < 1u << 17);
		}
		assert_int_equal(be(in_cksum_finish(sum)),
		    (uint16_t)~ref_sum(0, buf, len));
	}
}

static void
test_cksum_hdr20(void **state)
{
	int round;

	for (round = 0; round < 200000; round++) {
		size_t align = round % 8;

		test_fill(buf, 32);
		if (round % 5 == 0)
			memset(buf + align + round % 20, 0xff, 4);
		assert_int_equal(be(in_cksum_hdr20(buf + align)),
		    (uint16_t)~ref_sum(0, buf + align, 20));
	}
	memset(buf, 0xff, 20);
	assert_int_equal(in_cksum_hdr20(buf), 0);
	memset(buf, 0, 20);
	assert_int_equal(in_cksum_hdr20(buf), 0xffff);
}

static void
test_pseudo(void **state)
{
	struct in6_addr src6, dst6;
	struct in_addr src, dst;
	uint8_t ip[40];
	uint32_t len;
	int round;

	for (round = 0; round < 20000; round++) {
		test_fill(ip, sizeof(ip));
		len = (uint32_t)test_rand() & 0xffff;
		ip[0] = 0x45;
		memcpy(&src, ip + 12, 4);
		memcpy(&dst, ip + 16, 4);
		assert_int_equal(be((uint16_t)in_pseudo(src, dst, 17,
		    (uint16_t)len)), ref_pseudo(ip, 17, len));
		ip[0] = 0x60;
		len = (uint32_t)test_rand() & 0xfffff;
		memcpy(&src6, ip + 8, 16);
		memcpy(&dst6, ip + 24, 16);
		assert_int_equal(be((uint16_t)in6_pseudo(&src6, &dst6, 6, len)),
		    ref_pseudo(ip, 6, len));
	}
}

/* A header with the checksum that a full computation gives. */
static void
make_header(uint8_t *h)
{
	test_fill(h, 20);
	h[0] = 0x45;
	test_put16(h + 10, 0);
	test_put16(h + 10, (uint16_t)~ref_sum(0, h, 20));
}

static void
test_update(void **state)
{
	uint8_t h[20];
	uint16_t cksum, old16, new16;
	uint32_t old32, new32;
	size_t off;
	int round;

	for (round = 0; round < 200000; round++) {
		make_header(h);
		memcpy(&cksum, h + 10, 2);
		off = 2 * (test_rand() % 5);
		new16 = (uint16_t)test_rand();
		if (off == 0)
			((uint8_t *)&new16)[0] = 0x45;
		memcpy(&old16, h + off, 2);
		memcpy(h + off, &new16, 2);
		cksum = in_cksum_update16(cksum, old16, new16);
		memcpy(h + 10, &cksum, 2);
		assert_int_equal(in_cksum_hdr20(h), 0);

		off = 12 + 4 * (test_rand() % 2);
		new32 = round % 7 == 0 ? 0 : (uint32_t)test_rand();
		memcpy(&old32, h + off, 4);
		memcpy(h + off, &new32, 4);
		cksum = in_cksum_update32(cksum, old32, new32);
		test_put16(h + 10, 0);
		assert_int_equal(cksum, in_cksum_hdr20(h));
	}
}

/* Take a hop off h and compare with a full computation. */
static void
check_ttl_dec(uint8_t *h)
{
	uint8_t ttl = h[8];
	struct ip ip;
	uint16_t sum;

	memcpy(&ip, h, sizeof(ip));
	ip_ttl_dec(&ip);
	assert_int_equal(ip.ip_ttl, ttl - 1);
	sum = ip.ip_sum;
	ip.ip_sum = 0;
	assert_int_equal(sum, in_cksum_hdr20(&ip));
}

static void
test_ttl_dec(void **state)
{
	uint8_t h[20];
	uint32_t want;
	int round;

	for (round = 0; round < 200000; round++) {
		make_header(h);
		if (h[8] == 0)
			continue;
		check_ttl_dec(h);
	}

	/* Every value of the checksum field, by way of the identification. */
	make_header(h);
	h[8] = 64;
	for (want = 0; want <= 0xffff; want++) {
		test_put16(h + 4, 0);
		test_put16(h + 10, want);
		test_put16(h + 4, (uint16_t)~ref_sum(0, h, 20));
		assert_int_equal(in_cksum_hdr20(h), 0);
		check_ttl_dec(h);	/* 0xffff stands for 0 in the first */
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cksum_lengths),
		cmocka_unit_test(test_cksum_all_ones),
		cmocka_unit_test(test_cksum_chain),
		cmocka_unit_test(test_cksum_hdr20),
		cmocka_unit_test(test_pseudo),
		cmocka_unit_test(test_update),
		cmocka_unit_test(test_ttl_dec),
	};

	test_seed();
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
