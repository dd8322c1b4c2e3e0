/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * netgraph as the stack room sees it: a machine's graph and its types.
 */
#ifndef _NETGRAPH_NG_VAR_H_
#define	_NETGRAPH_NG_VAR_H_

#include <stdbool.h>
#include <stdint.h>

#include <netgraph/netgraph.h>

struct ng_type;
struct vnet;

/*
 * ng_fwd_item() for who knows another way: false, and the packets are the
 * caller's still, if the hook or the node behind it is coming to its end.
 * In the epoch; for nodes of this tree.
 */
bool	ng_fwd_item_live(item_p item, hook_p hook);

/*
 * An empty graph for vnet, whose v_intr, v_callouts and v_sysctl are there.
 * errno value.  Outside the epoch, as is all of this.
 */
int	ng_vnet_init(struct vnet *vnet);
/* Shuts all nodes down, persistent ones as well. */
void	ng_vnet_shutdown(struct vnet *vnet);
/*
 * The same, and away with the graph: before the vnet's threads end, and after
 * its last interface, whose events go to the types.
 */
void	ng_vnet_fini(struct vnet *vnet);

/*
 * Make type known: EEXIST (its name is), EINVAL (name, version), ENOMEM, or
 * what its attach method says.  module: told back by ng_type_module().
 */
int	ng_type_register(struct vnet *vnet, const struct ng_type *type,
	    void *module);
/* EBUSY: there are nodes of it; ENOENT. */
int	ng_type_unregister(struct vnet *vnet, const char *name);
/* Nodes of the type; 0 also if it is not known. */
unsigned int ng_type_nodes(struct vnet *vnet, const char *name);
/*
 * Who loads types that are asked for and not known: called with "ng_NAME",
 * returns 0 or an errno value (ENOENT: there is none).
 */
void	ng_set_loader(struct vnet *vnet,
	    int (*loader)(struct vnet *vnet, const char *module));

/* For systat -graph and netstat: called for each node.  Control. */
struct ng_node_stat {
	uint32_t	 ns_id;
	const char	*ns_name;	/* "" if none */
	const char	*ns_type;
	unsigned int	 ns_hooks;
	uint64_t	 ns_packets;	/* given to its data methods */
};
void	ng_node_walk(struct vnet *vnet,
	    void (*fn)(const struct ng_node_stat *ns, void *arg), void *arg);

#endif /* _NETGRAPH_NG_VAR_H_ */
