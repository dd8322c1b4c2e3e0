/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * IPv4: what to do with a packet that the loop in ip_input.c left.  It is for
 * us, or a broadcast, or has options, or must be split, redirected, refused.
 *
 * An ICMP error quotes the packet as it came, so nothing is changed in it
 * before the last check has passed, but for a source route that is followed.
 * On any thread, inside the epoch; no lock.  RFC 1812 5.2 and 5.3.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ip/ip_private.h"
#include "wire/in_cksum.h"
#include "wire/ip_icmp.h"
#include "wire/udp.h"

/*
 * Drop m, counted as why, and tell its sender so.  arg: the MTU, or the byte
 * of the header that is wrong.  Consumes m.
 */
void
ip_error(struct ifnet *ifp, struct mbuf *m, enum if_drop why, uint8_t type,
    uint8_t code, uint32_t arg)
{

	if_count_drop(ifp, why, 1);
	icmp_error(ip_if_vnet(ifp), m, type, code, arg);
}

/*
 * Collect a fragment for us; unicast as below.  Nothing here listens to
 * broadcasts, so theirs are not kept.  Returns the whole packet and its
 * options (the first fragment's), or NULL.
 */
static struct mbuf *
ip_collect(struct ifnet *ifp, struct mbuf *m, bool unicast,
    struct ip_optinfo *opts)
{
	struct ip_vnet *iv = ip_if_vnet(ifp)->v_ip;

	ip_count(iv, IPS_FRAGMENTS, 1);
	if (!unicast) {
		if_drop(ifp, m, IFD_IPFRAG);
		return (NULL);
	}
	if ((m = ip_reass_input(ifp, m)) == NULL)
		return (NULL);
	*opts = (struct ip_optinfo){ 0 };
	if (ip_tunable(&iv->iv_options) == IP_OPT_PROCESS &&
	    ip_options_parse(mtod(m, const struct ip *), opts) != 0)
		*opts = (struct ip_optinfo){ 0 };
	return (m);
}

/*
 * Can somebody else have sent us this?  An answer to what claims to come from
 * everybody on a link of ours would go to all of them (RFC 1122 3.2.1.3), and
 * from an address of our own only we send, round through loopback.
 */
static bool
ip_source_ok(struct ifnet *ifp, const struct mbuf *m)
{
	const struct ip *ip = mtod(m, const struct ip *);
	const struct nhop *nh;

	if ((ip_if_flags(ifp) & IFF_LOOPBACK) != 0)
		return (true);
	nh = fib4_lookup(ip_if_vnet(ifp)->v_fib4, ip->ip_src.s_addr);
	return (nh == NULL ||
	    (nh->nh_flags & (NHF_LOCAL | NHF_BROADCAST)) == 0);
}

/* A datagram to a port of ours, all of them closed.  Consumes m. */
static void
ip_udp_input(struct ifnet *ifp, struct mbuf *m)
{
	const struct ip *ip = mtod(m, const struct ip *);
	uint32_t hlen = (uint32_t)ip_hl(ip), len;
	struct udphdr uh;
	uint32_t sum;

	len = m->m_pkthdr.len - hlen;
	if (len < sizeof(uh))
		goto bad;
	m_copydata(m, hlen, sizeof(uh), &uh);
	if (ntohs(uh.uh_ulen) < sizeof(uh) || ntohs(uh.uh_ulen) > len)
		goto bad;
	if (uh.uh_sum != 0 && (m->m_pkthdr.csum_flags & CSUM_PARTIAL) == 0) {
		len = ntohs(uh.uh_ulen);
		sum = in_pseudo(ip->ip_src, ip->ip_dst, IPPROTO_UDP,
		    (uint16_t)len);
		if (in_cksum_finish(sum + m_cksum(m, hlen, len)) != 0)
			goto bad;
	}
	ip_error(ifp, m, IFD_UDPPORT, ICMP_UNREACH, ICMP_UNREACH_PORT, 0);
	return;
bad:
	if_drop(ifp, m, IFD_UDPBAD);
}

/*
 * A packet for this router, on ifp.  unicast: to an address of ours, else to
 * everybody on the link.  opts: what ip_options_parse() found; may be changed.
 * Consumes m.
 */
void
ip_deliver(struct ifnet *ifp, struct mbuf *m, bool unicast,
    struct ip_optinfo *opts)
{
	struct vnet *vnet = ip_if_vnet(ifp);
	struct ip *ip = mtod(m, struct ip *);

	if (!ip_source_ok(ifp, m)) {
		if_drop(ifp, m, IFD_IPADDR);
		return;
	}
	if ((ip->ip_off & htons(IP_MF | IP_OFFMASK)) != 0) {
		if ((m = ip_collect(ifp, m, unicast, opts)) == NULL)
			return;
		ip = mtod(m, struct ip *);
	}
	ip_count(vnet->v_ip, IPS_DELIVERED, 1);
	if (unicast && (opts->io_rr | opts->io_ts) != 0) {
		ip_options_record(vnet, ip, opts, ip->ip_dst);
		ip_sum(ip);
	}
	switch (ip->ip_p) {
	case IPPROTO_ICMP:
		icmp_input(ifp, m, unicast);
		break;
	case IPPROTO_UDP:
		ip_udp_input(ifp, m);
		break;
	case IPPROTO_TCP:
		ip_tcp_input(ifp, m, unicast);
		break;
	default:
		ip_error(ifp, m, IFD_IPPROTO, ICMP_UNREACH,
		    ICMP_UNREACH_PROTOCOL, 0);
		break;
	}
}

/*
 * Follow a source route that has come to us: the next address becomes the
 * destination, and ours goes where it stood.  Returns the way there; NULL: m
 * is gone.  RFC 791, RFC 1812 5.3.13.4.
 */
static const struct nhop *
ip_follow_route(struct ifnet *ifp, struct mbuf *m,
    const struct ip_optinfo *opts)
{
	struct vnet *vnet = ip_if_vnet(ifp);
	struct ip *ip = mtod(m, struct ip *);
	uint8_t *sr = (uint8_t *)ip + opts->io_sr;
	const struct nhop *nh = NULL;
	struct in_addr next, own;

	memcpy(&next, sr + sr[IPOPT_OFFSET] - 1, sizeof(next));
	if (ip_addr_host(next))
		nh = fib4_lookup(vnet->v_fib4, next.s_addr);
	if (nh == NULL || (nh->nh_flags & NHF_SPECIAL) != 0 ||
	    (opts->io_strict && (nh->nh_flags & NHF_GATEWAY) != 0)) {
		ip_error(ifp, m, IFD_IPSRCRT, ICMP_UNREACH,
		    ICMP_UNREACH_SRCFAIL, 0);
		return (NULL);
	}
	own = ip_source_for(nh, next);
	memcpy(sr + sr[IPOPT_OFFSET] - 1, &own, sizeof(own));
	sr[IPOPT_OFFSET] += sizeof(own);
	ip->ip_dst = next;
	ip_sum(ip);
	return (nh);
}

/*
 * Is this source route allowed?  mine: the packet has come to one of our
 * addresses.  False: m is gone.
 */
static bool
ip_allow_route(struct ifnet *ifp, struct mbuf *m, const struct ip_optinfo *opts,
    bool mine)
{
	struct ip_vnet *iv = ip_if_vnet(ifp)->v_ip;
	const struct ip *ip = mtod(m, const struct ip *);
	const uint8_t *sr = (const uint8_t *)ip + opts->io_sr;
	char src[INET_ADDRSTRLEN], dst[INET_ADDRSTRLEN];
	bool ended = sr[IPOPT_OFFSET] > sr[IPOPT_OLEN];

	if (mine && ended && ip_tunable(&iv->iv_acceptroute) != 0)
		return (true);
	if (!(mine && ended) && !(!mine && opts->io_strict) &&
	    ip_tunable(&iv->iv_sourceroute) != 0)
		return (true);
	(void)inet_ntop(AF_INET, &ip->ip_src, src, sizeof(src));
	(void)inet_ntop(AF_INET, &ip->ip_dst, dst, sizeof(dst));
	log_limited(&iv->iv_log_srcroute, 1, LOG_WARNING,
	    "ip: source route from %s to %s on %s refused", src, dst,
	    ifp->if_name);
	ip_error(ifp, m, IFD_IPSRCRT, ICMP_UNREACH, ICMP_UNREACH_SRCFAIL, 0);
	return (false);
}

/*
 * Look at the options of a packet as net.inet.ip.process_options says.  *nhp
 * may become another way.  False: m is gone.
 */
static bool
ip_do_options(struct ifnet *ifp, struct mbuf *m, const struct nhop **nhp,
    struct ip_optinfo *opts)
{
	const struct ip *ip = mtod(m, const struct ip *);
	const struct nhop *nh = *nhp;
	unsigned int bad;
	const uint8_t *sr;
	bool mine;

	switch (ip_tunable(&ip_if_vnet(ifp)->v_ip->iv_options)) {
	case IP_OPT_IGNORE:
		return (true);
	case IP_OPT_REJECT:
		ip_error(ifp, m, IFD_IPOPT, ICMP_UNREACH,
		    ICMP_UNREACH_FILTER_PROHIB, 0);
		return (false);
	default:
		break;
	}
	if ((bad = ip_options_parse(ip, opts)) != 0) {
		ip_error(ifp, m, IFD_IPOPT, ICMP_PARAMPROB,
		    ICMP_PARAMPROB_ERRATPTR, bad);
		return (false);
	}
	if (opts->io_sr == 0)
		return (true);
	mine = nh != NULL && (nh->nh_flags & NHF_LOCAL) != 0;
	if (!ip_allow_route(ifp, m, opts, mine))
		return (false);
	sr = (const uint8_t *)ip + opts->io_sr;
	if (!mine || sr[IPOPT_OFFSET] > sr[IPOPT_OLEN])
		return (true);
	*nhp = ip_follow_route(ifp, m, opts);
	return (*nhp != NULL);
}

/*
 * Why a packet may not be forwarded to nh.  True: it may.  False: m is gone.
 */
static bool
ip_may_forward(struct ifnet *ifp, struct mbuf *m, const struct nhop *nh)
{
	struct vnet *vnet = ip_if_vnet(ifp);
	const struct ip *ip = mtod(m, const struct ip *);

	if (ip_tunable(&vnet->v_ip_forwarding) == 0)
		if_drop(ifp, m, IFD_IPNOFORWARD);
	else if ((m->m_flags & (M_BCAST | M_MCAST)) != 0)
		if_drop(ifp, m, IFD_IPBCAST);
	else if (ip_addr_link(ip->ip_src) || ip_addr_link(ip->ip_dst))
		if_drop(ifp, m, IFD_IPADDR);
	else if (ip->ip_ttl <= IPTTLDEC)
		ip_error(ifp, m, IFD_IPTTL, ICMP_TIMXCEED,
		    ICMP_TIMXCEED_INTRANS, 0);
	else if (nh == NULL)
		ip_error(ifp, m, IFD_IPNOROUTE, ICMP_UNREACH,
		    ICMP_UNREACH_NET, 0);
	else if ((nh->nh_flags & NHF_BLACKHOLE) != 0)
		if_drop(ifp, m, IFD_IPBLACKHOLE);
	else if ((nh->nh_flags & NHF_REJECT) != 0 ||
	    (ip_if_flags(nh->nh_ifp) & IFF_LOOPBACK) != 0)
		ip_error(ifp, m, IFD_IPREJECT, ICMP_UNREACH,
		    ICMP_UNREACH_HOST, 0);
	else if (m->m_pkthdr.len > nhop_mtu(nh) &&
	    (ip->ip_off & htons(IP_DF)) != 0)
		ip_error(ifp, m, IFD_IPCANTFRAG, ICMP_UNREACH,
		    ICMP_UNREACH_NEEDFRAG, nhop_mtu(nh));
	else
		return (true);
	return (false);
}

/* Is there a network on ifp that has both a and b? */
static bool
ip_same_net(struct ifnet *ifp, struct in_addr a, struct in_addr b)
{
	const struct ifaddr *ifa;

	CK_STAILQ_FOREACH(ifa, &ifp->if_addrs, ifa_link)
		if (ifa_is_inet(ifa) &&
		    (((ifa->ifa_addr.s_addr ^ a.s_addr) |
		    (ifa->ifa_addr.s_addr ^ b.s_addr)) &
		    ifa->ifa_mask.s_addr) == 0)
			return (true);
	return (false);
}

/*
 * A packet leaves on the link it came from: its sender, if in one network with
 * the next hop, had better send it there itself (RFC 1812 5.2.7.2); of two
 * networks on one link it would not believe us.  m lives on.
 */
static void
ip_redirect(struct ifnet *ifp, const struct mbuf *m, const struct nhop *nh,
    const struct ip_optinfo *opts)
{
	struct vnet *vnet = ip_if_vnet(ifp);
	const struct ip *ip = mtod(m, const struct ip *);
	const struct nhop *back;
	struct in_addr gw;

	if (nh->nh_ifp != ifp || opts->io_sr != 0 ||
	    ip_tunable(&vnet->v_ip->iv_redirect) == 0)
		return;
	gw = (nh->nh_flags & NHF_GATEWAY) != 0 ? nh->nh_gw : ip->ip_dst;
	if (gw.s_addr == ip->ip_src.s_addr ||
	    !ip_same_net(ifp, ip->ip_src, gw))
		return;
	back = fib4_lookup(vnet->v_fib4, ip->ip_src.s_addr);
	if (back == NULL || back->nh_ifp != ifp ||
	    (back->nh_flags & (NHF_SPECIAL | NHF_GATEWAY)) != 0)
		return;
	icmp_report(vnet, m, ICMP_REDIRECT, ICMP_REDIRECT_HOST, gw.s_addr);
}

/* Forward a packet the slow way. */
static void
ip_forward(struct ifnet *ifp, struct mbuf *m, const struct nhop *nh,
    const struct ip_optinfo *opts, struct if_txburst *tb)
{
	struct vnet *vnet = ip_if_vnet(ifp);
	struct ip_vnet *iv = vnet->v_ip;
	struct ip *ip = mtod(m, struct ip *);

	if (!ip_may_forward(ifp, m, nh))
		return;
	ip_redirect(ifp, m, nh, opts);
	if ((opts->io_rr | opts->io_ts) != 0) {
		ip_options_record(vnet, ip, opts,
		    ip_source_for(nh, ip->ip_dst));
		ip_sum(ip);
	}
	ip_ttl_dec(ip);
	m->m_flags &= ~(uint32_t)(M_VLANTAG | M_PROMISC);
	counter_add(nh->nh_counters, 1);
	counter_add(nh->nh_counters + 1, m->m_pkthdr.len);
	if (ip_send(iv, nh, ip->ip_dst, m, tb) == 0)
		ip_count(iv, IPS_FORWARD, 1);
}

/*
 * Decide about a checked packet that came in on ifp; nh is what the lookup of
 * its destination gave, or NULL.  Consumes m.
 */
void
ip_dispatch(struct ifnet *ifp, struct mbuf *m, const struct nhop *nh,
    struct if_txburst *tb)
{
	const struct ip *ip = mtod(m, const struct ip *);
	struct ip_optinfo opts = { 0 };

	NET_EPOCH_ASSERT();

	if (ip_hl(ip) > IP_HDR_MIN && !ip_do_options(ifp, m, &nh, &opts))
		return;
	if (IN_MULTICAST(ntohl(ip->ip_dst.s_addr)))
		if_drop(ifp, m, IFD_IPMCAST);
	else if (ip->ip_dst.s_addr == INADDR_BROADCAST)
		ip_deliver(ifp, m, false, &opts);
	else if (nh != NULL && (nh->nh_flags & NHF_LOCAL) != 0)
		ip_deliver(ifp, m, true, &opts);
	else if (nh != NULL && (nh->nh_flags & NHF_BROADCAST) != 0) {
		/* Of another link: RFC 2644, not forwarded. */
		if (nh->nh_ifp == ifp)
			ip_deliver(ifp, m, false, &opts);
		else
			if_drop(ifp, m, IFD_IPBCAST);
	} else
		ip_forward(ifp, m, nh, &opts, tb);
}
