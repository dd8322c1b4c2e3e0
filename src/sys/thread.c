/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Threads with a name and a place, and the clock.  A struct thread belongs
 * to its creator until thread_join().
 */
#include "sys/thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct thread {
	pthread_t	 td_thread;	/* (c) */
	void		(*td_fn)(void *); /* (c) */
	void		*td_arg;	/* (c) */
	char		 td_name[16];	/* (c) what Linux keeps of a name */
};

static void *
thread_start(void *arg)
{
	struct thread *td = arg;

	pthread_setname_np(pthread_self(), td->td_name);
	td->td_fn(td->td_arg);
	return (NULL);
}

int
thread_create(struct thread **tdp, const char *name, int cpu,
    void (*fn)(void *), void *arg)
{
	struct thread *td;
	pthread_attr_t attr;
	sigset_t all, old;
	cpu_set_t set;
	int error;

	if (cpu >= CPU_SETSIZE || cpu < THREAD_ANY_CPU)
		return (EINVAL);
	if ((td = calloc(1, sizeof(*td))) == NULL)
		return (ENOMEM);
	td->td_fn = fn;
	td->td_arg = arg;
	snprintf(td->td_name, sizeof(td->td_name), "%s", name);

	error = pthread_attr_init(&attr);
	if (error != 0)
		goto free_td;
	if (cpu != THREAD_ANY_CPU) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		error = pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
		if (error != 0)
			goto free_attr;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&td->td_thread, &attr, thread_start, td);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error != 0)
		goto free_attr;
	pthread_attr_destroy(&attr);
	*tdp = td;
	return (0);
free_attr:
	pthread_attr_destroy(&attr);
free_td:
	free(td);
	return (error);
}

void
thread_join(struct thread *td)
{

	pthread_join(td->td_thread, NULL);
	free(td);
}

int
thread_cpus(int *cpus, int max)
{
	cpu_set_t set;
	int n = 0;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		CPU_ZERO(&set);
	for (int i = 0; i < CPU_SETSIZE && n < max; i++)
		if (CPU_ISSET(i, &set))
			cpus[n++] = i;
	if (n == 0 && max > 0)
		cpus[n++] = 0;
	return (n);
}

static uint64_t
clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec);
}

uint64_t
time_ns(void)
{

	return (clock_ns(CLOCK_MONOTONIC));
}

uint64_t
time_coarse_ns(void)
{

	return (clock_ns(CLOCK_MONOTONIC_COARSE));
}
