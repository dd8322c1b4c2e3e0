/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The hub node: what comes in on a hook goes out of all others.  Any hook name.
 */
#ifndef NETGRAPH_NG_HUB_H
#define	NETGRAPH_NG_HUB_H

#include <netgraph/ng_message.h>

#define	NG_HUB_NODE_TYPE	"hub"
#define	NGM_HUB_COOKIE		1082189597

enum {
	NGM_HUB_SET_PERSISTENT = 1	/* stay without hooks */
};

#endif /* NETGRAPH_NG_HUB_H */
