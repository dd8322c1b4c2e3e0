/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * ICMP for a router: errors about packets of others, and echo.
 *
 * An error is sent about no error, no fragment but the first, nothing that
 * went to many, and nothing whose source is not one host (RFC 1812 4.3.2.7);
 * each kind at most net.inet.icmp.icmplim times a second.  The limit is moved
 * a little every second, so that nobody can count what others were answered
 * by what he himself was.
 *
 * On any thread, inside the epoch; no lock.
 */
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include "ip/ip_private.h"
#include "sys/thread.h"
#include "wire/in_cksum.h"
#include "wire/ip_icmp.h"

#define	NS_PER_S	1000000000ull

/* An error is at most this long, header included (RFC 1812 4.3.2.3). */
#define	ICMP_ERROR_MAX	576
#define	ICMP_QUOTE_MAX	(ICMP_ERROR_MAX - IP_HDR_MIN - ICMP_MINLEN)

/* Is m itself an ICMP error, or too short to say? */
static bool
icmp_is_error(const struct mbuf *m)
{
	const struct ip *ip = mtod(m, const struct ip *);
	uint32_t hlen = (uint32_t)ip_hl(ip);
	uint8_t type;

	if (ip->ip_p != IPPROTO_ICMP)
		return (false);
	if (m->m_pkthdr.len <= hlen)
		return (true);
	m_copydata(m, hlen, sizeof(type), &type);
	return (icmp_type_is_error(type));
}

/*
 * May m be answered by an error?  Its destination must be one host, and its
 * source one that we can reach and that is not ourselves.
 */
static bool
icmp_wanted(struct vnet *vnet, const struct mbuf *m)
{
	const struct ip *ip = mtod(m, const struct ip *);
	const struct nhop *nh;

	if ((m->m_flags & (M_BCAST | M_MCAST)) != 0 ||
	    (ip->ip_off & htons(IP_OFFMASK)) != 0 ||
	    !ip_addr_host(ip->ip_src) || !ip_addr_host(ip->ip_dst) ||
	    icmp_is_error(m))
		return (false);
	nh = fib4_lookup(vnet->v_fib4, ip->ip_dst.s_addr);
	if (nh != NULL && (nh->nh_flags & NHF_BROADCAST) != 0)
		return (false);
	nh = fib4_lookup(vnet->v_fib4, ip->ip_src.s_addr);
	return (nh != NULL && (nh->nh_flags & NHF_SPECIAL) == 0);
}

static enum icmp_limit
icmp_limit_of(uint8_t type)
{

	switch (type) {
	case ICMP_TIMXCEED:
		return (ICMPLIM_TIMXCEED);
	case ICMP_PARAMPROB:
		return (ICMPLIM_PARAMPROB);
	case ICMP_REDIRECT:
		return (ICMPLIM_REDIRECT);
	default:
		return (ICMPLIM_UNREACH);
	}
}

/* May another answer of this kind be sent now? */
bool
icmp_within_limit(struct ip_vnet *iv, enum icmp_limit lim)
{
	int rate = ip_tunable(&iv->iv_icmplim);
	int jitter = ip_tunable(&iv->iv_icmpjitter);

	if (rate == 0)
		return (true);		/* no limit, as FreeBSD has it */
	if (jitter > rate / 2)
		jitter = rate / 2;
	rate += (int)(ip_mix(iv->iv_seed, time_coarse_ns() / NS_PER_S) %
	    (2 * (uint64_t)jitter + 1)) - jitter;
	return (rate_check(&iv->iv_limit[lim], (uint32_t)rate));
}

/* How many bytes of m an error quotes. */
static uint32_t
icmp_quote_len(struct ip_vnet *iv, const struct mbuf *m)
{
	uint32_t len = m->m_pkthdr.len, max;

	max = (uint32_t)ip_hl(mtod(m, const struct ip *)) +
	    (uint32_t)ip_tunable(&iv->iv_quotelen);
	if (len > max)
		len = max;
	return (len < ICMP_QUOTE_MAX ? len : ICMP_QUOTE_MAX);
}

/* The error about m, its IP header for ip_output() to finish; or NULL. */
static struct mbuf *
icmp_make(struct vnet *vnet, const struct mbuf *m, uint8_t type, uint8_t code,
    uint32_t arg)
{
	struct ip_vnet *iv = vnet->v_ip;
	const struct ip *oip = mtod(m, const struct ip *);
	uint32_t quote = icmp_quote_len(iv, m);
	uint32_t len = IP_HDR_MIN + ICMP_MINLEN + quote;
	struct icmp *icmp;
	struct mbuf *n;
	struct ip *ip;

	static_assert(ICMP_ERROR_MAX <= MBUF_DATA_SIZE, "fits a frame");
	if ((n = m_gethdr()) == NULL)
		return (NULL);
	n->m_len = n->m_pkthdr.len = len;
	ip = mtod(n, struct ip *);
	*ip = (struct ip){ .ip_vhl = IP_VHL_BORING,
	    .ip_tos = IPTOS_PREC_INTERNETCONTROL,
	    .ip_len = htons((uint16_t)len), .ip_p = IPPROTO_ICMP,
	    .ip_ttl = (uint8_t)ip_tunable(&iv->iv_ttl),
	    .ip_dst = oip->ip_src };
	/* Asked at one of our addresses we answer from it. */
	if (if_addr_own(vnet, oip->ip_dst) != NULL)
		ip->ip_src = oip->ip_dst;
	icmp = mtodo(n, IP_HDR_MIN);
	*icmp = (struct icmp){ .icmp_type = type, .icmp_code = code };
	if (type == ICMP_REDIRECT)
		icmp->icmp_gwaddr.s_addr = arg;
	else if (type == ICMP_PARAMPROB)
		icmp->icmp_pptr = (uint8_t)arg;
	else if (type == ICMP_UNREACH && code == ICMP_UNREACH_NEEDFRAG)
		icmp->icmp_nextmtu = htons((uint16_t)(arg < IP_MAXPACKET ?
		    arg : IP_MAXPACKET));
	m_copydata(m, 0, quote, icmp + 1);
	icmp->icmp_cksum = in_cksum(icmp, ICMP_MINLEN + quote);
	return (n);
}

static void
icmp_count_out(const struct ip_vnet *iv, uint8_t type)
{

	ip_count(iv, ICPS_ERRORS, 1);
	switch (type) {
	case ICMP_UNREACH:
		ip_count(iv, ICPS_OUT_UNREACH, 1);
		break;
	case ICMP_TIMXCEED:
		ip_count(iv, ICPS_OUT_TIMXCEED, 1);
		break;
	case ICMP_PARAMPROB:
		ip_count(iv, ICPS_OUT_PARAMPROB, 1);
		break;
	default:
		ip_count(iv, IPS_REDIRECTS, 1);
		break;
	}
}

/*
 * Tell the sender of m about it, if that is allowed and within the rate.  arg:
 * the MTU (3/4), the wrong byte's offset (12), the gateway (5).  m, with its
 * whole header in the first mbuf, lives on.  Inside the epoch.
 */
void
icmp_report(struct vnet *vnet, const struct mbuf *m, uint8_t type,
    uint8_t code, uint32_t arg)
{
	struct ip_vnet *iv = vnet->v_ip;
	struct mbuf *n;

	NET_EPOCH_ASSERT();

	if (!icmp_wanted(vnet, m)) {
		ip_count(iv, ICPS_NOTWANTED, 1);
		return;
	}
	if (!icmp_within_limit(iv, icmp_limit_of(type))) {
		ip_count(iv, ICPS_LIMITED, 1);
		return;
	}
	if ((n = icmp_make(vnet, m, type, code, arg)) == NULL) {
		ip_count(iv, ICPS_NOMBUF, 1);
		return;
	}
	icmp_count_out(iv, type);
	(void)ip_output(vnet, n);
}

/* The same about a packet that is dropped: consumes m. */
void
icmp_error(struct vnet *vnet, struct mbuf *m, uint8_t type, uint8_t code,
    uint32_t arg)
{

	icmp_report(vnet, m, type, code, arg);
	m_freem(m);
}

/*
 * Answer an echo request in its own mbuf: options stay (with our own trace in
 * them), a source route does not (RFC 1812 4.3.3.6).
 */
static void
icmp_echo(struct ifnet *ifp, struct mbuf *m, bool unicast)
{
	struct vnet *vnet = ip_if_vnet(ifp);
	struct ip_vnet *iv = vnet->v_ip;
	struct ip *ip = mtod(m, struct ip *);
	struct icmp *icmp = mtodo(m, ip_hl(ip));
	struct in_addr peer = ip->ip_src;

	icmp->icmp_type = ICMP_ECHOREPLY;
	icmp->icmp_cksum = in_cksum_update16(icmp->icmp_cksum,
	    htons(ICMP_ECHO << 8), htons(ICMP_ECHOREPLY << 8));
	ip->ip_src.s_addr = unicast ? ip->ip_dst.s_addr : INADDR_ANY;
	ip->ip_dst = peer;
	ip->ip_ttl = (uint8_t)ip_tunable(&iv->iv_ttl);
	ip->ip_off = 0;
	if (ip_hl(ip) > IP_HDR_MIN)
		ip_options_unroute(ip);
	m->m_flags &= ~(uint32_t)(M_BCAST | M_MCAST | M_VLANTAG | M_PROMISC);
	m->m_pkthdr.csum_flags = 0;
	ip_count(iv, ICPS_ECHO, 1);
	(void)ip_output(vnet, m);
}

/*
 * ICMP to this router, on ifp; unicast: to one of our addresses.  Consumes m.
 * Errors are of no use to a router that has no connections, and redirects
 * must be ignored (RFC 1812 5.2.7.2).
 */
void
icmp_input(struct ifnet *ifp, struct mbuf *m, bool unicast)
{
	struct ip_vnet *iv = ip_if_vnet(ifp)->v_ip;
	const struct ip *ip = mtod(m, const struct ip *);
	uint32_t hlen = (uint32_t)ip_hl(ip), len = m->m_pkthdr.len - hlen;
	const struct icmp *icmp;
	bool many;

	NET_EPOCH_ASSERT();

	many = !unicast || (m->m_flags & (M_BCAST | M_MCAST)) != 0;
	if (len < ICMP_MINLEN ||
	    in_cksum_finish(m_cksum(m, hlen, len)) != 0) {
		if_drop(ifp, m, IFD_ICMPBAD);
		return;
	}
	if (m->m_len < hlen + ICMP_MINLEN &&
	    (m = m_pullup(m, hlen + ICMP_MINLEN)) == NULL) {
		if_count_drop(ifp, IFD_NOMBUF, 1);
		return;
	}
	icmp = mtodo(m, hlen);
	if (icmp->icmp_type != ICMP_ECHO || icmp->icmp_code != 0 ||
	    (many && ip_tunable(&iv->iv_bmcastecho) == 0)) {
		if_drop(ifp, m, IFD_ICMPIGN);
		return;
	}
	icmp_echo(ifp, m, unicast);
}
