/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What this room's tests share: a run directory of their own, which is gone
 * afterwards, and a table of small commands.
 */
#ifndef _CTL_CTL_TEST_H_
#define	_CTL_CTL_TEST_H_

#include <sys/stat.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ctl/ctl.h"
#include "sys/defs.h"

static char test_dir[32];

/* Group set-up: NETEPOCH_RUNDIR is a fresh directory. */
static inline int
test_rundir_setup(void **state)
{

	(void)snprintf(test_dir, sizeof(test_dir), "/tmp/ctl-test-XXXXXX");
	if (mkdtemp(test_dir) == NULL)
		return (-1);
	unsetenv("NETEPOCH_MACHINE");
	return (setenv("NETEPOCH_RUNDIR", test_dir, 1));
}

/* Fails if a test left anything in it. */
static inline int
test_rundir_teardown(void **state)
{

	return (rmdir(test_dir));
}

/* ---- Commands ---- */

/* echo: text back; n times, if given. */
static inline int
test_echo(struct ctl_req *cr, void *arg)
{
	const char *text;
	char *buf;
	long i, n;
	int error;

	if ((error = ctl_arg_string(cr, "text", &text)) != 0 ||
	    (error = ctl_arg_int_opt(cr, "n", 1, 8L << 20, 1, &n)) != 0 ||
	    (error = ctl_args_done(cr)) != 0)
		return (error);
	buf = calloc((size_t)n, strlen(text) + 1);
	assert_non_null(buf);
	for (i = 0; i < n; i++)
		memcpy(buf + (size_t)i * strlen(text), text, strlen(text));
	error = ctl_result(cr, "text", ctl_text(buf));
	free(buf);
	return (error);
}

/* count: adds one to *arg, returns it. */
static inline int
test_count(struct ctl_req *cr, void *arg)
{
	_Atomic int *count = arg;

	return (ctl_result(cr, "count", json_integer(++*count)));
}

/* fail: with what it is told. */
static inline int
test_fail(struct ctl_req *cr, void *arg)
{
	const char *field, *text;
	long error;
	int rc;

	if ((rc = ctl_arg_int(cr, "errno", 1, 133, &error)) != 0 ||
	    (rc = ctl_arg_string_opt(cr, "field", "", &field)) != 0 ||
	    (rc = ctl_arg_string_opt(cr, "text", NULL, &text)) != 0)
		return (rc);
	if (text == NULL)
		return ((int)error);
	return (ctl_fail(cr, (int)error, field, "%s", text));
}

static const struct ctl_command test_commands[] = {
	{ "echo", test_echo },
	{ "count", test_count },
	{ "fail", test_fail },
};

#endif /* _CTL_CTL_TEST_H_ */
