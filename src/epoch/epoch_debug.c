/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The checks of a debug build: compiled only with INVARIANTS, where the
 * header's macros call these functions instead of the inline ones.
 *
 * Each open preemptible section is on its thread's list of trackers; plain
 * sections are known by their depth and the place of the outermost entry.
 * Every outermost section is timed, most by a clock that is cheap and coarse.
 * Everything here belongs to the calling thread, except td_place, which a
 * stall report reads under epoch_lock, and the table of places already
 * reported.
 */
#ifdef EPOCH_HAVE_SDT
#define	EPOCH_PROBES		/* those of enter, exit and call are ours */
#endif
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "epoch_private.h"

#define	EPOCH_SEEN	1024U			/* places remembered */
#define	EPOCH_EXACT	64U	/* one section in so many is timed exactly */
#define	EPOCH_EXITED	((const void *)0xdeadbeefUL)

/* Pairs of places already reported: hashes. */
static uint64_t epoch_seen[EPOCH_SEEN];		/* (a) */

/* True the first time a place is seen; a full table reports again. */
static bool
epoch_debug_first(const char *file, int line, unsigned int kind)
{
	uint64_t hash, old;
	unsigned int i;

	hash = ((uintptr_t)file * 31 + (unsigned int)line) * 8 + kind;
	hash = (hash * 0x9e3779b97f4a7c15ULL) | 1;
	for (i = 0; i < 8; i++) {
		old = 0;
		if (__atomic_compare_exchange_n(
		    &epoch_seen[((hash >> 40) + i) % EPOCH_SEEN], &old, hash,
		    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return (true);
		if (old == hash)
			return (false);
	}
	return (true);
}

/* How far epoch_coarse() may be behind. */
static uint64_t epoch_coarse_ns;		/* (c) */

/* The time of the system's last tick: a sixth of the cost of the time. */
static inline uint64_t
epoch_coarse(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec);
}

void
epoch_debug_clock_init(void)
{
	struct timespec ts;

	(void)clock_getres(CLOCK_MONOTONIC_COARSE, &ts);
	epoch_coarse_ns = (uint64_t)ts.tv_sec * 1000000000 +
	    (uint64_t)ts.tv_nsec;
}

/* Note where and when the outermost section was entered. */
static void
epoch_debug_note(struct epoch_td *td, unsigned int i, const char *file,
    int line)
{
	struct epoch_place *p = &td->td_place[i];

	__atomic_store_n(&p->p_file, file, __ATOMIC_RELAXED);
	__atomic_store_n(&p->p_line, line, __ATOMIC_RELAXED);
	__atomic_store_n(&p->p_coarse, epoch_coarse(), __ATOMIC_RELEASE);
	if (td->td_notes++ % EPOCH_EXACT == 0)
		p->p_exact = epoch_now();
}

/*
 * A section of e is about to end: if it is the outermost, how long it was, at
 * least.  One in EPOCH_EXACT is timed exactly, the others to a tick.
 */
static void
epoch_debug_time(struct epoch_td *td, epoch_t e, const char *file, int line)
{
	struct epoch_slot *es = epoch_slot(e);
	unsigned int i = epoch_index(epoch_slot(e));
	struct epoch_place *p = &td->td_place[i];
	uint64_t took;

	/* Not noted: entered by code that was compiled without checks. */
	if (epoch_section_depth(&td->td_pub.td_section[i]) != 1 ||
	    p->p_coarse == 0)
		return;
	if (p->p_exact != 0) {
		took = epoch_now() - p->p_exact;
	} else {
		took = epoch_coarse() - p->p_coarse;
		took -= took < epoch_coarse_ns ? took : epoch_coarse_ns;
	}
	p->p_exact = 0;
	__atomic_store_n(&p->p_coarse, 0, __ATOMIC_RELAXED);
	epoch_count_max(&es->es_stats.es_longest_section, took);
	if (__builtin_expect(p->p_report, 0)) {
		p->p_report = 0;
		epoch_reportf("exiting \"%s\" at %s:%d, entered at %s:%d",
		    es->es_name, file, line, p->p_file, p->p_line);
	}
}

static bool
epoch_debug_valid(epoch_t e, const char *file, int line)
{
	if (e == NULL ||
	    __atomic_load_n(&epoch_slot(e)->es_inuse, __ATOMIC_RELAXED) == 0) {
		epoch_panicf("no such epoch at %s:%d", file, line);
		return (false);
	}
	return (true);
}

/* Enter, and say so once a place when it is a recursion. */
static struct epoch_td *
epoch_debug_enter(epoch_t e, const char *file, int line)
{
	unsigned int i = epoch_index(epoch_slot(e));
	struct epoch_td *td;

	epoch_enter_raw(e);
	td = epoch_td_self();
	if (epoch_section_depth(&td->td_pub.td_section[i]) == 1) {
		epoch_debug_note(td, i, file, line);
		return (td);
	}
	if (epoch_debug_first(file, line, 1))
		epoch_reportf("recursively entering \"%s\" at %s:%d, "
		    "entered before at %s:%d", epoch_name(e), file, line,
		    td->td_place[i].p_file != NULL ?
		    td->td_place[i].p_file : "?", td->td_place[i].p_line);
	return (td);
}

/* Is e for the plain functions, without trackers? */
static bool
epoch_debug_plain(epoch_t e, const char *file, int line)
{
	if (!epoch_debug_valid(e, file, line))
		return (false);
	if ((epoch_slot_flags(epoch_slot(e)) & EPOCH_PREEMPT) == 0)
		return (true);
	epoch_panicf("\"%s\" is preemptible: a tracker is missing at %s:%d",
	    epoch_name(e), file, line);
	return (false);
}

void
epoch_enter_debug(epoch_t e, const char *file, int line)
{
	if (epoch_debug_plain(e, file, line))
		(void)epoch_debug_enter(e, file, line);
}

void
epoch_exit_debug(epoch_t e, const char *file, int line)
{
	if (!epoch_debug_plain(e, file, line))
		return;
	if (in_epoch(e) == 0) {
		epoch_panicf("exit from \"%s\" without entry at %s:%d",
		    epoch_name(e), file, line);
		return;
	}
	epoch_debug_time(epoch_td_self(), e, file, line);
	epoch_exit_raw(e);
}

static void
epoch_debug_stack(struct epoch_td *td)
{
	pthread_attr_t attr;
	size_t size = 0;
	void *lo = NULL;

	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return;
	if (pthread_attr_getstack(&attr, &lo, &size) == 0) {
		td->td_stack_hi = (uintptr_t)lo + size;
		td->td_stack_lo = (uintptr_t)lo;
	}
	(void)pthread_attr_destroy(&attr);
}

/* Does p lie on this thread's stack, or on the one for its signals? */
static __attribute__((noinline)) bool
epoch_debug_far_stack(uintptr_t a)
{
	struct epoch_td *td = epoch_td_get();
	stack_t ss;

	if (td->td_stack_lo == 0)
		epoch_debug_stack(td);
	/* The main thread's stack grows down at need. */
	if (a >= td->td_stack_lo && a < td->td_stack_hi)
		return (true);
	return (sigaltstack(NULL, &ss) == 0 &&
	    (ss.ss_flags & SS_DISABLE) == 0 && a >= (uintptr_t)ss.ss_sp &&
	    a < (uintptr_t)ss.ss_sp + ss.ss_size);
}

/* The usual tracker lies close to where we are. */
static inline bool
epoch_debug_on_stack(const void *p)
{
	uintptr_t a = (uintptr_t)p;

	return (a - (uintptr_t)__builtin_frame_address(0) < 65536 ||
	    epoch_debug_far_stack(a));
}

void
epoch_enter_preempt_debug(epoch_t e, epoch_tracker_t et, const char *file,
    int line)
{
	struct epoch_td *td;

	if (!epoch_debug_valid(e, file, line))
		return;
	if (et == NULL ||
	    (epoch_slot_flags(epoch_slot(e)) & EPOCH_PREEMPT) == 0) {
		epoch_panicf("\"%s\" %s at %s:%d", epoch_name(e),
		    et == NULL ? "entered without a tracker" :
		    "is not preemptible", file, line);
		return;
	}
	if (!epoch_debug_on_stack(et)) {
		epoch_panicf("tracker of \"%s\" is not on this thread's stack "
		    "at %s:%d", epoch_name(e), file, line);
		return;
	}
	td = epoch_debug_enter(e, file, line);
	et->et_td = td;
	et->et_epoch = e;
	et->et_file = file;
	et->et_line = line;
	et->et_prev = td->td_trackers;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	td->td_trackers = et;
}

/* Take et off the thread's list; false when it is not there. */
static bool
epoch_debug_unlink(struct epoch_td *td, epoch_tracker_t et, const char *file,
    int line)
{
	struct epoch_tracker *p;

	if (td->td_trackers == et) {
		td->td_trackers = et->et_prev;
		return (true);
	}
	for (p = td->td_trackers; p != NULL && p->et_prev != et;
	    p = p->et_prev)
		continue;
	if (p == NULL)
		return (false);
	if (epoch_debug_first(file, line, 2))
		epoch_reportf("exiting in a not nested order at %s:%d, "
		    "entered at %s:%d, newest entry at %s:%d", file, line,
		    et->et_file, et->et_line, td->td_trackers->et_file,
		    td->td_trackers->et_line);
	p->et_prev = et->et_prev;
	return (true);
}

void
epoch_exit_preempt_debug(epoch_t e, epoch_tracker_t et, const char *file,
    int line)
{
	struct epoch_td *td = epoch_td_self();
	const char *why = NULL;

	if (!epoch_debug_valid(e, file, line))
		return;
	if (et == NULL)
		why = "without a tracker";
	else if (et->et_td == EPOCH_EXITED)
		why = "twice with one tracker";
	else if (et->et_td != td)
		why = "by another thread than entered";
	else if (et->et_epoch != e)
		why = "with a tracker of another epoch";
	else if (in_epoch(e) == 0 || !epoch_debug_unlink(td, et, file, line))
		why = "with a tracker that is not open";
	if (why != NULL) {
		epoch_panicf("exit from \"%s\" %s at %s:%d", epoch_name(e),
		    why, file, line);
		return;
	}
	et->et_td = EPOCH_EXITED;
	epoch_debug_time(td, e, file, line);
	epoch_exit_raw(e);
}

/*
 * A thread ends.  FreeBSD notices nothing unless EPOCH_TRACE is on, and then
 * the next waiter walks a dead stack; here the thread is always asked.
 */
void
epoch_debug_exit_thread(struct epoch_td *td)
{
	unsigned int i;

	for (i = 0; i < EPOCH_MAX; i++) {
		if (epoch_section_depth(&td->td_pub.td_section[i]) == 0)
			continue;
		epoch_panicf("thread %d ends inside \"%s\", entered at %s:%d",
		    (int)td->td_tid, epoch_slots[i].es_name,
		    td->td_place[i].p_file != NULL ?
		    td->td_place[i].p_file : "?", td->td_place[i].p_line);
	}
}

/*
 * A wait is about to begin: true if it must not.  Each kind of epoch has its
 * own wait, and a thread that waits inside a section of another epoch would
 * hold that one up: with two such threads crossed, for ever.
 */
bool
epoch_debug_wait(const char *func, struct epoch_slot *es)
{
	bool preempt = strcmp(func, "epoch_wait_preempt") == 0;
	char buf[256];

	if (preempt != ((epoch_slot_flags(es) & EPOCH_PREEMPT) != 0)) {
		epoch_panicf("%s: \"%s\" is %spreemptible", func,
		    es->es_name, preempt ? "not " : "");
		return (true);
	}
	if (epoch_trace_list(buf, sizeof(buf)) != 0) {
		epoch_panicf("%s: sleeping prohibited in %s", func, buf);
		return (true);
	}
	return (false);
}

/* A context in a ring carries a mark; on the list it is over the link. */
void
epoch_call_debug(epoch_t e, epoch_callback_t cb, epoch_context_t ctx,
    const char *file, int line)
{
	if (!epoch_debug_valid(e, file, line))
		return;
	if (cb == NULL) {
		epoch_panicf("no callback at %s:%d", file, line);
		return;
	}
	if (ctx->ec_callback != NULL &&
	    (ctx->ec_link & EPOCH_MARK_BITS) == EPOCH_QUEUED) {
		epoch_panicf("context %p is queued twice at %s:%d",
		    (void *)ctx, file, line);
		return;
	}
	ctx->ec_link = EPOCH_QUEUED;
	epoch_call_raw(e, cb, ctx);
}

/* A callback is about to run: nobody may follow the context any more. */
void
epoch_debug_ran(epoch_context_t ctx)
{
	ctx->ec_callback = NULL;
	ctx->ec_link = EPOCH_RAN;
}

/*
 * Where the section of record r was entered, and how long ago; for a stall
 * report.  A section that is not noted yet, or no more, has no place.
 */
void
epoch_debug_place(const struct epoch_record *r, unsigned int i,
    struct epoch_stall *st)
{
	const struct epoch_td *td;
	uint64_t age, coarse = 0;
	sigset_t set;

	epoch_lock_enter(&set);
	td = __atomic_load_n(&r->r_owner, __ATOMIC_ACQUIRE);
	if (td != NULL)
		coarse = __atomic_load_n(&td->td_place[i].p_coarse,
		    __ATOMIC_ACQUIRE);
	if (coarse != 0) {
		age = epoch_now() - coarse;
		if (age > epoch_coarse_ns && age - epoch_coarse_ns > st->st_age)
			st->st_age = age - epoch_coarse_ns;
		st->st_file = __atomic_load_n(&td->td_place[i].p_file,
		    __ATOMIC_RELAXED);
		st->st_line = __atomic_load_n(&td->td_place[i].p_line,
		    __ATOMIC_RELAXED);
	}
	epoch_lock_exit(&set);
}

/*
 * The caller is about to do something that may sleep, named what: panic if
 * the thread is in any section, with both places.
 */
void
epoch_sleepable_assert(const char *what, const char *file, int line)
{
	const struct epoch_td *td = epoch_td_self();
	unsigned int i;

	for (i = 0; i < EPOCH_MAX; i++) {
		if (epoch_section_depth(&td->td_pub.td_section[i]) == 0)
			continue;
		epoch_panicf("sleeping prohibited: %s at %s:%d inside \"%s\", "
		    "entered at %s:%d", what, file, line,
		    epoch_slots[i].es_name, td->td_place[i].p_file != NULL ?
		    td->td_place[i].p_file : "?", td->td_place[i].p_line);
		return;
	}
}

/* The object around ctx is used: its callback must not have run. */
void
epoch_live_assert(epoch_context_t ctx, const char *file, int line)
{
	if (ctx->ec_link == EPOCH_RAN && ctx->ec_callback == NULL)
		epoch_panicf("object of context %p used after its callback "
		    "ran, at %s:%d", (void *)ctx, file, line);
}
