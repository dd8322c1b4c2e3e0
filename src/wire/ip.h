/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The IPv4 header (RFC 791), its options (RFC 791, RFC 2113) and the bits that
 * a router needs.  Formats and helpers without state.  A header may lie at any
 * address; fields are in network order.
 */

#ifndef WIRE_IP_H
#define WIRE_IP_H

#include <netinet/in.h>

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define	IPVERSION	4
#define	IP_MAXPACKET	65535	/* bytes, header included */
#define	IP_HDR_MIN	20	/* header without options */
#define	IP_HDR_MAX	60	/* header with all options */
#define	IP_MSS_MIN	68	/* every link takes as much (RFC 791 3.2) */

#define	MAXTTL		255
#define	IPDEFTTL	64
#define	IPTTLDEC	1	/* what one hop takes off */

/* ip_off, in host order. */
#define	IP_RF		0x8000	/* reserved */
#define	IP_DF		0x4000	/* don't fragment */
#define	IP_MF		0x2000	/* more fragments */
#define	IP_OFFMASK	0x1fff	/* offset in units of 8 bytes */

/* ip_tos: DSCP in the upper six bits, ECN in the lower two (RFC 3168). */
#define	IPTOS_ECN_MASK		0x03
#define	IPTOS_ECN_CE		0x03
#define	IPTOS_PREC_INTERNETCONTROL 0xc0

/* Options: the type's first bit says that every fragment carries it. */
#define	IPOPT_COPIED(o)	(((o) & 0x80) != 0)
#define	IPOPT_EOL	0	/* end of the list */
#define	IPOPT_NOP	1	/* padding */
#define	IPOPT_RR	7	/* record route */
#define	IPOPT_TS	68	/* timestamp */
#define	IPOPT_SECURITY	130
#define	IPOPT_LSRR	131	/* loose source route */
#define	IPOPT_SATID	136	/* stream identifier, obsolete */
#define	IPOPT_SSRR	137	/* strict source route */
#define	IPOPT_RA	148	/* router alert (RFC 2113) */

/* Positions in an option, from its type byte. */
#define	IPOPT_OPTVAL	0	/* type */
#define	IPOPT_OLEN	1	/* length, type and length included */
#define	IPOPT_OFFSET	2	/* pointer, counted from 1 */
#define	IPOPT_MINOFF	4	/* least value of a route's pointer */

/* The timestamp option: overflow count and flag share the fourth byte. */
#define	IPOPT_TS_OFLW	3
#define	IPOPT_TS_MINOFF	5
#define	IPOPT_TS_TSONLY	0	/* times only */
#define	IPOPT_TS_TSANDADDR 1	/* addresses and times */
#define	IPOPT_TS_PRESPEC 3	/* times of the routers that are named */

struct ip {
	uint8_t		ip_vhl;		/* version, header length in words */
	uint8_t		ip_tos;
	uint16_t	ip_len;		/* bytes, header included */
	uint16_t	ip_id;
	uint16_t	ip_off;		/* flags and fragment offset */
	uint8_t		ip_ttl;
	uint8_t		ip_p;		/* IPPROTO_* */
	uint16_t	ip_sum;
	struct in_addr	ip_src;
	struct in_addr	ip_dst;
} __attribute__((packed));
static_assert(sizeof(struct ip) == IP_HDR_MIN, "ip");
static_assert(offsetof(struct ip, ip_len) == 2, "len");
static_assert(offsetof(struct ip, ip_off) == 6, "off");
static_assert(offsetof(struct ip, ip_ttl) == 8, "ttl");
static_assert(offsetof(struct ip, ip_sum) == 10, "sum");
static_assert(offsetof(struct ip, ip_src) == 12, "src");
static_assert(offsetof(struct ip, ip_dst) == 16, "dst");

/* ip_vhl of a header without options. */
#define	IP_VHL_BORING	0x45

/* The version of a header. */
static inline unsigned int
ip_v(const struct ip *ip)
{
	return (ip->ip_vhl >> 4);
}

/* The header's length in bytes, 0 to 60: the caller checks IP_HDR_MIN. */
static inline size_t
ip_hl(const struct ip *ip)
{
	return ((size_t)(ip->ip_vhl & 0x0f) << 2);
}

/* ip_vhl for a header of hlen bytes, a multiple of 4 from 20 to 60. */
static inline uint8_t
ip_vhl_make(size_t hlen)
{
	return ((uint8_t)(IPVERSION << 4 | hlen >> 2));
}

#endif /* WIRE_IP_H */
