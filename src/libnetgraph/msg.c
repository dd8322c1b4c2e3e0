/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Control messages to and from the node.  A send comes back when the graph
 * has worked the message off, with its result (pass.c).  A reply is an
 * ordinary message on the control descriptor, there before the result is.
 */

#include <sys/mman.h>

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netgraph.h>

#include "libnetgraph/nglib.h"
#include "wire/ngsock.h"

_Static_assert(NGS_PATHSIZ == NG_PATHSIZ && NGS_NAMESIZ == NG_NODESIZ &&
    NGS_NAMESIZ == NG_HOOKSIZ, "ngsock.h has the sizes of ng_message.h");

static _Atomic uint32_t nglib_token;	/* (a) relaxed: the next one */

int
nglib_return(int error, int ret, int keep)
{

	errno = error != 0 ? error : keep;
	return (error != 0 ? -1 : ret);
}

void
nglib_request(struct ng_msghdr *hdr, uint32_t cookie, uint32_t cmd)
{

	memset(hdr, 0, sizeof(*hdr));
	hdr->version = NG_VERSION;
	hdr->cmd = cmd;
	hdr->flags = NGF_ORIG;
	hdr->token = atomic_fetch_add_explicit(&nglib_token, 1,
	    memory_order_relaxed) & 0x7fffffff;
	hdr->typecookie = cookie;
}

/* ---- Sending ---- */

static int
nglib_write(int fd, const void *buf, size_t len)
{
	const char *p = buf;
	ssize_t n;

	while (len > 0) {
		n = write(fd, p, len);
		if (n == -1 && errno != EINTR)
			return (errno);
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
	return (0);
}

/* A file in memory with the message, for one that fits no packet. */
static int
nglib_memfd(const struct ng_msghdr *hdr, const void *arg, size_t arglen,
    int *fdp)
{
	int error, fd;

	fd = memfd_create("ng_mesg", MFD_CLOEXEC);
	if (fd == -1)
		return (errno);
	error = nglib_write(fd, hdr, sizeof(*hdr));
	if (error == 0)
		error = nglib_write(fd, arg, arglen);
	if (error != 0)
		(void)close(fd);
	else
		*fdp = fd;
	return (error);
}

/*
 * The machine queues a reply before it answers the send, but a node may reply
 * later: wait until there is something.
 */
static void
nglib_wait_reply(int cs)
{
	struct pollfd pfd = { .fd = cs, .events = POLLIN };

	while (poll(&pfd, 1, -1) == -1 && errno == EINTR)
		continue;
}

int
nglib_deliver(int cs, const char *path, struct ng_msghdr *hdr,
    const void *arg, size_t arglen)
{
	struct ngs_ctl ctl = {
		.magic = NGS_CTL_MAGIC,
		.flags = NGS_CTL_REPLY,
	};
	struct iovec iov[4];
	int error, memfd = -1;
	size_t n = 2;

	if (path == NULL)
		return (EDESTADDRREQ);
	if (arglen > NGS_MESG_MAX - sizeof(*hdr))
		return (EMSGSIZE);
	hdr->arglen = (uint32_t)arglen;
	ctl.pathlen = (uint32_t)strnlen(path, NG_PATHSIZ - 1);
	ctl.msglen = (uint32_t)(sizeof(*hdr) + arglen);
	iov[0] = (struct iovec){ &ctl, sizeof(ctl) };
	iov[1] = (struct iovec){ (void *)(uintptr_t)path, ctl.pathlen };
	if (ctl.msglen > NGS_INLINE_MAX) {
		ctl.flags |= NGS_CTL_MEMFD;
		error = nglib_memfd(hdr, arg, arglen, &memfd);
		if (error != 0)
			return (error);
	} else {
		iov[n++] = (struct iovec){ hdr, sizeof(*hdr) };
		iov[n++] = (struct iovec){ (void *)(uintptr_t)arg, arglen };
	}
	nglib_debug_mesg("to", path, hdr, arg, arglen);
	error = nglib_call(cs, iov, n, memfd);
	if (memfd != -1)
		(void)close(memfd);
	if (error == 0 && (hdr->cmd & NGM_HASREPLY) != 0 &&
	    (hdr->flags & NGF_RESP) == 0)
		nglib_wait_reply(cs);
	return (error);
}

int
NgSendMsg(int cs, const char *path, int cookie, int cmd, const void *arg,
    size_t arglen)
{
	struct ng_msghdr hdr;
	int error;

	nglib_request(&hdr, (uint32_t)cookie, (uint32_t)cmd);
	(void)snprintf((char *)hdr.cmdstr, sizeof(hdr.cmdstr), "cmd%d", cmd);
	error = nglib_deliver(cs, path, &hdr, arg, arg != NULL ? arglen : 0);
	if (error != 0)
		nglib_debug_error(error, "NgSendMsg: %s",
		    path != NULL ? path : "no path");
	return (nglib_return(error, (int)hdr.token, 0));
}

int
NgSendReplyMsg(int cs, const char *path, const struct ng_mesg *msg,
    const void *arg, size_t arglen)
{
	struct ng_msghdr hdr = msg->header;
	int error;

	hdr.flags = NGF_RESP;
	error = nglib_deliver(cs, path, &hdr, arg, arg != NULL ? arglen : 0);
	if (error != 0)
		nglib_debug_error(error, "NgSendReplyMsg: %s",
		    path != NULL ? path : "no path");
	return (nglib_return(error, 0, 0));
}

/* ---- Receiving ---- */

/* Room for a packet with a message. */
#define	NGLIB_ROOM	(sizeof(struct ngs_ctl) + NGS_PATHSIZ + NGS_INLINE_MAX)

/* The message that is in the file fd, with a NUL behind it. */
static int
nglib_read_memfd(int fd, size_t len, struct ng_mesg **mesgp)
{
	size_t off = 0;
	ssize_t n;
	char *buf;

	if (fd == -1)
		return (EBADMSG);
	buf = malloc(len + 1);
	if (buf == NULL)
		return (ENOMEM);
	while (off < len) {
		n = pread(fd, buf + off, len - off, (off_t)off);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0) {
			free(buf);
			return (EBADMSG);
		}
		off += (size_t)n;
	}
	buf[len] = '\0';
	*mesgp = (struct ng_mesg *)(void *)buf;
	return (0);
}

/*
 * Take a packet of n bytes apart.  buf has NGLIB_ROOM bytes and a NUL's; it is
 * turned into the message, or freed.
 */
static int
nglib_parse(char *buf, size_t n, int fd, struct ng_mesg **mesgp, size_t *lenp,
    char *path)
{
	struct ngs_ctl ctl;
	int error = 0;

	if (n < sizeof(ctl))
		goto bad;
	memcpy(&ctl, buf, sizeof(ctl));
	n -= sizeof(ctl);
	if (ctl.magic != NGS_CTL_MAGIC || ctl.pathlen >= NG_PATHSIZ ||
	    n < ctl.pathlen || ctl.msglen < sizeof(struct ng_mesg) ||
	    ctl.msglen > NGS_MESG_MAX)
		goto bad;
	n -= ctl.pathlen;
	memcpy(path, buf + sizeof(ctl), ctl.pathlen);
	path[ctl.pathlen] = '\0';
	if ((ctl.flags & NGS_CTL_MEMFD) != 0) {
		free(buf);
		buf = NULL;
		error = nglib_read_memfd(fd, ctl.msglen, mesgp);
		if (error != 0)
			return (error);
	} else {
		if (n != ctl.msglen)
			goto bad;
		memmove(buf, buf + sizeof(ctl) + ctl.pathlen, n);
		buf[n] = '\0';
		*mesgp = (struct ng_mesg *)(void *)buf;
	}
	*lenp = ctl.msglen;
	if ((*mesgp)->header.arglen <= ctl.msglen - sizeof(struct ng_mesg))
		return (0);
	buf = (char *)*mesgp;
bad:
	free(buf);
	return (EBADMSG);
}

int
nglib_take(int cs, struct ng_mesg **mesgp, size_t *lenp, char *path)
{
	struct iovec iov = { NULL, NGLIB_ROOM };
	int error, fds[NGLIB_FDS];
	size_t n;

	iov.iov_base = malloc(NGLIB_ROOM + 1);
	if (iov.iov_base == NULL)
		return (ENOMEM);
	error = nglib_recv(cs, &iov, 1, &n, fds);
	if (error == 0 && n == 0)
		error = ENOTCONN;		/* our node has gone */
	if (error != 0) {
		free(iov.iov_base);
		return (error);
	}
	error = nglib_parse(iov.iov_base, n, fds[0], mesgp, lenp, path);
	nglib_close(fds);
	if (error == 0)
		nglib_debug_mesg("from", path, &(*mesgp)->header,
		    (*mesgp)->data, (*mesgp)->header.arglen);
	return (error);
}

int
NgRecvMsg(int cs, struct ng_mesg *rep, size_t replen, char *path)
{
	char from[NG_PATHSIZ];
	int error, saved = errno;
	struct ng_mesg *mesg;
	size_t len = 0;

	error = nglib_take(cs, &mesg, &len, path != NULL ? path : from);
	if (error == 0) {
		if (len > replen)
			len = replen;
		memcpy(rep, mesg, len);
		free(mesg);
	} else
		nglib_debug_error(error, "NgRecvMsg");
	return (nglib_return(error, (int)len, saved));
}

int
NgAllocRecvMsg(int cs, struct ng_mesg **rep, char *path)
{
	char from[NG_PATHSIZ];
	int error, saved = errno;
	struct ng_mesg *fit;
	size_t len = 0;

	error = nglib_take(cs, rep, &len, path != NULL ? path : from);
	if (error == 0) {
		fit = realloc(*rep, len + 1);
		if (fit != NULL)
			*rep = fit;
	} else {
		*rep = NULL;
		nglib_debug_error(error, "NgAllocRecvMsg");
	}
	return (nglib_return(error, (int)len, saved));
}
