/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* route: change the routes of a machine, or ask where a packet would go. */

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "tools/addr.h"
#include "tools/cmds.h"
#include "tools/out.h"
#include "tools/route_flags.h"
#include "tools/tool.h"

const struct route_flag route_flags[] = {
	{ 0x1,		'U',	"UP" },
	{ 0x2,		'G',	"GATEWAY" },
	{ 0x4,		'H',	"HOST" },
	{ 0x8,		'R',	"REJECT" },
	{ 0x10,		'D',	"DYNAMIC" },
	{ 0x20,		'M',	"MODIFIED" },
	{ 0x40,		'd',	"DONE" },
	{ 0x200,	'X',	"XRESOLVE" },
	{ 0x800,	'S',	"STATIC" },
	{ 0x8000,	'1',	"PROTO1" },
	{ 0x4000,	'2',	"PROTO2" },
	{ 0x40000,	'3',	"PROTO3" },
	{ 0x1000,	'B',	"BLACKHOLE" },
	{ 0x400000,	'b',	"BROADCAST" },
	{ 0x400,	'L',	"LLINFO" },
	{ 0x80000,	'\0',	"FIXEDMTU" },
	{ 0x100000,	'\0',	"PINNED" },
	{ 0x200000,	'\0',	"LOCAL" },
	{ 0x800000,	'\0',	"MULTICAST" },
	{ 0x10000000,	'\0',	"STICKY" },
	{ 0,		'\0',	NULL }
};

/* The order of names in the flags line of route get. */
static const unsigned int route_order[] = {
	0x1, 0x2, 0x4, 0x8, 0x10, 0x20, 0x40, 0x200, 0x400, 0x800, 0x1000,
	0x4000, 0x8000, 0x40000, 0x80000, 0x100000, 0x200000, 0x400000,
	0x800000, 0x10000000
};

/* What the words said. */
struct route_req {
	const char	*rr_cmd;	/* "add" */
	const char	*rr_dest;	/* as typed, or NULL */
	const char	*rr_gw;		/* as typed, or NULL */
	const char	*rr_mask;	/* as typed, or NULL */
	const char	*rr_ifp;	/* -ifp */
	struct in_addr	 rr_dst;
	int		 rr_plen;	/* -1: not said by -prefixlen */
	bool		 rr_host;
	bool		 rr_net;
	bool		 rr_iface;	/* the gateway is an interface */
	bool		 rr_blackhole;
	bool		 rr_reject;
	bool		 rr_nostatic;
	bool		 rr_numeric;	/* -n */
	bool		 rr_quiet;	/* -q */
	bool		 rr_debug;	/* -d: do not change anything */
	int		 rr_proto;	/* 1..3, 0: none */
	long long	 rr_mtu;	/* bytes, 0: not given */
};

enum route_word {
	RW_NET, RW_HOST, RW_INET, RW_INET6, RW_IFACE, RW_NETMASK,
	RW_PREFIXLEN, RW_GATEWAY, RW_DST, RW_IFP, RW_FIB, RW_BLACKHOLE,
	RW_REJECT, RW_STATIC, RW_NOSTATIC, RW_PROTO1, RW_PROTO2, RW_PROTO3,
	RW_MTU, RW_NOTHERE
};

static const struct {
	const char	*rw_name;
	enum route_word	 rw_word;
	bool		 rw_arg;	/* takes one */
} route_words[] = {
	{ "net",	RW_NET,		false },
	{ "host",	RW_HOST,	false },
	{ "inet",	RW_INET,	false },
	{ "4",		RW_INET,	false },
	{ "inet6",	RW_INET6,	false },
	{ "6",		RW_INET6,	false },
	{ "iface",	RW_IFACE,	false },
	{ "interface",	RW_IFACE,	false },
	{ "netmask",	RW_NETMASK,	true },
	{ "prefixlen",	RW_PREFIXLEN,	true },
	{ "gateway",	RW_GATEWAY,	true },
	{ "dst",	RW_DST,		true },
	{ "ifp",	RW_IFP,		true },
	{ "fib",	RW_FIB,		true },
	{ "blackhole",	RW_BLACKHOLE,	false },
	{ "reject",	RW_REJECT,	false },
	{ "static",	RW_STATIC,	false },
	{ "nostatic",	RW_NOSTATIC,	false },
	{ "proto1",	RW_PROTO1,	false },
	{ "proto2",	RW_PROTO2,	false },
	{ "proto3",	RW_PROTO3,	false },
	{ "mtu",	RW_MTU,		true },
	{ "ifa",	RW_NOTHERE,	true },
	{ "weight",	RW_NOTHERE,	true },
	{ "expire",	RW_NOTHERE,	true },
	{ "hopcount",	RW_NOTHERE,	true },
	{ "sticky",	RW_NOTHERE,	false },
	{ "link",	RW_NOTHERE,	false },
	{ "lock",	RW_NOTHERE,	false },
	{ "lockrest",	RW_NOTHERE,	false },
};

/* "0", "default" and "all" name the one table there is. */
static int
route_fib(struct tool_ctx *tc, const char *arg)
{
	if (strcmp(arg, "0") == 0 || strcmp(arg, "default") == 0 ||
	    strcmp(arg, "all") == 0)
		return (0);
	return (tool_fail(tc, EX_USAGE, "-fib %s: this machine has fib 0 "
	    "only", arg));
}

/* Modifiers with a word behind them. */
static int
route_modifier_arg(struct tool_ctx *tc, struct route_req *rr,
    enum route_word word, const char *name, const char *arg)
{
	long long val;

	switch (word) {
	case RW_NETMASK:
		rr->rr_mask = arg;
		break;
	case RW_PREFIXLEN:
		if (!tool_number(arg, 0, 32, &val))
			return (tool_fail(tc, EX_USAGE,
			    "-prefixlen %s: expected 0..32", arg));
		rr->rr_plen = (int)val;
		break;
	case RW_GATEWAY:
		rr->rr_gw = arg;
		break;
	case RW_DST:
		rr->rr_dest = arg;
		break;
	case RW_IFP:
		rr->rr_ifp = arg;
		break;
	case RW_FIB:
		return (route_fib(tc, arg));
	case RW_MTU:
		if (!tool_number(arg, 68, 65535, &rr->rr_mtu))
			return (tool_fail(tc, EX_USAGE,
			    "-mtu %s: expected 68..65535", arg));
		break;
	default:
		return (tool_fail(tc, EX_UNAVAILABLE, "-%s is not supported",
		    name));
	}
	return (0);
}

static int
route_modifier(struct tool_ctx *tc, struct route_req *rr,
    enum route_word word, const char *name)
{
	switch (word) {
	case RW_NET:
		rr->rr_net = true;
		break;
	case RW_HOST:
		rr->rr_host = true;
		break;
	case RW_INET:
	case RW_STATIC:
		break;
	case RW_INET6:
		return (tool_fail(tc, EX_UNAVAILABLE,
		    "IPv6 routes are not supported"));
	case RW_IFACE:
		rr->rr_iface = true;
		break;
	case RW_BLACKHOLE:
		rr->rr_blackhole = true;
		break;
	case RW_REJECT:
		rr->rr_reject = true;
		break;
	case RW_NOSTATIC:
		rr->rr_nostatic = true;
		break;
	case RW_PROTO1:
	case RW_PROTO2:
	case RW_PROTO3:
		rr->rr_proto = (int)(word - RW_PROTO1) + 1;
		break;
	default:
		return (tool_fail(tc, EX_UNAVAILABLE, "-%s is not supported",
		    name));
	}
	return (0);
}

/* Modifiers and the words between them: destination, gateway, mask. */
static int
route_parse(struct tool_ctx *tc, struct route_req *rr, char **argv)
{
	const char **plain[] = { &rr->rr_dest, &rr->rr_gw, &rr->rr_mask };
	size_t i, n = 0;
	int status;

	for (; *argv != NULL; argv++) {
		if (**argv != '-') {
			while (n < nitems(plain) && *plain[n] != NULL)
				n++;
			if (n == nitems(plain))
				return (tool_usage(tc));
			*plain[n++] = *argv;
			continue;
		}
		for (i = 0; i < nitems(route_words); i++)
			if (strcmp(route_words[i].rw_name, *argv + 1) == 0)
				break;
		if (i == nitems(route_words)) {
			tool_warn(tc, "bad keyword: %s", *argv + 1);
			return (tool_usage(tc));
		}
		if (route_words[i].rw_arg && argv[1] == NULL)
			return (tool_usage(tc));
		if (route_words[i].rw_arg)
			status = route_modifier_arg(tc, rr,
			    route_words[i].rw_word, route_words[i].rw_name,
			    *++argv);
		else
			status = route_modifier(tc, rr,
			    route_words[i].rw_word, route_words[i].rw_name);
		if (status != 0)
			return (status);
	}
	return (0);
}

/* rr_dest and what modifies it to rr_dst and rr_plen. */
static int
route_dest(struct tool_ctx *tc, struct route_req *rr)
{
	int plen = -1;

	if (rr->rr_dest == NULL)
		return (tool_usage(tc));
	if (strcmp(rr->rr_dest, "default") == 0) {
		rr->rr_dst.s_addr = 0;
		plen = 0;
	} else if (!addr_prefix_parse(rr->rr_dest, &rr->rr_dst, &plen)) {
		if (!addr_parse(rr->rr_dest, &rr->rr_dst))
			return (tool_fail(tc, EX_NOHOST, "bad address: %s",
			    rr->rr_dest));
		plen = rr->rr_net ? -1 : 32;
	}
	if (rr->rr_mask != NULL && !addr_mask_parse(rr->rr_mask, &plen))
		return (tool_fail(tc, EX_NOHOST, "bad address: %s",
		    rr->rr_mask));
	if (rr->rr_plen != -1)
		plen = rr->rr_plen;
	if (rr->rr_host)
		plen = 32;
	if (plen == -1)
		return (tool_fail(tc, EX_USAGE, "-net %s: needs a length or "
		    "a mask", rr->rr_dest));
	rr->rr_plen = plen;
	rr->rr_host = plen == 32;
	rr->rr_dst.s_addr &= addr_mask(plen).s_addr;
	return (0);
}

/* The gateway's text for the call; an interface must exist. */
static int
route_gateway(struct tool_ctx *tc, struct route_req *rr, json_t *args)
{
	const char *ifname = rr->rr_iface ? rr->rr_gw : rr->rr_ifp;
	char buf[INET_ADDRSTRLEN];
	struct in_addr gw;
	struct ctl_error ce;
	int error;

	if (ifname != NULL) {
		error = tool_call(tc, "if.list", json_pack("{s:s}", "name",
		    ifname), NULL, &ce);
		if (error == ENOTCONN || error == EPIPE)
			return (tool_callfail(tc, &ce));
		if (error != 0)
			return (tool_fail(tc, EX_DATAERR,
			    "interface '%s' does not exist", ifname));
		(void)json_object_set_new(args, "interface",
		    json_string(ifname));
	}
	if (rr->rr_gw == NULL || rr->rr_iface)
		return (0);
	if (!addr_parse(rr->rr_gw, &gw))
		return (tool_fail(tc, EX_NOHOST, "bad address: %s",
		    rr->rr_gw));
	/* A packet that ends here has no gateway; the word is tradition. */
	if (!rr->rr_blackhole && !rr->rr_reject)
		(void)json_object_set_new(args, "gateway", json_string(
		    inet_ntop(AF_INET, &gw, buf, sizeof(buf))));
	return (0);
}

static json_t *
route_args(const struct route_req *rr)
{
	char buf[INET_ADDRSTRLEN];

	return (json_pack("{s:s, s:i}", "dst", inet_ntop(AF_INET,
	    &rr->rr_dst, buf, sizeof(buf)), "plen", rr->rr_plen));
}

static const char *
route_strerror(int error)
{
	switch (error) {
	case EEXIST:
		return ("route already in table");
	case ESRCH:
		return ("not in table");
	case EBUSY:
		return ("entry in use");
	case ENOBUFS:
	case ENOMEM:
		return ("not enough memory");
	case EADDRINUSE:
		return ("gateway uses the same route");
	default:
		return (strerror(error));
	}
}

/* The line about what was done, or why it was not; status to return. */
static int
route_report(struct tool_ctx *tc, const struct route_req *rr, int error,
    const struct ctl_error *ce)
{
	struct out *o = tc->tc_o;

	if (error == ENOTCONN || error == EPIPE)
		return (tool_callfail(tc, ce));
	if (error == ESRCH)
		tool_warn(tc, "route has not been found");
	else if (error == ENETUNREACH)
		tool_warn(tc, "writing to routing socket: %s",
		    strerror(error));
	else if (error != 0 && error != EEXIST)
		tool_warn(tc, "%s", ce->ce_text[0] != '\0' ? ce->ce_text :
		    strerror(error));
	if (rr->rr_quiet)
		return (error != 0);
	out_open(o, "route");
	out_str(o, "command", rr->rr_cmd, "%s ", rr->rr_cmd);
	out_str(o, "type", rr->rr_host ? "host" : "net", "%s ",
	    rr->rr_host ? "host" : "net");
	out_str(o, "destination", rr->rr_dest, "%s", rr->rr_dest);
	if (rr->rr_gw != NULL)
		out_str(o, "gateway", rr->rr_gw, ": gateway %s", rr->rr_gw);
	out_put(o, "fib", json_integer(0));
	if (error != 0)
		out_str(o, "error", route_strerror(error), " fib 0: %s",
		    route_strerror(error));
	out_text(o, "\n");
	out_close(o);
	return (error != 0);
}

static int
route_newroute(struct tool_ctx *tc, struct route_req *rr)
{
	bool add = strcmp(rr->rr_cmd, "add") == 0;
	struct ctl_error ce = { 0 };
	json_t *args;
	int error = 0, status;

	if ((status = route_dest(tc, rr)) != 0)
		return (status);
	if (rr->rr_gw == NULL && rr->rr_ifp == NULL && !rr->rr_blackhole &&
	    !rr->rr_reject)
		return (tool_usage(tc));
	args = route_args(rr);
	if ((status = route_gateway(tc, rr, args)) != 0) {
		json_decref(args);
		return (status);
	}
	if (rr->rr_blackhole)
		(void)json_object_set_new(args, "blackhole", json_true());
	if (rr->rr_reject)
		(void)json_object_set_new(args, "reject", json_true());
	if (rr->rr_nostatic)
		(void)json_object_set_new(args, "static", json_false());
	if (rr->rr_mtu != 0)
		(void)json_object_set_new(args, "mtu",
		    json_integer(rr->rr_mtu));
	if (rr->rr_proto != 0)
		(void)json_object_set_new(args, "proto",
		    json_integer(rr->rr_proto));
	if (rr->rr_debug)
		json_decref(args);
	else
		error = tool_call(tc, add ? "route.add" : "route.change",
		    args, NULL, &ce);
	return (route_report(tc, rr, error, &ce));
}

/* A gateway on the line must be the route's. */
static int
route_delete(struct tool_ctx *tc, struct route_req *rr)
{
	struct ctl_error ce = { 0 };
	char buf[INET_ADDRSTRLEN];
	struct in_addr gw;
	json_t *res;
	int error = 0, status;

	if ((status = route_dest(tc, rr)) != 0)
		return (status);
	if (rr->rr_gw != NULL && !rr->rr_iface) {
		if (!addr_parse(rr->rr_gw, &gw))
			return (tool_fail(tc, EX_NOHOST, "bad address: %s",
			    rr->rr_gw));
		error = tool_call(tc, "route.get", json_pack("{s:s, s:i}",
		    "addr", inet_ntop(AF_INET, &rr->rr_dst, buf, sizeof(buf)),
		    "plen", rr->rr_plen), &res, &ce);
		if (error == 0) {
			(void)inet_ntop(AF_INET, &gw, buf, sizeof(buf));
			if (strcmp(js_str(res, "gateway"), buf) != 0)
				error = ESRCH;
			json_decref(res);
		}
	}
	if (error == 0 && !rr->rr_debug)
		error = tool_call(tc, "route.del", route_args(rr), NULL, &ce);
	return (route_report(tc, rr, error, &ce));
}

/* ---- get ---- */

static const char *
route_name(const struct route_req *rr, const char *addr)
{
	const char *name = NULL;

	if (!rr->rr_numeric && strcmp(addr, "0.0.0.0") == 0)
		return ("default");
	if (!rr->rr_numeric)
		name = addr_name(addr);
	return (name != NULL ? name : addr);
}

static void
route_flags_line(struct out *o, unsigned int flags)
{
	const char *sep = "<";
	size_t i, j;

	out_list(o, "flags");
	out_text(o, "      flags: ");
	for (i = 0; i < nitems(route_order); i++) {
		if ((flags & route_order[i]) == 0)
			continue;
		for (j = 0; route_flags[j].rf_bit != route_order[i]; j++)
			continue;
		out_str(o, NULL, route_flags[j].rf_name, "%s%s", sep,
		    route_flags[j].rf_name);
		sep = ",";
	}
	out_text(o, ">\n");
	out_close(o);
}

static void
route_print(struct tool_ctx *tc, const struct route_req *rr, const json_t *rt)
{
	unsigned int flags = (unsigned int)js_int(rt, "flags") | ROUTE_DONE;
	const char *to, *dst = js_str(rt, "dst"), *gw = js_str(rt, "gateway");
	int plen = (int)js_int(rt, "plen");
	char buf[INET_ADDRSTRLEN];
	struct out *o = tc->tc_o;
	struct in_addr mask;

	(void)inet_ntop(AF_INET, &rr->rr_dst, buf, sizeof(buf));
	to = route_name(rr, buf);
	out_open(o, "route");
	out_str(o, "route-to", to, "   route to: %s\n", to);
	out_str(o, "destination", route_name(rr, dst), "destination: %s\n",
	    route_name(rr, dst));
	if ((flags & ROUTE_HOST) == 0) {
		mask = addr_mask(plen);
		(void)inet_ntop(AF_INET, &mask, buf, sizeof(buf));
		out_str(o, "mask", route_name(rr, buf), "       mask: %s\n",
		    plen == 0 ? route_name(rr, buf) : buf);
	}
	if ((flags & ROUTE_GATEWAY) != 0)
		out_str(o, "gateway", route_name(rr, gw),
		    "    gateway: %s\n", route_name(rr, gw));
	out_int(o, "fib", 0, "        fib: 0\n");
	out_str(o, "interface", js_str(rt, "interface"),
	    "  interface: %s\n", js_str(rt, "interface"));
	route_flags_line(o, flags);
	out_text(o, " recvpipe  sendpipe  ssthresh  rtt,msec    mtu        "
	    "weight    expire\n");
	out_int(o, "mtu", js_int(rt, "mtu"),
	    "%8d  %8d  %8d  %8d  %8jd  %8d  %8d \n", 0, 0, 0, 0,
	    (intmax_t)js_int(rt, "mtu"), 1, 0);
	out_put(o, "packets", json_integer(js_int(rt, "packets")));
	out_put(o, "bytes", json_integer(js_int(rt, "bytes")));
	out_close(o);
}

static int
route_get(struct tool_ctx *tc, struct route_req *rr)
{
	char buf[INET_ADDRSTRLEN];
	struct ctl_error ce;
	json_t *args, *res;
	int status;

	if ((status = route_dest(tc, rr)) != 0)
		return (status);
	args = json_pack("{s:s}", "addr", inet_ntop(AF_INET, &rr->rr_dst, buf,
	    sizeof(buf)));
	if (!rr->rr_host)
		(void)json_object_set_new(args, "plen",
		    json_integer(rr->rr_plen));
	if (tool_call(tc, "route.get", args, &res, &ce) != 0) {
		if (ce.ce_errno != ESRCH && ce.ce_errno != ENETUNREACH)
			return (tool_callfail(tc, &ce));
		return (tool_fail(tc, 255, "route has not been found"));
	}
	route_print(tc, rr, res);
	json_decref(res);
	return (0);
}

/* ---- flush ---- */

static int
route_flush(struct tool_ctx *tc, struct route_req *rr)
{
	const json_t *rt;
	char dst[32];
	json_t *res;
	size_t i;
	int status;

	if (rr->rr_dest != NULL)
		return (tool_usage(tc));
	if (rr->rr_debug)
		return (0);
	if ((status = tool_do(tc, "route.flush", NULL, &res)) != 0)
		return (status);
	out_list(tc->tc_o, "flushed");
	json_array_foreach(js_get(res, "routes"), i, rt) {
		if (rr->rr_quiet)
			break;
		if (js_int(rt, "plen") == 0)
			(void)snprintf(dst, sizeof(dst), "default");
		else if (js_int(rt, "plen") == 32)
			(void)snprintf(dst, sizeof(dst), "%s",
			    js_str(rt, "dst"));
		else
			(void)snprintf(dst, sizeof(dst), "%s/%d",
			    js_str(rt, "dst"), (int)js_int(rt, "plen"));
		out_text(tc->tc_o, "%-20.20s %-20.20s -fib 0   done\n", dst,
		    js_str(rt, "gateway"));
		out_put(tc->tc_o, NULL, json_pack("{s:s, s:s, s:i}",
		    "destination", dst, "gateway", js_str(rt, "gateway"),
		    "fib", 0));
	}
	out_close(tc->tc_o);
	if (js_int(res, "count") > (json_int_t)i && !rr->rr_quiet)
		out_text(tc->tc_o, "and %jd more   done\n",
		    (intmax_t)(js_int(res, "count") - (json_int_t)i));
	json_decref(res);
	return (0);
}

static int
route_monitor(struct tool_ctx *tc, struct route_req *rr)
{
	return (tool_fail(tc, EX_UNAVAILABLE, "%s is not supported",
	    rr->rr_cmd));
}

static const struct {
	const char	*rc_name;
	const char	*rc_cmd;	/* as it is printed */
	int		(*rc_fn)(struct tool_ctx *tc, struct route_req *rr);
} route_cmds[] = {
	{ "add",	"add",		route_newroute },
	{ "change",	"change",	route_newroute },
	{ "delete",	"delete",	route_delete },
	{ "del",	"delete",	route_delete },
	{ "get",	"get",		route_get },
	{ "show",	"get",		route_get },
	{ "flush",	"flush",	route_flush },
	{ "monitor",	"monitor",	route_monitor },
};

static int
route_main(struct tool_ctx *tc, int argc, char **argv)
{
	struct route_req rr = { .rr_plen = -1 };
	size_t i;
	int c, status;

	while ((c = getopt(argc, argv, "+:46dnqtv")) != -1) {
		switch (c) {
		case '6':
			return (tool_fail(tc, EX_UNAVAILABLE,
			    "IPv6 routes are not supported"));
		case 'd':
		case 't':
			rr.rr_debug = true;
			break;
		case 'n':
			rr.rr_numeric = true;
			break;
		case 'q':
			rr.rr_quiet = true;
			break;
		case '4':
		case 'v':
			break;
		default:
			return (tool_badopt(tc, c));
		}
	}
	argv += optind;
	if (argv[0] == NULL)
		return (tool_usage(tc));
	for (i = 0; i < nitems(route_cmds); i++)
		if (strcmp(route_cmds[i].rc_name, argv[0]) == 0)
			break;
	if (i == nitems(route_cmds)) {
		tool_warn(tc, "bad keyword: %s", argv[0]);
		return (tool_usage(tc));
	}
	rr.rr_cmd = route_cmds[i].rc_cmd;
	if ((status = route_parse(tc, &rr, argv + 1)) != 0)
		return (status);
	return (route_cmds[i].rc_fn(tc, &rr));
}

const struct tool tool_route = {
	.tl_name = "route",
	.tl_synopsis = "[-4dnqtv] command [[modifiers] args]",
	.tl_manual = "netepoch-route(8)",
	.tl_descr = "change routes, or show the one to an address",
	.tl_fn = route_main,
};
