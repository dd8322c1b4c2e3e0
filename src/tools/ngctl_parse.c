/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Netgraph's text language as JSON, for scripts.  The text does not say what
 * types it is of: what looks like a whole number becomes one, every other
 * word a string.  Fields and elements that have their default are not in the
 * text and so not in the JSON either.  The text comes from a node and is not
 * believed: nesting and the gaps of arrays are bounded.  No state.
 */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/ngctl.h"

#define	PARSE_DEPTH	32
#define	PARSE_GAPS	65536		/* elements left out, in all */
#define	PARSE_STOP	"{}[]=\" \t\r\n\v\f"
#define	PARSE_BLANK	" \t\r\n\v\f"

struct parse {
	const char	*ps_s;		/* what is left of the text */
	int		 ps_depth;	/* how much deeper it may go */
	size_t		 ps_gaps;	/* how many more may be left out */
};

static json_t *parse_value(struct parse *ps);

static void
parse_blanks(struct parse *ps)
{
	ps->ps_s += strspn(ps->ps_s, PARSE_BLANK);
}

/* One character behind a backslash; false: none of the language. */
static bool
parse_escape(const char **sp, char *c)
{
	static const char plain[] = "trnvf", means[] = "\t\r\n\v\f";
	const char *s = *sp, *p;
	int n, val = 0;

	if (*s == '\0')
		return (false);
	if (*s == 'x' && isxdigit((unsigned char)s[1]) != 0) {
		for (n = 1; n <= 2 && isxdigit((unsigned char)s[n]) != 0; n++)
			val = val * 16 + (isdigit((unsigned char)s[n]) != 0 ?
			    s[n] - '0' : tolower((unsigned char)s[n]) - 'a' +
			    10);
	} else if (*s >= '0' && *s <= '7') {
		for (n = 0; n < 3 && s[n] >= '0' && s[n] <= '7'; n++)
			val = val * 8 + s[n] - '0';
	} else {
		n = 1;
		p = strchr(plain, *s);
		val = p != NULL ? means[p - plain] : *s;
	}
	*c = (char)val;
	*sp = s + n;
	return (true);
}

/* "...", which may hold any bytes but NUL. */
static json_t *
parse_string(struct parse *ps)
{
	const char *s = ps->ps_s + 1;
	size_t n = 0;
	json_t *val = NULL;
	char *buf;

	if ((buf = malloc(strlen(s) + 1)) == NULL)
		return (NULL);
	while (*s != '"' && *s != '\0') {
		if (*s != '\\') {
			buf[n++] = *s++;
			continue;
		}
		s++;
		if (!parse_escape(&s, &buf[n++]))
			goto out;
	}
	if (*s != '"' || memchr(buf, '\0', n) != NULL)
		goto out;
	buf[n] = '\0';
	ps->ps_s = s + 1;
	val = ngctl_text(buf);
out:
	free(buf);
	return (val);
}

/* A bare word: a whole number or a string. */
static json_t *
parse_word(struct parse *ps)
{
	size_t len = strcspn(ps->ps_s, PARSE_STOP);
	json_t *val;
	char *word, *end;
	long long num;

	if (len == 0 || (word = strndup(ps->ps_s, len)) == NULL)
		return (NULL);
	errno = 0;
	num = strtoll(word, &end, 0);
	if (*end == '\0' && errno == 0)
		val = json_integer(num);
	else
		val = ngctl_text(word);
	free(word);
	ps->ps_s += len;
	return (val);
}

/* { name=value ... } */
static json_t *
parse_struct(struct parse *ps)
{
	json_t *obj = json_object(), *val;
	char name[64];
	size_t len;

	for (ps->ps_s++;; ) {
		parse_blanks(ps);
		if (*ps->ps_s == '}') {
			ps->ps_s++;
			return (obj);
		}
		/* A field's name may hold blanks ("IPv4 bytes"). */
		len = strcspn(ps->ps_s, "{}[]=\"");
		if (len == 0 || len >= sizeof(name) || ps->ps_s[len] != '=')
			break;
		memcpy(name, ps->ps_s, len);
		name[len] = '\0';
		ps->ps_s += len + 1;
		parse_blanks(ps);
		if ((val = parse_value(ps)) == NULL ||
		    json_object_set_new(obj, name, val) != 0)
			break;
	}
	json_decref(obj);
	return (NULL);
}

/* Is there "index=" at s?  Then its end, behind the '='. */
static const char *
parse_index(const char *s, size_t *index)
{
	unsigned long val;
	char *end;

	if (isdigit((unsigned char)*s) == 0)
		return (NULL);
	errno = 0;
	val = strtoul(s, &end, 0);
	if (errno != 0 || *end != '=')
		return (NULL);
	*index = val;
	return (end + 1);
}

/* Nulls up to index. */
static bool
parse_gap(struct parse *ps, json_t *arr, size_t index)
{
	size_t n = json_array_size(arr);

	if (index < n || index - n > ps->ps_gaps)
		return (false);
	ps->ps_gaps -= index - n;
	for (; n < index; n++)
		if (json_array_append_new(arr, json_null()) != 0)
			return (false);
	return (true);
}

/* [ value ... index=value ... ] */
static json_t *
parse_array(struct parse *ps)
{
	json_t *arr = json_array(), *val;
	const char *behind;
	size_t index = 0;

	for (ps->ps_s++;; index++) {
		parse_blanks(ps);
		if (*ps->ps_s == ']') {
			ps->ps_s++;
			return (arr);
		}
		if ((behind = parse_index(ps->ps_s, &index)) != NULL)
			ps->ps_s = behind;
		if (!parse_gap(ps, arr, index))
			break;
		parse_blanks(ps);
		if ((val = parse_value(ps)) == NULL ||
		    json_array_append_new(arr, val) != 0)
			break;
	}
	json_decref(arr);
	return (NULL);
}

static json_t *
parse_value(struct parse *ps)
{
	json_t *val;

	if (ps->ps_depth == 0)
		return (NULL);
	ps->ps_depth--;
	switch (*ps->ps_s) {
	case '{':
		val = parse_struct(ps);
		break;
	case '[':
		val = parse_array(ps);
		break;
	case '"':
		val = parse_string(ps);
		break;
	default:
		val = parse_word(ps);
	}
	ps->ps_depth++;
	return (val);
}

json_t *
ngctl_parse(const char *text)
{
	struct parse ps = { text, PARSE_DEPTH, PARSE_GAPS };
	json_t *val;

	parse_blanks(&ps);
	if ((val = parse_value(&ps)) == NULL)
		return (NULL);
	parse_blanks(&ps);
	if (*ps.ps_s != '\0') {
		json_decref(val);
		return (NULL);
	}
	return (val);
}
