/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The route.* commands.
 *
 * No state; everything is read and changed under the configuration lock.  A
 * table may be far larger than a reply, so lists come in pages of at most
 * ROUTE_PAGE routes.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ifnet/if_var.h"
#include "route/route_var.h"
#include "stack/ctl_cmds.h"
#include "stack/machine.h"
#include "sys/counter.h"

#define	ROUTE_PAGE	10000
#define	ROUTE_MTU_MIN	68		/* RFC 791: every link takes it */
#define	ROUTE_MTU_MAX	65535

/* ---- A route as JSON ---- */

static json_t *
route_object(const struct rt_info *ri)
{
	const struct nhop *nh = ri->ri_nh;
	char dst[CMD_ADDRLEN], gateway[24];
	const struct ifnet *link;

	/* The link of a route to an address of our own is the address's. */
	link = (ri->ri_flags & RTF_LOCAL) != 0 && nh->nh_ifa != NULL ?
	    nh->nh_ifa->ifa_ifp : nh->nh_ifp;
	if ((ri->ri_flags & RTF_GATEWAY) != 0)
		(void)cmd_addr_text(nh->nh_gw, gateway);
	else
		(void)snprintf(gateway, sizeof(gateway), "link#%u",
		    link != NULL ? link->if_index : 0);
	return (json_pack("{ss si ss ss sI sI sI sI sI}",
	    "dst", cmd_addr_text(ri->ri_dst, dst),
	    "plen", ri->ri_plen,
	    "gateway", gateway,
	    "interface", nh->nh_ifp != NULL ? nh->nh_ifp->if_name : "",
	    "flags", (json_int_t)ri->ri_flags,
	    "nhop", (json_int_t)nh->nh_index,
	    "mtu", (json_int_t)ri->ri_mtu,
	    "packets", (json_int_t)counter_fetch(nh->nh_counters),
	    "bytes", (json_int_t)counter_fetch(nh->nh_counters + 1)));
}

/* ---- Arguments ---- */

/* dst and plen, which must leave no host bits. */
static int
route_arg_prefix(struct ctl_req *cr, const char *name, struct in_addr *dst,
    int *plen)
{
	char net[CMD_ADDRLEN], text[CMD_ADDRLEN];
	struct in_addr masked;
	long n;
	int error;

	if ((error = cmd_arg_addr(cr, name, dst, NULL)) != 0 ||
	    (error = ctl_arg_int(cr, "plen", 0, 32, &n)) != 0)
		return (error);
	*plen = (int)n;
	masked.s_addr = dst->s_addr & cmd_mask(*plen).s_addr;
	if (masked.s_addr != dst->s_addr)
		return (ctl_fail(cr, EINVAL, name, "%s: expected %s for a "
		    "length of %d, got %s", name, cmd_addr_text(masked, net),
		    *plen, cmd_addr_text(*dst, text)));
	return (0);
}

/* What route.add and route.change say, before names are looked up. */
struct route_args {
	struct rt_req	 ra_req;
	const char	*ra_ifname;	/* NULL: none */
};

static int
route_args_flags(struct ctl_req *cr, struct route_args *ra, bool gateway)
{
	static const uint32_t protos[] = { 0, RTF_PROTO1, RTF_PROTO2,
	    RTF_PROTO3 };
	bool blackhole, isstatic, reject;
	long proto;
	int error;

	if ((error = ctl_arg_bool_opt(cr, "blackhole", false,
	    &blackhole)) != 0 ||
	    (error = ctl_arg_bool_opt(cr, "reject", false, &reject)) != 0 ||
	    (error = ctl_arg_bool_opt(cr, "static", true, &isstatic)) != 0 ||
	    (error = ctl_arg_int_opt(cr, "proto", 0, 3, 0, &proto)) != 0 ||
	    (error = ctl_args_done(cr)) != 0)
		return (error);
	if (blackhole && reject)
		return (ctl_fail(cr, EINVAL, "reject", "reject: not together "
		    "with blackhole"));
	if (!gateway && ra->ra_ifname == NULL && !blackhole && !reject)
		return (ctl_fail(cr, EINVAL, "gateway", "gateway: expected "
		    "it, or interface, blackhole or reject"));
	ra->ra_req.rq_flags = (gateway ? RTF_GATEWAY : 0) |
	    (blackhole ? RTF_BLACKHOLE : 0) | (reject ? RTF_REJECT : 0) |
	    (isstatic ? RTF_STATIC : 0) | protos[proto];
	return (0);
}

static int
route_args_take(struct ctl_req *cr, struct route_args *ra)
{
	bool gateway, given;
	long mtu;
	int error;

	memset(ra, 0, sizeof(*ra));
	if ((error = route_arg_prefix(cr, "dst", &ra->ra_req.rq_dst,
	    &ra->ra_req.rq_plen)) != 0 ||
	    (error = cmd_arg_addr(cr, "gateway", &ra->ra_req.rq_gw,
	    &gateway)) != 0 ||
	    (error = cmd_arg_ifname(cr, "interface", &ra->ra_ifname,
	    &given)) != 0 ||
	    (error = ctl_arg_int_opt(cr, "mtu", ROUTE_MTU_MIN, ROUTE_MTU_MAX,
	    0, &mtu)) != 0)
		return (error);
	ra->ra_req.rq_mtu = (uint32_t)mtu;
	return (route_args_flags(cr, ra, gateway));
}

/* ---- Changes ---- */

/* Say why the table refused. */
static int
route_failed(struct ctl_req *cr, int error, const struct rt_req *rq)
{
	char dst[CMD_ADDRLEN], gw[CMD_ADDRLEN];

	(void)cmd_addr_text(rq->rq_dst, dst);
	(void)cmd_addr_text(rq->rq_gw, gw);
	switch (error) {
	case 0:
		return (0);
	case EEXIST:
		return (ctl_fail(cr, error, "dst", "%s/%d: route already in "
		    "table", dst, rq->rq_plen));
	case ESRCH:
		return (ctl_fail(cr, error, "dst", "%s/%d: not in table", dst,
		    rq->rq_plen));
	case EPERM:
		return (ctl_fail(cr, error, "dst", "%s/%d: the route is an "
		    "interface's own", dst, rq->rq_plen));
	case ENETUNREACH:
		return (ctl_fail(cr, error, "gateway", "gateway: %s is on no "
		    "connected network", gw));
	case EINVAL:
		return (ctl_fail(cr, error, "gateway", "gateway: %s cannot be "
		    "a gateway", gw));
	default:
		return (ctl_fail(cr, error, "dst", "%s/%d: %s", dst,
		    rq->rq_plen, strerror(error)));
	}
}

static int
route_set(struct ctl_req *cr, struct machine *ma,
    int (*fn)(struct vnet *vnet, const struct rt_req *rq))
{
	struct vnet *vnet = ma->ma_vnet;
	struct route_args ra;
	int error;

	error = route_args_take(cr, &ra);
	if (error != 0)
		return (error);
	VNET_CONFIG_LOCK(vnet);
	if (ra.ra_ifname != NULL)
		error = cmd_ifp(cr, vnet, "interface", ra.ra_ifname,
		    &ra.ra_req.rq_ifp);
	if (error == 0)
		error = route_failed(cr, fn(vnet, &ra.ra_req), &ra.ra_req);
	VNET_CONFIG_UNLOCK(vnet);
	return (error);
}

int
cmd_route_add(struct ctl_req *cr, void *arg)
{

	return (route_set(cr, arg, rt_add));
}

int
cmd_route_change(struct ctl_req *cr, void *arg)
{

	return (route_set(cr, arg, rt_change));
}

static int
route_del_locked(struct ctl_req *cr, struct vnet *vnet,
    const struct rt_req *rq)
{
	char gw[CMD_ADDRLEN];
	struct rt_info ri;
	int error;

	error = rt_get(vnet, rq->rq_dst, rq->rq_plen, &ri);
	if (error != 0)
		return (route_failed(cr, error, rq));
	if ((ri.ri_flags & RTF_GATEWAY) != 0 && (error = ctl_result(cr,
	    "gateway", json_string(cmd_addr_text(ri.ri_nh->nh_gw, gw)))) != 0)
		return (error);
	return (route_failed(cr, rt_delete(vnet, rq->rq_dst, rq->rq_plen),
	    rq));
}

int
cmd_route_del(struct ctl_req *cr, void *arg)
{
	struct rt_req rq = { .rq_plen = 0 };
	struct machine *ma = arg;
	int error;

	if ((error = route_arg_prefix(cr, "dst", &rq.rq_dst,
	    &rq.rq_plen)) != 0 ||
	    (error = ctl_args_done(cr)) != 0)
		return (error);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	error = route_del_locked(cr, ma->ma_vnet, &rq);
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	return (error);
}

/* ---- Questions ---- */

int
cmd_route_get(struct ctl_req *cr, void *arg)
{
	struct rt_req rq = { .rq_plen = 32 };
	struct machine *ma = arg;
	json_t *obj = NULL;
	struct rt_info ri;
	bool exact;
	int error;

	exact = ctl_arg_present(cr, "plen");
	if (exact)
		error = route_arg_prefix(cr, "addr", &rq.rq_dst, &rq.rq_plen);
	else
		error = cmd_arg_addr(cr, "addr", &rq.rq_dst, NULL);
	if (error != 0 || (error = ctl_args_done(cr)) != 0)
		return (error);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	if (exact)
		error = rt_get(ma->ma_vnet, rq.rq_dst, rq.rq_plen, &ri);
	else
		error = rt_match(ma->ma_vnet, rq.rq_dst, &ri);
	if (error == 0)
		obj = route_object(&ri);
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	if (error != 0) {
		(void)route_failed(cr, error, &rq);
		(void)snprintf(cr->cr_field, sizeof(cr->cr_field), "addr");
		return (error);
	}
	if (obj == NULL || json_object_update(cr->cr_result, obj) != 0)
		error = cmd_nomem(cr);
	json_decref(obj);
	return (error);
}

/* A walk that fills a page. */
struct route_page {
	json_t		*rp_routes;	/* borrowed */
	long		 rp_room;	/* routes that still fit */
	struct in_addr	 rp_from;	/* first wanted */
	int		 rp_fromlen;
	uint32_t	 rp_flags;	/* only routes with all of these */
	struct in_addr	 rp_next;	/* the first that did not fit */
	int		 rp_nextlen;	/* -1: all did */
};

static int
route_page_cb(const struct rt_info *ri, void *arg)
{
	struct route_page *rp = arg;

	if ((ri->ri_flags & rp->rp_flags) != rp->rp_flags)
		return (0);
	if (rp->rp_room == 0) {
		rp->rp_next = ri->ri_dst;
		rp->rp_nextlen = ri->ri_plen;
		return (EAGAIN);
	}
	rp->rp_room--;
	return (cmd_append(rp->rp_routes, route_object(ri)));
}

/* "192.0.2.0/24", as an earlier reply's next gave it. */
static int
route_arg_from(struct ctl_req *cr, struct route_page *rp)
{
	char addr[CMD_ADDRLEN];
	const char *slash, *text;
	unsigned long plen;
	char *end;
	int error;

	error = ctl_arg_string_opt(cr, "from", "0.0.0.0/0", &text);
	if (error != 0)
		return (error);
	slash = strchr(text, '/');
	if (slash == NULL || (size_t)(slash - text) >= sizeof(addr) ||
	    slash[1] < '0' || slash[1] > '9')
		goto bad;
	memcpy(addr, text, (size_t)(slash - text));
	addr[slash - text] = '\0';
	plen = strtoul(slash + 1, &end, 10);
	if (*end != '\0' || plen > 32 ||
	    inet_pton(AF_INET, addr, &rp->rp_from) != 1)
		goto bad;
	rp->rp_fromlen = (int)plen;
	return (0);
bad:
	return (ctl_fail(cr, EINVAL, "from", "from: expected a prefix as "
	    "192.0.2.0/24, got \"%s\"", text));
}

int
cmd_route_list(struct ctl_req *cr, void *arg)
{
	struct route_page rp = { .rp_nextlen = -1 };
	char addr[CMD_ADDRLEN], next[CMD_ADDRLEN + 4];
	struct machine *ma = arg;
	int error;

	if ((error = route_arg_from(cr, &rp)) != 0 ||
	    (error = ctl_arg_int_opt(cr, "limit", 1, ROUTE_PAGE, ROUTE_PAGE,
	    &rp.rp_room)) != 0 ||
	    (error = ctl_args_done(cr)) != 0)
		return (error);
	rp.rp_routes = cmd_array(cr, "routes");
	if (rp.rp_routes == NULL)
		return (ENOMEM);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	error = rt_walk_from(ma->ma_vnet, rp.rp_from, rp.rp_fromlen,
	    route_page_cb, &rp);
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	if (error != 0 && error != EAGAIN)
		return (cmd_nomem(cr));
	if (rp.rp_nextlen == -1)
		return (0);
	(void)snprintf(next, sizeof(next), "%s/%d",
	    cmd_addr_text(rp.rp_next, addr), rp.rp_nextlen);
	return (ctl_result(cr, "next", json_string(next)));
}

/* The list is made first, so that a lack of memory removes nothing. */
int
cmd_route_flush(struct ctl_req *cr, void *arg)
{
	struct route_page rp = { .rp_room = ROUTE_PAGE,
	    .rp_flags = RTF_GATEWAY, .rp_nextlen = -1 };
	struct machine *ma = arg;
	json_t *count;
	int error;

	if ((error = ctl_args_done(cr)) != 0)
		return (error);
	rp.rp_routes = cmd_array(cr, "routes");
	if (rp.rp_routes == NULL)
		return (ENOMEM);
	count = json_integer(0);
	error = ctl_result(cr, "count", count);
	if (error != 0)
		return (error);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	error = rt_walk(ma->ma_vnet, route_page_cb, &rp);
	if (error == 0 || error == EAGAIN) {
		(void)json_integer_set(count, rt_flush(ma->ma_vnet));
		error = 0;
	}
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	return (error != 0 ? cmd_nomem(cr) : 0);
}
