/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * ksocket: every message in binary and as text, UDP and TCP over the loopback
 * with sockets of our own at the other end, addresses beside packets, ends of
 * connections, streams that nobody reads, and no descriptor lost.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netgraph/ng_ksocket.h>

#include "netgraph/nodes/ng_node_testlib.h"
#include "netgraph/nodes/ng_nodes.h"
#include "sys/thread.h"

#define	TEXT		"hello, world!"
#define	TEXTLEN		13

static int fds_before;

static int
count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return (n);
}

const struct ng_type *const ngt_types[] = {
	&ng_ksocket_type, &ng_echo_type, NULL,
};

static int
before(void **state)
{

	(void)state;
	fds_before = count_fds();
	return (0);
}

static int
reset(void **state)
{

	(void)state;
	ngt_reset();
	assert_int_equal(count_fds(), fds_before);
	return (0);
}

static int
ks_msg(uint32_t cmd, const void *arg, size_t len)
{

	return (ngt_msg(".:ks", NGM_KSOCKET_COOKIE, cmd, arg, len));
}

static struct sockaddr_in
local_addr(uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	sin.sin_port = port;
	return (sin);
}

/* A socket of ours, bound to a free port. */
static int
host_socket(int type, struct sockaddr_in *sin)
{
	socklen_t len = sizeof(*sin);
	int s;

	*sin = local_addr(0);
	s = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	assert_true(s != -1);
	assert_int_equal(bind(s, (void *)sin, sizeof(*sin)), 0);
	assert_int_equal(getsockname(s, (void *)sin, &len), 0);
	return (s);
}

static void
mkpeer(const char *name)
{

	assert_int_equal(ngt_mkpeer(".", "ksocket", "ks", name), 0);
}

/* Bind the node to a free port and find out which. */
static struct sockaddr_in
bind_node(void)
{
	struct sockaddr_in sin = local_addr(0);

	assert_int_equal(ks_msg(NGM_KSOCKET_BIND, &sin, sizeof(sin)), 0);
	ngt_get(".:ks", NGM_KSOCKET_COOKIE, NGM_KSOCKET_GETNAME, NULL, 0,
	    &sin, sizeof(sin));
	return (sin);
}

static bool
have_reply(void)
{
	bool have;

	ng_ctl_enter(ngt_vnet());
	have = ngt_reply() != NULL;
	ng_ctl_exit(ngt_vnet());
	return (have);
}

/* An answer that comes later. */
static void
wait_reply(void)
{
	uint64_t end = time_ns() + NGT_PATIENCE;

	while (!have_reply()) {
		assert_true(time_ns() < end);
		sched_yield();
	}
}

static void
expect_recv(int s, const char *text)
{
	struct timeval tv = { .tv_sec = 20 };
	char buf[256];

	assert_int_equal(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &tv,
	    sizeof(tv)), 0);
	assert_int_equal(recv(s, buf, sizeof(buf), 0), strlen(text));
	assert_memory_equal(buf, text, strlen(text));
}

static void
expect_last(const char *hook, const char *text)
{
	const struct mbuf *m = ngt_last(hook);
	char buf[256];

	assert_non_null(m);
	assert_int_equal(m->m_pkthdr.len, strlen(text));
	m_copydata(m, 0, m->m_pkthdr.len, buf);
	assert_memory_equal(buf, text, strlen(text));
}

/* ---- Names and messages ---- */

static void
test_names(void **state)
{
	static const char *const bad[] = { "x", "inet", "inet/dgram",
		"inet//udp", "inet/dgram/", "inet/dgram/xyz", "inet6/dgram/udp",
		"foo/dgram/udp", "inet/foo/udp", "inet/dgram/udp/1",
		"inet/dgram/-1", "inet/2050/17", "inet/6/17", "inet/dgram/256",
		"inet/dgram/17x" };
	static const char *const good[] = { "inet/dgram/udp", "inet/2/17",
		"2/2/17", "inet6/dgram/17", "local/stream/0", "local/dgram/0",
		"local/seqpacket/0", "inet/stream/tcp", "inet/stream/ip" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(ngt_mkpeer(".", "ksocket", "ks", bad[i]),
		    EINVAL);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		mkpeer(good[i]);
		assert_int_equal(ngt_rmhook(".", "ks"), 0);
	}
	/* What the host says. */
	assert_int_equal(ngt_mkpeer(".", "ksocket", "ks", "inet/dgram/tcp"),
	    EPROTONOSUPPORT);
	mkpeer("inet/dgram/udp");
	assert_int_equal(ngt_connect(".", ".:ks", "two", "inet/dgram/udp"),
	    EEXIST);
	assert_int_equal(ngt_connect(".", ".:ks", "two", "inet/stream/tcp"),
	    EISCONN);
	/* Without its hook it is gone. */
	assert_int_equal(ngt_name(".:ks", "k"), 0);
	assert_int_equal(ngt_rmhook(".", "ks"), 0);
	assert_int_equal(ngt_shutdown("k:"), ENOENT);
}

static void
test_nosocket(void **state)
{
	node_p node;

	(void)state;
	ng_ctl_enter(ngt_vnet());
	assert_int_equal(ng_make_node(ngt_vnet(), "ksocket", &node), 0);
	assert_int_equal(ng_name_node(node, "bare"), 0);
	ng_ctl_exit(ngt_vnet());
	for (uint32_t cmd = NGM_KSOCKET_BIND; cmd <= NGM_KSOCKET_GETOPT; cmd++)
		assert_int_equal(ngt_msg("bare:", NGM_KSOCKET_COOKIE, cmd,
		    NULL, 0), ENXIO);
}

static void
test_hostile(void **state)
{
	static const uint32_t addrs[] = { NGM_KSOCKET_BIND,
		NGM_KSOCKET_CONNECT };
	struct ng_ksocket_sockopt *so;
	struct sockaddr_in sin = local_addr(0);
	char big[2000] = { 0 };

	(void)state;
	mkpeer("inet/dgram/udp");
	for (int i = 0; i < 2; i++) {
		for (size_t len = 0; len < sizeof(sin); len++)
			assert_int_equal(ks_msg(addrs[i], &sin, len), EINVAL);
		memcpy(big, &sin, sizeof(sin));
		assert_int_equal(ks_msg(addrs[i], big, 129), EINVAL);
		assert_int_equal(ks_msg(addrs[i], big, 2000), EINVAL);
	}
	assert_int_equal(ks_msg(NGM_KSOCKET_LISTEN, big, 3), EINVAL);
	assert_int_equal(ks_msg(NGM_KSOCKET_LISTEN, big, 4), EOPNOTSUPP);
	assert_int_equal(ks_msg(NGM_KSOCKET_ACCEPT, NULL, 0), EINVAL);
	assert_int_equal(ks_msg(NGM_KSOCKET_ACCEPT, big, 4), EINVAL);
	assert_int_equal(ks_msg(NGM_KSOCKET_GETNAME, big, 4), EINVAL);
	assert_int_equal(ks_msg(NGM_KSOCKET_GETPEERNAME, NULL, 0), ENOTCONN);
	assert_int_equal(ks_msg(NGM_KSOCKET_SETOPT, big, 7), EINVAL);
	assert_int_equal(ks_msg(NGM_KSOCKET_GETOPT, big, 9), EINVAL);
	assert_int_equal(ks_msg(NGM_KSOCKET_SETOPT, big, 2000), EMSGSIZE);
	so = (void *)big;
	so->level = SOL_SOCKET;
	so->name = SO_ATTACH_FILTER;
	assert_int_equal(ks_msg(NGM_KSOCKET_SETOPT, so, 24), EOPNOTSUPP);
	so->level = 4711;
	assert_int_equal(ks_msg(NGM_KSOCKET_SETOPT, so, 12), EOPNOTSUPP);
	assert_int_equal(ks_msg(99, NULL, 0), EINVAL);
	assert_int_equal(ngt_msg(".:ks", 4711, NGM_KSOCKET_GETNAME, NULL, 0),
	    EINVAL);
}

/* Options by FreeBSD's numbers, as scripts have them, and by ours. */
static void
test_bsd_options(void **state)
{

	(void)state;
	mkpeer("inet/dgram/udp");
	assert_string_equal(ngt_text(".:ks", "getopt { level=65535 "
	    "name=32 }"), "{ level=65535 name=32 value=[ 3=0x0 ] }");
	assert_int_equal(ngt_ascii(".:ks", "setopt { level=65535 name=32 "
	    "value=[ 1 0 0 0 ] }"), 0);
	assert_string_equal(ngt_text(".:ks", "getopt { level=65535 "
	    "name=32 }"), "{ level=65535 name=32 value=[ 0x1 3=0x0 ] }");
	/* SO_BROADCAST it is. */
	assert_string_equal(ngt_text(".:ks", "getopt { level=1 name=6 }"),
	    "{ level=1 name=6 value=[ 0x1 3=0x0 ] }");
	assert_int_equal(ngt_ascii(".:ks", "getopt { level=65535 name=6 }"),
	    EOPNOTSUPP);
}

static void
roundtrip(uint32_t cmd, uint32_t flags, const void *arg, size_t len)
{

	ngt_roundtrip(".:ks", NGM_KSOCKET_COOKIE, cmd, flags, arg, len);
}

static void
test_text(void **state)
{
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6,
		.sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_un sun = { .sun_family = AF_UNIX,
		.sun_path = "/tmp/a \"b\"" };
	struct sockaddr_in sin;
	char accepted[4 + sizeof(sin)], opt[12] = { 1, 0, 0, 0, 2 };
	int32_t n = (int32_t)ngt_random();

	(void)state;
	mkpeer("inet/dgram/udp");
	for (int i = 0; i < 200; i++) {
		sin = local_addr((uint16_t)(i == 0 ? 0 : ngt_random()));
		sin.sin_addr.s_addr = (uint32_t)ngt_random();
		roundtrip(NGM_KSOCKET_BIND, 0, &sin, sizeof(sin));
		roundtrip(NGM_KSOCKET_GETNAME, NGF_RESP, &sin, sizeof(sin));
		memcpy(accepted, &n, 4);
		memcpy(accepted + 4, &sin, sizeof(sin));
		roundtrip(NGM_KSOCKET_ACCEPT, NGF_RESP, accepted,
		    sizeof(accepted));
	}
	roundtrip(NGM_KSOCKET_CONNECT, 0, &sin, sizeof(sin));
	roundtrip(NGM_KSOCKET_CONNECT, NGF_RESP, &n, sizeof(n));
	roundtrip(NGM_KSOCKET_GETPEERNAME, NGF_RESP, &sin6, sizeof(sin6));
	roundtrip(NGM_KSOCKET_BIND, 0, &sun, offsetof(struct sockaddr_un,
	    sun_path) + strlen(sun.sun_path) + 1);
	roundtrip(NGM_KSOCKET_LISTEN, 0, &n, sizeof(n));
	roundtrip(NGM_KSOCKET_SETOPT, 0, opt, sizeof(opt));
	roundtrip(NGM_KSOCKET_GETOPT, 0, opt, 8);
	roundtrip(NGM_KSOCKET_GETOPT, NGF_RESP, opt, sizeof(opt));

	assert_int_equal(ngt_ascii(".:ks", "bind inet/127.0.0.1"), 0);
	assert_int_equal(ngt_ascii(".:ks", "getname"), 0);
	assert_int_equal(strncmp(ngt_reply_text(), "inet/127.0.0.1:", 15), 0);
	assert_int_equal(ngt_ascii(".:ks", "connect inet/127.0.0.1:9"), 0);
	assert_int_equal(ngt_ascii(".:ks", "getpeername"), 0);
	assert_string_equal(ngt_reply_text(), "inet/127.0.0.1:9");
	/* The generic form of the same: port 10. */
	assert_int_equal(ngt_ascii(".:ks", "connect { len=16 family=2 "
	    "data=[ 0 10 127 0 0 1 ] }"), 0);
	assert_int_equal(ngt_ascii(".:ks", "getpeername"), 0);
	assert_string_equal(ngt_reply_text(), "inet/127.0.0.1:10");
	assert_int_equal(ngt_ascii(".:ks",
	    "setopt { level=1 name=2 value=[ 1 0 0 0 ] }"), 0);
	assert_int_equal(ngt_ascii(".:ks", "getopt { level=1 name=2 }"), 0);
	assert_string_equal(ngt_reply_text(),
	    "{ level=1 name=2 value=[ 0x1 3=0x0 ] }");
}

static void
test_bad_text(void **state)
{
	static const char *const bad[] = { "inet/", "inet/1.2.3",
		"inet/1.2.3.4:", "inet/1.2.3.4:65536", "inet/1.2.3.4:8x",
		"inet/1.2.3.4.5",
		"local/", "local/x", "local/\"\"", "nothing", "\"x\"",
		"{ len=1 family=2 }", "inet/1.2.3.4:99999999999999999999" };
	char text[64];

	(void)state;
	mkpeer("inet/dgram/udp");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "bind %s", bad[i]);
		assert_true(ngt_ascii(".:ks", text) != 0);
	}
}

/* ---- Datagrams ---- */

static void
test_udp_connect(void **state)
{
	struct sockaddr_in sin;
	int s = host_socket(SOCK_DGRAM, &sin);

	(void)state;
	mkpeer("inet/dgram/udp");
	assert_int_equal(ks_msg(NGM_KSOCKET_CONNECT, &sin, sizeof(sin)), 0);
	assert_int_equal(ngt_send("ks", TEXT, TEXTLEN), 0);
	expect_recv(s, TEXT);
	close(s);
}

static void
test_udp_bind(void **state)
{
	struct sockaddr_in sin, us;
	int s = host_socket(SOCK_DGRAM, &us);

	(void)state;
	mkpeer("inet/dgram/udp");
	sin = bind_node();
	assert_int_equal(connect(s, (void *)&sin, sizeof(sin)), 0);
	assert_int_equal(send(s, TEXT, TEXTLEN, 0), TEXTLEN);
	ngt_wait_count("ks", 1);
	expect_last("ks", TEXT);
	/* It says from whom it came. */
	assert_true((ngt_last("ks")->m_flags & M_ADDR) != 0);
	assert_memory_equal(ngt_last("ks")->m_cookie, &us, 8);
	close(s);
}

/* What goes back carries the address with it: an echo server in two nodes. */
static void
test_udp_echo(void **state)
{
	struct sockaddr_in sin, us;
	int s = host_socket(SOCK_DGRAM, &us);

	(void)state;
	mkpeer("inet/dgram/udp");
	sin = bind_node();
	assert_int_equal(ngt_name(".:ks", "k"), 0);
	assert_int_equal(ngt_mkpeer(".", "echo", "e", "e1"), 0);
	assert_int_equal(ngt_connect(".", "k:", "x", "inet/dgram/udp"),
	    EEXIST);
	/* A second socket, whose hook is the echo's. */
	assert_int_equal(ngt_mkpeer(".:e", "ksocket", "e2", "inet/dgram/udp"),
	    0);
	assert_int_equal(ngt_name(".:e.e2", "k2"), 0);
	sin = local_addr(0);
	assert_int_equal(ngt_msg("k2:", NGM_KSOCKET_COOKIE, NGM_KSOCKET_BIND,
	    &sin, sizeof(sin)), 0);
	ngt_get("k2:", NGM_KSOCKET_COOKIE, NGM_KSOCKET_GETNAME, NULL, 0, &sin,
	    sizeof(sin));
	for (int i = 0; i < 20; i++) {
		assert_int_equal(sendto(s, TEXT, TEXTLEN, 0, (void *)&sin,
		    sizeof(sin)), TEXTLEN);
		expect_recv(s, TEXT);
	}
	close(s);
}

/* Longer than one mbuf, both ways, and bursts. */
static void
test_udp_sizes(void **state)
{
	static const uint32_t sizes[] = { 0, 1, 1400, 1600, 5000, 65507 };
	struct sockaddr_in sin, us;
	char *data = malloc(65536), *back = malloc(65536);
	int s = host_socket(SOCK_DGRAM, &us);
	struct mbuf *m;

	(void)state;
	assert_non_null(data);
	assert_non_null(back);
	for (int i = 0; i < 65536; i++)
		data[i] = (char)ngt_random();
	mkpeer("inet/dgram/udp");
	sin = bind_node();
	assert_int_equal(connect(s, (void *)&sin, sizeof(sin)), 0);
	assert_int_equal(ks_msg(NGM_KSOCKET_CONNECT, &us, sizeof(us)), 0);
	for (int i = 0; i < 6; i++) {
		ngt_clear();
		assert_int_equal(send(s, data, sizes[i], 0), sizes[i]);
		ngt_wait_count("ks", 1);
		assert_int_equal(ngt_last("ks")->m_pkthdr.len, sizes[i]);
		m_copydata(ngt_last("ks"), 0, sizes[i], back);
		assert_memory_equal(back, data, sizes[i]);
		m = m_devget(data, sizes[i]);
		assert_non_null(m);
		assert_int_equal(ngt_send_mbuf("ks", m), 0);
		assert_int_equal(recv(s, back, 65536, 0), sizes[i]);
		assert_memory_equal(back, data, sizes[i]);
	}
	ngt_clear();
	for (int i = 0; i < 100; i++)
		assert_int_equal(send(s, data, 10, 0), 10);
	ngt_wait_count("ks", 100);
	assert_int_equal(ngt_send_burst("ks", TEXT, TEXTLEN, 64), 0);
	for (int i = 0; i < 64; i++)
		expect_recv(s, TEXT);
	free(data);
	free(back);
	close(s);
}

/* Refused datagrams are an error that passes. */
static void
test_udp_refused(void **state)
{
	struct sockaddr_in sin;
	int s = host_socket(SOCK_DGRAM, &sin);

	(void)state;
	close(s);
	mkpeer("inet/dgram/udp");
	assert_int_equal(ks_msg(NGM_KSOCKET_CONNECT, &sin, sizeof(sin)), 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(ngt_send("ks", TEXT, TEXTLEN), 0);
	ngt_settle();
	assert_int_equal(ngt_msg(".:ks", NGM_GENERIC_COOKIE, NGM_TEXT_STATUS,
	    NULL, 0), 0);
	assert_int_equal(strncmp(ngt_reply()->data, "sent ", 5), 0);
	/* Without a peer or an address there is nowhere to send to. */
	assert_int_equal(ngt_rmhook(".", "ks"), 0);
	mkpeer("inet/dgram/udp");
	assert_int_equal(ngt_send("ks", TEXT, TEXTLEN), 0);
	ngt_settle();
	assert_int_equal(ngt_msg(".:ks", NGM_GENERIC_COOKIE, NGM_TEXT_STATUS,
	    NULL, 0), 0);
	assert_int_equal(strncmp(ngt_reply()->data, "sent 0, send errors 1, ",
	    23), 0);
}

/* ---- Streams ---- */

static int
tcp_client(const struct sockaddr_in *sin)
{
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(s != -1);
	assert_int_equal(connect(s, (const void *)sin, sizeof(*sin)), 0);
	return (s);
}

static uint32_t
accepted_id(void)
{
	uint32_t id;

	wait_reply();
	assert_int_equal(ngt_reply()->header.cmd, NGM_KSOCKET_ACCEPT);
	assert_true(ngt_reply()->header.arglen >= 20);
	memcpy(&id, ngt_reply()->data, sizeof(id));
	return (id);
}

static void
test_tcp_accept(void **state)
{
	struct sockaddr_in sin;
	char path[32];
	int32_t backlog = 5;
	uint32_t id;
	int c1, c2;

	(void)state;
	mkpeer("inet/stream/tcp");
	sin = bind_node();
	assert_int_equal(ks_msg(NGM_KSOCKET_ACCEPT, NULL, 0), EINVAL);
	assert_int_equal(ks_msg(NGM_KSOCKET_LISTEN, &backlog, 4), 0);
	assert_int_equal(ks_msg(NGM_KSOCKET_ACCEPT, NULL, 0), 0);
	assert_false(have_reply());
	assert_int_equal(ks_msg(NGM_KSOCKET_ACCEPT, NULL, 0), EALREADY);
	c1 = tcp_client(&sin);
	id = accepted_id();
	/* Data that come before there is a hook are kept. */
	assert_int_equal(send(c1, TEXT, TEXTLEN, 0), TEXTLEN);
	snprintf(path, sizeof(path), "[%x]:", id);
	assert_int_equal(ngt_connect(".", path, "c1", "whatever"), 0);
	assert_int_equal(ngt_connect(".", path, "c3", "another"), EISCONN);
	ngt_wait_count("c1", 1);
	expect_last("c1", TEXT);
	assert_int_equal(ngt_send("c1", TEXT, TEXTLEN), 0);
	expect_recv(c1, TEXT);

	/* One that is there already. */
	c2 = tcp_client(&sin);
	assert_int_equal(ks_msg(NGM_KSOCKET_ACCEPT, NULL, 0), 0);
	snprintf(path, sizeof(path), "[%x]:", accepted_id());
	assert_int_equal(ngt_connect(".", path, "c2", "whatever"), 0);
	/* The end of a stream is one empty packet. */
	ngt_clear();
	close(c2);
	ngt_wait_count("c2", 1);
	assert_int_equal(ngt_last("c2")->m_pkthdr.len, 0);
	/* The end of the hook is the end of the connection. */
	assert_int_equal(ngt_rmhook(".", "c1"), 0);
	assert_int_equal(recv(c1, path, 1, 0), 0);
	assert_int_equal(ngt_count("c2"), 1);
	close(c1);
}

static void
test_tcp_connect(void **state)
{
	struct sockaddr_in sin;
	int s = host_socket(SOCK_STREAM, &sin), c;
	int32_t error;

	(void)state;
	mkpeer("inet/stream/tcp");
	/* Nobody listens. */
	error = ks_msg(NGM_KSOCKET_CONNECT, &sin, sizeof(sin));
	if (error == EINPROGRESS) {
		wait_reply();
		memcpy(&error, ngt_reply()->data, sizeof(error));
	}
	assert_int_equal(error, ECONNREFUSED);
	assert_int_equal(ngt_rmhook(".", "ks"), 0);

	mkpeer("inet/stream/tcp");
	assert_int_equal(listen(s, 5), 0);
	error = ks_msg(NGM_KSOCKET_CONNECT, &sin, sizeof(sin));
	if (error == EINPROGRESS) {
		wait_reply();
		assert_int_equal(ngt_reply()->header.arglen, sizeof(error));
		memcpy(&error, ngt_reply()->data, sizeof(error));
	}
	assert_int_equal(error, 0);
	c = accept4(s, NULL, NULL, SOCK_CLOEXEC);
	assert_true(c != -1);
	assert_int_equal(ngt_send("ks", TEXT, TEXTLEN), 0);
	expect_recv(c, TEXT);
	assert_int_equal(send(c, TEXT, TEXTLEN, 0), TEXTLEN);
	ngt_wait_count("ks", 1);
	assert_int_equal(ks_msg(NGM_KSOCKET_CONNECT, &sin, sizeof(sin)),
	    EISCONN);
	close(c);
	close(s);
}

/* A stream that is not read for a while loses no byte of what it took. */
static void
test_tcp_slow(void **state)
{
	struct sockaddr_in sin;
	int s = host_socket(SOCK_STREAM, &sin), c, size = 4096;
	uint32_t pkts = 2000, got = 0;
	char data[1000], buf[1000];
	int32_t error;

	(void)state;
	assert_int_equal(setsockopt(s, SOL_SOCKET, SO_RCVBUF, &size,
	    sizeof(size)), 0);
	assert_int_equal(listen(s, 5), 0);
	mkpeer("inet/stream/tcp");
	assert_int_equal(ngt_ascii(".:ks",
	    "setopt { level=1 name=7 value=[ 0 16 0 0 ] }"), 0);
	error = ks_msg(NGM_KSOCKET_CONNECT, &sin, sizeof(sin));
	assert_true(error == EINPROGRESS || error == 0);
	c = accept4(s, NULL, NULL, SOCK_CLOEXEC);
	assert_true(c != -1);
	if (error == EINPROGRESS)
		wait_reply();
	for (uint32_t i = 0; i < pkts; i++) {
		memset(data, (int)(i & 0x7f), sizeof(data));
		assert_int_equal(ngt_send("ks", data, sizeof(data)), 0);
	}
	ngt_settle();
	assert_int_equal(ngt_msg(".:ks", NGM_GENERIC_COOKIE, NGM_TEXT_STATUS,
	    NULL, 0), 0);
	assert_null(strstr(ngt_reply()->data, "socket full 0,"));
	/* What was taken comes in whole packets, the first ones in order. */
	for (; got < 200; got++) {
		assert_int_equal(recv(c, buf, sizeof(buf), MSG_WAITALL),
		    sizeof(buf));
		memset(data, (int)(got & 0x7f), sizeof(data));
		assert_memory_equal(buf, data, sizeof(data));
	}
	/* Closed with packets that wait: they are dropped. */
	close(c);
	close(s);
}

static void
test_local(void **state)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char text[128], path[64], dir[] = "/tmp/ksocketXXXXXX";
	int s;

	(void)state;
	assert_non_null(mkdtemp(dir));
	mkpeer("local/seqpacket/0");
	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/s", dir);
	snprintf(text, sizeof(text), "bind local/\"%s\"", sun.sun_path);
	assert_int_equal(ngt_ascii(".:ks", text), 0);
	assert_int_equal(ngt_ascii(".:ks", "listen 5"), 0);
	assert_int_equal(ngt_ascii(".:ks", "accept"), 0);
	s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(s, (void *)&sun, sizeof(sun)), 0);
	snprintf(path, sizeof(path), "[%x]:", accepted_id());
	assert_int_equal(ngt_connect(".", path, "c", "c"), 0);
	assert_int_equal(ngt_send("c", TEXT, TEXTLEN), 0);
	expect_recv(s, TEXT);
	assert_int_equal(send(s, TEXT, TEXTLEN, 0), TEXTLEN);
	ngt_wait_count("c", 1);
	expect_last("c", TEXT);
	close(s);
	ngt_wait_count("c", 2);
	assert_int_equal(ngt_last("c")->m_pkthdr.len, 0);
	ngt_settle();
	assert_int_equal(ngt_count("c"), 2);
	(void)unlink(sun.sun_path);
	(void)rmdir(dir);
}

/* ---- Traffic and control ---- */

static void
churn(unsigned int round)
{
	struct sockaddr_in sin = local_addr(htons(9));

	switch (round % 4) {
	case 0:
		(void)ngt_rmhook(".", "ks");
		(void)ngt_mkpeer(".", "ksocket", "ks", "inet/dgram/udp");
		break;
	case 1:
		(void)ks_msg(NGM_KSOCKET_CONNECT, &sin, sizeof(sin));
		break;
	case 2:
		(void)ks_msg(NGM_KSOCKET_GETNAME, NULL, 0);
		break;
	default:
		sin = local_addr(0);
		(void)ks_msg(NGM_KSOCKET_BIND, &sin, sizeof(sin));
		/* To itself: it receives what it sends. */
		(void)ks_msg(NGM_KSOCKET_GETNAME, NULL, 0);
		if (ngt_reply() != NULL)
			(void)ks_msg(NGM_KSOCKET_CONNECT, ngt_reply()->data,
			    sizeof(sin));
	}
}

static void
test_race(void **state)
{

	(void)state;
	mkpeer("inet/dgram/udp");
	ngt_race("ks", "ks", churn, 200);
}

int
main(void)
{
#define	TEST(fn)	cmocka_unit_test_setup_teardown(fn, before, reset)
	const struct CMUnitTest tests[] = {
		TEST(test_names),
		TEST(test_nosocket),
		TEST(test_hostile),
		TEST(test_bsd_options),
		TEST(test_text),
		TEST(test_bad_text),
		TEST(test_udp_connect),
		TEST(test_udp_bind),
		TEST(test_udp_echo),
		TEST(test_udp_sizes),
		TEST(test_udp_refused),
		TEST(test_tcp_accept),
		TEST(test_tcp_connect),
		TEST(test_tcp_slow),
		TEST(test_local),
		TEST(test_race),
	};

	return (cmocka_run_group_tests(tests, ngt_group_start, ngt_group_stop));
}
