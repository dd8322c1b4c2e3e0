/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * IPv4 for a router: input, forwarding, ICMP, fragments, ARP.
 *
 * Everything of the packet path runs inside the epoch on whatever thread
 * brought the packet; state per vnet is in struct ip_vnet.  Drops are counted
 * per interface (ifnet/if_drop.h); the counters here are what netstat -s
 * prints besides.
 */
#ifndef _IP_IP_VAR_H_
#define	_IP_IP_VAR_H_

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdint.h>

#include "ifnet/if_var.h"

/* Cells of ip_vnet.iv_stats: id, protocol block, text of netstat -s. */
#define	IP_STATS(X)							\
	X(IPS_TOTAL,	   "ip",   "total packets received")		\
	X(IPS_FRAGMENTS,   "ip",   "fragments received")		\
	X(IPS_REASSEMBLED, "ip",   "packets reassembled ok")		\
	X(IPS_DELIVERED,   "ip",   "packets for this host")		\
	X(IPS_FORWARD,	   "ip",   "packets forwarded")			\
	X(IPS_FASTFORWARD, "ip",   "packets fast forwarded")		\
	X(IPS_REDIRECTS,   "ip",   "redirects sent")			\
	X(IPS_LOCALOUT,	   "ip",   "packets sent from this host")	\
	X(IPS_FRAGMENTED,  "ip",   "output datagrams fragmented")	\
	X(IPS_OFRAGMENTS,  "ip",   "fragments created")			\
	X(ICPS_ERRORS,	   "icmp", "ICMP errors generated")		\
	X(ICPS_LIMITED,	   "icmp", "ICMP errors not sent, rate limit")	\
	X(ICPS_NOTWANTED,  "icmp", "ICMP errors not generated")		\
	X(ICPS_NOMBUF,	   "icmp", "ICMP errors not sent, no mbuf")	\
	X(ICPS_ECHO,	   "icmp", "echo requests answered")		\
	X(ICPS_OUT_UNREACH, "icmp", "destination unreachable sent")	\
	X(ICPS_OUT_TIMXCEED, "icmp", "time exceeded sent")		\
	X(ICPS_OUT_PARAMPROB, "icmp", "parameter problem sent")		\
	X(TCPS_RESETS,	   "tcp",  "resets sent")			\
	X(TCPS_LIMITED,	   "tcp",  "resets not sent, rate limit")	\
	X(ARPS_TXREQUESTS, "arp",  "ARP requests sent")			\
	X(ARPS_TXREPLIES,  "arp",  "ARP replies sent")			\
	X(ARPS_RXREQUESTS, "arp",  "ARP requests received")		\
	X(ARPS_RXREPLIES,  "arp",  "ARP replies received")		\
	X(ARPS_RECEIVED,   "arp",  "ARP packets received")		\
	X(ARPS_TIMEOUTS,   "arp",  "ARP entrys timed out")		\
	X(ARPS_DUPIPS,	   "arp",  "Duplicate IPs seen")

enum ip_stat {
#define	X(id, proto, text)	id,
	IP_STATS(X)
#undef X
	IPS_COUNT
};
struct ip_stat_info {
	const char	*is_proto;
	const char	*is_text;
};
extern const struct ip_stat_info ip_stat_info[IPS_COUNT];

/*
 * Makes v_ip, registers IP and ARP with Ethernet and the lltables, adds
 * net.inet.* and net.link.ether.inet.* to v_sysctl, starts the one-second
 * callout.  After route_vnet_init() and ether_vnet_init().  ENOMEM.
 */
int	ip_vnet_init(struct vnet *vnet);
void	ip_vnet_fini(struct vnet *vnet);
uint64_t ip_stat(struct vnet *vnet, enum ip_stat s);
void	ip_stat_zero(struct vnet *vnet, enum ip_stat s);

/* ether_proto_fn, and loopback's input. */
void	ip_input(struct ifnet *ifp, struct mbuf **m, unsigned int n);
void	arp_input(struct ifnet *ifp, struct mbuf **m, unsigned int n);
/*
 * Send a packet of our own making: header complete but for ip_id and the
 * checksum (ip_src may be 0: chosen).  Consumes m; inside the epoch; errno
 * value for the caller's interest only.
 */
int	ip_output(struct vnet *vnet, struct mbuf *m);

#endif /* _IP_IP_VAR_H_ */
