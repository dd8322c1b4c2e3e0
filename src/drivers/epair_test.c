/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Tests of the interfaces in memory: names, packets from the same and from
 * other threads, full rings, loopback, ends in two vnets, and pairs that are
 * created and destroyed under traffic.
 */
#include "drivers/burstq.h"
#include "drivers/drivers_test.h"

#include "sys/lock.h"

static struct vnet *vnet;
static _Atomic uint64_t got;		/* packets the input has seen */
static _Atomic uint64_t wrong;		/* of these, not as they were sent */
static struct ifnet *got_ifp;
static _Atomic bool stop;
static unsigned int echo;		/* times a packet is sent on */
static _Thread_local unsigned int depth; /* inputs inside each other */
static _Atomic unsigned int deepest;

/* Sends each packet out where it came in, echo times over. */
static void
count_input(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	struct mbuf *on[MBUF_BURST];
	unsigned int non = 0;
	uint32_t *left;

	assert_true(in_epoch(net_epoch_preempt));
	for (unsigned int i = 0; i < n; i++) {
		if (m[i]->m_pkthdr.len != 60 ||
		    (m[i]->m_flags & (M_BCAST | M_MCAST)) != 0)
			atomic_fetch_add(&wrong, 1);
		left = mtod(m[i], uint32_t *);
		if (*left != 0) {
			(*left)--;
			on[non++] = m[i];
		} else
			m_freem(m[i]);
	}
	got_ifp = ifp;
	if (++depth > atomic_load(&deepest))
		atomic_store(&deepest, depth);
	if (non != 0)
		if_transmit(ifp, on, non);
	depth--;
	atomic_fetch_add(&got, n);
}

/* Send n packets that are to be echoed; returns how many there were. */
static unsigned int
send_some(struct ifnet *ifp, unsigned int n)
{
	static const char zero[60];
	struct epoch_tracker et;
	struct mbuf *m[MBUF_BURST];

	if (m_get_burst(m, n) != n)
		return (0);
	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(m_append(m[i], 60, zero), 0);
		*mtod(m[i], uint32_t *) = echo;
		m[i]->m_flags |= M_BCAST;
	}
	NET_EPOCH_ENTER(et);
	if_transmit(ifp, m, n);
	NET_EPOCH_EXIT(et);
	return (n);
}

static struct ifnet *
other_end(struct vnet *v, const char *name)
{
	struct ifnet *ifp;

	VNET_CONFIG_LOCK(v);
	ifp = if_byname(v, name);
	if (ifp != NULL)
		assert_int_equal(if_setflags(ifp, IFF_UP, 0), 0);
	VNET_CONFIG_UNLOCK(v);
	return (ifp);
}

static struct ifnet *
make_pair(const char *name, const char *spec)
{
	char err[256];
	struct ifnet *a;
	int error;

	a = test_create(vnet, &epair_driver, name, spec, &error, err,
	    sizeof(err));
	assert_int_equal(error, 0);
	assert_string_equal(err, "");
	return (a);
}

static int
setup(void **state)
{

	vnet = test_vnet(2);
	test_input = count_input;
	atomic_store(&got, 0);
	atomic_store(&wrong, 0);
	atomic_store(&stop, false);
	echo = 0;
	return (0);
}

static int
teardown(void **state)
{

	test_vnet_free(vnet);
	test_no_leak();
	return (0);
}

static void
refuse(const char *name, const char *spec, int want, const char *text)
{
	char err[256];
	int error;

	assert_null(test_create(vnet, &epair_driver, name, spec, &error, err,
	    sizeof(err)));
	assert_int_equal(error, want);
	assert_non_null(strstr(err, text));
}

static void
test_names(void **state)
{
	struct ifnet *a, *b, *c, *d;

	a = make_pair("epair", "epair");
	assert_string_equal(a->if_name, "epair0a");
	assert_non_null(other_end(vnet, "epair0b"));
	b = make_pair("epair", "epair");
	assert_string_equal(b->if_name, "epair1a");
	test_destroy(a);
	a = make_pair("epair", "epair,cpu=1");
	assert_string_equal(a->if_name, "epair0a");
	c = make_pair("epair7a", "epair");
	assert_string_equal(c->if_name, "epair7a");
	d = make_pair("lan", "epair");
	assert_string_equal(d->if_name, "lana");
	assert_non_null(other_end(vnet, "lanb"));
	assert_memory_equal(d->if_lladdr, other_end(vnet, "lanb")->if_lladdr,
	    5);
	assert_int_equal(d->if_lladdr[0] & 3, 2);

	refuse("epair1", "epair", EEXIST, "epair1a already exists");
	refuse("0123456789abcdef", "epair", EINVAL, "at most 14");
	refuse("x", "epair,cpu=2", EINVAL, "cpu: expected a number from 0 to");
	refuse("x", "epair,cpu=1x", EINVAL, "got \"1x\"");
	refuse("x", "epair,burst=9", EINVAL, "burst");
	refuse("a/b", "epair", EINVAL, "a/b");

	test_destroy(a);
	test_destroy(b);
	test_destroy(c);
	test_destroy(other_end(vnet, "lanb"));	/* takes the other along */
	assert_null(other_end(vnet, "lana"));
	assert_null(other_end(vnet, "epair7b"));
}

static void
test_traffic(void **state)
{
	struct ifnet *a, *b;

	a = make_pair("epair", "epair");
	b = other_end(vnet, "epair0b");
	for (unsigned int n = 1; n <= MBUF_BURST; n++) {
		assert_int_equal(send_some(a, n), n);
		test_wait(&got, n * (n + 1) / 2);
	}
	assert_ptr_equal(got_ifp, b);
	assert_int_equal(if_counter(a, IFC_OPACKETS), 65 * MBUF_BURST / 2);

	/* Back and forth: the ithread puts into its own queues. */
	atomic_store(&got, 0);
	echo = 999;
	send_some(b, MBUF_BURST);
	test_wait(&got, 1000 * MBUF_BURST);
	assert_int_equal(atomic_load(&got), 1000 * MBUF_BURST);
	assert_int_equal(atomic_load(&wrong), 0);
	assert_int_equal(if_counter(a, IFC_DROPS + IFD_TXRING), 0);
	test_destroy(b);
}

/* Both ends on one ithread: handed up at once, but not without end. */
static void
test_direct(void **state)
{
	struct ifnet *a;

	a = make_pair("epair", "epair,cpu=0");
	assert_non_null(other_end(vnet, "epair0b"));
	send_some(a, 1);		/* the queues learn their ithread */
	test_wait(&got, 1);
	atomic_store(&got, 0);
	atomic_store(&deepest, 0);
	echo = 9999;
	for (unsigned int i = 0; i < 3; i++)
		send_some(a, MBUF_BURST);
	test_wait(&got, 3 * 10000 * MBUF_BURST);
	assert_int_equal(atomic_load(&got), 3 * 10000 * MBUF_BURST);
	assert_int_equal(atomic_load(&wrong), 0);
	assert_int_equal(if_counter(a, IFC_DROPS + IFD_TXRING), 0);
	/* The first is the handler's, for what came from this thread. */
	assert_int_equal(atomic_load(&deepest), 1 + BURSTQ_DEPTH);
	test_destroy(a);
}

/* An input that waits, so that what is sent meanwhile piles up. */
static void
slow_input(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{

	while (!atomic_load(&stop))
		usleep(100);
	m_free_burst(m, n);
	atomic_fetch_add(&got, n);
}

static void
test_full(void **state)
{
	unsigned int sent = 0;
	struct ifnet *a;
	uint64_t lost;

	a = make_pair("epair", "epair");
	assert_non_null(other_end(vnet, "epair0b"));
	test_input = slow_input;
	while (sent < 2000)
		sent += send_some(a, 50);
	lost = if_counter(a, IFC_DROPS + IFD_TXRING);
	assert_in_range(lost, 2000 - 1024 - MBUF_BURST, 2000 - 1024);
	assert_int_equal(if_counter(a, IFC_OPACKETS), 2000 - lost);
	assert_int_equal(if_counter(a, IFC_OQDROPS), lost);
	atomic_store(&stop, true);
	test_wait(&got, 2000 - lost);
	test_destroy(a);
	assert_int_equal(atomic_load(&got), 2000 - lost);
}

/* What is in the queue when the pair goes is freed (teardown looks). */
static void
test_destroy_full(void **state)
{
	struct ifnet *a;

	a = make_pair("epair", "epair");
	assert_non_null(other_end(vnet, "epair0b"));
	test_input = slow_input;
	for (int i = 0; i < 10; i++)
		send_some(a, MBUF_BURST);
	usleep(1000);
	atomic_store(&stop, true);
	test_destroy(a);
}

static void
test_loopback(void **state)
{
	char err[256];
	struct ifnet *lo;
	int error;

	lo = test_create(vnet, &loop_driver, "lo0", "lo", &error, err,
	    sizeof(err));
	assert_int_equal(error, 0);
	assert_ptr_equal(vnet->v_loif, lo);
	assert_int_equal(lo->if_type, IFT_LOOP);
	assert_int_equal(atomic_load(&lo->if_flags) &
	    (IFF_LOOPBACK | IFF_UP | IFF_RUNNING),
	    IFF_LOOPBACK | IFF_UP | IFF_RUNNING);
	echo = 99;
	send_some(lo, MBUF_BURST);
	test_wait(&got, 100 * MBUF_BURST);
	assert_ptr_equal(got_ifp, lo);
	assert_int_equal(atomic_load(&wrong), 0);
	assert_null(test_create(vnet, &loop_driver, "lo0", "lo", &error,
	    err, sizeof(err)));
	assert_int_equal(error, EEXIST);
	assert_null(test_create(vnet, &loop_driver, "lo1", "loop,x", &error,
	    err, sizeof(err)));
	assert_int_equal(error, EINVAL);
	test_destroy(lo);
	assert_null(vnet->v_loif);
}

static _Atomic uint32_t target;		/* the index of what is flooded */

/*
 * Floods what it finds under an index, in the epoch, as a reader would: the
 * interface may go at any time, but no other comes under its index meanwhile.
 */
static void
flood(void *arg)
{
	struct epoch_tracker et;
	struct mbuf *m[MBUF_BURST];
	struct ifnet *ifp, *again;
	uint32_t index;

	while (!atomic_load(&stop)) {
		if (m_get_burst(m, MBUF_BURST) != MBUF_BURST) {
			usleep(10);
			continue;
		}
		for (unsigned int i = 0; i < MBUF_BURST; i++) {
			m[i]->m_len = m[i]->m_pkthdr.len = 60;
			memset(m[i]->m_data, 0, 60);
			*mtod(m[i], uint32_t *) = 3;
		}
		NET_EPOCH_ENTER(et);
		index = atomic_load(&target);
		ifp = if_byindex(vnet, index);
		if (ifp != NULL) {
			if_transmit(ifp, m, MBUF_BURST);
			again = if_byindex(vnet, index);
			if (again != NULL && again != ifp)
				atomic_fetch_add(&wrong, 1);
		} else
			m_free_burst(m, MBUF_BURST);
		NET_EPOCH_EXIT(et);
	}
}

static void
test_churn(void **state)
{
	struct thread *td[2];
	struct ifnet *a;

	for (int i = 0; i < 2; i++)
		assert_int_equal(thread_create(&td[i], "flood",
		    THREAD_ANY_CPU, flood, NULL), 0);
	for (int i = 0; i < 300; i++) {
		a = make_pair("epair", "epair");
		assert_non_null(other_end(vnet, "epair0b"));
		atomic_store(&target, a->if_index);
		if (i % 10 == 0)
			test_wait(&got, atomic_load(&got) + 1);
		test_destroy(i % 2 == 0 ? a : other_end(vnet, "epair0b"));
	}
	atomic_store(&stop, true);
	for (int i = 0; i < 2; i++)
		thread_join(td[i]);
	assert_int_equal(atomic_load(&wrong), 0);
}

/*
 * An end is lent to another vnet; one thread gives it back and ends that vnet
 * while another destroys the pair.
 */
struct lent {
	struct vnet	*le_vnet;	/* where the end is */
	char		 le_name[IFNAMLEN];
};

static void
give_back(void *arg)
{
	struct lent *le = arg;
	struct ifnet *ifp;
	int error;

	VNET_CONFIG_LOCK(le->le_vnet);
	ifp = if_byname(le->le_vnet, le->le_name);
	if (ifp != NULL) {
		error = if_moveto(ifp, vnet);
		if (error != 0 || if_byname(vnet, le->le_name) != ifp ||
		    if_byname(le->le_vnet, le->le_name) != NULL)
			atomic_fetch_add(&wrong, 1);
	}
	VNET_CONFIG_UNLOCK(le->le_vnet);
	test_vnet_free(le->le_vnet);
}

#define	LENT_ROUNDS	1000
#define	LENT_SECONDS	2	/* a sanitizer does fewer rounds */

/* NETEPOCH_CHURN: seconds that the rounds may take. */
static void
test_lent(void **state)
{
	struct ifnet *a, *b;
	const char *env = getenv("NETEPOCH_CHURN");
	struct thread *td, *flooder;
	struct lent le;
	uint64_t end;

	end = time_ns() + (env != NULL ? strtoull(env, NULL, 10) :
	    LENT_SECONDS) * UINT64_C(1000000000);
	assert_int_equal(thread_create(&flooder, "flood", THREAD_ANY_CPU,
	    flood, NULL), 0);
	for (int i = 0; i < 100 || (i < LENT_ROUNDS && time_ns() < end);
	    i++) {
		a = make_pair("epair", "epair");
		snprintf(le.le_name, sizeof(le.le_name), "epair0b");
		le.le_vnet = test_vnet(1);
		VNET_CONFIG_LOCK(vnet);
		b = if_byname(vnet, le.le_name);
		atomic_store(&target, (i % 2 == 0 ? a : b)->if_index);
		assert_int_equal(if_moveto(b, le.le_vnet), 0);
		assert_null(if_byname(vnet, le.le_name));
		assert_ptr_equal(if_byname(le.le_vnet, le.le_name), b);
		assert_int_equal(if_setflags(b, IFF_UP, 0), 0);
		VNET_CONFIG_UNLOCK(vnet);
		assert_int_equal(thread_create(&td, "ender", THREAD_ANY_CPU,
		    give_back, &le), 0);
		if (i % 3 == 0)
			usleep((unsigned int)i);
		test_destroy(a);
		thread_join(td);
		assert_null(other_end(vnet, le.le_name));
		assert_null(other_end(vnet, "epair0a"));
	}
	atomic_store(&stop, true);
	thread_join(flooder);
	assert_int_equal(atomic_load(&wrong), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_traffic, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_direct, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_destroy_full, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_loopback, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_churn, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lent, setup, teardown),
	};

	return (cmocka_run_group_tests_name("epair", tests, NULL, NULL));
}
