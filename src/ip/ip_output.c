/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * IPv4: packets of our own making, and the last step that forwarded packets
 * of the slow path share with them: split, resolve, transmit.
 *
 * On any thread, inside the epoch; no lock.  The identifier of a packet comes
 * from one of IP_IDS counters, chosen by the pair of hosts, so that it does not
 * repeat soon between two of them and tells nobody how busy we are (RFC 6864,
 * RFC 7739).
 */
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include "ether/ether_var.h"
#include "ip/ip_private.h"
#include "wire/ether.h"
#include "wire/in_cksum.h"

static const uint8_t ether_broadcast[ETHER_ADDR_LEN] = {
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff
};

/* Compute the header's checksum. */
void
ip_sum(struct ip *ip)
{

	ip->ip_sum = 0;
	ip->ip_sum = in_cksum(ip, ip_hl(ip));
}

/*
 * An address of ours that speaks for a link without one: the first that is not
 * loopback's (RFC 1812 2.2.7 calls it the router's identifier).  0: none.
 */
static struct in_addr
ip_router_addr(struct vnet *vnet)
{
	const struct ifaddr *ifa;
	struct ifnet *ifp;

	CK_STAILQ_FOREACH(ifp, &vnet->v_ifnets, if_link) {
		if_seen(ifp);
		if ((ip_if_flags(ifp) & IFF_LOOPBACK) != 0)
			continue;
		CK_STAILQ_FOREACH(ifa, &ifp->if_addrs, ifa_link)
			if (ifa_is_inet(ifa))
				return (ifa->ifa_addr);
	}
	return ((struct in_addr){ INADDR_ANY });
}

/*
 * The address of ours that a packet to dst by nh is sent from: one in the next
 * hop's own network, if there is (RFC 1812 4.3.2.4).  0: we have none.
 */
struct in_addr
ip_source_for(const struct nhop *nh, struct in_addr dst)
{
	const struct ifaddr *ifa;

	if ((nh->nh_flags & NHF_GATEWAY) != 0)
		dst = nh->nh_gw;
	if ((ifa = if_addr_for(nh->nh_ifp, dst)) == NULL)
		ifa = nh->nh_ifa;
	return (ifa != NULL ? ifa->ifa_addr :
	    ip_router_addr(ip_if_vnet(nh->nh_ifp)));
}

/* One frame's worth to its link. */
static void
ip_emit(const struct nhop *nh, struct in_addr dst, struct mbuf *m,
    struct if_txburst *tb)
{

	if (!nhop_resolve(nh, dst, m))
		return;
	if (tb != NULL)
		if_txburst_add(tb, nh->nh_ifp, m);
	else
		if_transmit(nh->nh_ifp, &m, 1);
}

/*
 * Send m by nh, in pieces if it is too large; its header is complete, the
 * checksum too.  dst: where to, for a nexthop without a gateway.  tb: where to
 * collect it, NULL to transmit at once.  Consumes m.  EMSGSIZE, ENOBUFS: it was
 * dropped and counted.
 */
int
ip_send(struct ip_vnet *iv, const struct nhop *nh, struct in_addr dst,
    struct mbuf *m, struct if_txburst *tb)
{
	uint32_t mtu = nhop_mtu(nh);
	struct mbuf *next;
	int error;

	if (m->m_pkthdr.len <= mtu) {
		ip_emit(nh, dst, m, tb);
		return (0);
	}
	if ((mtod(m, const struct ip *)->ip_off & htons(IP_DF)) != 0) {
		if_drop(nh->nh_ifp, m, IFD_IPCANTFRAG);
		return (EMSGSIZE);
	}
	error = ip_fragment(iv, m, mtu, &m);
	if (error != 0) {
		if_count_drop(nh->nh_ifp, error == EMSGSIZE ?
		    IFD_IPCANTFRAG : IFD_NOMBUF, 1);
		return (error);
	}
	for (; m != NULL; m = next) {
		next = m->m_nextpkt;
		m->m_nextpkt = NULL;
		ip_emit(nh, dst, m, tb);
	}
	return (0);
}

static uint16_t
ip_newid(struct ip_vnet *iv, const struct ip *ip)
{
	uint64_t key, h;

	key = (uint64_t)ip->ip_src.s_addr << 32 | ip->ip_dst.s_addr;
	h = ip_mix(iv->iv_seed, key ^ ip->ip_p);
	return (htons((uint16_t)(h >> 32) + atomic_fetch_add_explicit(
	    &iv->iv_id[h % IP_IDS], 1, memory_order_relaxed)));
}

/*
 * Send a packet of our own making: its header is complete but for ip_id and
 * the checksum, and without ip_src (0) it gets the best of our addresses.
 * Consumes m.  EHOSTUNREACH, EADDRNOTAVAIL (no address to send from, no link
 * to broadcast or multicast on), ENETDOWN (no loopback), EMSGSIZE, ENOBUFS:
 * dropped and counted.
 */
int
ip_output(struct vnet *vnet, struct mbuf *m)
{
	struct ip_vnet *iv = vnet->v_ip;
	struct ip *ip = mtod(m, struct ip *);
	struct in_addr dst = ip->ip_dst;
	struct ifnet *loif = vnet->v_loif, *ifp = loif;
	const struct nhop *nh;
	int error;

	NET_EPOCH_ASSERT();

	ip_count(iv, IPS_LOCALOUT, 1);
	error = EHOSTUNREACH;
	nh = fib4_lookup(vnet->v_fib4, dst.s_addr);
	if (nh == NULL || (nh->nh_flags & (NHF_REJECT | NHF_BLACKHOLE)) != 0)
		goto drop;
	ifp = nh->nh_ifp;
	error = EADDRNOTAVAIL;
	if (ip->ip_src.s_addr == INADDR_ANY)
		ip->ip_src = ip_source_for(nh, dst);
	if (ip->ip_src.s_addr == INADDR_ANY)
		goto drop;
	ip->ip_id = ip_newid(iv, ip);
	ip_sum(ip);
	if ((nh->nh_flags & NHF_BROADCAST) != 0) {
		if (nh->nh_ifp->if_type == IFT_ETHER)
			ether_output(nh->nh_ifp, m, ether_broadcast,
			    ETHERTYPE_IP);
		else
			if_transmit(nh->nh_ifp, &m, 1);
		return (0);
	}
	if ((nh->nh_flags & NHF_LOCAL) != 0 ||
	    (ip_if_flags(nh->nh_ifp) & IFF_LOOPBACK) != 0) {
		/* To ourselves: round through loopback. */
		error = ENETDOWN;
		if (loif == NULL)
			goto drop;
		if_transmit(loif, &m, 1);
		return (0);
	}
	return (ip_send(iv, nh, dst, m, NULL));
drop:
	if (ifp != NULL)
		if_drop(ifp, m, IFD_IPNOROUTE);
	else
		m_freem(m);
	return (error);
}
