/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The sink of the veth benchmarks: drops every frame on arrival.  Frames are
 * counted by the interface.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

SEC("xdp")
int
xdpsink_drop(struct xdp_md *ctx)
{
	(void)ctx;
	return (XDP_DROP);
}

char _license[] SEC("license") = "Dual BSD/GPL";
