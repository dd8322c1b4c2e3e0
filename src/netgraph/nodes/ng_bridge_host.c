/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The table of hosts of a bridge: its writers; see the header.
 */
#include "netgraph/nodes/ng_bridge_host.h"

#include <sys/random.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sys/thread.h"

#define	BRIDGE_SLOTS_MIN	64

/* ---- Tables ---- */

static void
bridge_table_free(struct bridge_table *bt)
{

	free(bt->bt_since);
	free(bt);
}

static void
bridge_table_free_cb(epoch_context_t ctx)
{

	bridge_table_free(__containerof(ctx, struct bridge_table, bt_ctx));
}

/* An empty table in which n hosts use at most a quarter of the slots. */
static struct bridge_table *
bridge_table_alloc(unsigned int n)
{
	struct bridge_table *bt;
	size_t slots = BRIDGE_SLOTS_MIN, size;

	while (slots < (size_t)n * 4)
		slots *= 2;
	/* A multiple of the alignment, as both parts are. */
	size = sizeof(*bt) + slots * sizeof(bt->bt_slot[0]);
	if ((bt = aligned_alloc(alignof(struct bridge_table), size)) == NULL)
		return (NULL);
	memset(bt, 0, size);
	bt->bt_since = calloc(slots, sizeof(bt->bt_since[0]));
	if (bt->bt_since == NULL) {
		free(bt);
		return (NULL);
	}
	bt->bt_mask = slots - 1;
	bt->bt_shift = (unsigned int)__builtin_clzll(slots - 1);
	/* Nobody outside can tell which addresses share a slot. */
	if (getrandom(&bt->bt_factor, sizeof(bt->bt_factor), 0) !=
	    sizeof(bt->bt_factor))
		bt->bt_factor = time_ns() * UINT64_C(0x9e3779b97f4a7c15);
	bt->bt_factor |= 1;
	return (bt);
}

/* The word of the host in slot i; 0: there is none. */
static uint64_t
bridge_slot_word(struct bridge_table *bt, size_t i)
{
	uint64_t word;

	word = atomic_load_explicit(&bt->bt_slot[i].bh_word,
	    memory_order_relaxed);
	return (word == BRIDGE_WORD_GONE ? 0 : word);
}

static uint64_t
bridge_word_key(uint64_t word)
{

	return (word >> 16 & ~BRIDGE_KEY_MCAST);
}

/* Into the first slot that was never used. */
static void
bridge_table_put(struct bridge_table *bt, uint64_t word,
    struct bridge_link *link, uint64_t since)
{
	size_t i = bridge_slot(bt, bridge_word_key(word));

	while (atomic_load_explicit(&bt->bt_slot[i].bh_word,
	    memory_order_relaxed) != BRIDGE_WORD_EMPTY)
		i = (i + 1) & bt->bt_mask;
	bt->bt_since[i] = since;
	atomic_store_explicit(&bt->bt_slot[i].bh_link, link,
	    memory_order_relaxed);
	/* Pairs with the acquire in bridge_host_find(). */
	atomic_store_explicit(&bt->bt_slot[i].bh_word, word,
	    memory_order_release);
}

/* Move to a table that fits.  False: no memory, nothing has changed. */
static bool
bridge_hosts_rebuild(struct bridge_hosts *bs)
{
	struct bridge_table *old = bridge_table(bs), *bt;
	uint64_t word;

	MTX_ASSERT(&bs->bs_mtx);

	bt = bridge_table_alloc(bs->bs_n + 1);
	if (bt == NULL)
		return (false);
	for (size_t i = 0; i <= old->bt_mask; i++)
		if ((word = bridge_slot_word(old, i)) != 0)
			bridge_table_put(bt, word,
			    bridge_host_link(&old->bt_slot[i]),
			    old->bt_since[i]);
	bs->bs_used = bs->bs_n;
	/* Pairs with the acquire in bridge_table(). */
	atomic_store_explicit(&bs->bs_table, bt, memory_order_release);
	NET_EPOCH_CALL(bridge_table_free_cb, &old->bt_ctx);
	return (true);
}

int
bridge_hosts_init(struct bridge_hosts *bs)
{
	struct bridge_table *bt;

	bt = bridge_table_alloc(0);
	if (bt == NULL)
		return (ENOMEM);
	atomic_init(&bs->bs_table, bt);
	mtx_init(&bs->bs_mtx, "ng_bridge hosts");
	bs->bs_n = bs->bs_used = 0;
	return (0);
}

void
bridge_hosts_fini(struct bridge_hosts *bs)
{

	bridge_table_free(bridge_table(bs));
	mtx_destroy(&bs->bs_mtx);
}

/* ---- Hosts ---- */

struct bridge_host *
bridge_host_lookup(struct bridge_hosts *bs, uint64_t key)
{

	MTX_ASSERT(&bs->bs_mtx);

	return (bridge_host_find(bridge_table(bs), key));
}

uint64_t *
bridge_host_since(struct bridge_hosts *bs, struct bridge_host *bh)
{
	struct bridge_table *bt = bridge_table(bs);

	MTX_ASSERT(&bs->bs_mtx);

	return (&bt->bt_since[bh - bt->bt_slot]);
}

int
bridge_host_insert(struct bridge_hosts *bs, uint64_t key,
    struct bridge_link *link, uint32_t now)
{

	MTX_ASSERT(&bs->bs_mtx);

	if (bs->bs_n >= BRIDGE_HOSTS_MAX)
		return (ENOSPC);
	if (bs->bs_used * 2 > bridge_table(bs)->bt_mask &&
	    !bridge_hosts_rebuild(bs))
		return (ENOMEM);
	bridge_table_put(bridge_table(bs), bridge_word(key, now), link,
	    time_ns());
	bs->bs_used++;
	bs->bs_n++;
	return (0);
}

static void
bridge_slot_clear(struct bridge_hosts *bs, struct bridge_table *bt, size_t i)
{

	atomic_store_explicit(&bt->bt_slot[i].bh_word, BRIDGE_WORD_GONE,
	    memory_order_relaxed);
	bs->bs_n--;
}

/* Or else the next search for an empty slot would be long. */
static void
bridge_hosts_tidy(struct bridge_hosts *bs)
{

	if ((bs->bs_used - bs->bs_n) * 4 > bridge_table(bs)->bt_mask)
		(void)bridge_hosts_rebuild(bs);
}

void
bridge_hosts_forget(struct bridge_hosts *bs, struct bridge_link *link)
{
	struct bridge_table *bt = bridge_table(bs);

	MTX_ASSERT(&bs->bs_mtx);

	for (size_t i = 0; i <= bt->bt_mask && bs->bs_n != 0; i++)
		if (bridge_slot_word(bt, i) != 0 && (link == NULL ||
		    bridge_host_link(&bt->bt_slot[i]) == link))
			bridge_slot_clear(bs, bt, i);
	bridge_hosts_tidy(bs);
}

/*
 * Seconds since it was seen, of which a word has the low 16 bits, at most one
 * more than BRIDGE_STALE_MAX.  A packet may be counted in one of the next
 * seconds.
 */
static uint32_t
bridge_word_staleness(uint64_t word, uint32_t now)
{
	uint32_t stale = (now - (uint32_t)word) & BRIDGE_WORD_SEEN;

	return (stale <= BRIDGE_STALE_MAX + 1 ? stale : 0);
}

/*
 * Each second: for the word of a host that is kept for longer than it can say
 * is moved on, or the host would seem new one day.
 */
static void
bridge_host_age(struct bridge_hosts *bs, struct bridge_table *bt, size_t i,
    uint32_t now, uint32_t limit)
{
	uint64_t word = bridge_slot_word(bt, i);
	uint32_t stale;

	if (word == 0)
		return;
	stale = bridge_word_staleness(word, now);
	if (stale > limit)
		bridge_slot_clear(bs, bt, i);
	else if (stale > BRIDGE_STALE_MAX)
		(void)atomic_compare_exchange_strong_explicit(
		    &bt->bt_slot[i].bh_word, &word, bridge_word(
		    bridge_word_key(word), now - BRIDGE_STALE_MAX),
		    memory_order_relaxed, memory_order_relaxed);
}

void
bridge_hosts_age(struct bridge_hosts *bs, uint32_t now, uint32_t limit)
{
	struct bridge_table *bt = bridge_table(bs);

	MTX_ASSERT(&bs->bs_mtx);

	for (size_t i = 0; i <= bt->bt_mask && bs->bs_n != 0; i++)
		bridge_host_age(bs, bt, i, now, limit);
	bridge_hosts_tidy(bs);
}

/* What a 16-bit field can say of n. */
static uint16_t
bridge_u16(uint64_t n)
{

	return (n > UINT16_MAX ? UINT16_MAX : (uint16_t)n);
}

unsigned int
bridge_hosts_list(struct bridge_hosts *bs, uint32_t now,
    struct ng_bridge_host *to, unsigned int max)
{
	struct bridge_table *bt = bridge_table(bs);
	uint64_t ns = time_ns(), word, addr;
	unsigned int n = 0;
	uint32_t stale;

	MTX_ASSERT(&bs->bs_mtx);

	for (size_t i = 0; i <= bt->bt_mask && n < max; i++) {
		if ((word = bridge_slot_word(bt, i)) == 0)
			continue;
		addr = htole64(bridge_word_key(word));
		memset(&to[n], 0, sizeof(to[n]));
		memcpy(to[n].addr, &addr, sizeof(to[n].addr));
		strncpy(to[n].hook, bridge_link_name(bridge_host_link(
		    &bt->bt_slot[i])), sizeof(to[n].hook) - 1);
		to[n].age = bridge_u16((ns - bt->bt_since[i]) / 1000000000);
		stale = bridge_word_staleness(word, now);
		to[n].staleness = (uint16_t)(stale <= BRIDGE_STALE_MAX ?
		    stale : BRIDGE_STALE_MAX);
		n++;
	}
	return (n);
}
