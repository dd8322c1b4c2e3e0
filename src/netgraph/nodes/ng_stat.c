/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Statistics of node types; see the header.
 */
#include "netgraph/nodes/ng_stat.h"

#include <errno.h>
#include <string.h>

int
ng_stat_init(struct ng_stat *st, unsigned int n)
{

	KASSERT(n != 0 && n <= NG_STAT_MAX, "%u counters", n);
	memset(st, 0, sizeof(*st));
	st->st_n = n;
	return (counter_alloc(n, &st->st_cells));
}

void
ng_stat_fini(struct ng_stat *st)
{

	counter_free(st->st_cells, st->st_n);
	st->st_cells = 0;
}

void
ng_stat_read(struct ng_stat *st, uint64_t *out, bool clear)
{
	uint64_t now;

	for (unsigned int i = 0; i < st->st_n; i++) {
		now = counter_fetch(st->st_cells + i);
		if (out != NULL)
			out[i] = now - st->st_base[i];
		if (clear)
			st->st_base[i] = now;
	}
}

int
ng_stat_rcvmsg(struct ng_request *rq, uint32_t first, struct ng_stat *st,
    unsigned int nst)
{
	uint32_t what = ng_request_msg(rq)->header.cmd - first;
	uint64_t out[4 * NG_STAT_MAX];
	unsigned int n = 0;

	KASSERT(nst <= 4, "%u rows of counters", nst);
	if (what > 2)
		return (EINVAL);
	for (unsigned int i = 0; i < nst; i++) {
		ng_stat_read(&st[i], &out[n], what != 0);
		n += st[i].st_n;
	}
	return (what == 1 ? 0 : ng_respond(rq, out, n * sizeof(out[0])));
}

bool
ng_item_dup(const struct ng_item *item, struct ng_item *copy)
{
	struct mbuf *m;

	for (copy->it_n = 0; copy->it_n < item->it_n; copy->it_n++) {
		m = m_dup(item->it_m[copy->it_n]);
		if (m == NULL) {
			ng_item_free(copy);
			return (false);
		}
		copy->it_m[copy->it_n] = m;
	}
	return (true);
}

int
ng_hook_number(const char *name, const char *prefix, int limit)
{
	size_t len = strlen(prefix);
	const char *p = name + len;
	int64_t n = 0;

	if (strncmp(name, prefix, len) != 0 || *p == '\0' ||
	    (p[0] == '0' && p[1] != '\0'))
		return (-1);
	for (; *p != '\0'; p++) {
		if (*p < '0' || *p > '9')
			return (-1);
		n = n * 10 + (*p - '0');
		if (n >= limit)
			return (-1);
	}
	return ((int)n);
}

int
ng_parse_count_first(const struct ng_parse_type *type,
    const unsigned char *start, const unsigned char *buf)
{
	uint32_t n;

	(void)type;
	(void)buf;
	memcpy(&n, start, sizeof(n));
	return (n > INT32_MAX ? -1 : (int)n);
}
