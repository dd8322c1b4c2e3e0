/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * xdpgen: the generator of the veth benchmarks.
 *
 *	xdpgen interface destination-mac seconds [destinations]
 *
 * Runs a BPF program on live frames (BPF_PROG_RUN with
 * BPF_F_TEST_XDP_LIVE_FRAMES), which makes 64-byte UDP frames and redirects
 * them out of the interface: no skb is made, so one core offers more than any
 * router here takes.  The peer of the interface needs an XDP program or GRO,
 * else the kernel drops what it is sent.  Destinations are the first so many
 * (a power of two) of 198.18.0.0/15.  Frames are counted by the interfaces.
 * One thread; needs root.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <net/if.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sysexits.h>

#include <bpf/bpf.h>

#include "probe.h"
#include "xdpgen.skel.h"

#define	FRAME		64
/* Frames a system call: setting one up takes milliseconds. */
#define	RUN		(1u << 20)
#define	BATCH		64	/* frames the kernel redirects at once */

static volatile sig_atomic_t stop;
static const uint8_t template[FRAME] = {
	0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0x0a, 0x01, 0x08, 0x00,
	0x45, 0, 0, FRAME - 14, 0, 0, 0, 0, 64, 17, 0, 0,
	10, 1, 0, 1, 0, 0, 0, 0,
	0x04, 0xd2, 0, 9, 0, FRAME - 34, 0, 0,
};

/* The sum of the template's header words, in memory order. */
static uint32_t
header_sum(const uint8_t *frame)
{
	uint32_t sum = 0;
	uint16_t w;

	for (int i = 14; i < 34; i += 2) {
		memcpy(&w, frame + i, sizeof(w));
		sum += w;
	}
	return (sum);
}

static void
ontime(int sig)
{
	(void)sig;
	stop = 1;
}

/* Send frames for so many seconds; a signal ends the last run half-way. */
static void
generate(int fd, uint8_t *frame, double secs)
{
	const struct itimerval when = {
		.it_value.tv_sec = (time_t)secs,
		.it_value.tv_usec = (suseconds_t)((secs - (time_t)secs) * 1e6),
	};

	struct xdp_md ctx = { .data_end = FRAME, .ingress_ifindex = 1 };
	LIBBPF_OPTS(bpf_test_run_opts, opts,
	    .data_in = frame, .data_size_in = FRAME,
	    .ctx_in = &ctx, .ctx_size_in = sizeof(ctx),
	    .repeat = RUN, .flags = BPF_F_TEST_XDP_LIVE_FRAMES,
	    .batch_size = BATCH);
	int error;

	signal(SIGALRM, ontime);
	signal(SIGINT, ontime);
	signal(SIGTERM, ontime);
	if (setitimer(ITIMER_REAL, &when, NULL) != 0)
		err(EX_USAGE, "seconds");
	while (stop == 0) {
		error = bpf_prog_test_run_opts(fd, &opts);
		if (error != 0 && error != -EINTR) {
			errno = -error;
			err(EX_OSERR, "live frames");
		}
	}
}

int
main(int argc, char **argv)
{
	uint8_t frame[FRAME];
	struct xdpgen_bpf *skel;
	unsigned int ifindex, ndst;
	double secs;

	if (argc < 4)
		errx(EX_USAGE, "usage: xdpgen interface destination-mac "
		    "seconds [destinations]");
	memcpy(frame, template, sizeof(frame));
	ifindex = if_nametoindex(argv[1]);
	if (ifindex == 0)
		err(EX_NOINPUT, "%s", argv[1]);
	if (!probe_mac_parse(argv[2], frame))
		errx(EX_USAGE, "%s: not an Ethernet address", argv[2]);
	secs = atof(argv[3]);
	ndst = argc > 4 ? (unsigned int)atoi(argv[4]) : 1;
	if (ndst == 0 || (ndst & (ndst - 1)) != 0)
		errx(EX_USAGE, "destinations: not a power of two");

	skel = xdpgen_bpf__open();
	if (skel == NULL)
		err(EX_OSERR, "program");
	skel->rodata->cfg.ifindex = ifindex;
	skel->rodata->cfg.base = ntohl(inet_addr("198.18.0.0"));
	skel->rodata->cfg.mask = ndst - 1;
	skel->rodata->cfg.sum0 = header_sum(frame);
	memcpy(skel->rodata->cfg.mac, frame, 12);
	if (xdpgen_bpf__load(skel) != 0)
		err(EX_OSERR, "load");

	generate(bpf_program__fd(skel->progs.xdpgen_frame), frame, secs);
	xdpgen_bpf__destroy(skel);
	return (0);
}
