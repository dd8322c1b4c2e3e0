/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * packet_probe: what a router over AF_PACKET can do here at best.
 *
 *	packet_probe in out next-hop-mac seconds v2|v3|mmsg
 *
 * Receives with a TPACKET_V2 ring, a TPACKET_V3 ring or recvmmsg(2), makes
 * every check an IPv4 router owes, has one next hop, and sends with a
 * TPACKET_V2 ring that bypasses the queueing discipline.  Prints "ready",
 * runs, prints one line.  One thread, which owns everything; needs
 * CAP_NET_RAW.  See packet(7).
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sysexits.h>

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "probe.h"

#define	FRAMESIZE	2048u
#define	NFRAMES		4096u
#define	BLOCKSIZE	(1u << 20)
#define	NBLOCKS		(NFRAMES * FRAMESIZE / BLOCKSIZE)
#define	BATCH		64u

static struct {
	int		 fd;
	uint8_t		*ring;
	unsigned int	 pos;		/* next slot or block */
} in, out;
static unsigned int unsent;		/* posted since the last send(2) */
static struct probe_nexthop nexthop;
static uint64_t rxpkts, txpkts, drops;
static double end;
static volatile sig_atomic_t stop;

static void
onsignal(int sig)
{
	(void)sig;
	stop = 1;
}

static bool
running(void)
{
	static uint64_t turn;

	return (stop == 0 && ((++turn & 63) != 0 ||
	    probe_now(CLOCK_MONOTONIC) < end));
}

static int
packet_socket(int protocol)
{
	int fd;

	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(protocol));
	if (fd < 0)
		err(EX_NOPERM, "packet socket");
	return (fd);
}

static void
packet_option(int fd, int name, int value)
{
	if (setsockopt(fd, SOL_PACKET, name, &value, sizeof(value)) != 0)
		err(EX_OSERR, "packet option %d", name);
}

/* Make a ring (PACKET_RX_RING, PACKET_TX_RING) of TPACKET_V2 or V3. */
static uint8_t *
packet_ring(int fd, int version, int which)
{
	struct tpacket_req3 req = {
		.tp_block_size = BLOCKSIZE, .tp_block_nr = NBLOCKS,
		.tp_frame_size = FRAMESIZE, .tp_frame_nr = NFRAMES,
	};
	socklen_t len = sizeof(struct tpacket_req);
	uint8_t *ring;

	packet_option(fd, PACKET_VERSION, version);
	if (version == TPACKET_V3) {
		req.tp_retire_blk_tov = 1;
		len = sizeof(req);
	}
	if (setsockopt(fd, SOL_PACKET, which, &req, len) != 0)
		err(EX_OSERR, "ring");
	ring = mmap(NULL, (size_t)NFRAMES * FRAMESIZE, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_POPULATE, fd, 0);
	if (ring == MAP_FAILED)
		err(EX_OSERR, "map ring");
	return (ring);
}

static void
packet_bind(int fd, const char *ifname, int protocol)
{
	struct sockaddr_ll sll = {
		.sll_family = AF_PACKET, .sll_protocol = htons(protocol),
		.sll_ifindex = (int)if_nametoindex(ifname),
	};

	if (bind(fd, (struct sockaddr *)&sll, sizeof(sll)) != 0)
		err(EX_NOINPUT, "%s", ifname);
}

/* The header at p, whose alignment the kernel's ring layout warrants. */
static inline struct tpacket2_hdr *
v2_header(uint8_t *p)
{
	return ((struct tpacket2_hdr *)(void *)p);
}

static inline struct tpacket2_hdr *
tx_slot(void)
{
	struct tpacket2_hdr *h;

	h = v2_header(out.ring + (size_t)out.pos * FRAMESIZE);
	return (h->tp_status == TP_STATUS_AVAILABLE ? h : NULL);
}

static inline void
tx_kick(void)
{
	if (send(out.fd, NULL, 0, MSG_DONTWAIT) < 0 && errno != EAGAIN &&
	    errno != ENOBUFS)
		err(EX_OSERR, "send");
	unsent = 0;
}

/* One received frame: copy it to the sending ring, forward it there. */
static inline void
frame_in(const uint8_t *p, uint32_t len)
{
	struct tpacket2_hdr *h;
	uint8_t *o;

	rxpkts++;
	h = tx_slot();
	if (h == NULL) {
		tx_kick();
		h = tx_slot();
	}
	if (h == NULL || len > FRAMESIZE - TPACKET2_HDRLEN) {
		drops++;
		return;
	}
	o = (uint8_t *)h + TPACKET2_HDRLEN - sizeof(struct sockaddr_ll);
	memcpy(o, p, len);
	if (!probe_forward(o, len, &nexthop)) {
		drops++;
		return;
	}
	h->tp_len = len;
	__atomic_store_n(&h->tp_status, TP_STATUS_SEND_REQUEST,
	    __ATOMIC_RELEASE);	/* to the kernel, with the frame's bytes */
	if (++out.pos == NFRAMES)
		out.pos = 0;
	txpkts++;
	if (++unsent >= BATCH)
		tx_kick();
}

static void
forward_v2(void)
{
	struct tpacket2_hdr *h;

	while (running()) {
		for (unsigned int n = 0; n < BATCH; n++) {
			h = v2_header(in.ring + (size_t)in.pos * FRAMESIZE);
			if ((__atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) &
			    TP_STATUS_USER) == 0)
				break;
			frame_in((uint8_t *)h + h->tp_mac, h->tp_snaplen);
			__atomic_store_n(&h->tp_status, TP_STATUS_KERNEL,
			    __ATOMIC_RELEASE);
			if (++in.pos == NFRAMES)
				in.pos = 0;
		}
		if (unsent != 0)
			tx_kick();
	}
}

static void
forward_v3(void)
{
	struct tpacket_block_desc *b;
	struct tpacket3_hdr *h;
	uint32_t *status;
	uint8_t *p;

	while (running()) {
		p = in.ring + (size_t)in.pos * BLOCKSIZE;
		b = (struct tpacket_block_desc *)(void *)p;
		status = &b->hdr.bh1.block_status;
		if ((__atomic_load_n(status, __ATOMIC_ACQUIRE) &
		    TP_STATUS_USER) != 0) {
			p += b->hdr.bh1.offset_to_first_pkt;
			for (uint32_t i = 0; i < b->hdr.bh1.num_pkts; i++) {
				h = (struct tpacket3_hdr *)(void *)p;
				frame_in(p + h->tp_mac, h->tp_snaplen);
				p += h->tp_next_offset;
			}
			__atomic_store_n(status, TP_STATUS_KERNEL,
			    __ATOMIC_RELEASE);
			if (++in.pos == NBLOCKS)
				in.pos = 0;
		}
		if (unsent != 0)
			tx_kick();
	}
}

static void
forward_mmsg(void)
{
	static uint8_t bufs[BATCH][FRAMESIZE];
	static struct mmsghdr msgs[BATCH];
	static struct iovec iovs[BATCH];
	int n;

	for (unsigned int i = 0; i < BATCH; i++) {
		iovs[i].iov_base = bufs[i];
		iovs[i].iov_len = FRAMESIZE;
		msgs[i].msg_hdr.msg_iov = &iovs[i];
		msgs[i].msg_hdr.msg_iovlen = 1;
	}
	while (running()) {
		n = recvmmsg(in.fd, msgs, BATCH, MSG_DONTWAIT, NULL);
		for (int i = 0; i < n; i++)
			frame_in(bufs[i], msgs[i].msg_len);
		if (unsent != 0)
			tx_kick();
	}
}

/* Open both sockets; no ring for receiving if version is negative. */
static void
ports_open(const char *inname, const char *outname, int version)
{
	in.fd = packet_socket(0);
	packet_option(in.fd, PACKET_IGNORE_OUTGOING, 1);
	if (version >= 0)
		in.ring = packet_ring(in.fd, version, PACKET_RX_RING);
	out.fd = packet_socket(0);
	packet_option(out.fd, PACKET_QDISC_BYPASS, 1);
	out.ring = packet_ring(out.fd, TPACKET_V2, PACKET_TX_RING);
	packet_bind(out.fd, outname, 0);
	packet_bind(in.fd, inname, ETH_P_ALL);
	if (!probe_mac_get(inname, nexthop.pn_own) ||
	    !probe_mac_get(outname, nexthop.pn_eth + 6))
		err(EX_NOINPUT, "%s, %s", inname, outname);
}

int
main(int argc, char **argv)
{
	static const struct {
		const char	*name;
		int		 version;
		void		(*forward)(void);
	} kinds[] = {
		{ "v2", TPACKET_V2, forward_v2 },
		{ "v3", TPACKET_V3, forward_v3 },
		{ "mmsg", -1, forward_mmsg },
	};
	unsigned int k = 0;
	double c, t;

	if (argc != 6)
		errx(EX_USAGE, "usage: packet_probe in out next-hop-mac "
		    "seconds v2|v3|mmsg");
	while (strcmp(kinds[k].name, argv[5]) != 0) {
		if (++k == sizeof(kinds) / sizeof(kinds[0]))
			errx(EX_USAGE, "%s: not v2, v3 or mmsg", argv[5]);
	}
	if (!probe_mac_parse(argv[3], nexthop.pn_eth))
		errx(EX_USAGE, "%s: not an Ethernet address", argv[3]);
	signal(SIGINT, onsignal);
	signal(SIGTERM, onsignal);
	ports_open(argv[1], argv[2], kinds[k].version);
	puts("ready");
	fflush(stdout);

	t = probe_now(CLOCK_MONOTONIC);
	end = t + atof(argv[4]);
	c = probe_now(CLOCK_THREAD_CPUTIME_ID);
	kinds[k].forward();
	t = probe_now(CLOCK_MONOTONIC) - t;
	c = probe_now(CLOCK_THREAD_CPUTIME_ID) - c;
	printf("packet_probe rx=%lu tx=%lu drops=%lu kpps=%.0f ns=%.0f\n",
	    rxpkts, txpkts, drops, (double)txpkts / t / 1e3,
	    txpkts != 0 ? c * 1e9 / (double)txpkts : 0.0);
	return (0);
}
