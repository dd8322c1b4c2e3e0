/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The lock of a machine: two daemons of one name, one that died, one that
 * ends while the next starts.
 */
#include "ctl/ctl_test.h"

#include <sys/wait.h>

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>

#include "sys/rundir.h"
#include "sys/thread.h"

static void
test_socket_path(void **state)
{
	char path[200];

	assert_int_equal(ctl_socket_path("M1", path, sizeof(path)), 0);
	assert_int_equal(strncmp(path, test_dir, strlen(test_dir)), 0);
	assert_string_equal(path + strlen(test_dir), "/M1/ctl");
	assert_int_equal(ctl_socket_path("M/1", path, sizeof(path)), EINVAL);
}

static void
test_lock(void **state)
{
	char err[256], names[4][RUNDIR_NAMESIZ], want[64];
	int error, fd, fd2, fd3;

	assert_int_equal(rundir_machines(names, 4), 0);
	fd = ctl_machine_lock("M2", &error, err, sizeof(err));
	assert_int_not_equal(fd, -1);
	assert_int_equal(error, 0);

	/* The second of its name is refused, with the pid of the first. */
	fd2 = ctl_machine_lock("M2", &error, err, sizeof(err));
	assert_int_equal(fd2, -1);
	assert_int_equal(error, EEXIST);
	(void)snprintf(want, sizeof(want),
	    "machine M2 is already running, pid %ld", (long)getpid());
	assert_string_equal(err, want);

	fd3 = ctl_machine_lock("M1", &error, err, sizeof(err));
	assert_int_not_equal(fd3, -1);
	assert_int_equal(rundir_machines(names, 4), 2);
	assert_string_equal(names[0], "M1");
	assert_string_equal(names[1], "M2");
	assert_int_equal(rundir_machines(names, 1), 1);

	ctl_machine_unlock("M2", fd);
	assert_int_equal(rundir_machines(names, 4), 1);
	assert_string_equal(names[0], "M1");
	ctl_machine_unlock("M1", fd3);
	assert_int_equal(rundir_machines(names, 4), 0);
}

static void
test_bad_name(void **state)
{
	char err[256];
	int error;

	assert_int_equal(ctl_machine_lock("../x", &error, err, sizeof(err)),
	    -1);
	assert_int_equal(error, EINVAL);
	assert_string_equal(err, "machine name \"../x\": expected 1 to 31 of "
	    "A-Z a-z 0-9 _ -");
}

/* A daemon that was killed: not alive, and its name can be taken. */
static void
test_killed(void **state)
{
	char err[256], names[4][RUNDIR_NAMESIZ], path[128];
	int error, fd, pipefd[2], status;
	pid_t pid;
	char c;

	assert_int_equal(pipe(pipefd), 0);
	pid = fork();
	assert_int_not_equal(pid, -1);
	if (pid == 0) {
		fd = ctl_machine_lock("M1", &error, err, sizeof(err));
		if (fd == -1 || write(pipefd[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(pipefd[0], &c, 1), 1);
	assert_int_equal(rundir_machines(names, 4), 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));

	(void)snprintf(path, sizeof(path), "%s/M1/lock", test_dir);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(rundir_machines(names, 4), 0);
	fd = ctl_machine_lock("M1", &error, err, sizeof(err));
	assert_int_not_equal(fd, -1);
	ctl_machine_unlock("M1", fd);
	assert_int_equal(access(path, F_OK), -1);
	(void)close(pipefd[0]);
	(void)close(pipefd[1]);
}

/* No room to make a directory, something else in the way of the lock. */
static void
test_unusable(void **state)
{
	char err[256], path[128], want[300];
	int error, fd;

	setenv("NETEPOCH_RUNDIR", "/proc/nothing/here", 1);
	assert_int_equal(ctl_machine_lock("M1", &error, err, sizeof(err)), -1);
	assert_int_equal(error, ENOENT);
	assert_string_equal(err, "cannot make the directory "
	    "/proc/nothing/here: No such file or directory");
	setenv("NETEPOCH_RUNDIR", test_dir, 1);

	/* A plain file where the machine's directory should be. */
	(void)snprintf(path, sizeof(path), "%s/M1", test_dir);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_int_not_equal(fd, -1);
	(void)close(fd);
	assert_int_equal(ctl_machine_lock("M1", &error, err, sizeof(err)), -1);
	assert_int_equal(error, ENOTDIR);
	(void)snprintf(want, sizeof(want),
	    "cannot open %s/lock: Not a directory", path);
	assert_string_equal(err, want);
	assert_int_equal(unlink(path), 0);

	/* A link where the lock should be is not followed. */
	assert_int_equal(mkdir(path, 0755), 0);
	(void)snprintf(path, sizeof(path), "%s/M1/lock", test_dir);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(ctl_machine_lock("M1", &error, err, sizeof(err)), -1);
	assert_int_equal(error, ELOOP);
	assert_int_equal(unlink(path), 0);
	(void)snprintf(path, sizeof(path), "%s/M1", test_dir);
	assert_int_equal(rmdir(path), 0);
}

/*
 * Many take and give up one name: at each moment at most one has it, and
 * nobody sees another error than EEXIST.  How the turns fall is the
 * scheduler's affair: all go on until the name was had often enough.
 */
#define	TAKERS	4
#define	ROUNDS	500
static _Atomic int holders;
static _Atomic int rounds;

static void
taker(void *arg)
{
	char err[256];
	int error, fd;

	while (rounds < ROUNDS) {
		fd = ctl_machine_lock("M1", &error, err, sizeof(err));
		if (fd == -1) {
			if (error != EEXIST)
				ne_panic(__FILE__, __LINE__, "%s", err);
			continue;
		}
		if (atomic_fetch_add(&holders, 1) != 0)
			ne_panic(__FILE__, __LINE__, "two hold the name");
		rounds++;
		atomic_fetch_sub(&holders, 1);
		ctl_machine_unlock("M1", fd);
	}
}

static void
test_lock_race(void **state)
{
	struct thread *td[TAKERS];
	int i;

	for (i = 0; i < TAKERS; i++)
		assert_int_equal(thread_create(&td[i], "taker",
		    THREAD_ANY_CPU, taker, NULL), 0);
	for (i = 0; i < TAKERS; i++)
		thread_join(td[i]);
	assert_int_equal(holders, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_socket_path),
		cmocka_unit_test(test_lock),
		cmocka_unit_test(test_bad_name),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_unusable),
		cmocka_unit_test(test_lock_race),
	};

	return (cmocka_run_group_tests(tests, test_rundir_setup,
	    test_rundir_teardown));
}
