/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Neighbours that expire under traffic: two threads forward to 500 hosts whose
 * entries age all the time, a third makes the time pass, the fourth empties
 * the table and changes addresses.  For the thread and address sanitizers,
 * and for the count: every packet leaves or is counted as dropped.
 *
 * The interface that a flow leaves by is removed and made again: each packet
 * leaves or is counted as dropped, and none is lost once the interface is back.
 *
 * And fragments of the same packets that come in on two threads: each packet is
 * put together once.
 *
 * The fifth thread is the vnet's clock.  NETEPOCH_CHURN: seconds that
 * neighbours expire for, 2, and the least that the interface comes and goes for.
 */
#include "ip/ip_testlib.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "sys/thread.h"

#define	HOSTS		500
#define	WORKERS		2
#define	ASKED_MAX	1024
#define	NS_PER_S	1000000000ull

static _Atomic bool stop;
static _Atomic uint64_t injected, left;
static _Thread_local uint64_t left_here; /* of these, on this thread */

/* Requests that wait for the hosts' answers. */
static pthread_mutex_t asked_mtx = PTHREAD_MUTEX_INITIALIZER;
static struct ether_arp asked[ASKED_MAX];
static unsigned int nasked;

/* No assertion of cmocka's here: these are other threads. */
static void
need(bool ok, const char *what)
{

	if (ok)
		return;
	fprintf(stderr, "ip_churn_test: %s\n", what);
	abort();
}

static void
note_request(struct mbuf *m)
{
	struct ether_arp ah;

	m_copydata(m, ETHER_HDR_LEN, sizeof(ah), &ah);
	if (ah.arp_op != htons(ARPOP_REQUEST) ||
	    ah.arp_spa.s_addr == ah.arp_tpa.s_addr)
		return;
	pthread_mutex_lock(&asked_mtx);
	if (nasked < ASKED_MAX)
		asked[nasked++] = ah;
	pthread_mutex_unlock(&asked_mtx);
}

static void
churn_output(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	struct ether_header eh;
	unsigned int i;

	for (i = 0; i < n; i++) {
		m_copydata(m[i], 0, sizeof(eh), &eh);
		if (eh.ether_type == htons(ETHERTYPE_ARP))
			note_request(m[i]);
		else if (ifp != R.p0) {
			atomic_fetch_add_explicit(&left, 1,
			    memory_order_relaxed);
			left_here++;
		}
	}
	m_free_burst(m, n);
}

static void
inject(struct ifnet *ifp, const struct frame *f, unsigned int n)
{
	struct mbuf *m[MBUF_BURST];
	struct epoch_tracker et;
	unsigned int i;

	for (i = 0; i < n; i++) {
		m[i] = m_devget(f[i].f_b, f[i].f_len);
		need(m[i] != NULL, "out of mbufs");
	}
	NET_EPOCH_ENTER(et);
	atomic_load_explicit(&ifp->if_input, memory_order_acquire)(ifp, m, n);
	NET_EPOCH_EXIT(et);
}

/* Answer what was asked; now and then from another MAC. */
static void
answer(uint64_t salt)
{
	uint8_t mac[6] = { 2, 0, 1, 0, 0, 0 };
	struct ether_arp q, ah;
	struct frame f;

	for (;;) {
		pthread_mutex_lock(&asked_mtx);
		if (nasked == 0) {
			pthread_mutex_unlock(&asked_mtx);
			return;
		}
		q = asked[--nasked];
		pthread_mutex_unlock(&asked_mtx);
		memcpy(mac + 3, (const uint8_t *)&q.arp_tpa + 1, 3);
		mac[2] = (uint8_t)(1 + salt++ % 8 / 7);
		ah = q;
		ah.arp_op = htons(ARPOP_REPLY);
		memcpy(ah.arp_sha, mac, 6);
		ah.arp_spa = q.arp_tpa;
		memcpy(ah.arp_tha, q.arp_sha, 6);
		ah.arp_tpa = q.arp_spa;
		frame_ether(&f, q.arp_sha, mac, ETHERTYPE_ARP, &ah,
		    sizeof(ah));
		inject(R.p1, &f, 1);
	}
}

static void
worker(void *arg)
{
	struct frame f[32], model;
	uint64_t rand = (uintptr_t)arg;
	unsigned int i, host;
	char dst[32];

	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		for (i = 0; i < nitems(f); i++) {
			rand = rand * 6364136223846793005u +
			    1442695040888963407u;
			host = 256 + (unsigned int)(rand >> 33) % HOSTS;
			(void)snprintf(dst, sizeof(dst), "10.0.%u.%u",
			    host / 256, host % 256);
			frame_udp(&model, &(struct ip4){ .dst = dst });
			f[i] = model;
		}
		inject(R.p0, f, nitems(f));
		atomic_fetch_add_explicit(&injected, nitems(f),
		    memory_order_relaxed);
		answer(rand >> 33);
	}
}

/* A second every few milliseconds. */
static void
timekeeper(void *arg)
{
	uint64_t now = time_ns() + 3 * NS_PER_S;

	(void)arg;
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		now += NS_PER_S;
		rig_tick(now);
		(void)usleep(3000);
	}
}

/* Both ways out of the queue of a neighbour were taken. */
static bool
seen(void)
{

	return (left > 0 && rig_drops(R.p1, IFD_ARPHOLD) +
	    rig_drops(R.p1, IFD_ARPFAIL) > 0);
}

/* For so long, and until there was something to see. */
static void
configure(unsigned int seconds)
{
	static const struct in_addr none;
	uint64_t end = time_ns() + seconds * NS_PER_S;
	struct in_addr extra = addr4("10.1.0.1");

	while (time_ns() < end || !seen()) {
		VNET_CONFIG_LOCK(R.vnet);
		need(if_addr_add(R.p1, extra, 16, none, none) == 0, "add");
		(void)lla_flush(R.p1, false);
		VNET_CONFIG_UNLOCK(R.vnet);
		(void)usleep(2000);
		VNET_CONFIG_LOCK(R.vnet);
		need(if_addr_del(R.p1, extra) == 0, "delete");
		(void)lla_delete(R.p1, addr4("10.0.1.7"));
		VNET_CONFIG_UNLOCK(R.vnet);
		(void)usleep(5000);
	}
}

/* As many as the environment says. */
static unsigned int
churn_seconds(unsigned int usual)
{
	const char *env = getenv("NETEPOCH_CHURN");

	return (env != NULL ? (unsigned int)atoi(env) : usual);
}

static void
test_churn(void **state)
{
	static const struct in_addr none;
	unsigned int seconds = churn_seconds(2);
	struct thread *td[WORKERS + 1];
	uint64_t drops;

	atomic_store(&R.p0->if_output, churn_output);
	atomic_store(&R.p1->if_output, churn_output);
	rig_sysctl("net.link.ether.inet.max_age", 1);
	rig_sysctl("net.link.ether.inet.maxtries", 1);
	rig_sysctl("net.link.ether.inet.wait", 1);
	rig_sysctl("net.link.ether.inet.log_arp_movements", 0);
	rig_neighbour(R.p0, IP_A, mac_a);
	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(if_addr_add(R.p1, addr4("10.0.0.1"), 16, none, none),
	    0);
	VNET_CONFIG_UNLOCK(R.vnet);
	for (uintptr_t i = 0; i < WORKERS; i++)
		assert_int_equal(thread_create(&td[i], "worker",
		    THREAD_ANY_CPU, worker, (void *)(i + 1)), 0);
	assert_int_equal(thread_create(&td[WORKERS], "time", THREAD_ANY_CPU,
	    timekeeper, NULL), 0);
	configure(seconds);
	atomic_store(&stop, true);
	for (int i = 0; i <= WORKERS; i++)
		thread_join(td[i]);

	/* Those that still wait. */
	VNET_CONFIG_LOCK(R.vnet);
	(void)lla_flush(R.p1, false);
	VNET_CONFIG_UNLOCK(R.vnet);
	drops = rig_drops(R.p1, IFD_ARPHOLD) + rig_drops(R.p1, IFD_ARPFAIL);
	printf("%ju packets in, %ju out, %ju dropped\n",
	    (uintmax_t)injected, (uintmax_t)left, (uintmax_t)drops);
	assert_int_equal(left + drops, injected);
	assert_int_equal(ip_stat(R.vnet, IPS_FORWARD), injected);
}

/* ---- The way out goes and comes back ---- */

#define	REMOVALS	500
#define	FLOW_PPS	100000
#define	FLOW_BURST	32

static _Atomic unsigned int life;	/* of p1; odd: it is away */
static _Atomic uint64_t whole;		/* bursts that fell into one life */

/*
 * A flow from A to what is behind C.  A burst that begins and ends in the same
 * life of p1 leaves in whole, the first after its return too.
 */
static void
flow(void *arg)
{
	uint64_t due = time_ns(), now, before;
	struct frame f[FLOW_BURST];
	unsigned int i, was;

	(void)arg;
	frame_udp(&f[0], &(struct ip4){ .dst = IP_FAR });
	for (i = 1; i < FLOW_BURST; i++)
		f[i] = f[0];
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		was = atomic_load(&life);
		before = left_here;
		inject(R.p0, f, FLOW_BURST);
		atomic_fetch_add(&injected, FLOW_BURST);
		if (was % 2 == 0 && atomic_load(&life) == was) {
			need(left_here - before == FLOW_BURST,
			    "packets were lost with p1 in place");
			atomic_fetch_add(&whole, 1);
		} else
			need(left_here - before <= FLOW_BURST,
			    "packets left twice");
		due += FLOW_BURST * NS_PER_S / FLOW_PPS;
		now = time_ns();
		if (due > now)
			(void)usleep((unsigned int)((due - now) / 1000));
	}
}

static void
p1_remove(void)
{

	VNET_CONFIG_LOCK(R.vnet);
	if_detach(R.p1);
	if_free(R.p1);
	VNET_CONFIG_UNLOCK(R.vnet);
}

/*
 * What it counted is the vnet's with its last reference, that of a nexthop,
 * which goes from a callback.
 */
static void
p1_retire(void)
{

	NET_EPOCH_DRAIN_CALLBACKS();
	NET_EPOCH_DRAIN_CALLBACKS();
}

/* As it was: address, neighbour, route. */
static void
p1_again(void)
{
	static const struct in_addr none;
	struct rt_req far = { .rq_dst = addr4("203.0.113.0"), .rq_plen = 24,
	    .rq_flags = RTF_UP | RTF_GATEWAY | RTF_STATIC,
	    .rq_gw = addr4(IP_C) };

	R.p1 = rig_interface("p1", mac_r1);
	atomic_store(&R.p1->if_output, churn_output);
	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(if_setflags(R.p1, IFF_UP, 0), 0);
	assert_int_equal(if_addr_add(R.p1, addr4(IP_R1), 24, none, none), 0);
	VNET_CONFIG_UNLOCK(R.vnet);
	rig_neighbour(R.p1, IP_C, mac_c);
	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(rt_add(R.vnet, &far), 0);
	VNET_CONFIG_UNLOCK(R.vnet);
}

/* Wait for a burst that left in whole; how long that took, in ns. */
static uint64_t
flows_again(void)
{
	uint64_t before = atomic_load(&whole), begin = time_ns(), took;

	do {
		(void)usleep(50);
		took = time_ns() - begin;
		assert_true(took < 20 * NS_PER_S);
	} while (atomic_load(&whole) == before);
	return (took);
}

/* With p1 away, wait for a burst that began without it. */
static void
flow_misses_it(void)
{
	uint64_t before = atomic_load(&injected), begin = time_ns();

	while (atomic_load(&injected) < before + 2 * FLOW_BURST) {
		assert_true(time_ns() - begin < 20 * NS_PER_S);
		(void)usleep(50);
	}
}

static void
test_removals(void **state)
{
	uint64_t drops = 0, noif, longest = 0, took;
	uint64_t end = time_ns() + churn_seconds(0) * NS_PER_S;
	struct thread *td;
	unsigned int i, why;

	(void)state;
	stop = false;
	injected = left = 0;
	atomic_store(&R.p0->if_output, churn_output);
	atomic_store(&R.p1->if_output, churn_output);
	assert_int_equal(thread_create(&td, "flow", THREAD_ANY_CPU, flow,
	    NULL), 0);
	for (i = 0; i < REMOVALS || time_ns() < end; i++) {
		took = flows_again();
		if (took > longest)
			longest = took;
		atomic_fetch_add(&life, 1);
		p1_remove();
		if (i % 8 == 0)
			flow_misses_it();
		p1_again();
		atomic_fetch_add(&life, 1);
	}
	(void)flows_again();
	atomic_store(&stop, true);
	thread_join(td);
	p1_retire();
	VNET_CONFIG_LOCK(R.vnet);
	for (why = 0; why < IFD_COUNT; why++)
		drops += vnet_counter(R.vnet, (enum if_counter)(IFC_DROPS +
		    why));
	noif = vnet_counter(R.vnet, (enum if_counter)(IFC_DROPS + IFD_NOIF));
	VNET_CONFIG_UNLOCK(R.vnet);
	printf("%u removals; %ju packets in, %ju out, %ju dropped, %ju of them "
	    "at a detached interface; back after at most %ju us\n", i,
	    (uintmax_t)injected, (uintmax_t)left, (uintmax_t)drops,
	    (uintmax_t)noif, (uintmax_t)longest / 1000);
	assert_int_equal(left + drops, injected);
	assert_true(drops >= REMOVALS / 8 * FLOW_BURST);
}

static _Atomic bool in_flight;

/*
 * Find the way out, and take it when it is no more: in one section, which the
 * removal waits for.
 */
static void
late_sender(void *arg)
{
	struct in_addr dst = addr4(IP_FAR);
	struct mbuf *m = m_devget(arg, 100);
	struct epoch_tracker et;
	const struct nhop *nh;

	need(m != NULL, "out of mbufs");
	m->m_pkthdr.rcvif = R.p0;
	NET_EPOCH_ENTER(et);
	nh = fib4_lookup(R.vnet->v_fib4, dst.s_addr);
	need(nh != NULL && nhop_resolve(nh, dst, m), "no way out");
	atomic_store(&in_flight, true);
	while (fib4_lookup(R.vnet->v_fib4, dst.s_addr) == nh)
		(void)sched_yield();
	if_transmit(nh->nh_ifp, &m, 1);
	NET_EPOCH_EXIT(et);
}

static void
test_in_flight(void **state)
{
	static const uint8_t packet[100];
	enum if_counter noif = (enum if_counter)(IFC_DROPS + IFD_NOIF);
	struct thread *td;

	(void)state;
	in_flight = false;
	left = 0;
	atomic_store(&R.p1->if_output, churn_output);
	assert_int_equal(thread_create(&td, "late", THREAD_ANY_CPU,
	    late_sender, (void *)(uintptr_t)packet), 0);
	while (!atomic_load(&in_flight))
		(void)sched_yield();
	p1_remove();
	thread_join(td);
	p1_again();
	p1_retire();
	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(vnet_counter(R.vnet, noif), 1);
	VNET_CONFIG_UNLOCK(R.vnet);
	assert_int_equal(left, 0);
}

#define	PINGS		20000
#define	AHEAD		30		/* of the other thread, the most */

static _Atomic uint32_t done[2];	/* packets, by each thread */

/* Every second fragment of many packets; arg: the even or the odd ones. */
static void
half(void *arg)
{
	uint32_t first = (uint32_t)(uintptr_t)arg, i, k;
	uint8_t icmp[136], data[128] = { 0 };
	struct frame f[4];

	for (i = 0; i < PINGS; i++) {
		while (i > atomic_load(&done[1 - first]) + AHEAD)
			(void)sched_yield();
		(void)put_icmp(icmp, ICMP_ECHO, 0, i, data, sizeof(data));
		for (k = 0; k < 4; k++)
			frame_ip4(&f[k], &(struct ip4){ .dst = IP_R0,
			    .proto = IPPROTO_ICMP, .id = (uint16_t)(i + 1),
			    .off = (uint16_t)(k * 4 + (k < 3 ? IP_MF : 0)) },
			    icmp + 32 * k, k < 3 ? 32 : sizeof(icmp) - 96);
		inject(R.p0, &f[first], 1);
		inject(R.p0, &f[2 + first], 1);
		atomic_store(&done[first], i + 1);
	}
}

static void
test_reassembly(void **state)
{
	struct thread *td[2];

	atomic_store(&R.p0->if_output, churn_output);
	rig_neighbour(R.p0, IP_A, mac_a);
	for (uintptr_t i = 0; i < 2; i++)
		assert_int_equal(thread_create(&td[i], "half",
		    THREAD_ANY_CPU, half, (void *)i), 0);
	for (int i = 0; i < 2; i++)
		thread_join(td[i]);
	assert_int_equal(ip_stat(R.vnet, IPS_FRAGMENTS), 4 * PINGS);
	assert_int_equal(ip_stat(R.vnet, IPS_REASSEMBLED), PINGS);
	assert_int_equal(ip_stat(R.vnet, ICPS_ECHO), PINGS);
	assert_int_equal(rig_all_drops(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_churn, rig_setup_dynamic,
		    rig_teardown),
		cmocka_unit_test_setup_teardown(test_removals, rig_setup,
		    rig_teardown),
		cmocka_unit_test_setup_teardown(test_in_flight, rig_setup,
		    rig_teardown),
		cmocka_unit_test_setup_teardown(test_reassembly,
		    rig_setup_dynamic, rig_teardown),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
