/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Segmentation of TCP over IPv4 and IPv6 and of UDP over both, bare or in a
 * tunnel, without state.  Any thread, no locks.  What changes from segment to
 * segment: lengths, the IPv4 identification (counted up, so that fragments of
 * different segments are never mixed, RFC 6864), the TCP sequence number, FIN
 * and PSH only on the last, CWR only on the first (RFC 3168 6.1.2), and every
 * checksum, made anew from the segment's own bytes whatever the large packet
 * held.
 */

#include "wire/gso.h"

#include <errno.h>

#include "wire/in_cksum.h"
#include "wire/ip.h"
#include "wire/ip6.h"
#include "wire/tcp.h"
#include "wire/udp.h"

/* A checksum over the packet, a sequence number: of a GRE header. */
#define	GSO_GRE_REFUSED	(0x80 | 0x10)

/*
 * Describe the large packet in the len contiguous bytes at frame, whose IP
 * header begins at l3off, for segments of mss payload bytes.  Bytes after the
 * IP packet's end are left out.  Returns 0 and fills *g, or EINVAL when the
 * frame is not whole unfragmented TCP or UDP over IP, or mss is 0.
 */
int
gso_init(struct gso *g, const void *frame, size_t len, size_t l3off,
    size_t mss)
{
	const uint8_t *p = frame;

	if (l3off > len || mss == 0 || mss > IP_MAXPACKET)
		return (EINVAL);
	if (!in_l4_find(p + l3off, len - l3off, &g->gso_l4))
		return (EINVAL);
	g->gso_frame = p;
	g->gso_tunnel.it_end = 0;
	g->gso_outer = 0;
	g->gso_l3off = (uint32_t)l3off;
	g->gso_hdrlen = (uint32_t)l3off + g->gso_l4.l4_off + g->gso_l4.l4_hlen;
	g->gso_paylen = g->gso_l4.l4_len - g->gso_l4.l4_hlen;
	g->gso_mss = (uint32_t)mss;
	g->gso_nsegs = 1;
	if (g->gso_paylen > mss)
		g->gso_nsegs = (g->gso_paylen + g->gso_mss - 1) / g->gso_mss;
	return (0);
}

/*
 * The same for a packet inside a tunnel whose IP header begins at l3off: each
 * segment gets the tunnel's headers, too.  EINVAL also when there is no tunnel,
 * or one that numbers or sums its packets in its own header.
 */
int
gso_init_tunnel(struct gso *g, const void *frame, size_t len, size_t l3off,
    size_t mss)
{
	const uint8_t *p = frame;
	struct in_tunnel it;

	if (l3off > len || !in_tunnel_find(p + l3off, len - l3off, &it))
		return (EINVAL);
	if (it.it_proto == IPPROTO_GRE &&
	    (p[l3off + it.it_off] & GSO_GRE_REFUSED) != 0)
		return (EINVAL);
	if (gso_init(g, p, l3off + it.it_end, l3off + it.it_inner, mss) != 0 ||
	    it.it_inner + g->gso_l4.l4_off + g->gso_l4.l4_len != it.it_end)
		return (EINVAL);
	g->gso_tunnel = it;
	g->gso_outer = (uint32_t)l3off;
	return (0);
}

/*
 * Point *pay at the payload of segment i (below gso_nsegs) in the large packet
 * and return its length in bytes.
 */
size_t
gso_payload(const struct gso *g, uint32_t i, const uint8_t **pay)
{
	uint32_t off = i * g->gso_mss;
	uint32_t left = g->gso_paylen - off;

	*pay = g->gso_frame + g->gso_hdrlen + off;
	return (left < g->gso_mss ? left : g->gso_mss);
}

/* Set an IP header of segment i, a packet of len bytes with it. */
static void
gso_header_ip(uint32_t i, uint8_t *l3, uint32_t len)
{
	struct ip6_hdr *ip6 = (void *)l3;
	struct ip *ip = (void *)l3;

	if ((l3[0] & 0xf0) == IPV6_VERSION) {
		ip6->ip6_plen = htons((uint16_t)(len - sizeof(*ip6)));
		return;
	}
	ip->ip_len = htons((uint16_t)len);
	ip->ip_id = htons((uint16_t)(ntohs(ip->ip_id) + i));
	ip->ip_sum = 0;
	ip->ip_sum = in_cksum(ip, ip_hl(ip));
}

/* Set the sequence number and the flags of segment i. */
static void
gso_header_tcp(const struct gso *g, uint32_t i, struct tcphdr *th)
{
	th->th_seq = htonl(ntohl(th->th_seq) + i * g->gso_mss);
	if (i != g->gso_nsegs - 1)
		th->th_flags &= (uint8_t)~(TH_FIN | TH_PUSH);
	if (i != 0)
		th->th_flags &= (uint8_t)~TH_CWR;
}

/*
 * Set the tunnel's headers of segment i, whose others are complete at out; pay
 * are its len bytes of payload.  A UDP checksum is made where there was one.
 */
static void
gso_header_outer(const struct gso *g, uint32_t i, uint8_t *out,
    const uint8_t *pay, uint32_t len)
{
	const struct in_tunnel *it = &g->gso_tunnel;
	uint8_t *l3 = out + g->gso_outer;
	struct udphdr *uh = (void *)(l3 + it->it_off);
	uint32_t hlen = g->gso_hdrlen - g->gso_outer, sum;
	const struct in_l4 l4 = { .l4_proto = IPPROTO_UDP,
	    .l4_v = (l3[0] & 0xf0) == IPV6_VERSION ? 6 : 4 };

	gso_header_ip(i, l3, hlen + len);
	if (it->it_proto != IPPROTO_UDP)
		return;
	hlen -= it->it_off;
	uh->uh_ulen = htons((uint16_t)(hlen + len));
	if (uh->uh_sum == 0)
		return;
	uh->uh_sum = 0;
	sum = in_l4_pseudo(l3, &l4, hlen + len);
	sum = in_cksum_partial(sum, uh, hlen, 0);
	sum = in_cksum_partial(sum, pay, len, hlen);
	uh->uh_sum = in_cksum_finish(sum);
	if (uh->uh_sum == 0)
		uh->uh_sum = 0xffff;
}

/*
 * Write the headers of segment i (below gso_nsegs), link header included, to
 * out: gso_hdrlen bytes, to be followed by what gso_payload() says.  Every
 * checksum is complete.
 */
void
gso_header(const struct gso *g, uint32_t i, void *out)
{
	const struct in_l4 *l4 = &g->gso_l4;
	const uint8_t *pay;
	uint8_t *l3, *th;
	size_t len;
	uint32_t l4len, sum;
	uint16_t field = 0;

	len = gso_payload(g, i, &pay);
	l4len = l4->l4_hlen + (uint32_t)len;
	memcpy(out, g->gso_frame, g->gso_hdrlen);
	l3 = (uint8_t *)out + g->gso_l3off;
	th = l3 + l4->l4_off;

	gso_header_ip(i, l3, l4->l4_off + l4len);
	if (l4->l4_proto == IPPROTO_TCP)
		gso_header_tcp(g, i, (void *)th);
	else
		((struct udphdr *)(void *)th)->uh_ulen =
		    htons((uint16_t)l4len);

	memcpy(th + l4->l4_sumoff, &field, sizeof(field));
	sum = in_l4_pseudo(l3, l4, l4len);
	sum = in_cksum_partial(sum, th, l4->l4_hlen, 0);
	sum = in_cksum_partial(sum, pay, len, l4->l4_hlen);
	field = in_cksum_finish(sum);
	if (field == 0 && l4->l4_proto == IPPROTO_UDP)
		field = 0xffff;
	memcpy(th + l4->l4_sumoff, &field, sizeof(field));
	if (g->gso_tunnel.it_end != 0)
		gso_header_outer(g, i, out, pay, (uint32_t)len);
}

/*
 * Write the whole of segment i (below gso_nsegs) to the size bytes at out.
 * Returns its length in bytes, or 0 when it does not fit.
 */
size_t
gso_segment(const struct gso *g, uint32_t i, void *out, size_t size)
{
	const uint8_t *pay;
	size_t len;

	len = gso_payload(g, i, &pay);
	if (g->gso_hdrlen + len > size)
		return (0);
	gso_header(g, i, out);
	memcpy((uint8_t *)out + g->gso_hdrlen, pay, len);
	return (g->gso_hdrlen + len);
}
