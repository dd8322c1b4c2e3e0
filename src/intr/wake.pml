/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 *
 * The sleep and wake-up protocol of ithread.c, for spin.  Names are those of
 * its head comment.  Memory is as on x86: each thread has a store buffer (of
 * one entry here) that is emptied at any later time, a full barrier waits
 * until it is empty, and an atomic exchange does the same.
 *
 * Two producers hand work over PUTS times each: one to an event with an
 * INTR_POLL handler, one to an event without.  When nobody can move any more,
 * no work may be left.  NO_P2, NO_S1, NO_S2 and NO_PENDING_ORDER each take
 * out what the proof needs, and must make the search fail; NO_S1 and NO_P2
 * take out the barrier only.
 */
#define	PUTS	2

mtype = { AWAKE, ASLEEP };

mtype state = AWAKE;		/* it_state in memory ... */
mtype sbuf = AWAKE;		/* ... and in the ithread's store buffer */
bool sbuf_full = false;

byte efd = 0;			/* the eventfd is readable */
bool ring = false;		/* what the INTR_POLL handler looks at */
bool rbuf_full = false;		/* the store to it, in its buffer */
bool data = false;		/* what the other handler looks at */
bool pending = false;		/* ie_pending */
bool listed = false;		/* on it_scheduled */
bool fired = false;		/* ie_fired */

/* The store buffers empty themselves at any time. */
active proctype drain_ithread()
{
end:	do
	:: atomic { sbuf_full -> state = sbuf; sbuf_full = false }
	od
}

active proctype drain_producer()
{
end:	do
	:: atomic { rbuf_full -> ring = true; rbuf_full = false }
	od
}

inline wake()
{
	if
	:: state == ASLEEP ->
		atomic {		/* P4 */
			old = state;
			state = AWAKE
		}
		if
		:: old == ASLEEP -> efd = 1	/* P5 */
		:: else
		fi
	:: else
	fi
}

/* intr_event_schedule() of an event with an INTR_POLL handler. */
active proctype producer_polled()
{
	byte n = 0;
	mtype old;

	do
	:: n < PUTS ->
		!rbuf_full; rbuf_full = true;	/* P1 */
#ifndef NO_P2
		!rbuf_full;			/* P2 */
#endif
		if
		:: state == AWAKE		/* P3 */
		:: else -> !rbuf_full; wake()
		fi;
		n++
	:: else -> break
	od
}

/* The same of one without; its exchanges empty the buffer as they go. */
active proctype producer_listed()
{
	byte n = 0;
	bool was;
	mtype old;

	do
	:: n < PUTS ->
		data = true;
		atomic { was = pending; pending = true };
		if
		:: was
		:: else -> listed = true; wake()
		fi;
		n++
	:: else -> break
	od
}

inline take()
{
	if
	:: listed ->
		listed = false;
#ifdef NO_PENDING_ORDER
		/* Runs the handler first: what comes between is forgotten. */
		data = false;
		!sbuf_full; pending = false
#else
		!sbuf_full; pending = false;
		fired = true
#endif
	:: else
	fi
}

inline pass()
{
	if
	:: ring -> ring = false
	:: else
	fi;
	if
	:: fired -> fired = false; data = false
	:: else
	fi
}

active proctype ithread()
{
	do
	::	take();
		pass();
		if
		:: listed
		:: else ->
			!sbuf_full; sbuf = ASLEEP; sbuf_full = true;	/* S1 */
#ifndef NO_S1
			!sbuf_full;
#endif
#ifndef NO_S2
			pass();						/* S2 */
#endif
			if
#ifndef NO_S2
			:: listed					/* S3 */
#endif
			:: else ->
end:				efd == 1; efd = 0			/* S4 */
			fi;
			!sbuf_full; sbuf = AWAKE; sbuf_full = true	/* S5 */
		fi
	od
}

/* Nobody can move: everything must have been done. */
active proctype monitor()
{
	timeout -> assert(!ring && !rbuf_full && !data && !listed)
}
