/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the port probes share: clocks, MAC addresses, and the work of an IPv4
 * router on one frame with one next hop.  A probe measures what a port costs,
 * so there is no lookup; every check a router owes is made (RFC 1812, 5.2.2).
 * Everything here is for one thread.
 */
#ifndef _BENCH_PROBE_H_
#define	_BENCH_PROBE_H_

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct probe_nexthop {
	uint8_t	pn_own[6];	/* our address on the input interface */
	uint8_t	pn_eth[12];	/* destination and source to write */
};

static inline double
probe_now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ((double)ts.tv_sec + (double)ts.tv_nsec * 1e-9);
}

/* Read "02:00:00:00:0a:01"; false if it is not of that form. */
static inline bool
probe_mac_parse(const char *s, uint8_t *mac)
{
	unsigned int v[6];

	if (sscanf(s, "%2x:%2x:%2x:%2x:%2x:%2x", &v[0], &v[1], &v[2], &v[3],
	    &v[4], &v[5]) != 6)
		return (false);
	for (int i = 0; i < 6; i++)
		mac[i] = (uint8_t)v[i];
	return (true);
}

/* The Ethernet address of a Linux interface; false if there is none. */
static inline bool
probe_mac_get(const char *ifname, uint8_t *mac)
{
	struct ifreq ifr = { 0 };
	int error, s;

	s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s < 0)
		return (false);
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", ifname);
	error = ioctl(s, SIOCGIFHWADDR, &ifr);
	close(s);
	if (error != 0)
		return (false);
	memcpy(mac, ifr.ifr_hwaddr.sa_data, 6);
	return (true);
}

/* Does the one's-complement sum of the 20 bytes a, c, d come to -0? */
static inline bool
probe_sum_ok(uint64_t a, uint64_t c, uint32_t d)
{
	uint64_t s;
	uint32_t f;

	s = (a & 0xffffffff) + (a >> 32) + (c & 0xffffffff) + (c >> 32) + d;
	s = (s & 0xffffffff) + (s >> 32);
	f = (uint32_t)(s & 0xffff) + (uint32_t)(s >> 16);
	f = (f & 0xffff) + (f >> 16);
	f = (f & 0xffff) + (f >> 16);
	return (f == 0xffff);
}

/*
 * Forward the frame at p in place: check it, take one off its TTL, write the
 * next hop's addresses.  False, and the frame as it was, if it must not go on.
 */
static inline bool
probe_forward(uint8_t *p, uint32_t len, const struct probe_nexthop *nh)
{
	uint64_t a, c;
	uint32_t d, k, v;
	uint16_t tl;

	if (len < 34 || memcmp(p, nh->pn_own, 6) != 0 || p[12] != 0x08 ||
	    p[13] != 0x00 || p[14] != 0x45)
		return (false);
	memcpy(&a, p + 14, sizeof(a));
	memcpy(&c, p + 22, sizeof(c));
	memcpy(&d, p + 30, sizeof(d));
	tl = (uint16_t)(p[16] << 8 | p[17]);
	if (tl < 20 || tl + 14u > len || p[22] <= 1 || !probe_sum_ok(a, c, d))
		return (false);

	/* TTL - 1; the checksum word grows by 0x0100, with end-around carry */
	memcpy(&v, p + 22, sizeof(v));
	k = (v >> 16) + 1;
	k = (k & 0xffff) + (k >> 16);
	v = ((v - 1) & 0xffff) | k << 16;
	memcpy(p + 22, &v, sizeof(v));
	memcpy(p, nh->pn_eth, sizeof(nh->pn_eth));
	return (true);
}

#endif /* _BENCH_PROBE_H_ */
