/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The socket node: the program's own node in the graph.  Any hook name.
 * Programs make it with NgMkSockNode() of <netgraph.h>.
 */
#ifndef NETGRAPH_NG_SOCKET_H
#define	NETGRAPH_NG_SOCKET_H

#include <netgraph/ng_message.h>

#define	NG_SOCKET_NODE_TYPE	"socket"
#define	NGM_SOCKET_COOKIE	851601233

/* Neither has an argument, a reply or a form as text. */
enum {
	NGM_SOCK_CMD_NOLINGER = 1,	/* go when the last hook goes */
	NGM_SOCK_CMD_LINGER = 2		/* stay while a descriptor is open */
};

/* The address family and its two protocols. */
#define	AF_NETGRAPH	32
#define	PF_NETGRAPH	AF_NETGRAPH
#define	NG_DATA		1
#define	NG_CONTROL	2

/*
 * An address.  getsockname(2) on a control descriptor leaves the node's name,
 * or "[id]" if it had none, in sg_data; what it leaves in front of that is the
 * kernel's.
 */
struct sockaddr_ng {
	uint8_t	sg_len;			/* bytes in all */
	uint8_t	sg_family;		/* AF_NETGRAPH */
	char	sg_data[NG_NODESIZ];	/* name or address, with its NUL */
};
NG_ASSERT_SIZE(struct sockaddr_ng, 34);

#endif /* NETGRAPH_NG_SOCKET_H */
