/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The node types that are built in.
 */
#ifndef _NETGRAPH_NODES_NG_NODES_H_
#define	_NETGRAPH_NODES_NG_NODES_H_

#include <netgraph/netgraph.h>

extern const struct ng_type ng_eiface_type;
extern const struct ng_type ng_ether_type;
extern const struct ng_type ng_socket_type;

#endif /* _NETGRAPH_NODES_NG_NODES_H_ */
