/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* Words of a line, and files of lines. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tools/tool_fake.h"
#include "tools/words.h"

/* The words of text joined by '|', or what is wrong with it. */
static const char *
split(const char *text)
{
	static char joined[512];
	char line[512], *words[WORDS_MAX + 1];
	const char *why;
	int i, n;

	(void)snprintf(line, sizeof(line), "%s", text);
	if ((n = words_split(line, words, &why)) == -1)
		return (why);
	joined[0] = '\0';
	for (i = 0; i < n; i++) {
		(void)strcat(joined, words[i]);
		(void)strcat(joined, "|");
	}
	assert_null(words[n]);
	return (joined);
}

static void
test_split(void **state)
{
	assert_string_equal(split(""), "");
	assert_string_equal(split("  \t\n"), "");
	assert_string_equal(split("# all of it"), "");
	assert_string_equal(split("a b  c\n"), "a|b|c|");
	assert_string_equal(split("a#b # c"), "a#b|");
	assert_string_equal(split("d 'a b'\"c d\"e f"), "d|a bc de|f|");
	assert_string_equal(split("d ''"), "d||");
	assert_string_equal(split("'a\\b' \"a\\\"b\" a\\ b"),
	    "a\\b|a\"b|a b|");
	assert_string_equal(split("a 'b"), "a quote is not closed");
	assert_string_equal(split("a b\\"), "nothing follows the backslash");
}

static void
test_split_many(void **state)
{
	char line[2 * (WORDS_MAX + 1) + 1], *words[WORDS_MAX + 1];
	const char *why;
	int i;

	for (i = 0; i < WORDS_MAX + 1; i++)
		memcpy(line + 2 * i, "a ", 2);
	line[2 * WORDS_MAX] = '\0';
	assert_int_equal(words_split(line, words, &why), WORDS_MAX);
	for (i = 0; i < WORDS_MAX + 1; i++)
		memcpy(line + 2 * i, "a ", 2);
	line[sizeof(line) - 1] = '\0';
	assert_int_equal(words_split(line, words, &why), -1);
	assert_string_equal(why, "too many words");
}

/* The lines of a file joined by '|', ended by what is wrong with the last. */
static const char *
lines(const char *bytes, size_t len)
{
	static char joined[512];
	char line[WORDS_LINE];
	const char *why;
	size_t at, lineno = 0;
	FILE *f;
	int more;

	assert_non_null(f = fmemopen((void *)(uintptr_t)bytes, len, "r"));
	at = 0;
	while ((more = words_line(f, line, &lineno, &why)) == 1)
		at += (size_t)snprintf(joined + at, sizeof(joined) - at,
		    "%zu %s|", lineno, line);
	(void)snprintf(joined + at, sizeof(joined) - at, "%s",
	    more == -1 ? why : "");
	(void)fclose(f);
	return (joined);
}

static void
test_lines(void **state)
{
	static char big[2 * WORDS_LINE];

	assert_string_equal(lines("a\n\nb c\n", 7), "1 a|2 |3 b c|");
	assert_string_equal(lines("a\nb", 3), "1 a|2 b|");
	assert_string_equal(lines("\n", 1), "1 |");
	/* A mark in front of the first line only. */
	assert_string_equal(lines("\xef\xbb\xbf" "a\n\xef\xbb\xbf\n", 9),
	    "1 a|2 \xef\xbb\xbf|");
	assert_string_equal(lines("a\nb\0c\n", 6), "1 a|a NUL byte");
	memset(big, ' ', sizeof(big));
	big[1] = '\n';
	assert_string_equal(lines(big, sizeof(big)),
	    "1  |more than 16 KiB in a line");
}

static void
test_batch(void **state)
{
	const struct fake_run *fr;

	fake_reset();
	fr = fake_batch("lab.conf", "# two ports\n"
	    "\n"
	    "kldload if_epair\n"
	    "netepoch route add default 192.0.2.1\n");
	assert_int_equal(fr->fr_status, 0);
	assert_string_equal(fr->fr_err, "");
	assert_string_equal(fr->fr_out,
	    "add net default: gateway 192.0.2.1\n");
	assert_string_equal(fr->fr_calls, "kld.load {\"name\":\"if_epair\"}\n"
	    "route.add {\"dst\":\"0.0.0.0\",\"gateway\":\"192.0.2.1\","
	    "\"plen\":0}\n");
}

static void
test_batch_stops(void **state)
{
	const struct fake_run *fr;

	fake_reset();
	fake_fail("kld.load", ENOENT, "name", "no");
	fr = fake_batch("lab.conf", "\nkldload a\nkldload b\n");
	assert_int_equal(fr->fr_status, 1);
	assert_string_equal(fr->fr_err, "kldload: can't load a: No such file "
	    "or directory\nlab.conf:2: failed\n");
	assert_string_equal(fr->fr_calls, "kld.load {\"name\":\"a\"}\n");
	fr = fake_batch("f", "kldload 'x\n");
	assert_int_equal(fr->fr_status, 65);
	assert_string_equal(fr->fr_err, "f:1: a quote is not closed\n");
	fr = fake_batch("f", "nothing here\n");
	assert_int_equal(fr->fr_status, 64);
	assert_string_equal(fr->fr_err, "netepoch: there is no tool "
	    "'nothing'; netepoch help lists them\nf:1: failed\n");
	fr = fake_batch("f", "batch other\n");
	assert_int_equal(fr->fr_status, 65);
	assert_string_equal(fr->fr_err, "f:1: batch within a batch\n");
	fr = fake_batch("f", "shell M1\n");
	assert_string_equal(fr->fr_err, "shell: not from a file of commands\n"
	    "f:1: failed\n");
	fr = fake_batch("f", "ifconfig -M M2 lo0\n");
	assert_string_equal(fr->fr_err, "ifconfig: -M: the machine is already "
	    "chosen\nf:1: failed\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_split_many),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_batch_stops),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
