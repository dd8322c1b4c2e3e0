/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * hub: who gets what, results, loops, many hooks, staying, and a race.
 */
#include "netgraph/nodes/ng_node_testlib.h"

#include <errno.h>
#include <stdio.h>

#include <netgraph/ng_hub.h>

#include "netgraph/nodes/ng_nodes.h"

const struct ng_type *const ngt_types[] = {
	&ng_hub_type, &ng_split_type, NULL,
};

/* A hub named h whose hooks are the probe's a, b and c. */
static void
hub_abc(void)
{

	ngt_make("hub", "h", "a");
	ngt_join("h", "b");
	ngt_join("h", "c");
}

static void
expect(unsigned int a, unsigned int b, unsigned int c)
{

	assert_int_equal(ngt_count("a"), a);
	assert_int_equal(ngt_count("b"), b);
	assert_int_equal(ngt_count("c"), c);
	ngt_clear();
}

static void
test_basic(void **state)
{

	hub_abc();
	assert_int_equal(ngt_send("a", "hello", 5), 0);
	expect(0, 1, 1);
	assert_int_equal(ngt_send("b", "hello", 5), 0);
	expect(1, 0, 1);
	assert_int_equal(ngt_send("c", "hello", 5), 0);
	expect(1, 1, 0);
	assert_int_equal(ngt_rmhook(".", "b"), 0);
	assert_int_equal(ngt_send("a", "hello", 5), 0);
	expect(0, 0, 1);
	assert_int_equal(ngt_rmhook("h:", "c"), 0);
	assert_int_equal(ngt_send("a", "hello", 5), 0);
	expect(0, 0, 0);
}

static void
test_node(void **state)
{

	assert_int_equal(ngt_mkpeer(".", "hub", "a", "a"), 0);
	assert_int_equal(ngt_name("a", "test hub"), 0);
	assert_int_equal(ngt_name("a", "test hub"), 0);
	assert_int_equal(ngt_connect(".", "test hub:", "b", "b"), 0);
	assert_int_equal(ngt_connect(".", "test hub:", "c", "c"), 0);
	assert_int_equal(ngt_connect(".", "test hub:", "a", "d"), EEXIST);
	assert_int_equal(ngt_connect(".", "test hub:", "d", "c"), EEXIST);
	assert_int_equal(ngt_send("a", "hello", 5), 0);
	expect(0, 1, 1);
	assert_int_equal(ngt_rmhook(".", "b"), 0);
	assert_int_equal(ngt_send("a", "hello", 5), 0);
	expect(0, 0, 1);
	assert_int_equal(ngt_shutdown("test hub:"), 0);
	assert_int_equal(ngt_shutdown("test hub:"), ENOENT);
}

/* Two hooks: the very packets; three: copies that are the same. */
static void
test_burst(void **state)
{
	const struct mbuf *m;
	struct mbuf *sent;

	assert_int_equal(ngt_mkpeer(".", "hub", "a", "a"), 0);
	assert_int_equal(ngt_connect(".", "a", "b", "b"), 0);
	sent = m_devget("hello", 5);
	assert_non_null(sent);
	assert_int_equal(ngt_send_mbuf("a", sent), 0);
	assert_ptr_equal(ngt_last("b"), sent);
	ngt_clear();

	assert_int_equal(ngt_connect(".", "a", "c", "c"), 0);
	assert_int_equal(ngt_send_burst("a", "hello", 5, NG_BURST), 0);
	m = ngt_last("c");
	assert_ptr_not_equal(m, ngt_last("b"));
	assert_int_equal(m->m_pkthdr.len, 5);
	assert_memory_equal(m->m_data, "hello", 5);
	expect(0, NG_BURST, NG_BURST);
}

/* Hooks are served newest first, and the oldest one's result counts. */
static void
test_result(void **state)
{

	hub_abc();
	assert_int_equal(ngt_mkpeer("h:", "split", "x", "out"), 0);
	assert_int_equal(ngt_send("a", "hello", 5), 0);
	expect(0, 1, 1);
	assert_int_equal(ngt_rmhook(".", "b"), 0);
	assert_int_equal(ngt_rmhook(".", "c"), 0);
	assert_int_equal(ngt_connect(".", "h:", "b", "b"), 0);
	assert_int_equal(ngt_send("a", "hello", 5), EINVAL);
	expect(0, 1, 0);
}

static void
test_messages(void **state)
{
	struct nodeinfo ni;

	assert_int_equal(ngt_mkpeer(".", "hub", "a", "a"), 0);
	assert_int_equal(ngt_name("a", "h"), 0);
	assert_int_equal(ngt_msg("h:", NGM_HUB_COOKIE, 2, NULL, 0), EINVAL);
	assert_int_equal(ngt_msg("h:", NGM_HUB_COOKIE + 1,
	    NGM_HUB_SET_PERSISTENT, NULL, 0), EINVAL);
	assert_int_equal(ngt_msg("h:", NGM_HUB_COOKIE,
	    NGM_HUB_SET_PERSISTENT, "1234", 4), EINVAL);
	assert_int_equal(ngt_ascii("h:", "getstats"), ENOSYS);
	assert_int_equal(ngt_rmhook(".", "a"), 0);
	assert_int_equal(ngt_nodeinfo("h:", &ni), ENOENT);

	for (int text = 0; text < 2; text++) {
		assert_int_equal(ngt_mkpeer(".", "hub", "a", "a"), 0);
		assert_int_equal(ngt_name("a", "h"), 0);
		assert_int_equal(text ? ngt_ascii("h:", "setpersistent") :
		    ngt_msg("h:", NGM_HUB_COOKIE, NGM_HUB_SET_PERSISTENT,
		    NULL, 0), 0);
		ngt_roundtrip("h:", NGM_HUB_COOKIE, NGM_HUB_SET_PERSISTENT,
		    NGF_ORIG, "", 0);
		assert_int_equal(ngt_rmhook(".", "a"), 0);
		assert_int_equal(ngt_nodeinfo("h:", &ni), 0);
		assert_int_equal(ni.hooks, 0);
		assert_int_equal(ngt_shutdown("h:"), 0);
		assert_int_equal(ngt_nodeinfo("h:", &ni), ENOENT);
	}
}

static void
test_loop(void **state)
{

	assert_int_equal(ngt_mkpeer(".", "hub", "a", "a"), 0);
	assert_int_equal(ngt_name("a", "hub1"), 0);
	assert_int_equal(ngt_mkpeer(".", "hub", "b", "b"), 0);
	assert_int_equal(ngt_name("b", "hub2"), 0);
	assert_int_equal(ngt_connect("hub1:", "hub2:", "xc1", "xc1"), 0);
	assert_int_equal(ngt_send("a", "hello", 5), 0);
	expect(0, 1, 0);

	assert_int_equal(ngt_connect("hub1:", "hub2:", "xc2", "xc2"), 0);
	assert_int_equal(ngt_send("a", "hello", 5), 0);
	while (ngt_count("a") + ngt_count("b") <= 7)
		continue;
	assert_int_equal(ngt_shutdown("hub1:"), 0);
	assert_int_equal(ngt_shutdown("hub2:"), 0);
}

static void
test_many_hooks(void **state)
{
	char name[NG_HOOKSIZ];

	assert_int_equal(ngt_mkpeer(".", "hub", "a", "a"), 0);
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "m%u", i);
		assert_int_equal(ngt_connect(".", "a", name, name), 0);
		if (i % 100 == 0) {
			assert_int_equal(ngt_send(name, "hello", 5), 0);
			assert_int_equal(ngt_count("a"), 1);
			assert_int_equal(ngt_count(name), 0);
			if (i != 0)
				assert_int_equal(ngt_count("m0"), 1);
			ngt_clear();
		}
	}
}

static void
churn(unsigned int round)
{
	char name[NG_HOOKSIZ];

	snprintf(name, sizeof(name), "x%u", round % 3);
	if (round % 2 == 0)
		(void)ngt_connect("h:", "probe:", name, name);
	else if (round % 5 == 0) {
		assert_int_equal(ngt_rmhook("h:", "b"), 0);
		assert_int_equal(ngt_connect(".", "h:", "b", "b"), 0);
	} else
		assert_int_equal(ngt_rmhook(".", name), 0);
}

static void
test_race(void **state)
{

	hub_abc();
	ngt_race("a", "b", churn, 300);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_basic, ngt_test_reset),
		cmocka_unit_test_teardown(test_node, ngt_test_reset),
		cmocka_unit_test_teardown(test_burst, ngt_test_reset),
		cmocka_unit_test_teardown(test_result, ngt_test_reset),
		cmocka_unit_test_teardown(test_messages, ngt_test_reset),
		cmocka_unit_test_teardown(test_loop, ngt_test_reset),
		cmocka_unit_test_teardown(test_many_hooks, ngt_test_reset),
		cmocka_unit_test_teardown(test_race, ngt_test_reset),
	};

	return (cmocka_run_group_tests(tests, ngt_group_start, ngt_group_stop));
}
