/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Neighbours: two threads that send while entries come and go (the case of a
 * timer on an unlinked entry), and while an interface does.
 */

#include "route/lltable_testlib.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>

#include "route/route_private.h"
#include "sys/thread.h"

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
		TEST(test_churn),
		TEST(test_churn_interface),
	};

	test_seed();
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
