/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Interrupt events and the ithreads that serve them.
 *
 * An intr_domain is the set of ithreads of one machine, one per CPU given to
 * it, pinned.  An event is a wake source: a file descriptor, or software
 * (intr_event_schedule).  It is bound to one ithread and has handlers, which
 * only that ithread runs; the lists of events and handlers belong to the
 * ithread (t), and changing them is a request that the ithread itself carries
 * out between two passes while the caller waits.  So a removed handler is not
 * running and never runs again when the removal returns, and its memory is
 * the caller's again.
 *
 * An ithread enters the net epoch before the first INTR_TYPE_NET handler of a
 * pass and remembers that in a local variable (D23483); it leaves before a
 * handler of another type, before it sleeps, and after at most
 * hw.intr_epoch_batch handler runs, when it enters again (D23242).
 */
#ifndef _INTR_INTR_VAR_H_
#define	_INTR_INTR_VAR_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sys/counter.h"

struct intr_domain;
struct intr_event;
struct intr_handler;
struct sysctl_tree;

/* Handler flags. */
#define	INTR_TYPE_NET	0x1	/* runs inside the net epoch */
/*
 * Cheap to call when there is nothing to do: called in every pass while the
 * ithread is awake, so that its fd need only be watched in sleep.
 */
#define	INTR_POLL	0x2

/*
 * What a handler returns after working off at most one burst.  It may be
 * called when nothing is waiting.  An INTR_POLL handler says INTR_MORE
 * whenever it found something: one more call is cheap, a sleep is not.
 */
enum intr_more {
	INTR_DONE,			/* nothing is waiting */
	INTR_MORE,			/* call me again */
};
typedef enum intr_more intr_handler_fn(void *arg);
/*
 * Called before the ithread sleeps, outside the epoch: make the fd fire when
 * something comes.  Returns true if something is there already, so that the
 * ithread does not sleep.  For INTR_POLL handlers whose source needs arming.
 */
typedef bool intr_arm_fn(void *arg);

/*
 * cpus: the CPU numbers, n of them; one ithread each, named "intr: cpuN".
 * 0, ENOMEM, EINVAL, or what thread creation gives.  Outside the epoch.
 */
int	intr_domain_alloc(const int *cpus, int n, struct intr_domain **idp);
/* All events must be gone.  Ends and joins the ithreads. */
void	intr_domain_free(struct intr_domain *id);
int	intr_domain_ncpus(const struct intr_domain *id);
/*
 * hw.intr_epoch_batch, hw.intr_storm_threshold, hw.intr_spin_us and counters.
 * The tree must not be read any more when the domain is freed.
 */
int	intr_sysctl_attach(struct intr_domain *id, struct sysctl_tree *tree);

/*
 * A new event on ithread cpu (an index below intr_domain_ncpus(); -1: the
 * least loaded one).  fd -1: software only.  events: EPOLLIN and the like,
 * level triggered.  The fd stays the caller's and must outlive the event.
 * 0, ENOMEM, EINVAL, EPERM (fd that cannot be polled).  Outside the epoch, as
 * are all calls below up to intr_event_schedule().
 */
int	intr_event_create(struct intr_domain *id, const char *name, int cpu,
	    int fd, uint32_t events, struct intr_event **iep);
void	intr_event_destroy(struct intr_event *ie); /* no handlers left */
/*
 * arm needs INTR_POLL.  Handlers run in the order they were added, once right
 * after their addition.  *ihp is set before the first run.
 */
int	intr_handler_add(struct intr_event *ie, int flags,
	    intr_handler_fn *fn, intr_arm_fn *arm, void *arg,
	    struct intr_handler **ihp);
/* Returns when fn is not running and never runs again; frees ih. */
void	intr_handler_remove(struct intr_handler *ih);
int	intr_event_cpu(const struct intr_event *ie);
/*
 * The ithread that serves the oldest event called name, or "name:...": who
 * sends much on a device does it best there.  -1: there is none.
 */
int	intr_cpu_serving(struct intr_domain *id, const char *name);

/*
 * Make the event's handlers run soon.  Any thread, inside or outside the
 * epoch; never blocks; cheap when the ithread is awake or is the caller.
 */
void	intr_event_schedule(struct intr_event *ie);
/* True on an ithread; for assertions and for choosing direct dispatch. */
bool	intr_on_ithread(void);

/* One row per event for vmstat -i; taken by the control plane. */
struct intr_stat {
	char		 is_name[48];
	int		 is_cpu;	/* the CPU's number */
	uint64_t	 is_total;	/* times the event fired; not counted
					   where polling made that needless */
	uint64_t	 is_runs;	/* handler runs */
	uint64_t	 is_storms;	/* times it was throttled */
};
/* Fills up to max rows; returns how many events there are. */
int	intr_stats(struct intr_domain *id, struct intr_stat *is, int max);
/* Sums over the domain. */
struct intr_totals {
	uint64_t	 it_interrupts;	/* events fired */
	uint64_t	 it_runs;	/* handler runs */
	uint64_t	 it_entries;	/* epoch entries by ithreads */
	uint64_t	 it_reentries;	/* of these, for hw.intr_epoch_batch */
	uint64_t	 it_sleeps;	/* times an ithread went to sleep */
	uint64_t	 it_spins;	/* times spinning found work in time */
};
void	intr_totals(struct intr_domain *id, struct intr_totals *it);

#endif /* _INTR_INTR_VAR_H_ */
