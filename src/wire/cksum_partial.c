/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Recognise and finish partial transport checksums.  Pure functions over
 * contiguous memory: any thread, no locks.  The recogniser reads the payload
 * only when the field holds the pseudo-header sum, which a finished packet
 * does once in 65,535.
 */

#include "wire/cksum_partial.h"

#include "wire/in_cksum.h"
#include "wire/in_l4.h"
#include "wire/in_tunnel.h"
#include "wire/udp.h"

/* The same for a packet that is in no tunnel. */
static bool
partial_plain(const void *pkt, size_t len, struct in_partial *part)
{
	const uint8_t *p = pkt;
	struct in_l4 l4;
	uint32_t pseudo, sum;
	uint16_t field;

	if (!in_l4_find(pkt, len, &l4))
		return (false);
	memcpy(&field, p + l4.l4_off + l4.l4_sumoff, sizeof(field));
	pseudo = in_l4_pseudo(pkt, &l4, l4.l4_len);
	if (field != pseudo)
		return (false);
	sum = in_cksum_partial(pseudo, p + l4.l4_off, l4.l4_len, 0);
	if (in_cksum_finish(sum) == 0)
		return (false);
	part->ipa_start = l4.l4_off;
	part->ipa_offset = l4.l4_sumoff;
	part->ipa_len = l4.l4_off + l4.l4_len;
	return (true);
}

/*
 * Does the packet at pkt, an IP header with len readable bytes, wait for its
 * checksum to be finished?  True only for unfragmented TCP or UDP over IPv4 or
 * IPv6, bare or in a tunnel, whose checksum field equals the pseudo-header sum
 * and whose full sum is wrong; then *part is what in_partial_finish() wants
 * (ipa_len as its len).  A peer that leaves the inner sum of a tunnel to us has
 * made the outer one for what it will be.  Changes nothing.
 */
bool
in_partial_pattern(const void *pkt, size_t len, struct in_partial *part)
{
	const uint8_t *p = pkt;
	struct in_tunnel it;

	if (partial_plain(p, len, part))
		return (true);
	if (!in_tunnel_find(p, len, &it) ||
	    !partial_plain(p + it.it_inner, it.it_end - it.it_inner, part) ||
	    it.it_inner + part->ipa_len != it.it_end)
		return (false);
	part->ipa_start = (uint16_t)(part->ipa_start + it.it_inner);
	part->ipa_len = it.it_end;
	return (true);
}

/*
 * Complete the checksum of the packet of len bytes at pkt: sum from start to
 * the end, with what the field at start + offset holds already (the
 * pseudo-header sum), and store the complement.  All in bytes, from the same
 * origin; len must leave out padding.  A UDP checksum of 0 is stored as 0xffff
 * (RFC 768).  Returns false, and changes nothing, when the field does not lie
 * inside the packet: start and offset may come from a peer.
 */
bool
in_partial_finish(void *pkt, size_t len, size_t start, size_t offset)
{
	uint8_t *p = pkt;
	uint16_t sum;

	if (start > len || offset > len - start ||
	    len - start - offset < sizeof(sum))
		return (false);
	sum = in_cksum(p + start, len - start);
	if (sum == 0 && offset == offsetof(struct udphdr, uh_sum))
		sum = 0xffff;
	memcpy(p + start + offset, &sum, sizeof(sum));
	return (true);
}
