/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Ethernet: input, demultiplexing, output of locally made frames.
 *
 * ether_input() is the if_input of every Ethernet interface.  It runs inside
 * the epoch; for an interface flagged IFF_NEEDSEPOCH it enters itself, once
 * around the whole burst, and in debug builds an interface that should have
 * been flagged is named once and entered for (D39510).
 *
 * Tags: after ether_input() a VLAN tag is always beside the frame
 * (M_VLANTAG), whatever the driver did; VID 0 is a priority tag and counts as
 * none (IEEE 802.1Q).
 */
#ifndef _ETHER_ETHER_VAR_H_
#define	_ETHER_ETHER_VAR_H_

#include <stdint.h>

#include "ifnet/if_var.h"

/*
 * Upper protocols: m_data is at the network header, the link header is just
 * in front of it (m_pkthdr.l2len bytes).  Consumes all; inside the epoch.
 */
typedef void ether_proto_fn(struct ifnet *ifp, struct mbuf **m,
    unsigned int n);

/* Registers the link type with the vnet.  ENOSPC. */
int	ether_vnet_init(struct vnet *vnet);
/* For IP and ARP; at set-up, process-wide, EEXIST for another function. */
int	ether_proto_register(uint16_t ethertype, ether_proto_fn *fn);

/*
 * Hand frames to the protocols, as if just received on ifp: for who took them
 * at the lower place.  Consumes all; n <= MBUF_BURST; inside the epoch.  No
 * counting of packets and bytes.
 */
void	ether_demux(struct ifnet *ifp, struct mbuf **m, unsigned int n);

/* The same for who took them at the tap's place. */
void	ether_input_tapped(struct ifnet *ifp, struct mbuf **m,
	    unsigned int n);

/*
 * A frame to dst with ethertype (host order) around m, on ifp.  Consumes m;
 * inside the epoch.
 */
void	ether_output(struct ifnet *ifp, struct mbuf *m, const uint8_t *dst,
	    uint16_t ethertype);

#endif /* _ETHER_ETHER_VAR_H_ */
