/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the netflow node exports: version 5 (IPv4 only) and version 9
 * (RFC 3954), each out of a hook of its own.
 *
 * Records collect in a datagram of each version, under ne_mtx; one that is
 * full, and once a second one that is not, is sent without the lock.  In the
 * epoch.  What is exported while a hook is not connected is not kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <netepoch/epoch.h>
#include <netepoch/mbuf.h>

#include "netgraph/nodes/ng_netflow_private.h"

#define	NF_V5_HDR	24		/* bytes */
#define	NF_V5_RECORDS	30		/* in a datagram, at most */
#define	NF_V9_HDR	20
#define	NF_V9_SET	4		/* header of a flow set */
#define	NF_V9_PAD	3		/* behind a flow set, at most */
#define	NF_UDP_IP	28		/* headers that the MTU counts */
#define	NF_TEMPLATE4	256		/* numbers of our own */
#define	NF_TEMPLATE6	257

/* Field types of RFC 3954, section 8. */
enum { NF9_IN_BYTES = 1, NF9_IN_PKTS = 2, NF9_PROTOCOL = 4, NF9_TOS = 5,
	NF9_TCP_FLAGS = 6, NF9_L4_SRC_PORT = 7, NF9_IPV4_SRC_ADDR = 8,
	NF9_INPUT_SNMP = 10, NF9_L4_DST_PORT = 11, NF9_IPV4_DST_ADDR = 12,
	NF9_OUTPUT_SNMP = 14, NF9_IPV4_NEXT_HOP = 15, NF9_LAST_SWITCHED = 21,
	NF9_FIRST_SWITCHED = 22, NF9_IPV6_SRC_ADDR = 27,
	NF9_IPV6_DST_ADDR = 28, NF9_IP_PROTOCOL_VERSION = 60 };

struct nf9_field {
	uint16_t	type;
	uint16_t	len;		/* bytes; 0: the end */
};

static const struct nf9_field nf9_ip4[] = {
	{ NF9_LAST_SWITCHED, 4 }, { NF9_FIRST_SWITCHED, 4 },
	{ NF9_IN_BYTES, 8 }, { NF9_IN_PKTS, 4 },
	{ NF9_INPUT_SNMP, 2 }, { NF9_OUTPUT_SNMP, 2 },
	{ NF9_IPV4_SRC_ADDR, 4 }, { NF9_IPV4_DST_ADDR, 4 },
	{ NF9_IPV4_NEXT_HOP, 4 }, { NF9_L4_SRC_PORT, 2 },
	{ NF9_L4_DST_PORT, 2 }, { NF9_PROTOCOL, 1 }, { NF9_TOS, 1 },
	{ NF9_TCP_FLAGS, 1 }, { NF9_IP_PROTOCOL_VERSION, 1 }, { 0, 0 },
};
static const struct nf9_field nf9_ip6[] = {
	{ NF9_LAST_SWITCHED, 4 }, { NF9_FIRST_SWITCHED, 4 },
	{ NF9_IN_BYTES, 8 }, { NF9_IN_PKTS, 4 },
	{ NF9_INPUT_SNMP, 2 }, { NF9_OUTPUT_SNMP, 2 },
	{ NF9_IPV6_SRC_ADDR, 16 }, { NF9_IPV6_DST_ADDR, 16 },
	{ NF9_L4_SRC_PORT, 2 }, { NF9_L4_DST_PORT, 2 },
	{ NF9_PROTOCOL, 1 }, { NF9_TOS, 1 }, { NF9_TCP_FLAGS, 1 },
	{ NF9_IP_PROTOCOL_VERSION, 1 }, { 0, 0 },
};

int
nf_export_init(struct netflow *nf)
{
	struct nf_export *ne = &nf->nf_export;

	mtx_init(&ne->ne_mtx, "netflow export");
	atomic_init(&ne->ne_mtu, 1500);
	atomic_init(&ne->ne_tmpl_time, 600);
	atomic_init(&ne->ne_tmpl_packets, 500);
	ne->ne_v5.nd_buf = malloc(NF_V5_MAX);
	ne->ne_v9.nd_buf = malloc(NF_MTU_MAX);
	return (ne->ne_v5.nd_buf == NULL || ne->ne_v9.nd_buf == NULL ?
	    ENOMEM : 0);
}

void
nf_export_fini(struct netflow *nf)
{
	struct nf_export *ne = &nf->nf_export;

	free(ne->ne_v5.nd_buf);
	free(ne->ne_v9.nd_buf);
	mtx_destroy(&ne->ne_mtx);
}

/* ---- Writing ---- */

/* The low len bytes of v, in network order. */
static void
nf_put(struct nf_datagram *nd, uint64_t v, unsigned int len)
{

	while (len-- > 0)
		nd->nd_buf[nd->nd_len++] = (uint8_t)(v >> 8 * len);
}

static void
nf_put_bytes(struct nf_datagram *nd, const void *from, unsigned int len)
{

	memcpy(nd->nd_buf + nd->nd_len, from, len);
	nd->nd_len += len;
}

static void
nf_put_at(struct nf_datagram *nd, unsigned int at, uint64_t v,
    unsigned int len)
{

	while (len-- > 0)
		nd->nd_buf[at++] = (uint8_t)(v >> 8 * len);
}

/* The datagram is ready: take it out of the buffer; NULL: no mbufs. */
static struct mbuf *
nf_datagram_take(struct nf_datagram *nd)
{
	struct mbuf *m;

	m = m_devget(nd->nd_buf, nd->nd_len);
	nd->nd_len = nd->nd_count = 0;
	return (m);
}

/*
 * Without the lock.  Whoever did not get a datagram may have missed templates,
 * and can read nothing until it has them.
 */
static void
nf_send(struct netflow *nf, _Atomic(hook_p) *hookp, struct mbuf *m,
    unsigned int failed)
{
	hook_p hook = atomic_load_explicit(hookp, memory_order_acquire);
	struct nf_export *ne = &nf->nf_export;

	if (m != NULL && ng_send_data(hook, m) == 0)
		return;
	ng_stat_add(&nf->nf_stat, failed, 1);
	mtx_lock(&ne->ne_mtx);
	ne->ne_tmpl_ever = false;
	mtx_unlock(&ne->ne_mtx);
}

/* ---- Version 5 ---- */

static struct mbuf *
nf5_finish_locked(struct netflow *nf)
{
	struct nf_datagram *nd = &nf->nf_export.ne_v5;
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	nf_put_at(nd, 0, 5, 2);
	nf_put_at(nd, 2, nd->nd_count, 2);
	nf_put_at(nd, 4, nf_uptime(nf), 4);
	nf_put_at(nd, 8, (uint64_t)ts.tv_sec, 4);
	nf_put_at(nd, 12, (uint64_t)ts.tv_nsec, 4);
	nf_put_at(nd, 16, nd->nd_seq, 4);	/* flows before these */
	nf_put_at(nd, 20, 0, 4);		/* engine, sampling */
	nd->nd_seq += nd->nd_count;
	return (nf_datagram_take(nd));
}

static void
nf5_put(struct nf_datagram *nd, const struct nf_flow *ff)
{

	if (nd->nd_len == 0)
		nd->nd_len = NF_V5_HDR;
	nf_put_bytes(nd, ff->ff_key.src, 4);
	nf_put_bytes(nd, ff->ff_key.dst, 4);
	nf_put_bytes(nd, &ff->ff_gateway, 4);
	nf_put(nd, ff->ff_in, 2);
	nf_put(nd, ff->ff_out, 2);
	nf_put(nd, ff->ff_packets, 4);
	nf_put(nd, ff->ff_bytes > UINT32_MAX ? UINT32_MAX : ff->ff_bytes, 4);
	nf_put(nd, ff->ff_first, 4);
	nf_put(nd, ff->ff_last, 4);
	nf_put_bytes(nd, &ff->ff_key.sport, 2);
	nf_put_bytes(nd, &ff->ff_key.dport, 2);
	nf_put(nd, 0, 1);
	nf_put(nd, ff->ff_tcpflags, 1);
	nf_put(nd, ff->ff_key.proto, 1);
	nf_put(nd, ff->ff_key.tos, 1);
	nf_put(nd, 0, 8);		/* AS numbers, masks: not known */
	nd->nd_count++;
}

static void
nf5_export(struct netflow *nf, const struct nf_flow *ff)
{
	struct nf_export *ne = &nf->nf_export;
	struct mbuf *m = NULL;
	bool full;

	if (ff->ff_key.version != 4 || atomic_load_explicit(&ne->ne_hook5,
	    memory_order_relaxed) == NULL)
		return;
	mtx_lock(&ne->ne_mtx);
	nf5_put(&ne->ne_v5, ff);
	full = ne->ne_v5.nd_count == NF_V5_RECORDS;
	if (full)
		m = nf5_finish_locked(nf);
	mtx_unlock(&ne->ne_mtx);
	if (full)
		nf_send(nf, &ne->ne_hook5, m, NFC_EXPORT);
}

/* ---- Version 9 ---- */

static void
nf9_put_template(struct nf_datagram *nd, uint16_t number,
    const struct nf9_field *nff)
{
	unsigned int at = nd->nd_len, n = 0;

	nf_put(nd, number, 2);
	nf_put(nd, 0, 2);
	for (; nff->len != 0; nff++, n++) {
		nf_put(nd, nff->type, 2);
		nf_put(nd, nff->len, 2);
	}
	nf_put_at(nd, at + 2, n, 2);
	nd->nd_count++;
}

static bool
nf9_templates_due(const struct nf_export *ne, uint32_t now)
{

	return (!ne->ne_tmpl_ever || ne->ne_tmpl_since >=
	    atomic_load_explicit(&ne->ne_tmpl_packets,
	    memory_order_relaxed) || (uint32_t)(now - ne->ne_tmpl_sent) >=
	    UINT64_C(1000) * atomic_load_explicit(&ne->ne_tmpl_time,
	    memory_order_relaxed));
}

static void
nf9_begin(struct netflow *nf)
{
	struct nf_export *ne = &nf->nf_export;
	struct nf_datagram *nd = &ne->ne_v9;
	uint32_t now = nf_uptime(nf);

	nd->nd_len = NF_V9_HDR;
	ne->ne_set = 0;
	ne->ne_tmpl_since++;
	if (!nf9_templates_due(ne, now))
		return;
	nf_put(nd, 0, 2);		/* the set of templates */
	nf_put(nd, 0, 2);
	nf9_put_template(nd, NF_TEMPLATE4, nf9_ip4);
	nf9_put_template(nd, NF_TEMPLATE6, nf9_ip6);
	nf_put_at(nd, NF_V9_HDR + 2, nd->nd_len - NF_V9_HDR, 2);
	ne->ne_tmpl_ever = true;
	ne->ne_tmpl_sent = now;
	ne->ne_tmpl_since = 0;
}

/* A flow set has a length, and ends at a multiple of four bytes. */
static void
nf9_end_set(struct nf_export *ne)
{
	struct nf_datagram *nd = &ne->ne_v9;

	if (ne->ne_set == 0)
		return;
	while (nd->nd_len % 4 != 0)
		nf_put(nd, 0, 1);
	nf_put_at(nd, ne->ne_set + 2, nd->nd_len - ne->ne_set, 2);
	ne->ne_set = 0;
}

static struct mbuf *
nf9_finish_locked(struct netflow *nf)
{
	struct nf_export *ne = &nf->nf_export;
	struct nf_datagram *nd = &ne->ne_v9;

	nf9_end_set(ne);
	nf_put_at(nd, 0, 9, 2);
	nf_put_at(nd, 2, nd->nd_count, 2);
	nf_put_at(nd, 4, nf_uptime(nf), 4);
	nf_put_at(nd, 8, (uint64_t)time(NULL), 4);
	nf_put_at(nd, 12, nd->nd_seq++, 4);	/* datagrams before this */
	nf_put_at(nd, 16, ng_node_id(nf->nf_node), 4);
	return (nf_datagram_take(nd));
}

static void
nf9_put_field(struct nf_datagram *nd, const struct nf_flow *ff, uint16_t type,
    unsigned int len)
{

	switch (type) {
	case NF9_LAST_SWITCHED:
		nf_put(nd, ff->ff_last, len);
		break;
	case NF9_FIRST_SWITCHED:
		nf_put(nd, ff->ff_first, len);
		break;
	case NF9_IN_BYTES:
		nf_put(nd, ff->ff_bytes, len);
		break;
	case NF9_IN_PKTS:
		nf_put(nd, ff->ff_packets, len);
		break;
	case NF9_INPUT_SNMP:
		nf_put(nd, ff->ff_in, len);
		break;
	case NF9_OUTPUT_SNMP:
		nf_put(nd, ff->ff_out, len);
		break;
	case NF9_IPV4_SRC_ADDR:
	case NF9_IPV6_SRC_ADDR:
		nf_put_bytes(nd, ff->ff_key.src, len);
		break;
	case NF9_IPV4_DST_ADDR:
	case NF9_IPV6_DST_ADDR:
		nf_put_bytes(nd, ff->ff_key.dst, len);
		break;
	case NF9_IPV4_NEXT_HOP:
		nf_put_bytes(nd, &ff->ff_gateway, len);
		break;
	case NF9_L4_SRC_PORT:
		nf_put_bytes(nd, &ff->ff_key.sport, len);
		break;
	case NF9_L4_DST_PORT:
		nf_put_bytes(nd, &ff->ff_key.dport, len);
		break;
	case NF9_PROTOCOL:
		nf_put(nd, ff->ff_key.proto, len);
		break;
	case NF9_TOS:
		nf_put(nd, ff->ff_key.tos, len);
		break;
	case NF9_TCP_FLAGS:
		nf_put(nd, ff->ff_tcpflags, len);
		break;
	case NF9_IP_PROTOCOL_VERSION:
		nf_put(nd, ff->ff_key.version, len);
		break;
	}
}

static unsigned int
nf9_record_len(const struct nf9_field *nff)
{
	unsigned int len = 0;

	for (; nff->len != 0; nff++)
		len += nff->len;
	return (len);
}

static void
nf9_put(struct netflow *nf, const struct nf_flow *ff,
    const struct nf9_field *nff)
{
	struct nf_export *ne = &nf->nf_export;
	struct nf_datagram *nd = &ne->ne_v9;

	if (nd->nd_len == 0)
		nf9_begin(nf);
	if (ne->ne_set == 0 || ne->ne_set_version != ff->ff_key.version) {
		nf9_end_set(ne);
		ne->ne_set = nd->nd_len;
		ne->ne_set_version = ff->ff_key.version;
		nf_put(nd, ff->ff_key.version == 4 ? NF_TEMPLATE4 :
		    NF_TEMPLATE6, 2);
		nf_put(nd, 0, 2);
	}
	for (; nff->len != 0; nff++)
		nf9_put_field(nd, ff, nff->type, nff->len);
	nd->nd_count++;
}

static void
nf9_export(struct netflow *nf, const struct nf_flow *ff)
{
	const struct nf9_field *nff = ff->ff_key.version == 4 ? nf9_ip4 :
	    nf9_ip6;
	struct nf_export *ne = &nf->nf_export;
	unsigned int room, need;
	struct mbuf *m;

	if (atomic_load_explicit(&ne->ne_hook9, memory_order_relaxed) == NULL)
		return;
	/* It may end a set, and begin and end one of its own. */
	need = NF_V9_PAD + NF_V9_SET + nf9_record_len(nff) + NF_V9_PAD;
	room = atomic_load_explicit(&ne->ne_mtu, memory_order_relaxed) -
	    NF_UDP_IP;
	mtx_lock(&ne->ne_mtx);
	while (ne->ne_v9.nd_len != 0 && ne->ne_v9.nd_len + need > room) {
		m = nf9_finish_locked(nf);
		mtx_unlock(&ne->ne_mtx);
		/* Before the next begins: it may have to have templates. */
		nf_send(nf, &ne->ne_hook9, m, NFC_EXPORT9);
		mtx_lock(&ne->ne_mtx);
	}
	nf9_put(nf, ff, nff);
	mtx_unlock(&ne->ne_mtx);
}

/* ---- For the others ---- */

void
nf_export_flow(struct netflow *nf, const struct nf_flow *ff)
{

	NET_EPOCH_ASSERT();

	nf5_export(nf, ff);
	nf9_export(nf, ff);
}

/* A collector that comes knows no templates, and nothing of the last one's. */
void
nf_export_begin(struct netflow *nf, bool v9)
{
	struct nf_export *ne = &nf->nf_export;
	struct nf_datagram *nd = v9 ? &ne->ne_v9 : &ne->ne_v5;

	mtx_lock(&ne->ne_mtx);
	nd->nd_len = nd->nd_count = 0;
	if (v9)
		ne->ne_tmpl_ever = false;
	mtx_unlock(&ne->ne_mtx);
}

void
nf_export_flush(struct netflow *nf)
{
	struct nf_export *ne = &nf->nf_export;
	struct mbuf *m5 = NULL, *m9 = NULL;
	bool have5, have9;

	NET_EPOCH_ASSERT();

	mtx_lock(&ne->ne_mtx);
	have5 = ne->ne_v5.nd_len != 0;
	if (have5)
		m5 = nf5_finish_locked(nf);
	have9 = ne->ne_v9.nd_len != 0;
	if (have9)
		m9 = nf9_finish_locked(nf);
	mtx_unlock(&ne->ne_mtx);
	if (have5)
		nf_send(nf, &ne->ne_hook5, m5, NFC_EXPORT);
	if (have9)
		nf_send(nf, &ne->ne_hook9, m9, NFC_EXPORT9);
}
