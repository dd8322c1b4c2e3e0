/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* arp: the IPv4 neighbours of a machine. */

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "tools/addr.h"
#include "tools/cmds.h"
#include "tools/out.h"
#include "tools/tool.h"
#include "tools/words.h"

struct arp_opts {
	bool		 ao_numeric;	/* -n */
	bool		 ao_all;	/* -a */
	const char	*ao_ifname;	/* -i, or NULL */
	int		 ao_mode;	/* 0, 'd', 's', 'S' or 'f' */
};

static void
arp_row(struct tool_ctx *tc, const struct arp_opts *ao, const json_t *e)
{
	const char *addr = js_str(e, "addr"), *mac = js_str(e, "ether");
	const char *name = NULL, *type = js_str(e, "type");
	struct out *o = tc->tc_o;
	int64_t expire = js_int(e, "expire_s");

	if (!ao->ao_numeric)
		name = addr_name(addr);
	out_instance(o);
	out_str(o, "hostname", name != NULL ? name : "?", "%s ",
	    name != NULL ? name : "?");
	out_str(o, "ip-address", addr, "(%s) at ", addr);
	if (*mac == '\0' || strcmp(js_str(e, "state"), "incomplete") == 0) {
		out_put(o, "incomplete", json_true());
		out_text(o, "(incomplete)");
	} else
		out_str(o, "mac-address", mac, "%s", mac);
	out_str(o, "interface", js_str(e, "interface"), " on %s",
	    js_str(e, "interface"));
	if (js_bool(e, "permanent")) {
		out_put(o, "permanent", json_true());
		out_text(o, " permanent");
	} else if (expire > 0)
		out_int(o, "expires", expire, " expires in %jd seconds",
		    (intmax_t)expire);
	else {
		out_put(o, "expired", json_true());
		out_text(o, " expired");
	}
	if (js_bool(e, "published")) {
		out_put(o, "published", json_true());
		out_text(o, " published");
	}
	if (*type == '\0')
		type = "ethernet";
	out_str(o, "type", type, " [%s]\n", type);
	out_put(o, "state", json_string(js_str(e, "state")));
	out_close(o);
}

/* Arguments of arp.list and arp.del; addr may be NULL. */
static json_t *
arp_args(const char *addr, const char *ifname)
{
	json_t *args;

	args = json_object();
	if (addr != NULL)
		(void)json_object_set_new(args, "addr", json_string(addr));
	if (ifname != NULL)
		(void)json_object_set_new(args, "interface",
		    json_string(ifname));
	return (args);
}

/* The address of host as text, or an error. */
static int
arp_host(struct tool_ctx *tc, const char *host, char addr[INET_ADDRSTRLEN])
{
	struct in_addr in;

	if (!addr_parse(host, &in))
		return (tool_fail(tc, 1, "%s: unknown host", host));
	(void)inet_ntop(AF_INET, &in, addr, INET_ADDRSTRLEN);
	return (0);
}

static int
arp_show(struct tool_ctx *tc, const struct arp_opts *ao, const char *host)
{
	char addr[INET_ADDRSTRLEN];
	const json_t *e;
	json_t *res;
	int status;
	size_t i;

	if (host != NULL && (status = arp_host(tc, host, addr)) != 0)
		return (status);
	status = tool_do(tc, "arp.list",
	    arp_args(host != NULL ? addr : NULL, ao->ao_ifname), &res);
	if (status != 0)
		return (status);
	out_open(tc->tc_o, "arp");
	out_list(tc->tc_o, "arp-cache");
	json_array_foreach(js_get(res, "entries"), i, e)
		arp_row(tc, ao, e);
	out_close(tc->tc_o);
	out_close(tc->tc_o);
	json_decref(res);
	if (host == NULL || i > 0)
		return (0);
	out_text(tc->tc_o, "%s (%s) -- no entry", host, addr);
	if (ao->ao_ifname != NULL)
		out_text(tc->tc_o, " on %s", ao->ao_ifname);
	out_text(tc->tc_o, "\n");
	return (1);
}

static int
arp_delete(struct tool_ctx *tc, const struct arp_opts *ao, const char *host)
{
	char addr[INET_ADDRSTRLEN];
	const json_t *gone;
	struct ctl_error ce;
	json_t *args, *res;
	int error, status;
	size_t i;

	if (host != NULL && (status = arp_host(tc, host, addr)) != 0)
		return (status);
	args = arp_args(host != NULL ? addr : NULL, ao->ao_ifname);
	if (host == NULL)
		(void)json_object_set_new(args, "all", json_true());
	error = tool_call(tc, "arp.del", args, &res, &ce);
	if (error != 0 && (host == NULL || (error != ENOENT &&
	    error != ESRCH)))
		return (tool_callfail(tc, &ce));
	if (error != 0 || (host != NULL &&
	    json_array_size(js_get(res, "deleted")) == 0)) {
		if (error == 0)
			json_decref(res);
		return (tool_fail(tc, 1, "delete: cannot locate %s", host));
	}
	out_list(tc->tc_o, "deleted");
	json_array_foreach(js_get(res, "deleted"), i, gone) {
		out_text(tc->tc_o, "%s (%s) deleted\n", host != NULL ? host :
		    json_string_value(gone), json_string_value(gone));
		out_put(tc->tc_o, NULL, json_string(json_string_value(gone)));
	}
	out_close(tc->tc_o);
	json_decref(res);
	return (0);
}

/* "auto": our own MAC on the network where addr is. */
static int
arp_own_mac(struct tool_ctx *tc, const char *addr, char mac[MAC_STRLEN])
{
	struct ctl_error ce;
	json_t *route, *ifs;
	int status;

	if (tool_call(tc, "route.get", json_pack("{s:s}", "addr", addr),
	    &route, &ce) != 0) {
		if (ce.ce_errno == ESRCH)
			return (tool_fail(tc, 1, "cannot intuit interface "
			    "index and type for %s", addr));
		return (tool_callfail(tc, &ce));
	}
	status = tool_do(tc, "if.list", json_pack("{s:s}", "name",
	    js_str(route, "interface")), &ifs);
	json_decref(route);
	if (status != 0)
		return (status);
	(void)snprintf(mac, MAC_STRLEN, "%s", js_str(json_array_get(
	    js_get(ifs, "interfaces"), 0), "ether"));
	json_decref(ifs);
	if (*mac == '\0')
		return (tool_fail(tc, 1, "no interface found for %s", addr));
	return (0);
}

/* The words behind the address and the MAC. */
static int
arp_modifiers(struct tool_ctx *tc, char **argv, json_t *args)
{
	bool pub = false;

	for (; *argv != NULL; argv++) {
		if (strcmp(*argv, "only") == 0 && pub)
			continue;	/* a proxy entry is only that */
		if (strcmp(*argv, "temp") != 0 && strcmp(*argv, "pub") != 0 &&
		    strcmp(*argv, "blackhole") != 0 &&
		    strcmp(*argv, "reject") != 0)
			return (tool_usage(tc));
		pub |= strcmp(*argv, "pub") == 0;
		(void)json_object_set_new(args, *argv, json_true());
	}
	if (json_object_get(args, "blackhole") != NULL &&
	    json_object_get(args, "reject") != NULL)
		return (tool_fail(tc, EX_USAGE,
		    "choose one of blackhole or reject, not both"));
	return (0);
}

/* -S: what was there is deleted, and said to be; nothing there is fine. */
static int
arp_replace(struct tool_ctx *tc, const char *host, const char *addr)
{
	struct ctl_error ce;
	json_t *res;

	if (tool_call(tc, "arp.del", arp_args(addr, NULL), &res, &ce) != 0)
		return (ce.ce_errno == ENOENT || ce.ce_errno == ESRCH ? 0 :
		    tool_callfail(tc, &ce));
	if (json_array_size(js_get(res, "deleted")) > 0)
		out_text(tc->tc_o, "%s (%s) deleted\n", host, addr);
	json_decref(res);
	return (0);
}

/* host, MAC or "auto", modifiers. */
static int
arp_set(struct tool_ctx *tc, int argc, char **argv, bool replace)
{
	char addr[INET_ADDRSTRLEN], mac[MAC_STRLEN];
	struct ctl_error ce;
	uint8_t bytes[6];
	json_t *args;
	int status;

	if (argc < 2)
		return (tool_usage(tc));
	if ((status = arp_host(tc, argv[0], addr)) != 0)
		return (status);
	if (strcmp(argv[1], "auto") == 0) {
		if ((status = arp_own_mac(tc, addr, mac)) != 0)
			return (status);
	} else if (mac_parse(argv[1], bytes))
		mac_format(bytes, ':', mac);
	else
		return (tool_fail(tc, 1, "invalid Ethernet address '%s'",
		    argv[1]));
	args = json_pack("{s:s, s:s}", "addr", addr, "ether", mac);
	if ((status = arp_modifiers(tc, argv + 2, args)) != 0) {
		json_decref(args);
		return (status);
	}
	if (replace && (status = arp_replace(tc, argv[0], addr)) != 0) {
		json_decref(args);
		return (status);
	}
	if (tool_call(tc, "arp.set", args, NULL, &ce) == 0)
		return (0);
	if (ce.ce_errno == ENETUNREACH || ce.ce_errno == ESRCH)
		return (tool_fail(tc, 1, "cannot intuit interface index and "
		    "type for %s", argv[0]));
	return (tool_callfail(tc, &ce));
}

/* Lines of "host MAC [temp] [pub]", as -s takes them. */
static int
arp_file(struct tool_ctx *tc, const char *name)
{
	char line[WORDS_LINE], *words[WORDS_MAX + 1];
	int more, n, status = 0;
	size_t lineno = 0;
	const char *why;
	FILE *f;

	if ((f = fopen(name, "re")) == NULL)
		return (tool_fail(tc, EX_NOINPUT, "cannot open %s: %s", name,
		    strerror(errno)));
	while (status == 0 &&
	    (more = words_line(f, line, &lineno, &why)) != 0) {
		n = more == -1 ? -1 : words_split(line, words, &why);
		if (n == -1)
			status = tool_fail(tc, EX_DATAERR, "%s:%zu: %s", name,
			    lineno, why);
		else if (n > 0 && (status = arp_set(tc, n, words, false)) != 0)
			tool_warn(tc, "%s:%zu: failed", name, lineno);
	}
	if (status == 0 && ferror(f) != 0)
		status = tool_fail(tc, EX_IOERR, "%s: cannot read: %s", name,
		    strerror(errno));
	(void)fclose(f);
	return (status);
}

static int
arp_run(struct tool_ctx *tc, const struct arp_opts *ao, int argc, char **argv)
{
	bool pub = argc == 2 && strcmp(argv[1], "pub") == 0;

	if (ao->ao_ifname != NULL && ao->ao_mode != 0 && ao->ao_mode != 'd')
		return (tool_fail(tc, 1,
		    "-i not applicable to this operation"));
	switch (ao->ao_mode) {
	case 0:
		if (argc != (ao->ao_all ? 0 : 1))
			return (tool_usage(tc));
		return (arp_show(tc, ao, argv[0]));
	case 'd':
		if (ao->ao_all ? argc != 0 : argc != 1 && !pub)
			return (tool_usage(tc));
		return (arp_delete(tc, ao, argv[0]));
	case 'f':
		if (argc != 1)
			return (tool_usage(tc));
		return (arp_file(tc, argv[0]));
	default:
		return (arp_set(tc, argc, argv, ao->ao_mode == 'S'));
	}
}

static int
arp_main(struct tool_ctx *tc, int argc, char **argv)
{
	struct arp_opts ao = { 0 };
	int c;

	while ((c = getopt(argc, argv, "+:adfi:nsS")) != -1) {
		switch (c) {
		case 'a':
			ao.ao_all = true;
			break;
		case 'i':
			ao.ao_ifname = optarg;
			break;
		case 'n':
			ao.ao_numeric = true;
			break;
		case 'd':
		case 'f':
		case 's':
		case 'S':
			if (ao.ao_mode != 0)
				return (tool_usage(tc));
			ao.ao_mode = c;
			break;
		default:
			return (tool_badopt(tc, c));
		}
	}
	return (arp_run(tc, &ao, argc - optind, argv + optind));
}

const struct tool tool_arp = {
	.tl_name = "arp",
	.tl_synopsis = "[-n] [-i interface] hostname\n"
	    "[-n] [-i interface] -a\n"
	    "-d hostname [pub]\n"
	    "-d [-i interface] -a\n"
	    "-s hostname ether_addr [temp] [reject | blackhole] "
	    "[pub [only]]\n"
	    "-S hostname ether_addr [temp] [reject | blackhole] "
	    "[pub [only]]\n"
	    "-f filename",
	.tl_manual = "netepoch-arp(8)",
	.tl_descr = "show and change the IPv4 neighbours",
	.tl_fn = arp_main,
};
