/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the BPF program of live frames and its loader share: plain data, in the
 * types of either.  Sums as in frame.h.
 */
#ifndef _GEN_GEN_LIVE_H_
#define	_GEN_GEN_LIVE_H_

#include <linux/types.h>

#define	LIVE_WORDS	192		/* 1,536 bytes: FRAME_MAX */

struct live_end {
	__u32		le_from, le_to;	/* host order, as are the ports */
	__u32		le_port_from, le_port_to;
	__u32		le_random;
};

struct live_conf {
	__u32		lc_ifindex;	/* where frames go */
	__u32		lc_len;		/* bytes */
	__u32		lc_l4;		/* where UDP begins */
	__u32		lc_v6;
	__u32		lc_flows;	/* addresses or ports change */
	__u32		lc_stamped;
	struct live_end	lc_src, lc_dst;
	__u64		lc_ipsum;	/* without addresses */
	__u64		lc_udpsum;	/* without what changes */
	__u64		lc_frame[LIVE_WORDS];
};

/* Written by the program, read by anybody. */
struct live_state {
	__u64		ls_random;
	__u64		ls_time;	/* seconds and ns as in a stamp */
	__u64		ls_timesum;	/* of them, folded */
	__u64		ls_made;	/* frames: the next one's number */
	__u32		ls_stop;	/* make no more (written by us) */
	__u32		ls_src, ls_dst;
	__u32		ls_sport, ls_dport;
};

#endif /* _GEN_GEN_LIVE_H_ */
