/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What intr.c (control side) and ithread.c (the loop) share.
 *
 * Keys: (t) only the owning ithread, d is id_mtx of the domain, q is it_mtx
 * of the ithread.  Neither lock is held while the other is taken.
 */
#ifndef _INTR_INTR_PRIVATE_H_
#define	_INTR_INTR_PRIVATE_H_

#include <sys/queue.h>

#include <pthread.h>

#include "intr/intr_var.h"
#include "sys/counter.h"
#include "sys/defs.h"
#include "sys/lock.h"
#include "sys/log.h"

/*
 * Default of hw.intr_epoch_batch.  The unit is one handler run.  It is the
 * smallest with which no loss of throughput of more than 1 % is proven against
 * FreeBSD's 1000, also when a run has one packet only: 16 loses 1.1 % then.
 * Grace periods grow with the batch: docs/experiments/3-batch.md.
 */
#define	INTR_EPOCH_BATCH	32

struct ithread;
struct intr_request;
struct pollfd;

typedef int intr_request_fn(struct ithread *it, struct intr_request *rq);

/* A change that the ithread makes for a waiting caller; on its stack. */
struct intr_request {
	struct intr_request *rq_next;	/* (a) published by the push */
	intr_request_fn	*rq_fn;		/* (c) */
	struct intr_event *rq_ie;	/* (c) */
	struct intr_handler *rq_ih;	/* (c) */
	int		 rq_error;	/* (q) */
	bool		 rq_done;	/* (q) */
};

struct intr_handler {
	SLIST_ENTRY(intr_handler) ih_link; /* (t) */
	struct intr_event *ih_event;	/* (c) */
	intr_handler_fn	*ih_fn;		/* (c) */
	intr_arm_fn	*ih_arm;	/* (c) or NULL */
	void		*ih_arg;	/* (c) */
	int		 ih_flags;	/* (c) INTR_TYPE_NET, INTR_POLL */
};

/* Counter cells of an event, from ie_cells on. */
enum intr_event_cell { IEC_TOTAL, IEC_RUNS, IEC_STORMS, IEC_COUNT };

/* Counter cells of a domain, from id_cells on. */
enum intr_domain_cell {
	IDC_ENTRIES, IDC_REENTRIES, IDC_SLEEPS, IDC_SPINS, IDC_COUNT
};

#define	INTR_WATCH_SLEEP	0x1	/* in it_epfd */
#define	INTR_WATCH_BUSY		0x2	/* in it_busyfd */
#define	INTR_WATCH_POLL		0x4	/* in none: poll(2) asks in sleep */

struct intr_event {
	struct ithread	*ie_ithread;	/* (c) */
	SLIST_HEAD(, intr_handler) ie_handlers; /* (t) */
	counter_t	 ie_cells;	/* (c) IEC_COUNT of them */
	bool		 ie_fired;	/* (t) the next pass runs all handlers;
					   if not polled: on it_active */
	bool		 ie_throttled;	/* (t) on it_throttled */
	_Atomic bool	 ie_polled;	/* (a) has an INTR_POLL handler: on
					   it_polled; written by (t), see
					   intr_event_schedule() */
	STAILQ_ENTRY(intr_event) ie_active; /* (t) */
	LIST_ENTRY(intr_event) ie_poll;	/* (t) */

	int		 ie_fd;		/* (c) or -1 */
	uint32_t	 ie_events;	/* (c) EPOLLIN and the like */
	unsigned int	 ie_watched;	/* (t) INTR_WATCH_ */

	/* Storms. */
	LIST_ENTRY(intr_event) ie_throttle; /* (t) */
	uint64_t	 ie_idle;	/* (t) it_idle when ie_count began */
	uint64_t	 ie_until;	/* (t) time_ns() to listen again */
	unsigned int	 ie_count;	/* (t) fired without the ithread idle */
	struct log_limit ie_storm_log;	/* (a) */

	TAILQ_ENTRY(intr_event) ie_link; /* (d) id_events */
	char		 ie_name[48];	/* (c) */

	/* Written by those who schedule: on a line of its own. */
	_Atomic bool	 ie_pending __cacheline_aligned; /* (a) acq_rel */
	struct intr_event *ie_next;	/* (a) published by the push; belongs
					   to whoever raised ie_pending */
};

STAILQ_HEAD(intr_event_queue, intr_event);

enum ithread_state { ITHREAD_AWAKE, ITHREAD_ASLEEP };

struct ithread {
	struct intr_domain *it_domain;	/* (c) */
	struct intr_event_queue it_active; /* (t) fired, not polled */
	LIST_HEAD(, intr_event) it_polled; /* (t) events with INTR_POLL */
	LIST_HEAD(, intr_event) it_throttled; /* (t) */
	bool		 it_more;	/* (t) a polled event wants a pass */
	bool		 it_stop;	/* (t) */
	unsigned int	 it_runs;	/* (t) handler runs since it was 0 */
	unsigned int	 it_nbusy;	/* (t) events in it_busyfd */
	uint64_t	 it_look;	/* (t) time_ns() of the last look */
	uint64_t	 it_idle;	/* (t) times found idle */
	unsigned int	 it_nfds;	/* (t) events with a fd */
	unsigned int	 it_npoll;	/* (t) those with INTR_WATCH_POLL */
	unsigned int	 it_maxpoll;	/* (t) size of it_poll: more than
					   it_nfds */
	struct pollfd	*it_poll;	/* (t) it_epfd, then the polled ones */
	int		 it_epfd;	/* (c) the other events: to sleep on */
	int		 it_busyfd;	/* (c) events that need looking at while
					   the ithread is busy */
	int		 it_wakefd;	/* (c) eventfd in it_epfd */
	int		 it_cpu;	/* (c) the CPU's number */
	unsigned int	 it_nevents;	/* (d) */
	struct thread	*it_td;		/* (c) */
	pthread_mutex_t	 it_mtx;
	pthread_cond_t	 it_done;	/* (q) some rq_done was set */

	/* Read by everybody who schedules, written twice a sleep. */
	_Atomic int	 it_state __cacheline_aligned; /* (a) see ithread.c */

	/* Written by those who schedule or ask. */
	_Atomic(struct intr_event *) it_scheduled __cacheline_aligned; /* (a) */
	_Atomic(struct intr_request *) it_requests; /* (a) */
};

struct intr_domain {
	/* Tunables: read by every ithread, written by sysctl only. */
	_Atomic int	 id_batch;	/* (a) relaxed */
	_Atomic int	 id_storm;	/* (a) relaxed */
	_Atomic int	 id_spin_us;	/* (a) relaxed */
	counter_t	 id_cells;	/* (c) IDC_COUNT of them */
	int		 id_ncpus;	/* (c) */
	struct ithread	*id_ithreads;	/* (c) id_ncpus of them */
	struct mtx	 id_mtx;
	TAILQ_HEAD(, intr_event) id_events; /* (d) in order of creation */
	unsigned int	 id_nevents;	/* (d) */
	uint64_t	 id_gone[IEC_COUNT]; /* (d) cells of destroyed events */
};

extern _Thread_local struct ithread *ithread_self;

/* A full barrier: store before it, load after it.  Never mfence: 23 ns. */
static inline void
intr_full_barrier(void)
{

#if defined(__x86_64__)
	__asm__ __volatile__("lock; addl $0, -4(%%rsp)" ::: "memory", "cc");
#else
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

static inline void
intr_cpu_pause(void)
{

#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

/* ithread.c */
void	ithread_main(void *arg);
int	ithread_request(struct ithread *it, intr_request_fn *fn,
	    struct intr_event *ie, struct intr_handler *ih);
/* The following run on the ithread, as requests. */
int	ithread_event_check(struct ithread *it, struct intr_request *rq);
int	ithread_event_forget(struct ithread *it, struct intr_request *rq);
int	ithread_handler_add(struct ithread *it, struct intr_request *rq);
int	ithread_handler_remove(struct ithread *it, struct intr_request *rq);
int	ithread_end(struct ithread *it, struct intr_request *rq);

/* In debug builds: point sys/lock.h's hook at libepoch's check. */
void	intr_checks_init(void);

#endif /* _INTR_INTR_PRIVATE_H_ */
