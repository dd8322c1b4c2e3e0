/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * split: its two ways, and what it refuses.
 */
#include "netgraph/nodes/ng_node_testlib.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netgraph/ng_split.h>

#include "netgraph/nodes/ng_nodes.h"
#include "sys/sysctl.h"

const struct ng_type *const ngt_types[] = { &ng_split_type, NULL };

static void
make_split(void)
{

	ngt_make("split", "s", "mixed");
	ngt_join("s", "in");
	ngt_join("s", "out");
}

static void
expect(unsigned int mixed, unsigned int in, unsigned int out)
{

	assert_int_equal(ngt_count("mixed"), mixed);
	assert_int_equal(ngt_count("in"), in);
	assert_int_equal(ngt_count("out"), out);
	ngt_clear();
}

static unsigned int
no_hook(void)
{
	char buf[32];

	assert_int_equal(sysctl_get(ngt_vnet()->v_sysctl,
	    "net.graph.drops.no_hook", buf, sizeof(buf)), 0);
	return ((unsigned int)strtoul(buf, NULL, 10));
}

static void
test_ways(void **state)
{
	unsigned int drops;
	struct mbuf *m;

	make_split();
	m = m_devget("hello", 5);
	assert_non_null(m);
	assert_int_equal(ngt_send_mbuf("mixed", m), 0);
	assert_ptr_equal(ngt_last("out"), m);
	expect(0, 0, 1);
	assert_int_equal(ngt_send_burst("mixed", "hello", 5, NG_BURST), 0);
	expect(0, 0, NG_BURST);
	assert_int_equal(ngt_send_burst("in", "hello", 5, NG_BURST), 0);
	expect(NG_BURST, 0, 0);
	assert_int_equal(ngt_send("out", "hello", 5), EINVAL);
	expect(0, 0, 0);
	/* Nobody there: no error, but they are counted. */
	drops = no_hook();
	assert_int_equal(ngt_rmhook(".", "out"), 0);
	assert_int_equal(ngt_send_burst("mixed", "hello", 5, NG_BURST), 0);
	assert_int_equal(no_hook(), drops + NG_BURST);
	assert_int_equal(ngt_rmhook(".", "mixed"), 0);
	assert_int_equal(ngt_send("in", "hello", 5), 0);
	assert_int_equal(no_hook(), drops + NG_BURST + 1);
	expect(0, 0, 0);
}

static void
test_control(void **state)
{
	struct nodeinfo ni;

	assert_int_equal(ngt_mkpeer(".", "split", "a", "input"), EINVAL);
	make_split();
	assert_int_equal(ngt_connect(".", "s:", "x", "in"), EEXIST);
	assert_int_equal(ngt_connect(".", "s:", "x", "in2"), EINVAL);
	assert_int_equal(ngt_msg("s:", NGM_SPLIT_COOKIE, 1, NULL, 0), EINVAL);
	assert_int_equal(ngt_msg("s:", NGM_FLOW_COOKIE, NGM_LINK_IS_UP, NULL,
	    0), EINVAL);
	assert_int_equal(ngt_ascii("s:", "getstats"), ENOSYS);
	assert_int_equal(ngt_rmhook(".", "in"), 0);
	assert_int_equal(ngt_rmhook(".", "out"), 0);
	assert_int_equal(ngt_nodeinfo("s:", &ni), 0);
	assert_int_equal(ngt_rmhook(".", "mixed"), 0);
	assert_int_equal(ngt_nodeinfo("s:", &ni), ENOENT);
}

static void
churn(unsigned int round)
{

	if (round % 2 == 0)
		assert_int_equal(ngt_rmhook(".", "out"), 0);
	else
		assert_int_equal(ngt_connect(".", "s:", "out", "out"), 0);
}

static void
test_race(void **state)
{

	make_split();
	ngt_race("mixed", "in", churn, 300);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_ways, ngt_test_reset),
		cmocka_unit_test_teardown(test_control, ngt_test_reset),
		cmocka_unit_test_teardown(test_race, ngt_test_reset),
	};

	return (cmocka_run_group_tests(tests, ngt_group_start, ngt_group_stop));
}
