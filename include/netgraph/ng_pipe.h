/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The pipe node: a line of limited speed, with delay, loss and queues.  From
 * upper to lower is downstream.
 */
#ifndef NETGRAPH_NG_PIPE_H
#define	NETGRAPH_NG_PIPE_H

#include <netgraph/ng_message.h>

#define	NG_PIPE_NODE_TYPE	"pipe"
#define	NGM_PIPE_COOKIE		200708191

#define	NG_PIPE_HOOK_UPPER	"upper"
#define	NG_PIPE_HOOK_LOWER	"lower"

enum {
	NGM_PIPE_GET_STATS = 1,		/* reply: struct ng_pipe_stats */
	NGM_PIPE_CLR_STATS = 2,
	NGM_PIPE_GETCLR_STATS = 3,	/* reply: as GET_STATS */
	NGM_PIPE_GET_RUN = 4,		/* reply: struct ng_pipe_run */
	NGM_PIPE_GET_CFG = 5,		/* reply: struct ng_pipe_cfg */
	NGM_PIPE_SET_CFG = 6		/* the same */
};

struct ng_pipe_hookstat {
	uint64_t	fwd_octets;
	uint64_t	fwd_frames;
	uint64_t	in_disc_octets;		/* dropped before the line */
	uint64_t	in_disc_frames;
	uint64_t	out_disc_octets;	/* dropped while delayed */
	uint64_t	out_disc_frames;
};
NG_ASSERT_SIZE(struct ng_pipe_hookstat, 48);

struct ng_pipe_stats {
	struct ng_pipe_hookstat	downstream;
	struct ng_pipe_hookstat	upstream;
};
NG_ASSERT_SIZE(struct ng_pipe_stats, 96);

struct ng_pipe_hookrun {
	uint32_t	fifo_queues;	/* one for each flow */
	uint32_t	qin_octets;	/* waiting for the line */
	uint32_t	qin_frames;
	uint32_t	qout_octets;	/* being delayed */
	uint32_t	qout_frames;
};
NG_ASSERT_SIZE(struct ng_pipe_hookrun, 20);

struct ng_pipe_run {
	struct ng_pipe_hookrun	downstream;
	struct ng_pipe_hookrun	upstream;
};
NG_ASSERT_SIZE(struct ng_pipe_run, 40);

/* In a request, 0 leaves a value as it is and -1 resets it. */
struct ng_pipe_hookcfg {
	uint64_t	bandwidth;	/* bits a second */
	uint64_t	ber;		/* one bit in so many is wrong */
	uint32_t	qin_size_limit;	/* packets */
	uint32_t	qout_size_limit;	/* packets */
	uint32_t	duplicate;	/* per cent */
	uint32_t	fifo;		/* one queue for all flows */
	uint32_t	drr;		/* bytes a round for each flow */
	uint32_t	wfq;		/* fair queueing by size */
	uint32_t	droptail;	/* full: drop the newest */
	uint32_t	drophead;	/* full: drop the oldest */
};
NG_ASSERT_SIZE(struct ng_pipe_hookcfg, 48);

struct ng_pipe_cfg {
	uint64_t	bandwidth;	/* of both directions */
	uint64_t	delay;		/* microseconds */
	uint32_t	header_offset;	/* where the IPv4 header begins */
	uint32_t	overhead;	/* bytes that each frame has besides */
	struct ng_pipe_hookcfg	downstream;
	struct ng_pipe_hookcfg	upstream;
};
NG_ASSERT_SIZE(struct ng_pipe_cfg, 120);

#endif /* NETGRAPH_NG_PIPE_H */
