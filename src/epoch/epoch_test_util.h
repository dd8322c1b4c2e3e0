/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * What libepoch's tests share: time, threads, draws from a seed, and objects
 * that count themselves when they are freed.
 * Random rounds print their seed and take it from NETEPOCH_SEED.
 */
#ifndef EPOCH_TEST_UTIL_H
#define	EPOCH_TEST_UTIL_H

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
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <netepoch/epoch.h>

/* gcc and clang say differently that a sanitizer is on. */
#if defined(__SANITIZE_THREAD__)
#define	TEST_TSAN
#elif defined(__SANITIZE_ADDRESS__)
#define	TEST_ASAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define	TEST_TSAN
#elif __has_feature(address_sanitizer)
#define	TEST_ASAN
#endif
#endif

/* They slow everything down by about this much. */
#if defined(TEST_TSAN) || defined(TEST_ASAN)
#define	SLOW	10U
#else
#define	SLOW	1U
#endif

#define	__containerof(p, type, member)					\
	((type *)(void *)((char *)(p) - offsetof(type, member)))

#define	LOAD(p)		__atomic_load_n((p), __ATOMIC_SEQ_CST)
#define	STORE(p, v)	__atomic_store_n((p), (v), __ATOMIC_SEQ_CST)

static inline uint64_t
rnd(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (*state);
}

static inline uint64_t
now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec);
}

static inline void
nap(long us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	(void)nanosleep(&ts, NULL);
}

static inline void
spawn(pthread_t *t, void *(*body)(void *), void *arg)
{
	assert_int_equal(pthread_create(t, NULL, body, arg), 0);
}

static inline void
join(pthread_t t)
{
	assert_int_equal(pthread_join(t, NULL), 0);
}

/* The seed of this run, printed. */
static inline uint64_t
seed_get(void)
{
	const char *env = getenv("NETEPOCH_SEED");
	uint64_t seed;

	seed = env != NULL ? strtoull(env, NULL, 0) : now_ns();
	print_message("NETEPOCH_SEED=%llu\n", (unsigned long long)seed);
	return (seed);
}

/* Counts itself when it is freed. */
struct counted {
	struct epoch_context c_ctx;
	unsigned int	*c_count;
};

static inline void
count_cb(epoch_context_t ctx)
{
	struct counted *c = __containerof(ctx, struct counted, c_ctx);

	(void)__atomic_add_fetch(c->c_count, 1, __ATOMIC_RELAXED);
	free(c);
}

static inline void
count_call(epoch_t e, unsigned int *count)
{
	struct counted *c;

	c = malloc(sizeof(*c));
	assert_non_null(c);
	c->c_count = count;
	epoch_call(e, count_cb, &c->c_ctx);
}

/* A thread that is inside e until told to leave. */
struct reader {
	epoch_t		 r_epoch;
	int		 r_inside;	/* its thread id, once inside */
	int		 r_leave;
	pthread_t	 r_thread;
};

static inline void *
reader_main(void *arg)
{
	struct reader *r = arg;

	(void)pthread_setname_np(pthread_self(), "sleepy reader");
	epoch_enter(r->r_epoch);
	STORE(&r->r_inside, (int)gettid());
	while (LOAD(&r->r_leave) == 0)
		nap(1000);
	epoch_exit(r->r_epoch);
	return (NULL);
}

static inline void
reader_start(struct reader *r, epoch_t e)
{
	r->r_epoch = e;
	r->r_inside = r->r_leave = 0;
	spawn(&r->r_thread, reader_main, r);
	while (LOAD(&r->r_inside) == 0)
		nap(100);
}

static inline void
reader_stop(struct reader *r)
{
	STORE(&r->r_leave, 1);
	join(r->r_thread);
}

#endif /* EPOCH_TEST_UTIL_H */
