/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Counters: pages of cells, one page per counting thread (see counter.h).
 *
 * A page is COUNTER_MAX_CELLS cells of address space, of which the kernel
 * gives memory only to what is written.  pages[] and the free lists belong to
 * counter_mtx; cells belong to the thread that holds the page.  Page 0 is the
 * shared one, counted in atomically by threads that found no page.
 *
 * base[c] is what the sum was when the cell was allocated or last zeroed: the
 * cells of other threads are never written.
 */
#include "sys/counter.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#define	COUNTER_PAGES	256
#define	PAGE_BYTES	((size_t)COUNTER_MAX_CELLS * sizeof(uint64_t))

_Thread_local _Atomic uint64_t *counter_page;

static pthread_mutex_t counter_mtx = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t *_Atomic pages[COUNTER_PAGES]; /* (a) set once */
static bool	 page_taken[COUNTER_PAGES];	/* (counter_mtx) */
static uint64_t	*base;				/* (counter_mtx) */
static uint8_t	*cell_used;			/* (counter_mtx) */
static counter_t cell_hint = 1;			/* (counter_mtx) */
static pthread_key_t page_key;
static pthread_once_t counter_once = PTHREAD_ONCE_INIT;
static int	 counter_error;

static void *
map_cells(size_t bytes)
{
	void *p;

	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return (p == MAP_FAILED ? NULL : p);
}

/* A thread ends: its page, with what it counted, waits for the next one. */
static void
counter_page_release(void *arg)
{
	int i = (int)(intptr_t)arg;

	counter_page = NULL;
	pthread_mutex_lock(&counter_mtx);
	page_taken[i] = false;
	pthread_mutex_unlock(&counter_mtx);
}

static void
counter_setup(void)
{

	counter_error = pthread_key_create(&page_key, counter_page_release);
	if (counter_error != 0)
		return;
	base = map_cells(PAGE_BYTES);
	cell_used = map_cells(COUNTER_MAX_CELLS);
	pages[0] = map_cells(PAGE_BYTES);
	if (base == NULL || cell_used == NULL || pages[0] == NULL)
		counter_error = ENOMEM;
}

/* A free page for this thread, or NULL: the shared one is to be used. */
_Atomic uint64_t *
counter_page_attach(void)
{
	_Atomic uint64_t *page = NULL;
	int i;

	pthread_once(&counter_once, counter_setup);
	if (counter_error != 0)
		return (NULL);
	pthread_mutex_lock(&counter_mtx);
	for (i = 1; i < COUNTER_PAGES && page_taken[i]; i++)
		continue;
	if (i < COUNTER_PAGES) {
		if (pages[i] == NULL)
			pages[i] = map_cells(PAGE_BYTES);
		page = pages[i];
		if (page != NULL &&
		    pthread_setspecific(page_key, (void *)(intptr_t)i) == 0)
			page_taken[i] = true;
		else
			page = NULL;
	}
	pthread_mutex_unlock(&counter_mtx);
	counter_page = page;
	return (page);
}

void
counter_add_shared(counter_t c, uint64_t n)
{

	if (pages[0] != NULL)
		atomic_fetch_add_explicit(&pages[0][c], n,
		    memory_order_relaxed);
}

static uint64_t
counter_sum(counter_t c)
{
	_Atomic uint64_t *page;
	uint64_t sum = 0;

	for (int i = 0; i < COUNTER_PAGES; i++) {
		page = atomic_load_explicit(&pages[i], memory_order_acquire);
		if (page != NULL)
			sum += atomic_load_explicit(&page[c],
			    memory_order_relaxed);
	}
	return (sum);
}

/* The first of n free cells in a row at or after from, or 0. */
static counter_t
counter_find(counter_t from, unsigned int n)
{
	unsigned int run = 0;

	for (counter_t c = from; c < COUNTER_MAX_CELLS; c++) {
		run = cell_used[c] != 0 ? 0 : run + 1;
		if (run == n)
			return (c - n + 1);
	}
	return (0);
}

int
counter_alloc(unsigned int n, counter_t *first)
{
	counter_t c;

	if (n == 0 || n >= COUNTER_MAX_CELLS)
		return (EINVAL);
	pthread_once(&counter_once, counter_setup);
	if (counter_error != 0)
		return (counter_error);
	pthread_mutex_lock(&counter_mtx);
	c = counter_find(cell_hint, n);
	if (c == 0 && cell_hint != 1)
		c = counter_find(1, n);
	if (c != 0) {
		memset(&cell_used[c], 1, n);
		for (unsigned int i = 0; i < n; i++)
			base[c + i] = counter_sum(c + i);
		cell_hint = c + n;
	}
	pthread_mutex_unlock(&counter_mtx);
	if (c == 0)
		return (ENOMEM);
	*first = c;
	return (0);
}

void
counter_free(counter_t first, unsigned int n)
{

	if (first == 0)
		return;
	pthread_mutex_lock(&counter_mtx);
	memset(&cell_used[first], 0, n);
	if (first < cell_hint)
		cell_hint = first;
	pthread_mutex_unlock(&counter_mtx);
}

uint64_t
counter_fetch(counter_t c)
{
	uint64_t sum;

	if (c == 0 || c >= COUNTER_MAX_CELLS || base == NULL)
		return (0);
	pthread_mutex_lock(&counter_mtx);
	sum = counter_sum(c) - base[c];
	pthread_mutex_unlock(&counter_mtx);
	return (sum);
}

void
counter_zero(counter_t c)
{

	if (c == 0 || c >= COUNTER_MAX_CELLS || base == NULL)
		return;
	pthread_mutex_lock(&counter_mtx);
	base[c] = counter_sum(c);
	pthread_mutex_unlock(&counter_mtx);
}
