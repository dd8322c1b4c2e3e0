/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What this room's tests share: random bytes and slow obvious references.
 */

#ifndef WIRE_TEST_H
#define WIRE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sys/random_testlib.h"

/* Fill len bytes. */
static inline void
test_fill(uint8_t *p, size_t len)
{
	while (len-- != 0)
		*p++ = (uint8_t)test_rand();
}

/* The textbook sum: big-endian words, one at a time, carry folded at once. */
static inline uint16_t
ref_sum(uint16_t sum, const uint8_t *p, size_t len)
{
	uint32_t s = sum;
	size_t i;

	for (i = 0; i < len; i += 2) {
		s += (uint32_t)p[i] << 8 | (i + 1 < len ? p[i + 1] : 0);
		if (s > 0xffff)
			s = (s & 0xffff) + 1;
	}
	return ((uint16_t)s);
}

/* The pseudo-header sum of an IPv4 or IPv6 packet, built byte by byte. */
static inline uint16_t
ref_pseudo(const uint8_t *ip, uint8_t proto, uint32_t len)
{
	uint8_t ph[40] = { 0 };
	size_t n;

	if (ip[0] >> 4 == 4) {
		memcpy(ph, ip + 12, 8);
		ph[9] = proto;
		n = 10;
	} else {
		memcpy(ph, ip + 8, 32);
		ph[33] = proto;
		n = 34;
	}
	ph[n] = (uint8_t)(len >> 24);
	ph[n + 1] = (uint8_t)(len >> 16);
	ph[n + 2] = (uint8_t)(len >> 8);
	ph[n + 3] = (uint8_t)len;
	return (ref_sum(0, ph, n + 4));
}

/* Store a big-endian 16-bit value. */
static inline void
test_put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* Load a big-endian 16-bit value. */
static inline uint16_t
test_get16(const uint8_t *p)
{
	return ((uint16_t)(p[0] << 8 | p[1]));
}

/*
 * Compose a packet with random addresses and payload: version 4 or 6, proto
 * TCP (6) or UDP (17), optlen bytes of IP options (version 4, multiple of 4).
 * Header checksum right, transport checksum zero.  Returns its length.
 */
static inline size_t
test_packet(uint8_t *p, int v, uint8_t proto, size_t optlen, size_t paylen)
{
	size_t l4len = (proto == 6 ? 20 : 8) + paylen, hlen;

	hlen = v == 4 ? 20 + optlen : 40;
	test_fill(p, hlen + l4len);
	if (v == 4) {
		memset(p + 20, 1, optlen);	/* no-operation */
		p[0] = (uint8_t)(0x40 | hlen / 4);
		test_put16(p + 2, (uint32_t)(hlen + l4len));
		test_put16(p + 6, 0x4000);
		p[9] = proto;
		test_put16(p + 10, 0);
		test_put16(p + 10, (uint16_t)~ref_sum(0, p, hlen));
	} else {
		p[0] = 0x60;
		test_put16(p + 4, (uint32_t)l4len);
		p[6] = proto;
	}
	p += hlen;
	if (proto == 6) {
		p[12] = 0x50;
		test_put16(p + 16, 0);
	} else {
		test_put16(p + 4, (uint32_t)l4len);
		test_put16(p + 6, 0);
	}
	return (hlen + l4len);
}

#endif /* WIRE_TEST_H */
