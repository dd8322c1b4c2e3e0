/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Packet buffers: the region, and what is not for everybody.
 * The rest is <netepoch/mbuf.h>.
 *
 * One memory region per process is cut into frames of MBUF_FRAME_SIZE bytes,
 * which hold data and nothing else; the region is what AF_XDP gets as UMEM.
 * The struct mbuf of frame number i is element i of an array of its own, so a
 * descriptor's address and the mbuf are a shift apart and nothing is copied.
 * A packet that does not fit one frame is a chain by m_next; m_pkthdr is valid
 * in the first mbuf only.
 *
 * Headers are apart from frames, and data begin at one of MBUF_COLOURS
 * offsets, for the sake of the first-level cache: lines that lie 2,048 bytes
 * apart share two of its 64 sets, which hold 24 lines, and a burst has 64
 * headers and 64 first lines of data.
 *
 * Threads: free frames are cached per thread (no lock, no shared line); the
 * caches exchange blocks with a global list under mbuf_mtx.  Any thread,
 * inside or outside the epoch; never blocks for long, fails when the region
 * is used up.
 */
#ifndef _MBUF_MBUF_H_
#define	_MBUF_MBUF_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <netepoch/mbuf.h>

#include "sys/defs.h"

#define	MBUF_FRAME_SHIFT	11
#define	MBUF_FRAME_SIZE		(1u << MBUF_FRAME_SHIFT)
#define	MBUF_COLOURS		8

static_assert(MBUF_DATA_SIZE == MBUF_FRAME_SIZE - MBUF_HEADROOM -
    (MBUF_COLOURS - 1) * CACHE_LINE_SIZE, "room of a fresh mbuf");

/*
 * Make the region: nframes frames (rounded up to a block), once per process;
 * a second call with the region there returns EALREADY.  ENOMEM.
 */
int	mbuf_init(uint32_t nframes);
void	mbuf_region(void **base, size_t *len);	/* for UMEM registration */
extern char *mbuf_frames;		/* (c) the region */
extern struct mbuf *mbuf_headers;	/* (c) one for each frame */
uint32_t mbuf_nframes(void);
/* Frames not in use, counting all thread caches; exact only when quiet. */
uint32_t mbuf_nfree(void);
uint64_t mbuf_nofree(void);		/* allocations that failed */

/*
 * m_get_burst() without writing to the frames, for drivers that fill
 * descriptors ahead of time: m_init() makes an mbuf of one when a packet has
 * come.
 */
unsigned int m_get_raw(struct mbuf **m, unsigned int n);
void	m_free_raw(struct mbuf **m, unsigned int n);

/* The mbuf of the frame that p points into. */
static inline struct mbuf *
m_of_frame(const void *p)
{

	return (&mbuf_headers[(size_t)((const char *)p - mbuf_frames) >>
	    MBUF_FRAME_SHIFT]);
}

/* The first byte of m's frame. */
static inline char *
m_frame(const struct mbuf *m)
{

	return (mbuf_frames + ((size_t)(m - mbuf_headers) <<
	    MBUF_FRAME_SHIFT));
}

/* Where the data of a fresh mbuf begin: a line of the frame's colour. */
static inline char *
m_dataspace(const struct mbuf *m)
{
	size_t i = (size_t)(m - mbuf_headers);

	return (mbuf_frames + (i << MBUF_FRAME_SHIFT) + MBUF_HEADROOM +
	    (i >> 1) % MBUF_COLOURS * CACHE_LINE_SIZE);
}

/* Free bytes after the data in this frame. */
static inline uint32_t
m_trailingspace(const struct mbuf *m)
{

	return ((uint32_t)(m_frame(m) + MBUF_FRAME_SIZE - m->m_data) -
	    m->m_len);
}

/* Write the header line of an mbuf whose data begin at data, len bytes. */
static inline void
m_init(struct mbuf *m, char *data, uint32_t len)
{

	m->m_next = NULL;
	m->m_data = data;
	m->m_len = len;
	m->m_flags = M_PKTHDR;
	m->m_pkthdr = (struct pkthdr){ .len = len };
}

#endif /* _MBUF_MBUF_H_ */
