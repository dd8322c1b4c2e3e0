/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A machine's graph comes and goes: workers, tunables, counters, interface
 * events.
 *
 * Set-up and end, on the thread that starts and stops the machine; nothing of
 * it is on a packet's way.
 */
#include <errno.h>
#include <stdlib.h>

#include "ifnet/vnet.h"
#include "intr/intr_var.h"
#include "netgraph/ng_private.h"
#include "netgraph/ng_var.h"
#include "sys/sysctl.h"

#define	NG_MAXDATA	4096		/* packets */
#define	NG_MAXALLOC	4096		/* messages */
#define	NG_RECVSPACE	20480		/* bytes */
#define	NG_MAXDGRAM	20480		/* bytes */

static uint64_t
ng_sysctl_threads(void *arg)
{
	struct netgraph *ng = arg;

	return ((uint64_t)intr_domain_ncpus(ng->ng_vnet->v_intr));
}

static uint64_t
ng_sysctl_nodes(void *arg)
{
	struct netgraph *ng = arg;
	uint64_t n;

	VNET_CONFIG_LOCK(ng->ng_vnet);
	n = ng->ng_nnodes;
	VNET_CONFIG_UNLOCK(ng->ng_vnet);
	return (n);
}

static uint64_t
ng_sysctl_queued(void *arg)
{
	struct netgraph *ng = arg;

	return (atomic_load_explicit(&ng->ng_queued, memory_order_relaxed));
}

static uint64_t
ng_sysctl_constant(void *arg)
{

	return ((uint64_t)(uintptr_t)arg);
}

static const struct {
	const char	*name;
	uintptr_t	 value;
	const char	*descr;
} constants[] = {
	{ "net.graph.abi_version", 12, "netgraph ABI that is modelled" },
	{ "net.graph.msg_version", NG_VERSION, "version of messages" },
	{ "net.graph.family", 32, "protocol family of netgraph sockets" },
	{ "net.graph.control.proto", 2, "protocol of control sockets" },
	{ "net.graph.data.proto", 1, "protocol of data sockets" },
};

static const struct {
	const char	*name;
	const char	*descr;
} drops[NGD_COUNT] = {
	[NGD_NOHOOK] = { "net.graph.drops.no_hook",
	    "packets that had no hook to leave by" },
	[NGD_DEADHOOK] = { "net.graph.drops.dead_hook",
	    "packets into a hook whose peer had gone" },
	[NGD_DEADNODE] = { "net.graph.drops.dead_node",
	    "packets for a node that was shutting down" },
	[NGD_QUEUE] = { "net.graph.drops.queue_full",
	    "packets lost since net.graph.maxdata waited already" },
	[NGD_NOMBUF] = { "net.graph.drops.no_mbuf",
	    "copies not made, out of packet buffers" },
	[NGD_RECVFULL] = { "net.graph.drops.recv_full",
	    "packets for a program that does not read them" },
};

static int
ng_sysctl_attach(struct netgraph *ng)
{
	struct sysctl_tree *tree = ng->ng_vnet->v_sysctl;
	int error;

	error = sysctl_add_int(tree, "net.graph.maxdata", CTLFLAG_RW,
	    &ng->ng_maxdata, 1, 1 << 20, "packets that may wait in queues");
	if (error == 0)
		error = sysctl_add_int(tree, "net.graph.maxalloc", CTLFLAG_RW,
		    &ng->ng_maxalloc, 1, 1 << 20,
		    "messages that may wait for their node");
	if (error == 0)
		error = sysctl_add_int(tree, "net.graph.recvspace",
		    CTLFLAG_RW, &ng->ng_recvspace, 2048, 1 << 20,
		    "bytes that a socket node's receive buffers hold");
	if (error == 0)
		error = sysctl_add_int(tree, "net.graph.maxdgram", CTLFLAG_RW,
		    &ng->ng_maxdgram, 2048, 1 << 20,
		    "bytes of the largest packet from a socket node");
	if (error == 0)
		error = sysctl_add_u64(tree, "net.graph.threads",
		    ng_sysctl_threads, ng, "worker threads");
	if (error == 0)
		error = sysctl_add_u64(tree, "net.graph.nodes",
		    ng_sysctl_nodes, ng, "nodes there are");
	if (error == 0)
		error = sysctl_add_u64(tree, "net.graph.queued",
		    ng_sysctl_queued, ng, "packets that wait in queues");
	for (size_t i = 0; error == 0 && i < nitems(constants); i++)
		error = sysctl_add_u64(tree, constants[i].name,
		    ng_sysctl_constant, (void *)constants[i].value,
		    constants[i].descr);
	for (unsigned int i = 0; error == 0 && i < NGD_COUNT; i++)
		error = sysctl_add_counter(tree, drops[i].name, CTLFLAG_RD,
		    ng->ng_drops + i, drops[i].descr);
	return (error);
}

/* Pass an interface's news on to the types that want it. */
static int
ng_ifevent(void *arg, struct ifnet *ifp, enum if_event ev, struct ifaddr *ifa)
{
	struct netgraph *ng = arg;
	struct ng_typereg *tr;

	(void)ifa;
	ng_ctl_enter(ng->ng_vnet);
	CK_STAILQ_FOREACH(tr, &ng->ng_types, tr_link)
		if (tr->tr_type->ifevent != NULL)
			(void)tr->tr_type->ifevent(ng->ng_vnet, ifp,
			    (int)ev);
	ng_ctl_exit(ng->ng_vnet);
	return (0);
}

int
ng_vnet_init(struct vnet *vnet)
{
	struct netgraph *ng;
	int error = ENOMEM;

	if ((ng = calloc(1, sizeof(*ng))) == NULL)
		return (error);
	ng->ng_vnet = vnet;
	atomic_init(&ng->ng_maxdata, NG_MAXDATA);
	atomic_init(&ng->ng_maxalloc, NG_MAXALLOC);
	atomic_init(&ng->ng_recvspace, NG_RECVSPACE);
	atomic_init(&ng->ng_maxdgram, NG_MAXDGRAM);
	TAILQ_INIT(&ng->ng_nodes);
	CK_STAILQ_INIT(&ng->ng_types);
	mtx_init(&ng->ng_qmtx, "netgraph queues");
	ng_jobs_init(ng);
	error = counter_alloc(NGD_COUNT, &ng->ng_drops);
	if (error != 0)
		goto free_graph;
	error = taskqueue_create("ng_queue", intr_domain_ncpus(vnet->v_intr),
	    &ng->ng_tq);
	if (error != 0)
		goto free_counters;
	error = ng_sysctl_attach(ng);
	if (error != 0)
		goto free_tq;
	vnet->v_netgraph = ng;
	if_event_register(vnet, ng_ifevent, ng);
	return (0);
free_tq:
	taskqueue_free(ng->ng_tq);
free_counters:
	counter_free(ng->ng_drops, NGD_COUNT);
free_graph:
	mtx_destroy(&ng->ng_qmtx);
	free(ng);
	return (error);
}

void
ng_vnet_shutdown(struct vnet *vnet)
{
	struct netgraph *ng = vnet->v_netgraph;
	node_p node;

	ng_ctl_enter(vnet);
	while ((node = TAILQ_FIRST(&ng->ng_nodes)) != NULL) {
		ng_node_set_must_die(node);
		ng_node_destroy(node);
	}
	ng_ctl_exit(vnet);
}

void
ng_vnet_fini(struct vnet *vnet)
{
	struct netgraph *ng = vnet->v_netgraph;
	struct ng_typereg *tr;

	ng_vnet_shutdown(vnet);
	/* Runs what is queued: packets of hooks that are gone, late jobs. */
	taskqueue_free(ng->ng_tq);
	ng_ctl_enter(vnet);
	while ((tr = CK_STAILQ_FIRST(&ng->ng_types)) != NULL) {
		if (tr->tr_type->detach != NULL)
			tr->tr_type->detach(vnet);
		CK_STAILQ_REMOVE_HEAD(&ng->ng_types, tr_link);
		free(tr);
	}
	ng_ctl_exit(vnet);
	NET_EPOCH_DRAIN_CALLBACKS();
	vnet->v_netgraph = NULL;
	counter_free(ng->ng_drops, NGD_COUNT);
	mtx_destroy(&ng->ng_qmtx);
	free(ng);
}
