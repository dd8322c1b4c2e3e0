/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * macfilter: what comes by ether leaves by the hook that its source address is
 * directed to, or by default; all these hooks lead to ether.
 *
 * Addresses are in a hash table.  Control work puts them into their chain and
 * takes them out; data methods walk it in the epoch and count there.  Chains
 * are as many as suit some thousand addresses: each is one that somebody has
 * typed or scripted, none comes from the wire.
 *
 * Keys: c is the configuration lock.
 */
#include <netgraph/ng_macfilter.h>

#include <ck_queue.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netepoch/epoch.h>

#include "netgraph/nodes/ng_frame.h"
#include "netgraph/nodes/ng_nodes.h"
#include "netgraph/nodes/ng_stat.h"
#include "wire/ether.h"

#define	MF_CHAINS	1024
#define	MF_IDS		(UINT16_MAX + 1)

/* The order of struct ngm_macfilter_mac. */
enum { MFS_PACKETS_IN, MFS_BYTES_IN, MFS_PACKETS_OUT, MFS_BYTES_OUT,
	MFS_COUNT };

struct mf_mac {
	CK_LIST_ENTRY(mf_mac) mm_next;	/* (e/c) */
	uint8_t		 mm_ether[ETHER_ADDR_LEN]; /* (c) constant */
	_Atomic(hook_p)	 mm_hook;	/* (a) ng_hook_load/store */
	struct ng_stat	 mm_stat;
	struct epoch_context mm_ctx;	/* (o) */
};

/* A hook above; the number is its place in mf_ids. */
struct mf_hook {
	uint16_t	 mh_id;		/* (c) constant */
	uint32_t	 mh_macs;	/* (c) addresses directed to it */
};

struct macfilter {
	_Atomic(hook_p)	 mf_ether;	/* (a) ng_hook_load/store */
	_Atomic(hook_p)	 mf_default;	/* (a) the same */
	hook_p		*mf_ids;	/* (c) hooks above by number */
	unsigned int	 mf_nids;	/* (c) places in it */
	uint32_t	 mf_nmacs;	/* (c) */
	CK_LIST_HEAD(mf_chain, mf_mac) mf_chain[MF_CHAINS]; /* (e/c) */
};

static int
ng_macfilter_constructor(node_p node)
{
	struct macfilter *mf;

	if ((mf = calloc(1, sizeof(*mf))) == NULL)
		return (ENOMEM);
	ng_node_set_private(node, mf);
	return (0);
}

static inline struct mf_chain *
mf_chain(struct macfilter *mf, const uint8_t *ether)
{
	uint64_t key = 0;

	memcpy(&key, ether, ETHER_ADDR_LEN);
	return (&mf->mf_chain[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 54]);
}
static_assert(MF_CHAINS == 1 << (64 - 54), "mf_chain()");

/* The entry of an address and its hook, or NULL.  In the epoch, or control. */
static inline struct mf_mac *
mf_find(struct macfilter *mf, const uint8_t *ether, hook_p *hook)
{
	struct mf_mac *mm;

	CK_LIST_FOREACH(mm, mf_chain(mf, ether), mm_next) {
		/* Comes first for whoever found the entry in the chain. */
		*hook = ng_hook_load(&mm->mm_hook);
		if (memcmp(mm->mm_ether, ether, ETHER_ADDR_LEN) == 0)
			return (mm);
	}
	return (NULL);
}

/* ---- Data ---- */

/* Count a frame of an address whose entry this is. */
static inline void
mf_count(const struct mf_mac *mm, unsigned int packets, const struct mbuf *m)
{

	ng_stat_add(&mm->mm_stat, packets, 1);
	ng_stat_add(&mm->mm_stat, packets + 1,
	    m->m_pkthdr.len - ETHER_HDR_LEN);
}

/* Each frame to hook, or where its source is directed to if up is true. */
static inline int
mf_burst(struct macfilter *mf, item_p item, hook_p hook, bool up)
{
	const struct ether_header *eh;
	struct ng_scatter sc;
	struct mf_mac *mm;
	struct mbuf *m;
	hook_p own;

	NET_EPOCH_ASSERT();

	ng_scatter_init(&sc);
	for (unsigned int i = 0; i < item->it_n; i++) {
		m = ng_frame_pullup(&sc, item->it_m[i], ETHER_HDR_LEN);
		if (m == NULL)
			continue;
		eh = mtod(m, const struct ether_header *);
		mm = mf_find(mf, up ? eh->ether_shost : eh->ether_dhost,
		    &own);
		if (mm != NULL)
			mf_count(mm, up ? MFS_PACKETS_IN : MFS_PACKETS_OUT,
			    m);
		ng_scatter_send(&sc, up && mm != NULL ? own : hook, m, 0);
	}
	return (ng_scatter_flush(&sc));
}

static int
ng_macfilter_rcvdata_ether(hook_p hook, item_p item)
{
	struct macfilter *mf = ng_node_private(ng_hook_node(hook));

	return (mf_burst(mf, item, ng_hook_load(&mf->mf_default), true));
}

/* From above. */
static int
ng_macfilter_rcvdata(hook_p hook, item_p item)
{
	struct macfilter *mf = ng_node_private(ng_hook_node(hook));

	return (mf_burst(mf, item, ng_hook_load(&mf->mf_ether), false));
}

/* ---- Hooks ---- */

/* The lowest free number above that of default; ENOSPC, ENOMEM. */
static int
mf_id_find(struct macfilter *mf, unsigned int *id)
{
	unsigned int n;
	hook_p *ids;

	for (*id = 1; *id < mf->mf_nids; ++*id)
		if (mf->mf_ids[*id] == NULL)
			return (0);
	if (mf->mf_nids == MF_IDS)
		return (ENOSPC);
	n = mf->mf_nids == 0 ? 8 : mf->mf_nids * 2;
	if ((ids = reallocarray(mf->mf_ids, n, sizeof(*ids))) == NULL)
		return (ENOMEM);
	memset(ids + mf->mf_nids, 0, (n - mf->mf_nids) * sizeof(*ids));
	mf->mf_ids = ids;
	mf->mf_nids = n;
	return (0);
}

static int
ng_macfilter_newhook(node_p node, hook_p hook, const char *name)
{
	struct macfilter *mf = ng_node_private(node);
	struct mf_hook *mh;
	unsigned int id;
	int error;

	if (strcmp(name, NG_MACFILTER_HOOK_ETHER) == 0) {
		ng_hook_set_rcvdata(hook, ng_macfilter_rcvdata_ether);
		return (0);
	}
	/* This also makes the table that default has a place in. */
	error = mf_id_find(mf, &id);
	if (error != 0)
		return (error);
	if ((mh = calloc(1, sizeof(*mh))) == NULL)
		return (ENOMEM);
	if (strcmp(name, NG_MACFILTER_HOOK_DEFAULT) == 0)
		id = NG_MACFILTER_HOOK_DEFAULT_ID;
	mh->mh_id = (uint16_t)id;
	mf->mf_ids[id] = hook;
	ng_hook_set_private(hook, mh);
	return (0);
}

/* The place of one of the two hooks that data methods look for, or NULL. */
static _Atomic(hook_p) *
mf_special(struct macfilter *mf, hook_p hook)
{
	const struct mf_hook *mh = ng_hook_private(hook);

	if (mh == NULL)
		return (&mf->mf_ether);
	return (mh->mh_id == NG_MACFILTER_HOOK_DEFAULT_ID ? &mf->mf_default :
	    NULL);
}

static int
ng_macfilter_connect(hook_p hook)
{
	struct macfilter *mf = ng_node_private(ng_hook_node(hook));
	_Atomic(hook_p) *special = mf_special(mf, hook);

	if (special != NULL)
		ng_hook_store(special, hook);
	return (0);
}

/* ---- Addresses: control ---- */

static void
mf_mac_free_cb(epoch_context_t ctx)
{
	struct mf_mac *mm = __containerof(ctx, struct mf_mac, mm_ctx);

	ng_stat_fini(&mm->mm_stat);
	free(mm);
}

static struct mf_hook *
mf_mac_hook(struct mf_mac *mm)
{

	return (ng_hook_private(ng_hook_load(&mm->mm_hook)));
}

static void
mf_mac_remove(struct macfilter *mf, struct mf_mac *mm)
{

	mf_mac_hook(mm)->mh_macs--;
	mf->mf_nmacs--;
	CK_LIST_REMOVE(mm, mm_next);
	NET_EPOCH_CALL(mf_mac_free_cb, &mm->mm_ctx);
}

/* Remove those directed to hook, or all if it is NULL. */
static void
mf_macs_remove(struct macfilter *mf, hook_p hook)
{
	struct mf_mac *mm, *next;

	for (unsigned int i = 0; i < MF_CHAINS; i++)
		CK_LIST_FOREACH_SAFE(mm, &mf->mf_chain[i], mm_next, next)
			if (hook == NULL ||
			    ng_hook_load(&mm->mm_hook) == hook)
				mf_mac_remove(mf, mm);
}

static int
mf_mac_insert(struct macfilter *mf, const uint8_t *ether, hook_p hook)
{
	struct mf_mac *mm;
	int error;

	if ((mm = calloc(1, sizeof(*mm))) == NULL)
		return (ENOMEM);
	error = ng_stat_init(&mm->mm_stat, MFS_COUNT);
	if (error != 0) {
		free(mm);
		return (error);
	}
	memcpy(mm->mm_ether, ether, ETHER_ADDR_LEN);
	ng_hook_store(&mm->mm_hook, hook);
	CK_LIST_INSERT_HEAD(mf_chain(mf, ether), mm, mm_next);
	mf->mf_nmacs++;
	return (0);
}

/* Direct an address to the hook of a number; the default's forgets it. */
static int
mf_direct(struct macfilter *mf, const uint8_t *ether, unsigned int id)
{
	struct mf_hook *mh;
	struct mf_mac *mm;
	hook_p hook;
	int error;

	mm = mf_find(mf, ether, &hook);
	if (id == NG_MACFILTER_HOOK_DEFAULT_ID) {
		if (mm != NULL)
			mf_mac_remove(mf, mm);
		return (0);
	}
	hook = id < mf->mf_nids ? mf->mf_ids[id] : NULL;
	if (hook == NULL)
		return (EINVAL);
	if (mm == NULL) {
		error = mf_mac_insert(mf, ether, hook);
		if (error != 0)
			return (error);
	} else {
		mf_mac_hook(mm)->mh_macs--;
		ng_hook_store(&mm->mm_hook, hook);
	}
	mh = ng_hook_private(hook);
	mh->mh_macs++;
	return (0);
}

static void
ng_macfilter_disconnect(hook_p hook)
{
	struct macfilter *mf = ng_node_private(ng_hook_node(hook));
	_Atomic(hook_p) *special = mf_special(mf, hook);
	struct mf_hook *mh = ng_hook_private(hook);

	if (special != NULL)
		ng_hook_store(special, NULL);
	if (mh == NULL)
		return;
	if (mh->mh_macs != 0)
		mf_macs_remove(mf, hook);
	mf->mf_ids[mh->mh_id] = NULL;
	free(mh);
}

/* ---- Messages ---- */

/* A name that is not one of a hook above means default. */
static int
mf_direct_name(node_p node, const struct ng_mesg *msg)
{
	struct ngm_macfilter_direct md;
	char name[NG_HOOKSIZ];
	struct mf_hook *mh;
	hook_p hook;

	if (msg->header.arglen != sizeof(md))
		return (EINVAL);
	memcpy(&md, msg->data, sizeof(md));
	memcpy(name, md.hookname, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	hook = ng_findhook(node, name);
	mh = hook == NULL ? NULL : ng_hook_private(hook);
	return (mf_direct(ng_node_private(node), md.ether,
	    mh == NULL ? NG_MACFILTER_HOOK_DEFAULT_ID : mh->mh_id));
}

static int
mf_direct_id(struct macfilter *mf, const struct ng_mesg *msg)
{
	struct ngm_macfilter_direct_hookid md;

	if (msg->header.arglen != sizeof(md))
		return (EINVAL);
	memcpy(&md, msg->data, sizeof(md));
	return (mf_direct(mf, md.ether, md.hookid));
}

static int
mf_mac_compare(const void *a, const void *b)
{
	const struct ngm_macfilter_mac *one = a, *two = b;

	return (memcmp(one->ether, two->ether, ETHER_ADDR_LEN));
}

/* Read the counters of all addresses, or clear them, or both. */
static int
mf_macs(struct macfilter *mf, struct ng_request *rq, bool get, bool clear)
{
	size_t len = sizeof(struct ngm_macfilter_macs) +
	    mf->mf_nmacs * sizeof(struct ngm_macfilter_mac);
	struct ngm_macfilter_macs *ms;
	struct ngm_macfilter_mac *to;
	uint64_t out[MFS_COUNT];
	struct mf_mac *mm;
	int error = 0;

	if ((ms = calloc(1, len)) == NULL)
		return (ENOMEM);
	for (unsigned int i = 0; i < MF_CHAINS; i++)
		CK_LIST_FOREACH(mm, &mf->mf_chain[i], mm_next) {
			ng_stat_read(&mm->mm_stat, out, clear);
			to = &ms->macs[ms->n++];
			memcpy(to->ether, mm->mm_ether, ETHER_ADDR_LEN);
			to->hookid = mf_mac_hook(mm)->mh_id;
			to->packets_in = out[MFS_PACKETS_IN];
			to->bytes_in = out[MFS_BYTES_IN];
			to->packets_out = out[MFS_PACKETS_OUT];
			to->bytes_out = out[MFS_BYTES_OUT];
		}
	if (get) {
		qsort(ms->macs, ms->n, sizeof(ms->macs[0]), mf_mac_compare);
		error = ng_respond(rq, ms, len);
	}
	free(ms);
	return (error);
}

/* The hooks above, by number. */
static int
mf_hooks(struct macfilter *mf, struct ng_request *rq)
{
	const struct mf_hook *mh;
	struct ngm_macfilter_hooks *mhs;
	struct ngm_macfilter_hook *to;
	const char *name;
	size_t len;
	int error;

	len = sizeof(*mhs) + mf->mf_nids * sizeof(mhs->hooks[0]);
	if ((mhs = calloc(1, len)) == NULL)
		return (ENOMEM);
	for (unsigned int i = 0; i < mf->mf_nids; i++) {
		if (mf->mf_ids[i] == NULL)
			continue;
		mh = ng_hook_private(mf->mf_ids[i]);
		name = ng_hook_name(mf->mf_ids[i]);
		to = &mhs->hooks[mhs->n++];
		memcpy(to->hookname, name, strlen(name));
		to->hookid = mh->mh_id;
		to->maccnt = mh->mh_macs;
	}
	error = ng_respond(rq, mhs, sizeof(*mhs) +
	    mhs->n * sizeof(mhs->hooks[0]));
	free(mhs);
	return (error);
}

static int
ng_macfilter_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	const struct ng_mesg *msg = ng_request_msg(rq);
	struct macfilter *mf = ng_node_private(node);

	(void)lasthook;
	if (msg->header.typecookie != NGM_MACFILTER_COOKIE)
		return (EINVAL);
	if (msg->header.cmd == NGM_MACFILTER_DIRECT)
		return (mf_direct_name(node, msg));
	if (msg->header.cmd == NGM_MACFILTER_DIRECT_HOOKID)
		return (mf_direct_id(mf, msg));
	if (msg->header.arglen != 0)
		return (EINVAL);
	switch (msg->header.cmd) {
	case NGM_MACFILTER_RESET:
		mf_macs_remove(mf, NULL);
		return (0);
	case NGM_MACFILTER_GET_MACS:
		return (mf_macs(mf, rq, true, false));
	case NGM_MACFILTER_GETCLR_MACS:
		return (mf_macs(mf, rq, true, true));
	case NGM_MACFILTER_CLR_MACS:
		return (mf_macs(mf, rq, false, true));
	case NGM_MACFILTER_GET_HOOKS:
		return (mf_hooks(mf, rq));
	default:
		return (EINVAL);
	}
}

static void
ng_macfilter_shutdown(node_p node)
{
	struct macfilter *mf = ng_node_private(node);

	KASSERT(mf->mf_nmacs == 0, "%u addresses without hooks",
	    mf->mf_nmacs);
	free(mf->mf_ids);
	free(mf);
}

/* ---- Text ---- */

static const struct ng_parse_struct_field ng_macfilter_direct_fields[] = {
	{ "ether", &ng_parse_enaddr_type, 0 },
	{ "hookname", &ng_parse_hookbuf_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_macfilter_direct_type = {
	.supertype = &ng_parse_struct_type,
	.info = ng_macfilter_direct_fields,
};
static const struct ng_parse_struct_field ng_macfilter_directi_fields[] = {
	{ "ether", &ng_parse_enaddr_type, 0 },
	{ "hookid", &ng_parse_uint16_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_macfilter_directi_type = {
	.supertype = &ng_parse_struct_type,
	.info = ng_macfilter_directi_fields,
};

static const struct ng_parse_struct_field ng_macfilter_mac_fields[] = {
	{ "ether", &ng_parse_enaddr_type, 0 },
	{ "hookid", &ng_parse_uint16_type, 0 },
	{ "packets_in", &ng_parse_uint64_type, 0 },
	{ "bytes_in", &ng_parse_uint64_type, 0 },
	{ "packets_out", &ng_parse_uint64_type, 0 },
	{ "bytes_out", &ng_parse_uint64_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_macfilter_mac_type = {
	.supertype = &ng_parse_struct_type, .info = ng_macfilter_mac_fields,
};
static const struct ng_parse_array_info ng_macfilter_maclist_info = {
	.elementType = &ng_macfilter_mac_type,
	.getLength = ng_parse_count_first,
};
static const struct ng_parse_type ng_macfilter_maclist_type = {
	.supertype = &ng_parse_array_type, .info = &ng_macfilter_maclist_info,
};
static const struct ng_parse_struct_field ng_macfilter_macs_fields[] = {
	{ "n", &ng_parse_uint32_type, 0 },
	{ "macs", &ng_macfilter_maclist_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_macfilter_macs_type = {
	.supertype = &ng_parse_struct_type, .info = ng_macfilter_macs_fields,
};

static const struct ng_parse_struct_field ng_macfilter_hook_fields[] = {
	{ "hookname", &ng_parse_hookbuf_type, 0 },
	{ "hookid", &ng_parse_uint16_type, 0 },
	{ "maccnt", &ng_parse_uint32_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_macfilter_hook_type = {
	.supertype = &ng_parse_struct_type, .info = ng_macfilter_hook_fields,
};
static const struct ng_parse_array_info ng_macfilter_hooklist_info = {
	.elementType = &ng_macfilter_hook_type,
	.getLength = ng_parse_count_first,
};
static const struct ng_parse_type ng_macfilter_hooklist_type = {
	.supertype = &ng_parse_array_type,
	.info = &ng_macfilter_hooklist_info,
};
static const struct ng_parse_struct_field ng_macfilter_hooks_fields[] = {
	{ "n", &ng_parse_uint32_type, 0 },
	{ "hooks", &ng_macfilter_hooklist_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_macfilter_hooks_type = {
	.supertype = &ng_parse_struct_type, .info = ng_macfilter_hooks_fields,
};

static const struct ng_cmdlist ng_macfilter_cmds[] = {
	{ NGM_MACFILTER_COOKIE, NGM_MACFILTER_RESET, "reset", NULL, NULL },
	{ NGM_MACFILTER_COOKIE, NGM_MACFILTER_DIRECT, "direct",
	    &ng_macfilter_direct_type, NULL },
	{ NGM_MACFILTER_COOKIE, NGM_MACFILTER_DIRECT_HOOKID, "directi",
	    &ng_macfilter_directi_type, NULL },
	{ NGM_MACFILTER_COOKIE, NGM_MACFILTER_GET_MACS, "getmacs", NULL,
	    &ng_macfilter_macs_type },
	{ NGM_MACFILTER_COOKIE, NGM_MACFILTER_GETCLR_MACS, "getclrmacs", NULL,
	    &ng_macfilter_macs_type },
	{ NGM_MACFILTER_COOKIE, NGM_MACFILTER_CLR_MACS, "clrmacs", NULL,
	    NULL },
	{ NGM_MACFILTER_COOKIE, NGM_MACFILTER_GET_HOOKS, "gethooks", NULL,
	    &ng_macfilter_hooks_type },
	{ .name = NULL },
};

const struct ng_type ng_macfilter_type = {
	.version = NG_ABI_VERSION,
	.name = NG_MACFILTER_NODE_TYPE,
	.constructor = ng_macfilter_constructor,
	.rcvmsg = ng_macfilter_rcvmsg,
	.shutdown = ng_macfilter_shutdown,
	.newhook = ng_macfilter_newhook,
	.connect = ng_macfilter_connect,
	.rcvdata = ng_macfilter_rcvdata,
	.disconnect = ng_macfilter_disconnect,
	.cmdlist = ng_macfilter_cmds,
};
