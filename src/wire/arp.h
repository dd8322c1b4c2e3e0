/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Address resolution for IPv4 over Ethernet (RFC 826), one fixed size since
 * both address lengths are fixed.  The receiver checks arp_hrd, arp_pro,
 * arp_hln and arp_pln before it trusts the rest.  Fields in network order.
 */

#ifndef WIRE_ARP_H
#define WIRE_ARP_H

#include <netinet/in.h>

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/ether.h"

#define	ARPHRD_ETHER	1	/* arp_hrd of Ethernet */

#define	ARPOP_REQUEST	1	/* who has arp_tpa? */
#define	ARPOP_REPLY	2	/* arp_spa is at arp_sha */

#define	ARP_ETHER_LEN	28	/* bytes of struct ether_arp */

struct ether_arp {
	uint16_t	arp_hrd;		/* ARPHRD_ETHER */
	uint16_t	arp_pro;		/* ETHERTYPE_IP */
	uint8_t		arp_hln;		/* ETHER_ADDR_LEN */
	uint8_t		arp_pln;		/* 4 */
	uint16_t	arp_op;			/* ARPOP_* */
	uint8_t		arp_sha[ETHER_ADDR_LEN]; /* sender, hardware */
	struct in_addr	arp_spa;		/* sender, protocol */
	uint8_t		arp_tha[ETHER_ADDR_LEN]; /* target, hardware */
	struct in_addr	arp_tpa;		/* target, protocol */
} __attribute__((packed));
static_assert(sizeof(struct ether_arp) == ARP_ETHER_LEN, "ether_arp");
static_assert(offsetof(struct ether_arp, arp_op) == 6, "op");
static_assert(offsetof(struct ether_arp, arp_sha) == 8, "sha");
static_assert(offsetof(struct ether_arp, arp_spa) == 14, "spa");
static_assert(offsetof(struct ether_arp, arp_tha) == 18, "tha");
static_assert(offsetof(struct ether_arp, arp_tpa) == 24, "tpa");

#endif /* WIRE_ARP_H */
