/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the tests of the base share: two types to test with, and what is looked
 * at between tests.  The names are short, since these tests are all that is
 * linked with them.
 */
#ifndef _NETGRAPH_NG_BASE_TESTLIB_H_
#define	_NETGRAPH_NG_BASE_TESTLIB_H_

#include "netgraph/nodes/ng_node_testlib.h"

#include <stdatomic.h>

/*
 * Hooks named x1 and x2, or y1 and y2, are each other's: all packets on to the
 * other; one hook: dropped.  Hooks b1 and b2 are joined at the end.
 */
extern const struct ng_type relay_type;
/* The same, one thread at a time, without messages. */
extern const struct ng_type exclusive_type;
/* Command 1: respond; 2: send that to a path and say the result; 3: end. */
#define	RELAY_COOKIE	7

/* Ends of relays' and exclusives' hooks, and of relays, since clean(). */
extern _Atomic int disconnects, shutdowns;

/* cmocka's set-up of each test; a last test, for what the one before left. */
int	clean(void **state);
void	clean_last(void **state);
/* How many nodes there are. */
unsigned int nodes(void);

#endif /* _NETGRAPH_NG_BASE_TESTLIB_H_ */
