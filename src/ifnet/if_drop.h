/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Why a packet went missing.  One table for the whole machine: the name is
 * what tools and probes show, the text what netstat prints behind the number.
 * Every drop is counted on an interface: the receiving one, or on the way out
 * the sending one.  A room adds its reasons here, in its group.
 */
#ifndef _IFNET_IF_DROP_H_
#define	_IFNET_IF_DROP_H_

#define	IF_DROPS(X)							\
	/* drivers and rings */						\
	X(NOMBUF,	"no-mbuf",	"with no mbuf")			\
	X(RXRING,	"rx-ring-full",	"lost by a full receive ring")	\
	X(TXRING,	"tx-ring-full",	"not sent, transmit ring full")	\
	X(TXERR,	"tx-error",	"not sent, device refused")	\
	X(RXERR,	"rx-error",	"damaged on receive")		\
	X(TOOBIG,	"too-big",	"larger than the device takes")	\
	X(GRAPH,	"graph",	"not sent, refused by the graph") \
	/* interface */							\
	X(DOWN,		"if-down",	"on an interface that is down")	\
	X(NOIF,		"no-interface",	"to a detached interface")	\
	X(MONITOR,	"monitor",	"seen by a monitoring interface") \
	/* ether */							\
	X(RUNT,		"runt",		"shorter than their header")	\
	X(NOTFORUS,	"other-mac",	"to another station's address")	\
	X(BADSRC,	"bad-src-mac",	"from a multicast station")	\
	X(VLAN,		"no-vlan",	"for an unknown VLAN")		\
	X(ETHERTYPE,	"ethertype",	"of an unknown protocol")	\
	X(LLC,		"llc",		"in 802.3 format")		\
	/* arp */							\
	X(ARPBAD,	"arp-bad",	"ARP with a wrong format")	\
	X(ARPADDR,	"arp-address",	"ARP with an impossible address") \
	X(ARPOTHER,	"arp-other",	"ARP not concerning us")	\
	X(ARPHOLD,	"arp-queue",	"pushed out of a full ARP queue") \
	X(ARPFAIL,	"arp-failed",	"to a neighbour that is silent") \
	/* ip, in the order of the checks */				\
	X(IPTOOSMALL,	"ip-too-small",	"with size smaller than minimum") \
	X(IPVERS,	"ip-version",	"with incorrect version number") \
	X(IPHLEN,	"ip-hlen",	"with bad header length")	\
	X(IPSHORT,	"ip-short",	"with data size < data length")	\
	X(IPLEN,	"ip-length",	"with data length < header length") \
	X(IPSUM,	"ip-checksum",	"bad header checksums")		\
	X(IPADDR,	"ip-martian",	"with bad address in header")	\
	X(IPOPT,	"ip-options",	"with bad options")		\
	X(IPSRCRT,	"ip-srcroute",	"with a source route, not allowed") \
	X(IPTTL,	"ip-ttl",	"whose time to live ran out")	\
	X(IPNOROUTE,	"ip-noroute",	"with no route")		\
	X(IPBLACKHOLE,	"ip-blackhole",	"with a blackhole route")	\
	X(IPREJECT,	"ip-reject",	"with a reject route")		\
	X(IPNOFORWARD,	"ip-noforward",	"not for us, not forwarding")	\
	X(IPCANTFRAG,	"ip-cantfrag",	"that can't be fragmented")	\
	X(IPBCAST,	"ip-broadcast",	"broadcast, not forwarded")	\
	X(IPMCAST,	"ip-multicast",	"multicast, not forwarded")	\
	X(IPPROTO,	"ip-protocol",	"for an unknown protocol")	\
	X(IPFRAG,	"ip-fragment",	"fragments, bad or overlapping") \
	X(IPFRAGLIMIT,	"ip-frag-limit", "fragments, out of space")	\
	X(IPFRAGTIME,	"ip-frag-timeout", "fragments, after timeout")	\
	X(ICMPBAD,	"icmp-bad",	"ICMP with a bad format or sum") \
	X(ICMPIGN,	"icmp-ignored",	"ICMP of no use to a router")	\
	X(UDPBAD,	"udp-bad",	"UDP with a bad length or sum")	\
	X(UDPPORT,	"udp-port",	"UDP to a closed port")		\
	X(TCPBAD,	"tcp-bad",	"TCP with a bad length or sum")	\
	X(TCPPORT,	"tcp-port",	"TCP to a closed port")

enum if_drop {
#define	X(id, name, text)	IFD_##id,
	IF_DROPS(X)
#undef X
	IFD_COUNT
};

struct if_drop_info {
	const char	*fd_name;
	const char	*fd_text;
};
extern const struct if_drop_info if_drop_info[IFD_COUNT];

#endif /* _IFNET_IF_DROP_H_ */
