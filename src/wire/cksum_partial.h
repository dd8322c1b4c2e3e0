/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Checksums that a local peer left unfinished.  A veth or TAP peer that counts
 * on checksum offload stores only the pseudo-header sum in the TCP or UDP
 * checksum field.  Where the driver gets a flag for it, in_partial_finish()
 * completes the sum from the flag's start and offset; where there is none
 * (AF_XDP), in_partial_pattern() recognises exactly that pattern.  A checksum
 * that is wrong in any other way is never repaired (RFC 1812 5.2: a router
 * does not touch the transport).
 */

#ifndef WIRE_CKSUM_PARTIAL_H
#define WIRE_CKSUM_PARTIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where to complete a sum, as virtio and Linux describe it. */
struct in_partial {
	uint16_t	ipa_start;	/* first byte summed, from the packet */
	uint16_t	ipa_offset;	/* checksum field, from ipa_start */
	uint32_t	ipa_len;	/* of the packet, padding left out */
};

bool	in_partial_pattern(const void *pkt, size_t len,
	    struct in_partial *part);
bool	in_partial_finish(void *pkt, size_t len, size_t start, size_t offset);

#endif /* WIRE_CKSUM_PARTIAL_H */
