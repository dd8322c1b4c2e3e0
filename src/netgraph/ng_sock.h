/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A program's socket node: what the node type (nodes/ng_socket.c) and the
 * server of the programs' connections (ng_sockserv.c) share, and the decoding
 * of what programs send (ng_sockmsg.c).
 *
 * A struct ng_sock has a reference of its node, while that lives, and one of
 * the server, while the program has one of its ends open.  The last one closes
 * our ends, so nobody ever sends into a descriptor that means something else
 * by now.
 */
#ifndef _NETGRAPH_NG_SOCK_H_
#define	_NETGRAPH_NG_SOCK_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <netgraph/netgraph.h>

#include "wire/ngsock.h"

#define	NGSO_CONTROL	0x1U	/* the program has its control end open */
#define	NGSO_DATA	0x2U	/* its data end */

/* Keys: c is the configuration lock, e the epoch, t the server's thread. */
struct ng_sock {
	_Atomic(node_p)	 so_node;	/* (e/c) NULL: it is dead */
	_Atomic(hook_p)	 so_only;	/* (e/c) its hook, if it has just one */
	_Atomic uint32_t so_open;	/* (a) relaxed: NGSO_*, written by t */
	int		 so_cs;		/* (c) constant: our control end */
	int		 so_ds;		/* (c) constant: our data end, or -1 */
	size_t		 so_memfds;	/* (c) bytes in memfds not yet read */
	_Atomic unsigned int so_refs;	/* (r) */
};

/*
 * Make a node of type socket for our ends cs and ds (-1: none), which are the
 * sock's from then on, also on an error.  name: "" for none.  The reference
 * returned is the server's.  Outside the epoch; takes the configuration lock.
 * EINVAL, EADDRINUSE (name), ENXIO (no such type), ENOMEM.
 */
int	ng_sock_create(struct vnet *vnet, const char *name, int cs, int ds,
	    uint32_t *id, struct ng_sock **sop);
/* The program has closed ends (NGSO_*); without any the node is shut down. */
void	ng_sock_closed(struct vnet *vnet, struct ng_sock *so, uint32_t ends);
void	ng_sock_rele(struct ng_sock *so);
/*
 * Send msg (consumed) to path for the program; the graph's result.  ENOTCONN:
 * the node is dead.
 */
int	ng_sock_send_msg(struct vnet *vnet, struct ng_sock *so,
	    struct ng_mesg *msg, const char *path);
/*
 * Send len bytes out of hook ("": the only one), inside the epoch, without any
 * lock.  EHOSTUNREACH: no such hook; EDESTADDRREQ: not just one; EMSGSIZE;
 * ENOBUFS; ENOTCONN; else the graph's result.
 */
int	ng_sock_send_data(struct vnet *vnet, struct ng_sock *so,
	    const char *hook, const void *buf, size_t len);

/* ---- ng_sockmsg.c: what a program sent, checked; EINVAL, EMSGSIZE ---- */

struct ng_sockmsg {
	bool		 sm_reply;	/* the first descriptor is for it */
	bool		 sm_memfd;	/* the message is in the next one */
	uint32_t	 sm_len;	/* bytes of the message */
	const char	*sm_mesg;	/* in the packet, unless sm_memfd */
	char		 sm_path[NGS_PATHSIZ];
};

int	ng_sockmsg_make(const void *buf, size_t len, struct ngs_make *mk);
int	ng_sockmsg_ctl(const void *buf, size_t len, unsigned int nfds,
	    struct ng_sockmsg *sm);
/* Is that a whole message?  Its strings are ended. */
int	ng_sockmsg_mesg(struct ng_mesg *msg, size_t len);

#endif /* _NETGRAPH_NG_SOCK_H_ */
