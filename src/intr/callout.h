/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Timers, after callout(9).  One thread per callout_wheel runs them; a
 * callout made with CALLOUT_NET runs inside the net epoch.  callout_stop()
 * does not wait, callout_drain() does.  With an mtx given at init the handler
 * runs with it held, and callout_stop() under the same mtx is exact: after
 * it the handler has run or never will.
 */
#ifndef _INTR_CALLOUT_H_
#define	_INTR_CALLOUT_H_

#include <stdbool.h>
#include <stdint.h>

struct callout_wheel;
struct mtx;

typedef void callout_fn_t(void *arg);

struct callout {
	struct callout_wheel *c_wheel;	/* (c) */
	struct mtx	*c_mtx;		/* (c) or NULL */
	callout_fn_t	*c_func;	/* (w) w is the wheel's lock */
	void		*c_arg;		/* (w) */
	uint64_t	 c_when;	/* (w) time_ns() to run at */
	struct callout	*c_child;	/* (w) first of those due later */
	struct callout	*c_next;	/* (w) next child of the same parent */
	struct callout	**c_prevp;	/* (w) what points here; NULL: not
					   armed */
	int		 c_flags;	/* (c) */
	int		 c_drainers;	/* (w) who wait in callout_drain() */
};

#define	CALLOUT_NET	0x1

/* 0, ENOMEM, EAGAIN.  The thread is called name. */
int	callout_wheel_create(const char *name, struct callout_wheel **cwp);
void	callout_wheel_free(struct callout_wheel *cw); /* none may be armed */

/* flags: CALLOUT_NET.  mtx: held while the handler runs, or NULL. */
void	callout_init(struct callout *c, struct callout_wheel *cw, int flags,
	    struct mtx *mtx);
/*
 * Arm (again) to call fn(arg) in ns nanoseconds.  True if it was armed.
 * Any thread, inside or outside the epoch.  ENOMEM cannot happen: the heap
 * is made of the callouts themselves.  The handler may free its callout.
 * While somebody drains it a callout cannot be armed: a handler that arms
 * itself again ends then.
 */
bool	callout_reset(struct callout *c, uint64_t ns, callout_fn_t *fn,
	    void *arg);
bool	callout_stop(struct callout *c);	/* true if it was armed */
void	callout_drain(struct callout *c);	/* stop, and wait until it is
						   not running; outside the
						   epoch and outside c_mtx */

#endif /* _INTR_CALLOUT_H_ */
