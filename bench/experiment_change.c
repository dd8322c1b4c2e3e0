/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Change while traffic runs, and what waits for the epoch meanwhile.
 *
 * Three threads, outside the epoch.  The first adds and deletes routes and
 * neighbours under the configuration lock: routes more specific than that of
 * the traffic, so that its packets take them or not, and neighbours beside its
 * next hops, which get another MAC now and then.  The second makes and
 * destroys epairs, with an address, and puts a hub into the way of the traffic
 * (port 0's lower to its upper) and takes it out again, in an order that has
 * no gap.  The third waits for a grace period, pauses, waits again.
 *
 * The variables belong to the thread that they are named after, and to the
 * main thread before and after; `ending' tells them to end.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sysexits.h>
#include <time.h>

#include <netepoch/epoch.h>
#include <netgraph/netgraph.h>

#include "bench/experiment.h"
#include "bench/routes.h"
#include "ifnet/if_var.h"
#include "route/route_var.h"
#include "stack/machine.h"
#include "sys/thread.h"

#define	ROUTES		4096u		/* prefixes of 24 bits from 10/8 on */
#define	HOSTS		48u		/* from .201 on, behind port 1 */
#define	EPAIRS		4u
#define	THREADS		3u
#define	TICK_NS		1000000
#define	TICK_MAX	1000u		/* changes before others have a turn */
#define	PAUSE_NS	100000		/* between two grace periods */
#define	GRACE_MAX	(1u << 20)
#define	REMAC		4u		/* each such neighbour: a next hop */

/* A kind of thing that changes: added and deleted in turns. */
struct kind {
	const char	*k_name;
	unsigned int	 k_rate;	/* adds a second */
	uint64_t	 k_done;	/* changes, of both kinds */
	void		(*k_change)(uint64_t i);
};

static struct lab *lab;
static struct vnet *vnet;
static double lasted;
static _Atomic bool ending;
static struct thread *threads[THREADS];

static struct samples grace;
static uint64_t backlog_sum, backlog_max;

static void
check(int error, const char *what)
{

	if (error != 0) {
		errno = error;
		err(EX_SOFTWARE, "%s", what);
	}
}

static void
pause_ns(long ns)
{
	const struct timespec ts = { .tv_nsec = ns };

	(void)nanosleep(&ts, NULL);
}

/* ---- Routes and neighbours ---- */

/* All are added, then all deleted, and so on. */
static void
route_change(uint64_t i)
{
	const unsigned int slot = (unsigned int)(i % ROUTES);
	struct rt_req rq = {
		.rq_dst.s_addr = htonl(0x0a000000u + slot * 0x100u),
		.rq_plen = 24,
		.rq_flags = RTF_STATIC | RTF_GATEWAY,
		.rq_gw = lab_gateway(1 + (slot + (unsigned int)(i / ROUTES)) %
		    BENCH_NNEXTHOPS),
	};

	if (i / ROUTES % 2 == 0)
		check(rt_add(vnet, &rq), "route add");
	else
		check(rt_delete(vnet, rq.rq_dst, rq.rq_plen), "route delete");
}

static void
neighbour_change(uint64_t i)
{
	const unsigned int nh = 2 * (unsigned int)(i / REMAC) %
	    BENCH_NNEXTHOPS + 1;
	const struct in_addr host = lab_address(1,
	    201 + (unsigned int)(i % HOSTS));
	uint8_t mac[6] = { 2, 0, 0, 0, 2, (uint8_t)(i % HOSTS) };

	if (i / HOSTS % 2 == 0)
		check(lla_set(lab->lab_port[1], host, mac, LLE_STATIC, 0),
		    "neighbour add");
	else
		check(lla_delete(lab->lab_port[1], host), "neighbour delete");
	if (i % REMAC == 0) {
		mac[3] = (uint8_t)(i / REMAC);
		check(lla_set(lab->lab_port[1], lab_gateway(nh), mac,
		    LLE_STATIC, 0), "another MAC");
	}
}

/* ---- Interfaces and nodes ---- */

static void
epair_make(unsigned int unit)
{
	const struct in_addr none = { 0 };
	const struct in_addr addr = {
		.s_addr = htonl(0xc0a80001u + unit * 0x100u),
	};
	char made[IFNAMLEN], name[IFNAMLEN], text[256];
	struct ifnet *ifp;

	snprintf(name, sizeof(name), "epair%u", 100 + unit);
	if (machine_if_create(lab->lab_machine, name, "epair", made, text,
	    sizeof(text)) != 0)
		errx(EX_SOFTWARE, "%s", text);
	VNET_CONFIG_LOCK(vnet);
	ifp = if_byname(vnet, made);
	if (ifp == NULL)
		errx(EX_SOFTWARE, "%s: not made", made);
	check(if_addr_add(ifp, addr, 24, none, none), made);
	check(if_setflags(ifp, IFF_UP, 0), made);
	VNET_CONFIG_UNLOCK(vnet);
}

static void
interface_change(uint64_t i)
{
	const unsigned int unit = (unsigned int)(i % EPAIRS);
	char name[IFNAMLEN], text[256];

	if (i / EPAIRS % 2 == 0) {
		epair_make(unit);
		return;
	}
	snprintf(name, sizeof(name), "epair%ua", 100 + unit);
	if (machine_if_destroy(lab->lab_machine, name, text,
	    sizeof(text)) != 0)
		errx(EX_SOFTWARE, "%s", text);
}

/* To the node of port 0. */
static void
message(uint32_t cmd, const void *arg, size_t len, const char *path)
{
	struct ng_mesg *msg;
	node_p port;
	int error;

	msg = ng_mkmessage(NGM_GENERIC_COOKIE, cmd, arg, len);
	if (msg == NULL)
		errx(EX_OSERR, "no memory");
	ng_ctl_enter(vnet);
	port = ng_findnode(vnet, lab->lab_port[0]->if_name);
	if (port == NULL)
		errx(EX_SOFTWARE, "port 0 has no node");
	error = ng_send_msg_path(port, msg, path);
	ng_ctl_exit(vnet);
	check(error, path);
}

/* Until the last step of the one, after the first of the other: no traffic. */
static void
node_change(uint64_t i)
{
	struct ngm_mkpeer mp = { .type = "hub", .ourhook = "upper",
	    .peerhook = "up" };
	struct ngm_connect con = { .path = "upper", .ourhook = "lower",
	    .peerhook = "down" };
	struct ngm_rmhook rm = { .ourhook = "lower" };

	if (i % 2 == 0) {
		message(NGM_MKPEER, &mp, sizeof(mp), ".");
		message(NGM_CONNECT, &con, sizeof(con), ".");
		return;
	}
	message(NGM_RMHOOK, &rm, sizeof(rm), ".");
	NET_EPOCH_WAIT();		/* who has seen the hook is through */
	message(NGM_SHUTDOWN, NULL, 0, "upper");
}

static struct kind tables[] = {
	{ .k_name = "routes", .k_change = route_change },
	{ .k_name = "neighbours", .k_change = neighbour_change },
};
static struct kind objects[] = {
	{ .k_name = "interfaces", .k_change = interface_change },
	{ .k_name = "nodes", .k_change = node_change },
};

/* ---- The threads ---- */

/* Make the changes that are due since begin; true: fell behind. */
static bool
kind_catch_up(struct kind *k, uint64_t begin, unsigned int max)
{
	const double secs = (double)(time_ns() - begin) * 1e-9;
	uint64_t due = (uint64_t)(2 * k->k_rate * secs);

	for (; k->k_done < due && max > 0; max--)
		k->k_change(k->k_done++);
	return (k->k_done < due);
}

/* Delete what is there: go on to the next number that begins an adding. */
static void
kind_finish(struct kind *k, unsigned int n)
{
	const uint64_t end = (k->k_done + 2 * n - 1) / (2 * n) * (2 * n);

	/* What would be added is not; its deletion is left out, too. */
	if (k->k_done / n % 2 == 0) {
		for (uint64_t i = k->k_done / n * n; i < k->k_done; i++)
			k->k_change(i + n);
		return;
	}
	for (uint64_t i = k->k_done; i < end; i++)
		k->k_change(i);
}

static void
tables_main(void *arg)
{
	const uint64_t begin = time_ns();
	bool late;

	(void)arg;
	while (!atomic_load(&ending)) {
		VNET_CONFIG_LOCK(vnet);
		late = kind_catch_up(&tables[0], begin, TICK_MAX);
		late |= kind_catch_up(&tables[1], begin, TICK_MAX);
		VNET_CONFIG_UNLOCK(vnet);
		if (!late)
			pause_ns(TICK_NS);
	}
	VNET_CONFIG_LOCK(vnet);
	kind_finish(&tables[0], ROUTES);
	kind_finish(&tables[1], HOSTS);
	VNET_CONFIG_UNLOCK(vnet);
}

static void
objects_main(void *arg)
{
	const uint64_t begin = time_ns();

	(void)arg;
	while (!atomic_load(&ending)) {
		(void)kind_catch_up(&objects[0], begin, 1);
		(void)kind_catch_up(&objects[1], begin, 1);
		pause_ns(TICK_NS);
	}
	kind_finish(&objects[0], EPAIRS);
	kind_finish(&objects[1], 1);
}

static void
grace_main(void *arg)
{
	struct epoch_stats st;
	uint64_t begin;

	(void)arg;
	while (!atomic_load(&ending)) {
		begin = time_ns();
		NET_EPOCH_WAIT();
		samples_add(&grace, time_ns() - begin);
		epoch_stats_get(net_epoch_preempt, &st);
		backlog_sum += st.es_backlog;
		if (st.es_backlog > backlog_max)
			backlog_max = st.es_backlog;
		pause_ns(PAUSE_NS);
	}
}

void
change_start(struct lab *l, const struct change_conf *cc)
{
	void (*const mains[])(void *) = {
		cc->cc_wait ? grace_main : NULL,
		cc->cc_routes + cc->cc_neighbours != 0 ? tables_main : NULL,
		cc->cc_interfaces + cc->cc_nodes != 0 ? objects_main : NULL,
	};

	lab = l;
	vnet = l->lab_machine->ma_vnet;
	tables[0].k_rate = cc->cc_routes;
	tables[1].k_rate = cc->cc_neighbours;
	objects[0].k_rate = cc->cc_interfaces;
	objects[1].k_rate = cc->cc_nodes;
	if (cc->cc_wait)
		samples_init(&grace, GRACE_MAX);
	for (unsigned int i = 0; i < THREADS; i++)
		if (mains[i] != NULL)
			check(thread_create(&threads[i], "change", cc->cc_cpu,
			    mains[i], NULL), "thread");
}

void
change_stop(double secs)
{

	lasted = secs;
	atomic_store(&ending, true);
	for (unsigned int i = 0; i < THREADS; i++)
		if (threads[i] != NULL)
			thread_join(threads[i]);
}

static void
kind_print(const struct kind *k)
{

	printf(",\"%s\":%.0f", k->k_name, (double)k->k_done / 2 / lasted);
}

void
change_print(void)
{

	for (unsigned int i = 0; i < 2; i++)
		kind_print(&tables[i]);
	for (unsigned int i = 0; i < 2; i++)
		kind_print(&objects[i]);
	if (grace.sa_n == 0)
		return;
	printf(",\"backlog\":{\"mean\":%.1f,\"max\":%lu}",
	    (double)backlog_sum / (double)grace.sa_n, backlog_max);
	samples_print(&grace, "grace_us");
}
