/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Interfaces follow their Linux devices.
 *
 * A thread of its own reads the kernel's messages and notes them in the ports
 * (w = watch_mtx).  Telling the interface takes the configuration lock, whose
 * holder may just be destroying the port: so nobody waits for the thread, it
 * holds a reference on the ifnet instead while it tells, and never looks at a
 * port without w.  The thread is started by the first port and stays.
 *
 * Lock order: configuration lock, watch_mtx.  Never in the epoch.
 */
#include "drivers/linux_port.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "drivers/drv.h"
#include "ifnet/if_clone.h"
#include "sys/log.h"
#include "sys/thread.h"
#include "wire/ether.h"

#define	PORT_STATS_NS	1000000000u	/* between two reads of counters */

static struct mtx watch_mtx = {
	.mtx_lock = PTHREAD_MUTEX_INITIALIZER,
	.mtx_name = "device watcher",
};
static LIST_HEAD(, linux_port) watch_ports =
    LIST_HEAD_INITIALIZER(watch_ports);	/* (w) */
static struct thread *watch_thread;	/* (w) NULL before the first port */
static int	 watch_fd;		/* (w) set before the thread starts */
static int	 watch_wake;		/* (w) the same; an eventfd */

static enum if_link
port_link(const struct linux_if *li)
{

	return (li->li_carrier ? IF_LINK_UP : IF_LINK_DOWN);
}

/* Note what Linux said of a port's device. */
static void
port_note(struct linux_port *lp, const struct linux_if *li)
{

	MTX_ASSERT(&watch_mtx);

	if (linux_port_gone(lp) || linux_port_away(lp))
		return;
	if (li->li_gone && lp->lp_exists != NULL && lp->lp_exists(lp)) {
		atomic_store_explicit(&lp->lp_away, true,
		    memory_order_relaxed);
		log_msg(LOG_INFO, "%s: Linux device %s is now in another "
		    "network namespace", lp->lp_ifp->if_name, lp->lp_name);
		lp->lp_link_seen = IF_LINK_UNKNOWN;
		return;
	}
	if (li->li_gone) {
		atomic_store_explicit(&lp->lp_ifp->if_gone, true,
		    memory_order_relaxed);
		log_msg(LOG_WARNING, "%s: Linux device %s has vanished",
		    lp->lp_ifp->if_name, lp->lp_name);
	}
	lp->lp_link_seen = li->li_gone ? IF_LINK_DOWN : port_link(li);
	if (li->li_mtu != 0)
		atomic_store_explicit(&lp->lp_mtu, li->li_mtu,
		    memory_order_relaxed);
	if (lp->lp_changed != NULL)
		lp->lp_changed(lp);
}

/* Note what the kernel says of a device. */
static void
watch_note(void *arg, const struct linux_if *li)
{
	struct linux_port *lp;

	mtx_lock(&watch_mtx);
	LIST_FOREACH(lp, &watch_ports, lp_link)
		if (lp->lp_index == li->li_index)
			port_note(lp, li);
	mtx_unlock(&watch_mtx);
}

/* Messages were lost: ask about every device. */
static void
watch_resync(void)
{
	struct linux_port *lp;
	struct linux_if li;
	int error;

	mtx_lock(&watch_mtx);
	LIST_FOREACH(lp, &watch_ports, lp_link) {
		if (linux_port_away(lp))
			continue;
		error = linux_if_get_index(lp->lp_index, &li);
		li.li_gone = error == ENODEV;
		if (error == 0 || error == ENODEV)
			port_note(lp, &li);
	}
	mtx_unlock(&watch_mtx);
}

/* Tell one interface what was noted for it; false when all are told. */
static bool
watch_tell(void)
{
	struct ifnet *ifp = NULL;
	struct linux_port *lp;
	enum if_link state = IF_LINK_UNKNOWN;

	mtx_lock(&watch_mtx);
	LIST_FOREACH(lp, &watch_ports, lp_link)
		if (lp->lp_link_seen != lp->lp_link_told) {
			state = lp->lp_link_told = lp->lp_link_seen;
			ifp = lp->lp_ifp;
			if_ref(ifp);
			break;
		}
	mtx_unlock(&watch_mtx);
	if (ifp == NULL)
		return (false);
	if_link_state(ifp, state);
	if_rele(ifp);
	return (true);
}

static void
watch_main(void *arg)
{
	struct pollfd pfd[2] = {
		{ .fd = watch_fd, .events = POLLIN },
		{ .fd = watch_wake, .events = POLLIN },
	};
	eventfd_t n;

	for (;;) {
		(void)poll(pfd, 2, -1);
		if ((pfd[1].revents & POLLIN) != 0)
			(void)eventfd_read(watch_wake, &n);
		if (linux_monitor_read(watch_fd, watch_note, NULL) != 0)
			watch_resync();
		while (watch_tell())
			;
	}
}

static int
watch_start(void)
{
	int error;

	MTX_ASSERT(&watch_mtx);

	if (watch_thread != NULL)
		return (0);
	error = linux_monitor_open(&watch_fd);
	if (error != 0)
		return (error);
	watch_wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (watch_wake == -1) {
		error = errno;
		goto close_monitor;
	}
	error = thread_create(&watch_thread, "devices", THREAD_ANY_CPU,
	    watch_main, NULL);
	if (error == 0)
		return (0);
	watch_thread = NULL;
	close(watch_wake);
close_monitor:
	close(watch_fd);
	return (error);
}

void
linux_port_lost(struct linux_port *lp)
{
	const struct linux_if gone = { .li_gone = true };

	mtx_lock(&watch_mtx);
	if (linux_port_away(lp)) {
		atomic_store_explicit(&lp->lp_away, false,
		    memory_order_relaxed);
		port_note(lp, &gone);
		(void)eventfd_write(watch_wake, 1);
	}
	mtx_unlock(&watch_mtx);
}

static void
port_stats(void *arg)
{
	struct linux_port *lp = arg;

	lp->lp_stats(lp);
	(void)callout_reset(&lp->lp_callout, PORT_STATS_NS, port_stats, lp);
}

/* Is the device an interface's of this process already?  Fills ifname. */
static bool
port_used(int index, char *ifname, size_t len)
{
	const struct linux_port *lp;

	mtx_lock(&watch_mtx);
	LIST_FOREACH(lp, &watch_ports, lp_link) {
		/* The index of a device that has left may be another's. */
		if (lp->lp_index == index && !linux_port_gone(lp) &&
		    !linux_port_away(lp)) {
			snprintf(ifname, len, "%s", lp->lp_ifp->if_name);
			break;
		}
	}
	mtx_unlock(&watch_mtx);
	return (lp != NULL);
}

int
linux_port_open(struct linux_port *lp, const char *drv, const char *device,
    struct linux_if *li, char *err, size_t errlen)
{
	char ifname[IFNAMLEN];
	int error;

	error = linux_if_get(device, li);
	if (error == ENODEV || error == ENAMETOOLONG)
		return (drv_error(error, err, errlen,
		    "%s:%s: there is no Linux device %s in this network "
		    "namespace", drv, device, device));
	if (error != 0)
		return (drv_error(error, err, errlen,
		    "%s:%s: cannot ask Linux about the device: %s", drv,
		    device, strerror(error)));
	if (!li->li_ether)
		return (drv_error(EPROTOTYPE, err, errlen,
		    "%s:%s: not an Ethernet device", drv, device));
	if (port_used(li->li_index, ifname, sizeof(ifname)))
		return (drv_error(EBUSY, err, errlen,
		    "%s:%s: %s is already attached as %s", drv, device,
		    device, ifname));
	snprintf(lp->lp_name, sizeof(lp->lp_name), "%s", li->li_name);
	lp->lp_index = li->li_index;
	lp->lp_promisc = lp->lp_allmulti = -1;
	return (0);
}

int
linux_port_ifnet(struct linux_port *lp, struct vnet *vnet,
    const struct if_driver *drv, const char *name, const struct linux_if *li)
{
	struct ifnet *ifp;
	int error;

	error = if_alloc(vnet, IFT_ETHER, name, &ifp);
	if (error != 0)
		return (error);
	error = if_setlladdr(ifp, li->li_mac);
	if (error != 0) {
		if_free(ifp);
		return (error);
	}
	lp->lp_ifp = ifp;
	ifp->if_softc = lp;
	ifp->if_driver = drv;
	snprintf(ifp->if_spec, sizeof(ifp->if_spec), "%s:%s", drv->drv_name,
	    lp->lp_name);
	ifp->if_init = linux_port_init;
	ifp->if_setmtu = linux_port_setmtu;
	ifp->if_setlladdr = linux_port_setlladdr;
	ifp->if_setpromisc = linux_port_setpromisc;
	ifp->if_setallmulti = linux_port_setallmulti;
	atomic_init(&ifp->if_flags,
	    IFF_BROADCAST | IFF_SIMPLEX | IFF_MULTICAST);
	atomic_init(&ifp->if_mtu, li->li_mtu);
	atomic_init(&lp->lp_mtu, li->li_mtu);
	lp->lp_link_seen = lp->lp_link_told = port_link(li);
	atomic_init(&ifp->if_linkstate, (int)lp->lp_link_told);
	return (0);
}

static int
linux_port_watch(struct linux_port *lp)
{
	struct linux_if li;
	int error;

	mtx_lock(&watch_mtx);
	error = watch_start();
	if (error == 0)
		LIST_INSERT_HEAD(&watch_ports, lp, lp_link);
	mtx_unlock(&watch_mtx);
	if (error != 0)
		return (error);
	/* What happened before we listened. */
	error = linux_if_get_index(lp->lp_index, &li);
	li.li_index = lp->lp_index;
	li.li_gone = error == ENODEV;
	if (error == 0 || error == ENODEV)
		watch_note(NULL, &li);
	callout_init(&lp->lp_callout, lp->lp_ifp->if_vnet->v_callouts, 0,
	    NULL);
	if (lp->lp_stats != NULL)
		(void)callout_reset(&lp->lp_callout, PORT_STATS_NS,
		    port_stats, lp);
	return (0);
}

static void
linux_port_mode_end(int *fdp)
{

	if (*fdp != -1)
		close(*fdp);
	*fdp = -1;
}

void
linux_port_unwatch(struct linux_port *lp)
{

	NET_EPOCH_ASSERT_NOT();

	mtx_lock(&watch_mtx);
	LIST_REMOVE(lp, lp_link);
	mtx_unlock(&watch_mtx);
	callout_drain(&lp->lp_callout);
	linux_port_mode_end(&lp->lp_promisc);
	linux_port_mode_end(&lp->lp_allmulti);
}

int
linux_port_attach(struct linux_port *lp)
{
	int error;

	error = linux_port_watch(lp);
	if (error != 0)
		return (error);
	error = if_attach(lp->lp_ifp);
	if (error != 0)
		linux_port_unwatch(lp);
	return (error);
}

/*
 * Methods.
 */
int
linux_port_init(struct ifnet *ifp)
{
	struct linux_port *lp = ifp->if_softc;
	struct linux_if li;
	int error;

	if (linux_port_gone(lp))
		return (0);		/* up, with no carrier */
	error = linux_if_get_index(lp->lp_index, &li);
	if (error == 0 && !li.li_up)
		error = linux_if_setup(lp->lp_index, true);
	return (error == ENODEV ? 0 : error);
}

/*
 * Linux's MTU goes along, unless the device is out of our reach.  Where we may
 * not change it, what fits into it is fine as well.
 */
int
linux_port_setmtu(struct ifnet *ifp, uint32_t mtu)
{
	struct linux_port *lp = ifp->if_softc;
	struct linux_if li;
	int error;

	if (linux_port_gone(lp) || linux_port_away(lp))
		return (0);
	error = linux_if_setmtu(lp->lp_index, mtu);
	if (error == 0)
		return (0);
	if (linux_if_get_index(lp->lp_index, &li) == 0 && mtu <= li.li_mtu)
		return (0);
	return (error == EPERM ? EPERM : EINVAL);
}

int
linux_port_setlladdr(struct ifnet *ifp, const uint8_t *lladdr)
{
	struct linux_port *lp = ifp->if_softc;

	if (linux_port_gone(lp))
		return (0);
	return (linux_if_setmac(lp->lp_index, lladdr));
}

int
linux_port_setpromisc(struct ifnet *ifp, bool on)
{
	struct linux_port *lp = ifp->if_softc;

	if (on)
		return (linux_port_gone(lp) ? 0 :
		    linux_if_promisc(lp->lp_index, &lp->lp_promisc));
	linux_port_mode_end(&lp->lp_promisc);
	return (0);
}

int
linux_port_setallmulti(struct ifnet *ifp, bool on)
{
	struct linux_port *lp = ifp->if_softc;

	if (on)
		return (linux_port_gone(lp) ? 0 :
		    linux_if_allmulti(lp->lp_index, &lp->lp_allmulti));
	linux_port_mode_end(&lp->lp_allmulti);
	return (0);
}
