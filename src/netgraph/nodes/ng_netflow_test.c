/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * netflow: hooks, every message, what counts as a flow and when it ends, the
 * exported datagrams read as a collector would (version 9 by its templates),
 * more flows than the table holds, broken packets, and traffic while all of it
 * changes.
 */
#include <netinet/in.h>

#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <netgraph/ng_netflow.h>

#include "netgraph/nodes/ng_node_testlib.h"
#include "netgraph/nodes/ng_nodes.h"


const struct ng_type *const ngt_types[] = { &ng_netflow_type, NULL };

static int
nf_msg(uint32_t cmd, const void *arg, size_t len)
{

	return (ngt_msg("n:", NGM_NETFLOW_COOKIE, cmd, arg, len));
}

static void
mknode(void)
{

	assert_int_equal(ngt_mkpeer(".", "netflow", "i", "iface0"), 0);
	assert_int_equal(ngt_name(".:i", "n"), 0);
	assert_int_equal(ngt_connect(".", "n:", "o", "out0"), 0);
	assert_int_equal(ngt_connect(".", "n:", "e5", "export"), 0);
	assert_int_equal(ngt_connect(".", "n:", "e9", "export9"), 0);
	assert_int_equal(ngt_ascii("n:", "setdlt { dlt=12 }"), 0);
}

static struct ng_netflow_info
getinfo(void)
{
	struct ng_netflow_info in;

	ngt_get("n:", NGM_NETFLOW_COOKIE, NGM_NETFLOW_INFO, NULL, 0,
	    &in, sizeof(in));
	return (in);
}

/* 60 bytes: IPv4, TCP with these flags, from that port. */
static const uint8_t *
tcp4(uint16_t sport, uint8_t flags)
{
	static uint8_t p[60];

	memset(p, 0, sizeof(p));
	p[0] = 0x45;
	p[1] = 0x10;
	p[3] = 60;
	p[9] = IPPROTO_TCP;
	memcpy(p + 12, "\x0a\x00\x00\x01\x0a\x00\x00\x02", 8);
	p[20] = (uint8_t)(sport >> 8);
	p[21] = (uint8_t)sport;
	p[23] = 80;
	p[33] = flags;
	return (p);
}

/* 64 bytes: IPv6, a hop-by-hop header, UDP. */
static const uint8_t *
udp6(uint16_t sport)
{
	static uint8_t p[64];

	memset(p, 0, sizeof(p));
	p[0] = 0x60;
	p[5] = 24;
	p[6] = IPPROTO_HOPOPTS;
	memset(p + 8, 0xaa, 16);
	memset(p + 24, 0xbb, 16);
	p[40] = IPPROTO_UDP;
	p[48] = (uint8_t)(sport >> 8);
	p[49] = (uint8_t)sport;
	p[51] = 53;
	return (p);
}

static void
send4(uint16_t sport, uint8_t flags)
{

	assert_int_equal(ngt_send("i", tcp4(sport, flags), 60), 0);
}

static size_t
last(const char *hook, uint8_t *buf, size_t size)
{
	const struct mbuf *m = ngt_last(hook);

	assert_non_null(m);
	assert_true(m->m_pkthdr.len <= size);
	m_copydata(m, 0, m->m_pkthdr.len, buf);
	return (m->m_pkthdr.len);
}

static uint32_t
get(const uint8_t *p, int len)
{
	uint32_t v = 0;

	while (len-- > 0)
		v = v << 8 | *p++;
	return (v);
}

/* ---- Control ---- */

static void
test_hooks(void **state)
{
	static const char *const bad[] = { "iface", "iface65535", "iface01",
		"outx", "export5", "export99", "x", "iface-1" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(ngt_mkpeer(".", "netflow", "i", bad[i]),
		    EINVAL);
	mknode();
	assert_int_equal(ngt_connect(".", "n:", "z", "out65534"), 0);
	assert_int_equal(ngt_connect(".", "n:", "y", "iface0"), EEXIST);
	assert_int_equal(ngt_send("e5", "x", 1), EINVAL);
	assert_int_equal(ngt_send("e9", "x", 1), EINVAL);
	/* Through, and back. */
	send4(1, 0);
	assert_int_equal(ngt_count("o"), 1);
	assert_int_equal(ngt_send("o", tcp4(1, 0), 60), 0);
	assert_int_equal(ngt_count("i"), 1);
	/* No partner: an accounted packet is dropped, others have nowhere. */
	assert_int_equal(ngt_rmhook(".", "o"), 0);
	send4(1, 0);
	assert_int_equal(getinfo().nfinfo_packets, 2);
	assert_int_equal(ngt_ascii("n:", "setconfig { iface=0 conf=0 }"), 0);
	assert_int_equal(ngt_send("i", tcp4(1, 0), 60), ENOTCONN);
	assert_int_equal(ngt_send("z", tcp4(1, 0), 60), ENOTCONN);
	assert_int_equal(ngt_rmhook(".", "i"), 0);
	assert_int_equal(ngt_rmhook(".", "z"), 0);
	assert_int_equal(ngt_rmhook(".", "e5"), 0);
	assert_int_equal(ngt_rmhook(".", "e9"), 0);
	assert_int_equal(ngt_shutdown("n:"), ENOENT);
}

static void
test_messages(void **state)
{
	static const struct {
		uint32_t cmd;
		size_t	 len;
	} m[] = {
		{ NGM_NETFLOW_INFO, 0 },
		{ NGM_NETFLOW_IFINFO, 2 },
		{ NGM_NETFLOW_SHOW, 16 },
		{ NGM_NETFLOW_SETDLT, 4 },
		{ NGM_NETFLOW_SETIFINDEX, 4 },
		{ NGM_NETFLOW_SETTIMEOUTS, 8 },
		{ NGM_NETFLOW_SETCONFIG, 8 },
		{ NGM_NETFLOW_SETTEMPLATE, 4 },
		{ NGM_NETFLOW_SETMTU, 2 },
		{ NGM_NETFLOW_V9INFO, 0 },
	};
	uint8_t bytes[64] = { 0 };

	(void)state;
	mknode();
	for (size_t i = 0; i < sizeof(m) / sizeof(m[0]); i++)
		for (size_t len = 0; len < sizeof(bytes); len++)
			if (len != m[i].len)
				assert_int_equal(nf_msg(m[i].cmd, bytes, len),
				    EINVAL);
	assert_int_equal(nf_msg(11, NULL, 0), EINVAL);
	assert_int_equal(nf_msg(1, NULL, 0), EINVAL);
	assert_int_equal(ngt_msg("n:", 4711, NGM_NETFLOW_INFO, NULL, 0),
	    EINVAL);
	for (int i = 0; i < 50; i++) {
		for (size_t j = 0; j < sizeof(bytes); j++)
			bytes[j] = (uint8_t)ngt_random();
		for (size_t j = 3; j < 9; j++) {
			if (j == 3)
				bytes[3] = 0;	/* padding */
			if (m[j].cmd == NGM_NETFLOW_SETCONFIG)
				bytes[2] = 0;
			ngt_roundtrip("n:", NGM_NETFLOW_COOKIE, m[j].cmd, 0,
			    bytes, m[j].len);
		}
		ngt_roundtrip("n:", NGM_NETFLOW_COOKIE, NGM_NETFLOW_IFINFO, 0,
		    bytes, 2);
	}
	/* An interface that is not connected. */
	assert_int_equal(ngt_ascii("n:", "ifinfo 1"), EINVAL);
	assert_int_equal(ngt_ascii("n:", "ifinfo 65535"), EINVAL);
	assert_int_equal(ngt_ascii("n:", "setdlt { iface=1 dlt=1 }"), EINVAL);
	assert_int_equal(ngt_ascii("n:", "setifindex { iface=1 index=7 }"),
	    EINVAL);
	assert_int_equal(ngt_ascii("n:", "setconfig { iface=1 conf=1 }"),
	    EINVAL);
	assert_int_equal(ngt_ascii("n:", "setdlt { iface=0 dlt=2 }"), EINVAL);
	assert_int_equal(ngt_ascii("n:", "setmtu { mtu=511 }"), EINVAL);
	assert_int_equal(ngt_ascii("n:", "setmtu { mtu=9217 }"), EINVAL);
	assert_int_equal(ngt_ascii("n:", "setmtu { mtu=1400 }"), 0);
	assert_int_equal(ngt_ascii("n:", "settemplate { time=1 packets=2 }"),
	    0);
	assert_int_equal(nf_msg(NGM_NETFLOW_V9INFO, NULL, 0), 0);
	assert_int_equal(ngt_reply()->header.arglen, 6);
	assert_memory_equal(ngt_reply()->data,
	    (&(struct ng_netflow_v9info){ 2, 1, 1400 }), 6);
	assert_int_equal(ngt_ascii("n:", "settimeouts { inactive=3 active=4 }"),
	    0);
	assert_int_equal(getinfo().nfinfo_inact_t, 3);
	assert_int_equal(getinfo().nfinfo_act_t, 4);
	assert_int_equal(ngt_ascii("n:", "setifindex { index=7 }"), 0);
	assert_int_equal(ngt_ascii("n:", "setconfig { conf=3 }"), 0);
	send4(1, 0);
	assert_int_equal(ngt_ascii("n:", "ifinfo 0"), 0);
	assert_non_null(strstr(ngt_reply_text(), "index=7 conf=3"));
	assert_int_equal(ngt_ascii("n:", "info"), 0);
	assert_non_null(strstr(ngt_reply_text(), "IPv4 bytes=60 "));
	assert_int_equal(ngt_ascii("n:", "v9info"), 0);
}

/* ---- Flows ---- */

/* Flows of a version, by the show message, to out; how many. */
static unsigned int
show(uint8_t version, struct ng_netflow_flow *out, unsigned int max)
{
	struct ng_netflow_show sh = { .version = version };
	unsigned int n = 0;

	do {
		assert_int_equal(nf_msg(NGM_NETFLOW_SHOW, &sh, sizeof(sh)), 0);
		memcpy(&sh, ngt_reply()->data, sizeof(sh));
		assert_int_equal(ngt_reply()->header.arglen, sizeof(sh) +
		    sh.nentries * sizeof(*out));
		for (uint32_t i = 0; i < sh.nentries; i++, n++)
			if (n < max)
				memcpy(&out[n], ngt_reply()->data +
				    sizeof(sh) + i * sizeof(*out),
				    sizeof(*out));
	} while (sh.version != 0);
	return (n);
}

static void
test_flows(void **state)
{
	struct ng_netflow_flow f[4];
	uint8_t frame[78] = { 0 };

	(void)state;
	mknode();
	for (int i = 0; i < 5; i++)
		send4(1000, 0x10);
	send4(1000, 0x02);
	assert_int_equal(ngt_send("i", udp6(2000), 64), 0);
	assert_int_equal(getinfo().nfinfo_used, 1);
	assert_int_equal(getinfo().nfinfo_used6, 1);
	assert_int_equal(show(4, f, 4), 1);
	assert_int_equal(ntohs(f[0].sport), 1000);
	assert_int_equal(ntohs(f[0].dport), 80);
	assert_int_equal(f[0].proto, IPPROTO_TCP);
	assert_int_equal(f[0].tos, 0x10);
	assert_int_equal(f[0].packets, 6);
	assert_int_equal(f[0].bytes, 360);
	assert_int_equal(f[0].tcp_flags, 0x12);
	assert_memory_equal(f[0].src, "\x0a\x00\x00\x01", 4);
	assert_int_equal(show(6, f, 4), 1);
	assert_int_equal(ntohs(f[0].sport), 2000);
	assert_int_equal(ntohs(f[0].dport), 53);
	assert_int_equal(f[0].proto, IPPROTO_UDP);
	assert_int_equal(f[0].bytes, 64);
	assert_int_equal(f[0].dst[15], 0xbb);
	/* In frames, with a tag. */
	assert_int_equal(ngt_ascii("n:", "setdlt { dlt=1 }"), 0);
	memcpy(frame + 12, "\x81\x00\x00\x05\x08\x00", 6);
	memcpy(frame + 18, tcp4(1000, 0x10), 60);
	assert_int_equal(ngt_send("i", frame, sizeof(frame)), 0);
	assert_int_equal(show(4, f, 4), 1);
	assert_int_equal(f[0].packets, 7);
	/* The way back is accounted if told, as the same interface's. */
	assert_int_equal(ngt_send("o", frame, sizeof(frame)), 0);
	assert_int_equal(getinfo().nfinfo_packets, 7);
	assert_int_equal(ngt_ascii("n:", "setconfig { conf=2 }"), 0);
	assert_int_equal(ngt_send("o", frame, sizeof(frame)), 0);
	assert_int_equal(getinfo().nfinfo_packets, 8);
	assert_int_equal(ngt_send("i", frame, sizeof(frame)), 0);
	assert_int_equal(getinfo().nfinfo_packets, 8);
}

/* A packet that passes two pairs of hooks of the node. */
static void
test_once(void **state)
{

	(void)state;
	mknode();
	assert_int_equal(ngt_rmhook(".", "o"), 0);
	assert_int_equal(ngt_connect("n:", "n:", "out0", "iface1"), 0);
	assert_int_equal(ngt_connect(".", "n:", "o", "out1"), 0);
	assert_int_equal(ngt_ascii("n:", "setdlt { iface=1 dlt=12 }"), 0);
	send4(1, 0);
	assert_int_equal(ngt_count("o"), 1);
	assert_int_equal(getinfo().nfinfo_packets, 2);
	assert_int_equal(ngt_ascii("n:", "setconfig { iface=0 conf=9 }"), 0);
	assert_int_equal(ngt_ascii("n:", "setconfig { iface=1 conf=9 }"), 0);
	send4(1, 0);
	assert_int_equal(getinfo().nfinfo_packets, 3);
	assert_int_equal(getinfo().nfinfo_spackets, 1);
	assert_int_equal(getinfo().nfinfo_sbytes, 60);
	assert_int_equal(ngt_ascii("n:", "setconfig { iface=1 conf=5 }"), 0);
	send4(1, 0);
	assert_int_equal(getinfo().nfinfo_spackets, 2);
	assert_int_equal(ngt_count("o"), 3);
}

static void
test_v5(void **state)
{
	uint8_t d[2000];
	const uint8_t *r = d + 24;

	(void)state;
	mknode();
	assert_int_equal(ngt_ascii("n:", "setifindex { index=77 }"), 0);
	/* A connection's end is the flow's; 30 of them are a datagram. */
	for (uint16_t i = 0; i < 30; i++) {
		send4(i, 0x02);
		send4(i, 0x11);
	}
	ngt_wait_count("e5", 1);
	while (last("e5", d, sizeof(d)) < 24 + 48)
		sched_yield();
	assert_int_equal(get(d, 2), 5);
	assert_true(get(d + 2, 2) >= 1 && get(d + 2, 2) <= 30);
	assert_int_equal(last("e5", d, sizeof(d)), 24 + 48 * get(d + 2, 2));
	assert_memory_equal(r, "\x0a\x00\x00\x01\x0a\x00\x00\x02", 8);
	assert_int_equal(get(r + 12, 2), 77);
	assert_int_equal(get(r + 16, 4), 2);
	assert_int_equal(get(r + 20, 4), 120);
	assert_true(get(r + 24, 4) <= get(r + 28, 4));
	assert_int_equal(get(r + 34, 2), 80);
	assert_int_equal(r[37], 0x13);
	assert_int_equal(r[38], IPPROTO_TCP);
	assert_int_equal(r[39], 0x10);
	assert_int_equal(getinfo().nfinfo_act_exp, 30);
	assert_int_equal(getinfo().nfinfo_used, 0);
}

/* What a collector knows of templates: of 256 and 257, types and lengths. */
static uint16_t templates[2][64][2];
static unsigned int nfields[2];

static size_t
learn(const uint8_t *p)
{
	unsigned int n = get(p + 2, 2), t = get(p, 2) - 256;

	assert_true(t < 2 && n < 64);
	nfields[t] = n;
	for (unsigned int i = 0; i < n; i++) {
		templates[t][i][0] = (uint16_t)get(p + 4 + 4 * i, 2);
		templates[t][i][1] = (uint16_t)get(p + 6 + 4 * i, 2);
	}
	return (4 + 4 * n);
}

/* One record; checks the fields that it knows. */
static size_t
record(const uint8_t *p, unsigned int t)
{
	size_t at = 0;

	for (unsigned int i = 0; i < nfields[t]; i++) {
		switch (templates[t][i][0]) {
		case 8:
			assert_int_equal(get(p + at, 4), 0x0a000001);
			break;
		case 27:
			assert_int_equal(p[at], 0xaa);
			break;
		case 1:
			assert_int_equal(get(p + at, 4), 0);
			assert_int_equal(get(p + at + 4, 4), t == 0 ? 60 : 64);
			break;
		case 11:
			assert_int_equal(get(p + at, 2), t == 0 ? 80 : 53);
			break;
		case 60:
			assert_int_equal(p[at], t == 0 ? 4 : 6);
			break;
		}
		at += templates[t][i][1];
	}
	return (at);
}

/* Records in a datagram of version 9, of templates of both kinds. */
static unsigned int
collect(const uint8_t *d, size_t len, unsigned int n[2])
{
	unsigned int set, all = 0;
	size_t at = 20, end, p;

	assert_int_equal(get(d, 2), 9);
	for (; at < len; at = end) {
		assert_true(at + 4 <= len);
		set = get(d + at, 2);
		end = at + get(d + at + 2, 2);
		assert_true(end <= len && end > at && end % 4 == 0);
		for (p = at + 4; end - p >= 4; all++) {
			if (set == 0) {
				p += learn(d + p);
				continue;
			}
			assert_true(set - 256 < 2 && nfields[set - 256] != 0);
			p += record(d + p, set - 256);
			n[set - 256]++;
		}
		assert_true(p <= end);
	}
	assert_int_equal(get(d + 2, 2), all);
	return (all);
}

static void
test_v9(void **state)
{
	uint8_t d[10000];
	unsigned int n[2] = { 0, 0 };
	size_t len;

	(void)state;
	nfields[0] = nfields[1] = 0;
	mknode();
	assert_int_equal(ngt_rmhook(".", "e5"), 0);
	assert_int_equal(ngt_ascii("n:", "setmtu { mtu=9000 }"), 0);
	for (uint16_t i = 0; i < 20; i++) {
		send4(i, 0);
		assert_int_equal(ngt_send("i", udp6(i), 64), 0);
	}
	/* The end of the node is the end of its flows. */
	assert_int_equal(ngt_shutdown("n:"), 0);
	assert_int_equal(ngt_count("e9"), 1);
	len = last("e9", d, sizeof(d));
	assert_int_equal(collect(d, len, n), 42);
	assert_int_equal(n[0], 20);
	assert_int_equal(n[1], 20);
}

static void
test_v9_mtu(void **state)
{
	uint8_t d[10000];
	unsigned int n[2] = { 0, 0 };
	uint32_t seq;

	(void)state;
	mknode();
	assert_int_equal(ngt_ascii("n:", "setmtu { mtu=512 }"), 0);
	assert_int_equal(ngt_ascii("n:", "settemplate { time=600 packets=1 }"),
	    0);
	nfields[0] = nfields[1] = 0;
	for (uint16_t i = 0; i < 100; i++)
		send4(i, 0x04);
	assert_true(ngt_count("e9") >= 5);
	assert_true(last("e9", d, sizeof(d)) <= 512 - 28);
	(void)collect(d, last("e9", d, sizeof(d)), n);
	assert_true(nfields[0] != 0 && nfields[1] != 0);
	seq = get(d + 12, 4);
	assert_true(seq >= 4);
}

/* The first datagram by the hook from now on; it must have the templates. */
static void
first_has_templates(const char *hook)
{
	unsigned int n[2] = { 0, 0 };
	uint8_t d[2000];

	ngt_clear();
	nfields[0] = nfields[1] = 0;
	/* What is more than one datagram's, or what a second brings. */
	for (uint16_t i = 0; ngt_count(hook) == 0; i++)
		send4(i, 0x04);
	(void)collect(d, last(hook, d, sizeof(d)), n);
	assert_true(nfields[0] != 0 && nfields[1] != 0 && n[0] != 0);
}

/* Collectors that come later, and one that did not get a datagram. */
static void
test_v9_collectors(void **state)
{

	(void)state;
	mknode();
	first_has_templates("e9");
	assert_int_equal(ngt_rmhook(".", "e9"), 0);
	assert_int_equal(ngt_connect(".", "n:", "e9", "export9"), 0);
	first_has_templates("e9");
	assert_int_equal(ngt_rmhook(".", "e9"), 0);
	/* On the way is a node that has nowhere to send to yet. */
	assert_int_equal(ngt_mkpeer("n:", "netflow", "export9", "iface0"), 0);
	assert_int_equal(ngt_name("n:export9", "m"), 0);
	assert_int_equal(ngt_ascii("m:", "setconfig { iface=0 conf=0 }"), 0);
	for (uint16_t i = 0; getinfo().nfinfo_export9_failed == 0; i++)
		send4(i, 0x04);
	assert_int_equal(ngt_connect(".", "m:", "m", "out0"), 0);
	first_has_templates("m");
}

static void
test_inactive(void **state)
{

	(void)state;
	mknode();
	assert_int_equal(ngt_ascii("n:", "settimeouts { inactive=1 "
	    "active=1800 }"), 0);
	send4(1, 0);
	ngt_wait_count("e5", 1);
	assert_int_equal(getinfo().nfinfo_inact_exp, 1);
	assert_int_equal(getinfo().nfinfo_used, 0);
	assert_int_equal(ngt_ascii("n:", "settimeouts { inactive=1800 "
	    "active=1 }"), 0);
	send4(1, 0);
	ngt_wait_count("e5", 2);
	assert_int_equal(getinfo().nfinfo_act_exp, 1);
}

/* The table is bounded, and a new flow is worth more than an old one. */
static void
test_many(void **state)
{
	uint8_t p[60];
	struct ng_netflow_info in;

	(void)state;
	mknode();
	memcpy(p, tcp4(1, 0), sizeof(p));
	for (uint32_t i = 0; i < 300000; i++) {
		memcpy(p + 12, &i, sizeof(i));
		assert_int_equal(ngt_send("i", p, sizeof(p)), 0);
	}
	in = getinfo();
	assert_true(in.nfinfo_used <= 64 * 4096);
	assert_true(in.nfinfo_inact_exp >= 300000 - 64 * 4096);
	assert_int_equal(in.nfinfo_alloc_failed, 0);
	assert_int_equal(in.nfinfo_used + in.nfinfo_inact_exp, 300000);
}

static void
test_broken(void **state)
{
	uint8_t p[200];
	size_t len;

	(void)state;
	mknode();
	/* Cut anywhere, and full of anything. */
	for (len = 1; len < 60; len++)
		assert_int_equal(ngt_send("i", tcp4(1, 0), len), 0);
	assert_int_equal(getinfo().nfinfo_packets, 40);
	for (len = 1; len < 64; len++)
		assert_int_equal(ngt_send("i", udp6(1), len), 0);
	assert_int_equal(getinfo().nfinfo_packets6, 24);
	for (int i = 0; i < 20000; i++) {
		if (i == 10000)
			assert_int_equal(ngt_ascii("n:", "setdlt { dlt=1 }"),
			    0);
		for (size_t j = 0; j < sizeof(p); j++)
			p[j] = (uint8_t)ngt_random();
		if (i < 10000)
			p[0] = i % 2 == 0 ? 0x45 : 0x60;
		else
			memcpy(p + 12, i % 2 == 0 ? "\x08\x00\x4f" :
			    "\x86\xdd\x60", 3);
		p[6] = i % 3 == 0 ? IPPROTO_HOPOPTS : p[6];
		assert_int_equal(ngt_send("i", p, 1 + ngt_random() %
		    sizeof(p)), 0);
	}
	assert_int_equal(ngt_count("o"), 59 + 63 + 20000);
}

static void
churn(unsigned int round)
{
	struct ng_netflow_show sh = { .version = 4 };

	switch (round % 8) {
	case 0:
		(void)ngt_rmhook(".", "o");
		(void)ngt_connect(".", "n:", "o", "out0");
		break;
	case 1:
		(void)ngt_shutdown("n:");
		mknode();
		break;
	case 2:
		(void)ngt_rmhook(".", "e5");
		(void)ngt_connect(".", "n:", "e5", "export");
		break;
	case 3:
		(void)nf_msg(NGM_NETFLOW_SHOW, &sh, sizeof(sh));
		break;
	case 4:
		(void)ngt_ascii("n:", "setconfig { conf=11 }");
		break;
	case 5:
		(void)ngt_ascii("n:", "settimeouts { }");
		break;
	case 6:
		(void)ngt_ascii("n:", "setmtu { mtu=600 }");
		break;
	default:
		(void)ngt_ascii("n:", "setdlt { dlt=1 }");
		(void)nf_msg(NGM_NETFLOW_INFO, NULL, 0);
	}
}

static void
test_race(void **state)
{

	(void)state;
	mknode();
	ngt_race("i", "o", churn, 200);
}

int
main(void)
{
#define	TEST(fn)	cmocka_unit_test_teardown(fn, ngt_test_reset)
	const struct CMUnitTest tests[] = {
		TEST(test_hooks),
		TEST(test_messages),
		TEST(test_flows),
		TEST(test_once),
		TEST(test_v5),
		TEST(test_v9),
		TEST(test_v9_mtu),
		TEST(test_v9_collectors),
		TEST(test_inactive),
		TEST(test_many),
		TEST(test_broken),
		TEST(test_race),
	};

	return (cmocka_run_group_tests(tests, ngt_group_start, ngt_group_stop));
}
