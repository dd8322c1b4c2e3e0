/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * DPDK's rte_rcu_qsbr as bench_epoch's rival.  A reader reports a quiescent
 * state where a section would end.  Callbacks go through its defer queue,
 * which is what the library offers for them.
 */
#include <stdio.h>
#include <stdlib.h>

#include <rte_eal.h>
#include <rte_rcu_qsbr.h>

#include "bench/epoch_smr.h"

#define	RTE_THREADS	80U
#define	RTE_QUEUE	65535U
#define	RTE_RECLAIM	1024U

static struct rte_rcu_qsbr *rte_qs;
static struct rte_rcu_qsbr_dq *rte_dq;
static __thread unsigned int rte_id;
static unsigned int rte_ids;		/* handed out so far */
static unsigned int rte_free_ids[RTE_THREADS], rte_nfree;
static int rte_lock;			/* for the three above */

#define	SMR		dpdk
#define	SMR_DECL	unsigned int id = rte_id
#define	SMR_ENTER	(void)0
#define	SMR_EXIT	rte_rcu_qsbr_quiescent(rte_qs, id)
#define	SMR_ONLINE	rte_rcu_qsbr_thread_online(rte_qs, id)
#define	SMR_OFFLINE	rte_rcu_qsbr_thread_offline(rte_qs, id)
#define	SMR_INNER_ENTER	rte_rcu_qsbr_lock(rte_qs, id)
#define	SMR_INNER_EXIT	rte_rcu_qsbr_unlock(rte_qs, id)
#include "bench/epoch_smr_loops.h"

static void
dpdk_free_cb(void *arg, void *e, unsigned int n)
{
	struct smr_node **node = e;

	(void)arg;
	for (; n > 0; n--)
		smr_consume(*node++);
}

static void
dpdk_dq_make(void)
{
	struct rte_rcu_qsbr_dq_parameters p = {
		.name = "bench",
		.flags = RTE_RCU_QSBR_DQ_MT_UNSAFE,
		.size = RTE_QUEUE,
		.esize = sizeof(struct smr_node *),
		.trigger_reclaim_limit = RTE_RECLAIM,
		.max_reclaim_size = RTE_RECLAIM,
		.free_fn = dpdk_free_cb,
		.v = rte_qs,
	};

	rte_dq = rte_rcu_qsbr_dq_create(&p);
	if (rte_dq == NULL)
		abort();
}

/* Once, before any thread uses it. */
void
smr_rte_init(char *program)
{
	char flags[][20] = { "--no-huge", "--no-pci", "--no-shconf",
	    "--no-telemetry", "-m", "64", "-l", "0", "--log-level=3" };
	const int nflags = sizeof(flags) / sizeof(flags[0]);
	char *argv[sizeof(flags) / sizeof(flags[0]) + 2] = { program };
	size_t size;
	int i;

	for (i = 0; i < nflags; i++)
		argv[i + 1] = flags[i];
	if (rte_eal_init(nflags + 1, argv) < 0)
		abort();
	size = (rte_rcu_qsbr_get_memsize(RTE_THREADS) + 63) / 64 * 64;
	rte_qs = aligned_alloc(64, size);
	if (rte_qs == NULL || rte_rcu_qsbr_init(rte_qs, RTE_THREADS) != 0)
		abort();
	dpdk_dq_make();
}

/* Ids are handed out like a stack, so that two threads use the lowest two. */
static void
dpdk_init(void)
{
	while (__atomic_exchange_n(&rte_lock, 1, __ATOMIC_ACQUIRE) != 0)
		continue;
	rte_id = rte_nfree > 0 ? rte_free_ids[--rte_nfree] : rte_ids++;
	__atomic_store_n(&rte_lock, 0, __ATOMIC_RELEASE);
	(void)rte_rcu_qsbr_thread_register(rte_qs, rte_id);
}

static void
dpdk_fini(void)
{
	(void)rte_rcu_qsbr_thread_unregister(rte_qs, rte_id);
	while (__atomic_exchange_n(&rte_lock, 1, __ATOMIC_ACQUIRE) != 0)
		continue;
	rte_free_ids[rte_nfree++] = rte_id;
	__atomic_store_n(&rte_lock, 0, __ATOMIC_RELEASE);
}

static void
dpdk_sync(void)
{
	rte_rcu_qsbr_synchronize(rte_qs, RTE_QSBR_THRID_INVALID);
}

static void
dpdk_defer(struct smr_node *n)
{
	while (rte_rcu_qsbr_dq_enqueue(rte_dq, &n) != 0)
		(void)rte_rcu_qsbr_dq_reclaim(rte_dq, RTE_RECLAIM, NULL, NULL,
		    NULL);
}

static void
dpdk_poll(void)
{
}

/* Deleting the queue is its way to wait for everything. */
static void
dpdk_barrier(void)
{
	while (rte_rcu_qsbr_dq_delete(rte_dq) != 0)
		continue;
	dpdk_dq_make();
}

const struct smr smr_rte = {
	.s_name = "rte_rcu_qsbr",
	.s_thread_init = dpdk_init,
	.s_thread_fini = dpdk_fini,
	SMR_LOOPS(dpdk),
	.s_sync = dpdk_sync,
	.s_defer = dpdk_defer,
	.s_poll = dpdk_poll,
	.s_barrier = dpdk_barrier,
};
