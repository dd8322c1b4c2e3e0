/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Neighbours: every state and the ways between them, what happens to packets
 * that wait, limits, changes by the operator, and two threads that send while
 * entries come and go (the case of a timer on an unlinked entry).
 */

#include "route/route_test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>

#include "route/route_private.h"
#include "sys/thread.h"

#define	SECOND	UINT64_C(1000000000)
#define	MAXSENT	256

static struct vnet *vnet;
static struct ifnet *p0, *p1;
static struct lltable_params params;

/* What the protocol and the driver were asked to do. */
static char	 asked[1024];		/* "b519 ": broadcast for .2.7; u, v:
					   by unicast to mac_a, another */
static char	 failed[1024];		/* "7:1 ": .7, receiving if_index 1 */
static struct mbuf *sent[MAXSENT];
static unsigned int nsent;
static bool	 quiet;			/* churn: record nothing */

static const uint8_t mac_p0[] = { 2, 0, 0, 0, 1, 0 };
static const uint8_t mac_a[] = { 2, 0, 0, 0, 10, 1 };
static const uint8_t mac_b[] = { 2, 0, 0, 0, 11, 1 };

static struct in_addr
ip4(const char *text)
{
	struct in_addr a;

	assert_int_equal(inet_pton(AF_INET, text, &a), 1);
	return (a);
}

/* 192.0.2.n, on p0's network. */
static struct in_addr
host(unsigned int n)
{
	return ((struct in_addr){ htonl(0xc0000200 + n) });
}

static void
rec_request(struct ifnet *ifp, struct in_addr addr, const uint8_t *unicast)
{
	size_t len = strlen(asked);

	NET_EPOCH_ASSERT();
	if (quiet)
		return;
	snprintf(asked + len, sizeof(asked) - len, "%c%u ",
	    ifp != p0 ? '?' : unicast == NULL ? 'b' :
	    memcmp(unicast, mac_a, 6) == 0 ? 'u' : 'v',
	    ntohl(addr.s_addr) & 0xffff);
}

static void
rec_failed(struct ifnet *ifp, struct in_addr addr, struct mbuf *m)
{
	size_t len = strlen(failed);

	NET_EPOCH_ASSERT();
	if (!quiet)
		snprintf(failed + len, sizeof(failed) - len, "%u:%u ",
		    ntohl(addr.s_addr) & 0xff, m->m_pkthdr.rcvif == NULL ? 0 :
		    m->m_pkthdr.rcvif->if_index);
	m_freem(m);
}

static const struct lltable_proto proto = {
	.lp_request = rec_request,
	.lp_failed = rec_failed,
	.lp_params = &params,
};

static void
rec_output(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (quiet || nsent == MAXSENT)
			m_freem(m[i]);
		else
			sent[nsent++] = m[i];
	}
}

static void
free_burst(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	m_free_burst(m, n);
}

static const struct if_linktype linktype = {
	.lt_type = IFT_ETHER,
	.lt_input = free_burst,
};

static struct ifnet *
make_if(const char *name)
{
	struct ifnet *ifp;

	assert_int_equal(if_alloc(vnet, IFT_ETHER, name, &ifp), 0);
	atomic_store(&ifp->if_output, rec_output);
	atomic_fetch_or(&ifp->if_flags, IFF_BROADCAST);
	assert_int_equal(if_setlladdr(ifp, mac_p0), 0);
	assert_int_equal(if_attach(ifp), 0);
	assert_int_equal(if_setflags(ifp, IFF_UP, 0), 0);
	return (ifp);
}

static void
forget(void)
{
	asked[0] = failed[0] = '\0';
	m_free_burst(sent, nsent);
	nsent = 0;
}

static int
setup(void **state)
{
	static bool mbufs;

	if (!mbufs)
		assert_int_equal(mbuf_init(4096), 0);
	mbufs = true;
	params = (struct lltable_params){ 1200, 20, 5, 16, 16384 };
	quiet = false;
	assert_non_null(vnet = vnet_alloc());
	VNET_CONFIG_LOCK(vnet);
	assert_int_equal(route_vnet_init(vnet), 0);
	assert_int_equal(if_linktype_register(vnet, &linktype), 0);
	lltable_set_proto(vnet, &proto);
	p0 = make_if("p0");
	p1 = make_if("p1");
	assert_int_equal(if_addr_add(p0, ip4("192.0.2.1"), 22, ip4("0.0.0.0"),
	    ip4("0.0.0.0")), 0);
	forget();
	return (0);
}

static int
teardown(void **state)
{
	struct ifnet *ifp;

	forget();
	while ((ifp = CK_STAILQ_FIRST(&vnet->v_ifnets)) != NULL) {
		if_detach(ifp);
		if_free(ifp);
	}
	route_vnet_fini(vnet);
	VNET_CONFIG_UNLOCK(vnet);
	NET_EPOCH_DRAIN_CALLBACKS();
	NET_EPOCH_DRAIN_CALLBACKS();
	vnet_free(vnet);
	assert_int_equal(mbuf_nfree(), mbuf_nframes());
	return (0);
}

/*
 * Send a packet of 100 bytes of value mark to dst, received on p1.  True: it
 * left with a header, which is checked against mac.
 */
static bool
send_to(struct in_addr dst, uint8_t mark, const uint8_t *mac)
{
	struct epoch_tracker et;
	const struct nhop *nh;
	uint8_t data[100];
	struct mbuf *m;
	bool ok;

	memset(data, mark, sizeof(data));
	assert_non_null(m = m_devget(data, sizeof(data)));
	m->m_pkthdr.rcvif = p1;
	NET_EPOCH_ENTER(et);
	nh = fib4_lookup(vnet->v_fib4, dst.s_addr);
	ok = nh != NULL && nhop_resolve(nh, dst, m);
	NET_EPOCH_EXIT(et);
	assert_non_null(nh);
	if (!ok)
		return (false);
	assert_int_equal(m->m_pkthdr.len, 114);
	if (mac != NULL) {
		assert_memory_equal(m->m_data, mac, 6);
		assert_memory_equal(m->m_data + 6, p0->if_lladdr, 6);
		assert_memory_equal(m->m_data + 12, "\x08\x00", 2);
		assert_memory_equal(m->m_data + 14, data, 100);
	}
	m_freem(m);
	return (true);
}

static enum lla_heard
hear(struct in_addr addr, const uint8_t *mac, bool create, uint8_t *old)
{
	struct epoch_tracker et;
	uint8_t unused[6];
	enum lla_heard what;

	NET_EPOCH_ENTER(et);
	what = lla_heard(p0, addr, mac, create, old != NULL ? old : unused);
	NET_EPOCH_EXIT(et);
	return (what);
}

static void
tick(uint64_t now)
{
	struct epoch_tracker et;

	NET_EPOCH_ENTER(et);
	lltable_tick(vnet, now);
	NET_EPOCH_EXIT(et);
}

/* How many packets p0 has dropped for a reason. */
static uint64_t
drops(enum if_drop why)
{
	return (if_counter(p0, IFC_DROPS + (enum if_counter)why));
}

/* One entry as the walk shows it. */
struct find {
	struct in_addr	 f_addr;
	struct lla_info	 f_info;
	bool		 f_found;
};

static int
find_cb(struct ifnet *ifp, const struct lla_info *li, void *arg)
{
	struct find *f = arg;

	if (li->li_addr.s_addr != f->f_addr.s_addr)
		return (0);
	f->f_info = *li;
	f->f_found = true;
	return (1);
}

/* The state of addr, or -1 when it is not in the table. */
static int
state_of(struct in_addr addr)
{
	struct find f = { .f_addr = addr };

	(void)lla_walk(p0, find_cb, &f);
	return (f.f_found ? (int)f.f_info.li_state : -1);
}

static void
test_resolve(void **state)
{
	unsigned int i;

	assert_false(send_to(host(7), 1, NULL));
	assert_string_equal(asked, "b519 ");	/* 192.0.2.7: 0x0207 */
	assert_false(send_to(host(7), 2, NULL));
	assert_false(send_to(host(7), 3, NULL));
	assert_string_equal(asked, "b519 ");
	assert_int_equal(state_of(host(7)), LLE_INCOMPLETE);
	assert_int_equal(nsent, 0);

	assert_int_equal(hear(host(8), mac_b, false, NULL), LLA_NONE);
	assert_int_equal(hear(host(7), mac_a, false, NULL), LLA_NEW);
	assert_int_equal(state_of(host(7)), LLE_REACHABLE);
	assert_int_equal(nsent, 3);
	for (i = 0; i < 3; i++) {
		assert_int_equal(sent[i]->m_pkthdr.len, 114);
		assert_memory_equal(sent[i]->m_data, mac_a, 6);
		assert_memory_equal(sent[i]->m_data + 6, mac_p0, 6);
		assert_int_equal(sent[i]->m_data[14], i + 1);
	}
	assert_true(send_to(host(7), 4, mac_a));
	assert_true(send_to(host(7), 5, mac_a));
	assert_int_equal(hear(host(7), mac_a, false, NULL), LLA_SAME);
	assert_int_equal(hear(host(9), mac_b, true, NULL), LLA_NEW);
	assert_true(send_to(host(9), 6, mac_b));
	assert_string_equal(asked, "b519 ");
}

static void
test_silent(void **state)
{
	uint64_t t0 = time_ns();
	char want[64];
	int i;

	assert_false(send_to(host(7), 1, NULL));
	assert_false(send_to(host(7), 2, NULL));
	tick(t0 + SECOND / 2);			/* not yet */
	assert_string_equal(asked, "b519 ");
	for (i = 2; i <= 5; i++)
		tick(time_ns() + (uint64_t)i * SECOND);
	assert_string_equal(asked, "b519 b519 b519 b519 b519 ");
	assert_string_equal(failed, "");
	tick(time_ns() + 7 * SECOND);
	assert_string_equal(asked, "b519 b519 b519 b519 b519 ");
	snprintf(want, sizeof(want), "7:%u 7:%u ", p1->if_index, p1->if_index);
	assert_string_equal(failed, want);
	assert_int_equal(state_of(host(7)), LLE_FAILED);

	/* For lp_wait seconds it is known to be silent. */
	forget();
	assert_false(send_to(host(7), 3, NULL));
	snprintf(want, sizeof(want), "7:%u ", p1->if_index);
	assert_string_equal(failed, want);
	tick(time_ns() + 20 * SECOND);
	assert_int_equal(state_of(host(7)), LLE_FAILED);
	tick(time_ns() + 28 * SECOND);
	assert_int_equal(state_of(host(7)), -1);
	assert_string_equal(asked, "");
	assert_false(send_to(host(7), 4, NULL));
	assert_string_equal(asked, "b519 ");

	/* A failed neighbour that speaks is a neighbour again. */
	for (i = 0; i < 6; i++)
		tick(time_ns() + (uint64_t)(2 + 2 * i) * SECOND);
	assert_int_equal(state_of(host(7)), LLE_FAILED);
	assert_int_equal(hear(host(7), mac_a, false, NULL), LLA_NEW);
	assert_true(send_to(host(7), 5, mac_a));
}

/* The interface that brought a waiting packet goes before the answer. */
static void
test_rcvif_gone(void **state)
{
	int i;

	assert_false(send_to(host(7), 1, NULL));
	if_detach(p1);
	if_free(p1);
	for (i = 0; i < 6; i++)
		tick(time_ns() + (uint64_t)(2 + 2 * i) * SECOND);
	assert_string_equal(failed, "7:0 ");
}

static void
test_hold(void **state)
{
	uint8_t i;

	params.lp_maxhold = 3;
	for (i = 1; i <= 5; i++)
		assert_false(send_to(host(7), i, NULL));
	assert_int_equal(drops(IFD_ARPHOLD), 2);
	assert_int_equal(hear(host(7), mac_a, false, NULL), LLA_NEW);
	assert_int_equal(nsent, 3);
	for (i = 0; i < 3; i++)
		assert_int_equal(sent[i]->m_data[14], i + 3);
	forget();
	params.lp_maxhold = 0;
	assert_false(send_to(host(8), 1, NULL));
	assert_string_equal(asked, "b520 ");
	assert_int_equal(drops(IFD_ARPHOLD), 3);

	/* All together hold at most an eighth of the frames. */
	params.lp_maxhold = 1000;
	forget();
	quiet = true;
	while (drops(IFD_ARPHOLD) == 3 && mbuf_nfree() > 1024)
		assert_false(send_to(host(9), 1, NULL));
	assert_int_equal(drops(IFD_ARPHOLD), 4);
	assert_int_equal(mbuf_nframes() - mbuf_nfree(), mbuf_nframes() / 8);
}

static void
test_ageing(void **state)
{
	int i;

	/* Not used: gone after its life, without a question. */
	assert_int_equal(hear(host(7), mac_a, true, NULL), LLA_NEW);
	tick(time_ns() + 1199 * SECOND);
	assert_int_equal(state_of(host(7)), LLE_REACHABLE);
	tick(time_ns() + 1201 * SECOND);
	assert_int_equal(state_of(host(7)), -1);
	assert_string_equal(asked, "");

	/* Used: asked by unicast, and good for packets meanwhile. */
	assert_int_equal(hear(host(7), mac_a, true, NULL), LLA_NEW);
	assert_true(send_to(host(7), 1, mac_a));
	tick(time_ns() + 1201 * SECOND);
	assert_int_equal(state_of(host(7)), LLE_STALE);
	assert_string_equal(asked, "u519 ");
	assert_true(send_to(host(7), 2, mac_a));
	tick(time_ns() + 1203 * SECOND);
	assert_string_equal(asked, "u519 u519 ");
	assert_int_equal(hear(host(7), mac_a, false, NULL), LLA_SAME);
	assert_int_equal(state_of(host(7)), LLE_REACHABLE);

	/* Used once more, and silent: gone, and asked for by broadcast. */
	forget();
	assert_true(send_to(host(7), 3, mac_a));
	for (i = 0; i < 6; i++)
		tick(time_ns() + (uint64_t)(1201 + 2 * i) * SECOND);
	assert_string_equal(asked, "u519 u519 u519 u519 u519 ");
	assert_int_equal(state_of(host(7)), -1);
	assert_false(send_to(host(7), 4, NULL));
	assert_string_equal(asked, "u519 u519 u519 u519 u519 b519 ");
}

/* A gateway's nexthop remembers its neighbour, and sees it move. */
static void
test_gateway(void **state)
{
	const struct rt_req rq = { .rq_dst = ip4("203.0.113.0"),
	    .rq_plen = 24, .rq_flags = RTF_GATEWAY | RTF_STATIC,
	    .rq_gw = host(7) };
	struct rt_info ri;
	struct llentry *lle;
	uint8_t old[6];

	assert_int_equal(rt_add(vnet, &rq), 0);
	assert_int_equal(rt_get(vnet, rq.rq_dst, 24, &ri), 0);
	assert_false(send_to(ip4("203.0.113.5"), 1, NULL));
	assert_string_equal(asked, "b519 ");
	assert_int_equal(hear(host(7), mac_a, false, NULL), LLA_NEW);
	assert_true(send_to(ip4("203.0.113.5"), 2, mac_a));
	lle = ri.ri_nh->nh_lle;
	assert_non_null(lle);
	assert_int_equal(lle->lle_refs, 2);

	assert_int_equal(hear(host(7), mac_b, false, old), LLA_MOVED);
	assert_memory_equal(old, mac_a, 6);
	assert_int_equal(lle->lle_flags & LLE_DELETED, LLE_DELETED);
	assert_true(send_to(ip4("203.0.113.5"), 3, mac_b));
	assert_ptr_not_equal(ri.ri_nh->nh_lle, lle);

	/* Deleted by the operator: as good as never known. */
	forget();
	assert_int_equal(lla_delete(p0, host(7)), 0);
	assert_int_equal(lla_delete(p0, host(7)), ENOENT);
	assert_false(send_to(ip4("203.0.113.5"), 4, NULL));
	assert_string_equal(asked, "b519 ");
	assert_int_equal(hear(host(7), mac_a, false, NULL), LLA_NEW);
	assert_true(send_to(ip4("203.0.113.5"), 5, mac_a));
}

static void
test_operator(void **state)
{
	uint8_t old[6];

	assert_int_equal(lla_set(p0, host(7), mac_a, LLE_STATIC, 0), 0);
	assert_true(send_to(host(7), 1, mac_a));
	assert_int_equal(hear(host(7), mac_b, true, old), LLA_STATIC);
	assert_memory_equal(old, mac_a, 6);
	assert_int_equal(hear(host(7), mac_a, true, old), LLA_SAME);
	tick(time_ns() + 100000 * SECOND);
	assert_true(send_to(host(7), 2, mac_a));

	assert_int_equal(lla_set(p0, host(8), mac_a, LLE_BLACKHOLE, 0), 0);
	assert_false(send_to(host(8), 1, NULL));
	assert_int_equal(drops(IFD_ARPFAIL), 1);
	assert_int_equal(lla_set(p0, host(9), mac_a, LLE_REJECT, 0), 0);
	assert_false(send_to(host(9), 1, NULL));
	assert_string_not_equal(failed, "");
	assert_int_equal(hear(host(8), mac_b, true, old), LLA_STATIC);
	assert_string_equal(asked, "");

	/* For a while only. */
	assert_int_equal(lla_set(p0, host(10), mac_b, 0, 60), 0);
	assert_true(send_to(host(10), 1, mac_b));
	assert_int_equal(lla_set(p0, host(11), mac_b, 0, 60), 0);
	tick(time_ns() + 61 * SECOND);
	assert_int_equal(state_of(host(11)), -1);

	/* Packets that wait for what the operator then sets. */
	forget();
	assert_false(send_to(host(12), 1, NULL));
	assert_false(send_to(host(12), 2, NULL));
	assert_int_equal(lla_set(p0, host(12), mac_a, 0, 0), 0);
	assert_int_equal(nsent, 0);
	tick(time_ns());
	assert_int_equal(nsent, 2);
	assert_memory_equal(sent[1]->m_data, mac_a, 6);
	assert_int_equal(sent[1]->m_data[14], 2);

	/* Our own address is shown, and stays. */
	assert_int_equal(state_of(host(1)), LLE_REACHABLE);
	assert_int_equal(lla_delete(p0, host(1)), EPERM);
	assert_int_equal(lla_set(p0, host(1), mac_b, 0, 0), EPERM);
	assert_int_equal(hear(host(1), mac_b, true, old), LLA_STATIC);
	assert_memory_equal(old, mac_p0, 6);
	assert_int_equal(lla_set(p0, host(2), mac_b, LLE_IFADDR, 0), EINVAL);

	assert_int_equal(hear(host(20), mac_b, true, NULL), LLA_NEW);
	assert_int_equal(lla_flush(p0, false), 2);	/* .10 and .20 */
	assert_int_equal(lla_flush(p0, true), 4);	/* .7 .8 .9 .12 */
	assert_int_equal(state_of(host(1)), LLE_REACHABLE);
}

static int
order_cb(struct ifnet *ifp, const struct lla_info *li, void *arg)
{
	uint32_t *last = arg;

	assert_true(ntohl(li->li_addr.s_addr) > *last);
	*last = ntohl(li->li_addr.s_addr);
	return (0);
}

static void
test_walk(void **state)
{
	uint32_t last = 0;
	struct find f = { .f_addr = host(7) };
	int i;

	for (i = 0; i < 200; i++)
		(void)hear(host(2 + (unsigned int)(test_rand() % 700)), mac_a,
		    true, NULL);
	assert_int_equal(lla_walk(p0, order_cb, &last), 0);
	(void)hear(host(7), mac_a, true, NULL);
	assert_int_equal(lla_walk(p0, find_cb, &f), 1);
	assert_memory_equal(f.f_info.li_mac, mac_a, 6);
	assert_in_range(f.f_info.li_expire, 1190 * SECOND, 1200 * SECOND);
	f = (struct find){ .f_addr = host(1) };
	assert_int_equal(lla_walk(p0, find_cb, &f), 1);
	assert_int_equal(f.f_info.li_expire, 0);
	assert_int_equal(f.f_info.li_flags & LLE_IFADDR, LLE_IFADDR);
}

/* The MAC of the interface, its addresses, IFF_UP, NOARP. */
static void
test_interface(void **state)
{
	static const uint8_t mac_new[] = { 2, 0, 0, 0, 1, 9 };

	assert_int_equal(hear(host(7), mac_a, true, NULL), LLA_NEW);
	assert_int_equal(lla_set(p0, host(8), mac_b, 0, 0), 0);
	assert_true(send_to(host(7), 1, mac_a));
	assert_int_equal(if_setlladdr(p0, mac_new), 0);
	assert_true(send_to(host(7), 2, mac_a));	/* from the new one */
	assert_true(send_to(host(8), 2, mac_b));
	assert_false(send_to(host(9), 1, NULL));
	assert_int_equal(hear(host(9), mac_b, false, NULL), LLA_NEW);
	assert_memory_equal(sent[0]->m_data + 6, mac_new, 6);

	/* Down: what was learned is forgotten, what was set is not. */
	assert_int_equal(if_setflags(p0, 0, IFF_UP), 0);
	assert_int_equal(state_of(host(7)), -1);
	assert_int_equal(state_of(host(8)), LLE_REACHABLE);
	assert_int_equal(if_setflags(p0, IFF_UP | IFF_NOARP, 0), 0);
	forget();
	assert_false(send_to(host(7), 1, NULL));
	assert_string_equal(asked, "");
	assert_int_equal(drops(IFD_ARPFAIL), 1);
	assert_int_equal(if_setflags(p0, 0, IFF_NOARP), 0);

	/* A second address on the same network keeps the neighbours. */
	assert_int_equal(hear(host(7), mac_a, true, NULL), LLA_NEW);
	assert_int_equal(if_addr_add(p0, host(2), 24, ip4("0.0.0.0"),
	    ip4("0.0.0.0")), 0);
	assert_int_equal(if_addr_del(p0, host(1)), 0);
	assert_int_equal(state_of(host(1)), -1);
	assert_int_equal(state_of(host(7)), LLE_REACHABLE);
	assert_int_equal(if_addr_del(p0, host(2)), 0);
	assert_int_equal(state_of(host(7)), -1);
	assert_int_equal(state_of(host(8)), -1);
}

static void
test_limit(void **state)
{
	unsigned int i;

	params.lp_maxentries = 401;	/* our own address is one */
	for (i = 10; i < 410; i++)
		assert_false(send_to(host(i), 1, NULL));
	assert_int_equal(drops(IFD_ARPHOLD), 0);
	/* A scan fills the table; a real neighbour still finds room. */
	assert_false(send_to(host(500), 1, NULL));
	assert_int_equal(state_of(host(500)), LLE_INCOMPLETE);
	assert_int_equal(drops(IFD_ARPHOLD), 1);
	assert_int_equal(hear(host(501), mac_a, true, NULL), LLA_NEW);
	assert_true(send_to(host(501), 1, mac_a));
	assert_int_equal(drops(IFD_ARPHOLD), 2);

	assert_int_equal(lla_flush(p0, true), 400);
	for (i = 10; i < 410; i++)
		assert_int_equal(hear(host(i), mac_a, true, NULL), LLA_NEW);
	assert_int_equal(hear(host(501), mac_a, true, NULL), LLA_FULL);
	assert_false(send_to(host(500), 1, NULL));
	assert_int_equal(drops(IFD_ARPFAIL), 1);
	for (i = 10; i < 410; i += 21)
		assert_int_equal(state_of(host(i)), LLE_REACHABLE);
}

/* The interface goes while packets wait and a nexthop knows a neighbour. */
static void
test_detach(void **state)
{
	const struct rt_req rq = { .rq_dst = ip4("203.0.113.0"),
	    .rq_plen = 24, .rq_flags = RTF_GATEWAY, .rq_gw = host(7) };

	assert_int_equal(rt_add(vnet, &rq), 0);
	assert_int_equal(hear(host(7), mac_a, true, NULL), LLA_NEW);
	assert_true(send_to(ip4("203.0.113.5"), 1, mac_a));
	assert_false(send_to(host(9), 1, NULL));
	if_detach(p0);
	assert_null(p0->if_lltable);
	assert_int_equal(hear(host(7), mac_a, true, NULL), LLA_NONE);
	assert_int_equal(lla_delete(p0, host(7)), ENOENT);
	assert_int_equal(lla_set(p0, host(7), mac_a, 0, 0), ENXIO);
	if_free(p0);
	/* The teardown finds every mbuf. */
}

/* ---- Two senders while entries expire, move and are deleted ---- */

#define	HOSTS	500

static _Atomic bool stop;
static _Atomic uint64_t passed;

static void *
sender(void *arg)
{
	uint64_t seed = (uintptr_t)&arg;
	struct in_addr dst;

	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		dst = host(2 + (unsigned int)(test_next(&seed) % HOSTS));
		if ((test_next(&seed) & 1) != 0)
			dst.s_addr = htonl(0xcb007100 |
			    (uint32_t)(test_next(&seed) & 0xff));
		if (send_to(dst, 1, NULL))
			atomic_fetch_add(&passed, 1);
	}
	return (NULL);
}

static void
test_churn(void **state)
{
	struct rt_req rq = { .rq_dst = ip4("203.0.113.0"), .rq_plen = 24,
	    .rq_flags = RTF_GATEWAY | RTF_STATIC, .rq_gw = host(7) };
	double end = test_clock() + CHURN_SECONDS;
	uint64_t now = time_ns();
	pthread_t td[2];
	int i;

	quiet = true;
	params.lp_max_age = 1;
	assert_int_equal(rt_add(vnet, &rq), 0);
	stop = false;
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&td[i], NULL, sender, NULL),
		    0);
	for (i = 0; test_churn_more(i, 20000, end, &passed); i++) {
		(void)hear(host(2 + (unsigned int)(test_rand() % HOSTS)),
		    (test_rand() & 7) != 0 ? mac_a : mac_b, true, NULL);
		(void)hear(host(7), (i & 1) != 0 ? mac_a : mac_b, true, NULL);
		if (i % 16 == 0)
			tick(now += 2 * SECOND);
		if (i % 32 == 0)
			(void)lla_delete(p0, host(7));
		if (i % 64 == 0)
			(void)lla_set(p0, host(2 + (unsigned int)
			    (test_rand() % HOSTS)), mac_b, 0, 1);
		if (i % 512 == 0) {
			(void)lla_flush(p0, true);
			rq.rq_gw = host((i & 512) != 0 ? 8 : 7);
			assert_int_equal(rt_change(vnet, &rq), 0);
		}
	}
	atomic_store(&stop, true);
	for (i = 0; i < 2; i++)
		pthread_join(td[i], NULL);
	assert_true(passed > 0);
	printf("%ju packets left with a header\n", (uintmax_t)passed);
}

/* ---- Senders while an interface is destroyed and made again ---- */

static void *
roamer(void *arg)
{
	struct epoch_tracker et;
	const struct nhop *nh;
	uint64_t seed = (uintptr_t)&arg;
	struct in_addr dst;
	struct mbuf *m;

	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		dst.s_addr = htonl(0xc6336400 |		/* 198.51.100.0/24 */
		    (uint32_t)(test_next(&seed) & 0x1f));
		if ((test_next(&seed) & 1) != 0)
			dst = ip4("203.0.113.9");
		if ((m = m_gethdr()) == NULL)
			continue;
		m->m_len = m->m_pkthdr.len = 60;
		m->m_pkthdr.rcvif = p1;
		NET_EPOCH_ENTER(et);
		nh = fib4_lookup(vnet->v_fib4, dst.s_addr);
		if (nh == NULL || (nh->nh_flags & NHF_SPECIAL) != 0)
			m_freem(m);
		else if (nhop_resolve(nh, dst, m)) {
			if_transmit(nh->nh_ifp, &m, 1);
			atomic_fetch_add(&passed, 1);
		}
		NET_EPOCH_EXIT(et);
	}
	m_cache_drain();
	return (NULL);
}

/* A life of p2: neighbours, a route through it, packets that wait, the end. */
static void
churn_interface(void)
{
	struct rt_req rq = { .rq_dst = ip4("203.0.113.0"), .rq_plen = 24,
	    .rq_flags = RTF_GATEWAY | RTF_STATIC,
	    .rq_gw = ip4("198.51.100.9") };
	struct epoch_tracker et;
	struct ifnet *p2 = make_if("p2");
	uint8_t old[6];
	uint32_t i;

	assert_int_equal(if_addr_add(p2, ip4("198.51.100.1"), 24,
	    ip4("0.0.0.0"), ip4("0.0.0.0")), 0);
	assert_int_equal(rt_add(vnet, &rq), 0);
	for (i = 2; i < 20; i++) {
		NET_EPOCH_ENTER(et);
		(void)lla_heard(p2, (struct in_addr){ htonl(0xc6336400 + i) },
		    mac_a, true, old);
		NET_EPOCH_EXIT(et);
	}
	tick(time_ns() + test_rand() % 4 * SECOND);
	if (test_rand() % 2 == 0)
		assert_int_equal(if_setlladdr(p2, mac_b), 0);
	if (test_rand() % 2 == 0)
		assert_int_equal(if_setflags(p2, 0, IFF_UP), 0);
	if_detach(p2);
	if_free(p2);
}

static void
test_churn_interface(void **state)
{
	double end = test_clock() + CHURN_SECONDS;
	pthread_t td[2];
	int i;

	quiet = true;
	stop = false;
	passed = 0;
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&td[i], NULL, roamer, NULL),
		    0);
	for (i = 0; test_churn_more(i, 200, end, &passed); i++)
		churn_interface();
	atomic_store(&stop, true);
	for (i = 0; i < 2; i++)
		pthread_join(td[i], NULL);
	assert_true(passed > 0);
	assert_int_equal(rt_match(vnet, ip4("203.0.113.9"),
	    &(struct rt_info){ 0 }), ESRCH);
	printf("%ju packets left with a header\n", (uintmax_t)passed);
}

#define	TEST(fn)	cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_resolve),
		TEST(test_silent),
		TEST(test_rcvif_gone),
		TEST(test_hold),
		TEST(test_ageing),
		TEST(test_gateway),
		TEST(test_operator),
		TEST(test_walk),
		TEST(test_interface),
		TEST(test_limit),
		TEST(test_detach),
		TEST(test_churn),
		TEST(test_churn_interface),
	};

	test_seed();
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
