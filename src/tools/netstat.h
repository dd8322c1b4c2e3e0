/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* What netstat's files share. */
#ifndef _TOOLS_NETSTAT_H_
#define	_TOOLS_NETSTAT_H_

#include <stdbool.h>

struct tool_ctx;

struct netstat {
	bool		 ns_ifaces;	/* -i */
	bool		 ns_routes;	/* -r */
	int		 ns_stats;	/* -s, -ss */
	bool		 ns_zero;	/* -z */
	bool		 ns_bytes;	/* -b */
	bool		 ns_drops;	/* -d */
	bool		 ns_human;	/* -h */
	bool		 ns_numeric;	/* -n */
	bool		 ns_wide;	/* -W */
	const char	*ns_ifname;	/* -I, or NULL */
	const char	*ns_family;	/* -f: "link", "inet", "inet6",
					   "netgraph", NULL */
	const char	*ns_proto;	/* -p, or NULL */
	double		 ns_wait;	/* -w, seconds; 0: not given */
	long long	 ns_count;	/* -q; 0: without end */
};

/* Each prints its table; a status of sysexits(3). */
int	netstat_ifaces(struct tool_ctx *tc, const struct netstat *ns);
int	netstat_watch(struct tool_ctx *tc, const struct netstat *ns);
int	netstat_routes(struct tool_ctx *tc, const struct netstat *ns);
int	netstat_graph(struct tool_ctx *tc);
int	netstat_stats(struct tool_ctx *tc, const struct netstat *ns);

#endif /* _TOOLS_NETSTAT_H_ */
