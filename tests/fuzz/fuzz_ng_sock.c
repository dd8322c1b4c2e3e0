/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Fuzzing what programs send to a graph: an input is a program's conversation
 * with its node, as the server gets it, in a graph without interfaces.
 *
 * A packet is a letter, two bytes for its length, low one first, and so many
 * bytes:
 *
 *	m	to the maker
 *	c	on the control socket; C: with a descriptor, K: with two
 *	d	on the data socket, the hook's name in front
 *
 * Checked besides what the sanitizers see (all buffers have their exact size):
 * what the decoder takes lies inside of the packet, what comes back is a whole
 * message, and when the program has gone, no node is left of it.
 */
#include <sys/socket.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netepoch/epoch.h>

#include "ifnet/vnet.h"
#include "intr/callout.h"
#include "intr/intr_var.h"
#include "mbuf/mbuf.h"
#include "netgraph/ng_sock.h"
#include "netgraph/ng_var.h"
#include "netgraph/nodes/ng_nodes.h"
#include "sys/defs.h"
#include "sys/sysctl.h"
#include "sys/thread.h"

int	LLVMFuzzerInitialize(int *argc, char ***argv);
int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define	FUZZ_PACKETS	64		/* in one conversation */
#define	FUZZ_CHAIN	4		/* callbacks that make callbacks */

/* Those that reach nothing outside of the graph. */
static const struct ng_type *const types[] = {
	&ng_socket_type, &ng_hub_type, &ng_tee_type, &ng_hole_type,
	&ng_echo_type, &ng_one2many_type, &ng_split_type, &ng_bridge_type,
};

static struct vnet *vnet;

struct program {
	struct ng_sock	*pr_so;
	int		 pr_cs;
	int		 pr_ds;
};

static void
must(bool ok, const char *what)
{

	if (!ok)
		ne_panic(__FILE__, __LINE__, "%s", what);
}

static void *
copy_of(const void *data, size_t size)
{
	void *copy;

	copy = malloc(size);
	must(copy != NULL || size == 0, "no memory");
	if (size > 0)
		memcpy(copy, data, size);
	return (copy);
}

/*
 * What waits for a grace period hangs on memory that the leak checker does not
 * look at.  So it checks once, at the end, when that is over: a node may go
 * with its last hook's callback.
 */
static void
drain(void)
{

	for (int i = 0; i < FUZZ_CHAIN; i++)
		NET_EPOCH_DRAIN_CALLBACKS();
}

static void
no_leak_check_per_input(int *argc, char ***argv)
{
	static char flag[] = "-detect_leaks=0";
	char **args;

	args = calloc((size_t)*argc + 2, sizeof(*args));
	must(args != NULL, "no memory");
	memcpy(args, *argv, (size_t)*argc * sizeof(*args));
	args[(*argc)++] = flag;
	*argv = args;
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	int cpus[1024];

	(void)thread_cpus(cpus, (int)nitems(cpus));
	must(mbuf_init(8192) == 0, "no mbufs");
	vnet = vnet_alloc();
	must(vnet != NULL && (vnet->v_sysctl = sysctl_tree_alloc()) != NULL &&
	    intr_domain_alloc(cpus, 1, &vnet->v_intr) == 0 &&
	    callout_wheel_create("callout", &vnet->v_callouts) == 0 &&
	    ng_vnet_init(vnet) == 0, "no graph");
	for (size_t i = 0; i < nitems(types); i++)
		must(ng_type_register(vnet, types[i], NULL) == 0, "a type");
	no_leak_check_per_input(argc, argv);
	return (atexit(drain));
}

/* ---- The program's side ---- */

static void
program_start(struct program *pr)
{
	int cs[2], ds[2];
	uint32_t id;

	must(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, cs) == 0 &&
	    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ds) == 0, "no sockets");
	must(ng_sock_create(vnet, "p", cs[0], ds[0], &id, &pr->pr_so) == 0,
	    "no node");
	pr->pr_cs = cs[1];
	pr->pr_ds = ds[1];
}

static void
program_read(struct program *pr)
{
	static char buf[sizeof(struct ngs_ctl) + NGS_PATHSIZ +
	    NGS_INLINE_MAX];
	struct ng_msghdr hdr;
	struct ngs_ctl nc;
	ssize_t n;

	while ((n = recv(pr->pr_cs, buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
		must((size_t)n >= sizeof(nc), "half a header came");
		memcpy(&nc, buf, sizeof(nc));
		must(nc.magic == NGS_CTL_MAGIC && nc.pathlen < NGS_PATHSIZ,
		    "no header came");
		if ((nc.flags & NGS_CTL_MEMFD) != 0)
			continue;
		must(sizeof(nc) + nc.pathlen + nc.msglen == (size_t)n &&
		    nc.msglen >= sizeof(hdr), "half a message came");
		memcpy(&hdr, buf + sizeof(nc) + nc.pathlen, sizeof(hdr));
		must(hdr.arglen == nc.msglen - sizeof(hdr),
		    "a message without its argument came");
	}
	while (recv(pr->pr_ds, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		continue;
}

static void
count_cb(const struct ng_node_stat *ns, void *arg)
{

	(void)ns;
	++*(unsigned int *)arg;
}

/* All nodes go, since those that it made persistent would stay. */
static void
program_stop(struct program *pr)
{
	unsigned int n = 0;

	program_read(pr);
	ng_sock_closed(vnet, pr->pr_so, NGSO_CONTROL | NGSO_DATA);
	ng_vnet_shutdown(vnet);
	ng_sock_rele(pr->pr_so);
	(void)close(pr->pr_cs);
	(void)close(pr->pr_ds);
	VNET_CONFIG_LOCK(vnet);
	ng_node_walk(vnet, count_cb, &n);
	VNET_CONFIG_UNLOCK(vnet);
	must(n == 0, "nodes are left");
}

/* ---- The server's ---- */

static void
serve_control(struct program *pr, const char *buf, size_t len,
    unsigned int nfds)
{
	struct ng_sockmsg sm;
	struct ng_mesg *msg;

	if (ng_sockmsg_ctl(buf, len, nfds, &sm) != 0)
		return;
	must(memchr(sm.sm_path, '\0', sizeof(sm.sm_path)) != NULL,
	    "a path without an end");
	must(nfds == (unsigned int)sm.sm_reply + sm.sm_memfd, "descriptors");
	if (sm.sm_memfd)
		return;
	must(sm.sm_mesg >= buf && sm.sm_mesg + sm.sm_len == buf + len,
	    "a message outside of its packet");
	msg = copy_of(sm.sm_mesg, sm.sm_len);
	if (ng_sockmsg_mesg(msg, sm.sm_len) != 0)
		free(msg);
	else
		(void)ng_sock_send_msg(vnet, pr->pr_so, msg, sm.sm_path);
}

static void
serve_data(struct program *pr, const char *buf, size_t len)
{
	char hook[NGS_NAMESIZ] = "";
	size_t n;

	n = len < sizeof(hook) - 1 ? len : sizeof(hook) - 1;
	memcpy(hook, buf, n);
	n = strlen(hook) < n ? strlen(hook) + 1 : n;
	(void)ng_sock_send_data(vnet, pr->pr_so, hook, buf + n, len - n);
}

static void
serve(struct program *pr, char kind, const char *buf, size_t len)
{
	struct ngs_make mk;

	switch (kind) {
	case 'm':
		if (ng_sockmsg_make(buf, len, &mk) == 0)
			must(memchr(mk.name, '\0', sizeof(mk.name)) != NULL,
			    "a name without an end");
		break;
	case 'c':
	case 'C':
	case 'K':
		serve_control(pr, buf, len, kind == 'c' ? 0 : kind == 'C' ?
		    1 : 2);
		break;
	case 'd':
		serve_data(pr, buf, len);
		break;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct program pr;
	char *buf, kind;
	size_t len;

	program_start(&pr);
	for (int i = 0; i < FUZZ_PACKETS && size >= 3; i++) {
		kind = (char)data[0];
		len = data[1] | (size_t)data[2] << 8;
		data += 3;
		size -= 3;
		if (len > size)
			len = size;
		buf = copy_of(data, len);
		serve(&pr, kind, buf, len);
		free(buf);
		program_read(&pr);
		data += len;
		size -= len;
	}
	program_stop(&pr);
	return (0);
}
