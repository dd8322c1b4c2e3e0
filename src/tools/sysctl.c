/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * sysctl: the tunables and counters of a machine.  The exit status is the
 * number of names that failed.
 */

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cmds.h"
#include "tools/out.h"
#include "tools/tool.h"

struct sysctl_opts {
	bool	so_descr;		/* -d */
	bool	so_equal;		/* -e */
	bool	so_human;		/* -h */
	bool	so_ignore;		/* -i */
	bool	so_nameonly;		/* -N */
	bool	so_valueonly;		/* -n */
	bool	so_quiet;		/* -q */
	bool	so_tunable;		/* -T */
	bool	so_type;		/* -t */
	bool	so_writable;		/* -W */
	bool	so_hex;			/* -x */
};

/* The daemon's types, and what -t says. */
static const struct {
	const char	*st_type;
	const char	*st_text;
	bool		 st_number;
} sysctl_types[] = {
	{ "int",	"integer",	true },
	{ "counter",	"uint64_t",	true },
	{ "u64",	"uint64_t",	true },
	{ "string",	"string",	false },
};

static bool
sysctl_isnumber(const json_t *oid, const char **text)
{
	const char *type = js_str(oid, "type");
	size_t i;

	*text = type;
	for (i = 0; i < nitems(sysctl_types); i++) {
		if (strcmp(sysctl_types[i].st_type, type) == 0) {
			*text = sysctl_types[i].st_text;
			return (sysctl_types[i].st_number);
		}
	}
	return (false);
}

/* The value as text, whether it came as a string or as a number. */
static void
sysctl_value(const json_t *oid, char *buf, size_t len)
{
	const json_t *val;

	val = js_get(oid, "value");
	if (json_is_integer(val))
		(void)snprintf(buf, len, "%jd",
		    (intmax_t)json_integer_value(val));
	else
		(void)snprintf(buf, len, "%s", js_str(oid, "value"));
}

static void
sysctl_show_json(struct out *o, const struct sysctl_opts *so,
    const json_t *oid)
{
	const char *name = js_str(oid, "name"), *type;
	char value[1024];
	long long num;

	if (so->so_descr)
		out_put(o, name, json_string(js_str(oid, "descr")));
	else if (so->so_type) {
		(void)sysctl_isnumber(oid, &type);
		out_put(o, name, json_string(type));
	} else {
		sysctl_value(oid, value, sizeof(value));
		if (sysctl_isnumber(oid, &type) &&
		    tool_number(value, INT64_MIN, INT64_MAX, &num))
			out_put(o, name, json_integer(num));
		else
			out_put(o, name, json_string(value));
	}
}

static void
sysctl_show(struct tool_ctx *tc, const struct sysctl_opts *so,
    const json_t *oid)
{
	const char *sep = so->so_equal ? "=" : ": ", *type;
	char value[1024], text[1200];
	struct out *o = tc->tc_o;
	bool number;

	if (out_json(o)) {
		sysctl_show_json(o, so, oid);
		return;
	}
	if (so->so_nameonly) {
		out_text(o, "%s\n", js_str(oid, "name"));
		return;
	}
	if (!so->so_valueonly)
		out_text(o, "%s%s", js_str(oid, "name"), sep);
	number = sysctl_isnumber(oid, &type);
	if (so->so_type)
		out_text(o, "%s%s", type, so->so_descr ? sep : "\n");
	if (so->so_descr)
		out_text(o, "%s\n", js_str(oid, "descr"));
	if (so->so_type || so->so_descr)
		return;
	sysctl_value(oid, value, sizeof(value));
	if (number && so->so_hex)
		(void)snprintf(text, sizeof(text), "0x%llx",
		    strtoull(value, NULL, 10));
	else if (number && so->so_human)
		out_thousands(text, sizeof(text), value);
	else
		(void)snprintf(text, sizeof(text), "%s", value);
	out_text(o, "%s\n", text);
}

/* -T and -W choose among the leaves of a node. */
static bool
sysctl_wanted(const struct sysctl_opts *so, const json_t *oid)
{
	if (so->so_writable && !js_bool(oid, "writable"))
		return (false);
	if (so->so_tunable && !js_bool(oid, "tunable"))
		return (false);
	return (true);
}

/*
 * The leaves at or below name, at least one.  0, or the error is printed
 * (but not an unknown name with -i) and 1 or EX_UNAVAILABLE returned.
 */
static int
sysctl_lookup(struct tool_ctx *tc, const struct sysctl_opts *so,
    const char *name, json_t **res)
{
	struct ctl_error ce;
	int error;

	*res = NULL;
	error = tool_call(tc, "sysctl.list",
	    *name != '\0' ? json_pack("{s:s}", "prefix", name) : NULL, res,
	    &ce);
	if (error == 0 && (*name == '\0' ||
	    json_array_size(js_get(*res, "oids")) > 0))
		return (0);
	json_decref(*res);
	*res = NULL;
	if (error != 0 && error != ENOENT)
		return (tool_callfail(tc, &ce));
	if (!so->so_ignore && !so->so_quiet)
		tool_warn(tc, "unknown oid '%s'", name);
	return (1);
}

static int
sysctl_get(struct tool_ctx *tc, const struct sysctl_opts *so,
    const char *name)
{
	const json_t *oid;
	json_t *res;
	size_t i;
	int status;

	if ((status = sysctl_lookup(tc, so, name, &res)) != 0)
		return (status == 1 && so->so_ignore ? 0 : status);
	json_array_foreach(js_get(res, "oids"), i, oid)
		if (sysctl_wanted(so, oid))
			sysctl_show(tc, so, oid);
	json_decref(res);
	return (0);
}

/* Say what an attempt to set cannot get past; 0: nothing. */
static int
sysctl_check(struct tool_ctx *tc, const char *name, const char *value,
    const json_t *oids)
{
	const json_t *oid;
	const char *type;
	char *end;

	oid = json_array_get(oids, 0);
	if (json_array_size(oids) != 1 ||
	    strcmp(js_str(oid, "name"), name) != 0)
		return (tool_fail(tc, 1, "oid '%s' isn't a leaf node", name));
	if (!js_bool(oid, "writable") && js_bool(oid, "tunable")) {
		tool_warn(tc, "oid '%s' is a read only tunable", name);
		return (tool_fail(tc, 1,
		    "Tunable values are set in /boot/loader.conf"));
	}
	if (!js_bool(oid, "writable"))
		return (tool_fail(tc, 1, "oid '%s' is read only", name));
	if (sysctl_isnumber(oid, &type)) {
		errno = 0;
		(void)strtoll(value, &end, 0);
		if (*value == '\0' || *end != '\0' || errno != 0)
			return (tool_fail(tc, 1, "invalid %s '%s'", type,
			    value));
	}
	return (0);
}

static int
sysctl_set(struct tool_ctx *tc, const struct sysctl_opts *so,
    const char *name, const char *value)
{
	struct ctl_error ce;
	json_t *res;
	int status;

	if ((status = sysctl_lookup(tc, so, name, &res)) != 0)
		return (status == 1 && so->so_ignore ? 0 : status);
	status = sysctl_check(tc, name, value, js_get(res, "oids"));
	json_decref(res);
	if (status != 0)
		return (status);
	if (tool_call(tc, "sysctl.set", json_pack("{s:s, s:s}", "name", name,
	    "value", value), &res, &ce) != 0) {
		if (ce.ce_errno != EINVAL)
			return (tool_callfail(tc, &ce));
		return (tool_fail(tc, 1, "%s=%s: Invalid argument%s%s%s", name,
		    value, ce.ce_text[0] != '\0' ? " (" : "", ce.ce_text,
		    ce.ce_text[0] != '\0' ? ")" : ""));
	}
	out_put(tc->tc_o, name, json_pack("{s:O, s:O}", "old",
	    js_get(res, "old"), "new", js_get(res, "new")));
	if (!so->so_valueonly)
		out_text(tc->tc_o, "%s%s", name, so->so_equal ? "=" : ": ");
	out_text(tc->tc_o, "%s -> %s\n", js_str(res, "old"),
	    js_str(res, "new"));
	json_decref(res);
	return (0);
}

/* "name", "name=value", "name:value", the value perhaps in quotes. */
static int
sysctl_word(struct tool_ctx *tc, const struct sysctl_opts *so,
    const char *word, const char *value)
{
	char name[256], val[1024];
	size_t n = strcspn(word, "=:");

	if (value == NULL && word[n] != '\0')
		value = word + n + 1;
	while (n > 0 && word[n - 1] == ' ')
		n--;
	if (n == 0 || n >= sizeof(name))
		return (tool_fail(tc, 1, "unknown oid '%.*s'", (int)n, word));
	memcpy(name, word, n);
	name[n] = '\0';
	if (value == NULL)
		return (sysctl_get(tc, so, name));
	value += strspn(value, " ");
	n = strlen(value);
	if (n >= 2 && (*value == '"' || *value == '\'') &&
	    value[n - 1] == *value) {
		value++;
		n -= 2;
	}
	if (n >= sizeof(val))
		return (tool_fail(tc, 1, "%s: the value is too long", name));
	memcpy(val, value, n);
	val[n] = '\0';
	return (sysctl_set(tc, so, name, val));
}

static bool
sysctl_flag(struct sysctl_opts *so, int c)
{
	switch (c) {
	case 'd':
		so->so_descr = true;
		break;
	case 'e':
		so->so_equal = true;
		break;
	case 'h':
		so->so_human = true;
		break;
	case 'i':
		so->so_ignore = true;
		break;
	case 'N':
		so->so_nameonly = true;
		break;
	case 'n':
		so->so_valueonly = true;
		break;
	case 'q':
		so->so_quiet = true;
		break;
	case 'T':
		so->so_tunable = true;
		break;
	case 't':
		so->so_type = true;
		break;
	case 'W':
		so->so_writable = true;
		break;
	case 'x':
		so->so_hex = true;
		break;
	case 'o':		/* there is no opaque value */
	case 'w':		/* of old, to allow setting */
		break;
	default:
		return (false);
	}
	return (true);
}

static int
sysctl_main(struct tool_ctx *tc, int argc, char **argv)
{
	struct sysctl_opts so = { 0 };
	int c, i, failed = 0, status;
	bool all = false;

	while ((c = getopt(argc, argv, "+:adehiNnoqTtWwx")) != -1) {
		if (c == 'a')
			all = true;
		else if (!sysctl_flag(&so, c)) {
			(void)tool_badopt(tc, c);
			return (1);
		}
	}
	if ((so.so_nameonly && so.so_valueonly) || (optind == argc && !all)) {
		(void)tool_usage(tc);
		return (1);
	}
	out_open(tc->tc_o, "sysctl");
	if (all)
		failed += sysctl_get(tc, &so, "") != 0;
	for (i = optind; i < argc && !all; i++) {
		if (i + 2 < argc && strcmp(argv[i + 1], "=") == 0) {
			status = sysctl_word(tc, &so, argv[i], argv[i + 2]);
			i += 2;
		} else
			status = sysctl_word(tc, &so, argv[i], NULL);
		if (status == EX_UNAVAILABLE)
			return (status);
		failed += status != 0;
	}
	out_close(tc->tc_o);
	return (failed > 100 ? 100 : failed);
}

const struct tool tool_sysctl = {
	.tl_name = "sysctl",
	.tl_synopsis = "[-dehiNnoqTtWx] name[=value] ...\n"
	    "[-dehNnoqTtWx] -a",
	.tl_manual = "netepoch-sysctl(8)",
	.tl_descr = "show and set tunables and counters",
	.tl_fn = sysctl_main,
};
