/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Task queues.  Each has threads of its own and one lock, tq_mtx (q), which
 * is a leaf: no task runs, and no section is entered or left, with it held.
 *
 * A thread enters the net epoch before the first of several network tasks and
 * leaves it before another task, before it sleeps, and after TASK_BATCH tasks
 * (FreeBSD has no such limit; with it a task that queues itself again cannot
 * hold reclamation up for ever).  It remembers in a local variable that it
 * entered.
 *
 * A task is not touched any more once its function has begun, so the function
 * may free it.  A task queued again while it runs does not run on a second
 * thread before the first has finished.
 */
#include "intr/taskqueue.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <netepoch/epoch.h>

#include "intr/intr_private.h"
#include "sys/defs.h"
#include "sys/lock.h"
#include "sys/thread.h"

#define	TASK_BATCH	64

/* One thread of a queue. */
struct taskqueue_thread {
	struct taskqueue *tt_queue;	/* (c) */
	struct thread	*tt_td;		/* (c) */
	struct task	*tt_running;	/* (q) to compare with only */
};

struct taskqueue {
	pthread_mutex_t	 tq_mtx;
	pthread_cond_t	 tq_work;	/* (q) something is queued, or stop */
	pthread_cond_t	 tq_done;	/* (q) a task has finished */
	struct task	*tq_head;	/* (q) */
	struct task	**tq_tail;	/* (q) */
	int		 tq_idle;	/* (q) threads that wait */
	int		 tq_drainers;	/* (q) callers of taskqueue_drain() */
	bool		 tq_stop;	/* (q) */
	int		 tq_nthreads;	/* (c) */
	struct taskqueue_thread tq_threads[];
};

/* Whether this thread serves tasks, and which; to find self-deadlocks. */
static _Thread_local struct taskqueue_thread *taskqueue_self;

static bool
taskqueue_is_running(struct taskqueue *tq, const struct task *ta)
{

	for (int i = 0; i < tq->tq_nthreads; i++)
		if (tq->tq_threads[i].tt_running == ta)
			return (true);
	return (false);
}

/* Take ta, to which *pp points, off the queue. */
static void
taskqueue_unlink(struct taskqueue *tq, struct task **pp, struct task *ta)
{

	*pp = ta->ta_link;
	if (tq->tq_tail == &ta->ta_link)
		tq->tq_tail = pp;
	ta->ta_link = NULL;
}

/* Where the first task is that no thread is running; NULL: nowhere. */
static struct task **
taskqueue_find(struct taskqueue *tq)
{
	struct task **pp;

	for (pp = &tq->tq_head; *pp != NULL; pp = &(*pp)->ta_link)
		if (!taskqueue_is_running(tq, *pp))
			return (pp);
	return (NULL);
}

static void
taskqueue_finished(struct taskqueue *tq, struct taskqueue_thread *tt)
{

	tt->tt_running = NULL;
	if (tq->tq_drainers != 0)
		pthread_cond_broadcast(&tq->tq_done);
}

/* Run tasks until there is none that we could run; tq_mtx is held. */
static void
taskqueue_run(struct taskqueue *tq, struct taskqueue_thread *tt)
{
	struct epoch_tracker et;
	bool entered = false;
	struct task **pp, *ta;
	int pending, n = 0;

	while ((pp = taskqueue_find(tq)) != NULL) {
		ta = *pp;
		taskqueue_unlink(tq, pp, ta);
		pending = ta->ta_pending;
		ta->ta_pending = 0;
		tt->tt_running = ta;
		pthread_mutex_unlock(&tq->tq_mtx);

		if (entered && ((ta->ta_flags & TASK_NETWORK) == 0 ||
		    n == TASK_BATCH)) {
			NET_EPOCH_EXIT(et);
			entered = false;
		}
		if (!entered && (ta->ta_flags & TASK_NETWORK) != 0) {
			NET_EPOCH_ENTER(et);
			entered = true;
			n = 0;
		}
		n++;
		ta->ta_func(ta->ta_context, pending);
		KASSERT((in_epoch(net_epoch_preempt) != 0) == entered,
		    "a task entered or left the epoch");

		pthread_mutex_lock(&tq->tq_mtx);
		taskqueue_finished(tq, tt);
	}
	if (entered) {
		pthread_mutex_unlock(&tq->tq_mtx);
		NET_EPOCH_EXIT(et);
		pthread_mutex_lock(&tq->tq_mtx);
	}
}

static void
taskqueue_main(void *arg)
{
	struct taskqueue_thread *tt = arg;
	struct taskqueue *tq = tt->tt_queue;

	taskqueue_self = tt;
	pthread_mutex_lock(&tq->tq_mtx);
	for (;;) {
		taskqueue_run(tq, tt);
		/* The lock may have been open since the queue was empty. */
		if (taskqueue_find(tq) != NULL)
			continue;
		if (tq->tq_stop)
			break;
		tq->tq_idle++;
		pthread_cond_wait(&tq->tq_work, &tq->tq_mtx);
		tq->tq_idle--;
	}
	pthread_mutex_unlock(&tq->tq_mtx);
}

static void
taskqueue_stop(struct taskqueue *tq, int nthreads)
{

	pthread_mutex_lock(&tq->tq_mtx);
	tq->tq_stop = true;
	pthread_cond_broadcast(&tq->tq_work);
	pthread_mutex_unlock(&tq->tq_mtx);
	for (int i = 0; i < nthreads; i++)
		thread_join(tq->tq_threads[i].tt_td);
	pthread_cond_destroy(&tq->tq_done);
	pthread_cond_destroy(&tq->tq_work);
	pthread_mutex_destroy(&tq->tq_mtx);
	free(tq);
}

int
taskqueue_create(const char *name, int nthreads, struct taskqueue **tqp)
{
	struct taskqueue_thread *tt;
	struct taskqueue *tq;
	char tdname[16];
	int error;

	if (nthreads <= 0)
		return (EINVAL);
	intr_checks_init();
	tq = calloc(1, sizeof(*tq) +
	    (size_t)nthreads * sizeof(tq->tq_threads[0]));
	if (tq == NULL)
		return (ENOMEM);
	pthread_mutex_init(&tq->tq_mtx, NULL);
	pthread_cond_init(&tq->tq_work, NULL);
	pthread_cond_init(&tq->tq_done, NULL);
	tq->tq_tail = &tq->tq_head;
	tq->tq_nthreads = nthreads;
	for (int i = 0; i < nthreads; i++) {
		tt = &tq->tq_threads[i];
		tt->tt_queue = tq;
		snprintf(tdname, sizeof(tdname), "%.11s/%u", name,
		    (unsigned int)i % 1000);
		error = thread_create(&tt->tt_td, tdname, THREAD_ANY_CPU,
		    taskqueue_main, tt);
		if (error != 0) {
			taskqueue_stop(tq, i);
			return (error);
		}
	}
	*tqp = tq;
	return (0);
}

void
taskqueue_free(struct taskqueue *tq)
{

	NET_EPOCH_ASSERT_NOT();
	MAY_SLEEP("taskqueue_free");
	taskqueue_stop(tq, tq->tq_nthreads);
}

void
taskqueue_enqueue(struct taskqueue *tq, struct task *ta)
{

	pthread_mutex_lock(&tq->tq_mtx);
	if (ta->ta_pending++ == 0) {
		ta->ta_link = NULL;
		*tq->tq_tail = ta;
		tq->tq_tail = &ta->ta_link;
		if (tq->tq_idle != 0)
			pthread_cond_signal(&tq->tq_work);
	}
	pthread_mutex_unlock(&tq->tq_mtx);
}

bool
taskqueue_cancel(struct taskqueue *tq, struct task *ta)
{
	struct task **pp;
	bool queued;

	pthread_mutex_lock(&tq->tq_mtx);
	queued = ta->ta_pending != 0;
	if (queued) {
		for (pp = &tq->tq_head; *pp != ta; pp = &(*pp)->ta_link)
			continue;
		taskqueue_unlink(tq, pp, ta);
		ta->ta_pending = 0;
		if (tq->tq_drainers != 0)
			pthread_cond_broadcast(&tq->tq_done);
	}
	pthread_mutex_unlock(&tq->tq_mtx);
	return (queued);
}

void
taskqueue_drain(struct taskqueue *tq, struct task *ta)
{

	NET_EPOCH_ASSERT_NOT();
	MAY_SLEEP("taskqueue_drain");

	pthread_mutex_lock(&tq->tq_mtx);
	KASSERT(taskqueue_self == NULL || taskqueue_self->tt_queue != tq ||
	    taskqueue_self->tt_running != ta, "a task would wait for itself");
	tq->tq_drainers++;
	while (ta->ta_pending != 0 || taskqueue_is_running(tq, ta))
		pthread_cond_wait(&tq->tq_done, &tq->tq_mtx);
	tq->tq_drainers--;
	pthread_mutex_unlock(&tq->tq_mtx);
}
