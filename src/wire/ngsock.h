/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The packets between a program's libnetgraph and the machine's netgraph, on
 * Unix sockets of type SOCK_SEQPACKET: one packet is one message, and
 * descriptors travel beside it (SCM_RIGHTS).  Both ends are on one host, so
 * all is in its byte order.  Formats without state; any thread.
 *
 * Three kinds of connection:
 *
 *  maker	RUNDIR/NAME/netgraph.  The program sends ngs_make; a node of
 *		type socket is made and answered with ngs_made and, if that says 0,
 *		the program's ends of its control socket and, if it asked for
 *		one, of its data socket.  Both sides then close the maker.
 *  control	ngs_ctl, path, message: either way.
 *  data	from the program: ngs_data and the packet, with a reply socket;
 *		or the packet alone, with no descriptor, for the only hook.
 *		To the program: the packet alone, with one descriptor: a memfd
 *		whose first NGS_NAMESIZ bytes are the hook's name.
 *
 * A program that wants the result of a send makes a pair of seqpacket sockets
 * and sends one end along.  Once the graph has worked off the message or
 * packet, ngs_result comes out of the other end, and then the end of file.
 * The end of file alone means that the machine has gone.
 *
 * Nothing here is to be believed before it is checked, on either side.
 */
#ifndef WIRE_NGSOCK_H
#define	WIRE_NGSOCK_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define	NGS_SOCKET	"netgraph"	/* the maker's file, beside "ctl" */
#define	NGS_VERSION	1
#define	NGS_NAMESIZ	32		/* node or hook, with its NUL */
#define	NGS_PATHSIZ	512		/* address, with its NUL */

#define	NGS_MAKE_MAGIC	0x4e67536dU
#define	NGS_CTL_MAGIC	0x4e675363U
#define	NGS_RESULT_MAGIC 0x4e675372U

/* A message of more bytes than this, header and data, goes in a memfd. */
#define	NGS_INLINE_MAX	(64U << 10)
/* One of more bytes than this does not go at all: EMSGSIZE. */
#define	NGS_MESG_MAX	(16U << 20)
/* The longest packet on a data socket. */
#define	NGS_DATA_MAX	(64U << 10)

/* Make a node; one that is to have a data socket says NGS_MAKE_DATA. */
struct ngs_make {
	uint32_t	magic;		/* NGS_MAKE_MAGIC */
	uint32_t	version;	/* NGS_VERSION */
	uint32_t	flags;
	char		name[NGS_NAMESIZ];	/* empty: none */
};
#define	NGS_MAKE_DATA	0x1U
static_assert(sizeof(struct ngs_make) == 44, "ngs_make");
static_assert(offsetof(struct ngs_make, name) == 12, "name");

/* Its answer, with the descriptors: control, then data. */
struct ngs_made {
	int32_t		error;		/* 0, or an errno and no descriptors */
	uint32_t	id;		/* the node's */
};
static_assert(sizeof(struct ngs_made) == 8, "ngs_made");

/*
 * What is in front of a message.  It is followed by pathlen bytes of the
 * address (no NUL; to the program: the sender's, "[id]:") and, right behind
 * these and without padding, by msglen bytes of a struct ng_mesg.  With
 * NGS_CTL_MEMFD these msglen bytes are the first of a memfd instead.  Its
 * receiver copies them with pread(2) and never maps them: the sender may still
 * change or cut them.
 *
 * Descriptors, in this order: the reply socket if NGS_CTL_REPLY, the memfd if
 * NGS_CTL_MEMFD.  To the program there is no reply socket.
 */
struct ngs_ctl {
	uint32_t	magic;		/* NGS_CTL_MAGIC */
	uint32_t	flags;
	uint32_t	pathlen;	/* less than NGS_PATHSIZ */
	uint32_t	msglen;		/* 56 + arglen, at most NGS_MESG_MAX */
};
#define	NGS_CTL_REPLY	0x1U
#define	NGS_CTL_MEMFD	0x2U
static_assert(sizeof(struct ngs_ctl) == 16, "ngs_ctl");

/*
 * In front of a packet that comes with a reply socket.  An empty name is the
 * only hook, as for a packet that comes without.
 */
struct ngs_data {
	char		hook[NGS_NAMESIZ];	/* where it is to go out */
};
static_assert(sizeof(struct ngs_data) == 32, "ngs_data");

/* What the graph said to a message or packet. */
struct ngs_result {
	uint32_t	magic;		/* NGS_RESULT_MAGIC */
	int32_t		error;		/* 0 or an errno */
};
static_assert(sizeof(struct ngs_result) == 8, "ngs_result");

#endif /* WIRE_NGSOCK_H */
