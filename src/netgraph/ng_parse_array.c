/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The text language of control messages: arrays.
 *
 * Pure functions of their arguments, as those of ng_parse.c.  An array of bytes
 * is an array of numbers that may also be read from a string.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "netgraph/ng_parse_private.h"

/* What the kinds of array have in common. */
struct array {
	const struct ng_parse_type *a_elem;
	ng_parse_array_getDefault_t *a_default;
	size_t		 a_align;	/* of an element */
	size_t		 a_length;	/* in elements */
	bool		 a_rest;	/* no length: the rest of the data */
};

const struct ng_parse_type *
ngp_array_kind(const struct ng_parse_type *type)
{
	while (type != NULL && type != &ng_parse_array_type &&
	    type != &ng_parse_fixedarray_type &&
	    type != &ng_parse_bytearray_type)
		type = type->supertype;
	return (type);
}

static int
array_open(const struct ng_parse_type *type, const unsigned char *start,
    const unsigned char *buf, struct array *a)
{
	const void *info = ng_parse_info(type);
	const struct ng_parse_type *kind = ngp_array_kind(type);
	const struct ng_parse_fixedarray_info *fi = info;
	const struct ng_parse_array_info *ai = info;
	ng_parse_array_getLength_t *getLength = NULL;
	int length = 0;

	memset(a, 0, sizeof(*a));
	if (kind == &ng_parse_bytearray_type) {
		a->a_elem = &ng_parse_hint8_type;
		memcpy(&getLength, &info, sizeof(info));
	} else if (info == NULL) {
		return (EINVAL);
	} else if (kind == &ng_parse_fixedarray_type) {
		a->a_elem = fi->elementType;
		a->a_default = fi->getDefault;
		length = fi->length;
	} else {
		a->a_elem = ai->elementType;
		a->a_default = ai->getDefault;
		getLength = ai->getLength;
	}
	a->a_align = ngp_align(a->a_elem);
	if (getLength != NULL)
		length = getLength(type, start, buf);
	else
		a->a_rest = kind != &ng_parse_fixedarray_type;
	a->a_length = (size_t)length;
	return (length < 0 ? EINVAL : 0);
}

static int
elem_default(const struct array *a, size_t i, const unsigned char *start,
    unsigned char *buf, size_t *buflen)
{
	if (a->a_default != NULL)
		return (a->a_default(a->a_elem, (int)i, start, buf, buflen));
	return (ngp_default(a->a_elem, start, buf, buflen));
}

static bool
elem_is_default(const struct array *a, size_t i, const unsigned char *data,
    size_t datalen, size_t *off)
{
	unsigned char buf[NGP_DEFAULT_MAX];
	size_t len = sizeof(buf);

	if (a->a_default == NULL)
		return (ngp_is_default(a->a_elem, data, datalen, off));
	return (elem_default(a, i, data, buf, &len) == 0 &&
	    ngp_same_bytes(data, datalen, off, buf, len));
}

static int
array_align(const struct ng_parse_type *type)
{
	const void *info = ng_parse_info(type);
	const struct ng_parse_fixedarray_info *fi = info;
	const struct ng_parse_array_info *ai = info;

	if (info == NULL)
		return (1);
	return ((int)ngp_align(ngp_array_kind(type) ==
	    &ng_parse_fixedarray_type ? fi->elementType : ai->elementType));
}

/*
 * The index that an element's text begins with: *off moves behind its equals
 * sign.  Without one the element is the one behind the last.
 */
static int
array_index(const char *s, size_t *off, size_t *index)
{
	enum ng_parse_token token;
	unsigned long long v;
	size_t len, o;
	char *end;

	token = ng_parse_get_token(s, off, &len);
	if (token == NG_TOKEN_LBRACE || token == NG_TOKEN_LBRACKET)
		return (0);
	if (token != NG_TOKEN_WORD)
		return (EINVAL);
	o = *off + len;
	if (ng_parse_get_token(s, &o, &(size_t){ 0 }) != NG_TOKEN_EQUALS)
		return (0);
	if (s[*off] == '-')
		return (EINVAL);
	v = strtoull(s + *off, &end, 0);
	if (end != s + *off + len)
		return (EINVAL);
	*index = v < SIZE_MAX ? (size_t)v : SIZE_MAX;
	*off = o + 1;
	return (0);
}

/* Note where the text of each element is; *n is one more than the last. */
static int
array_scan(const char *s, size_t *off, size_t *where, size_t max,
    size_t *n)
{
	size_t i = 0, len;
	int error;

	*n = 0;
	if (ng_parse_get_token(s, off, &len) != NG_TOKEN_LBRACKET)
		return (EINVAL);
	*off += len;
	while (ng_parse_get_token(s, off, &len) != NG_TOKEN_RBRACKET) {
		error = array_index(s, off, &i);
		if (error != 0)
			return (error);
		if (i >= max)
			return (E2BIG);
		if (where[i] != 0)
			return (EALREADY);
		where[i] = *off;
		error = ng_parse_skip_value(s, off);
		if (error != 0)
			return (error);
		if (++i > *n)
			*n = i;
	}
	*off += len;
	return (0);
}

/* As struct_write(). */
static int
array_write(const struct array *a, const char *s, const size_t *where,
    const unsigned char *start, unsigned char *buf, size_t *buflen)
{
	size_t i, len, off, used = 0;
	int error;

	if (a->a_length > *buflen)
		return (ERANGE);
	for (i = 0; i < a->a_length; i++) {
		error = ngp_pad_write(buf, *buflen, &used, a->a_align);
		if (error != 0)
			return (error);
		len = *buflen - used;
		if (where != NULL && where[i] != 0) {
			off = where[i];
			error = ngp_parse(a->a_elem, s, &off, start,
			    buf + used, &len);
		} else
			error = elem_default(a, i, start, buf + used, &len);
		if (error != 0)
			return (error);
		used += len;
	}
	*buflen = used;
	return (0);
}

/*
 * No element is smaller than a byte (or else it is not worth a place in an
 * array), so that neither a length nor an index makes us do more work than the
 * buffer has bytes.
 */
static int
array_parse(const struct ng_parse_type *type, const char *s, size_t *off,
    const unsigned char *start, unsigned char *buf, size_t *buflen)
{
	struct array a;
	size_t *where;
	size_t max, n;
	int error;

	error = array_open(type, start, buf, &a);
	if (error != 0)
		return (error);
	max = a.a_rest ? *buflen : a.a_length;
	if (max > *buflen)
		return (ERANGE);
	where = calloc(max + 1, sizeof(*where));
	if (where == NULL)
		return (ENOMEM);
	error = array_scan(s, off, where, max, &n);
	if (error == E2BIG && a.a_rest)
		error = ERANGE;
	if (a.a_rest)
		a.a_length = n;
	if (error == 0)
		error = array_write(&a, s, where, start, buf, buflen);
	free(where);
	return (error);
}

static int
array_default(const struct ng_parse_type *type, const unsigned char *start,
    unsigned char *buf, size_t *buflen)
{
	struct array a;
	int error;

	error = array_open(type, start, buf, &a);
	if (error != 0)
		return (error);
	return (array_write(&a, NULL, NULL, start, buf, buflen));
}

bool
ngp_array_is_default(const struct ng_parse_type *type,
    const unsigned char *data, size_t datalen, size_t *off)
{
	const size_t begin = *off;
	struct array a;
	size_t i;

	if (array_open(type, data, data + begin, &a) != 0 ||
	    a.a_length > datalen - begin)
		return (false);
	if (a.a_rest)
		return (begin == datalen);
	for (i = 0; i < a.a_length; i++) {
		if (!ngp_pad_skip(datalen, begin, off, a.a_align) ||
		    !elem_is_default(&a, i, data, datalen, off))
			return (false);
	}
	return (true);
}

/*
 * Print one element, with its index if one is wanted or its text would not be
 * read without.
 */
static int
elem_unparse(const struct array *a, size_t i, bool gap,
    const unsigned char *data, size_t datalen, size_t *off, char **cbufp,
    size_t *cbuflenp)
{
	const size_t o = *off;
	size_t len, used;
	char *text;
	int error;

	error = ng_parse_append(cbufp, cbuflenp, " ");
	text = *cbufp;
	used = *cbuflenp;
	if (error == 0 && gap)
		error = ng_parse_append(cbufp, cbuflenp, "%zu=", i);
	if (error == 0)
		error = ngp_unparse(a->a_elem, data, datalen, off, *cbufp,
		    *cbuflenp);
	if (error != 0)
		return (error);
	if (*text == '"') {
		*cbufp = text - 1;
		*cbuflenp = used + 1;
		*off = o;
		return (elem_unparse(a, i, true, data, datalen, off, cbufp,
		    cbuflenp));
	}
	len = strlen(*cbufp);
	*cbufp += len;
	*cbuflenp -= len;
	return (0);
}

static int
array_unparse(const struct ng_parse_type *type, const unsigned char *data,
    size_t datalen, size_t *off, char *cbuf, size_t cbuflen)
{
	const size_t begin = *off;
	size_t i, next = 0, o;
	struct array a;
	int error;

	error = array_open(type, data, data + begin, &a);
	if (error != 0)
		return (error);
	if (a.a_rest)
		a.a_length = SIZE_MAX;
	else if (a.a_length > datalen - begin)
		return (EINVAL);
	error = ng_parse_append(&cbuf, &cbuflen, "[");
	for (i = 0; error == 0 && i < a.a_length; i++) {
		if (a.a_rest && *off == datalen)
			break;
		if (!ngp_pad_skip(datalen, begin, off, a.a_align))
			return (EINVAL);
		o = *off;
		if (elem_is_default(&a, i, data, datalen, off)) {
			if (!a.a_rest)
				continue;
			if (*off == o)
				return (EINVAL);	/* without end */
			if (*off < datalen)
				continue;
			/* The last one tells how many there are. */
			*off = o;
		}
		error = elem_unparse(&a, i, i != next, data, datalen, off,
		    &cbuf, &cbuflen);
		next = i + 1;
	}
	return (error != 0 ? error : ng_parse_append(&cbuf, &cbuflen, "%s",
	    next > 0 ? " ]" : "]"));
}

const struct ng_parse_type ng_parse_array_type = {
	.parse = array_parse,
	.unparse = array_unparse,
	.getDefault = array_default,
	.getAlign = array_align,
};

const struct ng_parse_type ng_parse_fixedarray_type = {
	.parse = array_parse,
	.unparse = array_unparse,
	.getDefault = array_default,
	.getAlign = array_align,
};

static int
bytearray_parse(const struct ng_parse_type *type, const char *s, size_t *off,
    const unsigned char *start, unsigned char *buf, size_t *buflen)
{
	struct array a;
	size_t len, slen;
	int error;

	if (ng_parse_get_token(s, off, &len) != NG_TOKEN_STRING)
		return (array_parse(type, s, off, start, buf, buflen));
	error = array_open(type, start, buf, &a);
	if (error != 0)
		return (error);
	if (!a.a_rest && a.a_length > *buflen)
		return (ERANGE);
	len = a.a_rest ? *buflen : a.a_length;
	error = ng_parse_string(s, off, (char *)buf, len, &slen);
	if (error != 0)
		return (error == ERANGE && !a.a_rest ? E2BIG : error);
	if (!a.a_rest)
		memset(buf + slen, 0, len - slen);
	*buflen = a.a_rest ? slen : len;
	return (0);
}

const struct ng_parse_type ng_parse_bytearray_type = {
	.parse = bytearray_parse,
	.unparse = array_unparse,
	.getDefault = array_default,
};
