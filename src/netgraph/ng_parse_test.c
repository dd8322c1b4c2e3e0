/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* The text language: each type both ways, and each error. */

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "netgraph/ng_parse_testlib.h"

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

/* A count of elements that take no bytes does not keep us busy. */
static void
test_array_nothing(void **state)
{
	static const struct ng_parse_array_info info = {
		.elementType = &empty_type, .getLength = count_in_front,
	};
	static const struct ng_parse_type array = {
		.supertype = &ng_parse_array_type, .info = &info,
	};
	static const struct ng_parse_array_info rest_info = {
		.elementType = &empty_type,
	};
	static const struct ng_parse_type rest = {
		.supertype = &ng_parse_array_type, .info = &rest_info,
	};
	static const struct ng_parse_struct_field f[] = {
		{ "n", &ng_parse_uint32_type, 0 },
		{ "nothing", &array, 0 },
		{ NULL, NULL, 0 },
	};
	static const struct ng_parse_type t = {
		.supertype = &ng_parse_struct_type, .info = f,
	};

	assert_int_equal(unparse_exact(&t, &(uint32_t){ INT_MAX }, 4, 100),
	    EINVAL);
	fails(&t, "{ n=2147483647 }", ERANGE);
	fails(&t, "{ n=2147483647 nothing=[] }", ERANGE);
	assert_int_equal(unparse_exact(&rest, "x", 1, 100), EINVAL);
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
		cmocka_unit_test(test_array_nothing),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_bytes_rest),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_scanner),
	};

	return (cmocka_run_group_tests_name("ng_parse", tests, NULL, NULL));
}
