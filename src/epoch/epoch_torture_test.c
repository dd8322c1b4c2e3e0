/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * Torture.  Readers walk two tables in sections that nest, cross and are cut
 * by signals whose handlers read too; writers replace nodes and wait or
 * defer; threads of a few steps come and go.  A node that is read after its
 * grace period shows a dead canary, or is found by ASan or TSan.
 *
 * Usage: epoch_torture_test [name...].  Steps are drawn from NETEPOCH_SEED,
 * which is printed; NETEPOCH_TORTURE_MS is the time for each scheme.
 */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <netepoch/epoch.h>

#include "epoch_torture.h"

#define	SLOTS		16U
#define	READERS		2
#define	WRITERS		2
#define	PATIENCE	40U
#define	DEAD		0xdeaddeaddeaddeadULL

static struct torture_node *table[TORTURE_DOMAINS][SLOTS];
static const struct torture_smr *smr;
static struct torture_node *graves;	/* broken schemes: kept to the end */
static uint64_t made, freed, reads, bad, seed, thread_ids;
static int stop;
static __thread uint64_t state;		/* of this thread's generator */
static __thread bool ready;		/* may a handler enter? */

static uint64_t
rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state);
}

static void
nap(uint64_t us)
{
	struct timespec ts = { 0, (long)us * 1000 };

	(void)nanosleep(&ts, NULL);
}

static void
count(uint64_t *what)
{
	(void)__atomic_add_fetch(what, 1, __ATOMIC_RELAXED);
}

static struct torture_node *
node_make(void)
{
	struct torture_node *n;

	n = calloc(1, sizeof(*n));
	if (n == NULL)
		abort();
	n->n_canary = rnd();
	n->n_check = ~n->n_canary;
	count(&made);
	return (n);
}

void
torture_reclaim(struct torture_node *n)
{
	count(&freed);
	if (!smr->s_broken) {
		n->n_canary = n->n_check = DEAD;
		free(n);
		return;
	}
	/* Readers may hold it, by intention: leave the memory to them. */
	__atomic_store_n(&n->n_canary, DEAD, __ATOMIC_RELAXED);
	__atomic_store_n(&n->n_check, DEAD, __ATOMIC_RELAXED);
	n->n_next = __atomic_load_n(&graves, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&graves, &n->n_next, n, true,
	    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		continue;
}

/* Plain loads, so that TSan sees them, unless the race is intended. */
static bool
node_alive(const struct torture_node *n)
{
	if (!smr->s_broken)
		return (n->n_canary == ~n->n_check);
	return (__atomic_load_n(&n->n_canary, __ATOMIC_RELAXED) ==
	    ~__atomic_load_n(&n->n_check, __ATOMIC_RELAXED));
}

/* Look at a node of domain d twice, inside a section of d. */
static void
look(int d, uint64_t draw)
{
	const struct torture_node *n;
	unsigned int delay;

	n = __atomic_load_n(&table[d][draw % SLOTS], __ATOMIC_ACQUIRE);
	if (!node_alive(n))
		count(&bad);
	for (delay = (draw >> 8) % 128; delay > 0; delay--)
		__asm__ volatile("" ::: "memory");
	if (!node_alive(n))
		count(&bad);
	count(&reads);
}

/* One reader's step: nested, or two domains crossed. */
static void
step_read(void)
{
	uint64_t draw = rnd();
	int d = (int)(draw >> 60) & 1;
	unsigned int i, depth = (draw >> 50) % 4;

	smr->s_enter(d);
	for (i = 0; i < depth; i++) {
		smr->s_enter(d);
		look(d, rnd());
	}
	look(d, draw);
	if ((draw >> 40) % 4 == 0) {
		smr->s_enter(1 - d);
		look(1 - d, rnd());
		look(d, rnd());
		while (depth > 0) {
			smr->s_exit(d);
			depth--;
		}
		smr->s_exit(d);		/* before the other: crossed */
		look(1 - d, rnd());
		smr->s_exit(1 - d);
		return;
	}
	for (; depth > 0; depth--) {
		smr->s_exit(d);
		look(d, rnd());
	}
	smr->s_exit(d);
}

/* One writer's step: replace, then wait and free, or defer. */
static void
step_write(void)
{
	uint64_t draw = rnd();
	int d = (int)(draw >> 60) & 1;
	struct torture_node *old;

	old = __atomic_exchange_n(&table[d][draw % SLOTS], node_make(),
	    __ATOMIC_ACQ_REL);
	if ((draw >> 40) % 64 == 0) {
		smr->s_wait(d);
		torture_reclaim(old);
	} else {
		smr->s_defer(d, old);
	}
	if ((draw >> 20) % 32 == 0)
		smr->s_poll(d);
	if ((draw >> 30) % 64 == 0)
		nap((draw >> 50) % 64);
}

static void
handler(int sig)
{
	uint64_t kept = state;

	(void)sig;
	if (ready) {
		step_read();
		step_read();
	}
	state = kept;		/* the thread's own steps stay replayable */
}

/* Its steps depend on the seed and on its number alone. */
static void
thread_begin(const void *number)
{
	state = (seed + (uintptr_t)number) * 0x9e3779b97f4a7c15ULL | 1;
	smr->s_thread_init();
	ready = true;
}

static void
thread_end(void)
{
	ready = false;
	smr->s_thread_fini();
}

static void *
reader(void *arg)
{
	thread_begin(arg);
	while (__atomic_load_n(&stop, __ATOMIC_RELAXED) == 0)
		step_read();
	thread_end();
	return (NULL);
}

static void *
writer(void *arg)
{
	thread_begin(arg);
	while (__atomic_load_n(&stop, __ATOMIC_RELAXED) == 0)
		step_write();
	thread_end();
	return (NULL);
}

static void *
short_lived(void *arg)
{
	unsigned int n;

	thread_begin(arg);
	for (n = 1 + (unsigned int)(rnd() % 20); n > 0; n--) {
		if (rnd() % 4 == 0)
			step_write();
		else
			step_read();
	}
	thread_end();
	return (NULL);
}

/* Numbers are given here, in one order. */
static void
start(pthread_t *t, void *(*body)(void *))
{
	if (pthread_create(t, NULL, body, (void *)(uintptr_t)++thread_ids) !=
	    0)
		abort();
}

static uint64_t
now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000);
}

/* Signals and short-lived threads, from here; then everybody ends. */
static void
torture(uint64_t ms)
{
	pthread_t t[READERS + WRITERS], s;
	uint64_t end = now_ms() + ms;
	int i;

	stop = 0;
	for (i = 0; i < READERS + WRITERS; i++)
		start(&t[i], i < READERS ? reader : writer);
	while (now_ms() < end) {
		start(&s, short_lived);
		for (i = 0; i < READERS && smr->s_signals; i++)
			(void)pthread_kill(t[i], SIGUSR1);
		(void)pthread_join(s, NULL);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < READERS + WRITERS; i++)
		(void)pthread_join(t[i], NULL);
}

/* True if the scheme did as it should. */
static bool
run(const struct torture_smr *scheme, uint64_t ms)
{
	struct torture_node *n;
	unsigned int d, i;
	bool good;

	smr = scheme;
	made = freed = reads = bad = thread_ids = 0;
	state = seed | 1;
	smr->s_init();
	for (d = 0; d < TORTURE_DOMAINS; d++)
		for (i = 0; i < SLOTS; i++)
			table[d][i] = node_make();
	torture(ms);
	/* On a busy machine a mistake may take its time to show. */
	for (i = 0; i < PATIENCE && smr->s_broken && bad == 0; i++)
		torture(ms);
	smr->s_fini();
	for (d = 0; d < TORTURE_DOMAINS; d++)
		for (i = 0; i < SLOTS; i++)
			torture_reclaim(table[d][i]);
	while ((n = graves) != NULL) {
		graves = n->n_next;
		free(n);
	}
	good = made == freed && reads > 0 && (bad != 0) == smr->s_broken;
	(void)printf("%-22s %9llu reads %8llu nodes %llu kept %llu dead: %s\n",
	    smr->s_name, (unsigned long long)reads, (unsigned long long)made,
	    (unsigned long long)(made - freed), (unsigned long long)bad,
	    good ? "ok" : "WRONG");
	return (good);
}

/* libepoch, in its kinds. */
static epoch_t epochs[TORTURE_DOMAINS];
static unsigned int epochs_flags;

static void
ep_init(void)
{
	int i;

	for (i = 0; i < TORTURE_DOMAINS; i++) {
		epochs[i] = epoch_alloc("torture", epochs_flags);
		/* Looks for stalls, too: what they find is not news here. */
		epoch_set_stall(epochs[i], 1, NULL, NULL);
	}
}

static void
ep_init_asymmetric(void)
{
	epochs_flags = EPOCH_ASYMMETRIC;
	ep_init();
}

static void
ep_init_polled(void)
{
	epochs_flags = EPOCH_POLLED | EPOCH_HELP;
	ep_init();
}

static void
ep_init_mixed(void)
{
	epochs[0] = epoch_alloc("torture", 0);
	epochs[1] = epoch_alloc("torture", EPOCH_ASYMMETRIC | EPOCH_POLLED |
	    EPOCH_HELP);
}

static void
ep_fini(void)
{
	int i;

	for (i = 0; i < TORTURE_DOMAINS; i++)
		epoch_free(epochs[i]);
	epochs_flags = 0;
}

static void
ep_nothing(void)
{
}

static void
ep_enter(int d)
{
	epoch_enter(epochs[d]);
}

static void
ep_exit(int d)
{
	epoch_exit(epochs[d]);
}

static void
ep_wait(int d)
{
	epoch_wait(epochs[d]);
}

static void
ep_cb(epoch_context_t ctx)
{
	torture_reclaim((struct torture_node *)(void *)ctx);
}

static void
ep_defer(int d, struct torture_node *n)
{
	epoch_call(epochs[d], ep_cb, (epoch_context_t)(void *)n->n_hook);
}

static void
ep_poll(int d)
{
	(void)epoch_poll(epochs[d]);
}

/* Broken on purpose: no grace period before the free. */
static void
broken_wait(int d)
{
	(void)d;
}

static void
broken_defer(int d, struct torture_node *n)
{
	(void)d;
	torture_reclaim(n);
}

/* Broken on purpose: the section ends before the reading does. */
static void
broken_enter(int d)
{
	epoch_enter(epochs[d]);
	epoch_exit(epochs[d]);
}

static void
broken_exit(int d)
{
	(void)d;
}

#define	EP(name, init)							\
	{ name, false, true, init, ep_fini, ep_nothing, ep_nothing,	\
	    ep_enter, ep_exit, ep_wait, ep_defer, ep_poll }

static const struct torture_smr schemes[] = {
	EP("epoch", ep_init),
	EP("epoch asymmetric", ep_init_asymmetric),
	EP("epoch polled", ep_init_polled),
	EP("epoch mixed", ep_init_mixed),
	{ "broken: no wait", true, true, ep_init, ep_fini, ep_nothing,
	    ep_nothing, ep_enter, ep_exit, broken_wait, broken_defer,
	    ep_poll },
	{ "broken: early exit", true, true, ep_init_polled, ep_fini,
	    ep_nothing, ep_nothing, broken_enter, broken_exit, ep_wait,
	    ep_defer, ep_poll },
	{ .s_name = NULL },
};

/* A debug build reports each recursion of the reader once: not news here. */
static void
quiet(const char *msg)
{
	(void)msg;
}

static bool
wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (strncmp(name, argv[i], strlen(argv[i])) == 0)
			return (true);
	}
	return (argc < 2);
}

static uint64_t
number(const char *env, uint64_t other)
{
	const char *value = getenv(env);

	return (value != NULL ? strtoull(value, NULL, 0) : other);
}

int
main(int argc, char **argv)
{
	const struct torture_smr *s;
	struct sigaction sa;
	struct timespec ts;
	bool good = true;
	uint64_t ms;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	seed = number("NETEPOCH_SEED", (uint64_t)ts.tv_nsec);
	ms = number("NETEPOCH_TORTURE_MS", 500);
	(void)printf("NETEPOCH_SEED=%llu\n", (unsigned long long)seed);
	(void)epoch_set_report_handler(quiet);
	(void)memset(&sa, 0, sizeof(sa));
	sa.sa_handler = handler;
	(void)sigaction(SIGUSR1, &sa, NULL);
	for (s = schemes; s->s_name != NULL; s++) {
		if (wanted(s->s_name, argc, argv))
			good &= run(s, ms);
	}
	for (s = torture_peers; s->s_name != NULL; s++) {
		if (wanted(s->s_name, argc, argv))
			good &= run(s, ms / 2);
	}
	return (good ? 0 : 1);
}
