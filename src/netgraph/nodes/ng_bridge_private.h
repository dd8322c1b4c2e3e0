/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The bridge's own structures; ng_bridge.c says how they are used.
 *
 * Keys: h is bs_mtx (ng_bridge_host.h).
 */
#ifndef _NETGRAPH_NODES_NG_BRIDGE_PRIVATE_H_
#define	_NETGRAPH_NODES_NG_BRIDGE_PRIVATE_H_

#include <ck_queue.h>

#include "intr/callout.h"
#include "netgraph/nodes/ng_bridge_host.h"
#include "netgraph/nodes/ng_stat.h"

/* The order of struct ng_bridge_link_stats. */
enum { BRS_RECVOCTETS, BRS_RECVPACKETS, BRS_RECVMULTICASTS,
	BRS_RECVBROADCASTS, BRS_RECVUNKNOWN, BRS_RECVRUNTS, BRS_RECVINVALID,
	BRS_XMITOCTETS, BRS_XMITPACKETS, BRS_XMITMULTICASTS,
	BRS_XMITBROADCASTS, BRS_LOOPDROPS, BRS_LOOPDETECTS,
	BRS_MEMORYFAILURES, BRS_COUNT };

struct bridge_link {
	struct bridge	*bl_bridge;	/* (c) constant */
	_Atomic(hook_p)	 bl_hook;	/* (a) acquire/release; constant */
	int		 bl_number;	/* (c) constant; negative: uplink */
	unsigned int	 bl_out;	/* (c) constant: place in a burst */
	bool		 bl_learn;	/* (c) constant */
	bool		 bl_unknown;	/* (c) constant: gets unknown hosts' */
	bool		 bl_listed;	/* (c) */
	_Atomic bool	 bl_restored;	/* (a) relaxed: to be logged */
	_Atomic uint32_t bl_muted;	/* (a) relaxed: seconds; writers hold
					   h */
	CK_LIST_ENTRY(bridge_link) bl_next; /* (e/h) */
	struct ng_stat	 bl_stat;
	struct epoch_context bl_ctx;	/* (o) */
};

struct bridge {
	node_p		 br_node;	/* (c) constant */
	_Atomic uint32_t br_now;	/* (a) relaxed: the callout's seconds */
	CK_LIST_HEAD(, bridge_link) br_links; /* (e/h) newest first */
	struct bridge_hosts br_hosts;
	struct ng_bridge_config br_conf; /* (h) */
	unsigned int	 br_nextout;	/* (c) bl_out of the next link */
	bool		 br_begun;	/* (c) it has had a hook */
	bool		 br_unknown;	/* (c) bl_unknown of ordinary links */
	struct callout	 br_callout;
};

/* Comes first for whoever found the link in the list. */
static inline hook_p
bridge_hook(const struct bridge_link *bl)
{

	/* Pairs with the release in ng_bridge_newhook(). */
	return (atomic_load_explicit(&bl->bl_hook, memory_order_acquire));
}

static inline bool
bridge_muted(struct bridge_link *bl)
{

	return (atomic_load_explicit(&bl->bl_muted, memory_order_relaxed) !=
	    0);
}

static inline uint32_t
bridge_now(struct bridge *br)
{

	return (atomic_load_explicit(&br->br_now, memory_order_relaxed));
}

/* The link of a number, or NULL.  Control, as is what follows. */
struct bridge_link *bridge_link_find(struct bridge *br, int number);
/*
 * A host is at link bl now.  ELOOP: it moves too soon, and the link is muted;
 * else 0, even if there is no memory to learn it.  Data as well.
 */
int	bridge_move(struct bridge *br, struct bridge_link *bl, uint64_t key);

/* ng_bridge_msg.c */
ng_rcvmsg_t ng_bridge_rcvmsg;
extern const struct ng_cmdlist ng_bridge_cmds[];

#endif /* _NETGRAPH_NODES_NG_BRIDGE_PRIVATE_H_ */
