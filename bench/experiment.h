/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the parts of bench_experiment share: the machine with its traffic
 * (bench_experiment.c), those who change it and wait for the epoch meanwhile
 * (experiment_change.c), and figures from many samples.
 */
#ifndef _BENCH_EXPERIMENT_H_
#define	_BENCH_EXPERIMENT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/forward_lab.h"

/* Times in nanoseconds; the first that fit, one writer. */
struct samples {
	uint32_t	*sa_ns;
	size_t		 sa_n;
	size_t		 sa_max;
	uint64_t	 sa_longest;	/* of all */
};
void	samples_init(struct samples *sa, size_t max);
void	samples_add(struct samples *sa, uint64_t ns);
/* ,"name":{n, median, p99 and max in microseconds}; sorts them. */
void	samples_print(struct samples *sa, const char *name);

/* What changes, each by its rate: adds, and as many deletes, a second. */
struct change_conf {
	unsigned int	 cc_routes;
	unsigned int	 cc_neighbours;
	unsigned int	 cc_interfaces;
	unsigned int	 cc_nodes;
	bool		 cc_wait;	/* for grace periods, and time them */
	int		 cc_cpu;	/* for all these threads */
};

/*
 * Begin to change the machine, and to wait for grace periods with pauses; as
 * cc says, and with no thread for what it does not.  Exits if a change
 * fails.
 */
void	change_start(struct lab *lab, const struct change_conf *cc);
/* End it, with all that was added taken away; secs: since the start. */
void	change_stop(double secs);
/* JSON members: what was changed, grace periods, backlog. */
void	change_print(void);

#endif /* _BENCH_EXPERIMENT_H_ */
