/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Set-up and tear-down of the tests of node types; see ng_node_testlib.h.  In
 * a file of their own, since only who uses them has ngt_types.
 */
#include "netgraph/nodes/ng_node_testlib.h"

int
ngt_group_start(void **state)
{

	(void)state;
	ngt_start(ngt_types);
	return (0);
}

int
ngt_group_stop(void **state)
{

	(void)state;
	ngt_stop();
	return (0);
}

int
ngt_test_reset(void **state)
{

	(void)state;
	ngt_reset();
	return (0);
}
