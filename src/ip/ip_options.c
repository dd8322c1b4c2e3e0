/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * IPv4 options: record route, timestamp, source routes.  Parsing changes
 * nothing and says which byte is wrong, so that an ICMP error can quote the
 * packet as it came; recording comes later and cannot fail.  Other options,
 * router alert among them, pass as they are.
 *
 * No state; the header is in one piece and owned by the caller.  Inside the
 * epoch where a vnet is asked for its addresses.  RFC 791, RFC 1812 5.3.13.
 */
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "ip/ip_private.h"

#define	IPOPT_ADDR_LEN	4	/* bytes of an address in an option */
#define	IPOPT_TIME_LEN	4	/* bytes of a time in an option */
#define	IPOPT_OFLW_MAX	15	/* routers that found no room, the most */

/*
 * The pointer of a route or timestamp option: at least min, and if there is
 * room at all then for need bytes.
 */
static bool
ip_opt_pointer_ok(const uint8_t *o, unsigned int min, unsigned int need)
{
	unsigned int ptr = o[IPOPT_OFFSET], len = o[IPOPT_OLEN];

	return (ptr >= min && (ptr > len || ptr - 1 + need <= len));
}

/* Bytes that one entry of a timestamp option takes; 0: unknown kind. */
static unsigned int
ip_opt_stamp_len(const uint8_t *o)
{

	switch (o[IPOPT_TS_OFLW] & 0x0f) {
	case IPOPT_TS_TSONLY:
		return (IPOPT_TIME_LEN);
	case IPOPT_TS_TSANDADDR:
	case IPOPT_TS_PRESPEC:
		return (IPOPT_ADDR_LEN + IPOPT_TIME_LEN);
	default:
		return (0);
	}
}

/*
 * Check one option that lies in the header as a whole.  Returns the position
 * in it of the byte that is wrong, or -1; *where is to hold its offset.
 */
static int
ip_opt_check(const uint8_t *o, unsigned int off, uint8_t *where)
{
	unsigned int len = o[IPOPT_OLEN], need;

	if (*where != 0)
		return (IPOPT_OPTVAL);		/* at most once */
	*where = (uint8_t)off;
	if (o[IPOPT_OPTVAL] != IPOPT_TS) {
		if (len <= IPOPT_OFFSET)
			return (IPOPT_OLEN);
		return (ip_opt_pointer_ok(o, IPOPT_MINOFF, IPOPT_ADDR_LEN) ?
		    -1 : IPOPT_OFFSET);
	}
	if (len <= IPOPT_TS_OFLW)
		return (IPOPT_OLEN);
	if ((need = ip_opt_stamp_len(o)) == 0)
		return (IPOPT_TS_OFLW);
	if (!ip_opt_pointer_ok(o, IPOPT_TS_MINOFF, need) ||
	    (o[IPOPT_OFFSET] > len && o[IPOPT_TS_OFLW] >> 4 == IPOPT_OFLW_MAX))
		return (IPOPT_OFFSET);
	return (-1);
}

/*
 * Find the options that a router acts on.  Returns 0 and fills opts (zero
 * before), or the offset from the IP header, in bytes, of what is wrong.
 */
unsigned int
ip_options_parse(const struct ip *ip, struct ip_optinfo *opts)
{
	const uint8_t *h = (const uint8_t *)ip;
	unsigned int hlen = (unsigned int)ip_hl(ip), off, len;
	int bad;

	for (off = IP_HDR_MIN; off < hlen && h[off] != IPOPT_EOL; off += len) {
		len = 1;
		if (h[off] == IPOPT_NOP)
			continue;
		if (hlen - off <= IPOPT_OLEN)
			return (off);
		len = h[off + IPOPT_OLEN];
		if (len <= IPOPT_OLEN || len > hlen - off)
			return (off + IPOPT_OLEN);
		bad = -1;
		switch (h[off]) {
		case IPOPT_RR:
			bad = ip_opt_check(h + off, off, &opts->io_rr);
			break;
		case IPOPT_TS:
			bad = ip_opt_check(h + off, off, &opts->io_ts);
			break;
		case IPOPT_LSRR:
		case IPOPT_SSRR:
			bad = ip_opt_check(h + off, off, &opts->io_sr);
			opts->io_strict = h[off] == IPOPT_SSRR;
			break;
		default:
			break;
		}
		if (bad >= 0)
			return (off + (unsigned int)bad);
	}
	return (0);
}

/* Put len bytes where the option's pointer is, and move it on. */
static void
ip_opt_put(uint8_t *o, const void *what, unsigned int len)
{

	memcpy(o + o[IPOPT_OFFSET] - 1, what, len);
	o[IPOPT_OFFSET] += (uint8_t)len;
}

static void
ip_opt_stamp(struct vnet *vnet, uint8_t *o, struct in_addr own)
{
	struct timespec ts;
	struct in_addr named;
	uint32_t now;

	if (o[IPOPT_OFFSET] > o[IPOPT_OLEN]) {
		o[IPOPT_TS_OFLW] += 0x10;	/* parsed: below the maximum */
		return;
	}
	(void)clock_gettime(CLOCK_REALTIME, &ts);
	now = htonl((uint32_t)(ts.tv_sec % 86400 * 1000 +
	    ts.tv_nsec / 1000000));
	switch (o[IPOPT_TS_OFLW] & 0x0f) {
	case IPOPT_TS_PRESPEC:
		memcpy(&named, o + o[IPOPT_OFFSET] - 1, sizeof(named));
		if (if_addr_own(vnet, named) == NULL)
			return;
		o[IPOPT_OFFSET] += IPOPT_ADDR_LEN;
		break;
	case IPOPT_TS_TSANDADDR:
		ip_opt_put(o, &own, sizeof(own));
		break;
	default:
		break;
	}
	ip_opt_put(o, &now, sizeof(now));
}

/*
 * Leave our trace in options that ip_options_parse() has passed.  own: the
 * address of the interface the packet leaves through (RFC 1812 5.3.13.5).
 * The header checksum is the caller's to mend.  Inside the epoch.
 */
void
ip_options_record(struct vnet *vnet, struct ip *ip,
    const struct ip_optinfo *opts, struct in_addr own)
{
	uint8_t *o = (uint8_t *)ip + opts->io_rr;

	if (opts->io_rr != 0 && o[IPOPT_OFFSET] <= o[IPOPT_OLEN])
		ip_opt_put(o, &own, sizeof(own));
	if (opts->io_ts != 0)
		ip_opt_stamp(vnet, (uint8_t *)ip + opts->io_ts, own);
}

/*
 * Write those options that every fragment carries to to[40], padded to words.
 * Returns their length in bytes.  The options need not be well formed: what
 * comes behind a broken one is left out.
 */
size_t
ip_options_copied(const struct ip *ip, uint8_t *to)
{
	const uint8_t *h = (const uint8_t *)ip;
	size_t hlen = ip_hl(ip), off, len, n = 0;

	for (off = IP_HDR_MIN; off < hlen && h[off] != IPOPT_EOL; off += len) {
		len = 1;
		if (h[off] == IPOPT_NOP)
			continue;
		if (hlen - off <= IPOPT_OLEN)
			break;
		len = h[off + IPOPT_OLEN];
		if (len <= IPOPT_OLEN || len > hlen - off)
			break;
		if (IPOPT_COPIED(h[off])) {
			memcpy(to + n, h + off, len);
			n += len;
		}
	}
	while (n % 4 != 0)
		to[n++] = IPOPT_EOL;
	return (n);
}

/*
 * Overwrite source routes by no-operations, for an answer that goes back by
 * our own routes.  The checksum is the caller's to mend.
 */
void
ip_options_unroute(struct ip *ip)
{
	struct ip_optinfo opts = { 0 };
	uint8_t *o;

	if (ip_options_parse(ip, &opts) != 0 || opts.io_sr == 0)
		return;
	o = (uint8_t *)ip + opts.io_sr;
	memset(o, IPOPT_NOP, o[IPOPT_OLEN]);
}
