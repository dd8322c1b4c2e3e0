/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The checks of a debug build: compiled only with INVARIANTS, where the
 * header's macros call these functions instead of the inline ones.
 *
 * Each open preemptible section is on its thread's list of trackers; plain
 * sections are known by their depth and the place of the outermost entry.
 * Of a thread's outermost sections of an epoch one in EPOCH_SAMPLE is timed.
 * If it finds a stall limit set, all that follow are, most by a clock that is
 * cheap and coarse.
 *
 * What happens all the time, an outermost section in good order that is not
 * timed, has a way of its own that calls nothing: functions named usual, which
 * do all of it, or, when anything is different, nothing.
 * Everything here belongs to the calling thread, except td_place, which a
 * stall report reads under epoch_lock, and the table of places already
 * reported.
 */
#ifdef EPOCH_HAVE_SDT
#define	EPOCH_PROBES		/* those of enter, exit and call are ours */
#endif
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "epoch_private.h"

#define	EPOCH_SEEN	1024U			/* places remembered */
#define	EPOCH_SAMPLE	256U	/* one section in so many is timed */
#define	EPOCH_EXACT	64U	/* and one in so many of those exactly */
#define	EPOCH_EXITED	((const void *)0xdeadbeefUL)

_Static_assert(EPOCH_SAMPLE - 1 <= UINT8_MAX, "p_untimed is narrower");

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

/* An outermost section begins that is to be timed. */
static void
epoch_debug_start(struct epoch_place *p)
{
	p->p_watch = EPOCH_WATCH_TIME;
	p->p_exact = 0;
	if (p->p_timed++ % EPOCH_EXACT == 0)
		p->p_exact = epoch_now();
	__atomic_store_n(&p->p_coarse, epoch_coarse(), __ATOMIC_RELAXED);
}

/* Note where the outermost section was entered. */
static inline void
epoch_debug_note(struct epoch_place *p, const char *file, int line)
{
	__atomic_store_n(&p->p_line, line, __ATOMIC_RELAXED);
	__atomic_store_n(&p->p_file, file, __ATOMIC_RELEASE);
}

/* The section of p is about to end: how long it was, at least. */
static void
epoch_debug_stop(struct epoch_slot *es, struct epoch_place *p)
{
	bool all = __atomic_load_n(&es->es_stall_ns, __ATOMIC_RELAXED) != 0;
	uint64_t took;

	if (p->p_exact != 0) {
		took = epoch_now() - p->p_exact;
	} else {
		took = epoch_coarse() - p->p_coarse;
		took -= took < epoch_coarse_ns ? took : epoch_coarse_ns;
	}
	__atomic_store_n(&p->p_coarse, 0, __ATOMIC_RELAXED);
	epoch_count_max(&es->es_stats.es_longest_section, took);
	p->p_untimed = all ? 0 : EPOCH_SAMPLE - 1;
	if (!all)
		p->p_timed = 0;
}

/* Is e in use, and of the kind that is entered with a tracker, or without? */
static inline bool
epoch_debug_kind(epoch_t e, unsigned int kind)
{
	return ((uintptr_t)e - (uintptr_t)epoch_all < EPOCH_PAGE &&
	    (__atomic_load_n(&e->e_flags, __ATOMIC_RELAXED) &
	    (EPOCH_PREEMPT | EPOCH_LIVE)) == (kind | EPOCH_LIVE));
}

static inline bool
epoch_debug_enter_usual(epoch_t e, unsigned int kind, const char *file,
    int line)
{
	struct epoch_section *s;
	struct epoch_place *p;

	/* Before e is looked at any closer: it may be anything. */
	if (__builtin_expect(!epoch_debug_kind(e, kind), 0))
		return (false);
	s = epoch_section_self(e);
	p = &epoch_td_self()->td_place[epoch_index(epoch_slot(e))];
	if (__builtin_expect(__atomic_load_n(&s->s_record.r_value,
	    __ATOMIC_RELAXED) != 0 || p->p_untimed == 0, 0))
		return (false);
	epoch_publish(e, &s->s_record);
	EPOCH_PROBE1(enter, e);
	p->p_untimed--;
	epoch_debug_note(p, file, line);
	return (true);
}

static inline bool
epoch_debug_exit_usual(struct epoch_td *td, epoch_t e)
{
	struct epoch_section *s = epoch_section_self(e);
	struct epoch_place *p = &td->td_place[epoch_index(epoch_slot(e))];

	if (__builtin_expect((int64_t)__atomic_load_n(&s->s_record.r_value,
	    __ATOMIC_RELAXED) <= 0 || s->s_nested != 0 || p->p_untimed == 0, 0))
		return (false);
	EPOCH_PROBE1(exit, e);
	__atomic_store_n(&p->p_file, NULL, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&s->s_record.r_value, 0, __ATOMIC_RELEASE);
	return (true);
}

/* Leave; at the end of the outermost section, with what was noted of it. */
static void
epoch_debug_leave(struct epoch_td *td, epoch_t e, const char *file, int line)
{
	struct epoch_slot *es = epoch_slot(e);
	struct epoch_place *p = &td->td_place[epoch_index(es)];

	if (epoch_section_depth(epoch_section_self(e)) == 1) {
		if ((p->p_watch & EPOCH_WATCH_TIME) != 0)
			epoch_debug_stop(es, p);
		if ((p->p_watch & EPOCH_WATCH_REPORT) != 0)
			epoch_reportf("exiting \"%s\" at %s:%d, entered at "
			    "%s:%d", es->es_name, file, line, p->p_file,
			    p->p_line);
		p->p_watch = 0;
		__atomic_store_n(&p->p_file, NULL, __ATOMIC_RELAXED);
	}
	epoch_exit_raw(e);
}

static bool
epoch_debug_valid(epoch_t e, const char *file, int line)
{
	if (!epoch_usable(e)) {
		epoch_panicf("no such epoch at %s:%d", file, line);
		return (false);
	}
	return (true);
}

/* Enter, and say so once a place when it is a recursion. */
static void
epoch_debug_enter(epoch_t e, const char *file, int line)
{
	struct epoch_slot *es = epoch_slot(e);
	struct epoch_place *p;
	struct epoch_td *td;

	epoch_enter_raw(e);
	td = epoch_td_self();
	p = &td->td_place[epoch_index(es)];
	if (epoch_section_depth(epoch_section_self(e)) == 1) {
		if (p->p_untimed == 0)
			epoch_debug_start(p);
		else
			p->p_untimed--;
		epoch_debug_note(p, file, line);
		return;
	}
	if (epoch_debug_first(file, line, 1))
		epoch_reportf("recursively entering \"%s\" at %s:%d, "
		    "entered before at %s:%d", epoch_name(e), file, line,
		    p->p_file != NULL ? p->p_file : "?", p->p_line);
}

/* Is e for the plain functions, without trackers? */
static bool
epoch_debug_plain(epoch_t e, const char *file, int line)
{
	if (epoch_debug_kind(e, 0))
		return (true);
	if (epoch_debug_valid(e, file, line))
		epoch_panicf("\"%s\" is preemptible: a tracker is missing at "
		    "%s:%d", epoch_name(e), file, line);
	return (false);
}

static __attribute__((noinline)) void
epoch_debug_enter_other(epoch_t e, const char *file, int line)
{
	if (epoch_debug_plain(e, file, line))
		epoch_debug_enter(e, file, line);
}

void
epoch_enter_debug(epoch_t e, const char *file, int line)
{
	if (!epoch_debug_enter_usual(e, 0, file, line))
		epoch_debug_enter_other(e, file, line);
}

static __attribute__((noinline)) void
epoch_debug_exit_other(epoch_t e, const char *file, int line)
{
	if (!epoch_debug_plain(e, file, line))
		return;
	if (in_epoch(e) == 0) {
		epoch_panicf("exit from \"%s\" without entry at %s:%d",
		    epoch_name(e), file, line);
		return;
	}
	epoch_debug_leave(epoch_td_self(), e, file, line);
}

void
epoch_exit_debug(epoch_t e, const char *file, int line)
{
	if (!epoch_debug_kind(e, 0) ||
	    !epoch_debug_exit_usual(epoch_td_self(), e))
		epoch_debug_exit_other(e, file, line);
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

/* The usual tracker lies close to where we are; NULL does not. */
static inline bool
epoch_debug_near_stack(const void *p)
{
	return ((uintptr_t)p - (uintptr_t)__builtin_frame_address(0) < 65536);
}

static inline void
epoch_debug_link(epoch_t e, epoch_tracker_t et, const char *file, int line)
{
	struct epoch_td *td = epoch_td_self();

	et->et_td = td;
	et->et_epoch = e;
	et->et_file = file;
	et->et_line = line;
	et->et_prev = td->td_trackers;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	td->td_trackers = et;
}

static __attribute__((noinline)) void
epoch_debug_enter_preempt_other(epoch_t e, epoch_tracker_t et,
    const char *file, int line)
{
	if (!epoch_debug_valid(e, file, line))
		return;
	if (et == NULL || !epoch_debug_kind(e, EPOCH_PREEMPT)) {
		epoch_panicf("\"%s\" %s at %s:%d", epoch_name(e),
		    et == NULL ? "entered without a tracker" :
		    "is not preemptible", file, line);
		return;
	}
	if (!epoch_debug_near_stack(et) &&
	    !epoch_debug_far_stack((uintptr_t)et)) {
		epoch_panicf("tracker of \"%s\" is not on this thread's stack "
		    "at %s:%d", epoch_name(e), file, line);
		return;
	}
	epoch_debug_enter(e, file, line);
	epoch_debug_link(e, et, file, line);
}

void
epoch_enter_preempt_debug(epoch_t e, epoch_tracker_t et, const char *file,
    int line)
{
	if (epoch_debug_near_stack(et) &&
	    epoch_debug_enter_usual(e, EPOCH_PREEMPT, file, line))
		epoch_debug_link(e, et, file, line);
	else
		epoch_debug_enter_preempt_other(e, et, file, line);
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

static __attribute__((noinline)) void
epoch_debug_exit_preempt_other(epoch_t e, epoch_tracker_t et,
    const char *file, int line)
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
	epoch_debug_leave(td, e, file, line);
}

/* A tracker on top of this thread's list says that its epoch is in use. */
void
epoch_exit_preempt_debug(epoch_t e, epoch_tracker_t et, const char *file,
    int line)
{
	struct epoch_td *td = epoch_td_self();

	if (__builtin_expect(et != NULL && td->td_trackers == et &&
	    et->et_td == td && et->et_epoch == e, 1) &&
	    epoch_debug_exit_usual(td, e)) {
		td->td_trackers = et->et_prev;
		et->et_td = EPOCH_EXITED;
		return;
	}
	epoch_debug_exit_preempt_other(e, et, file, line);
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
epoch_debug_wait(const char *func, epoch_t e)
{
	bool preempt = strcmp(func, "epoch_wait_preempt") == 0;
	char buf[256];

	if (!epoch_usable(e)) {
		epoch_unusable(e, func);
		return (true);
	}
	if (in_epoch(e) != 0) {
		epoch_panicf("%s: inside a section of \"%s\"", func,
		    epoch_name(e));
		return (true);
	}
	if (preempt != ((e->e_flags & EPOCH_PREEMPT) != 0)) {
		epoch_panicf("%s: \"%s\" is %spreemptible", func,
		    epoch_name(e), preempt ? "not " : "");
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
 * Where the section of record r was entered, and how long ago if it is timed;
 * for a stall report.  A section that is not noted yet, or no more, has no
 * place.
 */
void
epoch_debug_place(const struct epoch_record *r, unsigned int i,
    struct epoch_stall *st)
{
	const struct epoch_place *p;
	const struct epoch_td *td;
	uint64_t age, coarse;
	sigset_t set;

	epoch_lock_enter(&set);
	td = __atomic_load_n(&r->r_owner, __ATOMIC_ACQUIRE);
	if (td != NULL) {
		p = &td->td_place[i];
		st->st_file = __atomic_load_n(&p->p_file, __ATOMIC_ACQUIRE);
		st->st_line = __atomic_load_n(&p->p_line, __ATOMIC_RELAXED);
		coarse = __atomic_load_n(&p->p_coarse, __ATOMIC_RELAXED);
		age = coarse != 0 ? epoch_now() - coarse : 0;
		if (age > epoch_coarse_ns && age - epoch_coarse_ns > st->st_age)
			st->st_age = age - epoch_coarse_ns;
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
