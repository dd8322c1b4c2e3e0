/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The source node: ng_source.c, and its text in ng_source_text.c.
 */
#ifndef _NETGRAPH_NODES_NG_SOURCE_PRIVATE_H_
#define	_NETGRAPH_NODES_NG_SOURCE_PRIVATE_H_

#include <netgraph/netgraph.h>

extern const struct ng_cmdlist ng_source_cmds[];

#endif /* _NETGRAPH_NODES_NG_SOURCE_PRIVATE_H_ */
