/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The iface node: a point-to-point interface for IPv4 and IPv6 packets without
 * a link header.
 */
#ifndef NETGRAPH_NG_IFACE_H
#define	NETGRAPH_NG_IFACE_H

#include <netgraph/ng_message.h>

#define	NG_IFACE_NODE_TYPE	"iface"
#define	NGM_IFACE_COOKIE	1108312559

#define	NG_IFACE_IFACE_NAME	"ng"		/* and a number */
#define	NG_IFACE_HOOK_INET	"inet"
#define	NG_IFACE_HOOK_INET6	"inet6"

#define	NG_IFACE_MTU_MIN	72
#define	NG_IFACE_MTU_MAX	65535
#define	NG_IFACE_MTU_DEFAULT	1500

enum {
	NGM_IFACE_GET_IFNAME = 1,	/* reply: char[16] */
	NGM_IFACE_POINT2POINT = 2,
	NGM_IFACE_BROADCAST = 3,
	NGM_IFACE_GET_IFINDEX = 4	/* reply: uint32_t */
};

#endif /* NETGRAPH_NG_IFACE_H */
