/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Any Linux device by packet sockets: packet(7), no privilege beyond
 * CAP_NET_RAW, so also in an unprivileged user namespace.
 *
 * Receive: a TPACKET_V2 ring of slots in shared memory, each frame there to be
 * seen as soon as the kernel has written it, with a virtio header in front
 * (checksum and segmentation state) and its VLAN tag beside it.  A frame that
 * is longer than a slot, left unsegmented or of a large MTU, is also queued on
 * the socket; its slot says so (TP_STATUS_COPY), and the kernel orders both
 * under one lock, so the socket is read when such a slot's turn comes.  If the
 * socket's buffer was full there is only the part in the slot: a lost frame.
 * Frames are copied into mbufs, large ones split on the way, from sc_large.
 * The ring's position and sc_large belong to the ithread (t).
 *
 * Transmit: packet_tx.c.
 *
 * Linux's own stack sees the frames too.  That it does not answer for the
 * device is the operator's care: no addresses on it.
 */
#include <sys/mman.h>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "drivers/drv.h"
#include "drivers/packet_private.h"
#include "ifnet/if_clone.h"
#include "intr/intr_var.h"
#include "wire/ether.h"

#define	PACKET_SLOTS		4096u		/* a power of 2 */
#define	PACKET_RCVBUF		(8 << 20)	/* bytes, for large frames */
#define	PACKET_SNDBUF		(4 << 20)	/* bytes */
#define	PACKET_MTU_MAX		65521u		/* in chains of frames */

/* A received frame, in its slot or in sc_large. */
struct packet_frame {
	const struct tpacket2_hdr *pf_slot;
	struct virtio_net_hdr *pf_vh;
	char		*pf_data;
	uint32_t	 pf_len;	/* bytes */
};

/*
 * Receive.
 */
static inline struct tpacket2_hdr *
packet_slot(struct packet_softc *sc, unsigned int i)
{

	return ((void *)(sc->sc_ring + (size_t)((sc->sc_slot + i) %
	    PACKET_SLOTS) * PACKET_SLOT_SIZE));
}

static inline bool
packet_ready(const struct tpacket2_hdr *h)
{

	/* Pairs with the kernel's release of the slot. */
	return ((__atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) &
	    TP_STATUS_USER) != 0);
}

/* Frames that wait, up to a burst of them. */
static inline unsigned int
packet_waiting(struct packet_softc *sc)
{
	struct tpacket2_hdr *h;
	unsigned int k;

	for (k = 0; k < MBUF_BURST; k++) {
		h = packet_slot(sc, k);
		if (!packet_ready(h))
			break;
		__builtin_prefetch((char *)h + CACHE_LINE_SIZE);
	}
	return (k);
}

/* Done with the slot to read next. */
static inline void
packet_release(struct packet_softc *sc)
{

	__atomic_store_n(&packet_slot(sc, 0)->tp_status, TP_STATUS_KERNEL,
	    __ATOMIC_RELEASE);
	sc->sc_slot = (sc->sc_slot + 1) % PACKET_SLOTS;
}

static inline uint16_t
packet_vproto(const struct tpacket2_hdr *h)
{

	return ((h->tp_status & TP_STATUS_VLAN_TPID_VALID) != 0 ?
	    h->tp_vlan_tpid : ETHERTYPE_VLAN);
}

/* Read the frame for which slot h has no room.  False: counted, gone. */
static bool
packet_recv(struct packet_softc *sc, const struct tpacket2_hdr *h)
{
	enum if_drop why = IFD_RXERR;
	ssize_t n;

	/* A device that went down leaves its error before the frame. */
	do {
		n = recv(sc->sc_fd, &sc->sc_large, sizeof(sc->sc_large),
		    MSG_DONTWAIT | MSG_TRUNC);
	} while (n == -1 && (errno == EINTR || errno == ENETDOWN));
	if (n > (ssize_t)sizeof(sc->sc_large))
		why = IFD_TOOBIG;
	else if (n == (ssize_t)(sizeof(sc->sc_large.pl_vh) + h->tp_len))
		return (true);
	if_count_drop(sc->sc_port.lp_ifp, why, 1);
	return (false);
}

/* Find the frame of slot h.  False: counted, there is none. */
static inline bool
packet_frame(struct packet_softc *sc, struct tpacket2_hdr *h,
    struct packet_frame *pf)
{

	pf->pf_slot = h;
	pf->pf_len = h->tp_len;
	if (__predict_true(h->tp_snaplen == h->tp_len)) {
		pf->pf_data = (char *)h + h->tp_mac;
		pf->pf_vh = (void *)(pf->pf_data - sizeof(*pf->pf_vh));
		return (true);
	}
	pf->pf_data = sc->sc_large.pl_data;
	pf->pf_vh = &sc->sc_large.pl_vh;
	if ((h->tp_status & TP_STATUS_COPY) != 0)
		return (packet_recv(sc, h));
	if_count_drop(sc->sc_port.lp_ifp, IFD_RXRING, 1);
	return (false);
}

/* Copy the frame into m.  False: counted, and m is still unused. */
static inline bool
packet_copy(struct ifnet *ifp, const struct packet_frame *pf, struct mbuf *m)
{
	const struct tpacket2_hdr *h = pf->pf_slot;
	uint32_t len = pf->pf_len;

	if (pf->pf_vh->flags != 0)
		vhdr_sctp(pf->pf_data, len, pf->pf_vh);
	if (__predict_true(len <= MBUF_DATA_SIZE)) {
		memcpy(m->m_data, pf->pf_data, len);
		m->m_len = m->m_pkthdr.len = len;
	} else if (m_append(m, len, pf->pf_data) != 0) {
		if_count_drop(ifp, IFD_NOMBUF, 1);
		return (false);
	}
	if ((h->tp_status & TP_STATUS_VLAN_VALID) != 0) {
		m->m_flags |= M_VLANTAG;
		m->m_pkthdr.ether_vtag = h->tp_vlan_tci;
		m->m_pkthdr.ether_vproto = packet_vproto(h);
	}
	if (pf->pf_vh->flags != 0 && !vhdr_cksum(m, pf->pf_vh)) {
		if_count_drop(ifp, IFD_RXERR, 1);
		/* It takes the next frame, without what m_append() added. */
		m_freem(m->m_next);
		m->m_next = NULL;
		m->m_len = m->m_pkthdr.len = 0;
		m->m_flags &= ~(uint32_t)M_VLANTAG;
		return (false);
	}
	return (true);
}

/* A frame for segmentation: true if its segments are to be made now. */
static bool
packet_split(struct packet_softc *sc, const struct packet_frame *pf)
{
	const struct tpacket2_hdr *h = pf->pf_slot;
	struct ifnet *ifp = sc->sc_port.lp_ifp;
	struct vhdr_split *vs = &sc->sc_split;

	/* Its slot goes before its segments are made. */
	if (pf->pf_data != sc->sc_large.pl_data) {
		sc->sc_large.pl_vh = *pf->pf_vh;
		memcpy(sc->sc_large.pl_data, pf->pf_data, pf->pf_len);
	}
	if (!vhdr_split_begin(vs, sc->sc_large.pl_data, pf->pf_len,
	    &sc->sc_large.pl_vh)) {
		if_count_drop(ifp, IFD_TOOBIG, 1);
		log_limited(&sc->sc_limit, 1, LOG_WARNING, "%s: a frame of %u "
		    "bytes cannot be split; switch segmentation offload off "
		    "at the peer of %s", ifp->if_name, pf->pf_len,
		    sc->sc_port.lp_name);
		return (false);
	}
	vs->vs_tagged = (h->tp_status & TP_STATUS_VLAN_VALID) != 0;
	vs->vs_vtag = h->tp_vlan_tci;
	vs->vs_vproto = packet_vproto(h);
	return (true);
}

/*
 * Fill mbufs of m from the k frames that wait, up to one that has to be split.
 * Returns the mbufs filled, which are in front.
 */
static unsigned int
packet_take(struct packet_softc *sc, struct mbuf **m, unsigned int k)
{
	struct ifnet *ifp = sc->sc_port.lp_ifp;
	struct packet_frame pf;
	unsigned int n = 0;

	for (; k > 0 && !sc->sc_split.vs_active; k--) {
		if (!packet_frame(sc, packet_slot(sc, 0), &pf))
			;		/* counted */
		else if (__predict_false(vhdr_is_gso(pf.pf_vh)))
			(void)packet_split(sc, &pf);
		else if (packet_copy(ifp, &pf, m[n]))
			n++;
		packet_release(sc);
	}
	return (n);
}

/* Up to a burst of the frame being split. */
static unsigned int
packet_take_split(struct packet_softc *sc, struct mbuf **m)
{
	unsigned int lost = 0, n;

	n = vhdr_split_next(&sc->sc_split, m, MBUF_BURST, &lost);
	if (lost != 0)
		if_count_drop(sc->sc_port.lp_ifp, IFD_NOMBUF, lost);
	return (n);
}

/* No memory: lose the k frames that wait, or the kernel would. */
static void
packet_discard(struct packet_softc *sc, unsigned int k)
{
	struct packet_frame pf;

	for (; k > 0; k--) {
		if (packet_frame(sc, packet_slot(sc, 0), &pf))
			if_count_drop(sc->sc_port.lp_ifp, IFD_NOMBUF, 1);
		packet_release(sc);
	}
}

static enum intr_more
packet_intr(void *arg)
{
	struct packet_softc *sc = arg;
	struct ifnet *ifp = sc->sc_port.lp_ifp;
	struct mbuf *m[MBUF_BURST];
	unsigned int k, n;

	if (sc->sc_split.vs_active) {
		n = packet_take_split(sc, m);
	} else {
		k = packet_waiting(sc);
		if (k == 0)
			return (INTR_DONE);
		sc->sc_found = true;
		if (m_get_burst(m, k) != k) {
			packet_discard(sc, k);
			return (INTR_MORE);
		}
		n = packet_take(sc, m, k);
		if (n < k)
			m_free_burst(m + n, k - n);
	}
	if (n != 0)
		drv_input(&sc->sc_input, ifp, m, n);
	return (INTR_MORE);
}

/* A device that goes down leaves an error, which wakes until it is read. */
static void
packet_clear_error(int fd)
{
	socklen_t len = sizeof(int);
	int error;

	(void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
}

/*
 * The fd is level triggered: nothing to switch on, only to look.  If there was
 * nothing since the last sleep an error may have ended it.  That the device
 * went down is no time to read it: the kernel tells of that first.
 */
static bool
packet_arm(void *arg)
{
	struct packet_softc *sc = arg;

	if (packet_ready(packet_slot(sc, 0)))
		return (true);
	if (!sc->sc_found)
		packet_clear_error(sc->sc_fd);
	sc->sc_found = false;
	return (false);
}

/*
 * Configuration.
 */
static void
packet_stats(struct linux_port *lp)
{
	struct packet_softc *sc = (struct packet_softc *)lp;
	struct tpacket_stats st;
	socklen_t len = sizeof(st);

	/* Reading sets the kernel's counters back to 0. */
	if (getsockopt(sc->sc_fd, SOL_PACKET, PACKET_STATISTICS, &st,
	    &len) == 0 && st.tp_drops != 0)
		if_count_drop(lp->lp_ifp, IFD_RXRING, st.tp_drops);
}

/* The first send after a device went down fails with the error it left. */
static void
packet_changed(struct linux_port *lp)
{
	struct packet_softc *sc = (struct packet_softc *)lp;

	packet_clear_error(sc->sc_fd);
	packet_clear_error(sc->sc_txfd);
}

static int
packet_option(int fd, int option, int value)
{

	return (setsockopt(fd, SOL_PACKET, option, &value, sizeof(value)) ==
	    -1 ? errno : 0);
}

/* As large as we may have it: not being allowed is no failure. */
static void
packet_buffer(int fd, int force, int option, int size)
{

	if (setsockopt(fd, SOL_SOCKET, force, &size, sizeof(size)) == -1)
		(void)setsockopt(fd, SOL_SOCKET, option, &size, sizeof(size));
}

/* A socket that sends past the queueing discipline; receives nothing yet. */
static int
packet_socket(int *fdp)
{
	int error, fd;

	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return (errno);
	error = packet_option(fd, PACKET_QDISC_BYPASS, 1);
	if (error != 0) {
		close(fd);
		return (error);
	}
	packet_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, PACKET_SNDBUF);
	*fdp = fd;
	return (0);
}

static int
packet_bind(struct packet_softc *sc, int fd, uint16_t protocol)
{
	struct sockaddr_ll sll = {
		.sll_family = AF_PACKET,
		.sll_ifindex = sc->sc_port.lp_index,
		.sll_protocol = htons(protocol),
	};

	return (bind(fd, (void *)&sll, sizeof(sll)) == -1 ? errno : 0);
}

/* A ring of slots for option, PACKET_RX_RING or PACKET_TX_RING. */
static int
packet_ring(int fd, int option, unsigned int slots, char **ringp)
{
	const size_t size = (size_t)slots * PACKET_SLOT_SIZE;
	const struct tpacket_req req = {
		.tp_block_size = PACKET_BLOCK_SIZE,
		.tp_block_nr = (unsigned int)(size / PACKET_BLOCK_SIZE),
		.tp_frame_size = PACKET_SLOT_SIZE,
		.tp_frame_nr = slots,
	};
	void *ring;
	int error;

	error = packet_option(fd, PACKET_VERSION, TPACKET_V2);
	if (error == 0)
		error = packet_option(fd, PACKET_VNET_HDR, 1);
	if (error != 0)
		return (error);
	if (setsockopt(fd, SOL_PACKET, option, &req, sizeof(req)) == -1)
		return (errno);
	ring = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_POPULATE, fd, 0);
	if (ring == MAP_FAILED)
		return (errno);
	*ringp = ring;
	return (0);
}

static int
packet_rings(struct packet_softc *sc)
{
	int error;

	error = packet_option(sc->sc_fd, PACKET_IGNORE_OUTGOING, 1);
	/* Any value but 0 asks for the copies. */
	if (error == 0)
		error = packet_option(sc->sc_fd, PACKET_COPY_THRESH, 1);
	if (error == 0)
		error = packet_ring(sc->sc_fd, PACKET_RX_RING, PACKET_SLOTS,
		    &sc->sc_ring);
	if (error == 0)
		error = packet_ring(sc->sc_txfd, PACKET_TX_RING,
		    PACKET_TXSLOTS, &sc->sc_txring);
	if (error == 0)
		packet_buffer(sc->sc_fd, SO_RCVBUFFORCE, SO_RCVBUF,
		    PACKET_RCVBUF);
	return (error);
}

static int
packet_open(struct packet_softc *sc, char *err, size_t errlen)
{
	const char *dev = sc->sc_port.lp_name;
	int error;

	error = packet_socket(&sc->sc_fd);
	if (error == 0)
		error = packet_socket(&sc->sc_txfd);
	if (error == EPERM || error == EACCES)
		return (drv_error(error, err, errlen, "packet:%s: no "
		    "permission to open a packet socket: CAP_NET_RAW is "
		    "needed", dev));
	if (error != 0)
		return (drv_error(error, err, errlen, "packet:%s: cannot open "
		    "a packet socket: %s", dev, strerror(error)));
	error = packet_rings(sc);
	if (error != 0)
		return (drv_error(error, err, errlen, "packet:%s: cannot make "
		    "rings of %u KiB: %s", dev, (PACKET_SLOTS +
		    PACKET_TXSLOTS) * PACKET_SLOT_SIZE >> 10,
		    strerror(error)));
	error = packet_bind(sc, sc->sc_txfd, 0);
	if (error == 0)
		error = packet_bind(sc, sc->sc_fd, ETH_P_ALL);
	if (error != 0)
		return (drv_error(error, err, errlen, "packet:%s: cannot bind "
		    "to the device: %s", dev, strerror(error)));
	return (0);
}

static void
packet_close(struct packet_softc *sc)
{

	if (sc->sc_txring != NULL)
		munmap(sc->sc_txring,
		    (size_t)PACKET_TXSLOTS * PACKET_SLOT_SIZE);
	if (sc->sc_ring != NULL)
		munmap(sc->sc_ring, (size_t)PACKET_SLOTS * PACKET_SLOT_SIZE);
	if (sc->sc_txfd != -1)
		close(sc->sc_txfd);
	if (sc->sc_fd != -1)
		close(sc->sc_fd);
	mtx_destroy(&sc->sc_txmtx);
	free(sc);
}

static int
packet_ifnet(struct packet_softc *sc, struct vnet *vnet, const char *name,
    const struct linux_if *li)
{
	struct ifnet *ifp;
	int error;

	error = linux_port_ifnet(&sc->sc_port, vnet, &packet_driver, name, li);
	if (error != 0)
		return (error);
	ifp = sc->sc_port.lp_ifp;
	sc->sc_port.lp_stats = packet_stats;
	sc->sc_port.lp_changed = packet_changed;
	atomic_init(&ifp->if_output, packet_output);
	snprintf(ifp->if_media, sizeof(ifp->if_media), "packet ring");
	ifp->if_mtu_max = li->li_mtu_max != 0 &&
	    li->li_mtu_max < PACKET_MTU_MAX ? li->li_mtu_max : PACKET_MTU_MAX;
	ifp->if_capabilities = IFCAP_RXCSUM | IFCAP_TXCSUM | IFCAP_VLAN_MTU |
	    IFCAP_JUMBO_MTU | IFCAP_LINKSTATE;
	atomic_init(&ifp->if_capenable, ifp->if_capabilities);
	return (0);
}

static int
packet_create(struct vnet *vnet, const char *name, struct if_spec *sp,
    struct ifnet **ifpp, char *err, size_t errlen)
{
	struct packet_softc *sc;
	struct drv_input di;
	struct linux_if li;
	int cpu, error, type;

	VNET_CONFIG_ASSERT(vnet);

	error = drv_option_cpu(sp, vnet, &cpu, err, errlen);
	if (error == 0)
		error = drv_option_input(sp, &di, err, errlen);
	if (error == 0)
		error = if_spec_unused(sp, err, errlen);
	if (error != 0)
		return (error);
	if ((sc = calloc(1, sizeof(*sc))) == NULL)
		return (drv_error(ENOMEM, err, errlen, "%s: no memory", name));
	sc->sc_input = di;
	sc->sc_fd = sc->sc_txfd = -1;
	mtx_init(&sc->sc_txmtx, "packet tx");
	error = linux_port_open(&sc->sc_port, "packet", sp->sp_device, &li,
	    err, errlen);
	if (error == 0)
		error = packet_open(sc, err, errlen);
	if (error != 0)
		goto close_device;
	err[0] = '\0';
	error = packet_ifnet(sc, vnet, name, &li);
	if (error != 0)
		goto close_device;
	error = intr_event_create(vnet->v_intr, name, cpu, sc->sc_fd, EPOLLIN,
	    &sc->sc_ie);
	if (error != 0)
		goto free_ifp;
	type = drv_input_init(&sc->sc_input, sc->sc_port.lp_ifp);
	error = intr_handler_add(sc->sc_ie, type | INTR_POLL, packet_intr,
	    packet_arm, sc, &sc->sc_ih);
	if (error != 0)
		goto destroy_event;
	error = linux_port_attach(&sc->sc_port);
	if (error != 0)
		goto remove_handler;
	*ifpp = sc->sc_port.lp_ifp;
	return (0);
remove_handler:
	intr_handler_remove(sc->sc_ih);
destroy_event:
	intr_event_destroy(sc->sc_ie);
free_ifp:
	if_free(sc->sc_port.lp_ifp);
close_device:
	packet_close(sc);
	if (err[0] == '\0')
		drv_error(error, err, errlen, "%s: %s", name,
		    strerror(error));
	return (error);
}

static void
packet_destroy(struct ifnet *ifp)
{
	struct packet_softc *sc = ifp->if_softc;

	linux_port_unwatch(&sc->sc_port);
	intr_handler_remove(sc->sc_ih);
	intr_event_destroy(sc->sc_ie);
	if_detach(ifp);
	packet_stats(&sc->sc_port);
	packet_close(sc);
	if_free(ifp);
}

const struct if_driver packet_driver = {
	.drv_name = "packet",
	.drv_descr = "any Linux device, by packet sockets",
	.drv_device = true,
	.drv_create = packet_create,
	.drv_destroy = packet_destroy,
};
