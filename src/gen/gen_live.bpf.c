// SPDX-License-Identifier: BSD-2-Clause
/*-
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The program that makes frames in the kernel: it is run on live frames,
 * writes them, and sends them out of the device.  The kernel uses the pages
 * again with whatever the receiver left in them, so all headers are written
 * each time, and number and time; the rest of the payload is as the page
 * began.  Frames are those of frame.c, and checksums follow from sums made
 * once.
 *
 * The configuration is constant when the program is loaded, so the verifier
 * takes out what a kind of frame does not need.  It is read through a pointer
 * that the compiler cannot see through, or each field would cost an address.
 * One CPU runs the program at a time.
 */
#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "gen/gen_live.h"

#define	TIME_EVERY	64	/* frames that share a time */

volatile const struct live_conf live_conf;

struct live_state live_state;

#define	opaque(p)	__asm__ volatile ("" : "+r" (p))

/* A sum below 2^36, folded to 16 bits. */
static __always_inline __u64
fold(__u64 sum)
{

	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ((sum & 0xffff) + (sum >> 16));
}

static __always_inline __u32
draw(struct live_state *ls, __u32 from, __u32 to)
{
	__u64 n = (__u64)to - from + 1, x = ls->ls_random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	ls->ls_random = x;
	return (from + (__u32)(((x * 0x2545f4914f6cdd1dull) >> 32) * n >> 32));
}

/* One end's next flow; true: it is round. */
static __always_inline int
turn(struct live_state *ls, const struct live_end *le, __u32 *addr,
    __u32 *port)
{

	if (le->le_random) {
		*addr = draw(ls, le->le_from, le->le_to);
		*port = draw(ls, le->le_port_from, le->le_port_to);
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
advance(const struct live_conf *lc, struct live_state *ls)
{

	if (turn(ls, &lc->lc_src, &ls->ls_src, &ls->ls_sport) ||
	    lc->lc_dst.le_random)
		(void)turn(ls, &lc->lc_dst, &ls->ls_dst, &ls->ls_dport);
}

/* Addresses, ports, and what they add to the sums. */
static __always_inline __u64
write_flow(const struct live_conf *lc, struct live_state *ls, __u8 *p)
{
	__u32 src = bpf_htonl(ls->ls_src), dst = bpf_htonl(ls->ls_dst);
	__u16 sport = bpf_htons(ls->ls_sport), dport = bpf_htons(ls->ls_dport);

	if (lc->lc_v6) {
		*(__u32 *)(p + 14 + 20) = src;
		*(__u32 *)(p + 14 + 36) = dst;
	} else {
		*(__u32 *)(p + 14 + 12) = src;
		*(__u32 *)(p + 14 + 16) = dst;
		*(__u16 *)(p + 14 + 10) = ~fold(lc->lc_ipsum +
		    (__u64)src + dst);
	}
	*(__u16 *)(p + lc->lc_l4) = sport;
	*(__u16 *)(p + lc->lc_l4 + 2) = dport;
	advance(lc, ls);
	return ((__u64)src + dst + sport + dport);
}

/* What the frames from this one on have as time. */
static __always_inline void
set_time(struct live_state *ls)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 sec = bpf_htonl(now / 1000000000);
	__u32 nsec = bpf_htonl(now % 1000000000);

	ls->ls_time = (__u64)nsec << 32 | sec;
	ls->ls_timesum = fold((__u64)sec + nsec);
}

SEC("xdp")
int
gen_live(struct xdp_md *ctx)
{
	const struct live_conf *lc = (const struct live_conf *)&live_conf;
	struct live_state *ls = &live_state;
	__u8 *p = (void *)(long)ctx->data;
	__u8 *end = (void *)(long)ctx->data_end;
	__u32 number;
	__u64 sum;
	__u16 check;

	opaque(lc);
	opaque(ls);
	/* The rest of a run is over soon when nothing is made. */
	if (*(volatile __u32 *)&ls->ls_stop != 0)
		return (XDP_DROP);
	if (p + lc->lc_len > end)
		return (XDP_ABORTED);
	number = (__u32)ls->ls_made++;
	if (number % TIME_EVERY == 0)
		set_time(ls);
	/* Headers without the last word's UDP checksum: 40 or 60 bytes. */
	*(__u64 *)p = lc->lc_frame[0];
	*(__u64 *)(p + 8) = lc->lc_frame[1];
	*(__u64 *)(p + 16) = lc->lc_frame[2];
	*(__u64 *)(p + 24) = lc->lc_frame[3];
	*(__u64 *)(p + 32) = lc->lc_frame[4];
	if (lc->lc_v6) {
		*(__u64 *)(p + 40) = lc->lc_frame[5];
		*(__u64 *)(p + 48) = lc->lc_frame[6];
		*(__u32 *)(p + 56) = (__u32)lc->lc_frame[7];
	}
	sum = lc->lc_udpsum;
	if (lc->lc_flows)
		sum += write_flow(lc, ls, p);
	if (lc->lc_stamped) {
		__u8 *stamp = p + lc->lc_l4 + 8;

		number = bpf_htonl(number);
		*(__u32 *)stamp = number;
		*(__u64 *)(stamp + 4) = ls->ls_time;
		sum += (__u64)number + ls->ls_timesum;
	}
	check = ~fold(sum);
	*(__u16 *)(p + lc->lc_l4 + 6) = check != 0 ? check : 0xffff;
	return (bpf_redirect(lc->lc_ifindex, 0));
}

char gen_live_license[] SEC("license") = "Dual BSD/GPL";
