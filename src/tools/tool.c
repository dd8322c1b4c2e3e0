/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Running a tool: finding it by name, taking out the options that all tools
 * share (-M name, --libxo style), connecting when it first calls the daemon,
 * printing its JSON at the end.  One tool at a time in a process, on the
 * caller's thread, never in the epoch.
 */

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/out.h"
#include "tools/tool.h"

struct tool_style {
	bool	ts_json;
	bool	ts_pretty;
};

void
tool_warn(struct tool_ctx *tc, const char *fmt, ...)
{
	va_list ap;

	(void)fflush(tc->tc_out);
	(void)fprintf(tc->tc_err, "%s: ", tc->tc_tool->tl_name);
	va_start(ap, fmt);
	(void)vfprintf(tc->tc_err, fmt, ap);
	va_end(ap);
	(void)fputc('\n', tc->tc_err);
}

int
tool_fail(struct tool_ctx *tc, int status, const char *fmt, ...)
{
	va_list ap;

	(void)fflush(tc->tc_out);
	(void)fprintf(tc->tc_err, "%s: ", tc->tc_tool->tl_name);
	va_start(ap, fmt);
	(void)vfprintf(tc->tc_err, fmt, ap);
	va_end(ap);
	(void)fputc('\n', tc->tc_err);
	return (status);
}

int
tool_usage(struct tool_ctx *tc)
{
	const char *line = tc->tc_tool->tl_synopsis, *head = "usage:";
	size_t n;

	do {
		n = strcspn(line, "\n");
		(void)fprintf(tc->tc_err, "%s %s%s%.*s\n", head,
		    tc->tc_tool->tl_name, n > 0 ? " " : "", (int)n, line);
		head = "      ";
		line += n;
	} while (*line++ != '\0');
	return (EX_USAGE);
}

int
tool_badopt(struct tool_ctx *tc, int c)
{
	if (c == ':')
		tool_warn(tc, "option requires an argument -- %c", optopt);
	else
		tool_warn(tc, "illegal option -- %c", optopt);
	return (tool_usage(tc));
}

int
tool_call(struct tool_ctx *tc, const char *cmd, json_t *args,
    json_t **result, struct ctl_error *ce)
{
	json_t *res = NULL;
	int error;

	memset(ce, 0, sizeof(*ce));
	if (tc->tc_cl == NULL) {
		tc->tc_cl = ctl_connect(tc->tc_machine, &error, ce->ce_text,
		    sizeof(ce->ce_text));
		if (tc->tc_cl == NULL) {
			json_decref(args);
			ce->ce_errno = ENOTCONN;
			return (ENOTCONN);
		}
		tc->tc_close = true;
	}
	if ((error = ctl_call(tc->tc_cl, cmd, args, &res, ce)) != 0)
		return (error);
	if (result != NULL)
		*result = res;
	else
		json_decref(res);
	return (0);
}

int
tool_callfail(struct tool_ctx *tc, const struct ctl_error *ce)
{
	bool gone = ce->ce_errno == ENOTCONN || ce->ce_errno == EPIPE;

	return (tool_fail(tc, gone ? EX_UNAVAILABLE : 1, "%s",
	    ce->ce_text[0] != '\0' ? ce->ce_text : strerror(ce->ce_errno)));
}

int
tool_do(struct tool_ctx *tc, const char *cmd, json_t *args, json_t **result)
{
	struct ctl_error ce;

	if (tool_call(tc, cmd, args, result, &ce) != 0)
		return (tool_callfail(tc, &ce));
	return (0);
}

int
tool_flush(struct tool_ctx *tc)
{
	int error;

	error = out_flush(tc->tc_o);
	if (error == 0)
		return (0);
	return (tool_fail(tc, EX_IOERR, "cannot write: %s",
	    strerror(error)));
}

bool
tool_number(const char *s, long long min, long long max, long long *val)
{
	char *end;

	if (*s == '\0' || strchr(" \t\n", *s) != NULL)
		return (false);
	errno = 0;
	*val = strtoll(s, &end, 0);
	return (errno == 0 && *end == '\0' && *val >= min && *val <= max);
}

void
tool_sleep(double seconds)
{
	struct timespec ts;

	ts.tv_sec = (time_t)seconds;
	ts.tv_nsec = (long)((seconds - (double)ts.tv_sec) * 1e9);
	while (nanosleep(&ts, &ts) != 0 && errno == EINTR)
		continue;
}

const struct tool *
tool_find(const char *name)
{
	const struct tool *const *tp;

	for (tp = tools; *tp != NULL; tp++)
		if (strcmp((*tp)->tl_name, name) == 0)
			return (*tp);
	return (NULL);
}

/* The words of --libxo: a list of styles, or short ones behind a colon. */
static bool
tool_libxo(struct tool_style *ts, const char *words)
{
	char word[16];
	size_t n;

	if (*words == ':') {
		for (words++; *words != '\0'; words++) {
			if (strchr("JPT", *words) == NULL)
				return (false);
			ts->ts_json = *words == 'J' ||
			    (*words != 'T' && ts->ts_json);
			ts->ts_pretty |= *words == 'P';
		}
		return (true);
	}
	for (;; words++) {
		n = strcspn(words, ",");
		if (n >= sizeof(word))
			return (false);
		memcpy(word, words, n);
		word[n] = '\0';
		if (strcmp(word, "json") == 0)
			ts->ts_json = true;
		else if (strcmp(word, "text") == 0)
			ts->ts_json = false;
		else if (strcmp(word, "pretty") == 0)
			ts->ts_pretty = true;
		else if (n > 0)
			return (false);
		words += n;
		if (*words == '\0')
			return (true);
	}
}

/*
 * Take the common options out of argv, which shrinks: --libxo anywhere before
 * a "--", -M name in front of the others.  Prints what is wrong with them.
 */
static int
tool_common(struct tool_ctx *tc, struct tool_style *ts, int *argcp,
    char **argv)
{
	int i, j = 1, argc = *argcp;
	bool lead = true;
	char *arg;

	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		arg = argv[i];
		if (lead && strncmp(arg, "-M", 2) == 0) {
			if (tc->tc_local)
				return (tool_fail(tc, EX_USAGE,
				    "-M: the machine is already chosen"));
			tc->tc_machine = arg[2] != '\0' ? arg + 2 :
			    argv[i + 1];
			if (arg[2] == '\0' && ++i >= argc)
				return (tool_fail(tc, EX_USAGE,
				    "option requires an argument -- M"));
			continue;
		}
		lead = false;
		if (strncmp(arg, "--libxo", 7) != 0) {
			argv[j++] = arg;
			continue;
		}
		arg += 7;
		if (*arg == '\0' && i + 1 < argc)
			arg = argv[++i];
		else if (*arg == '=')
			arg++;
		if (*arg == '\0' || !tool_libxo(ts, arg))
			return (tool_fail(tc, EX_USAGE, "--libxo: expected "
			    "json, text or pretty, got '%s'", arg));
	}
	while (i < argc)
		argv[j++] = argv[i++];
	argv[j] = NULL;
	*argcp = j;
	return (0);
}

/* The words become JSON, mostly, which is UTF-8; say so if one is not. */
static int
tool_utf8(struct tool_ctx *tc, int argc, char **argv)
{
	json_t *text;
	int i;

	for (i = 1; i < argc; i++) {
		if ((text = json_string(argv[i])) == NULL)
			return (tool_fail(tc, EX_DATAERR,
			    "argument %d is not UTF-8 text", i));
		json_decref(text);
	}
	return (0);
}

int
tool_run_to(struct ctl_client *cl, const char *machine, FILE *out, FILE *err,
    int argc, char **argv)
{
	struct tool_ctx tc = { .tc_cl = cl, .tc_local = cl != NULL,
	    .tc_machine = machine, .tc_out = out, .tc_err = err };
	struct tool_style ts = { false, false };
	const char *base;
	char **words;
	int status;

	base = strrchr(argv[0], '/');
	base = base != NULL ? base + 1 : argv[0];
	if ((tc.tc_tool = tool_find(base)) == NULL) {
		(void)fprintf(err, "netepoch: there is no tool '%s'; "
		    "netepoch help lists them\n", base);
		return (EX_USAGE);
	}
	if ((words = calloc((size_t)argc + 1, sizeof(*words))) == NULL)
		return (tool_fail(&tc, EX_OSERR, "out of memory"));
	memcpy(words, argv, (size_t)argc * sizeof(*words));
	status = tc.tc_tool->tl_bytes ? 0 : tool_utf8(&tc, argc, words);
	if (status == 0)
		status = tool_common(&tc, &ts, &argc, words);
	if (status == 0) {
		tc.tc_o = out_alloc(out, ts.ts_json, ts.ts_pretty);
		if (tc.tc_o == NULL)
			status = tool_fail(&tc, EX_OSERR, "out of memory");
	}
	if (status == 0) {
		optind = 0;		/* glibc: forget the last run */
		opterr = 0;
		status = tc.tc_tool->tl_fn(&tc, argc, words);
		if (status == 0)
			status = tool_flush(&tc);
		else
			(void)out_flush(tc.tc_o);
	}
	out_free(tc.tc_o);
	if (tc.tc_close)
		ctl_close(tc.tc_cl);
	free(words);
	return (status);
}

int
tool_run(struct ctl_client *cl, int argc, char **argv)
{
	return (tool_run_to(cl, NULL, stdout, stderr, argc, argv));
}
