/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * Control messages of netgraph: the header that all of them have, and the
 * commands that every node understands.  Shared by programs (with
 * <netgraph.h>), by the engine and by node types.
 *
 * Messages are structures of the host: its byte order, its alignment.  A
 * string is terminated within its array; bytes that are not used are 0.
 * Arrays without a length at the end hold as many elements as the count in
 * front of them says; a message may be longer than that.
 */
#ifndef NETGRAPH_NG_MESSAGE_H
#define	NETGRAPH_NG_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

/* Sizes of strings, in bytes, the terminating NUL included. */
#define	NG_TYPESIZ	32	/* name of a type */
#define	NG_HOOKSIZ	32	/* name of a hook */
#define	NG_NODESIZ	32	/* name of a node */
#define	NG_PATHSIZ	512	/* address: "node:hook.hook" */
#define	NG_CMDSTRSIZ	32	/* name of a command */
#define	NG_TEXTRESPONSE	1024	/* what NGM_TEXT_STATUS answers */

/*
 * The size of a structure is part of the protocol: programs of any age talk
 * to any daemon.
 */
#ifdef __cplusplus
#define	NG_ASSERT_SIZE(type, size) \
	static_assert(sizeof(type) == (size), #type)
#else
#define	NG_ASSERT_SIZE(type, size) \
	_Static_assert(sizeof(type) == (size), #type)
#endif

/* A node's number; never 0. */
typedef uint32_t ng_ID_t;

#define	NG_VERSION	8	/* header.version */

/* header.flags */
#define	NGF_ORIG	0x00000000	/* a request */
#define	NGF_RESP	0x00000001	/* the reply to one */

/* Bits of header.cmd, part of the command's number. */
#define	NGM_READONLY	0x10000000	/* changes nothing in the node */
#define	NGM_HASREPLY	0x20000000	/* is replied to unless it fails */

struct ng_mesg {
	struct ng_msghdr {
		uint8_t		version;	/* NG_VERSION */
		uint8_t		spare;		/* 0 */
		uint16_t	spare2;		/* 0 */
		uint32_t	arglen;		/* bytes of data */
		uint32_t	cmd;		/* command */
		uint32_t	flags;		/* NGF_ORIG, NGF_RESP */
		uint32_t	token;		/* copied into the reply */
		uint32_t	typecookie;	/* whose command it is */
		uint8_t		cmdstr[NG_CMDSTRSIZ];	/* for people */
	} header;
	char	data[];			/* arglen bytes of argument */
};
NG_ASSERT_SIZE(struct ng_mesg, 56);

/* ---- What every node understands ---- */

#define	NGM_GENERIC_COOKIE	1137070366

enum {
	NGM_SHUTDOWN = 1,	/* no argument */
	NGM_MKPEER = 2,		/* struct ngm_mkpeer */
	NGM_CONNECT = 3,	/* struct ngm_connect */
	NGM_NAME = 4,		/* struct ngm_name */
	NGM_RMHOOK = 5,		/* struct ngm_rmhook */

	/* Replies: nodeinfo, hooklist, namelist, namelist, typelist. */
	NGM_NODEINFO = (6 | NGM_READONLY | NGM_HASREPLY),
	NGM_LISTHOOKS = (7 | NGM_READONLY | NGM_HASREPLY),
	NGM_LISTNAMES = (8 | NGM_READONLY | NGM_HASREPLY),
	NGM_LISTNODES = (9 | NGM_READONLY | NGM_HASREPLY),
	NGM_LISTTYPES = (10 | NGM_READONLY | NGM_HASREPLY),
	/* Reply: text of at most NG_TEXTRESPONSE bytes, with its NUL. */
	NGM_TEXT_STATUS = (11 | NGM_READONLY | NGM_HASREPLY),
	/* Argument and reply: a message. */
	NGM_BINARY2ASCII = (12 | NGM_READONLY | NGM_HASREPLY),
	NGM_ASCII2BINARY = (13 | NGM_READONLY | NGM_HASREPLY),

	NGM_TEXT_CONFIG = 14	/* argument and reply: text */
};

/* Make a node of that type, its peerhook joined to our ourhook. */
struct ngm_mkpeer {
	char	type[NG_TYPESIZ];
	char	ourhook[NG_HOOKSIZ];
	char	peerhook[NG_HOOKSIZ];
};
NG_ASSERT_SIZE(struct ngm_mkpeer, 96);

/*
 * The other argument of NGM_MKPEER, beyond FreeBSD's: the node has a name at
 * once, and if it cannot have it, it is not made.  With both hooks empty it is
 * joined to nothing, and stays until it has lost its last hook.
 */
struct ngm_mkpeer_named {
	struct ngm_mkpeer mkpeer;
	char	name[NG_NODESIZ];
};
NG_ASSERT_SIZE(struct ngm_mkpeer_named, 128);

/* Join ourhook to the peerhook of the node at path, as seen from us. */
struct ngm_connect {
	char	path[NG_PATHSIZ];
	char	ourhook[NG_HOOKSIZ];
	char	peerhook[NG_HOOKSIZ];
};
NG_ASSERT_SIZE(struct ngm_connect, 576);

struct ngm_name {
	char	name[NG_NODESIZ];
};
NG_ASSERT_SIZE(struct ngm_name, 32);

struct ngm_rmhook {
	char	ourhook[NG_HOOKSIZ];
};
NG_ASSERT_SIZE(struct ngm_rmhook, 32);

struct nodeinfo {
	char		name[NG_NODESIZ];	/* empty: it has none */
	char		type[NG_TYPESIZ];
	ng_ID_t		id;
	uint32_t	hooks;			/* how many it has */
};
NG_ASSERT_SIZE(struct nodeinfo, 72);

/* A hook, its peer, and the node that the peer belongs to. */
struct linkinfo {
	char		ourhook[NG_HOOKSIZ];
	char		peerhook[NG_HOOKSIZ];
	struct nodeinfo	nodeinfo;
};
NG_ASSERT_SIZE(struct linkinfo, 136);

struct hooklist {
	struct nodeinfo	nodeinfo;	/* nodeinfo.hooks of them follow */
	struct linkinfo	link[];
};
NG_ASSERT_SIZE(struct hooklist, 72);

struct namelist {
	uint32_t	numnames;
	struct nodeinfo	nodeinfo[];
};
NG_ASSERT_SIZE(struct namelist, 4);

struct typeinfo {
	char		type_name[NG_TYPESIZ];
	uint32_t	numnodes;	/* how many there are of it */
};
NG_ASSERT_SIZE(struct typeinfo, 36);

struct typelist {
	uint32_t	numtypes;
	struct typeinfo	typeinfo[];
};
NG_ASSERT_SIZE(struct typelist, 4);

/* ---- The state of links and queues ---- */

#define	NGM_FLOW_COOKIE		851672669

enum {
	/* Told upwards by what is below. */
	NGM_LINK_IS_UP = 32,
	NGM_LINK_IS_DOWN = 33,
	NGM_HIGH_WATER_PASSED = 34,
	NGM_LOW_WATER_PASSED = 35,
	NGM_SYNC_QUEUE_STATE = 36,

	/* Asked downwards. */
	NGM_DROP_LINK = 41,
	NGM_RAISE_LINK = 42,
	NGM_FLUSH_QUEUE = 43,
	NGM_GET_BANDWIDTH = (44 | NGM_READONLY),
	NGM_SET_XMIT_Q_LIMITS = 45,
	NGM_GET_XMIT_Q_LIMITS = (46 | NGM_READONLY),
	NGM_MICROMANAGE = 47,
	NGM_SET_FLOW_MANAGER = 48
};

#endif /* NETGRAPH_NG_MESSAGE_H */
