/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * IPv4: cutting a packet for a link whose MTU it exceeds.  The packet may be a
 * fragment itself, have options, and be a chain.  No state; on any thread.
 * RFC 791 3.2, RFC 1812 4.2.2.7.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ip/ip_private.h"
#include "wire/in_cksum.h"

/* Put a header for one fragment in front of its data.  NULL: no memory. */
static struct mbuf *
ip_fragment_header(struct mbuf *m, const struct ip *hdr, uint32_t hlen,
    uint16_t off)
{
	struct ip *ip;

	if ((m = m_prepend(m, hlen)) == NULL)
		return (NULL);
	if (m->m_len < hlen && (m = m_pullup(m, hlen)) == NULL)
		return (NULL);
	ip = mtod(m, struct ip *);
	memcpy(ip, hdr, hlen);
	ip->ip_vhl = ip_vhl_make(hlen);
	ip->ip_len = htons((uint16_t)m->m_pkthdr.len);
	ip->ip_off = htons(off);
	ip_sum(ip);
	return (m);
}

/*
 * Cut data, which follows the first fragment, into fragments of at most room
 * bytes of data with the header hdr; off is the first one's ip_off, mf the
 * flag of the last.  Appends to *tail.  False: no memory, data is gone.
 */
static bool
ip_fragment_rest(struct mbuf *data, const struct ip *hdr, uint32_t hlen,
    uint32_t room, uint16_t off, uint16_t mf, struct mbuf **tail,
    unsigned int *count)
{
	struct mbuf *m, *next;

	for (; data != NULL; data = next) {
		m = data;
		next = NULL;
		if (m->m_pkthdr.len > room &&
		    (next = m_split(m, room & ~7u)) == NULL)
			goto nombuf;
		m = ip_fragment_header(m, hdr, hlen,
		    off | (next != NULL ? IP_MF : mf));
		if (m == NULL) {
			m_freem(next);
			return (false);
		}
		off += (uint16_t)(room / 8);
		m->m_nextpkt = NULL;
		*tail = m;
		tail = &m->m_nextpkt;
		(*count)++;
	}
	return (true);
nombuf:
	m_freem(m);
	return (false);
}

/*
 * Cut m into fragments of at most mtu bytes, linked by m_nextpkt in *list,
 * each with its own header checksum.  Options without the copied flag stay in
 * the first only.  Consumes m.  EMSGSIZE: the MTU has no room for 8 bytes of
 * data, or m is a fragment that ends past any packet.  ENOBUFS.  On error the
 * list is NULL.
 */
int
ip_fragment(struct ip_vnet *iv, struct mbuf *m, uint32_t mtu,
    struct mbuf **list)
{
	struct ip *ip = mtod(m, struct ip *);
	uint8_t hdr[IP_HDR_MAX];
	uint32_t hlen = (uint32_t)ip_hl(ip), hlen2, room;
	uint16_t off = ntohs(ip->ip_off), mf = off & IP_MF;
	struct mbuf *rest;
	unsigned int count = 1;

	*list = NULL;
	if ((m->m_pkthdr.csum_flags & CSUM_PARTIAL) != 0)
		(void)m_cksum_finish(m);
	memcpy(hdr, ip, IP_HDR_MIN);
	hlen2 = IP_HDR_MIN +
	    (uint32_t)ip_options_copied(ip, hdr + IP_HDR_MIN);
	if (mtu < hlen + 8 || mtu < hlen2 + 8 ||
	    (uint32_t)(off & IP_OFFMASK) * 8 + m->m_pkthdr.len - hlen >
	    IP_MAXPACKET) {
		m_freem(m);
		return (EMSGSIZE);
	}
	room = (mtu - hlen) & ~7u;
	if ((rest = m_split(m, hlen + room)) == NULL) {
		m_freem(m);
		return (ENOBUFS);
	}
	off &= (uint16_t)~IP_MF;
	ip->ip_len = htons((uint16_t)(hlen + room));
	ip->ip_off = htons(off | IP_MF);
	ip_sum(ip);
	m->m_nextpkt = NULL;
	off += (uint16_t)(room / 8);
	if (!ip_fragment_rest(rest, (const struct ip *)(const void *)hdr,
	    hlen2, mtu - hlen2, off, mf, &m->m_nextpkt, &count)) {
		while ((rest = m) != NULL) {
			m = m->m_nextpkt;
			m_freem(rest);
		}
		return (ENOBUFS);
	}
	*list = m;
	ip_count(iv, IPS_FRAGMENTED, 1);
	ip_count(iv, IPS_OFRAGMENTS, count);
	return (0);
}
