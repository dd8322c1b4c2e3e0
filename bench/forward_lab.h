/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The machine that bench_forward measures: three epairs, of each of which one
 * end is a port of the router and the other, far, end is the benchmark's.
 * Frames come in by port 0 and leave by ports 1 and 2.
 *
 *	source epair0a === epair0b  router  epair1a === epair1b sink
 *	                                    epair2a === epair2b sink
 *
 * BENCH_NNEXTHOPS neighbours, odd ones behind port 1 and even ones behind
 * port 2, have permanent entries; the routes lead to them.
 */
#ifndef _BENCH_FORWARD_LAB_H_
#define	_BENCH_FORWARD_LAB_H_

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#define	LAB_PORTS	3

struct ifnet;
struct machine;
struct mbuf;

struct lab {
	struct machine	*lab_machine;
	struct ifnet	*lab_port[LAB_PORTS];	/* the router's ends */
	struct ifnet	*lab_far[LAB_PORTS];	/* ours */
};

/*
 * Start the machine on one CPU, with the routes of routes.h; what arrives at
 * a far end goes to sink, as an if_input method.  Exits if it cannot.
 */
void	lab_start(struct lab *lab, int cpu,
	    void (*sink)(struct ifnet *ifp, struct mbuf **m, unsigned int n));
void	lab_stop(struct lab *lab);
/* To stderr: what was dropped, by interface and reason. */
void	lab_drops_print(const struct lab *lab);
/* A host of a port's network, and the address of next hop nh. */
struct in_addr lab_address(unsigned int port, unsigned int host);
struct in_addr lab_gateway(unsigned int nh);
/* The source address of the traffic, network order. */
uint32_t lab_source(void);
/* Is p, seen at a far end, addressed as for this next hop? */
bool	lab_addressed(const struct lab *lab, const struct ifnet *far,
	    const uint8_t *p, unsigned int nh);

#endif /* _BENCH_FORWARD_LAB_H_ */
