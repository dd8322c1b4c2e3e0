/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * pipe: a line of limited speed with delay, loss and queues, from upper to
 * lower (downstream) and back.
 *
 * A direction is a queue in front of a line and the line's delay behind it.
 * The line begins with a packet when it is through with the one before, on a
 * time scale of its own (pd_free): a timer that is late delays packets but
 * does not lower the rate.  What has left the line is released pipe_delay
 * later, in order.  With no limit set packets pass in their bursts.
 *
 * Queues are fifo; or one for each flow, served in turn by bytes (drr) or by
 * the smallest finishing tag (wfq; the tags are those of self-clocked fair
 * queueing, S. Golestani, INFOCOM 1994).  When there is no room the longest
 * queue loses its newest or oldest packet.
 *
 * The node is exclusive: data methods, the callout and control work take its
 * lock for everything here.  The callout runs in the net epoch.
 */
#include <netgraph/ng_pipe.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netepoch/epoch.h>

#include "ifnet/vnet.h"
#include "netgraph/nodes/ng_nodes.h"
#include "netgraph/nodes/ng_pipe_private.h"
#include "sys/thread.h"
#include "wire/ip.h"

#define	PIPE_QUEUELEN	50		/* packets, unless configured */

static inline void
pipe_count(struct pipe_dir *pd, unsigned int octets, const struct mbuf *m)
{

	ng_stat_add(&pd->pd_stat, octets, m->m_pkthdr.len);
	ng_stat_add(&pd->pd_stat, octets + 1, 1);
}

static inline uint64_t
pipe_random(struct pipe *pi)
{

	pi->pi_random ^= pi->pi_random << 13;
	pi->pi_random ^= pi->pi_random >> 7;
	pi->pi_random ^= pi->pi_random << 17;
	return (pi->pi_random);
}

/* ---- Lists ---- */

static void
pipe_list_init(struct pipe_list *pl)
{

	pl->pl_first = NULL;
	pl->pl_end = &pl->pl_first;
}

static void
pipe_list_add(struct pipe_list *pl, struct mbuf *m)
{

	m->m_nextpkt = NULL;
	*pl->pl_end = m;
	pl->pl_end = &m->m_nextpkt;
}

static struct mbuf *
pipe_list_pop(struct pipe_list *pl)
{
	struct mbuf *m = pl->pl_first;

	pl->pl_first = m->m_nextpkt;
	if (pl->pl_first == NULL)
		pl->pl_end = &pl->pl_first;
	return (m);
}

/* The last one. */
static struct mbuf *
pipe_list_chop(struct pipe_list *pl)
{
	struct mbuf **mp = &pl->pl_first, *m;

	while ((*mp)->m_nextpkt != NULL)
		mp = &(*mp)->m_nextpkt;
	m = *mp;
	*mp = NULL;
	pl->pl_end = mp;
	return (m);
}

/* ---- Queues in front of the line ---- */

/* The flow of a packet: of its addresses, if it has some. */
static struct pipe_flow *
pipe_flow_of(struct pipe *pi, struct pipe_dir *pd, const struct mbuf *m)
{
	struct ip ip;
	uint32_t h;

	if (pd->pd_cfg.fifo != 0 ||
	    m->m_pkthdr.len < pi->pi_header_offset + sizeof(ip))
		return (&pd->pd_flow[0]);
	m_copydata(m, pi->pi_header_offset, sizeof(ip), &ip);
	if (ip_v(&ip) != IPVERSION)
		return (&pd->pd_flow[0]);
	h = (ip.ip_src.s_addr * UINT32_C(2654435761)) ^ ip.ip_dst.s_addr;
	h *= UINT32_C(2246822519);
	return (&pd->pd_flow[h >> 24]);
}

static void
pipe_flow_append(struct pipe_dir *pd, struct pipe_flow *pf)
{
	struct pipe_flow **pfp = &pd->pd_active;

	while (*pfp != NULL)
		pfp = &(*pfp)->pf_next;
	pf->pf_next = NULL;
	*pfp = pf;
}

static void
pipe_flow_remove(struct pipe_dir *pd, struct pipe_flow *pf)
{
	struct pipe_flow **pfp = &pd->pd_active;

	while (*pfp != pf)
		pfp = &(*pfp)->pf_next;
	*pfp = pf->pf_next;
}

/* Account for a packet that has left its flow's queue. */
static void
pipe_dequeued(struct pipe_dir *pd, struct pipe_flow *pf, const struct mbuf *m)
{

	pd->pd_run.qin_frames--;
	pd->pd_run.qin_octets -= m->m_pkthdr.len;
	if (--pf->pf_frames != 0)
		return;
	pipe_flow_remove(pd, pf);
	pf->pf_deficit = 0;
	pd->pd_run.fifo_queues--;
}

/* No room: the longest queue loses a packet. */
static void
pipe_queue_drop(struct pipe_dir *pd)
{
	struct pipe_flow *pf, *longest = pd->pd_active;
	struct mbuf *m;

	for (pf = longest->pf_next; pf != NULL; pf = pf->pf_next)
		if (pf->pf_frames > longest->pf_frames)
			longest = pf;
	m = pd->pd_cfg.drophead != 0 ? pipe_list_pop(&longest->pf_list) :
	    pipe_list_chop(&longest->pf_list);
	pipe_dequeued(pd, longest, m);
	pipe_count(pd, PIPE_INOCTETS, m);
	m_freem(m);
}

static void
pipe_enqueue(struct pipe *pi, struct pipe_dir *pd, struct mbuf *m)
{
	struct pipe_flow *pf = pipe_flow_of(pi, pd, m);
	uint32_t limit = pd->pd_cfg.qin_size_limit;

	if (pf->pf_frames++ == 0) {
		pipe_flow_append(pd, pf);
		pd->pd_run.fifo_queues++;
	}
	pf->pf_tag = (pf->pf_tag > pd->pd_vtime ? pf->pf_tag :
	    pd->pd_vtime) + m->m_pkthdr.len;
	m->m_stamp = pf->pf_tag;
	pipe_list_add(&pf->pf_list, m);
	pd->pd_run.qin_frames++;
	pd->pd_run.qin_octets += m->m_pkthdr.len;
	if (limit == 0 || limit > pi->pi_max)
		limit = pi->pi_max;
	if (pd->pd_run.qin_frames > limit)
		pipe_queue_drop(pd);
}

/* Whose turn is it? */
static struct pipe_flow *
pipe_flow_next(struct pipe_dir *pd)
{
	struct pipe_flow *pf, *best = pd->pd_active;

	if (pd->pd_cfg.wfq != 0) {
		for (pf = best->pf_next; pf != NULL; pf = pf->pf_next)
			if (pf->pf_list.pl_first->m_stamp <
			    best->pf_list.pl_first->m_stamp)
				best = pf;
	} else if (pd->pd_cfg.drr != 0) {
		/* A quantum is 32 bytes at least: this ends. */
		while (best->pf_deficit <
		    best->pf_list.pl_first->m_pkthdr.len) {
			best->pf_deficit += pd->pd_cfg.drr;
			pipe_flow_remove(pd, best);
			pipe_flow_append(pd, best);
			best = pd->pd_active;
		}
		best->pf_deficit -= best->pf_list.pl_first->m_pkthdr.len;
	}
	return (best);
}

static struct mbuf *
pipe_dequeue(struct pipe_dir *pd)
{
	struct pipe_flow *pf = pipe_flow_next(pd);
	struct mbuf *m;

	m = pipe_list_pop(&pf->pf_list);
	pd->pd_vtime = m->m_stamp;
	pipe_dequeued(pd, pf, m);
	return (m);
}

/* ---- The line and what is behind it ---- */

/* Has one of the packet's bits gone wrong? */
static bool
pipe_bit_error(struct pipe *pi, struct pipe_dir *pd, const struct mbuf *m)
{
	uint64_t bits = UINT64_C(8) * (m->m_pkthdr.len + pi->pi_overhead);
	double ok = 1.0, p;

	if (pd->pd_cfg.ber == 0)
		return (false);
	if (pd->pd_cfg.ber == 1)
		return (true);
	/* All bits are right: (1 - 1/ber) to the power of their number. */
	for (p = 1.0 - 1.0 / (double)pd->pd_cfg.ber; bits != 0; bits >>= 1) {
		if ((bits & 1) != 0)
			ok *= p;
		p *= p;
	}
	return ((double)(pipe_random(pi) >> 11) * 0x1p-53 >= ok);
}

static void
pipe_out_drop(struct pipe_dir *pd, struct mbuf *m)
{

	pipe_count(pd, PIPE_OUTOCTETS, m);
	m_freem(m);
}

static void
pipe_delay_one(struct pipe *pi, struct pipe_dir *pd, struct mbuf *m,
    uint64_t when)
{
	uint32_t limit = pd->pd_cfg.qout_size_limit;

	if (limit == 0 || limit > pi->pi_max)
		limit = pi->pi_max;
	if (pd->pd_run.qout_frames >= limit) {
		pipe_out_drop(pd, m);
		return;
	}
	m->m_stamp = when;
	pipe_list_add(&pd->pd_delayed, m);
	pd->pd_run.qout_frames++;
	pd->pd_run.qout_octets += m->m_pkthdr.len;
}

/* The packet is through the line at when. */
static void
pipe_transmitted(struct pipe *pi, struct pipe_dir *pd, struct mbuf *m,
    uint64_t when)
{
	struct mbuf *copy = NULL;

	if (pipe_bit_error(pi, pd, m)) {
		pipe_out_drop(pd, m);
		return;
	}
	if (pd->pd_cfg.duplicate != 0 &&
	    pipe_random(pi) % 100 < pd->pd_cfg.duplicate)
		copy = m_dup(m);
	when += pi->pi_delay * 1000;
	pipe_delay_one(pi, pd, m, when);
	if (copy != NULL)
		pipe_delay_one(pi, pd, copy, when);
}

/* Begin with all packets that the line had time for up to now. */
static void
pipe_serve(struct pipe *pi, struct pipe_dir *pd, uint64_t now)
{
	struct mbuf *m;

	while (pd->pd_active != NULL && pd->pd_free <= now) {
		m = pipe_dequeue(pd);
		if (pd->pd_cfg.bandwidth != 0)
			pd->pd_free += (m->m_pkthdr.len + pi->pi_overhead) *
			    UINT64_C(8000000000) / pd->pd_cfg.bandwidth;
		pipe_transmitted(pi, pd, m, pd->pd_cfg.bandwidth != 0 ?
		    pd->pd_free : now);
	}
}

/* Send what is due; the last error. */
static int
pipe_release(struct pipe_dir *pd, uint64_t now)
{
	struct ng_item it = { .it_n = 0 };
	struct mbuf *m;
	int error = 0, e;

	while ((m = pd->pd_delayed.pl_first) != NULL && m->m_stamp <= now) {
		(void)pipe_list_pop(&pd->pd_delayed);
		pd->pd_run.qout_frames--;
		pd->pd_run.qout_octets -= m->m_pkthdr.len;
		pipe_count(pd, PIPE_FWDOCTETS, m);
		it.it_m[it.it_n++] = m;
		if (it.it_n == NG_BURST) {
			if ((e = ng_fwd_item(&it, pd->pd_out)) != 0)
				error = e;
			it.it_n = 0;
		}
	}
	if (it.it_n != 0 && (e = ng_fwd_item(&it, pd->pd_out)) != 0)
		error = e;
	return (error);
}

static void	pipe_timer(void *arg);

void
pipe_schedule(struct pipe *pi, uint64_t now)
{
	uint64_t when = UINT64_MAX;
	struct pipe_dir *pd;

	for (int way = 0; way < PIPE_WAYS; way++) {
		pd = &pi->pi_dir[way];
		if (pd->pd_active != NULL && pd->pd_free < when)
			when = pd->pd_free;
		if (pd->pd_delayed.pl_first != NULL &&
		    pd->pd_delayed.pl_first->m_stamp < when)
			when = pd->pd_delayed.pl_first->m_stamp;
	}
	if (when != UINT64_MAX)
		(void)callout_reset(&pi->pi_callout,
		    when > now ? when - now : 0, pipe_timer, pi);
}

static void
pipe_timer(void *arg)
{
	struct pipe *pi = arg;
	uint64_t now = time_ns();

	NET_EPOCH_ASSERT();

	for (int way = 0; way < PIPE_WAYS; way++) {
		pipe_serve(pi, &pi->pi_dir[way], now);
		(void)pipe_release(&pi->pi_dir[way], now);
	}
	pipe_schedule(pi, now);
}

/* Nothing to be done to packets, and none in front of them. */
static inline bool
pipe_is_open(const struct pipe *pi, const struct pipe_dir *pd)
{

	return (pd->pd_cfg.bandwidth == 0 && pi->pi_delay == 0 &&
	    pd->pd_cfg.ber == 0 && pd->pd_cfg.duplicate == 0 &&
	    pd->pd_active == NULL && pd->pd_delayed.pl_first == NULL);
}

static int
ng_pipe_rcvdata(hook_p hook, item_p item)
{
	struct pipe *pi = ng_node_private(ng_hook_node(hook));
	struct pipe_dir *pd = ng_hook_private(hook);
	uint64_t now;
	int error;

	NET_EPOCH_ASSERT();

	if (pd->pd_out == NULL)
		return (ng_fwd_item(item, NULL));
	if (pipe_is_open(pi, pd)) {
		ng_stat_add(&pd->pd_stat, PIPE_FWDOCTETS,
		    ng_item_octets(item));
		ng_stat_add(&pd->pd_stat, PIPE_FWDFRAMES, item->it_n);
		return (ng_fwd_item(item, pd->pd_out));
	}
	now = time_ns();
	for (unsigned int i = 0; i < item->it_n; i++) {
		pipe_serve(pi, pd, now);
		/* An idle line begins at once. */
		if (pd->pd_active == NULL && pd->pd_free < now)
			pd->pd_free = now;
		pipe_enqueue(pi, pd, item->it_m[i]);
	}
	pipe_serve(pi, pd, now);
	error = pipe_release(pd, now);
	pipe_schedule(pi, now);
	return (error);
}

/* ---- Life ---- */

static void
pipe_free(struct pipe *pi)
{

	for (int way = 0; way < PIPE_WAYS; way++)
		ng_stat_fini(&pi->pi_dir[way].pd_stat);
	free(pi);
}

static int
ng_pipe_constructor(node_p node)
{
	struct pipe *pi;
	struct pipe_dir *pd;

	if ((pi = calloc(1, sizeof(*pi))) == NULL)
		return (ENOMEM);
	for (int way = 0; way < PIPE_WAYS; way++) {
		pd = &pi->pi_dir[way];
		if (ng_stat_init(&pd->pd_stat, PIPE_STATS) != 0) {
			pipe_free(pi);
			return (ENOMEM);
		}
		pd->pd_cfg.fifo = pd->pd_cfg.droptail = 1;
		pd->pd_cfg.qin_size_limit = PIPE_QUEUELEN;
		pipe_list_init(&pd->pd_delayed);
		for (int i = 0; i < PIPE_FLOWS; i++)
			pipe_list_init(&pd->pd_flow[i].pf_list);
	}
	pi->pi_node = node;
	pi->pi_random = time_ns() | 1;
	/* Lines take a share of all packets, whatever they are told. */
	pi->pi_max = mbuf_nframes() / 8;
	callout_init(&pi->pi_callout, ng_node_vnet(node)->v_callouts,
	    CALLOUT_NET, ng_node_mtx(node));
	ng_node_set_private(node, pi);
	return (0);
}

static int
ng_pipe_newhook(node_p node, hook_p hook, const char *name)
{
	struct pipe *pi = ng_node_private(node);

	if (strcmp(name, NG_PIPE_HOOK_UPPER) == 0)
		ng_hook_set_private(hook, &pi->pi_dir[PIPE_DOWN]);
	else if (strcmp(name, NG_PIPE_HOOK_LOWER) == 0)
		ng_hook_set_private(hook, &pi->pi_dir[PIPE_UP]);
	else
		return (EINVAL);
	return (0);
}

/* The direction that ends at the hook: the other one than begins there. */
static struct pipe_dir *
pipe_dir_to(struct pipe *pi, hook_p hook)
{

	return (ng_hook_private(hook) == &pi->pi_dir[PIPE_DOWN] ?
	    &pi->pi_dir[PIPE_UP] : &pi->pi_dir[PIPE_DOWN]);
}

static int
ng_pipe_connect(hook_p hook)
{
	node_p node = ng_hook_node(hook);
	struct pipe *pi = ng_node_private(node);

	ng_node_lock(node);
	pipe_dir_to(pi, hook)->pd_out = hook;
	ng_node_unlock(node);
	return (0);
}

/* Drop what is on its way. */
static void
pipe_flush(struct pipe_dir *pd)
{

	while (pd->pd_active != NULL)
		m_freem(pipe_dequeue(pd));
	while (pd->pd_delayed.pl_first != NULL)
		m_freem(pipe_list_pop(&pd->pd_delayed));
	pd->pd_run.qout_frames = pd->pd_run.qout_octets = 0;
}

static void
ng_pipe_disconnect(hook_p hook)
{
	node_p node = ng_hook_node(hook);
	struct pipe *pi = ng_node_private(node);

	ng_node_lock(node);
	pipe_dir_to(pi, hook)->pd_out = NULL;
	for (int way = 0; way < PIPE_WAYS; way++)
		pipe_flush(&pi->pi_dir[way]);
	ng_node_unlock(node);
}

/* The neighbours are joined. */
static void
ng_pipe_close(node_p node)
{
	struct pipe *pi = ng_node_private(node);
	hook_p lower = pi->pi_dir[PIPE_DOWN].pd_out;
	hook_p upper = pi->pi_dir[PIPE_UP].pd_out;

	if (lower != NULL && upper != NULL)
		ng_bypass(upper, lower);
}

static void
ng_pipe_shutdown(node_p node)
{
	struct pipe *pi = ng_node_private(node);

	callout_drain(&pi->pi_callout);
	pipe_free(pi);
}

const struct ng_type ng_pipe_type = {
	.version = NG_ABI_VERSION,
	.flags = NGTF_EXCLUSIVE | NGTF_PERSISTENT,
	.name = NG_PIPE_NODE_TYPE,
	.constructor = ng_pipe_constructor,
	.rcvmsg = ng_pipe_rcvmsg,
	.close = ng_pipe_close,
	.shutdown = ng_pipe_shutdown,
	.newhook = ng_pipe_newhook,
	.connect = ng_pipe_connect,
	.rcvdata = ng_pipe_rcvdata,
	.disconnect = ng_pipe_disconnect,
	.cmdlist = ng_pipe_cmds,
};
