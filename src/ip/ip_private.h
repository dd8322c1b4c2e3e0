/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the files of this room share: the IP state of a vnet, and the way of a
 * packet from one file to the next.
 *
 * An mbuf handed to a function here is consumed by it unless its comment says
 * otherwise; m_data is at the IP header, which ip_input() has checked: whole
 * in the first mbuf, sane in length, its checksum right, and the packet cut
 * to ip_len.
 */
#ifndef _IP_IP_PRIVATE_H_
#define	_IP_IP_PRIVATE_H_

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ifnet/if_var.h"
#include "intr/callout.h"
#include "ip/ip_var.h"
#include "route/route_var.h"
#include "sys/lock.h"
#include "sys/log.h"
#include "wire/ip.h"

#define	IP_REASS_MAX	1024	/* packets in reassembly, the most */
#define	IP_REASS_HASH	256
#define	IP_REASS_TTL	30	/* seconds a fragment waits for the others */
#define	IP_IDS		256	/* counters for ip_id */

/* Each kind of ICMP error has a rate limit of its own, and so have resets. */
enum icmp_limit {
	ICMPLIM_UNREACH,
	ICMPLIM_TIMXCEED,
	ICMPLIM_PARAMPROB,
	ICMPLIM_REDIRECT,
	ICMPLIM_RST,
	ICMPLIM_COUNT
};

/* A packet of which fragments have come; l is ir_mtx. */
struct ip_reass_q {
	TAILQ_ENTRY(ip_reass_q) iq_age;	/* (l) oldest first, or free */
	LIST_ENTRY(ip_reass_q) iq_chain; /* (l) of equal hash */
	struct in_addr	 iq_src;	/* (l) the key: four fields */
	struct in_addr	 iq_dst;	/* (l) */
	uint16_t	 iq_id;		/* (l) */
	uint8_t		 iq_p;		/* (l) */
	bool		 iq_dead;	/* (l) overlapped: takes no more */
	uint8_t		 iq_ecn;	/* (l) 1 << codepoint, of those seen */
	uint16_t	 iq_nfrags;	/* (l) */
	uint32_t	 iq_nmbufs;	/* (l) frames held */
	uint32_t	 iq_have;	/* (l) bytes of data held */
	uint32_t	 iq_total;	/* (l) bytes of data, 0: not known */
	uint32_t	 iq_ifindex;	/* (l) where the last one came in */
	uint64_t	 iq_expire;	/* (l) time_ns() */
	struct mbuf	*iq_frags;	/* (l) by offset, by m_nextpkt */
};

struct ip_reass {
	struct mtx	 ir_mtx;
	TAILQ_HEAD(, ip_reass_q) ir_age; /* (l) in use, oldest first */
	TAILQ_HEAD(, ip_reass_q) ir_free; /* (l) */
	LIST_HEAD(, ip_reass_q) ir_hash[IP_REASS_HASH]; /* (l) */
	unsigned int	 ir_npackets;	/* (l) in use */
	uint32_t	 ir_nmbufs;	/* (l) frames held by all */
	uint32_t	 ir_maxmbufs;	/* (c) */
	uint64_t	 ir_seed;	/* (c) of the hash */
	_Atomic int	 ir_maxpackets;	/* (a) relaxed, a sysctl */
	_Atomic int	 ir_maxfrags;	/* (a) relaxed, a sysctl; per packet */
	struct ip_reass_q ir_pool[IP_REASS_MAX]; /* (l) */
};

/* An address to be announced; g is iv_garp_mtx. */
struct arp_garp {
	TAILQ_ENTRY(arp_garp) ag_link;	/* (g) */
	struct in_addr	 ag_addr;	/* (c) */
	uint32_t	 ag_ifindex;	/* (c) */
	int		 ag_left;	/* (g) times to repeat */
	uint64_t	 ag_gap;	/* (g) ns to the next */
	uint64_t	 ag_when;	/* (g) time_ns() */
};

/* Keys: c constant after ip_vnet_init(); tunables are (a) relaxed. */
struct ip_vnet {
	struct vnet	*iv_vnet;	/* (c) */
	counter_t	 iv_stats;	/* (c) IPS_COUNT cells */
	_Atomic int	 iv_redirect;	/* (a) net.inet.ip.* */
	_Atomic int	 iv_ttl;	/* (a) */
	_Atomic int	 iv_options;	/* (a) enum ip_opt_mode */
	_Atomic int	 iv_sourceroute; /* (a) */
	_Atomic int	 iv_acceptroute; /* (a) */
	_Atomic int	 iv_icmplim;	/* (a) net.inet.icmp.* */
	_Atomic int	 iv_icmpjitter;	/* (a) */
	_Atomic int	 iv_quotelen;	/* (a) */
	_Atomic int	 iv_bmcastecho;	/* (a) */
	_Atomic int	 iv_arp_proxyall; /* (a) net.link.ether.inet.* */
	_Atomic int	 iv_arp_mcast;	/* (a) */
	_Atomic int	 iv_arp_garps;	/* (a) */
	_Atomic int	 iv_arp_lograte; /* (a) */
	_Atomic int	 iv_arp_loglevel; /* (a) */
	_Atomic int	 iv_arp_logwrong; /* (a) */
	_Atomic int	 iv_arp_logmove; /* (a) */
	_Atomic int	 iv_arp_logperm; /* (a) */
	struct lltable_params iv_arp;	/* (a) */
	struct lltable_proto iv_arp_proto; /* (c) */
	uint64_t	 iv_seed;	/* (c) secret, for ids and jitter */
	struct log_limit iv_limit[ICMPLIM_COUNT]; /* (a) */
	struct log_limit iv_log_srcroute; /* (a) */
	struct log_limit iv_log_arp;	/* (a) */
	_Atomic uint16_t iv_id[IP_IDS];	/* (a) relaxed */
	struct ip_reass	 iv_reass;
	struct mtx	 iv_garp_mtx;
	TAILQ_HEAD(, arp_garp) iv_garps; /* (g) */
	struct callout	 iv_garp_callout; /* (c) */
	struct callout	 iv_tick;	/* (c) once a second */
};

enum ip_opt_mode { IP_OPT_IGNORE, IP_OPT_PROCESS, IP_OPT_REJECT };

/* Where the options that a router acts on lie; 0: not there. */
struct ip_optinfo {
	uint8_t		 io_rr;		/* bytes from the IP header */
	uint8_t		 io_ts;
	uint8_t		 io_sr;
	bool		 io_strict;	/* io_sr is a strict one */
};

static inline int
ip_tunable(const _Atomic int *p)
{

	return (atomic_load_explicit(p, memory_order_relaxed));
}

static inline struct vnet *
ip_if_vnet(struct ifnet *ifp)
{

	return (atomic_load_explicit(&ifp->if_vnet, memory_order_relaxed));
}

static inline uint32_t
ip_if_flags(struct ifnet *ifp)
{

	return (atomic_load_explicit(&ifp->if_flags, memory_order_relaxed));
}

static inline void
ip_count(const struct ip_vnet *iv, enum ip_stat s, uint64_t n)
{

	counter_add(iv->iv_stats + s, n);
}

/*
 * May a host have this address?  Not 0/8, 127/8 or anything from 224.0.0.0 up
 * (multicast, class E, limited broadcast); RFC 1812 5.3.7.
 */
static inline bool
ip_addr_host(struct in_addr addr)
{
	uint32_t a = ntohl(addr.s_addr);

	return (a - 0x01000000u < 0xdf000000u && a >> 24 != 127);
}

/* Of 169.254/16, which no router passes on (RFC 3927 7). */
static inline bool
ip_addr_link(struct in_addr addr)
{

	return (ntohl(addr.s_addr) >> 16 == 0xa9fe);
}

/* The longest packet that nh takes without a closer look, bytes; 0: none. */
static inline uint32_t
ip_nh_pass(const struct nhop *nh)
{

	return (atomic_load_explicit(&nh->nh_pass, memory_order_relaxed));
}

/* A number from key, hard to guess without seed (a murmur finaliser). */
static inline uint64_t
ip_mix(uint64_t seed, uint64_t key)
{

	key = (key ^ seed) * 0xff51afd7ed558ccdu;
	key = (key ^ key >> 33) * 0xc4ceb9fe1a85ec53u;
	return (key ^ key >> 33 ^ seed >> 7);
}

/* ip_forward.c */
void	ip_dispatch(struct ifnet *ifp, struct mbuf *m, const struct nhop *nh,
	    struct if_txburst *tb);
void	ip_deliver(struct ifnet *ifp, struct mbuf *m, bool unicast,
	    struct ip_optinfo *opts);
void	ip_error(struct ifnet *ifp, struct mbuf *m, enum if_drop why,
	    uint8_t type, uint8_t code, uint32_t arg);

/* ip_options.c */
unsigned int ip_options_parse(const struct ip *ip, struct ip_optinfo *opts);
void	ip_options_record(struct vnet *vnet, struct ip *ip,
	    const struct ip_optinfo *opts, struct in_addr own);
size_t	ip_options_copied(const struct ip *ip, uint8_t *to);
void	ip_options_unroute(struct ip *ip);

/* ip_fragment.c */
int	ip_fragment(struct ip_vnet *iv, struct mbuf *m, uint32_t mtu,
	    struct mbuf **list);

/* ip_reass.c */
struct mbuf *ip_reass_input(struct ifnet *ifp, struct mbuf *m);
void	ip_reass_init(struct ip_reass *ir, uint64_t seed);
void	ip_reass_fini(struct ip_reass *ir);
void	ip_reass_tick(struct ip_vnet *iv, uint64_t now);

/* ip_icmp.c */
void	icmp_input(struct ifnet *ifp, struct mbuf *m, bool unicast);
bool	icmp_within_limit(struct ip_vnet *iv, enum icmp_limit lim);
void	icmp_error(struct vnet *vnet, struct mbuf *m, uint8_t type,
	    uint8_t code, uint32_t arg);
void	icmp_report(struct vnet *vnet, const struct mbuf *m, uint8_t type,
	    uint8_t code, uint32_t arg);

/* ip_tcp.c */
void	ip_tcp_input(struct ifnet *ifp, struct mbuf *m, bool unicast);

/* ip_output.c */
int	ip_send(struct ip_vnet *iv, const struct nhop *nh, struct in_addr dst,
	    struct mbuf *m, struct if_txburst *tb);
struct in_addr ip_source_for(const struct nhop *nh, struct in_addr dst);
void	ip_sum(struct ip *ip);

/* arp.c */
void	arp_vnet_init(struct ip_vnet *iv);
void	arp_vnet_fini(struct ip_vnet *iv);
void	arp_garp_run(struct ip_vnet *iv, uint64_t now);

#endif /* _IP_IP_PRIVATE_H_ */
