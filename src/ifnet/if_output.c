/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Packets on their way out, and the counting of those that got nowhere.
 * Packet path: inside the epoch, any thread, no lock.
 */
#include <errno.h>
#include <string.h>

#include "ifnet/if_var.h"
#include "wire/ether.h"

uint64_t
if_counter(struct ifnet *ifp, enum if_counter c)
{

	return (counter_fetch(ifp->if_counters + c));
}

/* The column of netstat -i that a reason belongs to, or IFC_COUNT. */
static enum if_counter
if_drop_column(enum if_drop why)
{

	switch (why) {
	case IFD_NOMBUF:
	case IFD_RXRING:
		return (IFC_IQDROPS);
	case IFD_RXERR:
	case IFD_RUNT:
	case IFD_LLC:
	case IFD_ARPBAD:
	case IFD_IPTOOSMALL:
	case IFD_IPVERS:
	case IFD_IPHLEN:
	case IFD_IPSHORT:
	case IFD_IPLEN:
		return (IFC_IERRORS);
	case IFD_TXRING:
		return (IFC_OQDROPS);
	case IFD_TXERR:
	case IFD_TOOBIG:
	case IFD_GRAPH:
		return (IFC_OERRORS);
	case IFD_ETHERTYPE:
	case IFD_VLAN:
		return (IFC_NOPROTO);
	default:
		return (IFC_COUNT);
	}
}

void
if_count_drop(struct ifnet *ifp, enum if_drop why, uint64_t n)
{
	enum if_counter column = if_drop_column(why);

	if_inc(ifp, IFC_DROPS + (enum if_counter)why, n);
	if (column != IFC_COUNT)
		if_inc(ifp, column, n);
}

void
if_drop(struct ifnet *ifp, struct mbuf *m, enum if_drop why)
{

	if_count_drop(ifp, why, 1);
	m_freem(m);
}

void
if_drop_burst(struct ifnet *ifp, struct mbuf **m, unsigned int n,
    enum if_drop why)
{

	if_count_drop(ifp, why, n);
	m_free_burst(m, n);
}

_Thread_local unsigned int if_output_refused;

/* Counters are sums modulo 2^64, so taking back is adding the negative. */
void
if_output_failed(struct ifnet *ifp, unsigned int n, uint64_t bytes,
    enum if_drop why)
{

	if_output_refused += n;
	if_inc(ifp, IFC_OPACKETS, -(uint64_t)n);
	if_inc(ifp, IFC_OBYTES, -bytes);
	if_count_drop(ifp, why, n);
}

void
if_output_drop(struct ifnet *ifp, struct mbuf **m, unsigned int n,
    enum if_drop why)
{
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < n; i++)
		bytes += m[i]->m_pkthdr.len;
	if_output_failed(ifp, n, bytes, why);
	m_free_burst(m, n);
}

/* Put the tag from beside the frame into it; NULL: no room, m is freed. */
static struct mbuf *
vlan_encap(struct mbuf *m)
{
	struct ether_vlan_header *evl;

	if ((m = m_prepend(m, ETHER_VLAN_ENCAP_LEN)) == NULL)
		return (NULL);
	m = m_pullup(m, sizeof(*evl));
	if (m == NULL)
		return (NULL);
	evl = mtod(m, struct ether_vlan_header *);
	memmove(evl, (char *)evl + ETHER_VLAN_ENCAP_LEN, 2 * ETHER_ADDR_LEN);
	evl->evl_encap_proto = htons(m->m_pkthdr.ether_vproto);
	evl->evl_tag = htons(m->m_pkthdr.ether_vtag);
	m->m_flags &= ~(uint32_t)M_VLANTAG;
	m->m_pkthdr.csum_start += ETHER_VLAN_ENCAP_LEN;
	return (m);
}

/*
 * What a device cannot do is done here: the checksum, the tag, the padding
 * (with zeros: CVE-2003-0001).  NULL: m was dropped.
 */
static __attribute__((noinline)) struct mbuf *
if_prepare(struct ifnet *ifp, struct mbuf *m, uint32_t cap)
{
	static const char zero[64];
	uint32_t minlen = ifp->if_linktype->lt_minlen;

	if ((m->m_pkthdr.csum_flags & CSUM_PARTIAL) != 0 &&
	    (cap & IFCAP_TXCSUM) == 0 && !m_cksum_finish(m)) {
		if_drop(ifp, m, IFD_TXERR);
		return (NULL);
	}
	if ((m->m_flags & M_VLANTAG) != 0 &&
	    (cap & IFCAP_VLAN_HWTAGGING) == 0 &&
	    (m = vlan_encap(m)) == NULL) {
		if_count_drop(ifp, IFD_NOMBUF, 1);
		return (NULL);
	}
	if (m->m_pkthdr.len < minlen &&
	    m_append(m, minlen - m->m_pkthdr.len, zero) != 0) {
		if_drop(ifp, m, IFD_NOMBUF);
		return (NULL);
	}
	return (m);
}

/* Pad a frame of one mbuf with zeros to len bytes; false: no room behind. */
static inline bool
if_pad(struct mbuf *m, uint32_t len)
{
	uint32_t have = m->m_pkthdr.len;

	if (m->m_next != NULL || m_trailingspace(m) < len - have)
		return (false);
	memset(m->m_data + have, 0, len - have);
	m->m_len = m->m_pkthdr.len = len;
	return (true);
}

/*
 * Prepare what needs it in a burst; returns how many are left.  Most of it is
 * padding: every second packet of TCP is shorter than Ethernet's least.
 */
static __attribute__((noinline)) unsigned int
if_prepare_burst(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	uint32_t cap = atomic_load_explicit(&ifp->if_capenable,
	    memory_order_relaxed);
	uint32_t minlen = ifp->if_linktype->lt_minlen;
	unsigned int kept = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct mbuf *p = m[i];
		bool more = (p->m_pkthdr.csum_flags & CSUM_PARTIAL) != 0 ||
		    (p->m_flags & M_VLANTAG) != 0;

		if ((more || (p->m_pkthdr.len < minlen &&
		    !if_pad(p, minlen))) &&
		    (p = if_prepare(ifp, p, cap)) == NULL)
			continue;
		m[kept++] = p;
	}
	return (kept);
}

/* ---- Hooks ---- */

int
if_hook_add(struct ifnet *ifp, enum if_hookpoint hp, struct if_hook *ih)
{

	VNET_CONFIG_ASSERT(ifp->if_vnet);

	if (atomic_load_explicit(&ifp->if_hook[hp],
	    memory_order_relaxed) != NULL)
		return (EBUSY);
	/* Pairs with the acquire in if_hook_call(). */
	atomic_store_explicit(&ifp->if_hook[hp], ih, memory_order_release);
	atomic_fetch_or_explicit(&ifp->if_hooks, 1u << hp,
	    memory_order_relaxed);
	return (0);
}

void
if_hook_remove(struct ifnet *ifp, enum if_hookpoint hp, struct if_hook *ih)
{

	VNET_CONFIG_ASSERT(ifp->if_vnet);

	if (atomic_load_explicit(&ifp->if_hook[hp],
	    memory_order_relaxed) != ih)
		return;
	atomic_fetch_and_explicit(&ifp->if_hooks, ~(1u << hp),
	    memory_order_relaxed);
	atomic_store_explicit(&ifp->if_hook[hp], NULL, memory_order_release);
}

bool
if_hook_call(struct ifnet *ifp, enum if_hookpoint hp, struct mbuf **m,
    unsigned int n)
{
	struct if_hook *ih;

	NET_EPOCH_ASSERT();

	ih = atomic_load_explicit(&ifp->if_hook[hp], memory_order_acquire);
	if (ih == NULL)
		return (false);
	ih->ih_fn(ih, ifp, m, n);
	return (true);
}

/* ---- Transmitting ---- */

/* To the driver of an interface that is up. */
static inline __attribute__((always_inline)) void
if_transmit_driver(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	uint32_t csum = 0, minlen = UINT32_MAX, mflags = 0;
	uint64_t bytes = 0;

	/* In the usual case there is nothing to do, and no branch. */
	for (unsigned int i = 0; i < n; i++) {
		uint32_t len = m[i]->m_pkthdr.len;

		mflags |= m[i]->m_flags;
		csum |= m[i]->m_pkthdr.csum_flags;
		minlen = len < minlen ? len : minlen;
		bytes += len;
	}
	if (__predict_false((mflags & M_VLANTAG) != 0 ||
	    (csum & CSUM_PARTIAL) != 0 ||
	    minlen < ifp->if_linktype->lt_minlen)) {
		n = if_prepare_burst(ifp, m, n);
		if (n == 0)
			return;
		bytes = 0;
		for (unsigned int i = 0; i < n; i++)
			bytes += m[i]->m_pkthdr.len;
	}
	if_inc(ifp, IFC_OPACKETS, n);
	if_inc(ifp, IFC_OBYTES, bytes);
	atomic_load_explicit(&ifp->if_output, memory_order_acquire)(ifp, m,
	    n);
}

static void
if_transmit_down(struct ifnet *ifp, struct mbuf **m, unsigned int n,
    uint32_t flags)
{

	if_output_refused += n;
	if_drop_burst(ifp, m, n, (flags & IFF_DYING) != 0 ? IFD_NOIF :
	    IFD_DOWN);
}

/*
 * The interface is down, or somebody is in the way: he gets tags as they are,
 * and checksums finished where the interface does not do that.
 */
static __attribute__((noinline)) void
if_transmit_slow(struct ifnet *ifp, struct mbuf **m, unsigned int n,
    uint32_t flags)
{
	unsigned int kept = 0;

	if ((flags & (IFF_UP | IFF_RUNNING)) != (IFF_UP | IFF_RUNNING)) {
		if_transmit_down(ifp, m, n, flags);
		return;
	}
	if ((atomic_load_explicit(&ifp->if_capenable, memory_order_relaxed) &
	    IFCAP_TXCSUM) == 0) {
		for (unsigned int i = 0; i < n; i++)
			if ((m[i]->m_pkthdr.csum_flags & CSUM_PARTIAL) == 0 ||
			    m_cksum_finish(m[i]))
				m[kept++] = m[i];
			else
				if_drop(ifp, m[i], IFD_TXERR);
		n = kept;
	}
	if (n != 0 && !if_hook_call(ifp, IFH_UPPER, m, n))
		if_transmit_driver(ifp, m, n);
}

void
if_transmit(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	uint32_t flags, hooks;

	NET_EPOCH_ASSERT();
	KASSERT(n <= MBUF_BURST, "burst of %u", n);

	flags = atomic_load_explicit(&ifp->if_flags, memory_order_relaxed);
	hooks = atomic_load_explicit(&ifp->if_hooks, memory_order_relaxed);
	if (__predict_false((((flags & (IFF_UP | IFF_RUNNING)) ^
	    (IFF_UP | IFF_RUNNING)) | (hooks & 1u << IFH_UPPER)) != 0)) {
		if_transmit_slow(ifp, m, n, flags);
		return;
	}
	if_transmit_driver(ifp, m, n);
}

int
if_transmit_lower(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	unsigned int before = if_output_refused;
	uint32_t flags;

	NET_EPOCH_ASSERT();
	KASSERT(n <= MBUF_BURST, "burst of %u", n);

	flags = atomic_load_explicit(&ifp->if_flags, memory_order_relaxed);
	if ((flags & (IFF_UP | IFF_RUNNING)) != (IFF_UP | IFF_RUNNING)) {
		if_transmit_down(ifp, m, n, flags);
		return (ENETDOWN);
	}
	if_transmit_driver(ifp, m, n);
	return (if_output_refused != before ? ENOBUFS : 0);
}

/*
 * The slot of ifp with room for one more: its home, or the first after it that
 * is free; its home when none is.  Sends what is in the way.
 */
unsigned int
if_txburst_slot(struct if_txburst *tb, struct ifnet *ifp)
{
	unsigned int home = ifp->if_index % IF_TXBURST_SLOTS, s = home;

	do {
		if (tb->tb_ifp[s] == NULL)
			tb->tb_ifp[s] = ifp;
		if (tb->tb_ifp[s] == ifp)
			break;
		s = (s + 1) % IF_TXBURST_SLOTS;
	} while (s != home);
	if (tb->tb_ifp[s] == ifp && tb->tb_n[s] < MBUF_BURST)
		return (s);
	if_transmit(tb->tb_ifp[s], tb->tb_m[s], tb->tb_n[s]);
	tb->tb_ifp[s] = ifp;
	tb->tb_n[s] = 0;
	return (s);
}

void
if_txburst_flush(struct if_txburst *tb)
{

	for (unsigned int s = 0; s < IF_TXBURST_SLOTS; s++) {
		if (tb->tb_n[s] != 0)
			if_transmit(tb->tb_ifp[s], tb->tb_m[s], tb->tb_n[s]);
		tb->tb_ifp[s] = NULL;
		tb->tb_n[s] = 0;
	}
}
