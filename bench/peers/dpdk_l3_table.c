/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * dpdk_l3's lookup: the routes, loaded into rte_lpm or rte_fib before
 * forwarding starts.
 */
#include <rte_debug.h>

#include "dpdk_l3.h"

struct rte_lpm *l3_lpm;
struct rte_fib *l3_fib;

static void
lpm_build(void)
{
	const struct rte_lpm_config conf = {
		.max_rules = bench_nroutes + 64, .number_tbl8s = 1024,
	};
	const struct bench_route *r;

	l3_lpm = rte_lpm_create("dpdk_l3", 0, &conf);
	if (l3_lpm == NULL)
		rte_exit(1, "rte_lpm_create\n");
	for (unsigned int i = 0; i < bench_nroutes; i++) {
		r = &bench_routes[i];
		if (rte_lpm_add(l3_lpm, r->br_prefix, r->br_len,
		    r->br_nh) != 0)
			rte_exit(1, "rte_lpm_add: route %u\n", i);
	}
}

static void
fib_build(void)
{
	struct rte_fib_conf conf = {
		.type = RTE_FIB_DIR24_8, .default_nh = BENCH_DISCARD,
		.max_routes = (int)bench_nroutes + 64,
		.dir24_8 = { .nh_sz = RTE_FIB_DIR24_8_1B, .num_tbl8 = 127 },
	};
	const struct bench_route *r;

	l3_fib = rte_fib_create("dpdk_l3", 0, &conf);
	if (l3_fib == NULL)
		rte_exit(1, "rte_fib_create\n");
	for (unsigned int i = 0; i < bench_nroutes; i++) {
		r = &bench_routes[i];
		if (rte_fib_add(l3_fib, r->br_prefix, r->br_len,
		    r->br_nh) != 0)
			rte_exit(1, "rte_fib_add: route %u\n", i);
	}
}

void
l3_table_build(void)
{
	if (l3_conf.c_table == L3_LPM)
		lpm_build();
	else
		fib_build();
}
