/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A multibit trie for IPv4: 16 bits, then 8, then 8.
 *
 * All entries lie in one array of 32-bit words that never moves: the root's
 * 65,536, then blocks of 256.  An entry is
 *
 *	leaf	0, number of the nexthop (25 bits), prefix length (6 bits)
 *	child	1, number of the block (31 bits)
 *
 * A leaf remembers how long the prefix is that it came from.  That is enough
 * to add, change and delete in place: below a prefix, the entries with a leaf
 * not longer than the prefix are exactly those that the prefix decides.  So
 * every update is a row of single stores, each of which is right by itself;
 * the rest of the table is not touched.  A new block is filled before the
 * store that links it (release; pairs with the acquire of a reader's load).  A
 * block whose last prefix went away has one leaf in all of its entries; the
 * leaf replaces the link, and the block is used again a grace period later.
 *
 * A burst is walked level by level without branches that depend on the data,
 * so that its cache misses overlap.
 *
 * Writers: the configuration lock.  Readers: inside the net epoch, any thread.
 * Keys: c = the configuration lock, e = net epoch.
 */

#include <arpa/inet.h>

#include <errno.h>
#include <stdlib.h>

#include <netepoch/epoch.h>

#include "mbuf/mbuf.h"
#include "route/fib4.h"
#include "sys/defs.h"

#define	TRIE_CHILD	0x80000000u
#define	TRIE_LENBITS	6
#define	TRIE_ROOT	65536u		/* entries of the root */
#define	TRIE_BLOCK	256u		/* entries of a block */
#define	TRIE_FIRST	(TRIE_ROOT / TRIE_BLOCK) /* number of the first block */
#define	TRIE_MAXBLOCKS	(1u << 21)
#define	TRIE_STEP	((size_t)2 << 20) /* bytes the table grows by */

/* The side table: what the writer needs to know of a block. */
struct trie_block {
	struct trie	*tb_trie;	/* (c) for the callback */
	uint32_t	 tb_count;	/* (c) prefixes ending in or below */
	struct epoch_context tb_ctx;	/* (o) */
};

struct trie {
	_Atomic uint32_t *tr_entry;	/* (e/c) lies in tr_entries */
	struct trie_block *tr_block;	/* (c) lies in tr_blocks */
	struct arena	 tr_entries;	/* (c) */
	struct arena	 tr_blocks;	/* (c) */
	struct idxpool	 tr_pool;	/* (c) numbers of blocks */
};

/* ---- Entries ---- */

static inline uint32_t
trie_leaf(uint32_t idx, int plen)
{
	return (idx << TRIE_LENBITS | (uint32_t)plen);
}

static inline int
trie_leaf_plen(uint32_t e)
{
	return ((int)(e & ((1u << TRIE_LENBITS) - 1)));
}

/* The first entry of the block that e leads to: the shift drops the mark. */
static inline uint32_t
trie_child(uint32_t e)
{
	return (e << 8);
}

static inline uint32_t
trie_load(const struct trie *tr, uint32_t slot)
{
	return (atomic_load_explicit(&tr->tr_entry[slot],
	    memory_order_acquire));
}

static inline void
trie_store(struct trie *tr, uint32_t slot, uint32_t e)
{
	atomic_store_explicit(&tr->tr_entry[slot], e, memory_order_release);
}

/* How many levels below the root a prefix of this length ends. */
static inline int
trie_depth(int plen)
{
	return (plen <= 16 ? 0 : plen <= 24 ? 1 : 2);
}

/* The bits of prefix that choose an entry at a depth. */
static inline uint32_t
trie_bits(uint32_t prefix, int depth)
{
	return (depth == 0 ? prefix >> 16 :
	    depth == 1 ? prefix >> 8 & 0xff : prefix & 0xff);
}

/* How many entries a prefix takes at the depth where it ends. */
static inline uint32_t
trie_span(int plen)
{
	return (1u << (16 + 8 * trie_depth(plen) - plen));
}

/* ---- Blocks ---- */

/* A block nobody reads; ENOMEM. */
static int
trie_block_alloc(struct trie *tr, uint32_t *blk)
{
	int error;

	error = idxpool_alloc(&tr->tr_pool, blk);
	if (error != 0)
		return (error);
	error = arena_grow(&tr->tr_entries,
	    ((size_t)*blk + 1) * TRIE_BLOCK * sizeof(uint32_t));
	if (error == 0)
		error = arena_grow(&tr->tr_blocks,
		    ((size_t)*blk + 1) * sizeof(struct trie_block));
	if (error != 0) {
		idxpool_free(&tr->tr_pool, *blk);
		return (error);
	}
	tr->tr_block[*blk].tb_trie = tr;
	tr->tr_block[*blk].tb_count = 0;
	return (0);
}

static void
trie_block_free_cb(epoch_context_t ctx)
{
	struct trie_block *tb = __containerof(ctx, struct trie_block, tb_ctx);
	struct trie *tr = tb->tb_trie;

	idxpool_free(&tr->tr_pool, (uint32_t)(tb - tr->tr_block));
}

/* ---- Updates ---- */

/*
 * Store leaf over the n entries from slot on, and all below them, wherever
 * the leaf that stands there is of a prefix not longer than plen.
 */
static void
trie_fill(struct trie *tr, uint32_t slot, uint32_t n, int plen, uint32_t leaf)
{
	uint32_t e, end = slot + n;

	for (; slot < end; slot++) {
		e = trie_load(tr, slot);
		if ((e & TRIE_CHILD) != 0)
			trie_fill(tr, trie_child(e), TRIE_BLOCK, plen, leaf);
		else if (trie_leaf_plen(e) <= plen)
			trie_store(tr, slot, leaf);
	}
}

/*
 * Go from the root towards the depth at which a prefix of depth levels ends,
 * as far as there are blocks.  path[d] is the entry at depth d that the prefix
 * chooses; returns the last d that exists.
 */
static int
trie_walk(const struct trie *tr, uint32_t prefix, int depth, uint32_t *path)
{
	uint32_t e;
	int d;

	path[0] = trie_bits(prefix, 0);
	for (d = 0; d < depth; d++) {
		e = trie_load(tr, path[d]);
		if ((e & TRIE_CHILD) == 0)
			break;
		path[d + 1] = trie_child(e) + trie_bits(prefix, d + 1);
	}
	return (d);
}

/*
 * Make the blocks from depth have + 1 to depth, filled with the leaf that
 * stands at path[have], each linked in the one above, but the first: nobody
 * can see them.  Returns the entry that will link them in *link.  ENOMEM.
 */
static int
trie_extend(struct trie *tr, uint32_t prefix, int have, int depth,
    uint32_t *path, uint32_t *link)
{
	uint32_t blk[3], leaf;
	uint32_t i;
	int d, error;

	for (d = have + 1; d <= depth; d++) {
		error = trie_block_alloc(tr, &blk[d]);
		if (error != 0) {
			while (--d > have)
				idxpool_free(&tr->tr_pool, blk[d]);
			return (error);
		}
	}
	leaf = trie_load(tr, path[have]);
	for (d = have + 1; d <= depth; d++) {
		for (i = 0; i < TRIE_BLOCK; i++)
			trie_store(tr, blk[d] * TRIE_BLOCK + i, leaf);
		path[d] = blk[d] * TRIE_BLOCK + trie_bits(prefix, d);
		if (d > have + 1)
			trie_store(tr, path[d - 1], TRIE_CHILD | blk[d]);
	}
	*link = TRIE_CHILD | blk[have + 1];
	return (0);
}

static int
trie_add(void *priv, uint32_t prefix, int plen, uint32_t idx)
{
	struct trie *tr = priv;
	uint32_t link = 0, path[3] = { 0 };
	int d, depth, error, have;

	depth = trie_depth(plen);
	have = trie_walk(tr, prefix, depth, path);
	if (have < depth) {
		error = trie_extend(tr, prefix, have, depth, path, &link);
		if (error != 0)
			return (error);
	}
	trie_fill(tr, path[depth], trie_span(plen), plen,
	    trie_leaf(idx, plen));
	for (d = 1; d <= depth; d++)
		tr->tr_block[path[d] / TRIE_BLOCK].tb_count++;
	if (have < depth)
		trie_store(tr, path[have], link);
	return (0);
}

static void
trie_change(void *priv, uint32_t prefix, int plen, uint32_t idx)
{
	struct trie *tr = priv;
	uint32_t path[3] = { 0 };
	int depth, have;

	depth = trie_depth(plen);
	have = trie_walk(tr, prefix, depth, path);
	KASSERT(have == depth, "prefix of %d bits is not there", plen);
	(void)have;
	trie_fill(tr, path[depth], trie_span(plen), plen,
	    trie_leaf(idx, plen));
}

static void
trie_delete(void *priv, uint32_t prefix, int plen, uint32_t cover,
    int coverlen)
{
	struct trie *tr = priv;
	struct trie_block *tb;
	uint32_t path[3] = { 0 };
	int depth, have;

	depth = trie_depth(plen);
	have = trie_walk(tr, prefix, depth, path);
	KASSERT(have == depth, "prefix of %d bits is not there", plen);
	(void)have;
	trie_fill(tr, path[depth], trie_span(plen), plen,
	    trie_leaf(cover, coverlen));
	for (; depth > 0; depth--) {
		tb = &tr->tr_block[path[depth] / TRIE_BLOCK];
		if (--tb->tb_count != 0)
			continue;
		/* All entries are the same leaf: it says what the block did. */
		trie_store(tr, path[depth - 1], trie_load(tr, path[depth]));
		NET_EPOCH_CALL(trie_block_free_cb, &tb->tb_ctx);
	}
}

/* ---- Lookup ---- */

static inline uint32_t
trie_entry(const _Atomic uint32_t *entry, uint32_t slot)
{
	return (atomic_load_explicit(&entry[slot], memory_order_acquire));
}

/* All ones for a child, else 0. */
static inline uint32_t
trie_mask(uint32_t e)
{
	return ((uint32_t)((int32_t)e >> 31));
}

/* The nexthop of a leaf. */
static inline const struct nhop *
trie_nhop(const fib4_nhop_slot *nhops, uint32_t leaf)
{
	return (atomic_load_explicit(&nhops[leaf >> TRIE_LENBITS],
	    memory_order_acquire));
}

static inline const struct nhop *
trie_lookup1(const _Atomic uint32_t *entry, const fib4_nhop_slot *nhops,
    uint32_t dst)
{
	uint32_t e;

	e = trie_entry(entry, dst >> 16);
	if ((e & TRIE_CHILD) != 0) {
		e = trie_entry(entry, trie_child(e) + (dst >> 8 & 0xff));
		if ((e & TRIE_CHILD) != 0)
			e = trie_entry(entry, trie_child(e) + (dst & 0xff));
	}
	return (trie_nhop(nhops, e));
}

/*
 * A burst, level by level.  The first pass finds for each address the entry at
 * the second level, or the root's own if that is a leaf, by a mask and not by
 * a branch; the second pass reads it.  What lies deeper (or became a child
 * between the passes) is rare and looked up by itself.
 *
 * The first pass asks for the lines of the second.  Loads of the second pass
 * alone would not overlap: a load whose address agrees in its low twelve bits
 * with an earlier store waits for that store, and the stores of this burst
 * wait for its loads.
 */
static void
trie_lookup(const void *priv, const fib4_nhop_slot *nhops,
    const in_addr_t *dst, const struct nhop **nh, unsigned int n)
{
	const _Atomic uint32_t *entry = ((const struct trie *)priv)->tr_entry;
	uint32_t any = 0, below, e, key, root, slot[MBUF_BURST];
	unsigned int i;

	if (n == 1) {
		nh[0] = trie_lookup1(entry, nhops, ntohl(dst[0]));
		return;
	}
	for (i = 0; i < n; i++) {
		key = ntohl(dst[i]);
		root = key >> 16;
		e = trie_entry(entry, root);
		below = trie_child(e) + (key >> 8 & 0xff);
		slot[i] = root ^ ((root ^ below) & trie_mask(e));
		__builtin_prefetch((const void *)(uintptr_t)&entry[slot[i]]);
	}
	for (i = 0; i < n; i++) {
		e = trie_entry(entry, slot[i]);
		any |= e;
		/* The number of a child is not one of a nexthop: take 0. */
		nh[i] = trie_nhop(nhops, e & ~trie_mask(e));
	}
	if (__predict_true((any & TRIE_CHILD) == 0))
		return;
	for (i = 0; i < n; i++)
		if (nh[i] == NULL)
			nh[i] = trie_lookup1(entry, nhops, ntohl(dst[i]));
}

/* ---- Life ---- */

static size_t
trie_memory(const void *priv)
{
	const struct trie *tr = priv;

	return (sizeof(*tr) + tr->tr_entries.ar_used + tr->tr_blocks.ar_used +
	    tr->tr_pool.ip_next.ar_used);
}

static void
trie_fini(void *priv)
{
	struct trie *tr = priv;

	idxpool_fini(&tr->tr_pool);
	arena_fini(&tr->tr_blocks);
	arena_fini(&tr->tr_entries);
	free(tr);
}

static int
trie_init(void **privp)
{
	struct trie *tr;
	int error;

	if ((tr = calloc(1, sizeof(*tr))) == NULL)
		return (ENOMEM);
	error = arena_init(&tr->tr_entries,
	    (size_t)TRIE_MAXBLOCKS * TRIE_BLOCK * sizeof(uint32_t), TRIE_STEP);
	if (error == 0)
		error = arena_init(&tr->tr_blocks,
		    (size_t)TRIE_MAXBLOCKS * sizeof(struct trie_block),
		    (size_t)64 << 10);
	if (error == 0)
		error = idxpool_init(&tr->tr_pool, TRIE_FIRST, TRIE_MAXBLOCKS);
	if (error == 0)
		error = arena_grow(&tr->tr_entries,
		    TRIE_ROOT * sizeof(uint32_t));
	if (error != 0) {
		trie_fini(tr);
		return (error);
	}
	tr->tr_entry = (void *)tr->tr_entries.ar_base;
	tr->tr_block = (void *)tr->tr_blocks.ar_base;
	*privp = tr;
	return (0);
}

const struct fib4_module fib4_trie = {
	.fm_name = "trie16_8_8",
	.fm_descr = "multibit trie, strides of 16, 8 and 8 bits",
	.fm_init = trie_init,
	.fm_fini = trie_fini,
	.fm_add = trie_add,
	.fm_change = trie_change,
	.fm_delete = trie_delete,
	.fm_lookup = trie_lookup,
	.fm_memory = trie_memory,
};
