/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Deferred work on threads of its own.  A task made with NET_TASK_INIT runs
 * inside the net epoch; consecutive network tasks share one section, which
 * is left before any other task, when the queue is empty (D23242), and after
 * 64 tasks.  A task is queued at most once at a time; queueing it again
 * before it runs adds to the pending count that its function receives.  It
 * never runs on two threads at a time, and its function may free it.
 */
#ifndef _INTR_TASKQUEUE_H_
#define	_INTR_TASKQUEUE_H_

#include <stdbool.h>
#include <stdint.h>

struct taskqueue;

typedef void task_fn_t(void *context, int pending);

struct task {
	struct task	*ta_link;	/* (q) next in the queue */
	task_fn_t	*ta_func;	/* (c) */
	void		*ta_context;	/* (c) */
	int		 ta_pending;	/* (q) times queued, not yet run */
	uint8_t		 ta_flags;	/* (c) TASK_NETWORK */
};

#define	TASK_NETWORK	0x1

static inline void
task_init(struct task *ta, uint8_t flags, task_fn_t *fn, void *context)
{

	*ta = (struct task){ .ta_func = fn, .ta_context = context,
	    .ta_flags = flags };
}

#define	TASK_INIT(ta, fn, ctx)		task_init((ta), 0, (fn), (ctx))
#define	NET_TASK_INIT(ta, fn, ctx)	task_init((ta), TASK_NETWORK, (fn), \
					    (ctx))

/* Threads are named "name/0" and so on.  0, ENOMEM, EINVAL, EAGAIN. */
int	taskqueue_create(const char *name, int nthreads,
	    struct taskqueue **tqp);
/* Runs what is queued, then ends the threads.  Outside the epoch. */
void	taskqueue_free(struct taskqueue *tq);
/* Any thread, inside or outside the epoch; never sleeps. */
void	taskqueue_enqueue(struct taskqueue *tq, struct task *ta);
/* Take it off if it has not begun; returns true if it was queued. */
bool	taskqueue_cancel(struct taskqueue *tq, struct task *ta);
/* Wait until ta is neither queued nor running.  Outside the epoch. */
void	taskqueue_drain(struct taskqueue *tq, struct task *ta);

#endif /* _INTR_TASKQUEUE_H_ */
