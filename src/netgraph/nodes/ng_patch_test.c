/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * patch: every operation of every size, in packets of one piece and of many,
 * offsets beyond them, checksums, messages and errors.
 */
#include "netgraph/nodes/ng_node_testlib.h"

#include <errno.h>
#include <string.h>

#include <netgraph/ng_patch.h>

#include "wire/in_cksum.h"

#include "netgraph/nodes/ng_nodes.h"

const struct ng_type *const ngt_types[] = { &ng_patch_type, NULL };

#define	MSG(cmd, arg, len)						\
	ngt_msg("p:", NGM_PATCH_COOKIE, (cmd), (arg), (len))
#define	MAXOPS	4
#define	CONFLEN	(sizeof(struct ng_patch_config) +			\
	    MAXOPS * sizeof(struct ng_patch_op))

static void
make_node(void)
{

	ngt_make("patch", "p", "in");
	ngt_join("p", "out");
}

static int
setconfig(uint32_t count, const struct ng_patch_op *ops, uint64_t csum,
    uint32_t relative)
{
	uint8_t buf[CONFLEN] = { 0 };
	struct ng_patch_config conf = { .count = count, .csum_flags = csum,
		.relative_offset = relative };

	memcpy(buf, &conf, sizeof(conf));
	memcpy(buf + sizeof(conf), ops, count * sizeof(*ops));
	return (MSG(NGM_PATCH_SETCONFIG, buf, sizeof(conf) +
	    count * sizeof(*ops)));
}

/* What an operation makes of a number, said another way than the node's. */
static uint64_t
model(uint64_t old, unsigned int mode, uint64_t value, unsigned int bits)
{
	unsigned __int128 v = value, o = old;

	if (bits < 64)
		v &= ((uint64_t)1 << bits) - 1;
	switch (mode) {
	case 1:
		o = v;
		break;
	case 2:
		o += v;
		break;
	case 3:
		o -= v;
		break;
	case 4:
		o *= v;
		break;
	case 5:
		o /= v;
		break;
	case 6:
		o = 0 - o;
		break;
	case 7:
		o &= v;
		break;
	case 8:
		o |= v;
		break;
	case 9:
		o ^= v;
		break;
	case 10:
		o = v >= bits ? 0 : o << v;
		break;
	case 11:
		o = v >= bits ? 0 : o >> v;
		break;
	}
	return (bits < 64 ? (uint64_t)o & (((uint64_t)1 << bits) - 1) :
	    (uint64_t)o);
}

/* A packet of len bytes in pieces of 1 to max bytes. */
static struct mbuf *
make_pieces(const uint8_t *data, uint32_t len, uint32_t max)
{
	struct mbuf *m = NULL, *n;
	uint32_t piece;

	for (uint32_t off = 0; off < len; off += piece) {
		piece = 1 + (uint32_t)(ngt_random() % max);
		if (piece > len - off)
			piece = len - off;
		n = m_devget(data + off, piece);
		assert_non_null(n);
		if (m == NULL)
			m = n;
		else
			m_cat(m, n);
	}
	return (m);
}

static void
test_ops(void **state)
{
	static const uint16_t lengths[] = { 1, 2, 4, 8 };
	struct ng_patch_op op = { 0 };
	uint8_t data[40], want[40], got[40];
	uint64_t value;

	make_node();
	for (int round = 0; round < 2000; round++) {
		for (size_t i = 0; i < sizeof(data); i++)
			data[i] = (uint8_t)ngt_random();
		op.length = lengths[ngt_random() % 4];
		op.mode = (uint16_t)(1 + ngt_random() % 11);
		op.offset = (uint32_t)(ngt_random() % 44);
		op.value = ngt_random() >> ngt_random() % 64;
		if (op.mode >= NG_PATCH_MODE_SHL)
			op.value %= 70;
		if (op.mode == NG_PATCH_MODE_DIV)
			op.value |= 1;
		assert_int_equal(setconfig(1, &op, 0, 0), 0);
		memcpy(want, data, sizeof(want));
		if (op.offset + op.length <= sizeof(data)) {
			value = 0;
			for (int i = 0; i < op.length; i++)
				value = value << 8 | data[op.offset +
				    (uint32_t)i];
			value = model(value, op.mode, op.value,
			    8u * op.length);
			for (int i = op.length - 1; i >= 0; i--) {
				want[op.offset + (uint32_t)i] =
				    (uint8_t)value;
				value >>= 8;
			}
		}
		assert_int_equal(ngt_send_mbuf("in", make_pieces(data,
		    sizeof(data), round % 2 == 0 ? 40 : 5)), 0);
		m_copydata(ngt_last("out"), 0, sizeof(got), got);
		assert_memory_equal(got, want, sizeof(got));
	}
}

static void
test_ways(void **state)
{
	struct ng_patch_op ops[] = { { 1, 1, NG_PATCH_MODE_SET, 'E' },
		{ UINT32_MAX, 8, NG_PATCH_MODE_SET, 0 } };

	make_node();
	assert_int_equal(ngt_send("in", "hello", 5), 0);
	assert_memory_equal(ngt_last("out")->m_data, "hello", 5);
	assert_int_equal(setconfig(2, ops, 0, 0), 0);
	assert_int_equal(ngt_send("in", "hello", 5), 0);
	assert_memory_equal(ngt_last("out")->m_data, "hEllo", 5);
	assert_int_equal(ngt_send("in", "h", 1), 0);
	assert_memory_equal(ngt_last("out")->m_data, "h", 1);
	assert_int_equal(ngt_send("out", "hello", 5), 0);
	assert_memory_equal(ngt_last("in")->m_data, "hello", 5);
	assert_int_equal(ngt_ascii("p:", "getstats"), 0);
	assert_string_equal(ngt_reply_text(), "{ Received=3 Patched=1 }");
	/* Without out they return. */
	assert_int_equal(ngt_rmhook(".", "out"), 0);
	assert_int_equal(ngt_send("in", "hello", 5), 0);
	assert_memory_equal(ngt_last("in")->m_data, "hEllo", 5);
	ngt_join("p", "out");
	assert_int_equal(ngt_rmhook(".", "in"), 0);
	assert_int_equal(ngt_send("out", "hello", 5), ENOTCONN);
	assert_int_equal(ngt_ascii("p:", "getclrstats"), 0);
	assert_string_equal(ngt_reply_text(),
	    "{ Received=4 Patched=2 Dropped=1 }");
	assert_int_equal(ngt_send("out", "hello", 5), ENOTCONN);
	assert_int_equal(ngt_ascii("p:", "clrstats"), 0);
	assert_null(ngt_reply());
	assert_int_equal(ngt_ascii("p:", "getstats"), 0);
	assert_string_equal(ngt_reply_text(), "{}");
}

static void
test_hooks(void **state)
{

	make_node();
	assert_int_equal(ngt_connect(".", "p:", "x", "in"), EEXIST);
	assert_int_equal(ngt_connect(".", "p:", "x", "in2"), EISCONN);
	assert_int_equal(ngt_connect(".", "p:", "x", "outer"), EISCONN);
	assert_int_equal(ngt_connect(".", "p:", "x", "left"), EINVAL);
	assert_int_equal(ngt_rmhook(".", "in"), 0);
	assert_int_equal(ngt_connect("p:", "p:", "in1", "in2"), EISCONN);
	assert_int_equal(ngt_connect(".", "p:", "in", "inner"), 0);
	assert_int_equal(ngt_send("in", "hello", 5), 0);
	assert_int_equal(ngt_count("out"), 1);
}

/* An IPv4 or IPv6 packet with UDP or TCP and wrong checksums. */
static uint32_t
make_ip(uint8_t *p, int version, uint8_t proto)
{
	uint32_t hlen = version == 4 ? 20 : 40, l4 = proto == 17 ? 8 : 20;

	for (uint32_t i = 0; i < hlen + l4 + 13; i++)
		p[i] = (uint8_t)ngt_random();
	if (version == 4) {
		p[0] = 0x45;
		p[2] = 0;
		p[3] = (uint8_t)(hlen + l4 + 13);
		p[6] = p[7] = 0;
		p[9] = proto;
	} else {
		p[0] = 0x60;
		p[4] = 0;
		p[5] = (uint8_t)(l4 + 13);
		p[6] = proto;
	}
	return (hlen + l4 + 13);
}

/* Are they right now? */
static void
check_ip(const uint8_t *p, int version, uint8_t proto, uint32_t len)
{
	uint32_t hlen = version == 4 ? 20 : 40, sum;
	struct in6_addr addr6[2];
	struct in_addr addr[2];

	if (version == 4) {
		assert_int_equal(in_cksum(p, 20), 0);
		memcpy(addr, p + 12, 8);
		sum = in_pseudo(addr[0], addr[1], proto,
		    (uint16_t)(len - hlen));
	} else {
		memcpy(addr6, p + 8, 32);
		sum = in6_pseudo(&addr6[0], &addr6[1], proto, len - hlen);
	}
	assert_int_equal(in_cksum_finish(in_cksum_partial(sum, p + hlen,
	    len - hlen, 0)), 0);
}

static void
test_cksum(void **state)
{
	static const struct ng_patch_op op = { 8, 1, NG_PATCH_MODE_SUB, 1 };
	uint8_t frame[160] = { 0 }, got[160];
	uint32_t l2, len;
	int version;
	uint8_t proto;

	make_node();
	for (int round = 0; round < 64; round++) {
		version = round % 2 == 0 ? 4 : 6;
		proto = round / 2 % 2 == 0 ? 6 : 17;
		/* Bare, in Ethernet, in a VLAN, with padding behind it. */
		l2 = (uint32_t[]){ 0, 14, 18, 22 }[round / 4 % 4];
		memset(frame, 0, sizeof(frame));
		for (uint32_t off = 12; off + 2 < l2; off += 4)
			frame[off] = 0x81;
		if (l2 != 0)
			memcpy(frame + l2 - 2, version == 4 ? "\x8\0" :
			    "\x86\xdd", 2);
		len = make_ip(frame + l2, version, proto);
		assert_int_equal(ngt_ascii("p:", l2 == 0 ? "setdlt 12" :
		    "setdlt 1"), 0);
		assert_int_equal(setconfig(1, &op, NG_PATCH_CSUM_ALL, 1), 0);
		assert_int_equal(ngt_send_mbuf("in", make_pieces(frame,
		    l2 + len + (round > 31 ? 9 : 0), round % 3 == 0 ? 7 :
		    200)), 0);
		m_copydata(ngt_last("out"), 0, l2 + len, got);
		check_ip(got + l2, version, proto, len);
		assert_int_equal(got[l2 + 8], (uint8_t)(frame[l2 + 8] - 1));
		/* No flag, no checksum. */
		assert_int_equal(setconfig(1, &op, 0, 1), 0);
		assert_int_equal(ngt_send("in", frame, l2 + len), 0);
		m_copydata(ngt_last("out"), 0, l2 + len, got);
		frame[l2 + 8]--;
		assert_memory_equal(got, frame, l2 + len);
	}
}

/* Headers that lie about their lengths, and every length of a packet. */
static void
test_hostile(void **state)
{
	static const struct ng_patch_op op = { 0, 1, NG_PATCH_MODE_OR, 0 };
	uint8_t frame[160];
	uint32_t len;

	make_node();
	assert_int_equal(setconfig(1, &op, NG_PATCH_CSUM_ALL, 1), 0);
	for (int round = 0; round < 4000; round++) {
		for (size_t i = 0; i < sizeof(frame); i++)
			frame[i] = (uint8_t)ngt_random();
		len = (uint32_t)(1 + ngt_random() % sizeof(frame));
		if (round % 2 == 0) {
			memcpy(frame + 12, "\x81\0\0\1\x81\0", 6);
			frame[14 + round % 3 * 4] = round % 4 == 0 ? 0x45 :
			    0x60;
		} else
			frame[0] = round % 4 == 1 ? 0x4f : 0x60;
		if (round % 50 == 0)
			assert_int_equal(ngt_ascii("p:", round % 100 == 0 ?
			    "setdlt 1" : "setdlt 12"), 0);
		assert_int_equal(ngt_send_mbuf("in", make_pieces(frame, len,
		    30)), 0);
		assert_int_equal(ngt_last("out")->m_pkthdr.len, len);
	}
}

static void
test_messages(void **state)
{
	struct ng_patch_op op = { 0, 3, NG_PATCH_MODE_SET, 1 };
	uint8_t buf[CONFLEN], dlt = 2;
	struct ng_patch_config conf = { 0 };
	uint64_t stats[3];

	make_node();
	assert_int_equal(ngt_ascii("p:", "getconfig"), 0);
	assert_null(ngt_reply());
	assert_int_equal(setconfig(1, &op, 0, 0), EINVAL);
	op.length = 16;
	assert_int_equal(setconfig(1, &op, 0, 0), EINVAL);
	op.length = 1;
	for (unsigned int mode = 0; mode < 20; mode++) {
		op.mode = (uint16_t)mode;
		assert_int_equal(setconfig(1, &op, 0, 0),
		    mode >= 1 && mode <= 11 ? 0 : EINVAL);
	}
	op.mode = NG_PATCH_MODE_DIV;
	op.value = 256;
	assert_int_equal(setconfig(1, &op, 0, 0), EINVAL);
	/* Counts that lie. */
	conf.count = 1;
	assert_int_equal(MSG(NGM_PATCH_SETCONFIG, &conf, sizeof(conf)),
	    EINVAL);
	conf.count = UINT32_MAX;
	assert_int_equal(MSG(NGM_PATCH_SETCONFIG, &conf, sizeof(conf)),
	    EINVAL);
	assert_int_equal(MSG(NGM_PATCH_SETCONFIG, &conf, 23), EINVAL);
	conf.count = 0;
	assert_int_equal(MSG(NGM_PATCH_SETCONFIG, &conf, sizeof(conf)), 0);
	assert_int_equal(ngt_ascii("p:", "setconfig { count=2 csum_flags=5 "
	    "ops=[ { mode=2 value=3 length=4 offset=10 } "
	    "{ mode=1 value=14 length=1 offset=11 } ] }"), 0);
	assert_int_equal(ngt_ascii("p:", "getconfig"), 0);
	assert_string_equal(ngt_reply_text(), "{ count=2 csum_flags=5 "
	    "ops=[ { offset=10 length=4 mode=2 value=3 } "
	    "{ offset=11 length=1 mode=1 value=14 } ] }");
	assert_int_equal(ngt_ascii("p:", "getdlt"), 0);
	assert_string_equal(ngt_reply_text(), "12");
	assert_int_equal(MSG(NGM_PATCH_SETDLT, &dlt, 1), EINVAL);
	assert_int_equal(MSG(NGM_PATCH_SETDLT, &dlt, 0), EINVAL);
	dlt = 1;
	assert_int_equal(MSG(NGM_PATCH_SETDLT, &dlt, 1), 0);
	assert_int_equal(ngt_ascii("p:", "getdlt"), 0);
	assert_string_equal(ngt_reply_text(), "1");
	for (uint32_t cmd = 0; cmd <= 8; cmd++)
		assert_int_equal(MSG(cmd, "xy", 2), EINVAL);
	assert_int_equal(MSG(8, NULL, 0), EINVAL);
	assert_int_equal(ngt_msg("p:", 1, 1, NULL, 0), EINVAL);
	for (int i = 0; i < 100; i++) {
		memset(buf, 0, sizeof(buf));
		conf.count = (uint32_t)i % (MAXOPS + 1);
		conf.csum_flags = ngt_random() >> 1;
		conf.relative_offset = (uint32_t)ngt_random();
		memcpy(buf, &conf, sizeof(conf));
		for (size_t j = 0; j < conf.count; j++) {
			op.offset = (uint32_t)ngt_random();
			op.length = (uint16_t)ngt_random();
			op.mode = (uint16_t)ngt_random();
			op.value = ngt_random() >> 1;
			memcpy(buf + sizeof(conf) + j * sizeof(op), &op,
			    sizeof(op));
		}
		ngt_roundtrip("p:", NGM_PATCH_COOKIE, NGM_PATCH_SETCONFIG,
		    NGF_ORIG, buf, sizeof(conf) + conf.count * sizeof(op));
		ngt_roundtrip("p:", NGM_PATCH_COOKIE, NGM_PATCH_GETCONFIG,
		    NGF_RESP, buf, sizeof(conf) + conf.count * sizeof(op));
		for (int j = 0; j < 3; j++)
			stats[j] = ngt_random() >> 1;
		ngt_roundtrip("p:", NGM_PATCH_COOKIE, NGM_PATCH_GET_STATS,
		    NGF_RESP, stats, sizeof(stats));
		ngt_roundtrip("p:", NGM_PATCH_COOKIE, NGM_PATCH_GETCLR_STATS,
		    NGF_RESP, stats, sizeof(stats));
		dlt = (uint8_t)i;
		ngt_roundtrip("p:", NGM_PATCH_COOKIE, NGM_PATCH_SETDLT,
		    NGF_ORIG, &dlt, 1);
		ngt_roundtrip("p:", NGM_PATCH_COOKIE, NGM_PATCH_GETDLT,
		    NGF_RESP, &dlt, 1);
	}
}

static void
churn(unsigned int round)
{
	struct ng_patch_op ops[] = { { round % 100, 4, NG_PATCH_MODE_ADD, 1 },
		{ round % 7, 8, NG_PATCH_MODE_SHL, 1 } };

	assert_int_equal(setconfig(round % 3, ops,
	    round % 2 == 0 ? NG_PATCH_CSUM_ALL : 0, 1), 0);
	assert_int_equal(ngt_ascii("p:", round % 4 < 2 ? "setdlt 1" :
	    "setdlt 12"), 0);
	if (round % 5 == 0) {
		assert_int_equal(ngt_rmhook(".", "out"), 0);
		ngt_join("p", "out");
	}
}

static void
test_race(void **state)
{

	make_node();
	ngt_race("in", "out", churn, 200);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_ops, ngt_test_reset),
		cmocka_unit_test_teardown(test_ways, ngt_test_reset),
		cmocka_unit_test_teardown(test_hooks, ngt_test_reset),
		cmocka_unit_test_teardown(test_cksum, ngt_test_reset),
		cmocka_unit_test_teardown(test_hostile, ngt_test_reset),
		cmocka_unit_test_teardown(test_messages, ngt_test_reset),
		cmocka_unit_test_teardown(test_race, ngt_test_reset),
	};

	return (cmocka_run_group_tests(tests, ngt_group_start, ngt_group_stop));
}
