/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The server of programs that have nodes in a machine's graph.
 */
#ifndef _NETGRAPH_NG_SOCKSERV_H_
#define	_NETGRAPH_NG_SOCKSERV_H_

#include <stddef.h>

struct ng_sockserv;
struct vnet;

/*
 * Listen at path (mode 0660; a dead machine's socket there is replaced) and
 * serve programs until ng_sockserv_stop().  It also makes and removes the
 * directory path.d.  The type "socket" must be registered.  errno value, err
 * says why.
 */
int	ng_sockserv_start(struct vnet *vnet, const char *path,
	    struct ng_sockserv **nsp, char *err, size_t errlen);
/* Shuts the programs' nodes down. */
void	ng_sockserv_stop(struct ng_sockserv *ns);

#endif /* _NETGRAPH_NG_SOCKSERV_H_ */
