/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * vmstat -i: a row per interrupt event.  Rates are per second: since the
 * start of the machine in the first table, since the table before in those
 * that -w adds.
 */

#include <getopt.h>
#include <string.h>

#include "tools/cmds.h"
#include "tools/out.h"
#include "tools/tool.h"

struct vmstat_opts {
	bool		vo_intr;	/* -i */
	bool		vo_all;		/* -a */
	double		vo_wait;	/* -w, seconds; 0: not given */
	long long	vo_count;	/* -c; 0: without end */
};

/* What an event counted in the table before; 0 if it was not there. */
static uint64_t
vmstat_before(const json_t *old, const char *name)
{
	const json_t *ev;
	size_t i;

	json_array_foreach(js_get(old, "events"), i, ev)
		if (strcmp(js_str(ev, "name"), name) == 0)
			return ((uint64_t)js_int(ev, "total"));
	return (0);
}

/* Per second; a counter that went back (a new event of that name) is new. */
static uint64_t
vmstat_rate(uint64_t now, uint64_t before, uint64_t ns)
{
	uint64_t diff = now >= before ? now - before : now;

	return (ns == 0 ? 0 :
	    (uint64_t)((double)diff * 1e9 / (double)ns + 0.5));
}

static void
vmstat_table(struct tool_ctx *tc, const struct vmstat_opts *vo,
    const json_t *res, const json_t *old)
{
	const json_t *ev, *events;
	uint64_t ns, total, rate, sum = 0, sumrate = 0;
	struct out *o = tc->tc_o;
	int w = 9;
	size_t i;

	events = js_get(res, "events");
	ns = (uint64_t)(js_int(res, "uptime_ns") - js_int(old, "uptime_ns"));
	json_array_foreach(events, i, ev)
		if ((vo->vo_all || js_int(ev, "total") != 0) &&
		    (int)strlen(js_str(ev, "name")) > w)
			w = (int)strlen(js_str(ev, "name"));
	out_open(o, "interrupt-statistics");
	out_text(o, "%-*s %20s %10s\n", w, "interrupt", "total", "rate");
	out_list(o, "interrupt");
	json_array_foreach(events, i, ev) {
		total = (uint64_t)js_int(ev, "total");
		rate = vmstat_rate(total, vmstat_before(old,
		    js_str(ev, "name")), ns);
		sum += total;
		sumrate += rate;
		if (total == 0 && !vo->vo_all)
			continue;
		out_instance(o);
		out_str(o, "name", js_str(ev, "name"), "%-*s ", w,
		    js_str(ev, "name"));
		out_int(o, "total", (json_int_t)total, "%20ju ",
		    (uintmax_t)total);
		out_int(o, "rate", (json_int_t)rate, "%10ju\n",
		    (uintmax_t)rate);
		out_put(o, "cpu", json_integer(js_int(ev, "cpu")));
		out_put(o, "runs", json_integer(js_int(ev, "runs")));
		out_put(o, "storms", json_integer(js_int(ev, "storms")));
		out_close(o);
	}
	out_close(o);
	out_int(o, "total-interrupts", (json_int_t)sum, "%-*s %20ju ", w,
	    "Total", (uintmax_t)sum);
	out_int(o, "total-rate", (json_int_t)sumrate, "%10ju\n",
	    (uintmax_t)sumrate);
	if (js_has(res, "totals"))
		out_put(o, "totals", json_deep_copy(js_get(res, "totals")));
	out_close(o);
}

static int
vmstat_loop(struct tool_ctx *tc, const struct vmstat_opts *vo)
{
	json_t *res, *old = NULL;
	long long n;
	int status;

	for (n = 1;; n++) {
		status = tool_do(tc, "intr.list", NULL, &res);
		if (status != 0)
			break;
		vmstat_table(tc, vo, res, old);
		json_decref(old);
		old = res;
		if (n == vo->vo_count)
			break;
		status = tool_flush(tc);
		if (status != 0)
			break;
		tool_sleep(vo->vo_wait);
	}
	json_decref(old);
	return (status);
}

static int
vmstat_main(struct tool_ctx *tc, int argc, char **argv)
{
	struct vmstat_opts vo = { .vo_count = -1 };
	long long val;
	int c;

	while ((c = getopt(argc, argv, "+:ac:iw:")) != -1) {
		switch (c) {
		case 'a':
			vo.vo_all = true;
			break;
		case 'c':
			if (!tool_number(optarg, 1, INT32_MAX, &val))
				return (tool_fail(tc, EX_USAGE, "-c %s: "
				    "expected a count from 1", optarg));
			vo.vo_count = val;
			break;
		case 'i':
			vo.vo_intr = true;
			break;
		case 'w':
			if (!tool_number(optarg, 1, 86400, &val))
				return (tool_fail(tc, EX_USAGE, "-w %s: "
				    "expected seconds, 1 to 86400", optarg));
			vo.vo_wait = (double)val;
			break;
		default:
			return (tool_badopt(tc, c));
		}
	}
	if (optind != argc || !vo.vo_intr)
		return (tool_usage(tc));
	if (vo.vo_count == -1)
		vo.vo_count = vo.vo_wait > 0 ? 0 : 1;
	if (!(vo.vo_wait > 0))
		vo.vo_wait = 1;
	return (vmstat_loop(tc, &vo));
}

const struct tool tool_vmstat = {
	.tl_name = "vmstat",
	.tl_synopsis = "-i [-a] [-c count] [-w wait]",
	.tl_manual = "netepoch-vmstat(8)",
	.tl_descr = "show the interrupts of a machine and their rates",
	.tl_fn = vmstat_main,
};
