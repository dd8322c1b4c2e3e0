/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The generic messages, which the base answers for every node.
 *
 * Control work, under the configuration lock.  Arguments come from anybody:
 * each handler gets a copy of the size that it expects, with every string
 * ended at its last byte.
 *
 * Beyond FreeBSD's: NGM_MKPEER with struct ngm_mkpeer_named names the new node
 * in the same step, and may make one without hooks, so that a graph can be
 * built in any order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ifnet/vnet.h"
#include "netgraph/ng_private.h"

/* The argument, if it has just that size. */
static int
ng_arg(const struct ng_mesg *msg, void *arg, size_t len)
{

	if (msg->header.arglen != len)
		return (EINVAL);
	memcpy(arg, msg->data, len);
	return (0);
}

#define	NG_END_STRING(s)	((s)[sizeof(s) - 1] = '\0')

static int
ng_mkpeer(node_p node, const struct ng_mesg *msg)
{
	struct ngm_mkpeer_named mn;
	struct ngm_mkpeer *mp = &mn.mkpeer;
	struct netgraph *ng = node->nd_graph;
	struct ng_typereg *tr;
	node_p peer;
	bool alone;
	int error;

	memset(&mn, 0, sizeof(mn));
	error = ng_arg(msg, &mn, msg->header.arglen == sizeof(*mp) ?
	    sizeof(*mp) : sizeof(mn));
	if (error != 0)
		return (error);
	NG_END_STRING(mp->type);
	NG_END_STRING(mp->ourhook);
	NG_END_STRING(mp->peerhook);
	NG_END_STRING(mn.name);
	error = ng_type_get(ng, mp->type, true, &tr);
	if (error != 0)
		return (error);
	if ((tr->tr_type->flags & NGTF_NOMKPEER) != 0)
		return (EINVAL);
	if ((peer = ng_node_alloc(ng, tr, &error)) == NULL)
		return (error);
	ng_node_ref(peer);
	error = mn.name[0] != '\0' ? ng_name_node(peer, mn.name) : 0;
	alone = mn.name[0] != '\0' && mp->ourhook[0] == '\0' &&
	    mp->peerhook[0] == '\0';
	if (error == 0 && !alone)
		error = ng_connect_nodes(node, mp->ourhook, peer,
		    mp->peerhook);
	if (error != 0)
		ng_node_destroy(peer);
	ng_node_rele(peer);
	return (error);
}

static int
ng_connect(node_p node, const struct ng_mesg *msg)
{
	struct ngm_connect con;
	node_p peer;
	hook_p last;
	int error;

	error = ng_arg(msg, &con, sizeof(con));
	if (error != 0)
		return (error);
	NG_END_STRING(con.path);
	NG_END_STRING(con.ourhook);
	NG_END_STRING(con.peerhook);
	error = ng_path2node(node->nd_graph, node, con.path, &peer, &last);
	if (error != 0)
		return (error);
	return (ng_connect_nodes(node, con.ourhook, peer, con.peerhook));
}

static int
ng_name(node_p node, const struct ng_mesg *msg)
{
	struct ngm_name nm;
	int error;

	error = ng_arg(msg, &nm, sizeof(nm));
	if (error != 0)
		return (error);
	NG_END_STRING(nm.name);
	return (ng_name_node(node, nm.name));
}

static int
ng_rmhook(node_p node, const struct ng_mesg *msg)
{
	struct ngm_rmhook rm;
	hook_p hook;
	int error;

	error = ng_arg(msg, &rm, sizeof(rm));
	if (error != 0)
		return (error);
	NG_END_STRING(rm.ourhook);
	hook = ng_findhook(node, rm.ourhook);
	if (hook != NULL)
		ng_hook_destroy(hook);
	return (0);
}

static void
ng_nodeinfo_fill(node_p node, struct nodeinfo *ni)
{

	memcpy(ni->name, node->nd_name, sizeof(ni->name));
	strncpy(ni->type, ng_type_of(node)->name, sizeof(ni->type) - 1);
	ni->id = node->nd_id;
	ni->hooks = node->nd_numhooks;
}

static int
ng_nodeinfo(node_p node, struct ng_request *rq)
{
	struct nodeinfo ni;

	memset(&ni, 0, sizeof(ni));
	ng_nodeinfo_fill(node, &ni);
	return (ng_respond(rq, &ni, sizeof(ni)));
}

static int
ng_listhooks(node_p node, struct ng_request *rq)
{
	struct hooklist *hl;
	struct linkinfo *li;
	size_t len;
	hook_p hook, peer;
	int error;

	len = sizeof(*hl) + node->nd_numhooks * sizeof(hl->link[0]);
	if ((hl = calloc(1, len)) == NULL)
		return (ENOMEM);
	ng_nodeinfo_fill(node, &hl->nodeinfo);
	hl->nodeinfo.hooks = 0;
	CK_LIST_FOREACH(hook, &node->nd_hooks, hk_link) {
		peer = ng_hook_peer(hook);
		if (peer == NULL)
			continue;	/* being connected right now */
		li = &hl->link[hl->nodeinfo.hooks++];
		memcpy(li->ourhook, hook->hk_name, sizeof(li->ourhook));
		memcpy(li->peerhook, peer->hk_name, sizeof(li->peerhook));
		ng_nodeinfo_fill(peer->hk_node, &li->nodeinfo);
	}
	error = ng_respond(rq, hl, len);
	free(hl);
	return (error);
}

static int
ng_listnodes(node_p node, struct ng_request *rq, bool named)
{
	struct netgraph *ng = node->nd_graph;
	struct namelist *nl;
	size_t len;
	int error;

	len = sizeof(*nl) + ng->ng_nnodes * sizeof(nl->nodeinfo[0]);
	if ((nl = calloc(1, len)) == NULL)
		return (ENOMEM);
	TAILQ_FOREACH(node, &ng->ng_nodes, nd_link)
		if (ng_node_valid(node) &&
		    (!named || node->nd_name[0] != '\0'))
			ng_nodeinfo_fill(node,
			    &nl->nodeinfo[nl->numnames++]);
	error = ng_respond(rq, nl, len);
	free(nl);
	return (error);
}

static int
ng_listtypes(node_p node, struct ng_request *rq)
{
	struct netgraph *ng = node->nd_graph;
	struct typelist *tl;
	struct ng_typereg *tr;
	size_t n = 0, len;
	int error;

	CK_STAILQ_FOREACH(tr, &ng->ng_types, tr_link)
		n++;
	len = sizeof(*tl) + n * sizeof(tl->typeinfo[0]);
	if ((tl = calloc(1, len)) == NULL)
		return (ENOMEM);
	CK_STAILQ_FOREACH(tr, &ng->ng_types, tr_link) {
		struct typeinfo *ti = &tl->typeinfo[tl->numtypes++];

		strncpy(ti->type_name, tr->tr_type->name,
		    sizeof(ti->type_name) - 1);
		ti->numnodes = tr->tr_nodes;
	}
	error = ng_respond(rq, tl, len);
	free(tl);
	return (error);
}

/* The argument is a message: turn it into the other form. */
static int
ng_convert(node_p node, struct ng_request *rq,
    int (*fn)(const struct ng_cmdlist *, const struct ng_mesg *, size_t,
    struct ng_mesg **))
{
	struct ng_mesg *in, *out;
	size_t len = rq->rq_msg->header.arglen;
	int error;

	/* Aligned, and with a NUL behind it. */
	if ((in = calloc(1, sizeof(*in) + len + 1)) == NULL)
		return (ENOMEM);
	memcpy(in, rq->rq_msg->data, len);
	error = fn(ng_type_of(node)->cmdlist, in, len, &out);
	free(in);
	if (error != 0)
		return (error);
	error = ng_respond(rq, out, sizeof(*out) + out->header.arglen);
	free(out);
	return (error);
}

int
ng_generic(node_p node, struct ng_request *rq, hook_p lasthook)
{
	const struct ng_mesg *msg = rq->rq_msg;

	(void)lasthook;
	switch (msg->header.cmd) {
	case NGM_SHUTDOWN:
		ng_node_destroy(node);
		return (0);
	case NGM_MKPEER:
		return (ng_mkpeer(node, msg));
	case NGM_CONNECT:
		return (ng_connect(node, msg));
	case NGM_NAME:
		return (ng_name(node, msg));
	case NGM_RMHOOK:
		return (ng_rmhook(node, msg));
	case NGM_NODEINFO:
		return (ng_nodeinfo(node, rq));
	case NGM_LISTHOOKS:
		return (ng_listhooks(node, rq));
	case NGM_LISTNAMES:
		return (ng_listnodes(node, rq, true));
	case NGM_LISTNODES:
		return (ng_listnodes(node, rq, false));
	case NGM_LISTTYPES:
		return (ng_listtypes(node, rq));
	case NGM_BINARY2ASCII:
		return (ng_convert(node, rq, ng_msg_binary2ascii));
	case NGM_ASCII2BINARY:
		return (ng_convert(node, rq, ng_msg_ascii2binary));
	default:
		return (EINVAL);
	}
}
