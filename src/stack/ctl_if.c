/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The if.* commands: interfaces, their settings, their addresses.
 *
 * No state; everything is read and changed under the configuration lock.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ifnet/if_clone.h"
#include "ifnet/if_var.h"
#include "stack/ctl_cmds.h"
#include "stack/machine.h"

/* ---- Listing ---- */

static json_t *
if_addrs_object(struct ifnet *ifp)
{
	char addr[CMD_ADDRLEN], bcast[CMD_ADDRLEN], dst[CMD_ADDRLEN];
	char mask[CMD_ADDRLEN];
	const struct ifaddr *ifa;
	json_t *array;

	array = json_array();
	if (array == NULL)
		return (NULL);
	CK_STAILQ_FOREACH(ifa, &ifp->if_addrs, ifa_link) {
		if (ifa->ifa_family != AF_INET)
			continue;
		if (cmd_append(array, json_pack("{ss ss si ss ss ss}",
		    "family", "inet",
		    "addr", cmd_addr_text(ifa->ifa_addr, addr),
		    "plen", ifa->ifa_plen,
		    "mask", cmd_addr_text(ifa->ifa_mask, mask),
		    "broadcast", ifa->ifa_broadaddr.s_addr == INADDR_ANY ?
		    "" : cmd_addr_text(ifa->ifa_broadaddr, bcast),
		    "dst", ifa->ifa_dstaddr.s_addr == INADDR_ANY ?
		    "" : cmd_addr_text(ifa->ifa_dstaddr, dst))) != 0) {
			json_decref(array);
			return (NULL);
		}
	}
	return (array);
}

static json_t *
if_counters_object(struct ifnet *ifp)
{
	static const struct {
		const char	*name;
		enum if_counter	 c;
	} names[] = {
		{ "ipackets", IFC_IPACKETS }, { "ibytes", IFC_IBYTES },
		{ "imcasts", IFC_IMCASTS }, { "ierrors", IFC_IERRORS },
		{ "idrops", IFC_IQDROPS }, { "opackets", IFC_OPACKETS },
		{ "obytes", IFC_OBYTES }, { "omcasts", IFC_OMCASTS },
		{ "oerrors", IFC_OERRORS }, { "odrops", IFC_OQDROPS },
		{ "collisions", IFC_COLLISIONS }, { "noproto", IFC_NOPROTO },
	};
	json_t *obj;
	size_t i;

	obj = json_object();
	for (i = 0; i < nitems(names); i++)
		if (json_object_set_new(obj, names[i].name, json_integer(
		    (json_int_t)if_counter(ifp, names[i].c))) != 0) {
			json_decref(obj);
			return (NULL);
		}
	return (obj);
}

static json_t *
if_drops_object(struct ifnet *ifp)
{
	uint64_t n;
	json_t *obj;
	int i;

	obj = json_object();
	for (i = 0; i < IFD_COUNT; i++) {
		n = if_counter(ifp, (enum if_counter)(IFC_DROPS + i));
		if (n != 0 && json_object_set_new(obj,
		    if_drop_info[i].fd_name, json_integer((json_int_t)n)) !=
		    0) {
			json_decref(obj);
			return (NULL);
		}
	}
	return (obj);
}

static const char *
if_status(struct ifnet *ifp)
{

	switch (atomic_load_explicit(&ifp->if_linkstate,
	    memory_order_relaxed)) {
	case IF_LINK_UP:
		return ("active");
	case IF_LINK_DOWN:
		return ("no carrier");
	default:
		return ("");
	}
}

/* What is the same for all kinds of interface. */
static json_t *
if_object_base(struct ifnet *ifp)
{
	char ether[CMD_MACLEN] = "", hwaddr[CMD_MACLEN] = "";

	if (ifp->if_type == IFT_ETHER) {
		(void)cmd_mac_text(ifp->if_lladdr, ether);
		(void)cmd_mac_text(ifp->if_hwaddr, hwaddr);
	}
	return (json_pack("{ss sI sI sI sI sI sI ss ss ss ss sI}",
	    "name", ifp->if_name,
	    "index", (json_int_t)ifp->if_index,
	    "flags", (json_int_t)ifp->if_flags,
	    "mtu", (json_int_t)ifp->if_mtu,
	    "metric", (json_int_t)ifp->if_metric,
	    "options", (json_int_t)ifp->if_capenable,
	    "capabilities", (json_int_t)ifp->if_capabilities,
	    "ether", ether,
	    "hwaddr", hwaddr,
	    "driver", ifp->if_driver != NULL ? ifp->if_driver->drv_name : "",
	    "type", ifp->if_type == IFT_ETHER ? "ether" :
	    ifp->if_type == IFT_LOOP ? "loop" : "virtual",
	    "baudrate", (json_int_t)ifp->if_baudrate));
}

static json_t *
if_object(struct ifnet *ifp)
{
	json_t *obj;
	bool gone;

	obj = if_object_base(ifp);
	if (obj == NULL)
		return (NULL);
	gone = atomic_load_explicit(&ifp->if_gone, memory_order_relaxed);
	if (json_object_set_new(obj, "description",
	    ctl_text(ifp->if_descr)) != 0 ||
	    json_object_set_new(obj, "spec", ctl_text(ifp->if_spec)) != 0 ||
	    json_object_set_new(obj, "media", ctl_text(ifp->if_media)) != 0 ||
	    json_object_set_new(obj, "status",
	    json_string(if_status(ifp))) != 0 ||
	    json_object_set_new(obj, "gone", json_boolean(gone)) != 0 ||
	    json_object_set_new(obj, "addrs", if_addrs_object(ifp)) != 0 ||
	    json_object_set_new(obj, "counters",
	    if_counters_object(ifp)) != 0 ||
	    json_object_set_new(obj, "drops", if_drops_object(ifp)) != 0) {
		json_decref(obj);
		return (NULL);
	}
	return (obj);
}

static int
if_list_locked(struct ctl_req *cr, struct vnet *vnet, const char *ifname)
{
	struct ifnet *ifp = NULL;
	json_t *array;
	int error;

	if (ifname != NULL &&
	    (error = cmd_ifp(cr, vnet, "name", ifname, &ifp)) != 0)
		return (error);
	array = cmd_array(cr, "interfaces");
	if (array == NULL)
		return (ENOMEM);
	if (ifp != NULL)
		return (cmd_append(array, if_object(ifp)));
	CK_STAILQ_FOREACH(ifp, &vnet->v_ifnets, if_link)
		if (cmd_append(array, if_object(ifp)) != 0)
			return (cmd_nomem(cr));
	return (0);
}

int
cmd_if_list(struct ctl_req *cr, void *arg)
{
	struct machine *ma = arg;
	const char *ifname;
	bool given;
	int error;

	if ((error = cmd_arg_ifname(cr, "name", &ifname, &given)) != 0 ||
	    (error = ctl_args_done(cr)) != 0)
		return (error);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	error = if_list_locked(cr, ma->ma_vnet, ifname);
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	return (error);
}

int
cmd_if_cloners(struct ctl_req *cr, void *arg)
{
	const struct if_driver *drv;
	json_t *array;
	size_t i;
	int error;

	if ((error = ctl_args_done(cr)) != 0)
		return (error);
	array = cmd_array(cr, "drivers");
	if (array == NULL)
		return (ENOMEM);
	for (i = 0; i < machine_ndrivers; i++) {
		drv = machine_drivers[i];
		if (cmd_append(array, json_pack("{ss ss sb}",
		    "name", drv->drv_name, "descr", drv->drv_descr,
		    "device", drv->drv_device)) != 0)
			return (cmd_nomem(cr));
	}
	return (0);
}

/* ---- Create and destroy ---- */

static int
if_create_locked(struct ctl_req *cr, struct machine *ma, const char *ifname,
    const char *spec, char *made)
{
	char err[256] = "";
	int error;

	if (if_byname(ma->ma_vnet, ifname) != NULL)
		return (ctl_fail(cr, EEXIST, "name", "interface %s already "
		    "exists", ifname));
	error = machine_if_create(ma, ifname, spec, made, err, sizeof(err));
	if (error != 0)
		return (ctl_fail(cr, error, spec != NULL ? "spec" : "name",
		    "%s", err[0] != '\0' ? err : strerror(error)));
	return (0);
}

int
cmd_if_create(struct ctl_req *cr, void *arg)
{
	struct machine *ma = arg;
	const char *ifname, *spec;
	char made[IFNAMLEN];
	int error;

	if ((error = cmd_arg_ifname(cr, "name", &ifname, NULL)) != 0 ||
	    (error = ctl_arg_string_opt(cr, "spec", NULL, &spec)) != 0 ||
	    (error = ctl_args_done(cr)) != 0)
		return (error);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	error = if_create_locked(cr, ma, ifname, spec, made);
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	if (error != 0)
		return (error);
	return (ctl_result(cr, "name", json_string(made)));
}

int
cmd_if_destroy(struct ctl_req *cr, void *arg)
{
	struct machine *ma = arg;
	const char *ifname;
	char err[256] = "";
	int error;

	if ((error = cmd_arg_ifname(cr, "name", &ifname, NULL)) != 0 ||
	    (error = ctl_args_done(cr)) != 0)
		return (error);
	error = machine_if_destroy(ma, ifname, err, sizeof(err));
	if (error != 0)
		return (ctl_fail(cr, error, "name", "%s",
		    err[0] != '\0' ? err : strerror(error)));
	return (0);
}

/* ---- Settings ---- */

/* What if.set asks for; as it was before, for undoing, in the same form. */
struct if_change {
	const char	*ch_newname;	/* NULL: keep */
	const char	*ch_descr;	/* NULL: keep */
	long		 ch_set;	/* IFF_* */
	long		 ch_clear;
	long		 ch_mtu;	/* -1: keep */
	long		 ch_metric;	/* -1: keep */
	long		 ch_cap_set;	/* IFCAP_* */
	long		 ch_cap_clear;
	uint8_t		 ch_ether[6];
	bool		 ch_has_ether;
};

static int
if_change_args(struct ctl_req *cr, const char **ifname, struct if_change *ch)
{
	bool given;
	int error;

	if ((error = cmd_arg_ifname(cr, "name", ifname, NULL)) != 0 ||
	    (error = ctl_arg_int_opt(cr, "flags_set", 0, UINT32_MAX, 0,
	    &ch->ch_set)) != 0 ||
	    (error = ctl_arg_int_opt(cr, "flags_clear", 0, UINT32_MAX, 0,
	    &ch->ch_clear)) != 0 ||
	    (error = ctl_arg_int_opt(cr, "mtu", 1, 65535, -1,
	    &ch->ch_mtu)) != 0 ||
	    (error = cmd_arg_mac(cr, "ether", ch->ch_ether,
	    &ch->ch_has_ether)) != 0 ||
	    (error = cmd_arg_ifname(cr, "newname", &ch->ch_newname,
	    &given)) != 0 ||
	    (error = ctl_arg_string_opt(cr, "description", NULL,
	    &ch->ch_descr)) != 0 ||
	    (error = ctl_arg_int_opt(cr, "metric", 0, INT32_MAX, -1,
	    &ch->ch_metric)) != 0 ||
	    (error = ctl_arg_int_opt(cr, "cap_set", 0, UINT32_MAX, 0,
	    &ch->ch_cap_set)) != 0 ||
	    (error = ctl_arg_int_opt(cr, "cap_clear", 0, UINT32_MAX, 0,
	    &ch->ch_cap_clear)) != 0)
		return (error);
	return (ctl_args_done(cr));
}

/* Flags and capabilities: may this interface have them changed? */
static int
if_change_check_bits(struct ctl_req *cr, const struct ifnet *ifp,
    const struct if_change *ch)
{
	static const char *const fields[] = { "flags_set", "flags_clear",
	    "cap_set", "cap_clear" };
	const long bits[] = { ch->ch_set, ch->ch_clear, ch->ch_cap_set,
	    ch->ch_cap_clear };
	const long may[] = { IFF_USERFLAGS, IFF_USERFLAGS,
	    (long)ifp->if_capabilities, (long)ifp->if_capabilities };
	size_t i;

	for (i = 0; i < nitems(bits); i++) {
		if ((bits[i] & ~may[i]) != 0)
			return (ctl_fail(cr, EINVAL, fields[i], "%s: expected "
			    "bits of 0x%lx, got 0x%lx", fields[i], may[i],
			    bits[i]));
		if (i % 2 == 1 && (bits[i] & bits[i - 1]) != 0)
			return (ctl_fail(cr, EINVAL, fields[i], "%s: 0x%lx is "
			    "to be set as well", fields[i],
			    bits[i] & bits[i - 1]));
	}
	return (0);
}

static int
if_change_check(struct ctl_req *cr, struct ifnet *ifp,
    const struct if_change *ch)
{
	int error;

	error = if_change_check_bits(cr, ifp, ch);
	if (error != 0)
		return (error);
	if (ch->ch_mtu != -1 && (ch->ch_mtu < (long)ifp->if_mtu_min ||
	    ch->ch_mtu > (long)ifp->if_mtu_max))
		return (ctl_fail(cr, EINVAL, "mtu", "mtu: expected %u..%u on "
		    "%s, got %ld", ifp->if_mtu_min, ifp->if_mtu_max,
		    ifp->if_name, ch->ch_mtu));
	if (ch->ch_has_ether && memcmp(ch->ch_ether, "\0\0\0\0\0\0", 6) == 0)
		return (ctl_fail(cr, EINVAL, "ether", "ether: expected a "
		    "station's MAC, got 00:00:00:00:00:00"));
	if (ch->ch_has_ether && ifp->if_type != IFT_ETHER)
		return (ctl_fail(cr, EINVAL, "ether", "ether: %s is no "
		    "Ethernet interface", ifp->if_name));
	if (ch->ch_descr != NULL &&
	    strlen(ch->ch_descr) >= sizeof(ifp->if_descr))
		return (ctl_fail(cr, EINVAL, "description", "description: "
		    "expected at most %zu bytes, got %zu",
		    sizeof(ifp->if_descr) - 1, strlen(ch->ch_descr)));
	if (ch->ch_newname != NULL &&
	    if_byname(ifp->if_vnet, ch->ch_newname) != NULL)
		return (ctl_fail(cr, EEXIST, "newname", "interface %s already "
		    "exists", ch->ch_newname));
	return (0);
}

/*
 * The steps that a driver may refuse, from the first to the last; *donep is
 * how many were done.  The field of the one that failed is in *field.
 */
static int
if_change_steps(struct ifnet *ifp, const struct if_change *ch, int *donep,
    const char **field)
{
	int error = 0;

	*donep = 0;
	*field = "mtu";
	if (ch->ch_mtu != -1 && ch->ch_mtu != (long)ifp->if_mtu)
		error = if_setmtu(ifp, (uint32_t)ch->ch_mtu);
	if (error != 0)
		return (error);
	*donep = 1;
	*field = "ether";
	if (ch->ch_has_ether &&
	    memcmp(ch->ch_ether, ifp->if_lladdr, sizeof(ch->ch_ether)) != 0)
		error = if_setlladdr(ifp, ch->ch_ether);
	if (error != 0)
		return (error);
	*donep = 2;
	*field = (ch->ch_set != 0 ? "flags_set" : "flags_clear");
	if ((ch->ch_set | ch->ch_clear) != 0)
		error = if_setflags(ifp, (uint32_t)ch->ch_set,
		    (uint32_t)ch->ch_clear);
	return (error);
}

/* Put back what the first done steps changed. */
static void
if_change_undo(struct ifnet *ifp, const struct if_change *was, int done)
{

	if (done >= 2 && was->ch_has_ether &&
	    memcmp(was->ch_ether, ifp->if_lladdr, sizeof(was->ch_ether)) != 0)
		(void)if_setlladdr(ifp, was->ch_ether);
	if (done >= 1 && was->ch_mtu != (long)ifp->if_mtu)
		(void)if_setmtu(ifp, (uint32_t)was->ch_mtu);
}

/* What cannot fail any more. */
static void
if_change_commit(struct ifnet *ifp, const struct if_change *ch)
{
	uint32_t caps;

	caps = (ifp->if_capenable | (uint32_t)ch->ch_cap_set) &
	    ~(uint32_t)ch->ch_cap_clear;
	atomic_store_explicit(&ifp->if_capenable, caps, memory_order_relaxed);
	if (ch->ch_metric != -1)
		ifp->if_metric = (uint32_t)ch->ch_metric;
	if (ch->ch_descr != NULL)
		(void)snprintf(ifp->if_descr, sizeof(ifp->if_descr), "%s",
		    ch->ch_descr);
	if (ch->ch_newname != NULL)
		(void)if_rename(ifp, ch->ch_newname);
}

static int
if_set_locked(struct ctl_req *cr, struct vnet *vnet, const char *ifname,
    const struct if_change *ch)
{
	struct if_change was = { .ch_has_ether = true };
	const char *field;
	struct ifnet *ifp;
	int done, error;

	if ((error = cmd_ifp(cr, vnet, "name", ifname, &ifp)) != 0 ||
	    (error = if_change_check(cr, ifp, ch)) != 0)
		return (error);
	was.ch_mtu = (long)ifp->if_mtu;
	was.ch_has_ether = ifp->if_type == IFT_ETHER;
	memcpy(was.ch_ether, ifp->if_lladdr, sizeof(was.ch_ether));
	error = if_change_steps(ifp, ch, &done, &field);
	if (error != 0) {
		if_change_undo(ifp, &was, done);
		return (ctl_fail(cr, error, field, "%s: %s refused: %s", field,
		    ifp->if_name, strerror(error)));
	}
	if_change_commit(ifp, ch);
	return (ctl_result(cr, "name", json_string(ifp->if_name)));
}

int
cmd_if_set(struct ctl_req *cr, void *arg)
{
	struct machine *ma = arg;
	struct if_change ch;
	const char *ifname;
	int error;

	error = if_change_args(cr, &ifname, &ch);
	if (error != 0)
		return (error);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	error = if_set_locked(cr, ma->ma_vnet, ifname, &ch);
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	return (error);
}

/* ---- Addresses ---- */

/* An address as a request gives it, or as an interface has it. */
struct if_addr_req {
	struct in_addr	 ar_addr;
	struct in_addr	 ar_bcast;	/* 0: the default */
	struct in_addr	 ar_dst;	/* 0: none */
	int		 ar_plen;
	bool		 ar_alias;
};

static int
if_addr_args(struct ctl_req *cr, const char **ifname, struct if_addr_req *ar)
{
	bool given;
	long plen;
	int error;

	if ((error = cmd_arg_ifname(cr, "name", ifname, NULL)) != 0 ||
	    (error = cmd_arg_addr(cr, "addr", &ar->ar_addr, NULL)) != 0 ||
	    (error = ctl_arg_int(cr, "plen", 1, 32, &plen)) != 0 ||
	    (error = cmd_arg_addr(cr, "broadcast", &ar->ar_bcast,
	    &given)) != 0 ||
	    (error = cmd_arg_addr(cr, "dst", &ar->ar_dst, &given)) != 0 ||
	    (error = ctl_arg_bool_opt(cr, "alias", false,
	    &ar->ar_alias)) != 0 ||
	    (error = ctl_args_done(cr)) != 0)
		return (error);
	ar->ar_plen = (int)plen;
	if (ar->ar_bcast.s_addr != INADDR_ANY && ((ar->ar_bcast.s_addr ^
	    ar->ar_addr.s_addr) & cmd_mask(ar->ar_plen).s_addr) != 0)
		return (ctl_fail(cr, EINVAL, "broadcast", "broadcast: "
		    "expected an address of the interface's own network"));
	return (0);
}

static struct ifaddr *
if_addr_first(struct ifnet *ifp)
{
	struct ifaddr *ifa;

	CK_STAILQ_FOREACH(ifa, &ifp->if_addrs, ifa_link)
		if (ifa->ifa_family == AF_INET)
			return (ifa);
	return (NULL);
}

static struct if_addr_req
if_addr_was(const struct ifaddr *ifa)
{

	return ((struct if_addr_req){
		.ar_addr = ifa->ifa_addr,
		.ar_bcast = ifa->ifa_broadaddr,
		.ar_dst = ifa->ifa_dstaddr,
		.ar_plen = ifa->ifa_plen,
	});
}

/* Add, with an error for the request. */
static int
if_addr_put(struct ctl_req *cr, struct ifnet *ifp,
    const struct if_addr_req *ar)
{
	char addr[CMD_ADDRLEN];
	int error;

	error = if_addr_add(ifp, ar->ar_addr, ar->ar_plen, ar->ar_bcast,
	    ar->ar_dst);
	(void)cmd_addr_text(ar->ar_addr, addr);
	switch (error) {
	case 0:
		return (0);
	case EEXIST:
		return (ctl_fail(cr, error, "addr", "%s is an address of this "
		    "machine already", addr));
	case EINVAL:
		return (ctl_fail(cr, error, "addr", "%s/%d cannot be an "
		    "interface's address", addr, ar->ar_plen));
	default:
		return (ctl_fail(cr, error, "addr", "%s: %s", addr,
		    strerror(error)));
	}
}

static int
if_addr_up(struct ctl_req *cr, struct ifnet *ifp)
{
	int error;

	error = if_setflags(ifp, IFF_UP, 0);
	if (error != 0)
		return (ctl_fail(cr, error, "name", "%s does not come up: %s",
		    ifp->if_name, strerror(error)));
	return (0);
}

/* The same address with another mask: it must go before it can come. */
static int
if_addr_change(struct ctl_req *cr, struct ifnet *ifp,
    const struct if_addr_req *ar)
{
	struct if_addr_req was;
	int error;

	was = if_addr_was(if_addr_first(ifp));
	(void)if_addr_del(ifp, was.ar_addr);
	error = if_addr_put(cr, ifp, ar);
	if (error == 0) {
		error = if_addr_up(cr, ifp);
		if (error == 0)
			return (0);
		(void)if_addr_del(ifp, ar->ar_addr);
	}
	(void)if_addr_add(ifp, was.ar_addr, was.ar_plen, was.ar_bcast,
	    was.ar_dst);
	return (error);
}

/*
 * The new address first, then the old one goes: routes that both reach stay.
 */
static int
if_addr_add_locked(struct ctl_req *cr, struct vnet *vnet, const char *ifname,
    const struct if_addr_req *ar)
{
	struct ifaddr *first;
	struct in_addr old;
	struct ifnet *ifp;
	int error;

	error = cmd_ifp(cr, vnet, "name", ifname, &ifp);
	if (error != 0)
		return (error);
	first = ar->ar_alias ? NULL : if_addr_first(ifp);
	if (first != NULL && first->ifa_addr.s_addr == ar->ar_addr.s_addr)
		return (if_addr_change(cr, ifp, ar));
	old.s_addr = first != NULL ? first->ifa_addr.s_addr : INADDR_ANY;
	error = if_addr_put(cr, ifp, ar);
	if (error != 0)
		return (error);
	error = if_addr_up(cr, ifp);
	if (error != 0) {
		(void)if_addr_del(ifp, ar->ar_addr);
		return (error);
	}
	if (first != NULL)
		(void)if_addr_del(ifp, old);
	return (0);
}

int
cmd_if_addr_add(struct ctl_req *cr, void *arg)
{
	struct machine *ma = arg;
	struct if_addr_req ar;
	const char *ifname;
	int error;

	error = if_addr_args(cr, &ifname, &ar);
	if (error != 0)
		return (error);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	error = if_addr_add_locked(cr, ma->ma_vnet, ifname, &ar);
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	return (error);
}

static int
if_addr_del_locked(struct ctl_req *cr, struct vnet *vnet, const char *ifname,
    struct in_addr addr, bool given)
{
	const struct ifaddr *first;
	char text[CMD_ADDRLEN];
	struct ifnet *ifp;
	int error;

	error = cmd_ifp(cr, vnet, "name", ifname, &ifp);
	if (error != 0)
		return (error);
	if (!given) {
		first = if_addr_first(ifp);
		if (first == NULL)
			return (ctl_fail(cr, EADDRNOTAVAIL, "name", "%s has "
			    "no IPv4 address", ifname));
		addr = first->ifa_addr;
	}
	error = if_addr_del(ifp, addr);
	if (error != 0)
		return (ctl_fail(cr, EADDRNOTAVAIL, "addr", "%s has no "
		    "address %s", ifname, cmd_addr_text(addr, text)));
	return (0);
}

int
cmd_if_addr_del(struct ctl_req *cr, void *arg)
{
	struct machine *ma = arg;
	struct in_addr addr;
	const char *ifname;
	bool given;
	int error;

	if ((error = cmd_arg_ifname(cr, "name", &ifname, NULL)) != 0 ||
	    (error = cmd_arg_addr(cr, "addr", &addr, &given)) != 0 ||
	    (error = ctl_args_done(cr)) != 0)
		return (error);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	error = if_addr_del_locked(cr, ma->ma_vnet, ifname, addr, given);
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	return (error);
}
