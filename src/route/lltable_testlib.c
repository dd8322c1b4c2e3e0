/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the tests of neighbours share; see the header.
 */
#include "route/lltable_testlib.h"

#include <arpa/inet.h>

#include "route/route_private.h"

struct vnet *vnet;
struct ifnet *p0, *p1;
struct lltable_params params;
char asked[1024], failed[1024];
struct mbuf *sent[MAXSENT];
unsigned int nsent;
bool quiet;

const uint8_t mac_p0[6] = { 2, 0, 0, 0, 1, 0 };
const uint8_t mac_a[6] = { 2, 0, 0, 0, 10, 1 };
const uint8_t mac_b[6] = { 2, 0, 0, 0, 11, 1 };

struct in_addr
ip4(const char *text)
{
	struct in_addr a;

	assert_int_equal(inet_pton(AF_INET, text, &a), 1);
	return (a);
}

struct in_addr
host(unsigned int n)
{
	return ((struct in_addr){ htonl(0xc0000200 + n) });
}

static void
rec_request(struct ifnet *ifp, struct in_addr addr, const uint8_t *unicast)
{
	size_t len = strlen(asked);

	NET_EPOCH_ASSERT();
	if (quiet)
		return;
	snprintf(asked + len, sizeof(asked) - len, "%c%u ",
	    ifp != p0 ? '?' : unicast == NULL ? 'b' :
	    memcmp(unicast, mac_a, 6) == 0 ? 'u' : 'v',
	    ntohl(addr.s_addr) & 0xffff);
}

static void
rec_failed(struct ifnet *ifp, struct in_addr addr, struct mbuf *m)
{
	size_t len = strlen(failed);

	NET_EPOCH_ASSERT();
	if (!quiet)
		snprintf(failed + len, sizeof(failed) - len, "%u:%u ",
		    ntohl(addr.s_addr) & 0xff, m->m_pkthdr.rcvif == NULL ? 0 :
		    m->m_pkthdr.rcvif->if_index);
	m_freem(m);
}

static const struct lltable_proto proto = {
	.lp_request = rec_request,
	.lp_failed = rec_failed,
	.lp_params = &params,
};

static void
rec_output(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (quiet || nsent == MAXSENT)
			m_freem(m[i]);
		else
			sent[nsent++] = m[i];
	}
}

static void
free_burst(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	m_free_burst(m, n);
}

static const struct if_linktype linktype = {
	.lt_type = IFT_ETHER,
	.lt_input = free_burst,
};

struct ifnet *
make_if(const char *name)
{
	struct ifnet *ifp;

	assert_int_equal(if_alloc(vnet, IFT_ETHER, name, &ifp), 0);
	atomic_store(&ifp->if_output, rec_output);
	atomic_fetch_or(&ifp->if_flags, IFF_BROADCAST);
	assert_int_equal(if_setlladdr(ifp, mac_p0), 0);
	assert_int_equal(if_attach(ifp), 0);
	assert_int_equal(if_setflags(ifp, IFF_UP, 0), 0);
	return (ifp);
}

void
forget(void)
{
	asked[0] = failed[0] = '\0';
	m_free_burst(sent, nsent);
	nsent = 0;
}

int
setup(void **state)
{
	static bool mbufs;

	if (!mbufs)
		assert_int_equal(mbuf_init(4096), 0);
	mbufs = true;
	params = (struct lltable_params){ 1200, 20, 5, 16, 16384 };
	quiet = false;
	assert_non_null(vnet = vnet_alloc());
	VNET_CONFIG_LOCK(vnet);
	assert_int_equal(route_vnet_init(vnet), 0);
	assert_int_equal(if_linktype_register(vnet, &linktype), 0);
	lltable_set_proto(vnet, &proto);
	p0 = make_if("p0");
	p1 = make_if("p1");
	assert_int_equal(if_addr_add(p0, ip4("192.0.2.1"), 22, ip4("0.0.0.0"),
	    ip4("0.0.0.0")), 0);
	forget();
	return (0);
}

int
teardown(void **state)
{
	struct ifnet *ifp;

	forget();
	while ((ifp = CK_STAILQ_FIRST(&vnet->v_ifnets)) != NULL) {
		if_detach(ifp);
		if_free(ifp);
	}
	route_vnet_fini(vnet);
	VNET_CONFIG_UNLOCK(vnet);
	NET_EPOCH_DRAIN_CALLBACKS();
	NET_EPOCH_DRAIN_CALLBACKS();
	vnet_free(vnet);
	assert_int_equal(mbuf_nfree(), mbuf_nframes());
	return (0);
}

bool
send_to(struct in_addr dst, uint8_t mark, const uint8_t *mac)
{
	struct epoch_tracker et;
	const struct nhop *nh;
	uint8_t data[100];
	struct mbuf *m;
	bool ok;

	memset(data, mark, sizeof(data));
	assert_non_null(m = m_devget(data, sizeof(data)));
	m->m_pkthdr.rcvif = p1;
	NET_EPOCH_ENTER(et);
	nh = fib4_lookup(vnet->v_fib4, dst.s_addr);
	ok = nh != NULL && nhop_resolve(nh, dst, m);
	NET_EPOCH_EXIT(et);
	assert_non_null(nh);
	if (!ok)
		return (false);
	assert_int_equal(m->m_pkthdr.len, 114);
	if (mac != NULL) {
		assert_memory_equal(m->m_data, mac, 6);
		assert_memory_equal(m->m_data + 6, p0->if_lladdr, 6);
		assert_memory_equal(m->m_data + 12, "\x08\x00", 2);
		assert_memory_equal(m->m_data + 14, data, 100);
	}
	m_freem(m);
	return (true);
}

enum lla_heard
hear(struct in_addr addr, const uint8_t *mac, bool create, uint8_t *old)
{
	struct epoch_tracker et;
	uint8_t unused[6];
	enum lla_heard what;

	NET_EPOCH_ENTER(et);
	what = lla_heard(p0, addr, mac, create, old != NULL ? old : unused);
	NET_EPOCH_EXIT(et);
	return (what);
}

void
tick(uint64_t now)
{
	struct epoch_tracker et;

	NET_EPOCH_ENTER(et);
	lltable_tick(vnet, now);
	NET_EPOCH_EXIT(et);
}
