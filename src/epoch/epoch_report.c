/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * What the library says: broken rules (panic), remarks (report), readers that
 * stay in a section too long (stall), and counters.  Where it goes can be
 * chosen by the program.  A panic handler that returns lets the library go on
 * without the operation that broke the rule.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "epoch_private.h"

#define	EPOCH_MSG	512

static void
epoch_print(const char *msg)
{
	(void)fprintf(stderr, "epoch: %s\n", msg);
}

static void
epoch_print_abort(const char *msg)
{
	epoch_print(msg);
	abort();
}

static epoch_report_t epoch_panic_handler = epoch_print_abort;	/* (a) */
static epoch_report_t epoch_report_handler = epoch_print;	/* (a) */

/* Returns the handler before; NULL means the default: print and abort. */
epoch_report_t
epoch_set_panic_handler(epoch_report_t handler)
{
	if (handler == NULL)
		handler = epoch_print_abort;
	return (__atomic_exchange_n(&epoch_panic_handler, handler,
	    __ATOMIC_ACQ_REL));
}

/* Returns the handler before; NULL means the default: print. */
epoch_report_t
epoch_set_report_handler(epoch_report_t handler)
{
	if (handler == NULL)
		handler = epoch_print;
	return (__atomic_exchange_n(&epoch_report_handler, handler,
	    __ATOMIC_ACQ_REL));
}

void
epoch_panicf(const char *fmt, ...)
{
	char msg[EPOCH_MSG];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	__atomic_load_n(&epoch_panic_handler, __ATOMIC_ACQUIRE)(msg);
}

void
epoch_reportf(const char *fmt, ...)
{
	char msg[EPOCH_MSG];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	__atomic_load_n(&epoch_report_handler, __ATOMIC_ACQUIRE)(msg);
}

void
epoch_panic(const char *what, const char *file, int line)
{
	epoch_panicf("%s at %s:%d", what, file, line);
}

/*
 * Report sections of e that make somebody wait for longer than ms (0: never,
 * the default), each once.  A NULL handler prints.  The handler runs on the
 * waiting thread and may do anything but wait for e or drain it.
 */
void
epoch_set_stall(epoch_t e, unsigned int ms, epoch_stall_t cb, void *arg)
{
	struct epoch_slot *es = epoch_slot(e);
	sigset_t set;

	epoch_lock_enter(&set);
	es->es_stall_cb = cb;
	es->es_stall_arg = arg;
	__atomic_store_n(&es->es_stall_ns, (uint64_t)ms * 1000000,
	    __ATOMIC_RELAXED);
	epoch_lock_exit(&set);
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

/* Record r has held a goal up for age ns: report it, once a section. */
void
epoch_stall_check(struct epoch_slot *es, struct epoch_record *r, uint64_t age)
{
	struct epoch_stall st;
	epoch_stall_t cb;
	uint64_t limit, value;
	char name[32];
	sigset_t set;
	void *arg;

	epoch_count_max(&es->es_stats.es_longest_section, age);
	limit = __atomic_load_n(&es->es_stall_ns, __ATOMIC_RELAXED);
	value = __atomic_load_n(&r->r_value, __ATOMIC_RELAXED);
	if (limit == 0 || age < limit || value == 0 ||
	    __atomic_exchange_n(&r->r_stalled, value, __ATOMIC_RELAXED) ==
	    value)
		return;
	epoch_count(&es->es_stats.es_stalls, 1);
	(void)memset(&st, 0, sizeof(st));
	st.st_epoch = &es->es_epoch;
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
}

/* Copy the counters of e as they are now; no lock, so not all of one moment. */
void
epoch_stats_get(epoch_t e, struct epoch_stats *out)
{
	struct epoch_slot *es = epoch_slot(e);
	const uint64_t *from = (const uint64_t *)&es->es_stats;
	const struct epoch_record *r;
	uint64_t *to = (uint64_t *)out;
	size_t i;

	for (i = 0; i < sizeof(*out) / sizeof(*to); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
	out->es_advances = __atomic_load_n(&e->e_value, __ATOMIC_RELAXED) -
	    es->es_base;
	out->es_backlog = epoch_backlog(es);
	out->es_oldest = epoch_oldest(es);
	for (r = __atomic_load_n(&es->es_records, __ATOMIC_ACQUIRE); r != NULL;
	    r = r->r_next)
		out->es_records++;
}

/* List the sections this thread is in, one a line; returns how many. */
int
epoch_trace_list(char *buf, size_t size)
{
	const struct epoch_td *td = epoch_td_self();
	unsigned int depth, i;
	size_t used = 0;
	int n = 0;

	if (size != 0)
		buf[0] = '\0';
	for (i = 0; i < EPOCH_MAX; i++) {
		depth = (unsigned int)epoch_section_depth(
		    &td->td_pub.td_section[i]);
		if (depth == 0)
			continue;
		n++;
		if (used < size)
			used += (size_t)snprintf(buf + used, size - used,
			    "\"%s\" depth %u entered at %s:%d\n",
			    epoch_slots[i].es_name, depth,
			    td->td_place[i].p_file != NULL ?
			    td->td_place[i].p_file : "?",
			    td->td_place[i].p_line);
	}
	return (n);
}

/*
 * in_epoch(), and, when the answer is no and dump is not 0, a report of what
 * the thread is in instead.
 */
int
in_epoch_verbose(epoch_t e, int dump)
{
	char buf[EPOCH_MSG / 2];

	if (in_epoch(e) != 0)
		return (1);
	if (dump != 0)
		epoch_reportf("thread %d is not in \"%s\"; %d open: %s",
		    (int)gettid(), e == NULL ? "NULL" : epoch_name(e),
		    epoch_trace_list(buf, sizeof(buf)), buf);
	return (0);
}
