/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * split: one hook for both directions, mixed, and one for each: mixed goes to
 * out, in goes to mixed.  Nothing may come by out.
 *
 * The three hooks are fixed places of which a data method reads one; control
 * work sets and clears them.
 */
#include <netgraph/ng_split.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <netepoch/epoch.h>

#include "netgraph/nodes/ng_nodes.h"
#include "sys/log.h"

enum { SPLIT_IN, SPLIT_MIXED, SPLIT_OUT, SPLIT_SIDES };

struct split {
	_Atomic(hook_p)	 sp_hook[SPLIT_SIDES];	/* (a) acquire/release */
};

static const char *const split_names[SPLIT_SIDES] = {
	[SPLIT_IN] = NG_SPLIT_HOOK_IN,
	[SPLIT_MIXED] = NG_SPLIT_HOOK_MIXED,
	[SPLIT_OUT] = NG_SPLIT_HOOK_OUT,
};

static struct log_limit split_log;

static int
ng_split_constructor(node_p node)
{
	struct split *sp;

	if ((sp = calloc(1, sizeof(*sp))) == NULL)
		return (ENOMEM);
	ng_node_set_private(node, sp);
	return (0);
}

/* By out: nothing may come there. */
static int
ng_split_rcvdata(hook_p hook, item_p item)
{

	NET_EPOCH_ASSERT();

	ng_item_free(item);
	log_limited(&split_log, 1, LOG_NOTICE, "ng_split: node %x: got "
	    "packet from out hook", ng_node_id(ng_hook_node(hook)));
	return (EINVAL);
}

/* On to one of the sides; nobody there is no error. */
static int
split_pass(hook_p hook, item_p item, int side)
{
	struct split *sp = ng_node_private(ng_hook_node(hook));
	hook_p to;

	NET_EPOCH_ASSERT();

	to = atomic_load_explicit(&sp->sp_hook[side], memory_order_acquire);
	if (to == NULL) {
		(void)ng_fwd_item(item, NULL);	/* counts them */
		return (0);
	}
	return (ng_fwd_item(item, to));
}

static int
ng_split_rcvdata_mixed(hook_p hook, item_p item)
{

	return (split_pass(hook, item, SPLIT_OUT));
}

static int
ng_split_rcvdata_in(hook_p hook, item_p item)
{

	return (split_pass(hook, item, SPLIT_MIXED));
}

static int
split_side(const char *name)
{
	int i;

	for (i = 0; i < SPLIT_SIDES && strcmp(name, split_names[i]) != 0; i++)
		continue;
	return (i);
}

static int
ng_split_newhook(node_p node, hook_p hook, const char *name)
{

	(void)node;
	switch (split_side(name)) {
	case SPLIT_IN:
		ng_hook_set_rcvdata(hook, ng_split_rcvdata_in);
		return (0);
	case SPLIT_MIXED:
		ng_hook_set_rcvdata(hook, ng_split_rcvdata_mixed);
		return (0);
	case SPLIT_OUT:
		return (0);
	default:
		return (EINVAL);
	}
}

static void
split_set(hook_p hook, hook_p value)
{
	struct split *sp = ng_node_private(ng_hook_node(hook));

	atomic_store_explicit(&sp->sp_hook[split_side(ng_hook_name(hook))],
	    value, memory_order_release);
}

static int
ng_split_connect(hook_p hook)
{

	split_set(hook, hook);
	return (0);
}

static int
ng_split_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{

	(void)node;
	(void)rq;
	(void)lasthook;
	return (EINVAL);
}

static void
ng_split_disconnect(hook_p hook)
{

	split_set(hook, NULL);
}

static void
ng_split_shutdown(node_p node)
{

	free(ng_node_private(node));
}

const struct ng_type ng_split_type = {
	.version = NG_ABI_VERSION,
	.name = NG_SPLIT_NODE_TYPE,
	.constructor = ng_split_constructor,
	.rcvmsg = ng_split_rcvmsg,
	.shutdown = ng_split_shutdown,
	.newhook = ng_split_newhook,
	.connect = ng_split_connect,
	.rcvdata = ng_split_rcvdata,
	.disconnect = ng_split_disconnect,
};
