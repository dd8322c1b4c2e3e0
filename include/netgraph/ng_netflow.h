/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The netflow node: accounts for flows and exports them in NetFlow versions 5
 * and 9 (RFC 3954).
 */
#ifndef NETGRAPH_NG_NETFLOW_H
#define	NETGRAPH_NG_NETFLOW_H

#include <netgraph/ng_message.h>

#define	NG_NETFLOW_NODE_TYPE	"netflow"
#define	NGM_NETFLOW_COOKIE	1365756954

#define	NG_NETFLOW_MAXIFACES	65535

#define	NG_NETFLOW_HOOK_DATA	"iface"		/* and a number */
#define	NG_NETFLOW_HOOK_OUT	"out"		/* and the same number */
#define	NG_NETFLOW_HOOK_EXPORT	"export"	/* version 5 */
#define	NG_NETFLOW_HOOK_EXPORT9	"export9"	/* version 9 */

enum {
	/* Replies: ng_netflow_info, _ifinfo (asked by uint16_t), flows. */
	NGM_NETFLOW_INFO = (1 | NGM_READONLY | NGM_HASREPLY),
	NGM_NETFLOW_IFINFO = (2 | NGM_READONLY | NGM_HASREPLY),
	NGM_NETFLOW_SHOW = (3 | NGM_READONLY | NGM_HASREPLY),
	NGM_NETFLOW_SETDLT = 4,		/* struct ng_netflow_setdlt */
	NGM_NETFLOW_SETIFINDEX = 5,	/* struct ng_netflow_setifindex */
	NGM_NETFLOW_SETTIMEOUTS = 6,	/* struct ng_netflow_settimeouts */
	NGM_NETFLOW_SETCONFIG = 7,	/* struct ng_netflow_setconfig */
	NGM_NETFLOW_SETTEMPLATE = 8,	/* struct ng_netflow_settemplate */
	NGM_NETFLOW_SETMTU = 9,		/* struct ng_netflow_setmtu */
	/* Reply: struct ng_netflow_v9info. */
	NGM_NETFLOW_V9INFO = (10 | NGM_READONLY | NGM_HASREPLY)
};

/* A name that ends in 6 counts IPv6, its fellow without counts IPv4. */
struct ng_netflow_info {
	uint64_t	nfinfo_bytes;		/* accounted */
	uint32_t	nfinfo_packets;
	uint64_t	nfinfo_bytes6;
	uint32_t	nfinfo_packets6;
	uint64_t	nfinfo_sbytes;		/* skipped */
	uint32_t	nfinfo_spackets;
	uint64_t	nfinfo_sbytes6;
	uint32_t	nfinfo_spackets6;
	uint64_t	nfinfo_act_exp;		/* ended, although active */
	uint64_t	nfinfo_inact_exp;	/* ended, having been silent */
	uint32_t	nfinfo_used;		/* flows kept */
	uint32_t	nfinfo_used6;
	uint32_t	nfinfo_alloc_failed;
	uint32_t	nfinfo_export_failed;	/* datagrams of version 5 */
	uint32_t	nfinfo_export9_failed;	/* and of version 9 */
	uint32_t	nfinfo_realloc_mbuf;
	uint32_t	nfinfo_alloc_fibs;
	uint32_t	nfinfo_inact_t;		/* seconds of silence allowed */
	uint32_t	nfinfo_act_t;		/* longest life, in seconds */
};
NG_ASSERT_SIZE(struct ng_netflow_info, 120);

struct ng_netflow_ifinfo {
	uint32_t	ifinfo_packets;
	uint8_t		ifinfo_dlt;	/* link type */
	uint16_t	ifinfo_index;	/* of the interface, for the records */
	uint32_t	conf;		/* NG_NETFLOW_CONF_ */
};
NG_ASSERT_SIZE(struct ng_netflow_ifinfo, 12);

struct ng_netflow_v9info {
	uint16_t	templ_packets;
	uint16_t	templ_time;
	uint16_t	mtu;
};
NG_ASSERT_SIZE(struct ng_netflow_v9info, 6);

struct ng_netflow_setdlt {
	uint16_t	iface;		/* number of the hook */
	uint8_t		dlt;		/* 1 Ethernet, 12 raw IP */
};
NG_ASSERT_SIZE(struct ng_netflow_setdlt, 4);

struct ng_netflow_setifindex {
	uint16_t	iface;
	uint16_t	index;
};
NG_ASSERT_SIZE(struct ng_netflow_setifindex, 4);

struct ng_netflow_settimeouts {
	uint32_t	inactive_timeout;	/* seconds */
	uint32_t	active_timeout;
};
NG_ASSERT_SIZE(struct ng_netflow_settimeouts, 8);

#define	NG_NETFLOW_CONF_INGRESS		0x01	/* account iface's packets */
#define	NG_NETFLOW_CONF_EGRESS		0x02	/* account out's packets */
#define	NG_NETFLOW_CONF_ONCE		0x04	/* unless already accounted */
#define	NG_NETFLOW_CONF_THISONCE	0x08	/* the same, this node alone */
#define	NG_NETFLOW_CONF_NOSRCLOOKUP	0x10	/* no route for the source */
#define	NG_NETFLOW_CONF_NODSTLOOKUP	0x20	/* nor for the destination */

struct ng_netflow_setconfig {
	uint16_t	iface;
	uint32_t	conf;
};
NG_ASSERT_SIZE(struct ng_netflow_setconfig, 8);

/* How often templates are sent again. */
struct ng_netflow_settemplate {
	uint16_t	time;		/* seconds */
	uint16_t	packets;
};
NG_ASSERT_SIZE(struct ng_netflow_settemplate, 4);

struct ng_netflow_setmtu {
	uint16_t	mtu;		/* bytes of a version 9 datagram */
};
NG_ASSERT_SIZE(struct ng_netflow_setmtu, 2);

/*
 * What is in the table, some flows at a time.  Begin with a request of zeros;
 * the reply says in its header where the next request goes on, or, with
 * version 0, that this was the end.
 */
struct ng_netflow_show {
	uint8_t		version;	/* 4 or 6: which flows */
	uint32_t	hash_id;	/* part of the table */
	uint32_t	list_id;	/* flows of it that were told already */
	uint32_t	nentries;	/* struct ng_netflow_flow that follow */
};
NG_ASSERT_SIZE(struct ng_netflow_show, 16);

struct ng_netflow_flow {
	uint8_t		src[16];	/* IPv4: the first four bytes */
	uint8_t		dst[16];
	uint16_t	sport;		/* network order */
	uint16_t	dport;
	uint8_t		proto;
	uint8_t		tos;
	uint16_t	iface;		/* number of the hook */
	uint8_t		tcp_flags;	/* of all packets */
	uint8_t		spare[3];
	uint32_t	packets;
	uint64_t	bytes;
	uint32_t	first;		/* ms since the node was made */
	uint32_t	last;
};
NG_ASSERT_SIZE(struct ng_netflow_flow, 64);

#endif /* NETGRAPH_NG_NETFLOW_H */
