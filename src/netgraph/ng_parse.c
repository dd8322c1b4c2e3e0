/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The text language of control messages: structs, arrays and conversion.
 *
 * Pure functions of their arguments, on any thread, best outside the epoch
 * since they allocate.  Texts and binaries come from anybody; types come from
 * node types and are trusted, except that one which contains itself must not
 * let the data choose how deep we recurse: the entry points measure it.
 *
 * An array of bytes is an array of numbers that may also be read from a string.
 */

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <netgraph/ng_parse.h>

#define	DEFAULT_MAX	1024		/* longest default of one scalar */

/* ---- Methods of a type and its supertypes ---- */

const void *
ng_parse_info(const struct ng_parse_type *type)
{
	while (type != NULL && type->info == NULL)
		type = type->supertype;
	return (type != NULL ? type->info : NULL);
}

static ng_parse_t *
find_parse(const struct ng_parse_type *type)
{
	while (type != NULL && type->parse == NULL)
		type = type->supertype;
	return (type != NULL ? type->parse : NULL);
}

static ng_unparse_t *
find_unparse(const struct ng_parse_type *type)
{
	while (type != NULL && type->unparse == NULL)
		type = type->supertype;
	return (type != NULL ? type->unparse : NULL);
}

static ng_getDefault_t *
find_default(const struct ng_parse_type *type)
{
	while (type != NULL && type->getDefault == NULL)
		type = type->supertype;
	return (type != NULL ? type->getDefault : NULL);
}

static int
type_parse(const struct ng_parse_type *type, const char *s, size_t *off,
    const unsigned char *start, unsigned char *buf, size_t *buflen)
{
	ng_parse_t *parse = find_parse(type);

	return (parse == NULL ? EINVAL :
	    parse(type, s, off, start, buf, buflen));
}

static int
type_unparse(const struct ng_parse_type *type, const unsigned char *data,
    size_t datalen, size_t *off, char *cbuf, size_t cbuflen)
{
	ng_unparse_t *unparse = find_unparse(type);

	return (unparse == NULL ? EINVAL :
	    unparse(type, data, datalen, off, cbuf, cbuflen));
}

static int
type_default(const struct ng_parse_type *type, const unsigned char *start,
    unsigned char *buf, size_t *buflen)
{
	ng_getDefault_t *getDefault = find_default(type);

	return (getDefault == NULL ? EOPNOTSUPP :
	    getDefault(type, start, buf, buflen));
}

static size_t
type_align(const struct ng_parse_type *type)
{
	const struct ng_parse_type *t = type;
	int align;

	while (t != NULL && t->getAlign == NULL)
		t = t->supertype;
	align = t != NULL ? t->getAlign(type) : 1;
	return (align > 1 ? (size_t)align : 1);
}

/* ---- Padding ---- */

static size_t
round_up(size_t n, size_t align)
{
	return ((n + align - 1) / align * align);
}

/* Write zeros up to the alignment; *used bytes of size are written so far. */
static int
pad_write(unsigned char *buf, size_t size, size_t *used, size_t align)
{
	const size_t to = round_up(*used, align);

	if (to > size)
		return (ERANGE);
	memset(buf + *used, 0, to - *used);
	*used = to;
	return (0);
}

/* Skip to the alignment, counted from begin on; false if it is not there. */
static bool
pad_skip(size_t datalen, size_t begin, size_t *off, size_t align)
{
	*off = begin + round_up(*off - begin, align);
	return (*off <= datalen);
}

/*
 * The padding at the end of all data may be missing: what a sender put
 * together by hand often has none.
 */
static void
pad_skip_last(size_t datalen, size_t begin, size_t *off, size_t align)
{
	if (!pad_skip(datalen, begin, off, align))
		*off = datalen;
}

/* ---- Is it the default? ---- */

static bool	struct_is_default(const struct ng_parse_type *,
		    const unsigned char *, size_t, size_t *);
static bool	array_is_default(const struct ng_parse_type *,
		    const unsigned char *, size_t, size_t *);
static ng_getDefault_t struct_default, array_default;

/* Are the bytes at data + *off those that buf has? */
static bool
same_bytes(const unsigned char *data, size_t datalen, size_t *off,
    const unsigned char *buf, size_t len)
{
	if (len == 0 || len > datalen - *off ||
	    memcmp(data + *off, buf, len) != 0)
		return (false);
	*off += len;
	return (true);
}

static bool
scalar_is_default(const struct ng_parse_type *type,
    const unsigned char *data, size_t datalen, size_t *off)
{
	unsigned char buf[DEFAULT_MAX];
	size_t len = sizeof(buf);

	return (type_default(type, data, buf, &len) == 0 &&
	    same_bytes(data, datalen, off, buf, len));
}

/*
 * If the value at data + *off is the default one, move *off behind it.  Structs
 * and arrays look at their parts in place, so that lengths are those of data.
 */
static bool
is_default(const struct ng_parse_type *type, const unsigned char *data,
    size_t datalen, size_t *off)
{
	ng_getDefault_t *getDefault = find_default(type);
	size_t o = *off;
	bool same;

	if (getDefault == struct_default)
		same = struct_is_default(type, data, datalen, &o);
	else if (getDefault == array_default)
		same = array_is_default(type, data, datalen, &o);
	else
		same = scalar_is_default(type, data, datalen, &o);
	if (same)
		*off = o;
	return (same);
}

/* ---- Structs ---- */

static size_t
field_align(const struct ng_parse_struct_field *f)
{
	return (f->alignment > 0 ? (size_t)f->alignment :
	    type_align(f->type));
}

static int
struct_align(const struct ng_parse_type *type)
{
	const struct ng_parse_struct_field *f = ng_parse_info(type);
	size_t align = 1;

	for (; f != NULL && f->name != NULL; f++)
		if (field_align(f) > align)
			align = field_align(f);
	return ((int)align);
}

static int
field_index(const struct ng_parse_struct_field *fields, const char *name,
    size_t len)
{
	int i;

	for (i = 0; fields[i].name != NULL; i++)
		if (strlen(fields[i].name) == len &&
		    strncmp(fields[i].name, name, len) == 0)
			return (i);
	return (-1);
}

/* Note where the text of each field is, and check what is around it. */
static int
struct_scan(const struct ng_parse_struct_field *fields, const char *s,
    size_t *off, size_t *where)
{
	enum ng_parse_token token;
	size_t len;
	int error, i;

	if (ng_parse_get_token(s, off, &len) != NG_TOKEN_LBRACE)
		return (EINVAL);
	for (*off += len;; ) {
		token = ng_parse_get_token(s, off, &len);
		if (token == NG_TOKEN_RBRACE)
			break;
		if (token != NG_TOKEN_WORD)
			return (EINVAL);
		i = field_index(fields, s + *off, len);
		if (i < 0)
			return (ENOENT);
		*off += len;
		if (ng_parse_get_token(s, off, &len) != NG_TOKEN_EQUALS)
			return (EINVAL);
		*off += len;
		if (where[i] != 0)
			return (EALREADY);
		where[i] = *off;
		error = ng_parse_skip_value(s, off);
		if (error != 0)
			return (error);
	}
	*off += len;
	return (0);
}

/*
 * Write the fields, from their text where there is one.  No value is at the
 * text's first byte, so that 0 says that there is none; where NULL: all.
 */
static int
struct_write(const struct ng_parse_type *type, const char *s,
    const size_t *where, const unsigned char *start, unsigned char *buf,
    size_t *buflen)
{
	const struct ng_parse_struct_field *fields = ng_parse_info(type);
	size_t i, len, off, used = 0;
	int error;

	for (i = 0; fields[i].name != NULL; i++) {
		error = pad_write(buf, *buflen, &used,
		    field_align(&fields[i]));
		if (error != 0)
			return (error);
		len = *buflen - used;
		if (where != NULL && where[i] != 0) {
			off = where[i];
			error = type_parse(fields[i].type, s, &off, start,
			    buf + used, &len);
		} else
			error = type_default(fields[i].type, start,
			    buf + used, &len);
		if (error != 0)
			return (error);
		used += len;
	}
	error = pad_write(buf, *buflen, &used, type_align(type));
	*buflen = used;
	return (error);
}

static int
struct_parse(const struct ng_parse_type *type, const char *s, size_t *off,
    const unsigned char *start, unsigned char *buf, size_t *buflen)
{
	const struct ng_parse_struct_field *fields = ng_parse_info(type);
	size_t n = 0, *where;
	int error;

	if (fields == NULL)
		return (EINVAL);
	while (fields[n].name != NULL)
		n++;
	where = calloc(n + 1, sizeof(*where));
	if (where == NULL)
		return (ENOMEM);
	error = struct_scan(fields, s, off, where);
	if (error == 0)
		error = struct_write(type, s, where, start, buf, buflen);
	free(where);
	return (error);
}

static int
struct_default(const struct ng_parse_type *type, const unsigned char *start,
    unsigned char *buf, size_t *buflen)
{
	if (ng_parse_info(type) == NULL)
		return (EOPNOTSUPP);
	return (struct_write(type, NULL, NULL, start, buf, buflen));
}

static bool
struct_is_default(const struct ng_parse_type *type,
    const unsigned char *data, size_t datalen, size_t *off)
{
	const struct ng_parse_struct_field *f = ng_parse_info(type);
	const size_t begin = *off;

	for (; f != NULL && f->name != NULL; f++) {
		if (!pad_skip(datalen, begin, off, field_align(f)) ||
		    !is_default(f->type, data, datalen, off))
			return (false);
	}
	pad_skip_last(datalen, begin, off, type_align(type));
	return (true);
}

static int
struct_unparse(const struct ng_parse_type *type, const unsigned char *data,
    size_t datalen, size_t *off, char *cbuf, size_t cbuflen)
{
	const struct ng_parse_struct_field *f = ng_parse_info(type);
	const size_t begin = *off;
	const char *end = "}";
	size_t len;
	int error;

	if (f == NULL)
		return (EINVAL);
	error = ng_parse_append(&cbuf, &cbuflen, "{");
	for (; error == 0 && f->name != NULL; f++) {
		if (!pad_skip(datalen, begin, off, field_align(f)))
			return (EINVAL);
		if (is_default(f->type, data, datalen, off))
			continue;
		error = ng_parse_append(&cbuf, &cbuflen, " %s=", f->name);
		if (error != 0)
			break;
		error = type_unparse(f->type, data, datalen, off, cbuf,
		    cbuflen);
		if (error != 0)
			break;
		len = strlen(cbuf);
		cbuf += len;
		cbuflen -= len;
		end = " }";
	}
	pad_skip_last(datalen, begin, off, type_align(type));
	return (error != 0 ? error :
	    ng_parse_append(&cbuf, &cbuflen, "%s", end));
}

const struct ng_parse_type ng_parse_struct_type = {
	.parse = struct_parse,
	.unparse = struct_unparse,
	.getDefault = struct_default,
	.getAlign = struct_align,
};

/* ---- Arrays ---- */

/* What the kinds of array have in common. */
struct array {
	const struct ng_parse_type *a_elem;
	ng_parse_array_getDefault_t *a_default;
	size_t		 a_align;	/* of an element */
	size_t		 a_length;	/* in elements */
	bool		 a_rest;	/* no length: the rest of the data */
};

/* Which of the built-in arrays type is made from, NULL if from none. */
static const struct ng_parse_type *
array_kind(const struct ng_parse_type *type)
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
	const struct ng_parse_type *kind = array_kind(type);
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
	a->a_align = type_align(a->a_elem);
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
	return (type_default(a->a_elem, start, buf, buflen));
}

static bool
elem_is_default(const struct array *a, size_t i, const unsigned char *data,
    size_t datalen, size_t *off)
{
	unsigned char buf[DEFAULT_MAX];
	size_t len = sizeof(buf);

	if (a->a_default == NULL)
		return (is_default(a->a_elem, data, datalen, off));
	return (elem_default(a, i, data, buf, &len) == 0 &&
	    same_bytes(data, datalen, off, buf, len));
}

static int
array_align(const struct ng_parse_type *type)
{
	const void *info = ng_parse_info(type);
	const struct ng_parse_fixedarray_info *fi = info;
	const struct ng_parse_array_info *ai = info;

	if (info == NULL)
		return (1);
	return ((int)type_align(array_kind(type) ==
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
		error = pad_write(buf, *buflen, &used, a->a_align);
		if (error != 0)
			return (error);
		len = *buflen - used;
		if (where != NULL && where[i] != 0) {
			off = where[i];
			error = type_parse(a->a_elem, s, &off, start,
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

static bool
array_is_default(const struct ng_parse_type *type, const unsigned char *data,
    size_t datalen, size_t *off)
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
		if (!pad_skip(datalen, begin, off, a.a_align) ||
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
		error = type_unparse(a->a_elem, data, datalen, off, *cbufp,
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
		if (!pad_skip(datalen, begin, off, a.a_align))
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

/* ---- Conversion ---- */

/* Is the type nested at most max deep?  One that is in itself is not. */
static bool
depth_ok(const struct ng_parse_type *type, int max)
{
	const void *info = ng_parse_info(type);
	const struct ng_parse_struct_field *f = info;
	const struct ng_parse_fixedarray_info *fi = info;
	const struct ng_parse_array_info *ai = info;
	ng_unparse_t *unparse = find_unparse(type);
	ng_parse_t *parse = find_parse(type);

	if (max == 0)
		return (false);
	if (info == NULL)
		return (true);
	if (parse == struct_parse || unparse == struct_unparse) {
		for (; f->name != NULL; f++)
			if (!depth_ok(f->type, max - 1))
				return (false);
		return (true);
	}
	if (parse != array_parse && unparse != array_unparse)
		return (true);
	if (array_kind(type) == &ng_parse_bytearray_type)
		return (true);
	return (depth_ok(array_kind(type) == &ng_parse_fixedarray_type ?
	    fi->elementType : ai->elementType, max - 1));
}

int
ng_parse(const struct ng_parse_type *type, const char *string, size_t *off,
    unsigned char *buf, size_t *buflen)
{
	if (!depth_ok(type, NG_PARSE_DEPTH))
		return (EINVAL);
	return (type_parse(type, string, off, buf, buf, buflen));
}

int
ng_unparse(const struct ng_parse_type *type, const void *data,
    size_t datalen, char *cbuf, size_t cbuflen)
{
	size_t off = 0;

	if (!depth_ok(type, NG_PARSE_DEPTH))
		return (EINVAL);
	if (datalen == 0)
		data = "";		/* it may be NULL, which has no offset */
	return (type_unparse(type, data, datalen, &off, cbuf, cbuflen));
}
