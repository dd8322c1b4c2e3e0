/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the loop of an ithread costs: nanoseconds a handler run, for handlers
 * that do nothing and always have more work, by kind of handler, number of
 * events and epoch batch; and the time from intr_event_schedule() on another
 * CPU to the handler, asleep and spinning.  Medians of windows.
 *
 *	bench_intr [windows]
 */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "intr/intr_var.h"
#include "sys/defs.h"
#include "sys/sysctl.h"
#include "sys/thread.h"

#define	EVENTS_MAX	16
#define	WINDOWS_MAX	1001
#define	RUNS		1000000u	/* of the first event in a window */

static struct intr_domain *id;
static struct sysctl_tree *tree;
static unsigned int nwindows = 21;

/* The first event's handler measures the ithread's CPU time. */
struct clock {
	unsigned int	 runs;		/* (t) */
	uint64_t	 begin;		/* (t) */
	double		 window[WINDOWS_MAX]; /* (t) ns, until done */
	_Atomic unsigned int n;
};

static uint64_t
cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec);
}

static enum intr_more
clock_intr(void *arg)
{
	struct clock *c = arg;
	unsigned int n;
	uint64_t now;

	if (c->runs++ != RUNS)
		return (INTR_MORE);
	n = atomic_load_explicit(&c->n, memory_order_relaxed);
	now = cpu_ns();
	if (n < nwindows) {
		c->window[n] = (double)(now - c->begin);
		atomic_store_explicit(&c->n, n + 1, memory_order_release);
	}
	c->begin = cpu_ns();
	c->runs = 0;
	return (INTR_MORE);
}

static enum intr_more
more_intr(void *arg)
{

	return (INTR_MORE);
}

static void
check(int error, const char *what)
{

	if (error == 0)
		return;
	fprintf(stderr, "bench_intr: %s: %s\n", what, strerror(error));
	exit(1);
}

static void
set(const char *name, int value)
{
	char text[16], err[128];

	snprintf(text, sizeof(text), "%d", value);
	check(sysctl_set(tree, name, text, err, sizeof(err)), name);
}

static int
by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x < *y ? -1 : *x > *y);
}

static double
median(double *v, unsigned int n)
{

	qsort(v, n, sizeof(*v), by_value);
	return (v[n / 2]);
}

/* One row: nevents events, the handlers of a kind, a batch. */
static void
loop_row(const char *kind, int flags, int nevents, int batch)
{
	static struct clock c;
	struct intr_event *ie[EVENTS_MAX];
	struct intr_handler *ih[EVENTS_MAX];

	memset(&c, 0, sizeof(c));
	c.runs = RUNS;			/* the first run begins a window */
	set("hw.intr_epoch_batch", batch);
	for (int i = 0; i < nevents; i++) {
		check(intr_event_create(id, "bench", 0, -1, 0, &ie[i]),
		    "event");
		check(intr_handler_add(ie[i], flags, i == 0 ? clock_intr :
		    more_intr, NULL, &c, &ih[i]), "handler");
	}
	while (atomic_load_explicit(&c.n, memory_order_acquire) < nwindows)
		usleep(1000);
	for (int i = 0; i < nevents; i++) {
		intr_handler_remove(ih[i]);
		intr_event_destroy(ie[i]);
	}
	printf("%-12s %6d %6d %8.2f\n", kind, nevents, batch,
	    median(c.window + 1, nwindows - 1) / RUNS / nevents);
}

/* The other end of a wake-up. */
static enum intr_more
stamp_intr(void *arg)
{
	_Atomic uint64_t *stamp = arg;

	atomic_store(stamp, time_ns());
	return (INTR_DONE);
}

static void
wake_row(const char *how, int spin_us)
{
	static double v[WINDOWS_MAX];
	_Atomic uint64_t stamp;
	struct intr_event *ie;
	struct intr_handler *ih;
	uint64_t begin, end;
	double middle;

	set("hw.intr_spin_us", spin_us);
	atomic_init(&stamp, 0);
	check(intr_event_create(id, "wake", 0, -1, 0, &ie), "event");
	check(intr_handler_add(ie, INTR_TYPE_NET, stamp_intr, NULL, &stamp,
	    &ih), "handler");
	for (unsigned int i = 0; i < WINDOWS_MAX; i++) {
		usleep(spin_us != 0 ? 50 : 200);
		begin = time_ns();
		intr_event_schedule(ie);
		while ((end = atomic_load(&stamp)) < begin)
			continue;
		v[i] = (double)(end - begin);
	}
	set("hw.intr_spin_us", 0);
	intr_handler_remove(ih);
	intr_event_destroy(ie);
	middle = median(v, WINDOWS_MAX);
	printf("%-26s %8.0f %8.0f\n", how, middle, v[0]);
}

int
main(int argc, char **argv)
{
	static const int batches[] = { 1, 16, 64, 1000 };
	int cpus[64], n;
	cpu_set_t us;

	if (argc > 1)
		nwindows = (unsigned int)atoi(argv[1]);
	if (nwindows < 2 || nwindows > WINDOWS_MAX) {
		fprintf(stderr, "usage: bench_intr [windows, 2 to %d]\n",
		    WINDOWS_MAX);
		return (64);
	}
	n = thread_cpus(cpus, 64);
	CPU_ZERO(&us);
	CPU_SET(cpus[0], &us);
	if (sched_setaffinity(0, sizeof(us), &us) != 0)
		check(errno, "pinning");
	check(intr_domain_alloc(&cpus[n - 1], 1, &id), "ithread");
	if ((tree = sysctl_tree_alloc()) == NULL)
		check(ENOMEM, "tunables");
	check(intr_sysctl_attach(id, tree), "tunables");

	printf("%-12s %6s %6s %8s\n", "handlers", "events", "batch",
	    "ns/run");
	loop_row("plain", 0, 1, 64);
	for (size_t i = 0; i < nitems(batches); i++)
		loop_row("net", INTR_TYPE_NET, 1, batches[i]);
	for (size_t i = 0; i < nitems(batches); i++)
		loop_row("net, polled", INTR_TYPE_NET | INTR_POLL, 1,
		    batches[i]);
	loop_row("net", INTR_TYPE_NET, EVENTS_MAX, 64);
	loop_row("net, polled", INTR_TYPE_NET | INTR_POLL, EVENTS_MAX, 64);
	printf("\n%-26s %8s %8s\n", "from schedule to handler", "ns",
	    "lowest");
	wake_row("asleep", 0);
	wake_row("spinning", 100000);

	sysctl_tree_free(tree);
	intr_domain_free(id);
	return (0);
}
