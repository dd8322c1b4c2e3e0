/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the parts of the xdp driver share: xdp.c makes and destroys
 * interfaces, xdp_queue.c moves packets, xdp_prog.c attaches the program.
 *
 * Keys: t = the ithread of xq_ie, x = xq_mtx.
 */
#ifndef _DRIVERS_XDP_PRIVATE_H_
#define	_DRIVERS_XDP_PRIVATE_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <xdp/xsk.h>

#include "drivers/drv_input.h"
#include "drivers/linux_port.h"
#include "intr/callout.h"
#include "sys/lock.h"

#ifndef XDP_MAX_TX_SKB_BUDGET
#define	XDP_MAX_TX_SKB_BUDGET	9	/* Linux 6.18 */
#endif

#define	XDP_PROG_NAME	"netepoch_xdp"	/* as in xdp.bpf.c */
#define	XDP_QUEUES_MAX	64
/* Bytes that the kernel keeps in front of a received frame. */
#define	XDP_HEADROOM	256u
/* The longest frame that fits behind it, tags included. */
#define	XDP_FRAME_MAX	(MBUF_FRAME_SIZE - XDP_HEADROOM)
/* What a dead process or socket held goes only after a moment: tries for it. */
#define	XDP_WAIT_US	5000u
#define	XDP_WAIT_MAX	600
#define	XDP_BUSYPOLL_MAX 1024	/* frames that one busy poll may take */

enum xdp_mode { XDP_MODE_ANY, XDP_MODE_NATIVE, XDP_MODE_GENERIC };
enum xdp_copy { XDP_COPY_ANY, XDP_COPY_COPY, XDP_COPY_ZERO };

struct xdp_softc;

struct xdp_queue {
	struct xdp_softc *xq_sc;	/* (c) */
	struct ifnet	*xq_ifp;	/* (c) */
	struct xsk_socket *xq_xsk;	/* (c) */
	int		 xq_fd;		/* (c) the socket's */
	bool		 xq_cksum;	/* (c) look for partial checksums */
	bool		 xq_starved;	/* (t) the fill ring wants mbufs */
	bool		 xq_busypoll;	/* (c) receive by system call */
	struct xsk_ring_cons xq_rx;	/* (t) */
	struct xsk_ring_prod xq_fill;	/* (t) */
	uint64_t	*xq_rxown;	/* (t) bit per frame: in fill or rx */
	uint32_t	 xq_seen;	/* (t) frames unsent a pass ago */
	_Atomic(const void *) xq_owner;	/* (a) relaxed: mark of t */
	struct intr_event *xq_ie;	/* (c) */
	struct intr_handler *xq_ih;	/* (c) */
	struct callout	 xq_retry;	/* schedules xq_ie */

	struct mtx	 xq_mtx __cacheline_aligned;
	struct xsk_ring_prod xq_tx;	/* (x) */
	struct xsk_ring_cons xq_comp;	/* (x) */
	uint64_t	*xq_txown;	/* (x) bit per frame: in tx or comp */
};

struct xdp_softc {
	struct linux_port sc_port;	/* first: if_softc */
	struct xsk_umem	*sc_umem;	/* (c) */
	struct xdp_queue *sc_queues;	/* (c) */
	uint32_t	 sc_nqueues;	/* (c) */
	uint32_t	 sc_nlive;	/* (c) queues with a socket; while
					   being made and destroyed */
	uint32_t	 sc_ring;	/* (c) descriptors in each ring */
	uint32_t	 sc_busypoll;	/* (c) frames a busy poll, 0: none */
	int		 sc_link;	/* (c) the program's bpf link */
	struct xdp_bpf	*sc_bpf;	/* (c) program and map */
	struct drv_input sc_input;	/* (c) how packets are handed up */
	int		 sc_intr;	/* (c) type of the queues' handlers */
	bool		 sc_native;	/* (c) as read back */
	bool		 sc_zerocopy;	/* (c) as read back */
	uint64_t	 sc_lost;	/* callout: kernel's drops so far */
	bool		 sc_warned;	/* callout: oversize was explained */
};

/* xdp_queue.c */

/*
 * Make queue id of the device: socket, rings full of mbufs.  copy: what to
 * ask for.  errno values.  sc_umem is made by the first.
 */
int	xdp_queue_open(struct xdp_softc *sc, uint32_t id, enum xdp_copy copy);
/* Its interrupt; after the interface is complete.  cpu: -1, any. */
int	xdp_queue_start(struct xdp_queue *xq, const char *name, int cpu);
/* No interrupt runs any more. */
void	xdp_queue_stop(struct xdp_queue *xq);
/* Close the socket and give back every mbuf in its rings. */
void	xdp_queue_close(struct xdp_queue *xq);
/* if_output */
void	xdp_output(struct ifnet *ifp, struct mbuf **m, unsigned int n);

/* xdp_prog.c */

/*
 * See that the device is free for our program: refuses an interface of this
 * process, waits a moment for a stale program of ours, refuses another's
 * unless force.
 */
int	xdp_prog_claim(struct xdp_softc *sc, bool force, char *err,
	    size_t errlen);
/* Load the program, put the sockets into its map, attach it. */
int	xdp_prog_attach(struct xdp_softc *sc, enum xdp_mode mode, char *err,
	    size_t errlen);
void	xdp_prog_detach(struct xdp_softc *sc);

#endif /* _DRIVERS_XDP_PRIVATE_H_ */
