/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The pipe node: ng_pipe.c, and its text in ng_pipe_text.c.
 */
#ifndef _NETGRAPH_NODES_NG_PIPE_PRIVATE_H_
#define	_NETGRAPH_NODES_NG_PIPE_PRIVATE_H_

#include <netgraph/netgraph.h>

extern const struct ng_cmdlist ng_pipe_cmds[];

#endif /* _NETGRAPH_NODES_NG_PIPE_PRIVATE_H_ */
