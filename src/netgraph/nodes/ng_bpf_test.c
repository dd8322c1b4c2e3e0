/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * bpf: programs and where they lead, as hooks come and go; counters, errors.
 */
#include "netgraph/nodes/ng_node_testlib.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <netgraph/ng_bpf.h>

#include "netgraph/nodes/ng_nodes.h"

const struct ng_type *const ngt_types[] = { &ng_bpf_type, NULL };

#define	MSG(cmd, arg, len)						\
	ngt_msg("b:", NGM_BPF_COOKIE, (cmd), (arg), (len))

/* IPv4: all of it, at most 50 bytes; else nothing. */
#define	IPV4 "bpf_prog_len=4 bpf_prog=[ { code=0x28 k=12 } "		\
	"{ code=0x15 jf=1 k=2048 } { code=0x6 k=50 } { code=0x6 } ]"

static void
make_node(void)
{

	ngt_make("bpf", "b", "in");
	ngt_join("b", "yes");
	ngt_join("b", "no");
}

static int
setprogram(const char *match, const char *nomatch)
{
	char text[512];

	snprintf(text, sizeof(text), "setprogram { thisHook=\"in\" "
	    "ifMatch=\"%s\" ifNotMatch=\"%s\" " IPV4 " }", match, nomatch);
	return (ngt_ascii("b:", text));
}

static int
send_type(unsigned int type)
{
	uint8_t frame[60] = { 2 };

	frame[12] = (uint8_t)(type >> 8);
	frame[13] = (uint8_t)type;
	return (ngt_send("in", frame, sizeof(frame)));
}

static void
expect(unsigned int yes, unsigned int no)
{

	assert_int_equal(ngt_count("yes"), yes);
	assert_int_equal(ngt_count("no"), no);
	ngt_clear();
}

static void
test_ways(void **state)
{

	make_node();
	/* The first program lets nothing through. */
	assert_int_equal(send_type(0x0800), 0);
	expect(0, 0);
	assert_int_equal(setprogram("yes", "no"), 0);
	assert_int_equal(send_type(0x0800), 0);
	assert_int_equal(ngt_last("yes")->m_pkthdr.len, 50);
	expect(1, 0);
	assert_int_equal(send_type(0x0806), 0);
	assert_int_equal(ngt_last("no")->m_pkthdr.len, 60);
	expect(0, 1);
	/* Too short for the load, and empty. */
	assert_int_equal(ngt_send("in", "short", 5), 0);
	assert_int_equal(ngt_send("in", "", 0), 0);
	expect(0, 2);
	assert_int_equal(setprogram("yes", ""), 0);
	assert_int_equal(send_type(0x0806), 0);
	expect(0, 0);
	/* Back to where it came from. */
	assert_int_equal(setprogram("in", "no"), 0);
	assert_int_equal(send_type(0x0800), 0);
	assert_int_equal(ngt_count("in"), 1);
}

static void
test_later(void **state)
{

	make_node();
	assert_int_equal(setprogram("late", "no"), 0);
	assert_int_equal(send_type(0x0800), 0);
	ngt_join("b", "late");
	assert_int_equal(ngt_count("late"), 0);
	assert_int_equal(send_type(0x0800), 0);
	assert_int_equal(ngt_count("late"), 1);
	assert_int_equal(ngt_rmhook(".", "late"), 0);
	assert_int_equal(send_type(0x0800), 0);
	assert_int_equal(ngt_rmhook(".", "no"), 0);
	assert_int_equal(send_type(0x0806), 0);
	ngt_join("b", "no");
	assert_int_equal(send_type(0x0806), 0);
	expect(0, 1);
}

static void
expect_text(const char *command, const char *text)
{

	assert_int_equal(ngt_ascii("b:", command), 0);
	assert_non_null(ngt_reply_text());
	assert_string_equal(ngt_reply_text(), text);
}

static void
test_stats(void **state)
{

	make_node();
	assert_int_equal(setprogram("yes", "no"), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(send_type(0x0800), 0);
	assert_int_equal(send_type(0x0806), 0);
	expect_text("getstats \"in\"", "{ recvFrames=4 recvOctets=240 "
	    "recvMatchFrames=3 recvMatchOctets=180 }");
	expect_text("getstats \"yes\"", "{ xmitFrames=3 xmitOctets=150 }");
	expect_text("getclrstats \"no\"", "{ xmitFrames=1 xmitOctets=60 }");
	expect_text("getstats \"no\"", "{}");
	assert_int_equal(ngt_ascii("b:", "clrstats \"in\""), 0);
	assert_null(ngt_reply());
	expect_text("getstats \"in\"", "{}");
	expect_text("getprogram \"yes\"", "{ thisHook=\"yes\" "
	    "bpf_prog_len=1 bpf_prog=[ { code=0x6 } ] }");
	expect_text("getprogram \"in\"", "{ thisHook=\"in\" "
	    "ifMatch=\"yes\" ifNotMatch=\"no\" " IPV4 " }");
}

static int
set_binary(const char *hook, int n, size_t insns, uint16_t code)
{
	static union {
		struct ng_bpf_hookprog prog;
		uint8_t	bytes[NG_BPF_HOOKPROG_SIZE(600)];
	} u;

	memset(&u, 0, sizeof(u));
	memcpy(u.prog.thisHook, hook, strnlen(hook, NG_HOOKSIZ));
	u.prog.bpf_prog_len = n;
	for (size_t i = 0; i < insns; i++)
		u.prog.bpf_prog[i].code = code;
	return (MSG(NGM_BPF_SET_PROGRAM, &u, NG_BPF_HOOKPROG_SIZE(insns)));
}

static void
test_errors(void **state)
{
	char name[NG_HOOKSIZ + 1];

	make_node();
	assert_int_equal(set_binary("in", 1, 1, 0x06), 0);
	assert_int_equal(set_binary("in", 512, 512, 0x06), 0);
	assert_int_equal(set_binary("in", 513, 513, 0x06), EINVAL);
	assert_int_equal(set_binary("in", 0, 0, 0x06), EINVAL);
	assert_int_equal(set_binary("in", -1, 1, 0x06), EINVAL);
	assert_int_equal(set_binary("in", INT32_MAX, 1, 0x06), EINVAL);
	assert_int_equal(set_binary("in", 2, 1, 0x06), EINVAL);
	assert_int_equal(set_binary("in", 1, 2, 0x06), EINVAL);
	assert_int_equal(set_binary("in", 1, 1, 0x00), EINVAL);
	assert_int_equal(set_binary("in", 1, 1, 0x0e), EINVAL);
	assert_int_equal(set_binary("nobody", 1, 1, 0x06), ENOENT);
	assert_int_equal(set_binary("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 1,
	    1, 0x06), ENOENT);
	assert_int_equal(MSG(NGM_BPF_SET_PROGRAM, "x", 1), EINVAL);
	memset(name, 'x', sizeof(name));
	for (uint32_t cmd = 2; cmd <= 5; cmd++) {
		assert_int_equal(MSG(cmd, NULL, 0), EINVAL);
		assert_int_equal(MSG(cmd, name, sizeof(name)), EINVAL);
		assert_int_equal(MSG(cmd, name, NG_HOOKSIZ), ENOENT);
		assert_int_equal(MSG(cmd, "in", 3), 0);
	}
	assert_int_equal(MSG(0, "in", 3), EINVAL);
	assert_int_equal(MSG(6, "in", 3), EINVAL);
	assert_int_equal(ngt_msg("b:", 1, 1, NULL, 0), EINVAL);
	assert_int_equal(ngt_connect(".", "b:", "x", "in"), EEXIST);
}

static void
test_roundtrip(void **state)
{
	union {
		struct ng_bpf_hookprog prog;
		uint8_t	bytes[NG_BPF_HOOKPROG_SIZE(8)];
	} u;
	char name[NG_HOOKSIZ] = "in";
	uint64_t stats[6];
	int n;

	make_node();
	for (int i = 0; i < 100; i++) {
		memset(&u, 0, sizeof(u));
		n = i % 9;
		strcpy(u.prog.thisHook, "in");
		snprintf(u.prog.ifMatch, NG_HOOKSIZ, "hook%d", i);
		u.prog.bpf_prog_len = n;
		for (int j = 0; j < n; j++) {
			u.prog.bpf_prog[j].code = (uint16_t)ngt_random();
			u.prog.bpf_prog[j].jt = (uint8_t)ngt_random();
			u.prog.bpf_prog[j].jf = (uint8_t)ngt_random();
			u.prog.bpf_prog[j].k = (uint32_t)ngt_random();
		}
		ngt_roundtrip("b:", NGM_BPF_COOKIE, NGM_BPF_SET_PROGRAM,
		    NGF_ORIG, &u, NG_BPF_HOOKPROG_SIZE((size_t)n));
		ngt_roundtrip("b:", NGM_BPF_COOKIE, NGM_BPF_GET_PROGRAM,
		    NGF_RESP, &u, NG_BPF_HOOKPROG_SIZE((size_t)n));
		for (int j = 0; j < 6; j++)
			stats[j] = ngt_random() >> 1;
		ngt_roundtrip("b:", NGM_BPF_COOKIE, NGM_BPF_GET_STATS,
		    NGF_RESP, stats, sizeof(stats));
		ngt_roundtrip("b:", NGM_BPF_COOKIE, NGM_BPF_GETCLR_STATS,
		    NGF_RESP, stats, sizeof(stats));
	}
	for (uint32_t cmd = 2; cmd <= 5; cmd++)
		ngt_roundtrip("b:", NGM_BPF_COOKIE, cmd, NGF_ORIG, name,
		    sizeof(name));
}

static void
churn(unsigned int round)
{

	assert_int_equal(setprogram(round % 2 == 0 ? "yes" : "no",
	    round % 3 == 0 ? "yes" : "no"), 0);
	assert_int_equal(ngt_rmhook(".", "yes"), 0);
	ngt_join("b", "yes");
	if (round % 4 == 0)
		assert_int_equal(ngt_ascii("b:", "getclrstats \"in\""), 0);
}

static void
test_race(void **state)
{

	make_node();
	ngt_race("in", "no", churn, 200);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_ways, ngt_test_reset),
		cmocka_unit_test_teardown(test_later, ngt_test_reset),
		cmocka_unit_test_teardown(test_stats, ngt_test_reset),
		cmocka_unit_test_teardown(test_errors, ngt_test_reset),
		cmocka_unit_test_teardown(test_roundtrip, ngt_test_reset),
		cmocka_unit_test_teardown(test_race, ngt_test_reset),
	};

	return (cmocka_run_group_tests(tests, ngt_group_start, ngt_group_stop));
}
