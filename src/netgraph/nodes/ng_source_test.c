/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * source: every message, what is kept and sent, the rate (never above it),
 * timestamps and counters, an ether node's answer, and traffic while all of
 * it changes.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include <netgraph/ng_ether.h>
#include <netgraph/ng_source.h>

#include "ether/ether_var.h"
#include "ifnet/if_var.h"
#include "netgraph/nodes/ng_node_testlib.h"
#include "netgraph/nodes/ng_nodes.h"
#include "sys/thread.h"

#define	MS		UINT64_C(1000000)	/* ns */

const struct ng_type *const ngt_types[] = { &ng_source_type, NULL };

static int
setup(void **state)
{

	(void)ngt_group_start(state);
	assert_int_equal(ether_vnet_init(ngt_vnet()), 0);
	return (0);
}

static int
src_msg(uint32_t cmd, const void *arg, size_t len)
{

	return (ngt_msg("s:", NGM_SOURCE_COOKIE, cmd, arg, len));
}

/* The probe feeds it by in, and gets what it sends by out. */
static void
mksource(void)
{

	assert_int_equal(ngt_mkpeer(".", "source", "out", "output"), 0);
	assert_int_equal(ngt_name(".:out", "s"), 0);
	assert_int_equal(ngt_connect(".", "s:", "in", "input"), 0);
}

static struct ng_source_stats
getstats(void)
{
	struct ng_source_stats st;

	ngt_get("s:", NGM_SOURCE_COOKIE, NGM_SOURCE_GET_STATS, NULL, 0,
	    &st, sizeof(st));
	return (st);
}

static int
start(uint64_t n)
{

	return (src_msg(NGM_SOURCE_START, &n, sizeof(n)));
}

static void
setpps(uint32_t pps)
{

	assert_int_equal(src_msg(NGM_SOURCE_SETPPS, &pps, sizeof(pps)), 0);
}

/* Until it has stopped by itself. */
static struct ng_source_stats
wait_end(void)
{
	uint64_t end = time_ns() + NGT_PATIENCE;
	struct ng_source_stats st;

	do {
		assert_true(time_ns() < end);
		sched_yield();
		st = getstats();
	} while (st.endTime.tv_sec == 0);
	return (st);
}

/* ---- Control ---- */

static void
test_hooks(void **state)
{

	(void)state;
	assert_int_equal(ngt_mkpeer(".", "source", "out", "x"), EINVAL);
	mksource();
	assert_int_equal(ngt_rmhook(".", "in"), 0);
	assert_int_equal(ngt_connect(".", "s:", "in", "input"), 0);
	/* What comes by output goes nowhere. */
	assert_int_equal(ngt_send("out", "x", 1), 0);
	assert_int_equal(getstats().queueFrames, 0);
	assert_int_equal(ngt_rmhook(".", "out"), 0);
	assert_int_equal(ngt_shutdown("s:"), ENOENT);
	/* The last hook. */
	assert_int_equal(ngt_mkpeer(".", "source", "in", "input"), 0);
	assert_int_equal(ngt_name(".:in", "s"), 0);
	assert_int_equal(ngt_rmhook(".", "in"), 0);
	assert_int_equal(ngt_shutdown("s:"), ENOENT);
}

static void
test_messages(void **state)
{
	static const uint32_t empty[] = { NGM_SOURCE_GET_STATS,
		NGM_SOURCE_CLR_STATS, NGM_SOURCE_GETCLR_STATS,
		NGM_SOURCE_STOP, NGM_SOURCE_CLR_DATA,
		NGM_SOURCE_GET_TIMESTAMP };
	struct ng_source_stats st;
	struct ng_source_embed_info ei;
	struct ng_source_embed_cnt_info ec;
	uint8_t bytes[256], index;
	uint64_t n;

	(void)state;
	mksource();
	for (int i = 0; i < 50; i++) {
		for (size_t j = 0; j < sizeof(bytes); j++)
			bytes[j] = (uint8_t)ngt_random() & 0x7f;
		memcpy(&st, bytes, sizeof(st));
		/* No padding. */
		memset(&st.maxPps + 1, 0, 4);
		memcpy(&ei, bytes, sizeof(ei));
		memset(&ec, 0, sizeof(ec));
		memcpy(&ec, bytes, offsetof(struct ng_source_embed_cnt_info,
		    index) + 1);
		memcpy(&n, bytes, sizeof(n));
		index = bytes[0];
#define	RT(cmd, flags, arg)	ngt_roundtrip("s:", NGM_SOURCE_COOKIE, (cmd), \
				    (flags), &(arg), sizeof(arg))
		RT(NGM_SOURCE_GET_STATS, NGF_RESP, st);
		RT(NGM_SOURCE_GETCLR_STATS, NGF_RESP, st);
		RT(NGM_SOURCE_START, 0, n);
		RT(NGM_SOURCE_SETPPS, 0, ec.next_val);
		RT(NGM_SOURCE_SET_TIMESTAMP, 0, ei);
		RT(NGM_SOURCE_GET_TIMESTAMP, NGF_RESP, ei);
		RT(NGM_SOURCE_SET_COUNTER, 0, ec);
		RT(NGM_SOURCE_GET_COUNTER, 0, index);
		RT(NGM_SOURCE_GET_COUNTER, NGF_RESP, ec);
	}
	ngt_roundtrip("s:", NGM_SOURCE_COOKIE, NGM_SOURCE_SETIFACE, 0, "em0",
	    4);
	for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++)
		assert_int_equal(src_msg(empty[i], bytes, 1), EINVAL);
	for (size_t len = 0; len < 64; len++) {
		if (len != 8)
			assert_int_equal(src_msg(NGM_SOURCE_START, bytes, len),
			    EINVAL);
		if (len != 4)
			assert_int_equal(src_msg(NGM_SOURCE_SETPPS, bytes,
			    len), EINVAL);
		if (len != sizeof(ei))
			assert_int_equal(src_msg(NGM_SOURCE_SET_TIMESTAMP,
			    bytes, len), EINVAL);
		if (len != sizeof(ec))
			assert_int_equal(src_msg(NGM_SOURCE_SET_COUNTER,
			    bytes, len), EINVAL);
		if (len != 1)
			assert_int_equal(src_msg(NGM_SOURCE_GET_COUNTER,
			    bytes, len), EINVAL);
		memset(bytes, 'x', len);
		assert_int_equal(src_msg(NGM_SOURCE_SETIFACE, bytes, len),
		    EINVAL);
	}
	assert_int_equal(src_msg(0, NULL, 0), EINVAL);
	assert_int_equal(src_msg(13, NULL, 0), EINVAL);
	assert_int_equal(ngt_msg("s:", 4711, 1, NULL, 0), EINVAL);
}

static void
test_start(void **state)
{

	(void)state;
	mksource();
	assert_int_equal(start(10), ENXIO);
	assert_int_equal(ngt_ascii("s:", "setiface \"none0\""), EINVAL);
	assert_int_equal(ngt_ascii("s:", "setpps 1"), 0);
	assert_int_equal(getstats().maxPps, 1);
	assert_int_equal(ngt_ascii("s:", "start 10"), 0);
	assert_int_equal(start(10), EBUSY);
	assert_int_equal(ngt_ascii("s:", "stop"), 0);
	assert_int_equal(ngt_ascii("s:", "stop"), 0);
	assert_int_equal(start(0), 0);
	(void)wait_end();
	assert_int_equal(start(10), 0);
}

/* ---- Data ---- */

static void
test_send(void **state)
{
	struct ng_source_stats st;

	(void)state;
	mksource();
	assert_int_equal(ngt_send_burst("in", "hello", 5, 10), 0);
	st = getstats();
	assert_int_equal(st.queueFrames, 10);
	assert_int_equal(st.queueOctets, 50);
	setpps(1000000000);
	assert_int_equal(start(1001), 0);
	st = wait_end();
	assert_int_equal(st.outFrames, 1001);
	assert_int_equal(st.outOctets, 5005);
	assert_true(st.startTime.tv_sec != 0);
	assert_true(st.lastTime.tv_sec != 0);
	assert_true(st.elapsedTime.tv_sec != 0 || st.elapsedTime.tv_usec != 0);
	assert_int_equal(ngt_count("out"), 1001);
	assert_int_equal(ngt_last("out")->m_pkthdr.len, 5);
	assert_int_equal(src_msg(NGM_SOURCE_GETCLR_STATS, NULL, 0), 0);
	assert_memory_equal(ngt_reply()->data, &st, offsetof(struct
	    ng_source_stats, maxPps));
	st = getstats();
	assert_int_equal(st.outFrames, 0);
	assert_int_equal(st.queueFrames, 10);
	assert_int_equal(src_msg(NGM_SOURCE_CLR_DATA, NULL, 0), 0);
	assert_int_equal(getstats().queueFrames, 0);
	assert_int_equal(getstats().queueOctets, 0);
	/* Nothing to send: it waits for something. */
	assert_int_equal(start(5), 0);
	assert_int_equal(ngt_send("in", "x", 1), 0);
	assert_int_equal(wait_end().outFrames, 5);
	assert_int_equal(src_msg(NGM_SOURCE_CLR_STATS, NULL, 0), 0);
	assert_int_equal(getstats().outFrames, 0);
}

static void
test_full(void **state)
{
	unsigned int n = 0;

	(void)state;
	mksource();
	while (ngt_send("in", "x", 1) == 0)
		assert_true(++n < 10000);
	assert_true(n >= 1000);
	assert_int_equal(getstats().queueFrames, n);
	assert_int_equal(ngt_send("in", "x", 1), ENOBUFS);
}

static void
test_rate(void **state)
{
	struct ng_source_stats st;
	uint64_t t;

	(void)state;
	mksource();
	assert_int_equal(ngt_send_burst("in", "x", 1, 64), 0);
	setpps(10000);
	t = time_ns();
	assert_int_equal(start(1000), 0);
	st = wait_end();
	t = time_ns() - t;
	assert_int_equal(st.outFrames, 1000);
	assert_true(t >= 99 * MS);
	print_message("100 ms of packets took %ju us\n",
	    (uintmax_t)(t / 1000));
}

static uint32_t
last32(uint32_t off)
{
	uint32_t v;

	m_copydata(ngt_last("out"), off, sizeof(v), &v);
	return (ntohl(v));
}

static void
test_embed(void **state)
{
	static const uint8_t data[64];
	struct ng_source_embed_cnt_info ec = { .offset = 20,
		.flags = NGM_SOURCE_EMBED_ENABLE, .width = 4, .next_val = 5,
		.min_val = 3, .max_val = 7, .increment = 1, .index = 0 };

	(void)state;
	mksource();
	assert_int_equal(ngt_send_burst("in", data, sizeof(data), 4), 0);
	assert_int_equal(src_msg(NGM_SOURCE_SET_COUNTER, &ec, sizeof(ec)), 0);
	ec = (struct ng_source_embed_cnt_info){ .offset = 27, .width = 1,
		.flags = NGM_SOURCE_EMBED_ENABLE |
		NGM_SOURCE_INC_CNT_PER_LIST, .next_val = 2, .max_val = 255,
		.increment = -1, .index = 1 };
	assert_int_equal(src_msg(NGM_SOURCE_SET_COUNTER, &ec, sizeof(ec)), 0);
	/* Behind the packet's end: nothing happens. */
	ec.offset = 64;
	ec.index = 2;
	assert_int_equal(src_msg(NGM_SOURCE_SET_COUNTER, &ec, sizeof(ec)), 0);
	ec.offset = UINT16_MAX;
	ec.index = 3;
	assert_int_equal(src_msg(NGM_SOURCE_SET_COUNTER, &ec, sizeof(ec)), 0);
	ec.index = 4;
	assert_int_equal(src_msg(NGM_SOURCE_SET_COUNTER, &ec, sizeof(ec)),
	    EINVAL);
	ec.index = 0;
	ec.width = 3;
	assert_int_equal(src_msg(NGM_SOURCE_SET_COUNTER, &ec, sizeof(ec)),
	    EINVAL);
	assert_int_equal(ngt_ascii("s:", "settimestamp { offset=32 flags=1 }"),
	    0);
	assert_int_equal(ngt_ascii("s:", "gettimestamp"), 0);
	assert_string_equal(ngt_reply_text(), "{ offset=0x20 flags=0x1 }");
	setpps(1000000000);
	assert_int_equal(start(9), 0);
	(void)wait_end();
	/* 5 6 7 3 4 5 6 7 3; and the list was begun twice and once more. */
	assert_int_equal(last32(20), 3);
	assert_int_equal(last32(24), 0);
	assert_int_equal(last32(32), 0);
	assert_true(time(NULL) - last32(36) < 60);
	assert_int_equal(last32(40), 0);
	assert_true(last32(44) < 1000000);
	assert_int_equal(last32(60), 0);
	assert_int_equal(ngt_ascii("s:", "getcounter 0"), 0);
	assert_string_equal(ngt_reply_text(), "{ offset=0x14 flags=0x1 "
	    "width=4 next_val=4 min_val=3 max_val=7 increment=1 }");
	assert_int_equal(ngt_ascii("s:", "getcounter 4"), EINVAL);
}

/* The way an ether node answers. */
static void
test_ether(void **state)
{
	struct ng_msghdr hdr = { .typecookie = NGM_ETHER_COOKIE,
		.cmd = NGM_ETHER_GET_IFNAME };
	struct ifnet *ifp;
	char name[16] = "em0";
	uint32_t to;

	(void)state;
	mksource();
	ng_ctl_enter(ngt_vnet());
	to = ng_node_id(ng_findnode(ngt_vnet(), "s"));
	/* An interface that is not there. */
	assert_int_equal(ng_respond_later(ngt_vnet(), to,
	    ng_node_id(ngt_probe()), &hdr, name, sizeof(name)), EINVAL);
	assert_int_equal(if_alloc(ngt_vnet(), IFT_ETHER, name, &ifp), 0);
	assert_int_equal(if_attach(ifp), 0);
	assert_int_equal(ng_respond_later(ngt_vnet(), to,
	    ng_node_id(ngt_probe()), &hdr, name, sizeof(name)), 0);
	ng_ctl_exit(ngt_vnet());
	/* It was told to leave source addresses alone. */
	assert_non_null(ngt_reply());
	assert_int_equal(ngt_reply()->header.typecookie, NGM_ETHER_COOKIE);
	assert_int_equal(ngt_reply()->header.cmd, NGM_ETHER_SET_AUTOSRC);
	assert_int_equal(ngt_reply()->header.arglen, 4);
	/* With an interface no rate is needed. */
	assert_int_equal(ngt_send("in", "x", 1), 0);
	assert_int_equal(start(3000), 0);
	(void)wait_end();
	assert_int_equal(ngt_count("out"), 3000);
	assert_int_equal(ngt_ascii("s:", "setiface \"em0\""), 0);
	ng_ctl_enter(ngt_vnet());
	if_detach(ifp);
	if_free(ifp);
	ng_ctl_exit(ngt_vnet());
}

static void
churn(unsigned int round)
{
	struct ng_source_embed_cnt_info ec = { .offset = 20, .width = 4,
		.flags = NGM_SOURCE_EMBED_ENABLE, .increment = 1 };

	switch (round % 8) {
	case 0:
		(void)ngt_shutdown("s:");
		(void)ngt_mkpeer(".", "source", "out", "output");
		(void)ngt_name(".:out", "s");
		(void)ngt_connect(".", "s:", "in", "input");
		break;
	case 1:
		(void)src_msg(NGM_SOURCE_SETPPS, &(uint32_t){ 100000 }, 4);
		(void)start(ngt_random() % 1000);
		break;
	case 2:
		(void)src_msg(NGM_SOURCE_SET_COUNTER, &ec, sizeof(ec));
		(void)src_msg(NGM_SOURCE_GET_TIMESTAMP, NULL, 0);
		break;
	case 5:
		(void)src_msg(NGM_SOURCE_CLR_DATA, NULL, 0);
		break;
	case 6:
		(void)src_msg(NGM_SOURCE_STOP, NULL, 0);
		break;
	default:
		(void)src_msg(NGM_SOURCE_GETCLR_STATS, NULL, 0);
	}
}

static void
test_race(void **state)
{

	(void)state;
	mksource();
	ngt_race("in", "out", churn, 300);
}

int
main(void)
{
#define	TEST(fn)	cmocka_unit_test_teardown(fn, ngt_test_reset)
	const struct CMUnitTest tests[] = {
		TEST(test_hooks),
		TEST(test_messages),
		TEST(test_start),
		TEST(test_send),
		TEST(test_full),
		TEST(test_rate),
		TEST(test_embed),
		TEST(test_ether),
		TEST(test_race),
	};

	return (cmocka_run_group_tests(tests, setup, ngt_group_stop));
}
