/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The pipe's own structures; ng_pipe.c says how they are used.  Its messages
 * are in ng_pipe_msg.c, their text in ng_pipe_text.c.
 */
#ifndef _NETGRAPH_NODES_NG_PIPE_PRIVATE_H_
#define	_NETGRAPH_NODES_NG_PIPE_PRIVATE_H_

#include <netgraph/ng_pipe.h>

#include <netepoch/mbuf.h>
#include <netgraph/netgraph.h>

#include "intr/callout.h"
#include "netgraph/nodes/ng_stat.h"

#define	PIPE_FLOWS	256

/* The order of struct ng_pipe_hookstat. */
enum { PIPE_FWDOCTETS, PIPE_FWDFRAMES, PIPE_INOCTETS, PIPE_INFRAMES,
	PIPE_OUTOCTETS, PIPE_OUTFRAMES, PIPE_STATS };

enum pipe_way { PIPE_DOWN, PIPE_UP, PIPE_WAYS };

/* Packets by m_nextpkt. */
struct pipe_list {
	struct mbuf	*pl_first;
	struct mbuf	**pl_end;
};

struct pipe_flow {
	struct pipe_list pf_list;	/* m_stamp is the finishing tag */
	struct pipe_flow *pf_next;	/* of those with packets */
	uint32_t	 pf_frames;
	uint32_t	 pf_deficit;	/* bytes (drr) */
	uint64_t	 pf_tag;	/* of its newest packet (wfq) */
};

struct pipe_dir {
	struct ng_pipe_hookcfg pd_cfg;
	struct ng_pipe_hookrun pd_run;
	hook_p		 pd_out;	/* where it leads, or NULL */
	uint64_t	 pd_free;	/* ns: the line is through with all
					   that it has begun */
	uint64_t	 pd_vtime;	/* tag of what it began last */
	struct pipe_flow *pd_active;	/* flows with packets, in turn */
	struct pipe_list pd_delayed;	/* m_stamp is the time of release */
	struct ng_stat	 pd_stat;
	struct pipe_flow pd_flow[PIPE_FLOWS];
};

/* All of it under the node's lock. */
struct pipe {
	node_p		 pi_node;
	uint64_t	 pi_delay;	/* us */
	uint32_t	 pi_header_offset;
	uint32_t	 pi_overhead;	/* bytes */
	uint32_t	 pi_max;	/* packets, where nothing else limits */
	uint64_t	 pi_random;
	struct callout	 pi_callout;
	struct pipe_dir	 pi_dir[PIPE_WAYS];
};

/* Wake up when the next packet is due, in either direction. */
void	pipe_schedule(struct pipe *pi, uint64_t now);

/* ng_pipe_msg.c, ng_pipe_text.c */
ng_rcvmsg_t ng_pipe_rcvmsg;
extern const struct ng_cmdlist ng_pipe_cmds[];

#endif /* _NETGRAPH_NODES_NG_PIPE_PRIVATE_H_ */
