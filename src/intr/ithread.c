/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The loop of an ithread, and how other threads reach it.
 *
 * Everything marked (t) belongs to the ithread alone.  Others reach it by two
 * lists, of scheduled events and of requests, and by waking it.  The epoch is
 * entered by run_enter() only, and whether it was entered is known from a
 * variable on the loop's stack: handlers come and go while the loop runs, so
 * their flags cannot say afterwards what was true before (review D23483).
 *
 * A pass calls the INTR_POLL handlers of all events, and all handlers of the
 * events that fired or said INTR_MORE.  An event that fires during a pass
 * runs in the next one, so a pass ends.  Passes follow each other until one
 * leaves nothing to do; then the ithread spins, if so told, and sleeps.
 *
 * SLEEP AND WAKE-UP.  A producer makes work (a frame in a ring that an
 * INTR_POLL handler looks at, an entry on it_scheduled or it_requests), then
 * has a full barrier, then reads it_state:
 *
 *	P1: store work		P2: barrier	P3: read it_state
 *	    if ASLEEP: P4: exchange AWAKE; if that was ASLEEP: P5: write eventfd
 *
 * The ithread, in ithread_sleep():
 *
 *	S1: store ASLEEP, full barrier		S2: look for work of every kind
 *	    if there is some: S3: store AWAKE, and go on
 *	    else: S4: poll		S5: store AWAKE, then passes again
 *
 * No wake-up is lost (wake.pml is a model of this, on the memory of x86; spin
 * searches it completely).  The barriers P2 and S1 are in one order.  If P2
 * comes first, S2 sees the work of P1.  If S1 comes first, P3 reads the value
 * of S1 or a later one.  (i) It reads ASLEEP: then P4 finds ASLEEP and P5
 * makes S4 return, or finds AWAKE, which is case ii.  (ii) It reads AWAKE,
 * stored after that S1 by S3, by S5, or by another producer's P4.  After S3
 * and S5 the ithread makes passes and will not sleep again without another S1
 * and S2; that S1 comes after the AWAKE we read, hence after P2, so S2 sees
 * our work.  After another's P4 comes its P5: S4 returns at the latest then,
 * and S5 follows.  The eventfd stays readable until the ithread itself reads
 * it, which it does between S4 and the next S2.  What P5 writes after the
 * ithread woke for another reason makes one S4 return for nothing, which is
 * harmless.
 *
 * An event is on it_scheduled at most once: whoever changes ie_pending from
 * false to true pushes it, and the others need not, because the ithread
 * clears ie_pending before it runs the handlers, and by an exchange, so it
 * acquires the work of everybody who found it true.
 *
 * LOOKING WHILE BUSY.  The fd of an event that has only INTR_POLL handlers is
 * watched in sleep only, and by poll(2): in an epoll set it would have a waiter
 * for ever, and the kernel would call that for each packet it has sent, which
 * was a tenth of the time of forwarding over AF_XDP.  For the others a busy
 * ithread calls epoll_wait with no timeout now and then.  That costs about
 * 1 us, so it is done not more often than each INTR_LOOK_NS = 20 us, which is
 * 5 % at most, and the clock (about 30 ns) is read each INTR_LOOK_RUNS = 8
 * handler runs only.  So such an event waits for at most 20 us and the longer
 * of 8 runs and one pass.
 *
 * AGE OF CALLBACKS.  With B = hw.intr_epoch_batch and h the longest run of a
 * network handler, a section lasts at most B * h.  libepoch's reclaim thread
 * looks each millisecond while callbacks wait, and a callback waits for at
 * most two grace periods: the one running and its own.  So under a storm the
 * oldest callback is not older than 2 * (B * h + 1 ms), and what the reclaim
 * thread waits for a CPU.  The ithread does not run callbacks itself: that
 * would not make this bound smaller, and would put the cost of destructors
 * between two bursts.
 */
#include <sys/epoll.h>

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <netepoch/epoch.h>

#include "intr/intr_private.h"
#include "sys/thread.h"

#define	INTR_LOOK_RUNS	8
#define	INTR_LOOK_NS	20000u
#define	INTR_READY_MAX	64		/* events taken by one epoll_wait */
#define	INTR_STORM_NS	1000000u	/* a throttled event fires once in */
#define	INTR_STORM_MS	1

/* What a run of the loop knows of its section; on the loop's stack. */
struct intr_run {
	struct epoch_tracker ir_et;
	bool		 ir_entered;	/* a section is open */
	bool		 ir_batched;	/* left it because the batch was full */
	unsigned int	 ir_left;	/* handler runs before that */
};

_Thread_local struct ithread *ithread_self;

bool
intr_on_ithread(void)
{

	return (ithread_self != NULL);
}

/*
 * The section.
 */
static inline void
run_enter(struct ithread *it, struct intr_run *ir)
{
	struct intr_domain *id = it->it_domain;
	int batch;

	if (ir->ir_entered)
		return;
	NET_EPOCH_ENTER(ir->ir_et);
	ir->ir_entered = true;
	batch = atomic_load_explicit(&id->id_batch, memory_order_relaxed);
	ir->ir_left = batch > 1 ? (unsigned int)batch : 1;
	counter_inc(id->id_cells + IDC_ENTRIES);
	if (ir->ir_batched)
		counter_inc(id->id_cells + IDC_REENTRIES);
	ir->ir_batched = false;
}

static inline void
run_leave(struct intr_run *ir)
{

	ir->ir_batched = false;
	if (!ir->ir_entered)
		return;
	NET_EPOCH_EXIT(ir->ir_et);
	ir->ir_entered = false;
}

/* A network handler has run.  The next one will enter again if need be. */
static inline void
run_count(struct intr_run *ir)
{

	if (--ir->ir_left != 0)
		return;
	run_leave(ir);
	ir->ir_batched = true;
}

/*
 * Events that fire.
 */

/* The next pass shall call all handlers of ie. */
static void
event_activate(struct ithread *it, struct intr_event *ie)
{

	if (ie->ie_fired)
		return;
	ie->ie_fired = true;
	if (atomic_load_explicit(&ie->ie_polled, memory_order_relaxed))
		it->it_more = true;
	else
		STAILQ_INSERT_TAIL(&it->it_active, ie, ie_active);
}

/*
 * Have the fd of ie watched as it now must be: in no way without handlers, or
 * a fd that is ready for ever would keep the ithread awake.
 */
static int
event_watch(struct ithread *it, struct intr_event *ie)
{
	struct epoll_event ev = { .events = ie->ie_events, .data.ptr = ie };
	unsigned int want = 0, change;
	struct intr_handler *ih;

	if (ie->ie_fd == -1)
		return (0);
	if (!ie->ie_throttled && !SLIST_EMPTY(&ie->ie_handlers)) {
		want = INTR_WATCH_POLL;
		SLIST_FOREACH(ih, &ie->ie_handlers, ih_link)
			if ((ih->ih_flags & INTR_POLL) == 0)
				want = INTR_WATCH_SLEEP | INTR_WATCH_BUSY;
	}
	change = want ^ ie->ie_watched;
	if ((change & INTR_WATCH_POLL) != 0) {
		ie->ie_watched ^= INTR_WATCH_POLL;
		if ((want & INTR_WATCH_POLL) != 0)
			it->it_npoll++;
		else
			it->it_npoll--;
	}
	if ((change & INTR_WATCH_SLEEP) != 0) {
		if (epoll_ctl(it->it_epfd, (want & INTR_WATCH_SLEEP) != 0 ?
		    EPOLL_CTL_ADD : EPOLL_CTL_DEL, ie->ie_fd, &ev) != 0)
			return (errno);
		ie->ie_watched ^= INTR_WATCH_SLEEP;
	}
	if ((change & INTR_WATCH_BUSY) != 0) {
		if (epoll_ctl(it->it_busyfd, (want & INTR_WATCH_BUSY) != 0 ?
		    EPOLL_CTL_ADD : EPOLL_CTL_DEL, ie->ie_fd, &ev) != 0)
			return (errno);
		ie->ie_watched ^= INTR_WATCH_BUSY;
		if ((want & INTR_WATCH_BUSY) != 0)
			it->it_nbusy++;
		else
			it->it_nbusy--;
	}
	return (0);
}

/*
 * Count a firing of ie in storm protection; true if it must be held back.
 * The firing is not lost: ithread_unthrottle() activates the event.
 */
static bool
event_storms(struct ithread *it, struct intr_event *ie, int threshold)
{

	if (ie->ie_idle != it->it_idle) {
		ie->ie_idle = it->it_idle;
		ie->ie_count = 0;
	}
	if (ie->ie_count < (unsigned int)threshold) {
		ie->ie_count++;
		return (false);
	}
	ie->ie_throttled = true;
	ie->ie_until = time_ns() + INTR_STORM_NS;
	LIST_INSERT_HEAD(&it->it_throttled, ie, ie_throttle);
	(void)event_watch(it, ie);	/* taking out cannot fail */
	counter_inc(ie->ie_cells + IEC_STORMS);
	log_limited(&ie->ie_storm_log, 1, LOG_WARNING,
	    "interrupt storm detected on \"%s\"; throttling interrupt source",
	    ie->ie_name);
	return (true);
}

/* The source of ie fired, or it was scheduled. */
static void
event_fire(struct ithread *it, struct intr_event *ie)
{
	int threshold;

	if (ie->ie_fired || ie->ie_throttled)
		return;
	counter_inc(ie->ie_cells + IEC_TOTAL);
	threshold = atomic_load_explicit(&it->it_domain->id_storm,
	    memory_order_relaxed);
	if (__predict_false(threshold != 0) && event_storms(it, ie, threshold))
		return;
	event_activate(it, ie);
}

/* Listen again to those events whose time in the corner is over. */
static void
ithread_unthrottle(struct ithread *it, uint64_t now)
{
	struct intr_event *ie, *next;

	for (ie = LIST_FIRST(&it->it_throttled); ie != NULL; ie = next) {
		next = LIST_NEXT(ie, ie_throttle);
		if (ie->ie_until > now)
			continue;
		LIST_REMOVE(ie, ie_throttle);
		ie->ie_throttled = false;
		/* That we idled meanwhile is our doing: the count goes on. */
		ie->ie_idle = it->it_idle;
		if (event_watch(it, ie) != 0)
			log_msg(LOG_ERR, "%s: cannot be watched any more",
			    ie->ie_name);
		event_activate(it, ie);
	}
}

/* Fire what epoll reports.  Returns how many fds were ready. */
static int
ithread_collect(struct ithread *it, int epfd, int timeout_ms)
{
	struct epoll_event ev[INTR_READY_MAX];
	uint64_t value;
	int n;

	n = epoll_wait(epfd, ev, INTR_READY_MAX, timeout_ms);
	for (int i = 0; i < n; i++) {
		if (ev[i].data.ptr != NULL)
			event_fire(it, ev[i].data.ptr);
		else if (read(it->it_wakefd, &value, sizeof(value)) < 0)
			KASSERT(errno == EAGAIN, "eventfd: errno %d", errno);
	}
	return (n);
}

/* Fire what is ready, or gets ready in that time.  Returns how many fds. */
static int
ithread_wait(struct ithread *it, int timeout_ms)
{
	struct pollfd *pfd = it->it_poll;
	struct intr_event *ie;
	unsigned int n = 1;
	int ready;

	if (it->it_npoll == 0)
		return (ithread_collect(it, it->it_epfd, timeout_ms));
	pfd[0] = (struct pollfd){ .fd = it->it_epfd, .events = POLLIN };
	LIST_FOREACH(ie, &it->it_polled, ie_poll)
		if ((ie->ie_watched & INTR_WATCH_POLL) != 0)
			pfd[n++] = (struct pollfd){ .fd = ie->ie_fd,
			    .events = (short)ie->ie_events };
	ready = poll(pfd, n, timeout_ms);
	if (ready <= 0)
		return (ready);
	if (pfd[0].revents != 0)
		(void)ithread_collect(it, it->it_epfd, 0);
	n = 1;
	LIST_FOREACH(ie, &it->it_polled, ie_poll)
		if ((ie->ie_watched & INTR_WATCH_POLL) != 0 &&
		    pfd[n++].revents != 0)
			event_fire(it, ie);
	return (ready);
}

/*
 * Scheduling and requests: any thread.
 */

/* Pairs with ithread_sleep(): P3 to P5 of the head comment. */
static void
ithread_wake(struct ithread *it)
{
	const uint64_t one = 1;

	if (atomic_load(&it->it_state) != ITHREAD_ASLEEP ||
	    atomic_exchange(&it->it_state, ITHREAD_AWAKE) != ITHREAD_ASLEEP)
		return;
	/* Cannot block: the counter is far from its limit. */
	if (write(it->it_wakefd, &one, sizeof(one)) < 0)
		KASSERT(errno == EAGAIN, "eventfd: errno %d", errno);
}

/*
 * On the ithread itself: a few plain stores.  For an event with an INTR_POLL
 * handler on an ithread that is awake: a barrier and two loads of lines that
 * are rarely written, because the handler is called again before the ithread
 * sleeps.  Should the last such handler go away at the same time, then
 * handler_link() changes ie_polled, has a barrier and runs all handlers once:
 * if we read the old value then that run sees our work.
 */
void
intr_event_schedule(struct intr_event *ie)
{
	struct ithread *it = ie->ie_ithread;
	struct intr_event *head;

	if (it == ithread_self) {
		event_fire(it, ie);
		return;
	}
	intr_full_barrier();		/* P2; pairs with S1 */
	if (atomic_load_explicit(&ie->ie_polled, memory_order_relaxed) &&
	    atomic_load_explicit(&it->it_state, memory_order_relaxed) ==
	    ITHREAD_AWAKE)
		return;
	if (atomic_exchange_explicit(&ie->ie_pending, true,
	    memory_order_acq_rel))
		return;
	head = atomic_load_explicit(&it->it_scheduled, memory_order_relaxed);
	do {
		ie->ie_next = head;
	} while (!atomic_compare_exchange_weak(&it->it_scheduled, &head, ie));
	ithread_wake(it);
}

/* Have the ithread run fn, between two passes, and wait for its result. */
int
ithread_request(struct ithread *it, intr_request_fn *fn,
    struct intr_event *ie, struct intr_handler *ih)
{
	struct intr_request rq = { .rq_fn = fn, .rq_ie = ie, .rq_ih = ih };
	struct intr_request *head;

	NET_EPOCH_ASSERT_NOT();
	KASSERT(ithread_self == NULL, "an ithread would wait for an ithread");
	MAY_SLEEP("request to an ithread");

	head = atomic_load_explicit(&it->it_requests, memory_order_relaxed);
	do {
		rq.rq_next = head;
	} while (!atomic_compare_exchange_weak(&it->it_requests, &head, &rq));
	ithread_wake(it);

	pthread_mutex_lock(&it->it_mtx);
	while (!rq.rq_done)
		pthread_cond_wait(&it->it_done, &it->it_mtx);
	pthread_mutex_unlock(&it->it_mtx);
	return (rq.rq_error);
}

/*
 * Requests: on the ithread, between two passes, outside the epoch.
 */

/* Take ie off the list on which its next run would be found. */
static void
event_unlink(struct ithread *it, struct intr_event *ie)
{

	if (atomic_load_explicit(&ie->ie_polled, memory_order_relaxed))
		LIST_REMOVE(ie, ie_poll);
	else if (ie->ie_fired)
		STAILQ_REMOVE(&it->it_active, ie, intr_event, ie_active);
	ie->ie_fired = false;
}

/*
 * Put ie where its handlers say it belongs, and run them all once: whoever
 * scheduled the event went by what it was before.
 */
static void
handler_link(struct ithread *it, struct intr_event *ie)
{
	struct intr_handler *ih;
	bool polled = false;

	SLIST_FOREACH(ih, &ie->ie_handlers, ih_link)
		if ((ih->ih_flags & INTR_POLL) != 0)
			polled = true;
	event_unlink(it, ie);
	atomic_store_explicit(&ie->ie_polled, polled, memory_order_relaxed);
	if (polled)
		LIST_INSERT_HEAD(&it->it_polled, ie, ie_poll);
	intr_full_barrier();		/* pairs with intr_event_schedule() */
	event_activate(it, ie);
}

/* A new event without handlers: can its fd be watched at all? */
int
ithread_event_check(struct ithread *it, struct intr_request *rq)
{
	struct intr_event *ie = rq->rq_ie;
	struct epoll_event ev = { .events = ie->ie_events, .data.ptr = ie };
	struct pollfd *pfd;
	unsigned int n;

	if (ie->ie_fd == -1)
		return (0);
	if (epoll_ctl(it->it_epfd, EPOLL_CTL_ADD, ie->ie_fd, &ev) != 0)
		return (errno);
	(void)epoll_ctl(it->it_epfd, EPOLL_CTL_DEL, ie->ie_fd, NULL);
	if (it->it_nfds + 2 > it->it_maxpoll) {
		/* Here, so that watching an event later cannot fail. */
		n = 2 * it->it_nfds + 8;
		pfd = realloc(it->it_poll, n * sizeof(*pfd));
		if (pfd == NULL)
			return (ENOMEM);
		it->it_poll = pfd;
		it->it_maxpoll = n;
	}
	it->it_nfds++;
	return (0);
}

/* An event that nobody schedules any more, without handlers. */
int
ithread_event_forget(struct ithread *it, struct intr_request *rq)
{
	struct intr_event *ie = rq->rq_ie;

	if (!SLIST_EMPTY(&ie->ie_handlers))
		return (EBUSY);
	if (ie->ie_throttled)
		LIST_REMOVE(ie, ie_throttle);
	event_unlink(it, ie);
	if (ie->ie_fd != -1)
		it->it_nfds--;
	return (0);
}

int
ithread_handler_add(struct ithread *it, struct intr_request *rq)
{
	struct intr_event *ie = rq->rq_ie;
	struct intr_handler *ih, *last = NULL;
	int error;

	/* In the order of addition. */
	SLIST_FOREACH(ih, &ie->ie_handlers, ih_link)
		last = ih;
	if (last == NULL)
		SLIST_INSERT_HEAD(&ie->ie_handlers, rq->rq_ih, ih_link);
	else
		SLIST_INSERT_AFTER(last, rq->rq_ih, ih_link);
	error = event_watch(it, ie);
	if (error != 0) {
		SLIST_REMOVE(&ie->ie_handlers, rq->rq_ih, intr_handler,
		    ih_link);
		(void)event_watch(it, ie);
		return (error);
	}
	handler_link(it, ie);
	return (0);
}

int
ithread_handler_remove(struct ithread *it, struct intr_request *rq)
{
	struct intr_event *ie = rq->rq_ie;

	SLIST_REMOVE(&ie->ie_handlers, rq->rq_ih, intr_handler, ih_link);
	(void)event_watch(it, ie);	/* only takes out of sets */
	handler_link(it, ie);
	return (0);
}

int
ithread_end(struct ithread *it, struct intr_request *rq)
{

	it->it_stop = true;
	return (0);
}

/*
 * Take what other threads left.  The requests are taken first: an event that
 * was scheduled before its destruction was asked for is then among those
 * taken second, and is off it_scheduled when it is forgotten.
 */
static void
ithread_take(struct ithread *it, struct intr_run *ir)
{
	struct intr_request *rq, *next;
	struct intr_event *ie, *nextie;

	rq = atomic_exchange_explicit(&it->it_requests, NULL,
	    memory_order_acquire);
	ie = atomic_exchange_explicit(&it->it_scheduled, NULL,
	    memory_order_acquire);
	for (; ie != NULL; ie = nextie) {
		nextie = ie->ie_next;
		(void)atomic_exchange_explicit(&ie->ie_pending, false,
		    memory_order_acq_rel);
		event_fire(it, ie);
	}
	if (rq == NULL)
		return;
	run_leave(ir);
	for (; rq != NULL; rq = next) {
		next = rq->rq_next;
		rq->rq_error = rq->rq_fn(it, rq);
		pthread_mutex_lock(&it->it_mtx);
		rq->rq_done = true;	/* the caller may return with it */
		pthread_cond_broadcast(&it->it_done);
		pthread_mutex_unlock(&it->it_mtx);
	}
}

static inline bool
ithread_asked(struct ithread *it)
{

	return (atomic_load_explicit(&it->it_scheduled,
	    memory_order_relaxed) != NULL ||
	    atomic_load_explicit(&it->it_requests,
	    memory_order_relaxed) != NULL);
}

/*
 * The loop.
 */

/* Run one handler inside or outside the epoch, as it wants. */
static inline enum intr_more
handler_run(struct ithread *it, struct intr_run *ir,
    const struct intr_handler *ih)
{
	enum intr_more more;

	if ((ih->ih_flags & INTR_TYPE_NET) != 0) {
		run_enter(it, ir);
		more = ih->ih_fn(ih->ih_arg);
		KASSERT(in_epoch(net_epoch_preempt),
		    "a handler of \"%s\" left the epoch",
		    ih->ih_event->ie_name);
		run_count(ir);
	} else {
		run_leave(ir);
		more = ih->ih_fn(ih->ih_arg);
	}
	KASSERT(ir->ir_entered || !in_epoch(net_epoch_preempt),
	    "a handler of \"%s\" did not leave the epoch",
	    ih->ih_event->ie_name);
	return (more);
}

/*
 * Run the INTR_POLL handlers of ie, and the others if it fired.  True if one
 * wants to be called again.  ie may fire again meanwhile.
 */
static inline bool
event_run(struct ithread *it, struct intr_run *ir, struct intr_event *ie)
{
	bool all = ie->ie_fired, more = false, fire = false;
	struct intr_handler *ih;
	unsigned int n = 0;

	ie->ie_fired = false;
	SLIST_FOREACH(ih, &ie->ie_handlers, ih_link) {
		if (!all && (ih->ih_flags & INTR_POLL) == 0)
			continue;
		n++;
		if (handler_run(it, ir, ih) == INTR_MORE) {
			more = true;
			if ((ih->ih_flags & INTR_POLL) == 0)
				fire = true;
		}
	}
	if (fire)
		event_activate(it, ie);
	counter_add(ie->ie_cells + IEC_RUNS, n);
	it->it_runs += n;
	return (more);
}

/* One pass; true if another one is needed. */
static bool
ithread_pass(struct ithread *it, struct intr_run *ir)
{
	struct intr_event_queue now = STAILQ_HEAD_INITIALIZER(now);
	struct intr_event *ie;

	STAILQ_CONCAT(&now, &it->it_active);
	it->it_more = false;
	LIST_FOREACH(ie, &it->it_polled, ie_poll)
		if (event_run(it, ir, ie))
			it->it_more = true;
	while ((ie = STAILQ_FIRST(&now)) != NULL) {
		STAILQ_REMOVE_HEAD(&now, ie_active);
		(void)event_run(it, ir, ie);
	}
	return (it->it_more || !STAILQ_EMPTY(&it->it_active));
}

/* Each INTR_LOOK_RUNS handler runs of a busy ithread. */
static void
ithread_look(struct ithread *it)
{
	uint64_t now;

	it->it_runs = 0;
	if (it->it_nbusy == 0 && LIST_EMPTY(&it->it_throttled))
		return;
	now = time_ns();
	if (now - it->it_look < INTR_LOOK_NS)
		return;
	it->it_look = now;
	ithread_unthrottle(it, now);
	if (it->it_nbusy != 0)
		(void)ithread_collect(it, it->it_busyfd, 0);
}

/*
 * Nothing to do: look on for us microseconds, true if something came.  Where
 * no handler is polled there is no section open meanwhile, and where one is,
 * the batch bounds it as ever.
 */
static bool
ithread_spin(struct ithread *it, struct intr_run *ir, uint64_t us)
{
	uint64_t begin = time_ns(), now = begin;

	run_leave(ir);
	while (now - begin < us * 1000) {
		intr_cpu_pause();
		if (now - it->it_look >= INTR_LOOK_NS) {
			it->it_look = now;
			ithread_unthrottle(it, now);
			if (it->it_nbusy != 0)
				(void)ithread_collect(it, it->it_busyfd, 0);
		}
		if (ithread_asked(it) || ithread_pass(it, ir)) {
			counter_inc(it->it_domain->id_cells + IDC_SPINS);
			return (true);
		}
		now = time_ns();
	}
	return (false);
}

/* Call the arm functions; what has something already fires. */
static void
ithread_arm(struct ithread *it)
{
	struct intr_handler *ih;
	struct intr_event *ie;

	LIST_FOREACH(ie, &it->it_polled, ie_poll)
		SLIST_FOREACH(ih, &ie->ie_handlers, ih_link)
			if (ih->ih_arm != NULL && ih->ih_arm(ih->ih_arg))
				event_fire(it, ie);
}

/*
 * Sleep until something fires; the head comment proves that nothing is
 * missed.  The arm functions are the last to look, so what they armed is not
 * touched by a handler afterwards.
 */
static void
ithread_sleep(struct ithread *it, struct intr_run *ir)
{
	int timeout_ms = -1;
	bool more;

	atomic_store_explicit(&it->it_state, ITHREAD_ASLEEP,
	    memory_order_relaxed);				/* S1 */
	intr_full_barrier();
	more = ithread_pass(it, ir);				/* S2 */
	run_leave(ir);
	NET_EPOCH_ASSERT_NOT();
	if (!more && !ithread_asked(it)) {
		ithread_arm(it);
		more = it->it_more || !STAILQ_EMPTY(&it->it_active);
	}
	if (more || ithread_asked(it)) {
		atomic_store_explicit(&it->it_state, ITHREAD_AWAKE,
		    memory_order_relaxed);			/* S3 */
		return;
	}
	if (!LIST_EMPTY(&it->it_throttled))
		timeout_ms = INTR_STORM_MS;
	/* Idle, exactly, is to find nothing; worth a call for storms only. */
	if (atomic_load_explicit(&it->it_domain->id_storm,
	    memory_order_relaxed) == 0 ||
	    ithread_wait(it, 0) == 0) {
		it->it_idle++;
		counter_inc(it->it_domain->id_cells + IDC_SLEEPS);
		(void)ithread_wait(it, timeout_ms);		/* S4 */
	}
	atomic_store_explicit(&it->it_state, ITHREAD_AWAKE,
	    memory_order_relaxed);				/* S5 */
	if (!LIST_EMPTY(&it->it_throttled))
		ithread_unthrottle(it, time_ns());
}

void
ithread_main(void *arg)
{
	struct ithread *it = arg;
	struct intr_run ir = { .ir_entered = false };
	int us;

	ithread_self = it;
	for (;;) {
		if (__predict_false(ithread_asked(it))) {
			ithread_take(it, &ir);
			if (it->it_stop)
				break;
		}
		if (it->it_runs >= INTR_LOOK_RUNS)
			ithread_look(it);
		if (ithread_pass(it, &ir) || ithread_asked(it))
			continue;
		us = atomic_load_explicit(&it->it_domain->id_spin_us,
		    memory_order_relaxed);
		if (us == 0 || !ithread_spin(it, &ir, (uint64_t)us))
			ithread_sleep(it, &ir);
	}
	run_leave(&ir);
}
