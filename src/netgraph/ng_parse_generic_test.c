/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* Whole messages to text and back, and the generic commands. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <netgraph/ng_message.h>

#include "netgraph/ng_parse_testlib.h"

static const struct ng_parse_struct_field pair_fields[] = {
	{ "a", &ng_parse_int8_type, 0 },
	{ "b", &ng_parse_int32_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type pair_type = {
	.supertype = &ng_parse_struct_type, .info = pair_fields,
};

static const struct ng_cmdlist cmds[] = {
	{ 99, 1, "set", &pair_type, NULL },
	{ 99, 2 | NGM_HASREPLY, "get", NULL, &ng_parse_namelist_type },
	{ 99, 3, "mkpeer", &ng_parse_int8_type, NULL },
	{ 99, 4, "big", &ng_parse_bytearray_type, NULL },
	{ 0, 0, NULL, NULL, NULL },
};

static struct ng_mesg *
mesg(uint32_t cookie, uint32_t cmd, uint32_t flags, const char *cmdstr,
    const void *data, size_t len)
{
	struct ng_mesg *msg;

	msg = calloc(1, sizeof(*msg) + len);
	assert_non_null(msg);
	msg->header.version = NG_VERSION;
	msg->header.typecookie = cookie;
	msg->header.cmd = cmd;
	msg->header.flags = flags;
	msg->header.token = 77;
	msg->header.arglen = (uint32_t)len;
	memcpy(msg->header.cmdstr, cmdstr, strnlen(cmdstr, NG_CMDSTRSIZ));
	memcpy(msg->data, data, len);
	return (msg);
}

static void
a2b(const char *cmd, uint32_t flags, const char *args, uint32_t cookie,
    uint32_t number, const void *bytes, size_t len)
{
	struct ng_mesg *in, *out;

	in = mesg(5, 6, flags, cmd, args, strlen(args) + 1);
	assert_int_equal(ng_msg_ascii2binary(cmds, in,
	    sizeof(*in) + in->header.arglen, &out), 0);
	assert_int_equal(out->header.version, NG_VERSION);
	assert_int_equal(out->header.typecookie, cookie);
	assert_int_equal(out->header.cmd, number);
	assert_int_equal(out->header.flags, flags);
	assert_int_equal(out->header.token, 77);
	assert_int_equal(out->header.arglen, len);
	assert_string_equal(out->header.cmdstr, cmd);
	assert_memory_equal(out->data, bytes, len);
	free(in);
	free(out);
}

static int
a2b_error(const char *cmd, const char *args, size_t arglen, size_t inlen)
{
	struct ng_mesg *in, *out = NULL;
	int error;

	in = mesg(5, 6, 0, cmd, args, strlen(args) + 1);
	in->header.arglen = (uint32_t)arglen;
	error = ng_msg_ascii2binary(cmds, in, inlen, &out);
	assert_null(out);
	free(in);
	return (error);
}

static void
test_ascii2binary(void **state)
{
	const struct { int8_t a; int32_t b; } p = { .a = 1, .b = 0 };
	struct ngm_rmhook rm = { "left" };
	char b[12] = { 0 };

	memcpy(b, &p.a, 1);
	a2b("set", 0, "{ a=1 }", 99, 1, b, 8);
	a2b("get", 0, "anything", 99, 2 | NGM_HASREPLY, "", 0);
	a2b("get", NGF_RESP, "{}", 99, 2 | NGM_HASREPLY, "\0\0\0", 4);
	a2b("set", NGF_RESP, "{ a=1 }", 99, 1, "", 0);
	/* The type's own goes before the generic one. */
	a2b("mkpeer", 0, "5", 99, 3, "\5", 1);
	a2b("rmhook", 0, "{ hook=\"left\" }", NGM_GENERIC_COOKIE, NGM_RMHOOK,
	    &rm, sizeof(rm));
	a2b("textconfig", 0, "\"x\"", NGM_GENERIC_COOKIE, NGM_TEXT_CONFIG,
	    "x", 2);

	assert_int_equal(a2b_error("Set", "{}", 3, 59), ENOSYS);
	assert_int_equal(a2b_error("0123456789012345678901234567890123",
	    "{}", 3, 59), ENOSYS);
	assert_int_equal(a2b_error("set", "{}", 0, 59), EINVAL);
	assert_int_equal(a2b_error("set", "{}", 4, 59), EINVAL);
	assert_int_equal(a2b_error("set", "{}", UINT32_MAX, 59), EINVAL);
	assert_int_equal(a2b_error("set", "{}", 3, 55), EINVAL);
	assert_int_equal(a2b_error("set", "{ c=1 }", 8, 64), ENOENT);
	/* The last byte is the end, whatever it is. */
	assert_int_equal(a2b_error("set", "{}", 2, 59), EINVAL);
	assert_int_equal(a2b_error("big", "[20480=1]", 10, 66), ERANGE);
}

static void
b2a(const struct ng_cmdlist *list, uint32_t cookie, uint32_t cmd,
    uint32_t flags, const void *data, size_t len, const char *name,
    const char *args)
{
	struct ng_mesg *in, *out;

	in = mesg(cookie, cmd, flags, "whatever it says", data, len);
	assert_int_equal(ng_msg_binary2ascii(list, in, sizeof(*in) + len,
	    &out), 0);
	assert_int_equal(out->header.arglen, strlen(args) + 1);
	assert_string_equal(out->data, args);
	assert_string_equal(out->header.cmdstr, name);
	assert_int_equal(out->header.token, 77);
	assert_int_equal(out->header.flags, flags);
	assert_int_equal(out->header.cmd, cmd);
	assert_int_equal(out->header.typecookie, cookie);
	free(in);
	free(out);
}

static int
b2a_error(uint32_t cookie, uint32_t cmd, size_t arglen, size_t inlen)
{
	static unsigned char data[NG_PARSE_BUFSIZ];
	struct ng_mesg *in, *out = NULL;
	int error;

	memset(data, 0xff, sizeof(data));
	in = mesg(cookie, cmd, 0, "x", data, inlen);
	in->header.arglen = (uint32_t)arglen;
	error = ng_msg_binary2ascii(cmds, in, inlen, &out);
	assert_null(out);
	free(in);
	return (error);
}

static void
test_binary2ascii(void **state)
{
	struct nodeinfo ni = { .name = "em0", .type = "ether", .id = 5,
	    .hooks = 2 };

	b2a(cmds, 99, 1, 0, "\1\0\0\0\2\0\0", 8, "set", "{ a=1 b=2 }");
	b2a(cmds, 99, 1, NGF_RESP, "\1\0\0\0\2\0\0", 8, "set", "");
	b2a(cmds, 99, 2 | NGM_HASREPLY, 0, "", 0, "get", "");
	b2a(cmds, NGM_GENERIC_COOKIE, NGM_NODEINFO, NGF_RESP, &ni,
	    sizeof(ni), "nodeinfo",
	    "{ name=\"em0\" type=\"ether\" id=0x5 hooks=2 }");
	ni.hooks = 0;
	b2a(NULL, NGM_GENERIC_COOKIE, NGM_NODEINFO, NGF_RESP, &ni,
	    sizeof(ni), "nodeinfo",
	    "{ name=\"em0\" type=\"ether\" id=0x5 }");
	b2a(NULL, NGM_GENERIC_COOKIE, NGM_TEXT_STATUS, NGF_RESP, "up\n", 4,
	    "textstatus", "\"up\\n\"");

	assert_int_equal(b2a_error(98, 1, 8, 64), ENOSYS);
	assert_int_equal(b2a_error(99, 2, 8, 64), ENOSYS);
	assert_int_equal(b2a_error(99, 1, 9, 64), EINVAL);
	assert_int_equal(b2a_error(99, 1, 0, 55), EINVAL);
	assert_int_equal(b2a_error(99, 1, 4, 64), EINVAL);
	assert_int_equal(b2a_error(99, 4, 20000, 20056), ERANGE);
}

static void
test_generic_replies(void **state)
{
	struct {
		struct nodeinfo ni;
		struct linkinfo li[2];
	} hl;
	struct {
		uint32_t n;
		struct nodeinfo ni[2];
	} nl;
	struct {
		uint32_t n;
		struct typeinfo ti[2];
	} tl;

	memset(&hl, 0, sizeof(hl));
	hl.ni.id = 1;
	hl.ni.hooks = 1;
	strcpy(hl.li[0].ourhook, "l");
	strcpy(hl.li[0].peerhook, "r");
	hl.li[0].nodeinfo.id = 0x1f;
	b2a(NULL, NGM_GENERIC_COOKIE, NGM_LISTHOOKS, NGF_RESP, &hl,
	    sizeof(hl), "listhooks", "{ nodeinfo={ id=0x1 hooks=1 } "
	    "linkinfo=[ { ourhook=\"l\" peerhook=\"r\" "
	    "nodeinfo={ id=0x1f } } ] }");
	memset(&nl, 0, sizeof(nl));
	nl.n = 1;
	nl.ni[0].id = 2;
	b2a(NULL, NGM_GENERIC_COOKIE, NGM_LISTNODES, NGF_RESP, &nl,
	    sizeof(nl), "listnodes", "{ numnames=1 nodeinfo=[ { id=0x2 } ] }");
	memset(&tl, 0, sizeof(tl));
	tl.n = 2;
	strcpy(tl.ti[0].type_name, "hub");
	strcpy(tl.ti[1].type_name, "tee");
	tl.ti[1].numnodes = 3;
	both(&ng_parse_typelist_type, "{ numtypes=2 typeinfo=[ "
	    "{ typename=\"hub\" } { typename=\"tee\" numnodes=3 } ] }", &tl,
	    sizeof(tl));
}

static void
test_generic_arguments(void **state)
{
	struct ngm_mkpeer mkp = { "hub", "a", "b" };
	struct ngm_connect con = { "x:y", "a", "b" };
	struct ngm_name name = { "n n" };
	unsigned char padded[60] = { 0 };
	struct ng_mesg *m;

	both(&ng_parse_mkpeer_type,
	    "{ type=\"hub\" ourhook=\"a\" peerhook=\"b\" }", &mkp, 96);
	both(&ng_parse_connect_type,
	    "{ path=\"x:y\" ourhook=\"a\" peerhook=\"b\" }", &con, 576);
	both(&ng_parse_name_type, "{ name=\"n n\" }", &name, 32);
	m = mesg(99, 1, NGF_RESP, "set", "\1", 1);
	memcpy(padded, m, 57);
	reads(&ng_parse_ng_mesg_type, "{ version=8 arglen=1 cmd=1 flags=1 "
	    "token=77 typecookie=99 cmdstr=\"set\" data=[ 1 ] }",
	    padded, sizeof(padded));
	prints(&ng_parse_ng_mesg_type, m, 57, "{ version=8 arglen=1 cmd=1 "
	    "flags=0x1 token=77 typecookie=99 cmdstr=\"set\" "
	    "data=[ 0x1 ] }");
	cuts(&ng_parse_ng_mesg_type, m, 57);
	free(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ascii2binary),
		cmocka_unit_test(test_binary2ascii),
		cmocka_unit_test(test_generic_replies),
		cmocka_unit_test(test_generic_arguments),
	};

	return (cmocka_run_group_tests_name("ng_parse_generic", tests, NULL,
	    NULL));
}
