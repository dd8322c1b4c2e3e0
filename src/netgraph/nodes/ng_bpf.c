/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * bpf: a filter program for each hook says which packets that come by it leave
 * by one hook and which by another.
 *
 * A hook's program is behind one atomic pointer.  It names its two hooks;
 * control work keeps the pointers to them right as hooks come and go, so that
 * data methods look up nothing.  A data method counts in the hook it sends to
 * as well: a hook's struct is freed a grace period after the hook has gone.
 *
 * Keys: c is the configuration lock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netepoch/epoch.h>

#include "netgraph/nodes/ng_bpf_prog.h"
#include "netgraph/nodes/ng_frame.h"
#include "netgraph/nodes/ng_nodes.h"
#include "netgraph/nodes/ng_stat.h"

/* The order of struct ng_bpf_hookstat. */
enum { BPFS_RECVFRAMES, BPFS_RECVOCTETS, BPFS_RECVMATCHFRAMES,
	BPFS_RECVMATCHOCTETS, BPFS_XMITFRAMES, BPFS_XMITOCTETS, BPFS_COUNT };
enum { BPF_MATCH, BPF_NOMATCH, BPF_WAYS };

struct bpf_hook;

struct bpf_prog {
	_Atomic(struct bpf_hook *) bp_to[BPF_WAYS]; /* (e/c) or NULL */
	struct epoch_context bp_ctx;	/* (o) */
	struct ng_bpf_hookprog bp_prog;	/* (c) constant; comes last */
};

struct bpf_hook {
	hook_p		 bh_hook;	/* (c) constant */
	_Atomic(struct bpf_prog *) bh_prog; /* (e/c) never NULL */
	struct ng_stat	 bh_stat;
	struct epoch_context bh_ctx;	/* (o) */
};

/* ---- Data ---- */

/* What leaves by one way. */
struct bpf_flow {
	struct bpf_hook	*bf_to;
	uint64_t	 bf_octets;
	struct ng_item	 bf_item;
};

static void
bpf_flow_add(struct bpf_flow *bf, struct mbuf *m)
{

	if (bf->bf_to == NULL) {
		m_freem(m);
		return;
	}
	bf->bf_octets += m->m_pkthdr.len;
	bf->bf_item.it_m[bf->bf_item.it_n++] = m;
}

static int
bpf_flow_send(struct bpf_flow *bf)
{
	const struct ng_stat *st;

	if (bf->bf_item.it_n == 0)
		return (0);
	st = &bf->bf_to->bh_stat;
	ng_stat_add(st, BPFS_XMITFRAMES, bf->bf_item.it_n);
	ng_stat_add(st, BPFS_XMITOCTETS, bf->bf_octets);
	return (ng_fwd_item(&bf->bf_item, bf->bf_to->bh_hook));
}

static int
ng_bpf_rcvdata(hook_p hook, item_p item)
{
	struct bpf_hook *bh = ng_hook_private(hook);
	uint64_t frames = 0, octets = 0;
	struct bpf_flow flow[BPF_WAYS];
	struct bpf_prog *bp;
	struct mbuf *m;
	uint32_t len;
	int error, e;

	NET_EPOCH_ASSERT();

	/* Both pair with releases of control work. */
	bp = atomic_load_explicit(&bh->bh_prog, memory_order_acquire);
	for (int way = 0; way < BPF_WAYS; way++) {
		flow[way].bf_to = atomic_load_explicit(&bp->bp_to[way],
		    memory_order_acquire);
		flow[way].bf_octets = 0;
		flow[way].bf_item.it_n = 0;
	}
	ng_stat_add(&bh->bh_stat, BPFS_RECVFRAMES, item->it_n);
	ng_stat_add(&bh->bh_stat, BPFS_RECVOCTETS, ng_item_octets(item));
	for (unsigned int i = 0; i < item->it_n; i++) {
		m = item->it_m[i];
		len = m->m_pkthdr.len == 0 ? 0 :
		    ng_bpf_run(bp->bp_prog.bpf_prog, m);
		if (len == 0) {
			bpf_flow_add(&flow[BPF_NOMATCH], m);
			continue;
		}
		frames++;
		octets += m->m_pkthdr.len;
		if (len < m->m_pkthdr.len)
			m_adj(m, -(int)(m->m_pkthdr.len - len));
		bpf_flow_add(&flow[BPF_MATCH], m);
	}
	ng_stat_add(&bh->bh_stat, BPFS_RECVMATCHFRAMES, frames);
	ng_stat_add(&bh->bh_stat, BPFS_RECVMATCHOCTETS, octets);
	error = bpf_flow_send(&flow[BPF_MATCH]);
	e = bpf_flow_send(&flow[BPF_NOMATCH]);
	return (e != 0 ? e : error);
}

/* ---- Programs: control ---- */

static struct bpf_prog *
bpf_prog(struct bpf_hook *bh)
{

	return (atomic_load_explicit(&bh->bh_prog, memory_order_acquire));
}

static void
bpf_prog_free_cb(epoch_context_t ctx)
{

	free(__containerof(ctx, struct bpf_prog, bp_ctx));
}

/* The private struct of the hook of a name; "" and others: NULL. */
static struct bpf_hook *
bpf_hook_find(node_p node, const char *name)
{
	hook_p hook = ng_findhook(node, name);

	return (hook == NULL ? NULL : ng_hook_private(hook));
}

/* Room for a program that is len bytes as the argument of a message. */
static struct bpf_prog *
bpf_prog_alloc(size_t len)
{

	return (calloc(1, offsetof(struct bpf_prog, bp_prog) + len));
}

/* End the strings and find the hooks that they name. */
static void
bpf_prog_bind(node_p node, struct bpf_prog *bp)
{
	struct ng_bpf_hookprog *prog = &bp->bp_prog;

	prog->thisHook[NG_HOOKSIZ - 1] = '\0';
	prog->ifMatch[NG_HOOKSIZ - 1] = '\0';
	prog->ifNotMatch[NG_HOOKSIZ - 1] = '\0';
	atomic_init(&bp->bp_to[BPF_MATCH],
	    bpf_hook_find(node, prog->ifMatch));
	atomic_init(&bp->bp_to[BPF_NOMATCH],
	    bpf_hook_find(node, prog->ifNotMatch));
}

/* In all programs that name bh's hook: to is where they lead. */
static void
bpf_resolve(struct bpf_hook *bh, struct bpf_hook *to)
{
	const char *name = ng_hook_name(bh->bh_hook);
	node_p node = ng_hook_node(bh->bh_hook);
	struct bpf_prog *bp;
	hook_p hook;

	for (hook = ng_hook_next(node, NULL); hook != NULL;
	    hook = ng_hook_next(node, hook)) {
		if (ng_hook_private(hook) == NULL)
			continue;	/* it is being made */
		bp = bpf_prog(ng_hook_private(hook));
		/* Pair with the acquire in ng_bpf_rcvdata(). */
		if (strcmp(bp->bp_prog.ifMatch, name) == 0)
			atomic_store_explicit(&bp->bp_to[BPF_MATCH], to,
			    memory_order_release);
		if (strcmp(bp->bp_prog.ifNotMatch, name) == 0)
			atomic_store_explicit(&bp->bp_to[BPF_NOMATCH], to,
			    memory_order_release);
	}
}

/* ---- Hooks ---- */

/* Its program matches nothing and leads nowhere. */
static int
ng_bpf_newhook(node_p node, hook_p hook, const char *name)
{
	struct bpf_hook *bh;
	struct bpf_prog *bp;
	int error;

	if ((bh = calloc(1, sizeof(*bh))) == NULL)
		return (ENOMEM);
	error = ng_stat_init(&bh->bh_stat, BPFS_COUNT);
	if (error != 0)
		goto free_hook;
	error = ENOMEM;
	if ((bp = bpf_prog_alloc(NG_BPF_HOOKPROG_SIZE(1))) == NULL)
		goto free_stat;
	memcpy(bp->bp_prog.thisHook, name, strlen(name));
	bp->bp_prog.bpf_prog_len = 1;
	bp->bp_prog.bpf_prog[0].code = NG_BPF_RET_K;
	bpf_prog_bind(node, bp);
	bh->bh_hook = hook;
	atomic_init(&bh->bh_prog, bp);
	ng_hook_set_private(hook, bh);
	return (0);
free_stat:
	ng_stat_fini(&bh->bh_stat);
free_hook:
	free(bh);
	return (error);
}

static int
ng_bpf_connect(hook_p hook)
{
	struct bpf_hook *bh = ng_hook_private(hook);

	bpf_resolve(bh, bh);
	return (0);
}

static void
bpf_hook_free_cb(epoch_context_t ctx)
{
	struct bpf_hook *bh = __containerof(ctx, struct bpf_hook, bh_ctx);

	ng_stat_fini(&bh->bh_stat);
	free(bpf_prog(bh));
	free(bh);
}

static void
ng_bpf_disconnect(hook_p hook)
{
	struct bpf_hook *bh = ng_hook_private(hook);

	bpf_resolve(bh, NULL);
	NET_EPOCH_CALL(bpf_hook_free_cb, &bh->bh_ctx);
}

/* ---- Messages ---- */

static int
bpf_setprogram(node_p node, const struct ng_mesg *msg)
{
	struct ng_bpf_hookprog *prog;
	size_t len = msg->header.arglen;
	struct bpf_prog *bp, *old;
	struct bpf_hook *bh;
	int error = EINVAL;

	if (len < sizeof(*prog) ||
	    len > NG_BPF_HOOKPROG_SIZE(NG_BPF_MAXINSNS))
		return (EINVAL);
	if ((bp = bpf_prog_alloc(len)) == NULL)
		return (ENOMEM);
	prog = &bp->bp_prog;
	memcpy(prog, msg->data, len);
	if (prog->bpf_prog_len < 0 || prog->bpf_prog_len > NG_BPF_MAXINSNS ||
	    len != NG_BPF_HOOKPROG_SIZE((size_t)prog->bpf_prog_len))
		goto free_prog;
	bpf_prog_bind(node, bp);
	error = ENOENT;
	if ((bh = bpf_hook_find(node, prog->thisHook)) == NULL)
		goto free_prog;
	error = EINVAL;
	if (!ng_bpf_check(prog->bpf_prog, (size_t)prog->bpf_prog_len))
		goto free_prog;
	old = bpf_prog(bh);
	/* Pairs with the acquire in ng_bpf_rcvdata(). */
	atomic_store_explicit(&bh->bh_prog, bp, memory_order_release);
	NET_EPOCH_CALL(bpf_prog_free_cb, &old->bp_ctx);
	return (0);
free_prog:
	free(bp);
	return (error);
}

static int
ng_bpf_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	const struct ng_mesg *msg = ng_request_msg(rq);
	const struct ng_bpf_hookprog *prog;
	char name[NG_HOOKSIZ] = { 0 };
	struct bpf_hook *bh;

	(void)lasthook;
	if (msg->header.typecookie != NGM_BPF_COOKIE)
		return (EINVAL);
	if (msg->header.cmd == NGM_BPF_SET_PROGRAM)
		return (bpf_setprogram(node, msg));
	if (msg->header.cmd < NGM_BPF_GET_PROGRAM ||
	    msg->header.cmd > NGM_BPF_GETCLR_STATS ||
	    msg->header.arglen == 0 || msg->header.arglen > sizeof(name))
		return (EINVAL);
	/* Programs send the name with its NUL, or the whole array. */
	memcpy(name, msg->data, msg->header.arglen);
	name[sizeof(name) - 1] = '\0';
	if ((bh = bpf_hook_find(node, name)) == NULL)
		return (ENOENT);
	if (msg->header.cmd != NGM_BPF_GET_PROGRAM)
		return (ng_stat_rcvmsg(rq, NGM_BPF_GET_STATS, &bh->bh_stat,
		    1));
	prog = &bpf_prog(bh)->bp_prog;
	return (ng_respond(rq, prog,
	    NG_BPF_HOOKPROG_SIZE((size_t)prog->bpf_prog_len)));
}

/* ---- Text ---- */

static const struct ng_parse_struct_field ng_bpf_insn_fields[] = {
	{ "code", &ng_parse_hint16_type, 0 },
	{ "jt", &ng_parse_uint8_type, 0 },
	{ "jf", &ng_parse_uint8_type, 0 },
	{ "k", &ng_parse_uint32_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_bpf_insn_type = {
	.supertype = &ng_parse_struct_type, .info = ng_bpf_insn_fields,
};

static int
ng_bpf_prog_length(const struct ng_parse_type *type,
    const unsigned char *start, const unsigned char *buf)
{
	int32_t n;

	(void)type;
	(void)buf;
	memcpy(&n, start + offsetof(struct ng_bpf_hookprog, bpf_prog_len),
	    sizeof(n));
	return (n);
}

static const struct ng_parse_array_info ng_bpf_insns_info = {
	.elementType = &ng_bpf_insn_type, .getLength = ng_bpf_prog_length,
};
static const struct ng_parse_type ng_bpf_insns_type = {
	.supertype = &ng_parse_array_type, .info = &ng_bpf_insns_info,
};
static const struct ng_parse_struct_field ng_bpf_hookprog_fields[] = {
	{ "thisHook", &ng_parse_hookbuf_type, 0 },
	{ "ifMatch", &ng_parse_hookbuf_type, 0 },
	{ "ifNotMatch", &ng_parse_hookbuf_type, 0 },
	{ "bpf_prog_len", &ng_parse_int32_type, 0 },
	{ "bpf_prog", &ng_bpf_insns_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_bpf_hookprog_type = {
	.supertype = &ng_parse_struct_type, .info = ng_bpf_hookprog_fields,
};
static const struct ng_parse_struct_field ng_bpf_stat_fields[] = {
	{ "recvFrames", &ng_parse_uint64_type, 0 },
	{ "recvOctets", &ng_parse_uint64_type, 0 },
	{ "recvMatchFrames", &ng_parse_uint64_type, 0 },
	{ "recvMatchOctets", &ng_parse_uint64_type, 0 },
	{ "xmitFrames", &ng_parse_uint64_type, 0 },
	{ "xmitOctets", &ng_parse_uint64_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ng_bpf_stat_type = {
	.supertype = &ng_parse_struct_type, .info = ng_bpf_stat_fields,
};

static const struct ng_cmdlist ng_bpf_cmds[] = {
	{ NGM_BPF_COOKIE, NGM_BPF_SET_PROGRAM, "setprogram",
	    &ng_bpf_hookprog_type, NULL },
	{ NGM_BPF_COOKIE, NGM_BPF_GET_PROGRAM, "getprogram",
	    &ng_parse_hookbuf_type, &ng_bpf_hookprog_type },
	{ NGM_BPF_COOKIE, NGM_BPF_GET_STATS, "getstats",
	    &ng_parse_hookbuf_type, &ng_bpf_stat_type },
	{ NGM_BPF_COOKIE, NGM_BPF_CLR_STATS, "clrstats",
	    &ng_parse_hookbuf_type, NULL },
	{ NGM_BPF_COOKIE, NGM_BPF_GETCLR_STATS, "getclrstats",
	    &ng_parse_hookbuf_type, &ng_bpf_stat_type },
	{ .name = NULL },
};

const struct ng_type ng_bpf_type = {
	.version = NG_ABI_VERSION,
	.name = NG_BPF_NODE_TYPE,
	.rcvmsg = ng_bpf_rcvmsg,
	.newhook = ng_bpf_newhook,
	.connect = ng_bpf_connect,
	.rcvdata = ng_bpf_rcvdata,
	.disconnect = ng_bpf_disconnect,
	.cmdlist = ng_bpf_cmds,
};
