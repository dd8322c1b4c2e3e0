/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Rates of interfaces between two samples.  One thread; the rows are in one
 * array that each sample makes anew, taking over what is known of an
 * interface that is still there.
 */

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/ifstat.h"
#include "tools/out.h"

const char ifstat_header[] = "      Interface           Traffic"
    "               Peak                Total";

/* How a number of bytes is shown; "auto" is the last. */
static const struct {
	const char	*sc_name;
	const char	*sc_unit;
	double		 sc_factor;	/* shown = bytes * this */
} ifstat_scales[] = {
	{ "byte",	" B",	1.0 },
	{ "kbyte",	"KB",	1.0 / 1024 },
	{ "mbyte",	"MB",	1.0 / 1048576 },
	{ "gbyte",	"GB",	1.0 / 1073741824 },
	{ "tbyte",	"TB",	1.0 / 1099511627776 },
	{ "bit",	" b",	8.0 },
	{ "kbit",	"Kb",	8.0 / 1e3 },
	{ "mbit",	"Mb",	8.0 / 1e6 },
	{ "gbit",	"Gb",	8.0 / 1e9 },
	{ "tbit",	"Tb",	8.0 / 1e12 },
	{ "auto",	"",	0.0 },
};
#define	IFSTAT_NSCALES	((int)nitems(ifstat_scales))
#define	IFSTAT_AUTO	(IFSTAT_NSCALES - 1)

void
ifstat_init(struct ifstat *is)
{
	memset(is, 0, sizeof(*is));
	is->is_scale = IFSTAT_AUTO;
}

void
ifstat_fini(struct ifstat *is)
{
	free(is->is_rows);
	is->is_rows = NULL;
}

static const struct ifstat_row *
ifstat_find(const struct ifstat *is, const char *name, int64_t index)
{
	size_t i;

	for (i = 0; i < is->is_nrows; i++)
		if (is->is_rows[i].ir_index == index &&
		    strcmp(is->is_rows[i].ir_name, name) == 0)
			return (&is->is_rows[i]);
	return (NULL);
}

static double
ifstat_rate(uint64_t now, uint64_t old, double elapsed)
{
	if (now < old || !(elapsed > 0))
		return (0);		/* cleared in between */
	return ((double)(now - old) / elapsed);
}

static void
ifstat_row_update(struct ifstat_row *ir, const struct ifstat_row *old,
    double elapsed)
{
	int d;

	for (d = 0; old != NULL && d < 2; d++) {
		ir->ir_brate[d] = ifstat_rate(ir->ir_bytes[d],
		    old->ir_bytes[d], elapsed);
		ir->ir_prate[d] = ifstat_rate(ir->ir_packets[d],
		    old->ir_packets[d], elapsed);
		ir->ir_bpeak[d] = ir->ir_brate[d] > old->ir_bpeak[d] ?
		    ir->ir_brate[d] : old->ir_bpeak[d];
		ir->ir_ppeak[d] = ir->ir_prate[d] > old->ir_ppeak[d] ?
		    ir->ir_prate[d] : old->ir_ppeak[d];
	}
}

static int
ifstat_newest_first(const void *a, const void *b)
{
	const struct ifstat_row *ra = a, *rb = b;

	return (ra->ir_index < rb->ir_index ? 1 :
	    ra->ir_index > rb->ir_index ? -1 : 0);
}

int
ifstat_sample(struct ifstat *is, const json_t *interfaces, double now)
{
	size_t n = json_array_size(interfaces), i;
	const json_t *ifp, *counters;
	struct ifstat_row *rows, *ir;

	if ((rows = calloc(n + 1, sizeof(*rows))) == NULL)
		return (ENOMEM);
	json_array_foreach(interfaces, i, ifp) {
		ir = &rows[i];
		counters = js_get(ifp, "counters");
		(void)snprintf(ir->ir_name, sizeof(ir->ir_name), "%s",
		    js_str(ifp, "name"));
		ir->ir_index = js_int(ifp, "index");
		ir->ir_bytes[IFSTAT_IN] = (uint64_t)js_int(counters, "ibytes");
		ir->ir_bytes[IFSTAT_OUT] = (uint64_t)js_int(counters,
		    "obytes");
		ir->ir_packets[IFSTAT_IN] = (uint64_t)js_int(counters,
		    "ipackets");
		ir->ir_packets[IFSTAT_OUT] = (uint64_t)js_int(counters,
		    "opackets");
		ifstat_row_update(ir, ifstat_find(is, ir->ir_name,
		    ir->ir_index), now - is->is_when);
	}
	qsort(rows, n, sizeof(*rows), ifstat_newest_first);
	free(is->is_rows);
	is->is_rows = rows;
	is->is_nrows = n;
	is->is_when = now;
	return (0);
}

bool
ifstat_visible(const struct ifstat *is, const struct ifstat_row *ir)
{
	char pats[sizeof(is->is_match)], *pat, *rest = pats;

	if (is->is_match[0] == '\0')
		return (is->is_all || ir->ir_bytes[IFSTAT_IN] != 0);
	(void)snprintf(pats, sizeof(pats), "%s", is->is_match);
	while ((pat = strsep(&rest, " ;,")) != NULL)
		if (*pat != '\0' &&
		    fnmatch(pat, ir->ir_name, FNM_CASEFOLD) == 0)
			return (is->is_all || ir->ir_bytes[IFSTAT_IN] != 0);
	return (false);
}

/* The scale for a value; auto goes by its size, from KB on. */
static int
ifstat_scale(const struct ifstat *is, double bytes)
{
	if (is->is_scale != IFSTAT_AUTO)
		return (is->is_scale);
	return (bytes < 1048576 ? 1 : bytes < 1073741824 ? 2 :
	    bytes < 1099511627776 ? 3 : 4);
}

void
ifstat_line(const struct ifstat *is, const struct ifstat_row *ir,
    enum ifstat_dir dir, char buf[IFSTAT_LINE])
{
	const char *name = dir == IFSTAT_IN ? ir->ir_name : "";
	const char *word = dir == IFSTAT_IN ? "in" : "out";
	double total = (double)ir->ir_bytes[dir];
	int r, p, t;

	if (is->is_pps) {
		/* Decimals only where they leave a blank in front. */
		(void)snprintf(buf, IFSTAT_LINE, "%15s  %-3s%10.*f p/s"
		    "      %10.*f p/s      %12.0f p", name, word,
		    ir->ir_prate[dir] < 99999 ? 3 : 0, ir->ir_prate[dir],
		    ir->ir_ppeak[dir] < 99999 ? 3 : 0, ir->ir_ppeak[dir],
		    (double)ir->ir_packets[dir]);
		return;
	}
	r = ifstat_scale(is, ir->ir_brate[dir]);
	p = ifstat_scale(is, ir->ir_bpeak[dir]);
	t = ifstat_scale(is, total);
	(void)snprintf(buf, IFSTAT_LINE, "%15s  %-3s%10.3f %s/s"
	    "     %10.3f %s/s     %12.3f %s", name, word,
	    ir->ir_brate[dir] * ifstat_scales[r].sc_factor,
	    ifstat_scales[r].sc_unit,
	    ir->ir_bpeak[dir] * ifstat_scales[p].sc_factor,
	    ifstat_scales[p].sc_unit,
	    total * ifstat_scales[t].sc_factor, ifstat_scales[t].sc_unit);
}

static void
ifstat_set_scale(struct ifstat *is, const char *arg, char *msg, size_t len)
{
	size_t off;
	int i;

	for (i = 0; i < IFSTAT_NSCALES; i++) {
		if (strcasecmp(ifstat_scales[i].sc_name, arg) == 0) {
			is->is_scale = i;
			return;
		}
	}
	off = (size_t)snprintf(msg, len, "what scale?");
	for (i = 0; i < IFSTAT_NSCALES && off < len; i++)
		off += (size_t)snprintf(msg + off, len - off, "%s %s",
		    i > 0 ? "," : "", ifstat_scales[i].sc_name);
}

bool
ifstat_command(struct ifstat *is, const char *word, const char *arg,
    char *msg, size_t len)
{
	*msg = '\0';
	if (strcmp(word, "scale") == 0)
		ifstat_set_scale(is, arg, msg, len);
	else if (strcmp(word, "match") == 0) {
		if (strlen(arg) >= sizeof(is->is_match))
			(void)snprintf(msg, len, "too many patterns");
		else
			(void)snprintf(is->is_match, sizeof(is->is_match),
			    "%s", strcmp(arg, "*") == 0 ? "" : arg);
	} else if (strcmp(word, "all") == 0)
		is->is_all = !is->is_all;
	else if (strcmp(word, "pps") == 0)
		is->is_pps = !is->is_pps;
	else
		return (false);
	return (true);
}
