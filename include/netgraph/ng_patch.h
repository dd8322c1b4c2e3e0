/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The patch node: changes bytes of the packets that go from in to out.
 */
#ifndef NETGRAPH_NG_PATCH_H
#define	NETGRAPH_NG_PATCH_H

#include <netgraph/ng_message.h>

#define	NG_PATCH_NODE_TYPE	"patch"
#define	NGM_PATCH_COOKIE	1262445509

#define	NG_PATCH_HOOK_IN	"in"
#define	NG_PATCH_HOOK_OUT	"out"

enum {
	NGM_PATCH_SETCONFIG = 1,	/* struct ng_patch_config */
	NGM_PATCH_GETCONFIG = 2,	/* reply: the same, if there is one */
	NGM_PATCH_GET_STATS = 3,	/* reply: struct ng_patch_stats */
	NGM_PATCH_CLR_STATS = 4,
	NGM_PATCH_GETCLR_STATS = 5,	/* reply: as GET_STATS */
	NGM_PATCH_GETDLT = 6,		/* reply: uint8_t, a link type */
	NGM_PATCH_SETDLT = 7		/* uint8_t: 1 Ethernet, 12 raw IP */
};

/* mode: what value does to the bytes, a number in network order. */
enum {
	NG_PATCH_MODE_SET = 1,
	NG_PATCH_MODE_ADD = 2,
	NG_PATCH_MODE_SUB = 3,
	NG_PATCH_MODE_MUL = 4,
	NG_PATCH_MODE_DIV = 5,
	NG_PATCH_MODE_NEG = 6,
	NG_PATCH_MODE_AND = 7,
	NG_PATCH_MODE_OR = 8,
	NG_PATCH_MODE_XOR = 9,
	NG_PATCH_MODE_SHL = 10,
	NG_PATCH_MODE_SHR = 11
};

/* csum_flags: checksums to make again; other bits are not kept. */
#define	NG_PATCH_CSUM_IP	0x0001	/* of IPv4 headers */
#define	NG_PATCH_CSUM_IP_UDP	0x0002
#define	NG_PATCH_CSUM_IP_TCP	0x0004
#define	NG_PATCH_CSUM_IP6_UDP	0x0200
#define	NG_PATCH_CSUM_IP6_TCP	0x0400
#define	NG_PATCH_CSUM_ALL	0x0607

struct ng_patch_op {
	uint32_t	offset;
	uint16_t	length;		/* 1, 2, 4 or 8 bytes */
	uint16_t	mode;
	uint64_t	value;
};
NG_ASSERT_SIZE(struct ng_patch_op, 16);

struct ng_patch_config {
	uint32_t	count;
	uint64_t	csum_flags;
	uint32_t	relative_offset; /* 1: count from behind the headers */
	struct ng_patch_op ops[];
};
NG_ASSERT_SIZE(struct ng_patch_config, 24);

struct ng_patch_stats {
	uint64_t	received;
	uint64_t	patched;
	uint64_t	dropped;
};
NG_ASSERT_SIZE(struct ng_patch_stats, 24);

#endif /* NETGRAPH_NG_PATCH_H */
