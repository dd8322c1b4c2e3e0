/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * VXLAN (RFC 7348), Geneve (RFC 8926), GRE (RFC 2784, RFC 2890), IP in IP (RFC
 * 2003, RFC 4213).  The UDP ones are told by the form of their headers, not by
 * the port, which operators choose as they like; whoever acts on the answer
 * asks for more than the form.  Pure functions over contiguous memory: any
 * thread, no locks.
 */

#include "wire/in_tunnel.h"

#include <netinet/in.h>
#include <string.h>

#include "wire/ether.h"
#include "wire/ip.h"
#include "wire/ip6.h"
#include "wire/udp.h"

#define	GRE_CKSUM	0x80
#define	GRE_ROUTING	0x40
#define	GRE_KEY		0x20
#define	GRE_SEQ		0x10
#define	GRE_VERSION	0x07
#define	ETHERTYPE_TEB	0x6558		/* an Ethernet frame follows */
#define	TUNNEL_HDR_LEN	8		/* VXLAN's, and Geneve's shortest */

static uint16_t
tunnel_get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return (ntohs(v));
}

/* The outer IP header: unfragmented, without IPv6 extensions. */
static bool
tunnel_outer(const uint8_t *p, size_t len, struct in_tunnel *it)
{
	const struct ip6_hdr *ip6 = (const void *)p;
	const struct ip *ip = (const void *)p;

	if (len >= sizeof(*ip) && ip_v(ip) == IPVERSION) {
		it->it_proto = ip->ip_p;
		it->it_off = (uint16_t)ip_hl(ip);
		it->it_end = ntohs(ip->ip_len);
		return (it->it_off >= sizeof(*ip) &&
		    it->it_off <= it->it_end && it->it_end <= len &&
		    (ip->ip_off & htons(IP_MF | IP_OFFMASK)) == 0);
	}
	if (len < sizeof(*ip6) || (p[0] & 0xf0) != IPV6_VERSION)
		return (false);
	it->it_proto = ip6->ip6_nxt;
	it->it_off = sizeof(*ip6);
	it->it_end = (uint32_t)sizeof(*ip6) + ntohs(ip6->ip6_plen);
	return (it->it_end <= len);
}

/* The IP header behind the Ethernet one at off, and its tags; 0: none. */
static size_t
tunnel_ether(const uint8_t *p, size_t off, size_t end)
{
	uint16_t type;

	for (off += ETHER_HDR_LEN; off <= end; off += ETHER_VLAN_ENCAP_LEN) {
		type = tunnel_get16(p + off - ETHER_TYPE_LEN);
		if (type == ETHERTYPE_IP || type == ETHERTYPE_IPV6)
			return (off);
		if (!ether_type_is_vlan(type))
			break;
	}
	return (0);
}

static size_t
tunnel_gre(const uint8_t *p, size_t off, size_t end)
{
	size_t hlen = 4;
	uint16_t type;

	if (end - off < hlen || (p[off] & GRE_ROUTING) != 0 ||
	    (p[off + 1] & GRE_VERSION) != 0)
		return (0);
	hlen += (p[off] & GRE_CKSUM) != 0 ? 4 : 0;
	hlen += (p[off] & GRE_KEY) != 0 ? 4 : 0;
	hlen += (p[off] & GRE_SEQ) != 0 ? 4 : 0;
	type = tunnel_get16(p + off + 2);
	if (type == ETHERTYPE_TEB)
		return (tunnel_ether(p, off + hlen, end));
	return (type == ETHERTYPE_IP || type == ETHERTYPE_IPV6 ? off + hlen :
	    0);
}

static size_t
tunnel_udp(const uint8_t *p, size_t off, size_t end)
{
	const uint8_t *h = p + off + sizeof(struct udphdr);

	if (end - off < sizeof(struct udphdr) + TUNNEL_HDR_LEN)
		return (0);
	off += sizeof(struct udphdr) + TUNNEL_HDR_LEN;
	/* VXLAN: the I flag, perhaps a group policy; a last byte of zero. */
	if ((h[0] & 0x7f) == 0x08 && h[7] == 0)
		return (tunnel_ether(p, off, end));
	/* Geneve: version 0 and words of options, carrying Ethernet. */
	if (h[0] >> 6 == 0 && (h[1] & 0x3f) == 0 && h[7] == 0 &&
	    tunnel_get16(h + 2) == ETHERTYPE_TEB)
		return (tunnel_ether(p, off + 4 * (h[0] & 0x3fu), end));
	return (0);
}

/*
 * Describe the tunnelled packet at pkt, an IP header with len readable bytes
 * (padding may follow).  False, it is undefined: none that we know.  True: it
 * has the form of one, and an IP header may begin at it_inner, at most at
 * it_end; nothing of it was looked at.
 */
bool
in_tunnel_find(const void *pkt, size_t len, struct in_tunnel *it)
{
	const uint8_t *p = pkt;
	size_t inner = 0;

	if (!tunnel_outer(p, len, it))
		return (false);
	switch (it->it_proto) {
	case IPPROTO_IPIP:
	case IPPROTO_IPV6:
		inner = it->it_off;
		break;
	case IPPROTO_GRE:
		inner = tunnel_gre(p, it->it_off, it->it_end);
		break;
	case IPPROTO_UDP:
		inner = tunnel_udp(p, it->it_off, it->it_end);
		break;
	default:
		break;
	}
	it->it_inner = (uint16_t)inner;
	return (inner != 0 && inner <= it->it_end);
}
