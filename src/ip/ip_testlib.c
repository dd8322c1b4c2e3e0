/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The tests' router: real rooms below, real ARP and clock; only the
 * interfaces' drivers are of here: they keep copies of the frames that leave
 * (cap_mtx, for the clock sends too).
 */
#include "ip/ip_testlib.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "ether/ether_var.h"
#include "sys/sysctl.h"
#include "sys/thread.h"
#include "wire/udp.h"

const uint8_t mac_r0[6] = { 2, 0, 0, 0, 1, 0 };
const uint8_t mac_r1[6] = { 2, 0, 0, 0, 2, 0 };
const uint8_t mac_a[6] = { 2, 0, 0, 0, 0xa, 1 };
const uint8_t mac_a2[6] = { 2, 0, 0, 0, 0xa, 2 };
const uint8_t mac_b[6] = { 2, 0, 0, 0, 0xb, 1 };
const uint8_t mac_c[6] = { 2, 0, 0, 0, 0xc, 1 };
const uint8_t mac_all[6] = { 255, 255, 255, 255, 255, 255 };

struct rig R;
uint32_t rig_cut;

#define	CAP_MAX	4096

static struct {
	struct ifnet	*c_ifp;
	struct frame	*c_frame;
} cap[CAP_MAX];
static unsigned int ncap;
static struct frame taken;		/* what rig_sent() returned last */
static pthread_mutex_t cap_mtx = PTHREAD_MUTEX_INITIALIZER;

/* ---- Frames ---- */

struct in_addr
addr4(const char *text)
{
	struct in_addr a;

	assert_int_equal(inet_pton(AF_INET, text, &a), 1);
	return (a);
}

void
frame_ether(struct frame *f, const uint8_t *dst, const uint8_t *src,
    uint16_t type, const void *payload, size_t len)
{

	assert_true(ETHER_HDR_LEN + len <= FRAME_MAX);
	memset(f, 0, sizeof(*f));
	memcpy(f->f_b, dst, 6);
	memcpy(f->f_b + 6, src, 6);
	f->f_b[12] = (uint8_t)(type >> 8);
	f->f_b[13] = (uint8_t)type;
	if (len != 0)
		memcpy(f->f_b + ETHER_HDR_LEN, payload, len);
	f->f_len = (uint32_t)(ETHER_HDR_LEN + len);
}

void
frame_pad(struct frame *f, uint8_t byte)
{

	while (f->f_len < ETHER_MIN_NOFCS)
		f->f_b[f->f_len++] = byte;
}

size_t
put_ip4(uint8_t *to, const struct ip4 *h, const void *payload, size_t len)
{
	size_t hlen = IP_HDR_MIN + h->nopts;
	size_t ihl = h->ihl != 0 ? (size_t)h->ihl : hlen / 4;
	struct ip ip = { .ip_tos = h->tos,
	    .ip_id = htons(h->id != 0 ? h->id : 0x1000),
	    .ip_off = htons(h->off),
	    .ip_ttl = (uint8_t)(h->ttl == 0 ? 64 : h->ttl < 0 ? 0 : h->ttl),
	    .ip_p = (uint8_t)(h->proto != 0 ? h->proto : IPPROTO_UDP),
	    .ip_src = addr4(h->src != NULL ? h->src : IP_A),
	    .ip_dst = addr4(h->dst != NULL ? h->dst : IP_FAR) };

	ip.ip_vhl = (uint8_t)((h->ver != 0 ? h->ver : 4) << 4 | ihl);
	ip.ip_len = htons((uint16_t)(h->total != 0 ? (size_t)h->total :
	    hlen + len));
	memcpy(to, &ip, sizeof(ip));
	if (h->nopts != 0)
		memcpy(to + IP_HDR_MIN, h->opts, h->nopts);
	ip.ip_sum = h->sum != 0 ? htons((uint16_t)(h->sum - 1)) :
	    in_cksum(to, hlen);
	memcpy(to, &ip, sizeof(ip));
	if (len != 0)
		memmove(to + hlen, payload, len);
	return (hlen + len);
}

size_t
put_udp(uint8_t *to, const char *src, const char *dst, uint16_t dport,
    const void *data, size_t len)
{
	struct udphdr uh = { .uh_sport = htons(4000), .uh_dport = htons(dport),
	    .uh_ulen = htons((uint16_t)(sizeof(uh) + len)) };
	uint32_t sum;

	memmove(to + sizeof(uh), data, len);
	memcpy(to, &uh, sizeof(uh));
	sum = in_pseudo(addr4(src), addr4(dst), IPPROTO_UDP,
	    (uint16_t)(sizeof(uh) + len));
	uh.uh_sum = in_cksum_finish(in_cksum_partial(sum, to,
	    sizeof(uh) + len, 0));
	if (uh.uh_sum == 0)
		uh.uh_sum = 0xffff;
	memcpy(to, &uh, sizeof(uh));
	return (sizeof(uh) + len);
}

/* rest: the second word, as it is to be read by a person. */
size_t
put_icmp(uint8_t *to, uint8_t type, uint8_t code, uint32_t rest,
    const void *data, size_t len)
{
	struct icmp icmp = { .icmp_type = type, .icmp_code = code };

	icmp.icmp_void = htonl(rest);
	memmove(to + sizeof(icmp), data, len);
	memcpy(to, &icmp, sizeof(icmp));
	icmp.icmp_cksum = in_cksum(to, sizeof(icmp) + len);
	memcpy(to, &icmp, sizeof(icmp));
	return (sizeof(icmp) + len);
}

void
frame_ip4(struct frame *f, const struct ip4 *h, const void *payload,
    size_t len)
{
	uint8_t pkt[FRAME_MAX];

	frame_ether(f, mac_r0, mac_a, ETHERTYPE_IP, pkt,
	    put_ip4(pkt, h, payload, len));
	frame_pad(f, 0);
}

void
frame_udp(struct frame *f, const struct ip4 *h)
{
	static const char data[] = "netepoch-case-data";
	uint8_t udp[64];
	size_t len;

	len = put_udp(udp, h->src != NULL ? h->src : IP_A,
	    h->dst != NULL ? h->dst : IP_FAR, 5000, data, sizeof(data) - 1);
	frame_ip4(f, h, udp, len);
}

void
frame_arp(struct frame *f, const uint8_t *dst, const uint8_t *esrc,
    uint16_t op, const uint8_t *sha, const char *spa, const uint8_t *tha,
    const char *tpa)
{
	struct ether_arp ah = { .arp_hrd = htons(ARPHRD_ETHER),
	    .arp_pro = htons(ETHERTYPE_IP), .arp_hln = 6, .arp_pln = 4,
	    .arp_op = htons(op), .arp_spa = addr4(spa),
	    .arp_tpa = addr4(tpa) };

	memcpy(ah.arp_sha, sha, 6);
	if (tha != NULL)
		memcpy(ah.arp_tha, tha, 6);
	frame_ether(f, dst, esrc, ETHERTYPE_ARP, &ah, sizeof(ah));
	frame_pad(f, 0);
}

/* ---- The router ---- */

static void
cap_output(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	struct frame *f;
	unsigned int i;

	assert_true(in_epoch(net_epoch_preempt));
	for (i = 0; i < n; i++) {
		f = malloc(sizeof(*f));
		assert_non_null(f);
		assert_true(m[i]->m_pkthdr.len <= FRAME_MAX);
		f->f_len = m[i]->m_pkthdr.len;
		m_copydata(m[i], 0, f->f_len, f->f_b);
		pthread_mutex_lock(&cap_mtx);
		assert_true(ncap < CAP_MAX);
		cap[ncap].c_ifp = ifp;
		cap[ncap++].c_frame = f;
		pthread_mutex_unlock(&cap_mtx);
	}
	m_free_burst(m, n);
}

/* Loopback without a queue. */
static void
lo_output(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{

	atomic_load_explicit(&ifp->if_input, memory_order_acquire)(ifp, m, n);
}

static const struct if_linktype lo_linktype = {
	.lt_type = IFT_LOOP,
	.lt_input = ip_input,
};

struct ifnet *
rig_interface(const char *name, const uint8_t *mac)
{
	struct ifnet *ifp;

	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(if_alloc(R.vnet, mac != NULL ? IFT_ETHER : IFT_LOOP,
	    name, &ifp), 0);
	atomic_store(&ifp->if_output, mac != NULL ? cap_output : lo_output);
	atomic_fetch_or(&ifp->if_flags, mac != NULL ?
	    IFF_BROADCAST | IFF_SIMPLEX | IFF_MULTICAST : IFF_LOOPBACK);
	ifp->if_mtu_max = 9000;
	if (mac != NULL)
		assert_int_equal(if_setlladdr(ifp, mac), 0);
	assert_int_equal(if_attach(ifp), 0);
	VNET_CONFIG_UNLOCK(R.vnet);
	return (ifp);
}

static void
rig_up(struct ifnet *ifp, const char *addr, int plen)
{
	static const struct in_addr none;

	/* In this order each address is announced once. */
	assert_int_equal(if_setflags(ifp, IFF_UP, 0), 0);
	assert_int_equal(if_addr_add(ifp, addr4(addr), plen, none, none), 0);
}

/* R has just said that it is here: wait for what the clock's thread sends. */
static void
rig_greeting(unsigned int n)
{
	int i;

	for (i = 0; i < 5000 && rig_nsent() < n; i++)
		(void)usleep(1000);
	assert_int_equal(rig_nsent(), n);
	rig_forget();
}

int
rig_setup_dynamic(void **state)
{
	struct rt_req far = { .rq_dst = addr4("203.0.113.0"), .rq_plen = 24,
	    .rq_flags = RTF_UP | RTF_GATEWAY | RTF_STATIC,
	    .rq_gw = addr4(IP_C) };
	int error;

	rig_cut = 0;
	error = mbuf_init(4096);
	assert_true(error == 0 || error == EALREADY);
	R.vnet = vnet_alloc();
	assert_non_null(R.vnet);
	R.vnet->v_sysctl = sysctl_tree_alloc();
	assert_non_null(R.vnet->v_sysctl);
	assert_int_equal(callout_wheel_create("clock", &R.vnet->v_callouts),
	    0);
	assert_int_equal(if_linktype_register(R.vnet, &lo_linktype), 0);
	assert_int_equal(ether_vnet_init(R.vnet), 0);
	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(route_vnet_init(R.vnet), 0);
	assert_int_equal(ip_vnet_init(R.vnet), 0);
	VNET_CONFIG_UNLOCK(R.vnet);
	R.lo = rig_interface("lo0", NULL);
	R.vnet->v_loif = R.lo;
	R.p0 = rig_interface("p0", mac_r0);
	R.p1 = rig_interface("p1", mac_r1);
	VNET_CONFIG_LOCK(R.vnet);
	rig_up(R.lo, "127.0.0.1", 8);
	rig_up(R.p0, IP_R0, 24);
	rig_up(R.p1, IP_R1, 24);
	assert_int_equal(rt_add(R.vnet, &far), 0);
	VNET_CONFIG_UNLOCK(R.vnet);
	rig_greeting(2);
	rig_sysctl("net.inet.ip.forwarding", 1);
	rig_sysctl("net.inet.icmp.icmplim", 0);
	return (0);
}

int
rig_setup(void **state)
{

	(void)rig_setup_dynamic(state);
	rig_neighbour(R.p0, IP_A, mac_a);
	rig_neighbour(R.p0, IP_B, mac_b);
	rig_neighbour(R.p1, IP_C, mac_c);
	return (0);
}

static void
rig_detach(struct ifnet *ifp)
{

	if_detach(ifp);
	if_free(ifp);
}

/* Nothing may be lost on the way: all frames are back. */
int
rig_teardown(void **state)
{

	VNET_CONFIG_LOCK(R.vnet);
	rig_detach(R.p1);
	rig_detach(R.p0);
	R.vnet->v_loif = NULL;
	rig_detach(R.lo);
	ip_vnet_fini(R.vnet);
	route_vnet_fini(R.vnet);
	VNET_CONFIG_UNLOCK(R.vnet);
	NET_EPOCH_DRAIN_CALLBACKS();
	callout_wheel_free(R.vnet->v_callouts);
	sysctl_tree_free(R.vnet->v_sysctl);
	vnet_free(R.vnet);
	rig_forget();
	m_cache_drain();
	assert_int_equal(mbuf_nfree(), mbuf_nframes());
	return (0);
}

void
rig_neighbour(struct ifnet *ifp, const char *addr, const uint8_t *mac)
{

	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(lla_set(ifp, addr4(addr), mac, LLE_STATIC, 0), 0);
	VNET_CONFIG_UNLOCK(R.vnet);
}

void
rig_sysctl(const char *name, int value)
{
	char text[16], err[128];

	(void)snprintf(text, sizeof(text), "%d", value);
	assert_int_equal(sysctl_set(R.vnet->v_sysctl, name, text, err,
	    sizeof(err)), 0);
}

void
rig_mtu(struct ifnet *ifp, uint32_t mtu)
{

	VNET_CONFIG_LOCK(R.vnet);
	assert_int_equal(if_setmtu(ifp, mtu), 0);
	VNET_CONFIG_UNLOCK(R.vnet);
}

/* One mbuf of len bytes that end where its buffer ends. */
static struct mbuf *
rig_mbuf_end(const uint8_t *b, uint32_t len)
{
	struct mbuf *m = m_gethdr();

	assert_non_null(m);
	assert_true(len <= MBUF_DATA_SIZE);
	m->m_data += m_trailingspace(m) - len;
	memcpy(m->m_data, b, len);
	m->m_len = m->m_pkthdr.len = len;
	return (m);
}

struct mbuf *
rig_mbuf(const struct frame *f)
{
	struct mbuf *m;

	if (f->f_len > MBUF_DATA_SIZE)
		return (m_devget(f->f_b, f->f_len));
	if (rig_cut == 0 || rig_cut >= f->f_len)
		return (rig_mbuf_end(f->f_b, f->f_len));
	m = rig_mbuf_end(f->f_b, rig_cut);
	m_cat(m, rig_mbuf_end(f->f_b + rig_cut, f->f_len - rig_cut));
	return (m);
}

void
rig_inject(struct ifnet *ifp, const struct frame *f, unsigned int n)
{
	struct mbuf *m[MBUF_BURST];
	struct epoch_tracker et;
	unsigned int i;

	assert_true(n <= MBUF_BURST);
	for (i = 0; i < n; i++)
		m[i] = rig_mbuf(&f[i]);
	NET_EPOCH_ENTER(et);
	atomic_load_explicit(&ifp->if_input, memory_order_acquire)(ifp, m, n);
	NET_EPOCH_EXIT(et);
}

void
rig_tick(uint64_t now)
{
	struct epoch_tracker et;

	NET_EPOCH_ENTER(et);
	lltable_tick(R.vnet, now);
	ip_reass_tick(R.vnet->v_ip, now);
	NET_EPOCH_EXIT(et);
}

const struct frame *
rig_sent(struct ifnet *ifp)
{
	struct frame *f = NULL;
	unsigned int i;

	pthread_mutex_lock(&cap_mtx);
	for (i = 0; i < ncap && cap[i].c_ifp != ifp; i++)
		continue;
	if (i < ncap) {
		f = cap[i].c_frame;
		ncap--;
		memmove(&cap[i], &cap[i + 1], (ncap - i) * sizeof(cap[0]));
	}
	pthread_mutex_unlock(&cap_mtx);
	if (f == NULL)
		return (NULL);
	taken = *f;
	free(f);
	return (&taken);
}

unsigned int
rig_nsent(void)
{
	unsigned int n;

	pthread_mutex_lock(&cap_mtx);
	n = ncap;
	pthread_mutex_unlock(&cap_mtx);
	return (n);
}

void
rig_forget(void)
{

	pthread_mutex_lock(&cap_mtx);
	while (ncap != 0)
		free(cap[--ncap].c_frame);
	pthread_mutex_unlock(&cap_mtx);
}

uint64_t
rig_drops(struct ifnet *ifp, enum if_drop why)
{

	return (if_counter(ifp, (enum if_counter)(IFC_DROPS + why)));
}

uint64_t
rig_all_drops(void)
{
	uint64_t n = 0;
	int why;

	for (why = 0; why < IFD_COUNT; why++)
		n += rig_drops(R.p0, (enum if_drop)why) +
		    rig_drops(R.p1, (enum if_drop)why) +
		    rig_drops(R.lo, (enum if_drop)why);
	return (n);
}

/* ---- Checks ---- */

/* The IP header and ICMP message of a frame have right checksums. */
void
check_sums(const struct frame *out)
{
	const uint8_t *b = out->f_b + ETHER_HDR_LEN;
	struct ip ip;

	assert_true(out->f_len >= ETHER_HDR_LEN + IP_HDR_MIN);
	memcpy(&ip, b, sizeof(ip));
	assert_true(out->f_len >= ETHER_HDR_LEN + (uint32_t)ntohs(ip.ip_len));
	assert_int_equal(in_cksum(b, ip_hl(&ip)), 0);
	if (ip.ip_p == IPPROTO_ICMP &&
	    (ip.ip_off & htons(IP_OFFMASK | IP_MF)) == 0)
		assert_int_equal(in_cksum(b + ip_hl(&ip),
		    ntohs(ip.ip_len) - ip_hl(&ip)), 0);
}

/* out is in, one hop further, between these MACs, padding zero. */
void
check_forwarded(const struct frame *out, const struct frame *in,
    const uint8_t *src, const uint8_t *dst)
{
	struct frame want;
	uint32_t len;
	struct ip ip;

	assert_non_null(out);
	memcpy(&ip, in->f_b + ETHER_HDR_LEN, sizeof(ip));
	len = ntohs(ip.ip_len);
	frame_ether(&want, dst, src, ETHERTYPE_IP, in->f_b + ETHER_HDR_LEN,
	    len);
	ip.ip_ttl--;
	ip.ip_sum = 0;
	memcpy(want.f_b + ETHER_HDR_LEN, &ip, sizeof(ip));
	ip.ip_sum = in_cksum(want.f_b + ETHER_HDR_LEN, ip_hl(&ip));
	memcpy(want.f_b + ETHER_HDR_LEN, &ip, sizeof(ip));
	frame_pad(&want, 0);
	assert_int_equal(out->f_len, want.f_len);
	assert_memory_equal(out->f_b, want.f_b, want.f_len);
}

/*
 * out is an ICMP message to A or C; about is quoted, as much as fits.
 * Returns its IP header.
 */
const struct ip *
check_icmp(const struct frame *out, const char *src, const char *dst,
    uint8_t type, uint8_t code, uint32_t rest, const struct frame *about)
{
	const struct ip *ip;
	const struct icmp *icmp;
	uint32_t quote, want;
	struct ip oip;

	assert_non_null(out);
	check_sums(out);
	ip = (const void *)(out->f_b + ETHER_HDR_LEN);
	assert_int_equal(ip->ip_p, IPPROTO_ICMP);
	assert_int_equal(ip->ip_ttl, 64);
	assert_int_equal(ip->ip_src.s_addr, addr4(src).s_addr);
	assert_int_equal(ip->ip_dst.s_addr, addr4(dst).s_addr);
	icmp = (const void *)((const uint8_t *)ip + ip_hl(ip));
	assert_int_equal(icmp->icmp_type, type);
	assert_int_equal(icmp->icmp_code, code);
	assert_int_equal(ntohl(icmp->icmp_void), rest);
	if (about == NULL)
		return (ip);
	assert_int_equal(ip->ip_tos, IPTOS_PREC_INTERNETCONTROL);
	quote = ntohs(ip->ip_len) - IP_HDR_MIN - ICMP_MINLEN;
	memcpy(&oip, about->f_b + ETHER_HDR_LEN, sizeof(oip));
	want = ntohs(oip.ip_len);
	if (want > 548)
		want = 548;
	assert_int_equal(quote, want);
	assert_memory_equal(icmp + 1, about->f_b + ETHER_HDR_LEN, quote);
	return (ip);
}
