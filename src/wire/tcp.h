/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* The TCP header (RFC 9293).  Fields in network order, at any address. */

#ifndef WIRE_TCP_H
#define WIRE_TCP_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define	TH_FIN	0x01
#define	TH_SYN	0x02
#define	TH_RST	0x04
#define	TH_PUSH	0x08
#define	TH_ACK	0x10
#define	TH_URG	0x20
#define	TH_ECE	0x40
#define	TH_CWR	0x80

struct tcphdr {
	uint16_t	th_sport;
	uint16_t	th_dport;
	uint32_t	th_seq;
	uint32_t	th_ack;
	uint8_t		th_offx2;	/* header length in words, reserved */
	uint8_t		th_flags;	/* TH_* */
	uint16_t	th_win;
	uint16_t	th_sum;
	uint16_t	th_urp;
} __attribute__((packed));
static_assert(sizeof(struct tcphdr) == 20, "tcphdr");
static_assert(offsetof(struct tcphdr, th_seq) == 4, "seq");
static_assert(offsetof(struct tcphdr, th_offx2) == 12, "offx2");
static_assert(offsetof(struct tcphdr, th_flags) == 13, "flags");
static_assert(offsetof(struct tcphdr, th_sum) == 16, "sum");

/* The header's length in bytes, 0 to 60: the caller checks for 20. */
static inline size_t
tcp_hl(const struct tcphdr *th)
{
	return ((size_t)(th->th_offx2 >> 4) << 2);
}

#endif /* WIRE_TCP_H */
