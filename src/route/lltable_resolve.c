/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Resolution: a packet asks for a header, the wire tells one.  Inside the
 * epoch, on any thread; the table's mtx is taken only off the beaten track,
 * and nothing is sent or answered under it.
 */

#include <string.h>

#include "route/lltable_private.h"
#include "sys/thread.h"

/* Entries with one of these are the operator's: the wire changes nothing. */
#define	LLE_FIXED	(LLE_STATIC | LLE_BLACKHOLE | LLE_REJECT)

/* What is to be done with the packet once the mtx is free. */
enum resolve {
	RESOLVE_SEND,		/* the header is known */
	RESOLVE_HELD,		/* it waits */
	RESOLVE_ASK,		/* it waits, and the question is to be sent */
	RESOLVE_FAIL,		/* the neighbour is silent */
	RESOLVE_DROP,		/* no room, or not wanted */
};

/* Remember the entry in a gateway's nexthop, so that packets find it there. */
static void
nhop_set_lle(const struct nhop *cnh, struct llentry *lle)
{
	struct nhop *nh = (struct nhop *)(uintptr_t)cnh;
	struct llentry *old;

	MTX_ASSERT(&lle->lle_table->lt_mtx);

	old = atomic_load_explicit(&nh->nh_lle, memory_order_relaxed);
	if (old == lle)
		return;
	/* Linked, so the table's reference is there: this is not from zero. */
	atomic_fetch_add_explicit(&lle->lle_refs, 1, memory_order_relaxed);
	atomic_store_explicit(&nh->nh_lle, lle, memory_order_release);
	if (old != NULL)
		lle_rele(old);
}

/* A new entry that asks for addr, or NULL: not wanted, no room, no memory. */
static struct llentry *
resolve_begin_locked(struct lltable *lt, struct in_addr addr,
    const struct lltable_params *lp, struct llpackets *out)
{
	struct llentry *lle;
	uint32_t flags;

	flags = atomic_load_explicit(&lt->lt_ifp->if_flags,
	    memory_order_relaxed);
	if (lt->lt_dead || (flags & (IFF_NOARP | IFF_STATICARP)) != 0)
		return (NULL);
	if (lt->lt_count >= (uint32_t)lltable_param(&lp->lp_maxentries) &&
	    !lle_evict_locked(lt, out))
		return (NULL);
	if ((lle = lle_alloc(lt, addr)) == NULL)
		return (NULL);
	lle->lle_asked = 1;
	lle->lle_expire = time_ns() + LLTABLE_SECOND;
	lle_link_locked(lt, lle);
	return (lle);
}

/*
 * Decide about m, with the current entry of addr.  On RESOLVE_SEND hdr is
 * filled; on _HELD and _ASK m is gone.  Packets pushed out of a queue go to
 * out.
 */
static enum resolve
resolve_locked(struct lltable *lt, const struct nhop *nh, struct in_addr addr,
    struct mbuf *m, const struct lltable_params *lp, uint8_t *hdr,
    struct llpackets *out)
{
	enum resolve what = RESOLVE_HELD;
	struct llentry *lle;
	uint32_t flags;

	lle = lle_find_locked(lt, addr);
	if (lle == NULL) {
		lle = resolve_begin_locked(lt, addr, lp, out);
		if (lle == NULL)
			return (RESOLVE_DROP);
		what = RESOLVE_ASK;
	}
	if ((nh->nh_flags & NHF_GATEWAY) != 0)
		nhop_set_lle(nh, lle);
	flags = lle_get_flags(lle);
	if ((flags & LLE_REJECT) != 0)
		return (RESOLVE_FAIL);
	if ((flags & LLE_BLACKHOLE) != 0)
		return (RESOLVE_DROP);
	if ((flags & LLE_VALID) != 0) {
		if ((flags & LLE_USED) == 0)
			lle_set_flags(lle, LLE_USED);
		memcpy(hdr, lle->lle_hdr, ETHER_HDR_LEN);
		return (RESOLVE_SEND);
	}
	if (lle->lle_state == LLE_FAILED)
		return (RESOLVE_FAIL);
	if (!lle_hold_locked(lle, m, lltable_param(&lp->lp_maxhold), out)) {
		m->m_nextpkt = NULL;
		*out->lp_last = m;
		out->lp_last = &m->m_nextpkt;
	}
	return (what);
}

/*
 * What nhop_resolve() does when the header is not at hand: first packet to a
 * neighbour, no entry, one that was replaced, or no room in front of m; or a
 * link without headers.
 */
bool
nhop_resolve_slow(const struct nhop *nh, struct in_addr dst, struct mbuf *m)
{
	const struct lltable_proto *proto;
	struct ifnet *ifp = nh->nh_ifp;
	struct lltable *lt = lltable_of(ifp);
	struct llpackets out, self;
	struct in_addr addr;
	uint8_t hdr[ETHER_HDR_LEN];
	enum resolve what;

	NET_EPOCH_ASSERT();

	if (ifp->if_type == IFT_PROPVIRTUAL)
		return (true);
	addr = (nh->nh_flags & NHF_GATEWAY) != 0 ? nh->nh_gw : dst;
	proto = lltable_proto(ifp);
	if (lt == NULL || proto == NULL) {
		if_drop(ifp, m, IFD_NOIF);
		return (false);
	}
	llpackets_init(&out);
	mtx_lock(&lt->lt_mtx);
	what = resolve_locked(lt, nh, addr, m, proto->lp_params, hdr, &out);
	lltable_unlock(lt);
	llpackets_drop(ifp, &out, IFD_ARPHOLD);

	switch (what) {
	case RESOLVE_SEND:
		if (m_leadingspace(m) < ETHER_HDR_LEN)
			break;
		m->m_data -= ETHER_HDR_LEN;
		m->m_len += ETHER_HDR_LEN;
		m->m_pkthdr.len += ETHER_HDR_LEN;
		m->m_pkthdr.csum_start += ETHER_HDR_LEN;
		memcpy(m->m_data, hdr, ETHER_HDR_LEN);
		return (true);
	case RESOLVE_ASK:
		proto->lp_request(ifp, addr, NULL);
		return (false);
	case RESOLVE_HELD:
		return (false);
	case RESOLVE_FAIL:
		proto->lp_failed(ifp, addr, m);
		return (false);
	case RESOLVE_DROP:
		if_drop(ifp, m, IFD_ARPFAIL);
		return (false);
	}
	/* No room in this frame: send it from here, in a new chain. */
	llpackets_init(&self);
	m->m_nextpkt = NULL;
	*self.lp_last = m;
	self.lp_last = &m->m_nextpkt;
	llpackets_send(ifp, hdr, &self);
	return (false);
}

/* ---- What the wire tells ---- */

/* The entry is right as of now. */
static void
lle_confirm_locked(struct llentry *lle, const struct lltable_params *lp)
{
	lle->lle_state = LLE_REACHABLE;
	lle->lle_asked = 0;
	lle->lle_expire = time_ns() +
	    (uint64_t)lltable_param(&lp->lp_max_age) * LLTABLE_SECOND;
	atomic_fetch_and_explicit(&lle->lle_flags, ~(uint32_t)LLE_USED,
	    memory_order_relaxed);
}

/*
 * A current entry of addr with this MAC.  old, if not NULL, is the entry to
 * replace; it stays findable until the new one is.  NULL: no memory.
 */
static struct llentry *
lle_enter_locked(struct lltable *lt, struct in_addr addr, const uint8_t *mac,
    struct llentry *old, const struct lltable_params *lp,
    struct llpackets *out)
{
	struct llentry *lle;

	if ((lle = lle_alloc(lt, addr)) == NULL)
		return (NULL);
	lle_fill_locked(lle, mac);
	lle_confirm_locked(lle, lp);
	lle_set_flags(lle, LLE_VALID);
	/* In front of old in the same chain: readers meet the new one. */
	lle_link_locked(lt, lle);
	if (old != NULL)
		lle_unlink_locked(old, out);
	return (lle);
}

/*
 * Note that addr is at mac.  Packets to be sent go to send, such that lose
 * their place to drop.
 */
static enum lla_heard
lla_heard_locked(struct lltable *lt, struct in_addr addr, const uint8_t *mac,
    bool create, uint8_t *old, const struct lltable_params *lp,
    struct llpackets *send, struct llpackets *drop)
{
	struct llentry *lle;
	uint32_t flags;

	if (lt->lt_dead)
		return (LLA_NONE);
	lle = lle_find_locked(lt, addr);
	if (lle == NULL) {
		if (!create)
			return (LLA_NONE);
		if (lt->lt_count >=
		    (uint32_t)lltable_param(&lp->lp_maxentries) &&
		    !lle_evict_locked(lt, drop))
			return (LLA_FULL);
		lle = lle_enter_locked(lt, addr, mac, NULL, lp, send);
		return (lle == NULL ? LLA_FULL : LLA_NEW);
	}
	flags = lle_get_flags(lle);
	if ((flags & (LLE_FIXED | LLE_VALID)) == 0) {
		lle_fill_locked(lle, mac);
		lle_confirm_locked(lle, lp);
		lle_set_flags(lle, LLE_VALID);
		lle_take_locked(lle, send);
		return (LLA_NEW);
	}
	memcpy(old, lle->lle_hdr, ETHER_ADDR_LEN);
	if (ether_addr_equal(old, mac)) {
		if ((flags & LLE_FIXED) == 0)
			lle_confirm_locked(lle, lp);
		return (LLA_SAME);
	}
	if ((flags & LLE_FIXED) != 0)
		return (LLA_STATIC);
	lle = lle_enter_locked(lt, addr, mac, lle, lp, send);
	return (lle == NULL ? LLA_FULL : LLA_MOVED);
}

enum lla_heard
lla_heard(struct ifnet *ifp, struct in_addr addr, const uint8_t *mac,
    bool create, uint8_t *old)
{
	const struct lltable_proto *proto;
	struct lltable *lt = lltable_of(ifp);
	struct llpackets drop, send;
	struct ether_header eh;
	enum lla_heard what;

	NET_EPOCH_ASSERT();

	proto = lltable_proto(ifp);
	if (lt == NULL || proto == NULL)
		return (LLA_NONE);
	llpackets_init(&drop);
	llpackets_init(&send);
	memcpy(eh.ether_dhost, mac, ETHER_ADDR_LEN);
	eh.ether_type = htons(ETHERTYPE_IP);
	mtx_lock(&lt->lt_mtx);
	memcpy(eh.ether_shost, lt->lt_lladdr, ETHER_ADDR_LEN);
	what = lla_heard_locked(lt, addr, mac, create, old, proto->lp_params,
	    &send, &drop);
	lltable_unlock(lt);
	llpackets_drop(ifp, &drop, IFD_ARPHOLD);
	llpackets_send(ifp, (const uint8_t *)&eh, &send);
	return (what);
}
