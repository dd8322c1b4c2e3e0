/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Reading histograms; hist.h says what they are.  No state, any thread.
 */
#include "gen/hist.h"

void
hist_init(struct hist *hi)
{

	for (unsigned int i = 0; i < HIST_CELLS; i++)
		atomic_init(&hi->hi_cell[i], 0);
	atomic_init(&hi->hi_count, 0);
	atomic_init(&hi->hi_sum, 0);
	atomic_init(&hi->hi_min, UINT64_MAX);
	atomic_init(&hi->hi_max, 0);
}

uint64_t
hist_cell_low(unsigned int cell)
{
	unsigned int shift;

	if (cell < HIST_SUB)
		return (cell);
	shift = cell / HIST_SUB - 1;
	return ((uint64_t)(HIST_SUB + cell % HIST_SUB) << shift);
}

uint64_t
hist_cell_high(unsigned int cell)
{

	return (hist_cell_low(cell + 1) - 1);
}

/* The counts come first: none is in a quantile that is not in the cells. */
void
hist_copy(struct hist *hi, struct hist_copy *hc)
{

	hc->hc_min = atomic_load_explicit(&hi->hi_min, memory_order_relaxed);
	hc->hc_max = atomic_load_explicit(&hi->hi_max, memory_order_relaxed);
	hc->hc_sum = atomic_load_explicit(&hi->hi_sum, memory_order_relaxed);
	hc->hc_count = 0;
	for (unsigned int i = 0; i < HIST_CELLS; i++) {
		hc->hc_cell[i] = atomic_load_explicit(&hi->hi_cell[i],
		    memory_order_relaxed);
		hc->hc_count += hc->hc_cell[i];
	}
}

void
hist_diff(const struct hist_copy *now, const struct hist_copy *old,
    struct hist_copy *diff)
{

	diff->hc_count = now->hc_count - old->hc_count;
	diff->hc_sum = now->hc_sum - old->hc_sum;
	diff->hc_min = UINT64_MAX;
	diff->hc_max = 0;
	for (unsigned int i = 0; i < HIST_CELLS; i++) {
		diff->hc_cell[i] = now->hc_cell[i] - old->hc_cell[i];
		if (diff->hc_cell[i] == 0)
			continue;
		if (diff->hc_min == UINT64_MAX)
			diff->hc_min = hist_cell_low(i);
		diff->hc_max = hist_cell_high(i);
	}
	if (diff->hc_max > now->hc_max)
		diff->hc_max = now->hc_max;
	if (diff->hc_count != 0 && diff->hc_min < now->hc_min)
		diff->hc_min = now->hc_min;
}

uint64_t
hist_quantile(const struct hist_copy *hc, double q)
{
	uint64_t high, rank, sum = 0;

	if (hc->hc_count == 0)
		return (0);
	rank = (uint64_t)(q * (double)hc->hc_count);
	if ((double)rank < q * (double)hc->hc_count || rank == 0)
		rank++;
	for (unsigned int i = 0; i < HIST_CELLS; i++) {
		sum += hc->hc_cell[i];
		if (sum >= rank) {
			high = i == HIST_CELLS - 1 ? UINT64_MAX :
			    hist_cell_high(i);
			return (high < hc->hc_max ? high : hc->hc_max);
		}
	}
	return (hc->hc_max);
}
