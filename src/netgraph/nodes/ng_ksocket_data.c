/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The ksocket node's data.
 *
 * A socket is in an epoll of its own, and an interrupt event of type NET
 * watches that: so an ithread receives, inside the epoch, in bursts and
 * without waiting, and what it waits for may be changed by any thread at once.
 *
 * What the graph sends to the socket comes by a worker, as the hook asks for
 * it, one thread at a time.  Sending never waits: a datagram that the socket
 * has no room for is dropped and counted.  A stream must not lose the rest of
 * a packet that was taken in part: that waits in ks_txq until the ithread sees
 * room, and up to KS_TXQ_MAX packets behind it.
 *
 * Whose address a datagram has travels beside it (<netgraph/ng_ksocket.h>).
 */
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <netinet/in.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <netepoch/epoch.h>
#include <netgraph/ng_ksocket.h>

#include "ifnet/vnet.h"
#include "intr/intr_var.h"
#include "netgraph/nodes/ng_ksocket_private.h"

#define	KS_IOVS		256		/* mbufs in one call */
#define	KS_CHUNK	16		/* mbufs that a stream is read into */

_Static_assert(NG_KSOCKET_ADDRLEN <= 5 * sizeof(uint64_t),
    "m_cookie[5] is somebody else's");

static inline bool
ks_is_stream(const struct ksock *ks)
{

	return (ks->ks_type == SOCK_STREAM);
}

/* ---- What to wait for ---- */

static void
ks_watch_locked(struct ksock *ks)
{
	struct epoll_event ev = { .events = 0 };
	int op = EPOLL_CTL_MOD;

	MTX_ASSERT(&ks->ks_mtx);

	if (ks->ks_state == KS_CONNECTING)
		ev.events = EPOLLOUT | EPOLLONESHOT;
	else if (ks->ks_state == KS_LISTENING && ks->ks_accepting)
		ev.events = EPOLLIN | EPOLLONESHOT;
	else if (ks->ks_state == KS_OPEN && atomic_load_explicit(
	    &ks->ks_hook, memory_order_relaxed) != NULL)
		ev.events = EPOLLIN;
	if (ks->ks_txq != NULL)
		ev.events |= EPOLLOUT;
	if (ev.events == ks->ks_watched && (ev.events & EPOLLONESHOT) == 0)
		return;
	/* A closed connection is reported as long as it is in the epoll. */
	if (ev.events == 0)
		op = EPOLL_CTL_DEL;
	else if (ks->ks_watched == 0)
		op = EPOLL_CTL_ADD;
	(void)epoll_ctl(ks->ks_epfd, op, ks->ks_fd, &ev);
	ks->ks_watched = ev.events;
}

void
ng_ksocket_watch(struct ksock *ks)
{

	mtx_lock(&ks->ks_mtx);
	ks_watch_locked(ks);
	mtx_unlock(&ks->ks_mtx);
}

void
ng_ksocket_set_state(struct ksock *ks, enum ks_state state)
{

	mtx_lock(&ks->ks_mtx);
	ks->ks_state = state;
	ks_watch_locked(ks);
	mtx_unlock(&ks->ks_mtx);
}

/* ---- To the graph ---- */

static void
ks_deliver(struct ksock *ks, item_p it)
{

	if (it->it_n == 0)
		return;
	ng_stat_add(&ks->ks_stat, KSC_RECEIVED, it->it_n);
	(void)ng_fwd_item(it, atomic_load_explicit(&ks->ks_hook,
	    memory_order_acquire));
}

/* The sender's address, if it has one that fits. */
static void
ks_set_addr(struct mbuf *m, const struct sockaddr_storage *ss, socklen_t len)
{
	const struct sockaddr_un *sun = (const void *)ss;

	if (len <= sizeof(ss->ss_family) || len > NG_KSOCKET_ADDRLEN ||
	    (ss->ss_family == AF_UNIX && sun->sun_path[0] == '\0'))
		return;
	memset(m->m_cookie, 0, NG_KSOCKET_ADDRLEN);
	memcpy(m->m_cookie, ss, len);
	m->m_flags |= M_ADDR;
}

/* One datagram of len bytes, whose end lies in over; NULL: no mbufs. */
static struct mbuf *
ks_datagram(struct mbuf *m, uint32_t len, const char *over)
{
	uint32_t room = m_trailingspace(m);

	m->m_len = m->m_pkthdr.len = len < room ? len : room;
	if (len <= room || m_append(m, len - room, over) == 0)
		return (m);
	m_freem(m);
	return (NULL);
}

/* Out of mbufs: take one datagram all the same, or it comes for ever. */
static void
ks_discard(struct ksock *ks)
{

	ng_stat_add(&ks->ks_stat, KSC_NOMBUF, 1);
	(void)recv(ks->ks_fd, ks->ks_over, 1, MSG_DONTWAIT);
}

static void
ks_received(struct ksock *ks, struct mbuf **m, const struct mmsghdr *mm,
    unsigned int n)
{
	struct ng_item it = { .it_n = 0 };

	for (unsigned int i = 0; i < n; i++) {
		if ((mm[i].msg_hdr.msg_flags & MSG_TRUNC) != 0) {
			ng_stat_add(&ks->ks_stat, KSC_TRUNCATED, 1);
			m_freem(m[i]);
			continue;
		}
		m[i] = ks_datagram(m[i], mm[i].msg_len,
		    ks->ks_over + (size_t)i * KS_DGRAM_MAX);
		if (m[i] == NULL) {
			ng_stat_add(&ks->ks_stat, KSC_NOMBUF, 1);
			continue;
		}
		ks_set_addr(m[i], mm[i].msg_hdr.msg_name,
		    mm[i].msg_hdr.msg_namelen);
		it.it_m[it.it_n++] = m[i];
	}
	ks_deliver(ks, &it);
}

/* The connection has ended: an empty packet says so. */
static void
ks_eof(struct ksock *ks, struct mbuf *m)
{

	ng_ksocket_set_state(ks, KS_EOF);
	(void)ng_fwd_item(&(struct ng_item){ .it_n = 1, .it_m = { m } },
	    atomic_load_explicit(&ks->ks_hook, memory_order_acquire));
}

static enum intr_more
ks_receive_datagrams(struct ksock *ks)
{
	/* A connection's end looks like an empty packet, and for ever. */
	bool seq = ks->ks_type == SOCK_SEQPACKET;
	unsigned int want = seq ? 1 : KS_BURST;
	struct sockaddr_storage from[KS_BURST];
	struct mmsghdr mm[KS_BURST];
	struct iovec iov[KS_BURST][2];
	struct mbuf *m[KS_BURST];
	int n;

	if (m_get_burst(m, want) == 0) {
		ks_discard(ks);
		return (INTR_MORE);
	}
	for (unsigned int i = 0; i < want; i++) {
		iov[i][0].iov_base = m[i]->m_data;
		iov[i][0].iov_len = m_trailingspace(m[i]);
		iov[i][1].iov_base = ks->ks_over + (size_t)i * KS_DGRAM_MAX;
		iov[i][1].iov_len = KS_DGRAM_MAX;
		mm[i].msg_hdr = (struct msghdr){ .msg_name = &from[i],
		    .msg_namelen = sizeof(from[i]), .msg_iov = iov[i],
		    .msg_iovlen = 2 };
	}
	n = recvmmsg(ks->ks_fd, mm, want, MSG_DONTWAIT, NULL);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		ng_stat_add(&ks->ks_stat, KSC_RECVERR, 1);
	if (seq && (n == 1 ? mm[0].msg_len == 0 :
	    errno != EAGAIN && errno != EINTR)) {
		ks_eof(ks, m[0]);
		return (INTR_DONE);
	}
	if (n < 0)
		n = 0;
	m_free_burst(m + n, want - (unsigned int)n);
	ks_received(ks, m, mm, (unsigned int)n);
	return ((unsigned int)n == want ? INTR_MORE : INTR_DONE);
}

/* Bytes of a stream, as they come. */
static enum intr_more
ks_receive_stream(struct ksock *ks)
{
	struct mbuf *m[KS_CHUNK];
	struct iovec iov[KS_CHUNK];
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = KS_CHUNK };
	ssize_t n, left;
	unsigned int i;

	/* The bytes stay in the socket until there are mbufs. */
	if (m_get_burst(m, KS_CHUNK) == 0) {
		ng_stat_add(&ks->ks_stat, KSC_NOMBUF, 1);
		return (INTR_DONE);
	}
	for (i = 0; i < KS_CHUNK; i++) {
		iov[i].iov_base = m[i]->m_data;
		iov[i].iov_len = m_trailingspace(m[i]);
	}
	n = recvmsg(ks->ks_fd, &mh, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		m_free_burst(m, KS_CHUNK);
		return (INTR_DONE);
	}
	if (n <= 0) {
		if (n < 0)
			ng_stat_add(&ks->ks_stat, KSC_RECVERR, 1);
		m_free_burst(m + 1, KS_CHUNK - 1);
		ks_eof(ks, m[0]);
		return (INTR_DONE);
	}
	for (i = 0, left = n; left > 0; i++) {
		m[i]->m_len = (size_t)left < iov[i].iov_len ?
		    (uint32_t)left : (uint32_t)iov[i].iov_len;
		m[i]->m_pkthdr.len = m[i]->m_len;
		left -= m[i]->m_len;
		if (i != 0)
			m_cat(m[0], m[i]);
	}
	m_free_burst(m + i, KS_CHUNK - i);
	ks_deliver(ks, &(struct ng_item){ .it_n = 1, .it_m = { m[0] } });
	return (i == KS_CHUNK ? INTR_MORE : INTR_DONE);
}

/* ---- From the graph ---- */

/* Data of the packet to iov, at most max pieces; 0: it has more. */
static unsigned int
ks_iov(const struct mbuf *m, struct iovec *iov, unsigned int max)
{
	unsigned int n = 0;

	for (; m != NULL; m = m->m_next) {
		if (n == max)
			return (0);
		iov[n].iov_base = m->m_data;
		iov[n++].iov_len = m->m_len;
	}
	return (n);
}

/* Where the packet's address lies, if it is to be sent there. */
static void
ks_get_addr(struct ksock *ks, struct mbuf *m, struct msghdr *mh)
{
	struct sockaddr_storage *ss = (void *)m->m_cookie;

	if ((m->m_flags & M_ADDR) == 0 || atomic_load_explicit(
	    &ks->ks_connected, memory_order_relaxed))
		return;
	mh->msg_name = ss;
	switch (ss->ss_family) {
	case AF_INET:
		mh->msg_namelen = sizeof(struct sockaddr_in);
		break;
	case AF_INET6:
		mh->msg_namelen = sizeof(struct sockaddr_in6);
		break;
	default:
		mh->msg_namelen = NG_KSOCKET_ADDRLEN;
	}
}

/* The call failed for the first packet that is left; how many to drop? */
static unsigned int
ks_send_failed(struct ksock *ks, int error, unsigned int left)
{

	if (error == EAGAIN || error == ENOBUFS) {
		ng_stat_add(&ks->ks_stat, KSC_SENDFULL, left);
		return (left);
	}
	ng_stat_add(&ks->ks_stat, KSC_SENDERR, 1);
	return (1);
}

/* As many packets as one call takes, from it_m[at] on; consumes none. */
static int
ks_send_some(struct ksock *ks, item_p it, unsigned int at)
{
	struct mmsghdr mm[NG_BURST];
	struct iovec iov[KS_IOVS];
	unsigned int n = 0, iovs = 0, k;
	int sent;

	for (; at + n < it->it_n; n++, iovs += k) {
		k = ks_iov(it->it_m[at + n], &iov[iovs], KS_IOVS - iovs);
		if (k == 0)
			break;
		mm[n].msg_hdr = (struct msghdr){ .msg_iov = &iov[iovs],
		    .msg_iovlen = k };
		ks_get_addr(ks, it->it_m[at + n], &mm[n].msg_hdr);
	}
	if (n == 0) {
		errno = EMSGSIZE;
		return (-1);
	}
	do
		sent = sendmmsg(ks->ks_fd, mm, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return (sent);
}

static int
ks_send_datagrams(struct ksock *ks, item_p it)
{
	unsigned int at = 0;
	int error = 0, n;

	while (at < it->it_n) {
		n = ks_send_some(ks, it, at);
		if (n >= 0) {
			ng_stat_add(&ks->ks_stat, KSC_SENT, (uint64_t)n);
			at += (unsigned int)n;
			continue;
		}
		error = errno == EAGAIN ? ENOBUFS : errno;
		at += ks_send_failed(ks, error == ENOBUFS ? EAGAIN : error,
		    it->it_n - at);
	}
	ng_item_free(it);
	return (error);
}

/*
 * Write the packet to the stream: all of it (0), or some or nothing (EAGAIN),
 * and m is cut to what is left; or an error.
 */
static int
ks_write(struct ksock *ks, struct mbuf *m)
{
	struct iovec iov[KS_IOVS];
	struct msghdr mh = { .msg_iov = iov };
	ssize_t n;

	mh.msg_iovlen = ks_iov(m, iov, KS_IOVS);
	if (mh.msg_iovlen == 0)
		return (EMSGSIZE);
	do
		n = sendmsg(ks->ks_fd, &mh, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return (errno);
	if ((size_t)n == m->m_pkthdr.len)
		return (0);
	m_adj(m, (int)n);
	return (EAGAIN);
}

static void
ks_txq_pop(struct ksock *ks)
{
	struct mbuf *m = ks->ks_txq;

	ks->ks_txq = m->m_nextpkt;
	if (ks->ks_txq == NULL)
		ks->ks_txq_end = &ks->ks_txq;
	ks->ks_ntxq--;
	m_freem(m);
}

static int
ks_txq_add(struct ksock *ks, struct mbuf *m)
{

	if (ks->ks_ntxq == KS_TXQ_MAX) {
		ng_stat_add(&ks->ks_stat, KSC_SENDFULL, 1);
		m_freem(m);
		return (ENOBUFS);
	}
	m->m_nextpkt = NULL;
	*ks->ks_txq_end = m;
	ks->ks_txq_end = &m->m_nextpkt;
	ks->ks_ntxq++;
	return (0);
}

/* Write what waits.  closed: the socket will not get room any more. */
static void
ks_push(struct ksock *ks, bool closed)
{
	int error;

	mtx_lock(&ks->ks_mtx);
	while (ks->ks_txq != NULL) {
		error = ks_write(ks, ks->ks_txq);
		if (error == EAGAIN && !closed)
			break;
		ng_stat_add(&ks->ks_stat, error == 0 ? KSC_SENT : KSC_SENDERR,
		    1);
		ks_txq_pop(ks);
	}
	ks_watch_locked(ks);
	mtx_unlock(&ks->ks_mtx);
}

/* Consumes m. */
static int
ks_send_stream_locked(struct ksock *ks, struct mbuf *m)
{
	int error;

	if (ks->ks_txq != NULL)
		return (ks_txq_add(ks, m));
	error = ks_write(ks, m);
	if (error == EAGAIN)
		return (ks_txq_add(ks, m));
	ng_stat_add(&ks->ks_stat, error == 0 ? KSC_SENT : KSC_SENDERR, 1);
	m_freem(m);
	return (error);
}

static int
ks_send_stream(struct ksock *ks, item_p it)
{
	int error = 0, e;

	mtx_lock(&ks->ks_mtx);
	for (unsigned int i = 0; i < it->it_n; i++)
		if ((e = ks_send_stream_locked(ks, it->it_m[i])) != 0)
			error = e;
	if (ks->ks_txq != NULL)
		ks_watch_locked(ks);
	mtx_unlock(&ks->ks_mtx);
	return (error);
}

int
ng_ksocket_rcvdata(hook_p hook, item_p item)
{
	struct ksock *ks = ng_node_private(ng_hook_node(hook));

	NET_EPOCH_ASSERT();

	return (ks_is_stream(ks) ? ks_send_stream(ks, item) :
	    ks_send_datagrams(ks, item));
}

/* ---- The socket and its event ---- */

static enum intr_more
ks_intr(void *arg)
{
	struct ksock *ks = arg;
	struct epoll_event ev;
	enum ks_state state;

	NET_EPOCH_ASSERT();

	if (epoll_wait(ks->ks_epfd, &ev, 1, 0) != 1)
		return (INTR_DONE);
	mtx_lock(&ks->ks_mtx);
	state = ks->ks_state;
	mtx_unlock(&ks->ks_mtx);
	if (state == KS_LISTENING || state == KS_CONNECTING) {
		if (ng_send_fn(ks->ks_node, ng_ksocket_ready, NULL) != 0)
			ng_ksocket_watch(ks);	/* later, then */
		return (INTR_DONE);
	}
	if (state == KS_EOF || (ev.events & EPOLLOUT) != 0)
		ks_push(ks, (ev.events & (EPOLLHUP | EPOLLERR)) != 0);
	if (state != KS_OPEN ||
	    (ev.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0)
		return (INTR_DONE);
	return (ks_is_stream(ks) ? ks_receive_stream(ks) :
	    ks_receive_datagrams(ks));
}

int
ng_ksocket_attach(struct ksock *ks, int fd, int type)
{
	struct intr_domain *id = ng_node_vnet(ks->ks_node)->v_intr;
	char name[32];
	void *over;
	int epfd, error;

	if ((epfd = epoll_create1(EPOLL_CLOEXEC)) == -1)
		return (errno);
	if (type != SOCK_STREAM) {
		/* Pages that no datagram was long enough for cost nothing. */
		over = mmap(NULL, (size_t)KS_BURST * KS_DGRAM_MAX,
		    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS |
		    MAP_NORESERVE, -1, 0);
		if (over == MAP_FAILED) {
			error = ENOMEM;
			goto close_epfd;
		}
		ks->ks_over = over;
	}
	snprintf(name, sizeof(name), "ksocket%u", ng_node_id(ks->ks_node));
	error = intr_event_create(id, name, -1, epfd, EPOLLIN, &ks->ks_ie);
	if (error != 0)
		goto unmap;
	ks->ks_fd = fd;
	ks->ks_epfd = epfd;
	ks->ks_type = type;
	error = intr_handler_add(ks->ks_ie, INTR_TYPE_NET, ks_intr, NULL, ks,
	    &ks->ks_ih);
	if (error == 0)
		return (0);
	ks->ks_fd = ks->ks_epfd = -1;
	intr_event_destroy(ks->ks_ie);
unmap:
	if (ks->ks_over != NULL)
		(void)munmap(ks->ks_over, (size_t)KS_BURST * KS_DGRAM_MAX);
	ks->ks_over = NULL;
close_epfd:
	(void)close(epfd);
	return (error);
}

void
ng_ksocket_detach(struct ksock *ks)
{
	struct linger lg;
	socklen_t len = sizeof(lg);

	if (ks->ks_fd == -1)
		return;
	intr_handler_remove(ks->ks_ih);
	intr_event_destroy(ks->ks_ie);
	(void)close(ks->ks_epfd);
	/* With time to linger, close(2) would wait. */
	if (getsockopt(ks->ks_fd, SOL_SOCKET, SO_LINGER, &lg, &len) == 0 &&
	    lg.l_onoff != 0 && lg.l_linger != 0) {
		lg.l_onoff = 0;
		(void)setsockopt(ks->ks_fd, SOL_SOCKET, SO_LINGER, &lg,
		    sizeof(lg));
	}
	(void)close(ks->ks_fd);
	while (ks->ks_txq != NULL)
		ks_txq_pop(ks);
	if (ks->ks_over != NULL)
		(void)munmap(ks->ks_over, (size_t)KS_BURST * KS_DGRAM_MAX);
}
