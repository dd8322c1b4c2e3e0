/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* What the tools that speak to the graph share. */
#ifndef _TOOLS_NGTOOL_H_
#define	_TOOLS_NGTOOL_H_

struct tool_ctx;

/*
 * Make a socket node in the graph of the machine that tc names.  debug is
 * libnetgraph's level.  0, and both descriptors are the caller's; or the exit
 * status, and the reason has been printed.
 */
int	ngtool_open(struct tool_ctx *tc, const char *name, int debug,
	    int *cs, int *ds);

#endif /* _TOOLS_NGTOOL_H_ */
