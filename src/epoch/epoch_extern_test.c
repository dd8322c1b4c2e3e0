/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The header's functions as symbols of the shared library, as another
 * language uses them.  Compiled with EPOCH_EXTERN.
 */
#include <dlfcn.h>

#include "epoch_test_util.h"

/* Each comes from the library, under one version. */
static void
test_symbols(void **state)
{
	static const char *const names[] = { "epoch_enter", "epoch_exit",
	    "epoch_enter_preempt", "epoch_exit_preempt", "epoch_call",
	    "in_epoch" };
	Dl_info info;
	size_t i;
	void *p;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		p = dlsym(RTLD_DEFAULT, names[i]);
		assert_non_null(p);
		assert_ptr_equal(dlvsym(RTLD_DEFAULT, names[i], VERSION), p);
		assert_int_not_equal(dladdr(p, &info), 0);
		assert_non_null(strstr(info.dli_fname, "libepoch"));
	}
}

static void
test_use(void **state)
{
	epoch_t e = epoch_alloc("extern", EPOCH_POLLED);
	struct epoch_tracker et;
	unsigned int count = 0;

	(void)state;
	assert_int_equal(in_epoch(NULL), 0);
	assert_int_equal(in_epoch(e), 0);
	epoch_enter(e);
	epoch_enter(e);
	count_call(e, &count);
	epoch_exit(e);
	assert_int_equal(in_epoch(e), 1);
	assert_int_equal(epoch_poll(e), 0);
	epoch_exit(e);
	assert_int_equal(in_epoch(e), 0);
	epoch_drain_callbacks(e);
	assert_int_equal(count, 1);
	epoch_free(e);

	epoch_enter_preempt(net_epoch_preempt, &et);
	EPOCH_ASSERT(net_epoch_preempt);
	assert_int_equal(in_epoch(net_epoch_preempt), 1);
	epoch_exit_preempt(net_epoch_preempt, &et);
	EPOCH_ASSERT_NOT(net_epoch_preempt);
}

#ifdef INVARIANTS
static char said[256];

static void
keep(const char *msg)
{
	(void)snprintf(said, sizeof(said), "%s", msg);
}

/* The symbols of the debug library check, without a line to name. */
static void
test_checks(void **state)
{
	epoch_t e = epoch_alloc("checks", 0);
	epoch_report_t old = epoch_set_panic_handler(keep);

	(void)state;
	epoch_exit(e);
	assert_non_null(strstr(said, "without entry at a call out of line"));
	epoch_call(e, NULL, NULL);
	assert_non_null(strstr(said, "no callback"));
	epoch_enter_preempt(e, NULL);
	assert_non_null(strstr(said, "without a tracker"));
	(void)epoch_set_panic_handler(old);
	epoch_free(e);
}
#endif

static void *
outside(void *arg)
{
	struct reader *r = arg;

	epoch_wait(r->r_epoch);
	STORE(&r->r_leave, 1);
	return (NULL);
}

/* A section by the symbols holds a waiter up like one by the header. */
static void
test_wait(void **state)
{
	struct reader r = { .r_epoch = epoch_alloc("wait", 0) };

	(void)state;
	epoch_enter(r.r_epoch);
	spawn(&r.r_thread, outside, &r);
	nap(20000);
	assert_int_equal(LOAD(&r.r_leave), 0);
	epoch_exit(r.r_epoch);
	join(r.r_thread);
	assert_int_equal(LOAD(&r.r_leave), 1);
	epoch_free(r.r_epoch);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_use),
		cmocka_unit_test(test_wait),
#ifdef INVARIANTS
		cmocka_unit_test(test_checks),
#endif
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
