/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * dpdk_l3: an IPv4 forwarder written for DPDK 22.11 in the manner of its
 * l3fwd example (burst, prefetch, per-port transmit buffers), which Debian
 * does not package.  The rival of the forwarding benchmarks, in memory and,
 * with --eth, between real ports.
 *
 * Per frame: frame length, destination address is the port's, type, version,
 * header length (with options: off this path), total length against 20 and
 * the frame, header checksum, TTL above 1, longest-prefix match with martian
 * prefixes as discard routes, MTU of the next hop; TTL - 1 with incremental
 * checksum, both addresses, transmit buffer of a burst.  Built twice: with
 * the ordinary loop and, where the CPU has AVX-512, with a vector one.
 * Everything here belongs to the one forwarding thread.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_debug.h>
#include <rte_eal.h>

#include "dpdk_l3.h"

struct l3_conf l3_conf = {
	.c_routes = 1, .c_flows = 1, .c_burst = 64, .c_secs = 1,
};
struct l3_nexthop l3_nexthops[BENCH_NNEXTHOPS + 1] = {
	[BENCH_DISCARD] = { .nh_port = L3_NOPORT },
};
struct l3_txbuf l3_txbufs[L3_NPORTS];
__m128i l3_expect[L3_NPORTS];
struct rte_mempool *l3_pool;
uint64_t l3_drops, l3_sent[L3_NPORTS];
void (*l3_flush)(unsigned int port, struct rte_mbuf **m, unsigned int n);
volatile sig_atomic_t l3_stop;

static const struct option options[] = {
	{ "routes", required_argument, NULL, 'r' },
	{ "flows", required_argument, NULL, 'f' },
	{ "table", required_argument, NULL, 't' },
	{ "burst", required_argument, NULL, 'b' },
	{ "secs", required_argument, NULL, 's' },
	{ "inflight", required_argument, NULL, 'i' },
	{ "bad-every", required_argument, NULL, 'B' },
	{ "map", required_argument, NULL, 'm' },
	{ "base", no_argument, NULL, 'w' },
	{ "verify", no_argument, NULL, 'v' },
	{ "eth", no_argument, NULL, 'e' },
	{ NULL, 0, NULL, 0 },
};

static void
onsignal(int sig)
{
	(void)sig;
	l3_stop = 1;
}

double
l3_now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ((double)ts.tv_sec + (double)ts.tv_nsec * 1e-9);
}

static unsigned int
number(const char *name, unsigned int lo, unsigned int hi)
{
	unsigned long v;
	char *rest;

	v = strtoul(optarg, &rest, 10);
	if (*optarg == '\0' || *rest != '\0' || v < lo || v > hi)
		rte_exit(1, "%s: %u to %u\n", name, lo, hi);
	return ((unsigned int)v);
}

/* True if it is to run between real ports. */
static bool
parse_options(int argc, char **argv)
{
	struct l3_conf *c = &l3_conf;
	bool eth = false;
	int ch;

	optind = 1;
	while ((ch = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (ch) {
		case 'r':
			c->c_routes = number("routes", 1, 4000000);
			break;
		case 'f':
			c->c_flows = number("flows", 1, 1 << 23);
			break;
		case 't':
			c->c_table = strcmp(optarg, "fib") == 0 ? L3_FIB :
			    L3_LPM;
			break;
		case 'b':
			c->c_burst = number("burst", 1, L3_MAXBURST / 2);
			break;
		case 's':
			c->c_secs = atof(optarg);
			break;
		case 'i':
			c->c_inflight = number("inflight", 0, 3072);
			break;
		case 'B':
			c->c_badevery = number("bad-every", 0, 1000000);
			break;
		case 'm':
			c->c_map = optarg;
			break;
		case 'w':
			c->c_base = true;
			break;
		case 'v':
			c->c_verify = true;
			break;
		case 'e':
			eth = true;
			break;
		default:
			rte_exit(1, "bad option\n");
		}
	}
	return (eth);
}

int
main(int argc, char **argv)
{
	bool eth;
	int used;

	used = rte_eal_init(argc, argv);
	if (used < 0)
		rte_exit(1, "EAL\n");
	eth = parse_options(argc - used, argv + used);
	signal(SIGINT, onsignal);
	signal(SIGTERM, onsignal);
	l3_pool = rte_pktmbuf_pool_create("dpdk_l3", eth ? 16383 : 4095, 512,
	    0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (l3_pool == NULL)
		rte_exit(1, "no memory for mbufs\n");
	if (eth)
		l3_eth_run();
	else
		l3_mem_run();
	return (0);
}
