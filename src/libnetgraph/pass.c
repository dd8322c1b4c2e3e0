/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Packets on Unix sockets, and the descriptors that travel beside them
 * (wire/ngsock.h).  Signals do not end a wait, as a system call of the kernel
 * would not be ended once the graph is at work.
 */

#include <sys/socket.h>

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "libnetgraph/nglib.h"
#include "wire/ngsock.h"

/* Room for the descriptors, and for credentials if the program wants them. */
union nglib_control {
	struct cmsghdr	align;
	char		buf[CMSG_SPACE(NGLIB_FDS * sizeof(int)) +
			    CMSG_SPACE(sizeof(struct ucred))];
};

void
nglib_close(int fds[NGLIB_FDS])
{
	int i;

	for (i = 0; i < NGLIB_FDS; i++) {
		if (fds[i] != -1)
			(void)close(fds[i]);
		fds[i] = -1;
	}
}

/* The program may have made s non-blocking: that is for receiving. */
static void
nglib_wait_writable(int s)
{
	struct pollfd pfd = { .fd = s, .events = POLLOUT };

	(void)poll(&pfd, 1, -1);
}

int
nglib_send(int s, const struct iovec *iov, size_t n, const int *fds, int nfds)
{
	union nglib_control ctl = { .buf = "" };
	struct msghdr mh = {
		.msg_iov = (struct iovec *)(uintptr_t)iov,
		.msg_iovlen = n,
	};
	struct cmsghdr *cm;

	if (nfds > 0) {
		mh.msg_control = ctl.buf;
		mh.msg_controllen = CMSG_SPACE((size_t)nfds * sizeof(int));
		cm = CMSG_FIRSTHDR(&mh);
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN((size_t)nfds * sizeof(int));
		memcpy(CMSG_DATA(cm), fds, (size_t)nfds * sizeof(int));
	}
	while (sendmsg(s, &mh, MSG_NOSIGNAL) == -1) {
		if (errno == EAGAIN || errno == EWOULDBLOCK)
			nglib_wait_writable(s);
		else if (errno != EINTR)
			return (errno);
	}
	return (0);
}

/* Take the descriptors out of mh; there is room for no more than NGLIB_FDS. */
static void
nglib_take_fds(struct msghdr *mh, int fds[NGLIB_FDS])
{
	struct cmsghdr *cm;
	size_t i, n;

	for (cm = CMSG_FIRSTHDR(mh); cm != NULL; cm = CMSG_NXTHDR(mh, cm)) {
		if (cm->cmsg_level != SOL_SOCKET ||
		    cm->cmsg_type != SCM_RIGHTS)
			continue;
		n = (cm->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(cm) + i * sizeof(int),
			    sizeof(fd));
			if (i < NGLIB_FDS)
				fds[i] = fd;
			else
				(void)close(fd);
		}
	}
}

int
nglib_recv(int s, const struct iovec *iov, size_t n, size_t *lenp,
    int fds[NGLIB_FDS])
{
	union nglib_control ctl;
	struct msghdr mh = {
		.msg_iov = (struct iovec *)(uintptr_t)iov,
		.msg_iovlen = n,
	};
	ssize_t len;
	int i;

	for (i = 0; i < NGLIB_FDS; i++)
		fds[i] = -1;
	/*
	 * A peer that closes before it has read everything resets us.  That
	 * is told once, before what was received, so ask again.
	 */
	do {
		mh.msg_control = ctl.buf;
		mh.msg_controllen = sizeof(ctl.buf);
		len = recvmsg(s, &mh, MSG_CMSG_CLOEXEC);
	} while (len == -1 && (errno == EINTR || errno == ECONNRESET));
	if (len == -1)
		return (errno);
	nglib_take_fds(&mh, fds);
	*lenp = (size_t)len;
	return (0);
}

/* What comes out of the reply socket. */
static int
nglib_result(int s)
{
	struct ngs_result res;
	ssize_t len;

	do {
		len = recv(s, &res, sizeof(res), MSG_TRUNC);
	} while (len == -1 && errno == EINTR);
	if (len <= 0)
		return (ENETDOWN);
	if ((size_t)len != sizeof(res) || res.magic != NGS_RESULT_MAGIC ||
	    res.error < 0)
		return (EBADMSG);
	return (res.error);
}

int
nglib_call(int s, const struct iovec *iov, size_t n, int memfd)
{
	int error, fds[2], pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return (errno);
	fds[0] = pair[1];
	fds[1] = memfd;
	error = nglib_send(s, iov, n, fds, memfd != -1 ? 2 : 1);
	/* Keep none of that end, or its closing would not be seen. */
	(void)close(pair[1]);
	if (error == 0)
		error = nglib_result(pair[0]);
	else if (error == EPIPE || error == ECONNRESET)
		error = ENOTCONN;
	(void)close(pair[0]);
	return (error);
}
