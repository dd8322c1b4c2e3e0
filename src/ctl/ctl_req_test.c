/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Requests and replies: the envelope, every kind of argument right and wrong,
 * errors with their field, text that is not UTF-8, replies that are too long.
 */
#include "ctl/ctl_test.h"

#include "ctl/ctl_private.h"

/* A command that takes one argument of each kind. */
static int
test_args(struct ctl_req *cr, void *arg)
{
	const char *s, *so;
	bool b;
	long n, no;
	int error;

	if ((error = ctl_arg_string(cr, "s", &s)) != 0 ||
	    (error = ctl_arg_string_opt(cr, "so", "none", &so)) != 0 ||
	    (error = ctl_arg_int(cr, "n", -5, 5, &n)) != 0 ||
	    (error = ctl_arg_int_opt(cr, "no", 72, 9000, 1500, &no)) != 0 ||
	    (error = ctl_arg_bool_opt(cr, "b", true, &b)) != 0 ||
	    (error = ctl_args_done(cr)) != 0)
		return (error);
	return (ctl_result(cr, "all", json_pack("[s,s,I,I,b]", s, so,
	    (json_int_t)n, (json_int_t)no, b)));
}

static const struct ctl_command args_commands[] = {
	{ "args", test_args },
};

/* The reply to a line, as text. */
static char *
reply(const struct ctl_command *cmds, size_t n, const char *line)
{
	_Atomic int count = 0;
	json_t *j;
	char *text;

	j = ctl_dispatch(cmds, n, &count, line, strlen(line));
	assert_non_null(j);
	text = json_dumps(j, JSON_COMPACT);
	assert_non_null(text);
	json_decref(j);
	return (text);
}

static void
expect(const struct ctl_command *cmds, size_t n, const char *line,
    const char *wanted)
{
	char *got;

	got = reply(cmds, n, line);
	assert_string_equal(got, wanted);
	free(got);
}

static void
test_envelope(void **state)
{
	static const struct { const char *line, *wanted; } t[] = {
		{ "{\"id\":7,\"cmd\":\"echo\",\"args\":{\"text\":\"x\"}}\n",
		  "{\"id\":7,\"ok\":true,\"result\":{\"text\":\"x\"}}" },
		{ "{\"cmd\":\"count\"}",
		  "{\"id\":null,\"ok\":true,\"result\":{\"count\":1}}" },
		{ "{\"id\":{\"a\":[1,\"b\",null]},\"cmd\":\"count\"}",
		  "{\"id\":{\"a\":[1,\"b\",null]},\"ok\":true,"
		  "\"result\":{\"count\":1}}" },
		{ "{\"id\":\"q\",\"cmd\":\"nope\"}",
		  "{\"id\":\"q\",\"ok\":false,\"errno\":95,"
		  "\"error\":\"unknown command \\\"nope\\\"\","
		  "\"field\":\"cmd\"}" },
		{ "{\"id\":1}",
		  "{\"id\":1,\"ok\":false,\"errno\":22,"
		  "\"error\":\"cmd: expected a string, got nothing\","
		  "\"field\":\"cmd\"}" },
		{ "{\"id\":1,\"cmd\":5}",
		  "{\"id\":1,\"ok\":false,\"errno\":22,"
		  "\"error\":\"cmd: expected a string, got an integer\","
		  "\"field\":\"cmd\"}" },
		{ "{\"id\":1,\"cmd\":\"count\",\"args\":[]}",
		  "{\"id\":1,\"ok\":false,\"errno\":22,"
		  "\"error\":\"args: expected an object, got an array\","
		  "\"field\":\"args\"}" },
		{ "{\"id\":1,\"cmd\":\"count\",\"arg\":{}}",
		  "{\"id\":1,\"ok\":false,\"errno\":22,\"error\":"
		  "\"unknown member \\\"arg\\\" in a request\","
		  "\"field\":\"arg\"}" },
		{ "[1]",
		  "{\"id\":null,\"ok\":false,\"errno\":22,\"error\":"
		  "\"expected an object with \\\"cmd\\\", got an array\"}" },
	};
	size_t i;

	for (i = 0; i < nitems(t); i++)
		expect(test_commands, nitems(test_commands), t[i].line,
		    t[i].wanted);
}

/* What is no JSON, or not ours: always EINVAL, never a handler. */
static void
test_no_json(void **state)
{
	static const char *const lines[] = {
		"", "\n", "{", "}", "nonsense", "{\"cmd\":\"count\"} x",
		"{\"cmd\":\"count\",\"cmd\":\"count\"}",
		"{\"cmd\":\"echo\",\"args\":{\"text\":\"a\",\"text\":\"b\"}}",
		"{\"cmd\":\"echo\",\"args\":{\"text\":\"\\u0000\"}}",
		"{\"cmd\":\"echo\",\"args\":{\"text\":\"\xff\xfe\"}}",
		"{\"id\":99999999999999999999,\"cmd\":\"count\"}",
		"{\"id\":1e999,\"cmd\":\"count\"}",
	};
	json_t *j;
	size_t i;
	_Atomic int count = 0;

	for (i = 0; i < nitems(lines); i++) {
		j = ctl_dispatch(test_commands, nitems(test_commands), &count,
		    lines[i], strlen(lines[i]));
		assert_non_null(j);
		assert_true(json_is_false(json_object_get(j, "ok")));
		assert_true(json_is_null(json_object_get(j, "id")));
		assert_int_equal(EINVAL,
		    json_integer_value(json_object_get(j, "errno")));
		json_decref(j);
	}
	assert_int_equal(count, 0);
}

/* Deep nesting is refused, not followed to the end of the stack. */
static void
test_deep(void **state)
{
	_Atomic int count = 0;
	char line[CTL_REQUEST_MAX];
	json_t *j;

	memset(line, '[', sizeof(line));
	j = ctl_dispatch(test_commands, nitems(test_commands), &count, line,
	    sizeof(line));
	assert_non_null(j);
	assert_int_equal(EINVAL,
	    json_integer_value(json_object_get(j, "errno")));
	json_decref(j);
}

static void
test_arguments(void **state)
{
#define	BAD(text, field)						\
	"{\"id\":1,\"ok\":false,\"errno\":22,\"error\":\"" text		\
	"\",\"field\":\"" field "\"}"
	static const struct { const char *args, *wanted; } t[] = {
		{ "{\"s\":\"x\",\"n\":-5}",
		  "{\"id\":1,\"ok\":true,\"result\":"
		  "{\"all\":[\"x\",\"none\",-5,1500,true]}}" },
		{ "{\"b\":false,\"no\":72,\"n\":5,\"so\":\"\",\"s\":\"\"}",
		  "{\"id\":1,\"ok\":true,\"result\":"
		  "{\"all\":[\"\",\"\",5,72,false]}}" },
		{ "{\"n\":1}", BAD("s: expected a string, got nothing",
		  "s") },
		{ "{\"s\":null,\"n\":1}", BAD("s: expected a string, "
		  "got null", "s") },
		{ "{\"s\":\"\",\"so\":true,\"n\":1}", BAD("so: expected a "
		  "string, got a boolean", "so") },
		{ "{\"s\":\"\"}", BAD("n: expected an integer -5..5, got "
		  "nothing", "n") },
		{ "{\"s\":\"\",\"n\":6}", BAD("n: expected -5..5, got 6",
		  "n") },
		{ "{\"s\":\"\",\"n\":-6}", BAD("n: expected -5..5, got -6",
		  "n") },
		{ "{\"s\":\"\",\"n\":1.0}", BAD("n: expected an integer, got "
		  "a real number", "n") },
		{ "{\"s\":\"\",\"n\":1,\"no\":\"72\"}", BAD("no: expected an "
		  "integer, got a string", "no") },
		{ "{\"s\":\"\",\"n\":1,\"no\":-9223372036854775808}",
		  BAD("no: expected 72..9000, got -9223372036854775808",
		  "no") },
		{ "{\"s\":\"\",\"n\":1,\"b\":0}", BAD("b: expected true or "
		  "false, got an integer", "b") },
		{ "{\"s\":\"\",\"n\":1,\"b\":{}}", BAD("b: expected true or "
		  "false, got an object", "b") },
		{ "{\"s\":\"\",\"n\":1,\"what\":0}", BAD("unknown argument "
		  "\\\"what\\\"", "what") },
	};
	char line[256];
	size_t i;

	for (i = 0; i < nitems(t); i++) {
		(void)snprintf(line, sizeof(line),
		    "{\"id\":1,\"cmd\":\"args\",\"args\":%s}", t[i].args);
		expect(args_commands, nitems(args_commands), line,
		    t[i].wanted);
	}
#undef BAD
}

/* More members than can be kept track of are unknown ones. */
static void
test_many_arguments(void **state)
{
	char line[1024], *got;
	size_t off;
	int i;

	off = (size_t)snprintf(line, sizeof(line),
	    "{\"cmd\":\"args\",\"args\":{");
	for (i = 0; i < 40; i++)
		off += (size_t)snprintf(line + off, sizeof(line) - off,
		    "\"x%d\":0,", i);
	(void)snprintf(line + off, sizeof(line) - off,
	    "\"s\":\"\",\"n\":0}}");
	got = reply(args_commands, nitems(args_commands), line);
	assert_non_null(strstr(got, "unknown argument \\\"x0\\\""));
	free(got);

	/* All known but the last ones: members 32 and up cannot be taken. */
	line[0] = '\0';
	off = (size_t)snprintf(line, sizeof(line),
	    "{\"cmd\":\"args\",\"args\":{\"s\":\"\",\"n\":0");
	for (i = 2; i < 40; i++)
		off += (size_t)snprintf(line + off, sizeof(line) - off,
		    ",\"y%d\":0", i);
	(void)snprintf(line + off, sizeof(line) - off, "}}");
	got = reply(args_commands, nitems(args_commands), line);
	assert_non_null(strstr(got, "\"field\":\"y2\""));
	free(got);
}

static void
test_failing(void **state)
{

	expect(test_commands, nitems(test_commands),
	    "{\"id\":2,\"cmd\":\"fail\",\"args\":{\"errno\":17,"
	    "\"field\":\"name\",\"text\":\"interface ixl2 already exists\"}}",
	    "{\"id\":2,\"ok\":false,\"errno\":17,"
	    "\"error\":\"interface ixl2 already exists\","
	    "\"field\":\"name\"}");
	/* A handler that only returns an errno value still gives a text. */
	expect(test_commands, nitems(test_commands),
	    "{\"id\":2,\"cmd\":\"fail\",\"args\":{\"errno\":12}}",
	    "{\"id\":2,\"ok\":false,\"errno\":12,"
	    "\"error\":\"Cannot allocate memory\"}");
}

/* An error that is cut in the middle of a character is still a reply. */
static void
test_cut_text(void **state)
{
	char line[1024], *got;
	int i;

	(void)snprintf(line, sizeof(line), "{\"cmd\":\"fail\",\"args\":"
	    "{\"errno\":5,\"field\":\"");
	for (i = 0; i < 20; i++)
		(void)strcat(line, "\xe2\x82\xac");
	(void)strcat(line, "\",\"text\":\"a");
	for (i = 0; i < 200; i++)
		(void)strcat(line, "\xe2\x82\xac");
	(void)strcat(line, "\"}}");
	got = reply(test_commands, nitems(test_commands), line);
	assert_non_null(strstr(got, "\"errno\":5,\"error\":\"a???"));
	assert_non_null(strstr(got, "\"field\":\"???"));
	free(got);
}

static void
test_text(void **state)
{
	json_t *j;

	j = ctl_text("h\xc3\xa9");
	assert_string_equal(json_string_value(j), "h\xc3\xa9");
	json_decref(j);
	j = ctl_text("h\xe9!");
	assert_string_equal(json_string_value(j), "h?!");
	json_decref(j);
}

/* The longest reply passes, one byte more is an error. */
static void
test_long_reply(void **state)
{
	char *line, *text;
	size_t len, want;

	want = CTL_LINE_MAX - strlen("{\"a\":\"\"}\n");
	text = malloc(want + 2);
	assert_non_null(text);
	memset(text, 'x', want + 1);
	text[want] = '\0';
	line = ctl_reply_line(json_pack("{ss}", "a", text), &len);
	assert_non_null(line);
	assert_int_equal(len, CTL_LINE_MAX);
	assert_int_equal(line[len - 1], '\n');
	free(line);
	text[want] = 'x';
	text[want + 1] = '\0';
	line = ctl_reply_line(json_pack("{ss}", "a", text), &len);
	assert_non_null(line);
	line[len - 1] = '\0';
	assert_string_equal(line, "{\"id\":null,\"ok\":false,\"errno\":90,"
	    "\"error\":\"the reply is too long for a line: ask for less\"}");
	free(line);
	free(text);
	line = ctl_reply_line(NULL, &len);
	assert_non_null(line);
	line[len - 1] = '\0';
	assert_non_null(strstr(line, "\"errno\":12,"));
	free(line);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_envelope),
		cmocka_unit_test(test_no_json),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_many_arguments),
		cmocka_unit_test(test_failing),
		cmocka_unit_test(test_cut_text),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_long_reply),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
