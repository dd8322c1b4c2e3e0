/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* What this room's tests share. */

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

#include "sys/random_testlib.h"

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

#endif /* _ROUTE_ROUTE_TEST_H_ */
