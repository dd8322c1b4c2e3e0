/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The Internet checksum (RFC 1071) and its incremental update (RFC 1624).
 *
 * A *sum* here is a ones' complement sum of 16-bit words taken as they lie in
 * memory; since the sum does not depend on byte order, a checksum is stored
 * into and read from a packet without swapping.  Sums are uint32_t and stay
 * below 2^17 however many parts are added.  No state: any thread, in and out
 * of the epoch.  Nothing needs alignment.
 *
 * The two zeros: 0x0000 and 0xffff are the same number in this arithmetic.  A
 * sum over data that is not all zero never folds to 0, so a checksum made here
 * over such data is never 0xffff; one received as 0xffff in place of 0 is
 * accepted by in_cksum(), and updated right (RFC 1624 section 3).
 */

#ifndef WIRE_IN_CKSUM_H
#define WIRE_IN_CKSUM_H

#include <arpa/inet.h>
#include <netinet/in.h>

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "wire/ip.h"

uint32_t	in_cksum_partial(uint32_t sum, const void *buf, size_t len,
		    size_t off);
uint16_t	in_cksum(const void *buf, size_t len);
uint32_t	in6_pseudo(const struct in6_addr *src,
		    const struct in6_addr *dst, uint8_t proto, uint32_t len);

/* Fold a sum to 16 bits, end-around carry included; no complement. */
static inline uint16_t
in_cksum_fold(uint32_t sum)
{
	sum += sum >> 16 | sum << 16;
	return ((uint16_t)(sum >> 16));
}

/* The checksum to store for a sum: folded and complemented. */
static inline uint16_t
in_cksum_finish(uint32_t sum)
{
	return ((uint16_t)~in_cksum_fold(sum));
}

/* Fold a 64-bit sum of 32-bit or 64-bit words to 16 bits. */
static inline uint16_t
in_cksum_fold64(uint64_t sum)
{
	sum += sum >> 32 | sum << 32;
	return (in_cksum_fold((uint32_t)(sum >> 32)));
}

/*
 * The checksum over the 20 bytes of an IPv4 header without options.  Returns 0
 * when the stored checksum is right, else (with a zeroed field) what to store.
 * Without branches: 20 bytes are three loads.
 */
static inline uint16_t
in_cksum_hdr20(const void *hdr)
{
	uint64_t a, b, sum;
	uint32_t c;

	memcpy(&a, hdr, sizeof(a));
	memcpy(&b, (const char *)hdr + 8, sizeof(b));
	memcpy(&c, (const char *)hdr + 16, sizeof(c));
	sum = a + b;
	sum += sum < b;
	sum += c;
	sum += sum < c;
	return ((uint16_t)~in_cksum_fold64(sum));
}

/*
 * The sum of the IPv4 pseudo-header of TCP and UDP: addresses in network
 * order, protocol, and len, the transport's length in bytes (host order).
 * Folded, not complemented: this is the value that a sender leaves in the
 * field when the rest of the checksum is left to hardware.
 */
static inline uint32_t
in_pseudo(struct in_addr src, struct in_addr dst, uint8_t proto, uint16_t len)
{
	return (in_cksum_fold64((uint64_t)src.s_addr + dst.s_addr +
	    htons(proto) + htons(len)));
}

/*
 * The checksum after one 16-bit word that it covers changed from old to new,
 * all three as they lie in memory (RFC 1624, equation 3).
 */
static inline uint16_t
in_cksum_update16(uint16_t cksum, uint16_t old, uint16_t new)
{
	uint32_t sum;

	sum = (uint32_t)(uint16_t)~cksum + (uint16_t)~old + new;
	return (in_cksum_finish(sum));
}

/* The same for a 32-bit word at an even offset, for example an address. */
static inline uint16_t
in_cksum_update32(uint16_t cksum, uint32_t old, uint32_t new)
{
	uint64_t sum;

	sum = (uint64_t)(uint16_t)~cksum + (uint32_t)~old + new;
	return ((uint16_t)~in_cksum_fold64(sum));
}

/*
 * Take one off the time to live and mend the header checksum.  The caller has
 * seen that ip_ttl is at least 1.  The word that holds the field falls by
 * 0x0100, so ~old + new of RFC 1624's equation 3 is 0xfeff for every header,
 * and the checksum rises by 0x0100, end-around carry included.
 *
 * On a little endian CPU time to live and checksum are the ends of one 32-bit
 * word, and one addition does both: adding 0xffff takes one off the lowest
 * byte and carries one into the checksum, whose 0x0100 is 1 there.
 */
static inline void
ip_ttl_dec(struct ip *ip)
{
	uint32_t sum, word;

	if (htons(1) != 1) {
		memcpy(&word, &ip->ip_ttl, sizeof(word));
		word += 0xffff + (uint32_t)(word >= 0xfffe0000) * 0x10000;
		memcpy(&ip->ip_ttl, &word, sizeof(word));
		return;
	}
	ip->ip_ttl -= IPTTLDEC;
	sum = (uint32_t)(uint16_t)~ip->ip_sum + htons(0xfeff);
	ip->ip_sum = in_cksum_finish(sum);
}

#endif /* WIRE_IN_CKSUM_H */
