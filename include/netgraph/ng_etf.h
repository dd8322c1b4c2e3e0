/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The etf node: a hook for each EtherType.
 */
#ifndef NETGRAPH_NG_ETF_H
#define	NETGRAPH_NG_ETF_H

#include <netgraph/ng_message.h>

#define	NG_ETF_NODE_TYPE	"etf"
#define	NGM_ETF_COOKIE		983084516

/* All other hooks are for the types that filters say. */
#define	NG_ETF_HOOK_DOWNSTREAM	"downstream"
#define	NG_ETF_HOOK_NOMATCH	"nomatch"

enum {
	NGM_ETF_SET_FLAG = 1,		/* uint32_t, without effect */
	NGM_ETF_GET_STATUS = 2,		/* reply: struct ng_etfstat */
	NGM_ETF_SET_FILTER = 3		/* struct ng_etffilter */
};

/* Packets of the downstream hook. */
struct ng_etfstat {
	uint32_t	packets_in;
	uint32_t	packets_out;
};
NG_ASSERT_SIZE(struct ng_etfstat, 8);

struct ng_etffilter {
	char		matchhook[NG_HOOKSIZ];
	uint16_t	ethertype;
};
NG_ASSERT_SIZE(struct ng_etffilter, 34);

#endif /* NETGRAPH_NG_ETF_H */
