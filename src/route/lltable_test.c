/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Neighbours: every state and the ways between them, what happens to packets
 * that wait, limits, changes by the operator.
 */

#include "route/lltable_testlib.h"

#include <arpa/inet.h>
#include <errno.h>

#include "route/route_private.h"
#include "sys/thread.h"

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

	/* Silent while there was no link: asked anew as soon as there is. */
	for (unsigned int s = 0; s <= 8; s++) {
		if (s == 0)
			assert_false(send_to(host(9), 1, NULL));
		tick(time_ns() + s * SECOND);
	}
	assert_int_equal(state_of(host(9)), LLE_FAILED);
	assert_false(send_to(host(10), 1, NULL));
	assert_int_equal(hear(host(11), mac_a, true, NULL), LLA_NEW);
	VNET_CONFIG_UNLOCK(vnet);
	if_link_state(p0, IF_LINK_DOWN);
	if_link_state(p0, IF_LINK_UP);
	VNET_CONFIG_LOCK(vnet);
	assert_int_equal(state_of(host(9)), -1);
	assert_int_equal(state_of(host(10)), -1);
	assert_int_equal(state_of(host(11)), LLE_REACHABLE);
	forget();
	assert_false(send_to(host(9), 1, NULL));
	assert_string_equal(asked, "b521 ");

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
	};

	test_seed();
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
