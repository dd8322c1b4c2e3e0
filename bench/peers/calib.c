/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * calib: how fast is this CPU just now?
 *
 * A virtual CPU shares its core with strangers, and runs faster and slower
 * as they come and go.  This times a chain of dependent integer operations
 * (cycles) and a pass over 256 KiB (the second-level cache), and prints the
 * best of several tries of each.  bench/run picks the faster CPU with it and
 * keeps its line with the figures.  One thread, no arguments.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define	TRIES	15
#define	STEPS	2000000
#define	PASSES	10
#define	WORDS	32768

static uint64_t words[WORDS];
static volatile uint64_t sink;		/* keeps the loops from vanishing */

static double
cpu_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ((double)ts.tv_sec + (double)ts.tv_nsec * 1e-9);
}

/* Seconds that STEPS rounds of a xorshift generator take. */
static double
chain_time(uint64_t x)
{
	double t0 = cpu_now();

	for (int i = 0; i < STEPS; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	sink = x;
	return (cpu_now() - t0);
}

/* Seconds that PASSES read-and-write passes over the words take. */
static double
pass_time(void)
{
	uint64_t y = 0;
	double t0 = cpu_now();

	for (int k = 0; k < PASSES; k++) {
		for (int i = 0; i < WORDS; i++) {
			y += words[i];
			words[i] = y;
		}
	}
	sink = y;
	return (cpu_now() - t0);
}

int
main(void)
{
	double chain = 1e9, pass = 1e9, t;

	for (int i = 0; i < TRIES; i++) {
		t = chain_time((uint64_t)i + 1);
		if (t < chain)
			chain = t;
		t = pass_time();
		if (t < pass)
			pass = t;
	}
	printf("calib xorshift_ns=%.2f pass256k_us=%.1f\n",
	    chain / STEPS * 1e9, pass / PASSES * 1e6);
	return (0);
}
