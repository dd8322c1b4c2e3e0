/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * Concurrency Kit's epochs as bench_epoch's rival: no section argument, which
 * is its fastest form.  One record for the writer and one for the reader.
 */
#include <stdbool.h>

#include <ck_epoch.h>

#include "bench/epoch_smr.h"

static ck_epoch_t ck_global;
static ck_epoch_record_t ck_reader, ck_writer;
static bool ck_ready;

#define	SMR		kit
#define	SMR_DECL	ck_epoch_record_t *r = &ck_reader
#define	SMR_ENTER	ck_epoch_begin(r, NULL)
#define	SMR_EXIT	(void)ck_epoch_end(r, NULL)
#define	SMR_ONLINE	(void)0
#define	SMR_OFFLINE	(void)0
#define	SMR_INNER_ENTER	ck_epoch_begin(r, NULL)
#define	SMR_INNER_EXIT	(void)ck_epoch_end(r, NULL)
#include "bench/epoch_smr_loops.h"

/* Called by the writer first; the records serve all later threads. */
static void
kit_init(void)
{
	if (ck_ready)
		return;
	ck_epoch_init(&ck_global);
	ck_epoch_register(&ck_global, &ck_reader, NULL);
	ck_epoch_register(&ck_global, &ck_writer, NULL);
	ck_ready = true;
}

static void
kit_fini(void)
{
}

static void
kit_sync(void)
{
	ck_epoch_synchronize(&ck_writer);
}

static void
kit_cb(ck_epoch_entry_t *entry)
{
	smr_consume((struct smr_node *)(void *)entry);
}

static void
kit_defer(struct smr_node *n)
{
	ck_epoch_call(&ck_writer, (ck_epoch_entry_t *)(void *)n->n_hook,
	    kit_cb);
}

static void
kit_poll(void)
{
	(void)ck_epoch_poll(&ck_writer);
}

static void
kit_barrier(void)
{
	ck_epoch_barrier(&ck_writer);
}

const struct smr smr_ck = {
	.s_name = "ck_epoch",
	.s_thread_init = kit_init,
	.s_thread_fini = kit_fini,
	SMR_LOOPS(kit),
	.s_sync = kit_sync,
	.s_defer = kit_defer,
	.s_poll = kit_poll,
	.s_barrier = kit_barrier,
};
