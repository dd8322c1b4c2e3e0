/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The hosts that a bridge has learned: by address, the link where each is.
 *
 * An open hash table of pointers.  Data methods read it in the epoch without a
 * lock.  Writers hold the table's lock: they put a host into an empty slot,
 * set its link, or replace it by one that matches no address; when half of the
 * slots are used, a new table takes the old one's place.  What left the table
 * is freed a grace period later.  Whoever reads an old table misses at most
 * what was learned just now.
 *
 * Keys: h is bs_mtx, under which nothing else is taken.
 */
#ifndef _NETGRAPH_NODES_NG_BRIDGE_HOST_H_
#define	_NETGRAPH_NODES_NG_BRIDGE_HOST_H_

#include <endian.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <netepoch/epoch.h>
#include <netgraph/ng_bridge.h>

#include "sys/lock.h"

#define	BRIDGE_HOSTS_MAX	65536	/* more are not learned */

/* An address as a number: its first byte is the lowest. */
#define	BRIDGE_KEY_MASK		UINT64_C(0xffffffffffff)
#define	BRIDGE_KEY_BCAST	BRIDGE_KEY_MASK
#define	BRIDGE_KEY_MCAST	UINT64_C(1)	/* the group bit */

struct bridge_link;

struct bridge_host {
	uint64_t	 bh_key;	/* (c) constant */
	_Atomic(struct bridge_link *) bh_link; /* (a) acquire/release */
	_Atomic uint32_t bh_seen;	/* (a) relaxed: second of the last
					   packet from it */
	uint64_t	 bh_since;	/* (h) time_ns() when it came here */
	struct bridge_host *bh_dead;	/* (h) then (o) next to be freed */
	struct epoch_context bh_ctx;	/* (o) of the first of these */
};

struct bridge_table {
	uint64_t	 bt_factor;	/* (c) constant: odd and random */
	unsigned int	 bt_shift;	/* (c) constant */
	size_t		 bt_mask;	/* (c) constant: slots - 1 */
	struct epoch_context bt_ctx;	/* (o) */
	_Atomic(struct bridge_host *) bt_slot[]; /* (a) acquire/release */
};

struct bridge_hosts {
	_Atomic(struct bridge_table *) bs_table; /* (e/h) */
	struct mtx	 bs_mtx;
	unsigned int	 bs_n;		/* (h) hosts */
	unsigned int	 bs_used;	/* (h) slots that are not empty */
};

/* errno value.  Control, as is fini, when no data method uses it. */
int	bridge_hosts_init(struct bridge_hosts *bs);
void	bridge_hosts_fini(struct bridge_hosts *bs);

/* All below with bs_mtx held. */

struct bridge_host *bridge_host_lookup(struct bridge_hosts *bs, uint64_t key);
/* A new host, seen in second now.  ENOMEM; ENOSPC: there are too many. */
int	bridge_host_insert(struct bridge_hosts *bs, uint64_t key,
	    struct bridge_link *link, uint32_t now);
/* Forget the hosts of link (NULL: of all links). */
void	bridge_hosts_forget(struct bridge_hosts *bs, struct bridge_link *link);
/* Forget the hosts that were silent for longer than limit seconds. */
void	bridge_hosts_age(struct bridge_hosts *bs, uint32_t now,
	    uint32_t limit);
/* All hosts, at most max of them; returns how many. */
unsigned int bridge_hosts_list(struct bridge_hosts *bs, uint32_t now,
	    struct ng_bridge_host *to, unsigned int max);

/* The name of the hook of a link; in ng_bridge.c. */
const char *bridge_link_name(const struct bridge_link *link);

/* The address at p, of which two more bytes can be read. */
static inline uint64_t
bridge_key(const uint8_t *p)
{
	uint64_t key;

	memcpy(&key, p, sizeof(key));
	return (le64toh(key) & BRIDGE_KEY_MASK);
}

/* The table of this section. */
static inline struct bridge_table *
bridge_table(struct bridge_hosts *bs)
{

	return (atomic_load_explicit(&bs->bs_table, memory_order_acquire));
}

static inline size_t
bridge_slot(const struct bridge_table *bt, uint64_t key)
{

	return ((size_t)(key * bt->bt_factor >> bt->bt_shift));
}

/* In the epoch or with bs_mtx held; NULL: not known. */
static inline struct bridge_host *
bridge_host_find(const struct bridge_table *bt, uint64_t key)
{
	struct bridge_host *bh;
	size_t i;

	for (i = bridge_slot(bt, key);; i = (i + 1) & bt->bt_mask) {
		bh = atomic_load_explicit(&bt->bt_slot[i],
		    memory_order_acquire);
		if (bh == NULL || bh->bh_key == key)
			return (bh);
	}
}

#endif /* _NETGRAPH_NODES_NG_BRIDGE_HOST_H_ */
