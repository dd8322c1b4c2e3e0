/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Nodes that are an interface, which is there as long as its node: ngeth0, ng3.
 * A type has a list of its own, of all machines of the process and in ascending
 * order of numbers; machines do not share numbers.  Control work, but for what
 * is said to be of the data path.
 */
#ifndef _NETGRAPH_NODES_NG_IFNODE_H_
#define	_NETGRAPH_NODES_NG_IFNODE_H_

#include <sys/queue.h>

#include <stdbool.h>

#include <netgraph/netgraph.h>

#include "ifnet/if_var.h"

struct ng_ifnode {
	LIST_ENTRY(ng_ifnode) in_link;	/* (c) */
	node_p		 in_node;	/* (c) constant */
	unsigned int	 in_number;	/* (c) constant */
	struct ifnet	*in_ifp;	/* (c) constant */
};
LIST_HEAD(ng_ifnodes, ng_ifnode);

/*
 * Give node an interface of type iftype that is called prefix and the lowest
 * number that no other of all has on its machine and that no interface there
 * is called after.  ENOSPC: all of 65536 are taken.  ng_ifnode_free() undoes
 * it.
 */
int	ng_ifnode_alloc(struct ng_ifnodes *all, struct ng_ifnode *in,
	    node_p node, const char *prefix, uint8_t iftype);
void	ng_ifnode_free(struct ng_ifnode *in);
/* Name the node after its interface, if it can be, and if_attach() that. */
int	ng_ifnode_attach(struct ng_ifnode *in);

/* Data: a burst of ifp's output leaves by hook; a failure is counted. */
void	ng_ifnode_send(struct ifnet *ifp, hook_p hook, struct mbuf **m,
	    unsigned int n);
/* Data: if ifp does not take input, drop it. */
static inline bool
ng_ifnode_is_down(struct ifnet *ifp, item_p it)
{
	const uint32_t up = IFF_UP | IFF_RUNNING;

	if (__predict_true((atomic_load_explicit(&ifp->if_flags,
	    memory_order_relaxed) & up) == up))
		return (false);
	if_drop_burst(ifp, it->it_m, it->it_n, IFD_DOWN);
	return (true);
}

/* The text of an interface's name. */
extern const struct ng_parse_type ng_ifname_type;

#endif /* _NETGRAPH_NODES_NG_IFNODE_H_ */
