/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Hooks: made in pairs, and gone in pairs.
 *
 * Control work, under the configuration lock, but for the references and
 * ng_findhook(), which also serve data.  The end of a hook has three steps:
 * unlink both ends, wait for the epoch, tell both nodes; a node that is in one
 * of its control methods is told when that is over.  Waiting under the
 * configuration lock is allowed: no reader takes it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ifnet/vnet.h"
#include "netgraph/ng_private.h"

/* ---- References ---- */

static void
ng_hook_free_cb(epoch_context_t ctx)
{
	hook_p hook = __containerof(ctx, struct ng_hook, hk_ctx);

	free(hook);
}

void
ng_hook_ref(hook_p hook)
{
	unsigned int refs;

	refs = atomic_fetch_add_explicit(&hook->hk_refs, 1,
	    memory_order_relaxed);
	KASSERT(refs != 0, "%s: reference taken from zero", hook->hk_name);
	(void)refs;
}

void
ng_hook_rele(hook_p hook)
{
	unsigned int refs;

	refs = atomic_fetch_sub_explicit(&hook->hk_refs, 1,
	    memory_order_acq_rel);
	KASSERT(refs != 0, "%s: released below zero", hook->hk_name);
	if (refs == 1) {
		ng_node_rele(hook->hk_node);
		NET_EPOCH_CALL(ng_hook_free_cb, &hook->hk_ctx);
	}
}

/* ---- Looking up ---- */

static unsigned int
ng_hook_bucket(node_p node, const char *name)
{
	uint32_t h = node->nd_id * UINT32_C(2654435761);

	for (; *name != '\0'; name++)
		h = (h ^ (unsigned char)*name) * UINT32_C(16777619);
	return ((h ^ h >> 15) % NG_HASH_HOOKS);
}

/* In the epoch, or with the configuration lock held. */
hook_p
ng_findhook(node_p node, const char *name)
{
	struct netgraph *ng = node->nd_graph;
	hook_p hook;

	CK_LIST_FOREACH(hook, &ng->ng_hookhash[ng_hook_bucket(node, name)],
	    hk_hash) {
		/* Pairs with the release in ng_hook_add(). */
		if ((atomic_load_explicit(&hook->hk_flags,
		    memory_order_acquire) & NGF_INVALID) != 0)
			continue;
		if (hook->hk_node == node && strcmp(hook->hk_name, name) == 0)
			return (hook);
	}
	return (NULL);
}

hook_p
ng_hook_next(node_p node, hook_p hook)
{

	VNET_CONFIG_ASSERT(node->nd_graph->ng_vnet);

	return (hook == NULL ? CK_LIST_FIRST(&node->nd_hooks) :
	    CK_LIST_NEXT(hook, hk_link));
}

/* ---- Connecting ---- */

/* Data for a type without a method goes nowhere, and that is no error. */
static int
ng_rcvdata_none(hook_p hook, item_p it)
{

	(void)hook;
	ng_item_free(it);
	return (0);
}

static int
ng_hook_name_check(const char *name)
{
	size_t len = strnlen(name, NG_HOOKSIZ);

	return (len == 0 || len == NG_HOOKSIZ ||
	    strpbrk(name, ".:") != NULL ? EINVAL : 0);
}

/* A hook without a peer, if the node's type will have it. */
static int
ng_hook_add(node_p node, const char *name, hook_p *hookp)
{
	struct netgraph *ng = node->nd_graph;
	const struct ng_type *type = ng_type_of(node);
	hook_p hook;
	int error;

	error = ng_hook_name_check(name);
	if (error != 0)
		return (error);
	if (ng_findhook(node, name) != NULL)
		return (EEXIST);
	if ((hook = calloc(1, sizeof(*hook))) == NULL)
		return (ENOMEM);
	strcpy(hook->hk_name, name);
	hook->hk_node = node;
	atomic_init(&hook->hk_refs, 1);
	ng_jobs_init_hook(hook);
	atomic_init(&hook->hk_rcvdata, type->rcvdata != NULL ?
	    type->rcvdata : ng_rcvdata_none);
	if (type->newhook != NULL) {
		node->nd_busy++;
		error = type->newhook(node, hook, name);
		node->nd_busy--;
		if (error != 0) {
			free(hook);
			return (error);
		}
	}
	ng_node_ref(node);
	CK_LIST_INSERT_HEAD(&node->nd_hooks, hook, hk_link);
	node->nd_numhooks++;
	/* Pairs with the acquire in ng_findhook(). */
	atomic_fetch_or_explicit(&hook->hk_flags, 0, memory_order_release);
	CK_LIST_INSERT_HEAD(&ng->ng_hookhash[ng_hook_bucket(node,
	    hook->hk_name)], hook, hk_hash);
	*hookp = hook;
	return (0);
}

static int
ng_hook_connect(hook_p hook)
{
	const struct ng_type *type = ng_type_of(hook->hk_node);
	int error;

	if (type->connect == NULL)
		return (0);
	hook->hk_node->nd_busy++;
	error = type->connect(hook);
	hook->hk_node->nd_busy--;
	return (error);
}

/*
 * Join two nodes, or a node to itself, by new hooks.  The steps and so the
 * errors have the order of NGM_CONNECT: names, newhook methods, the far
 * node's connect method, the near one's.  On an error nothing remains.
 */
int
ng_connect_nodes(node_p one, const char *hook1, node_p two,
    const char *hook2)
{
	hook_p near, far;
	int error;

	if (ng_hook_name_check(hook2) == 0 &&
	    ng_findhook(two, hook2) != NULL)
		return (EEXIST);
	error = ng_hook_add(one, hook1, &near);
	if (error != 0)
		return (error);
	error = ng_hook_add(two, hook2, &far);
	if (error != 0) {
		ng_hook_destroy(near);
		return (error);
	}
	/* Pair with the acquire in ng_fwd_item(). */
	atomic_store_explicit(&near->hk_peer, far, memory_order_release);
	atomic_store_explicit(&far->hk_peer, near, memory_order_release);
	ng_hook_ref(near);	/* a method may take the hooks off again */
	error = ng_hook_connect(far);
	if (error == 0 && ng_hook_valid(near))
		error = ng_hook_connect(near);
	if (error != 0)
		ng_hook_destroy(near);
	ng_hook_rele(near);
	return (error);
}

/* ---- The end ---- */

/* Out of all lists; whoever sends from now on gets ENETDOWN. */
static void
ng_hook_unlink(hook_p hook)
{
	node_p node = hook->hk_node;

	atomic_fetch_or_explicit(&hook->hk_flags, NGF_INVALID,
	    memory_order_release);
	if ((ng_flags(&hook->hk_flags) & NGF_SPLICED) == 0)
		atomic_store_explicit(&hook->hk_peer, NULL,
		    memory_order_release);
	CK_LIST_REMOVE(hook, hk_link);
	CK_LIST_REMOVE(hook, hk_hash);
	node->nd_numhooks--;
}

/* Put hook and its peer, unlinked, in front of a list of the dead. */
static hook_p
ng_hook_bury(hook_p hook, hook_p dead)
{
	hook_p peer = NULL;

	if ((ng_flags(&hook->hk_flags) & NGF_SPLICED) == 0)
		peer = atomic_load_explicit(&hook->hk_peer,
		    memory_order_relaxed);
	ng_hook_unlink(hook);
	hook->hk_dead = dead;
	if (peer == NULL)
		return (hook);
	ng_hook_unlink(peer);
	peer->hk_dead = hook;
	return (peer);
}

/*
 * Tell the node of a hook that has ended.  It dies with its last hook unless
 * it is one that stays.
 */
static void
ng_hook_disconnected(hook_p hook)
{
	node_p node = hook->hk_node;
	const struct ng_type *type = ng_type_of(node);

	if (type->disconnect != NULL) {
		node->nd_busy++;
		type->disconnect(hook);
		node->nd_busy--;
	}
	if (node->nd_numhooks == 0 && (type->flags & NGTF_PERSISTENT) == 0 &&
	    (ng_flags(&node->nd_flags) & NGF_PERSIST) == 0)
		ng_rmnode_self(node);
	ng_hook_rele(hook);
}

/* A node is told of all its ended hooks before its shutdown method. */
void
ng_hooks_ended(node_p node)
{
	hook_p hook;

	KASSERT(node->nd_busy == 0, "node %x is in a method", node->nd_id);

	while ((hook = TAILQ_FIRST(&node->nd_ended)) != NULL) {
		TAILQ_REMOVE(&node->nd_ended, hook, hk_ended);
		ng_hook_disconnected(hook);
	}
}

/*
 * All are on their nodes' lists before the first is told: its method may shut
 * another of the nodes down.
 */
static void
ng_hooks_mourn(hook_p dead)
{
	hook_p hook, next;

	NET_EPOCH_WAIT();
	for (hook = dead; hook != NULL; hook = hook->hk_dead) {
		ng_hook_ref(hook);
		TAILQ_INSERT_TAIL(&hook->hk_node->nd_ended, hook, hk_ended);
	}
	for (hook = dead; hook != NULL; hook = next) {
		next = hook->hk_dead;
		if (hook->hk_node->nd_busy == 0)
			ng_hooks_ended(hook->hk_node);
		else
			ng_job_ended(hook->hk_node);
		ng_hook_rele(hook);
	}
}

void
ng_hook_destroy(hook_p hook)
{

	VNET_CONFIG_ASSERT(hook->hk_node->nd_graph->ng_vnet);

	if (ng_hook_valid(hook))
		ng_hooks_mourn(ng_hook_bury(hook, NULL));
}

void
ng_hooks_destroy(node_p node)
{
	hook_p hook, dead = NULL;

	while ((hook = CK_LIST_FIRST(&node->nd_hooks)) != NULL)
		dead = ng_hook_bury(hook, dead);
	if (dead != NULL)
		ng_hooks_mourn(dead);
}

/*
 * The two hooks' own pointers stay, so that packets which are in the node now
 * still get through; only the peers' are turned.
 */
void
ng_bypass(hook_p one, hook_p two)
{
	hook_p p1, p2;

	VNET_CONFIG_ASSERT(one->hk_node->nd_graph->ng_vnet);

	p1 = atomic_load_explicit(&one->hk_peer, memory_order_relaxed);
	p2 = atomic_load_explicit(&two->hk_peer, memory_order_relaxed);
	if (p1 == NULL || p2 == NULL || p1 == two)
		return;
	atomic_fetch_or_explicit(&one->hk_flags, NGF_SPLICED,
	    memory_order_relaxed);
	atomic_fetch_or_explicit(&two->hk_flags, NGF_SPLICED,
	    memory_order_relaxed);
	/* Pair with the acquire in ng_fwd_item(). */
	atomic_store_explicit(&p1->hk_peer, p2, memory_order_release);
	atomic_store_explicit(&p2->hk_peer, p1, memory_order_release);
}

/* ---- For types ---- */

void *
ng_hook_private(hook_p hook)
{

	return (atomic_load_explicit(&hook->hk_private,
	    memory_order_acquire));
}

void
ng_hook_set_private(hook_p hook, void *priv)
{

	atomic_store_explicit(&hook->hk_private, priv, memory_order_release);
}

const char *
ng_hook_name(hook_p hook)
{

	return (hook->hk_name);
}

int
ng_hook_set_name(hook_p hook, const char *name)
{
	int error;

	VNET_CONFIG_ASSERT(hook->hk_node->nd_graph->ng_vnet);

	error = ng_hook_name_check(name);
	if (error == 0 && ng_findhook(hook->hk_node, name) != NULL)
		error = EEXIST;
	if (error == 0)
		strcpy(hook->hk_name, name);
	return (error);
}

node_p
ng_hook_node(hook_p hook)
{

	return (hook->hk_node);
}

hook_p
ng_hook_peer(hook_p hook)
{

	return (atomic_load_explicit(&hook->hk_peer, memory_order_acquire));
}

bool
ng_hook_valid(hook_p hook)
{

	return ((ng_flags(&hook->hk_flags) & NGF_INVALID) == 0);
}

void
ng_hook_set_rcvdata(hook_p hook, ng_rcvdata_t *fn)
{

	atomic_store_explicit(&hook->hk_rcvdata, fn, memory_order_release);
}

void
ng_hook_set_rcvmsg(hook_p hook, ng_rcvmsg_t *fn)
{

	hook->hk_rcvmsg = fn;
}

void
ng_hook_force_queue(hook_p hook)
{

	atomic_fetch_or_explicit(&hook->hk_flags, NGF_FORCEQ,
	    memory_order_relaxed);
}

void
ng_hook_set_to_inbound(hook_p hook)
{

	atomic_fetch_or_explicit(&hook->hk_flags, NGF_INBOUND,
	    memory_order_relaxed);
}
