/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The base's own structures.
 *
 * Keys: c is the configuration lock (ifnet/vnet.h), under which all control
 * work runs; q is the graph's ng_qmtx; e is the net epoch; r, o, a as in
 * docs/architecture.md.  Lock order: c, then a node's nd_mtx, then q.
 *
 * References: a node has one for being alive, one for each hook, and one for
 * each job, queued packet or task that means it.  A hook has one for being
 * connected, until its node has been told of its end, and one for each job or
 * queued packet.  The last one frees a grace
 * period later, so that whoever found the object in the epoch may finish.
 */
#ifndef _NETGRAPH_NG_PRIVATE_H_
#define	_NETGRAPH_NG_PRIVATE_H_

#include <sys/queue.h>

#include <ck_queue.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <netepoch/epoch.h>
#include <netgraph/netgraph.h>

#include "intr/taskqueue.h"
#include "sys/counter.h"
#include "sys/lock.h"

#define	NG_HASH_NODES	4096		/* buckets, by ID and by name */
#define	NG_HASH_HOOKS	16384		/* buckets, by node and name */
#define	NG_DEPTH_MAX	16		/* nested deliveries, then a worker */
#define	NG_HOPS_MAX	16384		/* deliveries that one may cause, then too */
#define	NG_DRAIN_MAX	64		/* items a worker takes at a time */

/* nd_flags and hk_flags share their bits: the data path ors them. */
#define	NGF_INVALID	0x01	/* hook: unlinked; node: dying */
#define	NGF_QUEUED	0x02	/* node: packets wait, others line up */
#define	NGF_EXCLUSIVE	0x04	/* node: take nd_mtx */
#define	NGF_FORCEQ	0x08	/* hook: always by a worker */
#define	NGF_INBOUND	0x10	/* hook: by a worker when from output */
#define	NGF_SLOW	0x1f	/* any of these: look closer; INBOUND
				   only on the way out of the stack */
#define	NGF_CLOSING	0x100	/* node: shutdown has begun */
#define	NGF_MUSTDIE	0x200	/* node: may not be revived */
#define	NGF_PERSIST	0x400	/* node: stays without hooks */
#define	NGF_SPLICED	0x800	/* hook: its peer is somebody else's now */

/*
 * Control work put off.  What ends a hook or a node may not fail, and needs no
 * memory: its job is part of it, and is queued once at a time.
 */
struct ng_job {
	struct ng_job	*jb_next;	/* (q) */
	void		(*jb_fn)(struct netgraph *ng, struct ng_job *jb);
	node_p		 jb_node;	/* holds a reference, or NULL */
	hook_p		 jb_hook;	/* holds a reference, or NULL */
	struct ng_mesg	*jb_msg;	/* ours, or NULL */
	ng_fn_t		*jb_nodefn;
	void		*jb_arg;
	const char	*jb_path;	/* of a message */
	uint32_t	 jb_from;
	bool		 jb_ismsg;	/* may go on for ever */
	bool		 jb_ispart;	/* (c) constant: is not freed */
	bool		 jb_queued;	/* (q) of those that are parts */
};

struct ng_hook {
	_Atomic(hook_p)	 hk_peer;	/* (e/c) NULL: none any more */
	_Atomic(ng_rcvdata_t *) hk_rcvdata; /* (a) relaxed; never NULL */
	node_p		 hk_node;	/* (c) holds a reference */
	_Atomic uint32_t hk_flags;	/* (a) relaxed; writers hold c */
	_Atomic(void *)	 hk_private;	/* (a) acquire/release: the type's */
	ng_rcvmsg_t	*hk_rcvmsg;	/* (c) or NULL */
	char		 hk_name[NG_HOOKSIZ]; /* (c) constant after newhook */
	CK_LIST_ENTRY(ng_hook) hk_link;	/* (c) nd_hooks */
	CK_LIST_ENTRY(ng_hook) hk_hash;	/* (e/c) ng_hookhash */
	struct ng_hook	*hk_dead;	/* (c) next that ended with it */
	TAILQ_ENTRY(ng_hook) hk_ended;	/* (c) nd_ended */
	struct ng_job	 hk_rmjob;	/* to remove it */
	_Atomic unsigned int hk_refs;	/* (r) */
	struct epoch_context hk_ctx;	/* (o) */
};

/* Packets that wait for a worker. */
struct ng_queued {
	struct ng_queued *qd_next;	/* (q) */
	hook_p		 qd_hook;	/* (c) receives; holds a reference */
	unsigned int	 qd_n;
	struct mbuf	*qd_m[];
};

struct ng_node {
	_Atomic uint32_t nd_flags;	/* (a) relaxed; QUEUED under q, the
					   others under c */
	uint32_t	 nd_id;		/* (c) constant */
	_Atomic(void *)	 nd_private;	/* (a) acquire/release: the type's */
	struct netgraph	*nd_graph;	/* (c) constant */
	counter_t	 nd_packets;	/* (c) that data methods were given */
	unsigned int	 nd_busy;	/* (c) control methods on the stack */
	struct ng_typereg *nd_type;	/* (c) constant */
	struct mtx	 nd_mtx;	/* of NGTF_EXCLUSIVE types */
	char		 nd_name[NG_NODESIZ]; /* (c) */
	unsigned int	 nd_numhooks;	/* (c) */
	CK_LIST_HEAD(, ng_hook) nd_hooks; /* (c) newest first */
	TAILQ_HEAD(, ng_hook) nd_ended;	/* (c) to be told of, oldest first */
	TAILQ_ENTRY(ng_node) nd_link;	/* (c) ng_nodes */
	CK_LIST_ENTRY(ng_node) nd_idhash; /* (c) */
	CK_LIST_ENTRY(ng_node) nd_namehash; /* (c) */
	struct ng_queued *nd_queue;	/* (q) */
	struct ng_queued **nd_queue_end; /* (q) */
	struct task	 nd_task;	/* drains the queue */
	struct ng_job	 nd_rmjob;	/* to shut it down */
	struct ng_job	 nd_endjob;	/* to tell it of nd_ended */
	_Atomic unsigned int nd_refs;	/* (r) */
	struct epoch_context nd_ctx;	/* (o) */
};

/* A type known to a graph. */
struct ng_typereg {
	const struct ng_type *tr_type;	/* (c) constant */
	unsigned int	 tr_nodes;	/* (c) */
	void		*tr_module;	/* (c) the loader's, or NULL */
	CK_STAILQ_ENTRY(ng_typereg) tr_link; /* (c) newest first */
};

struct ng_request {
	struct netgraph	*rq_graph;
	struct ng_mesg	*rq_msg;
	uint32_t	 rq_from;	/* ID, 0: nobody */
	uint32_t	 rq_to;		/* ID of the node that works on it */
};

/* Why the base dropped packets. */
enum ng_drop { NGD_NOHOOK, NGD_DEADHOOK, NGD_DEADNODE, NGD_QUEUE, NGD_NOMBUF,
	NGD_RECVFULL, NGD_COUNT };

struct netgraph {
	struct vnet	*ng_vnet;	/* (c) constant */
	struct taskqueue *ng_tq;	/* (c) constant: the workers */
	counter_t	 ng_drops;	/* (c) NGD_COUNT cells */
	uint32_t	 ng_nextid;	/* (c) */
	unsigned int	 ng_nnodes;	/* (c) */
	unsigned int	 ng_depth;	/* (c) nested ng_ctl_enter()s */
	int		(*ng_loader)(struct vnet *vnet, const char *module);
	TAILQ_HEAD(, ng_node) ng_nodes; /* (c) oldest first */
	CK_STAILQ_HEAD(, ng_typereg) ng_types; /* (c) newest first */
	struct mtx	 ng_qmtx;
	struct ng_job	*ng_jobs;	/* (q) */
	struct ng_job	**ng_jobs_end;	/* (q) */
	struct task	 ng_jobtask;	/* runs jobs that nobody else will */
	_Atomic unsigned int ng_queued;	/* (a) relaxed: packets in queues */
	_Atomic int	 ng_maxdata;	/* (a) relaxed: sysctl */
	_Atomic int	 ng_maxalloc;	/* (a) relaxed: sysctl */
	_Atomic int	 ng_recvspace;	/* (a) relaxed: sysctl */
	_Atomic int	 ng_maxdgram;	/* (a) relaxed: sysctl */
	_Atomic unsigned int ng_njobs;	/* (a) relaxed */
	CK_LIST_HEAD(, ng_node) ng_idhash[NG_HASH_NODES]; /* (c) */
	CK_LIST_HEAD(, ng_node) ng_namehash[NG_HASH_NODES]; /* (c) */
	CK_LIST_HEAD(, ng_hook) ng_hookhash[NG_HASH_HOOKS]; /* (e/c) */
};

/* ng_base.c */
struct ng_typereg *ng_type_find(struct netgraph *ng, const char *name);
node_p	ng_node_alloc(struct netgraph *ng, struct ng_typereg *tr, int *error);
void	ng_node_destroy(node_p node);	/* control */
node_p	ng_node_byid(struct netgraph *ng, uint32_t id);
node_p	ng_node_byname(struct netgraph *ng, const char *name);
void	ng_node_ref(node_p node);
void	ng_node_rele(node_p node);
/*
 * The node at path, seen from here (NULL: nobody), and its hook by which the
 * path came in (NULL: by name or here itself).  path may be cut up.
 */
int	ng_path2node(struct netgraph *ng, node_p here, char *path,
	    node_p *nodep, hook_p *lasthookp);
int	ng_type_get(struct netgraph *ng, const char *name, bool load,
	    struct ng_typereg **trp);

/* ng_hook.c */
int	ng_connect_nodes(node_p one, const char *hook1, node_p two,
	    const char *hook2);
void	ng_hook_destroy(hook_p hook);
void	ng_hooks_destroy(node_p node);	/* all of a node */
void	ng_hooks_ended(node_p node);	/* tell it of nd_ended */
void	ng_hook_ref(hook_p hook);
void	ng_hook_rele(hook_p hook);

/* ng_ctl.c */
void	ng_jobs_init(struct netgraph *ng);
void	ng_jobs_init_hook(hook_p hook);
void	ng_jobs_init_node(node_p node);
void	ng_job_ended(node_p node);
int	ng_deliver(node_p node, struct ng_request *rq, hook_p lasthook);

/* ng_generic.c */
int	ng_generic(node_p node, struct ng_request *rq, hook_p lasthook);

/* ng_data.c */
void	ng_queue_init(node_p node);
int	ng_item_drop(struct netgraph *ng, item_p it, enum ng_drop why);

static inline uint32_t
ng_flags(_Atomic uint32_t *flags)
{

	return (atomic_load_explicit(flags, memory_order_relaxed));
}

static inline const struct ng_type *
ng_type_of(node_p node)
{

	return (node->nd_type->tr_type);
}

#endif /* _NETGRAPH_NG_PRIVATE_H_ */
