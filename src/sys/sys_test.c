/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Tests of the sys room: counters against a plain sum over threads that come
 * and go, tunables and their refusals, locks' assertions, the limiter.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/counter.h"
#include "sys/lock.h"
#include "sys/log.h"
#include "sys/sysctl.h"
#include "sys/thread.h"

static counter_t shared_cell;

static void
count_some(void *arg)
{
	unsigned int n = (unsigned int)(uintptr_t)arg;

	for (unsigned int i = 0; i < n; i++)
		counter_add(shared_cell, 3);
}

static void
test_counter_threads(void **state)
{
	struct thread *td[8];
	uint64_t want = 0;

	assert_int_equal(counter_alloc(1, &shared_cell), 0);
	for (unsigned int round = 1; round <= 50; round++) {
		for (unsigned int i = 0; i < nitems(td); i++) {
			assert_int_equal(thread_create(&td[i], "count",
			    THREAD_ANY_CPU, count_some,
			    (void *)(uintptr_t)(round * i)), 0);
			want += 3 * round * i;
		}
		for (unsigned int i = 0; i < nitems(td); i++)
			thread_join(td[i]);
		assert_int_equal(counter_fetch(shared_cell), want);
	}
	counter_zero(shared_cell);
	assert_int_equal(counter_fetch(shared_cell), 0);
	counter_inc(shared_cell);
	assert_int_equal(counter_fetch(shared_cell), 1);
	counter_free(shared_cell, 1);
}

static void
test_counter_alloc(void **state)
{
	counter_t a, b, c;

	assert_int_equal(counter_alloc(0, &a), EINVAL);
	assert_int_equal(counter_alloc(COUNTER_MAX_CELLS, &a), EINVAL);
	assert_int_equal(counter_alloc(10, &a), 0);
	assert_int_equal(counter_alloc(10, &b), 0);
	assert_true(b >= a + 10 || a >= b + 10);
	counter_add(a + 4, 7);
	counter_free(a, 10);
	/* The same cells again read zero, whatever was counted in them. */
	assert_int_equal(counter_alloc(10, &c), 0);
	assert_int_equal(c, a);
	assert_int_equal(counter_fetch(c + 4), 0);
	counter_free(b, 10);
	counter_free(c, 10);
	assert_int_equal(counter_fetch(0), 0);
	assert_int_equal(counter_fetch(COUNTER_MAX_CELLS), 0);
}

/* More threads than pages: the shared page counts for the rest. */
static pthread_barrier_t crowd;

static void *
crowd_main(void *arg)
{

	counter_inc(shared_cell);
	pthread_barrier_wait(&crowd);
	counter_inc(shared_cell);
	return (NULL);
}

static void
test_counter_crowd(void **state)
{
	enum { CROWD = 300 };
	pthread_t td[CROWD];
	pthread_attr_t attr;

	assert_int_equal(counter_alloc(1, &shared_cell), 0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 * 1024);
	pthread_barrier_init(&crowd, NULL, CROWD);
	for (int i = 0; i < CROWD; i++)
		assert_int_equal(pthread_create(&td[i], &attr, crowd_main,
		    NULL), 0);
	for (int i = 0; i < CROWD; i++)
		pthread_join(td[i], NULL);
	assert_int_equal(counter_fetch(shared_cell), 2 * CROWD);
	counter_free(shared_cell, 1);
	pthread_barrier_destroy(&crowd);
	pthread_attr_destroy(&attr);
}

static uint64_t
forty_two(void *arg)
{

	return (*(int *)arg + 40u);
}

static int
word_get(void *arg, char *buf, size_t len)
{

	snprintf(buf, len, "%s", (char *)arg);
	return (0);
}

static int
word_set(void *arg, const char *text, char *err, size_t len)
{

	if (strcmp(text, "direct") != 0 && strcmp(text, "hybrid") != 0) {
		snprintf(err, len, "expected direct or hybrid");
		return (EINVAL);
	}
	strcpy(arg, text);
	return (0);
}

static int
collect(const struct sysctl_info *si, void *arg)
{

	strcat(arg, si->si_name);
	strcat(arg, " ");
	return (strcmp(si->si_name, "net.stop") == 0 ? 7 : 0);
}

static void
test_sysctl(void **state)
{
	struct sysctl_tree *tree = sysctl_tree_alloc();
	char word[16] = "direct", buf[64], err[64], all[256] = "";
	_Atomic int batch = 64;
	int two = 2;

	assert_non_null(tree);
	assert_int_equal(sysctl_add_int(tree, "hw.batch", CTLFLAG_RW, &batch,
	    1, 1000, "runs"), 0);
	assert_int_equal(sysctl_add_int(tree, "hw.batch", CTLFLAG_RW, &batch,
	    1, 1000, "runs"), EEXIST);
	assert_int_equal(sysctl_add_u64(tree, "hw.answer", forty_two, &two,
	    "x"), 0);
	assert_int_equal(sysctl_add_string(tree, "net.isr.dispatch",
	    CTLFLAG_RW, word_get, word_set, word, "how"), 0);
	assert_int_equal(sysctl_add_int(tree, "net.tun",
	    CTLFLAG_RD | CTLFLAG_TUN, &batch, 0, 1, "t"), 0);

	assert_int_equal(sysctl_get(tree, "hw.answer", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "42");
	assert_int_equal(sysctl_get(tree, "hw", buf, sizeof(buf)), ENOENT);
	assert_int_equal(sysctl_get(tree, "hw.batch", buf, 2), ENAMETOOLONG);

	assert_int_equal(sysctl_set(tree, "hw.batch", "0x20", err,
	    sizeof(err)), 0);
	assert_int_equal(batch, 32);
	assert_int_equal(sysctl_set(tree, "hw.batch", "0", err, sizeof(err)),
	    EINVAL);
	assert_string_equal(err, "expected 1 to 1000, got 0");
	assert_int_equal(sysctl_set(tree, "hw.batch", "9x", err, sizeof(err)),
	    EINVAL);
	assert_int_equal(sysctl_set(tree, "hw.batch", "", err, sizeof(err)),
	    EINVAL);
	assert_int_equal(sysctl_set(tree, "hw.batch",
	    "99999999999999999999", err, sizeof(err)), EINVAL);
	assert_int_equal(batch, 32);
	assert_int_equal(sysctl_set(tree, "hw.answer", "1", err, sizeof(err)),
	    EPERM);
	assert_int_equal(sysctl_set(tree, "net.tun", "1", err, sizeof(err)),
	    EPERM);
	assert_string_equal(err, "oid 'net.tun' is read only tunable");
	assert_int_equal(sysctl_set(tree, "nope", "1", err, sizeof(err)),
	    ENOENT);
	assert_int_equal(sysctl_set(tree, "net.isr.dispatch", "hybrid", err,
	    sizeof(err)), 0);
	assert_string_equal(word, "hybrid");
	assert_int_equal(sysctl_set(tree, "net.isr.dispatch", "x", err,
	    sizeof(err)), EINVAL);

	assert_int_equal(sysctl_add_u64(tree, "net.stop", forty_two, &two,
	    "x"), 0);
	assert_int_equal(sysctl_walk(tree, "", collect, all), 7);
	assert_string_equal(all,
	    "hw.answer hw.batch net.isr.dispatch net.stop ");
	all[0] = '\0';
	assert_int_equal(sysctl_walk(tree, "hw", collect, all), 0);
	assert_string_equal(all, "hw.answer hw.batch ");
	all[0] = '\0';
	assert_int_equal(sysctl_walk(tree, "h", collect, all), 0);
	assert_string_equal(all, "");
	sysctl_tree_free(tree);
}

static void
test_rate(void **state)
{
	struct log_limit ll = { 0 };
	int passed;

	/* A second may end in the middle: then try once more. */
	for (int try = 0; try < 2; try++) {
		passed = 0;
		for (int i = 0; i < 1000; i++)
			passed += rate_check(&ll, 5) ? 1 : 0;
		if (passed == 5)
			break;
	}
	assert_int_equal(passed, 5);
}

/* Lines written from threads reach stderr whole; a full ring says so. */
static void
test_log(void **state)
{
	char buf[65536], *p;
	int fds[2], saved, lines = 0;
	ssize_t n, got = 0;

	assert_int_equal(pipe(fds), 0);
	saved = dup(STDERR_FILENO);
	dup2(fds[1], STDERR_FILENO);
	assert_int_equal(log_start("log_test"), 0);
	for (int i = 0; i < 100; i++)
		log_msg(LOG_INFO, "line %d", i);
	log_msg(LOG_DEBUG, "not at this level");
	log_stop();
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(fds[1]);
	while ((n = read(fds[0], buf + got,
	    sizeof(buf) - 1 - (size_t)got)) > 0)
		got += n;
	close(fds[0]);
	buf[got] = '\0';
	for (p = buf; (p = strchr(p, '\n')) != NULL; p++)
		lines++;
	assert_int_equal(lines, 100);
	assert_non_null(strstr(buf, "line 99\n"));
	assert_null(strstr(buf, "not at this level"));
}

static void
test_locks(void **state)
{
	struct mtx mtx;
	struct sx sx;

	mtx_init(&mtx, "test mtx");
	assert_false(mtx_owned(&mtx));
	mtx_lock(&mtx);
	assert_true(mtx_owned(&mtx));
	mtx_unlock(&mtx);
	mtx_destroy(&mtx);

	sx_init(&sx, "test sx");
	sx_xlock(&sx);
	sx_xlock(&sx);
	sx_xunlock(&sx);
	assert_true(sx_xlocked(&sx));
	sx_xunlock(&sx);
	assert_false(sx_xlocked(&sx));
	sx_destroy(&sx);
}

#ifdef INVARIANTS
static int sleep_line;

static void
note_sleep(const char *what, const char *file, int line)
{

	assert_string_equal(what, "sleepy");
	sleep_line = line;
}

static void
test_sleep_hook(void **state)
{
	struct sx sx;
	int line;

	sx_init(&sx, "sleepy");
	sleep_check_hook = note_sleep;
	line = __LINE__ + 1;
	sx_xlock(&sx);
	sleep_check_hook = NULL;
	sx_xunlock(&sx);
	assert_int_equal(sleep_line, line);
	sx_destroy(&sx);
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counter_threads),
		cmocka_unit_test(test_counter_alloc),
		cmocka_unit_test(test_counter_crowd),
		cmocka_unit_test(test_sysctl),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_locks),
#ifdef INVARIANTS
		cmocka_unit_test(test_sleep_hook),
#endif
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
