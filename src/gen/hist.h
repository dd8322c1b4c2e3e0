/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A histogram of times with a bounded relative error, after the log-linear
 * histograms of HdrHistogram: each power of two is cut into 2^HIST_BITS equal
 * parts, so a value read back is wrong by at most one part in 64.  Least,
 * greatest and sum are exact.
 *
 * One writer at a time; readers take copies at any time and disturb nobody.
 * Counts are relaxed atomics: a copy taken while the writer writes may lack
 * its last values.
 */
#ifndef _GEN_HIST_H_
#define	_GEN_HIST_H_

#include <stdatomic.h>
#include <stdint.h>

#define	HIST_BITS	6
#define	HIST_SUB	(1u << HIST_BITS)
#define	HIST_EXP_MAX	40u		/* values up to 2^40 ns, 18 minutes */
#define	HIST_CELLS	((HIST_EXP_MAX - HIST_BITS + 1) * HIST_SUB)

struct hist {
	_Atomic uint64_t hi_cell[HIST_CELLS]; /* (a) relaxed, one writer */
	_Atomic uint64_t hi_count;	/* (a) likewise, as all below */
	_Atomic uint64_t hi_sum;
	_Atomic uint64_t hi_min;	/* UINT64_MAX: no value yet */
	_Atomic uint64_t hi_max;
};

/* The same, copied; plain numbers. */
struct hist_copy {
	uint64_t	 hc_cell[HIST_CELLS];
	uint64_t	 hc_count;
	uint64_t	 hc_sum;
	uint64_t	 hc_min;
	uint64_t	 hc_max;
};

static inline void
hist_store_add(_Atomic uint64_t *cell, uint64_t n)
{

	atomic_store_explicit(cell, atomic_load_explicit(cell,
	    memory_order_relaxed) + n, memory_order_relaxed);
}

/* The cell that a value is counted in. */
static inline unsigned int
hist_cell(uint64_t v)
{
	unsigned int exp;

	if (v < HIST_SUB)
		return ((unsigned int)v);
	if (v >> HIST_EXP_MAX != 0)
		return (HIST_CELLS - 1);
	exp = 63u - (unsigned int)__builtin_clzll(v);
	return ((exp - HIST_BITS + 1) * HIST_SUB +
	    (unsigned int)(v >> (exp - HIST_BITS)) - HIST_SUB);
}

/* Count v, in nanoseconds. */
static inline void
hist_add(struct hist *hi, uint64_t v)
{

	hist_store_add(&hi->hi_cell[hist_cell(v)], 1);
	hist_store_add(&hi->hi_count, 1);
	hist_store_add(&hi->hi_sum, v);
	if (v < atomic_load_explicit(&hi->hi_min, memory_order_relaxed))
		atomic_store_explicit(&hi->hi_min, v, memory_order_relaxed);
	if (v > atomic_load_explicit(&hi->hi_max, memory_order_relaxed))
		atomic_store_explicit(&hi->hi_max, v, memory_order_relaxed);
}

void	hist_init(struct hist *hi);
void	hist_copy(struct hist *hi, struct hist_copy *hc);
/*
 * What was counted between two copies.  Its least and greatest are those of
 * the cells, as exact as a quantile.
 */
void	hist_diff(const struct hist_copy *now, const struct hist_copy *old,
	    struct hist_copy *diff);
/*
 * The value that the part q (0 to 1) of all values does not exceed: the
 * greatest of its cell, or hc_max if that is less.  0 when there are none.
 */
uint64_t hist_quantile(const struct hist_copy *hc, double q);
/* The least and the greatest value of a cell. */
uint64_t hist_cell_low(unsigned int cell);
uint64_t hist_cell_high(unsigned int cell);

#endif /* _GEN_HIST_H_ */
