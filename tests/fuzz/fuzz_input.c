/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Fuzzing Ethernet, ARP and IPv4 input: an input is a router's settings (two
 * bytes) and frames that come in on its two interfaces.
 *
 * A frame is a byte of choices (FRAME_*), a byte that says where to cut it in
 * two mbufs, two of length, and that many bytes.  The choices mend what a
 * random frame never has right: our MAC, the checksums.  A frame of no bytes is
 * time that passes.
 *
 * Checked besides what the sanitizers see: what leaves is a frame of ours with
 * a whole IPv4 header, a right checksum and nothing but zeros behind the
 * packet; and after each input every mbuf is back.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ether/ether_var.h"
#include "ifnet/if_var.h"
#include "intr/callout.h"
#include "ip/ip_private.h"
#include "route/route_var.h"
#include "sys/log.h"
#include "sys/sysctl.h"
#include "sys/thread.h"
#include "wire/ether.h"
#include "wire/in_cksum.h"
#include "wire/ip_icmp.h"

#define	FRAME_MAC	0x01		/* to our MAC */
#define	FRAME_IPSUM	0x02		/* mend the IP header's checksum */
#define	FRAME_ICMPSUM	0x04		/* mend the ICMP checksum */
#define	FRAME_IP	0x08		/* say that it is IPv4 */
#define	FRAME_P1	0x10		/* comes in on p1 */
#define	FRAME_FLUSH	0x20		/* the burst ends with this one */
#define	FRAME_PARTIAL	0x40		/* its checksum is unfinished */

#define	FUZZ_MBUFS	1024
#define	FUZZ_FRAME_MAX	MBUF_DATA_SIZE	/* one mbuf holds it */

int	LLVMFuzzerInitialize(int *argc, char ***argv);
int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t mac[2][6] = { { 2, 0, 0, 0, 1, 0 },
    { 2, 0, 0, 0, 2, 0 } };
static const uint8_t mac_host[6] = { 2, 0, 0, 0, 0xa, 1 };
static struct vnet *vnet;
static struct ifnet *port[2];
static struct mbuf *burst[2][MBUF_BURST];
static unsigned int nburst[2];
static uint64_t	 now;			/* time_ns(), and what was skipped */

static void
need(bool ok, const char *what)
{

	if (ok)
		return;
	fprintf(stderr, "fuzz_input: %s\n", what);
	abort();
}

/* ---- The router ---- */

static void
check_ip(const uint8_t *frame, uint32_t len)
{
	const uint8_t *p = frame + ETHER_HDR_LEN;
	uint32_t hlen, total, i;
	struct ip ip;

	need(len >= ETHER_HDR_LEN + IP_HDR_MIN, "a header that is cut");
	memcpy(&ip, p, sizeof(ip));
	hlen = (uint32_t)ip_hl(&ip);
	total = ntohs(ip.ip_len);
	need(ip_v(&ip) == IPVERSION && hlen >= IP_HDR_MIN, "a bad header");
	need(total >= hlen && ETHER_HDR_LEN + total <= len, "a bad length");
	need(in_cksum(p, hlen) == 0, "a bad checksum");
	need(ip.ip_ttl != 0, "no time to live");
	for (i = ETHER_HDR_LEN + total; i < len; i++)
		need(frame[i] == 0, "old bytes as padding");
}

static void
port_output(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	uint8_t frame[16384];
	unsigned int i;
	uint32_t len;

	for (i = 0; i < n; i++) {
		len = m[i]->m_pkthdr.len;
		need(len >= ETHER_MIN_NOFCS && len <= sizeof(frame),
		    "a frame of an odd length");
		m_copydata(m[i], 0, len, frame);
		need(memcmp(frame + 6, ifp->if_lladdr, 6) == 0,
		    "from another station");
		if (frame[12] == 0x08 && frame[13] == 0x00)
			check_ip(frame, len);
		else
			need(frame[12] == 0x08 && frame[13] == 0x06,
			    "another protocol");
	}
	m_free_burst(m, n);
}

static void
loop_output(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{

	ip_input(ifp, m, n);
}

static const struct if_linktype loop_linktype = {
	.lt_type = IFT_LOOP,
	.lt_input = ip_input,
};

static struct ifnet *
make_interface(const char *name, const uint8_t *lladdr, uint32_t addr,
    int plen, uint32_t flags)
{
	static const struct in_addr none;
	struct in_addr a = { htonl(addr) };
	struct ifnet *ifp;
	int error;

	error = if_alloc(vnet, lladdr != NULL ? IFT_ETHER : IFT_LOOP, name,
	    &ifp);
	need(error == 0, "if_alloc");
	atomic_init(&ifp->if_output, lladdr != NULL ? port_output :
	    loop_output);
	atomic_init(&ifp->if_flags, flags);
	if (lladdr != NULL)
		need(if_setlladdr(ifp, lladdr) == 0, "if_setlladdr");
	need(if_attach(ifp) == 0, "if_attach");
	if (lladdr == NULL)
		vnet->v_loif = ifp;
	need(if_setflags(ifp, IFF_UP, 0) == 0, "if_setflags");
	need(if_addr_add(ifp, a, plen, none, none) == 0, "if_addr_add");
	return (ifp);
}

static void
add_route(uint32_t dst, int plen, uint32_t gw)
{
	struct rt_req rq = { .rq_dst = { htonl(dst) }, .rq_plen = plen,
	    .rq_flags = RTF_UP | RTF_STATIC | RTF_GATEWAY,
	    .rq_gw = { htonl(gw) } };

	need(rt_add(vnet, &rq) == 0, "rt_add");
}

/* Two hosts that are always there; the others must be asked for. */
static void
add_hosts(void)
{
	struct in_addr a = { htonl(0xc000020a) }, c = { htonl(0xc633640a) };

	need(lla_set(port[0], a, mac_host, LLE_STATIC, 0) == 0, "lla_set");
	need(lla_set(port[1], c, mac_host, LLE_STATIC, 0) == 0, "lla_set");
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{

	(void)argc;
	(void)argv;
	log_level(LOG_EMERG);
	need(mbuf_init(FUZZ_MBUFS) == 0, "mbuf_init");
	vnet = vnet_alloc();
	need(vnet != NULL, "vnet_alloc");
	vnet->v_sysctl = sysctl_tree_alloc();
	need(vnet->v_sysctl != NULL, "sysctl_tree_alloc");
	need(callout_wheel_create("clock", &vnet->v_callouts) == 0, "clock");
	VNET_CONFIG_LOCK(vnet);
	need(if_linktype_register(vnet, &loop_linktype) == 0 &&
	    ether_vnet_init(vnet) == 0 && route_vnet_init(vnet) == 0 &&
	    ip_vnet_init(vnet) == 0, "the rooms");
	(void)make_interface("lo0", NULL, 0x7f000001, 8, IFF_LOOPBACK);
	/* 192.0.2.1/24, 198.51.100.1/24 */
	port[0] = make_interface("p0", mac[0], 0xc0000201, 24, IFF_BROADCAST);
	port[1] = make_interface("p1", mac[1], 0xc6336401, 24, IFF_BROADCAST);
	add_route(0xcb007100, 24, 0xc633640a);	/* 203.0.113.0/24 by C */
	add_route(0x0a000000, 8, 0xc6336414);	/* 10/8 by a silent one */
	add_route(0x0b000000, 8, 0xc00002fe);	/* 11/8 by another on p0 */
	add_hosts();
	VNET_CONFIG_UNLOCK(vnet);
	now = time_ns();
	return (0);
}

static void
set(const char *name, unsigned int value)
{
	char text[12], err[128];

	(void)snprintf(text, sizeof(text), "%u", value);
	need(sysctl_set(vnet->v_sysctl, name, text, err, sizeof(err)) == 0,
	    name);
}

static void
set_router(uint8_t a, uint8_t b)
{
	static const uint32_t mtus[4] = { 1500, 600, 72, 999 };

	set("net.inet.ip.forwarding", (a & 1) == 0);
	set("net.inet.ip.redirect", a >> 1 & 1);
	set("net.inet.ip.process_options", (a >> 2 & 3) == 3 ? 1 :
	    ((a >> 2 & 3) + 1) % 3);
	set("net.inet.ip.sourceroute", a >> 4 & 1);
	set("net.inet.ip.accept_sourceroute", a >> 5 & 1);
	set("net.inet.icmp.bmcastecho", a >> 6 & 1);
	set("net.inet.icmp.icmplim", 0);
	set("net.link.ether.inet.proxyall", b >> 2 & 1);
	set("net.inet.ip.maxfragpackets", (b >> 3 & 1) != 0 ? 2 : 256);
	VNET_CONFIG_LOCK(vnet);
	need(if_setmtu(port[1], mtus[b & 3]) == 0, "if_setmtu");
	VNET_CONFIG_UNLOCK(vnet);
}

/* ---- Frames ---- */

static void
mend(uint8_t *b, uint32_t len, uint8_t how, int to)
{
	struct icmp icmp;
	uint32_t hlen, total;
	struct ip ip;

	if ((how & FRAME_MAC) != 0 && len >= 6)
		memcpy(b, mac[to], 6);
	if ((how & FRAME_IP) != 0 && len >= ETHER_HDR_LEN) {
		b[12] = 0x08;
		b[13] = 0x00;
		if (len > ETHER_HDR_LEN)
			b[14] = (uint8_t)(0x40 | (b[14] & 0x0f));
	}
	if (len < ETHER_HDR_LEN + IP_HDR_MIN)
		return;
	memcpy(&ip, b + ETHER_HDR_LEN, sizeof(ip));
	hlen = (uint32_t)ip_hl(&ip);
	total = ntohs(ip.ip_len);
	if (hlen < IP_HDR_MIN || ETHER_HDR_LEN + hlen > len)
		return;
	if ((how & FRAME_ICMPSUM) != 0 && total >= hlen + ICMP_MINLEN &&
	    ETHER_HDR_LEN + total <= len) {
		memcpy(&icmp, b + ETHER_HDR_LEN + hlen, sizeof(icmp));
		icmp.icmp_cksum = 0;
		memcpy(b + ETHER_HDR_LEN + hlen, &icmp, sizeof(icmp));
		icmp.icmp_cksum = in_cksum(b + ETHER_HDR_LEN + hlen,
		    total - hlen);
		memcpy(b + ETHER_HDR_LEN + hlen, &icmp, sizeof(icmp));
	}
	if ((how & FRAME_IPSUM) != 0) {
		ip.ip_sum = 0;
		memcpy(b + ETHER_HDR_LEN, &ip, sizeof(ip));
		ip.ip_sum = in_cksum(b + ETHER_HDR_LEN, hlen);
		memcpy(b + ETHER_HDR_LEN, &ip, sizeof(ip));
	}
}

/* len bytes that end where their frame ends. */
static struct mbuf *
piece(const uint8_t *b, uint32_t len)
{
	struct mbuf *m = m_gethdr();

	need(m != NULL, "out of mbufs");
	m->m_data += m_trailingspace(m) - len;
	memcpy(m->m_data, b, len);
	m->m_len = m->m_pkthdr.len = len;
	return (m);
}

static void
flush(int to)
{
	struct epoch_tracker et;
	unsigned int n = nburst[to];

	if (n == 0)
		return;
	nburst[to] = 0;
	NET_EPOCH_ENTER(et);
	atomic_load_explicit(&port[to]->if_input, memory_order_acquire)(
	    port[to], burst[to], n);
	NET_EPOCH_EXIT(et);
}

static void
tick(unsigned int seconds)
{
	struct epoch_tracker et;

	flush(0);
	flush(1);
	now += (seconds + 1) * UINT64_C(1000000000);
	NET_EPOCH_ENTER(et);
	lltable_tick(vnet, now);
	ip_reass_tick(vnet->v_ip, now);
	NET_EPOCH_EXIT(et);
}

static void
frame(uint8_t *b, uint32_t len, uint8_t how, uint8_t cut)
{
	int to = (how & FRAME_P1) != 0;
	struct mbuf *m;

	mend(b, len, how, to);
	if (cut != 0 && cut < len) {
		m = piece(b, cut);
		m_cat(m, piece(b + cut, len - cut));
	} else
		m = piece(b, len);
	if ((how & FRAME_PARTIAL) != 0) {
		m->m_pkthdr.csum_flags = CSUM_PARTIAL;
		m->m_pkthdr.csum_start = ETHER_HDR_LEN + IP_HDR_MIN;
		m->m_pkthdr.csum_offset = 6;
	}
	burst[to][nburst[to]++] = m;
	if ((how & FRAME_FLUSH) != 0 || nburst[to] == MBUF_BURST)
		flush(to);
}

/* Nobody waits for anything any more; every mbuf must be there. */
static void
settle(void)
{
	struct epoch_tracker et;
	struct epoch_stats es;
	int i;

	flush(0);
	flush(1);
	now += 40 * UINT64_C(1000000000);
	NET_EPOCH_ENTER(et);
	ip_reass_tick(vnet->v_ip, now);
	NET_EPOCH_EXIT(et);
	VNET_CONFIG_LOCK(vnet);
	(void)lla_flush(port[0], false);
	(void)lla_flush(port[1], false);
	VNET_CONFIG_UNLOCK(vnet);
	/* What waits to be freed looks like a leak. */
	epoch_stats_get(net_epoch_preempt, &es);
	if (es.es_backlog != 0)
		NET_EPOCH_DRAIN_CALLBACKS();
	/* The clock's thread may just have one in its hands. */
	for (i = 0; i < 100 && mbuf_nfree() != mbuf_nframes(); i++)
		(void)usleep(1000);
	need(mbuf_nfree() == mbuf_nframes(), "an mbuf is lost");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t b[FUZZ_FRAME_MAX];
	uint32_t len;

	if (size < 2)
		return (0);
	set_router(data[0], data[1]);
	data += 2;
	size -= 2;
	while (size >= 4) {
		len = ((uint32_t)data[2] | (uint32_t)data[3] << 8) %
		    FUZZ_FRAME_MAX;
		if (len > size - 4)
			len = (uint32_t)(size - 4);
		if (len != 0) {
			memcpy(b, data + 4, len);
			frame(b, len, data[0], data[1]);
		} else
			tick(data[1]);
		data += 4 + len;
		size -= 4 + len;
	}
	settle();
	return (0);
}
