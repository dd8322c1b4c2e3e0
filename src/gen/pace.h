/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * When the next burst is due.  Times are absolute, start + packets / rate, so
 * that a late burst does not make the following ones late, and a rate is kept
 * on the whole however irregularly a thread gets its turn.  The start is when
 * the first packets go: from there on a rate is measured.  A burst is at most
 * the 300th part of a second's packets.  What has been due for more than
 * PACE_LATE_NS is given up, so that an interface that was stopped for long, or
 * is too slow, is not owed a flood without end.
 *
 * Plain data of one thread; the clock is the caller's.
 */
#ifndef _GEN_PACE_H_
#define	_GEN_PACE_H_

#include <stdint.h>

#define	PACE_PER_SECOND	300u		/* bursts at least */
#define	PACE_NS		UINT64_C(1000000000)
#define	PACE_LATE_NS	PACE_NS		/* made up for at most */

struct pace {
	uint64_t	 pa_start;	/* ns: not before; then, when the
					   first packets went */
	uint64_t	 pa_rate;	/* packets a second; 0: no limit */
	uint64_t	 pa_sent;	/* packets so far */
	uint32_t	 pa_burst;	/* packets that are due at once */
	uint32_t	 pa_left;	/* of the burst that is due */
	uint64_t	 pa_due;	/* ns: when that was due */
	uint64_t	 pa_given;	/* ns of the schedule given up */
};

static inline void
pace_init(struct pace *pa, uint64_t start, uint64_t rate, uint32_t burst)
{

	pa->pa_start = start;
	pa->pa_rate = rate;
	pa->pa_sent = 0;
	pa->pa_left = 0;
	pa->pa_due = start;
	pa->pa_given = 0;
	if (rate != 0 && burst > rate / PACE_PER_SECOND)
		burst = (uint32_t)(rate / PACE_PER_SECOND);
	pa->pa_burst = burst == 0 ? 1 : burst;
}

/* When the next packet is due, ns. */
static inline uint64_t
pace_next(const struct pace *pa)
{

	if (pa->pa_rate == 0 || pa->pa_left != 0)
		return (pa->pa_start);
	return (pa->pa_start + (uint64_t)((unsigned __int128)pa->pa_sent *
	    PACE_NS / pa->pa_rate));
}

/* How many packets are due at now; 0: none before pace_next(). */
static inline uint32_t
pace_due(struct pace *pa, uint64_t now)
{
	uint64_t next;

	if (pa->pa_sent == 0 && now > pa->pa_start)
		pa->pa_start = pa->pa_due = now;
	if (pa->pa_left != 0 || now < (next = pace_next(pa)))
		return (pa->pa_left);
	if (pa->pa_rate != 0 && now - next > PACE_LATE_NS) {
		pa->pa_given += now - PACE_LATE_NS - next;
		pa->pa_start += now - PACE_LATE_NS - next;
		next = now - PACE_LATE_NS;
	}
	pa->pa_due = next;
	pa->pa_left = pa->pa_burst;
	return (pa->pa_left);
}

/*
 * How far behind its rate a sender is at now, ns, where a burst is due: what
 * was given up, and what this burst is late by.
 */
static inline uint64_t
pace_behind(const struct pace *pa, uint64_t now)
{

	return (pa->pa_rate == 0 ? 0 : pa->pa_given + (now - pa->pa_due));
}

/* n of those that were due have been sent. */
static inline void
pace_sent(struct pace *pa, uint32_t n)
{

	pa->pa_sent += n;
	pa->pa_left -= n;
}

#endif /* _GEN_PACE_H_ */
