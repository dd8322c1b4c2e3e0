/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Histogram, sequence checker and pace, each against a slow and obvious one
 * over random input.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/hist.h"
#include "gen/pace.h"
#include "gen/seq.h"
#include "sys/defs.h"
#include "sys/random_testlib.h"

static uint64_t
draw(uint64_t n)
{

	return (test_rand() % n);
}

/* ---- Histogram ---- */

#define	VALUES	20000

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y ? -1 : x > y);
}

static void
test_hist_cells(void **state)
{
	uint64_t v;

	for (unsigned int i = 0; i + 1 < HIST_CELLS; i++) {
		assert_int_equal(hist_cell(hist_cell_low(i)), i);
		assert_int_equal(hist_cell(hist_cell_high(i)), i);
		assert_true(hist_cell_high(i) + 1 == hist_cell_low(i + 1));
		/* One part in 64. */
		assert_true((hist_cell_high(i) - hist_cell_low(i)) * 64 <=
		    hist_cell_low(i));
	}
	for (int i = 0; i < VALUES; i++) {
		v = draw(UINT64_C(1) << draw(63));
		assert_true(hist_cell(v) < HIST_CELLS);
	}
	assert_int_equal(hist_cell(UINT64_MAX), HIST_CELLS - 1);
}

static void
test_hist_quantiles(void **state)
{
	static const double qs[] = { 0, 0.5, 0.9, 0.99, 0.999, 1 };
	static struct hist hi;
	static struct hist_copy hc, first, diff;
	static uint64_t v[VALUES];
	uint64_t got, sum = 0, want;
	size_t rank;

	hist_init(&hi);
	hist_copy(&hi, &hc);
	assert_int_equal(hist_quantile(&hc, 0.5), 0);
	for (int i = 0; i < VALUES; i++) {
		if (i == VALUES / 2)
			hist_copy(&hi, &first);
		v[i] = draw(UINT64_C(1) << (1 + draw(36)));
		sum += v[i];
		hist_add(&hi, v[i]);
	}
	hist_copy(&hi, &hc);
	hist_diff(&hc, &first, &diff);
	assert_int_equal(diff.hc_count, VALUES / 2);
	assert_int_equal(hc.hc_count, VALUES);
	assert_true(hc.hc_sum == sum);
	/* The half that came last, then all. */
	for (int all = 0; all < 2; all++) {
		const struct hist_copy *h = all ? &hc : &diff;
		size_t n = all ? VALUES : VALUES / 2;

		qsort(v + VALUES - n, n, sizeof(v[0]), compare);
		for (size_t i = 0; i < nitems(qs); i++) {
			rank = (size_t)(qs[i] * (double)n);
			if ((double)rank < qs[i] * (double)n || rank == 0)
				rank++;
			want = v[VALUES - n + rank - 1];
			got = hist_quantile(h, qs[i]);
			assert_true(got >= want);
			assert_true(got - want <= want / 64);
		}
		assert_true(h->hc_max >= v[VALUES - 1]);
		assert_true(h->hc_min <= v[VALUES - n]);
	}
	assert_true(hc.hc_min == v[0] && hc.hc_max == v[VALUES - 1]);
}

/* ---- Sequence ---- */

#define	PACKETS	30000

/* Each number's fate: how often it came. */
struct fate {
	uint8_t		 ft_seen;
};

/*
 * Shuffle a stream: some are lost, some doubled, some delayed by up to far
 * places.  Returns how many numbers there are in out.
 */
static unsigned int
shuffle(uint32_t base, uint32_t *out, unsigned int far)
{
	unsigned int k = 0, other;
	uint32_t tmp;

	for (uint32_t i = 0; i < PACKETS; i++) {
		if (i != 0 && i != PACKETS - 1 && draw(50) == 0)
			continue;
		out[k++] = base + i;
		if (draw(60) == 0)
			out[k++] = base + i;
	}
	for (unsigned int i = 1; i + far + 1 < k; i++)
		if (draw(40) == 0) {
			other = i + (unsigned int)draw(far);
			tmp = out[i];
			out[i] = out[other];
			out[other] = tmp;
		}
	return (k);
}

static void
test_seq(void **state)
{
	static uint32_t numbers[2 * PACKETS];
	static struct fate fates[PACKETS];
	static struct seq_table st;
	uint64_t dup, high, lost, reordered;
	unsigned int n;
	uint32_t base, i;

	for (int round = 0; round < 40; round++) {
		/* Through the end of 32 bits, too. */
		base = round % 2 == 0 ? UINT32_MAX - (uint32_t)draw(PACKETS) :
		    (uint32_t)draw(UINT32_MAX);
		n = shuffle(base, numbers, 500);
		memset(fates, 0, sizeof(fates));
		dup = reordered = high = 0;
		seq_init(&st);
		for (unsigned int k = 0; k < n; k++) {
			seq_packet(&st, 9, numbers[k]);
			i = numbers[k] - base;
			if (fates[i].ft_seen++ != 0)
				dup++;
			else if (i < high)
				reordered++;
			if (i >= high)
				high = i + 1;
		}
		lost = 0;
		for (i = 0; i < PACKETS; i++)
			lost += fates[i].ft_seen == 0;
		assert_true(st.st_counts.sc_lost == lost);
		assert_true(st.st_counts.sc_duplicates == dup);
		assert_true(st.st_counts.sc_reordered == reordered);
		assert_true(st.st_counts.sc_late == 0);
	}
}

static void
test_seq_edges(void **state)
{
	static struct seq_table st;

	/* What is older than the window: late, and lost for good. */
	seq_init(&st);
	seq_packet(&st, 1, 0);
	seq_packet(&st, 1, 2);
	seq_packet(&st, 1, SEQ_WINDOW + 10);
	assert_true(st.st_counts.sc_lost == SEQ_WINDOW + 8);
	seq_packet(&st, 1, 1);
	assert_true(st.st_counts.sc_late == 1);
	assert_true(st.st_counts.sc_lost == SEQ_WINDOW + 8);
	seq_packet(&st, 1, SEQ_WINDOW + 9);
	assert_true(st.st_counts.sc_reordered == 1);
	assert_true(st.st_counts.sc_lost == SEQ_WINDOW + 7);
	/* A number before the first: it was never missed. */
	seq_init(&st);
	seq_packet(&st, 1, 5);
	seq_packet(&st, 1, 4);
	seq_packet(&st, 1, 4);
	assert_true(st.st_counts.sc_reordered == 1);
	assert_true(st.st_counts.sc_duplicates == 1);
	assert_true(st.st_counts.sc_lost == 0);
}

/* More streams than places, in turn; and as many as there are. */
static void
test_seq_streams(void **state)
{
	static struct seq_table st;

	seq_init(&st);
	for (uint32_t i = 0; i < 1000; i++)
		for (uint32_t id = 0; id < SEQ_STREAMS; id++)
			if (i % 10 != 3 || id % 2 != 0)
				seq_packet(&st, id, i);
	assert_true(st.st_counts.sc_lost == 100 * SEQ_STREAMS / 2);
	/* The stream that was silent longest goes; the others are kept. */
	seq_packet(&st, 0, 1000);
	seq_packet(&st, 777, 0);
	seq_packet(&st, 0, 1002);
	assert_true(st.st_counts.sc_lost == 100 * SEQ_STREAMS / 2 + 1);
}

/* ---- Pace ---- */

/* A clock that stumbles: the count follows the time, never ahead of it. */
static void
test_pace(void **state)
{
	uint64_t now, rate, sent, start;
	uint32_t burst, n;
	struct pace pa;

	for (int round = 0; round < 300; round++) {
		rate = 1 + draw(round % 2 == 0 ? 1000 : 20000000);
		burst = (uint32_t)(1 + draw(600));
		start = now = draw(UINT64_C(1) << 50);
		pace_init(&pa, start, rate, burst);
		assert_int_equal(pace_due(&pa, now - 1), 0);
		assert_int_equal(pace_behind(&pa, now), 0);
		sent = 0;
		for (int i = 0; i < 3000; i++) {
			now += draw(2 * PACE_NS / rate + 2);
			if (draw(500) == 0)
				now += PACE_NS / 2;	/* held up */
			n = pace_due(&pa, now);
			assert_true(n <= burst);
			assert_true(n <= rate / PACE_PER_SECOND || n == 1);
			if (n == 0) {
				assert_true(pace_next(&pa) > now);
				continue;
			}
			if (sent == 0)
				start = now;	/* late, or refused before */
			if (sent == 0 && draw(2) == 0)
				continue;
			if (draw(4) == 0 && n > 1)
				n = (uint32_t)(1 + draw(n));
			pace_sent(&pa, n);
			sent += n;
			/* A burst's first packet was due, its rest may be
			 * early. */
			assert_true((double)(sent - n) <= (double)(now -
			    start) * (double)rate / 1e9 + pa.pa_burst);
		}
		/* All that was due goes when there is time for it. */
		while ((n = pace_due(&pa, now)) != 0) {
			pace_sent(&pa, n);
			sent += n;
		}
		assert_true((double)sent >= (double)(now - start -
		    pa.pa_given) * (double)rate / 1e9 - 1);
	}
}

/* A short stop is made up for, of a long one only a second. */
static void
test_pace_late(void **state)
{
	uint64_t given, late, now, sent;
	struct pace pa;
	uint32_t n;

	for (uint64_t stop = PACE_NS / 2; stop < 20 * PACE_NS; stop *= 2) {
		late = stop - PACE_NS / 300;	/* a burst was due then */
		given = late > PACE_LATE_NS ? late - PACE_LATE_NS : 0;
		now = 1000 * PACE_NS;
		pace_init(&pa, now, 3000, 512);
		assert_int_equal(n = pace_due(&pa, now), 10);
		assert_int_equal(pace_behind(&pa, now), 0);
		pace_sent(&pa, n);
		now += stop;
		for (sent = 10; (n = pace_due(&pa, now)) != 0; sent += n) {
			if (sent == 10)
				assert_true(pace_behind(&pa, now) == late);
			pace_sent(&pa, n);
		}
		assert_true(sent >= (late - given) * 3 / 1000000 &&
		    sent <= (late - given) * 3 / 1000000 + 20);
		/* From then on as ever, and what was given up stays so. */
		for (int i = 0; i < 300; i++) {
			now = pace_next(&pa);
			assert_int_equal(n = pace_due(&pa, now), 10);
			pace_sent(&pa, n);
		}
		assert_true(pace_behind(&pa, now) == given);
	}
}

/* No drift: long after the first packet the count is exact. */
static void
test_pace_long(void **state)
{
	uint64_t now = 12345, rate, sent = 0;
	struct pace pa;
	uint32_t n;

	rate = 7;
	pace_init(&pa, now, rate, 512);
	assert_int_equal(pa.pa_burst, 1);
	for (int s = 0; s < 100000; s++) {
		now += PACE_NS;
		while ((n = pace_due(&pa, now)) != 0) {
			pace_sent(&pa, n);
			sent += n;
		}
	}
	assert_true(sent == 7 * UINT64_C(99999) + 1);
	/* No rate: always a burst. */
	pace_init(&pa, now, 0, 512);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(pace_due(&pa, now), 512);
		pace_sent(&pa, 512);
	}
	assert_int_equal(pace_due(&pa, now - 1), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hist_cells),
		cmocka_unit_test(test_hist_quantiles),
		cmocka_unit_test(test_seq),
		cmocka_unit_test(test_seq_edges),
		cmocka_unit_test(test_seq_streams),
		cmocka_unit_test(test_pace),
		cmocka_unit_test(test_pace_late),
		cmocka_unit_test(test_pace_long),
	};

	(void)test_seed();
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
