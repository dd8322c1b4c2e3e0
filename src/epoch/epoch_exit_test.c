/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * A process that is told to stop while callbacks are chained three deep.
 * Its parent sends SIGTERM; it drains once for each level, with readers still
 * entering and another thread draining too, ends its threads and returns from
 * main: nothing is left queued, nothing leaks (run under LeakSanitizer), and
 * it takes less than a second.  Also: draining from an atexit handler while two
 * other threads drain, too.
 */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <netepoch/epoch.h>

#define	CHAINS	1000U
#define	DEEP	3U

struct link {
	struct epoch_context l_ctx;	/* first: the context is the link */
	unsigned int	 l_left;
};

#ifdef __SANITIZE_THREAD__
/* TSan waits a second at exit for late races: that is not ours to measure. */
const char *__tsan_default_options(void);

const char *
__tsan_default_options(void)
{
	return ("atexit_sleep_ms=0");
}
#endif

static unsigned int links_run;
static int stop;

static uint64_t
now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec);
}

/* Free this link and defer the next. */
static void
link_cb(epoch_context_t ctx)
{
	struct link *l = (struct link *)(void *)ctx;
	struct link *next;

	(void)__atomic_add_fetch(&links_run, 1, __ATOMIC_RELAXED);
	if (l->l_left > 1) {
		next = calloc(1, sizeof(*next));
		if (next == NULL)
			abort();
		next->l_left = l->l_left - 1;
		NET_EPOCH_CALL(link_cb, &next->l_ctx);
	}
	free(l);
}

static void
chain_start(unsigned int deep)
{
	struct link *l;

	l = calloc(1, sizeof(*l));
	if (l == NULL)
		abort();
	l->l_left = deep;
	NET_EPOCH_CALL(link_cb, &l->l_ctx);
}

static void *
reader(void *arg)
{
	struct epoch_tracker et;

	(void)arg;
	while (__atomic_load_n(&stop, __ATOMIC_RELAXED) == 0) {
		NET_EPOCH_ENTER(et);
		NET_EPOCH_EXIT(et);
	}
	return (NULL);
}

static void *
drainer(void *arg)
{
	(void)arg;
	NET_EPOCH_DRAIN_CALLBACKS();
	return (NULL);
}

/* One that nobody joins: it drains for as long as the process lives. */
static void *
drainer_forever(void *arg)
{
	(void)arg;
	(void)pthread_detach(pthread_self());
	for (;;)
		NET_EPOCH_DRAIN_CALLBACKS();
	return (NULL);
}

static void
at_exit(void)
{
	unsigned int before = links_run;
	int i;

	for (i = 0; i < 100; i++) {
		chain_start(1);
		NET_EPOCH_DRAIN_CALLBACKS();
	}
	if (links_run != before + 100)
		_exit(3);
}

/* The process under test.  Returns the exit status of main. */
static int
child(void)
{
	struct epoch_stats st;
	pthread_t r, d;
	sigset_t set;
	unsigned int i;
	int sig;

	(void)atexit(at_exit);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (pthread_create(&r, NULL, reader, NULL) != 0)
		return (1);
	(void)printf("ready\n");
	(void)fflush(stdout);
	(void)sigwait(&set, &sig);

	for (i = 0; i < CHAINS; i++)
		chain_start(DEEP);
	if (pthread_create(&d, NULL, drainer, NULL) != 0)
		return (1);
	for (i = 0; i < DEEP; i++)
		NET_EPOCH_DRAIN_CALLBACKS();
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	(void)pthread_join(r, NULL);
	(void)pthread_join(d, NULL);
	epoch_stats_get(net_epoch_preempt, &st);
	if (st.es_backlog != 0 || links_run != CHAINS * DEEP)
		return (2);
	for (i = 0; i < 2; i++) {
		if (pthread_create(&d, NULL, drainer_forever, NULL) != 0)
			return (1);
	}
	return (0);
}

/* Start the child, stop it, and say how long that took; 0: it went wrong. */
static uint64_t
stop_child(char **argv)
{
	char word[] = "child", buf[8];
	char *const args[] = { argv[0], word, NULL };
	uint64_t start, took;
	int fd[2], status;
	pid_t pid;

	if (pipe(fd) != 0)
		return (0);
	pid = fork();
	if (pid == 0) {
		(void)dup2(fd[1], STDOUT_FILENO);
		(void)execv("/proc/self/exe", args);
		_exit(127);
	}
	(void)close(fd[1]);
	if (read(fd[0], buf, sizeof(buf)) <= 0)
		return (0);
	start = now_ns();
	(void)kill(pid, SIGTERM);
	if (waitpid(pid, &status, 0) != pid)
		return (0);
	took = now_ns() - start;
	(void)close(fd[0]);
	(void)printf("status 0x%x after %.1f ms\n", (unsigned int)status,
	    (double)took / 1e6);
	return (status == 0 ? took : 0);
}

/* Each run must be right; one in ten must be quick, on a busy machine. */
int
main(int argc, char **argv)
{
	uint64_t took;
	int i;

	if (argc > 1)
		return (child());
	for (i = 0; i < 10; i++) {
		took = stop_child(argv);
		if (took == 0)
			return (1);
		if (took < 1000000000)
			return (0);
	}
	return (1);
}
