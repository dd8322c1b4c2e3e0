/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * netflow: accounts for the flows of packets that pass from ifaceN to outN and
 * back, and exports them.
 *
 * Data methods run in parallel; they read an interface's configuration from
 * relaxed atomics and count in the table (ng_netflow_flow.c), whose shards
 * have locks.  The callout, in the net epoch, ends old flows and sends what
 * has collected.  The rest is control work.
 *
 * A packet's mbuf remembers the last node that was told to account for it only
 * once (M_ACCOUNTED, m_cookie[5]).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netepoch/epoch.h>
#include <netepoch/mbuf.h>

#include "ifnet/vnet.h"
#include "netgraph/nodes/ng_netflow_private.h"
#include "netgraph/nodes/ng_nodes.h"
#include "sys/thread.h"

#define	NF_DLT_ETHER	1
#define	NF_DLT_RAW	12
#define	NF_CONF_ALL	0x3f
#define	NF_SHOW_MAX	256		/* flows in one reply */

uint32_t
nf_uptime(const struct netflow *nf)
{

	return ((uint32_t)((time_ns() - nf->nf_start) / 1000000));
}

/* ---- Data ---- */

/* Has somebody who matters accounted for it?  If not, we are about to. */
static bool
nf_skip_packet(struct netflow *nf, struct mbuf *m, uint32_t conf)
{

	if ((conf & (NG_NETFLOW_CONF_ONCE | NG_NETFLOW_CONF_THISONCE)) == 0)
		return (false);
	if ((m->m_flags & M_ACCOUNTED) != 0 &&
	    ((conf & NG_NETFLOW_CONF_ONCE) != 0 ||
	    m->m_cookie[5] == ng_node_id(nf->nf_node)))
		return (true);
	m->m_flags |= M_ACCOUNTED;
	m->m_cookie[5] = ng_node_id(nf->nf_node);
	return (false);
}

static void
nf_account_one(struct netflow *nf, struct nf_iface *ni, struct mbuf *m,
    uint32_t conf, uint32_t now)
{
	struct nf_packet np;
	unsigned int six;
	bool skip;

	if (!nf_packet_parse(m, atomic_load_explicit(&ni->ni_dlt,
	    memory_order_relaxed), &np))
		return;
	np.np_key.iface = ni->ni_number;
	six = np.np_key.version == 6;
	skip = nf_skip_packet(nf, m, conf);
	ng_stat_add(&nf->nf_stat, (skip ? NFC_SBYTES : NFC_BYTES) + six,
	    np.np_bytes);
	ng_stat_add(&nf->nf_stat, (skip ? NFC_SPACKETS : NFC_PACKETS) + six,
	    1);
	if (!skip)
		nf_flow_account(nf, &np, ni, now);
}

/* One way or the other: account if that bit of the configuration says so. */
static int
nf_pass(struct netflow *nf, struct nf_iface *ni, item_p item, uint32_t bit,
    hook_p to)
{
	uint32_t conf = atomic_load_explicit(&ni->ni_conf,
	    memory_order_relaxed), now;

	NET_EPOCH_ASSERT();

	if ((conf & bit) != 0) {
		now = nf_uptime(nf);
		atomic_fetch_add_explicit(&ni->ni_packets, item->it_n,
		    memory_order_relaxed);
		for (unsigned int i = 0; i < item->it_n; i++)
			nf_account_one(nf, ni, item->it_m[i], conf, now);
		if (to == NULL) {
			ng_item_free(item);
			return (0);
		}
	}
	return (ng_fwd_item(item, to));
}

static int
ng_netflow_rcvdata_in(hook_p hook, item_p item)
{
	struct nf_iface *ni = ng_hook_private(hook);

	return (nf_pass(ng_node_private(ng_hook_node(hook)), ni, item,
	    NG_NETFLOW_CONF_INGRESS, atomic_load_explicit(&ni->ni_out,
	    memory_order_acquire)));
}

static int
ng_netflow_rcvdata_out(hook_p hook, item_p item)
{
	struct nf_iface *ni = ng_hook_private(hook);

	return (nf_pass(ng_node_private(ng_hook_node(hook)), ni, item,
	    NG_NETFLOW_CONF_EGRESS, atomic_load_explicit(&ni->ni_in,
	    memory_order_acquire)));
}

/* To an export hook: nothing comes back from collectors. */
static int
ng_netflow_rcvdata(hook_p hook, item_p item)
{

	(void)hook;
	ng_item_free(item);
	return (EINVAL);
}

static void
nf_tick(void *arg)
{
	struct netflow *nf = arg;

	nf_flow_expire(nf, nf_uptime(nf));
	if (nf->nf_next == 0)
		nf_export_flush(nf);
	(void)callout_reset(&nf->nf_callout, NF_TICK, nf_tick, nf);
}

/* ---- Life ---- */

static int
ng_netflow_constructor(node_p node)
{
	struct netflow *nf;

	/* Alignment of the shards; the size is a multiple of it. */
	nf = aligned_alloc(CACHE_LINE_SIZE, sizeof(*nf));
	if (nf == NULL)
		return (ENOMEM);
	memset(nf, 0, sizeof(*nf));
	nf->nf_node = node;
	nf->nf_start = time_ns();
	nf->nf_seed = nf->nf_start * UINT64_C(0x9e3779b97f4a7c15) ^
	    (uintptr_t)nf;
	atomic_init(&nf->nf_inactive, 15);
	atomic_init(&nf->nf_active, 1800);
	if (ng_stat_init(&nf->nf_stat, NFC_COUNT) != 0) {
		free(nf);
		return (ENOMEM);
	}
	if (nf_export_init(nf) != 0) {
		nf_export_fini(nf);
		ng_stat_fini(&nf->nf_stat);
		free(nf);
		return (ENOMEM);
	}
	nf_flow_init(nf);
	ng_node_set_private(node, nf);
	callout_init(&nf->nf_callout, ng_node_vnet(node)->v_callouts,
	    CALLOUT_NET, NULL);
	(void)callout_reset(&nf->nf_callout, NF_TICK, nf_tick, nf);
	return (0);
}

static int
nf_flush_all(void *arg)
{
	struct netflow *nf = arg;

	nf_flow_flush(nf);
	nf_export_flush(nf);
	return (0);
}

/* The last word, while there are hooks. */
static void
ng_netflow_close(node_p node)
{

	(void)ng_net_run(nf_flush_all, ng_node_private(node));
}

static void
ng_netflow_shutdown(node_p node)
{
	struct netflow *nf = ng_node_private(node);

	callout_drain(&nf->nf_callout);
	nf_flow_fini(nf);
	nf_export_fini(nf);
	ng_stat_fini(&nf->nf_stat);
	for (int i = 0; i < NG_NETFLOW_MAXIFACES; i++)
		free(nf->nf_iface[i]);
	free(nf);
}

/* ---- Hooks ---- */

/* Make the interface, if it has never been there. */
static struct nf_iface *
nf_iface_get(struct netflow *nf, int number)
{
	struct nf_iface *ni = nf->nf_iface[number];

	if (ni != NULL)
		return (ni);
	if ((ni = calloc(1, sizeof(*ni))) == NULL)
		return (NULL);
	ni->ni_number = (uint16_t)number;
	atomic_init(&ni->ni_index, (uint16_t)number);
	atomic_init(&ni->ni_conf, NG_NETFLOW_CONF_INGRESS);
	atomic_init(&ni->ni_dlt, NF_DLT_ETHER);
	nf->nf_iface[number] = ni;
	return (ni);
}

static int
ng_netflow_newhook(node_p node, hook_p hook, const char *name)
{
	struct netflow *nf = ng_node_private(node);
	struct nf_iface *ni;
	bool in = true;
	int n;

	if (strcmp(name, NG_NETFLOW_HOOK_EXPORT) == 0 ||
	    strcmp(name, NG_NETFLOW_HOOK_EXPORT9) == 0)
		return (0);
	n = ng_hook_number(name, NG_NETFLOW_HOOK_DATA, NG_NETFLOW_MAXIFACES);
	if (n < 0) {
		in = false;
		n = ng_hook_number(name, NG_NETFLOW_HOOK_OUT,
		    NG_NETFLOW_MAXIFACES);
	}
	if (n < 0)
		return (EINVAL);
	ni = nf_iface_get(nf, n);
	if (ni == NULL)
		return (ENOMEM);
	ng_hook_set_private(hook, ni);
	ng_hook_set_rcvdata(hook, in ? ng_netflow_rcvdata_in :
	    ng_netflow_rcvdata_out);
	return (0);
}

/* Where data methods find the hook. */
static _Atomic(hook_p) *
nf_hook_place(hook_p hook)
{
	struct netflow *nf = ng_node_private(ng_hook_node(hook));
	struct nf_iface *ni = ng_hook_private(hook);
	const char *name = ng_hook_name(hook);

	if (ni == NULL)
		return (strcmp(name, NG_NETFLOW_HOOK_EXPORT) == 0 ?
		    &nf->nf_export.ne_hook5 : &nf->nf_export.ne_hook9);
	return (name[0] == NG_NETFLOW_HOOK_DATA[0] ? &ni->ni_in :
	    &ni->ni_out);
}

static int
ng_netflow_connect(hook_p hook)
{
	struct netflow *nf = ng_node_private(ng_hook_node(hook));
	_Atomic(hook_p) *place = nf_hook_place(hook);

	if (ng_hook_private(hook) == NULL)
		nf_export_begin(nf, place == &nf->nf_export.ne_hook9);
	atomic_store_explicit(place, hook, memory_order_release);
	return (0);
}

static void
ng_netflow_disconnect(hook_p hook)
{

	atomic_store_explicit(nf_hook_place(hook), NULL,
	    memory_order_release);
}

/* ---- Messages ---- */

/* The argument, which is len bytes; EINVAL. */
static int
nf_msg_arg(const struct ng_mesg *msg, void *arg, size_t len)
{

	if (msg->header.arglen != len)
		return (EINVAL);
	memcpy(arg, msg->data, len);
	return (0);
}

/* The same, and the interface of the number that stands first in it. */
static int
nf_msg_iface(struct netflow *nf, const struct ng_mesg *msg, void *arg,
    size_t len, struct nf_iface **nip)
{
	struct nf_iface *ni;
	uint16_t n;

	if (nf_msg_arg(msg, arg, len) != 0)
		return (EINVAL);
	memcpy(&n, arg, sizeof(n));
	if (n >= NG_NETFLOW_MAXIFACES || (ni = nf->nf_iface[n]) == NULL ||
	    (atomic_load(&ni->ni_in) == NULL &&
	    atomic_load(&ni->ni_out) == NULL))
		return (EINVAL);
	*nip = ni;
	return (0);
}

static int
nf_info(struct netflow *nf, struct ng_request *rq)
{
	struct ng_netflow_info in;
	uint64_t n[NFC_COUNT];

	ng_stat_read(&nf->nf_stat, n, false);
	memset(&in, 0, sizeof(in));
	in.nfinfo_bytes = n[NFC_BYTES];
	in.nfinfo_packets = (uint32_t)n[NFC_PACKETS];
	in.nfinfo_bytes6 = n[NFC_BYTES6];
	in.nfinfo_packets6 = (uint32_t)n[NFC_PACKETS6];
	in.nfinfo_sbytes = n[NFC_SBYTES];
	in.nfinfo_spackets = (uint32_t)n[NFC_SPACKETS];
	in.nfinfo_sbytes6 = n[NFC_SBYTES6];
	in.nfinfo_spackets6 = (uint32_t)n[NFC_SPACKETS6];
	in.nfinfo_act_exp = n[NFC_ACT];
	in.nfinfo_inact_exp = n[NFC_INACT];
	in.nfinfo_alloc_failed = (uint32_t)n[NFC_ALLOC];
	in.nfinfo_export_failed = (uint32_t)n[NFC_EXPORT];
	in.nfinfo_export9_failed = (uint32_t)n[NFC_EXPORT9];
	nf_flow_used(nf, &in.nfinfo_used, &in.nfinfo_used6);
	in.nfinfo_inact_t = atomic_load(&nf->nf_inactive);
	in.nfinfo_act_t = atomic_load(&nf->nf_active);
	return (ng_respond(rq, &in, sizeof(in)));
}

static int
nf_ifinfo(struct netflow *nf, struct ng_request *rq)
{
	struct ng_netflow_ifinfo ii;
	struct nf_iface *ni;
	uint16_t n;

	if (nf_msg_iface(nf, ng_request_msg(rq), &n, sizeof(n), &ni) != 0)
		return (EINVAL);
	memset(&ii, 0, sizeof(ii));
	ii.ifinfo_packets = atomic_load(&ni->ni_packets);
	ii.ifinfo_dlt = atomic_load(&ni->ni_dlt);
	ii.ifinfo_index = atomic_load(&ni->ni_index);
	ii.conf = atomic_load(&ni->ni_conf);
	return (ng_respond(rq, &ii, sizeof(ii)));
}

static int
nf_show(struct netflow *nf, struct ng_request *rq)
{
	const struct ng_mesg *msg = ng_request_msg(rq);
	struct {
		struct ng_netflow_show	sh;
		struct ng_netflow_flow	flow[NF_SHOW_MAX];
	} *reply;
	int error;

	if (msg->header.arglen != sizeof(reply->sh))
		return (EINVAL);
	if ((reply = calloc(1, sizeof(*reply))) == NULL)
		return (ENOMEM);
	memcpy(&reply->sh, msg->data, sizeof(reply->sh));
	if (reply->sh.version == 0)
		reply->sh.version = 4;
	error = EINVAL;
	if (reply->sh.version == 4 || reply->sh.version == 6) {
		reply->sh.nentries = nf_flow_show(nf, &reply->sh,
		    reply->flow, NF_SHOW_MAX);
		error = ng_respond(rq, reply, sizeof(reply->sh) +
		    reply->sh.nentries * sizeof(reply->flow[0]));
	}
	free(reply);
	return (error);
}

static int
nf_setdlt(struct netflow *nf, const struct ng_mesg *msg)
{
	struct ng_netflow_setdlt set;
	struct nf_iface *ni;

	if (nf_msg_iface(nf, msg, &set, sizeof(set), &ni) != 0)
		return (EINVAL);
	if (set.dlt != NF_DLT_ETHER && set.dlt != NF_DLT_RAW)
		return (EINVAL);
	atomic_store(&ni->ni_dlt, set.dlt);
	return (0);
}

static int
nf_setifindex(struct netflow *nf, const struct ng_mesg *msg)
{
	struct ng_netflow_setifindex set;
	struct nf_iface *ni;

	if (nf_msg_iface(nf, msg, &set, sizeof(set), &ni) != 0)
		return (EINVAL);
	atomic_store(&ni->ni_index, set.index);
	return (0);
}

static int
nf_setconfig(struct netflow *nf, const struct ng_mesg *msg)
{
	struct ng_netflow_setconfig set;
	struct nf_iface *ni;

	if (nf_msg_iface(nf, msg, &set, sizeof(set), &ni) != 0)
		return (EINVAL);
	atomic_store(&ni->ni_conf, set.conf & NF_CONF_ALL);
	return (0);
}

static int
nf_settimeouts(struct netflow *nf, const struct ng_mesg *msg)
{
	struct ng_netflow_settimeouts set;

	if (nf_msg_arg(msg, &set, sizeof(set)) != 0)
		return (EINVAL);
	atomic_store(&nf->nf_inactive, set.inactive_timeout);
	atomic_store(&nf->nf_active, set.active_timeout);
	return (0);
}

static int
nf_settemplate(struct netflow *nf, const struct ng_mesg *msg)
{
	struct ng_netflow_settemplate set;

	if (nf_msg_arg(msg, &set, sizeof(set)) != 0)
		return (EINVAL);
	atomic_store(&nf->nf_export.ne_tmpl_time, set.time);
	atomic_store(&nf->nf_export.ne_tmpl_packets, set.packets);
	return (0);
}

static int
nf_setmtu(struct netflow *nf, const struct ng_mesg *msg)
{
	struct ng_netflow_setmtu set;

	if (nf_msg_arg(msg, &set, sizeof(set)) != 0)
		return (EINVAL);
	if (set.mtu < NF_MTU_MIN || set.mtu > NF_MTU_MAX)
		return (EINVAL);
	atomic_store(&nf->nf_export.ne_mtu, set.mtu);
	return (0);
}

static int
nf_v9info(struct netflow *nf, struct ng_request *rq)
{
	struct ng_netflow_v9info vi;

	vi.templ_packets = (uint16_t)atomic_load(
	    &nf->nf_export.ne_tmpl_packets);
	vi.templ_time = (uint16_t)atomic_load(&nf->nf_export.ne_tmpl_time);
	vi.mtu = (uint16_t)atomic_load(&nf->nf_export.ne_mtu);
	return (ng_respond(rq, &vi, sizeof(vi)));
}

static int
ng_netflow_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	struct netflow *nf = ng_node_private(node);
	const struct ng_mesg *msg = ng_request_msg(rq);

	(void)lasthook;
	if (msg->header.typecookie != NGM_NETFLOW_COOKIE)
		return (EINVAL);
	switch (msg->header.cmd) {
	case NGM_NETFLOW_INFO:
		return (msg->header.arglen != 0 ? EINVAL : nf_info(nf, rq));
	case NGM_NETFLOW_IFINFO:
		return (nf_ifinfo(nf, rq));
	case NGM_NETFLOW_SHOW:
		return (nf_show(nf, rq));
	case NGM_NETFLOW_SETDLT:
		return (nf_setdlt(nf, msg));
	case NGM_NETFLOW_SETIFINDEX:
		return (nf_setifindex(nf, msg));
	case NGM_NETFLOW_SETTIMEOUTS:
		return (nf_settimeouts(nf, msg));
	case NGM_NETFLOW_SETCONFIG:
		return (nf_setconfig(nf, msg));
	case NGM_NETFLOW_SETTEMPLATE:
		return (nf_settemplate(nf, msg));
	case NGM_NETFLOW_SETMTU:
		return (nf_setmtu(nf, msg));
	case NGM_NETFLOW_V9INFO:
		return (msg->header.arglen != 0 ? EINVAL : nf_v9info(nf, rq));
	default:
		return (EINVAL);
	}
}

const struct ng_type ng_netflow_type = {
	.version = NG_ABI_VERSION,
	.name = NG_NETFLOW_NODE_TYPE,
	.constructor = ng_netflow_constructor,
	.rcvmsg = ng_netflow_rcvmsg,
	.close = ng_netflow_close,
	.shutdown = ng_netflow_shutdown,
	.newhook = ng_netflow_newhook,
	.connect = ng_netflow_connect,
	.rcvdata = ng_netflow_rcvdata,
	.disconnect = ng_netflow_disconnect,
	.cmdlist = ng_netflow_cmds,
};
