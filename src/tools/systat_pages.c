/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The pages of systat: interfaces, the epoch, interrupts, the graph.
 *
 * Each keeps its last two samples; what is shown is computed when it is shown.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/ifstat.h"
#include "tools/out.h"
#include "tools/statpage.h"
#include "tools/tool.h"

/* ---- Interfaces ---- */

static void
ifpage_init(void *pg)
{
	ifstat_init(pg);
}

static void
ifpage_fini(void *pg)
{
	ifstat_fini(pg);
}

static int
ifpage_sample(void *pg, struct tool_ctx *tc, double now, struct ctl_error *ce)
{
	json_t *res;
	int error;

	error = tool_call(tc, "if.list", NULL, &res, ce);
	if (error != 0)
		return (error);
	error = ifstat_sample(pg, js_get(res, "interfaces"), now);
	if (error != 0)
		(void)snprintf(ce->ce_text, sizeof(ce->ce_text),
		    "out of memory");
	json_decref(res);
	return (error);
}

static void
ifpage_blocks(const void *pg, statpage_block_fn *fn, void *arg)
{
	const struct ifstat *is = pg;
	char in[IFSTAT_LINE], out[IFSTAT_LINE];
	const char *const lines[] = { in, out, "" };
	size_t i;

	statpage_line(fn, arg, "%s", ifstat_header);
	for (i = 0; i < is->is_nrows; i++) {
		if (!ifstat_visible(is, &is->is_rows[i]))
			continue;
		ifstat_line(is, &is->is_rows[i], IFSTAT_IN, in);
		ifstat_line(is, &is->is_rows[i], IFSTAT_OUT, out);
		fn(arg, lines, 3);
	}
}

static void
ifpage_json_row(struct out *o, const struct ifstat_row *ir)
{
	static const char *const dirs[] = { "in", "out" };
	int d;

	out_instance(o);
	out_put(o, "name", json_string(ir->ir_name));
	for (d = 0; d < 2; d++) {
		out_open(o, dirs[d]);
		out_put(o, "bytes", json_integer(
		    (json_int_t)ir->ir_bytes[d]));
		out_put(o, "packets", json_integer(
		    (json_int_t)ir->ir_packets[d]));
		out_put(o, "bytes-per-second", json_real(ir->ir_brate[d]));
		out_put(o, "packets-per-second", json_real(ir->ir_prate[d]));
		out_close(o);
	}
	out_close(o);
}

static void
ifpage_json(const void *pg, struct out *o)
{
	const struct ifstat *is = pg;
	size_t i;

	out_list(o, "ifstat");
	for (i = 0; i < is->is_nrows; i++)
		if (ifstat_visible(is, &is->is_rows[i]))
			ifpage_json_row(o, &is->is_rows[i]);
	out_close(o);
}

static bool
ifpage_command(void *pg, const char *word, const char *arg, char *msg,
    size_t len)
{
	return (ifstat_command(pg, word, arg, msg, len));
}

const struct statpage statpage_ifstat = {
	.sp_name = "ifstat",
	.sp_commands = " scale match all pps",
	.sp_more = "enlarge, or choose with :match",
	.sp_size = sizeof(struct ifstat),
	.sp_init = ifpage_init,
	.sp_fini = ifpage_fini,
	.sp_sample = ifpage_sample,
	.sp_blocks = ifpage_blocks,
	.sp_json = ifpage_json,
	.sp_command = ifpage_command,
};

/* ---- The epoch ---- */

struct epochpage {
	struct statpair	 eg_stats;	/* kern.epoch.stats.* */
	struct statpair	 eg_intr;	/* intr.list */
};

static void
epochpage_fini(void *pg)
{
	struct epochpage *eg = pg;

	statpair_fini(&eg->eg_stats);
	statpair_fini(&eg->eg_intr);
}

static int
epochpage_sample(void *pg, struct tool_ctx *tc, double now,
    struct ctl_error *ce)
{
	struct epochpage *eg = pg;
	int error;

	error = statpair_sample(&eg->eg_stats, tc, "sysctl.list",
	    json_pack("{ss}", "prefix", "kern.epoch.stats"), now, ce);
	if (error != 0)
		return (error);
	return (statpair_sample(&eg->eg_intr, tc, "intr.list", NULL, now,
	    ce));
}

/* The leaf of that name below kern.epoch.stats, in a sample. */
static int64_t
epochpage_leaf(const json_t *sample, const char *name)
{
	const json_t *oid;
	size_t i, skip = strlen("kern.epoch.stats.");

	json_array_foreach(js_get(sample, "oids"), i, oid)
		if (strlen(js_str(oid, "name")) > skip &&
		    strcmp(js_str(oid, "name") + skip, name) == 0)
			return (strtoll(js_str(oid, "value"), NULL, 10));
	return (0);
}

/* Counters: what they count, the leaf, or the member of intr.list's totals. */
static const struct {
	const char	*label;
	const char	*leaf;
	const char	*total;
} epoch_counters[] = {
	{ "sections of interrupt threads", NULL, "entries" },
	{ "  of these, after a batch", NULL, "reentries" },
	{ "grace periods begun", "advances", NULL },
	{ "waits that met a section", "nblocked", NULL },
	{ "callbacks run", "epoch_calls", NULL },
	{ "batches of callbacks", "epoch_call_tasks", NULL },
	{ "callers held up by the backlog", "throttled", NULL },
	{ "stalls reported", "stalls", NULL },
};

/* States: now and highest; a leaf of nanoseconds is shown in microseconds. */
static const struct {
	const char	*label;
	const char	*now;
	const char	*max;
	bool		 ns;
} epoch_states[] = {
	{ "callbacks waiting", "backlog", "backlog_max", false },
	{ "oldest callback, us", "oldest_ns", "oldest_max_ns", true },
	{ "longest section seen, us", NULL, "longest_section_ns", true },
	{ "longest grace period, us", NULL, "longest_grace_ns", true },
	{ "records of threads", "records", NULL, false },
};

static int64_t
epochpage_counter(const struct epochpage *eg, size_t i, double *rate)
{
	const struct statpair *pr;
	int64_t now, old;

	if (epoch_counters[i].leaf != NULL) {
		pr = &eg->eg_stats;
		now = epochpage_leaf(pr->pr_now, epoch_counters[i].leaf);
		old = epochpage_leaf(pr->pr_old, epoch_counters[i].leaf);
	} else {
		pr = &eg->eg_intr;
		now = js_int(js_get(pr->pr_now, "totals"),
		    epoch_counters[i].total);
		old = js_int(js_get(pr->pr_old, "totals"),
		    epoch_counters[i].total);
	}
	*rate = statpair_rate(pr, now, old);
	return (now);
}

static void
epochpage_state_text(const struct epochpage *eg, const char *leaf, bool ns,
    char *buf, size_t len)
{
	int64_t val;

	buf[0] = '\0';
	if (leaf == NULL)
		return;
	val = epochpage_leaf(eg->eg_stats.pr_now, leaf);
	if (ns)
		(void)snprintf(buf, len, "%.1f", (double)val / 1000);
	else
		(void)snprintf(buf, len, "%jd", (intmax_t)val);
}

static void
epochpage_blocks(const void *pg, statpage_block_fn *fn, void *arg)
{
	const struct epochpage *eg = pg;
	char now[24], max[24];
	int64_t total;
	double rate;
	size_t i;

	statpage_line(fn, arg, "%-32s %16s %20s", "  net epoch", "per second",
	    "total");
	for (i = 0; i < nitems(epoch_counters); i++) {
		total = epochpage_counter(eg, i, &rate);
		statpage_line(fn, arg, "  %-30s %16.0f %20jd",
		    epoch_counters[i].label, rate, (intmax_t)total);
	}
	statpage_line(fn, arg, "%s", "");
	statpage_line(fn, arg, "%-32s %16s %20s", "", "now", "highest");
	for (i = 0; i < nitems(epoch_states); i++) {
		epochpage_state_text(eg, epoch_states[i].now,
		    epoch_states[i].ns, now, sizeof(now));
		epochpage_state_text(eg, epoch_states[i].max,
		    epoch_states[i].ns, max, sizeof(max));
		statpage_line(fn, arg, "  %-30s %16s %20s",
		    epoch_states[i].label, now, max);
	}
}

static void
epochpage_json(const void *pg, struct out *o)
{
	const struct epochpage *eg = pg;
	const char *leaf, *total;
	double rate;
	size_t i;

	out_open(o, "epoch");
	out_list(o, "counter");
	for (i = 0; i < nitems(epoch_counters); i++) {
		leaf = epoch_counters[i].leaf;
		total = epoch_counters[i].total;
		out_instance(o);
		out_put(o, "name", json_string(leaf != NULL ? leaf : total));
		out_put(o, "total", json_integer(
		    (json_int_t)epochpage_counter(eg, i, &rate)));
		out_put(o, "per-second", json_real(rate));
		out_close(o);
	}
	out_close(o);
	for (i = 0; i < nitems(epoch_states); i++) {
		const char *leaves[] = { epoch_states[i].now,
		    epoch_states[i].max };

		for (int k = 0; k < 2; k++)
			if (leaves[k] != NULL)
				out_put(o, leaves[k], json_integer(
				    (json_int_t)epochpage_leaf(
				    eg->eg_stats.pr_now, leaves[k])));
	}
	out_close(o);
}

const struct statpage statpage_epoch = {
	.sp_name = "epoch",
	.sp_commands = "",
	.sp_more = "enlarge the window",
	.sp_size = sizeof(struct epochpage),
	.sp_fini = epochpage_fini,
	.sp_sample = epochpage_sample,
	.sp_blocks = epochpage_blocks,
	.sp_json = epochpage_json,
};

/* ---- Interrupts ---- */

static void
pairpage_fini(void *pg)
{
	statpair_fini(pg);
}

static int
intrpage_sample(void *pg, struct tool_ctx *tc, double now,
    struct ctl_error *ce)
{
	return (statpair_sample(pg, tc, "intr.list", NULL, now, ce));
}

/* The element of an array of the older sample that has the same key. */
static const json_t *
pair_before(const struct statpair *pr, const char *array, const char *key,
    const json_t *elem)
{
	const json_t *old;
	size_t i;

	json_array_foreach(js_get(pr->pr_old, array), i, old)
		if (json_equal(js_get(old, key), js_get(elem, key)))
			return (old);
	return (NULL);
}

/* An element of a sample and what it has done a second. */
struct busy_row {
	const json_t	*br_elem;
	double		 br_rate;
	int64_t		 br_total;
	size_t		 br_place;	/* in the sample */
};

/* The busiest first, then the one that had most, then as they came. */
static int
busy_compare(const void *a, const void *b)
{
	const struct busy_row *ra = a, *rb = b;

	if (ra->br_rate != rb->br_rate)
		return (ra->br_rate < rb->br_rate ? 1 : -1);
	if (ra->br_total != rb->br_total)
		return (ra->br_total < rb->br_total ? 1 : -1);
	return (ra->br_place < rb->br_place ? -1 : 1);
}

/*
 * The elements of an array, which key tells apart, by a counter of theirs.
 * The rows are to be freed; NULL: no memory.
 */
static struct busy_row *
busy_rows(const struct statpair *pr, const char *array, const char *key,
    const char *counter, size_t *np)
{
	const json_t *elems = js_get(pr->pr_now, array), *elem;
	struct busy_row *rows;
	size_t i;

	*np = json_array_size(elems);
	if ((rows = calloc(*np + 1, sizeof(*rows))) == NULL)
		return (NULL);
	json_array_foreach(elems, i, elem)
		rows[i] = (struct busy_row){ elem, statpair_rate(pr,
		    js_int(elem, counter), js_int(pair_before(pr, array, key,
		    elem), counter)), js_int(elem, counter), i };
	qsort(rows, *np, sizeof(*rows), busy_compare);
	return (rows);
}

static const struct {
	const char	*label;
	const char	*member;
} intr_totals[] = {
	{ "handler runs", "runs" },
	{ "sections entered", "entries" },
	{ "  of these, after a batch", "reentries" },
	{ "sleeps", "sleeps" },
	{ "spins that found work", "spins" },
};

static void
intrpage_blocks(const void *pg, statpage_block_fn *fn, void *arg)
{
	const struct statpair *pr = pg;
	const json_t *ev, *old, *now = js_get(pr->pr_now, "totals");
	const json_t *was = js_get(pr->pr_old, "totals");
	struct busy_row *rows;
	size_t i, n;

	statpage_line(fn, arg, "%-28s %3s %10s %10s %14s %8s", "interrupt",
	    "cpu", "rate", "runs/s", "total", "storms");
	for (i = 0; i < nitems(intr_totals); i++)
		statpage_line(fn, arg, "%-28s %3s %10.0f %10s %14jd",
		    intr_totals[i].label, "", statpair_rate(pr,
		    js_int(now, intr_totals[i].member),
		    js_int(was, intr_totals[i].member)), "",
		    (intmax_t)js_int(now, intr_totals[i].member));
	if ((rows = busy_rows(pr, "events", "name", "runs", &n)) == NULL)
		return;
	for (i = 0; i < n; i++) {
		ev = rows[i].br_elem;
		old = pair_before(pr, "events", "name", ev);
		statpage_line(fn, arg,
		    "%-28.28s %3jd %10.0f %10.0f %14jd %8jd",
		    js_str(ev, "name"), (intmax_t)js_int(ev, "cpu"),
		    statpair_rate(pr, js_int(ev, "total"),
		    js_int(old, "total")), rows[i].br_rate,
		    (intmax_t)js_int(ev, "total"),
		    (intmax_t)js_int(ev, "storms"));
	}
	free(rows);
}

static void
intrpage_json(const void *pg, struct out *o)
{
	const struct statpair *pr = pg;
	const json_t *ev, *old;
	size_t i;

	out_open(o, "intr");
	out_put(o, "totals", json_deep_copy(js_get(pr->pr_now, "totals")));
	out_list(o, "event");
	json_array_foreach(js_get(pr->pr_now, "events"), i, ev) {
		old = pair_before(pr, "events", "name", ev);
		out_instance(o);
		out_put(o, "name", json_string(js_str(ev, "name")));
		out_put(o, "cpu", json_integer(js_int(ev, "cpu")));
		out_put(o, "total", json_integer(js_int(ev, "total")));
		out_put(o, "rate", json_real(statpair_rate(pr,
		    js_int(ev, "total"), js_int(old, "total"))));
		out_put(o, "runs-per-second", json_real(statpair_rate(pr,
		    js_int(ev, "runs"), js_int(old, "runs"))));
		out_put(o, "storms", json_integer(js_int(ev, "storms")));
		out_close(o);
	}
	out_close(o);
	out_close(o);
}

const struct statpage statpage_intr = {
	.sp_name = "intr",
	.sp_commands = "",
	.sp_more = "enlarge the window",
	.sp_size = sizeof(struct statpair),
	.sp_fini = pairpage_fini,
	.sp_sample = intrpage_sample,
	.sp_blocks = intrpage_blocks,
	.sp_json = intrpage_json,
};

/* ---- The graph ---- */

static int
graphpage_sample(void *pg, struct tool_ctx *tc, double now,
    struct ctl_error *ce)
{
	return (statpair_sample(pg, tc, "graph.list", NULL, now, ce));
}

static void
graphpage_blocks(const void *pg, statpage_block_fn *fn, void *arg)
{
	const json_t *node;
	struct busy_row *rows;
	size_t i, n;

	statpage_line(fn, arg, "%-22s %-14s %8s %6s %12s %12s", "Name",
	    "Type", "ID", "Hooks", "p/s", "packets");
	if ((rows = busy_rows(pg, "nodes", "id", "packets", &n)) == NULL)
		return;
	for (i = 0; i < n; i++) {
		node = rows[i].br_elem;
		statpage_line(fn, arg,
		    "%-22.22s %-14.14s %8jx %6jd %12.0f %12jd",
		    js_str(node, "name")[0] != '\0' ? js_str(node, "name") :
		    "<unnamed>", js_str(node, "type"),
		    (uintmax_t)js_int(node, "id"),
		    (intmax_t)js_int(node, "hooks"), rows[i].br_rate,
		    (intmax_t)js_int(node, "packets"));
	}
	free(rows);
}

static void
graphpage_json(const void *pg, struct out *o)
{
	struct busy_row *rows;
	json_t *copy;
	size_t i, n;

	if ((rows = busy_rows(pg, "nodes", "id", "packets", &n)) == NULL)
		return;
	out_list(o, "graph");
	for (i = 0; i < n; i++) {
		copy = json_deep_copy(rows[i].br_elem);
		if (copy != NULL)
			(void)json_object_set_new(copy, "packets-per-second",
			    json_real(rows[i].br_rate));
		out_put(o, "node", copy);
	}
	out_close(o);
	free(rows);
}

const struct statpage statpage_graph = {
	.sp_name = "graph",
	.sp_commands = "",
	.sp_more = "enlarge the window",
	.sp_size = sizeof(struct statpair),
	.sp_fini = pairpage_fini,
	.sp_sample = graphpage_sample,
	.sp_blocks = graphpage_blocks,
	.sp_json = graphpage_json,
};
