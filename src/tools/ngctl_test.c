/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * ngctl without a graph: commands and their short forms, words, dumps, and
 * what it says when there is no machine.  With a graph: tests/test_ngctl.py.
 */

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <cmocka.h>

#include "tools/ngctl.h"
#include "tools/out.h"
#include "tools/tool_fake.h"

static const char *
found(const char *word)
{
	const struct ngctl_cmd *nc;
	bool many;

	if ((nc = ngctl_find(word, &many)) != NULL)
		return (nc->nc_name);
	return (many ? "ambiguous" : "unknown");
}

static void
test_find(void **state)
{
	assert_string_equal(found("mkpeer"), "mkpeer");
	assert_string_equal(found("mk"), "mkpeer");
	assert_string_equal(found("MKPEER"), "mkpeer");
	assert_string_equal(found("ls"), "list");
	assert_string_equal(found("l"), "list");
	assert_string_equal(found("j"), "connect");
	assert_string_equal(found("cmd"), "msg");
	assert_string_equal(found("in"), "show");
	assert_string_equal(found("k"), "shutdown");
	assert_string_equal(found("rmn"), "shutdown");
	assert_string_equal(found("rmh"), "rmhook");
	assert_string_equal(found("."), "read");
	assert_string_equal(found("?"), "help");
	assert_string_equal(found("w"), "write");
	assert_string_equal(found("e"), "quit");
	assert_string_equal(found("s"), "ambiguous");
	assert_string_equal(found("conf"), "ambiguous");
	assert_string_equal(found("confi"), "config");
	assert_string_equal(found("foo"), "unknown");
	assert_string_equal(found("mkpeers"), "unknown");
}

static bool
starts(const struct ngctl_cmd *nc, const char *word)
{
	size_t len = strlen(word);
	int i;

	if (strncmp(nc->nc_name, word, len) == 0)
		return (true);
	for (i = 0; nc->nc_alias[i] != NULL; i++)
		if (strncmp(nc->nc_alias[i], word, len) == 0)
			return (true);
	return (false);
}

static void
check_short(const char *name)
{
	const struct ngctl_cmd *const *ncp;
	const struct ngctl_cmd *only = NULL;
	char word[32];
	size_t len;
	int n;

	for (len = 1; len <= strlen(name); len++) {
		(void)snprintf(word, sizeof(word), "%.*s", (int)len, name);
		for (n = 0, ncp = ngctl_cmds; *ncp != NULL; ncp++)
			if (starts(*ncp, word)) {
				only = *ncp;
				n++;
			}
		if (len < strlen(name) || n == 1)
			assert_string_equal(found(word), n == 1 ?
			    only->nc_name : "ambiguous");
		word[0] = (char)toupper((unsigned char)word[0]);
		if (n == 1)
			assert_string_equal(found(word), only->nc_name);
	}
}

/* Every start of every name and alias, against counting who has it. */
static void
test_short(void **state)
{
	const struct ngctl_cmd *const *ncp;
	int i;

	for (ncp = ngctl_cmds; *ncp != NULL; ncp++) {
		assert_string_equal(found((*ncp)->nc_name), (*ncp)->nc_name);
		check_short((*ncp)->nc_name);
		for (i = 0; (*ncp)->nc_alias[i] != NULL; i++) {
			assert_string_equal(found((*ncp)->nc_alias[i]),
			    (*ncp)->nc_name);
			check_short((*ncp)->nc_alias[i]);
		}
	}
}

static void
test_split(void **state)
{
	char *argv[NGCTL_WORDS + 1], line[2 * NGCTL_WORDS + 4];
	char plain[] = " msg\tx: \"a b\"\v\f{ c=1 }\r\n", blank[] = " \t\n";
	int i;

	assert_int_equal(ngctl_split(plain, argv), 7);
	assert_string_equal(argv[0], "msg");
	assert_string_equal(argv[2], "\"a");
	assert_string_equal(argv[6], "}");
	assert_null(argv[7]);
	assert_int_equal(ngctl_split(blank, argv), 0);
	for (i = 0; i < NGCTL_WORDS; i++)
		memcpy(line + 2 * i, "a ", 3);
	assert_int_equal(ngctl_split(line, argv), NGCTL_WORDS);
	for (i = 0; i <= NGCTL_WORDS; i++)
		memcpy(line + 2 * i, "a ", 3);
	assert_int_equal(ngctl_split(line, argv), -1);
}

static void
test_dump(void **state)
{
	const unsigned char data[18] = "em0\0\xff ~abcdefghijk";
	char *text = NULL;
	size_t len;
	struct out *o;
	FILE *f;

	f = open_memstream(&text, &len);
	o = out_alloc(f, false, false);
	ngctl_dump(o, data, sizeof(data));
	ngctl_dump(o, data, 0);
	out_free(o);
	(void)fclose(f);
	assert_string_equal(text,
	    "0000:  65 6d 30 00 ff 20 7e 61 62 63 64 65 66 67 68 69  "
	    "em0.. ~abcdefghi\n"
	    "0010:  6a 6b                                            "
	    "jk\n");
	free(text);
}

static void
test_text(void **state)
{
	json_t *val;

	val = ngctl_text("a\xc3\xa4");
	assert_string_equal(json_string_value(val), "a\xc3\xa4");
	json_decref(val);
	val = ngctl_text("a\xff");
	assert_string_equal(json_string_value(val), "a\xc3\xbf");
	json_decref(val);
}

static void
test_start(void **state)
{
	const char usage[] = "usage: ngctl [-d] [-f file] [-n name] "
	    "[command [argument ...]]\n";
	const struct fake_run *fr;
	char text[512];

	(void)snprintf(text, sizeof(text), "ngctl: illegal option -- x\n%s",
	    usage);
	fake_check("ngctl -x", EX_USAGE, "", text, "");
	(void)snprintf(text, sizeof(text),
	    "ngctl: option requires an argument -- n\n%s", usage);
	fake_check("ngctl -n", EX_USAGE, "", text, "");
	fake_check("ngctl -f /nowhere/x list", EX_NOINPUT, "",
	    "ngctl: /nowhere/x: No such file or directory\n", "");
	fake_check("nghook", EX_USAGE, "", "nghook: not from a file of "
	    "commands\n", "");
	/* The machine is asked for its name, and has no graph. */
	fr = fake_run("ngctl list");
	assert_int_equal(fr->fr_status, EX_OSERR);
	assert_string_equal(fr->fr_calls, "machine.info {}\n");
	assert_non_null(strstr(fr->fr_err, "ngctl: can't create node: "
	    "Address family not supported by protocol ("));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_start),
	};

	(void)setenv("NETEPOCH_RUNDIR", "/nonexistent/netepoch", 1);
	(void)unsetenv("NETEPOCH_MACHINE");
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
