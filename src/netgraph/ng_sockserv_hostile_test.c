/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The server against programs that mean it harm, or are broken.  After each
 * test the program of the set-up must still be served, all other nodes be
 * gone, and all descriptors but those of before be closed.
 */
#include "netgraph/ng_sockserv_testlib.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "netgraph/ng_sock.h"
#include "sys/random_testlib.h"
#include "sys/thread.h"
#include "wire/ngsock.h"

#define	RANDOM_ROUNDS	3000
#define	CLIENTS		1000

/* ---- Raw packets ---- */

static int
raw_connect(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int s;

	(void)snprintf(sun.sun_path, sizeof(sun.sun_path), "%s",
	    ngp_socket());
	s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_true(s != -1);
	assert_int_equal(connect(s, (struct sockaddr *)&sun, sizeof(sun)), 0);
	return (s);
}

/* False: it could not be sent. */
static bool
raw_send(int s, const void *buf, size_t len, const int *fds, size_t nfds)
{
	union {
		struct cmsghdr	 hdr;
		char		 buf[CMSG_SPACE(253 * sizeof(int))];
	} cm;
	struct iovec iov = { (void *)(uintptr_t)buf, len };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (nfds > 0) {
		memset(&cm, 0, sizeof(cm));
		mh.msg_control = &cm;
		mh.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		cm.hdr.cmsg_level = SOL_SOCKET;
		cm.hdr.cmsg_type = SCM_RIGHTS;
		cm.hdr.cmsg_len = CMSG_LEN(nfds * sizeof(int));
		memcpy(CMSG_DATA(&cm.hdr), fds, nfds * sizeof(int));
	}
	return (sendmsg(s, &mh, MSG_NOSIGNAL | MSG_DONTWAIT) != -1);
}

/* The answer that comes, an errno value; -1: the end of file. */
static int
raw_result(int s)
{
	struct pollfd pfd = { .fd = s, .events = POLLIN };
	struct ngs_result nr;
	ssize_t n;

	assert_int_equal(poll(&pfd, 1, 20000), 1);
	n = recv(s, &nr, sizeof(nr), 0);
	if (n <= 0)
		return (-1);
	assert_int_equal(n, sizeof(nr));
	assert_int_equal(nr.magic, NGS_RESULT_MAGIC);
	return (nr.error);
}

/* A packet on s, with a reply socket and further descriptors; its result. */
static int
raw_call(int s, const void *buf, size_t len, const int *more, size_t nmore)
{
	int fds[253], pair[2], error;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
	    pair), 0);
	fds[0] = pair[1];
	if (nmore > 0)
		memcpy(fds + 1, more, nmore * sizeof(int));
	assert_true(raw_send(s, buf, len, fds, 1 + nmore));
	(void)close(pair[1]);
	error = raw_result(pair[0]);
	(void)close(pair[0]);
	return (error);
}

/* A whole nodeinfo to itself, as bytes of a packet. */
struct whole {
	struct ngs_ctl	 w_ctl;
	char		 w_path[2];
	struct ng_mesg	 w_msg;
} __attribute__((packed));

static void
whole_init(struct whole *w)
{

	memset(w, 0, sizeof(*w));
	w->w_ctl.magic = NGS_CTL_MAGIC;
	w->w_ctl.flags = NGS_CTL_REPLY;
	w->w_ctl.pathlen = sizeof(w->w_path);
	w->w_ctl.msglen = sizeof(w->w_msg);
	memcpy(w->w_path, ".:", 2);
	w->w_msg.header.version = NG_VERSION;
	w->w_msg.header.cmd = NGM_NODEINFO;
	w->w_msg.header.typecookie = NGM_GENERIC_COOKIE;
}

static void
check_served(void)
{
	struct whole w;
	struct ng_mesg *rep;

	whole_init(&w);
	assert_int_equal(raw_call(ngp.cs, &w, sizeof(w), NULL, 0), 0);
	assert_true(NgAllocRecvMsg(ngp.cs, &rep, NULL) > 0);
	free(rep);
}

/* A maker whose request was worked on; what it made is gone already. */
static int
raw_served(void)
{
	const struct ngs_make mk = { .magic = NGS_MAKE_MAGIC,
	    .version = NGS_VERSION };
	struct ngs_made md;
	int s;

	s = raw_connect();
	assert_true(raw_send(s, &mk, sizeof(mk), NULL, 0));
	assert_int_equal(recv(s, &md, sizeof(md), 0), sizeof(md));
	assert_int_equal(md.error, 0);
	return (s);
}

/* ---- Tests ---- */

static void
test_makers(void **state)
{
	struct ngs_make mk = { .magic = NGS_MAKE_MAGIC,
	    .version = NGS_VERSION, .flags = NGS_MAKE_DATA, .name = "m" };
	struct ngs_made md;
	const int fds[3] = { 0, 1, 2 };
	struct ngs_make bad;
	int s;

	for (int i = 0; i < 7; i++) {
		size_t len = sizeof(bad);

		bad = mk;
		switch (i) {
		case 0: bad.magic++; break;
		case 1: bad.version++; break;
		case 2: bad.flags = UINT32_MAX; break;
		case 3: memset(bad.name, 'x', sizeof(bad.name)); break;
		case 4: len--; break;
		case 5: len = 0; break;
		case 6: len = 1; break;
		}
		s = raw_connect();
		assert_true(raw_send(s, &bad, len, fds, (size_t)i % 4));
		assert_int_equal(recv(s, &md, sizeof(md), 0), sizeof(md));
		assert_int_equal(md.error, EINVAL);
		assert_int_equal(recv(s, &md, sizeof(md), 0), 0);
		(void)close(s);
	}
	/* Closed before, and after, it was said what is wanted. */
	for (int i = 0; i < 100; i++) {
		s = raw_connect();
		if (i % 2 != 0)
			assert_true(raw_send(s, &mk, sizeof(mk), NULL, 0));
		(void)close(s);
	}
	/* Those in front of this one have been accepted. */
	(void)close(raw_served());
	ngp_wait_closed();
	ngp_wait_nodes(2);
}

/* Each length that is too short, each field that is wrong. */
static void
test_half_messages(void **state)
{
	struct whole w, bad;
	int fd;

	whole_init(&w);
	for (size_t len = 1; len < sizeof(w); len++)
		assert_int_equal(raw_call(ngp.cs, &w, len, NULL, 0), len <
		    sizeof(w.w_ctl) ? -1 : EINVAL);
	for (int i = 0; i < 10; i++) {
		bad = w;
		switch (i) {
		case 0: bad.w_ctl.magic ^= 1; break;
		case 1: bad.w_ctl.flags |= 0x80; break;
		case 2: bad.w_ctl.flags |= NGS_CTL_MEMFD; break;
		case 3: bad.w_ctl.pathlen = UINT32_MAX; break;
		case 4: bad.w_ctl.pathlen = NGS_PATHSIZ; break;
		case 5: bad.w_ctl.pathlen = 3; break;
		case 6: bad.w_ctl.msglen = 0; break;
		case 7: bad.w_msg.header.version = 7; break;
		case 8: bad.w_msg.header.arglen = UINT32_MAX; break;
		case 9: bad.w_path[1] = '\0'; break;
		}
		assert_int_equal(raw_call(ngp.cs, &bad, sizeof(bad), NULL, 0),
		    EINVAL);
	}
	bad = w;
	bad.w_ctl.msglen = UINT32_MAX;
	assert_int_equal(raw_call(ngp.cs, &bad, sizeof(bad), NULL, 0),
	    EMSGSIZE);
	/* A memfd that is none, and one that is too short. */
	bad = w;
	bad.w_ctl.flags |= NGS_CTL_MEMFD;
	fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	assert_int_equal(raw_call(ngp.cs, &bad, sizeof(bad.w_ctl) + 2, &fd,
	    1), EINVAL);
	(void)close(fd);
	fd = memfd_create("short", MFD_CLOEXEC);
	assert_int_equal(write(fd, &w.w_msg, 20), 20);
	assert_int_equal(raw_call(ngp.cs, &bad, sizeof(bad.w_ctl) + 2, &fd,
	    1), EINVAL);
	/* And one that is right. */
	assert_int_equal(pwrite(fd, &w.w_msg, sizeof(w.w_msg), 0),
	    sizeof(w.w_msg));
	assert_int_equal(raw_call(ngp.cs, &bad, sizeof(bad.w_ctl) + 2, &fd,
	    1), 0);
	(void)close(fd);
	/* It was answered. */
	assert_true(recv(ngp.cs, &w, sizeof(w), 0) > 0);
	check_served();
}

static void
test_descriptors_galore(void **state)
{
	int fds[252], dirty;
	struct whole w;

	whole_init(&w);
	for (size_t i = 0; i < 252; i++)
		fds[i] = ngp.cs;
	for (size_t n = 1; n <= 252; n += n < 8 ? 1 : 61) {
		/* The kernel closes what we have no room for: no answer. */
		assert_int_equal(raw_call(ngp.cs, &w, sizeof(w), fds, n),
		    n == 1 ? EINVAL : -1);
		assert_true(raw_send(ngp.ds, &w, sizeof(w), fds, n));
	}
	/* The reply socket is the node's own, a pipe's end, a file. */
	assert_true(raw_send(ngp.cs, &w, sizeof(w), &ngp.cs, 1));
	dirty = open("/dev/null", O_RDWR | O_CLOEXEC);
	assert_true(raw_send(ngp.cs, &w, sizeof(w), &dirty, 1));
	assert_true(raw_send(ngp.ds, &w, sizeof(w), &dirty, 1));
	(void)close(dirty);
	for (int i = 0; i < 2; i++)
		assert_true(recv(ngp.cs, &w, sizeof(w), 0) > 0);
	check_served();
	ngp_wait_closed();
}

/* Nothing is empty, nothing is too long, nobody has to have an answer. */
static void
test_odd_packets(void **state)
{
	static char big[(64 << 10) + 4096];
	struct ngs_data nd = { .hook = "" };
	int size = 1 << 20, s;

	assert_int_equal(setsockopt(ngp.cs, SOL_SOCKET, SO_SNDBUF, &size,
	    sizeof(size)), 0);
	assert_int_equal(setsockopt(ngp.ds, SOL_SOCKET, SO_SNDBUF, &size,
	    sizeof(size)), 0);
	for (int i = 0; i < 50; i++) {
		(void)raw_send(ngp.cs, big, 0, NULL, 0);
		(void)raw_send(ngp.ds, big, 0, NULL, 0);
	}
	assert_int_equal(raw_call(ngp.ds, big, sizeof(big), NULL, 0),
	    EMSGSIZE);
	assert_int_equal(raw_call(ngp.cs, big, sizeof(big), NULL, 0), -1);
	assert_int_equal(raw_call(ngp.ds, &nd, 5, NULL, 0), EINVAL);
	memset(nd.hook, 'a', sizeof(nd.hook));
	assert_int_equal(raw_call(ngp.ds, &nd, sizeof(nd), NULL, 0), EINVAL);
	assert_int_equal(raw_call(ngp.ds, &nd, sizeof(nd), &ngp.cs, 1),
	    EINVAL);
	/* One that will not send any more, but keeps its end. */
	check_served();
	s = ngp.ds;
	assert_int_equal(shutdown(s, SHUT_WR), 0);
	assert_int_equal(ngp_send("a", 5), ENOTCONN);
	check_served();
}

static void
test_random(void **state)
{
	unsigned int seed = (unsigned int)test_seed();
	char buf[sizeof(struct whole) + 64];
	struct whole w;
	int pair[2];

	whole_init(&w);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
	    pair), 0);
	for (int i = 0; i < RANDOM_ROUNDS; i++) {
		const int fds[4] = { pair[1], ngp.ds, pair[0], ngp.cs };
		size_t len = (size_t)rand_r(&seed) % sizeof(buf);
		int s = i % 3 == 0 ? ngp.ds : ngp.cs;

		memcpy(buf, &w, sizeof(w));
		/* All of it random, or a few bytes. */
		for (size_t k = 0; k < (rand_r(&seed) % 2 == 0 ? len : 4);
		    k++)
			buf[(size_t)rand_r(&seed) % sizeof(buf)] =
			    (char)rand_r(&seed);
		while (!raw_send(s, buf, len, fds, (size_t)rand_r(&seed) % 5))
			sched_yield();
		while (recv(ngp.cs, buf, sizeof(buf), MSG_DONTWAIT) > 0 ||
		    recv(pair[0], buf, sizeof(buf), MSG_DONTWAIT) > 0)
			continue;
	}
	(void)close(pair[0]);
	(void)close(pair[1]);
	while (recv(ngp.cs, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		continue;
	/* A random message may have been a shutdown: then we are told. */
	assert_int_equal(raw_call(ngp.cs, &w, sizeof(w), NULL, 0) & ~ENOTCONN,
	    0);
}

/* Ends close in each order, with packets under way in both directions. */
static void
test_closing(void **state)
{
	struct ngm_connect con = { .path = ".", .ourhook = "a",
	    .peerhook = "b" };
	int cs, ds;

	for (int i = 0; i < 200; i++) {
		assert_int_equal(NgMkSockNode("c", &cs, &ds), 0);
		assert_true(NgSendMsg(cs, ".", NGM_GENERIC_COOKIE,
		    NGM_CONNECT, &con, sizeof(con)) >= 0);
		for (int n = 0; n < i % 7; n++)
			assert_int_equal(send(ds, "x", 1, 0), 1);
		if (i % 3 == 0)
			assert_int_equal(NgSendData(ds, "a",
			    (const unsigned char *)"xyz", 3), 0);
		(void)close(i % 2 == 0 ? cs : ds);
		if (i % 5 == 0)
			(void)ngp_nodes();
		(void)close(i % 2 == 0 ? ds : cs);
		ngp_wait_nodes(2);
	}
	ngp_wait_closed();
}

/* All at once, each with a node; and so many that say nothing. */
static void
test_thousand_clients(void **state)
{
	static int cs[CLIENTS], ds[CLIENTS], idle[CLIENTS];
	struct rlimit rl;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &rl), 0);
	assert_true(rl.rlim_cur > 7 * CLIENTS);
	for (int i = 0; i < CLIENTS; i++)
		idle[i] = raw_connect();
	for (int i = 0; i < CLIENTS; i++)
		assert_int_equal(NgMkSockNode(NULL, &cs[i], &ds[i]), 0);
	assert_int_equal(ngp_nodes(), 2 + CLIENTS);
	for (int i = 0; i < CLIENTS; i++) {
		(void)close(cs[i]);
		(void)close(ds[i]);
		(void)close(idle[i]);
	}
	ngp_wait_nodes(2);
	ngp_wait_closed();
}

/* Without descriptors there are no new nodes; then there are again. */
static void
test_out_of_descriptors(void **state)
{
	struct rlimit rl, low;
	int cs, ds, made = 0, kept[64], n;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &rl), 0);
	low = rl;
	low.rlim_cur = ngp_descriptors() + 20;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	for (n = 0; n < 32 && NgMkSockNode(NULL, &cs, &ds) == 0; n++) {
		kept[made++] = cs;
		kept[made++] = ds;
	}
	assert_in_range(n, 1, 31);
	/* One of us has to make room before the other can go on. */
	for (int i = 0; i < made; i++)
		(void)close(kept[i]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &rl), 0);
	ngp_wait_nodes(2);
	assert_int_equal(NgMkSockNode(NULL, &cs, &ds), 0);
	(void)close(cs);
	(void)close(ds);
	ngp_wait_nodes(2);
	ngp_wait_closed();
}

/* It never reads: nobody waits for it, and others are served meanwhile. */
static void
test_slow_reader(void **state)
{
	struct ngm_connect con = { .path = "slow:", .ourhook = "a",
	    .peerhook = "x" };
	struct whole w;
	unsigned int full = 0;
	int cs, ds;

	assert_int_equal(NgMkSockNode("slow", &cs, &ds), 0);
	assert_true(NgSendMsg(ngp.cs, ".", NGM_GENERIC_COOKIE, NGM_CONNECT,
	    &con, sizeof(con)) >= 0);
	for (int i = 0; i < 5000; i++) {
		int error = ngp_send("a", 1000);

		assert_true(error == 0 || error == ENOBUFS);
		full += error == ENOBUFS;
	}
	assert_in_range(full, 4000, 4999);
	/* It asks, and does not read the answers. */
	whole_init(&w);
	w.w_ctl.flags = 0;
	for (int i = 0; i < 5000; i++) {
		while (!raw_send(cs, &w, sizeof(w), NULL, 0))
			sched_yield();
		if (i % 500 == 0)
			check_served();
	}
	check_served();
	(void)close(cs);
	(void)close(ds);
	ngp_wait_nodes(2);
}

#define	NGP_TEST(t)	cmocka_unit_test_setup_teardown(t, ngp_start, ngp_stop)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		NGP_TEST(test_makers),
		NGP_TEST(test_half_messages),
		NGP_TEST(test_descriptors_galore),
		NGP_TEST(test_odd_packets),
		NGP_TEST(test_random),
		NGP_TEST(test_closing),
		NGP_TEST(test_thousand_clients),
		NGP_TEST(test_out_of_descriptors),
		NGP_TEST(test_slow_reader),
	};

	return (cmocka_run_group_tests(tests, ngp_group_start,
	    ngp_group_stop));
}
