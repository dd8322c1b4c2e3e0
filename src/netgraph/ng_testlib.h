/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * For unit tests of node types: a graph without a daemon, and a node, the
 * probe, that stands for the tester in it: what comes by its hooks is kept and
 * counted, it sends packets and messages and keeps the response.
 *
 * The test's thread is the only one that sends; the graph's workers run as in
 * a machine.  Functions fail the test (cmocka) where they cannot go on.
 */
#ifndef _NETGRAPH_NG_TESTLIB_H_
#define	_NETGRAPH_NG_TESTLIB_H_

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdint.h>

#include <netepoch/epoch.h>
#include <netgraph/netgraph.h>

#include "ifnet/vnet.h"
#include <netepoch/mbuf.h>

/* cmocka group set-up and tear-down: types ends with NULL. */
void	ngt_start(const struct ng_type *const *types);
void	ngt_stop(void);
struct vnet *ngt_vnet(void);
/* The probe, a persistent node named "probe", made by ngt_start(). */
node_p	ngt_probe(void);
/* Shut all nodes but the probe down, empty it, check that no mbuf is lost. */
void	ngt_reset(void);

/* ---- Control; errno values ---- */

/* A message from the probe; a response is kept for ngt_reply(). */
int	ngt_msg(const char *path, uint32_t cookie, uint32_t cmd,
	    const void *arg, size_t len);
/* The same as text, "command arguments", as ngctl's msg sends it. */
int	ngt_ascii(const char *path, const char *text);
/* The last response (NULL: none came), and its argument as text. */
const struct ng_mesg *ngt_reply(void);
const char *ngt_reply_text(void);
int	ngt_mkpeer(const char *path, const char *type, const char *ourhook,
	    const char *peerhook);
int	ngt_connect(const char *path, const char *to, const char *ourhook,
	    const char *peerhook);
int	ngt_name(const char *path, const char *name);
int	ngt_rmhook(const char *path, const char *hook);
int	ngt_shutdown(const char *path);

/* ---- Data ---- */

/* Send len bytes out of the probe's hook; the graph's result. */
int	ngt_send(const char *hook, const void *data, size_t len);
/* n equal packets in one item. */
int	ngt_send_burst(const char *hook, const void *data, size_t len,
	    unsigned int n);
/* A packet that the caller made. */
int	ngt_send_mbuf(const char *hook, struct mbuf *m);
/* Packets that came by the probe's hook since ngt_clear() or ngt_reset(). */
unsigned int ngt_count(const char *hook);
/* The last of them, as it came; NULL: none.  Kept until the next one. */
const struct mbuf *ngt_last(const char *hook);
void	ngt_clear(void);
/* Is nothing queued in the graph?  A worker may still deliver a last burst. */
bool	ngt_idle(void);
/* Wait until nothing is queued in the graph and all workers are idle. */
void	ngt_settle(void);

#endif /* _NETGRAPH_NG_TESTLIB_H_ */
