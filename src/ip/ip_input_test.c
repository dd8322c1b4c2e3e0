/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Tests of input and forwarding, packet by packet: time to live, packets that
 * earn no ICMP error, lengths and checksums, runts; alone, in bursts, and with
 * the frame cut into two mbufs at every byte.
 */
#include "ip/ip_testlib.h"

/* What must become of a frame from A on p0. */
enum fate {
	FORWARDED,		/* to C, one hop further */
	TIMXCEED,		/* 11/0 to A */
	PORT,			/* 3/3 to A, from the address asked at */
	ECHO,			/* answered */
	GONE,			/* nothing, counted as c_why */
};

struct cas {
	struct frame	 c_frame;
	enum fate	 c_fate;
	enum if_drop	 c_why;	/* IFD_COUNT: not counted as a drop */
};

static struct cas cases[64];
static unsigned int ncases;

static struct frame *
add(enum fate fate, enum if_drop why)
{

	assert_true(ncases < 64);
	cases[ncases].c_fate = fate;
	cases[ncases].c_why = why;
	return (&cases[ncases++].c_frame);
}

static const char *
frame_dst(const struct frame *f)
{
	static char text[INET_ADDRSTRLEN];

	(void)snprintf(text, sizeof(text), "%u.%u.%u.%u", f->f_b[30],
	    f->f_b[31], f->f_b[32], f->f_b[33]);
	return (text);
}

/* A reply to an echo request of A. */
static void
check_echo(const struct frame *out, const struct frame *in)
{
	struct frame want = *in;

	assert_non_null(out);
	check_sums(out);
	assert_memory_equal(out->f_b, mac_a, 6);
	assert_memory_equal(out->f_b + 6, mac_r0, 6);
	assert_int_equal(out->f_len, want.f_len);
	/* Addresses change places, TTL 64, a new id; the rest is as it was. */
	assert_memory_equal(out->f_b + 26, want.f_b + 30, 4);
	assert_memory_equal(out->f_b + 30, want.f_b + 26, 4);
	assert_int_equal(out->f_b[22], 64);
	assert_int_equal(out->f_b[34], ICMP_ECHOREPLY);
	assert_memory_equal(out->f_b + 38, want.f_b + 38, want.f_len - 38);
}

static void
check_fate(const struct cas *c)
{

	switch (c->c_fate) {
	case FORWARDED:
		check_forwarded(rig_sent(R.p1), &c->c_frame, mac_r1, mac_c);
		break;
	case TIMXCEED:
		check_icmp(rig_sent(R.p0), IP_R0, IP_A, ICMP_TIMXCEED,
		    ICMP_TIMXCEED_INTRANS, 0, &c->c_frame);
		break;
	case PORT:
		check_icmp(rig_sent(R.p0), frame_dst(&c->c_frame), IP_A,
		    ICMP_UNREACH, ICMP_UNREACH_PORT, 0, &c->c_frame);
		break;
	case ECHO:
		check_echo(rig_sent(R.p0), &c->c_frame);
		break;
	case GONE:
		break;
	}
	assert_int_equal(rig_nsent(), 0);
}

/* Every case alone. */
static void
run_alone(void)
{
	uint64_t all, why;
	unsigned int i;

	for (i = 0; i < ncases; i++) {
		const struct cas *c = &cases[i];

		all = rig_all_drops();
		why = c->c_why < IFD_COUNT ? rig_drops(R.p0, c->c_why) : 0;
		rig_inject(R.p0, &c->c_frame, 1);
		check_fate(c);
		if (c->c_why < IFD_COUNT)
			assert_int_equal(rig_drops(R.p0, c->c_why), why + 1);
		assert_int_equal(rig_all_drops(),
		    all + (c->c_why < IFD_COUNT));
	}
}

/*
 * The cases in bursts of n, over and over: on each interface the same comes
 * out as from the cases alone, in order within each kind.
 */
static void
run_bursts(unsigned int n)
{
	struct frame burst[MBUF_BURST];
	unsigned int first, i, left;

	for (first = 0; first < ncases; first += n) {
		for (i = 0; i < n; i++)
			burst[i] = cases[(first + i) % ncases].c_frame;
		rig_inject(R.p0, burst, n);
		for (i = 0; i < n; i++) {
			const struct cas *c = &cases[(first + i) % ncases];

			if (c->c_fate != GONE) {
				left = rig_nsent();
				if (c->c_fate == FORWARDED)
					check_forwarded(rig_sent(R.p1),
					    &c->c_frame, mac_r1, mac_c);
				else
					assert_non_null(rig_sent(R.p0));
				assert_int_equal(rig_nsent(), left - 1);
			}
		}
		assert_int_equal(rig_nsent(), 0);
	}
}

static void
run_all(void)
{
	static const unsigned int bursts[] = { 2, 3, 4, 64 };
	unsigned int i;

	run_alone();
	for (i = 0; i < nitems(bursts); i++)
		run_bursts(bursts[i]);
	/* In two mbufs. */
	for (rig_cut = 1; rig_cut < 100; rig_cut++)
		if (rig_cut >= ETHER_HDR_LEN)
			run_alone();
	rig_cut = 0;
	ncases = 0;
}

static size_t
echo(uint8_t *to)
{

	return (put_icmp(to, ICMP_ECHO, 0, 0x00010001, "abcdefghijklmnop",
	    16));
}

/* Time to live (RFC 1812 5.3.1, 4.2.2.9). */
static void
test_ttl(void **state)
{
	uint8_t b[64];
	size_t len;

	frame_udp(add(FORWARDED, IFD_COUNT), &(struct ip4){ .ttl = 64 });
	frame_udp(add(FORWARDED, IFD_COUNT), &(struct ip4){ .ttl = 2 });
	frame_udp(add(TIMXCEED, IFD_IPTTL), &(struct ip4){ .ttl = 1 });
	frame_udp(add(TIMXCEED, IFD_IPTTL), &(struct ip4){ .ttl = -1 });
	len = echo(b);
	frame_ip4(add(ECHO, IFD_COUNT), &(struct ip4){ .dst = IP_R0,
	    .ttl = 1, .proto = IPPROTO_ICMP }, b, len);
	len = put_udp(b, IP_A, IP_R1, 9, "netepoch-case-data", 18);
	frame_ip4(add(PORT, IFD_UDPPORT), &(struct ip4){ .dst = IP_R1,
	    .ttl = 1 }, b, len);
	run_all();
}

/* Packets about which nothing may be said; the last is the control. */
static void
test_no_error(void **state)
{
	static const uint8_t mcast[6] = { 1, 0, 0x5e, 0, 0, 0xfb };
	static const char *const martians[] = { "0.0.0.0", "224.0.0.5",
	    "127.0.0.1", "255.255.255.255", "240.0.0.1", "0.1.2.3" };
	uint8_t b[128], inner[64];
	struct frame *f;
	size_t len;

	len = put_udp(b, IP_FAR, IP_A, 5000, "12345678", 8);
	(void)put_ip4(inner, &(struct ip4){ .src = IP_FAR, .dst = IP_A }, b,
	    len);
	len = put_icmp(b, ICMP_UNREACH, ICMP_UNREACH_HOST, 0, inner, 28);
	frame_ip4(add(GONE, IFD_IPTTL), &(struct ip4){ .ttl = 1,
	    .proto = IPPROTO_ICMP }, b, len);
	memset(b, 'x', 64);
	frame_ip4(add(GONE, IFD_IPTTL), &(struct ip4){ .ttl = 1, .off = 185 },
	    b, 64);
	f = add(GONE, IFD_IPBCAST);
	frame_udp(f, &(struct ip4){ .ttl = 64 });
	memcpy(f->f_b, mac_all, 6);
	for (unsigned int i = 0; i < nitems(martians); i++)
		frame_udp(add(GONE, IFD_IPADDR),
		    &(struct ip4){ .src = martians[i], .ttl = 1 });
	frame_udp(add(GONE, IFD_IPTTL),
	    &(struct ip4){ .src = "192.0.2.255", .ttl = 1 });
	f = add(GONE, IFD_IPMCAST);
	frame_udp(f, &(struct ip4){ .dst = "224.0.0.251", .ttl = 1 });
	memcpy(f->f_b, mcast, 6);
	len = echo(b);
	frame_ip4(add(TIMXCEED, IFD_IPTTL), &(struct ip4){ .ttl = 1,
	    .proto = IPPROTO_ICMP }, b, len);
	run_all();
}

/* Versions, lengths, checksums; the two zeros; padding. */
static void
test_lengths(void **state)
{
	struct frame *f, probe;
	uint8_t b[64];
	uint16_t id;
	size_t len;

	frame_udp(add(FORWARDED, IFD_COUNT), &(struct ip4){ .id = 0x1000 });
	frame_udp(add(GONE, IFD_IPVERS), &(struct ip4){ .ver = 6 });
	frame_udp(add(GONE, IFD_IPHLEN), &(struct ip4){ .ihl = 4 });
	frame_udp(add(GONE, IFD_IPHLEN),
	    &(struct ip4){ .ihl = 15, .total = 40 });
	frame_udp(add(GONE, IFD_IPLEN), &(struct ip4){ .total = 19 });
	frame_udp(add(GONE, IFD_IPSHORT), &(struct ip4){ .total = 1000 });
	len = put_udp(b, IP_A, IP_FAR, 5000, "abcdefghijkl", 12);
	f = add(FORWARDED, IFD_COUNT);
	frame_ip4(f, &(struct ip4){ .id = 0x1000 }, b, len);
	f->f_len = (uint32_t)(ETHER_HDR_LEN + IP_HDR_MIN + len);
	frame_pad(f, 0xee);
	frame_udp(add(GONE, IFD_IPSUM),
	    &(struct ip4){ .sum = 0x1234 + 1 });
	/* An id that makes the right checksum 0. */
	frame_udp(&probe, &(struct ip4){ .id = 0x0001 });
	id = (uint16_t)(0x0001 + (probe.f_b[24] << 8 | probe.f_b[25]));
	frame_udp(add(FORWARDED, IFD_COUNT),
	    &(struct ip4){ .id = id, .sum = 0x0000 + 1 });
	frame_udp(add(FORWARDED, IFD_COUNT),
	    &(struct ip4){ .id = id, .sum = 0xffff + 1 });
	run_all();
}

/* Too short for what it says to be: nothing is read past the end. */
static void
test_runts(void **state)
{
	uint8_t b[64];
	struct frame *f, whole;
	size_t len;

	len = put_ip4(b, &(struct ip4){ .proto = 253 }, NULL, 0);
	frame_ether(&whole, mac_r0, mac_a, ETHERTYPE_IP, b, len);
	for (uint32_t n = 0; n < len; n++) {
		f = add(GONE, IFD_IPTOOSMALL);
		*f = whole;
		f->f_len = ETHER_HDR_LEN + n;
	}
	*add(FORWARDED, IFD_COUNT) = whole;
	f = add(GONE, IFD_ARPBAD);
	frame_arp(f, mac_all, mac_a, ARPOP_REQUEST, mac_a, IP_A, NULL, IP_R0);
	f->f_len = ETHER_HDR_LEN + 20;
	run_alone();
	run_bursts(64);
	for (rig_cut = ETHER_HDR_LEN; rig_cut < 60; rig_cut++)
		run_alone();
	ncases = 0;
}

/* Only as a router do we pass packets on. */
static void
test_host(void **state)
{

	rig_sysctl("net.inet.ip.forwarding", 0);
	frame_udp(add(GONE, IFD_IPNOFORWARD), &(struct ip4){ .ttl = 64 });
	run_all();
}

static void
reject_route(uint32_t flags)
{
	struct rt_req rq = { .rq_dst = addr4("10.1.0.0"), .rq_plen = 16,
	    .rq_flags = RTF_UP | RTF_STATIC | flags, .rq_ifp = R.lo };

	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(rt_add(R.vnet, &rq), 0);
	VNET_CONFIG_UNLOCK(R.vnet);
}

static void
unreject_route(void)
{

	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(rt_delete(R.vnet, addr4("10.1.0.0"), 16), 0);
	VNET_CONFIG_UNLOCK(R.vnet);
}

/* No route, and routes that lead nowhere (RFC 1812 5.2.7.1). */
static void
test_unreachable(void **state)
{
	struct frame f;

	frame_udp(&f, &(struct ip4){ .dst = "10.1.2.3" });
	rig_inject(R.p0, &f, 1);
	check_icmp(rig_sent(R.p0), IP_R0, IP_A, ICMP_UNREACH,
	    ICMP_UNREACH_NET, 0, &f);
	assert_int_equal(rig_drops(R.p0, IFD_IPNOROUTE), 1);
	reject_route(RTF_REJECT);
	rig_inject(R.p0, &f, 1);
	check_icmp(rig_sent(R.p0), IP_R0, IP_A, ICMP_UNREACH,
	    ICMP_UNREACH_HOST, 0, &f);
	assert_int_equal(rig_drops(R.p0, IFD_IPREJECT), 1);
	unreject_route();
	reject_route(RTF_BLACKHOLE);
	rig_inject(R.p0, &f, 1);
	assert_int_equal(rig_nsent(), 0);
	assert_int_equal(rig_drops(R.p0, IFD_IPBLACKHOLE), 1);
	unreject_route();
}

/* To everybody here, and to everybody elsewhere. */
static void
test_broadcast(void **state)
{
	uint8_t b[64];
	struct frame f;
	size_t len = echo(b);

	/* From a host that has no address yet: heard, nobody listens. */
	frame_udp(&f, &(struct ip4){ .src = "0.0.0.0",
	    .dst = "255.255.255.255" });
	memcpy(f.f_b, mac_all, 6);
	rig_inject(R.p0, &f, 1);
	assert_int_equal(rig_drops(R.p0, IFD_UDPPORT), 1);
	/* Directed, to the link it came from. */
	frame_ip4(&f, &(struct ip4){ .dst = "192.0.2.255",
	    .proto = IPPROTO_ICMP }, b, len);
	memcpy(f.f_b, mac_all, 6);
	rig_inject(R.p0, &f, 1);
	assert_int_equal(rig_drops(R.p0, IFD_ICMPIGN), 1);
	assert_int_equal(rig_nsent(), 0);
	rig_sysctl("net.inet.icmp.bmcastecho", 1);
	rig_inject(R.p0, &f, 1);
	check_icmp(rig_sent(R.p0), IP_R0, IP_A, ICMP_ECHOREPLY, 0,
	    0x00010001, NULL);
	/* And to another one (RFC 2644). */
	frame_ip4(&f, &(struct ip4){ .dst = "198.51.100.255",
	    .proto = IPPROTO_ICMP }, b, len);
	rig_inject(R.p0, &f, 1);
	assert_int_equal(rig_drops(R.p0, IFD_IPBCAST), 1);
	assert_int_equal(rig_nsent(), 0);
}

/* For us, but for nobody in us. */
static void
test_local(void **state)
{
	uint8_t b[64] = { 0 };
	struct frame f;

	frame_ip4(&f, &(struct ip4){ .dst = IP_R0, .proto = IPPROTO_TCP }, b,
	    20);
	rig_inject(R.p0, &f, 1);
	assert_int_equal(rig_drops(R.p0, IFD_TCPBAD), 1);
	assert_int_equal(rig_nsent(), 0);
	frame_ip4(&f, &(struct ip4){ .dst = IP_R0, .proto = 200 }, b, 20);
	rig_inject(R.p0, &f, 1);
	check_icmp(rig_sent(R.p0), IP_R0, IP_A, ICMP_UNREACH,
	    ICMP_UNREACH_PROTOCOL, 0, &f);
	/* Broken, and unasked for. */
	frame_ip4(&f, &(struct ip4){ .dst = IP_R0, .proto = IPPROTO_ICMP }, b,
	    7);
	rig_inject(R.p0, &f, 1);
	memcpy(b, "\x08\0\x12\x34", 4);
	frame_ip4(&f, &(struct ip4){ .dst = IP_R0, .proto = IPPROTO_ICMP }, b,
	    20);
	rig_inject(R.p0, &f, 1);
	assert_int_equal(rig_drops(R.p0, IFD_ICMPBAD), 2);
	frame_ip4(&f, &(struct ip4){ .dst = IP_R0, .proto = IPPROTO_ICMP }, b,
	    put_icmp(b, ICMP_ECHOREPLY, 0, 0, "", 0));
	rig_inject(R.p0, &f, 1);
	assert_int_equal(rig_drops(R.p0, IFD_ICMPIGN), 1);
	assert_int_equal(rig_nsent(), 0);
	assert_int_equal(ip_stat(R.vnet, IPS_DELIVERED), 5);
}

/* A better way on its own link is told to the sender, and used (5.2.7.2). */
static void
test_redirect(void **state)
{
	struct rt_req rq = { .rq_dst = addr4("10.1.0.0"), .rq_plen = 16,
	    .rq_flags = RTF_UP | RTF_STATIC | RTF_GATEWAY,
	    .rq_gw = addr4(IP_B) };
	struct frame f;

	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(rt_add(R.vnet, &rq), 0);
	VNET_CONFIG_UNLOCK(R.vnet);
	frame_udp(&f, &(struct ip4){ .dst = "10.1.2.3" });
	rig_inject(R.p0, &f, 1);
	check_icmp(rig_sent(R.p0), IP_R0, IP_A, ICMP_REDIRECT,
	    ICMP_REDIRECT_HOST, ntohl(addr4(IP_B).s_addr), &f);
	check_forwarded(rig_sent(R.p0), &f, mac_r0, mac_b);
	assert_int_equal(ip_stat(R.vnet, IPS_REDIRECTS), 1);
	assert_int_equal(ip_stat(R.vnet, IPS_FASTFORWARD), 0);
	rig_sysctl("net.inet.ip.redirect", 0);
	rig_inject(R.p0, &f, 1);
	check_forwarded(rig_sent(R.p0), &f, mac_r0, mac_b);
	assert_int_equal(rig_nsent(), 0);
	assert_int_equal(ip_stat(R.vnet, IPS_FORWARD), 2);
	assert_int_equal(ip_stat(R.vnet, IPS_FASTFORWARD), 1);
}

/* Packets and bytes are counted on nexthops, in runs and mixed. */
static void
test_nexthop_counters(void **state)
{
	struct frame burst[MBUF_BURST];
	struct rt_info ri;
	uint64_t bytes = 0;

	for (int i = 0; i < MBUF_BURST; i++) {
		frame_udp(&burst[i], &(struct ip4){
		    .dst = i % 3 == 0 ? IP_C : IP_FAR });
		bytes += i % 3 == 0 ? 0 : 46;
	}
	rig_inject(R.p0, burst, MBUF_BURST);
	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(rt_get(R.vnet, addr4("203.0.113.0"), 24, &ri), 0);
	assert_int_equal(counter_fetch(ri.ri_nh->nh_counters), 42);
	assert_int_equal(counter_fetch(ri.ri_nh->nh_counters + 1), bytes);
	VNET_CONFIG_UNLOCK(R.vnet);
	assert_int_equal(rig_nsent(), MBUF_BURST);
	assert_int_equal(ip_stat(R.vnet, IPS_TOTAL), MBUF_BURST);
	assert_int_equal(ip_stat(R.vnet, IPS_FASTFORWARD), MBUF_BURST);
	rig_forget();
}

/* Errors of a kind: at most so many a second, give or take the jitter. */
static void
test_limit(void **state)
{
	struct frame f;
	uint64_t sent, start, end;

	rig_sysctl("net.inet.icmp.icmplim", 20);
	rig_sysctl("net.inet.icmp.icmplim_jitter", 5);
	frame_udp(&f, &(struct ip4){ .ttl = 1 });
	start = (uint64_t)time(NULL);
	for (int i = 0; i < 1000; i++)
		rig_inject(R.p0, &f, 1);
	end = (uint64_t)time(NULL);
	sent = rig_nsent();
	assert_true(sent >= 15);
	assert_true(sent <= 25 * (end - start + 2));
	assert_int_equal(ip_stat(R.vnet, ICPS_ERRORS), sent);
	assert_int_equal(ip_stat(R.vnet, ICPS_OUT_TIMXCEED), sent);
	assert_int_equal(ip_stat(R.vnet, ICPS_LIMITED), 1000 - sent);
	/* Another kind has its own. */
	rig_forget();
	frame_udp(&f, &(struct ip4){ .dst = "10.1.2.3" });
	rig_inject(R.p0, &f, 1);
	check_icmp(rig_sent(R.p0), IP_R0, IP_A, ICMP_UNREACH,
	    ICMP_UNREACH_NET, 0, &f);
}

/* What is quoted is bounded: 576 bytes in all, or less. */
static void
test_quote(void **state)
{
	uint8_t b[1400];
	struct frame f;
	const struct frame *out;

	memset(b, 0x5a, sizeof(b));
	frame_ip4(&f, &(struct ip4){ .ttl = 1 }, b, sizeof(b));
	rig_inject(R.p0, &f, 1);
	out = rig_sent(R.p0);
	check_icmp(out, IP_R0, IP_A, ICMP_TIMXCEED, ICMP_TIMXCEED_INTRANS, 0,
	    &f);
	assert_int_equal(out->f_len, ETHER_HDR_LEN + 576);
	rig_sysctl("net.inet.icmp.quotelen", 8);
	rig_inject(R.p0, &f, 1);
	out = rig_sent(R.p0);
	assert_non_null(out);
	assert_int_equal(out->f_b[17], IP_HDR_MIN + ICMP_MINLEN + 28);
}

/* f comes in with an unfinished checksum at these places of the frame. */
static void
inject_partial(const struct frame *f, uint16_t start, uint16_t offset)
{
	struct mbuf *m = rig_mbuf(f);
	struct epoch_tracker et;

	m->m_pkthdr.csum_flags = CSUM_PARTIAL;
	m->m_pkthdr.csum_start = start;
	m->m_pkthdr.csum_offset = offset;
	NET_EPOCH_ENTER(et);
	atomic_load(&R.p0->if_input)(R.p0, &m, 1);
	NET_EPOCH_EXIT(et);
}

/*
 * A peer's unfinished checksum is finished where it belongs, also behind a
 * priority tag; where it would change the IP header it is left alone.
 */
static void
test_partial(void **state)
{
	static const uint8_t tag[4] = { 0x81, 0, 0xa0, 0 };
	static const uint8_t opts[12] = { 148, 4, 0, 0 };
	struct frame f, full, tagged;
	uint16_t sum;

	frame_udp(&full, &(struct ip4){ .ttl = 64 });
	f = full;
	sum = (uint16_t)in_pseudo(addr4(IP_A), addr4(IP_FAR), IPPROTO_UDP,
	    26);
	memcpy(f.f_b + 40, &sum, sizeof(sum));
	inject_partial(&f, 34, 6);
	check_forwarded(rig_sent(R.p1), &full, mac_r1, mac_c);
	tagged = f;
	memmove(tagged.f_b + 16, f.f_b + 12, f.f_len - 12);
	memcpy(tagged.f_b + 12, tag, sizeof(tag));
	tagged.f_len += sizeof(tag);
	inject_partial(&tagged, 38, 6);
	check_forwarded(rig_sent(R.p1), &full, mac_r1, mac_c);
	for (uint16_t start = 0; start < 34; start++) {
		inject_partial(&f, start, 0);
		check_forwarded(rig_sent(R.p1), &f, mac_r1, mac_c);
	}
	frame_udp(&f, &(struct ip4){ .opts = opts, .nopts = 12 });
	inject_partial(&f, 40, 0);
	check_forwarded(rig_sent(R.p1), &f, mac_r1, mac_c);
	/* Behind the end there is nothing to finish: dropped. */
	inject_partial(&f, 1000, 6);
	assert_int_equal(rig_drops(R.p1, IFD_TXERR), 1);
	assert_int_equal(rig_nsent(), 0);
}

/* A packet to ourselves goes round through loopback. */
static void
test_loopback(void **state)
{
	struct epoch_tracker et;
	uint8_t b[64];
	struct mbuf *m;
	size_t len;

	len = echo(b + IP_HDR_MIN);
	len = put_ip4(b, &(struct ip4){ .src = "127.0.0.1", .dst = IP_R1,
	    .proto = IPPROTO_ICMP }, b + IP_HDR_MIN, len);
	m = m_devget(b, (uint32_t)len);
	assert_non_null(m);
	NET_EPOCH_ENTER(et);
	assert_int_equal(ip_output(R.vnet, m), 0);
	NET_EPOCH_EXIT(et);
	/* The request, its answer, which nobody waits for. */
	assert_int_equal(ip_stat(R.vnet, ICPS_ECHO), 1);
	assert_int_equal(rig_drops(R.lo, IFD_ICMPIGN), 1);
	assert_int_equal(rig_nsent(), 0);
	assert_int_equal(if_counter(R.lo, IFC_OPACKETS), 2);
}

int
main(void)
{
#define	T(f)	cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		T(test_ttl), T(test_no_error), T(test_lengths), T(test_runts),
		T(test_host), T(test_unreachable), T(test_broadcast),
		T(test_local), T(test_redirect), T(test_nexthop_counters),
		T(test_limit), T(test_quote), T(test_partial),
		T(test_loopback),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
