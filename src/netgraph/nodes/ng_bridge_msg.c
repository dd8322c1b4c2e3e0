/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The messages of a bridge, and how they read as text.  Control work.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netepoch/epoch.h>

#include "netgraph/nodes/ng_bridge_private.h"

static int
bridge_setconfig(struct bridge *br, const struct ng_mesg *msg)
{

	if (msg->header.arglen != sizeof(br->br_conf))
		return (EINVAL);
	mtx_lock(&br->br_hosts.bs_mtx);
	memcpy(&br->br_conf, msg->data, sizeof(br->br_conf));
	mtx_unlock(&br->br_hosts.bs_mtx);
	return (0);
}

static void
bridge_reset(struct bridge *br)
{
	struct bridge_link *bl;

	mtx_lock(&br->br_hosts.bs_mtx);
	bridge_hosts_forget(&br->br_hosts, NULL);
	CK_LIST_FOREACH(bl, &br->br_links, bl_next)
		atomic_store_explicit(&bl->bl_muted, 0, memory_order_relaxed);
	mtx_unlock(&br->br_hosts.bs_mtx);
	/* Links come and go by control work only. */
	CK_LIST_FOREACH(bl, &br->br_links, bl_next)
		ng_stat_read(&bl->bl_stat, NULL, true);
}

static int
bridge_stats(struct bridge *br, struct ng_request *rq)
{
	const struct ng_mesg *msg = ng_request_msg(rq);
	struct bridge_link *bl;
	int32_t number;

	if (msg->header.arglen != sizeof(number))
		return (EINVAL);
	memcpy(&number, msg->data, sizeof(number));
	bl = number == INT32_MIN ? NULL : bridge_link_find(br, number);
	if (bl == NULL)
		return (ENOTCONN);
	return (ng_stat_rcvmsg(rq, NGM_BRIDGE_GET_STATS, &bl->bl_stat, 1));
}

static int
bridge_gettable(struct bridge *br, struct ng_request *rq)
{
	struct bridge_hosts *bs = &br->br_hosts;
	struct ng_bridge_host_ary *ary;
	int error;

	mtx_lock(&bs->bs_mtx);
	ary = malloc(sizeof(*ary) + bs->bs_n * sizeof(ary->hosts[0]));
	if (ary != NULL)
		ary->numHosts = bridge_hosts_list(bs, bridge_now(br),
		    ary->hosts, bs->bs_n);
	mtx_unlock(&bs->bs_mtx);
	if (ary == NULL)
		return (ENOMEM);
	error = ng_respond(rq, ary, sizeof(*ary) +
	    ary->numHosts * sizeof(ary->hosts[0]));
	free(ary);
	return (error);
}

static int
bridge_movehost(struct bridge *br, const struct ng_mesg *msg, hook_p lasthook)
{
	union {
		struct ng_bridge_move_host mh;
		uint64_t align;
	} arg;
	hook_p hook = lasthook;
	uint64_t key;

	if (msg->header.arglen != sizeof(arg.mh))
		return (EINVAL);
	memcpy(&arg.mh, msg->data, sizeof(arg.mh));
	arg.mh.hook[sizeof(arg.mh.hook) - 1] = '\0';
	if (arg.mh.hook[0] != '\0')
		hook = ng_findhook(br->br_node, arg.mh.hook);
	if (hook == NULL)
		return (ENOENT);
	key = bridge_key(arg.mh.addr);
	if ((key & BRIDGE_KEY_MCAST) != 0)
		return (EINVAL);
	return (bridge_move(br, ng_hook_private(hook), key));
}

int
ng_bridge_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	const struct ng_mesg *msg = ng_request_msg(rq);
	struct bridge *br = ng_node_private(node);

	if (msg->header.typecookie != NGM_BRIDGE_COOKIE)
		return (EINVAL);
	switch (msg->header.cmd) {
	case NGM_BRIDGE_SET_CONFIG:
		return (bridge_setconfig(br, msg));
	case NGM_BRIDGE_GET_STATS:
	case NGM_BRIDGE_CLR_STATS:
	case NGM_BRIDGE_GETCLR_STATS:
		return (bridge_stats(br, rq));
	case NGM_BRIDGE_MOVE_HOST:
		return (bridge_movehost(br, msg, lasthook));
	}
	if (msg->header.arglen != 0)
		return (EINVAL);
	switch (msg->header.cmd) {
	case NGM_BRIDGE_GET_CONFIG:
		return (ng_respond(rq, &br->br_conf, sizeof(br->br_conf)));
	case NGM_BRIDGE_RESET:
		bridge_reset(br);
		return (0);
	case NGM_BRIDGE_GET_TABLE:
		return (bridge_gettable(br, rq));
	case NGM_BRIDGE_SET_PERSISTENT:
		ng_node_set_persistent(node, true);
		return (0);
	default:
		return (EINVAL);
	}
}

/* ---- Text ---- */

static const struct ng_parse_struct_field ng_bridge_config_fields[] = {
	{ "debugLevel", &ng_parse_uint8_type, 0 },
	{ "loopTimeout", &ng_parse_uint32_type, 0 },
	{ "maxStaleness", &ng_parse_uint32_type, 0 },
	{ "minStableAge", &ng_parse_uint32_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_bridge_config_type = {
	.supertype = &ng_parse_struct_type, .info = ng_bridge_config_fields,
};

static const struct ng_parse_struct_field ng_bridge_stats_fields[] = {
	{ "recvOctets", &ng_parse_uint64_type, 0 },
	{ "recvPackets", &ng_parse_uint64_type, 0 },
	{ "recvMulticast", &ng_parse_uint64_type, 0 },
	{ "recvBroadcast", &ng_parse_uint64_type, 0 },
	{ "recvUnknown", &ng_parse_uint64_type, 0 },
	{ "recvRunts", &ng_parse_uint64_type, 0 },
	{ "recvInvalid", &ng_parse_uint64_type, 0 },
	{ "xmitOctets", &ng_parse_uint64_type, 0 },
	{ "xmitPackets", &ng_parse_uint64_type, 0 },
	{ "xmitMulticasts", &ng_parse_uint64_type, 0 },
	{ "xmitBroadcasts", &ng_parse_uint64_type, 0 },
	{ "loopDrops", &ng_parse_uint64_type, 0 },
	{ "loopDetects", &ng_parse_uint64_type, 0 },
	{ "memoryFailures", &ng_parse_uint64_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_bridge_stats_type = {
	.supertype = &ng_parse_struct_type, .info = ng_bridge_stats_fields,
};

static const struct ng_parse_struct_field ng_bridge_host_fields[] = {
	{ "addr", &ng_parse_enaddr_type, 0 },
	{ "hook", &ng_parse_hookbuf_type, 0 },
	{ "age", &ng_parse_uint16_type, 0 },
	{ "staleness", &ng_parse_uint16_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_bridge_host_type = {
	.supertype = &ng_parse_struct_type, .info = ng_bridge_host_fields,
};

static const struct ng_parse_array_info ng_bridge_hosts_info = {
	.elementType = &ng_bridge_host_type,
	.getLength = ng_parse_count_first,
};
static const struct ng_parse_type ng_bridge_hosts_type = {
	.supertype = &ng_parse_array_type, .info = &ng_bridge_hosts_info,
};
static const struct ng_parse_struct_field ng_bridge_table_fields[] = {
	{ "numHosts", &ng_parse_uint32_type, 0 },
	{ "hosts", &ng_bridge_hosts_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_bridge_table_type = {
	.supertype = &ng_parse_struct_type, .info = ng_bridge_table_fields,
};

static const struct ng_parse_struct_field ng_bridge_movehost_fields[] = {
	{ "addr", &ng_parse_enaddr_type, 0 },
	{ "hook", &ng_parse_hookbuf_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_bridge_movehost_type = {
	.supertype = &ng_parse_struct_type, .info = ng_bridge_movehost_fields,
};

#define	BRIDGE_CMD(cmd, name, arg, reply)				\
	{ NGM_BRIDGE_COOKIE, NGM_BRIDGE_ ## cmd, name, arg, reply }

const struct ng_cmdlist ng_bridge_cmds[] = {
	BRIDGE_CMD(SET_CONFIG, "setconfig", &ng_bridge_config_type, NULL),
	BRIDGE_CMD(GET_CONFIG, "getconfig", NULL, &ng_bridge_config_type),
	BRIDGE_CMD(RESET, "reset", NULL, NULL),
	BRIDGE_CMD(GET_STATS, "getstats", &ng_parse_int32_type,
	    &ng_bridge_stats_type),
	BRIDGE_CMD(CLR_STATS, "clrstats", &ng_parse_int32_type, NULL),
	BRIDGE_CMD(GETCLR_STATS, "getclrstats", &ng_parse_int32_type,
	    &ng_bridge_stats_type),
	BRIDGE_CMD(GET_TABLE, "gettable", NULL, &ng_bridge_table_type),
	BRIDGE_CMD(SET_PERSISTENT, "setpersistent", NULL, NULL),
	BRIDGE_CMD(MOVE_HOST, "movehost", &ng_bridge_movehost_type, NULL),
	{ .name = NULL },
};
