/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Random input of tests.  The seed is that of the environment
 * (NETEPOCH_SEED), or the clock's, and is printed, so that a failure can be
 * repeated.  Header only; test_rand() has a state in each file, test_next()
 * has its caller's, one for each thread.
 */
#ifndef _SYS_RANDOM_TESTLIB_H_
#define	_SYS_RANDOM_TESTLIB_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t test_state;

/* The seed, which test_rand() begins with. */
static inline uint64_t
test_seed(void)
{
	const char *env = getenv("NETEPOCH_SEED");
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	test_state = env != NULL ? strtoull(env, NULL, 0) :
	    (uint64_t)ts.tv_sec << 30 ^ (uint64_t)ts.tv_nsec;
	printf("NETEPOCH_SEED=%ju\n", (uintmax_t)test_state);
	return (test_state);
}

/* The next number after *state (splitmix64). */
static inline uint64_t
test_next(uint64_t *state)
{
	uint64_t z;

	z = *state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (z ^ z >> 31);
}

static inline uint64_t
test_rand(void)
{

	return (test_next(&test_state));
}

#endif /* _SYS_RANDOM_TESTLIB_H_ */
