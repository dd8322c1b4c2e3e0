/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Segmentation in software: split one large TCP or UDP packet, as a peer with
 * segmentation offload hands it over, into packets of at most mss bytes of
 * payload.  The caller allocates; here are only the rules of what the headers
 * of segment i look like.
 */

#ifndef WIRE_GSO_H
#define WIRE_GSO_H

#include <stddef.h>
#include <stdint.h>

#include "wire/in_l4.h"
#include "wire/in_tunnel.h"

/* A large packet; valid as long as the memory it was made from. */
struct gso {
	const uint8_t	*gso_frame;	/* link header, then the IP header */
	struct in_l4	 gso_l4;	/* its transport */
	uint32_t	 gso_l3off;	/* bytes in front of its IP header */
	struct in_tunnel gso_tunnel;	/* that it is in, it_end 0: none */
	uint32_t	 gso_outer;	/* bytes in front of the tunnel's */
	uint32_t	 gso_hdrlen;	/* bytes every segment repeats */
	uint32_t	 gso_paylen;	/* bytes to share out */
	uint32_t	 gso_mss;	/* payload of all but the last */
	uint32_t	 gso_nsegs;	/* how many there will be, at least 1 */
};

int	gso_init(struct gso *g, const void *frame, size_t len, size_t l3off,
	    size_t mss);
int	gso_init_tunnel(struct gso *g, const void *frame, size_t len,
	    size_t l3off, size_t mss);
size_t	gso_payload(const struct gso *g, uint32_t i, const uint8_t **pay);
void	gso_header(const struct gso *g, uint32_t i, void *out);
size_t	gso_segment(const struct gso *g, uint32_t i, void *out, size_t size);

#endif /* WIRE_GSO_H */
