/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The IP state of a vnet: made before the first interface, freed after the
 * last; its tunables and counters by name; its clock.  Control plane, but for
 * the tick, which a network callout runs inside the epoch.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#include "ether/ether_var.h"
#include "ip/ip_private.h"
#include "sys/sysctl.h"
#include "sys/thread.h"
#include "wire/ether.h"

#define	NS_PER_S	1000000000ull

const struct ip_stat_info ip_stat_info[IPS_COUNT] = {
#define	X(id, proto, text)	[id] = { proto, text },
	IP_STATS(X)
#undef X
};

/* An integer of struct ip_vnet by its name in the tree. */
struct ip_oid {
	const char	*io_name;
	size_t		 io_offset;
	int		 io_value;	/* at the start */
	int		 io_min;
	int		 io_max;
	const char	*io_descr;
};

#define	OID(name, member, value, min, max, descr)			\
	{ name, offsetof(struct ip_vnet, member), value, min, max, descr }

static const struct ip_oid ip_oids[] = {
	OID("net.inet.ip.redirect", iv_redirect, 1, 0, 1,
	    "Tell hosts of a better next hop on their own link"),
	OID("net.inet.ip.ttl", iv_ttl, IPDEFTTL, 1, MAXTTL,
	    "Time to live of packets from here"),
	OID("net.inet.ip.process_options", iv_options, IP_OPT_PROCESS,
	    IP_OPT_IGNORE, IP_OPT_REJECT,
	    "IP options: 0 ignore, 1 process, 2 reject the packet"),
	OID("net.inet.ip.sourceroute", iv_sourceroute, 0, 0, 1,
	    "Forward packets with a source route"),
	OID("net.inet.ip.accept_sourceroute", iv_acceptroute, 0, 0, 1,
	    "Accept packets for us that came by a source route"),
	OID("net.inet.ip.maxfragpackets", iv_reass.ir_maxpackets,
	    IP_REASS_MAX / 4, 0, IP_REASS_MAX,
	    "Packets in reassembly, the most; 0 accepts no fragments"),
	OID("net.inet.ip.maxfragsperpacket", iv_reass.ir_maxfrags, 16, 0, 4096,
	    "Fragments of one packet, the most"),
	OID("net.inet.icmp.icmplim", iv_icmplim, 200, 0, 1000000,
	    "ICMP errors of a kind, and TCP resets, a second; 0: no limit"),
	OID("net.inet.icmp.icmplim_jitter", iv_icmpjitter, 16, 0, 10000,
	    "How far icmplim is moved at random, each second"),
	OID("net.inet.icmp.quotelen", iv_quotelen, 548, 8, 548,
	    "Bytes behind the IP header that an ICMP error quotes, the most"),
	OID("net.inet.icmp.bmcastecho", iv_bmcastecho, 0, 0, 1,
	    "Answer echo requests to broadcast addresses"),
	OID("net.link.ether.inet.max_age", iv_arp.lp_max_age, 1200, 1,
	    86400, "Seconds that a resolved ARP entry lives"),
	OID("net.link.ether.inet.wait", iv_arp.lp_wait, 20, 1, 86400,
	    "Seconds that a silent neighbour is not asked again"),
	OID("net.link.ether.inet.maxtries", iv_arp.lp_maxtries, 5, 1, 100,
	    "ARP requests before a neighbour counts as silent"),
	OID("net.link.ether.inet.maxhold", iv_arp.lp_maxhold, 16, 0, 1024,
	    "Packets kept per ARP entry being resolved"),
	OID("net.link.ether.inet.max_entries", iv_arp.lp_maxentries, 16384, 1,
	    1048576, "ARP entries per interface, the most"),
	OID("net.link.ether.inet.proxyall", iv_arp_proxyall, 0, 0, 1,
	    "Answer ARP requests for all we have a route to"),
	OID("net.link.ether.inet.allow_multicast", iv_arp_mcast, 0, 0, 1,
	    "Accept multicast MAC addresses in ARP"),
	OID("net.link.ether.inet.garp_rexmit_count", iv_arp_garps, 0, 0, 16,
	    "Repetitions of the announcement of a new address"),
	OID("net.link.ether.inet.max_log_per_second", iv_arp_lograte, 1, 0,
	    1000, "ARP log lines a second; 0: none"),
	OID("net.link.ether.inet.log_arp_wrong_iface", iv_arp_logwrong, 1, 0,
	    1, "Log ARP from hosts of another interface's network"),
	OID("net.link.ether.inet.log_arp_movements", iv_arp_logmove, 1, 0, 1,
	    "Log ARP entries that change their MAC address"),
	OID("net.link.ether.inet.log_arp_permanent_modify", iv_arp_logperm, 1,
	    0, 1, "Log attempts to change permanent ARP entries"),
	OID("net.link.ether.arp.log_level", iv_arp_loglevel, LOG_INFO, 0,
	    LOG_DEBUG, "Highest syslog level of ARP log lines"),
};

static _Atomic int *
ip_oid_ptr(struct ip_vnet *iv, const struct ip_oid *oid)
{

	return ((_Atomic int *)(void *)((char *)iv + oid->io_offset));
}

static void
ip_oids_default(struct ip_vnet *iv)
{
	size_t i;

	for (i = 0; i < nitems(ip_oids); i++)
		atomic_store_explicit(ip_oid_ptr(iv, &ip_oids[i]),
		    ip_oids[i].io_value, memory_order_relaxed);
}

/*
 * A leaf cannot be taken out again: after an error the tree is not to be used
 * any more.
 */
static int
ip_sysctl_attach(struct ip_vnet *iv)
{
	struct sysctl_tree *tree = iv->iv_vnet->v_sysctl;
	const struct ip_oid *oid;
	int error;

	error = sysctl_add_int(tree, "net.inet.ip.forwarding", CTLFLAG_RW,
	    &iv->iv_vnet->v_ip_forwarding, 0, 1,
	    "Forward packets between interfaces");
	for (oid = ip_oids; error == 0 && oid < ip_oids + nitems(ip_oids);
	    oid++)
		error = sysctl_add_int(tree, oid->io_name, CTLFLAG_RW,
		    ip_oid_ptr(iv, oid), oid->io_min, oid->io_max,
		    oid->io_descr);
	return (error);
}

/* Once a second, inside the epoch. */
static void
ip_tick(void *arg)
{
	struct ip_vnet *iv = arg;
	uint64_t now = time_ns();

	lltable_tick(iv->iv_vnet, now);
	ip_reass_tick(iv, now);
	arp_garp_run(iv, now);
	(void)callout_reset(&iv->iv_tick, NS_PER_S, ip_tick, iv);
}

int
ip_vnet_init(struct vnet *vnet)
{
	struct ip_vnet *iv;
	int error;

	if ((iv = calloc(1, sizeof(*iv))) == NULL)
		return (ENOMEM);
	iv->iv_vnet = vnet;
	if ((error = counter_alloc(IPS_COUNT, &iv->iv_stats)) != 0)
		goto free_iv;
	error = EIO;
	if (getrandom(&iv->iv_seed, sizeof(iv->iv_seed), 0) !=
	    sizeof(iv->iv_seed))
		goto free_stats;
	ip_oids_default(iv);
	if ((error = ether_proto_register(ETHERTYPE_IP, ip_input)) != 0 ||
	    (error = ether_proto_register(ETHERTYPE_ARP, arp_input)) != 0 ||
	    (error = ip_sysctl_attach(iv)) != 0)
		goto free_stats;

	/* Nothing below can fail. */
	ip_reass_init(&iv->iv_reass, iv->iv_seed);
	arp_vnet_init(iv);
	vnet->v_ip = iv;
	callout_init(&iv->iv_tick, vnet->v_callouts, CALLOUT_NET, NULL);
	(void)callout_reset(&iv->iv_tick, NS_PER_S, ip_tick, iv);
	return (0);
free_stats:
	counter_free(iv->iv_stats, IPS_COUNT);
free_iv:
	free(iv);
	return (error);
}

/*
 * No interface is left, no packet comes, and nobody looks into v_sysctl any
 * more, whose leaves lie in iv.  Outside the epoch.
 */
void
ip_vnet_fini(struct vnet *vnet)
{
	struct ip_vnet *iv = vnet->v_ip;

	callout_drain(&iv->iv_tick);
	arp_vnet_fini(iv);
	ip_reass_fini(&iv->iv_reass);
	vnet->v_ip = NULL;
	counter_free(iv->iv_stats, IPS_COUNT);
	free(iv);
}

uint64_t
ip_stat(struct vnet *vnet, enum ip_stat s)
{

	return (counter_fetch(vnet->v_ip->iv_stats + s));
}

void
ip_stat_zero(struct vnet *vnet, enum ip_stat s)
{

	counter_zero(vnet->v_ip->iv_stats + s);
}
