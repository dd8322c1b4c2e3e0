/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The IPv6 header and the extension headers that are walked (RFC 8200).
 * Formats only.  Fields in network order, at any address.
 */

#ifndef WIRE_IP6_H
#define WIRE_IP6_H

#include <netinet/in.h>

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define	IPV6_VERSION	0x60	/* the upper four bits of the first byte */
#define	IPV6_MMTU	1280	/* every link takes as much */

/* ip6f_offlg, in host order. */
#define	IP6F_OFF_MASK	0xfff8	/* offset in bytes */
#define	IP6F_MORE_FRAG	0x0001

struct ip6_hdr {
	union {
		uint32_t	ip6_flow;	/* version, class, flow */
		uint8_t		ip6_vfc;	/* version, upper class */
	} __attribute__((packed));
	uint16_t	ip6_plen;	/* bytes after this header */
	uint8_t		ip6_nxt;	/* IPPROTO_* */
	uint8_t		ip6_hlim;
	struct in6_addr	ip6_src;
	struct in6_addr	ip6_dst;
} __attribute__((packed));
static_assert(sizeof(struct ip6_hdr) == 40, "ip6_hdr");
static_assert(offsetof(struct ip6_hdr, ip6_plen) == 4, "plen");
static_assert(offsetof(struct ip6_hdr, ip6_nxt) == 6, "nxt");
static_assert(offsetof(struct ip6_hdr, ip6_src) == 8, "src");
static_assert(offsetof(struct ip6_hdr, ip6_dst) == 24, "dst");

/* What hop-by-hop, routing and destination options begin with. */
struct ip6_ext {
	uint8_t		ip6e_nxt;
	uint8_t		ip6e_len;	/* units of 8 bytes beyond the first */
} __attribute__((packed));
static_assert(sizeof(struct ip6_ext) == 2, "ip6_ext");

struct ip6_rthdr {
	uint8_t		ip6r_nxt;
	uint8_t		ip6r_len;	/* as ip6e_len */
	uint8_t		ip6r_type;
	uint8_t		ip6r_segleft;	/* nodes still to visit */
} __attribute__((packed));
static_assert(sizeof(struct ip6_rthdr) == 4, "ip6_rthdr");

struct ip6_frag {
	uint8_t		ip6f_nxt;
	uint8_t		ip6f_reserved;
	uint16_t	ip6f_offlg;	/* offset, IP6F_MORE_FRAG */
	uint32_t	ip6f_ident;
} __attribute__((packed));
static_assert(sizeof(struct ip6_frag) == 8, "ip6_frag");
static_assert(offsetof(struct ip6_frag, ip6f_ident) == 4, "ident");

#endif /* WIRE_IP6_H */
