/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The server of a control socket: one thread, which polls the listening
 * socket and the clients, reads requests, calls their handlers and writes
 * their replies.  It never enters the epoch.
 *
 * Everything but cs_wake belongs to that thread.  A client costs at most
 * CTL_REQUEST_MAX bytes of input and one reply: nothing more is read from it
 * and none of its requests is worked on while a reply lies unsent, so the
 * replies are in order and a client that does not read stops only itself.
 * Each client gets one request per turn.  A line that is longer than a request
 * may be is skipped up to its newline and answered with an error.
 */

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "ctl/ctl_private.h"
#include "sys/defs.h"
#include "sys/log.h"
#include "sys/thread.h"

#define	CTL_READ_MIN	1024		/* first size of an input buffer */
#define	CTL_BACKLOG	64
#define	CTL_ACCEPT_NS	(100 * 1000 * 1000ul) /* rest when out of fds */
#define	CTL_NS		(1000 * 1000 * 1000ul)

struct ctl_conn {
	int		 co_fd;
	bool		 co_eof;	/* it sends no more */
	bool		 co_skip;	/* in the rest of a too long line */
	char		*co_in;		/* what was read and not worked on */
	size_t		 co_inlen;
	size_t		 co_insize;
	size_t		 co_scanned;	/* of co_in, without a newline */
	char		*co_out;	/* a reply, or NULL */
	size_t		 co_outlen;
	size_t		 co_outoff;
	uint64_t	 co_deadline;	/* when co_out must have moved */
	struct ctl_peer	 co_peer;	/* for the handlers */
};

struct ctl_server {
	struct thread	*cs_thread;	/* (c) */
	int		 cs_listen;	/* (c) */
	int		 cs_wake;	/* (c) eventfd: stop */
	const struct ctl_command *cs_cmds; /* (c) */
	size_t		 cs_ncmds;	/* (c) */
	void		*cs_arg;	/* (c) */
	char		 cs_path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	/* The thread's own. */
	struct ctl_conn	 cs_conns[CTL_CLIENTS_MAX];
	unsigned int	 cs_nconns;
	uint64_t	 cs_lastid;	/* of co_peer */
	uint64_t	 cs_accept_at;	/* not before, when out of fds */
};

uint64_t ctl_stall_ns = CTL_STALL_S * CTL_NS;

static const char ctl_full[] = "{\"id\":null,\"ok\":false,\"errno\":11,"
    "\"error\":\"too many clients on this socket\"}\n";
static const char ctl_nomem[] = "{\"id\":null,\"ok\":false,\"errno\":12,"
    "\"error\":\"no memory\"}\n";
static_assert(EAGAIN == 11 && ENOMEM == 12, "as in the two lines above");

/* ---- One client ---- */

static void
ctl_conn_close(struct ctl_conn *co)
{

	(void)close(co->co_fd);
	co->co_fd = -1;
	free(co->co_in);
	free(co->co_out);
	if (co->co_peer.cp_gone != NULL)
		co->co_peer.cp_gone(co->co_peer.cp_arg, co->co_peer.cp_id);
}

/* Bytes of the first whole line of the input, newline too; 0: none yet. */
static size_t
ctl_conn_line(struct ctl_conn *co)
{
	const char *nl;

	nl = memchr(co->co_in + co->co_scanned, '\n',
	    co->co_inlen - co->co_scanned);
	if (nl == NULL) {
		co->co_scanned = co->co_inlen;
		return (0);
	}
	return ((size_t)(nl - co->co_in) + 1);
}

static bool
ctl_conn_ready(struct ctl_conn *co)
{

	return (co->co_out == NULL && co->co_inlen > 0 &&
	    ctl_conn_line(co) > 0);
}

/* Forget n bytes of input; with no more left, the buffer too. */
static void
ctl_conn_consume(struct ctl_conn *co, size_t n)
{

	co->co_inlen -= n;
	co->co_scanned = 0;
	if (co->co_inlen > 0) {
		memmove(co->co_in, co->co_in + n, co->co_inlen);
		return;
	}
	free(co->co_in);
	co->co_in = NULL;
	co->co_insize = 0;
}

/* Room to read into: more than none, unless there is no memory. */
static int
ctl_conn_room(struct ctl_conn *co)
{
	size_t size;
	char *in;

	if (co->co_inlen < co->co_insize)
		return (0);
	size = co->co_insize == 0 ? CTL_READ_MIN : 2 * co->co_insize;
	in = realloc(co->co_in, size);
	if (in == NULL)
		return (ENOMEM);
	co->co_in = in;
	co->co_insize = size;
	return (0);
}

/* Read once.  False: the connection is of no use any more. */
static bool
ctl_conn_read(struct ctl_conn *co)
{
	ssize_t n;

	if (ctl_conn_room(co) != 0)
		return (false);
	n = recv(co->co_fd, co->co_in + co->co_inlen,
	    co->co_insize - co->co_inlen, MSG_DONTWAIT);
	if (n < 0)
		return (errno == EAGAIN || errno == EINTR);
	if (n == 0)
		co->co_eof = true;
	co->co_inlen += (size_t)n;
	if (ctl_conn_line(co) == 0 && co->co_inlen >= CTL_REQUEST_MAX) {
		co->co_skip = true;
		ctl_conn_consume(co, co->co_inlen);
	}
	return (true);
}

/* Write what can be written.  False: the client is gone. */
static bool
ctl_conn_write(struct ctl_conn *co)
{
	ssize_t n;

	n = send(co->co_fd, co->co_out + co->co_outoff,
	    co->co_outlen - co->co_outoff, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return (errno == EAGAIN || errno == EINTR);
	co->co_outoff += (size_t)n;
	co->co_deadline = time_ns() + ctl_stall_ns;
	if (co->co_outoff == co->co_outlen) {
		free(co->co_out);
		co->co_out = NULL;
	}
	return (true);
}

/* Work on the first request of the input.  False: give the client up. */
static bool
ctl_conn_serve(struct ctl_server *cs, struct ctl_conn *co)
{
	json_t *reply;
	size_t len;

	len = ctl_conn_line(co);
	if (co->co_skip) {
		reply = ctl_reply_error(EMSGSIZE, "the request is too long");
		co->co_skip = false;
	} else
		reply = ctl_dispatch_peer(cs->cs_cmds, cs->cs_ncmds,
		    cs->cs_arg, co->co_in, len, &co->co_peer);
	ctl_conn_consume(co, len);
	co->co_out = ctl_reply_line(reply, &co->co_outlen);
	co->co_outoff = 0;
	co->co_deadline = time_ns() + ctl_stall_ns;
	if (co->co_out == NULL) {
		(void)send(co->co_fd, ctl_nomem, sizeof(ctl_nomem) - 1,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
		return (false);
	}
	return (ctl_conn_write(co));
}

/* One turn of a client.  False: it is to be closed. */
static bool
ctl_conn_turn(struct ctl_server *cs, struct ctl_conn *co, short revents,
    uint64_t now)
{

	if (co->co_out != NULL) {
		if (revents != 0 && !ctl_conn_write(co))
			return (false);
		if (co->co_out != NULL && now >= co->co_deadline)
			return (false);
	} else if (revents != 0 && !co->co_eof && !ctl_conn_ready(co)) {
		if (!ctl_conn_read(co))
			return (false);
	}
	if (ctl_conn_ready(co) && !ctl_conn_serve(cs, co))
		return (false);
	return (!co->co_eof || co->co_out != NULL || ctl_conn_ready(co));
}

/* ---- All of them ---- */

static void
ctl_server_accept(struct ctl_server *cs, uint64_t now)
{
	static struct log_limit limit;
	int fd;

	fd = accept4(cs->cs_listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd == -1) {
		if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
			return;
		log_limited(&limit, 1, LOG_WARNING,
		    "%s: no new client: %s", cs->cs_path, strerror(errno));
		cs->cs_accept_at = now + CTL_ACCEPT_NS;
		return;
	}
	if (cs->cs_nconns == CTL_CLIENTS_MAX) {
		(void)send(fd, ctl_full, sizeof(ctl_full) - 1,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
		(void)close(fd);
		return;
	}
	cs->cs_conns[cs->cs_nconns++] = (struct ctl_conn){ .co_fd = fd,
	    .co_peer.cp_id = ++cs->cs_lastid };
}

/* Milliseconds to a time; -1 for never, at least 1 for the future. */
static int
ctl_timeout(uint64_t when, uint64_t now)
{

	if (when == UINT64_MAX)
		return (-1);
	return (when <= now ? 0 : (int)((when - now) / 1000000 + 1));
}

/*
 * What to wait for: pfd[0] the wake, [1] the listening socket, then the
 * clients.  Returns the time to stop waiting at.
 */
static uint64_t
ctl_server_events(struct ctl_server *cs, struct pollfd *pfd, uint64_t now)
{
	struct ctl_conn *co;
	uint64_t when = UINT64_MAX;
	unsigned int i;

	pfd[0] = (struct pollfd){ .fd = cs->cs_wake, .events = POLLIN };
	pfd[1] = (struct pollfd){ .fd = cs->cs_listen, .events = POLLIN };
	if (now < cs->cs_accept_at) {
		pfd[1].fd = -1;
		when = cs->cs_accept_at;
	}
	for (i = 0; i < cs->cs_nconns; i++) {
		co = &cs->cs_conns[i];
		pfd[i + 2] = (struct pollfd){ .fd = co->co_fd,
		    .events = co->co_out != NULL ? POLLOUT : POLLIN };
		if (co->co_out != NULL && co->co_deadline < when)
			when = co->co_deadline;
		else if (ctl_conn_ready(co))
			when = 0;
	}
	return (when);
}

static void
ctl_server_turns(struct ctl_server *cs, const struct pollfd *pfd)
{
	uint64_t now;
	unsigned int i, kept = 0;

	now = time_ns();
	for (i = 0; i < cs->cs_nconns; i++) {
		if (ctl_conn_turn(cs, &cs->cs_conns[i], pfd[i + 2].revents,
		    now))
			cs->cs_conns[kept++] = cs->cs_conns[i];
		else
			ctl_conn_close(&cs->cs_conns[i]);
	}
	cs->cs_nconns = kept;
	if (pfd[1].revents != 0)
		ctl_server_accept(cs, now);
}

static void
ctl_server_run(void *arg)
{
	struct pollfd pfd[CTL_CLIENTS_MAX + 2];
	struct ctl_server *cs = arg;
	uint64_t now, when;
	unsigned int i;

	for (;;) {
		now = time_ns();
		when = ctl_server_events(cs, pfd, now);
		if (poll(pfd, cs->cs_nconns + 2, ctl_timeout(when, now)) < 0)
			continue;	/* EINTR, or no memory for a moment */
		if (pfd[0].revents != 0)
			break;
		ctl_server_turns(cs, pfd);
	}
	for (i = 0; i < cs->cs_nconns; i++)
		ctl_conn_close(&cs->cs_conns[i]);
}

/* ---- Start and stop ---- */

/* Remove a dead daemon's socket; nothing else is ours to remove. */
static int
ctl_socket_clear(const char *path, char *err, size_t errlen)
{
	struct stat sb;
	int error = 0;

	if (lstat(path, &sb) != 0) {
		if (errno == ENOENT)
			return (0);
		error = errno;
	} else if (!S_ISSOCK(sb.st_mode)) {
		ctl_err(err, errlen, "%s is in the way and is no socket",
		    path);
		return (EEXIST);
	} else if (unlink(path) != 0)
		error = errno;
	if (error != 0)
		ctl_err(err, errlen, "%s: %s", path, strerror(error));
	return (error);
}

/* A listening socket at path, or -1. */
static int
ctl_socket_listen(const char *path, int *error, char *err, size_t errlen)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(sun.sun_path)) {
		*error = ENAMETOOLONG;
		ctl_err(err, errlen, "%s: longer than a socket's path may be",
		    path);
		return (-1);
	}
	memcpy(sun.sun_path, path, strlen(path) + 1);
	*error = ctl_socket_clear(path, err, errlen);
	if (*error != 0)
		return (-1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* The mode before bind: at no time may others connect. */
	if (fd == -1 || fchmod(fd, 0660) != 0 ||
	    bind(fd, (struct sockaddr *)&sun, sizeof(sun)) != 0 ||
	    chmod(path, 0660) != 0 || listen(fd, CTL_BACKLOG) != 0) {
		*error = errno;
		ctl_err(err, errlen, "cannot listen on %s: %s", path,
		    strerror(*error));
		if (fd != -1)
			(void)close(fd);
		return (-1);
	}
	return (fd);
}

int
ctl_server_start(const char *path, const struct ctl_command *cmds, size_t n,
    void *arg, struct ctl_server **csp, char *err, size_t errlen)
{
	struct ctl_server *cs;
	int error = ENOMEM;

	cs = calloc(1, sizeof(*cs));
	if (cs == NULL) {
		ctl_err(err, errlen, "no memory for the control server");
		return (error);
	}
	cs->cs_cmds = cmds;
	cs->cs_ncmds = n;
	cs->cs_arg = arg;
	cs->cs_listen = ctl_socket_listen(path, &error, err, errlen);
	if (cs->cs_listen == -1)
		goto free_server;
	(void)snprintf(cs->cs_path, sizeof(cs->cs_path), "%s", path);
	cs->cs_wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (cs->cs_wake == -1) {
		error = errno;
		ctl_err(err, errlen, "eventfd: %s", strerror(error));
		goto close_listen;
	}
	error = thread_create(&cs->cs_thread, "control", THREAD_ANY_CPU,
	    ctl_server_run, cs);
	if (error != 0) {
		ctl_err(err, errlen, "cannot start the control thread: %s",
		    strerror(error));
		goto close_wake;
	}
	*csp = cs;
	return (0);
close_wake:
	(void)close(cs->cs_wake);
close_listen:
	(void)unlink(cs->cs_path);
	(void)close(cs->cs_listen);
free_server:
	free(cs);
	return (error);
}

void
ctl_server_stop(struct ctl_server *cs)
{

	(void)eventfd_write(cs->cs_wake, 1);
	thread_join(cs->cs_thread);
	(void)unlink(cs->cs_path);
	(void)close(cs->cs_wake);
	(void)close(cs->cs_listen);
	free(cs);
}
