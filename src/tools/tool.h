/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The command-line tools: what a tool is, and how to run one.
 *
 * A tool is a function that turns words into control calls and the answers
 * into text or JSON.  It runs in the netepoch binary, called by name, and
 * also inside netepochd for the lines of its configuration file.  So a tool
 * does not exit, does not keep state from one run to the next, and writes to
 * the streams of its context only.  One tool runs at a time in a process:
 * getopt(3) has global variables.
 */
#ifndef _TOOLS_TOOL_H_
#define	_TOOLS_TOOL_H_

#include <stdbool.h>
#include <stdio.h>
#include <sysexits.h>

#include "ctl/ctl.h"
#include "sys/defs.h"

struct out;

/* One run of a tool. */
struct tool_ctx {
	const struct tool *tc_tool;
	struct ctl_client *tc_cl;	/* NULL: connect at the first call */
	bool		 tc_close;	/* tc_cl was made here */
	bool		 tc_local;	/* the caller's client: -M refused */
	const char	*tc_machine;	/* -M, or NULL */
	FILE		*tc_out;
	FILE		*tc_err;
	struct out	*tc_o;		/* writes to tc_out */
};

struct tool {
	const char	*tl_name;
	const char	*tl_synopsis;	/* words after the name; lines by \n */
	const char	*tl_descr;	/* one line for netepoch help */
	const char	*tl_manual;	/* "netepoch-arp(8)" */
	bool		 tl_bytes;	/* its words need not be UTF-8 */
	/* argv[0] is the name.  Returns 0 or a status of sysexits(3). */
	int		(*tl_fn)(struct tool_ctx *tc, int argc, char **argv);
};

extern const struct tool *const tools[];	/* ends with NULL */

/* ---- Running tools ---- */

/*
 * Run the tool called argv[0] (a path's last component counts).  cl: the
 * connection to use, kept by the caller; NULL: connect to the machine that
 * -M or the environment names.  argv is not changed.  Prints to stdout, and
 * errors to stderr as "tool: text".  Returns the exit status: 0, 1 or one of
 * sysexits(3).
 */
int	tool_run(struct ctl_client *cl, int argc, char **argv);
/* The same with other streams, and with the machine's name or NULL. */
int	tool_run_to(struct ctl_client *cl, const char *machine, FILE *out,
	    FILE *err, int argc, char **argv);
/*
 * Run the lines of in, named name in messages: words as a shell splits them,
 * '#' starts a comment, "netepoch" in front of a tool is allowed.  Stops at
 * the first line that fails and says "name:line: ..." on err.  Returns that
 * line's status.
 */
int	tool_batch(struct ctl_client *cl, FILE *in, const char *name,
	    FILE *out, FILE *err);
/* NULL: there is none of that name. */
const struct tool *tool_find(const char *name);

/* ---- For tools ---- */

/* Print "tool: text" and return status. */
int	tool_fail(struct tool_ctx *tc, int status, const char *fmt, ...)
	    __printflike(3, 4);
/* Print "tool: text" and go on. */
void	tool_warn(struct tool_ctx *tc, const char *fmt, ...)
	    __printflike(2, 3);
/* Print the synopsis; returns EX_USAGE. */
int	tool_usage(struct tool_ctx *tc);
/* getopt(3) failed: name the option, print the synopsis; EX_USAGE. */
int	tool_badopt(struct tool_ctx *tc, int c);
/*
 * Call cmd with args (consumed; NULL: none).  0 and *result (a new
 * reference; result NULL: not wanted), or an errno value and ce.  ENOTCONN:
 * there is no machine to call; ce_text says why.
 */
int	tool_call(struct tool_ctx *tc, const char *cmd, json_t *args,
	    json_t **result, struct ctl_error *ce);
/* Print ce's text; 1, or EX_UNAVAILABLE when the daemon is not there. */
int	tool_callfail(struct tool_ctx *tc, const struct ctl_error *ce);
/*
 * tool_call() for the simple case: the error is printed and its status
 * returned; 0 and the result otherwise.
 */
int	tool_do(struct tool_ctx *tc, const char *cmd, json_t *args,
	    json_t **result);
/* out_flush(); EX_IOERR, and the reason is printed, if that failed; else 0. */
int	tool_flush(struct tool_ctx *tc);
/* A whole number in min..max, decimal or 0x hex; false: it is not. */
bool	tool_number(const char *s, long long min, long long max,
	    long long *val);
/* Wait a number of seconds, also after a signal that did not kill. */
void	tool_sleep(double seconds);

#endif /* _TOOLS_TOOL_H_ */
