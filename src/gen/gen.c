/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Generators: their life, and what they have counted.
 *
 * Everything here runs under the configuration lock, outside the epoch.  Start
 * makes the senders and takes the tap's place last, so that nothing is
 * counted of a generator that could not start; stop takes the senders' handlers
 * away, after which none is running, and gives the place back.  A reader of the
 * place may still be in gen_tap() then, so gen_free() waits for the epoch.
 *
 * A generator whose interface is detached stops and stays on its set's list
 * until whoever started it has read its numbers, or is gone.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "gen/gen_private.h"
#include "sys/thread.h"

struct gen_set {
	struct vnet	*gs_vnet;	/* (c) */
	uint32_t	 gs_lastid;	/* (c) */
	CK_LIST_HEAD(, gen) gs_gens;	/* (c) */
};

static int __printflike(4, 5)
gen_error(int error, char *err, size_t errlen, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, errlen, fmt, ap);
	va_end(ap);
	return (error);
}

static int
gen_if_event(void *arg, struct ifnet *ifp, enum if_event ev,
    struct ifaddr *ifa)
{
	struct gen_set *gs = arg;
	struct gen *g;

	if (ev != IF_EVENT_DETACH)
		return (0);
	CK_LIST_FOREACH(g, &gs->gs_gens, g_link)
		if (g->g_ifp == ifp) {
			gen_stop(g);
			g->g_gone = true;
		}
	return (0);
}

struct gen_set *
gen_set_alloc(struct vnet *vnet)
{
	struct gen_set *gs;

	if ((gs = calloc(1, sizeof(*gs))) == NULL)
		return (NULL);
	gs->gs_vnet = vnet;
	CK_LIST_INIT(&gs->gs_gens);
	if_event_register(vnet, gen_if_event, gs);
	return (gs);
}

void
gen_set_free(struct gen_set *gs)
{
	struct gen *g;

	VNET_CONFIG_ASSERT(gs->gs_vnet);

	while ((g = CK_LIST_FIRST(&gs->gs_gens)) != NULL)
		gen_free(g);
	free(gs);
}

/* ---- Start ---- */

/* What the whole machine can do is for the caller; this is what we can. */
static int
gen_check(struct ifnet *ifp, const struct gen_conf *gc, char *err,
    size_t errlen)
{
	const struct frame_conf *fc = &gc->gc_frame;
	uint32_t mtu = atomic_load_explicit(&ifp->if_mtu,
	    memory_order_relaxed);

	if (ifp->if_type != IFT_ETHER)
		return (gen_error(EINVAL, err, errlen, "%s is no Ethernet "
		    "interface", ifp->if_name));
	if ((atomic_load_explicit(&ifp->if_flags, memory_order_relaxed) &
	    IFF_UP) == 0)
		return (gen_error(ENETDOWN, err, errlen, "%s is down: "
		    "ifconfig %s up", ifp->if_name, ifp->if_name));
	if ((gc->gc_mode != GEN_TX && gc->gc_mode != GEN_PING) ||
	    gc->gc_pcap != NULL)
		return (0);
	if (fc->fc_len > mtu + ETHER_HDR_LEN)
		return (gen_error(EMSGSIZE, err, errlen, "frames of %u bytes "
		    "are too long for %s, whose MTU of %u takes %u",
		    fc->fc_len, ifp->if_name, mtu,
		    (uint32_t)(mtu + ETHER_HDR_LEN)));
	if (gc->gc_mode == GEN_PING &&
	    fc->fc_len < frame_stamped_min(fc->fc_v6))
		return (gen_error(EINVAL, err, errlen, "a ping needs at least "
		    "%u bytes, for number and time",
		    frame_stamped_min(fc->fc_v6)));
	return (0);
}

static uint16_t
gen_stream(void)
{
	uint16_t id = 0;

	/* Early in a boot there may be no randomness yet: use the time. */
	if (getrandom(&id, sizeof(id), GRND_NONBLOCK) != sizeof(id))
		id = (uint16_t)(time_ns() >> 8);
	return (id);
}

/* The senders' shares of count and rate, and their frames. */
static int
gen_senders_init(struct gen *g, char *err, size_t errlen)
{
	const struct gen_conf *gc = &g->g_conf;
	struct frame_conf fc = gc->gc_frame;
	uint64_t n = g->g_nsenders, rate;
	uint64_t start = gc->gc_start != 0 ? gc->gc_start : time_ns();
	struct gen_sender *gn;

	for (unsigned int i = 0; i < n; i++) {
		gn = &g->g_senders[i];
		gn->gn_g = g;
		gn->gn_counted = gc->gc_count != 0;
		gn->gn_left = gc->gc_count / n + (i < gc->gc_count % n);
		atomic_init(&gn->gn_done, gn->gn_counted &&
		    gn->gn_left == 0);
		rate = gc->gc_rate / n + (i < gc->gc_rate % n);
		if (gc->gc_rate != 0 && rate == 0)
			rate = 1;
		pace_init(&gn->gn_pace, start, rate,
		    gc->gc_mode == GEN_PING ? 1 : gc->gc_burst);
		fc.fc_stream = gen_stream();
		fc.fc_seed = gc->gc_frame.fc_seed + i;
		if (frame_init(&gn->gn_frames, &fc) != 0)
			return (gen_error(EINVAL, err, errlen, "expected "
			    "lengths from %u to %u and ranges that do not end "
			    "before they begin", frame_min(fc.fc_v6),
			    FRAME_MAX));
	}
	return (0);
}

/* The kernel can send this, if it can send at all. */
static bool
gen_may_live(const struct gen_conf *gc)
{

	return (gc->gc_live && gc->gc_mode == GEN_TX && gc->gc_rate == 0 &&
	    gc->gc_threads == 1 && !gc->gc_dump && gc->gc_start == 0 &&
	    gc->gc_pcap == NULL && gc->gc_frame.fc_minlen == 0);
}

static int
gen_attach(struct gen *g, char *err, size_t errlen)
{
	int error;

	if (g->g_conf.gc_mode != GEN_TX) {
		error = if_hook_add(g->g_ifp, IFH_TAP, &g->g_hook);
		if (error != 0)
			return (gen_error(error, err, errlen, "%s has a "
			    "receiver already", g->g_ifp->if_name));
		g->g_hooked = true;
	}
	if (gen_may_live(&g->g_conf) && gen_live_start(g,
	    &g->g_senders[0].gn_frames) == 0)
		return (0);
	for (unsigned int i = 0; i < g->g_nsenders; i++) {
		error = gen_sender_start(&g->g_senders[i], i);
		if (error != 0)
			return (gen_error(error, err, errlen, "cannot start "
			    "sending: %s", strerror(error)));
	}
	return (0);
}

static struct gen *
gen_alloc(struct gen_set *gs, struct ifnet *ifp, const struct gen_conf *gc,
    uint64_t owner)
{
	bool sends = gc->gc_mode == GEN_TX || gc->gc_mode == GEN_PING;
	unsigned int n = !sends ? 0 : gc->gc_mode == GEN_PING ? 1 :
	    gc->gc_threads;
	size_t size = sizeof(struct gen) + n * sizeof(struct gen_sender);
	struct gen *g;

	g = aligned_alloc(CACHE_LINE_SIZE,
	    (size + CACHE_LINE_SIZE - 1) / CACHE_LINE_SIZE * CACHE_LINE_SIZE);
	if (g == NULL)
		return (NULL);
	memset(g, 0, size);
	if (gc->gc_dump && (g->g_dump = calloc(GEN_DUMP_MAX,
	    sizeof(*g->g_dump))) == NULL) {
		free(g);
		return (NULL);
	}
	g->g_hook.ih_fn = gen_tap;
	g->g_set = gs;
	g->g_ifp = ifp;
	if_ref(ifp);
	g->g_owner = owner;
	g->g_conf = *gc;
	g->g_nsenders = n;
	for (unsigned int i = 0; i < n; i++)
		g->g_senders[i].gn_timer = -1;
	mtx_init(&g->g_rx_mtx, "gen receiver");
	mtx_init(&g->g_dump_mtx, "gen dump");
	seq_init(&g->g_seq);
	hist_init(&g->g_latency);
	do {
		g->g_id = ++gs->gs_lastid;
	} while (g->g_id == 0 || gen_find(gs, g->g_id) != NULL);
	CK_LIST_INSERT_HEAD(&gs->gs_gens, g, g_link);
	return (g);
}

int
gen_start(struct gen_set *gs, struct ifnet *ifp, const struct gen_conf *gc,
    uint64_t owner, struct gen **gp, char *err, size_t errlen)
{
	struct gen *g;
	int error;

	VNET_CONFIG_ASSERT(gs->gs_vnet);
	NET_EPOCH_ASSERT_NOT();

	if (gc->gc_threads < 1 || gc->gc_threads > GEN_THREADS_MAX)
		return (gen_error(EINVAL, err, errlen, "expected 1 to %d "
		    "threads", GEN_THREADS_MAX));
	error = gen_check(ifp, gc, err, errlen);
	if (error != 0)
		return (error);
	if ((g = gen_alloc(gs, ifp, gc, owner)) == NULL)
		return (gen_error(ENOMEM, err, errlen, "no memory"));
	if (gc->gc_pcap != NULL)
		error = gen_pcap_open(gc->gc_pcap, &g->g_pcap, err, errlen);
	if (error == 0)
		error = gen_senders_init(g, err, errlen);
	if (error == 0)
		error = gen_attach(g, err, errlen);
	g->g_conf.gc_pcap = NULL;	/* the caller's */
	if (error != 0) {
		gen_free(g);
		return (error);
	}
	*gp = g;
	return (0);
}

/* ---- Stop ---- */

void
gen_stop(struct gen *g)
{

	VNET_CONFIG_ASSERT(g->g_set->gs_vnet);
	NET_EPOCH_ASSERT_NOT();

	atomic_store_explicit(&g->g_stopped, true, memory_order_relaxed);
	if (g->g_live != NULL)
		gen_live_stop(g->g_live);
	for (unsigned int i = 0; i < g->g_nsenders; i++)
		gen_sender_stop(&g->g_senders[i]);
	if (g->g_hooked)
		if_hook_remove(g->g_ifp, IFH_TAP, &g->g_hook);
	g->g_hooked = false;
}

void
gen_free(struct gen *g)
{
	bool seen = g->g_hooked;

	gen_stop(g);
	CK_LIST_REMOVE(g, g_link);
	/* Somebody may be in the tap still, and write to a sender's event. */
	if (seen || g->g_conf.gc_mode != GEN_TX)
		NET_EPOCH_WAIT();
	for (unsigned int i = 0; i < g->g_nsenders; i++)
		gen_sender_free(&g->g_senders[i]);
	if (g->g_live != NULL)
		gen_live_free(g->g_live);
	if (g->g_pcap != NULL)
		gen_pcap_close(g->g_pcap);
	if_rele(g->g_ifp);
	mtx_destroy(&g->g_dump_mtx);
	mtx_destroy(&g->g_rx_mtx);
	free(g->g_dump);
	free(g);
}

struct gen *
gen_find(struct gen_set *gs, uint32_t id)
{
	struct gen *g;

	VNET_CONFIG_ASSERT(gs->gs_vnet);

	CK_LIST_FOREACH(g, &gs->gs_gens, g_link)
		if (g->g_id == id)
			return (g);
	return (NULL);
}

uint32_t
gen_id(const struct gen *g)
{

	return (g->g_id);
}

uint64_t
gen_owner(const struct gen *g)
{

	return (g->g_owner);
}

bool
gen_is_live(const struct gen *g)
{

	return (g->g_live != NULL);
}

void
gen_owner_gone(struct gen_set *gs, uint64_t owner)
{
	struct gen *g, *next;

	VNET_CONFIG_ASSERT(gs->gs_vnet);

	for (g = CK_LIST_FIRST(&gs->gs_gens); g != NULL; g = next) {
		next = CK_LIST_NEXT(g, g_link);
		if (g->g_owner == owner)
			gen_free(g);
	}
}

/* ---- Numbers ---- */

bool
gen_done(struct gen *g)
{
	uint64_t count = g->g_conf.gc_count;

	if (atomic_load_explicit(&g->g_stopped, memory_order_relaxed))
		return (true);
	if (g->g_live != NULL)
		return (gen_live_done(g->g_live));
	for (unsigned int i = 0; i < g->g_nsenders; i++)
		if (!atomic_load_explicit(&g->g_senders[i].gn_done,
		    memory_order_relaxed))
			return (false);
	return (g->g_nsenders != 0 || (count != 0 &&
	    gen_read(&g->g_rx_packets) >= count));
}

static void
gen_stats_sender(struct gen_sender *gn, struct gen_stats *st)
{
	uint64_t first = gen_read(&gn->gn_first), last = gen_read(&gn->gn_last);

	st->gs_tx_packets += gen_read(&gn->gn_packets);
	st->gs_tx_bytes += gen_read(&gn->gn_bytes);
	st->gs_tx_bursts += gen_read(&gn->gn_bursts);
	st->gs_tx_refused += gen_read(&gn->gn_refused);
	if (first != 0 && (st->gs_tx_first == 0 || first < st->gs_tx_first))
		st->gs_tx_first = first;
	if (last > st->gs_tx_last)
		st->gs_tx_last = last;
	if (gen_read(&gn->gn_behind) > st->gs_tx_behind)
		st->gs_tx_behind = gen_read(&gn->gn_behind);
}

void
gen_stats_get(struct gen *g, struct gen_stats *st)
{
	struct seq_counts *sc = &g->g_seq.st_counts;

	memset(st, 0, sizeof(*st));
	st->gs_threads = g->g_nsenders != 0 ? g->g_nsenders : 1;
	st->gs_gone = g->g_gone;
	st->gs_done = gen_done(g);	/* first: then the rest is final */
	for (unsigned int i = 0; i < g->g_nsenders; i++)
		gen_stats_sender(&g->g_senders[i], st);
	if (g->g_live != NULL)
		gen_live_stats(g->g_live, st);
	st->gs_stamped = gen_read(&sc->sc_packets);
	st->gs_lost = gen_read(&sc->sc_lost);
	st->gs_reordered = gen_read(&sc->sc_reordered);
	st->gs_duplicates = gen_read(&sc->sc_duplicates);
	st->gs_late = gen_read(&sc->sc_late);
	hist_copy(&g->g_latency, &st->gs_latency);
	hist_diff(&st->gs_latency, &g->g_last, &st->gs_interval);
	g->g_last = st->gs_latency;
	st->gs_rx_bad = gen_read(&g->g_rx_bad);
	st->gs_rx_first = gen_read(&g->g_rx_first);
	st->gs_rx_last = gen_read(&g->g_rx_last);
	st->gs_rx_bursts = gen_read(&g->g_rx_bursts);
	st->gs_rx_bytes = gen_read(&g->g_rx_bytes);
	st->gs_rx_packets = gen_read(&g->g_rx_packets);
}

unsigned int
gen_dump_take(struct gen *g, struct gen_frame_dump *gd, unsigned int max)
{
	unsigned int n;

	mtx_lock(&g->g_dump_mtx);
	n = g->g_ndump < max ? g->g_ndump : max;
	if (n != 0)
		memcpy(gd, g->g_dump, n * sizeof(*gd));
	g->g_ndump = 0;
	mtx_unlock(&g->g_dump_mtx);
	return (n);
}
