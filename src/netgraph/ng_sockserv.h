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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* A socket of a program's node, for netstat. */
struct ng_sock_stat {
	uint32_t	 ss_id;		/* of its node */
	const char	*ss_name;	/* "" if it has none */
	unsigned int	 ss_hooks;
	bool		 ss_data;	/* the data socket, else control */
	unsigned int	 ss_recvq;	/* bytes the program has not read */
	unsigned int	 ss_sendq;	/* bytes that we have not read */
};
/*
 * Calls fn for each that the program has open, oldest node first; with the
 * configuration lock.
 */
void	ng_sock_walk(struct vnet *vnet,
	    void (*fn)(const struct ng_sock_stat *ss, void *arg), void *arg);

#endif /* _NETGRAPH_NG_SOCKSERV_H_ */
