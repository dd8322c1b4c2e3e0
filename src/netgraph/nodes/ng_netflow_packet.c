/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the netflow node reads of a packet: the fields of the flow's key.  Pure
 * functions over a copy of the packet's first bytes; everything is checked.
 */
#include <netinet/in.h>

#include <arpa/inet.h>
#include <string.h>

#include <netepoch/mbuf.h>

#include "netgraph/nodes/ng_netflow_private.h"
#include "wire/ether.h"
#include "wire/ip.h"
#include "wire/ip6.h"
#include "wire/tcp.h"

#define	NF_HEADERS	192		/* bytes looked at */
#define	NF_VLANS	2		/* tags in a frame */
#define	NF_EXTS		8		/* IPv6 extension headers */
#define	NF_DLT_RAW	12

struct nf_bytes {
	const uint8_t	*nb_p;
	size_t		 nb_len;
};

static bool
nf_skip(struct nf_bytes *nb, size_t n)
{

	if (nb->nb_len < n)
		return (false);
	nb->nb_p += n;
	nb->nb_len -= n;
	return (true);
}

static uint16_t
nf_get16(const uint8_t *p)
{

	return ((uint16_t)(p[0] << 8 | p[1]));
}

/* Over the Ethernet header and its tags; the type of what follows, or 0. */
static uint16_t
nf_ether(struct nf_bytes *nb)
{
	uint16_t type;

	if (!nf_skip(nb, ETHER_HDR_LEN))
		return (0);
	type = nf_get16(nb->nb_p - 2);
	for (int i = 0; i < NF_VLANS && (type == ETHERTYPE_VLAN ||
	    type == ETHERTYPE_QINQ); i++) {
		if (!nf_skip(nb, ETHER_VLAN_ENCAP_LEN))
			return (0);
		type = nf_get16(nb->nb_p - 2);
	}
	return (type);
}

/* Ports and flags, if they are there. */
static void
nf_transport(const struct nf_bytes *nb, struct nf_packet *np)
{
	const uint8_t *p = nb->nb_p;

	switch (np->np_key.proto) {
	case IPPROTO_TCP:
		if (nb->nb_len >= offsetof(struct tcphdr, th_win))
			np->np_tcpflags = p[offsetof(struct tcphdr,
			    th_flags)];
		/* FALLTHROUGH */
	case IPPROTO_UDP:
	case IPPROTO_SCTP:
		if (nb->nb_len >= 4) {
			memcpy(&np->np_key.sport, p, 2);
			memcpy(&np->np_key.dport, p + 2, 2);
		}
		break;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		/* Type and code, where collectors look for them. */
		if (nb->nb_len >= 2)
			memcpy(&np->np_key.dport, p, 2);
		break;
	}
}

static bool
nf_ip4(struct nf_bytes *nb, struct nf_packet *np)
{
	struct ip ip;

	if (nb->nb_len < sizeof(ip))
		return (false);
	memcpy(&ip, nb->nb_p, sizeof(ip));
	if (ip_v(&ip) != IPVERSION || ip_hl(&ip) < IP_HDR_MIN ||
	    ntohs(ip.ip_len) < ip_hl(&ip))
		return (false);
	np->np_key.version = 4;
	memcpy(np->np_key.src, &ip.ip_src, sizeof(ip.ip_src));
	memcpy(np->np_key.dst, &ip.ip_dst, sizeof(ip.ip_dst));
	np->np_key.proto = ip.ip_p;
	np->np_key.tos = ip.ip_tos;
	np->np_bytes = ntohs(ip.ip_len);
	if ((ip.ip_off & htons(IP_OFFMASK)) == 0 && nf_skip(nb, ip_hl(&ip)))
		nf_transport(nb, np);
	return (true);
}

/* Over extension headers, to what they carry; false: it is not here. */
static bool
nf_ip6_exts(struct nf_bytes *nb, uint8_t *proto)
{
	size_t len;

	for (int i = 0; i < NF_EXTS; i++) {
		if (*proto != IPPROTO_HOPOPTS && *proto != IPPROTO_ROUTING &&
		    *proto != IPPROTO_DSTOPTS && *proto != IPPROTO_FRAGMENT)
			return (true);
		if (nb->nb_len < 8)
			return (false);
		len = *proto == IPPROTO_FRAGMENT ? 8 :
		    ((size_t)nb->nb_p[1] + 1) * 8;
		/* Not the first fragment. */
		if (*proto == IPPROTO_FRAGMENT &&
		    (nf_get16(nb->nb_p + 2) & IP6F_OFF_MASK) != 0) {
			*proto = nb->nb_p[0];
			return (false);
		}
		*proto = nb->nb_p[0];
		if (!nf_skip(nb, len))
			return (false);
	}
	return (false);
}

static bool
nf_ip6(struct nf_bytes *nb, struct nf_packet *np)
{
	struct ip6_hdr ip6;

	if (nb->nb_len < sizeof(ip6))
		return (false);
	memcpy(&ip6, nb->nb_p, sizeof(ip6));
	if ((nb->nb_p[0] & 0xf0) != IPV6_VERSION)
		return (false);
	np->np_key.version = 6;
	memcpy(np->np_key.src, &ip6.ip6_src, sizeof(ip6.ip6_src));
	memcpy(np->np_key.dst, &ip6.ip6_dst, sizeof(ip6.ip6_dst));
	np->np_key.proto = ip6.ip6_nxt;
	np->np_key.tos = (uint8_t)(nb->nb_p[0] << 4 | nb->nb_p[1] >> 4);
	np->np_bytes = ntohs(ip6.ip6_plen) + (uint32_t)sizeof(ip6);
	(void)nf_skip(nb, sizeof(ip6));
	if (nf_ip6_exts(nb, &np->np_key.proto))
		nf_transport(nb, np);
	return (true);
}

bool
nf_packet_parse(const struct mbuf *m, uint8_t dlt, struct nf_packet *np)
{
	uint8_t buf[NF_HEADERS];
	struct nf_bytes nb = { .nb_p = buf, .nb_len = sizeof(buf) };
	uint16_t type;

	if (nb.nb_len > m->m_pkthdr.len)
		nb.nb_len = m->m_pkthdr.len;
	m_copydata(m, 0, (uint32_t)nb.nb_len, buf);
	memset(np, 0, sizeof(*np));
	if (dlt != NF_DLT_RAW) {
		type = nf_ether(&nb);
		if (type == ETHERTYPE_IP)
			return (nf_ip4(&nb, np));
		return (type == ETHERTYPE_IPV6 && nf_ip6(&nb, np));
	}
	if (nb.nb_len == 0)
		return (false);
	return (buf[0] >> 4 == IPVERSION ? nf_ip4(&nb, np) :
	    nf_ip6(&nb, np));
}
