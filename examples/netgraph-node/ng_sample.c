/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * A node type of one's own.  What comes by the hook left goes out by right,
 * and the other way round; of all packets one in so many is copied to tap.
 *
 *	make
 *	NETEPOCH_MODULES=$PWD netepochd &
 *	kldload ng_sample
 *	ngctl mkpeer ngeth0: sample ether left
 *	ngctl msg ngeth0:ether setevery 100
 *
 * Data methods run inside the epoch, on several threads at a time, without
 * locks: they read the hooks and the number that control methods set.  All is
 * atomic that both touch.  A hook that they found stays valid to the end of
 * their section; when disconnect has cleared it they find it no more.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <netepoch/mbuf.h>
#include <netgraph/netgraph.h>

#define	SAMPLE_COOKIE	1796083200	/* date -u +%s, once, for the type */
#define	SAMPLE_EVERY	1000

enum {
	SAMPLE_SETEVERY = 1,
	SAMPLE_GETEVERY = 2 | NGM_READONLY | NGM_HASREPLY,
};

enum sample_hook { SAMPLE_LEFT, SAMPLE_RIGHT, SAMPLE_TAP, SAMPLE_HOOKS };

static const char *const sample_hooks[SAMPLE_HOOKS] = {
	[SAMPLE_LEFT] = "left",
	[SAMPLE_RIGHT] = "right",
	[SAMPLE_TAP] = "tap",
};

struct sample {
	_Atomic(hook_p)	 sa_hook[SAMPLE_HOOKS];	/* NULL: not there */
	_Atomic uint32_t sa_every;
	_Atomic uint32_t sa_seen;
};

static const struct ng_cmdlist sample_cmds[] = {
	{ SAMPLE_COOKIE, SAMPLE_SETEVERY, "setevery", &ng_parse_uint32_type,
	    NULL },
	{ SAMPLE_COOKIE, SAMPLE_GETEVERY, "getevery", NULL,
	    &ng_parse_uint32_type },
	{ .name = NULL },
};

static hook_p
sample_hook(struct sample *sa, enum sample_hook which)
{

	return (atomic_load_explicit(&sa->sa_hook[which],
	    memory_order_acquire));
}

static int
sample_constructor(node_p node)
{
	struct sample *sa;

	sa = calloc(1, sizeof(*sa));
	if (sa == NULL)
		return (ENOMEM);
	atomic_init(&sa->sa_every, SAMPLE_EVERY);
	ng_node_set_private(node, sa);
	return (0);
}

/* The hook keeps which one it is, for the data method. */
static int
sample_newhook(node_p node, hook_p hook, const char *name)
{
	int i;

	(void)node;
	for (i = 0; i < SAMPLE_HOOKS; i++)
		if (strcmp(name, sample_hooks[i]) == 0) {
			ng_hook_set_private(hook, (void *)(intptr_t)i);
			return (0);
		}
	return (EINVAL);
}

static int
sample_connect(hook_p hook)
{
	struct sample *sa = ng_node_private(ng_hook_node(hook));
	intptr_t which = (intptr_t)ng_hook_private(hook);

	atomic_store_explicit(&sa->sa_hook[which], hook,
	    memory_order_release);
	return (0);
}

static void
sample_disconnect(hook_p hook)
{
	struct sample *sa = ng_node_private(ng_hook_node(hook));
	intptr_t which = (intptr_t)ng_hook_private(hook);

	atomic_store_explicit(&sa->sa_hook[which], NULL,
	    memory_order_release);
}

static int
sample_rcvdata(hook_p hook, item_p item)
{
	struct sample *sa = ng_node_private(ng_hook_node(hook));
	enum sample_hook which = (intptr_t)ng_hook_private(hook);
	uint32_t every, seen;
	struct mbuf *copy;

	if (which == SAMPLE_TAP) {
		ng_item_free(item);
		return (0);
	}
	every = atomic_load_explicit(&sa->sa_every, memory_order_relaxed);
	seen = atomic_fetch_add_explicit(&sa->sa_seen, item->it_n,
	    memory_order_relaxed);
	for (unsigned int i = 0; i < item->it_n; i++) {
		if ((seen + i) % every != 0)
			continue;
		/* Without memory there is one sample less. */
		copy = m_dup(item->it_m[i]);
		if (copy != NULL)
			(void)ng_send_data(sample_hook(sa, SAMPLE_TAP), copy);
	}
	return (ng_fwd_item(item, sample_hook(sa, which == SAMPLE_LEFT ?
	    SAMPLE_RIGHT : SAMPLE_LEFT)));
}

static int
sample_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	struct sample *sa = ng_node_private(node);
	const struct ng_mesg *msg = ng_request_msg(rq);
	uint32_t every;

	(void)lasthook;
	if (msg->header.typecookie != SAMPLE_COOKIE)
		return (EINVAL);
	switch (msg->header.cmd) {
	case SAMPLE_SETEVERY:
		if (msg->header.arglen != sizeof(every))
			return (EINVAL);
		memcpy(&every, msg->data, sizeof(every));
		if (every == 0)
			return (EINVAL);
		atomic_store_explicit(&sa->sa_every, every,
		    memory_order_relaxed);
		return (0);
	case SAMPLE_GETEVERY:
		every = atomic_load_explicit(&sa->sa_every,
		    memory_order_relaxed);
		return (ng_respond(rq, &every, sizeof(every)));
	default:
		return (EINVAL);
	}
}

/* No data method runs any more, or ever will. */
static void
sample_shutdown(node_p node)
{

	free(ng_node_private(node));
}

static const struct ng_type sample_type = {
	.version = NG_ABI_VERSION,
	.name = "sample",
	.constructor = sample_constructor,
	.rcvmsg = sample_rcvmsg,
	.shutdown = sample_shutdown,
	.newhook = sample_newhook,
	.connect = sample_connect,
	.rcvdata = sample_rcvdata,
	.disconnect = sample_disconnect,
	.cmdlist = sample_cmds,
};
NETGRAPH_MODULE(sample_type);
