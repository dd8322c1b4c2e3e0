/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * Stalls: sections that last too long are named, once, to whoever waits, to
 * whoever asks, and by the reclaim thread when nobody does either.  The
 * longest section and the longest grace period are known.
 */
#include "epoch_test_util.h"

#define	LIMIT_MS	20U
#define	LIMIT_NS	(LIMIT_MS * UINT64_C(1000000))
#define	PATIENCE_NS	UINT64_C(10000000000)

/* What the handler was told. */
struct heard {
	epoch_t		 h_epoch;
	unsigned int	 h_reports;
	int		 h_tid[4];
	char		 h_thread[32];
	struct reader	*h_release;	/* let this one go */
};

static void
handler(const struct epoch_stall *st, void *arg)
{
	struct heard *h = arg;
	unsigned int n = LOAD(&h->h_reports);

	assert_ptr_equal(st->st_epoch, h->h_epoch);
	assert_string_equal(st->st_name, "stall");
	assert_true(st->st_age >= LIMIT_NS);
	assert_true(st->st_age < PATIENCE_NS);
	(void)snprintf(h->h_thread, sizeof(h->h_thread), "%s", st->st_thread);
#ifdef INVARIANTS
	assert_non_null(st->st_file);
	assert_non_null(strstr(st->st_file, "epoch_test_util.h"));
	assert_true(st->st_line > 0);
#else
	assert_null(st->st_file);
#endif
	assert_true(n < 4);
	h->h_tid[n] = st->st_tid;
	STORE(&h->h_reports, n + 1);
	if (h->h_release != NULL)
		STORE(&h->h_release->r_leave, 1);
}

static void
begin(struct heard *h, unsigned int flags)
{
	(void)memset(h, 0, sizeof(*h));
	h->h_epoch = epoch_alloc("stall", flags);
	assert_non_null(h->h_epoch);
	epoch_set_stall(h->h_epoch, LIMIT_MS, handler, h);
}

/* Wait for n reports. */
static void
await(struct heard *h, unsigned int n)
{
	uint64_t end = now_ns() + PATIENCE_NS;

	while (LOAD(&h->h_reports) < n && now_ns() < end)
		nap(1000);
	assert_int_equal(LOAD(&h->h_reports), n);
}

/* Who waits is told, once, and the program can do something about it. */
static void
test_waiter(void **state)
{
	struct epoch_stats st;
	struct reader r;
	struct heard h;

	(void)state;
	begin(&h, EPOCH_POLLED);
	h.h_release = &r;
	reader_start(&r, h.h_epoch);
	epoch_wait(h.h_epoch);
	assert_int_equal(h.h_reports, 1);
	assert_int_equal(h.h_tid[0], r.r_inside);
	assert_string_equal(h.h_thread, "sleepy reader");
	join(r.r_thread);
	epoch_stats_get(h.h_epoch, &st);
	assert_int_equal(st.es_stalls, 1);
	assert_true(st.es_longest_section >= LIMIT_NS);
	assert_true(st.es_longest_grace >= LIMIT_NS);
	epoch_free(h.h_epoch);
}

/* Nobody waits, calls or asks: the reclaim thread finds both readers. */
static void
unattended(unsigned int flags)
{
	struct epoch_stats st;
	struct reader r[2];
	struct heard h;
	int i;

	begin(&h, flags);
	reader_start(&r[0], h.h_epoch);
	nap(LIMIT_MS * 500);
	reader_start(&r[1], h.h_epoch);
	await(&h, 2);
	nap(LIMIT_MS * 2000);
	assert_int_equal(LOAD(&h.h_reports), 2);	/* once each */
	i = h.h_tid[0] == r[0].r_inside ? 0 : 1;
	assert_int_equal(h.h_tid[i], r[0].r_inside);
	assert_int_equal(h.h_tid[1 - i], r[1].r_inside);
	for (i = 0; i < 2; i++)
		reader_stop(&r[i]);
	epoch_stats_get(h.h_epoch, &st);
	assert_true(st.es_longest_section >= 2 * LIMIT_NS);
	assert_int_equal(st.es_nblocked, 0);
	epoch_free(h.h_epoch);
}

static void
test_unattended(void **state)
{
	(void)state;
	unattended(0);
	unattended(EPOCH_ASYMMETRIC);
}

/* In a polled epoch nothing looks but who asks. */
static void
test_check(void **state)
{
	struct epoch_stats st;
	struct reader r;
	struct heard h;
	uint64_t start;

	(void)state;
	begin(&h, EPOCH_POLLED);
	assert_int_equal(epoch_stall_check(h.h_epoch), 0);
	start = now_ns();
	reader_start(&r, h.h_epoch);
	nap(LIMIT_MS * 2000);
	assert_int_equal(LOAD(&h.h_reports), 0);
	assert_int_equal(epoch_stall_check(h.h_epoch), 0);
	nap(LIMIT_MS * 1000);
	assert_int_equal(epoch_stall_check(h.h_epoch), 1);
	assert_int_equal(h.h_reports, 1);
	assert_int_equal(epoch_stall_check(h.h_epoch), 1);
	assert_int_equal(h.h_reports, 1);
	reader_stop(&r);
	assert_int_equal(epoch_stall_check(h.h_epoch), 0);
	epoch_stats_get(h.h_epoch, &st);
	assert_true(st.es_longest_section >= LIMIT_NS);
	assert_true(st.es_longest_section <= now_ns() - start);
	epoch_free(h.h_epoch);
}

/* Many short sections are not one long one, whatever their value. */
static void *
short_sections(void *arg)
{
	struct reader *r = arg;

	while (LOAD(&r->r_leave) == 0) {
		epoch_enter(r->r_epoch);
		epoch_exit(r->r_epoch);
	}
	return (NULL);
}

static void
test_short(void **state)
{
	struct epoch_stats st;
	struct reader r = { .r_leave = 0 };
	struct heard h;
	int i;

	(void)state;
	begin(&h, 0);
	/* A reader that loses its CPU inside would be a true report. */
	epoch_set_stall(h.h_epoch, 2000, handler, &h);
	r.r_epoch = h.h_epoch;
	spawn(&r.r_thread, short_sections, &r);
	for (i = 0; i < 200; i++) {
		nap(5000);
		assert_int_equal(epoch_stall_check(h.h_epoch), 0);
	}
	reader_stop(&r);
	epoch_stats_get(h.h_epoch, &st);
	assert_int_equal(h.h_reports, 0);
	assert_int_equal(st.es_stalls, 0);
	assert_true(st.es_longest_section < UINT64_C(700000000));
	epoch_free(h.h_epoch);
}

/* What a debug build times with nobody looking; a release build says 0. */
static void
test_longest(void **state)
{
	epoch_t e = epoch_alloc("longest", EPOCH_POLLED);
	struct epoch_stats st;

	(void)state;
	epoch_enter(e);
	nap(50000);
	epoch_enter(e);
	epoch_exit(e);
	epoch_exit(e);
	epoch_stats_get(e, &st);
#ifdef INVARIANTS
	assert_true(st.es_longest_section >= UINT64_C(30000000));
	assert_true(st.es_longest_section < PATIENCE_NS);
#else
	assert_int_equal(st.es_longest_section, 0);
#endif
	assert_int_equal(st.es_longest_grace, 0);
	epoch_free(e);
}

/* Freeing waits for a handler that is running, so its argument lives. */
struct slow {
	int		 s_in, s_out;
};

static void
slow_handler(const struct epoch_stall *st, void *arg)
{
	struct slow *s = arg;

	(void)st;
	STORE(&s->s_in, 1);
	nap(30000);
	STORE(&s->s_out, 1);
}

static void
test_free_waits(void **state)
{
	epoch_t e = epoch_alloc("slow handler", 0);
	struct slow s = { 0, 0 };
	struct reader r;

	(void)state;
	epoch_set_stall(e, 1, slow_handler, &s);
	reader_start(&r, e);
	while (LOAD(&s.s_in) == 0)
		nap(100);
	reader_stop(&r);
	epoch_free(e);
	assert_int_equal(LOAD(&s.s_out), 1);
}

/*
 * A thread holds a lock, waits, and the reader asks for that lock: the order
 * that the rules forbid.  Without checks the waiter hangs, but is told which
 * thread holds it up, and can give way.
 */
static pthread_mutex_t k02_lock = PTHREAD_MUTEX_INITIALIZER;
static int k02_tid;

static void
k02_handler(const struct epoch_stall *st, void *arg)
{
	(void)arg;
	k02_tid = st->st_tid;
	assert_int_equal(pthread_mutex_unlock(&k02_lock), 0);
}

static void *
k02_reader(void *arg)
{
	struct reader *r = arg;

	epoch_enter(r->r_epoch);
	STORE(&r->r_inside, (int)gettid());
	assert_int_equal(pthread_mutex_lock(&k02_lock), 0);
	assert_int_equal(pthread_mutex_unlock(&k02_lock), 0);
	epoch_exit(r->r_epoch);
	return (NULL);
}

static void
test_k02(void **state)
{
	struct reader r = { .r_epoch = epoch_alloc("k02", EPOCH_POLLED) };

	(void)state;
	alarm(30);
	epoch_set_stall(r.r_epoch, LIMIT_MS, k02_handler, NULL);
	assert_int_equal(pthread_mutex_lock(&k02_lock), 0);
	spawn(&r.r_thread, k02_reader, &r);
	while (LOAD(&r.r_inside) == 0)
		nap(100);
	epoch_wait(r.r_epoch);
	alarm(0);
	assert_int_equal(k02_tid, r.r_inside);
	join(r.r_thread);
	epoch_free(r.r_epoch);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waiter),
		cmocka_unit_test(test_unattended),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_free_waits),
		cmocka_unit_test(test_k02),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
