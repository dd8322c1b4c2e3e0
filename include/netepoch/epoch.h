/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * libepoch: epoch based memory reclamation for any threaded program, with the
 * names and the meaning of FreeBSD's epoch(9).  See epoch(9) of this project
 * for each function, and for what differs from the kernel.
 *
 * A reader brackets its walk by epoch_enter() and epoch_exit(), or by the
 * _preempt pair with a tracker on its stack.  A writer unlinks an object and
 * then either waits (epoch_wait) or hands the object's context over
 * (epoch_call).  Sections nest; only the outermost counts.
 *
 * The structures below are visible because entering is inline.  No program
 * should touch their members.
 *
 * Compile with -DINVARIANTS and link libepoch_debug (pkg-config epoch_debug)
 * to have every rule checked at run time.  With -DEPOCH_EXTERN the inline
 * functions are declared only, and come from the library.
 */
#ifndef NETEPOCH_EPOCH_H
#define	NETEPOCH_EPOCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if UINTPTR_MAX < UINT64_MAX
#error libepoch needs 64-bit addresses
#endif

#ifdef EPOCH_PROBES
#include <sys/sdt.h>
#define	EPOCH_PROBE1(name, a)	DTRACE_PROBE1(epoch, name, a)
#else
#define	EPOCH_PROBE1(name, a)	((void)0)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of epoch_alloc(). */
#define	EPOCH_PREEMPT	 0x01U	/* sections have trackers */
#define	EPOCH_LOCKED	 0x02U	/* with PREEMPT: a wait may hold mutexes */
#define	EPOCH_ASYMMETRIC 0x04U	/* no fence at entry; membarrier(2) at wait */
#define	EPOCH_POLLED	 0x08U	/* the program runs the callbacks itself */
#define	EPOCH_HELP	 0x10U	/* with POLLED: epoch_call() may run them */

#define	EPOCH_MAX	64	/* epochs in a process */
#define	EPOCH_RING	16384U	/* callbacks a thread may have outstanding */
#define	EPOCH_LINE	128	/* two cache lines: prefetchers fetch pairs */
#define	EPOCH_HALF	64	/* one */

/*
 * All epochs lie in one page, so that the address itself says which it is: a
 * nested section does not read this line, which a waiting writer changes.
 */
struct epoch {
	uint64_t	 e_value;	/* (a) bumped by writers, never 0 */
	uint32_t	 e_flags;	/* (c) while the epoch exists */
	struct epoch_record *e_records;	/* (a) for writers; push only */
} __attribute__((__aligned__(EPOCH_HALF)));

#define	EPOCH_PAGE	(EPOCH_MAX * sizeof(struct epoch))

typedef struct epoch *epoch_t;

/*
 * r_value until a thread's first entry.  Above every goal, so in no writer's
 * way; negative, so that one look at the sign tells it from a section.
 */
#define	EPOCH_NOBODY	UINT64_MAX

/* What a thread publishes for one epoch: its line is read by writers. */
struct epoch_record {
	uint64_t	 r_value;	/* (a) e_value at entry; 0: outside */
	struct epoch_record *r_next;	/* (c) in the epoch's list, if there */
	const void	*r_owner;	/* (a) NULL: of no living thread */
	uint64_t	 r_stalled;	/* (a) r_value already reported */
	int32_t		 r_tid;		/* (a) for reports */
	uint32_t	 r_listed;	/* (l) is in the epoch's list */
	/* Of those who look for stalls, one at a time. */
	uint64_t	 r_seen;	/* r_value at the last look */
	uint64_t	 r_since;	/* when it was seen first, ns */
} __attribute__((__aligned__(EPOCH_HALF)));

struct epoch_context;
typedef struct epoch_context *epoch_context_t;
typedef void (*epoch_callback_t)(epoch_context_t);

/* Lies in the object to be freed.  Ours from epoch_call() to the callback. */
struct epoch_context {
	epoch_callback_t ec_callback;
	uintptr_t	 ec_link;
};

/* The producer's end of what a thread has deferred for one epoch. */
struct epoch_queue {
	epoch_context_t	*q_put;		/* (a) next slot; its thread writes */
	epoch_context_t	*q_stop;	/* (t) where to look around */
	uint32_t	 q_wake;	/* (a) the reclaimer sleeps */
};

/*
 * A thread's side of one epoch.  The record is in here, and not behind a
 * pointer, because a pair is bound by what it must look up.  The rest has a
 * line of its own, which no other thread looks at.
 */
struct epoch_section {
	struct epoch_record s_record;
	uint64_t	 s_nested	/* (t) entries beyond the outermost */
	    __attribute__((__aligned__(EPOCH_HALF)));
	struct epoch_queue *s_queue;	/* (t) a stand-in before first use */
} __attribute__((__aligned__(EPOCH_LINE)));

struct epoch_thread {
	struct epoch_section td_section[EPOCH_MAX];
};

/* This thread; an empty stand-in until its first entry. */
extern __thread struct epoch_thread *epoch_self
    __attribute__((__tls_model__("initial-exec")));

/*
 * One open preemptible section, on the stack of the thread that opened it.
 * Release builds do not touch it; its size is the same in both builds.
 */
struct epoch_tracker {
	struct epoch_tracker *et_prev;
	const void	*et_td;
	epoch_t		 et_epoch;
	const char	*et_file;
	int		 et_line;
	int		 et_spare;
};
typedef struct epoch_tracker *epoch_tracker_t;

/* Counters of one epoch since its allocation; all times in nanoseconds. */
struct epoch_stats {
	uint64_t	 es_advances;	/* values used: waits, batches, looks */
	uint64_t	 es_nblocked;	/* a wait met a thread in a section */
	uint64_t	 es_switches;	/* a waiter gave up its CPU */
	uint64_t	 es_membarriers; /* membarrier(2) calls */
	uint64_t	 es_epoch_calls; /* callbacks run */
	uint64_t	 es_epoch_call_tasks; /* batches run */
	uint64_t	 es_backlog;	/* callbacks queued, not yet run */
	uint64_t	 es_backlog_max; /* highest when a batch was taken */
	uint64_t	 es_overflows;	/* calls that found the ring full */
	uint64_t	 es_throttled;	/* calls that waited for the backlog */
	uint64_t	 es_oldest;	/* age of the oldest queued, at most */
	uint64_t	 es_oldest_max;	/* the same, highest when run */
	uint64_t	 es_longest_section; /* seen; debug: or timed */
	uint64_t	 es_longest_grace; /* that met a section */
	uint64_t	 es_stalls;	/* stall reports */
	uint64_t	 es_abandoned;	/* sections open when a thread ended */
	uint64_t	 es_records;	/* of threads, in use or free */
	uint64_t	 es_spare[7];
};

/* What a stall handler is told.  Strings live until it returns. */
struct epoch_stall {
	epoch_t		 st_epoch;
	const char	*st_name;	/* of the epoch */
	const char	*st_thread;	/* name of the thread inside */
	int		 st_tid;	/* its Linux thread id */
	uint64_t	 st_age;	/* ns in the section, at least */
	const char	*st_file;	/* debug builds: where it entered */
	int		 st_line;
};

typedef void (*epoch_report_t)(const char *);
typedef void (*epoch_stall_t)(const struct epoch_stall *, void *);

extern struct epoch *const net_epoch_preempt;

/* Life of an epoch. */
epoch_t	 epoch_alloc(const char *, unsigned int);
void	 epoch_free(epoch_t);
const char *epoch_name(epoch_t);
unsigned int epoch_flags(epoch_t);

/* Grace periods and callbacks; never inside a section of the same epoch. */
void	 epoch_wait(epoch_t);
void	 epoch_wait_preempt(epoch_t);
void	 epoch_drain_callbacks(epoch_t);
size_t	 epoch_poll(epoch_t);

/* Diagnostics. */
int	 in_epoch_verbose(epoch_t, int);
void	 epoch_stats_get(epoch_t, struct epoch_stats *);
void	 epoch_set_stall(epoch_t, unsigned int, epoch_stall_t, void *);
unsigned int epoch_stall_check(epoch_t);
void	 epoch_where_report(epoch_t);
epoch_report_t epoch_set_panic_handler(epoch_report_t);
epoch_report_t epoch_set_report_handler(epoch_report_t);
int	 epoch_trace_list(char *, size_t);

/* Called by the inline functions below and by the macros; not by programs. */
void	 epoch_enter_first(epoch_t);
void	 epoch_call_slow(epoch_t, epoch_callback_t, epoch_context_t);
void	 epoch_call_stop(epoch_t);
void	 epoch_call_debug(epoch_t, epoch_callback_t, epoch_context_t,
	    const char *, int);
void	 epoch_panic(const char *, const char *, int);
void	 epoch_enter_debug(epoch_t, const char *, int);
void	 epoch_exit_debug(epoch_t, const char *, int);
void	 epoch_enter_preempt_debug(epoch_t, epoch_tracker_t, const char *,
	    int);
void	 epoch_exit_preempt_debug(epoch_t, epoch_tracker_t, const char *, int);
void	 epoch_sleepable_assert(const char *, const char *, int);
void	 epoch_live_assert(epoch_context_t, const char *, int);

/* This thread's side of an epoch. */
static inline struct epoch_section *
epoch_section_self(epoch_t e)
{
	return ((struct epoch_section *)(void *)((char *)epoch_self +
	    (uintptr_t)e % EPOCH_PAGE *
	    (sizeof(struct epoch_section) / sizeof(struct epoch))));
}

/*
 * Publish the current value.  The writer unlinks, bumps e_value and then
 * scans; we publish and then read.  One of us must see the other, which takes
 * a full barrier on both sides: here the exchange, or, in an asymmetric
 * epoch, the membarrier(2) that the writer issues between bump and scan.
 * Both stores release: a writer that sees this value also sees every earlier
 * section of this thread finished.  The asymmetric kind is laid out straight
 * because it is the one that notices a jump.
 */
static inline void
epoch_publish(epoch_t e, struct epoch_record *r)
{
	uint64_t value;

	value = __atomic_load_n(&e->e_value, __ATOMIC_ACQUIRE);
	if (__builtin_expect((e->e_flags & EPOCH_ASYMMETRIC) != 0, 1)) {
		__atomic_store_n(&r->r_value, value, __ATOMIC_RELEASE);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		return;
	}
	(void)__atomic_exchange_n(&r->r_value, value, __ATOMIC_SEQ_CST);
#if !defined(__x86_64__)
	/* Elsewhere the exchange orders less than the scan needs. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/*
 * Enter.  The published value itself says whether the thread is inside, so
 * the outermost entry is one store, and a nested one does not write to the
 * line that writers read.  A signal handler that enters and leaves between
 * any two instructions finds the record either not yet published, or
 * published and to be left so.
 */
static inline void
epoch_enter_raw(epoch_t e)
{
	struct epoch_section *s = epoch_section_self(e);
	int64_t value;

	value = (int64_t)__atomic_load_n(&s->s_record.r_value,
	    __ATOMIC_RELAXED);
	if (__builtin_expect(value == 0, 1))
		epoch_publish(e, &s->s_record);
	else if (__builtin_expect(value > 0, 1))
		s->s_nested++;
	else
		epoch_enter_first(e);
	EPOCH_PROBE1(enter, e);
}

/* Exit.  The release pairs with the acquire of the writer's scan. */
static inline void
epoch_exit_raw(epoch_t e)
{
	struct epoch_section *s = epoch_section_self(e);

	EPOCH_PROBE1(exit, e);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(s->s_nested == 0, 1))
		__atomic_store_n(&s->s_record.r_value, 0, __ATOMIC_RELEASE);
	else
		s->s_nested--;
}

/* Is the thread in a section of the epoch of s? */
static inline bool
epoch_section_inside(const struct epoch_section *s)
{
	return ((int64_t)__atomic_load_n(&s->s_record.r_value,
	    __ATOMIC_RELAXED) > 0);
}

/* How many sections of its epoch are open in s. */
static inline uint64_t
epoch_section_depth(const struct epoch_section *s)
{
	return (epoch_section_inside(s) ? s->s_nested + 1 : 0);
}

/*
 * Defer.  The ring is this thread's alone, so plain stores do; the release
 * publishes the slot, and what was unlinked before, to whoever reclaims.  The
 * reclaimer's sleep is looked at after that: its half of the fence between
 * the two is a membarrier(2).
 */
static inline void
epoch_call_raw(epoch_t e, epoch_callback_t cb, epoch_context_t ctx)
{
	struct epoch_queue *q = epoch_section_self(e)->s_queue;
	epoch_context_t *put = q->q_put;

	EPOCH_PROBE1(call, e);
	if (__builtin_expect(put == q->q_stop, 0)) {
		epoch_call_slow(e, cb, ctx);
		return;
	}
	ctx->ec_callback = cb;
	*put = ctx;
	__atomic_store_n(&q->q_put, put + 1, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(__atomic_load_n(&q->q_wake, __ATOMIC_RELAXED) !=
	    0, 0))
		epoch_call_stop(e);
}

#ifdef EPOCH_EXTERN

/* As symbols of the library, for what cannot use inline functions. */
int	 in_epoch(epoch_t);
void	 epoch_call(epoch_t, epoch_callback_t, epoch_context_t);
void	 epoch_enter(epoch_t);
void	 epoch_exit(epoch_t);
void	 epoch_enter_preempt(epoch_t, epoch_tracker_t);
void	 epoch_exit_preempt(epoch_t, epoch_tracker_t);

#else

/* 1 if this thread is in a section of e, else 0; also for a NULL epoch. */
static inline int
in_epoch(epoch_t e)
{
	return (e != NULL && epoch_section_inside(epoch_section_self(e)));
}

#ifdef INVARIANTS

#define	epoch_call(e, cb, ctx)						\
	epoch_call_debug((e), (cb), (ctx), __FILE__, __LINE__)
#define	epoch_enter(e)		epoch_enter_debug((e), __FILE__, __LINE__)
#define	epoch_exit(e)		epoch_exit_debug((e), __FILE__, __LINE__)
#define	epoch_enter_preempt(e, et)					\
	epoch_enter_preempt_debug((e), (et), __FILE__, __LINE__)
#define	epoch_exit_preempt(e, et)					\
	epoch_exit_preempt_debug((e), (et), __FILE__, __LINE__)

#else

/*
 * Run cb(ctx) once no section that is open now is open any more.  ctx lies in
 * the object and is ours until then; it must not be queued twice.  Legal
 * inside a section and inside a callback, not in a signal handler.  Does not
 * fail.  Outside all sections it may wait up to 100 ms when EPOCH_RING
 * callbacks of this thread are outstanding.
 */
static inline void
epoch_call(epoch_t e, epoch_callback_t cb, epoch_context_t ctx)
{
	epoch_call_raw(e, cb, ctx);
}

static inline void
epoch_enter(epoch_t e)
{
	epoch_enter_raw(e);
}

static inline void
epoch_exit(epoch_t e)
{
	epoch_exit_raw(e);
}

static inline void
epoch_enter_preempt(epoch_t e, epoch_tracker_t et)
{
	(void)et;
	epoch_enter_raw(e);
}

static inline void
epoch_exit_preempt(epoch_t e, epoch_tracker_t et)
{
	(void)et;
	epoch_exit_raw(e);
}

#endif /* INVARIANTS */
#endif /* EPOCH_EXTERN */

#ifdef INVARIANTS
#define	EPOCH_ASSERT(e)		((void)(in_epoch(e) != 0 ||		\
	(epoch_panic("not in the epoch", __FILE__, __LINE__), 0)))
#define	EPOCH_ASSERT_NOT(e)	((void)(in_epoch(e) == 0 ||		\
	(epoch_panic("in the epoch", __FILE__, __LINE__), 0)))
/* Before a sleep or a sleepable lock, which what names. */
#define	EPOCH_MAY_SLEEP(what)						\
	epoch_sleepable_assert((what), __FILE__, __LINE__)
/* The object that holds ctx must not have seen its callback. */
#define	EPOCH_ASSERT_LIVE(ctx)						\
	epoch_live_assert((ctx), __FILE__, __LINE__)
#else
#define	EPOCH_ASSERT(e)		((void)0)
#define	EPOCH_ASSERT_NOT(e)	((void)0)
#define	EPOCH_MAY_SLEEP(what)	((void)0)
#define	EPOCH_ASSERT_LIVE(ctx)	((void)0)
#endif /* INVARIANTS */

/* The epoch of the network stack; et is the tracker itself, not a pointer. */
#define	NET_EPOCH_ENTER(et)	epoch_enter_preempt(net_epoch_preempt, &(et))
#define	NET_EPOCH_EXIT(et)	epoch_exit_preempt(net_epoch_preempt, &(et))
#define	NET_EPOCH_WAIT()	epoch_wait_preempt(net_epoch_preempt)
#define	NET_EPOCH_CALL(cb, ctx)	epoch_call(net_epoch_preempt, (cb), (ctx))
#define	NET_EPOCH_DRAIN_CALLBACKS()					\
	epoch_drain_callbacks(net_epoch_preempt)
#define	NET_EPOCH_ASSERT()	EPOCH_ASSERT(net_epoch_preempt)
#define	NET_EPOCH_ASSERT_NOT()	EPOCH_ASSERT_NOT(net_epoch_preempt)

#ifdef __cplusplus
}
#endif

#endif /* NETEPOCH_EPOCH_H */
