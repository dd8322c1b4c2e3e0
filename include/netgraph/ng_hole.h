/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The hole node: counts and drops.  Any hook name, which is also the argument
 * (char[NG_HOOKSIZ]) of its commands.
 */
#ifndef NETGRAPH_NG_HOLE_H
#define	NETGRAPH_NG_HOLE_H

#include <netgraph/ng_message.h>

#define	NG_HOLE_NODE_TYPE	"hole"
#define	NGM_HOLE_COOKIE		915433206

enum {
	NGM_HOLE_GET_STATS = 1,		/* reply: struct ng_hole_hookstat */
	NGM_HOLE_CLR_STATS = 2,
	NGM_HOLE_GETCLR_STATS = 3	/* reply: the same */
};

struct ng_hole_hookstat {
	uint64_t	frames;
	uint64_t	octets;
};
NG_ASSERT_SIZE(struct ng_hole_hookstat, 16);

#endif /* NETGRAPH_NG_HOLE_H */
