/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A graph, its server and a program in one process; see the header.
 */
#include "netgraph/ng_sockserv_testlib.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "netgraph/ng_sockserv.h"
#include "netgraph/ng_var.h"
#include "netgraph/nodes/ng_nodes.h"
#include "sys/thread.h"
#include "wire/ngsock.h"

struct ngp ngp;

static char rundir[64], machdir[80], path[108];
static struct ng_sockserv *server;
static unsigned int descriptors;	/* without any program */

int
ngp_group_start(void **state)
{
	static const struct ng_type *const types[] = {
		&ng_socket_type, &ng_hub_type, NULL,
	};
	struct rlimit rl;
	char err[256];

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &rl), 0);
	rl.rlim_cur = rl.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &rl), 0);
	(void)snprintf(rundir, sizeof(rundir), "/tmp/ngsock-XXXXXX");
	assert_non_null(mkdtemp(rundir));
	(void)snprintf(machdir, sizeof(machdir), "%s/T", rundir);
	assert_int_equal(mkdir(machdir, 0700), 0);
	(void)snprintf(path, sizeof(path), "%s/" NGS_SOCKET, machdir);
	assert_int_equal(setenv("NETEPOCH_RUNDIR", rundir, 1), 0);
	assert_int_equal(setenv("NETEPOCH_MACHINE", "T", 1), 0);
	ngt_start(types);
	if (ng_sockserv_start(ngt_vnet(), path, &server, err,
	    sizeof(err)) != 0)
		fail_msg("%s", err);
	descriptors = ngp_descriptors();
	return (0);
}

int
ngp_group_stop(void **state)
{

	ng_sockserv_stop(server);
	/* It leaves nothing behind. */
	assert_int_equal(rmdir(machdir), 0);
	assert_int_equal(rmdir(rundir), 0);
	ngt_stop();
	return (0);
}

const char *
ngp_socket(void)
{

	return (path);
}

int
ngp_start(void **state)
{

	memset(&ngp, 0, sizeof(ngp));
	assert_int_equal(NgMkSockNode(NULL, &ngp.cs, &ngp.ds), 0);
	return (0);
}

unsigned int
ngp_descriptors(void)
{
	unsigned int n = 0;
	DIR *d;

	d = opendir("/proc/self/fd");
	assert_non_null(d);
	while (readdir(d) != NULL)
		n++;
	(void)closedir(d);
	return (n);
}

/* The program's two ends, while they are open, and the server's. */
void
ngp_wait_closed(void)
{
	uint64_t end = time_ns() + UINT64_C(20000000000);
	unsigned int want = descriptors + (ngp.cs != -1 ? 4 : 0);

	while (ngp_descriptors() != want) {
		assert_true(time_ns() < end);
		sched_yield();
	}
}

/* The server hears of a closed end soon, not at once. */
int
ngp_stop(void **state)
{

	(void)close(ngp.cs);
	(void)close(ngp.ds);
	ngp.cs = ngp.ds = -1;
	ngp_wait_closed();
	ngt_reset();
	return (0);
}

/* ---- Calls ---- */

static int
ngp_msg(const char *to, int cmd, const void *arg, size_t len)
{

	return (NgSendMsg(ngp.cs, to, NGM_GENERIC_COOKIE, cmd, arg, len) ==
	    -1 ? errno : 0);
}

int
ngp_mkpeer(const char *to, const char *type, const char *ourhook,
    const char *peerhook)
{
	struct ngm_mkpeer mkp = { .type = "" };

	(void)snprintf(mkp.type, sizeof(mkp.type), "%s", type);
	(void)snprintf(mkp.ourhook, sizeof(mkp.ourhook), "%s", ourhook);
	(void)snprintf(mkp.peerhook, sizeof(mkp.peerhook), "%s", peerhook);
	return (ngp_msg(to, NGM_MKPEER, &mkp, sizeof(mkp)));
}

int
ngp_connect(const char *from, const char *to, const char *ourhook,
    const char *peerhook)
{
	struct ngm_connect con = { .path = "" };

	(void)snprintf(con.path, sizeof(con.path), "%s", to);
	(void)snprintf(con.ourhook, sizeof(con.ourhook), "%s", ourhook);
	(void)snprintf(con.peerhook, sizeof(con.peerhook), "%s", peerhook);
	return (ngp_msg(from, NGM_CONNECT, &con, sizeof(con)));
}

int
ngp_rmhook(const char *to, const char *hook)
{
	struct ngm_rmhook rm = { .ourhook = "" };

	(void)snprintf(rm.ourhook, sizeof(rm.ourhook), "%s", hook);
	return (ngp_msg(to, NGM_RMHOOK, &rm, sizeof(rm)));
}

int
ngp_shutdown(const char *to)
{

	return (ngp_msg(to, NGM_SHUTDOWN, NULL, 0));
}

int
ngp_send(const char *hook, size_t len)
{
	unsigned char buf[NGS_DATA_MAX] = { 1, 2, 3 };

	return (NgSendData(ngp.ds, hook, buf, len) == -1 ? errno : 0);
}

/* ---- What comes ---- */

/* Wait for one; false: it is quiet, and nothing is queued in the graph. */
static bool
ngp_readable(void)
{
	struct pollfd pfd = { .fd = ngp.ds, .events = POLLIN };

	while (poll(&pfd, 1, NGP_QUIET_MS) == 0) {
		if (!ngt_idle())
			continue;
		NET_EPOCH_WAIT();	/* a worker may still deliver */
		return (poll(&pfd, 1, 0) == 1);
	}
	return (true);
}

unsigned int
ngp_hook_number(const char *hook)
{
	unsigned int n;

	n = hook[1] == '\0' ? (unsigned int)(hook[0] - 'a') :
	    (unsigned int)strtoul(hook + 1, NULL, 10);
	assert_true(n < NGP_HOOKS);
	return (n);
}

unsigned int
ngp_events(unsigned int max)
{
	char hook[NG_HOOKSIZ];
	unsigned char *buf;

	ngp.total = 0;
	memset(ngp.count, 0, sizeof(ngp.count));
	while (ngp.total < max && ngp_readable()) {
		if (NgAllocRecvData(ngp.ds, &buf, hook) <= 0)
			break;
		free(buf);
		ngp.total++;
		ngp.count[ngp_hook_number(hook)]++;
	}
	return (ngp.total);
}

unsigned int
ngp_nodes(void)
{
	struct ng_mesg *rep;
	unsigned int n;

	assert_int_equal(ngp_msg(".", NGM_LISTNODES, NULL, 0), 0);
	assert_true(NgAllocRecvMsg(ngp.cs, &rep, NULL) > 0);
	n = ((struct namelist *)(void *)rep->data)->numnames;
	free(rep);
	return (n);
}

void
ngp_wait_nodes(unsigned int n)
{
	uint64_t end = time_ns() + UINT64_C(20000000000);

	while (ngp_nodes() != n) {
		assert_true(time_ns() < end);
		sched_yield();
	}
}
