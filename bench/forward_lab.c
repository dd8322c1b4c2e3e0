/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The machine that bench_forward measures; forward_lab.h says what it is.
 * Everything here runs on the main thread, outside the epoch, before the
 * traffic or after it.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "bench/forward_lab.h"
#include "bench/routes.h"
#include "ifnet/if_var.h"
#include "route/route_var.h"
#include "stack/machine.h"
#include "sys/sysctl.h"

#define	NET(port, host)	(0x0aff0100u + (uint32_t)(port) * 0x100u + (host))
#define	NMBUFS		16384

struct in_addr
lab_address(unsigned int port, unsigned int host)
{

	return ((struct in_addr){ .s_addr = htonl(NET(port, host)) });
}

static unsigned int
nexthop_port(unsigned int nh)
{

	return (1 + (nh - 1) % (LAB_PORTS - 1));
}

static void
nexthop_mac(unsigned int nh, uint8_t *mac)
{

	memcpy(mac, (const uint8_t[]){ 2, 0, 0, 0, 1, (uint8_t)nh }, 6);
}

struct in_addr
lab_gateway(unsigned int nh)
{

	return (lab_address(nexthop_port(nh), 100 + nh));
}

uint32_t
lab_source(void)
{

	return (lab_address(0, 200).s_addr);
}

bool
lab_addressed(const struct lab *lab, const struct ifnet *far,
    const uint8_t *p, unsigned int nh)
{
	const unsigned int port = nexthop_port(nh);
	uint8_t mac[6];

	nexthop_mac(nh, mac);
	return (lab->lab_far[port] == far && memcmp(p, mac, 6) == 0 &&
	    memcmp(p + 6, lab->lab_port[port]->if_lladdr, 6) == 0);
}

static void
check(int error, const char *what)
{

	if (error != 0) {
		errno = error;
		err(EX_SOFTWARE, "%s", what);
	}
}

static struct ifnet *
end_up(struct vnet *vnet, const char *name)
{
	struct ifnet *ifp;

	ifp = if_byname(vnet, name);
	if (ifp == NULL)
		errx(EX_SOFTWARE, "%s: not made", name);
	check(if_setflags(ifp, IFF_UP, 0), name);
	return (ifp);
}

static void
neighbours_add(struct lab *lab)
{
	const uint8_t source[6] = { 2, 0, 0, 0, 0, 0x10 };
	unsigned int port;
	uint8_t mac[6];

	for (unsigned int nh = 1; nh <= BENCH_NNEXTHOPS; nh++) {
		port = nexthop_port(nh);
		nexthop_mac(nh, mac);
		check(lla_set(lab->lab_port[port], lab_gateway(nh), mac,
		    LLE_STATIC, 0), "neighbour");
	}
	/* ICMP errors go back to where the traffic comes from. */
	check(lla_set(lab->lab_port[0], lab_address(0, 200), source, LLE_STATIC,
	    0), "neighbour");
}

static void
routes_add(struct vnet *vnet)
{
	const struct bench_route *r;
	struct rt_req rq;
	int error;

	for (unsigned int i = 0; i < bench_nroutes; i++) {
		r = &bench_routes[i];
		rq = (struct rt_req){
			.rq_dst.s_addr = htonl(r->br_prefix),
			.rq_plen = r->br_len,
		};
		if (r->br_nh == BENCH_DISCARD) {
			rq.rq_flags = RTF_STATIC | RTF_BLACKHOLE;
			rq.rq_ifp = vnet->v_loif;
		} else {
			rq.rq_flags = RTF_STATIC | RTF_GATEWAY;
			rq.rq_gw = lab_gateway(r->br_nh);
		}
		error = rt_add(vnet, &rq);
		if (error == EEXIST && r->br_nh == BENCH_DISCARD)
			error = 0;	/* the machine has its own */
		check(error, "route");
	}
}

void
lab_start(struct lab *lab, int cpu,
    void (*sink)(struct ifnet *ifp, struct mbuf **m, unsigned int n))
{
	const struct machine_config mc = {
		.mc_name = "bench", .mc_cpus = &cpu, .mc_ncpus = 1,
		.mc_nmbufs = NMBUFS,
	};
	const struct in_addr none = { 0 };
	char made[IFNAMLEN], name[IFNAMLEN], text[256];
	struct vnet *vnet;
	char far;

	if (machine_start(&mc, &lab->lab_machine, text, sizeof(text)) != 0)
		errx(EX_SOFTWARE, "%s", text);
	vnet = lab->lab_machine->ma_vnet;
	if (sysctl_set(vnet->v_sysctl, "net.inet.ip.forwarding", "1", text,
	    sizeof(text)) != 0)
		errx(EX_SOFTWARE, "%s", text);
	for (unsigned int i = 0; i < LAB_PORTS; i++) {
		snprintf(name, sizeof(name), "epair%u", i);
		if (machine_if_create(lab->lab_machine, name, "epair", made,
		    text, sizeof(text)) != 0)
			errx(EX_SOFTWARE, "%s", text);
	}
	VNET_CONFIG_LOCK(vnet);
	for (unsigned int i = 0; i < LAB_PORTS; i++) {
		far = i == 0 ? 'a' : 'b';
		snprintf(name, sizeof(name), "epair%u%c", i, far);
		lab->lab_far[i] = end_up(vnet, name);
		snprintf(name, sizeof(name), "epair%u%c", i, 'a' + 'b' - far);
		lab->lab_port[i] = end_up(vnet, name);
		atomic_store(&lab->lab_far[i]->if_input, sink);
		check(if_addr_add(lab->lab_port[i], lab_address(i, 1), 24, none,
		    none), "address");
	}
	neighbours_add(lab);
	routes_add(vnet);
	VNET_CONFIG_UNLOCK(vnet);
}

void
lab_stop(struct lab *lab)
{

	machine_stop(lab->lab_machine);
}

void
lab_drops_print(const struct lab *lab)
{
	struct ifnet *ifps[2 * LAB_PORTS];
	uint64_t n;

	memcpy(ifps, lab->lab_port, sizeof(lab->lab_port));
	memcpy(ifps + LAB_PORTS, lab->lab_far, sizeof(lab->lab_far));
	for (unsigned int i = 0; i < 2 * LAB_PORTS; i++)
		for (unsigned int why = 0; why < IFD_COUNT; why++) {
			n = if_counter(ifps[i], IFC_DROPS + why);
			if (n != 0)
				fprintf(stderr, "%s: %lu %s\n",
				    ifps[i]->if_name, n,
				    if_drop_info[why].fd_text);
		}
}
