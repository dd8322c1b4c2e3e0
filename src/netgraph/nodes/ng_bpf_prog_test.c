/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Filter programs: what libpcap compiles gives what libpcap's machine gives,
 * on packets of one piece and of many; random programs that pass the check
 * end, and agree as well; what must not pass does not.
 */
#include <pcap/pcap.h>

#include "netgraph/nodes/ng_bpf_prog.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "mbuf/mbuf.h"
#include "netgraph/nodes/ng_node_testlib.h"

static int
start(void **state)
{

	(void)state;
	return (mbuf_init(1024));
}

static struct mbuf *
make_pieces(const uint8_t *data, uint32_t len, uint32_t max)
{
	struct mbuf *m = m_devget(data, len < max ? len : max), *n;

	assert_non_null(m);
	for (uint32_t off = max; off < len; off += max) {
		n = m_devget(data + off, len - off < max ? len - off : max);
		assert_non_null(n);
		m_cat(m, n);
	}
	return (m);
}

/* Ours and libpcap's, on one random packet. */
static void
compare(const struct bpf_insn *prog, size_t n, const uint8_t *pkt,
    uint32_t len)
{
	const struct ng_bpf_insn *ours = (const void *)prog;
	uint32_t want = bpf_filter(prog, pkt, len, len);
	struct mbuf *m;

	assert_true(ng_bpf_check(ours, n));
	for (uint32_t max = 1; max <= 256; max *= 4) {
		m = make_pieces(pkt, len, max);
		assert_int_equal(ng_bpf_run(ours, m), want);
		m_freem(m);
	}
}

static uint32_t
random_packet(uint8_t *pkt, uint32_t size)
{
	static const char *const heads[] = { "\x08\0\x45\0", "\x86\xdd\x60",
		"\x81\0\0\x05\x08\0\x45\0", "\x08\x06\0\1", "" };
	const char *head = heads[ngt_random() % 5];

	for (uint32_t i = 0; i < size; i++)
		pkt[i] = (uint8_t)(ngt_random() % 3 == 0 ? ngt_random() : 0);
	if (head[0] != '\0')
		memcpy(pkt + 12, head, head[0] == '\x81' ? 7 : 4);
	if (head[0] == '\x08' && head[1] == '\0') {
		pkt[23] = ngt_random() % 2 == 0 ? 6 : 17;
		pkt[35] = pkt[37] = ngt_random() % 2 == 0 ? 80 : 53;
	}
	return ((uint32_t)(1 + ngt_random() % size));
}

static void
test_compiled(void **state)
{
	static const char *const filters[] = { "", "ip", "tcp", "udp port 53",
		"tcp port 80 and not src net 0.0.0.0/8", "ip6 and udp",
		"vlan 5 and ip", "arp", "len <= 60", "ether broadcast",
		"tcp[tcpflags] & (tcp-syn|tcp-fin) != 0", "ip[0] & 0xf > 5",
		"icmp[icmptype] == icmp-echo", "ether[20:4] % 7 == 3",
		"ip host 10.0.0.1 or ip multicast", "portrange 50-90" };
	pcap_t *pcap = pcap_open_dead(DLT_EN10MB, 65535);
	struct bpf_program prog;
	uint8_t pkt[160];
	uint32_t len;

	assert_non_null(pcap);
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		assert_int_equal(pcap_compile(pcap, &prog, filters[i], 1,
		    PCAP_NETMASK_UNKNOWN), 0);
		for (int round = 0; round < 300; round++) {
			len = random_packet(pkt, sizeof(pkt));
			compare(prog.bf_insns, prog.bf_len, pkt, len);
		}
		pcap_freecode(&prog);
	}
	pcap_close(pcap);
}

/* Instructions of any kind, nearly right. */
static void
random_insn(struct ng_bpf_insn *in, size_t left)
{

	in->code = (uint16_t)(ngt_random() % 0xb8);
	in->jt = (uint8_t)(ngt_random() % (left + 1));
	in->jf = (uint8_t)(ngt_random() % (left + 1));
	switch (ngt_random() % 4) {
	case 0:
		in->k = (uint32_t)(ngt_random() % 64);
		break;
	case 1:
		in->k = UINT32_MAX - (uint32_t)(ngt_random() % 4);
		break;
	default:
		in->k = (uint32_t)(ngt_random() % 16);
		break;
	}
}

#define	SETUP	16		/* words of memory, which libpcap does not clear */

static void
test_random(void **state)
{
	union {
		struct ng_bpf_insn ours[SETUP + 12];
		struct bpf_insn theirs[SETUP + 12];
	} u;
	unsigned int good = 0;
	uint8_t pkt[80];
	uint32_t len;
	size_t n;

	for (uint32_t i = 0; i < SETUP; i++)
		u.ours[i] = (struct ng_bpf_insn){ .code = 0x02, .k = i };
	for (int round = 0; round < 20000; round++) {
		n = SETUP + 1 + ngt_random() % 12;
		for (size_t i = SETUP; i < n; i++) {
			/* Most must be good by themselves to be so together. */
			do
				random_insn(&u.ours[i], n - 1 - i);
			while (ngt_random() % 64 != 0 &&
			    !ng_bpf_check(&u.ours[i], 1) &&
			    (u.ours[i].code & 7) != 0 &&
			    (u.ours[i].code & 7) != 4);
		}
		u.ours[n - 1].code = ngt_random() % 2 == 0 ? 0x06 : 0x16;
		if (!ng_bpf_check(u.ours, n))
			continue;
		good++;
		/* libpcap's check knows no less. */
		assert_true(bpf_validate(u.theirs, (int)n));
		len = random_packet(pkt, sizeof(pkt));
		compare(u.theirs, n, pkt, len);
	}
	assert_true(good > 100);
}

static void
refuse(uint16_t code, uint8_t jt, uint8_t jf, uint32_t k)
{
	struct ng_bpf_insn prog[3] = { { code, jt, jf, k }, { .code = 6 },
		{ .code = 6 } };

	assert_false(ng_bpf_check(prog, 3));
}

static void
test_refused(void **state)
{
	struct ng_bpf_insn ret = { .code = 6 };

	assert_true(ng_bpf_check(&ret, 1));
	assert_false(ng_bpf_check(&ret, 0));
	refuse(0x05, 0, 0, UINT32_MAX);		/* back */
	refuse(0x05, 0, 0, 2);			/* out */
	refuse(0x15, 2, 0, 0);
	refuse(0x15, 0, 2, 0);
	refuse(0x34, 0, 0, 0);			/* by 0 */
	refuse(0x94, 0, 0, 0);
	refuse(0x64, 0, 0, 32);
	refuse(0x60, 0, 0, 16);			/* memory */
	refuse(0x61, 0, 0, 16);
	refuse(0x02, 0, 0, 16);
	refuse(0x03, 0, 0, UINT32_MAX);
	refuse(0x47, 0, 0, 0);			/* no operations */
	refuse(0x10, 0, 0, 0);
	refuse(0x0e, 0, 0, 0);
	refuse(0xb4, 0, 0, 1);
	refuse(0x8c, 0, 0, 1);
	refuse(0x55, 0, 0, 1);
	refuse(0x106, 0, 0, 1);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compiled),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_refused),
	};

	return (cmocka_run_group_tests(tests, start, NULL));
}
