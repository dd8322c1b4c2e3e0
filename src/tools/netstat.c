/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * netstat: options, and the routing table.  The other tables are in
 * netstat_if.c, netstat_stats.c and netstat_graph.c.
 */

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "tools/addr.h"
#include "tools/cmds.h"
#include "tools/netstat.h"
#include "tools/out.h"
#include "tools/route_flags.h"
#include "tools/tool.h"

/* ---- -r ---- */

static void
netstat_flags(char buf[24], unsigned int flags)
{
	size_t n = 0;
	int i;

	for (i = 0; route_flags[i].rf_bit != 0 && n < 23; i++)
		if ((flags & route_flags[i].rf_bit) != 0 &&
		    route_flags[i].rf_letter != '\0')
			buf[n++] = route_flags[i].rf_letter;
	buf[n] = '\0';
}

static void
netstat_route(struct out *o, const struct netstat *ns, const json_t *rt)
{
	const char *gw = js_str(rt, "gateway"), *name = NULL;
	int plen = (int)js_int(rt, "plen");
	char dst[64], flags[24];

	netstat_flags(flags, (unsigned int)js_int(rt, "flags"));
	if (plen == 0)
		(void)snprintf(dst, sizeof(dst), "default");
	else if (plen == 32) {
		if (!ns->ns_numeric)
			name = addr_name(js_str(rt, "dst"));
		(void)snprintf(dst, sizeof(dst), "%s", name != NULL ? name :
		    js_str(rt, "dst"));
	} else
		(void)snprintf(dst, sizeof(dst), "%s/%d", js_str(rt, "dst"),
		    plen);
	name = ns->ns_numeric ? NULL : addr_name(gw);
	out_instance(o);
	out_str(o, "destination", dst, "%-18s ", dst);
	out_str(o, "gateway", gw, "%-18s ", name != NULL ? name : gw);
	out_str(o, "flags", flags, "%-6s ", flags);
	if (ns->ns_wide)
		out_text(o, "%6jd %6jd ", (intmax_t)js_int(rt, "nhop"),
		    (intmax_t)js_int(rt, "mtu"));
	out_put(o, "nhop", json_integer(js_int(rt, "nhop")));
	out_put(o, "mtu", json_integer(js_int(rt, "mtu")));
	out_str(o, "interface-name", js_str(rt, "interface"), "%*s\n",
	    ns->ns_wide ? 10 : 8, js_str(rt, "interface"));
	out_put(o, "packets", json_integer(js_int(rt, "packets")));
	out_put(o, "bytes", json_integer(js_int(rt, "bytes")));
	out_close(o);
}

/* The rest of the table, page by page; res is the first and is consumed. */
static int
netstat_route_pages(struct tool_ctx *tc, const struct netstat *ns,
    json_t *res)
{
	const json_t *rt;
	json_t *args;
	size_t i;
	int status;

	for (;;) {
		json_array_foreach(js_get(res, "routes"), i, rt)
			netstat_route(tc->tc_o, ns, rt);
		args = js_has(res, "next") ? json_pack("{s:s}", "from",
		    js_str(res, "next")) : NULL;
		json_decref(res);
		if (args == NULL)
			return (0);
		if ((status = tool_do(tc, "route.list", args, &res)) != 0)
			return (status);
	}
}

int
netstat_routes(struct tool_ctx *tc, const struct netstat *ns)
{
	struct out *o = tc->tc_o;
	json_t *res;
	int status;

	if ((status = tool_do(tc, "route.list", NULL, &res)) != 0)
		return (status);
	out_open(o, "statistics");
	out_open(o, "route-information");
	out_text(o, "Routing tables\n");
	out_list(o, "route-table");
	if (ns->ns_family == NULL || strcmp(ns->ns_family, "inet") == 0) {
		out_instance(o);
		out_str(o, "address-family", "Internet", "\nInternet:\n");
		out_text(o, "%-18s %-18s %-6s ", "Destination", "Gateway",
		    "Flags");
		if (ns->ns_wide)
			out_text(o, "%6s %6s ", "Nhop#", "Mtu");
		out_text(o, "%*s %6s\n", ns->ns_wide ? 10 : 8, "Netif",
		    "Expire");
		out_list(o, "rt-entry");
		status = netstat_route_pages(tc, ns, res);
		out_close(o);
		out_close(o);
	} else
		json_decref(res);
	out_close(o);
	out_close(o);
	out_close(o);
	return (status);
}

/* ---- Options ---- */

static int
netstat_number(struct tool_ctx *tc, int c, long long min, long long max,
    long long *val)
{
	if (tool_number(optarg, min, max, val))
		return (0);
	return (tool_fail(tc, EX_USAGE, "-%c %s: expected %lld..%lld", c,
	    optarg, min, max));
}

static bool
netstat_flag(struct netstat *ns, int c)
{
	switch (c) {
	case 'a':		/* multicast groups: there are none to show */
		break;
	case '4':
		ns->ns_family = "inet";
		break;
	case '6':
		ns->ns_family = "inet6";
		break;
	case 'b':
		ns->ns_bytes = true;
		break;
	case 'd':
		ns->ns_drops = true;
		break;
	case 'h':
		ns->ns_human = true;
		break;
	case 'i':
		ns->ns_ifaces = true;
		break;
	case 'n':
		ns->ns_numeric = true;
		break;
	case 'r':
		ns->ns_routes = true;
		break;
	case 's':
		ns->ns_stats++;
		break;
	case 'W':
		ns->ns_wide = true;
		break;
	case 'z':
		ns->ns_zero = true;
		break;
	default:
		return (false);
	}
	return (true);
}

/* Options with a word behind them. */
static int
netstat_arg(struct tool_ctx *tc, struct netstat *ns, int c)
{
	long long val;
	int status;

	switch (c) {
	case 'F':
		if (!tool_number(optarg, 0, 0, &val))
			return (tool_fail(tc, EX_USAGE, "%s: invalid fib",
			    optarg));
		break;
	case 'f':
		if (strcmp(optarg, "link") != 0 &&
		    strcmp(optarg, "inet") != 0 &&
		    strcmp(optarg, "inet6") != 0 &&
		    strcmp(optarg, "netgraph") != 0)
			return (tool_fail(tc, 1, "%s: unknown address family",
			    optarg));
		ns->ns_family = optarg;
		break;
	case 'I':
		ns->ns_ifname = optarg;
		break;
	case 'p':
		ns->ns_proto = optarg;
		break;
	case 'q':
		return (netstat_number(tc, c, 1, INT32_MAX, &ns->ns_count));
	case 'w':
		status = netstat_number(tc, c, 1, 86400, &val);
		if (status != 0)
			return (status);
		ns->ns_wait = (double)val;
		break;
	default:
		return (tool_badopt(tc, c));
	}
	return (0);
}

/* Say that -I names nothing; EX_DATAERR. */
static int
netstat_check_ifname(struct tool_ctx *tc, const struct netstat *ns)
{
	struct ctl_error ce;

	if (ns->ns_ifname == NULL)
		return (0);
	if (tool_call(tc, "if.list", json_pack("{s:s}", "name",
	    ns->ns_ifname), NULL, &ce) == 0)
		return (0);
	if (ce.ce_errno == ENOTCONN || ce.ce_errno == EPIPE)
		return (tool_callfail(tc, &ce));
	return (tool_fail(tc, EX_DATAERR, "unknown interface %s",
	    ns->ns_ifname));
}

static int
netstat_main(struct tool_ctx *tc, int argc, char **argv)
{
	struct netstat ns = { 0 };
	int c, status;

	while ((c = getopt(argc, argv, "+:46abdF:f:hI:inp:q:rsWw:z")) != -1) {
		if (netstat_flag(&ns, c))
			continue;
		if ((status = netstat_arg(tc, &ns, c)) != 0)
			return (status);
	}
	if (optind != argc)
		return (tool_usage(tc));
	if ((status = netstat_check_ifname(tc, &ns)) != 0)
		return (status);
	if (ns.ns_routes)
		return (netstat_routes(tc, &ns));
	if (ns.ns_stats > 0 || ns.ns_proto != NULL)
		return (netstat_stats(tc, &ns));
	if (ns.ns_wait > 0)
		return (netstat_watch(tc, &ns));
	if (ns.ns_ifaces || ns.ns_ifname != NULL)
		return (netstat_ifaces(tc, &ns));
	if (ns.ns_family != NULL && strcmp(ns.ns_family, "netgraph") == 0)
		return (netstat_graph(tc));
	return (tool_usage(tc));
}

const struct tool tool_netstat = {
	.tl_name = "netstat",
	.tl_synopsis = "-i | -I interface [-46abdhnW] [-f family]\n"
	    "-w wait [-I interface] [-dh] [-q howmany]\n"
	    "-r [-46nW] [-f family] [-F fibnum]\n"
	    "-s [-s] [-p protocol] [-I interface] [-z]\n"
	    "-f netgraph",
	.tl_manual = "netepoch-netstat(1)",
	.tl_descr = "show interfaces, routes and what was counted",
	.tl_fn = netstat_main,
};
