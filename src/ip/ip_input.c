/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * IPv4 input: the burst, and the fast way through the router.
 *
 * A burst is sorted first.  What is plain (no options, everything right, from
 * and to an address a host may have) is looked up together and forwarded in
 * one loop; the rest is checked again slowly, one reason at a time, and goes
 * to ip_forward.c with whatever the loop would not take: packets for us, too
 * large, too old, without a route.  The order of packets is kept within each
 * of the two.
 *
 * On any thread, inside the epoch.  No lock; nothing shared is written but
 * per-thread counters, once a burst and once a run of equal nexthops.  Checks
 * after RFC 1812 5.2.2 and 5.3.7.
 */
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ip/ip_private.h"
#include "wire/ether.h"
#include "wire/in_cksum.h"

/* The link said that this frame is not an ordinary one for this router. */
#define	M_ODD	(M_BCAST | M_MCAST | M_PROMISC | M_VLANTAG)

/*
 * First octets that no host's address has: 0/8, 127/8, and all from 224 up;
 * ip_addr_host() by a load.
 */
static const uint8_t ip_octet_odd[256] = {
	[0] = 1, [127] = 1, [224 ... 255] = 1
};

/* Where a run of packets with the same nexthop goes. */
struct ip_run {
	const struct nhop *r_nh;
	struct ifnet	*r_ifp;
	struct llentry	*r_lle;		/* the gateway, if it is resolved */
	uint32_t	 r_mtu;		/* 0: not for the fast path */
	uint32_t	 r_packets;
	uint64_t	 r_bytes;
};

/*
 * Is this packet to be forwarded without a thought?  Every test is expected
 * to pass.  A length below the header's wraps round and is larger than any.
 */
static inline bool
ip_is_plain(const struct mbuf *m, const struct ip *ip)
{
	uint32_t len;

	if (m->m_len < IP_HDR_MIN || (m->m_flags & M_ODD) != 0 ||
	    ip->ip_vhl != IP_VHL_BORING || ip->ip_ttl <= IPTTLDEC ||
	    in_cksum_hdr20(ip) != 0)
		return (false);
	len = ntohs(ip->ip_len);
	if (len - IP_HDR_MIN > m->m_pkthdr.len - IP_HDR_MIN ||
	    (m->m_next != NULL && len != m->m_pkthdr.len))
		return (false);
	return ((ip_octet_odd[*(const uint8_t *)&ip->ip_src] |
	    ip_octet_odd[*(const uint8_t *)&ip->ip_dst]) == 0);
}

/*
 * Sort a burst: the plain packets stay in m, their addresses in dst; the
 * others go to odd.  Returns how many are plain.  They may still be padded.
 */
static inline unsigned int
ip_sort(struct mbuf **m, unsigned int n, in_addr_t *dst, struct mbuf **odd)
{
	const struct ip *ip;
	struct mbuf *mi;
	unsigned int i, plain = 0;

	for (i = 0; i < n; i++) {
		mi = m[i];
		ip = mtod(mi, const struct ip *);
		if (__predict_false(!ip_is_plain(mi, ip))) {
			*odd++ = mi;
			continue;
		}
		dst[plain] = ip->ip_dst.s_addr;
		m[plain++] = mi;
	}
	return (plain);
}

/* Count a run on its nexthop; returns its packets. */
static inline uint64_t
ip_run_end(const struct ip_run *r)
{

	if (r->r_packets != 0) {
		counter_add(r->r_nh->nh_counters, r->r_packets);
		counter_add(r->r_nh->nh_counters + 1, r->r_bytes);
	}
	return (r->r_packets);
}

/* The gateway's entry, if nothing is to be done about it. */
static inline struct llentry *
ip_run_lle(const struct nhop *nh)
{
	struct llentry *lle;
	uint32_t flags;

	if ((nh->nh_flags & NHF_GATEWAY) == 0)
		return (NULL);
	lle = atomic_load_explicit(
	    &((struct nhop *)(uintptr_t)nh)->nh_lle, memory_order_acquire);
	if (lle == NULL)
		return (NULL);
	flags = atomic_load_explicit(&lle->lle_flags, memory_order_acquire);
	return ((flags & (LLE_VALID | LLE_DELETED | LLE_USED)) ==
	    (LLE_VALID | LLE_USED) ? lle : NULL);
}

/*
 * Begin a run to nh for packets that came in on ifp.  redirect: those that go
 * back there are for the slow path.
 */
static inline void
ip_run_begin(struct ip_run *r, const struct nhop *nh, struct ifnet *ifp,
    bool forwarding, bool redirect)
{

	*r = (struct ip_run){ .r_nh = nh };
	if (__predict_false(nh == NULL || !forwarding ||
	    (nh->nh_flags & NHF_SPECIAL) != 0))
		return;
	r->r_ifp = nh->nh_ifp;
	if (__predict_false((ip_if_flags(r->r_ifp) & IFF_LOOPBACK) != 0 ||
	    (redirect && r->r_ifp == ifp)))
		return;
	r->r_mtu = ip_nh_mtu(nh);
	r->r_lle = ip_run_lle(nh);
}

/* Cut a plain packet to its length, len. */
static inline void
ip_trim(struct mbuf *m, uint32_t len)
{

	if (m->m_next == NULL)
		m->m_len = m->m_pkthdr.len = len;
}

/*
 * Put the run's header in front, where ether_input() found one of the same
 * length: nhop_resolve() for a run, without what that has to ask each time.
 */
static inline void
ip_run_push(const struct ip_run *r, struct mbuf *m, uint32_t len)
{

	m->m_data -= ETHER_HDR_LEN;
	m->m_pkthdr.len = len + ETHER_HDR_LEN;
	m->m_len = m->m_next == NULL ? len + ETHER_HDR_LEN :
	    m->m_len + ETHER_HDR_LEN;
	m->m_pkthdr.csum_start += ETHER_HDR_LEN;
	memcpy(m->m_data, r->r_lle->lle_hdr, ETHER_HDR_LEN);
}

/*
 * Forward n plain packets whose nexthops were looked up.  Those that need more
 * than a new header go to ip_dispatch().
 */
static inline void
ip_forward_burst(struct ifnet *ifp, struct mbuf **m, const in_addr_t *dst,
    const struct nhop **nh, unsigned int n, struct if_txburst *tb)
{
	struct vnet *vnet = ip_if_vnet(ifp);
	struct ip_vnet *iv = vnet->v_ip;
	bool forwarding = ip_tunable(&vnet->v_ip_forwarding) != 0;
	bool redirect = ip_tunable(&iv->iv_redirect) != 0;
	struct ip_run run;
	uint64_t done = 0;
	unsigned int i;

	ip_run_begin(&run, nh[0], ifp, forwarding, redirect);
	for (i = 0; i < n; i++) {
		struct mbuf *mi = m[i];
		struct ip *ip = mtod(mi, struct ip *);
		uint32_t len = ntohs(ip->ip_len);

		if (nh[i] != run.r_nh) {
			done += ip_run_end(&run);
			ip_run_begin(&run, nh[i], ifp, forwarding, redirect);
		}
		if (__predict_false(len > run.r_mtu)) {
			ip_trim(mi, len);
			ip_dispatch(ifp, mi, nh[i], tb);
			continue;
		}
		run.r_packets++;
		run.r_bytes += len;
		ip_ttl_dec(ip);
		if (__predict_true(run.r_lle != NULL &&
		    mi->m_pkthdr.l2len == ETHER_HDR_LEN)) {
			ip_run_push(&run, mi, len);
		} else {
			ip_trim(mi, len);
			if (!nhop_resolve(run.r_nh, (struct in_addr){ dst[i] },
			    mi))
				continue;
		}
		if_txburst_add(tb, run.r_ifp, mi);
	}
	done += ip_run_end(&run);
	if (done != 0) {
		ip_count(iv, IPS_FORWARD, done);
		ip_count(iv, IPS_FASTFORWARD, done);
	}
}

/*
 * Is this pair of addresses fit to be looked at?  A host that has no address
 * yet may ask everybody (RFC 1122 3.2.1.3); 127/8 is for loopback only.
 */
static bool
ip_check_addrs(struct ifnet *ifp, const struct ip *ip)
{
	uint32_t src = ntohl(ip->ip_src.s_addr);
	uint32_t dst = ntohl(ip->ip_dst.s_addr);
	bool loop = (ip_if_flags(ifp) & IFF_LOOPBACK) != 0;

	if (src == INADDR_ANY && dst == INADDR_BROADCAST)
		return (true);
	if (!ip_addr_host(ip->ip_src) && !(loop && src >> 24 == 127))
		return (false);
	return (ip_addr_host(ip->ip_dst) || (loop && dst >> 24 == 127) ||
	    IN_MULTICAST(dst) || dst == INADDR_BROADCAST);
}

/*
 * Check one packet and cut off its padding, naming what is wrong.  Returns it
 * with its header in one piece, or NULL: it is gone and counted.
 */
static struct mbuf *
ip_check(struct ifnet *ifp, struct mbuf *m)
{
	enum if_drop why = IFD_IPTOOSMALL;
	const struct ip *ip;
	uint32_t hlen, len;

	if (m->m_pkthdr.len < IP_HDR_MIN)
		goto drop;
	if (m->m_len < IP_HDR_MIN && (m = m_pullup(m, IP_HDR_MIN)) == NULL)
		goto nombuf;
	ip = mtod(m, const struct ip *);
	why = IFD_IPVERS;
	if (ip_v(ip) != IPVERSION)
		goto drop;
	why = IFD_IPHLEN;
	hlen = (uint32_t)ip_hl(ip);
	if (hlen < IP_HDR_MIN || hlen > m->m_pkthdr.len)
		goto drop;
	if (m->m_len < hlen && (m = m_pullup(m, hlen)) == NULL)
		goto nombuf;
	ip = mtod(m, const struct ip *);
	len = ntohs(ip->ip_len);
	why = IFD_IPLEN;
	if (len < hlen)
		goto drop;
	why = IFD_IPSHORT;
	if (len > m->m_pkthdr.len)
		goto drop;
	why = IFD_IPSUM;
	if (in_cksum(ip, hlen) != 0)
		goto drop;
	why = IFD_IPADDR;
	if (!ip_check_addrs(ifp, ip))
		goto drop;
	if (len < m->m_pkthdr.len)
		m_adj(m, (int)len - (int)m->m_pkthdr.len);
	return (m);
drop:
	if_drop(ifp, m, why);
	return (NULL);
nombuf:
	if_count_drop(ifp, IFD_NOMBUF, 1);
	return (NULL);
}

/*
 * A burst from the link (or from loopback): n <= MBUF_BURST packets, m_data at
 * the IP header, nothing of them checked.  Consumes all; inside the epoch.
 */
void
ip_input(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	struct vnet *vnet = ip_if_vnet(ifp);
	const struct nhop *nh[MBUF_BURST];
	struct mbuf *odd[MBUF_BURST], *mi;
	in_addr_t dst[MBUF_BURST];
	struct if_txburst tb;
	unsigned int i, plain;

	NET_EPOCH_ASSERT();

	ip_count(vnet->v_ip, IPS_TOTAL, n);
	if_txburst_init(&tb);
	plain = ip_sort(m, n, dst, odd);
	if (plain != 0) {
		fib4_lookup_burst(vnet->v_fib4, dst, nh, plain);
		ip_forward_burst(ifp, m, dst, nh, plain, &tb);
	}
	for (i = 0; i < n - plain; i++) {
		if ((mi = ip_check(ifp, odd[i])) == NULL)
			continue;
		nh[0] = fib4_lookup(vnet->v_fib4,
		    mtod(mi, const struct ip *)->ip_dst.s_addr);
		ip_dispatch(ifp, mi, nh[0], &tb);
	}
	if_txburst_flush(&tb);
}
