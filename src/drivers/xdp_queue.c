/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * AF_XDP sockets: rings, bursts, and whose mbufs are where.
 *
 * The region of all frames is the UMEM of every socket, so a frame received
 * by one is sent by another as it lies.  Each interface registers the region
 * for itself, and its queues share that registration: the kernel takes the
 * same memory as often as it is given, and a registration that all interfaces
 * shared would be tied to the first one's device and end with it.
 *
 * A frame belongs to the kernel from the fill ring to the rx ring and from
 * the tx ring to the completion ring.  On close the rings do not say which
 * those are (the kernel reads ahead), so a bit per frame does; it is written
 * by those who write the ring anyway.
 *
 * Receive side: the queue's ithread (t), inside the epoch.  Transmit side: any
 * thread inside the epoch, under xq_mtx (x), taken once per burst.
 *
 * Kicks.  In copy mode the kernel sends only when told to, by a system call.
 * On the queue's own ithread a burst is left for the next one, until there is
 * enough for a kick, or the queue's handler, which runs in every pass, sees
 * that nothing was added since the pass before.  Every other thread kicks
 * itself.
 *
 * Busy polling (busypoll=N).  A pass that finds the rx ring empty asks the
 * kernel to receive on this thread, up to N frames, instead of waiting for the
 * device's interrupt to do it elsewhere.  It never blocks.  Before sleep
 * nothing changes: the device's interrupt, or the timer that the operator set
 * in its place, makes the socket readable.
 *
 * What is still in the ring when the ithread goes to sleep (the
 * socket buffer was full, the device down) is retried by a timer, as is a fill
 * ring that found no mbufs.
 */
#include <sys/epoll.h>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drivers/xdp_private.h"
#include "intr/intr_var.h"
#include "wire/cksum_partial.h"
#include "wire/ether.h"
#include "wire/in_sctp.h"

#ifndef SO_PREFER_BUSY_POLL
#define	SO_PREFER_BUSY_POLL	69	/* Linux 5.11 */
#define	SO_BUSY_POLL_BUDGET	70
#endif
#define	XDP_BUSYPOLL_US	20		/* a wish of ours has no effect else */
#define	XDP_KICK_MAX	1024u		/* frames left for one kick */
#define	XDP_REAP_MAX	128u		/* completions taken at a time */
#define	XDP_RETRY_NS	1000000u
#define	XDP_RETRY_DOWN_NS 100000000u	/* while there is no link */

/* Its address tells one thread from another. */
static _Thread_local char xdp_mark __attribute__((tls_model("initial-exec")));

static inline void
own_set(uint64_t *bits, uint64_t addr)
{
	uint64_t i = addr >> MBUF_FRAME_SHIFT;

	KASSERT((bits[i / 64] >> (i % 64) & 1) == 0, "frame given twice");
	bits[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void
own_clear(uint64_t *bits, uint64_t addr)
{
	uint64_t i = addr >> MBUF_FRAME_SHIFT;

	KASSERT((bits[i / 64] >> (i % 64) & 1) != 0, "frame taken twice");
	bits[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

/* Give all frames of the set back. */
static void
own_free(uint64_t *bits)
{
	struct mbuf *m;

	for (uint32_t i = 0; i < mbuf_nframes(); i++)
		if ((bits[i / 64] >> (i % 64) & 1) != 0) {
			m = &mbuf_headers[i];
			m_free_raw(&m, 1);
		}
	memset(bits, 0, (mbuf_nframes() + 63) / 64 * sizeof(*bits));
}

/*
 * Transmit.
 */

/* Frames in the tx ring that the kernel has not looked at. */
static inline uint32_t
xdp_unsent(struct xdp_queue *xq)
{

	return (__atomic_load_n(xq->xq_tx.producer, __ATOMIC_RELAXED) -
	    __atomic_load_n(xq->xq_tx.consumer, __ATOMIC_RELAXED));
}

/*
 * Never blocks.  A failure leaves the frames where they are.  EAGAIN may mean
 * that the kernel sent as many as it sends at a time, which is 32 where it has
 * no XDP_MAX_TX_SKB_BUDGET: again, as long as it goes on.
 */
static inline void
xdp_kick(struct xdp_queue *xq)
{
	uint32_t before, unsent = xdp_unsent(xq);

	if (!xsk_ring_prod__needs_wakeup(&xq->xq_tx))
		return;
	do {
		before = unsent;
		if (sendto(xq->xq_fd, NULL, 0, MSG_DONTWAIT, NULL, 0) != -1 ||
		    errno != EAGAIN)
			break;
		unsent = xdp_unsent(xq);
	} while (unsent != 0 && unsent < before);
}

/* Take back the frames of sent packets, a bounded number. */
static inline void
xdp_reap(struct xdp_queue *xq)
{
	struct mbuf *m[MBUF_BURST];
	unsigned int i, n, left = XDP_REAP_MAX;
	uint64_t addr;
	uint32_t idx;

	MTX_ASSERT(&xq->xq_mtx);

	while (left != 0 && (n = xsk_ring_cons__peek(&xq->xq_comp, MBUF_BURST,
	    &idx)) != 0) {
		for (i = 0; i < n; i++) {
			addr = *xsk_ring_cons__comp_addr(&xq->xq_comp,
			    idx + i);
			own_clear(xq->xq_txown, addr);
			m[i] = m_of_frame(mbuf_frames + addr);
		}
		xsk_ring_cons__release(&xq->xq_comp, n);
		m_free_raw(m, n);
		left -= n < left ? n : left;
	}
}

/*
 * A chain in one frame; consumes m.  NULL: counted and freed.
 */
static struct mbuf *
xdp_linear(struct ifnet *ifp, struct mbuf *m)
{
	uint32_t len = m->m_pkthdr.len;
	struct mbuf *flat;

	if (len > MBUF_FRAME_SIZE) {
		if_output_drop(ifp, &m, 1, IFD_TOOBIG);
		return (NULL);
	}
	if ((flat = m_gethdr()) == NULL) {
		if_output_drop(ifp, &m, 1, IFD_NOMBUF);
		return (NULL);
	}
	if (len > m_trailingspace(flat))
		flat->m_data = m_frame(flat);
	m_copydata(m, 0, len, flat->m_data);
	flat->m_len = flat->m_pkthdr.len = len;
	m_freem(m);
	return (flat);
}

/* Put what fits of the burst into the ring; returns how many. */
static inline unsigned int
xdp_enqueue(struct xdp_queue *xq, struct mbuf **m, unsigned int n)
{
	struct xdp_desc *desc;
	unsigned int i, room;
	uint32_t idx;

	mtx_lock(&xq->xq_mtx);
	xdp_reap(xq);
	room = xsk_prod_nb_free(&xq->xq_tx, n);
	if (n > room)
		n = room;
	if (n == 0 || xsk_ring_prod__reserve(&xq->xq_tx, n, &idx) != n)
		n = 0;
	for (i = 0; i < n; i++) {
		desc = xsk_ring_prod__tx_desc(&xq->xq_tx, idx + i);
		desc->addr = (uint64_t)(m[i]->m_data - mbuf_frames);
		desc->len = m[i]->m_len;
		desc->options = 0;
		own_set(xq->xq_txown, desc->addr);
	}
	if (n != 0)
		xsk_ring_prod__submit(&xq->xq_tx, n);
	mtx_unlock(&xq->xq_mtx);
	return (n);
}

void
xdp_output(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	struct xdp_softc *sc = ifp->if_softc;
	struct xdp_queue *xq = sc->sc_queues;
	unsigned int i, kept = 0, done;

	NET_EPOCH_ASSERT();

	if (__predict_false(linux_port_gone(&sc->sc_port))) {
		if_output_drop(ifp, m, n, IFD_TXERR);
		return;
	}
	if (sc->sc_nqueues > 1)
		xq += (unsigned int)sched_getcpu() % sc->sc_nqueues;
	for (i = 0; i < n; i++) {
		struct mbuf *p = m[i];

		if (__predict_false(p->m_next != NULL) &&
		    (p = xdp_linear(ifp, p)) == NULL)
			continue;
		m[kept++] = p;
	}
	done = xdp_enqueue(xq, m, kept);
	if (__predict_false(done < kept)) {
		/* The kernel may only be waiting to be told. */
		xdp_kick(xq);
		done += xdp_enqueue(xq, m + done, kept - done);
		if (done < kept)
			if_output_drop(ifp, m + done, kept - done,
			    IFD_TXRING);
	}
	if (atomic_load_explicit(&xq->xq_owner, memory_order_relaxed) !=
	    &xdp_mark || xdp_unsent(xq) >= XDP_KICK_MAX)
		xdp_kick(xq);
}

/*
 * Receive.
 */

/* Keep the fill ring full, a bounded number at a time. */
static inline void
xdp_refill(struct xdp_queue *xq)
{
	struct mbuf *m[MBUF_BURST];
	uint32_t idx;
	unsigned int i, rounds;

	xq->xq_starved = false;
	for (rounds = 0; rounds < 4; rounds++) {
		if (xsk_prod_nb_free(&xq->xq_fill, MBUF_BURST) < MBUF_BURST)
			return;
		if (m_get_raw(m, MBUF_BURST) != MBUF_BURST) {
			xq->xq_starved = true;
			return;
		}
		if (xsk_ring_prod__reserve(&xq->xq_fill, MBUF_BURST, &idx) !=
		    MBUF_BURST) {
			m_free_raw(m, MBUF_BURST);
			return;
		}
		for (i = 0; i < MBUF_BURST; i++) {
			uint64_t addr = (uint64_t)(m_frame(m[i]) -
			    mbuf_frames);

			*xsk_ring_prod__fill_addr(&xq->xq_fill, idx + i) =
			    addr;
			own_set(xq->xq_rxown, addr);
		}
		xsk_ring_prod__submit(&xq->xq_fill, MBUF_BURST);
	}
}

/* Zero-copy drivers sleep when they find no free frame. */
static inline void
xdp_fill_kick(struct xdp_queue *xq)
{

	if (__predict_false(xsk_ring_prod__needs_wakeup(&xq->xq_fill)))
		(void)recvfrom(xq->xq_fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
}

/*
 * There is no flag for an unfinished checksum: mark the packet if it has
 * exactly the pattern of one.  SCTP's is finished here and now.
 */
static inline void
xdp_partial(struct mbuf *m)
{
	const uint8_t *frame = mtod(m, const uint8_t *);
	uint32_t len = m->m_len, off = ETHER_HDR_LEN;
	struct in_partial part;
	uint16_t type;

	for (;;) {
		if (off >= len)
			return;
		memcpy(&type, frame + off - ETHER_TYPE_LEN, sizeof(type));
		if (type == htons(ETHERTYPE_IP) ||
		    type == htons(ETHERTYPE_IPV6))
			break;
		if (!ether_type_is_vlan(ntohs(type)))
			return;
		off += ETHER_VLAN_ENCAP_LEN;
	}
	if (!in_partial_pattern(frame + off, len - off, &part)) {
		(void)in_sctp_finish(m->m_data + off, len - off);
		return;
	}
	/* The sum ends with the IP packet: padding is not part of it. */
	if (off + part.ipa_len < len)
		m_adj(m, -(int)(len - off - part.ipa_len));
	m->m_pkthdr.csum_flags = CSUM_PARTIAL;
	m->m_pkthdr.csum_start = (uint16_t)(off + part.ipa_start);
	m->m_pkthdr.csum_offset = part.ipa_offset;
}

/* Make mbufs of what the rx ring holds; returns how many. */
static inline unsigned int
xdp_take(struct xdp_queue *xq, struct mbuf **m)
{
	const struct xdp_desc *desc;
	unsigned int i, n;
	uint32_t idx;
	char *data;

	n = xsk_ring_cons__peek(&xq->xq_rx, MBUF_BURST, &idx);
	for (i = 0; i < n; i++) {
		desc = xsk_ring_cons__rx_desc(&xq->xq_rx, idx + i);
		data = mbuf_frames + desc->addr;
		__builtin_prefetch(data);
		m[i] = m_of_frame(data);
		m_init(m[i], data, desc->len);
		own_clear(xq->xq_rxown, desc->addr);
	}
	if (n != 0)
		xsk_ring_cons__release(&xq->xq_rx, n);
	return (n);
}

static enum intr_more
xdp_intr(void *arg)
{
	struct xdp_queue *xq = arg;
	struct ifnet *ifp = xq->xq_ifp;
	struct mbuf *m[MBUF_BURST];
	unsigned int i, n;
	uint32_t unsent;

	if (__predict_false(atomic_load_explicit(&xq->xq_owner,
	    memory_order_relaxed) != &xdp_mark))
		atomic_store_explicit(&xq->xq_owner, &xdp_mark,
		    memory_order_relaxed);
	n = xdp_take(xq, m);
	if (n == 0 && xq->xq_busypoll) {
		(void)recvfrom(xq->xq_fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
		n = xdp_take(xq, m);
	}
	xdp_refill(xq);
	xdp_fill_kick(xq);
	if (n != 0) {
		if (xq->xq_cksum)
			for (i = 0; i < n; i++)
				xdp_partial(m[i]);
		drv_input(&xq->xq_sc->sc_input, ifp, m, n);
	}
	/* Kick when nothing was added since the last pass. */
	unsent = xdp_unsent(xq);
	if (unsent != 0 && unsent == xq->xq_seen) {
		xdp_kick(xq);
		unsent = 0;
	}
	xq->xq_seen = unsent;
	return (n != 0 || unsent != 0 ? INTR_MORE : INTR_DONE);
}

static void
xdp_retry(void *arg)
{
	struct xdp_queue *xq = arg;

	intr_event_schedule(xq->xq_ie);
}

/* Before sleep: nothing may be left that only we can set going again. */
static bool
xdp_arm(void *arg)
{
	struct xdp_queue *xq = arg;
	bool down;

	if (xdp_unsent(xq) != 0)
		xdp_kick(xq);
	mtx_lock(&xq->xq_mtx);
	xdp_reap(xq);
	mtx_unlock(&xq->xq_mtx);
	xdp_fill_kick(xq);
	if (xsk_cons_nb_avail(&xq->xq_rx, 1) != 0)
		return (true);
	down = atomic_load_explicit(&xq->xq_ifp->if_linkstate,
	    memory_order_relaxed) != IF_LINK_UP;
	if ((xdp_unsent(xq) != 0 &&
	    xsk_ring_prod__needs_wakeup(&xq->xq_tx)) || xq->xq_starved)
		(void)callout_reset(&xq->xq_retry, down ? XDP_RETRY_DOWN_NS :
		    XDP_RETRY_NS, xdp_retry, xq);
	return (false);
}

/*
 * Configuration.
 */
static uint64_t *
own_alloc(void)
{

	return (calloc((mbuf_nframes() + 63) / 64, sizeof(uint64_t)));
}

static int
xdp_umem_open(struct xdp_softc *sc, struct xdp_queue *xq)
{
	struct xsk_umem_config cfg = {
		.fill_size = sc->sc_ring,
		.comp_size = sc->sc_ring,
		.frame_size = MBUF_FRAME_SIZE,
		.frame_headroom = 0,
	};
	size_t len;
	void *base;

	mbuf_region(&base, &len);
	return (-xsk_umem__create(&sc->sc_umem, base, len, &xq->xq_fill,
	    &xq->xq_comp, &cfg));
}

/* The first queue's socket is the one that registers the memory. */
static int
xdp_socket_open(struct xdp_softc *sc, uint32_t id, enum xdp_copy copy)
{
	struct xdp_queue *xq = &sc->sc_queues[id];
	struct xsk_socket_config cfg = {
		.rx_size = sc->sc_ring,
		.tx_size = sc->sc_ring,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = (uint16_t)(XDP_USE_NEED_WAKEUP |
		    (copy == XDP_COPY_COPY ? XDP_COPY :
		    copy == XDP_COPY_ZERO ? XDP_ZEROCOPY : 0)),
	};
	const char *dev = sc->sc_port.lp_name;
	int error;

	if (id != 0)
		return (-xsk_socket__create_shared(&xq->xq_xsk, dev, id,
		    sc->sc_umem, &xq->xq_rx, &xq->xq_tx, &xq->xq_fill,
		    &xq->xq_comp, &cfg));
	error = xdp_umem_open(sc, xq);
	if (error != 0)
		return (error);
	error = -xsk_socket__create(&xq->xq_xsk, dev, id, sc->sc_umem,
	    &xq->xq_rx, &xq->xq_tx, &cfg);
	if (error != 0) {
		(void)xsk_umem__delete(sc->sc_umem);
		sc->sc_umem = NULL;
	}
	return (error);
}

/* Have recvfrom() receive in the kernel, budget frames at a time. */
static int
xdp_busypoll_on(struct xdp_queue *xq, uint32_t budget)
{
	const int one = 1, us = XDP_BUSYPOLL_US, frames = (int)budget;

	if (setsockopt(xq->xq_fd, SOL_SOCKET, SO_PREFER_BUSY_POLL, &one,
	    sizeof(one)) != 0 ||
	    setsockopt(xq->xq_fd, SOL_SOCKET, SO_BUSY_POLL, &us,
	    sizeof(us)) != 0 ||
	    setsockopt(xq->xq_fd, SOL_SOCKET, SO_BUSY_POLL_BUDGET, &frames,
	    sizeof(frames)) != 0)
		return (errno);
	xq->xq_busypoll = true;
	return (0);
}

int
xdp_queue_open(struct xdp_softc *sc, uint32_t id, enum xdp_copy copy)
{
	struct xdp_queue *xq = &sc->sc_queues[id];
	uint32_t budget = XDP_KICK_MAX;
	int error = ENOMEM;

	xq->xq_sc = sc;
	xq->xq_rxown = own_alloc();
	xq->xq_txown = own_alloc();
	if (xq->xq_rxown == NULL || xq->xq_txown == NULL)
		goto free_sets;
	/* The kernel gives a queue free some time after its socket closed. */
	for (int i = 0; i < XDP_WAIT_MAX; i++) {
		error = xdp_socket_open(sc, id, copy);
		if (error != EBUSY)
			break;
		usleep(XDP_WAIT_US);
	}
	if (error != 0)
		goto free_sets;
	xq->xq_fd = xsk_socket__fd(xq->xq_xsk);
	(void)fcntl(xq->xq_fd, F_SETFD, FD_CLOEXEC);
	/* An older kernel has no such option, and sends 32 at a kick. */
	(void)setsockopt(xq->xq_fd, SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &budget,
	    sizeof(budget));
	error = sc->sc_busypoll == 0 ? 0 :
	    xdp_busypoll_on(xq, sc->sc_busypoll);
	if (error != 0)
		goto close_socket;
	mtx_init(&xq->xq_mtx, "xdp queue");
	for (uint32_t i = 0; i < sc->sc_ring; i += 4 * MBUF_BURST)
		xdp_refill(xq);
	return (0);
close_socket:
	xsk_socket__delete(xq->xq_xsk);
	if (id == 0) {
		(void)xsk_umem__delete(sc->sc_umem);
		sc->sc_umem = NULL;
	}
free_sets:
	free(xq->xq_txown);
	free(xq->xq_rxown);
	return (error);
}

int
xdp_queue_start(struct xdp_queue *xq, const char *name, int cpu)
{
	struct ifnet *ifp = xq->xq_sc->sc_port.lp_ifp;
	int error;

	xq->xq_ifp = ifp;
	error = intr_event_create(ifp->if_vnet->v_intr, name, cpu, xq->xq_fd,
	    EPOLLIN, &xq->xq_ie);
	if (error != 0)
		return (error);
	callout_init(&xq->xq_retry, ifp->if_vnet->v_callouts, 0, NULL);
	error = intr_handler_add(xq->xq_ie, xq->xq_sc->sc_intr | INTR_POLL,
	    xdp_intr, xdp_arm, xq, &xq->xq_ih);
	if (error != 0) {
		callout_drain(&xq->xq_retry);
		intr_event_destroy(xq->xq_ie);
	}
	return (error);
}

void
xdp_queue_stop(struct xdp_queue *xq)
{

	intr_handler_remove(xq->xq_ih);
	callout_drain(&xq->xq_retry);
	intr_event_destroy(xq->xq_ie);
}

void
xdp_queue_close(struct xdp_queue *xq)
{

	xsk_socket__delete(xq->xq_xsk);
	own_free(xq->xq_rxown);
	own_free(xq->xq_txown);
	free(xq->xq_txown);
	free(xq->xq_rxown);
	mtx_destroy(&xq->xq_mtx);
}
