/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * netstat -s: what the protocols counted, a block each, and in a block of
 * our own ("drop") why packets went missing.  The order of the ip block's
 * lines is FreeBSD's; what the machine counts besides comes behind.
 */

#include <errno.h>
#include <string.h>

#include "tools/netstat.h"
#include "tools/out.h"
#include "tools/tool.h"

#define	NETSTAT_DROP	"drop"		/* the block of reasons */

/* Order of lines in any block, by their text. */
static const char *const netstat_order[] = {
	"total packets received",
	"bad header checksums",
	"with size smaller than minimum",
	"with data size < data length",
	"with ip length > max ip packet size",
	"with header length < data size",
	"with data length < header length",
	"with bad options",
	"with incorrect version number",
	"fragments received",
	"fragments dropped (dup or out of space)",
	"fragments dropped after timeout",
	"packets reassembled ok",
	"packets for this host",
	"packets for unknown/unsupported protocol",
	"packets forwarded",
	"packets fast forwarded",
	"packets not forwardable",
	"packets received for unknown multicast group",
	"redirects sent",
	"packets sent from this host",
	"packets sent with fabricated ip header",
	"output packets dropped due to no bufs, etc.",
	"output packets discarded due to no route",
	"output datagrams fragmented",
	"fragments created",
	"datagrams that can't be fragmented",
	"tunneling packets that can't find gif",
	"datagrams with bad address in header",
	"ARP requests sent",
	"ARP requests failed to sent",
	"ARP replies sent",
	"ARP requests received",
	"ARP replies received",
	"ARP packets received",
	"total packets dropped due to no ARP entry",
	"ARP entrys timed out",
	"Duplicate IPs seen",
};

/* Nouns that lose their s when there is one. */
static const struct {
	const char	*pl_many;
	const char	*pl_one;
} netstat_plurals[] = {
	{ "packets",	"packet" },
	{ "fragments",	"fragment" },
	{ "datagrams",	"datagram" },
	{ "checksums",	"checksum" },
	{ "requests",	"request" },
	{ "replies",	"reply" },
	{ "errors",	"error" },
	{ "redirects",	"redirect" },
	{ "messages",	"message" },
	{ "segments",	"segment" },
	{ "entrys",	"entry" },
	{ "IPs",	"IP" },
};

/* The text behind a number: the first of its nouns agrees with it. */
static void
netstat_text(char *buf, size_t len, uint64_t n, const char *text)
{
	size_t i, plen;
	const char *p, *first = NULL;
	size_t which = 0;

	for (i = 0; n == 1 && i < nitems(netstat_plurals); i++) {
		p = strstr(text, netstat_plurals[i].pl_many);
		plen = strlen(netstat_plurals[i].pl_many);
		if (p == NULL || (p > text && p[-1] != ' ') ||
		    (p[plen] != '\0' && p[plen] != ' ') ||
		    (first != NULL && first < p))
			continue;
		first = p;
		which = i;
	}
	if (first == NULL)
		(void)snprintf(buf, len, "%s", text);
	else
		(void)snprintf(buf, len, "%.*s%s%s", (int)(first - text), text,
		    netstat_plurals[which].pl_one,
		    first + strlen(netstat_plurals[which].pl_many));
}

static size_t
netstat_rank(const json_t *line)
{
	size_t i;

	for (i = 0; i < nitems(netstat_order); i++)
		if (strcmp(netstat_order[i], js_str(line, "text")) == 0)
			break;
	return (i);
}

static const json_t *
netstat_line_find(const json_t *lines, const char *text)
{
	const json_t *line;
	size_t i;

	json_array_foreach(lines, i, line)
		if (strcmp(js_str(line, "text"), text) == 0)
			return (line);
	return (NULL);
}

static void
netstat_line(struct out *o, const struct netstat *ns, const json_t *lines,
    const json_t *line)
{
	const char *text = js_str(line, "text");
	uint64_t n = (uint64_t)js_int(line, "value"), fast;
	const json_t *other;
	char buf[160], fbuf[80];

	out_put(o, js_str(line, "name"), json_integer((json_int_t)n));
	if (ns->ns_stats > 1 && n == 0)
		return;
	/* One line says how many went each way. */
	if (strcmp(text, "packets fast forwarded") == 0 &&
	    netstat_line_find(lines, "packets forwarded") != NULL)
		return;
	netstat_text(buf, sizeof(buf), n, text);
	out_text(o, "\t%ju %s", (uintmax_t)n, buf);
	other = strcmp(text, "packets forwarded") != 0 ? NULL :
	    netstat_line_find(lines, "packets fast forwarded");
	if (other != NULL) {
		fast = (uint64_t)js_int(other, "value");
		netstat_text(fbuf, sizeof(fbuf), fast,
		    "packets fast forwarded");
		out_text(o, " (%ju %s)", (uintmax_t)fast, fbuf);
	}
	out_text(o, "\n");
}

/* Lines in netstat_order first, then the others as they came. */
static void
netstat_block(struct out *o, const struct netstat *ns, const char *proto,
    const json_t *lines)
{
	const json_t *line;
	size_t i, rank;

	out_open(o, proto);
	out_text(o, "%s:\n", proto);
	for (rank = 0; rank <= nitems(netstat_order); rank++)
		json_array_foreach(lines, i, line)
			if (netstat_rank(line) == rank)
				netstat_line(o, ns, lines, line);
	out_close(o);
}

/* Reasons, summed over the interfaces (or those of -I), as they come. */
static int
netstat_drop(struct tool_ctx *tc, const struct netstat *ns)
{
	const json_t *d, *e;
	struct out *o = tc->tc_o;
	json_t *res, *seen;
	uint64_t sum;
	size_t i, j;
	int status;

	status = tool_do(tc, "drops.list", ns->ns_ifname != NULL ?
	    json_pack("{s:s}", "interface", ns->ns_ifname) : NULL, &res);
	if (status != 0)
		return (status);
	seen = json_object();
	out_text(o, "%s:\n", NETSTAT_DROP);
	out_list(o, NETSTAT_DROP);
	json_array_foreach(js_get(res, "drops"), i, d) {
		out_put(o, NULL, json_deep_copy(d));
		if (js_has(seen, js_str(d, "name")))
			continue;
		(void)json_object_set_new(seen, js_str(d, "name"),
		    json_true());
		sum = 0;
		json_array_foreach(js_get(res, "drops"), j, e)
			if (strcmp(js_str(e, "name"), js_str(d, "name")) == 0)
				sum += (uint64_t)js_int(e, "count");
		out_text(o, "\t%ju %s (%s)\n", (uintmax_t)sum,
		    js_str(d, "text"), js_str(d, "name"));
	}
	out_close(o);
	json_decref(seen);
	json_decref(res);
	return (0);
}

static int
netstat_protocols(struct tool_ctx *tc, const struct netstat *ns)
{
	struct ctl_error ce;
	const char *proto;
	json_t *res, *lines;

	if (tool_call(tc, "stats.get", ns->ns_proto != NULL ?
	    json_pack("{s:s}", "proto", ns->ns_proto) : NULL, &res,
	    &ce) != 0) {
		if (ns->ns_proto == NULL || (ce.ce_errno != ENOENT &&
		    ce.ce_errno != EINVAL && ce.ce_errno != EPROTONOSUPPORT))
			return (tool_callfail(tc, &ce));
		return (tool_fail(tc, 1, "%s: unknown or uninstrumented "
		    "protocol", ns->ns_proto));
	}
	json_object_foreach(json_object_get(res, "protocols"), proto, lines)
		netstat_block(tc->tc_o, ns, proto, lines);
	json_decref(res);
	return (0);
}

int
netstat_stats(struct tool_ctx *tc, const struct netstat *ns)
{
	bool drop = ns->ns_proto != NULL &&
	    strcmp(ns->ns_proto, NETSTAT_DROP) == 0;
	int status = 0;

	if (drop && ns->ns_zero)
		return (tool_fail(tc, EX_USAGE, "-z: drops are cleared with "
		    "their protocols"));
	out_open(tc->tc_o, "statistics");
	if (!drop)
		status = netstat_protocols(tc, ns);
	if (status == 0 && (drop || ns->ns_proto == NULL))
		status = netstat_drop(tc, ns);
	out_close(tc->tc_o);
	if (status == 0 && ns->ns_zero)
		status = tool_do(tc, "stats.zero", ns->ns_proto != NULL ?
		    json_pack("{s:s}", "proto", ns->ns_proto) : NULL, NULL);
	return (status);
}
