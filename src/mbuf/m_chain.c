/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Work on packets that may be chains: slow path only.  An mbuf has one owner
 * and these functions run on whatever thread that is; no lock, no state.
 */
#include <errno.h>
#include <string.h>

#include "mbuf/mbuf.h"
#include "wire/cksum_partial.h"
#include "wire/in_cksum.h"
#include "wire/udp.h"

/* The mbuf that holds byte *off of the packet; *off becomes its place in it.
 * NULL: the packet is shorter. */
static const struct mbuf *
m_seek(const struct mbuf *m, uint32_t *off)
{

	while (m != NULL && *off >= m->m_len) {
		*off -= m->m_len;
		m = m->m_next;
	}
	return (m);
}

void
m_copydata(const struct mbuf *m, uint32_t off, uint32_t len, void *to)
{
	char *p = to;
	uint32_t n;

	for (m = m_seek(m, &off); len > 0; m = m->m_next, off = 0) {
		KASSERT(m != NULL, "m_copydata: past the packet's end");
		n = m->m_len - off < len ? m->m_len - off : len;
		memcpy(p, m->m_data + off, n);
		p += n;
		len -= n;
	}
}

/* An mbuf for the middle of a chain: as much headroom as there is none. */
static struct mbuf *
m_get_more(void)
{
	struct mbuf *m;

	if (m_get_raw(&m, 1) != 1)
		return (NULL);
	m_init(m, m_frame(m), 0);
	m->m_flags = 0;
	return (m);
}

int
m_append(struct mbuf *m, uint32_t len, const void *from)
{
	struct mbuf *last, *more = NULL, **tail = &more, *n;
	const char *p = from;
	uint32_t room, space, copy;

	for (last = m; last->m_next != NULL; last = last->m_next)
		continue;
	/* All frames first: the packet is changed as a whole or not at all. */
	room = m_trailingspace(last);
	for (space = room; space < len; space += m_trailingspace(n)) {
		if ((n = m_get_more()) == NULL) {
			m_freem(more);
			return (ENOBUFS);
		}
		*tail = n;
		tail = &n->m_next;
	}
	m->m_pkthdr.len += len;
	last->m_next = more;
	for (; len > 0; last = last->m_next) {
		copy = m_trailingspace(last);
		if (copy > len)
			copy = len;
		memcpy(last->m_data + last->m_len, p, copy);
		last->m_len += copy;
		p += copy;
		len -= copy;
	}
	return (0);
}

struct mbuf *
m_devget(const void *buf, uint32_t len)
{
	struct mbuf *m;

	if ((m = m_gethdr()) == NULL)
		return (NULL);
	if (m_append(m, len, buf) != 0) {
		m_freem(m);
		return (NULL);
	}
	return (m);
}

/* Take the header's words over to the mbuf that becomes the first one. */
static void
m_move_pkthdr(struct mbuf *to, struct mbuf *from)
{

	to->m_pkthdr = from->m_pkthdr;
	to->m_flags |= from->m_flags;
	from->m_flags = 0;
}

struct mbuf *
m_pullup(struct mbuf *m, uint32_t len)
{
	struct mbuf *n, *next;
	uint32_t copy;

	if (__predict_true(m->m_len >= len))
		return (m);
	if (m->m_pkthdr.len < len || len > MBUF_DATA_SIZE)
		goto fail;
	if (m_trailingspace(m) < len - m->m_len) {
		/* Not in this frame: a new first one, with headroom. */
		if ((n = m_gethdr()) == NULL)
			goto fail;
		m_move_pkthdr(n, m);
		n->m_next = m;
		m = n;
	}
	while (m->m_len < len) {
		n = m->m_next;
		copy = len - m->m_len < n->m_len ? len - m->m_len : n->m_len;
		memcpy(m->m_data + m->m_len, n->m_data, copy);
		m->m_len += copy;
		n->m_data += copy;
		n->m_len -= copy;
		if (n->m_len == 0) {
			next = n->m_next;
			m_free_raw(&n, 1);
			m->m_next = next;
		}
	}
	return (m);
fail:
	m_freem(m);
	return (NULL);
}

/* Cut the chain after its first len bytes, freeing the rest. */
static void
m_truncate(struct mbuf *m, uint32_t len)
{

	for (;; m = m->m_next) {
		if (len <= m->m_len)
			break;
		len -= m->m_len;
	}
	m->m_len = len;
	m_freem(m->m_next);
	m->m_next = NULL;
}

void
m_adj(struct mbuf *m, int n)
{
	uint32_t cut;

	if (n < 0) {
		cut = (uint32_t)-n;
		if (cut > m->m_pkthdr.len)
			cut = m->m_pkthdr.len;
		m->m_pkthdr.len -= cut;
		m_truncate(m, m->m_pkthdr.len);
		return;
	}
	cut = (uint32_t)n;
	if (cut > m->m_pkthdr.len)
		cut = m->m_pkthdr.len;
	m->m_pkthdr.len -= cut;
	for (; cut > 0; m = m->m_next) {
		n = (int)(m->m_len < cut ? m->m_len : cut);
		m->m_data += n;
		m->m_len -= (uint32_t)n;
		cut -= (uint32_t)n;
	}
}

struct mbuf *
m_prepend(struct mbuf *m, uint32_t n)
{
	struct mbuf *first;

	if (__predict_true(m_leadingspace(m) >= n)) {
		m->m_data -= n;
		m->m_len += n;
		m->m_pkthdr.len += n;
		return (m);
	}
	if (n > MBUF_DATA_SIZE || (first = m_gethdr()) == NULL) {
		m_freem(m);
		return (NULL);
	}
	m_move_pkthdr(first, m);
	first->m_next = m;
	first->m_len = n;
	first->m_pkthdr.len += n;
	return (first);
}

struct mbuf *
m_dup(const struct mbuf *m)
{
	struct mbuf *copy;

	if ((copy = m_gethdr()) == NULL)
		return (NULL);
	copy->m_pkthdr = m->m_pkthdr;
	copy->m_pkthdr.len = 0;
	copy->m_flags = m->m_flags;
	if ((m->m_flags & M_COOKIE) != 0)
		memcpy(copy->m_cookie, m->m_cookie, sizeof(copy->m_cookie));
	for (; m != NULL; m = m->m_next)
		if (m_append(copy, m->m_len, m->m_data) != 0) {
			m_freem(copy);
			return (NULL);
		}
	return (copy);
}

void
m_cat(struct mbuf *m, struct mbuf *n)
{
	struct mbuf *last;

	for (last = m; last->m_next != NULL; last = last->m_next)
		continue;
	m->m_pkthdr.len += n->m_pkthdr.len;
	n->m_flags = 0;
	last->m_next = n;
}

struct mbuf *
m_split(struct mbuf *m, uint32_t len)
{
	struct mbuf *at = m, *n;
	uint32_t off = len, rest;

	KASSERT(len < m->m_pkthdr.len, "m_split: nothing behind %u", len);
	while (off >= at->m_len) {
		off -= at->m_len;
		at = at->m_next;
	}
	rest = at->m_len - off;
	if ((n = m_gethdr()) == NULL)
		return (NULL);
	if (m_append(n, rest, at->m_data + off) != 0) {
		m_freem(n);
		return (NULL);
	}
	if (at->m_next != NULL) {
		struct mbuf *last = n;

		while (last->m_next != NULL)
			last = last->m_next;
		last->m_next = at->m_next;
		at->m_next = NULL;
	}
	rest = m->m_pkthdr.len - len;
	n->m_pkthdr = m->m_pkthdr;
	n->m_pkthdr.len = rest;
	n->m_flags = m->m_flags;
	m->m_pkthdr.len = len;
	m_truncate(m, len);
	return (n);
}

uint32_t
m_cksum(const struct mbuf *m, uint32_t off, uint32_t len)
{
	uint32_t sum = 0, n, done = 0;

	for (m = m_seek(m, &off); len > 0; m = m->m_next, off = 0) {
		KASSERT(m != NULL, "m_cksum: past the packet's end");
		n = m->m_len - off < len ? m->m_len - off : len;
		sum = in_cksum_partial(sum, m->m_data + off, n, done);
		done += n;
		len -= n;
	}
	return (sum);
}

/* The field itself takes part with the pseudo-header sum it holds. */
bool
m_cksum_finish(struct mbuf *m)
{
	uint32_t start = m->m_pkthdr.csum_start;
	uint32_t at = start + m->m_pkthdr.csum_offset, off;
	uint16_t sum;
	const char *byte;

	if (at + sizeof(sum) > m->m_pkthdr.len)
		return (false);
	m->m_pkthdr.csum_flags &= (uint8_t)~CSUM_PARTIAL;
	if (m->m_next == NULL)
		return (in_partial_finish(m->m_data, m->m_len, start,
		    m->m_pkthdr.csum_offset));
	sum = in_cksum_finish(m_cksum(m, start, m->m_pkthdr.len - start));
	if (sum == 0 && m->m_pkthdr.csum_offset == offsetof(struct udphdr,
	    uh_sum))
		sum = 0xffff;		/* RFC 768: 0 means none */
	byte = (const char *)&sum;
	for (uint32_t i = 0; i < sizeof(sum); i++) {
		const struct mbuf *in;

		off = at + i;
		in = m_seek(m, &off);
		in->m_data[off] = byte[i];
	}
	return (true);
}
