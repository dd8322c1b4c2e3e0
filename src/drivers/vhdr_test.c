/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Tests of virtio headers: what they say of checksums, splitting of large
 * frames of random kinds and sizes, and headers that lie.
 */
#include "drivers/drivers_test.h"

#include <arpa/inet.h>

#include "drivers/vhdr.h"
#include "sys/random_testlib.h"
#include "wire/in_cksum.h"
#include "wire/in_l4.h"
#include "wire/ip.h"
#include "wire/ip6.h"
#include "wire/tcp.h"

#define	FRAME_MAX	65600u

static uint8_t	 frame[FRAME_MAX];

static uint32_t
rnd(uint32_t below)
{

	return ((uint32_t)test_rand() % below);
}

/*
 * A TCP packet over IPv4 or IPv6 with tags and paylen bytes; returns its
 * length.  *l3off: where IP begins.
 */
static uint32_t
make_tcp(unsigned int tags, bool v6, uint32_t paylen, uint32_t *l3off)
{
	struct ip6_hdr *ip6;
	struct tcphdr *th;
	struct ip *ip;
	uint16_t type;
	uint32_t off = ETHER_HDR_LEN, hlen;

	memset(frame, 0, 256);
	for (unsigned int i = 0; i < tags; i++) {
		type = htons(i == 0 ? ETHERTYPE_QINQ : ETHERTYPE_VLAN);
		memcpy(frame + off - ETHER_TYPE_LEN, &type, sizeof(type));
		off += ETHER_VLAN_ENCAP_LEN;
	}
	type = htons(v6 ? ETHERTYPE_IPV6 : ETHERTYPE_IP);
	memcpy(frame + off - ETHER_TYPE_LEN, &type, sizeof(type));
	*l3off = off;
	hlen = v6 ? sizeof(*ip6) : sizeof(*ip);
	th = (void *)(frame + off + hlen);
	if (v6) {
		ip6 = (void *)(frame + off);
		frame[off] = 0x60;
		ip6->ip6_plen = htons((uint16_t)(sizeof(*th) + paylen));
		ip6->ip6_nxt = IPPROTO_TCP;
		ip6->ip6_hlim = 64;
	} else {
		ip = (void *)(frame + off);
		frame[off] = 0x45;
		ip->ip_len = htons((uint16_t)(hlen + sizeof(*th) + paylen));
		ip->ip_ttl = 64;
		ip->ip_p = IPPROTO_TCP;
		ip->ip_sum = in_cksum(ip, hlen);
	}
	frame[off + hlen + 12] = 5 << 4;
	for (uint32_t i = 0; i < paylen; i++)
		frame[off + hlen + sizeof(*th) + i] = (uint8_t)rnd(256);
	return (off + hlen + (uint32_t)sizeof(*th) + paylen);
}

/* Is the packet at off of m whole, with right checksums?  Its payload. */
static const uint8_t *
check_segment(struct mbuf *m, uint8_t *copy, uint32_t l3off, uint32_t *paylen)
{
	struct in_l4 l4;

	m_copydata(m, 0, m->m_pkthdr.len, copy);
	assert_true(in_l4_find(copy + l3off, m->m_pkthdr.len - l3off, &l4));
	if (l4.l4_v == 4)
		assert_int_equal(in_cksum(copy + l3off, l4.l4_off), 0);
	assert_int_equal(in_cksum_finish(in_cksum_partial(
	    in_l4_pseudo(copy + l3off, &l4, l4.l4_len),
	    copy + l3off + l4.l4_off, l4.l4_len, 0)), 0);
	*paylen = l4.l4_len - l4.l4_hlen;
	return (copy + l3off + l4.l4_off + l4.l4_hlen);
}

/* Large frames of all kinds; every byte arrives once and in order. */
static void
test_split(void **state)
{
	static uint8_t copy[FRAME_MAX];
	struct virtio_net_hdr vh = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM };
	struct mbuf *m[MBUF_BURST];
	struct vhdr_split vs;
	uint32_t len, l3off, hlen, paylen, total, at, mss;
	unsigned int lost, n, segs;
	const uint8_t *pay;

	for (int round = 0; round < 400; round++) {
		bool v6 = rnd(2) != 0;

		mss = 1 + rnd(round % 4 == 0 ? 9000 : 1460);
		total = 1 + rnd(mss < 50 ? 4000 : 65000);
		len = make_tcp(rnd(3), v6, total, &l3off);
		hlen = len - total;
		vh.gso_type = (uint8_t)((v6 ? VIRTIO_NET_HDR_GSO_TCPV6 :
		    VIRTIO_NET_HDR_GSO_TCPV4) |
		    (rnd(2) != 0 ? VIRTIO_NET_HDR_GSO_ECN : 0));
		vh.gso_size = (uint16_t)mss;
		vh.csum_start = (uint16_t)(hlen - sizeof(struct tcphdr));
		assert_true(vhdr_is_gso(&vh));
		assert_true(vhdr_split_begin(&vs, frame, len, &vh));
		at = segs = lost = 0;
		while (vs.vs_active) {
			n = vhdr_split_next(&vs, m, 1 + rnd(MBUF_BURST),
			    &lost);
			for (unsigned int i = 0; i < n; i++) {
				pay = check_segment(m[i], copy, l3off,
				    &paylen);
				assert_true(paylen <= mss);
				assert_memory_equal(pay, frame + hlen + at,
				    paylen);
				at += paylen;
			}
			segs += n;
			m_free_burst(m, n);
		}
		assert_int_equal(lost, 0);
		assert_int_equal(at, total);
		assert_int_equal(segs, (total + mss - 1) / mss);
	}
	test_no_leak();
}

/* What is to be cut is not what the frame has: never cut by guess. */
static void
test_split_other(void **state)
{
	struct virtio_net_hdr vh = {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
		.gso_size = 1000,
	};
	struct vhdr_split vs;
	uint32_t l3off, len;

	len = make_tcp(0, false, 10000, &l3off);
	for (uint32_t start = 0; start < 100; start++) {
		vh.csum_start = (uint16_t)start;
		assert_int_equal(vhdr_split_begin(&vs, frame, len, &vh),
		    start == l3off + IP_HDR_MIN);
	}
	vh.flags = 0;
	assert_true(vhdr_split_begin(&vs, frame, len, &vh));
	vh.gso_type = VHDR_GSO_UDP_L4;
	assert_false(vhdr_split_begin(&vs, frame, len, &vh));
}

/* No frames: the segments are counted, and the end is reached. */
static void
test_split_nomem(void **state)
{
	struct virtio_net_hdr vh = {
		.gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
		.gso_size = 1000,
	};
	struct mbuf *held = NULL, *m[MBUF_BURST], *p;
	struct vhdr_split vs;
	unsigned int lost = 0;
	uint32_t l3off, len;

	while ((p = m_gethdr()) != NULL) {
		p->m_nextpkt = held;
		held = p;
	}
	len = make_tcp(0, false, 10000, &l3off);
	assert_true(vhdr_split_begin(&vs, frame, len, &vh));
	assert_int_equal(vhdr_split_next(&vs, m, MBUF_BURST, &lost), 0);
	assert_int_equal(lost, 10);
	assert_false(vs.vs_active);
	while ((p = held) != NULL) {
		held = p->m_nextpkt;
		m_freem(p);
	}
	test_no_leak();
}

/* Any bytes with any header: refused, or split within the frame. */
static void
test_split_hostile(void **state)
{
	struct virtio_net_hdr vh = { 0 };
	struct mbuf *m[MBUF_BURST];
	struct vhdr_split vs;
	unsigned int lost;
	uint32_t l3off, len, n;
	uint8_t *exact;

	for (int round = 0; round < 20000; round++) {
		len = make_tcp(rnd(3), rnd(2) != 0, rnd(300), &l3off);
		for (n = rnd(4); n > 0; n--)
			frame[rnd(len)] = (uint8_t)rnd(256);
		len = rnd(4) == 0 ? rnd(len + 1) : len;
		vh.gso_type = (uint8_t)(rnd(2) != 0 ? rnd(256) :
		    VIRTIO_NET_HDR_GSO_TCPV4);
		vh.gso_size = (uint16_t)(rnd(4) == 0 ? 0 : 1 + rnd(100));
		vh.flags = (uint8_t)rnd(2);
		vh.csum_start = (uint16_t)rnd(80);
		/* Against the end of an allocation, for the sanitizer. */
		exact = malloc(len != 0 ? len : 1);
		assert_non_null(exact);
		memcpy(exact, frame, len);
		lost = 0;
		if (vhdr_split_begin(&vs, exact, len, &vh))
			while (vs.vs_active) {
				n = vhdr_split_next(&vs, m, MBUF_BURST,
				    &lost);
				m_free_burst(m, n);
			}
		free(exact);
	}
	test_no_leak();
}

static void
test_cksum(void **state)
{
	const struct {
		uint16_t	 start, offset;
		bool		 ok;
	} cases[] = {
		{ 34, 16, true }, { 58, 0, true }, { 59, 0, false },
		{ 60, 0, false }, { 61, 0, false }, { 0, 59, false },
		{ 65535, 65535, false }, { 34, 65535, false },
		{ 0, 58, true },
	};
	struct virtio_net_hdr vh = { 0 }, back;
	struct mbuf *m = m_gethdr();

	assert_non_null(m);
	make_tcp(0, false, 6, &(uint32_t){ 0 });
	assert_int_equal(m_append(m, 60, frame), 0);
	for (size_t i = 0; i < nitems(cases); i++) {
		m->m_pkthdr.csum_flags = 0;
		vh.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
		vh.csum_start = cases[i].start;
		vh.csum_offset = cases[i].offset;
		assert_int_equal(vhdr_cksum(m, &vh), cases[i].ok);
		assert_int_equal(m->m_pkthdr.csum_flags,
		    cases[i].ok ? CSUM_PARTIAL : 0);
		if (!cases[i].ok)
			continue;
		vhdr_fill(&back, m);
		assert_memory_equal(&back, &vh, sizeof(vh));
	}
	vh.flags = VIRTIO_NET_HDR_F_DATA_VALID;
	assert_true(vhdr_cksum(m, &vh));
	assert_int_equal(m->m_pkthdr.csum_flags, CSUM_VALID);
	vhdr_fill(&back, m);
	assert_int_equal(back.flags, 0);
	m_freem(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_split_other),
		cmocka_unit_test(test_split_nomem),
		cmocka_unit_test(test_split_hostile),
		cmocka_unit_test(test_cksum),
	};

	(void)test_seed();
	assert_int_equal(mbuf_init(1024), 0);
	return (cmocka_run_group_tests_name("vhdr", tests, NULL, NULL));
}
