/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Find TCP or UDP in an IPv4 (RFC 791) or IPv6 (RFC 8200) packet.  Pure
 * functions over contiguous memory: any thread, no locks.
 */

#include "wire/in_l4.h"

#include "wire/in_cksum.h"
#include "wire/ip.h"
#include "wire/ip6.h"
#include "wire/tcp.h"
#include "wire/udp.h"

/* More extension headers than this before the transport: not for us. */
#define	L4_MAXEXT	8

/* Set offset, length and protocol from an IPv4 header. */
static bool
l4_find_ip4(const uint8_t *pkt, size_t len, struct in_l4 *l4)
{
	const struct ip *ip = (const void *)pkt;
	size_t hlen, total;

	if (len < sizeof(*ip) || ip_v(ip) != IPVERSION)
		return (false);
	hlen = ip_hl(ip);
	total = ntohs(ip->ip_len);
	if (hlen < sizeof(*ip) || total < hlen || total > len)
		return (false);
	if ((ip->ip_off & htons(IP_MF | IP_OFFMASK)) != 0)
		return (false);
	l4->l4_v = 4;
	l4->l4_proto = ip->ip_p;
	l4->l4_off = (uint16_t)hlen;
	l4->l4_len = (uint32_t)(total - hlen);
	return (true);
}

/*
 * Set offset, length and protocol from an IPv6 header, over hop-by-hop,
 * destination and used-up routing headers.  A fragment header of any kind, or
 * a routing header that still changes the destination, ends the search.
 */
static bool
l4_find_ip6(const uint8_t *pkt, size_t len, struct in_l4 *l4)
{
	const struct ip6_hdr *ip6 = (const void *)pkt;
	const struct ip6_rthdr *ext;
	size_t off = sizeof(*ip6), total;
	unsigned int n;
	uint8_t nxt;

	if (len < sizeof(*ip6))
		return (false);
	total = sizeof(*ip6) + ntohs(ip6->ip6_plen);
	if (total > len)
		return (false);
	nxt = ip6->ip6_nxt;
	for (n = 0; nxt != IPPROTO_TCP && nxt != IPPROTO_UDP; n++) {
		if (nxt != IPPROTO_HOPOPTS && nxt != IPPROTO_DSTOPTS &&
		    nxt != IPPROTO_ROUTING)
			return (false);
		if (n == L4_MAXEXT || total - off < 8)
			return (false);
		ext = (const void *)(pkt + off);
		if (nxt == IPPROTO_ROUTING && ext->ip6r_segleft != 0)
			return (false);
		nxt = ext->ip6r_nxt;
		off += ((size_t)ext->ip6r_len + 1) * 8;
		if (off > total)
			return (false);
	}
	l4->l4_v = 6;
	l4->l4_proto = nxt;
	l4->l4_off = (uint16_t)off;
	l4->l4_len = (uint32_t)(total - off);
	return (true);
}

/*
 * Describe the transport of the packet at pkt, an IP header with len readable
 * bytes behind it (padding may follow the packet).  True for a whole,
 * unfragmented TCP or UDP packet whose headers lie within it; then all of *l4
 * is set.  False for everything else.
 */
bool
in_l4_find(const void *pkt, size_t len, struct in_l4 *l4)
{
	const uint8_t *p = pkt;
	const struct tcphdr *th;
	const struct udphdr *uh;
	size_t hlen;

	if (len == 0)
		return (false);
	if ((p[0] & 0xf0) == IPV6_VERSION) {
		if (!l4_find_ip6(p, len, l4))
			return (false);
	} else if (!l4_find_ip4(p, len, l4))
		return (false);

	if (l4->l4_proto == IPPROTO_TCP) {
		th = (const void *)(p + l4->l4_off);
		if (l4->l4_len < sizeof(*th))
			return (false);
		hlen = tcp_hl(th);
		if (hlen < sizeof(*th) || hlen > l4->l4_len)
			return (false);
		l4->l4_hlen = (uint16_t)hlen;
		l4->l4_sumoff = offsetof(struct tcphdr, th_sum);
		return (true);
	}
	if (l4->l4_proto == IPPROTO_UDP) {
		uh = (const void *)(p + l4->l4_off);
		if (l4->l4_len < sizeof(*uh) ||
		    ntohs(uh->uh_ulen) != l4->l4_len)
			return (false);
		l4->l4_hlen = sizeof(*uh);
		l4->l4_sumoff = offsetof(struct udphdr, uh_sum);
		return (true);
	}
	return (false);
}

/*
 * The pseudo-header sum of the packet that l4 describes, for a transport of
 * len bytes (header and payload).  Folded, not complemented.
 */
uint32_t
in_l4_pseudo(const void *pkt, const struct in_l4 *l4, uint32_t len)
{
	const struct ip6_hdr *ip6 = pkt;
	const struct ip *ip = pkt;
	struct in6_addr src, dst;

	if (l4->l4_v == 4)
		return (in_pseudo(ip->ip_src, ip->ip_dst, l4->l4_proto,
		    (uint16_t)len));
	src = ip6->ip6_src;
	dst = ip6->ip6_dst;
	return (in6_pseudo(&src, &dst, l4->l4_proto, len));
}
