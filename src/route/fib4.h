/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The IPv4 lookup structure: a module that maps an address to a number, and
 * the table that maps the number to a nexthop.
 *
 * A module is written by one thread at a time (the configuration lock is its)
 * while any number of threads read it inside the net epoch.  Whatever is
 * added, changed or deleted, a reader never gets a wrong answer for an address
 * whose best prefix did not change, and for one whose best prefix did change
 * it gets the old answer or the new.  A number is not given to another nexthop
 * before a grace period has passed since it left the module.
 */
#ifndef _ROUTE_FIB4_H_
#define	_ROUTE_FIB4_H_

#include <netinet/in.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "route/arena.h"

struct nhop;

/* The nexthop of a number; [0] is NULL. */
typedef _Atomic(struct nhop *) fib4_nhop_slot;

#define	FIB4_NONE	0u		/* the number of "no route" */
#define	FIB4_MAXNHOPS	(1u << 20)	/* numbers are below it */

/* Prefixes in host order.  Writers: configuration lock held, no epoch. */
struct fib4_module {
	const char	*fm_name;
	const char	*fm_descr;
	/* An empty table; ENOMEM. */
	int	(*fm_init)(void **privp);
	/* No reader is left and all callbacks have run. */
	void	(*fm_fini)(void *priv);
	/* A prefix that is not there yet; ENOMEM changes nothing. */
	int	(*fm_add)(void *priv, uint32_t prefix, int plen,
		    uint32_t idx);
	/* Another number for a prefix that is there.  Cannot fail. */
	void	(*fm_change)(void *priv, uint32_t prefix, int plen,
		    uint32_t idx);
	/*
	 * Remove a prefix that is there.  cover and coverlen: the number and
	 * the length of the longest prefix that holds it; FIB4_NONE, 0 when
	 * there is none.  Cannot fail.
	 */
	void	(*fm_delete)(void *priv, uint32_t prefix, int plen,
		    uint32_t cover, int coverlen);
	/*
	 * n <= MBUF_BURST addresses in network order to what nhops has at
	 * their numbers.  Inside the epoch.
	 */
	void	(*fm_lookup)(const void *priv,
		    const fib4_nhop_slot *nhops, const in_addr_t *dst,
		    const struct nhop **nh, unsigned int n);
	/* Bytes in use, side tables included. */
	size_t	(*fm_memory)(const void *priv);
};

extern const struct fib4_module fib4_trie;

/* Keys: c = the configuration lock, e = net epoch. */
struct fib4 {
	const struct fib4_module *fib_module; /* (c) */
	void		*fib_priv;	/* (c) the module's */
	fib4_nhop_slot	*fib_nhops;	/* (e/c) by number */
	struct arena	 fib_nharena;	/* (c) fib_nhops lies in it */
};

int	fib4_alloc(const struct fib4_module *fm, struct fib4 **fibp);
void	fib4_free(struct fib4 *fib);
int	fib4_nhop_set(struct fib4 *fib, uint32_t idx, struct nhop *nh);
void	fib4_nhop_clear(struct fib4 *fib, uint32_t idx);
size_t	fib4_memory(const struct fib4 *fib);

#endif /* _ROUTE_FIB4_H_ */
