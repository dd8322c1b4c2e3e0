/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * For tests of programs in a graph: a graph with its server in this process,
 * and a program with one node that counts what comes by each hook.  All on
 * the test's thread but for the graph's own and the server's.
 */
#ifndef _NETGRAPH_NG_SOCKSERV_TESTLIB_H_
#define	_NETGRAPH_NG_SOCKSERV_TESTLIB_H_

#include <netgraph.h>
#include <netgraph/ng_socket.h>

#include "netgraph/ng_testlib.h"

#define	NGP_HOOKS	1024
#define	NGP_QUIET_MS	50		/* so long nothing: no more comes */

/* cmocka group set-up and tear-down: server and run directory, too. */
int	ngp_group_start(void **state);
int	ngp_group_stop(void **state);
/* Set-up of a test: a node; and tear-down: all nodes gone, nothing lost. */
int	ngp_start(void **state);
int	ngp_stop(void **state);
const char *ngp_socket(void);		/* the server's path */

struct ngp {
	int		 cs;
	int		 ds;
	unsigned int	 total;
	unsigned int	 count[NGP_HOOKS];	/* by ngp_hook_number() */
};
extern struct ngp ngp;

/* Errno values, as the library's calls left them. */
int	ngp_mkpeer(const char *path, const char *type, const char *ourhook,
	    const char *peerhook);
int	ngp_connect(const char *path, const char *to, const char *ourhook,
	    const char *peerhook);
int	ngp_rmhook(const char *path, const char *hook);
int	ngp_shutdown(const char *path);
int	ngp_send(const char *hook, size_t len);
/* "a" to "z" are 0 to 25, "h100" is 100. */
unsigned int ngp_hook_number(const char *hook);
/*
 * Read packets, at most max, until the graph has none queued and none comes
 * for NGP_QUIET_MS; they are counted, from 0.  How many.
 */
unsigned int ngp_events(unsigned int max);
/* The nodes there are, as listnodes says. */
unsigned int ngp_nodes(void);
/* Wait until there are so many: for the end of those that nobody waits for. */
void	ngp_wait_nodes(unsigned int n);
/* Descriptors of this process. */
unsigned int ngp_descriptors(void);
/* Wait until all are closed that were not there at the test's start. */
void	ngp_wait_closed(void);

#endif /* _NETGRAPH_NG_SOCKSERV_TESTLIB_H_ */
