/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * car: configuration, the colours of each mode with buckets that are not
 * filled, so that time does not matter, shaping (never faster than told), and
 * traffic while all of it changes.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include <netgraph/ng_car.h>

#include "netgraph/nodes/ng_node_testlib.h"
#include "netgraph/nodes/ng_nodes.h"
#include "sys/thread.h"

#define	MS		UINT64_C(1000000)	/* ns */

const struct ng_type *const ngt_types[] = { &ng_car_type, NULL };

static int
car_msg(uint32_t cmd, const void *arg, size_t len)
{

	return (ngt_msg("c:", NGM_CAR_COOKIE, cmd, arg, len));
}

static void
mkcar(void)
{

	assert_int_equal(ngt_mkpeer(".", "car", "up", "upper"), 0);
	assert_int_equal(ngt_name(".:up", "c"), 0);
	assert_int_equal(ngt_connect(".", "c:", "down", "lower"), 0);
}

static struct ng_car_bulkconf
getconf(void)
{
	struct ng_car_bulkconf conf;

	ngt_get("c:", NGM_CAR_COOKIE, NGM_CAR_GET_CONF, NULL, 0,
	    &conf, sizeof(conf));
	return (conf);
}

static struct ng_car_bulkstats
getstats(void)
{
	struct ng_car_bulkstats st;

	ngt_get("c:", NGM_CAR_COOKIE, NGM_CAR_GET_STATS, NULL, 0,
	    &st, sizeof(st));
	return (st);
}

/* Set the way down; the other one stays as it is. */
static void
setconf(uint8_t mode, uint64_t cbs, uint64_t ebs, uint64_t cir, uint8_t opt)
{
	struct ng_car_bulkconf conf = getconf();

	conf.downstream = (struct ng_car_hookconf){ .cbs = cbs, .ebs = ebs,
		.cir = cir, .green_action = NG_CAR_ACTION_FORWARD,
		.yellow_action = NG_CAR_ACTION_FORWARD,
		.red_action = NG_CAR_ACTION_DROP, .mode = mode, .opt = opt };
	assert_int_equal(car_msg(NGM_CAR_SET_CONF, &conf, sizeof(conf)), 0);
}

static void
expect(uint64_t green, uint64_t yellow, uint64_t red, uint64_t passed,
    uint64_t errors)
{
	struct ng_car_hookstats st = getstats().downstream;

	assert_int_equal(st.green_pkts, green);
	assert_int_equal(st.yellow_pkts, yellow);
	assert_int_equal(st.red_pkts, red);
	assert_int_equal(st.passed_pkts, passed);
	assert_int_equal(st.droped_pkts, green + yellow + red - passed);
	assert_int_equal(st.errors, errors);
	assert_int_equal(ngt_count("down"), passed);
	ngt_clear();
	assert_int_equal(car_msg(NGM_CAR_CLR_STATS, NULL, 0), 0);
	assert_int_equal(getstats().downstream.green_pkts, 0);
}

/* 20 frames of 98 bytes. */
static void
send20(void)
{

	assert_int_equal(ngt_send_burst("up", ngt_frame(1, 2), NGT_FRAME, 20),
	    0);
}

/* ---- Control ---- */

static void
test_hooks(void **state)
{

	(void)state;
	assert_int_equal(ngt_mkpeer(".", "car", "up", "left"), EINVAL);
	mkcar();
	assert_int_equal(ngt_rmhook(".", "down"), 0);
	assert_int_equal(ngt_send("up", "x", 1), ENOTCONN);
	assert_int_equal(ngt_rmhook(".", "up"), 0);
	assert_int_equal(ngt_shutdown("c:"), ENOENT);
}

static void
test_config(void **state)
{
	struct ng_car_bulkconf good, bad;
	char before[sizeof(good)];

	(void)state;
	mkcar();
	good = getconf();
	memcpy(before, ngt_reply()->data, sizeof(before));
	assert_memory_equal(before, before + sizeof(good.upstream),
	    sizeof(good.upstream));
	assert_int_equal(good.upstream.cbs, 8192);
	assert_int_equal(good.upstream.ebs, 8192);
	assert_int_equal(good.upstream.cir, 10240);
	assert_int_equal(good.upstream.green_action, 1);
	assert_int_equal(good.upstream.yellow_action, 1);
	assert_int_equal(good.upstream.red_action, 2);
	assert_int_equal(good.upstream.mode, 0);
	memcpy(&bad, &good, sizeof(bad));
	bad.upstream.cir = 1000000001;
	assert_int_equal(car_msg(NGM_CAR_SET_CONF, &bad, sizeof(bad)), EINVAL);
	memcpy(&bad, &good, sizeof(bad));
	bad.downstream.pir = 1000000001;
	assert_int_equal(car_msg(NGM_CAR_SET_CONF, &bad, sizeof(bad)), EINVAL);
	memcpy(&bad, &good, sizeof(bad));
	bad.downstream.cbs = bad.downstream.ebs = 0;
	assert_int_equal(car_msg(NGM_CAR_SET_CONF, &bad, sizeof(bad)), EINVAL);
	memcpy(&bad, &good, sizeof(bad));
	bad.downstream.mode = NG_CAR_SHAPE;
	bad.downstream.cir = 0;
	assert_int_equal(car_msg(NGM_CAR_SET_CONF, &bad, sizeof(bad)), EINVAL);
	bad.downstream.mode = NG_CAR_SHAPE + 1;
	assert_int_equal(car_msg(NGM_CAR_SET_CONF, &bad, sizeof(bad)), EINVAL);
	assert_int_equal(car_msg(NGM_CAR_GET_CONF, NULL, 0), 0);
	assert_memory_equal(ngt_reply()->data, before, sizeof(before));
	assert_int_equal(ngt_ascii("c:", "setconf { upstream={ cbs=8192 "
	    "ebs=8192 cir=1000000 greenAction=1 yellowAction=1 redAction=2 "
	    "mode=2 } downstream={ cbs=1 mode=1 opt=3 } }"), 0);
	assert_int_equal(getconf().upstream.mode, 2);
	assert_int_equal(ngt_ascii("c:", "getconf"), 0);
	assert_string_equal(ngt_reply_text(), "{ upstream={ cbs=8192 ebs=8192 "
	    "cir=1000000 greenAction=1 yellowAction=1 redAction=2 mode=2 } "
	    "downstream={ cbs=1 mode=1 opt=3 } }");
}

static void
test_messages(void **state)
{
	struct ng_car_bulkconf conf = { 0 };
	union {
		struct ng_car_bulkstats	st;
		uint8_t			bytes[sizeof(conf) + 40];
	} u;

	(void)state;
	mkcar();
	for (int i = 0; i < 50; i++) {
		for (size_t j = 0; j < sizeof(u); j++)
			u.bytes[j] = (uint8_t)ngt_random() & 0x7f;
		/* Not the padding. */
		memcpy(&conf.upstream, u.bytes, 37);
		memcpy(&conf.downstream, u.bytes + 40, 37);
		ngt_roundtrip("c:", NGM_CAR_COOKIE, NGM_CAR_SET_CONF, 0, &conf,
		    sizeof(conf));
		ngt_roundtrip("c:", NGM_CAR_COOKIE, NGM_CAR_GET_CONF,
		    NGF_RESP, &conf, sizeof(conf));
		ngt_roundtrip("c:", NGM_CAR_COOKIE, NGM_CAR_GET_STATS,
		    NGF_RESP, &u.st, sizeof(u.st));
		ngt_roundtrip("c:", NGM_CAR_COOKIE, NGM_CAR_GETCLR_STATS,
		    NGF_RESP, &u.st, sizeof(u.st));
	}
	for (size_t len = 0; len < sizeof(u); len++)
		if (len != sizeof(conf))
			assert_int_equal(car_msg(NGM_CAR_SET_CONF, &u, len),
			    EINVAL);
	for (uint32_t cmd = 1; cmd < NGM_CAR_SET_CONF; cmd++)
		assert_int_equal(car_msg(cmd, &u, 1), EINVAL);
	assert_int_equal(car_msg(0, NULL, 0), EINVAL);
	assert_int_equal(car_msg(6, NULL, 0), EINVAL);
	assert_int_equal(ngt_msg("c:", 4711, NGM_CAR_GET_CONF, NULL, 0),
	    EINVAL);
}

/* ---- Colours ---- */

static void
test_single(void **state)
{
	struct ng_car_bulkconf conf;

	(void)state;
	mkcar();
	setconf(NG_CAR_SINGLE_RATE, 1000, 500, 0, 0);
	send20();
	expect(10, 5, 5, 15, 0);
	/* Other actions. */
	conf = getconf();
	conf.downstream.green_action = NG_CAR_ACTION_MARK;
	conf.downstream.yellow_action = 77;
	conf.downstream.red_action = NG_CAR_ACTION_FORWARD;
	assert_int_equal(car_msg(NGM_CAR_SET_CONF, &conf, sizeof(conf)), 0);
	send20();
	expect(10, 5, 5, 15, 10);
	/* Larger than any bucket, and than counters. */
	setconf(NG_CAR_SINGLE_RATE, UINT64_MAX, UINT64_MAX, 0, 0);
	send20();
	expect(20, 0, 0, 20, 0);
	/* The other way has its own buckets. */
	assert_int_equal(ngt_send_burst("down", "x", 1, 20), 0);
	assert_int_equal(ngt_count("up"), 20);
	assert_int_equal(getstats().upstream.green_pkts, 20);
	assert_int_equal(car_msg(NGM_CAR_GETCLR_STATS, NULL, 0), 0);
	assert_int_equal(getstats().upstream.green_pkts, 0);
}

static void
test_double(void **state)
{

	(void)state;
	mkcar();
	setconf(NG_CAR_DOUBLE_RATE, 500, 1000, 0, 0);
	send20();
	expect(5, 5, 10, 10, 0);
}

static void
test_red(void **state)
{
	struct ng_car_hookstats st;

	(void)state;
	mkcar();
	setconf(NG_CAR_RED, 980, 98 * 50, 0, 0);
	for (int i = 0; i < 5; i++)
		send20();
	st = getstats().downstream;
	assert_int_equal(st.green_pkts, 10);
	assert_int_equal(st.yellow_pkts + st.red_pkts, 90);
	/* Single rate would have 50 and 40. */
	assert_true(st.yellow_pkts >= 10 && st.yellow_pkts < 50);
	assert_int_equal(st.passed_pkts, st.green_pkts + st.yellow_pkts);
}

static void
test_packets(void **state)
{

	(void)state;
	mkcar();
	setconf(NG_CAR_SINGLE_RATE, 3, 2, 0, NG_CAR_COUNT_PACKETS);
	send20();
	expect(3, 2, 15, 5, 0);
}

/* ---- Time ---- */

static void
test_fill(void **state)
{
	uint64_t t;

	(void)state;
	mkcar();
	/* 98 bytes are there after 98 ms. */
	setconf(NG_CAR_SINGLE_RATE, 98, 0, 8000, 0);
	t = time_ns();
	assert_int_equal(ngt_send_frame("up", 1, 2), 0);
	assert_int_equal(ngt_count("down"), 1);
	while (ngt_count("down") != 2) {
		assert_true(time_ns() - t < NGT_PATIENCE);
		sched_yield();
		assert_int_equal(ngt_send_frame("up", 1, 2), 0);
	}
	assert_true(time_ns() - t >= 98 * MS);
}

static void
shape(uint64_t cbs, uint64_t cir, uint8_t opt, uint64_t first)
{
	struct ng_car_hookstats st;
	char data[1000] = { 0 };
	uint64_t t;

	ngt_clear();
	assert_int_equal(car_msg(NGM_CAR_CLR_STATS, NULL, 0), 0);
	setconf(NG_CAR_SHAPE, cbs, 1, cir, opt);
	t = time_ns();
	for (int i = 0; i < 40; i++)
		assert_int_equal(ngt_send("up", data, sizeof(data)), 0);
	do {
		assert_true(time_ns() - t < NGT_PATIENCE);
		sched_yield();
		st = getstats().downstream;
	} while (st.passed_pkts + st.droped_pkts != 40);
	/* The first is green, each of the others takes 5 ms. */
	assert_true(st.green_pkts >= first);
	assert_int_equal(st.green_pkts + st.yellow_pkts, st.passed_pkts);
	assert_int_equal(st.red_pkts, st.droped_pkts);
	assert_true(st.passed_pkts >= 9);
	assert_true(time_ns() - t >= (st.passed_pkts - 1) * 5 * MS);
	print_message("%ju ms of packets took %ju us\n",
	    (uintmax_t)(st.passed_pkts - 1) * 5,
	    (uintmax_t)((time_ns() - t) / 1000));
}

static void
test_shape(void **state)
{
	char data[1000] = { 0 };

	(void)state;
	mkcar();
	shape(1000, 1600000, 0, 1);
	shape(1, 200, NG_CAR_COUNT_PACKETS, 1);
	/* A bucket that is too small for any packet. */
	shape(10, 1600000, 0, 0);
	/* The end of shaping is the end of the queue; so is a hook's. */
	setconf(NG_CAR_SHAPE, 1000, 1, 8, 0);
	for (int i = 0; i < 40; i++)
		assert_int_equal(ngt_send("up", data, sizeof(data)), 0);
	setconf(NG_CAR_SINGLE_RATE, 1000, 1, 8, 0);
	setconf(NG_CAR_SHAPE, 1000, 1, 8, 0);
	for (int i = 0; i < 40; i++)
		assert_int_equal(ngt_send("up", data, sizeof(data)), 0);
	assert_int_equal(ngt_rmhook(".", "down"), 0);
}

static void
churn(unsigned int round)
{
	struct ng_car_bulkconf conf = { 0 };

	switch (round % 8) {
	case 0:
		(void)ngt_rmhook(".", "down");
		(void)ngt_connect(".", "c:", "down", "lower");
		break;
	case 1:
		(void)car_msg(NGM_CAR_GETCLR_STATS, NULL, 0);
		(void)car_msg(NGM_CAR_GET_CONF, NULL, 0);
		break;
	case 2:
		(void)ngt_shutdown("c:");
		(void)ngt_mkpeer(".", "car", "up", "upper");
		(void)ngt_name(".:up", "c");
		(void)ngt_connect(".", "c:", "down", "lower");
		break;
	default:
		conf.upstream.cbs = 1 + ngt_random() % 10000;
		conf.upstream.cir = conf.upstream.pir =
		    1 + ngt_random() % 1000000000;
		conf.upstream.mode = (uint8_t)(ngt_random() % 4);
		conf.upstream.green_action = NG_CAR_ACTION_FORWARD;
		conf.downstream = conf.upstream;
		conf.downstream.mode = NG_CAR_SHAPE;
		(void)car_msg(NGM_CAR_SET_CONF, &conf, sizeof(conf));
	}
}

static void
test_race(void **state)
{

	(void)state;
	mkcar();
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
		TEST(test_single),
		TEST(test_double),
		TEST(test_red),
		TEST(test_packets),
		TEST(test_fill),
		TEST(test_shape),
		TEST(test_race),
	};

	return (cmocka_run_group_tests(tests, ngt_group_start, ngt_group_stop));
}
