/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * bridge: its messages, their texts and errors.
 */
#include "netgraph/nodes/ng_bridge_testlib.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "netgraph/nodes/ng_nodes.h"

const struct ng_type *const ngt_types[] = { &ng_bridge_type, NULL };

static void
test_table_text(void **state)
{

	make_abc();
	assert_int_equal(ngt_ascii("br:", "gettable"), 0);
	assert_string_equal(ngt_reply_text(), "{}");
	assert_int_equal(ngt_send_frame("b", NGT_BCAST, NGT_HOST(1)), 0);
	assert_int_equal(ngt_ascii("br:", "gettable"), 0);
	assert_string_equal(ngt_reply_text(), "{ numHosts=1 hosts=[ "
	    "{ addr=02:04:06:00:00:01 hook=\"link1\" } ] }");
}

static void
test_config(void **state)
{
	struct ng_bridge_config conf;

	make_abc();
	assert_int_equal(ngt_ascii("br:", "getconfig"), 0);
	assert_string_equal(ngt_reply_text(), "{ debugLevel=1 loopTimeout=60 "
	    "maxStaleness=900 minStableAge=1 }");
	assert_int_equal(ngt_ascii("br:",
	    "setconfig { maxStaleness=5 debugLevel=3 }"), 0);
	ngt_get("br:", NGM_BRIDGE_COOKIE, NGM_BRIDGE_GET_CONFIG, NULL, 0,
	    &conf, sizeof(conf));
	assert_int_equal(conf.debugLevel, 3);
	assert_int_equal(conf.loopTimeout, 0);
	assert_int_equal(conf.maxStaleness, 5);
	assert_int_equal(conf.minStableAge, 0);
	assert_int_equal(ngt_msg("br:", NGM_BRIDGE_COOKIE,
	    NGM_BRIDGE_SET_CONFIG, &conf, sizeof(conf) - 1), EINVAL);
}

static void
test_movehost(void **state)
{
	struct ng_bridge_move_host mh;

	make_abc();
	assert_int_equal(ngt_ascii("br:",
	    "movehost { addr=2:4:6:0:0:9 hook=\"link1\" }"), 0);
	assert_string_equal(host(NGT_HOST(9))->hook, "link1");
	/* Too young to move: link0 is muted. */
	assert_int_equal(ngt_ascii("br:",
	    "movehost { addr=2:4:6:0:0:9 hook=\"link0\" }"), ELOOP);
	assert_int_equal(stats(0).loopDetects, 1);
	setconfig(1, 60, 900, 0);
	memset(&mh, 0, sizeof(mh));
	memcpy(mh.addr, ngt_frame(NGT_HOST(9), 0), 6);
	/* By the hook of arrival, which the path says. */
	assert_int_equal(ngt_msg("c", NGM_BRIDGE_COOKIE, NGM_BRIDGE_MOVE_HOST,
	    &mh, sizeof(mh)), 0);
	assert_string_equal(host(NGT_HOST(9))->hook, "link2");
	assert_int_equal(ngt_msg("br:", NGM_BRIDGE_COOKIE,
	    NGM_BRIDGE_MOVE_HOST, &mh, sizeof(mh)), ENOENT);
	memset(mh.hook, 'x', sizeof(mh.hook));
	assert_int_equal(ngt_msg("br:", NGM_BRIDGE_COOKIE,
	    NGM_BRIDGE_MOVE_HOST, &mh, sizeof(mh)), ENOENT);
	assert_int_equal(ngt_msg("c", NGM_BRIDGE_COOKIE, NGM_BRIDGE_MOVE_HOST,
	    &mh, sizeof(mh) - 1), EINVAL);
	memset(&mh, 0, sizeof(mh));
	mh.addr[0] = 1;
	assert_int_equal(ngt_msg("c", NGM_BRIDGE_COOKIE, NGM_BRIDGE_MOVE_HOST,
	    &mh, sizeof(mh)), EINVAL);
}

static void
test_messages(void **state)
{
	int32_t link = 7;

	make_abc();
	for (uint32_t cmd = NGM_BRIDGE_GET_STATS;
	    cmd <= NGM_BRIDGE_GETCLR_STATS; cmd++) {
		assert_int_equal(ngt_msg("br:", NGM_BRIDGE_COOKIE, cmd, &link,
		    4), ENOTCONN);
		assert_int_equal(ngt_msg("br:", NGM_BRIDGE_COOKIE, cmd, &link,
		    3), EINVAL);
		assert_int_equal(ngt_msg("br:", NGM_BRIDGE_COOKIE, cmd, NULL,
		    0), EINVAL);
	}
	link = INT32_MIN;
	assert_int_equal(ngt_msg("br:", NGM_BRIDGE_COOKIE,
	    NGM_BRIDGE_GET_STATS, &link, 4), ENOTCONN);
	assert_int_equal(ngt_msg("br:", NGM_BRIDGE_COOKIE, NGM_BRIDGE_RESET,
	    &link, 4), EINVAL);
	assert_int_equal(ngt_msg("br:", NGM_BRIDGE_COOKIE, 0, NULL, 0),
	    EINVAL);
	assert_int_equal(ngt_msg("br:", NGM_BRIDGE_COOKIE, 10, NULL, 0),
	    EINVAL);
	/* The cookie of old, and one that is nobody's. */
	assert_int_equal(ngt_msg("br:", 967239368, NGM_BRIDGE_GET_TABLE, NULL,
	    0), EINVAL);
	assert_int_equal(ngt_msg("br:", 1, 1, NULL, 0), EINVAL);
	assert_int_equal(ngt_ascii("br:", "settable"), ENOSYS);
}

/* A table of random hosts, as a reply has it. */
static size_t
random_table(void *to)
{
	struct ng_bridge_host_ary *ary = to;

	ary->numHosts = (uint32_t)(ngt_random() % 5);
	for (uint32_t i = 0; i < ary->numHosts; i++) {
		struct ng_bridge_host *bh = &ary->hosts[i];

		memset(bh, 0, sizeof(*bh));
		memcpy(bh->addr, ngt_frame(ngt_random(), 0), 6);
		snprintf(bh->hook, sizeof(bh->hook), "link%u",
		    (unsigned int)(ngt_random() % 100));
		bh->age = (uint16_t)ngt_random();
		bh->staleness = (uint16_t)(ngt_random() % 2);
	}
	return (sizeof(*ary) + ary->numHosts * sizeof(ary->hosts[0]));
}

static void
test_roundtrip(void **state)
{
	uint64_t data[64];
	struct ng_bridge_config conf;
	struct ng_bridge_move_host mh;
	int32_t link;

	make_abc();
	for (int round = 0; round < 100; round++) {
		memset(&conf, 0, sizeof(conf));
		conf.debugLevel = (uint8_t)ngt_random();
		conf.loopTimeout = (uint32_t)ngt_random();
		conf.maxStaleness = (uint32_t)ngt_random();
		conf.minStableAge = (uint32_t)(ngt_random() % 2);
		ngt_roundtrip("br:", NGM_BRIDGE_COOKIE, NGM_BRIDGE_SET_CONFIG,
		    NGF_ORIG, &conf, sizeof(conf));
		ngt_roundtrip("br:", NGM_BRIDGE_COOKIE, NGM_BRIDGE_GET_CONFIG,
		    NGF_RESP, &conf, sizeof(conf));
		link = (int32_t)ngt_random();
		ngt_roundtrip("br:", NGM_BRIDGE_COOKIE,
		    NGM_BRIDGE_GET_STATS + (uint32_t)round % 3, NGF_ORIG,
		    &link, sizeof(link));
		for (int i = 0; i < 14; i++)
			data[i] = ngt_random() >> (1 + ngt_random() % 63);
		ngt_roundtrip("br:", NGM_BRIDGE_COOKIE,
		    round % 2 == 0 ? NGM_BRIDGE_GET_STATS :
		    NGM_BRIDGE_GETCLR_STATS, NGF_RESP, data, 14 * 8);
		ngt_roundtrip("br:", NGM_BRIDGE_COOKIE, NGM_BRIDGE_GET_TABLE,
		    NGF_RESP, data, random_table(data));
		memset(&mh, 0, sizeof(mh));
		memcpy(mh.addr, ngt_frame(ngt_random(), 0), 6);
		snprintf(mh.hook, sizeof(mh.hook), "l%ju",
		    (uintmax_t)ngt_random());
		ngt_roundtrip("br:", NGM_BRIDGE_COOKIE, NGM_BRIDGE_MOVE_HOST,
		    NGF_ORIG, &mh, sizeof(mh));
	}
	ngt_roundtrip("br:", NGM_BRIDGE_COOKIE, NGM_BRIDGE_RESET, NGF_ORIG,
	    "", 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_table_text, ngt_test_reset),
		cmocka_unit_test_teardown(test_config, ngt_test_reset),
		cmocka_unit_test_teardown(test_movehost, ngt_test_reset),
		cmocka_unit_test_teardown(test_messages, ngt_test_reset),
		cmocka_unit_test_teardown(test_roundtrip, ngt_test_reset),
	};

	return (cmocka_run_group_tests(tests, ngt_group_start, ngt_group_stop));
}
