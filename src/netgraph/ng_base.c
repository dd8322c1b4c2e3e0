/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A machine's graph: its types and nodes, their IDs and names, addresses.
 *
 * Control work, under the configuration lock, but for references and the
 * accessors at the end.  A node is shut down in this order: marked, its close
 * method, its hooks (ng_hook.c, which waits for the epoch), its shutdown
 * method; then, unless that method revived it, it leaves the tables and is
 * freed with its last reference, a grace period later.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ifnet/vnet.h"
#include "netgraph/ng_private.h"
#include "netgraph/ng_var.h"

/* ---- Types ---- */

struct ng_typereg *
ng_type_find(struct netgraph *ng, const char *name)
{
	struct ng_typereg *tr;

	VNET_CONFIG_ASSERT(ng->ng_vnet);

	CK_STAILQ_FOREACH(tr, &ng->ng_types, tr_link)
		if (strcmp(tr->tr_type->name, name) == 0)
			return (tr);
	return (NULL);
}

/*
 * The type of that name.  ENXIO: not known; with load the loader is asked
 * first, and what it says is the error.
 */
int
ng_type_get(struct netgraph *ng, const char *name, bool load,
    struct ng_typereg **trp)
{
	char module[NG_TYPESIZ + 4];
	int error;

	*trp = ng_type_find(ng, name);
	if (*trp == NULL && load && ng->ng_loader != NULL) {
		snprintf(module, sizeof(module), "ng_%.31s", name);
		error = ng->ng_loader(ng->ng_vnet, module);
		if (error != 0)
			return (error);
		*trp = ng_type_find(ng, name);
	}
	return (*trp == NULL ? ENXIO : 0);
}

int
ng_type_register(struct vnet *vnet, const struct ng_type *type, void *module)
{
	struct netgraph *ng = vnet->v_netgraph;
	struct ng_typereg *tr;
	size_t len;
	int error = 0;

	if (type->version != NG_ABI_VERSION || type->name == NULL)
		return (EINVAL);
	len = strnlen(type->name, NG_TYPESIZ);
	if (len == 0 || len == NG_TYPESIZ)
		return (EINVAL);
	ng_ctl_enter(vnet);
	if (ng_type_find(ng, type->name) != NULL)
		error = EEXIST;
	else if ((tr = calloc(1, sizeof(*tr))) == NULL)
		error = ENOMEM;
	else {
		tr->tr_type = type;
		tr->tr_module = module;
		CK_STAILQ_INSERT_HEAD(&ng->ng_types, tr, tr_link);
		if (type->attach != NULL)
			error = type->attach(vnet);
		if (error != 0) {
			CK_STAILQ_REMOVE(&ng->ng_types, tr, ng_typereg,
			    tr_link);
			free(tr);
		}
	}
	ng_ctl_exit(vnet);
	return (error);
}

static void
ng_type_forget(struct netgraph *ng, struct ng_typereg *tr)
{

	if (tr->tr_type->detach != NULL)
		tr->tr_type->detach(ng->ng_vnet);
	CK_STAILQ_REMOVE(&ng->ng_types, tr, ng_typereg, tr_link);
	free(tr);
}

int
ng_type_unregister(struct vnet *vnet, const char *name)
{
	struct netgraph *ng = vnet->v_netgraph;
	struct ng_typereg *tr;
	int error = 0;

	ng_ctl_enter(vnet);
	tr = ng_type_find(ng, name);
	if (tr == NULL)
		error = ENOENT;
	else if (tr->tr_nodes != 0)
		error = EBUSY;
	else
		ng_type_forget(ng, tr);
	ng_ctl_exit(vnet);
	/* Nodes that are gone may still have a method of it on some stack. */
	if (error == 0)
		NET_EPOCH_DRAIN_CALLBACKS();
	return (error);
}

unsigned int
ng_type_nodes(struct vnet *vnet, const char *name)
{
	struct ng_typereg *tr;
	unsigned int n;

	ng_ctl_enter(vnet);
	tr = ng_type_find(vnet->v_netgraph, name);
	n = tr != NULL ? tr->tr_nodes : 0;
	ng_ctl_exit(vnet);
	return (n);
}

void
ng_set_loader(struct vnet *vnet, int (*loader)(struct vnet *, const char *))
{

	vnet->v_netgraph->ng_loader = loader;
}

/* ---- Nodes ---- */

static void
ng_node_free_cb(epoch_context_t ctx)
{
	node_p node = __containerof(ctx, struct ng_node, nd_ctx);

	counter_free(node->nd_packets, 1);
	mtx_destroy(&node->nd_mtx);
	free(node);
}

void
ng_node_ref(node_p node)
{
	unsigned int refs;

	refs = atomic_fetch_add_explicit(&node->nd_refs, 1,
	    memory_order_relaxed);
	KASSERT(refs != 0, "node %x: reference taken from zero",
	    node->nd_id);
	(void)refs;
}

void
ng_node_rele(node_p node)
{
	unsigned int refs;

	refs = atomic_fetch_sub_explicit(&node->nd_refs, 1,
	    memory_order_acq_rel);
	KASSERT(refs != 0, "node %x: released below zero", node->nd_id);
	if (refs == 1)
		NET_EPOCH_CALL(ng_node_free_cb, &node->nd_ctx);
}

static unsigned int
ng_id_bucket(uint32_t id)
{

	return (id % NG_HASH_NODES);
}

static unsigned int
ng_name_bucket(const char *name)
{
	uint32_t h = UINT32_C(2166136261);

	for (; *name != '\0'; name++)
		h = (h ^ (unsigned char)*name) * UINT32_C(16777619);
	return ((h ^ h >> 16) % NG_HASH_NODES);
}

/* A live node. */
node_p
ng_node_byid(struct netgraph *ng, uint32_t id)
{
	node_p node;

	CK_LIST_FOREACH(node, &ng->ng_idhash[ng_id_bucket(id)], nd_idhash)
		if (node->nd_id == id)
			return (ng_node_valid(node) ? node : NULL);
	return (NULL);
}

node_p
ng_node_byname(struct netgraph *ng, const char *name)
{
	node_p node;

	CK_LIST_FOREACH(node, &ng->ng_namehash[ng_name_bucket(name)],
	    nd_namehash)
		if (strcmp(node->nd_name, name) == 0 && ng_node_valid(node))
			return (node);
	return (NULL);
}

node_p
ng_findnode(struct vnet *vnet, const char *name)
{

	return (ng_node_byname(vnet->v_netgraph, name));
}

/* 1, 2, 3, ...; never 0, and after a wrap never one that is in use. */
static uint32_t
ng_node_newid(struct netgraph *ng)
{
	node_p node;

	for (;;) {
		if (++ng->ng_nextid == 0)
			continue;
		CK_LIST_FOREACH(node,
		    &ng->ng_idhash[ng_id_bucket(ng->ng_nextid)], nd_idhash)
			if (node->nd_id == ng->ng_nextid)
				break;
		if (node == NULL)
			return (ng->ng_nextid);
	}
}

static void
ng_node_unlink(node_p node)
{
	struct netgraph *ng = node->nd_graph;

	CK_LIST_REMOVE(node, nd_idhash);
	if (node->nd_name[0] != '\0')
		CK_LIST_REMOVE(node, nd_namehash);
	TAILQ_REMOVE(&ng->ng_nodes, node, nd_link);
	ng->ng_nnodes--;
	node->nd_type->tr_nodes--;
}

/* A node of the type, constructed; NULL and *error. */
node_p
ng_node_alloc(struct netgraph *ng, struct ng_typereg *tr, int *error)
{
	const struct ng_type *type = tr->tr_type;
	node_p node;

	VNET_CONFIG_ASSERT(ng->ng_vnet);

	*error = ENOMEM;
	if ((node = calloc(1, sizeof(*node))) == NULL)
		return (NULL);
	if (counter_alloc(1, &node->nd_packets) != 0) {
		free(node);
		return (NULL);
	}
	mtx_init(&node->nd_mtx, "netgraph node");
	node->nd_graph = ng;
	node->nd_type = tr;
	node->nd_id = ng_node_newid(ng);
	atomic_init(&node->nd_refs, 1);
	atomic_init(&node->nd_flags,
	    (type->flags & NGTF_EXCLUSIVE) != 0 ? NGF_EXCLUSIVE : 0);
	CK_LIST_INIT(&node->nd_hooks);
	TAILQ_INIT(&node->nd_ended);
	ng_queue_init(node);
	ng_jobs_init_node(node);
	CK_LIST_INSERT_HEAD(&ng->ng_idhash[ng_id_bucket(node->nd_id)], node,
	    nd_idhash);
	TAILQ_INSERT_TAIL(&ng->ng_nodes, node, nd_link);
	ng->ng_nnodes++;
	tr->tr_nodes++;
	*error = 0;
	if (type->constructor != NULL) {
		node->nd_busy++;
		*error = type->constructor(node);
		node->nd_busy--;
	}
	if (*error != 0) {
		atomic_fetch_or_explicit(&node->nd_flags, NGF_INVALID |
		    NGF_CLOSING, memory_order_relaxed);
		ng_node_unlink(node);
		ng_node_rele(node);
		return (NULL);
	}
	return (node);
}

int
ng_make_node(struct vnet *vnet, const char *type, node_p *nodep)
{
	struct ng_typereg *tr;
	int error;

	error = ng_type_get(vnet->v_netgraph, type, false, &tr);
	if (error == 0)
		*nodep = ng_node_alloc(vnet->v_netgraph, tr, &error);
	return (error);
}

void
ng_node_destroy(node_p node)
{
	const struct ng_type *type;

	VNET_CONFIG_ASSERT(node->nd_graph->ng_vnet);
	NET_EPOCH_ASSERT_NOT();

	if ((ng_flags(&node->nd_flags) & NGF_CLOSING) != 0)
		return;
	type = ng_type_of(node);	/* of a dead one it may be gone */
	ng_node_ref(node);
	node->nd_busy++;
	if (type->close != NULL)
		type->close(node);
	node->nd_busy--;
	atomic_fetch_or_explicit(&node->nd_flags, NGF_INVALID | NGF_CLOSING,
	    memory_order_relaxed);
	ng_hooks_destroy(node);
	ng_hooks_ended(node);
	node->nd_busy++;
	if (type->shutdown != NULL)
		type->shutdown(node);
	node->nd_busy--;
	if ((ng_flags(&node->nd_flags) & NGF_CLOSING) != 0) {
		ng_node_unlink(node);
		ng_node_rele(node);	/* that of being alive */
	}
	ng_node_rele(node);
}

/* ---- Names and addresses ---- */

/* "[1f]": the ID, or 0 if it is not one. */
static uint32_t
ng_name_id(const char *name)
{
	unsigned long id = 0;
	const char *p = name + 1;

	if (name[0] != '[' || strchr("0123456789abcdefABCDEF", *p) == NULL ||
	    *p == '\0')
		return (0);
	for (; *p != '\0' && strchr("0123456789abcdefABCDEF", *p) != NULL;
	    p++) {
		id = id << 4 | (unsigned long)(*p <= '9' ? *p - '0' :
		    (*p | 0x20) - 'a' + 10);
		if (id > UINT32_MAX)
			return (0);
	}
	return (strcmp(p, "]") == 0 ? (uint32_t)id : 0);
}

int
ng_name_node(node_p node, const char *name)
{
	struct netgraph *ng = node->nd_graph;
	size_t len = strnlen(name, NG_NODESIZ);
	node_p other;

	VNET_CONFIG_ASSERT(ng->ng_vnet);

	if (len == 0 || len == NG_NODESIZ || strpbrk(name, ".:") != NULL ||
	    ng_name_id(name) != 0)
		return (EINVAL);
	other = ng_node_byname(ng, name);
	if (other != NULL)
		return (other == node ? 0 : EADDRINUSE);
	if (node->nd_name[0] != '\0')
		CK_LIST_REMOVE(node, nd_namehash);
	strcpy(node->nd_name, name);
	CK_LIST_INSERT_HEAD(&ng->ng_namehash[ng_name_bucket(name)], node,
	    nd_namehash);
	return (0);
}

/* The node that the part before the colon means. */
static int
ng_path_start(struct netgraph *ng, node_p here, const char *name,
    node_p *nodep)
{
	uint32_t id;

	if (strcmp(name, ".") == 0) {
		*nodep = here;
		return (here == NULL ? EINVAL : 0);
	}
	if (name[0] == '\0' || strchr(name, '.') != NULL)
		return (EINVAL);
	id = ng_name_id(name);
	*nodep = id != 0 ? ng_node_byid(ng, id) : ng_node_byname(ng, name);
	return (*nodep == NULL ? ENOENT : 0);
}

int
ng_path2node(struct netgraph *ng, node_p here, char *path, node_p *nodep,
    hook_p *lasthookp)
{
	char *hops = path, *hop, *colon = strchr(path, ':');
	hook_p hook, peer = NULL;
	node_p node = here;
	int error;

	VNET_CONFIG_ASSERT(ng->ng_vnet);

	if (colon != NULL) {
		*colon = '\0';
		hops = colon + 1;
	}
	/* What is no address at all is that before anything is looked up. */
	if (strchr(hops, ':') != NULL || strstr(hops, "..") != NULL)
		return (EINVAL);
	if (colon != NULL) {
		error = ng_path_start(ng, here, path, &node);
		if (error != 0)
			return (error);
	}
	if (node == NULL)
		return (EINVAL);
	while ((hop = strsep(&hops, ".")) != NULL) {
		if (*hop == '\0')
			continue;	/* one dot at either end */
		hook = ng_findhook(node, hop);
		if (hook == NULL)
			return (ENOENT);
		peer = ng_hook_peer(hook);
		if (peer == NULL || !ng_hook_valid(peer))
			return (ENOENT);
		node = peer->hk_node;
		if (!ng_node_valid(node))
			return (ENXIO);
	}
	*nodep = node;
	*lasthookp = peer;
	return (0);
}

void
ng_node_walk(struct vnet *vnet,
    void (*fn)(const struct ng_node_stat *, void *), void *arg)
{
	struct ng_node_stat ns;
	node_p node;

	VNET_CONFIG_ASSERT(vnet);

	TAILQ_FOREACH(node, &vnet->v_netgraph->ng_nodes, nd_link) {
		if (!ng_node_valid(node))
			continue;
		ns.ns_id = node->nd_id;
		ns.ns_name = node->nd_name;
		ns.ns_type = ng_type_of(node)->name;
		ns.ns_hooks = node->nd_numhooks;
		ns.ns_packets = counter_fetch(node->nd_packets);
		fn(&ns, arg);
	}
}

/* ---- For types ---- */

void *
ng_node_private(node_p node)
{

	return (atomic_load_explicit(&node->nd_private,
	    memory_order_acquire));
}

void
ng_node_set_private(node_p node, void *priv)
{

	atomic_store_explicit(&node->nd_private, priv, memory_order_release);
}

uint32_t
ng_node_id(node_p node)
{

	return (node->nd_id);
}

const char *
ng_node_name(node_p node)
{

	return (node->nd_name);
}

struct vnet *
ng_node_vnet(node_p node)
{

	return (node->nd_graph->ng_vnet);
}

unsigned int
ng_node_numhooks(node_p node)
{

	return (node->nd_numhooks);
}

bool
ng_node_valid(node_p node)
{

	return ((ng_flags(&node->nd_flags) & NGF_INVALID) == 0);
}

void
ng_node_lock(node_p node)
{

	mtx_lock(&node->nd_mtx);
}

void
ng_node_unlock(node_p node)
{

	mtx_unlock(&node->nd_mtx);
}

struct mtx *
ng_node_mtx(node_p node)
{

	return (&node->nd_mtx);
}

void
ng_node_revive(node_p node)
{

	if (!ng_node_must_die(node))
		atomic_fetch_and_explicit(&node->nd_flags,
		    ~(uint32_t)(NGF_INVALID | NGF_CLOSING),
		    memory_order_relaxed);
}

bool
ng_node_must_die(node_p node)
{

	return ((ng_flags(&node->nd_flags) & NGF_MUSTDIE) != 0);
}

void
ng_node_set_must_die(node_p node)
{

	atomic_fetch_or_explicit(&node->nd_flags, NGF_MUSTDIE,
	    memory_order_relaxed);
}

void
ng_node_set_persistent(node_p node, bool on)
{

	if (on)
		atomic_fetch_or_explicit(&node->nd_flags, NGF_PERSIST,
		    memory_order_relaxed);
	else
		atomic_fetch_and_explicit(&node->nd_flags,
		    ~(uint32_t)NGF_PERSIST, memory_order_relaxed);
}
