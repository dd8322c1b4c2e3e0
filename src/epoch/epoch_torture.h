/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * Between the torture harness and what it tortures: libepoch in its kinds,
 * other reclamation libraries to show that the harness itself is right, and
 * deliberately broken ones to show that it would notice.
 */
#ifndef EPOCH_TORTURE_H
#define	EPOCH_TORTURE_H

#include <stdbool.h>
#include <stdint.h>

#define	TORTURE_DOMAINS	2

struct torture_node {
	uint64_t	 n_hook[4];	/* the library's context lies here */
	uint64_t	 n_canary;
	uint64_t	 n_check;	/* ~n_canary while alive */
	struct torture_node *n_next;	/* of the dead, when they are kept */
};

/* Each function takes the domain, 0 or 1; one-domain libraries ignore it. */
struct torture_smr {
	const char	*s_name;
	bool		 s_broken;	/* must be caught */
	bool		 s_signals;	/* handlers may enter */
	void		(*s_init)(void);
	void		(*s_fini)(void);	/* and drain */
	void		(*s_thread_init)(void);
	void		(*s_thread_fini)(void);
	void		(*s_enter)(int);
	void		(*s_exit)(int);
	void		(*s_wait)(int);
	void		(*s_defer)(int, struct torture_node *);
	void		(*s_poll)(int);
};

/* The grace period is over: to be called once for each deferred node. */
void	 torture_reclaim(struct torture_node *);

/* Every scheme of epoch_torture_peers.c; ends with a NULL name. */
extern const struct torture_smr torture_peers[];

#endif /* EPOCH_TORTURE_H */
