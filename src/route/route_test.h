/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* What this room's tests share: a seeded generator (NETEPOCH_SEED). */

#ifndef _ROUTE_ROUTE_TEST_H_
#define	_ROUTE_ROUTE_TEST_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static uint64_t test_state;

/* Take the seed from the environment or the clock, and print it. */
static inline void
test_seed(void)
{
	const char *env = getenv("NETEPOCH_SEED");

	test_state = env != NULL ? strtoull(env, NULL, 0) :
	    (uint64_t)time(NULL);
	printf("NETEPOCH_SEED=%ju\n", (uintmax_t)test_state);
}

/* The next number of a generator (splitmix64). */
static inline uint64_t
test_next(uint64_t *state)
{
	uint64_t z;

	z = *state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (z ^ z >> 31);
}

/* Seconds that have gone by since some moment: churn tests end by the clock. */
static inline double
test_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((double)ts.tv_sec + (double)ts.tv_nsec * 1e-9);
}

#define	CHURN_SECONDS	3.0	/* a sanitizer does fewer rounds */

/*
 * Is there another round of churn after i?  Until rounds are done or end has
 * come, but not before the readers have seen something: on a busy machine
 * they may start late.
 */
static inline bool
test_churn_more(int i, int rounds, double end, const _Atomic uint64_t *seen)
{
	double now = test_clock();

	return ((i < rounds && now < end) || (*seen == 0 && now < end + 60));
}

static inline uint64_t
test_rand(void)
{
	return (test_next(&test_state));
}

#endif /* _ROUTE_ROUTE_TEST_H_ */
