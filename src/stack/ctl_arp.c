/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The arp.* commands: neighbours of the Ethernet interfaces.
 *
 * No state; interfaces are looked up and walked under the configuration lock,
 * the entries under their table's own, below it.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ifnet/if_var.h"
#include "route/route_var.h"
#include "stack/ctl_cmds.h"
#include "stack/machine.h"
#include "sys/sysctl.h"

#define	ARP_NS		1000000000ull

/* What to look for; and where what was found goes. */
struct arp_walk {
	struct machine	*aw_ma;
	const char	*aw_ifname;	/* NULL: all interfaces */
	struct in_addr	 aw_addr;
	bool		 aw_has_addr;	/* that address only */
	json_t		*aw_array;	/* borrowed: entries, or addresses */
	bool		 aw_own;	/* met an address of our own */
};

/* Call fn for the neighbours of the interfaces wanted.  ENXIO, fn's. */
static int
arp_walk(struct ctl_req *cr, struct arp_walk *aw,
    int (*fn)(struct ifnet *ifp, const struct lla_info *li, void *arg))
{
	struct vnet *vnet = aw->aw_ma->ma_vnet;
	struct ifnet *ifp;
	int error = 0;

	VNET_CONFIG_ASSERT(vnet);

	if (aw->aw_ifname != NULL) {
		error = cmd_ifp(cr, vnet, "interface", aw->aw_ifname, &ifp);
		if (error == 0 && ifp->if_type == IFT_ETHER)
			error = lla_walk(ifp, fn, aw);
		return (error);
	}
	CK_STAILQ_FOREACH(ifp, &vnet->v_ifnets, if_link) {
		if (ifp->if_type == IFT_ETHER)
			error = lla_walk(ifp, fn, aw);
		if (error != 0)
			break;
	}
	return (error);
}

static const char *
arp_state(const struct lla_info *li)
{

	switch (li->li_state) {
	case LLE_INCOMPLETE:
		return ("incomplete");
	case LLE_REACHABLE:
		return ("reachable");
	case LLE_STALE:
		return ("stale");
	case LLE_FAILED:
		break;
	}
	return ("failed");
}

static int
arp_list_cb(struct ifnet *ifp, const struct lla_info *li, void *arg)
{
	char addr[CMD_ADDRLEN], mac[CMD_MACLEN] = "";
	struct arp_walk *aw = arg;
	bool permanent;

	if (aw->aw_has_addr && aw->aw_addr.s_addr != li->li_addr.s_addr)
		return (0);
	if ((li->li_flags & LLE_VALID) != 0)
		(void)cmd_mac_text(li->li_mac, mac);
	permanent = (li->li_flags & (LLE_STATIC | LLE_IFADDR)) != 0 &&
	    li->li_expire == 0;
	return (cmd_append(aw->aw_array, json_pack(
	    "{ss ss ss ss sI sI sb sb ss}",
	    "addr", cmd_addr_text(li->li_addr, addr),
	    "ether", mac,
	    "interface", ifp->if_name,
	    "state", arp_state(li),
	    "flags", (json_int_t)li->li_flags,
	    "expire_s", (json_int_t)((li->li_expire + ARP_NS - 1) / ARP_NS),
	    "permanent", permanent,
	    "published", (li->li_flags & LLE_PUB) != 0,
	    "type", "ethernet")));
}

int
cmd_arp_list(struct ctl_req *cr, void *arg)
{
	struct arp_walk aw = { .aw_ma = arg };
	bool given;
	int error;

	if ((error = cmd_arg_ifname(cr, "interface", &aw.aw_ifname,
	    &given)) != 0 ||
	    (error = cmd_arg_addr(cr, "addr", &aw.aw_addr,
	    &aw.aw_has_addr)) != 0 ||
	    (error = ctl_args_done(cr)) != 0)
		return (error);
	aw.aw_array = cmd_array(cr, "entries");
	if (aw.aw_array == NULL)
		return (ENOMEM);
	VNET_CONFIG_LOCK(aw.aw_ma->ma_vnet);
	error = arp_walk(cr, &aw, arp_list_cb);
	VNET_CONFIG_UNLOCK(aw.aw_ma->ma_vnet);
	return (error == ENOMEM ? cmd_nomem(cr) : error);
}

/* ---- Set ---- */

struct arp_entry {
	struct in_addr	 ae_addr;
	uint8_t		 ae_mac[6];
	const char	*ae_ifname;	/* NULL: the one with its network */
	uint32_t	 ae_flags;	/* LLE_* */
	uint32_t	 ae_lifetime;	/* seconds, 0: permanent */
};

/* Seconds that an entry learned now would live. */
static uint32_t
arp_max_age(struct vnet *vnet)
{
	char text[32];

	if (sysctl_get(vnet->v_sysctl, "net.link.ether.inet.max_age", text,
	    sizeof(text)) != 0)
		return (0);
	return ((uint32_t)strtoul(text, NULL, 10));
}

static int
arp_entry_args(struct ctl_req *cr, struct machine *ma, struct arp_entry *ae)
{
	bool blackhole, given, pub, reject, temp;
	int error;

	if ((error = cmd_arg_addr(cr, "addr", &ae->ae_addr, NULL)) != 0 ||
	    (error = cmd_arg_mac(cr, "ether", ae->ae_mac, NULL)) != 0 ||
	    (error = cmd_arg_ifname(cr, "interface", &ae->ae_ifname,
	    &given)) != 0 ||
	    (error = ctl_arg_bool_opt(cr, "temp", false, &temp)) != 0 ||
	    (error = ctl_arg_bool_opt(cr, "pub", false, &pub)) != 0 ||
	    (error = ctl_arg_bool_opt(cr, "blackhole", false,
	    &blackhole)) != 0 ||
	    (error = ctl_arg_bool_opt(cr, "reject", false, &reject)) != 0 ||
	    (error = ctl_args_done(cr)) != 0)
		return (error);
	if (blackhole && reject)
		return (ctl_fail(cr, EINVAL, "reject", "reject: not together "
		    "with blackhole"));
	ae->ae_flags = (temp ? 0 : LLE_STATIC) | (pub ? LLE_PUB : 0) |
	    (blackhole ? LLE_BLACKHOLE : 0) | (reject ? LLE_REJECT : 0);
	ae->ae_lifetime = temp ? arp_max_age(ma->ma_vnet) : 0;
	return (0);
}

/* The interface whose network has the address. */
static int
arp_entry_ifp(struct ctl_req *cr, struct vnet *vnet,
    const struct arp_entry *ae, struct ifnet **ifpp)
{
	const char *field = "interface";
	char addr[CMD_ADDRLEN];
	struct rt_info ri;
	int error;

	(void)cmd_addr_text(ae->ae_addr, addr);
	if (ae->ae_ifname != NULL) {
		error = cmd_ifp(cr, vnet, field, ae->ae_ifname, ifpp);
		if (error != 0)
			return (error);
	} else {
		field = "addr";
		error = rt_match(vnet, ae->ae_addr, &ri);
		if (error == 0 && (ri.ri_flags & RTF_LOCAL) != 0)
			return (ctl_fail(cr, EEXIST, field, "%s is an address "
			    "of this machine", addr));
		if (error != 0 || (ri.ri_flags & (RTF_GATEWAY | RTF_REJECT |
		    RTF_BLACKHOLE | RTF_BROADCAST)) != 0)
			return (ctl_fail(cr, ENETUNREACH, field, "%s is on no "
			    "connected network", addr));
		*ifpp = ri.ri_nh->nh_ifp;
	}
	if ((*ifpp)->if_type != IFT_ETHER)
		return (ctl_fail(cr, EINVAL, field, "%s: %s is no Ethernet "
		    "interface", field, (*ifpp)->if_name));
	return (0);
}

static int
arp_set_locked(struct ctl_req *cr, struct vnet *vnet,
    const struct arp_entry *ae)
{
	char addr[CMD_ADDRLEN];
	struct ifnet *ifp;
	int error;

	error = arp_entry_ifp(cr, vnet, ae, &ifp);
	if (error != 0)
		return (error);
	error = lla_set(ifp, ae->ae_addr, ae->ae_mac, ae->ae_flags,
	    ae->ae_lifetime);
	if (error != 0)
		return (ctl_fail(cr, error, "addr", "%s on %s: %s",
		    cmd_addr_text(ae->ae_addr, addr), ifp->if_name,
		    strerror(error)));
	return (ctl_result(cr, "interface", json_string(ifp->if_name)));
}

int
cmd_arp_set(struct ctl_req *cr, void *arg)
{
	struct machine *ma = arg;
	struct arp_entry ae;
	int error;

	error = arp_entry_args(cr, ma, &ae);
	if (error != 0)
		return (error);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	error = arp_set_locked(cr, ma->ma_vnet, &ae);
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	return (error);
}

/* ---- Delete ---- */

/* Note which there are: {"addr", "interface"}. */
static int
arp_found_cb(struct ifnet *ifp, const struct lla_info *li, void *arg)
{
	char addr[CMD_ADDRLEN];
	struct arp_walk *aw = arg;

	if (aw->aw_has_addr && aw->aw_addr.s_addr != li->li_addr.s_addr)
		return (0);
	if ((li->li_flags & LLE_IFADDR) != 0) {
		aw->aw_own = true;
		return (0);
	}
	return (cmd_append(aw->aw_array, json_pack("{ss sI sI}",
	    "addr", cmd_addr_text(li->li_addr, addr),
	    "s_addr", (json_int_t)li->li_addr.s_addr,
	    "index", (json_int_t)ifp->if_index)));
}

/* Delete what was found; one that went by itself meanwhile is no error. */
static int
arp_del_found(struct ctl_req *cr, struct vnet *vnet, const json_t *found,
    json_t *deleted)
{
	struct in_addr addr;
	struct ifnet *ifp;
	json_t *elem;
	size_t i;

	json_array_foreach(found, i, elem) {
		ifp = if_byindex(vnet, (uint32_t)json_integer_value(
		    json_object_get(elem, "index")));
		addr.s_addr = (in_addr_t)json_integer_value(
		    json_object_get(elem, "s_addr"));
		if (ifp == NULL || lla_delete(ifp, addr) != 0)
			continue;
		if (json_array_append(deleted, json_object_get(elem,
		    "addr")) != 0)
			return (cmd_nomem(cr));
	}
	return (0);
}

static int
arp_del_locked(struct ctl_req *cr, struct arp_walk *aw, json_t *deleted)
{
	char addr[CMD_ADDRLEN];
	int error;

	error = arp_walk(cr, aw, arp_found_cb);
	if (error != 0)
		return (error == ENOMEM ? cmd_nomem(cr) : error);
	error = arp_del_found(cr, aw->aw_ma->ma_vnet, aw->aw_array, deleted);
	if (error != 0 || !aw->aw_has_addr || json_array_size(deleted) > 0)
		return (error);
	(void)cmd_addr_text(aw->aw_addr, addr);
	if (aw->aw_own)
		return (ctl_fail(cr, EPERM, "addr", "%s is an address of this "
		    "machine", addr));
	return (ctl_fail(cr, ENOENT, "addr", "cannot locate %s", addr));
}

int
cmd_arp_del(struct ctl_req *cr, void *arg)
{
	struct arp_walk aw = { .aw_ma = arg };
	json_t *deleted;
	bool all, given;
	int error;

	if ((error = cmd_arg_addr(cr, "addr", &aw.aw_addr,
	    &aw.aw_has_addr)) != 0 ||
	    (error = ctl_arg_bool_opt(cr, "all", false, &all)) != 0 ||
	    (error = cmd_arg_ifname(cr, "interface", &aw.aw_ifname,
	    &given)) != 0 ||
	    (error = ctl_args_done(cr)) != 0)
		return (error);
	if (all == aw.aw_has_addr)
		return (ctl_fail(cr, EINVAL, "addr", "addr: expected either "
		    "it or all"));
	deleted = cmd_array(cr, "deleted");
	if (deleted == NULL)
		return (ENOMEM);
	aw.aw_array = json_array();
	if (aw.aw_array == NULL)
		return (cmd_nomem(cr));
	VNET_CONFIG_LOCK(aw.aw_ma->ma_vnet);
	error = arp_del_locked(cr, &aw, deleted);
	VNET_CONFIG_UNLOCK(aw.aw_ma->ma_vnet);
	json_decref(aw.aw_array);
	return (error);
}
