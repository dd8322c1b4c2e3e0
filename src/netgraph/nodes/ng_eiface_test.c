/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Tests of the eiface node: both directions and their counters, the interface
 * that it makes, its messages, its end, also while packets run and while it is
 * in another vnet.
 */
#include "netgraph/nodes/ng_node_testlib.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netgraph/ng_eiface.h>

#include "ether/ether_var.h"
#include "netgraph/nodes/ng_nodes.h"
#include "sys/log.h"
#include "sys/sysctl.h"
#include "sys/thread.h"
#include "wire/ether.h"

static struct ifnet *ifp;
static _Atomic unsigned int delivered;

static void
test_proto(struct ifnet *i, struct mbuf **m, unsigned int n)
{

	assert_true(in_epoch(net_epoch_preempt));
	delivered += n;
	m_free_burst(m, n);
}

/* Takes one packet in two. */
static int
picky_rcvdata(hook_p hook, item_p it)
{
	static unsigned int turn;

	(void)hook;
	ng_item_free(it);
	return (turn++ % 2 == 0 ? 0 : ENOBUFS);
}

static const struct ng_type picky_type = {
	.version = NG_ABI_VERSION,
	.name = "picky",
	.rcvdata = picky_rcvdata,
};

/* Sends what comes back by the hook that it came by. */
static int
mirror_rcvdata(hook_p hook, item_p it)
{

	return (ng_fwd_item(it, hook));
}

static const struct ng_type mirror_type = {
	.version = NG_ABI_VERSION,
	.name = "mirror",
	.rcvdata = mirror_rcvdata,
};

const struct ng_type *const ngt_types[] = {
	&ng_eiface_type, &ng_ether_type, &picky_type, &mirror_type, NULL,
};

static int
group_setup(void **state)
{

	(void)ngt_group_start(state);
	assert_int_equal(ether_vnet_init(ngt_vnet()), 0);
	assert_int_equal(ether_proto_register(ETHERTYPE_IP, test_proto), 0);
	return (0);
}

static int
setup(void **state)
{

	delivered = 0;
	assert_int_equal(ngt_mkpeer(".:", "eiface", "e", "ether"), 0);
	ifp = ngt_find_if("ngeth0");
	assert_non_null(ifp);
	ngt_set_flags(ifp, IFF_UP, 0);
	return (0);
}

static int
teardown(void **state)
{

	ngt_reset();
	assert_null(ngt_find_if("ngeth0"));
	return (0);
}

/* To ifp's own address. */
static void
fill(uint8_t *frame)
{

	memset(frame, 0, 60);
	memcpy(frame, ifp->if_lladdr, 6);
	frame[6] = 2;
	frame[12] = 8;
}

static void
transmit(unsigned int n)
{
	struct mbuf *m[MBUF_BURST];
	struct epoch_tracker et;
	uint8_t frame[60];

	fill(frame);
	for (unsigned int i = 0; i < n; i++) {
		m[i] = m_devget(frame, sizeof(frame));
		assert_non_null(m[i]);
	}
	NET_EPOCH_ENTER(et);
	if_transmit(ifp, m, n);
	NET_EPOCH_EXIT(et);
}

/* ---- Data ---- */

static void
test_input(void **state)
{
	uint8_t frame[60];
	struct mbuf *m;

	fill(frame);
	assert_int_equal(ngt_send_burst("e", frame, sizeof(frame), 64), 0);
	assert_int_equal(delivered, 64);
	assert_int_equal(if_counter(ifp, IFC_IPACKETS), 64);
	assert_int_equal(if_counter(ifp, IFC_IBYTES), 64 * 60);
	assert_int_equal(ngt_send("e", frame, 13), EINVAL);
	assert_int_equal(ngt_drops(ifp, IFD_RUNT), 1);
	m = m_devget(frame, 5);
	m_cat(m, m_devget(frame + 5, sizeof(frame) - 5));
	assert_int_equal(ngt_send_mbuf("e", m), 0);
	assert_int_equal(delivered, 65);
	ngt_set_flags(ifp, 0, IFF_UP);
	assert_int_equal(ngt_send("e", frame, sizeof(frame)), ENETDOWN);
	assert_int_equal(ngt_drops(ifp, IFD_DOWN), 1);
	assert_int_equal(delivered, 65);
}

static void
test_output(void **state)
{

	transmit(64);
	assert_int_equal(ngt_count("e"), 64);
	assert_memory_equal(ngt_last("e")->m_data, ifp->if_lladdr, 6);
	assert_int_equal(if_counter(ifp, IFC_OPACKETS), 64);
	assert_int_equal(if_counter(ifp, IFC_OBYTES), 64 * 60);
	/* Only watched: it counts as input and goes nowhere. */
	ngt_set_flags(ifp, IFF_MONITOR, 0);
	transmit(3);
	assert_int_equal(ngt_count("e"), 64);
	assert_int_equal(if_counter(ifp, IFC_OPACKETS), 64);
	assert_int_equal(if_counter(ifp, IFC_IPACKETS), 3);
	assert_int_equal(ngt_drops(ifp, IFD_MONITOR), 3);
	ngt_set_flags(ifp, 0, IFF_MONITOR);
	assert_int_equal(ngt_rmhook(".:", "e"), 0);
	transmit(2);
	assert_int_equal(if_counter(ifp, IFC_OPACKETS), 64);
	assert_int_equal(if_counter(ifp, IFC_OERRORS), 2);
	assert_int_equal(ngt_drops(ifp, IFD_GRAPH), 2);
}

/* What the graph refuses is an error, what it takes is counted as sent. */
static void
test_output_errors(void **state)
{

	assert_int_equal(ngt_rmhook(".:", "e"), 0);
	assert_int_equal(ngt_mkpeer("ngeth0:", "picky", "ether", "x"), 0);
	for (int i = 0; i < 6; i++)
		transmit(2);
	assert_int_equal(if_counter(ifp, IFC_OPACKETS), 6);
	assert_int_equal(if_counter(ifp, IFC_OBYTES), 6 * 60);
	assert_int_equal(if_counter(ifp, IFC_OERRORS), 6);
}

/* Straight back: by a worker, not within the stack's own output. */
static void
test_inbound(void **state)
{

	assert_int_equal(ngt_rmhook(".:", "e"), 0);
	assert_int_equal(ngt_mkpeer("ngeth0:", "mirror", "ether", "x"), 0);
	transmit(5);
	ngt_settle();
	assert_int_equal(delivered, 5);
}

/* ---- The interface ---- */

static void
test_interface(void **state)
{
	static const uint8_t oui[3] = { 0x58, 0x9c, 0xfc };
	struct ifnet *two;
	uint8_t mac[6];

	assert_null(ifp->if_driver);
	assert_int_equal(ifp->if_flags & ~(IFF_UP | IFF_RUNNING),
	    IFF_BROADCAST | IFF_SIMPLEX | IFF_MULTICAST);
	assert_int_equal(ifp->if_mtu, 1500);
	assert_int_equal(ifp->if_capenable, IFCAP_VLAN_MTU | IFCAP_JUMBO_MTU);
	assert_int_equal(ifp->if_baudrate, 1000000000);
	assert_int_equal(ifp->if_linkstate, IF_LINK_UP);
	assert_memory_equal(ifp->if_lladdr, oui, 3);
	memcpy(mac, ifp->if_lladdr, 6);
	VNET_CONFIG_LOCK(ngt_vnet());
	assert_int_equal(if_setmtu(ifp, 71), EINVAL);
	assert_int_equal(if_setmtu(ifp, 72), 0);
	assert_int_equal(if_setmtu(ifp, 9018), 0);
	assert_int_equal(if_setmtu(ifp, 9019), EINVAL);
	VNET_CONFIG_UNLOCK(ngt_vnet());
	/* Another one, another MAC; the same name, the same MAC. */
	assert_int_equal(ngt_mkpeer(".:", "eiface", "f", "ether"), 0);
	two = ngt_find_if("ngeth1");
	assert_non_null(two);
	assert_int_equal(two->if_flags & IFF_UP, 0);
	assert_memory_not_equal(two->if_lladdr, mac, 6);
	assert_int_equal(ngt_shutdown("ngeth0:"), 0);
	assert_null(ngt_find_if("ngeth0"));
	assert_int_equal(ngt_mkpeer(".:", "eiface", "e", "ether"), 0);
	ifp = ngt_find_if("ngeth0");
	assert_non_null(ifp);
	assert_memory_equal(ifp->if_lladdr, mac, 6);
}

/* Names of hooks, nodes, interfaces. */
static void
test_names(void **state)
{
	struct ifnet *two;

	assert_int_equal(ngt_mkpeer(".:", "eiface", "f", "wire"),
	    EPFNOSUPPORT);
	assert_null(ngt_find_if("ngeth1"));
	assert_int_equal(ngt_connect(".:", "ngeth0:", "f", "ether"), EEXIST);
	assert_int_equal(ngt_connect(".:", "ngeth0:", "f", "x"),
	    EPFNOSUPPORT);
	assert_string_equal(ngt_text("e", "getifname"), "\"ngeth0\"");
	VNET_CONFIG_LOCK(ngt_vnet());
	assert_int_equal(if_rename(ifp, "lan.7"), 0);
	VNET_CONFIG_UNLOCK(ngt_vnet());
	assert_string_equal(ngt_text("ngeth0:", "getifname"), "\"lan.7\"");
	assert_int_equal(ngt_reply()->header.arglen, 16);
	assert_int_equal(ngt_ascii("lan_7:", "getifname"), ENOENT);
	/* Its number is still in use; so is a name that somebody else has. */
	assert_int_equal(ngt_name("e", "ngeth2"), 0);
	assert_int_equal(ngt_mkpeer(".:", "eiface", "f", "ether"), 0);
	assert_string_equal(ngt_text("f", "getifname"), "\"ngeth1\"");
	two = ngt_find_if("ngeth1");
	VNET_CONFIG_LOCK(ngt_vnet());
	assert_int_equal(if_rename(two, "ngeth2"), 0);
	VNET_CONFIG_UNLOCK(ngt_vnet());
	assert_int_equal(ngt_mkpeer(".:", "eiface", "g", "ether"), 0);
	assert_string_equal(ngt_text("g", "getifname"), "\"ngeth3\"");
	assert_string_equal(ngt_text("ngeth3:", "getifname"), "\"ngeth3\"");
}

/* It has no ether node while it has its own name. */
static void
test_no_ether_node(void **state)
{

	assert_int_equal(ngt_msg("ngeth0:", NGM_GENERIC_COOKIE,
	    NGM_NODEINFO, NULL, 0), 0);
	assert_string_equal(((const struct nodeinfo *)(const void *)
	    ngt_reply()->data)->type, "eiface");
}

static void
test_link(void **state)
{

	assert_int_equal(ifp->if_linkstate, IF_LINK_UP);
	assert_string_equal(ifp->if_media,
	    "Ethernet autoselect (1000baseT <full-duplex>)");
	assert_int_equal(ngt_msg("e", NGM_FLOW_COOKIE, NGM_LINK_IS_DOWN,
	    NULL, 0), 0);
	assert_int_equal(ifp->if_linkstate, IF_LINK_DOWN);
	assert_int_equal(ngt_msg("e", NGM_FLOW_COOKIE, NGM_LINK_IS_UP, NULL,
	    0), 0);
	assert_int_equal(ifp->if_linkstate, IF_LINK_UP);
	assert_int_equal(ngt_msg("e", NGM_FLOW_COOKIE, 34, NULL, 0), EINVAL);
	assert_int_equal(ngt_rmhook(".:", "e"), 0);
	assert_int_equal(ifp->if_linkstate, IF_LINK_DOWN);
	assert_string_equal(ifp->if_media, "Ethernet autoselect");
	assert_int_equal(ngt_connect(".:", "ngeth0:", "e", "ether"), 0);
	assert_int_equal(ifp->if_linkstate, IF_LINK_UP);
}

static void
test_messages(void **state)
{
	const struct in_addr none = { 0 };
	struct in_addr addr;
	struct sockaddr_in sin[3];

	assert_int_equal(ngt_ascii("ngeth0:", "set 2:11:22:33:44:55"), 0);
	assert_memory_equal(ifp->if_lladdr, "\x02\x11\x22\x33\x44\x55", 6);
	assert_int_equal(ngt_ascii("ngeth0:", "set 3:11:22:33:44:55"),
	    EINVAL);
	assert_int_equal(ngt_msg("ngeth0:", NGM_EIFACE_COOKIE,
	    NGM_EIFACE_SET, ifp->if_lladdr, 5), EINVAL);
	assert_int_equal(ngt_msg("ngeth0:", NGM_EIFACE_COOKIE, 4, NULL, 0),
	    EINVAL);
	assert_int_equal(ngt_msg("ngeth0:", 1, 1, NULL, 0), EINVAL);
	assert_int_equal(ngt_msg("ngeth0:", NGM_EIFACE_COOKIE,
	    NGM_EIFACE_GET_IFADDRS, NULL, 0), 0);
	assert_int_equal(ngt_reply()->header.arglen, 0);
	VNET_CONFIG_LOCK(ngt_vnet());
	for (uint32_t i = 1; i < 3; i++) {
		addr.s_addr = htonl(0x0a000000 + (i << 8) + i);
		assert_int_equal(if_addr_add(ifp, addr, 24, none, none), 0);
	}
	VNET_CONFIG_UNLOCK(ngt_vnet());
	assert_int_equal(ngt_msg("ngeth0:", NGM_EIFACE_COOKIE,
	    NGM_EIFACE_GET_IFADDRS, NULL, 0), 0);
	assert_int_equal(ngt_reply()->header.arglen, 2 * sizeof(sin[0]));
	memcpy(sin, ngt_reply()->data, 2 * sizeof(sin[0]));
	assert_int_equal(sin[0].sin_family, AF_INET);
	assert_int_equal(sin[0].sin_addr.s_addr, htonl(0x0a000101));
	assert_int_equal(sin[1].sin_addr.s_addr, htonl(0x0a000202));
}

/* The switch for measuring the second entry: of all, and of new ones. */
static void
test_needsepoch(void **state)
{
	const char *name = "net.graph.eiface.needsepoch";
	struct sysctl_tree *tree = ngt_vnet()->v_sysctl;
	uint8_t frame[60];
	char buf[64];

	fill(frame);
	assert_int_equal(ifp->if_flags & IFF_NEEDSEPOCH, 0);
	assert_int_equal(sysctl_get(tree, name, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "0");
	assert_int_equal(sysctl_set(tree, name, "2", buf, sizeof(buf)),
	    EINVAL);
	assert_string_equal(buf, "expected 0 or 1, got '2'");
	assert_int_equal(sysctl_set(tree, name, "1", buf, sizeof(buf)), 0);
	assert_true((ifp->if_flags & IFF_NEEDSEPOCH) != 0);
	assert_int_equal(ngt_send_burst("e", frame, sizeof(frame), 4), 0);
	assert_int_equal(delivered, 4);
	assert_int_equal(ngt_mkpeer(".:", "eiface", "f", "ether"), 0);
	assert_true((ngt_find_if("ngeth1")->if_flags & IFF_NEEDSEPOCH) != 0);
	assert_int_equal(sysctl_set(tree, name, "0", buf, sizeof(buf)), 0);
	assert_int_equal(ngt_find_if("ngeth1")->if_flags & IFF_NEEDSEPOCH, 0);
}

/* ---- The end ---- */

/* Its node goes while the interface is somewhere else, and under traffic. */
static void
test_move(void **state)
{
	struct vnet *away = vnet_alloc();
	uint8_t frame[60];

	assert_non_null(away);
	assert_int_equal(ether_vnet_init(away), 0);
	fill(frame);
	VNET_CONFIG_LOCK(away);
	assert_int_equal(if_moveto(ifp, away), 0);
	VNET_CONFIG_UNLOCK(away);
	assert_null(ngt_find_if("ngeth0"));
	assert_int_equal(ngt_send("e", frame, sizeof(frame)), 0);
	transmit(1);
	assert_int_equal(ngt_count("e"), 1);
	assert_string_equal(ngt_text("ngeth0:", "getifname"), "\"ngeth0\"");
	/* The number stays its own. */
	assert_int_equal(ngt_mkpeer(".:", "eiface", "f", "ether"), 0);
	assert_non_null(ngt_find_if("ngeth1"));
	assert_int_equal(ngt_shutdown("ngeth0:"), 0);
	assert_true(CK_STAILQ_EMPTY(&away->v_ifnets));
	vnet_free(away);
}

static _Atomic bool traffic_stop;
static _Atomic uint32_t traffic_index;
static _Atomic uint64_t offered;

static void *
traffic(void *arg)
{
	uint8_t frame[60] = { [0] = 255, 255, 255, 255, 255, 255, [12] = 8 };
	struct epoch_tracker et;
	struct mbuf *m[4];
	struct ifnet *i;
	unsigned int n;

	(void)arg;
	while (!traffic_stop) {
		for (n = 0; n < nitems(m) && (m[n] = m_devget(frame,
		    sizeof(frame))) != NULL; n++)
			continue;
		NET_EPOCH_ENTER(et);
		i = if_byindex(ngt_vnet(), traffic_index);
		if (i == NULL || n == 0)
			m_free_burst(m, n);
		else {
			if_transmit(i, m, n);
			offered += n;
		}
		NET_EPOCH_EXIT(et);
	}
	m_cache_drain();
	return (NULL);
}

#define	BUSY_ROUNDS	10000
#define	BUSY_SECONDS	2	/* a sanitizer does fewer rounds */

/*
 * A busy hook is removed and joined again: each packet is sent or counted as
 * refused.  NETEPOCH_CHURN: seconds that the rounds may take.
 */
static void
test_busy_hook(void **state)
{
	const char *env = getenv("NETEPOCH_CHURN");
	pthread_t threads[2];
	uint64_t sum, end;

	assert_int_equal(ngt_rmhook(".:", "e"), 0);
	traffic_index = ifp->if_index;
	traffic_stop = false;
	offered = 0;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, traffic,
		    NULL), 0);
	log_level(LOG_WARNING);		/* not each change of the link */
	end = time_ns() + (env != NULL ? strtoull(env, NULL, 10) :
	    BUSY_SECONDS) * UINT64_C(1000000000);
	for (int round = 0; round < 100 ||
	    (round < BUSY_ROUNDS && time_ns() < end); round++) {
		assert_int_equal(ngt_connect(".:", "ngeth0:", "e", "ether"),
		    0);
		sched_yield();
		assert_int_equal(ngt_rmhook("ngeth0:", "ether"), 0);
	}
	log_level(LOG_INFO);
	traffic_stop = true;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	sum = if_counter(ifp, IFC_OPACKETS) + if_counter(ifp, IFC_OERRORS);
	assert_int_equal(sum, offered);
	assert_int_equal(if_counter(ifp, IFC_OPACKETS), ngt_count("e"));
}

/* The node is shut down and made again in the middle of it. */
static void
test_churn(void **state)
{
	pthread_t threads[2];
	uint64_t end;

	assert_int_equal(ngt_shutdown("ngeth0:"), 0);
	traffic_index = 0;
	traffic_stop = false;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, traffic,
		    NULL), 0);
	for (int round = 0; round < 60; round++) {
		assert_int_equal(ngt_mkpeer(".:", "mirror", "m", "x"), 0);
		assert_int_equal(ngt_mkpeer("m", "eiface", "y", "ether"), 0);
		ifp = ngt_find_if("ngeth0");
		assert_non_null(ifp);
		ngt_set_flags(ifp, IFF_UP, 0);
		traffic_index = ifp->if_index;
		end = time_ns() + UINT64_C(10000000000);
		while (if_counter(ifp, IFC_IPACKETS) == 0) {
			assert_true(time_ns() < end);
			sched_yield();
		}
		VNET_CONFIG_LOCK(ngt_vnet());
		assert_int_equal(if_rename(ifp, "lan"), 0);
		VNET_CONFIG_UNLOCK(ngt_vnet());
		assert_int_equal(ngt_shutdown(round % 2 == 0 ? "m" :
		    "ngeth0:"), 0);
		if (round % 2 == 0)
			assert_int_equal(ngt_shutdown("ngeth0:"), 0);
		else
			assert_int_equal(ngt_shutdown("m"), 0);
	}
	traffic_stop = true;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	ngt_settle();
	assert_null(ngt_find_if("lan"));
}

int
main(void)
{
#define	T(fn)	cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_input), T(test_output), T(test_output_errors),
		T(test_inbound), T(test_interface), T(test_names),
		T(test_no_ether_node), T(test_link), T(test_messages),
		T(test_needsepoch), T(test_move), T(test_busy_hook),
		T(test_churn),
	};
#undef T

	return (cmocka_run_group_tests(tests, group_setup, ngt_group_stop));
}
