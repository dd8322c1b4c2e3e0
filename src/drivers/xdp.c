/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Linux devices by AF_XDP: one socket for each queue, packets neither copied
 * nor re-allocated between two of them.  Options:
 *
 *	mode=native|generic	else native, or generic if that fails, told
 *	copy, zerocopy		else what the device can do
 *	queues=N		else all that the device uses now
 *	cksum=auto|off		finish checksums that a veth peer left open
 *	force			take another's XDP program off the device
 *	cpu=N			queue i is served by ithread N + i
 *
 * Making and destroying, under the configuration lock; xdp_queue.c has the
 * packets and xdp_prog.c the program.
 */
#include <sys/resource.h>
#include <sys/socket.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/drv.h"
#include "drivers/xdp_private.h"
#include "ifnet/if_clone.h"
#include "intr/intr_var.h"
#include "sys/log.h"
#include "wire/ether.h"

#define	XDP_RING_MAX	2048u
#define	XDP_RING_MIN	(2 * MBUF_BURST)
/* Two tags beside or inside the frame. */
#define	XDP_MTU_MAX	(XDP_FRAME_MAX - ETHER_HDR_LEN -		\
			2 * ETHER_VLAN_ENCAP_LEN)

struct xdp_options_given {
	enum xdp_mode	 xo_mode;
	enum xdp_copy	 xo_copy;
	bool		 xo_cksum;
	bool		 xo_force;
	long		 xo_queues;	/* 0: all */
	long		 xo_busypoll;	/* frames; 0: leave it to the kernel */
	int		 xo_cpu;
	struct drv_input xo_input;
};

/*
 * Options.
 */
static int
xdp_option_word(struct if_spec *sp, const char *name, const char *a,
    const char *b, int *which, char *err, size_t errlen)
{
	const char *val = if_spec_option(sp, name);

	*which = 0;
	if (val == NULL)
		return (0);
	*which = strcmp(val, a) == 0 ? 1 : strcmp(val, b) == 0 ? 2 : -1;
	if (*which == -1)
		return (drv_error(EINVAL, err, errlen, "%s: expected %s or "
		    "%s, got \"%s\"", name, a, b, val));
	return (0);
}

static int
xdp_options(struct if_spec *sp, struct vnet *vnet,
    struct xdp_options_given *xo, char *err, size_t errlen)
{
	bool copy, zero;
	int error, which;

	memset(xo, 0, sizeof(*xo));
	error = xdp_option_word(sp, "mode", "native", "generic", &which, err,
	    errlen);
	if (error != 0)
		return (error);
	xo->xo_mode = which == 1 ? XDP_MODE_NATIVE : which == 2 ?
	    XDP_MODE_GENERIC : XDP_MODE_ANY;
	error = xdp_option_word(sp, "cksum", "auto", "off", &which, err,
	    errlen);
	if (error != 0)
		return (error);
	xo->xo_cksum = which != 2;
	copy = if_spec_option(sp, "copy") != NULL;
	zero = if_spec_option(sp, "zerocopy") != NULL;
	if (copy && zero)
		return (drv_error(EINVAL, err, errlen, "copy and zerocopy "
		    "exclude each other"));
	xo->xo_copy = copy ? XDP_COPY_COPY : zero ? XDP_COPY_ZERO :
	    XDP_COPY_ANY;
	xo->xo_force = if_spec_option(sp, "force") != NULL;
	error = drv_option_int(sp, "queues", 1, XDP_QUEUES_MAX, 0,
	    &xo->xo_queues, err, errlen);
	if (error == 0)
		error = drv_option_int(sp, "busypoll", 0, XDP_BUSYPOLL_MAX, 0,
		    &xo->xo_busypoll, err, errlen);
	if (error == 0)
		error = drv_option_cpu(sp, vnet, &xo->xo_cpu, err, errlen);
	if (error == 0)
		error = drv_option_input(sp, &xo->xo_input, err, errlen);
	if (error == 0)
		error = if_spec_unused(sp, err, errlen);
	return (error);
}

/*
 * The kernel's counters, once a second.
 */
static void
xdp_stats(struct linux_port *lp)
{
	struct xdp_softc *sc = (struct xdp_softc *)lp;
	struct xdp_statistics st;
	uint64_t lost = 0;
	socklen_t len;

	for (uint32_t i = 0; i < sc->sc_nqueues; i++) {
		len = sizeof(st);
		if (getsockopt(sc->sc_queues[i].xq_fd, SOL_XDP, XDP_STATISTICS,
		    &st, &len) == 0)
			lost += st.rx_dropped + st.rx_ring_full;
	}
	if (lost <= sc->sc_lost)
		return;
	if_count_drop(lp->lp_ifp, IFD_RXRING, lost - sc->sc_lost);
	sc->sc_lost = lost;
	if (!sc->sc_native && !sc->sc_warned) {
		sc->sc_warned = true;
		log_msg(LOG_WARNING, "%s: the kernel dropped frames for %s; "
		    "in generic mode those over %u bytes are among them, "
		    "which a peer with segmentation offload sends: switch "
		    "that off there, or use packet:%s", lp->lp_ifp->if_name,
		    lp->lp_name, XDP_FRAME_MAX, lp->lp_name);
	}
}

/*
 * Queues.
 */
static int
xdp_queue_error(struct xdp_softc *sc, uint32_t id, int error, char *err,
    size_t errlen)
{
	const char *dev = sc->sc_port.lp_name;
	const char *why;

	switch (error) {
	case EPERM:
	case EACCES:
		why = "no permission: CAP_NET_RAW is needed";
		break;
	case ENOBUFS:
		why = "the limit of locked memory (ulimit -l) is too low for "
		    "the packet memory";
		break;
	case EBUSY:
		why = "another process has an AF_XDP socket on this queue";
		break;
	case EOPNOTSUPP:
		why = "the device has no zero-copy mode";
		break;
	case EAFNOSUPPORT:
		why = "the kernel has no AF_XDP";
		break;
	default:
		why = strerror(error);
	}
	return (drv_error(error, err, errlen, "xdp:%s: cannot open queue %u: "
	    "%s; use packet:%s instead", dev, id, why, dev));
}

/* Close everything that is open and free the softc. */
static void
xdp_close(struct xdp_softc *sc)
{

	xdp_prog_detach(sc);
	while (sc->sc_nlive > 0)
		xdp_queue_close(&sc->sc_queues[--sc->sc_nlive]);
	if (sc->sc_umem != NULL)
		(void)xsk_umem__delete(sc->sc_umem);
	free(sc->sc_queues);
	free(sc);
}

static int
xdp_open(struct xdp_softc *sc, const struct xdp_options_given *xo, char *err,
    size_t errlen)
{
	const char *dev = sc->sc_port.lp_name;
	struct rlimit rl = { RLIM_INFINITY, RLIM_INFINITY };
	struct xdp_options opt;
	socklen_t len = sizeof(opt);
	uint32_t has = linux_if_queues(dev);
	int error;

	sc->sc_nqueues = xo->xo_queues != 0 ? (uint32_t)xo->xo_queues : has;
	if (sc->sc_nqueues > has || sc->sc_nqueues > XDP_QUEUES_MAX)
		return (drv_error(EINVAL, err, errlen, "xdp:%s: queues: "
		    "expected at most %u, got %u", dev,
		    has < XDP_QUEUES_MAX ? has : XDP_QUEUES_MAX,
		    sc->sc_nqueues));
	if (sc->sc_nqueues < has)
		log_msg(LOG_WARNING, "xdp:%s: %u of %u queues are used; what "
		    "the device receives on the others goes to Linux", dev,
		    sc->sc_nqueues, has);
	sc->sc_busypoll = (uint32_t)xo->xo_busypoll;
	/* Rings of all queues may hold this part of all frames. */
	for (sc->sc_ring = XDP_RING_MAX; sc->sc_ring > XDP_RING_MIN &&
	    sc->sc_ring * sc->sc_nqueues > mbuf_nframes() / 8; )
		sc->sc_ring /= 2;
	sc->sc_queues = aligned_alloc(CACHE_LINE_SIZE,
	    sc->sc_nqueues * sizeof(*sc->sc_queues));
	if (sc->sc_queues == NULL)
		return (drv_error(ENOMEM, err, errlen, "xdp:%s: no memory",
		    dev));
	memset(sc->sc_queues, 0, sc->sc_nqueues * sizeof(*sc->sc_queues));
	/* Not being allowed shows below, if it matters. */
	(void)setrlimit(RLIMIT_MEMLOCK, &rl);
	for (uint32_t i = 0; i < sc->sc_nqueues; i++) {
		error = xdp_queue_open(sc, i, xo->xo_copy);
		if (error != 0)
			return (xdp_queue_error(sc, i, error, err, errlen));
		sc->sc_nlive++;
	}
	if (getsockopt(sc->sc_queues[0].xq_fd, SOL_XDP, XDP_OPTIONS, &opt,
	    &len) == 0)
		sc->sc_zerocopy = (opt.flags & XDP_OPTIONS_ZEROCOPY) != 0;
	return (xdp_prog_attach(sc, xo->xo_mode, err, errlen));
}

/*
 * Interfaces.
 */
static int
xdp_ifnet(struct xdp_softc *sc, struct vnet *vnet, const char *name,
    const struct linux_if *li)
{
	struct ifnet *ifp;
	int error;

	error = linux_port_ifnet(&sc->sc_port, vnet, &xdp_driver, name, li);
	if (error != 0)
		return (error);
	ifp = sc->sc_port.lp_ifp;
	sc->sc_port.lp_stats = xdp_stats;
	atomic_init(&ifp->if_output, xdp_output);
	snprintf(ifp->if_media, sizeof(ifp->if_media),
	    "xdp %s %s, %u queue%s", sc->sc_native ? "native" : "generic",
	    sc->sc_zerocopy ? "zero-copy" : "copy", sc->sc_nqueues,
	    sc->sc_nqueues == 1 ? "" : "s");
	ifp->if_mtu_max = li->li_mtu_max != 0 &&
	    li->li_mtu_max < XDP_MTU_MAX ? li->li_mtu_max : XDP_MTU_MAX;
	ifp->if_capabilities = IFCAP_VLAN_MTU | IFCAP_JUMBO_MTU |
	    IFCAP_LINKSTATE;
	atomic_init(&ifp->if_capenable, ifp->if_capabilities);
	log_msg(LOG_INFO, "%s: %s on %s", name, ifp->if_media,
	    sc->sc_port.lp_name);
	return (0);
}

/* Interrupts for all queues, or none. */
static int
xdp_start(struct xdp_softc *sc, const char *name,
    const struct xdp_options_given *xo)
{
	char driver[32], evname[48];
	bool veth;
	int cpu, error, ncpus;

	linux_if_driver(sc->sc_port.lp_name, driver, sizeof(driver));
	veth = strcmp(driver, "veth") == 0;
	ncpus = intr_domain_ncpus(sc->sc_port.lp_ifp->if_vnet->v_intr);
	for (uint32_t i = 0; i < sc->sc_nqueues; i++) {
		snprintf(evname, sizeof(evname), sc->sc_nqueues == 1 ? "%s" :
		    "%s:rxq%u", name, i);
		cpu = xo->xo_cpu == -1 ? -1 : (xo->xo_cpu + (int)i) % ncpus;
		sc->sc_queues[i].xq_cksum = veth && xo->xo_cksum;
		error = xdp_queue_start(&sc->sc_queues[i], evname, cpu);
		if (error != 0) {
			while (i > 0)
				xdp_queue_stop(&sc->sc_queues[--i]);
			return (error);
		}
	}
	return (0);
}

static void
xdp_stop(struct xdp_softc *sc)
{

	for (uint32_t i = 0; i < sc->sc_nqueues; i++)
		xdp_queue_stop(&sc->sc_queues[i]);
}

/* Find the device and see that AF_XDP can have it. */
static int
xdp_device(struct xdp_softc *sc, struct if_spec *sp, bool force,
    struct linux_if *li, char *err, size_t errlen)
{
	int error;

	error = linux_port_open(&sc->sc_port, "xdp", sp->sp_device, li, err,
	    errlen);
	if (error != 0)
		return (error);
	if (li->li_mtu > XDP_MTU_MAX)
		return (drv_error(EMSGSIZE, err, errlen, "xdp:%s: the "
		    "device's MTU of %u is too large for AF_XDP, which takes "
		    "%u at most; lower it, or use packet:%s",
		    sc->sc_port.lp_name, li->li_mtu, XDP_MTU_MAX,
		    sc->sc_port.lp_name));
	return (xdp_prog_claim(sc, force, err, errlen));
}

static int
xdp_create(struct vnet *vnet, const char *name, struct if_spec *sp,
    struct ifnet **ifpp, char *err, size_t errlen)
{
	struct xdp_options_given xo;
	struct xdp_softc *sc;
	struct linux_if li;
	int error;

	VNET_CONFIG_ASSERT(vnet);

	error = xdp_options(sp, vnet, &xo, err, errlen);
	if (error != 0)
		return (error);
	if ((sc = calloc(1, sizeof(*sc))) == NULL)
		return (drv_error(ENOMEM, err, errlen, "%s: no memory", name));
	sc->sc_link = -1;
	sc->sc_input = xo.xo_input;
	error = xdp_device(sc, sp, xo.xo_force, &li, err, errlen);
	if (error == 0)
		error = xdp_open(sc, &xo, err, errlen);
	if (error != 0) {
		xdp_close(sc);
		return (error);
	}
	error = xdp_ifnet(sc, vnet, name, &li);
	if (error != 0)
		goto close_device;
	sc->sc_intr = drv_input_init(&sc->sc_input, sc->sc_port.lp_ifp);
	error = xdp_start(sc, name, &xo);
	if (error != 0)
		goto free_ifp;
	error = linux_port_attach(&sc->sc_port);
	if (error != 0)
		goto stop_queues;
	*ifpp = sc->sc_port.lp_ifp;
	return (0);
stop_queues:
	xdp_stop(sc);
free_ifp:
	if_free(sc->sc_port.lp_ifp);
close_device:
	xdp_close(sc);
	return (drv_error(error, err, errlen, "%s: %s", name,
	    strerror(error)));
}

static void
xdp_destroy(struct ifnet *ifp)
{
	struct xdp_softc *sc = ifp->if_softc;

	linux_port_unwatch(&sc->sc_port);
	xdp_prog_detach(sc);
	xdp_stop(sc);
	if_detach(ifp);
	xdp_stats(&sc->sc_port);
	xdp_close(sc);
	if_free(ifp);
}

const struct if_driver xdp_driver = {
	.drv_name = "xdp",
	.drv_descr = "network card or veth, by AF_XDP",
	.drv_device = true,
	.drv_create = xdp_create,
	.drv_destroy = xdp_destroy,
};
