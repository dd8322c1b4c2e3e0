/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * VLAN tags in and beside frames (IEEE 802.1Q clause 9); see the header.
 */
#include "netgraph/nodes/ng_frame.h"

#include <arpa/inet.h>

#include <string.h>

#include "wire/ether.h"

struct mbuf *
ng_tag_push(struct mbuf *m, uint16_t proto, uint16_t tag)
{
	struct ether_vlan_header *evl;

	if ((m = m_prepend(m, ETHER_VLAN_ENCAP_LEN)) == NULL)
		return (NULL);
	if ((m = m_pullup(m, sizeof(*evl))) == NULL)
		return (NULL);
	evl = mtod(m, struct ether_vlan_header *);
	memmove(evl, (char *)evl + ETHER_VLAN_ENCAP_LEN, 2 * ETHER_ADDR_LEN);
	evl->evl_encap_proto = htons(proto);
	evl->evl_tag = htons(tag);
	m->m_pkthdr.csum_start += ETHER_VLAN_ENCAP_LEN;
	return (m);
}

uint16_t
ng_tag_pop(struct mbuf *m)
{
	struct ether_vlan_header *evl = mtod(m, struct ether_vlan_header *);
	uint16_t tag = ntohs(evl->evl_tag);

	memmove((char *)evl + ETHER_VLAN_ENCAP_LEN, evl, 2 * ETHER_ADDR_LEN);
	m_adj(m, ETHER_VLAN_ENCAP_LEN);
	m->m_pkthdr.csum_start -= ETHER_VLAN_ENCAP_LEN;
	return (tag);
}

struct mbuf *
ng_tag_inband(struct mbuf *m)
{

	if ((m->m_flags & M_VLANTAG) == 0)
		return (m);
	m->m_flags &= ~(uint32_t)M_VLANTAG;
	return (ng_tag_push(m, m->m_pkthdr.ether_vproto,
	    m->m_pkthdr.ether_vtag));
}
