/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Tables that grow in place, so that readers keep one base pointer for ever.
 *
 * An arena reserves address space once and makes pages of it usable as the
 * table grows; nothing moves, nothing is copied, no reader has to be waited
 * for.  Reserved space costs no memory and does not count as committed.
 *
 * An idxpool hands out small numbers, the positions in such tables.  A number
 * comes back through idxpool_free(), which any thread may call (an epoch
 * callback does), and is handed out again by the one thread that allocates.
 *
 * Keys: w = the caller's writer lock.
 */
#ifndef _ROUTE_ARENA_H_
#define	_ROUTE_ARENA_H_

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct arena {
	char		*ar_base;	/* (c) aligned to 2 MiB */
	size_t		 ar_size;	/* (c) bytes reserved at ar_base */
	size_t		 ar_used;	/* (w) bytes usable */
	size_t		 ar_step;	/* (c) bytes it grows by */
	void		*ar_map;	/* (c) what to unmap */
	size_t		 ar_maplen;	/* (c) */
};

int	arena_init(struct arena *ar, size_t size, size_t step);
int	arena_grow(struct arena *ar, size_t need);
void	arena_fini(struct arena *ar);

struct idxpool {
	struct arena	 ip_next;	/* (w/o) chain of free numbers */
	uint32_t	 ip_high;	/* (w) lowest never handed out */
	uint32_t	 ip_max;	/* (c) numbers are below it */
	uint32_t	 ip_free;	/* (w) first of the writer's chain */
	_Atomic uint32_t ip_freed;	/* (a) first of the returned ones */
};

int	idxpool_init(struct idxpool *ip, uint32_t first, uint32_t max);
int	idxpool_alloc(struct idxpool *ip, uint32_t *idx);
void	idxpool_free(struct idxpool *ip, uint32_t idx);
void	idxpool_fini(struct idxpool *ip);

#endif /* _ROUTE_ARENA_H_ */
