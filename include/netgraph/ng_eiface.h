/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The eiface node: an Ethernet interface whose wire is a hook.
 */
#ifndef NETGRAPH_NG_EIFACE_H
#define	NETGRAPH_NG_EIFACE_H

#include <netgraph/ng_message.h>

#define	NG_EIFACE_NODE_TYPE	"eiface"
#define	NGM_EIFACE_COOKIE	948105892

#define	NG_EIFACE_EIFACE_NAME	"ngeth"		/* and a number */
#define	NG_EIFACE_HOOK_ETHER	"ether"

#define	NG_EIFACE_MTU_MIN	72
#define	NG_EIFACE_MTU_MAX	9018
#define	NG_EIFACE_MTU_DEFAULT	1500

enum {
	NGM_EIFACE_GET_IFNAME = 1,	/* reply: char[16] */
	NGM_EIFACE_GET_IFADDRS = 2,	/* reply: its addresses in turn */
	NGM_EIFACE_SET = 3		/* 6 bytes: its Ethernet address */
};

#endif /* NETGRAPH_NG_EIFACE_H */
