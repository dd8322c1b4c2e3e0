/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The iface node: a point-to-point interface, ngN, whose link is the hooks
 * "inet" and "inet6".  Packets are bare: they begin with their IP header, on
 * the hooks as in the stack, and their version says which hook is theirs.
 *
 * Graphs that bring a packet back to the interface it came out of while it is
 * still on its way out nest; net.graph.iface.max_nesting bounds how deep, and
 * none may be gone through twice.  Each thread keeps the interfaces that it is
 * in.  A packet that was queued on the way starts anew, which takes no stack;
 * what forwards it in a circle counts down its time to live.
 *
 * The node outlives its hooks and goes by shutdown only, its interface with
 * it.  Data reads fi_hook and what if_detach() lets it see; the rest is
 * written under the configuration lock (c).  After ng_iface(4).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netgraph/ng_iface.h>

#include "ifnet/if_var.h"
#include "netgraph/nodes/ng_ifnode.h"
#include "netgraph/nodes/ng_nodes.h"
#include "sys/sysctl.h"

#define	IFACE_NESTING		2	/* default */
#define	IFACE_NESTING_MAX	8
#define	IFACE_BAUDRATE		64000	/* bits a second */

enum iface_family { IFACE_INET, IFACE_INET6, IFACE_FAMILIES };

struct ng_iface {
	_Atomic(hook_p)	 fi_hook[IFACE_FAMILIES]; /* (e/c) NULL: none */
	struct ng_ifnode fi_in;		/* N of ngN */
};

static struct ng_ifnodes ng_ifaces =
    LIST_HEAD_INITIALIZER(ng_ifaces);	/* (c) */
static _Atomic int ng_iface_max_nesting = IFACE_NESTING; /* (a) relaxed */

/* The interfaces that this thread's packet is on its way out of. */
static _Thread_local struct {
	int		 depth;
	const struct ifnet *ifp[IFACE_NESTING_MAX];
} iface_nest;

/* ---- Data ---- */

/*
 * Whose packet is it?  IFACE_FAMILIES: nobody's.  An empty first mbuf is
 * somebody's who cuts packets oddly; it is not looked behind.
 */
static enum iface_family
ng_iface_family(const struct mbuf *m)
{

	if (m->m_len == 0)
		return (IFACE_FAMILIES);
	switch ((uint8_t)m->m_data[0] >> 4) {
	case 4:
		return (IFACE_INET);
	case 6:
		return (IFACE_INET6);
	default:
		return (IFACE_FAMILIES);
	}
}

/* Enter ifp's output: false, when this thread may not. */
static bool
ng_iface_enter(const struct ifnet *ifp)
{

	if (iface_nest.depth >= atomic_load_explicit(&ng_iface_max_nesting,
	    memory_order_relaxed))
		return (false);
	for (int i = 0; i < iface_nest.depth; i++)
		if (iface_nest.ifp[i] == ifp)
			return (false);
	iface_nest.ifp[iface_nest.depth++] = ifp;
	return (true);
}

/* A run of one family out of its hook. */
static void
ng_iface_send(struct ng_iface *fi, struct ifnet *ifp, struct mbuf **m,
    unsigned int n, enum iface_family family)
{

	if (family == IFACE_FAMILIES)
		if_output_drop(ifp, m, n, IFD_IPVERS);
	else
		ng_ifnode_send(ifp, atomic_load_explicit(&fi->fi_hook[family],
		    memory_order_acquire), m, n);
}

static void
ng_iface_output(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	struct ng_iface *fi = ifp->if_softc;
	enum iface_family family, run;
	unsigned int first = 0;

	NET_EPOCH_ASSERT();

	if (!ng_iface_enter(ifp)) {
		if_output_drop(ifp, m, n, IFD_GRAPH);
		return;
	}
	ng_outbound_enter();
	run = ng_iface_family(m[0]);
	for (unsigned int i = 1; i < n; i++) {
		family = ng_iface_family(m[i]);
		if (family == run)
			continue;
		ng_iface_send(fi, ifp, m + first, i - first, run);
		first = i;
		run = family;
	}
	ng_iface_send(fi, ifp, m + first, n - first, run);
	ng_outbound_exit();
	iface_nest.depth--;
}

/* The interface's input; inside the epoch already. */
static int
ng_iface_rcvdata(hook_p hook, item_p it)
{
	struct ng_iface *fi = ng_node_private(ng_hook_node(hook));
	enum iface_family family = (enum iface_family)(uintptr_t)
	    ng_hook_private(hook);
	struct ifnet *ifp = fi->fi_in.in_ifp;
	unsigned int kept = 0;

	NET_EPOCH_ASSERT();

	if (ng_ifnode_is_down(ifp, it))
		return (ENETDOWN);
	for (unsigned int i = 0; i < it->it_n; i++)
		if (__predict_true(ng_iface_family(it->it_m[i]) == family))
			it->it_m[kept++] = it->it_m[i];
		else
			if_drop(ifp, it->it_m[i], IFD_IPVERS);
	if (kept != 0)
		atomic_load_explicit(&ifp->if_input, memory_order_acquire)(
		    ifp, it->it_m, kept);
	return (0);
}

/* ---- Hooks ---- */

static int
ng_iface_newhook(node_p node, hook_p hook, const char *name)
{
	struct ng_iface *fi = ng_node_private(node);
	enum iface_family family;

	if (strcmp(name, NG_IFACE_HOOK_INET) == 0)
		family = IFACE_INET;
	else if (strcmp(name, NG_IFACE_HOOK_INET6) == 0)
		family = IFACE_INET6;
	else
		return (EPFNOSUPPORT);
	if (atomic_load_explicit(&fi->fi_hook[family],
	    memory_order_relaxed) != NULL)
		return (EISCONN);
	ng_hook_set_private(hook, (void *)(uintptr_t)family);
	ng_hook_set_to_inbound(hook);
	return (0);
}

static int
ng_iface_connect(hook_p hook)
{
	struct ng_iface *fi = ng_node_private(ng_hook_node(hook));

	/* Pairs with the acquire in ng_iface_send(). */
	atomic_store_explicit(
	    &fi->fi_hook[(uintptr_t)ng_hook_private(hook)], hook,
	    memory_order_release);
	return (0);
}

static void
ng_iface_disconnect(hook_p hook)
{
	struct ng_iface *fi = ng_node_private(ng_hook_node(hook));
	hook_p expected = hook;

	(void)atomic_compare_exchange_strong(
	    &fi->fi_hook[(uintptr_t)ng_hook_private(hook)], &expected, NULL);
}

/* ---- Messages ---- */

/* Point-to-point or broadcast, while it is down. */
static int
ng_iface_mode(struct ifnet *ifp, uint32_t set, uint32_t clear)
{

	if ((atomic_load_explicit(&ifp->if_flags, memory_order_relaxed) &
	    IFF_UP) != 0)
		return (EBUSY);
	atomic_fetch_or_explicit(&ifp->if_flags, set, memory_order_relaxed);
	atomic_fetch_and_explicit(&ifp->if_flags, ~clear,
	    memory_order_relaxed);
	return (0);
}

static int
ng_iface_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	struct ng_iface *fi = ng_node_private(node);
	const struct ng_mesg *msg = ng_request_msg(rq);
	const uint32_t cmd = msg->header.cmd;
	struct ifnet *ifp = fi->fi_in.in_ifp;

	(void)lasthook;
	if ((msg->header.flags & NGF_RESP) != 0)
		return (EINVAL);
	if (msg->header.typecookie == NGM_FLOW_COOKIE) {
		if (cmd != NGM_LINK_IS_UP && cmd != NGM_LINK_IS_DOWN)
			return (EINVAL);
		if_link_state(ifp, cmd == NGM_LINK_IS_UP ? IF_LINK_UP :
		    IF_LINK_DOWN);
		return (0);
	}
	if (msg->header.typecookie != NGM_IFACE_COOKIE)
		return (EINVAL);
	switch (cmd) {
	case NGM_IFACE_GET_IFNAME:
		return (ng_respond(rq, ifp->if_name, IFNAMLEN));
	case NGM_IFACE_POINT2POINT:
		return (ng_iface_mode(ifp, IFF_POINTOPOINT, IFF_BROADCAST));
	case NGM_IFACE_BROADCAST:
		return (ng_iface_mode(ifp, IFF_BROADCAST, IFF_POINTOPOINT));
	case NGM_IFACE_GET_IFINDEX:
		return (ng_respond(rq, &ifp->if_index,
		    sizeof(ifp->if_index)));
	default:
		return (EINVAL);
	}
}

/* ---- Life ---- */

static void
ng_iface_init_ifp(struct ng_iface *fi)
{
	struct ifnet *ifp = fi->fi_in.in_ifp;

	ifp->if_softc = fi;
	atomic_init(&ifp->if_output, ng_iface_output);
	atomic_init(&ifp->if_flags, IFF_POINTOPOINT | IFF_SIMPLEX |
	    IFF_NOARP | IFF_MULTICAST);
	atomic_init(&ifp->if_mtu, NG_IFACE_MTU_DEFAULT);
	ifp->if_mtu_min = NG_IFACE_MTU_MIN;
	ifp->if_mtu_max = NG_IFACE_MTU_MAX;
	ifp->if_baudrate = IFACE_BAUDRATE;
}

static int
ng_iface_constructor(node_p node)
{
	struct ng_iface *fi;
	int error;

	if ((fi = calloc(1, sizeof(*fi))) == NULL)
		return (ENOMEM);
	error = ng_ifnode_alloc(&ng_ifaces, &fi->fi_in, node,
	    NG_IFACE_IFACE_NAME, IFT_PROPVIRTUAL);
	if (error != 0)
		goto free_iface;
	ng_iface_init_ifp(fi);
	ng_node_set_private(node, fi);
	error = ng_ifnode_attach(&fi->fi_in);
	if (error != 0)
		goto free_ifnode;
	return (0);
free_ifnode:
	ng_ifnode_free(&fi->fi_in);
free_iface:
	free(fi);
	return (error);
}

static void
ng_iface_shutdown(node_p node)
{
	struct ng_iface *fi = ng_node_private(node);

	if_detach(fi->fi_in.in_ifp);
	ng_ifnode_free(&fi->fi_in);
	free(fi);
}

/* An address brings its interface up. */
static int
ng_iface_ifevent(struct vnet *vnet, struct ifnet *ifp, int event)
{
	struct ng_ifnode *in;

	(void)vnet;
	if (event != IF_EVENT_ADDR_ADD)
		return (0);
	LIST_FOREACH(in, &ng_ifaces, in_link)
		if (in->in_ifp == ifp)
			return (if_setflags(ifp, IFF_UP, 0));
	return (0);
}

/* A tunable stays when its type is unloaded, so it may be there already. */
static int
ng_iface_attach(struct vnet *vnet)
{
	int error;

	error = sysctl_add_int(vnet->v_sysctl, "net.graph.iface.max_nesting",
	    CTLFLAG_RW, &ng_iface_max_nesting, 1, IFACE_NESTING_MAX,
	    "iface interfaces that a packet may be in at a time");
	return (error == EEXIST ? 0 : error);
}

/* ---- Text ---- */

static const struct ng_cmdlist ng_iface_cmds[] = {
	{ NGM_IFACE_COOKIE, NGM_IFACE_GET_IFNAME, "getifname", NULL,
	    &ng_ifname_type },
	{ NGM_IFACE_COOKIE, NGM_IFACE_POINT2POINT, "point2point", NULL,
	    NULL },
	{ NGM_IFACE_COOKIE, NGM_IFACE_BROADCAST, "broadcast", NULL, NULL },
	{ NGM_IFACE_COOKIE, NGM_IFACE_GET_IFINDEX, "getifindex", NULL,
	    &ng_parse_uint32_type },
	{ 0, 0, NULL, NULL, NULL },
};

const struct ng_type ng_iface_type = {
	.version = NG_ABI_VERSION,
	.flags = NGTF_PERSISTENT,
	.name = NG_IFACE_NODE_TYPE,
	.constructor = ng_iface_constructor,
	.rcvmsg = ng_iface_rcvmsg,
	.shutdown = ng_iface_shutdown,
	.newhook = ng_iface_newhook,
	.connect = ng_iface_connect,
	.rcvdata = ng_iface_rcvdata,
	.disconnect = ng_iface_disconnect,
	.cmdlist = ng_iface_cmds,
	.attach = ng_iface_attach,
	.ifevent = ng_iface_ifevent,
};
