/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the tests of this room share: waiting with a limit, and tests of what
 * must end in a panic.  Those run in a new process: the test program calls
 * itself with the name of the case.
 */
#ifndef _INTR_INTR_TEST_H_
#define	_INTR_INTR_TEST_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "sys/thread.h"

#define	TEST_LIMIT_NS	10000000000u	/* a wait longer than this failed */

extern char **environ;

/* A case that must panic. */
struct death {
	const char	*name;
	void		(*fn)(void);
};

/* Wait until *v is at least n. */
static inline void
wait_at_least(_Atomic unsigned int *v, unsigned int n)
{
	uint64_t end = time_ns() + TEST_LIMIT_NS;

	while (atomic_load(v) < n) {
		if (time_ns() > end)
			fail_msg("waited too long for %u, have %u", n,
			    atomic_load(v));
		usleep(50);
	}
}

/* In main(): run the case that the command line names, if it names one. */
static inline void
death_main(int argc, char **argv, const struct death *deaths, size_t n)
{
	const struct rlimit nocore = { 0, 0 };

	if (argc < 2)
		return;
	setrlimit(RLIMIT_CORE, &nocore);
	for (size_t i = 0; i < n; i++)
		if (strcmp(deaths[i].name, argv[1]) == 0)
			deaths[i].fn();
	_exit(3);			/* unknown, or it survived */
}

/* Run the case; it must abort and say each of the words. */
static inline void
death_expect(const char *name, const char *word, const char *word2)
{
	char *argv[] = { strdup("/proc/self/exe"), strdup(name), NULL };
	posix_spawn_file_actions_t fa;
	char said[4096];
	size_t len = 0;
	ssize_t n;
	int fd[2], status;
	pid_t pid;

	assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, fd[1], STDERR_FILENO);
	assert_int_equal(posix_spawn(&pid, argv[0], &fa, NULL, argv, environ),
	    0);
	posix_spawn_file_actions_destroy(&fa);
	close(fd[1]);
	while (len < sizeof(said) - 1 &&
	    (n = read(fd[0], said + len, sizeof(said) - 1 - len)) > 0)
		len += (size_t)n;
	said[len] = '\0';
	close(fd[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	free(argv[0]);
	free(argv[1]);
	if (strstr(said, word) == NULL || strstr(said, word2) == NULL)
		fail_msg("%s: said \"%s\"", name, said);
	assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
	if (WIFSIGNALED(status))
		assert_int_equal(WTERMSIG(status), SIGABRT);
	else
		assert_int_not_equal(WEXITSTATUS(status), 3);
}

#endif /* _INTR_INTR_TEST_H_ */
