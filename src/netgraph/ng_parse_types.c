/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The text language's types that have no parts: integers, strings, addresses.
 *
 * Constant tables and pure functions, on any thread.  Binary is read and
 * written byte by byte, since a message may lie anywhere.
 */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <netgraph/ng_message.h>
#include <netgraph/ng_parse.h>

#define	ENADDR_LEN	6
#define	IPADDR_LEN	4

/* Zeros as default. */
static int
zeros(unsigned char *buf, size_t *buflen, size_t size)
{
	if (*buflen < size)
		return (ERANGE);
	memset(buf, 0, size);
	*buflen = size;
	return (0);
}

/* ---- Integers ---- */

struct int_info {
	size_t	ii_size;		/* bytes, and their alignment */
	enum { INT_DEC, INT_UNSIGNED, INT_HEX } ii_print;
};

/* That of the built-in type: one made from it may have an info of its own. */
static const struct int_info *
int_info(const struct ng_parse_type *type)
{
	while (type->supertype != NULL)
		type = type->supertype;
	return (type->info);
}

/* The low bytes of v, in host order. */
static void
int_store(unsigned char *buf, size_t size, uint64_t v)
{
	const uint32_t v32 = (uint32_t)v;
	const uint16_t v16 = (uint16_t)v;

	switch (size) {
	case 1:
		buf[0] = (unsigned char)v;
		break;
	case 2:
		memcpy(buf, &v16, sizeof(v16));
		break;
	case 4:
		memcpy(buf, &v32, sizeof(v32));
		break;
	default:
		memcpy(buf, &v, sizeof(v));
		break;
	}
}

static uint64_t
int_load(const unsigned char *data, size_t size)
{
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	switch (size) {
	case 1:
		return (data[0]);
	case 2:
		memcpy(&v16, data, sizeof(v16));
		return (v16);
	case 4:
		memcpy(&v32, data, sizeof(v32));
		return (v32);
	default:
		memcpy(&v64, data, sizeof(v64));
		return (v64);
	}
}

/* Only the number that a word starts with counts. */
static int
int_parse(const struct ng_parse_type *type, const char *s, size_t *off,
    const unsigned char *start, unsigned char *buf, size_t *buflen)
{
	const struct int_info *ii = int_info(type);
	const size_t bits = ii->ii_size * CHAR_BIT;
	long long v;
	size_t len;
	char *end;

	if (ng_parse_get_token(s, off, &len) != NG_TOKEN_WORD)
		return (EINVAL);
	v = strtoll(s + *off, &end, 0);
	if (end == s + *off)
		return (EINVAL);
	if (bits < 64 && (v < -(1LL << (bits - 1)) || v >= 1LL << bits))
		return (EINVAL);
	if (*buflen < ii->ii_size)
		return (ERANGE);
	int_store(buf, ii->ii_size, (uint64_t)v);
	*off = (size_t)(end - s);
	*buflen = ii->ii_size;
	return (0);
}

static int
int_unparse(const struct ng_parse_type *type, const unsigned char *data,
    size_t datalen, size_t *off, char *cbuf, size_t cbuflen)
{
	const struct int_info *ii = int_info(type);
	const size_t unused = 64 - ii->ii_size * CHAR_BIT;
	uint64_t v;
	int error;

	if (datalen - *off < ii->ii_size)
		return (EINVAL);
	v = int_load(data + *off, ii->ii_size);
	if (ii->ii_print == INT_HEX)
		error = ng_parse_append(&cbuf, &cbuflen, "0x%" PRIx64, v);
	else if (ii->ii_print == INT_UNSIGNED)
		error = ng_parse_append(&cbuf, &cbuflen, "%" PRIu64, v);
	else
		error = ng_parse_append(&cbuf, &cbuflen, "%" PRId64,
		    (int64_t)(v << unused) >> unused);
	if (error == 0)
		*off += ii->ii_size;
	return (error);
}

static int
int_default(const struct ng_parse_type *type, const unsigned char *start,
    unsigned char *buf, size_t *buflen)
{
	return (zeros(buf, buflen, int_info(type)->ii_size));
}

static int
int_align(const struct ng_parse_type *type)
{
	return ((int)int_info(type)->ii_size);
}

#define	INT_TYPE(name, size, print)					\
const struct ng_parse_type ng_parse_##name##_type = {			\
	.info = &(const struct int_info){ size, print },		\
	.parse = int_parse,						\
	.unparse = int_unparse,						\
	.getDefault = int_default,					\
	.getAlign = int_align,						\
}

INT_TYPE(int8, 1, INT_DEC);
INT_TYPE(uint8, 1, INT_UNSIGNED);
INT_TYPE(hint8, 1, INT_HEX);
INT_TYPE(int16, 2, INT_DEC);
INT_TYPE(uint16, 2, INT_UNSIGNED);
INT_TYPE(hint16, 2, INT_HEX);
INT_TYPE(int32, 4, INT_DEC);
INT_TYPE(uint32, 4, INT_UNSIGNED);
INT_TYPE(hint32, 4, INT_HEX);
INT_TYPE(int64, 8, INT_DEC);
INT_TYPE(uint64, 8, INT_UNSIGNED);
INT_TYPE(hint64, 8, INT_HEX);

/* ---- Strings ---- */

/* A string without a NUL in it; its own NUL follows in buf. */
static int
parse_cstring(const char *s, size_t *off, unsigned char *buf, size_t buflen,
    size_t *slen)
{
	int error;

	error = ng_parse_string(s, off, (char *)buf, buflen, slen);
	if (error != 0)
		return (error);
	if (memchr(buf, '\0', *slen) != NULL)
		return (EINVAL);
	if (*slen == buflen)
		return (ERANGE);
	buf[*slen] = '\0';
	return (0);
}

static int
string_parse(const struct ng_parse_type *type, const char *s, size_t *off,
    const unsigned char *start, unsigned char *buf, size_t *buflen)
{
	size_t slen;
	int error;

	error = parse_cstring(s, off, buf, *buflen, &slen);
	if (error == 0)
		*buflen = slen + 1;
	return (error);
}

static int
string_unparse(const struct ng_parse_type *type, const unsigned char *data,
    size_t datalen, size_t *off, char *cbuf, size_t cbuflen)
{
	size_t slen;
	int error;

	slen = strnlen((const char *)data + *off, datalen - *off);
	if (slen == datalen - *off)
		return (EINVAL);
	error = ng_unparse_string(data + *off, slen, cbuf, cbuflen);
	if (error == 0)
		*off += slen + 1;
	return (error);
}

static int
string_default(const struct ng_parse_type *type, const unsigned char *start,
    unsigned char *buf, size_t *buflen)
{
	return (zeros(buf, buflen, 1));
}

const struct ng_parse_type ng_parse_string_type = {
	.parse = string_parse,
	.unparse = string_unparse,
	.getDefault = string_default,
};

/* The buffer's size in bytes, 0 if the type has none. */
static size_t
fixedstring_size(const struct ng_parse_type *type)
{
	const struct ng_parse_fixedstring_info *fi = ng_parse_info(type);

	return (fi != NULL && fi->bufSize > 0 ? (size_t)fi->bufSize : 0);
}

static int
fixedstring_parse(const struct ng_parse_type *type, const char *s,
    size_t *off, const unsigned char *start, unsigned char *buf,
    size_t *buflen)
{
	const size_t size = fixedstring_size(type);
	size_t slen;
	int error;

	if (*buflen < size)
		return (ERANGE);
	error = parse_cstring(s, off, buf, size, &slen);
	if (error != 0)
		return (error == ERANGE ? E2BIG : error);
	memset(buf + slen, 0, size - slen);
	*buflen = size;
	return (0);
}

/* What is in the last byte does not count, as in a message's argument. */
static int
fixedstring_unparse(const struct ng_parse_type *type,
    const unsigned char *data, size_t datalen, size_t *off, char *cbuf,
    size_t cbuflen)
{
	const size_t size = fixedstring_size(type);
	int error;

	if (size == 0 || datalen - *off < size)
		return (EINVAL);
	error = ng_unparse_string(data + *off,
	    strnlen((const char *)data + *off, size - 1), cbuf, cbuflen);
	if (error == 0)
		*off += size;
	return (error);
}

static int
fixedstring_default(const struct ng_parse_type *type,
    const unsigned char *start, unsigned char *buf, size_t *buflen)
{
	return (zeros(buf, buflen, fixedstring_size(type)));
}

const struct ng_parse_type ng_parse_fixedstring_type = {
	.parse = fixedstring_parse,
	.unparse = fixedstring_unparse,
	.getDefault = fixedstring_default,
};

#define	FIXEDSTRING_TYPE(name, size)					\
const struct ng_parse_type ng_parse_##name##_type = {			\
	.supertype = &ng_parse_fixedstring_type,			\
	.info = &(const struct ng_parse_fixedstring_info){ size },	\
}

FIXEDSTRING_TYPE(nodebuf, NG_NODESIZ);
FIXEDSTRING_TYPE(hookbuf, NG_HOOKSIZ);
FIXEDSTRING_TYPE(pathbuf, NG_PATHSIZ);
FIXEDSTRING_TYPE(typebuf, NG_TYPESIZ);
FIXEDSTRING_TYPE(cmdbuf, NG_CMDSTRSIZ);

static int
sizedstring_parse(const struct ng_parse_type *type, const char *s,
    size_t *off, const unsigned char *start, unsigned char *buf,
    size_t *buflen)
{
	uint16_t size;
	size_t slen;
	int error;

	if (*buflen < sizeof(size))
		return (ERANGE);
	error = ng_parse_string(s, off, (char *)buf + sizeof(size),
	    *buflen - sizeof(size), &slen);
	if (error != 0)
		return (error);
	if (slen > UINT16_MAX)
		return (E2BIG);
	size = (uint16_t)slen;
	memcpy(buf, &size, sizeof(size));
	*buflen = sizeof(size) + slen;
	return (0);
}

static int
sizedstring_unparse(const struct ng_parse_type *type,
    const unsigned char *data, size_t datalen, size_t *off, char *cbuf,
    size_t cbuflen)
{
	uint16_t size;
	int error;

	if (datalen - *off < sizeof(size))
		return (EINVAL);
	memcpy(&size, data + *off, sizeof(size));
	if (datalen - *off - sizeof(size) < size)
		return (EINVAL);
	error = ng_unparse_string(data + *off + sizeof(size), size, cbuf,
	    cbuflen);
	if (error == 0)
		*off += sizeof(size) + size;
	return (error);
}

static int
sizedstring_default(const struct ng_parse_type *type,
    const unsigned char *start, unsigned char *buf, size_t *buflen)
{
	return (zeros(buf, buflen, sizeof(uint16_t)));
}

const struct ng_parse_type ng_parse_sizedstring_type = {
	.parse = sizedstring_parse,
	.unparse = sizedstring_unparse,
	.getDefault = sizedstring_default,
};

/* ---- Addresses ---- */

/*
 * n numbers of the base, each at most a byte, with sep between them.  strtoul
 * alone would take a sign and white space too, which no address has.
 */
static int
bytes_parse(const char *s, size_t *off, unsigned char *buf, size_t n,
    int base, size_t digits, char sep)
{
	unsigned long v;
	size_t i, len, o;
	char *end;

	if (ng_parse_get_token(s, off, &len) != NG_TOKEN_WORD)
		return (EINVAL);
	o = *off;
	for (i = 0; i < n; i++) {
		if (i > 0 && s[o++] != sep)
			return (EINVAL);
		if (isxdigit((unsigned char)s[o]) == 0)
			return (EINVAL);
		v = strtoul(s + o, &end, base);
		len = (size_t)(end - (s + o));
		if (len == 0 || len > digits || v > UINT8_MAX)
			return (EINVAL);
		buf[i] = (unsigned char)v;
		o += len;
	}
	*off = o;
	return (0);
}

static int
ipaddr_parse(const struct ng_parse_type *type, const char *s, size_t *off,
    const unsigned char *start, unsigned char *buf, size_t *buflen)
{
	if (*buflen < IPADDR_LEN)
		return (ERANGE);
	*buflen = IPADDR_LEN;
	return (bytes_parse(s, off, buf, IPADDR_LEN, 10, 3, '.'));
}

static int
ipaddr_unparse(const struct ng_parse_type *type, const unsigned char *data,
    size_t datalen, size_t *off, char *cbuf, size_t cbuflen)
{
	const unsigned char *p = data + *off;

	if (datalen - *off < IPADDR_LEN)
		return (EINVAL);
	*off += IPADDR_LEN;
	return (ng_parse_append(&cbuf, &cbuflen, "%d.%d.%d.%d", p[0], p[1],
	    p[2], p[3]));
}

static int
ipaddr_default(const struct ng_parse_type *type, const unsigned char *start,
    unsigned char *buf, size_t *buflen)
{
	return (zeros(buf, buflen, IPADDR_LEN));
}

static int
ipaddr_align(const struct ng_parse_type *type)
{
	return (IPADDR_LEN);
}

const struct ng_parse_type ng_parse_ipaddr_type = {
	.parse = ipaddr_parse,
	.unparse = ipaddr_unparse,
	.getDefault = ipaddr_default,
	.getAlign = ipaddr_align,
};

static int
enaddr_parse(const struct ng_parse_type *type, const char *s, size_t *off,
    const unsigned char *start, unsigned char *buf, size_t *buflen)
{
	if (*buflen < ENADDR_LEN)
		return (ERANGE);
	*buflen = ENADDR_LEN;
	return (bytes_parse(s, off, buf, ENADDR_LEN, 16, 2, ':'));
}

static int
enaddr_unparse(const struct ng_parse_type *type, const unsigned char *data,
    size_t datalen, size_t *off, char *cbuf, size_t cbuflen)
{
	const unsigned char *p = data + *off;

	if (datalen - *off < ENADDR_LEN)
		return (EINVAL);
	*off += ENADDR_LEN;
	return (ng_parse_append(&cbuf, &cbuflen,
	    "%02x:%02x:%02x:%02x:%02x:%02x", p[0], p[1], p[2], p[3], p[4],
	    p[5]));
}

/* No default: nobody means 00:00:00:00:00:00. */
const struct ng_parse_type ng_parse_enaddr_type = {
	.parse = enaddr_parse,
	.unparse = enaddr_unparse,
};
