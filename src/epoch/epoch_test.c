/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * Each function of libepoch by itself.  Built twice: against the release
 * objects and against those with INVARIANTS.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include <netepoch/epoch.h>

#define	__containerof(p, type, member)					\
	((type *)(void *)((char *)(p) - offsetof(type, member)))

struct object {
	uint64_t	 o_payload;
	struct epoch_context o_ctx;
	unsigned int	*o_count;
	epoch_t		 o_chain;	/* queue again this often */
	int		 o_left;
};

static void
object_free_cb(epoch_context_t ctx)
{
	struct object *o = __containerof(ctx, struct object, o_ctx);

	(void)__atomic_fetch_add(o->o_count, 1, __ATOMIC_RELAXED);
	if (o->o_left-- > 0) {
		epoch_call(o->o_chain, object_free_cb, &o->o_ctx);
		return;
	}
	free(o);
}

static struct object *
object_alloc(unsigned int *count)
{
	struct object *o;

	o = calloc(1, sizeof(*o));
	assert_non_null(o);
	o->o_count = count;
	return (o);
}

static void
nap(long us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	(void)nanosleep(&ts, NULL);
}

/* A thread that enters, says so, and leaves when told. */
struct reader {
	epoch_t		 r_epoch;
	int		 r_state;	/* 1 inside, 2 may leave, 3 has left */
	pthread_t	 r_thread;
};

static void *
reader_main(void *arg)
{
	struct reader *r = arg;

	epoch_enter(r->r_epoch);
	__atomic_store_n(&r->r_state, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&r->r_state, __ATOMIC_SEQ_CST) != 2)
		nap(100);
	__atomic_store_n(&r->r_state, 3, __ATOMIC_SEQ_CST);
	epoch_exit(r->r_epoch);
	return (NULL);
}

static void
reader_start(struct reader *r, epoch_t e)
{
	r->r_epoch = e;
	r->r_state = 0;
	assert_int_equal(pthread_create(&r->r_thread, NULL, reader_main, r),
	    0);
	while (__atomic_load_n(&r->r_state, __ATOMIC_SEQ_CST) != 1)
		nap(100);
}

static void
reader_stop(struct reader *r)
{
	__atomic_store_n(&r->r_state, 2, __ATOMIC_SEQ_CST);
	assert_int_equal(pthread_join(r->r_thread, NULL), 0);
}

static void
test_alloc(void **state)
{
	struct epoch_tracker et;
	epoch_t e[EPOCH_MAX];
	unsigned int i, n;

	(void)state;
	assert_null(epoch_alloc(NULL, 0));
	assert_int_equal(errno, EINVAL);
	assert_null(epoch_alloc("bad", 0x8000));
	assert_int_equal(errno, EINVAL);
	assert_null(epoch_alloc("locked alone", EPOCH_LOCKED));
	assert_null(epoch_alloc("help alone", EPOCH_HELP));
	for (n = 0; n < EPOCH_MAX; n++) {
		e[n] = epoch_alloc("one of many", n % 2 != 0 ?
		    EPOCH_PREEMPT : EPOCH_POLLED);
		if (e[n] == NULL)
			break;
	}
	assert_int_equal(errno, ENFILE);
	assert_int_equal(n, EPOCH_MAX - 1);	/* the net epoch is there */
	assert_string_equal(epoch_name(e[3]), "one of many");
	assert_int_equal(epoch_flags(e[3]), EPOCH_PREEMPT);
	for (i = 0; i < n; i++) {
		if (i % 2 != 0)
			epoch_enter_preempt(e[i], &et);
		else
			epoch_enter(e[i]);
		assert_int_equal(in_epoch(e[i]), 1);
		if (i % 2 != 0)
			epoch_exit_preempt(e[i], &et);
		else
			epoch_exit(e[i]);
		epoch_free(e[i]);
	}
	e[0] = epoch_alloc("a name of more than thirty-one bytes", 0);
	assert_non_null(e[0]);
	assert_string_equal(epoch_name(e[0]),
	    "a name of more than thirty-one ");
	epoch_free(e[0]);
}

static void
test_nesting(void **state)
{
	struct epoch_tracker t1, t2;
	epoch_t e;

	(void)state;
	e = epoch_alloc("plain", 0);
	assert_int_equal(in_epoch(NULL), 0);
	assert_int_equal(in_epoch(e), 0);
	epoch_enter(e);
	epoch_enter(e);
	assert_int_equal(in_epoch(e), 1);
	epoch_exit(e);
	assert_int_equal(in_epoch(e), 1);
	NET_EPOCH_ENTER(t1);
	NET_EPOCH_ENTER(t2);
	NET_EPOCH_ASSERT();
	NET_EPOCH_EXIT(t2);
	assert_int_equal(in_epoch(net_epoch_preempt), 1);
	NET_EPOCH_EXIT(t1);
	assert_int_equal(in_epoch(net_epoch_preempt), 0);
	NET_EPOCH_ASSERT_NOT();
	epoch_exit(e);
	assert_int_equal(in_epoch(e), 0);
	epoch_wait(e);
	NET_EPOCH_WAIT();
	epoch_free(e);
}

/* A wait does not return before the section that was open has ended. */
static void
wait_for_reader(unsigned int flags)
{
	struct epoch_stats st;
	struct reader r;
	epoch_t e;

	e = epoch_alloc("wait", flags);
	reader_start(&r, e);
	assert_int_equal(__atomic_exchange_n(&r.r_state, 2, __ATOMIC_SEQ_CST),
	    1);
	epoch_wait(e);
	assert_int_equal(__atomic_load_n(&r.r_state, __ATOMIC_SEQ_CST), 3);
	assert_int_equal(pthread_join(r.r_thread, NULL), 0);
	epoch_stats_get(e, &st);
	assert_int_equal(st.es_advances, 1);
	assert_true(st.es_records >= 1);
	epoch_free(e);
}

static void
test_wait(void **state)
{
	(void)state;
	wait_for_reader(0);
	wait_for_reader(EPOCH_ASYMMETRIC);
}

/* Nothing runs while a section is open; everything once it has closed. */
static void
call_and_drain(unsigned int flags, unsigned int n)
{
	struct epoch_stats st;
	struct reader r;
	unsigned int count = 0, i;
	epoch_t e;

	e = epoch_alloc("call", flags);
	reader_start(&r, e);
	epoch_enter(e);		/* so that the producer never waits */
	for (i = 0; i < n; i++)
		epoch_call(e, object_free_cb, &object_alloc(&count)->o_ctx);
	assert_int_equal(epoch_poll(e), 0);
	epoch_exit(e);
	for (i = 0; i < 10; i++) {
		assert_int_equal(epoch_poll(e), 0);
		nap(200);
	}
	assert_int_equal(__atomic_load_n(&count, __ATOMIC_RELAXED), 0);
	epoch_stats_get(e, &st);
	assert_int_equal(st.es_backlog, n);
	assert_true(st.es_oldest > 0);
	reader_stop(&r);
	epoch_drain_callbacks(e);
	assert_int_equal(__atomic_load_n(&count, __ATOMIC_RELAXED), n);
	epoch_stats_get(e, &st);
	assert_int_equal(st.es_backlog, 0);
	assert_int_equal(st.es_oldest, 0);
	assert_int_equal(st.es_epoch_calls, n);
	epoch_free(e);
}

static void
test_call(void **state)
{
	(void)state;
	call_and_drain(0, 1);
	call_and_drain(0, 50000);
	call_and_drain(EPOCH_POLLED, 50000);
	call_and_drain(EPOCH_ASYMMETRIC, 50000);
}

/* The reclaim thread runs what nobody polls or drains. */
static void
test_reclaim(void **state)
{
	unsigned int count = 0, i;
	epoch_t e;

	(void)state;
	e = epoch_alloc("reclaim", 0);
	for (i = 0; i < 100; i++) {
		epoch_call(e, object_free_cb, &object_alloc(&count)->o_ctx);
		nap(100);
	}
	for (i = 0; i < 5000 && __atomic_load_n(&count, __ATOMIC_RELAXED) <
	    100; i++)
		nap(1000);
	assert_int_equal(__atomic_load_n(&count, __ATOMIC_RELAXED), 100);
	epoch_free(e);
}

/* A polled epoch runs nothing by itself. */
static void
test_poll(void **state)
{
	unsigned int count = 0, i;
	epoch_t e;

	(void)state;
	e = epoch_alloc("polled", EPOCH_POLLED);
	for (i = 0; i < 3000; i++)
		epoch_call(e, object_free_cb, &object_alloc(&count)->o_ctx);
	nap(20000);
	assert_int_equal(count, 0);
	assert_int_equal(epoch_poll(e), 3000);
	assert_int_equal(count, 3000);
	assert_int_equal(epoch_poll(e), 0);
	epoch_free(e);
}

/* With EPOCH_HELP a producer alone stays within the bound. */
static void
test_help(void **state)
{
	struct epoch_stats st;
	unsigned int count = 0, i;
	epoch_t e;

	(void)state;
	e = epoch_alloc("help", EPOCH_POLLED | EPOCH_HELP);
	for (i = 0; i < 200000; i++)
		epoch_call(e, object_free_cb, &object_alloc(&count)->o_ctx);
	epoch_stats_get(e, &st);
	assert_true(st.es_backlog_max <= 16384);
	assert_int_equal(st.es_overflows, 0);
	epoch_free(e);
	assert_int_equal(count, 200000);
}

/* One drain for each level of a chain; epoch_free() does them all. */
static void
test_chain(void **state)
{
	unsigned int count = 0;
	struct object *o;
	epoch_t e;
	int i;

	(void)state;
	e = epoch_alloc("chain", EPOCH_POLLED);
	o = object_alloc(&count);
	o->o_chain = e;
	o->o_left = 3;
	epoch_call(e, object_free_cb, &o->o_ctx);
	for (i = 1; i <= 4; i++) {
		epoch_drain_callbacks(e);
		assert_int_equal(count, i);
	}
	o = object_alloc(&count);
	o->o_chain = e;
	o->o_left = 9;
	epoch_call(e, object_free_cb, &o->o_ctx);
	epoch_free(e);
	assert_int_equal(count, 14);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alloc),
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_call),
		cmocka_unit_test(test_reclaim),
		cmocka_unit_test(test_poll),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_chain),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
