/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Domains, events and handlers: the control side.  Called by control threads,
 * outside the epoch.  Memory is allocated and freed here; the lists that the
 * loop walks are changed by the ithread itself (ithread.c), on request.
 *
 * id_mtx protects the list of all events and the figures of destroyed ones,
 * for statistics; it is a leaf and is not held during a request.
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netepoch/epoch.h>

#include "intr/intr_private.h"
#include "sys/sysctl.h"
#include "sys/thread.h"

#define	INTR_BATCH_MAX	1000000
#define	INTR_SPIN_MAX	1000000		/* us */

#ifdef INVARIANTS
static void
intr_checks_set(void)
{

	sleep_check_hook = epoch_sleepable_assert;
}

void
intr_checks_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, intr_checks_set);
}
#else
void
intr_checks_init(void)
{
}
#endif

/*
 * Domains.
 */
static int
ithread_start(struct intr_domain *id, struct ithread *it, int cpu)
{
	struct epoll_event ev = { .events = EPOLLIN };	/* NULL: the eventfd */
	char name[16];
	int error;

	it->it_domain = id;
	it->it_cpu = cpu;
	STAILQ_INIT(&it->it_active);
	LIST_INIT(&it->it_polled);
	LIST_INIT(&it->it_throttled);
	pthread_mutex_init(&it->it_mtx, NULL);
	pthread_cond_init(&it->it_done, NULL);
	atomic_init(&it->it_state, ITHREAD_AWAKE);
	atomic_init(&it->it_scheduled, NULL);
	atomic_init(&it->it_requests, NULL);

	it->it_epfd = epoll_create1(EPOLL_CLOEXEC);
	it->it_busyfd = epoll_create1(EPOLL_CLOEXEC);
	it->it_wakefd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (it->it_epfd == -1 || it->it_busyfd == -1 || it->it_wakefd == -1 ||
	    epoll_ctl(it->it_epfd, EPOLL_CTL_ADD, it->it_wakefd, &ev) != 0) {
		error = errno;
		goto close_fds;
	}
	snprintf(name, sizeof(name), "intr: cpu%d", cpu);
	error = thread_create(&it->it_td, name, cpu, ithread_main, it);
	if (error == 0)
		return (0);
close_fds:
	if (it->it_epfd != -1)
		close(it->it_epfd);
	if (it->it_busyfd != -1)
		close(it->it_busyfd);
	if (it->it_wakefd != -1)
		close(it->it_wakefd);
	pthread_cond_destroy(&it->it_done);
	pthread_mutex_destroy(&it->it_mtx);
	return (error);
}

static void
ithread_join(struct ithread *it)
{

	(void)ithread_request(it, ithread_end, NULL, NULL);
	thread_join(it->it_td);
	free(it->it_poll);
	close(it->it_epfd);
	close(it->it_busyfd);
	close(it->it_wakefd);
	pthread_cond_destroy(&it->it_done);
	pthread_mutex_destroy(&it->it_mtx);
}

int
intr_domain_alloc(const int *cpus, int n, struct intr_domain **idp)
{
	struct intr_domain *id;
	int error = ENOMEM;

	NET_EPOCH_ASSERT_NOT();

	if (n <= 0)
		return (EINVAL);
	for (int i = 0; i < n; i++)
		if (cpus[i] < 0)
			return (EINVAL);
	intr_checks_init();
	if ((id = calloc(1, sizeof(*id))) == NULL)
		return (error);
	id->id_ithreads = aligned_alloc(CACHE_LINE_SIZE,
	    (size_t)n * sizeof(struct ithread));
	if (id->id_ithreads == NULL)
		goto free_domain;
	memset(id->id_ithreads, 0, (size_t)n * sizeof(struct ithread));
	error = counter_alloc(IDC_COUNT, &id->id_cells);
	if (error != 0)
		goto free_ithreads;
	atomic_init(&id->id_batch, INTR_EPOCH_BATCH);
	mtx_init(&id->id_mtx, "intr domain");
	TAILQ_INIT(&id->id_events);

	while (id->id_ncpus < n) {
		error = ithread_start(id, &id->id_ithreads[id->id_ncpus],
		    cpus[id->id_ncpus]);
		if (error != 0)
			goto join;
		id->id_ncpus++;
	}
	*idp = id;
	return (0);
join:
	while (id->id_ncpus > 0)
		ithread_join(&id->id_ithreads[--id->id_ncpus]);
	mtx_destroy(&id->id_mtx);
	counter_free(id->id_cells, IDC_COUNT);
free_ithreads:
	free(id->id_ithreads);
free_domain:
	free(id);
	return (error);
}

void
intr_domain_free(struct intr_domain *id)
{

	KASSERT(TAILQ_EMPTY(&id->id_events), "event \"%s\" left in its domain",
	    TAILQ_FIRST(&id->id_events)->ie_name);

	for (int i = 0; i < id->id_ncpus; i++)
		ithread_join(&id->id_ithreads[i]);
	mtx_destroy(&id->id_mtx);
	counter_free(id->id_cells, IDC_COUNT);
	free(id->id_ithreads);
	free(id);
}

int
intr_domain_ncpus(const struct intr_domain *id)
{

	return (id->id_ncpus);
}

/*
 * Events.
 */

/* What a caller is told about a fd that epoll refused. */
static int
intr_epoll_error(int error)
{

	switch (error) {
	case 0:
	case EPERM:
	case ENOMEM:
		return (error);
	case ENOSPC:			/* the user's limit of watches */
		return (ENOMEM);
	default:			/* no open fd, or watched already */
		return (EINVAL);
	}
}

/* The ithread asked for, or the one with the fewest events; counts ours. */
static struct ithread *
intr_ithread_choose(struct intr_domain *id, int cpu)
{
	struct ithread *it;

	mtx_lock(&id->id_mtx);
	it = &id->id_ithreads[cpu == -1 ? 0 : cpu];
	if (cpu == -1)
		for (int i = 1; i < id->id_ncpus; i++)
			if (id->id_ithreads[i].it_nevents < it->it_nevents)
				it = &id->id_ithreads[i];
	it->it_nevents++;
	mtx_unlock(&id->id_mtx);
	return (it);
}

int
intr_event_create(struct intr_domain *id, const char *name, int cpu, int fd,
    uint32_t events, struct intr_event **iep)
{
	struct intr_event *ie;
	int error = ENOMEM;

	if (cpu < -1 || cpu >= id->id_ncpus || fd < -1)
		return (EINVAL);
	ie = aligned_alloc(CACHE_LINE_SIZE, sizeof(*ie));
	if (ie == NULL)
		return (error);
	memset(ie, 0, sizeof(*ie));
	error = counter_alloc(IEC_COUNT, &ie->ie_cells);
	if (error != 0)
		goto free_event;
	ie->ie_fd = fd;
	ie->ie_events = events;
	SLIST_INIT(&ie->ie_handlers);
	snprintf(ie->ie_name, sizeof(ie->ie_name), "%s", name);
	ie->ie_ithread = intr_ithread_choose(id, cpu);
	error = intr_epoll_error(ithread_request(ie->ie_ithread,
	    ithread_event_check, ie, NULL));
	if (error != 0)
		goto free_cells;

	mtx_lock(&id->id_mtx);
	TAILQ_INSERT_TAIL(&id->id_events, ie, ie_link);
	id->id_nevents++;
	mtx_unlock(&id->id_mtx);
	*iep = ie;
	return (0);
free_cells:
	mtx_lock(&id->id_mtx);
	ie->ie_ithread->it_nevents--;
	mtx_unlock(&id->id_mtx);
	counter_free(ie->ie_cells, IEC_COUNT);
free_event:
	free(ie);
	return (error);
}

void
intr_event_destroy(struct intr_event *ie)
{
	struct ithread *it = ie->ie_ithread;
	struct intr_domain *id = it->it_domain;
	int error;

	error = ithread_request(it, ithread_event_forget, ie, NULL);
	KASSERT(error == 0, "event \"%s\" has handlers", ie->ie_name);
	if (error != 0)
		return;			/* leaked, but not used after free */

	/* The ithread was the only one to count in the cells. */
	mtx_lock(&id->id_mtx);
	TAILQ_REMOVE(&id->id_events, ie, ie_link);
	id->id_nevents--;
	it->it_nevents--;
	for (unsigned int i = 0; i < IEC_COUNT; i++)
		id->id_gone[i] += counter_fetch(ie->ie_cells + i);
	mtx_unlock(&id->id_mtx);
	counter_free(ie->ie_cells, IEC_COUNT);
	free(ie);
}

int
intr_event_cpu(const struct intr_event *ie)
{

	return ((int)(ie->ie_ithread - ie->ie_ithread->it_domain->id_ithreads));
}

int
intr_handler_add(struct intr_event *ie, int flags, intr_handler_fn *fn,
    intr_arm_fn *arm, void *arg, struct intr_handler **ihp)
{
	struct intr_handler *ih;
	int error;

	if ((flags & ~(INTR_TYPE_NET | INTR_POLL)) != 0 || fn == NULL ||
	    (arm != NULL && (flags & INTR_POLL) == 0))
		return (EINVAL);
	if ((ih = calloc(1, sizeof(*ih))) == NULL)
		return (ENOMEM);
	ih->ih_event = ie;
	ih->ih_fn = fn;
	ih->ih_arm = arm;
	ih->ih_arg = arg;
	ih->ih_flags = flags;
	*ihp = ih;			/* before the handler can run */
	error = intr_epoll_error(ithread_request(ie->ie_ithread,
	    ithread_handler_add, ie, ih));
	if (error != 0) {
		*ihp = NULL;
		free(ih);
	}
	return (error);
}

void
intr_handler_remove(struct intr_handler *ih)
{

	(void)ithread_request(ih->ih_event->ie_ithread,
	    ithread_handler_remove, ih->ih_event, ih);
	free(ih);
}

/*
 * Statistics and tunables.
 */
int
intr_stats(struct intr_domain *id, struct intr_stat *is, int max)
{
	struct intr_event *ie;
	int n = 0;

	mtx_lock(&id->id_mtx);
	TAILQ_FOREACH(ie, &id->id_events, ie_link) {
		if (n++ >= max)
			continue;
		snprintf(is->is_name, sizeof(is->is_name), "%s", ie->ie_name);
		is->is_cpu = ie->ie_ithread->it_cpu;
		is->is_total = counter_fetch(ie->ie_cells + IEC_TOTAL);
		is->is_runs = counter_fetch(ie->ie_cells + IEC_RUNS);
		is->is_storms = counter_fetch(ie->ie_cells + IEC_STORMS);
		is++;
	}
	mtx_unlock(&id->id_mtx);
	return (n);
}

int
intr_cpu_serving(struct intr_domain *id, const char *name)
{
	size_t len = strlen(name);
	struct intr_event *ie;
	int cpu = -1;

	mtx_lock(&id->id_mtx);
	TAILQ_FOREACH(ie, &id->id_events, ie_link)
		if (strncmp(ie->ie_name, name, len) == 0 &&
		    (ie->ie_name[len] == '\0' || ie->ie_name[len] == ':')) {
			cpu = intr_event_cpu(ie);
			break;
		}
	mtx_unlock(&id->id_mtx);
	return (cpu);
}

void
intr_totals(struct intr_domain *id, struct intr_totals *it)
{
	struct intr_event *ie;

	mtx_lock(&id->id_mtx);
	it->it_interrupts = id->id_gone[IEC_TOTAL];
	it->it_runs = id->id_gone[IEC_RUNS];
	TAILQ_FOREACH(ie, &id->id_events, ie_link) {
		it->it_interrupts += counter_fetch(ie->ie_cells + IEC_TOTAL);
		it->it_runs += counter_fetch(ie->ie_cells + IEC_RUNS);
	}
	mtx_unlock(&id->id_mtx);
	it->it_entries = counter_fetch(id->id_cells + IDC_ENTRIES);
	it->it_reentries = counter_fetch(id->id_cells + IDC_REENTRIES);
	it->it_sleeps = counter_fetch(id->id_cells + IDC_SLEEPS);
	it->it_spins = counter_fetch(id->id_cells + IDC_SPINS);
}

int
intr_sysctl_attach(struct intr_domain *id, struct sysctl_tree *tree)
{
	const struct {
		const char *name;
		enum intr_domain_cell cell;
		const char *descr;
	} counters[] = {
		{ "hw.intr_epoch_entries", IDC_ENTRIES,
		    "epoch sections opened by ithreads" },
		{ "hw.intr_epoch_reentries", IDC_REENTRIES,
		    "of these, opened because of hw.intr_epoch_batch" },
		{ "hw.intr_sleeps", IDC_SLEEPS,
		    "times an ithread went to sleep" },
		{ "hw.intr_spins", IDC_SPINS,
		    "times spinning found work before the time was up" },
	};
	int error;

	error = sysctl_add_int(tree, "hw.intr_epoch_batch", CTLFLAG_RW,
	    &id->id_batch, 0, INTR_BATCH_MAX,
	    "handler runs before an ithread leaves and re-enters the epoch");
	if (error == 0)
		error = sysctl_add_int(tree, "hw.intr_storm_threshold",
		    CTLFLAG_RW, &id->id_storm, 0, INT_MAX,
		    "consecutive interrupts before an event is throttled, "
		    "0: never");
	if (error == 0)
		error = sysctl_add_int(tree, "hw.intr_spin_us", CTLFLAG_RW,
		    &id->id_spin_us, 0, INTR_SPIN_MAX,
		    "microseconds an ithread looks for work before it sleeps");
	for (size_t i = 0; error == 0 && i < nitems(counters); i++)
		error = sysctl_add_counter(tree, counters[i].name, CTLFLAG_RD,
		    id->id_cells + counters[i].cell, counters[i].descr);
	return (error);
}
