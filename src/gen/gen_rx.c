/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Receiving: the function in the tap's place of an interface.  Inside the
 * epoch, on whichever ithreads serve the interface; g_rx_mtx, taken once a
 * burst, makes the numbers of several queues one sequence.  Readers of the
 * counters do not take it.
 *
 * A receiver consumes all frames.  Ping and pong take what is theirs and hand
 * the rest back to the stack.
 */
#include <string.h>

#include "ether/ether_var.h"
#include "gen/gen_private.h"
#include "sys/thread.h"

/* Keep a frame for showing, while there is room. */
void
gen_dump(struct gen *g, const struct mbuf *m, bool sent)
{
	struct gen_frame_dump *gd;
	uint32_t len = m->m_pkthdr.len;

	mtx_lock(&g->g_dump_mtx);
	if (g->g_ndump < GEN_DUMP_MAX) {
		gd = &g->g_dump[g->g_ndump++];
		gd->gd_sent = sent;
		gd->gd_len = len;
		gd->gd_kept = len < GEN_DUMP_LEN ? len : GEN_DUMP_LEN;
		m_copydata(m, 0, gd->gd_kept, gd->gd_data);
	}
	mtx_unlock(&g->g_dump_mtx);
}

/* Number and time of a stamped frame. */
static inline void
gen_stamped(struct gen *g, const struct frame_stamp *fs, uint64_t now)
{
	uint64_t sent = frame_stamp_time(fs);

	seq_packet(&g->g_seq, ntohs(fs->fs_stream), ntohl(fs->fs_number));
	/* A sender on another host has another clock. */
	if (__predict_true(sent <= now))
		hist_add(&g->g_latency, now - sent);
}

static __attribute__((noinline)) void
gen_verify(struct gen *g, struct mbuf **m, unsigned int n)
{
	uint8_t frame[MBUF_FRAME_SIZE];
	uint32_t len;

	for (unsigned int i = 0; i < n; i++) {
		len = m[i]->m_pkthdr.len;
		if (len > sizeof(frame) ||
		    (m[i]->m_pkthdr.csum_flags & CSUM_PARTIAL) != 0)
			continue;	/* nobody has made its sums */
		m_copydata(m[i], 0, len, frame);
		if (!frame_sums_right(frame, len))
			gen_count(&g->g_rx_bad, 1);
	}
}

/* Count a burst; g_rx_mtx held. */
static void
gen_receive(struct gen *g, struct mbuf **m, unsigned int n)
{
	uint64_t bytes = 0, count = g->g_conf.gc_count, got, now;
	const struct frame_stamp *fs;
	unsigned int stamped = 0;

	got = gen_read(&g->g_rx_packets);
	if (__predict_false(count != 0 && n > count - got))
		n = (unsigned int)(count - got);
	if (n == 0)
		return;
	now = time_ns();
	for (unsigned int i = 0; i < n; i++) {
		bytes += m[i]->m_pkthdr.len;
		fs = frame_stamp(m[i]->m_data, m[i]->m_len);
		if (fs == NULL)
			continue;
		gen_stamped(g, fs, now);
		stamped++;
	}
	if (__predict_false(g->g_conf.gc_verify))
		gen_verify(g, m, n);
	gen_when(&g->g_rx_first, &g->g_rx_last, now);
	gen_count(&g->g_rx_bytes, bytes);
	gen_count(&g->g_rx_bursts, 1);
	gen_count(&g->g_seq.st_counts.sc_packets, stamped);
	gen_count(&g->g_rx_packets, n);
}

/* ---- Ping and pong ---- */

/* Is it an answer to one of our pings?  Then count it. */
static bool
ping_reply(struct gen *g, struct mbuf *m)
{
	struct gen_sender *gn = &g->g_senders[0];
	const struct frame_stamp *fs = frame_stamp(m->m_data, m->m_len);

	if (fs == NULL || ntohs(fs->fs_stream) !=
	    gn->gn_frames.fg_conf.fc_stream)
		return (false);
	gen_receive(g, &m, 1);
	atomic_store_explicit(&g->g_answered, ntohl(fs->fs_number) + 1,
	    memory_order_relaxed);
	intr_event_schedule(gn->gn_ie);
	return (true);
}

static inline void
swap_bytes(uint8_t *a, uint8_t *b, size_t len)
{
	uint8_t tmp[16];

	memcpy(tmp, a, len);
	memcpy(a, b, len);
	memcpy(b, tmp, len);
}

/*
 * Make m its own answer: addresses change places, sums stay as they are.
 * False: it is no UDP, or has not all of its header in front.
 */
static bool
pong_turn(struct mbuf *m)
{
	struct ether_header *eh = mtod(m, struct ether_header *);
	struct ip6_hdr *ip6 = (void *)(eh + 1);
	struct ip *ip = (void *)(eh + 1);

	if (m->m_len < FRAME_PAYLOAD_V4 || (m->m_flags & M_VLANTAG) != 0 ||
	    ether_is_multicast(eh->ether_shost))
		return (false);
	if (eh->ether_type == htons(ETHERTYPE_IP)) {
		if (ip->ip_p != IPPROTO_UDP)
			return (false);
		swap_bytes((uint8_t *)&ip->ip_src, (uint8_t *)&ip->ip_dst,
		    sizeof(ip->ip_src));
	} else if (eh->ether_type == htons(ETHERTYPE_IPV6)) {
		if (m->m_len < FRAME_PAYLOAD_V6 ||
		    ip6->ip6_nxt != IPPROTO_UDP)
			return (false);
		swap_bytes(ip6->ip6_src.s6_addr, ip6->ip6_dst.s6_addr, 16);
	} else
		return (false);
	swap_bytes(eh->ether_dhost, eh->ether_shost, ETHER_ADDR_LEN);
	return (true);
}

/* Send back what may be; the answers leave from our own address. */
static void
pong_answer(struct gen *g, struct mbuf **m, unsigned int n)
{
	struct ifnet *ifp = g->g_ifp;
	uint64_t own = atomic_load_explicit(&ifp->if_lladdr48,
	    memory_order_relaxed);

	for (unsigned int i = 0; i < n; i++)
		memcpy(mtod(m[i], struct ether_header *)->ether_shost, &own,
		    ETHER_ADDR_LEN);
	if_transmit(ifp, m, n);
}

void
gen_tap(struct if_hook *ih, struct ifnet *ifp, struct mbuf **m,
    unsigned int n)
{
	struct gen *g = __containerof(ih, struct gen, g_hook);
	struct mbuf *mine[MBUF_BURST], *rest[MBUF_BURST];
	unsigned int nmine = 0, nrest = 0;
	uint64_t bytes = 0;

	NET_EPOCH_ASSERT();

	if (__predict_false(g->g_conf.gc_dump))
		for (unsigned int i = 0; i < n; i++)
			gen_dump(g, m[i], false);
	mtx_lock(&g->g_rx_mtx);
	if (g->g_conf.gc_mode == GEN_RX) {
		gen_receive(g, m, n);
		memcpy(mine, m, n * sizeof(*m));
		nmine = n;
	} else
		for (unsigned int i = 0; i < n; i++)
			if (g->g_conf.gc_mode == GEN_PING ?
			    ping_reply(g, m[i]) : pong_turn(m[i]))
				mine[nmine++] = m[i];
			else
				rest[nrest++] = m[i];
	if (g->g_conf.gc_mode == GEN_PONG)
		gen_receive(g, mine, nmine);
	mtx_unlock(&g->g_rx_mtx);
	for (unsigned int i = 0; i < nmine; i++)
		bytes += mine[i]->m_pkthdr.len;
	if_inc(ifp, IFC_IBYTES, bytes);
	if (g->g_conf.gc_mode == GEN_PONG && nmine != 0)
		pong_answer(g, mine, nmine);
	else
		m_free_burst(mine, nmine);
	if (nrest != 0)
		ether_input_tapped(ifp, rest, nrest);
}
