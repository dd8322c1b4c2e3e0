/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * ksocket: a socket of the host as a node.  The name of its hook says which
 * socket; what comes by the hook is sent, what is received leaves by it.
 *
 * All of this file is control work.  The socket is in the network namespace of
 * the process and never waits: a connection that takes time, and one that is
 * waited for, are watched by an ithread (ng_ksocket_data.c), which has
 * ng_ksocket_ready() called when there is something.
 */
#include <sys/socket.h>
#include <sys/syscall.h>

#include <netinet/in.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netepoch/mbuf.h>
#include <netgraph/ng_ksocket.h>

#include "ifnet/vnet.h"
#include "netgraph/nodes/ng_ksocket_private.h"
#include "netgraph/nodes/ng_nodes.h"
#include "sys/defs.h"
#include "sys/log.h"

/* Options of the IP levels from here on are netfilter's and mrouting's. */
#define	KS_OPT_IP_END		64
#define	KS_OPT_TCP_ZEROCOPY	35	/* has addresses in it */
#define	KS_OPT_BSD_SOCKET	0xffff	/* FreeBSD's level of sockets */

static int
ng_ksocket_constructor(node_p node)
{
	struct ksock *ks;
	int error;

	if ((ks = calloc(1, sizeof(*ks))) == NULL)
		return (ENOMEM);
	error = ng_stat_init(&ks->ks_stat, KSC_COUNT);
	if (error != 0) {
		free(ks);
		return (error);
	}
	mtx_init(&ks->ks_mtx, "ksocket");
	ks->ks_node = node;
	ks->ks_fd = ks->ks_epfd = -1;
	ks->ks_txq_end = &ks->ks_txq;
	ng_node_set_private(node, ks);
	return (0);
}

/* ---- The hook ---- */

static int
ng_ksocket_newhook(node_p node, hook_p hook, const char *name)
{
	struct ksock *ks = ng_node_private(node);
	int family, type, proto, fd, error;

	if (ng_node_numhooks(node) != 0)
		return (EISCONN);
	/* Of an accepted connection it is, whatever its name. */
	if (ks->ks_fd == -1) {
		error = ng_ksocket_parse_name(name, &family, &type, &proto);
		if (error != 0)
			return (error);
		fd = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC,
		    proto);
		if (fd == -1)
			return (errno);
		error = ng_ksocket_attach(ks, fd, type);
		if (error != 0) {
			(void)close(fd);
			return (error);
		}
		ng_ksocket_set_state(ks, type == SOCK_STREAM ||
		    type == SOCK_SEQPACKET ? KS_NEW : KS_OPEN);
	}
	ng_hook_force_queue(hook);
	return (0);
}

static int
ng_ksocket_connect(hook_p hook)
{
	struct ksock *ks = ng_node_private(ng_hook_node(hook));

	atomic_store_explicit(&ks->ks_hook, hook, memory_order_release);
	ng_ksocket_watch(ks);
	return (0);
}

/* The node dies of it. */
static void
ng_ksocket_disconnect(hook_p hook)
{
	struct ksock *ks = ng_node_private(ng_hook_node(hook));

	atomic_store_explicit(&ks->ks_hook, NULL, memory_order_release);
	ng_ksocket_watch(ks);
}

static void
ng_ksocket_shutdown(node_p node)
{
	struct ksock *ks = ng_node_private(node);

	ng_ksocket_detach(ks);
	ng_stat_fini(&ks->ks_stat);
	mtx_destroy(&ks->ks_mtx);
	free(ks);
}

/* ---- Connections ---- */

static void
ks_wait(struct ks_waiter *kw, struct ng_request *rq)
{

	kw->kw_waiting = true;
	kw->kw_from = ng_request_from(rq);
	kw->kw_hdr = ng_request_msg(rq)->header;
}

/* The answer; if who asked has gone, nobody needs it. */
static void
ks_answer(struct ksock *ks, struct ks_waiter *kw, const void *arg, size_t len)
{

	kw->kw_waiting = false;
	(void)ng_respond_later(ng_node_vnet(ks->ks_node), kw->kw_from,
	    ng_node_id(ks->ks_node), &kw->kw_hdr, arg, len);
}

static void
ks_set_accepting(struct ksock *ks, bool on)
{

	mtx_lock(&ks->ks_mtx);
	ks->ks_accepting = on;
	mtx_unlock(&ks->ks_mtx);
	ng_ksocket_watch(ks);
}

/* A node for the connection, which is its own on success. */
static int
ks_make_accepted(struct ksock *ks, int fd, uint32_t *idp)
{
	struct ksock *child;
	node_p node;
	int error;

	error = ng_make_node(ng_node_vnet(ks->ks_node),
	    NG_KSOCKET_NODE_TYPE, &node);
	if (error != 0)
		return (error);
	child = ng_node_private(node);
	error = ng_ksocket_attach(child, fd, ks->ks_type);
	if (error != 0) {
		ng_rmnode_self(node);
		return (error);
	}
	atomic_store_explicit(&child->ks_connected, true,
	    memory_order_relaxed);
	ng_ksocket_set_state(child, KS_OPEN);
	*idp = ng_node_id(node);
	return (0);
}

/* Answer who waits, if there is a connection: 0, EAGAIN or an error. */
static int
ks_accept_one(struct ksock *ks)
{
	struct {
		uint32_t	nodeid;
		struct sockaddr_storage addr;
	} reply = { 0 };
	socklen_t len = sizeof(reply.addr);
	char buf[sizeof(reply)];
	int fd, error;

	fd = accept4(ks->ks_fd, (void *)&reply.addr, &len,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd == -1)
		return (errno == EINTR || errno == ECONNABORTED ? EAGAIN :
		    errno);
	error = ks_make_accepted(ks, fd, &reply.nodeid);
	if (error != 0) {
		(void)close(fd);
		return (error);
	}
	if (len < sizeof(struct sockaddr))
		len = sizeof(struct sockaddr);
	memcpy(buf, &reply.nodeid, sizeof(reply.nodeid));
	memcpy(buf + sizeof(reply.nodeid), &reply.addr, len);
	ks_answer(ks, &ks->ks_accept, buf, sizeof(reply.nodeid) + len);
	return (0);
}

static int
ks_msg_accept(struct ksock *ks, struct ng_request *rq)
{
	bool listening;
	int error;

	mtx_lock(&ks->ks_mtx);
	listening = ks->ks_state == KS_LISTENING;
	mtx_unlock(&ks->ks_mtx);
	if (!listening)
		return (EINVAL);
	if (ks->ks_accept.kw_waiting)
		return (EALREADY);
	ks_wait(&ks->ks_accept, rq);
	error = ks_accept_one(ks);
	if (error == EAGAIN) {
		ks_set_accepting(ks, true);
		return (0);
	}
	ks->ks_accept.kw_waiting = false;
	return (error);
}

static void
ks_ready_accept(struct ksock *ks)
{
	int error;

	if (!ks->ks_accept.kw_waiting)
		return;
	error = ks_accept_one(ks);
	if (error != EAGAIN)
		ks_set_accepting(ks, false);
	else
		ng_ksocket_watch(ks);
	if (error == 0 || error == EAGAIN)
		return;
	/* There is no reply that says so. */
	ks->ks_accept.kw_waiting = false;
	log_msg(LOG_WARNING, "ng_ksocket: accept: %s", strerror(error));
}

static int
ks_msg_connect(struct ksock *ks, struct ng_request *rq)
{
	const struct ng_mesg *msg = ng_request_msg(rq);
	bool stream = ks->ks_type == SOCK_STREAM ||
	    ks->ks_type == SOCK_SEQPACKET;
	struct sockaddr_storage ss;
	int error;

	error = ng_ksocket_check_addr(msg->data, msg->header.arglen);
	if (error != 0)
		return (error);
	if (ks->ks_connect.kw_waiting)
		return (EALREADY);
	/* The host says so only to who asks it twice. */
	if (stream && atomic_load_explicit(&ks->ks_connected,
	    memory_order_relaxed))
		return (EISCONN);
	memcpy(&ss, msg->data, msg->header.arglen);
	/*
	 * Not by connect(2): the thread sanitizer takes that for the birth of
	 * the descriptor, which an ithread and a worker use already.
	 */
	if (syscall(SYS_connect, ks->ks_fd, &ss, msg->header.arglen) != 0) {
		if (errno != EINPROGRESS)
			return (errno);
		ks_wait(&ks->ks_connect, rq);
		ng_ksocket_set_state(ks, KS_CONNECTING);
		return (EINPROGRESS);
	}
	atomic_store_explicit(&ks->ks_connected, ss.ss_family != AF_UNSPEC,
	    memory_order_relaxed);
	ng_ksocket_set_state(ks, ss.ss_family == AF_UNSPEC && stream ?
	    KS_NEW : KS_OPEN);
	return (0);
}

static void
ks_ready_connect(struct ksock *ks)
{
	socklen_t len = sizeof(int32_t);
	int32_t error;

	if (getsockopt(ks->ks_fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		error = errno;
	atomic_store_explicit(&ks->ks_connected, error == 0,
	    memory_order_relaxed);
	ng_ksocket_set_state(ks, error == 0 ? KS_OPEN : KS_NEW);
	ks_answer(ks, &ks->ks_connect, &error, sizeof(error));
}

void
ng_ksocket_ready(node_p node, void *arg)
{
	struct ksock *ks = ng_node_private(node);

	(void)arg;
	if (ks->ks_connect.kw_waiting)
		ks_ready_connect(ks);
	else
		ks_ready_accept(ks);
}

/* ---- Other messages ---- */

static int
ks_msg_bind(struct ksock *ks, const struct ng_mesg *msg)
{
	struct sockaddr_storage ss;
	int error;

	error = ng_ksocket_check_addr(msg->data, msg->header.arglen);
	if (error != 0)
		return (error);
	memcpy(&ss, msg->data, msg->header.arglen);
	return (bind(ks->ks_fd, (void *)&ss, msg->header.arglen) == 0 ? 0 :
	    errno);
}

static int
ks_msg_listen(struct ksock *ks, const struct ng_mesg *msg)
{
	int32_t backlog;

	if (msg->header.arglen != sizeof(backlog))
		return (EINVAL);
	memcpy(&backlog, msg->data, sizeof(backlog));
	if (listen(ks->ks_fd, backlog) != 0)
		return (errno);
	ng_ksocket_set_state(ks, KS_LISTENING);
	return (0);
}

static int
ks_msg_getname(struct ksock *ks, struct ng_request *rq, bool peer)
{
	struct sockaddr_storage ss = { 0 };
	socklen_t len = sizeof(ss);
	int r;

	if (ng_request_msg(rq)->header.arglen != 0)
		return (EINVAL);
	r = peer ? getpeername(ks->ks_fd, (void *)&ss, &len) :
	    getsockname(ks->ks_fd, (void *)&ss, &len);
	return (r != 0 ? errno : ng_respond(rq, &ss, len));
}

/*
 * May others set and read the option?  Not one whose value has addresses of
 * our memory or descriptors of ours in it.
 */
static bool
ks_opt_allowed(int32_t level, int32_t name)
{

	switch (level) {
	case SOL_SOCKET:
		return (name != SO_ATTACH_FILTER && name != SO_ATTACH_BPF &&
		    name != SO_ATTACH_REUSEPORT_CBPF &&
		    name != SO_ATTACH_REUSEPORT_EBPF);
	case IPPROTO_IP:
	case IPPROTO_IPV6:
		return (name < KS_OPT_IP_END);
	case IPPROTO_TCP:
		return (name != KS_OPT_TCP_ZEROCOPY);
	case IPPROTO_UDP:
	case IPPROTO_RAW:
	case IPPROTO_ICMPV6:
		return (true);
	default:
		return (false);
	}
}

/*
 * Scripts written for FreeBSD give options by its numbers.  Of the level of
 * sockets, which has no other meaning here, they are known.
 */
static void
ks_opt_translate(int32_t *level, int32_t *name)
{
	static const int32_t opts[][2] = {
		{ 0x0004, SO_REUSEADDR }, { 0x0008, SO_KEEPALIVE },
		{ 0x0010, SO_DONTROUTE }, { 0x0020, SO_BROADCAST },
		{ 0x0080, SO_LINGER }, { 0x0100, SO_OOBINLINE },
		{ 0x0200, SO_REUSEPORT }, { 0x1001, SO_SNDBUF },
		{ 0x1002, SO_RCVBUF }, { 0x1003, SO_SNDLOWAT },
		{ 0x1004, SO_RCVLOWAT }, { 0x1005, SO_SNDTIMEO },
		{ 0x1006, SO_RCVTIMEO }, { 0x1007, SO_ERROR },
		{ 0x1008, SO_TYPE },
	};

	if (*level != KS_OPT_BSD_SOCKET)
		return;
	for (size_t i = 0; i < nitems(opts); i++)
		if (opts[i][0] == *name) {
			*level = SOL_SOCKET;
			*name = opts[i][1];
			return;
		}
}

static int
ks_msg_sockopt(struct ksock *ks, struct ng_request *rq, bool set)
{
	const struct ng_mesg *msg = ng_request_msg(rq);
	struct {
		int32_t	level, name;
		uint8_t	value[NG_KSOCKET_MAX_OPTLEN];
	} so = { 0 };
	const size_t hdr = offsetof(struct ng_ksocket_sockopt, value);
	socklen_t len = sizeof(so.value);
	int32_t level, name;

	if (msg->header.arglen < hdr ||
	    (!set && msg->header.arglen != hdr))
		return (EINVAL);
	if (msg->header.arglen > sizeof(so))
		return (EMSGSIZE);
	memcpy(&so, msg->data, msg->header.arglen);
	level = so.level;
	name = so.name;
	ks_opt_translate(&level, &name);
	if (!ks_opt_allowed(level, name))
		return (EOPNOTSUPP);
	if (set)
		return (setsockopt(ks->ks_fd, level, name, so.value,
		    msg->header.arglen - (socklen_t)hdr) == 0 ? 0 : errno);
	if (getsockopt(ks->ks_fd, level, name, so.value, &len) != 0)
		return (errno);
	return (ng_respond(rq, &so, hdr + len));
}

/* What was sent, received and lost. */
static int
ks_msg_status(struct ksock *ks, struct ng_request *rq)
{
	uint64_t n[KSC_COUNT];
	char text[NG_TEXTRESPONSE];

	ng_stat_read(&ks->ks_stat, n, false);
	snprintf(text, sizeof(text), "sent %ju, send errors %ju, "
	    "socket full %ju, received %ju, receive errors %ju, "
	    "too long %ju, no mbufs %ju", (uintmax_t)n[KSC_SENT],
	    (uintmax_t)n[KSC_SENDERR], (uintmax_t)n[KSC_SENDFULL],
	    (uintmax_t)n[KSC_RECEIVED], (uintmax_t)n[KSC_RECVERR],
	    (uintmax_t)n[KSC_TRUNCATED], (uintmax_t)n[KSC_NOMBUF]);
	return (ng_respond(rq, text, strlen(text) + 1));
}

static int
ng_ksocket_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	struct ksock *ks = ng_node_private(node);
	const struct ng_mesg *msg = ng_request_msg(rq);

	(void)lasthook;
	if (msg->header.typecookie == NGM_GENERIC_COOKIE &&
	    msg->header.cmd == NGM_TEXT_STATUS)
		return (ks_msg_status(ks, rq));
	if (msg->header.typecookie != NGM_KSOCKET_COOKIE ||
	    (msg->header.flags & NGF_RESP) != 0)
		return (EINVAL);
	if (ks->ks_fd == -1)
		return (ENXIO);
	switch (msg->header.cmd) {
	case NGM_KSOCKET_BIND:
		return (ks_msg_bind(ks, msg));
	case NGM_KSOCKET_LISTEN:
		return (ks_msg_listen(ks, msg));
	case NGM_KSOCKET_ACCEPT:
		return (msg->header.arglen != 0 ? EINVAL :
		    ks_msg_accept(ks, rq));
	case NGM_KSOCKET_CONNECT:
		return (ks_msg_connect(ks, rq));
	case NGM_KSOCKET_GETNAME:
	case NGM_KSOCKET_GETPEERNAME:
		return (ks_msg_getname(ks, rq,
		    msg->header.cmd == NGM_KSOCKET_GETPEERNAME));
	case NGM_KSOCKET_SETOPT:
	case NGM_KSOCKET_GETOPT:
		return (ks_msg_sockopt(ks, rq,
		    msg->header.cmd == NGM_KSOCKET_SETOPT));
	default:
		return (EINVAL);
	}
}

const struct ng_type ng_ksocket_type = {
	.version = NG_ABI_VERSION,
	.name = NG_KSOCKET_NODE_TYPE,
	.constructor = ng_ksocket_constructor,
	.rcvmsg = ng_ksocket_rcvmsg,
	.shutdown = ng_ksocket_shutdown,
	.newhook = ng_ksocket_newhook,
	.connect = ng_ksocket_connect,
	.rcvdata = ng_ksocket_rcvdata,
	.disconnect = ng_ksocket_disconnect,
	.cmdlist = ng_ksocket_cmds,
};
