/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * one2many: one hook on one side, up to 64 on the other; what comes by one
 * goes round by all active ones in turn, to all of them, or to the first.
 *
 * A data method reads the algorithm, a mask of the active hooks, and the hooks
 * themselves, which are fixed places; control work writes them.  In round
 * robin each thread has its own turn, which is the number of packets that it
 * has counted: no line is written that threads share.  A link's counters are
 * made with its first hook and stay to the node's end.
 */
#include <netgraph/ng_one2many.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <netepoch/epoch.h>

#include "netgraph/nodes/ng_nodes.h"
#include "netgraph/nodes/ng_stat.h"

#define	O2M_ONE		NG_ONE2MANY_MAX_LINKS	/* behind the many */

/* The order of struct ng_one2many_link_stats. */
enum { O2M_RECVOCTETS, O2M_RECVPACKETS, O2M_XMITOCTETS, O2M_XMITPACKETS,
	O2M_MEMORYFAILURES, O2M_STATS };

struct o2m_link {
	_Atomic(hook_p)	 ol_hook;	/* (a) acquire/release */
	struct ng_stat	 ol_stat;
};

struct o2m {
	_Atomic uint32_t om_xmitalg;	/* (a) relaxed */
	_Atomic uint64_t om_active;	/* (a) relaxed: a bit for each many */
	_Atomic uint64_t om_turn;	/* (a) relaxed: of threads without
					   counters of their own */
	uint32_t	 om_failalg;	/* (c) */
	uint64_t	 om_enabled;	/* (c) */
	struct o2m_link	 om_link[NG_ONE2MANY_MAX_LINKS + 1];
};

static int
ng_one2many_constructor(node_p node)
{
	struct o2m *om;

	if ((om = calloc(1, sizeof(*om))) == NULL)
		return (ENOMEM);
	om->om_failalg = NG_ONE2MANY_FAIL_MANUAL;
	atomic_init(&om->om_xmitalg, NG_ONE2MANY_XMIT_ROUNDROBIN);
	ng_node_set_private(node, om);
	return (0);
}

static inline hook_p
o2m_hook(struct o2m_link *ol)
{

	return (atomic_load_explicit(&ol->ol_hook, memory_order_acquire));
}

/* ---- Data ---- */

static inline void
o2m_count(struct o2m_link *ol, unsigned int octets, uint64_t bytes,
    uint64_t packets)
{

	ng_stat_add(&ol->ol_stat, octets, bytes);
	ng_stat_add(&ol->ol_stat, octets + 1, packets);
}

/* The link's hook may have gone since it was active: ENOTCONN. */
static int
o2m_send(struct o2m_link *ol, item_p item)
{
	hook_p hook = o2m_hook(ol);

	if (hook != NULL)
		o2m_count(ol, O2M_XMITOCTETS, ng_item_octets(item),
		    item->it_n);
	return (ng_fwd_item(item, hook));
}

/* Whose turn it is, before n more packets; each thread has a count. */
static uint64_t
o2m_turn(struct o2m *om, unsigned int n)
{
	_Atomic uint64_t *page = counter_page_get();
	counter_t c = om->om_link[O2M_ONE].ol_stat.st_cells + O2M_RECVPACKETS;

	return (page != NULL ?
	    atomic_load_explicit(&page[c], memory_order_relaxed) - n :
	    atomic_fetch_add_explicit(&om->om_turn, n,
	    memory_order_relaxed));
}

/* Packet by packet in turn, each link's packets in one burst. */
static int
o2m_send_roundrobin(struct o2m *om, item_p item, uint64_t active)
{
	unsigned int links[NG_ONE2MANY_MAX_LINKS], n = 0;
	struct ng_item part;
	uint64_t turn;
	int error = 0, e;

	for (; active != 0; active &= active - 1)
		links[n++] = (unsigned int)__builtin_ctzll(active);
	turn = o2m_turn(om, item->it_n) % n;
	for (unsigned int i = 0; i < n && i < item->it_n; i++) {
		part.it_n = 0;
		for (unsigned int j = i; j < item->it_n; j += n)
			part.it_m[part.it_n++] = item->it_m[j];
		e = o2m_send(&om->om_link[links[(turn + i) % n]], &part);
		if (e != 0)
			error = e;
	}
	return (error);
}

/* A copy to all but the last, which gets the burst itself. */
static int
o2m_send_all(struct o2m *om, item_p item, uint64_t active)
{
	struct o2m_link *one = &om->om_link[O2M_ONE];
	struct ng_item copy;

	for (; (active & (active - 1)) != 0; active &= active - 1) {
		if (!ng_item_dup(item, &copy)) {
			ng_stat_add(&one->ol_stat, O2M_MEMORYFAILURES, 1);
			ng_item_free(item);
			return (ENOBUFS);
		}
		(void)o2m_send(&om->om_link[__builtin_ctzll(active)], &copy);
	}
	return (o2m_send(&om->om_link[__builtin_ctzll(active)], item));
}

static int
ng_one2many_rcvdata_one(hook_p hook, item_p item)
{
	struct o2m *om = ng_node_private(ng_hook_node(hook));
	uint64_t active;

	NET_EPOCH_ASSERT();

	o2m_count(&om->om_link[O2M_ONE], O2M_RECVOCTETS,
	    ng_item_octets(item), item->it_n);
	active = atomic_load_explicit(&om->om_active, memory_order_relaxed);
	if (active == 0)
		return (ng_fwd_item(item, NULL));
	switch (atomic_load_explicit(&om->om_xmitalg, memory_order_relaxed)) {
	case NG_ONE2MANY_XMIT_ROUNDROBIN:
		return (o2m_send_roundrobin(om, item, active));
	case NG_ONE2MANY_XMIT_ALL:
		return (o2m_send_all(om, item, active));
	default:
		return (o2m_send(&om->om_link[__builtin_ctzll(active)],
		    item));
	}
}

static int
ng_one2many_rcvdata(hook_p hook, item_p item)
{
	struct o2m *om = ng_node_private(ng_hook_node(hook));

	NET_EPOCH_ASSERT();

	o2m_count(ng_hook_private(hook), O2M_RECVOCTETS,
	    ng_item_octets(item), item->it_n);
	return (o2m_send(&om->om_link[O2M_ONE], item));
}

/* ---- Hooks ---- */

/* Find out which links are active; tell one when there are none or some. */
static void
o2m_update(node_p node)
{
	struct o2m *om = ng_node_private(node);
	uint64_t active = 0, before;
	hook_p one = o2m_hook(&om->om_link[O2M_ONE]);

	for (unsigned int i = 0; i < NG_ONE2MANY_MAX_LINKS; i++)
		if ((om->om_enabled & UINT64_C(1) << i) != 0 &&
		    o2m_hook(&om->om_link[i]) != NULL)
			active |= UINT64_C(1) << i;
	before = atomic_exchange_explicit(&om->om_active, active,
	    memory_order_relaxed);
	if ((active != 0) != (before != 0) && one != NULL)
		(void)ng_send_flow(node, one, active != 0 ? NGM_LINK_IS_UP :
		    NGM_LINK_IS_DOWN);
}

static int
ng_one2many_newhook(node_p node, hook_p hook, const char *name)
{
	struct o2m *om = ng_node_private(node);
	int i;

	if (strcmp(name, NG_ONE2MANY_HOOK_ONE) == 0) {
		i = O2M_ONE;
		ng_hook_set_rcvdata(hook, ng_one2many_rcvdata_one);
	} else {
		i = ng_hook_number(name, NG_ONE2MANY_HOOK_MANY_PREFIX,
		    NG_ONE2MANY_MAX_LINKS);
		if (i < 0)
			return (EINVAL);
	}
	ng_hook_set_private(hook, &om->om_link[i]);
	if (om->om_link[i].ol_stat.st_cells == 0)
		return (ng_stat_init(&om->om_link[i].ol_stat, O2M_STATS));
	ng_stat_read(&om->om_link[i].ol_stat, NULL, true);
	return (0);
}

static int
ng_one2many_connect(hook_p hook)
{
	struct o2m *om = ng_node_private(ng_hook_node(hook));
	struct o2m_link *ol = ng_hook_private(hook);

	atomic_store_explicit(&ol->ol_hook, hook, memory_order_release);
	if (ol != &om->om_link[O2M_ONE]) {
		om->om_enabled |= UINT64_C(1) << (ol - om->om_link);
		o2m_update(ng_hook_node(hook));
	}
	return (0);
}

static void
ng_one2many_disconnect(hook_p hook)
{
	struct o2m *om = ng_node_private(ng_hook_node(hook));
	struct o2m_link *ol = ng_hook_private(hook);

	atomic_store_explicit(&ol->ol_hook, NULL, memory_order_release);
	if (ol != &om->om_link[O2M_ONE]) {
		om->om_enabled &= ~(UINT64_C(1) << (ol - om->om_link));
		o2m_update(ng_hook_node(hook));
	}
}

/* ---- Messages ---- */

static int
o2m_setconfig(node_p node, const struct ng_mesg *msg)
{
	struct o2m *om = ng_node_private(node);
	struct ng_one2many_config conf;

	if (msg->header.arglen != sizeof(conf))
		return (EINVAL);
	memcpy(&conf, msg->data, sizeof(conf));
	if (conf.xmitAlg < NG_ONE2MANY_XMIT_ROUNDROBIN ||
	    conf.xmitAlg > NG_ONE2MANY_XMIT_FAILOVER ||
	    conf.failAlg < NG_ONE2MANY_FAIL_MANUAL ||
	    conf.failAlg > NG_ONE2MANY_FAIL_NOTIFY)
		return (EINVAL);
	om->om_enabled = 0;
	for (unsigned int i = 0; i < NG_ONE2MANY_MAX_LINKS; i++)
		if (conf.enabledLinks[i] != 0)
			om->om_enabled |= UINT64_C(1) << i;
	om->om_failalg = conf.failAlg;
	atomic_store_explicit(&om->om_xmitalg, conf.xmitAlg,
	    memory_order_relaxed);
	o2m_update(node);
	return (0);
}

static int
o2m_getconfig(struct o2m *om, struct ng_request *rq)
{
	struct ng_one2many_config conf;

	if (ng_request_msg(rq)->header.arglen != 0)
		return (EINVAL);
	conf.xmitAlg = atomic_load_explicit(&om->om_xmitalg,
	    memory_order_relaxed);
	conf.failAlg = om->om_failalg;
	for (unsigned int i = 0; i < NG_ONE2MANY_MAX_LINKS; i++)
		conf.enabledLinks[i] = (uint8_t)(om->om_enabled >> i & 1);
	return (ng_respond(rq, &conf, sizeof(conf)));
}

static int
o2m_stats(struct o2m *om, struct ng_request *rq)
{
	static const struct ng_one2many_link_stats none;
	const struct ng_mesg *msg = ng_request_msg(rq);
	struct ng_stat *st;
	int32_t link;

	if (msg->header.arglen != sizeof(link))
		return (EINVAL);
	memcpy(&link, msg->data, sizeof(link));
	if (link < -1 || link >= NG_ONE2MANY_MAX_LINKS)
		return (EINVAL);
	st = &om->om_link[link == -1 ? O2M_ONE : link].ol_stat;
	if (st->st_cells != 0)
		return (ng_stat_rcvmsg(rq, NGM_ONE2MANY_GET_STATS, st, 1));
	/* It never had a hook. */
	return (msg->header.cmd == NGM_ONE2MANY_CLR_STATS ? 0 :
	    ng_respond(rq, &none, sizeof(none)));
}

/* The state of a link, from the node behind it. */
static int
o2m_flow(node_p node, const struct ng_msghdr *hdr, hook_p lasthook)
{
	struct o2m *om = ng_node_private(node);
	struct o2m_link *ol;
	uint64_t bit;

	if (hdr->arglen != 0 || (hdr->cmd != NGM_LINK_IS_UP &&
	    hdr->cmd != NGM_LINK_IS_DOWN))
		return (EINVAL);
	if (lasthook == NULL || om->om_failalg != NG_ONE2MANY_FAIL_NOTIFY)
		return (0);
	ol = ng_hook_private(lasthook);
	if (ol == &om->om_link[O2M_ONE])
		return (0);
	bit = UINT64_C(1) << (ol - om->om_link);
	if (hdr->cmd == NGM_LINK_IS_UP)
		om->om_enabled |= bit;
	else
		om->om_enabled &= ~bit;
	o2m_update(node);
	return (0);
}

static int
ng_one2many_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	const struct ng_mesg *msg = ng_request_msg(rq);
	struct o2m *om = ng_node_private(node);

	if (msg->header.typecookie == NGM_FLOW_COOKIE)
		return (o2m_flow(node, &msg->header, lasthook));
	if (msg->header.typecookie != NGM_ONE2MANY_COOKIE)
		return (EINVAL);
	switch (msg->header.cmd) {
	case NGM_ONE2MANY_SET_CONFIG:
		return (o2m_setconfig(node, msg));
	case NGM_ONE2MANY_GET_CONFIG:
		return (o2m_getconfig(om, rq));
	case NGM_ONE2MANY_GET_STATS:
	case NGM_ONE2MANY_CLR_STATS:
	case NGM_ONE2MANY_GETCLR_STATS:
		return (o2m_stats(om, rq));
	default:
		return (EINVAL);
	}
}

static void
ng_one2many_shutdown(node_p node)
{
	struct o2m *om = ng_node_private(node);

	for (unsigned int i = 0; i <= O2M_ONE; i++)
		ng_stat_fini(&om->om_link[i].ol_stat);
	free(om);
}

/* ---- Text ---- */

static const struct ng_parse_fixedarray_info ng_one2many_links_info = {
	.elementType = &ng_parse_uint8_type, .length = NG_ONE2MANY_MAX_LINKS,
};
static const struct ng_parse_type ng_one2many_links_type = {
	.supertype = &ng_parse_fixedarray_type,
	.info = &ng_one2many_links_info,
};
static const struct ng_parse_struct_field ng_one2many_config_fields[] = {
	{ "xmitAlg", &ng_parse_uint32_type, 0 },
	{ "failAlg", &ng_parse_uint32_type, 0 },
	{ "enabledLinks", &ng_one2many_links_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_one2many_config_type = {
	.supertype = &ng_parse_struct_type,
	.info = ng_one2many_config_fields,
};
static const struct ng_parse_struct_field ng_one2many_stats_fields[] = {
	{ "recvOctets", &ng_parse_uint64_type, 0 },
	{ "recvPackets", &ng_parse_uint64_type, 0 },
	{ "xmitOctets", &ng_parse_uint64_type, 0 },
	{ "xmitPackets", &ng_parse_uint64_type, 0 },
	{ "memoryFailures", &ng_parse_uint64_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_one2many_stats_type = {
	.supertype = &ng_parse_struct_type,
	.info = ng_one2many_stats_fields,
};

static const struct ng_cmdlist ng_one2many_cmds[] = {
	{ NGM_ONE2MANY_COOKIE, NGM_ONE2MANY_SET_CONFIG, "setconfig",
	    &ng_one2many_config_type, NULL },
	{ NGM_ONE2MANY_COOKIE, NGM_ONE2MANY_GET_CONFIG, "getconfig", NULL,
	    &ng_one2many_config_type },
	{ NGM_ONE2MANY_COOKIE, NGM_ONE2MANY_GET_STATS, "getstats",
	    &ng_parse_int32_type, &ng_one2many_stats_type },
	{ NGM_ONE2MANY_COOKIE, NGM_ONE2MANY_CLR_STATS, "clrstats",
	    &ng_parse_int32_type, NULL },
	{ NGM_ONE2MANY_COOKIE, NGM_ONE2MANY_GETCLR_STATS, "getclrstats",
	    &ng_parse_int32_type, &ng_one2many_stats_type },
	{ .name = NULL },
};

const struct ng_type ng_one2many_type = {
	.version = NG_ABI_VERSION,
	.name = NG_ONE2MANY_NODE_TYPE,
	.constructor = ng_one2many_constructor,
	.rcvmsg = ng_one2many_rcvmsg,
	.shutdown = ng_one2many_shutdown,
	.newhook = ng_one2many_newhook,
	.connect = ng_one2many_connect,
	.rcvdata = ng_one2many_rcvdata,
	.disconnect = ng_one2many_disconnect,
	.cmdlist = ng_one2many_cmds,
};
