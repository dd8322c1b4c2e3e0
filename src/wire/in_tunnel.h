/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Find the packet inside a tunnelled one: what the checksum and segmentation
 * helpers need where a peer left the inner transport unfinished or uncut.  The
 * packet is hostile: every length is checked before it is used.
 */

#ifndef WIRE_IN_TUNNEL_H
#define WIRE_IN_TUNNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All places are bytes from the outer IP header. */
struct in_tunnel {
	uint8_t		it_proto;	/* IPPROTO_UDP, GRE, IPIP, IPV6 */
	uint16_t	it_off;		/* what the outer IP header carries */
	uint16_t	it_inner;	/* the inner IP header */
	uint32_t	it_end;		/* of the outer packet */
};

bool	in_tunnel_find(const void *pkt, size_t len, struct in_tunnel *it);

#endif /* WIRE_IN_TUNNEL_H */
