/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * bench_fib's own side: a vnet with one interface, on whose network the next
 * hops are; routes go through rt_add() and rt_delete(), so that updates are
 * timed with all that belongs to them: table, nexthop, lookup structure.
 */
#include <arpa/inet.h>

#include <err.h>
#include <string.h>
#include <sysexits.h>

#include "fib_subject.h"
#include "route/fib4.h"
#include "route/route_var.h"

/* The router's network lies in a prefix that no key is picked from. */
#define	NET		0x7f4d0000u	/* 127.77.0.0/16 */
#define	GATEWAY(nh)	(NET + 256 + (nh))

static struct vnet *vnet;

static void
free_burst(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	m_free_burst(m, n);
}

static const struct if_linktype linktype = {
	.lt_type = IFT_ETHER,
	.lt_input = free_burst,
};

static void
must(int error, const char *what)
{
	if (error != 0)
		errx(EX_OSERR, "%s: %s", what, strerror(error));
}

static void
netepoch_init(void)
{
	const struct in_addr none = { 0 }, self = { htonl(NET + 1) };
	struct ifnet *ifp;

	if ((vnet = vnet_alloc()) == NULL)
		errx(EX_OSERR, "no memory");
	VNET_CONFIG_LOCK(vnet);
	must(route_vnet_init(vnet), "route");
	must(if_linktype_register(vnet, &linktype), "link type");
	must(if_alloc(vnet, IFT_ETHER, "p0", &ifp), "interface");
	must(if_attach(ifp), "attach");
	must(if_setflags(ifp, IFF_UP, 0), "up");
	must(if_addr_add(ifp, self, 16, none, none), "address");
}

static int
netepoch_add(const struct bench_route *r)
{
	struct rt_req rq = {
		.rq_dst.s_addr = htonl(r->br_prefix),
		.rq_plen = r->br_len,
		.rq_flags = RTF_GATEWAY | RTF_STATIC,
		.rq_gw.s_addr = htonl(GATEWAY(r->br_nh)),
	};

	if (r->br_nh == BENCH_DISCARD)
		rq.rq_flags = RTF_BLACKHOLE | RTF_STATIC;
	return (rt_add(vnet, &rq));
}

static int
netepoch_delete(const struct bench_route *r)
{
	const struct in_addr dst = { htonl(r->br_prefix) };

	return (rt_delete(vnet, dst, r->br_len));
}

static int
netepoch_load(void)
{
	int failed = 0;

	netepoch_init();
	for (unsigned int i = 0; i < bench_nroutes; i++)
		failed += netepoch_add(&bench_routes[i]) != 0;
	return (failed);
}

static void
netepoch_burst(const uint32_t *host, const uint32_t *net)
{
	const struct nhop *nh[FIB_BURST];
	struct epoch_tracker et;
	uint64_t sum = 0;

	epoch_enter_preempt(net_epoch_preempt, &et);
	fib4_lookup_burst(vnet->v_fib4, net, nh, FIB_BURST);
	epoch_exit_preempt(net_epoch_preempt, &et);
	for (unsigned int i = 0; i < FIB_BURST; i++)
		sum += (uintptr_t)nh[i];
	fib_sink += sum;
}

static void
netepoch_single(const uint32_t *host, const uint32_t *net)
{
	struct epoch_tracker et;
	uint64_t sum = 0;

	epoch_enter_preempt(net_epoch_preempt, &et);
	for (unsigned int i = 0; i < FIB_BURST; i++)
		sum += (uintptr_t)fib4_lookup(vnet->v_fib4, net[i]);
	epoch_exit_preempt(net_epoch_preempt, &et);
	fib_sink += sum;
}

static unsigned int
netepoch_nexthop(uint32_t host)
{
	struct epoch_tracker et;
	const struct nhop *nh;
	unsigned int n = BENCH_DISCARD;

	epoch_enter_preempt(net_epoch_preempt, &et);
	nh = fib4_lookup(vnet->v_fib4, htonl(host));
	if (nh != NULL && (nh->nh_flags & NHF_GATEWAY) != 0)
		n = ntohl(nh->nh_gw.s_addr) - GATEWAY(0);
	epoch_exit_preempt(net_epoch_preempt, &et);
	return (n);
}

static double
netepoch_memory(void)
{
	return ((double)fib4_memory(vnet->v_fib4) / (1 << 20));
}

const struct fib_subject fib_netepoch = {
	.fs_name = "netepoch trie16_8_8",
	.fs_load = netepoch_load,
	.fs_burst = netepoch_burst,
	.fs_single = netepoch_single,
	.fs_nexthop = netepoch_nexthop,
	.fs_delete = netepoch_delete,
	.fs_add = netepoch_add,
	.fs_memory = netepoch_memory,
};
