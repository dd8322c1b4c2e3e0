/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The gen.* commands on a machine in memory: sending, receiving with numbers
 * and times, ping and pong, rates, files, and every misuse.
 */
#include "stack/ctl_test.h"

#include <pcap/pcap.h>

#define	WAIT_MS	20000

static json_int_t
start(const char *ifname, const char *mode, long count, long rate)
{
	json_int_t id;
	json_t *r;

	r = ok("gen.start", "{ss ss sI sI}", "interface", ifname, "mode",
	    mode, "count", (json_int_t)count, "rate", (json_int_t)rate);
	id = num(r, "id");
	json_decref(r);
	return (id);
}

static bool
done(json_int_t id)
{
	json_t *r = ok("gen.done", "{sI}", "id", id);
	bool d = json_is_true(json_object_get(r, "done"));

	json_decref(r);
	return (d);
}

static void
wait_done(json_int_t id)
{

	for (int i = 0; i < WAIT_MS && !done(id); i++)
		usleep(1000);
	assert_true(done(id));
}

static json_int_t
member(const json_t *r, const char *obj, const char *name)
{

	return (num(json_object_get(r, obj), name));
}

static void
up(const char *name)
{

	DO("if.set", "{sssi}", "name", name, "flags_set", IFF_UP);
}

static int
gen_setup(void **state)
{

	(void)pair_setup(state);
	up("epair0a");
	up("epair0b");
	return (0);
}

#define	GEN(fn)								\
	cmocka_unit_test_setup_teardown(fn, gen_setup, pair_teardown)

static void
test_tx_rx(void **state)
{
	json_int_t rx, tx;
	json_t *r, *s;

	r = ok("gen.start", "{ss ss sb}", "interface", "epair0b", "mode",
	    "rx", "verify", 1);
	rx = num(r, "id");
	json_decref(r);
	r = ok("gen.start", "{ss ss sI ss ss si si sI sI}", "interface",
	    "epair0a", "mode", "tx", "count", (json_int_t)20001, "src",
	    "10.0.0.1", "src_to", "10.0.0.7", "src_port", 5, "src_port_to", 9,
	    "length", (json_int_t)200, "min_length", (json_int_t)60);
	tx = num(r, "id");
	assert_string_equal(str(r, "dst_mac"), "ff:ff:ff:ff:ff:ff");
	json_decref(r);
	wait_done(tx);
	r = ok("gen.stop", "{sI}", "id", tx);
	s = ok("gen.stop", "{sI}", "id", rx);
	assert_int_equal(member(r, "tx", "packets"), 20001);
	assert_int_equal(member(r, "rx", "packets"), 0);
	assert_int_equal(member(s, "rx", "packets"), 20001);
	assert_int_equal(member(s, "rx", "bytes"), member(r, "tx", "bytes"));
	assert_int_equal(member(s, "rx", "bad"), 0);
	assert_int_equal(member(s, "sequence", "packets"), 20001);
	assert_int_equal(member(s, "sequence", "lost"), 0);
	assert_int_equal(member(s, "sequence", "reordered"), 0);
	assert_int_equal(member(s, "latency", "count"), 20001);
	assert_true(member(s, "latency", "min") <= member(s, "latency",
	    "p50") && member(s, "latency", "p50") <= member(s, "latency",
	    "p99") && member(s, "latency", "p999") <= member(s, "latency",
	    "max"));
	json_decref(r);
	json_decref(s);
	bad(ENOENT, "id", "no generator", "gen.stop", "{sI}", "id", tx);
}

/* A frame that nobody receives reaches the stack, and is dropped there. */
static void
test_receiver_consumes(void **state)
{
	json_int_t rx, tx;
	json_t *r;

	rx = start("epair0b", "rx", 100, 0);
	tx = start("epair0a", "tx", 300, 0);
	wait_done(tx);
	wait_done(rx);
	r = ok("gen.stop", "{sI}", "id", rx);
	/* Counted are 100, taken are all. */
	assert_int_equal(member(r, "rx", "packets"), 100);
	json_decref(r);
	DO("gen.stop", "{sI}", "id", tx);
	r = ifobj("epair0b");
	assert_int_equal(json_object_size(json_object_get(r, "drops")), 0);
	assert_int_equal(member(r, "counters", "ipackets"), 300);
	assert_int_equal(member(r, "counters", "ibytes"), 300 * 60);
	json_decref(r);
	tx = start("epair0a", "tx", 10, 0);
	wait_done(tx);
	DO("gen.stop", "{sI}", "id", tx);
	r = ifobj("epair0b");
	assert_true(json_object_size(json_object_get(r, "drops")) > 0);
	json_decref(r);
}

static void
test_ping_pong(void **state)
{
	json_int_t ping, pong;
	json_t *r, *s;

	pong = start("epair0b", "pong", 0, 0);
	ping = start("epair0a", "ping", 500, 0);
	wait_done(ping);
	r = ok("gen.stop", "{sI}", "id", ping);
	s = ok("gen.stop", "{sI}", "id", pong);
	assert_int_equal(member(r, "tx", "packets"), 500);
	assert_int_equal(member(r, "rx", "packets"), 500);
	assert_int_equal(member(r, "latency", "count"), 500);
	assert_true(member(r, "latency", "min") > 0);
	assert_true(json_array_size(json_object_get(r, "powers")) > 1);
	assert_int_equal(member(s, "rx", "packets"), 500);
	json_decref(r);
	json_decref(s);
	/* Nobody answers: it goes on after a second. */
	ping = start("epair0a", "ping", 1, 0);
	wait_done(ping);
	r = ok("gen.stop", "{sI}", "id", ping);
	assert_int_equal(member(r, "tx", "packets"), 1);
	assert_int_equal(member(r, "rx", "packets"), 0);
	json_decref(r);
}

/* Packets a second of half a second with 20,000 of them. */
static double
rate(void)
{
	json_int_t tx;
	json_t *r;
	double secs;

	tx = start("null0", "tx", 10000, 20000);
	wait_done(tx);
	r = ok("gen.stop", "{sI}", "id", tx);
	secs = (double)(member(r, "tx", "last_ns") - member(r, "tx",
	    "first_ns")) / 1e9;
	json_decref(r);
	return (10000 / secs);
}

/*
 * As fast as said from the first packet on: never faster, but by the last
 * burst, and slower only when busy.
 */
static void
test_rate(void **state)
{
	double pps = 0;

	DO("if.create", "{ss}", "name", "null0");
	up("null0");
	for (int i = 0; i < 20 && pps < 19000; i++) {
		pps = rate();
		assert_true(pps <= 20200);
	}
	if (pps < 19000)
		fail_msg("%.0f packets a second, wanted 20000", pps);
	DO("if.destroy", "{ss}", "name", "null0");
}

static void
write_pcap(const char *path, int n, uint32_t cut)
{
	pcap_t *pc = pcap_open_dead(DLT_EN10MB, 65535);
	struct pcap_pkthdr ph = { .caplen = 100 - cut, .len = 100 };
	u_char frame[100];
	pcap_dumper_t *pd;

	pd = pcap_dump_open(pc, path);
	assert_non_null(pd);
	for (int i = 0; i < n; i++) {
		memset(frame, i, sizeof(frame));
		pcap_dump((u_char *)pd, &ph, frame);
	}
	pcap_dump_close(pd);
	pcap_close(pc);
}

static void
test_pcap(void **state)
{
	char path[] = "/tmp/ctl_gen_testXXXXXX";
	json_int_t rx, tx;
	json_t *f, *frames, *r, *s;
	size_t i;
	int fd;

	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	write_pcap(path, 3, 0);
	r = ok("gen.start", "{ss ss sb}", "interface", "epair0b", "mode",
	    "rx", "dump", 1);
	rx = num(r, "id");
	json_decref(r);
	r = ok("gen.start", "{ss ss ss sI}", "interface", "epair0a", "mode",
	    "tx", "pcap", path, "count", (json_int_t)7);
	tx = num(r, "id");
	json_decref(r);
	wait_done(tx);
	DO("gen.stop", "{sI}", "id", tx);
	s = ok("gen.stop", "{sI}", "id", rx);
	assert_int_equal(member(s, "rx", "packets"), 7);
	assert_int_equal(member(s, "rx", "bytes"), 700);
	frames = json_object_get(s, "frames");
	assert_int_equal(json_array_size(frames), 7);
	json_array_foreach(frames, i, f) {
		assert_int_equal(num(f, "length"), 100);
		assert_int_equal(str(f, "data")[1], '0' + (int)(i % 3));
	}
	json_decref(s);
	write_pcap(path, 3, 10);
	bad(EINVAL, "pcap", "captured in part", "gen.start", "{ss ss ss}",
	    "interface", "epair0a", "mode", "tx", "pcap", path);
	write_pcap(path, 0, 0);
	bad(EINVAL, "pcap", "no frames", "gen.start", "{ss ss ss}",
	    "interface", "epair0a", "mode", "tx", "pcap", path);
	unlink(path);
	bad(ENOENT, "pcap", path, "gen.start", "{ss ss ss}",
	    "interface", "epair0a", "mode", "tx", "pcap", path);
}

static void
test_misuse(void **state)
{
	json_int_t rx;

	bad(ENXIO, "interface", "does not exist", "gen.start", "{ss ss}",
	    "interface", "ixl9", "mode", "tx");
	bad(EINVAL, "interface", "no Ethernet", "gen.start", "{ss ss}",
	    "interface", "lo0", "mode", "tx");
	bad(EINVAL, "mode", "expected tx", "gen.start", "{ss ss}",
	    "interface", "epair0a", "mode", "txx");
	bad(EINVAL, "length", "length", "gen.start", "{ss ss si}",
	    "interface", "epair0a", "mode", "tx", "length", 41);
	bad(EMSGSIZE, "interface", "MTU", "gen.start", "{ss ss si}",
	    "interface", "epair0a", "mode", "tx", "length", 1515);
	bad(EINVAL, "interface", "a ping needs", "gen.start", "{ss ss si}",
	    "interface", "epair0a", "mode", "ping", "length", 50);
	bad(EINVAL, "src", "expected an IPv4", "gen.start", "{ss ss ss}",
	    "interface", "epair0a", "mode", "tx", "src", "fd00::1");
	bad(EINVAL, "dst_to", "not below", "gen.start", "{ss ss ss ss}",
	    "interface", "epair0a", "mode", "tx", "dst", "10.0.0.2",
	    "dst_to", "10.0.0.1");
	bad(EINVAL, "dst_to", "32 bits", "gen.start", "{ss ss sb ss ss}",
	    "interface", "epair0a", "mode", "tx", "v6", 1, "dst", "fd00::1",
	    "dst_to", "fd01::2");
	bad(EINVAL, "src_port_to", "src_port_to", "gen.start",
	    "{ss ss si si}", "interface", "epair0a", "mode", "tx",
	    "src_port", 9, "src_port_to", 8);
	bad(EINVAL, "dst_mac", "expected a MAC", "gen.start", "{ss ss ss}",
	    "interface", "epair0a", "mode", "tx", "dst_mac", "1:2:3");
	bad(EINVAL, "burst", "burst", "gen.start", "{ss ss si}",
	    "interface", "epair0a", "mode", "tx", "burst", 0);
	bad(EINVAL, "colour", "unknown argument", "gen.start", "{ss ss si}",
	    "interface", "epair0a", "mode", "tx", "colour", 1);
	bad(ENOENT, "id", "no generator", "gen.stats", "{si}", "id", 99);
	rx = start("epair0a", "rx", 0, 0);
	bad(EBUSY, "interface", "has a receiver already", "gen.start",
	    "{ss ss}", "interface", "epair0a", "mode", "pong");
	DO("gen.stop", "{sI}", "id", rx);
	DO("if.set", "{sssi}", "name", "epair0a", "flags_clear", IFF_UP);
	bad(ENETDOWN, "interface", "is down", "gen.start", "{ss ss}",
	    "interface", "epair0a", "mode", "tx");
}

/* The interface goes: so does the traffic, and the numbers stay. */
static void
test_gone(void **state)
{
	json_int_t rx, tx;
	json_t *r;

	DO("if.create", "{ss}", "name", "epair7");
	up("epair7a");
	up("epair7b");
	rx = start("epair7b", "rx", 0, 0);
	tx = start("epair7a", "tx", 0, 0);
	for (int i = 0; i < WAIT_MS; i++) {
		r = ok("gen.stats", "{sI}", "id", rx);
		json_int_t n = member(r, "rx", "packets");

		json_decref(r);
		if (n > 1000)
			break;
		usleep(1000);
	}
	DO("if.destroy", "{ss}", "name", "epair7a");
	assert_true(done(tx));
	assert_true(done(rx));
	r = ok("gen.stop", "{sI}", "id", rx);
	assert_true(json_is_true(json_object_get(r, "gone")));
	assert_true(member(r, "rx", "packets") > 1000);
	json_decref(r);
	DO("gen.stop", "{sI}", "id", tx);
	/* One that nobody stops ends with the machine. */
	(void)start("epair0a", "tx", 0, 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		GEN(test_tx_rx),
		GEN(test_receiver_consumes),
		GEN(test_ping_pong),
		GEN(test_rate),
		GEN(test_pcap),
		GEN(test_misuse),
		GEN(test_gone),
	};

	return (cmocka_run_group_tests(tests, group_setup, group_teardown));
}
