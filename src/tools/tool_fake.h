/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * For the tests of tools: a machine that answers with what it was told to,
 * behind the real transport (ctl_connect_local), and runs of tools against it
 * with their output caught.
 */
#ifndef _TOOLS_TOOL_FAKE_H_
#define	_TOOLS_TOOL_FAKE_H_

#define	FAKE_BUF	16384

struct fake_run {
	int	fr_status;
	char	fr_out[FAKE_BUF];
	char	fr_err[FAKE_BUF];
	char	fr_calls[FAKE_BUF];	/* "cmd {args}\n" each, keys sorted */
};

/* Forget all replies. */
void	fake_reset(void);
/* What cmd answers from now on; text is JSON.  Nothing said: {}. */
void	fake_reply(const char *cmd, const char *text);
/* What it answers from the second call on. */
void	fake_then(const char *cmd, const char *text);
/* cmd fails. */
void	fake_fail(const char *cmd, int error, const char *field,
	    const char *text);
/* Run a tool, words parted by blanks as words_split() does. */
const struct fake_run *fake_run(const char *line);
/* Run the lines of text as a file called name. */
const struct fake_run *fake_batch(const char *name, const char *text);

/*
 * Serve on the socket of a machine called name, below $NETEPOCH_RUNDIR, and
 * stop it.  fake_run_on() then connects as a tool does (machine: -M, NULL).
 */
void	fake_serve(const char *name);
void	fake_stop(void);
const struct fake_run *fake_run_on(const char *machine, const char *line);

/* Run line and compare everything; calls NULL: not looked at. */
#define	fake_check(line, status, out, err, calls) do {			\
	const struct fake_run *fr_ = fake_run(line);			\
									\
	assert_string_equal(fr_->fr_out, out);				\
	assert_string_equal(fr_->fr_err, err);				\
	if (calls != NULL)						\
		assert_string_equal(fr_->fr_calls, calls);		\
	assert_int_equal(fr_->fr_status, status);			\
} while (0)

#endif /* _TOOLS_TOOL_FAKE_H_ */
