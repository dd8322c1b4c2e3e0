/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the files of the gen room share.
 *
 * Keys: t = the ithread of the sender's event, r = g_rx_mtx, d = g_dump_mtx,
 * c = the configuration lock.
 */
#ifndef _GEN_GEN_PRIVATE_H_
#define	_GEN_GEN_PRIVATE_H_

#include <ck_queue.h>
#include <stdatomic.h>

#include "gen/gen_var.h"
#include "gen/pace.h"
#include "gen/seq.h"
#include "ifnet/if_var.h"
#include "intr/intr_var.h"
#include "sys/lock.h"

struct gen_live;
struct gen_pcap;

/* One sending thread. */
struct gen_sender {
	struct gen	*gn_g;		/* (c) */
	struct intr_event *gn_ie;	/* (c) */
	struct intr_handler *gn_ih;	/* (c) NULL: stopped */
	int		 gn_timer;	/* (c) timerfd: when nothing is due */
	bool		 gn_armed;	/* (t) the timer is set */
	uint64_t	 gn_left;	/* (t) packets to the count */
	bool		 gn_counted;	/* (c) there is a count */
	uint32_t	 gn_number;	/* (t) of the next frame */
	unsigned int	 gn_refusals;	/* (t) bursts refused in a row */
	unsigned int	 gn_file_next;	/* (t) frame of the file */
	bool		 gn_sent;	/* (t) gn_last may be the last run's */
	struct pace	 gn_pace;	/* (t) */
	uint64_t	 gn_ping_sent;	/* (t) when the last ping went; 0: the
					   next may go */
	_Atomic bool	 gn_done;	/* (a) relaxed */
	_Atomic uint64_t gn_packets;	/* (a) relaxed, written by t */
	_Atomic uint64_t gn_bytes;	/* (a) likewise, as all below */
	_Atomic uint64_t gn_bursts;
	_Atomic uint64_t gn_refused;
	_Atomic uint64_t gn_first;
	_Atomic uint64_t gn_last;	/* the end of the last burst */
	_Atomic uint64_t gn_behind;	/* ns behind the rate */
	struct frame_gen gn_frames;	/* (t) */
} __cacheline_aligned;

struct gen {
	struct if_hook	 g_hook;	/* (c) */
	struct gen_set	*g_set;		/* (c) */
	struct ifnet	*g_ifp;		/* (c) holds a reference */
	uint32_t	 g_id;		/* (c) */
	uint64_t	 g_owner;	/* (c) */
	struct gen_conf	 g_conf;	/* (c) */
	struct gen_pcap	*g_pcap;	/* (c) or NULL */
	struct gen_live	*g_live;	/* (c) or NULL: instead of senders */
	CK_LIST_ENTRY(gen) g_link;	/* (c) */
	bool		 g_hooked;	/* (c) */
	bool		 g_gone;	/* (c) with its interface */
	struct hist_copy g_last;	/* (c) latency when it was asked last */
	_Atomic bool	 g_stopped;	/* (a) relaxed */
	_Atomic uint32_t g_answered;	/* (a) relaxed: the last ping's number
					   that came back, plus one */

	/* The receiver; one burst at a time, whatever its thread. */
	struct mtx	 g_rx_mtx __cacheline_aligned;
	_Atomic uint64_t g_rx_packets;	/* (a) relaxed, written under r */
	_Atomic uint64_t g_rx_bytes;	/* (a) likewise, as all below */
	_Atomic uint64_t g_rx_bursts;
	_Atomic uint64_t g_rx_first;
	_Atomic uint64_t g_rx_last;
	_Atomic uint64_t g_rx_bad;
	struct seq_table g_seq;		/* (r) */
	struct hist	 g_latency;	/* (r) */

	struct mtx	 g_dump_mtx;
	unsigned int	 g_ndump;	/* (d) */
	struct gen_frame_dump *g_dump;	/* (d) GEN_DUMP_MAX, or NULL */

	unsigned int	 g_nsenders;	/* (c) */
	struct gen_sender g_senders[];	/* (c) */
};

/* gen_tx.c */
int	gen_sender_start(struct gen_sender *gn, unsigned int i);
void	gen_sender_stop(struct gen_sender *gn);
void	gen_sender_free(struct gen_sender *gn);	/* the event, the timer */
/* gen_rx.c: the tap's function */
void	gen_tap(struct if_hook *ih, struct ifnet *ifp, struct mbuf **m,
	    unsigned int n);
void	gen_dump(struct gen *g, const struct mbuf *m, bool sent);

/*
 * gen_live.c: the kernel sends fg's frames.  EOPNOTSUPP: the interface is of
 * another driver; EPERM; ENODEV: the device does not take them; ...
 */
int	gen_live_start(struct gen *g, struct frame_gen *fg);
void	gen_live_stop(struct gen_live *gl);
void	gen_live_free(struct gen_live *gl);
bool	gen_live_done(struct gen_live *gl);
void	gen_live_stats(struct gen_live *gl, struct gen_stats *st);

/* gen_pcap.c: frames of a capture file, in memory. */
int	gen_pcap_open(const char *path, struct gen_pcap **gpp, char *err,
	    size_t errlen);
void	gen_pcap_close(struct gen_pcap *gp);
unsigned int gen_pcap_frames(const struct gen_pcap *gp);
/* Frame i as a new packet; NULL: no frames. */
struct mbuf *gen_pcap_frame(const struct gen_pcap *gp, unsigned int i);

static inline void
gen_count(_Atomic uint64_t *cell, uint64_t n)
{

	atomic_store_explicit(cell, atomic_load_explicit(cell,
	    memory_order_relaxed) + n, memory_order_relaxed);
}

static inline uint64_t
gen_read(_Atomic uint64_t *cell)
{

	return (atomic_load_explicit(cell, memory_order_relaxed));
}

/* When something happened, and for the first time. */
static inline void
gen_when(_Atomic uint64_t *first, _Atomic uint64_t *last, uint64_t now)
{

	if (__predict_false(gen_read(first) == 0))
		atomic_store_explicit(first, now, memory_order_relaxed);
	atomic_store_explicit(last, now, memory_order_relaxed);
}

#endif /* _GEN_GEN_PRIVATE_H_ */
