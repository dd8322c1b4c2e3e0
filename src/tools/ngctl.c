/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * ngctl: commands to a machine's netgraph, from the command line, a file or
 * the keyboard.  Here: the start, lines and words, the table of commands.
 *
 * All that a run makes hangs on its own socket node and is gone when the run
 * ends, unless it is joined to something that stays.
 */

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "tools/cmds.h"
#include "tools/ngctl.h"
#include "tools/ngtool.h"
#include "tools/out.h"
#include "tools/tool.h"
#include "tools/words.h"

#define	NGCTL_NESTED	16		/* files that read one another */
#define	NGCTL_BLANKS	" \t\r\n\v\f"
#define	NGCTL_WRAP	64		/* columns of a description */

/* ---- Saying what went wrong ---- */

enum ngctl_result
ngctl_fail(struct ngctl *ng, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	tool_warn(ng->ng_tc, "%s", text);
	return (NGCTL_ERROR);
}

enum ngctl_result
ngctl_sendfail(struct ngctl *ng)
{
	return (ngctl_fail(ng, "send msg: %s", strerror(errno)));
}

bool
ngctl_json(struct ngctl *ng)
{
	struct out *o;

	if (out_json(ng->ng_o))
		return (true);
	if ((o = out_alloc(ng->ng_tc->tc_out, true, false)) == NULL) {
		tool_warn(ng->ng_tc, "out of memory");
		return (false);
	}
	ng->ng_o = o;
	return (true);
}

/* ---- Finding and running a command ---- */

static bool
ngctl_match(const struct ngctl_cmd *nc, const char *word, size_t len)
{
	int i;

	if (strncasecmp(nc->nc_name, word, len) == 0)
		return (true);
	for (i = 0; nc->nc_alias[i] != NULL; i++)
		if (strncasecmp(nc->nc_alias[i], word, len) == 0)
			return (true);
	return (false);
}

static bool
ngctl_same(const struct ngctl_cmd *nc, const char *word)
{
	int i;

	if (strcasecmp(nc->nc_name, word) == 0)
		return (true);
	for (i = 0; nc->nc_alias[i] != NULL; i++)
		if (strcasecmp(nc->nc_alias[i], word) == 0)
			return (true);
	return (false);
}

const struct ngctl_cmd *
ngctl_find(const char *word, bool *many)
{
	const struct ngctl_cmd *const *ncp;
	const struct ngctl_cmd *found = NULL;

	*many = false;
	for (ncp = ngctl_cmds; *ncp != NULL; ncp++) {
		if (ngctl_same(*ncp, word)) {
			*many = false;
			return (*ncp);
		}
		if (!ngctl_match(*ncp, word, strlen(word)))
			continue;
		*many = found != NULL;
		found = *ncp;
	}
	return (*many ? NULL : found);
}

/* The command, or NULL and a warning. */
static const struct ngctl_cmd *
ngctl_find_warn(struct ngctl *ng, const char *word)
{
	const struct ngctl_cmd *nc;
	bool many;

	if ((nc = ngctl_find(word, &many)) == NULL)
		(void)ngctl_fail(ng, "\"%s\": %s command", word,
		    many ? "ambiguous" : "unknown");
	return (nc);
}

enum ngctl_result
ngctl_run(struct ngctl *ng, int argc, char **argv)
{
	const struct ngctl_cmd *nc;
	enum ngctl_result res;
	struct out *o;
	int error;

	if ((nc = ngctl_find_warn(ng, argv[0])) == NULL)
		return (NGCTL_ERROR);
	o = ng->ng_o;
	optind = 0;			/* glibc: forget the last command */
	res = nc->nc_fn(ng, argc, argv);
	if (res == NGCTL_USAGE)
		tool_warn(ng->ng_tc, "usage: %s%s%s", nc->nc_name,
		    nc->nc_args[0] != '\0' ? " " : "", nc->nc_args);
	error = out_flush(ng->ng_o);
	if (ng->ng_o != o) {
		out_free(ng->ng_o);
		ng->ng_o = o;
	}
	if (error != 0 && res == NGCTL_OK) {
		res = ngctl_fail(ng, "cannot write: %s", strerror(error));
		ng->ng_status = EX_IOERR;
	}
	return (res);
}

/* ---- Lines ---- */

int
ngctl_split(char *line, char *argv[NGCTL_WORDS + 1])
{
	char *save, *word;
	int n = 0;

	for (word = strtok_r(line, NGCTL_BLANKS, &save); word != NULL;
	    word = strtok_r(NULL, NGCTL_BLANKS, &save)) {
		if (n == NGCTL_WORDS)
			return (-1);
		argv[n++] = word;
	}
	argv[n] = NULL;
	return (n);
}

enum ngctl_result
ngctl_line(struct ngctl *ng, char *line, size_t len)
{
	char *argv[NGCTL_WORDS + 1];
	int argc;

	if (memchr(line, '\0', len) != NULL)
		return (ngctl_fail(ng, "a NUL byte in the line"));
	if (len > NGCTL_LINE + 1 || (len == NGCTL_LINE + 1 &&
	    line[len - 1] != '\n'))
		return (ngctl_fail(ng, "more than %d bytes in the line",
		    NGCTL_LINE));
	if ((argc = ngctl_split(line, argv)) == -1)
		return (ngctl_fail(ng, "more than %d words in the line",
		    NGCTL_WORDS));
	return (argc == 0 ? NGCTL_OK : ngctl_run(ng, argc, argv));
}

enum ngctl_result
ngctl_file(struct ngctl *ng, FILE *f)
{
	enum ngctl_result res = NGCTL_OK;
	char line[WORDS_LINE];
	const char *why;
	size_t lineno = 0;
	int more;

	if (ng->ng_reading == NGCTL_NESTED)
		return (ngctl_fail(ng, "more than %d files read one another",
		    NGCTL_NESTED));
	ng->ng_reading++;
	while (res == NGCTL_OK &&
	    (more = words_line(f, line, &lineno, &why)) != 0) {
		if (more == -1)
			res = ngctl_fail(ng, "%s", why);
		else if (line[0] != '#')
			res = ngctl_line(ng, line, strlen(line));
	}
	if (res != NGCTL_OK)
		tool_warn(ng->ng_tc, "line %zu: error in file", lineno);
	else if (ferror(f) != 0)
		res = ngctl_fail(ng, "cannot read: %s", strerror(errno));
	ng->ng_reading--;
	return (res);
}

/* ---- The commands that are about commands ---- */

static enum ngctl_result
ngctl_read_fn(struct ngctl *ng, int argc, char **argv)
{
	enum ngctl_result res;
	FILE *f;

	if (argc != 2)
		return (NGCTL_USAGE);
	if ((f = fopen(argv[1], "re")) == NULL)
		return (ngctl_fail(ng, "%s: %s", argv[1], strerror(errno)));
	res = ngctl_file(ng, f);
	(void)fclose(f);
	/* How to use a command of the file is not how to use this one. */
	if (res == NGCTL_USAGE) {
		ng->ng_status = EX_USAGE;
		res = NGCTL_ERROR;
	}
	return (res);
}

static enum ngctl_result
ngctl_quit_fn(struct ngctl *ng, int argc, char **argv)
{
	return (NGCTL_QUIT);
}

static void
ngctl_help_table(struct ngctl *ng)
{
	const struct ngctl_cmd *const *ncp;
	struct out *o = ng->ng_o;

	out_text(o, "Available commands:\n");
	out_list(o, "commands");
	for (ncp = ngctl_cmds; *ncp != NULL; ncp++) {
		out_instance(o);
		out_str(o, "name", (*ncp)->nc_name, "  %-10s ",
		    (*ncp)->nc_name);
		out_str(o, "summary", (*ncp)->nc_summary, "%s\n",
		    (*ncp)->nc_summary);
		out_close(o);
	}
	out_close(o);
}

/* Text in lines of at most NGCTL_WRAP columns, two blanks in front. */
static void
ngctl_wrap(struct out *o, const char *text)
{
	size_t col = 0, n;

	for (; *text != '\0'; text += n, text += strspn(text, " ")) {
		n = strcspn(text, " ");
		if (col > 0 && col + 1 + n > NGCTL_WRAP) {
			out_text(o, "\n");
			col = 0;
		}
		out_text(o, "%s%.*s", col == 0 ? "  " : " ", (int)n, text);
		col += n + (col == 0 ? 2 : 1);
	}
	out_text(o, "\n");
}

static enum ngctl_result
ngctl_help_fn(struct ngctl *ng, int argc, char **argv)
{
	const struct ngctl_cmd *nc;
	struct out *o = ng->ng_o;
	int i;

	if (argc > 2)
		return (NGCTL_USAGE);
	if (argc == 1) {
		ngctl_help_table(ng);
		return (NGCTL_OK);
	}
	if ((nc = ngctl_find_warn(ng, argv[1])) == NULL)
		return (NGCTL_OK);
	out_text(o, "usage:    %s %s\n", nc->nc_name, nc->nc_args);
	for (i = 0; nc->nc_alias[i] != NULL; i++)
		out_text(o, "%s%s", i == 0 ? "Aliases:  " : ", ",
		    nc->nc_alias[i]);
	out_text(o, "%sSummary:  %s\n", i > 0 ? "\n" : "", nc->nc_summary);
	if (nc->nc_descr != NULL) {
		out_text(o, "Description:\n");
		ngctl_wrap(o, nc->nc_descr);
	}
	return (NGCTL_OK);
}

static const struct ngctl_cmd ngctl_help = {
	.nc_name = "help",
	.nc_args = "[command]",
	.nc_summary = "Show the commands, or what one of them wants",
	.nc_descr = "Without an argument this lists the commands.  A command "
	    "may be shortened as long as only one starts that way.",
	.nc_alias = { "?" },
	.nc_fn = ngctl_help_fn,
};

static const struct ngctl_cmd ngctl_read = {
	.nc_name = "read",
	.nc_args = "filename",
	.nc_summary = "Run the commands of a file",
	.nc_descr = "One command a line; a line that starts with # is a "
	    "comment.  The first command that fails ends it.",
	.nc_alias = { "source", "." },
	.nc_fn = ngctl_read_fn,
};

static const struct ngctl_cmd ngctl_quit = {
	.nc_name = "quit",
	.nc_args = "",
	.nc_summary = "End the program",
	.nc_descr = "Its own node ends with it, and with that node all that "
	    "hangs on nothing else.",
	.nc_alias = { "exit" },
	.nc_fn = ngctl_quit_fn,
};

const struct ngctl_cmd *const ngctl_cmds[] = {
	&ngctl_config,
	&ngctl_connect,
	&ngctl_debug,
	&ngctl_dot,
	&ngctl_help,
	&ngctl_list,
	&ngctl_mkpeer,
	&ngctl_msg,
	&ngctl_name,
	&ngctl_read,
	&ngctl_rmhook,
	&ngctl_show,
	&ngctl_shutdown,
	&ngctl_status,
	&ngctl_typescmd,
	&ngctl_write,
	&ngctl_apply,
	&ngctl_quit,
	NULL
};

/* ---- Start ---- */

struct ngctl_start {
	char		 ns_name[NG_NODESIZ];
	FILE		*ns_file;	/* -f, or NULL */
	int		 ns_debug;
};

/* The options: 0, or the exit status. */
static int
ngctl_options(struct tool_ctx *tc, int argc, char **argv,
    struct ngctl_start *ns)
{
	int c;

	(void)snprintf(ns->ns_name, sizeof(ns->ns_name), "ngctl%d",
	    (int)getpid());
	while ((c = getopt(argc, argv, "+:df:n:")) != -1) {
		switch (c) {
		case 'd':
			ns->ns_debug++;
			break;
		case 'f':
			if (ns->ns_file != NULL && ns->ns_file != stdin)
				(void)fclose(ns->ns_file);
			ns->ns_file = strcmp(optarg, "-") == 0 ? stdin :
			    fopen(optarg, "re");
			if (ns->ns_file == NULL)
				return (tool_fail(tc, EX_NOINPUT, "%s: %s",
				    optarg, strerror(errno)));
			break;
		case 'n':
			(void)snprintf(ns->ns_name, sizeof(ns->ns_name), "%s",
			    optarg);
			break;
		default:
			return (tool_badopt(tc, c));
		}
	}
	return (0);
}

static int
ngctl_exit(const struct ngctl *ng, enum ngctl_result res)
{
	switch (res) {
	case NGCTL_USAGE:
		return (EX_USAGE);
	case NGCTL_ERROR:
		return (ng->ng_status != 0 ? ng->ng_status : EX_OSERR);
	default:
		return (0);
	}
}

static int
ngctl_main(struct tool_ctx *tc, int argc, char **argv)
{
	struct ngctl ng = { .ng_tc = tc, .ng_o = tc->tc_o, .ng_cs = -1,
	    .ng_ds = -1 };
	struct ngctl_start ns = { .ns_file = NULL };
	int status;

	status = ngctl_options(tc, argc, argv, &ns);
	argc -= optind;
	argv += optind;
	if (status == 0)
		status = ngtool_open(tc, ns.ns_name, ns.ns_debug, &ng.ng_cs,
		    &ng.ng_ds);
	if (status != 0)
		goto done;
	if (argc > 0)
		status = ngctl_exit(&ng, ngctl_run(&ng, argc, argv));
	else if (ns.ns_file != NULL)
		status = ngctl_exit(&ng, ngctl_file(&ng, ns.ns_file));
	else if (!tc->tc_local && isatty(STDIN_FILENO) == 1 &&
	    isatty(STDOUT_FILENO) == 1)
		status = ngctl_interactive(&ng);
	else {
		tool_warn(tc, "no command specified");
		status = tool_usage(tc);
	}
	ngctl_mesg_drop(&ng);
	(void)close(ng.ng_ds);
	(void)close(ng.ng_cs);
done:
	if (ns.ns_file != NULL && ns.ns_file != stdin)
		(void)fclose(ns.ns_file);
	return (status);
}

const struct tool tool_ngctl = {
	.tl_name = "ngctl",
	.tl_synopsis = "[-d] [-f file] [-n name] [command [argument ...]]",
	.tl_manual = "netepoch-ngctl(8)",
	.tl_bytes = true,		/* names of nodes may be any bytes */
	.tl_descr = "wire and ask the netgraph of a machine",
	.tl_fn = ngctl_main,
};
