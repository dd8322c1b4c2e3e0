/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The bridge node: Ethernet frames, forwarded by what was learnt from their
 * sources.
 */
#ifndef NETGRAPH_NG_BRIDGE_H
#define	NETGRAPH_NG_BRIDGE_H

#include <netgraph/ng_message.h>

#define	NG_BRIDGE_NODE_TYPE	"bridge"
#define	NGM_BRIDGE_COOKIE	1569321993

/*
 * Hooks have a number behind the prefix; an uplink's is not 0.  Who asks for a
 * prefix alone gets the lowest number that is free.
 */
#define	NG_BRIDGE_HOOK_LINK_PREFIX	"link"
#define	NG_BRIDGE_HOOK_LINK_FMT		"link%d"
#define	NG_BRIDGE_HOOK_UPLINK_PREFIX	"uplink"	/* learns nothing */
#define	NG_BRIDGE_HOOK_UPLINK_FMT	"uplink%d"

/* Statistics take an int32_t: the link's number, or minus the uplink's. */
enum {
	NGM_BRIDGE_SET_CONFIG = 1,	/* struct ng_bridge_config */
	NGM_BRIDGE_GET_CONFIG = 2,	/* reply: the same */
	NGM_BRIDGE_RESET = 3,		/* forget hosts, statistics, mutes */
	NGM_BRIDGE_GET_STATS = 4,	/* reply: struct ng_bridge_link_stats */
	NGM_BRIDGE_CLR_STATS = 5,
	NGM_BRIDGE_GETCLR_STATS = 6,	/* reply: as GET_STATS */
	NGM_BRIDGE_GET_TABLE = 7,	/* reply: struct ng_bridge_host_ary */
	NGM_BRIDGE_SET_PERSISTENT = 8,	/* stay without hooks */
	NGM_BRIDGE_MOVE_HOST = 9	/* struct ng_bridge_move_host */
};

/* Times in seconds. */
struct ng_bridge_config {
	uint8_t		debugLevel;	/* from 2 on, loops are logged */
	uint32_t	loopTimeout;	/* how long a link is muted */
	uint32_t	maxStaleness;	/* a silent host is forgotten then */
	uint32_t	minStableAge;	/* moving earlier is a loop */
};
NG_ASSERT_SIZE(struct ng_bridge_config, 16);

struct ng_bridge_link_stats {
	uint64_t	recvOctets;
	uint64_t	recvPackets;
	uint64_t	recvMulticasts;
	uint64_t	recvBroadcasts;
	uint64_t	recvUnknown;	/* to a host that is not in the table */
	uint64_t	recvRunts;	/* without a whole header */
	uint64_t	recvInvalid;	/* from a multicast address */
	uint64_t	xmitOctets;
	uint64_t	xmitPackets;
	uint64_t	xmitMulticasts;
	uint64_t	xmitBroadcasts;
	uint64_t	loopDrops;	/* dropped because of a loop */
	uint64_t	loopDetects;	/* times that the link was muted */
	uint64_t	memoryFailures;
};
NG_ASSERT_SIZE(struct ng_bridge_link_stats, 112);

struct ng_bridge_host {
	uint8_t		addr[6];
	char		hook[NG_HOOKSIZ];	/* where it is */
	uint16_t	age;		/* seconds it has been there */
	uint16_t	staleness;	/* seconds it has been silent */
};
NG_ASSERT_SIZE(struct ng_bridge_host, 42);

struct ng_bridge_host_ary {
	uint32_t		numHosts;
	struct ng_bridge_host	hosts[];
};
NG_ASSERT_SIZE(struct ng_bridge_host_ary, 4);

struct ng_bridge_move_host {
	uint8_t		addr[6];
	char		hook[NG_HOOKSIZ];	/* empty: the one of arrival */
};
NG_ASSERT_SIZE(struct ng_bridge_move_host, 38);

#endif /* NETGRAPH_NG_BRIDGE_H */
