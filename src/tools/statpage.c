/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the pages of systat share: pairs of samples and lines.
 */

#include <stdarg.h>
#include <stdio.h>

#include "tools/statpage.h"
#include "tools/tool.h"

void
statpair_fini(struct statpair *pr)
{
	json_decref(pr->pr_now);
	json_decref(pr->pr_old);
}

int
statpair_sample(struct statpair *pr, struct tool_ctx *tc, const char *cmd,
    json_t *args, double now, struct ctl_error *ce)
{
	json_t *res;
	int error;

	error = tool_call(tc, cmd, args, &res, ce);
	if (error != 0)
		return (error);
	json_decref(pr->pr_old);
	pr->pr_old = pr->pr_now;
	pr->pr_now = res;
	pr->pr_elapsed = pr->pr_old != NULL ? now - pr->pr_when : 0;
	pr->pr_when = now;
	return (0);
}

double
statpair_rate(const struct statpair *pr, int64_t now, int64_t old)
{
	if (!(pr->pr_elapsed > 0) || now < old)
		return (0);
	return ((double)(now - old) / pr->pr_elapsed);
}

void
statpage_line(statpage_block_fn *fn, void *arg, const char *fmt, ...)
{
	char buf[STATPAGE_LINE];
	const char *line = buf;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	fn(arg, &line, 1);
}
