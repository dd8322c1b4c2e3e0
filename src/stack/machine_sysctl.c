/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The tunables and counters that belong to the process or to the machine as
 * a whole: the epoch's statistics, packet memory, features.  Control plane
 * only.  The epoch and the mbufs are the process's: several machines in one
 * process show the same figures.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <netepoch/epoch.h>

#include "ifnet/vnet.h"
#include "intr/intr_var.h"
#include "mbuf/mbuf.h"
#include "stack/machine.h"
#include "stack/stack_private.h"
#include "sys/log.h"
#include "sys/sysctl.h"

#define	STALL_MS_MAX	3600000		/* an hour */

static _Atomic int stall_ms = 1000;	/* (a) relaxed */

/* The leaves that show one member of struct epoch_stats. */
static const struct epoch_leaf {
	const char	*el_name;
	size_t		 el_member;	/* offset */
	const char	*el_descr;
} epoch_leaves[] = {
#define	E(name, member, descr)						\
	{ "kern.epoch.stats." name, offsetof(struct epoch_stats, member), \
	    descr }
	E("nblocked", es_nblocked, "waits that met a thread in a section"),
	E("switches", es_switches, "times a waiter gave up its CPU"),
	E("epoch_calls", es_epoch_calls, "callbacks run"),
	E("epoch_call_tasks", es_epoch_call_tasks, "batches of callbacks run"),
	E("advances", es_advances, "grace periods begun"),
	E("backlog", es_backlog, "callbacks queued and not yet run"),
	E("backlog_max", es_backlog_max, "most callbacks queued at a time"),
	E("throttled", es_throttled, "calls that waited for the backlog"),
	E("oldest_ns", es_oldest, "age of the oldest queued callback, ns"),
	E("oldest_max_ns", es_oldest_max,
	    "greatest age of a callback when it ran, ns"),
	E("longest_section_ns", es_longest_section,
	    "longest section seen, at least, ns"),
	E("longest_grace_ns", es_longest_grace,
	    "longest grace period that met a section, ns"),
	E("stalls", es_stalls, "sections reported as stalled"),
	E("records", es_records, "records of threads"),
#undef E
};

static uint64_t
epoch_leaf_get(void *arg)
{
	const struct epoch_leaf *el = arg;
	struct epoch_stats es;

	epoch_stats_get(net_epoch_preempt, &es);
	return (*(const uint64_t *)(const void *)((const char *)&es +
	    el->el_member));
}

/* On the reclaim thread: a reader that holds up reclamation is named. */
static void
stall_report(const struct epoch_stall *st, void *arg)
{

	log_msg(LOG_WARNING, "epoch %s: thread %s (%d) in a section for %ju "
	    "ms%s%s", st->st_name, st->st_thread, st->st_tid,
	    (uintmax_t)(st->st_age / 1000000u),
	    st->st_file != NULL ? ", entered at " : "",
	    st->st_file != NULL ? st->st_file : "");
}

static int
stall_get(void *arg, char *buf, size_t len)
{

	snprintf(buf, len, "%d", atomic_load_explicit(&stall_ms,
	    memory_order_relaxed));
	return (0);
}

static int
stall_set(void *arg, const char *text, char *err, size_t len)
{
	char *end;
	long ms;

	errno = 0;
	ms = strtol(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0 || ms < 0 ||
	    ms > STALL_MS_MAX) {
		snprintf(err, len, "expected 0 (off) to %d milliseconds",
		    STALL_MS_MAX);
		return (EINVAL);
	}
	atomic_store_explicit(&stall_ms, (int)ms, memory_order_relaxed);
	epoch_set_stall(net_epoch_preempt, (unsigned int)ms, stall_report,
	    NULL);
	return (0);
}

static uint64_t
mbufs_all(void *arg)
{

	return (mbuf_nframes());
}

static uint64_t
mbufs_free(void *arg)
{

	return (mbuf_nfree());
}

static uint64_t
mbufs_failed(void *arg)
{

	return (mbuf_nofree());
}

static uint64_t
feature_present(void *arg)
{

	return (1);
}

static uint64_t
cpus(void *arg)
{
	const struct machine *ma = arg;

	return ((uint64_t)intr_domain_ncpus(ma->ma_vnet->v_intr));
}

static const struct {
	const char	*name;
	sysctl_u64_fn	*fn;
	const char	*descr;
} figures[] = {
	{ "hw.ncpu", cpus, "CPUs that serve interrupts" },
	{ "kern.ipc.mbufs", mbufs_all, "packet buffers of the process" },
	{ "kern.ipc.mbufs_free", mbufs_free, "packet buffers not in use" },
	{ "kern.ipc.mbufs_failed", mbufs_failed,
	    "requests for packet buffers that failed" },
	{ "kern.features.inet", feature_present, "IPv4 is there" },
};

int
machine_sysctl_attach(struct machine *ma)
{
	struct sysctl_tree *tree = ma->ma_vnet->v_sysctl;
	int error;

	for (size_t i = 0; i < nitems(epoch_leaves); i++) {
		error = sysctl_add_u64(tree, epoch_leaves[i].el_name,
		    epoch_leaf_get, (void *)(uintptr_t)&epoch_leaves[i],
		    epoch_leaves[i].el_descr);
		if (error != 0)
			return (error);
	}
	for (size_t i = 0; i < nitems(figures); i++) {
		error = sysctl_add_u64(tree, figures[i].name, figures[i].fn,
		    ma, figures[i].descr);
		if (error != 0)
			return (error);
	}
	epoch_set_stall(net_epoch_preempt, (unsigned int)stall_ms,
	    stall_report, NULL);
	return (sysctl_add_string(tree, "kern.epoch.stall_ms", CTLFLAG_RW,
	    stall_get, stall_set, NULL,
	    "milliseconds in a section after which a thread is named, 0: off"));
}
