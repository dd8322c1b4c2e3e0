/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The scanner of the text language: tokens, quoted strings, and what prints
 * them.
 *
 * Pure functions of their arguments, on any thread.  The text is anybody's:
 * nothing is read behind its NUL, nothing recurses, and what is open at once
 * is bounded.
 */

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <netgraph/ng_parse.h>

#define	SCAN_SPACE	" \t\n\r\v\f"
#define	SCAN_DELIM	SCAN_SPACE "{}[]=\""
#define	SCAN_OPEN	64		/* brackets open at once: a bit each */

/* The length of a string from its first quote to its last, 0: no end. */
static size_t
string_token_len(const char *s)
{
	size_t i;

	for (i = 1; s[i] != '\0' && s[i] != '"'; i++)
		if (s[i] == '\\' && s[i + 1] != '\0')
			i++;
	return (s[i] == '"' ? i + 1 : 0);
}

enum ng_parse_token
ng_parse_get_token(const char *s, size_t *off, size_t *len)
{
	*off += strspn(s + *off, SCAN_SPACE);
	s += *off;
	*len = 1;
	switch (s[0]) {
	case '\0':
		*len = 0;
		return (NG_TOKEN_EOF);
	case '{':
		return (NG_TOKEN_LBRACE);
	case '}':
		return (NG_TOKEN_RBRACE);
	case '[':
		return (NG_TOKEN_LBRACKET);
	case ']':
		return (NG_TOKEN_RBRACKET);
	case '=':
		return (NG_TOKEN_EQUALS);
	case '"':
		*len = string_token_len(s);
		return (*len != 0 ? NG_TOKEN_STRING : NG_TOKEN_ERROR);
	default:
		*len = strcspn(s, SCAN_DELIM);
		return (NG_TOKEN_WORD);
	}
}

/* A word, or a word with a string directly behind it. */
static int
skip_word(const char *s, size_t *off, size_t len)
{
	*off += len;
	if (s[*off] != '"')
		return (0);
	len = string_token_len(s + *off);
	*off += len;
	return (len != 0 ? 0 : EINVAL);
}

int
ng_parse_skip_value(const char *s, size_t *off)
{
	uint64_t braces = 0;		/* bit: the open bracket is a brace */
	unsigned int open = 0;
	size_t len;
	bool brace;

	do {
		switch (ng_parse_get_token(s, off, &len)) {
		case NG_TOKEN_LBRACE:
		case NG_TOKEN_LBRACKET:
			if (open++ == SCAN_OPEN)
				return (EINVAL);
			braces = braces << 1 | (s[*off] == '{');
			break;
		case NG_TOKEN_RBRACE:
		case NG_TOKEN_RBRACKET:
			brace = (braces & 1) != 0;
			if (open == 0 || brace != (s[*off] == '}'))
				return (EINVAL);
			open--;
			braces >>= 1;
			break;
		case NG_TOKEN_WORD:
			if (skip_word(s, off, len) != 0)
				return (EINVAL);
			continue;
		case NG_TOKEN_STRING:
			break;
		case NG_TOKEN_EQUALS:
			if (open == 0)
				return (EINVAL);
			break;
		case NG_TOKEN_EOF:
		case NG_TOKEN_ERROR:
			return (EINVAL);
		}
		*off += len;
	} while (open > 0);
	return (0);
}

/*
 * The number of up to max digits of the base at s, and how many there were.
 */
static unsigned int
escape_digits(const char *s, unsigned int base, size_t max, size_t *n)
{
	static const char digits[] = "0123456789abcdef";
	unsigned int v = 0;
	const char *d;

	for (*n = 0; *n < max && s[*n] != '\0'; (*n)++) {
		d = strchr(digits, tolower((unsigned char)s[*n]));
		if (d == NULL || d - digits >= (ptrdiff_t)base)
			break;
		v = v * base + (unsigned int)(d - digits);
	}
	return (v);
}

/* Decode the escape behind a backslash: its byte, or -1; *n bytes long. */
static int
escape_decode(const char *s, size_t *n)
{
	static const char from[] = "tnrvf", to[] = "\t\n\r\v\f";
	unsigned int v;
	const char *c;

	v = escape_digits(s, 8, 3, n);
	if (*n > 0)
		return (v <= UINT8_MAX ? (int)v : -1);
	if (s[0] == 'x') {
		v = escape_digits(s + 1, 16, 2, n);
		if (*n > 0) {
			(*n)++;
			return ((int)v);
		}
	}
	*n = 1;
	c = strchr(from, s[0]);
	return (c != NULL ? to[c - from] : (unsigned char)s[0]);
}

int
ng_parse_string(const char *s, size_t *off, char *buf, size_t bufsize,
    size_t *slen)
{
	size_t end, i, len, n, o = *off;
	int c;

	if (ng_parse_get_token(s, &o, &len) != NG_TOKEN_STRING)
		return (EINVAL);
	end = o + len - 1;
	*slen = 0;
	for (i = o + 1; i < end; i += n) {
		n = 1;
		c = (unsigned char)s[i];
		if (c == '\\') {
			c = escape_decode(s + i + 1, &n);
			n++;
		}
		if (c < 0)
			return (EINVAL);
		if (*slen == bufsize)
			return (ERANGE);
		buf[(*slen)++] = (char)c;
	}
	*off = end + 1;
	return (0);
}

/* The text of one byte in a string, at most 4 bytes of it: its length. */
static size_t
escape_encode(unsigned char c, char *text)
{
	static const char from[] = "\t\n\r\v\f\"\\", to[] = "tnrvf\"\\";
	static const char digits[] = "0123456789abcdef";
	const char *f;

	f = memchr(from, c, sizeof(from) - 1);
	if (f == NULL && c >= 0x20 && c <= 0x7e) {
		text[0] = (char)c;
		return (1);
	}
	text[0] = '\\';
	if (f != NULL) {
		text[1] = to[f - from];
		return (2);
	}
	text[1] = 'x';
	text[2] = digits[c >> 4];
	text[3] = digits[c & 0xf];
	return (4);
}

int
ng_unparse_string(const void *s, size_t slen, char *cbuf, size_t cbuflen)
{
	const unsigned char *p = s;
	char text[4];
	size_t i, n, o = 0;

	if (cbuflen < sizeof("\"\""))
		return (ERANGE);
	cbuf[o++] = '"';
	for (i = 0; i < slen; i++) {
		n = escape_encode(p[i], text);
		if (cbuflen - o < n + sizeof("\""))
			return (ERANGE);
		memcpy(cbuf + o, text, n);
		o += n;
	}
	memcpy(cbuf + o, "\"", sizeof("\""));
	return (0);
}

int
ng_parse_append(char **cbufp, size_t *cbuflenp, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(*cbufp, *cbuflenp, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= *cbuflenp)
		return (ERANGE);
	*cbufp += n;
	*cbuflenp -= (size_t)n;
	return (0);
}
