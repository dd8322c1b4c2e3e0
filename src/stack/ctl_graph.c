/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The graph.* commands: what the graph's own messages do not tell.  No state;
 * the graph is walked under the configuration lock.
 */

#include <errno.h>

#include "ifnet/vnet.h"
#include "netgraph/ng_sockserv.h"
#include "netgraph/ng_var.h"
#include "stack/ctl_cmds.h"
#include "stack/machine.h"

struct graph_sockets {
	json_t		*gs_sockets;
	int		 gs_error;
};

static void
graph_socket_cb(const struct ng_sock_stat *ss, void *arg)
{
	struct graph_sockets *gs = arg;

	if (gs->gs_error == 0)
		gs->gs_error = cmd_append(gs->gs_sockets,
		    json_pack("{sI so si sb sI sI}",
		    "id", (json_int_t)ss->ss_id,
		    "name", ctl_text(ss->ss_name),
		    "hooks", (int)ss->ss_hooks,
		    "data", (int)ss->ss_data,
		    "recvq", (json_int_t)ss->ss_recvq,
		    "sendq", (json_int_t)ss->ss_sendq));
}

int
cmd_graph_sockets(struct ctl_req *cr, void *arg)
{
	const struct machine *ma = arg;
	struct graph_sockets gs = { 0 };
	int error;

	if ((error = ctl_args_done(cr)) != 0)
		return (error);
	gs.gs_sockets = cmd_array(cr, "sockets");
	if (gs.gs_sockets == NULL)
		return (ENOMEM);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	ng_sock_walk(ma->ma_vnet, graph_socket_cb, &gs);
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	return (gs.gs_error != 0 ? cmd_nomem(cr) : 0);
}

struct graph_walk {
	json_t		*gw_nodes;
	int		 gw_error;
};

static void
graph_node(const struct ng_node_stat *ns, void *arg)
{
	struct graph_walk *gw = arg;

	if (gw->gw_error == 0)
		gw->gw_error = cmd_append(gw->gw_nodes,
		    json_pack("{sI so ss si sI}",
		    "id", (json_int_t)ns->ns_id,
		    "name", ctl_text(ns->ns_name),
		    "type", ns->ns_type,
		    "hooks", (int)ns->ns_hooks,
		    "packets", (json_int_t)ns->ns_packets));
}

int
cmd_graph_list(struct ctl_req *cr, void *arg)
{
	const struct machine *ma = arg;
	struct graph_walk gw = { 0 };
	int error;

	if ((error = ctl_args_done(cr)) != 0)
		return (error);
	if ((gw.gw_nodes = cmd_array(cr, "nodes")) == NULL)
		return (ENOMEM);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	ng_node_walk(ma->ma_vnet, graph_node, &gw);
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	return (gw.gw_error != 0 ? cmd_nomem(cr) : 0);
}
