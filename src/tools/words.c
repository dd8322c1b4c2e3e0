/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Words of a line, quoted as a shell's, without its expansions: a file of
 * commands must mean the same wherever it runs.  No state.
 */

#include <stddef.h>
#include <string.h>

#include "tools/words.h"

/*
 * Move one word from *inp to *outp (which never overtakes it), unquoted and
 * ended by a NUL.  NULL, or what is wrong.
 */
static const char *
words_one(char **inp, char **outp)
{
	char *in = *inp, *out = *outp, quote = '\0';

	for (; *in != '\0'; in++) {
		if (quote == '\0' && strchr(" \t\r\n", *in) != NULL)
			break;
		if (*in == '\\' && quote != '\'') {
			if (in[1] == '\0' || in[1] == '\n')
				return ("nothing follows the backslash");
			*out++ = *++in;
		} else if (quote == '\0' && (*in == '\'' || *in == '"'))
			quote = *in;
		else if (quote != '\0' && *in == quote)
			quote = '\0';
		else
			*out++ = *in;
	}
	if (quote != '\0')
		return ("a quote is not closed");
	*inp = *in != '\0' ? in + 1 : in;
	*out++ = '\0';
	*outp = out;
	return (NULL);
}

int
words_split(char *line, char *words[WORDS_MAX + 1], const char **why)
{
	char *in = line, *out = line;
	int n = 0;

	for (;;) {
		in += strspn(in, " \t\r\n");
		if (*in == '\0' || *in == '#')
			break;
		if (n == WORDS_MAX) {
			*why = "too many words";
			return (-1);
		}
		words[n++] = out;
		if ((*why = words_one(&in, &out)) != NULL)
			return (-1);
	}
	words[n] = NULL;
	return (n);
}
