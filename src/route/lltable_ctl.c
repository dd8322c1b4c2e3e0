/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Ageing, and what the control plane does to neighbours.
 *
 * lltable_tick() is the only timer of all neighbours: it walks the chains
 * under each table's mtx and so never meets an entry that was unlinked; no
 * entry has a timer that could outlive it.  It runs inside the epoch, once a
 * second, with the time as its parameter.  Questions, answers and packets that
 * become due are collected under the mtx and sent without it.
 *
 *	INCOMPLETE  asked every second; after lp_maxtries questions FAILED
 *	REACHABLE   after lp_max_age: STALE if a packet used it since it was
 *		    last heard, else unlinked
 *	STALE	    in use; asked by unicast every second; after lp_maxtries
 *		    questions unlinked, so that the next packet broadcasts
 *	FAILED	    after lp_wait unlinked
 *
 * The functions for the control plane run under the configuration lock,
 * outside the epoch.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route/lltable_private.h"
#include "sys/thread.h"

/* ---- Ageing ---- */

#define	TICK_BATCH	32	/* actions between two holds of the mtx */

struct tick_action {
	enum { TICK_ASK, TICK_FAIL, TICK_SEND } ta_what;
	struct in_addr	 ta_addr;
	bool		 ta_unicast;	/* TICK_ASK: to the MAC in ta_hdr */
	uint8_t		 ta_hdr[ETHER_HDR_LEN];
	struct llpackets ta_packets;	/* TICK_FAIL, TICK_SEND */
};

/* Ask again, or give up: an entry whose second is over. */
static void
tick_ask_locked(struct llentry *lle, uint64_t now,
    const struct lltable_params *lp, struct tick_action *ta)
{
	ta->ta_what = TICK_ASK;
	ta->ta_unicast = lle->lle_state == LLE_STALE;
	lle->lle_expire = now + LLTABLE_SECOND;
	if (lle->lle_asked < (uint32_t)lltable_param(&lp->lp_maxtries)) {
		lle->lle_asked++;
		return;
	}
	ta->ta_what = TICK_FAIL;
	if (lle->lle_state == LLE_STALE) {
		lle->lle_table->lt_expired++;
		lle_unlink_locked(lle, &ta->ta_packets);
		return;
	}
	lle->lle_state = LLE_FAILED;
	lle->lle_expire = now +
	    (uint64_t)lltable_param(&lp->lp_wait) * LLTABLE_SECOND;
	lle_take_locked(lle, &ta->ta_packets);
}

/*
 * Age one linked entry; it may be unlinked and gone afterwards.  True: *ta is
 * something to do without the mtx.
 */
static bool
tick_entry_locked(struct llentry *lle, uint64_t now,
    const struct lltable_params *lp, struct tick_action *ta)
{
	uint32_t flags = lle_get_flags(lle);

	ta->ta_addr = lle->lle_addr;
	memcpy(ta->ta_hdr, lle->lle_hdr, sizeof(ta->ta_hdr));
	llpackets_init(&ta->ta_packets);

	if ((flags & LLE_VALID) != 0 && lle->lle_hold != NULL) {
		/* The operator set the MAC while packets waited. */
		ta->ta_what = TICK_SEND;
		lle_take_locked(lle, &ta->ta_packets);
		return (true);
	}
	if ((flags & LLE_STATIC) != 0 || now < lle->lle_expire)
		return (false);
	switch (lle->lle_state) {
	case LLE_REACHABLE:
		if ((flags & LLE_USED) == 0 || (flags & LLE_VALID) == 0)
			break;
		lle->lle_state = LLE_STALE;
		lle->lle_asked = 0;
		/* FALLTHROUGH */
	case LLE_STALE:
	case LLE_INCOMPLETE:
		tick_ask_locked(lle, now, lp, ta);
		return (true);
	case LLE_FAILED:
		break;
	}
	lle->lle_table->lt_expired++;
	lle_unlink_locked(lle, &ta->ta_packets);
	ta->ta_what = TICK_FAIL;
	return (ta->ta_packets.lp_first != NULL);
}

/* Do what was found, without the mtx. */
static void
tick_act(struct ifnet *ifp, const struct lltable_proto *proto,
    struct tick_action *ta)
{
	switch (ta->ta_what) {
	case TICK_ASK:
		proto->lp_request(ifp, ta->ta_addr,
		    ta->ta_unicast ? ta->ta_hdr : NULL);
		break;
	case TICK_FAIL:
		llpackets_fail(ifp, ta->ta_addr, &ta->ta_packets);
		break;
	case TICK_SEND:
		llpackets_send(ifp, ta->ta_hdr, &ta->ta_packets);
		break;
	}
}

/*
 * Age the entries of bucket *b and later ones until the batch is full.  An
 * entry that was aged is not due again at the same now, so a bucket that was
 * not finished can be begun again.  Returns how many actions.
 */
static unsigned int
tick_batch_locked(struct lltable *lt, unsigned int *b, uint64_t now,
    const struct lltable_params *lp, struct tick_action *ta)
{
	struct llentry *lle, *next;
	unsigned int n = 0;

	for (; *b < LLTABLE_BUCKETS; (*b)++) {
		lle = atomic_load_explicit(&lt->lt_hash[*b],
		    memory_order_relaxed);
		for (; lle != NULL; lle = next) {
			if (n == TICK_BATCH)
				return (n);
			next = atomic_load_explicit(&lle->lle_next,
			    memory_order_relaxed);
			if (tick_entry_locked(lle, now, lp, &ta[n]))
				n++;
		}
	}
	return (n);
}

static void
lltable_age(struct ifnet *ifp, struct lltable *lt, uint64_t now,
    const struct lltable_proto *proto)
{
	struct tick_action ta[TICK_BATCH];
	unsigned int b = 0, expired, i, n;

	while (b < LLTABLE_BUCKETS) {
		mtx_lock(&lt->lt_mtx);
		if (lt->lt_count == 0)
			b = LLTABLE_BUCKETS;
		n = tick_batch_locked(lt, &b, now, proto->lp_params, ta);
		expired = lt->lt_expired;
		lt->lt_expired = 0;
		lltable_unlock(lt);
		if (expired != 0 && proto->lp_expired != NULL)
			proto->lp_expired(ifp, expired);
		for (i = 0; i < n; i++)
			tick_act(ifp, proto, &ta[i]);
	}
}

void
lltable_tick(struct vnet *vnet, uint64_t now)
{
	const struct lltable_proto *proto;
	struct lltable *lt;
	struct ifnet *ifp;

	NET_EPOCH_ASSERT();

	CK_STAILQ_FOREACH(ifp, &vnet->v_ifnets, if_link) {
		if_seen(ifp);
		proto = lltable_proto(ifp);
		lt = lltable_of(ifp);
		if (lt != NULL && proto != NULL)
			lltable_age(ifp, lt, now, proto);
	}
}

/* ---- The control plane ---- */

/*
 * Put a new entry in the place of whatever addr has, which must not be our own
 * address.  Packets that waited are kept: the tick sends them.
 */
static int
lla_replace_locked(struct lltable *lt, struct in_addr addr,
    const uint8_t *mac, uint32_t flags, uint64_t expire)
{
	struct llentry *lle, *old;
	struct llpackets held;

	old = lle_find_locked(lt, addr);
	if (old != NULL && (lle_get_flags(old) & LLE_IFADDR) != 0)
		return (EPERM);
	if (lt->lt_dead)
		return (ENXIO);
	if ((lle = lle_alloc(lt, addr)) == NULL)
		return (ENOMEM);
	lle_fill_locked(lle, mac);
	lle->lle_state = LLE_REACHABLE;
	lle->lle_expire = expire;
	if ((flags & (LLE_BLACKHOLE | LLE_REJECT)) == 0)
		flags |= LLE_VALID;
	lle_set_flags(lle, flags);
	lle_link_locked(lt, lle);
	if (old == NULL)
		return (0);
	llpackets_init(&held);
	lt->lt_nheld += old->lle_nhold;
	lle->lle_nhold = old->lle_nhold;
	lle_unlink_locked(old, &held);
	if ((lle->lle_hold = held.lp_first) != NULL)
		lle->lle_holdtail = held.lp_last;
	return (0);
}

/*
 * Set the MAC of addr.  flags: LLE_STATIC, _PUB, _BLACKHOLE, _REJECT; lifetime
 * in seconds, 0: permanent, whether LLE_STATIC is said or not.  Errors: EPERM,
 * our own address; EINVAL, another flag; ENXIO, no neighbours here; ENOMEM.
 */
int
lla_set(struct ifnet *ifp, struct in_addr addr, const uint8_t *mac,
    uint32_t flags, uint32_t lifetime)
{
	struct lltable *lt = lltable_of(ifp);
	uint64_t expire = 0;
	int error;

	VNET_CONFIG_ASSERT(ifp->if_vnet);
	NET_EPOCH_ASSERT_NOT();

	if ((flags & ~(uint32_t)(LLE_STATIC | LLE_PUB | LLE_BLACKHOLE |
	    LLE_REJECT)) != 0)
		return (EINVAL);
	if (lt == NULL)
		return (ENXIO);
	flags |= LLE_STATIC;
	if (lifetime != 0) {
		flags &= ~(uint32_t)LLE_STATIC;
		expire = time_ns() + lifetime * LLTABLE_SECOND;
	}
	mtx_lock(&lt->lt_mtx);
	error = lla_replace_locked(lt, addr, mac, flags, expire);
	lltable_unlock(lt);
	return (error);
}

/* Forget addr.  ENOENT; EPERM, our own address. */
int
lla_delete(struct ifnet *ifp, struct in_addr addr)
{
	struct lltable *lt = lltable_of(ifp);
	struct llpackets held;
	struct llentry *lle;
	int error = 0;

	VNET_CONFIG_ASSERT(ifp->if_vnet);

	if (lt == NULL)
		return (ENOENT);
	llpackets_init(&held);
	mtx_lock(&lt->lt_mtx);
	lle = lle_find_locked(lt, addr);
	if (lle == NULL)
		error = ENOENT;
	else if ((lle_get_flags(lle) & LLE_IFADDR) != 0)
		error = EPERM;
	else
		lle_unlink_locked(lle, &held);
	lltable_unlock(lt);
	llpackets_drop(ifp, &held, IFD_ARPHOLD);
	return (error);
}

/* Unlink what match says of all entries; returns how many. */
static unsigned int
lltable_remove(struct ifnet *ifp,
    bool (*match)(struct llentry *lle, const void *arg), const void *arg)
{
	struct lltable *lt = lltable_of(ifp);
	struct llentry *lle, *next;
	struct llpackets held;
	unsigned int b, n = 0;

	if (lt == NULL)
		return (0);
	llpackets_init(&held);
	mtx_lock(&lt->lt_mtx);
	for (b = 0; b < LLTABLE_BUCKETS && lt->lt_count != 0; b++) {
		lle = atomic_load_explicit(&lt->lt_hash[b],
		    memory_order_relaxed);
		for (; lle != NULL; lle = next) {
			next = atomic_load_explicit(&lle->lle_next,
			    memory_order_relaxed);
			if (!match(lle, arg))
				continue;
			lle_unlink_locked(lle, &held);
			n++;
		}
	}
	lltable_unlock(lt);
	llpackets_drop(ifp, &held, IFD_ARPHOLD);
	return (n);
}

/* Everything but our own addresses; arg: also what is static? */
static bool
lla_flush_match(struct llentry *lle, const void *arg)
{
	const bool *statics = arg;
	uint32_t flags = lle_get_flags(lle);

	return ((flags & LLE_IFADDR) == 0 &&
	    (*statics || (flags & LLE_STATIC) == 0));
}

/* Forget all, or all that was learned; returns how many. */
unsigned int
lla_flush(struct ifnet *ifp, bool statics)
{
	VNET_CONFIG_ASSERT(ifp->if_vnet);

	return (lltable_remove(ifp, lla_flush_match, &statics));
}

static bool
lla_silent_match(struct llentry *lle, const void *arg)
{
	(void)arg;
	return (lle->lle_state == LLE_INCOMPLETE ||
	    lle->lle_state == LLE_FAILED);
}

/*
 * A link is there that was not: that a neighbour was silent on it means
 * nothing, and the next packet asks anew instead of waiting for lp_wait.
 */
void
lltable_link_changed(struct ifnet *ifp)
{
	VNET_CONFIG_ASSERT(ifp->if_vnet);

	(void)lltable_remove(ifp, lla_silent_match, NULL);
}

static int
lla_info_compare(const void *a, const void *b)
{
	const struct lla_info *la = a, *lb = b;
	uint32_t x = ntohl(la->li_addr.s_addr), y = ntohl(lb->li_addr.s_addr);

	return (x < y ? -1 : x > y);
}

static void
lla_info_fill(struct llentry *lle, uint64_t now, struct lla_info *li)
{
	li->li_addr = lle->lle_addr;
	memcpy(li->li_mac, lle->lle_hdr, ETHER_ADDR_LEN);
	li->li_flags = lle_get_flags(lle);
	li->li_state = lle->lle_state;
	li->li_nhold = lle->lle_nhold;
	li->li_expire = 0;
	if ((li->li_flags & LLE_STATIC) == 0)
		li->li_expire = lle->lle_expire > now ?
		    lle->lle_expire - now : 1;
}

/*
 * Call fn for each neighbour in order of address, without a lock: it may take
 * its time.  Stops at non-zero and returns it; ENOMEM before the first call.
 */
int
lla_walk(struct ifnet *ifp,
    int (*fn)(struct ifnet *ifp, const struct lla_info *li, void *arg),
    void *arg)
{
	struct lltable *lt = lltable_of(ifp);
	struct lla_info *li;
	struct llentry *lle;
	uint64_t now = time_ns();
	unsigned int b, i, n = 0;
	int error = 0;

	VNET_CONFIG_ASSERT(ifp->if_vnet);

	if (lt == NULL)
		return (0);
	mtx_lock(&lt->lt_mtx);
	li = calloc(lt->lt_count + 1, sizeof(*li));
	for (b = 0; li != NULL && b < LLTABLE_BUCKETS; b++) {
		lle = atomic_load_explicit(&lt->lt_hash[b],
		    memory_order_relaxed);
		for (; lle != NULL; lle = atomic_load_explicit(&lle->lle_next,
		    memory_order_relaxed))
			lla_info_fill(lle, now, &li[n++]);
	}
	lltable_unlock(lt);
	if (li == NULL)
		return (ENOMEM);
	qsort(li, n, sizeof(*li), lla_info_compare);
	for (i = 0; i < n && error == 0; i++)
		error = fn(ifp, &li[i], arg);
	free(li);
	return (error);
}

/* ---- The interface's own addresses and MAC ---- */

/* Show our address among the neighbours.  ENOMEM. */
int
lltable_ifaddr_add(struct ifnet *ifp, const struct ifaddr *ifa)
{
	struct lltable *lt = lltable_of(ifp);
	struct llpackets held;
	struct llentry *lle, *old;

	if (lt == NULL || ifa->ifa_family != AF_INET)
		return (0);
	if ((lle = lle_alloc(lt, ifa->ifa_addr)) == NULL)
		return (ENOMEM);
	llpackets_init(&held);
	mtx_lock(&lt->lt_mtx);
	old = lle_find_locked(lt, ifa->ifa_addr);
	lle_fill_locked(lle, lt->lt_lladdr);
	lle->lle_state = LLE_REACHABLE;
	lle_set_flags(lle, LLE_VALID | LLE_STATIC | LLE_IFADDR);
	lle_link_locked(lt, lle);
	if (old != NULL)
		lle_unlink_locked(old, &held);
	lltable_unlock(lt);
	llpackets_drop(ifp, &held, IFD_ARPHOLD);
	return (0);
}

/* Is the entry a neighbour that only the address arg reaches, or itself? */
static bool
lltable_ifaddr_match(struct llentry *lle, const void *arg)
{
	const struct ifaddr *gone = arg;
	const struct ifaddr *ifa;

	if ((lle_get_flags(lle) & LLE_IFADDR) != 0)
		return (lle->lle_addr.s_addr == gone->ifa_addr.s_addr);
	if (!route_ifaddr_connects(gone, lle->lle_addr))
		return (false);
	CK_STAILQ_FOREACH(ifa, &gone->ifa_ifp->if_addrs, ifa_link)
		if (ifa != gone && ifa->ifa_family == AF_INET &&
		    route_ifaddr_connects(ifa, lle->lle_addr))
			return (false);
	return (true);
}

/* Our address went: so do the neighbours that only it reached. */
void
lltable_ifaddr_delete(struct ifnet *ifp, const struct ifaddr *ifa)
{
	if (ifa->ifa_family == AF_INET)
		(void)lltable_remove(ifp, lltable_ifaddr_match, ifa);
}

/* A copy of an entry whose header has the interface's new MAC. */
static void
lle_renew_locked(struct lltable *lt, struct llentry *old,
    struct llpackets *held)
{
	struct llentry *lle;
	uint32_t flags = lle_get_flags(old);

	lle = lle_alloc(lt, old->lle_addr);
	if (lle != NULL) {
		lle_fill_locked(lle, (flags & LLE_IFADDR) != 0 ?
		    lt->lt_lladdr : old->lle_hdr);
		lle->lle_state = old->lle_state;
		lle->lle_expire = old->lle_expire;
		lle->lle_asked = old->lle_asked;
		lle_set_flags(lle, flags);
		lle_link_locked(lt, lle);
	}
	/* Without memory the neighbour is asked for again. */
	lle_unlink_locked(old, held);
}

/*
 * The interface has another MAC: headers never change, so every entry that
 * has one is replaced.
 */
void
lltable_lladdr_changed(struct ifnet *ifp)
{
	struct lltable *lt = lltable_of(ifp);
	struct llentry *lle, *next;
	struct llpackets held;
	unsigned int b;

	if (lt == NULL)
		return;
	llpackets_init(&held);
	mtx_lock(&lt->lt_mtx);
	memcpy(lt->lt_lladdr, ifp->if_lladdr, ETHER_ADDR_LEN);
	for (b = 0; b < LLTABLE_BUCKETS; b++) {
		lle = atomic_load_explicit(&lt->lt_hash[b],
		    memory_order_relaxed);
		for (; lle != NULL; lle = next) {
			/* The copy is linked in front: not met again. */
			next = atomic_load_explicit(&lle->lle_next,
			    memory_order_relaxed);
			if (lle->lle_state == LLE_REACHABLE ||
			    lle->lle_state == LLE_STALE)
				lle_renew_locked(lt, lle, &held);
		}
	}
	lltable_unlock(lt);
	llpackets_drop(ifp, &held, IFD_ARPHOLD);
}
