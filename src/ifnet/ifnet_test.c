/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Tests of interfaces: life and death also under readers, settings and their
 * refusals, addresses, what if_transmit() does for a device, specs.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ifnet/if_clone.h"
#include "ifnet/if_var.h"
#include "sys/thread.h"
#include "wire/ether.h"
#include "wire/in_cksum.h"

static struct vnet *vnet;
static char	 events[256];		/* a letter for each event */
static enum if_event refuse = (enum if_event)-1;
static struct mbuf *sent[MBUF_BURST];
static unsigned int nsent;
static _Atomic uint64_t reader_saw;

static int
note_event(void *arg, struct ifnet *ifp, enum if_event ev,
    struct ifaddr *ifa)
{
	static const char letter[] = "ADPLMHR+-";
	size_t len = strlen(events);

	assert_int_equal(in_epoch(net_epoch_preempt), 0);
	events[len] = letter[ev];
	events[len + 1] = ((const char *)arg)[0];
	events[len + 2] = '\0';
	return (ev == refuse && ((const char *)arg)[0] == '2' ? EDOM : 0);
}

static void
test_input(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{

	m_free_burst(m, n);
}

static const struct if_linktype linktype = {
	.lt_type = IFT_ETHER,
	.lt_input = test_input,
	.lt_minlen = ETHER_MIN_NOFCS,
};

static void
keep_output(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{

	for (unsigned int i = 0; i < n; i++)
		sent[nsent++] = m[i];
}

static void
free_output(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{

	m_free_burst(m, n);
}

static struct ifnet *
make_if(const char *name, if_burst_fn *output)
{
	struct ifnet *ifp;

	assert_int_equal(if_alloc(vnet, IFT_ETHER, name, &ifp), 0);
	atomic_store(&ifp->if_output, output);
	atomic_fetch_or(&ifp->if_flags, IFF_BROADCAST);
	assert_int_equal(if_attach(ifp), 0);
	return (ifp);
}

static int
setup(void **state)
{
	static int mbufs;

	if (!mbufs) {
		assert_int_equal(mbuf_init(1024), 0);
		mbufs = 1;
	}
	vnet = vnet_alloc();
	assert_non_null(vnet);
	if_event_register(vnet, note_event, (void *)(uintptr_t)"1");
	if_event_register(vnet, note_event, (void *)(uintptr_t)"2");
	assert_int_equal(if_linktype_register(vnet, &linktype), 0);
	VNET_CONFIG_LOCK(vnet);
	events[0] = '\0';
	nsent = 0;
	return (0);
}

static int
teardown(void **state)
{

	VNET_CONFIG_UNLOCK(vnet);
	NET_EPOCH_DRAIN_CALLBACKS();
	vnet_free(vnet);
	assert_int_equal(mbuf_nfree(), mbuf_nframes());
	return (0);
}

static void
test_life(void **state)
{
	struct epoch_tracker et;
	struct ifnet *a, *b, *again;
	uint32_t index;

	assert_int_equal(if_alloc(vnet, IFT_ETHER, "", &a), EINVAL);
	assert_int_equal(if_alloc(vnet, IFT_ETHER, "a/b", &a), EINVAL);
	assert_int_equal(if_alloc(vnet, IFT_ETHER, "0123456789abcdef", &a),
	    EINVAL);
	assert_int_equal(if_alloc(vnet, IFT_LOOP, "x", &a), EINVAL);
	a = make_if("a", free_output);
	b = make_if("b", free_output);
	assert_string_equal(events, "A1A2A1A2");
	assert_ptr_equal(if_byname(vnet, "b"), b);
	assert_ptr_equal(if_byindex(vnet, a->if_index), a);
	assert_int_equal(if_alloc(vnet, IFT_ETHER, "a", &again), 0);
	assert_int_equal(if_attach(again), EEXIST);
	if_free(again);

	/* A reference keeps the memory, not the life. */
	index = a->if_index;
	if_ref(a);
	if_detach(a);
	if_free(a);
	assert_string_equal(events, "A1A2A1A2D2D1P2P1");
	assert_null(if_byname(vnet, "a"));
	assert_null(if_byindex(vnet, index));
	NET_EPOCH_ENTER(et);
	assert_false(if_try_ref(a));
	assert_true(if_try_ref(b));
	NET_EPOCH_EXIT(et);
	if_rele(b);
	/* The index is not reused while anybody holds the old one. */
	again = make_if("again", free_output);
	assert_int_not_equal(again->if_index, index);
	if_rele(a);
	NET_EPOCH_DRAIN_CALLBACKS();
	if_detach(again);
	if_free(again);
	a = make_if("a", free_output);
	assert_int_equal(a->if_index, index);
	if_detach(a);
	if_free(a);
	if_detach(b);
	if_free(b);
}

static void
test_refused_attach(void **state)
{
	struct ifnet *ifp;

	assert_int_equal(if_alloc(vnet, IFT_ETHER, "x", &ifp), 0);
	refuse = IF_EVENT_ATTACH;
	assert_int_equal(if_attach(ifp), EDOM);
	refuse = (enum if_event)-1;
	assert_string_equal(events, "A1A2D1");
	assert_null(if_byname(vnet, "x"));
	assert_int_equal(if_attach(ifp), 0);
	if_detach(ifp);
	if_free(ifp);
}

static int
init_fails(struct ifnet *ifp)
{

	return (ENODEV);
}

static int
promisc_counts(struct ifnet *ifp, bool on)
{

	*(int *)ifp->if_softc += on ? 1 : 100;
	return (0);
}

static void
test_settings(void **state)
{
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 1 };
	static const uint8_t group[6] = { 1, 0, 0x5e, 0, 0, 1 };
	static const uint8_t zero[6];
	struct ifnet *ifp = make_if("p0", free_output), *other;
	int promisc = 0;

	ifp->if_softc = &promisc;
	ifp->if_setpromisc = promisc_counts;
	assert_int_equal(if_setflags(ifp, IFF_RUNNING, 0), EINVAL);
	assert_int_equal(if_setflags(ifp, IFF_UP, IFF_UP), EINVAL);
	assert_int_equal(if_setflags(ifp, IFF_UP | IFF_NOARP, 0), 0);
	assert_int_equal(ifp->if_flags & (IFF_UP | IFF_RUNNING | IFF_NOARP),
	    IFF_UP | IFF_RUNNING | IFF_NOARP);
	assert_int_equal(if_setflags(ifp, 0, IFF_UP), 0);
	assert_int_equal(ifp->if_flags & (IFF_UP | IFF_RUNNING), 0);
	/* A driver that cannot start leaves nothing half done. */
	ifp->if_init = init_fails;
	assert_int_equal(if_setflags(ifp, IFF_UP | IFF_PPROMISC, 0), ENODEV);
	assert_int_equal(ifp->if_flags & (IFF_UP | IFF_PROMISC | IFF_PPROMISC),
	    0);
	assert_int_equal(promisc, 101);
	ifp->if_init = NULL;
	/* Two requesters, one device setting. */
	assert_int_equal(if_promisc(ifp, true), 0);
	assert_int_equal(if_promisc(ifp, true), 0);
	assert_int_equal(promisc, 102);
	assert_int_equal(if_promisc(ifp, false), 0);
	assert_int_equal(promisc, 102);
	assert_int_equal(if_promisc(ifp, false), 0);
	assert_int_equal(promisc, 202);
	assert_int_equal(if_promisc(ifp, false), EINVAL);

	assert_int_equal(if_setmtu(ifp, 71), EINVAL);
	assert_int_equal(if_setmtu(ifp, 1501), EINVAL);
	assert_int_equal(if_setmtu(ifp, 1000), 0);
	assert_int_equal(ifp->if_mtu, 1000);
	assert_int_equal(if_setlladdr(ifp, group), EINVAL);
	assert_int_equal(if_setlladdr(ifp, zero), EINVAL);
	assert_int_equal(if_setlladdr(ifp, mac), 0);
	assert_memory_equal(ifp->if_lladdr, mac, 6);

	other = make_if("p1", free_output);
	assert_int_equal(if_rename(ifp, "p1"), EEXIST);
	assert_int_equal(if_rename(ifp, "bad name"), EINVAL);
	assert_int_equal(if_rename(ifp, "ixl2"), 0);
	assert_ptr_equal(if_byname(vnet, "ixl2"), ifp);
	if_detach(other);
	if_free(other);
	if_detach(ifp);
	if_free(ifp);
}

static struct in_addr
ip(const char *text)
{
	struct in_addr a;

	assert_int_equal(inet_pton(AF_INET, text, &a), 1);
	return (a);
}

static void
test_addresses(void **state)
{
	const struct in_addr none = { 0 };
	struct ifnet *ifp = make_if("p0", free_output);
	const struct ifaddr *ifa;

	assert_int_equal(if_addr_add(ifp, ip("224.0.0.1"), 24, none, none),
	    EINVAL);
	assert_int_equal(if_addr_add(ifp, ip("192.0.2.0"), 24, none, none),
	    EINVAL);
	assert_int_equal(if_addr_add(ifp, ip("192.0.2.255"), 24, none, none),
	    EINVAL);
	assert_int_equal(if_addr_add(ifp, ip("192.0.2.1"), 33, none, none),
	    EINVAL);
	assert_int_equal(if_addr_add(ifp, ip("192.0.2.1"), 24, none, none), 0);
	assert_int_equal(if_addr_add(ifp, ip("192.0.2.1"), 25, none, none),
	    EEXIST);
	assert_int_equal(if_addr_add(ifp, ip("10.0.0.1"), 8, none, none), 0);
	assert_int_equal(if_addr_add(ifp, ip("10.1.0.0"), 31, none, none), 0);
	ifa = if_addr_own(vnet, ip("192.0.2.1"));
	assert_non_null(ifa);
	assert_int_equal(ifa->ifa_broadaddr.s_addr, ip("192.0.2.255").s_addr);
	assert_null(if_addr_own(vnet, ip("192.0.2.2")));
	/* The narrowest network that holds the target, else the first. */
	ifa = if_addr_for(ifp, ip("10.1.0.1"));
	assert_int_equal(ifa->ifa_addr.s_addr, ip("10.1.0.0").s_addr);
	ifa = if_addr_for(ifp, ip("10.9.9.9"));
	assert_int_equal(ifa->ifa_addr.s_addr, ip("10.0.0.1").s_addr);
	ifa = if_addr_for(ifp, ip("203.0.113.1"));
	assert_int_equal(ifa->ifa_addr.s_addr, ip("192.0.2.1").s_addr);

	events[0] = '\0';
	refuse = IF_EVENT_ADDR_ADD;
	assert_int_equal(if_addr_add(ifp, ip("10.2.0.1"), 16, none, none),
	    EDOM);
	refuse = (enum if_event)-1;
	assert_string_equal(events, "+1+2-1");
	assert_null(if_addr_own(vnet, ip("10.2.0.1")));

	assert_int_equal(if_addr_del(ifp, ip("10.2.0.1")), ENOENT);
	assert_int_equal(if_addr_del(ifp, ip("10.0.0.1")), 0);
	events[0] = '\0';
	if_detach(ifp);
	assert_string_equal(events, "-2-1-2-1D2D1P2P1");
	if_free(ifp);
}

static struct mbuf *
frame(uint32_t len)
{
	static uint8_t buf[2000];
	struct mbuf *m;

	for (uint32_t i = 0; i < len; i++)
		buf[i] = (uint8_t)i;
	m = m_devget(buf, len);
	assert_non_null(m);
	return (m);
}

static void
transmit(struct ifnet *ifp, struct mbuf *m)
{
	struct epoch_tracker et;

	NET_EPOCH_ENTER(et);
	if_transmit(ifp, &m, 1);
	NET_EPOCH_EXIT(et);
}

/* Padding of a chain, and of a frame with no room behind it. */
static void
test_padding(void **state)
{
	struct ifnet *ifp = make_if("p0", keep_output);
	uint8_t out[60];
	struct mbuf *m, *n;

	assert_int_equal(if_setflags(ifp, IFF_UP, 0), 0);
	m = frame(60);
	m_adj(m, -40);
	n = frame(60);
	m_adj(n, -46);
	m_cat(m, n);
	transmit(ifp, m);
	m = frame(60);
	m_adj(m, -26);
	memmove(m_frame(m) + MBUF_FRAME_SIZE - 34, m->m_data, 34);
	m->m_data = m_frame(m) + MBUF_FRAME_SIZE - 34;
	transmit(ifp, m);
	assert_int_equal(nsent, 2);
	for (unsigned int k = 0; k < nsent; k++) {
		assert_int_equal(sent[k]->m_pkthdr.len, 60);
		m_copydata(sent[k], 0, 60, out);
		for (int i = 34; i < 60; i++)
			assert_int_equal(out[i], 0);
		m_freem(sent[k]);
	}
	nsent = 0;
	if_detach(ifp);
	if_free(ifp);
}

static void
test_transmit(void **state)
{
	struct ifnet *ifp = make_if("p0", keep_output);
	uint8_t out[2000];
	struct mbuf *m;

	transmit(ifp, frame(60));
	assert_int_equal(nsent, 0);
	assert_int_equal(if_counter(ifp, IFC_DROPS +
	    (enum if_counter)IFD_DOWN), 1);
	assert_int_equal(if_setflags(ifp, IFF_UP, 0), 0);

	/* Short frames are padded with zeros, whatever the memory held. */
	m = frame(200);
	m_adj(m, -166);
	transmit(ifp, m);
	m_copydata(sent[0], 0, 60, out);
	assert_int_equal(sent[0]->m_pkthdr.len, 60);
	for (int i = 34; i < 60; i++)
		assert_int_equal(out[i], 0);

	/* The tag goes into the frame behind the addresses. */
	m = frame(60);
	m->m_flags |= M_VLANTAG;
	m->m_pkthdr.ether_vtag = 0x6064;
	m->m_pkthdr.ether_vproto = ETHERTYPE_QINQ;
	transmit(ifp, m);
	m_copydata(sent[1], 0, 64, out);
	assert_int_equal(sent[1]->m_pkthdr.len, 64);
	assert_memory_equal(out + 10, "\x0a\x0b\x88\xa8\x60\x64\x0c\x0d", 8);
	/* Unless the device does it. */
	atomic_store(&ifp->if_capenable, IFCAP_VLAN_HWTAGGING | IFCAP_TXCSUM);
	m = frame(60);
	m->m_flags |= M_VLANTAG;
	m->m_pkthdr.csum_flags = CSUM_PARTIAL;
	m->m_pkthdr.csum_start = 100;
	transmit(ifp, m);
	assert_int_equal(sent[2]->m_flags & M_VLANTAG, M_VLANTAG);

	/* A partial checksum is finished; one outside the packet drops it. */
	atomic_store(&ifp->if_capenable, 0);
	m = frame(100);
	m->m_pkthdr.csum_flags = CSUM_PARTIAL;
	m->m_pkthdr.csum_start = 34;
	m->m_pkthdr.csum_offset = 16;
	transmit(ifp, m);
	m_copydata(sent[3], 0, 100, out);
	assert_int_equal(sent[3]->m_pkthdr.csum_flags, 0);
	for (int i = 0; i < 100; i++)
		if (i != 50 && i != 51)
			assert_int_equal(out[i], i);
	out[50] = 50;
	out[51] = 51;
	{
		uint16_t want = in_cksum(out + 34, 66);
		uint16_t got;

		m_copydata(sent[3], 50, 2, &got);
		assert_int_equal(got, want);
	}
	m = frame(100);
	m->m_pkthdr.csum_flags = CSUM_PARTIAL;
	m->m_pkthdr.csum_start = 99;
	transmit(ifp, m);
	assert_int_equal(nsent, 4);
	assert_int_equal(if_counter(ifp, IFC_OPACKETS), 4);
	assert_int_equal(if_counter(ifp, IFC_OBYTES), 60 + 64 + 60 + 100);
	assert_int_equal(if_counter(ifp, IFC_OERRORS), 1);

	/* What the driver could not send was not sent. */
	if_output_drop(ifp, sent, 2, IFD_TXRING);
	assert_int_equal(if_counter(ifp, IFC_OPACKETS), 2);
	assert_int_equal(if_counter(ifp, IFC_OBYTES), 160);
	assert_int_equal(if_counter(ifp, IFC_OQDROPS), 2);
	m_free_burst(sent + 2, 2);
	if_detach(ifp);
	transmit(ifp, frame(60));
	assert_int_equal(if_counter(ifp, IFC_DROPS +
	    (enum if_counter)IFD_NOIF), 1);
	/* What it counted outlives it. */
	if_free(ifp);
	NET_EPOCH_DRAIN_CALLBACKS();
	assert_int_equal(vnet_counter(vnet, IFC_DROPS +
	    (enum if_counter)IFD_NOIF), 1);
	assert_int_equal(vnet_counter(vnet, IFC_OQDROPS), 2);
}

/* More interfaces than slots. */
#define	TXIFS	(IF_TXBURST_SLOTS + 3)

static void
test_txburst(void **state)
{
	struct ifnet *ifp[TXIFS];
	struct epoch_tracker et;
	struct if_txburst tb;
	char name[IFNAMLEN];

	for (int i = 0; i < TXIFS; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		ifp[i] = make_if(name, free_output);
		assert_int_equal(if_setflags(ifp[i], IFF_UP, 0), 0);
	}
	NET_EPOCH_ENTER(et);
	if_txburst_init(&tb);
	for (int i = 0; i < 600; i++)
		if_txburst_add(&tb, ifp[i < 200 ? 0 : i % TXIFS], frame(60));
	if_txburst_flush(&tb);
	NET_EPOCH_EXIT(et);
	for (int i = 0; i < TXIFS; i++) {
		uint64_t want = i == 0 ? 200 : 0;

		for (int k = 200; k < 600; k++)
			want += k % TXIFS == i ? 1 : 0;
		assert_int_equal(if_counter(ifp[i], IFC_OPACKETS), want);
		if_detach(ifp[i]);
		if_free(ifp[i]);
	}
}

#define	CHURN_NS	UINT64_C(3000000000)

/* Readers by index, while interfaces come and go: no touch of a freed one. */
static _Atomic bool stop_readers;

static void
reader_main(void *arg)
{
	struct epoch_tracker et;
	struct ifnet *ifp;
	struct mbuf *m;

	while (!stop_readers) {
		NET_EPOCH_ENTER(et);
		for (uint32_t i = 1; i < 8; i++) {
			ifp = if_byindex(vnet, i);
			if (ifp == NULL)
				continue;
			if (if_try_ref(ifp))
				if_rele(ifp);
			if ((m = m_gethdr()) != NULL) {
				m->m_len = m->m_pkthdr.len = 60;
				if_transmit(ifp, &m, 1);
				atomic_fetch_add_explicit(&reader_saw, 1,
				    memory_order_relaxed);
			}
		}
		NET_EPOCH_EXIT(et);
	}
}

static void
test_churn(void **state)
{
	const struct in_addr none = { 0 };
	uint64_t end = time_ns() + CHURN_NS;
	struct thread *td[2];
	struct ifnet *ifp;

	stop_readers = false;
	for (int i = 0; i < 2; i++)
		assert_int_equal(thread_create(&td[i], "reader",
		    THREAD_ANY_CPU, reader_main, NULL), 0);
	/* A loaded machine makes fewer rounds, but some. */
	for (int i = 0; i < 20 || reader_saw == 0 ||
	    (i < 2000 && time_ns() < end); i++) {
		ifp = make_if("churn", free_output);
		assert_int_equal(if_addr_add(ifp, ip("192.0.2.1"), 24, none,
		    none), 0);
		assert_int_equal(if_setflags(ifp, IFF_UP, 0), 0);
		if_detach(ifp);
		if_free(ifp);
		events[0] = '\0';
	}
	stop_readers = true;
	for (int i = 0; i < 2; i++)
		thread_join(td[i]);
}

static void
test_move(void **state)
{
	struct vnet *home = vnet, *away;
	struct ifnet *ifp;

	assert_int_equal(setup(NULL), 0);
	away = vnet;
	vnet = home;
	VNET_CONFIG_UNLOCK(vnet);	/* setup() took it once more */
	ifp = make_if("lent", free_output);
	assert_int_equal(if_moveto(ifp, away), 0);
	assert_null(if_byname(home, "lent"));
	assert_ptr_equal(if_byname(away, "lent"), ifp);
	assert_int_equal(if_moveto(ifp, home), 0);
	assert_ptr_equal(if_byname(home, "lent"), ifp);
	assert_null(if_byname(away, "lent"));
	if_detach(ifp);
	assert_int_equal(if_moveto(ifp, away), EBUSY);
	if_free(ifp);
	vnet_free(away);
}

static void
test_spec(void **state)
{
	static const char *const bad[] = { "", ":x", "a:", "a,", "a,=1",
	    "a b", "a:b,c,,d", "a\n", ",x",
	    "x,1,2,3,4,5,6,7,8,9,10,11,12,13" };
	struct if_spec sp;
	char err[160], lng[200];

	for (size_t i = 0; i < nitems(bad); i++) {
		assert_int_equal(if_spec_parse(bad[i], &sp, err, sizeof(err)),
		    EINVAL);
		assert_non_null(strstr(err, "expected"));
	}
	memset(lng, 'a', sizeof(lng));
	lng[199] = '\0';
	assert_int_equal(if_spec_parse(lng, &sp, err, sizeof(err)), EINVAL);
	assert_int_equal(if_spec_parse("xdp:veth2,mode=generic,force", &sp,
	    err, sizeof(err)), 0);
	assert_string_equal(sp.sp_driver, "xdp");
	assert_string_equal(sp.sp_device, "veth2");
	assert_string_equal(if_spec_option(&sp, "mode"), "generic");
	assert_null(if_spec_option(&sp, "copy"));
	assert_int_equal(if_spec_unused(&sp, err, sizeof(err)), EINVAL);
	assert_string_equal(err, "driver xdp has no option 'force'");
	assert_string_equal(if_spec_option(&sp, "force"), "");
	assert_int_equal(if_spec_unused(&sp, err, sizeof(err)), 0);
}

int
main(void)
{
#define	T(fn)	cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_life), T(test_refused_attach), T(test_settings),
		T(test_addresses), T(test_transmit), T(test_padding),
		T(test_txburst),
		T(test_churn), T(test_move), cmocka_unit_test(test_spec),
	};
#undef T

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
