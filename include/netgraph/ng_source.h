/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The source node: sends the packets that it was given over and over.
 */
#ifndef NETGRAPH_NG_SOURCE_H
#define	NETGRAPH_NG_SOURCE_H

#include <sys/time.h>

#include <netgraph/ng_message.h>

#define	NG_SOURCE_NODE_TYPE	"source"
#define	NGM_SOURCE_COOKIE	1110646684

#define	NG_SOURCE_HOOK_INPUT	"input"		/* packets to keep */
#define	NG_SOURCE_HOOK_OUTPUT	"output"	/* where they are sent */

enum {
	NGM_SOURCE_GET_STATS = 1,	/* reply: struct ng_source_stats */
	NGM_SOURCE_CLR_STATS = 2,
	NGM_SOURCE_GETCLR_STATS = 3,	/* reply: as GET_STATS */
	NGM_SOURCE_START = 4,		/* uint64_t: how many packets */
	NGM_SOURCE_STOP = 5,
	NGM_SOURCE_CLR_DATA = 6,	/* forget the packets */
	NGM_SOURCE_SETIFACE = 7,	/* string: the interface below */
	NGM_SOURCE_SETPPS = 8,		/* uint32_t: a second; 0: no limit */
	NGM_SOURCE_SET_TIMESTAMP = 9,	/* struct ng_source_embed_info */
	NGM_SOURCE_GET_TIMESTAMP = 10,	/* reply: the same */
	NGM_SOURCE_SET_COUNTER = 11,	/* struct ng_source_embed_cnt_info */
	NGM_SOURCE_GET_COUNTER = 12	/* uint8_t, reply: the same */
};

struct ng_source_stats {
	uint64_t	outOctets;
	uint64_t	outFrames;
	uint32_t	queueOctets;	/* kept to be sent */
	uint32_t	queueFrames;
	uint32_t	maxPps;
	struct timeval	startTime;
	struct timeval	endTime;
	struct timeval	elapsedTime;
	struct timeval	lastTime;
};
NG_ASSERT_SIZE(struct ng_source_stats, 32 + 4 * sizeof(struct timeval));

/* Where a time or a counter is written into each packet. */
struct ng_source_embed_info {
	uint16_t	offset;		/* bytes from the packet's start */
	uint8_t		flags;		/* NGM_SOURCE_EMBED_ENABLE */
	uint8_t		spare;
};
NG_ASSERT_SIZE(struct ng_source_embed_info, 4);
#define	NGM_SOURCE_EMBED_ENABLE		0x01
#define	NGM_SOURCE_INC_CNT_PER_LIST	0x02	/* not for every packet */

#define	NG_SOURCE_COUNTERS	4
struct ng_source_embed_cnt_info {
	uint16_t	offset;
	uint8_t		flags;
	uint8_t		width;		/* 1, 2 or 4 bytes */
	uint32_t	next_val;
	uint32_t	min_val;
	uint32_t	max_val;
	int32_t		increment;
	uint8_t		index;		/* less than NG_SOURCE_COUNTERS */
};
NG_ASSERT_SIZE(struct ng_source_embed_cnt_info, 24);

#endif /* NETGRAPH_NG_SOURCE_H */
