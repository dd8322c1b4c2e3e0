/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The vlan_rotate node: turns a stack of VLAN tags round.
 */
#ifndef NETGRAPH_NG_VLAN_ROTATE_H
#define	NETGRAPH_NG_VLAN_ROTATE_H

#include <netgraph/ng_message.h>

#define	NG_VLANROTATE_NODE_TYPE	"vlan_rotate"
#define	NGM_VLANROTATE_COOKIE	1568378766

#define	NG_VLANROTATE_HOOK_ORDERED	"ordered"
#define	NG_VLANROTATE_HOOK_ORIGINAL	"original"
#define	NG_VLANROTATE_HOOK_EXCESSIVE	"excessive"	/* too many tags */
#define	NG_VLANROTATE_HOOK_INCOMPLETE	"incomplete"	/* too few */

#define	NG_VLANROTATE_MAX_VLANS	10

enum {
	NGM_VLANROTATE_GET_CONF = 1,	/* reply: struct ng_vlanrotate_conf */
	NGM_VLANROTATE_SET_CONF = 2,	/* the same */
	NGM_VLANROTATE_GET_STAT = 3,	/* reply: struct ng_vlanrotate_stat */
	NGM_VLANROTATE_CLR_STAT = 4,
	NGM_VLANROTATE_GETCLR_STAT = 5	/* reply: as GET_STAT */
};

struct ng_vlanrotate_conf {
	int8_t		rot;		/* by how many places, and which way */
	uint8_t		min;		/* fewest tags */
	uint8_t		max;		/* most tags */
};
NG_ASSERT_SIZE(struct ng_vlanrotate_conf, 3);

struct ng_vlanrotate_stat {
	uint64_t	drops;
	uint64_t	excessive;
	uint64_t	incomplete;
	uint64_t	histogram[NG_VLANROTATE_MAX_VLANS];	/* by tags */
};
NG_ASSERT_SIZE(struct ng_vlanrotate_stat, 104);

#endif /* NETGRAPH_NG_VLAN_ROTATE_H */
