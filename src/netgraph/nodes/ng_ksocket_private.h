/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The ksocket node's own: ng_ksocket.c controls, ng_ksocket_data.c moves the
 * packets, ng_ksocket_text.c knows names and addresses.
 *
 * Keys: c is the configuration lock, m is ks_mtx, which is a leaf.
 */
#ifndef _NETGRAPH_NODES_NG_KSOCKET_PRIVATE_H_
#define	_NETGRAPH_NODES_NG_KSOCKET_PRIVATE_H_

#include <sys/socket.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <netgraph/netgraph.h>

#include "netgraph/nodes/ng_stat.h"
#include "sys/lock.h"

struct intr_event;
struct intr_handler;

#define	KS_BURST	32		/* datagrams received at a time */
#define	KS_DGRAM_MAX	65536		/* bytes of one */
#define	KS_TXQ_MAX	256		/* packets that wait for a stream */

enum ks_state { KS_NEW, KS_LISTENING, KS_CONNECTING, KS_OPEN, KS_EOF };

enum ks_counter { KSC_SENT, KSC_SENDERR, KSC_SENDFULL, KSC_RECEIVED,
	KSC_RECVERR, KSC_TRUNCATED, KSC_NOMBUF, KSC_COUNT };

/* A message that is answered later. */
struct ks_waiter {
	bool		 kw_waiting;	/* (c) */
	uint32_t	 kw_from;	/* (c) */
	struct ng_msghdr kw_hdr;	/* (c) */
};

struct ksock {
	node_p		 ks_node;	/* (c) constant */
	/* Constant from the time that there is a socket. */
	int		 ks_fd;		/* -1: none yet */
	int		 ks_epfd;	/* watches ks_fd, is watched by intr */
	int		 ks_type;	/* SOCK_* */
	struct intr_event *ks_ie;
	struct intr_handler *ks_ih;
	char		*ks_over;	/* (t) what mbufs have no room for:
					   KS_BURST datagrams, or NULL */

	_Atomic(hook_p)	 ks_hook;	/* (a) acquire/release */
	_Atomic bool	 ks_connected;	/* (a) relaxed: it has a peer */
	struct ks_waiter ks_accept;
	struct ks_waiter ks_connect;
	struct ng_stat	 ks_stat;	/* enum ks_counter */

	struct mtx	 ks_mtx;
	enum ks_state	 ks_state;	/* (m) */
	bool		 ks_accepting;	/* (m) ks_accept waits */
	uint32_t	 ks_watched;	/* (m) what ks_epfd watches for; 0:
					   ks_fd is not in it */
	struct mbuf	*ks_txq;	/* (m) by m_nextpkt */
	struct mbuf	**ks_txq_end;	/* (m) */
	unsigned int	 ks_ntxq;	/* (m) */
};

/* ng_ksocket_data.c */
extern ng_rcvdata_t ng_ksocket_rcvdata;
/* Take fd (ours on success), of that type, and have it served.  Control. */
int	ng_ksocket_attach(struct ksock *ks, int fd, int type);
void	ng_ksocket_detach(struct ksock *ks);
void	ng_ksocket_set_state(struct ksock *ks, enum ks_state state);
/* Look again at what there is to wait for; again, if it has fired once. */
void	ng_ksocket_watch(struct ksock *ks);
/* Control work when a connection is there; in ng_ksocket.c. */
extern ng_fn_t ng_ksocket_ready;

/* ng_ksocket_text.c */
extern const struct ng_cmdlist ng_ksocket_cmds[];
/* "family/type/proto"; EINVAL. */
int	ng_ksocket_parse_name(const char *name, int *family, int *type,
	    int *proto);
/* Is it an address, as socket calls take it?  EINVAL. */
int	ng_ksocket_check_addr(const void *addr, size_t len);

#endif /* _NETGRAPH_NODES_NG_KSOCKET_PRIVATE_H_ */
