/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * What ThreadSanitizer makes of libepoch, with no annotation and no
 * suppression.  It follows the order that atomic operations make and knows no
 * membarrier(2); but it need not.  What the sanitizer has to see is that the
 * end of a section comes before the free: that is the release in
 * epoch_exit(), or in the next epoch_enter(), and the acquire of the scan,
 * atomic operations in both kinds of epoch.  The barrier decides which value
 * a scan reads, and the sanitized program, which runs on the same machine,
 * calls it like any other.
 *
 * So a plain write after a wait must not be reported, and the same write
 * without the wait must be: this is built with the sanitizer only, and runs
 * itself once for each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pthread.h>

#include <netepoch/epoch.h>

#define	ROUNDS		2000
#define	FOUND		66	/* exit status when there is a report */

static int cell;		/* plain: written when nobody may read it */
static int open_for;		/* (a) round in which to read it */
static int seen;		/* (a, relaxed) */
static epoch_t epoch;

const char *__tsan_default_options(void);

const char *
__tsan_default_options(void)
{
	return ("halt_on_error=1:exitcode=66:atexit_sleep_ms=0");
}

/*
 * Loads acquire, as those of a pointer do, so that a reader sees the writes
 * before it; what it tells is relaxed, so that only the end of the section
 * says that its reading is over.
 */
static void *
reader(void *arg)
{
	int last = 0, now, sum = 0;

	while ((now = __atomic_load_n(&open_for, __ATOMIC_ACQUIRE)) >= 0) {
		if (now == last || now == 0)
			continue;
		epoch_enter(epoch);
		if (__atomic_load_n(&open_for, __ATOMIC_ACQUIRE) == now)
			sum += *(volatile int *)&cell;
		epoch_exit(epoch);
		last = now;
		__atomic_store_n(&seen, now, __ATOMIC_RELAXED);
	}
	*(int *)arg = sum;
	return (NULL);
}

/* The program under test. */
static int
child(unsigned int flags, int waits)
{
	pthread_t t;
	int i, sum = 0;

	epoch = epoch_alloc("tsan", flags);
	if (pthread_create(&t, NULL, reader, &sum) != 0)
		return (1);
	for (i = 1; i <= ROUNDS; i++) {
		__atomic_store_n(&open_for, i, __ATOMIC_RELEASE);
		while (__atomic_load_n(&seen, __ATOMIC_RELAXED) != i)
			continue;
		__atomic_store_n(&open_for, 0, __ATOMIC_RELAXED);
		if (waits != 0)
			epoch_wait(epoch);
		*(volatile int *)&cell = i;
	}
	__atomic_store_n(&open_for, -1, __ATOMIC_RELAXED);
	(void)pthread_join(t, NULL);
	epoch_free(epoch);
	return (0);
}

/* The exit status of this program run with these arguments. */
static int
again(char *flags, char *waits)
{
	char self[] = "/proc/self/exe";
	char *const argv[] = { self, flags, waits, NULL };
	int status;
	pid_t pid;

	pid = fork();
	if (pid == 0) {
		(void)unsetenv("TSAN_OPTIONS");
		(void)execv(self, argv);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return (-1);
	return (WEXITSTATUS(status));
}

int
main(int argc, char **argv)
{
	char fenced[] = "0", asymmetric[16], yes[] = "1", no[] = "0";
	int bad = 0, status;
	size_t i;
	struct {
		char	*r_flags;
		char	*r_waits;
		int	 r_want;
	} runs[] = {
		{ fenced, yes, 0 },
		{ asymmetric, yes, 0 },
		{ fenced, no, FOUND },
		{ asymmetric, no, FOUND },
	};

	if (argc == 3)
		return (child((unsigned int)strtoul(argv[1], NULL, 0),
		    atoi(argv[2])));
	(void)snprintf(asymmetric, sizeof(asymmetric), "%u", EPOCH_ASYMMETRIC);
	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		status = again(runs[i].r_flags, runs[i].r_waits);
		(void)printf("flags %s, wait %s: status %d, want %d\n",
		    runs[i].r_flags, runs[i].r_waits, status, runs[i].r_want);
		bad |= status != runs[i].r_want;
	}
	return (bad);
}
