/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Tests of the places on a frame's way: who has the lower one gets everything
 * received, tags beside the frames; who has the upper one everything sent; the
 * orphans are whole again; what is handed back goes on behind the place.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ether/ether_var.h"
#include "wire/ether.h"

static const uint8_t own[6] = { 2, 0, 0, 0, 1, 0 };
static const uint8_t other[6] = { 2, 0, 0, 0, 1, 1 };
static const uint8_t bcast[6] = { 255, 255, 255, 255, 255, 255 };
static struct vnet *vnet;
static struct ifnet *ifp;

/* Where packets ended up; those of the last call are kept. */
struct sink {
	struct if_hook	 hook;
	unsigned int	 calls;
	unsigned int	 n;
	struct mbuf	*m[MBUF_BURST];
};
static struct sink lower, upper, orphans, driver, proto;

static void
sink_put(struct sink *s, struct mbuf **m, unsigned int n)
{

	assert_true(in_epoch(net_epoch_preempt));
	m_free_burst(s->m, s->n);
	memcpy(s->m, m, n * sizeof(m[0]));
	s->n = n;
	s->calls++;
}

static void
sink_hook(struct if_hook *ih, struct ifnet *i, struct mbuf **m,
    unsigned int n)
{

	assert_ptr_equal(i, ifp);
	sink_put(__containerof(ih, struct sink, hook), m, n);
}

static void
sink_driver(struct ifnet *i, struct mbuf **m, unsigned int n)
{

	assert_ptr_equal(i, ifp);
	sink_put(&driver, m, n);
}

static void
sink_proto(struct ifnet *i, struct mbuf **m, unsigned int n)
{

	assert_ptr_equal(i, ifp);
	sink_put(&proto, m, n);
}

static void
sink_empty(struct sink *s)
{

	m_free_burst(s->m, s->n);
	memset(s, 0, sizeof(*s));
	s->hook.ih_fn = sink_hook;
}

static int
setup(void **state)
{
	static int once;

	if (!once++) {
		assert_int_equal(mbuf_init(512), 0);
		assert_int_equal(ether_proto_register(ETHERTYPE_IP,
		    sink_proto), 0);
	}
	sink_empty(&lower);
	sink_empty(&upper);
	sink_empty(&orphans);
	sink_empty(&driver);
	sink_empty(&proto);
	vnet = vnet_alloc();
	VNET_CONFIG_LOCK(vnet);
	assert_int_equal(ether_vnet_init(vnet), 0);
	assert_int_equal(if_alloc(vnet, IFT_ETHER, "p0", &ifp), 0);
	assert_int_equal(if_setlladdr(ifp, own), 0);
	atomic_store(&ifp->if_output, sink_driver);
	assert_int_equal(if_attach(ifp), 0);
	assert_int_equal(if_setflags(ifp, IFF_UP, 0), 0);
	return (0);
}

static int
teardown(void **state)
{

	sink_empty(&lower);
	sink_empty(&upper);
	sink_empty(&orphans);
	sink_empty(&driver);
	sink_empty(&proto);
	if_detach(ifp);
	if_free(ifp);
	VNET_CONFIG_UNLOCK(vnet);
	vnet_free(vnet);
	assert_int_equal(mbuf_nfree(), mbuf_nframes());
	return (0);
}

/* A frame of 60 bytes or of len; tag: an 802.1Q tag in it, or -1. */
static struct mbuf *
frame(const uint8_t *dst, uint16_t type, int tag, uint32_t len)
{
	uint8_t buf[64] = { 0 };
	size_t at = 12;

	memcpy(buf, dst, 6);
	memcpy(buf + 6, other, 6);
	if (tag >= 0) {
		buf[at++] = 0x81;
		buf[at++] = 0;
		buf[at++] = (uint8_t)(tag >> 8);
		buf[at++] = (uint8_t)tag;
	}
	buf[at++] = (uint8_t)(type >> 8);
	buf[at] = (uint8_t)type;
	return (m_devget(buf, len));
}

static void
input(struct mbuf **m, unsigned int n)
{
	struct epoch_tracker et;

	NET_EPOCH_ENTER(et);
	ifp->if_input(ifp, m, n);
	NET_EPOCH_EXIT(et);
}

static void
input1(struct mbuf *m)
{

	input(&m, 1);
}

static uint64_t
drops(enum if_drop why)
{

	return (if_counter(ifp, IFC_DROPS + (enum if_counter)why));
}

static void
test_places(void **state)
{
	struct sink second = { .hook.ih_fn = sink_hook };

	assert_int_equal(if_hook_add(ifp, IFH_LOWER, &lower.hook), 0);
	assert_int_equal(if_hook_add(ifp, IFH_LOWER, &second.hook), EBUSY);
	assert_int_equal(if_hook_add(ifp, IFH_UPPER, &lower.hook), 0);
	/* Of somebody else: nothing happens. */
	if_hook_remove(ifp, IFH_LOWER, &second.hook);
	assert_true(if_hooked(ifp, IFH_LOWER));
	if_hook_remove(ifp, IFH_LOWER, &lower.hook);
	assert_false(if_hooked(ifp, IFH_LOWER));
	assert_true(if_hooked(ifp, IFH_UPPER));
	assert_int_equal(if_hook_add(ifp, IFH_LOWER, &second.hook), 0);
	if_hook_remove(ifp, IFH_LOWER, &second.hook);
	if_hook_remove(ifp, IFH_UPPER, &lower.hook);
	assert_int_equal(ifp->if_hooks, 0);
}

/* All frames, in one burst, and the stack gets nothing. */
static void
test_lower(void **state)
{
	struct mbuf *m[5];

	assert_int_equal(if_hook_add(ifp, IFH_LOWER, &lower.hook), 0);
	m[0] = frame(own, ETHERTYPE_IP, -1, 60);
	m[1] = frame(other, 0x9999, -1, 60);
	m[2] = frame(bcast, ETHERTYPE_IP, 7 << 13 | 100, 64);
	m[3] = frame(own, ETHERTYPE_IP, -1, 13);
	m[4] = frame(own, ETHERTYPE_IP, 5, 17);
	input(m, 5);
	assert_int_equal(lower.calls, 1);
	assert_int_equal(lower.n, 3);
	assert_int_equal(proto.calls, 0);
	assert_ptr_equal(lower.m[0]->m_pkthdr.rcvif, ifp);
	assert_int_equal(lower.m[0]->m_pkthdr.len, 60);
	assert_int_equal(lower.m[1]->m_flags & M_VLANTAG, 0);
	assert_memory_equal(lower.m[1]->m_data, other, 6);
	assert_int_equal(lower.m[2]->m_pkthdr.len, 60);
	assert_int_equal(lower.m[2]->m_flags & (M_VLANTAG | M_BCAST),
	    M_VLANTAG | M_BCAST);
	assert_int_equal(lower.m[2]->m_pkthdr.ether_vtag, 7 << 13 | 100);
	assert_int_equal(lower.m[2]->m_pkthdr.ether_vproto, ETHERTYPE_VLAN);
	assert_memory_equal(lower.m[2]->m_data + 12, "\x08\x00", 2);
	assert_int_equal(drops(IFD_RUNT), 2);
	assert_int_equal(if_counter(ifp, IFC_IPACKETS), 5);
	assert_int_equal(if_counter(ifp, IFC_IBYTES), 60 + 60 + 64 + 13 + 17);
	assert_int_equal(if_counter(ifp, IFC_IMCASTS), 1);
}

/* An interface that is down, or only watched, gives nothing to it. */
static void
test_lower_refused(void **state)
{

	assert_int_equal(if_hook_add(ifp, IFH_LOWER, &lower.hook), 0);
	assert_int_equal(if_setflags(ifp, IFF_MONITOR, 0), 0);
	input1(frame(own, ETHERTYPE_IP, -1, 60));
	assert_int_equal(if_setflags(ifp, 0, IFF_UP | IFF_MONITOR), 0);
	input1(frame(own, ETHERTYPE_IP, -1, 60));
	assert_int_equal(lower.calls, 0);
	assert_int_equal(drops(IFD_MONITOR), 1);
	assert_int_equal(drops(IFD_DOWN), 1);
}

/* Handed on behind the place: to the protocols, counted once. */
static void
test_demux(void **state)
{
	struct epoch_tracker et;
	struct mbuf *m[2];

	assert_int_equal(if_hook_add(ifp, IFH_LOWER, &lower.hook), 0);
	m[0] = frame(bcast, ETHERTYPE_IP, -1, 60);
	m[1] = frame(other, ETHERTYPE_IP, -1, 60);
	input(m, 2);
	lower.n = 0;
	NET_EPOCH_ENTER(et);
	ether_demux(ifp, m, 2);
	NET_EPOCH_EXIT(et);
	assert_int_equal(lower.calls, 1);
	assert_int_equal(proto.n, 1);
	assert_int_equal(proto.m[0]->m_pkthdr.len, 46);
	assert_int_equal(drops(IFD_NOTFORUS), 1);
	assert_int_equal(if_counter(ifp, IFC_IPACKETS), 2);
	assert_int_equal(if_counter(ifp, IFC_IMCASTS), 1);
}

static void
test_orphans(void **state)
{
	struct mbuf *m[4];

	input1(frame(own, 0x9999, -1, 60));
	assert_int_equal(drops(IFD_ETHERTYPE), 1);
	assert_int_equal(if_hook_add(ifp, IFH_ORPHANS, &orphans.hook), 0);
	m[0] = frame(own, ETHERTYPE_IP, -1, 60);
	m[1] = frame(own, 0x9999, -1, 60);
	m[2] = frame(own, 0x9999, -1, 61);
	m[3] = frame(own, ETHERTYPE_IP, -1, 60);
	m[1]->m_pkthdr.csum_flags = CSUM_PARTIAL;
	m[1]->m_pkthdr.csum_start = 34;
	input(m, 4);
	assert_int_equal(proto.calls, 2);
	assert_int_equal(orphans.calls, 1);
	assert_int_equal(orphans.n, 2);
	assert_int_equal(orphans.m[0]->m_pkthdr.len, 60);
	assert_int_equal(orphans.m[0]->m_len, 60);
	assert_int_equal(orphans.m[0]->m_pkthdr.csum_start, 34);
	assert_memory_equal(orphans.m[0]->m_data, own, 6);
	assert_memory_equal(orphans.m[0]->m_data + 12, "\x99\x99", 2);
	assert_int_equal(orphans.m[1]->m_pkthdr.len, 61);
	/* 802.3, and a VLAN that is not there: the tag is beside it. */
	input1(frame(own, 3, -1, 60));
	assert_int_equal(orphans.m[0]->m_data[13], 3);
	input1(frame(own, ETHERTYPE_IP, 100, 64));
	assert_int_equal(orphans.calls, 3);
	assert_int_equal(orphans.m[0]->m_flags & M_VLANTAG, M_VLANTAG);
	assert_int_equal(orphans.m[0]->m_pkthdr.ether_vtag, 100);
	assert_int_equal(orphans.m[0]->m_pkthdr.len, 60);
	assert_int_equal(drops(IFD_ETHERTYPE), 1);
	assert_int_equal(drops(IFD_VLAN) + drops(IFD_LLC), 0);
	/* Another station's frame is nobody's orphan. */
	input1(frame(other, 0x9999, -1, 60));
	assert_int_equal(orphans.calls, 3);
}

static void
test_upper(void **state)
{
	struct epoch_tracker et;
	struct mbuf *m = m_devget("abc", 3);

	assert_int_equal(if_hook_add(ifp, IFH_UPPER, &upper.hook), 0);
	NET_EPOCH_ENTER(et);
	ether_output(ifp, m, other, ETHERTYPE_IP);
	assert_int_equal(upper.n, 1);
	assert_int_equal(driver.calls, 0);
	assert_int_equal(if_counter(ifp, IFC_OPACKETS), 0);
	assert_int_equal(upper.m[0]->m_pkthdr.len, 17);
	assert_memory_equal(upper.m[0]->m_data + 6, own, 6);
	/* Not taken a second time; the driver gets it padded. */
	m = upper.m[0];
	upper.n = 0;
	if_transmit_lower(ifp, &m, 1);
	NET_EPOCH_EXIT(et);
	assert_int_equal(upper.calls, 1);
	assert_int_equal(driver.n, 1);
	assert_int_equal(driver.m[0]->m_pkthdr.len, 60);
	assert_int_equal(if_counter(ifp, IFC_OPACKETS), 1);
	assert_int_equal(if_counter(ifp, IFC_OBYTES), 60);
}

/* Down: neither the place nor the driver gets it. */
static void
test_upper_down(void **state)
{
	struct epoch_tracker et;
	struct mbuf *m[2];

	m[0] = frame(other, ETHERTYPE_IP, -1, 60);
	m[1] = frame(other, ETHERTYPE_IP, -1, 60);
	assert_int_equal(if_hook_add(ifp, IFH_UPPER, &upper.hook), 0);
	assert_int_equal(if_setflags(ifp, 0, IFF_UP), 0);
	NET_EPOCH_ENTER(et);
	if_transmit(ifp, &m[0], 1);
	if_transmit_lower(ifp, &m[1], 1);
	NET_EPOCH_EXIT(et);
	assert_int_equal(drops(IFD_DOWN), 2);
	assert_int_equal(upper.calls + driver.calls, 0);
}

/*
 * A checksum that the interface would finish stays open beside the frame; one
 * that it would not is finished before; one that cannot be is dropped.
 */
static void
test_upper_checksum(void **state)
{
	struct epoch_tracker et;
	struct mbuf *m;

	assert_int_equal(if_hook_add(ifp, IFH_UPPER, &upper.hook), 0);
	NET_EPOCH_ENTER(et);
	for (int i = 0; i < 3; i++) {
		m = frame(other, ETHERTYPE_IP, -1, 60);
		m->m_pkthdr.csum_flags = CSUM_PARTIAL;
		m->m_pkthdr.csum_start = i == 2 ? 100 : 34;
		m->m_pkthdr.csum_offset = 16;
		atomic_store(&ifp->if_capenable, i == 0 ? IFCAP_TXCSUM : 0);
		if_transmit(ifp, &m, 1);
		if (i == 0) {
			assert_int_equal(upper.m[0]->m_pkthdr.csum_flags,
			    CSUM_PARTIAL);
			assert_int_equal(upper.m[0]->m_data[50], 0);
		} else if (i == 1) {
			assert_int_equal(upper.m[0]->m_pkthdr.csum_flags, 0);
			assert_memory_equal(upper.m[0]->m_data + 50,
			    "\xff\xff", 2);
		}
	}
	NET_EPOCH_EXIT(et);
	assert_int_equal(upper.calls, 2);
	assert_int_equal(drops(IFD_TXERR), 1);
}

int
main(void)
{
#define	T(fn)	cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_places), T(test_lower), T(test_lower_refused),
		T(test_demux), T(test_orphans), T(test_upper),
		T(test_upper_down), T(test_upper_checksum),
	};
#undef T

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
