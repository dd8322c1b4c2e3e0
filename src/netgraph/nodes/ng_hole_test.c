/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * hole: what goes in is counted and gone.
 */
#include "netgraph/nodes/ng_node_testlib.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <netgraph/ng_hole.h>

#include "netgraph/nodes/ng_nodes.h"

const struct ng_type *const ngt_types[] = { &ng_hole_type, NULL };

static void
expect_stats(uint32_t cmd, const char *hook, uint64_t frames, uint64_t octets)
{
	struct ng_hole_hookstat hs;
	char name[NG_HOOKSIZ] = { 0 };

	snprintf(name, sizeof(name), "%s", hook);
	ngt_get("h:", NGM_HOLE_COOKIE, cmd, name, sizeof(name), &hs,
	    sizeof(hs));
	assert_int_equal(hs.frames, frames);
	assert_int_equal(hs.octets, octets);
}

static void
make_hole(void)
{

	assert_int_equal(ngt_mkpeer(".", "hole", "a", "x"), 0);
	assert_int_equal(ngt_name("a", "h"), 0);
	assert_int_equal(ngt_connect(".", "h:", "b", "y"), 0);
}

static void
test_stats(void **state)
{

	make_hole();
	assert_int_equal(ngt_send_burst("a", "hello", 5, 10), 0);
	assert_int_equal(ngt_send("b", "hello", 3), 0);
	assert_int_equal(ngt_count("a") + ngt_count("b"), 0);
	expect_stats(NGM_HOLE_GET_STATS, "x", 10, 50);
	expect_stats(NGM_HOLE_GETCLR_STATS, "x", 10, 50);
	expect_stats(NGM_HOLE_GET_STATS, "x", 0, 0);
	expect_stats(NGM_HOLE_GET_STATS, "y", 1, 3);
	assert_int_equal(ngt_ascii("h:", "getstats \"y\""), 0);
	assert_string_equal(ngt_reply_text(), "{ frames=1 octets=3 }");
	assert_int_equal(ngt_ascii("h:", "getclrstats \"y\""), 0);
	assert_string_equal(ngt_reply_text(), "{ frames=1 octets=3 }");
	assert_int_equal(ngt_ascii("h:", "getstats \"y\""), 0);
	assert_string_equal(ngt_reply_text(), "{}");
	assert_int_equal(ngt_send("b", "hello", 3), 0);
	assert_int_equal(ngt_ascii("h:", "clrstats \"y\""), 0);
	assert_null(ngt_reply());
	expect_stats(NGM_HOLE_GET_STATS, "y", 0, 0);
}

static void
test_messages(void **state)
{
	char name[NG_HOOKSIZ] = "nobody";
	uint64_t stat[2];
	struct nodeinfo ni;

	make_hole();
	assert_int_equal(ngt_msg("h:", NGM_HOLE_COOKIE, NGM_HOLE_GET_STATS,
	    name, sizeof(name)), ENOENT);
	assert_int_equal(ngt_msg("h:", NGM_HOLE_COOKIE, NGM_HOLE_GET_STATS,
	    name, sizeof(name) - 1), EINVAL);
	memset(name, 'x', sizeof(name));
	assert_int_equal(ngt_msg("h:", NGM_HOLE_COOKIE, NGM_HOLE_GET_STATS,
	    name, sizeof(name)), ENOENT);
	assert_int_equal(ngt_msg("h:", NGM_HOLE_COOKIE, 4, name,
	    sizeof(name)), EINVAL);
	assert_int_equal(ngt_msg("h:", 3, NGM_HOLE_GET_STATS, name,
	    sizeof(name)), EINVAL);
	for (int i = 0; i < 100; i++) {
		memset(name, 0, sizeof(name));
		snprintf(name, sizeof(name), "h\"%ju",
		    (uintmax_t)ngt_random());
		ngt_roundtrip("h:", NGM_HOLE_COOKIE, NGM_HOLE_GET_STATS + i % 3,
		    NGF_ORIG, name, sizeof(name));
		stat[0] = ngt_random() >> (1 + ngt_random() % 63);
		stat[1] = ngt_random() >> (1 + ngt_random() % 63);
		ngt_roundtrip("h:", NGM_HOLE_COOKIE, NGM_HOLE_GET_STATS,
		    NGF_RESP, stat, sizeof(stat));
		ngt_roundtrip("h:", NGM_HOLE_COOKIE, NGM_HOLE_GETCLR_STATS,
		    NGF_RESP, stat, sizeof(stat));
	}
	assert_int_equal(ngt_rmhook(".", "a"), 0);
	assert_int_equal(ngt_rmhook(".", "b"), 0);
	assert_int_equal(ngt_nodeinfo("h:", &ni), ENOENT);
}

static void
churn(unsigned int round)
{

	if (round % 2 == 0)
		assert_int_equal(ngt_rmhook(".", "a"), 0);
	else
		assert_int_equal(ngt_connect(".", "h:", "a", "x"), 0);
	assert_int_equal(ngt_ascii("h:", "getclrstats \"y\""), 0);
}

static void
test_race(void **state)
{

	make_hole();
	ngt_race("a", "b", churn, 300);
	assert_int_equal(ngt_count("a") + ngt_count("b"), 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_stats, ngt_test_reset),
		cmocka_unit_test_teardown(test_messages, ngt_test_reset),
		cmocka_unit_test_teardown(test_race, ngt_test_reset),
	};

	return (cmocka_run_group_tests(tests, ngt_group_start, ngt_group_stop));
}
