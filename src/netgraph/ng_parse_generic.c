/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The commands that every node understands, in text, and the conversion of
 * messages between text and binary.
 *
 * Constant tables and pure functions, on any thread; they allocate, so outside
 * the epoch.  The messages to convert are a client's: nothing in them has been
 * checked but that inlen bytes are there.
 */

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <netgraph/ng_message.h>
#include <netgraph/ng_parse.h>

/* ---- Arguments and replies ---- */

#define	STRUCT_TYPE(name, ...)						\
static const struct ng_parse_struct_field name##_fields[] = {		\
	__VA_ARGS__,							\
	{ NULL, NULL, 0 },						\
};									\
const struct ng_parse_type ng_parse_##name##_type = {			\
	.supertype = &ng_parse_struct_type,				\
	.info = name##_fields,						\
}

/* A count from a message, -1 if no array is so long. */
static int
count_at(const unsigned char *p)
{
	uint32_t n;

	memcpy(&n, p, sizeof(n));
	return (n <= INT_MAX ? (int)n : -1);
}

STRUCT_TYPE(mkpeer,
    { "type", &ng_parse_typebuf_type, 0 },
    { "ourhook", &ng_parse_hookbuf_type, 0 },
    { "peerhook", &ng_parse_hookbuf_type, 0 });

STRUCT_TYPE(connect,
    { "path", &ng_parse_pathbuf_type, 0 },
    { "ourhook", &ng_parse_hookbuf_type, 0 },
    { "peerhook", &ng_parse_hookbuf_type, 0 });

STRUCT_TYPE(name,
    { "name", &ng_parse_nodebuf_type, 0 });

STRUCT_TYPE(rmhook,
    { "hook", &ng_parse_hookbuf_type, 0 });

STRUCT_TYPE(nodeinfo,
    { "name", &ng_parse_nodebuf_type, 0 },
    { "type", &ng_parse_typebuf_type, 0 },
    { "id", &ng_parse_hint32_type, 0 },
    { "hooks", &ng_parse_uint32_type, 0 });

static const struct ng_parse_struct_field linkinfo_fields[] = {
	{ "ourhook", &ng_parse_hookbuf_type, 0 },
	{ "peerhook", &ng_parse_hookbuf_type, 0 },
	{ "nodeinfo", &ng_parse_nodeinfo_type, 0 },
	{ NULL, NULL, 0 },
};

static const struct ng_parse_type linkinfo_type = {
	.supertype = &ng_parse_struct_type,
	.info = linkinfo_fields,
};

static int
links_length(const struct ng_parse_type *type, const unsigned char *start,
    const unsigned char *buf)
{
	return (count_at(buf - sizeof(struct hooklist) +
	    offsetof(struct hooklist, nodeinfo.hooks)));
}

static const struct ng_parse_array_info links_info = {
	.elementType = &linkinfo_type,
	.getLength = links_length,
};

static const struct ng_parse_type links_type = {
	.supertype = &ng_parse_array_type,
	.info = &links_info,
};

STRUCT_TYPE(hooklist,
    { "nodeinfo", &ng_parse_nodeinfo_type, 0 },
    { "linkinfo", &links_type, 0 });

/* The count of a list of names or of types is right in front of it. */
static int
list_length(const struct ng_parse_type *type, const unsigned char *start,
    const unsigned char *buf)
{
	return (count_at(buf - sizeof(uint32_t)));
}

static const struct ng_parse_array_info names_info = {
	.elementType = &ng_parse_nodeinfo_type,
	.getLength = list_length,
};

static const struct ng_parse_type names_type = {
	.supertype = &ng_parse_array_type,
	.info = &names_info,
};

STRUCT_TYPE(namelist,
    { "numnames", &ng_parse_uint32_type, 0 },
    { "nodeinfo", &names_type, 0 });

static const struct ng_parse_struct_field typeinfo_fields[] = {
	{ "typename", &ng_parse_typebuf_type, 0 },
	{ "numnodes", &ng_parse_uint32_type, 0 },
	{ NULL, NULL, 0 },
};

static const struct ng_parse_type typeinfo_type = {
	.supertype = &ng_parse_struct_type,
	.info = typeinfo_fields,
};

static const struct ng_parse_array_info types_info = {
	.elementType = &typeinfo_type,
	.getLength = list_length,
};

static const struct ng_parse_type types_type = {
	.supertype = &ng_parse_array_type,
	.info = &types_info,
};

STRUCT_TYPE(typelist,
    { "numtypes", &ng_parse_uint32_type, 0 },
    { "typeinfo", &types_type, 0 });

static int
data_length(const struct ng_parse_type *type, const unsigned char *start,
    const unsigned char *buf)
{
	return (count_at(buf - sizeof(struct ng_msghdr) +
	    offsetof(struct ng_msghdr, arglen)));
}

static const struct ng_parse_type data_type = {
	.supertype = &ng_parse_bytearray_type,
	.info = (const void *)data_length,
};

STRUCT_TYPE(ng_mesg,
    { "version", &ng_parse_uint8_type, 0 },
    { "spare", &ng_parse_uint8_type, 0 },
    { "spare2", &ng_parse_uint16_type, 0 },
    { "arglen", &ng_parse_uint32_type, 0 },
    { "cmd", &ng_parse_uint32_type, 0 },
    { "flags", &ng_parse_hint32_type, 0 },
    { "token", &ng_parse_uint32_type, 0 },
    { "typecookie", &ng_parse_uint32_type, 0 },
    { "cmdstr", &ng_parse_cmdbuf_type, 0 },
    { "data", &data_type, 0 });

/* ---- Commands ---- */

const struct ng_cmdlist ng_generic_cmds[] = {
	{ NGM_GENERIC_COOKIE, NGM_SHUTDOWN, "shutdown", NULL, NULL },
	{ NGM_GENERIC_COOKIE, NGM_MKPEER, "mkpeer", &ng_parse_mkpeer_type,
	    NULL },
	{ NGM_GENERIC_COOKIE, NGM_CONNECT, "connect", &ng_parse_connect_type,
	    NULL },
	{ NGM_GENERIC_COOKIE, NGM_NAME, "name", &ng_parse_name_type, NULL },
	{ NGM_GENERIC_COOKIE, NGM_RMHOOK, "rmhook", &ng_parse_rmhook_type,
	    NULL },
	{ NGM_GENERIC_COOKIE, NGM_NODEINFO, "nodeinfo", NULL,
	    &ng_parse_nodeinfo_type },
	{ NGM_GENERIC_COOKIE, NGM_LISTHOOKS, "listhooks", NULL,
	    &ng_parse_hooklist_type },
	{ NGM_GENERIC_COOKIE, NGM_LISTNAMES, "listnames", NULL,
	    &ng_parse_namelist_type },
	{ NGM_GENERIC_COOKIE, NGM_LISTNODES, "listnodes", NULL,
	    &ng_parse_namelist_type },
	{ NGM_GENERIC_COOKIE, NGM_LISTTYPES, "listtypes", NULL,
	    &ng_parse_typelist_type },
	{ NGM_GENERIC_COOKIE, NGM_TEXT_STATUS, "textstatus", NULL,
	    &ng_parse_string_type },
	{ NGM_GENERIC_COOKIE, NGM_BINARY2ASCII, "binary2ascii",
	    &ng_parse_ng_mesg_type, &ng_parse_ng_mesg_type },
	{ NGM_GENERIC_COOKIE, NGM_ASCII2BINARY, "ascii2binary",
	    &ng_parse_ng_mesg_type, &ng_parse_ng_mesg_type },
	{ NGM_GENERIC_COOKIE, NGM_TEXT_CONFIG, "textconfig",
	    &ng_parse_string_type, &ng_parse_string_type },
	{ 0, 0, NULL, NULL, NULL },
};

static const struct ng_cmdlist *
find_name(const struct ng_cmdlist *c, const char *name)
{
	for (; c->name != NULL; c++)
		if (strcmp(c->name, name) == 0)
			return (c);
	return (NULL);
}

static const struct ng_cmdlist *
find_number(const struct ng_cmdlist *c, uint32_t cookie, uint32_t cmd)
{
	for (; c->name != NULL; c++)
		if (c->cookie == cookie && c->cmd == cmd)
			return (c);
	return (NULL);
}

const struct ng_cmdlist *
ng_cmd_by_name(const struct ng_cmdlist *typelist, const char *name)
{
	const struct ng_cmdlist *c = NULL;

	if (typelist != NULL)
		c = find_name(typelist, name);
	return (c != NULL ? c : find_name(ng_generic_cmds, name));
}

const struct ng_cmdlist *
ng_cmd_by_number(const struct ng_cmdlist *typelist, uint32_t cookie,
    uint32_t cmd)
{
	const struct ng_cmdlist *c = NULL;

	if (typelist != NULL)
		c = find_number(typelist, cookie, cmd);
	return (c != NULL ? c : find_number(ng_generic_cmds, cookie, cmd));
}

/* ---- Messages ---- */

/* The type of a message's data, NULL if it has none. */
static const struct ng_parse_type *
data_type_of(const struct ng_cmdlist *c, const struct ng_msghdr *hdr)
{
	return ((hdr->flags & NGF_RESP) != 0 ? c->respType : c->mesgType);
}

/*
 * Copy the header of in, and check that its data is there.  A message within a
 * message is aligned to nothing.
 */
static int
header_get(const struct ng_mesg *in, size_t inlen, struct ng_msghdr *hdr)
{
	if (inlen < sizeof(*hdr))
		return (EINVAL);
	memcpy(hdr, in, sizeof(*hdr));
	return (hdr->arglen <= inlen - sizeof(*hdr) ? 0 : EINVAL);
}

static const unsigned char *
data_of(const struct ng_mesg *in)
{
	return ((const unsigned char *)in + sizeof(struct ng_msghdr));
}

/* A message that hdr begins, with room for any conversion, all zero. */
static struct ng_mesg *
mesg_alloc(const struct ng_msghdr *hdr)
{
	struct ng_mesg *msg;

	msg = calloc(1, sizeof(*msg) + NG_PARSE_BUFSIZ);
	if (msg != NULL) {
		msg->header = *hdr;
		msg->header.arglen = 0;
	}
	return (msg);
}

/* Give the room back that is not needed; that cannot fail for long. */
static struct ng_mesg *
mesg_trim(struct ng_mesg *msg)
{
	struct ng_mesg *small;

	small = realloc(msg, sizeof(*msg) + msg->header.arglen);
	return (small != NULL ? small : msg);
}

/* The text, which its sender may have left without a NUL. */
static int
text_convert(const struct ng_parse_type *type, const unsigned char *data,
    size_t len, struct ng_mesg *msg)
{
	size_t off = 0, size = NG_PARSE_BUFSIZ;
	char *text;
	int error;

	text = malloc(len);
	if (text == NULL)
		return (ENOMEM);
	memcpy(text, data, len);
	text[len - 1] = '\0';
	error = ng_parse(type, text, &off, (unsigned char *)msg->data, &size);
	free(text);
	if (error == 0)
		msg->header.arglen = (uint32_t)size;
	return (error);
}

int
ng_msg_ascii2binary(const struct ng_cmdlist *typelist,
    const struct ng_mesg *in, size_t inlen, struct ng_mesg **out)
{
	char name[NG_CMDSTRSIZ + 1] = "";
	const struct ng_parse_type *type;
	const struct ng_cmdlist *c;
	struct ng_msghdr hdr;
	struct ng_mesg *msg;
	int error;

	error = header_get(in, inlen, &hdr);
	if (error == 0 && hdr.arglen < 1)
		error = EINVAL;
	if (error != 0)
		return (error);
	memcpy(name, hdr.cmdstr, sizeof(hdr.cmdstr));
	c = ng_cmd_by_name(typelist, name);
	if (c == NULL)
		return (ENOSYS);
	msg = mesg_alloc(&hdr);
	if (msg == NULL)
		return (ENOMEM);
	msg->header.typecookie = c->cookie;
	msg->header.cmd = c->cmd;
	type = data_type_of(c, &hdr);
	if (type != NULL)
		error = text_convert(type, data_of(in), hdr.arglen, msg);
	if (error != 0) {
		free(msg);
		return (error);
	}
	*out = mesg_trim(msg);
	return (0);
}

int
ng_msg_binary2ascii(const struct ng_cmdlist *typelist,
    const struct ng_mesg *in, size_t inlen, struct ng_mesg **out)
{
	const struct ng_parse_type *type;
	const struct ng_cmdlist *c;
	struct ng_msghdr hdr;
	struct ng_mesg *msg;
	int error;

	error = header_get(in, inlen, &hdr);
	if (error != 0)
		return (error);
	c = ng_cmd_by_number(typelist, hdr.typecookie, hdr.cmd);
	if (c == NULL)
		return (ENOSYS);
	msg = mesg_alloc(&hdr);
	if (msg == NULL)
		return (ENOMEM);
	memset(msg->header.cmdstr, 0, sizeof(msg->header.cmdstr));
	memcpy(msg->header.cmdstr, c->name,
	    strnlen(c->name, sizeof(msg->header.cmdstr) - 1));
	type = data_type_of(c, &hdr);
	if (type != NULL)
		error = ng_unparse(type, data_of(in), hdr.arglen, msg->data,
		    NG_PARSE_BUFSIZ);
	if (error != 0) {
		free(msg);
		return (error);
	}
	msg->header.arglen = (uint32_t)strlen(msg->data) + 1;
	*out = mesg_trim(msg);
	return (0);
}
