/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The ether node: there is one for each Ethernet interface, and its hooks are
 * the three places on a frame's way there (ifnet/if_var.h).
 *
 *	lower	out: every frame received, and the stack gets none;
 *		in: transmitted
 *	upper	out: every frame that the stack would transmit;
 *		in: to the stack, as if just received
 *	orphans	out: frames received that nobody wants; in: transmitted
 *
 * A place is taken on the interface while its hook is connected, so an idle
 * node costs a packet nothing.  Frames into lower do not come out of upper,
 * those into upper not out of lower.  A burst stays a burst.
 *
 * Nodes come and go with their interfaces: ifevent() makes and ends them, on
 * the thread that attaches or detaches.  The node has a reference to its
 * interface; ne_ifp is NULL once that is detached (before if_detach() waits
 * for the epoch), and then the node is on its way out.  A shutdown by anybody
 * else only takes its hooks away and its promiscuous request back.
 *
 * Data runs in the epoch and reads ne_ifp, a place's hook and ne_autosrc; all
 * is written under the configuration lock (c).  After ng_ether(4).
 */
#include <sys/queue.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netgraph/ng_ether.h>

#include "ether/ether_var.h"
#include "netgraph/nodes/ng_ifnode.h"
#include "netgraph/ng_var.h"
#include "netgraph/nodes/ng_nodes.h"
#include "sys/log.h"
#include "wire/ether.h"

/* A place of the interface, and the hook that has it. */
struct ng_ether_place {
	struct if_hook	 ep_ih;
	_Atomic(hook_p)	 ep_hook;	/* (e/c) NULL: not connected */
};

struct ng_ether_group {
	LIST_ENTRY(ng_ether_group) eg_link; /* (c) */
	uint8_t		 eg_addr[ETHER_ADDR_LEN]; /* (c) */
};

struct ng_ether {
	_Atomic(struct ifnet *) ne_ifp;	/* (e/c) NULL: detached */
	_Atomic bool	 ne_autosrc;	/* (a) relaxed */
	struct ng_ether_place ne_place[IFH_COUNT];
	LIST_ENTRY(ng_ether) ne_link;	/* (c) */
	node_p		 ne_node;	/* (c) */
	struct ifnet	*ne_ref;	/* (c) the reference */
	bool		 ne_promisc;	/* (c) our request */
	uint32_t	 ne_caps;	/* (c) switched off for upper */
	int		 ne_linkstate;	/* (c) last told to the hooks */
	LIST_HEAD(, ng_ether_group) ne_groups; /* (c) */
	struct epoch_context ne_ctx;	/* (o) */
};

/* All of the process, (c). */
static LIST_HEAD(, ng_ether) ng_ethers = LIST_HEAD_INITIALIZER(ng_ethers);

/* ---- Out of the hooks: called by the interface ---- */

static inline hook_p
ng_ether_hook(struct ng_ether_place *ep)
{

	return (atomic_load_explicit(&ep->ep_hook, memory_order_acquire));
}

/*
 * To the hook of a place that was taken.  False: it is being disconnected now,
 * and packets go on where they would without the node.  It is no longer valid
 * for a whole grace period before the node is told and gives the place back.
 */
static bool
ng_ether_send(struct if_hook *ih, struct mbuf **m, unsigned int n)
{
	struct ng_item it;
	hook_p hook;

	hook = ng_ether_hook(__containerof(ih, struct ng_ether_place, ep_ih));
	if (hook == NULL)
		return (false);
	it.it_n = n;
	memcpy(it.it_m, m, n * sizeof(m[0]));
	return (ng_fwd_item_live(&it, hook));
}

static void
ng_ether_lower(struct if_hook *ih, struct ifnet *ifp, struct mbuf **m,
    unsigned int n)
{

	if (!ng_ether_send(ih, m, n))
		ether_demux(ifp, m, n);
}

static void
ng_ether_upper(struct if_hook *ih, struct ifnet *ifp, struct mbuf **m,
    unsigned int n)
{
	bool sent;

	ng_outbound_enter();
	sent = ng_ether_send(ih, m, n);
	ng_outbound_exit();
	if (!sent)
		(void)if_transmit_lower(ifp, m, n);
}

static void
ng_ether_orphans(struct if_hook *ih, struct ifnet *ifp, struct mbuf **m,
    unsigned int n)
{

	if (!ng_ether_send(ih, m, n))
		if_drop_burst(ifp, m, n, IFD_ETHERTYPE);
}

/* ---- Into the hooks ---- */

/*
 * Leave what begins with a whole Ethernet header, in one piece.  EINVAL: there
 * was something else, which is dropped.
 */
static int
ng_ether_check(struct ifnet *ifp, item_p it)
{
	unsigned int kept = 0;
	struct mbuf *m;
	int error = 0;

	for (unsigned int i = 0; i < it->it_n; i++) {
		m = it->it_m[i];
		if (__predict_false(m->m_len < ETHER_HDR_LEN)) {
			if (m->m_pkthdr.len < ETHER_HDR_LEN) {
				if_drop(ifp, m, IFD_RUNT);
				error = EINVAL;
				continue;
			}
			if ((m = m_pullup(m, ETHER_HDR_LEN)) == NULL) {
				if_count_drop(ifp, IFD_NOMBUF, 1);
				error = ENOBUFS;
				continue;
			}
		}
		it->it_m[kept++] = m;
	}
	it->it_n = kept;
	return (error);
}

/* The interface, or NULL: it is gone, and so are the packets. */
static struct ifnet *
ng_ether_ifp(hook_p hook, item_p it)
{
	struct ng_ether *ne = ng_node_private(ng_hook_node(hook));
	struct ifnet *ifp;

	ifp = atomic_load_explicit(&ne->ne_ifp, memory_order_acquire);
	if (__predict_false(ifp == NULL))
		ng_item_free(it);
	return (ifp);
}

/* Into lower and orphans: out of the interface. */
static int
ng_ether_rcvdata_lower(hook_p hook, item_p it)
{
	struct ng_ether *ne = ng_node_private(ng_hook_node(hook));
	struct ifnet *ifp;
	uint64_t own;
	int bad, error;

	NET_EPOCH_ASSERT();

	if ((ifp = ng_ether_ifp(hook, it)) == NULL)
		return (ENETDOWN);
	bad = ng_ether_check(ifp, it);
	if (it->it_n == 0)
		return (bad);
	if (atomic_load_explicit(&ne->ne_autosrc, memory_order_relaxed)) {
		own = atomic_load_explicit(&ifp->if_lladdr48,
		    memory_order_relaxed);
		for (unsigned int i = 0; i < it->it_n; i++)
			memcpy(it->it_m[i]->m_data + ETHER_ADDR_LEN, &own,
			    ETHER_ADDR_LEN);
	}
	error = if_transmit_lower(ifp, it->it_m, it->it_n);
	return (error != 0 ? error : bad);
}

/* Into upper: to the stack. */
static int
ng_ether_rcvdata_upper(hook_p hook, item_p it)
{
	struct ifnet *ifp;
	int bad;

	NET_EPOCH_ASSERT();

	if ((ifp = ng_ether_ifp(hook, it)) == NULL)
		return (ENETDOWN);
	bad = ng_ether_check(ifp, it);
	if (it->it_n != 0)
		ether_demux(ifp, it->it_m, it->it_n);
	return (bad);
}

/* ---- Hooks ---- */

static int
ng_ether_newhook(node_p node, hook_p hook, const char *name)
{
	struct ng_ether *ne = ng_node_private(node);
	struct ng_ether_place *ep;
	enum if_hookpoint hp;

	if (strcmp(name, NG_ETHER_HOOK_LOWER) == 0 ||
	    strcmp(name, NG_ETHER_HOOK_DIVERT) == 0)
		hp = IFH_LOWER;
	else if (strcmp(name, NG_ETHER_HOOK_UPPER) == 0)
		hp = IFH_UPPER;
	else if (strcmp(name, NG_ETHER_HOOK_ORPHAN) == 0)
		hp = IFH_ORPHANS;
	else
		return (EINVAL);
	ep = &ne->ne_place[hp];
	if (ng_ether_hook(ep) != NULL)
		return (EISCONN);
	if (hp == IFH_UPPER) {
		ng_hook_set_to_inbound(hook);
		ng_hook_set_rcvdata(hook, ng_ether_rcvdata_upper);
	}
	ng_hook_set_private(hook, ep);
	return (0);
}

/*
 * The stack finishes checksums itself for as long as its frames go somewhere
 * else than to the device.
 */
static void
ng_ether_offload(struct ng_ether *ne, struct ifnet *ifp, bool on)
{

	if (on) {
		atomic_fetch_or_explicit(&ifp->if_capenable, ne->ne_caps,
		    memory_order_relaxed);
		ne->ne_caps = 0;
	} else
		ne->ne_caps = atomic_fetch_and_explicit(&ifp->if_capenable,
		    ~(uint32_t)IFCAP_TXCSUM, memory_order_relaxed) &
		    IFCAP_TXCSUM;
}

static int
ng_ether_connect(hook_p hook)
{
	struct ng_ether *ne = ng_node_private(ng_hook_node(hook));
	struct ng_ether_place *ep = ng_hook_private(hook);
	enum if_hookpoint hp = (enum if_hookpoint)(ep - ne->ne_place);
	struct ifnet *ifp = ne->ne_ifp;
	int error;

	if (ifp == NULL)
		return (ENXIO);
	/* Both names of lower at once, or somebody who is no node. */
	if (ng_ether_hook(ep) != NULL)
		return (EISCONN);
	/* Pairs with the acquire in ng_ether_hook(). */
	atomic_store_explicit(&ep->ep_hook, hook, memory_order_release);
	error = if_hook_add(ifp, hp, &ep->ep_ih);
	if (error != 0)
		atomic_store_explicit(&ep->ep_hook, NULL,
		    memory_order_release);
	else if (hp == IFH_UPPER)
		ng_ether_offload(ne, ifp, false);
	return (error);
}

static void
ng_ether_promisc_end(struct ng_ether *ne)
{
	struct ifnet *ifp = ne->ne_ifp;

	if (ne->ne_promisc && ifp != NULL)
		(void)if_promisc(ifp, false);
	ne->ne_promisc = false;
}

static void
ng_ether_disconnect(hook_p hook)
{
	node_p node = ng_hook_node(hook);
	struct ng_ether *ne = ng_node_private(node);
	struct ng_ether_place *ep = ng_hook_private(hook);
	enum if_hookpoint hp = (enum if_hookpoint)(ep - ne->ne_place);
	struct ifnet *ifp = ne->ne_ifp;

	if (ng_ether_hook(ep) == hook) {
		if (ifp != NULL) {
			if_hook_remove(ifp, hp, &ep->ep_ih);
			if (hp == IFH_UPPER)
				ng_ether_offload(ne, ifp, true);
		}
		atomic_store_explicit(&ep->ep_hook, NULL,
		    memory_order_release);
	}
	if (ng_node_numhooks(node) == 0)
		ng_ether_promisc_end(ne);
}

/* ---- Messages ---- */

static struct ng_ether_group *
ng_ether_group(struct ng_ether *ne, const uint8_t *addr)
{
	struct ng_ether_group *eg;

	LIST_FOREACH(eg, &ne->ne_groups, eg_link)
		if (memcmp(eg->eg_addr, addr, ETHER_ADDR_LEN) == 0)
			return (eg);
	return (NULL);
}

/*
 * The stack takes frames to any group; what a member needs is that the device
 * hands them over, and it hands over all or those that it likes.
 */
static int
ng_ether_join(struct ng_ether *ne, struct ifnet *ifp, const uint8_t *addr)
{
	struct ng_ether_group *eg;
	int error;

	if (!ether_is_multicast(addr))
		return (EADDRNOTAVAIL);
	if (ng_ether_group(ne, addr) != NULL)
		return (EADDRINUSE);
	if ((eg = calloc(1, sizeof(*eg))) == NULL)
		return (ENOMEM);
	error = if_set_allmulti(ifp, true);
	if (error != 0) {
		free(eg);
		return (error);
	}
	memcpy(eg->eg_addr, addr, ETHER_ADDR_LEN);
	LIST_INSERT_HEAD(&ne->ne_groups, eg, eg_link);
	return (0);
}

static int
ng_ether_leave(struct ng_ether *ne, struct ifnet *ifp, const uint8_t *addr)
{
	struct ng_ether_group *eg;

	if ((eg = ng_ether_group(ne, addr)) == NULL)
		return (ENOENT);
	LIST_REMOVE(eg, eg_link);
	free(eg);
	return (if_set_allmulti(ifp, false));
}

static int
ng_ether_set_promisc(struct ng_ether *ne, struct ifnet *ifp, bool on)
{
	int error = 0;

	if (on != ne->ne_promisc)
		error = if_promisc(ifp, on);
	if (error == 0)
		ne->ne_promisc = on;
	return (error);
}

static int
ng_ether_respond_u32(struct ng_request *rq, uint32_t value)
{

	return (ng_respond(rq, &value, sizeof(value)));
}

/* Commands without an argument. */
static int
ng_ether_get(struct ng_ether *ne, struct ifnet *ifp, struct ng_request *rq)
{
	const struct ng_mesg *msg = ng_request_msg(rq);

	switch (msg->header.cmd) {
	case NGM_ETHER_GET_IFNAME:
		return (ng_respond(rq, ifp->if_name, IFNAMLEN));
	case NGM_ETHER_GET_IFINDEX:
		return (ng_ether_respond_u32(rq, ifp->if_index));
	case NGM_ETHER_GET_ENADDR:
		return (ng_respond(rq, ifp->if_lladdr, ETHER_ADDR_LEN));
	case NGM_ETHER_GET_PROMISC:
		return (ng_ether_respond_u32(rq, ne->ne_promisc));
	case NGM_ETHER_GET_AUTOSRC:
		return (ng_ether_respond_u32(rq, ne->ne_autosrc));
	case NGM_ETHER_DETACH:
		ng_node_set_must_die(ne->ne_node);
		ng_rmnode_self(ne->ne_node);
		return (0);
	default:
		return (EINVAL);
	}
}

static int
ng_ether_set(struct ng_ether *ne, struct ifnet *ifp,
    const struct ng_mesg *msg)
{
	const uint8_t *addr = (const uint8_t *)msg->data;
	uint32_t value = 0;

	switch (msg->header.cmd) {
	case NGM_ETHER_SET_PROMISC:
	case NGM_ETHER_SET_AUTOSRC:
		if (msg->header.arglen != sizeof(value))
			return (EINVAL);
		memcpy(&value, msg->data, sizeof(value));
		break;
	default:
		if (msg->header.arglen != ETHER_ADDR_LEN)
			return (EINVAL);
		break;
	}
	switch (msg->header.cmd) {
	case NGM_ETHER_SET_ENADDR:
		return (if_setlladdr(ifp, addr));
	case NGM_ETHER_SET_PROMISC:
		return (ng_ether_set_promisc(ne, ifp, value != 0));
	case NGM_ETHER_SET_AUTOSRC:
		atomic_store_explicit(&ne->ne_autosrc, value != 0,
		    memory_order_relaxed);
		return (0);
	case NGM_ETHER_ADD_MULTI:
		return (ng_ether_join(ne, ifp, addr));
	case NGM_ETHER_DEL_MULTI:
		return (ng_ether_leave(ne, ifp, addr));
	default:
		return (EINVAL);
	}
}

static int
ng_ether_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	struct ng_ether *ne = ng_node_private(node);
	const struct ng_mesg *msg = ng_request_msg(rq);
	struct ifnet *ifp = ne->ne_ifp;

	(void)lasthook;
	if (msg->header.typecookie != NGM_ETHER_COOKIE ||
	    (msg->header.flags & NGF_RESP) != 0)
		return (EINVAL);
	if (ifp == NULL)
		return (ENXIO);
	switch (msg->header.cmd) {
	case NGM_ETHER_SET_ENADDR:
	case NGM_ETHER_SET_PROMISC:
	case NGM_ETHER_SET_AUTOSRC:
	case NGM_ETHER_ADD_MULTI:
	case NGM_ETHER_DEL_MULTI:
		return (ng_ether_set(ne, ifp, msg));
	default:
		return (ng_ether_get(ne, ifp, rq));
	}
}

/* ---- Life, with the interface ---- */

static struct ng_ether *
ng_ether_find(const struct ifnet *ifp)
{
	struct ng_ether *ne;

	LIST_FOREACH(ne, &ng_ethers, ne_link)
		if (ne->ne_ifp == ifp)
			return (ne);
	return (NULL);
}

/* A node's name may have neither '.' nor ':', an interface's may. */
static void
ng_ether_name(const struct ifnet *ifp, char *name)
{

	snprintf(name, IFNAMLEN, "%s", ifp->if_name);
	for (; *name != '\0'; name++)
		if (*name == '.' || *name == ':')
			*name = '_';
}

/*
 * The node of an interface that is not itself a node's.  Where its name is
 * taken it has none, and is reached by its ID.
 */
static int
ng_ether_make(struct vnet *vnet, struct ifnet *ifp)
{
	struct ng_ether *ne;
	char name[IFNAMLEN];
	int error;

	if (ifp->if_type != IFT_ETHER || ifp->if_isnode)
		return (0);
	if ((ne = calloc(1, sizeof(*ne))) == NULL)
		return (ENOMEM);
	error = ng_make_node(vnet, NG_ETHER_NODE_TYPE, &ne->ne_node);
	if (error != 0) {
		free(ne);
		return (error);
	}
	if_ref(ifp);
	ne->ne_ref = ifp;
	ne->ne_place[IFH_LOWER].ep_ih.ih_fn = ng_ether_lower;
	ne->ne_place[IFH_UPPER].ep_ih.ih_fn = ng_ether_upper;
	ne->ne_place[IFH_ORPHANS].ep_ih.ih_fn = ng_ether_orphans;
	ne->ne_linkstate = atomic_load_explicit(&ifp->if_linkstate,
	    memory_order_relaxed);
	LIST_INIT(&ne->ne_groups);
	atomic_init(&ne->ne_ifp, ifp);
	LIST_INSERT_HEAD(&ng_ethers, ne, ne_link);
	ng_node_set_private(ne->ne_node, ne);
	ng_ether_name(ifp, name);
	error = ng_name_node(ne->ne_node, name);
	if (error != 0)
		log_msg(LOG_WARNING, "can't name node %s of %s: %s; it is "
		    "[%x]:", name, ifp->if_name, strerror(error),
		    ng_node_id(ne->ne_node));
	return (0);
}

static void
ng_ether_free_cb(epoch_context_t ctx)
{

	free(__containerof(ctx, struct ng_ether, ne_ctx));
}

/* Give back all that is the interface's; it is not ours any more. */
static void
ng_ether_release(struct ng_ether *ne)
{
	struct ifnet *ifp = ne->ne_ifp;
	bool dying;

	if (ifp == NULL)
		return;
	/* A driver that has stopped is not asked for anything. */
	dying = (atomic_load_explicit(&ifp->if_flags, memory_order_relaxed) &
	    IFF_DYING) != 0;
	for (int hp = 0; hp < IFH_COUNT; hp++)
		if_hook_remove(ifp, (enum if_hookpoint)hp,
		    &ne->ne_place[hp].ep_ih);
	if (ng_ether_hook(&ne->ne_place[IFH_UPPER]) != NULL)
		ng_ether_offload(ne, ifp, true);
	if (!dying) {
		ng_ether_promisc_end(ne);
		if (!LIST_EMPTY(&ne->ne_groups))
			while (LIST_FIRST(&ne->ne_groups) != NULL)
				(void)ng_ether_leave(ne, ifp,
				    LIST_FIRST(&ne->ne_groups)->eg_addr);
	}
	atomic_store_explicit(&ne->ne_ifp, NULL, memory_order_release);
}

static void
ng_ether_shutdown(node_p node)
{
	struct ng_ether *ne = ng_node_private(node);
	struct ng_ether_group *eg;

	ng_ether_promisc_end(ne);
	if (!ng_node_must_die(node)) {
		ng_node_revive(node);
		return;
	}
	ng_ether_release(ne);
	while ((eg = LIST_FIRST(&ne->ne_groups)) != NULL) {
		LIST_REMOVE(eg, eg_link);
		free(eg);
	}
	LIST_REMOVE(ne, ne_link);
	if_rele(ne->ne_ref);
	/* The interface's readers may still be in a place of ours. */
	NET_EPOCH_CALL(ng_ether_free_cb, &ne->ne_ctx);
}

static void
ng_ether_renamed(struct ng_ether *ne, const struct ifnet *ifp)
{
	char name[IFNAMLEN];

	ng_ether_name(ifp, name);
	if (ng_name_node(ne->ne_node, name) != 0)
		log_msg(LOG_WARNING, "%s: can't re-name node %s",
		    ifp->if_name, name);
}

/* Carrier or IFF_UP changed: of the carrier the peers are told. */
static void
ng_ether_linkstate(struct ng_ether *ne, struct ifnet *ifp)
{
	int state = atomic_load_explicit(&ifp->if_linkstate,
	    memory_order_relaxed);
	uint32_t cmd = state == IF_LINK_UP ? NGM_LINK_IS_UP :
	    NGM_LINK_IS_DOWN;
	static const enum if_hookpoint told[] = { IFH_LOWER, IFH_ORPHANS };
	hook_p hook;

	if (state == ne->ne_linkstate)
		return;
	ne->ne_linkstate = state;
	if (state == IF_LINK_UNKNOWN)
		return;
	for (size_t i = 0; i < nitems(told); i++) {
		hook = ng_ether_hook(&ne->ne_place[told[i]]);
		if (hook != NULL)
			(void)ng_send_flow(ne->ne_node, hook, cmd);
	}
}

static int
ng_ether_ifevent(struct vnet *vnet, struct ifnet *ifp, int event)
{
	struct ng_ether *ne;

	if (event == IF_EVENT_ATTACH)
		return (ng_ether_make(vnet, ifp));
	if ((ne = ng_ether_find(ifp)) == NULL)
		return (0);
	switch (event) {
	case IF_EVENT_DETACH:
		ng_ether_release(ne);
		ng_node_set_must_die(ne->ne_node);
		ng_rmnode_self(ne->ne_node);
		break;
	case IF_EVENT_RENAME:
		ng_ether_renamed(ne, ifp);
		break;
	case IF_EVENT_LINK:
		ng_ether_linkstate(ne, ifp);
		break;
	default:
		break;
	}
	return (0);
}

/* An interface for whose node there is no memory has none. */
static int
ng_ether_attach(struct vnet *vnet)
{
	struct ifnet *ifp;

	CK_STAILQ_FOREACH(ifp, &vnet->v_ifnets, if_link)
		if (ng_ether_find(ifp) == NULL &&
		    ng_ether_make(vnet, ifp) != 0)
			log_msg(LOG_WARNING, "%s: no node: out of memory",
			    ifp->if_name);
	return (0);
}

/* ---- Text ---- */

#define	CMD(n, name, arg, resp)						\
	{ NGM_ETHER_COOKIE, NGM_ETHER_##n, name, arg, resp }
static const struct ng_cmdlist ng_ether_cmds[] = {
	CMD(GET_IFNAME, "getifname", NULL, &ng_ifname_type),
	CMD(GET_IFINDEX, "getifindex", NULL, &ng_parse_int32_type),
	CMD(GET_ENADDR, "getenaddr", NULL, &ng_parse_enaddr_type),
	CMD(SET_ENADDR, "setenaddr", &ng_parse_enaddr_type, NULL),
	CMD(GET_PROMISC, "getpromisc", NULL, &ng_parse_int32_type),
	CMD(SET_PROMISC, "setpromisc", &ng_parse_int32_type, NULL),
	CMD(GET_AUTOSRC, "getautosrc", NULL, &ng_parse_int32_type),
	CMD(SET_AUTOSRC, "setautosrc", &ng_parse_int32_type, NULL),
	CMD(ADD_MULTI, "addmulti", &ng_parse_enaddr_type, NULL),
	CMD(DEL_MULTI, "delmulti", &ng_parse_enaddr_type, NULL),
	CMD(DETACH, "detach", NULL, NULL),
	{ 0, 0, NULL, NULL, NULL },
};
#undef CMD

const struct ng_type ng_ether_type = {
	.version = NG_ABI_VERSION,
	.flags = NGTF_NOMKPEER | NGTF_PERSISTENT,
	.name = NG_ETHER_NODE_TYPE,
	.rcvmsg = ng_ether_rcvmsg,
	.shutdown = ng_ether_shutdown,
	.newhook = ng_ether_newhook,
	.connect = ng_ether_connect,
	.rcvdata = ng_ether_rcvdata_lower,
	.disconnect = ng_ether_disconnect,
	.cmdlist = ng_ether_cmds,
	.attach = ng_ether_attach,
	.ifevent = ng_ether_ifevent,
};
