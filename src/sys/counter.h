/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Counters that cost a plain add: every thread owns a page of 64-bit cells,
 * a counter is the same cell number in each page, and a reader sums the
 * pages.  The idea is FreeBSD's counter(9) with threads for CPUs.
 *
 * Cells are written by their owning thread only (relaxed load and store, no
 * locked instruction) and read by anybody.  A thread takes a page at its
 * first count and gives it back at its end; the values stay in it.  When all
 * pages are taken, further threads share one and count atomically.
 *
 * Allocation and freeing take a lock: control plane only.  Whoever frees
 * cells must know that no thread counts in them any more (a grace period).
 */
#ifndef _SYS_COUNTER_H_
#define	_SYS_COUNTER_H_

#include <stdatomic.h>
#include <stdint.h>

#include "sys/defs.h"

typedef uint32_t counter_t;		/* a cell number; never 0 */

#define	COUNTER_MAX_CELLS	(1u << 20)

extern _Thread_local _Atomic uint64_t *counter_page;

/* Cells for n counters in a row, all reading 0.  ENOMEM. */
int		counter_alloc(unsigned int n, counter_t *first);
void		counter_free(counter_t first, unsigned int n);
uint64_t	counter_fetch(counter_t c);	/* sum over the threads */
void		counter_zero(counter_t c);	/* fetches count from now */

/* This thread's page; taken on first use. */
_Atomic uint64_t *counter_page_attach(void);
void		counter_add_shared(counter_t c, uint64_t n);

/* One instruction where the CPU can add to memory. */
static inline void
counter_cell_add(_Atomic uint64_t *cell, uint64_t n)
{
#ifdef __x86_64__
	__asm__ ("addq %1, %0" : "+m" (*cell) : "er" (n) : "cc");
#else
	atomic_store_explicit(cell,
	    atomic_load_explicit(cell, memory_order_relaxed) + n,
	    memory_order_relaxed);
#endif
}

/* Count n.  Any thread, inside or outside the epoch, never blocks. */
static inline void
counter_add(counter_t c, uint64_t n)
{
	_Atomic uint64_t *page = counter_page;

	if (__predict_false(page == NULL)) {
		page = counter_page_attach();
		if (page == NULL) {
			counter_add_shared(c, n);
			return;
		}
	}
	counter_cell_add(&page[c], n);
}

/*
 * For a loop that counts often: this thread's page, or NULL, to be passed to
 * counter_page_add().
 */
static inline _Atomic uint64_t *
counter_page_get(void)
{
	_Atomic uint64_t *page = counter_page;

	return (__predict_true(page != NULL) ? page : counter_page_attach());
}

static inline void
counter_page_add(_Atomic uint64_t *page, counter_t c, uint64_t n)
{
	if (__predict_false(page == NULL)) {
		counter_add_shared(c, n);
		return;
	}
	counter_cell_add(&page[c], n);
}

static inline void
counter_inc(counter_t c)
{

	counter_add(c, 1);
}

#endif /* _SYS_COUNTER_H_ */
