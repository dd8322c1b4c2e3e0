// SPDX-License-Identifier: BSD-2-Clause
/*-
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The program that makes frames in the kernel: it is run on live frames, writes
 * the whole of each, and sends it out of the device.  The kernel uses the pages
 * again with whatever the receiver left in them, so nothing is taken for
 * granted.  Frames are those of frame.c: the template with the words that
 * change, and checksums that follow from sums made once.
 *
 * The configuration is constant when the program is loaded, so the verifier
 * takes out what a kind of frame does not need.  One CPU runs it at a time.
 */
#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "gen/gen_live.h"

#define	TIME_EVERY	64	/* frames that share a time */

volatile const struct live_conf live_conf;

struct live_state live_state;

static __always_inline __u64
fold(__u64 sum)
{

	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum);
}

static __always_inline __u32
draw(__u32 from, __u32 to)
{
	__u64 n = (__u64)to - from + 1, x = live_state.ls_random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	live_state.ls_random = x;
	return (from + (__u32)(((x * 0x2545f4914f6cdd1dull) >> 32) * n >> 32));
}

/* One end's next flow; true: it is round. */
static __always_inline int
turn(const volatile struct live_end *le, __u32 *addr, __u32 *port)
{

	if (le->le_random) {
		*addr = draw(le->le_from, le->le_to);
		*port = draw(le->le_port_from, le->le_port_to);
		return (1);
	}
	if (*port != le->le_port_to) {
		++*port;
		return (0);
	}
	*port = le->le_port_from;
	if (*addr != le->le_to) {
		++*addr;
		return (0);
	}
	*addr = le->le_from;
	return (1);
}

static __always_inline void
advance(void)
{

	if (turn(&live_conf.lc_src, &live_state.ls_src,
	    &live_state.ls_sport) || live_conf.lc_dst.le_random)
		(void)turn(&live_conf.lc_dst, &live_state.ls_dst,
		    &live_state.ls_dport);
}

/* Word i of the template, if the frame has all of it. */
#define	WORD(i) do {							\
	if (live_conf.lc_len >= 8 * ((i) + 1))				\
		*(__u64 *)(p + 8 * (i)) = live_conf.lc_frame[i];	\
} while (0)

static __always_inline void
write_template(__u8 *p)
{
	const __u32 len = live_conf.lc_len;
	const volatile __u8 *from = (const volatile __u8 *)live_conf.lc_frame;

	WORD(0); WORD(1); WORD(2); WORD(3); WORD(4);
	WORD(5); WORD(6); WORD(7); WORD(8); WORD(9);
	for (__u32 i = 10; i < LIVE_WORDS && 8 * (i + 1) <= len; i++)
		*(__u64 *)(p + 8 * i) = live_conf.lc_frame[i];
	if ((len & 4) != 0)
		*(__u32 *)(p + (len & ~7u)) =
		    *(const volatile __u32 *)(from + (len & ~7u));
	if ((len & 2) != 0)
		*(__u16 *)(p + (len & ~3u)) =
		    *(const volatile __u16 *)(from + (len & ~3u));
	if ((len & 1) != 0)
		p[len & ~1u] = from[len & ~1u];
}

/* Addresses, ports, and what they add to the sums. */
static __always_inline __u64
write_flow(__u8 *p)
{
	__u32 src = bpf_htonl(live_state.ls_src);
	__u32 dst = bpf_htonl(live_state.ls_dst);
	__u16 sport = bpf_htons(live_state.ls_sport);
	__u16 dport = bpf_htons(live_state.ls_dport);

	if (live_conf.lc_v6) {
		*(__u32 *)(p + 14 + 20) = src;
		*(__u32 *)(p + 14 + 36) = dst;
	} else {
		*(__u32 *)(p + 14 + 12) = src;
		*(__u32 *)(p + 14 + 16) = dst;
		*(__u16 *)(p + 14 + 10) = ~fold(live_conf.lc_ipsum +
		    (__u64)src + dst);
	}
	*(__u16 *)(p + live_conf.lc_l4) = sport;
	*(__u16 *)(p + live_conf.lc_l4 + 2) = dport;
	advance();
	return ((__u64)src + dst + sport + dport);
}

SEC("xdp")
int
gen_live(struct xdp_md *ctx)
{
	__u8 *p = (void *)(long)ctx->data;
	__u8 *end = (void *)(long)ctx->data_end;
	__u32 number = live_state.ls_number++;
	__u64 now, sum = live_conf.lc_udpsum;
	__u16 check;

	if (p + live_conf.lc_len > end)
		return (XDP_ABORTED);
	if (number % TIME_EVERY == 0) {
		now = bpf_ktime_get_ns();
		live_state.ls_sec = bpf_htonl(now / 1000000000);
		live_state.ls_nsec = bpf_htonl(now % 1000000000);
	}
	write_template(p);
	if (live_conf.lc_flows)
		sum += write_flow(p);
	if (live_conf.lc_stamped) {
		__u8 *stamp = p + live_conf.lc_l4 + 8;

		number = bpf_htonl(number);
		*(__u32 *)stamp = number;
		*(__u32 *)(stamp + 4) = live_state.ls_sec;
		*(__u32 *)(stamp + 8) = live_state.ls_nsec;
		sum += (__u64)number + live_state.ls_sec + live_state.ls_nsec;
	}
	check = ~fold(sum);
	*(__u16 *)(p + live_conf.lc_l4 + 6) = check != 0 ? check : 0xffff;
	return (bpf_redirect(live_conf.lc_ifindex, 0));
}

char gen_live_license[] SEC("license") = "Dual BSD/GPL";
