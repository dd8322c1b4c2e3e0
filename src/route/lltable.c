/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The neighbours of an interface: a hash table of entries, read by packets
 * inside the epoch without a lock, written under the table's mtx from the
 * packet path, the ageing tick and the control plane.
 *
 * An entry is linked as long as it is current.  Its header is written once,
 * before LLE_VALID is set (release; pairs with the acquire of whoever uses
 * the header); another MAC means another entry, linked before the old one is
 * unlinked.  An unlinked entry is marked LLE_DELETED and is as good as not
 * found, whoever still holds it; nothing is armed for it, because ageing walks
 * the chains under the lock and meets linked entries only.  It is freed a
 * grace period after its last reference: the table's or a nexthop's.
 *
 * No protocol method, transmission or drop with an answer happens under the
 * mtx: packets to be handled are collected and handled afterwards.
 *
 * This file is the table; resolution is in lltable_resolve.c, ageing and the
 * control plane in lltable_ctl.c.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "route/lltable_private.h"
#include "sys/thread.h"

/* ---- Packets in hand ---- */

/* Take the first packet out. */
static struct mbuf *
llpackets_next(struct llpackets *lp)
{
	struct mbuf *m = lp->lp_first;

	if (m != NULL && (lp->lp_first = m->m_nextpkt) == NULL)
		lp->lp_last = &lp->lp_first;
	if (m != NULL)
		m->m_nextpkt = NULL;
	return (m);
}

/* Drop them all, counted on ifp. */
void
llpackets_drop(struct ifnet *ifp, struct llpackets *lp, enum if_drop why)
{
	struct mbuf *m;

	while ((m = llpackets_next(lp)) != NULL)
		if_drop(ifp, m, why);
}

/*
 * addr is silent: let the protocol answer the senders.  Inside the epoch.  A
 * packet that waited has lost its receiving interface; it gets it back, if
 * that is still there.
 */
void
llpackets_fail(struct ifnet *ifp, struct in_addr addr, struct llpackets *lp)
{
	const struct lltable_proto *proto = lltable_proto(ifp);
	struct mbuf *m;

	if (proto == NULL) {
		llpackets_drop(ifp, lp, IFD_ARPFAIL);
		return;
	}
	while ((m = llpackets_next(lp)) != NULL) {
		if (m->m_cookie[0] != 0)
			m->m_pkthdr.rcvif = if_byindex(ifp->if_vnet,
			    (uint32_t)m->m_cookie[0]);
		proto->lp_failed(ifp, addr, m);
	}
}

/* Put the link header in front and transmit.  Inside the epoch. */
void
llpackets_send(struct ifnet *ifp, const uint8_t *hdr, struct llpackets *lp)
{
	struct mbuf *burst[MBUF_BURST], *m;
	unsigned int n = 0;

	while ((m = llpackets_next(lp)) != NULL) {
		if ((m = m_prepend(m, ETHER_HDR_LEN)) == NULL) {
			if_count_drop(ifp, IFD_NOMBUF, 1);
			continue;
		}
		memcpy(m->m_data, hdr, ETHER_HDR_LEN);
		m->m_pkthdr.csum_start += ETHER_HDR_LEN;
		burst[n++] = m;
		if (n == MBUF_BURST) {
			if_transmit(ifp, burst, n);
			n = 0;
		}
	}
	if (n != 0)
		if_transmit(ifp, burst, n);
}

/* ---- Entries ---- */

static void
lle_free_cb(epoch_context_t ctx)
{
	free(__containerof(ctx, struct llentry, lle_ctx));
}

/* Give up a reference.  Any thread; under lt_mtx inside the epoch only. */
void
lle_rele(struct llentry *lle)
{
	if (atomic_fetch_sub_explicit(&lle->lle_refs, 1,
	    memory_order_acq_rel) == 1)
		NET_EPOCH_CALL(lle_free_cb, &lle->lle_ctx);
}

/* The entry of addr, or NULL. */
struct llentry *
lle_find_locked(struct lltable *lt, struct in_addr addr)
{
	struct llentry *lle;

	MTX_ASSERT(&lt->lt_mtx);

	lle = atomic_load_explicit(&lt->lt_hash[lltable_bucket(lt, addr)],
	    memory_order_relaxed);
	while (lle != NULL && lle->lle_addr.s_addr != addr.s_addr)
		lle = atomic_load_explicit(&lle->lle_next,
		    memory_order_relaxed);
	return (lle);
}

/*
 * A new entry, not linked, incomplete, with the reference that the table will
 * hold.  NULL: no memory.
 */
struct llentry *
lle_alloc(struct lltable *lt, struct in_addr addr)
{
	struct llentry *lle;

	lle = aligned_alloc(CACHE_LINE_SIZE, sizeof(*lle));
	if (lle == NULL)
		return (NULL);
	memset(lle, 0, sizeof(*lle));
	lle->lle_addr = addr;
	lle->lle_table = lt;
	lle->lle_state = LLE_INCOMPLETE;
	lle->lle_holdtail = &lle->lle_hold;
	atomic_init(&lle->lle_refs, 1);
	return (lle);
}

/* Write the header of an entry that is not LLE_VALID: to, from, type. */
void
lle_fill_locked(struct llentry *lle, const uint8_t *mac)
{
	struct lltable *lt = lle->lle_table;
	struct ether_header eh;

	MTX_ASSERT(&lt->lt_mtx);
	KASSERT((lle_get_flags(lle) & LLE_VALID) == 0, "header in use");

	memcpy(eh.ether_dhost, mac, ETHER_ADDR_LEN);
	memcpy(eh.ether_shost, lt->lt_lladdr, ETHER_ADDR_LEN);
	eh.ether_type = htons(ETHERTYPE_IP);
	memcpy(lle->lle_hdr, &eh, sizeof(eh));
}

/* Make the entry findable; the release publishes what is in it. */
void
lle_link_locked(struct lltable *lt, struct llentry *lle)
{
	unsigned int b = lltable_bucket(lt, lle->lle_addr);

	MTX_ASSERT(&lt->lt_mtx);

	atomic_store_explicit(&lle->lle_next,
	    atomic_load_explicit(&lt->lt_hash[b], memory_order_relaxed),
	    memory_order_relaxed);
	atomic_store_explicit(&lt->lt_hash[b], lle, memory_order_release);
	lt->lt_count++;
}

/* Move the packets that wait to out. */
void
lle_take_locked(struct llentry *lle, struct llpackets *out)
{
	struct lltable *lt = lle->lle_table;

	MTX_ASSERT(&lt->lt_mtx);

	if (lle->lle_hold == NULL)
		return;
	*out->lp_last = lle->lle_hold;
	out->lp_last = lle->lle_holdtail;
	lt->lt_nheld -= lle->lle_nhold;
	lle->lle_hold = NULL;
	lle->lle_holdtail = &lle->lle_hold;
	lle->lle_nhold = 0;
}

/*
 * Unlink: from now on nobody finds the entry, and whoever has it sees
 * LLE_DELETED.  Its packets go to out; the table's reference is given up by
 * lltable_unlock(), after which the caller does not look at it again.
 */
void
lle_unlink_locked(struct llentry *lle, struct llpackets *out)
{
	struct lltable *lt = lle->lle_table;
	_Atomic(struct llentry *) *link;
	struct llentry *p;

	MTX_ASSERT(&lt->lt_mtx);

	link = &lt->lt_hash[lltable_bucket(lt, lle->lle_addr)];
	while ((p = atomic_load_explicit(link, memory_order_relaxed)) != lle)
		link = &p->lle_next;
	/* A reader on lle goes on along lle_next, which stays. */
	atomic_store_explicit(link,
	    atomic_load_explicit(&lle->lle_next, memory_order_relaxed),
	    memory_order_release);
	lle_set_flags(lle, LLE_DELETED);
	lt->lt_count--;
	lle_take_locked(lle, out);
	lle->lle_gone = lt->lt_gone;
	lt->lt_gone = lle;
}

/*
 * Give the mtx up, then the references of the entries that were unlinked under
 * it.  Not before: outside the epoch a deferred call may have to wait for
 * readers, and one of them may be waiting for this mtx.
 */
void
lltable_unlock(struct lltable *lt)
{
	struct llentry *gone = lt->lt_gone, *next;

	lt->lt_gone = NULL;
	mtx_unlock(&lt->lt_mtx);
	for (; gone != NULL; gone = next) {
		next = gone->lle_gone;
		lle_rele(gone);
	}
}

/*
 * Make room in a full table: unlink an entry that was never resolved, found
 * from where the last search ended.  Scanning a large subnet from outside must
 * not keep real neighbours out.  False: none in the part that was looked at.
 */
bool
lle_evict_locked(struct lltable *lt, struct llpackets *out)
{
	struct llentry *lle;
	unsigned int n;

	MTX_ASSERT(&lt->lt_mtx);

	for (n = 0; n < LLTABLE_BUCKETS / 16; n++) {
		lt->lt_cursor = (lt->lt_cursor + 1) & (LLTABLE_BUCKETS - 1);
		lle = atomic_load_explicit(&lt->lt_hash[lt->lt_cursor],
		    memory_order_relaxed);
		for (; lle != NULL; lle = atomic_load_explicit(&lle->lle_next,
		    memory_order_relaxed)) {
			if (lle->lle_state != LLE_INCOMPLETE &&
			    lle->lle_state != LLE_FAILED)
				continue;
			lle_unlink_locked(lle, out);
			return (true);
		}
	}
	return (false);
}

/*
 * Keep m until the entry is resolved.  When maxhold packets wait already, the
 * oldest of them goes to out.  False, and m is still the caller's: the tables
 * hold as many packets as they may.
 */
bool
lle_hold_locked(struct llentry *lle, struct mbuf *m, int maxhold,
    struct llpackets *out)
{
	struct lltable *lt = lle->lle_table;
	struct ifnet *rcvif = m->m_pkthdr.rcvif;
	struct mbuf *old;

	MTX_ASSERT(&lt->lt_mtx);

	if (lle->lle_nhold != 0 && lle->lle_nhold >= (uint32_t)maxhold) {
		old = lle->lle_hold;
		if ((lle->lle_hold = old->m_nextpkt) == NULL)
			lle->lle_holdtail = &lle->lle_hold;
		lle->lle_nhold--;
		lt->lt_nheld--;
		old->m_nextpkt = NULL;
		*out->lp_last = old;
		out->lp_last = &old->m_nextpkt;
	}
	if (maxhold == 0 || lt->lt_nheld >= mbuf_nframes() / 8)
		return (false);
	/* The section ends, the packet stays: no pointer may go with it. */
	m->m_flags &= ~(uint32_t)M_COOKIE;
	m->m_cookie[0] = rcvif == NULL ? 0 : rcvif->if_index;
	m->m_pkthdr.rcvif = NULL;
	m->m_pkthdr.nh = NULL;
	m->m_stamp = time_coarse_ns();
	m->m_nextpkt = NULL;
	*lle->lle_holdtail = m;
	lle->lle_holdtail = &m->m_nextpkt;
	lle->lle_nhold++;
	lt->lt_nheld++;
	return (true);
}

/* ---- The table ---- */

/* What the protocol does for ifp's table; NULL before it said so. */
const struct lltable_proto *
lltable_proto(const struct ifnet *ifp)
{
	return (atomic_load_explicit(&ifp->if_vnet->v_rib->rib_llproto,
	    memory_order_acquire));
}

int
lltable_param(const _Atomic int *param)
{
	return (atomic_load_explicit(param, memory_order_relaxed));
}

struct llentry *
lla_lookup(struct ifnet *ifp, struct in_addr addr)
{
	struct lltable *lt = lltable_of(ifp);
	struct llentry *lle;

	NET_EPOCH_ASSERT();

	if (lt == NULL)
		return (NULL);
	lle = atomic_load_explicit(&lt->lt_hash[lltable_bucket(lt, addr)],
	    memory_order_acquire);
	while (lle != NULL && lle->lle_addr.s_addr != addr.s_addr)
		lle = atomic_load_explicit(&lle->lle_next,
		    memory_order_acquire);
	return (lle);
}

/* A table for an Ethernet interface that is being attached.  ENOMEM. */
int
lltable_alloc(struct ifnet *ifp)
{
	struct lltable *lt;

	if (ifp->if_type != IFT_ETHER)
		return (0);
	if ((lt = calloc(1, sizeof(*lt))) == NULL)
		return (ENOMEM);
	mtx_init(&lt->lt_mtx, "lltable");
	lt->lt_ifp = ifp;
	memcpy(lt->lt_lladdr, ifp->if_lladdr, ETHER_ADDR_LEN);
	if (getrandom(&lt->lt_seed, sizeof(lt->lt_seed), 0) !=
	    sizeof(lt->lt_seed))
		lt->lt_seed = (uint32_t)time_ns();
	lt->lt_seed |= 1;
	atomic_store_explicit(&ifp->if_lltable, lt, memory_order_release);
	return (0);
}

static void
lltable_free_cb(epoch_context_t ctx)
{
	struct lltable *lt = __containerof(ctx, struct lltable, lt_ctx);

	mtx_destroy(&lt->lt_mtx);
	free(lt);
}

/*
 * The interface goes: unlink all entries and the table.  Readers may still
 * hold it to the end of their section; it takes no entry any more.
 */
void
lltable_free(struct ifnet *ifp)
{
	struct lltable *lt = lltable_of(ifp);
	struct llpackets held;
	struct llentry *lle;
	unsigned int b;

	if (lt == NULL)
		return;
	atomic_store_explicit(&ifp->if_lltable, NULL, memory_order_release);
	llpackets_init(&held);
	mtx_lock(&lt->lt_mtx);
	lt->lt_dead = true;
	for (b = 0; b < LLTABLE_BUCKETS; b++)
		while ((lle = atomic_load_explicit(&lt->lt_hash[b],
		    memory_order_relaxed)) != NULL)
			lle_unlink_locked(lle, &held);
	lltable_unlock(lt);
	llpackets_drop(ifp, &held, IFD_NOIF);
	NET_EPOCH_CALL(lltable_free_cb, &lt->lt_ctx);
}
