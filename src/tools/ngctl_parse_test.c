/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Netgraph's text as JSON.  Values made at random are written in the language
 * of the text and must come back; texts with random bytes in them must end,
 * soon and with little memory, in a value or in none.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "sys/random_testlib.h"
#include "tools/ngctl.h"

#define	RUNS	20000
#define	TEXT	8192

/* What text is as JSON, "none" if nothing. */
static const char *
json(const char *text)
{
	static char buf[4096];
	json_t *val;
	char *s;

	if ((val = ngctl_parse(text)) == NULL)
		return ("none");
	s = json_dumps(val, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
	assert_non_null(s);
	(void)snprintf(buf, sizeof(buf), "%s", s);
	free(s);
	json_decref(val);
	return (buf);
}

static void
test_values(void **state)
{
	assert_string_equal(json("\"em0\""), "\"em0\"");
	assert_string_equal(json(" 5 "), "5");
	assert_string_equal(json("-0x10"), "-16");
	assert_string_equal(json("010"), "8");
	assert_string_equal(json("18446744073709551615"),
	    "\"18446744073709551615\"");
	assert_string_equal(json("1.2.3.4"), "\"1.2.3.4\"");
	assert_string_equal(json("0:1a:2b:3:4:5"), "\"0:1a:2b:3:4:5\"");
	assert_string_equal(json("{ name=\"em0\" id=0x5 hooks=2 }"),
	    "{\"hooks\":2,\"id\":5,\"name\":\"em0\"}");
	assert_string_equal(json("{min=0 max=9 rot=-3}"),
	    "{\"max\":9,\"min\":0,\"rot\":-3}");
	assert_string_equal(json("{}"), "{}");
	assert_string_equal(json("[]"), "[]");
	assert_string_equal(json("[ 1 2 5=3 ]"), "[1,2,null,null,null,3]");
	assert_string_equal(json("[ 0=\"a\" { b=[ 1 ] } ]"),
	    "[\"a\",{\"b\":[1]}]");
	assert_string_equal(json("{ IPv4 bytes=7 }"), "{\"IPv4 bytes\":7}");
	assert_string_equal(json("\"\\t\\x41\\101\\\"\\\\\\q\""),
	    "\"\\tAA\\\"\\\\q\"");
	/* A byte that is no UTF-8 is a character of Latin-1. */
	assert_string_equal(json("\"\\xe4\""), "\"\xc3\xa4\"");
}

static void
test_none(void **state)
{
	static const char *const texts[] = { "", " ", "{", "[", "\"a", "{ a }",
	    "{ a= }", "{ =1 }", "[ 1", "] ", "1 2", "{ a=1 } x", "[ 2=1 1=1 ]",
	    "[ 99999999999=1 ]", "[ 70000=1 ]", "\"\\", "\"\\0\"", "a=1" };
	char deep[200];
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_string_equal(json(texts[i]), "none");
	memset(deep, '[', 100);
	memset(deep + 100, ']', 99);
	deep[199] = '\0';
	assert_string_equal(json(deep), "none");
}

/* Many gaps together are bounded, not only each. */
static void
test_gaps(void **state)
{
	char text[TEXT] = "[";
	size_t off = 1;

	while (off < TEXT - 32)
		off += (size_t)snprintf(text + off, TEXT - off,
		    " [ 60000=1 ]");
	(void)snprintf(text + off, TEXT - off, " ]");
	assert_null(ngctl_parse(text));
	assert_string_equal(json("[ 3=1 ]"), "[null,null,null,1]");
}

/* ---- At random ---- */

static json_t *
make_value(unsigned int *seed, int depth)
{
	static const char letters[] = "ab{}[]=\" \\\n\t\x7f";
	char word[16];
	json_t *val;
	int i, n;

	n = rand_r(seed) % 4;
	switch (rand_r(seed) % (depth > 0 ? 4 : 2)) {
	case 0:
		return (json_integer(rand_r(seed) - RAND_MAX / 2));
	case 1:
		for (i = 0; i < n; i++)
			word[i] = letters[(size_t)rand_r(seed) %
			    (sizeof(letters) - 1)];
		word[n] = '\0';
		return (json_string(word));
	case 2:
		val = json_object();
		for (i = 0; i < n; i++) {
			(void)snprintf(word, sizeof(word), "f%d",
			    rand_r(seed) % 10);
			(void)json_object_set_new(val, word,
			    make_value(seed, depth - 1));
		}
		return (val);
	default:
		val = json_array();
		for (i = 0; i < n; i++)
			(void)json_array_append_new(val, rand_r(seed) % 3 ==
			    0 && i + 1 < n ? json_null() :
			    make_value(seed, depth - 1));
		return (val);
	}
}

static void
write_value(FILE *f, const json_t *val)
{
	const char *key, *s;
	const json_t *sub;
	size_t i;

	if (json_is_integer(val))
		(void)fprintf(f, "%lld", (long long)json_integer_value(val));
	else if (json_is_string(val)) {
		(void)fputc('"', f);
		for (s = json_string_value(val); *s != '\0'; s++)
			(void)fprintf(f, *s < ' ' || *s == '"' ||
			    *s == '\\' ? "\\x%02x" : "%c",
			    (unsigned char)*s);
		(void)fputc('"', f);
	} else if (json_is_object(val)) {
		(void)fputs("{ ", f);
		json_object_foreach((json_t *)(uintptr_t)val, key, sub) {
			(void)fprintf(f, "%s=", key);
			write_value(f, sub);
			(void)fputc(' ', f);
		}
		(void)fputs("}", f);
	} else {
		(void)fputs("[ ", f);
		json_array_foreach(val, i, sub) {
			if (json_is_null(sub))
				continue;
			(void)fprintf(f, "%zu=", i);
			write_value(f, sub);
			(void)fputc(' ', f);
		}
		(void)fputs("]", f);
	}
}

static void
test_random(void **state)
{
	unsigned int seed = (unsigned int)test_seed();
	char *text = NULL;
	json_t *val, *got;
	size_t len = 0;
	FILE *f;
	int run, i;

	for (run = 0; run < RUNS; run++) {
		val = make_value(&seed, 4);
		f = open_memstream(&text, &len);
		write_value(f, val);
		assert_int_equal(fclose(f), 0);
		got = ngctl_parse(text);
		if (got == NULL || json_equal(got, val) == 0)
			fail_msg("%s comes back otherwise", text);
		json_decref(got);
		json_decref(val);
		for (i = 0; i < 3 && len > 0; i++)
			text[(size_t)rand_r(&seed) % len] =
			    (char)(rand_r(&seed) % 256);
		got = ngctl_parse(text);
		/* Any value will do: it has been made up of the text. */
		assert_true(got == NULL || json_typeof(got) != JSON_REAL);
		json_decref(got);
		free(text);
		text = NULL;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_random),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
