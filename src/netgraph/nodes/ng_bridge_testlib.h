/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the tests of bridge share: a bridge named br, and what it says of
 * itself.  The names are short, since these tests are all that is linked with
 * them.
 */
#ifndef _NETGRAPH_NODES_NG_BRIDGE_TESTLIB_H_
#define	_NETGRAPH_NODES_NG_BRIDGE_TESTLIB_H_

#include "netgraph/nodes/ng_node_testlib.h"

#include <netgraph/ng_bridge.h>

/* The bridge br, its hook link joined to the probe's hook ours; one more. */
void	make_bridge(const char *ours, const char *link);
void	add_link(const char *ours, const char *link);
/* With the probe's a, b and c at link0, link1 and link2. */
void	make_abc(void);

/* The hosts it knows; kept until the next reply. */
const struct ng_bridge_host_ary *table(void);
/* The host's entry in the table, or NULL. */
const struct ng_bridge_host *host(uint64_t addr);
struct ng_bridge_link_stats stats(int32_t link);
void	setconfig(uint8_t debug, uint32_t timeout, uint32_t staleness,
	    uint32_t age);

#endif /* _NETGRAPH_NODES_NG_BRIDGE_TESTLIB_H_ */
