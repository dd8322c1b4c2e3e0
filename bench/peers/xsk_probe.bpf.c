/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Hands every frame to the AF_XDP socket bound to its queue; a queue without
 * a socket goes to the kernel.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, 16);
} xsks SEC(".maps");

SEC("xdp")
int
xsk_probe_redirect(struct xdp_md *ctx)
{
	return (bpf_redirect_map(&xsks, ctx->rx_queue_index, XDP_PASS));
}

char _license[] SEC("license") = "Dual BSD/GPL";
