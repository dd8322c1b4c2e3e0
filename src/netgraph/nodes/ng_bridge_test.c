/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * bridge: learning and flooding, uplinks, loops, many links and hosts, a model
 * beside random bursts, time, and a race.
 */
#include "netgraph/nodes/ng_bridge_testlib.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "netgraph/nodes/ng_nodes.h"
#include "sys/thread.h"

const struct ng_type *const ngt_types[] = {
	&ng_bridge_type, &ng_split_type, NULL,
};

static void
expect(unsigned int a, unsigned int b, unsigned int c)
{

	assert_int_equal(ngt_count("a"), a);
	assert_int_equal(ngt_count("b"), b);
	assert_int_equal(ngt_count("c"), c);
	ngt_clear();
}

/* ---- Forwarding ---- */

static void
test_basic(void **state)
{

	make_abc();
	assert_int_equal(ngt_send_frame("a", NGT_HOST(0), NGT_HOST(1)), 0);
	expect(0, 1, 1);
	assert_int_equal(ngt_send_frame("b", NGT_HOST(0), NGT_HOST(2)), 0);
	expect(1, 0, 1);
	assert_int_equal(ngt_send_frame("c", NGT_HOST(0), NGT_HOST(3)), 0);
	expect(1, 1, 0);
	assert_int_equal(ngt_send_frame("a", NGT_HOST(3), NGT_HOST(1)), 0);
	expect(0, 0, 1);
	/* For a host where it came from: nobody's, and no error. */
	assert_int_equal(ngt_send_frame("a", NGT_HOST(1), NGT_HOST(1)), 0);
	expect(0, 0, 0);
	assert_int_equal(table()->numHosts, 3);
	assert_string_equal(host(NGT_HOST(2))->hook, "link1");
	assert_int_equal(ngt_rmhook(".", "b"), 0);
	assert_int_equal(ngt_send_frame("a", NGT_HOST(0), NGT_HOST(1)), 0);
	expect(0, 0, 1);
	assert_int_equal(table()->numHosts, 2);
	assert_null(host(NGT_HOST(2)));
	/* Its place may be taken again. */
	add_link("b", "link1");
	assert_int_equal(ngt_send_frame("b", NGT_HOST(0), NGT_HOST(2)), 0);
	expect(1, 0, 1);
	assert_int_equal(table()->numHosts, 3);
}

static void
test_persistence(void **state)
{
	struct nodeinfo ni;

	make_bridge("a", "link0");
	assert_int_equal(ngt_rmhook(".", "a"), 0);
	assert_int_equal(ngt_nodeinfo("br:", &ni), ENOENT);
	for (int text = 0; text < 2; text++) {
		make_bridge("a", "link0");
		assert_int_equal(text ? ngt_ascii("br:", "setpersistent") :
		    ngt_msg("br:", NGM_BRIDGE_COOKIE,
		    NGM_BRIDGE_SET_PERSISTENT, NULL, 0), 0);
		assert_int_equal(ngt_rmhook(".", "a"), 0);
		assert_int_equal(ngt_nodeinfo("br:", &ni), 0);
		assert_int_equal(ngt_shutdown("br:"), 0);
		assert_int_equal(ngt_nodeinfo("br:", &ni), ENOENT);
	}
}

/* The loop that a second cable makes is the sender's result. */
static void
test_loop(void **state)
{

	assert_int_equal(ngt_mkpeer(".", "bridge", "a", "link0"), 0);
	assert_int_equal(ngt_name("a", "br"), 0);
	assert_int_equal(ngt_mkpeer(".", "bridge", "b", "link1"), 0);
	assert_int_equal(ngt_name("b", "br2"), 0);
	assert_int_equal(ngt_connect("br:", "br2:", "link11", "link11"), 0);
	assert_int_equal(ngt_send_frame("a", NGT_HOST(0), NGT_HOST(1)), 0);
	expect(0, 1, 0);
	assert_int_equal(ngt_connect("br:", "br2:", "link12", "link12"), 0);
	assert_int_equal(ngt_send_frame("a", NGT_HOST(0), NGT_HOST(1)),
	    ELOOP);
	expect(0, 1, 0);
	assert_true(stats(12).loopDetects != 0);
	assert_int_equal(ngt_shutdown("br:"), 0);
	assert_int_equal(ngt_shutdown("br2:"), 0);
}

/* Newest first, but the newest last, and its result. */
static void
test_result(void **state)
{

	make_abc();
	assert_int_equal(ngt_mkpeer("br:", "split", "link3", "out"), 0);
	assert_int_equal(ngt_send_frame("a", NGT_BCAST, NGT_HOST(1)), EINVAL);
	expect(0, 1, 1);
	add_link("d", "link4");
	assert_int_equal(ngt_send_frame("a", NGT_BCAST, NGT_HOST(1)), 0);
	expect(0, 1, 1);
	assert_int_equal(stats(3).xmitPackets, 0);
	assert_int_equal(stats(4).xmitPackets, 1);
}

static void
many(uint64_t dst, bool all)
{
	char ours[NG_HOOKSIZ], link[NG_HOOKSIZ];

	make_bridge("a", "link0");
	assert_int_equal(ngt_send_frame("a", NGT_HOST(0), NGT_HOST(0xff0000)),
	    0);
	for (unsigned int i = 1; i <= 1000; i++) {
		snprintf(ours, sizeof(ours), "l%u", i);
		snprintf(link, sizeof(link), "link%u", i);
		add_link(ours, link);
		assert_int_equal(ngt_send_frame(ours, dst, NGT_HOST(i)), 0);
	}
	assert_int_equal(ngt_count("a"), 1000);
	assert_int_equal(ngt_count("l1"), all ? 999 : 0);
	assert_int_equal(ngt_count("l500"), all ? 500 : 0);
	assert_int_equal(table()->numHosts, 1001);
	assert_string_equal(host(NGT_HOST(777))->hook, "link777");
}

static void
test_many_unicasts(void **state)
{

	many(NGT_HOST(0xff0000), false);
}

static void
test_many_broadcasts(void **state)
{

	many(NGT_BCAST, true);
}

/* What the four hooks got of one frame. */
static void
uplink(const char *from, uint64_t dst, uint64_t src, const char *want)
{
	static const char *const names[] = { "l0", "u1", "u2", "l3" };

	assert_int_equal(ngt_send_frame(from, dst, src), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(ngt_count(names[i]), want[i] - '0');
	ngt_clear();
}

static void
test_uplink_private(void **state)
{
	const uint64_t mcast = UINT64_C(0xff0406000000);

	make_bridge("u1", "uplink1");
	add_link("u2", "uplink2");
	add_link("l0", "link0");
	add_link("l3", "link3");
	uplink("u1", NGT_HOST(0), NGT_HOST(1), "0010");
	uplink("l0", NGT_HOST(2), NGT_HOST(0), "0110");
	uplink("u2", NGT_HOST(0), NGT_HOST(2), "1000");
	uplink("l3", NGT_HOST(0), NGT_HOST(3), "1000");
	uplink("u1", NGT_HOST(2), NGT_HOST(1), "0010");
	uplink("l0", NGT_HOST(2), NGT_HOST(0), "0110");
	uplink("u1", mcast, NGT_HOST(1), "1011");
	uplink("l0", mcast, NGT_HOST(0), "0111");
	uplink("u1", NGT_BCAST, NGT_HOST(1), "1011");
	uplink("l0", NGT_BCAST, NGT_HOST(0), "0111");
	assert_int_equal(table()->numHosts, 2);
}

static void
test_uplink_classic(void **state)
{
	const uint64_t mcast = UINT64_C(0xff0406000000);

	make_bridge("l0", "link0");
	add_link("u1", "uplink1");
	add_link("u2", "uplink2");
	add_link("l3", "link3");
	uplink("u1", NGT_HOST(0), NGT_HOST(1), "1011");
	uplink("l0", NGT_HOST(2), NGT_HOST(0), "0111");
	uplink("u2", NGT_HOST(0), NGT_HOST(2), "1000");
	uplink("l3", NGT_HOST(0), NGT_HOST(3), "1000");
	uplink("u1", NGT_HOST(2), NGT_HOST(1), "1011");
	uplink("l0", NGT_HOST(2), NGT_HOST(0), "0111");
	uplink("u1", mcast, NGT_HOST(1), "1011");
	uplink("l0", mcast, NGT_HOST(0), "0111");
	uplink("u1", NGT_BCAST, NGT_HOST(1), "1011");
	uplink("l0", NGT_BCAST, NGT_HOST(0), "0111");
	assert_int_equal(table()->numHosts, 2);
	/* A host that we know moves to an uplink, too. */
	setconfig(1, 60, 900, 0);
	uplink("u1", NGT_HOST(0), NGT_HOST(3), "1000");
	assert_string_equal(host(NGT_HOST(3))->hook, "uplink1");
}

static void
test_hooks(void **state)
{
	static const char *const wrong[] = { "link007", "linkx",
		"link1x", "link-1", "uplink0", "uplink01", "uplinkx",
		"link99999999999", "Link1", "lower" };

	make_bridge("a", "link0");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(ngt_connect(".", "br:", "x", wrong[i]),
		    EINVAL);
	assert_int_equal(ngt_connect(".", "br:", "x", "link0"), EEXIST);
	assert_int_equal(ngt_connect("br:", "br:", "link1", "link2"), ELOOP);
	add_link("b", "link123456789");
	add_link("c", "uplink1");
	assert_int_equal(ngt_send_frame("a", NGT_BCAST, NGT_HOST(1)), 0);
	expect(0, 1, 1);
	(void)stats(123456789);
	(void)stats(-1);
}

/* The name of the hook at the other end of the probe's. */
static const char *
peer_name(const char *hook)
{

	return (ng_hook_name(ng_hook_peer(ng_findhook(ngt_probe(), hook))));
}

/* The node numbers links and uplinks, each the lowest that is free. */
static void
test_numbers(void **state)
{

	make_bridge("a", "link");
	assert_string_equal(peer_name("a"), "link0");
	add_link("b", "link2");
	add_link("c", "link");
	assert_string_equal(peer_name("c"), "link1");
	add_link("d", "link");
	assert_string_equal(peer_name("d"), "link3");
	add_link("u", "uplink");
	assert_string_equal(peer_name("u"), "uplink1");
	add_link("v", "uplink");
	assert_string_equal(peer_name("v"), "uplink2");
	(void)stats(3);
	(void)stats(-2);
	assert_int_equal(ngt_rmhook(".", "c"), 0);
	assert_int_equal(ngt_rmhook("br:", "uplink1"), 0);
	add_link("e", "link");
	assert_string_equal(peer_name("e"), "link1");
	add_link("w", "uplink");
	assert_string_equal(peer_name("w"), "uplink1");
	assert_int_equal(ngt_connect(".", "br:", "x", "link1"), EEXIST);
	assert_int_equal(ngt_connect("br:", "br:", "link", "link"), ELOOP);
	assert_int_equal(ngt_send_frame("e", NGT_BCAST, NGT_HOST(1)), 0);
	assert_int_equal(ngt_count("a"), 1);
	assert_int_equal(ngt_count("w"), 1);
	assert_int_equal(ngt_count("e"), 0);
	assert_string_equal(host(NGT_HOST(1))->hook, "link1");
}

/* ---- Frames that are none, and counters ---- */

static void
test_stats(void **state)
{
	struct ng_bridge_link_stats st, want;
	uint8_t frame[NGT_FRAME];

	make_abc();
	assert_int_equal(ngt_send("a", ngt_frame(NGT_HOST(0), NGT_HOST(1)),
	    13), EINVAL);
	memcpy(frame, ngt_frame(NGT_HOST(0), NGT_HOST(1)), sizeof(frame));
	frame[6] |= 1;
	assert_int_equal(ngt_send_burst("a", frame, sizeof(frame), 2),
	    EINVAL);
	expect(0, 0, 0);
	assert_int_equal(ngt_send("a", ngt_frame(NGT_BCAST, NGT_HOST(1)), 14),
	    0);
	assert_int_equal(ngt_send_burst("a", ngt_frame(
	    UINT64_C(0x01005e000001), NGT_HOST(1)), 50, 3), 0);
	assert_int_equal(ngt_send_frame("a", NGT_HOST(9), NGT_HOST(1)), 0);
	assert_int_equal(ngt_send_frame("b", NGT_HOST(1), NGT_HOST(2)), 0);
	memset(&want, 0, sizeof(want));
	want.recvPackets = 5;
	want.recvOctets = 14 + 3 * 50 + NGT_FRAME;
	want.recvMulticasts = 3;
	want.recvBroadcasts = 1;
	want.recvUnknown = 1;
	want.recvRunts = 1;
	want.recvInvalid = 2;
	want.xmitPackets = 1;
	want.xmitOctets = NGT_FRAME;
	st = stats(0);
	assert_memory_equal(&st, &want, sizeof(st));
	memset(&want, 0, sizeof(want));
	want.xmitPackets = 5;
	want.xmitOctets = 14 + 3 * 50 + NGT_FRAME;
	want.xmitMulticasts = 3;
	want.xmitBroadcasts = 1;
	st = stats(2);
	assert_memory_equal(&st, &want, sizeof(st));

	assert_int_equal(ngt_ascii("br:", "getstats 2"), 0);
	assert_string_equal(ngt_reply_text(), "{ xmitOctets=262 "
	    "xmitPackets=5 xmitMulticasts=3 xmitBroadcasts=1 }");
	assert_int_equal(ngt_ascii("br:", "getclrstats 2"), 0);
	assert_int_equal(stats(2).xmitPackets, 0);
	assert_int_equal(stats(0).recvPackets, 5);
	assert_int_equal(ngt_ascii("br:", "clrstats 0"), 0);
	assert_null(ngt_reply());
	assert_int_equal(stats(0).recvPackets, 0);
	assert_int_equal(stats(1).recvPackets, 1);
	assert_int_equal(ngt_ascii("br:", "reset"), 0);
	assert_int_equal(stats(1).recvPackets, 0);
	assert_int_equal(table()->numHosts, 0);
}

/* A frame in pieces is one frame. */
static void
test_chain(void **state)
{
	struct mbuf *m, *rest;

	make_abc();
	m = m_devget(ngt_frame(NGT_BCAST, NGT_HOST(1)), 7);
	rest = m_devget(ngt_frame(NGT_BCAST, NGT_HOST(1)) + 7, 91);
	assert_non_null(m);
	assert_non_null(rest);
	m_cat(m, rest);
	assert_int_equal(ngt_send_mbuf("a", m), 0);
	assert_int_equal(ngt_last("b")->m_pkthdr.len, NGT_FRAME);
	expect(0, 1, 1);
	assert_non_null(host(NGT_HOST(1)));
}

/* ---- Moving, loops, time ---- */

static void
test_move(void **state)
{
	uint64_t end;

	make_abc();
	setconfig(2, 60, 900, 1);
	assert_int_equal(ngt_send_frame("a", NGT_BCAST, NGT_HOST(1)), 0);
	expect(0, 1, 1);
	/* At once: a loop.  The link is dead then, for all hosts. */
	assert_int_equal(ngt_send_frame("b", NGT_BCAST, NGT_HOST(1)), ELOOP);
	assert_int_equal(ngt_send_frame("b", NGT_BCAST, NGT_HOST(2)), ELOOP);
	expect(0, 0, 0);
	assert_int_equal(stats(1).loopDetects, 1);
	assert_int_equal(stats(1).loopDrops, 2);
	assert_int_equal(stats(1).recvPackets, 1);
	assert_string_equal(host(NGT_HOST(1))->hook, "link0");
	assert_int_equal(table()->numHosts, 1);
	/* But it is sent to. */
	assert_int_equal(ngt_send_frame("a", NGT_BCAST, NGT_HOST(1)), 0);
	expect(0, 1, 1);
	assert_int_equal(ngt_ascii("br:", "reset"), 0);
	assert_int_equal(ngt_send_frame("b", NGT_BCAST, NGT_HOST(2)), 0);
	expect(1, 0, 1);
	/* After a second it just moves. */
	for (end = time_ns() + UINT64_C(1050000000); time_ns() < end;)
		(void)table();
	assert_int_equal(ngt_send_frame("c", NGT_BCAST, NGT_HOST(2)), 0);
	expect(1, 1, 0);
	assert_string_equal(host(NGT_HOST(2))->hook, "link2");
	assert_int_equal(host(NGT_HOST(2))->age, 0);
	assert_int_equal(stats(2).loopDetects, 0);
}

/* In a burst: the first frame of the loop mutes, the others are dropped. */
static void
test_move_burst(void **state)
{
	const uint64_t dst[] = { NGT_BCAST, NGT_BCAST, NGT_BCAST, NGT_BCAST };
	const uint64_t src[] = { NGT_HOST(5), NGT_HOST(1), NGT_HOST(6),
		NGT_HOST(7) };

	make_abc();
	assert_int_equal(ngt_send_frame("a", NGT_BCAST, NGT_HOST(1)), 0);
	ngt_clear();
	assert_int_equal(ngt_send_frames("b", dst, src, 4), ELOOP);
	expect(1, 0, 1);
	assert_int_equal(stats(1).loopDetects, 1);
	assert_int_equal(stats(1).loopDrops, 3);
	/* Without a timeout the link lives on. */
	assert_int_equal(ngt_ascii("br:", "reset"), 0);
	setconfig(1, 0, 900, 1);
	assert_int_equal(ngt_send_frame("a", NGT_BCAST, NGT_HOST(1)), 0);
	ngt_clear();
	assert_int_equal(ngt_send_frames("b", dst, src, 4), ELOOP);
	expect(3, 0, 3);
	assert_int_equal(stats(1).loopDrops, 1);
}

static void
test_time(void **state)
{
	uint64_t end = time_ns() + UINT64_C(10000000000);

	make_abc();
	setconfig(2, 1, 1, 60);
	assert_int_equal(ngt_send_frame("a", NGT_BCAST, NGT_HOST(1)), 0);
	assert_int_equal(ngt_send_frame("c", NGT_BCAST, NGT_HOST(3)), 0);
	assert_int_equal(ngt_send_frame("b", NGT_BCAST, NGT_HOST(1)), ELOOP);
	ngt_clear();
	/* 3 is silent and forgotten, 1 is kept by what it sends. */
	while (host(NGT_HOST(3)) != NULL) {
		assert_true(time_ns() < end);
		assert_int_equal(ngt_send_frame("a", NGT_HOST(1),
		    NGT_HOST(1)), 0);
		assert_true(host(NGT_HOST(1))->staleness <= 1);
	}
	assert_string_equal(host(NGT_HOST(1))->hook, "link0");
	assert_true(host(NGT_HOST(1))->age >= 1);
	/* The link was muted for a second. */
	while (ngt_send_frame("b", NGT_HOST(2), NGT_HOST(2)) == ELOOP)
		assert_true(time_ns() < end);
	assert_string_equal(host(NGT_HOST(2))->hook, "link1");
}

/* ---- Random bursts beside a model ---- */

#define	MODEL_LINKS	12
#define	MODEL_HOSTS	64

static int	 model[MODEL_HOSTS];	/* link of a host, -1: unknown */
static uint64_t	 model_dst[NG_BURST], model_src[NG_BURST];
static unsigned int model_got[MODEL_LINKS];

static void
model_send(int from, unsigned int n)
{
	int to;

	/* The whole burst is learned from before any of it is sent. */
	for (unsigned int i = 0; i < n; i++)
		model[model_src[i] & 0xff] = from;
	for (unsigned int i = 0; i < n; i++) {
		to = model_dst[i] == NGT_BCAST ? -1 :
		    model[model_dst[i] & 0xff];
		for (int j = 0; j < MODEL_LINKS; j++)
			if (j != from && (to == -1 || to == j))
				model_got[j]++;
	}
}

static void
test_model(void **state)
{
	char ours[NG_HOOKSIZ], link[NG_HOOKSIZ];
	unsigned int n, known = 0;
	int from;

	for (int i = 0; i < MODEL_LINKS; i++) {
		snprintf(ours, sizeof(ours), "m%d", i);
		snprintf(link, sizeof(link), "link%d", i);
		if (i == 0)
			make_bridge(ours, link);
		else
			add_link(ours, link);
	}
	setconfig(1, 0, 900, 0);
	memset(model, -1, sizeof(model));
	memset(model_got, 0, sizeof(model_got));
	for (int round = 0; round < 2000; round++) {
		from = (int)(ngt_random() % MODEL_LINKS);
		n = 1 + (unsigned int)(ngt_random() % NG_BURST);
		for (unsigned int i = 0; i < n; i++) {
			model_src[i] = NGT_HOST(ngt_random() % MODEL_HOSTS);
			model_dst[i] = ngt_random() % 16 == 0 ? NGT_BCAST :
			    NGT_HOST(ngt_random() % MODEL_HOSTS);
		}
		model_send(from, n);
		snprintf(ours, sizeof(ours), "m%d", from);
		assert_int_equal(ngt_send_frames(ours, model_dst, model_src,
		    n), 0);
	}
	for (int i = 0; i < MODEL_LINKS; i++) {
		snprintf(ours, sizeof(ours), "m%d", i);
		assert_int_equal(ngt_count(ours), model_got[i]);
	}
	for (unsigned int i = 0; i < MODEL_HOSTS; i++) {
		if (model[i] == -1)
			continue;
		known++;
		snprintf(link, sizeof(link), "link%d", model[i]);
		assert_string_equal(host(NGT_HOST(i))->hook, link);
	}
	assert_int_equal(table()->numHosts, known);
}

/* The table grows, is full at its limit, and shrinks. */
static void
test_many_hosts(void **state)
{
	const unsigned int max = 65536, n = 70000;
	uint64_t dst[NG_BURST], src[NG_BURST];

	make_abc();
	for (unsigned int i = 0; i < n; i += 50) {
		for (unsigned int j = 0; j < 50; j++) {
			dst[j] = NGT_HOST(0);
			src[j] = NGT_HOST(i + j);
		}
		assert_int_equal(ngt_send_frames("a", dst, src, 50), 0);
		if (i % 10000 == 0)
			assert_int_equal(table()->numHosts, i + 50);
	}
	expect(0, 0, 0);
	assert_int_equal(table()->numHosts, max);
	for (unsigned int i = 0; i < max; i += 997) {
		assert_int_equal(ngt_send_frame("c", NGT_HOST(i),
		    NGT_HOST(n)), 0);
		expect(1, 0, 0);
	}
	assert_int_equal(ngt_send_frame("c", NGT_HOST(max), NGT_HOST(n)), 0);
	expect(1, 1, 0);
	assert_int_equal(ngt_rmhook(".", "a"), 0);
	assert_int_equal(table()->numHosts, 0);
	assert_int_equal(ngt_send_frame("c", NGT_HOST(0), NGT_HOST(n)), 0);
	expect(0, 1, 0);
	assert_int_equal(table()->numHosts, 1);
}

/* ---- Race ---- */

static void
churn(unsigned int round)
{
	char name[NG_HOOKSIZ];

	snprintf(name, sizeof(name), "link%u", 2 + round / 2 % 3);
	if (round % 2 == 0)
		(void)ngt_connect(".", "br:", name, name);
	else
		assert_int_equal(ngt_rmhook("br:", name), 0);
	(void)table();
	if (round % 5 == 0)
		assert_int_equal(ngt_ascii("br:", "reset"), 0);
	if (round % 7 == 0)
		setconfig(1, 0, 900, round / 7 % 2);
	if (round % 11 == 0) {
		assert_int_equal(ngt_rmhook(".", "b"), 0);
		add_link("b", "link1");
	}
}

static void
test_race(void **state)
{

	make_abc();
	assert_int_equal(ngt_rmhook(".", "c"), 0);
	setconfig(1, 0, 900, 0);
	ngt_race("a", "b", churn, 300);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_basic, ngt_test_reset),
		cmocka_unit_test_teardown(test_persistence, ngt_test_reset),
		cmocka_unit_test_teardown(test_loop, ngt_test_reset),
		cmocka_unit_test_teardown(test_result, ngt_test_reset),
		cmocka_unit_test_teardown(test_many_unicasts, ngt_test_reset),
		cmocka_unit_test_teardown(test_many_broadcasts, ngt_test_reset),
		cmocka_unit_test_teardown(test_uplink_private, ngt_test_reset),
		cmocka_unit_test_teardown(test_uplink_classic, ngt_test_reset),
		cmocka_unit_test_teardown(test_hooks, ngt_test_reset),
		cmocka_unit_test_teardown(test_numbers, ngt_test_reset),
		cmocka_unit_test_teardown(test_stats, ngt_test_reset),
		cmocka_unit_test_teardown(test_chain, ngt_test_reset),
		cmocka_unit_test_teardown(test_move, ngt_test_reset),
		cmocka_unit_test_teardown(test_move_burst, ngt_test_reset),
		cmocka_unit_test_teardown(test_time, ngt_test_reset),
		cmocka_unit_test_teardown(test_model, ngt_test_reset),
		cmocka_unit_test_teardown(test_many_hosts, ngt_test_reset),
		cmocka_unit_test_teardown(test_race, ngt_test_reset),
	};

	return (cmocka_run_group_tests(tests, ngt_group_start, ngt_group_stop));
}
