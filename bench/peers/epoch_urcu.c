/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * liburcu's flavours memb, bp and qsbr as bench_epoch's rivals, inlined.  The
 * qsbr reader reports a quiescent state where a section would end.
 */
#define	_LGPL_SOURCE
#include <urcu/urcu-memb.h>
#include <urcu/urcu-bp.h>
#include <urcu/urcu-qsbr.h>

#include "bench/epoch_smr.h"

/* The headers declare these for the first flavour only. */
void	 urcu_bp_call_rcu(struct rcu_head *, void (*)(struct rcu_head *));
void	 urcu_bp_barrier(void);
void	 urcu_qsbr_call_rcu(struct rcu_head *, void (*)(struct rcu_head *));
void	 urcu_qsbr_barrier(void);

static void
nothing(void)
{
}

static void
consume_cb(struct rcu_head *head)
{
	smr_consume((struct smr_node *)(void *)head);
}

#define	SMR		memb
#define	SMR_DECL	(void)0
#define	SMR_ENTER	urcu_memb_read_lock()
#define	SMR_EXIT	urcu_memb_read_unlock()
#define	SMR_ONLINE	(void)0
#define	SMR_OFFLINE	(void)0
#define	SMR_INNER_ENTER	urcu_memb_read_lock()
#define	SMR_INNER_EXIT	urcu_memb_read_unlock()
#include "bench/epoch_smr_loops.h"

#define	SMR		bp
#define	SMR_DECL	(void)0
#define	SMR_ENTER	urcu_bp_read_lock()
#define	SMR_EXIT	urcu_bp_read_unlock()
#define	SMR_ONLINE	(void)0
#define	SMR_OFFLINE	(void)0
#define	SMR_INNER_ENTER	urcu_bp_read_lock()
#define	SMR_INNER_EXIT	urcu_bp_read_unlock()
#include "bench/epoch_smr_loops.h"

#define	SMR		qsbr
#define	SMR_DECL	(void)0
#define	SMR_ENTER	(void)0
#define	SMR_EXIT	urcu_qsbr_quiescent_state()
#define	SMR_ONLINE	urcu_qsbr_thread_online()
#define	SMR_OFFLINE	urcu_qsbr_thread_offline()
#define	SMR_INNER_ENTER	urcu_qsbr_read_lock()
#define	SMR_INNER_EXIT	urcu_qsbr_read_unlock()
#include "bench/epoch_smr_loops.h"

static void
memb_defer(struct smr_node *n)
{
	urcu_memb_call_rcu((struct rcu_head *)(void *)n->n_hook, consume_cb);
}

static void
bp_defer(struct smr_node *n)
{
	urcu_bp_call_rcu((struct rcu_head *)(void *)n->n_hook, consume_cb);
}

static void
qsbr_defer(struct smr_node *n)
{
	urcu_qsbr_call_rcu((struct rcu_head *)(void *)n->n_hook, consume_cb);
}

/* Registered, and away until a loop says otherwise. */
static void
qsbr_init(void)
{
	urcu_qsbr_register_thread();
	urcu_qsbr_thread_offline();
}

static void
qsbr_fini(void)
{
	urcu_qsbr_unregister_thread();
}

const struct smr smr_urcu_memb = {
	.s_name = "urcu memb",
	.s_thread_init = urcu_memb_register_thread,
	.s_thread_fini = urcu_memb_unregister_thread,
	SMR_LOOPS(memb),
	.s_sync = urcu_memb_synchronize_rcu,
	.s_defer = memb_defer,
	.s_poll = nothing,
	.s_barrier = urcu_memb_barrier,
};

const struct smr smr_urcu_bp = {
	.s_name = "urcu bp",
	.s_thread_init = nothing,
	.s_thread_fini = nothing,
	SMR_LOOPS(bp),
	.s_sync = urcu_bp_synchronize_rcu,
	.s_defer = bp_defer,
	.s_poll = nothing,
	.s_barrier = urcu_bp_barrier,
};

const struct smr smr_urcu_qsbr = {
	.s_name = "urcu qsbr",
	.s_thread_init = qsbr_init,
	.s_thread_fini = qsbr_fini,
	SMR_LOOPS(qsbr),
	.s_sync = urcu_qsbr_synchronize_rcu,
	.s_defer = qsbr_defer,
	.s_poll = nothing,
	.s_barrier = urcu_qsbr_barrier,
};
