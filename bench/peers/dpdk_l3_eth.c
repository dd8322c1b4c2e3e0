/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * dpdk_l3 between two DPDK ports, in the order of the --vdev options, with
 * the one route that --map gives.  Prints "ready", runs, prints one line.  One
 * thread, as everywhere in this program.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <rte_debug.h>
#include <rte_ethdev.h>

#include "dpdk_l3.h"

#define	NDESC	1024		/* of each ring */

static uint64_t txdrops;

static __rte_noinline void
eth_flush(unsigned int port, struct rte_mbuf **m, unsigned int n)
{
	unsigned int done;

	done = rte_eth_tx_burst((uint16_t)port, 0, m, (uint16_t)n);
	if (done < n)		/* once more, then drop */
		done += rte_eth_tx_burst((uint16_t)port, 0, m + done,
		    (uint16_t)(n - done));
	l3_sent[port] += done;
	if (done < n) {
		txdrops += n - done;
		rte_pktmbuf_free_bulk(m + done, n - done);
	}
}

static void
port_start(unsigned int port)
{
	const uint16_t id = (uint16_t)port;
	struct rte_eth_conf conf;
	struct rte_ether_addr mac;
	uint8_t expect[16] = { 0 };

	memset(&conf, 0, sizeof(conf));
	if (rte_eth_dev_configure(id, 1, 1, &conf) != 0 ||
	    rte_eth_rx_queue_setup(id, 0, NDESC, 0, NULL, l3_pool) != 0 ||
	    rte_eth_tx_queue_setup(id, 0, NDESC, 0, NULL) != 0 ||
	    rte_eth_dev_start(id) != 0 ||
	    rte_eth_macaddr_get(id, &mac) != 0)
		rte_exit(1, "port %u does not start\n", port);
	(void)rte_eth_promiscuous_enable(id);
	memcpy(expect, &mac, 6);
	expect[12] = 0x08;
	expect[14] = 0x45;
	l3_expect[port] = _mm_loadu_si128((const void *)expect);
}

/* "198.18.0.0/15,1,02:00:00:00:0b:99": prefix, port, next hop's address. */
static void
map_add(const char *map)
{
	struct rte_ether_addr own;
	unsigned int ip[4], len, mac[6], port;
	uint8_t eth[16] = { 0 };

	if (map == NULL || sscanf(map,
	    "%u.%u.%u.%u/%u,%u,%x:%x:%x:%x:%x:%x", &ip[0], &ip[1], &ip[2],
	    &ip[3], &len, &port, &mac[0], &mac[1], &mac[2], &mac[3], &mac[4],
	    &mac[5]) != 12 || len == 0 || len > 32 || port >= L3_NPORTS)
		rte_exit(1, "--map prefix/length,port,mac\n");
	if (rte_eth_macaddr_get((uint16_t)port, &own) != 0)
		rte_exit(1, "port %u has no address\n", port);
	for (int i = 0; i < 6; i++)
		eth[i] = (uint8_t)mac[i];
	memcpy(eth + 6, &own, 6);
	eth[12] = 0x08;
	l3_nexthops[1].nh_eth = _mm_loadu_si128((const void *)eth);
	l3_nexthops[1].nh_port = (uint16_t)port;
	l3_nexthops[1].nh_mtu = 1500;
	bench_routes_add(ip[0] << 24 | ip[1] << 16 | ip[2] << 8 | ip[3], len,
	    1);
}

static void
flush_all(void)
{
	for (unsigned int q = 0; q < L3_NPORTS; q++) {
		if (l3_txbufs[q].t_n != 0)
			eth_flush(q, l3_txbufs[q].t_m, l3_txbufs[q].t_n);
		l3_txbufs[q].t_n = 0;
	}
}

/* Poll until the time is up; frames received. */
static uint64_t
loop(void)
{
	const double end = l3_now(CLOCK_MONOTONIC) + l3_conf.c_secs;
	struct rte_mbuf *m[L3_MAXBURST + L3_SLACK];
	uint64_t polls = 0, rx = 0;
	unsigned int n;

	while (l3_stop == 0) {
		for (unsigned int p = 0; p < L3_NPORTS; p++) {
			n = rte_eth_rx_burst((uint16_t)p, 0, m,
			    (uint16_t)l3_conf.c_burst);
			rx += n;
			if (n != 0)
				l3_route_burst(m, n, p);
			if (n < l3_conf.c_burst)
				flush_all();
		}
		if ((++polls & 0x1ff) == 0 &&
		    l3_now(CLOCK_MONOTONIC) > end)
			break;
	}
	return (rx);
}

void
l3_eth_run(void)
{
	uint64_t rx, tx;
	double c, t;

	if (rte_eth_dev_count_avail() != L3_NPORTS)
		rte_exit(1, "give %u --vdev\n", L3_NPORTS);
	for (unsigned int p = 0; p < L3_NPORTS; p++)
		port_start(p);
	bench_routes_make(0);
	map_add(l3_conf.c_map);
	l3_table_build();
	l3_flush = eth_flush;
	puts("ready");
	fflush(stdout);
	t = l3_now(CLOCK_MONOTONIC);
	c = l3_now(CLOCK_THREAD_CPUTIME_ID);
	rx = loop();
	t = l3_now(CLOCK_MONOTONIC) - t;
	c = l3_now(CLOCK_THREAD_CPUTIME_ID) - c;
	tx = l3_sent[0] + l3_sent[1];
	printf("dpdk_l3 loop=%s rx=%lu tx=%lu drops=%lu txdrops=%lu "
	    "kpps=%.0f ns=%.0f\n", l3_loop, rx, tx, l3_drops, txdrops,
	    (double)tx / t / 1e3, tx != 0 ? c * 1e9 / (double)tx : 0.0);
	for (unsigned int p = 0; p < L3_NPORTS; p++) {
		(void)rte_eth_dev_stop((uint16_t)p);
		(void)rte_eth_dev_close((uint16_t)p);
	}
}
