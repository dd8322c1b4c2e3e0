/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * ifconfig's output: a block per interface, or names on one line.  The order
 * of lines and the bits' names are FreeBSD's, which scripts match.
 */

#include <string.h>

#include "tools/addr.h"
#include "tools/ifconfig.h"

static const struct out_name ifc_flagnames[] = {
	{ 0x1,		"UP" },
	{ 0x2,		"BROADCAST" },
	{ 0x4,		"DEBUG" },
	{ 0x8,		"LOOPBACK" },
	{ 0x10,		"POINTOPOINT" },
	{ 0x40,		"RUNNING" },
	{ 0x80,		"NOARP" },
	{ 0x100,	"PROMISC" },
	{ 0x200,	"ALLMULTI" },
	{ 0x400,	"OACTIVE" },
	{ 0x800,	"SIMPLEX" },
	{ 0x1000,	"LINK0" },
	{ 0x2000,	"LINK1" },
	{ 0x4000,	"LINK2" },
	{ 0x8000,	"MULTICAST" },
	{ 0x20000,	"PPROMISC" },
	{ 0x40000,	"MONITOR" },
	{ 0x80000,	"STATICARP" },
	{ 0x100000,	"STICKYARP" },
	OUT_NAMES_END
};

const struct out_name ifc_capnames[] = {
	{ 0x1,		"RXCSUM" },
	{ 0x2,		"TXCSUM" },
	{ 0x4,		"NETCONS" },
	{ 0x8,		"VLAN_MTU" },
	{ 0x10,		"VLAN_HWTAGGING" },
	{ 0x20,		"JUMBO_MTU" },
	{ 0x40,		"POLLING" },
	{ 0x80,		"VLAN_HWCSUM" },
	{ 0x100,	"TSO4" },
	{ 0x200,	"TSO6" },
	{ 0x400,	"LRO" },
	{ 0x800,	"WOL_UCAST" },
	{ 0x1000,	"WOL_MCAST" },
	{ 0x2000,	"WOL_MAGIC" },
	{ 0x4000,	"TOE4" },
	{ 0x8000,	"TOE6" },
	{ 0x10000,	"VLAN_HWFILTER" },
	{ 0x20000,	"NV" },
	{ 0x40000,	"VLAN_HWTSO" },
	{ 0x80000,	"LINKSTATE" },
	{ 0x100000,	"NETMAP" },
	{ 0x200000,	"RXCSUM_IPV6" },
	{ 0x400000,	"TXCSUM_IPV6" },
	{ 0x1000000,	"TXRTLMT" },
	{ 0x2000000,	"HWRXTSTMP" },
	{ 0x4000000,	"NOMAP" },
	{ 0x8000000,	"TXTLS4" },
	{ 0x10000000,	"TXTLS6" },
	{ 0x20000000,	"VXLAN_HWCSUM" },
	{ 0x40000000,	"VXLAN_HWTSO" },
	{ 0x80000000,	"TXTLS_RTLMT" },
	OUT_NAMES_END
};

/* "⇥options=8<VLAN_MTU>" */
static void
ifc_print_bits(struct out *o, const char *key, uint64_t val,
    const struct out_name *names)
{
	char buf[512];

	if (val == 0)
		return;
	out_bits(buf, sizeof(buf), val, names);
	out_text(o, "\t%s=%s\n", key, buf);
	out_put(o, key, out_bits_json(val, names));
}

static void
ifc_print_ether(struct out *o, const struct ifc_show *is, const char *key,
    const char *addr)
{
	char mac[MAC_STRLEN];
	char *p;

	(void)snprintf(mac, sizeof(mac), "%s", addr);
	for (p = mac; is->is_dash && (p = strchr(p, ':')) != NULL; p++)
		*p = '-';
	out_str(o, key, mac, "\t%s %s\n", key, mac);
}

static void
ifc_print_inet(struct out *o, const struct ifc_show *is, const json_t *a,
    uint64_t flags)
{
	const char *addr = js_str(a, "addr"), *peer = js_str(a, "dst");
	const char *name = is->is_names ? addr_name(addr) : NULL;
	int plen = (int)js_int(a, "plen");

	out_instance(o);
	out_str(o, "address", addr, "\tinet %s", name != NULL ? name : addr);
	out_put(o, "prefixlen", json_integer(plen));
	if (is->is_cidr)
		out_text(o, "/%d", plen);
	if ((flags & IFCF_POINTOPOINT) != 0 || (*peer != '\0' &&
	    strcmp(peer, "0.0.0.0") != 0))
		out_str(o, "destination", peer, " --> %s", peer);
	if (is->is_dotted)
		out_text(o, " netmask %s", js_str(a, "mask"));
	else if (!is->is_cidr)
		out_text(o, " netmask 0x%08x", ntohl(addr_mask(plen).s_addr));
	out_put(o, "netmask", json_string(js_str(a, "mask")));
	if ((flags & IFCF_BROADCAST) != 0 && *js_str(a, "broadcast") != '\0' &&
	    strcmp(js_str(a, "broadcast"), "0.0.0.0") != 0)
		out_str(o, "broadcast", js_str(a, "broadcast"),
		    " broadcast %s", js_str(a, "broadcast"));
	out_text(o, "\n");
	out_close(o);
}

static void
ifc_print_addrs(struct out *o, const struct ifc_show *is, const json_t *ifp,
    uint64_t flags)
{
	const char *ether = js_str(ifp, "ether");
	const json_t *a;
	size_t i;

	if (*ether != '\0' && (is->is_family == IFC_ALL ||
	    is->is_family == IFC_ETHER)) {
		ifc_print_ether(o, is, "ether", ether);
		if (*js_str(ifp, "hwaddr") != '\0' &&
		    strcmp(js_str(ifp, "hwaddr"), ether) != 0)
			ifc_print_ether(o, is, "hwaddr",
			    js_str(ifp, "hwaddr"));
	}
	if (is->is_family != IFC_ALL && is->is_family != IFC_INET)
		return;
	out_list(o, "inet");
	json_array_foreach(js_get(ifp, "addrs"), i, a)
		if (strcmp(js_str(a, "family"), "inet") == 0)
			ifc_print_inet(o, is, a, flags);
	out_close(o);
}

/* Lines that come last: groups, media, status. */
static void
ifc_print_other(struct out *o, const struct ifc_show *is, const json_t *ifp)
{
	const char *driver = js_str(ifp, "driver"), *spec = js_str(ifp, "spec");

	if (is->is_family == IFC_INET || is->is_family == IFC_INET6)
		return;
	if (*driver != '\0')
		out_str(o, "groups", driver, "\tgroups: %s\n", driver);
	if (is->is_verbose && *spec != '\0')
		out_text(o, "\tdriver: %s\n", spec);
	out_put(o, "driver", json_string(driver));
	out_put(o, "spec", json_string(spec));
	if (*js_str(ifp, "media") != '\0') {
		out_str(o, "media", js_str(ifp, "media"), "\tmedia: %s\n",
		    js_str(ifp, "media"));
		if (is->is_caps)
			out_text(o, "\tsupported media:\n\t\tmedia %s\n",
			    js_str(ifp, "media"));
	}
	if (*js_str(ifp, "status") != '\0' &&
	    (js_int(ifp, "flags") & IFCF_LOOPBACK) == 0)
		out_str(o, "status", js_str(ifp, "status"), "\tstatus: %s\n",
		    js_str(ifp, "status"));
	if (js_bool(ifp, "gone")) {
		out_put(o, "gone", json_true());
		out_text(o, "\tdevice: gone\n");
	}
}

static void
ifc_print_one(struct out *o, const struct ifc_show *is, const json_t *ifp)
{
	uint64_t flags = (uint64_t)js_int(ifp, "flags");
	char buf[256];

	out_instance(o);
	out_bits(buf, sizeof(buf), flags, ifc_flagnames);
	out_str(o, "name", js_str(ifp, "name"), "%s: flags=%s",
	    js_str(ifp, "name"), buf);
	out_put(o, "flags", out_bits_json(flags, ifc_flagnames));
	out_int(o, "metric", js_int(ifp, "metric"), " metric %jd",
	    (intmax_t)js_int(ifp, "metric"));
	out_int(o, "mtu", js_int(ifp, "mtu"), " mtu %jd\n",
	    (intmax_t)js_int(ifp, "mtu"));
	if (*js_str(ifp, "description") != '\0')
		out_str(o, "description", js_str(ifp, "description"),
		    "\tdescription: %s\n", js_str(ifp, "description"));
	ifc_print_bits(o, "options", (uint64_t)js_int(ifp, "options"),
	    ifc_capnames);
	if (is->is_caps)
		ifc_print_bits(o, "capabilities",
		    (uint64_t)js_int(ifp, "capabilities"), ifc_capnames);
	ifc_print_addrs(o, is, ifp, flags);
	ifc_print_other(o, is, ifp);
	out_close(o);
}

static bool
ifc_wanted(const struct ifc_show *is, const json_t *ifp)
{
	bool up = (js_int(ifp, "flags") & IFCF_UP) != 0;
	bool found = false;
	const json_t *a;
	size_t i;

	if ((is->is_down && up) || (is->is_up && !up))
		return (false);
	if (is->is_group != NULL && strcmp(is->is_group, "all") != 0 &&
	    strcmp(is->is_group, js_str(ifp, "driver")) != 0)
		return (false);
	if (is->is_notgroup != NULL &&
	    strcmp(is->is_notgroup, js_str(ifp, "driver")) == 0)
		return (false);
	if (is->is_one || is->is_family == IFC_ALL)
		return (true);
	if (is->is_family == IFC_ETHER)
		return (*js_str(ifp, "ether") != '\0');
	json_array_foreach(js_get(ifp, "addrs"), i, a)
		if (strcmp(js_str(a, "family"),
		    is->is_family == IFC_INET ? "inet" : "inet6") == 0)
			found = true;
	return (found);
}

void
ifc_print(struct out *o, const struct ifc_show *is, const json_t *interfaces)
{
	const json_t *ifp;
	const char *sep = "";
	size_t i;

	out_open(o, "ifconfig");
	out_list(o, "interface");
	json_array_foreach(interfaces, i, ifp) {
		if (!ifc_wanted(is, ifp))
			continue;
		if (is->is_list) {
			out_str(o, NULL, js_str(ifp, "name"), "%s%s", sep,
			    js_str(ifp, "name"));
			sep = " ";
		} else
			ifc_print_one(o, is, ifp);
	}
	if (is->is_list)
		out_text(o, "\n");
	out_close(o);
	out_close(o);
}
