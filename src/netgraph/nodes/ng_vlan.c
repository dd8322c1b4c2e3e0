/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * vlan: frames with tags on one side, downstream, and a hook for each VLAN on
 * the other; what has no tag, or none that a filter names, goes by nomatch
 * (IEEE 802.1Q).
 *
 * A filter is a slot of the table of VLANs, set by control work and read by
 * the data methods of downstream, and the tag in its hook's private struct,
 * read by those of that hook.  The node's settings are one word.  So data
 * reads atomics and nothing else.
 *
 * A frame's tag may stand in it or beside it (M_VLANTAG).  A frame that gets a
 * tag written into it and has one beside it carries both then, the new one
 * outside.
 *
 * Keys: c is the configuration lock.
 */
#include <netgraph/ng_vlan.h>

#include <arpa/inet.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netepoch/epoch.h>

#include "netgraph/nodes/ng_frame.h"
#include "netgraph/nodes/ng_nodes.h"
#include "netgraph/nodes/ng_stat.h"
#include "wire/ether.h"

#define	VLAN_VIDS	(EVL_VLID_MASK + 1)

/* The settings: an EtherType in the low bits, and these. */
#define	VLAN_CONF_PROTO	0x0000ffff
#define	VLAN_CONF_ENCAP_SHIFT 16
#define	VLAN_CONF_ENCAP(c) ((c) >> VLAN_CONF_ENCAP_SHIFT & 3)
#define	VLAN_CONF_DECAP	0x00040000

#define	VLAN_TAG_VALID	0x00010000	/* the hook has a filter */

struct vlan_hook {
	_Atomic uint32_t vh_tag;	/* (a) relaxed: VALID and the tag */
};

struct vlan {
	_Atomic uint32_t vl_conf;	/* (a) relaxed */
	_Atomic(hook_p)	 vl_downstream;	/* (a) ng_hook_load/store */
	_Atomic(hook_p)	 vl_nomatch;	/* (a) the same */
	uint32_t	 vl_nfilters;	/* (c) */
	_Atomic(hook_p)	 vl_vid[VLAN_VIDS]; /* (a) the same */
};

static inline uint32_t
vlan_conf(struct vlan *vl)
{

	return (atomic_load_explicit(&vl->vl_conf, memory_order_relaxed));
}

static inline uint32_t
vlan_tag(struct vlan_hook *vh)
{

	return (atomic_load_explicit(&vh->vh_tag, memory_order_relaxed));
}

static int
ng_vlan_constructor(node_p node)
{
	struct vlan *vl;

	if ((vl = calloc(1, sizeof(*vl))) == NULL)
		return (ENOMEM);
	atomic_init(&vl->vl_conf, ETHERTYPE_VLAN |
	    VLAN_ENCAP_FROM_FILTER << VLAN_CONF_ENCAP_SHIFT);
	ng_node_set_private(node, vl);
	return (0);
}

/* ---- Data ---- */

/* One frame from downstream: out of its VLAN's hook without the tag. */
static void
vlan_input(struct vlan *vl, struct ng_scatter *sc, struct mbuf *m)
{
	uint32_t conf = vlan_conf(vl);
	struct ether_vlan_header *evl;
	bool beside = (m->m_flags & M_VLANTAG) != 0;
	uint16_t tag;
	hook_p hook;

	if ((m = ng_frame_pullup(sc, m, ETHER_HDR_LEN)) == NULL)
		return;
	evl = mtod(m, struct ether_vlan_header *);
	if (!beside && ntohs(evl->evl_encap_proto) !=
	    (conf & VLAN_CONF_PROTO))
		goto nomatch;
	if (beside)
		tag = m->m_pkthdr.ether_vtag;
	else {
		if ((m = ng_frame_pullup(sc, m, sizeof(*evl))) == NULL)
			return;
		evl = mtod(m, struct ether_vlan_header *);
		tag = ntohs(evl->evl_tag);
	}
	hook = ng_hook_load(&vl->vl_vid[ether_tag_vid(tag)]);
	if (hook != NULL) {
		m->m_flags &= ~(uint32_t)M_VLANTAG;
		if (!beside)
			(void)ng_tag_pop(m);
		ng_scatter_add(sc, hook, m);
		return;
	}
	if (!beside && (conf & VLAN_CONF_DECAP) != 0) {
		m->m_pkthdr.ether_vtag = ng_tag_pop(m);
		m->m_pkthdr.ether_vproto = conf & VLAN_CONF_PROTO;
		m->m_flags |= M_VLANTAG;
	}
nomatch:
	ng_scatter_send(sc, ng_hook_load(&vl->vl_nomatch), m, ENETDOWN);
}

static int
ng_vlan_rcvdata_downstream(hook_p hook, item_p item)
{
	struct vlan *vl = ng_node_private(ng_hook_node(hook));
	struct ng_scatter sc;

	NET_EPOCH_ASSERT();

	ng_scatter_init(&sc);
	for (unsigned int i = 0; i < item->it_n; i++)
		vlan_input(vl, &sc, item->it_m[i]);
	return (ng_scatter_flush(&sc));
}

static int
ng_vlan_rcvdata_nomatch(hook_p hook, item_p item)
{
	struct vlan *vl = ng_node_private(ng_hook_node(hook));
	uint32_t conf = vlan_conf(vl);
	hook_p down = ng_hook_load(&vl->vl_downstream);
	struct ng_scatter sc;
	struct mbuf *m;

	NET_EPOCH_ASSERT();

	if ((VLAN_CONF_ENCAP(conf) & VLAN_ENCAP_FROM_NOMATCH) == 0)
		return (ng_item_send(item, down, ENETDOWN));
	ng_scatter_init(&sc);
	for (unsigned int i = 0; i < item->it_n; i++) {
		m = ng_frame_pullup(&sc, item->it_m[i], ETHER_HDR_LEN);
		if (m == NULL)
			continue;
		m->m_pkthdr.ether_vproto = conf & VLAN_CONF_PROTO;
		if ((m = ng_tag_inband(m)) == NULL)
			sc.sc_error = ENOBUFS;
		else
			ng_scatter_send(&sc, down, m, ENETDOWN);
	}
	return (ng_scatter_flush(&sc));
}

/* The frame with the tag of its VLAN; NULL: no memory. */
static struct mbuf *
vlan_output(struct mbuf *m, uint32_t conf, uint16_t tag)
{
	uint16_t proto = conf & VLAN_CONF_PROTO;

	m = ng_tag_inband(m);
	if (m == NULL)
		return (NULL);
	if ((VLAN_CONF_ENCAP(conf) & VLAN_ENCAP_FROM_FILTER) != 0)
		return (ng_tag_push(m, proto, tag));
	m->m_pkthdr.ether_vtag = tag;
	m->m_pkthdr.ether_vproto = proto;
	m->m_flags |= M_VLANTAG;
	return (m);
}

/* From the hook of a VLAN. */
static int
ng_vlan_rcvdata(hook_p hook, item_p item)
{
	struct vlan *vl = ng_node_private(ng_hook_node(hook));
	uint32_t tag = vlan_tag(ng_hook_private(hook)), conf = vlan_conf(vl);
	hook_p down = ng_hook_load(&vl->vl_downstream);
	struct ng_scatter sc;
	struct mbuf *m;

	NET_EPOCH_ASSERT();

	if ((tag & VLAN_TAG_VALID) == 0)
		return (ng_item_send(item, NULL, EOPNOTSUPP));
	ng_scatter_init(&sc);
	for (unsigned int i = 0; i < item->it_n; i++) {
		m = ng_frame_pullup(&sc, item->it_m[i], ETHER_HDR_LEN);
		if (m == NULL)
			continue;
		if ((m = vlan_output(m, conf, (uint16_t)tag)) == NULL)
			sc.sc_error = ENOBUFS;
		else
			ng_scatter_send(&sc, down, m, ENETDOWN);
	}
	return (ng_scatter_flush(&sc));
}

/* ---- Hooks ---- */

/* The place of one of the two special hooks, or NULL. */
static _Atomic(hook_p) *
vlan_special(struct vlan *vl, const char *name)
{

	if (strcmp(name, NG_VLAN_HOOK_DOWNSTREAM) == 0)
		return (&vl->vl_downstream);
	if (strcmp(name, NG_VLAN_HOOK_NOMATCH) == 0)
		return (&vl->vl_nomatch);
	return (NULL);
}

static int
ng_vlan_newhook(node_p node, hook_p hook, const char *name)
{
	struct vlan *vl = ng_node_private(node);
	struct vlan_hook *vh;
	_Atomic(hook_p) *special = vlan_special(vl, name);

	if (special == NULL) {
		if ((vh = calloc(1, sizeof(*vh))) == NULL)
			return (ENOMEM);
		ng_hook_set_private(hook, vh);
		return (0);
	}
	ng_hook_set_rcvdata(hook, special == &vl->vl_downstream ?
	    ng_vlan_rcvdata_downstream : ng_vlan_rcvdata_nomatch);
	return (0);
}

static int
ng_vlan_connect(hook_p hook)
{
	struct vlan *vl = ng_node_private(ng_hook_node(hook));
	_Atomic(hook_p) *special = vlan_special(vl, ng_hook_name(hook));

	if (special != NULL)
		ng_hook_store(special, hook);
	return (0);
}

/* Forget the filter of a hook; false: it has none. */
static bool
vlan_filter_remove(struct vlan *vl, hook_p hook)
{
	struct vlan_hook *vh = ng_hook_private(hook);
	uint32_t tag = vlan_tag(vh);

	if ((tag & VLAN_TAG_VALID) == 0)
		return (false);
	ng_hook_store(&vl->vl_vid[ether_tag_vid((uint16_t)tag)], NULL);
	atomic_store_explicit(&vh->vh_tag, 0, memory_order_relaxed);
	vl->vl_nfilters--;
	return (true);
}

static void
ng_vlan_disconnect(hook_p hook)
{
	struct vlan *vl = ng_node_private(ng_hook_node(hook));
	_Atomic(hook_p) *special = vlan_special(vl, ng_hook_name(hook));

	if (special != NULL) {
		ng_hook_store(special, NULL);
		return;
	}
	(void)vlan_filter_remove(vl, hook);
	free(ng_hook_private(hook));
}

/* ---- Messages ---- */

/* The VLAN hook of a name; errno value. */
static int
vlan_find(node_p node, const char *arg, hook_p *hookp)
{
	char name[NG_HOOKSIZ];

	memcpy(name, arg, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	*hookp = ng_findhook(node, name);
	if (*hookp == NULL)
		return (ENOENT);
	return (vlan_special(ng_node_private(node), name) != NULL ? EINVAL :
	    0);
}

static int
vlan_addfilter(node_p node, const struct ng_mesg *msg)
{
	struct vlan *vl = ng_node_private(node);
	struct ng_vlan_filter vf;
	struct vlan_hook *vh;
	hook_p hook;
	int error;

	if (msg->header.arglen != sizeof(vf))
		return (EINVAL);
	memcpy(&vf, msg->data, sizeof(vf));
	if (vf.vid == 0)
		vf.vid = vf.vlan;
	if ((vf.vlan != 0 && vf.vlan != vf.vid) || vf.vid >= VLAN_VIDS ||
	    vf.pcp > 7 || vf.cfi > 1)
		return (EINVAL);
	error = vlan_find(node, vf.hook_name, &hook);
	if (error != 0)
		return (error);
	vh = ng_hook_private(hook);
	if ((vlan_tag(vh) & VLAN_TAG_VALID) != 0 ||
	    ng_hook_load(&vl->vl_vid[vf.vid]) != NULL)
		return (EEXIST);
	atomic_store_explicit(&vh->vh_tag, VLAN_TAG_VALID |
	    ether_tag_make(vf.vid, vf.pcp, vf.cfi != 0),
	    memory_order_relaxed);
	ng_hook_store(&vl->vl_vid[vf.vid], hook);
	vl->vl_nfilters++;
	return (0);
}

static int
vlan_delfilter(node_p node, const struct ng_mesg *msg)
{
	hook_p hook;
	int error;

	if (msg->header.arglen != NG_HOOKSIZ)
		return (EINVAL);
	error = vlan_find(node, msg->data, &hook);
	if (error != 0)
		return (error);
	return (vlan_filter_remove(ng_node_private(node), hook) ? 0 :
	    ENOENT);
}

static int
vlan_delvid(struct vlan *vl, const struct ng_mesg *msg)
{
	uint16_t vid;
	hook_p hook;

	if (msg->header.arglen != sizeof(vid))
		return (EINVAL);
	memcpy(&vid, msg->data, sizeof(vid));
	if (vid >= VLAN_VIDS)
		return (EINVAL);
	hook = ng_hook_load(&vl->vl_vid[vid]);
	if (hook == NULL)
		return (ENOENT);
	(void)vlan_filter_remove(vl, hook);
	return (0);
}

static int
vlan_gettable(struct vlan *vl, struct ng_request *rq)
{
	size_t len = sizeof(struct ng_vlan_table) +
	    vl->vl_nfilters * sizeof(struct ng_vlan_filter);
	struct ng_vlan_filter *vf;
	struct ng_vlan_table *vt;
	uint16_t tag;
	hook_p hook;
	int error;

	if (ng_request_msg(rq)->header.arglen != 0)
		return (EINVAL);
	if ((vt = calloc(1, len)) == NULL)
		return (ENOMEM);
	for (uint16_t vid = 0; vid < VLAN_VIDS; vid++) {
		hook = ng_hook_load(&vl->vl_vid[vid]);
		if (hook == NULL)
			continue;
		tag = (uint16_t)vlan_tag(ng_hook_private(hook));
		vf = &vt->filter[vt->n++];
		memcpy(vf->hook_name, ng_hook_name(hook),
		    strlen(ng_hook_name(hook)));
		vf->vlan = vf->vid = vid;
		vf->pcp = ether_tag_pcp(tag);
		vf->cfi = ether_tag_dei(tag);
	}
	error = ng_respond(rq, vt, len);
	free(vt);
	return (error);
}

/* Replace the bits of mask. */
static int
vlan_setconf(struct vlan *vl, uint32_t mask, uint32_t value)
{

	atomic_store_explicit(&vl->vl_conf, (vlan_conf(vl) & ~mask) | value,
	    memory_order_relaxed);
	return (0);
}

/* The three settings, there and back. */
static int
vlan_settings(struct vlan *vl, struct ng_request *rq)
{
	const struct ng_mesg *msg = ng_request_msg(rq);
	uint32_t arglen = msg->header.arglen, conf = vlan_conf(vl), u32 = 0;
	uint16_t u16 = 0;

	switch (msg->header.cmd) {
	case NGM_VLAN_GET_DECAP:
		u32 = (conf & VLAN_CONF_DECAP) != 0;
		break;
	case NGM_VLAN_GET_ENCAP:
		u32 = VLAN_CONF_ENCAP(conf);
		break;
	case NGM_VLAN_GET_ENCAP_PROTO:
		u16 = conf & VLAN_CONF_PROTO;
		return (arglen != 0 ? EINVAL :
		    ng_respond(rq, &u16, sizeof(u16)));
	case NGM_VLAN_SET_ENCAP_PROTO:
		if (arglen != sizeof(u16))
			return (EINVAL);
		memcpy(&u16, msg->data, sizeof(u16));
		return (vlan_setconf(vl, VLAN_CONF_PROTO, u16));
	default:
		if (arglen != sizeof(u32))
			return (EINVAL);
		memcpy(&u32, msg->data, sizeof(u32));
		if (msg->header.cmd == NGM_VLAN_SET_DECAP)
			return (vlan_setconf(vl, VLAN_CONF_DECAP,
			    u32 != 0 ? VLAN_CONF_DECAP : 0));
		return (vlan_setconf(vl, 3 << VLAN_CONF_ENCAP_SHIFT,
		    (u32 & 3) << VLAN_CONF_ENCAP_SHIFT));
	}
	return (arglen != 0 ? EINVAL : ng_respond(rq, &u32, sizeof(u32)));
}

/* The state of the link below, told to all VLANs. */
static int
vlan_flow(node_p node, const struct ng_msghdr *hdr, hook_p lasthook)
{
	struct vlan *vl = ng_node_private(node);
	hook_p hook, next;

	if (hdr->arglen != 0 || (hdr->cmd != NGM_LINK_IS_UP &&
	    hdr->cmd != NGM_LINK_IS_DOWN))
		return (EINVAL);
	if (lasthook == NULL || lasthook != ng_hook_load(&vl->vl_downstream))
		return (0);
	for (hook = ng_hook_next(node, NULL); hook != NULL; hook = next) {
		next = ng_hook_next(node, hook);
		if (vlan_special(vl, ng_hook_name(hook)) == NULL &&
		    (vlan_tag(ng_hook_private(hook)) & VLAN_TAG_VALID) != 0)
			(void)ng_send_flow(node, hook, hdr->cmd);
	}
	return (0);
}

static int
ng_vlan_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	const struct ng_mesg *msg = ng_request_msg(rq);
	struct vlan *vl = ng_node_private(node);

	if (msg->header.typecookie == NGM_FLOW_COOKIE)
		return (vlan_flow(node, &msg->header, lasthook));
	if (msg->header.typecookie != NGM_VLAN_COOKIE)
		return (EINVAL);
	switch (msg->header.cmd) {
	case NGM_VLAN_ADD_FILTER:
		return (vlan_addfilter(node, msg));
	case NGM_VLAN_DEL_FILTER:
		return (vlan_delfilter(node, msg));
	case NGM_VLAN_GET_TABLE:
		return (vlan_gettable(vl, rq));
	case NGM_VLAN_DEL_VID_FLT:
		return (vlan_delvid(vl, msg));
	case NGM_VLAN_GET_DECAP:
	case NGM_VLAN_SET_DECAP:
	case NGM_VLAN_GET_ENCAP:
	case NGM_VLAN_SET_ENCAP:
	case NGM_VLAN_GET_ENCAP_PROTO:
	case NGM_VLAN_SET_ENCAP_PROTO:
		return (vlan_settings(vl, rq));
	default:
		return (EINVAL);
	}
}

static void
ng_vlan_shutdown(node_p node)
{

	free(ng_node_private(node));
}

/* ---- Text ---- */

static const struct ng_parse_struct_field ng_vlan_filter_fields[] = {
	{ "hook", &ng_parse_hookbuf_type, 0 },
	{ "vlan", &ng_parse_uint16_type, 0 },
	{ "vid", &ng_parse_uint16_type, 0 },
	{ "pcp", &ng_parse_uint8_type, 0 },
	{ "cfi", &ng_parse_uint8_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_vlan_filter_type = {
	.supertype = &ng_parse_struct_type, .info = ng_vlan_filter_fields,
};

static const struct ng_parse_array_info ng_vlan_filters_info = {
	.elementType = &ng_vlan_filter_type,
	.getLength = ng_parse_count_first,
};
static const struct ng_parse_type ng_vlan_filters_type = {
	.supertype = &ng_parse_array_type, .info = &ng_vlan_filters_info,
};
static const struct ng_parse_struct_field ng_vlan_table_fields[] = {
	{ "n", &ng_parse_uint32_type, 0 },
	{ "filter", &ng_vlan_filters_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_vlan_table_type = {
	.supertype = &ng_parse_struct_type, .info = ng_vlan_table_fields,
};

static const struct ng_cmdlist ng_vlan_cmds[] = {
	{ NGM_VLAN_COOKIE, NGM_VLAN_ADD_FILTER, "addfilter",
	    &ng_vlan_filter_type, NULL },
	{ NGM_VLAN_COOKIE, NGM_VLAN_DEL_FILTER, "delfilter",
	    &ng_parse_hookbuf_type, NULL },
	{ NGM_VLAN_COOKIE, NGM_VLAN_GET_TABLE, "gettable", NULL,
	    &ng_vlan_table_type },
	{ NGM_VLAN_COOKIE, NGM_VLAN_DEL_VID_FLT, "delvidflt",
	    &ng_parse_uint16_type, NULL },
	{ NGM_VLAN_COOKIE, NGM_VLAN_GET_DECAP, "getdecap", NULL,
	    &ng_parse_hint32_type },
	{ NGM_VLAN_COOKIE, NGM_VLAN_SET_DECAP, "setdecap",
	    &ng_parse_hint32_type, NULL },
	{ NGM_VLAN_COOKIE, NGM_VLAN_GET_ENCAP, "getencap", NULL,
	    &ng_parse_hint32_type },
	{ NGM_VLAN_COOKIE, NGM_VLAN_SET_ENCAP, "setencap",
	    &ng_parse_hint32_type, NULL },
	{ NGM_VLAN_COOKIE, NGM_VLAN_GET_ENCAP_PROTO, "getencapproto", NULL,
	    &ng_parse_hint16_type },
	{ NGM_VLAN_COOKIE, NGM_VLAN_SET_ENCAP_PROTO, "setencapproto",
	    &ng_parse_hint16_type, NULL },
	{ .name = NULL },
};

const struct ng_type ng_vlan_type = {
	.version = NG_ABI_VERSION,
	.name = NG_VLAN_NODE_TYPE,
	.constructor = ng_vlan_constructor,
	.rcvmsg = ng_vlan_rcvmsg,
	.shutdown = ng_vlan_shutdown,
	.newhook = ng_vlan_newhook,
	.connect = ng_vlan_connect,
	.rcvdata = ng_vlan_rcvdata,
	.disconnect = ng_vlan_disconnect,
	.cmdlist = ng_vlan_cmds,
};
