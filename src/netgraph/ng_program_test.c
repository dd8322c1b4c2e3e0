/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Programs that drive nodes: bridge, vlan_rotate and ksocket through
 * libnetgraph and the server, as programs written for FreeBSD do, and what
 * they rely on there.
 */
#include "netgraph/ng_sockserv_testlib.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netgraph/ng_bridge.h>
#include <netgraph/ng_ksocket.h>
#include <netgraph/ng_vlan_rotate.h>

#include "netgraph/ng_var.h"
#include "netgraph/nodes/ng_nodes.h"
#include "sys/random_testlib.h"

/* Send an ASCII message: errno must be 0 after it, too. */
static uint32_t
ascii(const char *path, const char *text)
{
	int token;

	errno = EXDEV;
	token = NgSendAsciiMsg(ngp.cs, path, "%s", text);
	assert_int_not_equal(token, -1);
	assert_int_equal(errno, 0);
	return ((uint32_t)token);
}

static void
named(const char *type, const char *ourhook, const char *peerhook,
    const char *name)
{

	assert_int_equal(ngp_mkpeer(".", type, ourhook, peerhook), 0);
	assert_int_equal(NgNameNode(ngp.cs, ourhook, "%s", name), 0);
}

/* ---- bridge ---- */

#define	FRAME	98
#define	MULTI	(-1)
#define	BROAD	(-2)

/* A station's address; there are many from 0x1000 on. */
static void
station(unsigned char *addr, int n)
{
	unsigned char mac[6] = { 2, 4, 6, 0, 0, (unsigned char)n };

	if (n >= 0x1000) {
		mac[3] = 0xff;
		mac[4] = (unsigned char)((n - 0x1000) >> 8);
		mac[5] = (unsigned char)(n - 0x1000);
	} else if (n == BROAD)
		memset(mac, 0xff, sizeof(mac));
	else if (n == MULTI)
		mac[0] = 0xff;
	memcpy(addr, mac, sizeof(mac));
}

/* One frame; the errno value of sending it. */
static int
frame(const char *hook, int from, int to)
{
	unsigned char f[FRAME] = { 0 };

	station(f, to);
	station(f + 6, from);
	f[13] = 8;
	return (NgSendData(ngp.ds, hook, f, sizeof(f)) == -1 ? errno : 0);
}

/* Send a frame, and count what comes by a, b, c and d. */
static void
check_frame(const char *hook, int from, int to, unsigned int a,
    unsigned int b, unsigned int c, unsigned int d)
{

	assert_int_equal(frame(hook, from, to), 0);
	(void)ngp_events(10);
	if (ngp.count[0] != a || ngp.count[1] != b || ngp.count[2] != c ||
	    ngp.count[3] != d)
		fail_msg("%d to %d by %s: %u %u %u %u", from, to, hook,
		    ngp.count[0], ngp.count[1], ngp.count[2], ngp.count[3]);
}

/* Hosts in the table, by text; the reply has the token that sending said. */
static uint32_t
hosts(const char *path)
{
	const struct ng_bridge_host_ary *ary;
	struct ng_mesg *rep;
	uint32_t token, n;

	token = ascii(path, "gettable");
	assert_true(NgAllocRecvMsg(ngp.cs, &rep, NULL) > 0);
	assert_int_equal(rep->header.token, token);
	assert_int_equal(rep->header.typecookie, NGM_BRIDGE_COOKIE);
	ary = (const void *)rep->data;
	n = ary->numHosts;
	assert_true(rep->header.arglen >= sizeof(*ary) +
	    n * sizeof(ary->hosts[0]));
	free(rep);
	return (n);
}

static void
test_bridge(void **state)
{

	named("bridge", "a", "link0", "bridge");
	assert_int_equal(ngp_connect(".", "bridge:", "b", "link1"), 0);
	assert_int_equal(ngp_connect(".", "bridge:", "c", "link2"), 0);
	check_frame("a", 1, 0, 0, 1, 1, 0);
	check_frame("b", 2, 0, 1, 0, 1, 0);
	check_frame("c", 3, 0, 1, 1, 0, 0);
	check_frame("a", 1, 3, 0, 0, 1, 0);
	assert_int_equal(hosts("bridge:"), 3);
	assert_int_equal(ngp_rmhook(".", "b"), 0);
	check_frame("a", 1, 0, 0, 0, 1, 0);
	assert_int_equal(hosts("bridge:"), 2);
	assert_int_equal(ngp_shutdown("bridge:"), 0);
	assert_int_equal(ngp_shutdown("bridge:"), ENOENT);
}

static void
test_bridge_persistence(void **state)
{

	named("bridge", "a", "link0", "bridge");
	(void)ascii("bridge:", "setpersistent");
	assert_int_equal(ngp_rmhook(".", "a"), 0);
	assert_int_equal(ngp_shutdown("bridge:"), 0);
}

/* The second way between two bridges is found, and whoever sends is told. */
static void
test_bridge_loop(void **state)
{

	named("bridge", "a", "link0", "bridge1");
	named("bridge", "b", "link1", "bridge2");
	assert_int_equal(ngp_connect("bridge1:", "bridge2:", "link11",
	    "link11"), 0);
	check_frame("a", 1, 0, 0, 1, 0, 0);
	assert_int_equal(ngp_connect("bridge1:", "bridge2:", "link12",
	    "link12"), 0);
	assert_int_equal(frame("a", 1, 0), ELOOP);
	(void)ngp_events(10);
	assert_int_equal(ngp.count[0], 0);
	assert_int_equal(ngp.count[1], 1);
	assert_int_equal(ngp_shutdown("bridge1:"), 0);
	assert_int_equal(ngp_shutdown("bridge2:"), 0);
}

static void
many_link(unsigned int i, char *hook, size_t len)
{
	char link[NG_HOOKSIZ];

	(void)snprintf(hook, len, "h%u", i);
	(void)snprintf(link, sizeof(link), "link%u", i);
	assert_int_equal(ngp_connect(".", "bridge:", hook, link), 0);
}

static void
test_bridge_many_unicasts(void **state)
{
	struct ng_mesg *rep;
	char hook[NG_HOOKSIZ];

	named("bridge", "a", "link0", "bridge");
	assert_int_equal(frame("a", 0x1000, 0), 0);
	assert_int_equal(ngp_events(1), 0);
	for (unsigned int i = 1; i <= 1000; i++) {
		many_link(i, hook, sizeof(hook));
		assert_int_equal(frame(hook, 0x1000 + (int)i, 0x1000), 0);
		assert_int_equal(ngp_events(1), 1);
		assert_int_equal(ngp.count[0], 1);
	}
	assert_int_equal(ngp_events(1), 0);
	/* FreeBSD's reply need not fit; ours does. */
	(void)ascii("bridge:", "gettable");
	assert_true(NgAllocRecvMsg(ngp.cs, &rep, NULL) > 0);
	assert_int_equal(((struct ng_bridge_host_ary *)(void *)rep->data)->
	    numHosts, 1001);
	free(rep);
}

/* Copies for all links, in one receive buffer: a lost one is reported. */
static void
test_bridge_many_broadcasts(void **state)
{
	unsigned int first = 0, others = 0;
	char hook[NG_HOOKSIZ];
	int error = 0;

	named("bridge", "a", "link0", "bridge");
	for (unsigned int i = 1; i <= 1000 && error == 0; i++) {
		many_link(i, hook, sizeof(hook));
		error = frame(hook, 0x1000 + (int)i, BROAD);
		(void)ngp_events(error == 0 ? i : 2000);
		first += ngp.count[0];
		others += ngp.total - ngp.count[0];
		if (error == 0)
			assert_int_equal(ngp.total, i);
	}
	assert_int_equal(error, ENOBUFS);
	assert_in_range(first, 101, 999);
	assert_true(others > 100);
}

/*
 * Where frames go that enter at link0 (a), uplink1 (b), uplink2 (c) and link3
 * (d); the first row is of a bridge whose first hook was an uplink.
 */
static const struct {
	const char	*hook;
	int		 from, to;
	unsigned int	 private[4], classic[4];
} ways[] = {
	{ "b", 1, 0, { 0, 0, 1, 0 }, { 1, 0, 1, 1 } },
	{ "a", 0, 2, { 0, 1, 1, 0 }, { 0, 1, 1, 1 } },
	{ "c", 2, 0, { 1, 0, 0, 0 }, { 1, 0, 0, 0 } },
	{ "d", 3, 0, { 1, 0, 0, 0 }, { 1, 0, 0, 0 } },
	{ "b", 1, 2, { 0, 0, 1, 0 }, { 1, 0, 1, 1 } },
	{ "a", 0, 2, { 0, 1, 1, 0 }, { 0, 1, 1, 1 } },
	{ "b", 1, MULTI, { 1, 0, 1, 1 }, { 1, 0, 1, 1 } },
	{ "a", 0, MULTI, { 0, 1, 1, 1 }, { 0, 1, 1, 1 } },
	{ "b", 1, BROAD, { 1, 0, 1, 1 }, { 1, 0, 1, 1 } },
	{ "a", 0, BROAD, { 0, 1, 1, 1 }, { 0, 1, 1, 1 } },
};

static void
check_uplinks(bool private)
{
	const unsigned int *w;

	for (size_t i = 0; i < nitems(ways); i++) {
		w = private ? ways[i].private : ways[i].classic;
		check_frame(ways[i].hook, ways[i].from, ways[i].to, w[0],
		    w[1], w[2], w[3]);
	}
	assert_int_equal(hosts("bridge:"), 2);
}

static void
test_bridge_uplink_private(void **state)
{

	errno = EXDEV;
	named("bridge", "b", "uplink1", "bridge");
	assert_int_equal(errno, 0);
	assert_int_equal(ngp_connect(".", "bridge:", "c", "uplink2"), 0);
	assert_int_equal(ngp_connect(".", "bridge:", "a", "link0"), 0);
	assert_int_equal(ngp_connect(".", "bridge:", "d", "link3"), 0);
	check_uplinks(true);
}

static void
test_bridge_uplink_classic(void **state)
{

	named("bridge", "a", "link0", "bridge");
	assert_int_equal(ngp_connect(".", "bridge:", "b", "uplink1"), 0);
	assert_int_equal(ngp_connect(".", "bridge:", "c", "uplink2"), 0);
	assert_int_equal(ngp_connect(".", "bridge:", "d", "link3"), 0);
	check_uplinks(false);
}

/* ---- hub ---- */

/* However often: whoever sends into an endless loop is not to be hurt by it. */
static void
test_hub_loops(void **state)
{

	for (int round = 0; round < 50; round++) {
		named("hub", "a", "a", "hub1");
		named("hub", "b", "b", "hub2");
		assert_int_equal(ngp_connect("hub1:", "hub2:", "xc1", "xc1"),
		    0);
		assert_int_equal(ngp_mkpeer("hub2:", "hub", "h", "h"), 0);
		assert_int_equal(ngp_connect("hub1:", "hub2:", "xc2", "xc2"),
		    0);
		assert_int_equal(frame("a", 1, 0), 0);
		assert_int_equal(ngp_shutdown("hub1:"), 0);
		assert_int_equal(ngp_shutdown("hub2:"), 0);
		while (ngp_events(1000) != 0)
			continue;
	}
}

/* ---- vlan_rotate ---- */

#define	TAGS	10

struct tagged {
	unsigned char	addr[12];
	struct {
		uint16_t	proto;
		uint16_t	tag;
	} vlan[TAGS];
};

static const uint16_t protos[] = { 0x8100, 0x88a8, 0x9100 };

/* A frame with len tags, 1 and up. */
static void
tagged(struct tagged *f, unsigned int len)
{

	memset(f, 0, sizeof(*f));
	for (unsigned int i = 0; i < len; i++) {
		f->vlan[i].proto = htons(0x8100);
		f->vlan[i].tag = htons((uint16_t)(i + 1));
	}
	f->vlan[len].proto = htons(0x0800);
}

static void
tagged_pass(const char *from, const char *to, const struct tagged *f,
    struct tagged *got)
{
	char hook[NG_HOOKSIZ];
	unsigned char *buf;

	assert_int_equal(NgSendData(ngp.ds, from, (const unsigned char *)f,
	    sizeof(*f)), 0);
	assert_int_equal(NgAllocRecvData(ngp.ds, &buf, hook), sizeof(*f));
	assert_string_equal(hook, to);
	memcpy(got, buf, sizeof(*got));
	free(buf);
}

static void
rotate(int min, int max, int rot)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "setconf { min=%d max=%d rot=%d }",
	    min, max, rot);
	(void)ascii("vr:", text);
}

/* Every length and rotation, in both directions. */
static void
test_rotate(void **state)
{
	struct tagged f, got;

	named("vlan_rotate", "a", "original", "vr");
	assert_int_equal(ngp_connect(".", "vr:", "b", "ordered"), 0);
	for (int len = 9; len > 0; len--)
		for (int rot = -len + 1; rot < len; rot++) {
			rotate(0, 9, rot);
			tagged(&f, (unsigned int)len);
			tagged_pass("a", "b", &f, &got);
			for (int i = 0; i < len; i++)
				assert_int_equal(ntohs(got.vlan[i].tag),
				    (2 * len + i - rot) % len + 1);
			tagged_pass("b", "a", &f, &got);
			for (int i = 0; i < len; i++)
				assert_int_equal(ntohs(got.vlan[i].tag),
				    (2 * len + i + rot) % len + 1);
			assert_int_equal(got.vlan[len].proto, htons(0x0800));
		}
	assert_int_equal(ngp_events(1), 0);
}

/* A tag keeps its EtherType. */
static void
test_rotate_types(void **state)
{
	struct tagged f, got;
	unsigned int seed = (unsigned int)test_seed();

	named("vlan_rotate", "a", "original", "vr");
	assert_int_equal(ngp_connect(".", "vr:", "b", "ordered"), 0);
	for (int round = 0; round < 20; round++) {
		int rot = (int)((unsigned int)rand_r(&seed) % 17) - 8;

		tagged(&f, 9);
		for (unsigned int i = 0; i < 9; i++)
			f.vlan[i].proto = htons(protos[
			    (unsigned int)rand_r(&seed) % nitems(protos)]);
		rotate(0, 9, rot);
		for (int back = 0; back < 2; back++) {
			int sign = back != 0 ? -1 : 1;

			tagged_pass(back != 0 ? "b" : "a",
			    back != 0 ? "a" : "b", &f, &got);
			for (int i = 0; i < 9; i++)
				assert_memory_equal(&got.vlan[i],
				    &f.vlan[(18 + i - sign * rot) % 9],
				    sizeof(f.vlan[0]));
		}
	}
}

static void
test_rotate_minmax(void **state)
{
	struct tagged f, got;
	const char *odd;

	named("vlan_rotate", "a", "original", "vr");
	assert_int_equal(ngp_connect(".", "vr:", "b", "ordered"), 0);
	assert_int_equal(ngp_connect(".", "vr:", "c", "excessive"), 0);
	assert_int_equal(ngp_connect(".", "vr:", "d", "incomplete"), 0);
	rotate(3, 7, 0);
	for (unsigned int len = 9; len > 0; len--) {
		odd = len < 3 ? "d" : len > 7 ? "c" : NULL;
		tagged(&f, len);
		tagged_pass("a", odd != NULL ? odd : "b", &f, &got);
		assert_memory_equal(&f, &got, sizeof(f));
		tagged_pass("b", odd != NULL ? odd : "a", &f, &got);
		tagged_pass("c", "a", &f, &got);
		tagged_pass("d", "a", &f, &got);
		assert_memory_equal(&f, &got, sizeof(f));
	}
	assert_int_equal(ngp_events(1), 0);
}

/* ---- ksocket ---- */

#define	TEXT	"thirteen byte"
#define	TEXTLEN	13

/* A UDP socket of the host; its address. */
static int
host_socket(struct sockaddr_in *sin)
{
	socklen_t len = sizeof(*sin);
	int s;

	memset(sin, 0, sizeof(*sin));
	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_not_equal(s, -1);
	assert_int_equal(bind(s, (struct sockaddr *)sin, sizeof(*sin)), 0);
	assert_int_equal(getsockname(s, (struct sockaddr *)sin, &len), 0);
	return (s);
}

static void
check_text(int s)
{
	struct pollfd pfd = { .fd = s, .events = POLLIN };
	char buf[64];

	assert_int_equal(poll(&pfd, 1, 5000), 1);
	assert_int_equal(recv(s, buf, sizeof(buf), 0), TEXTLEN);
	assert_memory_equal(buf, TEXT, TEXTLEN);
}

static void
test_ksocket_connect(void **state)
{
	struct sockaddr_in sin;
	int s;

	s = host_socket(&sin);
	assert_int_equal(ngp_mkpeer(".", "ksocket", "ks", "inet/dgram/udp"),
	    0);
	assert_true(NgSendMsg(ngp.cs, ".:ks", NGM_KSOCKET_COOKIE,
	    NGM_KSOCKET_CONNECT, &sin, sizeof(sin)) >= 0);
	assert_int_equal(send(ngp.ds, TEXT, TEXTLEN, 0), TEXTLEN);
	check_text(s);
	(void)close(s);
}

static void
test_ksocket_bind(void **state)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	struct ng_mesg *rep;
	int s;

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(ngp_mkpeer(".", "ksocket", "ks", "inet/dgram/udp"),
	    0);
	assert_true(NgSendMsg(ngp.cs, ".:ks", NGM_KSOCKET_COOKIE,
	    NGM_KSOCKET_BIND, &sin, sizeof(sin)) >= 0);
	assert_true(NgSendMsg(ngp.cs, ".:ks", NGM_KSOCKET_COOKIE,
	    NGM_KSOCKET_GETNAME, NULL, 0) >= 0);
	assert_int_equal(NgAllocRecvMsg(ngp.cs, &rep, NULL),
	    sizeof(*rep) + sizeof(sin));
	s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_not_equal(s, -1);
	assert_int_equal(connect(s, (struct sockaddr *)(void *)rep->data,
	    sizeof(sin)), 0);
	free(rep);
	assert_int_equal(send(s, TEXT, TEXTLEN, 0), TEXTLEN);
	check_text(ngp.ds);
	(void)close(s);
}

/* ---- A program that talks, and one whose node is not there yet ---- */

/* What the library says for people to read changes nothing for the program. */
static void
quiet(const char *fmt, ...)
{

	(void)fmt;
	errno = EXDEV;
}

static void
test_debug(void **state)
{

	NgSetErrLog(quiet, quiet);
	assert_int_equal(NgSetDebug(3), 0);
	named("bridge", "a", "link0", "bridge");
	assert_int_equal(errno, 0);
	assert_int_equal(ngp_connect(".", "bridge:", "b", "link1"), 0);
	assert_int_equal(errno, 0);
	check_frame("a", 1, 0, 0, 1, 0, 0);
	assert_int_equal(hosts("bridge:"), 1);
	assert_int_equal(NgSetDebug(0), 3);
}

static void
test_not_yet(void **state)
{
	const unsigned char byte = 0;

	assert_int_equal(NgSendMsg(-1, "hub:", NGM_GENERIC_COOKIE,
	    NGM_SHUTDOWN, NULL, 0), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(NgSendAsciiMsg(-1, "hub:", "setpersistent"), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(NgSendData(-1, "a", &byte, 1), -1);
	assert_int_equal(errno, EBADF);
}

/* ---- */

static int
group_start(void **state)
{
	static const struct ng_type *const types[] = {
		&ng_bridge_type, &ng_ksocket_type, &ng_vlan_rotate_type,
	};

	if (ngp_group_start(state) != 0)
		return (-1);
	for (size_t i = 0; i < nitems(types); i++)
		if (ng_type_register(ngt_vnet(), types[i], NULL) != 0)
			return (-1);
	return (0);
}

#define	NGP_TEST(t)	cmocka_unit_test_setup_teardown(t, ngp_start, ngp_stop)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		NGP_TEST(test_bridge),
		NGP_TEST(test_bridge_persistence),
		NGP_TEST(test_bridge_loop),
		NGP_TEST(test_bridge_many_unicasts),
		NGP_TEST(test_bridge_many_broadcasts),
		NGP_TEST(test_bridge_uplink_private),
		NGP_TEST(test_bridge_uplink_classic),
		NGP_TEST(test_hub_loops),
		NGP_TEST(test_rotate),
		NGP_TEST(test_rotate_types),
		NGP_TEST(test_rotate_minmax),
		NGP_TEST(test_ksocket_connect),
		NGP_TEST(test_ksocket_bind),
		NGP_TEST(test_debug),
		NGP_TEST(test_not_yet),
	};

	return (cmocka_run_group_tests(tests, group_start, ngp_group_stop));
}
