/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Tests of the ether node: its hooks with the stack and the driver behind
 * them, its messages, and its life along with an interface's.
 */
#include "netgraph/nodes/ng_node_testlib.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <netgraph/ng_ether.h>

#include "ether/ether_var.h"
#include "netgraph/ng_var.h"
#include "netgraph/nodes/ng_nodes.h"
#include "sys/thread.h"
#include "wire/ether.h"

static const uint8_t own[6] = { 2, 0, 0, 0, 1, 0 };
static const uint8_t other[6] = { 2, 0, 0, 0, 1, 1 };
static struct ifnet *ifp;
static _Atomic unsigned int sent, sent_bursts, delivered;
static _Atomic bool ring_full;
static _Thread_local uint8_t last_sent[ETHER_HDR_LEN];
static int	 promisc, allmulti;	/* what the driver was told */

static void
test_output(struct ifnet *i, struct mbuf **m, unsigned int n)
{

	if (ring_full) {
		if_output_drop(i, m, n, IFD_TXRING);
		return;
	}
	memcpy(last_sent, m[n - 1]->m_data, sizeof(last_sent));
	sent += n;
	sent_bursts++;
	m_free_burst(m, n);
}

static void
test_proto(struct ifnet *i, struct mbuf **m, unsigned int n)
{

	assert_ptr_equal(m[0]->m_pkthdr.rcvif, i);
	delivered += n;
	m_free_burst(m, n);
}

static int
test_setpromisc(struct ifnet *i, bool on)
{

	promisc += on ? 1 : -1;
	return (0);
}

static int
test_setallmulti(struct ifnet *i, bool on)
{

	allmulti += on ? 1 : -1;
	return (0);
}

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

static struct ifnet *
make_if(const char *name)
{
	struct ifnet *i;

	VNET_CONFIG_LOCK(ngt_vnet());
	assert_int_equal(if_alloc(ngt_vnet(), IFT_ETHER, name, &i), 0);
	assert_int_equal(if_setlladdr(i, own), 0);
	atomic_store(&i->if_output, test_output);
	i->if_setpromisc = test_setpromisc;
	i->if_setallmulti = test_setallmulti;
	i->if_capabilities = IFCAP_TXCSUM | IFCAP_RXCSUM;
	atomic_store(&i->if_capenable, i->if_capabilities);
	assert_int_equal(if_attach(i), 0);
	assert_int_equal(if_setflags(i, IFF_UP, 0), 0);
	VNET_CONFIG_UNLOCK(ngt_vnet());
	return (i);
}

static void
destroy_if(struct ifnet *i)
{

	VNET_CONFIG_LOCK(ngt_vnet());
	if_detach(i);
	if_free(i);
	VNET_CONFIG_UNLOCK(ngt_vnet());
}

const struct ng_type *const ngt_types[] = {
	&ng_ether_type, &mirror_type, NULL,
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

	sent = sent_bursts = delivered = 0;
	ring_full = false;
	promisc = allmulti = 0;
	ifp = make_if("eth0");
	return (0);
}

static int
teardown(void **state)
{

	if (ifp != NULL)
		destroy_if(ifp);
	ngt_reset();
	return (0);
}

static node_p
findnode(const char *name)
{
	node_p node;

	VNET_CONFIG_LOCK(ngt_vnet());
	node = ng_findnode(ngt_vnet(), name);
	VNET_CONFIG_UNLOCK(ngt_vnet());
	return (node);
}

static void
fill(uint8_t *frame, const uint8_t *dst, uint16_t type)
{

	memset(frame, 0, 60);
	memcpy(frame, dst, 6);
	memcpy(frame + 6, other, 6);
	frame[12] = (uint8_t)(type >> 8);
	frame[13] = (uint8_t)type;
}

/* n frames of type to our own address are received. */
static void
receive(uint16_t type, unsigned int n)
{
	struct mbuf *m[MBUF_BURST];
	struct epoch_tracker et;
	uint8_t frame[60];

	fill(frame, own, type);
	for (unsigned int i = 0; i < n; i++) {
		m[i] = m_devget(frame, sizeof(frame));
		assert_non_null(m[i]);
	}
	NET_EPOCH_ENTER(et);
	atomic_load(&ifp->if_input)(ifp, m, n);
	NET_EPOCH_EXIT(et);
}

/* The stack transmits n frames. */
static void
transmit(unsigned int n)
{
	struct mbuf *m[MBUF_BURST];
	struct epoch_tracker et;
	uint8_t frame[60];

	fill(frame, own, ETHERTYPE_IP);
	for (unsigned int i = 0; i < n; i++) {
		m[i] = m_devget(frame, sizeof(frame));
		assert_non_null(m[i]);
	}
	NET_EPOCH_ENTER(et);
	if_transmit(ifp, m, n);
	NET_EPOCH_EXIT(et);
}

/* ---- Hooks ---- */

static void
test_lower(void **state)
{

	receive(ETHERTYPE_IP, 2);
	assert_int_equal(delivered, 2);
	assert_int_equal(ngt_connect(".:", "eth0:", "l", "lower"), 0);
	receive(ETHERTYPE_IP, 7);
	receive(0x9999, 1);
	assert_int_equal(delivered, 2);
	assert_int_equal(ngt_count("l"), 8);
	assert_int_equal(ngt_last("l")->m_pkthdr.len, 60);
	assert_int_equal(ngt_rmhook(".:", "l"), 0);
	assert_int_equal(ifp->if_hooks, 0);
	receive(ETHERTYPE_IP, 1);
	assert_int_equal(delivered, 3);
	assert_int_equal(if_counter(ifp, IFC_IPACKETS), 11);
}

static void
test_transmit(void **state)
{
	uint8_t frame[60];

	fill(frame, other, 0x9999);
	assert_int_equal(ngt_connect(".:", "eth0:", "l", "lower"), 0);
	assert_int_equal(ngt_connect(".:", "eth0:", "u", "upper"), 0);
	assert_int_equal(ngt_connect(".:", "eth0:", "o", "orphans"), 0);
	assert_int_equal(ngt_send_burst("l", frame, sizeof(frame), 64), 0);
	assert_int_equal(ngt_send_burst("o", frame, sizeof(frame), 2), 0);
	assert_int_equal(sent, 66);
	assert_int_equal(sent_bursts, 2);
	assert_int_equal(ngt_count("u"), 0);
	assert_memory_equal(last_sent + 6, other, 6);
	assert_int_equal(ngt_ascii("eth0:", "setautosrc 1"), 0);
	assert_int_equal(ngt_send("l", frame, sizeof(frame)), 0);
	assert_memory_equal(last_sent, other, 6);
	assert_memory_equal(last_sent + 6, own, 6);
	/* What cannot be sent, and the sender is told. */
	assert_int_equal(ngt_send("l", frame, 13), EINVAL);
	assert_int_equal(ngt_drops(ifp, IFD_RUNT), 1);
	ring_full = true;
	assert_int_equal(ngt_send("l", frame, sizeof(frame)), ENOBUFS);
	VNET_CONFIG_LOCK(ngt_vnet());
	assert_int_equal(if_setflags(ifp, 0, IFF_UP), 0);
	VNET_CONFIG_UNLOCK(ngt_vnet());
	assert_int_equal(ngt_send("l", frame, sizeof(frame)), ENETDOWN);
	assert_int_equal(ngt_send("o", frame, sizeof(frame)), ENETDOWN);
	assert_int_equal(sent, 67);
	assert_int_equal(if_counter(ifp, IFC_OPACKETS), 67);
}

/* A header that lies in two mbufs. */
static void
test_split_header(void **state)
{
	struct mbuf *m, *n;
	uint8_t frame[60];

	fill(frame, own, ETHERTYPE_IP);
	assert_int_equal(ngt_connect(".:", "eth0:", "l", "lower"), 0);
	assert_int_equal(ngt_connect(".:", "eth0:", "u", "upper"), 0);
	for (int i = 0; i < 2; i++) {
		m = m_devget(frame, 5);
		n = m_devget(frame + 5, sizeof(frame) - 5);
		m_cat(m, n);
		assert_int_equal(ngt_send_mbuf(i == 0 ? "l" : "u", m), 0);
	}
	assert_int_equal(sent, 1);
	assert_memory_equal(last_sent, frame, sizeof(last_sent));
	assert_int_equal(delivered, 1);
}

static void
test_upper(void **state)
{
	uint8_t frame[60];

	fill(frame, own, ETHERTYPE_IP);
	assert_int_equal(ngt_connect(".:", "eth0:", "u", "upper"), 0);
	transmit(3);
	assert_int_equal(sent, 0);
	assert_int_equal(ngt_count("u"), 3);
	assert_int_equal(ngt_connect(".:", "eth0:", "l", "lower"), 0);
	assert_int_equal(ngt_send_burst("u", frame, sizeof(frame), 3), 0);
	assert_int_equal(delivered, 3);
	assert_int_equal(ngt_count("l"), 0);
	assert_int_equal(ngt_send("u", frame, 13), EINVAL);
	fill(frame, other, ETHERTYPE_IP);
	assert_int_equal(ngt_send("u", frame, sizeof(frame)), 0);
	assert_int_equal(ngt_drops(ifp, IFD_NOTFORUS), 1);
	assert_int_equal(ngt_rmhook("eth0:", "upper"), 0);
	transmit(1);
	assert_int_equal(sent, 1);
}

/*
 * What the stack sends and gets straight back comes by a worker: it is not
 * called from within its own output.
 */
static void
test_upper_inbound(void **state)
{

	assert_int_equal(ngt_mkpeer("eth0:", "mirror", "upper", "x"), 0);
	transmit(5);
	ngt_settle();
	assert_int_equal(delivered, 5);
}

static void
test_offload(void **state)
{

	assert_int_equal(ngt_connect(".:", "eth0:", "u", "upper"), 0);
	assert_int_equal(ifp->if_capenable, IFCAP_RXCSUM);
	assert_int_equal(ngt_rmhook("eth0:", "upper"), 0);
	assert_int_equal(ifp->if_capenable, IFCAP_TXCSUM | IFCAP_RXCSUM);
	/* What was off before stays off. */
	atomic_store(&ifp->if_capenable, IFCAP_RXCSUM);
	assert_int_equal(ngt_connect(".:", "eth0:", "u", "upper"), 0);
	assert_int_equal(ngt_shutdown("eth0:"), 0);
	assert_int_equal(ifp->if_capenable, IFCAP_RXCSUM);
}

static void
test_orphans(void **state)
{

	receive(0x9999, 1);
	assert_int_equal(ngt_drops(ifp, IFD_ETHERTYPE), 1);
	assert_int_equal(ngt_connect(".:", "eth0:", "o", "orphans"), 0);
	receive(0x9999, 2);
	receive(ETHERTYPE_IP, 1);
	assert_int_equal(ngt_count("o"), 2);
	assert_memory_equal(ngt_last("o")->m_data, own, 6);
	assert_int_equal(delivered, 1);
	assert_int_equal(ngt_drops(ifp, IFD_ETHERTYPE), 1);
}

/* Both names of one place, other names, a node between card and stack. */
static void
test_names(void **state)
{

	assert_int_equal(ngt_mkpeer(".:", "ether", "x", "lower"), EINVAL);
	assert_int_equal(ngt_connect(".:", "eth0:", "x", "lowest"), EINVAL);
	assert_int_equal(ngt_connect(".:", "eth0:", "x", "lower"), 0);
	assert_int_equal(ngt_connect(".:", "eth0:", "y", "lower"), EEXIST);
	assert_int_equal(ngt_connect(".:", "eth0:", "y", "divert"), EISCONN);
	assert_int_equal(ngt_rmhook(".:", "x"), 0);
	assert_int_equal(ngt_connect(".:", "eth0:", "y", "divert"), 0);
	assert_int_equal(ngt_connect(".:", "eth0:", "x", "lower"), EISCONN);
	receive(ETHERTYPE_IP, 1);
	assert_int_equal(ngt_count("y"), 1);
	assert_int_equal(ngt_shutdown("eth0:"), 0);
	/* Both at once, joined to each other: one of them must lose. */
	assert_int_equal(ngt_connect("eth0:", "eth0:", "lower", "divert"),
	    EISCONN);
	assert_int_equal(ifp->if_hooks, 0);
	assert_int_equal(ngt_connect("eth0:", "eth0:", "lower", "upper"), 0);
	receive(ETHERTYPE_IP, 4);
	transmit(4);
	assert_int_equal(delivered, 4);
	assert_int_equal(sent, 4);
	assert_int_equal(ngt_shutdown("eth0:"), 0);
	receive(ETHERTYPE_IP, 1);
	assert_int_equal(delivered, 5);
}

/* ---- Messages ---- */

static void
test_messages(void **state)
{
	uint32_t value;
	char expect[16];

	assert_string_equal(ngt_text("eth0:", "getifname"), "\"eth0\"");
	assert_int_equal(ngt_reply()->header.arglen, 16);
	snprintf(expect, sizeof(expect), "%u", ifp->if_index);
	assert_string_equal(ngt_text("eth0:", "getifindex"), expect);
	assert_string_equal(ngt_text("eth0:", "getenaddr"),
	    "02:00:00:00:01:00");
	assert_int_equal(ngt_ascii("eth0:", "setenaddr 2:0:0:0:9:9"), 0);
	assert_string_equal(ngt_text("eth0:", "getenaddr"),
	    "02:00:00:00:09:09");
	assert_int_equal(ngt_ascii("eth0:", "setenaddr 1:0:0:0:9:9"), EINVAL);
	assert_int_equal(ifp->if_lladdr[5], 9);
	/* 0 unless it is set to 1. */
	assert_string_equal(ngt_text("eth0:", "getautosrc"), "0");
	assert_int_equal(ngt_ascii("eth0:", "setautosrc 1"), 0);
	assert_string_equal(ngt_text("eth0:", "getautosrc"), "1");
	assert_string_equal(ngt_text("eth0:", "getpromisc"), "0");
	/* Wrong lengths, commands, cookies. */
	value = 1;
	assert_int_equal(ngt_msg("eth0:", NGM_ETHER_COOKIE,
	    NGM_ETHER_SET_PROMISC, &value, 3), EINVAL);
	assert_int_equal(ngt_msg("eth0:", NGM_ETHER_COOKIE,
	    NGM_ETHER_SET_ENADDR, own, 5), EINVAL);
	assert_int_equal(ngt_msg("eth0:", NGM_ETHER_COOKIE,
	    NGM_ETHER_ADD_MULTI, own, 0), EINVAL);
	assert_int_equal(ngt_msg("eth0:", NGM_ETHER_COOKIE, 12, NULL, 0),
	    EINVAL);
	assert_int_equal(ngt_msg("eth0:", 1, NGM_ETHER_GET_IFNAME, NULL, 0),
	    EINVAL);
	assert_int_equal(promisc, 0);
}

static void
test_promisc(void **state)
{

	assert_int_equal(ngt_connect(".:", "eth0:", "l", "lower"), 0);
	assert_int_equal(ngt_ascii("eth0:", "setpromisc 1"), 0);
	assert_int_equal(ngt_ascii("eth0:", "setpromisc 7"), 0);
	assert_string_equal(ngt_text("eth0:", "getpromisc"), "1");
	assert_int_equal(promisc, 1);
	assert_int_equal(ifp->if_promisc, 1);
	assert_true((ifp->if_flags & IFF_PROMISC) != 0);
	/* Somebody else's request is not ours. */
	VNET_CONFIG_LOCK(ngt_vnet());
	assert_int_equal(if_promisc(ifp, true), 0);
	VNET_CONFIG_UNLOCK(ngt_vnet());
	assert_int_equal(ngt_ascii("eth0:", "setpromisc 0"), 0);
	assert_true((ifp->if_flags & IFF_PROMISC) != 0);
	assert_int_equal(ngt_ascii("eth0:", "setpromisc 1"), 0);
	VNET_CONFIG_LOCK(ngt_vnet());
	assert_int_equal(if_promisc(ifp, false), 0);
	VNET_CONFIG_UNLOCK(ngt_vnet());
	assert_int_equal(promisc, 1);
	/* It goes with the last hook, and with a shutdown. */
	assert_int_equal(ngt_rmhook(".:", "l"), 0);
	assert_int_equal(promisc, 0);
	assert_string_equal(ngt_text("eth0:", "getpromisc"), "0");
	assert_int_equal(ngt_ascii("eth0:", "setpromisc 1"), 0);
	assert_int_equal(ngt_shutdown("eth0:"), 0);
	assert_int_equal(promisc, 0);
}

static void
test_groups(void **state)
{

	assert_int_equal(ngt_ascii("eth0:", "addmulti 1:0:5e:0:0:5"), 0);
	assert_int_equal(ngt_ascii("eth0:", "addmulti 1:0:5e:0:0:5"),
	    EADDRINUSE);
	assert_int_equal(ngt_ascii("eth0:", "addmulti 2:0:5e:0:0:5"),
	    EADDRNOTAVAIL);
	assert_int_equal(ngt_ascii("eth0:", "addmulti 1:0:5e:0:0:6"), 0);
	assert_int_equal(allmulti, 1);
	assert_int_equal(ngt_ascii("eth0:", "delmulti 1:0:5e:0:0:7"), ENOENT);
	assert_int_equal(ngt_ascii("eth0:", "delmulti 1:0:5e:0:0:5"), 0);
	assert_int_equal(allmulti, 1);
	assert_true((ifp->if_flags & IFF_ALLMULTI) != 0);
	assert_int_equal(ngt_ascii("eth0:", "delmulti 1:0:5e:0:0:6"), 0);
	assert_int_equal(allmulti, 0);
	assert_false((ifp->if_flags & IFF_ALLMULTI) != 0);
	assert_int_equal(ngt_ascii("eth0:", "addmulti 1:0:5e:0:0:6"), 0);
	assert_int_equal(ngt_ascii("eth0:", "detach"), 0);
	assert_int_equal(allmulti, 0);
}

/* lower and orphans hear of the carrier, not of ifconfig up and down. */
static void
test_link(void **state)
{

	if_link_state(ifp, IF_LINK_UP);
	assert_int_equal(ngt_connect(".:", "eth0:", "u", "upper"), 0);
	assert_int_equal(ngt_ascii("eth0:", "getautosrc"), 0);
	if_link_state(ifp, IF_LINK_DOWN);
	assert_int_equal(ngt_reply()->header.typecookie, NGM_ETHER_COOKIE);
	assert_int_equal(ngt_connect(".:", "eth0:", "l", "lower"), 0);
	if_link_state(ifp, IF_LINK_UP);
	assert_int_equal(ngt_reply()->header.typecookie, NGM_FLOW_COOKIE);
	assert_int_equal(ngt_reply()->header.cmd, NGM_LINK_IS_UP);
	assert_int_equal(ngt_rmhook(".:", "l"), 0);
	assert_int_equal(ngt_connect(".:", "eth0:", "o", "orphans"), 0);
	if_link_state(ifp, IF_LINK_DOWN);
	assert_int_equal(ngt_reply()->header.typecookie, NGM_FLOW_COOKIE);
	assert_int_equal(ngt_reply()->header.cmd, NGM_LINK_IS_DOWN);
	assert_int_equal(ngt_ascii("eth0:", "getautosrc"), 0);
	VNET_CONFIG_LOCK(ngt_vnet());
	assert_int_equal(if_setflags(ifp, 0, IFF_UP), 0);
	VNET_CONFIG_UNLOCK(ngt_vnet());
	assert_int_equal(ngt_reply()->header.typecookie, NGM_ETHER_COOKIE);
}

/* ---- Life ---- */

static void
test_shutdown(void **state)
{
	node_p node = findnode("eth0");
	uint32_t id = ng_node_id(node);

	assert_int_equal(ngt_connect(".:", "eth0:", "l", "lower"), 0);
	assert_int_equal(ngt_connect(".:", "eth0:", "o", "orphans"), 0);
	assert_int_equal(ngt_ascii("eth0:", "setautosrc 1"), 0);
	assert_int_equal(ngt_shutdown("eth0:"), 0);
	assert_ptr_equal(findnode("eth0"), node);
	assert_int_equal(ng_node_id(node), id);
	assert_int_equal(ng_node_numhooks(node), 0);
	assert_int_equal(ng_node_numhooks(ngt_probe()), 0);
	assert_string_equal(ngt_text("eth0:", "getautosrc"), "1");
	assert_int_equal(ngt_connect(".:", "eth0:", "l", "lower"), 0);
	receive(ETHERTYPE_IP, 1);
	assert_int_equal(ngt_count("l"), 1);
	/* Really: the interface stays and has no node. */
	assert_int_equal(ngt_ascii("eth0:", "detach"), 0);
	assert_null(findnode("eth0"));
	assert_int_equal(ngt_ascii("eth0:", "getifname"), ENOENT);
	receive(ETHERTYPE_IP, 1);
	assert_int_equal(delivered, 1);
}

static void
test_destroy(void **state)
{
	uint8_t frame[60] = { 0 };

	assert_int_equal(ngt_mkpeer(".:", "mirror", "m", "x"), 0);
	assert_int_equal(ngt_connect("m", "eth0:", "y", "lower"), 0);
	assert_int_equal(ngt_connect(".:", "eth0:", "u", "upper"), 0);
	assert_int_equal(ngt_ascii("eth0:", "setpromisc 1"), 0);
	destroy_if(ifp);
	ifp = NULL;
	assert_null(findnode("eth0"));
	assert_int_equal(ngt_send("u", frame, sizeof(frame)), ENOTCONN);
	/* The mirror lost one side and goes on. */
	assert_int_equal(ngt_send("m", frame, sizeof(frame)), 0);
	assert_int_equal(ngt_count("m"), 1);
	/* A driver that has stopped is asked for nothing. */
	assert_int_equal(promisc, 1);
}

static uint32_t
newest_id(void)
{
	const struct namelist *nl;

	assert_int_equal(ngt_msg(".", NGM_GENERIC_COOKIE, NGM_LISTNODES,
	    NULL, 0), 0);
	nl = (const struct namelist *)(const void *)ngt_reply()->data;
	return (nl->nodeinfo[nl->numnames - 1].id);
}

static void
test_rename(void **state)
{
	char path[16];
	struct ifnet *i;

	VNET_CONFIG_LOCK(ngt_vnet());
	assert_int_equal(if_rename(ifp, "a.b:c"), 0);
	VNET_CONFIG_UNLOCK(ngt_vnet());
	assert_null(findnode("eth0"));
	assert_non_null(findnode("a_b_c"));
	assert_string_equal(ngt_text("a_b_c:", "getifname"), "\"a.b:c\"");
	/* A user's name is overridden by the next rename. */
	assert_int_equal(ngt_name("a_b_c:", "wan"), 0);
	VNET_CONFIG_LOCK(ngt_vnet());
	assert_int_equal(if_rename(ifp, "eth1"), 0);
	VNET_CONFIG_UNLOCK(ngt_vnet());
	assert_null(findnode("wan"));
	assert_non_null(findnode("eth1"));
	/* A taken name: the old one stays; a new node goes by its ID. */
	assert_int_equal(ngt_name("probe:", "eth2"), 0);
	VNET_CONFIG_LOCK(ngt_vnet());
	assert_int_equal(if_rename(ifp, "eth2"), 0);
	VNET_CONFIG_UNLOCK(ngt_vnet());
	assert_string_equal(ngt_text("eth1:", "getifname"), "\"eth2\"");
	assert_int_equal(ngt_name(".:", "x_0"), 0);
	i = make_if("x.0");
	assert_int_equal(ng_type_nodes(ngt_vnet(), "ether"), 2);
	snprintf(path, sizeof(path), "[%x]:", newest_id());
	assert_string_equal(ngt_text(path, "getifname"), "\"x.0\"");
	destroy_if(i);
	assert_int_equal(ng_type_nodes(ngt_vnet(), "ether"), 1);
	assert_int_equal(ngt_name(".:", "probe"), 0);
}

/* In another vnet the interface has no node of this graph. */
static void
test_move(void **state)
{
	struct vnet *away = vnet_alloc();

	assert_non_null(away);
	assert_int_equal(ether_vnet_init(away), 0);
	assert_int_equal(ngt_connect(".:", "eth0:", "l", "lower"), 0);
	assert_int_equal(ngt_ascii("eth0:", "setpromisc 1"), 0);
	VNET_CONFIG_LOCK(away);
	assert_int_equal(if_moveto(ifp, away), 0);
	VNET_CONFIG_UNLOCK(away);
	assert_null(findnode("eth0"));
	assert_int_equal(promisc, 0);
	assert_int_equal(ifp->if_hooks, 0);
	receive(ETHERTYPE_IP, 1);
	assert_int_equal(delivered, 1);
	VNET_CONFIG_LOCK(away);
	assert_int_equal(if_moveto(ifp, ngt_vnet()), 0);
	VNET_CONFIG_UNLOCK(away);
	assert_non_null(findnode("eth0"));
	assert_int_equal(ngt_connect(".:", "eth0:", "l", "lower"), 0);
	receive(ETHERTYPE_IP, 1);
	assert_int_equal(ngt_count("l"), 1);
	vnet_free(away);
}

/* Interfaces that are there when the type is loaded get their nodes. */
static void
test_load(void **state)
{

	assert_int_equal(ng_type_unregister(ngt_vnet(), "ether"), EBUSY);
	assert_int_equal(ngt_ascii("eth0:", "detach"), 0);
	assert_int_equal(ng_type_unregister(ngt_vnet(), "ether"), 0);
	assert_int_equal(ng_type_register(ngt_vnet(), &ng_ether_type, NULL),
	    0);
	assert_string_equal(ngt_text("eth0:", "getifname"), "\"eth0\"");
}

/* ---- Under traffic ---- */

static _Atomic bool traffic_stop;

static void *
traffic(void *arg)
{
	uint8_t frame[60];
	struct epoch_tracker et;
	struct mbuf *m[4];
	struct ifnet *i;
	uint32_t index = *(const uint32_t *)arg;

	fill(frame, own, ETHERTYPE_IP);
	while (!traffic_stop)
		for (int way = 0; way < 2; way++) {
			unsigned int n;

			for (n = 0; n < nitems(m) && (m[n] = m_devget(frame,
			    sizeof(frame))) != NULL; n++)
				continue;
			NET_EPOCH_ENTER(et);
			i = if_byindex(ngt_vnet(), index);
			if (i == NULL || n == 0)
				m_free_burst(m, n);
			else if (way == 0)
				atomic_load(&i->if_input)(i, m, n);
			else
				if_transmit(i, m, n);
			NET_EPOCH_EXIT(et);
		}
	m_cache_drain();
	return (NULL);
}

/*
 * Hooks, nodes, names and the interface itself come and go while frames run
 * through all of them, up and down, on two threads.
 */
static void
test_churn(void **state)
{
	uint32_t index = ifp->if_index;
	unsigned int up, down;
	pthread_t threads[2];
	uint64_t end;

	traffic_stop = false;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, traffic,
		    &index), 0);
	for (int round = 0; round < 60; round++) {
		assert_int_equal(ngt_connect("eth0:", "eth0:", "lower",
		    "upper"), 0);
		assert_int_equal(ngt_mkpeer("eth0:", "mirror", "orphans",
		    "o"), 0);
		up = delivered;
		down = sent;
		end = time_ns() + UINT64_C(10000000000);
		while (delivered == up || sent == down) {
			assert_true(time_ns() < end);
			sched_yield();
		}
		switch (round % 4) {
		case 0:
			assert_int_equal(ngt_rmhook("eth0:", "upper"), 0);
			break;
		case 1:
			assert_int_equal(ngt_shutdown("eth0:"), 0);
			break;
		case 2:
			VNET_CONFIG_LOCK(ngt_vnet());
			assert_int_equal(if_rename(ifp, "eth9"), 0);
			assert_int_equal(if_rename(ifp, "eth0"), 0);
			VNET_CONFIG_UNLOCK(ngt_vnet());
			break;
		case 3:
			destroy_if(ifp);
			/* The index comes back with the callbacks. */
			NET_EPOCH_DRAIN_CALLBACKS();
			ifp = make_if("eth0");
			assert_int_equal(ifp->if_index, index);
			break;
		}
		assert_int_equal(ngt_shutdown("eth0:"), 0);
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
		T(test_lower), T(test_transmit), T(test_split_header),
		T(test_upper), T(test_upper_inbound), T(test_offload),
		T(test_orphans), T(test_names), T(test_messages),
		T(test_promisc), T(test_groups), T(test_link),
		T(test_shutdown), T(test_destroy), T(test_rename),
		T(test_move), T(test_load), T(test_churn),
	};
#undef T

	return (cmocka_run_group_tests(tests, group_setup, ngt_group_stop));
}
