/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Which packets of a burst are plain: no options, everything right, from and
 * to an address a host may have, in one mbuf.  Those can be forwarded without
 * a further thought, and their new TTL and checksum are made here as well.
 *
 * The headers are first copied into arrays, and the checks are a loop over the
 * arrays without a branch, which compilers turn into vector instructions of
 * whatever width the CPU has: 16 headers at a time with AVX-512, 4 with SSE2.
 *
 * The arrays live on the stack of ip_input().  Checks after RFC 1812 5.2.2 and
 * 5.3.7; words are as they lie in memory, on a little-endian CPU.
 */
#ifndef _IP_IP_PLAIN_H_
#define	_IP_IP_PLAIN_H_

#include <assert.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mbuf/mbuf.h"
#include "wire/ip.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
    "the words of a header are taken apart for little endian");

/* The link said that this frame is not an ordinary one for this router. */
#define	M_ODD	(M_BCAST | M_MCAST | M_PROMISC | M_VLANTAG)

struct ip_burst {
	uint32_t	ib_hdr[MBUF_BURST][4];	/* first 16 bytes of a header */
	in_addr_t	ib_dst[MBUF_BURST];	/* the other 4 */
	uint32_t	ib_room[MBUF_BURST];	/* bytes in the packet */
	uint32_t	ib_bad[MBUF_BURST];	/* not 0: not plain */
	uint32_t	ib_len[MBUF_BURST];	/* ip_len, host order */
	uint32_t	ib_ttl[MBUF_BURST];	/* new ip_ttl, ip_p, ip_sum */
};

/*
 * Copy the headers.  Not 0: a packet is odd for another reason than its
 * header, and ip_plain_odd() must tell which.
 */
static inline uintptr_t
ip_plain_gather(struct ip_burst *ib, struct mbuf **m, unsigned int n)
{
	static const char none[IP_HDR_MIN];
	uintptr_t chains = 0;
	uint32_t flags = 0;

	for (size_t i = 0; i < n; i++) {
		const struct mbuf *mi = m[i];
		const char *p = mi->m_data;

		if (__predict_false(mi->m_len < IP_HDR_MIN))
			p = none;
		memcpy(ib->ib_hdr[i], p, sizeof(ib->ib_hdr[i]));
		memcpy(&ib->ib_dst[i], p + sizeof(ib->ib_hdr[i]),
		    sizeof(ib->ib_dst[i]));
		ib->ib_room[i] = mi->m_pkthdr.len;
		flags |= mi->m_flags;
		chains |= (uintptr_t)mi->m_next;
	}
	return (chains | (flags & M_ODD));
}

/* The sum of both halves of a word. */
static inline uint32_t
ip_plain_halves(uint32_t word)
{

	return ((word & 0xffff) + (word >> 16));
}

/*
 * Not 0: no host has this address, as ip_addr_host() tells from its first
 * byte, or none that we forward for, as ip_addr_link() from the first two.
 */
static inline uint32_t
ip_plain_martian(uint32_t addr)
{
	uint32_t byte = addr & 0xff;

	return ((byte - 1 >= 223 ? 1u : 0) | (byte == 127 ? 1u : 0) |
	    ((addr & 0xffff) == 0xfea9 ? 1u : 0));
}

/*
 * The word of TTL, protocol and checksum for a TTL that is one less.  That
 * takes 1 from the word's low half, so ~old + new of RFC 1624, equation 3, is
 * 0xfffe: ip_ttl_dec() for a word.
 */
static inline uint32_t
ip_plain_ttl(uint32_t word)
{
	uint32_t sum = (~word >> 16) + 0xfffe;

	return ((word & 0xff00) | ((word - IPTTLDEC) & 0xff) |
	    ~ip_plain_halves(sum) << 16);
}

/* Fill in ib_bad, ib_len, ib_ttl.  Not 0: a packet is not plain. */
static inline uint32_t
ip_plain_check(struct ip_burst *ib, unsigned int n)
{
	uint32_t any = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t w0 = ib->ib_hdr[i][0], w1 = ib->ib_hdr[i][1];
		uint32_t w2 = ib->ib_hdr[i][2], src = ib->ib_hdr[i][3];
		uint32_t dst = ib->ib_dst[i], bad, len, sum;

		/* Ten halves: one fold of a right sum gives 0xffff. */
		sum = ip_plain_halves(w0) + ip_plain_halves(w1) +
		    ip_plain_halves(w2) + ip_plain_halves(src) +
		    ip_plain_halves(dst);
		bad = ip_plain_halves(sum) ^ 0xffff;
		bad |= (w0 & 0xff) ^ IP_VHL_BORING;
		len = (w0 >> 24) | (w0 >> 8 & 0xff00);
		bad |= len < IP_HDR_MIN ? 1u : 0;
		bad |= len > ib->ib_room[i] ? 1u : 0;
		bad |= (w2 & 0xff) <= IPTTLDEC ? 1u : 0;
		bad |= ip_plain_martian(src) | ip_plain_martian(dst);
		ib->ib_bad[i] = bad;
		ib->ib_len[i] = len;
		ib->ib_ttl[i] = ip_plain_ttl(w2);
		any |= bad;
	}
	return (any);
}

/* Mark those that are odd for another reason than their header. */
static __attribute__((noinline)) void
ip_plain_odd(struct ip_burst *ib, struct mbuf **m, unsigned int n)
{

	for (unsigned int i = 0; i < n; i++)
		ib->ib_bad[i] |= (m[i]->m_flags & M_ODD) |
		    (m[i]->m_next != NULL ? 1u : 0);
}

/*
 * Sort a burst: the plain packets stay in m, in order, and ib is about them;
 * the others go to odd, in order.  Returns how many are plain.
 */
static inline unsigned int
ip_plain_sort(struct ip_burst *ib, struct mbuf **m, unsigned int n,
    struct mbuf **odd)
{
	uintptr_t strange = ip_plain_gather(ib, m, n);
	unsigned int plain = 0;

	if (__predict_true((ip_plain_check(ib, n) | strange) == 0))
		return (n);
	if (strange != 0)
		ip_plain_odd(ib, m, n);
	for (unsigned int i = 0; i < n; i++) {
		if (ib->ib_bad[i] != 0) {
			*odd++ = m[i];
			continue;
		}
		ib->ib_dst[plain] = ib->ib_dst[i];
		ib->ib_len[plain] = ib->ib_len[i];
		ib->ib_ttl[plain] = ib->ib_ttl[i];
		m[plain++] = m[i];
	}
	return (plain);
}

#endif /* _IP_IP_PLAIN_H_ */
