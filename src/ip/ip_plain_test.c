/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The checks of a burst against the same checks done one by one, over random
 * bursts of headers that are right or wrong in a random field, and of lengths
 * that leave the compiler's vectors part full.
 */
#include "ip/ip_testlib.h"

#include "ip/ip_plain.h"
#include "ip/ip_private.h"
#include "wire/in_cksum.h"

#define	BURSTS	20000

static unsigned int
below(unsigned int n)
{

	return ((unsigned int)(test_rand() % n));
}

/* A header that is right, but for what k says. */
static void
header_make(struct ip *ip, unsigned int k)
{
	uint8_t *bytes = (uint8_t *)ip;

	for (size_t i = 0; i < sizeof(*ip); i++)
		bytes[i] = (uint8_t)test_rand();
	ip->ip_vhl = IP_VHL_BORING;
	ip->ip_len = htons((uint16_t)(IP_HDR_MIN + below(100)));
	ip->ip_ttl = (uint8_t)(2 + below(254));
	bytes[12] = (uint8_t)(1 + below(126));
	bytes[16] = (uint8_t)(128 + below(96));
	if (k == 1)
		ip->ip_vhl = (uint8_t)test_rand();
	else if (k == 2)
		ip->ip_len = htons((uint16_t)below(30));
	else if (k == 3)
		ip->ip_ttl = (uint8_t)below(3);
	else if (k == 4)
		bytes[12] = (uint8_t)test_rand();
	else if (k == 5)
		bytes[16] = (uint8_t)test_rand();
	else if (k >= 8 && k < 10)
		memcpy(bytes + (k == 8 ? 12 : 16), "\xa9\xfe", 1 + below(2));
	ip->ip_sum = 0;
	ip->ip_sum = in_cksum_hdr20(ip);
	if (k == 6)
		bytes[below(sizeof(*ip))] ^= (uint8_t)(1u << below(8));
	else if (k == 7 && ip->ip_sum == 0)
		ip->ip_sum = 0xffff;		/* the other zero */
}

static struct mbuf *
packet_make(void)
{
	struct mbuf *m = m_gethdr();
	struct ip ip;

	assert_non_null(m);
	header_make(&ip, below(16));
	memcpy(m->m_data, &ip, sizeof(ip));
	m->m_len = m->m_pkthdr.len = ntohs(ip.ip_len) + below(20);
	switch (below(20)) {
	case 0:
		m->m_len = m->m_pkthdr.len = below(60);
		break;
	case 1:
		m->m_flags |= (M_BCAST | M_MCAST | M_VLANTAG) &
		    (uint32_t)test_rand();
		break;
	case 2:
		m->m_next = m_gethdr();
		assert_non_null(m->m_next);
		break;
	}
	return (m);
}

/* The same, one by one. */
static bool
is_plain(const struct mbuf *m)
{
	const struct ip *ip = mtod(m, const struct ip *);

	return (m->m_len >= IP_HDR_MIN && m->m_next == NULL &&
	    (m->m_flags & (M_BCAST | M_MCAST | M_PROMISC | M_VLANTAG)) == 0 &&
	    ip->ip_vhl == IP_VHL_BORING && in_cksum(ip, IP_HDR_MIN) == 0 &&
	    ntohs(ip->ip_len) >= IP_HDR_MIN &&
	    ntohs(ip->ip_len) <= m->m_pkthdr.len && ip->ip_ttl > 1 &&
	    ip_addr_host(ip->ip_src) && ip_addr_host(ip->ip_dst) &&
	    !ip_addr_link(ip->ip_src) && !ip_addr_link(ip->ip_dst));
}

/* What ib says of a plain packet. */
static void
check_words(const struct ip_burst *ib, unsigned int i, const struct mbuf *m)
{
	struct ip ip;

	memcpy(&ip, m->m_data, sizeof(ip));
	assert_int_equal(ib->ib_len[i], ntohs(ip.ip_len));
	assert_int_equal(ib->ib_dst[i], ip.ip_dst.s_addr);
	ip_ttl_dec(&ip);
	assert_memory_equal(&ib->ib_ttl[i], &ip.ip_ttl, 4);
}

static void
test_random(void **state)
{
	struct mbuf *all[MBUF_BURST], *m[MBUF_BURST], *odd[MBUF_BURST];
	unsigned int n, nodd, nplain, got, total = 0, plain = 0;
	struct ip_burst ib;

	(void)state;
	for (int b = 0; b < BURSTS; b++) {
		n = 1 + below(MBUF_BURST);
		for (unsigned int i = 0; i < n; i++)
			m[i] = all[i] = packet_make();
		got = ip_plain_sort(&ib, m, n, odd);
		nodd = nplain = 0;
		for (unsigned int i = 0; i < n; i++) {
			if (!is_plain(all[i])) {
				assert_ptr_equal(odd[nodd++], all[i]);
				continue;
			}
			assert_ptr_equal(m[nplain], all[i]);
			check_words(&ib, nplain++, all[i]);
		}
		assert_int_equal(got, nplain);
		total += n;
		plain += nplain;
		m_free_burst(all, n);
	}
	/* The generator makes enough of both. */
	assert_in_range(plain, total / 4, total / 8 * 7);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	test_seed();
	assert_int_equal(mbuf_init(1024), 0);
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
