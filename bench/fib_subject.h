/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What bench_fib asks of a lookup structure.  One thread; the routes are
 * those of routes.h.
 */
#ifndef _BENCH_FIB_SUBJECT_H_
#define	_BENCH_FIB_SUBJECT_H_

#include <stdint.h>

#include "routes.h"

#define	FIB_BURST	64

struct fib_subject {
	const char	*fs_name;
	/* Take all routes; how many could not be taken, -1: unavailable. */
	int		(*fs_load)(void);
	/* Before a slice; NULL: nothing to do. */
	void		(*fs_begin)(void);
	/* A burst of FIB_BURST keys, in host and in network order. */
	void		(*fs_burst)(const uint32_t *host, const uint32_t *net);
	/* FIB_BURST calls of one key; NULL: it has no such call. */
	void		(*fs_single)(const uint32_t *host, const uint32_t *net);
	/* The next hop of a key, for verification; not timed. */
	unsigned int	(*fs_nexthop)(uint32_t host);
	/* One route less, one more; 0.  NULL: not timed here. */
	int		(*fs_delete)(const struct bench_route *r);
	int		(*fs_add)(const struct bench_route *r);
	double		(*fs_memory)(void);	/* MiB */
};

/* Filled by fib_subject_netepoch.c and peers/fib_dpdk.c. */
extern const struct fib_subject fib_netepoch;
extern const struct fib_subject *const fib_dpdk[];	/* NULL at the end */

/* What the timed loops leave, so that no compiler drops them. */
extern volatile uint64_t fib_sink;

#endif /* _BENCH_FIB_SUBJECT_H_ */
