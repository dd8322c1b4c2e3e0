/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Task queues: each sentence of taskqueue.h, and the assertions.
 */
#include "intr/intr_test.h"

#include <netepoch/epoch.h>

#include "intr/taskqueue.h"
#include "sys/defs.h"

struct job {
	struct task	 task;
	struct taskqueue *tq;
	_Atomic unsigned int runs;
	_Atomic unsigned int pending;	/* sum of what the runs were told */
	_Atomic unsigned int inside;	/* runs going on */
	_Atomic unsigned int overlaps;
	_Atomic bool	 in_epoch;
	_Atomic bool	 gate;		/* the run waits until it is open */
	_Atomic int	 again;		/* queue itself so many times */
	unsigned int	 sleep_us;
	_Atomic unsigned int *after;	/* its value at the run ... */
	_Atomic unsigned int seen;	/* ... is kept here */
};

static void
job_fn(void *arg, int pending)
{
	struct job *j = arg;

	if (atomic_fetch_add(&j->inside, 1) != 0)
		atomic_fetch_add(&j->overlaps, 1);
	atomic_store(&j->in_epoch, in_epoch(net_epoch_preempt) != 0);
	atomic_fetch_add(&j->pending, (unsigned int)pending);
	while (!atomic_load(&j->gate))
		usleep(100);
	if (j->sleep_us != 0)
		usleep(j->sleep_us);
	if (j->after != NULL)
		atomic_store(&j->seen, atomic_load(j->after));
	if (atomic_load(&j->again) > 0) {
		atomic_fetch_sub(&j->again, 1);
		taskqueue_enqueue(j->tq, &j->task);
	}
	atomic_fetch_sub(&j->inside, 1);
	atomic_fetch_add(&j->runs, 1);
}

static void
job_init(struct job *j, struct taskqueue *tq, uint8_t flags)
{

	*j = (struct job){ .tq = tq, .gate = true };
	task_init(&j->task, flags, job_fn, j);
}

static struct taskqueue *
queue(int nthreads)
{
	struct taskqueue *tq;

	assert_int_equal(taskqueue_create("test", nthreads, &tq), 0);
	return (tq);
}

static void
test_pending(void **state)
{
	struct taskqueue *tq = queue(1);
	struct job block, j;

	job_init(&block, tq, 0);
	job_init(&j, tq, 0);
	block.gate = false;
	taskqueue_enqueue(tq, &block.task);
	for (int i = 0; i < 5; i++)
		taskqueue_enqueue(tq, &j.task);
	block.gate = true;
	wait_at_least(&j.runs, 1);
	taskqueue_drain(tq, &j.task);
	assert_int_equal(j.runs, 1);
	assert_int_equal(j.pending, 5);
	assert_int_equal(block.pending, 1);
	taskqueue_enqueue(tq, &j.task);
	taskqueue_drain(tq, &j.task);
	assert_int_equal(j.runs, 2);
	assert_int_equal(j.pending, 6);
	taskqueue_free(tq);
}

static void
test_macros(void **state)
{
	struct taskqueue *tq = queue(1);
	struct job net, plain;

	job_init(&net, tq, 0);
	NET_TASK_INIT(&net.task, job_fn, &net);
	job_init(&plain, tq, TASK_NETWORK);
	TASK_INIT(&plain.task, job_fn, &plain);
	for (int i = 0; i < 3; i++) {
		taskqueue_enqueue(tq, &net.task);
		taskqueue_enqueue(tq, &plain.task);
		taskqueue_drain(tq, &plain.task);
		assert_true(net.in_epoch);
		assert_false(plain.in_epoch);
	}
	taskqueue_free(tq);
}

struct garbage {
	struct epoch_context ctx;
	_Atomic unsigned int freed;
};

static void
garbage_free_cb(epoch_context_t ctx)
{
	struct garbage *g = __containerof(ctx, struct garbage, ctx);

	atomic_store(&g->freed, 1);
}

static void
garbage_defer_fn(void *arg, int pending)
{
	struct garbage *g = arg;

	NET_EPOCH_CALL(garbage_free_cb, &g->ctx);
}

static void
garbage_wait_fn(void *arg, int pending)
{
	struct garbage *g = arg;

	wait_at_least(&g->freed, 1);
}

/*
 * What a network task defers is not freed while the next network task runs,
 * because they share a section, and is freed while a plain one runs after
 * them, because the section is left before it.
 */
static void
test_section(void **state)
{
	struct taskqueue *tq = queue(1);
	struct garbage g = { .freed = 0 };
	struct task defer, wait;
	struct job block, next;

	job_init(&block, tq, 0);
	block.gate = false;
	NET_TASK_INIT(&defer, garbage_defer_fn, &g);
	job_init(&next, tq, TASK_NETWORK);
	next.sleep_us = 20000;
	next.after = &g.freed;
	TASK_INIT(&wait, garbage_wait_fn, &g);
	taskqueue_enqueue(tq, &block.task);
	taskqueue_enqueue(tq, &defer);
	taskqueue_enqueue(tq, &next.task);
	taskqueue_enqueue(tq, &wait);
	block.gate = true;
	taskqueue_drain(tq, &wait);
	assert_int_equal(next.seen, 0);
	assert_int_equal(g.freed, 1);

	/* The same when the queue is empty afterwards. */
	g.freed = 0;
	taskqueue_enqueue(tq, &defer);
	wait_at_least(&g.freed, 1);
	taskqueue_free(tq);
}

/* A network task that is never done does not hold up a grace period. */
static void
test_endless(void **state)
{
	struct taskqueue *tq = queue(1);
	struct job j;

	job_init(&j, tq, TASK_NETWORK);
	j.again = 1000000000;
	taskqueue_enqueue(tq, &j.task);
	wait_at_least(&j.runs, 100);
	for (int i = 0; i < 10; i++)
		NET_EPOCH_WAIT();
	j.again = 0;
	taskqueue_drain(tq, &j.task);
	taskqueue_free(tq);
}

static void
test_cancel(void **state)
{
	struct taskqueue *tq = queue(1);
	struct job block, j[3];

	job_init(&block, tq, 0);
	block.gate = false;
	taskqueue_enqueue(tq, &block.task);
	wait_at_least(&block.inside, 1);
	for (int i = 0; i < 3; i++) {
		job_init(&j[i], tq, 0);
		assert_false(taskqueue_cancel(tq, &j[i].task));
		taskqueue_enqueue(tq, &j[i].task);
	}
	/* Last, middle, only one; then the queue still works. */
	assert_true(taskqueue_cancel(tq, &j[2].task));
	assert_true(taskqueue_cancel(tq, &j[1].task));
	assert_false(taskqueue_cancel(tq, &j[1].task));
	assert_true(taskqueue_cancel(tq, &j[0].task));
	assert_false(taskqueue_cancel(tq, &block.task));	/* it runs */
	taskqueue_enqueue(tq, &j[1].task);
	block.gate = true;
	taskqueue_drain(tq, &j[1].task);
	taskqueue_drain(tq, &block.task);
	assert_int_equal(j[0].runs, 0);
	assert_int_equal(j[1].runs, 1);
	assert_int_equal(j[1].pending, 1);
	assert_int_equal(j[2].runs, 0);
	taskqueue_free(tq);
}

static void
test_drain(void **state)
{
	struct taskqueue *tq = queue(2);
	struct job j;

	job_init(&j, tq, TASK_NETWORK);
	taskqueue_drain(tq, &j.task);		/* never queued */
	j.sleep_us = 10000;
	j.again = 2;
	taskqueue_enqueue(tq, &j.task);
	taskqueue_drain(tq, &j.task);
	assert_int_equal(j.runs, 3);
	taskqueue_free(tq);
}

static void
test_runs_all(void **state)
{
	struct taskqueue *tq = queue(3);
	struct job j[50];

	for (int i = 0; i < 50; i++) {
		job_init(&j[i], tq, i % 3 == 0 ? TASK_NETWORK : 0);
		j[i].sleep_us = 100;
		taskqueue_enqueue(tq, &j[i].task);
	}
	taskqueue_free(tq);
	for (int i = 0; i < 50; i++)
		assert_int_equal(j[i].runs, 1);
}

/* Two tasks run at the same time, one task never with itself. */
static void
test_threads(void **state)
{
	struct taskqueue *tq = queue(4);
	struct job a, b, c;

	job_init(&a, tq, 0);
	job_init(&b, tq, 0);
	a.gate = b.gate = false;
	taskqueue_enqueue(tq, &a.task);
	taskqueue_enqueue(tq, &b.task);
	wait_at_least(&a.inside, 1);
	wait_at_least(&b.inside, 1);
	taskqueue_enqueue(tq, &a.task);		/* must wait for the first */
	usleep(5000);
	assert_int_equal(a.inside, 1);
	a.gate = b.gate = true;
	taskqueue_drain(tq, &a.task);
	taskqueue_drain(tq, &b.task);
	assert_int_equal(a.runs, 2);

	job_init(&c, tq, TASK_NETWORK);
	for (int i = 0; i < 20000; i++)
		taskqueue_enqueue(tq, &c.task);
	taskqueue_drain(tq, &c.task);
	assert_int_equal(c.overlaps, 0);
	assert_int_equal(c.pending, 20000);
	taskqueue_free(tq);
}

static _Atomic unsigned int freed;

static void
free_fn(void *arg, int pending)
{

	free(arg);
	atomic_fetch_add(&freed, 1);
}

/* A task may free itself; a section may enqueue. */
static void
test_self(void **state)
{
	struct taskqueue *tq = queue(2);
	struct epoch_tracker et;
	struct task *ta;

	NET_EPOCH_ENTER(et);
	for (int i = 0; i < 100; i++) {
		ta = malloc(sizeof(*ta));
		assert_non_null(ta);
		NET_TASK_INIT(ta, free_fn, ta);
		taskqueue_enqueue(tq, ta);
	}
	NET_EPOCH_EXIT(et);
	taskqueue_free(tq);
	assert_int_equal(freed, 100);
}

static void
die_fn(void *arg, int pending)
{
	struct job *j = arg;

	taskqueue_drain(j->tq, &j->task);
}

static void
death_drain_self(void)
{
	struct taskqueue *tq = queue(1);
	struct job j;

	job_init(&j, tq, 0);
	TASK_INIT(&j.task, die_fn, &j);
	taskqueue_enqueue(tq, &j.task);
	sleep(60);
}

static void
death_drain_epoch(void)
{
	struct taskqueue *tq = queue(1);
	struct epoch_tracker et;
	struct job j;

	job_init(&j, tq, 0);
	NET_EPOCH_ENTER(et);
	taskqueue_drain(tq, &j.task);
}

static void
leave_open_fn(void *arg, int pending)
{
	struct epoch_tracker et;

	NET_EPOCH_ENTER(et);
}

static void
death_left_open(void)
{
	struct taskqueue *tq = queue(1);
	struct task ta;

	TASK_INIT(&ta, leave_open_fn, NULL);
	taskqueue_enqueue(tq, &ta);
	sleep(60);
}

static const struct death deaths[] = {
	{ "drain_self", death_drain_self },
	{ "drain_epoch", death_drain_epoch },
	{ "left_open", death_left_open },
};

static void
test_assertions(void **state)
{

#ifdef INVARIANTS
	death_expect("drain_self", "a task would wait for itself", "");
	death_expect("drain_epoch", "in the epoch", "taskqueue.c");
	death_expect("left_open", "a task entered or left the epoch", "");
#else
	skip();
#endif
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pending),
		cmocka_unit_test(test_macros),
		cmocka_unit_test(test_section),
		cmocka_unit_test(test_endless),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_drain),
		cmocka_unit_test(test_runs_all),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_assertions),
	};

	death_main(argc, argv, deaths, nitems(deaths));
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
