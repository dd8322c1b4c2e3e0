/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * pipe: control messages.  Control work, outside the epoch; what data methods
 * see is written under the node's lock.
 */
#include <netgraph/ng_pipe.h>

#include <errno.h>
#include <string.h>

#include "netgraph/nodes/ng_pipe_private.h"
#include "sys/thread.h"

#define	PIPE_LEN_MIN	5		/* the least to configure */
#define	PIPE_QUANTUM	2048		/* bytes of drr */
#define	PIPE_QUANTUM_MIN 32
#define	PIPE_BW_MIN	100		/* bit/s */
#define	PIPE_BW_MAX	UINT64_C(1000000000)
#define	PIPE_DELAY_MAX	UINT64_C(9999999)	/* us */
#define	PIPE_BER_MAX	UINT64_C(1000000000000)

/* ---- Configuration ---- */

/* A value of a request: 0 is none, -1 is 0; others are in range, or none. */
static void
pipe_set64(uint64_t *to, uint64_t value, uint64_t min, uint64_t max)
{

	if (value == UINT64_MAX)
		*to = 0;
	else if (value != 0 && value >= min && value <= max)
		*to = value;
}

static void
pipe_set32(uint32_t *to, uint32_t value, uint32_t min, uint32_t max)
{

	if (value == UINT32_MAX)
		*to = 0;
	else if (value != 0 && value >= min && value <= max)
		*to = value;
}

static void
pipe_set_dir(struct pipe_dir *pd, const struct ng_pipe_hookcfg *new)
{
	struct ng_pipe_hookcfg *cfg = &pd->pd_cfg;

	pipe_set64(&cfg->bandwidth, new->bandwidth, PIPE_BW_MIN, PIPE_BW_MAX);
	pipe_set64(&cfg->ber, new->ber, 1, PIPE_BER_MAX);
	pipe_set32(&cfg->qin_size_limit, new->qin_size_limit, PIPE_LEN_MIN,
	    UINT32_MAX);
	pipe_set32(&cfg->qout_size_limit, new->qout_size_limit, PIPE_LEN_MIN,
	    UINT32_MAX);
	pipe_set32(&cfg->duplicate, new->duplicate, 1, 50);
	if (new->fifo != 0 || new->drr != 0 || new->wfq != 0)
		cfg->fifo = cfg->drr = cfg->wfq = 0;
	if (new->fifo != 0)
		cfg->fifo = 1;
	else if (new->drr != 0)
		cfg->drr = new->drr >= PIPE_QUANTUM_MIN &&
		    new->drr <= INT32_MAX ? new->drr : PIPE_QUANTUM;
	else if (new->wfq != 0)
		cfg->wfq = 1;
	if (new->droptail != 0 || new->drophead != 0) {
		cfg->droptail = new->droptail != 0;
		cfg->drophead = new->droptail == 0;
	}
}

static void
pipe_set_common(struct pipe *pi, const struct ng_pipe_cfg *new)
{
	uint64_t bw = pi->pi_dir[PIPE_DOWN].pd_cfg.bandwidth;

	if (new->bandwidth == UINT64_MAX || (new->bandwidth >= PIPE_BW_MIN &&
	    new->bandwidth <= PIPE_BW_MAX)) {
		pipe_set64(&bw, new->bandwidth, PIPE_BW_MIN, PIPE_BW_MAX);
		for (int way = 0; way < PIPE_WAYS; way++)
			pi->pi_dir[way].pd_cfg.bandwidth = bw;
		/* What Ethernet and HDLC put around a frame. */
		pi->pi_overhead = bw == 0 ? 0 : bw >= 10000000 ? 24 : 10;
	}
	pipe_set64(&pi->pi_delay, new->delay, 1, PIPE_DELAY_MAX);
	pipe_set32(&pi->pi_header_offset, new->header_offset, 1, 63);
	pipe_set32(&pi->pi_overhead, new->overhead, 1, 255);
}

/* One direction's line is down. */
static bool
pipe_is_down(const struct pipe *pi)
{

	return (pi->pi_dir[PIPE_DOWN].pd_cfg.ber == 1 ||
	    pi->pi_dir[PIPE_UP].pd_cfg.ber == 1);
}

/* What is on its way is not kept longer than a packet of now would be. */
static void
pipe_hasten(struct pipe *pi, uint64_t now)
{
	struct pipe_dir *pd;
	struct mbuf *m;

	for (int way = 0; way < PIPE_WAYS; way++) {
		pd = &pi->pi_dir[way];
		if (pd->pd_free > now)
			pd->pd_free = now;
		for (m = pd->pd_delayed.pl_first; m != NULL; m = m->m_nextpkt)
			if (m->m_stamp > now + pi->pi_delay * 1000)
				m->m_stamp = now + pi->pi_delay * 1000;
	}
	pipe_schedule(pi, now);
}

static int
pipe_setcfg(node_p node, const struct ng_mesg *msg)
{
	struct pipe *pi = ng_node_private(node);
	struct ng_pipe_cfg cfg;
	bool before, down;
	hook_p out;

	if (msg->header.arglen != sizeof(cfg))
		return (EINVAL);
	memcpy(&cfg, msg->data, sizeof(cfg));
	ng_node_lock(node);
	before = pipe_is_down(pi);
	pipe_set_common(pi, &cfg);
	pipe_set_dir(&pi->pi_dir[PIPE_DOWN], &cfg.downstream);
	pipe_set_dir(&pi->pi_dir[PIPE_UP], &cfg.upstream);
	down = pipe_is_down(pi);
	pipe_hasten(pi, time_ns());
	ng_node_unlock(node);
	for (int way = 0; way < PIPE_WAYS && before != down; way++)
		if ((out = pi->pi_dir[way].pd_out) != NULL)
			(void)ng_send_flow(node, out, down ?
			    NGM_LINK_IS_DOWN : NGM_LINK_IS_UP);
	return (0);
}

static int
pipe_getcfg(node_p node, struct ng_request *rq)
{
	struct pipe *pi = ng_node_private(node);
	struct ng_pipe_cfg cfg = { 0 };

	ng_node_lock(node);
	cfg.delay = pi->pi_delay;
	cfg.header_offset = pi->pi_header_offset;
	cfg.overhead = pi->pi_overhead;
	cfg.downstream = pi->pi_dir[PIPE_DOWN].pd_cfg;
	cfg.upstream = pi->pi_dir[PIPE_UP].pd_cfg;
	ng_node_unlock(node);
	if (cfg.downstream.bandwidth == cfg.upstream.bandwidth)
		cfg.bandwidth = cfg.downstream.bandwidth;
	return (ng_respond(rq, &cfg, sizeof(cfg)));
}

static int
pipe_getrun(node_p node, struct ng_request *rq)
{
	struct pipe *pi = ng_node_private(node);
	struct ng_pipe_run run;

	ng_node_lock(node);
	run.downstream = pi->pi_dir[PIPE_DOWN].pd_run;
	run.upstream = pi->pi_dir[PIPE_UP].pd_run;
	ng_node_unlock(node);
	return (ng_respond(rq, &run, sizeof(run)));
}

static int
pipe_stats(node_p node, struct ng_request *rq)
{
	struct pipe *pi = ng_node_private(node);
	uint32_t cmd = ng_request_msg(rq)->header.cmd;
	uint64_t st[PIPE_WAYS][PIPE_STATS];

	for (int way = 0; way < PIPE_WAYS; way++)
		ng_stat_read(&pi->pi_dir[way].pd_stat, st[way],
		    cmd != NGM_PIPE_GET_STATS);
	return (cmd == NGM_PIPE_CLR_STATS ? 0 :
	    ng_respond(rq, st, sizeof(st)));
}

int
ng_pipe_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	const struct ng_mesg *msg = ng_request_msg(rq);

	(void)lasthook;
	if (msg->header.typecookie != NGM_PIPE_COOKIE)
		return (EINVAL);
	if (msg->header.cmd == NGM_PIPE_SET_CFG)
		return (pipe_setcfg(node, msg));
	if (msg->header.arglen != 0)
		return (EINVAL);
	switch (msg->header.cmd) {
	case NGM_PIPE_GET_STATS:
	case NGM_PIPE_CLR_STATS:
	case NGM_PIPE_GETCLR_STATS:
		return (pipe_stats(node, rq));
	case NGM_PIPE_GET_RUN:
		return (pipe_getrun(node, rq));
	case NGM_PIPE_GET_CFG:
		return (pipe_getcfg(node, rq));
	default:
		return (EINVAL);
	}
}
