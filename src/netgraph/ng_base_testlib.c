/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the tests of the base share; see the header.
 */
#include "netgraph/ng_base_testlib.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

_Atomic int disconnects, shutdowns;

static int
relay_constructor(node_p node)
{

	ng_node_set_private(node, node);
	return (0);
}

static int
relay_rcvdata(hook_p hook, item_p it)
{
	hook_p other = ng_hook_private(hook);

	if (other == NULL) {
		ng_item_free(it);
		return (0);
	}
	return (ng_fwd_item(it, other));
}

static int
relay_connect(hook_p hook)
{
	char name[NG_HOOKSIZ];
	hook_p other;

	snprintf(name, sizeof(name), "%s", ng_hook_name(hook));
	name[1] = name[1] == '1' ? '2' : '1';
	other = ng_findhook(ng_hook_node(hook), name);
	if (other != NULL && ng_hook_private(other) == NULL) {
		ng_hook_set_private(hook, other);
		ng_hook_set_private(other, hook);
	}
	return (0);
}

static void
relay_disconnect(hook_p hook)
{
	hook_p other = ng_hook_private(hook);

	assert_int_equal(in_epoch(net_epoch_preempt), 0);
	assert_non_null(ng_node_private(ng_hook_node(hook)));
	if (other != NULL)
		ng_hook_set_private(other, NULL);
	atomic_fetch_add(&disconnects, 1);
}

static void
relay_shutdown(node_p node)
{

	assert_int_equal(ng_node_numhooks(node), 0);
	ng_node_set_private(node, NULL);	/* no disconnect() any more */
	atomic_fetch_add(&shutdowns, 1);
}

static void
relay_close(node_p node)
{
	hook_p one = ng_findhook(node, "b1"), two = ng_findhook(node, "b2");

	if (one != NULL && two != NULL)
		ng_bypass(one, two);
}

static int
relay_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	const struct ng_mesg *msg = ng_request_msg(rq);
	char name[NG_HOOKSIZ] = "-";

	if (msg->header.typecookie != RELAY_COOKIE)
		return (EINVAL);
	switch (msg->header.cmd) {
	case 1:
		if (lasthook != NULL)
			snprintf(name, sizeof(name), "%s",
			    ng_hook_name(lasthook));
		return (ng_respond(rq, name, sizeof(name)));
	case 2:
		return (ng_send_msg_path(node, ng_mkmessage(RELAY_COOKIE, 1,
		    NULL, 0), msg->data));
	case 3:
		ng_rmnode_self(node);
		assert_true(ng_node_valid(node));
		return (0);
	case 4:			/* as often as one likes */
		for (int i = 0; i < 3; i++) {
			ng_rmhook_self(lasthook);
			ng_rmnode_self(node);
		}
		assert_true(ng_hook_valid(lasthook));
		return (0);
	case 5:			/* the end of the peer, then one's own */
		ng_rmnode_self(node);
		return (ng_send_msg_hook(node,
		    ng_mkmessage(NGM_GENERIC_COOKIE, NGM_SHUTDOWN, NULL, 0),
		    ng_findhook(node, "x1")));
	default:
		return (EINVAL);
	}
}

const struct ng_type relay_type = {
	.version = NG_ABI_VERSION,
	.name = "relay",
	.constructor = relay_constructor,
	.rcvmsg = relay_rcvmsg,
	.close = relay_close,
	.shutdown = relay_shutdown,
	.connect = relay_connect,
	.rcvdata = relay_rcvdata,
	.disconnect = relay_disconnect,
};

const struct ng_type exclusive_type = {
	.version = NG_ABI_VERSION,
	.flags = NGTF_EXCLUSIVE,
	.name = "exclusive",
	.constructor = relay_constructor,
	.connect = relay_connect,
	.rcvdata = relay_rcvdata,
	.disconnect = relay_disconnect,
};

int
clean(void **state)
{

	(void)state;
	ngt_reset();
	disconnects = shutdowns = 0;
	return (0);
}

unsigned int
nodes(void)
{
	unsigned int n;

	assert_int_equal(ngt_msg(".", NGM_GENERIC_COOKIE, NGM_LISTNODES,
	    NULL, 0), 0);
	memcpy(&n, ngt_reply()->data, sizeof(n));
	return (n);
}

void
clean_last(void **state)
{

	(void)state;
	assert_int_equal(nodes(), 1);
}
