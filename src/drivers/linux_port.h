/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the drivers of Linux devices have in common: the interface follows the
 * device's link, and outlives it.  When the device vanishes the interface
 * stays, with its link down and if_gone set, receives nothing and counts what
 * it is asked to send, until it is destroyed.  A device that can be used from
 * other namespaces too, a TAP, may be moved there: then it is away, and its
 * link is not known any more.
 *
 * A driver's softc begins with a struct linux_port.  One thread of the
 * process listens to the kernel, from the first device on.
 *
 * Keys: c = the configuration lock, w = the watcher's mutex.
 */
#ifndef _DRIVERS_LINUX_PORT_H_
#define	_DRIVERS_LINUX_PORT_H_

#include <sys/queue.h>

#include "drivers/linux_if.h"
#include "ifnet/if_var.h"
#include "intr/callout.h"

struct linux_port {
	struct ifnet	*lp_ifp;	/* (c) */
	char		 lp_name[LINUX_IFNAMSIZ]; /* (c) */
	int		 lp_index;	/* (c) */
	int		 lp_promisc;	/* (c) fd of linux_if_promisc(), -1 */
	int		 lp_allmulti;	/* (c) of linux_if_allmulti(), -1 */
	/*
	 * Read what the kernel has counted; called once a second on the
	 * callout thread, and may be NULL.
	 */
	void		(*lp_stats)(struct linux_port *lp); /* (c) */
	/*
	 * The device has changed or (linux_port_gone()) vanished: see that
	 * its fds do not wake an ithread for ever.  Called under w; must not
	 * block; may be NULL.
	 */
	void		(*lp_changed)(struct linux_port *lp); /* (c) */
	/*
	 * The device has left this namespace: is it still ours somewhere
	 * else?  Called under w; must not block; may be NULL, for no.
	 */
	bool		(*lp_exists)(struct linux_port *lp); /* (c) */
	_Atomic bool	 lp_away;	/* (a) relaxed; in another namespace */
	_Atomic uint32_t lp_mtu;	/* (a) relaxed; bytes, as Linux says;
					   if_mtu may be less */

	LIST_ENTRY(linux_port) lp_link;	/* (w) */
	enum if_link	 lp_link_seen;	/* (w) as Linux says */
	enum if_link	 lp_link_told;	/* (w) as if_link_state() was told */
	struct callout	 lp_callout;	/* for lp_stats */
};

/*
 * Find the device and what it is like, for a driver named drv; errors say
 * what is wrong with it, EBUSY for one that is an interface of this process
 * already: all its frames would come twice.  Fills lp_name and lp_index.
 */
int	linux_port_open(struct linux_port *lp, const char *drv,
	    const char *device, struct linux_if *li, char *err, size_t errlen);
/*
 * An interface of drv on the device, not attached yet, with the device's MAC,
 * MTU and link as li has them.  Fills lp_ifp; on failure there is none.  What
 * if_alloc() and if_setlladdr() give.
 */
int	linux_port_ifnet(struct linux_port *lp, struct vnet *vnet,
	    const struct if_driver *drv, const char *name,
	    const struct linux_if *li);
/*
 * Begin to follow the device, and if_attach() lp_ifp; on failure neither.
 * ENOMEM, EMFILE, ..., and what if_attach() gives.
 */
int	linux_port_attach(struct linux_port *lp);
/*
 * The driver finds that a device that was away is no more.  Any thread that
 * may block, lp_stats too.
 */
void	linux_port_lost(struct linux_port *lp);
/* Stop; lp_stats and lp_changed are not running and are not called again. */
void	linux_port_unwatch(struct linux_port *lp);

static inline bool
linux_port_gone(const struct linux_port *lp)
{

	return (atomic_load_explicit(&lp->lp_ifp->if_gone,
	    memory_order_relaxed));
}

static inline uint32_t
linux_port_mtu(const struct linux_port *lp)
{

	return (atomic_load_explicit(&lp->lp_mtu, memory_order_relaxed));
}

static inline bool
linux_port_away(const struct linux_port *lp)
{

	return (atomic_load_explicit(&lp->lp_away, memory_order_relaxed));
}

/* Methods; if_softc begins with the port. */
int	linux_port_init(struct ifnet *ifp);	/* brings the device up */
int	linux_port_setmtu(struct ifnet *ifp, uint32_t mtu);
int	linux_port_setlladdr(struct ifnet *ifp, const uint8_t *lladdr);
int	linux_port_setpromisc(struct ifnet *ifp, bool on);
int	linux_port_setallmulti(struct ifnet *ifp, bool on);

#endif /* _DRIVERS_LINUX_PORT_H_ */
