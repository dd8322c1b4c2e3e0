/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Words of a line, quoted as a shell's, without its expansions: a file of
 * commands must mean the same wherever it runs.  No state.
 */

#include <assert.h>
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
words_line(FILE *f, char line[WORDS_LINE], size_t *lineno, const char **why)
{
	static const char mark[] = "\xef\xbb\xbf";
	size_t n;
	int c;

	static_assert(WORDS_LINE == 16 << 10, "what the error says");
	if ((c = getc(f)) == EOF)
		return (0);
	++*lineno;
	for (n = 0; c != EOF && c != '\n'; c = getc(f)) {
		if (c == '\0') {
			*why = "a NUL byte";
			return (-1);
		}
		if (n == WORDS_LINE - 1) {
			*why = "more than 16 KiB in a line";
			return (-1);
		}
		line[n++] = (char)c;
		if (*lineno == 1 && n == sizeof(mark) - 1 &&
		    memcmp(line, mark, n) == 0)
			n = 0;
	}
	line[n] = '\0';
	return (1);
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
