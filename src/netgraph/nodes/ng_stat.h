/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Statistics of node types, and what else data methods share.
 *
 * A struct ng_stat is a row of counters (sys/counter.h): counting in the data
 * method writes no line that another thread reads or writes.  They are never
 * set back; to clear is to remember what they were.  So a packet that is
 * counted while somebody reads and clears is in this reading or in the next
 * one, never in both and never in none.
 */
#ifndef _NETGRAPH_NODES_NG_STAT_H_
#define	_NETGRAPH_NODES_NG_STAT_H_

#include <stdbool.h>
#include <stdint.h>

#include <netgraph/netgraph.h>

#include "mbuf/mbuf.h"
#include "sys/counter.h"

#define	NG_STAT_MAX	16

struct ng_stat {
	counter_t	 st_cells;	/* (c) the first; 0: none */
	unsigned int	 st_n;		/* (c) 1..NG_STAT_MAX */
	uint64_t	 st_base[NG_STAT_MAX]; /* (c) when last cleared */
};

/* n counters that read 0.  ENOMEM.  Control, as are the next two. */
int	ng_stat_init(struct ng_stat *st, unsigned int n);
/* No data method counts in them any more.  Fine if there are none. */
void	ng_stat_fini(struct ng_stat *st);
/* What was counted since the last clear, to out (may be NULL). */
void	ng_stat_read(struct ng_stat *st, uint64_t *out, bool clear);

/*
 * The three commands that every type with statistics has: get, clear, get and
 * clear, in this order from first on.  st is a row of nst structs whose
 * counters are the reply.  EINVAL: none of the three.
 */
int	ng_stat_rcvmsg(struct ng_request *rq, uint32_t first,
	    struct ng_stat *st, unsigned int nst);

/* Count n in the counter number i.  Any thread. */
static inline void
ng_stat_add(const struct ng_stat *st, unsigned int i, uint64_t n)
{

	counter_add(st->st_cells + i, n);
}

/* Bytes in all packets of the item. */
static inline uint64_t
ng_item_octets(const struct ng_item *item)
{
	uint64_t octets = 0;

	for (unsigned int i = 0; i < item->it_n; i++)
		octets += item->it_m[i]->m_pkthdr.len;
	return (octets);
}

/* A copy of all packets, or false and nothing: out of mbufs. */
bool	ng_item_dup(const struct ng_item *item, struct ng_item *copy);

/*
 * The number N of a hook whose name is prefix and N, in decimal without
 * leading zeros; -1 if it is another name or N is not below limit.
 */
int	ng_hook_number(const char *name, const char *prefix, int limit);

/* For arrays of a struct that begins with their uint32_t of elements. */
ng_parse_array_getLength_t ng_parse_count_first;

#endif /* _NETGRAPH_NODES_NG_STAT_H_ */
