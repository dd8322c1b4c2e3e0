/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The frames that a generator makes: Ethernet, IPv4 or IPv6, UDP, and in the
 * payload a stamp with number and time.  All checksums are valid.
 *
 * A frame_gen is a template with the sums of all that does not change; a frame
 * is a copy of it with a few words written, and checksums are those sums and
 * these words (RFC 1624).  It is plain data of one thread.
 *
 * Addresses and ports walk over ranges as an odometer does: source ports turn
 * fastest, then source addresses, destination ports, destination addresses.
 * An end that is random is drawn from its range for each frame instead.
 */
#ifndef _GEN_FRAME_H_
#define	_GEN_FRAME_H_

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "mbuf/mbuf.h"
#include "wire/ether.h"
#include "wire/ip.h"
#include "wire/ip6.h"
#include "wire/udp.h"

/*
 * What the payload begins with, network order.  The number is at byte 42 of an
 * IPv4 frame and the time at 46, where netmap's pkt-gen puts them; the time is
 * CLOCK_MONOTONIC's, so it means something on this host only.
 */
struct frame_stamp {
	uint32_t	fs_number;
	uint32_t	fs_sec;
	uint32_t	fs_nsec;
	uint32_t	fs_magic;
	uint16_t	fs_stream;	/* drawn by each sending thread */
} __attribute__((packed));
static_assert(sizeof(struct frame_stamp) == 18, "fills a 60-byte frame");

#define	FRAME_MAGIC	0x6e65674eu	/* host order */
#define	FRAME_L4_V4	(ETHER_HDR_LEN + sizeof(struct ip))
#define	FRAME_L4_V6	(ETHER_HDR_LEN + sizeof(struct ip6_hdr))
#define	FRAME_PAYLOAD_V4 (FRAME_L4_V4 + sizeof(struct udphdr))
#define	FRAME_PAYLOAD_V6 (FRAME_L4_V6 + sizeof(struct udphdr))
#define	FRAME_MAX	MBUF_DATA_SIZE	/* bytes, without CRC */
#define	FRAME_TTL	64

/* One end of the flows. */
struct frame_end {
	struct in6_addr	fe_addr6;	/* IPv6: all but the last 32 bits */
	uint32_t	fe_from;	/* IPv4, or the last 32 bits; host */
	uint32_t	fe_to;
	uint16_t	fe_port_from;	/* host order */
	uint16_t	fe_port_to;
	bool		fe_random;
};

struct frame_conf {
	bool		fc_v6;
	uint8_t		fc_dmac[ETHER_ADDR_LEN];
	uint8_t		fc_smac[ETHER_ADDR_LEN];
	struct frame_end fc_src;
	struct frame_end fc_dst;
	uint32_t	fc_len;		/* bytes without CRC */
	uint32_t	fc_minlen;	/* of random lengths; 0: all fc_len */
	uint16_t	fc_stream;
	uint64_t	fc_seed;	/* of what is random */
};

/* Shortest frame of the family, and the shortest with a stamp. */
uint32_t frame_min(bool v6);
uint32_t frame_stamped_min(bool v6);

struct frame_gen {
	uint8_t		 fg_bytes[FRAME_MAX];	/* the template */
	struct frame_conf fg_conf;
	uint32_t	 fg_l4;		/* where UDP begins */
	bool		 fg_stamped;	/* all are long enough for a stamp */
	bool		 fg_plain;	/* one flow, one length, stamped */
	uint64_t	 fg_random;	/* state */
	/* The frame to come; addresses and ports in host order. */
	uint32_t	 fg_src, fg_dst;
	uint16_t	 fg_sport, fg_dport;
	/* Sums without addresses, ports, lengths, number and time. */
	uint64_t	 fg_ipsum;	/* IPv4 header */
	uint64_t	 fg_udpsum;	/* pseudo-header, UDP header */
	uint64_t	 fg_plainsum;	/* fg_plain: all but number and time */
	uint16_t	 fg_paysum[FRAME_MAX + 1]; /* payload, by frame length */
};

/*
 * EINVAL: lengths out of order, shorter than headers or longer than
 * FRAME_MAX; ranges that end before they begin.
 */
int	frame_init(struct frame_gen *fg, const struct frame_conf *fc);
/*
 * Fill n fresh mbufs with the frames to come, numbered from number on, made at
 * time now (ns).  Returns their bytes.
 */
uint64_t frame_fill(struct frame_gen *fg, struct mbuf **m, unsigned int n,
	    uint32_t number, uint64_t now);

/*
 * A frame's stamp; NULL: it has none.  The frame's first len bytes are
 * contiguous at p.
 */
static inline const struct frame_stamp *
frame_stamp(const void *p, uint32_t len)
{
	const uint8_t *b = p;
	const struct frame_stamp *fs;
	uint32_t off = FRAME_PAYLOAD_V4;
	uint16_t type;

	if (len < FRAME_PAYLOAD_V4 + sizeof(*fs))
		return (NULL);
	memcpy(&type, b + 2 * ETHER_ADDR_LEN, sizeof(type));
	if (__builtin_expect(type != htons(ETHERTYPE_IP), 0)) {
		off = FRAME_PAYLOAD_V6;
		if (type != htons(ETHERTYPE_IPV6) ||
		    len < FRAME_PAYLOAD_V6 + sizeof(*fs))
			return (NULL);
	}
	fs = (const void *)(b + off);
	return (fs->fs_magic == htonl(FRAME_MAGIC) ? fs : NULL);
}

static inline uint64_t
frame_stamp_time(const struct frame_stamp *fs)
{

	return (ntohl(fs->fs_sec) * UINT64_C(1000000000) +
	    ntohl(fs->fs_nsec));
}

/*
 * Are the checksums of a frame right, IPv4's own and that of UDP?  Frames of
 * other protocols, and UDP over IPv4 without a checksum, have none to be
 * wrong.  False also for headers that do not fit the frame.
 */
bool	frame_sums_right(const void *p, uint32_t len);

#endif /* _GEN_FRAME_H_ */
