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

extern const struct ng_type ng_bpf_type;
extern const struct ng_type ng_bridge_type;
extern const struct ng_type ng_car_type;
extern const struct ng_type ng_echo_type;
extern const struct ng_type ng_eiface_type;
extern const struct ng_type ng_etf_type;
extern const struct ng_type ng_ether_type;
extern const struct ng_type ng_hole_type;
extern const struct ng_type ng_hub_type;
extern const struct ng_type ng_iface_type;
extern const struct ng_type ng_ksocket_type;
extern const struct ng_type ng_macfilter_type;
extern const struct ng_type ng_netflow_type;
extern const struct ng_type ng_one2many_type;
extern const struct ng_type ng_patch_type;
extern const struct ng_type ng_pipe_type;
extern const struct ng_type ng_socket_type;
extern const struct ng_type ng_source_type;
extern const struct ng_type ng_split_type;
extern const struct ng_type ng_tee_type;
extern const struct ng_type ng_vlan_rotate_type;
extern const struct ng_type ng_vlan_type;

#endif /* _NETGRAPH_NODES_NG_NODES_H_ */
