/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * netstat -i: a row per interface and one per address; netstat -w: what was
 * counted in each interval.  Columns are FreeBSD's; those of names and networks
 * are as wide as the longest, also without -W, so that none is cut.
 */

#include <arpa/inet.h>
#include <string.h>

#include "tools/addr.h"
#include "tools/netstat.h"
#include "tools/out.h"
#include "tools/tool.h"

#define	NETSTAT_UP	0x1		/* flag of an interface */
#define	NETSTAT_ROWS	21		/* -w: rows between two headers */

/* ---- -i ---- */

struct netstat_widths {
	int	nw_name;
	int	nw_network;
	int	nw_address;
};

/* The columns behind the address; in this order. */
static const struct {
	const char	*nc_head;
	const char	*nc_key;	/* of counters */
	const char	*nc_json;
	int		 nc_width;
	char		 nc_option;	/* 'b', 'd': only with this */
} netstat_cols[] = {
	{ "Ipkts", "ipackets",	"received-packets",	8,	0 },
	{ "Ierrs", "ierrors",	"received-errors",	5,	0 },
	{ "Idrop", "idrops",	"dropped-packets",	5,	0 },
	{ "Ibytes", "ibytes",	"received-bytes",	10,	'b' },
	{ "Opkts", "opackets",	"sent-packets",		8,	0 },
	{ "Oerrs", "oerrors",	"send-errors",		5,	0 },
	{ "Obytes", "obytes",	"sent-bytes",		10,	'b' },
	{ "Coll", "collisions",	"collisions",		5,	0 },
	{ "Drop", "odrops",	"output-drops",		5,	'd' },
};

static bool
netstat_col(const struct netstat *ns, size_t i)
{
	char opt = netstat_cols[i].nc_option;

	return (opt == 0 || (opt == 'b' && ns->ns_bytes) ||
	    (opt == 'd' && ns->ns_drops));
}

static void
netstat_if_head(struct out *o, const struct netstat *ns,
    const struct netstat_widths *nw)
{
	size_t i;

	out_text(o, "%-*s %6s %-*s %-*s", nw->nw_name, "Name", "Mtu",
	    nw->nw_network, "Network", nw->nw_address, "Address");
	for (i = 0; i < nitems(netstat_cols); i++)
		if (netstat_col(ns, i))
			out_text(o, " %*s", netstat_cols[i].nc_width,
			    netstat_cols[i].nc_head);
	out_text(o, "\n");
}

/* The columns of counters; counters NULL: a row that has none. */
static void
netstat_if_counters(struct out *o, const struct netstat *ns,
    const json_t *counters)
{
	uint64_t val;
	char buf[24];
	size_t i;

	for (i = 0; i < nitems(netstat_cols); i++) {
		val = (uint64_t)js_int(counters, netstat_cols[i].nc_key);
		if (counters != NULL)
			out_put(o, netstat_cols[i].nc_json,
			    json_integer((json_int_t)val));
		if (!netstat_col(ns, i))
			continue;
		if (counters == NULL)
			(void)snprintf(buf, sizeof(buf), "-");
		else if (ns->ns_human)
			out_human(buf, sizeof(buf), val);
		else
			(void)snprintf(buf, sizeof(buf), "%ju",
			    (uintmax_t)val);
		out_text(o, " %*s", netstat_cols[i].nc_width, buf);
	}
	out_text(o, "\n");
}

static void
netstat_if_row(struct out *o, const struct netstat *ns,
    const struct netstat_widths *nw, const json_t *ifp, const char *network,
    const char *addr, const json_t *counters)
{
	bool up = (js_int(ifp, "flags") & NETSTAT_UP) != 0;
	char name[32], mtu[16];

	(void)snprintf(name, sizeof(name), "%s%s", js_str(ifp, "name"),
	    up ? "" : "*");
	if (counters != NULL)
		(void)snprintf(mtu, sizeof(mtu), "%jd",
		    (intmax_t)js_int(ifp, "mtu"));
	else
		(void)snprintf(mtu, sizeof(mtu), "-");
	out_instance(o);
	out_str(o, "name", js_str(ifp, "name"), "%-*s ", nw->nw_name, name);
	if (counters != NULL)
		out_put(o, "mtu", json_integer(js_int(ifp, "mtu")));
	out_text(o, "%6s ", mtu);
	out_str(o, "network", network, "%-*s ", nw->nw_network, network);
	out_str(o, "address", addr, "%-*s", nw->nw_address, addr);
	netstat_if_counters(o, ns, counters);
	out_close(o);
}

/* "192.0.2.0/24", the network of an address of an interface. */
static void
netstat_network(char network[24], const json_t *a)
{
	char buf[INET_ADDRSTRLEN];
	struct in_addr in;

	if (inet_pton(AF_INET, js_str(a, "addr"), &in) != 1)
		in.s_addr = INADDR_ANY;
	in.s_addr &= addr_mask((int)js_int(a, "plen")).s_addr;
	(void)snprintf(network, 24, "%s/%d", inet_ntop(AF_INET, &in, buf,
	    sizeof(buf)), (int)js_int(a, "plen") & 63);
}

/* No narrower than what is in the columns: a cut name is of no use. */
static void
netstat_if_widths(struct netstat_widths *nw, const json_t *ifs)
{
	const json_t *a, *ifp;
	char network[24];
	size_t i, j;
	int len;

	json_array_foreach(ifs, i, ifp) {
		len = (int)strlen(js_str(ifp, "name")) +
		    ((js_int(ifp, "flags") & NETSTAT_UP) == 0);
		if (len > nw->nw_name)
			nw->nw_name = len;
		json_array_foreach(js_get(ifp, "addrs"), j, a) {
			netstat_network(network, a);
			if ((int)strlen(network) > nw->nw_network)
				nw->nw_network = (int)strlen(network);
		}
	}
}

static void
netstat_if(struct out *o, const struct netstat *ns,
    const struct netstat_widths *nw, const json_t *ifp)
{
	const char *addr = js_str(ifp, "ether"), *name;
	char network[24];
	const json_t *a;
	size_t i;

	if (ns->ns_family == NULL || strcmp(ns->ns_family, "link") == 0) {
		(void)snprintf(network, sizeof(network), "<Link#%jd>",
		    (intmax_t)js_int(ifp, "index"));
		netstat_if_row(o, ns, nw, ifp, network, *addr != '\0' ? addr :
		    js_str(ifp, "name"), js_get(ifp, "counters"));
	}
	json_array_foreach(js_get(ifp, "addrs"), i, a) {
		if (ns->ns_family != NULL &&
		    strcmp(ns->ns_family, js_str(a, "family")) != 0)
			continue;
		addr = js_str(a, "addr");
		netstat_network(network, a);
		name = ns->ns_numeric ? NULL : addr_name(addr);
		netstat_if_row(o, ns, nw, ifp, network,
		    name != NULL ? name : addr, NULL);
	}
}

int
netstat_ifaces(struct tool_ctx *tc, const struct netstat *ns)
{
	struct netstat_widths nw = { 5, ns->ns_wide ? 18 : 13,
	    ns->ns_wide ? 39 : 17 };
	const json_t *ifp, *ifs;
	json_t *res;
	size_t i;
	int status;

	status = tool_do(tc, "if.list", ns->ns_ifname != NULL ?
	    json_pack("{s:s}", "name", ns->ns_ifname) : NULL, &res);
	if (status != 0)
		return (status);
	ifs = js_get(res, "interfaces");
	netstat_if_widths(&nw, ifs);
	out_open(tc->tc_o, "statistics");
	netstat_if_head(tc->tc_o, ns, &nw);
	out_list(tc->tc_o, "interface");
	json_array_foreach(ifs, i, ifp)
		netstat_if(tc->tc_o, ns, &nw, ifp);
	out_close(tc->tc_o);
	out_close(tc->tc_o);
	json_decref(res);
	return (0);
}

/* ---- -w ---- */

/* What is shown, in columns; also the sum over interfaces. */
static const struct {
	const char	*nv_head;
	const char	*nv_key;
	const char	*nv_json;
	int		 nv_width;
} netstat_vals[] = {
	{ "packets",	"ipackets",	"received-packets",	10 },
	{ "errs",	"ierrors",	"received-errors",	5 },
	{ "idrops",	"idrops",	"dropped-packets",	5 },
	{ "bytes",	"ibytes",	"received-bytes",	10 },
	{ "packets",	"opackets",	"sent-packets",		10 },
	{ "errs",	"oerrors",	"send-errors",		5 },
	{ "bytes",	"obytes",	"sent-bytes",		10 },
	{ "colls",	"collisions",	"collisions",		5 },
	{ "drops",	"odrops",	"output-drops",		5 },
};
#define	NETSTAT_NVALS	nitems(netstat_vals)

static int
netstat_sample(struct tool_ctx *tc, const struct netstat *ns,
    uint64_t val[NETSTAT_NVALS])
{
	const json_t *ifp;
	json_t *res;
	size_t i, j;
	int status;

	status = tool_do(tc, "if.list", ns->ns_ifname != NULL ?
	    json_pack("{s:s}", "name", ns->ns_ifname) : NULL, &res);
	if (status != 0)
		return (status);
	memset(val, 0, NETSTAT_NVALS * sizeof(*val));
	json_array_foreach(js_get(res, "interfaces"), i, ifp)
		for (j = 0; j < NETSTAT_NVALS; j++)
			val[j] += (uint64_t)js_int(js_get(ifp, "counters"),
			    netstat_vals[j].nv_key);
	json_decref(res);
	return (0);
}

static void
netstat_watch_head(struct out *o, const struct netstat *ns, size_t ncols)
{
	size_t i;

	out_text(o, "%17s%14s%18s\n", "input", ns->ns_ifname != NULL ?
	    ns->ns_ifname : "(Total)", "output");
	for (i = 0; i < ncols; i++)
		out_text(o, "%s%*s", i > 0 ? " " : "",
		    netstat_vals[i].nv_width, netstat_vals[i].nv_head);
	out_text(o, "\n");
}

int
netstat_watch(struct tool_ctx *tc, const struct netstat *ns)
{
	size_t ncols = NETSTAT_NVALS - (ns->ns_drops ? 0 : 1), i;
	uint64_t val[NETSTAT_NVALS], old[NETSTAT_NVALS], diff;
	struct out *o = tc->tc_o;
	long long row;
	char buf[24];
	int status;

	if ((status = netstat_sample(tc, ns, old)) != 0)
		return (status);
	for (row = 0; ns->ns_count == 0 || row < ns->ns_count; row++) {
		if (row % NETSTAT_ROWS == 0)
			netstat_watch_head(o, ns, ncols);
		if ((status = tool_flush(tc)) != 0)
			return (status);
		tool_sleep(ns->ns_wait);
		if ((status = netstat_sample(tc, ns, val)) != 0)
			return (status);
		out_open(o, "interface-statistics");
		for (i = 0; i < ncols; i++) {
			/* An interface that left may make the sum fall. */
			diff = val[i] >= old[i] ? val[i] - old[i] : 0;
			if (ns->ns_human)
				out_human(buf, sizeof(buf), diff);
			else
				(void)snprintf(buf, sizeof(buf), "%ju",
				    (uintmax_t)diff);
			out_int(o, netstat_vals[i].nv_json, (json_int_t)diff,
			    "%s%*s", i > 0 ? " " : "",
			    netstat_vals[i].nv_width, buf);
			old[i] = val[i];
		}
		out_text(o, "\n");
		out_close(o);
	}
	return (0);
}
