/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A vnet is the network side of one machine: its interfaces, and a pointer
 * for each upper room's state.  Several may live in one process (the two ends
 * of an epair may be in different ones).
 *
 * Keys: c = v_config, e = net epoch.  Lock order: v_config, then one mtx.
 * All configuration of a vnet happens under v_config, outside the epoch; no
 * reader and no callback takes it, so waiting for a grace period under it is
 * allowed.
 */
#ifndef _IFNET_VNET_H_
#define	_IFNET_VNET_H_

#include <ck_queue.h>
#include <stdatomic.h>

#include "sys/counter.h"
#include "sys/lock.h"

struct callout_wheel;
struct fib4;
struct if_index_table;
struct if_linktype;
struct ifnet;
struct intr_domain;
struct ip_vnet;
struct rib;
struct sysctl_tree;
struct taskqueue;

#define	VNET_LINKTYPES	4
#define	VNET_EVENTS	8

enum if_event {
	IF_EVENT_ATTACH,	/* linked; no packets yet */
	IF_EVENT_DETACH,	/* unlinked, readers still about; drop state */
	IF_EVENT_DEPARTED,	/* a grace period later: free what is left */
	IF_EVENT_LINK,		/* carrier or IFF_UP changed */
	IF_EVENT_MTU,
	IF_EVENT_LLADDR,	/* the MAC changed */
	IF_EVENT_RENAME,
	IF_EVENT_ADDR_ADD,	/* ifa is on the list */
	IF_EVENT_ADDR_DEL,	/* ifa has left the list */
};
struct ifaddr;
/* Called with v_config held, outside the epoch.  ifa: NULL but for ADDR_*. */
typedef void if_event_fn(void *arg, struct ifnet *ifp, enum if_event ev,
    struct ifaddr *ifa);

struct vnet {
	/* Read by every burst. */
	struct fib4	*v_fib4;	/* (c) route's lookup structure */
	struct ip_vnet	*v_ip;		/* (c) ip's counters and tunables */
	_Atomic int	 v_ip_forwarding; /* (a) relaxed, a sysctl */
	/* Control. */
	struct sx	 v_config;
	CK_STAILQ_HEAD(, ifnet) v_ifnets; /* (e/c) in order of attachment */
	_Atomic(struct if_index_table *) v_index; /* (e/c) by if_index */
	struct rib	*v_rib;		/* (c) route's table */
	struct intr_domain *v_intr;	/* (c) */
	struct taskqueue *v_tq;		/* (c) */
	struct callout_wheel *v_callouts; /* (c) */
	struct sysctl_tree *v_sysctl;	/* (c) */
	const struct if_linktype *v_linktypes[VNET_LINKTYPES]; /* (c) */
	struct {
		if_event_fn	*ev_fn;
		void		*ev_arg;
	}		 v_events[VNET_EVENTS];	/* (c) */
	struct ifnet	*v_loif;	/* (c) lo0 */
};

/*
 * An empty vnet around what the stack room made; the fields v_intr, v_tq,
 * v_callouts and v_sysctl are the caller's to fill before the first
 * interface.  NULL: no memory.
 */
struct vnet *vnet_alloc(void);
void	vnet_free(struct vnet *vnet);	/* no interfaces left */

#define	VNET_CONFIG_ASSERT(v)	SX_ASSERT(&(v)->v_config)

/* At most VNET_EVENTS, at set-up time only.  Called in order of registration
 * (ATTACH, ADDR_ADD, ...) and in reverse for DETACH, DEPARTED, ADDR_DEL. */
void	if_event_register(struct vnet *vnet, if_event_fn *fn, void *arg);

#endif /* _IFNET_VNET_H_ */
