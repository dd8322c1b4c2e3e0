/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The hosts that a bridge has learned: by address, the link where each is.
 *
 * An open hash table whose slots hold all that a packet needs, so that a look
 * costs one cache line.  Data methods read it in the epoch without a lock, and
 * write a host's second of being seen when that changes.  Writers hold the
 * table's lock: they fill an empty slot, set a host's link, or strike a host
 * out; a slot that was struck out stays so, and thus a link that is read after
 * its address belongs to it.  When half of the slots are used, a new table
 * takes the old one's place, which is freed a grace period later.  Whoever
 * reads an old table misses at most what was learned just now.
 *
 * Keys: h is bs_mtx, under which nothing else is taken.
 */
#ifndef _NETGRAPH_NODES_NG_BRIDGE_HOST_H_
#define	_NETGRAPH_NODES_NG_BRIDGE_HOST_H_

#include <endian.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <netepoch/epoch.h>
#include <netgraph/ng_bridge.h>

#include "sys/lock.h"

#define	BRIDGE_HOSTS_MAX	65536	/* more are not learned */
#define	BRIDGE_STALE_MAX	65000	/* seconds; more are not told apart */

/* An address as a number: its first byte is the lowest. */
#define	BRIDGE_KEY_MASK		UINT64_C(0xffffffffffff)
#define	BRIDGE_KEY_BCAST	BRIDGE_KEY_MASK
#define	BRIDGE_KEY_MCAST	UINT64_C(1)	/* the group bit */

struct bridge_link;

/*
 * A slot.  Its word has the second of the last packet from the host in its low
 * 16 bits, the address above.  No host has a group's address: that bit of it
 * is set in the word, which tells a host from the two words that are none.
 */
struct bridge_host {
	_Atomic uint64_t bh_word;	/* (a) acquire/release */
	_Atomic(struct bridge_link *) bh_link; /* (a) acquire/release */
};
#define	BRIDGE_WORD_EMPTY	UINT64_C(0)
#define	BRIDGE_WORD_GONE	UINT64_C(1)
#define	BRIDGE_WORD_SEEN	UINT64_C(0xffff)

struct bridge_table {
	uint64_t	 bt_factor;	/* (c) constant: odd and random */
	unsigned int	 bt_shift;	/* (c) constant */
	size_t		 bt_mask;	/* (c) constant: slots - 1 */
	uint64_t	*bt_since;	/* (h) by slot: time_ns() when the host
					   came to its link */
	struct epoch_context bt_ctx;	/* (o) */
	alignas(64) struct bridge_host bt_slot[]; /* (e/h) */
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
/* When a host that was looked up came to its link, as time_ns() has it. */
uint64_t *bridge_host_since(struct bridge_hosts *bs, struct bridge_host *bh);
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

static inline uint64_t
bridge_word(uint64_t key, uint32_t now)
{

	return ((key | BRIDGE_KEY_MCAST) << 16 | (now & BRIDGE_WORD_SEEN));
}

static inline bool
bridge_word_is(uint64_t word, uint64_t key)
{

	return (word >> 16 == (key | BRIDGE_KEY_MCAST));
}

/* In the epoch or with bs_mtx held; NULL: not known. */
static inline struct bridge_host *
bridge_host_find(struct bridge_table *bt, uint64_t key)
{
	uint64_t word;
	size_t i;

	for (i = bridge_slot(bt, key);; i = (i + 1) & bt->bt_mask) {
		/* Pairs with the release in bridge_table_put(). */
		word = atomic_load_explicit(&bt->bt_slot[i].bh_word,
		    memory_order_acquire);
		if (bridge_word_is(word, key))
			return (&bt->bt_slot[i]);
		if (word == BRIDGE_WORD_EMPTY)
			return (NULL);
	}
}

static inline struct bridge_link *
bridge_host_link(struct bridge_host *bh)
{

	/* Pairs with the release of whoever moves the host. */
	return (atomic_load_explicit(&bh->bh_link, memory_order_acquire));
}

/* A packet came from the host now, unless that is known or it is gone. */
static inline void
bridge_host_see(struct bridge_host *bh, uint64_t key, uint32_t now)
{
	uint64_t word;

	word = atomic_load_explicit(&bh->bh_word, memory_order_relaxed);
	if (word != bridge_word(key, now) && bridge_word_is(word, key))
		(void)atomic_compare_exchange_strong_explicit(&bh->bh_word,
		    &word, bridge_word(key, now), memory_order_relaxed,
		    memory_order_relaxed);
}

#endif /* _NETGRAPH_NODES_NG_BRIDGE_HOST_H_ */
