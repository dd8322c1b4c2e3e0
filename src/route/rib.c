/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The table of routes: what the operator and the interfaces asked for, and the
 * steps that keep the lookup structure equal to it.  Everything runs under
 * the configuration lock, outside the epoch; a change of one prefix is one
 * change of the lookup structure, and what fails changes nothing.
 */

#include <arpa/inet.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "route/route_private.h"
#include "sys/sysctl.h"
#include "wire/ip.h"

/* RTF_* that a request may carry. */
#define	RTF_REQUEST	(RTF_UP | RTF_GATEWAY | RTF_HOST | RTF_REJECT |	\
			RTF_DYNAMIC | RTF_STATIC | RTF_BLACKHOLE |	\
			RTF_PROTO1 | RTF_PROTO2 | RTF_PROTO3)

/* ---- Changes, unchecked ---- */

/* Tell the world how large the table is. */
static void
rib_note(struct rib *rib, int diff)
{
	atomic_fetch_add_explicit(&rib->rib_nroutes, (unsigned int)diff,
	    memory_order_relaxed);
	atomic_store_explicit(&rib->rib_fibmem,
	    fib4_memory(rib->rib_vnet->v_fib4), memory_order_relaxed);
}

/*
 * Let the prefix go to what ns describes, whether it is there or not.  dst in
 * network order, host bits zero.  ENOMEM: nothing changed.
 */
int
rib_set(struct rib *rib, struct in_addr dst, int plen,
    const struct nhop_spec *ns)
{
	struct fib4 *fib = rib->rib_vnet->v_fib4;
	struct rt_node *rn;
	struct nhop *nh, *old;
	uint32_t key = ntohl(dst.s_addr);
	int error;

	VNET_CONFIG_ASSERT(rib->rib_vnet);

	error = nhop_get(rib, ns, &nh);
	if (error != 0)
		return (error);
	error = ENOMEM;
	if ((rn = radix_insert(&rib->rib_root, key, plen)) == NULL)
		goto rele_nhop;
	old = rn->rn_nh;
	if (old != NULL) {
		fib->fib_module->fm_change(fib->fib_priv, key, plen,
		    nh->nh_index);
	} else {
		error = fib->fib_module->fm_add(fib->fib_priv, key, plen,
		    nh->nh_index);
		if (error != 0)
			goto remove_node;
	}
	rn->rn_nh = nh;
	rib_note(rib, old == NULL ? 1 : 0);
	if (old != NULL)
		nhop_rele(old);
	return (0);
remove_node:
	radix_remove(&rib->rib_root, rn);
rele_nhop:
	nhop_rele(nh);
	return (error);
}

/* The prefix of rn is no route any more. */
void
rib_remove(struct rib *rib, struct rt_node *rn)
{
	struct fib4 *fib = rib->rib_vnet->v_fib4;
	struct rt_node *cover;
	struct nhop *nh = rn->rn_nh;

	VNET_CONFIG_ASSERT(rib->rib_vnet);

	cover = radix_cover(rn);
	fib->fib_module->fm_delete(fib->fib_priv, rn->rn_key, rn->rn_plen,
	    cover == NULL ? FIB4_NONE : cover->rn_nh->nh_index,
	    cover == NULL ? 0 : cover->rn_plen);
	radix_remove(&rib->rib_root, rn);
	rib_note(rib, -1);
	nhop_rele(nh);
}

/* ---- Checks ---- */

/* Find the interface and the source address for a gateway. */
static int
rt_resolve_gw(struct rib *rib, const struct rt_req *rq, struct nhop_spec *ns)
{
	const struct rt_node *rn;
	const struct nhop *nh;

	ns->ns_gw = rq->rq_gw;
	rn = radix_match(rib->rib_root, ntohl(rq->rq_gw.s_addr));
	nh = rn == NULL ? NULL : rn->rn_nh;
	if (nh != NULL && (nh->nh_flags & (NHF_LOCAL | NHF_BROADCAST)) != 0)
		return (EINVAL);	/* ourselves, or nobody */
	if (rq->rq_ifp != NULL) {	/* the operator knows the link */
		ns->ns_ifp = rq->rq_ifp;
		ns->ns_ifa = route_ifaddr_for(rq->rq_ifp, rq->rq_gw, false);
		return (0);
	}
	if (nh == NULL || nh->nh_ifp == NULL ||
	    (nh->nh_flags & (NHF_GATEWAY | NHF_SPECIAL)) != 0)
		return (ENETUNREACH);
	ns->ns_ifp = nh->nh_ifp;
	ns->ns_ifa = nh->nh_ifa;
	return (0);
}

/* Turn a request into a nexthop.  EINVAL, ENETUNREACH. */
static int
rt_req_check(struct rib *rib, const struct rt_req *rq, struct nhop_spec *ns)
{
	struct vnet *vnet = rib->rib_vnet;

	if (rq->rq_plen < 0 || rq->rq_plen > 32 ||
	    (ntohl(rq->rq_dst.s_addr) & ~radix_mask(rq->rq_plen)) != 0 ||
	    (rq->rq_flags & ~RTF_REQUEST) != 0)
		return (EINVAL);
	if (rq->rq_ifp != NULL && rq->rq_ifp->if_vnet != vnet)
		return (EINVAL);
	if (rq->rq_mtu != 0 &&
	    (rq->rq_mtu < IP_MSS_MIN || rq->rq_mtu > IP_MAXPACKET))
		return (EINVAL);
	*ns = (struct nhop_spec){
		.ns_rtflags = (rq->rq_flags & ~(uint32_t)RTF_HOST) | RTF_UP |
		    (rq->rq_plen == 32 ? RTF_HOST : 0),
		.ns_mtu = rq->rq_mtu,
	};
	if ((rq->rq_flags & (RTF_REJECT | RTF_BLACKHOLE)) != 0) {
		/* Goes nowhere, whatever gateway was named for form's sake. */
		ns->ns_ifp = rq->rq_ifp != NULL ? rq->rq_ifp : vnet->v_loif;
		ns->ns_gw = rq->rq_gw;
		return (0);
	}
	if ((rq->rq_flags & RTF_GATEWAY) != 0)
		return (rt_resolve_gw(rib, rq, ns));
	if (rq->rq_ifp == NULL)
		return (EINVAL);
	ns->ns_ifp = rq->rq_ifp;
	ns->ns_ifa = route_ifaddr_for(rq->rq_ifp, rq->rq_dst, false);
	return (0);
}

/* ---- What the control plane calls ---- */

int
rt_add(struct vnet *vnet, const struct rt_req *rq)
{
	struct rib *rib = vnet->v_rib;
	struct nhop_spec ns;
	int error;

	VNET_CONFIG_ASSERT(vnet);

	error = rt_req_check(rib, rq, &ns);
	if (error != 0)
		return (error);
	if (radix_find(rib->rib_root, ntohl(rq->rq_dst.s_addr),
	    rq->rq_plen) != NULL)
		return (EEXIST);
	return (rib_set(rib, rq->rq_dst, rq->rq_plen, &ns));
}

int
rt_change(struct vnet *vnet, const struct rt_req *rq)
{
	struct rib *rib = vnet->v_rib;
	struct nhop_spec ns;
	struct rt_node *rn;
	int error;

	VNET_CONFIG_ASSERT(vnet);

	error = rt_req_check(rib, rq, &ns);
	if (error != 0)
		return (error);
	rn = radix_find(rib->rib_root, ntohl(rq->rq_dst.s_addr), rq->rq_plen);
	if (rn == NULL)
		return (ESRCH);
	if ((rn->rn_nh->nh_rtflags & RTF_PINNED) != 0)
		return (EPERM);
	return (rib_set(rib, rq->rq_dst, rq->rq_plen, &ns));
}

int
rt_delete(struct vnet *vnet, struct in_addr dst, int plen)
{
	struct rib *rib = vnet->v_rib;
	struct rt_node *rn;

	VNET_CONFIG_ASSERT(vnet);

	if (plen < 0 || plen > 32)
		return (ESRCH);
	rn = radix_find(rib->rib_root, ntohl(dst.s_addr), plen);
	if (rn == NULL)
		return (ESRCH);
	if ((rn->rn_nh->nh_rtflags & RTF_PINNED) != 0)
		return (EPERM);
	rib_remove(rib, rn);
	return (0);
}

/* Describe a route. */
static void
rt_info_fill(const struct rt_node *rn, struct rt_info *ri)
{
	const struct nhop *nh = rn->rn_nh;

	ri->ri_dst.s_addr = htonl(rn->rn_key);
	ri->ri_plen = rn->rn_plen;
	ri->ri_nh = nh;
	ri->ri_flags = nh->nh_rtflags;
	ri->ri_mtu = nh->nh_ifp != NULL ? nhop_mtu(nh) : nh->nh_mtu;
}

int
rt_get(struct vnet *vnet, struct in_addr dst, int plen, struct rt_info *ri)
{
	const struct rt_node *rn;

	VNET_CONFIG_ASSERT(vnet);

	if (plen < 0 || plen > 32)
		return (ESRCH);
	rn = radix_find(vnet->v_rib->rib_root, ntohl(dst.s_addr), plen);
	if (rn == NULL)
		return (ESRCH);
	rt_info_fill(rn, ri);
	return (0);
}

int
rt_match(struct vnet *vnet, struct in_addr dst, struct rt_info *ri)
{
	const struct rt_node *rn;

	VNET_CONFIG_ASSERT(vnet);

	rn = radix_match(vnet->v_rib->rib_root, ntohl(dst.s_addr));
	if (rn == NULL)
		return (ESRCH);
	rt_info_fill(rn, ri);
	return (0);
}

int
rt_walk_from(struct vnet *vnet, struct in_addr dst, int plen,
    int (*fn)(const struct rt_info *ri, void *arg), void *arg)
{
	const struct rt_node *next, *rn;
	struct rt_info ri;
	int error = 0;

	VNET_CONFIG_ASSERT(vnet);

	if (plen < 0 || plen > 32)
		return (EINVAL);
	rn = radix_seek(vnet->v_rib->rib_root,
	    ntohl(dst.s_addr) & radix_mask(plen), plen);
	for (; rn != NULL && error == 0; rn = next) {
		next = radix_next(rn);
		if (rn->rn_nh == NULL)
			continue;
		rt_info_fill(rn, &ri);
		error = fn(&ri, arg);
	}
	return (error);
}

int
rt_walk(struct vnet *vnet, int (*fn)(const struct rt_info *ri, void *arg),
    void *arg)
{
	const struct in_addr first = { INADDR_ANY };

	return (rt_walk_from(vnet, first, 0, fn, arg));
}

unsigned int
rt_count(struct vnet *vnet)
{
	return (atomic_load_explicit(&vnet->v_rib->rib_nroutes,
	    memory_order_relaxed));
}

unsigned int
rt_flush(struct vnet *vnet)
{
	struct rib *rib = vnet->v_rib;
	struct rt_node *next, *rn;
	unsigned int n = 0;

	VNET_CONFIG_ASSERT(vnet);

	for (rn = rib->rib_root; rn != NULL; rn = next) {
		next = radix_next(rn);
		if (rn->rn_nh == NULL ||
		    (rn->rn_nh->nh_rtflags & RTF_GATEWAY) == 0)
			continue;
		rib_remove(rib, rn);
		n++;
	}
	return (n);
}

void
lltable_set_proto(struct vnet *vnet, const struct lltable_proto *lp)
{
	atomic_store_explicit(&vnet->v_rib->rib_llproto, lp,
	    memory_order_release);
}

/* ---- Life ---- */

static uint64_t
rib_sysctl_routes(void *arg)
{
	struct rib *rib = arg;

	return (atomic_load_explicit(&rib->rib_nroutes, memory_order_relaxed));
}

static uint64_t
rib_sysctl_nhops(void *arg)
{
	struct rib *rib = arg;

	return (atomic_load_explicit(&rib->rib_nnhops, memory_order_relaxed));
}

static uint64_t
rib_sysctl_memory(void *arg)
{
	struct rib *rib = arg;

	return (atomic_load_explicit(&rib->rib_fibmem, memory_order_relaxed));
}

static int
rib_sysctl_algo(void *arg, char *buf, size_t len)
{
	struct rib *rib = arg;

	(void)snprintf(buf, len, "%s",
	    rib->rib_vnet->v_fib4->fib_module->fm_name);
	return (0);
}

static int
rib_sysctl_init(struct rib *rib)
{
	struct sysctl_tree *tree = rib->rib_vnet->v_sysctl;
	int error;

	error = sysctl_add_string(tree, "net.route.algo.inet.algo",
	    CTLFLAG_RD, rib_sysctl_algo, NULL, rib,
	    "Lookup structure in use");
	if (error == 0)
		error = sysctl_add_u64(tree, "net.route.algo.inet.memory",
		    rib_sysctl_memory, rib,
		    "Bytes that the lookup structure takes");
	if (error == 0)
		error = sysctl_add_u64(tree, "net.route.inet.routes",
		    rib_sysctl_routes, rib, "Routes in the table");
	if (error == 0)
		error = sysctl_add_u64(tree, "net.route.inet.nhops",
		    rib_sysctl_nhops, rib,
		    "Nexthops, those waiting to be freed included");
	return (error);
}

int
route_vnet_init(struct vnet *vnet)
{
	struct rib *rib;
	int error = ENOMEM;

	if ((rib = calloc(1, sizeof(*rib))) == NULL)
		return (error);
	rib->rib_vnet = vnet;
	error = idxpool_init(&rib->rib_nhpool, FIB4_NONE + 1, FIB4_MAXNHOPS);
	if (error != 0)
		goto free_rib;
	error = fib4_alloc(&fib4_trie, &vnet->v_fib4);
	if (error != 0)
		goto fini_pool;
	rib_note(rib, 0);
	if (vnet->v_sysctl != NULL) {
		error = rib_sysctl_init(rib);
		if (error != 0)
			goto free_fib;
	}
	vnet->v_rib = rib;
	if_event_register(vnet, route_if_event, vnet);
	return (0);
free_fib:
	fib4_free(vnet->v_fib4);
	vnet->v_fib4 = NULL;
fini_pool:
	idxpool_fini(&rib->rib_nhpool);
free_rib:
	free(rib);
	return (error);
}

/* No interface and no reader is left. */
void
route_vnet_fini(struct vnet *vnet)
{
	struct rib *rib = vnet->v_rib;
	struct rt_node *next, *rn;

	VNET_CONFIG_ASSERT(vnet);
	NET_EPOCH_ASSERT_NOT();

	for (rn = rib->rib_root; rn != NULL; rn = next) {
		next = radix_next(rn);
		if (rn->rn_nh != NULL)
			rib_remove(rib, rn);
	}
	/* Twice: a nexthop's callback defers its neighbour's. */
	NET_EPOCH_DRAIN_CALLBACKS();
	NET_EPOCH_DRAIN_CALLBACKS();
	vnet->v_rib = NULL;
	fib4_free(vnet->v_fib4);
	vnet->v_fib4 = NULL;
	idxpool_fini(&rib->rib_nhpool);
	free(rib);
}
