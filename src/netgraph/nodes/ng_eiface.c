/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The eiface node: an Ethernet interface, ngethN, whose wire is the hook
 * "ether".  What the stack sends on it goes out of the hook, what comes by the
 * hook is its input.
 *
 * Data comes inside the epoch, so the interface is not one of those for which
 * ether_input() enters it (review D39369: to enter once more for every packet
 * cost 6 % of the throughput).  net.graph.eiface.needsepoch, a switch of the
 * process, flags it nevertheless, for repeating that measurement.
 *
 * The node outlives its hook and goes by shutdown only, its interface with it,
 * wherever that has been moved to; the interface cannot be destroyed on its
 * own.  Data reads ei_hook and what if_detach() lets it see; the rest is
 * written under the configuration lock (c).  After ng_eiface(4).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netgraph/ng_eiface.h>

#include "ifnet/if_var.h"
#include "netgraph/nodes/ng_ifnode.h"
#include "netgraph/nodes/ng_nodes.h"
#include "sys/sysctl.h"
#include "wire/ether.h"

#define	EIFACE_BAUDRATE	1000000000	/* bits a second */

struct ng_eiface {
	_Atomic(hook_p)	 ei_hook;	/* (e/c) NULL: not connected */
	struct ng_ifnode ei_in;		/* N of ngethN */
};

static struct ng_ifnodes ng_eifaces =
    LIST_HEAD_INITIALIZER(ng_eifaces);	/* (c) */
static bool	 ng_eiface_needsepoch;	/* (c) */

/* ---- Data ---- */

/*
 * What the stack sends.  An error is one of the whole burst: it is not known
 * which packets the graph did not like.
 */
static void
ng_eiface_output(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	struct ng_eiface *ei = ifp->if_softc;

	NET_EPOCH_ASSERT();

	if (__predict_false((atomic_load_explicit(&ifp->if_flags,
	    memory_order_relaxed) & IFF_MONITOR) != 0)) {
		if_inc(ifp, IFC_IPACKETS, n);
		if_output_drop(ifp, m, n, IFD_MONITOR);
		return;
	}
	ng_outbound_enter();
	ng_ifnode_send(ifp, atomic_load_explicit(&ei->ei_hook,
	    memory_order_acquire), m, n);
	ng_outbound_exit();
}

/* Drop what is shorter than a header, put headers into one piece. */
static __attribute__((noinline)) int
ng_eiface_check(struct ifnet *ifp, item_p it)
{
	unsigned int kept = 0;
	struct mbuf *m;
	int error = 0;

	for (unsigned int i = 0; i < it->it_n; i++) {
		m = it->it_m[i];
		if (m->m_pkthdr.len < ETHER_HDR_LEN) {
			if_drop(ifp, m, IFD_RUNT);
			error = EINVAL;
		} else if ((m = m_pullup(m, ETHER_HDR_LEN)) == NULL) {
			if_count_drop(ifp, IFD_NOMBUF, 1);
			error = ENOBUFS;
		} else
			it->it_m[kept++] = m;
	}
	it->it_n = kept;
	return (error);
}

/* The interface's input; inside the epoch already. */
static int
ng_eiface_rcvdata(hook_p hook, item_p it)
{
	struct ng_eiface *ei = ng_node_private(ng_hook_node(hook));
	struct ifnet *ifp = ei->ei_in.in_ifp;
	bool is_short = false;
	int error = 0;

	NET_EPOCH_ASSERT();

	if (ng_ifnode_is_down(ifp, it))
		return (ENETDOWN);
	for (unsigned int i = 0; i < it->it_n; i++)
		is_short |= it->it_m[i]->m_len < ETHER_HDR_LEN;
	if (__predict_false(is_short)) {
		error = ng_eiface_check(ifp, it);
		if (it->it_n == 0)
			return (error);
	}
	atomic_load_explicit(&ifp->if_input, memory_order_acquire)(ifp,
	    it->it_m, it->it_n);
	return (error);
}

/* ---- The hook ---- */

static void
ng_eiface_link(struct ng_eiface *ei, bool up)
{
	struct ifnet *ifp = ei->ei_in.in_ifp;

	snprintf(ifp->if_media, sizeof(ifp->if_media),
	    "Ethernet autoselect%s", up ? " (1000baseT <full-duplex>)" : "");
	if_link_state(ifp, up ? IF_LINK_UP : IF_LINK_DOWN);
}

static int
ng_eiface_newhook(node_p node, hook_p hook, const char *name)
{
	struct ng_eiface *ei = ng_node_private(node);

	if (strcmp(name, NG_EIFACE_HOOK_ETHER) != 0)
		return (EPFNOSUPPORT);
	if (atomic_load_explicit(&ei->ei_hook, memory_order_relaxed) != NULL)
		return (EISCONN);
	ng_hook_set_to_inbound(hook);
	return (0);
}

static int
ng_eiface_connect(hook_p hook)
{
	struct ng_eiface *ei = ng_node_private(ng_hook_node(hook));

	/* Pairs with the acquire in ng_eiface_output(). */
	atomic_store_explicit(&ei->ei_hook, hook, memory_order_release);
	ng_eiface_link(ei, true);
	return (0);
}

static void
ng_eiface_disconnect(hook_p hook)
{
	struct ng_eiface *ei = ng_node_private(ng_hook_node(hook));

	if (atomic_load_explicit(&ei->ei_hook, memory_order_relaxed) != hook)
		return;
	atomic_store_explicit(&ei->ei_hook, NULL, memory_order_release);
	ng_eiface_link(ei, false);
}

/* ---- Messages ---- */

/* The interface's addresses, as socket addresses of Linux, in turn. */
static int
ng_eiface_respond_addrs(struct ng_eiface *ei, struct ng_request *rq)
{
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in sin = { .sin_family = AF_INET };
	const struct ifaddr *ifa;
	size_t len = 0, n = 0;
	char *buf;
	int error;

	CK_STAILQ_FOREACH(ifa, &ei->ei_in.in_ifp->if_addrs, ifa_link)
		n++;
	if ((buf = calloc(n + 1, sizeof(sin6))) == NULL)
		return (ENOMEM);
	CK_STAILQ_FOREACH(ifa, &ei->ei_in.in_ifp->if_addrs, ifa_link)
		if (ifa->ifa_family == AF_INET) {
			sin.sin_addr = ifa->ifa_addr;
			memcpy(buf + len, &sin, sizeof(sin));
			len += sizeof(sin);
		} else {
			sin6.sin6_addr = ifa->ifa_addr6;
			memcpy(buf + len, &sin6, sizeof(sin6));
			len += sizeof(sin6);
		}
	error = ng_respond(rq, buf, len);
	free(buf);
	return (error);
}

static int
ng_eiface_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	struct ng_eiface *ei = ng_node_private(node);
	const struct ng_mesg *msg = ng_request_msg(rq);
	const uint32_t cmd = msg->header.cmd;

	(void)lasthook;
	if ((msg->header.flags & NGF_RESP) != 0)
		return (EINVAL);
	if (msg->header.typecookie == NGM_FLOW_COOKIE) {
		if (cmd != NGM_LINK_IS_UP && cmd != NGM_LINK_IS_DOWN)
			return (EINVAL);
		ng_eiface_link(ei, cmd == NGM_LINK_IS_UP);
		return (0);
	}
	if (msg->header.typecookie != NGM_EIFACE_COOKIE)
		return (EINVAL);
	switch (cmd) {
	case NGM_EIFACE_GET_IFNAME:
		return (ng_respond(rq, ei->ei_in.in_ifp->if_name, IFNAMLEN));
	case NGM_EIFACE_GET_IFADDRS:
		return (ng_eiface_respond_addrs(ei, rq));
	case NGM_EIFACE_SET:
		if (msg->header.arglen != ETHER_ADDR_LEN)
			return (EINVAL);
		return (if_setlladdr(ei->ei_in.in_ifp,
		    (const uint8_t *)msg->data));
	default:
		return (EINVAL);
	}
}

/* ---- Life ---- */

static uint64_t
ng_eiface_hash(uint64_t h, const char *text)
{

	for (; *text != '\0'; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return ((h ^ '-') * UINT64_C(1099511628211));
}

/*
 * A MAC that is the same next time: from what identifies the host, the name of
 * the machine and that of the interface.  No other interface here has it.
 */
static void
ng_eiface_mac(struct vnet *vnet, const char *name, uint8_t *mac)
{
	static const uint8_t oui[3] = { 0x58, 0x9c, 0xfc };
	char id[64] = "";
	struct ifnet *ifp;
	uint64_t h;
	ssize_t n;
	int fd;

	fd = open("/etc/machine-id", O_RDONLY | O_CLOEXEC);
	n = fd != -1 ? read(fd, id, sizeof(id) - 1) : -1;
	if (n <= 0)
		(void)gethostname(id, sizeof(id) - 1);
	if (fd != -1)
		close(fd);
	h = ng_eiface_hash(UINT64_C(14695981039346656037), id);
	h = ng_eiface_hash(ng_eiface_hash(h, name), vnet->v_name);
	memcpy(mac, oui, sizeof(oui));
	do {
		h = ng_eiface_hash(h, name);
		mac[3] = (uint8_t)(h >> 56);
		mac[4] = (uint8_t)(h >> 48);
		mac[5] = (uint8_t)(h >> 40);
		CK_STAILQ_FOREACH(ifp, &vnet->v_ifnets, if_link)
			if (memcmp(ifp->if_lladdr, mac, ETHER_ADDR_LEN) == 0)
				break;
	} while (ifp != NULL);
}

static void
ng_eiface_init_ifp(struct ng_eiface *ei)
{
	struct ifnet *ifp = ei->ei_in.in_ifp;

	ifp->if_softc = ei;
	ifp->if_isnode = true;
	atomic_init(&ifp->if_output, ng_eiface_output);
	atomic_init(&ifp->if_flags, IFF_BROADCAST | IFF_SIMPLEX |
	    IFF_MULTICAST | (ng_eiface_needsepoch ? IFF_NEEDSEPOCH : 0));
	atomic_init(&ifp->if_linkstate, IF_LINK_DOWN);
	atomic_init(&ifp->if_mtu, NG_EIFACE_MTU_DEFAULT);
	ifp->if_mtu_min = NG_EIFACE_MTU_MIN;
	ifp->if_mtu_max = NG_EIFACE_MTU_MAX;
	ifp->if_capabilities = IFCAP_VLAN_MTU | IFCAP_JUMBO_MTU;
	atomic_init(&ifp->if_capenable, ifp->if_capabilities);
	ifp->if_baudrate = EIFACE_BAUDRATE;
	snprintf(ifp->if_media, sizeof(ifp->if_media),
	    "Ethernet autoselect");
}

/* The node has its name before the interface appears: no ether node then. */
static int
ng_eiface_constructor(node_p node)
{
	struct vnet *vnet = ng_node_vnet(node);
	uint8_t mac[ETHER_ADDR_LEN];
	struct ng_eiface *ei;
	int error;

	if ((ei = calloc(1, sizeof(*ei))) == NULL)
		return (ENOMEM);
	error = ng_ifnode_alloc(&ng_eifaces, &ei->ei_in, node,
	    NG_EIFACE_EIFACE_NAME, IFT_ETHER);
	if (error != 0)
		goto free_eiface;
	ng_eiface_init_ifp(ei);
	ng_eiface_mac(vnet, ei->ei_in.in_ifp->if_name, mac);
	error = if_setlladdr(ei->ei_in.in_ifp, mac);
	if (error != 0)
		goto free_ifnode;
	ng_node_set_private(node, ei);
	error = ng_ifnode_attach(&ei->ei_in);
	if (error != 0)
		goto free_ifnode;
	return (0);
free_ifnode:
	ng_ifnode_free(&ei->ei_in);
free_eiface:
	free(ei);
	return (error);
}

static void
ng_eiface_shutdown(node_p node)
{
	struct ng_eiface *ei = ng_node_private(node);

	if_detach(ei->ei_in.in_ifp);
	ng_ifnode_free(&ei->ei_in);
	free(ei);
}

/* ---- Tunable ---- */

static int
ng_eiface_get_needsepoch(void *arg, char *buf, size_t len)
{

	(void)arg;
	VNET_CONFIG_LOCK(NULL);
	snprintf(buf, len, "%d", ng_eiface_needsepoch);
	VNET_CONFIG_UNLOCK(NULL);
	return (0);
}

static int
ng_eiface_set_needsepoch(void *arg, const char *text, char *err, size_t len)
{
	struct ng_ifnode *in;

	(void)arg;
	if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0) {
		snprintf(err, len, "expected 0 or 1, got '%s'", text);
		return (EINVAL);
	}
	VNET_CONFIG_LOCK(NULL);
	ng_eiface_needsepoch = text[0] == '1';
	LIST_FOREACH(in, &ng_eifaces, in_link)
		if (ng_eiface_needsepoch)
			atomic_fetch_or_explicit(&in->in_ifp->if_flags,
			    IFF_NEEDSEPOCH, memory_order_relaxed);
		else
			atomic_fetch_and_explicit(&in->in_ifp->if_flags,
			    ~(uint32_t)IFF_NEEDSEPOCH, memory_order_relaxed);
	VNET_CONFIG_UNLOCK(NULL);
	return (0);
}

/* A tunable stays when its type is unloaded, so it may be there already. */
static int
ng_eiface_attach(struct vnet *vnet)
{
	int error;

	error = sysctl_add_string(vnet->v_sysctl,
	    "net.graph.eiface.needsepoch", CTLFLAG_RW,
	    ng_eiface_get_needsepoch, ng_eiface_set_needsepoch, NULL,
	    "enter the net epoch once more for each burst of an eiface: for "
	    "measuring what that costs");
	return (error == EEXIST ? 0 : error);
}

/* ---- Text ---- */

static const struct ng_cmdlist ng_eiface_cmds[] = {
	{ NGM_EIFACE_COOKIE, NGM_EIFACE_GET_IFNAME, "getifname", NULL,
	    &ng_ifname_type },
	{ NGM_EIFACE_COOKIE, NGM_EIFACE_SET, "set", &ng_parse_enaddr_type,
	    NULL },
	{ 0, 0, NULL, NULL, NULL },
};

const struct ng_type ng_eiface_type = {
	.version = NG_ABI_VERSION,
	.flags = NGTF_PERSISTENT,
	.name = NG_EIFACE_NODE_TYPE,
	.constructor = ng_eiface_constructor,
	.rcvmsg = ng_eiface_rcvmsg,
	.shutdown = ng_eiface_shutdown,
	.newhook = ng_eiface_newhook,
	.connect = ng_eiface_connect,
	.rcvdata = ng_eiface_rcvdata,
	.disconnect = ng_eiface_disconnect,
	.cmdlist = ng_eiface_cmds,
	.attach = ng_eiface_attach,
};
