/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * ARP: whom we answer, from whom we learn, how we ask.
 *
 * The table is the route room's (lltable); here is the protocol.  We learn
 * from a request to us (which makes an entry), from a reply to us and from an
 * announcement (which only change one that is there: nobody fills our table
 * unasked).  What hosts say to each other is not used.  A packet is copied
 * out before it is looked at; every field is checked first.
 *
 * Packets come on any thread, inside the epoch.  Address events come with the
 * configuration lock held and outside it, so the announcements they cause go
 * through iv_garps (iv_garp_mtx) to a callout, which runs inside.  Log lines
 * that a host can cause are limited and can be switched off.
 *
 * RFC 826, RFC 5227, RFC 1812 3.3.2.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ether/ether_var.h"
#include "ip/ip_private.h"
#include "sys/thread.h"
#include "wire/arp.h"
#include "wire/ether.h"
#include "wire/ip_icmp.h"

#define	NS_PER_S	1000000000ull
#define	ARP_MAC_TEXT	18		/* with the NUL */

static const uint8_t arp_broadcast[ETHER_ADDR_LEN] = {
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff
};

static const char *
arp_mac_text(const uint8_t *mac, char *buf)
{

	(void)snprintf(buf, ARP_MAC_TEXT, "%02x:%02x:%02x:%02x:%02x:%02x",
	    mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
	return (buf);
}

/* The MAC of ifp, which may change under us, but not half. */
static void
arp_own_mac(struct ifnet *ifp, uint8_t *mac)
{
	uint64_t mac48;

	mac48 = atomic_load_explicit(&ifp->if_lladdr48, memory_order_relaxed);
	memcpy(mac, &mac48, ETHER_ADDR_LEN);
}

/* May a line of this level be written?  on: its own switch. */
static bool
arp_may_log(const struct ip_vnet *iv, int level, int on)
{

	return (on != 0 && level <= ip_tunable(&iv->iv_arp_loglevel) &&
	    ip_tunable(&iv->iv_arp_lograte) > 0);
}

#define	ARP_LOG(iv, level, on, ...) do {				\
	if (arp_may_log((iv), (level), (on)))				\
		log_limited(&(iv)->iv_log_arp,				\
		    (uint32_t)ip_tunable(&(iv)->iv_arp_lograte),	\
		    (level), __VA_ARGS__);				\
} while (0)

/* Our address on ifp that is addr, or NULL.  Inside the epoch. */
static const struct ifaddr *
arp_find_own(struct ifnet *ifp, struct in_addr addr)
{
	const struct ifaddr *ifa;

	CK_STAILQ_FOREACH(ifa, &ifp->if_addrs, ifa_link)
		if (ifa_is_inet(ifa) &&
		    ifa->ifa_addr.s_addr == addr.s_addr)
			return (ifa);
	return (NULL);
}

/* Our address on ifp whose network addr is in, or NULL. */
static const struct ifaddr *
arp_find_net(struct ifnet *ifp, struct in_addr addr)
{
	const struct ifaddr *ifa;

	CK_STAILQ_FOREACH(ifa, &ifp->if_addrs, ifa_link)
		if (ifa_is_inet(ifa) &&
		    ((ifa->ifa_addr.s_addr ^ addr.s_addr) &
		    ifa->ifa_mask.s_addr) == 0)
			return (ifa);
	return (NULL);
}

/* Send what ah says, to dst. */
static void
arp_send(struct ifnet *ifp, const struct ether_arp *ah, const uint8_t *dst)
{
	struct mbuf *m;

	if ((m = m_gethdr()) == NULL) {
		if_count_drop(ifp, IFD_NOMBUF, 1);
		return;
	}
	m->m_len = m->m_pkthdr.len = sizeof(*ah);
	memcpy(m->m_data, ah, sizeof(*ah));
	ether_output(ifp, m, dst, ETHERTYPE_ARP);
}

/* A packet from us: op, our address, our MAC; the target is the caller's. */
static void
arp_fill(struct ifnet *ifp, struct ether_arp *ah, uint16_t op,
    struct in_addr own)
{

	*ah = (struct ether_arp){ .arp_hrd = htons(ARPHRD_ETHER),
	    .arp_pro = htons(ETHERTYPE_IP), .arp_hln = ETHER_ADDR_LEN,
	    .arp_pln = sizeof(own), .arp_op = htons(op), .arp_spa = own };
	arp_own_mac(ifp, ah->arp_sha);
}

/* Can ifp speak ARP now? */
static bool
arp_speaks(struct ifnet *ifp)
{

	return ((ip_if_flags(ifp) & (IFF_UP | IFF_NOARP | IFF_LOOPBACK)) ==
	    IFF_UP);
}

/*
 * lp_request: ask on ifp who has addr, from our address in its network (a
 * host may not answer a stranger).  unicast: only the host with this MAC.
 */
static void
arp_request(struct ifnet *ifp, struct in_addr addr, const uint8_t *unicast)
{
	const struct ifaddr *ifa;
	struct ether_arp ah;

	NET_EPOCH_ASSERT();

	if ((ifa = arp_find_net(ifp, addr)) == NULL)
		ifa = if_addr_for(ifp, addr);
	if (ifa == NULL || !arp_speaks(ifp))
		return;
	arp_fill(ifp, &ah, ARPOP_REQUEST, ifa->ifa_addr);
	ah.arp_tpa = addr;
	ip_count(ip_if_vnet(ifp)->v_ip, ARPS_TXREQUESTS, 1);
	arp_send(ifp, &ah, unicast != NULL ? unicast : arp_broadcast);
}

/* lp_failed: addr is silent, m waited for it. */
static void
arp_failed(struct ifnet *ifp, struct in_addr addr, struct mbuf *m)
{

	NET_EPOCH_ASSERT();

	(void)addr;
	ip_error(ifp, m, IFD_ARPFAIL, ICMP_UNREACH, ICMP_UNREACH_HOST, 0);
}

/* lp_expired: n entries were forgotten for their age. */
static void
arp_expired(struct ifnet *ifp, unsigned int n)
{

	ip_count(ip_if_vnet(ifp)->v_ip, ARPS_TIMEOUTS, n);
}

/* Say to everybody that addr, one of ifp's, is here (RFC 5227 2.3). */
static void
arp_announce(struct ifnet *ifp, struct in_addr addr)
{
	struct ether_arp ah;

	if (!arp_speaks(ifp) || arp_find_own(ifp, addr) == NULL)
		return;
	arp_fill(ifp, &ah, ARPOP_REQUEST, addr);
	ah.arp_tpa = addr;
	ip_count(ip_if_vnet(ifp)->v_ip, ARPS_TXREQUESTS, 1);
	arp_send(ifp, &ah, arp_broadcast);
}

/* Answer the request q: addr is at mac (NULL: at ours). */
static void
arp_reply(struct ifnet *ifp, const struct ether_arp *q, struct in_addr addr,
    const uint8_t *mac)
{
	struct ether_arp ah;

	arp_fill(ifp, &ah, ARPOP_REPLY, addr);
	if (mac != NULL)
		memcpy(ah.arp_sha, mac, ETHER_ADDR_LEN);
	memcpy(ah.arp_tha, q->arp_sha, ETHER_ADDR_LEN);
	ah.arp_tpa = q->arp_spa;
	ip_count(ip_if_vnet(ifp)->v_ip, ARPS_TXREPLIES, 1);
	arp_send(ifp, &ah, q->arp_sha);
}

/* The fixed fields. */
static bool
arp_format_ok(const struct ether_arp *ah)
{

	return (ah->arp_hrd == htons(ARPHRD_ETHER) &&
	    ah->arp_pro == htons(ETHERTYPE_IP) &&
	    ah->arp_hln == ETHER_ADDR_LEN &&
	    ah->arp_pln == sizeof(struct in_addr) &&
	    (ah->arp_op == htons(ARPOP_REQUEST) ||
	    ah->arp_op == htons(ARPOP_REPLY)));
}

/*
 * Can a host have sent this?  Its MAC is one station's (RFC 1812 3.3.2), its
 * address a host's or, in a probe, none.
 */
static bool
arp_sender_ok(struct ifnet *ifp, const struct ether_arp *ah)
{
	struct ip_vnet *iv = ip_if_vnet(ifp)->v_ip;
	const struct ifaddr *ifa;
	char addr[INET_ADDRSTRLEN], mac[ARP_MAC_TEXT];

	if (ether_is_zero(ah->arp_sha) || ether_is_broadcast(ah->arp_sha) ||
	    (ether_is_multicast(ah->arp_sha) &&
	    ip_tunable(&iv->iv_arp_mcast) == 0)) {
		ARP_LOG(iv, LOG_NOTICE, 1,
		    "arp: %s is no station's address, said by %s on %s",
		    arp_mac_text(ah->arp_sha, mac),
		    inet_ntop(AF_INET, &ah->arp_spa, addr, sizeof(addr)),
		    ifp->if_name);
		return (false);
	}
	if (ah->arp_spa.s_addr == INADDR_ANY)
		return (ah->arp_op == htons(ARPOP_REQUEST));
	if (!ip_addr_host(ah->arp_spa))
		return (false);
	ifa = arp_find_net(ifp, ah->arp_spa);
	return (ifa == NULL || ifa->ifa_broadaddr.s_addr == INADDR_ANY ||
	    ifa->ifa_broadaddr.s_addr != ah->arp_spa.s_addr);
}

/* A sender that belongs to another of our links is worth a line. */
static void
arp_check_link(struct ifnet *ifp, const struct ether_arp *ah)
{
	struct vnet *vnet = ip_if_vnet(ifp);
	struct ip_vnet *iv = vnet->v_ip;
	char addr[INET_ADDRSTRLEN], mac[ARP_MAC_TEXT];
	const struct nhop *nh;

	nh = fib4_lookup(vnet->v_fib4, ah->arp_spa.s_addr);
	if (nh == NULL || nh->nh_ifp == ifp ||
	    (nh->nh_flags & (NHF_SPECIAL | NHF_GATEWAY)) != 0)
		return;
	ARP_LOG(iv, LOG_ERR, ip_tunable(&iv->iv_arp_logwrong),
	    "arp: %s is on %s but got %s from %s on %s",
	    inet_ntop(AF_INET, &ah->arp_spa, addr, sizeof(addr)),
	    nh->nh_ifp->if_name,
	    ah->arp_op == htons(ARPOP_REQUEST) ? "request" : "reply",
	    arp_mac_text(ah->arp_sha, mac), ifp->if_name);
}

/* Take note of the sender; create: also if we do not know it yet. */
static void
arp_learn(struct ifnet *ifp, const struct ether_arp *ah, bool create)
{
	struct ip_vnet *iv = ip_if_vnet(ifp)->v_ip;
	char addr[INET_ADDRSTRLEN], mac[ARP_MAC_TEXT], was[ARP_MAC_TEXT];
	uint8_t old[ETHER_ADDR_LEN];

	if ((ip_if_flags(ifp) & IFF_STATICARP) != 0)
		return;
	if (arp_find_net(ifp, ah->arp_spa) == NULL) {
		arp_check_link(ifp, ah);
		return;
	}
	switch (lla_heard(ifp, ah->arp_spa, ah->arp_sha, create, old)) {
	case LLA_MOVED:
		ARP_LOG(iv, LOG_INFO, ip_tunable(&iv->iv_arp_logmove),
		    "arp: %s moved from %s to %s on %s",
		    inet_ntop(AF_INET, &ah->arp_spa, addr, sizeof(addr)),
		    arp_mac_text(old, was), arp_mac_text(ah->arp_sha, mac),
		    ifp->if_name);
		break;
	case LLA_STATIC:
		if (ether_addr_equal(old, ah->arp_sha))
			break;
		ARP_LOG(iv, LOG_ERR, ip_tunable(&iv->iv_arp_logperm),
		    "arp: %s attempts to modify permanent entry for %s on %s",
		    arp_mac_text(ah->arp_sha, mac),
		    inet_ntop(AF_INET, &ah->arp_spa, addr, sizeof(addr)),
		    ifp->if_name);
		break;
	default:
		break;
	}
}

/*
 * Answer for an address that is not ours, if the operator published it or
 * wants us to answer for all that we have a way to.  True: answered.
 */
static bool
arp_proxy(struct ifnet *ifp, const struct ether_arp *ah)
{
	struct vnet *vnet = ip_if_vnet(ifp);
	const struct nhop *nh;
	struct llentry *lle;
	uint32_t flags = 0;

	if ((lle = lla_lookup(ifp, ah->arp_tpa)) != NULL)
		flags = atomic_load_explicit(&lle->lle_flags,
		    memory_order_acquire);
	if ((flags & (LLE_PUB | LLE_VALID | LLE_DELETED)) ==
	    (LLE_PUB | LLE_VALID)) {
		arp_reply(ifp, ah, ah->arp_tpa, lle->lle_hdr);
		return (true);
	}
	if (ip_tunable(&vnet->v_ip->iv_arp_proxyall) == 0 ||
	    ip_tunable(&vnet->v_ip_forwarding) == 0)
		return (false);
	nh = fib4_lookup(vnet->v_fib4, ah->arp_tpa.s_addr);
	if (nh == NULL || nh->nh_ifp == ifp ||
	    (nh->nh_flags & NHF_SPECIAL) != 0)
		return (false);
	arp_reply(ifp, ah, ah->arp_tpa, NULL);
	return (true);
}

/* Somebody else uses our address: log, and defend it if he asked. */
static void
arp_conflict(struct ifnet *ifp, const struct ether_arp *ah)
{
	struct ip_vnet *iv = ip_if_vnet(ifp)->v_ip;
	char addr[INET_ADDRSTRLEN], mac[ARP_MAC_TEXT];

	ip_count(iv, ARPS_DUPIPS, 1);
	ARP_LOG(iv, LOG_ERR, 1, "arp: %s is using my IP address %s on %s!",
	    arp_mac_text(ah->arp_sha, mac),
	    inet_ntop(AF_INET, &ah->arp_spa, addr, sizeof(addr)),
	    ifp->if_name);
	if (ah->arp_op == htons(ARPOP_REQUEST))
		arp_reply(ifp, ah, ah->arp_spa, NULL);
}

/*
 * A packet in the right form, from a possible sender.  Returns whether it
 * concerned us.
 */
static bool
arp_process(struct ifnet *ifp, const struct ether_arp *ah)
{
	bool request = ah->arp_op == htons(ARPOP_REQUEST);
	bool probe = ah->arp_spa.s_addr == INADDR_ANY;
	bool mine = arp_find_own(ifp, ah->arp_tpa) != NULL;

	if (!probe && arp_find_own(ifp, ah->arp_spa) != NULL) {
		arp_conflict(ifp, ah);
		return (true);
	}
	if (!probe && (mine || ah->arp_spa.s_addr == ah->arp_tpa.s_addr))
		arp_learn(ifp, ah, mine && request);
	if (mine && request)
		arp_reply(ifp, ah, ah->arp_tpa, NULL);
	else if (request && !mine && ah->arp_spa.s_addr != ah->arp_tpa.s_addr)
		return (arp_proxy(ifp, ah));
	return (mine || ah->arp_spa.s_addr == ah->arp_tpa.s_addr);
}

static void
arp_input_one(struct ifnet *ifp, struct mbuf *m)
{
	struct ip_vnet *iv = ip_if_vnet(ifp)->v_ip;
	enum if_drop why = IFD_ARPBAD;
	uint8_t own[ETHER_ADDR_LEN];
	struct ether_arp ah;

	if (m->m_pkthdr.len < sizeof(ah))
		goto drop;
	m_copydata(m, 0, sizeof(ah), &ah);
	if (!arp_format_ok(&ah))
		goto drop;
	ip_count(iv, ah.arp_op == htons(ARPOP_REQUEST) ? ARPS_RXREQUESTS :
	    ARPS_RXREPLIES, 1);
	why = IFD_ARPOTHER;
	if (!arp_speaks(ifp))
		goto drop;
	arp_own_mac(ifp, own);
	if (ether_addr_equal(ah.arp_sha, own))
		goto drop;
	why = IFD_ARPADDR;
	if (!arp_sender_ok(ifp, &ah))
		goto drop;
	why = IFD_ARPOTHER;
	if (!arp_process(ifp, &ah))
		goto drop;
	m_freem(m);
	return;
drop:
	if_drop(ifp, m, why);
}

/* From the link: n <= MBUF_BURST packets.  Consumes all; inside the epoch. */
void
arp_input(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	unsigned int i;

	NET_EPOCH_ASSERT();

	ip_count(ip_if_vnet(ifp)->v_ip, ARPS_RECEIVED, n);
	for (i = 0; i < n; i++)
		arp_input_one(ifp, m[i]);
}

/*
 * Send the announcements that are due, and plan their repetition.  now:
 * time_ns().  From the callouts, inside the epoch.
 */
void
arp_garp_run(struct ip_vnet *iv, uint64_t now)
{
	struct arp_garp *ag, *next;
	struct ifnet *ifp;
	TAILQ_HEAD(, arp_garp) due = TAILQ_HEAD_INITIALIZER(due);

	NET_EPOCH_ASSERT();

	mtx_lock(&iv->iv_garp_mtx);
	for (ag = TAILQ_FIRST(&iv->iv_garps); ag != NULL; ag = next) {
		next = TAILQ_NEXT(ag, ag_link);
		if (ag->ag_when > now)
			continue;
		TAILQ_REMOVE(&iv->iv_garps, ag, ag_link);
		TAILQ_INSERT_TAIL(&due, ag, ag_link);
	}
	mtx_unlock(&iv->iv_garp_mtx);

	while ((ag = TAILQ_FIRST(&due)) != NULL) {
		TAILQ_REMOVE(&due, ag, ag_link);
		ifp = if_byindex(iv->iv_vnet, ag->ag_ifindex);
		if (ifp != NULL)
			arp_announce(ifp, ag->ag_addr);
		if (ifp == NULL || ag->ag_left <= 0) {
			free(ag);
			continue;
		}
		ag->ag_left--;
		ag->ag_when = now + ag->ag_gap;
		ag->ag_gap *= 2;
		mtx_lock(&iv->iv_garp_mtx);
		TAILQ_INSERT_TAIL(&iv->iv_garps, ag, ag_link);
		mtx_unlock(&iv->iv_garp_mtx);
	}
}

static void
arp_garp_cb(void *arg)
{

	arp_garp_run(arg, time_ns());
}

/*
 * Plan the announcement of an address, once however often it is asked for;
 * without memory it is left out.
 */
static void
arp_garp_plan(struct ip_vnet *iv, struct ifnet *ifp, struct in_addr addr)
{
	struct arp_garp *ag, *old;

	if ((ag = calloc(1, sizeof(*ag))) == NULL)
		return;
	ag->ag_addr = addr;
	ag->ag_ifindex = ifp->if_index;
	ag->ag_left = ip_tunable(&iv->iv_arp_garps);
	ag->ag_gap = NS_PER_S;
	mtx_lock(&iv->iv_garp_mtx);
	TAILQ_FOREACH(old, &iv->iv_garps, ag_link)
		if (old->ag_addr.s_addr == addr.s_addr &&
		    old->ag_ifindex == ifp->if_index)
			break;
	if (old != NULL)
		TAILQ_REMOVE(&iv->iv_garps, old, ag_link);
	TAILQ_INSERT_TAIL(&iv->iv_garps, ag, ag_link);
	mtx_unlock(&iv->iv_garp_mtx);
	free(old);
	(void)callout_reset(&iv->iv_garp_callout, 0, arp_garp_cb, iv);
}

/* Configuration lock held: an address or a MAC is new, or a link is up. */
static int
arp_event(void *arg, struct ifnet *ifp, enum if_event ev, struct ifaddr *ifa)
{
	struct ip_vnet *iv = arg;
	const struct ifaddr *each;

	if ((ip_if_flags(ifp) & IFF_LOOPBACK) != 0)
		return (0);
	if (ev == IF_EVENT_ADDR_ADD && ifa->ifa_family == AF_INET)
		arp_garp_plan(iv, ifp, ifa->ifa_addr);
	else if (ev == IF_EVENT_LLADDR ||
	    (ev == IF_EVENT_LINK && (ip_if_flags(ifp) & IFF_UP) != 0))
		CK_STAILQ_FOREACH(each, &ifp->if_addrs, ifa_link)
			if (each->ifa_family == AF_INET)
				arp_garp_plan(iv, ifp, each->ifa_addr);
	return (0);
}

/* Before the first interface of iv's vnet; its tunables are set. */
void
arp_vnet_init(struct ip_vnet *iv)
{
	struct vnet *vnet = iv->iv_vnet;

	mtx_init(&iv->iv_garp_mtx, "arp_garp");
	TAILQ_INIT(&iv->iv_garps);
	callout_init(&iv->iv_garp_callout, vnet->v_callouts, CALLOUT_NET,
	    NULL);
	iv->iv_arp_proto = (struct lltable_proto){
		.lp_request = arp_request,
		.lp_failed = arp_failed,
		.lp_expired = arp_expired,
		.lp_params = &iv->iv_arp,
	};
	lltable_set_proto(vnet, &iv->iv_arp_proto);
	if_event_register(vnet, arp_event, iv);
}

/* After the last interface.  Outside the epoch. */
void
arp_vnet_fini(struct ip_vnet *iv)
{
	struct arp_garp *ag;

	callout_drain(&iv->iv_garp_callout);
	while ((ag = TAILQ_FIRST(&iv->iv_garps)) != NULL) {
		TAILQ_REMOVE(&iv->iv_garps, ag, ag_link);
		free(ag);
	}
	mtx_destroy(&iv->iv_garp_mtx);
}
