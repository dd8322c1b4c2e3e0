/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The Internet checksum over buffers of any length and alignment (RFC 1071).
 * Pure functions: any thread, no locks.
 */

#include "wire/in_cksum.h"

/*
 * The sum of len bytes, folded to 16 bits.  32-bit words are added to 64-bit
 * accumulators, which cannot overflow below 16 GiB, so no carry has to be
 * looked at in the loop and the compiler turns it into vector code.
 */
static uint16_t
cksum_bulk(const uint8_t *p, size_t len)
{
	uint64_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
	uint32_t w[4];
	uint32_t last = 0;
	uint16_t half;

	for (; len >= sizeof(w); p += sizeof(w), len -= sizeof(w)) {
		memcpy(w, p, sizeof(w));
		sum0 += w[0];
		sum1 += w[1];
		sum2 += w[2];
		sum3 += w[3];
	}
	for (; len >= 4; p += 4, len -= 4) {
		memcpy(w, p, 4);
		sum0 += w[0];
	}
	if (len >= 2) {
		memcpy(&half, p, 2);
		sum1 += half;
		p += 2;
		len -= 2;
	}
	if (len != 0) {
		memcpy(&last, p, 1);	/* the missing byte counts as zero */
		sum2 += last;
	}
	return (in_cksum_fold64(sum0 + sum1 + sum2 + sum3));
}

/*
 * Add len bytes at buf to sum, where off says how many bytes were added before
 * them: after an odd number the bytes change sides, so that a chain of odd
 * pieces sums as the whole does.  Returns a sum below 2^17.
 */
uint32_t
in_cksum_partial(uint32_t sum, const void *buf, size_t len, size_t off)
{
	uint16_t part;

	part = cksum_bulk(buf, len);
	if ((off & 1) != 0)
		part = (uint16_t)(part << 8 | part >> 8);
	return ((uint32_t)in_cksum_fold(sum) + part);
}

/*
 * The checksum of len bytes: what to store when the field is zero, and 0 when
 * the field holds a right checksum.
 */
uint16_t
in_cksum(const void *buf, size_t len)
{
	return ((uint16_t)~cksum_bulk(buf, len));
}

/*
 * The sum of the IPv6 pseudo-header (RFC 8200 8.1); len in bytes, host order.
 * Folded, not complemented, as in_pseudo().
 */
uint32_t
in6_pseudo(const struct in6_addr *src, const struct in6_addr *dst,
    uint8_t proto, uint32_t len)
{
	uint32_t tail[2];
	uint32_t sum;

	tail[0] = htonl(len);
	tail[1] = htonl(proto);
	sum = in_cksum_partial(0, src, sizeof(*src), 0);
	sum = in_cksum_partial(sum, dst, sizeof(*dst), 0);
	sum = in_cksum_partial(sum, tail, sizeof(tail), 0);
	return (in_cksum_fold(sum));
}
