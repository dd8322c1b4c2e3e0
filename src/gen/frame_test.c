/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Frames against a slow and obvious builder, byte for byte, over random
 * parameters; ranges against an odometer of nested loops; and that a changed
 * byte is found.
 */
#include "gen/frame.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sys/random_testlib.h"
#include "wire/in_cksum.h"

#define	ROUNDS	3000
#define	FRAMES	96

static uint32_t
draw(uint32_t from, uint32_t to)
{

	return (from + (uint32_t)(test_rand() % ((uint64_t)to - from + 1)));
}

/* ---- The slow builder ---- */

struct flow {
	uint32_t	fl_src, fl_dst;
	uint16_t	fl_sport, fl_dport;
};

static uint8_t *
put16(uint8_t *p, uint32_t v)
{

	*p++ = (uint8_t)(v >> 8);
	*p++ = (uint8_t)v;
	return (p);
}

static uint8_t *
put32(uint8_t *p, uint32_t v)
{

	return (put16(put16(p, v >> 16), v & 0xffff));
}

/* RFC 1071, a byte at a time. */
static uint32_t
sum_bytes(uint32_t sum, const uint8_t *p, uint32_t len)
{

	for (uint32_t i = 0; i < len; i++)
		sum += i % 2 == 0 ? (uint32_t)p[i] << 8 : p[i];
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return (sum);
}

static void
slow_payload(uint8_t *p, uint32_t len, bool stamped, uint32_t number,
    uint64_t now, uint16_t stream)
{
	static const char text[] = "netepoch pkt-gen payload ";

	for (uint32_t i = 0; i < len; i++)
		p[i] = (uint8_t)text[i % 25];
	if (!stamped)
		return;
	p = put32(p, number);
	p = put32(p, (uint32_t)(now / 1000000000));
	p = put32(p, (uint32_t)(now % 1000000000));
	p = put32(p, 0x6e65674e);
	(void)put16(p, stream);
}

static void
slow_frame(const struct frame_conf *fc, const struct flow *fl, uint32_t len,
    uint32_t number, uint64_t now, uint8_t *frame)
{
	uint32_t l4 = fc->fc_v6 ? 54 : 34, ulen = len - l4, sum;
	uint8_t *p = frame, *udp = frame + l4;

	memset(frame, 0, len);
	memcpy(p, fc->fc_dmac, 6);
	memcpy(p + 6, fc->fc_smac, 6);
	p = put16(p + 12, fc->fc_v6 ? 0x86dd : 0x0800);
	if (fc->fc_v6) {
		p[0] = 0x60;
		(void)put16(p + 4, ulen);
		p[6] = 17;
		p[7] = 64;
		memcpy(p + 8, &fc->fc_src.fe_addr6, 12);
		(void)put32(p + 20, fl->fl_src);
		memcpy(p + 24, &fc->fc_dst.fe_addr6, 12);
		(void)put32(p + 36, fl->fl_dst);
		sum = sum_bytes(17 + ulen, p + 8, 32);
	} else {
		p[0] = 0x45;
		(void)put16(p + 2, len - 14);
		p[8] = 64;
		p[9] = 17;
		(void)put32(p + 12, fl->fl_src);
		(void)put32(p + 16, fl->fl_dst);
		(void)put16(p + 10, sum_bytes(0, p, 20) ^ 0xffff);
		sum = sum_bytes(17 + ulen, p + 12, 8);
	}
	p = put16(udp, fl->fl_sport);
	p = put16(p, fl->fl_dport);
	p = put16(p, ulen);
	slow_payload(udp + 8, ulen - 8, (fc->fc_minlen != 0 ? fc->fc_minlen :
	    fc->fc_len) >= l4 + 26, number, now, fc->fc_stream);
	sum = sum_bytes(sum, udp, ulen) ^ 0xffff;
	(void)put16(p, sum != 0 ? sum : 0xffff);
}

/* ---- Random parameters ---- */

static void
random_end(struct frame_end *fe, bool v6)
{

	for (int i = 0; i < 16; i++)
		fe->fe_addr6.s6_addr[i] = (uint8_t)draw(0, 255);
	if (!v6)
		memset(&fe->fe_addr6, 0, sizeof(fe->fe_addr6));
	fe->fe_from = draw(0, UINT32_MAX);
	fe->fe_to = fe->fe_from;
	if (draw(0, 2) == 0 && fe->fe_from < UINT32_MAX - 5)
		fe->fe_to += draw(0, 5);
	fe->fe_port_from = fe->fe_port_to = (uint16_t)draw(0, 65530);
	if (draw(0, 2) == 0)
		fe->fe_port_to = (uint16_t)(fe->fe_port_from + draw(0, 5));
	fe->fe_random = false;
}

static void
random_conf(struct frame_conf *fc)
{

	memset(fc, 0, sizeof(*fc));
	fc->fc_v6 = draw(0, 1) == 1;
	for (int i = 0; i < 6; i++) {
		fc->fc_dmac[i] = (uint8_t)draw(0, 255);
		fc->fc_smac[i] = (uint8_t)draw(0, 255);
	}
	random_end(&fc->fc_src, fc->fc_v6);
	random_end(&fc->fc_dst, fc->fc_v6);
	fc->fc_len = draw(0, 3) == 0 ? 60 : draw(frame_min(fc->fc_v6),
	    FRAME_MAX);
	if (fc->fc_v6 && fc->fc_len < 62)
		fc->fc_len = 62;
	if (draw(0, 3) == 0)
		fc->fc_minlen = draw(frame_min(fc->fc_v6), fc->fc_len);
	fc->fc_stream = (uint16_t)draw(0, 65535);
	fc->fc_seed = test_rand();
}

/* The obvious odometer. */
static void
next_flow(const struct frame_conf *fc, struct flow *fl)
{

	if (fl->fl_sport++ < fc->fc_src.fe_port_to)
		return;
	fl->fl_sport = fc->fc_src.fe_port_from;
	if (fl->fl_src++ < fc->fc_src.fe_to)
		return;
	fl->fl_src = fc->fc_src.fe_from;
	if (fl->fl_dport++ < fc->fc_dst.fe_port_to)
		return;
	fl->fl_dport = fc->fc_dst.fe_port_from;
	if (fl->fl_dst++ < fc->fc_dst.fe_to)
		return;
	fl->fl_dst = fc->fc_dst.fe_from;
}

static void
test_every_byte(void **state)
{
	static struct frame_gen fg;
	struct frame_conf fc;
	struct mbuf *m[MBUF_BURST];
	uint8_t want[FRAME_MAX];
	struct flow fl;
	uint32_t number;
	uint64_t bytes, now, sum;

	for (int round = 0; round < ROUNDS; round++) {
		random_conf(&fc);
		assert_int_equal(frame_init(&fg, &fc), 0);
		fl = (struct flow){ fc.fc_src.fe_from, fc.fc_dst.fe_from,
		    fc.fc_src.fe_port_from, fc.fc_dst.fe_port_from };
		number = draw(0, UINT32_MAX);
		now = (uint64_t)draw(0, UINT32_MAX) * draw(1, 1000000000);
		unsigned int n = draw(1, MBUF_BURST);

		assert_int_equal(m_get_burst(m, n), n);
		bytes = frame_fill(&fg, m, n, number, now);
		sum = 0;
		for (unsigned int i = 0; i < n; i++) {
			uint32_t len = m[i]->m_len;

			assert_int_equal(m[i]->m_pkthdr.len, len);
			if (fc.fc_minlen == 0)
				assert_int_equal(len, fc.fc_len);
			assert_true(len <= fc.fc_len &&
			    len >= (fc.fc_minlen != 0 ? fc.fc_minlen : 1));
			slow_frame(&fc, &fl, len, number + i, now, want);
			assert_memory_equal(m[i]->m_data, want, len);
			assert_true(frame_sums_right(m[i]->m_data, len));
			next_flow(&fc, &fl);
			sum += len;
		}
		assert_int_equal(bytes, sum);
		m_free_burst(m, n);
	}
}

/* Any byte of headers and payload that changes makes a sum wrong. */
static void
test_damage(void **state)
{
	static struct frame_gen fg;
	struct frame_conf fc;
	struct mbuf *m;
	uint32_t at, len;
	uint8_t *p, old;

	for (int round = 0; round < ROUNDS; round++) {
		random_conf(&fc);
		assert_int_equal(frame_init(&fg, &fc), 0);
		m = m_gethdr();
		assert_non_null(m);
		(void)frame_fill(&fg, &m, 1, 1, 1);
		p = mtod(m, uint8_t *);
		len = m->m_len;
		/* From the addresses on: nothing there changes the format. */
		do {
			at = draw(fc.fc_v6 ? 22 : 26, len - 1);
			/* Nor UDP's length, nor a sum that says: none. */
		} while (at >= fg.fg_l4 + 4 && at < fg.fg_l4 + 8);
		old = p[at];
		p[at] ^= (uint8_t)draw(1, 255);
		assert_false(frame_sums_right(p, len));
		p[at] = old;
		assert_true(frame_sums_right(p, len));
		/* A frame that was cut has no right sum, whatever it says. */
		assert_false(frame_sums_right(p, draw(14, len - 1)));
		m_freem(m);
	}
}

static void
test_random_ends(void **state)
{
	static struct frame_gen fg;
	struct frame_conf fc;
	struct mbuf *m[MBUF_BURST];
	unsigned int seen[4] = { 0 }, ports[3] = { 0 };
	uint32_t src;
	uint16_t port;

	random_conf(&fc);
	fc.fc_v6 = false;
	fc.fc_len = 60;
	fc.fc_minlen = 0;
	fc.fc_src = (struct frame_end){ .fe_from = 0x0a000001,
	    .fe_to = 0x0a000004, .fe_port_from = 7, .fe_port_to = 9,
	    .fe_random = true };
	assert_int_equal(frame_init(&fg, &fc), 0);
	for (int i = 0; i < FRAMES; i++) {
		assert_int_equal(m_get_burst(m, MBUF_BURST), MBUF_BURST);
		(void)frame_fill(&fg, m, MBUF_BURST, 0, 0);
		for (int k = 0; k < MBUF_BURST; k++) {
			assert_true(frame_sums_right(m[k]->m_data, 60));
			memcpy(&src, m[k]->m_data + 26, 4);
			memcpy(&port, m[k]->m_data + 34, 2);
			assert_in_range(ntohl(src), 0x0a000001, 0x0a000004);
			assert_in_range(ntohs(port), 7, 9);
			seen[ntohl(src) - 0x0a000001]++;
			ports[ntohs(port) - 7]++;
		}
		m_free_burst(m, MBUF_BURST);
	}
	/* 6,144 draws: a quarter and a third of them, within six sigma. */
	for (int i = 0; i < 4; i++)
		assert_in_range(seen[i], 1536 - 204, 1536 + 204);
	for (int i = 0; i < 3; i++)
		assert_in_range(ports[i], 2048 - 222, 2048 + 222);
}

static void
test_stamp(void **state)
{
	static struct frame_gen fg;
	const struct frame_stamp *fs;
	struct frame_conf fc;
	struct mbuf *m;

	for (int round = 0; round < ROUNDS; round++) {
		random_conf(&fc);
		assert_int_equal(frame_init(&fg, &fc), 0);
		m = m_gethdr();
		assert_non_null(m);
		(void)frame_fill(&fg, &m, 1, 77, 5000000009);
		fs = frame_stamp(m->m_data, m->m_len);
		/* Of random lengths all have a stamp, or none. */
		if ((fc.fc_minlen != 0 ? fc.fc_minlen : fc.fc_len) <
		    frame_stamped_min(fc.fc_v6)) {
			assert_null(fs);
		} else {
			assert_non_null(fs);
			assert_int_equal(ntohl(fs->fs_number), 77);
			assert_int_equal(ntohs(fs->fs_stream), fc.fc_stream);
			assert_true(frame_stamp_time(fs) == 5000000009);
		}
		m_freem(m);
	}
}

static void
test_refused(void **state)
{
	static struct frame_gen fg;
	struct frame_conf fc;

	for (int round = 0; round < 200; round++) {
		random_conf(&fc);
		fc.fc_len = draw(0, frame_min(fc.fc_v6) - 1);
		fc.fc_minlen = 0;
		assert_int_equal(frame_init(&fg, &fc), EINVAL);
		random_conf(&fc);
		fc.fc_len = FRAME_MAX + draw(1, 1000);
		assert_int_equal(frame_init(&fg, &fc), EINVAL);
		random_conf(&fc);
		fc.fc_minlen = fc.fc_len + 1;
		assert_int_equal(frame_init(&fg, &fc), EINVAL);
		random_conf(&fc);
		fc.fc_dst.fe_from = 2;
		fc.fc_dst.fe_to = 1;
		assert_int_equal(frame_init(&fg, &fc), EINVAL);
		random_conf(&fc);
		fc.fc_src.fe_port_from = 2;
		fc.fc_src.fe_port_to = 1;
		assert_int_equal(frame_init(&fg, &fc), EINVAL);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_random_ends),
		cmocka_unit_test(test_stamp),
		cmocka_unit_test(test_refused),
	};

	(void)test_seed();
	if (mbuf_init(1024) != 0)
		return (1);
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
