/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * echo: packets return by the hook that they came by, and messages to their
 * sender, as responses and otherwise unchanged.  It has no state.
 */
#include <netgraph/ng_echo.h>

#include <netepoch/epoch.h>

#include "netgraph/nodes/ng_nodes.h"

static int
ng_echo_rcvdata(hook_p hook, item_p item)
{

	NET_EPOCH_ASSERT();

	return (ng_fwd_item(item, hook));
}

static int
ng_echo_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	const struct ng_mesg *msg = ng_request_msg(rq);

	(void)node;
	(void)lasthook;
	return (ng_respond(rq, msg->data, msg->header.arglen));
}

const struct ng_type ng_echo_type = {
	.version = NG_ABI_VERSION,
	.name = NG_ECHO_NODE_TYPE,
	.rcvmsg = ng_echo_rcvmsg,
	.rcvdata = ng_echo_rcvdata,
};
