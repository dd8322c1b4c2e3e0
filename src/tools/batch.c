/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Lines of words run as tools over one connection: the batch tool here, and
 * netepochd's configuration file.  A line counts from 1; the first that fails
 * ends the run.
 */

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "tools/cmds.h"
#include "tools/tool.h"
#include "tools/words.h"

/* One line: 0 or the status of what failed; why is set if it did not run. */
static int
batch_line(struct ctl_client *cl, char *line, FILE *out, FILE *err,
    const char **why)
{
	char *words[WORDS_MAX + 1], **argv = words;
	int argc;

	if ((argc = words_split(line, words, why)) == -1)
		return (EX_DATAERR);
	if (argc > 0 && strcmp(argv[0], "netepoch") == 0) {
		argc--;
		argv++;
	}
	if (argc == 0)
		return (0);
	*why = "failed";
	if (tool_find(argv[0]) == &tool_batch_tool) {
		*why = "batch within a batch";
		return (EX_DATAERR);
	}
	return (tool_run_to(cl, NULL, out, err, argc, argv));
}

int
tool_batch(struct ctl_client *cl, FILE *in, const char *name, FILE *out,
    FILE *err)
{
	const char *why = "";
	char line[WORDS_LINE];
	size_t lineno = 0;
	int more, status = 0;

	while (status == 0 &&
	    (more = words_line(in, line, &lineno, &why)) != 0)
		status = more == -1 ? EX_DATAERR :
		    batch_line(cl, line, out, err, &why);
	if (status != 0) {
		(void)fflush(out);
		(void)fprintf(err, "%s:%zu: %s\n", name, lineno, why);
	} else if (ferror(in) != 0) {
		(void)fprintf(err, "%s: cannot read: %s\n", name,
		    strerror(errno));
		status = EX_IOERR;
	}
	return (status);
}

static int
batch_main(struct tool_ctx *tc, int argc, char **argv)
{
	const char *name = "stdin";
	FILE *in = stdin;
	int c, status;

	if ((c = getopt(argc, argv, "+:")) != -1)
		return (tool_badopt(tc, c));
	argc -= optind;
	argv += optind;
	if (argc > 1)
		return (tool_usage(tc));
	/* Connect now: a file of comments must not hide a missing daemon. */
	if ((status = tool_do(tc, "machine.info", NULL, NULL)) != 0)
		return (status);
	if (argc == 1 && strcmp(argv[0], "-") != 0) {
		name = argv[0];
		if ((in = fopen(name, "re")) == NULL)
			return (tool_fail(tc, EX_NOINPUT, "%s: %s", name,
			    strerror(errno)));
	}
	status = tool_batch(tc->tc_cl, in, name, tc->tc_out, tc->tc_err);
	if (in != stdin)
		(void)fclose(in);
	return (status);
}

const struct tool tool_batch_tool = {
	.tl_name = "batch",
	.tl_synopsis = "[-M machine] [file]",
	.tl_manual = "netepoch(1)",
	.tl_descr = "run the lines of a file, stop at the first that fails",
	.tl_fn = batch_main,
};
