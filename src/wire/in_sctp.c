/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Finish SCTP checksums: CRC32c, the Castagnoli polynomial reflected, four bits
 * at a time (RFC 9260, appendix A).  Pure functions over contiguous memory:
 * any thread, no locks.
 */

#include "wire/in_sctp.h"

#include <endian.h>
#include <netinet/in.h>
#include <string.h>

#include "wire/ip.h"
#include "wire/ip6.h"

/* What four bits do to the CRC. */
static const uint32_t crc32c_nibble[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
	0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
	0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
	0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

/* The CRC32c of len bytes; a packet has its least significant byte first. */
uint32_t
crc32c(const void *buf, size_t len)
{
	const uint8_t *p = buf;
	uint32_t crc = UINT32_MAX;

	for (; len > 0; len--) {
		crc ^= *p++;
		crc = crc32c_nibble[crc & 15] ^ crc >> 4;
		crc = crc32c_nibble[crc & 15] ^ crc >> 4;
	}
	return (~crc);
}

/*
 * Compute the checksum of the packet at pkt, an IP header with len bytes behind
 * it (padding may follow), if it is whole SCTP whose field is zero, which is
 * how it is left to us.  False: it is something else, and was not changed.
 */
bool
in_sctp_finish(void *pkt, size_t len)
{
	uint8_t *p = pkt;
	const struct ip6_hdr *ip6 = pkt;
	const struct ip *ip = pkt;
	size_t off, end;
	uint32_t sum;

	if (len >= sizeof(*ip) && ip_v(ip) == IPVERSION) {
		off = ip_hl(ip);
		end = ntohs(ip->ip_len);
		if (ip->ip_p != IPPROTO_SCTP || off < sizeof(*ip) ||
		    (ip->ip_off & htons(IP_MF | IP_OFFMASK)) != 0)
			return (false);
	} else if (len >= sizeof(*ip6) && (p[0] & 0xf0) == IPV6_VERSION) {
		off = sizeof(*ip6);
		end = sizeof(*ip6) + ntohs(ip6->ip6_plen);
		if (ip6->ip6_nxt != IPPROTO_SCTP)
			return (false);
	} else
		return (false);
	if (end > len || off + SCTP_HDR_LEN > end)
		return (false);
	memcpy(&sum, p + off + SCTP_SUMOFF, sizeof(sum));
	if (sum != 0)
		return (false);
	sum = htole32(crc32c(p + off, end - off));
	memcpy(p + off + SCTP_SUMOFF, &sum, sizeof(sum));
	return (true);
}
