/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * vlan_rotate: turns the tags of stacked VLANs round, one way from original to
 * ordered, the other way back; frames with too many or too few tags leave by
 * hooks of their own (IEEE 802.1Q, 802.1ad).
 *
 * The hooks are fixed places, the settings are one word: data methods read
 * atomics and nothing else, and turn the tags where they lie.  A tag that
 * stands beside the frame is written into it first, it is the outermost one.
 */
#include <netgraph/ng_vlan_rotate.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netepoch/epoch.h>

#include "netgraph/nodes/ng_frame.h"
#include "netgraph/nodes/ng_nodes.h"
#include "netgraph/nodes/ng_stat.h"
#include "wire/ether.h"

#define	VR_TAGS_OFF	(2 * ETHER_ADDR_LEN)
#define	VR_LOOK		(VR_TAGS_OFF + \
	    NG_VLANROTATE_MAX_VLANS * ETHER_VLAN_ENCAP_LEN + ETHER_TYPE_LEN)

enum { VR_ORIGINAL, VR_ORDERED, VR_EXCESSIVE, VR_INCOMPLETE, VR_SIDES };

/* The order of struct ng_vlanrotate_stat. */
enum { VRS_DROPS, VRS_EXCESSIVE, VRS_INCOMPLETE, VRS_HISTOGRAM,
	VRS_COUNT = VRS_HISTOGRAM + NG_VLANROTATE_MAX_VLANS };

struct vlan_rotate {
	_Atomic uint32_t vr_conf;	/* (a) relaxed: vr_pack() */
	_Atomic(hook_p)	 vr_hook[VR_SIDES]; /* (a) ng_hook_load/store */
	struct ng_stat	 vr_stat;
};

static const char *const vr_names[VR_SIDES] = {
	[VR_ORIGINAL] = NG_VLANROTATE_HOOK_ORIGINAL,
	[VR_ORDERED] = NG_VLANROTATE_HOOK_ORDERED,
	[VR_EXCESSIVE] = NG_VLANROTATE_HOOK_EXCESSIVE,
	[VR_INCOMPLETE] = NG_VLANROTATE_HOOK_INCOMPLETE,
};

static uint32_t
vr_pack(const struct ng_vlanrotate_conf *conf)
{

	return ((uint32_t)conf->max << 16 | (uint32_t)conf->min << 8 |
	    (uint8_t)conf->rot);
}

static struct ng_vlanrotate_conf
vr_conf(struct vlan_rotate *vr)
{
	uint32_t word = atomic_load_explicit(&vr->vr_conf,
	    memory_order_relaxed);

	return ((struct ng_vlanrotate_conf){
		.rot = (int8_t)(word & 0xff),
		.min = (uint8_t)(word >> 8 & 0xff),
		.max = (uint8_t)(word >> 16),
	});
}

static int
ng_vlanrotate_constructor(node_p node)
{
	static const struct ng_vlanrotate_conf conf = {
		.max = NG_VLANROTATE_MAX_VLANS,
	};
	struct vlan_rotate *vr;
	int error;

	if ((vr = calloc(1, sizeof(*vr))) == NULL)
		return (ENOMEM);
	error = ng_stat_init(&vr->vr_stat, VRS_COUNT);
	if (error != 0) {
		free(vr);
		return (error);
	}
	atomic_init(&vr->vr_conf, vr_pack(&conf));
	ng_node_set_private(node, vr);
	return (0);
}

/* ---- Data ---- */

static bool
vr_is_tag(const uint8_t *p)
{

	switch (p[0] << 8 | p[1]) {
	case ETHERTYPE_VLAN:
	case ETHERTYPE_QINQ:
	case 0x9100:		/* what came before 802.1ad */
	case 0x9200:
	case 0x9300:
		return (true);
	default:
		return (false);
	}
}

/* Whole tags of a frame of which len bytes can be read. */
static unsigned int
vr_count(const uint8_t *frame, uint32_t len)
{
	unsigned int n = 0;
	uint32_t off = VR_TAGS_OFF;

	while (n < NG_VLANROTATE_MAX_VLANS &&
	    off + ETHER_VLAN_ENCAP_LEN <= len && vr_is_tag(frame + off)) {
		off += ETHER_VLAN_ENCAP_LEN;
		n++;
	}
	return (n);
}

/* Move each of n tags by places (-n < by < n) inwards, the last ones out. */
static void
vr_turn(uint8_t *tags, unsigned int n, int by)
{
	uint8_t old[NG_VLANROTATE_MAX_VLANS * ETHER_VLAN_ENCAP_LEN];
	size_t size = (size_t)n * ETHER_VLAN_ENCAP_LEN, front;

	if (by < 0)
		by += (int)n;
	front = (size_t)by * ETHER_VLAN_ENCAP_LEN;
	memcpy(old, tags, size);
	memcpy(tags, old + size - front, front);
	memcpy(tags + front, old, size - front);
}

/* The hook that a frame with n tags leaves by, if not by the main one. */
static int
vr_side(struct vlan_rotate *vr, struct ng_vlanrotate_conf conf, unsigned int n,
    int to)
{

	if (n < NG_VLANROTATE_MAX_VLANS)
		ng_stat_add(&vr->vr_stat, VRS_HISTOGRAM + n, 1);
	if (n > conf.max || n >= NG_VLANROTATE_MAX_VLANS) {
		ng_stat_add(&vr->vr_stat, VRS_EXCESSIVE, 1);
		return (VR_EXCESSIVE);
	}
	if (n < conf.min || n <= (unsigned int)abs(conf.rot)) {
		ng_stat_add(&vr->vr_stat, VRS_INCOMPLETE, 1);
		return (VR_INCOMPLETE);
	}
	return (to);
}

/* One frame on its way to one of the two main hooks. */
static void
vr_frame(struct vlan_rotate *vr, struct ng_scatter *sc, struct mbuf *m, int to)
{
	struct ng_vlanrotate_conf conf = vr_conf(vr);
	int side;
	uint32_t look;
	unsigned int n;
	hook_p hook;

	if ((m = ng_frame_pullup(sc, m, ETHER_HDR_LEN)) == NULL)
		goto dropped;
	if ((m = ng_tag_inband(m)) == NULL) {
		sc->sc_error = ENOBUFS;
		goto dropped;
	}
	look = m->m_pkthdr.len < VR_LOOK ? m->m_pkthdr.len : VR_LOOK;
	if ((m = ng_frame_pullup(sc, m, look)) == NULL)
		goto dropped;
	n = vr_count(mtod(m, const uint8_t *), look);
	side = vr_side(vr, conf, n, to);
	hook = ng_hook_load(&vr->vr_hook[side]);
	if (hook == NULL) {
		ng_scatter_drop(sc, m, side == to ? ENETDOWN : ENOSYS);
		goto dropped;
	}
	if (side == to && conf.rot != 0)
		vr_turn(mtodo(m, VR_TAGS_OFF), n,
		    to == VR_ORDERED ? conf.rot : -conf.rot);
	ng_scatter_add(sc, hook, m);
	return;
dropped:
	ng_stat_add(&vr->vr_stat, VRS_DROPS, 1);
}

static int
vr_burst(hook_p hook, item_p item, int to)
{
	struct vlan_rotate *vr = ng_node_private(ng_hook_node(hook));
	struct ng_scatter sc;

	NET_EPOCH_ASSERT();

	ng_scatter_init(&sc);
	for (unsigned int i = 0; i < item->it_n; i++)
		vr_frame(vr, &sc, item->it_m[i], to);
	return (ng_scatter_flush(&sc));
}

static int
ng_vlanrotate_rcvdata_original(hook_p hook, item_p item)
{

	return (vr_burst(hook, item, VR_ORDERED));
}

static int
ng_vlanrotate_rcvdata_ordered(hook_p hook, item_p item)
{

	return (vr_burst(hook, item, VR_ORIGINAL));
}

/* What somebody has put right by hand. */
static int
ng_vlanrotate_rcvdata(hook_p hook, item_p item)
{
	struct vlan_rotate *vr = ng_node_private(ng_hook_node(hook));
	hook_p to = ng_hook_load(&vr->vr_hook[VR_ORIGINAL]);

	NET_EPOCH_ASSERT();

	if (to == NULL)
		ng_stat_add(&vr->vr_stat, VRS_DROPS, item->it_n);
	return (ng_item_send(item, to, ENETDOWN));
}

/* ---- Hooks ---- */

static int
vr_find(const char *name)
{
	int i;

	for (i = 0; i < VR_SIDES && strcmp(name, vr_names[i]) != 0; i++)
		continue;
	return (i);
}

static int
ng_vlanrotate_newhook(node_p node, hook_p hook, const char *name)
{

	(void)node;
	switch (vr_find(name)) {
	case VR_ORIGINAL:
		ng_hook_set_rcvdata(hook, ng_vlanrotate_rcvdata_original);
		return (0);
	case VR_ORDERED:
		ng_hook_set_rcvdata(hook, ng_vlanrotate_rcvdata_ordered);
		return (0);
	case VR_SIDES:
		return (EINVAL);
	default:
		return (0);
	}
}

static int
ng_vlanrotate_connect(hook_p hook)
{
	struct vlan_rotate *vr = ng_node_private(ng_hook_node(hook));

	ng_hook_store(&vr->vr_hook[vr_find(ng_hook_name(hook))], hook);
	return (0);
}

static void
ng_vlanrotate_disconnect(hook_p hook)
{
	struct vlan_rotate *vr = ng_node_private(ng_hook_node(hook));

	ng_hook_store(&vr->vr_hook[vr_find(ng_hook_name(hook))], NULL);
}

/* ---- Messages ---- */

static int
vr_setconf(struct vlan_rotate *vr, const struct ng_mesg *msg)
{
	struct ng_vlanrotate_conf conf;

	if (msg->header.arglen != sizeof(conf))
		return (EINVAL);
	memcpy(&conf, msg->data, sizeof(conf));
	if (conf.max == 0)
		conf.max = vr_conf(vr).max;
	if (conf.max > NG_VLANROTATE_MAX_VLANS || conf.min > conf.max ||
	    abs(conf.rot) >= conf.max)
		return (EINVAL);
	atomic_store_explicit(&vr->vr_conf, vr_pack(&conf),
	    memory_order_relaxed);
	return (0);
}

static int
ng_vlanrotate_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	const struct ng_mesg *msg = ng_request_msg(rq);
	struct vlan_rotate *vr = ng_node_private(node);
	struct ng_vlanrotate_conf conf;

	(void)lasthook;
	if (msg->header.typecookie != NGM_VLANROTATE_COOKIE)
		return (EINVAL);
	if (msg->header.cmd == NGM_VLANROTATE_SET_CONF)
		return (vr_setconf(vr, msg));
	if (msg->header.arglen != 0)
		return (EINVAL);
	if (msg->header.cmd == NGM_VLANROTATE_GET_CONF) {
		conf = vr_conf(vr);
		return (ng_respond(rq, &conf, sizeof(conf)));
	}
	return (ng_stat_rcvmsg(rq, NGM_VLANROTATE_GET_STAT, &vr->vr_stat, 1));
}

static void
ng_vlanrotate_shutdown(node_p node)
{
	struct vlan_rotate *vr = ng_node_private(node);

	ng_stat_fini(&vr->vr_stat);
	free(vr);
}

/* ---- Text ---- */

static const struct ng_parse_struct_field ng_vlanrotate_conf_fields[] = {
	{ "rot", &ng_parse_int8_type, 0 },
	{ "min", &ng_parse_uint8_type, 0 },
	{ "max", &ng_parse_uint8_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_vlanrotate_conf_type = {
	.supertype = &ng_parse_struct_type,
	.info = ng_vlanrotate_conf_fields,
};
static const struct ng_parse_fixedarray_info ng_vlanrotate_hist_info = {
	.elementType = &ng_parse_uint64_type,
	.length = NG_VLANROTATE_MAX_VLANS,
};
static const struct ng_parse_type ng_vlanrotate_hist_type = {
	.supertype = &ng_parse_fixedarray_type,
	.info = &ng_vlanrotate_hist_info,
};
static const struct ng_parse_struct_field ng_vlanrotate_stat_fields[] = {
	{ "drops", &ng_parse_uint64_type, 0 },
	{ "excessive", &ng_parse_uint64_type, 0 },
	{ "incomplete", &ng_parse_uint64_type, 0 },
	{ "histogram", &ng_vlanrotate_hist_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_vlanrotate_stat_type = {
	.supertype = &ng_parse_struct_type,
	.info = ng_vlanrotate_stat_fields,
};

static const struct ng_cmdlist ng_vlanrotate_cmds[] = {
	{ NGM_VLANROTATE_COOKIE, NGM_VLANROTATE_GET_CONF, "getconf", NULL,
	    &ng_vlanrotate_conf_type },
	{ NGM_VLANROTATE_COOKIE, NGM_VLANROTATE_SET_CONF, "setconf",
	    &ng_vlanrotate_conf_type, NULL },
	{ NGM_VLANROTATE_COOKIE, NGM_VLANROTATE_GET_STAT, "getstat", NULL,
	    &ng_vlanrotate_stat_type },
	{ NGM_VLANROTATE_COOKIE, NGM_VLANROTATE_CLR_STAT, "clrstat", NULL,
	    NULL },
	{ NGM_VLANROTATE_COOKIE, NGM_VLANROTATE_GETCLR_STAT, "getclrstat",
	    NULL, &ng_vlanrotate_stat_type },
	{ .name = NULL },
};

const struct ng_type ng_vlan_rotate_type = {
	.version = NG_ABI_VERSION,
	.name = NG_VLANROTATE_NODE_TYPE,
	.constructor = ng_vlanrotate_constructor,
	.rcvmsg = ng_vlanrotate_rcvmsg,
	.shutdown = ng_vlanrotate_shutdown,
	.newhook = ng_vlanrotate_newhook,
	.connect = ng_vlanrotate_connect,
	.rcvdata = ng_vlanrotate_rcvdata,
	.disconnect = ng_vlanrotate_disconnect,
	.cmdlist = ng_vlanrotate_cmds,
};
