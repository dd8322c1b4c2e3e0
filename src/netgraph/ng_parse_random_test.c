/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* Random values of random types, to text and back. */

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "netgraph/ng_parse_testlib.h"
#include "sys/random_testlib.h"

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
	struct rtype *r;
	size_t len;
	int i;

	seed = (unsigned int)test_seed();
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
		cmocka_unit_test(test_random),
	};

	return (cmocka_run_group_tests_name("ng_parse_random", tests, NULL,
	    NULL));
}
