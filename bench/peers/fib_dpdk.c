/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * bench_fib's rivals from DPDK: rte_lpm and rte_fib (DIR-24-8, 2-byte entries),
 * in 4 KiB pages as our own structure.  One rte_fib serves two rows, scalar
 * and AVX-512: the lookup function is chosen before each slice.
 */
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_fib.h>
#include <rte_lpm.h>
#include <rte_malloc.h>

#include <stdbool.h>
#include <stdio.h>

#include "fib_subject.h"

/* rte_lpm searches its rules one by one: above this it loads for a minute. */
#define	LPM_MAXROUTES	200000u

#define	NTBL8		1023u	/* groups for what is longer than /24 */

static struct rte_lpm *lpm;
static struct rte_fib *fib;
static double lpm_mib, fib_mib;

static double
heap_mib(void)
{
	struct rte_malloc_socket_stats st;

	if (rte_malloc_get_socket_stats(0, &st) != 0)
		return (0);
	return ((double)st.heap_allocsz_bytes / (1 << 20));
}

/* DPDK's own start, once; false: not on this machine, and it says why. */
static bool
dpdk_init(void)
{
	static char words[][32] = { "bench_fib", "--no-huge", "--no-pci",
	    "--no-shconf", "--no-telemetry", "-m", "768", "--log-level=3",
	    "--force-max-simd-bitwidth=512" };
	static char *argv[sizeof(words) / sizeof(words[0]) + 1];
	static int state;		/* 0: not tried, 1: up, -1: failed */
	int argc = sizeof(words) / sizeof(words[0]);

	if (state != 0)
		return (state > 0);
	for (int i = 0; i < argc; i++)
		argv[i] = words[i];
	state = rte_eal_init(argc, argv) < 0 ? -1 : 1;
	if (state < 0)
		printf("no DPDK: %s\n", rte_strerror(rte_errno));
	return (state > 0);
}

/* ---- rte_lpm ---- */

static int
lpm_add(const struct bench_route *r)
{
	return (rte_lpm_add(lpm, r->br_prefix, r->br_len, r->br_nh));
}

static int
lpm_delete(const struct bench_route *r)
{
	return (rte_lpm_delete(lpm, r->br_prefix, r->br_len));
}

static int
lpm_load(void)
{
	const struct rte_lpm_config conf = {
		.max_rules = bench_nroutes + 4096,
		.number_tbl8s = NTBL8 + 1,
	};
	int failed = 0;

	if (bench_nroutes > LPM_MAXROUTES || !dpdk_init())
		return (-1);
	lpm_mib = heap_mib();
	if ((lpm = rte_lpm_create("bench", 0, &conf)) == NULL)
		return (-1);
	for (unsigned int i = 0; i < bench_nroutes; i++)
		failed += lpm_add(&bench_routes[i]) != 0;
	lpm_mib = heap_mib() - lpm_mib;
	return (failed);
}

static void
lpm_burst(const uint32_t *host, const uint32_t *net)
{
	uint32_t nh[4];
	uint64_t sum = 0;

	for (unsigned int i = 0; i < FIB_BURST; i += 4) {
		rte_lpm_lookupx4(lpm, _mm_loadu_si128((const void *)(host + i)),
		    nh, 0);
		sum += nh[0] + nh[1] + nh[2] + nh[3];
	}
	fib_sink += sum;
}

static void
lpm_single(const uint32_t *host, const uint32_t *net)
{
	uint32_t nh = 0;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < FIB_BURST; i++) {
		if (rte_lpm_lookup(lpm, host[i], &nh) == 0)
			sum += nh;
	}
	fib_sink += sum;
}

static unsigned int
lpm_nexthop(uint32_t host)
{
	uint32_t nh = 0;

	return (rte_lpm_lookup(lpm, host, &nh) == 0 ? nh : BENCH_DISCARD);
}

static double
lpm_memory(void)
{
	return (lpm_mib);
}

static const struct fib_subject dpdk_lpm = {
	.fs_name = "rte_lpm, lookupx4",
	.fs_load = lpm_load,
	.fs_burst = lpm_burst,
	.fs_single = lpm_single,
	.fs_nexthop = lpm_nexthop,
	.fs_delete = lpm_delete,
	.fs_add = lpm_add,
	.fs_memory = lpm_memory,
};

/* ---- rte_fib ---- */

static int
fib_add(const struct bench_route *r)
{
	return (rte_fib_add(fib, r->br_prefix, r->br_len, r->br_nh));
}

static int
fib_delete(const struct bench_route *r)
{
	return (rte_fib_delete(fib, r->br_prefix, r->br_len));
}

static int
fib_load(void)
{
	struct rte_fib_conf conf = {
		.type = RTE_FIB_DIR24_8,
		.max_routes = (int)bench_nroutes + 4096,
		.dir24_8.nh_sz = RTE_FIB_DIR24_8_2B,
		.dir24_8.num_tbl8 = NTBL8,
	};
	int failed = 0;

	if (!dpdk_init())
		return (-1);
	fib_mib = heap_mib();
	if ((fib = rte_fib_create("bench", 0, &conf)) == NULL)
		return (-1);
	for (unsigned int i = 0; i < bench_nroutes; i++)
		failed += fib_add(&bench_routes[i]) != 0;
	fib_mib = heap_mib() - fib_mib;
	return (failed);
}

static void
fib_begin(void)
{
	(void)rte_fib_select_lookup(fib, RTE_FIB_LOOKUP_DIR24_8_SCALAR_MACRO);
}

static void
fib_burst(const uint32_t *host, const uint32_t *net)
{
	uint64_t nh[FIB_BURST], sum = 0;

	rte_fib_lookup_bulk(fib, (uint32_t *)(uintptr_t)host, nh, FIB_BURST);
	for (unsigned int i = 0; i < FIB_BURST; i++)
		sum += nh[i];
	fib_sink += sum;
}

static unsigned int
fib_nexthop(uint32_t host)
{
	uint64_t nh;

	(void)rte_fib_lookup_bulk(fib, &host, &nh, 1);
	return ((unsigned int)nh);
}

static double
fib_memory(void)
{
	return (fib_mib);
}

static const struct fib_subject dpdk_fib = {
	.fs_name = "rte_fib, scalar",
	.fs_load = fib_load,
	.fs_begin = fib_begin,
	.fs_burst = fib_burst,
	.fs_nexthop = fib_nexthop,
	.fs_delete = fib_delete,
	.fs_add = fib_add,
	.fs_memory = fib_memory,
};

/* The same table: it must come behind dpdk_fib. */
static int
fib_load_avx512(void)
{
	if (fib == NULL || rte_fib_select_lookup(fib,
	    RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512) != 0)
		return (-1);
	return (0);
}

static void
fib_begin_avx512(void)
{
	(void)rte_fib_select_lookup(fib, RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512);
}

static const struct fib_subject dpdk_fib_avx512 = {
	.fs_name = "rte_fib, AVX-512",
	.fs_load = fib_load_avx512,
	.fs_begin = fib_begin_avx512,
	.fs_burst = fib_burst,
	.fs_nexthop = fib_nexthop,
	.fs_memory = fib_memory,
};

const struct fib_subject *const fib_dpdk[] = {
	&dpdk_lpm, &dpdk_fib, &dpdk_fib_avx512, NULL
};
