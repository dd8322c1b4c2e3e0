/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The XDP program on its device.
 *
 * It is attached by a bpf link, which the kernel takes away when the last fd
 * of it closes: with the interface, or with the process however it ends.
 * Nothing is pinned, so no bpffs is needed, and there is no dispatcher.  The
 * kernel does so a moment after a process died, so a program of ours that is
 * found on a device is waited for; one that stays belongs to a living process.
 * What a program is called is asked of xdp_asker.h; without the permission it
 * may be ours, and is waited for as well, but never removed without force.
 *
 * Configuration threads only; may sleep.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <linux/if_link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "drivers/drv.h"
#include "drivers/xdp_asker.h"
#include "drivers/xdp_private.h"
#include "sys/log.h"

/* bpftool's loader casts const away. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#include "xdp.skel.h"
#pragma GCC diagnostic pop

/* A program on a device. */
struct xdp_found {
	uint32_t	 xf_id;		/* 0: there is none */
	uint32_t	 xf_flags;	/* XDP_FLAGS_*_MODE it is in */
	char		 xf_name[XDP_NAME_LEN]; /* "": not to be known */
};

/* What the kernel said about the last failure; netlink tells, bpf(2) not. */
static _Thread_local char xdp_said[160];

static int __attribute__((format(printf, 2, 0)))
xdp_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	static const char mark[] = "Kernel error message: ";
	char line[256], *p;

	if (level != LIBBPF_WARN)
		return (0);
	vsnprintf(line, sizeof(line), fmt, ap);
	p = strstr(line, mark);
	if (p == NULL)
		return (0);
	p += sizeof(mark) - 1;
	p[strcspn(p, "\n")] = '\0';
	snprintf(xdp_said, sizeof(xdp_said), "%s", p);
	return (0);
}

static void
xdp_print_init(void)
{

	libbpf_set_print(xdp_print);
}

/*
 * What is there.
 */
static int
xdp_find(int ifindex, struct xdp_found *xf)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, opts);
	int error;

	memset(xf, 0, sizeof(*xf));
	error = -bpf_xdp_query(ifindex, 0, &opts);
	if (error != 0)
		return (error);
	if (opts.drv_prog_id != 0) {
		xf->xf_id = opts.drv_prog_id;
		xf->xf_flags = XDP_FLAGS_DRV_MODE;
	} else if (opts.skb_prog_id != 0) {
		xf->xf_id = opts.skb_prog_id;
		xf->xf_flags = XDP_FLAGS_SKB_MODE;
	} else if (opts.hw_prog_id != 0) {
		xf->xf_id = opts.hw_prog_id;
		xf->xf_flags = XDP_FLAGS_HW_MODE;
	} else
		return (0);
	/* Not allowed to look, or just gone: the name stays empty. */
	(void)xdp_asker_name(xf->xf_id, xf->xf_name);
	return (0);
}

/* Take away a program that is attached by a link, whoever holds the link. */
static int
xdp_unlink(int ifindex, uint32_t progid)
{
	struct bpf_link_info info;
	uint32_t id = 0, len;
	int error = ENOENT, fd;

	while (bpf_link_get_next_id(id, &id) == 0) {
		fd = bpf_link_get_fd_by_id(id);
		if (fd < 0)
			continue;
		memset(&info, 0, sizeof(info));
		len = sizeof(info);
		/* Indexes repeat in other namespaces, program ids do not. */
		if (bpf_obj_get_info_by_fd(fd, &info, &len) == 0 &&
		    info.type == BPF_LINK_TYPE_XDP &&
		    info.prog_id == progid &&
		    info.xdp.ifindex == (uint32_t)ifindex)
			error = -bpf_link_detach(fd);
		close(fd);
	}
	return (error);
}

int
xdp_prog_claim(struct xdp_softc *sc, bool force, char *err, size_t errlen)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const char *dev = sc->sc_port.lp_name;
	int error, ifindex = sc->sc_port.lp_index;
	struct xdp_found xf;
	bool known, ours;

	pthread_once(&once, xdp_print_init);
	for (int i = 0; i < XDP_WAIT_MAX; i++) {
		error = xdp_find(ifindex, &xf);
		if (error != 0)
			return (drv_error(error, err, errlen, "xdp:%s: cannot "
			    "ask for XDP programs: %s; use packet:%s instead",
			    dev, strerror(error), dev));
		if (xf.xf_id == 0)
			return (0);
		known = xf.xf_name[0] != '\0';
		ours = strcmp(xf.xf_name, XDP_PROG_NAME) == 0;
		if (known && !ours && !force)
			return (drv_error(EBUSY, err, errlen, "xdp:%s: "
			    "another XDP program, %s (id %u), is attached to "
			    "the device; remove it, or replace it with "
			    "xdp:%s,force, or use packet:%s", dev, xf.xf_name,
			    xf.xf_id, dev, dev));
		if (((ours || force) &&
		    bpf_xdp_detach(ifindex, xf.xf_flags, NULL) == 0) ||
		    (force && xdp_unlink(ifindex, xf.xf_id) == 0)) {
			log_msg(LOG_NOTICE, "xdp:%s: removed the XDP program "
			    "%s (id %u)", dev, known ? xf.xf_name : "there",
			    xf.xf_id);
			continue;
		}
		usleep(XDP_WAIT_US);
	}
	if (force)
		return (drv_error(EBUSY, err, errlen, "xdp:%s: cannot remove "
		    "the XDP program %s (id %u): a process holds it by a "
		    "link; stop that process, or use packet:%s", dev,
		    known ? xf.xf_name : "there", xf.xf_id, dev));
	if (known)
		return (drv_error(EBUSY, err, errlen, "xdp:%s: the device is "
		    "in use by another process of netepoch's (XDP program "
		    "%s, id %u); stop that, or take the device with "
		    "xdp:%s,force, or use packet:%s", dev, xf.xf_name,
		    xf.xf_id, dev, dev));
	return (drv_error(EBUSY, err, errlen, "xdp:%s: the device is in use "
	    "by another process (XDP program whose name may not be asked "
	    "here, id %u); stop that, or take the device with xdp:%s,force, "
	    "or use packet:%s", dev, xf.xf_id, dev, dev));
}

/*
 * Attach.
 */
static int
xdp_link(struct xdp_softc *sc, uint32_t flags)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = flags);
	int fd;

	fd = bpf_link_create(bpf_program__fd(sc->sc_bpf->progs.netepoch_xdp),
	    sc->sc_port.lp_index, BPF_XDP, &opts);
	if (fd < 0)
		return (-fd);
	sc->sc_link = fd;
	return (0);
}

/*
 * bpf(2) says only a number.  Asking the same by netlink gives the kernel's
 * words, "Peer MTU is too large to set XDP" for one.
 */
static const char *
xdp_reason(struct xdp_softc *sc, uint32_t flags, int error)
{
	int fd = bpf_program__fd(sc->sc_bpf->progs.netepoch_xdp);

	xdp_said[0] = '\0';
	if (bpf_xdp_attach(sc->sc_port.lp_index, fd,
	    flags | XDP_FLAGS_UPDATE_IF_NOEXIST, NULL) == 0)
		(void)bpf_xdp_detach(sc->sc_port.lp_index, flags, NULL);
	return (xdp_said[0] != '\0' ? xdp_said : strerror(error));
}

static int
xdp_load(struct xdp_softc *sc, char *err, size_t errlen)
{
	const char *dev = sc->sc_port.lp_name;
	int error, fd;

	sc->sc_bpf = xdp_bpf__open();
	if (sc->sc_bpf == NULL)
		return (drv_error(errno, err, errlen, "xdp:%s: cannot open "
		    "the XDP program: %s", dev, strerror(errno)));
	error = -bpf_map__set_max_entries(sc->sc_bpf->maps.netepoch_xsks,
	    sc->sc_nqueues);
	if (error == 0)
		error = -xdp_bpf__load(sc->sc_bpf);
	if (error == EPERM)
		return (drv_error(error, err, errlen, "xdp:%s: no permission "
		    "to load an XDP program: CAP_BPF and CAP_NET_ADMIN are "
		    "needed outside any user namespace; use packet:%s "
		    "instead", dev, dev));
	if (error != 0)
		return (drv_error(error, err, errlen, "xdp:%s: cannot load "
		    "the XDP program: %s; use packet:%s instead", dev,
		    strerror(error), dev));
	for (uint32_t i = 0; i < sc->sc_nqueues && error == 0; i++) {
		fd = sc->sc_queues[i].xq_fd;
		error = -bpf_map__update_elem(
		    sc->sc_bpf->maps.netepoch_xsks, &i, sizeof(i), &fd,
		    sizeof(fd), BPF_ANY);
	}
	if (error != 0)
		return (drv_error(error, err, errlen, "xdp:%s: cannot give "
		    "the sockets to the XDP program: %s", dev,
		    strerror(error)));
	return (0);
}

/* What mode did we really get? */
static int
xdp_readback(struct xdp_softc *sc, enum xdp_mode mode, char *err,
    size_t errlen)
{
	const char *dev = sc->sc_port.lp_name;
	struct xdp_found xf;
	int error;

	error = xdp_find(sc->sc_port.lp_index, &xf);
	if (error == 0 && xf.xf_id == 0)
		error = ENOENT;
	if (error != 0)
		return (drv_error(error, err, errlen, "xdp:%s: the XDP "
		    "program is not there after attaching it: %s", dev,
		    strerror(error)));
	sc->sc_native = (xf.xf_flags & XDP_FLAGS_SKB_MODE) == 0;
	if (mode != XDP_MODE_ANY && sc->sc_native != (mode == XDP_MODE_NATIVE))
		return (drv_error(EOPNOTSUPP, err, errlen, "xdp:%s: asked for "
		    "%s mode, got %s", dev,
		    mode == XDP_MODE_NATIVE ? "native" : "generic",
		    sc->sc_native ? "native" : "generic"));
	return (0);
}

int
xdp_prog_attach(struct xdp_softc *sc, enum xdp_mode mode, char *err,
    size_t errlen)
{
	const char *dev = sc->sc_port.lp_name;
	uint32_t flags = mode == XDP_MODE_GENERIC ? XDP_FLAGS_SKB_MODE :
	    XDP_FLAGS_DRV_MODE;
	int error;

	error = xdp_load(sc, err, errlen);
	if (error != 0)
		return (error);
	error = xdp_link(sc, flags);
	if (error != 0 && mode == XDP_MODE_ANY) {
		log_msg(LOG_NOTICE, "xdp:%s: no native mode (%s), trying "
		    "generic", dev, xdp_reason(sc, flags, error));
		flags = XDP_FLAGS_SKB_MODE;
		error = xdp_link(sc, flags);
	}
	if (error != 0)
		return (drv_error(error, err, errlen, "xdp:%s: cannot attach "
		    "the XDP program in %s mode: %s; use packet:%s instead",
		    dev, flags == XDP_FLAGS_SKB_MODE ? "generic" : "native",
		    xdp_reason(sc, flags, error), dev));
	return (xdp_readback(sc, mode, err, errlen));
}

void
xdp_prog_detach(struct xdp_softc *sc)
{

	if (sc->sc_link != -1)
		close(sc->sc_link);
	sc->sc_link = -1;
	if (sc->sc_bpf != NULL)
		xdp_bpf__destroy(sc->sc_bpf);
	sc->sc_bpf = NULL;
}
