/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the tests of node types share: set-up, frames, messages there and back,
 * interfaces, senders beside control work.
 */
#ifndef _NETGRAPH_NODES_NG_NODE_TESTLIB_H_
#define	_NETGRAPH_NODES_NG_NODE_TESTLIB_H_

#include "ifnet/if_var.h"
#include "netgraph/ng_testlib.h"

#define	NGT_FRAME	98		/* bytes of ngt_frame() */
/* 02:04:06:00:HH:LL */
#define	NGT_HOST(n)	(UINT64_C(0x020406000000) + (n))
#define	NGT_BCAST	UINT64_C(0xffffffffffff)
#define	NGT_PATIENCE	UINT64_C(20000000000)	/* ns until a test fails */

/*
 * cmocka's set-up and tear-down of a group: ngt_start() with what the test
 * defines as ngt_types, and ngt_stop(); the tear-down of each test.
 */
extern const struct ng_type *const ngt_types[];
int	ngt_group_start(void **state);
int	ngt_group_stop(void **state);
int	ngt_test_reset(void **state);

/* A node named name; its hook is joined to the probe's of the same name. */
void	ngt_make(const char *type, const char *name, const char *hook);
/* One more such hook. */
void	ngt_join(const char *name, const char *hook);

/* Random numbers from a seed that is printed, or taken from NETEPOCH_SEED. */
uint64_t ngt_random(void);

/* An Ethernet frame between two addresses, NGT_FRAME bytes; static. */
const uint8_t *ngt_frame(uint64_t dst, uint64_t src);
/* Send it out of the probe's hook; the graph's result. */
int	ngt_send_frame(const char *hook, uint64_t dst, uint64_t src);
/* n of them in one item. */
int	ngt_send_frames(const char *hook, const uint64_t *dst,
	    const uint64_t *src, unsigned int n);

/* Wait until n packets have come by the probe's hook. */
void	ngt_wait_count(const char *hook, unsigned int n);

/* Send a message whose response is len bytes, and copy them. */
void	ngt_get(const char *path, uint32_t cookie, uint32_t cmd,
	    const void *arg, size_t arglen, void *to, size_t len);
/* The response to a command as text. */
const char *ngt_text(const char *path, const char *command);
/*
 * Turn a message's argument, or that of its response, to text by the node and
 * back: it must be the same.
 */
void	ngt_roundtrip(const char *path, uint32_t cookie, uint32_t cmd,
	    uint32_t flags, const void *arg, size_t len);
/* The nodeinfo of the node at path; errno value. */
int	ngt_nodeinfo(const char *path, struct nodeinfo *ni);

/* Interfaces: by name or NULL, if_setflags(), packets dropped for a reason. */
struct ifnet *ngt_find_if(const char *name);
void	ngt_set_flags(struct ifnet *ifp, uint32_t set, uint32_t clear);
uint64_t ngt_drops(struct ifnet *ifp, enum if_drop why);

/*
 * Two threads send bursts between random hosts out of the probe's hooks hook1
 * and hook2 while churn(round) does control work, rounds times.
 */
void	ngt_race(const char *hook1, const char *hook2,
	    void (*churn)(unsigned int round), unsigned int rounds);
/* The same where a graph is left that may have a loop: packets go on. */
void	ngt_race_unsettled(const char *hook1, const char *hook2,
	    void (*churn)(unsigned int round), unsigned int rounds);

#endif /* _NETGRAPH_NODES_NG_NODE_TESTLIB_H_ */
