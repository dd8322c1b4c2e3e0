/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A socket node for a tool.  libnetgraph finds its machine as the tools do,
 * by NETEPOCH_MACHINE or because only one runs; so a machine that was chosen
 * otherwise is put there while the node is made.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <netgraph.h>

#include "sys/rundir.h"
#include "tools/ngtool.h"
#include "tools/out.h"
#include "tools/tool.h"

#define	NGTOOL_ENV	"NETEPOCH_MACHINE"

static const char *ngtool_name = "";	/* whose messages these are */

/* What libnetgraph has to say at debug levels. */
static void __printflike(1, 2)
ngtool_log(const char *fmt, ...)
{
	int error = errno;
	va_list ap;

	va_start(ap, fmt);
	(void)fprintf(stderr, "%s: ", ngtool_name);
	(void)vfprintf(stderr, fmt, ap);
	(void)fprintf(stderr, ": %s\n", strerror(error));
	va_end(ap);
	errno = error;
}

static void __printflike(1, 2)
ngtool_logx(const char *fmt, ...)
{
	int error = errno;
	va_list ap;

	va_start(ap, fmt);
	(void)fprintf(stderr, "%s: ", ngtool_name);
	(void)vfprintf(stderr, fmt, ap);
	(void)fputc('\n', stderr);
	va_end(ap);
	errno = error;
}

/* The machine that the caller is connected to.  0 or a status. */
static int
ngtool_local(struct tool_ctx *tc, char name[RUNDIR_NAMESIZ])
{
	json_t *res;
	int status;

	if ((status = tool_do(tc, "machine.info", NULL, &res)) != 0)
		return (status);
	(void)snprintf(name, RUNDIR_NAMESIZ, "%s", js_str(res, "name"));
	json_decref(res);
	return (0);
}

/* Why there is no node: for want of a machine, say which there are. */
static int
ngtool_fail(struct tool_ctx *tc, int error)
{
	char why[256];
	struct ctl_client *cl;
	int unused;

	if (error != EAFNOSUPPORT)
		return (tool_fail(tc, EX_OSERR, "can't create node: %s",
		    strerror(error)));
	cl = ctl_connect(tc->tc_machine, &unused, why, sizeof(why));
	if (cl != NULL) {
		ctl_close(cl);
		(void)snprintf(why, sizeof(why), "the machine has no "
		    "netgraph");
	}
	return (tool_fail(tc, EX_OSERR, "can't create node: %s (%s)",
	    strerror(error), why));
}

int
ngtool_open(struct tool_ctx *tc, const char *name, int debug, int *cs,
    int *ds)
{
	const char *env, *machine = tc->tc_machine;
	char local[RUNDIR_NAMESIZ], *before = NULL;
	int error = 0, status;

	if (tc->tc_local) {
		if ((status = ngtool_local(tc, local)) != 0)
			return (status);
		machine = local;
	}
	ngtool_name = tc->tc_tool->tl_name;
	NgSetErrLog(ngtool_log, ngtool_logx);
	(void)NgSetDebug(debug);
	if (machine != NULL) {
		env = getenv(NGTOOL_ENV);
		if (env != NULL && (before = strdup(env)) == NULL)
			return (tool_fail(tc, EX_OSERR, "out of memory"));
		(void)setenv(NGTOOL_ENV, machine, 1);
	}
	if (NgMkSockNode(name, cs, ds) < 0)
		error = errno;
	if (machine != NULL && before != NULL)
		(void)setenv(NGTOOL_ENV, before, 1);
	else if (machine != NULL)
		(void)unsetenv(NGTOOL_ENV);
	free(before);
	return (error == 0 ? 0 : ngtool_fail(tc, error));
}
