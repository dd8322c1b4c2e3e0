/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * etf: frames by their type, both ways; filters and their errors, counters.
 */
#include "netgraph/nodes/ng_node_testlib.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <netgraph/ng_etf.h>

#include "netgraph/nodes/ng_nodes.h"

const struct ng_type *const ngt_types[] = { &ng_etf_type, NULL };

#define	MSG(cmd, arg, len)						\
	ngt_msg("etf:", NGM_ETF_COOKIE, (cmd), (arg), (len))

static void
make_node(void)
{

	ngt_make("etf", "etf", "downstream");
	ngt_join("etf", "nomatch");
	ngt_join("etf", "ip");
	ngt_join("etf", "arp");
}

static int
setfilter(const char *hook, unsigned int type)
{
	char text[128];

	snprintf(text, sizeof(text),
	    "setfilter { matchhook=\"%s\" ethertype=0x%x }", hook, type);
	return (ngt_ascii("etf:", text));
}

static int
send_type(const char *hook, unsigned int type)
{
	uint8_t frame[60] = { 2 };

	frame[12] = (uint8_t)(type >> 8);
	frame[13] = (uint8_t)type;
	return (ngt_send(hook, frame, sizeof(frame)));
}

static void
expect(const char *hook)
{

	assert_int_equal(ngt_count(hook), 1);
	ngt_clear();
}

static void
test_ways(void **state)
{

	make_node();
	assert_int_equal(setfilter("ip", 0x0800), 0);
	assert_int_equal(setfilter("ip", 0x86dd), 0);
	assert_int_equal(setfilter("arp", 0x0806), 0);
	assert_int_equal(send_type("downstream", 0x0800), 0);
	expect("ip");
	assert_int_equal(send_type("downstream", 0x86dd), 0);
	expect("ip");
	assert_int_equal(send_type("downstream", 0x0806), 0);
	expect("arp");
	assert_int_equal(send_type("downstream", 0x8847), 0);
	expect("nomatch");
	/* The other way each type by its own hook. */
	assert_int_equal(send_type("ip", 0x0800), 0);
	expect("downstream");
	assert_int_equal(send_type("nomatch", 0x8847), 0);
	expect("downstream");
	assert_int_equal(send_type("ip", 0x0806), EPROTOTYPE);
	assert_int_equal(send_type("ip", 0x8847), EPROTOTYPE);
	assert_int_equal(send_type("nomatch", 0x0800), EPROTOTYPE);
	assert_int_equal(ngt_send("ip", "short", 5), EINVAL);
	assert_int_equal(ngt_send("downstream", "short", 5), EINVAL);
	assert_int_equal(ngt_rmhook(".", "nomatch"), 0);
	assert_int_equal(send_type("downstream", 0x8847), ENOTCONN);
	/* Filters go with their hook. */
	ngt_join("etf", "nomatch");
	assert_int_equal(ngt_rmhook(".", "ip"), 0);
	assert_int_equal(send_type("downstream", 0x0800), 0);
	expect("nomatch");
	assert_int_equal(setfilter("arp", 0x0800), 0);
	assert_int_equal(ngt_rmhook(".", "downstream"), 0);
	assert_int_equal(send_type("arp", 0x0800), ENOTCONN);
}

static void
test_messages(void **state)
{
	struct ng_etffilter ef = { .ethertype = 5 };
	struct ng_etfstat es;
	uint32_t flag = 1;

	make_node();
	assert_int_equal(setfilter("nobody", 1), ENOENT);
	assert_int_equal(setfilter("downstream", 1), EINVAL);
	assert_int_equal(setfilter("nomatch", 1), 0);
	assert_int_equal(setfilter("ip", 2), 0);
	assert_int_equal(setfilter("ip", 2), EEXIST);
	assert_int_equal(setfilter("arp", 2), EEXIST);
	memset(ef.matchhook, 'x', sizeof(ef.matchhook));
	assert_int_equal(MSG(NGM_ETF_SET_FILTER, &ef, sizeof(ef)), ENOENT);
	assert_int_equal(MSG(NGM_ETF_SET_FLAG, &flag, sizeof(flag)), 0);
	assert_int_equal(ngt_ascii("etf:", "setflag 1"), 0);
	for (uint32_t cmd = 0; cmd <= 4; cmd++)
		assert_int_equal(MSG(cmd, "x", 1), EINVAL);
	assert_int_equal(MSG(4, NULL, 0), EINVAL);
	assert_int_equal(ngt_msg("etf:", 1, 1, NULL, 0), EINVAL);
	assert_int_equal(ngt_connect(".", "etf:", "x", "nomatch"), EEXIST);
	memset(ef.matchhook, 0, sizeof(ef.matchhook));
	for (int i = 0; i < 100; i++) {
		snprintf(ef.matchhook, sizeof(ef.matchhook), "hook%d", i);
		ef.ethertype = (uint16_t)ngt_random();
		ngt_roundtrip("etf:", NGM_ETF_COOKIE, NGM_ETF_SET_FILTER,
		    NGF_ORIG, &ef, sizeof(ef));
		es.packets_in = (uint32_t)ngt_random();
		es.packets_out = (uint32_t)ngt_random();
		ngt_roundtrip("etf:", NGM_ETF_COOKIE, NGM_ETF_GET_STATUS,
		    NGF_RESP, &es, sizeof(es));
	}
	ngt_roundtrip("etf:", NGM_ETF_COOKIE, NGM_ETF_SET_FLAG, NGF_ORIG,
	    &flag, sizeof(flag));
}

static void
expect_status(const char *text)
{

	assert_int_equal(ngt_ascii("etf:", "getstatus"), 0);
	assert_string_equal(ngt_reply_text(), text);
}

static void
test_status(void **state)
{

	make_node();
	expect_status("{}");
	assert_int_equal(setfilter("ip", 0x0800), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(send_type("downstream", 0x0800 + i), 0);
	assert_int_equal(send_type("ip", 0x0800), 0);
	assert_int_equal(send_type("ip", 0x0801), EPROTOTYPE);
	expect_status("{ packets_in=3 packets_out=1 }");
	assert_int_equal(ngt_rmhook(".", "downstream"), 0);
	expect_status("{ packets_in=3 packets_out=1 }");
	ngt_join("etf", "downstream");
	expect_status("{}");
}

static void
churn(unsigned int round)
{

	assert_int_equal(setfilter("ip", 0x0800), 0);
	assert_int_equal(setfilter("ip", round), 0);
	assert_int_equal(ngt_rmhook(".", "ip"), 0);
	ngt_join("etf", "ip");
}

static void
test_race(void **state)
{

	make_node();
	ngt_race("downstream", "nomatch", churn, 200);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_ways, ngt_test_reset),
		cmocka_unit_test_teardown(test_messages, ngt_test_reset),
		cmocka_unit_test_teardown(test_status, ngt_test_reset),
		cmocka_unit_test_teardown(test_race, ngt_test_reset),
	};

	return (cmocka_run_group_tests(tests, ngt_group_start, ngt_group_stop));
}
