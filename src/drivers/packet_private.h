/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the parts of the packet driver share: packet.c makes and destroys
 * interfaces and receives, packet_tx.c sends.
 *
 * Keys: c = the configuration lock, t = the ithread of sc_ie, x = sc_txmtx.
 */
#ifndef _DRIVERS_PACKET_PRIVATE_H_
#define	_DRIVERS_PACKET_PRIVATE_H_

#include <stdbool.h>
#include <stdint.h>

#include "drivers/drv_input.h"
#include "drivers/linux_port.h"
#include "drivers/vhdr.h"
#include "sys/lock.h"
#include "sys/log.h"

#define	PACKET_SLOT_SIZE	2048u
#define	PACKET_BLOCK_SIZE	(64u << 10)	/* kernel's pieces of a ring */
#define	PACKET_TXSLOTS		256u		/* a power of 2 */
/* The largest IP packet behind the longest headers that can be split. */
#define	PACKET_LARGE_MAX	(65536u + VHDR_HEADERS_MAX)

struct packet_softc {
	struct linux_port sc_port;	/* first: if_softc */
	int		 sc_fd;		/* (c) receives; sends by message */
	int		 sc_txfd;	/* (c) sends by sc_txring */
	char		*sc_ring;	/* (c) shared with the kernel */
	char		*sc_txring;	/* (c) shared with the kernel */
	struct intr_event *sc_ie;	/* (c) */
	struct intr_handler *sc_ih;	/* (c) */
	unsigned int	 sc_slot;	/* (t) the slot to read next */
	struct drv_input sc_input;	/* (c) how packets are handed up */
	bool		 sc_found;	/* (t) frames since the last sleep */
	struct vhdr_split sc_split;	/* (t) sc_large, being split */
	struct log_limit sc_limit;	/* for frames that cannot be split */
	struct packet_large {
		struct virtio_net_hdr pl_vh;
		char	 pl_data[PACKET_LARGE_MAX];
	}		 sc_large;	/* (t) as recv() gives it */

	struct mtx	 sc_txmtx;	/* only ever tried */
	unsigned int	 sc_txslot;	/* (x) the slot to fill next, which is
					   the kernel's next */
};

/* Send n packets; consumes them.  Any thread, inside the epoch. */
void	packet_output(struct ifnet *ifp, struct mbuf **m, unsigned int n);

#endif /* _DRIVERS_PACKET_PRIVATE_H_ */
