/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The ksocket node: a socket of the host.  The hook's name says which:
 * "family/type/proto", in names or numbers.  Addresses are the host's struct
 * sockaddr in full length.
 */
#ifndef NETGRAPH_NG_KSOCKET_H
#define	NETGRAPH_NG_KSOCKET_H

#include <sys/socket.h>

#include <netgraph/ng_message.h>

#define	NG_KSOCKET_NODE_TYPE	"ksocket"
#define	NGM_KSOCKET_COOKIE	942710669

#define	NG_KSOCKET_MAX_OPTLEN	1024	/* bytes of an option, at most */

enum {
	NGM_KSOCKET_BIND = 1,		/* sockaddr */
	NGM_KSOCKET_LISTEN = 2,		/* int32_t: backlog */
	NGM_KSOCKET_ACCEPT = 3,		/* later: struct ng_ksocket_accept */
	NGM_KSOCKET_CONNECT = 4,	/* sockaddr; later: int32_t, an errno */
	NGM_KSOCKET_GETNAME = 5,	/* reply: sockaddr */
	NGM_KSOCKET_GETPEERNAME = 6,	/* reply: sockaddr */
	NGM_KSOCKET_SETOPT = 7,		/* struct ng_ksocket_sockopt */
	NGM_KSOCKET_GETOPT = 8		/* the same, reply: with value */
};

/*
 * As the arguments of setsockopt(2) and getsockopt(2).  Level 65535 is
 * FreeBSD's SOL_SOCKET, with FreeBSD's numbers of its options.
 */
struct ng_ksocket_sockopt {
	int32_t		level;
	int32_t		name;
	uint8_t		value[];
};
NG_ASSERT_SIZE(struct ng_ksocket_sockopt, 8);

struct ng_ksocket_accept {
	uint32_t	nodeid;		/* the new connection's ksocket */
	struct sockaddr	addr;		/* who it is from; may be longer */
};
NG_ASSERT_SIZE(struct ng_ksocket_accept, 20);

/*
 * Beside a packet, for node types: the flag M_ADDR of its mbuf says that the
 * first bytes of m_cookie are the struct sockaddr of its sender; one without
 * the flag has none.  A packet with it that comes to a socket which is not
 * connected is sent to that address.  Addresses of this length and shorter
 * travel so, those of the Internet and short paths.
 */
#define	NG_KSOCKET_ADDRLEN	40

#endif /* NETGRAPH_NG_KSOCKET_H */
