/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The tools that are netepoch's own, and how a tool finds its machine: with
 * a real socket in a directory of the test's.
 */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/tool_fake.h"

static char rundir[] = "/tmp/netepoch-test-XXXXXX";

static int
group_setup(void **state)
{
	if (mkdtemp(rundir) == NULL)
		return (-1);
	(void)setenv("NETEPOCH_RUNDIR", rundir, 1);
	(void)setenv("TMPDIR", rundir, 1);
	(void)unsetenv("NETEPOCH_MACHINE");
	return (0);
}

/* Also the test that nothing was left: rmdir() wants it empty. */
static int
group_teardown(void **state)
{
	return (rmdir(rundir));
}

static int
setup(void **state)
{
	fake_reset();
	fake_reply("machine.info", "{\"name\":\"Lab1\",\"pid\":4242,"
	    "\"uptime_ns\":93784000000000,\"version\":\"0.1.0\"}");
	return (0);
}

static void
test_nobody(void **state)
{
	const struct fake_run *fr;

	fr = fake_run_on(NULL, "ifconfig");
	assert_int_equal(fr->fr_status, 69);
	assert_string_equal(fr->fr_out, "");
	assert_non_null(strstr(fr->fr_err, "ifconfig: no machine is running"));
	fr = fake_run_on("Lab7", "sysctl a.b c.d");
	assert_int_equal(fr->fr_status, 69);
	assert_non_null(strstr(fr->fr_err, "machine Lab7 is not running"));
	/* Usage comes before the search for a machine. */
	assert_int_equal(fake_run_on(NULL, "vmstat")->fr_status, 64);
	fr = fake_run_on(NULL, "list");
	assert_int_equal(fr->fr_status, 0);
	assert_string_equal(fr->fr_out, "no machine is running\n");
	assert_string_equal(fake_run_on(NULL, "list -j")->fr_out,
	    "{\"machines\":[]}\n");
	assert_int_equal(fake_run_on(NULL, "batch")->fr_status, 69);
	assert_int_equal(fake_run_on(NULL, "shell")->fr_status, 69);
}

static void
test_one(void **state)
{
	const struct fake_run *fr;

	fake_serve("Lab1");
	fake_reply("if.list", "{\"interfaces\":[{\"name\":\"em0\"}]}");
	assert_string_equal(fake_run_on(NULL, "ifconfig -l")->fr_out, "em0\n");
	assert_string_equal(fake_run_on("Lab1", "ifconfig -l")->fr_out,
	    "em0\n");
	assert_string_equal(fake_run_on(NULL, "ifconfig -M Lab1 -l")->fr_out,
	    "em0\n");
	assert_string_equal(fake_run_on(NULL, "ifconfig -MLab1 -l")->fr_out,
	    "em0\n");
	assert_int_equal(fake_run_on(NULL, "ifconfig -M Lab7 -l")->fr_status,
	    69);
	assert_int_equal(fake_run_on(NULL, "ifconfig -M")->fr_status, 64);
	fr = fake_run_on(NULL, "list");
	assert_string_equal(fr->fr_out,
	    "Machine               Pid    Uptime Version\n"
	    "Lab1                 4242     1d02h 0.1.0\n");
	assert_int_equal(fr->fr_status, 0);
	assert_string_equal(fake_run_on(NULL, "list -j")->fr_out,
	    "{\"machines\":[{\"name\":\"Lab1\",\"pid\":4242,"
	    "\"uptime\":93784,\"version\":\"0.1.0\"}]}\n");
	fake_fail("machine.info", EIO, "", "out of order");
	fr = fake_run_on(NULL, "list");
	assert_string_equal(fr->fr_out,
	    "Machine               Pid    Uptime Version\n"
	    "Lab1                    -         - out of order\n");
	assert_int_equal(fr->fr_status, 69);
	fake_stop();
}

/* The links are there while the command runs, and are gone behind it. */
static void
test_shell(void **state)
{
	fake_serve("Lab1");
	assert_int_equal(fake_run_on(NULL, "shell Lab1 sh -c 'test "
	    "\"$NETEPOCH_MACHINE\" = Lab1 && test -L "
	    "\"$NETEPOCH_BIN/ifconfig\" && test \"$(command -v route)\" = "
	    "\"$NETEPOCH_BIN/route\" && test \"$PS1\" = \"(Lab1) \\$ \" && "
	    "test ! -e \"$NETEPOCH_BIN/list\" && exit 37'")->fr_status, 37);
	assert_int_equal(fake_run_on(NULL,
	    "shell Lab1 /nonexistent/program")->fr_status, 127);
	assert_int_equal(fake_run_on(NULL, "shell Lab1 sh -c 'kill -9 "
	    "$$'")->fr_status, 128 + 9);
	fake_stop();
}

static void
test_batch_file(void **state)
{
	char path[64], line[128];
	FILE *f;

	fake_serve("Lab1");
	(void)snprintf(path, sizeof(path), "%s/conf", rundir);
	assert_non_null(f = fopen(path, "w"));
	(void)fprintf(f, "kldload a\nkldload b\n");
	assert_int_equal(fclose(f), 0);
	(void)snprintf(line, sizeof(line), "batch %s", path);
	assert_int_equal(fake_run_on(NULL, line)->fr_status, 0);
	assert_string_equal(fake_run_on(NULL, line)->fr_calls,
	    "machine.info {}\nkld.load {\"name\":\"a\"}\n"
	    "kld.load {\"name\":\"b\"}\n");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(fake_run_on(NULL, line)->fr_status, 66);
	fake_stop();
}

static void
test_help(void **state)
{
	const struct fake_run *fr;

	fr = fake_run_on(NULL, "help");
	assert_int_equal(fr->fr_status, 0);
	assert_non_null(strstr(fr->fr_out, "\n  ifconfig   "));
	assert_non_null(strstr(fr->fr_out, "\n  systat     "));
	fr = fake_run_on(NULL, "help vmstat");
	assert_string_equal(fr->fr_out, "vmstat: show the interrupts of a "
	    "machine and their rates\n\tvmstat -i [-a] [-c count] "
	    "[-w wait]\nManual: netepoch-vmstat(8)\n");
	assert_int_equal(fake_run_on(NULL, "help me")->fr_status, 64);
	assert_int_equal(fake_run_on(NULL, "nonsense")->fr_status, 64);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_nobody, setup),
		cmocka_unit_test_setup(test_one, setup),
		cmocka_unit_test_setup(test_shell, setup),
		cmocka_unit_test_setup(test_batch_file, setup),
		cmocka_unit_test_setup(test_help, setup),
	};

	return (cmocka_run_group_tests(tests, group_setup, group_teardown));
}
