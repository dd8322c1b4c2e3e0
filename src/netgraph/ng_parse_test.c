/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The text language: each type both ways, each error, and random values of
 * random types to text and back.  Buffers are of the exact size, so that the
 * sanitizers see a byte too far.
 */

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <netgraph/ng_message.h>
#include <netgraph/ng_parse.h>

#define	nitems(a)	(sizeof(a) / sizeof((a)[0]))
#define	TEXT_MAX	(256 * 1024)

static char	text[TEXT_MAX];

/* ---- Helpers ---- */

/* Parse into a buffer of just room bytes, which out then has. */
static int
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

/* Unparse from a buffer of just len bytes. */
static int
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

static void
fails(const struct ng_parse_type *type, const char *s, int error)
{
	unsigned char out[1024];
	size_t len;
	int got;

	got = parse_room(type, s, sizeof(out), out, &len);
	if (got != error)
		fail_msg("%s: error %d, not %d", s, got, error);
}

/* s is these len bytes. */
static void
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

/* These bytes are s; less data or less room is an error. */
static void
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

static void
cuts(const struct ng_parse_type *type, const void *bytes, size_t len)
{
	size_t n;

	for (n = 0; n < len; n++)
		assert_int_equal(unparse_exact(type, bytes, n, TEXT_MAX),
		    EINVAL);
}

static void
both(const struct ng_parse_type *type, const char *s, const void *bytes,
    size_t len)
{
	reads(type, s, bytes, len);
	prints(type, bytes, len, s);
}

/* ---- Types with a name ---- */

static const struct ng_parse_struct_field pair_fields[] = {
	{ "a", &ng_parse_int8_type, 0 },
	{ "b", &ng_parse_int32_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type pair_type = {
	.supertype = &ng_parse_struct_type, .info = pair_fields,
};

static const struct ng_parse_struct_field empty_fields[] = {
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type empty_type = {
	.supertype = &ng_parse_struct_type, .info = empty_fields,
};

static const struct ng_parse_fixedarray_info ten_info = {
	.elementType = &ng_parse_int16_type, .length = 10,
};
static const struct ng_parse_type ten_type = {
	.supertype = &ng_parse_fixedarray_type, .info = &ten_info,
};

static const struct ng_parse_fixedarray_info strings_info = {
	.elementType = &ng_parse_string_type, .length = 3,
};
static const struct ng_parse_type strings_type = {
	.supertype = &ng_parse_fixedarray_type, .info = &strings_info,
};

static const struct ng_parse_fixedarray_info pairs_info = {
	.elementType = &pair_type, .length = 3,
};
static const struct ng_parse_type pairs_type = {
	.supertype = &ng_parse_fixedarray_type, .info = &pairs_info,
};

static int
sevens(const struct ng_parse_type *type, int index,
    const unsigned char *start, unsigned char *buf, size_t *buflen)
{
	if (*buflen < 1)
		return (ERANGE);
	buf[0] = (unsigned char)(7 + index);
	*buflen = 1;
	return (0);
}
static const struct ng_parse_fixedarray_info sevens_info = {
	.elementType = &ng_parse_uint8_type, .length = 3,
	.getDefault = sevens,
};
static const struct ng_parse_type sevens_type = {
	.supertype = &ng_parse_fixedarray_type, .info = &sevens_info,
};

/* What a bridge answers: a count and a struct without any padding. */
static const struct ng_parse_struct_field host_fields[] = {
	{ "addr", &ng_parse_enaddr_type, 0 },
	{ "hook", &ng_parse_hookbuf_type, 0 },
	{ "age", &ng_parse_uint16_type, 0 },
	{ "staleness", &ng_parse_uint16_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type host_type = {
	.supertype = &ng_parse_struct_type, .info = host_fields,
};

static int
count_in_front(const struct ng_parse_type *type, const unsigned char *start,
    const unsigned char *buf)
{
	uint32_t n;

	memcpy(&n, start, sizeof(n));
	return (n > INT_MAX ? -1 : (int)n);
}
static const struct ng_parse_array_info hosts_info = {
	.elementType = &host_type, .getLength = count_in_front,
};
static const struct ng_parse_type hosts_type = {
	.supertype = &ng_parse_array_type, .info = &hosts_info,
};
static const struct ng_parse_struct_field table_fields[] = {
	{ "numHosts", &ng_parse_uint32_type, 0 },
	{ "hosts", &hosts_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type table_type = {
	.supertype = &ng_parse_struct_type, .info = table_fields,
};

static const struct ng_parse_type bytes_type = {
	.supertype = &ng_parse_bytearray_type,
	.info = (const void *)count_in_front,
};
static const struct ng_parse_struct_field blob_fields[] = {
	{ "n", &ng_parse_uint32_type, 0 },
	{ "bytes", &bytes_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type blob_type = {
	.supertype = &ng_parse_struct_type, .info = blob_fields,
};

static const struct ng_parse_struct_field option_fields[] = {
	{ "level", &ng_parse_int32_type, 0 },
	{ "value", &ng_parse_bytearray_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type option_type = {
	.supertype = &ng_parse_struct_type, .info = option_fields,
};

/* A type that is in itself. */
static const struct ng_parse_type tree_type;
static const struct ng_parse_array_info forest_info = {
	.elementType = &tree_type, .getLength = count_in_front,
};
static const struct ng_parse_type forest_type = {
	.supertype = &ng_parse_array_type, .info = &forest_info,
};
static const struct ng_parse_struct_field tree_fields[] = {
	{ "n", &ng_parse_uint32_type, 0 },
	{ "trees", &forest_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type tree_type = {
	.supertype = &ng_parse_struct_type, .info = tree_fields,
};

/* ---- Scalars ---- */

struct int_case {
	const struct ng_parse_type *type;
	size_t		 size;
	const char	*text;		/* as printed */
	uint64_t	 value;
};

static const struct int_case int_cases[] = {
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

/* v in host order, as the low bytes of a struct that any width overlays. */
union host_int {
	uint8_t		u8;
	uint16_t	u16;
	uint32_t	u32;
	uint64_t	u64;
};

static union host_int
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

static void
test_integers(void **state)
{
	union host_int h;
	size_t i;

	for (i = 0; i < nitems(int_cases); i++) {
		h = host_int(int_cases[i].value, int_cases[i].size);
		both(int_cases[i].type, int_cases[i].text, &h,
		    int_cases[i].size);
		cuts(int_cases[i].type, &h, int_cases[i].size);
	}
}

static void
test_integers_constants(void **state)
{
	const struct ng_parse_type *t = &ng_parse_int32_type;

	reads(t, "0x1F", &(int32_t){ 31 }, 4);
	reads(t, "017", &(int32_t){ 15 }, 4);
	reads(t, " \n+3", &(int32_t){ 3 }, 4);
	reads(t, "-0x10", &(int32_t){ -16 }, 4);
	reads(t, "5x", &(int32_t){ 5 }, 4);
	reads(t, "5 } rest", &(int32_t){ 5 }, 4);
	reads(&ng_parse_uint64_type, "99999999999999999999",
	    &(int64_t){ INT64_MAX }, 8);
	reads(&ng_parse_int64_type, "-99999999999999999999",
	    &(int64_t){ INT64_MIN }, 8);
	reads(&ng_parse_uint64_type, "-1", &(int64_t){ -1 }, 8);
	fails(t, "", EINVAL);
	fails(t, "x5", EINVAL);
	fails(t, "-", EINVAL);
	fails(t, "\"5\"", EINVAL);
	fails(t, "{ 5 }", EINVAL);
	fails(t, "=5", EINVAL);
}

/* Both the signed and the unsigned range, whatever the type is. */
static void
test_integers_range(void **state)
{
	static const struct {
		const struct ng_parse_type *type[3];
		const char	*low, *high, *below, *above;
	} cases[] = {
		{ { &ng_parse_int8_type, &ng_parse_uint8_type,
		    &ng_parse_hint8_type }, "-128", "255", "-129", "256" },
		{ { &ng_parse_int16_type, &ng_parse_uint16_type,
		    &ng_parse_hint16_type }, "-32768", "65535", "-32769",
		    "65536" },
		{ { &ng_parse_int32_type, &ng_parse_uint32_type,
		    &ng_parse_hint32_type }, "-2147483648", "4294967295",
		    "-2147483649", "4294967296" },
	};
	unsigned char out[8];
	size_t i, j, len;

	for (i = 0; i < nitems(cases); i++)
		for (j = 0; j < 3; j++) {
			assert_int_equal(parse_room(cases[i].type[j],
			    cases[i].low, 8, out, &len), 0);
			assert_int_equal(parse_room(cases[i].type[j],
			    cases[i].high, 8, out, &len), 0);
			fails(cases[i].type[j], cases[i].below, EINVAL);
			fails(cases[i].type[j], cases[i].above, EINVAL);
		}
	reads(&ng_parse_uint32_type, "-1", &(uint32_t){ UINT32_MAX }, 4);
}

static void
test_addresses(void **state)
{
	const struct ng_parse_type *ip = &ng_parse_ipaddr_type;
	const struct ng_parse_type *en = &ng_parse_enaddr_type;
	unsigned char out[8];
	size_t len = sizeof(out), off = 0;

	both(ip, "1.2.3.4", "\1\2\3\4", 4);
	both(ip, "255.0.0.1", "\377\0\0\1", 4);
	cuts(ip, "\1\2\3\4", 4);
	fails(ip, "1.2.3", EINVAL);
	fails(ip, "1.2.3.256", EINVAL);
	fails(ip, "1.2.3.+4", EINVAL);
	fails(ip, "1..3.4", EINVAL);
	fails(ip, "\"1.2.3.4\"", EINVAL);
	/* What follows is left to a type that goes on with it. */
	assert_int_equal(ng_parse(ip, " 1.2.3.4:80", &off, out, &len), 0);
	assert_int_equal(off, 8);

	reads(en, "0:1a:2B:3:4:5", "\0\x1a\x2b\3\4\5", 6);
	prints(en, "\0\x1a\x2b\3\4\5", 6, "00:1a:2b:03:04:05");
	cuts(en, "\0\x1a\x2b\3\4\5", 6);
	fails(en, "0:1:2:3:4", EINVAL);
	fails(en, "0:1:2:3:4:", EINVAL);
	fails(en, "0:1:2:3:4:123", EINVAL);
	fails(en, "0:1:2:3:4:0x1", EINVAL);
	fails(en, "0:1:2:3:4:g", EINVAL);
	fails(en, "0-1-2-3-4-5", EINVAL);
}

/* ---- Strings ---- */

static void
test_strings(void **state)
{
	const struct ng_parse_type *t = &ng_parse_string_type;

	both(t, "\"\"", "", 1);
	both(t, "\"a b={}[]\"", "a b={}[]", 9);
	both(t, "\"\\t\\n\\r\\v\\f\\\"\\\\\"", "\t\n\r\v\f\"\\", 8);
	both(t, "\"\\x1b\\x7f\\xff\"", "\x1b\x7f\xff", 4);
	reads(t, "\"\\123\\0334\\x1bc\\x41\"", "S\0334\x1b" "cA", 7);
	reads(t, "\"\\q\\x\\a\"", "qxa", 4);
	cuts(t, "abc", 4);
	fails(t, "abc", EINVAL);
	fails(t, "\"abc", EINVAL);
	fails(t, "\"abc\\\"", EINVAL);
	fails(t, "\"a\\0b\"", EINVAL);
	fails(t, "\"\\777\"", EINVAL);
}

static void
test_strings_fixed(void **state)
{
	const struct ng_parse_type *t = &ng_parse_hookbuf_type;
	char buf[32] = "left";
	const char *longest = "\"0123456789012345678901234567890\"";

	both(t, "\"left\"", buf, 32);
	cuts(t, buf, 32);
	memset(buf, 0, sizeof(buf));
	both(t, "\"\"", buf, 32);
	memcpy(buf, longest + 1, 31);
	both(t, longest, buf, 32);
	fails(t, "\"01234567890123456789012345678901\"", E2BIG);
	fails(t, "\"a\\0\"", EINVAL);
	fails(t, "left", EINVAL);
	/* Nothing says that the sender has terminated it. */
	memset(buf, 'x', sizeof(buf));
	prints(t, buf, 32, "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"");
	/* Without info there is no room for the NUL. */
	fails(&ng_parse_fixedstring_type, "\"\"", E2BIG);
}

static void
test_strings_sized(void **state)
{
	const struct ng_parse_type *t = &ng_parse_sizedstring_type;
	unsigned char buf[6] = { 0, 0, 'a', 0, 'b', 0xff };

	memcpy(buf, &(uint16_t){ 4 }, 2);
	both(t, "\"a\\x00b\\xff\"", buf, 6);
	cuts(t, buf, 6);
	both(t, "\"\"", "\0", 2);
	memcpy(buf, &(uint16_t){ 5 }, 2);
	assert_int_equal(unparse_exact(t, buf, 6, 100), EINVAL);
}

static void
test_strings_sized_longest(void **state)
{
	unsigned char *buf;
	char *s;
	size_t len = 80000, off = 0;

	s = calloc(1, 70000);
	buf = calloc(1, len);
	assert_non_null(s);
	assert_non_null(buf);
	memset(s + 1, 'x', 65536);
	s[0] = s[65537] = '"';
	assert_int_equal(ng_parse(&ng_parse_sizedstring_type, s, &off, buf,
	    &len), E2BIG);
	s[65536] = '"';
	off = 0;
	assert_int_equal(ng_parse(&ng_parse_sizedstring_type, s, &off, buf,
	    &len), 0);
	assert_int_equal(len, 65537);
	free(buf);
	free(s);
}

/* ---- Structs ---- */

static void
test_struct(void **state)
{
	struct { int8_t a; int32_t b; } p = { 0 };

	p.a = 1;
	p.b = -2;
	both(&pair_type, "{ a=1 b=-2 }", &p, sizeof(p));
	reads(&pair_type, "{b=-2\ta = 1}", &p, sizeof(p));
	reads(&pair_type, " { a=1x b=-2 } ignored {", &p, sizeof(p));
	cuts(&pair_type, &p, sizeof(p));
	p.a = 0;
	both(&pair_type, "{ b=-2 }", &p, sizeof(p));
	p.b = 0;
	both(&pair_type, "{}", &p, sizeof(p));
	reads(&pair_type, "{ }", &p, sizeof(p));
	both(&empty_type, "{}", "", 0);
	fails(&pair_type, "{ c=1 }", ENOENT);
	fails(&pair_type, "{ aa=1 }", ENOENT);
	fails(&pair_type, "{ a=1 a=1 }", EALREADY);
	fails(&pair_type, "{ a }", EINVAL);
	fails(&pair_type, "{ a= }", EINVAL);
	fails(&pair_type, "{ a=1 ", EINVAL);
	fails(&pair_type, "{ a=[1} }", EINVAL);
	fails(&pair_type, "{ a==1 }", EINVAL);
	fails(&pair_type, "{ a={} }", EINVAL);
	fails(&pair_type, "{ \"a\"=1 }", EINVAL);
	fails(&pair_type, "[ 1 2 ]", EINVAL);
	fails(&pair_type, "", EINVAL);
	fails(&pair_type, "{ a=300 }", EINVAL);
	fails(&ng_parse_struct_type, "{}", EINVAL);
}

/* A struct's alignment is in its padding, and a field's own one counts. */
static void
test_struct_padding(void **state)
{
	static const struct ng_parse_struct_field f[] = {
		{ "a", &ng_parse_int8_type, 0 },
		{ "b", &ng_parse_int8_type, 8 },
		{ "c", &pair_type, 0 },
		{ NULL, NULL, 0 },
	};
	static const struct ng_parse_type t = {
		.supertype = &ng_parse_struct_type, .info = f,
	};
	const unsigned char b[24] = { [0] = 1, [8] = 2, [12] = 3 };
	const unsigned char d[8] = { [0] = 1, [4] = 0 };

	both(&t, "{ a=1 b=2 c={ a=3 } }", b, 24);
	/* Only the padding behind all may be missing. */
	prints(&t, b, 20, "{ a=1 b=2 c={ a=3 } }");
	cuts(&t, b, 20);
	cuts(&pair_type, d, 8);
}

/* A field without default must be there, however deep it is. */
static void
test_struct_no_default(void **state)
{
	unsigned char b[42] = { 2, 0, 0, 0, 0, 1 };

	fails(&host_type, "{ hook=\"x\" }", EOPNOTSUPP);
	fails(&host_type, "{}", EOPNOTSUPP);
	fails(&table_type, "{ numHosts=1 }", EOPNOTSUPP);
	both(&host_type, "{ addr=02:00:00:00:00:01 }", b, 42);
	memset(b, 0, sizeof(b));
	both(&host_type, "{ addr=00:00:00:00:00:00 }", b, 42);
}

/* ---- Arrays ---- */

static void
test_array(void **state)
{
	int16_t a[10] = { 0 };

	both(&ten_type, "[]", a, sizeof(a));
	reads(&ten_type, "[ ]", a, sizeof(a));
	a[0] = 1;
	a[1] = 2;
	a[5] = -3;
	a[6] = 4;
	a[9] = 5;
	both(&ten_type, "[ 1 2 5=-3 4 9=5 ]", a, sizeof(a));
	reads(&ten_type, "[ 011=5 0x5 = -3 4 0=1 2 ]", a, sizeof(a));
	cuts(&ten_type, a, sizeof(a));
	fails(&ten_type, "[ 10=1 ]", E2BIG);
	fails(&ten_type, "[ 9=1 1 ]", E2BIG);
	fails(&ten_type, "[ 99999999999999999999=1 ]", E2BIG);
	fails(&ten_type, "[ 1 0=1 ]", EALREADY);
	fails(&ten_type, "[ 3=1 2=1 1 ]", EALREADY);
	fails(&ten_type, "[ x=1 ]", EINVAL);
	fails(&ten_type, "[ 1x=1 ]", EINVAL);
	fails(&ten_type, "[ -1=1 ]", EINVAL);
	fails(&ten_type, "[ = ]", EINVAL);
	fails(&ten_type, "[ 1=", EINVAL);
	fails(&ten_type, "[ 1 ", EINVAL);
	fails(&ten_type, "[ 1 }", EINVAL);
	fails(&ten_type, "{ 1 }", EINVAL);
	fails(&ten_type, "[ [1] ]", EINVAL);
	fails(&ng_parse_array_type, "[]", EINVAL);
}

/* A string needs an index, so one is printed. */
static void
test_array_strings(void **state)
{
	both(&strings_type, "[ 0=\"a\" 1=\"b\" 2=\"c\" ]", "a\0b\0c", 6);
	both(&strings_type, "[ 1=\"b\" ]", "\0b\0", 4);
	both(&strings_type, "[]", "\0\0", 3);
	fails(&strings_type, "[ \"a\" ]", EINVAL);
	fails(&strings_type, "[ 0=\"a\" \"b\" ]", EINVAL);
}

static void
test_array_structs(void **state)
{
	struct { int8_t a; int32_t b; } p[3];

	memset(p, 0, sizeof(p));
	p[1].a = 1;
	p[2].b = 2;
	both(&pairs_type, "[ 1={ a=1 } { b=2 } ]", p, sizeof(p));
	reads(&pairs_type, "[ {} {a=1} {b=2} ]", p, sizeof(p));
}

static void
test_array_defaults(void **state)
{
	both(&sevens_type, "[]", "\7\10\11", 3);
	both(&sevens_type, "[ 1=0 ]", "\7\0\11", 3);
}

/* The count is in the data, where it may say anything. */
static void
test_array_counted(void **state)
{
	unsigned char b[4 + 2 * 42] = { 0 };

	memcpy(b, &(uint32_t){ 2 }, 4);
	memcpy(b + 4, "\2\0\0\0\0\1link0", 11);
	memcpy(b + 4 + 38, &(uint16_t){ 12 }, 2);
	memcpy(b + 4 + 40, &(uint16_t){ 3 }, 2);
	memcpy(b + 46, "\2\0\0\0\0\2link1", 11);
	both(&table_type, "{ numHosts=2 hosts=[ { addr=02:00:00:00:00:01 "
	    "hook=\"link0\" age=12 staleness=3 } { addr=02:00:00:00:00:02 "
	    "hook=\"link1\" } ] }", b, sizeof(b));
	cuts(&table_type, b, sizeof(b));
	memcpy(b, &(uint32_t){ 3 }, 4);
	assert_int_equal(unparse_exact(&table_type, b, sizeof(b), TEXT_MAX),
	    EINVAL);
	memcpy(b, &(uint32_t){ INT_MAX }, 4);
	assert_int_equal(unparse_exact(&table_type, b, sizeof(b), TEXT_MAX),
	    EINVAL);
	memcpy(b, &(uint32_t){ UINT32_MAX }, 4);
	assert_int_equal(unparse_exact(&table_type, b, sizeof(b), TEXT_MAX),
	    EINVAL);
	memset(b, 0, 4);
	prints(&table_type, b, sizeof(b), "{}");
	reads(&table_type, "{}", "\0\0\0", 4);
	fails(&table_type, "{ hosts=[ { addr=1:2:3:4:5:6 } ] }", E2BIG);
	fails(&table_type, "{ numHosts=2147483647 }", ERANGE);
	fails(&table_type, "{ numHosts=-1 }", EINVAL);
}

static void
test_bytes(void **state)
{
	unsigned char b[4 + 8] = { [4] = 1, [9] = 2 };

	memcpy(b, &(uint32_t){ 8 }, 4);
	both(&blob_type, "{ n=8 bytes=[ 0x1 5=0x2 ] }", b, 12);
	cuts(&blob_type, b, 12);
	memcpy(b + 4, "ab\0\0\0\0\0\0", 8);
	reads(&blob_type, "{ n=8 bytes=\"ab\" }", b, 12);
	prints(&blob_type, b, 12, "{ n=8 bytes=[ 0x61 0x62 ] }");
	memset(b + 4, 0, 8);
	both(&blob_type, "{ n=8 }", b, 12);
	both(&blob_type, "{}", "\0\0\0", 4);
	fails(&blob_type, "{ n=2 bytes=\"abc\" }", E2BIG);
	fails(&blob_type, "{ n=2 bytes=[ 1 2 3 ] }", E2BIG);
	fails(&blob_type, "{ n=2 bytes=[ 256 ] }", EINVAL);
	fails(&blob_type, "{ n=2 bytes=5 }", EINVAL);
}

/* Without a length: what is there. */
static void
test_bytes_rest(void **state)
{
	const unsigned char b[8] = { [4] = 1, [6] = 2 };

	both(&option_type, "{ value=[ 0x1 2=0x2 0x0 ] }", b, 8);
	both(&option_type, "{}", b, 4);
	both(&ng_parse_bytearray_type, "[]", "", 0);
	both(&ng_parse_bytearray_type, "[ 0x0 ]", "", 1);
	reads(&ng_parse_bytearray_type, "\"ab\"", "ab", 2);
	fails(&ng_parse_bytearray_type, "[ 5000=1 ]", ERANGE);
}

/* ---- Depth, scanner ---- */

/* Neither text nor type can make us recurse without bound. */
static void
test_depth(void **state)
{
	char open[4096];

	fails(&tree_type, "{ n=1 trees=[ { } ] }", EINVAL);
	assert_int_equal(unparse_exact(&tree_type, "\0\0\0", 4, 100),
	    EINVAL);
	memset(open, '{', sizeof(open) - 1);
	open[sizeof(open) - 1] = '\0';
	memcpy(open, "{ a=", 4);
	fails(&pair_type, open, EINVAL);
}

static void
test_scanner(void **state)
{
	size_t len, off = 0;
	char buf[4];

	assert_int_equal(ng_parse_get_token(" a=\"", &off, &len),
	    NG_TOKEN_WORD);
	assert_int_equal(off, 1);
	assert_int_equal(len, 1);
	off = 3;
	assert_int_equal(ng_parse_get_token(" a=\"", &off, &len),
	    NG_TOKEN_ERROR);
	off = 0;
	assert_int_equal(ng_parse_skip_value("local/\"/a b\" c", &off), 0);
	assert_int_equal(off, 12);
	off = 0;
	assert_int_equal(ng_parse_skip_value("{[{=}]}x", &off), 0);
	assert_int_equal(off, 7);
	off = 0;
	assert_int_equal(ng_parse_skip_value("{[}]", &off), EINVAL);
	off = 0;
	assert_int_equal(ng_parse_skip_value(" ", &off), EINVAL);
	off = 0;
	assert_int_equal(ng_parse_string("\"abcd\"", &off, buf, 4, &len), 0);
	assert_int_equal(len, 4);
	off = 0;
	assert_int_equal(ng_parse_string("\"abcd\"", &off, buf, 3, &len),
	    ERANGE);
	assert_int_equal(off, 0);
}

/* ---- Messages ---- */

static const struct ng_cmdlist cmds[] = {
	{ 99, 1, "set", &pair_type, NULL },
	{ 99, 2 | NGM_HASREPLY, "get", NULL, &table_type },
	{ 99, 3, "mkpeer", &ng_parse_int8_type, NULL },
	{ 99, 4, "big", &ng_parse_bytearray_type, NULL },
	{ 0, 0, NULL, NULL, NULL },
};

static struct ng_mesg *
mesg(uint32_t cookie, uint32_t cmd, uint32_t flags, const char *cmdstr,
    const void *data, size_t len)
{
	struct ng_mesg *msg;

	msg = calloc(1, sizeof(*msg) + len);
	assert_non_null(msg);
	msg->header.version = NG_VERSION;
	msg->header.typecookie = cookie;
	msg->header.cmd = cmd;
	msg->header.flags = flags;
	msg->header.token = 77;
	msg->header.arglen = (uint32_t)len;
	memcpy(msg->header.cmdstr, cmdstr, strnlen(cmdstr, NG_CMDSTRSIZ));
	memcpy(msg->data, data, len);
	return (msg);
}

static void
a2b(const char *cmd, uint32_t flags, const char *args, uint32_t cookie,
    uint32_t number, const void *bytes, size_t len)
{
	struct ng_mesg *in, *out;

	in = mesg(5, 6, flags, cmd, args, strlen(args) + 1);
	assert_int_equal(ng_msg_ascii2binary(cmds, in,
	    sizeof(*in) + in->header.arglen, &out), 0);
	assert_int_equal(out->header.version, NG_VERSION);
	assert_int_equal(out->header.typecookie, cookie);
	assert_int_equal(out->header.cmd, number);
	assert_int_equal(out->header.flags, flags);
	assert_int_equal(out->header.token, 77);
	assert_int_equal(out->header.arglen, len);
	assert_string_equal(out->header.cmdstr, cmd);
	assert_memory_equal(out->data, bytes, len);
	free(in);
	free(out);
}

static int
a2b_error(const char *cmd, const char *args, size_t arglen, size_t inlen)
{
	struct ng_mesg *in, *out = NULL;
	int error;

	in = mesg(5, 6, 0, cmd, args, strlen(args) + 1);
	in->header.arglen = (uint32_t)arglen;
	error = ng_msg_ascii2binary(cmds, in, inlen, &out);
	assert_null(out);
	free(in);
	return (error);
}

static void
test_ascii2binary(void **state)
{
	const struct { int8_t a; int32_t b; } p = { .a = 1, .b = 0 };
	struct ngm_rmhook rm = { "left" };
	char b[12] = { 0 };

	memcpy(b, &p.a, 1);
	a2b("set", 0, "{ a=1 }", 99, 1, b, 8);
	a2b("get", 0, "anything", 99, 2 | NGM_HASREPLY, "", 0);
	a2b("get", NGF_RESP, "{}", 99, 2 | NGM_HASREPLY, "\0\0\0", 4);
	a2b("set", NGF_RESP, "{ a=1 }", 99, 1, "", 0);
	/* The type's own goes before the generic one. */
	a2b("mkpeer", 0, "5", 99, 3, "\5", 1);
	a2b("rmhook", 0, "{ hook=\"left\" }", NGM_GENERIC_COOKIE, NGM_RMHOOK,
	    &rm, sizeof(rm));
	a2b("textconfig", 0, "\"x\"", NGM_GENERIC_COOKIE, NGM_TEXT_CONFIG,
	    "x", 2);

	assert_int_equal(a2b_error("Set", "{}", 3, 59), ENOSYS);
	assert_int_equal(a2b_error("0123456789012345678901234567890123",
	    "{}", 3, 59), ENOSYS);
	assert_int_equal(a2b_error("set", "{}", 0, 59), EINVAL);
	assert_int_equal(a2b_error("set", "{}", 4, 59), EINVAL);
	assert_int_equal(a2b_error("set", "{}", UINT32_MAX, 59), EINVAL);
	assert_int_equal(a2b_error("set", "{}", 3, 55), EINVAL);
	assert_int_equal(a2b_error("set", "{ c=1 }", 8, 64), ENOENT);
	/* The last byte is the end, whatever it is. */
	assert_int_equal(a2b_error("set", "{}", 2, 59), EINVAL);
	assert_int_equal(a2b_error("big", "[20480=1]", 10, 66), ERANGE);
}

static void
b2a(const struct ng_cmdlist *list, uint32_t cookie, uint32_t cmd,
    uint32_t flags, const void *data, size_t len, const char *name,
    const char *args)
{
	struct ng_mesg *in, *out;

	in = mesg(cookie, cmd, flags, "whatever it says", data, len);
	assert_int_equal(ng_msg_binary2ascii(list, in, sizeof(*in) + len,
	    &out), 0);
	assert_int_equal(out->header.arglen, strlen(args) + 1);
	assert_string_equal(out->data, args);
	assert_string_equal(out->header.cmdstr, name);
	assert_int_equal(out->header.token, 77);
	assert_int_equal(out->header.flags, flags);
	assert_int_equal(out->header.cmd, cmd);
	assert_int_equal(out->header.typecookie, cookie);
	free(in);
	free(out);
}

static int
b2a_error(uint32_t cookie, uint32_t cmd, size_t arglen, size_t inlen)
{
	static unsigned char data[NG_PARSE_BUFSIZ];
	struct ng_mesg *in, *out = NULL;
	int error;

	memset(data, 0xff, sizeof(data));
	in = mesg(cookie, cmd, 0, "x", data, inlen);
	in->header.arglen = (uint32_t)arglen;
	error = ng_msg_binary2ascii(cmds, in, inlen, &out);
	assert_null(out);
	free(in);
	return (error);
}

static void
test_binary2ascii(void **state)
{
	struct nodeinfo ni = { .name = "em0", .type = "ether", .id = 5,
	    .hooks = 2 };

	b2a(cmds, 99, 1, 0, "\1\0\0\0\2\0\0", 8, "set", "{ a=1 b=2 }");
	b2a(cmds, 99, 1, NGF_RESP, "\1\0\0\0\2\0\0", 8, "set", "");
	b2a(cmds, 99, 2 | NGM_HASREPLY, 0, "", 0, "get", "");
	b2a(cmds, NGM_GENERIC_COOKIE, NGM_NODEINFO, NGF_RESP, &ni,
	    sizeof(ni), "nodeinfo",
	    "{ name=\"em0\" type=\"ether\" id=0x5 hooks=2 }");
	ni.hooks = 0;
	b2a(NULL, NGM_GENERIC_COOKIE, NGM_NODEINFO, NGF_RESP, &ni,
	    sizeof(ni), "nodeinfo",
	    "{ name=\"em0\" type=\"ether\" id=0x5 }");
	b2a(NULL, NGM_GENERIC_COOKIE, NGM_TEXT_STATUS, NGF_RESP, "up\n", 4,
	    "textstatus", "\"up\\n\"");

	assert_int_equal(b2a_error(98, 1, 8, 64), ENOSYS);
	assert_int_equal(b2a_error(99, 2, 8, 64), ENOSYS);
	assert_int_equal(b2a_error(99, 1, 9, 64), EINVAL);
	assert_int_equal(b2a_error(99, 1, 0, 55), EINVAL);
	assert_int_equal(b2a_error(99, 1, 4, 64), EINVAL);
	assert_int_equal(b2a_error(99, 4, 20000, 20056), ERANGE);
}

static void
test_generic_replies(void **state)
{
	struct {
		struct nodeinfo ni;
		struct linkinfo li[2];
	} hl;
	struct {
		uint32_t n;
		struct nodeinfo ni[2];
	} nl;
	struct {
		uint32_t n;
		struct typeinfo ti[2];
	} tl;

	memset(&hl, 0, sizeof(hl));
	hl.ni.id = 1;
	hl.ni.hooks = 1;
	strcpy(hl.li[0].ourhook, "l");
	strcpy(hl.li[0].peerhook, "r");
	hl.li[0].nodeinfo.id = 0x1f;
	b2a(NULL, NGM_GENERIC_COOKIE, NGM_LISTHOOKS, NGF_RESP, &hl,
	    sizeof(hl), "listhooks", "{ nodeinfo={ id=0x1 hooks=1 } "
	    "linkinfo=[ { ourhook=\"l\" peerhook=\"r\" "
	    "nodeinfo={ id=0x1f } } ] }");
	memset(&nl, 0, sizeof(nl));
	nl.n = 1;
	nl.ni[0].id = 2;
	b2a(NULL, NGM_GENERIC_COOKIE, NGM_LISTNODES, NGF_RESP, &nl,
	    sizeof(nl), "listnodes", "{ numnames=1 nodeinfo=[ { id=0x2 } ] }");
	memset(&tl, 0, sizeof(tl));
	tl.n = 2;
	strcpy(tl.ti[0].type_name, "hub");
	strcpy(tl.ti[1].type_name, "tee");
	tl.ti[1].numnodes = 3;
	both(&ng_parse_typelist_type, "{ numtypes=2 typeinfo=[ "
	    "{ typename=\"hub\" } { typename=\"tee\" numnodes=3 } ] }", &tl,
	    sizeof(tl));
}

static void
test_generic_arguments(void **state)
{
	struct ngm_mkpeer mkp = { "hub", "a", "b" };
	struct ngm_connect con = { "x:y", "a", "b" };
	struct ngm_name name = { "n n" };
	unsigned char padded[60] = { 0 };
	struct ng_mesg *m;

	both(&ng_parse_mkpeer_type,
	    "{ type=\"hub\" ourhook=\"a\" peerhook=\"b\" }", &mkp, 96);
	both(&ng_parse_connect_type,
	    "{ path=\"x:y\" ourhook=\"a\" peerhook=\"b\" }", &con, 576);
	both(&ng_parse_name_type, "{ name=\"n n\" }", &name, 32);
	m = mesg(99, 1, NGF_RESP, "set", "\1", 1);
	memcpy(padded, m, 57);
	reads(&ng_parse_ng_mesg_type, "{ version=8 arglen=1 cmd=1 flags=1 "
	    "token=77 typecookie=99 cmdstr=\"set\" data=[ 1 ] }",
	    padded, sizeof(padded));
	prints(&ng_parse_ng_mesg_type, m, 57, "{ version=8 arglen=1 cmd=1 "
	    "flags=0x1 token=77 typecookie=99 cmdstr=\"set\" "
	    "data=[ 0x1 ] }");
	cuts(&ng_parse_ng_mesg_type, m, 57);
	free(m);
}

/* ---- Random values of random types ---- */

#define	RANDOM_ROUNDS	3000
#define	RANDOM_DEPTH	4
#define	RANDOM_FIELDS	5
#define	RANDOM_BINARY	(64 * 1024)

enum kind { INT, STRING, FIXED, SIZED, IP, EN, STRUCT, FIXEDARRAY, COUNTED,
    BYTES, NKINDS };

/* A type and what we know of it without asking it. */
struct rtype {
	struct ng_parse_type	 r_type;
	enum kind		 r_kind;
	size_t			 r_size;	/* of an integer or a buffer */
	size_t			 r_align;
	int			 r_n;		/* fields or elements */
	size_t			 r_distance;	/* count to array, in bytes */
	struct rtype		*r_sub[RANDOM_FIELDS];
	size_t			 r_field_align[RANDOM_FIELDS];
	struct ng_parse_struct_field r_fields[RANDOM_FIELDS + 1];
	struct ng_parse_type	 r_inner;	/* the array behind a count */
	struct ng_parse_fixedstring_info r_string;
	struct ng_parse_fixedarray_info r_fixed;
	struct ng_parse_array_info r_array;
};

static const char *const field_names[] = { "a", "bc", "def", "x-1", "0" };
static unsigned int seed;

static unsigned int
pick(unsigned int n)
{
	return ((unsigned int)rand_r(&seed) % n);
}

static int
count_before(const struct ng_parse_type *type, const unsigned char *start,
    const unsigned char *buf)
{
	const size_t *distance = type->priv;
	uint32_t n;

	assert_true((size_t)(buf - start) >= *distance);
	memcpy(&n, buf - *distance, sizeof(n));
	return (n > INT_MAX ? -1 : (int)n);
}

static struct rtype *random_type(int depth);

static void
random_struct(struct rtype *r, int depth)
{
	int i;

	r->r_n = 1 + (int)pick(RANDOM_FIELDS);
	for (i = 0; i < r->r_n; i++) {
		r->r_sub[i] = random_type(depth - 1);
		r->r_fields[i].name = field_names[i];
		r->r_fields[i].type = &r->r_sub[i]->r_type;
		r->r_field_align[i] = r->r_sub[i]->r_align;
		if (pick(8) == 0)
			r->r_field_align[i] = (size_t)1 << pick(4);
		if (r->r_field_align[i] != r->r_sub[i]->r_align)
			r->r_fields[i].alignment = (int)r->r_field_align[i];
		if (r->r_field_align[i] > r->r_align)
			r->r_align = r->r_field_align[i];
	}
	r->r_type.supertype = &ng_parse_struct_type;
	r->r_type.info = r->r_fields;
}

/* A struct of a count and an array, or of a count and bytes. */
static void
random_counted(struct rtype *r, int depth)
{
	size_t align = 1;

	if (r->r_kind == COUNTED) {
		r->r_sub[0] = random_type(depth - 1);
		align = r->r_sub[0]->r_align;
		r->r_array.elementType = &r->r_sub[0]->r_type;
		r->r_array.getLength = count_before;
		r->r_inner.supertype = &ng_parse_array_type;
		r->r_inner.info = &r->r_array;
	} else {
		r->r_inner.supertype = &ng_parse_bytearray_type;
		r->r_inner.info = (const void *)count_before;
	}
	r->r_inner.priv = &r->r_distance;
	r->r_align = align > 4 ? align : 4;
	r->r_distance = r->r_align;
	r->r_fields[0].name = "n";
	r->r_fields[0].type = &ng_parse_uint32_type;
	r->r_fields[1].name = "array";
	r->r_fields[1].type = &r->r_inner;
	r->r_type.supertype = &ng_parse_struct_type;
	r->r_type.info = r->r_fields;
}

static void
random_int(struct rtype *r)
{
	const struct int_case *c = &int_cases[pick(nitems(int_cases))];

	r->r_size = r->r_align = c->size;
	r->r_type.supertype = c->type;
}

static struct rtype *
random_type(int depth)
{
	static const struct ng_parse_type *const supertypes[NKINDS] = {
		[STRING] = &ng_parse_string_type,
		[FIXED] = &ng_parse_fixedstring_type,
		[SIZED] = &ng_parse_sizedstring_type,
		[IP] = &ng_parse_ipaddr_type,
		[EN] = &ng_parse_enaddr_type,
		[FIXEDARRAY] = &ng_parse_fixedarray_type,
	};
	struct rtype *r;

	r = calloc(1, sizeof(*r));
	assert_non_null(r);
	r->r_kind = pick(depth > 0 ? NKINDS : STRUCT);
	r->r_type.supertype = supertypes[r->r_kind];
	r->r_align = r->r_kind == IP ? 4 : 1;
	switch (r->r_kind) {
	case INT:
		random_int(r);
		break;
	case FIXED:
		r->r_size = 1 + pick(40);
		r->r_string.bufSize = (int)r->r_size;
		r->r_type.info = &r->r_string;
		break;
	case STRUCT:
		random_struct(r, depth);
		break;
	case FIXEDARRAY:
		r->r_n = 1 + (int)pick(4);
		r->r_sub[0] = random_type(depth - 1);
		r->r_align = r->r_sub[0]->r_align;
		r->r_fixed.elementType = &r->r_sub[0]->r_type;
		r->r_fixed.length = r->r_n;
		r->r_type.info = &r->r_fixed;
		break;
	case COUNTED:
	case BYTES:
		random_counted(r, depth);
		break;
	default:
		break;
	}
	return (r);
}

static void
free_type(struct rtype *r)
{
	int i;

	for (i = 0; i < RANDOM_FIELDS; i++)
		if (r->r_sub[i] != NULL)
			free_type(r->r_sub[i]);
	free(r);
}

static size_t
aligned(size_t begin, size_t o, size_t align)
{
	while ((o - begin) % align != 0)
		o++;
	return (o);
}

static size_t
random_bytes(unsigned char *b, size_t n, bool zero)
{
	size_t i;

	for (i = 0; i < n; i++)
		do
			b[i] = pick(3) != 0 ? (unsigned char)pick(256) : 0;
		while (b[i] == 0 && !zero);
	return (n);
}

/* Write a value at b + o, where all is zero: the offset behind it. */
static size_t
random_value(const struct rtype *r, unsigned char *b, size_t o)
{
	const size_t begin = o;
	union host_int h;
	uint32_t i, n;

	switch (r->r_kind) {
	case INT:
		h = host_int(pick(2) == 0 ? 0 : (uint64_t)pick(INT_MAX) <<
		    pick(33), r->r_size);
		memcpy(b + o, &h, r->r_size);
		return (o + r->r_size);
	case STRING:
		return (o + random_bytes(b + o, pick(9), false) + 1);
	case FIXED:
		(void)random_bytes(b + o, pick((unsigned int)r->r_size),
		    false);
		return (o + r->r_size);
	case SIZED:
		h.u16 = (uint16_t)pick(9);
		memcpy(b + o, &h, 2);
		return (o + 2 + random_bytes(b + o + 2, h.u16, true));
	case IP:
		return (o + random_bytes(b + o, 4, true));
	case EN:
		return (o + random_bytes(b + o, 6, true));
	case STRUCT:
		for (i = 0; i < (uint32_t)r->r_n; i++)
			o = random_value(r->r_sub[i], b, aligned(begin, o,
			    r->r_field_align[i]));
		return (aligned(begin, o, r->r_align));
	case FIXEDARRAY:
		for (i = 0; i < (uint32_t)r->r_n; i++)
			o = random_value(r->r_sub[0], b, aligned(begin, o,
			    r->r_align));
		return (o);
	default:
		n = pick(5);
		memcpy(b + o, &n, sizeof(n));
		o += r->r_distance;
		if (r->r_kind == BYTES)
			o += random_bytes(b + o, n, true);
		else
			for (i = 0; i < n; i++)
				o = random_value(r->r_sub[0], b,
				    aligned(begin, o, r->r_sub[0]->r_align));
		return (aligned(begin, o, r->r_align));
	}
}

/* One value to text and back, and with too little of everything. */
static void
round_trip(const struct rtype *r, const unsigned char *b, size_t len,
    unsigned char *out)
{
	char *full;
	size_t got, n;
	int error;

	assert_int_equal(unparse_exact(&r->r_type, b, len, TEXT_MAX), 0);
	full = strdup(text);
	assert_non_null(full);
	error = parse_room(&r->r_type, full, len, out, &got);
	if (error != 0 || got != len || memcmp(b, out, len) != 0)
		fail_msg("error %d, %zu of %zu bytes: %s", error, got, len,
		    full);
	if (len > 0) {
		n = pick((unsigned int)len);
		assert_int_equal(parse_room(&r->r_type, full, n, out, &got),
		    ERANGE);
		error = unparse_exact(&r->r_type, b, n, TEXT_MAX);
		if (error == 0)		/* the padding at the end */
			assert_string_equal(text, full);
		else
			assert_int_equal(error, EINVAL);
	}
	assert_int_equal(unparse_exact(&r->r_type, b, len,
	    pick((unsigned int)strlen(full) + 1)), ERANGE);
	free(full);
}

/* Any bytes, and any text like ours, give a result or an error. */
static void
hostile(const struct rtype *r, unsigned char *b, size_t len,
    unsigned char *out)
{
	static const char bytes[] = "{}[]=\"\\ 0x19af:.-\n";
	size_t got, i, n;
	char *s;
	int error;

	n = len > 0 ? 1 + pick(4) : 0;
	for (i = 0; i < n; i++)
		b[pick((unsigned int)len)] = (unsigned char)pick(256);
	error = unparse_exact(&r->r_type, b, len, TEXT_MAX);
	assert_true(error == 0 || error == EINVAL);
	if (error != 0)
		return;
	s = strdup(text);
	assert_non_null(s);
	n = strlen(s);
	s[pick((unsigned int)n)] = bytes[pick(sizeof(bytes) - 1)];
	(void)parse_room(&r->r_type, s, RANDOM_BINARY, out, &got);
	free(s);
}

static void
test_random(void **state)
{
	static unsigned char b[RANDOM_BINARY], out[RANDOM_BINARY];
	const char *env = getenv("NETEPOCH_SEED");
	struct rtype *r;
	size_t len;
	int i;

	seed = env != NULL ? (unsigned int)strtoul(env, NULL, 0) :
	    (unsigned int)time(NULL);
	print_message("NETEPOCH_SEED=%u\n", seed);
	for (i = 0; i < RANDOM_ROUNDS; i++) {
		r = random_type(RANDOM_DEPTH);
		memset(b, 0, sizeof(b));
		len = random_value(r, b, 0);
		assert_true(len < sizeof(b));
		round_trip(r, b, len, out);
		hostile(r, b, len, out);
		free_type(r);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_integers_constants),
		cmocka_unit_test(test_integers_range),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_strings_fixed),
		cmocka_unit_test(test_strings_sized),
		cmocka_unit_test(test_strings_sized_longest),
		cmocka_unit_test(test_struct),
		cmocka_unit_test(test_struct_padding),
		cmocka_unit_test(test_struct_no_default),
		cmocka_unit_test(test_array),
		cmocka_unit_test(test_array_strings),
		cmocka_unit_test(test_array_structs),
		cmocka_unit_test(test_array_defaults),
		cmocka_unit_test(test_array_counted),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_bytes_rest),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_scanner),
		cmocka_unit_test(test_ascii2binary),
		cmocka_unit_test(test_binary2ascii),
		cmocka_unit_test(test_generic_replies),
		cmocka_unit_test(test_generic_arguments),
		cmocka_unit_test(test_random),
	};

	return (cmocka_run_group_tests_name("ng_parse", tests, NULL, NULL));
}
