/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * IPv4 input: the burst, and the fast way through the router.
 *
 * A burst is sorted first.  What is plain (ip_plain.h) is looked up together
 * and forwarded in one loop; the rest is checked again slowly, one reason at a
 * time, and goes to ip_forward.c with whatever the loop would not take: packets
 * for us, too large, too old, without a route.  The order of packets is kept
 * within each of the two.
 *
 * On any thread, inside the epoch.  No lock; nothing shared is written but
 * per-thread counters.  Checks after RFC 1812 5.2.2 and 5.3.7.
 */
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ip/ip_plain.h"
#include "ip/ip_private.h"
#include "wire/ether.h"
#include "wire/in_cksum.h"

/* Cut a plain packet, which is one mbuf, to its length. */
static inline void
ip_trim(struct mbuf *m, uint32_t len)
{

	m->m_len = m->m_pkthdr.len = len;
}

/*
 * The header to send by, if nothing is to be asked or noted first: nh leads to
 * a link with neighbours, this one is known and marked as used.
 */
static inline const struct llentry *
ip_plain_lle(const struct nhop *nh, in_addr_t dst)
{
	struct llentry *lle;

	if ((nh->nh_flags & NHF_GATEWAY) != 0)
		lle = atomic_load_explicit(
		    &((struct nhop *)(uintptr_t)nh)->nh_lle,
		    memory_order_acquire);
	else
		lle = lla_lookup(nh->nh_ifp, (struct in_addr){ dst });
	if (__predict_false(lle == NULL))
		return (NULL);
	return ((atomic_load_explicit(&lle->lle_flags, memory_order_acquire) &
	    (LLE_VALID | LLE_DELETED | LLE_USED)) == (LLE_VALID | LLE_USED) ?
	    lle : NULL);
}

/*
 * Write the words that change, and lle's header in front, where ether_input()
 * found one of the same length: nhop_resolve() without what that has to ask.
 */
static inline void
ip_push(const struct llentry *lle, struct mbuf *m, uint32_t ttl, uint32_t len)
{
	char *p = m->m_data;

	m->m_len = m->m_pkthdr.len = len + ETHER_HDR_LEN;
	m->m_pkthdr.csum_start += ETHER_HDR_LEN;
	m->m_data = p - ETHER_HDR_LEN;
	memcpy(p + offsetof(struct ip, ip_ttl), &ttl, sizeof(ttl));
	memcpy(p - ETHER_HDR_LEN, lle->lle_hdr, ETHER_HDR_LEN);
}

/*
 * A plain packet that the loop below leaves: ask for the neighbour, or let
 * ip_dispatch() see what it is.  Returns whether it counts as forwarded fast.
 */
static __attribute__((noinline)) bool
ip_forward_odd(struct ifnet *ifp, struct mbuf *m, const struct nhop *nh,
    const struct ifnet *stay, struct if_txburst *tb)
{
	struct ip *ip = mtod(m, struct ip *);
	struct in_addr dst = ip->ip_dst;
	uint32_t len = ntohs(ip->ip_len);

	ip_trim(m, len);
	if (nh == NULL || len > ip_nh_pass(nh) || nh->nh_ifp == stay) {
		ip_dispatch(ifp, m, nh, tb);
		return (false);
	}
	ip_ttl_dec(ip);
	if (nhop_resolve(nh, dst, m))
		if_txburst_add(tb, nh->nh_ifp, m);
	return (true);
}

/*
 * Forward n plain packets whose nexthops were looked up; those that would
 * leave through stay (NULL: none) want a redirect, and are not.  There is no
 * branch on what the last packet's nexthop was: nobody could predict it.
 * page: where to count.  Returns how many were forwarded here.
 */
static inline uint64_t
ip_forward_burst(struct ifnet *ifp, struct mbuf **m, const struct ip_burst *ib,
    const struct nhop **nh, unsigned int n, const struct ifnet *stay,
    _Atomic uint64_t *page, struct if_txburst *tb)
{
	uint64_t left = 0;

	for (size_t i = 0; i < n; i++) {
		const struct nhop *nhi = nh[i];
		struct mbuf *mi = m[i];
		uint32_t len = ib->ib_len[i];
		const struct llentry *lle;
		_Atomic uint64_t *cell;

		if (__predict_true(nhi != NULL && len <= ip_nh_pass(nhi) &&
		    nhi->nh_ifp != stay &&
		    (lle = ip_plain_lle(nhi, ib->ib_dst[i])) != NULL)) {
			ip_push(lle, mi, ib->ib_ttl[i], len);
			if_txburst_add(tb, nhi->nh_ifp, mi);
		} else if (!ip_forward_odd(ifp, mi, nhi, stay, tb)) {
			left++;
			continue;
		}
		cell = &page[nhi->nh_counters];
		counter_cell_add(&cell[0], 1);
		counter_cell_add(&cell[1], len);
	}
	return (n - left);
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
 * The plain ones of a burst: look up, forward.  A host forwards nothing, so
 * there all of them are for ip_dispatch(); so they are on a thread that must
 * share its counters, and from a link without an Ethernet header to replace.
 */
static inline void
ip_input_plain(struct ifnet *ifp, struct mbuf **m, const struct ip_burst *ib,
    unsigned int n, struct if_txburst *tb)
{
	struct vnet *vnet = ip_if_vnet(ifp);
	struct ip_vnet *iv = vnet->v_ip;
	_Atomic uint64_t *page = counter_page_get();
	const struct nhop *nh[MBUF_BURST];
	const struct ifnet *stay;
	uint64_t done;

	fib4_lookup_burst(vnet->v_fib4, ib->ib_dst, nh, n);
	if (__predict_true(ip_tunable(&vnet->v_ip_forwarding) != 0 &&
	    page != NULL && m[0]->m_pkthdr.l2len == ETHER_HDR_LEN)) {
		stay = ip_tunable(&iv->iv_redirect) != 0 ? ifp : NULL;
		done = ip_forward_burst(ifp, m, ib, nh, n, stay, page, tb);
		ip_count(iv, IPS_FORWARD, done);
		ip_count(iv, IPS_FASTFORWARD, done);
		return;
	}
	for (unsigned int i = 0; i < n; i++) {
		ip_trim(m[i], ib->ib_len[i]);
		ip_dispatch(ifp, m[i], nh[i], tb);
	}
}

/*
 * A burst from the link (or from loopback): n <= MBUF_BURST packets, m_data at
 * the IP header, nothing of them checked.  Consumes all; inside the epoch.
 */
void
ip_input(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	struct vnet *vnet = ip_if_vnet(ifp);
	struct mbuf *odd[MBUF_BURST], *mi;
	struct if_txburst tb;
	struct ip_burst ib;
	unsigned int i, plain;

	NET_EPOCH_ASSERT();

	ip_count(vnet->v_ip, IPS_TOTAL, n);
	if_txburst_init(&tb);
	plain = ip_plain_sort(&ib, m, n, odd);
	if (plain != 0)
		ip_input_plain(ifp, m, &ib, plain, &tb);
	for (i = 0; i < n - plain; i++) {
		if ((mi = ip_check(ifp, odd[i])) == NULL)
			continue;
		ip_dispatch(ifp, mi, fib4_lookup(vnet->v_fib4,
		    mtod(mi, const struct ip *)->ip_dst.s_addr), &tb);
	}
	if_txburst_flush(&tb);
}
