/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Ethernet input and output.
 *
 * No state but the table of upper protocols, which is filled at set-up and
 * constant afterwards.  Input runs inside the epoch on whatever thread the
 * driver called from; this is the one place besides the intr room that enters
 * it, for interfaces flagged IFF_NEEDSEPOCH (reviews D23242, D39510).
 *
 * A burst is cut into runs of packets of one protocol; in the usual case that
 * is one run, handed up as it came.  The frames are not prefetched here: a
 * driver that has not touched them asks for their first lines when it takes
 * the burst from its ring, all at once, and the others have them already.
 *
 * Order of input: counters; an interface that is down drops; whoever has the
 * tap's place gets all; an interface that is only watched drops; then, if
 * somebody has the lower place, tags are taken out of the frames and
 * he gets all of them; else the protocols.  What those do not want goes to the
 * orphans' place, if somebody has it.
 */
#include <errno.h>
#include <string.h>

#include "ether/ether_var.h"
#include "sys/log.h"
#include "wire/ether.h"
#include "wire/ip.h"
#include "wire/ip6.h"

#define	ETHER_PROTOS	8

static struct {
	uint16_t	 ep_type;	/* (c) network order */
	ether_proto_fn	*ep_fn;		/* (c) */
} ether_protos[ETHER_PROTOS];

#ifdef INVARIANTS
static _Atomic bool ether_warned;	/* (a) relaxed; the belt speaks once */
#endif

/* The first eight bytes of a frame are its destination and two more. */
#define	MAC_MASK	UINT64_C(0x0000ffffffffffff)
/*
 * The eight bytes from the source on: the bit of a group address, the type.
 * No frame has a TAIL_NONE.
 */
#define	TAIL_TYPE	48		/* shift of the type, network order */
#define	TAIL_MASK	(UINT64_C(0xffff) << TAIL_TYPE | 1)
#define	TAIL_NONE	UINT64_C(2)
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
    "the masks are for little endian");

static inline uint64_t
mac_load(const void *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return (word & MAC_MASK);
}

static ether_proto_fn *
ether_proto_find(uint16_t type)
{

	for (int i = 0; i < ETHER_PROTOS && ether_protos[i].ep_fn != NULL; i++)
		if (ether_protos[i].ep_type == type)
			return (ether_protos[i].ep_fn);
	return (NULL);
}

int
ether_proto_register(uint16_t ethertype, ether_proto_fn *fn)
{
	ether_proto_fn *old = ether_proto_find(htons(ethertype));

	if (old != NULL)
		return (old == fn ? 0 : EEXIST);
	for (int i = 0; i < ETHER_PROTOS; i++)
		if (ether_protos[i].ep_fn == NULL) {
			ether_protos[i].ep_type = htons(ethertype);
			ether_protos[i].ep_fn = fn;
			return (0);
		}
	return (ENOSPC);
}

/*
 * Not a plain unicast frame to us: multicast, broadcast, another station's.
 * count: it was not counted yet.  False: m was dropped.
 */
static __attribute__((noinline)) bool
ether_check_dst(struct ifnet *ifp, struct mbuf *m, uint64_t dst, bool count)
{

	if ((dst & 1) != 0) {
		m->m_flags |= dst == MAC_MASK ? M_BCAST : M_MCAST;
		if (count)
			if_inc(ifp, IFC_IMCASTS, 1);
		return (true);
	}
	if_drop(ifp, m, IFD_NOTFORUS);
	return (false);
}

/*
 * Take a tag out of the frame, to stand beside it.  False: the frame is too
 * short for one, m was dropped.
 */
static bool
ether_vlan_decap(struct ifnet *ifp, struct mbuf *m)
{
	struct ether_vlan_header *evl;

	if (m->m_len < sizeof(*evl)) {
		if_drop(ifp, m, IFD_RUNT);
		return (false);
	}
	evl = mtod(m, struct ether_vlan_header *);
	m->m_pkthdr.ether_vtag = ntohs(evl->evl_tag);
	m->m_pkthdr.ether_vproto = ntohs(evl->evl_encap_proto);
	m->m_flags |= M_VLANTAG;
	memmove((char *)evl + ETHER_VLAN_ENCAP_LEN, evl, 2 * ETHER_ADDR_LEN);
	m_adj(m, ETHER_VLAN_ENCAP_LEN);
	m->m_pkthdr.csum_start -= ETHER_VLAN_ENCAP_LEN;
	return (true);
}

/* A frame that no protocol wants, whole. */
static void
ether_orphan(struct ifnet *ifp, struct mbuf **m, unsigned int n,
    enum if_drop why)
{

	if (!if_hooked(ifp, IFH_ORPHANS) ||
	    !if_hook_call(ifp, IFH_ORPHANS, m, n))
		if_drop_burst(ifp, m, n, why);
}

/*
 * A tagged frame, the tag beside it or in it.  VID 0 is a priority tag and
 * counts as none (802.1Q; D31515, D40442).  There are no VLAN interfaces, so
 * any other VID is unknown, and so is a second tag behind a priority tag.
 * False: m is gone.
 */
static __attribute__((noinline)) bool
ether_untag(struct ifnet *ifp, struct mbuf *m)
{
	const struct ether_header *eh;

	if ((m->m_flags & M_VLANTAG) == 0 && !ether_vlan_decap(ifp, m))
		return (false);
	eh = mtod(m, const struct ether_header *);
	if (ether_tag_vid(m->m_pkthdr.ether_vtag) != EVL_VLID_PRIO ||
	    ether_type_is_vlan(ntohs(eh->ether_type))) {
		m->m_pkthdr.rcvif = ifp;
		ether_orphan(ifp, &m, 1, IFD_VLAN);
		return (false);
	}
	m->m_flags &= ~(uint32_t)M_VLANTAG;
	return (true);
}

/* Take the link header off a frame whose type was read. */
static inline void
ether_strip(struct ifnet *ifp, struct mbuf *m)
{

	m->m_pkthdr.rcvif = ifp;
	m->m_pkthdr.l2len = ETHER_HDR_LEN;
	m->m_data += ETHER_HDR_LEN;
	m->m_len -= ETHER_HDR_LEN;
	m->m_pkthdr.len -= ETHER_HDR_LEN;
}

/*
 * A partial checksum's place is told from the new start.  It comes from a peer:
 * one that began in the IP header would be written over what will have been
 * checked by then, so it stays as it is (and wrong).  type: network order.
 */
static __attribute__((noinline)) void
ether_partial(struct mbuf *m, uint16_t type)
{
	uint32_t start = m->m_pkthdr.csum_start, hlen = 0;

	if (type == htons(ETHERTYPE_IPV6))
		hlen = sizeof(struct ip6_hdr);
	else if (type == htons(ETHERTYPE_IP))
		hlen = m->m_len == 0 ? IP_HDR_MAX :
		    (uint32_t)ip_hl(mtod(m, const struct ip *));
	if (start < ETHER_HDR_LEN + hlen)
		m->m_pkthdr.csum_flags &= (uint8_t)~CSUM_PARTIAL;
	m->m_pkthdr.csum_start = (uint16_t)(start - ETHER_HDR_LEN);
}

/*
 * One frame: check the header, find out what it carries.  The type in network
 * order, or ETHER_GONE when m is.
 */
#define	ETHER_GONE	0x10000
static inline uint32_t
ether_input_one(struct ifnet *ifp, struct mbuf *m, uint64_t own, bool count)
{
	const struct ether_header *eh;
	uint64_t dst;

	if (__predict_false(m->m_len < ETHER_HDR_LEN)) {
		if_drop(ifp, m, IFD_RUNT);
		return (ETHER_GONE);
	}
	eh = mtod(m, const struct ether_header *);
	dst = mac_load(eh->ether_dhost);
	if (__predict_false(dst != own) &&
	    !ether_check_dst(ifp, m, dst, count))
		return (ETHER_GONE);
	if (__predict_false((eh->ether_shost[0] & 1) != 0)) {
		if_drop(ifp, m, IFD_BADSRC);
		return (ETHER_GONE);
	}
	if (__predict_false((m->m_flags & M_VLANTAG) != 0 ||
	    eh->ether_type == htons(ETHERTYPE_VLAN) ||
	    eh->ether_type == htons(ETHERTYPE_QINQ))) {
		if (!ether_untag(ifp, m))
			return (ETHER_GONE);
		eh = mtod(m, const struct ether_header *);
	}
	ether_strip(ifp, m);
	if (__predict_false((m->m_pkthdr.csum_flags & CSUM_PARTIAL) != 0))
		ether_partial(m, eh->ether_type);
	return (eh->ether_type);
}

/* A run of frames of a type that nobody knows: put the headers back. */
static __attribute__((noinline)) void
ether_unknown(struct ifnet *ifp, struct mbuf **m, unsigned int n,
    uint16_t type)
{

	for (unsigned int i = 0; i < n; i++) {
		m[i]->m_data -= ETHER_HDR_LEN;
		m[i]->m_len += ETHER_HDR_LEN;
		m[i]->m_pkthdr.len += ETHER_HDR_LEN;
		m[i]->m_pkthdr.csum_start += ETHER_HDR_LEN;
	}
	ether_orphan(ifp, m, n, ntohs(type) < ETHERTYPE_MIN ? IFD_LLC :
	    IFD_ETHERTYPE);
}

/* Hand a run of one protocol up. */
static void
ether_deliver(struct ifnet *ifp, struct mbuf **m, unsigned int n,
    uint16_t type)
{
	ether_proto_fn *fn = ether_proto_find(type);

	if (fn != NULL)
		fn(ifp, m, n);
	else
		ether_unknown(ifp, m, n, type);
}

/*
 * Is this a plain frame to us of the type that the run has?  Two words hold
 * the whole header: the destination is in the first, and in the second, from
 * the source on, are the bit of a group address and the type.
 */
static inline bool
ether_is_plain(const struct mbuf *m, uint64_t own, uint64_t tail)
{
	uint64_t word;

	if (__predict_false(m->m_len < ETHER_HDR_LEN))
		return (false);
	memcpy(&word, m->m_data + ETHER_ADDR_LEN, sizeof(word));
	return (((mac_load(m->m_data) ^ own) | ((word & TAIL_MASK) ^ tail) |
	    (m->m_flags & M_VLANTAG) |
	    (m->m_pkthdr.csum_flags & CSUM_PARTIAL)) == 0);
}

/* The interface is down, or only watched: count and drop. */
static __attribute__((noinline)) void
ether_refuse(struct ifnet *ifp, struct mbuf **m, unsigned int n,
    enum if_drop why)
{
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < n; i++)
		bytes += m[i]->m_pkthdr.len;
	if_inc(ifp, IFC_IBYTES, bytes);
	if_drop_burst(ifp, m, n, why);
}

/*
 * To whoever has the lower place: frames that are long enough, their tag
 * beside them, marked as multicast or broadcast.  False: nobody has it; the
 * frames that are left are the first *np.
 */
static __attribute__((noinline)) bool
ether_lower(struct ifnet *ifp, struct mbuf **m, unsigned int *np)
{
	const struct ether_header *eh;
	uint64_t bytes = 0, mcasts = 0;
	unsigned int kept = 0;
	bool mcast;

	for (unsigned int i = 0; i < *np; i++) {
		bytes += m[i]->m_pkthdr.len;
		if (m[i]->m_len < ETHER_HDR_LEN) {
			if_drop(ifp, m[i], IFD_RUNT);
			continue;
		}
		eh = mtod(m[i], const struct ether_header *);
		m[i]->m_pkthdr.rcvif = ifp;
		mcast = ether_is_multicast(eh->ether_dhost);
		mcasts += mcast;
		if (mcast)
			m[i]->m_flags |= mac_load(eh->ether_dhost) ==
			    MAC_MASK ? M_BCAST : M_MCAST;
		if ((m[i]->m_flags & M_VLANTAG) == 0 &&
		    ether_type_is_vlan(ntohs(eh->ether_type)) &&
		    !ether_vlan_decap(ifp, m[i]))
			continue;
		m[kept++] = m[i];
	}
	if_inc(ifp, IFC_IBYTES, bytes);
	if_inc(ifp, IFC_IMCASTS, mcasts);
	*np = kept;
	return (kept == 0 || if_hook_call(ifp, IFH_LOWER, m, kept));
}

/* Cut a burst into runs and hand them up; returns its bytes. */
static inline __attribute__((always_inline)) uint64_t
ether_runs(struct ifnet *ifp, struct mbuf **m, unsigned int n, bool count)
{
	uint64_t own, bytes = 0, tail = TAIL_NONE;
	unsigned int first = 0, kept = 0;
	uint32_t type, run = ETHER_GONE;

	own = atomic_load_explicit(&ifp->if_lladdr48, memory_order_relaxed);
	for (unsigned int i = 0; i < n; i++) {
		struct mbuf *mi = m[i];

		bytes += mi->m_pkthdr.len;
		if (__predict_true(ether_is_plain(mi, own, tail))) {
			ether_strip(ifp, mi);
			m[kept++] = mi;
			continue;
		}
		type = ether_input_one(ifp, mi, own, count);
		if (type == ETHER_GONE)
			continue;
		if (type != run) {
			if (kept != first)
				ether_deliver(ifp, m + first, kept - first,
				    (uint16_t)run);
			first = kept;
			run = type;
			tail = (uint64_t)type << TAIL_TYPE;
		}
		m[kept++] = mi;
	}
	if (kept != first)
		ether_deliver(ifp, m + first, kept - first, (uint16_t)run);
	return (bytes);
}

void
ether_demux(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{

	NET_EPOCH_ASSERT();

	(void)ether_runs(ifp, m, n, false);
}

/* What a plain interface has nothing of; packets are counted. */
static __attribute__((noinline)) void
ether_input_slow(struct ifnet *ifp, struct mbuf **m, unsigned int n,
    uint32_t flags, uint32_t hooks)
{

	if ((flags & IFF_UP) == 0)
		ether_refuse(ifp, m, n, IFD_DOWN);
	else if ((hooks & 1u << IFH_TAP) != 0 &&
	    if_hook_call(ifp, IFH_TAP, m, n))
		return;
	else if ((flags & IFF_MONITOR) != 0)
		ether_refuse(ifp, m, n, IFD_MONITOR);
	else if ((hooks & 1u << IFH_LOWER) == 0)
		if_inc(ifp, IFC_IBYTES, ether_runs(ifp, m, n, true));
	else if (!ether_lower(ifp, m, &n))
		ether_demux(ifp, m, n);
}

void
ether_input_tapped(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{

	NET_EPOCH_ASSERT();

	ether_input_slow(ifp, m, n, atomic_load_explicit(&ifp->if_flags,
	    memory_order_relaxed), atomic_load_explicit(&ifp->if_hooks,
	    memory_order_relaxed) & ~(1u << IFH_TAP));
}

static void
ether_input_burst(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	uint32_t flags, hooks;
	uint64_t bytes;

	NET_EPOCH_ASSERT();

	flags = atomic_load_explicit(&ifp->if_flags, memory_order_relaxed);
	hooks = atomic_load_explicit(&ifp->if_hooks, memory_order_relaxed);
	if_inc(ifp, IFC_IPACKETS, n);
	if (__predict_false((((flags & (IFF_UP | IFF_MONITOR)) ^ IFF_UP) |
	    (hooks & (1u << IFH_LOWER | 1u << IFH_TAP))) != 0)) {
		ether_input_slow(ifp, m, n, flags, hooks);
		return;
	}
	bytes = ether_runs(ifp, m, n, true);
	if_inc(ifp, IFC_IBYTES, bytes);
}

/*
 * if_input of Ethernet interfaces.  The entry, where one is needed, is around
 * the whole burst.  The belt (debug builds): a driver that calls from outside
 * without saying so is named once, and entered for.
 */
static void
ether_input(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	struct epoch_tracker et;
	bool enter;

	enter = (atomic_load_explicit(&ifp->if_flags, memory_order_relaxed) &
	    IFF_NEEDSEPOCH) != 0;
#ifdef INVARIANTS
	if (!enter && !in_epoch(net_epoch_preempt)) {
		enter = true;
		if (!atomic_exchange_explicit(&ether_warned, true,
		    memory_order_relaxed))
			log_msg(LOG_ERR, "%s: ether_input called outside the "
			    "net epoch; the driver should set IFF_NEEDSEPOCH",
			    ifp->if_name);
	}
#endif
	if (__predict_false(enter)) {
		NET_EPOCH_ENTER(et);
		ether_input_burst(ifp, m, n);
		NET_EPOCH_EXIT(et);
	} else
		ether_input_burst(ifp, m, n);
}

void
ether_output(struct ifnet *ifp, struct mbuf *m, const uint8_t *dst,
    uint16_t ethertype)
{
	struct ether_header *eh;
	uint64_t own;

	NET_EPOCH_ASSERT();

	if ((m = m_prepend(m, ETHER_HDR_LEN)) == NULL) {
		if_count_drop(ifp, IFD_NOMBUF, 1);
		return;
	}
	if ((m->m_pkthdr.csum_flags & CSUM_PARTIAL) != 0)
		m->m_pkthdr.csum_start += ETHER_HDR_LEN;
	own = atomic_load_explicit(&ifp->if_lladdr48, memory_order_relaxed);
	eh = mtod(m, struct ether_header *);
	memcpy(eh->ether_dhost, dst, ETHER_ADDR_LEN);
	memcpy(eh->ether_shost, &own, ETHER_ADDR_LEN);
	eh->ether_type = htons(ethertype);
	if (ether_is_multicast(dst))
		if_inc(ifp, IFC_OMCASTS, 1);
	if_transmit(ifp, &m, 1);
}

static const struct if_linktype ether_linktype = {
	.lt_type = IFT_ETHER,
	.lt_input = ether_input,
	.lt_minlen = ETHER_MIN_NOFCS,
};

int
ether_vnet_init(struct vnet *vnet)
{

	return (if_linktype_register(vnet, &ether_linktype));
}
