/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The checksum of SCTP (RFC 9260), a CRC that a veth peer with offload leaves
 * unfinished like others.  Linux describes it as it does a TCP checksum, with
 * a start and an offset, and whoever believed that would damage the packet.
 */

#ifndef WIRE_IN_SCTP_H
#define WIRE_IN_SCTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the field is in the header; in TCP, UDP and ICMP it is elsewhere. */
#define	SCTP_SUMOFF	8u
#define	SCTP_HDR_LEN	12u

uint32_t	crc32c(const void *buf, size_t len);
bool		in_sctp_finish(void *pkt, size_t len);

#endif /* WIRE_IN_SCTP_H */
