/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * dpdk_l3's routes: made at random with the prefix lengths of the public IPv4
 * table, loaded into rte_lpm or rte_fib, and kept in a hash of (prefix,
 * length) that --verify asks instead.  Written before forwarding starts, read
 * by the one thread after that.
 */
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include <rte_debug.h>

#include "dpdk_l3.h"

#define	NDISCARD	4	/* martian prefixes in front of the list */

struct route {
	uint32_t	r_prefix;
	uint8_t		r_len;		/* 0: an empty slot of the hash */
	uint8_t		r_nh;
};

struct rte_lpm *l3_lpm;
struct rte_fib *l3_fib;

static struct route *list, *hash;
static unsigned int nlist;
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
l3_random(void)
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
static struct route *
hash_slot(uint32_t prefix, unsigned int len)
{
	uint64_t x = ((uint64_t)prefix << 6 | len) * 0x9e3779b97f4a7c15;
	uint32_t h = (uint32_t)(x >> 32) & hashmask;

	while (hash[h].r_len != 0 &&
	    (hash[h].r_prefix != prefix || hash[h].r_len != len))
		h = (h + 1) & hashmask;
	return (&hash[h]);
}

/* The next hop by the obvious way: longest length first. */
unsigned int
l3_table_reference(uint32_t dst)
{
	const struct route *r;

	for (unsigned int len = 32; len >= 1; len--) {
		r = hash_slot(dst & prefix_mask(len), len);
		if (r->r_len != 0)
			return (r->r_nh);
	}
	return (L3_DISCARD);
}

/* Add a route unless there is one; host byte order. */
void
l3_table_add(uint32_t prefix, unsigned int len, unsigned int nh)
{
	struct route *r;

	prefix &= prefix_mask(len);
	r = hash_slot(prefix, len);
	if (r->r_len != 0)
		return;
	r->r_prefix = prefix;
	r->r_len = (uint8_t)len;
	r->r_nh = (uint8_t)nh;
	list[nlist++] = *r;
}

static bool
martian(uint32_t ip)
{
	return (ip >> 24 == 0 || ip >> 24 == 127 || ip >> 24 == 10 ||
	    ip >= 0xe0000000);
}

/* Make n routes: 10.0.0.0/8 if it is one, else discard routes and random. */
void
l3_table_generate(unsigned int n)
{
	unsigned int d, k = 0, roll;
	uint32_t ip, size = 1;

	while (size < 4 * (n + 64))
		size <<= 1;
	hashmask = size - 1;
	hash = calloc(size, sizeof(*hash));
	list = calloc(n + 64, sizeof(*list));
	if (hash == NULL || list == NULL)
		rte_exit(1, "no memory for %u routes\n", n);
	if (n == 0)
		return;
	if (n == 1) {
		l3_table_add(0x0a000000, 8, 1);
		return;
	}
	l3_table_add(0x00000000, 8, L3_DISCARD);
	l3_table_add(0x7f000000, 8, L3_DISCARD);
	l3_table_add(0xe0000000, 4, L3_DISCARD);
	l3_table_add(0xf0000000, 4, L3_DISCARD);
	while (nlist < n + NDISCARD) {
		roll = (unsigned int)(l3_random() % 1000);
		for (d = 0; roll >= shares[d].share; d++)
			roll -= shares[d].share;
		ip = (uint32_t)l3_random();
		if (martian(ip))
			continue;
		l3_table_add(ip, shares[d].len, 1 + k++ % L3_NNEXTHOPS);
	}
}

/* Destination number i of the traffic: a random host of a random route. */
uint32_t
l3_table_pick(unsigned int i)
{
	const struct route *r;

	if (nlist == 1)
		return (0x0a000001 + i);
	r = &list[NDISCARD + l3_random() % (nlist - NDISCARD)];
	return (r->r_prefix |
	    ((uint32_t)l3_random() & ~prefix_mask(r->r_len)));
}

static void
lpm_build(void)
{
	const struct rte_lpm_config conf = {
		.max_rules = nlist + 64, .number_tbl8s = 1024,
	};

	l3_lpm = rte_lpm_create("dpdk_l3", 0, &conf);
	if (l3_lpm == NULL)
		rte_exit(1, "rte_lpm_create\n");
	for (unsigned int i = 0; i < nlist; i++)
		if (rte_lpm_add(l3_lpm, list[i].r_prefix, list[i].r_len,
		    list[i].r_nh) != 0)
			rte_exit(1, "rte_lpm_add: route %u\n", i);
}

static void
fib_build(void)
{
	struct rte_fib_conf conf = {
		.type = RTE_FIB_DIR24_8, .default_nh = L3_DISCARD,
		.max_routes = (int)nlist + 64,
		.dir24_8 = { .nh_sz = RTE_FIB_DIR24_8_1B, .num_tbl8 = 127 },
	};

	l3_fib = rte_fib_create("dpdk_l3", 0, &conf);
	if (l3_fib == NULL)
		rte_exit(1, "rte_fib_create\n");
	for (unsigned int i = 0; i < nlist; i++)
		if (rte_fib_add(l3_fib, list[i].r_prefix, list[i].r_len,
		    list[i].r_nh) != 0)
			rte_exit(1, "rte_fib_add: route %u\n", i);
}

void
l3_table_build(void)
{
	if (l3_conf.c_table == L3_LPM)
		lpm_build();
	else
		fib_build();
}
