/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A TAP device: what we send, Linux receives on it, and the other way round.
 * For virtual machines, containers and services of the host.
 *
 * "tap:NAME" makes a device of that name, which goes with the interface;
 * "tap:NAME,fd=N" takes one that somebody opened for us.  The device's own MAC
 * is the Linux side's; ours is generated.  The device may be moved into
 * another network namespace, a container's, and works on from there.
 *
 * Frames carry a virtio header, so Linux leaves checksums unfinished and TCP
 * unsegmented; large frames are split here.  Taking them whole costs one
 * system call for up to 64 KiB instead of 45.
 *
 * Reading: the ithread (t).  Writing: any thread, a system call per packet.
 */
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "drivers/drv.h"
#include "drivers/linux_port.h"
#include "drivers/vhdr.h"
#include "ifnet/if_clone.h"
#include "intr/intr_var.h"
#include "sys/log.h"
#include "wire/ether.h"

#define	TAP_FRAME_MAX	(65536u + 64)	/* bytes of one read */
#define	TAP_MTU_MAX	65521u
#define	TAP_IOVS	64		/* pieces of one packet */

static_assert(sizeof(struct virtio_net_hdr) == LINUX_TAP_HDRLEN, "header");

struct tap_softc {
	struct linux_port sc_port;	/* first: if_softc */
	int		 sc_fd;		/* (c) after a loss: of /dev/null */
	struct intr_event *sc_ie;	/* (c) */
	struct intr_handler *sc_ih;	/* (c) */
	struct vhdr_split sc_split;	/* (t) of what is in sc_frame */
	struct log_limit sc_limit;
	uint8_t		 sc_frame[TAP_FRAME_MAX]; /* (t) */
};

/*
 * Read one frame.  False: there is none.  *mp is the packet; NULL if it was
 * dropped, or is large and now being split.
 */
static bool
tap_read(struct tap_softc *sc, struct mbuf **mp)
{
	struct ifnet *ifp = sc->sc_port.lp_ifp;
	struct virtio_net_hdr vh;
	struct iovec iov[2] = {
		{ &vh, sizeof(vh) },
		{ sc->sc_frame, sizeof(sc->sc_frame) },
	};
	struct mbuf *m;
	ssize_t len;

	*mp = NULL;
	len = readv(sc->sc_fd, iov, 2);
	if (len <= (ssize_t)sizeof(vh))
		return (false);
	len -= (ssize_t)sizeof(vh);
	if (vhdr_is_gso(&vh)) {
		if (!vhdr_split_begin(&sc->sc_split, sc->sc_frame,
		    (uint32_t)len, &vh)) {
			if_count_drop(ifp, IFD_TOOBIG, 1);
			log_limited(&sc->sc_limit, 1, LOG_WARNING, "%s: a "
			    "frame of %zd bytes cannot be split; switch "
			    "segmentation offload off on %s", ifp->if_name,
			    len, sc->sc_port.lp_name);
		}
		return (true);
	}
	m = m_devget(sc->sc_frame, (uint32_t)len);
	if (m == NULL) {
		if_count_drop(ifp, IFD_NOMBUF, 1);
		return (true);
	}
	if (!vhdr_cksum(m, &vh)) {
		if_drop(ifp, m, IFD_RXERR);
		return (true);
	}
	*mp = m;
	return (true);
}

static enum intr_more
tap_intr(void *arg)
{
	struct tap_softc *sc = arg;
	struct ifnet *ifp = sc->sc_port.lp_ifp;
	struct mbuf *m[MBUF_BURST];
	unsigned int lost = 0, n = 0;
	bool more = true;

	NET_EPOCH_ASSERT();

	if (linux_port_gone(&sc->sc_port))
		return (INTR_DONE);
	for (unsigned int i = 0; i < MBUF_BURST && more &&
	    !sc->sc_split.vs_active; i++) {
		more = tap_read(sc, &m[n]);
		if (more && m[n] != NULL)
			n++;
	}
	if (sc->sc_split.vs_active && n < MBUF_BURST) {
		n += vhdr_split_next(&sc->sc_split, m + n, MBUF_BURST - n,
		    &lost);
		if (lost != 0)
			if_count_drop(ifp, IFD_NOMBUF, lost);
	}
	if (n != 0)
		atomic_load_explicit(&ifp->if_input, memory_order_acquire)
		    (ifp, m, n);
	return (more ? INTR_MORE : INTR_DONE);
}

/* Why a write failed. */
static enum if_drop
tap_write_error(int error)
{

	switch (error) {
	case EAGAIN:
	case ENOBUFS:
	case ENOMEM:
		return (IFD_TXRING);
	case EMSGSIZE:
		return (IFD_TOOBIG);
	default:
		return (IFD_TXERR);	/* EIO: the device is down */
	}
}

static void
tap_output(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	struct tap_softc *sc = ifp->if_softc;
	struct iovec iov[TAP_IOVS + 1];
	struct virtio_net_hdr vh;
	const struct mbuf *p;
	int k;

	NET_EPOCH_ASSERT();

	if (linux_port_gone(&sc->sc_port)) {
		if_output_drop(ifp, m, n, IFD_TXERR);
		return;
	}
	for (unsigned int i = 0; i < n; i++) {
		vhdr_fill(&vh, m[i]);
		iov[0] = (struct iovec){ &vh, sizeof(vh) };
		k = 1;
		for (p = m[i]; p != NULL && k <= TAP_IOVS; p = p->m_next)
			iov[k++] = (struct iovec){ p->m_data, p->m_len };
		if (p != NULL)
			if_output_drop(ifp, &m[i], 1, IFD_TOOBIG);
		else if (writev(sc->sc_fd, iov, k) == -1)
			if_output_drop(ifp, &m[i], 1, tap_write_error(errno));
		else
			m_freem(m[i]);
	}
}

/*
 * Configuration.
 */

/*
 * The fd of a TAP whose device was deleted reports an error for ever and
 * would keep its ithread awake.  Put another file in its place, under the
 * same number, which threads in tap_output() may just be using.
 */
static void
tap_changed(struct linux_port *lp)
{
	struct tap_softc *sc = (struct tap_softc *)lp;
	int fd;

	if (!linux_port_gone(lp))
		return;
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd == -1 || dup3(fd, sc->sc_fd, O_CLOEXEC) == -1)
		log_msg(LOG_ERR, "%s: cannot let go of %s: %s",
		    lp->lp_ifp->if_name, lp->lp_name, strerror(errno));
	if (fd != -1)
		close(fd);
}

static bool
tap_exists(struct linux_port *lp)
{

	return (linux_tap_exists(((struct tap_softc *)lp)->sc_fd));
}

/* Of a device in another namespace nobody tells us that it was deleted. */
static void
tap_stats(struct linux_port *lp)
{

	if (linux_port_away(lp) && !tap_exists(lp))
		linux_port_lost(lp);
}

/* The Linux side keeps its own MAC, and is brought up by its users. */
static int
tap_ifnet(struct tap_softc *sc, struct vnet *vnet, const char *name,
    const struct linux_if *li)
{
	struct linux_if mine = *li;
	struct ifnet *ifp;
	int error;

	drv_random_mac(mine.li_mac);
	error = linux_port_ifnet(&sc->sc_port, vnet, &tap_driver, name, &mine);
	if (error != 0)
		return (error);
	ifp = sc->sc_port.lp_ifp;
	sc->sc_port.lp_stats = tap_stats;
	sc->sc_port.lp_changed = tap_changed;
	sc->sc_port.lp_exists = tap_exists;
	atomic_init(&ifp->if_output, tap_output);
	ifp->if_init = NULL;
	ifp->if_setlladdr = NULL;
	ifp->if_setpromisc = NULL;
	ifp->if_setallmulti = NULL;
	snprintf(ifp->if_media, sizeof(ifp->if_media), "tap device");
	ifp->if_mtu_max = TAP_MTU_MAX;
	ifp->if_capabilities = IFCAP_RXCSUM | IFCAP_TXCSUM | IFCAP_VLAN_MTU |
	    IFCAP_JUMBO_MTU | IFCAP_LINKSTATE;
	atomic_init(&ifp->if_capenable, ifp->if_capabilities);
	return (0);
}

static int
tap_open(struct tap_softc *sc, const char *dev, long fd, struct linux_if *li,
    char *err, size_t errlen)
{
	char name[LINUX_IFNAMSIZ];
	int error;

	if (fd != -1) {
		error = linux_tap_take((int)fd, name);
		if (error == 0 && strcmp(name, dev) != 0)
			error = EINVAL;
		if (error != 0)
			return (drv_error(error, err, errlen, "tap:%s: fd=%ld "
			    "is not the open TAP device %s with a virtio "
			    "header", dev, fd, dev));
		sc->sc_fd = (int)fd;
	} else {
		error = linux_tap_open(dev, &sc->sc_fd);
		if (error == EPERM || error == EACCES)
			return (drv_error(error, err, errlen, "tap:%s: no "
			    "permission to make a TAP device: CAP_NET_ADMIN "
			    "and access to /dev/net/tun are needed", dev));
		if (error == ENAMETOOLONG)
			return (drv_error(error, err, errlen, "tap:%s: "
			    "expected a device name of 1 to %u characters",
			    dev, LINUX_IFNAMSIZ - 1));
		if (error == EBUSY)
			return (drv_error(error, err, errlen, "tap:%s: there "
			    "is a Linux device of that name already", dev));
		if (error != 0)
			return (drv_error(error, err, errlen, "tap:%s: cannot "
			    "make a TAP device: %s", dev, strerror(error)));
	}
	return (linux_port_open(&sc->sc_port, "tap", dev, li, err, errlen));
}

static void
tap_close(struct tap_softc *sc)
{

	if (sc->sc_fd != -1)
		close(sc->sc_fd);
	free(sc);
}

static int
tap_create(struct vnet *vnet, const char *name, struct if_spec *sp,
    struct ifnet **ifpp, char *err, size_t errlen)
{
	struct tap_softc *sc;
	struct linux_if li;
	int cpu, error;
	long fd;

	VNET_CONFIG_ASSERT(vnet);

	error = drv_option_int(sp, "fd", 0, INT_MAX, -1, &fd, err, errlen);
	if (error == 0)
		error = drv_option_cpu(sp, vnet, &cpu, err, errlen);
	if (error == 0)
		error = if_spec_unused(sp, err, errlen);
	if (error != 0)
		return (error);
	if ((sc = calloc(1, sizeof(*sc))) == NULL)
		return (drv_error(ENOMEM, err, errlen, "%s: no memory", name));
	sc->sc_fd = -1;
	error = tap_open(sc, sp->sp_device, fd, &li, err, errlen);
	if (error != 0) {
		tap_close(sc);
		return (error);
	}
	error = tap_ifnet(sc, vnet, name, &li);
	if (error != 0)
		goto close_device;
	error = intr_event_create(vnet->v_intr, name, cpu, sc->sc_fd, EPOLLIN,
	    &sc->sc_ie);
	if (error != 0)
		goto free_ifp;
	error = intr_handler_add(sc->sc_ie, INTR_TYPE_NET, tap_intr, NULL, sc,
	    &sc->sc_ih);
	if (error != 0)
		goto destroy_event;
	error = linux_port_attach(&sc->sc_port);
	if (error != 0)
		goto remove_handler;
	*ifpp = sc->sc_port.lp_ifp;
	return (0);
remove_handler:
	intr_handler_remove(sc->sc_ih);
destroy_event:
	intr_event_destroy(sc->sc_ie);
free_ifp:
	if_free(sc->sc_port.lp_ifp);
close_device:
	tap_close(sc);
	return (drv_error(error, err, errlen, "%s: %s", name,
	    strerror(error)));
}

static void
tap_destroy(struct ifnet *ifp)
{
	struct tap_softc *sc = ifp->if_softc;

	linux_port_unwatch(&sc->sc_port);
	intr_handler_remove(sc->sc_ih);
	intr_event_destroy(sc->sc_ie);
	if_detach(ifp);
	tap_close(sc);
	if_free(ifp);
}

const struct if_driver tap_driver = {
	.drv_name = "tap",
	.drv_descr = "a TAP device of Linux, made for the purpose",
	.drv_device = true,
	.drv_create = tap_create,
	.drv_destroy = tap_destroy,
};
