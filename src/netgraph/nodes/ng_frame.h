/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Ethernet frames in the hands of node types: headers in one piece, tags, and
 * bursts whose packets go different ways.  No state; data methods, in the
 * epoch.
 */
#ifndef _NETGRAPH_NODES_NG_FRAME_H_
#define	_NETGRAPH_NODES_NG_FRAME_H_

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>

#include <netgraph/netgraph.h>

#include "mbuf/mbuf.h"
#include "sys/defs.h"

/* Drop m, which went nowhere; error, if it is one, is the sender's result. */
static inline void
ng_scatter_drop(struct ng_scatter *sc, struct mbuf *m, int error)
{

	m_freem(m);
	if (error != 0)
		sc->sc_error = error;
}

/* Put m into the burst of hook; without a hook it is dropped with error. */
static inline void
ng_scatter_send(struct ng_scatter *sc, hook_p hook, struct mbuf *m, int error)
{

	if (__predict_true(hook != NULL)) {
		ng_scatter_add(sc, hook, m);
		return;
	}
	(void)ng_send_data(NULL, m);	/* counts it */
	if (error != 0)
		sc->sc_error = error;
}

/* All packets of an item to hook; without a hook they are dropped: error. */
static inline int
ng_item_send(item_p item, hook_p hook, int error)
{

	if (__predict_true(hook != NULL))
		return (ng_fwd_item(item, hook));
	(void)ng_fwd_item(item, NULL);	/* counts them */
	return (error);
}

/*
 * The first len bytes in one piece.  NULL: the packet has not so many, or there
 * is no memory; it is dropped and its sender gets EINVAL or ENOBUFS.
 */
static inline struct mbuf *
ng_frame_pullup(struct ng_scatter *sc, struct mbuf *m, uint32_t len)
{

	if (__predict_true(m->m_len >= len))
		return (m);
	if (m->m_pkthdr.len < len) {
		ng_scatter_drop(sc, m, EINVAL);
		return (NULL);
	}
	m = m_pullup(m, len);
	if (m == NULL)
		sc->sc_error = ENOBUFS;
	return (m);
}

/*
 * Write a tag of type proto (host order, as is tag) behind the addresses.
 * NULL: there is no memory, m is freed.  m has an Ethernet header.
 */
struct mbuf *ng_tag_push(struct mbuf *m, uint16_t proto, uint16_t tag);
/* Take the tag behind the addresses out; 18 bytes of m are in one piece. */
uint16_t ng_tag_pop(struct mbuf *m);
/* Write the tag beside the frame, if there is one, into it; as push. */
struct mbuf *ng_tag_inband(struct mbuf *m);

/* A hook that control work sets and data methods read. */
static inline hook_p
ng_hook_load(_Atomic(hook_p) *slot)
{

	/* Pairs with the release in ng_hook_store(). */
	return (atomic_load_explicit(slot, memory_order_acquire));
}

static inline void
ng_hook_store(_Atomic(hook_p) *slot, hook_p hook)
{

	atomic_store_explicit(slot, hook, memory_order_release);
}

#endif /* _NETGRAPH_NODES_NG_FRAME_H_ */
