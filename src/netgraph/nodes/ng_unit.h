/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Numbers of the interfaces that nodes make: ngeth0, ng3.  A type has a list
 * of those in use, of all machines of the process and in ascending order;
 * machines do not share numbers.  Control work.
 */
#ifndef _NETGRAPH_NODES_NG_UNIT_H_
#define	_NETGRAPH_NODES_NG_UNIT_H_

#include <sys/queue.h>

#include <netgraph/netgraph.h>

struct ng_unit {
	LIST_ENTRY(ng_unit) nu_link;	/* (c) */
	node_p		 nu_node;	/* (c) constant */
	unsigned int	 nu_number;	/* (c) constant */
};
LIST_HEAD(ng_units, ng_unit);

/*
 * Give node the lowest number that no other of units has on its machine and
 * that no interface is called after; name (IFNAMLEN bytes) becomes prefix and
 * number.  ENOSPC: all of 65536 are taken.
 */
int	ng_unit_take(struct ng_units *units, node_p node, const char *prefix,
	    struct ng_unit *nu, char *name);
void	ng_unit_give(struct ng_unit *nu);

#endif /* _NETGRAPH_NODES_NG_UNIT_H_ */
