/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Find the transport header of a packet: what the checksum and segmentation
 * helpers need to know of an IPv4 or IPv6 packet before they touch it.  The
 * packet is hostile: every length is checked before it is used.
 */

#ifndef WIRE_IN_L4_H
#define WIRE_IN_L4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct in_l4 {
	uint8_t		l4_v;		/* IP version, 4 or 6 */
	uint8_t		l4_proto;	/* IPPROTO_TCP or IPPROTO_UDP */
	uint16_t	l4_off;		/* transport, from the IP header */
	uint16_t	l4_hlen;	/* transport header, options too */
	uint16_t	l4_sumoff;	/* checksum field, from transport */
	uint32_t	l4_len;		/* bytes, header and payload */
};

bool		in_l4_find(const void *pkt, size_t len, struct in_l4 *l4);
uint32_t	in_l4_pseudo(const void *pkt, const struct in_l4 *l4,
		    uint32_t len);

#endif /* WIRE_IN_L4_H */
