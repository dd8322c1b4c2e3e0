/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Tests of IPv4 options: what is recorded, refused, passed on; and that no
 * option, however broken, makes the parser leave the header.
 */
#include "ip/ip_testlib.h"

/* What becomes of a datagram from A with some options. */
struct opt_case {
	uint8_t		 oc_opts[40];	/* padded to words with EOL */
	uint32_t	 oc_len;
	int		 oc_pointer;	/* of ICMP 12/0; 0: forwarded */
};

static const struct opt_case cases[] = {
	/* Record route that is full: as it was. */
	{ { 7, 7, 8, 192, 0, 2, 10 }, 7, 0 },
	/* Lengths 0, past the header, too small for a pointer. */
	{ { 7, 0, 4, 0 }, 4, 21 },
	{ { 7, 11, 4 }, 8, 21 },
	{ { 7, 2, 0, 0 }, 4, 21 },
	{ { 7, 1, 0, 0 }, 4, 21 },
	/* Pointers before the data, and to half an address. */
	{ { 7, 7, 3 }, 7, 22 },
	{ { 7, 6, 4 }, 6, 22 },
	{ { 7, 8, 8 }, 8, 22 },
	/* A type at the header's end, without a length. */
	{ { 1, 1, 1, 30 }, 4, 23 },
	/* Twice. */
	{ { 7, 3, 4, 7, 3, 4 }, 6, 23 },
	/* Unknown, padding, router alert: as they were. */
	{ { 30, 4, 0xab, 0xcd }, 4, 0 },
	{ { 1, 1, 1, 0 }, 4, 0 },
	{ { 0, 7, 0, 0 }, 4, 0 },
	{ { 148, 4, 0, 0 }, 4, 0 },
	/* Timestamp: full and 15 others had no room; no such kind; short. */
	{ { 68, 8, 9, 0xf0, 0, 0, 0, 1 }, 8, 22 },
	{ { 68, 8, 5, 0x02 }, 8, 23 },
	{ { 68, 8, 5, 0x01 }, 8, 22 },
	{ { 68, 8, 4, 0x00 }, 8, 22 },
	{ { 68, 3, 5, 0x00 }, 4, 21 },
};

static void
option_frame(struct frame *f, const uint8_t *opts, uint32_t len)
{
	uint8_t padded[40] = { 0 };

	memcpy(padded, opts, len);
	frame_udp(f, &(struct ip4){ .opts = padded,
	    .nopts = (len + 3) & ~3u });
}

static void
test_table(void **state)
{
	struct frame f;

	for (unsigned int i = 0; i < nitems(cases); i++) {
		const struct opt_case *c = &cases[i];

		option_frame(&f, c->oc_opts, c->oc_len);
		rig_inject(R.p0, &f, 1);
		if (c->oc_pointer == 0)
			check_forwarded(rig_sent(R.p1), &f, mac_r1, mac_c);
		else
			check_icmp(rig_sent(R.p0), IP_R0, IP_A,
			    ICMP_PARAMPROB, 0,
			    (uint32_t)c->oc_pointer << 24, &f);
		assert_int_equal(rig_nsent(), 0);
	}
	assert_int_equal(ip_stat(R.vnet, IPS_FORWARD), 5);
	assert_int_equal(ip_stat(R.vnet, IPS_FASTFORWARD), 0);
	assert_int_equal(rig_drops(R.p0, IFD_IPOPT), nitems(cases) - 5);
}

/* Passed unlooked at, and refused altogether. */
static void
test_modes(void **state)
{
	static const uint8_t lsrr[7] = { 131, 7, 4, 203, 0, 113, 9 };
	struct frame f;

	rig_sysctl("net.inet.ip.process_options", 0);
	for (unsigned int i = 0; i < nitems(cases); i++) {
		option_frame(&f, cases[i].oc_opts, cases[i].oc_len);
		rig_inject(R.p0, &f, 1);
		check_forwarded(rig_sent(R.p1), &f, mac_r1, mac_c);
	}
	option_frame(&f, lsrr, sizeof(lsrr));
	rig_inject(R.p0, &f, 1);
	check_forwarded(rig_sent(R.p1), &f, mac_r1, mac_c);
	rig_sysctl("net.inet.ip.process_options", 2);
	for (unsigned int i = 0; i < nitems(cases); i++) {
		option_frame(&f, cases[i].oc_opts, cases[i].oc_len);
		rig_inject(R.p0, &f, 1);
		check_icmp(rig_sent(R.p0), IP_R0, IP_A, ICMP_UNREACH,
		    ICMP_UNREACH_FILTER_PROHIB, 0, &f);
	}
	assert_int_equal(rig_nsent(), 0);
}

/* Our address is the one the packet leaves from. */
static void
test_record(void **state)
{
	static const uint8_t rr[15] = { 7, 15, 4 };
	struct in_addr own = addr4(IP_R1);
	const struct frame *out;
	struct frame f;

	option_frame(&f, rr, sizeof(rr));
	rig_inject(R.p0, &f, 1);
	out = rig_sent(R.p1);
	assert_non_null(out);
	check_sums(out);
	assert_int_equal(out->f_b[22], 63);
	assert_int_equal(out->f_b[34 + 2], 8);
	assert_memory_equal(out->f_b + 34 + 3, &own, 4);
	assert_memory_equal(out->f_b + 34 + 7, f.f_b + 34 + 7,
	    f.f_len - 34 - 7);
}

/* Times, with addresses, for the named; and when there is no room. */
static void
test_stamp(void **state)
{
	static const uint8_t only[8] = { 68, 8, 5, 0 };
	static const uint8_t both[20] = { 68, 20, 5, 1 };
	static const uint8_t mine[20] = { 68, 20, 5, 3, 198, 51, 100, 1 };
	static const uint8_t other[20] = { 68, 20, 5, 3, 203, 0, 113, 7 };
	static const uint8_t full[8] = { 68, 8, 9, 0xe0, 0, 0, 0, 1 };
	struct in_addr own = addr4(IP_R1);
	const uint8_t *o;
	struct frame f;
	uint32_t ms;

	option_frame(&f, only, sizeof(only));
	rig_inject(R.p0, &f, 1);
	o = rig_sent(R.p1)->f_b + 34;
	assert_int_equal(o[2], 9);
	memcpy(&ms, o + 4, 4);
	assert_true(ntohl(ms) < 86400000);
	option_frame(&f, both, sizeof(both));
	rig_inject(R.p0, &f, 1);
	o = rig_sent(R.p1)->f_b + 34;
	assert_int_equal(o[2], 13);
	assert_memory_equal(o + 4, &own, 4);
	memcpy(&ms, o + 8, 4);
	assert_true(ntohl(ms) < 86400000 && ms != 0);
	option_frame(&f, mine, sizeof(mine));
	rig_inject(R.p0, &f, 1);
	o = rig_sent(R.p1)->f_b + 34;
	assert_int_equal(o[2], 13);
	memcpy(&ms, o + 8, 4);
	assert_true(ms != 0);
	option_frame(&f, other, sizeof(other));
	rig_inject(R.p0, &f, 1);
	check_forwarded(rig_sent(R.p1), &f, mac_r1, mac_c);
	option_frame(&f, full, sizeof(full));
	rig_inject(R.p0, &f, 1);
	o = rig_sent(R.p1)->f_b + 34;
	assert_int_equal(o[2], 9);
	assert_int_equal(o[3], 0xf0);
}

static void
source_routed(struct frame *f, uint8_t type, uint8_t ptr, const char *dst)
{
	const uint8_t sr[8] = { type, 7, ptr, 198, 51, 100, 10 };
	uint8_t udp[32];
	size_t len;

	len = put_udp(udp, IP_A, dst, 5000, "data", 4);
	frame_ip4(f, &(struct ip4){ .dst = dst, .opts = sr, .nopts = 8 }, udp,
	    len);
}

/* Off as by default; followed and accepted if told so (RFC 1812 5.3.13.4). */
static void
test_source_route(void **state)
{
	struct in_addr own = addr4(IP_R1), next = addr4(IP_C);
	static const uint8_t types[] = { IPOPT_LSRR, IPOPT_SSRR };
	const struct frame *out;
	struct frame f;

	for (unsigned int i = 0; i < nitems(types); i++) {
		source_routed(&f, types[i], 4, IP_R0);
		rig_inject(R.p0, &f, 1);
		check_icmp(rig_sent(R.p0), IP_R0, IP_A, ICMP_UNREACH,
		    ICMP_UNREACH_SRCFAIL, 0, &f);
		source_routed(&f, types[i], 4, IP_FAR);
		rig_inject(R.p0, &f, 1);
		check_icmp(rig_sent(R.p0), IP_R0, IP_A, ICMP_UNREACH,
		    ICMP_UNREACH_SRCFAIL, 0, &f);
	}
	assert_int_equal(rig_drops(R.p0, IFD_IPSRCRT), 4);
	rig_sysctl("net.inet.ip.sourceroute", 1);
	for (unsigned int i = 0; i < nitems(types); i++) {
		source_routed(&f, types[i], 4, IP_R0);
		rig_inject(R.p0, &f, 1);
		out = rig_sent(R.p1);
		assert_non_null(out);
		check_sums(out);
		assert_memory_equal(out->f_b + 30, &next, 4);
		assert_int_equal(out->f_b[36], 8);
		assert_memory_equal(out->f_b + 37, &own, 4);
		assert_int_equal(out->f_b[22], 63);
	}
	/* A loose one on its way elsewhere is as good as none. */
	source_routed(&f, IPOPT_LSRR, 4, IP_FAR);
	rig_inject(R.p0, &f, 1);
	check_forwarded(rig_sent(R.p1), &f, mac_r1, mac_c);
	/* A strict one must have come to us. */
	source_routed(&f, IPOPT_SSRR, 4, IP_FAR);
	rig_inject(R.p0, &f, 1);
	check_icmp(rig_sent(R.p0), IP_R0, IP_A, ICMP_UNREACH,
	    ICMP_UNREACH_SRCFAIL, 0, &f);
	/* At its end, for us. */
	source_routed(&f, IPOPT_LSRR, 8, IP_R0);
	rig_inject(R.p0, &f, 1);
	check_icmp(rig_sent(R.p0), IP_R0, IP_A, ICMP_UNREACH,
	    ICMP_UNREACH_SRCFAIL, 0, &f);
	rig_sysctl("net.inet.ip.accept_sourceroute", 1);
	rig_inject(R.p0, &f, 1);
	check_icmp(rig_sent(R.p0), IP_R0, IP_A, ICMP_UNREACH,
	    ICMP_UNREACH_PORT, 0, &f);
	assert_int_equal(rig_nsent(), 0);
}

/* An echo reply carries the record on, but no source route. */
static void
test_echo(void **state)
{
	const uint8_t opts[20] = { 7, 11, 4, 0, 0, 0, 0, 0, 0, 0, 0, 1, 131,
	    7, 8, 203, 0, 113, 9, 0 };
	struct in_addr own = addr4(IP_R0);
	const struct frame *out;
	struct frame f;
	uint8_t b[64];
	size_t len;

	rig_sysctl("net.inet.ip.accept_sourceroute", 1);
	len = put_icmp(b, ICMP_ECHO, 0, 7, "abcd", 4);
	frame_ip4(&f, &(struct ip4){ .dst = IP_R0, .opts = opts, .nopts = 20,
	    .proto = IPPROTO_ICMP }, b, len);
	rig_inject(R.p0, &f, 1);
	out = rig_sent(R.p0);
	check_icmp(out, IP_R0, IP_A, ICMP_ECHOREPLY, 0, 7, NULL);
	assert_int_equal(out->f_b[36], 8);
	assert_memory_equal(out->f_b + 37, &own, 4);
	for (int i = 46; i < 53; i++)
		assert_int_equal(out->f_b[i], IPOPT_NOP);
}

/*
 * Random options: the parser stays in the header (which ends where its buffer
 * ends), finds only what is there, and what it passes can be recorded in.
 */
static void
test_random(void **state)
{
	static const uint8_t types[] = { 0, 1, 7, 68, 131, 137, 148, 30 };
	struct ip_optinfo oi;
	uint8_t *h, to[40], *before;
	unsigned int bad;
	size_t hlen, n;

	test_seed();
	for (int i = 0; i < 50000; i++) {
		hlen = 24 + 4 * (test_rand() % 10);
		h = malloc(hlen);
		before = malloc(hlen);
		assert_non_null(h);
		assert_non_null(before);
		for (n = 0; n < hlen; n++)
			h[n] = (uint8_t)(test_rand() % 3 == 0 ?
			    types[test_rand() % 8] : test_rand() % 16);
		h[0] = ip_vhl_make(hlen);
		memcpy(before, h, hlen);
		memset(&oi, 0, sizeof(oi));
		bad = ip_options_parse((struct ip *)(void *)h, &oi);
		assert_true(bad == 0 || (bad >= IP_HDR_MIN && bad < hlen));
		assert_memory_equal(before, h, hlen);
		n = ip_options_copied((struct ip *)(void *)h, to);
		assert_true(n % 4 == 0 && n <= hlen - IP_HDR_MIN);
		if (bad == 0) {
			struct epoch_tracker et;

			NET_EPOCH_ENTER(et);
			ip_options_record(R.vnet, (struct ip *)(void *)h, &oi,
			    addr4(IP_R1));
			NET_EPOCH_EXIT(et);
			memset(&oi, 0, sizeof(oi));
			bad = ip_options_parse((struct ip *)(void *)h, &oi);
			/* What is left may be too little for the next one,
			 * and the overflow count at its end. */
			assert_true(bad == 0 || h[bad - 2] == IPOPT_TS ||
			    h[bad - 2] == IPOPT_RR);
			ip_options_unroute((struct ip *)(void *)h);
		}
		free(h);
		free(before);
	}
}

int
main(void)
{
#define	T(f)	cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		T(test_table), T(test_modes), T(test_record), T(test_stamp),
		T(test_source_route), T(test_echo), T(test_random),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
