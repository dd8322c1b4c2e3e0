/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The text language of control messages: a type's methods, padding, defaults,
 * structs and conversion.  Arrays are in ng_parse_array.c.
 *
 * Pure functions of their arguments, on any thread, best outside the epoch
 * since they allocate.  Texts and binaries come from anybody; types come from
 * node types and are trusted, except that one which contains itself must not
 * let the data choose how deep we recurse: the entry points measure it.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "netgraph/ng_parse_private.h"

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

int
ngp_parse(const struct ng_parse_type *type, const char *s, size_t *off,
    const unsigned char *start, unsigned char *buf, size_t *buflen)
{
	ng_parse_t *parse = find_parse(type);

	return (parse == NULL ? EINVAL :
	    parse(type, s, off, start, buf, buflen));
}

int
ngp_unparse(const struct ng_parse_type *type, const unsigned char *data,
    size_t datalen, size_t *off, char *cbuf, size_t cbuflen)
{
	ng_unparse_t *unparse = find_unparse(type);

	return (unparse == NULL ? EINVAL :
	    unparse(type, data, datalen, off, cbuf, cbuflen));
}

int
ngp_default(const struct ng_parse_type *type, const unsigned char *start,
    unsigned char *buf, size_t *buflen)
{
	ng_getDefault_t *getDefault = find_default(type);

	return (getDefault == NULL ? EOPNOTSUPP :
	    getDefault(type, start, buf, buflen));
}

size_t
ngp_align(const struct ng_parse_type *type)
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

int
ngp_pad_write(unsigned char *buf, size_t size, size_t *used, size_t align)
{
	const size_t to = round_up(*used, align);

	if (to > size)
		return (ERANGE);
	memset(buf + *used, 0, to - *used);
	*used = to;
	return (0);
}

bool
ngp_pad_skip(size_t datalen, size_t begin, size_t *off, size_t align)
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
	if (!ngp_pad_skip(datalen, begin, off, align))
		*off = datalen;
}

/* ---- Is it the default? ---- */

static bool	struct_is_default(const struct ng_parse_type *,
		    const unsigned char *, size_t, size_t *);
static ng_getDefault_t struct_default;

bool
ngp_same_bytes(const unsigned char *data, size_t datalen, size_t *off,
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
	unsigned char buf[NGP_DEFAULT_MAX];
	size_t len = sizeof(buf);

	return (ngp_default(type, data, buf, &len) == 0 &&
	    ngp_same_bytes(data, datalen, off, buf, len));
}

/* Structs and arrays look at their parts in place: lengths are of data. */
bool
ngp_is_default(const struct ng_parse_type *type, const unsigned char *data,
    size_t datalen, size_t *off)
{
	ng_getDefault_t *getDefault = find_default(type);
	size_t o = *off;
	bool same;

	if (getDefault == struct_default)
		same = struct_is_default(type, data, datalen, &o);
	else if (getDefault == ng_parse_array_type.getDefault)
		same = ngp_array_is_default(type, data, datalen, &o);
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
	    ngp_align(f->type));
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
		error = ngp_pad_write(buf, *buflen, &used,
		    field_align(&fields[i]));
		if (error != 0)
			return (error);
		len = *buflen - used;
		if (where != NULL && where[i] != 0) {
			off = where[i];
			error = ngp_parse(fields[i].type, s, &off, start,
			    buf + used, &len);
		} else
			error = ngp_default(fields[i].type, start,
			    buf + used, &len);
		if (error != 0)
			return (error);
		used += len;
	}
	error = ngp_pad_write(buf, *buflen, &used, ngp_align(type));
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
		if (!ngp_pad_skip(datalen, begin, off, field_align(f)) ||
		    !ngp_is_default(f->type, data, datalen, off))
			return (false);
	}
	pad_skip_last(datalen, begin, off, ngp_align(type));
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
		if (!ngp_pad_skip(datalen, begin, off, field_align(f)))
			return (EINVAL);
		if (ngp_is_default(f->type, data, datalen, off))
			continue;
		error = ng_parse_append(&cbuf, &cbuflen, " %s=", f->name);
		if (error != 0)
			break;
		error = ngp_unparse(f->type, data, datalen, off, cbuf,
		    cbuflen);
		if (error != 0)
			break;
		len = strlen(cbuf);
		cbuf += len;
		cbuflen -= len;
		end = " }";
	}
	pad_skip_last(datalen, begin, off, ngp_align(type));
	return (error != 0 ? error :
	    ng_parse_append(&cbuf, &cbuflen, "%s", end));
}

const struct ng_parse_type ng_parse_struct_type = {
	.parse = struct_parse,
	.unparse = struct_unparse,
	.getDefault = struct_default,
	.getAlign = struct_align,
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
	if (parse != ng_parse_array_type.parse &&
	    unparse != ng_parse_array_type.unparse)
		return (true);
	if (ngp_array_kind(type) == &ng_parse_bytearray_type)
		return (true);
	return (depth_ok(ngp_array_kind(type) == &ng_parse_fixedarray_type ?
	    fi->elementType : ai->elementType, max - 1));
}

int
ng_parse(const struct ng_parse_type *type, const char *string, size_t *off,
    unsigned char *buf, size_t *buflen)
{
	if (!depth_ok(type, NG_PARSE_DEPTH))
		return (EINVAL);
	return (ngp_parse(type, string, off, buf, buf, buflen));
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
	return (ngp_unparse(type, data, datalen, &off, cbuf, cbuflen));
}
