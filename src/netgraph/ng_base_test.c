/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The base: addresses, names, generic messages and their errors, and the ends
 * of hooks and nodes.
 */
#include "netgraph/ng_base_testlib.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "netgraph/ng_private.h"
#include "netgraph/ng_var.h"

/* ---- Types to test with ---- */

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

/* A hook's end is another node's. */
static void
domino_disconnect(hook_p hook)
{

	assert_int_equal(ng_send_msg_path(ng_hook_node(hook),
	    ng_mkmessage(NGM_GENERIC_COOKIE, NGM_SHUTDOWN, NULL, 0),
	    "victim:"), 0);
}

static const struct ng_type domino_type = {
	.version = NG_ABI_VERSION,
	.name = "domino",
	.disconnect = domino_disconnect,
};

static int
own_rcvmsg_hook(node_p node, struct ng_request *rq, hook_p lasthook)
{

	return (strcmp(ng_hook_name(lasthook), "m") == 0 ? EMLINK : ENXIO);
}

static int
own_newhook(node_p node, hook_p hook, const char *name)
{

	if (strcmp(name, "m") == 0)
		ng_hook_set_rcvmsg(hook, own_rcvmsg_hook);
	return (0);
}

static int
own_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{

	return (EDOM);
}

static const struct ng_type own_type = {
	.version = NG_ABI_VERSION,
	.name = "own",
	.rcvmsg = own_rcvmsg,
	.newhook = own_newhook,
};

const struct ng_type *const ngt_types[] = {
	&relay_type, &picky_type, &never_type, &phoenix_type, &domino_type,
	&own_type, NULL,
};

/* ---- Names and addresses ---- */

static void
test_names(void **state)
{
	static const char *const good[] = { "a", "test hub", "[g]", "[]",
	    "[1f", "[0]", "/x", "1234567890123456789012345678901" };
	static const char *const bad[] = { "", "a.b", "a:b", ".", "[1f]",
	    "[001]" };
	static const char long32[] = "12345678901234567890123456789012";
	struct ngm_name nm;
	node_p node;

	assert_int_equal(ngt_mkpeer(".", "relay", "x", "y"), 0);
	for (size_t i = 0; i < nitems(good); i++) {
		assert_int_equal(ngt_name("x", good[i]), 0);
		assert_int_equal(ngt_name("x", good[i]), 0);
	}
	for (size_t i = 0; i < nitems(bad); i++)
		assert_int_equal(ngt_name("x", bad[i]), EINVAL);
	assert_int_equal(ngt_name("x", "probe"), EADDRINUSE);
	/* One byte too long, where it is not cut off: no message can say it. */
	node = ng_hook_node(ng_hook_peer(ng_findhook(ngt_probe(), "x")));
	ng_ctl_enter(ngt_vnet());
	assert_int_equal(ng_name_node(node, long32), EINVAL);
	ng_ctl_exit(ngt_vnet());
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

/* A hook's own method has what comes by it; the base answers as ever. */
static void
test_own_rcvmsg(void **state)
{

	assert_int_equal(ngt_mkpeer(".", "own", "a", "m"), 0);
	assert_int_equal(ngt_connect(".", "a", "b", "other"), 0);
	assert_int_equal(ngt_name("a", "one"), 0);
	assert_int_equal(ngt_msg("a", 4711, 1, NULL, 0), EMLINK);
	assert_int_equal(ngt_msg("b", 4711, 1, NULL, 0), EDOM);
	assert_int_equal(ngt_msg("one:", 4711, 1, NULL, 0), EDOM);
	assert_int_equal(ngt_msg("a", NGM_GENERIC_COOKIE, NGM_NODEINFO, NULL,
	    0), 0);
}

static int
send_shutdown(void *arg)
{
	int error;

	error = ng_send_msg_path(ngt_probe(), ng_mkmessage(NGM_GENERIC_COOKIE,
	    NGM_SHUTDOWN, NULL, 0), arg);
	assert_non_null(ng_findnode(ngt_vnet(), "one"));
	return (error);
}

static void
test_send(void **state)
{
	char path[2 * NG_PATHSIZ];

	assert_int_equal(ngt_mkpeer(".", "relay", "a", "x1"), 0);
	assert_int_equal(ngt_name("a", "one"), 0);
	ng_ctl_enter(ngt_vnet());
	/* Not one whose first bytes are the path of a node. */
	memset(path, '.', sizeof(path));
	memcpy(path, "one:", 4);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(send_shutdown(path), EINVAL);
	assert_int_equal(ng_send_msg_hook(ngt_probe(),
	    ng_mkmessage(RELAY_COOKIE, 1, NULL, 0), NULL), ENOTCONN);
	assert_int_equal(ng_send_flow(ngt_probe(), NULL, NGM_LINK_IS_UP),
	    ENOTCONN);
	/* Inside the epoch it is put off, also in control work. */
	assert_int_equal(ng_net_run(send_shutdown, (void *)"one:"), 0);
	ng_ctl_exit(ngt_vnet());
	assert_null(ng_findnode(ngt_vnet(), "one"));
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

/* In a method of its own: the end comes when that is over, and once. */
static void
test_ends_itself(void **state)
{

	(void)state;
	for (unsigned int i = 1; i <= 3; i++) {
		assert_int_equal(ngt_mkpeer(".", "relay", "a", "x1"), 0);
		assert_int_equal(ngt_connect(".", "a", "b", "x2"), 0);
		assert_int_equal(nodes(), 2);
		assert_int_equal(ngt_msg("a", RELAY_COOKIE, 4, NULL, 0), 0);
		assert_int_equal(nodes(), 1);
		assert_int_equal(disconnects, 2 * i);
		assert_int_equal(shutdowns, i);
		assert_null(ng_findhook(ngt_probe(), "a"));
		assert_null(ng_findhook(ngt_probe(), "b"));
	}
}

/*
 * A node is told of its hooks' ends before it is shut down, whoever asks for
 * that first: itself, or one that is told of the same removal earlier.
 * relay_disconnect() looks at what relay_shutdown() takes away.
 */
static void
test_ends_in_order(void **state)
{

	assert_int_equal(ngt_mkpeer(".", "relay", "a", "y1"), 0);
	assert_int_equal(ngt_name("a", "one"), 0);
	assert_int_equal(ngt_mkpeer("one:", "relay", "x1", "x1"), 0);
	assert_int_equal(ngt_msg("one:", RELAY_COOKIE, 5, NULL, 0), 0);
	assert_int_equal(nodes(), 1);
	assert_int_equal(disconnects, 3);
	assert_int_equal(shutdowns, 2);

	assert_int_equal(ngt_mkpeer(".", "relay", "a", "y1"), 0);
	assert_int_equal(ngt_mkpeer("a", "domino", "x1", "x"), 0);
	assert_int_equal(ngt_mkpeer("a", "relay", "x2", "x"), 0);
	assert_int_equal(ngt_name("a.x2", "victim"), 0);
	assert_int_equal(ngt_connect("a", "x2", "y2", "y"), 0);
	assert_int_equal(ngt_shutdown("a"), 0);
	assert_int_equal(nodes(), 1);
	assert_int_equal(disconnects, 3 + 6);
	assert_int_equal(shutdowns, 2 + 2);
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

#define	T(fn)	cmocka_unit_test_setup(fn, clean)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_names), T(test_addresses), T(test_mkpeer),
		T(test_connect), T(test_generic_misuse), T(test_listing),
		T(test_messages), T(test_own_rcvmsg), T(test_send),
		T(test_ends), T(test_ends_itself), T(test_ends_in_order),
		T(test_revive),
		T(test_bypass), T(test_register), T(clean_last),
	};

	return (cmocka_run_group_tests(tests, ngt_group_start, ngt_group_stop));
}
