/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Callouts: armed ones are in a pairing heap (Fredman, Sedgewick, Sleator and
 * Tarjan, 1986) made of the callouts themselves, so arming needs no memory
 * and costs a comparison, and disarming O(log n) amortised.
 *
 * One thread per wheel runs the handlers, one after the other, each network
 * one in a section of its own.  cw_mtx (w) protects the heap and what the
 * thread is doing.  Lock order: c_mtx of a callout, then cw_mtx; no handler
 * runs with cw_mtx held.
 *
 * For a callout with an mtx the thread first takes the callout off the heap
 * (cw_current is it, cw_begun is false), then the mtx, then looks under
 * cw_mtx whether it was cancelled meanwhile, and only then begins.  So whoever
 * holds the mtx sees it not begun, and can cancel it, or finished.
 */
#include "intr/callout.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <netepoch/epoch.h>

#include "intr/intr_private.h"
#include "sys/defs.h"
#include "sys/lock.h"
#include "sys/thread.h"

#define	NSEC_PER_SEC	1000000000u

struct callout_wheel {
	pthread_mutex_t	 cw_mtx;
	pthread_cond_t	 cw_work;	/* (w) an earlier one, or stop */
	pthread_cond_t	 cw_done;	/* (w) cw_current is done */
	struct callout	*cw_first;	/* (w) root of the heap */
	struct callout	*cw_current;	/* (w) taken off the heap to be run;
					   once begun to compare with only */
	bool		 cw_begun;	/* (w) its handler was called */
	bool		 cw_cancelled;	/* (w) and must not be */
	bool		 cw_stop;	/* (w) */
	int		 cw_drainers;	/* (w) callers of callout_drain() */
	struct thread	*cw_td;		/* (c) */
};

/* The wheel whose thread this is. */
static _Thread_local struct callout_wheel *callout_self;

/*
 * The heap.  A parent is due no later than its children.
 */

/* Make one heap of two; either may be NULL.  Roots have no siblings. */
static struct callout *
heap_meld(struct callout *a, struct callout *b)
{
	struct callout *t;

	if (a == NULL)
		return (b);
	if (b == NULL)
		return (a);
	if (b->c_when < a->c_when) {
		t = a;
		a = b;
		b = t;
	}
	b->c_next = a->c_child;
	if (b->c_next != NULL)
		b->c_next->c_prevp = &b->c_next;
	b->c_prevp = &a->c_child;
	a->c_child = b;
	return (a);
}

/* Make one heap of a list of siblings: in pairs, then from the last back. */
static struct callout *
heap_meld_list(struct callout *list)
{
	struct callout *a, *b, *pairs = NULL, *all = NULL;

	while ((a = list) != NULL) {
		b = a->c_next;
		list = b != NULL ? b->c_next : NULL;
		a->c_next = NULL;
		if (b != NULL)
			b->c_next = NULL;
		a = heap_meld(a, b);
		a->c_next = pairs;
		pairs = a;
	}
	while ((a = pairs) != NULL) {
		pairs = a->c_next;
		a->c_next = NULL;
		all = heap_meld(all, a);
	}
	return (all);
}

static void
callout_set_first(struct callout_wheel *cw, struct callout *c)
{

	cw->cw_first = c;
	if (c != NULL)
		c->c_prevp = &cw->cw_first;
}

static void
callout_insert(struct callout_wheel *cw, struct callout *c)
{

	c->c_child = NULL;
	c->c_next = NULL;
	callout_set_first(cw, heap_meld(cw->cw_first, c));
}

static void
callout_remove(struct callout_wheel *cw, struct callout *c)
{
	struct callout *rest;

	*c->c_prevp = c->c_next;
	if (c->c_next != NULL)
		c->c_next->c_prevp = c->c_prevp;
	rest = heap_meld_list(c->c_child);
	callout_set_first(cw, heap_meld(cw->cw_first, rest));
	c->c_child = NULL;
	c->c_next = NULL;
	c->c_prevp = NULL;
}

/*
 * The thread.
 */

/* Take c's mtx; false if c was cancelled before we had it.  cw_mtx held. */
static bool
callout_begin(struct callout_wheel *cw, struct mtx *mtx)
{

	if (mtx != NULL) {
		pthread_mutex_unlock(&cw->cw_mtx);
		mtx_lock(mtx);
		pthread_mutex_lock(&cw->cw_mtx);
	}
	cw->cw_begun = !cw->cw_cancelled;
	return (cw->cw_begun);
}

/* Run c, which is due; called and returns with cw_mtx held. */
static void
callout_run(struct callout_wheel *cw, struct callout *c)
{
	struct mtx *mtx = c->c_mtx;
	struct epoch_tracker et;
	callout_fn_t *fn;
	void *arg;
	bool net;

	callout_remove(cw, c);
	cw->cw_current = c;
	cw->cw_begun = false;
	cw->cw_cancelled = false;
	if (callout_begin(cw, mtx)) {
		fn = c->c_func;
		arg = c->c_arg;
		net = (c->c_flags & CALLOUT_NET) != 0;
		pthread_mutex_unlock(&cw->cw_mtx);

		/* From here on c may be gone. */
		if (net)
			NET_EPOCH_ENTER(et);
		fn(arg);
		if (net)
			NET_EPOCH_EXIT(et);
		NET_EPOCH_ASSERT_NOT();
	} else
		pthread_mutex_unlock(&cw->cw_mtx);
	if (mtx != NULL)
		mtx_unlock(mtx);

	pthread_mutex_lock(&cw->cw_mtx);
	cw->cw_current = NULL;
	if (cw->cw_drainers != 0)
		pthread_cond_broadcast(&cw->cw_done);
}

static void
callout_main(void *arg)
{
	struct callout_wheel *cw = arg;
	struct timespec ts;
	struct callout *c;

	callout_self = cw;
	pthread_mutex_lock(&cw->cw_mtx);
	while (!cw->cw_stop) {
		c = cw->cw_first;
		if (c == NULL) {
			pthread_cond_wait(&cw->cw_work, &cw->cw_mtx);
			continue;
		}
		if (c->c_when <= time_ns()) {
			callout_run(cw, c);
			continue;
		}
		ts.tv_sec = (time_t)(c->c_when / NSEC_PER_SEC);
		ts.tv_nsec = (long)(c->c_when % NSEC_PER_SEC);
		pthread_cond_timedwait(&cw->cw_work, &cw->cw_mtx, &ts);
	}
	pthread_mutex_unlock(&cw->cw_mtx);
}

int
callout_wheel_create(const char *name, struct callout_wheel **cwp)
{
	struct callout_wheel *cw;
	pthread_condattr_t attr;
	int error;

	intr_checks_init();
	if ((cw = calloc(1, sizeof(*cw))) == NULL)
		return (ENOMEM);
	pthread_mutex_init(&cw->cw_mtx, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&cw->cw_work, &attr);
	pthread_condattr_destroy(&attr);
	pthread_cond_init(&cw->cw_done, NULL);
	error = thread_create(&cw->cw_td, name, THREAD_ANY_CPU, callout_main,
	    cw);
	if (error != 0)
		goto destroy;
	*cwp = cw;
	return (0);
destroy:
	pthread_cond_destroy(&cw->cw_done);
	pthread_cond_destroy(&cw->cw_work);
	pthread_mutex_destroy(&cw->cw_mtx);
	free(cw);
	return (error);
}

void
callout_wheel_free(struct callout_wheel *cw)
{

	NET_EPOCH_ASSERT_NOT();
	MAY_SLEEP("callout_wheel_free");

	pthread_mutex_lock(&cw->cw_mtx);
	KASSERT(cw->cw_first == NULL, "a callout is armed");
	cw->cw_stop = true;
	pthread_cond_signal(&cw->cw_work);
	pthread_mutex_unlock(&cw->cw_mtx);
	thread_join(cw->cw_td);
	pthread_cond_destroy(&cw->cw_done);
	pthread_cond_destroy(&cw->cw_work);
	pthread_mutex_destroy(&cw->cw_mtx);
	free(cw);
}

/*
 * Callouts.
 */
void
callout_init(struct callout *c, struct callout_wheel *cw, int flags,
    struct mtx *mtx)
{

	*c = (struct callout){ .c_wheel = cw, .c_mtx = mtx,
	    .c_flags = flags };
}

/* Disarm c, or cancel its run; true if it was going to run.  cw_mtx held. */
static bool
callout_stop_locked(struct callout_wheel *cw, struct callout *c)
{

	if (c->c_prevp != NULL) {
		callout_remove(cw, c);
		return (true);
	}
	if (cw->cw_current == c && !cw->cw_begun && !cw->cw_cancelled) {
		cw->cw_cancelled = true;
		return (true);
	}
	return (false);
}

bool
callout_reset(struct callout *c, uint64_t ns, callout_fn_t *fn, void *arg)
{
	struct callout_wheel *cw = c->c_wheel;
	uint64_t now = time_ns();
	bool armed;

	pthread_mutex_lock(&cw->cw_mtx);
	armed = callout_stop_locked(cw, c);
	if (c->c_drainers == 0) {
		c->c_func = fn;
		c->c_arg = arg;
		c->c_when = ns < UINT64_MAX - now ? now + ns : UINT64_MAX;
		callout_insert(cw, c);
		if (cw->cw_first == c)
			pthread_cond_signal(&cw->cw_work);
	}
	pthread_mutex_unlock(&cw->cw_mtx);
	return (armed);
}

bool
callout_stop(struct callout *c)
{
	struct callout_wheel *cw = c->c_wheel;
	bool armed;

	pthread_mutex_lock(&cw->cw_mtx);
	armed = callout_stop_locked(cw, c);
	pthread_mutex_unlock(&cw->cw_mtx);
	return (armed);
}

void
callout_drain(struct callout *c)
{
	struct callout_wheel *cw = c->c_wheel;

	NET_EPOCH_ASSERT_NOT();
	MAY_SLEEP("callout_drain");
	KASSERT(c->c_mtx == NULL || !mtx_owned(c->c_mtx),
	    "callout_drain with %s held", c->c_mtx->mtx_name);

	pthread_mutex_lock(&cw->cw_mtx);
	KASSERT(callout_self != cw || cw->cw_current != c,
	    "a callout would wait for itself");
	(void)callout_stop_locked(cw, c);
	cw->cw_drainers++;
	c->c_drainers++;
	while (cw->cw_current == c)
		pthread_cond_wait(&cw->cw_done, &cw->cw_mtx);
	c->c_drainers--;
	cw->cw_drainers--;
	pthread_mutex_unlock(&cw->cw_mtx);
}
