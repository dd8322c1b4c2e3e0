/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Control work: messages, and what is put off.
 *
 * All of it runs under the configuration lock, outside the epoch, between
 * ng_ctl_enter() and ng_ctl_exit() of some thread.  What a control method
 * causes but cannot have at once (a message to a node that is in a method
 * already, the removal of its own node, news for a busy neighbour) becomes a
 * job, and the outermost ng_ctl_exit() runs the jobs before it lets the lock
 * go: so whoever asks next sees all effects.  What arises without the lock,
 * in the epoch or on a thread of somebody else's, becomes a job as well, for
 * the thread that has the lock or else for a worker.
 *
 * Two nodes that answer each other for ever are bounded: of the jobs that are
 * messages, NG_MSGS_MAX run before the lock is given up, the rest is left to a
 * worker, and there are never more than net.graph.maxalloc of them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netepoch/epoch.h>

#include "ifnet/vnet.h"
#include "netgraph/ng_private.h"

#define	NG_MSGS_MAX	256

static struct ng_request *
ng_request_of(struct ng_request *rq, struct netgraph *ng, struct ng_mesg *msg,
    uint32_t from)
{

	rq->rq_graph = ng;
	rq->rq_msg = msg;
	rq->rq_from = from;
	rq->rq_to = 0;
	return (rq);
}

/* ---- Jobs ---- */

/* The calling thread is in control work: it will run the jobs itself. */
static bool
ng_ctl_here(const struct netgraph *ng)
{

	return (sx_xlocked(&vnet_config_sx) && ng->ng_depth != 0);
}

/* At the end of the queue; jb_node and jb_hook become references. */
static void
ng_job_append_locked(struct netgraph *ng, struct ng_job *jb)
{

	MTX_ASSERT(&ng->ng_qmtx);

	if (jb->jb_hook != NULL)
		ng_hook_ref(jb->jb_hook);
	if (jb->jb_node != NULL)
		ng_node_ref(jb->jb_node);
	jb->jb_next = NULL;
	*ng->ng_jobs_end = jb;
	ng->ng_jobs_end = &jb->jb_next;
}

/* See to it that somebody runs what was queued. */
static void
ng_job_kick(struct netgraph *ng)
{

	if (!ng_ctl_here(ng))
		taskqueue_enqueue(ng->ng_tq, &ng->ng_jobtask);
}

/* Queue jb, which is consumed.  ENOMEM: too many messages wait. */
static int
ng_job_add(struct netgraph *ng, struct ng_job *jb)
{

	if (jb->jb_ismsg && atomic_fetch_add_explicit(&ng->ng_njobs, 1,
	    memory_order_relaxed) >= (unsigned int)atomic_load_explicit(
	    &ng->ng_maxalloc, memory_order_relaxed)) {
		atomic_fetch_sub_explicit(&ng->ng_njobs, 1,
		    memory_order_relaxed);
		free(jb->jb_msg);
		free(jb);
		return (ENOMEM);
	}
	mtx_lock(&ng->ng_qmtx);
	ng_job_append_locked(ng, jb);
	mtx_unlock(&ng->ng_qmtx);
	ng_job_kick(ng);
	return (0);
}

/* Queue a job that is part of a hook or node, unless it is queued. */
static void
ng_job_add_part(struct netgraph *ng, struct ng_job *jb)
{

	mtx_lock(&ng->ng_qmtx);
	if (!jb->jb_queued) {
		jb->jb_queued = true;
		ng_job_append_locked(ng, jb);
	}
	mtx_unlock(&ng->ng_qmtx);
	ng_job_kick(ng);
}

static struct ng_job *
ng_job_next(struct netgraph *ng)
{
	struct ng_job *jb;

	mtx_lock(&ng->ng_qmtx);
	jb = ng->ng_jobs;
	if (jb != NULL) {
		ng->ng_jobs = jb->jb_next;
		if (jb->jb_next == NULL)
			ng->ng_jobs_end = &ng->ng_jobs;
		jb->jb_queued = false;
	}
	mtx_unlock(&ng->ng_qmtx);
	return (jb);
}

/* What is part of a hook or node may be queued again while it runs. */
static void
ng_job_run(struct netgraph *ng, struct ng_job *jb)
{
	node_p node = jb->jb_node;
	hook_p hook = jb->jb_hook;

	jb->jb_fn(ng, jb);
	if (!jb->jb_ispart) {
		free(jb->jb_msg);
		free(jb);
	}
	if (hook != NULL)
		ng_hook_rele(hook);
	if (node != NULL)
		ng_node_rele(node);
}

static void
ng_jobs_run(struct netgraph *ng)
{
	struct ng_job *jb;
	int msgs = 0;

	while (msgs < NG_MSGS_MAX && (jb = ng_job_next(ng)) != NULL) {
		if (jb->jb_ismsg) {
			msgs++;
			atomic_fetch_sub_explicit(&ng->ng_njobs, 1,
			    memory_order_relaxed);
		}
		ng_job_run(ng, jb);
	}
	if (msgs == NG_MSGS_MAX)
		taskqueue_enqueue(ng->ng_tq, &ng->ng_jobtask);
}

static void
ng_jobtask(void *arg, int pending)
{
	struct netgraph *ng = arg;

	(void)pending;
	ng_ctl_enter(ng->ng_vnet);
	ng_ctl_exit(ng->ng_vnet);
}

void
ng_jobs_init(struct netgraph *ng)
{

	ng->ng_jobs_end = &ng->ng_jobs;
	TASK_INIT(&ng->ng_jobtask, ng_jobtask, ng);
}

void
ng_ctl_enter(struct vnet *vnet)
{

	NET_EPOCH_ASSERT_NOT();

	VNET_CONFIG_LOCK(vnet);
	vnet->v_netgraph->ng_depth++;
}

void
ng_ctl_exit(struct vnet *vnet)
{
	struct netgraph *ng = vnet->v_netgraph;

	VNET_CONFIG_ASSERT(vnet);

	if (ng->ng_depth == 1)
		ng_jobs_run(ng);
	ng->ng_depth--;
	VNET_CONFIG_UNLOCK(vnet);
}

/* path: of a message, or NULL; it is copied. */
static struct ng_job *
ng_job_alloc(void (*fn)(struct netgraph *, struct ng_job *), node_p node,
    hook_p hook, const char *path)
{
	size_t len = path != NULL ? strlen(path) + 1 : 0;
	struct ng_job *jb;

	if ((jb = calloc(1, sizeof(*jb) + len)) == NULL)
		return (NULL);
	jb->jb_fn = fn;
	jb->jb_node = node;
	jb->jb_hook = hook;
	if (path != NULL)
		jb->jb_path = memcpy(jb + 1, path, len);
	return (jb);
}

/* ---- What is put off ---- */

static void
ng_job_ended_run(struct netgraph *ng, struct ng_job *jb)
{

	(void)ng;
	ng_hooks_ended(jb->jb_node);
}

/* The node is in a control method: tell it of its nd_ended afterwards. */
void
ng_job_ended(node_p node)
{

	ng_job_add_part(node->nd_graph, &node->nd_endjob);
}

static void
ng_job_rmnode_run(struct netgraph *ng, struct ng_job *jb)
{

	(void)ng;
	ng_node_destroy(jb->jb_node);
}

static void
ng_job_rmhook_run(struct netgraph *ng, struct ng_job *jb)
{

	(void)ng;
	ng_hook_destroy(jb->jb_hook);
}

static void
ng_job_fn_run(struct netgraph *ng, struct ng_job *jb)
{

	(void)ng;
	if (!ng_node_valid(jb->jb_node))
		return;
	jb->jb_node->nd_busy++;
	jb->jb_nodefn(jb->jb_node, jb->jb_arg);
	jb->jb_node->nd_busy--;
}

/* The rest is zero. */
void
ng_jobs_init_hook(hook_p hook)
{

	hook->hk_rmjob.jb_fn = ng_job_rmhook_run;
	hook->hk_rmjob.jb_hook = hook;
	hook->hk_rmjob.jb_ispart = true;
}

void
ng_jobs_init_node(node_p node)
{

	node->nd_rmjob.jb_fn = ng_job_rmnode_run;
	node->nd_endjob.jb_fn = ng_job_ended_run;
	node->nd_rmjob.jb_node = node->nd_endjob.jb_node = node;
	node->nd_rmjob.jb_ispart = node->nd_endjob.jb_ispart = true;
}

void
ng_rmnode_self(node_p node)
{

	ng_job_add_part(node->nd_graph, &node->nd_rmjob);
}

void
ng_rmhook_self(hook_p hook)
{

	ng_job_add_part(hook->hk_node->nd_graph, &hook->hk_rmjob);
}

int
ng_send_fn(node_p node, ng_fn_t *fn, void *arg)
{
	struct ng_job *jb;

	jb = ng_job_alloc(ng_job_fn_run, node, NULL, NULL);
	if (jb == NULL)
		return (ENOMEM);
	jb->jb_nodefn = fn;
	jb->jb_arg = arg;
	return (ng_job_add(node->nd_graph, jb));
}

/* ---- Messages ---- */

static void
ng_job_deliver_run(struct netgraph *ng, struct ng_job *jb)
{
	struct ng_request rq;

	(void)ng_deliver(jb->jb_node, ng_request_of(&rq, ng, jb->jb_msg,
	    jb->jb_from), jb->jb_hook);
}

/*
 * The node is in a method of its own.  The message is copied, since the sender
 * keeps it.
 */
static int
ng_deliver_later(node_p node, struct ng_request *rq, hook_p lasthook)
{
	size_t len = sizeof(*rq->rq_msg) + rq->rq_msg->header.arglen;
	struct ng_job *jb;

	jb = ng_job_alloc(ng_job_deliver_run, node, lasthook, NULL);
	if (jb == NULL)
		return (ENOMEM);
	if ((jb->jb_msg = malloc(len)) == NULL) {
		free(jb);
		return (ENOMEM);
	}
	memcpy(jb->jb_msg, rq->rq_msg, len);
	jb->jb_from = rq->rq_from;
	jb->jb_ismsg = true;
	return (ng_job_add(node->nd_graph, jb));
}

/* Does the base answer it?  Not responses, and not the text kind. */
static bool
ng_is_generic(const struct ng_mesg *msg)
{

	return (msg->header.typecookie == NGM_GENERIC_COOKIE &&
	    (msg->header.flags & NGF_RESP) == 0 &&
	    msg->header.cmd != NGM_TEXT_CONFIG &&
	    msg->header.cmd != NGM_TEXT_STATUS);
}

/*
 * Have node work on a message; the result is its method's.  lasthook: the
 * node's hook that it came by, or NULL.
 */
int
ng_deliver(node_p node, struct ng_request *rq, hook_p lasthook)
{
	ng_rcvmsg_t *fn;
	int error;

	VNET_CONFIG_ASSERT(node->nd_graph->ng_vnet);
	NET_EPOCH_ASSERT_NOT();

	if (!ng_node_valid(node))
		return (EINVAL);
	if (lasthook != NULL && !ng_hook_valid(lasthook))
		return (EINVAL);
	if (node->nd_busy != 0)
		return (ng_deliver_later(node, rq, lasthook));
	/* Only now: of a node that is gone the type may be, too. */
	fn = ng_type_of(node)->rcvmsg;
	if (lasthook != NULL && lasthook->hk_rcvmsg != NULL)
		fn = lasthook->hk_rcvmsg;
	rq->rq_to = node->nd_id;
	if (fn == NULL && !ng_is_generic(rq->rq_msg))
		return (rq->rq_msg->header.typecookie == NGM_GENERIC_COOKIE &&
		    (rq->rq_msg->header.flags & NGF_RESP) == 0 ? EINVAL : 0);
	ng_node_ref(node);
	if (ng_is_generic(rq->rq_msg))
		error = ng_generic(node, rq, lasthook);
	else {
		node->nd_busy++;
		error = fn(node, rq, lasthook);
		node->nd_busy--;
	}
	ng_node_rele(node);
	return (error);
}

struct ng_mesg *
ng_request_msg(const struct ng_request *rq)
{

	return (rq->rq_msg);
}

uint32_t
ng_request_from(const struct ng_request *rq)
{

	return (rq->rq_from);
}

struct ng_mesg *
ng_mkmessage(uint32_t cookie, uint32_t cmd, const void *arg, size_t len)
{
	struct ng_mesg *msg;

	if (len > UINT32_MAX - sizeof(*msg) ||
	    (msg = calloc(1, sizeof(*msg) + len)) == NULL)
		return (NULL);
	msg->header.version = NG_VERSION;
	msg->header.arglen = (uint32_t)len;
	msg->header.cmd = cmd;
	msg->header.typecookie = cookie;
	if (arg != NULL && len != 0)
		memcpy(msg->data, arg, len);
	return (msg);
}

int
ng_respond_later(struct vnet *vnet, uint32_t to, uint32_t from,
    const struct ng_msghdr *hdr, const void *arg, size_t len)
{
	struct netgraph *ng = vnet->v_netgraph;
	struct ng_request rq;
	struct ng_mesg *msg;
	node_p node;
	int error;

	VNET_CONFIG_ASSERT(vnet);

	node = ng_node_byid(ng, to);
	if (node == NULL)
		return (EINVAL);
	msg = ng_mkmessage(hdr->typecookie, hdr->cmd, arg, len);
	if (msg == NULL)
		return (ENOMEM);
	msg->header.flags = hdr->flags | NGF_RESP;
	msg->header.token = hdr->token;
	memcpy(msg->header.cmdstr, hdr->cmdstr, sizeof(msg->header.cmdstr));
	error = ng_deliver(node, ng_request_of(&rq, ng, msg, from), NULL);
	free(msg);
	return (error);
}

int
ng_respond(struct ng_request *rq, const void *arg, size_t len)
{

	return (ng_respond_later(rq->rq_graph->ng_vnet, rq->rq_from,
	    rq->rq_to, &rq->rq_msg->header, arg, len));
}

/* ---- Sending ---- */

/* In control work, at once. */
static int
ng_send_now(struct netgraph *ng, node_p from, struct ng_mesg *msg,
    const char *path, hook_p hook)
{
	char copy[NG_PATHSIZ];
	struct ng_request rq;
	node_p node;
	hook_p last;
	int error;

	if (hook != NULL) {
		last = ng_hook_peer(hook);
		if (last == NULL || !ng_hook_valid(hook))
			return (ENOTCONN);
		node = last->hk_node;
	} else {
		if (strnlen(path, sizeof(copy)) == sizeof(copy))
			return (EINVAL);
		strcpy(copy, path);
		error = ng_path2node(ng, from, copy, &node, &last);
		if (error != 0)
			return (error);
	}
	return (ng_deliver(node, ng_request_of(&rq, ng, msg, from->nd_id),
	    last));
}

static void
ng_job_send_run(struct netgraph *ng, struct ng_job *jb)
{

	(void)ng_send_now(ng, jb->jb_node, jb->jb_msg,
	    jb->jb_hook == NULL ? jb->jb_path : NULL, jb->jb_hook);
}

/* Consumes msg. */
static int
ng_send(node_p from, struct ng_mesg *msg, const char *path, hook_p hook)
{
	struct netgraph *ng = from->nd_graph;
	struct ng_job *jb;
	int error;

	/* Control work may have entered the epoch, by ng_net_run(). */
	if (ng_ctl_here(ng) && in_epoch(net_epoch_preempt) == 0) {
		error = ng_send_now(ng, from, msg, path, hook);
		free(msg);
		return (error);
	}
	jb = ng_job_alloc(ng_job_send_run, from, hook, path);
	if (jb == NULL) {
		free(msg);
		return (ENOMEM);
	}
	jb->jb_msg = msg;
	jb->jb_ismsg = true;
	return (ng_job_add(ng, jb));
}

int
ng_send_msg_path(node_p from, struct ng_mesg *msg, const char *path)
{

	return (ng_send(from, msg, path, NULL));
}

int
ng_send_msg_hook(node_p from, struct ng_mesg *msg, hook_p hook)
{

	if (hook == NULL) {
		free(msg);
		return (ENOTCONN);
	}
	return (ng_send(from, msg, NULL, hook));
}

int
ng_send_flow(node_p from, hook_p hook, uint32_t cmd)
{
	struct ng_mesg *msg;

	msg = ng_mkmessage(NGM_FLOW_COOKIE, cmd, NULL, 0);
	if (msg == NULL)
		return (ENOMEM);
	return (ng_send_msg_hook(from, msg, hook));
}
