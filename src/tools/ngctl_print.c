/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The commands of ngctl that show the graph: nodes, hooks, types, status.
 * Nodes come and go while it is shown; one that has gone is left out of a
 * listing of all.
 */

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>

#include "tools/ngctl.h"
#include "tools/out.h"
#include "tools/tool.h"

/* ---- Lists, checked ---- */

#define	NGCTL_END(s)	((s)[sizeof(s) - 1] = '\0')

static void
ngctl_end_node(struct nodeinfo *ni)
{

	NGCTL_END(ni->name);
	NGCTL_END(ni->type);
}

/* How many elements of size there are behind head bytes, n at most. */
static uint32_t
ngctl_count(const struct ng_mesg *m, size_t head, size_t size, uint32_t n)
{
	size_t fit = (m->header.arglen - head) / size;

	return (n < fit ? n : (uint32_t)fit);
}

/* Ask for a list whose head has that many bytes. */
static int
ngctl_asklist(struct ngctl *ng, const char *path, uint32_t cmd, size_t head,
    struct ng_mesg **rep)
{

	if (ngctl_ask(ng, path, NGM_GENERIC_COOKIE, cmd, NULL, 0, rep) == -1)
		return (-1);
	if ((*rep)->header.arglen >= head)
		return (0);
	free(*rep);
	errno = EBADMSG;
	return (-1);
}

static struct namelist *
ngctl_names(struct ngctl *ng, uint32_t cmd, struct ng_mesg **rep)
{
	struct namelist *nl;
	uint32_t i;

	if (ngctl_asklist(ng, ".", cmd, sizeof(*nl), rep) == -1)
		return (NULL);
	nl = (struct namelist *)(*rep)->data;
	nl->numnames = ngctl_count(*rep, sizeof(*nl), sizeof(nl->nodeinfo[0]),
	    nl->numnames);
	for (i = 0; i < nl->numnames; i++)
		ngctl_end_node(&nl->nodeinfo[i]);
	return (nl);
}

struct namelist *
ngctl_nodes(struct ngctl *ng, struct ng_mesg **rep)
{

	return (ngctl_names(ng, NGM_LISTNODES, rep));
}

struct hooklist *
ngctl_hooks(struct ngctl *ng, const char *path, struct ng_mesg **rep)
{
	struct hooklist *hl;
	uint32_t i;

	if (ngctl_asklist(ng, path, NGM_LISTHOOKS, sizeof(*hl), rep) == -1)
		return (NULL);
	hl = (struct hooklist *)(*rep)->data;
	hl->nodeinfo.hooks = ngctl_count(*rep, sizeof(*hl),
	    sizeof(hl->link[0]), hl->nodeinfo.hooks);
	ngctl_end_node(&hl->nodeinfo);
	for (i = 0; i < hl->nodeinfo.hooks; i++) {
		NGCTL_END(hl->link[i].ourhook);
		NGCTL_END(hl->link[i].peerhook);
		ngctl_end_node(&hl->link[i].nodeinfo);
	}
	return (hl);
}

struct typelist *
ngctl_types(struct ngctl *ng, struct ng_mesg **rep)
{
	struct typelist *tl;
	uint32_t i;

	if (ngctl_asklist(ng, ".", NGM_LISTTYPES, sizeof(*tl), rep) == -1)
		return (NULL);
	tl = (struct typelist *)(*rep)->data;
	tl->numtypes = ngctl_count(*rep, sizeof(*tl), sizeof(tl->typeinfo[0]),
	    tl->numtypes);
	for (i = 0; i < tl->numtypes; i++)
		NGCTL_END(tl->typeinfo[i].type_name);
	return (tl);
}

/* ---- Nodes and their hooks ---- */

static const char *
ngctl_shown(const struct nodeinfo *ni)
{

	return (ni->name[0] != '\0' ? ni->name : "<unnamed>");
}

static void
ngctl_address(uint32_t id, char buf[NGCTL_ID])
{

	(void)snprintf(buf, NGCTL_ID, "[%x]:", id);
}

/* The members of a node; its name is null if it has none. */
static void
ngctl_json_node(struct out *o, const struct nodeinfo *ni)
{
	char addr[NGCTL_ID];

	ngctl_address(ni->id, addr);
	out_put(o, "name", ni->name[0] != '\0' ? ngctl_text(ni->name) :
	    json_null());
	out_put(o, "type", ngctl_text(ni->type));
	out_put(o, "id", json_integer(ni->id));
	out_put(o, "address", json_string(addr));
}

static void
ngctl_node(struct out *o, const struct nodeinfo *ni, uint32_t hooks)
{

	out_text(o, "  Name: %-15s Type: %-15s ID: %08x   Num hooks: %u\n",
	    ngctl_shown(ni), ni->type, ni->id, hooks);
	if (!out_json(o))
		return;
	ngctl_json_node(o, ni);
	out_put(o, "hooks", json_integer(hooks));
}

static void
ngctl_link(struct out *o, const struct linkinfo *li)
{
	char id[NGCTL_ID];

	(void)snprintf(id, sizeof(id), "%08x", li->nodeinfo.id);
	out_text(o, "  %-15s %-15s %-12s %-15s %-15s\n", li->ourhook,
	    ngctl_shown(&li->nodeinfo), li->nodeinfo.type, id, li->peerhook);
	if (!out_json(o))
		return;
	out_instance(o);
	out_put(o, "hook", ngctl_text(li->ourhook));
	out_put(o, "peerhook", ngctl_text(li->peerhook));
	out_open(o, "peer");
	ngctl_json_node(o, &li->nodeinfo);
	out_close(o);
	out_close(o);
}

static void
ngctl_hooklist(struct out *o, const struct hooklist *hl, bool nohooks)
{
	uint32_t i;

	ngctl_node(o, &hl->nodeinfo, hl->nodeinfo.hooks);
	if (nohooks)
		return;
	out_list(o, "links");
	if (hl->nodeinfo.hooks > 0) {
		out_text(o, "  %-15s %-15s %-12s %-15s %-15s\n", "Local hook",
		    "Peer name", "Peer type", "Peer ID", "Peer hook");
		out_text(o, "  %-15s %-15s %-12s %-15s %-15s\n", "----------",
		    "---------", "---------", "-------", "---------");
	}
	for (i = 0; i < hl->nodeinfo.hooks; i++)
		ngctl_link(o, &hl->link[i]);
	out_close(o);
}

static enum ngctl_result
ngctl_show_fn(struct ngctl *ng, int argc, char **argv)
{
	const struct hooklist *hl;
	struct ng_mesg *rep;
	bool nohooks = false;
	int c;

	while ((c = getopt(argc, argv, "+jn")) != -1) {
		if (c == 'n')
			nohooks = true;
		else if (c != 'j')
			return (NGCTL_USAGE);
		else if (!ngctl_json(ng))
			return (NGCTL_ERROR);
	}
	if (optind + 1 != argc)
		return (NGCTL_USAGE);
	if ((hl = ngctl_hooks(ng, argv[optind], &rep)) == NULL)
		return (ngctl_sendfail(ng));
	out_open(ng->ng_o, "node");
	ngctl_hooklist(ng->ng_o, hl, nohooks);
	out_close(ng->ng_o);
	free(rep);
	return (NGCTL_OK);
}

/* What show says, for all nodes. */
static enum ngctl_result
ngctl_list_long(struct ngctl *ng, const struct namelist *nl)
{
	const struct hooklist *hl;
	struct ng_mesg *rep;
	char addr[NGCTL_ID];
	const char *sep = "";
	uint32_t i;

	for (i = 0; i < nl->numnames; i++) {
		ngctl_address(nl->nodeinfo[i].id, addr);
		if ((hl = ngctl_hooks(ng, addr, &rep)) == NULL) {
			if (errno == ENOENT || errno == ENXIO)
				continue;
			return (ngctl_sendfail(ng));
		}
		out_text(ng->ng_o, "%s", sep);
		sep = "\n";
		out_instance(ng->ng_o);
		ngctl_hooklist(ng->ng_o, hl, false);
		out_close(ng->ng_o);
		free(rep);
	}
	return (NGCTL_OK);
}

static enum ngctl_result
ngctl_list_fn(struct ngctl *ng, int argc, char **argv)
{
	enum ngctl_result res = NGCTL_OK;
	bool named = false, lng = false;
	struct out *o;
	const struct namelist *nl;
	struct ng_mesg *rep;
	uint32_t i;
	int c;

	while ((c = getopt(argc, argv, "+jln")) != -1) {
		switch (c) {
		case 'j':
			if (!ngctl_json(ng))
				return (NGCTL_ERROR);
			break;
		case 'l':
			lng = true;
			break;
		case 'n':
			named = true;
			break;
		default:
			return (NGCTL_USAGE);
		}
	}
	if (optind != argc)
		return (NGCTL_USAGE);
	nl = ngctl_names(ng, named ? NGM_LISTNAMES : NGM_LISTNODES, &rep);
	if (nl == NULL)
		return (ngctl_sendfail(ng));
	o = ng->ng_o;
	out_text(o, "There are %u total %snodes:\n", nl->numnames,
	    named ? "named " : "");
	out_list(o, "nodes");
	if (lng)
		res = ngctl_list_long(ng, nl);
	for (i = 0; !lng && i < nl->numnames; i++) {
		out_instance(o);
		ngctl_node(o, &nl->nodeinfo[i], nl->nodeinfo[i].hooks);
		out_close(o);
	}
	out_close(o);
	free(rep);
	return (res);
}

const struct ngctl_cmd ngctl_show = {
	.nc_name = "show",
	.nc_args = "[-jn] path",
	.nc_summary = "Show the node at path and its hooks",
	.nc_descr = "The newest hook comes first.  With -n the hooks are left "
	    "out, with -j the output is JSON.",
	.nc_alias = { "inquire", "info" },
	.nc_fn = ngctl_show_fn,
};

const struct ngctl_cmd ngctl_list = {
	.nc_name = "list",
	.nc_args = "[-jln]",
	.nc_summary = "Show all nodes",
	.nc_descr = "With -n only those that have a name, with -l the hooks "
	    "as well, with -j as JSON.",
	.nc_alias = { "ls" },
	.nc_fn = ngctl_list_fn,
};

/* ---- Types ---- */

static enum ngctl_result
ngctl_types_fn(struct ngctl *ng, int argc, char **argv)
{
	const struct typelist *tl;
	struct out *o;
	struct ng_mesg *rep;
	uint32_t i;
	int c;

	while ((c = getopt(argc, argv, "+j")) != -1) {
		if (c != 'j')
			return (NGCTL_USAGE);
		if (!ngctl_json(ng))
			return (NGCTL_ERROR);
	}
	if (optind != argc)
		return (NGCTL_USAGE);
	if ((tl = ngctl_types(ng, &rep)) == NULL)
		return (ngctl_sendfail(ng));
	o = ng->ng_o;
	out_text(o, "There are %u total types:\n", tl->numtypes);
	if (tl->numtypes > 0) {
		out_text(o, "%15s   Number of living nodes\n", "Type name");
		out_text(o, "%15s   ----------------------\n", "---------");
	}
	out_list(o, "types");
	for (i = 0; i < tl->numtypes; i++) {
		out_text(o, "%15s   %5u\n", tl->typeinfo[i].type_name,
		    tl->typeinfo[i].numnodes);
		if (!out_json(o))
			continue;
		out_instance(o);
		out_put(o, "name", ngctl_text(tl->typeinfo[i].type_name));
		out_put(o, "nodes", json_integer(tl->typeinfo[i].numnodes));
		out_close(o);
	}
	out_close(o);
	free(rep);
	return (NGCTL_OK);
}

const struct ngctl_cmd ngctl_typescmd = {
	.nc_name = "types",
	.nc_args = "[-j]",
	.nc_summary = "Show the types of nodes that the machine knows",
	.nc_descr = "More of them are there once they are asked for, or "
	    "loaded by kldload.",
	.nc_fn = ngctl_types_fn,
};

/* ---- Status ---- */

static enum ngctl_result
ngctl_status_fn(struct ngctl *ng, int argc, char **argv)
{
	struct ngctl_mesg *nm = NULL;
	struct out *o = ng->ng_o;
	const char *text;
	int token;

	if (argc != 2)
		return (NGCTL_USAGE);
	token = NgSendMsg(ng->ng_cs, argv[1], NGM_GENERIC_COOKIE,
	    NGM_TEXT_STATUS, NULL, 0);
	if (token < 0 && errno != EINVAL)
		return (ngctl_sendfail(ng));
	if (token >= 0)
		nm = ngctl_next(ng, token);
	text = ngctl_mesg_text(nm);
	out_open(o, "status");
	out_put(o, "path", ngctl_text(argv[1]));
	if (text != NULL) {
		out_text(o, "Status for \"%s\":\n%s\n", argv[1], text);
		out_put(o, "text", ngctl_text(text));
	} else
		out_text(o, "No status available for \"%s\"\n", argv[1]);
	out_close(o);
	ngctl_mesg_free(nm);
	return (NGCTL_OK);
}

const struct ngctl_cmd ngctl_status = {
	.nc_name = "status",
	.nc_args = "path",
	.nc_summary = "Show what the node at path says of itself",
	.nc_descr = "Only some types have a text for it.",
	.nc_fn = ngctl_status_fn,
};
