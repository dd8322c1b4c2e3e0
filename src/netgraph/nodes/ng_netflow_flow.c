/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The netflow node's table of flows.
 *
 * In NF_SHARDS shards by hash, each with a lock, a hash table, a list by time
 * of the last packet, and room for NF_SHARD_MAX flows: one that comes when it
 * is full ends the one that has been silent for longest.  Flows that end go to
 * the export after the lock was given up.  The hash has a seed of its own,
 * since who sends packets chooses the keys.
 */
#include <stdlib.h>
#include <string.h>

#include <netepoch/epoch.h>

#include "ifnet/if_var.h"
#include "ifnet/vnet.h"
#include "netgraph/nodes/ng_netflow_private.h"
#include "route/route_var.h"
#include "wire/tcp.h"

_Static_assert(sizeof(struct nf_key) % 4 == 0, "a key is words");

static uint64_t
nf_hash(const struct netflow *nf, const struct nf_key *key)
{
	uint32_t w[sizeof(*key) / 4];
	uint64_t h = nf->nf_seed;

	memcpy(w, key, sizeof(w));
	for (unsigned int i = 0; i < nitems(w); i++) {
		h = (h ^ w[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return (h ^ h >> 32);
}

static inline struct nf_shard *
nf_shard_of(struct netflow *nf, uint64_t h)
{

	return (&nf->nf_shard[h % NF_SHARDS]);
}

static inline struct nf_flow **
nf_bucket_of(struct nf_shard *fs, uint64_t h)
{

	return (&fs->fs_bucket[h / NF_SHARDS % NF_BUCKETS]);
}

void
nf_flow_init(struct netflow *nf)
{

	for (int i = 0; i < NF_SHARDS; i++) {
		mtx_init(&nf->nf_shard[i].fs_mtx, "netflow");
		TAILQ_INIT(&nf->nf_shard[i].fs_lru);
	}
}

/* Take ff out, in front of the list of those that have ended. */
static void
nf_flow_end(struct netflow *nf, struct nf_shard *fs, struct nf_flow *ff,
    struct nf_flow **ended)
{
	struct nf_flow **ffp;

	MTX_ASSERT(&fs->fs_mtx);

	for (ffp = nf_bucket_of(fs, nf_hash(nf, &ff->ff_key)); *ffp != ff;
	    ffp = &(*ffp)->ff_next)
		continue;
	*ffp = ff->ff_next;
	TAILQ_REMOVE(&fs->fs_lru, ff, ff_lru);
	fs->fs_n--;
	fs->fs_n6 -= ff->ff_key.version == 6;
	ff->ff_next = *ended;
	*ended = ff;
}

/* Without a lock. */
static void
nf_flow_ended(struct netflow *nf, struct nf_flow *ff)
{
	struct nf_flow *next;

	for (; ff != NULL; ff = next) {
		next = ff->ff_next;
		nf_export_flow(nf, ff);
		free(ff);
	}
}

/* Where it is going, as far as a new flow's first packet tells. */
static void
nf_flow_route(struct netflow *nf, struct nf_flow *ff,
    const struct nf_iface *ni)
{
	struct fib4 *fib = ng_node_vnet(nf->nf_node)->v_fib4;
	const struct nhop *nh;
	in_addr_t dst;

	if (ff->ff_key.version != 4 || fib == NULL ||
	    (atomic_load_explicit(&ni->ni_conf, memory_order_relaxed) &
	    NG_NETFLOW_CONF_NODSTLOOKUP) != 0)
		return;
	memcpy(&dst, ff->ff_key.dst, sizeof(dst));
	nh = fib4_lookup(fib, dst);
	if (nh == NULL)
		return;
	if (nh->nh_ifp != NULL)
		ff->ff_out = (uint16_t)nh->nh_ifp->if_index;
	if ((nh->nh_flags & NHF_GATEWAY) != 0)
		ff->ff_gateway = nh->nh_gw.s_addr;
}

static struct nf_flow *
nf_flow_new(struct netflow *nf, struct nf_shard *fs, struct nf_flow **bucket,
    const struct nf_packet *np, const struct nf_iface *ni, uint32_t now)
{
	struct nf_flow *ff;

	ff = calloc(1, sizeof(*ff));
	if (ff == NULL) {
		ng_stat_add(&nf->nf_stat, NFC_ALLOC, 1);
		return (NULL);
	}
	ff->ff_key = np->np_key;
	ff->ff_first = now;
	ff->ff_in = atomic_load_explicit(&ni->ni_index,
	    memory_order_relaxed);
	nf_flow_route(nf, ff, ni);
	ff->ff_next = *bucket;
	*bucket = ff;
	TAILQ_INSERT_TAIL(&fs->fs_lru, ff, ff_lru);
	fs->fs_n++;
	fs->fs_n6 += np->np_key.version == 6;
	return (ff);
}

void
nf_flow_account(struct netflow *nf, const struct nf_packet *np,
    const struct nf_iface *ni, uint32_t now)
{
	uint64_t h = nf_hash(nf, &np->np_key);
	struct nf_shard *fs = nf_shard_of(nf, h);
	struct nf_flow **bucket = nf_bucket_of(fs, h), *ff, *ended = NULL;

	mtx_lock(&fs->fs_mtx);
	for (ff = *bucket; ff != NULL; ff = ff->ff_next)
		if (memcmp(&ff->ff_key, &np->np_key, sizeof(ff->ff_key)) == 0)
			break;
	if (ff == NULL) {
		if (fs->fs_n == NF_SHARD_MAX) {
			ng_stat_add(&nf->nf_stat, NFC_INACT, 1);
			nf_flow_end(nf, fs, TAILQ_FIRST(&fs->fs_lru), &ended);
		}
		ff = nf_flow_new(nf, fs, bucket, np, ni, now);
	}
	if (ff != NULL) {
		ff->ff_bytes += np->np_bytes;
		ff->ff_packets++;
		ff->ff_last = now;
		ff->ff_tcpflags |= np->np_tcpflags;
		TAILQ_REMOVE(&fs->fs_lru, ff, ff_lru);
		TAILQ_INSERT_TAIL(&fs->fs_lru, ff, ff_lru);
		if ((np->np_tcpflags & (TH_FIN | TH_RST)) != 0) {
			ng_stat_add(&nf->nf_stat, NFC_ACT, 1);
			nf_flow_end(nf, fs, ff, &ended);
		}
	}
	mtx_unlock(&fs->fs_mtx);
	nf_flow_ended(nf, ended);
}

static void
nf_shard_expire(struct netflow *nf, struct nf_shard *fs, uint32_t now)
{
	uint64_t inactive = UINT64_C(1000) * atomic_load_explicit(
	    &nf->nf_inactive, memory_order_relaxed);
	uint64_t active = UINT64_C(1000) * atomic_load_explicit(
	    &nf->nf_active, memory_order_relaxed);
	struct nf_flow *ff, *next, *ended = NULL;

	mtx_lock(&fs->fs_mtx);
	for (ff = TAILQ_FIRST(&fs->fs_lru); ff != NULL; ff = next) {
		next = TAILQ_NEXT(ff, ff_lru);
		/* Differences, since the uptime starts again some day. */
		if ((uint32_t)(now - ff->ff_last) <= INT32_MAX &&
		    (uint32_t)(now - ff->ff_last) >= inactive)
			ng_stat_add(&nf->nf_stat, NFC_INACT, 1);
		else if ((uint32_t)(now - ff->ff_first) <= INT32_MAX &&
		    (uint32_t)(now - ff->ff_first) >= active)
			ng_stat_add(&nf->nf_stat, NFC_ACT, 1);
		else
			continue;
		nf_flow_end(nf, fs, ff, &ended);
	}
	mtx_unlock(&fs->fs_mtx);
	nf_flow_ended(nf, ended);
}

void
nf_flow_expire(struct netflow *nf, uint32_t now)
{

	NET_EPOCH_ASSERT();

	for (int i = 0; i < NF_SHARDS / 8; i++) {
		nf_shard_expire(nf, &nf->nf_shard[nf->nf_next], now);
		nf->nf_next = (nf->nf_next + 1) % NF_SHARDS;
	}
}

void
nf_flow_flush(struct netflow *nf)
{
	struct nf_flow *ff, *ended;
	struct nf_shard *fs;

	for (int i = 0; i < NF_SHARDS; i++) {
		fs = &nf->nf_shard[i];
		ended = NULL;
		mtx_lock(&fs->fs_mtx);
		while ((ff = TAILQ_FIRST(&fs->fs_lru)) != NULL)
			nf_flow_end(nf, fs, ff, &ended);
		mtx_unlock(&fs->fs_mtx);
		nf_flow_ended(nf, ended);
	}
}

/* What came after the flush is lost: there is nowhere to send it to. */
void
nf_flow_fini(struct netflow *nf)
{
	struct nf_flow *ff;

	for (int i = 0; i < NF_SHARDS; i++) {
		while ((ff = TAILQ_FIRST(&nf->nf_shard[i].fs_lru)) != NULL) {
			TAILQ_REMOVE(&nf->nf_shard[i].fs_lru, ff, ff_lru);
			free(ff);
		}
		mtx_destroy(&nf->nf_shard[i].fs_mtx);
	}
}

void
nf_flow_used(struct netflow *nf, uint32_t *used, uint32_t *used6)
{
	struct nf_shard *fs;

	*used = *used6 = 0;
	for (int i = 0; i < NF_SHARDS; i++) {
		fs = &nf->nf_shard[i];
		mtx_lock(&fs->fs_mtx);
		*used += fs->fs_n - fs->fs_n6;
		*used6 += fs->fs_n6;
		mtx_unlock(&fs->fs_mtx);
	}
}

static void
nf_flow_tell(const struct nf_flow *ff, struct ng_netflow_flow *out)
{

	memset(out, 0, sizeof(*out));
	memcpy(out->src, ff->ff_key.src, sizeof(out->src));
	memcpy(out->dst, ff->ff_key.dst, sizeof(out->dst));
	out->sport = ff->ff_key.sport;
	out->dport = ff->ff_key.dport;
	out->proto = ff->ff_key.proto;
	out->tos = ff->ff_key.tos;
	out->iface = ff->ff_key.iface;
	out->tcp_flags = ff->ff_tcpflags;
	out->packets = ff->ff_packets;
	out->bytes = ff->ff_bytes;
	out->first = ff->ff_first;
	out->last = ff->ff_last;
}

/* Of one shard: true if there are more than there was room for. */
static bool
nf_shard_show(struct nf_shard *fs, struct ng_netflow_show *sh,
    struct ng_netflow_flow *out, unsigned int max, unsigned int *n)
{
	struct nf_flow *ff;
	uint32_t seen = 0;

	mtx_lock(&fs->fs_mtx);
	TAILQ_FOREACH(ff, &fs->fs_lru, ff_lru) {
		if (ff->ff_key.version != sh->version ||
		    seen++ < sh->list_id)
			continue;
		if (*n == max)
			break;
		nf_flow_tell(ff, &out[(*n)++]);
		sh->list_id++;
	}
	mtx_unlock(&fs->fs_mtx);
	return (ff != NULL);
}

unsigned int
nf_flow_show(struct netflow *nf, struct ng_netflow_show *sh,
    struct ng_netflow_flow *out, unsigned int max)
{
	unsigned int n = 0;

	for (; sh->hash_id < NF_SHARDS; sh->hash_id++, sh->list_id = 0)
		if (nf_shard_show(&nf->nf_shard[sh->hash_id], sh, out, max,
		    &n))
			return (n);
	sh->version = 0;
	return (n);
}
