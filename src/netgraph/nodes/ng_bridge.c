/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * bridge: an Ethernet switch that learns where hosts are.
 *
 * Data methods run in the epoch and in parallel.  They read the hosts
 * (ng_bridge_host.h), the list of links and a link's mute without a lock, and
 * write nothing that is shared: a host's second of being seen when it changes,
 * counters of their own thread.  They take the hosts' lock where a source is
 * new or has moved, which is at once learned.  Control work adds and removes
 * links, and a callout that runs each second is the clock: it forgets silent
 * hosts and ends mutes.
 *
 * A burst is looked at packet by packet and leaves as one burst for each link.
 *
 * A host that moves before it was minStableAge seconds in one place has gone
 * round a loop: the packet is dropped with ELOOP, and the link that it came by
 * is muted.  A flood gives the newest link the packet itself, last, and has
 * the result of that delivery: so a loop that a new link closes is told to
 * whoever sent the packet.
 *
 * Lock order: the configuration lock, then bs_mtx.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netepoch/epoch.h>

#include "ifnet/vnet.h"
#include "netgraph/nodes/ng_bridge_private.h"
#include "netgraph/nodes/ng_nodes.h"
#include "sys/defs.h"
#include "sys/log.h"
#include "sys/thread.h"
#include "wire/ether.h"

#define	BRIDGE_SECOND		UINT64_C(1000000000)	/* ns */
#define	BRIDGE_OUTS		8	/* links that one burst goes to */

const char *
bridge_link_name(const struct bridge_link *bl)
{

	return (ng_hook_name(bridge_hook(bl)));
}

static inline void
bridge_count(struct bridge_link *bl, unsigned int what, uint64_t n)
{

	if (n != 0)
		ng_stat_add(&bl->bl_stat, what, n);
}

/* The link of a number, or NULL. */
struct bridge_link *
bridge_link_find(struct bridge *br, int number)
{
	char name[NG_HOOKSIZ];
	hook_p hook;

	snprintf(name, sizeof(name), number < 0 ? NG_BRIDGE_HOOK_UPLINK_FMT :
	    NG_BRIDGE_HOOK_LINK_FMT, number < 0 ? -number : number);
	hook = ng_findhook(br->br_node, name);
	return (hook == NULL ? NULL : ng_hook_private(hook));
}

/* ---- Learning ---- */

/* Control, put off by the data method; arg is the link's number. */
static void
bridge_log_loop(node_p node, void *arg)
{
	struct bridge *br = ng_node_private(node);
	struct bridge_link *bl = bridge_link_find(br, (int)(intptr_t)arg);

	if (bl != NULL)
		log_msg(LOG_WARNING, "ng_bridge: %s: loopback detected on %s",
		    ng_node_name(node), bridge_link_name(bl));
}

static void
bridge_log_restore(node_p node, void *arg)
{
	struct bridge *br = ng_node_private(node);
	struct bridge_link *bl;

	(void)arg;
	/* Links come and go by control work only. */
	CK_LIST_FOREACH(bl, &br->br_links, bl_next)
		if (atomic_exchange_explicit(&bl->bl_restored, false,
		    memory_order_relaxed))
			log_msg(LOG_WARNING, "ng_bridge: %s: restoring "
			    "looped back %s", ng_node_name(node),
			    bridge_link_name(bl));
}

/* True: it is to be logged. */
static bool
bridge_mute(struct bridge *br, struct bridge_link *bl)
{

	MTX_ASSERT(&br->br_hosts.bs_mtx);

	bridge_count(bl, BRS_LOOPDETECTS, 1);
	atomic_store_explicit(&bl->bl_muted, br->br_conf.loopTimeout,
	    memory_order_relaxed);
	bridge_hosts_forget(&br->br_hosts, bl);
	return (br->br_conf.debugLevel >= 2);
}

int
bridge_move(struct bridge *br, struct bridge_link *bl, uint64_t key)
{
	struct bridge_hosts *bs = &br->br_hosts;
	struct bridge_host *bh;
	uint64_t now, *since;
	bool log = false;
	int error = 0;

	mtx_lock(&bs->bs_mtx);
	now = time_ns();
	bh = bridge_host_lookup(bs, key);
	if (bh == NULL) {
		if (bridge_host_insert(bs, key, bl, bridge_now(br)) == ENOMEM)
			bridge_count(bl, BRS_MEMORYFAILURES, 1);
	} else if (bridge_host_link(bh) != bl) {
		since = bridge_host_since(bs, bh);
		if ((now - *since) / BRIDGE_SECOND <
		    br->br_conf.minStableAge) {
			log = bridge_mute(br, bl);
			error = ELOOP;
		} else {
			*since = now;
			/* Pairs with the acquire in bridge_host_link(). */
			atomic_store_explicit(&bh->bh_link, bl,
			    memory_order_release);
		}
	}
	mtx_unlock(&bs->bs_mtx);
	if (log)
		(void)ng_send_fn(br->br_node, bridge_log_loop,
		    (void *)(intptr_t)bl->bl_number);
	return (error);
}

/* ---- Sending ---- */

static int
bridge_xmit(struct bridge_link *bl, item_p item)
{
	uint64_t octets = ng_item_octets(item);
	unsigned int n = item->it_n;
	int error;

	error = ng_fwd_item(item, bridge_hook(bl));
	if (error == 0) {
		ng_stat_add(&bl->bl_stat, BRS_XMITPACKETS, n);
		ng_stat_add(&bl->bl_stat, BRS_XMITOCTETS, octets);
	}
	return (error);
}

/* A burst that is flooded. */
struct bridge_flood {
	bool		 bf_unknown;	/* to unknown hosts, not to groups */
	unsigned int	 bf_mcasts;	/* packets to groups but that of all */
	unsigned int	 bf_bcasts;	/* to all */
	struct ng_item	 bf_item;
};

static int
bridge_flood_xmit(struct bridge_link *bl, struct bridge_flood *bf, item_p item)
{
	int error;

	error = bridge_xmit(bl, item);
	if (error == 0) {
		bridge_count(bl, BRS_XMITMULTICASTS, bf->bf_mcasts);
		bridge_count(bl, BRS_XMITBROADCASTS, bf->bf_bcasts);
	}
	return (error);
}

/* Copies to all but the newest link, which gets the burst itself, last. */
static __attribute__((noinline)) int
bridge_flood(struct bridge *br, struct bridge_link *in,
    struct bridge_flood *bf)
{
	struct bridge_link *bl, *first = NULL;
	hook_p from = bridge_hook(in);
	struct ng_item copy;

	CK_LIST_FOREACH(bl, &br->br_links, bl_next) {
		if (bridge_hook(bl) == from ||
		    (bf->bf_unknown && !bl->bl_unknown))
			continue;
		if (first == NULL) {
			first = bl;
			continue;
		}
		if (!ng_item_dup(&bf->bf_item, &copy)) {
			bridge_count(in, BRS_MEMORYFAILURES, 1);
			ng_item_free(&bf->bf_item);
			return (ENOBUFS);
		}
		(void)bridge_flood_xmit(bl, bf, &copy);
	}
	if (first == NULL) {
		(void)ng_fwd_item(&bf->bf_item, NULL);	/* counts them */
		return (0);
	}
	return (bridge_flood_xmit(first, bf, &bf->bf_item));
}

/* ---- Receiving ---- */

/* A burst on its way through: what is left of it, and its addresses. */
struct bridge_burst {
	unsigned int	 bb_n;
	int		 bb_error;	/* of the last packet dropped */
	struct mbuf	*bb_m[NG_BURST];
	uint64_t	 bb_dst[NG_BURST];
	uint64_t	 bb_src[NG_BURST];
	/* Where each goes; in doubt by its address. */
	struct bridge_link *bb_to[NG_BURST];
};

static __attribute__((noinline)) void
bridge_drop(struct bridge_link *in, struct bridge_burst *bb, struct mbuf *m,
    unsigned int why, int error)
{

	bridge_count(in, why, 1);
	m_freem(m);
	bb->bb_error = error;
}

/* Drop from packet i on: the link is muted. */
static __attribute__((noinline)) void
bridge_drop_muted(struct bridge_link *in, struct bridge_burst *bb,
    unsigned int i)
{

	if (i == bb->bb_n)
		return;
	bridge_count(in, BRS_LOOPDROPS, bb->bb_n - i);
	m_free_burst(&bb->bb_m[i], bb->bb_n - i);
	bb->bb_n = i;
	bb->bb_error = ELOOP;
}

/* Check frames and take their addresses; fetch what they hash to. */
static inline void
bridge_frames(struct bridge_table *bt, struct bridge_link *in,
    struct bridge_burst *bb, item_p item)
{
	uint64_t octets = 0, dst, src;
	struct mbuf *m;

	bb->bb_n = 0;
	bb->bb_error = 0;
	for (unsigned int i = 0; i < item->it_n; i++) {
		m = item->it_m[i];
		if (__predict_false(m->m_len < ETHER_HDR_LEN)) {
			if (m->m_pkthdr.len < ETHER_HDR_LEN) {
				bridge_drop(in, bb, m, BRS_RECVRUNTS, EINVAL);
				continue;
			}
			m = m_pullup(m, ETHER_HDR_LEN);
			if (m == NULL) {
				bridge_drop(in, bb, m, BRS_MEMORYFAILURES,
				    ENOBUFS);
				continue;
			}
		}
		dst = bridge_key(mtod(m, const uint8_t *));
		src = bridge_key(mtod(m, const uint8_t *) + ETHER_ADDR_LEN);
		if (__predict_false((src & BRIDGE_KEY_MCAST) != 0)) {
			bridge_drop(in, bb, m, BRS_RECVINVALID, EINVAL);
			continue;
		}
		__builtin_prefetch(&bt->bt_slot[bridge_slot(bt, dst)]);
		__builtin_prefetch(&bt->bt_slot[bridge_slot(bt, src)]);
		octets += m->m_pkthdr.len;
		bb->bb_m[bb->bb_n] = m;
		bb->bb_dst[bb->bb_n] = dst;
		bb->bb_src[bb->bb_n++] = src;
	}
	if (__predict_false(bridge_muted(in))) {
		bridge_drop_muted(in, bb, 0);
		return;
	}
	bridge_count(in, BRS_RECVPACKETS, bb->bb_n);
	bridge_count(in, BRS_RECVOCTETS, octets);
}

/*
 * The source of packet i is not where we knew it.  False: the packet has gone
 * round a loop.
 */
static __attribute__((noinline)) bool
bridge_source(struct bridge *br, struct bridge_link *in,
    struct bridge_burst *bb, unsigned int i, bool known)
{

	if (!known && !in->bl_learn)
		return (true);
	if (bridge_move(br, in, bb->bb_src[i]) == 0)
		return (true);
	bridge_drop(in, bb, bb->bb_m[i], BRS_LOOPDROPS, ELOOP);
	return (false);
}

/* Look the sources up, learn, drop what has gone round a loop. */
static inline void
bridge_sources(struct bridge *br, struct bridge_table *bt,
    struct bridge_link *in, struct bridge_burst *bb)
{
	uint32_t now = bridge_now(br);
	unsigned int n = 0, i;
	struct bridge_host *bh;

	for (i = 0; i < bb->bb_n; i++) {
		bh = bridge_host_find(bt, bb->bb_src[i]);
		if (bh != NULL)
			bridge_host_see(bh, bb->bb_src[i], now);
		if (__predict_false(bh == NULL ||
		    bridge_host_link(bh) != in)) {
			if (!bridge_source(br, in, bb, i, bh != NULL)) {
				if (!bridge_muted(in))
					continue;
				bridge_drop_muted(in, bb, i + 1);
				break;
			}
		}
		if (__predict_false(n != i)) {
			bb->bb_m[n] = bb->bb_m[i];
			bb->bb_dst[n] = bb->bb_dst[i];
		}
		n++;
	}
	bb->bb_n = n;
}

/*
 * Look the destinations up; NULL is a flood.  Packets for where they came from
 * are dropped.  True: all that is left goes to the same link.
 */
static inline bool
bridge_destinations(struct bridge_table *bt, struct bridge_link *in,
    struct bridge_burst *bb)
{
	struct bridge_link *to;
	struct bridge_host *bh;
	unsigned int n = 0;
	bool same = true;

	for (unsigned int i = 0; i < bb->bb_n; i++) {
		to = NULL;
		if ((bb->bb_dst[i] & BRIDGE_KEY_MCAST) == 0) {
			bh = bridge_host_find(bt, bb->bb_dst[i]);
			if (bh != NULL)
				to = bridge_host_link(bh);
		}
		if (__predict_false(to == in)) {
			m_freem(bb->bb_m[i]);
			continue;
		}
		if (__predict_false(n != i)) {
			bb->bb_m[n] = bb->bb_m[i];
			bb->bb_dst[n] = bb->bb_dst[i];
		}
		bb->bb_to[n] = to;
		same &= to == bb->bb_to[0];
		n++;
	}
	bb->bb_n = n;
	return (same && n != 0 && bb->bb_to[0] != NULL);
}

/* Flood packets i and following, while they are alike; the next one. */
static unsigned int
bridge_flood_run(struct bridge *br, struct bridge_link *in,
    struct bridge_burst *bb, unsigned int i)
{
	struct bridge_flood bf;
	int error;

	bf.bf_unknown = (bb->bb_dst[i] & BRIDGE_KEY_MCAST) == 0;
	bf.bf_mcasts = bf.bf_bcasts = bf.bf_item.it_n = 0;
	for (; i < bb->bb_n && bb->bb_to[i] == NULL && bf.bf_unknown ==
	    ((bb->bb_dst[i] & BRIDGE_KEY_MCAST) == 0); i++) {
		if (bb->bb_dst[i] == BRIDGE_KEY_BCAST)
			bf.bf_bcasts++;
		else if (!bf.bf_unknown)
			bf.bf_mcasts++;
		bf.bf_item.it_m[bf.bf_item.it_n++] = bb->bb_m[i];
	}
	bridge_count(in, BRS_RECVBROADCASTS, bf.bf_bcasts);
	bridge_count(in, BRS_RECVMULTICASTS, bf.bf_mcasts);
	if (bf.bf_unknown)
		bridge_count(in, BRS_RECVUNKNOWN, bf.bf_item.it_n);
	error = bridge_flood(br, in, &bf);
	if (error != 0)
		bb->bb_error = error;
	return (i);
}

/*
 * Bursts for some links.  A link has its place, without a search: which of the
 * links a packet goes to is nothing that a CPU could foresee.  One that finds
 * another there pushes it out.
 */
struct bridge_out {
	struct bridge_link *bo_to;	/* NULL: nobody's */
	struct ng_item	 bo_item;
};
struct bridge_outs {
	struct bridge_out os_out[BRIDGE_OUTS];
};

static void
bridge_outs_send(struct bridge_burst *bb, struct bridge_out *bo)
{
	int error;

	if (bo->bo_to == NULL)
		return;
	error = bridge_xmit(bo->bo_to, &bo->bo_item);
	if (error != 0)
		bb->bb_error = error;
	bo->bo_to = NULL;
}

static void
bridge_outs_flush(struct bridge_burst *bb, struct bridge_outs *os)
{

	for (unsigned int i = 0; i < BRIDGE_OUTS; i++)
		bridge_outs_send(bb, &os->os_out[i]);
}

static inline void
bridge_outs_put(struct bridge_burst *bb, struct bridge_outs *os,
    struct bridge_link *to, struct mbuf *m)
{
	struct bridge_out *bo = &os->os_out[to->bl_out];

	if (__predict_false(bo->bo_to != to)) {
		bridge_outs_send(bb, bo);
		bo->bo_to = to;
		bo->bo_item.it_n = 0;
	}
	bo->bo_item.it_m[bo->bo_item.it_n++] = m;
}

/* Packets that go different ways: a link's stay in order. */
static __attribute__((noinline)) void
bridge_scatter(struct bridge *br, struct bridge_link *in,
    struct bridge_burst *bb)
{
	struct bridge_outs os;
	unsigned int i = 0;

	for (; i < BRIDGE_OUTS; i++)
		os.os_out[i].bo_to = NULL;
	i = 0;
	while (i < bb->bb_n) {
		if (bb->bb_to[i] != NULL) {
			bridge_outs_put(bb, &os, bb->bb_to[i], bb->bb_m[i]);
			i++;
		} else {
			bridge_outs_flush(bb, &os);
			i = bridge_flood_run(br, in, bb, i);
		}
	}
	bridge_outs_flush(bb, &os);
}

static int
ng_bridge_rcvdata(hook_p hook, item_p item)
{
	struct bridge_link *in = ng_hook_private(hook);
	struct bridge *br = in->bl_bridge;
	struct bridge_table *bt = bridge_table(&br->br_hosts);
	struct bridge_burst bb;
	int error;

	NET_EPOCH_ASSERT();

	bridge_frames(bt, in, &bb, item);
	bridge_sources(br, bt, in, &bb);
	/* What was learned may have made a new table. */
	bt = bridge_table(&br->br_hosts);
	if (!bridge_destinations(bt, in, &bb)) {
		bridge_scatter(br, in, &bb);
		return (bb.bb_error);
	}
	memcpy(item->it_m, bb.bb_m, bb.bb_n * sizeof(bb.bb_m[0]));
	item->it_n = bb.bb_n;
	error = bridge_xmit(bb.bb_to[0], item);
	return (error != 0 ? error : bb.bb_error);
}

/* ---- Time ---- */

/* Each second, on the callouts' thread. */
static void
bridge_tick(void *arg)
{
	struct bridge *br = arg;
	struct bridge_hosts *bs = &br->br_hosts;
	struct bridge_link *bl;
	uint32_t now, muted;
	bool log = false;

	now = atomic_fetch_add_explicit(&br->br_now, 1,
	    memory_order_relaxed) + 1;
	mtx_lock(&bs->bs_mtx);
	bridge_hosts_age(bs, now, br->br_conf.maxStaleness);
	CK_LIST_FOREACH(bl, &br->br_links, bl_next) {
		muted = atomic_load_explicit(&bl->bl_muted,
		    memory_order_relaxed);
		if (muted == 0)
			continue;
		atomic_store_explicit(&bl->bl_muted, muted - 1,
		    memory_order_relaxed);
		if (muted == 1 && br->br_conf.debugLevel >= 2) {
			atomic_store_explicit(&bl->bl_restored, true,
			    memory_order_relaxed);
			log = true;
		}
	}
	mtx_unlock(&bs->bs_mtx);
	if (log)
		(void)ng_send_fn(br->br_node, bridge_log_restore, NULL);
	callout_reset(&br->br_callout, BRIDGE_SECOND, bridge_tick, br);
}

/* ---- Nodes and hooks ---- */

static int
ng_bridge_constructor(node_p node)
{
	struct bridge *br;
	int error;

	if ((br = calloc(1, sizeof(*br))) == NULL)
		return (ENOMEM);
	error = bridge_hosts_init(&br->br_hosts);
	if (error != 0) {
		free(br);
		return (error);
	}
	br->br_node = node;
	br->br_unknown = true;
	br->br_conf.debugLevel = 1;
	br->br_conf.loopTimeout = 60;
	br->br_conf.maxStaleness = 15 * 60;
	br->br_conf.minStableAge = 1;
	CK_LIST_INIT(&br->br_links);
	ng_node_set_private(node, br);
	callout_init(&br->br_callout, ng_node_vnet(node)->v_callouts, 0, NULL);
	callout_reset(&br->br_callout, BRIDGE_SECOND, bridge_tick, br);
	return (0);
}

/*
 * The number of a link by its hook's name, negative for an uplink; EINVAL.  A
 * name without a number is that of the lowest which is free, so that programs
 * which share a bridge need not know of each other's links.
 */
static int
bridge_link_number(struct bridge *br, hook_p hook, const char *name,
    int *number)
{
	static const struct {
		const char *prefix, *fmt;
		int	 first, step;
	} kinds[] = {
		{ NG_BRIDGE_HOOK_LINK_PREFIX, NG_BRIDGE_HOOK_LINK_FMT, 0, 1 },
		{ NG_BRIDGE_HOOK_UPLINK_PREFIX, NG_BRIDGE_HOOK_UPLINK_FMT, -1,
		    -1 },
	}, *k;
	char full[NG_HOOKSIZ];
	int n;

	for (k = kinds; k < &kinds[nitems(kinds)]; k++) {
		if (strcmp(name, k->prefix) == 0) {
			*number = k->first;
			while (bridge_link_find(br, *number) != NULL)
				*number += k->step;
			snprintf(full, sizeof(full), k->fmt,
			    *number * k->step);
			return (ng_hook_set_name(hook, full));
		}
		n = ng_hook_number(name, k->prefix, INT32_MAX);
		if (n >= k->first * k->step) {
			*number = n * k->step;
			return (0);
		}
	}
	return (EINVAL);
}

static int
ng_bridge_newhook(node_p node, hook_p hook, const char *name)
{
	struct bridge *br = ng_node_private(node);
	struct bridge_link *bl;
	int number, error;
	bool uplink;

	error = bridge_link_number(br, hook, name, &number);
	if (error != 0)
		return (error);
	uplink = number < 0;
	if ((bl = calloc(1, sizeof(*bl))) == NULL)
		return (ENOMEM);
	error = ng_stat_init(&bl->bl_stat, BRS_COUNT);
	if (error != 0) {
		free(bl);
		return (error);
	}
	/* Uplinks know the rest of the world: so these get it, for good. */
	if (!br->br_begun && uplink)
		br->br_unknown = false;
	br->br_begun = true;
	bl->bl_bridge = br;
	bl->bl_number = number;
	bl->bl_out = br->br_nextout++ % BRIDGE_OUTS;
	bl->bl_learn = !uplink;
	bl->bl_unknown = uplink || br->br_unknown;
	/* Pairs with the acquire in bridge_hook(). */
	atomic_store_explicit(&bl->bl_hook, hook, memory_order_release);
	ng_hook_set_private(hook, bl);
	return (0);
}

static int
ng_bridge_connect(hook_p hook)
{
	struct bridge_link *bl = ng_hook_private(hook);
	struct bridge *br = bl->bl_bridge;

	if (ng_hook_node(ng_hook_peer(hook)) == br->br_node)
		return (ELOOP);
	mtx_lock(&br->br_hosts.bs_mtx);
	CK_LIST_INSERT_HEAD(&br->br_links, bl, bl_next);
	bl->bl_listed = true;
	mtx_unlock(&br->br_hosts.bs_mtx);
	return (0);
}

static void
bridge_link_free_cb(epoch_context_t ctx)
{
	struct bridge_link *bl = __containerof(ctx, struct bridge_link,
	    bl_ctx);

	ng_stat_fini(&bl->bl_stat);
	free(bl);
}

static void
ng_bridge_disconnect(hook_p hook)
{
	struct bridge_link *bl = ng_hook_private(hook);
	struct bridge *br = bl->bl_bridge;

	mtx_lock(&br->br_hosts.bs_mtx);
	if (bl->bl_listed)
		CK_LIST_REMOVE(bl, bl_next);
	bridge_hosts_forget(&br->br_hosts, bl);
	mtx_unlock(&br->br_hosts.bs_mtx);
	NET_EPOCH_CALL(bridge_link_free_cb, &bl->bl_ctx);
}

static void
ng_bridge_shutdown(node_p node)
{
	struct bridge *br = ng_node_private(node);

	callout_drain(&br->br_callout);
	bridge_hosts_fini(&br->br_hosts);
	free(br);
}

const struct ng_type ng_bridge_type = {
	.version = NG_ABI_VERSION,
	.name = NG_BRIDGE_NODE_TYPE,
	.constructor = ng_bridge_constructor,
	.rcvmsg = ng_bridge_rcvmsg,
	.shutdown = ng_bridge_shutdown,
	.newhook = ng_bridge_newhook,
	.connect = ng_bridge_connect,
	.rcvdata = ng_bridge_rcvdata,
	.disconnect = ng_bridge_disconnect,
	.cmdlist = ng_bridge_cmds,
};
