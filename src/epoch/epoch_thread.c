/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * Threads: blocks, records and their way back at thread exit, and fork.
 *
 * A thread has one block with a record for each epoch in it.  A record goes
 * on its epoch's list at the first entry, and stays there: the block's next
 * thread finds it listed.  While no thread has entered by it, its value is
 * EPOCH_NOBODY, which no writer waits for.
 *
 * Nothing here calls malloc: the first entry of a thread may happen in a
 * signal handler.  Memory comes from mmap(2) in chunks, is never returned and
 * is reused through the free lists, so it is bounded by the highest number of
 * threads alive at once.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "epoch_private.h"

#define	EPOCH_CHUNK	65536UL

/* In place of a block: no queues, no records but the stand-in. */
static struct epoch_td epoch_nobody = {
	.td_pub.td_section[0 ... EPOCH_MAX - 1] = {
		.s_record.r_value = EPOCH_NOBODY,
		.s_queue = &epoch_noqueue.rq,
	},
};

__thread struct epoch_thread *epoch_self = &epoch_nobody.td_pub;

pthread_mutex_t epoch_lock = PTHREAD_MUTEX_INITIALIZER;

static struct epoch_td *epoch_td_free;	/* (l) */
static struct epoch_td *epoch_td_all;	/* (l) in use or free */
static char *epoch_mem;			/* (l) rest of the newest chunk */
static size_t epoch_mem_left;		/* (l) */
static pthread_key_t epoch_key;		/* (c) */
static sigset_t epoch_fork_set;		/* (l) held over a fork */
static uint64_t epoch_fork_held;	/* (l) slots whose es_mtx it holds */

void
epoch_lock_enter(sigset_t *old)
{
	sigset_t all;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, old);
	(void)pthread_mutex_lock(&epoch_lock);
}

void
epoch_lock_exit(const sigset_t *old)
{
	(void)pthread_mutex_unlock(&epoch_lock);
	(void)pthread_sigmask(SIG_SETMASK, old, NULL);
}

/* Entering cannot fail, so there is nobody to hand an error to. */
static void *
epoch_mem_map(size_t size)
{
	void *p;

	p = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		epoch_panicf("no memory for a thread's record");
		abort();
	}
	return (p);
}

/* Zeroed memory on lines of its own, with epoch_lock held. */
void *
epoch_mem_alloc(size_t size)
{
	void *p;

	size = (size + EPOCH_LINE - 1) & ~(size_t)(EPOCH_LINE - 1);
	if (size >= EPOCH_CHUNK)
		return (epoch_mem_map(size));
	if (size > epoch_mem_left) {
		epoch_mem = epoch_mem_map(EPOCH_CHUNK);
		epoch_mem_left = EPOCH_CHUNK;
	}
	p = epoch_mem;
	epoch_mem += size;
	epoch_mem_left -= size;
	return (p);
}

/* This thread's block, made or reused; epoch_lock held. */
static struct epoch_td *
epoch_td_attach(void)
{
	struct epoch_td *td = epoch_td_self();

	if (td != &epoch_nobody)
		return (td);
	td = epoch_td_free;
	if (td != NULL) {
		epoch_td_free = td->td_next;
	} else {
		td = epoch_mem_alloc(sizeof(*td));
		*td = epoch_nobody;
		td->td_link = epoch_td_all;
		epoch_td_all = td;
	}
	td->td_tid = gettid();
	(void)pthread_setspecific(epoch_key, td);
	epoch_self = &td->td_pub;
	return (td);
}

struct epoch_td *
epoch_td_get(void)
{
	struct epoch_td *td = epoch_td_self();
	sigset_t set;

	if (td != &epoch_nobody)
		return (td);
	epoch_lock_enter(&set);
	td = epoch_td_attach();
	epoch_lock_exit(&set);
	return (td);
}

/*
 * Make td's record count in es; epoch_lock held.  The barrier is full: a scan
 * that misses the record, or its owner, came before anything that the thread
 * will read in a section.
 */
static void
epoch_record_attach(struct epoch_slot *es, struct epoch_td *td,
    struct epoch_record *r)
{
	td->td_entered |= 1ULL << epoch_index(es);
	__atomic_store_n(&r->r_tid, td->td_tid, __ATOMIC_RELAXED);
	__atomic_store_n(&r->r_owner, (const void *)td, __ATOMIC_RELAXED);
	if (r->r_listed == 0) {
		r->r_listed = 1;
		r->r_next = es->es_epoch->e_records;
		__atomic_store_n(&es->es_epoch->e_records, r,
		    __ATOMIC_RELEASE);
	}
	(void)__atomic_exchange_n(&r->r_value, 0, __ATOMIC_SEQ_CST);
#if !defined(__x86_64__)
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/*
 * First entry of a thread into e: give it a record, and enter.  Called by the
 * inline functions, also from a signal handler.  Takes a mutex, briefly.
 */
void
epoch_enter_first(epoch_t e)
{
	struct epoch_slot *es = epoch_slot(e);
	struct epoch_section *s;
	struct epoch_td *td;
	sigset_t set;

	epoch_lock_enter(&set);
	td = epoch_td_attach();
	s = &td->td_pub.td_section[epoch_index(es)];
	/* A signal handler may have been here before us. */
	if (s->s_record.r_value == EPOCH_NOBODY)
		epoch_record_attach(es, td, &s->s_record);
	epoch_lock_exit(&set);
	epoch_publish(e, &s->s_record);
}

/* Is the thread in a section of any epoch?  Asked at each poll. */
bool
epoch_td_inside(const struct epoch_td *td)
{
	uint64_t left;

	for (left = td->td_entered; left != 0; left &= left - 1) {
		if (epoch_section_inside(
		    &td->td_pub.td_section[__builtin_ctzll(left)]))
			return (true);
	}
	return (false);
}

/*
 * Panic if this thread may not do what func does with es, because it is in a
 * section, or in a callback, which would wait for itself.
 */
bool
epoch_td_busy(const char *func, const struct epoch_slot *es)
{
	const struct epoch_td *td = epoch_td_self();

	if (td->td_running == NULL && !epoch_td_inside(td))
		return (false);
	epoch_panicf("%s(\"%s\"): inside a %s", func, es->es_name,
	    td->td_running != NULL ? "callback" : "section");
	return (true);
}

/* The block's thread is gone; epoch_lock held. */
static void
epoch_td_release(struct epoch_td *td)
{
	struct epoch_section *s;
	unsigned int i;

	for (i = 0; i < EPOCH_MAX; i++) {
		s = &td->td_pub.td_section[i];
		s->s_nested = 0;
		__atomic_store_n(&s->s_record.r_value, EPOCH_NOBODY,
		    __ATOMIC_RELEASE);
		__atomic_store_n(&s->s_record.r_owner, NULL, __ATOMIC_RELEASE);
		if (s->s_queue != &epoch_noqueue.rq)
			((struct epoch_ring *)(void *)s->s_queue)->rq_owner =
			    NULL;
		s->s_queue = &epoch_noqueue.rq;
	}
	td->td_running = NULL;
	td->td_entered = 0;
	td->td_trackers = NULL;
	td->td_stack_lo = td->td_stack_hi = 0;
	(void)memset(td->td_place, 0, sizeof(td->td_place));
	td->td_next = epoch_td_free;
	epoch_td_free = td;
}

/*
 * Thread exit: give records and queues back.  A section left open can protect
 * nothing any more, so it is closed; debug builds panic first.  A destructor
 * that runs later and enters again gets a block again, and we are called again.
 */
static void
epoch_td_exit(void *arg)
{
	struct epoch_td *td = arg;
	sigset_t set;
	unsigned int i;

	epoch_debug_exit_thread(td);
	epoch_lock_enter(&set);
	for (i = 0; i < EPOCH_MAX; i++) {
		if (epoch_section_depth(&td->td_pub.td_section[i]) != 0)
			epoch_count(&epoch_slots[i].es_stats.es_abandoned, 1);
	}
	epoch_self = &epoch_nobody.td_pub;
	epoch_td_release(td);
	epoch_lock_exit(&set);
}

/*
 * Fork.  The child keeps the forking thread, with the sections it is in, and
 * every callback that any thread had queued: the child has its own copies of
 * those objects.  No batch may be half run at the fork, so all reclaiming
 * stops for it, unless the forking thread is itself inside a callback.  Only
 * slots with queues have anything to reclaim.
 */
static bool
epoch_fork_wants(unsigned int i)
{
	return (__atomic_load_n(&epoch_slots[i].es_queues,
	    __ATOMIC_ACQUIRE) != NULL &&
	    epoch_td_self()->td_running != &epoch_slots[i]);
}

static void
epoch_fork_unlock(void)
{
	unsigned int i;

	epoch_lock_exit(&epoch_fork_set);
	for (i = 0; i < EPOCH_MAX; i++) {
		if ((epoch_fork_held & (1ULL << i)) != 0)
			(void)pthread_mutex_unlock(&epoch_slots[i].es_mtx);
	}
}

static void
epoch_fork_prepare(void)
{
	uint64_t held, want;
	unsigned int i;
	sigset_t set;

	for (;;) {
		held = want = 0;
		for (i = 0; i < EPOCH_MAX; i++) {
			if (!epoch_fork_wants(i))
				continue;
			(void)pthread_mutex_lock(&epoch_slots[i].es_mtx);
			held |= 1ULL << i;
		}
		epoch_lock_enter(&set);
		epoch_fork_held = held;
		epoch_fork_set = set;
		for (i = 0; i < EPOCH_MAX; i++)
			want |= (uint64_t)epoch_fork_wants(i) << i;
		if (want == held)
			return;
		epoch_fork_unlock();	/* a first queue came between */
	}
}

/* The other threads are gone, and their sections with them. */
static void
epoch_fork_child(void)
{
	struct epoch_td *other, *td = epoch_td_self();
	struct epoch_ring *q;
	unsigned int i;

	epoch_td_free = NULL;
	for (other = epoch_td_all; other != NULL; other = other->td_link) {
		if (other != td)
			epoch_td_release(other);
	}
	for (i = 0; i < EPOCH_MAX; i++) {
		epoch_slots[i].es_looking = 0;
		if (td != &epoch_nobody)
			td->td_pub.td_section[i].s_record.r_tid = gettid();
		for (q = epoch_slots[i].es_queues; q != NULL; q = q->rq_next)
			epoch_queue_forked(q, td);
	}
	if (td != &epoch_nobody)
		td->td_tid = gettid();
	epoch_heavy_barrier_register();
	epoch_reclaim_forked();
	epoch_fork_unlock();
}

/* Early: the key should be one of those that need no memory to be set. */
__attribute__((constructor(101))) static void
epoch_init(void)
{
	unsigned int i;

	for (i = 0; i < EPOCH_MAX; i++) {
		epoch_all[i].e_value = 1;
		epoch_slots[i].es_epoch = &epoch_all[i];
		(void)pthread_mutex_init(&epoch_slots[i].es_mtx, NULL);
	}
	epoch_heavy_barrier_register();
	epoch_debug_clock_init();
	(void)pthread_key_create(&epoch_key, epoch_td_exit);
	(void)pthread_atfork(epoch_fork_prepare, epoch_fork_unlock,
	    epoch_fork_child);
}
