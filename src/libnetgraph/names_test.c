/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A program as people write it for FreeBSD: it takes for granted what
 * <netgraph.h> brings there, has byte orders in static initialisers, lengths
 * in its socket addresses, and names of its own that ours must leave free.
 * Compiled once for each order of includes (ORDER) that is seen in the wild.
 */
#if ORDER == 1
#include <net/ethernet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netgraph.h>
#elif ORDER == 2
#include <netgraph.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#elif ORDER == 3
#include <netgraph/ng_bridge.h>
#include <netgraph/ng_socket.h>
#include <netgraph.h>
#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#else
#error "ORDER says which order it is"
#endif
#include <sys/queue.h>
#include <sys/select.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <netgraph/ng_bridge.h>
#include <netgraph/ng_ksocket.h>
#include <netgraph/ng_socket.h>

/* Names that are the program's. */
enum { FAIL, PASS };
typedef int ng_counter_t[10];
typedef int ng_error_t;
typedef void (*ng_data_handler_t)(void *, size_t, void *);
typedef void (*ng_msg_handler_t)(const char *, struct ng_mesg *, void *);
#define	ng_mkpeer(type)		_ng_mkpeer(__FILE__, __LINE__, type)
#define	ng_shutdown(path)	_ng_shutdown(__FILE__, __LINE__, path)

struct gettable {
	u_int32_t tok;
	struct ng_bridge_host_ary *table;
};

struct data_handler {
	const char		*hook;
	ng_data_handler_t	 handler;
	SLIST_ENTRY(data_handler) next;
};
static SLIST_HEAD(, data_handler) data_handlers =
    SLIST_HEAD_INITIALIZER(data_handlers);

/* Constants in the order of the net. */
struct vlan {
	uint16_t	proto;
	uint16_t	tag;
} __packed;

static struct frame {
	struct ether_header	eth;
	struct vlan		vlan[3];
	struct ip		ip;
	char			data[8];
} __packed frame = {
	.eth = {
		.ether_dhost = { 2, 4, 6 },
		.ether_type = htons(ETHERTYPE_8021Q9100),
	},
	.vlan = {
		{ htons(ETHERTYPE_QINQ), htons(EVL_MAKETAG(42, 5, 1)) },
		{ htons(ETHERTYPE_VLAN), htons(EVL_MAKETAG(4095, 0, 0)) },
		{ htons(ETHERTYPE_IP), 0 },
	},
	.ip = {
		.ip_v = 4,
		.ip_hl = 5,
		.ip_ttl = 64,
		.ip_len = htons(28),
		.ip_src = { .s_addr = htonl(0xc0000201) },
		.ip_dst = { .s_addr = htonl(INADDR_LOOPBACK) },
	},
};
static const uint32_t there_and_back[] = { ntohl(htonl(0x01020304)),
	ntohs(htons(0x0102)) };

static int failures;

#define	CHECK(what) do {						\
	if (!(what)) {							\
		fprintf(stderr, "%s:%d: not so: %s\n", __FILE__,	\
		    __LINE__, #what);					\
		failures++;						\
	}								\
} while (0)

static int cs = -1, ds = -1;

static void
_ng_mkpeer(const char *file, int line, const char *type)
{
	struct ngm_mkpeer msg = { .peerhook = "b" };

	(void)strncpy(msg.ourhook, "a", sizeof(msg.ourhook));
	(void)strncpy(msg.type, type, sizeof(msg.type) - 1);
	CHECK(NgSendMsg(cs, ".", NGM_GENERIC_COOKIE, NGM_MKPEER, &msg,
	    sizeof(msg)) == -1 && errno == EBADF);
}

static void
_ng_shutdown(const char *file, int line, const char *path)
{

	CHECK(NgSendMsg(cs, path, NGM_GENERIC_COOKIE, NGM_SHUTDOWN, NULL, 0) ==
	    -1 && errno == EBADF);
}

static void
ng_connect(const char *path1, const char *hook1, const char *path2)
{
	struct ngm_connect msg;

	(void)strncpy(msg.path, path2, NG_PATHSIZ - 1);
	(void)strncpy(msg.ourhook, hook1, NG_HOOKSIZ - 1);
	(void)strncpy(msg.peerhook, hook1, NG_HOOKSIZ - 1);
	CHECK(NgSendMsg(cs, path1, NGM_GENERIC_COOKIE, NGM_CONNECT, &msg,
	    sizeof(msg)) == -1);
}

static void
ng_rmhook(const char *path, const char *hook)
{
	struct ngm_rmhook msg;

	(void)strncpy(msg.ourhook, hook, sizeof(msg.ourhook) - 1);
	CHECK(NgSendMsg(cs, path, NGM_GENERIC_COOKIE, NGM_RMHOOK, &msg,
	    sizeof(msg)) == -1);
}

static void
ng_name(const char *path, const char *name)
{
	struct ngm_name msg;

	(void)strncpy(msg.name, name, NG_NODESIZ - 1);
	CHECK(NgSendMsg(cs, path, NGM_GENERIC_COOKIE, NGM_NAME, &msg,
	    sizeof(msg)) == -1);
}

static void
ng_send_data(const char *hook, const void *data, size_t len)
{

	CHECK(NgSendData(ds, hook, data, len) == -1 && errno == EBADF);
}

static void
ng_send_msg(const char *path, const char *text)
{
	struct gettable t;

	t.tok = NgSendAsciiMsg(cs, path, "%s", text);
	CHECK(t.tok == (u_int32_t)-1);
}

static void
get_data0(void *data, size_t len, void *arg)
{
	ng_counter_t *count = arg;

	(*count)[0] += len > 0;
}

static void
ng_handle_event(void)
{
	u_char *data = NULL;
	char hook[NG_HOOKSIZ];
	struct ng_mesg *mesg = NULL;
	fd_set fds;

	FD_ZERO(&fds);
	CHECK(NgAllocRecvMsg(cs, &mesg, NULL) == -1);
	CHECK(NgAllocRecvData(ds, &data, hook) == -1);
	CHECK(close(cs) == -1);
}

static void
test_ksocket_names(void)
{
	struct sockaddr_in sin = {
		.sin_len = sizeof(sin),
		.sin_family = AF_INET,
		.sin_port = htons(80),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct sockaddr_ng sng;
	socklen_t len = sizeof(sng);

	CHECK(sin.sin_port == 80 << 8 && sin.sin_family == AF_INET);
	CHECK(sizeof(sin) == 16);
	CHECK(getsockname(cs, (struct sockaddr *)&sng, &len) == -1);
	bzero(sng.sg_data, sizeof(sng.sg_data));
	CHECK(strcmp(sng.sg_data, "") == 0);
	CHECK(strcmp(NG_KSOCKET_NODE_TYPE, "ksocket") == 0);
	CHECK(NGM_KSOCKET_BIND == 1 && NGM_KSOCKET_CONNECT == 4 &&
	    NGM_KSOCKET_GETNAME == 5);
	CHECK(AF_NETGRAPH == 32);
}

int
main(void)
{
	struct data_handler dh = { "a", get_data0, { NULL } }, *p;
	ng_counter_t count = { 0 };
	ng_msg_handler_t none = NULL;
	ng_error_t mode = FAIL;
	const u_char *raw = (const u_char *)&frame;

	CHECK(NgSetDebug(3) == 0 && NgSetDebug(0) == 3);
	SLIST_INSERT_HEAD(&data_handlers, &dh, next);
	SLIST_FOREACH(p, &data_handlers, next)
		p->handler(&frame, sizeof(frame), &count);
	CHECK(count[0] == 1 && mode != PASS && none == NULL);

	/* The frame, byte for byte. */
	CHECK(sizeof(frame) == 14 + 3 * 4 + 20 + 8);
	CHECK(memcmp(raw + 12, "\x91\x00\x88\xa8\xb0\x2a\x81\x00\x0f\xff"
	    "\x08\x00\x00\x00\x45", 15) == 0);
	CHECK(memcmp(&frame.ip.ip_src, "\xc0\x00\x02\x01\x7f\x00\x00\x01",
	    8) == 0);
	CHECK(EVL_VLANOFTAG(ntohs(frame.vlan[0].tag)) == 42);
	CHECK(there_and_back[0] == 0x01020304 && there_and_back[1] == 0x0102);
	CHECK(sizeof(struct ng_mesg) == 56);
	CHECK(sizeof(struct ip6_hdr) == 40);

	ng_shutdown("hub:");
	ng_mkpeer("hub");
	ng_connect(".", "a", "hub:");
	ng_rmhook(".", "a");
	ng_name("a", "test hub");
	ng_send_data("a", &frame, sizeof(frame));
	ng_send_msg("hub:", "setpersistent");
	ng_handle_event();
	test_ksocket_names();

	/* In a directory of its own there is no machine. */
	setenv("NETEPOCH_RUNDIR", "/nonexistent", 1);
	unsetenv("NETEPOCH_MACHINE");
	CHECK(NgMkSockNode(NULL, &cs, &ds) == -1 && errno == EAFNOSUPPORT);
	return (failures != 0);
}
