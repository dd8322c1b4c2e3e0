/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The boundary to Linux: its devices, asked and changed by netlink, ethtool
 * and the tun driver.  This header names nothing of Linux's, because Linux's
 * interface flags have our flags' names and other values; linux_if.c is the
 * only file that includes both worlds' neighbours, and only Linux's.
 *
 * Any thread that may block; outside the epoch.  All functions return errno
 * values unless said otherwise.
 */
#ifndef _DRIVERS_LINUX_IF_H_
#define	_DRIVERS_LINUX_IF_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define	LINUX_IFNAMSIZ	16		/* with the NUL */

/* What Linux says of a device. */
struct linux_if {
	char	 li_name[LINUX_IFNAMSIZ];
	int	 li_index;
	bool	 li_gone;		/* it has left this namespace */
	bool	 li_ether;		/* its frames are Ethernet's */
	bool	 li_up;			/* administratively */
	bool	 li_carrier;		/* up, with a link */
	uint8_t	 li_mac[6];
	uint32_t li_mtu;		/* bytes */
	uint32_t li_mtu_max;		/* bytes; 0: not said */
};

/* ENODEV, ENAMETOOLONG, or what netlink says. */
int	linux_if_get(const char *name, struct linux_if *li);
int	linux_if_get_index(int index, struct linux_if *li);
/* "veth", or "" if the driver does not say. */
void	linux_if_driver(const char *name, char *buf, size_t len);
/* Queues that may carry packets now; at least 1. */
uint32_t linux_if_queues(const char *name);

/* EPERM without CAP_NET_ADMIN; EINVAL: the device does not take it. */
int	linux_if_setmtu(int index, uint32_t mtu);
int	linux_if_setmac(int index, const uint8_t *mac);
int	linux_if_setup(int index, bool up);
/*
 * Have the device receive what is for other stations, too, for as long as the
 * fd is open.  EPERM without CAP_NET_RAW.
 */
int	linux_if_promisc(int index, int *fdp);
/* The same for frames to all groups. */
int	linux_if_allmulti(int index, int *fdp);

/*
 * Open a new TAP device called name, gone again when *fdp is closed, with a
 * virtio header before each frame, checksums and TCP segmentation left to us;
 * non-blocking.  EBUSY: the name is taken, EPERM, ENOENT: no tun driver.
 */
int	linux_tap_open(const char *name, int *fdp);
/*
 * Take over an open TAP device: EINVAL if fd is not one.  Sets the modes that
 * linux_tap_open() sets and fills name (LINUX_IFNAMSIZ bytes).
 */
int	linux_tap_take(int fd, char *name);
/* Does the TAP device of fd exist, in whichever namespace?  Never blocks. */
bool	linux_tap_exists(int fd);
#define	LINUX_TAP_HDRLEN	10	/* bytes of the virtio header */

/*
 * A netlink socket that hears of every change of a device.  Reading calls fn
 * for each one that waits; ENOBUFS: some were lost, ask again about all.
 */
typedef void linux_if_fn(void *arg, const struct linux_if *li);
int	linux_monitor_open(int *fdp);
int	linux_monitor_read(int fd, linux_if_fn *fn, void *arg);

#endif /* _DRIVERS_LINUX_IF_H_ */
