/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * Deferred callbacks.
 *
 * Each thread has a queue per epoch: a ring of pointers that it alone fills,
 * with plain stores.  Whoever holds the epoch's es_mtx marks the end of all
 * rings, bumps the epoch's value once for that whole batch, and runs the
 * batch when the goal has passed.  So one grace period is shared by all
 * threads, and a callback waits for at most two of them.
 *
 * A full ring makes the producer wait, for a bounded time and only outside
 * all sections; what still does not fit goes to a list through the contexts
 * themselves, so that epoch_call() cannot fail.
 *
 * Callbacks run outside all sections, under es_mtx, on the reclaim thread, on
 * a thread that drains, or on one that polls.  Nobody waits for a reader with
 * es_mtx held: fork(2) takes it, and may be called in a section.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "epoch_private.h"

#define	EPOCH_RING_BYTES (EPOCH_RING * sizeof(epoch_context_t))
#define	EPOCH_PROOF_NS	50000U	/* readers' time to prove that they moved on */
#define	EPOCH_AHEAD	8U	/* contexts prefetched ahead of the run */
#define	EPOCH_RUN_STEP	256U	/* callbacks between updates of rq_head */

/* In place of a queue: always at its stop. */
struct epoch_ring epoch_noqueue;

static inline epoch_context_t
epoch_over_next(epoch_context_t ctx)
{
	return ((epoch_context_t)(ctx->ec_link & ~EPOCH_MARK_BITS));
}

/* Contexts in the ring, as seen by its thread or by whoever reclaims. */
static inline uint64_t
epoch_ring_used(const struct epoch_ring *q)
{
	uint64_t put;

	put = (uint64_t)(__atomic_load_n(&q->rq.q_put, __ATOMIC_ACQUIRE) -
	    q->rq_slots);
	return ((put - __atomic_load_n(&q->rq_head, __ATOMIC_ACQUIRE)) %
	    EPOCH_RING);
}

static uint64_t
epoch_queue_backlog(struct epoch_ring *q)
{
	uint64_t done, in;

	done = __atomic_load_n(&q->rq_over_done, __ATOMIC_RELAXED);
	in = __atomic_load_n(&q->rq_over_in, __ATOMIC_RELAXED);
	return (epoch_ring_used(q) + (in > done ? in - done : 0));
}

/* Callbacks queued for es and not yet run; no lock, so of no one moment. */
uint64_t
epoch_backlog(struct epoch_slot *es)
{
	struct epoch_ring *q;
	uint64_t n = 0;

	for (q = __atomic_load_n(&es->es_queues, __ATOMIC_ACQUIRE); q != NULL;
	    q = q->rq_next)
		n += epoch_queue_backlog(q);
	return (n);
}

/* Age of the oldest callback of es, at most, in ns; 0: none. */
uint64_t
epoch_oldest(struct epoch_slot *es)
{
	uint64_t birth, now = epoch_now();

	if (epoch_backlog(es) == 0)
		return (0);
	if (__atomic_load_n(&es->es_goal, __ATOMIC_RELAXED) != 0) {
		birth = __atomic_load_n(&es->es_batch_birth, __ATOMIC_RELAXED);
	} else {
		birth = __atomic_load_n(&es->es_birth, __ATOMIC_RELAXED);
		if (birth == 0)
			birth = __atomic_load_n(&es->es_marked,
			    __ATOMIC_RELAXED);
	}
	return (now > birth ? now - birth : 0);
}

/* In the child of a fork: only the thread of td still produces. */
void
epoch_queue_forked(struct epoch_ring *q, const void *td)
{
	epoch_context_t ctx;
	uint64_t n = q->rq_over_done;

	(void)pthread_mutex_init(&q->rq_mtx, NULL);
	if (q->rq_owner != td)
		q->rq_owner = NULL;
	/* A push may have been cut in half: count again. */
	for (ctx = q->rq_over; ctx != NULL; ctx = epoch_over_next(ctx))
		n++;
	for (ctx = q->rq_over_mark; ctx != NULL; ctx = epoch_over_next(ctx))
		n++;
	q->rq_over_in = n;
}

/* Run one callback.  The context, and what holds it, is the callback's. */
static inline void
epoch_run_one(epoch_context_t ctx)
{
	epoch_callback_t cb = ctx->ec_callback;

	EPOCH_LIB_PROBE2(callback, cb, ctx);
	epoch_debug_ran(ctx);
	cb(ctx);
}

/*
 * Run the batch's part of a ring.  Slots go back to the producer in steps;
 * rq_head never passes a callback that has not returned.
 */
static void
epoch_run_ring(struct epoch_ring *q)
{
	const epoch_context_t *ring = q->rq_slots;
	uint64_t end = q->rq_mark;
	uint64_t i, step;

	for (i = q->rq_head; i != end;) {
		step = end - i < EPOCH_RUN_STEP ? end : i + EPOCH_RUN_STEP;
		for (; i + EPOCH_AHEAD < step; i++) {
			__builtin_prefetch(
			    ring[(i + EPOCH_AHEAD) % EPOCH_RING], 1);
			epoch_run_one(ring[i % EPOCH_RING]);
		}
		for (; i != step; i++)
			epoch_run_one(ring[i % EPOCH_RING]);
		__atomic_store_n(&q->rq_head, i, __ATOMIC_RELEASE);
	}
}

static size_t
epoch_run_over(struct epoch_ring *q)
{
	epoch_context_t ctx, next;
	size_t n = 0;

	for (ctx = q->rq_over_mark; ctx != NULL; ctx = next, n++) {
		next = epoch_over_next(ctx);
		epoch_run_one(ctx);
	}
	q->rq_over_mark = NULL;
	__atomic_store_n(&q->rq_over_done, q->rq_over_done + n,
	    __ATOMIC_RELEASE);
	return (n);
}

/*
 * The batch's goal has passed: run it.  es_mtx held; a callback that is a
 * point of cancellation must not end the thread with that.
 */
static size_t
epoch_run(struct epoch_slot *es)
{
	struct epoch_td *td = epoch_td_get();
	struct epoch_ring *q;
	int cancel = PTHREAD_CANCEL_ENABLE;
	size_t n = 0;

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	td->td_running = es;
	for (q = __atomic_load_n(&es->es_queues, __ATOMIC_ACQUIRE); q != NULL;
	    q = q->rq_next) {
		if (q->rq_head != q->rq_mark) {
			n += (size_t)(q->rq_mark - q->rq_head);
			epoch_run_ring(q);
		}
		if (q->rq_over_mark != NULL)
			n += epoch_run_over(q);
	}
	td->td_running = NULL;
	__atomic_store_n(&es->es_goal, 0, __ATOMIC_RELAXED);
	es->es_batches++;
	epoch_count_max(&es->es_stats.es_oldest_max,
	    epoch_now() - es->es_batch_birth);
	epoch_count(&es->es_stats.es_epoch_calls, n);
	epoch_count(&es->es_stats.es_epoch_call_tasks, 1);
	(void)pthread_setcancelstate(cancel, NULL);
	return (n);
}

/*
 * Make a batch of everything queued so far.  Reading a tail acquires what its
 * producer unlinked, and the bump orders all of that before the scan.
 */
static bool
epoch_mark(struct epoch_slot *es)
{
	struct epoch_ring *q;
	uint64_t birth, n = 0;

	for (q = __atomic_load_n(&es->es_queues, __ATOMIC_ACQUIRE); q != NULL;
	    q = q->rq_next) {
		q->rq_mark = q->rq_head + epoch_ring_used(q);
		n += q->rq_mark - q->rq_head;
		if (__atomic_load_n(&q->rq_over_in, __ATOMIC_RELAXED) ==
		    q->rq_over_done)
			continue;
		(void)pthread_mutex_lock(&q->rq_mtx);
		q->rq_over_mark = q->rq_over;
		n += q->rq_over_in - q->rq_over_done;
		q->rq_over = NULL;
		(void)pthread_mutex_unlock(&q->rq_mtx);
	}
	birth = __atomic_exchange_n(&es->es_birth, 0, __ATOMIC_RELAXED);
	if (birth < es->es_marked)
		birth = es->es_marked;
	__atomic_store_n(&es->es_marked, epoch_now(), __ATOMIC_RELAXED);
	if (n == 0)
		return (false);
	/* What is in this batch was not there at the look before. */
	__atomic_store_n(&es->es_batch_birth, birth, __ATOMIC_RELAXED);
	epoch_count_max(&es->es_stats.es_backlog_max, n);
	/* The bump is the barrier before the scan, which begins at the list. */
	__atomic_store_n(&es->es_goal, epoch_bump(es->es_epoch),
	    __ATOMIC_RELAXED);
	es->es_scan = __atomic_load_n(&es->es_epoch->e_records,
	    __ATOMIC_ACQUIRE);
	es->es_fenced = false;
	return (true);
}

/*
 * Has the goal of an asymmetric epoch passed for every thread, without a
 * membarrier(2)?  A record that shows the goal or later was published after
 * the bump, by a thread that had left all its earlier sections.  A record
 * that shows 0 proves nothing: the entry may still be on its way to us, unless
 * it is ours, or nobody's, since taking one over is a full barrier.
 */
static bool
epoch_goal_proven(struct epoch_slot *es)
{
	const void *owner, *self = epoch_td_self();
	struct epoch_record *r;

	for (r = es->es_scan; r != NULL; r = r->r_next) {
		owner = __atomic_load_n(&r->r_owner, __ATOMIC_SEQ_CST);
		if (owner != self && owner != NULL &&
		    __atomic_load_n(&r->r_value, __ATOMIC_ACQUIRE) <
		    es->es_goal)
			break;
	}
	es->es_scan = r;
	return (r == NULL);
}

/* The barrier for the batch, once its readers had time to do without it. */
static bool
epoch_step_fence(struct epoch_slot *es)
{
	if (epoch_now() - es->es_marked < EPOCH_PROOF_NS &&
	    epoch_backlog(es) < EPOCH_RING / 2)
		return (false);
	epoch_heavy_barrier(es);
	es->es_fenced = true;
	return (true);
}

/*
 * One step, with es_mtx held: run the batch if its goal has passed, then mark
 * the next.  Never waits.
 */
static size_t
epoch_step(struct epoch_slot *es)
{
	uint64_t age;

	if (es->es_goal == 0 && !epoch_mark(es))
		return (0);
	if ((epoch_slot_flags(es) & EPOCH_ASYMMETRIC) != 0 && !es->es_fenced) {
		if (epoch_goal_proven(es))
			return (epoch_run(es));
		if (!epoch_step_fence(es))
			return (0);
	}
	if (!epoch_goal_passed(&es->es_scan, es->es_goal)) {
		age = epoch_now() - es->es_marked;
		epoch_count_max(&es->es_stats.es_longest_grace, age);
		epoch_stall_note(es, es->es_scan, age);
		return (0);
	}
	return (epoch_run(es));
}

/*
 * The reclaimer's look at one epoch.  *busy is set when something is left to
 * do later.  Returns the number of callbacks run.
 */
size_t
epoch_reclaim(struct epoch_slot *es, bool *busy)
{
	size_t n;

	(void)pthread_mutex_lock(&es->es_mtx);
	/* Asked again: since the caller looked it may have been freed. */
	if (__atomic_load_n(&es->es_inuse, __ATOMIC_ACQUIRE) == 0 ||
	    (epoch_slot_flags(es) & EPOCH_POLLED) != 0) {
		(void)pthread_mutex_unlock(&es->es_mtx);
		return (0);
	}
	n = epoch_step(es);
	if (es->es_goal != 0 || epoch_backlog(es) != 0)
		*busy = true;
	(void)pthread_mutex_unlock(&es->es_mtx);
	return (n);
}

/*
 * Run the callbacks of e that are ready, on this thread, and start a grace
 * period for those queued since.  Never waits for a reader: when somebody
 * else is reclaiming, or the thread is in a section or in a callback, it does
 * nothing.  Returns the number of callbacks run.
 */
size_t
epoch_poll(epoch_t e)
{
	struct epoch_td *td = epoch_td_get();
	struct epoch_slot *es;
	size_t n;

	if (!epoch_usable(e)) {
		epoch_unusable(e, "epoch_poll");
		return (0);
	}
	es = epoch_slot(e);
	if (td->td_running != NULL || epoch_td_inside(td))
		return (0);
	if (pthread_mutex_trylock(&es->es_mtx) != 0)
		return (0);
	n = epoch_step(es);
	/* With no reader about, the next step succeeds at once. */
	if (n != 0)
		(void)epoch_mark(es);
	(void)pthread_mutex_unlock(&es->es_mtx);
	return (n);
}

/* Has the goal of the batch passed?  With the barrier now, if it takes one. */
static bool
epoch_drain_passed(struct epoch_slot *es)
{
	if ((epoch_slot_flags(es) & EPOCH_ASYMMETRIC) != 0 && !es->es_fenced) {
		epoch_heavy_barrier(es);
		es->es_fenced = true;
	}
	return (epoch_goal_passed(&es->es_scan, es->es_goal));
}

/*
 * Run every callback queued before the call, on this thread or another, and
 * return when they have all returned.  Those that they queue in turn need
 * another call.  Waits for readers, so: not inside a section, not inside a
 * callback, and not under a lock that a reader or a callback takes.
 */
void
epoch_drain_callbacks(epoch_t e)
{
	struct epoch_backoff eb = { 0, 0, 0 };
	struct epoch_record *r;
	struct epoch_slot *es;
	uint64_t goal = 0, last;

	if (!epoch_usable(e)) {
		epoch_unusable(e, "epoch_drain_callbacks");
		return;
	}
	es = epoch_slot(e);
	if (epoch_td_busy("epoch_drain_callbacks", es))
		return;
	(void)pthread_mutex_lock(&es->es_mtx);
	/* The batch in wait, and the one of what is queued now. */
	last = es->es_batches + (es->es_goal != 0 ? 2 : 1);
	while (es->es_batches < last && (es->es_goal != 0 || epoch_mark(es))) {
		if (es->es_goal != goal)
			(void)memset(&eb, 0, sizeof(eb));
		goal = es->es_goal;
		if (epoch_drain_passed(es)) {
			if (eb.eb_spins != 0)
				epoch_backoff_end(es, &eb);
			(void)epoch_run(es);
			continue;
		}
		r = es->es_scan;
		(void)pthread_mutex_unlock(&es->es_mtx);
		epoch_backoff(es, &eb, r);
		(void)pthread_mutex_lock(&es->es_mtx);
	}
	(void)pthread_mutex_unlock(&es->es_mtx);
}

/* The reclaimer sleeps: the next call on es must wake it, unless polled. */
void
epoch_queues_wake(struct epoch_slot *es)
{
	uint32_t wake = (epoch_slot_flags(es) & EPOCH_POLLED) == 0;
	struct epoch_ring *q;

	for (q = __atomic_load_n(&es->es_queues, __ATOMIC_ACQUIRE); q != NULL;
	    q = q->rq_next)
		__atomic_store_n(&q->rq.q_wake, wake, __ATOMIC_SEQ_CST);
}

/* A queue nobody produces for, or a new one; epoch_lock held. */
static struct epoch_ring *
epoch_queue_make(struct epoch_slot *es)
{
	struct epoch_ring *q;

	for (q = es->es_queues; q != NULL; q = q->rq_next) {
		if (q->rq_owner == NULL)
			return (q);
	}
	q = epoch_mem_alloc(sizeof(*q));
	q->rq_slots = epoch_mem_alloc(EPOCH_RING_BYTES);
	q->rq.q_put = q->rq.q_stop = q->rq_slots;
	(void)pthread_mutex_init(&q->rq_mtx, NULL);
	q->rq_next = es->es_queues;
	__atomic_store_n(&es->es_queues, q, __ATOMIC_RELEASE);
	return (q);
}

static struct epoch_ring *
epoch_queue_attach(struct epoch_slot *es)
{
	struct epoch_td *td = epoch_td_get();
	struct epoch_ring *q;
	sigset_t set;

	epoch_lock_enter(&set);
	q = epoch_queue_make(es);
	q->rq_owner = td;
	td->td_pub.td_section[epoch_index(es)].s_queue = &q->rq;
	epoch_lock_exit(&set);
	return (q);
}

/*
 * Wait for half the ring, for EPOCH_THROTTLE_NS at most.  The limit is there
 * because the caller may hold a lock that a reader spins for.
 */
static void
epoch_throttle(struct epoch_slot *es, struct epoch_ring *q)
{
	const struct timespec ts = { 0, 50000 };
	bool help = (epoch_slot_flags(es) & EPOCH_HELP) != 0;
	int cancel = PTHREAD_CANCEL_ENABLE;
	uint64_t start = epoch_now();

	/* epoch_call() is no point of cancellation: it would lose the object. */
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	epoch_count(&es->es_stats.es_throttled, 1);
	do {
		if (!help) {
			epoch_reclaim_kick();
			(void)nanosleep(&ts, NULL);
		} else if (epoch_poll(es->es_epoch) == 0) {
			(void)sched_yield();
		}
	} while (epoch_ring_used(q) > EPOCH_RING / 2 &&
	    epoch_now() - start < EPOCH_THROTTLE_NS);
	(void)pthread_setcancelstate(cancel, NULL);
}

/*
 * May this thread help, or wait, without harm?  One inside a section holds
 * the grace period up itself, and one inside a callback the rest of a batch.
 */
static bool
epoch_may_wait(struct epoch_slot *es)
{
	struct epoch_td *td = epoch_td_self();
	unsigned int flags = epoch_slot_flags(es);

	return ((flags & (EPOCH_POLLED | EPOCH_HELP)) != EPOCH_POLLED &&
	    td->td_running == NULL && !epoch_td_inside(td));
}

/* The ring is full and stays so. */
static void
epoch_call_over(struct epoch_slot *es, struct epoch_ring *q,
    epoch_context_t ctx)
{
	epoch_count(&es->es_stats.es_overflows, 1);
	(void)pthread_mutex_lock(&q->rq_mtx);
	ctx->ec_link = (uintptr_t)q->rq_over | EPOCH_QUEUED;
	q->rq_over = ctx;
	__atomic_store_n(&q->rq_over_in, q->rq_over_in + 1, __ATOMIC_RELAXED);
	(void)pthread_mutex_unlock(&q->rq_mtx);
}

/* This thread's queue; the stand-in before its first call. */
static inline struct epoch_ring *
epoch_queue_self(epoch_t e)
{
	return ((struct epoch_ring *)(void *)epoch_section_self(e)->s_queue);
}

/*
 * Each EPOCH_BATCH calls, and at the first after idleness: see how full the
 * ring is, tell the reclaimer, and set the place of the next stop.
 */
void
epoch_call_stop(epoch_t e)
{
	struct epoch_slot *es = epoch_slot(e);
	struct epoch_ring *q = epoch_queue_self(e);
	uint64_t none = 0, room, put;

	if ((epoch_slot_flags(es) & EPOCH_POLLED) == 0) {
		if (__atomic_exchange_n(&q->rq.q_wake, 0, __ATOMIC_SEQ_CST) !=
		    0)
			(void)__atomic_compare_exchange_n(&es->es_birth, &none,
			    epoch_now(), false, __ATOMIC_RELAXED,
			    __ATOMIC_RELAXED);
		epoch_reclaim_kick();
	}
	if (epoch_ring_used(q) >= EPOCH_RING - EPOCH_BATCH &&
	    epoch_may_wait(es))
		epoch_throttle(es, q);
	/* A stop lies before the end of the slots, or at it. */
	if (q->rq.q_put == q->rq_slots + EPOCH_RING)
		__atomic_store_n(&q->rq.q_put, q->rq_slots, __ATOMIC_RELEASE);
	put = (uint64_t)(q->rq.q_put - q->rq_slots);
	room = EPOCH_RING - 1 - epoch_ring_used(q);
	if (room > EPOCH_BATCH - put % EPOCH_BATCH)
		room = EPOCH_BATCH - put % EPOCH_BATCH;
	q->rq.q_stop = q->rq.q_put + room;
}

/*
 * The ring is full, nobody will wait, and the reclaimer was told not long
 * ago: then a look around is wasted.
 */
static bool
epoch_call_hopeless(struct epoch_slot *es, struct epoch_ring *q)
{
	return (epoch_ring_used(q) == EPOCH_RING - 1 &&
	    __atomic_load_n(&q->rq_over_in, __ATOMIC_RELAXED) % EPOCH_BATCH !=
	    0 && !epoch_may_wait(es));
}

/* The first call of a thread, or one that has come to its stop. */
void
epoch_call_slow(epoch_t e, epoch_callback_t cb, epoch_context_t ctx)
{
	struct epoch_slot *es = epoch_slot(e);
	struct epoch_ring *q = epoch_queue_self(e);

	if (q == &epoch_noqueue)
		q = epoch_queue_attach(es);
	if (q->rq.q_put == q->rq.q_stop && !epoch_call_hopeless(es, q))
		epoch_call_stop(e);
	if (q->rq.q_put != q->rq.q_stop) {
		epoch_call_raw(e, cb, ctx);
		return;
	}
	ctx->ec_callback = cb;
	epoch_call_over(es, q, ctx);
}
