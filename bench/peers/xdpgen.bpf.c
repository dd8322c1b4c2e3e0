/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The program that xdpgen runs on live frames: it makes a frame and sends it
 * out of one interface.  The kernel uses the pages again with whatever the
 * receiver left in them, so every field that a router changes is written each
 * time.  The source port is left alone; the destination walks over a power of
 * two of addresses.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/* Set before the program is loaded. */
volatile const struct {
	__u32	ifindex;	/* where frames go */
	__u32	base;		/* first destination, host order */
	__u32	mask;		/* number of destinations less one */
	__u32	sum0;		/* header sum without destination, checksum */
	__u32	mac[3];		/* destination and source address */
} cfg;

__u32 seq;

SEC("xdp")
int
xdpgen_frame(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct iphdr *ip = data + sizeof(struct ethhdr);
	__u32 *mac = data;
	__u32 dst, sum;

	if ((void *)(ip + 1) > end)
		return (XDP_ABORTED);
	dst = bpf_htonl(cfg.base + (seq++ & cfg.mask));
	sum = cfg.sum0 + (dst & 0xffff) + (dst >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	mac[0] = cfg.mac[0];
	mac[1] = cfg.mac[1];
	mac[2] = cfg.mac[2];
	ip->ttl = 64;
	ip->daddr = dst;
	ip->check = ~sum;
	return (bpf_redirect(cfg.ifindex, 0));
}

char _license[] SEC("license") = "Dual BSD/GPL";
