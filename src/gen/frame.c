/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Making frames; frame.h says how.  A frame_gen belongs to one thread.  All
 * sums are of words as they lie in memory, kept in 64 bits without carry
 * trouble: what is added stays below 2^40.
 */
#include "gen/frame.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "wire/in_cksum.h"

static const char frame_text[] = "netepoch pkt-gen payload ";

uint32_t
frame_min(bool v6)
{

	return (v6 ? FRAME_PAYLOAD_V6 : FRAME_PAYLOAD_V4);
}

uint32_t
frame_stamped_min(bool v6)
{

	return (frame_min(v6) + (uint32_t)sizeof(struct frame_stamp));
}

/* ---- The template ---- */

static bool
frame_end_right(const struct frame_end *fe)
{

	return (fe->fe_from <= fe->fe_to &&
	    fe->fe_port_from <= fe->fe_port_to);
}

static bool
frame_end_fixed(const struct frame_end *fe)
{

	return (fe->fe_from == fe->fe_to &&
	    fe->fe_port_from == fe->fe_port_to);
}

/* The address at p, and the sum of what does not change of it. */
static uint32_t
frame_addr6(const struct frame_end *fe, uint8_t *p)
{
	uint32_t last = htonl(fe->fe_from);

	memcpy(p, &fe->fe_addr6, 12);
	memcpy(p + 12, &last, sizeof(last));
	return (in_cksum_partial(0, p, 12, 0));
}

/* Headers without what changes, and the sums of them. */
static void
frame_headers(struct frame_gen *fg)
{
	const struct frame_conf *fc = &fg->fg_conf;
	struct ether_header *eh = (void *)fg->fg_bytes;
	struct ip *ip = (void *)(eh + 1);
	struct ip6_hdr *ip6 = (void *)(eh + 1);

	memcpy(eh->ether_dhost, fc->fc_dmac, ETHER_ADDR_LEN);
	memcpy(eh->ether_shost, fc->fc_smac, ETHER_ADDR_LEN);
	fg->fg_udpsum = htons(IPPROTO_UDP);
	if (fc->fc_v6) {
		eh->ether_type = htons(ETHERTYPE_IPV6);
		ip6->ip6_vfc = IPV6_VERSION;
		ip6->ip6_nxt = IPPROTO_UDP;
		ip6->ip6_hlim = FRAME_TTL;
		fg->fg_udpsum += frame_addr6(&fc->fc_src,
		    ip6->ip6_src.s6_addr);
		fg->fg_udpsum += frame_addr6(&fc->fc_dst,
		    ip6->ip6_dst.s6_addr);
		fg->fg_l4 = FRAME_L4_V6;
	} else {
		eh->ether_type = htons(ETHERTYPE_IP);
		ip->ip_vhl = 0x45;
		ip->ip_ttl = FRAME_TTL;
		ip->ip_p = IPPROTO_UDP;
		fg->fg_ipsum = in_cksum_partial(0, ip, sizeof(*ip), 0);
		fg->fg_l4 = FRAME_L4_V4;
	}
}

/*
 * The payload, and its sum for each length of the frame.  Where the shortest
 * has no room for a stamp no frame has one: numbers that are not there would
 * seem to be lost.
 */
static void
frame_payload(struct frame_gen *fg)
{
	uint32_t start = fg->fg_l4 + sizeof(struct udphdr);
	uint32_t stamped = start + sizeof(struct frame_stamp), i;
	const struct frame_stamp fs = {
		.fs_magic = htonl(FRAME_MAGIC),
		.fs_stream = htons(fg->fg_conf.fc_stream),
	};
	uint32_t text;

	fg->fg_stamped = (fg->fg_conf.fc_minlen != 0 ?
	    fg->fg_conf.fc_minlen : fg->fg_conf.fc_len) >= stamped;
	for (i = start; i < FRAME_MAX; i++)
		fg->fg_bytes[i] = (uint8_t)frame_text[(i - start) %
		    (sizeof(frame_text) - 1)];
	for (i = start; !fg->fg_stamped && i <= FRAME_MAX; i++)
		fg->fg_paysum[i] = in_cksum_fold(in_cksum_partial(0,
		    fg->fg_bytes + start, i - start, 0));
	if (!fg->fg_stamped)
		return;
	memcpy(fg->fg_bytes + start, &fs, sizeof(fs));
	text = in_cksum_partial(0, &fs, sizeof(fs), 0);
	for (i = stamped; i <= FRAME_MAX; i++)
		fg->fg_paysum[i] = in_cksum_fold(in_cksum_partial(text,
		    fg->fg_bytes + stamped, i - stamped, 0));
}

static uint64_t
frame_random(struct frame_gen *fg)
{
	uint64_t x = fg->fg_random;

	/* Marsaglia's xorshift, with the multiplier of Vigna. */
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	fg->fg_random = x;
	return (x * UINT64_C(0x2545f4914f6cdd1d));
}

/* A random number in from..to. */
static uint32_t
frame_draw(struct frame_gen *fg, uint32_t from, uint32_t to)
{
	uint64_t n = (uint64_t)to - from + 1;

	return (from + (uint32_t)((frame_random(fg) >> 32) * n >> 32));
}

static void
frame_draw_end(struct frame_gen *fg, const struct frame_end *fe,
    uint32_t *addr, uint16_t *port)
{

	*addr = frame_draw(fg, fe->fe_from, fe->fe_to);
	*port = (uint16_t)frame_draw(fg, fe->fe_port_from, fe->fe_port_to);
}

/* Turn one end's port and address by one; true: it is round. */
static inline bool
frame_turn(const struct frame_end *fe, uint32_t *addr, uint16_t *port)
{

	if (*port != fe->fe_port_to) {
		++*port;
		return (false);
	}
	*port = fe->fe_port_from;
	if (*addr != fe->fe_to) {
		++*addr;
		return (false);
	}
	*addr = fe->fe_from;
	return (true);
}

/* To the flow of the next frame. */
static inline void
frame_advance(struct frame_gen *fg)
{
	const struct frame_end *src = &fg->fg_conf.fc_src;
	const struct frame_end *dst = &fg->fg_conf.fc_dst;
	bool round = true;

	if (src->fe_random)
		frame_draw_end(fg, src, &fg->fg_src, &fg->fg_sport);
	else
		round = frame_turn(src, &fg->fg_src, &fg->fg_sport);
	if (dst->fe_random)
		frame_draw_end(fg, dst, &fg->fg_dst, &fg->fg_dport);
	else if (round)
		(void)frame_turn(dst, &fg->fg_dst, &fg->fg_dport);
}

/*
 * Write a frame of len bytes at p: the flow, lengths, number and time of the
 * moment, and the checksums that follow from them.  sec, nsec and number:
 * network order.
 */
static inline void
frame_write(const struct frame_gen *fg, uint8_t *p, uint32_t len,
    uint32_t number, uint32_t sec, uint32_t nsec)
{
	uint32_t src = htonl(fg->fg_src), dst = htonl(fg->fg_dst);
	uint16_t ulen = htons((uint16_t)(len - fg->fg_l4)), ilen, check;
	struct udphdr uh = {
		.uh_sport = htons(fg->fg_sport),
		.uh_dport = htons(fg->fg_dport),
		.uh_ulen = ulen,
	};
	uint32_t start = fg->fg_l4 + sizeof(uh);
	uint64_t sum;

	memcpy(p, fg->fg_bytes, len);
	if (fg->fg_conf.fc_v6) {
		struct ip6_hdr *ip6 = (void *)(p + ETHER_HDR_LEN);

		ip6->ip6_plen = ulen;
		memcpy(ip6->ip6_src.s6_addr + 12, &src, sizeof(src));
		memcpy(ip6->ip6_dst.s6_addr + 12, &dst, sizeof(dst));
	} else {
		struct ip *ip = (void *)(p + ETHER_HDR_LEN);

		ilen = htons((uint16_t)(len - ETHER_HDR_LEN));
		ip->ip_len = ilen;
		ip->ip_src.s_addr = src;
		ip->ip_dst.s_addr = dst;
		ip->ip_sum = (uint16_t)~in_cksum_fold64(fg->fg_ipsum + ilen +
		    src + dst);
	}
	sum = fg->fg_udpsum + 2 * (uint64_t)ulen + src + dst + uh.uh_sport +
	    uh.uh_dport + fg->fg_paysum[len];
	if (fg->fg_stamped) {
		struct frame_stamp *fs = (void *)(p + start);

		fs->fs_number = number;
		fs->fs_sec = sec;
		fs->fs_nsec = nsec;
		sum += (uint64_t)number + sec + nsec;
	}
	check = (uint16_t)~in_cksum_fold64(sum);
	uh.uh_sum = check != 0 ? check : 0xffff;
	memcpy(p + fg->fg_l4, &uh, sizeof(uh));
}

int
frame_init(struct frame_gen *fg, const struct frame_conf *fc)
{
	uint8_t frame[FRAME_MAX];
	struct udphdr uh;

	if (fc->fc_len < frame_min(fc->fc_v6) || fc->fc_len > FRAME_MAX ||
	    (fc->fc_minlen != 0 && (fc->fc_minlen > fc->fc_len ||
	    fc->fc_minlen < frame_min(fc->fc_v6))) ||
	    !frame_end_right(&fc->fc_src) || !frame_end_right(&fc->fc_dst))
		return (EINVAL);
	memset(fg, 0, sizeof(*fg));
	fg->fg_conf = *fc;
	fg->fg_random = fc->fc_seed | 1;
	frame_headers(fg);
	frame_payload(fg);
	fg->fg_src = fc->fc_src.fe_from;
	fg->fg_dst = fc->fc_dst.fe_from;
	fg->fg_sport = fc->fc_src.fe_port_from;
	fg->fg_dport = fc->fc_dst.fe_port_from;
	fg->fg_plain = frame_end_fixed(&fc->fc_src) &&
	    frame_end_fixed(&fc->fc_dst) && fc->fc_minlen == 0 &&
	    fg->fg_stamped;
	if (fg->fg_plain) {
		/* The frame is the template; its UDP sum is what is left. */
		frame_write(fg, frame, fc->fc_len, 0, 0, 0);
		memcpy(fg->fg_bytes, frame, fc->fc_len);
		memcpy(&uh, frame + fg->fg_l4, sizeof(uh));
		fg->fg_plainsum = (uint16_t)~uh.uh_sum;
	} else if (fc->fc_src.fe_random || fc->fc_dst.fe_random)
		frame_advance(fg);
	return (0);
}

/* ---- Frames ---- */

static inline void
frame_done(struct mbuf *m, uint32_t len)
{

	m->m_len = len;
	m->m_pkthdr.len = len;
}

/* One flow and one length: copy the template, write number and time. */
static inline __attribute__((always_inline)) void
frame_fill_plain(const struct frame_gen *fg, struct mbuf **m, unsigned int n,
    uint32_t number, uint32_t sec, uint32_t nsec, uint32_t l4, bool line)
{
	uint64_t base = fg->fg_plainsum + (uint64_t)sec + nsec;
	uint32_t len = fg->fg_conf.fc_len, at = l4 + sizeof(struct udphdr);
	uint32_t be;
	uint16_t check;
	uint8_t *p;

	for (unsigned int i = 0; i < n; i++) {
		p = mtod(m[i], uint8_t *);
		be = htonl(number + i);
		check = (uint16_t)~in_cksum_fold64(base + be);
		check = check != 0 ? check : 0xffff;
		/* What is behind a short frame is not part of it. */
		memcpy(p, fg->fg_bytes, line ? CACHE_LINE_SIZE : len);
		memcpy(p + l4 + offsetof(struct udphdr, uh_sum), &check,
		    sizeof(check));
		memcpy(p + at, &be, sizeof(be));
		memcpy(p + at + offsetof(struct frame_stamp, fs_sec), &sec,
		    sizeof(sec));
		memcpy(p + at + offsetof(struct frame_stamp, fs_nsec), &nsec,
		    sizeof(nsec));
		frame_done(m[i], len);
	}
}

static uint64_t
frame_fill_any(struct frame_gen *fg, struct mbuf **m, unsigned int n,
    uint32_t number, uint32_t sec, uint32_t nsec)
{
	const struct frame_conf *fc = &fg->fg_conf;
	uint32_t len = fc->fc_len;
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (fc->fc_minlen != 0)
			len = frame_draw(fg, fc->fc_minlen, fc->fc_len);
		frame_write(fg, mtod(m[i], uint8_t *), len,
		    htonl(number + i), sec, nsec);
		frame_done(m[i], len);
		bytes += len;
		frame_advance(fg);
	}
	return (bytes);
}

uint64_t
frame_fill(struct frame_gen *fg, struct mbuf **m, unsigned int n,
    uint32_t number, uint64_t now)
{
	uint32_t sec = htonl((uint32_t)(now / 1000000000));
	uint32_t nsec = htonl((uint32_t)(now % 1000000000));
	uint32_t len = fg->fg_conf.fc_len;

	if (!fg->fg_plain)
		return (frame_fill_any(fg, m, n, number, sec, nsec));
	if (len <= CACHE_LINE_SIZE)
		frame_fill_plain(fg, m, n, number, sec, nsec, FRAME_L4_V4,
		    true);
	else
		frame_fill_plain(fg, m, n, number, sec, nsec, fg->fg_l4,
		    false);
	return ((uint64_t)n * len);
}

/* ---- Checking ---- */

/* UDP of ulen bytes at p over a pseudo-header with the sum given. */
static bool
frame_udp_right(const uint8_t *p, uint32_t room, uint32_t pseudo, bool v6)
{
	struct udphdr uh;
	uint32_t ulen;

	if (room < sizeof(uh))
		return (false);
	memcpy(&uh, p, sizeof(uh));
	ulen = ntohs(uh.uh_ulen);
	if (ulen < sizeof(uh) || ulen > room)
		return (false);
	if (uh.uh_sum == 0)
		return (!v6);
	return (in_cksum_finish(in_cksum_partial(pseudo +
	    htons(IPPROTO_UDP) + uh.uh_ulen, p, ulen, 0)) == 0);
}

bool
frame_sums_right(const void *frame, uint32_t len)
{
	const uint8_t *p = (const uint8_t *)frame + ETHER_HDR_LEN;
	struct ip6_hdr ip6;
	struct ip ip;
	uint16_t type;
	uint32_t hlen;

	if (len < ETHER_HDR_LEN)
		return (false);
	len -= ETHER_HDR_LEN;
	memcpy(&type, p - ETHER_TYPE_LEN, sizeof(type));
	if (type == htons(ETHERTYPE_IPV6)) {
		if (len < sizeof(ip6))
			return (false);
		memcpy(&ip6, p, sizeof(ip6));
		if (ntohs(ip6.ip6_plen) > len - sizeof(ip6))
			return (false);
		return (ip6.ip6_nxt != IPPROTO_UDP || frame_udp_right(p +
		    sizeof(ip6), ntohs(ip6.ip6_plen), in_cksum_partial(0,
		    &ip6.ip6_src, 2 * sizeof(ip6.ip6_src), 0), true));
	}
	if (type != htons(ETHERTYPE_IP))
		return (true);
	if (len < sizeof(ip))
		return (false);
	memcpy(&ip, p, sizeof(ip));
	hlen = (uint32_t)(ip.ip_vhl & 15) * 4;
	if (hlen < sizeof(ip) || hlen > len || ntohs(ip.ip_len) < hlen ||
	    ntohs(ip.ip_len) > len || in_cksum(p, hlen) != 0)
		return (false);
	if (ip.ip_p != IPPROTO_UDP || (ip.ip_off & htons(0x3fff)) != 0)
		return (true);
	return (frame_udp_right(p + hlen, ntohs(ip.ip_len) - hlen,
	    in_cksum_partial(0, &ip.ip_src, 2 * sizeof(ip.ip_src), 0),
	    false));
}
