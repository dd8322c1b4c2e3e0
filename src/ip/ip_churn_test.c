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
 * And fragments of the same packets that come in on two threads: each packet is
 * put together once.
 *
 * The fifth thread is the vnet's clock.  NETEPOCH_CHURN: seconds to run, 2.
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
		else if (ifp == R.p1)
			atomic_fetch_add_explicit(&left, 1,
			    memory_order_relaxed);
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

static void
test_churn(void **state)
{
	static const struct in_addr none;
	const char *env = getenv("NETEPOCH_CHURN");
	unsigned int seconds = env != NULL ? (unsigned int)atoi(env) : 2;
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
		cmocka_unit_test_setup_teardown(test_reassembly,
		    rig_setup_dynamic, rig_teardown),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
