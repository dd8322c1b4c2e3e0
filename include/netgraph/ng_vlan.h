/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The vlan node: 802.1Q, one hook for each VLAN.
 */
#ifndef NETGRAPH_NG_VLAN_H
#define	NETGRAPH_NG_VLAN_H

#include <netgraph/ng_message.h>

#define	NG_VLAN_NODE_TYPE	"vlan"
#define	NGM_VLAN_COOKIE		1068486472

/* All other hooks are for one VLAN, once a filter says which. */
#define	NG_VLAN_HOOK_DOWNSTREAM	"downstream"	/* with tags */
#define	NG_VLAN_HOOK_NOMATCH	"nomatch"	/* for no filter */

enum {
	NGM_VLAN_ADD_FILTER = 1,	/* struct ng_vlan_filter */
	NGM_VLAN_DEL_FILTER = 2,	/* char[NG_HOOKSIZ]: of this hook */
	NGM_VLAN_GET_TABLE = 3,		/* reply: struct ng_vlan_table */
	NGM_VLAN_DEL_VID_FLT = 4,	/* uint16_t: of this VLAN */
	NGM_VLAN_GET_DECAP = 5,		/* reply: uint32_t, 0 or 1 */
	NGM_VLAN_SET_DECAP = 6,		/* uint32_t */
	NGM_VLAN_GET_ENCAP = 7,		/* reply: uint32_t, VLAN_ENCAP_ */
	NGM_VLAN_SET_ENCAP = 8,		/* uint32_t */
	NGM_VLAN_GET_ENCAP_PROTO = 9,	/* reply: uint16_t, an EtherType */
	NGM_VLAN_SET_ENCAP_PROTO = 10	/* uint16_t */
};

/* From where frames get their tag written into them. */
#define	VLAN_ENCAP_FROM_FILTER	0x00000001
#define	VLAN_ENCAP_FROM_NOMATCH	0x00000002

struct ng_vlan_filter {
	char		hook_name[NG_HOOKSIZ];
	uint16_t	vlan;		/* an old name of vid */
	uint16_t	vid;		/* 0 to 4095 */
	uint8_t		pcp;		/* priority, 0 to 7 */
	uint8_t		cfi;		/* 0 or 1 */
};
NG_ASSERT_SIZE(struct ng_vlan_filter, 38);

struct ng_vlan_table {
	uint32_t		n;
	struct ng_vlan_filter	filter[];
};
NG_ASSERT_SIZE(struct ng_vlan_table, 4);

#endif /* NETGRAPH_NG_VLAN_H */
