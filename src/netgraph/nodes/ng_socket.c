/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The socket node: a program in the graph.  What comes by its hooks goes to
 * the program's data socket, what is sent to it to the control socket.
 *
 * Data methods run in the epoch, as all do.  They send with MSG_DONTWAIT: the
 * packet is copied into the socket's queue or refused, nothing waits, so this
 * is not a call that may sleep.  The queue is the socket's send buffer, set
 * from net.graph.recvspace: a program that does not read costs no more, and
 * whoever sends to it is told ENOBUFS.  The rest is control work.
 *
 * A packet travels with a descriptor of its hook's memfd, made once for each
 * hook and sealed, whose content is the hook's name: payload stays payload,
 * for programs that read the data socket with recv(2).
 */
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netepoch/mbuf.h>
#include <netgraph/ng_socket.h>

#include "ifnet/vnet.h"
#include "netgraph/ng_private.h"
#include "netgraph/ng_sock.h"
#include "netgraph/ng_sockserv.h"
#include "netgraph/nodes/ng_nodes.h"

/*
 * A small packet takes 512 bytes of FreeBSD's buffer, which holds eight times
 * recvspace: 320 of them.  Of the kernel's here it takes 768 bytes, and the
 * buffer is twice of what is set.
 */
#define	NG_SOCK_SPACE	6
/* What a program may leave unread in memfds. */
#define	NG_SOCK_MEMFDS	(2 * (size_t)NGS_MESG_MAX)
#define	NG_SOCK_IOVS	64		/* mbufs of a packet */

/* ---- To the program ---- */

/* sendmsg(2) with one descriptor (-1: none) beside it; errno value. */
static int
ng_sock_output(int s, struct iovec *iov, size_t iovs, int fd)
{
	union {
		struct cmsghdr	 hdr;
		char		 buf[CMSG_SPACE(sizeof(int))];
	} cm;
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = iovs };

	if (fd != -1) {
		memset(&cm, 0, sizeof(cm));
		mh.msg_control = &cm;
		mh.msg_controllen = sizeof(cm.buf);
		cm.hdr.cmsg_level = SOL_SOCKET;
		cm.hdr.cmsg_type = SCM_RIGHTS;
		cm.hdr.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&cm.hdr), &fd, sizeof(fd));
	}
	if (sendmsg(s, &mh, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return (0);
	/* Closed meanwhile, or full in one way or another. */
	return (errno == EPIPE || errno == ECONNRESET ? EPIPE : ENOBUFS);
}

/* A memfd with len bytes from buf, which nobody can change; -1. */
static int
ng_sock_memfd(const char *name, const void *buf, size_t len)
{
	int fd;

	fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd == -1)
		return (-1);
	if (pwrite(fd, buf, len, 0) != (ssize_t)len ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK |
	    F_SEAL_GROW | F_SEAL_SEAL) != 0) {
		(void)close(fd);
		return (-1);
	}
	return (fd);
}

/* Nothing unread in the socket: no memfd is, either. */
static bool
ng_sock_idle(const struct ng_sock *so)
{
	int bytes;

	return (ioctl(so->so_cs, SIOCOUTQ, &bytes) == 0 && bytes == 0);
}

static int
ng_sock_put_msg(struct ng_sock *so, const struct ng_mesg *msg, uint32_t from)
{
	size_t len = sizeof(*msg) + msg->header.arglen;
	char path[16];
	struct ngs_ctl nc = { .magic = NGS_CTL_MAGIC };
	struct iovec iov[3] = {
		{ &nc, sizeof(nc) },
		{ path, 0 },
		{ (void *)(uintptr_t)msg, len },
	};
	int error, fd = -1;

	if (len > NGS_MESG_MAX)
		return (ENOBUFS);
	iov[1].iov_len = (size_t)snprintf(path, sizeof(path), "[%x]:", from);
	nc.pathlen = (uint32_t)iov[1].iov_len;
	nc.msglen = (uint32_t)len;
	if (len <= NGS_INLINE_MAX)
		return (ng_sock_output(so->so_cs, iov, 3, -1));
	if (ng_sock_idle(so))
		so->so_memfds = 0;
	if (so->so_memfds + len > NG_SOCK_MEMFDS)
		return (ENOBUFS);
	fd = ng_sock_memfd("netgraph message", msg, len);
	if (fd == -1)
		return (ENOBUFS);
	nc.flags = NGS_CTL_MEMFD;
	error = ng_sock_output(so->so_cs, iov, 2, fd);
	(void)close(fd);
	if (error == 0)
		so->so_memfds += len;
	return (error);
}

/* One packet, which stays the caller's. */
static int
ng_sock_put_data(struct ng_sock *so, hook_p hook, struct mbuf *m)
{
	struct iovec iov[NG_SOCK_IOVS];
	size_t n = 0;

	if ((m->m_pkthdr.csum_flags & CSUM_PARTIAL) != 0)
		(void)m_cksum_finish(m);
	for (; m != NULL && n < NG_SOCK_IOVS; m = m->m_next) {
		iov[n].iov_base = m->m_data;
		iov[n++].iov_len = m->m_len;
	}
	if (m != NULL)
		return (ENOBUFS);
	return (ng_sock_output(so->so_ds, iov, n,
	    (int)(intptr_t)ng_hook_private(hook)));
}

/* ---- From the program ---- */

int
ng_sock_send_msg(struct vnet *vnet, struct ng_sock *so, struct ng_mesg *msg,
    const char *path)
{
	node_p node;
	int error = ENOTCONN;

	ng_ctl_enter(vnet);
	node = atomic_load_explicit(&so->so_node, memory_order_relaxed);
	if (node != NULL)
		error = ng_send_msg_path(node, msg, path);
	else
		free(msg);
	ng_ctl_exit(vnet);
	return (error);
}

struct ng_sock_send {
	struct ng_sock	*ss_so;
	const char	*ss_hook;
	struct mbuf	*ss_m;
};

/* In the epoch: node and hook stay to its end.  Consumes the packet. */
static int
ng_sock_send_cb(void *arg)
{
	struct ng_sock_send *ss = arg;
	int error = EHOSTUNREACH;
	hook_p hook;
	node_p node;

	/* Pair with the releases that set them. */
	node = atomic_load_explicit(&ss->ss_so->so_node,
	    memory_order_acquire);
	if (node == NULL) {
		m_freem(ss->ss_m);
		return (ENOTCONN);
	}
	if (ss->ss_hook[0] != '\0')
		hook = ng_findhook(node, ss->ss_hook);
	else {
		hook = atomic_load_explicit(&ss->ss_so->so_only,
		    memory_order_acquire);
		error = EDESTADDRREQ;
	}
	if (hook == NULL) {
		m_freem(ss->ss_m);
		return (error);
	}
	return (ng_send_data(hook, ss->ss_m));
}

int
ng_sock_send_data(struct vnet *vnet, struct ng_sock *so, const char *hook,
    const void *buf, size_t len)
{
	struct netgraph *ng = vnet->v_netgraph;
	struct ng_sock_send ss = { .ss_so = so, .ss_hook = hook };

	KASSERT(!sx_xlocked(&vnet_config_sx),
	    "data are sent with the configuration lock held");

	if (len == 0)
		return (EINVAL);
	if (len > (size_t)atomic_load_explicit(&ng->ng_maxdgram,
	    memory_order_relaxed))
		return (EMSGSIZE);
	ss.ss_m = m_devget(buf, (uint32_t)len);
	if (ss.ss_m == NULL)
		return (ENOBUFS);
	return (ng_net_run(ng_sock_send_cb, &ss));
}

/* ---- Life ---- */

void
ng_sock_rele(struct ng_sock *so)
{

	if (atomic_fetch_sub_explicit(&so->so_refs, 1,
	    memory_order_acq_rel) != 1)
		return;
	(void)close(so->so_cs);
	if (so->so_ds != -1)
		(void)close(so->so_ds);
	free(so);
}

static void
ng_sock_buffer(int s, int bytes, size_t least)
{
	int size = (size_t)bytes < least ? (int)least : bytes;

	/* Beyond net.core.wmem_max with CAP_NET_ADMIN only. */
	if (setsockopt(s, SOL_SOCKET, SO_SNDBUFFORCE, &size,
	    sizeof(size)) != 0)
		(void)setsockopt(s, SOL_SOCKET, SO_SNDBUF, &size,
		    sizeof(size));
}

int
ng_sock_create(struct vnet *vnet, const char *name, int cs, int ds,
    uint32_t *id, struct ng_sock **sop)
{
	struct netgraph *ng = vnet->v_netgraph;
	struct ng_sock *so;
	node_p node;
	int error, space;

	if ((so = calloc(1, sizeof(*so))) == NULL) {
		(void)close(cs);
		if (ds != -1)
			(void)close(ds);
		return (ENOMEM);
	}
	so->so_cs = cs;
	so->so_ds = ds;
	atomic_init(&so->so_open, NGSO_CONTROL | (ds != -1 ? NGSO_DATA : 0));
	atomic_init(&so->so_refs, 1);
	space = NG_SOCK_SPACE * atomic_load_explicit(&ng->ng_recvspace,
	    memory_order_relaxed);
	/* One message that is not in a memfd fits. */
	ng_sock_buffer(cs, space, NGS_INLINE_MAX);
	if (ds != -1)
		ng_sock_buffer(ds, space, 0);
	ng_ctl_enter(vnet);
	error = ng_make_node(vnet, NG_SOCKET_NODE_TYPE, &node);
	if (error == 0) {
		atomic_fetch_add_explicit(&so->so_refs, 1,
		    memory_order_relaxed);
		ng_node_set_private(node, so);
		*id = ng_node_id(node);
		atomic_store_explicit(&so->so_node, node,
		    memory_order_release);
		if (name[0] != '\0')
			error = ng_name_node(node, name);
		if (error != 0)
			ng_rmnode_self(node);
	}
	ng_ctl_exit(vnet);
	if (error != 0)
		ng_sock_rele(so);
	else
		*sop = so;
	return (error);
}

void
ng_sock_closed(struct vnet *vnet, struct ng_sock *so, uint32_t ends)
{
	node_p node;
	uint32_t open;

	open = atomic_fetch_and_explicit(&so->so_open, ~ends,
	    memory_order_relaxed) & ~ends;
	if (open != 0)
		return;
	ng_ctl_enter(vnet);
	node = atomic_load_explicit(&so->so_node, memory_order_relaxed);
	if (node != NULL)
		ng_rmnode_self(node);
	ng_ctl_exit(vnet);
}

/* Bytes on their way to, or from, the program; with the kernel's overhead. */
static unsigned int
ng_sock_bytes(int s, unsigned long request)
{
	int bytes;

	return (ioctl(s, request, &bytes) == 0 && bytes > 0 ?
	    (unsigned int)bytes : 0);
}

void
ng_sock_walk(struct vnet *vnet,
    void (*fn)(const struct ng_sock_stat *, void *), void *arg)
{
	struct ng_sock_stat ss;
	struct ng_sock *so;
	uint32_t open;
	node_p node;
	int s;

	VNET_CONFIG_ASSERT(vnet);

	TAILQ_FOREACH(node, &vnet->v_netgraph->ng_nodes, nd_link) {
		if (ng_type_of(node) != &ng_socket_type ||
		    !ng_node_valid(node))
			continue;
		so = ng_node_private(node);
		open = atomic_load_explicit(&so->so_open,
		    memory_order_relaxed);
		for (uint32_t end = NGSO_CONTROL; end <= NGSO_DATA; end <<= 1) {
			if ((open & end) == 0)
				continue;
			s = end == NGSO_DATA ? so->so_ds : so->so_cs;
			ss.ss_id = node->nd_id;
			ss.ss_name = node->nd_name;
			ss.ss_hooks = node->nd_numhooks;
			ss.ss_data = end == NGSO_DATA;
			ss.ss_recvq = ng_sock_bytes(s, SIOCOUTQ);
			ss.ss_sendq = ng_sock_bytes(s, SIOCINQ);
			fn(&ss, arg);
		}
	}
}

/* ---- The type's methods ---- */

static int
ng_socket_constructor(node_p node)
{

	ng_node_set_persistent(node, true);
	return (0);
}

static int
ng_socket_newhook(node_p node, hook_p hook, const char *name)
{
	struct ng_sock *so = ng_node_private(node);
	char buf[NGS_NAMESIZ] = { 0 };
	int fd = -1;

	if (so->so_ds != -1) {
		(void)snprintf(buf, sizeof(buf), "%s", name);
		fd = ng_sock_memfd("netgraph hook", buf, sizeof(buf));
		if (fd == -1)
			return (ENFILE);
	}
	ng_hook_set_private(hook, (void *)(intptr_t)fd);
	return (0);
}

/* Hooks have come or gone: which one is meant by data without a name? */
static void
ng_socket_only(node_p node)
{
	struct ng_sock *so = ng_node_private(node);

	/* Pairs with the acquire in ng_sock_send_cb(). */
	atomic_store_explicit(&so->so_only, ng_node_numhooks(node) == 1 ?
	    ng_hook_next(node, NULL) : NULL, memory_order_release);
}

static int
ng_socket_connect(hook_p hook)
{

	ng_socket_only(ng_hook_node(hook));
	return (0);
}

static int
ng_socket_rcvdata(hook_p hook, item_p item)
{
	node_p node = ng_hook_node(hook);
	struct ng_sock *so = ng_node_private(node);
	unsigned int n = item->it_n;
	int error = 0;

	NET_EPOCH_ASSERT();

	if ((atomic_load_explicit(&so->so_open, memory_order_relaxed) &
	    NGSO_DATA) == 0)
		n = 0;
	for (unsigned int i = 0; i < n && error == 0; i++) {
		error = ng_sock_put_data(so, hook, item->it_m[i]);
		/* When one does not fit, those behind it do not, either. */
		if (error == ENOBUFS)
			counter_add(node->nd_graph->ng_drops + NGD_RECVFULL,
			    n - i);
	}
	ng_item_free(item);
	return (error == ENOBUFS ? error : 0);
}

static int
ng_socket_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	struct ng_sock *so = ng_node_private(node);
	const struct ng_mesg *msg = ng_request_msg(rq);

	(void)lasthook;
	if (msg->header.typecookie == NGM_SOCKET_COOKIE) {
		switch (msg->header.cmd) {
		case NGM_SOCK_CMD_NOLINGER:
			ng_node_set_persistent(node, false);
			return (0);
		case NGM_SOCK_CMD_LINGER:
			ng_node_set_persistent(node, true);
			return (0);
		default:
			return (EINVAL);
		}
	}
	if ((atomic_load_explicit(&so->so_open, memory_order_relaxed) &
	    NGSO_CONTROL) == 0)
		return (EINVAL);
	switch (ng_sock_put_msg(so, msg, ng_request_from(rq))) {
	case 0:
		return (0);
	case EPIPE:
		return (EINVAL);
	default:
		return (ENOBUFS);
	}
}

static void
ng_socket_disconnect(hook_p hook)
{
	int fd = (int)(intptr_t)ng_hook_private(hook);

	if (fd != -1)
		(void)close(fd);
	ng_socket_only(ng_hook_node(hook));
}

/* The program reads what is there, and then the end of file. */
static void
ng_socket_shutdown(node_p node)
{
	struct ng_sock *so = ng_node_private(node);

	atomic_store_explicit(&so->so_node, NULL, memory_order_release);
	(void)shutdown(so->so_cs, SHUT_RDWR);
	if (so->so_ds != -1)
		(void)shutdown(so->so_ds, SHUT_RDWR);
	ng_sock_rele(so);
}

const struct ng_type ng_socket_type = {
	.version = NG_ABI_VERSION,
	.flags = NGTF_NOMKPEER,
	.name = NG_SOCKET_NODE_TYPE,
	.constructor = ng_socket_constructor,
	.rcvmsg = ng_socket_rcvmsg,
	.shutdown = ng_socket_shutdown,
	.newhook = ng_socket_newhook,
	.connect = ng_socket_connect,
	.rcvdata = ng_socket_rcvdata,
	.disconnect = ng_socket_disconnect,
};
