/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* Lines of a configuration file as words. */
#ifndef _TOOLS_WORDS_H_
#define	_TOOLS_WORDS_H_

#include <stdio.h>

#define	WORDS_MAX	128		/* words of a line */
#define	WORDS_LINE	16384		/* bytes of a line, with its NUL */

/*
 * Read the next line of f, without its end; a byte order mark in front of the
 * first one is passed over.  *lineno counts lines.  Returns 1; 0 at the end of
 * f, or of what could be read (ferror()); or -1 with *why saying what is wrong
 * with the line.
 */
int	words_line(FILE *f, char line[WORDS_LINE], size_t *lineno,
	    const char **why);

/*
 * Cut line up in place: blanks separate; '...' and "..." keep them, a
 * backslash keeps the next character (not within '...'), # starts a comment
 * at the start of a word.  words gets at most WORDS_MAX pointers and a NULL.
 * Returns their number, or -1 with *why saying what is wrong.
 */
int	words_split(char *line, char *words[WORDS_MAX + 1],
	    const char **why);

#endif /* _TOOLS_WORDS_H_ */
