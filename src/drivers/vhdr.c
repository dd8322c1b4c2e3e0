/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Virtio headers (VIRTIO 1.0, 5.1.6) to mbufs and back.  Any thread; the
 * caller owns the mbufs and the memory.  Segmentation is wire/gso.h's: it
 * makes every checksum anew, so segments carry no flags.
 */
#include "drivers/vhdr.h"

#include <arpa/inet.h>
#include <string.h>

#include "wire/ether.h"
#include "wire/in_sctp.h"

bool
vhdr_cksum(struct mbuf *m, const struct virtio_net_hdr *vh)
{
	uint32_t len = m->m_pkthdr.len;

	if ((vh->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) != 0) {
		if (vh->csum_start > len ||
		    vh->csum_offset > len - vh->csum_start ||
		    len - vh->csum_start - vh->csum_offset < 2)
			return (false);
		m->m_pkthdr.csum_flags = CSUM_PARTIAL;
		m->m_pkthdr.csum_start = vh->csum_start;
		m->m_pkthdr.csum_offset = vh->csum_offset;
	} else if ((vh->flags & VIRTIO_NET_HDR_F_DATA_VALID) != 0)
		m->m_pkthdr.csum_flags = CSUM_VALID;
	return (true);
}

void
vhdr_fill(struct virtio_net_hdr *vh, const struct mbuf *m)
{

	memset(vh, 0, sizeof(*vh));
	if ((m->m_pkthdr.csum_flags & CSUM_PARTIAL) == 0)
		return;
	vh->flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	vh->csum_start = m->m_pkthdr.csum_start;
	vh->csum_offset = m->m_pkthdr.csum_offset;
}

/* Bytes in front of the IP header; 0: there is no IP in the frame. */
static uint32_t
vhdr_l3off(const uint8_t *frame, uint32_t len)
{
	uint32_t off = ETHER_HDR_LEN;
	uint16_t type;

	while (off <= len) {
		memcpy(&type, frame + off - ETHER_TYPE_LEN, sizeof(type));
		type = ntohs(type);
		if (type == ETHERTYPE_IP || type == ETHERTYPE_IPV6)
			return (off);
		if (!ether_type_is_vlan(type))
			return (0);
		off += ETHER_VLAN_ENCAP_LEN;
	}
	return (0);
}

void
vhdr_sctp(void *frame, uint32_t len, struct virtio_net_hdr *vh)
{
	uint32_t l3off;

	if ((vh->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) == 0 ||
	    vh->csum_offset != SCTP_SUMOFF)
		return;
	l3off = vhdr_l3off(frame, len);
	if (l3off != 0 && in_sctp_finish((char *)frame + l3off, len - l3off))
		vh->flags &= (uint8_t)~VIRTIO_NET_HDR_F_NEEDS_CSUM;
}

/*
 * Is what g describes what the header says is to be cut?  Its protocol, and its
 * transport where the unfinished checksum begins: Linux says the same of a
 * packet in a tunnel, meaning the inner one.
 */
static bool
vhdr_means(const struct virtio_net_hdr *vh, const struct gso *g, uint8_t proto)
{

	return (g->gso_l4.l4_proto == proto &&
	    g->gso_hdrlen <= VHDR_HEADERS_MAX &&
	    ((vh->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) == 0 ||
	    vh->csum_start == g->gso_l3off + g->gso_l4.l4_off));
}

bool
vhdr_split_begin(struct vhdr_split *vs, const void *frame, uint32_t len,
    const struct virtio_net_hdr *vh)
{
	struct gso *g = &vs->vs_gso;
	uint8_t proto;
	uint32_t l3off;

	*vs = (struct vhdr_split){ .vs_next = 0 };
	switch (vh->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) {
	case VIRTIO_NET_HDR_GSO_TCPV4:
	case VIRTIO_NET_HDR_GSO_TCPV6:
		proto = IPPROTO_TCP;
		break;
	case VHDR_GSO_UDP_L4:
		proto = IPPROTO_UDP;
		break;
	default:
		return (false);
	}
	l3off = vhdr_l3off(frame, len);
	if (l3off == 0)
		return (false);
	vs->vs_active = (gso_init(g, frame, len, l3off, vh->gso_size) == 0 &&
	    vhdr_means(vh, g, proto)) ||
	    (gso_init_tunnel(g, frame, len, l3off, vh->gso_size) == 0 &&
	    vhdr_means(vh, g, proto));
	return (vs->vs_active);
}

/* Segment i, in one frame or, for a large MTU, in a chain. */
static struct mbuf *
vhdr_segment(const struct gso *g, uint32_t i)
{
	uint8_t header[VHDR_HEADERS_MAX];
	const uint8_t *pay;
	struct mbuf *m;
	uint32_t len;

	if ((m = m_gethdr()) == NULL)
		return (NULL);
	len = (uint32_t)gso_payload(g, i, &pay);
	if (g->gso_hdrlen + len <= m_trailingspace(m)) {
		gso_header(g, i, m->m_data);
		memcpy(m->m_data + g->gso_hdrlen, pay, len);
		m->m_len = m->m_pkthdr.len = g->gso_hdrlen + len;
		return (m);
	}
	gso_header(g, i, header);
	if (m_append(m, g->gso_hdrlen, header) != 0 ||
	    m_append(m, len, pay) != 0) {
		m_freem(m);
		return (NULL);
	}
	return (m);
}

unsigned int
vhdr_split_next(struct vhdr_split *vs, struct mbuf **m, unsigned int max,
    unsigned int *lost)
{
	const struct gso *g = &vs->vs_gso;
	unsigned int n = 0;

	for (; n + *lost < max && vs->vs_next < g->gso_nsegs; vs->vs_next++) {
		m[n] = vhdr_segment(g, vs->vs_next);
		if (m[n] == NULL) {
			(*lost)++;
			continue;
		}
		if (vs->vs_tagged) {
			m[n]->m_flags |= M_VLANTAG;
			m[n]->m_pkthdr.ether_vtag = vs->vs_vtag;
			m[n]->m_pkthdr.ether_vproto = vs->vs_vproto;
		}
		n++;
	}
	if (vs->vs_next == g->gso_nsegs)
		vs->vs_active = false;
	return (n);
}
