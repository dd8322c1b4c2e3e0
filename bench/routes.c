/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Random routes; routes.h says what for.
 */
#include <err.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sysexits.h>

#include "routes.h"

#define	NDISCARD	4	/* martian prefixes in front of the list */

struct bench_route *bench_routes;
unsigned int bench_nroutes;

static struct bench_route *hash;
static uint32_t hashmask;
static uint64_t seed = 0x9e3779b97f4a7c15;

/* Per mille of each prefix length; the same table every run. */
static const struct {
	uint8_t		len;
	uint16_t	share;
} shares[] = {
	{ 24, 600 }, { 22, 115 }, { 23, 105 }, { 21, 52 }, { 20, 47 },
	{ 19, 28 }, { 16, 17 }, { 18, 16 }, { 17, 10 }, { 15, 3 }, { 14, 2 },
	{ 13, 2 }, { 12, 2 }, { 11, 1 },
};

uint64_t
bench_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed * 0x2545f4914f6cdd1d);
}

static uint32_t
prefix_mask(unsigned int len)
{
	return (len != 0 ? 0xffffffffu << (32 - len) : 0);
}

/* The slot that holds the prefix, or the empty one where it belongs. */
static struct bench_route *
hash_slot(uint32_t prefix, unsigned int len)
{
	uint64_t x = ((uint64_t)prefix << 6 | len) * 0x9e3779b97f4a7c15;
	uint32_t h = (uint32_t)(x >> 32) & hashmask;

	while (hash[h].br_len != 0 &&
	    (hash[h].br_prefix != prefix || hash[h].br_len != len))
		h = (h + 1) & hashmask;
	return (&hash[h]);
}

/* The next hop by the obvious way: longest length first. */
unsigned int
bench_routes_reference(uint32_t dst)
{
	const struct bench_route *r;

	for (unsigned int len = 32; len >= 1; len--) {
		r = hash_slot(dst & prefix_mask(len), len);
		if (r->br_len != 0)
			return (r->br_nh);
	}
	return (BENCH_DISCARD);
}

/* Add a route unless there is one; host byte order. */
void
bench_routes_add(uint32_t prefix, unsigned int len, unsigned int nh)
{
	struct bench_route *r;

	prefix &= prefix_mask(len);
	r = hash_slot(prefix, len);
	if (r->br_len != 0)
		return;
	r->br_prefix = prefix;
	r->br_len = (uint8_t)len;
	r->br_nh = (uint8_t)nh;
	bench_routes[bench_nroutes++] = *r;
}

static bool
martian(uint32_t ip)
{
	return (ip >> 24 == 0 || ip >> 24 == 127 || ip >> 24 == 10 ||
	    ip >= 0xe0000000);
}

void
bench_routes_make(unsigned int n)
{
	unsigned int d, k = 0, roll;
	uint32_t ip, size = 1;

	while (size < 4 * (n + 64))
		size <<= 1;
	hashmask = size - 1;
	hash = calloc(size, sizeof(*hash));
	bench_routes = calloc(n + n / 500 + 64, sizeof(*bench_routes));
	if (hash == NULL || bench_routes == NULL)
		errx(EX_OSERR, "no memory for %u routes", n);
	if (n == 0)
		return;
	if (n == 1) {
		bench_routes_add(0x0a000000, 8, 1);
		return;
	}
	bench_routes_add(0x00000000, 8, BENCH_DISCARD);
	bench_routes_add(0x7f000000, 8, BENCH_DISCARD);
	bench_routes_add(0xe0000000, 4, BENCH_DISCARD);
	bench_routes_add(0xf0000000, 4, BENCH_DISCARD);
	while (bench_nroutes < n + NDISCARD) {
		roll = (unsigned int)(bench_random() % 1000);
		for (d = 0; roll >= shares[d].share; d++)
			roll -= shares[d].share;
		ip = (uint32_t)bench_random();
		if (martian(ip))
			continue;
		bench_routes_add(ip, shares[d].len, 1 + k++ % BENCH_NNEXTHOPS);
	}
}

uint32_t
bench_routes_pick(unsigned int i)
{
	const struct bench_route *r;

	if (bench_nroutes == 1)
		return (0x0a000001 + i);
	r = &bench_routes[NDISCARD +
	    bench_random() % (bench_nroutes - NDISCARD)];
	return (r->br_prefix |
	    ((uint32_t)bench_random() & ~prefix_mask(r->br_len)));
}
