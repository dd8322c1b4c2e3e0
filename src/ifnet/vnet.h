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
 * Keys: c = the configuration lock, e = net epoch.  Lock order: the
 * configuration lock, then one mtx.  All configuration happens under it,
 * outside the epoch; no reader and no callback takes it, so waiting for a
 * grace period under it is allowed.  It is one lock for the process, not one a
 * vnet: an epair's ends may be in two vnets and go as one, and configuration
 * is not worth a lock order between vnets.
 */
#ifndef _IFNET_VNET_H_
#define	_IFNET_VNET_H_

#include <ck_queue.h>
#include <stdatomic.h>

#include "sys/counter.h"
#include "sys/lock.h"

struct callout_wheel;
struct fib4;
struct if_linktype;
struct ifnet;
struct intr_domain;
struct ip_vnet;
struct netgraph;
struct rib;
struct sysctl_tree;
struct taskqueue;
struct vnet_index;

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
/*
 * Called with the configuration lock held, outside the epoch.  ifa: NULL but
 * for ADDR_*.  An error from ATTACH or ADDR_ADD undoes it (the functions
 * called before get the opposite event); of others it is ignored.
 */
typedef int if_event_fn(void *arg, struct ifnet *ifp, enum if_event ev,
    struct ifaddr *ifa);

#define	VNET_IF_MAX	65536		/* indexes of interfaces; 0 is none */

struct vnet {
	/* Read by every burst. */
	struct fib4	*v_fib4;	/* (c) route's lookup structure */
	struct ip_vnet	*v_ip;		/* (c) ip's counters and tunables */
	_Atomic int	 v_ip_forwarding; /* (a) relaxed, a sysctl */
	/* Control. */
	CK_STAILQ_HEAD(, ifnet) v_ifnets; /* (e/c) by time of attachment */
	struct vnet_index *v_index;	/* (c) by if_index */
	struct rib	*v_rib;		/* (c) route's table */
	struct netgraph	*v_netgraph;	/* (c) */
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
	char		 v_name[32];	/* (c) constant: the machine's */
	counter_t	 v_retired;	/* (c) IFC_COUNT cells: what freed
					   interfaces had counted */
};

/*
 * An empty vnet around what the stack room made; the fields v_intr, v_tq,
 * v_callouts and v_sysctl are the caller's to fill before the first
 * interface.  NULL: no memory.
 */
struct vnet *vnet_alloc(void);
void	vnet_free(struct vnet *vnet);	/* no interfaces left */

extern struct sx vnet_config_sx;

/* Recursive.  May sleep: outside the epoch. */
#define	VNET_CONFIG_LOCK(v)	((void)(v), sx_xlock(&vnet_config_sx))
#define	VNET_CONFIG_UNLOCK(v)	((void)(v), sx_xunlock(&vnet_config_sx))
#define	VNET_CONFIG_ASSERT(v)	do {					\
	(void)(v);							\
	SX_ASSERT(&vnet_config_sx);					\
} while (0)

/* At most VNET_EVENTS, at set-up time only.  Called in order of registration
 * (ATTACH, ADDR_ADD, ...) and in reverse for DETACH, DEPARTED, ADDR_DEL. */
void	if_event_register(struct vnet *vnet, if_event_fn *fn, void *arg);

#endif /* _IFNET_VNET_H_ */
