/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * gen_probe: what a generator over a socket can send here at best.
 *
 *	gen_probe interface destination-mac seconds xsk|mmsg [batch=n]
 *	    [txbudget=n]
 *
 * Sends one UDP frame of 60 bytes that was made beforehand, again and again:
 * over AF_XDP in copy mode, txbudget being XDP_MAX_TX_SKB_BUDGET, or with
 * sendmmsg(2) past the queueing discipline.  The frames are counted by the
 * interfaces.  One thread, which owns everything; needs root.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/if_xdp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sysexits.h>

#include <xdp/xsk.h>

#include "probe.h"

#define	FRAME		60u
#define	NFRAMES		4096u
#define	FRAMESIZE	2048u
#define	RING		2048u
#define	MAXBATCH	1024u
#define	OPT_TX_SKB_BUDGET 9		/* XDP_MAX_TX_SKB_BUDGET, Linux 6.18 */

static struct {
	unsigned int	batch;
	unsigned int	txbudget;
} opt = { .batch = 64 };

static uint8_t frame[FRAME] = {
	0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0x0a, 0x01, 0x08, 0x00,
	0x45, 0, 0, FRAME - 14, 0, 0, 0, 0, 64, 17, 0x66, 0xbc,
	10, 0, 0, 1, 10, 1, 0, 1,
	0x04, 0xd2, 0x04, 0xd2, 0, FRAME - 34, 0, 0,
};
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

	return (stop == 0 && ((++turn & 15) != 0 ||
	    probe_now(CLOCK_MONOTONIC) < end));
}

/* ---- AF_XDP ---- */

struct xsk {
	int			 x_fd;
	struct xsk_ring_cons	 x_rx;
	struct xsk_ring_cons	 x_cq;
	struct xsk_ring_prod	 x_tx;
	struct xsk_ring_prod	 x_fq;
	unsigned int		 x_unsent;
};

static void
xsk_open(struct xsk *x, const char *ifname)
{
	const struct xsk_umem_config uc = {
		.fill_size = RING, .comp_size = RING, .frame_size = FRAMESIZE,
	};
	const struct xsk_socket_config xc = {
		.rx_size = RING, .tx_size = RING,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = XDP_COPY | XDP_USE_NEED_WAKEUP,
	};
	const size_t size = (size_t)NFRAMES * FRAMESIZE;
	const struct rlimit rl = { RLIM_INFINITY, RLIM_INFINITY };
	struct xsk_socket *socket;
	struct xsk_umem *umem;
	uint8_t *area;
	int error;

	setrlimit(RLIMIT_MEMLOCK, &rl);
	area = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (area == MAP_FAILED)
		err(EX_OSERR, "frames");
	for (unsigned int i = 0; i < NFRAMES; i++)
		memcpy(area + (size_t)i * FRAMESIZE, frame, FRAME);
	error = xsk_umem__create(&umem, area, size, &x->x_fq, &x->x_cq, &uc);
	if (error == 0)
		error = xsk_socket__create(&socket, ifname, 0, umem, &x->x_rx,
		    &x->x_tx, &xc);
	if (error != 0) {
		errno = -error;
		err(EX_OSERR, "%s: socket", ifname);
	}
	x->x_fd = xsk_socket__fd(socket);
	if (opt.txbudget != 0 && setsockopt(x->x_fd, SOL_XDP,
	    OPT_TX_SKB_BUDGET, &opt.txbudget, sizeof(opt.txbudget)) != 0)
		err(EX_OSERR, "txbudget");
}

static void
xsk_reap(struct xsk *x)
{
	uint32_t pos;
	unsigned int n;

	n = xsk_ring_cons__peek(&x->x_cq, RING, &pos);
	if (n == 0)
		return;
	xsk_ring_cons__release(&x->x_cq, n);
	x->x_unsent -= n;
}

static uint64_t
send_xsk(const char *ifname)
{
	struct xsk x = { .x_unsent = 0 };
	struct xdp_desc *desc;
	uint64_t sent = 0;
	uint32_t pos;

	xsk_open(&x, ifname);
	while (running()) {
		xsk_reap(&x);
		/* No frame is twice on its way: there are two rings full. */
		if (x.x_unsent + opt.batch <= RING &&
		    xsk_ring_prod__reserve(&x.x_tx, opt.batch, &pos) ==
		    opt.batch) {
			for (unsigned int i = 0; i < opt.batch; i++) {
				desc = xsk_ring_prod__tx_desc(&x.x_tx,
				    pos + i);
				desc->addr = (sent + i) % NFRAMES * FRAMESIZE;
				desc->len = FRAME;
				desc->options = 0;
			}
			xsk_ring_prod__submit(&x.x_tx, opt.batch);
			x.x_unsent += opt.batch;
			sent += opt.batch;
		}
		if (xsk_ring_prod__needs_wakeup(&x.x_tx))
			(void)sendto(x.x_fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
	}
	return (sent - x.x_unsent);
}

/* ---- AF_PACKET ---- */

static uint64_t
send_mmsg(const char *ifname)
{
	static struct mmsghdr msgs[MAXBATCH];
	struct sockaddr_ll sll = {
		.sll_family = AF_PACKET,
		.sll_ifindex = (int)if_nametoindex(ifname),
	};
	struct iovec iov = { frame, FRAME };
	const int one = 1;
	uint64_t sent = 0;
	int fd, n;

	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd == -1)
		err(EX_NOPERM, "packet socket");
	if (bind(fd, (struct sockaddr *)&sll, sizeof(sll)) != 0)
		err(EX_NOINPUT, "%s", ifname);
	if (setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one,
	    sizeof(one)) != 0)
		err(EX_OSERR, "bypass");
	for (unsigned int i = 0; i < opt.batch; i++) {
		msgs[i].msg_hdr.msg_iov = &iov;
		msgs[i].msg_hdr.msg_iovlen = 1;
	}
	while (running()) {
		n = sendmmsg(fd, msgs, opt.batch, MSG_DONTWAIT);
		if (n > 0)
			sent += (unsigned int)n;
		else if (errno != EAGAIN && errno != ENOBUFS)
			err(EX_OSERR, "sendmmsg");
	}
	return (sent);
}

int
main(int argc, char **argv)
{
	uint64_t sent;
	double t;

	if (argc < 5)
		errx(EX_USAGE, "usage: gen_probe interface destination-mac "
		    "seconds xsk|mmsg [batch=n] [txbudget=n]");
	if (if_nametoindex(argv[1]) == 0)
		err(EX_NOINPUT, "%s", argv[1]);
	if (!probe_mac_parse(argv[2], frame))
		errx(EX_USAGE, "%s: not an Ethernet address", argv[2]);
	for (int i = 5; i < argc; i++)
		if (sscanf(argv[i], "batch=%u", &opt.batch) != 1 &&
		    sscanf(argv[i], "txbudget=%u", &opt.txbudget) != 1)
			errx(EX_USAGE, "%s: no such option", argv[i]);
	if (opt.batch == 0 || opt.batch > MAXBATCH)
		errx(EX_USAGE, "batch: 1 to %u", MAXBATCH);
	signal(SIGINT, onsignal);
	signal(SIGTERM, onsignal);
	t = probe_now(CLOCK_MONOTONIC);
	end = t + atof(argv[3]);
	if (strcmp(argv[4], "xsk") == 0)
		sent = send_xsk(argv[1]);
	else if (strcmp(argv[4], "mmsg") == 0)
		sent = send_mmsg(argv[1]);
	else
		errx(EX_USAGE, "%s: not xsk or mmsg", argv[4]);
	t = probe_now(CLOCK_MONOTONIC) - t;
	printf("gen_probe sent=%lu kpps=%.0f\n", sent, (double)sent / t / 1e3);
	return (0);
}
