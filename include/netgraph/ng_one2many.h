/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The one2many node: one link over many.
 */
#ifndef NETGRAPH_NG_ONE2MANY_H
#define	NETGRAPH_NG_ONE2MANY_H

#include <netgraph/ng_message.h>

#define	NG_ONE2MANY_NODE_TYPE	"one2many"
#define	NGM_ONE2MANY_COOKIE	1100897444

#define	NG_ONE2MANY_HOOK_ONE		"one"
#define	NG_ONE2MANY_HOOK_MANY_PREFIX	"many"	/* and a number */
#define	NG_ONE2MANY_MAX_LINKS		64

/* xmitAlg: which of the many gets a packet from one. */
#define	NG_ONE2MANY_XMIT_ROUNDROBIN	1
#define	NG_ONE2MANY_XMIT_ALL		2
#define	NG_ONE2MANY_XMIT_FAILOVER	3	/* the first that is active */

/* failAlg: who says that a link is active. */
#define	NG_ONE2MANY_FAIL_MANUAL		1	/* enabledLinks alone */
#define	NG_ONE2MANY_FAIL_NOTIFY		2	/* also the link's messages */

/* Statistics take an int32_t: the link's number, -1 for one. */
enum {
	NGM_ONE2MANY_SET_CONFIG = 0,	/* struct ng_one2many_config */
	NGM_ONE2MANY_GET_CONFIG = 1,	/* reply: the same */
	NGM_ONE2MANY_GET_STATS = 2,	/* reply: ng_one2many_link_stats */
	NGM_ONE2MANY_CLR_STATS = 3,
	NGM_ONE2MANY_GETCLR_STATS = 4	/* reply: as GET_STATS */
};

struct ng_one2many_config {
	uint32_t	xmitAlg;
	uint32_t	failAlg;
	uint8_t		enabledLinks[NG_ONE2MANY_MAX_LINKS];	/* 0 or 1 */
};
NG_ASSERT_SIZE(struct ng_one2many_config, 72);

struct ng_one2many_link_stats {
	uint64_t	recvOctets;
	uint64_t	recvPackets;
	uint64_t	xmitOctets;
	uint64_t	xmitPackets;
	uint64_t	memoryFailures;
};
NG_ASSERT_SIZE(struct ng_one2many_link_stats, 40);

#endif /* NETGRAPH_NG_ONE2MANY_H */
