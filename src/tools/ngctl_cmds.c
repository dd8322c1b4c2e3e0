/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The commands of ngctl that change the graph or send into it.  Each is one
 * message to the addressed node, or two where the node turns text into its
 * binary form first.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/ngctl.h"
#include "tools/out.h"
#include "tools/tool.h"

/* A name into a field of size bytes, cut silently as FreeBSD's is. */
#define	NGCTL_FIELD(field, word) \
	((void)snprintf((field), sizeof(field), "%s", (word)))

/* Send a generic message that has no reply. */
static enum ngctl_result
ngctl_tell(struct ngctl *ng, const char *path, int cmd, const void *arg,
    size_t len)
{

	if (NgSendMsg(ng->ng_cs, path, NGM_GENERIC_COOKIE, cmd, arg, len) < 0)
		return (ngctl_sendfail(ng));
	return (NGCTL_OK);
}

/* ---- Edges ---- */

static enum ngctl_result
ngctl_connect_fn(struct ngctl *ng, int argc, char **argv)
{
	const char *path = ".";
	struct ngm_connect con;

	if (argc == 5)
		path = *++argv;
	else if (argc != 4)
		return (NGCTL_USAGE);
	memset(&con, 0, sizeof(con));
	NGCTL_FIELD(con.path, argv[1]);
	NGCTL_FIELD(con.ourhook, argv[2]);
	NGCTL_FIELD(con.peerhook, argv[3]);
	return (ngctl_tell(ng, path, NGM_CONNECT, &con, sizeof(con)));
}

static enum ngctl_result
ngctl_rmhook_fn(struct ngctl *ng, int argc, char **argv)
{
	const char *path = ".";
	struct ngm_rmhook rmh;

	if (argc == 3)
		path = *++argv;
	else if (argc != 2)
		return (NGCTL_USAGE);
	memset(&rmh, 0, sizeof(rmh));
	NGCTL_FIELD(rmh.ourhook, argv[1]);
	return (ngctl_tell(ng, path, NGM_RMHOOK, &rmh, sizeof(rmh)));
}

const struct ngctl_cmd ngctl_connect = {
	.nc_name = "connect",
	.nc_args = "[path] relpath hook peerhook",
	.nc_summary = "Join hook of the node at path to peerhook of another",
	.nc_descr = "The other node is the one at relpath, as seen from the "
	    "node at path.  Without path it is ngctl's own node that is "
	    "joined.",
	.nc_alias = { "join" },
	.nc_fn = ngctl_connect_fn,
};

const struct ngctl_cmd ngctl_rmhook = {
	.nc_name = "rmhook",
	.nc_args = "[path] hook",
	.nc_summary = "Take a hook and its peer away",
	.nc_descr = "The hook is one of the node at path, or of ngctl's own.  "
	    "Most nodes end when they lose their last hook.",
	.nc_alias = { "disconnect" },
	.nc_fn = ngctl_rmhook_fn,
};

/* ---- Nodes ---- */

/* mkpeer whose node has a name from the start: all of it or nothing. */
static enum ngctl_result
ngctl_mkpeer_named(struct ngctl *ng, const char *path,
    const struct ngm_mkpeer *mkp, const char *name)
{
	struct ngm_mkpeer_named mkn;

	if (*name == '\0' || strlen(name) >= sizeof(mkn.name)) {
		errno = EINVAL;
		return (ngctl_sendfail(ng));
	}
	memset(&mkn, 0, sizeof(mkn));
	mkn.mkpeer = *mkp;
	NGCTL_FIELD(mkn.name, name);
	return (ngctl_tell(ng, path, NGM_MKPEER, &mkn, sizeof(mkn)));
}

static enum ngctl_result
ngctl_mkpeer_fn(struct ngctl *ng, int argc, char **argv)
{
	const char *path = ".", *name = NULL;
	struct ngm_mkpeer mkp;

	if (argc > 1 && strcmp(argv[1], "-N") == 0) {
		if (argc < 3)
			return (NGCTL_USAGE);
		name = argv[2];
		argc -= 2;
		argv += 2;
	}
	if (argc == 5)
		path = *++argv;
	else if (argc != 4)
		return (NGCTL_USAGE);
	memset(&mkp, 0, sizeof(mkp));
	NGCTL_FIELD(mkp.type, argv[1]);
	NGCTL_FIELD(mkp.ourhook, argv[2]);
	NGCTL_FIELD(mkp.peerhook, argv[3]);
	if (name != NULL)
		return (ngctl_mkpeer_named(ng, path, &mkp, name));
	return (ngctl_tell(ng, path, NGM_MKPEER, &mkp, sizeof(mkp)));
}

static enum ngctl_result
ngctl_name_fn(struct ngctl *ng, int argc, char **argv)
{
	struct ngm_name name;

	if (argc != 3)
		return (NGCTL_USAGE);
	memset(&name, 0, sizeof(name));
	NGCTL_FIELD(name.name, argv[2]);
	return (ngctl_tell(ng, argv[1], NGM_NAME, &name, sizeof(name)));
}

static enum ngctl_result
ngctl_shutdown_fn(struct ngctl *ng, int argc, char **argv)
{

	if (argc != 2)
		return (NGCTL_USAGE);
	if (NgSendMsg(ng->ng_cs, argv[1], NGM_GENERIC_COOKIE, NGM_SHUTDOWN,
	    NULL, 0) < 0)
		return (ngctl_fail(ng, "shutdown: %s", strerror(errno)));
	return (NGCTL_OK);
}

const struct ngctl_cmd ngctl_mkpeer = {
	.nc_name = "mkpeer",
	.nc_args = "[-N name] [path] type hook peerhook",
	.nc_summary = "Make a node of that type, joined to the node at path",
	.nc_descr = "hook is the existing node's, peerhook the new one's.  "
	    "Without path the new node hangs on ngctl's own.  With -N it has "
	    "that name from the start; if the name is taken, nothing is made.",
	.nc_fn = ngctl_mkpeer_fn,
};

const struct ngctl_cmd ngctl_name = {
	.nc_name = "name",
	.nc_args = "path name",
	.nc_summary = "Name the node at path",
	.nc_descr = "A name has at most 31 bytes and neither a dot nor a "
	    "colon.",
	.nc_fn = ngctl_name_fn,
};

const struct ngctl_cmd ngctl_shutdown = {
	.nc_name = "shutdown",
	.nc_args = "path",
	.nc_summary = "Shut down the node at path",
	.nc_descr = "Its hooks go with it.  Nodes of interfaces are reset "
	    "and stay.",
	.nc_alias = { "kill", "rmnode" },
	.nc_fn = ngctl_shutdown_fn,
};

/* ---- Messages ---- */

/* Words with one blank between them, or NULL: no memory. */
static char *
ngctl_join(int argc, char **argv)
{
	size_t len = 1;
	char *text, *p;
	int i;

	for (i = 0; i < argc; i++)
		len += strlen(argv[i]) + 1;
	if ((text = malloc(len)) == NULL)
		return (NULL);
	for (p = text, i = 0; i < argc; i++)
		p = stpcpy(stpcpy(p, i > 0 ? " " : ""), argv[i]);
	*p = '\0';
	return (text);
}

static enum ngctl_result
ngctl_msg_send(struct ngctl *ng, const char *path, const char *cmd,
    const char *args)
{
	const struct ng_mesg *bin;
	struct ngctl_mesg *nm;
	struct ng_mesg *rep;
	int token;

	if (ngctl_binary(ng, path, cmd, args, &rep) == -1)
		return (ngctl_sendfail(ng));
	bin = ngctl_inner(rep);
	token = NgSendMsg(ng->ng_cs, path, (int)bin->header.typecookie,
	    (int)bin->header.cmd, bin->data, bin->header.arglen);
	free(rep);
	if (token < 0)
		return (ngctl_sendfail(ng));
	/* An answer is there by now, or there is none. */
	if ((nm = ngctl_next(ng, token)) == NULL)
		return (errno == 0 ? NGCTL_OK : ngctl_fail(ng,
		    "receive msg: %s", strerror(errno)));
	ngctl_mesg_print(ng, nm);
	ngctl_mesg_free(nm);
	return (NGCTL_OK);
}

static enum ngctl_result
ngctl_msg_fn(struct ngctl *ng, int argc, char **argv)
{
	enum ngctl_result res;
	char *text;

	if (argc > 1 && strcmp(argv[1], "-j") == 0) {
		if (!ngctl_json(ng))
			return (NGCTL_ERROR);
		argc--;
		argv++;
	}
	if (argc < 3)
		return (NGCTL_USAGE);
	if ((text = ngctl_join(argc - 3, argv + 3)) == NULL)
		return (ngctl_sendfail(ng));
	res = ngctl_msg_send(ng, argv[1], argv[2], text);
	free(text);
	return (res);
}

const struct ngctl_cmd ngctl_msg = {
	.nc_name = "msg",
	.nc_args = "[-j] path command [args ...]",
	.nc_summary = "Send a message of the node's own to the node at path",
	.nc_descr = "The words are joined by blanks and the node turns them "
	    "into the message.  What it answers is printed, with -j as JSON.",
	.nc_alias = { "cmd" },
	.nc_fn = ngctl_msg_fn,
};

/* Text to a node, which may answer with text. */
static enum ngctl_result
ngctl_config_fn(struct ngctl *ng, int argc, char **argv)
{
	struct ngctl_mesg *nm = NULL;
	struct out *o = ng->ng_o;
	const char *answer;
	char *text = NULL;
	int token;

	if (argc < 2)
		return (NGCTL_USAGE);
	if (argc > 2 && (text = ngctl_join(argc - 2, argv + 2)) == NULL)
		return (ngctl_sendfail(ng));
	token = NgSendMsg(ng->ng_cs, argv[1], NGM_GENERIC_COOKIE,
	    NGM_TEXT_CONFIG, text, text != NULL ? strlen(text) + 1 : 0);
	free(text);
	if (token < 0 && errno != EINVAL)
		return (ngctl_sendfail(ng));
	if (token >= 0)
		nm = ngctl_next(ng, token);
	out_open(o, "config");
	out_put(o, "path", ngctl_text(argv[1]));
	if ((answer = ngctl_mesg_text(nm)) != NULL) {
		out_text(o, "Config for \"%s\":\n%s\n", argv[1], answer);
		out_put(o, "text", ngctl_text(answer));
	} else
		out_text(o, "No config available for \"%s\"\n", argv[1]);
	out_close(o);
	ngctl_mesg_free(nm);
	return (NGCTL_OK);
}

const struct ngctl_cmd ngctl_config = {
	.nc_name = "config",
	.nc_args = "path [arguments ...]",
	.nc_summary = "Get or set the configuration of the node at path",
	.nc_descr = "For types whose configuration is plain text.  Without "
	    "arguments it is shown.",
	.nc_fn = ngctl_config_fn,
};

/* ---- Data ---- */

static enum ngctl_result
ngctl_write_bytes(struct ngctl *ng, int argc, char **argv,
    unsigned char buf[NGCTL_DATA], size_t *len)
{
	long long val;
	int i;

	if (argc > NGCTL_DATA)
		return (ngctl_fail(ng, "more than %d bytes", NGCTL_DATA));
	for (i = 0; i < argc; i++) {
		if (!tool_number(argv[i], -128, 255, &val))
			return (ngctl_fail(ng, "invalid byte \"%s\"",
			    argv[i]));
		buf[i] = (unsigned char)val;
	}
	*len = (size_t)argc;
	return (NGCTL_OK);
}

static enum ngctl_result
ngctl_write_file(struct ngctl *ng, const char *name,
    unsigned char buf[NGCTL_DATA], size_t *len)
{
	enum ngctl_result res = NGCTL_OK;
	FILE *f;

	if ((f = fopen(name, "re")) == NULL)
		return (ngctl_fail(ng, "%s: %s", name, strerror(errno)));
	*len = fread(buf, 1, NGCTL_DATA, f);
	if (ferror(f) != 0)
		res = ngctl_fail(ng, "%s: %s", name, strerror(errno));
	else if (*len == NGCTL_DATA && fgetc(f) != EOF)
		res = ngctl_fail(ng, "%s: more than %d bytes", name,
		    NGCTL_DATA);
	(void)fclose(f);
	return (res);
}

static enum ngctl_result
ngctl_write_fn(struct ngctl *ng, int argc, char **argv)
{
	unsigned char buf[NGCTL_DATA];
	enum ngctl_result res;
	size_t len = 0;

	if (argc < 3)
		return (NGCTL_USAGE);
	if (strcmp(argv[2], "-f") != 0)
		res = ngctl_write_bytes(ng, argc - 2, argv + 2, buf, &len);
	else if (argc == 4)
		res = ngctl_write_file(ng, argv[3], buf, &len);
	else
		return (NGCTL_USAGE);
	if (res == NGCTL_OK && NgSendData(ng->ng_ds, argv[1], buf, len) < 0)
		res = ngctl_fail(ng, "writing to hook \"%s\": %s", argv[1],
		    strerror(errno));
	return (res);
}

const struct ngctl_cmd ngctl_write = {
	.nc_name = "write",
	.nc_args = "hook -f file | hook byte ...",
	.nc_summary = "Send a packet out of a hook of ngctl's own node",
	.nc_descr = "Its bytes are numbers, -128 to 255, or those of a file; "
	    "8192 of them at most.",
	.nc_alias = { "w" },
	.nc_fn = ngctl_write_fn,
};

/* ---- ngctl itself ---- */

static enum ngctl_result
ngctl_debug_fn(struct ngctl *ng, int argc, char **argv)
{
	int level = NgSetDebug(-1);
	long long val;

	if (argc > 2)
		return (NGCTL_USAGE);
	if (argc == 1) {
		out_int(ng->ng_o, "debug", level,
		    "Current debug level is %d\n", level);
		return (NGCTL_OK);
	}
	if (strcmp(argv[1], "+") == 0)
		val = level + 1;
	else if (strcmp(argv[1], "-") == 0)
		val = level > 0 ? level - 1 : 0;
	else if (!tool_number(argv[1], 0, INT32_MAX, &val))
		return (NGCTL_USAGE);
	(void)NgSetDebug((int)val);
	return (NGCTL_OK);
}

const struct ngctl_cmd ngctl_debug = {
	.nc_name = "debug",
	.nc_args = "[level]",
	.nc_summary = "Show or set how much is said about messages",
	.nc_descr = "0 nothing, 1 errors, 2 every message, 3 with its "
	    "contents; + and - change it by one.",
	.nc_fn = ngctl_debug_fn,
};
