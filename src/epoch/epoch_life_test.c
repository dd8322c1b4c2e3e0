/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * Threads and processes: signals, threads that come and go, destructors that
 * run late, forks.
 */
#include <sys/wait.h>

#include "epoch_test_util.h"

#ifdef TEST_TSAN
/* The forked child of test_fork starts a thread, which TSan refuses else. */
const char *__tsan_default_options(void);

const char *
__tsan_default_options(void)
{
	return ("die_after_fork=0");
}
#endif

/* Signals that enter and leave, at any instruction of enter and exit. */
static struct epoch *sig_epoch;
static volatile sig_atomic_t sig_hits, sig_bad;

static void
sig_handler(int sig)
{
	int inside = in_epoch(sig_epoch);

	(void)sig;
	epoch_enter(sig_epoch);
	epoch_enter(sig_epoch);
	epoch_exit(sig_epoch);
	if (in_epoch(sig_epoch) == 0)
		sig_bad = 1;
	epoch_exit(sig_epoch);
	if (in_epoch(sig_epoch) != inside)
		sig_bad = 1;
	sig_hits++;
}

static void *
sig_reader(void *arg)
{
	int *stop = arg;

	while (LOAD(stop) == 0) {
		epoch_enter(sig_epoch);
		if (in_epoch(sig_epoch) != 1)
			sig_bad = 1;
		epoch_exit(sig_epoch);
		if (in_epoch(sig_epoch) != 0)
			sig_bad = 1;
	}
	return (NULL);
}

static void
signals(unsigned int flags)
{
	struct sigaction sa, old;
	int stop = 0;
	unsigned int i;
	pthread_t t;

	sig_hits = sig_bad = 0;
	sig_epoch = epoch_alloc("signals", flags);
	(void)memset(&sa, 0, sizeof(sa));
	sa.sa_handler = sig_handler;
	assert_int_equal(sigaction(SIGUSR1, &sa, &old), 0);
	spawn(&t, sig_reader, &stop);
	for (i = 0; i < 20000 / SLOW; i++) {
		assert_int_equal(pthread_kill(t, SIGUSR1), 0);
		if (i % 8 == 0)
			epoch_wait(sig_epoch);
	}
	STORE(&stop, 1);
	join(t);
	assert_true(sig_hits > 0);
	assert_int_equal(sig_bad, 0);
	assert_int_equal(sigaction(SIGUSR1, &old, NULL), 0);
	epoch_free(sig_epoch);
}

static void
test_signals(void **state)
{
	(void)state;
	signals(0);
	signals(EPOCH_ASYMMETRIC);
}

/* Threads that come and go give their records and queues back. */
struct short_lived {
	epoch_t		 s_epoch;
	unsigned int	 s_count;
};

static void *
short_lived(void *arg)
{
	struct short_lived *s = arg;

	epoch_enter(s->s_epoch);
	epoch_exit(s->s_epoch);
	count_call(s->s_epoch, &s->s_count);
	return (NULL);
}

static void
test_threads(void **state)
{
	struct short_lived s = { epoch_alloc("threads", 0), 0 };
	struct epoch_stats st;
	unsigned int i, j;
	pthread_t t[4];

	(void)state;
	for (i = 0; i < 250; i++) {
		for (j = 0; j < 4; j++)
			spawn(&t[j], short_lived, &s);
		for (j = 0; j < 4; j++)
			join(t[j]);
	}
	epoch_drain_callbacks(s.s_epoch);
	assert_int_equal(s.s_count, 1000);
	epoch_stats_get(s.s_epoch, &st);
	assert_true(st.es_records <= 24);	/* shared with former tests */
	epoch_free(s.s_epoch);
}

/* A destructor that runs after ours may still use the epoch. */
static pthread_key_t late_key;
static struct epoch *late_epoch;
static int late_runs;

static void
late_destructor(void *arg)
{
	epoch_enter(late_epoch);
	epoch_exit(late_epoch);
	late_runs++;
	if (late_runs == 1)
		(void)pthread_setspecific(late_key, arg);
}

static void *
late_thread(void *arg)
{
	(void)pthread_setspecific(late_key, arg);
	epoch_enter(late_epoch);
	epoch_exit(late_epoch);
	return (NULL);
}

static void
test_late_destructor(void **state)
{
	pthread_t t;

	(void)state;
	late_epoch = epoch_alloc("late", 0);
	assert_int_equal(pthread_key_create(&late_key, late_destructor), 0);
	spawn(&t, late_thread, &late_runs);
	join(t);
	assert_int_equal(late_runs, 2);
	(void)pthread_key_delete(late_key);
	epoch_wait(late_epoch);		/* no record left inside */
	epoch_free(late_epoch);
}

static void
wait_child(pid_t pid)
{
	int status;

	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/*
 * Fork while another thread is in a section and callbacks are queued: the
 * child can enter, wait, run what was queued, and use a reclaim thread.
 */
static void
fork_child(epoch_t e, unsigned int *count)
{
	unsigned int own = 0;
	int i;

	alarm(20);
	epoch_enter(e);
	epoch_exit(e);
	epoch_wait(e);			/* the other's section is gone */
	epoch_drain_callbacks(e);
	if (*count != 5)
		_exit(1);
	count_call(e, &own);
	for (i = 0; i < 5000 && LOAD(&own) == 0; i++)
		nap(1000);
	_exit(LOAD(&own) == 1 ? 0 : 2);
}

static void
test_fork(void **state)
{
	epoch_t e = epoch_alloc("fork", 0);
	unsigned int count = 0, i;
	struct reader r;
	pid_t pid;

	(void)state;
	reader_start(&r, e);
	for (i = 0; i < 5; i++)
		count_call(e, &count);
	nap(3000);			/* the reclaim thread has marked them */
	assert_int_equal(LOAD(&count), 0);
	pid = fork();
	if (pid == 0)
		fork_child(e, &count);
	wait_child(pid);
	assert_int_equal(LOAD(&count), 0);	/* ours are still held */
	reader_stop(&r);
	epoch_drain_callbacks(e);
	assert_int_equal(count, 5);
	epoch_free(e);
}

/* The child is in the section, too, and its writers wait for it alone. */
static void
test_fork_inside(void **state)
{
	epoch_t e = epoch_alloc("fork inside", 0);
	unsigned int count = 0;
	pid_t pid;

	(void)state;
	epoch_enter(e);
	epoch_enter(e);
	count_call(e, &count);
	pid = fork();
	if (pid == 0) {
		alarm(20);
		nap(5000);
		if (in_epoch(e) != 1 || count != 0)
			_exit(1);
		epoch_exit(e);
		if (in_epoch(e) != 1)
			_exit(2);
	}
	if (pid != 0)
		epoch_exit(e);
	epoch_exit(e);
	epoch_wait(e);
	epoch_drain_callbacks(e);
	if (pid == 0)
		_exit(in_epoch(e) == 0 && count == 1 ? 0 : 3);
	wait_child(pid);
	assert_int_equal(count, 1);
	epoch_free(e);
}

/* A callback forks: both processes go on with the rest of the batch. */
struct forker {
	struct epoch_context f_ctx;
	pid_t		 f_pid;
};

static void
fork_cb(epoch_context_t ctx)
{
	__containerof(ctx, struct forker, f_ctx)->f_pid = fork();
}

static void
test_fork_callback(void **state)
{
	epoch_t e = epoch_alloc("fork callback", EPOCH_POLLED);
	struct forker f = { .f_pid = -1 };
	unsigned int count = 0;

	(void)state;
	count_call(e, &count);
	epoch_call(e, fork_cb, &f.f_ctx);
	count_call(e, &count);
	epoch_drain_callbacks(e);
	if (f.f_pid == 0)
		alarm(20);
	count_call(e, &count);
	epoch_drain_callbacks(e);
	if (f.f_pid == 0)
		_exit(count == 3 ? 0 : 1);
	wait_child(f.f_pid);
	assert_int_equal(count, 3);
	epoch_free(e);
}

/*
 * Fork inside a section that a drain waits for: the drain must not hold up
 * the fork, since the section ends only after it.
 */
struct drainer {
	epoch_t		 d_epoch;
	unsigned int	 d_count;
	unsigned int	 d_called;
};

static void *
drainer_main(void *arg)
{
	struct drainer *d = arg;

	epoch_drain_callbacks(d->d_epoch);
	return (NULL);
}

static uint64_t
advances(epoch_t e)
{
	struct epoch_stats st;

	epoch_stats_get(e, &st);
	return (st.es_advances);
}

static void
fork_drain(unsigned int flags)
{
	struct drainer d = { epoch_alloc("fork drain", flags), 0, 0 };
	uint64_t before;
	pthread_t t;
	pid_t pid;

	count_call(d.d_epoch, &d.d_count);
	epoch_enter(d.d_epoch);
	before = advances(d.d_epoch);
	spawn(&t, drainer_main, &d);
	while (advances(d.d_epoch) == before)
		nap(100);
	(void)alarm(60);
	pid = fork();
	(void)alarm(pid == 0 ? 20 : 0);
	epoch_exit(d.d_epoch);
	if (pid == 0) {
		epoch_drain_callbacks(d.d_epoch);
		_exit(d.d_count == 1 ? 0 : 1);
	}
	join(t);
	assert_int_equal(d.d_count, 1);
	wait_child(pid);
	epoch_free(d.d_epoch);
}

static void
test_fork_drain(void **state)
{
	(void)state;
	fork_drain(EPOCH_POLLED);
	fork_drain(EPOCH_POLLED | EPOCH_ASYMMETRIC);
}

/*
 * A thread that is cancelled in a callback goes on to the end of the drain,
 * and one that waits for room in epoch_call() to that of the call.
 */
static void
cancel_cb(epoch_context_t ctx)
{
	(void)pthread_cancel(pthread_self());
	pthread_testcancel();
	count_cb(ctx);
}

static void *
cancel_drain(void *arg)
{
	struct drainer *d = arg;
	struct counted *c;

	c = malloc(sizeof(*c));
	assert_non_null(c);
	c->c_count = &d->d_count;
	epoch_call(d->d_epoch, cancel_cb, &c->c_ctx);
	count_call(d->d_epoch, &d->d_count);
	epoch_drain_callbacks(d->d_epoch);
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return (d);
}

static void *
cancel_call(void *arg)
{
	struct drainer *d = arg;
	struct epoch_stats st;

	(void)pthread_cancel(pthread_self());
	do {
		d->d_called++;
		count_call(d->d_epoch, &d->d_count);
		epoch_stats_get(d->d_epoch, &st);
	} while (st.es_throttled == 0);
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return (d);
}

static void
not_cancelled(struct drainer *d, void *(*body)(void *))
{
	void *result = NULL;
	pthread_t t;

	spawn(&t, body, d);
	assert_int_equal(pthread_join(t, &result), 0);
	assert_ptr_equal(result, d);	/* not PTHREAD_CANCELED */
}

static void
test_cancel(void **state)
{
	struct drainer d = { epoch_alloc("cancel", EPOCH_POLLED), 0, 0 };
	struct reader r;

	(void)state;
	not_cancelled(&d, cancel_drain);
	assert_int_equal(d.d_count, 2);
	(void)alarm(60);
	epoch_drain_callbacks(d.d_epoch);	/* nobody holds it */
	(void)alarm(0);
	epoch_free(d.d_epoch);

	d.d_epoch = epoch_alloc("cancel", 0);
	d.d_count = 0;
	reader_start(&r, d.d_epoch);
	not_cancelled(&d, cancel_call);
	reader_stop(&r);
	epoch_drain_callbacks(d.d_epoch);
	assert_int_equal(d.d_count, d.d_called);
	epoch_free(d.d_epoch);
}

/* Many threads inside at once: a wait ends after the last. */
#define	MANY		300U

static void *
waiter(void *arg)
{
	struct reader *r = arg;

	epoch_wait(r->r_epoch);
	STORE(&r->r_leave, 1);
	return (NULL);
}

static void
test_many(void **state)
{
	static struct reader r[MANY];
	struct reader w = { .r_epoch = epoch_alloc("many", 0) };
	struct epoch_stats st;
	unsigned int i;

	(void)state;
	for (i = 0; i < MANY; i++)
		reader_start(&r[i], w.r_epoch);
	spawn(&w.r_thread, waiter, &w);
	for (i = 0; i < MANY - 1; i++)
		reader_stop(&r[i]);
	nap(5000);
	assert_int_equal(LOAD(&w.r_leave), 0);
	reader_stop(&r[i]);
	join(w.r_thread);
	epoch_stats_get(w.r_epoch, &st);
	assert_true(st.es_records >= MANY);
	epoch_free(w.r_epoch);
}

#ifndef TEST_TSAN
/*
 * The blocks of threads that a child did not inherit are used again: in each
 * generation of forks as many new threads enter, and the places of all that
 * have ever been seen stay few.
 */
#define	CROWD		8U
#define	GENERATIONS	5U

static const void *blocks[4 * CROWD];
static unsigned int nblocks;

struct crowd {
	pthread_barrier_t c_all;
	const void	*c_self[CROWD];
	unsigned int	 c_next;
};

static void *
crowd_member(void *arg)
{
	struct crowd *c = arg;
	struct epoch_tracker et;
	unsigned int n;

	n = __atomic_fetch_add(&c->c_next, 1, __ATOMIC_RELAXED);
	NET_EPOCH_ENTER(et);
	c->c_self[n] = epoch_self;
	NET_EPOCH_EXIT(et);
	(void)pthread_barrier_wait(&c->c_all);
	(void)pthread_barrier_wait(&c->c_all);
	return (NULL);
}

static void
block_seen(const void *block)
{
	unsigned int i;

	for (i = 0; i < nblocks; i++) {
		if (blocks[i] == block)
			return;
	}
	if (nblocks < 4 * CROWD)
		blocks[nblocks++] = block;
}

/* Fork with a crowd about, and go on in the child; 0: all is well. */
static int
generation(unsigned int left)
{
	struct crowd c = { .c_next = 0 };
	pthread_t t[CROWD];
	unsigned int i;
	int status;
	pid_t pid;

	(void)pthread_barrier_init(&c.c_all, NULL, CROWD + 1);
	for (i = 0; i < CROWD; i++) {
		if (pthread_create(&t[i], NULL, crowd_member, &c) != 0)
			return (1);
	}
	(void)pthread_barrier_wait(&c.c_all);
	for (i = 0; i < CROWD; i++)
		block_seen(c.c_self[i]);
	pid = left != 0 ? fork() : -1;
	if (pid == 0)
		_exit(generation(left - 1));
	(void)pthread_barrier_wait(&c.c_all);
	for (i = 0; i < CROWD; i++)
		(void)pthread_join(t[i], NULL);
	if (pid < 0)
		return (nblocks <= 2 * CROWD ? 0 : 2);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return (3);
	return (WEXITSTATUS(status));
}

static void
test_fork_blocks(void **state)
{
	(void)state;
	assert_int_equal(generation(GENERATIONS), 0);
}
#endif /* !TEST_TSAN */

/* A thread that ends inside, at any depth of calls, holds nobody up. */
static void *
ends_inside(void *arg)
{
	epoch_enter((epoch_t)arg);
	epoch_enter((epoch_t)arg);
	pthread_exit(NULL);
}

static void
quiet(const char *msg)
{
	assert_non_null(strstr(msg, "ends inside"));
}

static void
test_ends_inside(void **state)
{
	epoch_t e = epoch_alloc("ends inside", 0);
	epoch_report_t old = epoch_set_panic_handler(quiet);
	struct epoch_stats st;
	pthread_t t;

	(void)state;
	spawn(&t, ends_inside, e);
	join(t);
	epoch_wait(e);
	epoch_stats_get(e, &st);
	assert_int_equal(st.es_abandoned, 1);
	(void)epoch_set_panic_handler(old);
	epoch_free(e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_late_destructor),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_fork_inside),
		cmocka_unit_test(test_fork_callback),
#ifndef TEST_TSAN	/* a child's threads have ids that it thinks are in use */
		cmocka_unit_test(test_fork_blocks),
#endif
		cmocka_unit_test(test_fork_drain),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_ends_inside),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
