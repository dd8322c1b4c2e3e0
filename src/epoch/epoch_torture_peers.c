/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * Other libraries under the same torture, so that the harness is trusted:
 * Concurrency Kit's epochs and liburcu, where they are installed.
 */
#include <stddef.h>
#include <stdlib.h>

#ifdef TORTURE_CK
#include <ck_epoch.h>
#endif

#ifdef TORTURE_URCU
#define	_LGPL_SOURCE
#include <urcu/urcu-memb.h>
#endif

#include "epoch_torture.h"

#ifdef TORTURE_CK
/* Records are never unlinked: a thread recycles the one of another. */
struct kit_own {
	ck_epoch_record_t k_record;
	struct kit_own	*k_next;
};

static ck_epoch_t kit_epoch;
static struct kit_own *kit_all;
static __thread ck_epoch_record_t *kit_record;

static void
kit_init(void)
{
	ck_epoch_init(&kit_epoch);
}

static void
kit_thread_init(void)
{
	struct kit_own *own;

	kit_record = ck_epoch_recycle(&kit_epoch, NULL);
	if (kit_record != NULL)
		return;
	own = aligned_alloc(64, (sizeof(*own) + 63) / 64 * 64);
	if (own == NULL)
		abort();
	kit_record = &own->k_record;
	ck_epoch_register(&kit_epoch, kit_record, NULL);
	own->k_next = __atomic_load_n(&kit_all, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&kit_all, &own->k_next, own, true,
	    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		continue;
}

static void
kit_thread_fini(void)
{
	ck_epoch_barrier(kit_record);
	ck_epoch_unregister(kit_record);
	kit_record = NULL;
}

/* All threads have drained and ended: free the records. */
static void
kit_fini(void)
{
	struct kit_own *own;

	while ((own = kit_all) != NULL) {
		kit_all = own->k_next;
		free(own);
	}
}

static void
kit_enter(int d)
{
	(void)d;
	ck_epoch_begin(kit_record, NULL);
}

static void
kit_exit(int d)
{
	(void)d;
	(void)ck_epoch_end(kit_record, NULL);
}

static void
kit_wait(int d)
{
	(void)d;
	ck_epoch_synchronize(kit_record);
}

static void
kit_cb(ck_epoch_entry_t *entry)
{
	torture_reclaim((struct torture_node *)(void *)entry);
}

static void
kit_defer(int d, struct torture_node *n)
{
	(void)d;
	ck_epoch_call(kit_record, (ck_epoch_entry_t *)(void *)n->n_hook,
	    kit_cb);
}

static void
kit_poll(int d)
{
	(void)d;
	(void)ck_epoch_poll(kit_record);
}
#endif

#ifdef TORTURE_URCU
static void
urcu_none(void)
{
}

static void
urcu_enter(int d)
{
	(void)d;
	urcu_memb_read_lock();
}

static void
urcu_exit(int d)
{
	(void)d;
	urcu_memb_read_unlock();
}

static void
urcu_wait(int d)
{
	(void)d;
	urcu_memb_synchronize_rcu();
}

static void
urcu_cb(struct rcu_head *head)
{
	torture_reclaim((struct torture_node *)(void *)head);
}

static void
urcu_defer(int d, struct torture_node *n)
{
	(void)d;
	urcu_memb_call_rcu((struct rcu_head *)(void *)n->n_hook, urcu_cb);
}

static void
urcu_poll(int d)
{
	(void)d;
}
#endif

const struct torture_smr torture_peers[] = {
#ifdef TORTURE_CK
	{ "ck_epoch", false, false, kit_init, kit_fini, kit_thread_init,
	    kit_thread_fini, kit_enter, kit_exit, kit_wait, kit_defer,
	    kit_poll },
#endif
#ifdef TORTURE_URCU
	{ "urcu memb", false, true, urcu_none, urcu_memb_barrier,
	    urcu_memb_register_thread, urcu_memb_unregister_thread,
	    urcu_enter, urcu_exit, urcu_wait, urcu_defer, urcu_poll },
#endif
	{ .s_name = NULL },
};
