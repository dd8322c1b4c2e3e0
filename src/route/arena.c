/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Address space that is reserved first and used later, and pools of numbers.
 * One writer at a time, whose lock is the caller's; idxpool_free() needs none.
 */

#include "route/arena.h"

#include <sys/mman.h>

#include <errno.h>

/* Huge pages are of this size; an arena begins at a multiple of it. */
#define	ARENA_ALIGN	((size_t)2 << 20)

/*
 * Reserve size bytes, to be made usable in steps of step bytes (a multiple of
 * the page size).  Nothing is usable yet.  ENOMEM: no address space.
 */
int
arena_init(struct arena *ar, size_t size, size_t step)
{
	uintptr_t base;

	ar->ar_size = (size + step - 1) / step * step;
	ar->ar_step = step;
	ar->ar_used = 0;
	ar->ar_maplen = ar->ar_size + ARENA_ALIGN;
	ar->ar_map = mmap(NULL, ar->ar_maplen, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (ar->ar_map == MAP_FAILED) {
		ar->ar_map = NULL;
		return (ENOMEM);
	}
	base = ((uintptr_t)ar->ar_map + ARENA_ALIGN - 1) & ~(ARENA_ALIGN - 1);
	ar->ar_base = (char *)base;
	/* Fewer TLB misses where the kernel can; no harm where it cannot. */
	if (step >= ARENA_ALIGN)
		(void)madvise(ar->ar_base, ar->ar_size, MADV_HUGEPAGE);
	return (0);
}

/*
 * Make at least the first need bytes usable; new ones read as zero.  ENOMEM:
 * no memory, or more than was reserved; what was usable stays so.
 */
int
arena_grow(struct arena *ar, size_t need)
{
	size_t to;

	if (need <= ar->ar_used)
		return (0);
	if (need > ar->ar_size)
		return (ENOMEM);
	to = (need + ar->ar_step - 1) / ar->ar_step * ar->ar_step;
	if (mprotect(ar->ar_base + ar->ar_used, to - ar->ar_used,
	    PROT_READ | PROT_WRITE) != 0)
		return (ENOMEM);
	ar->ar_used = to;
	return (0);
}

/* Give all of it back.  No reader may be left. */
void
arena_fini(struct arena *ar)
{
	if (ar->ar_map != NULL)
		(void)munmap(ar->ar_map, ar->ar_maplen);
	ar->ar_map = NULL;
}

/*
 * A pool of the numbers from first to max - 1; first is at least 1, because 0
 * ends the chains.  ENOMEM.
 */
int
idxpool_init(struct idxpool *ip, uint32_t first, uint32_t max)
{
	ip->ip_high = first;
	ip->ip_max = max;
	ip->ip_free = 0;
	atomic_init(&ip->ip_freed, 0);
	return (arena_init(&ip->ip_next, (size_t)max * sizeof(uint32_t),
	    (size_t)64 << 10));
}

/*
 * Take a number that nobody has: one that came back, else the lowest fresh
 * one.  ENOMEM: none left, or no memory to note its return.  The acquire pairs
 * with the release in idxpool_free(): what its last user did is over.
 */
int
idxpool_alloc(struct idxpool *ip, uint32_t *idx)
{
	const uint32_t *next = (const void *)ip->ip_next.ar_base;
	int error;

	if (ip->ip_free == 0)
		ip->ip_free = atomic_exchange_explicit(&ip->ip_freed, 0,
		    memory_order_acquire);
	if (ip->ip_free != 0) {
		*idx = ip->ip_free;
		ip->ip_free = next[*idx];
		return (0);
	}
	if (ip->ip_high == ip->ip_max)
		return (ENOMEM);
	error = arena_grow(&ip->ip_next,
	    ((size_t)ip->ip_high + 1) * sizeof(*next));
	if (error != 0)
		return (error);
	*idx = ip->ip_high++;
	return (0);
}

/*
 * Give a number back.  Any thread, no lock.  The writer takes the whole chain
 * at once, so an old head cannot come back under our feet.
 */
void
idxpool_free(struct idxpool *ip, uint32_t idx)
{
	uint32_t *next = (void *)ip->ip_next.ar_base;
	uint32_t head;

	head = atomic_load_explicit(&ip->ip_freed, memory_order_relaxed);
	do {
		next[idx] = head;
	} while (!atomic_compare_exchange_weak_explicit(&ip->ip_freed, &head,
	    idx, memory_order_release, memory_order_relaxed));
}

void
idxpool_fini(struct idxpool *ip)
{
	arena_fini(&ip->ip_next);
}
