/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A binary trie with path compression over IPv4 prefixes (Morrison 1968,
 * without the skip counts: a node holds its whole key).  At most one
 * branching point per prefix, so memory is linear in the number of routes.
 * The caller holds the configuration lock.
 */

#include "route/radix.h"

#include <stdlib.h>

/* Bit n of key, counted from the most significant. */
static inline unsigned int
radix_bit(uint32_t key, int n)
{
	return (key >> (31 - n) & 1);
}

/* How many leading bits, at most max, two keys share. */
static inline int
radix_common(uint32_t a, uint32_t b, int max)
{
	int n;

	if (a == b)
		return (max);
	n = __builtin_clz(a ^ b);
	return (n < max ? n : max);
}

/* The pointer that points to rn. */
static struct rt_node **
radix_link(struct rt_node **root, struct rt_node *rn)
{
	struct rt_node *up = rn->rn_parent;

	return (up == NULL ? root : &up->rn_child[up->rn_child[1] == rn]);
}

/* The node of exactly this prefix that has a nexthop, or NULL. */
struct rt_node *
radix_find(struct rt_node *root, uint32_t key, int plen)
{
	struct rt_node *rn = root;

	while (rn != NULL && rn->rn_plen < plen)
		rn = rn->rn_child[radix_bit(key, rn->rn_plen)];
	if (rn == NULL || rn->rn_plen != plen || rn->rn_key != key ||
	    rn->rn_nh == NULL)
		return (NULL);
	return (rn);
}

/* The longest prefix with a nexthop that holds the address key, or NULL. */
struct rt_node *
radix_match(struct rt_node *root, uint32_t key)
{
	struct rt_node *best = NULL, *rn = root;

	while (rn != NULL &&
	    ((key ^ rn->rn_key) & radix_mask(rn->rn_plen)) == 0) {
		if (rn->rn_nh != NULL)
			best = rn;
		if (rn->rn_plen == 32)
			break;
		rn = rn->rn_child[radix_bit(key, rn->rn_plen)];
	}
	return (best);
}

/* The longest shorter prefix with a nexthop that holds rn's, or NULL. */
struct rt_node *
radix_cover(const struct rt_node *rn)
{
	struct rt_node *up;

	for (up = rn->rn_parent; up != NULL; up = up->rn_parent)
		if (up->rn_nh != NULL)
			return (up);
	return (NULL);
}

static struct rt_node *
radix_node_alloc(uint32_t key, int plen, struct rt_node *parent)
{
	struct rt_node *rn;

	if ((rn = calloc(1, sizeof(*rn))) == NULL)
		return (NULL);
	rn->rn_key = key & radix_mask(plen);
	rn->rn_plen = plen;
	rn->rn_parent = parent;
	return (rn);
}

/* Let child hang from rn. */
static void
radix_adopt(struct rt_node *rn, struct rt_node *child)
{
	rn->rn_child[radix_bit(child->rn_key, rn->rn_plen)] = child;
	child->rn_parent = rn;
}

/*
 * The node of a prefix (host bits of key zero), made if it is not there.  Its
 * rn_nh is the caller's to set: a node is a route when it is not NULL.  The
 * caller removes a node that it leaves without one.  NULL: no memory, nothing
 * changed.
 */
struct rt_node *
radix_insert(struct rt_node **root, uint32_t key, int plen)
{
	struct rt_node *fork, *new, *parent = NULL, *rn, **link = root;
	int common = 0;

	while ((rn = *link) != NULL) {
		common = radix_common(key, rn->rn_key,
		    plen < rn->rn_plen ? plen : rn->rn_plen);
		if (common < rn->rn_plen)
			break;
		if (rn->rn_plen == plen)
			return (rn);
		parent = rn;
		link = &rn->rn_child[radix_bit(key, rn->rn_plen)];
	}
	if ((new = radix_node_alloc(key, plen, parent)) == NULL)
		return (NULL);
	if (rn == NULL) {
		*link = new;
		return (new);
	}
	if (common == plen) {		/* rn's prefix lies in ours */
		radix_adopt(new, rn);
		*link = new;
		return (new);
	}
	if ((fork = radix_node_alloc(key, common, parent)) == NULL) {
		free(new);
		return (NULL);
	}
	radix_adopt(fork, rn);
	radix_adopt(fork, new);
	*link = fork;
	return (new);
}

/* Take out a node without nexthop that has at most one child. */
static void
radix_splice(struct rt_node **root, struct rt_node *rn)
{
	struct rt_node *child;

	child = rn->rn_child[0] != NULL ? rn->rn_child[0] : rn->rn_child[1];
	*radix_link(root, rn) = child;
	if (child != NULL)
		child->rn_parent = rn->rn_parent;
	free(rn);
}

/*
 * The prefix rn is no route any more; rn is gone.  Frees neither the node that
 * radix_next() gave for rn before, nor any later one.
 */
void
radix_remove(struct rt_node **root, struct rt_node *rn)
{
	struct rt_node *up = rn->rn_parent;

	rn->rn_nh = NULL;
	if (rn->rn_child[0] != NULL && rn->rn_child[1] != NULL)
		return;			/* still where two part */
	radix_splice(root, rn);
	if (up != NULL && up->rn_nh == NULL &&
	    (up->rn_child[0] == NULL || up->rn_child[1] == NULL))
		radix_splice(root, up);
}

/* The node after rn and all below it.  NULL at the end. */
static struct rt_node *
radix_skip(const struct rt_node *rn)
{
	const struct rt_node *up;

	for (up = rn->rn_parent; up != NULL; rn = up, up = up->rn_parent)
		if (up->rn_child[0] == rn && up->rn_child[1] != NULL)
			return (up->rn_child[1]);
	return (NULL);
}

/*
 * The node after rn in order of key, then length; branching points come up,
 * too.  Begin at the root.  NULL at the end.
 */
struct rt_node *
radix_next(const struct rt_node *rn)
{
	if (rn->rn_child[0] != NULL)
		return (rn->rn_child[0]);
	if (rn->rn_child[1] != NULL)
		return (rn->rn_child[1]);
	return (radix_skip(rn));
}

/*
 * The first node in that order that is not before the prefix (host bits of key
 * zero), which need not be there.  NULL: all are before it.
 */
struct rt_node *
radix_seek(struct rt_node *root, uint32_t key, int plen)
{
	struct rt_node *rn = root, *up = NULL;
	int common;

	while (rn != NULL) {
		common = radix_common(key, rn->rn_key,
		    plen < rn->rn_plen ? plen : rn->rn_plen);
		if (common == plen)	/* rn is the prefix, or lies in it */
			return (rn);
		if (common < rn->rn_plen)	/* they part at this bit */
			return (radix_bit(key, common) == 0 ? rn :
			    radix_skip(rn));
		up = rn;		/* rn holds the prefix: go down */
		rn = up->rn_child[radix_bit(key, up->rn_plen)];
	}
	if (up == NULL)
		return (NULL);
	/* Where the prefix would hang from up, nothing does. */
	if (radix_bit(key, up->rn_plen) == 0 && up->rn_child[1] != NULL)
		return (up->rn_child[1]);
	return (radix_skip(up));
}
