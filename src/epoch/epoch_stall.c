/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * Sections that are too long: each is reported once.
 *
 * A section is noticed by whoever waits for it: epoch_wait(), a drain, a
 * batch of callbacks.  Where nobody waits, a look notices it, made by
 * epoch_stall_check() or by the reclaim thread.  A look bumps the value, as a
 * writer does, and waits for nobody: a record that shows less belongs to a
 * section older than the bump.  If the next look finds the same value there,
 * it is the same section, since an entry after the bump takes a later value.
 * So entering costs nothing for it, and an age is at least what is said.
 *
 * Looks run on any thread, one at a time for an epoch.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "epoch_private.h"

/* Looks in the time after which a section is reported. */
#define	EPOCH_LOOKS	4U

/*
 * Report sections of e that are older than ms (0: never, the default), each
 * once.  A NULL handler prints.  Unless e is polled, the reclaim thread looks
 * for them from now on.  The handler runs on the thread that noticed, and may
 * do anything but wait for e, drain or free it.
 */
void
epoch_set_stall(epoch_t e, unsigned int ms, epoch_stall_t cb, void *arg)
{
	struct epoch_slot *es;
	sigset_t set;

	if (!epoch_usable(e)) {
		epoch_unusable(e, "epoch_set_stall");
		return;
	}
	es = epoch_slot(e);
	epoch_lock_enter(&set);
	es->es_stall_cb = cb;
	es->es_stall_arg = arg;
	__atomic_store_n(&es->es_stall_ns, (uint64_t)ms * 1000000,
	    __ATOMIC_RELAXED);
	epoch_lock_exit(&set);
	if (ms != 0 && (epoch_slot_flags(es) & EPOCH_POLLED) == 0)
		epoch_reclaim_kick();
}

static void
epoch_thread_name(int tid, char *buf, size_t size)
{
	char path[64];
	ssize_t n = -1;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, buf, size - 1);
		(void)close(fd);
	}
	if (n <= 0)
		n = snprintf(buf, size, "?");
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
}

static void
epoch_stall_print(const struct epoch_stall *st)
{
	if (st->st_file == NULL) {
		epoch_reportf("thread %d (%s) has been in \"%s\" for %llu ms",
		    st->st_tid, st->st_thread, st->st_name,
		    (unsigned long long)(st->st_age / 1000000));
		return;
	}
	epoch_reportf("thread %d (%s) has been in \"%s\" for %llu ms, "
	    "entered at %s:%d", st->st_tid, st->st_thread, st->st_name,
	    (unsigned long long)(st->st_age / 1000000), st->st_file,
	    st->st_line);
}

/* Tell the program about record r, whose section is at least age ns old. */
static void
epoch_stall_tell(struct epoch_slot *es, struct epoch_record *r, uint64_t age)
{
	struct epoch_stall st;
	epoch_stall_t cb;
	int cancel = PTHREAD_CANCEL_ENABLE;
	char name[32];
	sigset_t set;
	void *arg;

	/* The caller may hold es_mtx, or be the one that looks. */
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	epoch_count(&es->es_stats.es_stalls, 1);
	(void)memset(&st, 0, sizeof(st));
	st.st_epoch = es->es_epoch;
	st.st_name = es->es_name;
	st.st_tid = __atomic_load_n(&r->r_tid, __ATOMIC_RELAXED);
	st.st_age = age;
	epoch_thread_name(st.st_tid, name, sizeof(name));
	st.st_thread = name;
	epoch_debug_place(r, epoch_index(es), &st);
	epoch_lock_enter(&set);
	cb = es->es_stall_cb;
	arg = es->es_stall_arg;
	epoch_lock_exit(&set);
	if (cb != NULL)
		cb(&st, arg);
	else
		epoch_stall_print(&st);
	(void)pthread_setcancelstate(cancel, NULL);
}

/*
 * Record r has been in a section for at least age ns: the longest?  Reported
 * when it is old enough, once a section.
 */
void
epoch_stall_note(struct epoch_slot *es, struct epoch_record *r, uint64_t age)
{
	uint64_t limit, value;

	epoch_count_max(&es->es_stats.es_longest_section, age);
	limit = __atomic_load_n(&es->es_stall_ns, __ATOMIC_RELAXED);
	value = __atomic_load_n(&r->r_value, __ATOMIC_RELAXED);
	if (limit == 0 || age < limit || (int64_t)value <= 0 ||
	    __atomic_exchange_n(&r->r_stalled, value, __ATOMIC_RELAXED) ==
	    value)
		return;
	epoch_stall_tell(es, r, age);
}

/* How long record r has been seen in one section; goal was bumped at now. */
static uint64_t
epoch_look_record(struct epoch_record *r, uint64_t goal, uint64_t now)
{
	uint64_t value = __atomic_load_n(&r->r_value, __ATOMIC_ACQUIRE);

	if (value == 0 || value >= goal)
		return (0);
	if (value == r->r_seen)
		return (now - r->r_since);
	r->r_seen = value;
	r->r_since = now;
	return (0);
}

/* Look at each record of es.  Returns how many are as old as the limit. */
static unsigned int
epoch_look(struct epoch_slot *es)
{
	struct epoch_record *r;
	uint64_t age, goal, limit, now;
	unsigned int n = 0;

	goal = epoch_bump(es->es_epoch);
	now = epoch_now();
	limit = __atomic_load_n(&es->es_stall_ns, __ATOMIC_RELAXED);
	for (r = __atomic_load_n(&es->es_epoch->e_records, __ATOMIC_ACQUIRE);
	    r != NULL; r = r->r_next) {
		age = epoch_look_record(r, goal, now);
		if (age == 0)
			continue;
		if (limit != 0 && age >= limit)
			n++;
		epoch_stall_note(es, r, age);
	}
	return (n);
}

/* No look at es begins, and none is under way, until the unbar. */
void
epoch_stall_bar(struct epoch_slot *es)
{
	const struct timespec ts = { 0, 50000 };

	while (__atomic_exchange_n(&es->es_looking, 1, __ATOMIC_ACQUIRE) != 0)
		(void)nanosleep(&ts, NULL);
}

void
epoch_stall_unbar(struct epoch_slot *es)
{
	__atomic_store_n(&es->es_looking, 0, __ATOMIC_RELEASE);
}

/* Look, unless another thread does, or the epoch has been freed. */
static unsigned int
epoch_stall_look(struct epoch_slot *es)
{
	unsigned int n = 0;

	if (__atomic_exchange_n(&es->es_looking, 1, __ATOMIC_ACQUIRE) != 0)
		return (0);
	if (__atomic_load_n(&es->es_inuse, __ATOMIC_ACQUIRE) != 0)
		n = epoch_look(es);
	epoch_stall_unbar(es);
	return (n);
}

/*
 * Look for long sections of e now; never waits.  A section is known from the
 * second look on, so call this some times in the time that was set.  Returns
 * how many sections are as old as that; 0 while another thread looks.
 */
unsigned int
epoch_stall_check(epoch_t e)
{
	if (!epoch_usable(e)) {
		epoch_unusable(e, "epoch_stall_check");
		return (0);
	}
	return (epoch_stall_look(epoch_slot(e)));
}

/*
 * The reclaim thread's looks, at the epochs whose time has come.  Returns the
 * ns until the next; 0: there is none.
 */
uint64_t
epoch_stall_looks(void)
{
	struct epoch_slot *es;
	uint64_t every, now = 0, next = 0;
	unsigned int i;

	for (i = 0; i < EPOCH_MAX; i++) {
		es = &epoch_slots[i];
		every = __atomic_load_n(&es->es_stall_ns, __ATOMIC_RELAXED) /
		    EPOCH_LOOKS;
		if (every == 0 || (epoch_slot_flags(es) & EPOCH_POLLED) != 0 ||
		    __atomic_load_n(&es->es_inuse, __ATOMIC_ACQUIRE) == 0)
			continue;
		if (every < EPOCH_TICK_NS)
			every = EPOCH_TICK_NS;
		if (now == 0)
			now = epoch_now();
		if (es->es_look_due <= now || es->es_look_due > now + every) {
			(void)epoch_stall_look(es);
			es->es_look_due = now + every;
		}
		if (next == 0 || es->es_look_due - now < next)
			next = es->es_look_due - now;
	}
	return (next);
}
