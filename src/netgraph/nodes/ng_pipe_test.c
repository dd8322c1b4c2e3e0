/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * pipe: configuration, queues and who loses, order of service, loss and
 * copies, delay and rate (never faster; how much slower depends on the host),
 * and traffic while all of it changes.
 */
#include <errno.h>
#include <stdio.h>

#include <netgraph/ng_pipe.h>

#include "netgraph/nodes/ng_node_testlib.h"
#include "netgraph/nodes/ng_nodes.h"
#include "sys/thread.h"
#include "wire/ip.h"

#define	MS		UINT64_C(1000000)	/* ns */

const struct ng_type *const ngt_types[] = { &ng_pipe_type, NULL };

static int
pipe_msg(uint32_t cmd, const void *arg, size_t len)
{

	return (ngt_msg("p:", NGM_PIPE_COOKIE, cmd, arg, len));
}

/* up and down of the probe at both ends of a pipe named p. */
static void
mkpipe(void)
{

	assert_int_equal(ngt_mkpeer(".", "pipe", "up", "upper"), 0);
	assert_int_equal(ngt_name(".:up", "p"), 0);
	assert_int_equal(ngt_connect(".", "p:", "down", "lower"), 0);
}

static void
setcfg(const char *text)
{
	char buf[256];

	snprintf(buf, sizeof(buf), "setcfg { %s }", text);
	assert_int_equal(ngt_ascii("p:", buf), 0);
}

static struct ng_pipe_cfg
getcfg(void)
{
	struct ng_pipe_cfg cfg;

	ngt_get("p:", NGM_PIPE_COOKIE, NGM_PIPE_GET_CFG, NULL, 0,
	    &cfg, sizeof(cfg));
	return (cfg);
}

static struct ng_pipe_stats
getstats(void)
{
	struct ng_pipe_stats st;

	ngt_get("p:", NGM_PIPE_COOKIE, NGM_PIPE_GET_STATS, NULL, 0,
	    &st, sizeof(st));
	return (st);
}

static struct ng_pipe_run
getrun(void)
{
	struct ng_pipe_run run;

	ngt_get("p:", NGM_PIPE_COOKIE, NGM_PIPE_GET_RUN, NULL, 0,
	    &run, sizeof(run));
	return (run);
}

/* An IPv4 packet of 1,000 bytes from host src, with a number at its end. */
static void
send_ip(unsigned int src, unsigned char number)
{
	char data[1000] = { 0 };
	struct ip *ip = (void *)data;

	ip->ip_vhl = IP_VHL_BORING;
	ip->ip_src.s_addr = src;
	data[999] = (char)number;
	assert_int_equal(ngt_send("up", data, sizeof(data)), 0);
}

static unsigned char
last_number(void)
{
	unsigned char c;

	m_copydata(ngt_last("down"), 999, 1, &c);
	return (c);
}

/* ---- Control ---- */

static void
test_hooks(void **state)
{

	(void)state;
	assert_int_equal(ngt_mkpeer(".", "pipe", "up", "left"), EINVAL);
	mkpipe();
	assert_int_equal(ngt_connect(".", "p:", "x", "upper"), EEXIST);
	assert_int_equal(ngt_rmhook(".", "down"), 0);
	assert_int_equal(ngt_send("up", "x", 1), ENOTCONN);
	/* It stays without hooks. */
	assert_int_equal(ngt_rmhook(".", "up"), 0);
	assert_int_equal(ngt_connect(".", "p:", "up", "upper"), 0);
	assert_int_equal(ngt_connect(".", "p:", "down", "lower"), 0);
	assert_int_equal(ngt_send("up", "x", 1), 0);
	assert_int_equal(ngt_count("down"), 1);
	/* Its end joins the neighbours. */
	assert_int_equal(ngt_shutdown("p:"), 0);
	assert_int_equal(ngt_send("up", "x", 1), 0);
	assert_int_equal(ngt_send("down", "x", 1), 0);
	assert_int_equal(ngt_count("down"), 2);
	assert_int_equal(ngt_count("up"), 1);
}

static void
test_config(void **state)
{
	struct ng_pipe_cfg cfg;

	(void)state;
	mkpipe();
	cfg = getcfg();
	assert_int_equal(cfg.bandwidth, 0);
	assert_int_equal(cfg.upstream.qin_size_limit, 50);
	assert_int_equal(cfg.upstream.fifo, 1);
	assert_int_equal(cfg.upstream.droptail, 1);
	setcfg("bandwidth=10000000 delay=9999999 header_offset=14");
	cfg = getcfg();
	assert_int_equal(cfg.bandwidth, 10000000);
	assert_int_equal(cfg.downstream.bandwidth, 10000000);
	assert_int_equal(cfg.upstream.bandwidth, 10000000);
	assert_int_equal(cfg.overhead, 24);
	assert_int_equal(cfg.delay, 9999999);
	assert_int_equal(cfg.header_offset, 14);
	setcfg("bandwidth=9999999");
	assert_int_equal(getcfg().overhead, 10);
	/* Out of range: as if it was not there. */
	setcfg("bandwidth=99 delay=10000000 header_offset=64 overhead=256 "
	    "upstream={ bandwidth=1000000001 BER=1000000000001 queuelen=4 "
	    "delaylen=4 duplicate=51 }");
	cfg = getcfg();
	assert_int_equal(cfg.bandwidth, 9999999);
	assert_int_equal(cfg.delay, 9999999);
	assert_int_equal(cfg.header_offset, 14);
	assert_int_equal(cfg.overhead, 10);
	assert_int_equal(cfg.upstream.ber, 0);
	assert_int_equal(cfg.upstream.qin_size_limit, 50);
	assert_int_equal(cfg.upstream.qout_size_limit, 0);
	assert_int_equal(cfg.upstream.duplicate, 0);
	setcfg("upstream={ bandwidth=100 BER=1000000000000 queuelen=5 "
	    "delaylen=5 duplicate=50 drr=31 drophead=1 } "
	    "downstream={ drr=32 }");
	cfg = getcfg();
	assert_int_equal(cfg.bandwidth, 0);
	assert_int_equal(cfg.upstream.bandwidth, 100);
	assert_int_equal(cfg.upstream.ber, 1000000000000);
	assert_int_equal(cfg.upstream.qin_size_limit, 5);
	assert_int_equal(cfg.upstream.qout_size_limit, 5);
	assert_int_equal(cfg.upstream.duplicate, 50);
	assert_int_equal(cfg.upstream.fifo, 0);
	assert_int_equal(cfg.upstream.drr, 2048);
	assert_int_equal(cfg.downstream.drr, 32);
	assert_int_equal(cfg.upstream.droptail, 0);
	assert_int_equal(cfg.upstream.drophead, 1);
	setcfg("bandwidth=-1 delay=-1 header_offset=-1 overhead=-1 "
	    "upstream={ BER=-1 delaylen=-1 duplicate=-1 wfq=1 }");
	cfg = getcfg();
	assert_int_equal(cfg.bandwidth, 0);
	assert_int_equal(cfg.delay, 0);
	assert_int_equal(cfg.header_offset, 0);
	assert_int_equal(cfg.overhead, 0);
	assert_int_equal(cfg.upstream.ber, 0);
	assert_int_equal(cfg.upstream.qout_size_limit, 0);
	assert_int_equal(cfg.upstream.duplicate, 0);
	assert_int_equal(cfg.upstream.drr, 0);
	assert_int_equal(cfg.upstream.wfq, 1);
}

static void
test_messages(void **state)
{
	union {
		struct ng_pipe_cfg	cfg;
		struct ng_pipe_stats	st;
		struct ng_pipe_run	run;
		uint8_t			bytes[256];
	} u;

	(void)state;
	mkpipe();
	for (int i = 0; i < 50; i++) {
		/* 64-bit values end at 2^63 in text. */
		for (size_t j = 0; j < sizeof(u); j++)
			u.bytes[j] = (uint8_t)ngt_random() & 0x7f;
		ngt_roundtrip("p:", NGM_PIPE_COOKIE, NGM_PIPE_SET_CFG, 0,
		    &u.cfg, sizeof(u.cfg));
		ngt_roundtrip("p:", NGM_PIPE_COOKIE, NGM_PIPE_GET_CFG,
		    NGF_RESP, &u.cfg, sizeof(u.cfg));
		ngt_roundtrip("p:", NGM_PIPE_COOKIE, NGM_PIPE_GET_STATS,
		    NGF_RESP, &u.st, sizeof(u.st));
		ngt_roundtrip("p:", NGM_PIPE_COOKIE, NGM_PIPE_GETCLR_STATS,
		    NGF_RESP, &u.st, sizeof(u.st));
		ngt_roundtrip("p:", NGM_PIPE_COOKIE, NGM_PIPE_GET_RUN,
		    NGF_RESP, &u.run, sizeof(u.run));
		/* Whatever it is, it is taken or left. */
		assert_int_equal(pipe_msg(NGM_PIPE_SET_CFG, &u.cfg,
		    sizeof(u.cfg)), 0);
	}
	for (size_t len = 0; len < sizeof(u); len++)
		if (len != sizeof(u.cfg))
			assert_int_equal(pipe_msg(NGM_PIPE_SET_CFG, &u, len),
			    EINVAL);
	for (uint32_t cmd = 1; cmd < NGM_PIPE_SET_CFG; cmd++)
		assert_int_equal(pipe_msg(cmd, &u, 1), EINVAL);
	assert_int_equal(pipe_msg(0, NULL, 0), EINVAL);
	assert_int_equal(pipe_msg(7, NULL, 0), EINVAL);
	assert_int_equal(ngt_msg("p:", 4711, NGM_PIPE_GET_CFG, NULL, 0),
	    EINVAL);
}

/* ---- Data ---- */

static void
test_open(void **state)
{
	struct ng_pipe_stats st;

	(void)state;
	mkpipe();
	assert_int_equal(ngt_send_burst("up", "hello", 5, 64), 0);
	assert_int_equal(ngt_send_burst("down", "hi", 2, 3), 0);
	assert_int_equal(ngt_count("down"), 64);
	assert_int_equal(ngt_count("up"), 3);
	st = getstats();
	assert_int_equal(st.downstream.fwd_frames, 64);
	assert_int_equal(st.downstream.fwd_octets, 320);
	assert_int_equal(st.upstream.fwd_frames, 3);
	assert_int_equal(pipe_msg(NGM_PIPE_GETCLR_STATS, NULL, 0), 0);
	assert_memory_equal(ngt_reply()->data, &st, sizeof(st));
	assert_int_equal(getstats().downstream.fwd_frames, 0);
	assert_int_equal(ngt_send("up", "x", 1), 0);
	assert_int_equal(pipe_msg(NGM_PIPE_CLR_STATS, NULL, 0), 0);
	assert_null(ngt_reply());
	assert_int_equal(getstats().downstream.fwd_octets, 0);
}

/* A line that takes more than a minute for a packet: all is in the queue. */
static void
test_droptail(void **state)
{
	struct ng_pipe_run run;

	(void)state;
	mkpipe();
	setcfg("bandwidth=100 downstream={ queuelen=5 }");
	for (unsigned char i = 0; i < 20; i++)
		send_ip(1, i);
	run = getrun();
	assert_int_equal(run.downstream.fifo_queues, 1);
	assert_int_equal(run.downstream.qin_frames, 5);
	assert_int_equal(run.downstream.qin_octets, 5000);
	assert_int_equal(run.downstream.qout_frames, 1);
	assert_int_equal(run.downstream.qout_octets, 1000);
	assert_int_equal(getstats().downstream.in_disc_frames, 14);
	assert_int_equal(getstats().downstream.in_disc_octets, 14000);
	setcfg("bandwidth=-1");
	ngt_wait_count("down", 6);
	assert_int_equal(last_number(), 5);
	assert_int_equal(getrun().downstream.fifo_queues, 0);
}

static void
test_drophead(void **state)
{

	(void)state;
	mkpipe();
	setcfg("bandwidth=100 downstream={ queuelen=5 drophead=1 }");
	for (unsigned char i = 0; i < 20; i++)
		send_ip(1, i);
	setcfg("bandwidth=-1");
	ngt_wait_count("down", 6);
	assert_int_equal(last_number(), 19);
}

/* Flow 1 has filled the queue; does flow 2 come before all of it has gone? */
static void
fair(const char *how, unsigned char last)
{

	ngt_clear();
	setcfg(how);
	setcfg("bandwidth=100");
	for (unsigned char i = 0; i < 7; i++)
		send_ip(1, 1);
	for (unsigned char i = 0; i < 2; i++)
		send_ip(2, 2);
	setcfg("bandwidth=-1");
	ngt_wait_count("down", 9);
	assert_int_equal(last_number(), last);
}

static void
test_fair(void **state)
{

	(void)state;
	mkpipe();
	fair("downstream={ fifo=1 }", 2);
	fair("downstream={ drr=1000 }", 1);
	fair("downstream={ drr=32 }", 1);
	fair("downstream={ wfq=1 }", 1);
	/* The longest queue pays for a short one. */
	ngt_clear();
	setcfg("bandwidth=100 downstream={ queuelen=6 }");
	for (unsigned char i = 0; i < 20; i++)
		send_ip(1, 1);
	for (unsigned char i = 0; i < 3; i++)
		send_ip(2, 2);
	assert_int_equal(getrun().downstream.fifo_queues, 2);
	assert_int_equal(getrun().downstream.qin_frames, 6);
}

static void
test_loss(void **state)
{
	struct ng_pipe_stats st;
	unsigned int n;

	(void)state;
	mkpipe();
	/* Of 784 bits one in 1,000 is wrong: 54 packets in 100 are. */
	setcfg("downstream={ BER=1000 }");
	for (int i = 0; i < 100; i++)
		assert_int_equal(ngt_send_burst("up", ngt_frame(1, 2),
		    NGT_FRAME, 10), 0);
	n = ngt_count("down");
	assert_true(n > 300 && n < 620);
	st = getstats();
	assert_int_equal(st.downstream.fwd_frames, n);
	assert_int_equal(st.downstream.out_disc_frames, 1000 - n);
	/* The other direction is not touched. */
	assert_int_equal(ngt_send_burst("down", "x", 1, 10), 0);
	assert_int_equal(ngt_count("up"), 10);
	setcfg("downstream={ BER=1 }");
	assert_non_null(ngt_reply());
	assert_int_equal(ngt_reply()->header.typecookie, NGM_FLOW_COOKIE);
	assert_int_equal(ngt_reply()->header.cmd, NGM_LINK_IS_DOWN);
	ngt_clear();
	assert_int_equal(ngt_send_burst("up", "x", 1, 64), 0);
	assert_int_equal(ngt_count("down"), 0);
	setcfg("downstream={ BER=-1 }");
	assert_int_equal(ngt_reply()->header.cmd, NGM_LINK_IS_UP);
	assert_int_equal(ngt_send_burst("up", "x", 1, 64), 0);
	assert_int_equal(ngt_count("down"), 64);
}

static void
test_duplicate(void **state)
{
	unsigned int n;

	(void)state;
	mkpipe();
	setcfg("downstream={ duplicate=50 }");
	for (int i = 0; i < 100; i++)
		assert_int_equal(ngt_send_burst("up", "x", 1, 10), 0);
	n = ngt_count("down");
	assert_true(n > 1300 && n < 1700);
	assert_int_equal(getstats().downstream.fwd_frames, n);
}

static void
test_delay(void **state)
{
	uint64_t t = time_ns();

	(void)state;
	mkpipe();
	setcfg("delay=100000 upstream={ delaylen=5 }");
	assert_int_equal(ngt_send_burst("up", "x", 1, 64), 0);
	assert_int_equal(ngt_send_burst("down", "x", 1, 64), 0);
	ngt_wait_count("down", 64);
	assert_true(time_ns() - t >= 100 * MS);
	ngt_wait_count("up", 5);
	assert_int_equal(getstats().upstream.out_disc_frames, 59);
	/* With packets on their way the pipe goes. */
	setcfg("delay=9000000");
	assert_int_equal(ngt_send_burst("up", "x", 1, 64), 0);
}

static void
test_rate(void **state)
{
	uint64_t t, took;

	(void)state;
	mkpipe();
	/* A megabyte a second: a packet takes a millisecond. */
	setcfg("bandwidth=8000000");
	setcfg("overhead=-1");
	t = time_ns();
	for (unsigned char i = 0; i < 50; i++)
		send_ip(1, i);
	ngt_wait_count("down", 50);
	took = time_ns() - t;
	assert_true(took >= 50 * MS);
	assert_int_equal(last_number(), 49);
	print_message("50 ms of packets took %ju us\n",
	    (uintmax_t)(took / 1000));
}

static void
churn(unsigned int round)
{
	struct ng_pipe_cfg cfg = { 0 };

	switch (round % 8) {
	case 0:
		(void)ngt_rmhook(".", "down");
		(void)ngt_connect(".", "p:", "down", "lower");
		break;
	case 1:
		(void)pipe_msg(NGM_PIPE_GET_RUN, NULL, 0);
		(void)pipe_msg(NGM_PIPE_GETCLR_STATS, NULL, 0);
		break;
	case 2:
		(void)ngt_shutdown("p:");
		(void)ngt_rmhook(".", "up");
		(void)ngt_rmhook(".", "down");
		(void)ngt_mkpeer(".", "pipe", "up", "upper");
		(void)ngt_name(".:up", "p");
		(void)ngt_connect(".", "p:", "down", "lower");
		break;
	default:
		cfg.bandwidth = ngt_random() % 3 == 0 ? UINT64_MAX :
		    100000000 + ngt_random() % 100000000;
		cfg.delay = ngt_random() % 2 == 0 ? UINT64_MAX :
		    1 + ngt_random() % 2000;
		cfg.downstream.duplicate = 10;
		cfg.downstream.ber = 1 + ngt_random() % 100000;
		if (ngt_random() % 2 == 0)
			cfg.downstream.drr = 100;
		else
			cfg.downstream.wfq = 1;
		cfg.upstream.drophead = 1;
		(void)pipe_msg(NGM_PIPE_SET_CFG, &cfg, sizeof(cfg));
	}
}

static void
test_race(void **state)
{

	(void)state;
	mkpipe();
	ngt_race("up", "down", churn, 300);
}

int
main(void)
{
#define	TEST(fn)	cmocka_unit_test_teardown(fn, ngt_test_reset)
	const struct CMUnitTest tests[] = {
		TEST(test_hooks),
		TEST(test_config),
		TEST(test_messages),
		TEST(test_open),
		TEST(test_droptail),
		TEST(test_drophead),
		TEST(test_fair),
		TEST(test_loss),
		TEST(test_duplicate),
		TEST(test_delay),
		TEST(test_rate),
		TEST(test_race),
	};

	return (cmocka_run_group_tests(tests, ngt_group_start, ngt_group_stop));
}
