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

/* Stands where a host was; its key is no address. */
static struct bridge_host bridge_host_gone = { .bh_key = UINT64_MAX };

/* ---- Tables ---- */

static void
bridge_table_free_cb(epoch_context_t ctx)
{

	free(__containerof(ctx, struct bridge_table, bt_ctx));
}

/* An empty table in which n hosts use at most a quarter of the slots. */
static struct bridge_table *
bridge_table_alloc(unsigned int n)
{
	struct bridge_table *bt;
	size_t slots = BRIDGE_SLOTS_MIN;

	while (slots < (size_t)n * 4)
		slots *= 2;
	bt = calloc(1, sizeof(*bt) + slots * sizeof(bt->bt_slot[0]));
	if (bt == NULL)
		return (NULL);
	bt->bt_mask = slots - 1;
	bt->bt_shift = (unsigned int)__builtin_clzll(slots - 1);
	/* Nobody outside can tell which addresses share a slot. */
	if (getrandom(&bt->bt_factor, sizeof(bt->bt_factor), 0) !=
	    sizeof(bt->bt_factor))
		bt->bt_factor = time_ns() * UINT64_C(0x9e3779b97f4a7c15);
	bt->bt_factor |= 1;
	return (bt);
}

/* Into the first slot that is empty or whose host is gone. */
static bool
bridge_table_put(struct bridge_table *bt, struct bridge_host *bh)
{
	struct bridge_host *there;
	size_t i;

	for (i = bridge_slot(bt, bh->bh_key);; i = (i + 1) & bt->bt_mask) {
		there = atomic_load_explicit(&bt->bt_slot[i],
		    memory_order_relaxed);
		if (there == NULL || there == &bridge_host_gone)
			break;
	}
	/* Pairs with the acquire in bridge_host_find(). */
	atomic_store_explicit(&bt->bt_slot[i], bh, memory_order_release);
	return (there == NULL);
}

/* Move to a table that fits.  False: no memory, nothing has changed. */
static bool
bridge_hosts_rebuild(struct bridge_hosts *bs)
{
	struct bridge_table *old = bridge_table(bs), *bt;
	struct bridge_host *bh;

	MTX_ASSERT(&bs->bs_mtx);

	bt = bridge_table_alloc(bs->bs_n + 1);
	if (bt == NULL)
		return (false);
	for (size_t i = 0; i <= old->bt_mask; i++) {
		bh = atomic_load_explicit(&old->bt_slot[i],
		    memory_order_relaxed);
		if (bh != NULL && bh != &bridge_host_gone)
			(void)bridge_table_put(bt, bh);
	}
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

	mtx_lock(&bs->bs_mtx);
	bridge_hosts_forget(bs, NULL);
	mtx_unlock(&bs->bs_mtx);
	free(bridge_table(bs));
	mtx_destroy(&bs->bs_mtx);
}

/* ---- Hosts ---- */

struct bridge_host *
bridge_host_lookup(struct bridge_hosts *bs, uint64_t key)
{

	MTX_ASSERT(&bs->bs_mtx);

	return (bridge_host_find(bridge_table(bs), key));
}

int
bridge_host_insert(struct bridge_hosts *bs, uint64_t key,
    struct bridge_link *link, uint32_t now)
{
	struct bridge_host *bh;

	MTX_ASSERT(&bs->bs_mtx);

	if (bs->bs_n >= BRIDGE_HOSTS_MAX)
		return (ENOSPC);
	if (bs->bs_used * 2 > bridge_table(bs)->bt_mask &&
	    !bridge_hosts_rebuild(bs))
		return (ENOMEM);
	if ((bh = calloc(1, sizeof(*bh))) == NULL)
		return (ENOMEM);
	bh->bh_key = key;
	bh->bh_since = time_ns();
	atomic_init(&bh->bh_link, link);
	atomic_init(&bh->bh_seen, now);
	if (bridge_table_put(bridge_table(bs), bh))
		bs->bs_used++;
	bs->bs_n++;
	return (0);
}

/* One callback for all hosts that left the table together. */
static void
bridge_hosts_free_cb(epoch_context_t ctx)
{
	struct bridge_host *bh = __containerof(ctx, struct bridge_host,
	    bh_ctx), *next;

	for (; bh != NULL; bh = next) {
		next = bh->bh_dead;
		free(bh);
	}
}

/* Out of their slots, then out of mind. */
static void
bridge_hosts_bury(struct bridge_hosts *bs, struct bridge_host *dead)
{

	if (dead == NULL)
		return;
	NET_EPOCH_CALL(bridge_hosts_free_cb, &dead->bh_ctx);
	/* Or else the next search for an empty slot would be long. */
	if ((bs->bs_used - bs->bs_n) * 4 > bridge_table(bs)->bt_mask)
		(void)bridge_hosts_rebuild(bs);
}

static void
bridge_slot_clear(struct bridge_hosts *bs, struct bridge_table *bt, size_t i,
    struct bridge_host **dead)
{
	struct bridge_host *bh;

	bh = atomic_load_explicit(&bt->bt_slot[i], memory_order_relaxed);
	atomic_store_explicit(&bt->bt_slot[i], &bridge_host_gone,
	    memory_order_release);
	bs->bs_n--;
	bh->bh_dead = *dead;
	*dead = bh;
}

/* The host in slot i, if there is one. */
static struct bridge_host *
bridge_slot_host(struct bridge_table *bt, size_t i)
{
	struct bridge_host *bh;

	bh = atomic_load_explicit(&bt->bt_slot[i], memory_order_relaxed);
	return (bh == &bridge_host_gone ? NULL : bh);
}

void
bridge_hosts_forget(struct bridge_hosts *bs, struct bridge_link *link)
{
	struct bridge_table *bt = bridge_table(bs);
	struct bridge_host *bh, *dead = NULL;

	MTX_ASSERT(&bs->bs_mtx);

	for (size_t i = 0; i <= bt->bt_mask && bs->bs_n != 0; i++) {
		bh = bridge_slot_host(bt, i);
		if (bh != NULL && (link == NULL || atomic_load_explicit(
		    &bh->bh_link, memory_order_relaxed) == link))
			bridge_slot_clear(bs, bt, i, &dead);
	}
	bridge_hosts_bury(bs, dead);
}

/* Seconds since it was seen; a packet may be counted in the next one. */
static uint32_t
bridge_host_staleness(struct bridge_host *bh, uint32_t now)
{
	uint32_t seen;

	seen = atomic_load_explicit(&bh->bh_seen, memory_order_relaxed);
	return ((int32_t)(now - seen) > 0 ? now - seen : 0);
}

void
bridge_hosts_age(struct bridge_hosts *bs, uint32_t now, uint32_t limit)
{
	struct bridge_table *bt = bridge_table(bs);
	struct bridge_host *bh, *dead = NULL;

	MTX_ASSERT(&bs->bs_mtx);

	for (size_t i = 0; i <= bt->bt_mask && bs->bs_n != 0; i++) {
		bh = bridge_slot_host(bt, i);
		if (bh != NULL && bridge_host_staleness(bh, now) > limit)
			bridge_slot_clear(bs, bt, i, &dead);
	}
	bridge_hosts_bury(bs, dead);
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
	uint64_t ns = time_ns(), key;
	struct bridge_host *bh;
	unsigned int n = 0;

	MTX_ASSERT(&bs->bs_mtx);

	for (size_t i = 0; i <= bt->bt_mask && n < max; i++) {
		bh = bridge_slot_host(bt, i);
		if (bh == NULL)
			continue;
		key = htole64(bh->bh_key);
		memset(&to[n], 0, sizeof(to[n]));
		memcpy(to[n].addr, &key, sizeof(to[n].addr));
		strncpy(to[n].hook, bridge_link_name(atomic_load_explicit(
		    &bh->bh_link, memory_order_relaxed)),
		    sizeof(to[n].hook) - 1);
		to[n].age = bridge_u16((ns - bh->bh_since) / 1000000000);
		to[n].staleness = bridge_u16(bridge_host_staleness(bh, now));
		n++;
	}
	return (n);
}
