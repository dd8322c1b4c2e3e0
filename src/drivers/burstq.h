/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A receive queue in memory, for interfaces that have no device: bursts are
 * put into it by whoever transmits, and a software interrupt hands them to
 * the interface's if_input.
 *
 * It is two rings.  Most senders are the very ithread that will receive (a
 * machine's packets run to completion on one CPU), and for them a put is a
 * copy of pointers into an array of that thread, without a lock and without
 * an atomic operation.  Every other thread uses the second ring under a
 * mutex, taken once per burst from either side; a lock is as fast here as
 * anything cleverer, because the packets' own lines have to cross anyway, and
 * its wakeups can be proven (D38843).
 *
 * A direct queue does not even do that while it is empty: the put hands the
 * burst up itself, as netisr dispatches directly.  A packet then crosses the
 * machine while its lines are in the first-level cache.  Puts nest at most
 * BURSTQ_DEPTH deep, so that a loop of interfaces ends in a queue and not at
 * the end of the stack.  The sender holds no lock (none is held around
 * if_transmit(), which may take a driver's).
 *
 * Keys: t = the ithread of bq_ie, q = bq_mtx.
 */
#ifndef _DRIVERS_BURSTQ_H_
#define	_DRIVERS_BURSTQ_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mbuf/mbuf.h"
#include "sys/lock.h"

struct ifnet;
struct intr_domain;
struct intr_event;
struct intr_handler;

#define	BURSTQ_SIZE	1024u		/* packets per ring; power of two */
#define	BURSTQ_DEPTH	4u		/* direct puts inside each other */
static_assert((BURSTQ_SIZE & (BURSTQ_SIZE - 1)) == 0, "masked");

struct burstq {
	_Atomic(const void *) bq_owner;	/* (a) relaxed: mark of t, or NULL */
	struct intr_event *bq_ie;	/* (c) */
	struct ifnet	*bq_ifp;	/* (c) whose input this is */
	uint32_t	 bq_head;	/* (t) next to take */
	uint32_t	 bq_tail;	/* (t) next to fill */
	_Atomic bool	 bq_closed;	/* (a) relaxed; a grace period after it
					   is set nobody puts any more */
	bool		 bq_fair;	/* (t) the next turn is the others' */
	bool		 bq_direct;	/* (c) puts may hand up at once */
	struct intr_handler *bq_ih;	/* (c) */

	struct mtx	 bq_mtx __cacheline_aligned;
	_Atomic uint32_t bq_waiting;	/* (a) relaxed: packets in bq_others;
					   written under q */
	uint32_t	 bq_ohead;	/* (q) */

	struct mbuf	*bq_own[BURSTQ_SIZE] __cacheline_aligned; /* (t) */
	struct mbuf	*bq_others[BURSTQ_SIZE]; /* (q) */
};

/*
 * Prepare bq, whose packets are ifp's input, served by ithread cpu of id (-1:
 * the least loaded).  direct: its owner's puts may be inputs at once.  0, or
 * what the intr room gives.  Outside the epoch.
 */
int	burstq_init(struct burstq *bq, struct intr_domain *id, int cpu,
	    struct ifnet *ifp, bool direct);
/* Nothing is put or taken any more: no input after the return. */
void	burstq_close(struct burstq *bq);
/* A grace period after burstq_close(): free the packets left, the event. */
void	burstq_fini(struct burstq *bq);

/*
 * Queue the first packets of a burst (n <= MBUF_BURST); returns how many fit,
 * the others stay the caller's.  Inside the epoch, any thread.
 */
unsigned int burstq_put(struct burstq *bq, struct mbuf **m, unsigned int n);

static inline bool
burstq_closed(struct burstq *bq)
{

	return (atomic_load_explicit(&bq->bq_closed, memory_order_relaxed));
}

#endif /* _DRIVERS_BURSTQ_H_ */
