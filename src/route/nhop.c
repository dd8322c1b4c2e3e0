/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Nexthops: where a packet goes and with which header.  One object is shared
 * by all routes that ask for the same, found by hash.  Made and let go under
 * the configuration lock; read by packets inside the epoch; freed a grace
 * period after the last route let go, together with the number that the FIB
 * knew it by.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route/route_private.h"

static unsigned int
nhop_bucket(const struct nhop_spec *ns)
{
	uint64_t h;

	h = (uintptr_t)ns->ns_ifp >> 6 ^ (uintptr_t)ns->ns_ifa >> 4;
	h = (h ^ ns->ns_gw.s_addr) * 0x9e3779b97f4a7c15u;
	h = (h ^ h >> 32 ^ ns->ns_rtflags ^ (uint64_t)ns->ns_mtu << 24) *
	    0x9e3779b97f4a7c15u;
	return ((unsigned int)(h >> 40) & (RIB_NHBUCKETS - 1));
}

static bool
nhop_equal(const struct nhop *nh, const struct nhop_spec *ns)
{
	return (nh->nh_ifp == ns->ns_ifp && nh->nh_ifa == ns->ns_ifa &&
	    nh->nh_gw.s_addr == ns->ns_gw.s_addr &&
	    nh->nh_rtflags == ns->ns_rtflags && nh->nh_mtu == ns->ns_mtu);
}

/* What the packet path asks, from what the operator said. */
static uint16_t
nhop_flags(uint32_t rtflags)
{
	static const struct {
		uint32_t	rtf;
		uint16_t	nhf;
	} map[] = {
		{ RTF_GATEWAY, NHF_GATEWAY },
		{ RTF_HOST, NHF_HOST },
		{ RTF_REJECT, NHF_REJECT },
		{ RTF_BLACKHOLE, NHF_BLACKHOLE },
		{ RTF_LOCAL, NHF_LOCAL },
		{ RTF_BROADCAST, NHF_BROADCAST },
	};
	uint16_t flags = 0;
	size_t i;

	for (i = 0; i < nitems(map); i++)
		if ((rtflags & map[i].rtf) != 0)
			flags |= map[i].nhf;
	return (flags);
}

/* What nh_pass is to be. */
static uint32_t
nhop_pass(const struct nhop *nh)
{
	struct ifnet *ifp = nh->nh_ifp;

	if (ifp == NULL || (nh->nh_flags & NHF_SPECIAL) != 0 ||
	    (atomic_load_explicit(&ifp->if_flags, memory_order_relaxed) &
	    IFF_LOOPBACK) != 0)
		return (0);
	return (nhop_mtu(nh));
}

/* The interface has another MTU.  Configuration lock held. */
void
nhop_mtu_changed(struct rib *rib, const struct ifnet *ifp)
{
	struct nhop *nh;
	unsigned int i;

	VNET_CONFIG_ASSERT(rib->rib_vnet);

	for (i = 0; i < RIB_NHBUCKETS; i++)
		for (nh = rib->rib_nhops[i]; nh != NULL; nh = nh->nh_hash)
			if (nh->nh_ifp == ifp)
				atomic_store_explicit(&nh->nh_pass,
				    nhop_pass(nh), memory_order_relaxed);
}

/* Everything nh holds; nobody can see it any more. */
static void
nhop_destroy(struct nhop *nh)
{
	struct rib *rib = nh->nh_rib;
	struct llentry *lle;

	lle = atomic_load_explicit(&nh->nh_lle, memory_order_acquire);
	if (lle != NULL)
		lle_rele(lle);
	if (nh->nh_index != FIB4_NONE) {
		fib4_nhop_clear(rib->rib_vnet->v_fib4, nh->nh_index);
		idxpool_free(&rib->rib_nhpool, nh->nh_index);
	}
	if (nh->nh_counters != 0)
		counter_free(nh->nh_counters, 2);
	if (nh->nh_ifa != NULL)
		ifa_rele(nh->nh_ifa);
	if (nh->nh_ifp != NULL)
		if_rele(nh->nh_ifp);
	free(nh);
}

static void
nhop_free_cb(epoch_context_t ctx)
{
	struct nhop *nh = __containerof(ctx, struct nhop, nh_ctx);

	atomic_fetch_sub_explicit(&nh->nh_rib->rib_nnhops, 1,
	    memory_order_relaxed);
	nhop_destroy(nh);
}

static int
nhop_alloc(struct rib *rib, const struct nhop_spec *ns, struct nhop **nhp)
{
	struct nhop *nh;
	int error = ENOMEM;

	nh = aligned_alloc(CACHE_LINE_SIZE, sizeof(*nh));
	if (nh == NULL)
		return (error);
	memset(nh, 0, sizeof(*nh));
	nh->nh_rib = rib;
	nh->nh_flags = nhop_flags(ns->ns_rtflags);
	nh->nh_rtflags = ns->ns_rtflags;
	nh->nh_mtu = ns->ns_mtu;
	nh->nh_gw = ns->ns_gw;
	if ((nh->nh_ifp = ns->ns_ifp) != NULL)
		if_ref(nh->nh_ifp);
	if ((nh->nh_ifa = ns->ns_ifa) != NULL)
		ifa_ref(nh->nh_ifa);
	atomic_init(&nh->nh_pass, nhop_pass(nh));
	error = counter_alloc(2, &nh->nh_counters);
	if (error != 0)
		goto fail;
	error = idxpool_alloc(&rib->rib_nhpool, &nh->nh_index);
	if (error != 0)
		goto fail;
	error = fib4_nhop_set(rib->rib_vnet->v_fib4, nh->nh_index, nh);
	if (error != 0)
		goto fail;
	*nhp = nh;
	return (0);
fail:
	nhop_destroy(nh);
	return (error);
}

/*
 * The nexthop of a description, with a reference that the caller owns: one
 * that is there, or a new one with a number of its own.  The description's
 * interface and address are the caller's; the nexthop takes references.
 * Configuration lock held, outside the epoch.  ENOMEM.
 */
int
nhop_get(struct rib *rib, const struct nhop_spec *ns, struct nhop **nhp)
{
	struct nhop **bucket = &rib->rib_nhops[nhop_bucket(ns)], *nh;
	int error;

	VNET_CONFIG_ASSERT(rib->rib_vnet);

	for (nh = *bucket; nh != NULL; nh = nh->nh_hash)
		if (nhop_equal(nh, ns))
			break;
	if (nh == NULL) {
		error = nhop_alloc(rib, ns, &nh);
		if (error != 0)
			return (error);
		nh->nh_hash = *bucket;
		*bucket = nh;
		atomic_fetch_add_explicit(&rib->rib_nnhops, 1,
		    memory_order_relaxed);
	}
	atomic_fetch_add_explicit(&nh->nh_refs, 1, memory_order_relaxed);
	*nhp = nh;
	return (0);
}

/*
 * Give a reference up; the last one, which must not be in the FIB any more,
 * unlinks the nexthop and frees it after a grace period.  Configuration lock
 * held.
 */
void
nhop_rele(struct nhop *nh)
{
	struct nhop_spec ns = {
		.ns_ifp = nh->nh_ifp,
		.ns_ifa = nh->nh_ifa,
		.ns_gw = nh->nh_gw,
		.ns_rtflags = nh->nh_rtflags,
		.ns_mtu = nh->nh_mtu,
	};
	struct nhop **link;

	VNET_CONFIG_ASSERT(nh->nh_rib->rib_vnet);

	if (atomic_fetch_sub_explicit(&nh->nh_refs, 1,
	    memory_order_relaxed) != 1)
		return;
	link = &nh->nh_rib->rib_nhops[nhop_bucket(&ns)];
	while (*link != nh)
		link = &(*link)->nh_hash;
	*link = nh->nh_hash;
	NET_EPOCH_CALL(nhop_free_cb, &nh->nh_ctx);
}
