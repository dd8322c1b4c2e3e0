/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The rare half of the sequence checker; seq.h says what it does.  No lock:
 * its caller lets in one thread at a time.
 */
#include "gen/seq.h"

#include <string.h>

void
seq_init(struct seq_table *st)
{

	memset(st, 0, sizeof(*st));
}

struct seq_stream *
seq_stream_find(struct seq_table *st, uint32_t id, uint32_t first)
{
	struct seq_stream *oldest = &st->st_streams[0], *ss;

	st->st_clock++;
	for (unsigned int i = 0; i < SEQ_STREAMS; i++) {
		ss = &st->st_streams[i];
		if (ss->ss_used && ss->ss_id == id) {
			ss->ss_clock = st->st_clock;
			st->st_last = ss;
			return (ss);
		}
		if (oldest->ss_used && (!ss->ss_used ||
		    ss->ss_clock < oldest->ss_clock))
			oldest = ss;
	}
	memset(oldest, 0, sizeof(*oldest));
	oldest->ss_used = true;
	oldest->ss_id = id;
	/* Far from 0, so that numbers before the first have a place. */
	oldest->ss_first = oldest->ss_next = (UINT64_C(1) << 32) + first;
	oldest->ss_clock = st->st_clock;
	st->st_last = oldest;
	return (oldest);
}

static void
seq_unmark(struct seq_stream *ss, uint64_t number)
{

	ss->ss_seen[number % SEQ_WINDOW / 64] &=
	    ~(UINT64_C(1) << number % 64);
}

static bool
seq_marked(const struct seq_stream *ss, uint64_t number)
{

	return ((ss->ss_seen[number % SEQ_WINDOW / 64] >> number % 64 & 1) !=
	    0);
}

/* The number is ahead: those before it are lost so far. */
static void
seq_ahead(struct seq_table *st, struct seq_stream *ss, uint64_t number)
{
	uint64_t gap = number - ss->ss_next, i;

	seq_add(&st->st_counts.sc_lost, gap);
	if (gap >= SEQ_WINDOW)
		memset(ss->ss_seen, 0, sizeof(ss->ss_seen));
	else
		for (i = ss->ss_next; i != number; i++)
			seq_unmark(ss, i);
	seq_mark(ss, number);
	ss->ss_next = number + 1;
}

void
seq_gap(struct seq_table *st, struct seq_stream *ss, uint32_t number)
{
	struct seq_counts *sc = &st->st_counts;
	int32_t diff = (int32_t)(number - (uint32_t)ss->ss_next);
	uint64_t whole = ss->ss_next + (uint64_t)(int64_t)diff;

	if (diff > 0)
		seq_ahead(st, ss, whole);
	else if (ss->ss_next - whole > SEQ_WINDOW)
		seq_add(&sc->sc_late, 1);
	else if (seq_marked(ss, whole))
		seq_add(&sc->sc_duplicates, 1);
	else {
		seq_mark(ss, whole);
		seq_add(&sc->sc_reordered, 1);
		/* Those before the first were never said to be lost. */
		if (whole >= ss->ss_first)
			seq_add(&sc->sc_lost, (uint64_t)-1);
	}
}
