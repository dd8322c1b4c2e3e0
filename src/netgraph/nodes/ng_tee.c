/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * tee: left and right are joined, and what passes is copied to a third hook,
 * left2right or right2left.
 *
 * The four hooks are fixed places of which a data method reads two; control
 * work sets and clears them.  The counters belong to the place.
 */
#include <netgraph/ng_tee.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <netepoch/epoch.h>

#include "netgraph/nodes/ng_nodes.h"
#include "netgraph/nodes/ng_stat.h"

/* The order of struct ng_tee_stats, and within it that of a hook's. */
enum { TEE_RIGHT, TEE_LEFT, TEE_RIGHT2LEFT, TEE_LEFT2RIGHT, TEE_SIDES };
enum { TEE_INOCTETS, TEE_INFRAMES, TEE_OUTOCTETS, TEE_OUTFRAMES, TEE_STATS };

struct tee_side {
	_Atomic(hook_p)	 ts_hook;	/* (a) acquire/release */
	struct tee_side	*ts_dest;	/* (c) constant: where data goes */
	struct tee_side	*ts_copy;	/* (c) constant: and a copy, or NULL */
	struct ng_stat	*ts_stat;	/* (c) constant */
};

struct tee {
	struct tee_side	 te_side[TEE_SIDES];
	struct ng_stat	 te_stat[TEE_SIDES];
};

static const char *const tee_names[TEE_SIDES] = {
	[TEE_RIGHT] = NG_TEE_HOOK_RIGHT,
	[TEE_LEFT] = NG_TEE_HOOK_LEFT,
	[TEE_RIGHT2LEFT] = NG_TEE_HOOK_RIGHT2LEFT,
	[TEE_LEFT2RIGHT] = NG_TEE_HOOK_LEFT2RIGHT,
};

static void
ng_tee_free(struct tee *te)
{

	for (int i = 0; i < TEE_SIDES; i++)
		ng_stat_fini(&te->te_stat[i]);
	free(te);
}

static int
ng_tee_constructor(node_p node)
{
	struct tee_side *side;
	struct tee *te;
	int error;

	if ((te = calloc(1, sizeof(*te))) == NULL)
		return (ENOMEM);
	side = te->te_side;
	side[TEE_LEFT].ts_dest = &side[TEE_RIGHT];
	side[TEE_LEFT].ts_copy = &side[TEE_LEFT2RIGHT];
	side[TEE_RIGHT].ts_dest = &side[TEE_LEFT];
	side[TEE_RIGHT].ts_copy = &side[TEE_RIGHT2LEFT];
	side[TEE_LEFT2RIGHT].ts_dest = &side[TEE_RIGHT];
	side[TEE_RIGHT2LEFT].ts_dest = &side[TEE_LEFT];
	for (int i = 0; i < TEE_SIDES; i++) {
		side[i].ts_stat = &te->te_stat[i];
		error = ng_stat_init(&te->te_stat[i], TEE_STATS);
		if (error != 0) {
			ng_tee_free(te);
			return (error);
		}
	}
	ng_node_set_private(node, te);
	return (0);
}

static int
ng_tee_newhook(node_p node, hook_p hook, const char *name)
{
	struct tee *te = ng_node_private(node);

	for (int i = 0; i < TEE_SIDES; i++)
		if (strcmp(name, tee_names[i]) == 0) {
			ng_stat_read(&te->te_stat[i], NULL, true);
			ng_hook_set_private(hook, &te->te_side[i]);
			return (0);
		}
	return (EINVAL);
}

static int
ng_tee_connect(hook_p hook)
{
	struct tee_side *ts = ng_hook_private(hook);

	atomic_store_explicit(&ts->ts_hook, hook, memory_order_release);
	return (0);
}

static inline hook_p
tee_hook(struct tee_side *ts)
{

	return (ts == NULL ? NULL :
	    atomic_load_explicit(&ts->ts_hook, memory_order_acquire));
}

static inline void
tee_count_out(struct tee_side *ts, uint64_t frames, uint64_t octets)
{

	ng_stat_add(ts->ts_stat, TEE_OUTOCTETS, octets);
	ng_stat_add(ts->ts_stat, TEE_OUTFRAMES, frames);
}

/* The copy goes first, and what becomes of it is not the sender's concern. */
static int
ng_tee_rcvdata(hook_p hook, item_p item)
{
	struct tee_side *ts = ng_hook_private(hook);
	hook_p dest = tee_hook(ts->ts_dest), copy = tee_hook(ts->ts_copy);
	uint64_t octets = ng_item_octets(item);

	NET_EPOCH_ASSERT();

	ng_stat_add(ts->ts_stat, TEE_INOCTETS, octets);
	ng_stat_add(ts->ts_stat, TEE_INFRAMES, item->it_n);
	if (copy != NULL) {
		tee_count_out(ts->ts_copy, item->it_n, octets);
		if (dest == NULL)
			return (ng_fwd_item(item, copy));
		(void)ng_send_copy(item, copy);
	}
	if (dest == NULL) {
		(void)ng_fwd_item(item, NULL);	/* counts them */
		return (0);
	}
	tee_count_out(ts->ts_dest, item->it_n, octets);
	return (ng_fwd_item(item, dest));
}

/* The state of a link on one side, told to the other. */
static int
ng_tee_flow(node_p node, uint32_t cmd, hook_p lasthook)
{
	struct tee_side *ts;
	hook_p dest;

	if (cmd != NGM_LINK_IS_UP && cmd != NGM_LINK_IS_DOWN)
		return (EINVAL);
	if (lasthook == NULL)
		return (0);
	ts = ng_hook_private(lasthook);
	dest = tee_hook(ts->ts_dest);
	if (ts->ts_copy == NULL || dest == NULL)
		return (0);
	return (ng_send_flow(node, dest, cmd));
}

static int
ng_tee_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	const struct ng_msghdr *hdr = &ng_request_msg(rq)->header;
	struct tee *te = ng_node_private(node);

	if (hdr->arglen != 0)
		return (EINVAL);
	switch (hdr->typecookie) {
	case NGM_TEE_COOKIE:
		return (ng_stat_rcvmsg(rq, NGM_TEE_GET_STATS, te->te_stat,
		    TEE_SIDES));
	case NGM_FLOW_COOKIE:
		return (ng_tee_flow(node, hdr->cmd, lasthook));
	default:
		return (EINVAL);
	}
}

static void
ng_tee_disconnect(hook_p hook)
{
	struct tee_side *ts = ng_hook_private(hook);

	atomic_store_explicit(&ts->ts_hook, NULL, memory_order_release);
}

/* The neighbours stay together without us. */
static void
ng_tee_close(node_p node)
{
	struct tee *te = ng_node_private(node);
	hook_p left = tee_hook(&te->te_side[TEE_LEFT]);
	hook_p right = tee_hook(&te->te_side[TEE_RIGHT]);

	if (left != NULL && right != NULL)
		ng_bypass(left, right);
}

static void
ng_tee_shutdown(node_p node)
{

	ng_tee_free(ng_node_private(node));
}

/* ---- Text ---- */

static const struct ng_parse_struct_field ng_tee_hookstat_fields[] = {
	{ "inOctets", &ng_parse_uint64_type, 0 },
	{ "inFrames", &ng_parse_uint64_type, 0 },
	{ "outOctets", &ng_parse_uint64_type, 0 },
	{ "outFrames", &ng_parse_uint64_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_tee_hookstat_type = {
	.supertype = &ng_parse_struct_type, .info = ng_tee_hookstat_fields,
};
static const struct ng_parse_struct_field ng_tee_stats_fields[] = {
	{ "right", &ng_tee_hookstat_type, 0 },
	{ "left", &ng_tee_hookstat_type, 0 },
	{ "right2left", &ng_tee_hookstat_type, 0 },
	{ "left2right", &ng_tee_hookstat_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_tee_stats_type = {
	.supertype = &ng_parse_struct_type, .info = ng_tee_stats_fields,
};

static const struct ng_cmdlist ng_tee_cmds[] = {
	{ NGM_TEE_COOKIE, NGM_TEE_GET_STATS, "getstats", NULL,
	    &ng_tee_stats_type },
	{ NGM_TEE_COOKIE, NGM_TEE_CLR_STATS, "clrstats", NULL, NULL },
	{ NGM_TEE_COOKIE, NGM_TEE_GETCLR_STATS, "getclrstats", NULL,
	    &ng_tee_stats_type },
	{ .name = NULL },
};

const struct ng_type ng_tee_type = {
	.version = NG_ABI_VERSION,
	.name = NG_TEE_NODE_TYPE,
	.constructor = ng_tee_constructor,
	.rcvmsg = ng_tee_rcvmsg,
	.close = ng_tee_close,
	.shutdown = ng_tee_shutdown,
	.newhook = ng_tee_newhook,
	.connect = ng_tee_connect,
	.rcvdata = ng_tee_rcvdata,
	.disconnect = ng_tee_disconnect,
	.cmdlist = ng_tee_cmds,
};
