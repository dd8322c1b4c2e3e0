/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Frames and flows; traffic.h says what for.
 */
#include <arpa/inet.h>
#include <err.h>
#include <stdlib.h>
#include <sysexits.h>

#include "routes.h"
#include "traffic.h"

uint8_t bench_template[BENCH_FRAME] __attribute__((aligned(64))) = {
	0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0x10, 0x08, 0x00,
	0x45, 0, 0, BENCH_FRAME - 14, 0, 0, 0, 0, BENCH_TTL, 17, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0,
	0x04, 0xd2, 0, 9, 0, BENCH_FRAME - 34, 0, 0,
};
struct bench_flow *bench_flows;
unsigned int bench_nflows;

static uint32_t
header_sum(const uint8_t *ip)
{
	uint32_t sum = 0;
	uint16_t w;

	for (int i = 0; i < 20; i += 2) {
		memcpy(&w, ip + i, sizeof(w));
		sum += w;
	}
	sum = (sum & 0xffff) + (sum >> 16);
	return ((sum & 0xffff) + (sum >> 16));
}

static void
header_fix(uint8_t *ip)
{
	uint16_t sum;

	memset(ip + 10, 0, 2);
	sum = (uint16_t)~header_sum(ip);
	memcpy(ip + 10, &sum, sizeof(sum));
}

void
bench_flows_make(unsigned int n, const uint8_t *mac, uint32_t src)
{
	struct bench_flow *bf;
	uint8_t ip[20];

	memcpy(bench_template, mac, 6);
	memcpy(bench_template + 26, &src, sizeof(src));
	memset(bench_template + 42, 0xa5, sizeof(bench_template) - 42);
	bench_nflows = n;
	bench_flows = aligned_alloc(64, (n * sizeof(*bf) + 63) & ~(size_t)63);
	if (bench_flows == NULL)
		errx(EX_OSERR, "no memory for %u flows", n);
	for (unsigned int i = 0; i < n; i++) {
		bf = &bench_flows[i];
		bf->bf_dst = htonl(bench_routes_pick(i));
		bf->bf_sport = (uint16_t)bench_random();
		memcpy(ip, bench_template + 14, sizeof(ip));
		memcpy(ip + 16, &bf->bf_dst, sizeof(bf->bf_dst));
		header_fix(ip);
		memcpy(&bf->bf_sum, ip + 10, sizeof(bf->bf_sum));
	}
}

unsigned int
bench_frame_damage(uint8_t *p, unsigned int how)
{

	switch (how % BENCH_KINDS) {
	case 0:				/* checksum */
		p[24] ^= 1;
		break;
	case 1:				/* TTL */
		p[22] = 1;
		header_fix(p + 14);
		break;
	case 2:				/* version */
		p[14] = 0x65;
		break;
	case 3:				/* header length */
		p[14] = 0x44;
		break;
	case 4:				/* type */
		p[12] = 0x86;
		p[13] = 0xdd;
		break;
	case 5:				/* not to us */
		p[5] ^= 1;
		break;
	case 6:				/* longer than the frame */
		p[17] = BENCH_FRAME - 14 + 1;
		header_fix(p + 14);
		break;
	case 7:				/* runt */
		return (30);
	}
	return (BENCH_FRAME);
}

unsigned int
bench_frame_nexthop(const uint8_t *p, uint32_t len)
{
	uint32_t dst;

	if (len != BENCH_FRAME || p[12] != 0x08 || p[13] != 0x00 ||
	    header_sum(p + 14) != 0xffff || p[22] != BENCH_TTL - 1 ||
	    memcmp(p + 14, bench_template + 14, 8) != 0 ||
	    memcmp(p + 26, bench_template + 26, 4) != 0 ||
	    memcmp(p + 36, bench_template + 36, BENCH_FRAME - 36) != 0)
		return (BENCH_DISCARD);
	memcpy(&dst, p + 30, sizeof(dst));
	return (bench_routes_reference(ntohl(dst)));
}
