/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * one2many: the three algorithms, which links are active, counters.
 */
#include "netgraph/nodes/ng_node_testlib.h"

#include <errno.h>
#include <stdio.h>

#include <netgraph/ng_one2many.h>

#include "netgraph/nodes/ng_nodes.h"

const struct ng_type *const ngt_types[] = { &ng_one2many_type, NULL };

#define	LINKS	3

static void
make_o2m(void)
{
	char name[NG_HOOKSIZ];

	ngt_make("one2many", "o", "one");
	for (int i = 0; i < LINKS; i++) {
		snprintf(name, sizeof(name), "many%d", i);
		ngt_join("o", name);
	}
}

static void
expect(unsigned int one, unsigned int m0, unsigned int m1, unsigned int m2)
{

	assert_int_equal(ngt_count("one"), one);
	assert_int_equal(ngt_count("many0"), m0);
	assert_int_equal(ngt_count("many1"), m1);
	assert_int_equal(ngt_count("many2"), m2);
	ngt_clear();
}

static int
setconfig(uint32_t xmitalg, uint32_t failalg, int m0, int m1, int m2)
{
	struct ng_one2many_config conf = {
		.xmitAlg = xmitalg, .failAlg = failalg,
		.enabledLinks = { (uint8_t)m0, (uint8_t)m1, (uint8_t)m2 },
	};

	return (ngt_msg("o:", NGM_ONE2MANY_COOKIE, NGM_ONE2MANY_SET_CONFIG,
	    &conf, sizeof(conf)));
}

/* Bursts of any length: after each, all links are served but for one. */
static void
test_roundrobin(void **state)
{
	unsigned int n, sent = 0, count[LINKS], low, high;
	const char *const names[] = { "many0", "many1", "many2" };

	make_o2m();
	for (int round = 0; round < 100; round++) {
		n = 1 + (unsigned int)(ngt_random() % NG_BURST);
		assert_int_equal(ngt_send_burst("one", "hello", 5, n), 0);
		sent += n;
		low = UINT32_MAX;
		high = 0;
		for (int i = 0; i < LINKS; i++) {
			count[i] = ngt_count(names[i]);
			low = count[i] < low ? count[i] : low;
			high = count[i] > high ? count[i] : high;
		}
		assert_int_equal(count[0] + count[1] + count[2], sent);
		assert_true(high - low <= 1);
	}
	ngt_clear();
	assert_int_equal(setconfig(1, 1, 0, 1, 0), 0);
	assert_int_equal(ngt_send_burst("one", "hello", 5, 7), 0);
	expect(0, 0, 7, 0);
	assert_int_equal(setconfig(1, 1, 7, 0, 1), 0);
	assert_int_equal(ngt_send_burst("one", "hello", 5, 8), 0);
	expect(0, 4, 0, 4);
}

static void
test_all(void **state)
{
	const struct mbuf *m;

	make_o2m();
	assert_int_equal(setconfig(2, 1, 1, 1, 1), 0);
	assert_int_equal(ngt_send_burst("one", "hello", 5, 9), 0);
	m = ngt_last("many1");
	assert_memory_equal(m->m_data, "hello", 5);
	expect(0, 9, 9, 9);
	assert_int_equal(setconfig(2, 1, 1, 0, 1), 0);
	assert_int_equal(ngt_send("one", "hello", 5), 0);
	expect(0, 1, 0, 1);
}

static void
test_failover(void **state)
{

	make_o2m();
	assert_int_equal(setconfig(3, 1, 1, 1, 1), 0);
	assert_int_equal(ngt_send_burst("one", "hello", 5, 9), 0);
	expect(0, 9, 0, 0);
	assert_int_equal(ngt_rmhook(".", "many0"), 0);
	assert_int_equal(ngt_send_burst("one", "hello", 5, 9), 0);
	expect(0, 0, 9, 0);
	/* A link that is connected is enabled, and so first again. */
	assert_int_equal(ngt_connect(".", "o:", "many0", "many0"), 0);
	assert_int_equal(ngt_send("one", "hello", 5), 0);
	expect(0, 1, 0, 0);
	assert_int_equal(setconfig(3, 1, 0, 0, 0), 0);
	assert_int_equal(ngt_send("one", "hello", 5), ENOTCONN);
	expect(0, 0, 0, 0);
	/* The other way all links are open, whatever is enabled. */
	assert_int_equal(ngt_send_burst("many1", "hello", 5, 3), 0);
	expect(3, 0, 0, 0);
	assert_int_equal(ngt_rmhook(".", "one"), 0);
	assert_int_equal(ngt_send("many1", "hello", 5), ENOTCONN);
}

static void
test_notify(void **state)
{

	make_o2m();
	assert_int_equal(setconfig(3, 2, 1, 1, 0), 0);
	assert_int_equal(ngt_msg("many0", NGM_FLOW_COOKIE, NGM_LINK_IS_DOWN,
	    NULL, 0), 0);
	assert_null(ngt_reply());
	assert_int_equal(ngt_send("one", "hello", 5), 0);
	expect(0, 0, 1, 0);
	/* The last one goes down: one is told. */
	assert_int_equal(ngt_msg("many1", NGM_FLOW_COOKIE, NGM_LINK_IS_DOWN,
	    NULL, 0), 0);
	assert_non_null(ngt_reply());
	assert_int_equal(ngt_reply()->header.typecookie, NGM_FLOW_COOKIE);
	assert_int_equal(ngt_reply()->header.cmd, NGM_LINK_IS_DOWN);
	assert_int_equal(ngt_send("one", "hello", 5), ENOTCONN);
	assert_int_equal(ngt_msg("many2", NGM_FLOW_COOKIE, NGM_LINK_IS_UP,
	    NULL, 0), 0);
	assert_non_null(ngt_reply());
	assert_int_equal(ngt_reply()->header.cmd, NGM_LINK_IS_UP);
	assert_int_equal(ngt_send("one", "hello", 5), 0);
	expect(0, 0, 0, 1);
	assert_int_equal(ngt_ascii("o:", "getconfig"), 0);
	assert_string_equal(ngt_reply_text(),
	    "{ xmitAlg=3 failAlg=2 enabledLinks=[ 2=1 ] }");
	/* By one, by no hook, or set by hand: nothing changes. */
	assert_int_equal(ngt_msg("one", NGM_FLOW_COOKIE, NGM_LINK_IS_DOWN,
	    NULL, 0), 0);
	assert_int_equal(ngt_msg("o:", NGM_FLOW_COOKIE, NGM_LINK_IS_DOWN,
	    NULL, 0), 0);
	assert_int_equal(ngt_msg("many2", NGM_FLOW_COOKIE, NGM_DROP_LINK,
	    NULL, 0), EINVAL);
	assert_int_equal(setconfig(3, 1, 0, 0, 1), 0);
	assert_int_equal(ngt_msg("many2", NGM_FLOW_COOKIE, NGM_LINK_IS_DOWN,
	    NULL, 0), 0);
	assert_int_equal(ngt_send("one", "hello", 5), 0);
	expect(0, 0, 0, 1);
	/* Setting by hand and connecting tell one, too. */
	assert_int_equal(setconfig(3, 1, 0, 0, 0), 0);
	assert_non_null(ngt_reply());
	assert_int_equal(ngt_reply()->header.cmd, NGM_LINK_IS_DOWN);
	assert_int_equal(ngt_connect(".", "o:", "many63", "many63"), 0);
	assert_non_null(ngt_reply());
	assert_int_equal(ngt_reply()->header.cmd, NGM_LINK_IS_UP);
}

static void
test_hooks(void **state)
{
	static const char *const wrong[] = { "many", "many64", "many01",
		"many-1", "manyx", "many1x", "two", "many4294967296", "One" };
	struct nodeinfo ni;

	make_o2m();
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(ngt_connect(".", "o:", "x", wrong[i]),
		    EINVAL);
	assert_int_equal(ngt_connect(".", "o:", "x", "many0"), EEXIST);
	assert_int_equal(ngt_connect(".", "o:", "x", "one"), EEXIST);
	assert_int_equal(ngt_connect(".", "o:", "many63", "many63"), 0);
	assert_int_equal(ngt_rmhook(".", "many63"), 0);
	assert_int_equal(ngt_rmhook(".", "one"), 0);
	for (int i = 0; i < LINKS; i++) {
		char name[NG_HOOKSIZ];

		assert_int_equal(ngt_nodeinfo("o:", &ni), 0);
		snprintf(name, sizeof(name), "many%d", i);
		assert_int_equal(ngt_rmhook(".", name), 0);
	}
	assert_int_equal(ngt_nodeinfo("o:", &ni), ENOENT);
}

static void
expect_stats(uint32_t cmd, int32_t link, uint64_t recv, uint64_t xmit)
{
	struct ng_one2many_link_stats st;

	ngt_get("o:", NGM_ONE2MANY_COOKIE, cmd, &link, sizeof(link), &st,
	    sizeof(st));
	assert_int_equal(st.recvPackets, recv);
	assert_int_equal(st.recvOctets, recv * 5);
	assert_int_equal(st.xmitPackets, xmit);
	assert_int_equal(st.xmitOctets, xmit * 5);
	assert_int_equal(st.memoryFailures, 0);
}

static void
test_stats(void **state)
{
	static const int32_t wrong[] = { -2, 64, INT32_MAX, INT32_MIN };
	int32_t link = 0;

	make_o2m();
	assert_int_equal(setconfig(2, 1, 1, 1, 0), 0);
	assert_int_equal(ngt_send_burst("one", "hello", 5, 10), 0);
	assert_int_equal(ngt_send_burst("many2", "hello", 5, 4), 0);
	expect_stats(NGM_ONE2MANY_GET_STATS, -1, 10, 4);
	expect_stats(NGM_ONE2MANY_GET_STATS, 0, 0, 10);
	expect_stats(NGM_ONE2MANY_GETCLR_STATS, 1, 0, 10);
	expect_stats(NGM_ONE2MANY_GET_STATS, 1, 0, 0);
	expect_stats(NGM_ONE2MANY_GET_STATS, 2, 4, 0);
	expect_stats(NGM_ONE2MANY_GETCLR_STATS, 63, 0, 0);
	assert_int_equal(ngt_ascii("o:", "getstats -1"), 0);
	assert_string_equal(ngt_reply_text(), "{ recvOctets=50 recvPackets=10 "
	    "xmitOctets=20 xmitPackets=4 }");
	assert_int_equal(ngt_ascii("o:", "clrstats 63"), 0);
	assert_int_equal(ngt_ascii("o:", "clrstats 2"), 0);
	assert_null(ngt_reply());
	assert_int_equal(ngt_ascii("o:", "getclrstats 2"), 0);
	assert_string_equal(ngt_reply_text(), "{}");
	/* A link that comes again begins at 0. */
	assert_int_equal(ngt_rmhook(".", "many0"), 0);
	assert_int_equal(ngt_connect(".", "o:", "many0", "many0"), 0);
	expect_stats(NGM_ONE2MANY_GET_STATS, 0, 0, 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(ngt_msg("o:", NGM_ONE2MANY_COOKIE,
		    NGM_ONE2MANY_GET_STATS, &wrong[i], 4), EINVAL);
	assert_int_equal(ngt_msg("o:", NGM_ONE2MANY_COOKIE,
	    NGM_ONE2MANY_GET_STATS, &link, 3), EINVAL);
}

static void
test_messages(void **state)
{
	struct ng_one2many_config conf;
	uint64_t stats[5];

	make_o2m();
	/* Two links, as a script writes it; the rest is off. */
	assert_int_equal(ngt_ascii("o:",
	    "setconfig { xmitAlg=3 failAlg=1 enabledLinks=[ 1 1 ] }"), 0);
	assert_int_equal(ngt_ascii("o:", "getconfig"), 0);
	assert_string_equal(ngt_reply_text(),
	    "{ xmitAlg=3 failAlg=1 enabledLinks=[ 1 1 ] }");
	assert_int_equal(setconfig(0, 1, 1, 1, 1), EINVAL);
	assert_int_equal(setconfig(4, 1, 1, 1, 1), EINVAL);
	assert_int_equal(setconfig(1, 0, 1, 1, 1), EINVAL);
	assert_int_equal(setconfig(1, 3, 1, 1, 1), EINVAL);
	assert_int_equal(setconfig(2, 2, 9, 0, 255), 0);
	ngt_get("o:", NGM_ONE2MANY_COOKIE, NGM_ONE2MANY_GET_CONFIG, NULL, 0,
	    &conf, sizeof(conf));
	assert_int_equal(conf.xmitAlg, 2);
	assert_int_equal(conf.failAlg, 2);
	assert_memory_equal(conf.enabledLinks, "\1\0\1\0", 4);
	assert_int_equal(ngt_msg("o:", NGM_ONE2MANY_COOKIE,
	    NGM_ONE2MANY_SET_CONFIG, &conf, sizeof(conf) - 1), EINVAL);
	assert_int_equal(ngt_msg("o:", NGM_ONE2MANY_COOKIE,
	    NGM_ONE2MANY_GET_CONFIG, &conf, 1), EINVAL);
	assert_int_equal(ngt_msg("o:", NGM_ONE2MANY_COOKIE, 5, NULL, 0),
	    EINVAL);
	assert_int_equal(ngt_msg("o:", 5, 1, NULL, 0), EINVAL);
	for (int i = 0; i < 100; i++) {
		uint8_t *p = (uint8_t *)&conf;
		int32_t link = (int32_t)ngt_random();

		for (size_t j = 0; j < sizeof(conf); j++)
			p[j] = ngt_random() % 2 ? 0 : (uint8_t)ngt_random();
		ngt_roundtrip("o:", NGM_ONE2MANY_COOKIE,
		    NGM_ONE2MANY_SET_CONFIG, NGF_ORIG, &conf, sizeof(conf));
		ngt_roundtrip("o:", NGM_ONE2MANY_COOKIE,
		    NGM_ONE2MANY_GET_CONFIG, NGF_RESP, &conf, sizeof(conf));
		for (int j = 0; j < 5; j++)
			stats[j] = ngt_random() >> (1 + ngt_random() % 63);
		ngt_roundtrip("o:", NGM_ONE2MANY_COOKIE,
		    NGM_ONE2MANY_GET_STATS, NGF_RESP, stats, sizeof(stats));
		ngt_roundtrip("o:", NGM_ONE2MANY_COOKIE,
		    NGM_ONE2MANY_GET_STATS + (uint32_t)i % 3, NGF_ORIG, &link,
		    sizeof(link));
	}
}

static void
churn(unsigned int round)
{
	char name[NG_HOOKSIZ];

	snprintf(name, sizeof(name), "many%u", round / 2 % 3);
	if (round % 2 == 0)
		assert_int_equal(ngt_rmhook(".", name), 0);
	else
		assert_int_equal(ngt_connect(".", "o:", name, name), 0);
	if (round % 5 == 0)
		assert_int_equal(setconfig(1 + round / 5 % 3, 1, 1, 1, 1), 0);
}

static void
test_race(void **state)
{

	make_o2m();
	ngt_race("one", "many2", churn, 300);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_roundrobin, ngt_test_reset),
		cmocka_unit_test_teardown(test_all, ngt_test_reset),
		cmocka_unit_test_teardown(test_failover, ngt_test_reset),
		cmocka_unit_test_teardown(test_notify, ngt_test_reset),
		cmocka_unit_test_teardown(test_hooks, ngt_test_reset),
		cmocka_unit_test_teardown(test_stats, ngt_test_reset),
		cmocka_unit_test_teardown(test_messages, ngt_test_reset),
		cmocka_unit_test_teardown(test_race, ngt_test_reset),
	};

	return (cmocka_run_group_tests(tests, ngt_group_start, ngt_group_stop));
}
