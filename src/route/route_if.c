/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Routes that interfaces bring with them, and what happens to all routes when
 * interfaces and addresses come and go.
 *
 * An address brings a host route to itself (RTF_LOCAL, through lo0), and, while
 * its interface is up, the route of its prefix and the broadcast addresses of
 * the prefix: all ones, or what was configured, and all zeros (RFC 1812
 * 5.3.5).  A prefix of 31 or 32 bits has no broadcast (RFC 3021), a
 * point-to-point address has a host route to its peer, a loopback interface
 * only the route to itself.  All of them are RTF_PINNED: they replace an
 * operator's route to the same prefix, and of two interfaces that want the
 * same prefix the first keeps it while it can.
 *
 * Runs under the configuration lock, outside the epoch.
 */

#include <arpa/inet.h>

#include "route/route_private.h"
#include "sys/log.h"

/* The prefix of an address, in network order. */
static struct in_addr
ifa_prefix(const struct ifaddr *ifa)
{
	struct in_addr prefix;

	prefix.s_addr = ifa->ifa_addr.s_addr &
	    htonl(radix_mask(ifa->ifa_plen));
	return (prefix);
}

/* Is addr one of the neighbours that ifa's prefix holds? */
bool
route_ifaddr_connects(const struct ifaddr *ifa, struct in_addr addr)
{
	if (ifa->ifa_dstaddr.s_addr != INADDR_ANY)
		return (ifa->ifa_dstaddr.s_addr == addr.s_addr);
	return (((ifa->ifa_addr.s_addr ^ addr.s_addr) &
	    htonl(radix_mask(ifa->ifa_plen))) == 0);
}

/*
 * The IPv4 address of ifp that should be the source towards addr: the one with
 * the longest prefix that holds addr, else (unless connected is asked for) the
 * first.  Configuration lock held.  NULL: none.
 */
struct ifaddr *
route_ifaddr_for(struct ifnet *ifp, struct in_addr addr, bool connected)
{
	struct ifaddr *best = NULL, *first = NULL, *ifa;

	CK_STAILQ_FOREACH(ifa, &ifp->if_addrs, ifa_link) {
		if (ifa->ifa_family != AF_INET)
			continue;
		if (first == NULL)
			first = ifa;
		if (route_ifaddr_connects(ifa, addr) &&
		    (best == NULL || ifa->ifa_plen > best->ifa_plen))
			best = ifa;
	}
	return (best != NULL || connected ? best : first);
}

static bool
if_is_up(const struct ifnet *ifp)
{
	return ((atomic_load_explicit(&ifp->if_flags,
	    memory_order_relaxed) & IFF_UP) != 0);
}

/* ---- The routes of one address ---- */

/*
 * Set a pinned route for ifa, unless another pinned one stands there; only a
 * route to ourselves replaces that, too, if it is not one itself.
 */
static int
route_pin(struct rib *rib, struct in_addr dst, int plen, struct ifnet *ifp,
    struct ifaddr *ifa, uint32_t flags)
{
	struct nhop_spec ns = {
		.ns_ifp = ifp,
		.ns_ifa = ifa,
		.ns_rtflags = flags | RTF_UP | RTF_PINNED |
		    (plen == 32 ? RTF_HOST : 0),
	};
	const struct rt_node *rn;
	uint32_t old;

	rn = radix_find(rib->rib_root, ntohl(dst.s_addr), plen);
	old = rn == NULL ? 0 : rn->rn_nh->nh_rtflags;
	if ((old & RTF_PINNED) != 0 &&
	    ((flags & RTF_LOCAL) == 0 || (old & RTF_LOCAL) != 0))
		return (0);
	return (rib_set(rib, dst, plen, &ns));
}

/* Take a pinned route of ifa away, if it is this address's. */
static void
route_unpin(struct rib *rib, struct in_addr dst, int plen,
    const struct ifaddr *ifa)
{
	struct rt_node *rn;

	rn = radix_find(rib->rib_root, ntohl(dst.s_addr), plen);
	if (rn != NULL && rn->rn_nh->nh_ifa == ifa &&
	    (rn->rn_nh->nh_rtflags & RTF_PINNED) != 0)
		rib_remove(rib, rn);
}

/* The broadcast addresses of ifa: fills b[2], returns how many. */
static int
ifa_broadcasts(const struct ifaddr *ifa, struct in_addr *b)
{
	if (ifa->ifa_plen > 30 ||
	    ifa->ifa_dstaddr.s_addr != INADDR_ANY ||
	    (atomic_load_explicit(&ifa->ifa_ifp->if_flags,
	    memory_order_relaxed) & IFF_BROADCAST) == 0)
		return (0);
	b[0] = ifa_prefix(ifa);
	b[1] = ifa->ifa_broadaddr;
	if (b[1].s_addr == INADDR_ANY)
		b[1].s_addr = b[0].s_addr | ~htonl(radix_mask(ifa->ifa_plen));
	return (2);
}

/* The route to what is connected through ifa: false, if there is none. */
static bool
ifa_connected(const struct ifaddr *ifa, struct in_addr *dst, int *plen)
{
	if ((atomic_load_explicit(&ifa->ifa_ifp->if_flags,
	    memory_order_relaxed) & IFF_LOOPBACK) != 0)
		return (false);
	*dst = ifa_prefix(ifa);
	*plen = ifa->ifa_plen;
	if (ifa->ifa_dstaddr.s_addr != INADDR_ANY) {
		*dst = ifa->ifa_dstaddr;
		*plen = 32;
	}
	return (dst->s_addr != ifa->ifa_addr.s_addr || *plen != 32);
}

/*
 * Set the routes that ifa brings, as far as they are missing.  ENOMEM: some
 * may be there.
 */
static int
route_ifa_set(struct rib *rib, struct ifaddr *ifa)
{
	struct vnet *vnet = rib->rib_vnet;
	struct ifnet *ifp = ifa->ifa_ifp;
	struct in_addr b[2], dst;
	int error, i, n, plen;

	if (ifa->ifa_family != AF_INET)
		return (0);
	error = route_pin(rib, ifa->ifa_addr, 32,
	    vnet->v_loif != NULL ? vnet->v_loif : ifp, ifa,
	    RTF_LOCAL | RTF_STATIC);
	if (error != 0 || !if_is_up(ifp))
		return (error);
	if (ifa_connected(ifa, &dst, &plen))
		error = route_pin(rib, dst, plen, ifp, ifa, 0);
	n = ifa_broadcasts(ifa, b);
	for (i = 0; i < n && error == 0; i++)
		error = route_pin(rib, b[i], 32, ifp, ifa, RTF_BROADCAST);
	return (error);
}

/* The same where nobody is left to be told. */
static void
route_ifa_restore(struct rib *rib, struct ifaddr *ifa)
{
	char name[INET_ADDRSTRLEN];

	if (route_ifa_set(rib, ifa) == 0)
		return;
	(void)inet_ntop(AF_INET, &ifa->ifa_addr, name, sizeof(name));
	log_msg(LOG_ERR, "%s: no memory for the routes of %s",
	    ifa->ifa_ifp->if_name, name);
}

/* Take away the routes of ifa; the one to itself only with local. */
static void
route_ifa_clear(struct rib *rib, struct ifaddr *ifa, bool local)
{
	struct in_addr b[2], dst;
	int i, n, plen;

	if (ifa->ifa_family != AF_INET)
		return;
	n = ifa_broadcasts(ifa, b);
	for (i = 0; i < n; i++)
		if (local || b[i].s_addr != ifa->ifa_addr.s_addr)
			route_unpin(rib, b[i], 32, ifa);
	if (ifa_connected(ifa, &dst, &plen))
		route_unpin(rib, dst, plen, ifa);
	if (local)
		route_unpin(rib, ifa->ifa_addr, 32, ifa);
}

/*
 * Routes of gone (an address that left, or lost its prefix) are free for the
 * other addresses that want the same.
 */
static void
route_ifa_heirs(struct rib *rib, const struct ifaddr *gone)
{
	struct ifaddr *ifa;
	struct ifnet *ifp;
	uint32_t mask;

	CK_STAILQ_FOREACH(ifp, &rib->rib_vnet->v_ifnets, if_link)
		CK_STAILQ_FOREACH(ifa, &ifp->if_addrs, ifa_link) {
			if (ifa == gone || ifa->ifa_family != AF_INET)
				continue;
			mask = htonl(radix_mask(ifa->ifa_plen < gone->ifa_plen ?
			    ifa->ifa_plen : gone->ifa_plen));
			if (((ifa->ifa_addr.s_addr ^ gone->ifa_addr.s_addr) &
			    mask) == 0 ||
			    ifa->ifa_dstaddr.s_addr != INADDR_ANY)
				route_ifa_restore(rib, ifa);
		}
}

/* ---- The routes of others that use an address or interface ---- */

/* Does any nexthop go through ifp (or NULL) or take ifa (or NULL)? */
static bool
route_used(const struct rib *rib, const struct ifnet *ifp,
    const struct ifaddr *ifa)
{
	const struct nhop *nh;
	unsigned int i;

	for (i = 0; i < RIB_NHBUCKETS; i++)
		for (nh = rib->rib_nhops[i]; nh != NULL; nh = nh->nh_hash)
			if ((ifp != NULL && (nh->nh_ifp == ifp ||
			    (nh->nh_ifa != NULL &&
			    nh->nh_ifa->ifa_ifp == ifp))) ||
			    (ifa != NULL && nh->nh_ifa == ifa))
				return (true);
	return (false);
}

/* Take away every route that has to do with ifp. */
static void
route_if_purge(struct rib *rib, const struct ifnet *ifp)
{
	struct rt_node *next, *rn;
	const struct nhop *nh;

	if (!route_used(rib, ifp, NULL))
		return;
	for (rn = rib->rib_root; rn != NULL; rn = next) {
		next = radix_next(rn);
		if ((nh = rn->rn_nh) == NULL)
			continue;
		if (nh->nh_ifp == ifp ||
		    (nh->nh_ifa != NULL && nh->nh_ifa->ifa_ifp == ifp))
			rib_remove(rib, rn);
	}
}

/*
 * The address ifa has left: the operator's routes with it as their source take
 * another address of the interface, if that reaches the gateway; else they go.
 */
static void
route_ifa_purge(struct rib *rib, const struct ifaddr *ifa)
{
	struct rt_node *next, *rn;
	struct nhop_spec ns;
	const struct nhop *nh;
	struct in_addr dst;

	if (!route_used(rib, NULL, ifa))
		return;
	for (rn = rib->rib_root; rn != NULL; rn = next) {
		next = radix_next(rn);
		if ((nh = rn->rn_nh) == NULL || nh->nh_ifa != ifa)
			continue;
		dst.s_addr = htonl(rn->rn_key);
		ns = (struct nhop_spec){
			.ns_ifp = nh->nh_ifp,
			.ns_gw = nh->nh_gw,
			.ns_rtflags = nh->nh_rtflags,
			.ns_mtu = nh->nh_mtu,
		};
		ns.ns_ifa = route_ifaddr_for(nh->nh_ifp,
		    (nh->nh_flags & NHF_GATEWAY) != 0 ? nh->nh_gw : dst,
		    (nh->nh_flags & NHF_GATEWAY) != 0);
		if (ns.ns_ifa == NULL ||
		    rib_set(rib, dst, rn->rn_plen, &ns) != 0)
			rib_remove(rib, rn);
	}
}

/* ---- Events ---- */

static void
route_if_link(struct rib *rib, struct ifnet *ifp)
{
	struct ifaddr *ifa;

	if (if_is_up(ifp)) {
		CK_STAILQ_FOREACH(ifa, &ifp->if_addrs, ifa_link)
			route_ifa_restore(rib, ifa);
		lltable_link_changed(ifp);
		return;
	}
	CK_STAILQ_FOREACH(ifa, &ifp->if_addrs, ifa_link)
		route_ifa_clear(rib, ifa, false);
	CK_STAILQ_FOREACH(ifa, &ifp->if_addrs, ifa_link)
		route_ifa_heirs(rib, ifa);
	(void)lla_flush(ifp, false);
}

static void
route_if_detach(struct rib *rib, struct ifnet *ifp)
{
	const struct ifaddr *ifa;

	route_if_purge(rib, ifp);
	CK_STAILQ_FOREACH(ifa, &ifp->if_addrs, ifa_link)
		if (ifa->ifa_family == AF_INET)
			route_ifa_heirs(rib, ifa);
	lltable_free(ifp);
}

/* An address came: all of its routes, or none. */
static int
route_if_addr_add(struct rib *rib, struct ifnet *ifp, struct ifaddr *ifa)
{
	int error;

	error = route_ifa_set(rib, ifa);
	if (error == 0)
		error = lltable_ifaddr_add(ifp, ifa);
	if (error != 0) {
		route_ifa_clear(rib, ifa, true);
		route_ifa_heirs(rib, ifa);
	}
	return (error);
}

static void
route_if_addr_del(struct rib *rib, struct ifnet *ifp, struct ifaddr *ifa)
{
	if (ifa->ifa_family != AF_INET)
		return;
	route_ifa_clear(rib, ifa, true);
	route_ifa_purge(rib, ifa);
	route_ifa_heirs(rib, ifa);
	lltable_ifaddr_delete(ifp, ifa);
}

/*
 * if_event_fn: arg is the vnet.  Configuration lock held, outside the epoch.
 * ENOMEM from ATTACH and ADDR_ADD leaves nothing behind.
 */
int
route_if_event(void *arg, struct ifnet *ifp, enum if_event ev,
    struct ifaddr *ifa)
{
	struct vnet *vnet = arg;
	struct rib *rib = vnet->v_rib;

	VNET_CONFIG_ASSERT(vnet);
	NET_EPOCH_ASSERT_NOT();

	switch (ev) {
	case IF_EVENT_ATTACH:
		return (lltable_alloc(ifp));
	case IF_EVENT_DETACH:
		route_if_detach(rib, ifp);
		break;
	case IF_EVENT_LINK:
		route_if_link(rib, ifp);
		break;
	case IF_EVENT_LLADDR:
		lltable_lladdr_changed(ifp);
		break;
	case IF_EVENT_ADDR_ADD:
		return (route_if_addr_add(rib, ifp, ifa));
	case IF_EVENT_ADDR_DEL:
		route_if_addr_del(rib, ifp, ifa);
		break;
	case IF_EVENT_MTU:
		nhop_mtu_changed(rib, ifp);
		break;
	case IF_EVENT_DEPARTED:
	case IF_EVENT_RENAME:
		break;
	}
	return (0);
}
