/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The macfilter node: a hook for each source address that comes from ether.
 */
#ifndef NETGRAPH_NG_MACFILTER_H
#define	NETGRAPH_NG_MACFILTER_H

#include <netgraph/ng_message.h>

#define	NG_MACFILTER_NODE_TYPE	"macfilter"
#define	NGM_MACFILTER_COOKIE	1042445461

/* All others are above as well, with the lowest free number. */
#define	NG_MACFILTER_HOOK_ETHER		"ether"		/* below */
#define	NG_MACFILTER_HOOK_DEFAULT	"default"	/* above */
#define	NG_MACFILTER_HOOK_DEFAULT_ID	0

enum {
	NGM_MACFILTER_RESET = 1,
	NGM_MACFILTER_DIRECT = 2,	/* struct ngm_macfilter_direct */
	NGM_MACFILTER_DIRECT_HOOKID = 3, /* ngm_macfilter_direct_hookid */
	NGM_MACFILTER_GET_MACS = 4,	/* reply: struct ngm_macfilter_macs */
	NGM_MACFILTER_GETCLR_MACS = 5,	/* reply: the same */
	NGM_MACFILTER_CLR_MACS = 6,
	NGM_MACFILTER_GET_HOOKS = 7	/* reply: struct ngm_macfilter_hooks */
};

struct ngm_macfilter_direct {
	uint8_t		ether[6];
	uint8_t		hookname[NG_HOOKSIZ];
};
NG_ASSERT_SIZE(struct ngm_macfilter_direct, 38);

struct ngm_macfilter_direct_hookid {
	uint8_t		ether[6];
	uint16_t	hookid;
};
NG_ASSERT_SIZE(struct ngm_macfilter_direct_hookid, 8);

/* In is from the wire, out is to it; bytes without Ethernet headers. */
struct ngm_macfilter_mac {
	uint8_t		ether[6];
	uint16_t	hookid;
	uint64_t	packets_in;
	uint64_t	bytes_in;
	uint64_t	packets_out;
	uint64_t	bytes_out;
};
NG_ASSERT_SIZE(struct ngm_macfilter_mac, 40);

struct ngm_macfilter_macs {
	uint32_t	n;
	struct ngm_macfilter_mac macs[];
};
NG_ASSERT_SIZE(struct ngm_macfilter_macs, 8);

struct ngm_macfilter_hook {
	uint8_t		hookname[NG_HOOKSIZ];
	uint16_t	hookid;
	uint32_t	maccnt;		/* addresses directed to it */
};
NG_ASSERT_SIZE(struct ngm_macfilter_hook, 40);

struct ngm_macfilter_hooks {
	uint32_t	n;
	struct ngm_macfilter_hook hooks[];
};
NG_ASSERT_SIZE(struct ngm_macfilter_hooks, 4);

#endif /* NETGRAPH_NG_MACFILTER_H */
