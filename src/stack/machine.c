/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A machine's start and stop.
 *
 * Runs on the thread that starts the machine (the daemon's main thread, a
 * test's), outside the epoch.  Start makes each part on top of those below
 * it; stop is the same list backwards: interfaces first, so that no packet
 * can arrive, then the protocols, then the threads.  The graph comes before
 * any interface, since it is told of them, and goes after the last: interfaces
 * that are nodes go with their nodes, when those of drivers have gone.  A
 * machine's memory is its own but for the mbufs, which are the process's.
 */
#include "stack/machine.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/drv.h"
#include "ether/ether_var.h"
#include "gen/gen_var.h"
#include "ifnet/if_clone.h"
#include "ifnet/if_var.h"
#include "intr/callout.h"
#include "intr/intr_var.h"
#include "intr/taskqueue.h"
#include "ip/ip_var.h"
#include "mbuf/mbuf.h"
#include "netgraph/ng_sockserv.h"
#include "netgraph/ng_var.h"
#include "route/route_var.h"
#include "stack/stack_private.h"
#include "sys/sysctl.h"
#include "sys/thread.h"

#define	MACHINE_MBUFS	16384		/* default: 32 MiB of frames */
#define	MACHINE_CPUS	64
#define	MACHINE_TASKS	2		/* taskqueue threads */

/* Loopback has no link header: the packet is what comes. */
static void
loop_input(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	uint64_t bytes = 0;

	NET_EPOCH_ASSERT();

	for (unsigned int i = 0; i < n; i++) {
		bytes += m[i]->m_pkthdr.len;
		m[i]->m_pkthdr.rcvif = ifp;
		m[i]->m_pkthdr.l2len = 0;
	}
	if_inc(ifp, IFC_IPACKETS, n);
	if_inc(ifp, IFC_IBYTES, bytes);
	ip_input(ifp, m, n);
}

static const struct if_linktype loop_linktype = {
	.lt_type = IFT_LOOP,
	.lt_input = loop_input,
};

/* Nor has a link that is somewhere in the graph; IPv4 is what we know. */
static void
virtual_input(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	uint64_t bytes = 0;
	unsigned int kept = 0;

	NET_EPOCH_ASSERT();

	if_inc(ifp, IFC_IPACKETS, n);
	for (unsigned int i = 0; i < n; i++) {
		bytes += m[i]->m_pkthdr.len;
		m[i]->m_pkthdr.rcvif = ifp;
		m[i]->m_pkthdr.l2len = 0;
		if (m[i]->m_len == 0 || m[i]->m_data[0] >> 4 != 4)
			if_drop(ifp, m[i], IFD_ETHERTYPE);
		else
			m[kept++] = m[i];
	}
	if_inc(ifp, IFC_IBYTES, bytes);
	if (kept != 0)
		ip_input(ifp, m, kept);
}

static const struct if_linktype virtual_linktype = {
	.lt_type = IFT_PROPVIRTUAL,
	.lt_input = virtual_input,
};

static int
machine_fail(int error, const char *what, char *err, size_t errlen)
{

	snprintf(err, errlen, "%s: %s", what, strerror(error));
	return (error);
}

/* lo0 with 127.0.0.1/8, up. */
static int
machine_loopback(struct machine *ma, char *err, size_t errlen)
{
	const struct in_addr addr = { .s_addr = htonl(INADDR_LOOPBACK) };
	const struct in_addr none = { 0 };
	struct ifnet *ifp;
	struct if_spec sp;
	int error;

	error = if_spec_parse("lo", &sp, err, errlen);
	if (error != 0)
		return (error);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	error = loop_driver.drv_create(ma->ma_vnet, "lo0", &sp, &ifp, err,
	    errlen);
	if (error == 0) {
		error = if_setflags(ifp, IFF_UP, 0);
		if (error == 0)
			error = if_addr_add(ifp, addr, 8, none, none);
		if (error != 0) {
			loop_driver.drv_destroy(ifp);
			(void)machine_fail(error, "lo0", err, errlen);
		}
	}
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	return (error);
}

/* The threads, and what needs nothing but them. */
static int
machine_threads(struct machine *ma, const struct machine_config *mc,
    char *err, size_t errlen)
{
	struct vnet *vnet = ma->ma_vnet;
	int cpus[MACHINE_CPUS], n, error;

	n = mc->mc_ncpus;
	if (mc->mc_cpus != NULL)
		memcpy(cpus, mc->mc_cpus, (size_t)n * sizeof(cpus[0]));
	else
		n = thread_cpus(cpus, MACHINE_CPUS);
	error = intr_domain_alloc(cpus, n, &vnet->v_intr);
	if (error != 0)
		return (machine_fail(error, "starting interrupt threads", err,
		    errlen));
	error = taskqueue_create("tasks", MACHINE_TASKS, &vnet->v_tq);
	if (error != 0) {
		(void)machine_fail(error, "starting task threads", err,
		    errlen);
		goto free_intr;
	}
	error = callout_wheel_create("callout", &vnet->v_callouts);
	if (error != 0) {
		(void)machine_fail(error, "starting the callout thread", err,
		    errlen);
		goto free_tq;
	}
	return (0);
free_tq:
	taskqueue_free(vnet->v_tq);
free_intr:
	intr_domain_free(vnet->v_intr);
	return (error);
}

static void
machine_threads_stop(struct machine *ma)
{
	struct vnet *vnet = ma->ma_vnet;

	callout_wheel_free(vnet->v_callouts);
	taskqueue_free(vnet->v_tq);
	intr_domain_free(vnet->v_intr);
}

static int
machine_routes(struct vnet *vnet)
{
	int error;

	VNET_CONFIG_LOCK(vnet);
	error = route_vnet_init(vnet);
	VNET_CONFIG_UNLOCK(vnet);
	return (error);
}

static void
machine_routes_stop(struct vnet *vnet)
{

	VNET_CONFIG_LOCK(vnet);
	route_vnet_fini(vnet);
	VNET_CONFIG_UNLOCK(vnet);
}

/* The protocols, from below; undone by machine_protocols_stop(). */
static int
machine_protocols(struct machine *ma, char *err, size_t errlen)
{
	struct vnet *vnet = ma->ma_vnet;
	int error;

	error = intr_sysctl_attach(vnet->v_intr, vnet->v_sysctl);
	if (error == 0)
		error = machine_sysctl_attach(ma);
	if (error == 0)
		error = ether_vnet_init(vnet);
	if (error == 0)
		error = if_linktype_register(vnet, &loop_linktype);
	if (error == 0)
		error = if_linktype_register(vnet, &virtual_linktype);
	if (error == 0)
		error = machine_routes(vnet);
	if (error != 0)
		return (machine_fail(error, "routing tables", err, errlen));
	error = ip_vnet_init(vnet);
	if (error != 0) {
		machine_routes_stop(vnet);
		return (machine_fail(error, "IPv4", err, errlen));
	}
	return (0);
}

/* An empty graph with the types that are always there. */
static int
machine_graph(struct machine *ma, char *err, size_t errlen)
{
	int error;

	error = ng_vnet_init(ma->ma_vnet);
	if (error == 0) {
		error = kld_ng_init(ma->ma_vnet);
		if (error != 0)
			ng_vnet_fini(ma->ma_vnet);
	}
	return (error != 0 ? machine_fail(error, "netgraph", err, errlen) : 0);
}

static void
machine_graph_stop(struct machine *ma)
{

	ng_vnet_fini(ma->ma_vnet);
	kld_ng_fini(ma->ma_vnet);
}

int
machine_serve_graph(struct machine *ma, const char *path, char *err,
    size_t errlen)
{

	return (ng_sockserv_start(ma->ma_vnet, path, &ma->ma_ngserv, err,
	    errlen));
}

static void
machine_protocols_stop(struct machine *ma)
{

	ip_vnet_fini(ma->ma_vnet);
	machine_routes_stop(ma->ma_vnet);
}

int
machine_start(const struct machine_config *mc, struct machine **map,
    char *err, size_t errlen)
{
	struct machine *ma;
	int error;

	if (mc->mc_cpus != NULL && (mc->mc_ncpus < 1 ||
	    mc->mc_ncpus > MACHINE_CPUS)) {
		snprintf(err, errlen, "expected 1 to %d CPUs, got %d",
		    MACHINE_CPUS, mc->mc_ncpus);
		return (EINVAL);
	}
	error = mbuf_init(mc->mc_nmbufs != 0 ? mc->mc_nmbufs : MACHINE_MBUFS);
	if (error != 0 && error != EALREADY)
		return (machine_fail(error, "packet memory", err, errlen));

	error = ENOMEM;
	if ((ma = calloc(1, sizeof(*ma))) == NULL)
		return (machine_fail(error, "machine", err, errlen));
	snprintf(ma->ma_name, sizeof(ma->ma_name), "%s", mc->mc_name);
	ma->ma_start = time_ns();
	if ((ma->ma_vnet = vnet_alloc()) == NULL) {
		(void)machine_fail(error, "machine", err, errlen);
		goto free_machine;
	}
	snprintf(ma->ma_vnet->v_name, sizeof(ma->ma_vnet->v_name), "%s",
	    mc->mc_name);
	if ((ma->ma_vnet->v_sysctl = sysctl_tree_alloc()) == NULL) {
		(void)machine_fail(error, "sysctl tree", err, errlen);
		goto free_vnet;
	}
	error = machine_threads(ma, mc, err, errlen);
	if (error != 0)
		goto free_sysctl;
	error = machine_protocols(ma, err, errlen);
	if (error != 0)
		goto stop_threads;
	error = machine_graph(ma, err, errlen);
	if (error != 0)
		goto stop_protocols;
	/* The last to hear of interfaces that come, the first of those that go. */
	if ((ma->ma_gens = gen_set_alloc(ma->ma_vnet)) == NULL) {
		error = machine_fail(ENOMEM, "generators", err, errlen);
		goto stop_graph;
	}
	error = machine_loopback(ma, err, errlen);
	if (error != 0)
		goto free_gens;
	*map = ma;
	return (0);
free_gens:
	VNET_CONFIG_LOCK(ma->ma_vnet);
	gen_set_free(ma->ma_gens);
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
stop_graph:
	machine_graph_stop(ma);
stop_protocols:
	machine_protocols_stop(ma);
stop_threads:
	machine_threads_stop(ma);
free_sysctl:
	sysctl_tree_free(ma->ma_vnet->v_sysctl);
free_vnet:
	vnet_free(ma->ma_vnet);
free_machine:
	free(ma);
	return (error);
}

void
machine_stop(struct machine *ma)
{
	struct vnet *vnet = ma->ma_vnet;
	struct sysctl_tree *tree = vnet->v_sysctl;
	struct ifnet *ifp, *lo;

	if (ma->ma_ngserv != NULL)
		ng_sockserv_stop(ma->ma_ngserv);
	VNET_CONFIG_LOCK(vnet);
	lo = vnet->v_loif;
	/* The last one each time: an epair may take its other end along. */
	for (;;) {
		struct ifnet *last = NULL;

		CK_STAILQ_FOREACH(ifp, &vnet->v_ifnets, if_link)
			if (ifp != lo && ifp->if_driver != NULL)
				last = ifp;
		if (last == NULL)
			break;
		last->if_driver->drv_destroy(last);
	}
	ng_vnet_shutdown(vnet);
	if (lo != NULL)
		lo->if_driver->drv_destroy(lo);
	gen_set_free(ma->ma_gens);
	VNET_CONFIG_UNLOCK(vnet);
	NET_EPOCH_DRAIN_CALLBACKS();

	machine_graph_stop(ma);
	machine_protocols_stop(ma);
	NET_EPOCH_DRAIN_CALLBACKS();
	machine_threads_stop(ma);
	vnet_free(vnet);
	sysctl_tree_free(tree);
	free(ma);
}

static const struct if_driver *
machine_driver(const char *name)
{

	for (size_t i = 0; i < machine_ndrivers; i++)
		if (strcmp(machine_drivers[i]->drv_name, name) == 0)
			return (machine_drivers[i]);
	return (NULL);
}

/* All drivers' names, for messages. */
static void
machine_driver_names(char *buf, size_t len)
{
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < machine_ndrivers && at < len; i++)
		at += (size_t)snprintf(buf + at, len - at, "%s%s",
		    i == 0 ? "" : ", ", machine_drivers[i]->drv_name);
}

/*
 * A name without a spec names its own driver: "epair" is the next free pair,
 * "epair7" that one.
 */
static void
machine_default_spec(const char *name, char *spec, size_t len)
{
	size_t n = strcspn(name, "0123456789");

	snprintf(spec, len, "%.*s", (int)n, name);
}

int
machine_if_create(struct machine *ma, const char *name, const char *spec,
    char *made, char *err, size_t errlen)
{
	const struct if_driver *drv;
	char names[128], implied[IFNAMLEN];
	struct ifnet *ifp;
	struct if_spec sp;
	int error;

	if (spec == NULL || spec[0] == '\0') {
		machine_default_spec(name, implied, sizeof(implied));
		spec = implied;
	}
	error = if_spec_parse(spec, &sp, err, errlen);
	if (error != 0)
		return (error);
	drv = machine_driver(sp.sp_driver);
	if (drv == NULL) {
		machine_driver_names(names, sizeof(names));
		snprintf(err, errlen, "no driver '%s'; there are: %s",
		    sp.sp_driver, names);
		return (EINVAL);
	}
	if (drv->drv_device && sp.sp_device[0] == '\0') {
		snprintf(err, errlen, "driver %s needs a device: %s:DEVICE",
		    drv->drv_name, drv->drv_name);
		return (EINVAL);
	}
	VNET_CONFIG_LOCK(ma->ma_vnet);
	if (if_byname(ma->ma_vnet, name) != NULL) {
		snprintf(err, errlen, "interface %s already exists", name);
		error = EEXIST;
	} else
		error = drv->drv_create(ma->ma_vnet, name, &sp, &ifp, err,
		    errlen);
	if (error == 0)
		snprintf(made, IFNAMLEN, "%s", ifp->if_name);
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	return (error);
}

int
machine_if_destroy(struct machine *ma, const char *name, char *err,
    size_t errlen)
{
	struct ifnet *ifp;
	int error = 0;

	VNET_CONFIG_LOCK(ma->ma_vnet);
	ifp = if_byname(ma->ma_vnet, name);
	if (ifp == NULL) {
		snprintf(err, errlen, "interface %s does not exist", name);
		error = ENXIO;
	} else if (ifp->if_driver == NULL) {
		snprintf(err, errlen, "interface %s goes with its node: "
		    "ngctl shutdown", name);
		error = EINVAL;
	} else if (ifp == ma->ma_vnet->v_loif) {
		snprintf(err, errlen, "interface %s stays with its machine",
		    name);
		error = EINVAL;
	} else
		ifp->if_driver->drv_destroy(ifp);
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	return (error);
}
