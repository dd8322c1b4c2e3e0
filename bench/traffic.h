/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The traffic of the in-memory benchmarks, the same for every program: a
 * 64-byte UDP frame, of which a flow changes destination, header checksum and
 * source port.  Made before forwarding starts, read by one thread after that.
 */
#ifndef _BENCH_TRAFFIC_H_
#define	_BENCH_TRAFFIC_H_

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define	BENCH_FRAME	64
#define	BENCH_TTL	64
#define	BENCH_KINDS	8	/* of damage */

struct bench_flow {
	uint32_t	bf_dst;		/* as on the wire, all three */
	uint16_t	bf_sum;
	uint16_t	bf_sport;
};

extern uint8_t bench_template[BENCH_FRAME];
extern struct bench_flow *bench_flows;
extern unsigned int bench_nflows;

/*
 * n flows to destinations of the routes, from an address (network order), to
 * the router's MAC.  Fills the template, too.
 */
void	bench_flows_make(unsigned int n, const uint8_t *mac, uint32_t src);
/*
 * Damage a frame in one of BENCH_KINDS ways, each of which a router must
 * drop; the length the frame has then.
 */
unsigned int bench_frame_damage(uint8_t *p, unsigned int how);
/*
 * The next hop that the routes give to a forwarded frame, or BENCH_DISCARD if
 * a byte behind the Ethernet addresses is not what it must be.
 */
unsigned int bench_frame_nexthop(const uint8_t *p, uint32_t len);

/* What a flow changes in a copy of the template at p. */
static inline void
bench_frame_write(uint8_t *p, const struct bench_flow *bf)
{

	memcpy(p + 24, &bf->bf_sum, sizeof(bf->bf_sum));
	memcpy(p + 30, &bf->bf_dst, sizeof(bf->bf_dst));
	memcpy(p + 34, &bf->bf_sport, sizeof(bf->bf_sport));
}

#endif /* _BENCH_TRAFFIC_H_ */
