/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Tests of what a router is asked itself, and of whom it believes: false
 * sources, closed ports, addresses that stay on their link, redirects.
 */
#include "ip/ip_testlib.h"

#include <unistd.h>

#include "wire/tcp.h"

static size_t
echo(uint8_t *to)
{

	return (put_icmp(to, ICMP_ECHO, 0, 0x00010001, "abcdefghijklmnop",
	    16));
}

/*
 * To us from everybody on a link, or from ourselves: not answered, or the
 * answer would go to all of them (RFC 1122 3.2.1.3).
 */
static void
test_false_sources(void **state)
{
	static const char *const sources[] = { "192.0.2.255", "192.0.2.0",
	    "198.51.100.255", IP_R0, IP_R1 };
	uint8_t b[64];
	struct frame f;
	size_t len;

	for (unsigned int i = 0; i < nitems(sources); i++) {
		len = echo(b);
		frame_ip4(&f, &(struct ip4){ .src = sources[i], .dst = IP_R0,
		    .proto = IPPROTO_ICMP }, b, len);
		rig_inject(R.p0, &f, 1);
		frame_ip4(&f, &(struct ip4){ .src = sources[i], .dst = IP_R0,
		    .proto = IPPROTO_ICMP, .off = IP_MF }, b, 16);
		rig_inject(R.p0, &f, 1);
		len = put_udp(b, sources[i], IP_R1, 9, "who?", 4);
		frame_ip4(&f, &(struct ip4){ .src = sources[i],
		    .dst = IP_R1 }, b, len);
		rig_inject(R.p0, &f, 1);
		assert_int_equal(rig_drops(R.p0, IFD_IPADDR), 3 * (i + 1));
	}
	assert_int_equal(rig_nsent(), 0);
	assert_int_equal(rig_all_drops(), 3 * nitems(sources));
}

/* 169.254/16 stays on its link, but may talk to us there (RFC 3927 7). */
static void
test_link_local(void **state)
{
	static const struct in_addr none;
	static const struct ip4 off[] = {
		{ .src = "169.254.7.7" }, { .dst = "169.254.7.8", .ttl = 1 },
		{ .src = "169.254.0.1", .dst = "169.254.255.254" },
	};
	struct rt_req rq = { .rq_dst = addr4("0.0.0.0"), .rq_plen = 0,
	    .rq_flags = RTF_UP | RTF_STATIC | RTF_GATEWAY,
	    .rq_gw = addr4(IP_C) };
	uint8_t b[64];
	struct frame f;
	size_t len;

	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(rt_add(R.vnet, &rq), 0);
	VNET_CONFIG_UNLOCK(R.vnet);
	for (unsigned int i = 0; i < nitems(off); i++) {
		frame_udp(&f, &off[i]);
		rig_inject(R.p0, &f, 1);
		assert_int_equal(rig_drops(R.p0, IFD_IPADDR), i + 1);
	}
	assert_int_equal(rig_nsent(), 0);
	/* Those beside it are ordinary. */
	frame_udp(&f, &(struct ip4){ .src = "169.253.255.255",
	    .dst = "169.255.0.0" });
	rig_inject(R.p0, &f, 1);
	check_forwarded(rig_sent(R.p1), &f, mac_r1, mac_c);
	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(if_addr_add(R.p0, addr4("169.254.7.1"), 16, none,
	    none), 0);
	VNET_CONFIG_UNLOCK(R.vnet);
	rig_neighbour(R.p0, "169.254.7.7", mac_a);
	for (int i = 0; i < 5000 && rig_nsent() == 0; i++)
		(void)usleep(1000);
	assert_non_null(rig_sent(R.p0));	/* the announcement */
	len = echo(b);
	frame_ip4(&f, &(struct ip4){ .src = "169.254.7.7",
	    .dst = "169.254.7.1", .proto = IPPROTO_ICMP }, b, len);
	rig_inject(R.p0, &f, 1);
	check_icmp(rig_sent(R.p0), "169.254.7.1", "169.254.7.7",
	    ICMP_ECHOREPLY, 0, 0x00010001, NULL);
}

/* A datagram is whole and right before anybody is told of a closed port. */
static void
test_udp_closed(void **state)
{
	uint8_t b[64];
	struct frame f;
	size_t len;

	for (int bad = 0; bad < 5; bad++) {
		len = put_udp(b, IP_A, IP_R0, 9, "netepoch", 8);
		if (bad == 0)
			b[10] ^= 1;		/* the data */
		else if (bad == 1)
			b[5] = 7;		/* shorter than its header */
		else if (bad == 2)
			b[5]++;			/* longer than the packet */
		else if (bad == 3)
			len = 7;
		else
			len = 0;
		frame_ip4(&f, &(struct ip4){ .dst = IP_R0 }, b, len);
		rig_inject(R.p0, &f, 1);
		assert_int_equal(rig_drops(R.p0, IFD_UDPBAD), bad + 1);
		assert_int_equal(rig_nsent(), 0);
	}
	/* None is as good as right, and there may be more behind it. */
	len = put_udp(b, IP_A, IP_R0, 9, "netepoch", 8);
	for (int ok = 0; ok < 3; ok++) {
		if (ok == 1)
			b[6] = b[7] = 0;
		if (ok == 2)
			len += 5;
		frame_ip4(&f, &(struct ip4){ .dst = IP_R0 }, b, len);
		rig_inject(R.p0, &f, 1);
		check_icmp(rig_sent(R.p0), IP_R0, IP_A, ICMP_UNREACH,
		    ICMP_UNREACH_PORT, 0, &f);
	}
	assert_int_equal(rig_drops(R.p0, IFD_UDPPORT), 3);
}

/* A frame with a TCP segment of len bytes, 20 of them header. */
static void
frame_tcp(struct frame *f, const struct ip4 *h, uint8_t flags, size_t len)
{
	uint8_t b[128] = { 0x30, 0x39, 0, 22, 0xff, 0xff, 0xff, 0xfd,
	    1, 2, 3, 4, 5 << 4, flags };
	const char *src = h->src != NULL ? h->src : IP_A;
	struct ip4 ip = *h;
	uint16_t sum;

	sum = in_cksum_finish(in_pseudo(addr4(src), addr4(h->dst),
	    IPPROTO_TCP, (uint16_t)len) + in_cksum_partial(0, b, len, 0));
	memcpy(b + 16, &sum, sizeof(sum));
	ip.proto = IPPROTO_TCP;
	frame_ip4(f, &ip, b, len);
}

/* Nobody listens: a reset that belongs to the segment, or silence. */
static void
test_tcp_closed(void **state)
{
	static const uint8_t nops[8] = { 1, 1, 1, 1, 1, 1, 1, 0 };
	static const struct {
		uint8_t		 in, out;
		size_t		 len;
		uint32_t	 seq, ack;
	} tab[] = {
		{ TH_SYN, TH_RST | TH_ACK, 20, 0, 0xfffffffe },
		{ TH_SYN | TH_FIN, TH_RST | TH_ACK, 25, 0, 4 },
		{ 0, TH_RST | TH_ACK, 23, 0, 0 },
		{ TH_ACK, TH_RST, 60, 0x01020304, 0 },
		{ TH_SYN | TH_ACK, TH_RST, 20, 0x01020304, 0 },
	};
	const struct frame *out;
	struct tcphdr th;
	struct frame f;

	for (unsigned int i = 0; i < 2 * nitems(tab); i++) {
		frame_tcp(&f, &(struct ip4){ .dst = i % 2 == 0 ? IP_R0 :
		    IP_R1, .opts = nops, .nopts = i % 2 * 8 },
		    tab[i / 2].in, tab[i / 2].len);
		rig_inject(R.p0, &f, 1);
		out = rig_sent(R.p0);
		assert_non_null(out);
		check_sums(out);
		assert_memory_equal(out->f_b, mac_a, 6);
		assert_memory_equal(out->f_b + 26, f.f_b + 30, 4);
		assert_memory_equal(out->f_b + 30, f.f_b + 26, 4);
		assert_int_equal(out->f_b[17], 40);
		memcpy(&th, out->f_b + 34, sizeof(th));
		assert_int_equal(ntohs(th.th_sport), 22);
		assert_int_equal(ntohs(th.th_dport), 12345);
		assert_int_equal(th.th_flags, tab[i / 2].out);
		assert_int_equal(ntohl(th.th_seq), tab[i / 2].seq);
		assert_int_equal(ntohl(th.th_ack), tab[i / 2].ack);
		assert_int_equal(in_cksum_finish(in_pseudo(addr4(IP_A),
		    addr4(i % 2 == 0 ? IP_R0 : IP_R1), IPPROTO_TCP, 20) +
		    in_cksum_partial(0, &th, sizeof(th), 0)), 0);
	}
	assert_int_equal(rig_drops(R.p0, IFD_TCPPORT), 2 * nitems(tab));
	/* No answer to a reset, to a broadcast, to what is damaged. */
	frame_tcp(&f, &(struct ip4){ .dst = IP_R0 }, TH_RST | TH_ACK, 20);
	rig_inject(R.p0, &f, 1);
	frame_tcp(&f, &(struct ip4){ .dst = "192.0.2.255" }, TH_SYN, 20);
	rig_inject(R.p0, &f, 1);
	frame_tcp(&f, &(struct ip4){ .dst = IP_R0 }, TH_SYN, 20);
	memcpy(f.f_b, mac_all, 6);
	rig_inject(R.p0, &f, 1);
	assert_int_equal(rig_drops(R.p0, IFD_TCPPORT),
	    2 * nitems(tab) + 3);
	frame_tcp(&f, &(struct ip4){ .dst = IP_R0 }, TH_SYN, 20);
	f.f_b[50] ^= 1;
	rig_inject(R.p0, &f, 1);
	assert_int_equal(rig_drops(R.p0, IFD_TCPBAD), 1);
	assert_int_equal(rig_nsent(), 0);
	/* Within the rate. */
	rig_sysctl("net.inet.icmp.icmplim", 10);
	rig_sysctl("net.inet.icmp.icmplim_jitter", 0);
	frame_tcp(&f, &(struct ip4){ .dst = IP_R0 }, TH_SYN, 20);
	for (int i = 0; i < 500; i++)
		rig_inject(R.p0, &f, 1);
	assert_int_equal(ip_stat(R.vnet, TCPS_RESETS), 2 * nitems(tab) +
	    rig_nsent());
	assert_int_equal(ip_stat(R.vnet, TCPS_LIMITED), 500 - rig_nsent());
	assert_true(rig_nsent() < 400);
	rig_forget();
}

/*
 * Told of a next hop is only who shares a network with it, and is not that next
 * hop itself; the packet goes out all the same.
 */
static void
test_no_redirect(void **state)
{
	static const struct in_addr none;
	static const struct ip4 in[] = {
		{ .src = IP_B, .dst = "10.1.2.3" },	/* itself */
		{ .src = IP_B, .dst = IP_B },
		{ .src = "10.0.0.7", .dst = "10.1.2.3" }, /* other network */
		{ .src = IP_A, .dst = "10.0.0.7" },
		{ .src = IP_FAR, .dst = "10.1.2.3" },	/* not on this link */
	};
	struct rt_req rq = { .rq_dst = addr4("10.1.0.0"), .rq_plen = 16,
	    .rq_flags = RTF_UP | RTF_STATIC | RTF_GATEWAY,
	    .rq_gw = addr4(IP_B) };
	struct frame f;

	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(rt_add(R.vnet, &rq), 0);
	assert_int_equal(if_addr_add(R.p0, addr4("10.0.0.1"), 24, none, none),
	    0);
	VNET_CONFIG_UNLOCK(R.vnet);
	rig_neighbour(R.p0, "10.0.0.7", mac_b);
	for (int i = 0; i < 5000 && rig_nsent() == 0; i++)
		(void)usleep(1000);
	assert_non_null(rig_sent(R.p0));	/* the announcement */
	for (unsigned int i = 0; i < nitems(in); i++) {
		frame_udp(&f, &in[i]);
		rig_inject(R.p0, &f, 1);
		check_forwarded(rig_sent(R.p0), &f, mac_r0, mac_b);
		assert_int_equal(rig_nsent(), 0);
	}
	assert_int_equal(ip_stat(R.vnet, IPS_REDIRECTS), 0);
	assert_int_equal(ip_stat(R.vnet, ICPS_NOTWANTED), 0);
}

/* Errors to a link without an address come from the router's (2.2.7). */
static void
test_unnumbered(void **state)
{
	static const uint8_t mac_r2[6] = { 2, 0, 0, 0, 3, 0 };
	struct ifnet *p2 = rig_interface("p2", mac_r2);
	struct rt_req rq = { .rq_dst = addr4("10.9.0.0"), .rq_plen = 16,
	    .rq_flags = RTF_UP | RTF_STATIC, .rq_ifp = p2 };
	struct frame f;

	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(if_setflags(p2, IFF_UP, 0), 0);
	assert_int_equal(rt_add(R.vnet, &rq), 0);
	VNET_CONFIG_UNLOCK(R.vnet);
	rig_neighbour(p2, "10.9.0.1", mac_a);
	frame_udp(&f, &(struct ip4){ .src = "10.9.0.1", .ttl = 1 });
	memcpy(f.f_b, mac_r2, 6);
	rig_inject(p2, &f, 1);
	check_icmp(rig_sent(p2), IP_R0, "10.9.0.1", ICMP_TIMXCEED,
	    ICMP_TIMXCEED_INTRANS, 0, &f);
	VNET_CONFIG_LOCK(R.vnet);
	if_detach(p2);
	if_free(p2);
	VNET_CONFIG_UNLOCK(R.vnet);
}

int
main(void)
{
#define	T(f)	cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		T(test_false_sources), T(test_link_local), T(test_udp_closed),
		T(test_tcp_closed), T(test_no_redirect), T(test_unnumbered),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
