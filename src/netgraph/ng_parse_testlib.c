/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* Helpers of the tests of the text language. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "netgraph/ng_parse_testlib.h"

char	text[TEXT_MAX];

const struct int_case int_cases[INT_CASES] = {
	{ &ng_parse_int8_type, 1, "-128", 0x80 },
	{ &ng_parse_uint8_type, 1, "255", 0xff },
	{ &ng_parse_hint8_type, 1, "0xff", 0xff },
	{ &ng_parse_int16_type, 2, "-32768", 0x8000 },
	{ &ng_parse_uint16_type, 2, "65535", 0xffff },
	{ &ng_parse_hint16_type, 2, "0x8100", 0x8100 },
	{ &ng_parse_int32_type, 4, "-2147483648", 0x80000000 },
	{ &ng_parse_uint32_type, 4, "4294967295", 0xffffffff },
	{ &ng_parse_hint32_type, 4, "0x5", 5 },
	{ &ng_parse_int64_type, 8, "-9223372036854775808", 1ULL << 63 },
	{ &ng_parse_uint64_type, 8, "9223372036854775807", INT64_MAX },
	{ &ng_parse_hint64_type, 8, "0x7fffffffffffffff", INT64_MAX },
};

union host_int
host_int(uint64_t v, size_t size)
{
	union host_int h = { .u64 = 0 };

	if (size == 1)
		h.u8 = (uint8_t)v;
	else if (size == 2)
		h.u16 = (uint16_t)v;
	else if (size == 4)
		h.u32 = (uint32_t)v;
	else
		h.u64 = v;
	return (h);
}

int
parse_room(const struct ng_parse_type *type, const char *s, size_t room,
    unsigned char *out, size_t *len)
{
	unsigned char *buf;
	size_t off = 0;
	int error;

	buf = malloc(room + (room == 0));
	assert_non_null(buf);
	memset(buf, 0xa5, room);
	*len = room;
	error = ng_parse(type, s, &off, buf, len);
	if (error == 0) {
		assert_true(*len <= room);
		assert_true(off <= strlen(s));
		memcpy(out, buf, *len);
	}
	free(buf);
	return (error);
}

int
unparse_exact(const struct ng_parse_type *type, const void *data, size_t len,
    size_t room)
{
	unsigned char *copy;
	char *c;
	int error;

	copy = malloc(len + (len == 0));
	c = malloc(room + (room == 0));
	assert_non_null(copy);
	assert_non_null(c);
	if (len > 0)
		memcpy(copy, data, len);
	error = ng_unparse(type, copy, len, c, room);
	if (error == 0) {
		assert_true(strlen(c) < room);
		strcpy(text, c);
	}
	free(copy);
	free(c);
	return (error);
}

void
fails(const struct ng_parse_type *type, const char *s, int error)
{
	unsigned char out[1024];
	size_t len;
	int got;

	got = parse_room(type, s, sizeof(out), out, &len);
	if (got != error)
		fail_msg("%s: error %d, not %d", s, got, error);
}

void
reads(const struct ng_parse_type *type, const char *s, const void *bytes,
    size_t len)
{
	unsigned char out[1024];
	size_t got, room;
	int error;

	error = parse_room(type, s, sizeof(out), out, &got);
	if (error != 0)
		fail_msg("%s: error %d", s, error);
	assert_int_equal(got, len);
	assert_memory_equal(out, bytes, len);
	for (room = 0; room < len; room++)
		assert_int_equal(parse_room(type, s, room, out, &got),
		    ERANGE);
	assert_int_equal(parse_room(type, s, len, out, &got), 0);
}

void
prints(const struct ng_parse_type *type, const void *bytes, size_t len,
    const char *s)
{
	size_t room;

	assert_int_equal(unparse_exact(type, bytes, len, TEXT_MAX), 0);
	assert_string_equal(text, s);
	for (room = 0; room <= strlen(s); room++)
		assert_int_equal(unparse_exact(type, bytes, len, room),
		    ERANGE);
	assert_int_equal(unparse_exact(type, bytes, len, room), 0);
}

void
cuts(const struct ng_parse_type *type, const void *bytes, size_t len)
{
	size_t n;

	for (n = 0; n < len; n++)
		assert_int_equal(unparse_exact(type, bytes, n, TEXT_MAX),
		    EINVAL);
}

void
both(const struct ng_parse_type *type, const char *s, const void *bytes,
    size_t len)
{
	reads(type, s, bytes, len);
	prints(type, bytes, len, s);
}
