/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * What the library says: broken rules (panic), remarks (report), counters,
 * and where a thread is.  Where it goes can be chosen by the program.  A panic
 * handler that returns lets the library go on without the operation that broke
 * the rule.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "epoch_private.h"

#define	EPOCH_MSG	512

/* Not by stdio: a signal handler that enters may have to be reported. */
static void
epoch_print(const char *msg)
{
	char line[EPOCH_MSG + 16];
	ssize_t done;
	int n;

	n = snprintf(line, sizeof(line), "epoch: %s\n", msg);
	done = write(STDERR_FILENO, line, (size_t)n);
	(void)done;
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

/* Copy the counters of e as they are now; no lock, so not all of one moment. */
void
epoch_stats_get(epoch_t e, struct epoch_stats *out)
{
	const struct epoch_record *r;
	uint64_t *to = (uint64_t *)out;
	const uint64_t *from;
	struct epoch_slot *es;
	size_t i;

	if (!epoch_usable(e)) {
		(void)memset(out, 0, sizeof(*out));
		epoch_unusable(e, "epoch_stats_get");
		return;
	}
	es = epoch_slot(e);
	from = (const uint64_t *)&es->es_stats;
	for (i = 0; i < sizeof(*out) / sizeof(*to); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
	out->es_advances = __atomic_load_n(&e->e_value, __ATOMIC_RELAXED) -
	    es->es_base;
	out->es_backlog = epoch_backlog(es);
	out->es_oldest = epoch_oldest(es);
	for (r = __atomic_load_n(&e->e_records, __ATOMIC_ACQUIRE); r != NULL;
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

/*
 * Report where this thread entered e, or that it did not; in debug builds the
 * end of that section is reported, too.
 */
void
epoch_where_report(epoch_t e)
{
	struct epoch_td *td = epoch_td_self();
	unsigned int i = epoch_index(epoch_slot(e));
	struct epoch_place *p = &td->td_place[i];
	unsigned int depth;

	depth = (unsigned int)epoch_section_depth(&td->td_pub.td_section[i]);
	if (depth == 0) {
		epoch_reportf("thread %d is not in \"%s\"", (int)gettid(),
		    epoch_name(e));
		return;
	}
	if (p->p_file == NULL) {
		epoch_reportf("thread %d is in \"%s\", depth %u",
		    (int)gettid(), epoch_name(e), depth);
		return;
	}
	epoch_reportf("thread %d is in \"%s\", depth %u, entered at %s:%d",
	    (int)gettid(), epoch_name(e), depth, p->p_file, p->p_line);
	p->p_watch |= EPOCH_WATCH_REPORT;
	p->p_untimed = 0;	/* have the exit look at it */
}
