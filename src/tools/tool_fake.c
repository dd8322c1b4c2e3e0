/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* The machine that the tools' tests speak to.  One thread, static state. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/ctl.h"
#include "sys/rundir.h"
#include "tools/tool.h"
#include "tools/tool_fake.h"
#include "tools/words.h"

#define	FAKE_COMMANDS(X)						\
	X(machine_info, "machine.info")					\
	X(if_list, "if.list") X(if_create, "if.create")			\
	X(if_destroy, "if.destroy") X(if_set, "if.set")			\
	X(if_addr_add, "if.addr.add") X(if_addr_del, "if.addr.del")	\
	X(if_cloners, "if.cloners")					\
	X(route_add, "route.add") X(route_change, "route.change")	\
	X(route_del, "route.del") X(route_get, "route.get")		\
	X(route_list, "route.list") X(route_flush, "route.flush")	\
	X(arp_list, "arp.list") X(arp_set, "arp.set")			\
	X(arp_del, "arp.del")						\
	X(sysctl_list, "sysctl.list") X(sysctl_set, "sysctl.set")	\
	X(intr_list, "intr.list") X(stats_get, "stats.get")		\
	X(stats_zero, "stats.zero") X(drops_list, "drops.list")		\
	X(graph_sockets, "graph.sockets")				\
	X(kld_list, "kld.list") X(kld_load, "kld.load")			\
	X(kld_unload, "kld.unload")

enum fake_cmd {
#define	X(id, name)	FAKE_##id,
	FAKE_COMMANDS(X)
#undef X
	FAKE_COUNT
};

static struct {
	const char	*fa_name;
	const char	*fa_reply;	/* JSON, or NULL */
	const char	*fa_then;	/* JSON after that, or NULL */
	int		 fa_error;
	const char	*fa_field;
	const char	*fa_text;
} fake_cmds[FAKE_COUNT] = {
#define	X(id, name)	[FAKE_##id] = { .fa_name = name },
	FAKE_COMMANDS(X)
#undef X
};

static FILE *fake_calls;		/* NULL: nobody asks for them */
static struct ctl_server *fake_server;
static char fake_name[RUNDIR_NAMESIZ];
static int fake_lock = -1;

static int
fake_handle(enum fake_cmd cmd, struct ctl_req *cr)
{
	json_t *reply;
	char *args;

	args = json_dumps(cr->cr_args, JSON_SORT_KEYS | JSON_COMPACT);
	if (fake_calls != NULL)
		(void)fprintf(fake_calls, "%s %s\n", fake_cmds[cmd].fa_name,
		    args != NULL ? args : "{}");
	free(args);
	if (fake_cmds[cmd].fa_error != 0)
		return (ctl_fail(cr, fake_cmds[cmd].fa_error,
		    fake_cmds[cmd].fa_field, "%s", fake_cmds[cmd].fa_text));
	if (fake_cmds[cmd].fa_reply == NULL)
		return (0);
	reply = json_loads(fake_cmds[cmd].fa_reply, 0, NULL);
	if (reply == NULL)
		abort();		/* the test's own JSON is wrong */
	(void)json_object_update(cr->cr_result, reply);
	json_decref(reply);
	if (fake_cmds[cmd].fa_then != NULL)
		fake_cmds[cmd].fa_reply = fake_cmds[cmd].fa_then;
	return (0);
}

#define	X(id, name)							\
static int								\
fake_##id(struct ctl_req *cr, void *arg)				\
{									\
	return (fake_handle(FAKE_##id, cr));				\
}
FAKE_COMMANDS(X)
#undef X

static const struct ctl_command fake_table[] = {
#define	X(id, name)	{ name, fake_##id },
	FAKE_COMMANDS(X)
#undef X
};

void
fake_reset(void)
{
	int i;

	for (i = 0; i < FAKE_COUNT; i++) {
		fake_cmds[i].fa_reply = NULL;
		fake_cmds[i].fa_then = NULL;
		fake_cmds[i].fa_error = 0;
	}
}

static int
fake_find(const char *cmd)
{
	int i;

	for (i = 0; i < FAKE_COUNT; i++)
		if (strcmp(fake_cmds[i].fa_name, cmd) == 0)
			return (i);
	abort();
}

void
fake_reply(const char *cmd, const char *text)
{
	int i = fake_find(cmd);

	fake_cmds[i].fa_reply = text;
	fake_cmds[i].fa_error = 0;
}

void
fake_then(const char *cmd, const char *text)
{
	fake_cmds[fake_find(cmd)].fa_then = text;
}

void
fake_fail(const char *cmd, int error, const char *field, const char *text)
{
	int i = fake_find(cmd);

	fake_cmds[i].fa_error = error;
	fake_cmds[i].fa_field = field;
	fake_cmds[i].fa_text = text;
}

/* The streams of a run. */
struct fake_io {
	FILE	*fi_out;
	FILE	*fi_err;
};

static struct fake_run *
fake_begin(struct fake_io *fi)
{
	static struct fake_run fr;

	memset(&fr, 0, sizeof(fr));
	fi->fi_out = fmemopen(fr.fr_out, sizeof(fr.fr_out), "w");
	fi->fi_err = fmemopen(fr.fr_err, sizeof(fr.fr_err), "w");
	fake_calls = fmemopen(fr.fr_calls, sizeof(fr.fr_calls), "w");
	if (fi->fi_out == NULL || fi->fi_err == NULL || fake_calls == NULL)
		abort();
	return (&fr);
}

static void
fake_end(struct fake_io *fi)
{
	(void)fclose(fi->fi_out);
	(void)fclose(fi->fi_err);
	(void)fclose(fake_calls);
	fake_calls = NULL;
}

static struct ctl_client *
fake_connect(void)
{
	struct ctl_client *cl;

	if ((cl = ctl_connect_local(fake_table, FAKE_COUNT, NULL)) == NULL)
		abort();
	return (cl);
}

/* cl NULL: the tool connects, to machine. */
static const struct fake_run *
fake_tool(struct ctl_client *cl, const char *machine, const char *line)
{
	char buf[1024], *argv[WORDS_MAX + 1];
	struct fake_run *fr;
	struct fake_io fi;
	const char *why;
	int argc;

	(void)snprintf(buf, sizeof(buf), "%s", line);
	if ((argc = words_split(buf, argv, &why)) <= 0)
		abort();
	fr = fake_begin(&fi);
	fr->fr_status = tool_run_to(cl, machine, fi.fi_out, fi.fi_err, argc,
	    argv);
	fake_end(&fi);
	return (fr);
}

const struct fake_run *
fake_run(const char *line)
{
	const struct fake_run *fr;
	struct ctl_client *cl;

	cl = fake_connect();
	fr = fake_tool(cl, NULL, line);
	ctl_close(cl);
	return (fr);
}

const struct fake_run *
fake_run_on(const char *machine, const char *line)
{
	return (fake_tool(NULL, machine, line));
}

const struct fake_run *
fake_batch(const char *name, const char *text)
{
	struct ctl_client *cl;
	struct fake_run *fr;
	struct fake_io fi;
	FILE *in;

	if ((in = fmemopen((void *)(uintptr_t)text, strlen(text),
	    "r")) == NULL)
		abort();
	cl = fake_connect();
	fr = fake_begin(&fi);
	fr->fr_status = tool_batch(cl, in, name, fi.fi_out, fi.fi_err);
	fake_end(&fi);
	ctl_close(cl);
	(void)fclose(in);
	return (fr);
}

void
fake_serve(const char *name)
{
	char err[256], path[256];
	int error;

	(void)snprintf(fake_name, sizeof(fake_name), "%s", name);
	fake_lock = ctl_machine_lock(name, &error, err, sizeof(err));
	if (fake_lock == -1 || ctl_socket_path(name, path,
	    sizeof(path)) != 0 || ctl_server_start(path, fake_table,
	    FAKE_COUNT, NULL, &fake_server, err, sizeof(err)) != 0) {
		(void)fprintf(stderr, "%s\n", err);
		abort();
	}
}

void
fake_stop(void)
{
	ctl_server_stop(fake_server);
	ctl_machine_unlock(fake_name, fake_lock);
}
