/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The netflow node's own: ng_netflow.c has hooks and messages,
 * ng_netflow_packet.c reads headers, ng_netflow_flow.c is the table,
 * ng_netflow_export.c sends records, ng_netflow_text.c is text.
 *
 * Keys: c is the configuration lock, s a shard's fs_mtx, x ne_mtx; the two are
 * leaves and are never held together.
 */
#ifndef _NETGRAPH_NODES_NG_NETFLOW_PRIVATE_H_
#define	_NETGRAPH_NODES_NG_NETFLOW_PRIVATE_H_

#include <sys/queue.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <netgraph/netgraph.h>
#include <netgraph/ng_netflow.h>

#include "intr/callout.h"
#include "netgraph/nodes/ng_stat.h"
#include "sys/defs.h"
#include "sys/lock.h"

#define	NF_SHARDS	64
#define	NF_BUCKETS	1024		/* of a shard */
#define	NF_SHARD_MAX	4096		/* flows of a shard */
#define	NF_TICK		UINT64_C(125000000)	/* ns: NF_SHARDS / 8 expire */
#define	NF_MTU_MIN	512		/* templates and a record fit */
#define	NF_MTU_MAX	9216
#define	NF_V5_MAX	(24 + 30 * 48)	/* bytes of a version 5 datagram */

/* Counted for both versions of IP: the second is IPv6's. */
enum { NFC_BYTES, NFC_BYTES6, NFC_PACKETS, NFC_PACKETS6, NFC_SBYTES,
	NFC_SBYTES6, NFC_SPACKETS, NFC_SPACKETS6, NFC_ACT, NFC_INACT,
	NFC_ALLOC, NFC_EXPORT, NFC_EXPORT9, NFC_COUNT };

struct nf_key {				/* compared as bytes: no padding */
	uint8_t		 src[16];	/* IPv4: the first four */
	uint8_t		 dst[16];
	uint16_t	 sport;		/* network order */
	uint16_t	 dport;
	uint8_t		 proto;
	uint8_t		 tos;
	uint16_t	 iface;
	uint8_t		 version;	/* 4 or 6 */
	uint8_t		 spare[3];
};

/* What is known of a packet. */
struct nf_packet {
	struct nf_key	 np_key;
	uint32_t	 np_bytes;	/* from its IP header */
	uint8_t		 np_tcpflags;
};

struct nf_flow {
	struct nf_flow	*ff_next;	/* (s) hash chain; then of the ended */
	TAILQ_ENTRY(nf_flow) ff_lru;	/* (s) least recently seen first */
	struct nf_key	 ff_key;	/* (c) constant */
	uint64_t	 ff_bytes;	/* (s) */
	uint32_t	 ff_packets;	/* (s) */
	uint32_t	 ff_first;	/* (c) ms of uptime */
	uint32_t	 ff_last;	/* (s) */
	uint32_t	 ff_gateway;	/* (c) IPv4, network order */
	uint16_t	 ff_in;		/* (c) interface indexes */
	uint16_t	 ff_out;	/* (c) */
	uint8_t		 ff_tcpflags;	/* (s) */
};
TAILQ_HEAD(nf_lru, nf_flow);

struct nf_shard {
	struct mtx	 fs_mtx;
	struct nf_lru	 fs_lru;	/* (s) */
	unsigned int	 fs_n;		/* (s) */
	unsigned int	 fs_n6;		/* (s) of these, IPv6 */
	struct nf_flow	*fs_bucket[NF_BUCKETS];	/* (s) */
} __cacheline_aligned;

/* A datagram that is being filled. */
struct nf_datagram {
	uint8_t		*nd_buf;	/* (x) NF_MTU_MAX bytes */
	unsigned int	 nd_len;	/* (x) 0: not begun */
	unsigned int	 nd_count;	/* (x) records */
	uint32_t	 nd_seq;	/* (x) */
};

struct nf_export {
	_Atomic(hook_p)	 ne_hook5;	/* (a) acquire/release */
	_Atomic(hook_p)	 ne_hook9;	/* (a) acquire/release */
	_Atomic uint32_t ne_mtu;	/* (a) relaxed: bytes, version 9 */
	_Atomic uint32_t ne_tmpl_time;	/* (a) relaxed: seconds */
	_Atomic uint32_t ne_tmpl_packets; /* (a) relaxed */
	struct mtx	 ne_mtx;
	struct nf_datagram ne_v5;
	struct nf_datagram ne_v9;
	unsigned int	 ne_set;	/* (x) where the open flow set begins,
					   0: none is open */
	uint8_t		 ne_set_version; /* (x) 4 or 6 */
	uint32_t	 ne_tmpl_sent;	/* (x) ms of uptime */
	uint32_t	 ne_tmpl_since;	/* (x) datagrams since templates */
	bool		 ne_tmpl_ever;	/* (x) */
};

/* A pair of hooks, ifaceN and outN.  Lives as long as the node. */
struct nf_iface {
	_Atomic(hook_p)	 ni_in;		/* (a) acquire/release */
	_Atomic(hook_p)	 ni_out;	/* (a) acquire/release */
	_Atomic uint32_t ni_conf;	/* (a) relaxed: NG_NETFLOW_CONF_ */
	_Atomic uint32_t ni_packets;	/* (a) relaxed */
	_Atomic uint16_t ni_index;	/* (a) relaxed */
	_Atomic uint8_t	 ni_dlt;	/* (a) relaxed */
	uint16_t	 ni_number;	/* (c) constant */
};

struct netflow {
	node_p		 nf_node;	/* (c) */
	uint64_t	 nf_start;	/* (c) ns */
	uint64_t	 nf_seed;	/* (c) of the hash */
	_Atomic uint32_t nf_inactive;	/* (a) relaxed: seconds */
	_Atomic uint32_t nf_active;	/* (a) relaxed: seconds */
	struct ng_stat	 nf_stat;
	struct callout	 nf_callout;
	unsigned int	 nf_next;	/* the callout's: shard to look at */
	struct nf_export nf_export;
	struct nf_shard	 nf_shard[NF_SHARDS];
	struct nf_iface	*nf_iface[NG_NETFLOW_MAXIFACES]; /* (c) or NULL */
};

/* ng_netflow_packet.c */
/* Fill np in, but for the interface.  False: not an IP packet, or broken. */
bool	nf_packet_parse(const struct mbuf *m, uint8_t dlt,
	    struct nf_packet *np);

/* ng_netflow_flow.c; all but init and fini in the epoch. */
void	nf_flow_init(struct netflow *nf);
void	nf_flow_fini(struct netflow *nf);
void	nf_flow_account(struct netflow *nf, const struct nf_packet *np,
	    const struct nf_iface *ni, uint32_t now);
/* End what is too old, in the next few shards. */
void	nf_flow_expire(struct netflow *nf, uint32_t now);
/* End all. */
void	nf_flow_flush(struct netflow *nf);
void	nf_flow_used(struct netflow *nf, uint32_t *used, uint32_t *used6);
/* Up to max flows of that version from hash_id and list_id on; moves both. */
unsigned int nf_flow_show(struct netflow *nf, struct ng_netflow_show *sh,
	    struct ng_netflow_flow *out, unsigned int max);

/* ng_netflow_export.c; in the epoch but for the first three. */
int	nf_export_init(struct netflow *nf);
void	nf_export_fini(struct netflow *nf);
/* Before a hook of that version is told to the others. */
void	nf_export_begin(struct netflow *nf, bool v9);
void	nf_export_flow(struct netflow *nf, const struct nf_flow *ff);
/* Send what is there. */
void	nf_export_flush(struct netflow *nf);

/* ng_netflow_text.c */
extern const struct ng_cmdlist ng_netflow_cmds[];

/* ng_netflow.c */
uint32_t nf_uptime(const struct netflow *nf);	/* ms */

#endif /* _NETGRAPH_NODES_NG_NETFLOW_PRIVATE_H_ */
