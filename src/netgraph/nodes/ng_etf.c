/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * etf: a hook for each EtherType that a filter names, and nomatch for all
 * others, above a downstream hook.
 *
 * Filters are in a hash table.  Control work puts them at the head of their
 * chain and takes them out when their hook goes; data methods walk the chain
 * in the epoch.  A hook without filter costs nothing, a filter is its hook's.
 *
 * Keys: c is the configuration lock.
 */
#include <netgraph/ng_etf.h>

#include <arpa/inet.h>

#include <ck_queue.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netepoch/epoch.h>

#include "netgraph/nodes/ng_frame.h"
#include "netgraph/nodes/ng_nodes.h"
#include "netgraph/nodes/ng_stat.h"
#include "wire/ether.h"

#define	ETF_CHAINS	64

enum { ETFS_IN, ETFS_OUT, ETFS_COUNT };

struct etf_filter {
	CK_LIST_ENTRY(etf_filter) ef_next; /* (e/c) */
	_Atomic(hook_p)	 ef_hook;	/* (a) ng_hook_load/store; constant */
	uint16_t	 ef_type;	/* (c) constant; network order */
	struct epoch_context ef_ctx;	/* (o) */
};

struct etf {
	_Atomic(hook_p)	 et_downstream;	/* (a) ng_hook_load/store */
	_Atomic(hook_p)	 et_nomatch;	/* (a) the same */
	struct ng_stat	 et_stat;
	CK_LIST_HEAD(, etf_filter) et_chain[ETF_CHAINS]; /* (e/c) */
};

static int
ng_etf_constructor(node_p node)
{
	struct etf *et;
	int error;

	if ((et = calloc(1, sizeof(*et))) == NULL)
		return (ENOMEM);
	error = ng_stat_init(&et->et_stat, ETFS_COUNT);
	if (error != 0) {
		free(et);
		return (error);
	}
	ng_node_set_private(node, et);
	return (0);
}

static inline unsigned int
etf_chain(uint16_t type)
{

	return ((type ^ type >> 8) % ETF_CHAINS);
}

/* The hook of a type in network order, or NULL.  Control or epoch. */
static inline hook_p
etf_find(struct etf *et, uint16_t type)
{
	struct etf_filter *ef;
	hook_p hook;

	CK_LIST_FOREACH(ef, &et->et_chain[etf_chain(type)], ef_next) {
		/* Comes first for whoever found the filter in the chain. */
		hook = ng_hook_load(&ef->ef_hook);
		if (ef->ef_type == type)
			return (hook);
	}
	return (NULL);
}

/* ---- Data ---- */

static int
ng_etf_rcvdata_downstream(hook_p hook, item_p item)
{
	struct etf *et = ng_node_private(ng_hook_node(hook));
	hook_p nomatch = ng_hook_load(&et->et_nomatch), to;
	struct ng_scatter sc;
	struct mbuf *m;

	NET_EPOCH_ASSERT();

	ng_stat_add(&et->et_stat, ETFS_IN, item->it_n);
	ng_scatter_init(&sc);
	for (unsigned int i = 0; i < item->it_n; i++) {
		m = ng_frame_pullup(&sc, item->it_m[i], ETHER_HDR_LEN);
		if (m == NULL)
			continue;
		to = etf_find(et, mtod(m, struct ether_header *)->ether_type);
		ng_scatter_send(&sc, to != NULL ? to : nomatch, m, ENOTCONN);
	}
	return (ng_scatter_flush(&sc));
}

/* From above: each type by its own hook only. */
static int
ng_etf_rcvdata(hook_p hook, item_p item)
{
	struct etf *et = ng_node_private(ng_hook_node(hook));
	hook_p nomatch = ng_hook_load(&et->et_nomatch), right;
	hook_p down = ng_hook_load(&et->et_downstream);
	struct ng_scatter sc;
	unsigned int out = 0;
	struct mbuf *m;

	NET_EPOCH_ASSERT();

	ng_scatter_init(&sc);
	for (unsigned int i = 0; i < item->it_n; i++) {
		m = ng_frame_pullup(&sc, item->it_m[i], ETHER_HDR_LEN);
		if (m == NULL)
			continue;
		right = etf_find(et,
		    mtod(m, struct ether_header *)->ether_type);
		if (hook != (right != NULL ? right : nomatch)) {
			ng_scatter_drop(&sc, m, EPROTOTYPE);
			continue;
		}
		out += down != NULL;
		ng_scatter_send(&sc, down, m, ENOTCONN);
	}
	ng_stat_add(&et->et_stat, ETFS_OUT, out);
	return (ng_scatter_flush(&sc));
}

/* ---- Hooks ---- */

/* The place of one of the two special hooks, or NULL. */
static _Atomic(hook_p) *
etf_special(struct etf *et, const char *name)
{

	if (strcmp(name, NG_ETF_HOOK_DOWNSTREAM) == 0)
		return (&et->et_downstream);
	if (strcmp(name, NG_ETF_HOOK_NOMATCH) == 0)
		return (&et->et_nomatch);
	return (NULL);
}

static int
ng_etf_newhook(node_p node, hook_p hook, const char *name)
{
	struct etf *et = ng_node_private(node);

	if (etf_special(et, name) == &et->et_downstream) {
		ng_stat_read(&et->et_stat, NULL, true);
		ng_hook_set_rcvdata(hook, ng_etf_rcvdata_downstream);
	}
	return (0);
}

static int
ng_etf_connect(hook_p hook)
{
	struct etf *et = ng_node_private(ng_hook_node(hook));
	_Atomic(hook_p) *special = etf_special(et, ng_hook_name(hook));

	if (special != NULL)
		ng_hook_store(special, hook);
	return (0);
}

static void
etf_filter_free_cb(epoch_context_t ctx)
{

	free(__containerof(ctx, struct etf_filter, ef_ctx));
}

/* Filters go with their hook. */
static void
ng_etf_disconnect(hook_p hook)
{
	struct etf *et = ng_node_private(ng_hook_node(hook));
	_Atomic(hook_p) *special = etf_special(et, ng_hook_name(hook));
	struct etf_filter *ef, *next;

	if (special != NULL)
		ng_hook_store(special, NULL);
	for (unsigned int i = 0; i < ETF_CHAINS; i++)
		CK_LIST_FOREACH_SAFE(ef, &et->et_chain[i], ef_next, next)
			if (ng_hook_load(&ef->ef_hook) == hook) {
				CK_LIST_REMOVE(ef, ef_next);
				NET_EPOCH_CALL(etf_filter_free_cb,
				    &ef->ef_ctx);
			}
}

/* ---- Messages ---- */

static int
etf_setfilter(node_p node, const struct ng_mesg *msg)
{
	struct etf *et = ng_node_private(node);
	struct ng_etffilter arg;
	struct etf_filter *ef;
	hook_p hook;

	if (msg->header.arglen != sizeof(arg))
		return (EINVAL);
	memcpy(&arg, msg->data, sizeof(arg));
	arg.matchhook[sizeof(arg.matchhook) - 1] = '\0';
	hook = ng_findhook(node, arg.matchhook);
	if (hook == NULL)
		return (ENOENT);
	if (etf_special(et, arg.matchhook) == &et->et_downstream)
		return (EINVAL);
	if (etf_find(et, htons(arg.ethertype)) != NULL)
		return (EEXIST);
	if ((ef = calloc(1, sizeof(*ef))) == NULL)
		return (ENOMEM);
	ef->ef_type = htons(arg.ethertype);
	ng_hook_store(&ef->ef_hook, hook);
	CK_LIST_INSERT_HEAD(&et->et_chain[etf_chain(ef->ef_type)], ef,
	    ef_next);
	return (0);
}

static int
etf_getstatus(struct etf *et, struct ng_request *rq)
{
	struct ng_etfstat es;
	uint64_t out[ETFS_COUNT];

	if (ng_request_msg(rq)->header.arglen != 0)
		return (EINVAL);
	ng_stat_read(&et->et_stat, out, false);
	es.packets_in = (uint32_t)out[ETFS_IN];
	es.packets_out = (uint32_t)out[ETFS_OUT];
	return (ng_respond(rq, &es, sizeof(es)));
}

static int
ng_etf_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	const struct ng_mesg *msg = ng_request_msg(rq);

	(void)lasthook;
	if (msg->header.typecookie != NGM_ETF_COOKIE)
		return (EINVAL);
	switch (msg->header.cmd) {
	case NGM_ETF_SET_FLAG:
		/* FreeBSD has it without a meaning; scripts may send it. */
		return (msg->header.arglen != sizeof(uint32_t) ? EINVAL : 0);
	case NGM_ETF_GET_STATUS:
		return (etf_getstatus(ng_node_private(node), rq));
	case NGM_ETF_SET_FILTER:
		return (etf_setfilter(node, msg));
	default:
		return (EINVAL);
	}
}

static void
ng_etf_shutdown(node_p node)
{
	struct etf *et = ng_node_private(node);

	ng_stat_fini(&et->et_stat);
	free(et);
}

/* ---- Text ---- */

static const struct ng_parse_struct_field ng_etf_stat_fields[] = {
	{ "packets_in", &ng_parse_uint32_type, 0 },
	{ "packets_out", &ng_parse_uint32_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_etf_stat_type = {
	.supertype = &ng_parse_struct_type, .info = ng_etf_stat_fields,
};
static const struct ng_parse_struct_field ng_etf_filter_fields[] = {
	{ "matchhook", &ng_parse_hookbuf_type, 0 },
	{ "ethertype", &ng_parse_uint16_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_etf_filter_type = {
	.supertype = &ng_parse_struct_type, .info = ng_etf_filter_fields,
};

static const struct ng_cmdlist ng_etf_cmds[] = {
	{ NGM_ETF_COOKIE, NGM_ETF_SET_FLAG, "setflag", &ng_parse_uint32_type,
	    NULL },
	{ NGM_ETF_COOKIE, NGM_ETF_GET_STATUS, "getstatus", NULL,
	    &ng_etf_stat_type },
	{ NGM_ETF_COOKIE, NGM_ETF_SET_FILTER, "setfilter",
	    &ng_etf_filter_type, NULL },
	{ .name = NULL },
};

const struct ng_type ng_etf_type = {
	.version = NG_ABI_VERSION,
	.name = NG_ETF_NODE_TYPE,
	.constructor = ng_etf_constructor,
	.rcvmsg = ng_etf_rcvmsg,
	.shutdown = ng_etf_shutdown,
	.newhook = ng_etf_newhook,
	.connect = ng_etf_connect,
	.rcvdata = ng_etf_rcvdata,
	.disconnect = ng_etf_disconnect,
	.cmdlist = ng_etf_cmds,
};
