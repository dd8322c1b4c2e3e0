/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Output of the tools: text at once, JSON as a tree that is printed at the
 * end.  One thread; the stack below holds borrowed references into the tree
 * that o_root owns.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/out.h"

#define	OUT_DEPTH	16		/* nesting of the tools' trees is 6 */

struct out {
	FILE	*o_file;		/* the caller's */
	bool	 o_json;
	bool	 o_pretty;
	bool	 o_failed;		/* no memory, some time before */
	json_t	*o_root;		/* an object */
	json_t	*o_stack[OUT_DEPTH];	/* borrowed; [0] is o_root */
	int	 o_depth;		/* index of the open one */
};

struct out *
out_alloc(FILE *f, bool json, bool pretty)
{
	struct out *o;

	if ((o = calloc(1, sizeof(*o))) == NULL)
		return (NULL);
	o->o_file = f;
	o->o_json = json;
	o->o_pretty = pretty;
	if (json && (o->o_root = json_object()) == NULL) {
		free(o);
		return (NULL);
	}
	o->o_stack[0] = o->o_root;
	return (o);
}

void
out_free(struct out *o)
{
	if (o == NULL)
		return;
	json_decref(o->o_root);
	free(o);
}

bool
out_json(const struct out *o)
{
	return (o->o_json);
}

/*
 * Has all that was printed so far been written?  0, or why not.  What stdio
 * wrote before, when its buffer was full, may have failed when this does not;
 * the reason for that one is lost.
 */
static int
out_written(struct out *o)
{

	errno = 0;
	if (fflush(o->o_file) == 0 && ferror(o->o_file) == 0)
		return (0);
	return (errno != 0 ? errno : EIO);
}

int
out_flush(struct out *o)
{
	size_t flags = JSON_COMPACT;
	int error = 0;

	if (!o->o_json || json_object_size(o->o_root) == 0)
		return (out_written(o));
	if (o->o_pretty)
		flags = JSON_INDENT(2);
	if (o->o_failed)
		error = ENOMEM;
	else {
		(void)json_dumpf(o->o_root, o->o_file, flags);
		(void)fputc('\n', o->o_file);
		error = out_written(o);
	}
	json_object_clear(o->o_root);
	o->o_depth = 0;
	o->o_failed = false;
	return (error);
}

/* Put val into the open object or array; val is consumed. */
static void
out_add(struct out *o, const char *key, json_t *val)
{
	json_t *top = o->o_stack[o->o_depth];
	int rv;

	if (json_is_array(top))
		rv = json_array_append_new(top, val);
	else
		rv = json_object_set_new(top, key, val);
	if (rv != 0)
		o->o_failed = true;
}

static void
out_push(struct out *o, const char *key, json_t *val)
{
	if (!o->o_json)
		return;
	if (val == NULL || o->o_depth + 1 == OUT_DEPTH) {
		json_decref(val);
		o->o_failed = true;
		return;
	}
	out_add(o, key, val);		/* the tree holds it from here */
	if (!o->o_failed)
		o->o_stack[++o->o_depth] = val;
}

void
out_open(struct out *o, const char *key)
{
	out_push(o, key, o->o_json ? json_object() : NULL);
}

void
out_list(struct out *o, const char *key)
{
	out_push(o, key, o->o_json ? json_array() : NULL);
}

void
out_instance(struct out *o)
{
	out_push(o, NULL, o->o_json ? json_object() : NULL);
}

void
out_close(struct out *o)
{
	if (o->o_json && o->o_depth > 0 && !o->o_failed)
		o->o_depth--;
}

void
out_text(struct out *o, const char *fmt, ...)
{
	va_list ap;

	if (o->o_json)
		return;
	va_start(ap, fmt);
	(void)vfprintf(o->o_file, fmt, ap);
	va_end(ap);
}

void
out_put(struct out *o, const char *key, json_t *val)
{
	if (o->o_json)
		out_add(o, key, val);
	else
		json_decref(val);
}

void
out_str(struct out *o, const char *key, const char *val, const char *fmt, ...)
{
	va_list ap;

	if (o->o_json) {
		out_add(o, key, json_string(val));
		return;
	}
	va_start(ap, fmt);
	(void)vfprintf(o->o_file, fmt, ap);
	va_end(ap);
}

void
out_int(struct out *o, const char *key, json_int_t val, const char *fmt, ...)
{
	va_list ap;

	if (o->o_json) {
		out_add(o, key, json_integer(val));
		return;
	}
	va_start(ap, fmt);
	(void)vfprintf(o->o_file, fmt, ap);
	va_end(ap);
}

void
out_bits(char *buf, size_t len, uint64_t val, const struct out_name *names)
{
	const char *sep = "";
	size_t off;

	off = (size_t)snprintf(buf, len, "%jx<", (uintmax_t)val);
	for (; names->on_name != NULL && off < len; names++) {
		if ((val & names->on_bit) == 0)
			continue;
		off += (size_t)snprintf(buf + off, len - off, "%s%s", sep,
		    names->on_name);
		sep = ",";
	}
	if (off < len)
		(void)snprintf(buf + off, len - off, ">");
}

json_t *
out_bits_json(uint64_t val, const struct out_name *names)
{
	json_t *list;

	list = json_array();
	for (; names->on_name != NULL; names++)
		if ((val & names->on_bit) != 0)
			(void)json_array_append_new(list,
			    json_string(names->on_name));
	return (list);
}

void
out_human(char *buf, size_t len, uint64_t val)
{
	static const char units[] = "\0KMGTPE";
	uint64_t rest = 0;
	int i = 0;

	while (val >= 1000 && units[i + 1] != '\0') {
		rest = val % 1000;
		val /= 1000;
		i++;
	}
	if (i == 0)
		(void)snprintf(buf, len, "%ju", (uintmax_t)val);
	else if (val < 10)
		(void)snprintf(buf, len, "%ju.%ju%c", (uintmax_t)val,
		    (uintmax_t)(rest / 100), units[i]);
	else
		(void)snprintf(buf, len, "%ju%c", (uintmax_t)val, units[i]);
}

void
out_thousands(char *buf, size_t len, const char *digits)
{
	size_t n, i, off = 0;

	if (*digits == '-' && off + 1 < len)
		buf[off++] = *digits++;
	n = strlen(digits);
	for (i = 0; i < n && off + 2 < len; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			buf[off++] = ',';
		buf[off++] = digits[i];
	}
	buf[off] = '\0';
}

const json_t *
js_get(const json_t *obj, const char *key)
{
	return (json_object_get(obj, key));
}

const char *
js_str(const json_t *obj, const char *key)
{
	const char *s;

	s = json_string_value(json_object_get(obj, key));
	return (s != NULL ? s : "");
}

int64_t
js_int(const json_t *obj, const char *key)
{
	return (json_integer_value(json_object_get(obj, key)));
}

bool
js_bool(const json_t *obj, const char *key)
{
	return (json_is_true(json_object_get(obj, key)));
}

bool
js_has(const json_t *obj, const char *key)
{
	const json_t *val;

	val = json_object_get(obj, key);
	return (val != NULL && !json_is_null(val));
}
