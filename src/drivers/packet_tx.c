/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Sending by packet sockets, past the queueing discipline, on any thread.
 *
 * By the ring: slots of a size in shared memory, each with a virtio header in
 * front of the frame; one system call sends all that were filled.  The header
 * is there for unfinished checksums, and because the kernel copies as many
 * bytes as it says belong to headers, and refers to the slot for the rest: all
 * of a frame is said to be header, so that the device gets one piece of its
 * own.  A slot is free again when the device is done with the frame.  The
 * kernel goes through the slots in order and stops at the first that it cannot
 * send; that one and those behind it are taken back.
 *
 * By message: sendmmsg() on the socket that also receives, whose messages have
 * a virtio header too.  What the ring cannot take or did not send goes this
 * way, and gets its error here: frames longer than a slot or the device's MTU
 * (which the kernel does not check in a ring with virtio headers), those for
 * which no slot was free, and those of a thread that finds another one at the
 * ring.  Nothing is overtaken, as both ways are done when they return.
 */
#include <sys/socket.h>

#include <errno.h>
#include <limits.h>
#include <linux/if_packet.h>
#include <string.h>

#include "drivers/packet_private.h"
#include "ifnet/if_var.h"
#include "intr/intr_var.h"
#include "wire/ether.h"

#define	PACKET_IOVS		192		/* pieces of one sendmmsg() */
#define	PACKET_IOVS_MAX		64		/* pieces of one packet */

/* Where the kernel looks in a slot for a virtio header and the frame. */
#define	PACKET_TXOFF		(TPACKET2_HDRLEN - sizeof(struct sockaddr_ll))
#define	PACKET_TXMAX							\
	(PACKET_SLOT_SIZE - PACKET_TXOFF - sizeof(struct virtio_net_hdr))

/*
 * By the ring.
 */
static inline struct tpacket2_hdr *
packet_txslot(struct packet_softc *sc, unsigned int i)
{

	return ((void *)(sc->sc_txring + (size_t)((sc->sc_txslot + i) %
	    PACKET_TXSLOTS) * PACKET_SLOT_SIZE));
}

/* Pairs with the kernel's release of the slot, or its hold on it. */
static inline uint32_t
packet_txstatus(const struct tpacket2_hdr *h)
{

	return (__atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE));
}

static inline void
packet_txstatus_set(struct tpacket2_hdr *h, uint32_t status)
{

	__atomic_store_n(&h->tp_status, status, __ATOMIC_RELEASE);
}

/* Fill the slot with m, which fits. */
static inline void
packet_fill(struct tpacket2_hdr *h, const struct mbuf *m)
{
	struct virtio_net_hdr *vh = (void *)((char *)h + PACKET_TXOFF);
	char *frame = (char *)(vh + 1);
	uint32_t len = m->m_pkthdr.len;

	vhdr_fill(vh, m);
	vh->hdr_len = (uint16_t)len;
	if (__predict_true(m->m_next == NULL))
		memcpy(frame, m->m_data, len);
	else
		m_copydata(m, 0, len, frame);
	h->tp_len = (uint32_t)sizeof(*vh) + len;
	packet_txstatus_set(h, TP_STATUS_SEND_REQUEST);
}

/* How many of the k filled slots went; the others are taken back. */
static inline unsigned int
packet_sent(struct packet_softc *sc, unsigned int k)
{
	unsigned int i, sent;

	for (sent = 0; sent < k; sent++)
		if ((packet_txstatus(packet_txslot(sc, sent)) &
		    (TP_STATUS_SEND_REQUEST | TP_STATUS_WRONG_FORMAT)) != 0)
			break;
	for (i = sent; i < k; i++)
		packet_txstatus_set(packet_txslot(sc, i), TP_STATUS_AVAILABLE);
	sc->sc_txslot = (sc->sc_txslot + sent) % PACKET_TXSLOTS;
	return (sent);
}

/* Send packets in front of the burst; how many, which stay the caller's. */
static unsigned int
packet_send_ring(struct packet_softc *sc, struct mbuf **m, unsigned int n)
{
	struct tpacket2_hdr *h;
	unsigned int k;
	uint32_t max;

	max = linux_port_mtu(&sc->sc_port) + ETHER_HDR_LEN;
	if (max > PACKET_TXMAX)
		max = PACKET_TXMAX;
	if (!mtx_trylock(&sc->sc_txmtx))
		return (0);
	for (k = 0; k < n && m[k]->m_pkthdr.len <= max; k++) {
		h = packet_txslot(sc, k);
		if (packet_txstatus(h) != TP_STATUS_AVAILABLE)
			break;
		packet_fill(h, m[k]);
	}
	if (k != 0) {
		(void)send(sc->sc_txfd, NULL, 0, MSG_DONTWAIT);
		k = packet_sent(sc, k);
	}
	mtx_unlock(&sc->sc_txmtx);
	return (k);
}

/*
 * By message.
 */
struct packet_txvec {
	struct mmsghdr	 tv_msg[MBUF_BURST];
	struct iovec	 tv_iov[PACKET_IOVS];
	struct virtio_net_hdr tv_vh[MBUF_BURST];
	unsigned int	 tv_n;		/* messages */
	unsigned int	 tv_niov;
};

/* Why a packet was not sent, and whether the next one has a chance. */
static enum if_drop
packet_send_error(int error, bool *all)
{

	*all = false;
	switch (error) {
	case EAGAIN:
		*all = true;
		return (IFD_TXRING);
	case ENOBUFS:
		return (IFD_TXRING);
	case EMSGSIZE:
		return (IFD_TOOBIG);
	case ENETDOWN:
	case ENXIO:
	case ENODEV:
		*all = true;
		return (IFD_TXERR);
	default:
		return (IFD_TXERR);
	}
}

/* Send the messages, which are those of the packets at m; consumes them. */
static void
packet_send_vec(struct packet_softc *sc, struct packet_txvec *tv,
    struct mbuf **m)
{
	unsigned int done = 0, lost;
	enum if_drop why;
	bool all;
	int n;

	while (done < tv->tv_n) {
		n = sendmmsg(sc->sc_fd, tv->tv_msg + done, tv->tv_n - done,
		    MSG_DONTWAIT);
		if (n > 0) {
			m_free_burst(m + done, (unsigned int)n);
			done += (unsigned int)n;
			continue;
		}
		if (errno == EINTR)
			continue;
		why = packet_send_error(errno, &all);
		lost = all ? tv->tv_n - done : 1;
		if_output_drop(sc->sc_port.lp_ifp, m + done, lost, why);
		done += lost;
	}
	tv->tv_n = tv->tv_niov = 0;
}

/* Add m to the vector.  False: no room. */
static inline bool
packet_add(struct packet_txvec *tv, struct mbuf *m)
{
	struct msghdr *msg = &tv->tv_msg[tv->tv_n].msg_hdr;
	struct virtio_net_hdr *vh = &tv->tv_vh[tv->tv_n];
	struct iovec *iov = &tv->tv_iov[tv->tv_niov];
	unsigned int k = 0;

	if (tv->tv_niov + PACKET_IOVS_MAX > PACKET_IOVS)
		return (false);
	memset(msg, 0, sizeof(*msg));
	msg->msg_iov = iov;
	vhdr_fill(vh, m);
	iov[k].iov_base = vh;
	iov[k++].iov_len = sizeof(*vh);
	for (; m != NULL && k < PACKET_IOVS_MAX; m = m->m_next) {
		iov[k].iov_base = m->m_data;
		iov[k++].iov_len = m->m_len;
	}
	/* A longer chain is left to the kernel to refuse, with EMSGSIZE. */
	msg->msg_iovlen = m == NULL ? k : IOV_MAX + 1;
	tv->tv_niov += k;
	tv->tv_n++;
	return (true);
}

/* Send n packets; consumes them. */
static void
packet_send_messages(struct packet_softc *sc, struct mbuf **m, unsigned int n)
{
	struct packet_txvec tv;
	unsigned int i, first = 0;

	tv.tv_n = tv.tv_niov = 0;
	for (i = 0; i < n; i++) {
		if (packet_add(&tv, m[i]))
			continue;
		packet_send_vec(sc, &tv, m + first);
		first = i;
		(void)packet_add(&tv, m[i]);
	}
	packet_send_vec(sc, &tv, m + first);
}

void
packet_output(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	struct packet_softc *sc = ifp->if_softc;
	unsigned int sent;

	NET_EPOCH_ASSERT();

	if (__predict_false(linux_port_gone(&sc->sc_port))) {
		if_output_drop(ifp, m, n, IFD_TXERR);
		return;
	}
	sent = packet_send_ring(sc, m, n);
	m_free_burst(m, sent);
	if (__predict_false(sent != n))
		packet_send_messages(sc, m + sent, n - sent);
}
