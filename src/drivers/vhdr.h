/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Frames with a virtio header, as AF_PACKET and TAP sockets of Linux give and
 * take them: the header tells of an unfinished checksum and of a frame that is
 * to be segmented.
 *
 * Pure functions over memory and mbufs; no state but the caller's.  Whatever
 * the header says is checked against the frame: it comes from a peer.
 */
#ifndef _DRIVERS_VHDR_H_
#define	_DRIVERS_VHDR_H_

#include <stdbool.h>
#include <stdint.h>

#include <linux/virtio_net.h>

#include "mbuf/mbuf.h"
#include "wire/gso.h"

/* UDP in segments; newer than the headers of Debian 12. */
#define	VHDR_GSO_UDP_L4		5

/* Room for the headers of a segment: link, tags, IPv6 with options, TCP. */
#define	VHDR_HEADERS_MAX	512u

/* A large frame on its way to become many; zero: none. */
struct vhdr_split {
	struct gso	 vs_gso;
	uint32_t	 vs_next;	/* segment to make next */
	bool		 vs_active;
	bool		 vs_tagged;	/* each segment gets the tag */
	uint16_t	 vs_vtag;
	uint16_t	 vs_vproto;
};

static inline bool
vhdr_is_gso(const struct virtio_net_hdr *vh)
{

	return (vh->gso_type != VIRTIO_NET_HDR_GSO_NONE);
}

/*
 * Put the header's word on the checksum of m, an untagged-in-frame packet of
 * the same bytes, into m_pkthdr.  False: it points outside the packet.
 */
bool	vhdr_cksum(struct mbuf *m, const struct virtio_net_hdr *vh);
/*
 * Finish the checksum of the len bytes of frame here, if the header's word on
 * it is about SCTP's, which is no sum: then there is none left to finish.
 */
void	vhdr_sctp(void *frame, uint32_t len, struct virtio_net_hdr *vh);
/* The other way: the header for m, which is to be sent. */
void	vhdr_fill(struct virtio_net_hdr *vh, const struct mbuf *m);

/*
 * Begin to split the len bytes of frame, which must stay until
 * vhdr_split_next() has made all segments.  False: not a packet that can be
 * split; it is the caller's to count.
 */
bool	vhdr_split_begin(struct vhdr_split *vs, const void *frame,
	    uint32_t len, const struct virtio_net_hdr *vh);
/*
 * Make up to max of the segments.  Returns how many; *lost counts those for
 * which there was no mbuf.  vs_active falls with the last one.
 */
unsigned int vhdr_split_next(struct vhdr_split *vs, struct mbuf **m,
	    unsigned int max, unsigned int *lost);

#endif /* _DRIVERS_VHDR_H_ */
