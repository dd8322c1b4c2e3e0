/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the files of libnetgraph share.  A program may call the library from
 * any number of threads, also for one descriptor: there is no state but the
 * next token, the debug level and the two log functions, which are atomic.
 *
 * Functions here return 0 or an errno value unless they say otherwise, and
 * leave errno itself undefined; only the public ones follow netgraph(3).
 */
#ifndef _LIBNETGRAPH_NGLIB_H_
#define	_LIBNETGRAPH_NGLIB_H_

#include <sys/types.h>
#include <sys/uio.h>

#include <netgraph/ng_message.h>

/* ---- machine.c ---- */

/* A connection, in *sp, to the maker of nodes of the machine. */
int	nglib_connect(int *sp);

/* ---- pass.c: packets, with descriptors beside them ---- */

#define	NGLIB_FDS	2		/* descriptors with a packet, at most */

/* One packet of n parts, with nfds descriptors, which stay the caller's. */
int	nglib_send(int s, const struct iovec *iov, size_t n, const int *fds,
	    int nfds);
/*
 * Wait for a packet.  The number of bytes is left in *lenp, of a longer one
 * as many as there is room for; 0: the other side has closed.  Descriptors
 * that came along are left in fds, the others there are -1.
 */
int	nglib_recv(int s, const struct iovec *iov, size_t n, size_t *lenp,
	    int fds[NGLIB_FDS]);
/*
 * Send a packet, with memfd beside it unless that is -1, and wait for what
 * the graph says to it, which is returned.  ENOTCONN: our node has gone;
 * ENETDOWN: the machine has, before it answered.
 */
int	nglib_call(int s, const struct iovec *iov, size_t n, int memfd);
/* Close the descriptors in fds that are not -1. */
void	nglib_close(int fds[NGLIB_FDS]);

/* ---- msg.c ---- */

/* Send hdr and the argument to path; wait for the result, and the reply. */
int	nglib_deliver(int cs, const char *path, struct ng_msghdr *hdr,
	    const void *arg, size_t arglen);
/* The header of a request, with a new token, but for cmdstr and arglen. */
void	nglib_request(struct ng_msghdr *hdr, uint32_t cookie, uint32_t cmd);
/*
 * Wait for a message, which becomes the caller's: *lenp bytes, and a NUL.
 * path (NG_PATHSIZ bytes) is its sender.
 */
int	nglib_take(int cs, struct ng_mesg **mesgp, size_t *lenp, char *path);
/* Set errno and return -1; with error 0 set it to keep and return ret. */
int	nglib_return(int error, int ret, int keep);

/* ---- debug.c: these keep errno ---- */

/* Level 1: what failed, and why. */
void	nglib_debug_error(int error, const char *fmt, ...)
	    __attribute__((__format__(__printf__, 2, 3)));
/* Level 2 and 3: a message to or from path. */
void	nglib_debug_mesg(const char *what, const char *path,
	    const struct ng_msghdr *hdr, const void *arg, size_t arglen);
/* Level 2 and 3: a packet. */
void	nglib_debug_data(const char *what, const char *hook, const void *buf,
	    size_t len);

#endif /* _LIBNETGRAPH_NGLIB_H_ */
