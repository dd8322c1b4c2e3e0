/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* The UDP header (RFC 768).  Fields in network order, at any address. */

#ifndef WIRE_UDP_H
#define WIRE_UDP_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

struct udphdr {
	uint16_t	uh_sport;
	uint16_t	uh_dport;
	uint16_t	uh_ulen;	/* bytes, header included */
	uint16_t	uh_sum;		/* 0: none was computed (IPv4 only) */
} __attribute__((packed));
static_assert(sizeof(struct udphdr) == 8, "udphdr");
static_assert(offsetof(struct udphdr, uh_ulen) == 4, "ulen");
static_assert(offsetof(struct udphdr, uh_sum) == 6, "sum");

#endif /* WIRE_UDP_H */
