/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A small flood for stories and the lab: 60-byte UDP frames from a packet
 * socket, a sequence number in each, at full speed or at a given rate.
 *
 *	flood DEV DSTMAC SRCIP DSTIP SECONDS [PACKETS-PER-SECOND]
 *
 * Ends after that time or with SIGTERM, and prints "sent N".  At a rate it
 * sends at most a batch at once, also when it was held up: the rate is then
 * lower.  Runs on its one thread; needs CAP_NET_RAW in DEV's namespace.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "wire/ether.h"
#include "wire/in_cksum.h"
#include "wire/ip.h"
#include "wire/udp.h"

#define	FLOOD_BATCH	32
#define	FRAME_LEN	60

struct frame {
	struct ether_header f_eh;
	struct ip	 f_ip;
	struct udphdr	 f_udp;
	uint64_t	 f_seq;		/* payload, network order */
	uint8_t		 f_pad[10];
} __attribute__((packed));
static_assert(sizeof(struct frame) == FRAME_LEN, "frame");

static volatile sig_atomic_t stop;

static void
stop_flood(int sig)
{

	stop = 1;
}

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec);
}

static int
open_device(const char *dev, uint8_t *mac)
{
	struct sockaddr_ll sll = {
		.sll_family = AF_PACKET,
		.sll_ifindex = (int)if_nametoindex(dev),
	};
	struct ifreq ifr = { 0 };
	int fd, one = 1;

	if (sll.sll_ifindex == 0)
		err(EX_NOINPUT, "%s", dev);
	if ((fd = socket(AF_PACKET, SOCK_RAW, 0)) == -1)
		err(EX_NOPERM, "packet socket");
	if (bind(fd, (struct sockaddr *)&sll, sizeof(sll)) != 0)
		err(EX_OSERR, "bind to %s", dev);
	(void)setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one,
	    sizeof(one));
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev);
	if (ioctl(fd, SIOCGIFHWADDR, &ifr) != 0)
		err(EX_OSERR, "address of %s", dev);
	memcpy(mac, ifr.ifr_hwaddr.sa_data, ETHER_ADDR_LEN);
	return (fd);
}

static void
make_frame(struct frame *f, const uint8_t *src, const uint8_t *dst,
    struct in_addr from, struct in_addr to)
{

	memset(f, 0, sizeof(*f));
	memcpy(f->f_eh.ether_dhost, dst, ETHER_ADDR_LEN);
	memcpy(f->f_eh.ether_shost, src, ETHER_ADDR_LEN);
	f->f_eh.ether_type = htons(ETHERTYPE_IP);
	f->f_ip.ip_vhl = 0x45;
	f->f_ip.ip_len = htons(FRAME_LEN - ETHER_HDR_LEN);
	f->f_ip.ip_ttl = 64;
	f->f_ip.ip_p = IPPROTO_UDP;
	f->f_ip.ip_src = from;
	f->f_ip.ip_dst = to;
	f->f_ip.ip_sum = in_cksum_hdr20(&f->f_ip);
	f->f_udp.uh_sport = htons(1024);
	f->f_udp.uh_dport = htons(9);	/* discard; no checksum */
	f->f_udp.uh_ulen = htons(FRAME_LEN - ETHER_HDR_LEN -
	    sizeof(struct ip));
}

/* Send until the end of time or the rate's share of it. */
static uint64_t
flood(int fd, const struct frame *proto, double seconds, double rate)
{
	struct frame f[FLOOD_BATCH];
	struct iovec iov[FLOOD_BATCH];
	struct mmsghdr msg[FLOOD_BATCH];
	uint64_t start = now_ns(), sent = 0, forgiven = 0, t, due;
	unsigned int want;
	int n;

	memset(msg, 0, sizeof(msg));
	for (int i = 0; i < FLOOD_BATCH; i++) {
		f[i] = *proto;
		iov[i] = (struct iovec){ &f[i], sizeof(f[i]) };
		msg[i].msg_hdr.msg_iov = &iov[i];
		msg[i].msg_hdr.msg_iovlen = 1;
	}
	while (stop == 0 && (t = now_ns() - start) < (uint64_t)(seconds * 1e9)) {
		want = FLOOD_BATCH;
		if (rate > 0) {
			due = (uint64_t)((double)t * rate / 1e9) + 1 -
			    forgiven;
			if (due <= sent) {
				poll(NULL, 0, 1);
				continue;
			}
			if (due - sent < want)
				want = (unsigned int)(due - sent);
			forgiven += due - sent - want;
		}
		for (unsigned int i = 0; i < want; i++)
			f[i].f_seq = htobe64(sent + i);
		n = sendmmsg(fd, msg, want, 0);
		if (n > 0)
			sent += (uint64_t)n;
		else if (errno != ENOBUFS && errno != EAGAIN &&
		    errno != EINTR && errno != ENETDOWN && errno != ENXIO)
			err(EX_IOERR, "send");
	}
	return (sent);
}

int
main(int argc, char **argv)
{
	struct in_addr from, to;
	struct frame f;
	uint8_t src[ETHER_ADDR_LEN], dst[ETHER_ADDR_LEN];
	int fd;

	if (argc < 6 || argc > 7 ||
	    sscanf(argv[2], "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &dst[0], &dst[1],
	    &dst[2], &dst[3], &dst[4], &dst[5]) != 6 ||
	    inet_pton(AF_INET, argv[3], &from) != 1 ||
	    inet_pton(AF_INET, argv[4], &to) != 1)
		errx(EX_USAGE, "usage: flood DEV DSTMAC SRCIP DSTIP SECONDS "
		    "[PACKETS-PER-SECOND]");
	signal(SIGTERM, stop_flood);
	fd = open_device(argv[1], src);
	make_frame(&f, src, dst, from, to);
	printf("sent %ju\n", (uintmax_t)flood(fd, &f, atof(argv[5]),
	    argc == 7 ? atof(argv[6]) : 0));
	return (0);
}
