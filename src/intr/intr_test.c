/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Events and ithreads: each sentence of intr_var.h, on eventfds and software
 * events.  The epoch is in intr_epoch_test.c, wake-ups in intr_wake_test.c.
 */
#include "intr/intr_test.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <netepoch/epoch.h>

#include "intr/intr_var.h"
#include "sys/defs.h"
#include "sys/sysctl.h"

/* What a handler of these tests does and saw. */
struct probe {
	_Atomic unsigned int runs;
	_Atomic unsigned int arms;
	_Atomic unsigned int armed_true; /* arm functions that say true */
	uint64_t	 sleeps[2];	/* of the domain at the first and at
					   the last of these */
	_Atomic int	 more;		/* runs that say INTR_MORE; -1: all */
	_Atomic bool	 in_epoch;	/* at the last run */
	_Atomic bool	 arm_inside;	/* an arm was inside the epoch */
	_Atomic int	 cpu;
	_Atomic bool	 on_ithread;
	char		 thread[16];	/* written at the first run */
	int		 fd;		/* read it empty, unless -1 */
	unsigned int	 sleep_us;
	struct probe	*order;		/* count runs there too ... */
	_Atomic unsigned int at;	/* ... and keep the number here */
	struct probe	*other;		/* how often that one had run ... */
	unsigned int	 first;		/* ... at this run of ours ... */
	unsigned int	 last;		/* ... and at this one: */
	unsigned int	 other_runs[2];
};

static struct intr_domain *id;
static int cpus[2];

static enum intr_more
probe_fn(void *arg)
{
	struct probe *p = arg;
	uint64_t value;

	if (p->order != NULL)
		atomic_store(&p->at, atomic_fetch_add(&p->order->at, 1));
	if (p->other != NULL && atomic_load(&p->runs) == p->first)
		p->other_runs[0] = atomic_load(&p->other->runs);
	if (p->other != NULL && atomic_load(&p->runs) == p->last)
		p->other_runs[1] = atomic_load(&p->other->runs);
	if (p->thread[0] == '\0')
		pthread_getname_np(pthread_self(), p->thread,
		    sizeof(p->thread));
	atomic_store(&p->cpu, sched_getcpu());
	atomic_store(&p->on_ithread, intr_on_ithread());
	atomic_store(&p->in_epoch, in_epoch(net_epoch_preempt) != 0);
	if (p->fd != -1 && read(p->fd, &value, sizeof(value)) < 0)
		assert_int_equal(errno, EAGAIN);
	if (p->sleep_us != 0)
		usleep(p->sleep_us);
	atomic_fetch_add(&p->runs, 1);
	if (atomic_load(&p->more) == 0)
		return (INTR_DONE);
	if (atomic_load(&p->more) > 0)
		atomic_fetch_sub(&p->more, 1);
	return (INTR_MORE);
}

static bool
probe_arm(void *arg)
{
	struct intr_totals totals;
	struct probe *p = arg;

	if (in_epoch(net_epoch_preempt) != 0)
		atomic_store(&p->arm_inside, true);
	if (atomic_load(&p->armed_true) != 0) {
		intr_totals(id, &totals);
		p->sleeps[1] = totals.it_sleeps;
		if (p->sleeps[0] == 0)
			p->sleeps[0] = totals.it_sleeps;
		atomic_fetch_sub(&p->armed_true, 1);
		atomic_fetch_add(&p->arms, 1);
		return (true);
	}
	atomic_fetch_add(&p->arms, 1);
	return (false);
}

static int
setup(void **state)
{

	if (thread_cpus(cpus, 2) == 1)
		cpus[1] = cpus[0];
	return (intr_domain_alloc(cpus, 2, &id));
}

static int
teardown(void **state)
{

	intr_domain_free(id);
	return (0);
}

static struct intr_event *
event(const char *name, int cpu, int fd)
{
	struct intr_event *ie;

	assert_int_equal(intr_event_create(id, name, cpu, fd, EPOLLIN, &ie),
	    0);
	return (ie);
}

static struct intr_handler *
handler(struct intr_event *ie, int flags, struct probe *p)
{
	struct intr_handler *ih;

	assert_int_equal(intr_handler_add(ie, flags, probe_fn,
	    (flags & INTR_POLL) != 0 ? probe_arm : NULL, p, &ih), 0);
	return (ih);
}

/*
 * Everything that was scheduled or added has run when this returns: requests
 * are served between passes, so three of them enclose whole passes.
 */
static void
settle(void)
{
	struct intr_event *ie;

	for (int i = 0; i < 4; i++) {
		ie = event("settle", i % 2, -1);
		intr_event_destroy(ie);
	}
}

static struct intr_stat
stat_of(const char *name)
{
	struct intr_stat is[16];
	int n;

	n = intr_stats(id, is, 16);
	for (int i = 0; i < n; i++)
		if (strcmp(is[i].is_name, name) == 0)
			return (is[i]);
	fail_msg("no event %s", name);
	return (is[0]);
}

static int
new_eventfd(void)
{
	int fd;

	fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	assert_true(fd >= 0);
	return (fd);
}

static void
fire(int fd)
{
	const uint64_t one = 1;

	assert_int_equal(write(fd, &one, sizeof(one)), sizeof(one));
}

static void
test_domain(void **state)
{
	const int bad[] = { -5 }, absent[] = { 9999 };
	struct intr_domain *other;
	struct intr_event *ie;
	struct intr_handler *ih;
	struct probe p = { .fd = -1 };
	char name[16];

	assert_int_equal(intr_domain_alloc(cpus, 0, &other), EINVAL);
	assert_int_equal(intr_domain_alloc(bad, 1, &other), EINVAL);
	assert_int_equal(intr_domain_alloc(absent, 1, &other), EINVAL);
	assert_int_equal(intr_domain_ncpus(id), 2);

	/* Each ithread has its name and stays on its CPU. */
	for (int i = 0; i < 2; i++) {
		memset(&p, 0, sizeof(p));
		p.fd = -1;
		ie = event("swi", i, -1);
		assert_int_equal(intr_event_cpu(ie), i);
		ih = handler(ie, 0, &p);
		intr_event_schedule(ie);
		wait_at_least(&p.runs, 1);
		intr_handler_remove(ih);
		snprintf(name, sizeof(name), "intr: cpu%d", cpus[i]);
		assert_string_equal(p.thread, name);
		assert_int_equal(p.cpu, cpus[i]);
		assert_true(p.on_ithread);
		assert_int_equal(stat_of("swi").is_cpu, cpus[i]);
		intr_event_destroy(ie);
	}
	assert_false(intr_on_ithread());
}

static void
test_event_errors(void **state)
{
	struct intr_event *ie, *a, *b, *c;
	struct intr_handler *ih, *ih2;
	struct probe p = { .fd = -1 };
	int fd;

	assert_int_equal(intr_event_create(id, "x", 2, -1, 0, &ie), EINVAL);
	assert_int_equal(intr_event_create(id, "x", -2, -1, 0, &ie), EINVAL);
	assert_int_equal(intr_event_create(id, "x", 0, 9999, EPOLLIN, &ie),
	    EINVAL);
	/* epoll cannot watch a regular file. */
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(intr_event_create(id, "x", 0, fd, EPOLLIN, &ie),
	    EPERM);
	close(fd);
	assert_int_equal(intr_stats(id, NULL, 0), 0);

	/* -1 takes the ithread with the fewest events. */
	a = event("a", 0, -1);
	b = event("b", -1, -1);
	assert_int_equal(intr_event_cpu(b), 1);
	c = event("c", 1, -1);
	intr_event_destroy(a);
	a = event("a", -1, -1);
	assert_int_equal(intr_event_cpu(a), 0);

	assert_int_equal(intr_handler_add(a, 0, NULL, NULL, NULL, &ih),
	    EINVAL);
	assert_int_equal(intr_handler_add(a, 0x80, probe_fn, NULL, &p, &ih),
	    EINVAL);
	/* An arm function belongs to a polled handler. */
	assert_int_equal(intr_handler_add(a, 0, probe_fn, probe_arm, &p, &ih),
	    EINVAL);
	intr_event_destroy(a);
	intr_event_destroy(b);
	intr_event_destroy(c);

	/* One fd is watched for one event of an ithread. */
	fd = new_eventfd();
	a = event("a", 0, fd);
	b = event("b", 0, fd);
	ih = handler(a, 0, &p);
	assert_int_equal(intr_handler_add(b, 0, probe_fn, NULL, &p, &ih2),
	    EINVAL);
	assert_null(ih2);
	intr_handler_remove(ih);
	ih2 = handler(b, 0, &p);
	intr_handler_remove(ih2);
	intr_event_destroy(a);
	intr_event_destroy(b);
	close(fd);
}

/* A fd event: fires, is counted, is level triggered. */
static void
test_fd(void **state)
{
	struct probe p = { .fd = new_eventfd() };
	struct intr_handler *ih;
	struct intr_event *ie;
	unsigned int runs;
	uint64_t total;
	int fd = p.fd;

	ie = event("efd", 0, p.fd);
	fire(p.fd);			/* before there is a handler */
	ih = handler(ie, 0, &p);
	wait_at_least(&p.runs, 1);
	settle();
	for (int i = 0; i < 10; i++) {
		total = stat_of("efd").is_total;
		runs = atomic_load(&p.runs);
		fire(fd);
		wait_at_least(&p.runs, runs + 1);
		settle();
		assert_int_equal(stat_of("efd").is_total, total + 1);
	}
	assert_int_equal(stat_of("efd").is_runs, atomic_load(&p.runs));
	assert_int_equal(stat_of("efd").is_storms, 0);
	intr_handler_remove(ih);

	/* A handler that leaves the fd readable is called again. */
	p.fd = -1;
	ih = handler(ie, 0, &p);
	fire(fd);
	wait_at_least(&p.runs, atomic_load(&p.runs) + 100);
	intr_handler_remove(ih);
	intr_event_destroy(ie);
	close(fd);
}

static void
test_schedule(void **state)
{
	struct probe p = { .fd = -1 };
	struct intr_handler *ih;
	struct intr_event *ie;
	unsigned int runs;
	uint64_t total;

	ie = event("swi", 1, -1);
	intr_event_schedule(ie);	/* without handlers: nothing happens */
	ih = handler(ie, INTR_TYPE_NET, &p);
	settle();
	for (unsigned int i = 0; i < 10; i++) {
		total = stat_of("swi").is_total;
		runs = atomic_load(&p.runs);
		intr_event_schedule(ie);
		wait_at_least(&p.runs, runs + 1);
		settle();
		assert_int_equal(stat_of("swi").is_total, total + 1);
	}
	/* Scheduled just before its destruction. */
	intr_handler_remove(ih);
	intr_event_schedule(ie);
	intr_event_destroy(ie);
}

/* INTR_MORE brings another run; the passes treat all events alike. */
static void
test_more(void **state)
{
	struct probe a = { .fd = -1 }, b = { .fd = -1 };
	struct intr_event *iea, *ieb;
	struct intr_handler *iha, *ihb;
	unsigned int runs;

	iea = event("a", 0, -1);
	ieb = event("b", 0, -1);
	iha = handler(iea, 0, &a);
	ihb = handler(ieb, INTR_POLL, &b);
	settle();
	runs = atomic_load(&a.runs);
	atomic_store(&a.more, 1000);
	intr_event_schedule(iea);
	wait_at_least(&a.runs, runs + 1001);
	settle();
	assert_int_equal(atomic_load(&a.runs), runs + 1001);
	/* The polled handler was called in each of these passes. */
	assert_true(atomic_load(&b.runs) >= 1001);

	a.other = &b;
	a.first = runs + 3000;
	a.last = runs + 13000;
	atomic_store(&a.more, -1);
	atomic_store(&b.more, -1);
	intr_event_schedule(iea);
	intr_event_schedule(ieb);
	wait_at_least(&a.runs, a.last + 1);
	assert_int_equal(a.other_runs[1] - a.other_runs[0], 10000);
	atomic_store(&a.more, 0);
	atomic_store(&b.more, 0);
	intr_handler_remove(iha);
	intr_handler_remove(ihb);
	intr_event_destroy(iea);
	intr_event_destroy(ieb);
}

/* The others on an event with a polled handler run only when it fires. */
static void
test_mixed(void **state)
{
	struct probe poll = { .fd = -1 }, plain = { .fd = -1 };
	struct probe busy = { .fd = -1 };
	struct intr_event *ie, *ieb;
	struct intr_handler *ih[3];
	unsigned int runs;

	ie = event("mixed", 0, -1);
	ieb = event("busy", 0, -1);
	ih[0] = handler(ie, INTR_POLL, &poll);
	ih[1] = handler(ie, 0, &plain);
	ih[2] = handler(ieb, 0, &busy);
	settle();
	runs = atomic_load(&plain.runs);
	atomic_store(&busy.more, 500);
	intr_event_schedule(ieb);
	wait_at_least(&busy.runs, 501);
	settle();
	assert_true(atomic_load(&poll.runs) >= 501);
	assert_int_equal(atomic_load(&plain.runs), runs);

	/* The plain one says INTR_MORE: it alone brings all of them back. */
	atomic_store(&plain.more, 20);
	intr_event_schedule(ie);
	wait_at_least(&plain.runs, runs + 21);
	settle();
	assert_int_equal(atomic_load(&plain.runs), runs + 21);
	for (int i = 0; i < 3; i++)
		intr_handler_remove(ih[i]);
	intr_event_destroy(ie);
	intr_event_destroy(ieb);
}

/*
 * Called before sleep, outside the epoch; true keeps the ithread awake.  The
 * domain has no other ithread, whose sleeps would count.
 */
static void
test_arm(void **state)
{
	struct intr_domain *both = id;
	struct probe p = { .fd = -1 };
	struct intr_handler *ih;
	struct intr_event *ie;
	unsigned int arms, runs;

	assert_int_equal(intr_domain_alloc(cpus, 1, &id), 0);
	ie = event("armed", 0, -1);
	ih = handler(ie, INTR_POLL | INTR_TYPE_NET, &p);
	wait_at_least(&p.arms, 1);
	arms = atomic_load(&p.arms);
	runs = atomic_load(&p.runs);
	atomic_store(&p.armed_true, 50);
	intr_event_schedule(ie);
	/* 50 say true, and a run follows each; the last one is false again. */
	wait_at_least(&p.arms, arms + 51);
	while (atomic_load(&p.armed_true) != 0)
		usleep(100);
	wait_at_least(&p.runs, runs + 50);
	assert_int_equal(p.sleeps[0], p.sleeps[1]);
	intr_handler_remove(ih);
	assert_false(p.arm_inside);
	intr_event_destroy(ie);
	intr_domain_free(id);
	id = both;
}

/* Handlers of one event run in their order, each inside or outside. */
static void
test_types(void **state)
{
	struct probe order = { .fd = -1 }, p[4];
	struct intr_handler *ih[4];
	struct intr_event *ie;

	ie = event("types", 0, -1);
	for (int i = 0; i < 4; i++) {
		p[i] = (struct probe){ .fd = -1, .order = &order };
		ih[i] = handler(ie, i % 2 == 0 ? INTR_TYPE_NET : 0, &p[i]);
	}
	settle();
	atomic_store(&order.at, 0);
	intr_event_schedule(ie);
	settle();
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(p[i].at, i);
		assert_int_equal(p[i].in_epoch, i % 2 == 0);
	}
	for (int i = 0; i < 4; i++)
		intr_handler_remove(ih[i]);
	intr_event_destroy(ie);
}

/* When the removal returns the handler is not running and never will. */
static void
test_remove(void **state)
{
	struct probe *p;
	struct intr_handler *ih;
	struct intr_event *ie;

	ie = event("slow", 0, -1);
	for (int i = 0; i < 5; i++) {
		p = calloc(1, sizeof(*p));
		assert_non_null(p);
		p->fd = -1;
		p->more = -1;
		p->sleep_us = 5000;
		ih = handler(ie, i % 2 == 0 ? INTR_POLL : INTR_TYPE_NET, p);
		wait_at_least(&p->runs, 1);
		intr_handler_remove(ih);
		free(p);		/* ASan watches what comes after */
		intr_event_schedule(ie);
	}
	intr_event_destroy(ie);
}

static void
test_stats(void **state)
{
	struct intr_totals before, after;
	struct probe p = { .fd = -1 };
	struct intr_handler *ih;
	struct intr_stat is[2];
	struct intr_event *ie, *other;
	uint64_t total, runs;

	intr_totals(id, &before);
	ie = event("a name that is much longer than a row has room for it", 0,
	    -1);
	other = event("other", 1, -1);
	memset(is, 0, sizeof(is));
	assert_int_equal(intr_stats(id, is, 1), 2);
	assert_string_equal(is[0].is_name,
	    "a name that is much longer than a row has room ");
	assert_string_equal(is[1].is_name, "");
	ih = handler(ie, INTR_TYPE_NET, &p);
	settle();
	runs = atomic_load(&p.runs);
	p.more = 9;
	intr_event_schedule(ie);
	wait_at_least(&p.runs, (unsigned int)runs + 10);
	intr_handler_remove(ih);
	settle();
	assert_int_equal(intr_stats(id, is, 2), 2);
	total = is[0].is_total;
	runs = is[0].is_runs;
	assert_int_equal(total, 1);
	assert_int_equal(runs, atomic_load(&p.runs));
	intr_event_destroy(ie);
	intr_event_destroy(other);

	/* The sums keep what destroyed events counted. */
	intr_totals(id, &after);
	assert_int_equal(after.it_interrupts, before.it_interrupts + total);
	assert_int_equal(after.it_runs, before.it_runs + runs);
	assert_true(after.it_entries > before.it_entries);
	assert_true(after.it_sleeps > before.it_sleeps);
}

static void
set_tunable(struct sysctl_tree *tree, const char *name, const char *value)
{
	char err[128];

	assert_int_equal(sysctl_set(tree, name, value, err, sizeof(err)), 0);
}

static void
test_sysctl(void **state)
{
	struct sysctl_tree *tree;
	char buf[64], err[128];

	tree = sysctl_tree_alloc();
	assert_non_null(tree);
	assert_int_equal(intr_sysctl_attach(id, tree), 0);
	assert_int_equal(intr_sysctl_attach(id, tree), EEXIST);
	assert_int_equal(sysctl_get(tree, "hw.intr_epoch_batch", buf,
	    sizeof(buf)), 0);
	assert_string_equal(buf, "32");
	assert_int_equal(sysctl_get(tree, "hw.intr_storm_threshold", buf,
	    sizeof(buf)), 0);
	assert_string_equal(buf, "0");
	assert_int_equal(sysctl_set(tree, "hw.intr_spin_us", "-1", err,
	    sizeof(err)), EINVAL);
	assert_int_equal(sysctl_set(tree, "hw.intr_epoch_batch", "2000000",
	    err, sizeof(err)), EINVAL);
	assert_int_equal(sysctl_set(tree, "hw.intr_sleeps", "1", err,
	    sizeof(err)), EPERM);
	sysctl_tree_free(tree);
}

/* A fd that is always ready is throttled, and lives on. */
static void
test_storm(void **state)
{
	struct probe storm = { .fd = -1 }, calm = { .fd = new_eventfd() };
	struct intr_event *ie, *iec;
	struct intr_handler *ih, *ihc;
	struct sysctl_tree *tree;
	uint64_t begin, ms, storms;
	unsigned int runs;
	int fd;

	tree = sysctl_tree_alloc();
	assert_non_null(tree);
	assert_int_equal(intr_sysctl_attach(id, tree), 0);
	set_tunable(tree, "hw.intr_storm_threshold", "100");

	fd = new_eventfd();
	ie = event("storm", 0, fd);
	iec = event("calm", 0, calm.fd);
	ih = handler(ie, INTR_TYPE_NET, &storm);
	ihc = handler(iec, INTR_TYPE_NET, &calm);
	fire(fd);			/* and nobody reads it */
	wait_at_least(&storm.runs, 101);
	begin = time_ns();
	runs = atomic_load(&storm.runs);
	for (unsigned int i = 1; i <= 20; i++) {
		usleep(2000);
		fire(calm.fd);		/* the neighbour is served */
		wait_at_least(&calm.runs, i);
	}
	runs = atomic_load(&storm.runs) - runs;
	ms = (time_ns() - begin) / 1000000;
	assert_in_range(runs, 2, ms + 2);	/* at most one each ms */
	storms = stat_of("storm").is_storms;
	assert_in_range(storms, 2, atomic_load(&storm.runs) + 1);
	assert_int_equal(stat_of("calm").is_storms, 0);

	/* A schedule is held back, not lost; a removal needs no patience. */
	runs = atomic_load(&storm.runs);
	intr_event_schedule(ie);
	wait_at_least(&storm.runs, runs + 1);
	intr_handler_remove(ih);
	ih = handler(ie, INTR_TYPE_NET, &storm);
	intr_handler_remove(ih);
	set_tunable(tree, "hw.intr_storm_threshold", "0");
	ih = handler(ie, INTR_TYPE_NET, &storm);
	wait_at_least(&storm.runs, atomic_load(&storm.runs) + 1000);

	intr_handler_remove(ih);
	intr_handler_remove(ihc);
	intr_event_destroy(ie);
	intr_event_destroy(iec);
	close(fd);
	close(calm.fd);
	sysctl_tree_free(tree);
}

/* An ithread that spins finds a schedule and a fd without sleeping. */
static void
test_spin(void **state)
{
	struct probe soft = { .fd = -1 }, hard = { .fd = new_eventfd() };
	struct intr_totals before, after;
	struct intr_event *ie, *ieh;
	struct intr_handler *ih, *ihh;
	struct sysctl_tree *tree;
	unsigned int n;

	tree = sysctl_tree_alloc();
	assert_non_null(tree);
	assert_int_equal(intr_sysctl_attach(id, tree), 0);
	ie = event("soft", 0, -1);
	ieh = event("hard", 0, hard.fd);
	ih = handler(ie, INTR_TYPE_NET, &soft);
	ihh = handler(ieh, INTR_TYPE_NET, &hard);
	set_tunable(tree, "hw.intr_spin_us", "200000");
	n = atomic_load(&soft.runs);
	intr_event_schedule(ie);
	wait_at_least(&soft.runs, n + 1);
	intr_totals(id, &before);
	/* Each finds work in time, unless we are late ourselves. */
	do {
		n = atomic_load(&soft.runs);
		intr_event_schedule(ie);
		wait_at_least(&soft.runs, n + 1);
		n = atomic_load(&hard.runs);
		fire(hard.fd);
		wait_at_least(&hard.runs, n + 1);
		intr_totals(id, &after);
	} while (after.it_spins < before.it_spins + 10);
	set_tunable(tree, "hw.intr_spin_us", "0");
	intr_handler_remove(ih);
	intr_handler_remove(ihh);
	intr_event_destroy(ie);
	intr_event_destroy(ieh);
	close(hard.fd);
	sysctl_tree_free(tree);
}

/* A fd is served while another event keeps the ithread busy. */
static void
test_busy(void **state)
{
	struct probe busy = { .fd = -1, .more = -1 };
	struct probe hard = { .fd = new_eventfd() };
	struct intr_event *ieb, *ieh;
	struct intr_handler *ihb, *ihh;
	struct intr_totals before, after;

	ieb = event("busy", 0, -1);
	ieh = event("hard", 0, hard.fd);
	ihb = handler(ieb, INTR_TYPE_NET, &busy);
	ihh = handler(ieh, INTR_TYPE_NET, &hard);
	wait_at_least(&busy.runs, 1000);
	intr_totals(id, &before);
	for (unsigned int i = 0; i < 50; i++) {
		fire(hard.fd);
		wait_at_least(&hard.runs, i + 1);
	}
	intr_totals(id, &after);
	assert_true(after.it_runs > before.it_runs + 50);
	intr_handler_remove(ihb);
	intr_handler_remove(ihh);
	intr_event_destroy(ieb);
	intr_event_destroy(ieh);
	close(hard.fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_domain),
		cmocka_unit_test(test_event_errors),
		cmocka_unit_test(test_fd),
		cmocka_unit_test(test_schedule),
		cmocka_unit_test(test_more),
		cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_arm),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_remove),
		cmocka_unit_test(test_stats),
		cmocka_unit_test(test_sysctl),
		cmocka_unit_test(test_storm),
		cmocka_unit_test(test_spin),
		cmocka_unit_test(test_busy),
	};

	return (cmocka_run_group_tests(tests, setup, teardown));
}
