/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Callouts: each sentence of callout.h, the heap against a sorted list over
 * random operations, and the assertions.
 */
#include "intr/intr_test.h"

#include <netepoch/epoch.h>

#include "intr/callout.h"
#include "sys/defs.h"
#include "sys/lock.h"
#include "sys/random_testlib.h"

#define	MS	UINT64_C(1000000)
#define	FAR	(3600 * 1000 * MS)
#define	NMANY	500

struct timer {
	struct callout	 c;
	struct mtx	*mtx;
	_Atomic unsigned int runs;
	_Atomic unsigned int inside;
	_Atomic bool	 in_epoch;
	_Atomic bool	 owned;
	_Atomic uint64_t at;		/* time_ns() of the last run */
	_Atomic int	 again;		/* arm itself so many times */
	unsigned int	 sleep_us;
	uint64_t	 due;
	_Atomic unsigned int place;	/* in the order of all runs */
};

static struct callout_wheel *cw;
static _Atomic unsigned int places;

static void
timer_fn(void *arg)
{
	struct timer *t = arg;

	atomic_store(&t->at, time_ns());
	atomic_store(&t->place, atomic_fetch_add(&places, 1));
	atomic_store(&t->in_epoch, in_epoch(net_epoch_preempt) != 0);
	atomic_store(&t->owned, t->mtx != NULL && mtx_owned(t->mtx));
	atomic_fetch_add(&t->inside, 1);
	if (t->sleep_us != 0)
		usleep(t->sleep_us);
	if (atomic_load(&t->again) > 0) {
		atomic_fetch_sub(&t->again, 1);
		assert_false(callout_reset(&t->c, 0, timer_fn, t));
	}
	atomic_fetch_sub(&t->inside, 1);
	atomic_fetch_add(&t->runs, 1);
}

static void
timer_init(struct timer *t, int flags, struct mtx *mtx)
{

	*t = (struct timer){ .mtx = mtx };
	callout_init(&t->c, cw, flags, mtx);
}

static int
setup(void **state)
{

	return (callout_wheel_create("callout", &cw));
}

static int
teardown(void **state)
{

	callout_wheel_free(cw);
	return (0);
}

static void
test_time(void **state)
{
	struct timer t, later;
	uint64_t begin;

	timer_init(&t, 0, NULL);
	timer_init(&later, 0, NULL);
	assert_false(callout_reset(&later.c, FAR, timer_fn, &later));
	begin = time_ns();
	assert_false(callout_reset(&t.c, 5 * MS, timer_fn, &t));
	wait_at_least(&t.runs, 1);
	assert_true(t.at >= begin + 5 * MS);
	assert_false(t.in_epoch);

	/* Armed again: the old time does not count any more. */
	assert_false(callout_reset(&t.c, 0, timer_fn, &t));
	wait_at_least(&t.runs, 2);
	begin = time_ns();
	assert_false(callout_reset(&t.c, FAR, timer_fn, &t));
	assert_true(callout_reset(&t.c, UINT64_MAX, timer_fn, &t));
	assert_true(callout_reset(&t.c, 3 * MS, timer_fn, &t));
	wait_at_least(&t.runs, 3);
	assert_true(t.at >= begin + 3 * MS);

	assert_false(callout_stop(&t.c));
	assert_true(callout_stop(&later.c));
	assert_false(callout_stop(&later.c));
	assert_int_equal(t.runs, 3);
	assert_int_equal(later.runs, 0);
	callout_drain(&t.c);
	callout_drain(&later.c);
}

static void
test_net(void **state)
{
	struct epoch_tracker et;
	struct timer net, plain;

	timer_init(&net, CALLOUT_NET, NULL);
	timer_init(&plain, 0, NULL);
	NET_EPOCH_ENTER(et);		/* arming is allowed in a section */
	callout_reset(&net.c, MS, timer_fn, &net);
	callout_reset(&plain.c, MS, timer_fn, &plain);
	NET_EPOCH_EXIT(et);
	wait_at_least(&net.runs, 1);
	wait_at_least(&plain.runs, 1);
	assert_true(net.in_epoch);
	assert_false(plain.in_epoch);
	NET_EPOCH_WAIT();		/* no section is left open */
}

static int
by_place(const void *a, const void *b)
{
	const struct timer *const *ta = a, *const *tb = b;

	return ((int)(*ta)->place - (int)(*tb)->place);
}

/* Random arming and stopping: the armed ones run, in the order of time. */
static void
test_heap(void **state)
{
	static struct timer t[NMANY];
	struct timer *armed[NMANY];
	unsigned int n = 0, s = (unsigned int)test_seed();
	struct timer gate;
	struct mtx mtx;
	uint64_t ns;
	bool was;

	for (int i = 0; i < NMANY; i++)
		timer_init(&t[i], i % 2 == 0 ? CALLOUT_NET : 0, NULL);
	for (int op = 0; op < 20000; op++) {
		struct timer *x = &t[(unsigned int)rand_r(&s) % NMANY];

		was = x->due != 0;
		if (rand_r(&s) % 3 == 0) {
			assert_int_equal(callout_stop(&x->c), was);
			x->due = 0;
		} else {
			ns = FAR + (uint64_t)rand_r(&s) % 1000 * MS;
			assert_int_equal(callout_reset(&x->c, ns, timer_fn,
			    x), was);
			x->due = x->c.c_when;
		}
	}
	/*
	 * Bring what is armed near.  None runs before all are: the first of
	 * them waits for our mtx.
	 */
	mtx_init(&mtx, "gate");
	timer_init(&gate, 0, &mtx);
	mtx_lock(&mtx);
	callout_reset(&gate.c, 0, timer_fn, &gate);
	for (int i = 0; i < NMANY; i++) {
		if (t[i].due == 0)
			continue;
		ns = MS + (uint64_t)rand_r(&s) % 10000 * 1000;
		assert_true(callout_reset(&t[i].c, ns, timer_fn, &t[i]));
		t[i].due = t[i].c.c_when;
		armed[n++] = &t[i];
	}
	assert_true(n > NMANY / 3);
	mtx_unlock(&mtx);
	for (unsigned int i = 0; i < n; i++)
		wait_at_least(&armed[i]->runs, 1);
	qsort(armed, n, sizeof(armed[0]), by_place);
	for (unsigned int i = 0; i < n; i++) {
		assert_true(armed[i]->at >= armed[i]->due);
		if (i > 0)
			assert_true(armed[i]->due >= armed[i - 1]->due);
	}
	for (int i = 0; i < NMANY; i++) {
		assert_int_equal(t[i].runs, t[i].due != 0);
		assert_false(callout_stop(&t[i].c));
		callout_drain(&t[i].c);
	}
	callout_drain(&gate.c);
	mtx_destroy(&mtx);
}

/* With an mtx: held in the handler; a stop under it is exact. */
static void
test_mtx(void **state)
{
	unsigned int s = (unsigned int)test_seed(), stopped = 0, expect = 0;
	struct mtx mtx;
	struct timer t;
	uint64_t until;

	mtx_init(&mtx, "test");
	timer_init(&t, CALLOUT_NET, &mtx);
	/* Until both ends of the race were seen. */
	for (int i = 0; i < 3000 || expect == 0; i++) {
		mtx_lock(&mtx);
		callout_reset(&t.c, (uint64_t)rand_r(&s) % 20000, timer_fn,
		    &t);
		if (rand_r(&s) % 2 == 0)
			mtx_unlock(&mtx);
		until = time_ns() + (uint64_t)rand_r(&s) % 100000;
		while (time_ns() < until)
			continue;
		if (!mtx_owned(&mtx))
			mtx_lock(&mtx);
		if (callout_stop(&t.c))
			stopped++;
		else
			expect++;
		assert_int_equal(t.runs, expect);
		mtx_unlock(&mtx);
		assert_int_equal(t.runs, expect);
	}
	assert_true(stopped > 0);
	assert_true(t.owned);

	/* Waiting for the mtx, then armed anew: one run, with the new time. */
	mtx_lock(&mtx);
	callout_reset(&t.c, 0, timer_fn, &t);
	usleep(3000);
	until = time_ns() + 5 * MS;
	assert_true(callout_reset(&t.c, 5 * MS, timer_fn, &t));
	mtx_unlock(&mtx);
	wait_at_least(&t.runs, expect + 1);
	assert_true(t.at >= until);
	callout_drain(&t.c);
	assert_int_equal(t.runs, expect + 1);
	mtx_destroy(&mtx);
}

static void
test_drain(void **state)
{
	struct timer t;

	timer_init(&t, CALLOUT_NET, NULL);
	callout_drain(&t.c);		/* never armed */
	for (int i = 0; i < 10; i++) {
		t.sleep_us = 3000;
		t.again = 1000000;
		callout_reset(&t.c, 0, timer_fn, &t);
		wait_at_least(&t.inside, 1);
		callout_drain(&t.c);	/* though it arms itself for ever */
		assert_int_equal(t.inside, 0);
		assert_false(callout_stop(&t.c));
		atomic_store(&t.runs, 0);
		usleep(1000);
		assert_int_equal(t.runs, 0);
	}
	/* It can be armed after a drain. */
	t.again = 2;
	callout_reset(&t.c, MS, timer_fn, &t);
	wait_at_least(&t.runs, 3);
	callout_drain(&t.c);
	assert_int_equal(t.runs, 3);
}

static _Atomic unsigned int freed;

static void
free_fn(void *arg)
{

	free(arg);
	atomic_fetch_add(&freed, 1);
}

static void
test_free_self(void **state)
{
	struct timer *t;

	for (int i = 0; i < 100; i++) {
		t = malloc(sizeof(*t));
		assert_non_null(t);
		timer_init(t, CALLOUT_NET, NULL);
		callout_reset(&t->c, (uint64_t)i % 7 * 100000, free_fn, t);
	}
	wait_at_least(&freed, 100);
}

static void
drain_fn(void *arg)
{
	struct timer *t = arg;

	callout_drain(&t->c);
}

static void
death_drain_self(void)
{
	struct timer t;

	setup(NULL);
	timer_init(&t, 0, NULL);
	callout_reset(&t.c, 0, drain_fn, &t);
	sleep(60);
}

static void
death_drain_net(void)
{
	struct timer t, other;

	setup(NULL);
	timer_init(&t, CALLOUT_NET, NULL);
	timer_init(&other, 0, NULL);
	callout_reset(&t.c, 0, drain_fn, &other);
	sleep(60);
}

static void
death_drain_mtx(void)
{
	struct mtx mtx;
	struct timer t;

	setup(NULL);
	mtx_init(&mtx, "lock of a test");
	timer_init(&t, 0, &mtx);
	mtx_lock(&mtx);
	callout_drain(&t.c);
}

static void
death_armed(void)
{
	struct timer t;

	setup(NULL);
	timer_init(&t, 0, NULL);
	callout_reset(&t.c, FAR, timer_fn, &t);
	teardown(NULL);
}

static const struct death deaths[] = {
	{ "drain_self", death_drain_self },
	{ "drain_net", death_drain_net },
	{ "drain_mtx", death_drain_mtx },
	{ "armed", death_armed },
};

static void
test_assertions(void **state)
{

#ifdef INVARIANTS
	death_expect("drain_self", "a callout would wait for itself", "");
	death_expect("drain_net", "in the epoch", "callout.c");
	death_expect("drain_mtx", "lock of a test", "held");
	death_expect("armed", "a callout is armed", "");
#else
	skip();
#endif
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_net),
		cmocka_unit_test(test_heap),
		cmocka_unit_test(test_mtx),
		cmocka_unit_test(test_drain),
		cmocka_unit_test(test_free_self),
		cmocka_unit_test(test_assertions),
	};

	death_main(argc, argv, deaths, nitems(deaths));
	return (cmocka_run_group_tests(tests, setup, teardown));
}
