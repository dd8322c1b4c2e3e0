/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Tests of ARP: whom we answer and believe, how we ask, what becomes of the
 * packets that wait, and of announcements.
 */
#include "ip/ip_testlib.h"

#include <unistd.h>

#include "sys/thread.h"

#define	NS_PER_S	1000000000ull

static const uint8_t mac_zero[6];

struct lookup {
	struct in_addr	 addr;
	struct lla_info	 info;
	unsigned int	 found;
	unsigned int	 all;
};

static int
look(struct ifnet *ifp, const struct lla_info *li, void *arg)
{
	struct lookup *l = arg;

	if ((li->li_flags & LLE_IFADDR) != 0)
		return (0);
	l->all++;
	if (li->li_addr.s_addr == l->addr.s_addr) {
		l->found++;
		l->info = *li;
	}
	return (0);
}

/* The table's entry of addr on ifp; false: none. */
static bool
entry(struct ifnet *ifp, const char *addr, struct lla_info *li)
{
	struct lookup l = { .addr = addr4(addr) };

	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(lla_walk(ifp, look, &l), 0);
	VNET_CONFIG_UNLOCK(R.vnet);
	assert_true(l.found <= 1);
	*li = l.info;
	return (l.found != 0);
}

static unsigned int
entries(struct ifnet *ifp)
{
	struct lookup l = { .all = 0 };

	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(lla_walk(ifp, look, &l), 0);
	VNET_CONFIG_UNLOCK(R.vnet);
	return (l.all);
}

static void
check_entry(const char *addr, const uint8_t *mac)
{
	struct lla_info li;

	assert_true(entry(R.p0, addr, &li));
	assert_memory_equal(li.li_mac, mac, 6);
}

/* An ARP packet that left: to whom, and what it says. */
static void
check_arp(const struct frame *out, const uint8_t *dst, const uint8_t *src,
    uint16_t op, const char *spa, const uint8_t *tha, const char *tpa)
{
	struct frame want;

	assert_non_null(out);
	frame_arp(&want, dst, src, op, src, spa, tha, tpa);
	assert_int_equal(out->f_len, want.f_len);
	assert_memory_equal(out->f_b, want.f_b, want.f_len);
}

static void
inject_arp(const uint8_t *dst, const uint8_t *src, uint16_t op,
    const uint8_t *sha, const char *spa, const uint8_t *tha, const char *tpa)
{
	struct frame f;

	frame_arp(&f, dst, src, op, sha, spa, tha, tpa);
	rig_inject(R.p0, &f, 1);
}

/* A request from a broadcasting host. */
static void
ask(const uint8_t *mac, const char *spa, const char *tpa)
{

	inject_arp(mac_all, mac, ARPOP_REQUEST, mac, spa, NULL, tpa);
}

static void
silence(void)
{

	assert_int_equal(rig_nsent(), 0);
}

/* Probe, announcement, conflict, false addresses, strangers: in this order. */
static void
test_input(void **state)
{
	static const uint8_t mcast[6] = { 1, 0, 0x5e, 0, 0, 1 };
	struct lla_info li;
	struct frame f;

	/* 1: asked for, we answer and learn. */
	ask(mac_a, IP_A, IP_R0);
	check_arp(rig_sent(R.p0), mac_a, mac_r0, ARPOP_REPLY, IP_R0, mac_a,
	    IP_A);
	check_entry(IP_A, mac_a);
	/* 2: a probe is answered, its sender has no address to learn. */
	ask(mac_a, "0.0.0.0", IP_R0);
	check_arp(rig_sent(R.p0), mac_a, mac_r0, ARPOP_REPLY, IP_R0, mac_a,
	    "0.0.0.0");
	assert_false(entry(R.p0, "0.0.0.0", &li));
	/* 3: an announcement moves an entry. */
	ask(mac_a2, IP_A, IP_A);
	silence();
	check_entry(IP_A, mac_a2);
	/* 4: but makes none. */
	ask(mac_b, "192.0.2.77", "192.0.2.77");
	silence();
	assert_false(entry(R.p0, "192.0.2.77", &li));
	/* 5: our own address is defended. */
	ask(mac_b, IP_R0, "192.0.2.99");
	check_arp(rig_sent(R.p0), mac_b, mac_r0, ARPOP_REPLY, IP_R0, mac_b,
	    IP_R0);
	assert_int_equal(ip_stat(R.vnet, ARPS_DUPIPS), 1);
	assert_false(entry(R.p0, "192.0.2.99", &li));
	/* 6, 7: no station has such a MAC. */
	inject_arp(mac_r0, mac_a, ARPOP_REPLY, mac_all, IP_A, mac_r0, IP_R0);
	inject_arp(mac_r0, mac_a, ARPOP_REPLY, mcast, IP_A, mac_r0, IP_R0);
	inject_arp(mac_r0, mac_a, ARPOP_REPLY, mac_zero, IP_A, mac_r0, IP_R0);
	assert_int_equal(rig_drops(R.p0, IFD_ARPADDR), 3);
	/* 8 to 11: other sizes, hardware, protocol, operation. */
	for (int at = 0; at < 8; at++) {
		frame_arp(&f, mac_all, mac_a, ARPOP_REQUEST, mac_a, IP_A,
		    NULL, IP_R0);
		f.f_b[ETHER_HDR_LEN + at] ^= 0x0a;
		rig_inject(R.p0, &f, 1);
	}
	inject_arp(mac_all, mac_a, 3, mac_a, IP_A, NULL, IP_R0);
	assert_int_equal(rig_drops(R.p0, IFD_ARPBAD), 9);
	silence();
	check_entry(IP_A, mac_a2);
	/* 12: what others say to each other is not our business. */
	ask(mac_a, IP_A, "192.0.2.200");
	assert_int_equal(rig_drops(R.p0, IFD_ARPOTHER), 1);
	check_entry(IP_A, mac_a2);
	/* 13: an answer nobody asked for makes no entry. */
	inject_arp(mac_r0, mac_b, ARPOP_REPLY, mac_b, "192.0.2.78", mac_r0,
	    IP_R0);
	assert_false(entry(R.p0, "192.0.2.78", &li));
	silence();
	/* 14: a stranger is answered, but not put in the table. */
	ask(mac_b, "10.9.8.7", IP_R0);
	check_arp(rig_sent(R.p0), mac_b, mac_r0, ARPOP_REPLY, IP_R0, mac_b,
	    "10.9.8.7");
	assert_false(entry(R.p0, "10.9.8.7", &li));
	assert_int_equal(entries(R.p0), 1);
	assert_int_equal(ip_stat(R.vnet, ARPS_RECEIVED), 20);
	assert_int_equal(ip_stat(R.vnet, ARPS_TXREPLIES), 4);
}

/* Impossible sender addresses, and our own frames coming back. */
static void
test_senders(void **state)
{
	static const char *const bad[] = { "127.0.0.1", "224.0.0.1",
	    "255.255.255.255", "192.0.2.255", "0.0.0.1" };

	for (unsigned int i = 0; i < nitems(bad); i++)
		ask(mac_a, bad[i], IP_R0);
	assert_int_equal(rig_drops(R.p0, IFD_ARPADDR), nitems(bad));
	/* A reply from nobody. */
	inject_arp(mac_r0, mac_a, ARPOP_REPLY, mac_a, "0.0.0.0", mac_r0,
	    IP_R0);
	assert_int_equal(rig_drops(R.p0, IFD_ARPADDR), nitems(bad) + 1);
	ask(mac_r0, IP_R0, IP_R0);
	assert_int_equal(rig_drops(R.p0, IFD_ARPOTHER), 1);
	assert_int_equal(ip_stat(R.vnet, ARPS_DUPIPS), 0);
	silence();
	assert_int_equal(entries(R.p0), 0);
}

/* Permanent entries stay, published ones are answered for. */
static void
test_static(void **state)
{

	rig_neighbour(R.p0, IP_B, mac_b);
	ask(mac_a, IP_B, IP_B);
	check_entry(IP_B, mac_b);
	ask(mac_a, IP_B, IP_R0);
	check_arp(rig_sent(R.p0), mac_a, mac_r0, ARPOP_REPLY, IP_R0, mac_a,
	    IP_B);
	check_entry(IP_B, mac_b);
	ask(mac_a, IP_A, IP_B);
	silence();
	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(lla_set(R.p0, addr4("192.0.2.50"), mac_c,
	    LLE_STATIC | LLE_PUB, 0), 0);
	VNET_CONFIG_UNLOCK(R.vnet);
	ask(mac_a, IP_A, "192.0.2.50");
	{
		const struct frame *out = rig_sent(R.p0);
		struct frame want;

		frame_arp(&want, mac_a, mac_r0, ARPOP_REPLY, mac_c,
		    "192.0.2.50", mac_a, IP_A);
		assert_non_null(out);
		assert_memory_equal(out->f_b, want.f_b, want.f_len);
	}
	/* For all we have a way to, if told so. */
	ask(mac_a, IP_A, IP_FAR);
	silence();
	rig_sysctl("net.link.ether.inet.proxyall", 1);
	ask(mac_a, IP_A, IP_FAR);
	check_arp(rig_sent(R.p0), mac_a, mac_r0, ARPOP_REPLY, IP_FAR, mac_a,
	    IP_A);
	ask(mac_a, IP_A, "192.0.2.201");
	silence();
}

static void
udp_to(const char *dst)
{
	struct frame f;

	frame_udp(&f, &(struct ip4){ .dst = dst });
	rig_inject(R.p0, &f, 1);
}

/* One question for many packets, which wait and then go in order. */
static void
test_resolve(void **state)
{
	static const struct in_addr none;
	struct frame f, in[20];
	struct lla_info li;

	/* Asked from the address in the target's network. */
	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(if_addr_add(R.p1, addr4("10.0.0.1"), 24, none, none),
	    0);
	VNET_CONFIG_UNLOCK(R.vnet);
	for (int i = 0; i < 5000 && rig_nsent() == 0; i++)
		(void)usleep(1000);
	check_arp(rig_sent(R.p1), mac_all, mac_r1, ARPOP_REQUEST, "10.0.0.1",
	    NULL, "10.0.0.1");
	udp_to("10.0.0.7");
	check_arp(rig_sent(R.p1), mac_all, mac_r1, ARPOP_REQUEST, "10.0.0.1",
	    NULL, "10.0.0.7");
	/* Through a gateway: the oldest make room when too many wait. */
	for (unsigned int i = 0; i < 20; i++)
		frame_udp(&in[i], &(struct ip4){ .id = (uint16_t)(100 + i) });
	rig_inject(R.p0, in, 20);
	check_arp(rig_sent(R.p1), mac_all, mac_r1, ARPOP_REQUEST, IP_R1, NULL,
	    IP_C);
	silence();
	assert_int_equal(rig_drops(R.p1, IFD_ARPHOLD), 4);
	frame_arp(&f, mac_r1, mac_c, ARPOP_REPLY, mac_c, IP_C, mac_r1, IP_R1);
	rig_inject(R.p1, &f, 1);
	for (unsigned int i = 4; i < 20; i++)
		check_forwarded(rig_sent(R.p1), &in[i], mac_r1, mac_c);
	silence();
	assert_true(entry(R.p1, IP_C, &li));
	assert_int_equal(li.li_state, LLE_REACHABLE);
	rig_inject(R.p0, in, 20);
	for (unsigned int i = 0; i < 20; i++)
		check_forwarded(rig_sent(R.p1), &in[i], mac_r1, mac_c);
	assert_int_equal(ip_stat(R.vnet, IPS_FORWARD), 41);
}

/* Asked five times, then the senders are told; later asked anew. */
static void
test_silent(void **state)
{
	struct frame f;
	uint64_t now = time_ns();
	const struct frame *out;
	unsigned int asked = 0, told = 0;
	struct icmp icmp;

	rig_neighbour(R.p0, IP_A, mac_a);
	frame_udp(&f, &(struct ip4){ .ttl = 64 });
	rig_inject(R.p0, &f, 1);
	rig_inject(R.p0, &f, 1);
	for (int s = 0; s <= 8; s++) {
		while ((out = rig_sent(R.p1)) != NULL) {
			check_arp(out, mac_all, mac_r1, ARPOP_REQUEST, IP_R1,
			    NULL, IP_C);
			asked++;
		}
		while ((out = rig_sent(R.p0)) != NULL) {
			check_sums(out);
			memcpy(&icmp, out->f_b + 34, sizeof(icmp));
			assert_int_equal(icmp.icmp_type, ICMP_UNREACH);
			assert_int_equal(icmp.icmp_code, ICMP_UNREACH_HOST);
			told++;
		}
		now += NS_PER_S;
		rig_tick(now);
	}
	assert_int_equal(asked, 5);
	assert_int_equal(told, 2);
	assert_int_equal(rig_drops(R.p1, IFD_ARPFAIL), 2);
	/* Silent for a while: told at once. */
	rig_inject(R.p0, &f, 1);
	assert_null(rig_sent(R.p1));
	check_icmp(rig_sent(R.p0), IP_R0, IP_A, ICMP_UNREACH,
	    ICMP_UNREACH_HOST, 0, NULL);
	rig_tick(now + 30 * NS_PER_S);
	rig_inject(R.p0, &f, 1);
	check_arp(rig_sent(R.p1), mac_all, mac_r1, ARPOP_REQUEST, IP_R1, NULL,
	    IP_C);
	silence();
}

/* In use past its time: asked again, by unicast, without a lost packet. */
static void
test_stale(void **state)
{
	uint64_t now = time_ns();
	struct frame f;

	ask(mac_a, IP_A, IP_R0);
	rig_forget();
	frame_arp(&f, mac_r1, mac_c, ARPOP_REQUEST, mac_c, IP_C, NULL, IP_R1);
	rig_inject(R.p1, &f, 1);
	rig_forget();
	udp_to(IP_FAR);
	rig_forget();
	rig_tick(now + 1260 * NS_PER_S);
	/* A was silent and unused: forgotten.  C is in use. */
	check_arp(rig_sent(R.p1), mac_c, mac_r1, ARPOP_REQUEST, IP_R1, NULL,
	    IP_C);
	silence();
	assert_int_equal(entries(R.p0), 0);
	assert_int_equal(ip_stat(R.vnet, ARPS_TIMEOUTS), 1);
	frame_udp(&f, &(struct ip4){ .ttl = 64 });
	rig_inject(R.p0, &f, 1);
	check_forwarded(rig_sent(R.p1), &f, mac_r1, mac_c);
}

/* Said again when asked to, and when the link or the MAC is new. */
static void
test_announce(void **state)
{
	struct epoch_tracker et;
	static const struct in_addr none;
	uint64_t now;

	rig_sysctl("net.link.ether.inet.garp_rexmit_count", 2);
	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(if_addr_add(R.p0, addr4("10.0.0.1"), 24, none, none),
	    0);
	VNET_CONFIG_UNLOCK(R.vnet);
	for (int i = 0; i < 5000 && rig_nsent() == 0; i++)
		(void)usleep(1000);
	check_arp(rig_sent(R.p0), mac_all, mac_r0, ARPOP_REQUEST, "10.0.0.1",
	    NULL, "10.0.0.1");
	silence();
	for (int i = 0; i < 4; i++) {
		now = time_ns() + 10 * NS_PER_S * (uint64_t)(i + 1);
		NET_EPOCH_ENTER(et);
		arp_garp_run(R.vnet->v_ip, now);
		NET_EPOCH_EXIT(et);
	}
	assert_int_equal(rig_nsent(), 2);
	rig_forget();
	rig_sysctl("net.link.ether.inet.garp_rexmit_count", 0);
	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(if_setlladdr(R.p0, mac_a2), 0);
	VNET_CONFIG_UNLOCK(R.vnet);
	for (int i = 0; i < 5000 && rig_nsent() < 2; i++)
		(void)usleep(1000);
	check_arp(rig_sent(R.p0), mac_all, mac_a2, ARPOP_REQUEST, IP_R0, NULL,
	    IP_R0);
	check_arp(rig_sent(R.p0), mac_all, mac_a2, ARPOP_REQUEST, "10.0.0.1",
	    NULL, "10.0.0.1");
}

/* What is written to standard error while fn runs: a text to be freed. */
static char *
logged(void (*fn)(void))
{
	FILE *tmp = tmpfile();
	int err = dup(STDERR_FILENO);
	long len;
	char *text;

	assert_non_null(tmp);
	assert_true(err >= 0);
	assert_true(dup2(fileno(tmp), STDERR_FILENO) >= 0);
	fn();
	assert_true(dup2(err, STDERR_FILENO) >= 0);
	(void)close(err);
	assert_int_equal(fseek(tmp, 0, SEEK_END), 0);
	len = ftell(tmp);
	assert_true(len >= 0);
	rewind(tmp);
	text = calloc(1, (size_t)len + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t)len, tmp), (size_t)len);
	(void)fclose(tmp);
	return (text);
}

static unsigned int
lines_with(const char *text, const char *what)
{
	unsigned int n = 0;

	while ((text = strstr(text, what)) != NULL) {
		n++;
		text += strlen(what);
	}
	return (n);
}

static void
many_moves(void)
{

	for (int i = 0; i < 500; i++)
		ask(i % 2 == 0 ? mac_a2 : mac_a, IP_A, IP_A);
}

static void
many_conflicts(void)
{

	for (int i = 0; i < 500; i++)
		ask(mac_b, IP_R0, IP_R0);
	rig_forget();
}

static void
many_attempts(void)
{

	for (int i = 0; i < 500; i++)
		ask(mac_a, IP_B, IP_B);
}

static void
many_strangers(void)
{

	for (int i = 0; i < 500; i++)
		ask(mac_c, IP_C, IP_R0);
	rig_forget();
}

/* Whatever hosts do, a line a second; none where it is switched off. */
static void
test_log(void **state)
{
	static const struct {
		void		(*fn)(void);
		const char	*text;
		const char	*off;	/* sysctl */
	} cases[] = {
		{ many_moves, "arp: 192.0.2.10 moved from ",
		    "net.link.ether.inet.log_arp_movements" },
		{ many_attempts, "arp: 02:00:00:00:0a:01 attempts to modify "
		    "permanent entry for 192.0.2.254 on p0",
		    "net.link.ether.inet.log_arp_permanent_modify" },
		{ many_strangers, "arp: 198.51.100.10 is on p1 but got "
		    "request from 02:00:00:00:0c:01 on p0",
		    "net.link.ether.inet.log_arp_wrong_iface" },
		{ many_conflicts, "arp: 02:00:00:00:0b:01 is using my IP "
		    "address 192.0.2.1 on p0!",
		    "net.link.ether.arp.log_level" },
	};
	uint64_t start, seconds;
	char *text;

	rig_neighbour(R.p0, IP_B, mac_b);
	ask(mac_a, IP_A, IP_R0);
	rig_forget();
	for (unsigned int i = 0; i < nitems(cases); i++) {
		memset(&R.vnet->v_ip->iv_log_arp, 0,
		    sizeof(R.vnet->v_ip->iv_log_arp));
		start = time_ns() / NS_PER_S;
		text = logged(cases[i].fn);
		seconds = time_ns() / NS_PER_S - start + 1;
		assert_true(lines_with(text, cases[i].text) >= 1);
		assert_true(lines_with(text, cases[i].text) <= seconds + 1);
		free(text);
		rig_sysctl(cases[i].off, 0);
		text = logged(cases[i].fn);
		assert_string_equal(text, "");
		free(text);
	}
}

/* An interface without ARP neither asks nor answers. */
static void
test_noarp(void **state)
{

	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(if_setflags(R.p0, IFF_NOARP, 0), 0);
	VNET_CONFIG_UNLOCK(R.vnet);
	ask(mac_a, IP_A, IP_R0);
	silence();
	assert_int_equal(rig_drops(R.p0, IFD_ARPOTHER), 1);
	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(if_setflags(R.p0, IFF_STATICARP, IFF_NOARP), 0);
	VNET_CONFIG_UNLOCK(R.vnet);
	ask(mac_a, IP_A, IP_R0);
	check_arp(rig_sent(R.p0), mac_a, mac_r0, ARPOP_REPLY, IP_R0, mac_a,
	    IP_A);
	assert_int_equal(entries(R.p0), 0);
}

int
main(void)
{
#define	T(f)								\
	cmocka_unit_test_setup_teardown(f, rig_setup_dynamic, rig_teardown)
	const struct CMUnitTest tests[] = {
		T(test_input), T(test_senders), T(test_static),
		T(test_resolve), T(test_silent), T(test_stale),
		T(test_announce), T(test_log), T(test_noarp),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
