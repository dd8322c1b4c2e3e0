/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * IPv4: putting together what was sent to this router in fragments.
 *
 * Fragments are hostile until the packet is whole.  Bounded are: the packets
 * in work (net.inet.ip.maxfragpackets), the frames held by all of them, the
 * fragments of one (net.inet.ip.maxfragsperpacket), and the time (30 s); of the
 * first two the oldest packets make room for new ones.  Fragments that
 * overlap, or disagree about the end, kill their packet, which takes no more
 * until its time is over (RFC 5722, whose reason holds for IPv4 as well); one
 * that comes twice is ignored.
 *
 * A packet in work belongs to ir_mtx.  Nothing is allocated or freed under
 * it: the packets are a pool, and mbufs to be freed leave on a list.  Inside
 * the epoch.  RFC 791 3.2, RFC 3168 5.3, RFC 1858.
 */
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include "ip/ip_private.h"
#include "sys/thread.h"
#include "wire/in_cksum.h"
#include "wire/ip_icmp.h"

#define	NS_PER_S	1000000000ull

/* A fragment in the list keeps these numbers in m_cookie. */
#define	FRAG_OFF	0		/* offset of its data, bytes */
#define	FRAG_LEN	1		/* bytes of data */
#define	FRAG_MBUFS	2		/* frames in its chain */

enum ecn { ECN_NOT, ECN_ECT1, ECN_ECT0, ECN_CE };

/* What became of a fragment. */
enum ip_reass_fate {
	REASS_HELD,
	REASS_WHOLE,		/* the list is the packet */
	REASS_AGAIN,		/* had it: drop this one only */
	REASS_BAD,		/* the packet is dead */
	REASS_LIMIT,		/* too many: the packet is dead */
};

void
ip_reass_init(struct ip_reass *ir, uint64_t seed)
{
	unsigned int i;

	mtx_init(&ir->ir_mtx, "ip_reass");
	TAILQ_INIT(&ir->ir_age);
	TAILQ_INIT(&ir->ir_free);
	for (i = 0; i < IP_REASS_HASH; i++)
		LIST_INIT(&ir->ir_hash[i]);
	for (i = 0; i < IP_REASS_MAX; i++)
		TAILQ_INSERT_TAIL(&ir->ir_free, &ir->ir_pool[i], iq_age);
	ir->ir_seed = seed;
	ir->ir_maxmbufs = mbuf_nframes() / 16;
	atomic_store_explicit(&ir->ir_maxpackets, IP_REASS_MAX / 4,
	    memory_order_relaxed);
	atomic_store_explicit(&ir->ir_maxfrags, 16, memory_order_relaxed);
}

/* Take the fragments of q away from it. */
static struct mbuf *
ip_reass_strip(struct ip_reass *ir, struct ip_reass_q *q)
{
	struct mbuf *list = q->iq_frags;

	MTX_ASSERT(&ir->ir_mtx);

	q->iq_frags = NULL;
	ir->ir_nmbufs -= q->iq_nmbufs;
	q->iq_nmbufs = 0;
	q->iq_nfrags = 0;
	return (list);
}

/* Give q back to the pool; returns its fragments. */
static struct mbuf *
ip_reass_remove(struct ip_reass *ir, struct ip_reass_q *q)
{

	MTX_ASSERT(&ir->ir_mtx);

	LIST_REMOVE(q, iq_chain);
	TAILQ_REMOVE(&ir->ir_age, q, iq_age);
	TAILQ_INSERT_HEAD(&ir->ir_free, q, iq_age);
	ir->ir_npackets--;
	return (ip_reass_strip(ir, q));
}

/* Let the oldest packet go; its fragments go in front of *out. */
static void
ip_reass_evict(struct ip_reass *ir, struct mbuf **out)
{
	struct mbuf *list, **tail;

	list = ip_reass_remove(ir, TAILQ_FIRST(&ir->ir_age));
	for (tail = &list; *tail != NULL; tail = &(*tail)->m_nextpkt)
		continue;
	*tail = *out;
	*out = list;
}

/* Free a list of fragments, counting them. */
static void
ip_reass_drop(struct ifnet *ifp, struct mbuf *list, enum if_drop why)
{
	struct mbuf *m;

	while ((m = list) != NULL) {
		list = m->m_nextpkt;
		m->m_nextpkt = NULL;
		if (ifp != NULL)
			if_drop(ifp, m, why);
		else
			m_freem(m);
	}
}

static unsigned int
ip_reass_hash(const struct ip_reass *ir, const struct ip *ip)
{
	uint64_t key;

	key = (uint64_t)ip->ip_src.s_addr << 32 | ip->ip_dst.s_addr;
	key = ip_mix(ir->ir_seed, key) ^ ((uint64_t)ip->ip_id << 8 | ip->ip_p);
	return (ip_mix(ir->ir_seed, key) % IP_REASS_HASH);
}

/*
 * The packet that ip belongs to, made if need be.  NULL: none may be made.
 * *old gets the fragments of what had to go for it.
 */
static struct ip_reass_q *
ip_reass_find(struct ip_reass *ir, const struct ip *ip, uint64_t now,
    struct mbuf **old)
{
	unsigned int h = ip_reass_hash(ir, ip);
	int max = ip_tunable(&ir->ir_maxpackets);
	struct ip_reass_q *q;

	MTX_ASSERT(&ir->ir_mtx);

	LIST_FOREACH(q, &ir->ir_hash[h], iq_chain)
		if (q->iq_src.s_addr == ip->ip_src.s_addr &&
		    q->iq_dst.s_addr == ip->ip_dst.s_addr &&
		    q->iq_id == ip->ip_id && q->iq_p == ip->ip_p)
			return (q);
	if (max <= 0)
		return (NULL);
	if (ir->ir_npackets >= (unsigned int)max)
		ip_reass_evict(ir, old);
	q = TAILQ_FIRST(&ir->ir_free);
	TAILQ_REMOVE(&ir->ir_free, q, iq_age);
	*q = (struct ip_reass_q){ .iq_src = ip->ip_src, .iq_dst = ip->ip_dst,
	    .iq_id = ip->ip_id, .iq_p = ip->ip_p,
	    .iq_expire = now + IP_REASS_TTL * NS_PER_S };
	LIST_INSERT_HEAD(&ir->ir_hash[h], q, iq_chain);
	TAILQ_INSERT_TAIL(&ir->ir_age, q, iq_age);
	ir->ir_npackets++;
	return (q);
}

/* Link m into the list by offset, if nothing overlaps. */
static enum ip_reass_fate
ip_reass_link(struct ip_reass_q *q, struct mbuf *m)
{
	uint64_t off = m->m_cookie[FRAG_OFF], len = m->m_cookie[FRAG_LEN];
	struct mbuf **at, *prev = NULL;

	for (at = &q->iq_frags; *at != NULL; at = &(*at)->m_nextpkt) {
		if ((*at)->m_cookie[FRAG_OFF] >= off)
			break;
		prev = *at;
	}
	if (*at != NULL && (*at)->m_cookie[FRAG_OFF] == off &&
	    (*at)->m_cookie[FRAG_LEN] == len)
		return (REASS_AGAIN);
	if ((prev != NULL && prev->m_cookie[FRAG_OFF] +
	    prev->m_cookie[FRAG_LEN] > off) ||
	    (*at != NULL && off + len > (*at)->m_cookie[FRAG_OFF]))
		return (REASS_BAD);
	m->m_nextpkt = *at;
	*at = m;
	return (REASS_HELD);
}

/*
 * Add a fragment to its packet; last: no more behind it.  The caller acts on
 * what is returned; m is in the list for REASS_HELD and REASS_WHOLE only.
 */
static enum ip_reass_fate
ip_reass_add(struct ip_reass *ir, struct ip_reass_q *q, struct mbuf *m,
    bool last)
{
	uint32_t off = (uint32_t)m->m_cookie[FRAG_OFF];
	uint32_t len = (uint32_t)m->m_cookie[FRAG_LEN];
	uint32_t nmbufs = (uint32_t)m->m_cookie[FRAG_MBUFS];
	enum ip_reass_fate fate;
	struct mbuf *end;
	uint8_t ecn;

	MTX_ASSERT(&ir->ir_mtx);

	if (q->iq_dead)
		return (REASS_BAD);
	if (q->iq_total != 0 && (off + len > q->iq_total ||
	    (last && off + len != q->iq_total)))
		return (REASS_BAD);
	if (last && q->iq_total == 0) {
		for (end = q->iq_frags; end != NULL; end = end->m_nextpkt)
			if (end->m_cookie[FRAG_OFF] > off)
				return (REASS_BAD);
	}
	/* A congestion mark and "not capable" together are a lie. */
	ecn = q->iq_ecn | (uint8_t)(1 << (mtod(m, const struct ip *)->ip_tos &
	    IPTOS_ECN_MASK));
	if ((ecn & 1 << ECN_CE) != 0 && (ecn & 1 << ECN_NOT) != 0)
		return (REASS_BAD);
	if (q->iq_nfrags >= ip_tunable(&ir->ir_maxfrags) ||
	    ir->ir_nmbufs + nmbufs > ir->ir_maxmbufs)
		return (REASS_LIMIT);
	if ((fate = ip_reass_link(q, m)) != REASS_HELD)
		return (fate);
	if (last)
		q->iq_total = off + len;
	q->iq_ecn = ecn;
	q->iq_nfrags++;
	q->iq_nmbufs += nmbufs;
	ir->ir_nmbufs += nmbufs;
	q->iq_have += len;
	return (q->iq_total != 0 && q->iq_have == q->iq_total ? REASS_WHOLE :
	    REASS_HELD);
}

/*
 * Make one packet of a whole list; ecn: the codepoints seen.  Takes the header
 * of the first fragment.  NULL: with it the packet is too long, and gone.
 */
static struct mbuf *
ip_reass_join(struct ifnet *ifp, struct mbuf *list, uint8_t ecn)
{
	struct mbuf *m = list, *n, *next;
	struct ip *ip;

	next = m->m_nextpkt;
	m->m_nextpkt = NULL;
	while ((n = next) != NULL) {
		next = n->m_nextpkt;
		n->m_nextpkt = NULL;
		m_adj(n, (int)ip_hl(mtod(n, const struct ip *)));
		m_cat(m, n);
	}
	if (m->m_pkthdr.len > IP_MAXPACKET) {
		if_drop(ifp, m, IFD_IPFRAG);
		return (NULL);
	}
	ip = mtod(m, struct ip *);
	ip->ip_len = htons((uint16_t)m->m_pkthdr.len);
	ip->ip_off = 0;
	if ((ecn & 1 << ECN_CE) != 0)
		ip->ip_tos |= IPTOS_ECN_CE;
	ip_sum(ip);
	m->m_pkthdr.rcvif = ifp;
	m->m_pkthdr.csum_flags = 0;
	ip_count(ip_if_vnet(ifp)->v_ip, IPS_REASSEMBLED, 1);
	return (m);
}

/*
 * Note where m belongs in its packet.  False: no packet can have such a
 * fragment (RFC 791: only the last may end at an odd place; together they are
 * at most 65,535 bytes).
 */
static bool
ip_reass_measure(struct mbuf *m)
{
	const struct ip *ip = mtod(m, const struct ip *);
	uint32_t hlen = (uint32_t)ip_hl(ip), off, len;
	const struct mbuf *n;

	off = (uint32_t)(ntohs(ip->ip_off) & IP_OFFMASK) * 8;
	len = ntohs(ip->ip_len) - hlen;
	if (len == 0 || hlen + off + len > IP_MAXPACKET ||
	    ((ip->ip_off & htons(IP_MF)) != 0 && len % 8 != 0))
		return (false);
	m->m_flags &= ~(uint32_t)M_COOKIE;
	m->m_cookie[FRAG_OFF] = off;
	m->m_cookie[FRAG_LEN] = len;
	m->m_cookie[FRAG_MBUFS] = 0;
	for (n = m; n != NULL; n = n->m_next)
		m->m_cookie[FRAG_MBUFS]++;
	m->m_nextpkt = NULL;
	return (true);
}

/*
 * A fragment to an address of ours has come in on ifp.  Returns the packet if
 * it is whole now, its header and length as if it had come in one piece; NULL:
 * m waits or is gone.  Inside the epoch.
 */
struct mbuf *
ip_reass_input(struct ifnet *ifp, struct mbuf *m)
{
	struct ip_reass *ir = &ip_if_vnet(ifp)->v_ip->iv_reass;
	const struct ip *ip = mtod(m, const struct ip *);
	enum ip_reass_fate fate = REASS_LIMIT;
	struct mbuf *list = NULL, *old = NULL;
	struct ip_reass_q *q;
	uint8_t ecn = 0;
	bool last;

	NET_EPOCH_ASSERT();

	if (!ip_reass_measure(m)) {
		if_drop(ifp, m, IFD_IPFRAG);
		return (NULL);
	}
	last = (ip->ip_off & htons(IP_MF)) == 0;
	mtx_lock(&ir->ir_mtx);
	q = ip_reass_find(ir, ip, time_coarse_ns(), &old);
	if (q != NULL) {
		q->iq_ifindex = ifp->if_index;
		while (ir->ir_nmbufs + m->m_cookie[FRAG_MBUFS] >
		    ir->ir_maxmbufs && TAILQ_FIRST(&ir->ir_age) != q)
			ip_reass_evict(ir, &old);
		fate = ip_reass_add(ir, q, m, last);
		ecn = q->iq_ecn;
		if (fate == REASS_WHOLE)
			list = ip_reass_remove(ir, q);
		else if (fate == REASS_BAD || fate == REASS_LIMIT) {
			q->iq_dead = true;
			list = ip_reass_strip(ir, q);
		}
	}
	mtx_unlock(&ir->ir_mtx);

	ip_reass_drop(ifp, old, IFD_IPFRAGLIMIT);
	if (fate == REASS_HELD)
		return (NULL);
	if (fate == REASS_WHOLE)
		return (ip_reass_join(ifp, list, ecn));
	ip_reass_drop(ifp, list, fate == REASS_LIMIT ? IFD_IPFRAGLIMIT :
	    IFD_IPFRAG);
	if_drop(ifp, m, fate == REASS_LIMIT ? IFD_IPFRAGLIMIT : IFD_IPFRAG);
	return (NULL);
}

/*
 * The time of a packet is over: if its first fragment had come, its sender is
 * told (RFC 792).
 */
static void
ip_reass_expire(struct ip_vnet *iv, struct mbuf *list, uint32_t ifindex)
{
	struct vnet *vnet = iv->iv_vnet;
	struct ifnet *ifp = if_byindex(vnet, ifindex);
	struct mbuf *first = list;

	if (first != NULL && first->m_cookie[FRAG_OFF] == 0) {
		list = first->m_nextpkt;
		first->m_nextpkt = NULL;
		if (ifp != NULL)
			if_count_drop(ifp, IFD_IPFRAGTIME, 1);
		icmp_error(vnet, first, ICMP_TIMXCEED, ICMP_TIMXCEED_REASS,
		    0);
	}
	ip_reass_drop(ifp, list, IFD_IPFRAGTIME);
}

/* Let go of packets that wait for too long.  now: time_ns().  In the epoch. */
void
ip_reass_tick(struct ip_vnet *iv, uint64_t now)
{
	struct ip_reass *ir = &iv->iv_reass;
	struct ip_reass_q *q;
	struct mbuf *list;
	uint32_t ifindex;

	NET_EPOCH_ASSERT();

	for (;;) {
		mtx_lock(&ir->ir_mtx);
		q = TAILQ_FIRST(&ir->ir_age);
		if (q == NULL || q->iq_expire > now) {
			mtx_unlock(&ir->ir_mtx);
			break;
		}
		ifindex = q->iq_ifindex;
		list = ip_reass_remove(ir, q);
		mtx_unlock(&ir->ir_mtx);
		ip_reass_expire(iv, list, ifindex);
	}
}

/* Free all that waits; no thread brings more.  Outside the epoch. */
void
ip_reass_fini(struct ip_reass *ir)
{
	struct ip_reass_q *q;
	struct mbuf *list;

	for (;;) {
		mtx_lock(&ir->ir_mtx);
		q = TAILQ_FIRST(&ir->ir_age);
		list = q != NULL ? ip_reass_remove(ir, q) : NULL;
		mtx_unlock(&ir->ir_mtx);
		if (q == NULL)
			break;
		ip_reass_drop(NULL, list, IFD_IPFRAG);
	}
	mtx_destroy(&ir->ir_mtx);
}
