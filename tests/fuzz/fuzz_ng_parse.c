/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Fuzzing the text language of netgraph's messages.  The first byte of an input
 * says what the rest is:
 *
 *	t	a letter for the type, then text of it
 *	c	a command and its arguments, as one writes them for ngctl
 *	m	a message to make text of, as it comes from a socket
 *	other	a letter for the type, then binary of it
 *
 * Checked besides what the sanitizers see (all buffers have their exact size):
 * what was parsed can be printed, what was printed can be parsed, and that is
 * then the same binary.  Only the length of the text or of the binary is an
 * excuse.
 */

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <netgraph/ng_message.h>
#include <netgraph/ng_parse.h>

#include "sys/defs.h"

int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- Types ---- */

/*
 * All kinds of type, and unsigned 64 bits left out: those above the signed ones
 * are printed, but not read.
 */
static const struct ng_parse_struct_field scalar_fields[] = {
	{ "i8", &ng_parse_int8_type, 0 },
	{ "u8", &ng_parse_uint8_type, 0 },
	{ "h8", &ng_parse_hint8_type, 0 },
	{ "i16", &ng_parse_int16_type, 0 },
	{ "u16", &ng_parse_uint16_type, 8 },
	{ "h16", &ng_parse_hint16_type, 0 },
	{ "i32", &ng_parse_int32_type, 0 },
	{ "u32", &ng_parse_uint32_type, 0 },
	{ "h32", &ng_parse_hint32_type, 0 },
	{ "i64", &ng_parse_int64_type, 0 },
	{ "ip", &ng_parse_ipaddr_type, 0 },
	{ "s", &ng_parse_string_type, 0 },
	{ "hook", &ng_parse_hookbuf_type, 0 },
	{ "sized", &ng_parse_sizedstring_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type scalars_type = {
	.supertype = &ng_parse_struct_type, .info = scalar_fields,
};

static int
count_in_front(const struct ng_parse_type *type, const unsigned char *start,
    const unsigned char *buf)
{
	uint32_t n;

	memcpy(&n, buf - sizeof(n), sizeof(n));
	return (n > INT_MAX ? -1 : (int)n);
}

static const struct ng_parse_struct_field host_fields[] = {
	{ "addr", &ng_parse_enaddr_type, 0 },
	{ "hook", &ng_parse_hookbuf_type, 0 },
	{ "age", &ng_parse_uint16_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type host_type = {
	.supertype = &ng_parse_struct_type, .info = host_fields,
};
static const struct ng_parse_array_info hosts_info = {
	.elementType = &host_type, .getLength = count_in_front,
};
static const struct ng_parse_type hosts_type = {
	.supertype = &ng_parse_array_type, .info = &hosts_info,
};
static const struct ng_parse_type bytes_type = {
	.supertype = &ng_parse_bytearray_type,
	.info = (const void *)count_in_front,
};
static const struct ng_parse_fixedarray_info strings_info = {
	.elementType = &ng_parse_string_type, .length = 3,
};
static const struct ng_parse_type strings_type = {
	.supertype = &ng_parse_fixedarray_type, .info = &strings_info,
};
static const struct ng_parse_fixedarray_info scalars_info = {
	.elementType = &scalars_type, .length = 2,
};
static const struct ng_parse_type scalars_array_type = {
	.supertype = &ng_parse_fixedarray_type, .info = &scalars_info,
};
static const struct ng_parse_struct_field nested_fields[] = {
	{ "strings", &strings_type, 0 },
	{ "n", &ng_parse_uint32_type, 0 },
	{ "hosts", &hosts_type, 0 },
	{ "nbytes", &ng_parse_uint32_type, 0 },
	{ "bytes", &bytes_type, 0 },
	{ "scalars", &scalars_array_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type nested_type = {
	.supertype = &ng_parse_struct_type, .info = nested_fields,
};

static const struct ng_parse_struct_field option_fields[] = {
	{ "level", &ng_parse_int32_type, 0 },
	{ "value", &ng_parse_bytearray_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type option_type = {
	.supertype = &ng_parse_struct_type, .info = option_fields,
};

static const struct ng_parse_type *const types[] = {
	&nested_type, &scalars_type, &option_type, &strings_type,
	&ng_parse_ng_mesg_type, &ng_parse_hooklist_type,
	&ng_parse_namelist_type, &ng_parse_connect_type,
};

static const struct ng_cmdlist cmds[] = {
	{ 99, 1, "set", &nested_type, &scalars_type },
	{ 99, 2, "setopt", &option_type, NULL },
	{ 0, 0, NULL, NULL, NULL },
};

/* ---- Inputs ---- */

static void *
copy(const void *data, size_t size, size_t room)
{
	char *p;

	p = calloc(1, room + 1);
	if (p == NULL)
		ne_panic(__FILE__, __LINE__, "no memory");
	memcpy(p, data, size);
	return (p);
}

/* Print what is canonical, parse it: the same. */
static void
check_same(const struct ng_parse_type *type, const unsigned char *bin,
    size_t len)
{
	static unsigned char again[NG_PARSE_BUFSIZ];
	static char text[NG_PARSE_BUFSIZ];
	size_t n = sizeof(again), off = 0;
	int error;

	error = ng_unparse(type, bin, len, text, sizeof(text));
	if (error == ERANGE)
		return;
	if (error != 0)
		ne_panic(__FILE__, __LINE__, "parsed, not printed: %d", error);
	error = ng_parse(type, text, &off, again, &n);
	if (error != 0 || n != len || memcmp(bin, again, len) != 0)
		ne_panic(__FILE__, __LINE__, "%d, not the same: %s", error,
		    text);
}

static void
text_input(const struct ng_parse_type *type, const uint8_t *data, size_t size)
{
	size_t len = NG_PARSE_BUFSIZ, off = 0, small;
	unsigned char *bin, *cut;
	char *text;
	int error;

	text = copy(data, size, size);
	bin = malloc(len);
	error = ng_parse(type, text, &off, bin, &len);
	if (error == 0) {
		check_same(type, bin, len);
		/* One byte less, and nothing behind it is written. */
		small = len > 0 ? len - 1 : 0;
		cut = malloc(small);
		off = 0;
		if (len > 0 && ng_parse(type, text, &off, cut, &small) !=
		    ERANGE)
			ne_panic(__FILE__, __LINE__, "it fits in less");
		free(cut);
	}
	free(bin);
	free(text);
}

static void
binary_input(const struct ng_parse_type *type, const uint8_t *data,
    size_t size)
{
	static unsigned char bin[NG_PARSE_BUFSIZ];
	static char text[NG_PARSE_BUFSIZ];
	size_t len = sizeof(bin), off = 0;
	unsigned char *exact;
	int error;

	exact = malloc(size);
	if (size > 0)
		memcpy(exact, data, size);
	error = ng_unparse(type, exact, size, text, sizeof(text));
	free(exact);
	if (error != 0)
		return;
	error = ng_parse(type, text, &off, bin, &len);
	if (error == 0)
		check_same(type, bin, len);
	else if (error != ERANGE)
		ne_panic(__FILE__, __LINE__, "printed, not parsed: %s", text);
}

static void
message_input(const uint8_t *data, size_t size)
{
	struct ng_mesg *in, *out;

	in = malloc(size);
	if (size > 0)
		memcpy(in, data, size);
	if (ng_msg_binary2ascii(cmds, in, size, &out) == 0)
		free(out);
	if (ng_msg_ascii2binary(cmds, in, size, &out) == 0)
		free(out);
	free(in);
}

static void
command_input(const uint8_t *data, size_t size)
{
	struct ng_mesg *back, *in, *out;
	size_t name, len;
	int error;

	for (name = 0; name < size && data[name] != ' '; name++)
		continue;
	in = calloc(1, sizeof(*in) + size + 1);
	if (in == NULL)
		ne_panic(__FILE__, __LINE__, "no memory");
	memcpy(in->header.cmdstr, data, name < NG_CMDSTRSIZ ? name :
	    NG_CMDSTRSIZ);
	memcpy(in->data, data + name, size - name);
	in->header.arglen = (uint32_t)(size - name) + 1;
	len = sizeof(*in) + in->header.arglen;
	if (ng_msg_ascii2binary(cmds, in, len, &out) == 0) {
		len = sizeof(*out) + out->header.arglen;
		error = ng_msg_binary2ascii(cmds, out, len, &back);
		if (error == 0)
			free(back);
		else if (error != ERANGE)
			ne_panic(__FILE__, __LINE__, "no way back: %d", error);
		free(out);
	}
	free(in);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ng_parse_type *type;

	if (size < 2)
		return (0);
	type = types[data[1] % nitems(types)];
	if (data[0] == 't')
		text_input(type, data + 2, size - 2);
	else if (data[0] == 'c')
		command_input(data + 1, size - 1);
	else if (data[0] == 'm')
		message_input(data + 1, size - 1);
	else
		binary_input(type, data + 2, size - 2);
	return (0);
}
