/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A program's node, through libnetgraph and the server: what programs written
 * for FreeBSD's netgraph rely on.
 */
#include "netgraph/ng_sockserv_testlib.h"

#include <sys/socket.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <netgraph/ng_hub.h>

#include "netgraph/ng_sockserv.h"
#include "netgraph/nodes/ng_nodes.h"
#include "sys/sysctl.h"
#include "wire/ngsock.h"

#define	assert_hooks(a, b, c)	do {					\
	assert_int_equal(ngp.count[0], (a));				\
	assert_int_equal(ngp.count[1], (b));				\
	assert_int_equal(ngp.count[2], (c));				\
} while (0)

static void
tune(const char *name, const char *value)
{
	char err[256];

	assert_int_equal(sysctl_set(ngt_vnet()->v_sysctl, name, value, err,
	    sizeof(err)), 0);
}

/* ---- What any node does ---- */

static void
test_send_recv(void **state)
{
	unsigned char *buf;
	char hook[NG_HOOKSIZ];

	assert_int_equal(ngp_connect(".", ".", "a", "b"), 0);
	assert_int_equal(NgSendData(ngp.ds, "a",
	    (const unsigned char *)"12345", 5), 0);
	assert_int_equal(NgAllocRecvData(ngp.ds, &buf, hook), 5);
	assert_memory_equal(buf, "12345", 5);
	assert_string_equal(hook, "b");
	free(buf);
	assert_int_equal(ngp_events(1), 0);
}

static void
test_node(void **state)
{

	assert_int_equal(ngp_mkpeer(".", "hub", "a", "a"), 0);
	assert_int_equal(NgNameNode(ngp.cs, "a", "%s", "test hub"), 0);
	assert_int_equal(errno, 0);
	assert_int_equal(NgNameNode(ngp.cs, "a", "%s", "test hub"), 0);
	assert_int_equal(errno, 0);
	assert_int_equal(ngp_connect(".", "test hub:", "b", "b"), 0);
	assert_int_equal(ngp_connect(".", "test hub:", "c", "c"), 0);
	assert_int_equal(ngp_send("a", 5), 0);
	(void)ngp_events(10);
	assert_hooks(0, 1, 1);
	assert_int_equal(ngp_rmhook(".", "b"), 0);
	assert_int_equal(ngp_send("a", 5), 0);
	(void)ngp_events(10);
	assert_hooks(0, 0, 1);
	assert_int_equal(ngp_shutdown("test hub:"), 0);
	assert_int_equal(ngp_shutdown("test hub:"), ENOENT);
	assert_int_equal(ngp_send("a", 5), EHOSTUNREACH);
}

static void
test_message(void **state)
{

	assert_int_equal(ngp_mkpeer(".", "hub", "a", "a"), 0);
	assert_int_equal(NgNameNode(ngp.cs, "a", "%s", "hub"), 0);
	assert_true(NgSendAsciiMsg(ngp.cs, "hub:", "%s", "setpersistent") >=
	    0);
	assert_int_equal(ngp_rmhook(".", "a"), 0);
	assert_int_equal(ngp_shutdown("hub:"), 0);
	/* And without that message it goes with its hook. */
	assert_int_equal(ngp_mkpeer(".", "hub", "a", "a"), 0);
	assert_int_equal(NgNameNode(ngp.cs, "a", "%s", "hub"), 0);
	assert_int_equal(ngp_rmhook(".", "a"), 0);
	assert_int_equal(ngp_shutdown("hub:"), ENOENT);
}

static void
test_same_name(void **state)
{

	assert_int_equal(ngp_mkpeer(".", "hub", "a", "a"), 0);
	assert_int_equal(NgNameNode(ngp.cs, "a", "%s", "hub"), 0);
	assert_int_equal(ngp_connect(".", ".", "a", "b"), EEXIST);
	assert_int_equal(ngp_connect(".", ".", "b", "b"), EEXIST);
	assert_int_equal(NgNameNode(ngp.cs, ".", "%s", "hub"), -1);
	assert_int_equal(errno, EADDRINUSE);
}

static void
test_queue_limit(void **state)
{
	unsigned int sent = 0;
	int error;

	assert_int_equal(ngp_connect(".", ".", "a", "b"), 0);
	while ((error = ngp_send("a", 5)) == 0 && sent < 1000)
		sent++;
	assert_int_equal(error, ENOBUFS);
	assert_in_range(sent, 101, 999);
	assert_int_equal(ngp_events(1000), sent);
	assert_int_equal(ngp_send("a", 5), 0);
	assert_int_equal(ngp_events(1000), 1);
}

/* ---- hub ---- */

static void
test_hub(void **state)
{

	assert_int_equal(ngp_mkpeer(".", "hub", "a", "a"), 0);
	assert_int_equal(ngp_connect(".", "a", "b", "b"), 0);
	assert_int_equal(ngp_connect(".", "a", "c", "c"), 0);
	for (const char *from = "abc"; *from != '\0'; from++) {
		const char hook[] = { *from, '\0' };

		assert_int_equal(ngp_send(hook, 5), 0);
		assert_int_equal(ngp_events(10), 2);
		assert_int_equal(ngp.count[*from - 'a'], 0);
	}
	assert_int_equal(ngp_rmhook(".", "b"), 0);
	assert_int_equal(ngp_send("a", 5), 0);
	assert_int_equal(ngp_events(10), 1);
}

/* Two hubs, twice joined: it goes round, and comes to an end. */
static void
test_hub_loop(void **state)
{

	assert_int_equal(ngp_mkpeer(".", "hub", "a", "a"), 0);
	assert_int_equal(NgNameNode(ngp.cs, "a", "%s", "hub1"), 0);
	assert_int_equal(ngp_mkpeer(".", "hub", "b", "b"), 0);
	assert_int_equal(NgNameNode(ngp.cs, "b", "%s", "hub2"), 0);
	assert_int_equal(ngp_connect("hub1:", "hub2:", "xc1", "xc1"), 0);
	assert_int_equal(ngp_send("a", 5), 0);
	(void)ngp_events(10);
	assert_hooks(0, 1, 0);
	assert_int_equal(ngp_connect("hub1:", "hub2:", "xc2", "xc2"), 0);
	assert_int_equal(ngp_send("a", 5), 0);
	assert_in_range(ngp_events(10), 8, 10);
	assert_int_equal(ngp_shutdown("hub1:"), 0);
	assert_int_equal(ngp_shutdown("hub2:"), 0);
	(void)ngp_events(10000);
	assert_int_equal(ngp_events(1), 0);
}

/* Each hook's packet is copied to all others; all come to this program. */
static void
test_hub_many_hooks(void **state)
{
	unsigned int i, n = 0;
	char hook[NG_HOOKSIZ];
	int error = 0;

	assert_int_equal(ngp_mkpeer(".", "hub", "a", "a"), 0);
	for (i = 1; i < 1000 && error == 0; i++) {
		(void)snprintf(hook, sizeof(hook), "h%u", i);
		assert_int_equal(ngp_connect(".", "a", hook, hook), 0);
		error = ngp_send(hook, 5);
		(void)ngp_events(error == 0 ? i : 2000);
		n += ngp.count[0];
		if (error == 0)
			assert_int_equal(ngp.total, i);
	}
	assert_int_equal(error, ENOBUFS);
	assert_in_range(n, 101, 999);
}

/* ---- The socket itself ---- */

static void
check_name(const char *make, const char *want)
{
	struct sockaddr_ng sg = { .sg_len = 0 };
	socklen_t len = sizeof(sg);
	int cs, ds;

	assert_int_equal(NgMkSockNode(make, &cs, &ds), 0);
	assert_int_equal(getsockname(cs, (struct sockaddr *)&sg, &len), 0);
	assert_true(len <= sizeof(sg));
	if (want != NULL)
		assert_string_equal(sg.sg_data, want);
	else {
		struct ng_mesg *rep;
		char id[16];

		assert_true(NgSendMsg(cs, ".", NGM_GENERIC_COOKIE,
		    NGM_NODEINFO, NULL, 0) >= 0);
		assert_true(NgAllocRecvMsg(cs, &rep, NULL) > 0);
		(void)snprintf(id, sizeof(id), "[%x]",
		    ((struct nodeinfo *)(void *)rep->data)->id);
		assert_string_equal(sg.sg_data, id);
		free(rep);
	}
	(void)close(cs);
	(void)close(ds);
}

static void
test_getsockname(void **state)
{

	check_name(NULL, NULL);
	check_name("n", "n");
	check_name("with blank", "with blank");
	check_name("0123456789012345678901234567890",
	    "0123456789012345678901234567890");
	/* A name that is no file's. */
	check_name("a/b", NULL);
	/* The same name again, and nothing was left of the first. */
	ngp_wait_nodes(2);
	check_name("n", "n");
}

static void
test_names(void **state)
{
	int cs, ds;

	assert_int_equal(NgMkSockNode("first", &cs, &ds), 0);
	assert_int_equal(NgMkSockNode("first", NULL, NULL), -1);
	assert_int_equal(errno, EADDRINUSE);
	assert_int_equal(NgMkSockNode("a.b", NULL, NULL), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(NgMkSockNode("[7]", NULL, NULL), -1);
	assert_int_equal(errno, EINVAL);
	(void)close(cs);
	(void)close(ds);
	ngp_wait_nodes(2);
}

static void
test_life(void **state)
{
	unsigned char buf[16];
	int cs, ds;

	/* Either descriptor keeps the node. */
	assert_int_equal(NgMkSockNode("life", &cs, &ds), 0);
	(void)close(cs);
	assert_int_equal(ngp_connect(".", "life:", "a", "x"), 0);
	assert_int_equal(ngp_send("a", 5), 0);
	assert_int_equal(NgRecvData(ds, buf, sizeof(buf), NULL), 5);
	assert_int_equal(ngp_shutdown("life:"), 0);
	assert_int_equal(NgRecvData(ds, buf, sizeof(buf), NULL), 0);
	(void)close(ds);

	assert_int_equal(NgMkSockNode("life", &cs, &ds), 0);
	assert_int_equal(ngp_connect(".", "life:", "a", "x"), 0);
	(void)close(ds);
	/* Its data socket is closed: dropped, and no error. */
	assert_int_equal(ngp_send("a", 5), 0);
	(void)close(cs);
	ngp_wait_nodes(2);
	assert_int_equal(ngp_send("a", 5), EHOSTUNREACH);

	/* What it sent before its end gets through, whatever it left unread. */
	assert_int_equal(NgMkSockNode("life", &cs, &ds), 0);
	assert_int_equal(ngp_connect(".", "life:", "a", "x"), 0);
	assert_int_equal(ngp_send("a", 5), 0);
	for (int i = 0; i < 40; i++)
		assert_int_equal(send(ds, "x", 1, 0), 1);
	(void)close(cs);
	(void)close(ds);
	ngp_wait_nodes(2);
	assert_int_equal(ngp_events(100), 40);

	/* A node without a program: nobody takes its messages. */
	assert_int_equal(NgMkSockNode("life", NULL, &ds), 0);
	assert_int_equal(NgSendMsg(ngp.cs, "life:", 4711, 1, NULL, 0), -1);
	assert_int_equal(errno, EINVAL);
	(void)close(ds);
	ngp_wait_nodes(2);
}

static void
test_linger(void **state)
{
	int cs, ds;

	assert_int_equal(NgMkSockNode("s", &cs, &ds), 0);
	assert_true(NgSendMsg(cs, ".", NGM_SOCKET_COOKIE, 77, NULL, 0) == -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ngp_connect(".", "s:", "a", "x"), 0);
	assert_int_equal(ngp_rmhook(".", "a"), 0);
	assert_true(NgSendMsg(cs, ".", NGM_SOCKET_COOKIE,
	    NGM_SOCK_CMD_NOLINGER, NULL, 0) >= 0);
	assert_int_equal(ngp_connect(".", "s:", "a", "x"), 0);
	assert_true(NgSendMsg(cs, ".", NGM_SOCKET_COOKIE,
	    NGM_SOCK_CMD_LINGER, NULL, 0) >= 0);
	assert_int_equal(ngp_rmhook(".", "a"), 0);
	assert_int_equal(ngp_connect(".", "s:", "a", "x"), 0);
	assert_true(NgSendMsg(cs, ".", NGM_SOCKET_COOKIE,
	    NGM_SOCK_CMD_NOLINGER, NULL, 0) >= 0);
	assert_int_equal(ngp_rmhook(".", "a"), 0);
	assert_int_equal(ngp_connect(".", "s:", "a", "x"), ENOENT);
	(void)close(cs);
	(void)close(ds);
}

/* A stranger's message comes as it is, with where it comes from. */
static void
test_strangers(void **state)
{
	char from[NG_PATHSIZ], want[16];
	struct ng_mesg *msg;
	int cs, ds, n;

	assert_int_equal(NgMkSockNode("s", &cs, &ds), 0);
	assert_true(NgSendMsg(ngp.cs, "s:", 4711, 12, "abc", 3) >= 0);
	assert_int_equal(NgAllocRecvMsg(cs, &msg, from), 56 + 3);
	assert_int_equal(msg->header.typecookie, 4711);
	assert_int_equal(msg->header.cmd, 12);
	assert_memory_equal(msg->data, "abc", 3);
	free(msg);
	assert_true(NgSendMsg(ngp.cs, ".", NGM_GENERIC_COOKIE, NGM_NODEINFO,
	    NULL, 0) >= 0);
	assert_true(NgAllocRecvMsg(ngp.cs, &msg, NULL) > 0);
	(void)snprintf(want, sizeof(want), "[%x]:",
	    ((struct nodeinfo *)(void *)msg->data)->id);
	assert_string_equal(from, want);
	free(msg);
	/* It does not read: the sender is told. */
	for (n = 0; n < 100000 && NgSendMsg(ngp.cs, "s:", 4711, 12, NULL,
	    0) >= 0; n++)
		continue;
	assert_int_equal(errno, ENOBUFS);
	assert_in_range(n, 101, 999);
	(void)close(cs);
	(void)close(ds);
}

static void
test_plain_data(void **state)
{
	char buf[64];
	int cs, ds;

	/* No hook, one, more: plain send(2) goes out of the only one. */
	assert_int_equal(NgMkSockNode("peer", &cs, &ds), 0);
	assert_int_equal(ngp_send("", 5), EDESTADDRREQ);
	assert_int_equal(ngp_connect(".", "peer:", "a", "x"), 0);
	assert_int_equal(send(ngp.ds, "thirteen byte", 13, 0), 13);
	assert_int_equal(recv(ds, buf, sizeof(buf), 0), 13);
	assert_memory_equal(buf, "thirteen byte", 13);
	assert_int_equal(write(ds, "back", 4), 4);
	assert_int_equal(read(ngp.ds, buf, sizeof(buf)), 4);
	assert_memory_equal(buf, "back", 4);
	assert_int_equal(ngp_connect(".", "peer:", "b", "y"), 0);
	assert_int_equal(ngp_send("", 5), EDESTADDRREQ);
	assert_int_equal(ngp_rmhook(".", "a"), 0);
	assert_int_equal(ngp_send("", 5), 0);
	assert_int_equal(recv(ds, buf, sizeof(buf), 0), 5);
	assert_int_equal(ngp_shutdown("peer:"), 0);
	assert_int_equal(ngp_send("", 5), EDESTADDRREQ);
	(void)close(cs);
	(void)close(ds);
}

static void
test_sizes(void **state)
{
	unsigned char *buf;

	assert_int_equal(ngp_connect(".", ".", "a", "b"), 0);
	for (size_t len = 1; len <= 20480; len = len * 3 + 1) {
		assert_int_equal(ngp_send("a", len), 0);
		assert_int_equal(NgAllocRecvData(ngp.ds, &buf, NULL), len);
		assert_memory_equal(buf, ((unsigned char []){ 1, 2, 3 }),
		    len < 3 ? len : 3);
		free(buf);
	}
	assert_int_equal(ngp_send("a", 20480), 0);
	assert_int_equal(NgAllocRecvData(ngp.ds, &buf, NULL), 20480);
	free(buf);
	assert_int_equal(ngp_send("a", 20481), EMSGSIZE);
	assert_int_equal(ngp_send("a", 0), EINVAL);
	tune("net.graph.maxdgram", "65536");
	assert_int_equal(ngp_send("a", 65536), 0);
	assert_int_equal(NgAllocRecvData(ngp.ds, &buf, NULL), 65536);
	free(buf);
	tune("net.graph.maxdgram", "20480");
}

/* How many packets of len bytes a fresh node holds for its program. */
static unsigned int
holds(size_t len)
{
	unsigned int n = 0;
	int cs, ds;

	assert_int_equal(NgMkSockNode("holds", &cs, &ds), 0);
	assert_int_equal(ngp_connect(".", "holds:", "a", "x"), 0);
	while (ngp_send("a", len) == 0 && n < 10000)
		n++;
	(void)close(cs);
	(void)close(ds);
	ngp_wait_nodes(2);
	return (n);
}

static void
test_recvspace(void **state)
{
	unsigned int n;

	n = holds(5);
	assert_in_range(n, 200, 500);
	assert_in_range(holds(1500), 10, n / 2);
	assert_in_range(holds(20000), 1, 20);
	tune("net.graph.recvspace", "5120");
	assert_in_range(holds(5), n / 5, n / 3);
	tune("net.graph.recvspace", "20480");
}

static void
test_messages(void **state)
{
	struct ng_mesg *rep;
	unsigned char *big;
	size_t len = NGS_MESG_MAX - sizeof(*rep);

	/* Larger than a packet, both ways: this node is its own stranger. */
	big = calloc(1, len + 1);
	assert_non_null(big);
	for (size_t i = 0; i < len; i++)
		big[i] = (unsigned char)(i % 251);
	assert_true(NgSendMsg(ngp.cs, ".", 4711, 1, big, len) >= 0);
	assert_int_equal(NgAllocRecvMsg(ngp.cs, &rep, NULL), NGS_MESG_MAX);
	assert_memory_equal(rep->data, big, len);
	free(rep);
	assert_int_equal(NgSendMsg(ngp.cs, ".", 4711, 1, big, len + 1), -1);
	assert_int_equal(errno, EMSGSIZE);
	/* What a program leaves unread is bounded in bytes, too. */
	assert_true(NgSendMsg(ngp.cs, ".", 4711, 1, big, len) >= 0);
	assert_true(NgSendMsg(ngp.cs, ".", 4711, 1, big, len) >= 0);
	assert_int_equal(NgSendMsg(ngp.cs, ".", 4711, 1, big, len), -1);
	assert_int_equal(errno, ENOBUFS);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(NgAllocRecvMsg(ngp.cs, &rep, NULL),
		    NGS_MESG_MAX);
		free(rep);
	}
	assert_true(NgSendMsg(ngp.cs, ".", 4711, 1, big, len) >= 0);
	assert_int_equal(NgAllocRecvMsg(ngp.cs, &rep, NULL), NGS_MESG_MAX);
	free(rep);
	free(big);
}

/* Ten thousand nodes in one answer. */
static void
test_many_nodes(void **state)
{
	char hook[NG_HOOKSIZ];
	unsigned int i;

	assert_int_equal(ngp_mkpeer(".", "hub", "a", "a"), 0);
	for (i = 0; i < 10000; i++) {
		(void)snprintf(hook, sizeof(hook), "h%u", i);
		assert_int_equal(ngp_mkpeer("a", "hub", hook, "up"), 0);
	}
	assert_int_equal(ngp_nodes(), 10000 + 3);
	assert_int_equal(ngp_shutdown("a"), 0);
	assert_int_equal(ngp_nodes(), 2);
}

static void
test_errors(void **state)
{
	char err[256];
	struct ng_sockserv *ns;
	int cs, ds;

	assert_int_equal(ngp_mkpeer(".", "nosuch", "a", "a"), ENXIO);
	assert_int_equal(ngp_mkpeer(".", "socket", "a", "a"), EINVAL);
	assert_int_equal(ngp_shutdown("nosuch:"), ENOENT);
	assert_int_equal(ngp_shutdown("a:b:c"), EINVAL);
	assert_int_equal(NgSendMsg(-1, ".", NGM_GENERIC_COOKIE, NGM_SHUTDOWN,
	    NULL, 0), -1);
	assert_int_equal(errno, EBADF);
	/* The node is dead, the descriptor is not. */
	assert_int_equal(ngp_shutdown("."), 0);
	assert_int_equal(ngp_shutdown("."), ENOTCONN);
	assert_int_equal(ngp_send("a", 5), ENOTCONN);
	/* Where no server is, and where one is not to be. */
	assert_int_equal(setenv("NETEPOCH_MACHINE", "nosuch", 1), 0);
	assert_int_equal(NgMkSockNode(NULL, &cs, &ds), -1);
	assert_int_equal(errno, EAFNOSUPPORT);
	assert_int_equal(setenv("NETEPOCH_MACHINE", "T", 1), 0);
	assert_int_equal(ng_sockserv_start(ngt_vnet(), "/nonexistent/x", &ns,
	    err, sizeof(err)), ENOENT);
}

#define	NGP_TEST(t)	cmocka_unit_test_setup_teardown(t, ngp_start, ngp_stop)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		NGP_TEST(test_send_recv),
		NGP_TEST(test_node),
		NGP_TEST(test_message),
		NGP_TEST(test_same_name),
		NGP_TEST(test_queue_limit),
		NGP_TEST(test_hub),
		NGP_TEST(test_hub_loop),
		NGP_TEST(test_hub_many_hooks),
		NGP_TEST(test_getsockname),
		NGP_TEST(test_names),
		NGP_TEST(test_life),
		NGP_TEST(test_linger),
		NGP_TEST(test_strangers),
		NGP_TEST(test_plain_data),
		NGP_TEST(test_sizes),
		NGP_TEST(test_recvspace),
		NGP_TEST(test_messages),
		NGP_TEST(test_many_nodes),
		NGP_TEST(test_errors),
	};

	return (cmocka_run_group_tests(tests, ngp_group_start,
	    ngp_group_stop));
}
