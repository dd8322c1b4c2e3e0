/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * vlan: tags in frames and beside them, both ways; filters, settings and their
 * errors, the state of the link below.
 */
#include "netgraph/nodes/ng_node_testlib.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <netgraph/ng_vlan.h>

#include "netgraph/nodes/ng_nodes.h"

const struct ng_type *const ngt_types[] = { &ng_vlan_type, NULL };

#define	MSG(cmd, arg, len)						\
	ngt_msg("v:", NGM_VLAN_COOKIE, (cmd), (arg), (len))
#define	LEN	60

static const uint8_t addrs[12] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };

static void
make_node(void)
{

	ngt_make("vlan", "v", "downstream");
	ngt_join("v", "nomatch");
	ngt_join("v", "vlan123");
	ngt_join("v", "other");
}

/* IPv4, behind n bytes of tags. */
static struct mbuf *
make_frame(const void *tags, size_t n)
{
	uint8_t frame[LEN + 8] = { 0 };
	struct mbuf *m;

	memcpy(frame, addrs, 12);
	memcpy(frame + 12, tags, n);
	frame[12 + n] = 8;
	m = m_devget(frame, (uint32_t)(LEN + n));
	assert_non_null(m);
	return (m);
}

/* One came by hook, with these n bytes of tags, and beside it this tag. */
static void
expect(const char *hook, const void *tags, size_t n, int vtag, int vproto)
{
	const struct mbuf *m = ngt_last(hook);
	uint8_t want[LEN + 8] = { 0 }, got[LEN + 8];

	assert_int_equal(ngt_count(hook), 1);
	memcpy(want, addrs, 12);
	memcpy(want + 12, tags, n);
	want[12 + n] = 8;
	assert_int_equal(m->m_pkthdr.len, LEN + n);
	m_copydata(m, 0, (uint32_t)(LEN + n), got);
	assert_memory_equal(got, want, LEN + n);
	assert_int_equal((m->m_flags & M_VLANTAG) != 0, vtag >= 0);
	if (vtag >= 0) {
		assert_int_equal(m->m_pkthdr.ether_vtag, vtag);
		assert_int_equal(m->m_pkthdr.ether_vproto, vproto);
	}
	ngt_clear();
}

static struct mbuf *
with_tag(struct mbuf *m, uint16_t proto, uint16_t tag)
{

	m->m_flags |= M_VLANTAG;
	m->m_pkthdr.ether_vproto = proto;
	m->m_pkthdr.ether_vtag = tag;
	return (m);
}

static void
test_up(void **state)
{

	make_node();
	assert_int_equal(ngt_ascii("v:",
	    "addfilter { vlan=123 hook=\"vlan123\" }"), 0);
	assert_int_equal(ngt_send_mbuf("downstream",
	    make_frame("\x81\0\xa0\x7b", 4)), 0);
	expect("vlan123", "", 0, -1, 0);
	assert_int_equal(ngt_send_mbuf("downstream",
	    with_tag(make_frame("", 0), 0x8100, 123)), 0);
	expect("vlan123", "", 0, -1, 0);
	/* The tag beside is the outer one. */
	assert_int_equal(ngt_send_mbuf("downstream",
	    with_tag(make_frame("\x81\0\0\x07", 4), 0x88a8, 123)), 0);
	expect("vlan123", "\x81\0\0\x07", 4, -1, 0);
	/* No tag, another VLAN, another type. */
	assert_int_equal(ngt_send_mbuf("downstream", make_frame("", 0)), 0);
	expect("nomatch", "", 0, -1, 0);
	assert_int_equal(ngt_send_mbuf("downstream",
	    make_frame("\x81\0\0\x07", 4)), 0);
	expect("nomatch", "\x81\0\0\x07", 4, -1, 0);
	assert_int_equal(ngt_send_mbuf("downstream",
	    with_tag(make_frame("", 0), 0x8100, 7)), 0);
	expect("nomatch", "", 0, 7, 0x8100);
	assert_int_equal(ngt_send_mbuf("downstream",
	    make_frame("\x88\xa8\0\x7b", 4)), 0);
	expect("nomatch", "\x88\xa8\0\x7b", 4, -1, 0);
	/* With decap the tag of what nobody wants is beside it. */
	assert_int_equal(ngt_ascii("v:", "setdecap 1"), 0);
	assert_int_equal(ngt_send_mbuf("downstream",
	    make_frame("\x81\0\xb0\x07", 4)), 0);
	expect("nomatch", "", 0, 0xb007, 0x8100);
	/* Another type of tag. */
	assert_int_equal(ngt_ascii("v:", "setencapproto 0x88a8"), 0);
	assert_int_equal(ngt_send_mbuf("downstream",
	    make_frame("\x88\xa8\0\x7b", 4)), 0);
	expect("vlan123", "", 0, -1, 0);
	assert_int_equal(ngt_send_mbuf("downstream",
	    make_frame("\x81\0\0\x7b", 4)), 0);
	expect("nomatch", "\x81\0\0\x7b", 4, -1, 0);
}

static void
test_down(void **state)
{

	make_node();
	assert_int_equal(ngt_ascii("v:",
	    "addfilter { vid=123 pcp=5 cfi=1 hook=\"vlan123\" }"), 0);
	assert_int_equal(ngt_send_mbuf("vlan123", make_frame("", 0)), 0);
	expect("downstream", "\x81\0\xb0\x7b", 4, -1, 0);
	/* What has a tag beside it has two then. */
	assert_int_equal(ngt_send_mbuf("vlan123",
	    with_tag(make_frame("", 0), 0x8100, 9)), 0);
	expect("downstream", "\x81\0\xb0\x7b\x81\0\0\x09", 8, -1, 0);
	assert_int_equal(ngt_send_mbuf("nomatch", make_frame("", 0)), 0);
	expect("downstream", "", 0, -1, 0);
	assert_int_equal(ngt_send_mbuf("nomatch",
	    with_tag(make_frame("", 0), 0x8100, 9)), 0);
	expect("downstream", "", 0, 9, 0x8100);
	assert_int_equal(ngt_ascii("v:", "setencap 2"), 0);
	assert_int_equal(ngt_send_mbuf("nomatch",
	    with_tag(make_frame("", 0), 0x8100, 9)), 0);
	expect("downstream", "\x81\0\0\x09", 4, -1, 0);
	assert_int_equal(ngt_send_mbuf("nomatch", make_frame("", 0)), 0);
	expect("downstream", "", 0, -1, 0);
	assert_int_equal(ngt_send("nomatch", "short", 5), EINVAL);
	/* The tag of a filter is beside the frame now. */
	assert_int_equal(ngt_send_mbuf("vlan123", make_frame("", 0)), 0);
	expect("downstream", "", 0, 0xb07b, 0x8100);
	assert_int_equal(ngt_send_mbuf("vlan123",
	    with_tag(make_frame("", 0), 0x88a8, 9)), 0);
	expect("downstream", "\x88\xa8\0\x09", 4, 0xb07b, 0x8100);
}

static void
test_errors(void **state)
{

	make_node();
	assert_int_equal(ngt_send_mbuf("vlan123", make_frame("", 0)),
	    EOPNOTSUPP);
	assert_int_equal(ngt_ascii("v:",
	    "addfilter { vid=123 hook=\"vlan123\" }"), 0);
	assert_int_equal(ngt_send("vlan123", addrs, 12), EINVAL);
	assert_int_equal(ngt_send("downstream", addrs, 12), EINVAL);
	assert_int_equal(ngt_send("downstream",
	    "\2\0\0\0\0\1\2\0\0\0\0\2\x81\0\0\x7b", 16), EINVAL);
	assert_int_equal(ngt_rmhook(".", "nomatch"), 0);
	assert_int_equal(ngt_send_mbuf("downstream", make_frame("", 0)),
	    ENETDOWN);
	ngt_join("v", "nomatch");
	assert_int_equal(ngt_rmhook(".", "downstream"), 0);
	assert_int_equal(ngt_send_mbuf("vlan123", make_frame("", 0)),
	    ENETDOWN);
	assert_int_equal(ngt_send_mbuf("nomatch", make_frame("", 0)),
	    ENETDOWN);
	assert_int_equal(ngt_connect(".", "v:", "x", "nomatch"), EEXIST);
}

static int
addfilter(const char *hook, int vlan, int vid, int pcp, int cfi)
{
	struct ng_vlan_filter vf = { .vlan = (uint16_t)vlan,
		.vid = (uint16_t)vid, .pcp = (uint8_t)pcp,
		.cfi = (uint8_t)cfi };

	memcpy(vf.hook_name, hook, strlen(hook));
	return (MSG(NGM_VLAN_ADD_FILTER, &vf, sizeof(vf)));
}

static void
test_filters(void **state)
{
	char name[NG_HOOKSIZ];
	uint16_t vid = 123;

	make_node();
	assert_int_equal(addfilter("vlan123", 1, 2, 0, 0), EINVAL);
	assert_int_equal(addfilter("vlan123", 0, 4096, 0, 0), EINVAL);
	assert_int_equal(addfilter("vlan123", 0, 1, 8, 0), EINVAL);
	assert_int_equal(addfilter("vlan123", 0, 1, 0, 2), EINVAL);
	assert_int_equal(addfilter("nobody", 0, 1, 0, 0), ENOENT);
	assert_int_equal(addfilter("downstream", 0, 1, 0, 0), EINVAL);
	assert_int_equal(addfilter("nomatch", 0, 1, 0, 0), EINVAL);
	memset(name, 'x', sizeof(name));
	assert_int_equal(MSG(NGM_VLAN_DEL_FILTER, name, sizeof(name)),
	    ENOENT);
	assert_int_equal(addfilter("vlan123", 123, 0, 7, 1), 0);
	assert_int_equal(addfilter("vlan123", 0, 5, 0, 0), EEXIST);
	assert_int_equal(addfilter("other", 0, 123, 0, 0), EEXIST);
	assert_int_equal(addfilter("other", 0, 4095, 0, 0), 0);
	assert_int_equal(ngt_ascii("v:", "gettable"), 0);
	assert_string_equal(ngt_reply_text(), "{ n=2 filter=[ "
	    "{ hook=\"vlan123\" vlan=123 vid=123 pcp=7 cfi=1 } "
	    "{ hook=\"other\" vlan=4095 vid=4095 } ] }");
	assert_int_equal(MSG(NGM_VLAN_DEL_VID_FLT, &vid, sizeof(vid)), 0);
	assert_int_equal(MSG(NGM_VLAN_DEL_VID_FLT, &vid, sizeof(vid)),
	    ENOENT);
	vid = 4096;
	assert_int_equal(MSG(NGM_VLAN_DEL_VID_FLT, &vid, sizeof(vid)),
	    EINVAL);
	assert_int_equal(ngt_ascii("v:", "delfilter \"vlan123\""), ENOENT);
	assert_int_equal(ngt_ascii("v:", "delfilter \"nomatch\""), EINVAL);
	assert_int_equal(ngt_ascii("v:", "delfilter \"other\""), 0);
	assert_int_equal(ngt_ascii("v:", "gettable"), 0);
	assert_string_equal(ngt_reply_text(), "{}");
	/* A filter goes with its hook. */
	assert_int_equal(addfilter("other", 0, 7, 0, 0), 0);
	assert_int_equal(ngt_rmhook(".", "other"), 0);
	assert_int_equal(addfilter("vlan123", 7, 7, 0, 0), 0);
	assert_int_equal(ngt_ascii("v:", "delvidflt 7"), 0);
}

static void
expect_text(const char *command, const char *text)
{

	assert_int_equal(ngt_ascii("v:", command), 0);
	assert_string_equal(ngt_reply_text(), text);
}

static void
test_messages(void **state)
{
	union {
		struct ng_vlan_table vt;
		uint8_t	bytes[4 + 8 * 38 + 2];
	} u;
	struct ng_vlan_filter *vf = u.vt.filter;
	char name[NG_HOOKSIZ] = "vlan123";
	uint32_t u32, n;
	uint16_t u16;

	make_node();
	expect_text("getdecap", "0x0");
	expect_text("getencap", "0x1");
	expect_text("getencapproto", "0x8100");
	assert_int_equal(ngt_ascii("v:", "setdecap 1"), 0);
	assert_int_equal(ngt_ascii("v:", "setencap 0x3"), 0);
	assert_int_equal(ngt_ascii("v:", "setencapproto 0x9100"), 0);
	expect_text("getdecap", "0x1");
	expect_text("getencap", "0x3");
	expect_text("getencapproto", "0x9100");
	for (uint32_t cmd = 1; cmd <= 10; cmd++)
		assert_int_equal(MSG(cmd, "abc", 3), EINVAL);
	assert_int_equal(MSG(0, NULL, 0), EINVAL);
	assert_int_equal(MSG(11, NULL, 0), EINVAL);
	assert_int_equal(ngt_msg("v:", 1, 1, NULL, 0), EINVAL);
	for (int i = 0; i < 100; i++) {
		memset(&u, 0, sizeof(u));
		u.vt.n = n = (uint32_t)(ngt_random() % 9);
		for (uint32_t j = 0; j < n; j++) {
			snprintf(vf[j].hook_name, NG_HOOKSIZ, "h%u", j);
			vf[j].vid = vf[j].vlan = (uint16_t)ngt_random();
			vf[j].pcp = (uint8_t)ngt_random();
			vf[j].cfi = (uint8_t)ngt_random();
		}
		ngt_roundtrip("v:", NGM_VLAN_COOKIE, NGM_VLAN_GET_TABLE,
		    NGF_RESP, &u, 4 + 38 * n);
		vf[0].vid = (uint16_t)i;
		ngt_roundtrip("v:", NGM_VLAN_COOKIE, NGM_VLAN_ADD_FILTER,
		    NGF_ORIG, vf, 38);
		u32 = (uint32_t)ngt_random();
		u16 = (uint16_t)ngt_random();
		ngt_roundtrip("v:", NGM_VLAN_COOKIE, NGM_VLAN_GET_DECAP,
		    NGF_RESP, &u32, 4);
		ngt_roundtrip("v:", NGM_VLAN_COOKIE, NGM_VLAN_SET_DECAP,
		    NGF_ORIG, &u32, 4);
		ngt_roundtrip("v:", NGM_VLAN_COOKIE, NGM_VLAN_GET_ENCAP,
		    NGF_RESP, &u32, 4);
		ngt_roundtrip("v:", NGM_VLAN_COOKIE, NGM_VLAN_SET_ENCAP,
		    NGF_ORIG, &u32, 4);
		ngt_roundtrip("v:", NGM_VLAN_COOKIE,
		    NGM_VLAN_GET_ENCAP_PROTO, NGF_RESP, &u16, 2);
		ngt_roundtrip("v:", NGM_VLAN_COOKIE,
		    NGM_VLAN_SET_ENCAP_PROTO, NGF_ORIG, &u16, 2);
		ngt_roundtrip("v:", NGM_VLAN_COOKIE, NGM_VLAN_DEL_VID_FLT,
		    NGF_ORIG, &u16, 2);
	}
	ngt_roundtrip("v:", NGM_VLAN_COOKIE, NGM_VLAN_DEL_FILTER, NGF_ORIG,
	    name, sizeof(name));
}

/* The probe keeps the last one: there is one filter. */
static void
test_flow(void **state)
{

	make_node();
	assert_int_equal(ngt_msg("downstream", NGM_FLOW_COOKIE,
	    NGM_LINK_IS_DOWN, NULL, 0), 0);
	assert_null(ngt_reply());
	assert_int_equal(addfilter("other", 0, 5, 0, 0), 0);
	assert_int_equal(ngt_msg("downstream", NGM_FLOW_COOKIE,
	    NGM_LINK_IS_DOWN, NULL, 0), 0);
	assert_non_null(ngt_reply());
	assert_int_equal(ngt_reply()->header.typecookie, NGM_FLOW_COOKIE);
	assert_int_equal(ngt_reply()->header.cmd, NGM_LINK_IS_DOWN);
	assert_int_equal(ngt_msg("other", NGM_FLOW_COOKIE, NGM_LINK_IS_UP,
	    NULL, 0), 0);
	assert_null(ngt_reply());
	assert_int_equal(ngt_msg("downstream", NGM_FLOW_COOKIE,
	    NGM_DROP_LINK, NULL, 0), EINVAL);
}

static void
churn(unsigned int round)
{

	(void)addfilter("vlan123", 0, (int)(round % 4096), 0, 0);
	assert_int_equal(ngt_ascii("v:", round % 3 == 0 ? "setencap 0" :
	    "setencap 1"), 0);
	if (round % 2 == 0)
		assert_int_equal(ngt_ascii("v:", "delfilter \"vlan123\""), 0);
	if (round % 5 == 0) {
		assert_int_equal(ngt_rmhook(".", "vlan123"), 0);
		ngt_join("v", "vlan123");
	}
}

static void
test_race(void **state)
{

	make_node();
	ngt_race("downstream", "vlan123", churn, 200);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_up, ngt_test_reset),
		cmocka_unit_test_teardown(test_down, ngt_test_reset),
		cmocka_unit_test_teardown(test_errors, ngt_test_reset),
		cmocka_unit_test_teardown(test_filters, ngt_test_reset),
		cmocka_unit_test_teardown(test_messages, ngt_test_reset),
		cmocka_unit_test_teardown(test_flow, ngt_test_reset),
		cmocka_unit_test_teardown(test_race, ngt_test_reset),
	};

	return (cmocka_run_group_tests(tests, ngt_group_start, ngt_group_stop));
}
