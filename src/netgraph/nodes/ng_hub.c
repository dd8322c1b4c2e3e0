/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * hub: what comes by one hook leaves by all others.
 *
 * The hooks are a list that data methods walk in the epoch and control work
 * changes, newest first; a link of it is freed a grace period after its hook
 * has gone.  The oldest hook gets the burst itself, so a hub of two hooks
 * copies nothing.
 */
#include <netgraph/ng_hub.h>

#include <ck_queue.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <netepoch/epoch.h>

#include "netgraph/nodes/ng_nodes.h"
#include "sys/defs.h"

struct hub_link {
	CK_LIST_ENTRY(hub_link) hl_next; /* (e/c) */
	_Atomic(hook_p)	 hl_hook;	/* (a) acquire/release; constant */
	struct epoch_context hl_ctx;	/* (o) */
};

struct hub {
	CK_LIST_HEAD(, hub_link) hub_links; /* (e/c) newest first */
};

static int
ng_hub_constructor(node_p node)
{
	struct hub *hub;

	if ((hub = calloc(1, sizeof(*hub))) == NULL)
		return (ENOMEM);
	CK_LIST_INIT(&hub->hub_links);
	ng_node_set_private(node, hub);
	return (0);
}

static int
ng_hub_connect(hook_p hook)
{
	struct hub *hub = ng_node_private(ng_hook_node(hook));
	struct hub_link *hl;

	if ((hl = calloc(1, sizeof(*hl))) == NULL)
		return (ENOMEM);
	/* Pairs with the acquire in rcvdata, which finds us in the list. */
	atomic_store_explicit(&hl->hl_hook, hook, memory_order_release);
	ng_hook_set_private(hook, hl);
	CK_LIST_INSERT_HEAD(&hub->hub_links, hl, hl_next);
	return (0);
}

/* The result is that of the last delivery; all others are made anyway. */
static int
ng_hub_rcvdata(hook_p hook, item_p item)
{
	struct hub *hub = ng_node_private(ng_hook_node(hook));
	hook_p last = NULL, other;
	struct hub_link *hl;

	NET_EPOCH_ASSERT();

	CK_LIST_FOREACH(hl, &hub->hub_links, hl_next) {
		other = atomic_load_explicit(&hl->hl_hook,
		    memory_order_acquire);
		if (other == hook)
			continue;
		if (last != NULL)
			(void)ng_send_copy(item, last);
		last = other;
	}
	if (last == NULL) {
		(void)ng_fwd_item(item, NULL);	/* counts them */
		return (0);
	}
	return (ng_fwd_item(item, last));
}

static int
ng_hub_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	const struct ng_msghdr *hdr = &ng_request_msg(rq)->header;

	(void)lasthook;
	if (hdr->typecookie != NGM_HUB_COOKIE ||
	    hdr->cmd != NGM_HUB_SET_PERSISTENT || hdr->arglen != 0)
		return (EINVAL);
	ng_node_set_persistent(node, true);
	return (0);
}

static void
ng_hub_link_free_cb(epoch_context_t ctx)
{

	free(__containerof(ctx, struct hub_link, hl_ctx));
}

static void
ng_hub_disconnect(hook_p hook)
{
	struct hub_link *hl = ng_hook_private(hook);

	if (hl == NULL)			/* it was never connected */
		return;
	CK_LIST_REMOVE(hl, hl_next);
	NET_EPOCH_CALL(ng_hub_link_free_cb, &hl->hl_ctx);
}

static void
ng_hub_shutdown(node_p node)
{

	free(ng_node_private(node));
}

static const struct ng_cmdlist ng_hub_cmds[] = {
	{ NGM_HUB_COOKIE, NGM_HUB_SET_PERSISTENT, "setpersistent", NULL,
	    NULL },
	{ .name = NULL },
};

const struct ng_type ng_hub_type = {
	.version = NG_ABI_VERSION,
	.name = NG_HUB_NODE_TYPE,
	.constructor = ng_hub_constructor,
	.rcvmsg = ng_hub_rcvmsg,
	.shutdown = ng_hub_shutdown,
	.connect = ng_hub_connect,
	.rcvdata = ng_hub_rcvdata,
	.disconnect = ng_hub_disconnect,
	.cmdlist = ng_hub_cmds,
};
