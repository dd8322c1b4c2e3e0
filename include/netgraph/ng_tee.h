/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The tee node: left and right pass through, copies leave by the other two.
 */
#ifndef NETGRAPH_NG_TEE_H
#define	NETGRAPH_NG_TEE_H

#include <netgraph/ng_message.h>

#define	NG_TEE_NODE_TYPE	"tee"
#define	NGM_TEE_COOKIE		916107047

#define	NG_TEE_HOOK_RIGHT	"right"
#define	NG_TEE_HOOK_LEFT	"left"
#define	NG_TEE_HOOK_RIGHT2LEFT	"right2left"
#define	NG_TEE_HOOK_LEFT2RIGHT	"left2right"

enum {
	NGM_TEE_GET_STATS = 1,		/* reply: struct ng_tee_stats */
	NGM_TEE_CLR_STATS = 2,
	NGM_TEE_GETCLR_STATS = 3	/* reply: the same */
};

struct ng_tee_hookstat {
	uint64_t	inOctets;
	uint64_t	inFrames;
	uint64_t	outOctets;
	uint64_t	outFrames;
};
NG_ASSERT_SIZE(struct ng_tee_hookstat, 32);

struct ng_tee_stats {
	struct ng_tee_hookstat	right;
	struct ng_tee_hookstat	left;
	struct ng_tee_hookstat	right2left;
	struct ng_tee_hookstat	left2right;
};
NG_ASSERT_SIZE(struct ng_tee_stats, 128);

#endif /* NETGRAPH_NG_TEE_H */
