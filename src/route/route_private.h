/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the files of this room share.  Keys: c = the configuration lock,
 * e = net epoch, l = the lltable's mtx.
 */
#ifndef _ROUTE_ROUTE_PRIVATE_H_
#define	_ROUTE_ROUTE_PRIVATE_H_

#include "route/arena.h"
#include "route/fib4.h"
#include "route/radix.h"
#include "route/route_var.h"

#define	RIB_NHBUCKETS	4096u		/* a power of two */

struct rib {
	struct vnet	*rib_vnet;	/* (c) */
	struct rt_node	*rib_root;	/* (c) */
	_Atomic unsigned int rib_nroutes; /* (a) relaxed; writers hold c */
	_Atomic unsigned int rib_nnhops; /* (a) relaxed; callbacks write */
	_Atomic size_t	 rib_fibmem;	/* (a) relaxed; writers hold c */
	struct idxpool	 rib_nhpool;	/* (c) numbers of nexthops */
	_Atomic(const struct lltable_proto *) rib_llproto; /* (a) set once */
	struct nhop	*rib_nhops[RIB_NHBUCKETS]; /* (c) by nh_hash */
};

/* What makes a nexthop: two routes that ask for the same share one. */
struct nhop_spec {
	struct ifnet	*ns_ifp;	/* or NULL: nowhere (no lo0 yet) */
	struct ifaddr	*ns_ifa;	/* or NULL: unnumbered */
	struct in_addr	 ns_gw;		/* with RTF_GATEWAY */
	uint32_t	 ns_rtflags;	/* RTF_* */
	uint32_t	 ns_mtu;	/* 0: the interface's */
};

int	nhop_get(struct rib *rib, const struct nhop_spec *ns,
	    struct nhop **nhp);
void	nhop_rele(struct nhop *nh);
void	nhop_mtu_changed(struct rib *rib, const struct ifnet *ifp);

/* Routes that no check of rt_add() applies to; configuration lock held. */
int	rib_set(struct rib *rib, struct in_addr dst, int plen,
	    const struct nhop_spec *ns);
void	rib_remove(struct rib *rib, struct rt_node *rn);

int	route_if_event(void *arg, struct ifnet *ifp, enum if_event ev,
	    struct ifaddr *ifa);
struct ifaddr *route_ifaddr_for(struct ifnet *ifp, struct in_addr addr,
	    bool connected);
bool	route_ifaddr_connects(const struct ifaddr *ifa, struct in_addr addr);

/* Neighbours. */
int	lltable_alloc(struct ifnet *ifp);
void	lltable_free(struct ifnet *ifp);
void	lltable_lladdr_changed(struct ifnet *ifp);
void	lltable_link_changed(struct ifnet *ifp);
int	lltable_ifaddr_add(struct ifnet *ifp, const struct ifaddr *ifa);
void	lltable_ifaddr_delete(struct ifnet *ifp, const struct ifaddr *ifa);
void	lle_rele(struct llentry *lle);

#endif /* _ROUTE_ROUTE_PRIVATE_H_ */
