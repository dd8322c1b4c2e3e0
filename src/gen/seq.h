/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Loss, reordering and duplicates of numbered packets.
 *
 * A stream is what one sending thread makes: packets with numbers from 0 on,
 * of which 32 bits travel.  A number beyond the next one expected makes those
 * between lost, until they come after all; a number below it is reordered
 * (RFC 4737, 3.3), and no longer lost, or if it was seen already a duplicate.
 * SEQ_WINDOW numbers are remembered; what is older counts as late, and stays
 * lost.  A stream is counted from the first number that is seen.
 *
 * The counts are the caller's, one set for all streams of a receiver: they
 * outlive a stream whose place is needed.  One writer at a time; counts are
 * relaxed atomics for readers.
 */
#ifndef _GEN_SEQ_H_
#define	_GEN_SEQ_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define	SEQ_WINDOW	4096u		/* numbers; power of two */
#define	SEQ_STREAMS	32u		/* at once */

struct seq_counts {
	_Atomic uint64_t sc_packets;	/* (a) relaxed, one writer */
	_Atomic uint64_t sc_lost;	/* (a) likewise, as all below */
	_Atomic uint64_t sc_reordered;
	_Atomic uint64_t sc_duplicates;
	_Atomic uint64_t sc_late;	/* older than the window */
};

struct seq_stream {
	uint32_t	 ss_id;
	bool		 ss_used;
	uint64_t	 ss_first;	/* the number that began it */
	uint64_t	 ss_next;	/* the number expected */
	uint64_t	 ss_clock;	/* when it was used last, of the table */
	uint64_t	 ss_seen[SEQ_WINDOW / 64]; /* bit: number % SEQ_WINDOW */
};

struct seq_table {
	struct seq_counts st_counts;
	struct seq_stream *st_last;	/* where the last packet belonged */
	uint64_t	 st_clock;
	struct seq_stream st_streams[SEQ_STREAMS];
};

void	seq_init(struct seq_table *st);
/* Find or begin a stream; the one unused for longest makes room. */
struct seq_stream *seq_stream_find(struct seq_table *st, uint32_t id,
	    uint32_t first);
/* A number that is not the one expected. */
void	seq_gap(struct seq_table *st, struct seq_stream *ss, uint32_t number);

static inline void
seq_add(_Atomic uint64_t *cell, uint64_t n)
{

	atomic_store_explicit(cell, atomic_load_explicit(cell,
	    memory_order_relaxed) + n, memory_order_relaxed);
}

static inline void
seq_mark(struct seq_stream *ss, uint64_t number)
{

	ss->ss_seen[number % SEQ_WINDOW / 64] |= UINT64_C(1) << number % 64;
}

/*
 * Number number of stream id has come.  Counting the packet (sc_packets) is
 * the caller's, once for a burst.
 */
static inline void
seq_packet(struct seq_table *st, uint32_t id, uint32_t number)
{
	struct seq_stream *ss = st->st_last;

	if (__builtin_expect(ss == NULL || ss->ss_id != id, 0))
		ss = seq_stream_find(st, id, number);
	if (__builtin_expect((uint32_t)ss->ss_next != number, 0)) {
		seq_gap(st, ss, number);
		return;
	}
	seq_mark(ss, ss->ss_next);
	ss->ss_next++;
}

#endif /* _GEN_SEQ_H_ */
