/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Receive queues in memory; burstq.h says what they are.  The queue owns the
 * packets in it.  Puts run inside the epoch on any thread, the handler inside
 * the epoch on the ithread of the event.  One lock, bq_mtx, nothing below it.
 *
 * No wakeup is lost: a put schedules the event whenever it found its ring
 * empty, and the handler says INTR_DONE only when it found both rings empty,
 * the shared one under the lock.  Own puts and the handler are one thread.
 *
 * Direct input keeps the order: it happens only while the owner's ring is
 * empty, and the handler leaves what it is handing up in the ring until it is
 * done.  After burstq_close() there is none, for the ithread has taken the
 * handler away between two passes, and what it puts later finds the queue
 * closed.
 */
#include "drivers/burstq.h"

#include <string.h>

#include "ifnet/if_var.h"
#include "intr/intr_var.h"

#define	BURSTQ_MASK	(BURSTQ_SIZE - 1)

/* Its address tells one thread from another. */
static _Thread_local char burstq_mark
    __attribute__((tls_model("initial-exec")));

static inline unsigned int
min_u(unsigned int a, unsigned int b)
{

	return (a < b ? a : b);
}

/* Direct puts of this thread that have not returned. */
static _Thread_local unsigned int burstq_depth
    __attribute__((tls_model("initial-exec")));

/* Copy n pointers into a ring at index pos; the ring's end may be inside. */
static inline void
ring_copy_in(struct mbuf **ring, uint32_t pos, struct mbuf **m,
    unsigned int n)
{
	unsigned int first;

	pos &= BURSTQ_MASK;
	first = min_u(n, BURSTQ_SIZE - pos);
	memcpy(&ring[pos], m, first * sizeof(*m));
	if (__predict_false(first < n))
		memcpy(ring, m + first, (n - first) * sizeof(*m));
}

/*
 * Hand n packets up; what their sender thought of them is forgotten.  cold:
 * their data may be in no cache of this CPU any more.
 */
static inline void
burstq_input(struct burstq *bq, struct mbuf **m, unsigned int n, bool cold)
{
	struct ifnet *ifp = bq->bq_ifp;

	for (unsigned int i = 0; i < n; i++) {
		m[i]->m_flags &= M_PKTHDR | M_VLANTAG;
		if (cold)
			__builtin_prefetch(m[i]->m_data);
	}
	atomic_load_explicit(&ifp->if_input, memory_order_acquire)(ifp, m, n);
}

/* The other threads' packets: up to a burst, copied out under the lock. */
static bool
burstq_take_others(struct burstq *bq)
{
	struct mbuf *burst[MBUF_BURST];
	unsigned int i, n;
	uint32_t waiting;

	mtx_lock(&bq->bq_mtx);
	waiting = atomic_load_explicit(&bq->bq_waiting, memory_order_relaxed);
	n = min_u(waiting, MBUF_BURST);
	for (i = 0; i < n; i++)
		burst[i] = bq->bq_others[bq->bq_ohead++ & BURSTQ_MASK];
	atomic_store_explicit(&bq->bq_waiting, waiting - n,
	    memory_order_relaxed);
	mtx_unlock(&bq->bq_mtx);
	if (n != 0)
		burstq_input(bq, burst, n, true);
	return (waiting > n);
}

/*
 * The software interrupt: one burst.  Own packets are handed up where they
 * lie; the head moves afterwards, so that a put from above (the machine may
 * send on this pair again) cannot overwrite them.
 */
static enum intr_more
burstq_intr(void *arg)
{
	struct burstq *bq = arg;
	unsigned int n;
	bool others;

	NET_EPOCH_ASSERT();

	if (__predict_false(atomic_load_explicit(&bq->bq_owner,
	    memory_order_relaxed) != &burstq_mark))
		atomic_store_explicit(&bq->bq_owner, &burstq_mark,
		    memory_order_relaxed);

	n = min_u(bq->bq_tail - bq->bq_head, MBUF_BURST);
	n = min_u(n, BURSTQ_SIZE - (bq->bq_head & BURSTQ_MASK));
	if (n == 0 || bq->bq_fair) {
		bq->bq_fair = false;
		others = burstq_take_others(bq);
		return (others || bq->bq_head != bq->bq_tail ?
		    INTR_MORE : INTR_DONE);
	}
	burstq_input(bq, &bq->bq_own[bq->bq_head & BURSTQ_MASK], n,
	    true);
	bq->bq_head += n;
	/* Start over at the front: those lines of the ring are warm. */
	if (bq->bq_head == bq->bq_tail)
		bq->bq_head = bq->bq_tail = 0;
	bq->bq_fair = atomic_load_explicit(&bq->bq_waiting,
	    memory_order_relaxed) != 0;
	return (bq->bq_fair || bq->bq_head != bq->bq_tail ?
	    INTR_MORE : INTR_DONE);
}

static unsigned int
burstq_put_others(struct burstq *bq, struct mbuf **m, unsigned int n)
{
	uint32_t waiting;

	mtx_lock(&bq->bq_mtx);
	waiting = atomic_load_explicit(&bq->bq_waiting, memory_order_relaxed);
	n = min_u(n, BURSTQ_SIZE - waiting);
	ring_copy_in(bq->bq_others, bq->bq_ohead + waiting, m, n);
	atomic_store_explicit(&bq->bq_waiting, waiting + n,
	    memory_order_relaxed);
	mtx_unlock(&bq->bq_mtx);
	if (waiting == 0 && n != 0)
		intr_event_schedule(bq->bq_ie);
	return (n);
}

unsigned int
burstq_put(struct burstq *bq, struct mbuf **m, unsigned int n)
{
	uint32_t waiting;

	NET_EPOCH_ASSERT();

	if (__predict_false(burstq_closed(bq)))
		return (0);
	if (__predict_false(atomic_load_explicit(&bq->bq_owner,
	    memory_order_relaxed) != &burstq_mark))
		return (burstq_put_others(bq, m, n));
	waiting = bq->bq_tail - bq->bq_head;
	if (waiting == 0 && bq->bq_direct && burstq_depth < BURSTQ_DEPTH) {
		burstq_depth++;
		burstq_input(bq, m, n, false);
		burstq_depth--;
		return (n);
	}
	n = min_u(n, BURSTQ_SIZE - waiting);
	ring_copy_in(bq->bq_own, bq->bq_tail, m, n);
	bq->bq_tail += n;
	if (waiting == 0 && n != 0)
		intr_event_schedule(bq->bq_ie);
	return (n);
}

int
burstq_init(struct burstq *bq, struct intr_domain *id, int cpu,
    struct ifnet *ifp, bool direct)
{
	int error;

	bq->bq_ifp = ifp;
	bq->bq_head = bq->bq_tail = bq->bq_ohead = 0;
	bq->bq_fair = false;
	bq->bq_direct = direct;
	atomic_init(&bq->bq_owner, NULL);
	atomic_init(&bq->bq_closed, false);
	atomic_init(&bq->bq_waiting, 0);
	error = intr_event_create(id, ifp->if_name, cpu, -1, 0, &bq->bq_ie);
	if (error != 0)
		return (error);
	mtx_init(&bq->bq_mtx, "burstq");
	error = intr_handler_add(bq->bq_ie, INTR_TYPE_NET, burstq_intr, NULL,
	    bq, &bq->bq_ih);
	if (error != 0) {
		mtx_destroy(&bq->bq_mtx);
		intr_event_destroy(bq->bq_ie);
		return (error);
	}
	/* The first run tells which thread owns the queue. */
	intr_event_schedule(bq->bq_ie);
	return (0);
}

void
burstq_close(struct burstq *bq)
{

	NET_EPOCH_ASSERT_NOT();

	atomic_store_explicit(&bq->bq_closed, true, memory_order_relaxed);
	intr_handler_remove(bq->bq_ih);
}

void
burstq_fini(struct burstq *bq)
{
	uint32_t waiting;

	NET_EPOCH_ASSERT_NOT();

	intr_event_destroy(bq->bq_ie);
	while (bq->bq_head != bq->bq_tail)
		m_freem(bq->bq_own[bq->bq_head++ & BURSTQ_MASK]);
	waiting = atomic_load_explicit(&bq->bq_waiting, memory_order_relaxed);
	for (; waiting != 0; waiting--)
		m_freem(bq->bq_others[bq->bq_ohead++ & BURSTQ_MASK]);
	mtx_destroy(&bq->bq_mtx);
}
