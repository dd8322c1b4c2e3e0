/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * bench_fib: route lookup and update, beside DPDK's tables.
 *
 * Routes are random with the prefix lengths of the public table, one in a
 * thousand longer than /24.  Keys: "random", a random host of a random route;
 * "hot", 256 of these in a cycle; "zipf", a million such flows drawn by
 * Zipf(1.0).  A lookup of ours is one of fib4_lookup_burst() or fib4_lookup()
 * with the epoch entered for each burst of 64, and ends with the nexthop; one
 * of DPDK's ends with a number.  An update of ours is rt_add() or rt_delete().
 *
 * All structures take turns, a slice of SLICE keys each, so that a slow phase
 * of the machine meets all of them; a figure is the median of the slices, in
 * CPU time.  Before that, answers are compared with a search by length.  Each
 * size is a process of its own.
 *
 *	bench_fib [--quick] [routes ...]
 */
#include <arpa/inet.h>
#include <sys/wait.h>

#include <err.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "fib_subject.h"

#define	NKEYS		(1u << 20)
#define	SLICE		(1u << 17)	/* lookups between two clock readings */
#define	MAXSLICES	15
#define	MAXSUBJECTS	8
#define	NUPDATES	2000		/* routes taken out and put back */
#define	MAXRUNS		7

enum { KEYS_RANDOM, KEYS_HOT, KEYS_ZIPF, KEYS_COUNT };
static const char *const keys_name[] = { "random", "hot", "zipf" };

volatile uint64_t fib_sink;

static uint32_t *key_host[KEYS_COUNT], *key_net[KEYS_COUNT];
static const struct fib_subject *subject[MAXSUBJECTS];
static double load_time[MAXSUBJECTS];
static unsigned int nsubjects;
static unsigned int nslices = MAXSLICES, nruns = MAXRUNS;

static double
cpu_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ((double)ts.tv_sec + (double)ts.tv_nsec * 1e-9);
}

static int
compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x < *y ? -1 : *x > *y);
}

static double
median(double *v, unsigned int n)
{
	qsort(v, n, sizeof(*v), compare);
	return (v[n / 2]);
}

static void *
must_alloc(size_t n, size_t size)
{
	void *p;

	if ((p = calloc(n, size)) == NULL)
		errx(EX_OSERR, "no memory");
	return (p);
}

/* ---- Routes and keys ---- */

static void
make_routes(unsigned int n)
{
	unsigned int i, len;

	bench_routes_make(n);
	for (i = 0; i < n / 1000; i++) {
		len = 25 + (unsigned int)(bench_random() % 8);
		bench_routes_add(bench_routes_pick(i), len,
		    1 + i % BENCH_NNEXTHOPS);
	}
}

static void
make_keys(void)
{
	uint32_t *flow = must_alloc(NKEYS, sizeof(*flow));
	unsigned int i, k;
	double u;

	for (k = 0; k < KEYS_COUNT; k++) {
		key_host[k] = must_alloc(NKEYS, sizeof(uint32_t));
		key_net[k] = must_alloc(NKEYS, sizeof(uint32_t));
	}
	for (i = 0; i < NKEYS; i++)
		flow[i] = bench_routes_pick(i);
	for (i = 0; i < NKEYS; i++) {
		u = (double)(bench_random() >> 11) * 0x1p-53;
		key_host[KEYS_RANDOM][i] = flow[i];
		key_host[KEYS_HOT][i] = flow[i % 256];
		/* Rank r with probability log(1 + 1/r) / log(1 + n). */
		key_host[KEYS_ZIPF][i] = flow[(unsigned int)
		    (exp(u * log(1.0 + NKEYS)) - 1) % NKEYS];
	}
	for (k = 0; k < KEYS_COUNT; k++)
		for (i = 0; i < NKEYS; i++)
			key_net[k][i] = htonl(key_host[k][i]);
	free(flow);
}

/* ---- Loading and checking ---- */

static void
take_subject(const struct fib_subject *fs)
{
	double start = cpu_now();
	unsigned int i;
	uint32_t key;
	int failed;

	failed = fs->fs_load();
	if (failed < 0)
		return;
	if (failed > 0) {
		printf("%s: %d routes refused, left out\n", fs->fs_name,
		    failed);
		return;
	}
	load_time[nsubjects] = cpu_now() - start;
	for (i = 0; i < 200000; i++) {
		key = (i & 1) != 0 ? key_host[KEYS_RANDOM][i] :
		    (uint32_t)bench_random();
		if (key >> 16 == 0x7f4d)	/* our own network */
			continue;
		if (fs->fs_nexthop(key) != bench_routes_reference(key))
			errx(EX_SOFTWARE, "%s: a wrong answer for %#x",
			    fs->fs_name, key);
	}
	subject[nsubjects++] = fs;
}

/* ---- Timing ---- */

/* Million lookups a second of one subject over one slice of keys. */
static double
time_slice(const struct fib_subject *fs, unsigned int keys, bool single,
    unsigned int slice)
{
	const unsigned int first = slice * SLICE % NKEYS;
	double start;
	unsigned int i;

	if (fs->fs_begin != NULL)
		fs->fs_begin();
	start = cpu_now();
	for (i = first; i < first + SLICE; i += FIB_BURST) {
		if (single)
			fs->fs_single(key_host[keys] + i, key_net[keys] + i);
		else
			fs->fs_burst(key_host[keys] + i, key_net[keys] + i);
	}
	return (SLICE / (cpu_now() - start) / 1e6);
}

/* All subjects in turns; rate[subject] is the median, 0: it cannot. */
static void
time_lookups(unsigned int keys, bool single, double *rate)
{
	static double v[MAXSUBJECTS][MAXSLICES];
	unsigned int i, s;

	for (i = 0; i < nslices; i++)
		for (s = 0; s < nsubjects; s++)
			if (!single || subject[s]->fs_single != NULL)
				v[s][i] = time_slice(subject[s], keys, single,
				    i);
	for (s = 0; s < nsubjects; s++)
		rate[s] = single && subject[s]->fs_single == NULL ? 0 :
		    median(v[s], nslices);
}

/*
 * Take random routes out and put them back: deletes and adds a second, medians
 * of the runs.
 */
static void
time_updates(const struct fib_subject *fs, double *deletes, double *adds)
{
	double d[MAXRUNS], a[MAXRUNS], start;
	unsigned int i, n, run;
	static unsigned int pick[NUPDATES];

	*deletes = *adds = 0;
	if (fs->fs_delete == NULL)
		return;
	n = bench_nroutes < NUPDATES ? bench_nroutes : NUPDATES;
	for (run = 0; run < nruns; run++) {
		/* Distinct ones: a random start, then even steps. */
		pick[0] = (unsigned int)(bench_random() % bench_nroutes);
		for (i = 1; i < n; i++)
			pick[i] = (pick[i - 1] + bench_nroutes / n) %
			    bench_nroutes;
		start = cpu_now();
		for (i = 0; i < n; i++)
			if (fs->fs_delete(&bench_routes[pick[i]]) != 0)
				errx(EX_SOFTWARE, "%s: a delete failed",
				    fs->fs_name);
		d[run] = n / (cpu_now() - start);
		start = cpu_now();
		for (i = 0; i < n; i++)
			if (fs->fs_add(&bench_routes[pick[i]]) != 0)
				errx(EX_SOFTWARE, "%s: an add failed",
				    fs->fs_name);
		a[run] = n / (cpu_now() - start);
	}
	*deletes = median(d, nruns);
	*adds = median(a, nruns);
}

/* ---- The table ---- */

static void
print_rate(double rate)
{
	if (rate == 0)
		printf(" %8s", "-");
	else
		printf(" %8.1f", rate);
}

static void
bench_size(unsigned int n)
{
	double rate[KEYS_COUNT][2][MAXSUBJECTS], adds, deletes;
	unsigned int i, k, s;

	make_routes(n);
	make_keys();
	take_subject(&fib_netepoch);
	for (i = 0; fib_dpdk[i] != NULL; i++)
		take_subject(fib_dpdk[i]);
	for (k = 0; k < KEYS_COUNT; k++)
		for (i = 0; i < 2; i++)
			time_lookups(k, i == 1, rate[k][i]);

	printf("%u routes: million lookups/s in bursts of %d and one by one; "
	    "updates/s\n%-20s", bench_nroutes, FIB_BURST, "");
	for (k = 0; k < KEYS_COUNT; k++)
		printf(" %8s %8s", keys_name[k], "one");
	printf(" %8s %8s %8s %9s\n", "load s", "MiB", "deletes", "adds");
	for (s = 0; s < nsubjects; s++) {
		printf("%-20s", subject[s]->fs_name);
		for (k = 0; k < KEYS_COUNT; k++)
			for (i = 0; i < 2; i++)
				print_rate(rate[k][i][s]);
		time_updates(subject[s], &deletes, &adds);
		printf(" %8.3f %8.1f", load_time[s], subject[s]->fs_memory());
		if (deletes == 0)
			printf(" %8s %9s\n", "-", "-");
		else
			printf(" %8.0f %9.0f\n", deletes, adds);
	}
	printf("\n");
}

int
main(int argc, char **argv)
{
	static const char *const all[] = { "1", "1000", "100000", "900000" };
	const char *const *sizes = all;
	int i, n = sizeof(all) / sizeof(all[0]), status;
	bool quick = false;
	pid_t pid;

	if (argc > 1 && strcmp(argv[1], "--quick") == 0) {
		quick = true;
		argc--;
		argv++;
	}
	if (quick) {
		nslices = 5;
		nruns = 3;
	}
	if (argc > 1) {
		sizes = (const char *const *)&argv[1];
		n = argc - 1;
	}
	for (i = 0; i < n; i++) {
		fflush(stdout);
		if ((pid = fork()) == -1)
			err(EX_OSERR, "fork");
		if (pid == 0) {
			bench_size((unsigned int)strtoul(sizes[i], NULL, 10));
			fflush(stdout);
			_exit(0);
		}
		if (waitpid(pid, &status, 0) == -1 || status != 0)
			errx(EX_SOFTWARE, "%s routes: failed", sizes[i]);
	}
	return (0);
}
