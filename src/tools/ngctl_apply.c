/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * ngctl apply: a whole graph from a file, or none of it.
 *
 * What there is is read first, and every message is turned into its binary
 * form by a node of its type, so that what cannot work is known before the
 * first change.  A type of which there is no node yet can only be asked once
 * one has been made: its messages are turned after the new nodes are there and
 * before anything else happens.  Then the steps are taken in order; if one
 * fails, those before it are taken back in reverse.  Signals that would end
 * the program wait until that is done.
 *
 * A setting is sent where the node's answer to the getter is not, byte for
 * byte, what would be sent; and only if that answer could be sent itself,
 * because otherwise it could not be taken back.
 */

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tools/ngctl.h"
#include "tools/ngplan.h"
#include "tools/out.h"
#include "tools/tool.h"

#define	NGP_ADDR	(NG_NODESIZ + 1)	/* "name:" */

struct apply {
	struct ngctl	*ap_ng;
	struct ngplan	 ap_plan;
	struct namelist	*ap_nodes;	/* in ap_rep */
	struct ng_mesg	*ap_rep;
	bool		 ap_dry;	/* -n */
};

static void
apply_addr(const char *name, char buf[NGP_ADDR])
{

	(void)snprintf(buf, NGP_ADDR, "%s:", name);
}

/* ---- What there is ---- */

static bool
apply_look_node(struct apply *ap, const struct nodeinfo *ni)
{
	struct ngplan *np = &ap->ap_plan;
	const struct linkinfo *li;
	const struct hooklist *hl;
	struct ng_mesg *rep;
	struct ngp_node *nn;
	char addr[NGCTL_ID];
	bool ok = true;
	uint32_t i;

	if (ni->name[0] == '\0' || (nn = ngplan_find(np, ni->name)) == NULL)
		return (true);
	if (!ngplan_found(np, nn, ni->type))
		return (false);
	(void)snprintf(addr, sizeof(addr), "[%x]:", ni->id);
	if ((hl = ngctl_hooks(ap->ap_ng, addr, &rep)) == NULL)
		return (ngplan_fail(np, 0, "node %s: %s", ni->name,
		    strerror(errno)));
	for (i = 0; ok && i < hl->nodeinfo.hooks; i++) {
		li = &hl->link[i];
		(void)snprintf(addr, sizeof(addr), "[%x]", li->nodeinfo.id);
		ok = ngplan_link(np, nn, li->ourhook,
		    li->nodeinfo.name[0] != '\0' ? li->nodeinfo.name : addr,
		    li->peerhook);
	}
	free(rep);
	return (ok);
}

static bool
apply_look(struct apply *ap)
{
	uint32_t i;

	ap->ap_nodes = ngctl_nodes(ap->ap_ng, &ap->ap_rep);
	if (ap->ap_nodes == NULL)
		return (ngplan_fail(&ap->ap_plan, 0, "%s", strerror(errno)));
	for (i = 0; i < ap->ap_nodes->numnames; i++)
		if (!apply_look_node(ap, &ap->ap_nodes->nodeinfo[i]))
			return (false);
	return (true);
}

/* ---- Messages ---- */

/* Who can turn text into messages for nn; false: nobody can now. */
static bool
apply_who(struct apply *ap, const struct ngp_node *nn, char addr[NGP_ADDR])
{
	const struct namelist *nl = ap->ap_nodes;
	uint32_t i;

	apply_addr(nn->nn_name, addr);
	if (nn->nn_there)
		return (true);
	for (i = 0; nn->nn_type[0] != '\0' && i < nl->numnames; i++) {
		if (strcmp(nl->nodeinfo[i].type, nn->nn_type) != 0)
			continue;
		(void)snprintf(addr, NGP_ADDR, "[%x]:", nl->nodeinfo[i].id);
		return (true);
	}
	return (false);
}

static bool
apply_convert(struct apply *ap, struct ngp_item *ni, const char *addr)
{

	if (ni->ni_bin != NULL ||
	    ngctl_binary(ap->ap_ng, addr, ni->ni_cmd, ni->ni_args,
	    &ni->ni_bin) == 0)
		return (true);
	return (ngplan_fail(&ap->ap_plan, ni->ni_line, "%s: %s %s: %s",
	    ni->ni_node[0]->nn_name, ni->ni_cmd, ni->ni_args,
	    strerror(errno)));
}

/* What the node answers to the item's getter, or NULL and errno. */
static struct ng_mesg *
apply_get(struct apply *ap, const struct ngp_item *ni, const char *addr)
{
	struct ngctl *ng = ap->ap_ng;
	const struct ng_mesg *bin;
	struct ng_mesg *rep, *get;

	if (ngctl_binary(ng, addr, ni->ni_get, ni->ni_getargs, &get) == -1)
		return (NULL);
	bin = ngctl_inner(get);
	if (ngctl_ask(ng, addr, bin->header.typecookie, bin->header.cmd,
	    bin->data, bin->header.arglen, &rep) == -1)
		rep = NULL;
	free(get);
	return (rep);
}

static bool
apply_same(const struct ng_mesg *one, const struct ng_mesg *two)
{

	return (one->header.arglen == two->header.arglen &&
	    memcmp(one->data, two->data, one->header.arglen) == 0);
}

/* The answer to the getter as text that the setter takes; NULL and errno. */
static char *
apply_old_text(struct apply *ap, const struct ngp_item *ni, const char *addr)
{
	const struct ng_mesg *old = ni->ni_old, *in;
	struct ng_mesg *rep, *again;
	char *text = NULL;

	if (ngctl_ask(ap->ap_ng, addr, NGM_GENERIC_COOKIE, NGM_BINARY2ASCII,
	    old, sizeof(*old) + old->header.arglen, &rep) == -1)
		return (NULL);
	errno = EBADMSG;
	if ((in = ngctl_inner(rep)) != NULL && in->header.arglen > 0 &&
	    memchr(in->data, '\0', in->header.arglen) != NULL)
		text = strdup(in->data);
	free(rep);
	if (text == NULL)
		return (NULL);
	if (ngctl_binary(ap->ap_ng, addr, ni->ni_cmd, text, &again) == -1) {
		free(text);
		return (NULL);
	}
	if (!apply_same(ngctl_inner(again), old)) {
		free(text);
		text = NULL;
		errno = EBADMSG;
	}
	free(again);
	return (text);
}

/* A setting of a node that is there: does it differ, can it come back? */
static bool
apply_compare(struct apply *ap, struct ngp_item *ni, const char *addr)
{
	const char *name = ni->ni_node[0]->nn_name;

	if ((ni->ni_old = apply_get(ap, ni, addr)) == NULL)
		return (ngplan_fail(&ap->ap_plan, ni->ni_line, "%s: %s: %s",
		    name, ni->ni_get, strerror(errno)));
	ni->ni_same = apply_same(ngctl_inner(ni->ni_bin), ni->ni_old);
	if (ni->ni_same)
		return (true);
	if ((ni->ni_oldtext = apply_old_text(ap, ni, addr)) == NULL)
		return (ngplan_fail(&ap->ap_plan, ni->ni_line, "%s: what %s "
		    "answers is nothing for %s, so that could not be undone",
		    name, ni->ni_get, ni->ni_cmd));
	return (true);
}

/* All messages whose types can be asked. */
static bool
apply_messages(struct apply *ap)
{
	struct ngp_item *ni;
	char addr[NGP_ADDR];

	for (ni = ap->ap_plan.np_items; ni != NULL; ni = ni->ni_next) {
		if (ni->ni_kind != NGP_MSG && ni->ni_kind != NGP_SET)
			continue;
		if (!apply_who(ap, ni->ni_node[0], addr))
			continue;
		if (!apply_convert(ap, ni, addr))
			return (false);
		if (ni->ni_kind == NGP_SET && ni->ni_node[0]->nn_there &&
		    !apply_compare(ap, ni, addr))
			return (false);
	}
	return (true);
}

/* The others, when the new nodes are there. */
static bool
apply_messages_new(struct apply *ap)
{
	struct ngp_item *ni;
	char addr[NGP_ADDR];

	for (ni = ap->ap_plan.np_items; ni != NULL; ni = ni->ni_next) {
		if (ni->ni_kind != NGP_MSG && ni->ni_kind != NGP_SET)
			continue;
		apply_addr(ni->ni_node[0]->nn_name, addr);
		if (!apply_convert(ap, ni, addr))
			return (false);
	}
	return (true);
}

/* A setting that was sent and does not read back is sent every time. */
static void
apply_check(struct apply *ap)
{
	struct ngp_item *ni;
	struct ng_mesg *now;
	char addr[NGP_ADDR];

	for (ni = ap->ap_plan.np_items; ni != NULL; ni = ni->ni_next) {
		if (ni->ni_kind != NGP_SET || ni->ni_same)
			continue;
		apply_addr(ni->ni_node[0]->nn_name, addr);
		now = apply_get(ap, ni, addr);
		if (now == NULL || !apply_same(ngctl_inner(ni->ni_bin), now))
			tool_warn(ap->ap_ng->ng_tc, "apply: %s: %s does not "
			    "answer what was set, so it will be set every "
			    "time", ni->ni_node[0]->nn_name, ni->ni_get);
		free(now);
	}
}

/* ---- Steps and back ---- */

/* 0, or -1 and errno, for all of these. */
static int
apply_generic(struct apply *ap, const char *path, int cmd, const void *arg,
    size_t len)
{

	return (NgSendMsg(ap->ap_ng->ng_cs, path, NGM_GENERIC_COOKIE, cmd,
	    arg, len) < 0 ? -1 : 0);
}

/* A node that has a name and no hooks: it stays until it has lost one. */
static int
apply_mknode(struct apply *ap, const struct ngp_node *nn)
{
	struct ngm_mkpeer_named mkn;

	memset(&mkn, 0, sizeof(mkn));
	memcpy(mkn.mkpeer.type, nn->nn_type, sizeof(mkn.mkpeer.type));
	memcpy(mkn.name, nn->nn_name, sizeof(mkn.name));
	return (apply_generic(ap, ".", NGM_MKPEER, &mkn, sizeof(mkn)));
}

static int
apply_connect(struct apply *ap, const struct ngp_step *ns)
{
	struct ngm_connect con;
	char addr[NGP_ADDR];

	memset(&con, 0, sizeof(con));
	(void)snprintf(con.path, sizeof(con.path), "%s:", ns->ns_peer);
	memcpy(con.ourhook, ns->ns_hook, sizeof(con.ourhook));
	memcpy(con.peerhook, ns->ns_peerhook, sizeof(con.peerhook));
	apply_addr(ns->ns_node->nn_name, addr);
	return (apply_generic(ap, addr, NGM_CONNECT, &con, sizeof(con)));
}

static int
apply_rmhook(struct apply *ap, const struct ngp_step *ns)
{
	struct ngm_rmhook rmh;
	char addr[NGP_ADDR];

	memset(&rmh, 0, sizeof(rmh));
	memcpy(rmh.ourhook, ns->ns_hook, sizeof(rmh.ourhook));
	apply_addr(ns->ns_node->nn_name, addr);
	return (apply_generic(ap, addr, NGM_RMHOOK, &rmh, sizeof(rmh)));
}

static int
apply_rmnode(struct apply *ap, const struct ngp_node *nn)
{
	char addr[NGP_ADDR];

	apply_addr(nn->nn_name, addr);
	return (apply_generic(ap, addr, NGM_SHUTDOWN, NULL, 0));
}

/* The item's command, with the argument that m has; an answer is dropped. */
static int
apply_send(struct apply *ap, const struct ngp_item *ni,
    const struct ng_mesg *m)
{
	const struct ng_mesg *bin = ngctl_inner(ni->ni_bin);
	char addr[NGP_ADDR];
	int token;

	apply_addr(ni->ni_node[0]->nn_name, addr);
	token = NgSendMsg(ap->ap_ng->ng_cs, addr, (int)bin->header.typecookie,
	    (int)bin->header.cmd, m->data, m->header.arglen);
	if (token < 0)
		return (-1);
	ngctl_mesg_free(ngctl_next(ap->ap_ng, token));
	return (0);
}

static int
apply_do(struct apply *ap, const struct ngp_step *ns)
{

	switch (ns->ns_do) {
	case NGP_MKNODE:
		return (apply_mknode(ap, ns->ns_node));
	case NGP_RMHOOK:
		return (apply_rmhook(ap, ns));
	case NGP_CONNECT:
		return (apply_connect(ap, ns));
	case NGP_SEND:
		return (apply_send(ap, ns->ns_item,
		    ngctl_inner(ns->ns_item->ni_bin)));
	case NGP_RMNODE:
		break;
	}
	return (apply_rmnode(ap, ns->ns_node));
}

static int
apply_undo(struct apply *ap, const struct ngp_step *ns)
{

	switch (ns->ns_do) {
	case NGP_MKNODE:
		return (apply_rmnode(ap, ns->ns_node));
	case NGP_RMHOOK:
		return (apply_connect(ap, ns));
	case NGP_CONNECT:
		return (apply_rmhook(ap, ns));
	case NGP_SEND:
		/* A node made here goes, and its settings with it. */
		return (ns->ns_item->ni_old == NULL ? 0 :
		    apply_send(ap, ns->ns_item, ns->ns_item->ni_old));
	case NGP_RMNODE:
		break;
	}
	errno = ENOTSUP;
	return (-1);
}

/* Take the first n steps back. */
static void
apply_back(struct apply *ap, size_t n)
{
	struct tool_ctx *tc = ap->ap_ng->ng_tc;
	const struct ngp_step *ns;
	bool all = true;
	char *text;

	while (n-- > 0) {
		ns = &ap->ap_plan.np_step[n];
		/* What has gone with its last hook is as it is to be. */
		if (apply_undo(ap, ns) == 0 || (errno == ENOENT &&
		    (ns->ns_do == NGP_MKNODE || ns->ns_do == NGP_CONNECT)))
			continue;
		text = ngplan_step_text(ns);
		tool_warn(tc, "apply: could not be undone: %s: %s",
		    text != NULL ? text : "a step", strerror(errno));
		free(text);
		all = false;
	}
	if (all)
		tool_warn(tc, "apply: nothing has been changed");
}

static enum ngctl_result
apply_steps(struct apply *ap)
{
	struct ngplan *np = &ap->ap_plan;
	const struct ngp_step *ns;
	bool asked = false;
	char *text;
	size_t i;

	for (i = 0; i < np->np_nsteps; i++) {
		ns = &np->np_step[i];
		if (ns->ns_do != NGP_MKNODE && !asked) {
			asked = true;
			if (!apply_messages_new(ap)) {
				tool_warn(ap->ap_ng->ng_tc, "apply: %s",
				    np->np_err);
				break;
			}
		}
		/* What is to go may have gone with what went before. */
		if (apply_do(ap, ns) == 0 ||
		    (ns->ns_final && errno == ENOENT))
			continue;
		text = ngplan_step_text(ns);
		tool_warn(ap->ap_ng->ng_tc, "apply: %s: %s",
		    text != NULL ? text : "a step", strerror(errno));
		free(text);
		break;
	}
	if (i == np->np_nsteps)
		return (NGCTL_OK);
	apply_back(ap, i);
	return (NGCTL_ERROR);
}

/* The steps, with signals held back. */
static enum ngctl_result
apply_take(struct apply *ap)
{
	static const int sigs[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM,
	    SIGTSTP };
	enum ngctl_result res;
	sigset_t set, before;
	size_t i;

	(void)sigemptyset(&set);
	for (i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++)
		(void)sigaddset(&set, sigs[i]);
	(void)pthread_sigmask(SIG_BLOCK, &set, &before);
	if ((res = apply_steps(ap)) == NGCTL_OK)
		apply_check(ap);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return (res);
}

/* ---- The command ---- */

static void
apply_print(struct apply *ap)
{
	struct ngplan *np = &ap->ap_plan;
	struct out *o = ap->ap_ng->ng_o;
	char *text;
	size_t i;

	out_open(o, "apply");
	out_put(o, "applied", json_boolean(!ap->ap_dry));
	out_list(o, "changes");
	if (np->np_nsteps == 0)
		out_text(o, "nothing to change\n");
	for (i = 0; i < np->np_nsteps; i++) {
		if ((text = ngplan_step_text(&np->np_step[i])) == NULL)
			continue;
		out_text(o, "%s\n", text);
		if (out_json(o))
			out_put(o, NULL, ngctl_text(text));
		free(text);
	}
	out_close(o);
	out_close(o);
}

static enum ngctl_result
apply_file(struct apply *ap, FILE *f, const char *name)
{
	struct ngplan *np = &ap->ap_plan;
	enum ngctl_result res = NGCTL_OK;

	if (!ngplan_file(np, f) || !apply_look(ap) || !apply_messages(ap) ||
	    !ngplan_make(np))
		return (ngctl_fail(ap->ap_ng, "apply: %s: %s", name,
		    np->np_err));
	if (!ap->ap_dry && np->np_nsteps > 0)
		res = apply_take(ap);
	if (res == NGCTL_OK)
		apply_print(ap);
	return (res);
}

static enum ngctl_result
ngctl_apply_fn(struct ngctl *ng, int argc, char **argv)
{
	struct apply ap = { .ap_ng = ng };
	enum ngctl_result res;
	const char *name;
	FILE *f = stdin;
	int c;

	while ((c = getopt(argc, argv, "+jn")) != -1) {
		if (c == 'n')
			ap.ap_dry = true;
		else if (c != 'j')
			return (NGCTL_USAGE);
		else if (!ngctl_json(ng))
			return (NGCTL_ERROR);
	}
	if (optind + 1 != argc)
		return (NGCTL_USAGE);
	name = argv[optind];
	if (strcmp(name, "-") != 0 && (f = fopen(name, "re")) == NULL)
		return (ngctl_fail(ng, "%s: %s", name, strerror(errno)));
	ngplan_init(&ap.ap_plan);
	res = apply_file(&ap, f, name);
	ngplan_fini(&ap.ap_plan);
	free(ap.ap_rep);
	if (f != stdin)
		(void)fclose(f);
	return (res);
}

const struct ngctl_cmd ngctl_apply = {
	.nc_name = "apply",
	.nc_args = "[-jn] file",
	.nc_summary = "Make the graph what a file says, all of it or nothing",
	.nc_descr = "The changes are printed; with -n they are not made.  "
	    "Only nodes that the file names are touched.  Applied again it "
	    "changes nothing.",
	.nc_fn = ngctl_apply_fn,
};
