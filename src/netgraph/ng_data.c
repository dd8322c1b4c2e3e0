/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Data on its way through the graph.
 *
 * Inside the epoch, on whatever thread brought the packets.  A hop reads the
 * hook's peer, the peer's node and one word of flags, and calls the method: no
 * lock, no atomic read-modify-write.  What removes hooks and nodes unlinks
 * them and waits for the epoch (ng_hook.c).
 *
 * A delivery is put off to a worker, a task of the graph's queue that runs in
 * the epoch, when NG_DEPTH_MAX of them are nested already (a loop in the graph
 * becomes queued work), when the outermost one has caused NG_HOPS_MAX of them
 * (hubs in several loops multiply a packet at each level), when the hook asks
 * for it, when its exclusive node is busy, or when packets wait there already:
 * a node's queue is first in, first out, and what comes later lines up behind.
 * Queues are bounded together by net.graph.maxdata packets.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netepoch/mbuf.h>

#include "ifnet/vnet.h"
#include "netgraph/ng_private.h"
#include "netgraph/ng_var.h"

_Static_assert(NG_BURST == MBUF_BURST, "an item is a burst");

static _Thread_local unsigned int ng_depth;	/* nested deliveries */
static _Thread_local unsigned int ng_hops;	/* since the outermost began */
static _Thread_local struct netgraph *ng_within; /* of the deliveries */
static _Thread_local unsigned int ng_outbound;	/* ng_outbound_enter()s */
/* Flags for which this thread looks closer. */
static _Thread_local uint32_t ng_slow = NGF_SLOW & ~NGF_INBOUND;

/*
 * Nodes with packets in their queue whose task is still to be started; each
 * once, with a reference.
 */
#define	NG_LATE_MAX	64
static _Thread_local node_p ng_late[NG_LATE_MAX];
static _Thread_local unsigned int ng_nlate;

void
ng_outbound_enter(void)
{

	ng_outbound++;
	ng_slow |= NGF_INBOUND;
}

void
ng_outbound_exit(void)
{

	KASSERT(ng_outbound != 0, "ng_outbound_exit without enter");
	if (--ng_outbound == 0)
		ng_slow &= ~(uint32_t)NGF_INBOUND;
}

void
ng_item_free(item_p it)
{

	m_free_burst(it->it_m, it->it_n);
	it->it_n = 0;
}

/* Drop the packets, count them; the errno value that says why. */
int
ng_item_drop(struct netgraph *ng, item_p it, enum ng_drop why)
{
	static const int errors[NGD_COUNT] = {
		[NGD_NOHOOK] = ENOTCONN,
		[NGD_DEADHOOK] = ENETDOWN,
		[NGD_DEADNODE] = EIO,
		[NGD_QUEUE] = ENOMEM,
		[NGD_NOMBUF] = ENOBUFS,
		[NGD_RECVFULL] = ENOBUFS,
	};

	counter_add(ng->ng_drops + why, it->it_n);
	ng_item_free(it);
	return (errors[why]);
}

static __attribute__((noinline)) void
ng_start_late(void)
{

	while (ng_nlate > 0) {
		node_p node = ng_late[--ng_nlate];

		taskqueue_enqueue(node->nd_graph->ng_tq, &node->nd_task);
	}
}

/* Is it time to go on in a worker? */
static inline bool
ng_too_far(void)
{

	return (ng_depth >= NG_DEPTH_MAX ||
	    (ng_depth != 0 && ng_hops >= NG_HOPS_MAX));
}

/* Give the packets to the method behind hook, one level deeper. */
static inline int
ng_call(hook_p hook, node_p node, item_p it)
{
	ng_rcvdata_t *fn;
	int error;

	fn = atomic_load_explicit(&hook->hk_rcvdata, memory_order_relaxed);
	counter_add(node->nd_packets, it->it_n);
	if (ng_depth++ == 0) {
		ng_hops = 0;
		ng_within = node->nd_graph;
	}
	ng_hops++;
	error = fn(hook, it);
	ng_depth--;
	if (__predict_false(ng_nlate != 0) && ng_depth == 0)
		ng_start_late();
	return (error);
}

/*
 * Start a worker, but not before the outermost delivery is over: the worker
 * of a loop could be faster than its sender, who would find its own buffer
 * full.
 */
static void
ng_start(node_p node)
{
	unsigned int i = NG_LATE_MAX;

	if (ng_depth != 0)
		for (i = 0; i < ng_nlate && ng_late[i] != node; i++)
			continue;
	if (i < ng_nlate)
		return;
	ng_node_ref(node);		/* the task's, until it has run */
	if (i < NG_LATE_MAX)
		ng_late[ng_nlate++] = node;
	else
		taskqueue_enqueue(node->nd_graph->ng_tq, &node->nd_task);
}

/* Queue for a worker: the packets are the queue's now, or dropped. */
static int
ng_enqueue(hook_p hook, node_p node, item_p it)
{
	struct netgraph *ng = node->nd_graph;
	struct ng_queued *qd = NULL;
	unsigned int n = it->it_n;

	if (atomic_fetch_add_explicit(&ng->ng_queued, n,
	    memory_order_relaxed) + n <= (unsigned int)atomic_load_explicit(
	    &ng->ng_maxdata, memory_order_relaxed))
		qd = malloc(sizeof(*qd) + n * sizeof(qd->qd_m[0]));
	if (qd == NULL) {
		atomic_fetch_sub_explicit(&ng->ng_queued, n,
		    memory_order_relaxed);
		return (ng_item_drop(ng, it, NGD_QUEUE));
	}
	ng_hook_ref(hook);
	qd->qd_next = NULL;
	qd->qd_hook = hook;
	qd->qd_n = n;
	memcpy(qd->qd_m, it->it_m, n * sizeof(qd->qd_m[0]));

	mtx_lock(&ng->ng_qmtx);
	*node->nd_queue_end = qd;
	node->nd_queue_end = &qd->qd_next;
	atomic_fetch_or_explicit(&node->nd_flags, NGF_QUEUED,
	    memory_order_relaxed);
	mtx_unlock(&ng->ng_qmtx);
	ng_start(node);
	return (0);
}

/* Something is the matter with the hook or its node: what? */
static __attribute__((noinline)) int
ng_fwd_slow(item_p it, hook_p hook, node_p node, uint32_t flags)
{
	int error;

	if ((ng_flags(&hook->hk_flags) & NGF_INVALID) != 0)
		return (ng_item_drop(node->nd_graph, it, NGD_DEADHOOK));
	if ((flags & NGF_INVALID) != 0)
		return (ng_item_drop(node->nd_graph, it, NGD_DEADNODE));
	if (ng_too_far() ||
	    (flags & (NGF_QUEUED | NGF_FORCEQ)) != 0 ||
	    ((flags & NGF_INBOUND) != 0 && ng_outbound != 0))
		return (ng_enqueue(hook, node, it));
	if ((flags & NGF_EXCLUSIVE) == 0)
		return (ng_call(hook, node, it));
	if (!mtx_trylock(&node->nd_mtx))
		return (ng_enqueue(hook, node, it));
	error = ng_call(hook, node, it);
	mtx_unlock(&node->nd_mtx);
	return (error);
}

/* Counted, unless they come from outside of the graph: there they are. */
static __attribute__((noinline)) int
ng_fwd_nohook(item_p it)
{

	if (ng_depth != 0)
		return (ng_item_drop(ng_within, it, NGD_NOHOOK));
	ng_item_free(it);
	return (ENOTCONN);
}

int
ng_fwd_item(item_p it, hook_p hook)
{
	uint32_t flags;
	node_p node;
	hook_p peer;

	NET_EPOCH_ASSERT();

	if (__predict_false(hook == NULL))
		return (ng_fwd_nohook(it));
	/* Pairs with the release that set the peer. */
	peer = atomic_load_explicit(&hook->hk_peer, memory_order_acquire);
	if (__predict_false(peer == NULL))
		return (ng_item_drop(hook->hk_node->nd_graph, it,
		    NGD_DEADHOOK));
	node = peer->hk_node;
	flags = ng_flags(&node->nd_flags) | ng_flags(&peer->hk_flags);
	if (__predict_false((flags & ng_slow) != 0 || ng_too_far()))
		return (ng_fwd_slow(it, peer, node, flags));
	return (ng_call(peer, node, it));
}

/* The flags are read once: what is not invalid now is valid here to the end. */
bool
ng_fwd_item_live(item_p it, hook_p hook)
{
	uint32_t flags;
	node_p node;
	hook_p peer;

	NET_EPOCH_ASSERT();

	peer = atomic_load_explicit(&hook->hk_peer, memory_order_acquire);
	if (__predict_false(peer == NULL))
		return (false);
	node = peer->hk_node;
	flags = ng_flags(&node->nd_flags) | ng_flags(&peer->hk_flags);
	if (__predict_false((flags & NGF_INVALID) != 0))
		return (false);
	if (__predict_false((flags & ng_slow) != 0 || ng_too_far()))
		(void)ng_fwd_slow(it, peer, node, flags);
	else
		(void)ng_call(peer, node, it);
	return (true);
}

int
ng_send_data(hook_p hook, struct mbuf *m)
{
	struct ng_item it;

	it.it_n = 1;
	it.it_m[0] = m;
	return (ng_fwd_item(&it, hook));
}

int
ng_send_copy(const struct ng_item *item, hook_p hook)
{
	unsigned int missing = 0;
	struct ng_item copy;
	struct mbuf *m;
	int error;

	if (hook == NULL)
		return (ENOTCONN);
	copy.it_n = 0;
	for (unsigned int i = 0; i < item->it_n; i++)
		if ((m = m_dup(item->it_m[i])) != NULL)
			copy.it_m[copy.it_n++] = m;
		else
			missing++;
	if (missing != 0)
		counter_add(hook->hk_node->nd_graph->ng_drops + NGD_NOMBUF,
		    missing);
	error = copy.it_n != 0 ? ng_fwd_item(&copy, hook) : 0;
	return (missing != 0 ? ENOBUFS : error);
}

/*
 * A section for those who bring packets from outside of the stack: threads of
 * sockets, which no interrupt or task has entered for.
 */
int
ng_net_run(int (*fn)(void *arg), void *arg)
{
	struct epoch_tracker et;
	int error;

	NET_EPOCH_ENTER(et);
	error = fn(arg);
	NET_EPOCH_EXIT(et);
	return (error);
}

/* ---- Bursts whose packets go different ways ---- */

static void
ng_scatter_send(struct ng_scatter *sc, unsigned int i)
{
	int error;

	error = ng_fwd_item(&sc->sc_item[i], sc->sc_hook[i]);
	if (error != 0)
		sc->sc_error = error;
	sc->sc_item[i].it_n = 0;
}

void
ng_scatter_put(struct ng_scatter *sc, hook_p hook, struct mbuf *m)
{
	unsigned int i;

	for (i = 0; i < sc->sc_used && sc->sc_hook[i] != hook; i++)
		continue;
	if (i == sc->sc_used) {
		if (i == NG_SCATTER_SLOTS)
			i = (unsigned int)((uintptr_t)hook / 64) %
			    NG_SCATTER_SLOTS;
		else
			sc->sc_item[sc->sc_used++].it_n = 0;
	}
	/* A full burst, or another hook's: send it, the slot is ours. */
	if (sc->sc_item[i].it_n != 0 && (sc->sc_hook[i] != hook ||
	    sc->sc_item[i].it_n == NG_BURST))
		ng_scatter_send(sc, i);
	sc->sc_hook[i] = hook;
	sc->sc_item[i].it_m[sc->sc_item[i].it_n++] = m;
}

int
ng_scatter_flush(struct ng_scatter *sc)
{

	for (unsigned int i = 0; i < sc->sc_used; i++)
		if (sc->sc_item[i].it_n != 0)
			ng_scatter_send(sc, i);
	sc->sc_used = 0;
	return (sc->sc_error);
}

/* ---- Workers ---- */

/* One queued burst to its method, unless the hook has gone meanwhile. */
static void
ng_dequeue(struct netgraph *ng, node_p node, struct ng_queued *qd)
{
	struct ng_item it;

	atomic_fetch_sub_explicit(&ng->ng_queued, qd->qd_n,
	    memory_order_relaxed);
	it.it_n = qd->qd_n;
	memcpy(it.it_m, qd->qd_m, qd->qd_n * sizeof(it.it_m[0]));
	/*
	 * Still linked in this section, so the hook's end waits for us.  The
	 * acquire pairs with the release that made it valid.
	 */
	if ((atomic_load_explicit(&qd->qd_hook->hk_flags,
	    memory_order_acquire) & NGF_INVALID) != 0)
		(void)ng_item_drop(ng, &it, NGD_DEADHOOK);
	else
		(void)ng_call(qd->qd_hook, node, &it);
	ng_hook_rele(qd->qd_hook);
	free(qd);
}

/* The first of a node's queue; the flag goes with the last. */
static struct ng_queued *
ng_queue_next(struct netgraph *ng, node_p node, bool more)
{
	struct ng_queued *qd;

	mtx_lock(&ng->ng_qmtx);
	qd = node->nd_queue;
	if (qd == NULL)
		atomic_fetch_and_explicit(&node->nd_flags,
		    ~(uint32_t)NGF_QUEUED, memory_order_relaxed);
	else if (more) {
		node->nd_queue = qd->qd_next;
		if (qd->qd_next == NULL)
			node->nd_queue_end = &node->nd_queue;
	}
	mtx_unlock(&ng->ng_qmtx);
	return (qd);
}

/*
 * The task of a node with packets in its queue.  Each of them took a reference
 * on the node for us; so did we, when we put ourselves back.
 */
static void
ng_drain(void *arg, int pending)
{
	node_p node = arg;
	struct netgraph *ng = node->nd_graph;
	bool exclusive = (ng_flags(&node->nd_flags) & NGF_EXCLUSIVE) != 0;
	unsigned int hops = 0;
	struct ng_queued *qd = NULL;

	NET_EPOCH_ASSERT();

	if (exclusive)
		mtx_lock(&node->nd_mtx);
	for (int n = 0; n < NG_DRAIN_MAX && hops < NG_HOPS_MAX; n++) {
		qd = ng_queue_next(ng, node, true);
		if (qd == NULL)
			break;
		ng_hops = 0;
		ng_dequeue(ng, node, qd);
		hops += ng_hops;
	}
	if (exclusive)
		mtx_unlock(&node->nd_mtx);
	if (qd != NULL && ng_queue_next(ng, node, false) != NULL) {
		ng_node_ref(node);
		taskqueue_enqueue(ng->ng_tq, &node->nd_task);
	}
	while (pending-- > 0)
		ng_node_rele(node);
}

void
ng_queue_init(node_p node)
{

	node->nd_queue_end = &node->nd_queue;
	NET_TASK_INIT(&node->nd_task, ng_drain, node);
}
