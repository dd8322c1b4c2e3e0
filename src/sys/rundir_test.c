/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Machine names, the run directory from each variable of the environment,
 * which machines are alive and which one is chosen.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/defs.h"
#include "sys/rundir.h"

static char test_dir[] = "/tmp/rundir-test-XXXXXX";

static void
test_names(void **state)
{
	static const char *const good[] = { "M1", "a", "A-b_9", "-",
	    "abcdefghijklmnopqrstuvwxyz01234" };
	static const char *const bad[] = { "", ".", "..", "a/b", "M 1", "a.b",
	    "h\xc3\xa9", "abcdefghijklmnopqrstuvwxyz012345", "a\n" };
	size_t i;

	for (i = 0; i < nitems(good); i++)
		assert_true(rundir_name_ok(good[i]));
	for (i = 0; i < nitems(bad); i++)
		assert_false(rundir_name_ok(bad[i]));
}

static void
test_paths(void **state)
{
	char buf[64], path[200], tiny[8], want[100];

	assert_int_equal(rundir_get(buf, sizeof(buf)), 0);
	assert_string_equal(buf, test_dir);
	assert_int_equal(rundir_get(tiny, sizeof(tiny)), ENAMETOOLONG);

	(void)snprintf(want, sizeof(want), "%s/M1/netgraph", test_dir);
	assert_int_equal(rundir_socket("M1", "netgraph", path, sizeof(path)),
	    0);
	assert_string_equal(path, want);
	want[strlen(want) - strlen("/netgraph")] = '\0';
	assert_int_equal(rundir_path("M1", NULL, path, sizeof(path)), 0);
	assert_string_equal(path, want);
	assert_int_equal(rundir_path("M1", NULL, tiny, sizeof(tiny)),
	    ENAMETOOLONG);
	assert_int_equal(rundir_socket("M/1", "ctl", path, sizeof(path)),
	    EINVAL);

	setenv("NETEPOCH_RUNDIR", "/tmp/a-directory-whose-name-is-longer-than-"
	    "the-path-of-a-socket-may-be-which-is-one-hundred-and-seven-bytes",
	    1);
	assert_int_equal(rundir_path("M1", "ctl", path, sizeof(path)), 0);
	assert_int_equal(rundir_socket("M1", "ctl", path, sizeof(path)),
	    ENAMETOOLONG);
	setenv("NETEPOCH_RUNDIR", test_dir, 1);
}

static void
test_environment(void **state)
{
	char buf[64], want[64];

	unsetenv("NETEPOCH_RUNDIR");
	assert_int_equal(rundir_get(buf, sizeof(buf)), 0);
	if (geteuid() == 0)
		assert_string_equal(buf, "/run/netepoch");
	else {
		setenv("XDG_RUNTIME_DIR", "/x", 1);
		assert_int_equal(rundir_get(buf, sizeof(buf)), 0);
		assert_string_equal(buf, "/x/netepoch");
		unsetenv("XDG_RUNTIME_DIR");
		assert_int_equal(rundir_get(buf, sizeof(buf)), 0);
		(void)snprintf(want, sizeof(want), "/tmp/netepoch-%u",
		    (unsigned int)geteuid());
		assert_string_equal(buf, want);
		/* The root directory belongs to somebody else. */
		assert_int_equal(rundir_check("/"), EACCES);
	}
	setenv("NETEPOCH_RUNDIR", "", 1);	/* as if it were not set */
	assert_int_equal(rundir_get(want, sizeof(want)), 0);
	assert_string_equal(buf, want);
	setenv("NETEPOCH_RUNDIR", test_dir, 1);
	assert_int_equal(rundir_check("/"), 0);
}

/* Make a machine of that name, alive while the descriptor is open. */
static int
machine_make(const char *name)
{
	struct flock fl = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char path[200];
	int fd;

	assert_int_equal(rundir_path(name, NULL, path, sizeof(path)), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(rundir_path(name, "lock", path, sizeof(path)), 0);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_not_equal(fd, -1);
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &fl), 0);
	return (fd);
}

static void
machine_remove(const char *name)
{
	char path[200];

	assert_int_equal(rundir_path(name, "lock", path, sizeof(path)), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rundir_path(name, NULL, path, sizeof(path)), 0);
	assert_int_equal(rmdir(path), 0);
}

static void
test_machines(void **state)
{
	char name[RUNDIR_NAMESIZ], names[4][RUNDIR_NAMESIZ];
	int m1, m2;

	assert_int_equal(rundir_machines(names, 4), 0);
	assert_int_equal(rundir_choose(NULL, name), ENOENT);
	m2 = machine_make("M2");
	assert_int_equal(rundir_machines(names, 4), 1);
	assert_int_equal(rundir_choose(NULL, name), 0);
	assert_string_equal(name, "M2");
	m1 = machine_make("M1");
	assert_int_equal(rundir_machines(names, 4), 2);
	assert_string_equal(names[0], "M1");
	assert_string_equal(names[1], "M2");
	assert_int_equal(rundir_machines(names, 1), 1);
	assert_int_equal(rundir_choose(NULL, name), ENOTUNIQ);

	/* The environment decides, the argument decides before it. */
	setenv("NETEPOCH_MACHINE", "M1", 1);
	assert_int_equal(rundir_choose(NULL, name), 0);
	assert_string_equal(name, "M1");
	assert_int_equal(rundir_choose("M3", name), 0);
	assert_string_equal(name, "M3");
	assert_int_equal(rundir_choose("", name), EINVAL);
	setenv("NETEPOCH_MACHINE", "../M1", 1);
	assert_int_equal(rundir_choose(NULL, name), EINVAL);
	setenv("NETEPOCH_MACHINE", "", 1);
	assert_int_equal(rundir_choose(NULL, name), ENOTUNIQ);

	/* One that died leaves its directory, and is no machine. */
	(void)close(m2);
	assert_int_equal(rundir_choose(NULL, name), 0);
	assert_string_equal(name, "M1");
	(void)close(m1);
	assert_int_equal(rundir_machines(names, 4), 0);
	machine_remove("M1");
	machine_remove("M2");
}

static int
setup(void **state)
{

	if (mkdtemp(test_dir) == NULL)
		return (-1);
	unsetenv("NETEPOCH_MACHINE");
	return (setenv("NETEPOCH_RUNDIR", test_dir, 1));
}

/* Fails if a test left anything in it. */
static int
teardown(void **state)
{

	return (rmdir(test_dir));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_machines),
	};

	return (cmocka_run_group_tests(tests, setup, teardown));
}
