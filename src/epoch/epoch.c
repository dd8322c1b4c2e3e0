/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * Epochs and grace periods.
 *
 * A slot is an epoch: a 64-bit value that writers bump, and the records in
 * which threads publish the value they entered at.  A grace period is one
 * bump and one scan: wait until each record is 0 or at least the new value.
 * Because the value never wraps, a record that is at least the goal proves
 * that its thread entered after the bump, so a second step is not needed.
 *
 * Slots are static and never unmapped; records stay with their slot when an
 * epoch is freed, and the next epoch of the slot goes on with them.
 *
 * Runs on any thread, outside the epoch it waits for.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "epoch_private.h"

#define	EPOCH_SPINS	32U		/* pauses between looks at the clock */
#define	EPOCH_SPIN_NS	150000U		/* pauses before the first yield */
#define	EPOCH_YIELD_NS	1000000U	/* yields before the first sleep */
#define	EPOCH_SLEEP_NS	50000		/* shortest sleep */
#define	EPOCH_SLEEP_MAX	20U		/* in units of the shortest */

#define	EPOCH_FLAGS	(EPOCH_PREEMPT | EPOCH_LOCKED | EPOCH_ASYMMETRIC | \
	EPOCH_POLLED | EPOCH_HELP)

/* Aligned to their size: their address in it is what tells them apart. */
struct epoch epoch_all[EPOCH_MAX] __attribute__((aligned(EPOCH_PAGE))) = {
	[0] = { .e_value = 1, .e_flags = EPOCH_NET_FLAGS | EPOCH_LIVE },
};

_Static_assert(EPOCH_PAGE == 4096, "more than loaders align to");

struct epoch_slot epoch_slots[EPOCH_MAX] = {
	[0] = {
		.es_epoch = &epoch_all[0],
		.es_base = 1,
		.es_name = "Net preemptible",
		.es_inuse = 1,
	},
};

struct epoch *const net_epoch_preempt = &epoch_all[0];

static bool epoch_membarrier;		/* (c) after the constructor */

uint64_t
epoch_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec);
}

/* Once in a process, and again in the child of a fork. */
void
epoch_heavy_barrier_register(void)
{
	epoch_membarrier = syscall(SYS_membarrier,
	    MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
	if (!epoch_membarrier)
		epoch_all[0].e_flags &= ~EPOCH_ASYMMETRIC;
}

bool
epoch_heavy_barrier_works(void)
{
	return (epoch_membarrier);
}

/*
 * The reader's half of the barrier, run for it on every CPU where a thread of
 * this process runs.  A sleeping thread passed a barrier when it was switched
 * out.  Pairs with the signal fence in epoch_publish().
 *
 * ThreadSanitizer does not know it, and nothing is annotated: what it follows,
 * the release of an exit or a later entry and the acquire of a scan, is the
 * same in both kinds.  The barrier decides what the scan reads, no more.
 * epoch_tsan_test.c shows that it finds a missing wait.
 */
void
epoch_heavy_barrier(struct epoch_slot *es)
{
	if (es != NULL)
		epoch_count(&es->es_stats.es_membarriers, 1);
	(void)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

static void
epoch_slot_init(struct epoch_slot *es, const char *name, unsigned int flags)
{
	/* Value, records and queues go on from the slot's former life. */
	if ((flags & EPOCH_ASYMMETRIC) != 0 && !epoch_membarrier)
		flags &= ~EPOCH_ASYMMETRIC;
	/* The reclaimer may still look at the slot's former life. */
	__atomic_store_n(&es->es_epoch->e_flags, flags | EPOCH_LIVE,
	    __ATOMIC_RELAXED);
	epoch_queues_wake(es);
	(void)strncpy(es->es_name, name, sizeof(es->es_name) - 1);
	es->es_name[sizeof(es->es_name) - 1] = '\0';
	es->es_base = es->es_epoch->e_value;
	__atomic_store_n(&es->es_stall_ns, 0, __ATOMIC_RELAXED);
	es->es_stall_cb = NULL;
	es->es_stall_arg = NULL;
	(void)memset(&es->es_stats, 0, sizeof(es->es_stats));
}

/*
 * Make an epoch.  The name is copied (31 bytes are kept); flags are EPOCH_*.
 * NULL with errno EINVAL for a missing name or bad flags, ENFILE when all
 * EPOCH_MAX are in use.  Where the kernel has no membarrier(2),
 * EPOCH_ASYMMETRIC is dropped: see epoch_flags().
 */
epoch_t
epoch_alloc(const char *name, unsigned int flags)
{
	struct epoch_slot *es = NULL;
	sigset_t set;
	unsigned int i;

	if (name == NULL || (flags & ~EPOCH_FLAGS) != 0 ||
	    ((flags & EPOCH_LOCKED) != 0 && (flags & EPOCH_PREEMPT) == 0) ||
	    ((flags & EPOCH_HELP) != 0 && (flags & EPOCH_POLLED) == 0)) {
		errno = EINVAL;
		return (NULL);
	}
	epoch_lock_enter(&set);
	for (i = 0; i < EPOCH_MAX; i++) {
		if (epoch_slots[i].es_inuse == 0) {
			es = &epoch_slots[i];
			epoch_slot_init(es, name, flags);
			__atomic_store_n(&es->es_inuse, 1, __ATOMIC_RELEASE);
			break;
		}
	}
	epoch_lock_exit(&set);
	if (es == NULL) {
		errno = ENFILE;
		return (NULL);
	}
	return (es->es_epoch);
}

/*
 * Drain and give the slot back.  The caller has made sure that no thread
 * enters, calls or waits any more.  Callbacks that queue others are run until
 * none is left.  May sleep; never inside a section, nor in a callback.
 */
void
epoch_free(epoch_t e)
{
	struct epoch_slot *es;
	struct epoch_record *r;
	sigset_t set;

	if (!epoch_usable(e)) {
		epoch_unusable(e, "epoch_free");
		return;
	}
	es = epoch_slot(e);
	if (e == net_epoch_preempt) {
		epoch_panicf("epoch_free: \"%s\" is permanent", es->es_name);
		return;
	}
	if (epoch_td_busy("epoch_free", es))
		return;
	do
		epoch_drain_callbacks(e);
	while (epoch_backlog(es) != 0);
	for (r = __atomic_load_n(&e->e_records, __ATOMIC_ACQUIRE); r != NULL;
	    r = r->r_next) {
		if ((int64_t)__atomic_load_n(&r->r_value, __ATOMIC_ACQUIRE) >
		    0) {
			epoch_panicf("epoch_free: thread %d is inside \"%s\"",
			    (int)r->r_tid, es->es_name);
			return;
		}
	}
	/* The reclaimer looks at slots in use under es_mtx, or barred so. */
	epoch_stall_bar(es);
	(void)pthread_mutex_lock(&es->es_mtx);
	epoch_lock_enter(&set);
	__atomic_store_n(&e->e_flags, e->e_flags & ~EPOCH_LIVE,
	    __ATOMIC_RELAXED);
	__atomic_store_n(&es->es_inuse, 0, __ATOMIC_RELEASE);
	epoch_lock_exit(&set);
	(void)pthread_mutex_unlock(&es->es_mtx);
	epoch_stall_unbar(es);
}

const char *
epoch_name(epoch_t e)
{
	return (epoch_slot(e)->es_name);
}

/* The flags in force: EPOCH_ASYMMETRIC is absent where it cannot work. */
unsigned int
epoch_flags(epoch_t e)
{
	return (e->e_flags & ~EPOCH_LIVE);
}

/*
 * Give the reader r time.  Spin first, since most sections are short, and
 * without a look at the clock at first, since many are shorter than that;
 * then yield, since the reader may be preempted on this very CPU; then sleep.
 */
void
epoch_backoff(struct epoch_slot *es, struct epoch_backoff *eb,
    struct epoch_record *r)
{
	struct timespec ts = { 0, 0 };
	uint64_t age;

	epoch_pause();
	if (eb->eb_spins++ % EPOCH_SPINS != EPOCH_SPINS - 1)
		return;
	if (eb->eb_start == 0) {
		eb->eb_start = epoch_now();
		return;
	}
	age = epoch_now() - eb->eb_start;
	if (age < EPOCH_SPIN_NS)
		return;
	eb->eb_spins = EPOCH_SPINS - 1;	/* from now on look each time */
	epoch_count(&es->es_stats.es_switches, 1);
	if (age < EPOCH_YIELD_NS) {
		(void)sched_yield();
		return;
	}
	epoch_stall_note(es, r, age);
	if (eb->eb_sleeps < EPOCH_SLEEP_MAX)
		eb->eb_sleeps++;
	ts.tv_nsec = (long)eb->eb_sleeps * EPOCH_SLEEP_NS;
	(void)nanosleep(&ts, NULL);
}

/* What eb waited for is over: what did it wait for, and how long? */
void
epoch_backoff_end(struct epoch_slot *es, const struct epoch_backoff *eb)
{
	uint64_t took;

	epoch_count(&es->es_stats.es_nblocked, 1);
	if (eb->eb_start == 0)
		return;
	took = epoch_now() - eb->eb_start;
	epoch_count_max(&es->es_stats.es_longest_grace, took);
	epoch_count_max(&es->es_stats.es_longest_section, took);
}

/* e is not for use, by the function named. */
__attribute__((cold)) void
epoch_unusable(epoch_t e, const char *func)
{
	if ((uintptr_t)e - (uintptr_t)epoch_all >= EPOCH_PAGE)
		epoch_panicf("%s: no such epoch", func);
	else
		epoch_panicf("%s: epoch %u is not in use", func,
		    epoch_index(epoch_slot(e)));
}

/* The rest of a wait: r is the first record in the way of goal, or NULL. */
static __attribute__((noinline)) void
epoch_wait_rest(epoch_t e, struct epoch_record *r, uint64_t goal,
    const char *func)
{
	struct epoch_slot *es = epoch_slot(e);
	struct epoch_backoff eb = { 0, 0, 0 };

	/* Not left to debug builds: it would wait for itself for ever. */
	if (epoch_section_inside(epoch_section_self(e))) {
		epoch_panicf("%s: inside a section of \"%s\"", func,
		    es->es_name);
		return;
	}
	if (r != NULL) {
		do
			epoch_backoff(es, &eb, r);
		while (!epoch_goal_passed(&r, goal));
		epoch_backoff_end(es, &eb);
	}
	EPOCH_LIB_PROBE1(wait__end, e);
}

/* A wait that is more than a scan: after the readers' half of the barrier. */
static __attribute__((noinline)) void
epoch_wait_heavy(epoch_t e, uint64_t goal, const char *func)
{
	struct epoch_record *r;

	if (!epoch_usable(e)) {
		epoch_unusable(e, func);
		return;
	}
	epoch_heavy_barrier(epoch_slot(e));
	r = __atomic_load_n(&e->e_records, __ATOMIC_ACQUIRE);
	(void)epoch_goal_passed(&r, goal);
	epoch_wait_rest(e, r, goal, func);
}

/*
 * With no reader inside this takes some 35 ns, half of them the bump, which
 * waits for all stores before it: so nothing is saved on the stack, and what
 * needs that is called last.  A thread that is inside is in its own way, and
 * so need not be looked for before.
 */
static inline void
epoch_wait_any(epoch_t e, const char *func)
{
	struct epoch_record *r;
	uint64_t goal;

	if (epoch_debug_wait(func, e))
		return;
	EPOCH_LIB_PROBE1(wait__start, e);
	goal = epoch_bump(e);
	if ((__atomic_load_n(&e->e_flags, __ATOMIC_RELAXED) &
	    (EPOCH_LIVE | EPOCH_ASYMMETRIC)) != EPOCH_LIVE) {
		epoch_wait_heavy(e, goal, func);
		return;
	}
	r = __atomic_load_n(&e->e_records, __ATOMIC_ACQUIRE);
	if (!epoch_goal_passed(&r, goal)) {
		epoch_wait_rest(e, r, goal, func);
		return;
	}
	EPOCH_LIB_PROBE1(wait__end, e);
}

/*
 * Wait until every section of a non-preemptible epoch that was open at the
 * call has ended.  Not inside a section.  It spins, then yields and sleeps.
 */
void
epoch_wait(epoch_t e)
{
	epoch_wait_any(e, "epoch_wait");
}

/* The same for an epoch made with EPOCH_PREEMPT.  May sleep. */
void
epoch_wait_preempt(epoch_t e)
{
	epoch_wait_any(e, "epoch_wait_preempt");
}
