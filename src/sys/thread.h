/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Threads: a name that ps and perf show, a CPU to stay on, a function.
 */
#ifndef _SYS_THREAD_H_
#define	_SYS_THREAD_H_

#include <stdint.h>

struct thread;

#define	THREAD_ANY_CPU	(-1)

/*
 * Start fn(arg) on a new thread named name (at most 15 bytes are kept),
 * pinned to cpu unless THREAD_ANY_CPU.  All signals are blocked in it.
 * 0, or ENOMEM, EAGAIN, EINVAL (no such CPU).
 */
int	thread_create(struct thread **tdp, const char *name, int cpu,
	    void (*fn)(void *), void *arg);
void	thread_join(struct thread *td);		/* waits, frees td */

/* CPUs this process may run on: fills cpus[], returns how many (>= 1). */
int	thread_cpus(int *cpus, int max);

/* Monotonic time: nanoseconds, and a coarse one (few ms) that is cheap. */
uint64_t	time_ns(void);
uint64_t	time_coarse_ns(void);

#endif /* _SYS_THREAD_H_ */
