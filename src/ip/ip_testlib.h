/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What this room's tests share: a router in memory whose interfaces keep the
 * frames that leave, and frames made by hand.
 *
 * The router R has p0 (02:00:00:00:01:00, 192.0.2.1/24) and p1
 * (02:00:00:00:02:00, 198.51.100.1/24).  Host A, 192.0.2.10, and router B,
 * 192.0.2.254, are on p0; host C, 198.51.100.10, is on p1 and has
 * 203.0.113.0/24 behind it.  Neighbours are static unless the test says
 * otherwise.
 */
#ifndef _IP_IP_TESTLIB_H_
#define	_IP_IP_TESTLIB_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ip/ip_private.h"
#include "sys/random_testlib.h"
#include "wire/arp.h"
#include "wire/ether.h"
#include "wire/in_cksum.h"
#include "wire/ip.h"
#include "wire/ip_icmp.h"

#define	FRAME_MAX	4096

struct frame {
	uint32_t	 f_len;
	uint8_t		 f_b[FRAME_MAX];
};

/* An IPv4 header; what is 0 or NULL gets the usual value. */
struct ip4 {
	const char	*src;		/* A */
	const char	*dst;		/* 203.0.113.5 */
	int		 ttl;		/* 64; -1: 0 */
	int		 proto;		/* UDP */
	uint16_t	 id;		/* 0x1000 */
	uint16_t	 off;		/* flags and offset */
	uint8_t		 tos;
	const uint8_t	*opts;
	uint32_t	 nopts;		/* a multiple of 4 */
	int		 ver;		/* 4 */
	int		 ihl;		/* what fits */
	int		 total;		/* what fits */
	int		 sum;		/* what is right; else sum - 1 */
};

extern const uint8_t mac_r0[6], mac_r1[6], mac_a[6], mac_a2[6], mac_b[6],
    mac_c[6], mac_all[6];

#define	IP_A	"192.0.2.10"
#define	IP_B	"192.0.2.254"
#define	IP_R0	"192.0.2.1"
#define	IP_R1	"198.51.100.1"
#define	IP_C	"198.51.100.10"
#define	IP_FAR	"203.0.113.5"

/* Frames. */
void	frame_ether(struct frame *f, const uint8_t *dst, const uint8_t *src,
	    uint16_t type, const void *payload, size_t len);
void	frame_pad(struct frame *f, uint8_t byte);
size_t	put_ip4(uint8_t *to, const struct ip4 *h, const void *payload,
	    size_t len);
size_t	put_udp(uint8_t *to, const char *src, const char *dst,
	    uint16_t dport, const void *data, size_t len);
size_t	put_icmp(uint8_t *to, uint8_t type, uint8_t code, uint32_t rest,
	    const void *data, size_t len);
/* From A to R, padded with zeros. */
void	frame_ip4(struct frame *f, const struct ip4 *h, const void *payload,
	    size_t len);
/* The usual datagram around "netepoch-case-data". */
void	frame_udp(struct frame *f, const struct ip4 *h);
void	frame_arp(struct frame *f, const uint8_t *dst, const uint8_t *esrc,
	    uint16_t op, const uint8_t *sha, const char *spa,
	    const uint8_t *tha, const char *tpa);
struct in_addr addr4(const char *text);

/* The router. */
struct rig {
	struct vnet	*vnet;
	struct ifnet	*p0;
	struct ifnet	*p1;
	struct ifnet	*lo;
};
extern struct rig R;

int	rig_setup(void **state);	/* static neighbours */
int	rig_setup_dynamic(void **state); /* none */
int	rig_teardown(void **state);
void	rig_neighbour(struct ifnet *ifp, const char *addr,
	    const uint8_t *mac);
void	rig_sysctl(const char *name, int value);
void	rig_mtu(struct ifnet *ifp, uint32_t mtu);
struct ifnet *rig_interface(const char *name, const uint8_t *mac);

/*
 * How frames are laid in mbufs: 0 against the end of the buffer, in one piece;
 * n > 0: in two, cut after n bytes.
 */
extern uint32_t rig_cut;
struct mbuf *rig_mbuf(const struct frame *f);
void	rig_inject(struct ifnet *ifp, const struct frame *f, unsigned int n);
void	rig_tick(uint64_t now);		/* the second's work */

/* What left, oldest first.  NULL: nothing did. */
const struct frame *rig_sent(struct ifnet *ifp);
unsigned int rig_nsent(void);		/* waiting, on all interfaces */
void	rig_forget(void);
uint64_t rig_drops(struct ifnet *ifp, enum if_drop why);
uint64_t rig_all_drops(void);

/* Checks of a frame that left. */
void	check_forwarded(const struct frame *out, const struct frame *in,
	    const uint8_t *src, const uint8_t *dst);
const struct ip *check_icmp(const struct frame *out, const char *src,
	    const char *dst, uint8_t type, uint8_t code, uint32_t rest,
	    const struct frame *about);
void	check_sums(const struct frame *out);

#endif /* _IP_IP_TESTLIB_H_ */
