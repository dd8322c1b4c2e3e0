/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The routes of the in-memory benchmarks, the same for every program: random
 * ones with the prefix lengths of the public IPv4 table, from one seed.  Kept
 * as a list to load tables from, and as a hash of (prefix, length) that tells
 * a verifying sink the answer in another way.  Written before forwarding
 * starts, read by one thread after that.  Host byte order.
 */
#ifndef _BENCH_ROUTES_H_
#define	_BENCH_ROUTES_H_

#include <stdint.h>

#define	BENCH_NNEXTHOPS	16
#define	BENCH_DISCARD	0	/* the next hop of martian prefixes */

struct bench_route {
	uint32_t	br_prefix;
	uint8_t		br_len;		/* 0: an empty slot of the hash */
	uint8_t		br_nh;		/* BENCH_DISCARD, 1..BENCH_NNEXTHOPS */
};

extern struct bench_route *bench_routes;
extern unsigned int bench_nroutes;

uint64_t bench_random(void);
/* Make n routes: 10.0.0.0/8 if it is one, else discard routes and random. */
void	bench_routes_make(unsigned int n);
void	bench_routes_add(uint32_t prefix, unsigned int len, unsigned int nh);
unsigned int bench_routes_reference(uint32_t dst);
/* Destination number i of the traffic: a random host of a random route. */
uint32_t bench_routes_pick(unsigned int i);

#endif /* _BENCH_ROUTES_H_ */
