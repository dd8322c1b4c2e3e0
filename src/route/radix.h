/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The table of control: a binary trie with path compression, in which a node
 * is a prefix or a point where two prefixes part.  It knows what was asked
 * for; the packet path never looks at it.
 *
 * No locks of its own, no callbacks: the caller holds the configuration lock
 * (key c).
 */
#ifndef _ROUTE_RADIX_H_
#define	_ROUTE_RADIX_H_

#include <stdint.h>

struct nhop;

struct rt_node {
	struct rt_node	*rn_parent;	/* (c) */
	struct rt_node	*rn_child[2];	/* (c) by the bit after rn_plen */
	struct nhop	*rn_nh;		/* (c) NULL: only a branching point */
	uint32_t	 rn_key;	/* (c) host order, other bits zero */
	int		 rn_plen;	/* (c) 0 to 32 */
};

struct rt_node	*radix_find(struct rt_node *root, uint32_t key, int plen);
struct rt_node	*radix_match(struct rt_node *root, uint32_t key);
struct rt_node	*radix_cover(const struct rt_node *rn);
struct rt_node	*radix_insert(struct rt_node **root, uint32_t key, int plen);
void		 radix_remove(struct rt_node **root, struct rt_node *rn);
struct rt_node	*radix_next(const struct rt_node *rn);
struct rt_node	*radix_seek(struct rt_node *root, uint32_t key, int plen);

/* The mask of a prefix length of 0 to 32, in host order. */
static inline uint32_t
radix_mask(int plen)
{
	return (plen == 0 ? 0 : ~0u << (32 - plen));
}

#endif /* _ROUTE_RADIX_H_ */
