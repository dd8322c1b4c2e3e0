/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The pair of libepoch_debug, for bench_epoch: its symbols are those of the
 * release library, so it needs a process of its own.  Prints two figures:
 * ns of CPU time a pair with a tracker, default and asymmetric.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <netepoch/epoch.h>

#define	REPS	101
#define	PAIRS	20000

static double
now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ((double)ts.tv_sec * 1e9 + (double)ts.tv_nsec);
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return ((x > y) - (x < y));
}

static double
measure(epoch_t e)
{
	struct epoch_tracker et;
	double v[REPS], start;
	int rep, i;

	for (rep = 0; rep < REPS; rep++) {
		start = now_ns();
		for (i = 0; i < PAIRS; i++) {
			epoch_enter_preempt(e, &et);
			epoch_exit_preempt(e, &et);
		}
		v[rep] = (now_ns() - start) / PAIRS;
	}
	qsort(v, REPS, sizeof(v[0]), compare);
	return (v[REPS / 2]);
}

int
main(void)
{
	(void)printf("%f %f\n",
	    measure(epoch_alloc("default", EPOCH_PREEMPT)),
	    measure(epoch_alloc("asym", EPOCH_PREEMPT | EPOCH_ASYMMETRIC)));
	return (0);
}
