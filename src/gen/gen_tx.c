/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Sending.  A sender is a software interrupt on one ithread, inside the epoch,
 * which sends a burst each time it runs and asks to be run again.  When
 * nothing is due it sets its timer, whose fd wakes the event, and sleeps; what
 * is due within GEN_SPIN_NS it waits for awake.
 *
 * What the interface refuses of a burst is its end; its numbers are used
 * again, so that a full ring here is no loss of the path.  An interface that
 * refuses many bursts in a row is left alone for a moment.
 *
 * A ping is a sender of one packet at a time: the next goes when the tap has
 * seen the reply, or when GEN_PING_NS are over.
 */
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "gen/gen_private.h"
#include "sys/thread.h"

#define	GEN_SPIN_NS	20000u
#define	GEN_REFUSALS	64u		/* in a row, before a rest */
#define	GEN_REST_NS	100000u

/* Run again at a time; it may be over. */
static void
sender_wake_at(struct gen_sender *gn, uint64_t when)
{
	const struct itimerspec it = {
		.it_value.tv_sec = (time_t)(when / 1000000000),
		.it_value.tv_nsec = (long)(when % 1000000000),
	};

	(void)timerfd_settime(gn->gn_timer, TFD_TIMER_ABSTIME, &it, NULL);
	gn->gn_armed = true;
}

/*
 * The clock, at the begin of a run.  What the run before this sent was out by
 * then, if no sleep lies between.
 */
static inline uint64_t
sender_now(struct gen_sender *gn)
{
	uint64_t now = time_ns();

	if (gn->gn_sent)
		atomic_store_explicit(&gn->gn_last, now,
		    memory_order_relaxed);
	gn->gn_sent = false;
	return (now);
}

/* Take back that the timer has fired, or will: we are awake. */
static inline void
sender_awake(struct gen_sender *gn)
{
	static const struct itimerspec off;

	if (__predict_true(!gn->gn_armed))
		return;
	(void)timerfd_settime(gn->gn_timer, 0, &off, NULL);
	gn->gn_armed = false;
}

static enum intr_more
sender_wait(struct gen_sender *gn, uint64_t now, uint64_t when)
{

	if (when <= now + GEN_SPIN_NS)
		return (INTR_MORE);
	sender_wake_at(gn, when);
	return (INTR_DONE);
}

static enum intr_more
sender_done(struct gen_sender *gn)
{

	(void)sender_now(gn);
	atomic_store_explicit(&gn->gn_done, true, memory_order_relaxed);
	return (INTR_DONE);
}

/* Packets from the file; how many there was memory for. */
static unsigned int
sender_take_file(struct gen_sender *gn, struct mbuf **m, unsigned int n)
{
	struct gen_pcap *gp = gn->gn_g->g_pcap;
	unsigned int i, at = gn->gn_file_next;

	for (i = 0; i < n; i++) {
		m[i] = gen_pcap_frame(gp, at);
		if (m[i] == NULL)
			break;
		at = (at + 1) % gen_pcap_frames(gp);
	}
	return (i);
}

/* Make n packets of now; how many there was memory for, all or none. */
static inline unsigned int
sender_make(struct gen_sender *gn, struct mbuf **m, unsigned int n,
    uint64_t now)
{

	if (__predict_false(gn->gn_g->g_pcap != NULL))
		return (sender_take_file(gn, m, n));
	if (m_get_burst(m, n) != n)
		return (0);
	(void)frame_fill(&gn->gn_frames, m, n, gn->gn_number, now);
	return (n);
}

/* How many bytes the first n packets had, which are about to go. */
static inline void
sender_lengths(struct mbuf **m, unsigned int n, uint16_t *len)
{

	for (unsigned int i = 0; i < n; i++)
		len[i] = (uint16_t)m[i]->m_pkthdr.len;
}

/* Send up to n packets; how many went. */
static unsigned int
sender_send(struct gen_sender *gn, unsigned int n, uint64_t now)
{
	struct gen *g = gn->gn_g;
	struct mbuf *m[MBUF_BURST];
	uint16_t len[MBUF_BURST];
	unsigned int refused;
	uint64_t bytes = 0;

	n = sender_make(gn, m, n, now);
	if (n == 0)
		return (0);
	sender_lengths(m, n, len);
	if (__predict_false(g->g_conf.gc_dump))
		for (unsigned int i = 0; i < n; i++)
			gen_dump(g, m[i], true);
	refused = if_output_refused;
	if_transmit(g->g_ifp, m, n);
	refused = if_output_refused - refused;
	if (__predict_false(refused != 0)) {
		refused = refused < n ? refused : n;
		gen_count(&gn->gn_refused, refused);
		n -= refused;
	}
	if (n == 0)
		return (0);
	for (unsigned int i = 0; i < n; i++)
		bytes += len[i];
	if (g->g_pcap != NULL)
		gn->gn_file_next = (gn->gn_file_next + n) %
		    gen_pcap_frames(g->g_pcap);
	gn->gn_number += n;
	gen_when(&gn->gn_first, &gn->gn_last, now);
	gn->gn_sent = true;
	gen_count(&gn->gn_packets, n);
	gen_count(&gn->gn_bytes, bytes);
	gen_count(&gn->gn_bursts, 1);
	return (n);
}

static enum intr_more
sender_intr(void *arg)
{
	struct gen_sender *gn = arg;
	uint64_t now;
	unsigned int n;

	NET_EPOCH_ASSERT();

	sender_awake(gn);
	if (atomic_load_explicit(&gn->gn_done, memory_order_relaxed))
		return (sender_done(gn));
	now = sender_now(gn);
	n = pace_due(&gn->gn_pace, now);
	if (n == 0)
		return (sender_wait(gn, now, pace_next(&gn->gn_pace)));
	atomic_store_explicit(&gn->gn_behind, pace_behind(&gn->gn_pace, now),
	    memory_order_relaxed);
	if (n > MBUF_BURST)
		n = MBUF_BURST;
	if (gn->gn_counted && n > gn->gn_left)
		n = (unsigned int)gn->gn_left;
	n = sender_send(gn, n, now);
	if (__predict_false(n == 0)) {
		if (++gn->gn_refusals < GEN_REFUSALS)
			return (INTR_MORE);
		gn->gn_refusals = 0;
		sender_wake_at(gn, now + GEN_REST_NS);
		return (INTR_DONE);
	}
	gn->gn_refusals = 0;
	pace_sent(&gn->gn_pace, n);
	if (gn->gn_counted) {
		gn->gn_left -= n;
		if (gn->gn_left == 0)
			return (sender_done(gn));
	}
	return (INTR_MORE);
}

/* ---- Ping ---- */

/* Is the answer to the last one here, or its time over? */
static bool
ping_over(struct gen_sender *gn, uint64_t now)
{

	return (gn->gn_ping_sent == 0 || now >= gn->gn_ping_sent +
	    GEN_PING_NS || atomic_load_explicit(&gn->gn_g->g_answered,
	    memory_order_relaxed) == gn->gn_number);
}

static enum intr_more
ping_intr(void *arg)
{
	struct gen_sender *gn = arg;
	uint64_t now = sender_now(gn);

	NET_EPOCH_ASSERT();

	sender_awake(gn);
	if (atomic_load_explicit(&gn->gn_done, memory_order_relaxed))
		return (sender_done(gn));
	if (!ping_over(gn, now))
		return (sender_wait(gn, now, gn->gn_ping_sent + GEN_PING_NS));
	if (gn->gn_counted && gn->gn_left == 0)
		return (sender_done(gn));
	if (pace_due(&gn->gn_pace, now) == 0)
		return (sender_wait(gn, now, pace_next(&gn->gn_pace)));
	/* The answer may come before if_transmit() returns. */
	gn->gn_ping_sent = now;
	if (sender_send(gn, 1, now) == 0) {
		gn->gn_ping_sent = 0;
		sender_wake_at(gn, now + GEN_REST_NS);
		return (INTR_DONE);
	}
	pace_sent(&gn->gn_pace, 1);
	if (gn->gn_counted)
		gn->gn_left--;
	return (INTR_MORE);
}

/* ---- Start and stop ---- */

/* The ithread of sender i, of the gc_ncpus that begin at first. */
static int
cpu_in_turn(const struct gen_conf *gc, int first, unsigned int i)
{

	return (i == 0 || gc->gc_ncpus < 2 ? first :
	    (first + (int)i) % gc->gc_ncpus);
}

int
gen_sender_start(struct gen_sender *gn, unsigned int i)
{
	struct gen *g = gn->gn_g;
	struct vnet *vnet = g->g_ifp->if_vnet;
	struct intr_domain *id = vnet->v_intr;
	int cpu = g->g_conf.gc_cpu, error;
	char name[48];

	gn->gn_timer = timerfd_create(CLOCK_MONOTONIC,
	    TFD_NONBLOCK | TFD_CLOEXEC);
	if (gn->gn_timer == -1)
		return (errno);
	if (cpu < 0)
		cpu = intr_cpu_serving(id, g->g_ifp->if_name);
	if (cpu < 0)
		cpu = 0;
	snprintf(name, sizeof(name), "pkt-gen%u %s", g->g_id,
	    g->g_ifp->if_name);
	error = intr_event_create(id, name, cpu_in_turn(&g->g_conf, cpu, i),
	    gn->gn_timer, EPOLLIN, &gn->gn_ie);
	if (error != 0) {
		gn->gn_ie = NULL;
		return (error);
	}
	/* It is run once right after this. */
	return (intr_handler_add(gn->gn_ie, INTR_TYPE_NET,
	    g->g_conf.gc_mode == GEN_PING ? ping_intr : sender_intr, NULL,
	    gn, &gn->gn_ih));
}

void
gen_sender_stop(struct gen_sender *gn)
{

	if (gn->gn_ih != NULL)
		intr_handler_remove(gn->gn_ih);
	gn->gn_ih = NULL;
}

void
gen_sender_free(struct gen_sender *gn)
{

	if (gn->gn_ie != NULL)
		intr_event_destroy(gn->gn_ie);
	if (gn->gn_timer != -1)
		close(gn->gn_timer);
}
