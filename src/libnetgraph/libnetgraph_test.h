/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The machine's side of wire/ngsock.h as far as the tests of this room need
 * it: it sends what no machine would send, and nothing at all.  What a real
 * machine does is tested where there is one.
 */
#ifndef _LIBNETGRAPH_LIBNETGRAPH_TEST_H_
#define	_LIBNETGRAPH_LIBNETGRAPH_TEST_H_

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <netgraph.h>

#include "sys/rundir.h"
#include "wire/ngsock.h"

static char test_dir[] = "/tmp/netgraph-test-XXXXXX";
static int test_lock = -1, test_listen = -1;

/* ---- A machine M1 that is alive, and a listener for its netgraph ---- */

static inline void
test_path(const char *file, char *buf, size_t len)
{

	assert_int_equal(rundir_path("M1", file, buf, len), 0);
}

static inline void
test_machine_start(void)
{
	struct flock fl = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char path[100];

	test_path(NULL, path, sizeof(path));
	assert_int_equal(mkdir(path, 0700), 0);
	test_path("lock", path, sizeof(path));
	test_lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_not_equal(test_lock, -1);
	assert_int_equal(fcntl(test_lock, F_OFD_SETLK, &fl), 0);
	test_path(NGS_SOCKET, sun.sun_path, sizeof(sun.sun_path));
	test_listen = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_not_equal(test_listen, -1);
	assert_int_equal(bind(test_listen, (struct sockaddr *)&sun,
	    sizeof(sun)), 0);
	assert_int_equal(listen(test_listen, 8), 0);
}

static inline void
test_machine_stop(void)
{
	static const char *const files[] = { "lock", NGS_SOCKET };
	char path[100];
	size_t i;

	(void)close(test_listen);
	(void)close(test_lock);
	for (i = 0; i < 2; i++) {
		test_path(files[i], path, sizeof(path));
		assert_int_equal(unlink(path), 0);
	}
	test_path(NULL, path, sizeof(path));
	assert_int_equal(rmdir(path), 0);
}

/* Descriptors that this process has open. */
static inline int
test_open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(d);
	while (readdir(d) != NULL)
		n++;
	(void)closedir(d);
	return (n);
}

/* ---- Packets ---- */

/* Send len bytes with nfds descriptors, which are closed. */
static inline void
test_send(int s, const void *buf, size_t len, const int *fds, int nfds)
{
	union {
		struct cmsghdr	align;
		char		buf[CMSG_SPACE(4 * sizeof(int))];
	} ctl = { .buf = "" };
	struct iovec iov = { (void *)(uintptr_t)buf, len };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cm;
	int i;

	if (nfds > 0) {
		mh.msg_control = ctl.buf;
		mh.msg_controllen = CMSG_SPACE((size_t)nfds * sizeof(int));
		cm = CMSG_FIRSTHDR(&mh);
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN((size_t)nfds * sizeof(int));
		memcpy(CMSG_DATA(cm), fds, (size_t)nfds * sizeof(int));
	}
	assert_int_equal(sendmsg(s, &mh, MSG_NOSIGNAL), len);
	for (i = 0; i < nfds; i++)
		(void)close(fds[i]);
}

/* Receive a packet; descriptors that did not come are -1. */
static inline size_t
test_recv(int s, void *buf, size_t room, int fds[2])
{
	union {
		struct cmsghdr	align;
		char		buf[CMSG_SPACE(2 * sizeof(int))];
	} ctl;
	struct iovec iov = { buf, room };
	struct msghdr mh = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = ctl.buf,
		.msg_controllen = sizeof(ctl.buf),
	};
	struct cmsghdr *cm;
	ssize_t n;

	fds[0] = fds[1] = -1;
	n = recvmsg(s, &mh, MSG_CMSG_CLOEXEC);
	assert_true(n >= 0);
	assert_int_equal(mh.msg_flags & (MSG_TRUNC | MSG_CTRUNC), 0);
	cm = CMSG_FIRSTHDR(&mh);
	if (cm != NULL)
		memcpy(fds, CMSG_DATA(cm), cm->cmsg_len - CMSG_LEN(0));
	return ((size_t)n);
}

static inline int
test_memfd(const void *buf, size_t len)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_int_not_equal(fd, -1);
	assert_int_equal(write(fd, buf, len), len);
	return (fd);
}

/* ---- The maker ---- */

struct test_node {
	int		 cs, ds;	/* the machine's ends */
	struct ngs_make	 make;		/* what was asked */
	struct ngs_made	 made;		/* what is answered: madelen bytes */
	size_t		 madelen;
	int		 nfds;		/* how many descriptors; -1: right */
	pthread_t	 thread;
};

static inline void *
test_maker(void *arg)
{
	struct test_node *tn = arg;
	int fds[4], i, none[2], nfds, pair[2], s;

	s = accept4(test_listen, NULL, NULL, SOCK_CLOEXEC);
	assert_int_not_equal(s, -1);
	assert_int_equal(test_recv(s, &tn->make, sizeof(tn->make), none),
	    sizeof(tn->make));
	nfds = tn->nfds;
	if (nfds == -1)
		nfds = (tn->make.flags & NGS_MAKE_DATA) != 0 ? 2 : 1;
	for (i = 0; i < nfds; i++) {
		assert_int_equal(socketpair(AF_UNIX,
		    SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
		fds[i] = pair[1];
		if (i == 0)
			tn->cs = pair[0];
		else if (i == 1)
			tn->ds = pair[0];
		else
			(void)close(pair[0]);
	}
	if (tn->madelen > 0)
		test_send(s, &tn->made, tn->madelen, fds, nfds);
	(void)close(s);
	return (NULL);
}

static inline void
test_maker_start(struct test_node *tn)
{

	tn->cs = tn->ds = -1;
	assert_int_equal(pthread_create(&tn->thread, NULL, test_maker, tn), 0);
}

static inline void
test_maker_wait(struct test_node *tn)
{

	assert_int_equal(pthread_join(tn->thread, NULL), 0);
}

/* The machine closes the node's sockets. */
static inline void
test_node_close(struct test_node *tn)
{

	if (tn->cs != -1)
		(void)close(tn->cs);
	if (tn->ds != -1)
		(void)close(tn->ds);
	tn->cs = tn->ds = -1;
}

/* A node as a machine makes it, for the tests of what comes after. */
static inline void
test_node_open(struct test_node *tn, int *cs, int *ds)
{

	memset(tn, 0, sizeof(*tn));
	tn->madelen = sizeof(tn->made);
	tn->made.id = 1;
	tn->nfds = -1;
	test_maker_start(tn);
	assert_int_equal(NgMkSockNode(NULL, cs, ds), 0);
	test_maker_wait(tn);
}

#endif /* _LIBNETGRAPH_LIBNETGRAPH_TEST_H_ */
