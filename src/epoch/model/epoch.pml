/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * libepoch's algorithm on a machine that delays stores.
 *
 * Each reader publishes through a first-in first-out store buffer that a
 * process of its own empties at any time; so does the writer.  Objects are
 * numbered: object n is unlinked by linking n + 1, and then freed.  A reader
 * that uses a freed object fails the assertion.  Loads are in order unless a
 * variant says otherwise.
 *
 * Choose with -D: MEMBARRIER for the asymmetric kind, else the fenced one;
 * CALL for deferred callbacks with a reclaimer, else a waiting writer.  These
 * take one part out, and must fail:
 *	NO_READER_FENCE	   publish without draining the buffer (fenced kind)
 *	NO_MEMBARRIER	   scan without making the readers drain theirs
 *	NO_WRITER_BARRIER  bump by a plain store, unlinking still buffered
 *	NO_EXIT_RELEASE	   the section's last load after its exit
 *	NO_SCAN_ACQUIRE	   the free before the scan
 *	NO_VALUE_ACQUIRE   the section's first load before that of the value
 *	NO_TAIL_RELEASE	   the queue's tail before the unlinking (CALL)
 *	MARK_AFTER_BUMP	   the batch is taken after its goal (CALL)
 *	NO_NESTING	   every exit withdraws
 *	EARLY_NESTED	   a nested entry of a handler withdraws at its exit
 */
#define	READERS	2
#define	OBJECTS	2		/* unlinked and freed */

/* Sections and signals of reader 0: fewer where a process is added. */
#ifdef CALL
#define	ROUNDS	1
#define	SIGNALS	0
#else
#define	ROUNDS	2
#define	SIGNALS	1
#endif

#define	ST_PTR	0
#define	ST_TAIL	1
#define	ST_VALUE 2

byte value = 1;			/* e_value */
byte rec[READERS];		/* r_value, as others see it */
byte ptr;			/* number of the linked object */
byte tail;			/* objects queued */
bool freed[OBJECTS + 1];

chan buffer[READERS] = [2] of { byte };	/* to rec[] */
chan wbuffer = [3] of { byte, byte };	/* the writer's */

/* Any store reaches memory some time later. */
active [READERS] proctype Drain()
{
	byte v;

end:	do
	:: atomic { buffer[_pid]?v -> rec[_pid] = v; v = 0 }
	od
}

active proctype DrainWriter()
{
	byte k, v;

end:	do
	:: atomic {
		wbuffer?k, v ->
		if
		:: k == ST_PTR -> ptr = v
		:: k == ST_TAIL -> tail = v
		:: else -> value = v
		fi;
		k = 0; v = 0
	   }
	od
}

/*
 * A reader's view of its own record is mine: it sees its own stores.  The
 * handler is a signal's: once, between any two steps, it enters, reads and
 * leaves; both share mine and nested.
 */
#ifdef EARLY_NESTED
#define	HANDLER_EXIT	buffer[me]!0; mine = 0
#else
#define	HANDLER_EXIT							\
	if								\
	:: nested > 0 -> nested--					\
	:: else -> buffer[me]!0; mine = 0				\
	fi
#endif

#if defined(MEMBARRIER) || defined(NO_READER_FENCE)
#define	READER_FENCE	skip
#else
#define	READER_FENCE	empty(buffer[me])
#endif

inline maybe_handler()
{
	if
	:: signals > 0 ->
		signals--;
		if
		:: mine != 0 -> nested++
		:: else ->
			hv = value;
			buffer[me]!hv; mine = hv;
			READER_FENCE
		fi;
		hp = ptr;
		assert(!freed[hp]);
		HANDLER_EXIT;
		hv = 0; hp = 0
	:: skip
	fi
}

inline enter()
{
	if
	:: mine != 0 -> maybe_handler(); nested++
	:: else ->
		early = ptr;
		v = value;
		maybe_handler();
		buffer[me]!v; mine = v;
		READER_FENCE
	fi;
	v = 0
}

inline leave()
{
#ifdef NO_NESTING
	if
	:: nested > 0 -> nested--
	:: else -> skip
	fi;
	buffer[me]!0; mine = 0
#else
	if
	:: nested > 0 -> maybe_handler(); nested--
	:: else -> maybe_handler(); buffer[me]!0; mine = 0
	fi
#endif
}

proctype Reader(byte me; byte rounds; byte signals)
{
	byte mine, nested, v, p, hv, hp, early;

	do
	:: rounds > 0 ->
		rounds--;
		enter();
#ifdef NO_VALUE_ACQUIRE
		p = early;
#else
		p = ptr;
#endif
		early = 0;
		assert(!freed[p]);
		maybe_handler();
		if
		:: enter(); early = 0; leave()
		:: skip
		fi;
#ifdef NO_EXIT_RELEASE
		leave();
		assert(!freed[p]);
#else
		assert(!freed[p]);
		leave();
#endif
		p = 0
	:: else -> break
	od
}

/* Bump: an atomic operation that drains the buffer of who does it. */
inline bump()
{
#ifdef NO_WRITER_BARRIER
	goal = value + 1;
	wbuffer!ST_VALUE, goal
#else
	atomic { empty(wbuffer) -> value++; goal = value }
#endif
}

/* In the asymmetric kind a record that shows the goal needs no barrier. */
inline barrier_and_scan()
{
#if defined(MEMBARRIER) && !defined(NO_MEMBARRIER)
	if
	:: rec[0] >= goal
	:: empty(buffer[0]) -> (rec[0] == 0 || rec[0] >= goal)
	fi;
	if
	:: rec[1] >= goal
	:: empty(buffer[1]) -> (rec[1] == 0 || rec[1] >= goal)
	fi
#else
	(rec[0] == 0 || rec[0] >= goal);
	(rec[1] == 0 || rec[1] >= goal)
#endif
}

#ifdef CALL

proctype Writer()
{
	byte n;

	do
	:: n < OBJECTS ->
#ifdef NO_TAIL_RELEASE
		wbuffer!ST_TAIL, n + 1;
		wbuffer!ST_PTR, n + 1;
#else
		wbuffer!ST_PTR, n + 1;
		wbuffer!ST_TAIL, n + 1;
#endif
		n++
	:: else -> break
	od
}

/* epoch_mark() and epoch_run(), by another thread than the writer. */
proctype Reclaimer()
{
	byte goal, mark, head;

	do
	:: head < OBJECTS ->
#ifdef MARK_AFTER_BUMP
		atomic { value++; goal = value };
		barrier_and_scan();
		mark = tail;
#else
		mark = tail;
		atomic { value++; goal = value };
#ifndef NO_SCAN_ACQUIRE
		barrier_and_scan();
#endif
#endif
		do
		:: head < mark -> freed[head] = true; head++
		:: else -> break
		od;
		/* Do not try for ever while the writer sleeps. */
		if
		:: head < OBJECTS -> (tail > head)
		:: else -> skip
		fi
	:: else -> break
	od
}

#else

proctype Writer()
{
	byte goal, n;

	do
	:: n < OBJECTS ->
		wbuffer!ST_PTR, n + 1;
		bump();
#ifndef NO_SCAN_ACQUIRE
		barrier_and_scan();
#endif
		freed[n] = true;
		n++
	:: else -> break
	od
}

#endif

init
{
	atomic {
		run Reader(0, ROUNDS, SIGNALS);
		run Reader(1, 1, 0);
		run Writer();
#ifdef CALL
		run Reclaimer();
#endif
	}
}
