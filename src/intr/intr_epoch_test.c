/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Ithreads and the net epoch: handlers that go while they run (D23483), the
 * batch and the age of callbacks under a storm (D23242), and that the debug
 * build finds who breaks the rules.
 */
#include "intr/intr_test.h"

#include <netepoch/epoch.h>

#include "intr/intr_var.h"
#include "sys/defs.h"
#include "sys/lock.h"
#include "sys/sysctl.h"

#define	ROUNDS		10000

static struct intr_domain *id;
static struct sysctl_tree *tree;

static int
setup(void **state)
{
	int cpu;

	(void)thread_cpus(&cpu, 1);
	if ((tree = sysctl_tree_alloc()) == NULL ||
	    intr_domain_alloc(&cpu, 1, &id) != 0)
		return (-1);
	return (intr_sysctl_attach(id, tree));
}

static int
teardown(void **state)
{

	sysctl_tree_free(tree);
	intr_domain_free(id);
	return (0);
}

static void
set_batch(const char *value)
{
	char err[128];

	assert_int_equal(sysctl_set(tree, "hw.intr_epoch_batch", value, err,
	    sizeof(err)), 0);
}

static struct intr_event *
event(void)
{
	struct intr_event *ie;

	assert_int_equal(intr_event_create(id, "swi", 0, -1, 0, &ie), 0);
	return (ie);
}

static struct intr_handler *
handler(struct intr_event *ie, int flags, intr_handler_fn *fn, void *arg)
{
	struct intr_handler *ih;

	assert_int_equal(intr_handler_add(ie, flags, fn, NULL, arg, &ih), 0);
	return (ih);
}

struct seen {
	_Atomic unsigned int runs;
	_Atomic unsigned int inside;
	_Atomic unsigned int outside;
	struct intr_totals first;	/* at run MARK_FIRST */
	struct intr_totals last;	/* at run MARK_LAST */
};

#define	MARK_FIRST	1000u
#define	MARK_LAST	7400u

static enum intr_more
seen_intr(void *arg)
{
	struct seen *s = arg;

	atomic_fetch_add(in_epoch(net_epoch_preempt) != 0 ? &s->inside :
	    &s->outside, 1);
	if (atomic_load(&s->runs) == MARK_FIRST)
		intr_totals(id, &s->first);
	if (atomic_load(&s->runs) == MARK_LAST)
		intr_totals(id, &s->last);
	atomic_fetch_add(&s->runs, 1);
	return (INTR_MORE);
}

/*
 * Two network handlers on an event that fires all the time come and go, each
 * removed while the loop runs it.
 */
static void
test_removed_while_running(void **state)
{
	struct intr_handler *plain, *a, *b;
	struct seen sp = { 0 }, sa = { 0 }, sb = { 0 };
	struct epoch_stats before, after;
	struct intr_event *ie;

	epoch_stats_get(net_epoch_preempt, &before);
	ie = event();
	plain = handler(ie, 0, seen_intr, &sp);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		a = handler(ie, INTR_TYPE_NET, seen_intr, &sa);
		b = handler(ie, INTR_TYPE_NET, seen_intr, &sb);
		if (i % 16 == 0)
			wait_at_least(&sb.runs, atomic_load(&sb.runs) + 1);
		intr_handler_remove(i % 2 == 0 ? a : b);
		intr_handler_remove(i % 2 == 0 ? b : a);
		if (i % 4 == 0)
			NET_EPOCH_WAIT();	/* no section stays open */
	}
	intr_handler_remove(plain);
	intr_event_destroy(ie);
	assert_int_equal(sa.outside + sb.outside, 0);
	assert_int_equal(sp.inside, 0);
	assert_true(sa.runs >= ROUNDS / 16);
	assert_true(sp.runs >= ROUNDS / 16);

	/* The thread ends, and with it no section. */
	teardown(NULL);
	NET_EPOCH_WAIT();
	epoch_stats_get(net_epoch_preempt, &after);
	assert_int_equal(after.es_abandoned, before.es_abandoned);
	assert_int_equal(setup(NULL), 0);
}

/* A handler that always has more work, and counts runs in one section. */
struct storm {
	_Atomic unsigned int runs;
	_Atomic unsigned int most;	/* runs in one section */
	_Atomic uint64_t longest;	/* ns from its first run to its last */
	uint64_t	 entries;	/* (t) of the domain, at the last run */
	unsigned int	 now;		/* (t) runs since then */
	uint64_t	 begin;		/* (t) time of the first of these */
	unsigned int	 ns;		/* that a run takes */
};

static enum intr_more
storm_intr(void *arg)
{
	struct storm *s = arg;
	struct intr_totals it;
	uint64_t begin = time_ns(), now;

	NET_EPOCH_ASSERT();
	intr_totals(id, &it);
	if (it.it_entries != s->entries) {
		s->entries = it.it_entries;
		s->now = 0;
		s->begin = begin;
	}
	s->now++;
	do {
		now = time_ns();
	} while (now - begin < s->ns);
	if (s->now > s->most)
		atomic_store(&s->most, s->now);
	if (now - s->begin > s->longest)
		atomic_store(&s->longest, now - s->begin);
	atomic_fetch_add(&s->runs, 1);
	return (INTR_MORE);
}

struct late {
	struct epoch_context ctx;
	uint64_t	 born;
	_Atomic uint64_t age;		/* when it ran; 0: it has not */
};

static void
late_cb(epoch_context_t ctx)
{
	struct late *l = __containerof(ctx, struct late, ctx);

	atomic_store(&l->age, time_ns() - l->born);
}

#define	NLATE		100

/*
 * Storm for NLATE milliseconds and at least runs runs, a callback deferred in
 * each of the former.  Returns the age of the oldest, run or not, at the end
 * of that time, and in *wait how long we once waited for a CPU.
 */
static uint64_t
storm_age(const char *batch, unsigned int runs, struct storm *s,
    uint64_t *wait)
{
	static struct late late[NLATE];
	struct intr_handler *ih;
	struct intr_event *ie;
	uint64_t age, oldest = 0;

	set_batch(batch);
	memset(s, 0, sizeof(*s));
	memset(late, 0, sizeof(late));
	s->ns = 5000;
	ie = event();
	ih = handler(ie, INTR_TYPE_NET, storm_intr, s);
	wait_at_least(&s->runs, 10);
	*wait = 0;
	for (int i = 0; i < NLATE; i++) {
		late[i].born = time_ns();
		NET_EPOCH_CALL(late_cb, &late[i].ctx);
		usleep(1000);
		age = time_ns() - late[i].born;
		if (age > *wait)
			*wait = age;
	}
	for (int i = 0; i < NLATE; i++) {
		age = atomic_load(&late[i].age);
		if (age == 0)
			age = time_ns() - late[i].born;
		if (age > oldest)
			oldest = age;
	}
	wait_at_least(&s->runs, runs);
	intr_handler_remove(ih);
	intr_event_destroy(ie);
	NET_EPOCH_DRAIN_CALLBACKS();
	for (int i = 0; i < NLATE; i++)
		assert_true(atomic_load(&late[i].age) != 0);
	return (oldest);
}

/* One storm; is the age of its callbacks within the bound? */
static bool
storm_bounded(const char *batch, unsigned int most)
{
	struct storm s;
	uint64_t oldest, wait;

	oldest = storm_age(batch, 3 * most, &s, &wait);
	print_message("batch %s: longest section %ju us, wait for a "
	    "CPU %ju us, oldest callback %ju us\n", batch,
	    (uintmax_t)s.longest / 1000, (uintmax_t)wait / 1000,
	    (uintmax_t)oldest / 1000);
	assert_true(s.runs > 100);	/* it still forwards */
	assert_int_equal(s.most, most);
	return (oldest <= 2 * (s.longest + 1000000) + 20000000 + 4 * wait);
}

/*
 * The bound that ithread.c states.  The reclaim thread waits for a CPU as we
 * do, and maybe longer: it must be seen once, for without it it is never.
 */
static void
test_storm(void **state)
{
	static const char *const batch[] = { "0", "1", "64", "1000" };
	static const unsigned int most[] = { 1, 1, 64, 1000 };
	struct storm s;
	uint64_t oldest, wait;
	int try;

	for (size_t i = 0; i < nitems(batch); i++) {
		for (try = 0; try < 20; try++)
			if (storm_bounded(batch[i], most[i]))
				break;
		assert_in_range(try, 0, 19);
	}
	/* The bound comes from the batch: without one there is none. */
	oldest = storm_age("1000000", 0, &s, &wait);
	assert_true(oldest >= (uint64_t)NLATE * 1000000);
	set_batch("64");
}

/* The section is left before a handler of another type, not for NET ones. */
static void
test_shared(void **state)
{
	const unsigned int runs = MARK_LAST - MARK_FIRST;
	struct seen sa = { 0 }, sb = { 0 }, sp = { 0 };
	struct intr_handler *ih[3];
	struct intr_event *ie;
	uint64_t n;

	ie = event();
	ih[0] = handler(ie, INTR_TYPE_NET, seen_intr, &sa);
	ih[1] = handler(ie, INTR_TYPE_NET, seen_intr, &sb);
	wait_at_least(&sb.runs, MARK_LAST + 1);
	/* 64 runs a section, the runs of both handlers count. */
	n = sb.last.it_reentries - sb.first.it_reentries;
	assert_in_range(n, 2 * runs / 64 - 1, 2 * runs / 64 + 1);
	assert_int_equal(sb.last.it_entries - sb.first.it_entries, n);

	/* A plain one behind them ends the section in each pass. */
	ih[2] = handler(ie, 0, seen_intr, &sp);
	wait_at_least(&sp.runs, MARK_LAST + 1);
	assert_int_equal(sp.last.it_entries - sp.first.it_entries, runs);
	assert_int_equal(sp.last.it_reentries, sp.first.it_reentries);
	for (int i = 0; i < 3; i++)
		intr_handler_remove(ih[i]);
	intr_event_destroy(ie);
	assert_int_equal(sa.outside + sb.outside + sp.inside, 0);
}

/*
 * Who breaks a rule.
 */
static struct intr_event *death_ie;
static struct intr_handler *death_ih;
static struct sx death_sx;

static enum intr_more
assert_intr(void *arg)
{

	NET_EPOCH_ASSERT();
	return (INTR_DONE);
}

static enum intr_more
enter_intr(void *arg)
{
	struct epoch_tracker et;

	NET_EPOCH_ENTER(et);
	return (INTR_DONE);
}

static enum intr_more
leave_intr(void *arg)
{

	epoch_exit_raw(net_epoch_preempt);
	return (INTR_DONE);
}

static enum intr_more
sleep_intr(void *arg)
{

	sx_xlock(&death_sx);
	sx_xunlock(&death_sx);
	return (INTR_DONE);
}

static enum intr_more
wait_intr(void *arg)
{

	NET_EPOCH_WAIT();
	return (INTR_DONE);
}

static enum intr_more
remove_intr(void *arg)
{

	intr_event_destroy(death_ie);
	return (INTR_DONE);
}

static void
die(intr_handler_fn *fn, int flags)
{

	setup(NULL);
	sx_init(&death_sx, "sx of a test");
	death_ie = event();
	death_ih = handler(death_ie, flags, fn, NULL);
	sleep(60);
}

static void
death_plain_asserts(void)
{

	die(assert_intr, 0);
}

static void
death_enters(void)
{

	die(enter_intr, 0);
}

static void
death_leaves(void)
{

	die(leave_intr, INTR_TYPE_NET);
}

static void
death_sleeps(void)
{

	die(sleep_intr, INTR_TYPE_NET);
}

static void
death_waits(void)
{

	die(wait_intr, INTR_TYPE_NET);
}

static void
death_configures(void)
{

	die(remove_intr, INTR_TYPE_NET);
}

static void
death_waits_for_itself(void)
{

	die(remove_intr, 0);
}

static void
death_request_in_section(void)
{
	struct epoch_tracker et;

	setup(NULL);
	death_ie = event();
	NET_EPOCH_ENTER(et);
	intr_event_destroy(death_ie);
}

static void
death_handlers_left(void)
{
	struct seen s = { 0 };

	setup(NULL);
	death_ie = event();
	death_ih = handler(death_ie, 0, seen_intr, &s);
	intr_event_destroy(death_ie);
}

static void
death_events_left(void)
{

	setup(NULL);
	death_ie = event();
	teardown(NULL);
}

static const struct death deaths[] = {
	{ "plain_asserts", death_plain_asserts },
	{ "enters", death_enters },
	{ "leaves", death_leaves },
	{ "sleeps", death_sleeps },
	{ "waits", death_waits },
	{ "configures", death_configures },
	{ "waits_for_itself", death_waits_for_itself },
	{ "request_in_section", death_request_in_section },
	{ "handlers_left", death_handlers_left },
	{ "events_left", death_events_left },
};

static void
test_rules(void **state)
{

#ifdef INVARIANTS
	/* 1: who asserts the epoch finds that nobody entered it. */
	death_expect("plain_asserts", "not in the epoch",
	    "intr_epoch_test.c");
	/* 2: nothing that may sleep, and both places are named. */
	death_expect("sleeps", "sx of a test", "entered at");
	death_expect("sleeps", "intr_epoch_test.c", "ithread.c");
	death_expect("waits", "epoch_wait_preempt", "inside a section");
	/* 3: no control work. */
	death_expect("configures", "in the epoch", "ithread.c");
	death_expect("request_in_section", "in the epoch", "ithread.c");
	death_expect("waits_for_itself",
	    "an ithread would wait for an ithread", "");
	/* 4: the loop knows what it entered. */
	death_expect("enters", "did not leave the epoch", "swi");
	death_expect("leaves", "left the epoch", "swi");
	/* And the order of undoing. */
	death_expect("handlers_left", "has handlers", "swi");
	death_expect("events_left", "left in its domain", "swi");
#else
	skip();
#endif
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_removed_while_running),
		cmocka_unit_test(test_storm),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_rules),
	};

	death_main(argc, argv, deaths, nitems(deaths));
	return (cmocka_run_group_tests(tests, setup, teardown));
}
