/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * Callbacks in bulk: several drains at once, a million from inside a section,
 * and the bound on those of a producer outside.
 */
#include "epoch_test_util.h"

/* Several drains at once, and each finds its own callback run. */
static void *
drainer(void *arg)
{
	epoch_t e = arg;
	unsigned int count, i, j;

	for (i = 0; i < 50; i++) {
		count = 0;
		for (j = 0; j < 40; j++)
			count_call(e, &count);
		epoch_drain_callbacks(e);
		assert_int_equal(__atomic_load_n(&count, __ATOMIC_RELAXED),
		    40);
	}
	return (NULL);
}

static void
test_drains(void **state)
{
	epoch_t e = epoch_alloc("drains", 0);
	pthread_t t[4];
	int i;

	(void)state;
	for (i = 0; i < 4; i++)
		spawn(&t[i], drainer, e);
	for (i = 0; i < 4; i++)
		join(t[i]);
	epoch_free(e);
}

/* A million at once, from inside a section, and out of order for nobody. */
static void
test_million(void **state)
{
	const unsigned int n = 1000000 / SLOW;
	epoch_t e = epoch_alloc("million", 0);
	unsigned int count = 0, i;
	struct epoch_stats st;

	(void)state;
	epoch_enter(e);
	for (i = 0; i < n; i++)
		count_call(e, &count);
	epoch_stats_get(e, &st);
	assert_int_equal(st.es_backlog, n);
	assert_true(st.es_overflows >= n - 16384);
	epoch_exit(e);
	epoch_drain_callbacks(e);
	assert_int_equal(count, n);
	epoch_free(e);
}

/* Outside a section the producer is slowed down to the bound. */
static void
test_bound(void **state)
{
	const unsigned int n = 1000000 / SLOW;
	epoch_t e = epoch_alloc("bound", 0);
	unsigned int count = 0, i;
	struct epoch_stats st;

	(void)state;
	for (i = 0; i < n; i++)
		count_call(e, &count);
	epoch_stats_get(e, &st);
	print_message("backlog at most %llu, %llu calls waited\n",
	    (unsigned long long)st.es_backlog_max,
	    (unsigned long long)st.es_throttled);
	assert_true(st.es_backlog_max <= 16384 + st.es_overflows);
	epoch_drain_callbacks(e);
	assert_int_equal(count, n);
	epoch_free(e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drains),
		cmocka_unit_test(test_million),
		cmocka_unit_test(test_bound),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
