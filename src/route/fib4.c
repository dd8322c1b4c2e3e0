/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The IPv4 lookup structure, whatever its module: allocation, the table of
 * nexthops, and the lookups that the packet path calls.  Written under
 * the configuration lock; read on any thread inside the epoch, without locks.
 */

#include "route/fib4.h"

#include <errno.h>
#include <stdlib.h>

#include "route/route_var.h"

/* An empty structure of module fm; the caller owns it.  ENOMEM. */
int
fib4_alloc(const struct fib4_module *fm, struct fib4 **fibp)
{
	struct fib4 *fib;
	int error = ENOMEM;

	if ((fib = calloc(1, sizeof(*fib))) == NULL)
		return (error);
	fib->fib_module = fm;
	error = arena_init(&fib->fib_nharena,
	    FIB4_MAXNHOPS * sizeof(*fib->fib_nhops), (size_t)64 << 10);
	if (error != 0)
		goto free_fib;
	fib->fib_nhops = (void *)fib->fib_nharena.ar_base;
	error = arena_grow(&fib->fib_nharena, sizeof(*fib->fib_nhops));
	if (error != 0)
		goto fini_arena;
	error = fm->fm_init(&fib->fib_priv);
	if (error != 0)
		goto fini_arena;
	*fibp = fib;
	return (0);
fini_arena:
	arena_fini(&fib->fib_nharena);
free_fib:
	free(fib);
	return (error);
}

/* No reader is left, and the epoch's callbacks have run. */
void
fib4_free(struct fib4 *fib)
{
	fib->fib_module->fm_fini(fib->fib_priv);
	arena_fini(&fib->fib_nharena);
	free(fib);
}

/*
 * Let number idx (1 to FIB4_MAXNHOPS - 1) stand for nh, before the module
 * hears of it: the release of the module's entry publishes both.  ENOMEM.
 */
int
fib4_nhop_set(struct fib4 *fib, uint32_t idx, struct nhop *nh)
{
	int error;

	error = arena_grow(&fib->fib_nharena,
	    ((size_t)idx + 1) * sizeof(*fib->fib_nhops));
	if (error != 0)
		return (error);
	atomic_store_explicit(&fib->fib_nhops[idx], nh, memory_order_release);
	return (0);
}

/* Number idx stands for nothing.  Any thread, a grace period after its last
 * use in the module. */
void
fib4_nhop_clear(struct fib4 *fib, uint32_t idx)
{
	atomic_store_explicit(&fib->fib_nhops[idx], NULL,
	    memory_order_relaxed);
}

/* Bytes in use; configuration lock held. */
size_t
fib4_memory(const struct fib4 *fib)
{
	return (fib->fib_nharena.ar_used +
	    fib->fib_module->fm_memory(fib->fib_priv));
}

const struct nhop *
fib4_lookup(const struct fib4 *fib, in_addr_t dst)
{
	const struct nhop *nh;

	NET_EPOCH_ASSERT();

	fib->fib_module->fm_lookup(fib->fib_priv, fib->fib_nhops, &dst, &nh,
	    1);
	return (nh);
}

void
fib4_lookup_burst(const struct fib4 *fib, const in_addr_t *dst,
    const struct nhop **nh, unsigned int n)
{
	NET_EPOCH_ASSERT();
	KASSERT(n <= MBUF_BURST, "burst of %u", n);

	fib->fib_module->fm_lookup(fib->fib_priv, fib->fib_nhops, dst, nh, n);
}
