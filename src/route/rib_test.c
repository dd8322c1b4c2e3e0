/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Routes with real interfaces: requests and their refusals, what addresses
 * bring and take away, agreement of table and lookups after random changes,
 * and readers while everything changes.
 */

#include "route/route_test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>

#include "route/route_private.h"
#include "sys/sysctl.h"
#include "sys/thread.h"

static struct vnet *vnet;

static struct in_addr
ip4(const char *text)
{
	struct in_addr a;

	assert_int_equal(inet_pton(AF_INET, text, &a), 1);
	return (a);
}

static void
free_burst(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	m_free_burst(m, n);
}

static const struct if_linktype lt_ether = {
	.lt_type = IFT_ETHER,
	.lt_input = free_burst,
};
static const struct if_linktype lt_loop = {
	.lt_type = IFT_LOOP,
	.lt_input = free_burst,
};

/* An interface that is up; driverless. */
static struct ifnet *
make_if(const char *name, enum if_type type)
{
	struct ifnet *ifp;

	assert_int_equal(if_alloc(vnet, type, name, &ifp), 0);
	atomic_store(&ifp->if_output, free_burst);
	atomic_fetch_or(&ifp->if_flags,
	    type == IFT_LOOP ? IFF_LOOPBACK : IFF_BROADCAST);
	assert_int_equal(if_attach(ifp), 0);
	assert_int_equal(if_setflags(ifp, IFF_UP, 0), 0);
	return (ifp);
}

static void
kill_if(struct ifnet *ifp)
{
	if_detach(ifp);
	if_free(ifp);
}

static void
add_addr(struct ifnet *ifp, const char *addr, int plen)
{
	assert_int_equal(if_addr_add(ifp, ip4(addr), plen, ip4("0.0.0.0"),
	    ip4("0.0.0.0")), 0);
}

static int
setup(void **state)
{
	static bool mbufs;

	if (!mbufs)
		assert_int_equal(mbuf_init(1024), 0);
	mbufs = true;
	assert_non_null(vnet = vnet_alloc());
	assert_non_null(vnet->v_sysctl = sysctl_tree_alloc());
	VNET_CONFIG_LOCK(vnet);
	assert_int_equal(route_vnet_init(vnet), 0);
	assert_int_equal(if_linktype_register(vnet, &lt_ether), 0);
	assert_int_equal(if_linktype_register(vnet, &lt_loop), 0);
	vnet->v_loif = make_if("lo0", IFT_LOOP);
	return (0);
}

static int
teardown(void **state)
{
	struct ifnet *ifp;

	while ((ifp = CK_STAILQ_FIRST(&vnet->v_ifnets)) != NULL)
		kill_if(ifp);
	route_vnet_fini(vnet);
	VNET_CONFIG_UNLOCK(vnet);
	NET_EPOCH_DRAIN_CALLBACKS();
	NET_EPOCH_DRAIN_CALLBACKS();
	sysctl_tree_free(vnet->v_sysctl);
	vnet_free(vnet);
	return (0);
}

/* One look at the lookup structure; the nexthop stays: we hold the lock. */
static const struct nhop *
lookup(const char *dst)
{
	struct epoch_tracker et;
	const struct nhop *nh;

	NET_EPOCH_ENTER(et);
	nh = fib4_lookup(vnet->v_fib4, ip4(dst).s_addr);
	NET_EPOCH_EXIT(et);
	return (nh);
}

/* "192.0.2.0/24 via 198.51.100.1 p1 LOCAL", or "" for no route. */
static const char *
show(const char *dst)
{
	static char buf[128];
	const struct nhop *nh = lookup(dst);
	struct rt_info ri;
	char a[INET_ADDRSTRLEN], gw[INET_ADDRSTRLEN];

	if (nh == NULL) {
		assert_int_equal(rt_match(vnet, ip4(dst), &ri), ESRCH);
		return ("");
	}
	assert_int_equal(rt_match(vnet, ip4(dst), &ri), 0);
	assert_ptr_equal(ri.ri_nh, nh);
	inet_ntop(AF_INET, &ri.ri_dst, a, sizeof(a));
	inet_ntop(AF_INET, &nh->nh_gw, gw, sizeof(gw));
	snprintf(buf, sizeof(buf), "%s/%d%s%s %s%s%s%s%s", a, ri.ri_plen,
	    (nh->nh_flags & NHF_GATEWAY) != 0 ? " via " : "",
	    (nh->nh_flags & NHF_GATEWAY) != 0 ? gw : "",
	    nh->nh_ifp->if_name,
	    (nh->nh_flags & NHF_LOCAL) != 0 ? " LOCAL" : "",
	    (nh->nh_flags & NHF_BROADCAST) != 0 ? " BROADCAST" : "",
	    (nh->nh_flags & NHF_REJECT) != 0 ? " REJECT" : "",
	    (nh->nh_flags & NHF_BLACKHOLE) != 0 ? " BLACKHOLE" : "");
	return (buf);
}

static struct rt_req
via(const char *dst, int plen, const char *gw)
{
	return ((struct rt_req){ .rq_dst = ip4(dst), .rq_plen = plen,
	    .rq_flags = RTF_GATEWAY | RTF_STATIC, .rq_gw = ip4(gw) });
}

static void
test_requests(void **state)
{
	struct ifnet *p0 = make_if("p0", IFT_ETHER);
	struct rt_info ri;
	struct rt_req rq;

	add_addr(p0, "192.0.2.1", 24);
	rq = via("203.0.113.0", 24, "192.0.2.254");
	assert_int_equal(rt_change(vnet, &rq), ESRCH);
	assert_int_equal(rt_add(vnet, &rq), 0);
	assert_int_equal(rt_add(vnet, &rq), EEXIST);
	assert_string_equal(show("203.0.113.9"),
	    "203.0.113.0/24 via 192.0.2.254 p0");
	assert_ptr_equal(lookup("203.0.113.9")->nh_ifa,
	    CK_STAILQ_FIRST(&p0->if_addrs));
	assert_int_equal(rt_get(vnet, ip4("203.0.113.0"), 24, &ri), 0);
	assert_int_equal(ri.ri_flags, RTF_UP | RTF_GATEWAY | RTF_STATIC);
	assert_int_equal(ri.ri_mtu, 1500);
	assert_int_equal(rt_get(vnet, ip4("203.0.113.0"), 25, &ri), ESRCH);

	rq.rq_gw = ip4("192.0.2.253");
	rq.rq_mtu = 1400;
	assert_int_equal(rt_change(vnet, &rq), 0);
	assert_string_equal(show("203.0.113.9"),
	    "203.0.113.0/24 via 192.0.2.253 p0");
	assert_int_equal(rt_get(vnet, ip4("203.0.113.0"), 24, &ri), 0);
	assert_int_equal(ri.ri_mtu, 1400);

	/* Refusals, each of which changes nothing. */
	rq = via("203.0.113.1", 24, "192.0.2.254");
	assert_int_equal(rt_add(vnet, &rq), EINVAL);
	rq = via("203.0.113.0", 33, "192.0.2.254");
	assert_int_equal(rt_add(vnet, &rq), EINVAL);
	rq = via("203.0.112.0", 24, "198.51.100.1");
	assert_int_equal(rt_add(vnet, &rq), ENETUNREACH);
	rq = via("203.0.112.0", 24, "203.0.113.5");	/* not connected */
	assert_int_equal(rt_add(vnet, &rq), ENETUNREACH);
	rq = via("203.0.112.0", 24, "192.0.2.1");	/* ourselves */
	assert_int_equal(rt_add(vnet, &rq), EINVAL);
	rq = via("203.0.112.0", 24, "192.0.2.255");	/* all of them */
	assert_int_equal(rt_add(vnet, &rq), EINVAL);
	rq = (struct rt_req){ .rq_dst = ip4("203.0.112.0"), .rq_plen = 24 };
	assert_int_equal(rt_add(vnet, &rq), EINVAL);
	rq = via("203.0.112.0", 24, "192.0.2.254");
	rq.rq_flags |= RTF_LOCAL;
	assert_int_equal(rt_add(vnet, &rq), EINVAL);
	rq.rq_flags &= ~(uint32_t)RTF_LOCAL;
	rq.rq_mtu = 67;
	assert_int_equal(rt_add(vnet, &rq), EINVAL);
	assert_string_equal(show("203.0.112.1"), "");

	/* What belongs to an interface stays with it. */
	assert_int_equal(rt_delete(vnet, ip4("192.0.2.0"), 24), EPERM);
	rq = via("192.0.2.0", 24, "192.0.2.254");
	assert_int_equal(rt_change(vnet, &rq), EPERM);
	assert_int_equal(rt_delete(vnet, ip4("203.0.113.0"), 23), ESRCH);
	assert_int_equal(rt_delete(vnet, ip4("203.0.113.0"), -1), ESRCH);
	assert_int_equal(rt_delete(vnet, ip4("203.0.113.0"), 24), 0);
	assert_string_equal(show("203.0.113.9"), "");
}

/* What may pass without a closer look, as MTUs change. */
static void
test_pass(void **state)
{
	struct ifnet *p0 = make_if("p0", IFT_ETHER);
	struct rt_req rq;

	p0->if_mtu_min = 72;
	p0->if_mtu_max = 9000;
	add_addr(p0, "192.0.2.1", 24);
	rq = via("10.0.0.0", 8, "192.0.2.254");
	assert_int_equal(rt_add(vnet, &rq), 0);
	rq = via("10.1.0.0", 16, "192.0.2.254");
	rq.rq_mtu = 1280;
	assert_int_equal(rt_add(vnet, &rq), 0);
	rq = (struct rt_req){ .rq_dst = ip4("10.2.0.0"), .rq_plen = 16,
	    .rq_flags = RTF_BLACKHOLE | RTF_STATIC, .rq_ifp = p0 };
	assert_int_equal(rt_add(vnet, &rq), 0);
	rq = (struct rt_req){ .rq_dst = ip4("10.3.0.0"), .rq_plen = 16,
	    .rq_flags = RTF_STATIC, .rq_ifp = vnet->v_loif };
	assert_int_equal(rt_add(vnet, &rq), 0);
	assert_int_equal(lookup("10.0.0.1")->nh_pass, 1500);
	assert_int_equal(lookup("192.0.2.9")->nh_pass, 1500);
	for (uint32_t mtu = 1200; mtu <= 9000; mtu += 7800) {
		assert_int_equal(if_setmtu(p0, mtu), 0);
		assert_int_equal(lookup("10.0.0.1")->nh_pass, mtu);
		assert_int_equal(lookup("192.0.2.9")->nh_pass, mtu);
		/* The route's own, as far as the interface has it. */
		assert_int_equal(lookup("10.1.0.1")->nh_pass,
		    mtu < 1280 ? mtu : 1280);
		assert_int_equal(lookup("10.2.0.1")->nh_pass, 0);
		assert_int_equal(lookup("10.3.0.1")->nh_pass, 0);
		assert_int_equal(lookup("192.0.2.1")->nh_pass, 0);
	}
}

static void
test_kinds(void **state)
{
	struct ifnet *p0 = make_if("p0", IFT_ETHER);
	struct rt_req rq;

	add_addr(p0, "192.0.2.1", 24);
	rq = via("0.0.0.0", 0, "192.0.2.254");
	assert_int_equal(rt_add(vnet, &rq), 0);
	assert_string_equal(show("8.8.8.8"), "0.0.0.0/0 via 192.0.2.254 p0");
	rq = (struct rt_req){ .rq_dst = ip4("10.0.0.0"), .rq_plen = 8,
	    .rq_flags = RTF_BLACKHOLE | RTF_STATIC };
	assert_int_equal(rt_add(vnet, &rq), 0);
	assert_string_equal(show("10.1.2.3"), "10.0.0.0/8 lo0 BLACKHOLE");
	rq = (struct rt_req){ .rq_dst = ip4("10.9.0.0"), .rq_plen = 16,
	    .rq_flags = RTF_REJECT | RTF_STATIC };
	assert_int_equal(rt_add(vnet, &rq), 0);
	assert_string_equal(show("10.9.0.1"), "10.9.0.0/16 lo0 REJECT");
	rq = (struct rt_req){ .rq_dst = ip4("10.9.8.7"), .rq_plen = 32,
	    .rq_flags = RTF_STATIC, .rq_ifp = p0 };
	assert_int_equal(rt_add(vnet, &rq), 0);
	assert_string_equal(show("10.9.8.7"), "10.9.8.7/32 p0");
	assert_int_equal(lookup("10.9.8.7")->nh_flags, NHF_HOST);
	rq = via("10.9.8.6", 32, "172.16.0.1");	/* the operator knows */
	rq.rq_ifp = p0;
	assert_int_equal(rt_add(vnet, &rq), 0);
	assert_string_equal(show("10.9.8.6"),
	    "10.9.8.6/32 via 172.16.0.1 p0");

	assert_int_equal(rt_flush(vnet), 2);
	assert_string_equal(show("8.8.8.8"), "");
	assert_string_equal(show("10.9.8.6"), "10.9.0.0/16 lo0 REJECT");
	assert_string_equal(show("10.9.8.7"), "10.9.8.7/32 p0");
}

static void
test_addresses(void **state)
{
	struct ifnet *p0 = make_if("p0", IFT_ETHER);
	struct ifnet *p1 = make_if("p1", IFT_ETHER);
	unsigned int before = rt_count(vnet);

	add_addr(p0, "192.0.2.1", 24);
	assert_string_equal(show("192.0.2.1"), "192.0.2.1/32 lo0 LOCAL");
	assert_string_equal(show("192.0.2.2"), "192.0.2.0/24 p0");
	assert_string_equal(show("192.0.2.255"), "192.0.2.255/32 p0 BROADCAST");
	assert_string_equal(show("192.0.2.0"), "192.0.2.0/32 p0 BROADCAST");
	add_addr(vnet->v_loif, "127.0.0.1", 8);
	assert_string_equal(show("127.0.0.1"), "127.0.0.1/32 lo0 LOCAL");
	assert_string_equal(show("127.0.0.2"), "");

	/* No broadcast on 31 and 32 bits; another one where asked for. */
	add_addr(p1, "198.51.100.0", 31);
	assert_string_equal(show("198.51.100.1"), "198.51.100.0/31 p1");
	add_addr(p1, "198.51.100.77", 32);
	assert_string_equal(show("198.51.100.77"),
	    "198.51.100.77/32 lo0 LOCAL");
	assert_int_equal(if_addr_add(p1, ip4("172.16.0.1"), 16,
	    ip4("172.16.9.9"), ip4("0.0.0.0")), 0);
	assert_string_equal(show("172.16.9.9"), "172.16.9.9/32 p1 BROADCAST");
	assert_string_equal(show("172.16.255.255"), "172.16.0.0/16 p1");
	assert_int_equal(if_addr_add(p1, ip4("10.0.0.1"), 32,
	    ip4("0.0.0.0"), ip4("10.0.0.2")), 0);
	assert_string_equal(show("10.0.0.2"), "10.0.0.2/32 p1");

	/* Two on one network: the heir takes over, then nobody. */
	add_addr(p1, "192.0.2.2", 24);
	assert_string_equal(show("192.0.2.2"), "192.0.2.2/32 lo0 LOCAL");
	assert_string_equal(show("192.0.2.3"), "192.0.2.0/24 p0");
	assert_int_equal(if_addr_del(p0, ip4("192.0.2.1")), 0);
	assert_string_equal(show("192.0.2.3"), "192.0.2.0/24 p1");
	assert_string_equal(show("192.0.2.255"), "192.0.2.255/32 p1 BROADCAST");
	assert_string_equal(show("192.0.2.1"), "192.0.2.0/24 p1");
	assert_int_equal(if_addr_del(p1, ip4("192.0.2.2")), 0);
	assert_string_equal(show("192.0.2.3"), "");

	/* Everything goes with its interface. */
	kill_if(p1);
	assert_string_equal(show("10.0.0.2"), "");
	assert_int_equal(rt_count(vnet), before + 1);	/* 127.0.0.1 */
}

static void
test_updown(void **state)
{
	struct ifnet *p0 = make_if("p0", IFT_ETHER);
	struct ifnet *p1 = make_if("p1", IFT_ETHER);
	struct rt_req rq;

	add_addr(p0, "192.0.2.1", 24);
	add_addr(p0, "192.0.2.7", 26);
	rq = via("203.0.113.0", 24, "192.0.2.9");
	assert_int_equal(rt_add(vnet, &rq), 0);
	assert_int_equal(if_setflags(p0, 0, IFF_UP), 0);
	assert_string_equal(show("192.0.2.9"), "");
	assert_string_equal(show("192.0.2.255"), "");
	assert_string_equal(show("192.0.2.1"), "192.0.2.1/32 lo0 LOCAL");
	/* The operator's route stays, as the operator said. */
	assert_string_equal(show("203.0.113.1"),
	    "203.0.113.0/24 via 192.0.2.9 p0");
	rq = via("203.0.112.0", 24, "192.0.2.9");
	assert_int_equal(rt_add(vnet, &rq), ENETUNREACH);
	assert_int_equal(if_setflags(p0, IFF_UP, 0), 0);
	assert_string_equal(show("192.0.2.9"), "192.0.2.0/26 p0");
	assert_string_equal(show("192.0.2.255"), "192.0.2.255/32 p0 BROADCAST");
	assert_int_equal(rt_add(vnet, &rq), 0);

	/* Its address goes: another one reaches the gateway, then none. */
	assert_int_equal(if_addr_del(p0, ip4("192.0.2.7")), 0);
	assert_string_equal(show("203.0.113.1"),
	    "203.0.113.0/24 via 192.0.2.9 p0");
	assert_ptr_equal(lookup("203.0.113.1")->nh_ifa,
	    CK_STAILQ_FIRST(&p0->if_addrs));
	assert_int_equal(if_addr_del(p0, ip4("192.0.2.1")), 0);
	assert_string_equal(show("203.0.113.1"), "");

	/* A connected network replaces what was configured for it. */
	add_addr(p0, "192.0.2.1", 24);
	rq = via("198.51.100.0", 24, "192.0.2.9");
	assert_int_equal(rt_add(vnet, &rq), 0);
	add_addr(p1, "198.51.100.1", 24);
	assert_string_equal(show("198.51.100.5"), "198.51.100.0/24 p1");
}

static void
test_nhops(void **state)
{
	struct ifnet *p0 = make_if("p0", IFT_ETHER);
	const struct nhop *nh;
	struct rt_req rq;
	uint32_t first;
	char dst[32];
	int i;

	add_addr(p0, "192.0.2.1", 24);
	for (i = 0; i < 100; i++) {
		snprintf(dst, sizeof(dst), "10.0.%d.0", i);
		rq = via(dst, 24, "192.0.2.254");
		assert_int_equal(rt_add(vnet, &rq), 0);
	}
	nh = lookup("10.0.0.1");
	assert_ptr_equal(nh, lookup("10.0.99.1"));
	assert_int_not_equal(nh->nh_index, 0);
	assert_int_equal(nh->nh_refs, 100);
	first = nh->nh_index;
	for (i = 0; i < 100; i++) {
		snprintf(dst, sizeof(dst), "10.0.%d.0", i);
		assert_int_equal(rt_delete(vnet, ip4(dst), 24), 0);
	}
	/* Its number is free for another one, a grace period later. */
	NET_EPOCH_DRAIN_CALLBACKS();
	rq = via("10.0.0.0", 24, "192.0.2.253");
	assert_int_equal(rt_add(vnet, &rq), 0);
	assert_int_equal(lookup("10.0.0.1")->nh_index, first);
}

/* ---- Random changes ---- */

#define	NROUTES	300

/* Table and lookups agree with a list that is searched from end to end. */
static void
check_random(const struct rt_req *have, const bool *on)
{
	struct epoch_tracker et;
	const struct nhop *nh[MBUF_BURST];
	in_addr_t dst[MBUF_BURST];
	int best, i, j;

	for (i = 0; i < MBUF_BURST; i++)
		dst[i] = htonl(0x0a000000 |
		    (uint32_t)(test_rand() & 0x00070707));
	NET_EPOCH_ENTER(et);
	fib4_lookup_burst(vnet->v_fib4, dst, nh, MBUF_BURST);
	NET_EPOCH_EXIT(et);
	for (i = 0; i < MBUF_BURST; i++) {
		best = -1;
		for (j = 0; j < NROUTES; j++)
			if (on[j] && ((dst[i] ^ have[j].rq_dst.s_addr) &
			    htonl(radix_mask(have[j].rq_plen))) == 0 &&
			    (best < 0 ||
			    have[j].rq_plen > have[best].rq_plen))
				best = j;
		assert_int_equal(nh[i] != NULL, best >= 0);
		if (best >= 0)
			assert_int_equal(nh[i]->nh_gw.s_addr,
			    have[best].rq_gw.s_addr);
	}
}

static int
count_cb(const struct rt_info *ri, void *arg)
{
	unsigned int *n = arg;

	(*n)++;
	return (0);
}

static void
random_req(struct rt_req *rq)
{
	char gw[32];
	int plen;

	snprintf(gw, sizeof(gw), "192.0.2.%d", 2 + (int)(test_rand() % 250));
	plen = (int)(test_rand() % 33);
	if (plen < 12 && test_rand() % 8 != 0)
		plen += 12;		/* a short one is many stores */
	*rq = via("0.0.0.0", plen, gw);
	rq->rq_dst.s_addr = htonl((0x0a000000 |
	    (uint32_t)(test_rand() & 0x00070707)) & radix_mask(rq->rq_plen));
}

static void
test_random(void **state)
{
	struct ifnet *p0 = make_if("p0", IFT_ETHER);
	static struct rt_req have[NROUTES];
	bool on[NROUTES] = { false };
	unsigned int base, n, want = 0;
	struct rt_info ri;
	struct rt_req rq;
	int i, round;

	add_addr(p0, "192.0.2.1", 24);
	base = rt_count(vnet);
	for (round = 0; round < 8000; round++) {
		i = (int)(test_rand() % NROUTES);
		random_req(&rq);
		if (on[i] && test_rand() % 2 == 0) {
			have[i].rq_gw = rq.rq_gw;
			assert_int_equal(rt_change(vnet, &have[i]), 0);
		} else if (on[i]) {
			assert_int_equal(rt_delete(vnet, have[i].rq_dst,
			    have[i].rq_plen), 0);
			on[i] = false;
			want--;
		} else if (rt_get(vnet, rq.rq_dst, rq.rq_plen, &ri) != 0) {
			have[i] = rq;
			assert_int_equal(rt_add(vnet, &rq), 0);
			on[i] = true;
			want++;
		}
		if (round % 4 == 0)
			check_random(have, on);
	}
	assert_int_equal(rt_count(vnet), base + want);
	n = 0;
	assert_int_equal(rt_walk(vnet, count_cb, &n), 0);
	assert_int_equal(n, base + want);
	n = 0;
	assert_int_equal(rt_walk_from(vnet, ip4("192.0.2.0"), 0, count_cb,
	    &n), 0);
	assert_int_equal(n, base + want);	/* host bits do not count */
	n = 0;
	assert_int_equal(rt_walk_from(vnet, ip4("192.0.2.0"), 24, count_cb,
	    &n), 0);
	assert_int_equal(n, 4);	/* /24, two of broadcast, our own */
	assert_int_equal(rt_walk_from(vnet, ip4("0.0.0.0"), 33, count_cb,
	    &n), EINVAL);
	assert_int_equal(rt_flush(vnet), want);
	memset(on, 0, sizeof(on));
	check_random(have, on);
}

/* ---- Readers while routes, addresses and interfaces change ---- */

static _Atomic bool stop;
static _Atomic uint64_t wrong, lookups;

static void *
reader(void *arg)
{
	struct epoch_tracker et;
	const struct nhop *nh[MBUF_BURST];
	in_addr_t dst[MBUF_BURST];
	uint64_t seed = (uintptr_t)&et;
	unsigned int i;

	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		for (i = 0; i < MBUF_BURST; i++)
			dst[i] = htonl(0x0a000000 |
			    (uint32_t)(test_next(&seed) & 0xffff));
		dst[0] = htonl(0xcb007101);	/* 203.0.113.1: stable */
		NET_EPOCH_ENTER(et);
		fib4_lookup_burst(vnet->v_fib4, dst, nh, MBUF_BURST);
		/* Everything a packet would look at must be alive. */
		for (i = 0; i < MBUF_BURST; i++)
			if (nh[i] != NULL && (nh[i]->nh_ifp->if_vnet != vnet ||
			    (nh[i]->nh_rtflags & RTF_UP) == 0))
				atomic_fetch_add(&wrong, 1);
		if (nh[0] == NULL || nh[0]->nh_gw.s_addr != htonl(0xc0000202))
			atomic_fetch_add(&wrong, 1);
		NET_EPOCH_EXIT(et);
		atomic_fetch_add(&lookups, MBUF_BURST);
	}
	return (NULL);
}

/* A life of p1: address, routes through it, some changed, all gone with it. */
static void
churn(void)
{
	struct ifnet *p1 = make_if("p1", IFT_ETHER);
	const struct nhop *nh;
	struct rt_req rq;
	int i;

	add_addr(p1, "10.0.0.1", 24);
	for (i = 0; i < 20; i++) {
		random_req(&rq);
		rq.rq_gw = ip4((i & 1) != 0 ? "10.0.0.9" : "192.0.2.3");
		if (rq.rq_plen < 16 || rt_add(vnet, &rq) != 0)
			continue;
		rq.rq_gw = ip4("10.0.0.7");
		(void)rt_change(vnet, &rq);
		if ((i & 3) == 0)
			(void)rt_delete(vnet, rq.rq_dst, rq.rq_plen);
	}
	if (test_rand() % 2 == 0)
		(void)if_addr_del(p1, ip4("10.0.0.1"));
	kill_if(p1);
	nh = lookup("10.0.0.9");
	assert_true(nh == NULL || strcmp(nh->nh_ifp->if_name, "p0") == 0);
}

/* Delete one of the routes under 10/8 that went through p0, and stop. */
static int
delete_left_cb(const struct rt_info *ri, void *arg)
{
	if ((ri->ri_flags & RTF_GATEWAY) == 0 ||
	    ntohl(ri->ri_dst.s_addr) >> 24 != 10)
		return (0);
	assert_int_equal(rt_delete(vnet, ri->ri_dst, ri->ri_plen), 0);
	return (1);
}

static void
test_churn(void **state)
{
	struct ifnet *p0 = make_if("p0", IFT_ETHER);
	double end = test_clock() + CHURN_SECONDS;
	struct rt_req rq;
	pthread_t td[2];
	int i;

	add_addr(p0, "192.0.2.1", 24);
	rq = via("203.0.113.0", 24, "192.0.2.2");
	assert_int_equal(rt_add(vnet, &rq), 0);
	stop = false;
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&td[i], NULL, reader, NULL),
		    0);
	for (i = 0; test_churn_more(i, 150, end, &lookups); i++) {
		churn();
		while (rt_walk(vnet, delete_left_cb, NULL) != 0)
			continue;
	}
	atomic_store(&stop, true);
	for (i = 0; i < 2; i++)
		pthread_join(td[i], NULL);
	assert_true(lookups > 0);
	assert_int_equal(wrong, 0);
}

static void
test_sysctl(void **state)
{
	char buf[64], want[64];

	assert_int_equal(sysctl_get(vnet->v_sysctl,
	    "net.route.algo.inet.algo", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "trie16_8_8");
	add_addr(make_if("p0", IFT_ETHER), "192.0.2.1", 24);
	snprintf(want, sizeof(want), "%u", rt_count(vnet));
	assert_int_equal(sysctl_get(vnet->v_sysctl, "net.route.inet.routes",
	    buf, sizeof(buf)), 0);
	assert_string_equal(buf, want);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_requests, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_kinds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pass, setup, teardown),
		cmocka_unit_test_setup_teardown(test_addresses, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_updown, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nhops, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random, setup, teardown),
		cmocka_unit_test_setup_teardown(test_churn, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sysctl, setup, teardown),
	};

	test_seed();
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
