/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The ether node: there is one for each Ethernet-like interface, and only the
 * interface makes it and takes it away.  Frames on its hooks begin with the
 * Ethernet header and have no check sequence.
 */
#ifndef NETGRAPH_NG_ETHER_H
#define	NETGRAPH_NG_ETHER_H

#include <netgraph/ng_message.h>

#define	NG_ETHER_NODE_TYPE	"ether"
#define	NGM_ETHER_COOKIE	917786906

#define	NG_ETHER_HOOK_LOWER	"lower"		/* the wire */
#define	NG_ETHER_HOOK_UPPER	"upper"		/* the stack */
#define	NG_ETHER_HOOK_DIVERT	"divert"	/* an old name of lower */
#define	NG_ETHER_HOOK_ORPHAN	"orphans"	/* what nobody wanted */

enum {
	NGM_ETHER_GET_IFNAME = 1,	/* reply: char[16] */
	NGM_ETHER_GET_IFINDEX = 2,	/* reply: uint32_t */
	NGM_ETHER_GET_ENADDR = 3,	/* reply: 6 bytes */
	NGM_ETHER_SET_ENADDR = 4,	/* 6 bytes */
	NGM_ETHER_GET_PROMISC = 5,	/* reply: uint32_t, 0 or 1 */
	NGM_ETHER_SET_PROMISC = 6,	/* uint32_t */
	NGM_ETHER_GET_AUTOSRC = 7,	/* reply: uint32_t, 0 or 1 */
	NGM_ETHER_SET_AUTOSRC = 8,	/* uint32_t: overwrite sources? */
	NGM_ETHER_ADD_MULTI = 9,	/* 6 bytes: join this group */
	NGM_ETHER_DEL_MULTI = 10,	/* 6 bytes */
	NGM_ETHER_DETACH = 11		/* take the node away */
};

#endif /* NETGRAPH_NG_ETHER_H */
