/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * vlan_rotate: every rotation of every stack of tags, mixed types, limits and
 * the hooks for what is beyond them, messages and errors.
 */
#include "netgraph/nodes/ng_node_testlib.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <netgraph/ng_vlan_rotate.h>

#include "netgraph/nodes/ng_nodes.h"

const struct ng_type *const ngt_types[] = { &ng_vlan_rotate_type, NULL };

#define	TAGS	10
#define	FRAME	(12 + 4 * TAGS)

/* A frame of n tags 1 to n, of the given types or 0x8100, then IPv4. */
static void
make_frame(uint8_t *frame, unsigned int n, const uint16_t *types)
{
	uint16_t type;

	memset(frame, 0, FRAME);
	memset(frame, 2, 12);
	for (unsigned int i = 0; i < TAGS; i++) {
		type = i >= n ? 0x0800 : types != NULL ? types[i] : 0x8100;
		frame[12 + 4 * i] = (uint8_t)(type >> 8);
		frame[13 + 4 * i] = (uint8_t)type;
		frame[15 + 4 * i] = (uint8_t)(i + 1);
	}
}

static void
make_node(void)
{

	ngt_make("vlan_rotate", "vr", "original");
	ngt_join("vr", "ordered");
}

static void
setconf(int min, int max, int rot)
{
	char text[64];

	snprintf(text, sizeof(text), "setconf { min=%d max=%d rot=%d }", min,
	    max, rot);
	assert_int_equal(ngt_ascii("vr:", text), 0);
}

/* Send n tags from one hook: they come turned out of the other. */
static void
check_turn(const char *from, const char *to, unsigned int n, int rot,
    const uint16_t *types)
{
	uint8_t frame[FRAME], got[FRAME];
	int direction = strcmp(from, "original") == 0 ? 1 : -1;
	unsigned int tag;

	make_frame(frame, n, types);
	ngt_clear();
	assert_int_equal(ngt_send(from, frame, sizeof(frame)), 0);
	assert_int_equal(ngt_count(to), 1);
	assert_int_equal(ngt_last(to)->m_pkthdr.len, FRAME);
	m_copydata(ngt_last(to), 0, FRAME, got);
	for (unsigned int i = 0; i < n; i++) {
		tag = (unsigned int)(2 * (int)n + (int)i - direction * rot) %
		    n + 1;
		assert_memory_equal(got + 12 + 4 * i,
		    frame + 12 + 4 * (tag - 1), 4);
	}
	assert_memory_equal(got, frame, 12);
	assert_memory_equal(got + 12 + 4 * n, frame + 12 + 4 * n,
	    FRAME - 12 - 4 * n);
}

static void
check_all(const char *from, const char *to)
{

	make_node();
	for (int n = 9; n >= 1; n--)
		for (int rot = -n + 1; rot <= n - 1; rot++) {
			setconf(0, 9, rot);
			check_turn(from, to, (unsigned int)n, rot, NULL);
		}
}

static void
test_basic(void **state)
{

	check_all("original", "ordered");
}

static void
test_reverse(void **state)
{

	check_all("ordered", "original");
}

static void
test_types(void **state)
{
	static const uint16_t all[] = { 0x8100, 0x88a8, 0x9100, 0x9200,
		0x9300 };
	uint16_t types[TAGS];
	int rot;

	make_node();
	for (int round = 0; round < 40; round++) {
		for (int i = 0; i < 9; i++)
			types[i] = all[ngt_random() % 5];
		rot = (int)(ngt_random() % 17) - 8;
		setconf(0, 9, rot);
		check_turn("original", "ordered", 9, rot, types);
		check_turn("ordered", "original", 9, rot, types);
	}
}

static void
expect_at(const char *hook)
{
	static const char *const hooks[] = { "original", "ordered",
		"excessive", "incomplete" };

	for (int i = 0; i < 4; i++)
		assert_int_equal(ngt_count(hooks[i]),
		    strcmp(hook, hooks[i]) == 0);
	ngt_clear();
}

static void
test_minmax(void **state)
{
	uint8_t frame[FRAME];
	const char *away;

	make_node();
	ngt_join("vr", "excessive");
	ngt_join("vr", "incomplete");
	setconf(3, 7, 0);
	for (unsigned int n = 9; n >= 1; n--) {
		make_frame(frame, n, NULL);
		away = n < 3 ? "incomplete" : n > 7 ? "excessive" : NULL;
		assert_int_equal(ngt_send("original", frame, FRAME), 0);
		expect_at(away != NULL ? away : "ordered");
		assert_int_equal(ngt_send("ordered", frame, FRAME), 0);
		expect_at(away != NULL ? away : "original");
		assert_int_equal(ngt_send("excessive", frame, FRAME), 0);
		expect_at("original");
		assert_int_equal(ngt_send("incomplete", frame, FRAME), 0);
		expect_at("original");
	}
}

/* Ten tags are too many; a tag beside the frame is the outermost. */
static void
test_edges(void **state)
{
	uint8_t frame[FRAME + 4] = { 0 }, got[FRAME];
	struct mbuf *m;

	make_node();
	ngt_join("vr", "excessive");
	make_frame(frame, 10, NULL);
	assert_int_equal(ngt_send("original", frame, FRAME + 4), 0);
	expect_at("excessive");
	setconf(0, 10, 1);
	make_frame(frame, 1, NULL);
	m = m_devget(frame, FRAME);
	assert_non_null(m);
	m->m_flags |= M_VLANTAG;
	m->m_pkthdr.ether_vtag = 77;
	m->m_pkthdr.ether_vproto = 0x88a8;
	assert_int_equal(ngt_send_mbuf("original", m), 0);
	assert_int_equal(ngt_last("ordered")->m_pkthdr.len, FRAME + 4);
	assert_int_equal(ngt_last("ordered")->m_flags & M_VLANTAG, 0);
	m_copydata(ngt_last("ordered"), 12, 8, got);
	assert_memory_equal(got, "\x81\0\0\1\x88\xa8\0\x4d", 8);
	ngt_clear();
	/* The second tag is cut short: it is none. */
	setconf(2, 10, 0);
	make_frame(frame, 5, NULL);
	assert_int_equal(ngt_send("original", frame, 19), ENOSYS);
	assert_int_equal(ngt_send("original", frame, 20), 0);
	assert_int_equal(ngt_count("ordered"), 1);
}

static void
expect_stat(uint32_t cmd, const struct ng_vlanrotate_stat *want)
{

	assert_int_equal(ngt_msg("vr:", NGM_VLANROTATE_COOKIE, cmd, NULL, 0),
	    0);
	assert_non_null(ngt_reply());
	assert_int_equal(ngt_reply()->header.arglen, sizeof(*want));
	assert_memory_equal(ngt_reply()->data, want, sizeof(*want));
}

static void
test_drops(void **state)
{
	static const struct ng_vlanrotate_stat none;
	struct ng_vlanrotate_stat want = { .drops = 5, .excessive = 1,
		.incomplete = 1, .histogram = { 0, 1, 0, 0, 1, 0, 0, 0, 1 } };
	uint8_t frame[FRAME];

	make_node();
	setconf(3, 7, 0);
	make_frame(frame, 1, NULL);
	assert_int_equal(ngt_send("original", frame, FRAME), ENOSYS);
	make_frame(frame, 8, NULL);
	assert_int_equal(ngt_send("original", frame, FRAME), ENOSYS);
	assert_int_equal(ngt_send("original", frame, 13), EINVAL);
	make_frame(frame, 4, NULL);
	assert_int_equal(ngt_rmhook(".", "ordered"), 0);
	assert_int_equal(ngt_send("original", frame, FRAME), ENETDOWN);
	ngt_join("vr", "excessive");
	assert_int_equal(ngt_rmhook(".", "original"), 0);
	assert_int_equal(ngt_send("excessive", frame, FRAME), ENETDOWN);
	expect_stat(NGM_VLANROTATE_GET_STAT, &want);
	assert_int_equal(ngt_ascii("vr:", "getstat"), 0);
	assert_string_equal(ngt_reply_text(), "{ drops=5 excessive=1 "
	    "incomplete=1 histogram=[ 1=1 4=1 8=1 ] }");
	expect_stat(NGM_VLANROTATE_GETCLR_STAT, &want);
	expect_stat(NGM_VLANROTATE_GET_STAT, &none);
	assert_int_equal(ngt_send("excessive", frame, FRAME), ENETDOWN);
	assert_int_equal(ngt_ascii("vr:", "clrstat"), 0);
	assert_null(ngt_reply());
	assert_int_equal(ngt_ascii("vr:", "getclrstat"), 0);
	assert_string_equal(ngt_reply_text(), "{}");
}

static int
set_binary(int rot, int min, int max)
{
	struct ng_vlanrotate_conf conf = { .rot = (int8_t)rot,
		.min = (uint8_t)min, .max = (uint8_t)max };

	return (ngt_msg("vr:", NGM_VLANROTATE_COOKIE, NGM_VLANROTATE_SET_CONF,
	    &conf, sizeof(conf)));
}

static void
test_messages(void **state)
{
	struct ng_vlanrotate_conf conf;
	struct ng_vlanrotate_stat stat = { 0 };

	make_node();
	assert_int_equal(ngt_ascii("vr:", "getconf"), 0);
	assert_string_equal(ngt_reply_text(), "{ max=10 }");
	assert_int_equal(set_binary(0, 0, 11), EINVAL);
	assert_int_equal(set_binary(0, 6, 5), EINVAL);
	assert_int_equal(set_binary(5, 0, 5), EINVAL);
	assert_int_equal(set_binary(-5, 0, 5), EINVAL);
	assert_int_equal(set_binary(-128, 0, 10), EINVAL);
	assert_int_equal(set_binary(-4, 2, 5), 0);
	assert_int_equal(set_binary(3, 1, 0), 0);
	assert_int_equal(ngt_ascii("vr:", "getconf"), 0);
	assert_string_equal(ngt_reply_text(), "{ rot=3 min=1 max=5 }");
	assert_int_equal(ngt_msg("vr:", NGM_VLANROTATE_COOKIE,
	    NGM_VLANROTATE_SET_CONF, "abcd", 4), EINVAL);
	for (uint32_t cmd = 1; cmd <= 5; cmd++)
		assert_int_equal(ngt_msg("vr:", NGM_VLANROTATE_COOKIE, cmd,
		    "x", 1), EINVAL);
	assert_int_equal(ngt_msg("vr:", NGM_VLANROTATE_COOKIE, 0, NULL, 0),
	    EINVAL);
	assert_int_equal(ngt_msg("vr:", NGM_VLANROTATE_COOKIE, 6, NULL, 0),
	    EINVAL);
	assert_int_equal(ngt_msg("vr:", 1, 1, NULL, 0), EINVAL);
	assert_int_equal(ngt_connect(".", "vr:", "x", "other"), EINVAL);
	assert_int_equal(ngt_connect(".", "vr:", "x", "original"), EEXIST);
	for (int i = 0; i < 100; i++) {
		conf.rot = (int8_t)ngt_random();
		conf.min = (uint8_t)ngt_random();
		conf.max = (uint8_t)ngt_random();
		ngt_roundtrip("vr:", NGM_VLANROTATE_COOKIE,
		    NGM_VLANROTATE_SET_CONF, NGF_ORIG, &conf, sizeof(conf));
		ngt_roundtrip("vr:", NGM_VLANROTATE_COOKIE,
		    NGM_VLANROTATE_GET_CONF, NGF_RESP, &conf, sizeof(conf));
		stat.histogram[i % 10] = ngt_random() >> 1;
		stat.drops = ngt_random() >> 1;
		ngt_roundtrip("vr:", NGM_VLANROTATE_COOKIE,
		    NGM_VLANROTATE_GET_STAT, NGF_RESP, &stat, sizeof(stat));
		ngt_roundtrip("vr:", NGM_VLANROTATE_COOKIE,
		    NGM_VLANROTATE_GETCLR_STAT, NGF_RESP, &stat,
		    sizeof(stat));
	}
}

static void
churn(unsigned int round)
{

	setconf((int)(round % 3), 3 + (int)(round % 8), (int)(round % 5) - 2);
	if (round % 3 == 0)
		assert_int_equal(ngt_ascii("vr:", "getclrstat"), 0);
	if (round % 2 == 0)
		ngt_join("vr", "incomplete");
	else
		assert_int_equal(ngt_rmhook(".", "incomplete"), 0);
}

static void
test_race(void **state)
{

	make_node();
	ngt_race("original", "ordered", churn, 200);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_basic, ngt_test_reset),
		cmocka_unit_test_teardown(test_reverse, ngt_test_reset),
		cmocka_unit_test_teardown(test_types, ngt_test_reset),
		cmocka_unit_test_teardown(test_minmax, ngt_test_reset),
		cmocka_unit_test_teardown(test_edges, ngt_test_reset),
		cmocka_unit_test_teardown(test_drops, ngt_test_reset),
		cmocka_unit_test_teardown(test_messages, ngt_test_reset),
		cmocka_unit_test_teardown(test_race, ngt_test_reset),
	};

	return (cmocka_run_group_tests(tests, ngt_group_start, ngt_group_stop));
}
