// SPDX-License-Identifier: BSD-2-Clause
/*-
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The XDP program of the xdp driver: every frame goes to the socket of the
 * queue it came in by, and to Linux's own stack from a queue that has none.
 * It holds nothing but the map of sockets, and leaves with the driver's link.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, 1);		/* the driver sets it before loading */
} netepoch_xsks SEC(".maps");

SEC("xdp")
int
netepoch_xdp(struct xdp_md *ctx)
{

	return (bpf_redirect_map(&netepoch_xsks, ctx->rx_queue_index,
	    XDP_PASS));
}

char netepoch_license[] SEC("license") = "Dual BSD/GPL";
