/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * tee: all ways through, counters, the state of links, joining at the end.
 */
#include "netgraph/nodes/ng_node_testlib.h"

#include <errno.h>
#include <string.h>

#include <netgraph/ng_tee.h>

#include "netgraph/nodes/ng_nodes.h"

const struct ng_type *const ngt_types[] = { &ng_tee_type, NULL };

/* A tee named t, its hooks joined to the probe's hooks of the same names. */
static void
make_tee(void)
{

	ngt_make("tee", "t", "left");
	ngt_join("t", "right");
	ngt_join("t", "left2right");
	ngt_join("t", "right2left");
}

static void
expect(unsigned int left, unsigned int right, unsigned int l2r,
    unsigned int r2l)
{

	assert_int_equal(ngt_count("left"), left);
	assert_int_equal(ngt_count("right"), right);
	assert_int_equal(ngt_count("left2right"), l2r);
	assert_int_equal(ngt_count("right2left"), r2l);
	ngt_clear();
}

static void
test_ways(void **state)
{
	struct mbuf *m;

	make_tee();
	assert_int_equal(ngt_send("left", "hello", 5), 0);
	expect(0, 1, 1, 0);
	assert_int_equal(ngt_send("right", "hello", 5), 0);
	expect(1, 0, 0, 1);
	assert_int_equal(ngt_send("left2right", "hello", 5), 0);
	expect(0, 1, 0, 0);
	assert_int_equal(ngt_send("right2left", "hello", 5), 0);
	expect(1, 0, 0, 0);
	assert_int_equal(ngt_send_burst("left", "hello", 5, NG_BURST), 0);
	assert_memory_equal(ngt_last("left2right")->m_data, "hello", 5);
	expect(0, NG_BURST, NG_BURST, 0);

	/* The far side is missing: the copy's hook gets the packet itself. */
	assert_int_equal(ngt_rmhook(".", "right"), 0);
	m = m_devget("hello", 5);
	assert_non_null(m);
	assert_int_equal(ngt_send_mbuf("left", m), 0);
	assert_ptr_equal(ngt_last("left2right"), m);
	expect(0, 0, 1, 0);
	assert_int_equal(ngt_send("left2right", "hello", 5), 0);
	expect(0, 0, 0, 0);
	/* Nobody is left. */
	assert_int_equal(ngt_rmhook(".", "left2right"), 0);
	assert_int_equal(ngt_send("left", "hello", 5), 0);
	expect(0, 0, 0, 0);
}

static void
test_hooks(void **state)
{
	struct nodeinfo ni;

	assert_int_equal(ngt_mkpeer(".", "tee", "a", "middle"), EINVAL);
	make_tee();
	assert_int_equal(ngt_connect(".", "t:", "x", "left"), EEXIST);
	assert_int_equal(ngt_connect(".", "t:", "x", "Left"), EINVAL);
	assert_int_equal(ngt_rmhook(".", "left"), 0);
	assert_int_equal(ngt_rmhook(".", "right"), 0);
	assert_int_equal(ngt_rmhook(".", "left2right"), 0);
	assert_int_equal(ngt_nodeinfo("t:", &ni), 0);
	assert_int_equal(ngt_rmhook(".", "right2left"), 0);
	assert_int_equal(ngt_nodeinfo("t:", &ni), ENOENT);
}

static void
expect_stats(uint32_t cmd, const struct ng_tee_stats *ts)
{

	assert_int_equal(ngt_msg("t:", NGM_TEE_COOKIE, cmd, NULL, 0), 0);
	assert_non_null(ngt_reply());
	assert_int_equal(ngt_reply()->header.arglen, sizeof(*ts));
	assert_memory_equal(ngt_reply()->data, ts, sizeof(*ts));
}

static void
test_stats(void **state)
{
	static const struct ng_tee_stats none;
	struct ng_tee_stats ts = {
		.left = { .inOctets = 500, .inFrames = 5, .outOctets = 40,
		    .outFrames = 2 },
		.right = { .inOctets = 30, .inFrames = 1, .outOctets = 500,
		    .outFrames = 5 },
		.right2left = { .inOctets = 10, .inFrames = 1,
		    .outOctets = 30, .outFrames = 1 },
		.left2right = { .outOctets = 500, .outFrames = 5 },
	};
	char data[100] = { 0 };

	make_tee();
	assert_int_equal(ngt_send_burst("left", data, 100, 5), 0);
	assert_int_equal(ngt_send("right", data, 30), 0);
	assert_int_equal(ngt_send("right2left", data, 10), 0);
	expect_stats(NGM_TEE_GET_STATS, &ts);
	assert_int_equal(ngt_ascii("t:", "getstats"), 0);
	assert_string_equal(ngt_reply_text(),
	    "{ right={ inOctets=30 inFrames=1 outOctets=500 outFrames=5 } "
	    "left={ inOctets=500 inFrames=5 outOctets=40 outFrames=2 } "
	    "right2left={ inOctets=10 inFrames=1 outOctets=30 outFrames=1 } "
	    "left2right={ outOctets=500 outFrames=5 } }");
	/* A hook that comes again begins at 0. */
	assert_int_equal(ngt_rmhook(".", "right2left"), 0);
	assert_int_equal(ngt_connect(".", "t:", "right2left", "right2left"),
	    0);
	memset(&ts.right2left, 0, sizeof(ts.right2left));
	expect_stats(NGM_TEE_GETCLR_STATS, &ts);
	expect_stats(NGM_TEE_GET_STATS, &none);
	assert_int_equal(ngt_send("left", data, 1), 0);
	assert_int_equal(ngt_ascii("t:", "clrstats"), 0);
	assert_null(ngt_reply());
	expect_stats(NGM_TEE_GET_STATS, &none);
	assert_int_equal(ngt_send("left2right", data, 7), 0);
	assert_int_equal(ngt_ascii("t:", "getclrstats"), 0);
	assert_string_equal(ngt_reply_text(),
	    "{ right={ outOctets=7 outFrames=1 } "
	    "left2right={ inOctets=7 inFrames=1 } }");
	expect_stats(NGM_TEE_GET_STATS, &none);
}

static void
test_messages(void **state)
{
	uint64_t stats[sizeof(struct ng_tee_stats) / 8];

	make_tee();
	assert_int_equal(ngt_msg("t:", NGM_TEE_COOKIE, 0, NULL, 0), EINVAL);
	assert_int_equal(ngt_msg("t:", NGM_TEE_COOKIE, 4, NULL, 0), EINVAL);
	assert_int_equal(ngt_msg("t:", 1, 1, NULL, 0), EINVAL);
	assert_int_equal(ngt_msg("t:", NGM_TEE_COOKIE, 1, "x", 1), EINVAL);
	for (int round = 0; round < 100; round++) {
		for (size_t i = 0; i < sizeof(stats) / 8; i++)
			stats[i] = ngt_random() >> (1 + ngt_random() % 63);
		ngt_roundtrip("t:", NGM_TEE_COOKIE, NGM_TEE_GET_STATS,
		    NGF_RESP, stats, sizeof(stats));
		ngt_roundtrip("t:", NGM_TEE_COOKIE, NGM_TEE_GETCLR_STATS,
		    NGF_RESP, stats, sizeof(stats));
	}
	ngt_roundtrip("t:", NGM_TEE_COOKIE, NGM_TEE_CLR_STATS, NGF_ORIG, "",
	    0);
}

static void
expect_flow(const char *path, uint32_t cmd)
{

	assert_int_equal(ngt_msg(path, NGM_FLOW_COOKIE, cmd, NULL, 0), 0);
	assert_non_null(ngt_reply());
	assert_int_equal(ngt_reply()->header.typecookie, NGM_FLOW_COOKIE);
	assert_int_equal(ngt_reply()->header.cmd, cmd);
}

static void
test_flow(void **state)
{

	make_tee();
	expect_flow("left", NGM_LINK_IS_UP);
	expect_flow("right", NGM_LINK_IS_DOWN);
	assert_int_equal(ngt_msg("left2right", NGM_FLOW_COOKIE,
	    NGM_LINK_IS_UP, NULL, 0), 0);
	assert_null(ngt_reply());
	assert_int_equal(ngt_msg("t:", NGM_FLOW_COOKIE, NGM_LINK_IS_UP, NULL,
	    0), 0);
	assert_null(ngt_reply());
	assert_int_equal(ngt_msg("left", NGM_FLOW_COOKIE, NGM_DROP_LINK, NULL,
	    0), EINVAL);
	assert_int_equal(ngt_rmhook(".", "right"), 0);
	assert_int_equal(ngt_msg("left", NGM_FLOW_COOKIE, NGM_LINK_IS_UP,
	    NULL, 0), 0);
	assert_null(ngt_reply());
}

static void
test_shutdown(void **state)
{

	make_tee();
	assert_int_equal(ngt_shutdown("t:"), 0);
	assert_int_equal(ngt_send("left", "hello", 5), 0);
	expect(0, 1, 0, 0);
	assert_int_equal(ngt_send("right", "hello", 5), 0);
	expect(1, 0, 0, 0);
	assert_int_equal(ngt_send("left2right", "hello", 5), ENOTCONN);
	assert_int_equal(ngt_rmhook(".", "left"), 0);
	assert_int_equal(ngt_send("right", "hello", 5), ENOTCONN);
}

static void
churn(unsigned int round)
{
	static const char *const names[] = { "left2right", "right2left" };
	const char *name = names[round / 2 % 2];

	if (round % 2 == 0)
		assert_int_equal(ngt_rmhook(".", name), 0);
	else
		assert_int_equal(ngt_connect(".", "t:", name, name), 0);
	if (round % 7 == 0)
		assert_int_equal(ngt_ascii("t:", "getclrstats"), 0);
	/* The middle of a chain goes under the packets. */
	if (round % 11 == 0) {
		assert_int_equal(ngt_shutdown("t:"), 0);
		assert_int_equal(ngt_rmhook(".", "left"), 0);
		make_tee();
		if (round % 2 == 0)
			assert_int_equal(ngt_rmhook(".", name), 0);
	}
}

static void
test_race(void **state)
{

	make_tee();
	ngt_race("left", "right", churn, 300);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_ways, ngt_test_reset),
		cmocka_unit_test_teardown(test_hooks, ngt_test_reset),
		cmocka_unit_test_teardown(test_stats, ngt_test_reset),
		cmocka_unit_test_teardown(test_messages, ngt_test_reset),
		cmocka_unit_test_teardown(test_flow, ngt_test_reset),
		cmocka_unit_test_teardown(test_shutdown, ngt_test_reset),
		cmocka_unit_test_teardown(test_race, ngt_test_reset),
	};

	return (cmocka_run_group_tests(tests, ngt_group_start, ngt_group_stop));
}
