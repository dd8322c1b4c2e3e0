/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * pkt-gen: send, receive, measure.
 *
 * The packets are made and counted by a machine (gen.start); this starts the
 * generators, asks for their numbers once a report interval, and stops them at
 * the end of the count or on SIGINT.  If it dies the machine stops them.
 *
 * The interface is one of a running machine.  A device, "xdp:veth1", or
 * memory needs no running machine: then netepoch-pkt-gen is run in our place,
 * which has a machine of its own in its process and calls this tool with a
 * client for it; interfaces are then made here, and go with the process.
 */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/cmds.h"
#include "tools/out.h"
#include "tools/pktgen.h"

#define	PKTGEN_ALONE	"netepoch-pkt-gen"
#define	PKTGEN_UP	1		/* IFF_UP */
#define	PKTGEN_LINK_S	2		/* a device's link may take as long */
#define	PKTGEN_SETTLE_MS 200		/* for what is still on its way */
#define	PKTGEN_SILENCE_NS UINT64_C(1000000000)

static volatile sig_atomic_t pktgen_signal;

static void
pktgen_onsignal(int sig)
{

	pktgen_signal = sig;
}

bool
pktgen_interrupted(void)
{

	return (pktgen_signal != 0);
}

/* A signal between the look and the poll is seen at its end. */
void
pktgen_sleep_ms(long long ms)
{
	sigset_t block, old;
	struct timespec ts;

	(void)sigemptyset(&block);
	(void)sigaddset(&block, SIGINT);
	(void)sigaddset(&block, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &block, &old);
	if (!pktgen_interrupted() && ms > 0) {
		ts.tv_sec = (time_t)(ms / 1000);
		ts.tv_nsec = (long)(ms % 1000) * 1000000;
		(void)sigdelset(&old, SIGINT);
		(void)sigdelset(&old, SIGTERM);
		(void)ppoll(NULL, 0, &ts, &old);
	}
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
}

/* ---- Interfaces ---- */

/* Become the program with a machine of its own; returns only on failure. */
static int
pktgen_alone(struct tool_ctx *tc, int argc, char **argv)
{
	static const char *const dirs[] = { ".", "../pktgen" };
	char self[PATH_MAX], path[PATH_MAX + 64], *dir;
	char name[] = PKTGEN_ALONE, json[] = "--libxo=json";
	char **words;
	ssize_t n;
	int i = 0;

	words = calloc((size_t)argc + 2, sizeof(*words));
	if (words == NULL)
		return (tool_fail(tc, EX_OSERR, "out of memory"));
	words[i++] = name;
	if (out_json(tc->tc_o))
		words[i++] = json;
	for (int k = 1; k < argc; k++)
		words[i++] = argv[k];
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n > 0) {
		self[n] = '\0';
		dir = dirname(self);
		/* Installed, and in a build tree. */
		for (size_t k = 0; k < nitems(dirs); k++) {
			(void)snprintf(path, sizeof(path), "%s/%s/%s", dir,
			    dirs[k], PKTGEN_ALONE);
			(void)execv(path, words);
		}
	}
	(void)execvp(PKTGEN_ALONE, words);
	free(words);
	return (tool_fail(tc, EX_UNAVAILABLE, "%s, which sends on a device "
	    "without a machine: %s", PKTGEN_ALONE, strerror(errno)));
}

static int
pktgen_make(struct pktgen *pg, const char *name, const char *spec)
{
	struct tool_ctx *tc = pg->pg_tc;
	int status;

	status = tool_do(tc, "if.create", json_pack("{ss ss}", "name", name,
	    "spec", spec), NULL);
	if (status == 0 && strncmp(spec, "epair", 5) == 0)
		return (0);
	if (status == 0)
		status = tool_do(tc, "if.set", json_pack("{ss si}", "name",
		    name, "flags_set", PKTGEN_UP), NULL);
	return (status);
}

/* A pair in memory: its second end receives. */
static int
pktgen_memory(struct pktgen *pg)
{
	struct tool_ctx *tc = pg->pg_tc;
	int status;

	status = pktgen_make(pg, "mem", "epair");
	for (int i = 0; status == 0 && i < 2; i++) {
		(void)snprintf(pg->pg_name[i], sizeof(pg->pg_name[i]),
		    "mem%c", "ab"[i]);
		status = tool_do(tc, "if.set", json_pack("{ss si}", "name",
		    pg->pg_name[i], "flags_set", PKTGEN_UP), NULL);
	}
	pg->pg_nif = 2;
	return (status);
}

static int
pktgen_interfaces(struct pktgen *pg)
{
	struct pktgen_opts *po = &pg->pg_po;
	struct tool_ctx *tc = pg->pg_tc;
	int status;

	if (tc->tc_local && strcmp(po->po_if[0], "mem") == 0) {
		if (po->po_nif == 2)
			return (tool_fail(tc, EX_USAGE, "-i mem has both "
			    "ends"));
		return (pktgen_memory(pg));
	}
	pg->pg_nif = po->po_nif;
	for (int i = 0; i < po->po_nif; i++) {
		if (!tc->tc_local || !pktgen_is_device(po->po_if[i])) {
			(void)snprintf(pg->pg_name[i], sizeof(pg->pg_name[i]),
			    "%s", po->po_if[i]);
			continue;
		}
		(void)snprintf(pg->pg_name[i], sizeof(pg->pg_name[i]), "pg%d",
		    i);
		status = pktgen_make(pg, pg->pg_name[i], po->po_if[i]);
		if (status != 0)
			return (status);
	}
	return (0);
}

/* ---- Generators ---- */

static bool
pktgen_arg(json_t *args, const char *key, json_t *val)
{

	return (json_object_set_new(args, key, val) == 0);
}

/* The arguments of gen.start that say what frames are like. */
static int
pktgen_args_frame(struct pktgen *pg, json_t *args)
{
	const struct pktgen_opts *po = &pg->pg_po;

	if (po->po_src != NULL && !pktgen_range(args, "src", po->po_src))
		return (tool_fail(pg->pg_tc, EX_USAGE, "-s %s: expected "
		    "IP[:PORT][-IP[:PORT]]", po->po_src));
	if (po->po_dst != NULL && !pktgen_range(args, "dst", po->po_dst))
		return (tool_fail(pg->pg_tc, EX_USAGE, "-d %s: expected "
		    "IP[:PORT][-IP[:PORT]]", po->po_dst));
	if ((po->po_smac != NULL && !pktgen_arg(args, "src_mac",
	    json_string(po->po_smac))) ||
	    (po->po_dmac != NULL && !pktgen_arg(args, "dst_mac",
	    json_string(po->po_dmac))) ||
	    (po->po_len != 0 && !pktgen_arg(args, "length",
	    json_integer(po->po_len))) ||
	    (po->po_minlen != 0 && !pktgen_arg(args, "min_length",
	    json_integer(po->po_minlen))) ||
	    (po->po_pcap != NULL && !pktgen_arg(args, "pcap",
	    json_string(po->po_pcap))) ||
	    !pktgen_arg(args, "v6", json_boolean(po->po_v6)) ||
	    !pktgen_arg(args, "src_random",
	    json_boolean(po->po_srcrandom)) ||
	    !pktgen_arg(args, "dst_random", json_boolean(po->po_dstrandom)))
		return (tool_fail(pg->pg_tc, EX_OSERR, "out of memory"));
	/* Random and no range: anything at all. */
	for (int i = 0; i < 2; i++) {
		const char *end = i == 0 ? "src" : "dst";
		const char *text = i == 0 ? po->po_src : po->po_dst;

		if ((i == 0 ? po->po_srcrandom : po->po_dstrandom) &&
		    (text == NULL || strchr(text, '-') == NULL))
			(void)pktgen_range(args, end, po->po_v6 ?
			    "[fd00::]:1-[fd00::ffff:ffff]:65535" :
			    "0.0.0.0:1-255.255.255.255:65535");
	}
	return (0);
}

int
pktgen_start(struct pktgen *pg, int i, enum pktgen_mode mode, long long rate,
    long long count)
{
	static const char *const modes[] = { "tx", "rx", "ping", "pong" };
	const struct pktgen_opts *po = &pg->pg_po;
	json_t *args, *res;
	int status;

	if (rate < 0)
		rate = po->po_rate;
	args = json_pack("{ss ss sI sI sI sb sb sb}", "interface",
	    pg->pg_name[i], "mode", modes[mode], "threads",
	    (json_int_t)po->po_threads, "rate", (json_int_t)rate, "count",
	    (json_int_t)count, "verify", po->po_verify, "dump", po->po_dump,
	    "live", pg->pg_nif == 1 && !po->po_nolive);
	if (args == NULL)
		return (tool_fail(pg->pg_tc, EX_OSERR, "out of memory"));
	if ((po->po_burst > 0 && !pktgen_arg(args, "burst",
	    json_integer(po->po_burst))) ||
	    (po->po_cpu >= 0 && !pktgen_arg(args, "cpu",
	    json_integer(po->po_cpu))) ||
	    (po->po_cpus > 0 && !pktgen_arg(args, "cpus",
	    json_integer(po->po_cpus))))
		status = tool_fail(pg->pg_tc, EX_OSERR, "out of memory");
	else
		status = pktgen_args_frame(pg, args);
	if (status != 0) {
		json_decref(args);
		return (status);
	}
	status = tool_do(pg->pg_tc, "gen.start", args, &res);
	if (status != 0)
		return (status);
	pg->pg_id[i] = js_int(res, "id");
	if (mode == PKTGEN_TX || mode == PKTGEN_PING)
		pg->pg_len = po->po_pcap != NULL || po->po_minlen != 0 ? 0 :
		    js_int(res, "length");
	/* What is said at the start is of the first one. */
	if (i == 0 && !po->po_throughput) {
		const char *verb = mode == PKTGEN_TX ? "Sending on" :
		    mode == PKTGEN_RX ? "Receiving from" : "Working on";

		out_text(pg->pg_tc->tc_o, "%s %s: 1 queues, %jd threads and "
		    "%jd cpus.\n", verb, po->po_if[0],
		    (intmax_t)js_int(res, "threads"),
		    (intmax_t)js_int(res, "cpus"));
		if (mode == PKTGEN_TX && po->po_pcap == NULL)
			out_text(pg->pg_tc->tc_o, "%s -> %s (%s -> %s)\n",
			    po->po_src != NULL ? po->po_src :
			    po->po_v6 ? "fd00::1" : "10.0.0.1",
			    po->po_dst != NULL ? po->po_dst :
			    po->po_v6 ? "fd00:1::1" : "10.1.0.1",
			    js_str(res, "src_mac"), js_str(res, "dst_mac"));
		PKTGEN_LOG(pg->pg_tc, "main", "%s: %s%s", po->po_if[0],
		    js_str(res, "media"), js_bool(res, "live") ?
		    "; live frames, sent by the kernel" : "");
	}
	json_decref(res);
	return (0);
}

/* One generator's numbers, shown at once where they are of the moment. */
static int
pktgen_ask_one(struct pktgen *pg, int i, const char *cmd,
    struct pktgen_stats *st)
{
	struct pktgen_stats mine = { .pt_done = false };
	json_t *res;
	int status;

	status = tool_do(pg->pg_tc, cmd, json_pack("{sI}", "id",
	    pg->pg_id[i]), &res);
	if (status != 0)
		return (status);
	pktgen_stats_read(res, &mine);
	if (pg->pg_po.po_dump)
		pktgen_frames(&pg->pg_show, js_get(res, "frames"));
	if (pg->pg_po.po_mode == PKTGEN_PING)
		pktgen_report_ping(&pg->pg_show, &mine,
		    js_get(res, "powers"));
	/* The sender's end is the end. */
	if (i == 1)
		json_object_set_new(res, "done", json_false());
	pktgen_stats_read(res, st);
	json_decref(res);
	return (0);
}

int
pktgen_ask(struct pktgen *pg, const char *cmd, struct pktgen_stats *st)
{
	int error, status = 0;

	*st = (struct pktgen_stats){ .pt_done = false };
	for (int i = 0; i < pg->pg_nif; i++) {
		if (pg->pg_id[i] == 0)
			continue;
		error = pktgen_ask_one(pg, i, cmd, st);
		if (strcmp(cmd, "gen.stop") == 0)
			pg->pg_id[i] = 0;
		if (error != 0)
			status = error;
	}
	return (status);
}

/* ---- The run ---- */

static uint64_t
pktgen_packets(const struct pktgen *pg, const struct pktgen_stats *st)
{

	return (pg->pg_po.po_mode == PKTGEN_TX ? st->pt_tx.ps_packets :
	    st->pt_rx.ps_packets);
}

/* Is it time to end? */
static bool
pktgen_over(const struct pktgen *pg, const struct pktgen_stats *st)
{
	const struct pktgen_side *rx = &st->pt_rx;

	if (pktgen_interrupted() || st->pt_done || st->pt_gone)
		return (true);
	return (pg->pg_po.po_silence && pg->pg_po.po_mode == PKTGEN_RX &&
	    rx->ps_packets != 0 && st->pt_now > rx->ps_last +
	    PKTGEN_SILENCE_NS);
}

/* Sleep until the next report, or until the count is reached. */
static int
pktgen_pause(struct pktgen *pg, uint64_t deadline, struct pktgen_stats *st)
{
	long long left;
	struct timespec ts;
	uint64_t now;
	json_t *res;
	int status;
	bool done = false;

	for (;;) {
		(void)clock_gettime(CLOCK_MONOTONIC, &ts);
		now = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
		if (done || now >= deadline || pktgen_interrupted())
			break;
		left = (long long)((deadline - now + 999999) / 1000000);
		/* A count ends between two reports: look for that. */
		if (pg->pg_po.po_count != 0 && left > 50)
			left = 50;
		pktgen_sleep_ms(left);
		if (pg->pg_po.po_count == 0)
			continue;
		status = tool_do(pg->pg_tc, "gen.done", json_pack("{sI}", "id",
		    pg->pg_id[0]), &res);
		if (status != 0)
			return (status);
		done = js_bool(res, "done");
		json_decref(res);
	}
	return (pktgen_ask(pg, "gen.stats", st));
}

/* A report, at once. */
static int
pktgen_say(struct pktgen *pg, const struct pktgen_stats *old,
    const struct pktgen_stats *now)
{

	pktgen_report(&pg->pg_show, old, now);
	return (tool_flush(pg->pg_tc));
}

static int
pktgen_loop(struct pktgen *pg)
{
	uint64_t step = (uint64_t)pg->pg_po.po_report_ms * 1000000, next;
	struct pktgen_stats now, old;
	uint64_t first;
	bool waiting = pg->pg_po.po_mode == PKTGEN_RX;
	int status;

	status = pktgen_ask(pg, "gen.stats", &old);
	if (status != 0)
		return (status);
	/* The first report is of all since the first packet. */
	now = old;
	first = now.pt_tx.ps_first != 0 ? now.pt_tx.ps_first :
	    now.pt_rx.ps_first != 0 ? now.pt_rx.ps_first : now.pt_now;
	old = (struct pktgen_stats){ .pt_now = first };
	pg->pg_show.sh_start = first;
	if (pktgen_over(pg, &now) && pktgen_packets(pg, &now) != 0)
		status = pktgen_say(pg, &old, &now);
	for (next = now.pt_now + step; !pktgen_over(pg, &now); next += step) {
		status = pktgen_pause(pg, next, &now);
		if (status != 0)
			return (status);
		if (waiting && pktgen_packets(pg, &now) == 0) {
			if (!pktgen_interrupted())
				PKTGEN_LOG(pg->pg_tc, "receiver_body",
				    "waiting for initial packets, poll "
				    "returns 0 0");
			old = now;
			continue;
		}
		waiting = false;
		status = pktgen_say(pg, &old, &now);
		if (status != 0)
			return (status);
		old = now;
	}
	if (now.pt_gone)
		tool_warn(pg->pg_tc, "interface %s went away",
		    pg->pg_po.po_if[0]);
	return (status);
}

static int
pktgen_measure(struct pktgen *pg)
{
	struct pktgen_opts *po = &pg->pg_po;
	struct pktgen_stats st;
	int status, stopped;

	if (po->po_pcap != NULL && po->po_count == 0)
		PKTGEN_LOG(pg->pg_tc, "main", "%s is sent again and again; -n "
		    "ends that", po->po_pcap);
	pg->pg_show.sh_both = pg->pg_nif == 2 && po->po_mode == PKTGEN_TX;
	status = pg->pg_show.sh_both ? pktgen_start(pg, 1, PKTGEN_RX, 0, 0) :
	    0;
	if (status == 0)
		status = pktgen_start(pg, 0, po->po_mode, -1, po->po_count);
	if (status == 0 && fflush(pg->pg_tc->tc_out) != 0)
		status = EX_IOERR;
	if (status == 0)
		status = pktgen_loop(pg);
	/* The receiver sees the last ones; the sender has done its part. */
	if (status == 0 && pg->pg_id[1] != 0 && !pktgen_interrupted())
		pktgen_sleep_ms(PKTGEN_SETTLE_MS);
	stopped = pktgen_ask(pg, "gen.stop", &st);
	if (status == 0)
		status = stopped;
	if (status == 0)
		pktgen_summary(&pg->pg_show, &st, pg->pg_len);
	return (status);
}

static int
pktgen_run(struct pktgen *pg)
{
	const struct pktgen_opts *po = &pg->pg_po;
	long long wait = po->po_wait_s;
	bool device = false;
	int status;

	status = pktgen_interfaces(pg);
	if (status != 0)
		return (status);
	for (int i = 0; i < po->po_nif; i++)
		device |= strchr(po->po_if[i], ':') != NULL &&
		    pktgen_is_device(po->po_if[i]);
	if (wait < 0)
		wait = device && po->po_mode != PKTGEN_RX &&
		    po->po_mode != PKTGEN_PONG ? PKTGEN_LINK_S : 0;
	if (wait > 0) {
		PKTGEN_LOG(pg->pg_tc, "main", "Wait %lld secs for phy reset",
		    wait);
		pktgen_sleep_ms(1000 * wait);
		PKTGEN_LOG(pg->pg_tc, "main", "Ready...");
	}
	if (pktgen_interrupted())
		return (0);
	return (po->po_throughput ? pktgen_throughput(pg) :
	    pktgen_measure(pg));
}

static int
pktgen_main(struct tool_ctx *tc, int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = pktgen_onsignal }, oint, oterm;
	struct pktgen pg = { .pg_tc = tc };
	int status;

	status = pktgen_options(tc, &pg.pg_po, argc, argv);
	if (status == 0 && !tc->tc_local) {
		for (int i = 0; i < pg.pg_po.po_nif; i++)
			if (pktgen_is_device(pg.pg_po.po_if[i])) {
				status = pktgen_alone(tc, argc, argv);
				break;
			}
	}
	pg.pg_show.sh_tc = tc;
	pg.pg_show.sh_po = &pg.pg_po;
	if (status == 0 && pg.pg_po.po_csv != NULL) {
		pg.pg_show.sh_csv = fopen(pg.pg_po.po_csv, "we");
		if (pg.pg_show.sh_csv == NULL)
			status = tool_fail(tc, EX_CANTCREAT, "--csv %s: %s",
			    pg.pg_po.po_csv, strerror(errno));
		else
			pktgen_csv_head(&pg.pg_show);
	}
	if (status == 0) {
		pktgen_signal = 0;
		(void)sigaction(SIGINT, &sa, &oint);
		(void)sigaction(SIGTERM, &sa, &oterm);
		status = pktgen_run(&pg);
		(void)sigaction(SIGINT, &oint, NULL);
		(void)sigaction(SIGTERM, &oterm, NULL);
	}
	if (pg.pg_show.sh_csv != NULL && fclose(pg.pg_show.sh_csv) != 0 &&
	    status == 0)
		status = tool_fail(tc, EX_IOERR, "--csv %s: %s",
		    pg.pg_po.po_csv, strerror(errno));
	free(pg.pg_po.po_pcap);
	return (status == -1 ? 0 : status);
}

const struct tool tool_pktgen = {
	.tl_name = "pkt-gen",
	.tl_synopsis = "-i interface [-i interface] [-f tx|rx|ping|pong|"
	    "rfc2544] [-n count]\n"
	    "[-l size [-l min]] [-b burst] [-s src] [-d dst] [-S mac] "
	    "[-D mac] [-46zZ]\n"
	    "[-a cpu] [-c cpus] [-p threads] [-R rate] [-P file] [-T ms] "
	    "[-w wait]\n"
	    "[-ABNWXv] [--csv file] [--verify] [--throughput] "
	    "[--trial secs] [--loss part] "
	    "[--no-live]",
	.tl_manual = "netepoch-pkt-gen(8)",
	.tl_descr = "generate and measure traffic",
	.tl_fn = pktgen_main,
};
