/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * patch: changes bytes of what goes from in to out, as a list of operations
 * says; the other way nothing is changed.
 *
 * The list is behind one atomic pointer, the old one is freed a grace period
 * after it was replaced.  An operation takes one to eight bytes as a number in
 * network order.  Offsets are 32 bits of a stranger's: whatever does not lie
 * in the packet is left out.
 *
 * FreeBSD asks the interface that sends the packet to make its checksums
 * again (csum_flags, the bits are the same).  Here the node makes them: any
 * node may come next.
 */
#include <netgraph/ng_patch.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netepoch/epoch.h>

#include "netgraph/nodes/ng_frame.h"
#include "netgraph/nodes/ng_nodes.h"
#include "netgraph/nodes/ng_stat.h"
#include "wire/ether.h"
#include "wire/in_cksum.h"
#include "wire/ip.h"
#include "wire/ip6.h"

#define	PATCH_DLT_ETHER	1
#define	PATCH_DLT_RAW	12

/* The order of struct ng_patch_stats. */
enum { PATCHS_RECEIVED, PATCHS_PATCHED, PATCHS_DROPPED, PATCHS_COUNT };
enum { PATCH_IN, PATCH_OUT, PATCH_SIDES };

struct patch_conf {
	struct epoch_context pc_ctx;	/* (o) */
	size_t		 pc_len;	/* (c) constant: of pc_conf, bytes */
	struct ng_patch_config pc_conf;	/* (c) constant; comes last */
};

struct patch {
	_Atomic(struct patch_conf *) pa_conf; /* (a) acquire/release */
	_Atomic uint8_t	 pa_dlt;	/* (a) relaxed */
	_Atomic(hook_p)	 pa_hook[PATCH_SIDES]; /* (a) ng_hook_load/store */
	struct ng_stat	 pa_stat;
};

static const char *const patch_names[PATCH_SIDES] = {
	[PATCH_IN] = NG_PATCH_HOOK_IN,
	[PATCH_OUT] = NG_PATCH_HOOK_OUT,
};

static int
ng_patch_constructor(node_p node)
{
	struct patch *pa;
	int error;

	if ((pa = calloc(1, sizeof(*pa))) == NULL)
		return (ENOMEM);
	error = ng_stat_init(&pa->pa_stat, PATCHS_COUNT);
	if (error != 0) {
		free(pa);
		return (error);
	}
	atomic_init(&pa->pa_dlt, PATCH_DLT_RAW);
	ng_node_set_private(node, pa);
	return (0);
}

/* ---- Bytes of a packet, which has them ---- */

static void
patch_store(struct mbuf *m, uint32_t off, const uint8_t *from, uint32_t len)
{

	for (; off >= m->m_len; m = m->m_next)
		off -= m->m_len;
	for (; len != 0; len--) {
		while (off == m->m_len) {
			m = m->m_next;
			off = 0;
		}
		*(uint8_t *)mtodo(m, off) = *from++;
		off++;
	}
}

static uint16_t
patch_get16(const struct mbuf *m, uint32_t off)
{
	uint16_t value;

	m_copydata(m, off, sizeof(value), &value);
	return (ntohs(value));
}

/* ---- Operations ---- */

static uint64_t
patch_mask(uint16_t length)
{

	return (UINT64_MAX >> (64 - 8 * length));
}

static uint64_t
patch_value(uint64_t old, const struct ng_patch_op *op)
{
	uint64_t value = op->value & patch_mask(op->length);

	switch (op->mode) {
	case NG_PATCH_MODE_SET:
		return (value);
	case NG_PATCH_MODE_ADD:
		return (old + value);
	case NG_PATCH_MODE_SUB:
		return (old - value);
	case NG_PATCH_MODE_MUL:
		return (old * value);
	case NG_PATCH_MODE_DIV:
		return (old / value);	/* patch_check() */
	case NG_PATCH_MODE_NEG:
		return (-old);
	case NG_PATCH_MODE_AND:
		return (old & value);
	case NG_PATCH_MODE_OR:
		return (old | value);
	case NG_PATCH_MODE_XOR:
		return (old ^ value);
	case NG_PATCH_MODE_SHL:
		return (value < 64 ? old << value : 0);
	default:
		return (value < 64 ? old >> value : 0);
	}
}

/* One operation on the bytes from base on.  False: they are not there. */
static bool
patch_op(struct mbuf *m, const struct ng_patch_op *op, uint32_t base)
{
	uint64_t off = (uint64_t)base + op->offset, value = 0;
	uint8_t bytes[sizeof(value)];

	if (off + op->length > m->m_pkthdr.len)
		return (false);
	m_copydata(m, (uint32_t)off, op->length, bytes);
	for (unsigned int i = 0; i < op->length; i++)
		value = value << 8 | bytes[i];
	value = patch_value(value, op);
	for (unsigned int i = op->length; i-- != 0; value >>= 8)
		bytes[i] = (uint8_t)value;
	patch_store(m, (uint32_t)off, bytes, op->length);
	return (true);
}

/* ---- Checksums ---- */

/* Bytes of Ethernet header and tags, at most all there are. */
static uint32_t
patch_l2len(const struct mbuf *m)
{
	uint32_t len = 2 * ETHER_ADDR_LEN;

	while (len + ETHER_VLAN_ENCAP_LEN + ETHER_TYPE_LEN <=
	    m->m_pkthdr.len && ether_type_is_vlan(patch_get16(m, len)))
		len += ETHER_VLAN_ENCAP_LEN;
	len += ETHER_TYPE_LEN;
	return (len < m->m_pkthdr.len ? len : m->m_pkthdr.len);
}

/* Make the checksum at sumoff of len bytes at off, sum is what else it has. */
static void
patch_sum(struct mbuf *m, uint32_t off, uint32_t len, uint32_t sumoff,
    uint32_t sum, bool udp)
{
	static const uint8_t zero[2];
	uint16_t cksum;

	patch_store(m, off + sumoff, zero, sizeof(zero));
	cksum = in_cksum_finish(sum + m_cksum(m, off, len));
	if (udp && cksum == 0)
		cksum = 0xffff;
	patch_store(m, off + sumoff, (const uint8_t *)&cksum, sizeof(cksum));
}

/* The transport of len bytes at off; flags: those of its IP version. */
static void
patch_sum_l4(struct mbuf *m, uint32_t off, uint32_t len, uint8_t proto,
    uint32_t pseudo, bool udp, bool tcp)
{

	if (proto == IPPROTO_UDP && udp && len >= 8)
		patch_sum(m, off, len, 6, pseudo, true);
	else if (proto == IPPROTO_TCP && tcp && len >= 20)
		patch_sum(m, off, len, 16, pseudo, false);
	else
		return;
	/* Nobody has to finish it any more. */
	m->m_pkthdr.csum_flags &= (uint8_t)~CSUM_PARTIAL;
}

static void
patch_sum_ip4(struct mbuf *m, uint64_t flags, uint32_t off)
{
	uint32_t hlen, len;
	struct ip ip;

	m_copydata(m, off, sizeof(ip), &ip);
	hlen = ip_hl(&ip);
	len = ntohs(ip.ip_len);
	if (hlen < sizeof(ip) || len < hlen || len > m->m_pkthdr.len - off)
		return;
	if ((flags & NG_PATCH_CSUM_IP) != 0)
		patch_sum(m, off, hlen, offsetof(struct ip, ip_sum), 0,
		    false);
	if ((ip.ip_off & htons(IP_MF | IP_OFFMASK)) != 0)
		return;
	len -= hlen;
	patch_sum_l4(m, off + hlen, len, ip.ip_p, in_pseudo(ip.ip_src,
	    ip.ip_dst, ip.ip_p, (uint16_t)len),
	    (flags & NG_PATCH_CSUM_IP_UDP) != 0,
	    (flags & NG_PATCH_CSUM_IP_TCP) != 0);
}

/* Extension headers: left alone. */
static void
patch_sum_ip6(struct mbuf *m, uint64_t flags, uint32_t off)
{
	struct in6_addr addr[2];
	struct ip6_hdr ip6;
	uint32_t len;

	if (m->m_pkthdr.len - off < sizeof(ip6))
		return;
	m_copydata(m, off, sizeof(ip6), &ip6);
	m_copydata(m, off + offsetof(struct ip6_hdr, ip6_src), sizeof(addr),
	    addr);
	len = ntohs(ip6.ip6_plen);
	if (len > m->m_pkthdr.len - off - sizeof(ip6))
		return;
	patch_sum_l4(m, off + (uint32_t)sizeof(ip6), len, ip6.ip6_nxt,
	    in6_pseudo(&addr[0], &addr[1], ip6.ip6_nxt, len),
	    (flags & NG_PATCH_CSUM_IP6_UDP) != 0,
	    (flags & NG_PATCH_CSUM_IP6_TCP) != 0);
}

static void
patch_cksum(struct mbuf *m, uint64_t flags, uint32_t off)
{
	uint8_t first;

	if (m->m_pkthdr.len - off < sizeof(struct ip))
		return;
	m_copydata(m, off, 1, &first);
	if (first >> 4 == IPVERSION)
		patch_sum_ip4(m, flags, off);
	else if (first >> 4 == 6)
		patch_sum_ip6(m, flags, off);
}

/* ---- Data ---- */

/* False: the packet has none of the bytes that are to be changed. */
static bool
patch_packet(struct mbuf *m, const struct ng_patch_config *conf, uint8_t dlt)
{
	uint32_t l2len = dlt == PATCH_DLT_ETHER ? patch_l2len(m) : 0;
	uint32_t base = conf->relative_offset != 0 ? l2len : 0;
	bool changed = false;

	for (uint32_t i = 0; i < conf->count; i++)
		changed |= patch_op(m, &conf->ops[i], base);
	if (changed && conf->csum_flags != 0)
		/* Tags may be others now. */
		patch_cksum(m, conf->csum_flags,
		    dlt == PATCH_DLT_ETHER ? patch_l2len(m) : 0);
	return (changed);
}

static int
ng_patch_rcvdata_in(hook_p hook, item_p item)
{
	struct patch *pa = ng_node_private(ng_hook_node(hook));
	uint8_t dlt = atomic_load_explicit(&pa->pa_dlt, memory_order_relaxed);
	hook_p out = ng_hook_load(&pa->pa_hook[PATCH_OUT]);
	const struct patch_conf *pc;
	unsigned int patched = 0;

	NET_EPOCH_ASSERT();

	/* Pairs with the release in patch_setconfig(). */
	pc = atomic_load_explicit(&pa->pa_conf, memory_order_acquire);
	ng_stat_add(&pa->pa_stat, PATCHS_RECEIVED, item->it_n);
	if (pc != NULL) {
		for (unsigned int i = 0; i < item->it_n; i++)
			patched += patch_packet(item->it_m[i], &pc->pc_conf,
			    dlt);
		ng_stat_add(&pa->pa_stat, PATCHS_PATCHED, patched);
	}
	return (ng_fwd_item(item, out != NULL ? out : hook));
}

static int
ng_patch_rcvdata_out(hook_p hook, item_p item)
{
	struct patch *pa = ng_node_private(ng_hook_node(hook));
	hook_p in = ng_hook_load(&pa->pa_hook[PATCH_IN]);

	NET_EPOCH_ASSERT();

	if (in == NULL)
		ng_stat_add(&pa->pa_stat, PATCHS_DROPPED, item->it_n);
	return (ng_item_send(item, in, ENOTCONN));
}

/* ---- Hooks ---- */

/* A name needs only begin right. */
static int
patch_side(const char *name)
{
	int i;

	for (i = 0; i < PATCH_SIDES && strncmp(name, patch_names[i],
	    strlen(patch_names[i])) != 0; i++)
		continue;
	return (i);
}

static int
ng_patch_newhook(node_p node, hook_p hook, const char *name)
{
	struct patch *pa = ng_node_private(node);
	int side = patch_side(name);

	if (side == PATCH_SIDES)
		return (EINVAL);
	if (ng_hook_load(&pa->pa_hook[side]) != NULL)
		return (EISCONN);
	ng_hook_set_rcvdata(hook, side == PATCH_IN ? ng_patch_rcvdata_in :
	    ng_patch_rcvdata_out);
	return (0);
}

static int
ng_patch_connect(hook_p hook)
{
	struct patch *pa = ng_node_private(ng_hook_node(hook));
	_Atomic(hook_p) *slot = &pa->pa_hook[patch_side(ng_hook_name(hook))];

	/* Two names of one side, joined with each other. */
	if (ng_hook_load(slot) != NULL)
		return (EISCONN);
	ng_hook_store(slot, hook);
	return (0);
}

static void
ng_patch_disconnect(hook_p hook)
{
	struct patch *pa = ng_node_private(ng_hook_node(hook));
	_Atomic(hook_p) *slot = &pa->pa_hook[patch_side(ng_hook_name(hook))];

	if (ng_hook_load(slot) == hook)
		ng_hook_store(slot, NULL);
}

/* ---- Messages ---- */

static void
patch_conf_free_cb(epoch_context_t ctx)
{

	free(__containerof(ctx, struct patch_conf, pc_ctx));
}

static bool
patch_check(const struct ng_patch_op *op)
{

	if (op->length != 1 && op->length != 2 && op->length != 4 &&
	    op->length != 8)
		return (false);
	if (op->mode < NG_PATCH_MODE_SET || op->mode > NG_PATCH_MODE_SHR)
		return (false);
	return (op->mode != NG_PATCH_MODE_DIV ||
	    (op->value & patch_mask(op->length)) != 0);
}

static int
patch_setconfig(struct patch *pa, const struct ng_mesg *msg)
{
	const size_t min = sizeof(struct ng_patch_config);
	size_t len = msg->header.arglen;
	struct patch_conf *pc, *old;
	struct ng_patch_config *conf;

	if (len < min)
		return (EINVAL);
	pc = malloc(offsetof(struct patch_conf, pc_conf) + len);
	if (pc == NULL)
		return (ENOMEM);
	conf = &pc->pc_conf;
	memcpy(conf, msg->data, len);
	pc->pc_len = len;
	if ((len - min) % sizeof(conf->ops[0]) != 0 ||
	    (len - min) / sizeof(conf->ops[0]) != conf->count)
		goto invalid;
	for (uint32_t i = 0; i < conf->count; i++)
		if (!patch_check(&conf->ops[i]))
			goto invalid;
	conf->csum_flags &= NG_PATCH_CSUM_ALL;
	/* Pairs with the acquire in ng_patch_rcvdata_in(). */
	old = atomic_exchange_explicit(&pa->pa_conf, pc,
	    memory_order_acq_rel);
	if (old != NULL)
		NET_EPOCH_CALL(patch_conf_free_cb, &old->pc_ctx);
	return (0);
invalid:
	free(pc);
	return (EINVAL);
}

static int
patch_setdlt(struct patch *pa, const struct ng_mesg *msg)
{
	uint8_t dlt;

	if (msg->header.arglen != sizeof(dlt))
		return (EINVAL);
	memcpy(&dlt, msg->data, sizeof(dlt));
	if (dlt != PATCH_DLT_ETHER && dlt != PATCH_DLT_RAW)
		return (EINVAL);
	atomic_store_explicit(&pa->pa_dlt, dlt, memory_order_relaxed);
	return (0);
}

static int
ng_patch_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	const struct ng_mesg *msg = ng_request_msg(rq);
	struct patch *pa = ng_node_private(node);
	const struct patch_conf *pc;
	uint8_t dlt;

	(void)lasthook;
	if (msg->header.typecookie != NGM_PATCH_COOKIE)
		return (EINVAL);
	if (msg->header.cmd == NGM_PATCH_SETCONFIG)
		return (patch_setconfig(pa, msg));
	if (msg->header.cmd == NGM_PATCH_SETDLT)
		return (patch_setdlt(pa, msg));
	if (msg->header.arglen != 0)
		return (EINVAL);
	switch (msg->header.cmd) {
	case NGM_PATCH_GETCONFIG:
		pc = atomic_load_explicit(&pa->pa_conf, memory_order_acquire);
		return (pc == NULL ? 0 : ng_respond(rq, &pc->pc_conf,
		    pc->pc_len));
	case NGM_PATCH_GETDLT:
		dlt = atomic_load_explicit(&pa->pa_dlt, memory_order_relaxed);
		return (ng_respond(rq, &dlt, sizeof(dlt)));
	default:
		return (ng_stat_rcvmsg(rq, NGM_PATCH_GET_STATS, &pa->pa_stat,
		    1));
	}
}

static void
ng_patch_shutdown(node_p node)
{
	struct patch *pa = ng_node_private(node);

	free(atomic_load_explicit(&pa->pa_conf, memory_order_acquire));
	ng_stat_fini(&pa->pa_stat);
	free(pa);
}

/* ---- Text ---- */

static const struct ng_parse_struct_field ng_patch_op_fields[] = {
	{ "offset", &ng_parse_uint32_type, 0 },
	{ "length", &ng_parse_uint16_type, 0 },
	{ "mode", &ng_parse_uint16_type, 0 },
	{ "value", &ng_parse_uint64_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_patch_op_type = {
	.supertype = &ng_parse_struct_type, .info = ng_patch_op_fields,
};

static const struct ng_parse_array_info ng_patch_ops_info = {
	.elementType = &ng_patch_op_type, .getLength = ng_parse_count_first,
};
static const struct ng_parse_type ng_patch_ops_type = {
	.supertype = &ng_parse_array_type, .info = &ng_patch_ops_info,
};
static const struct ng_parse_struct_field ng_patch_config_fields[] = {
	{ "count", &ng_parse_uint32_type, 0 },
	{ "csum_flags", &ng_parse_uint64_type, 0 },
	{ "relative_offset", &ng_parse_uint32_type, 0 },
	{ "ops", &ng_patch_ops_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_patch_config_type = {
	.supertype = &ng_parse_struct_type, .info = ng_patch_config_fields,
};
static const struct ng_parse_struct_field ng_patch_stats_fields[] = {
	{ "Received", &ng_parse_uint64_type, 0 },
	{ "Patched", &ng_parse_uint64_type, 0 },
	{ "Dropped", &ng_parse_uint64_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_patch_stats_type = {
	.supertype = &ng_parse_struct_type, .info = ng_patch_stats_fields,
};

static const struct ng_cmdlist ng_patch_cmds[] = {
	{ NGM_PATCH_COOKIE, NGM_PATCH_SETCONFIG, "setconfig",
	    &ng_patch_config_type, NULL },
	{ NGM_PATCH_COOKIE, NGM_PATCH_GETCONFIG, "getconfig", NULL,
	    &ng_patch_config_type },
	{ NGM_PATCH_COOKIE, NGM_PATCH_GET_STATS, "getstats", NULL,
	    &ng_patch_stats_type },
	{ NGM_PATCH_COOKIE, NGM_PATCH_CLR_STATS, "clrstats", NULL, NULL },
	{ NGM_PATCH_COOKIE, NGM_PATCH_GETCLR_STATS, "getclrstats", NULL,
	    &ng_patch_stats_type },
	{ NGM_PATCH_COOKIE, NGM_PATCH_GETDLT, "getdlt", NULL,
	    &ng_parse_uint8_type },
	{ NGM_PATCH_COOKIE, NGM_PATCH_SETDLT, "setdlt", &ng_parse_uint8_type,
	    NULL },
	{ .name = NULL },
};

const struct ng_type ng_patch_type = {
	.version = NG_ABI_VERSION,
	.name = NG_PATCH_NODE_TYPE,
	.constructor = ng_patch_constructor,
	.rcvmsg = ng_patch_rcvmsg,
	.shutdown = ng_patch_shutdown,
	.newhook = ng_patch_newhook,
	.connect = ng_patch_connect,
	.disconnect = ng_patch_disconnect,
	.cmdlist = ng_patch_cmds,
};
