/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The Ethernet frame: header, addresses, types and the 802.1Q tag
 * (IEEE 802.3 clause 3, IEEE 802.1Q clause 9).  Formats and helpers without
 * state; usable on any thread, in and out of the epoch.  A header may lie at
 * any address, so the structs are packed and hold multi-byte fields in network
 * order.
 */

#ifndef WIRE_ETHER_H
#define WIRE_ETHER_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define	ETHER_ADDR_LEN		6	/* bytes in an address */
#define	ETHER_TYPE_LEN		2	/* bytes in the type field */
#define	ETHER_CRC_LEN		4	/* bytes of the frame check sequence */
#define	ETHER_HDR_LEN		14	/* both addresses and the type */
#define	ETHER_VLAN_ENCAP_LEN	4	/* bytes that one tag adds */
#define	ETHER_MIN_LEN		64	/* shortest frame, with FCS */
#define	ETHER_MIN_NOFCS		60	/* shortest frame, without FCS */
#define	ETHERMTU		1500	/* largest payload of a plain frame */
#define	ETHERMIN		46	/* smallest payload of a plain frame */

/* A type field below this value is an 802.3 length. */
#define	ETHERTYPE_MIN		0x0600
#define	ETHERTYPE_IP		0x0800
#define	ETHERTYPE_ARP		0x0806
#define	ETHERTYPE_REVARP	0x8035
#define	ETHERTYPE_VLAN		0x8100	/* 802.1Q customer tag */
#define	ETHERTYPE_IPV6		0x86dd
#define	ETHERTYPE_MPLS		0x8847
#define	ETHERTYPE_PPPOEDISC	0x8863
#define	ETHERTYPE_PPPOE		0x8864
#define	ETHERTYPE_QINQ		0x88a8	/* 802.1ad service tag */
#define	ETHERTYPE_LLDP		0x88cc

/* VLAN identifiers: 0 only carries a priority, 4095 is reserved. */
#define	EVL_VLID_MASK		0x0fff
#define	EVL_VLID_PRIO		0
#define	EVL_VLID_RESERVED	4095

struct ether_header {
	uint8_t		ether_dhost[ETHER_ADDR_LEN];
	uint8_t		ether_shost[ETHER_ADDR_LEN];
	uint16_t	ether_type;
} __attribute__((packed));
static_assert(sizeof(struct ether_header) == ETHER_HDR_LEN, "ether_header");
static_assert(offsetof(struct ether_header, ether_shost) == 6, "shost");
static_assert(offsetof(struct ether_header, ether_type) == 12, "type");

struct ether_vlan_header {
	uint8_t		evl_dhost[ETHER_ADDR_LEN];
	uint8_t		evl_shost[ETHER_ADDR_LEN];
	uint16_t	evl_encap_proto;	/* ETHERTYPE_VLAN or _QINQ */
	uint16_t	evl_tag;		/* priority, DEI, identifier */
	uint16_t	evl_proto;		/* what the tag stood before */
} __attribute__((packed));
static_assert(sizeof(struct ether_vlan_header) ==
    ETHER_HDR_LEN + ETHER_VLAN_ENCAP_LEN, "ether_vlan_header");
static_assert(offsetof(struct ether_vlan_header, evl_tag) == 14, "tag");
static_assert(offsetof(struct ether_vlan_header, evl_proto) == 16, "proto");

struct ether_addr {
	uint8_t		octet[ETHER_ADDR_LEN];
} __attribute__((packed));
static_assert(sizeof(struct ether_addr) == ETHER_ADDR_LEN, "ether_addr");

/* The VLAN identifier (0 to 4095) of a tag in host order. */
static inline uint16_t
ether_tag_vid(uint16_t tag)
{
	return (tag & EVL_VLID_MASK);
}

/* The priority code point (0 to 7) of a tag in host order. */
static inline uint8_t
ether_tag_pcp(uint16_t tag)
{
	return ((uint8_t)(tag >> 13));
}

/* The drop eligible indicator of a tag in host order. */
static inline bool
ether_tag_dei(uint16_t tag)
{
	return ((tag & 0x1000) != 0);
}

/* A tag in host order from identifier, priority (0 to 7) and indicator. */
static inline uint16_t
ether_tag_make(uint16_t vid, uint8_t pcp, bool dei)
{
	return ((uint16_t)((pcp & 7) << 13 | (dei ? 0x1000 : 0) |
	    (vid & EVL_VLID_MASK)));
}

/* Does a type in host order announce a VLAN tag? */
static inline bool
ether_type_is_vlan(uint16_t type)
{
	return (type == ETHERTYPE_VLAN || type == ETHERTYPE_QINQ);
}

/* Is this a group address?  The broadcast address is one, too. */
static inline bool
ether_is_multicast(const uint8_t *addr)
{
	return ((addr[0] & 1) != 0);
}

/* Are all six bytes 0xff? */
static inline bool
ether_is_broadcast(const uint8_t *addr)
{
	return ((addr[0] & addr[1] & addr[2] & addr[3] & addr[4] & addr[5]) ==
	    0xff);
}

/* Are all six bytes zero? */
static inline bool
ether_is_zero(const uint8_t *addr)
{
	return ((addr[0] | addr[1] | addr[2] | addr[3] | addr[4] | addr[5]) ==
	    0);
}

/* Are the two addresses the same? */
static inline bool
ether_addr_equal(const uint8_t *a, const uint8_t *b)
{
	return (memcmp(a, b, ETHER_ADDR_LEN) == 0);
}

#endif /* WIRE_ETHER_H */
