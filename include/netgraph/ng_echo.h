/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The echo node: packets and messages go back to where they came from.  Any
 * hook name; no commands.
 */
#ifndef NETGRAPH_NG_ECHO_H
#define	NETGRAPH_NG_ECHO_H

#include <netgraph/ng_message.h>

#define	NG_ECHO_NODE_TYPE	"echo"
#define	NGM_ECHO_COOKIE		884298942

#endif /* NETGRAPH_NG_ECHO_H */
