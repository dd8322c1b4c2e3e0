/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * TCP for a router that has no connections: whoever tries to make one is told
 * at once that nobody listens, instead of waiting for it (RFC 9293 3.10.7.1).
 *
 * An answer is made of the segment's own mbuf, limited like ICMP errors.  On
 * any thread, inside the epoch; no lock.
 */
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ip/ip_private.h"
#include "wire/in_cksum.h"
#include "wire/tcp.h"

/*
 * Is it a whole segment with a right checksum?  One that a peer on this host
 * left unfinished never was on a wire.
 */
static bool
tcp_check(const struct mbuf *m, uint32_t hlen, struct tcphdr *th)
{
	const struct ip *ip = mtod(m, const struct ip *);
	uint32_t len = m->m_pkthdr.len - hlen, sum;

	if (len < sizeof(*th))
		return (false);
	m_copydata(m, hlen, sizeof(*th), th);
	if (tcp_hl(th) < sizeof(*th) || tcp_hl(th) > len)
		return (false);
	if ((m->m_pkthdr.csum_flags & CSUM_PARTIAL) != 0)
		return (true);
	sum = in_pseudo(ip->ip_src, ip->ip_dst, IPPROTO_TCP, (uint16_t)len);
	return (in_cksum_finish(sum + m_cksum(m, hlen, len)) == 0);
}

/* The reset that answers a segment of len bytes of data. */
static void
tcp_reset_fill(struct tcphdr *to, const struct tcphdr *th, uint32_t len)
{

	*to = (struct tcphdr){ .th_sport = th->th_dport,
	    .th_dport = th->th_sport, .th_offx2 = sizeof(*to) / 4 << 4,
	    .th_flags = TH_RST };
	if ((th->th_flags & TH_ACK) != 0) {
		to->th_seq = th->th_ack;
		return;
	}
	len += (th->th_flags & TH_SYN) != 0 ? 1 : 0;
	len += (th->th_flags & TH_FIN) != 0 ? 1 : 0;
	to->th_ack = htonl(ntohl(th->th_seq) + len);
	to->th_flags |= TH_ACK;
}

/*
 * A segment to an address of ours, on ifp; all ports are closed.  unicast:
 * else it was to everybody, and gets no answer.  Consumes m.
 */
void
ip_tcp_input(struct ifnet *ifp, struct mbuf *m, bool unicast)
{
	struct vnet *vnet = ip_if_vnet(ifp);
	struct ip_vnet *iv = vnet->v_ip;
	struct ip *ip = mtod(m, struct ip *);
	uint32_t hlen = (uint32_t)ip_hl(ip);
	struct in_addr peer = ip->ip_src;
	struct tcphdr th, *to;
	uint32_t len;

	NET_EPOCH_ASSERT();

	if (!tcp_check(m, hlen, &th)) {
		if_drop(ifp, m, IFD_TCPBAD);
		return;
	}
	if_count_drop(ifp, IFD_TCPPORT, 1);
	if (!unicast || (m->m_flags & (M_BCAST | M_MCAST)) != 0 ||
	    (th.th_flags & TH_RST) != 0 || !ip_addr_host(peer)) {
		m_freem(m);
		return;
	}
	if (!icmp_within_limit(iv, ICMPLIM_RST)) {
		ip_count(iv, TCPS_LIMITED, 1);
		m_freem(m);
		return;
	}
	len = m->m_pkthdr.len - hlen - (uint32_t)tcp_hl(&th);
	m_adj(m, (int)(IP_HDR_MIN + sizeof(*to)) - (int)m->m_pkthdr.len);
	if ((m = m_pullup(m, IP_HDR_MIN + sizeof(*to))) == NULL) {
		if_count_drop(ifp, IFD_NOMBUF, 1);
		return;
	}
	m->m_flags &= ~(uint32_t)(M_VLANTAG | M_PROMISC);
	m->m_pkthdr.csum_flags = 0;
	ip = mtod(m, struct ip *);
	*ip = (struct ip){ .ip_vhl = IP_VHL_BORING, .ip_tos = ip->ip_tos,
	    .ip_len = htons(IP_HDR_MIN + sizeof(*to)),
	    .ip_off = htons(IP_DF), .ip_p = IPPROTO_TCP,
	    .ip_ttl = (uint8_t)ip_tunable(&iv->iv_ttl),
	    .ip_src = ip->ip_dst, .ip_dst = peer };
	to = mtodo(m, IP_HDR_MIN);
	tcp_reset_fill(to, &th, len);
	to->th_sum = in_cksum_finish(in_cksum_partial(in_pseudo(ip->ip_src,
	    ip->ip_dst, IPPROTO_TCP, sizeof(*to)), to, sizeof(*to), 0));
	ip_count(iv, TCPS_RESETS, 1);
	(void)ip_output(vnet, m);
}
