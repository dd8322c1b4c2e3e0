/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * What broke other reclamation libraries, and what a process may do to this
 * one: references from zero, reclaiming inside a section, waits among idle
 * and busy readers, signals, forks, threads that come and go, stalls.
 * Random rounds print their seed and take it from NETEPOCH_SEED.
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <netepoch/epoch.h>

/* Sanitizers slow everything down by about this much. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define	SLOW	10U
#else
#define	SLOW	1U
#endif

#ifdef __SANITIZE_THREAD__
/* The forked child of test_fork starts a thread, which TSan refuses else. */
const char *__tsan_default_options(void);

const char *
__tsan_default_options(void)
{
	return ("die_after_fork=0");
}
#endif

#define	__containerof(p, type, member)					\
	((type *)(void *)((char *)(p) - offsetof(type, member)))

#define	LOAD(p)		__atomic_load_n((p), __ATOMIC_SEQ_CST)
#define	STORE(p, v)	__atomic_store_n((p), (v), __ATOMIC_SEQ_CST)

static uint64_t seed;

static uint64_t
rnd(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (*state);
}

static uint64_t
now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec);
}

static void
nap(long us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	(void)nanosleep(&ts, NULL);
}

static void
spawn(pthread_t *t, void *(*body)(void *), void *arg)
{
	assert_int_equal(pthread_create(t, NULL, body, arg), 0);
}

static void
join(pthread_t t)
{
	assert_int_equal(pthread_join(t, NULL), 0);
}

/*
 * An object is found by index in a section and then referenced, while
 * its owner drops the last reference and defers the free.
 */
struct k03_object {
	uint32_t	 o_refs;
	uint32_t	 o_dead;
	struct epoch_context o_ctx;
};

static struct k03_object *k03_table[16];
static int k03_stop;

static bool
k03_tryref(struct k03_object *o)
{
	uint32_t refs = __atomic_load_n(&o->o_refs, __ATOMIC_RELAXED);

	do {
		if (refs == 0)
			return (false);
	} while (!__atomic_compare_exchange_n(&o->o_refs, &refs, refs + 1,
	    true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
	return (true);
}

static void
k03_free_cb(epoch_context_t ctx)
{
	struct k03_object *o = __containerof(ctx, struct k03_object, o_ctx);

	assert_int_equal(__atomic_load_n(&o->o_refs, __ATOMIC_RELAXED), 0);
	o->o_dead = 1;
	free(o);
}

static void
k03_rele(struct k03_object *o)
{
	if (__atomic_sub_fetch(&o->o_refs, 1, __ATOMIC_ACQ_REL) == 0)
		NET_EPOCH_CALL(k03_free_cb, &o->o_ctx);
}

static void *
k03_writer(void *arg)
{
	struct k03_object *o, *old;
	unsigned int i;

	(void)arg;
	for (i = 0; i < 100000 / SLOW; i++) {
		o = calloc(1, sizeof(*o));
		o->o_refs = 1;
		old = __atomic_exchange_n(&k03_table[i % 16], o,
		    __ATOMIC_ACQ_REL);
		if (old != NULL)
			k03_rele(old);
	}
	STORE(&k03_stop, 1);
	return (NULL);
}

static void
test_k03(void **state)
{
	unsigned long found = 0, none = 0, i;
	struct k03_object *o;
	struct epoch_tracker et;
	pthread_t t;
	bool held;

	(void)state;
	spawn(&t, k03_writer, NULL);
	for (i = 0; i < 1000000 / SLOW || LOAD(&k03_stop) == 0; i++) {
		NET_EPOCH_ENTER(et);
		o = __atomic_load_n(&k03_table[i % 16], __ATOMIC_ACQUIRE);
		held = o != NULL && k03_tryref(o);
		NET_EPOCH_EXIT(et);
		if (!held) {
			none++;
			continue;
		}
		found++;
		assert_int_equal(o->o_dead, 0);
		k03_rele(o);
	}
	join(t);
	for (i = 0; i < 16; i++) {
		if (k03_table[i] != NULL)
			k03_rele(k03_table[i]);
		k03_table[i] = NULL;
	}
	NET_EPOCH_DRAIN_CALLBACKS();
	assert_true(found > 0);
	print_message("%lu lookups found an object, %lu none\n", found, none);
}

/* The refusal itself, without luck: unlinked, at zero, still in a section. */
static void
test_k03_zero(void **state)
{
	struct epoch_tracker et;
	struct k03_object *o;

	(void)state;
	o = calloc(1, sizeof(*o));
	assert_non_null(o);
	o->o_refs = 1;
	NET_EPOCH_ENTER(et);
	assert_true(k03_tryref(o));
	k03_rele(o);
	k03_rele(o);			/* the last: deferred */
	assert_false(k03_tryref(o));	/* and the object is still there */
	NET_EPOCH_EXIT(et);
	NET_EPOCH_DRAIN_CALLBACKS();
}

/* Polling in a section never runs what the section may hold. */
struct k07_object {
	uint64_t	 o_canary[8];
	struct epoch_context o_ctx;
};

static struct epoch *k07_epoch;
static int k07_stop;
static unsigned int k07_freed;

static void
k07_free_cb(epoch_context_t ctx)
{
	struct k07_object *o = __containerof(ctx, struct k07_object, o_ctx);

	(void)memset(o->o_canary, 0xdd, sizeof(o->o_canary));
	(void)__atomic_fetch_add(&k07_freed, 1, __ATOMIC_SEQ_CST);
	free(o);
}

static void *
k07_other(void *arg)
{
	(void)arg;
	while (LOAD(&k07_stop) == 0) {
		epoch_enter(k07_epoch);
		epoch_exit(k07_epoch);
		(void)epoch_poll(k07_epoch);
	}
	return (NULL);
}

static void
k07(unsigned int flags)
{
	struct k07_object *o;
	pthread_t t;
	int i, j;

	k07_epoch = epoch_alloc("k07", flags);
	STORE(&k07_stop, 0);
	STORE(&k07_freed, 0);
	spawn(&t, k07_other, NULL);
	for (i = 0; i < 300; i++) {
		o = malloc(sizeof(*o));
		assert_non_null(o);
		for (j = 0; j < 8; j++)
			o->o_canary[j] = 0x1234567 + (uint64_t)j;
		epoch_enter(k07_epoch);
		epoch_call(k07_epoch, k07_free_cb, &o->o_ctx);
		for (j = 0; j < 100; j++)
			assert_int_equal(epoch_poll(k07_epoch), 0);
		if (i % 10 == 0)
			nap(300);
		for (j = 0; j < 8; j++)
			assert_int_equal(o->o_canary[j],
			    0x1234567 + (uint64_t)j);
		epoch_exit(k07_epoch);
		if (i % 16 == 0)
			(void)epoch_poll(k07_epoch);
	}
	STORE(&k07_stop, 1);
	join(t);
	epoch_free(k07_epoch);
	assert_int_equal(k07_freed, 300);
}

static void
test_k07(void **state)
{
	(void)state;
	k07(EPOCH_POLLED);
	k07(EPOCH_POLLED | EPOCH_ASYMMETRIC);
	k07(0);
}

/*
 * Idle and busy records mixed; the wait is never early.  One reader
 * numbers its sections: what it was in when the wait began must be over.
 */
struct k08 {
	epoch_t		 k_epoch;
	uint64_t	 k_inside;	/* number of the open section, or 0 */
	uint64_t	 k_seed;
	int		 k_stop;
	int		 k_ready;
};

static void *
k08_idle(void *arg)
{
	struct k08 *k = arg;

	epoch_enter(k->k_epoch);
	epoch_exit(k->k_epoch);
	(void)__atomic_add_fetch(&k->k_ready, 1, __ATOMIC_SEQ_CST);
	while (LOAD(&k->k_stop) == 0)
		nap(1000);
	return (NULL);
}

static void *
k08_busy(void *arg)
{
	struct k08 *k = arg;
	uint64_t state = seed ^ (uintptr_t)&state;
	unsigned int n;

	(void)__atomic_add_fetch(&k->k_ready, 1, __ATOMIC_SEQ_CST);
	while (LOAD(&k->k_stop) == 0) {
		epoch_enter(k->k_epoch);
		for (n = (unsigned int)(rnd(&state) % 64); n > 0; n--)
			__asm__ volatile("" ::: "memory");
		epoch_exit(k->k_epoch);
		if (rnd(&state) % 64 == 0)
			nap((long)(rnd(&state) % 100));
	}
	return (NULL);
}

static void *
k08_long(void *arg)
{
	struct k08 *k = arg;
	uint64_t number = 0, state = k->k_seed;
	uint64_t end;

	(void)__atomic_add_fetch(&k->k_ready, 1, __ATOMIC_SEQ_CST);
	while (LOAD(&k->k_stop) == 0) {
		epoch_enter(k->k_epoch);
		STORE(&k->k_inside, ++number);
		end = now_ns() + rnd(&state) % 20000;
		while (now_ns() < end)
			continue;
		STORE(&k->k_inside, 0);
		epoch_exit(k->k_epoch);
		end = now_ns() + rnd(&state) % 5000;
		while (now_ns() < end)
			continue;
	}
	return (NULL);
}

static void
k08(unsigned int flags, unsigned int rounds)
{
	struct k08 k = { epoch_alloc("k08", flags), 0, seed | 1, 0, 0 };
	uint64_t before, state = seed | 1;
	unsigned int i, caught = 0;
	pthread_t t[8];

	for (i = 0; i < 4; i++)
		spawn(&t[i], k08_idle, &k);
	for (; i < 7; i++)
		spawn(&t[i], k08_busy, &k);
	spawn(&t[7], k08_long, &k);
	while (LOAD(&k.k_ready) != 8)
		nap(100);
	for (i = 0; i < rounds; i++) {
		before = LOAD(&k.k_inside);
		epoch_wait(k.k_epoch);
		if (before != 0) {
			caught++;
			assert_int_not_equal(LOAD(&k.k_inside), before);
		}
		if (rnd(&state) % 8 == 0)
			nap((long)(rnd(&state) % 50));
	}
	STORE(&k.k_stop, 1);
	for (i = 0; i < 8; i++)
		join(t[i]);
	epoch_free(k.k_epoch);
	print_message("%u of %u rounds began in a section\n", caught, rounds);
	assert_true(caught > 0);
}

static void
test_k08(void **state)
{
	(void)state;
	k08(0, 10000 / SLOW);
	k08(EPOCH_ASYMMETRIC, 2000 / SLOW);
}

/* The 50 ms section as it stands in the case, once. */
static void *
k08_50ms(void *arg)
{
	struct k08 *k = arg;

	epoch_enter(k->k_epoch);
	STORE(&k->k_ready, 1);
	nap(50000);
	STORE(&k->k_inside, 2);
	epoch_exit(k->k_epoch);
	return (NULL);
}

static void
test_k08_50ms(void **state)
{
	struct k08 k = { epoch_alloc("k08", 0), 1, 1, 0, 0 };
	struct epoch_stats st;
	pthread_t t;

	(void)state;
	spawn(&t, k08_50ms, &k);
	while (LOAD(&k.k_ready) == 0)
		nap(100);
	epoch_wait(k.k_epoch);
	assert_int_equal(LOAD(&k.k_inside), 2);
	join(t);
	epoch_stats_get(k.k_epoch, &st);
	assert_true(st.es_longest_grace > 30000000);
	assert_true(st.es_longest_section > 30000000);
	assert_int_equal(st.es_nblocked, 1);
	epoch_free(k.k_epoch);
}

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
struct counted {
	struct epoch_context c_ctx;
	unsigned int	*c_count;
};

static void
count_cb(epoch_context_t ctx)
{
	struct counted *c = __containerof(ctx, struct counted, c_ctx);

	(void)__atomic_add_fetch(c->c_count, 1, __ATOMIC_RELAXED);
	free(c);
}

static void
count_call(epoch_t e, unsigned int *count)
{
	struct counted *c;

	c = malloc(sizeof(*c));
	assert_non_null(c);
	c->c_count = count;
	epoch_call(e, count_cb, &c->c_ctx);
}

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

/* A stalled reader is named once, and the program can do something. */
struct stall {
	epoch_t		 s_epoch;
	int		 s_inside, s_leave;
	int		 s_reports;
	int		 s_tid;
	char		 s_thread[32];
};

static void
stall_handler(const struct epoch_stall *st, void *arg)
{
	struct stall *s = arg;

	assert_ptr_equal(st->st_epoch, s->s_epoch);
	assert_string_equal(st->st_name, "stall");
	assert_true(st->st_age >= 20000000);
	(void)snprintf(s->s_thread, sizeof(s->s_thread), "%s", st->st_thread);
	s->s_tid = st->st_tid;
#ifdef INVARIANTS
	assert_non_null(strstr(st->st_file, "epoch_cases_test.c"));
	assert_true(st->st_line > 0);
#endif
	s->s_reports++;
	nap(5000);
	STORE(&s->s_leave, 1);
}

static void *
stall_reader(void *arg)
{
	struct stall *s = arg;

	(void)pthread_setname_np(pthread_self(), "sleepy reader");
	epoch_enter(s->s_epoch);
	STORE(&s->s_inside, (int)gettid());
	while (LOAD(&s->s_leave) == 0)
		nap(1000);
	nap(20000);		/* the wait goes on; no second report */
	epoch_exit(s->s_epoch);
	return (NULL);
}

static void
test_stall(void **state)
{
	struct stall s = { epoch_alloc("stall", 0), 0, 0, 0, 0, "" };
	struct epoch_stats st;
	pthread_t t;

	(void)state;
	epoch_set_stall(s.s_epoch, 20, stall_handler, &s);
	spawn(&t, stall_reader, &s);
	while (LOAD(&s.s_inside) == 0)
		nap(100);
	epoch_wait(s.s_epoch);
	assert_int_equal(s.s_reports, 1);
	assert_int_equal(s.s_tid, s.s_inside);
	assert_string_equal(s.s_thread, "sleepy reader");
	join(t);
	epoch_stats_get(s.s_epoch, &st);
	assert_int_equal(st.es_stalls, 1);
	epoch_free(s.s_epoch);
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
	struct stall s = { epoch_alloc("fork", 0), 0, 0, 0, 0, "" };
	unsigned int count = 0, i;
	int status;
	pthread_t t;
	pid_t pid;

	(void)state;
	spawn(&t, stall_reader, &s);
	while (LOAD(&s.s_inside) == 0)
		nap(100);
	for (i = 0; i < 5; i++)
		count_call(s.s_epoch, &count);
	nap(3000);			/* the reclaim thread has marked them */
	assert_int_equal(LOAD(&count), 0);
	pid = fork();
	if (pid == 0)
		fork_child(s.s_epoch, &count);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(LOAD(&count), 0);	/* ours are still held */
	STORE(&s.s_leave, 1);
	join(t);
	epoch_drain_callbacks(s.s_epoch);
	assert_int_equal(count, 5);
	epoch_free(s.s_epoch);
}

static int
start(void **state)
{
	const char *env = getenv("NETEPOCH_SEED");

	(void)state;
	seed = env != NULL ? strtoull(env, NULL, 0) : now_ns();
	print_message("NETEPOCH_SEED=%llu\n", (unsigned long long)seed);
	return (0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_k03),
		cmocka_unit_test(test_k03_zero),
		cmocka_unit_test(test_k07),
		cmocka_unit_test(test_k08),
		cmocka_unit_test(test_k08_50ms),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_late_destructor),
		cmocka_unit_test(test_drains),
		cmocka_unit_test(test_million),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_stall),
		cmocka_unit_test(test_fork),
	};

	return (cmocka_run_group_tests(tests, start, NULL));
}
