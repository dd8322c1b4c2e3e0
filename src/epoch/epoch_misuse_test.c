/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * Every rule that a debug build checks is broken here once, and the check
 * must fire, with the right words and places.  Linked with the INVARIANTS
 * objects.  The panic handler keeps the message and returns, so the library
 * goes on without the operation.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <netepoch/epoch.h>

#define	MSG	600

static char panic_msg[MSG];
static char report_msg[MSG];
static int panics, reports;

static void
keep_panic(const char *msg)
{
	(void)snprintf(panic_msg, sizeof(panic_msg), "%s", msg);
	(void)__atomic_add_fetch(&panics, 1, __ATOMIC_SEQ_CST);
}

static void
keep_report(const char *msg)
{
	(void)snprintf(report_msg, sizeof(report_msg), "%s", msg);
	(void)__atomic_add_fetch(&reports, 1, __ATOMIC_SEQ_CST);
}

static int
setup(void **state)
{
	(void)state;
	panics = reports = 0;
	panic_msg[0] = report_msg[0] = '\0';
	(void)epoch_set_panic_handler(keep_panic);
	(void)epoch_set_report_handler(keep_report);
	return (0);
}

static int
teardown(void **state)
{
	(void)state;
	(void)epoch_set_panic_handler(NULL);
	(void)epoch_set_report_handler(NULL);
	return (0);
}

/* Exactly one panic so far, and it says what. */
static void
expect_panic(const char *what)
{
	if (panics != 1 || strstr(panic_msg, what) == NULL)
		fail_msg("want \"%s\", have %d: \"%s\"", what, panics,
		    panic_msg);
	panics = 0;
}

/* msg names this file and line. */
static void
expect_place(const char *msg, int line)
{
	char place[64];

	(void)snprintf(place, sizeof(place), "epoch_misuse_test.c:%d", line);
	if (strstr(msg, place) == NULL)
		fail_msg("no %s in \"%s\"", place, msg);
}

static void
nothing_cb(epoch_context_t ctx)
{
	(void)ctx;
}

static void
in_thread(void *(*body)(void *), void *arg)
{
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, body, arg), 0);
	assert_int_equal(pthread_join(t, NULL), 0);
}

static void
test_wait_inside(void **state)
{
	struct epoch_tracker et;
	epoch_t e, other;

	(void)state;
	e = epoch_alloc("e", 0);
	other = epoch_alloc("other", 0);
	epoch_enter(e);
	epoch_wait(e);
	expect_panic("epoch_wait: inside a section of \"e\"");
	epoch_wait(other);
	expect_panic("epoch_wait: sleeping prohibited in \"e\"");
	epoch_drain_callbacks(e);
	expect_panic("inside a section");
	epoch_exit(e);

	NET_EPOCH_ENTER(et);
	NET_EPOCH_WAIT();
	expect_panic("epoch_wait_preempt: inside a section");
	NET_EPOCH_DRAIN_CALLBACKS();
	expect_panic("inside a section");
	NET_EPOCH_EXIT(et);

	epoch_wait_preempt(e);
	expect_panic("is not preemptible");
	epoch_wait(net_epoch_preempt);
	expect_panic("is preemptible");
	epoch_free(other);
	epoch_free(e);
}

static void
test_kind(void **state)
{
	struct epoch_tracker et;
	epoch_t e;

	(void)state;
	e = epoch_alloc("e", 0);
	epoch_enter_preempt(e, &et);
	expect_panic("is not preemptible");
	assert_int_equal(in_epoch(e), 0);
	epoch_enter_preempt(net_epoch_preempt, NULL);
	expect_panic("without a tracker");
	epoch_enter(net_epoch_preempt);
	expect_panic("a tracker is missing");
	assert_int_equal(in_epoch(net_epoch_preempt), 0);
	epoch_enter(NULL);
	expect_panic("no such epoch");
	epoch_free(e);
	epoch_enter(e);
	expect_panic("no such epoch");
	epoch_wait(e);
	expect_panic("not in use");
	epoch_free(e);
	expect_panic("not in use");
	epoch_free(net_epoch_preempt);
	expect_panic("permanent");
}

/* Functions of an epoch that is none, or that has been freed. */
static void
unusable(epoch_t e, const char *what)
{
	struct epoch_context ctx = { NULL, 0 };
	struct epoch_tracker et;
	struct epoch_stats st;

	epoch_enter(e);
	expect_panic("no such epoch at");
	epoch_exit(e);
	expect_panic("no such epoch at");
	epoch_enter_preempt(e, &et);
	expect_panic("no such epoch at");
	epoch_call(e, nothing_cb, &ctx);
	expect_panic("no such epoch at");
	epoch_wait(e);
	expect_panic(what);
	epoch_wait_preempt(e);
	expect_panic(what);
	epoch_drain_callbacks(e);
	expect_panic(what);
	assert_int_equal(epoch_poll(e), 0);
	expect_panic(what);
	epoch_set_stall(e, 1, NULL, NULL);
	expect_panic(what);
	assert_int_equal(epoch_stall_check(e), 0);
	expect_panic(what);
	epoch_stats_get(e, &st);
	expect_panic(what);
	epoch_free(e);
	expect_panic(what);
}

static void
test_unusable(void **state)
{
	static struct epoch other;
	epoch_t e, self;

	(void)state;
	unusable(NULL, ": no such epoch");
	unusable(&other, ": no such epoch");
	e = epoch_alloc("gone", EPOCH_ASYMMETRIC);
	epoch_free(e);
	unusable(e, "is not in use");
	self = epoch_alloc("after", 0);
	assert_ptr_equal(self, e);	/* the slot goes on */
	epoch_wait(self);
	assert_int_equal(panics, 0);
	epoch_free(self);
}

/* What waits for callbacks must not be done by one. */
static struct epoch *own;

static void
free_cb(epoch_context_t ctx)
{
	(void)ctx;
	epoch_free(own);
	expect_panic("epoch_free(\"own\"): inside a callback");
	epoch_drain_callbacks(own);
	expect_panic("epoch_drain_callbacks(\"own\"): inside a callback");
	assert_int_equal(epoch_poll(own), 0);
	epoch_wait(own);		/* for readers, which is legal */
	assert_int_equal(panics, 0);
}

static void
test_in_callback(void **state)
{
	struct epoch_context first, second;

	(void)state;
	own = epoch_alloc("own", EPOCH_POLLED);
	epoch_call(own, free_cb, &first);
	epoch_call(own, nothing_cb, &second);
	epoch_drain_callbacks(own);
	epoch_free(own);
	assert_int_equal(panics, 0);
}

/* A report in a signal handler takes no lock of stdio. */
static int stderr_state;

static void *
stderr_hold(void *arg)
{
	(void)arg;
	flockfile(stderr);
	__atomic_store_n(&stderr_state, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&stderr_state, __ATOMIC_SEQ_CST) == 1)
		(void)sched_yield();
	funlockfile(stderr);
	return (NULL);
}

static void
recursion_handler(int sig)
{
	struct epoch_tracker et;

	(void)sig;
	NET_EPOCH_ENTER(et);
	NET_EPOCH_EXIT(et);
}

static void
test_signal_report(void **state)
{
	struct sigaction sa, old;
	struct epoch_tracker et;
	pthread_t t;

	(void)state;
	(void)memset(&sa, 0, sizeof(sa));
	sa.sa_handler = recursion_handler;
	assert_int_equal(sigaction(SIGUSR1, &sa, &old), 0);
	(void)epoch_set_report_handler(NULL);
	assert_int_equal(pthread_create(&t, NULL, stderr_hold, NULL), 0);
	while (__atomic_load_n(&stderr_state, __ATOMIC_SEQ_CST) == 0)
		(void)sched_yield();
	NET_EPOCH_ENTER(et);
	(void)alarm(60);
	(void)raise(SIGUSR1);
	(void)alarm(0);
	NET_EPOCH_EXIT(et);
	__atomic_store_n(&stderr_state, 2, __ATOMIC_SEQ_CST);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_int_equal(sigaction(SIGUSR1, &old, NULL), 0);
}

static void
test_exit(void **state)
{
	struct epoch_tracker et, other;
	epoch_t e;

	(void)state;
	e = epoch_alloc("e", 0);
	epoch_exit(e);
	expect_panic("without entry");
	epoch_free(e);
	e = epoch_alloc("e", EPOCH_PREEMPT);
	epoch_enter_preempt(e, &et);
	epoch_exit(e);
	expect_panic("a tracker is missing");
	assert_int_equal(in_epoch(e), 1);
	epoch_exit_preempt(e, NULL);
	expect_panic("without a tracker");
	epoch_exit_preempt(net_epoch_preempt, &et);
	expect_panic("tracker of another epoch");
	other = et;
	epoch_exit_preempt(e, &other);
	expect_panic("not open");
	assert_int_equal(in_epoch(e), 1);
	epoch_exit_preempt(e, &et);
	assert_int_equal(in_epoch(e), 0);
	assert_int_equal(panics, 0);
	epoch_exit_preempt(e, &et);
	expect_panic("twice with one tracker");
	epoch_free(e);
}

static void *
exit_foreign(void *arg)
{
	NET_EPOCH_EXIT(*(struct epoch_tracker *)arg);
	return (NULL);
}

static void
test_exit_foreign(void **state)
{
	struct epoch_tracker et;

	(void)state;
	NET_EPOCH_ENTER(et);
	in_thread(exit_foreign, &et);
	expect_panic("by another thread");
	NET_EPOCH_EXIT(et);
	assert_int_equal(panics, 0);
}

/* The exit succeeds, and is reported once for the place. */
static void
test_exit_order(void **state)
{
	struct epoch_tracker a, b, c;
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		NET_EPOCH_ENTER(a);
		NET_EPOCH_ENTER(b);
		NET_EPOCH_ENTER(c);
		reports = 0;
		NET_EPOCH_EXIT(a);
		assert_int_equal(reports, i == 0);
		NET_EPOCH_EXIT(c);
		NET_EPOCH_EXIT(b);
		assert_int_equal(reports, i == 0);
		assert_int_equal(in_epoch(net_epoch_preempt), 0);
	}
	assert_non_null(strstr(report_msg, "not nested order"));
	assert_int_equal(panics, 0);
}

static void
test_recursion(void **state)
{
	struct epoch_tracker a, b;
	int i, outer = 0, inner = 0;

	(void)state;
	for (i = 0; i < 5; i++) {
		outer = __LINE__ + 1;
		NET_EPOCH_ENTER(a);
		inner = __LINE__ + 1;
		NET_EPOCH_ENTER(b);
		NET_EPOCH_EXIT(b);
		NET_EPOCH_EXIT(a);
	}
	assert_int_equal(reports, 1);
	assert_non_null(strstr(report_msg, "recursively entering"));
	expect_place(report_msg, outer);
	expect_place(report_msg, inner);
	NET_EPOCH_ENTER(a);
	NET_EPOCH_ENTER(b);	/* another place: another report */
	NET_EPOCH_EXIT(b);
	NET_EPOCH_EXIT(a);
	assert_int_equal(reports, 2);
	assert_int_equal(panics, 0);
}

static int left_line;

static void *
leave_open(void *arg)
{
	left_line = __LINE__ + 1;
	epoch_enter(arg);
	return (NULL);
}

/* The check fires, and the epoch is usable afterwards. */
static void
test_thread_end(void **state)
{
	struct epoch_stats st;
	epoch_t e;

	(void)state;
	e = epoch_alloc("left open", 0);
	in_thread(leave_open, e);
	expect_place(panic_msg, left_line);
	expect_panic("ends inside \"left open\"");
	epoch_wait(e);
	epoch_stats_get(e, &st);
	assert_int_equal(st.es_abandoned, 1);
	epoch_free(e);
}

static void
test_context(void **state)
{
	struct epoch_context ctx;
	epoch_t e;

	(void)state;
	(void)memset(&ctx, 0x5a, sizeof(ctx));
	e = epoch_alloc("e", EPOCH_POLLED);
	epoch_call(e, nothing_cb, &ctx);
	epoch_call(e, nothing_cb, &ctx);
	expect_panic("queued twice");
	epoch_call(e, NULL, &ctx);
	expect_panic("no callback");
	EPOCH_ASSERT_LIVE(&ctx);
	epoch_drain_callbacks(e);
	EPOCH_ASSERT_LIVE(&ctx);
	expect_panic("used after its callback ran");
	epoch_call(e, nothing_cb, &ctx);	/* legal again now */
	assert_int_equal(panics, 0);
	epoch_free(e);
}

static epoch_t drained;

static void
drain_cb(epoch_context_t ctx)
{
	(void)ctx;
	epoch_drain_callbacks(drained);
}

static void
test_drain_in_callback(void **state)
{
	struct epoch_context ctx;

	(void)state;
	(void)memset(&ctx, 0, sizeof(ctx));
	drained = epoch_alloc("e", EPOCH_POLLED);
	epoch_call(drained, drain_cb, &ctx);
	epoch_drain_callbacks(drained);
	expect_panic("inside a callback");
	epoch_free(drained);
}

static void
test_sleep(void **state)
{
	struct epoch_tracker et;
	int entered, slept;

	(void)state;
	EPOCH_MAY_SLEEP("nothing");
	assert_int_equal(panics, 0);
	entered = __LINE__ + 1;
	NET_EPOCH_ENTER(et);
	slept = __LINE__ + 1;
	EPOCH_MAY_SLEEP("config lock");
	expect_place(panic_msg, entered);
	expect_place(panic_msg, slept);
	expect_panic("sleeping prohibited: config lock");
	NET_EPOCH_EXIT(et);
	EPOCH_MAY_SLEEP("config lock");
	assert_int_equal(panics, 0);
}

static void
test_asserts(void **state)
{
	struct epoch_tracker et;

	(void)state;
	NET_EPOCH_ASSERT();
	expect_panic("not in the epoch");
	NET_EPOCH_ENTER(et);
	NET_EPOCH_ASSERT();
	assert_int_equal(panics, 0);
	NET_EPOCH_ASSERT_NOT();
	expect_panic("in the epoch");
	NET_EPOCH_EXIT(et);
	assert_int_equal(in_epoch_verbose(net_epoch_preempt, 0), 0);
	assert_int_equal(reports, 0);
	assert_int_equal(in_epoch_verbose(net_epoch_preempt, 1), 0);
	assert_int_equal(reports, 1);
	assert_non_null(strstr(report_msg, "is not in \"Net preemptible\""));
}

/* Where a thread is, and then where it leaves. */
static void
test_where(void **state)
{
	struct epoch_tracker et;
	int entered, left;

	(void)state;
	epoch_where_report(net_epoch_preempt);
	assert_non_null(strstr(report_msg, "is not in \"Net preemptible\""));
	entered = __LINE__ + 1;
	NET_EPOCH_ENTER(et);
	epoch_where_report(net_epoch_preempt);
	expect_place(report_msg, entered);
	left = __LINE__ + 1;
	NET_EPOCH_EXIT(et);
	expect_place(report_msg, left);
	assert_int_equal(reports, 3);
	NET_EPOCH_ENTER(et);
	NET_EPOCH_EXIT(et);		/* once only */
	assert_int_equal(reports, 3);
}

/* A tracker that outlives its frame is the classic of D23483's kind. */
static void
test_tracker_off_stack(void **state)
{
	struct epoch_tracker *et;

	(void)state;
	et = malloc(sizeof(*et));
	assert_non_null(et);
	epoch_enter_preempt(net_epoch_preempt, et);
	expect_panic("not on this thread's stack");
	assert_int_equal(in_epoch(net_epoch_preempt), 0);
	free(et);
}

struct busy {
	epoch_t		 b_epoch;
	int		 b_state;
};

static void *
busy_reader(void *arg)
{
	struct busy *b = arg;

	epoch_enter(b->b_epoch);
	__atomic_store_n(&b->b_state, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&b->b_state, __ATOMIC_SEQ_CST) == 1)
		sched_yield();
	epoch_exit(b->b_epoch);
	return (NULL);
}

static void
test_free_inside(void **state)
{
	struct busy b = { epoch_alloc("busy", 0), 0 };
	pthread_t t;

	(void)state;
	epoch_enter(b.b_epoch);
	epoch_free(b.b_epoch);
	expect_panic("epoch_free(\"busy\"): inside a section");
	epoch_exit(b.b_epoch);

	/* Another thread inside: nothing is queued, so only the end sees it. */
	assert_int_equal(pthread_create(&t, NULL, busy_reader, &b), 0);
	while (__atomic_load_n(&b.b_state, __ATOMIC_SEQ_CST) == 0)
		sched_yield();
	epoch_free(b.b_epoch);
	expect_panic("is inside \"busy\"");
	__atomic_store_n(&b.b_state, 2, __ATOMIC_SEQ_CST);
	assert_int_equal(pthread_join(t, NULL), 0);
	epoch_free(b.b_epoch);
	assert_int_equal(panics, 0);
}

/* The documented order is lock, then wait; never section, then lock. */
struct k02 {
	pthread_mutex_t	 k_lock;
	int		 k_entered, k_asked;
};

static void *
k02_reader(void *arg)
{
	struct k02 *k = arg;
	struct epoch_tracker et;

	k->k_entered = __LINE__ + 1;
	NET_EPOCH_ENTER(et);
	k->k_asked = __LINE__ + 1;
	EPOCH_MAY_SLEEP("mutex L");
	if (panics == 0)
		(void)pthread_mutex_lock(&k->k_lock);
	NET_EPOCH_EXIT(et);
	return (NULL);
}

static void
test_k02(void **state)
{
	struct k02 k = { PTHREAD_MUTEX_INITIALIZER, 0, 0 };
	pthread_t t;

	(void)state;
	assert_int_equal(pthread_mutex_lock(&k.k_lock), 0);
	assert_int_equal(pthread_create(&t, NULL, k02_reader, &k), 0);
	NET_EPOCH_WAIT();
	assert_int_equal(pthread_mutex_unlock(&k.k_lock), 0);
	assert_int_equal(pthread_join(t, NULL), 0);
	expect_place(panic_msg, k.k_entered);
	expect_place(panic_msg, k.k_asked);
	expect_panic("sleeping prohibited: mutex L");
}

#define	MISUSE(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		MISUSE(test_wait_inside),
		MISUSE(test_kind),
		MISUSE(test_unusable),
		MISUSE(test_in_callback),
		MISUSE(test_signal_report),
		MISUSE(test_exit),
		MISUSE(test_exit_foreign),
		MISUSE(test_exit_order),
		MISUSE(test_recursion),
		MISUSE(test_thread_end),
		MISUSE(test_context),
		MISUSE(test_drain_in_callback),
		MISUSE(test_sleep),
		MISUSE(test_asserts),
		MISUSE(test_where),
		MISUSE(test_tracker_off_stack),
		MISUSE(test_free_inside),
		MISUSE(test_k02),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
