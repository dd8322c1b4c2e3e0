/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Tests of fragmentation towards a small MTU and of reassembly: what is cut
 * is put together again, in any order and against a slow reference; and
 * hostile fragments stay bounded.
 */
#include "ip/ip_testlib.h"

#include "sys/thread.h"

#define	NS_PER_S	1000000000ull

static uint8_t	 data[FRAME_MAX];	/* 0, 1, ... */

static void
fill(void)
{

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)i;
}

/* The next fragment: its offset, flags and length of data; all sums right. */
static const struct frame *
check_fragment(const struct frame *in, uint16_t off, uint32_t len,
    uint32_t hlen)
{
	const struct frame *out = rig_sent(R.p1);
	struct ip ip, oip;

	assert_non_null(out);
	check_sums(out);
	memcpy(&ip, out->f_b + ETHER_HDR_LEN, sizeof(ip));
	memcpy(&oip, in->f_b + ETHER_HDR_LEN, sizeof(oip));
	assert_memory_equal(out->f_b, mac_c, 6);
	assert_memory_equal(out->f_b + 6, mac_r1, 6);
	assert_int_equal(ip_hl(&ip), hlen);
	assert_int_equal(ntohs(ip.ip_len), hlen + len);
	assert_int_equal(ntohs(ip.ip_off), off);
	assert_int_equal(ip.ip_id, oip.ip_id);
	assert_int_equal(ip.ip_ttl, oip.ip_ttl - 1);
	assert_int_equal(ip.ip_p, oip.ip_p);
	assert_int_equal(ip.ip_tos, oip.ip_tos);
	assert_memory_equal(out->f_b + ETHER_HDR_LEN + hlen,
	    in->f_b + ETHER_HDR_LEN + ip_hl(&oip) +
	    8 * ((off & IP_OFFMASK) - (ntohs(oip.ip_off) & IP_OFFMASK)), len);
	return (out);
}

/* Towards an MTU of 1,000, in one mbuf and in two. */
static void
fragment_cases(void)
{
	static const uint8_t opts[12] = { 148, 4, 0, 0, 7, 7, 4 };
	struct in_addr own = addr4(IP_R1);
	const struct frame *out;
	struct frame f;
	uint8_t b[2048];
	size_t len;

	frame_ip4(&f, &(struct ip4){ .id = 0x1111, .tos = 0x2e }, data, 1480);
	rig_inject(R.p0, &f, 1);
	check_fragment(&f, IP_MF, 976, 20);
	check_fragment(&f, 122, 504, 20);
	/* Not to be cut. */
	frame_ip4(&f, &(struct ip4){ .id = 0x1112, .off = IP_DF }, data, 1480);
	rig_inject(R.p0, &f, 1);
	check_icmp(rig_sent(R.p0), IP_R0, IP_A, ICMP_UNREACH,
	    ICMP_UNREACH_NEEDFRAG, 1000, &f);
	/* Cut already: in the middle, and the last. */
	frame_ip4(&f, &(struct ip4){ .id = 0x1113, .off = IP_MF | 185 }, data,
	    1480);
	rig_inject(R.p0, &f, 1);
	check_fragment(&f, IP_MF | 185, 976, 20);
	check_fragment(&f, IP_MF | 307, 504, 20);
	frame_ip4(&f, &(struct ip4){ .id = 0x1114, .off = 370 }, data, 1480);
	rig_inject(R.p0, &f, 1);
	check_fragment(&f, IP_MF | 370, 976, 20);
	check_fragment(&f, 492, 504, 20);
	/* Options: all in the first, router alert alone in the second. */
	frame_ip4(&f, &(struct ip4){ .id = 0x1115, .opts = opts, .nopts = 12 },
	    data, 1436);
	rig_inject(R.p0, &f, 1);
	out = check_fragment(&f, IP_MF, 968, 32);
	assert_int_equal(out->f_b[34 + 6], 8);
	assert_memory_equal(out->f_b + 34 + 7, &own, 4);
	out = check_fragment(&f, 121, 468, 24);
	assert_memory_equal(out->f_b + 34, opts, 4);
	/* Just fits, and just not. */
	frame_ip4(&f, &(struct ip4){ .id = 0x1116 }, data, 980);
	rig_inject(R.p0, &f, 1);
	check_fragment(&f, 0, 980, 20);
	frame_ip4(&f, &(struct ip4){ .id = 0x1117 }, data, 981);
	rig_inject(R.p0, &f, 1);
	check_fragment(&f, IP_MF, 976, 20);
	check_fragment(&f, 122, 5, 20);
	/* An ICMP error that may not be cut: no error about it. */
	len = put_icmp(b, ICMP_UNREACH, ICMP_UNREACH_HOST, 0, data, 1000);
	frame_ip4(&f, &(struct ip4){ .id = 0x1118, .off = IP_DF,
	    .proto = IPPROTO_ICMP }, b, len);
	rig_inject(R.p0, &f, 1);
	/* Ends past any packet. */
	frame_ip4(&f, &(struct ip4){ .off = IP_MF | 8100 }, data, 1480);
	rig_inject(R.p0, &f, 1);
	assert_int_equal(rig_nsent(), 0);
}

static void
test_fragment(void **state)
{

	fill();
	rig_mtu(R.p1, 1000);
	fragment_cases();
	assert_int_equal(ip_stat(R.vnet, IPS_FORWARD), 6);
	assert_int_equal(ip_stat(R.vnet, IPS_FRAGMENTED), 5);
	assert_int_equal(ip_stat(R.vnet, IPS_OFRAGMENTS), 10);
	assert_int_equal(rig_drops(R.p0, IFD_IPCANTFRAG), 2);
	assert_int_equal(rig_drops(R.p1, IFD_IPCANTFRAG), 1);
	for (rig_cut = ETHER_HDR_LEN; rig_cut < 1490; rig_cut += 7)
		fragment_cases();
}

/* A route's own MTU counts before the interface's. */
static void
test_route_mtu(void **state)
{
	struct rt_req rq = { .rq_dst = addr4("10.1.0.0"), .rq_plen = 16,
	    .rq_flags = RTF_UP | RTF_STATIC | RTF_GATEWAY,
	    .rq_gw = addr4(IP_C), .rq_mtu = 600 };
	struct frame f;

	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(rt_add(R.vnet, &rq), 0);
	VNET_CONFIG_UNLOCK(R.vnet);
	frame_ip4(&f, &(struct ip4){ .dst = "10.1.0.1", .off = IP_DF }, data,
	    700);
	rig_inject(R.p0, &f, 1);
	check_icmp(rig_sent(R.p0), IP_R0, IP_A, ICMP_UNREACH,
	    ICMP_UNREACH_NEEDFRAG, 600, &f);
	frame_ip4(&f, &(struct ip4){ .dst = "10.1.0.1" }, data, 700);
	rig_inject(R.p0, &f, 1);
	check_fragment(&f, IP_MF, 576, 20);
	check_fragment(&f, 72, 124, 20);
	/* But not beyond it: the interface takes no more. */
	rig_mtu(R.p1, 500);
	frame_ip4(&f, &(struct ip4){ .dst = "10.1.0.1", .off = IP_DF }, data,
	    550);
	rig_inject(R.p0, &f, 1);
	check_icmp(rig_sent(R.p0), IP_R0, IP_A, ICMP_UNREACH,
	    ICMP_UNREACH_NEEDFRAG, 500, &f);
}

/* An unfinished checksum lies in one fragment, but covers all. */
static void
test_partial_sum(void **state)
{
	struct epoch_tracker et;
	const struct frame *out;
	struct mbuf *m;
	struct frame f;
	uint8_t b[1480];
	uint16_t sum, want;
	size_t len;

	fill();
	rig_mtu(R.p1, 1000);
	len = put_udp(b, IP_A, IP_FAR, 5000, data, 1472);
	memcpy(&want, b + 6, 2);
	sum = (uint16_t)in_pseudo(addr4(IP_A), addr4(IP_FAR), IPPROTO_UDP,
	    (uint16_t)len);
	memcpy(b + 6, &sum, 2);
	frame_ip4(&f, &(struct ip4){ .id = 0x1111 }, b, len);
	m = rig_mbuf(&f);
	m->m_pkthdr.csum_flags = CSUM_PARTIAL;
	m->m_pkthdr.csum_start = 34;
	m->m_pkthdr.csum_offset = 6;
	NET_EPOCH_ENTER(et);
	R.p0->if_input(R.p0, &m, 1);
	NET_EPOCH_EXIT(et);
	out = rig_sent(R.p1);
	assert_non_null(out);
	assert_memory_equal(out->f_b + 34 + 6, &want, 2);
	assert_non_null(rig_sent(R.p1));
}

/* ---- Reassembly ---- */

/* A fragment to R of an echo request that is len bytes long in all. */
static void
ping_fragment(struct frame *f, const uint8_t *icmp, uint16_t id, uint32_t off,
    uint32_t len, bool more)
{

	frame_ip4(f, &(struct ip4){ .dst = IP_R0, .proto = IPPROTO_ICMP,
	    .id = id, .off = (uint16_t)(off / 8 | (more ? IP_MF : 0)) },
	    icmp + off, len);
}

static void
check_no_fragments(void)
{

	assert_int_equal(R.vnet->v_ip->iv_reass.ir_npackets, 0);
	assert_int_equal(R.vnet->v_ip->iv_reass.ir_nmbufs, 0);
}

/* Every order of three; the answer is the whole again. */
static void
test_orders(void **state)
{
	static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 },
	    { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	struct frame f[3];
	uint8_t icmp[1400], want[1400];
	const struct frame *out;
	size_t len;

	fill();
	len = put_icmp(icmp, ICMP_ECHO, 0, 0x00010002, data, 1001);
	(void)put_icmp(want, ICMP_ECHOREPLY, 0, 0x00010002, data, 1001);
	for (int i = 0; i < 6; i++) {
		uint16_t id = (uint16_t)(i + 1);

		ping_fragment(&f[0], icmp, id, 0, 400, true);
		ping_fragment(&f[1], icmp, id, 400, 400, true);
		ping_fragment(&f[2], icmp, id, 800, (uint32_t)len - 800,
		    false);
		for (int j = 0; j < 3; j++) {
			assert_int_equal(rig_nsent(), 0);
			rig_inject(R.p0, &f[orders[i][j]], 1);
		}
		out = rig_sent(R.p0);
		check_icmp(out, IP_R0, IP_A, ICMP_ECHOREPLY, 0, 0x00010002,
		    NULL);
		assert_int_equal(out->f_len, 34 + len);
		assert_memory_equal(out->f_b + 34, want, len);
		check_no_fragments();
	}
	assert_int_equal(ip_stat(R.vnet, IPS_FRAGMENTS), 18);
	assert_int_equal(ip_stat(R.vnet, IPS_REASSEMBLED), 6);
	/* Larger than the link: the answer is cut. */
	rig_mtu(R.p0, 600);
	ping_fragment(&f[0], icmp, 9, 0, 400, true);
	ping_fragment(&f[1], icmp, 9, 400, (uint32_t)len - 400, false);
	rig_inject(R.p0, f, 2);
	assert_int_equal(rig_sent(R.p0)->f_len, 34 + 576);
	assert_int_equal(rig_sent(R.p0)->f_len, 34 + len - 576);
	assert_int_equal(rig_nsent(), 0);
}

/* Overlaps kill the packet for as long as it could live; doubles do not. */
static void
test_overlap(void **state)
{
	struct frame f;
	uint8_t icmp[256];
	size_t len;

	len = put_icmp(icmp, ICMP_ECHO, 0, 1, data, 120);
	ping_fragment(&f, icmp, 1, 0, 64, true);
	rig_inject(R.p0, &f, 1);
	rig_inject(R.p0, &f, 1);
	ping_fragment(&f, icmp, 1, 64, (uint32_t)len - 64, false);
	rig_inject(R.p0, &f, 1);
	check_icmp(rig_sent(R.p0), IP_R0, IP_A, ICMP_ECHOREPLY, 0, 1, NULL);
	assert_int_equal(rig_drops(R.p0, IFD_IPFRAG), 1);
	check_no_fragments();

	ping_fragment(&f, icmp, 2, 0, 64, true);
	rig_inject(R.p0, &f, 1);
	ping_fragment(&f, icmp, 2, 56, (uint32_t)len - 56, false);
	rig_inject(R.p0, &f, 1);
	assert_int_equal(rig_drops(R.p0, IFD_IPFRAG), 3);
	ping_fragment(&f, icmp, 2, 64, (uint32_t)len - 64, false);
	rig_inject(R.p0, &f, 1);
	ping_fragment(&f, icmp, 2, 0, 64, true);
	rig_inject(R.p0, &f, 1);
	assert_int_equal(rig_drops(R.p0, IFD_IPFRAG), 5);
	/* Nothing is said about it, not even later. */
	rig_tick(time_ns() + 90 * NS_PER_S);
	assert_int_equal(rig_nsent(), 0);
	check_no_fragments();
}

/* Fragments no packet can have; and two ends. */
static void
test_impossible(void **state)
{
	struct frame f;
	uint8_t icmp[256];
	uint64_t n = 0;

	(void)put_icmp(icmp, ICMP_ECHO, 0, 1, data, 200);
	ping_fragment(&f, icmp, 1, 0, 61, true);	/* odd, not the last */
	rig_inject(R.p0, &f, 1);
	ping_fragment(&f, icmp, 1, 0, 0, true);		/* empty */
	rig_inject(R.p0, &f, 1);
	frame_ip4(&f, &(struct ip4){ .dst = IP_R0, .off = 8190 }, data, 200);
	rig_inject(R.p0, &f, 1);			/* too long */
	n += 3;
	assert_int_equal(rig_drops(R.p0, IFD_IPFRAG), n);
	check_no_fragments();
	/* Behind the end, and another end. */
	ping_fragment(&f, icmp, 2, 64, 40, false);
	rig_inject(R.p0, &f, 1);
	ping_fragment(&f, icmp, 2, 104, 40, true);
	rig_inject(R.p0, &f, 1);
	n += 2;
	assert_int_equal(rig_drops(R.p0, IFD_IPFRAG), n);
	ping_fragment(&f, icmp, 3, 104, 40, true);
	rig_inject(R.p0, &f, 1);
	ping_fragment(&f, icmp, 3, 64, 40, false);
	rig_inject(R.p0, &f, 1);
	n += 2;
	assert_int_equal(rig_drops(R.p0, IFD_IPFRAG), n);
	/* To everybody. */
	frame_ip4(&f, &(struct ip4){ .dst = "192.0.2.255", .off = IP_MF },
	    data, 64);
	rig_inject(R.p0, &f, 1);
	assert_int_equal(rig_drops(R.p0, IFD_IPFRAG), n + 1);
	/* A congestion mark among packets that cannot carry one (RFC 3168). */
	frame_ip4(&f, &(struct ip4){ .dst = IP_R0, .id = 4, .tos = 3,
	    .off = IP_MF }, data, 64);
	rig_inject(R.p0, &f, 1);
	frame_ip4(&f, &(struct ip4){ .dst = IP_R0, .id = 4, .off = 8 }, data,
	    64);
	rig_inject(R.p0, &f, 1);
	assert_int_equal(rig_drops(R.p0, IFD_IPFRAG), n + 3);
	assert_int_equal(rig_nsent(), 0);
}

/* Too late: the sender is told if the first fragment was here. */
static void
test_timeout(void **state)
{
	struct frame first, second;
	uint8_t icmp[256];
	uint64_t now = time_ns();

	(void)put_icmp(icmp, ICMP_ECHO, 0, 1, data, 120);
	ping_fragment(&second, icmp, 1, 64, 32, true);
	rig_inject(R.p0, &second, 1);
	ping_fragment(&first, icmp, 2, 0, 64, true);
	rig_inject(R.p0, &first, 1);
	rig_tick(now + 29 * NS_PER_S);
	assert_int_equal(R.vnet->v_ip->iv_reass.ir_npackets, 2);
	rig_tick(now + 90 * NS_PER_S);
	check_no_fragments();
	check_icmp(rig_sent(R.p0), IP_R0, IP_A, ICMP_TIMXCEED,
	    ICMP_TIMXCEED_REASS, 0, &first);
	assert_int_equal(rig_nsent(), 0);
	assert_int_equal(rig_drops(R.p0, IFD_IPFRAGTIME), 2);
}

/* A flood of beginnings: bounded, and the last packet still gets through. */
static void
test_bounds(void **state)
{
	const struct ip_reass *ir = &R.vnet->v_ip->iv_reass;
	struct frame f;
	uint8_t icmp[256];
	size_t len;

	rig_sysctl("net.inet.ip.maxfragpackets", 50);
	len = put_icmp(icmp, ICMP_ECHO, 0, 1, data, 240);
	for (int i = 0; i < 100000; i++) {
		ping_fragment(&f, icmp, (uint16_t)i, 0, 64, true);
		f.f_b[29] = (uint8_t)(10 + i % 200);
		f.f_b[24] = f.f_b[25] = 0;
		memcpy(f.f_b + 24, &(uint16_t){ in_cksum(f.f_b + 14, 20) }, 2);
		rig_inject(R.p0, &f, 1);
		assert_true(ir->ir_npackets <= 50);
		assert_true(ir->ir_nmbufs <= 50);
	}
	assert_int_equal(rig_drops(R.p0, IFD_IPFRAGLIMIT), 100000 - 50);
	ping_fragment(&f, icmp, 7, 0, 64, true);
	rig_inject(R.p0, &f, 1);
	ping_fragment(&f, icmp, 7, 64, (uint32_t)len - 64, false);
	rig_inject(R.p0, &f, 1);
	check_icmp(rig_sent(R.p0), IP_R0, IP_A, ICMP_ECHOREPLY, 0, 1, NULL);
	/* So many of one packet, and no more. */
	rig_sysctl("net.inet.ip.maxfragsperpacket", 4);
	for (uint32_t i = 0; i < 5; i++) {
		assert_true(ir->ir_npackets <= 50);
		ping_fragment(&f, icmp, 8, 16 * i, 16, true);
		rig_inject(R.p0, &f, 1);
	}
	ping_fragment(&f, icmp, 8, 80, (uint32_t)len - 80, false);
	rig_inject(R.p0, &f, 1);
	assert_int_equal(rig_nsent(), 0);
	rig_sysctl("net.inet.ip.maxfragpackets", 0);
	ping_fragment(&f, icmp, 9, 0, 64, true);
	rig_inject(R.p0, &f, 1);
	rig_tick(time_ns() + 40 * NS_PER_S);
	rig_forget();
	check_no_fragments();
}

/*
 * A slow reassembly: a byte each with who wrote it.  It knows one packet, and
 * says as the fragments come what must become of it.
 */
struct naive {
	bool		 n_dead;
	bool		 n_done;
	uint32_t	 n_total;
	unsigned int	 n_frags;
	uint8_t		 n_have[4096];
	uint32_t	 n_off[64];
	uint32_t	 n_len[64];
};

static void
naive_add(struct naive *n, uint32_t off, uint32_t len, bool last)
{
	uint32_t i, have = 0;

	if (n->n_dead)
		return;
	for (i = 0; i < n->n_frags; i++)
		if (n->n_off[i] == off && n->n_len[i] == len &&
		    (!last || n->n_total == off + len) &&
		    (n->n_total == 0 || off + len <= n->n_total))
			return;
	for (i = off; i < off + len; i++)
		if (n->n_have[i])
			n->n_dead = true;
	if (n->n_total != 0 && (off + len > n->n_total ||
	    (last && off + len != n->n_total)))
		n->n_dead = true;
	if (last)
		for (i = off + len; i < sizeof(n->n_have); i++)
			if (n->n_have[i])
				n->n_dead = true;
	if (n->n_dead)
		return;
	if (last)
		n->n_total = off + len;
	n->n_off[n->n_frags] = off;
	n->n_len[n->n_frags++] = len;
	memset(n->n_have + off, 1, len);
	for (i = 0; i < n->n_total; i++)
		have += n->n_have[i];
	n->n_done = n->n_total != 0 && have == n->n_total;
}

/* Random cuts in random order, some doubled, some moved, some missing. */
static void
test_reference(void **state)
{
	uint32_t cut[17], total, ncuts, i, k;
	uint8_t icmp[4096], want[4096];
	const struct frame *out;
	unsigned int put = 0, whole = 0;
	struct naive n;
	struct frame f;

	test_seed();
	fill();
	for (int round = 0; round < 8000; round++) {
		total = 104 + (uint32_t)(test_rand() % 400);
		(void)put_icmp(icmp, ICMP_ECHO, 0, 5, data, total - 8);
		(void)put_icmp(want, ICMP_ECHOREPLY, 0, 5, data, total - 8);
		for (ncuts = 0, cut[0] = 0; ncuts < 8 && cut[ncuts] < total;
		    ncuts++)
			cut[ncuts + 1] = cut[ncuts] + 8 * (1 +
			    (uint32_t)(test_rand() % 12));
		if (cut[ncuts] < total)
			cut[++ncuts] = total;
		cut[ncuts] = total;
		memset(&n, 0, sizeof(n));
		for (k = 0; k < 3 * ncuts && !n.n_done; k++) {
			uint32_t off, len;
			bool last;

			i = (uint32_t)(test_rand() % ncuts);
			off = cut[i];
			len = cut[i + 1] - off;
			last = i + 1 == ncuts;
			if (test_rand() % 64 == 0 && !last)
				len += 8;
			if (test_rand() % 64 == 0)
				off += 8;
			ping_fragment(&f, icmp, (uint16_t)(round + 1), off,
			    len, !last);
			naive_add(&n, off, len, last);
			rig_cut = (uint32_t)(test_rand() % 60);
			if (rig_cut < ETHER_HDR_LEN)
				rig_cut = 0;
			rig_inject(R.p0, &f, 1);
			put += n.n_done;
			assert_int_equal(ip_stat(R.vnet, IPS_REASSEMBLED),
			    put);
		}
		if (n.n_done && n.n_total == total) {
			out = rig_sent(R.p0);
			assert_non_null(out);
			assert_memory_equal(out->f_b + 34, want, total);
			whole++;
		}
		rig_forget();
	}
	assert_true(whole > 2000);
	rig_tick(time_ns() + 40 * NS_PER_S);
	check_no_fragments();
	rig_forget();
}

int
main(void)
{
#define	T(f)	cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		T(test_fragment), T(test_route_mtu), T(test_partial_sum),
		T(test_orders), T(test_overlap), T(test_impossible),
		T(test_timeout), T(test_bounds), T(test_reference),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
