/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Tests of Ethernet input and output: addresses, tags beside and inside the
 * frame, runts against the end of their buffer, runs of protocols, and the
 * two ways into the epoch.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ether/ether_var.h"
#include "wire/ether.h"

static const uint8_t own[6] = { 2, 0, 0, 0, 1, 0 };
static const uint8_t host[6] = { 2, 0, 0, 0, 0xa, 1 };
static struct vnet *vnet;
static struct ifnet *ifp;
static char	 got[512];		/* "i" IP, "a" ARP, "|" end of a run */
static struct mbuf *sent;

static void
take(char letter, struct mbuf **m, unsigned int n)
{
	size_t len = strlen(got);

	assert_true(in_epoch(net_epoch_preempt));
	for (unsigned int i = 0; i < n; i++) {
		assert_ptr_equal(m[i]->m_pkthdr.rcvif, ifp);
		assert_int_equal(m[i]->m_pkthdr.l2len, ETHER_HDR_LEN);
		assert_int_equal(m[i]->m_flags & M_VLANTAG, 0);
		if (m[i]->m_len > 0)
			assert_int_equal(m[i]->m_data[0], 'p');
		got[len++] = letter;
	}
	got[len++] = '|';
	got[len] = '\0';
	m_free_burst(m, n);
}

static void
take_ip(struct ifnet *i, struct mbuf **m, unsigned int n)
{

	take('i', m, n);
}

static void
take_arp(struct ifnet *i, struct mbuf **m, unsigned int n)
{

	take('a', m, n);
}

static void
keep(struct ifnet *i, struct mbuf **m, unsigned int n)
{

	assert_int_equal(n, 1);
	sent = m[0];
}

/*
 * A frame whose last byte is the last of its buffer, so that the sanitizer
 * sees a read behind it.  tags: n of them, type and tag.
 */
static struct mbuf *
frame(const uint8_t *dst, uint16_t type, uint32_t len, int ntags,
    const uint16_t *tags)
{
	uint8_t buf[200];
	struct mbuf *m = m_gethdr();
	uint32_t at = 12;

	assert_non_null(m);
	memcpy(buf, dst, 6);
	memcpy(buf + 6, host, 6);
	for (int i = 0; i < ntags; i++) {
		buf[at++] = (uint8_t)(tags[2 * i] >> 8);
		buf[at++] = (uint8_t)tags[2 * i];
		buf[at++] = (uint8_t)(tags[2 * i + 1] >> 8);
		buf[at++] = (uint8_t)tags[2 * i + 1];
	}
	buf[at++] = (uint8_t)(type >> 8);
	buf[at++] = (uint8_t)type;
	memset(buf + at, 'p', sizeof(buf) - at);
	if (len == 0)
		len = at + 20;
	m->m_data += m_trailingspace(m) - len;
	memcpy(m->m_data, buf, len);
	m->m_len = m->m_pkthdr.len = len;
	return (m);
}

static uint64_t
drops(enum if_drop why)
{

	return (if_counter(ifp, IFC_DROPS + (enum if_counter)why));
}

static void
input(struct mbuf *m)
{
	struct epoch_tracker et;

	NET_EPOCH_ENTER(et);
	ifp->if_input(ifp, &m, 1);
	NET_EPOCH_EXIT(et);
}

static int
setup(void **state)
{
	static int once;

	if (!once++) {
		assert_int_equal(mbuf_init(512), 0);
		assert_int_equal(ether_proto_register(ETHERTYPE_IP, take_ip),
		    0);
		assert_int_equal(ether_proto_register(ETHERTYPE_ARP,
		    take_arp), 0);
	}
	vnet = vnet_alloc();
	VNET_CONFIG_LOCK(vnet);
	assert_int_equal(ether_vnet_init(vnet), 0);
	assert_int_equal(if_alloc(vnet, IFT_ETHER, "p0", &ifp), 0);
	assert_int_equal(if_setlladdr(ifp, own), 0);
	atomic_store(&ifp->if_output, keep);
	assert_int_equal(if_attach(ifp), 0);
	assert_int_equal(if_setflags(ifp, IFF_UP, 0), 0);
	got[0] = '\0';
	sent = NULL;
	return (0);
}

static int
teardown(void **state)
{

	m_freem(sent);
	if_detach(ifp);
	if_free(ifp);
	VNET_CONFIG_UNLOCK(vnet);
	vnet_free(vnet);
	assert_int_equal(mbuf_nfree(), mbuf_nframes());
	return (0);
}

static void
test_register(void **state)
{

	assert_int_equal(ether_proto_register(ETHERTYPE_IP, take_ip), 0);
	assert_int_equal(ether_proto_register(ETHERTYPE_IP, take_arp),
	    EEXIST);
}

static void
test_addresses(void **state)
{
	static const uint8_t other[6] = { 2, 0, 0, 0, 1, 1 };
	static const uint8_t bcast[6] = { 255, 255, 255, 255, 255, 255 };
	static const uint8_t mcast[6] = { 1, 0, 0x5e, 0, 0, 5 };
	struct mbuf *m;

	input(frame(own, ETHERTYPE_IP, 0, 0, NULL));
	input(frame(bcast, ETHERTYPE_ARP, 0, 0, NULL));
	input(frame(mcast, ETHERTYPE_IP, 0, 0, NULL));
	input(frame(other, ETHERTYPE_IP, 0, 0, NULL));
	assert_string_equal(got, "i|a|i|");
	assert_int_equal(drops(IFD_NOTFORUS), 1);
	assert_int_equal(if_counter(ifp, IFC_IMCASTS), 2);
	m = frame(own, ETHERTYPE_IP, 0, 0, NULL);
	m->m_data[6] |= 1;
	input(m);
	assert_int_equal(drops(IFD_BADSRC), 1);
	input(frame(own, 0x88cc, 0, 0, NULL));
	assert_int_equal(drops(IFD_ETHERTYPE), 1);
	input(frame(own, 3, 0, 0, NULL));
	input(frame(own, 0, 0, 0, NULL));
	assert_int_equal(drops(IFD_LLC), 2);
	assert_int_equal(if_counter(ifp, IFC_IERRORS), 2);
	assert_int_equal(if_counter(ifp, IFC_IPACKETS), 8);
	assert_int_equal(if_setflags(ifp, IFF_MONITOR, 0), 0);
	input(frame(own, ETHERTYPE_IP, 0, 0, NULL));
	assert_int_equal(if_setflags(ifp, 0, IFF_UP), 0);
	input(frame(own, ETHERTYPE_IP, 0, 0, NULL));
	assert_int_equal(drops(IFD_MONITOR), 1);
	assert_int_equal(drops(IFD_DOWN), 1);
	assert_string_equal(got, "i|a|i|");
}

/* Tags in the frame, and the same tag beside it: no difference. */
static void
test_tags(void **state)
{
	static const struct {
		int	 ntags;
		uint16_t tags[4];
		const char *got;
		int	 vlan;
	} t[] = {
		{ 1, { 0x8100, 5 << 13 }, "i|", 0 },
		{ 1, { 0x8100, 7 << 13 | 1 << 12 }, "i|", 0 },
		{ 1, { 0x88a8, 3 << 13 }, "i|", 0 },
		{ 2, { 0x8100, 0, 0x8100, 0 }, "", 1 },
		{ 1, { 0x8100, 100 }, "", 1 },
		{ 1, { 0x8100, 4095 }, "", 1 },
		{ 2, { 0x88a8, 10, 0x8100, 100 }, "", 1 },
	};
	struct mbuf *m;

	for (size_t i = 0; i < nitems(t); i++)
		for (int beside = 0; beside < 2; beside++) {
			uint64_t before = drops(IFD_VLAN);

			got[0] = '\0';
			m = frame(own, ETHERTYPE_IP, 0, t[i].ntags - beside,
			    t[i].tags + 2 * beside);
			if (beside) {
				m->m_flags |= M_VLANTAG;
				m->m_pkthdr.ether_vproto = t[i].tags[0];
				m->m_pkthdr.ether_vtag = t[i].tags[1];
			}
			input(m);
			assert_string_equal(got, t[i].got);
			assert_int_equal(drops(IFD_VLAN) - before, t[i].vlan);
		}
}

static void
test_runts(void **state)
{
	static const uint16_t tag[2] = { 0x8100, 0 };

	for (uint32_t len = 1; len < ETHER_HDR_LEN; len++)
		input(frame(own, ETHERTYPE_IP, len, 0, NULL));
	assert_int_equal(drops(IFD_RUNT), 13);
	for (uint32_t len = ETHER_HDR_LEN; len < 18; len++)
		input(frame(own, ETHERTYPE_IP, len, 1, tag));
	assert_int_equal(drops(IFD_RUNT), 17);
	assert_int_equal(if_counter(ifp, IFC_IERRORS), 17);
	assert_string_equal(got, "");
	input(frame(own, ETHERTYPE_IP, 14, 0, NULL));
	assert_string_equal(got, "i|");
}

/* Runs of one protocol stay together, drops in between do not cut them. */
static void
test_runs(void **state)
{
	static const uint16_t types[] = { ETHERTYPE_IP, ETHERTYPE_IP, 0x9999,
	    ETHERTYPE_IP, ETHERTYPE_ARP, ETHERTYPE_ARP, ETHERTYPE_IP };
	struct epoch_tracker et;
	struct mbuf *m[nitems(types)];

	for (size_t i = 0; i < nitems(types); i++)
		m[i] = frame(own, types[i], 0, 0, NULL);
	m[5]->m_data[6] |= 1;
	NET_EPOCH_ENTER(et);
	ifp->if_input(ifp, m, nitems(types));
	NET_EPOCH_EXIT(et);
	assert_string_equal(got, "ii|i|a|i|");
}

static void
test_output(void **state)
{
	struct epoch_tracker et;
	struct mbuf *m = m_devget("0123456789012345678901234567890123456789"
	    "01234567890", 50);

	m->m_pkthdr.csum_flags = 0;
	NET_EPOCH_ENTER(et);
	ether_output(ifp, m, host, ETHERTYPE_ARP);
	NET_EPOCH_EXIT(et);
	assert_non_null(sent);
	assert_int_equal(sent->m_pkthdr.len, 64);
	assert_memory_equal(sent->m_data, host, 6);
	assert_memory_equal(sent->m_data + 6, own, 6);
	assert_memory_equal(sent->m_data + 12, "\x08\x06" "01234", 7);
}

/* An interface flagged IFF_NEEDSEPOCH may call from outside. */
static void
test_needsepoch(void **state)
{
	struct mbuf *m = frame(own, ETHERTYPE_IP, 0, 0, NULL);

	atomic_fetch_or(&ifp->if_flags, IFF_NEEDSEPOCH);
	ifp->if_input(ifp, &m, 1);
	assert_false(in_epoch(net_epoch_preempt));
	assert_string_equal(got, "i|");
}

#ifdef INVARIANTS
/* One that is not flagged is entered for, and named once (D39510). */
static void
test_belt(void **state)
{
	char buf[4096];
	struct mbuf *m;
	int fds[2], saved;
	ssize_t n;

	assert_int_equal(pipe(fds), 0);
	saved = dup(STDERR_FILENO);
	dup2(fds[1], STDERR_FILENO);
	for (int i = 0; i < 3; i++) {
		m = frame(own, ETHERTYPE_IP, 0, 0, NULL);
		ifp->if_input(ifp, &m, 1);
	}
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(fds[1]);
	n = read(fds[0], buf, sizeof(buf) - 1);
	close(fds[0]);
	assert_true(n > 0);
	buf[n] = '\0';
	assert_string_equal(buf, "p0: ether_input called outside the net "
	    "epoch; the driver should set IFF_NEEDSEPOCH\n");
	assert_string_equal(got, "i|i|i|");
	assert_false(in_epoch(net_epoch_preempt));
}
#endif

int
main(void)
{
#define	T(fn)	cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_register), T(test_addresses), T(test_tags),
		T(test_runts), T(test_runs), T(test_output),
		T(test_needsepoch),
#ifdef INVARIANTS
		T(test_belt),
#endif
	};
#undef T

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
