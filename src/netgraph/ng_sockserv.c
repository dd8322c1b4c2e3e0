/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The server of programs that have nodes in a machine's graph: one thread,
 * which listens, makes nodes, and takes messages and packets from the programs
 * (wire/ngsock.h).  What goes to them is sent by whoever has it
 * (nodes/ng_socket.c).
 *
 * Everything here belongs to that thread, but for the struct ng_sock (see
 * ng_sock.h) and the event that stops it.  It works on messages with the
 * configuration lock, outside the epoch, and sends packets inside the epoch,
 * without the lock.  It never waits for a program: what a program should read
 * and does not is lost for it, and each gets a few packets per turn.
 *
 * A program is anybody who may open the socket.  What it sends is checked by
 * ng_sockmsg.c; descriptors that it should not have sent are closed; of those
 * connections that have not said yet what they want there are no more than
 * NGSS_MAKERS, then the oldest has to go.
 *
 * getsockname(2) at the program's end gives its node's name, since we bind
 * that end, before it is given away, to a relative path of that name.  For it
 * the thread has a working directory of its own, beside the socket, which is
 * there for just that moment: a machine that is killed leaves none behind.
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netepoch/mbuf.h>

#include "netgraph/ng_sock.h"
#include "netgraph/ng_sockserv.h"
#include "sys/defs.h"
#include "sys/log.h"
#include "sys/thread.h"

#define	NGSS_BACKLOG	128
#define	NGSS_MAKERS	256		/* connections without a node yet */
#define	NGSS_EVENTS	64
#define	NGSS_TURN	16		/* packets of one program at a time */
#define	NGSS_FDS	2		/* descriptors that a packet may have */
#define	NGSS_REST_MS	100		/* when there are no descriptors */
#define	NGSS_DIR	NGS_SOCKET ".d"	/* where ends get their names */
#define	NGSS_BUF	(sizeof(struct ngs_ctl) + NGS_PATHSIZ + NGS_DATA_MAX)

enum ngss_kind { NGSS_WAKE, NGSS_LISTEN, NGSS_MAKER, NGSS_CONTROL, NGSS_DATA };

/* One descriptor that is waited for. */
struct ngss_conn {
	enum ngss_kind	 nc_kind;
	int		 nc_fd;		/* ours if a maker, else nc_so's */
	bool		 nc_gone;	/* on ns_gone */
	struct ng_sock	*nc_so;		/* holds a reference, or NULL */
	TAILQ_ENTRY(ngss_conn) nc_link;
};
TAILQ_HEAD(ngss_list, ngss_conn);

struct ng_sockserv {
	struct vnet	*ns_vnet;	/* (c) */
	struct thread	*ns_thread;	/* (c) */
	char		 ns_path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	int		 ns_epoll;	/* (c) */
	int		 ns_dirfd;	/* (c) where ns_path is */
	struct ngss_conn ns_wake;	/* (c) eventfd: stop */
	struct ngss_conn ns_listen;	/* (c) */
	/* The thread's own. */
	struct ngss_list ns_makers;	/* oldest first */
	struct ngss_list ns_conns;	/* ends of nodes */
	struct ngss_list ns_gone;	/* freed after the turn */
	unsigned int	 ns_nmakers;
	bool		 ns_resting;	/* not listening for a while */
	bool		 ns_stop;
	bool		 ns_owncwd;	/* others do not see us go about */
	bool		 ns_mbufs;	/* has perhaps some in its cache */
	char		 ns_buf[NGSS_BUF] __attribute__((aligned(8)));
};

/* A packet as it came. */
struct ngss_packet {
	ssize_t		 np_len;	/* in ns_buf; 0: perhaps the end */
	bool		 np_cut;	/* it was longer */
	unsigned int	 np_nfds;
	int		 np_fds[NGSS_FDS];
};

/* ---- Descriptors ---- */

static int
ngss_watch(struct ng_sockserv *ns, struct ngss_conn *nc)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLRDHUP,
	    .data.ptr = nc };

	return (epoll_ctl(ns->ns_epoll, EPOLL_CTL_ADD, nc->nc_fd, &ev) == 0 ?
	    0 : errno);
}

static void
ngss_packet_close(struct ngss_packet *np)
{

	for (unsigned int i = 0; i < np->np_nfds; i++)
		(void)close(np->np_fds[i]);
	np->np_nfds = 0;
}

/*
 * The next packet of a connection, into ns_buf.  More descriptors than fit are
 * closed by the kernel; then the others go, too, and it counts as cut.  errno
 * value.
 */
static int
ngss_packet_read(struct ng_sockserv *ns, int fd, struct ngss_packet *np)
{
	union {
		struct cmsghdr	 hdr;
		char		 buf[CMSG_SPACE(sizeof(np->np_fds))];
	} cm;
	struct iovec iov = { ns->ns_buf, sizeof(ns->ns_buf) };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = &cm, .msg_controllen = sizeof(cm.buf) };
	struct cmsghdr *c;

	np->np_nfds = 0;
	np->np_len = recvmsg(fd, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (np->np_len == -1)
		return (errno);
	for (c = CMSG_FIRSTHDR(&mh); c != NULL; c = CMSG_NXTHDR(&mh, c)) {
		if (c->cmsg_level != SOL_SOCKET ||
		    c->cmsg_type != SCM_RIGHTS)
			continue;
		np->np_nfds = (unsigned int)((c->cmsg_len - CMSG_LEN(0)) /
		    sizeof(int));
		memcpy(np->np_fds, CMSG_DATA(c), np->np_nfds * sizeof(int));
	}
	np->np_cut = (mh.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
	if ((mh.msg_flags & MSG_CTRUNC) != 0)
		ngss_packet_close(np);
	return (0);
}

/* A program that is not there any more, or full, does not want it. */
static void
ngss_reply(int fd, int error)
{
	const struct ngs_result nr = {
		.magic = NGS_RESULT_MAGIC,
		.error = error,
	};

	(void)send(fd, &nr, sizeof(nr), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* ---- Making a node ---- */

/* Go into the directory that is there for now; errno value. */
static int
ngss_dir_enter(struct ng_sockserv *ns)
{
	int error = 0, fd;

	if (mkdirat(ns->ns_dirfd, NGSS_DIR, 0700) != 0 && errno != EEXIST)
		return (errno);
	fd = openat(ns->ns_dirfd, NGSS_DIR, O_RDONLY | O_DIRECTORY |
	    O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return (errno);
	if (fchdir(fd) != 0)
		error = errno;
	(void)close(fd);
	return (error);
}

/*
 * Call the socket by the node's name, or "[id]" if it has none or one that is
 * no file's.
 */
static int
ngss_bind(struct ng_sockserv *ns, int fd, const char *name, uint32_t id)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	size_t len;
	int error;

	if (!ns->ns_owncwd)
		return (0);
	if (name[0] != '\0' && strchr(name, '/') == NULL)
		(void)snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", name);
	else
		(void)snprintf(sun.sun_path, sizeof(sun.sun_path), "[%x]", id);
	len = strlen(sun.sun_path);
	error = ngss_dir_enter(ns);
	if (error != 0)
		return (error);
	if (bind(fd, (struct sockaddr *)&sun,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + 1)) !=
	    0)
		error = errno;
	(void)unlink(sun.sun_path);
	(void)unlinkat(ns->ns_dirfd, NGSS_DIR, AT_REMOVEDIR);
	return (error);
}

/* Wait for what comes by the ends of a node; both or none. */
static int
ngss_serve(struct ng_sockserv *ns, struct ng_sock *so)
{
	const int fds[] = { so->so_cs, so->so_ds };
	struct ngss_conn *nc[2] = { NULL, NULL };
	int error = 0;

	for (int i = 0; i < 2 && fds[i] != -1 && error == 0; i++) {
		if ((nc[i] = calloc(1, sizeof(*nc[i]))) == NULL) {
			error = ENOMEM;
			break;
		}
		nc[i]->nc_kind = i == 0 ? NGSS_CONTROL : NGSS_DATA;
		nc[i]->nc_fd = fds[i];
		nc[i]->nc_so = so;
		error = ngss_watch(ns, nc[i]);
	}
	for (int i = 0; i < 2 && nc[i] != NULL; i++) {
		if (error != 0) {
			(void)epoll_ctl(ns->ns_epoll, EPOLL_CTL_DEL, fds[i],
			    NULL);
			free(nc[i]);
			continue;
		}
		if (i == 1)
			atomic_fetch_add_explicit(&so->so_refs, 1,
			    memory_order_relaxed);
		TAILQ_INSERT_TAIL(&ns->ns_conns, nc[i], nc_link);
	}
	return (error);
}

/* A node with its ends; the program's are left in theirs. */
static int
ngss_make(struct ng_sockserv *ns, const struct ngs_make *mk, int *theirs,
    int nends, uint32_t *id)
{
	int ends[2][2] = { { -1, -1 }, { -1, -1 } }, error = 0;
	struct ng_sock *so;

	for (int i = 0; i < nends && error == 0; i++)
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
		    ends[i]) != 0)
			error = errno;
	if (error == 0)
		error = ng_sock_create(ns->ns_vnet, mk->name, ends[0][0],
		    ends[1][0], id, &so);
	else if (ends[0][0] != -1)
		(void)close(ends[0][0]);
	if (error != 0)
		goto close_theirs;
	error = ngss_bind(ns, ends[0][1], mk->name, *id);
	if (error == 0)
		error = ngss_serve(ns, so);
	if (error != 0) {
		ng_sock_closed(ns->ns_vnet, so, NGSO_CONTROL | NGSO_DATA);
		ng_sock_rele(so);
		goto close_theirs;
	}
	theirs[0] = ends[0][1];
	theirs[1] = ends[1][1];
	return (0);
close_theirs:
	for (int i = 0; i < 2; i++)
		if (ends[i][1] != -1)
			(void)close(ends[i][1]);
	return (error);
}

/* Answer a maker, with the program's ends, which we close. */
static void
ngss_made(int fd, const struct ngs_made *md, int *ends, int nends)
{
	union {
		struct cmsghdr	 hdr;
		char		 buf[CMSG_SPACE(2 * sizeof(int))];
	} cm;
	struct iovec iov = { (void *)(uintptr_t)md, sizeof(*md) };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (nends > 0) {
		memset(&cm, 0, sizeof(cm));
		mh.msg_control = &cm;
		mh.msg_controllen = CMSG_SPACE((size_t)nends * sizeof(int));
		cm.hdr.cmsg_level = SOL_SOCKET;
		cm.hdr.cmsg_type = SCM_RIGHTS;
		cm.hdr.cmsg_len = CMSG_LEN((size_t)nends * sizeof(int));
		memcpy(CMSG_DATA(&cm.hdr), ends, (size_t)nends * sizeof(int));
	}
	(void)sendmsg(fd, &mh, MSG_DONTWAIT | MSG_NOSIGNAL);
	for (int i = 0; i < nends; i++)
		(void)close(ends[i]);
}

static void
ngss_maker(struct ng_sockserv *ns, struct ngss_conn *nc)
{
	struct ngs_made md = { 0 };
	struct ngss_packet np;
	struct ngs_make mk;
	int error, ends[2], nends = 0;

	error = ngss_packet_read(ns, nc->nc_fd, &np);
	if (error == EAGAIN || error == EINTR)
		return;
	if (error == 0) {
		ngss_packet_close(&np);
		error = np.np_cut ? EINVAL :
		    ng_sockmsg_make(ns->ns_buf, (size_t)np.np_len, &mk);
	}
	if (error == 0) {
		nends = (mk.flags & NGS_MAKE_DATA) != 0 ? 2 : 1;
		error = ngss_make(ns, &mk, ends, nends, &md.id);
	}
	md.error = error;
	ngss_made(nc->nc_fd, &md, ends, error == 0 ? nends : 0);
	nc->nc_gone = true;
}

/* ---- Messages and packets from a program ---- */

/* The message in its own memory, from the packet or from the memfd. */
static int
ngss_message(const struct ng_sockmsg *sm, const struct ngss_packet *np,
    struct ng_mesg **msgp)
{
	struct ng_mesg *msg;
	int error, fd;

	if ((msg = malloc(sm->sm_len)) == NULL)
		return (ENOMEM);
	error = 0;
	if (!sm->sm_memfd)
		memcpy(msg, sm->sm_mesg, sm->sm_len);
	else {
		fd = np->np_fds[np->np_nfds - 1];
		/* Memory has seals; of files of other kinds none is read. */
		if (fcntl(fd, F_GET_SEALS) == -1 ||
		    pread(fd, msg, sm->sm_len, 0) != (ssize_t)sm->sm_len)
			error = EINVAL;
	}
	if (error == 0)
		error = ng_sockmsg_mesg(msg, sm->sm_len);
	if (error != 0) {
		free(msg);
		return (error);
	}
	*msgp = msg;
	return (0);
}

static void
ngss_control(struct ng_sockserv *ns, struct ngss_conn *nc,
    struct ngss_packet *np)
{
	struct ng_sockmsg sm;
	struct ng_mesg *msg;
	int error;

	error = ng_sockmsg_ctl(ns->ns_buf, (size_t)np->np_len, np->np_nfds,
	    &sm);
	if (np->np_cut && error == 0)
		error = EMSGSIZE;
	if (error == 0)
		error = ngss_message(&sm, np, &msg);
	if (error == 0)
		error = ng_sock_send_msg(ns->ns_vnet, nc->nc_so, msg,
		    sm.sm_path);
	if (sm.sm_reply && np->np_nfds > 0)
		ngss_reply(np->np_fds[0], error);
}

static void
ngss_data(struct ng_sockserv *ns, struct ngss_conn *nc,
    struct ngss_packet *np)
{
	const char *hook = "", *data = ns->ns_buf;
	size_t len = (size_t)np->np_len;
	struct ngs_data nd;
	int error = 0;

	if (np->np_nfds > 0) {
		if (len < sizeof(nd) || np->np_nfds != 1)
			error = EINVAL;
		else {
			memcpy(&nd, data, sizeof(nd));
			if (memchr(nd.hook, '\0', sizeof(nd.hook)) == NULL)
				error = EINVAL;
			hook = nd.hook;
			data += sizeof(nd);
			len -= sizeof(nd);
		}
	}
	if (error == 0 && (np->np_cut || len > NGS_DATA_MAX))
		error = EMSGSIZE;
	if (error == 0)
		error = ng_sock_send_data(ns->ns_vnet, nc->nc_so, hook, data,
		    len);
	ns->ns_mbufs = true;
	if (np->np_nfds > 0)
		ngss_reply(np->np_fds[0], error);
}

/*
 * A few packets of one end.  hup: the program has closed its own, or will not
 * send any more; an empty packet is then the end of what it sent.
 */
static void
ngss_end(struct ng_sockserv *ns, struct ngss_conn *nc, bool hup)
{
	struct ngss_packet np;
	int error;

	for (int i = 0; i < NGSS_TURN; i++) {
		error = ngss_packet_read(ns, nc->nc_fd, &np);
		if (error == EAGAIN || error == EINTR)
			return;
		/* It closed with something unread; what it sent is there. */
		if (error == ECONNRESET)
			continue;
		if (error != 0 || (np.np_len == 0 && np.np_nfds == 0 && hup)) {
			nc->nc_gone = true;
			return;
		}
		/* Nothing, or the end, of which the next event tells. */
		if (np.np_len == 0 && np.np_nfds == 0)
			return;
		if (nc->nc_kind == NGSS_CONTROL)
			ngss_control(ns, nc, &np);
		else
			ngss_data(ns, nc, &np);
		ngss_packet_close(&np);
	}
}

/* ---- Connections ---- */

/* Out of the lists; freed when no event of this turn can mean it any more. */
static void
ngss_conn_drop(struct ng_sockserv *ns, struct ngss_conn *nc)
{

	if (nc->nc_kind == NGSS_MAKER) {
		TAILQ_REMOVE(&ns->ns_makers, nc, nc_link);
		ns->ns_nmakers--;
		(void)close(nc->nc_fd);
	} else {
		TAILQ_REMOVE(&ns->ns_conns, nc, nc_link);
		(void)epoll_ctl(ns->ns_epoll, EPOLL_CTL_DEL, nc->nc_fd, NULL);
		ng_sock_closed(ns->ns_vnet, nc->nc_so,
		    nc->nc_kind == NGSS_CONTROL ? NGSO_CONTROL : NGSO_DATA);
		ng_sock_rele(nc->nc_so);
	}
	nc->nc_gone = true;
	TAILQ_INSERT_TAIL(&ns->ns_gone, nc, nc_link);
}

static void
ngss_listening(struct ng_sockserv *ns, bool on)
{
	struct epoll_event ev = { .events = on ? EPOLLIN : 0,
	    .data.ptr = &ns->ns_listen };

	(void)epoll_ctl(ns->ns_epoll, EPOLL_CTL_MOD, ns->ns_listen.nc_fd,
	    &ev);
	ns->ns_resting = !on;
}

static void
ngss_accept(struct ng_sockserv *ns)
{
	static struct log_limit limit;
	struct ngss_conn *nc = NULL;
	int error = 0, fd;

	fd = accept4(ns->ns_listen.nc_fd, NULL, NULL,
	    SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd == -1) {
		error = errno;
		if (error == EAGAIN || error == EINTR ||
		    error == ECONNABORTED)
			return;
	} else if ((nc = calloc(1, sizeof(*nc))) == NULL)
		error = ENOMEM;
	else {
		nc->nc_kind = NGSS_MAKER;
		nc->nc_fd = fd;
		error = ngss_watch(ns, nc);
	}
	if (error != 0) {
		log_limited(&limit, 1, LOG_WARNING, "%s: no new program: %s",
		    ns->ns_path, strerror(error));
		free(nc);
		if (fd != -1)
			(void)close(fd);
		ngss_listening(ns, false);
		return;
	}
	TAILQ_INSERT_TAIL(&ns->ns_makers, nc, nc_link);
	if (++ns->ns_nmakers > NGSS_MAKERS)
		ngss_conn_drop(ns, TAILQ_FIRST(&ns->ns_makers));
}

static void
ngss_event(struct ng_sockserv *ns, struct ngss_conn *nc, uint32_t events)
{

	if (nc->nc_gone)
		return;
	switch (nc->nc_kind) {
	case NGSS_WAKE:
		ns->ns_stop = true;
		return;
	case NGSS_LISTEN:
		ngss_accept(ns);
		return;
	case NGSS_MAKER:
		ngss_maker(ns, nc);
		break;
	case NGSS_CONTROL:
	case NGSS_DATA:
		ngss_end(ns, nc, (events & (EPOLLHUP | EPOLLRDHUP |
		    EPOLLERR)) != 0);
		break;
	}
	if (nc->nc_gone)
		ngss_conn_drop(ns, nc);
}

/* Before it sleeps, the thread's cached mbufs go back to all. */
static int
ngss_wait(struct ng_sockserv *ns, struct epoll_event *ev)
{
	int n;

	if (ns->ns_mbufs) {
		n = epoll_wait(ns->ns_epoll, ev, NGSS_EVENTS, 0);
		if (n != 0)
			return (n);
		m_cache_drain();
		ns->ns_mbufs = false;
	}
	return (epoll_wait(ns->ns_epoll, ev, NGSS_EVENTS,
	    ns->ns_resting ? NGSS_REST_MS : -1));
}

static void
ngss_run(void *arg)
{
	struct ng_sockserv *ns = arg;
	struct epoll_event ev[NGSS_EVENTS];
	struct ngss_conn *nc;
	int n;

	/* A working directory of our own: ngss_bind(). */
	ns->ns_owncwd = unshare(CLONE_FS) == 0;
	if (!ns->ns_owncwd)
		log_msg(LOG_WARNING, "%s: programs will not find their "
		    "nodes' names by getsockname(2): %s", ns->ns_path,
		    strerror(errno));
	while (!ns->ns_stop) {
		n = ngss_wait(ns, ev);
		if (ns->ns_resting)
			ngss_listening(ns, true);
		for (int i = 0; i < n; i++)
			ngss_event(ns, ev[i].data.ptr, ev[i].events);
		while ((nc = TAILQ_FIRST(&ns->ns_gone)) != NULL) {
			TAILQ_REMOVE(&ns->ns_gone, nc, nc_link);
			free(nc);
		}
	}
	while ((nc = TAILQ_FIRST(&ns->ns_makers)) != NULL)
		ngss_conn_drop(ns, nc);
	while ((nc = TAILQ_FIRST(&ns->ns_conns)) != NULL)
		ngss_conn_drop(ns, nc);
	while ((nc = TAILQ_FIRST(&ns->ns_gone)) != NULL) {
		TAILQ_REMOVE(&ns->ns_gone, nc, nc_link);
		free(nc);
	}
}

/* ---- Start and stop ---- */

/* A listening socket at path in place of a dead machine's; errno value. */
static int
ngss_listen(const char *path, int *fdp)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct stat sb;
	int error, fd;

	memcpy(sun.sun_path, path, strlen(path) + 1);
	if (lstat(path, &sb) == 0) {
		if (!S_ISSOCK(sb.st_mode))
			return (EEXIST);
		if (unlink(path) != 0)
			return (errno);
	}
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return (errno);
	/* The mode before bind: at no time may others connect. */
	if (fchmod(fd, 0660) != 0 ||
	    bind(fd, (struct sockaddr *)&sun, sizeof(sun)) != 0 ||
	    chmod(path, 0660) != 0 || listen(fd, NGSS_BACKLOG) != 0) {
		error = errno;
		(void)close(fd);
		return (error);
	}
	*fdp = fd;
	return (0);
}

/* What a machine left that was killed in the middle of ngss_bind(). */
static void
ngss_dir_clean(struct ng_sockserv *ns)
{
	struct dirent *de;
	DIR *d;
	int fd;

	fd = openat(ns->ns_dirfd, NGSS_DIR, O_RDONLY | O_DIRECTORY |
	    O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return;
	if ((d = fdopendir(fd)) == NULL) {
		(void)close(fd);
		return;
	}
	while ((de = readdir(d)) != NULL)
		if (de->d_type == DT_SOCK)
			(void)unlinkat(fd, de->d_name, 0);
	(void)closedir(d);
	(void)unlinkat(ns->ns_dirfd, NGSS_DIR, AT_REMOVEDIR);
}

/* The directory of the socket, and the name of one beside it; errno value. */
static int
ngss_dir_open(struct ng_sockserv *ns)
{
	char dir[sizeof(ns->ns_path)];
	char *slash;

	memcpy(dir, ns->ns_path, sizeof(dir));
	slash = strrchr(dir, '/');
	if (slash != NULL)
		slash[1] = '\0';
	ns->ns_dirfd = open(slash != NULL ? dir : ".", O_RDONLY |
	    O_DIRECTORY | O_CLOEXEC);
	if (ns->ns_dirfd == -1)
		return (errno);
	ngss_dir_clean(ns);
	return (0);
}

static void
ngss_free(struct ng_sockserv *ns)
{
	const int fds[] = { ns->ns_wake.nc_fd, ns->ns_epoll, ns->ns_dirfd };

	if (ns->ns_listen.nc_fd != -1) {
		(void)unlink(ns->ns_path);
		(void)close(ns->ns_listen.nc_fd);
	}
	for (size_t i = 0; i < nitems(fds); i++)
		if (fds[i] != -1)
			(void)close(fds[i]);
	free(ns);
}

/* All but the thread; errno value. */
static int
ngss_open(struct ng_sockserv *ns)
{
	int error;

	error = ngss_dir_open(ns);
	if (error != 0)
		return (error);
	ns->ns_epoll = epoll_create1(EPOLL_CLOEXEC);
	if (ns->ns_epoll == -1)
		return (errno);
	ns->ns_wake.nc_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (ns->ns_wake.nc_fd == -1)
		return (errno);
	error = ngss_watch(ns, &ns->ns_wake);
	if (error == 0)
		error = ngss_listen(ns->ns_path, &ns->ns_listen.nc_fd);
	if (error == 0)
		error = ngss_watch(ns, &ns->ns_listen);
	return (error);
}

int
ng_sockserv_start(struct vnet *vnet, const char *path,
    struct ng_sockserv **nsp, char *err, size_t errlen)
{
	struct ng_sockserv *ns;
	int error = ENOMEM;

	if ((ns = calloc(1, sizeof(*ns))) == NULL)
		goto fail;
	ns->ns_vnet = vnet;
	ns->ns_epoll = ns->ns_dirfd = -1;
	ns->ns_wake = (struct ngss_conn){ .nc_kind = NGSS_WAKE, .nc_fd = -1 };
	ns->ns_listen = (struct ngss_conn){ .nc_kind = NGSS_LISTEN,
	    .nc_fd = -1 };
	TAILQ_INIT(&ns->ns_makers);
	TAILQ_INIT(&ns->ns_conns);
	TAILQ_INIT(&ns->ns_gone);
	error = ENAMETOOLONG;
	if (snprintf(ns->ns_path, sizeof(ns->ns_path), "%s", path) >=
	    (int)sizeof(ns->ns_path))
		goto free_server;
	error = ngss_open(ns);
	if (error == 0)
		error = thread_create(&ns->ns_thread, "ng_socket",
		    THREAD_ANY_CPU, ngss_run, ns);
	if (error != 0)
		goto free_server;
	*nsp = ns;
	return (0);
free_server:
	ngss_free(ns);
fail:
	snprintf(err, errlen, "cannot serve netgraph at %s: %s", path,
	    strerror(error));
	return (error);
}

void
ng_sockserv_stop(struct ng_sockserv *ns)
{

	(void)eventfd_write(ns->ns_wake.nc_fd, 1);
	thread_join(ns->ns_thread);
	ngss_free(ns);
}
