/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The split node: one two-way hook, mixed, for two one-way hooks.  No commands.
 */
#ifndef NETGRAPH_NG_SPLIT_H
#define	NETGRAPH_NG_SPLIT_H

#include <netgraph/ng_message.h>

#define	NG_SPLIT_NODE_TYPE	"split"
#define	NGM_SPLIT_COOKIE	949409402

#define	NG_SPLIT_HOOK_MIXED	"mixed"
#define	NG_SPLIT_HOOK_OUT	"out"		/* gets what mixed receives */
#define	NG_SPLIT_HOOK_IN	"in"		/* goes out of mixed */

#endif /* NETGRAPH_NG_SPLIT_H */
