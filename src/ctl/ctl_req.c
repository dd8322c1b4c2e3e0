/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A request: from its line to a call of its handler to its reply.
 *
 * Nothing here is shared between threads: a request belongs to whoever
 * dispatches it, the server's thread or an in-process caller.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/ctl.h"
#include "ctl/ctl_private.h"

#define	CTL_ARGS_MAX	32		/* bits of cr_used */

static const char *
ctl_type_name(const json_t *j)
{

	switch (json_typeof(j)) {
	case JSON_OBJECT:
		return ("an object");
	case JSON_ARRAY:
		return ("an array");
	case JSON_STRING:
		return ("a string");
	case JSON_INTEGER:
		return ("an integer");
	case JSON_REAL:
		return ("a real number");
	case JSON_TRUE:
	case JSON_FALSE:
		return ("a boolean");
	case JSON_NULL:
		break;
	}
	return ("null");
}

json_t *
ctl_text(const char *text)
{
	json_t *j;
	char *copy, *p;

	j = json_string(text);
	if (j != NULL)
		return (j);
	copy = strdup(text);
	if (copy == NULL)
		return (NULL);
	for (p = copy; *p != '\0'; p++)
		if ((*p & 0x80) != 0)
			*p = '?';
	j = json_string(copy);
	free(copy);
	return (j);
}

int
ctl_fail(struct ctl_req *cr, int error, const char *field, const char *fmt,
    ...)
{
	va_list ap;

	cr->cr_errno = error;
	(void)snprintf(cr->cr_field, sizeof(cr->cr_field), "%s",
	    field != NULL ? field : "");
	va_start(ap, fmt);
	(void)vsnprintf(cr->cr_error, sizeof(cr->cr_error), fmt, ap);
	va_end(ap);
	return (error);
}

/* The member of args, marked as taken, or NULL. */
static json_t *
ctl_arg(struct ctl_req *cr, const char *name)
{
	const char *key;
	json_t *val;
	unsigned int i = 0;

	json_object_foreach(cr->cr_args, key, val) {
		if (strcmp(key, name) == 0) {
			if (i < CTL_ARGS_MAX)
				cr->cr_used |= 1u << i;
			return (val);
		}
		i++;
	}
	return (NULL);
}

bool
ctl_arg_present(const struct ctl_req *cr, const char *name)
{

	return (json_object_get(cr->cr_args, name) != NULL);
}

int
ctl_arg_string_opt(struct ctl_req *cr, const char *name, const char *def,
    const char **val)
{
	const json_t *j;

	*val = def;
	j = ctl_arg(cr, name);
	if (j == NULL)
		return (0);
	if (!json_is_string(j))
		return (ctl_fail(cr, EINVAL, name,
		    "%s: expected a string, got %s", name, ctl_type_name(j)));
	*val = json_string_value(j);
	return (0);
}

int
ctl_arg_string(struct ctl_req *cr, const char *name, const char **val)
{
	int error;

	error = ctl_arg_string_opt(cr, name, NULL, val);
	if (error == 0 && *val == NULL)
		error = ctl_fail(cr, EINVAL, name, "%s: expected a string, "
		    "got nothing", name);
	return (error);
}

int
ctl_arg_int_opt(struct ctl_req *cr, const char *name, long min, long max,
    long def, long *val)
{
	const json_t *j;
	json_int_t n;

	*val = def;
	j = ctl_arg(cr, name);
	if (j == NULL)
		return (0);
	if (!json_is_integer(j))
		return (ctl_fail(cr, EINVAL, name,
		    "%s: expected an integer, got %s", name,
		    ctl_type_name(j)));
	n = json_integer_value(j);
	if (n < min || n > max)
		return (ctl_fail(cr, EINVAL, name,
		    "%s: expected %ld..%ld, got %lld", name, min, max,
		    (long long)n));
	*val = (long)n;
	return (0);
}

int
ctl_arg_int(struct ctl_req *cr, const char *name, long min, long max,
    long *val)
{

	*val = 0;
	if (!ctl_arg_present(cr, name))
		return (ctl_fail(cr, EINVAL, name,
		    "%s: expected an integer %ld..%ld, got nothing", name,
		    min, max));
	return (ctl_arg_int_opt(cr, name, min, max, 0, val));
}

int
ctl_arg_bool_opt(struct ctl_req *cr, const char *name, bool def, bool *val)
{
	const json_t *j;

	*val = def;
	j = ctl_arg(cr, name);
	if (j == NULL)
		return (0);
	if (!json_is_boolean(j))
		return (ctl_fail(cr, EINVAL, name,
		    "%s: expected true or false, got %s", name,
		    ctl_type_name(j)));
	*val = json_is_true(j);
	return (0);
}

int
ctl_args_done(struct ctl_req *cr)
{
	const char *key;
	json_t *val;
	unsigned int i = 0;

	json_object_foreach(cr->cr_args, key, val) {
		if (i >= CTL_ARGS_MAX || (cr->cr_used & 1u << i) == 0)
			return (ctl_fail(cr, EINVAL, key,
			    "unknown argument \"%s\"", key));
		i++;
	}
	return (0);
}

int
ctl_result(struct ctl_req *cr, const char *name, json_t *val)
{

	if (json_object_set_new(cr->cr_result, name, val) != 0)
		return (ctl_fail(cr, ENOMEM, "", "no memory for the reply"));
	return (0);
}

/* The envelope: cmd and args, nothing unknown. */
static int
ctl_request_check(struct ctl_req *cr, json_t *request, const char **cmdp)
{
	const char *key;
	json_t *val;

	if (!json_is_object(request))
		return (ctl_fail(cr, EINVAL, "", "expected an object with "
		    "\"cmd\", got %s", ctl_type_name(request)));
	json_object_foreach(request, key, val) {
		if (strcmp(key, "id") == 0)
			continue;
		if (strcmp(key, "cmd") == 0) {
			if (!json_is_string(val))
				return (ctl_fail(cr, EINVAL, "cmd",
				    "cmd: expected a string, got %s",
				    ctl_type_name(val)));
			*cmdp = json_string_value(val);
		} else if (strcmp(key, "args") == 0) {
			if (!json_is_object(val))
				return (ctl_fail(cr, EINVAL, "args",
				    "args: expected an object, got %s",
				    ctl_type_name(val)));
			cr->cr_args = val;
		} else
			return (ctl_fail(cr, EINVAL, key,
			    "unknown member \"%s\" in a request", key));
	}
	if (*cmdp == NULL)
		return (ctl_fail(cr, EINVAL, "cmd",
		    "cmd: expected a string, got nothing"));
	return (0);
}

static const struct ctl_command *
ctl_command_find(const struct ctl_command *cmds, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(cmds[i].cc_name, name) == 0)
			return (&cmds[i]);
	return (NULL);
}

static void
ctl_request_run(struct ctl_req *cr, json_t *request,
    const struct ctl_command *cmds, size_t n, void *arg)
{
	const struct ctl_command *cc;
	const char *cmd = NULL;
	int error;

	if (ctl_request_check(cr, request, &cmd) != 0)
		return;
	cc = ctl_command_find(cmds, n, cmd);
	if (cc == NULL) {
		(void)ctl_fail(cr, EOPNOTSUPP, "cmd",
		    "unknown command \"%s\"", cmd);
		return;
	}
	error = cc->cc_fn(cr, arg);
	if (error != 0 && cr->cr_errno == 0)
		(void)ctl_fail(cr, error, "", "%s", strerror(error));
}

static json_t *
ctl_reply(struct ctl_req *cr, json_t *id)
{
	json_t *reply;
	int bad = 0;

	if (cr->cr_errno == 0)
		return (json_pack("{sOsbsO}", "id", id, "ok", 1, "result",
		    cr->cr_result));
	reply = json_pack("{sOsbsiso}", "id", id, "ok", 0, "errno",
	    cr->cr_errno, "error", ctl_text(cr->cr_error));
	if (reply != NULL && cr->cr_field[0] != '\0')
		bad = json_object_set_new(reply, "field",
		    ctl_text(cr->cr_field));
	if (bad != 0) {
		json_decref(reply);
		return (NULL);
	}
	return (reply);
}

json_t *
ctl_reply_error(int error, const char *text)
{

	return (json_pack("{snsbsiss}", "id", "ok", 0, "errno", error,
	    "error", text));
}

json_t *
ctl_dispatch(const struct ctl_command *cmds, size_t n, void *arg,
    const char *line, size_t len)
{

	return (ctl_dispatch_peer(cmds, n, arg, line, len, NULL));
}

json_t *
ctl_dispatch_peer(const struct ctl_command *cmds, size_t n, void *arg,
    const char *line, size_t len, struct ctl_peer *peer)
{
	struct ctl_req cr = { .cr_peer = peer };
	json_error_t je;
	json_t *id, *noargs, *reply = NULL, *request;

	noargs = json_object();
	cr.cr_result = json_object();
	if (noargs == NULL || cr.cr_result == NULL)
		goto free_objects;
	cr.cr_args = noargs;
	request = json_loadb(line, len,
	    JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &je);
	if (request == NULL) {
		(void)ctl_fail(&cr, EINVAL, "", "no JSON: %s, at byte %d",
		    je.text, je.position);
		id = NULL;
	} else {
		ctl_request_run(&cr, request, cmds, n, arg);
		id = json_object_get(request, "id");
	}
	reply = ctl_reply(&cr, id != NULL ? id : json_null());
	json_decref(request);
free_objects:
	json_decref(cr.cr_result);
	json_decref(noargs);
	return (reply);
}

char *
ctl_line(const json_t *j, size_t *lenp)
{
	char *line;
	size_t len;

	len = json_dumpb(j, NULL, 0, JSON_COMPACT);
	if (len == 0)
		return (NULL);
	line = malloc(len + 1);
	if (line == NULL)
		return (NULL);
	(void)json_dumpb(j, line, len, JSON_COMPACT);
	line[len] = '\n';
	*lenp = len + 1;
	return (line);
}

char *
ctl_reply_line(json_t *reply, size_t *lenp)
{
	char *line;

	if (reply == NULL)
		reply = ctl_reply_error(ENOMEM, "no memory for the reply");
	line = ctl_line(reply, lenp);
	json_decref(reply);
	if (line == NULL || *lenp <= CTL_LINE_MAX)
		return (line);
	free(line);
	reply = ctl_reply_error(EMSGSIZE, "the reply is too long for a line: "
	    "ask for less");
	line = ctl_line(reply, lenp);
	json_decref(reply);
	return (line);
}
