/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * macfilter: where addresses are directed to, counted and listed, the hooks and
 * their numbers, as the texts of scripts have it.
 */
#include "netgraph/nodes/ng_node_testlib.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netgraph/ng_macfilter.h>

#include "netgraph/nodes/ng_nodes.h"

const struct ng_type *const ngt_types[] = { &ng_macfilter_type, NULL };

#define	MSG(cmd, arg, len)						\
	ngt_msg("mf:", NGM_MACFILTER_COOKIE, (cmd), (arg), (len))

static void
make_node(void)
{

	ngt_make("macfilter", "mf", "ether");
	ngt_join("mf", "default");
	ngt_join("mf", "out1");
	ngt_join("mf", "out2");
	ngt_join("mf", "out3");
}

static int
direct(const char *hook, unsigned int host)
{
	char text[128];

	snprintf(text, sizeof(text),
	    "direct { hookname=\"%s\" ether=02:04:06:00:%02x:%02x }", hook,
	    host >> 8, host & 0xff);
	return (ngt_ascii("mf:", text));
}

static void
expect_text(const char *command, const char *text)
{

	assert_int_equal(ngt_ascii("mf:", command), 0);
	assert_non_null(ngt_reply_text());
	assert_string_equal(ngt_reply_text(), text);
}

static void
test_ways(void **state)
{

	make_node();
	assert_int_equal(direct("out1", 1), 0);
	assert_int_equal(direct("out2", 2), 0);
	assert_int_equal(ngt_send_frame("ether", NGT_BCAST, NGT_HOST(1)), 0);
	assert_int_equal(ngt_send_frame("ether", NGT_HOST(1), NGT_HOST(2)),
	    0);
	assert_int_equal(ngt_send_frame("ether", NGT_HOST(2), NGT_HOST(3)),
	    0);
	assert_int_equal(ngt_count("out1"), 1);
	assert_int_equal(ngt_count("out2"), 1);
	assert_int_equal(ngt_count("default"), 1);
	/* Up is by any hook, whatever the source. */
	assert_int_equal(ngt_send_frame("out3", NGT_HOST(1), NGT_HOST(9)), 0);
	assert_int_equal(ngt_send_frame("default", NGT_HOST(7), NGT_HOST(9)),
	    0);
	assert_int_equal(ngt_count("ether"), 2);
	expect_text("getmacs", "{ n=2 macs=[ { ether=02:04:06:00:00:01 "
	    "hookid=1 packets_in=1 bytes_in=84 packets_out=1 bytes_out=84 } "
	    "{ ether=02:04:06:00:00:02 hookid=2 packets_in=1 bytes_in=84 } "
	    "] }");
	assert_int_equal(ngt_send("ether", "short", 5), EINVAL);
	assert_int_equal(ngt_send("out1", "short", 5), EINVAL);
	/* Nobody there is no error. */
	assert_int_equal(ngt_rmhook(".", "default"), 0);
	assert_int_equal(ngt_send_frame("ether", NGT_HOST(2), NGT_HOST(3)),
	    0);
	assert_int_equal(ngt_rmhook(".", "ether"), 0);
	assert_int_equal(ngt_send_frame("out1", NGT_HOST(2), NGT_HOST(3)),
	    0);
}

static void
test_burst(void **state)
{
	uint64_t dst[NG_BURST], src[NG_BURST];

	make_node();
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(direct(i == 0 ? "out1" : i == 1 ? "out2" :
		    "out3", i), 0);
	for (unsigned int i = 0; i < NG_BURST; i++) {
		dst[i] = NGT_HOST(99);
		src[i] = NGT_HOST(i % 4);
	}
	assert_int_equal(ngt_send_frames("ether", dst, src, NG_BURST), 0);
	assert_int_equal(ngt_count("out1"), NG_BURST / 4);
	assert_int_equal(ngt_count("out2"), NG_BURST / 4);
	assert_int_equal(ngt_count("out3"), NG_BURST / 4);
	assert_int_equal(ngt_count("default"), NG_BURST / 4);
}

static void
test_hooks(void **state)
{
	char name[NG_HOOKSIZ];

	make_node();
	expect_text("gethooks", "{ n=4 hooks=[ { hookname=\"default\" } "
	    "{ hookname=\"out1\" hookid=1 } { hookname=\"out2\" hookid=2 } "
	    "{ hookname=\"out3\" hookid=3 } ] }");
	assert_int_equal(ngt_connect(".", "mf:", "x", "default"), EEXIST);
	assert_int_equal(ngt_connect(".", "mf:", "x", "ether"), EEXIST);
	/* The lowest number that is free. */
	assert_int_equal(ngt_rmhook(".", "out2"), 0);
	ngt_join("mf", "xxx1");
	ngt_join("mf", "xxx2");
	expect_text("gethooks", "{ n=5 hooks=[ { hookname=\"default\" } "
	    "{ hookname=\"out1\" hookid=1 } { hookname=\"xxx1\" hookid=2 } "
	    "{ hookname=\"out3\" hookid=3 } { hookname=\"xxx2\" hookid=4 } "
	    "] }");
	for (int i = 10; i <= 42; i++) {
		snprintf(name, sizeof(name), "xxx%d", i);
		ngt_join("mf", name);
	}
	assert_int_equal(MSG(NGM_MACFILTER_GET_HOOKS, NULL, 0), 0);
	assert_int_equal(ngt_reply()->header.arglen, 4 + 38 * 40);
	for (int i = 10; i <= 42; i++) {
		snprintf(name, sizeof(name), "xxx%d", i);
		assert_int_equal(ngt_rmhook(".", name), 0);
	}
	assert_int_equal(ngt_rmhook(".", "default"), 0);
	expect_text("gethooks", "{ n=4 hooks=[ { hookname=\"out1\" hookid=1 }"
	    " { hookname=\"xxx1\" hookid=2 } { hookname=\"out3\" hookid=3 } "
	    "{ hookname=\"xxx2\" hookid=4 } ] }");
}

/* The counts of out1, out2, out3 and their sum, as the texts have them. */
static void
expect_counts(const unsigned int *want)
{
	char text[64];
	const char *p;
	unsigned int n;

	assert_int_equal(ngt_ascii("mf:", "gethooks"), 0);
	for (unsigned int i = 1; i <= 3; i++) {
		snprintf(text, sizeof(text), "hookname=\"out%u\" hookid=%u", i,
		    i);
		p = strstr(ngt_reply_text(), text);
		assert_non_null(p);
		p += strlen(text);
		n = strncmp(p, " maccnt=", 8) == 0 ?
		    (unsigned int)strtoul(p + 8, NULL, 10) : 0;
		assert_int_equal(n, want[i]);
	}
}

/* 7 times 72 addresses, moved about at random, against a list of our own. */
static void
test_directs(void **state)
{
	unsigned int where[504] = { 0 }, count[4], to;
	char hook[NG_HOOKSIZ];

	make_node();
	for (int round = 0; round < 8; round++) {
		for (unsigned int i = 0; i < 504; i++) {
			to = round == 0 ? 1 :
			    (unsigned int)(ngt_random() % 4);
			snprintf(hook, sizeof(hook), to == 0 ? "default" :
			    "out%u", to);
			assert_int_equal(direct(hook, i), 0);
			where[i] = to;
		}
		memset(count, 0, sizeof(count));
		for (unsigned int i = 0; i < 504; i++)
			count[where[i]]++;
		expect_counts(count);
	}
	/* The table has them in order. */
	assert_int_equal(MSG(NGM_MACFILTER_GET_MACS, NULL, 0), 0);
	for (unsigned int i = 0, n = 0; i < 504; i++) {
		const struct ngm_macfilter_macs *ms =
		    (const void *)ngt_reply()->data;

		if (where[i] == 0)
			continue;
		assert_int_equal(ms->macs[n].hookid, where[i]);
		assert_int_equal(ms->macs[n].ether[4] << 8 |
		    ms->macs[n].ether[5], i);
		n++;
		if (i == 503)
			assert_int_equal(ms->n, n);
	}
	/* A hook takes its addresses along. */
	assert_int_equal(ngt_rmhook(".", "out2"), 0);
	ngt_join("mf", "out2");
	memset(count, 0, sizeof(count));
	for (unsigned int i = 0; i < 504; i++)
		count[where[i]]++;
	count[2] = 0;
	expect_counts(count);
	assert_int_equal(ngt_ascii("mf:", "reset"), 0);
	assert_null(ngt_reply());
	memset(count, 0, sizeof(count));
	expect_counts(count);
	expect_text("getmacs", "{}");
}

static void
test_default(void **state)
{
	struct ngm_macfilter_direct_hookid id = { { 2, 4, 6, 0, 0, 1 }, 3 };
	struct ngm_macfilter_direct md = { .ether = { 2, 4, 6, 0, 0, 2 } };

	make_node();
	assert_int_equal(MSG(NGM_MACFILTER_DIRECT_HOOKID, &id, sizeof(id)),
	    0);
	assert_int_equal(ngt_ascii("mf:",
	    "directi { ether=02:04:06:00:00:05 hookid=1 }"), 0);
	expect_counts((const unsigned int[]){ 0, 1, 0, 1 });
	/* Names that are none, or end nowhere, mean default. */
	assert_int_equal(direct("nobody", 5), 0);
	assert_int_equal(direct("out1", 5), 0);
	assert_int_equal(direct("ether", 5), 0);
	memset(md.hookname, 'x', sizeof(md.hookname));
	assert_int_equal(MSG(NGM_MACFILTER_DIRECT, &md, sizeof(md)), 0);
	expect_counts((const unsigned int[]){ 0, 0, 0, 1 });
	id.hookid = 0;
	assert_int_equal(MSG(NGM_MACFILTER_DIRECT_HOOKID, &id, sizeof(id)),
	    0);
	expect_counts((const unsigned int[]){ 0, 0, 0, 0 });
	id.hookid = 4;
	assert_int_equal(MSG(NGM_MACFILTER_DIRECT_HOOKID, &id, sizeof(id)),
	    EINVAL);
	id.hookid = UINT16_MAX;
	assert_int_equal(MSG(NGM_MACFILTER_DIRECT_HOOKID, &id, sizeof(id)),
	    EINVAL);
}

static void
test_counters(void **state)
{
	const char *line = "{ n=1 macs=[ { ether=02:04:06:00:00:01 hookid=2 "
	    "packets_in=1 bytes_in=84 } ] }";

	make_node();
	assert_int_equal(direct("out1", 1), 0);
	assert_int_equal(ngt_send_frame("ether", NGT_HOST(2), NGT_HOST(1)),
	    0);
	/* They stay with the address when it moves. */
	assert_int_equal(direct("out2", 1), 0);
	expect_text("getmacs", line);
	expect_text("getclrmacs", line);
	expect_text("getmacs", "{ n=1 macs=[ { ether=02:04:06:00:00:01 "
	    "hookid=2 } ] }");
	assert_int_equal(ngt_send_frame("ether", NGT_HOST(2), NGT_HOST(1)),
	    0);
	assert_int_equal(ngt_ascii("mf:", "clrmacs"), 0);
	assert_null(ngt_reply());
	expect_text("getmacs", "{ n=1 macs=[ { ether=02:04:06:00:00:01 "
	    "hookid=2 } ] }");
}

static void
test_messages(void **state)
{
	struct ngm_macfilter_direct md = { .hookname = "out1" };
	struct ngm_macfilter_direct_hookid id;
	uint64_t table[1 + 5 * 8] = { 0 };
	uint32_t hooks[1 + 10 * 8] = { 0 }, n;

	make_node();
	for (uint32_t cmd = 1; cmd <= 7; cmd++)
		assert_int_equal(MSG(cmd, "x", 1), EINVAL);
	assert_int_equal(MSG(0, NULL, 0), EINVAL);
	assert_int_equal(MSG(8, NULL, 0), EINVAL);
	assert_int_equal(MSG(NGM_MACFILTER_DIRECT, NULL, 0), EINVAL);
	assert_int_equal(ngt_msg("mf:", 1, 1, NULL, 0), EINVAL);
	for (int i = 0; i < 100; i++) {
		md.ether[5] = (uint8_t)ngt_random();
		ngt_roundtrip("mf:", NGM_MACFILTER_COOKIE,
		    NGM_MACFILTER_DIRECT, NGF_ORIG, &md, sizeof(md));
		memset(&id, 0, sizeof(id));
		id.ether[0] = (uint8_t)ngt_random();
		id.hookid = (uint16_t)ngt_random();
		ngt_roundtrip("mf:", NGM_MACFILTER_COOKIE,
		    NGM_MACFILTER_DIRECT_HOOKID, NGF_ORIG, &id, sizeof(id));
		n = (uint32_t)(ngt_random() % 9);
		memcpy(table, &n, sizeof(n));
		for (size_t j = 1; j < 1 + 5 * 8; j++)
			table[j] = ngt_random() >> 1;
		ngt_roundtrip("mf:", NGM_MACFILTER_COOKIE,
		    NGM_MACFILTER_GET_MACS, NGF_RESP, table, 8 + 40 * n);
		ngt_roundtrip("mf:", NGM_MACFILTER_COOKIE,
		    NGM_MACFILTER_GETCLR_MACS, NGF_RESP, table, 8 + 40 * n);
		hooks[0] = n;
		for (size_t j = 0; j < n; j++) {
			snprintf((char *)&hooks[1 + 10 * j], 32, "hook%zu",
			    j);
			hooks[1 + 10 * j + 8] = (uint16_t)ngt_random();
			hooks[1 + 10 * j + 9] = (uint32_t)ngt_random();
		}
		ngt_roundtrip("mf:", NGM_MACFILTER_COOKIE,
		    NGM_MACFILTER_GET_HOOKS, NGF_RESP, hooks, 4 + 40 * n);
	}
	ngt_roundtrip("mf:", NGM_MACFILTER_COOKIE, NGM_MACFILTER_RESET,
	    NGF_ORIG, "", 0);
	ngt_roundtrip("mf:", NGM_MACFILTER_COOKIE, NGM_MACFILTER_CLR_MACS,
	    NGF_ORIG, "", 0);
}

static void
churn(unsigned int round)
{

	(void)direct(round % 3 == 0 ? "default" : round % 3 == 1 ? "out1" :
	    "out2", round % 32);
	if (round % 2 == 0)
		assert_int_equal(ngt_rmhook(".", "out1"), 0);
	else
		ngt_join("mf", "out1");
	if (round % 16 == 0)
		assert_int_equal(ngt_ascii("mf:", "getclrmacs"), 0);
	if (round % 32 == 0)
		assert_int_equal(ngt_ascii("mf:", "reset"), 0);
}

static void
test_race(void **state)
{

	make_node();
	ngt_race("ether", "out3", churn, 200);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_ways, ngt_test_reset),
		cmocka_unit_test_teardown(test_burst, ngt_test_reset),
		cmocka_unit_test_teardown(test_hooks, ngt_test_reset),
		cmocka_unit_test_teardown(test_directs, ngt_test_reset),
		cmocka_unit_test_teardown(test_default, ngt_test_reset),
		cmocka_unit_test_teardown(test_counters, ngt_test_reset),
		cmocka_unit_test_teardown(test_messages, ngt_test_reset),
		cmocka_unit_test_teardown(test_race, ngt_test_reset),
	};

	return (cmocka_run_group_tests(tests, ngt_group_start, ngt_group_stop));
}
