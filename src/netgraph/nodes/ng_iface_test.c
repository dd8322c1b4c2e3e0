/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Tests of the iface node: packets by the hook of their version, both ways,
 * nesting, the interface and its settings, messages, and its end under load.
 */
#include "netgraph/nodes/ng_node_testlib.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <netgraph/ng_iface.h>

#include "ifnet/if_var.h"
#include "netgraph/nodes/ng_nodes.h"
#include "sys/sysctl.h"
#include "sys/thread.h"

static struct ifnet *ifp;
static _Atomic unsigned int delivered;
static struct ifnet *onward;		/* where nest nodes send to, or NULL */

static void
test_input(struct ifnet *i, struct mbuf **m, unsigned int n)
{

	assert_true(in_epoch(net_epoch_preempt));
	delivered += n;
	m_free_burst(m, n);
}

static const struct if_linktype linktype = {
	.lt_type = IFT_PROPVIRTUAL,
	.lt_input = test_input,
};

/* Sends what comes out of another interface, on the same thread. */
static int
nest_rcvdata(hook_p hook, item_p it)
{
	struct ifnet *i = onward;

	(void)hook;
	if (i == NULL)
		ng_item_free(it);
	else
		if_transmit(i, it->it_m, it->it_n);
	return (0);
}

static const struct ng_type nest_type = {
	.version = NG_ABI_VERSION,
	.name = "nest",
	.rcvdata = nest_rcvdata,
};

const struct ng_type *const ngt_types[] = { &ng_iface_type, &nest_type, NULL };

static int
group_setup(void **state)
{

	(void)ngt_group_start(state);
	assert_int_equal(if_linktype_register(ngt_vnet(), &linktype), 0);
	return (0);
}

static int
setup(void **state)
{

	delivered = 0;
	assert_int_equal(ngt_mkpeer(".:", "iface", "four", "inet"), 0);
	ifp = ngt_find_if("ng0");
	assert_non_null(ifp);
	ngt_set_flags(ifp, IFF_UP, 0);
	return (0);
}

static int
teardown(void **state)
{

	ngt_reset();
	assert_null(ngt_find_if("ng0"));
	return (0);
}

/* The stack sends a packet for each letter of versions. */
static void
transmit(struct ifnet *i, const char *versions)
{
	unsigned int n = (unsigned int)strlen(versions);
	struct mbuf *m[MBUF_BURST];
	struct epoch_tracker et;
	uint8_t packet[40] = { 0 };

	for (unsigned int k = 0; k < n; k++) {
		packet[0] = (uint8_t)((versions[k] - '0') << 4 | 5);
		m[k] = m_devget(packet, sizeof(packet));
		assert_non_null(m[k]);
	}
	NET_EPOCH_ENTER(et);
	if_transmit(i, m, n);
	NET_EPOCH_EXIT(et);
}

static void
test_output(void **state)
{

	transmit(ifp, "44");
	assert_int_equal(ngt_count("four"), 2);
	assert_int_equal(ngt_last("four")->m_pkthdr.len, 40);
	assert_int_equal(ngt_last("four")->m_data[0], 0x45);
	assert_int_equal(if_counter(ifp, IFC_OPACKETS), 2);
	/* No hook for the one, no family for the other. */
	transmit(ifp, "465");
	assert_int_equal(ngt_count("four"), 3);
	assert_int_equal(ngt_drops(ifp, IFD_GRAPH), 1);
	assert_int_equal(ngt_drops(ifp, IFD_IPVERS), 1);
	assert_int_equal(if_counter(ifp, IFC_OPACKETS), 3);
	assert_int_equal(if_counter(ifp, IFC_OBYTES), 120);
	assert_int_equal(ngt_connect(".:", "ng0:", "six", "inet6"), 0);
	transmit(ifp, "4664446");
	assert_int_equal(ngt_count("four"), 7);
	assert_int_equal(ngt_count("six"), 3);
}

static void
test_input_hooks(void **state)
{
	uint8_t packet[40] = { 0x45 };

	assert_int_equal(ngt_send_burst("four", packet, sizeof(packet), 9),
	    0);
	assert_int_equal(delivered, 9);
	assert_int_equal(ngt_connect(".:", "ng0:", "six", "inet6"), 0);
	assert_int_equal(ngt_send("six", packet, sizeof(packet)), 0);
	assert_int_equal(ngt_drops(ifp, IFD_IPVERS), 1);
	packet[0] = 0x60;
	assert_int_equal(ngt_send("six", packet, sizeof(packet)), 0);
	assert_int_equal(delivered, 10);
	assert_int_equal(ngt_send("four", packet, sizeof(packet)), 0);
	assert_int_equal(ngt_drops(ifp, IFD_IPVERS), 2);
	ngt_set_flags(ifp, 0, IFF_UP);
	assert_int_equal(ngt_send("six", packet, sizeof(packet)), ENETDOWN);
	assert_int_equal(delivered, 10);
	assert_int_equal(ngt_drops(ifp, IFD_DOWN), 1);
}

/* Through itself, never; through others, as deep as the tunable says. */
static void
test_nesting(void **state)
{
	const char *name = "net.graph.iface.max_nesting";
	char err[64];
	struct ifnet *two;

	assert_int_equal(ngt_rmhook(".:", "four"), 0);
	assert_int_equal(ngt_mkpeer("ng0:", "nest", "inet", "x"), 0);
	assert_int_equal(ngt_mkpeer(".:", "iface", "two", "inet"), 0);
	two = ngt_find_if("ng1");
	ngt_set_flags(two, IFF_UP, 0);
	onward = ifp;
	transmit(ifp, "4");
	assert_int_equal(ngt_drops(ifp, IFD_GRAPH), 1);
	onward = two;
	transmit(ifp, "4");
	assert_int_equal(ngt_count("two"), 1);
	assert_int_equal(sysctl_set(ngt_vnet()->v_sysctl, name, "1", err,
	    sizeof(err)), 0);
	transmit(ifp, "4");
	assert_int_equal(ngt_count("two"), 1);
	assert_int_equal(ngt_drops(two, IFD_GRAPH), 1);
	assert_int_equal(sysctl_set(ngt_vnet()->v_sysctl, name, "2", err,
	    sizeof(err)), 0);
	transmit(ifp, "4");
	assert_int_equal(ngt_count("two"), 2);
	onward = NULL;
}

static void
test_interface(void **state)
{
	const struct in_addr none = { 0 };
	struct in_addr addr = { .s_addr = htonl(0x0a000001) };
	struct in_addr peer = { .s_addr = htonl(0x0a000002) };

	assert_int_equal(ifp->if_flags & ~(IFF_UP | IFF_RUNNING),
	    IFF_POINTOPOINT | IFF_SIMPLEX | IFF_NOARP | IFF_MULTICAST);
	assert_int_equal(ifp->if_mtu, 1500);
	assert_null(ifp->if_driver);
	ngt_set_flags(ifp, 0, IFF_UP);
	VNET_CONFIG_LOCK(ngt_vnet());
	assert_int_equal(if_setmtu(ifp, 71), EINVAL);
	assert_int_equal(if_setmtu(ifp, 72), 0);
	assert_int_equal(if_setmtu(ifp, 65535), 0);
	assert_int_equal(if_addr_add(ifp, addr, 32, none, peer), 0);
	VNET_CONFIG_UNLOCK(ngt_vnet());
	/* The address brought it up. */
	assert_true((ifp->if_flags & IFF_UP) != 0);
}

static void
test_messages(void **state)
{
	char expect[16];

	assert_string_equal(ngt_text("four", "getifname"), "\"ng0\"");
	assert_int_equal(ngt_reply()->header.arglen, 16);
	snprintf(expect, sizeof(expect), "%u", ifp->if_index);
	assert_string_equal(ngt_text("ng0:", "getifindex"), expect);
	assert_int_equal(ngt_ascii("ng0:", "broadcast"), EBUSY);
	ngt_set_flags(ifp, 0, IFF_UP);
	assert_int_equal(ngt_ascii("ng0:", "broadcast"), 0);
	assert_int_equal(ifp->if_flags & (IFF_BROADCAST | IFF_POINTOPOINT),
	    IFF_BROADCAST);
	assert_int_equal(ngt_ascii("ng0:", "point2point"), 0);
	assert_int_equal(ifp->if_flags & (IFF_BROADCAST | IFF_POINTOPOINT),
	    IFF_POINTOPOINT);
	assert_int_equal(ngt_msg("ng0:", NGM_IFACE_COOKIE, 5, NULL, 0),
	    EINVAL);
	assert_int_equal(ngt_msg("ng0:", 1, 1, NULL, 0), EINVAL);
	assert_int_equal(ngt_msg("ng0:", NGM_FLOW_COOKIE, NGM_LINK_IS_UP,
	    NULL, 0), 0);
	assert_int_equal(ifp->if_linkstate, IF_LINK_UP);
	assert_int_equal(ngt_msg("ng0:", NGM_FLOW_COOKIE, NGM_LINK_IS_DOWN,
	    NULL, 0), 0);
	assert_int_equal(ifp->if_linkstate, IF_LINK_DOWN);
	assert_int_equal(ngt_msg("ng0:", NGM_FLOW_COOKIE, 40, NULL, 0),
	    EINVAL);
	/* Hooks: their names, and one of each. */
	assert_int_equal(ngt_connect(".:", "ng0:", "x", "ipx"),
	    EPFNOSUPPORT);
	assert_int_equal(ngt_connect(".:", "ng0:", "x", "inet"), EEXIST);
	assert_int_equal(ngt_mkpeer(".:", "iface", "x", "ether"),
	    EPFNOSUPPORT);
	assert_null(ngt_find_if("ng1"));
	/* Without hooks it stays. */
	assert_int_equal(ngt_rmhook(".:", "four"), 0);
	assert_string_equal(ngt_text("ng0:", "getifname"), "\"ng0\"");
}

static _Atomic bool traffic_stop;
static _Atomic uint32_t traffic_index;

static void *
traffic(void *arg)
{
	uint8_t packet[40] = { 0x45 };
	struct epoch_tracker et;
	struct mbuf *m;
	struct ifnet *i;

	(void)arg;
	while (!traffic_stop) {
		if ((m = m_devget(packet, sizeof(packet))) == NULL)
			continue;
		NET_EPOCH_ENTER(et);
		if ((i = if_byindex(ngt_vnet(),
		    traffic_index)) != NULL)
			if_transmit(i, &m, 1);
		else
			m_freem(m);
		NET_EPOCH_EXIT(et);
	}
	m_cache_drain();
	return (NULL);
}

static void
test_churn(void **state)
{
	pthread_t threads[2];
	unsigned int before;
	uint64_t end;

	assert_int_equal(ngt_shutdown("ng0:"), 0);
	NET_EPOCH_DRAIN_CALLBACKS();
	traffic_stop = false;
	traffic_index = 0;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, traffic,
		    NULL), 0);
	for (int round = 0; round < 60; round++) {
		/* Out of the one, into the other, and back. */
		assert_int_equal(ngt_mkpeer(".:", "iface", "x", "inet6"), 0);
		assert_int_equal(ngt_mkpeer("ng0:", "iface", "inet", "inet"),
		    0);
		ngt_set_flags(ngt_find_if("ng0"), IFF_UP, 0);
		ngt_set_flags(ngt_find_if("ng1"), IFF_UP, 0);
		traffic_index = ngt_find_if("ng0")->if_index;
		end = time_ns() + UINT64_C(10000000000);
		for (before = delivered; delivered == before; ) {
			assert_true(time_ns() < end);
			sched_yield();
		}
		if (round % 2 == 0)
			assert_int_equal(ngt_rmhook("ng0:", "inet"), 0);
		assert_int_equal(ngt_shutdown("ng0:"), 0);
		assert_int_equal(ngt_shutdown("ng1:"), 0);
	}
	traffic_stop = true;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

int
main(void)
{
#define	T(fn)	cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_output), T(test_input_hooks), T(test_nesting),
		T(test_interface), T(test_messages), T(test_churn),
	};
#undef T

	return (cmocka_run_group_tests(tests, group_setup, ngt_group_stop));
}
