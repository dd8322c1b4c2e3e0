/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * ICMP for IPv4 (RFC 792, RFC 1191 for the next-hop MTU, RFC 1812 for the
 * codes of unreachable).  The fixed eight bytes; what follows depends on the
 * type.  Fields in network order, at any address.
 */

#ifndef WIRE_IP_ICMP_H
#define WIRE_IP_ICMP_H

#include <netinet/in.h>

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define	ICMP_MINLEN	8	/* bytes of struct icmp */

#define	ICMP_ECHOREPLY		0
#define	ICMP_UNREACH		3
#define	ICMP_SOURCEQUENCH	4	/* obsolete (RFC 6633) */
#define	ICMP_REDIRECT		5
#define	ICMP_ECHO		8
#define	ICMP_ROUTERADVERT	9
#define	ICMP_ROUTERSOLICIT	10
#define	ICMP_TIMXCEED		11
#define	ICMP_PARAMPROB		12
#define	ICMP_TSTAMP		13
#define	ICMP_TSTAMPREPLY	14
#define	ICMP_IREQ		15	/* obsolete (RFC 6918) */
#define	ICMP_IREQREPLY		16
#define	ICMP_MASKREQ		17
#define	ICMP_MASKREPLY		18

/* Codes of ICMP_UNREACH. */
#define	ICMP_UNREACH_NET	0
#define	ICMP_UNREACH_HOST	1
#define	ICMP_UNREACH_PROTOCOL	2
#define	ICMP_UNREACH_PORT	3
#define	ICMP_UNREACH_NEEDFRAG	4
#define	ICMP_UNREACH_SRCFAIL	5
#define	ICMP_UNREACH_NET_UNKNOWN 6
#define	ICMP_UNREACH_HOST_UNKNOWN 7
#define	ICMP_UNREACH_ISOLATED	8
#define	ICMP_UNREACH_NET_PROHIB	9
#define	ICMP_UNREACH_HOST_PROHIB 10
#define	ICMP_UNREACH_TOSNET	11
#define	ICMP_UNREACH_TOSHOST	12
#define	ICMP_UNREACH_FILTER_PROHIB 13

/* Codes of ICMP_REDIRECT. */
#define	ICMP_REDIRECT_NET	0
#define	ICMP_REDIRECT_HOST	1

/* Codes of ICMP_TIMXCEED. */
#define	ICMP_TIMXCEED_INTRANS	0	/* time to live ran out */
#define	ICMP_TIMXCEED_REASS	1	/* reassembly took too long */

/* Codes of ICMP_PARAMPROB. */
#define	ICMP_PARAMPROB_ERRATPTR	0	/* error at icmp_pptr */
#define	ICMP_PARAMPROB_OPTABSENT 1
#define	ICMP_PARAMPROB_LENGTH	2

struct icmp {
	uint8_t		icmp_type;
	uint8_t		icmp_code;
	uint16_t	icmp_cksum;
	union {
		struct {		/* echo, timestamp */
			uint16_t icmp_id;
			uint16_t icmp_seq;
		} __attribute__((packed));
		struct {		/* unreachable, code needfrag */
			uint16_t icmp_pmvoid;
			uint16_t icmp_nextmtu;
		} __attribute__((packed));
		uint8_t		icmp_pptr;	/* parameter problem */
		struct in_addr	icmp_gwaddr;	/* redirect */
		uint32_t	icmp_void;	/* zero in other errors */
	} __attribute__((packed));
} __attribute__((packed));
static_assert(sizeof(struct icmp) == ICMP_MINLEN, "icmp");
static_assert(offsetof(struct icmp, icmp_cksum) == 2, "cksum");
static_assert(offsetof(struct icmp, icmp_seq) == 6, "seq");
static_assert(offsetof(struct icmp, icmp_nextmtu) == 6, "nextmtu");
static_assert(offsetof(struct icmp, icmp_gwaddr) == 4, "gwaddr");

/*
 * Is this type an error?  One is never answered by another (RFC 1812
 * 4.3.2.7), and a type nobody knows is not taken for an error.
 */
static inline bool
icmp_type_is_error(uint8_t type)
{
	return (type == ICMP_UNREACH || type == ICMP_SOURCEQUENCH ||
	    type == ICMP_REDIRECT || type == ICMP_TIMXCEED ||
	    type == ICMP_PARAMPROB);
}

#endif /* WIRE_IP_ICMP_H */
