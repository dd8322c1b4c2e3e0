/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The node types that are built in, one line for each.  A graph knows those
 * that were loaded: by kldload, or when a node of theirs was asked for.
 */
#include "netgraph/nodes/ng_nodes.h"
#include "stack/machine.h"
#include "sys/defs.h"

const struct ng_type *const machine_ng_types[] = {
	&ng_bpf_type,
	&ng_bridge_type,
	&ng_car_type,
	&ng_echo_type,
	&ng_eiface_type,
	&ng_etf_type,
	&ng_ether_type,
	&ng_hole_type,
	&ng_hub_type,
	&ng_iface_type,
	&ng_ksocket_type,
	&ng_macfilter_type,
	&ng_netflow_type,
	&ng_one2many_type,
	&ng_patch_type,
	&ng_pipe_type,
	&ng_socket_type,
	&ng_source_type,
	&ng_split_type,
	&ng_tee_type,
	&ng_vlan_rotate_type,
	&ng_vlan_type,
};
const size_t machine_nng_types = nitems(machine_ng_types);
