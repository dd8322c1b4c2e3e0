/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * What the files of libepoch share.
 *
 * Locks: epoch_lock guards slots, thread blocks, records and queues coming
 * and going.  It is taken with all signals blocked, because a signal handler
 * may enter an epoch for the first time.  es_mtx of a slot serialises
 * whoever reclaims; callbacks run under it.  Order: es_mtx, epoch_lock.
 *
 * Keys of members: (c) constant once made, (t) only the owning thread,
 * (a) atomic, (l) epoch_lock, (m) es_mtx, (p) only the queue's producer.
 */
#ifndef EPOCH_PRIVATE_H
#define	EPOCH_PRIVATE_H

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include <netepoch/epoch.h>

#ifdef EPOCH_HAVE_SDT
#include <sys/sdt.h>
#define	EPOCH_LIB_PROBE1(name, a)	DTRACE_PROBE1(epoch, name, a)
#define	EPOCH_LIB_PROBE2(name, a, b)	DTRACE_PROBE2(epoch, name, a, b)
#else
#define	EPOCH_LIB_PROBE1(name, a)	((void)0)
#define	EPOCH_LIB_PROBE2(name, a, b)	((void)0)
#endif

/* A build may give the network's epoch the other kind of barrier. */
#ifdef EPOCH_NET_ASYMMETRIC
#define	EPOCH_NET_FLAGS	(EPOCH_PREEMPT | EPOCH_ASYMMETRIC)
#else
#define	EPOCH_NET_FLAGS	EPOCH_PREEMPT
#endif

#define	EPOCH_HIDDEN	__attribute__((visibility("hidden")))

#define	EPOCH_BATCH	1024U		/* calls between looks at the backlog */
#define	EPOCH_TICK_NS	1000000		/* reclaimer's period while busy */
#define	EPOCH_THROTTLE_NS 100000000 /* longest wait of one epoch_call() */

/*
 * What one thread has deferred for one epoch.  The producer appends at
 * q_put, whoever holds es_mtx consumes at rq_head.  One slot stays empty, so
 * that a full ring differs from an empty one.  A queue outlives its
 * thread, and a later thread takes it over with what it holds.
 */
struct epoch_ring {
	struct epoch_queue rq;		/* the producer's end */
	epoch_context_t	*rq_slots;	/* (c) EPOCH_RING of them */

	uint64_t	 rq_head	/* (a) written under es_mtx */
	    __attribute__((aligned(EPOCH_LINE)));
	uint64_t	 rq_mark;	/* (m) end of the batch in wait */
	uint64_t	 rq_over_done;	/* (a) of the list, run */

	pthread_mutex_t	 rq_mtx		/* for the list below */
	    __attribute__((aligned(EPOCH_LINE)));
	epoch_context_t	 rq_over;	/* (rq_mtx) that found the ring full */
	uint64_t	 rq_over_in;	/* (rq_mtx, read a) ever put there */
	epoch_context_t	 rq_over_mark;	/* (m) the part in the batch */
	struct epoch_ring *rq_next;	/* (c) in es_queues */
	const void	*rq_owner;	/* (l) NULL: free for a new thread */
} __attribute__((aligned(EPOCH_LINE)));

/* An epoch with its writers' side. */
struct epoch_slot {
	epoch_t		 es_epoch;	/* (c) the part that readers see */
	struct epoch_ring *es_queues;	/* (a) push only */
	char		 es_name[32];	/* (c) */
	uint32_t	 es_inuse;	/* (l, read a) */

	pthread_mutex_t	 es_mtx		/* reclaiming */
	    __attribute__((aligned(EPOCH_LINE)));
	uint64_t	 es_goal;	/* (m, read a) of the batch; 0: none */
	struct epoch_record *es_scan;	/* (m) next to look at for es_goal */
	uint64_t	 es_batches;	/* (m) run so far */
	uint64_t	 es_marked;	/* (m, read a) when queues were looked at */
	uint64_t	 es_batch_birth; /* (m, read a) nothing in it is older */
	uint64_t	 es_birth;	/* (a) first call after idleness */
	bool		 es_fenced;	/* (m) membarrier issued for es_goal */

	uint64_t	 es_base;	/* (c) e_value at epoch_alloc() */
	uint64_t	 es_stall_ns;	/* (a) 0: no reports */
	epoch_stall_t	 es_stall_cb;	/* (l) */
	void		*es_stall_arg;	/* (l) */
	uint64_t	 es_look_due;	/* (reclaim thread) next look, ns */
	uint32_t	 es_looking;	/* (a) somebody looks for stalls */
	struct epoch_stats es_stats;	/* (a) relaxed */
};

/* p_watch of a place. */
#define	EPOCH_WATCH_TIME	1U	/* it is timed */
#define	EPOCH_WATCH_REPORT	2U	/* say where it ends, too */

/* A thread, over what the inline functions see of it. */
struct epoch_td {
	struct epoch_thread td_pub;
	struct epoch_td	*td_link;	/* (c) in the list of all */
	struct epoch_td	*td_next;	/* (l) free list */
	pid_t		 td_tid;	/* (c) while owned */
	struct epoch_slot *td_running;	/* (t) callbacks of this one run */
	uint64_t	 td_entered;	/* (t) its records that are listed */
	/* Debug builds only. */
	struct epoch_tracker *td_trackers; /* (t) open, newest first */
	uintptr_t	 td_stack_lo;	/* (t) 0: not yet known */
	uintptr_t	 td_stack_hi;	/* (t) */
	struct epoch_place {
		const char *p_file;	/* (a) where the outermost entered */
		int	 p_line;	/* (a) */
		uint8_t	 p_watch;	/* (t) what its end is to do */
		uint8_t	 p_untimed;	/* (t) sections until one is timed */
		uint16_t p_timed;	/* (t) in a row, since */
		uint64_t p_coarse;	/* (a) when, to a tick; 0: not timed */
		uint64_t p_exact;	/* (t) when, or 0 */
	} td_place[EPOCH_MAX];
};

/* State of a wait that met somebody in a section. */
struct epoch_backoff {
	uint64_t	 eb_start;	/* 0: has not waited yet */
	unsigned int	 eb_spins;
	unsigned int	 eb_sleeps;
};

/* In e_flags: the epoch is in use.  Debug builds ask nothing else. */
#define	EPOCH_LIVE	0x80000000U

EPOCH_HIDDEN extern struct epoch epoch_all[EPOCH_MAX];
EPOCH_HIDDEN extern struct epoch_slot epoch_slots[EPOCH_MAX];
EPOCH_HIDDEN extern pthread_mutex_t epoch_lock;

static inline struct epoch_slot *
epoch_slot(epoch_t e)
{
	return (&epoch_slots[e - epoch_all]);
}

static inline unsigned int
epoch_slot_flags(const struct epoch_slot *es)
{
	return (__atomic_load_n(&es->es_epoch->e_flags, __ATOMIC_RELAXED));
}

static inline unsigned int
epoch_index(const struct epoch_slot *es)
{
	return ((unsigned int)(es - epoch_slots));
}

/* The empty stand-in until the first entry, or epoch_td_get(). */
static inline struct epoch_td *
epoch_td_self(void)
{
	return ((struct epoch_td *)(void *)epoch_self);
}

static inline void
epoch_count(uint64_t *counter, uint64_t n)
{
	(void)__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

static inline void
epoch_count_max(uint64_t *counter, uint64_t n)
{
	uint64_t old = __atomic_load_n(counter, __ATOMIC_RELAXED);

	while (old < n && !__atomic_compare_exchange_n(counter, &old, n, true,
	    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
}

static inline void
epoch_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#else
	__asm__ volatile("" ::: "memory");
#endif
}

/* epoch.c */
EPOCH_HIDDEN uint64_t epoch_now(void);
EPOCH_HIDDEN void epoch_heavy_barrier(struct epoch_slot *);
EPOCH_HIDDEN bool epoch_heavy_barrier_works(void);
EPOCH_HIDDEN void epoch_heavy_barrier_register(void);
EPOCH_HIDDEN void epoch_backoff(struct epoch_slot *, struct epoch_backoff *,
    struct epoch_record *);
EPOCH_HIDDEN void epoch_backoff_end(struct epoch_slot *,
    const struct epoch_backoff *);
EPOCH_HIDDEN void epoch_unusable(epoch_t, const char *);

/* Is e an epoch in use?  Nothing of it is looked at if it is none of ours. */
static inline bool
epoch_usable(epoch_t e)
{
	return ((uintptr_t)e - (uintptr_t)epoch_all < EPOCH_PAGE &&
	    (__atomic_load_n(&e->e_flags, __ATOMIC_RELAXED) & EPOCH_LIVE) !=
	    0);
}

/*
 * Begin a grace period: its goal.  A full barrier between the unlinking
 * before and the scan after; pairs with the exchange in epoch_publish().
 */
static inline uint64_t
epoch_bump(epoch_t e)
{
	uint64_t goal;

	goal = __atomic_add_fetch(&e->e_value, 1, __ATOMIC_SEQ_CST);
#if !defined(__x86_64__)
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
	return (goal);
}

/*
 * Scan from *rp on; leaves *rp at the first record in the way and returns
 * false, or NULL and true.  A record is in the way when its thread is in a
 * section that it began before goal.  One that passed once need not be looked
 * at again for the same goal.
 */
static inline bool
epoch_goal_passed(struct epoch_record **rp, uint64_t goal)
{
	struct epoch_record *r;
	uint64_t value;

	for (r = *rp; r != NULL; r = r->r_next) {
		value = __atomic_load_n(&r->r_value, __ATOMIC_ACQUIRE);
		if (value != 0 && value < goal)
			break;
	}
	*rp = r;
	return (r == NULL);
}

/* epoch_thread.c */
EPOCH_HIDDEN void epoch_lock_enter(sigset_t *);
EPOCH_HIDDEN void epoch_lock_exit(const sigset_t *);
EPOCH_HIDDEN void *epoch_mem_alloc(size_t);
EPOCH_HIDDEN struct epoch_td *epoch_td_get(void);
EPOCH_HIDDEN bool epoch_td_inside(const struct epoch_td *);
EPOCH_HIDDEN bool epoch_td_busy(const char *, const struct epoch_slot *);

/* epoch_call.c */
EPOCH_HIDDEN extern struct epoch_ring epoch_noqueue;
EPOCH_HIDDEN size_t epoch_reclaim(struct epoch_slot *, bool *);
EPOCH_HIDDEN uint64_t epoch_backlog(struct epoch_slot *);
EPOCH_HIDDEN uint64_t epoch_oldest(struct epoch_slot *);
EPOCH_HIDDEN void epoch_queues_wake(struct epoch_slot *);
EPOCH_HIDDEN void epoch_queue_forked(struct epoch_ring *, const void *);

/* epoch_reclaim.c */
EPOCH_HIDDEN void epoch_reclaim_kick(void);
EPOCH_HIDDEN void epoch_reclaim_forked(void);

/* epoch_report.c */
EPOCH_HIDDEN void epoch_panicf(const char *, ...)
    __attribute__((format(printf, 1, 2)));
EPOCH_HIDDEN void epoch_reportf(const char *, ...)
    __attribute__((format(printf, 1, 2)));

/* epoch_stall.c */
EPOCH_HIDDEN void epoch_stall_note(struct epoch_slot *,
    struct epoch_record *, uint64_t);
EPOCH_HIDDEN uint64_t epoch_stall_looks(void);
EPOCH_HIDDEN void epoch_stall_bar(struct epoch_slot *);
EPOCH_HIDDEN void epoch_stall_unbar(struct epoch_slot *);

/* Marks in ec_link: its high bits are none of an address. */
#define	EPOCH_QUEUED	0x9e5c000000000000ULL	/* over the next one's address */
#define	EPOCH_RAN	0xdead9e5cdead9e5cULL
#define	EPOCH_MARK_BITS	0xffff000000000000ULL

#ifdef INVARIANTS
/* epoch_debug.c */
EPOCH_HIDDEN void epoch_debug_exit_thread(struct epoch_td *);
EPOCH_HIDDEN void epoch_debug_ran(epoch_context_t);
EPOCH_HIDDEN bool epoch_debug_wait(const char *, epoch_t);
EPOCH_HIDDEN void epoch_debug_place(const struct epoch_record *, unsigned int,
    struct epoch_stall *);
EPOCH_HIDDEN void epoch_debug_clock_init(void);
#else
static inline void
epoch_debug_clock_init(void)
{
}

static inline void
epoch_debug_exit_thread(struct epoch_td *td)
{
	(void)td;
}

static inline void
epoch_debug_ran(epoch_context_t ctx)
{
	(void)ctx;
}

static inline bool
epoch_debug_wait(const char *func, epoch_t e)
{
	(void)func;
	(void)e;
	return (false);
}

static inline void
epoch_debug_place(const struct epoch_record *r, unsigned int i,
    struct epoch_stall *st)
{
	(void)r;
	(void)i;
	(void)st;
}
#endif /* INVARIANTS */

#endif /* EPOCH_PRIVATE_H */
