/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * libepoch as the benchmark sees it: the default kind and the asymmetric one,
 * both polled as the rivals are, and the default with its reclaim thread; and
 * no reclamation at all, as the floor.
 */
#include <stdlib.h>

#include <netepoch/epoch.h>

#include "bench/epoch_smr.h"

static epoch_t fenced, asym, threaded;

static void
nothing(void)
{
}

#define	SMR		none
#define	SMR_DECL	(void)0
#define	SMR_ENTER	(void)0
#define	SMR_EXIT	(void)0
#define	SMR_ONLINE	(void)0
#define	SMR_OFFLINE	(void)0
#define	SMR_INNER_ENTER	(void)0
#define	SMR_INNER_EXIT	(void)0
#include "bench/epoch_smr_loops.h"

#define	SMR		ours
#define	SMR_DECL	epoch_t e = fenced
#define	SMR_ENTER	epoch_enter(e)
#define	SMR_EXIT	epoch_exit(e)
#define	SMR_ONLINE	(void)0
#define	SMR_OFFLINE	(void)0
#define	SMR_INNER_ENTER	epoch_enter(e)
#define	SMR_INNER_EXIT	epoch_exit(e)
#include "bench/epoch_smr_loops.h"

#define	SMR		ours_asym
#define	SMR_DECL	epoch_t e = asym
#define	SMR_ENTER	epoch_enter(e)
#define	SMR_EXIT	epoch_exit(e)
#define	SMR_ONLINE	(void)0
#define	SMR_OFFLINE	(void)0
#define	SMR_INNER_ENTER	epoch_enter(e)
#define	SMR_INNER_EXIT	epoch_exit(e)
#include "bench/epoch_smr_loops.h"

#define	SMR		ours_threaded
#define	SMR_DECL	epoch_t e = threaded
#define	SMR_ENTER	epoch_enter(e)
#define	SMR_EXIT	epoch_exit(e)
#define	SMR_ONLINE	(void)0
#define	SMR_OFFLINE	(void)0
#define	SMR_INNER_ENTER	epoch_enter(e)
#define	SMR_INNER_EXIT	epoch_exit(e)
#include "bench/epoch_smr_loops.h"

void
smr_epoch_init(void)
{
	fenced = epoch_alloc("fenced", EPOCH_POLLED | EPOCH_HELP);
	asym = epoch_alloc("asymmetric", EPOCH_ASYMMETRIC |
	    EPOCH_POLLED | EPOCH_HELP);
	threaded = epoch_alloc("threaded", 0);
	if (fenced == NULL || asym == NULL || threaded == NULL)
		abort();
}

static void
consume_cb(epoch_context_t ctx)
{
	smr_consume((struct smr_node *)(void *)ctx);
}

static void
fenced_sync(void)
{
	epoch_wait(fenced);
}

static void
fenced_defer(struct smr_node *n)
{
	epoch_call(fenced, consume_cb, (epoch_context_t)(void *)n->n_hook);
}

static void
fenced_poll(void)
{
	(void)epoch_poll(fenced);
}

static void
fenced_barrier(void)
{
	epoch_drain_callbacks(fenced);
}

static void
asym_sync(void)
{
	epoch_wait(asym);
}

static void
asym_defer(struct smr_node *n)
{
	epoch_call(asym, consume_cb, (epoch_context_t)(void *)n->n_hook);
}

static void
asym_poll(void)
{
	(void)epoch_poll(asym);
}

static void
asym_barrier(void)
{
	epoch_drain_callbacks(asym);
}

static void
threaded_sync(void)
{
	epoch_wait(threaded);
}

static void
threaded_defer(struct smr_node *n)
{
	epoch_call(threaded, consume_cb, (epoch_context_t)(void *)n->n_hook);
}

static void
threaded_barrier(void)
{
	epoch_drain_callbacks(threaded);
}

const struct smr smr_none = {
	.s_name = "no section",
	.s_thread_init = nothing,
	.s_thread_fini = nothing,
	SMR_LOOPS(none),
	.s_sync = nothing,
};

const struct smr smr_epoch = {
	.s_name = "epoch",
	.s_thread_init = nothing,
	.s_thread_fini = nothing,
	SMR_LOOPS(ours),
	.s_sync = fenced_sync,
	.s_defer = fenced_defer,
	.s_poll = fenced_poll,
	.s_barrier = fenced_barrier,
};

const struct smr smr_epoch_asym = {
	.s_name = "epoch asymmetric",
	.s_thread_init = nothing,
	.s_thread_fini = nothing,
	SMR_LOOPS(ours_asym),
	.s_sync = asym_sync,
	.s_defer = asym_defer,
	.s_poll = asym_poll,
	.s_barrier = asym_barrier,
};

const struct smr smr_epoch_thread = {
	.s_name = "epoch, reclaim thread",
	.s_thread_init = nothing,
	.s_thread_fini = nothing,
	SMR_LOOPS(ours_threaded),
	.s_sync = threaded_sync,
	.s_defer = threaded_defer,
	.s_poll = nothing,
	.s_barrier = threaded_barrier,
};
