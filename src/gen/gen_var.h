/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Traffic generators and meters on interfaces, after netmap's pkt-gen.
 *
 * A generator sends, receives, pings or answers on one interface.  Sending is
 * done by software interrupts on the machine's ithreads, through if_transmit()
 * as all packets go; receiving by the tap's place of the interface, in front
 * of the stack.  A set is the generators of one vnet; one that is running ends
 * with its interface.
 *
 * All functions: configuration lock held, outside the epoch.
 */
#ifndef _GEN_GEN_VAR_H_
#define	_GEN_GEN_VAR_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gen/frame.h"
#include "gen/hist.h"

struct gen;
struct gen_set;
struct ifnet;
struct vnet;

#define	GEN_THREADS_MAX	16
#define	GEN_DUMP_LEN	256		/* bytes shown of a frame */
#define	GEN_DUMP_MAX	32		/* frames kept for showing */
#define	GEN_PING_NS	UINT64_C(1000000000) /* a reply is waited for */

enum gen_mode { GEN_TX, GEN_RX, GEN_PING, GEN_PONG };

struct gen_conf {
	enum gen_mode	 gc_mode;
	unsigned int	 gc_threads;	/* sending; 1 for the other modes */
	int		 gc_cpu;	/* ithread of the first, -1: choose */
	int		 gc_ncpus;	/* ithreads that they take in turn */
	uint64_t	 gc_count;	/* packets in all; 0: no end */
	uint64_t	 gc_rate;	/* packets a second in all; 0: most */
	uint32_t	 gc_burst;	/* packets, 1..MBUF_BURST * 64 */
	uint64_t	 gc_start;	/* time_ns() of the first; 0: now */
	bool		 gc_verify;	/* receiver: look at all checksums */
	bool		 gc_live;	/* have the kernel send, where that
					   can be: see gen_live.c */
	bool		 gc_dump;	/* keep frames for gen_dump_take() */
	const char	*gc_pcap;	/* file to send from, or NULL */
	struct frame_conf gc_frame;	/* fc_stream is drawn */
};

struct gen_stats {
	bool		 gs_done;	/* the count is reached, or it stopped */
	bool		 gs_gone;	/* the interface went */
	unsigned int	 gs_threads;
	/* Sent; bursts are calls of if_transmit(). */
	uint64_t	 gs_tx_packets, gs_tx_bytes, gs_tx_bursts;
	uint64_t	 gs_tx_refused;	/* not taken by the interface */
	uint64_t	 gs_tx_first, gs_tx_last; /* time_ns(), 0: none yet */
	uint64_t	 gs_tx_behind;	/* ns behind the rate, of the thread
					   that is most */
	/* Received. */
	uint64_t	 gs_rx_packets, gs_rx_bytes, gs_rx_bursts;
	uint64_t	 gs_rx_first, gs_rx_last;
	uint64_t	 gs_rx_bad;	/* wrong checksum (gc_verify) */
	/* Received with a stamp: see seq.h. */
	uint64_t	 gs_stamped, gs_lost, gs_reordered, gs_duplicates;
	uint64_t	 gs_late;
	struct hist_copy gs_latency;	/* ns; of a ping, the round trip */
	struct hist_copy gs_interval;	/* of it, since the last call */
};

struct gen_frame_dump {
	bool		 gd_sent;
	uint32_t	 gd_len;	/* of the frame */
	uint32_t	 gd_kept;	/* bytes of it here */
	uint8_t		 gd_data[GEN_DUMP_LEN];
};

/* NULL: no memory. */
struct gen_set *gen_set_alloc(struct vnet *vnet);
/* Stops and frees all generators. */
void	gen_set_free(struct gen_set *gs);

/*
 * Start one on ifp.  owner: a number of the caller's for gen_owner_gone(),
 * 0: nobody.  0 and *gp, or an errno value and err.
 */
int	gen_start(struct gen_set *gs, struct ifnet *ifp,
	    const struct gen_conf *gc, uint64_t owner, struct gen **gp,
	    char *err, size_t errlen);
/* No packet is sent or counted any more; the numbers stay. */
void	gen_stop(struct gen *g);
/* Stop, wait for the epoch, free. */
void	gen_free(struct gen *g);
struct gen *gen_find(struct gen_set *gs, uint32_t id); /* NULL: none */
uint32_t gen_id(const struct gen *g);
uint64_t gen_owner(const struct gen *g);
bool	gen_is_live(const struct gen *g);	/* the kernel sends */
/* Free all that this owner started. */
void	gen_owner_gone(struct gen_set *gs, uint64_t owner);

/* The count is reached, or it was stopped. */
bool	gen_done(struct gen *g);
/* What it has counted so far, without disturbing it. */
void	gen_stats_get(struct gen *g, struct gen_stats *st);
/* Frames kept since the last call, oldest first; up to max. */
unsigned int gen_dump_take(struct gen *g, struct gen_frame_dump *gd,
	    unsigned int max);

#endif /* _GEN_GEN_VAR_H_ */
