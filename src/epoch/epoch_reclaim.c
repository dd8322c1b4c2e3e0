/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The reclaim thread: one per process, started by the first epoch_call() or
 * epoch_set_stall() on an epoch that is not EPOCH_POLLED.  It blocks all
 * signals.
 *
 * It sleeps for a tick while callbacks wait for readers, until the next look
 * for stalls when there are none, and without limit when nobody asked for
 * those.  A producer looks at its queue's q_wake after it has
 * stored its place, without a fence; so before the long sleep we set all of
 * these, run the producers' half of the fence by membarrier(2), and look
 * again.  A producer clears its flag before it kicks, and the kick makes us
 * come round and set it anew.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "epoch_private.h"

#define	RECLAIM_BLIND_NS 100000000	/* idle sleep without membarrier(2) */

static uint32_t epoch_reclaim_kicks;	/* (a) futex: work was announced */
static uint32_t epoch_reclaim_asleep;	/* (a) somebody to wake */
static bool epoch_reclaim_started;	/* (l, read a) relaxed */

static void
epoch_reclaim_sleep(uint32_t seen, const struct timespec *ts)
{
	__atomic_store_n(&epoch_reclaim_asleep, 1, __ATOMIC_SEQ_CST);
	(void)syscall(SYS_futex, &epoch_reclaim_kicks, FUTEX_WAIT_PRIVATE,
	    seen, ts, NULL, 0);
	__atomic_store_n(&epoch_reclaim_asleep, 0, __ATOMIC_RELAXED);
}

/* Every call on an epoch of ours is to wake us. */
static void
epoch_reclaim_wakes(void)
{
	unsigned int i;

	for (i = 0; i < EPOCH_MAX; i++)
		epoch_queues_wake(&epoch_slots[i]);
}

/* One look at every epoch.  False when nothing is left to do. */
static bool
epoch_reclaim_pass(size_t *ran)
{
	struct epoch_slot *es;
	bool busy = false;
	unsigned int i;

	for (i = 0; i < EPOCH_MAX; i++) {
		es = &epoch_slots[i];
		if (__atomic_load_n(&es->es_inuse, __ATOMIC_ACQUIRE) == 0 ||
		    (epoch_slot_flags(es) & EPOCH_POLLED) != 0)
			continue;
		*ran += epoch_reclaim(es, &busy);
	}
	return (busy);
}

/* Nothing queued: sleep until the next epoch_call(), or for ns if not 0. */
static void
epoch_reclaim_idle(uint32_t seen, uint64_t ns)
{
	struct timespec ts;
	size_t ran = 0;

	epoch_reclaim_wakes();
	if (epoch_heavy_barrier_works())
		epoch_heavy_barrier(NULL);
	else if (ns == 0 || ns > RECLAIM_BLIND_NS)
		ns = RECLAIM_BLIND_NS;
	ts.tv_sec = (time_t)(ns / 1000000000);
	ts.tv_nsec = (long)(ns % 1000000000);
	if (!epoch_reclaim_pass(&ran) && ran == 0)
		epoch_reclaim_sleep(seen, ns != 0 ? &ts : NULL);
}

static void *
epoch_reclaim_main(void *arg)
{
	const struct timespec tick = { 0, EPOCH_TICK_NS };
	uint64_t next;
	uint32_t seen;
	size_t ran;
	bool busy;

	(void)arg;
	(void)pthread_setname_np(pthread_self(), "epoch reclaim");
	for (;;) {
		seen = __atomic_load_n(&epoch_reclaim_kicks, __ATOMIC_ACQUIRE);
		ran = 0;
		busy = epoch_reclaim_pass(&ran);
		next = epoch_stall_looks();
		if (ran != 0)
			continue;
		if (busy)
			epoch_reclaim_sleep(seen, &tick);
		else
			epoch_reclaim_idle(seen, next);
	}
	return (NULL);
}

static void
epoch_reclaim_start(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t set;

	epoch_lock_enter(&set);
	if (!epoch_reclaim_started) {
		/* All signals are blocked here, and the thread inherits that. */
		(void)pthread_attr_init(&attr);
		(void)pthread_attr_setdetachstate(&attr,
		    PTHREAD_CREATE_DETACHED);
		if (pthread_create(&thread, &attr, epoch_reclaim_main,
		    NULL) == 0)
			__atomic_store_n(&epoch_reclaim_started, true,
			    __ATOMIC_RELAXED);
		(void)pthread_attr_destroy(&attr);
	}
	epoch_lock_exit(&set);
}

/* Announce work, and wake or start the thread. */
void
epoch_reclaim_kick(void)
{
	if (!__atomic_load_n(&epoch_reclaim_started, __ATOMIC_RELAXED))
		epoch_reclaim_start();
	(void)__atomic_add_fetch(&epoch_reclaim_kicks, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&epoch_reclaim_asleep, __ATOMIC_SEQ_CST) != 0)
		(void)syscall(SYS_futex, &epoch_reclaim_kicks,
		    FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* The thread did not survive; the first call in the child starts another. */
void
epoch_reclaim_forked(void)
{
	epoch_reclaim_started = false;
	epoch_reclaim_asleep = 0;
	epoch_reclaim_wakes();
}
