/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The base: addresses, names, generic messages and their errors, delivery,
 * what is queued, and the ends of hooks and nodes.
 */
#include "netgraph/ng_testlib.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netgraph/ng_private.h"
#include "netgraph/ng_var.h"
#include "sys/thread.h"

/* ---- Types to test with ---- */

static _Atomic int disconnects, shutdowns;

/* All packets on to the other hook; one hook: dropped. */
static int
relay_rcvdata(hook_p hook, item_p it)
{
	hook_p other = ng_hook_private(hook);

	if (other == NULL) {
		ng_item_free(it);
		return (0);
	}
	return (ng_fwd_item(it, other));
}

/* Hooks named x1 and x2, or y1 and y2, are each other's. */
static int
relay_connect(hook_p hook)
{
	char name[NG_HOOKSIZ];
	hook_p other;

	snprintf(name, sizeof(name), "%s", ng_hook_name(hook));
	name[1] = name[1] == '1' ? '2' : '1';
	other = ng_findhook(ng_hook_node(hook), name);
	if (other != NULL && ng_hook_private(other) == NULL) {
		ng_hook_set_private(hook, other);
		ng_hook_set_private(other, hook);
	}
	return (0);
}

static void
relay_disconnect(hook_p hook)
{
	hook_p other = ng_hook_private(hook);

	assert_int_equal(in_epoch(net_epoch_preempt), 0);
	if (other != NULL)
		ng_hook_set_private(other, NULL);
	atomic_fetch_add(&disconnects, 1);
}

static void
relay_shutdown(node_p node)
{

	assert_int_equal(ng_node_numhooks(node), 0);
	atomic_fetch_add(&shutdowns, 1);
}

static void
relay_close(node_p node)
{
	hook_p one = ng_findhook(node, "b1"), two = ng_findhook(node, "b2");

	if (one != NULL && two != NULL)
		ng_bypass(one, two);
}

/* Command 1: respond; 2: send that to a path and say the result; 3: end. */
#define	RELAY_COOKIE	7
static int
relay_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	const struct ng_mesg *msg = ng_request_msg(rq);
	char name[NG_HOOKSIZ] = "-";

	if (msg->header.typecookie != RELAY_COOKIE)
		return (EINVAL);
	switch (msg->header.cmd) {
	case 1:
		if (lasthook != NULL)
			snprintf(name, sizeof(name), "%s",
			    ng_hook_name(lasthook));
		return (ng_respond(rq, name, sizeof(name)));
	case 2:
		return (ng_send_msg_path(node, ng_mkmessage(RELAY_COOKIE, 1,
		    NULL, 0), msg->data));
	case 3:
		ng_rmnode_self(node);
		assert_true(ng_node_valid(node));
		return (0);
	default:
		return (EINVAL);
	}
}

static const struct ng_type relay_type = {
	.version = NG_ABI_VERSION,
	.name = "relay",
	.rcvmsg = relay_rcvmsg,
	.close = relay_close,
	.shutdown = relay_shutdown,
	.connect = relay_connect,
	.rcvdata = relay_rcvdata,
	.disconnect = relay_disconnect,
};

static const struct ng_type exclusive_type = {
	.version = NG_ABI_VERSION,
	.flags = NGTF_EXCLUSIVE,
	.name = "exclusive",
	.connect = relay_connect,
	.rcvdata = relay_rcvdata,
	.disconnect = relay_disconnect,
};

static int
picky_newhook(node_p node, hook_p hook, const char *name)
{

	return (strcmp(name, "no") == 0 ? EPFNOSUPPORT : 0);
}

static int
picky_connect(hook_p hook)
{

	return (strcmp(ng_hook_name(hook), "late") == 0 ? EMLINK : 0);
}

static const struct ng_type picky_type = {
	.version = NG_ABI_VERSION,
	.name = "picky",
	.newhook = picky_newhook,
	.connect = picky_connect,
};

static int
never_constructor(node_p node)
{

	return (EDOM);
}

static const struct ng_type never_type = {
	.version = NG_ABI_VERSION,
	.name = "never",
	.constructor = never_constructor,
};

static void
phoenix_shutdown(node_p node)
{

	ng_node_revive(node);
}

static const struct ng_type phoenix_type = {
	.version = NG_ABI_VERSION,
	.flags = NGTF_PERSISTENT | NGTF_NOMKPEER,
	.name = "phoenix",
	.shutdown = phoenix_shutdown,
};

static const struct ng_type fan_type;

static const struct ng_type *const test_types[] = {
	&relay_type, &exclusive_type, &picky_type, &never_type,
	&phoenix_type, &fan_type, NULL
};

static int
start(void **state)
{

	ngt_start(test_types);
	return (0);
}

static int
stop(void **state)
{

	ngt_stop();
	return (0);
}

static int
clean(void **state)
{

	ngt_reset();
	disconnects = shutdowns = 0;
	return (0);
}

/* ---- Names and addresses ---- */

static void
test_names(void **state)
{
	static const char *const good[] = { "a", "test hub", "[g]", "[]",
	    "[1f", "[0]", "/x", "1234567890123456789012345678901" };
	static const char *const bad[] = { "", "a.b", "a:b", ".", "[1f]",
	    "[001]" };
	struct ngm_name nm;

	assert_int_equal(ngt_mkpeer(".", "relay", "x", "y"), 0);
	for (size_t i = 0; i < nitems(good); i++) {
		assert_int_equal(ngt_name("x", good[i]), 0);
		assert_int_equal(ngt_name("x", good[i]), 0);
	}
	for (size_t i = 0; i < nitems(bad); i++)
		assert_int_equal(ngt_name("x", bad[i]), EINVAL);
	assert_int_equal(ngt_name("x", "probe"), EADDRINUSE);
	/* The old name is free at once. */
	assert_int_equal(ngt_name("x", "fresh"), 0);
	assert_int_equal(ngt_name(".", good[7]), 0);
	assert_int_equal(ngt_name(".", "probe"), 0);
	/* An unterminated name is ended at its last byte. */
	memset(&nm, 'n', sizeof(nm));
	assert_int_equal(ngt_msg("x", NGM_GENERIC_COOKIE, NGM_NAME, &nm,
	    sizeof(nm)), 0);
	assert_int_equal(ngt_msg("x", NGM_GENERIC_COOKIE, NGM_NAME, &nm,
	    sizeof(nm) - 1), EINVAL);
}

static void
test_addresses(void **state)
{
	static const struct {
		const char	*path;
		int		 error;
		const char	*hook;	/* that it came by */
	} cases[] = {
		{ "x", 0, "x1" }, { ".x", 0, "x1" }, { "x.", 0, "x1" },
		{ ".:x", 0, "x1" }, { "probe:x", 0, "x1" },
		{ "probe:.x", 0, "x1" }, { "one:", 0, "-" },
		{ "one:.", 0, "-" }, { "x.x2", 0, "x1" },
		{ "one:x2.x2", 0, "x3" }, { "x.x2.x2.x3.x1", 0, "x2" },
		{ "nobody:", ENOENT, NULL }, { "x.nohook", ENOENT, NULL },
		{ ":x", EINVAL, NULL }, { "a.b:", EINVAL, NULL },
		{ "one:x:", EINVAL, NULL }, { "one:x..x", EINVAL, NULL },
		{ "[0]:", ENOENT, NULL }, { "[fffff]:", ENOENT, NULL },
		{ "[zz]:", ENOENT, NULL },
	};
	char path[32];

	assert_int_equal(ngt_mkpeer(".", "relay", "x", "x1"), 0);
	assert_int_equal(ngt_name("x", "one"), 0);
	assert_int_equal(ngt_mkpeer("one:", "relay", "x2", "x1"), 0);
	assert_int_equal(ngt_connect("one:x2", "one:", "x2", "x3"), 0);
	for (size_t i = 0; i < nitems(cases); i++) {
		int error = ngt_msg(cases[i].path, RELAY_COOKIE, 1, NULL, 0);

		if (error != cases[i].error)
			fail_msg("%s: %d", cases[i].path, error);
		if (cases[i].hook == NULL)
			continue;
		assert_non_null(ngt_reply());
		if (strcmp(ngt_reply()->data, cases[i].hook) != 0)
			fail_msg("%s came by %s", cases[i].path,
			    ngt_reply()->data);
	}
	snprintf(path, sizeof(path), "[%X]:",
	    ng_node_id(ng_findnode(ngt_vnet(), "one")));
	assert_int_equal(ngt_msg(path, RELAY_COOKIE, 1, NULL, 0), 0);
	snprintf(path, sizeof(path), "[000%x]:x",
	    ng_node_id(ngt_probe()));
	assert_int_equal(ngt_msg(path, RELAY_COOKIE, 1, NULL, 0), 0);
}

/* ---- mkpeer and connect ---- */

static unsigned int
nodes(void)
{
	unsigned int n;

	assert_int_equal(ngt_msg(".", NGM_GENERIC_COOKIE, NGM_LISTNODES,
	    NULL, 0), 0);
	memcpy(&n, ngt_reply()->data, sizeof(n));
	return (n);
}

static void
test_mkpeer(void **state)
{
	struct ngm_mkpeer_named named = { .name = "" };

	assert_int_equal(ngt_mkpeer(".", "nosuch", "x", "y"), ENXIO);
	assert_int_equal(ngt_mkpeer(".", "never", "x", "y"), EDOM);
	assert_int_equal(ngt_mkpeer(".", "phoenix", "x", "y"), EINVAL);
	assert_int_equal(ngt_mkpeer(".", "picky", "x", "no"), EPFNOSUPPORT);
	assert_int_equal(ngt_mkpeer(".", "picky", "x", "late"), EMLINK);
	assert_int_equal(ngt_mkpeer(".", "relay", "", "y"), EINVAL);
	assert_int_equal(ngt_mkpeer(".", "relay", "a.b", "y"), EINVAL);
	assert_int_equal(nodes(), 1);
	assert_int_equal(ngt_mkpeer(".", "relay", "x", "y"), 0);
	assert_int_equal(ngt_mkpeer(".", "relay", "x", "y"), EEXIST);
	assert_int_equal(nodes(), 2);
	assert_int_equal(ngt_msg(".", NGM_GENERIC_COOKIE, NGM_MKPEER, &named,
	    95), EINVAL);

	memset(&named, 0, sizeof(named));
	strcpy(named.mkpeer.type, "relay");
	strcpy(named.mkpeer.ourhook, "z");
	strcpy(named.mkpeer.peerhook, "y");
	strcpy(named.name, "probe");
	assert_int_equal(ngt_msg(".", NGM_GENERIC_COOKIE, NGM_MKPEER, &named,
	    sizeof(named)), EADDRINUSE);
	assert_int_equal(nodes(), 2);
	strcpy(named.name, "called");
	assert_int_equal(ngt_msg(".", NGM_GENERIC_COOKIE, NGM_MKPEER, &named,
	    sizeof(named)), 0);
	assert_non_null(ng_findnode(ngt_vnet(), "called"));

	/* Joined to nothing: only with a name, and only without both hooks. */
	strcpy(named.name, "alone");
	named.mkpeer.ourhook[0] = '\0';
	assert_int_equal(ngt_msg(".", NGM_GENERIC_COOKIE, NGM_MKPEER, &named,
	    sizeof(named)), EINVAL);
	named.mkpeer.peerhook[0] = '\0';
	assert_int_equal(ngt_msg(".", NGM_GENERIC_COOKIE, NGM_MKPEER, &named,
	    sizeof(named)), 0);
	assert_int_equal(nodes(), 4);
	assert_int_equal(ngt_connect(".", "alone:", "w", "y"), 0);
	assert_int_equal(ngt_rmhook(".", "w"), 0);
	assert_null(ng_findnode(ngt_vnet(), "alone"));
	named.name[0] = '\0';
	assert_int_equal(ngt_msg(".", NGM_GENERIC_COOKIE, NGM_MKPEER, &named,
	    sizeof(named)), EINVAL);
	assert_int_equal(nodes(), 3);
}

static void
test_connect(void **state)
{

	assert_int_equal(ngt_mkpeer(".", "relay", "a", "y"), 0);
	assert_int_equal(ngt_connect(".", "a", "b", "y"), EEXIST);
	assert_int_equal(ngt_connect(".", ".", "a", "b"), EEXIST);
	assert_int_equal(ngt_connect(".", ".", "b", "b"), EEXIST);
	assert_int_equal(ngt_connect(".", ".", "b", "c"), 0);
	assert_int_equal(ngt_connect(".", "nobody:", "d", "e"), ENOENT);
	assert_int_equal(ngt_connect("a", "y.b", "q", "w"), 0);
	assert_int_equal(ngt_send("b", "hello", 5), 0);
	assert_int_equal(ngt_count("c"), 1);
	assert_int_equal(ngt_rmhook(".", "nosuch"), 0);
	assert_int_equal(ngt_rmhook(".", "b"), 0);
	assert_int_equal(ngt_send("b", "hello", 5), ENOTCONN);
	assert_null(ng_findhook(ngt_probe(), "c"));
}

static void
test_generic_misuse(void **state)
{

	assert_int_equal(ngt_mkpeer(".", "relay", "a", "y"), 0);
	assert_int_equal(ngt_msg("a", NGM_GENERIC_COOKIE, 99, NULL, 0),
	    EINVAL);
	assert_int_equal(ngt_msg("a", NGM_GENERIC_COOKIE, NGM_TEXT_STATUS,
	    NULL, 0), EINVAL);
	assert_int_equal(ngt_msg("a", 4711, 1, NULL, 0), EINVAL);
	assert_int_equal(ngt_msg("a", NGM_GENERIC_COOKIE, NGM_CONNECT, "x",
	    1), EINVAL);
	assert_int_equal(ngt_msg("a", NGM_GENERIC_COOKIE, NGM_ASCII2BINARY,
	    "x", 1), EINVAL);
	assert_int_equal(ngt_ascii("a", "nosuch"), ENOSYS);
	/* No message handler: swallowed, but not the generic text kind. */
	assert_int_equal(ngt_mkpeer(".", "picky", "p", "y"), 0);
	assert_int_equal(ngt_msg("p", 4711, 1, NULL, 0), 0);
	assert_int_equal(ngt_msg("p", NGM_GENERIC_COOKIE, NGM_TEXT_STATUS,
	    NULL, 0), EINVAL);
}

static void
test_listing(void **state)
{
	const struct hooklist *hl;

	assert_int_equal(ngt_mkpeer(".", "relay", "a", "x1"), 0);
	assert_int_equal(ngt_name("a", "node"), 0);
	assert_int_equal(ngt_connect(".", "a", "b", "x2"), 0);
	assert_int_equal(ngt_msg("node:", NGM_GENERIC_COOKIE, NGM_LISTHOOKS,
	    NULL, 0), 0);
	hl = (const struct hooklist *)(const void *)ngt_reply()->data;
	assert_int_equal(hl->nodeinfo.hooks, 2);
	assert_string_equal(hl->nodeinfo.name, "node");
	assert_string_equal(hl->nodeinfo.type, "relay");
	assert_string_equal(hl->link[0].ourhook, "x2");	/* newest first */
	assert_string_equal(hl->link[0].peerhook, "b");
	assert_string_equal(hl->link[1].ourhook, "x1");
	assert_string_equal(hl->link[1].nodeinfo.name, "probe");
	assert_int_equal(ngt_ascii("node:", "nodeinfo"), 0);
	assert_memory_equal(ngt_reply_text(),
	    "{ name=\"node\" type=\"relay\" id=0x", 32);
	assert_int_equal(ngt_msg("node:", NGM_GENERIC_COOKIE, NGM_LISTTYPES,
	    NULL, 0), 0);
	assert_int_equal(ngt_reply()->header.flags, NGF_RESP);
}

/* ---- Messages between nodes ---- */

static void
test_messages(void **state)
{

	assert_int_equal(ngt_mkpeer(".", "relay", "a", "x1"), 0);
	assert_int_equal(ngt_name("a", "one"), 0);
	assert_int_equal(ngt_mkpeer("one:", "relay", "x2", "x1"), 0);
	assert_int_equal(ngt_name("one:x2", "two"), 0);
	/* One asks two; the response comes while one is busy: put off. */
	assert_int_equal(ngt_msg("one:", RELAY_COOKIE, 2, "two:", 5), 0);
	/* To itself: put off, no error. */
	assert_int_equal(ngt_msg("one:", RELAY_COOKIE, 2, ".:", 3), 0);
	assert_int_equal(ngt_msg("one:", RELAY_COOKIE, 2, "nobody:", 8),
	    ENOENT);
	/* A node that ends itself is gone when the request returns. */
	assert_int_equal(ngt_msg("one:", RELAY_COOKIE, 3, NULL, 0), 0);
	assert_null(ng_findnode(ngt_vnet(), "one"));
	assert_null(ng_findnode(ngt_vnet(), "two"));
	assert_int_equal(nodes(), 1);
	assert_int_equal(shutdowns, 2);
}

/* ---- Data ---- */

static void
test_relay(void **state)
{
	struct ng_node *node;

	assert_int_equal(ngt_mkpeer(".", "relay", "a", "x1"), 0);
	assert_int_equal(ngt_connect(".", "a", "b", "x2"), 0);
	assert_int_equal(ngt_send_burst("a", "01234567", 8, NG_BURST), 0);
	assert_int_equal(ngt_count("b"), NG_BURST);
	assert_int_equal(ngt_send("b", "x", 1), 0);
	assert_int_equal(ngt_count("a"), 1);
	node = ng_hook_node(ng_hook_peer(ng_findhook(ngt_probe(), "a")));
	assert_int_equal(counter_fetch(node->nd_packets), NG_BURST + 1);
}

/*
 * What comes by x1 leaves by x2, comes by y1, leaves by y2 and comes by x1:
 * the send returns, the packet circles, and the node can go.
 */
static void
loop_with(const char *type)
{
	struct epoch_tracker et;
	struct ng_node *node;
	uint64_t before, end;
	int error;

	assert_int_equal(ngt_mkpeer(".", type, "a", "hold"), 0);
	assert_int_equal(ngt_name("a", "loop"), 0);
	assert_int_equal(ngt_connect("loop:", "loop:", "x1", "y2"), 0);
	assert_int_equal(ngt_connect("loop:", "loop:", "x2", "y1"), 0);
	NET_EPOCH_ENTER(et);
	node = ng_findnode(ngt_vnet(), "loop");
	error = ng_send_data(ng_findhook(node, "y2"), m_devget("round", 5));
	NET_EPOCH_EXIT(et);
	assert_int_equal(error, 0);
	before = counter_fetch(node->nd_packets);
	end = time_ns() + UINT64_C(10000000000);
	while (counter_fetch(node->nd_packets) < before + 1000)
		assert_true(time_ns() < end);
	assert_int_equal(ngt_shutdown("loop:"), 0);
	ngt_settle();
	assert_int_equal(nodes(), 1);
}

static void
test_loop(void **state)
{

	loop_with("relay");
}

static void
test_loop_exclusive(void **state)
{

	loop_with("exclusive");
}

/* Every packet out of all other hooks, as copies. */
static int
fan_rcvdata(hook_p hook, item_p it)
{
	node_p node = ng_hook_node(hook);
	hook_p other;
	char name[8];

	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		other = ng_findhook(node, name);
		if (other != NULL && other != hook)
			(void)ng_send_copy(it, other);
	}
	ng_item_free(it);
	return (0);
}

static const struct ng_type fan_type = {
	.version = NG_ABI_VERSION,
	.name = "fan",
	.rcvdata = fan_rcvdata,
};

/*
 * Two hubs joined five times: a packet becomes 4 at each of 16 levels, and
 * one call would never end.
 */
static void
test_fan(void **state)
{
	struct epoch_stats es;
	char name[8];

	assert_int_equal(ngt_mkpeer(".", "fan", "a", "f0"), 0);
	assert_int_equal(ngt_name("a", "one"), 0);
	assert_int_equal(ngt_mkpeer("one:", "fan", "f1", "f1"), 0);
	assert_int_equal(ngt_name("one:f1", "two"), 0);
	for (int i = 2; i < 6; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		assert_int_equal(ngt_connect("one:", "two:", name, name), 0);
	}
	assert_int_equal(ngt_send("a", "x", 1), 0);
	assert_int_equal(ngt_shutdown("one:"), 0);
	assert_int_equal(nodes(), 1);
	ngt_settle();
	epoch_stats_get(net_epoch_preempt, &es);
	assert_int_equal(es.es_stalls, 0);
}

static uint64_t
drops(enum ng_drop why)
{

	return (counter_fetch(ngt_vnet()->v_netgraph->ng_drops + why));
}

/* A hook that queues: in order, bounded, and thrown away with the node. */
static void
test_queue(void **state)
{
	struct netgraph *ng = ngt_vnet()->v_netgraph;
	uint64_t full = drops(NGD_QUEUE);
	unsigned int sent = 0;
	hook_p in;
	int error;

	assert_int_equal(ngt_mkpeer(".", "exclusive", "a", "x1"), 0);
	assert_int_equal(ngt_name("a", "q"), 0);
	assert_int_equal(ngt_connect(".", "q:", "b", "x2"), 0);
	in = ng_findhook(ng_findnode(ngt_vnet(), "q"), "x1");
	/* While the node is busy all is queued, up to the limit. */
	ng_node_lock(ng_hook_node(in));
	while ((error = ngt_send_burst("a", "x", 1, NG_BURST)) == 0)
		sent += NG_BURST;
	assert_int_equal(error, ENOMEM);
	assert_int_equal(sent, atomic_load(&ng->ng_maxdata));
	assert_int_equal(drops(NGD_QUEUE) - full, NG_BURST);
	ng_node_unlock(ng_hook_node(in));
	ngt_settle();
	assert_int_equal(ngt_count("b"), sent);

	ng_node_lock(ng_hook_node(in));
	assert_int_equal(ngt_send_burst("a", "x", 1, NG_BURST), 0);
	ng_node_unlock(ng_hook_node(in));
	ngt_settle();
	ng_hook_force_queue(in);
	assert_int_equal(ngt_send("a", "x", 1), 0);
	assert_int_equal(ngt_rmhook("q:", "x1"), 0);
	ngt_settle();
}

/* To a hook that says so, what comes from the stack's output is queued. */
static void
test_outbound(void **state)
{
	hook_p in;

	assert_int_equal(ngt_mkpeer(".", "relay", "a", "x1"), 0);
	assert_int_equal(ngt_connect(".", "a", "b", "x2"), 0);
	in = ng_hook_peer(ng_findhook(ngt_probe(), "a"));
	ng_hook_set_to_inbound(in);
	assert_int_equal(ngt_send("a", "x", 1), 0);
	assert_int_equal(ngt_count("b"), 1);
	ng_outbound_enter();
	assert_int_equal(ngt_send("a", "x", 1), 0);
	ng_outbound_exit();
	ngt_settle();
	assert_int_equal(ngt_count("b"), 2);
}

static void
test_scatter(void **state)
{
	struct epoch_tracker et;
	struct ng_scatter sc;
	hook_p hook[12];
	char name[NG_HOOKSIZ];

	for (int i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		assert_int_equal(ngt_connect(".", ".", name,
		    name[1] == '1' && i > 9 ? (i == 10 ? "r10" : "r11") :
		    (char[]){ 'r', (char)('0' + i), '\0' }), 0);
		hook[i] = ng_findhook(ngt_probe(), name);
	}
	NET_EPOCH_ENTER(et);
	ng_scatter_init(&sc);
	for (int i = 0; i < 1200; i++)
		ng_scatter_add(&sc, hook[i % 12], m_devget("x", 1));
	assert_int_equal(ng_scatter_flush(&sc), 0);
	ng_scatter_init(&sc);
	ng_scatter_add(&sc, NULL, m_devget("x", 1));
	ng_scatter_add(&sc, hook[0], m_devget("x", 1));
	assert_int_equal(ng_scatter_flush(&sc), ENOTCONN);
	NET_EPOCH_EXIT(et);
	assert_int_equal(ngt_count("r0"), 101);
	assert_int_equal(ngt_count("r5"), 100);
	assert_int_equal(ngt_count("r11"), 100);
}

/* ---- Ends ---- */

static void
test_ends(void **state)
{

	/* Dies with its last hook; the cascade is over when the call returns. */
	assert_int_equal(ngt_mkpeer(".", "relay", "a", "x1"), 0);
	assert_int_equal(ngt_mkpeer("a", "relay", "x2", "x1"), 0);
	assert_int_equal(ngt_mkpeer("a", "relay", "y2", "x1"), 0);
	assert_int_equal(nodes(), 4);
	assert_int_equal(ngt_rmhook("a", "y2"), 0);
	assert_int_equal(nodes(), 3);
	assert_int_equal(ngt_shutdown("a"), 0);
	assert_int_equal(nodes(), 1);
	assert_int_equal(shutdowns, 3);
	assert_int_equal(disconnects, 5);
	/* Connected to itself only: stays, until it is shut down. */
	assert_int_equal(ngt_mkpeer(".", "relay", "a", "x1"), 0);
	assert_int_equal(ngt_name("a", "self"), 0);
	assert_int_equal(ngt_connect("self:", "self:", "y1", "y2"), 0);
	assert_int_equal(ngt_rmhook(".", "a"), 0);
	assert_int_equal(nodes(), 2);
	assert_int_equal(ngt_shutdown("self:"), 0);
	assert_int_equal(ngt_shutdown("self:"), ENOENT);
	assert_int_equal(nodes(), 1);
}

static void
test_revive(void **state)
{
	node_p node;
	uint32_t id;

	ng_ctl_enter(ngt_vnet());
	assert_int_equal(ng_make_node(ngt_vnet(), "phoenix", &node), 0);
	assert_int_equal(ng_name_node(node, "em0"), 0);
	ng_ctl_exit(ngt_vnet());
	id = ng_node_id(node);
	assert_int_equal(ngt_connect(".", "em0:", "a", "lower"), 0);
	assert_int_equal(ngt_shutdown("em0:"), 0);
	assert_int_equal(ng_node_id(ng_findnode(ngt_vnet(), "em0")), id);
	assert_int_equal(ng_node_numhooks(node), 0);
	assert_null(ng_findhook(ngt_probe(), "a"));
	assert_int_equal(ngt_connect(".", "em0:", "a", "lower"), 0);
	ng_node_set_must_die(node);
	assert_int_equal(ngt_shutdown("em0:"), 0);
	assert_null(ng_findnode(ngt_vnet(), "em0"));
}

static void
test_bypass(void **state)
{

	assert_int_equal(ngt_mkpeer(".", "relay", "a", "b1"), 0);
	assert_int_equal(ngt_connect(".", "a", "b", "b2"), 0);
	assert_int_equal(ngt_shutdown("a"), 0);
	assert_int_equal(nodes(), 1);
	/* The neighbours are each other's now. */
	assert_int_equal(ngt_send("a", "x", 1), 0);
	assert_int_equal(ngt_count("b"), 1);
	assert_int_equal(ngt_send("b", "x", 1), 0);
	assert_int_equal(ngt_count("a"), 1);
	assert_int_equal(ngt_rmhook(".", "a"), 0);
	assert_null(ng_findhook(ngt_probe(), "b"));
}

static void
test_register(void **state)
{
	struct ng_type odd = relay_type;

	assert_int_equal(ng_type_register(ngt_vnet(), &relay_type, NULL),
	    EEXIST);
	odd.name = "";
	assert_int_equal(ng_type_register(ngt_vnet(), &odd, NULL), EINVAL);
	odd.name = "12345678901234567890123456789012";
	assert_int_equal(ng_type_register(ngt_vnet(), &odd, NULL), EINVAL);
	odd.name = "odd";
	odd.version++;
	assert_int_equal(ng_type_register(ngt_vnet(), &odd, NULL), EINVAL);
	odd.version--;
	assert_int_equal(ng_type_register(ngt_vnet(), &odd, NULL), 0);
	assert_int_equal(ngt_mkpeer(".", "odd", "a", "x"), 0);
	assert_int_equal(ng_type_unregister(ngt_vnet(), "odd"), EBUSY);
	assert_int_equal(ngt_rmhook(".", "a"), 0);
	assert_int_equal(ng_type_unregister(ngt_vnet(), "odd"), 0);
	assert_int_equal(ng_type_unregister(ngt_vnet(), "odd"), ENOENT);
}

/* ---- Two threads ---- */

static _Atomic bool stop_sending;
static _Atomic uint64_t sent_ok, sent_lost;

static void
sender(void *arg)
{
	struct epoch_tracker et;
	struct ng_item it;
	unsigned int n;
	hook_p hook;

	while (!atomic_load(&stop_sending)) {
		NET_EPOCH_ENTER(et);
		n = m_get_burst(it.it_m, 8);
		for (unsigned int i = 0; i < n; i++)
			it.it_m[i]->m_len = it.it_m[i]->m_pkthdr.len = 60;
		it.it_n = n;
		hook = ng_findhook(ngt_probe(), arg);
		if (n != 0) {
			if (ng_fwd_item(&it, hook) == 0)
				atomic_fetch_add(&sent_ok, n);
			else
				atomic_fetch_add(&sent_lost, n);
		}
		NET_EPOCH_EXIT(et);
	}
	m_cache_drain();
}

/* Nodes come and go under senders; nothing is leaked or touched after. */
static void
test_churn(void **state)
{
	struct thread *td[2];

	stop_sending = false;
	sent_ok = sent_lost = 0;
	assert_int_equal(ngt_connect(".", ".", "keep", "kept"), 0);
	assert_int_equal(thread_create(&td[0], "sender", THREAD_ANY_CPU,
	    sender, (void *)(uintptr_t)"a"), 0);
	assert_int_equal(thread_create(&td[1], "sender", THREAD_ANY_CPU,
	    sender, (void *)(uintptr_t)"b"), 0);
	for (int i = 0; i < 2000; i++) {
		const char *type = i % 3 == 0 ? "exclusive" : "relay";

		assert_int_equal(ngt_mkpeer(".", type, "a", "x1"), 0);
		assert_int_equal(ngt_connect(".", "a", "b", "x2"), 0);
		switch (i % 4) {
		case 0:
			assert_int_equal(ngt_shutdown("a"), 0);
			break;
		case 1:
			assert_int_equal(ngt_rmhook(".", "a"), 0);
			assert_int_equal(ngt_rmhook(".", "b"), 0);
			break;
		case 2:
			assert_int_equal(ngt_rmhook("a", "x2"), 0);
			assert_int_equal(ngt_rmhook("a", "x1"), 0);
			break;
		case 3:
			assert_int_equal(ngt_mkpeer("a", "relay", "y1",
			    "y2"), 0);
			assert_int_equal(ngt_shutdown("a"), 0);
			break;
		}
		assert_null(ng_findhook(ngt_probe(), "a"));
		assert_null(ng_findhook(ngt_probe(), "b"));
	}
	atomic_store(&stop_sending, true);
	thread_join(td[0]);
	thread_join(td[1]);
	printf("%ju packets sent, %ju with an error\n",
	    (uintmax_t)sent_ok, (uintmax_t)sent_lost);
	ngt_settle();
}

/* What the last test left is looked at, too. */
static void
clean_last(void **state)
{

	assert_int_equal(nodes(), 1);
}

#define	T(fn)	cmocka_unit_test_setup(fn, clean)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_names), T(test_addresses), T(test_mkpeer),
		T(test_connect), T(test_generic_misuse), T(test_listing),
		T(test_messages), T(test_relay), T(test_loop),
		T(test_loop_exclusive), T(test_fan), T(test_queue), T(test_outbound),
		T(test_scatter), T(test_ends), T(test_revive),
		T(test_bypass), T(test_register), T(test_churn),
		T(clean_last),
	};

	return (cmocka_run_group_tests(tests, start, stop));
}
