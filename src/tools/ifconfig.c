/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * ifconfig: show and change interfaces.
 *
 * The words after the interface are commands, done from left to right; the
 * first that fails ends the run.  Flags that follow each other are one
 * change.  An address is gathered from several words and set at the end, as
 * everything about it (mask, broadcast, alias) may come before or after it.
 */

#include <sys/random.h>

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/addr.h"
#include "tools/cmds.h"
#include "tools/ifconfig.h"
#include "tools/tool.h"

#define	IFC_NAMELEN	16		/* with the NUL */

struct ifc {
	struct tool_ctx	*ic_tc;
	char		 ic_name[IFC_NAMELEN];
	bool		 ic_printname;	/* the name is news: print it */
	uint32_t	 ic_set;	/* flags to change, not yet sent */
	uint32_t	 ic_clear;

	/* The address, set at the end. */
	bool		 ic_have;	/* there is one */
	bool		 ic_delete;
	bool		 ic_alias;
	int		 ic_naddr;	/* address, then the peer's */
	struct in_addr	 ic_addr;
	struct in_addr	 ic_dst;
	struct in_addr	 ic_bcast;
	bool		 ic_havebcast;
	int		 ic_plen;	/* -1: not given */
};

struct ifc_word {
	const char	*iw_name;
	uint32_t	 iw_bit;
	/* arg: the next word, or NULL if iw_arg is false. */
	int		(*iw_fn)(struct ifc *ic, const struct ifc_word *iw,
			    const char *arg);
	bool		 iw_arg;
};

/* ---- Changing one thing ---- */

/* Send the flags gathered so far. */
static int
ifc_flush_flags(struct ifc *ic)
{
	json_t *args;

	if (ic->ic_set == 0 && ic->ic_clear == 0)
		return (0);
	args = json_pack("{s:s}", "name", ic->ic_name);
	if (ic->ic_set != 0)
		(void)json_object_set_new(args, "flags_set",
		    json_integer(ic->ic_set));
	if (ic->ic_clear != 0)
		(void)json_object_set_new(args, "flags_clear",
		    json_integer(ic->ic_clear));
	ic->ic_set = ic->ic_clear = 0;
	return (tool_do(ic->ic_tc, "if.set", args, NULL));
}

/* if.set of one member; what is the ioctl's name that errors show. */
static int
ifc_set(struct ifc *ic, const char *key, json_t *val, const char *what)
{
	struct ctl_error ce;
	int status;

	if ((status = ifc_flush_flags(ic)) != 0) {
		json_decref(val);
		return (status);
	}
	if (tool_call(ic->ic_tc, "if.set", json_pack("{s:s, s:o}", "name",
	    ic->ic_name, key, val), NULL, &ce) == 0)
		return (0);
	if (what == NULL || ce.ce_errno == ENOTCONN || ce.ce_errno == EPIPE)
		return (tool_callfail(ic->ic_tc, &ce));
	return (tool_fail(ic->ic_tc, 1, "%s: %s%s%s%s", what,
	    strerror(ce.ce_errno), *ce.ce_text != '\0' ? " (" : "",
	    ce.ce_text, *ce.ce_text != '\0' ? ")" : ""));
}

static int
ifc_badvalue(struct ifc *ic, const char *word)
{
	return (tool_fail(ic->ic_tc, 1, "%s: bad value", word));
}

static int
ifc_flag(struct ifc *ic, const struct ifc_word *iw, const char *arg)
{
	ic->ic_set |= iw->iw_bit;
	ic->ic_clear &= ~iw->iw_bit;
	return (0);
}

static int
ifc_unflag(struct ifc *ic, const struct ifc_word *iw, const char *arg)
{
	ic->ic_clear |= iw->iw_bit;
	ic->ic_set &= ~iw->iw_bit;
	return (0);
}

/*
 * What the interface cannot do is passed over, as FreeBSD's ifconfig does:
 * scripts switch off all that there might be.
 */
static int
ifc_set_caps(struct ifc *ic, const char *key, uint32_t bits)
{
	struct ctl_error ce;
	int status;

	if ((status = ifc_flush_flags(ic)) != 0)
		return (status);
	for (; bits != 0; bits &= bits - 1)
		if (tool_call(ic->ic_tc, "if.set", json_pack("{s:s, s:I}",
		    "name", ic->ic_name, key, (json_int_t)(bits & -bits)),
		    NULL, &ce) != 0 && (ce.ce_errno != EINVAL ||
		    strcmp(ce.ce_field, key) != 0))
			return (tool_callfail(ic->ic_tc, &ce));
	return (0);
}

static int
ifc_cap(struct ifc *ic, const struct ifc_word *iw, const char *arg)
{
	return (ifc_set_caps(ic, "cap_set", iw->iw_bit));
}

static int
ifc_uncap(struct ifc *ic, const struct ifc_word *iw, const char *arg)
{
	return (ifc_set_caps(ic, "cap_clear", iw->iw_bit));
}

static int
ifc_mtu(struct ifc *ic, const struct ifc_word *iw, const char *arg)
{
	long long mtu;

	if (!tool_number(arg, 0, INT32_MAX, &mtu))
		return (ifc_badvalue(ic, arg));
	return (ifc_set(ic, "mtu", json_integer(mtu),
	    "ioctl SIOCSIFMTU (set mtu)"));
}

static int
ifc_metric(struct ifc *ic, const struct ifc_word *iw, const char *arg)
{
	long long metric;

	if (!tool_number(arg, 0, INT32_MAX, &metric))
		return (ifc_badvalue(ic, arg));
	return (ifc_set(ic, "metric", json_integer(metric),
	    "ioctl SIOCSIFMETRIC (set metric)"));
}

static int
ifc_descr(struct ifc *ic, const struct ifc_word *iw, const char *arg)
{
	return (ifc_set(ic, "description", json_string(arg != NULL ? arg : ""),
	    "ioctl SIOCSIFDESCR (set descr)"));
}

static int
ifc_name(struct ifc *ic, const struct ifc_word *iw, const char *arg)
{
	int status;

	if (*arg == '\0' || strlen(arg) >= IFC_NAMELEN)
		return (tool_fail(ic->ic_tc, 1, "name '%s': expected 1 to %d "
		    "characters", arg, IFC_NAMELEN - 1));
	status = ifc_set(ic, "newname", json_string(arg),
	    "ioctl SIOCSIFNAME (set name)");
	if (status == 0) {
		(void)snprintf(ic->ic_name, sizeof(ic->ic_name), "%s", arg);
		ic->ic_printname = true;
	}
	return (status);
}

static int
ifc_ether(struct ifc *ic, const struct ifc_word *iw, const char *arg)
{
	char text[MAC_STRLEN];
	uint8_t mac[6];

	if (strcmp(arg, "random") == 0) {
		if (getrandom(mac, sizeof(mac), 0) != sizeof(mac))
			return (tool_fail(ic->ic_tc, EX_OSERR,
			    "no random numbers: %s", strerror(errno)));
		mac[0] = (uint8_t)((mac[0] & ~1) | 2);	/* ours, one station */
	} else if (!mac_parse(arg, mac))
		return (ifc_badvalue(ic, arg));
	mac_format(mac, ':', text);
	return (ifc_set(ic, "ether", json_string(text),
	    "ioctl (set lladdr)"));
}

static int
ifc_destroy(struct ifc *ic, const struct ifc_word *iw, const char *arg)
{
	struct ctl_error ce;
	int status;

	if ((status = ifc_flush_flags(ic)) != 0)
		return (status);
	if (tool_call(ic->ic_tc, "if.destroy", json_pack("{s:s}", "name",
	    ic->ic_name), NULL, &ce) == 0)
		return (0);
	if (ce.ce_errno == ENOTCONN || ce.ce_errno == EPIPE)
		return (tool_callfail(ic->ic_tc, &ce));
	return (tool_fail(ic->ic_tc, 1, "SIOCIFDESTROY: %s%s%s%s",
	    strerror(ce.ce_errno), *ce.ce_text != '\0' ? " (" : "",
	    ce.ce_text, *ce.ce_text != '\0' ? ")" : ""));
}

/* ---- The address ---- */

/* A word that is no command: an address, with a second one its peer's. */
static int
ifc_address(struct ifc *ic, const char *word)
{
	int plen = -1;

	if (ic->ic_naddr == 2)
		return (ifc_badvalue(ic, word));
	if (ic->ic_naddr == 1) {
		if (!addr_parse(word, &ic->ic_dst))
			return (ifc_badvalue(ic, word));
		ic->ic_naddr = 2;
		return (0);
	}
	if (!addr_prefix_parse(word, &ic->ic_addr, &plen) &&
	    !addr_parse(word, &ic->ic_addr))
		return (ifc_badvalue(ic, word));
	if (plen != -1)
		ic->ic_plen = plen;
	ic->ic_naddr = 1;
	ic->ic_have = true;
	return (0);
}

static int
ifc_inet(struct ifc *ic, const struct ifc_word *iw, const char *arg)
{
	return (ifc_address(ic, arg));
}

static int
ifc_netmask(struct ifc *ic, const struct ifc_word *iw, const char *arg)
{
	return (addr_mask_parse(arg, &ic->ic_plen) ? 0 :
	    ifc_badvalue(ic, arg));
}

static int
ifc_prefixlen(struct ifc *ic, const struct ifc_word *iw, const char *arg)
{
	long long plen;

	if (!tool_number(arg, 0, 32, &plen))
		return (ifc_badvalue(ic, arg));
	ic->ic_plen = (int)plen;
	return (0);
}

static int
ifc_broadcast(struct ifc *ic, const struct ifc_word *iw, const char *arg)
{
	ic->ic_havebcast = addr_parse(arg, &ic->ic_bcast);
	return (ic->ic_havebcast ? 0 : ifc_badvalue(ic, arg));
}

static int
ifc_alias(struct ifc *ic, const struct ifc_word *iw, const char *arg)
{
	ic->ic_alias = true;
	return (0);
}

static int
ifc_delete(struct ifc *ic, const struct ifc_word *iw, const char *arg)
{
	ic->ic_delete = true;
	return (0);
}

/* The length that an address without a mask has always had. */
static int
ifc_classful(struct ifc *ic)
{
	uint32_t addr = ntohl(ic->ic_addr.s_addr);
	char buf[INET_ADDRSTRLEN];
	int plen;

	plen = addr < 0x80000000 ? 8 : addr < 0xc0000000 ? 16 : 24;
	tool_warn(ic->ic_tc, "%s: no mask given, taking /%d",
	    inet_ntop(AF_INET, &ic->ic_addr, buf, sizeof(buf)), plen);
	return (plen);
}

static int
ifc_flush_addr(struct ifc *ic)
{
	char buf[INET_ADDRSTRLEN];
	json_t *args;

	if (!ic->ic_have && !ic->ic_delete)
		return (0);
	args = json_pack("{s:s}", "name", ic->ic_name);
	if (ic->ic_have)
		(void)json_object_set_new(args, "addr", json_string(
		    inet_ntop(AF_INET, &ic->ic_addr, buf, sizeof(buf))));
	if (ic->ic_delete)
		return (tool_do(ic->ic_tc, "if.addr.del", args, NULL));
	if (ic->ic_plen == -1)
		ic->ic_plen = ifc_classful(ic);
	(void)json_object_set_new(args, "plen", json_integer(ic->ic_plen));
	if (ic->ic_havebcast)
		(void)json_object_set_new(args, "broadcast", json_string(
		    inet_ntop(AF_INET, &ic->ic_bcast, buf, sizeof(buf))));
	if (ic->ic_naddr == 2)
		(void)json_object_set_new(args, "dst", json_string(
		    inet_ntop(AF_INET, &ic->ic_dst, buf, sizeof(buf))));
	if (ic->ic_alias)
		(void)json_object_set_new(args, "alias", json_true());
	return (tool_do(ic->ic_tc, "if.addr.add", args, NULL));
}

static int
ifc_nosupport(struct ifc *ic, const struct ifc_word *iw, const char *arg)
{
	return (tool_fail(ic->ic_tc, 1, "%s: not supported", iw->iw_name));
}

/* ---- The words ---- */

static const struct ifc_word ifc_words[] = {
	{ "up",		IFCF_UP,	ifc_flag,	false },
	{ "down",	IFCF_UP,	ifc_unflag,	false },
	{ "arp",	IFCF_NOARP,	ifc_unflag,	false },
	{ "-arp",	IFCF_NOARP,	ifc_flag,	false },
	{ "debug",	IFCF_DEBUG,	ifc_flag,	false },
	{ "-debug",	IFCF_DEBUG,	ifc_unflag,	false },
	{ "promisc",	IFCF_PPROMISC,	ifc_flag,	false },
	{ "-promisc",	IFCF_PPROMISC,	ifc_unflag,	false },
	{ "monitor",	IFCF_MONITOR,	ifc_flag,	false },
	{ "-monitor",	IFCF_MONITOR,	ifc_unflag,	false },
	{ "staticarp",	IFCF_STATICARP,	ifc_flag,	false },
	{ "-staticarp",	IFCF_STATICARP,	ifc_unflag,	false },
	{ "link0",	IFCF_LINK0,	ifc_flag,	false },
	{ "-link0",	IFCF_LINK0,	ifc_unflag,	false },
	{ "link1",	IFCF_LINK1,	ifc_flag,	false },
	{ "-link1",	IFCF_LINK1,	ifc_unflag,	false },
	{ "link2",	IFCF_LINK2,	ifc_flag,	false },
	{ "-link2",	IFCF_LINK2,	ifc_unflag,	false },
	{ "mtu",	0,		ifc_mtu,	true },
	{ "metric",	0,		ifc_metric,	true },
	{ "description", 0,		ifc_descr,	true },
	{ "descr",	0,		ifc_descr,	true },
	{ "-description", 0,		ifc_descr,	false },
	{ "-descr",	0,		ifc_descr,	false },
	{ "name",	0,		ifc_name,	true },
	{ "ether",	0,		ifc_ether,	true },
	{ "lladdr",	0,		ifc_ether,	true },
	{ "link",	0,		ifc_ether,	true },
	{ "destroy",	0,		ifc_destroy,	false },
	{ "unplumb",	0,		ifc_destroy,	false },
	{ "inet",	0,		ifc_inet,	true },
	{ "netmask",	0,		ifc_netmask,	true },
	{ "prefixlen",	0,		ifc_prefixlen,	true },
	{ "broadcast",	0,		ifc_broadcast,	true },
	{ "alias",	0,		ifc_alias,	false },
	{ "add",	0,		ifc_alias,	false },
	{ "-alias",	0,		ifc_delete,	false },
	{ "delete",	0,		ifc_delete,	false },
	{ "remove",	0,		ifc_delete,	false },
	{ "rxcsum",	0x1,		ifc_cap,	false },
	{ "-rxcsum",	0x1,		ifc_uncap,	false },
	{ "txcsum",	0x2,		ifc_cap,	false },
	{ "-txcsum",	0x2,		ifc_uncap,	false },
	{ "vlanmtu",	0x8,		ifc_cap,	false },
	{ "-vlanmtu",	0x8,		ifc_uncap,	false },
	{ "vlanhwtag",	0x10,		ifc_cap,	false },
	{ "-vlanhwtag",	0x10,		ifc_uncap,	false },
	{ "tso",	0x300,		ifc_cap,	false },
	{ "-tso",	0x300,		ifc_uncap,	false },
	{ "tso4",	0x100,		ifc_cap,	false },
	{ "-tso4",	0x100,		ifc_uncap,	false },
	{ "tso6",	0x200,		ifc_cap,	false },
	{ "-tso6",	0x200,		ifc_uncap,	false },
	{ "lro",	0x400,		ifc_cap,	false },
	{ "-lro",	0x400,		ifc_uncap,	false },
	{ "vlanhwcsum",	0x80,		ifc_cap,	false },
	{ "-vlanhwcsum", 0x80,		ifc_uncap,	false },
	{ "vlanhwfilter", 0x10000,	ifc_cap,	false },
	{ "-vlanhwfilter", 0x10000,	ifc_uncap,	false },
	{ "vlanhwtso",	0x40000,	ifc_cap,	false },
	{ "-vlanhwtso",	0x40000,	ifc_uncap,	false },
	{ "rxcsum6",	0x200000,	ifc_cap,	false },
	{ "-rxcsum6",	0x200000,	ifc_uncap,	false },
	{ "txcsum6",	0x400000,	ifc_cap,	false },
	{ "-txcsum6",	0x400000,	ifc_uncap,	false },
	/* Words of FreeBSD that would otherwise be taken for addresses. */
	{ "inet6",	0,		ifc_nosupport,	false },
	{ "vlan",	0,		ifc_nosupport,	false },
	{ "vlandev",	0,		ifc_nosupport,	false },
	{ "group",	0,		ifc_nosupport,	false },
	{ "fib",	0,		ifc_nosupport,	false },
	{ "vnet",	0,		ifc_nosupport,	false },
	{ "addm",	0,		ifc_nosupport,	false },
	{ "laggport",	0,		ifc_nosupport,	false },
	{ "media",	0,		ifc_nosupport,	false },
};

static const struct ifc_word *
ifc_word_find(const char *name)
{
	size_t i;

	for (i = 0; i < nitems(ifc_words); i++)
		if (strcmp(ifc_words[i].iw_name, name) == 0)
			return (&ifc_words[i]);
	return (NULL);
}

static int
ifc_commands(struct ifc *ic, char **argv)
{
	const struct ifc_word *iw;
	int status = 0;

	for (; status == 0 && *argv != NULL; argv++) {
		if ((iw = ifc_word_find(*argv)) == NULL) {
			status = ifc_address(ic, *argv);
			continue;
		}
		if (iw->iw_arg && argv[1] == NULL)
			return (tool_fail(ic->ic_tc, 1,
			    "'%s' requires argument", *argv));
		if (iw->iw_arg)
			argv++;
		status = iw->iw_fn(ic, iw, iw->iw_arg ? *argv : NULL);
		if (iw->iw_fn == ifc_destroy)
			return (status);
	}
	if (status == 0)
		status = ifc_flush_flags(ic);
	if (status == 0)
		status = ifc_flush_addr(ic);
	return (status);
}

/* ---- create ---- */

/* Is the word behind create how to make it, and not a command? */
static bool
ifc_is_spec(struct ifc *ic, const char *word)
{
	struct ctl_error ce;
	const json_t *drv;
	bool found = false;
	json_t *res;
	size_t i;

	if (word == NULL || ifc_word_find(word) != NULL)
		return (false);
	if (strpbrk(word, ":,") != NULL)
		return (true);
	if (tool_call(ic->ic_tc, "if.cloners", NULL, &res, &ce) != 0)
		return (false);
	json_array_foreach(js_get(res, "drivers"), i, drv)
		found |= strcmp(js_str(drv, "name"), word) == 0;
	json_decref(res);
	return (found);
}

/* argv: what follows "create". */
static int
ifc_create(struct ifc *ic, char **argv)
{
	struct ctl_error ce;
	json_t *args, *res;

	args = json_pack("{s:s}", "name", ic->ic_name);
	if (ifc_is_spec(ic, argv[0]))
		(void)json_object_set_new(args, "spec", json_string(*argv++));
	if (tool_call(ic->ic_tc, "if.create", args, &res, &ce) != 0) {
		if (ce.ce_errno != EEXIST)
			return (tool_callfail(ic->ic_tc, &ce));
		return (tool_fail(ic->ic_tc, 1, "interface %s already exists",
		    ic->ic_name));
	}
	if (strcmp(js_str(res, "name"), ic->ic_name) != 0) {
		(void)snprintf(ic->ic_name, sizeof(ic->ic_name), "%s",
		    js_str(res, "name"));
		ic->ic_printname = true;
	}
	json_decref(res);
	return (ifc_commands(ic, argv));
}

/* ---- Showing ---- */

/* name NULL: all. */
static int
ifc_list(struct tool_ctx *tc, const char *name, json_t **res)
{
	struct ctl_error ce;

	if (tool_call(tc, "if.list", name != NULL ? json_pack("{s:s}", "name",
	    name) : NULL, res, &ce) == 0)
		return (0);
	if (name == NULL || ce.ce_errno == ENOTCONN || ce.ce_errno == EPIPE ||
	    (ce.ce_errno == EINVAL && strcmp(ce.ce_field, "name") != 0))
		return (tool_callfail(tc, &ce));
	return (tool_fail(tc, 1, "interface %s does not exist", name));
}

static int
ifc_show(struct tool_ctx *tc, const struct ifc_show *is, const char *name)
{
	json_t *res;
	int status;

	if ((status = ifc_list(tc, name, &res)) != 0)
		return (status);
	ifc_print(tc->tc_o, is, js_get(res, "interfaces"));
	json_decref(res);
	return (0);
}

static int
ifc_cloners(struct tool_ctx *tc)
{
	const char *sep = "";
	const json_t *drv;
	json_t *res;
	size_t i;
	int status;

	if ((status = tool_do(tc, "if.cloners", NULL, &res)) != 0)
		return (status);
	out_list(tc->tc_o, "cloners");
	json_array_foreach(js_get(res, "drivers"), i, drv) {
		out_str(tc->tc_o, NULL, js_str(drv, "name"), "%s%s", sep,
		    js_str(drv, "name"));
		sep = " ";
	}
	out_text(tc->tc_o, "\n");
	out_close(tc->tc_o);
	json_decref(res);
	return (0);
}

/* Members of a group, one a line; a driver's interfaces are a group. */
static int
ifc_group(struct tool_ctx *tc, const char *group)
{
	const json_t *ifp;
	json_t *res;
	size_t i;
	int status;

	if ((status = tool_do(tc, "if.list", NULL, &res)) != 0)
		return (status);
	out_list(tc->tc_o, "members");
	json_array_foreach(js_get(res, "interfaces"), i, ifp)
		if (strcmp(group, "all") == 0 ||
		    strcmp(group, js_str(ifp, "driver")) == 0)
			out_str(tc->tc_o, NULL, js_str(ifp, "name"), "%s\n",
			    js_str(ifp, "name"));
	out_close(tc->tc_o);
	json_decref(res);
	return (0);
}

static bool
ifc_format(struct ifc_show *is, const char *words)
{
	size_t n;

	for (; *words != '\0'; words += n + (words[n] == ',')) {
		n = strcspn(words, ",");
		if (strncmp(words, "inet:cidr", n) == 0 && n == 9)
			is->is_cidr = true;
		else if (strncmp(words, "inet:dotted", n) == 0 && n == 11)
			is->is_dotted = true;
		else if (strncmp(words, "ether:dash", n) == 0 && n == 10)
			is->is_dash = true;
		else if (strncmp(words, "addr:", 5) == 0 && n > 5)
			is->is_names = strncmp(words, "addr:numeric", n) != 0;
		else if (strncmp(words, "inet:", 5) != 0 &&
		    strncmp(words, "inet6:", 6) != 0 &&
		    strncmp(words, "ether:", 6) != 0)
			return (false);
	}
	return (true);
}

static bool
ifc_family(struct ifc_show *is, const char *word)
{
	if (strcmp(word, "inet") == 0)
		is->is_family = IFC_INET;
	else if (strcmp(word, "inet6") == 0)
		is->is_family = IFC_INET6;
	else if (strcmp(word, "ether") == 0 || strcmp(word, "link") == 0 ||
	    strcmp(word, "lladdr") == 0)
		is->is_family = IFC_ETHER;
	else
		return (false);
	return (true);
}

/* argv: the interface and what follows. */
static int
ifc_interface(struct tool_ctx *tc, struct ifc_show *is, char **argv)
{
	struct ifc ic = { .ic_tc = tc, .ic_plen = -1 };
	int status;

	if (argv[1] == NULL ||
	    (argv[2] == NULL && ifc_family(is, argv[1]))) {
		is->is_one = true;
		return (ifc_show(tc, is, argv[0]));
	}
	if (*argv[0] == '\0' || strlen(argv[0]) >= IFC_NAMELEN)
		return (tool_fail(tc, 1, "interface name '%s': expected 1 to "
		    "%d characters", argv[0], IFC_NAMELEN - 1));
	(void)snprintf(ic.ic_name, sizeof(ic.ic_name), "%s", argv[0]);
	if (strcmp(argv[1], "create") == 0 || strcmp(argv[1], "plumb") == 0)
		status = ifc_create(&ic, argv + 2);
	else if ((status = ifc_list(tc, argv[0], NULL)) == 0)
		status = ifc_commands(&ic, argv + 1);
	if (ic.ic_printname)
		out_str(tc->tc_o, "name", ic.ic_name, "%s\n", ic.ic_name);
	return (status);
}

static int
ifc_run(struct tool_ctx *tc, struct ifc_show *is, bool all, bool cloners,
    const char *group, char **argv)
{
	const char *format;

	format = getenv("IFCONFIG_FORMAT");
	if (format != NULL && !ifc_format(is, format))
		return (tool_fail(tc, 1, "unknown format '%s'", format));
	if ((is->is_list && (all || is->is_caps)) ||
	    (is->is_down && is->is_up))
		return (tool_usage(tc));
	if (cloners || (group != NULL && !all && !is->is_list)) {
		if (argv[0] != NULL || all || is->is_list ||
		    (cloners && group != NULL))
			return (tool_usage(tc));
		return (cloners ? ifc_cloners(tc) : ifc_group(tc, group));
	}
	is->is_group = group;
	if (!all && !is->is_list && argv[0] != NULL)
		return (ifc_interface(tc, is, argv));
	if (argv[0] != NULL && (argv[1] != NULL || !ifc_family(is, argv[0])))
		return (tool_usage(tc));
	return (ifc_show(tc, is, NULL));
}

static int
ifconfig_main(struct tool_ctx *tc, int argc, char **argv)
{
	struct ifc_show is = { .is_family = IFC_ALL };
	bool all = false, cloners = false;
	const char *group = NULL;
	int c;

	while ((c = getopt(argc, argv, "+:aCdf:g:LlmnuvG:k")) != -1) {
		switch (c) {
		case 'a':
			all = true;
			break;
		case 'C':
			cloners = true;
			break;
		case 'd':
			is.is_down = true;
			break;
		case 'f':
			if (!ifc_format(&is, optarg))
				return (tool_fail(tc, 1,
				    "unknown format '%s'", optarg));
			break;
		case 'G':
			is.is_notgroup = optarg;
			break;
		case 'g':
			group = optarg;
			break;
		case 'l':
			is.is_list = true;
			break;
		case 'm':
			is.is_caps = true;
			break;
		case 'u':
			is.is_up = true;
			break;
		case 'v':
			is.is_verbose = true;
			break;
		case 'L':		/* IPv6 lifetimes, keys, modules: */
		case 'k':		/* nothing to show or to load */
		case 'n':
			break;
		default:
			(void)tool_badopt(tc, c);
			return (1);
		}
	}
	c = ifc_run(tc, &is, all, cloners, group, argv + optind);
	return (c == EX_USAGE ? 1 : c);
}

const struct tool tool_ifconfig = {
	.tl_name = "ifconfig",
	.tl_synopsis = "[-mnv] [-f format] interface [family] "
	    "[command [value]] ...\n"
	    "interface create [driver[:device][,option[=value]] ...] "
	    "[command] ...\n"
	    "interface destroy\n"
	    "-a [-dmuv] [-f format] [-g group] [-G group] [family]\n"
	    "-l [-du] [-g group] [-G group] [family]\n"
	    "-C\n"
	    "-g group",
	.tl_manual = "netepoch-ifconfig(8)",
	.tl_descr = "show, create, change and destroy interfaces",
	.tl_fn = ifconfig_main,
};
