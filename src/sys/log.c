/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Log lines through a bounded ring, so that a thread inside an epoch section
 * never writes to a file.  ring[], head, tail and lost belong to log_mtx,
 * which is held for a copy of one line; the writer thread holds it only to
 * take lines out, and writes without it.
 *
 * Who reads standard error may have stopped to: a pager, a full pipe.  The
 * writer waits for it, and no one for the writer; at the end of the program
 * it is given LOG_LAST_MS, then what is left is lost.
 */
#include "sys/log.h"

#include <sys/stat.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/thread.h"

#define	LOG_RING	256		/* lines; a power of two */
#define	LOG_LINE	512		/* bytes of one, with its NUL */
#define	LOG_LAST_MS	500		/* for stderr to take a line */

struct log_line {
	int		 l_level;
	char		 l_text[LOG_LINE];
};

static pthread_mutex_t log_mtx = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t log_cv = PTHREAD_COND_INITIALIZER;
static struct log_line *ring;		/* (log_mtx) NULL: write at once */
static unsigned int head, tail;		/* (log_mtx) free running */
static unsigned int lost;		/* (log_mtx) lines the ring refused */
static bool	 stopping;		/* (log_mtx) */
static struct thread *log_thread;
static char	 log_ident[64];
static bool	 log_journal;		/* stderr is the journal's */
static _Atomic int log_max = LOG_INFO;	/* (a) relaxed */

/*
 * Is standard error the journal's?  The variable alone does not tell: what a
 * service starts inherits it, also with another standard error.
 */
static bool
log_to_journal(void)
{
	char self[64];
	const char *env;
	struct stat sb;

	env = getenv("JOURNAL_STREAM");
	if (env == NULL || fstat(STDERR_FILENO, &sb) != 0)
		return (false);
	snprintf(self, sizeof(self), "%ju:%ju", (uintmax_t)sb.st_dev,
	    (uintmax_t)sb.st_ino);
	return (strcmp(env, self) == 0);
}

/*
 * Wait until stderr takes a line: as long as it lasts, or, once we are to
 * stop, not longer than LOG_LAST_MS.  False: it does not.
 */
static bool
log_wait(void)
{
	struct pollfd pfd = { .fd = STDERR_FILENO, .events = POLLOUT };
	bool last;

	for (;;) {
		pthread_mutex_lock(&log_mtx);
		last = stopping;
		pthread_mutex_unlock(&log_mtx);
		if (poll(&pfd, 1, LOG_LAST_MS) == 1)
			return (true);
		if (last)
			return (false);
	}
}

/* One line to stderr in one write, so that lines of threads do not mix. */
static void
log_write(int level, const char *text)
{
	char buf[LOG_LINE + 96];
	ssize_t done;
	int len;

	if (log_journal)
		len = snprintf(buf, sizeof(buf), "<%d>%s\n", level, text);
	else
		len = snprintf(buf, sizeof(buf), "%s%s%s\n", log_ident,
		    log_ident[0] != '\0' ? ": " : "", text);
	if (len >= (int)sizeof(buf)) {
		len = (int)sizeof(buf) - 1;
		buf[len - 1] = '\n';
	}
	do
		done = write(STDERR_FILENO, buf, (size_t)len);
	while (done == -1 && errno == EINTR);
}

static void
log_main(void *arg)
{
	struct log_line l;
	char note[64];
	unsigned int n;

	pthread_mutex_lock(&log_mtx);
	for (;;) {
		while (head == tail && lost == 0 && !stopping)
			pthread_cond_wait(&log_cv, &log_mtx);
		if (head == tail && lost == 0)
			break;
		n = 0;
		if (head != tail)
			l = ring[tail++ % LOG_RING];
		else {
			n = lost;
			lost = 0;
		}
		pthread_mutex_unlock(&log_mtx);
		if (!log_wait())
			return;
		if (n == 0)
			log_write(l.l_level, l.l_text);
		else {
			snprintf(note, sizeof(note),
			    "%u log lines lost, the log was full", n);
			log_write(LOG_WARNING, note);
		}
		pthread_mutex_lock(&log_mtx);
	}
	pthread_mutex_unlock(&log_mtx);
}

int
log_start(const char *ident)
{
	int error;

	snprintf(log_ident, sizeof(log_ident), "%s", ident);
	log_journal = log_to_journal();
	if ((ring = calloc(LOG_RING, sizeof(*ring))) == NULL)
		return (ENOMEM);
	stopping = false;
	error = thread_create(&log_thread, "log", THREAD_ANY_CPU, log_main,
	    NULL);
	if (error != 0) {
		free(ring);
		ring = NULL;
	}
	return (error);
}

void
log_stop(void)
{

	pthread_mutex_lock(&log_mtx);
	if (ring == NULL) {
		pthread_mutex_unlock(&log_mtx);
		return;
	}
	stopping = true;
	pthread_cond_signal(&log_cv);
	pthread_mutex_unlock(&log_mtx);
	thread_join(log_thread);
	pthread_mutex_lock(&log_mtx);
	free(ring);
	ring = NULL;
	pthread_mutex_unlock(&log_mtx);
}

void
log_level(int level)
{

	atomic_store_explicit(&log_max, level, memory_order_relaxed);
}

static void
log_vmsg(int level, const char *fmt, va_list ap)
{
	struct log_line l;

	if (level > atomic_load_explicit(&log_max, memory_order_relaxed))
		return;
	l.l_level = level;
	vsnprintf(l.l_text, sizeof(l.l_text), fmt, ap);
	pthread_mutex_lock(&log_mtx);
	if (ring == NULL) {
		pthread_mutex_unlock(&log_mtx);
		log_write(level, l.l_text);
		return;
	}
	if (head - tail < LOG_RING)
		ring[head++ % LOG_RING] = l;
	else
		lost++;
	pthread_cond_signal(&log_cv);
	pthread_mutex_unlock(&log_mtx);
}

void
log_msg(int level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_vmsg(level, fmt, ap);
	va_end(ap);
}

/*
 * Two threads that see a new second at once may both reset the count: then
 * at most twice the rate passes in that second.
 */
bool
rate_check(struct log_limit *ll, uint32_t rate)
{
	uint64_t now = time_coarse_ns() / 1000000000u;

	if (atomic_load_explicit(&ll->ll_second, memory_order_relaxed) != now) {
		atomic_store_explicit(&ll->ll_second, now,
		    memory_order_relaxed);
		atomic_store_explicit(&ll->ll_count, 0, memory_order_relaxed);
	}
	if (atomic_fetch_add_explicit(&ll->ll_count, 1,
	    memory_order_relaxed) < rate)
		return (true);
	atomic_fetch_add_explicit(&ll->ll_missed, 1, memory_order_relaxed);
	return (false);
}

void
log_limited(struct log_limit *ll, uint32_t rate, int level, const char *fmt,
    ...)
{
	va_list ap;
	uint32_t missed;

	if (!rate_check(ll, rate))
		return;
	missed = atomic_exchange_explicit(&ll->ll_missed, 0,
	    memory_order_relaxed);
	va_start(ap, fmt);
	log_vmsg(level, fmt, ap);
	va_end(ap);
	if (missed != 0)
		log_msg(level, "(%u more like it were not written)", missed);
}
