/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Addresses of interfaces.  The list of an interface is changed under the
 * configuration lock and walked in the epoch; an ifaddr is constant, holds a
 * reference to its interface, and is freed a grace period after its last
 * reference (the list's, or a nexthop's) went.
 */
#include <errno.h>
#include <stdlib.h>

#include "ifnet/if_private.h"

static struct in_addr
plen_mask(int plen)
{
	struct in_addr mask;

	mask.s_addr = plen == 0 ? 0 : htonl(~(uint32_t)0 << (32 - plen));
	return (mask);
}

static void
ifa_free_cb(epoch_context_t ctx)
{
	struct ifaddr *ifa;

	ifa = __containerof(ctx, struct ifaddr, ifa_ctx);
	if_rele(ifa->ifa_ifp);
	free(ifa);
}

void
ifa_ref(struct ifaddr *ifa)
{
	unsigned int refs;

	refs = atomic_fetch_add_explicit(&ifa->ifa_refs, 1,
	    memory_order_relaxed);
	KASSERT(refs != 0, "address reference taken from zero");
	(void)refs;
}

void
ifa_rele(struct ifaddr *ifa)
{
	unsigned int refs;

	refs = atomic_fetch_sub_explicit(&ifa->ifa_refs, 1,
	    memory_order_acq_rel);
	KASSERT(refs != 0, "address released below zero");
	if (refs == 1)
		NET_EPOCH_CALL(ifa_free_cb, &ifa->ifa_ctx);
}

/* 0/8, multicast, class E and the all-ones address are nobody's own. */
static bool
addr_usable(struct in_addr addr, int plen)
{
	uint32_t a = ntohl(addr.s_addr);

	if (a >> 24 == 0 || a >> 28 >= 14)
		return (false);
	if (plen >= 31)
		return (true);
	/* Neither the network's own address nor its broadcast. */
	return ((a & ~(uint32_t)0 >> plen) != 0 &&
	    (a | ~(uint32_t)0 << (32 - plen)) != ~(uint32_t)0);
}

int
if_addr_add(struct ifnet *ifp, struct in_addr addr, int plen,
    struct in_addr broadcast, struct in_addr dst)
{
	struct ifaddr *ifa;
	int error;

	VNET_CONFIG_ASSERT(ifp->if_vnet);
	NET_EPOCH_ASSERT_NOT();

	if (plen < 1 || plen > 32 ||
	    (!addr_usable(addr, plen) && ifp->if_type != IFT_LOOP))
		return (EINVAL);
	if (if_addr_own(ifp->if_vnet, addr) != NULL)
		return (EEXIST);
	if ((ifa = calloc(1, sizeof(*ifa))) == NULL)
		return (ENOMEM);
	if_ref(ifp);
	ifa->ifa_ifp = ifp;
	ifa->ifa_family = AF_INET;
	ifa->ifa_plen = plen;
	ifa->ifa_addr = addr;
	ifa->ifa_mask = plen_mask(plen);
	ifa->ifa_dstaddr = dst;
	if (broadcast.s_addr != 0)
		ifa->ifa_broadaddr = broadcast;
	else if (plen < 31 && (ifp->if_flags & IFF_BROADCAST) != 0)
		ifa->ifa_broadaddr.s_addr = addr.s_addr |
		    ~ifa->ifa_mask.s_addr;

	/* Pairs with the acquire in ifa_is_inet(). */
	atomic_store_explicit(&ifa->ifa_refs, 1, memory_order_release);
	CK_STAILQ_INSERT_TAIL(&ifp->if_addrs, ifa, ifa_link);
	error = vnet_event(ifp, IF_EVENT_ADDR_ADD, ifa);
	if (error != 0) {
		CK_STAILQ_REMOVE(&ifp->if_addrs, ifa, ifaddr, ifa_link);
		ifa_rele(ifa);
	}
	return (error);
}

static void
if_addr_remove(struct ifnet *ifp, struct ifaddr *ifa)
{

	CK_STAILQ_REMOVE(&ifp->if_addrs, ifa, ifaddr, ifa_link);
	(void)vnet_event(ifp, IF_EVENT_ADDR_DEL, ifa);
	ifa_rele(ifa);
}

int
if_addr_del(struct ifnet *ifp, struct in_addr addr)
{
	struct ifaddr *ifa;

	VNET_CONFIG_ASSERT(ifp->if_vnet);
	NET_EPOCH_ASSERT_NOT();

	CK_STAILQ_FOREACH(ifa, &ifp->if_addrs, ifa_link)
		if (ifa->ifa_family == AF_INET &&
		    ifa->ifa_addr.s_addr == addr.s_addr) {
			if_addr_remove(ifp, ifa);
			return (0);
		}
	return (ENOENT);
}

void
if_addr_purge(struct ifnet *ifp)
{
	struct ifaddr *ifa;

	while ((ifa = CK_STAILQ_FIRST(&ifp->if_addrs)) != NULL)
		if_addr_remove(ifp, ifa);
}

const struct ifaddr *
if_addr_for(struct ifnet *ifp, struct in_addr dst)
{
	const struct ifaddr *ifa, *best = NULL;
	bool in, best_in = false;

	CK_STAILQ_FOREACH(ifa, &ifp->if_addrs, ifa_link) {
		if (!ifa_is_inet(ifa))
			continue;
		in = ((ifa->ifa_addr.s_addr ^ dst.s_addr) &
		    ifa->ifa_mask.s_addr) == 0 ||
		    (ifa->ifa_dstaddr.s_addr != 0 &&
		    ifa->ifa_dstaddr.s_addr == dst.s_addr);
		/* On dst's own network, the narrowest; else the first. */
		if (best == NULL || (in && (!best_in ||
		    ifa->ifa_plen > best->ifa_plen))) {
			best = ifa;
			best_in = in;
		}
	}
	return (best);
}

const struct ifaddr *
if_addr_own(struct vnet *vnet, struct in_addr addr)
{
	const struct ifaddr *ifa;
	struct ifnet *ifp;

	CK_STAILQ_FOREACH(ifp, &vnet->v_ifnets, if_link) {
		if_seen(ifp);
		CK_STAILQ_FOREACH(ifa, &ifp->if_addrs, ifa_link)
			if (ifa_is_inet(ifa) &&
			    ifa->ifa_addr.s_addr == addr.s_addr)
				return (ifa);
	}
	return (NULL);
}
