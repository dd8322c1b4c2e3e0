/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * hole: drops what comes by any hook, and counts it.
 *
 * A hook's counters are its own and go with it.  Data methods run in parallel,
 * in the epoch, and write nothing that they share.
 */
#include <netgraph/ng_hole.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netepoch/epoch.h>

#include "netgraph/nodes/ng_nodes.h"
#include "netgraph/nodes/ng_stat.h"

/* The order of struct ng_hole_hookstat. */
enum { HOLE_FRAMES, HOLE_OCTETS, HOLE_STATS };

static int
ng_hole_newhook(node_p node, hook_p hook, const char *name)
{
	struct ng_stat *st;
	int error;

	(void)node;
	(void)name;
	if ((st = malloc(sizeof(*st))) == NULL)
		return (ENOMEM);
	error = ng_stat_init(st, HOLE_STATS);
	if (error != 0) {
		free(st);
		return (error);
	}
	ng_hook_set_private(hook, st);
	return (0);
}

static int
ng_hole_rcvdata(hook_p hook, item_p item)
{
	struct ng_stat *st = ng_hook_private(hook);

	NET_EPOCH_ASSERT();

	ng_stat_add(st, HOLE_FRAMES, item->it_n);
	ng_stat_add(st, HOLE_OCTETS, ng_item_octets(item));
	ng_item_free(item);
	return (0);
}

static int
ng_hole_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	const struct ng_mesg *msg = ng_request_msg(rq);
	char name[NG_HOOKSIZ];
	hook_p hook;

	(void)lasthook;
	if (msg->header.typecookie != NGM_HOLE_COOKIE ||
	    msg->header.cmd < NGM_HOLE_GET_STATS ||
	    msg->header.cmd > NGM_HOLE_GETCLR_STATS ||
	    msg->header.arglen != sizeof(name))
		return (EINVAL);
	memcpy(name, msg->data, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	hook = ng_findhook(node, name);
	if (hook == NULL)
		return (ENOENT);
	return (ng_stat_rcvmsg(rq, NGM_HOLE_GET_STATS, ng_hook_private(hook),
	    1));
}

static void
ng_hole_disconnect(hook_p hook)
{
	struct ng_stat *st = ng_hook_private(hook);

	ng_stat_fini(st);
	free(st);
}

static const struct ng_parse_struct_field ng_hole_stat_fields[] = {
	{ "frames", &ng_parse_uint64_type, 0 },
	{ "octets", &ng_parse_uint64_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_hole_stat_type = {
	.supertype = &ng_parse_struct_type, .info = ng_hole_stat_fields,
};

static const struct ng_cmdlist ng_hole_cmds[] = {
	{ NGM_HOLE_COOKIE, NGM_HOLE_GET_STATS, "getstats",
	    &ng_parse_hookbuf_type, &ng_hole_stat_type },
	{ NGM_HOLE_COOKIE, NGM_HOLE_CLR_STATS, "clrstats",
	    &ng_parse_hookbuf_type, NULL },
	{ NGM_HOLE_COOKIE, NGM_HOLE_GETCLR_STATS, "getclrstats",
	    &ng_parse_hookbuf_type, &ng_hole_stat_type },
	{ .name = NULL },
};

const struct ng_type ng_hole_type = {
	.version = NG_ABI_VERSION,
	.name = NG_HOLE_NODE_TYPE,
	.rcvmsg = ng_hole_rcvmsg,
	.newhook = ng_hole_newhook,
	.rcvdata = ng_hole_rcvdata,
	.disconnect = ng_hole_disconnect,
	.cmdlist = ng_hole_cmds,
};
