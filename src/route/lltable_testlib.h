/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the tests of neighbours share: a machine with the interfaces p0, on
 * 192.0.2.0/22, and p1, and what the protocol and p0's driver were asked to do.
 * The names are short, since these tests are all that is linked with them.
 */
#ifndef _ROUTE_LLTABLE_TESTLIB_H_
#define	_ROUTE_LLTABLE_TESTLIB_H_

#include "route/route_test.h"

#include <netinet/in.h>

#include <netepoch/mbuf.h>

#include "ifnet/if_var.h"
#include "route/route_var.h"

#define	SECOND	UINT64_C(1000000000)
#define	MAXSENT	256

extern struct vnet *vnet;
extern struct ifnet *p0, *p1;
extern struct lltable_params params;

/* What the protocol and the driver were asked to do. */
extern char asked[1024];		/* "b519 ": broadcast for .2.7; u, v:
					   by unicast to mac_a, another */
extern char failed[1024];		/* "7:1 ": .7, receiving if_index 1 */
extern struct mbuf *sent[MAXSENT];
extern unsigned int nsent;
extern bool quiet;			/* churn: record nothing */

extern const uint8_t mac_p0[6], mac_a[6], mac_b[6];

/* cmocka's set-up and tear-down of each test; the configuration is locked. */
int	setup(void **state);
int	teardown(void **state);
/* An Ethernet interface that is up, with p0's MAC and recorded output. */
struct ifnet *make_if(const char *name);
/* Empty the records. */
void	forget(void);

struct in_addr ip4(const char *text);
/* 192.0.2.n, on p0's network. */
struct in_addr host(unsigned int n);

/*
 * Send a packet of 100 bytes of value mark to dst, received on p1.  True: it
 * left with a header, which is checked against mac.
 */
bool	send_to(struct in_addr dst, uint8_t mark, const uint8_t *mac);
/* lla_heard() on p0; old may be NULL. */
enum lla_heard hear(struct in_addr addr, const uint8_t *mac, bool create,
	    uint8_t *old);
/* lltable_tick() at now, in nanoseconds. */
void	tick(uint64_t now);

#endif /* _ROUTE_LLTABLE_TESTLIB_H_ */
