/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Packet buffers, as protocols, node types and programs see them.
 *
 * An mbuf is a header and data; a packet that does not fit one of them is a
 * chain by m_next, and m_pkthdr is valid in the first mbuf only.  Data lie in
 * frames of one memory region per process, which also the devices use: nothing
 * is copied on a packet's way.
 *
 * Ownership: whoever receives an mbuf consumes it on every path.  An mbuf has
 * one owner at a time and no reference count.
 *
 * Any thread, inside or outside the epoch; never blocks for long, fails when
 * the region is used up.
 */
#ifndef _NETEPOCH_MBUF_H_
#define	_NETEPOCH_MBUF_H_

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ifnet;
struct nhop;

#ifndef CACHE_LINE_SIZE
#define	CACHE_LINE_SIZE	64
#endif

/*
 * Bytes in front of the data of a fresh mbuf, and data bytes that it has room
 * for: at least so many.  1,536: an Ethernet frame and tags fit.
 */
#define	MBUF_HEADROOM	CACHE_LINE_SIZE
#define	MBUF_DATA_SIZE	(2048 - MBUF_HEADROOM - 7 * CACHE_LINE_SIZE)
#define	MBUF_BURST	64		/* the most that travel together */

/* m_flags */
#define	M_PKTHDR	0x00000001	/* first of a packet */
#define	M_BCAST		0x00000002	/* link-level broadcast */
#define	M_MCAST		0x00000004	/* link-level multicast */
#define	M_VLANTAG	0x00000008	/* m_pkthdr.ether_vtag is valid */
#define	M_PROMISC	0x00000010	/* not for our MAC */
#define	M_ADDR		0x00000020	/* m_cookie[0..4]: a struct sockaddr, see
					   <netgraph/ng_ksocket.h> */
#define	M_ACCOUNTED	0x00000040	/* m_cookie[5]: netflow node's number */
#define	M_COOKIE	(M_ADDR | M_ACCOUNTED) /* m_dup() copies m_cookie */
#define	M_FREE		0x80000000	/* debug builds: in the free list */

/* m_pkthdr.csum_flags; the meaning is the same for all drivers */
#define	CSUM_PARTIAL	0x01		/* finish at csum_start/csum_offset */
#define	CSUM_VALID	0x02		/* transport checksum was verified */

struct pkthdr {
	struct ifnet	*rcvif;		/* valid in the epoch of its input */
	const struct nhop *nh;		/* scratch of the layer that owns m */
	uint32_t	 len;		/* bytes in the whole chain */
	uint32_t	 flowid;	/* receive hash, 0: none */
	uint16_t	 ether_vtag;	/* PCP, DEI, VID, host order */
	uint16_t	 ether_vproto;	/* ETHERTYPE_VLAN or _QINQ, host */
	uint16_t	 csum_start;	/* from m_data, bytes */
	uint16_t	 csum_offset;	/* from csum_start, bytes */
	uint8_t		 csum_flags;
	uint8_t		 rxq;		/* receive queue */
	uint8_t		 l2len;		/* bytes of link header once parsed */
	uint8_t		 pad;
};

struct mbuf {
	struct mbuf	*m_next;	/* (o) next of the chain */
	char		*m_data;	/* (o) first byte of data */
	uint32_t	 m_len;		/* (o) bytes of data in this mbuf */
	uint32_t	 m_flags;	/* (o) M_* */
	struct pkthdr	 m_pkthdr;	/* (o) to the end of the first line */
	/* The second line is not touched by the fast path. */
	struct mbuf	*m_nextpkt;	/* (o) queue link */
	uint64_t	 m_stamp;	/* (o) time_ns() of a queued packet */
	uint64_t	 m_cookie[6];	/* (o) for whoever queues it, who then
					   clears M_COOKIE */
} __attribute__((aligned(CACHE_LINE_SIZE)));

static_assert(offsetof(struct mbuf, m_nextpkt) == CACHE_LINE_SIZE,
    "the fast path touches one line of an mbuf");
static_assert(sizeof(struct mbuf) == 2 * CACHE_LINE_SIZE, "two lines");

#define	mtod(m, t)	((t)(void *)(m)->m_data)
#define	mtodo(m, o)	((void *)((m)->m_data + (o)))

/*
 * Take up to n mbufs: m_data with MBUF_HEADROOM in front, m_next NULL, m_len 0,
 * m_flags M_PKTHDR, m_pkthdr zero.  Returns how many (all or none).
 */
unsigned int m_get_burst(struct mbuf **m, unsigned int n);
struct mbuf *m_gethdr(void);		/* one; NULL when there is none */
void	m_freem(struct mbuf *m);	/* frees the chain; NULL is fine */
void	m_free_burst(struct mbuf **m, unsigned int n);	/* n chains */
/* Give this thread's cached frames back to all (before sleeping for long). */
void	m_cache_drain(void);

/* Lengths in bytes, offsets from the packet's first byte. */
/* Make the first len bytes contiguous.  NULL (and m freed) if impossible. */
struct mbuf *m_pullup(struct mbuf *m, uint32_t len);
void	m_copydata(const struct mbuf *m, uint32_t off, uint32_t len, void *to);
/* Append len bytes, adding mbufs.  ENOBUFS leaves m as it was. */
int	m_append(struct mbuf *m, uint32_t len, const void *from);
/* Cut n bytes from the front (n > 0) or from the end (n < 0). */
void	m_adj(struct mbuf *m, int n);
/* Room for n bytes in front.  May add an mbuf; NULL (m freed) if none. */
struct mbuf *m_prepend(struct mbuf *m, uint32_t n);
/* A deep copy with its header; NULL if there are no frames. */
struct mbuf *m_dup(const struct mbuf *m);
/* Packet data in one buffer to a fresh chain; NULL if no frames. */
struct mbuf *m_devget(const void *buf, uint32_t len);
/* Append n's data to m's chain (n is consumed, its header forgotten). */
void	m_cat(struct mbuf *m, struct mbuf *n);
/* Cut the packet at len: m keeps the front, the rest is returned. */
struct mbuf *m_split(struct mbuf *m, uint32_t len);
/*
 * The sum of len bytes at off, a partial as in wire/in_cksum.h; the packet
 * must have them.
 */
uint32_t m_cksum(const struct mbuf *m, uint32_t off, uint32_t len);
/*
 * Complete a CSUM_PARTIAL checksum and clear the flag.  False: start and
 * offset do not lie in the packet; it is unchanged.
 */
bool	m_cksum_finish(struct mbuf *m);

/*
 * Free bytes before m_data in this frame; 0 when the data begin (and are
 * empty) at the frame's very end.
 */
static inline uint32_t
m_leadingspace(const struct mbuf *m)
{

	return ((uint32_t)((uintptr_t)m->m_data & 2047));
}

#endif /* _NETEPOCH_MBUF_H_ */
