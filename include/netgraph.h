/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * libnetgraph: a program's way into the graph of a machine, with FreeBSD's
 * interface.  See netgraph(3).  All functions return -1 and set errno if they
 * fail.  Link with -lnetgraph, or ask pkg-config for netgraph.
 */
#ifndef NETGRAPH_H
#define	NETGRAPH_H

/*
 * Programs written for FreeBSD take it for granted that these are there, some
 * of them because <netgraph.h> or <net/ethernet.h> bring them in on FreeBSD.
 */
#include <sys/types.h>
#include <sys/socket.h>
#include <arpa/inet.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <netgraph/ng_message.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#define	NG_PRINTFLIKE(f, a)	__attribute__((__format__(__printf__, f, a)))
#else
#define	NG_PRINTFLIKE(f, a)
#endif

/*
 * Make a node of type socket.  Its control descriptor is left in *csp, its
 * data descriptor in *dsp; either pointer may be NULL.  The node goes when
 * both are closed.  name NULL or empty: the node has none.
 */
int	NgMkSockNode(const char *name, int *csp, int *dsp);
/* Name the node at path. */
int	NgNameNode(int cs, const char *path, const char *fmt, ...)
	    NG_PRINTFLIKE(3, 4);

/*
 * Send a message to the node at path, wait until that has worked it off, and
 * return its token, which a reply has too; errno is 0 then.
 */
int	NgSendMsg(int cs, const char *path, int cookie, int cmd,
	    const void *arg, size_t arglen);
/* The same for a command and its arguments as text. */
int	NgSendAsciiMsg(int cs, const char *path, const char *fmt, ...)
	    NG_PRINTFLIKE(3, 4);
/* Answer msg, which came from path. */
int	NgSendReplyMsg(int cs, const char *path, const struct ng_mesg *msg,
	    const void *arg, size_t arglen);

/*
 * Wait for a message and take it; longer ones are cut to replen.  The address
 * of its sender is left in path (NG_PATHSIZ bytes) unless that is NULL.
 * Returns how many bytes there are.  The Alloc functions take a message of
 * any length; the caller frees it.
 */
int	NgRecvMsg(int cs, struct ng_mesg *rep, size_t replen, char *path);
int	NgAllocRecvMsg(int cs, struct ng_mesg **rep, char *path);
/* The same with the arguments as text.  Return 0; path must be there. */
int	NgRecvAsciiMsg(int cs, struct ng_mesg *rep, size_t replen, char *path);
int	NgAllocRecvAsciiMsg(int cs, struct ng_mesg **rep, char *path);

/*
 * Send a packet out of a hook of the node; fails with what the graph said.
 * hook NULL or empty: the only one.
 */
int	NgSendData(int ds, const char *hook, const unsigned char *buf,
	    size_t len);
/*
 * Wait for a packet; the name of our hook is left in hook (NG_HOOKSIZ bytes)
 * unless that is NULL.  Returns its length, 0 if the node has gone.
 */
int	NgRecvData(int ds, unsigned char *buf, size_t len, char *hook);
int	NgAllocRecvData(int ds, unsigned char **buf, char *hook);

/*
 * Say on stderr what the library does: 1 errors, 2 messages, 3 their
 * contents.  Returns the level before; a negative level changes nothing.
 */
int	NgSetDebug(int level);
/* Say it elsewhere: functions like warn(3) and warnx(3); NULL is these. */
void	NgSetErrLog(void (*log)(const char *fmt, ...),
	    void (*logx)(const char *fmt, ...));

#ifdef __cplusplus
}
#endif

/* ---- What FreeBSD's headers have and the host's have not ---- */

#ifndef __packed
#define	__packed		__attribute__((__packed__))
#endif
#ifndef ETHERTYPE_QINQ
#define	ETHERTYPE_QINQ		0x88a8
#endif
#ifndef ETHERTYPE_8021Q9100
#define	ETHERTYPE_8021Q9100	0x9100
#endif
/* The 16 bits of an 802.1Q tag, and the VLAN that they name. */
#ifndef EVL_MAKETAG
#define	EVL_MAKETAG(vid, pcp, cfi) \
	((((((pcp) & 7) << 1) | ((cfi) & 1)) << 12) | ((vid) & 0xfff))
#endif
#ifndef EVL_VLANOFTAG
#define	EVL_VLANOFTAG(tag)	((tag) & 0xfff)
#endif

#ifndef __cplusplus
/* The host's sockaddr_in has no length: give it a byte nobody looks at. */
#ifndef sin_len
#define	sin_len			sin_zero[0]
#endif

/*
 * In FreeBSD's headers these are constants if their argument is one, so that
 * a static initializer may have them.  The host's were declared above.
 */
#undef htons
#undef htonl
#undef ntohs
#undef ntohl
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define	htons(x)	((uint16_t)__builtin_bswap16((uint16_t)(x)))
#define	htonl(x)	((uint32_t)__builtin_bswap32((uint32_t)(x)))
#else
#define	htons(x)	((uint16_t)(x))
#define	htonl(x)	((uint32_t)(x))
#endif
#define	ntohs(x)	htons(x)
#define	ntohl(x)	htonl(x)
#endif /* !__cplusplus */

#endif /* NETGRAPH_H */
