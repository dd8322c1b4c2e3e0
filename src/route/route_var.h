/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Routes, nexthops and neighbours, as other rooms see them.
 *
 * A rib holds what the operator and the interfaces asked for, under the
 * configuration lock.  Each route points to a nexthop (struct nhop), shared by
 * all routes that want the same; the fib4 is a copy of the table made for
 * lookups and is patched under the configuration lock while it is being read
 * in the epoch.
 *
 * The neighbours of an interface are in its lltable.  A neighbour entry whose
 * LLE_VALID is set never changes its header: another MAC means another entry,
 * and the old one is marked LLE_DELETED when it is unlinked.  A reader that
 * meets LLE_DELETED treats the entry as not found.
 *
 * Keys: c = the configuration lock, l = the lltable's mtx, e = net epoch.
 */
#ifndef _ROUTE_ROUTE_VAR_H_
#define	_ROUTE_ROUTE_VAR_H_

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ifnet/if_var.h"
#include "wire/ether.h"

struct callout_wheel;
struct fib4;
struct llentry;
struct lltable;

/* Route flags, with FreeBSD's values. */
#define	RTF_UP		0x1
#define	RTF_GATEWAY	0x2
#define	RTF_HOST	0x4
#define	RTF_REJECT	0x8		/* ICMP unreachable */
#define	RTF_DYNAMIC	0x10
#define	RTF_STATIC	0x800
#define	RTF_BLACKHOLE	0x1000		/* drop in silence */
#define	RTF_PROTO2	0x4000
#define	RTF_PROTO1	0x8000
#define	RTF_PROTO3	0x40000
#define	RTF_PINNED	0x100000	/* the interface's, not deletable */
#define	RTF_LOCAL	0x200000	/* an address of our own */
#define	RTF_BROADCAST	0x400000
#define	RTF_MULTICAST	0x800000

/* nh_flags: what the packet path asks. */
#define	NHF_GATEWAY	0x0001
#define	NHF_HOST	0x0002
#define	NHF_REJECT	0x0004
#define	NHF_BLACKHOLE	0x0008
#define	NHF_LOCAL	0x0010
#define	NHF_BROADCAST	0x0020
#define	NHF_SPECIAL	(NHF_REJECT | NHF_BLACKHOLE | NHF_LOCAL | NHF_BROADCAST)

struct nhop {
	/* First line: one load of it per packet. */
	struct ifnet	*nh_ifp;	/* (c) holds a reference */
	uint16_t	 nh_flags;	/* (c) NHF_* */
	uint16_t	 nh_pad;
	uint32_t	 nh_mtu;	/* (c) route's own, 0: interface's */
	struct in_addr	 nh_gw;		/* (c) for NHF_GATEWAY */
	counter_t	 nh_counters;	/* (c) 2 cells: packets, bytes */
	_Atomic(struct llentry *) nh_lle; /* (e/l) the gateway's entry, with a
					   reference, or NULL */
	struct ifaddr	*nh_ifa;	/* (c) source address; reference */
	uint32_t	 nh_index;	/* (c) Nhop# of netstat; never 0 */
	uint32_t	 nh_rtflags;	/* (c) RTF_* to print */
	_Atomic uint32_t nh_pass;	/* (a) relaxed; writers hold c: longest
					   packet that may go this way without
					   a closer look, bytes; 0: none */
	/* Second line: control. */
	_Atomic unsigned int nh_refs;	/* (r) routes using it */
	struct epoch_context nh_ctx;	/* (o) */
	struct nhop	*nh_hash;	/* (c) chain of equal hash */
	struct rib	*nh_rib;	/* (c) */
} __cacheline_aligned;

/*
 * The longest packet that nh's link takes, bytes: the route's own limit, but
 * never more than the interface has.  nh leads to an interface.
 */
static inline uint32_t
nhop_mtu(const struct nhop *nh)
{
	uint32_t mtu;

	mtu = atomic_load_explicit(&nh->nh_ifp->if_mtu, memory_order_relaxed);
	return (nh->nh_mtu != 0 && nh->nh_mtu < mtu ? nh->nh_mtu : mtu);
}

/* ---- Control: configuration lock held, outside the epoch. ---- */

/* Makes v_rib and v_fib4, hooks itself to interface events, adds
 * net.route.* to v_sysctl.  ENOMEM.  To be called before the first ifnet. */
int	route_vnet_init(struct vnet *vnet);
void	route_vnet_fini(struct vnet *vnet);

struct rt_req {
	struct in_addr	 rq_dst;	/* network order, host bits zero */
	int		 rq_plen;	/* 0..32 */
	uint32_t	 rq_flags;	/* RTF_*; GATEWAY, REJECT, ... */
	struct in_addr	 rq_gw;		/* with RTF_GATEWAY */
	struct ifnet	*rq_ifp;	/* or NULL: from the gateway's route */
	uint32_t	 rq_mtu;	/* 0: the interface's */
};
/*
 * Add: EEXIST; ENETUNREACH (no connected route to the gateway); EINVAL
 * (host bits, neither gateway nor interface, ...); ENOMEM.
 * Change: ESRCH.  Delete: ESRCH; EPERM for RTF_PINNED.
 * The lookup structure changes atomically per prefix.
 */
int	rt_add(struct vnet *vnet, const struct rt_req *rq);
int	rt_change(struct vnet *vnet, const struct rt_req *rq);
int	rt_delete(struct vnet *vnet, struct in_addr dst, int plen);

/* A route as shown; valid while the configuration lock is held. */
struct rt_info {
	struct in_addr	 ri_dst;
	int		 ri_plen;
	const struct nhop *ri_nh;
	uint32_t	 ri_flags;	/* RTF_* */
	uint32_t	 ri_mtu;	/* in effect */
};
int	rt_get(struct vnet *vnet, struct in_addr dst, int plen,
	    struct rt_info *ri);	/* exact; ESRCH */
int	rt_match(struct vnet *vnet, struct in_addr dst,
	    struct rt_info *ri);	/* longest; ESRCH */
/* In order of address, then length; stops at non-zero, returns it.  fn may
 * delete the route that it was called for. */
int	rt_walk(struct vnet *vnet,
	    int (*fn)(const struct rt_info *ri, void *arg), void *arg);
/* The same from a prefix on, whether it is there or not.  EINVAL: plen. */
int	rt_walk_from(struct vnet *vnet, struct in_addr dst, int plen,
	    int (*fn)(const struct rt_info *ri, void *arg), void *arg);
unsigned int rt_count(struct vnet *vnet);
/* Remove all routes with RTF_GATEWAY; returns how many. */
unsigned int rt_flush(struct vnet *vnet);

/* ---- Lookup: inside the epoch. ---- */

/* dst in network order.  NULL: no route.  Valid to the section's end. */
const struct nhop *fib4_lookup(const struct fib4 *fib, in_addr_t dst);
/* The same for n <= MBUF_BURST addresses, their cache misses overlapped. */
void	fib4_lookup_burst(const struct fib4 *fib, const in_addr_t *dst,
	    const struct nhop **nh, unsigned int n);

/* ---- Neighbours ---- */

enum lle_state {
	LLE_INCOMPLETE,		/* asking; packets wait */
	LLE_REACHABLE,
	LLE_STALE,		/* in use past its time: asked again */
	LLE_FAILED,		/* silent: packets dropped until lle_expire */
};

/* lle_flags */
#define	LLE_VALID	0x01	/* (a) lle_hdr may be used; set with release */
#define	LLE_DELETED	0x02	/* (a) unlinked: treat as not found */
#define	LLE_STATIC	0x04	/* (l) permanent, by the operator */
#define	LLE_PUB		0x08	/* (l) answer for it */
#define	LLE_IFADDR	0x10	/* (l) our own address */
#define	LLE_USED	0x20	/* (a) relaxed: a packet went out since it
				   was last heard; written if not yet set */
#define	LLE_BLACKHOLE	0x40
#define	LLE_REJECT	0x80

struct llentry {
	/* First line: per packet. */
	_Atomic uint32_t lle_flags;	/* (a) see above */
	struct in_addr	 lle_addr;	/* (c) */
	uint8_t		 lle_hdr[ETHER_HDR_LEN]; /* (c) once LLE_VALID: to,
					   from, ETHERTYPE_IP */
	uint8_t		 lle_pad[2];
	_Atomic(struct llentry *) lle_next; /* (e/l) hash chain */
	struct lltable	*lle_table;	/* (c) */
	enum lle_state	 lle_state;	/* (l) */
	uint32_t	 lle_nhold;	/* (l) packets waiting */
	/* Second line: control. */
	uint64_t	 lle_expire;	/* (l) time_ns() of its next change */
	uint32_t	 lle_asked;	/* (l) requests sent without answer */
	_Atomic unsigned int lle_refs;	/* (r) the table's and nexthops' */
	struct mbuf	*lle_hold;	/* (l) oldest first, by m_nextpkt */
	struct mbuf	**lle_holdtail;	/* (l) */
	struct llentry	*lle_gone;	/* (l) unlinked, to be let go */
	struct epoch_context lle_ctx;	/* (o) */
} __cacheline_aligned;

/* Tunables of the table's protocol, read relaxed; seconds and counts. */
struct lltable_params {
	_Atomic int	 lp_max_age;	/* life of a resolved entry, 1200 */
	_Atomic int	 lp_wait;	/* how long FAILED stays, 20 */
	_Atomic int	 lp_maxtries;	/* requests before FAILED, 5 */
	_Atomic int	 lp_maxhold;	/* packets kept per entry, 16 */
	_Atomic int	 lp_maxentries;	/* per interface, 16384 */
};

/* What the protocol (ARP) does for the table; set once per vnet. */
struct lltable_proto {
	/*
	 * Send a request for addr.  Inside the epoch, no lock held.  unicast:
	 * NULL for a broadcast, else the MAC to ask again.
	 */
	void	(*lp_request)(struct ifnet *ifp, struct in_addr addr,
		    const uint8_t *unicast);
	/*
	 * addr stays silent: m waited for it; consume m (ICMP host
	 * unreachable, counted).  Inside the epoch, no lock held.
	 */
	void	(*lp_failed)(struct ifnet *ifp, struct in_addr addr,
		    struct mbuf *m);
	/* n entries went for their age.  In the epoch, no lock; or NULL. */
	void	(*lp_expired)(struct ifnet *ifp, unsigned int n);
	const struct lltable_params *lp_params;
};
void	lltable_set_proto(struct vnet *vnet, const struct lltable_proto *lp);

/*
 * A neighbour in the interface's table, or NULL.  Inside the epoch, no lock.
 * lle_flags must be read (acquire) before lle_hdr is used.
 */
struct llentry *lla_lookup(struct ifnet *ifp, struct in_addr addr);

/*
 * Put the link header of nh's next hop for dst in front of m: inline when the
 * entry is valid.  True: m is a whole frame, transmit it on nh->nh_ifp.
 * False: m is gone (waits for resolution, or dropped and counted).
 * Inside the epoch.  nh is not NHF_SPECIAL, its interface not loopback; on a
 * link without headers m stays as it is.
 */
bool	nhop_resolve_slow(const struct nhop *nh, struct in_addr dst,
	    struct mbuf *m);
static inline bool
nhop_resolve(const struct nhop *nh, struct in_addr dst, struct mbuf *m);

/*
 * We heard that addr has this MAC.  create: make an entry if there is none
 * (the packet was for us).  Packets that waited are sent.  Inside the epoch,
 * no lock held.  Returns what happened, for the protocol's log lines.
 */
enum lla_heard {
	LLA_NONE,		/* no entry, none made */
	LLA_SAME,		/* confirmed */
	LLA_NEW,		/* learned */
	LLA_MOVED,		/* had another MAC: replaced; old[] has it */
	LLA_STATIC,		/* permanent entry, not changed; old[] */
	LLA_FULL,		/* lp_maxentries reached or no memory */
};
enum lla_heard lla_heard(struct ifnet *ifp, struct in_addr addr,
	    const uint8_t *mac, bool create, uint8_t *old);

/*
 * Operator: configuration lock held, outside the epoch.  flags: LLE_STATIC,
 * _PUB, _BLACKHOLE, _REJECT.  lifetime in seconds, 0: permanent.  EPERM: our
 * own address; EINVAL: another flag; ENXIO: no neighbours here; ENOMEM.
 */
int	lla_set(struct ifnet *ifp, struct in_addr addr, const uint8_t *mac,
	    uint32_t flags, uint32_t lifetime);
int	lla_delete(struct ifnet *ifp, struct in_addr addr);	/* ENOENT */
unsigned int lla_flush(struct ifnet *ifp, bool statics);

struct lla_info {
	struct in_addr	 li_addr;
	uint8_t		 li_mac[ETHER_ADDR_LEN];
	uint32_t	 li_flags;	/* LLE_* */
	enum lle_state	 li_state;
	uint64_t	 li_expire;	/* ns from now, 0: permanent */
	uint32_t	 li_nhold;
};
int	lla_walk(struct ifnet *ifp,
	    int (*fn)(struct ifnet *ifp, const struct lla_info *li, void *arg),
	    void *arg);

/*
 * Age all neighbours of the vnet: retries, expiry, failure.  now: time_ns().
 * Called once a second from a network callout (inside the epoch); with the
 * time as a parameter so that tests need not sleep.
 */
void	lltable_tick(struct vnet *vnet, uint64_t now);

static inline bool
nhop_resolve(const struct nhop *nh, struct in_addr dst, struct mbuf *m)
{
	struct llentry *lle;
	uint32_t flags;

	if ((nh->nh_flags & NHF_GATEWAY) != 0)
		lle = atomic_load_explicit(
		    &((struct nhop *)(uintptr_t)nh)->nh_lle,
		    memory_order_acquire);
	else
		lle = lla_lookup(nh->nh_ifp, dst);
	if (__predict_false(lle == NULL))
		return (nhop_resolve_slow(nh, dst, m));
	flags = atomic_load_explicit(&lle->lle_flags, memory_order_acquire);
	if (__predict_false((flags & (LLE_VALID | LLE_DELETED | LLE_USED)) !=
	    (LLE_VALID | LLE_USED) || m_leadingspace(m) < ETHER_HDR_LEN))
		return (nhop_resolve_slow(nh, dst, m));
	m->m_data -= ETHER_HDR_LEN;
	m->m_len += ETHER_HDR_LEN;
	m->m_pkthdr.len += ETHER_HDR_LEN;
	m->m_pkthdr.csum_start += ETHER_HDR_LEN; /* of no use if not partial */
	__builtin_memcpy(m->m_data, lle->lle_hdr, ETHER_HDR_LEN);
	return (true);
}

#endif /* _ROUTE_ROUTE_VAR_H_ */
