/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Log lines.  log_msg() may be called from any thread, also inside an epoch
 * section: it copies the line into a bounded ring, and a thread of this room
 * writes the ring to standard error (with "<N>" level prefixes when stderr is
 * the journal).  A full ring drops the line and says later how many it
 * dropped.  Before log_start() lines are written at once.
 *
 * A line that a remote packet can cause must pass a struct log_limit.
 */
#ifndef _SYS_LOG_H_
#define	_SYS_LOG_H_

#include <stdbool.h>
#include <stdint.h>
#include <syslog.h>			/* LOG_ERR ... LOG_DEBUG */

#include "sys/defs.h"

int	log_start(const char *ident);	/* the ident begins each line */
void	log_stop(void);			/* flushes, ends the thread */
void	log_level(int level);		/* highest level written; LOG_INFO */
void	log_msg(int level, const char *fmt, ...) __printflike(2, 3);

/*
 * At most ll_rate events a second; of the others only the number is kept and
 * told with the next line that passes.  Zero initialised but for ll_rate.
 */
struct log_limit {
	_Atomic uint64_t ll_second;	/* (a) relaxed: the running second */
	_Atomic uint32_t ll_count;	/* (a) relaxed: events in it */
	_Atomic uint32_t ll_missed;	/* (a) relaxed: not written so far */
};
void	log_limited(struct log_limit *ll, uint32_t rate, int level,
	    const char *fmt, ...) __printflike(4, 5);
/* The bare limiter, for ICMP: true if this event is within rate a second. */
bool	rate_check(struct log_limit *ll, uint32_t rate);

#endif /* _SYS_LOG_H_ */
