/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What pkt-gen prints: speed lines and totals as netmap's pkt-gen has them,
 * loss and latency behind them, the same as JSON, and a line of a CSV file for
 * each report.  State is the caller's struct pktgen_show.
 */
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/time.h>

#include "tools/out.h"
#include "tools/pktgen.h"

const char *
pktgen_norm(char *buf, size_t len, double value, bool raw)
{
	static const char *const units[] = { "", "K", "M", "G", "T" };
	size_t i = 0;

	if (raw) {
		(void)snprintf(buf, len, "%.0f ", value);
		return (buf);
	}
	while (value >= 1000 && i + 1 < nitems(units)) {
		value /= 1000;
		i++;
	}
	(void)snprintf(buf, len, "%.3f %s", value, units[i]);
	return (buf);
}

void
pktgen_log(struct tool_ctx *tc, const char *fn, int line, const char *fmt,
    ...)
{
	struct timeval tv;
	va_list ap;

	(void)gettimeofday(&tv, NULL);
	(void)fflush(tc->tc_out);
	(void)fprintf(tc->tc_err, "%03d.%06d %s [%d] ",
	    (int)(tv.tv_sec % 1000), (int)tv.tv_usec, fn, line);
	va_start(ap, fmt);
	(void)vfprintf(tc->tc_err, fmt, ap);
	va_end(ap);
	(void)fputc('\n', tc->tc_err);
}

/* ---- Reading ---- */

static uint64_t
stats_u64(const json_t *obj, const char *key)
{

	return ((uint64_t)js_int(obj, key));
}

static void
stats_side(const json_t *obj, struct pktgen_side *ps)
{

	ps->ps_packets += stats_u64(obj, "packets");
	ps->ps_bytes += stats_u64(obj, "bytes");
	ps->ps_bursts += stats_u64(obj, "bursts");
	if (stats_u64(obj, "first_ns") != 0) {
		ps->ps_first = stats_u64(obj, "first_ns");
		ps->ps_last = stats_u64(obj, "last_ns");
	}
}

static void
stats_times(const json_t *obj, struct pktgen_times *pt)
{

	if (stats_u64(obj, "count") == 0)
		return;
	pt->pt_count = stats_u64(obj, "count");
	pt->pt_min = stats_u64(obj, "min");
	pt->pt_avg = stats_u64(obj, "avg");
	pt->pt_p50 = stats_u64(obj, "p50");
	pt->pt_p99 = stats_u64(obj, "p99");
	pt->pt_p999 = stats_u64(obj, "p999");
	pt->pt_max = stats_u64(obj, "max");
}

void
pktgen_stats_read(const json_t *res, struct pktgen_stats *st)
{
	const json_t *seq = js_get(res, "sequence");

	st->pt_now = stats_u64(res, "now_ns");
	st->pt_done |= js_bool(res, "done");
	st->pt_gone |= js_bool(res, "gone");
	stats_side(js_get(res, "tx"), &st->pt_tx);
	stats_side(js_get(res, "rx"), &st->pt_rx);
	if (stats_u64(js_get(res, "tx"), "behind_ns") != 0)
		st->pt_behind = stats_u64(js_get(res, "tx"), "behind_ns");
	st->pt_refused += stats_u64(js_get(res, "tx"), "refused");
	st->pt_bad += stats_u64(js_get(res, "rx"), "bad");
	st->pt_stamped += stats_u64(seq, "packets");
	st->pt_lost += stats_u64(seq, "lost");
	st->pt_reordered += stats_u64(seq, "reordered");
	st->pt_duplicates += stats_u64(seq, "duplicates");
	st->pt_late += stats_u64(seq, "late");
	stats_times(js_get(res, "latency"), &st->pt_latency);
	stats_times(js_get(res, "interval"), &st->pt_interval);
}

/* ---- One interval ---- */

struct show_speed {
	double		 ss_usec;
	uint64_t	 ss_packets;
	double		 ss_pps, ss_bps, ss_batch;
};

static uint64_t
show_framing(const struct pktgen_show *sh)
{

	return (sh->sh_po->po_framing ? PKTGEN_FRAMING : 0);
}

static void
show_speed(const struct pktgen_show *sh, const struct pktgen_side *old,
    const struct pktgen_side *now, uint64_t ns, struct show_speed *ss)
{
	uint64_t bytes = now->ps_bytes - old->ps_bytes;
	uint64_t bursts = now->ps_bursts - old->ps_bursts;
	double secs = (double)(ns != 0 ? ns : 1) / 1e9;

	ss->ss_usec = (double)ns / 1e3;
	ss->ss_packets = now->ps_packets - old->ps_packets;
	bytes += ss->ss_packets * show_framing(sh);
	ss->ss_pps = (double)ss->ss_packets / secs;
	ss->ss_bps = 8.0 * (double)bytes / secs;
	ss->ss_batch = bursts == 0 ? 0 :
	    (double)ss->ss_packets / (double)bursts;
}

/* "[avg/std A/B pps] " over the last reports. */
static void
show_window(struct pktgen_show *sh, double pps, char *buf, size_t len)
{
	double avg = 0, var = 0;
	char a[32], b[32];
	unsigned int n;

	buf[0] = '\0';
	if (!sh->sh_po->po_window)
		return;
	sh->sh_window[sh->sh_nwindow++ % PKTGEN_WINDOW] = pps;
	n = sh->sh_nwindow < PKTGEN_WINDOW ? sh->sh_nwindow : PKTGEN_WINDOW;
	for (unsigned int i = 0; i < n; i++)
		avg += sh->sh_window[i] / n;
	for (unsigned int i = 0; i < n; i++)
		var += (sh->sh_window[i] - avg) * (sh->sh_window[i] - avg) / n;
	(void)snprintf(buf, len, "[avg/std %s/%spps] ",
	    pktgen_norm(a, sizeof(a), avg, sh->sh_po->po_raw),
	    pktgen_norm(b, sizeof(b), sqrt(var), sh->sh_po->po_raw));
}

/* Text of a report goes where netmap's goes, of the totals to the output. */
static void __printflike(3, 4)
show_text(struct pktgen_show *sh, bool total, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (out_json(sh->sh_tc->tc_o))
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (total)
		out_text(sh->sh_tc->tc_o, "%s\n", text);
	else
		PKTGEN_LOG(sh->sh_tc, "main_thread", "%s", text);
}

static void
show_line(struct pktgen_show *sh, const char *what,
    const struct show_speed *ss)
{
	char a[32], b[32], c[32], window[128];
	bool raw = sh->sh_po->po_raw;

	show_window(sh, ss->ss_pps, window, sizeof(window));
	show_text(sh, false, "%s%spps %s(%spkts %sbps in %.0f usec) "
	    "%.2f avg_batch 0 min_space", what,
	    pktgen_norm(a, sizeof(a), ss->ss_pps, raw), window,
	    pktgen_norm(b, sizeof(b), (double)ss->ss_packets, raw),
	    pktgen_norm(c, sizeof(c), ss->ss_bps, raw), ss->ss_usec,
	    ss->ss_batch);
}

static double
us(uint64_t ns)
{

	return ((double)ns / 1e3);
}

static json_t *
show_times_json(const struct pktgen_times *pt)
{

	return (json_pack("{sI sI sI sI sI sI sI}",
	    "count", (json_int_t)pt->pt_count,
	    "min-ns", (json_int_t)pt->pt_min,
	    "average-ns", (json_int_t)pt->pt_avg,
	    "median-ns", (json_int_t)pt->pt_p50,
	    "p99-ns", (json_int_t)pt->pt_p99,
	    "p999-ns", (json_int_t)pt->pt_p999,
	    "max-ns", (json_int_t)pt->pt_max));
}

static void
show_times(struct pktgen_show *sh, bool total, const struct pktgen_times *pt)
{

	if (pt->pt_count == 0)
		return;
	show_text(sh, total, "latency min %.3f median %.3f 99%% %.3f 99.9%% "
	    "%.3f max %.3f us", us(pt->pt_min), us(pt->pt_p50),
	    us(pt->pt_p99), us(pt->pt_p999), us(pt->pt_max));
	out_put(sh->sh_tc->tc_o, "latency", show_times_json(pt));
}

/* Counts of the sequence, from old (NULL: all, as a total) to now. */
static void
show_sequence(struct pktgen_show *sh,
    const struct pktgen_stats *old, const struct pktgen_stats *now)
{
	static const struct pktgen_stats none;
	const struct pktgen_stats *o = old != NULL ? old : &none;

	if (now->pt_stamped == o->pt_stamped)
		return;
	show_text(sh, old == NULL, "lost %jd reordered %jd duplicates %jd",
	    (intmax_t)(now->pt_lost - o->pt_lost),
	    (intmax_t)(now->pt_reordered - o->pt_reordered),
	    (intmax_t)(now->pt_duplicates - o->pt_duplicates));
	out_put(sh->sh_tc->tc_o, "sequence", json_pack("{sI sI sI sI sI}",
	    "packets", (json_int_t)(now->pt_stamped - o->pt_stamped),
	    "lost", (json_int_t)(now->pt_lost - o->pt_lost),
	    "reordered", (json_int_t)(now->pt_reordered - o->pt_reordered),
	    "duplicates", (json_int_t)(now->pt_duplicates -
	    o->pt_duplicates),
	    "late", (json_int_t)(now->pt_late - o->pt_late)));
}

static void
show_side_json(struct pktgen_show *sh, const char *key,
    const struct show_speed *ss)
{

	out_put(sh->sh_tc->tc_o, key, json_pack("{sI sf sf sf}",
	    "packets", (json_int_t)ss->ss_packets,
	    "packets-per-second", ss->ss_pps, "bits-per-second", ss->ss_bps,
	    "average-batch", ss->ss_batch));
}

void
pktgen_csv_head(struct pktgen_show *sh)
{

	(void)fputs("time,tx_packets,tx_pps,tx_bps,rx_packets,rx_pps,rx_bps,"
	    "lost,reordered,duplicates,latency_min_ns,latency_median_ns,"
	    "latency_p99_ns,latency_p999_ns,latency_max_ns\n", sh->sh_csv);
	(void)fflush(sh->sh_csv);
}

/* Flushed, so that a plot can follow. */
static void
show_csv(struct pktgen_show *sh, const struct pktgen_stats *old,
    const struct pktgen_stats *now, const struct show_speed *tx,
    const struct show_speed *rx)
{
	const struct pktgen_times *pt = &now->pt_interval;

	(void)fprintf(sh->sh_csv, "%.6f,%ju,%.1f,%.1f,%ju,%.1f,%.1f,"
	    "%jd,%jd,%jd,", (double)(now->pt_now - sh->sh_start) / 1e9,
	    (uintmax_t)tx->ss_packets, tx->ss_pps, tx->ss_bps,
	    (uintmax_t)rx->ss_packets, rx->ss_pps, rx->ss_bps,
	    (intmax_t)(now->pt_lost - old->pt_lost),
	    (intmax_t)(now->pt_reordered - old->pt_reordered),
	    (intmax_t)(now->pt_duplicates - old->pt_duplicates));
	if (pt->pt_count == 0)
		(void)fputs(",,,,\n", sh->sh_csv);
	else
		(void)fprintf(sh->sh_csv, "%ju,%ju,%ju,%ju,%ju\n",
		    (uintmax_t)pt->pt_min, (uintmax_t)pt->pt_p50,
		    (uintmax_t)pt->pt_p99, (uintmax_t)pt->pt_p999,
		    (uintmax_t)pt->pt_max);
	(void)fflush(sh->sh_csv);
}

bool
pktgen_kept(const struct pktgen_stats *st)
{
	const struct pktgen_side *tx = &st->pt_tx;

	return (st->pt_behind <= (tx->ps_last - tx->ps_first) / 100);
}

/* What holds a sender up. */
static void
show_trouble(struct pktgen_show *sh, const struct pktgen_stats *old,
    const struct pktgen_stats *now)
{
	uint64_t refused = now->pt_refused - old->pt_refused;

	if (refused == 0 || out_json(sh->sh_tc->tc_o))
		return;
	if (now->pt_tx.ps_packets == old->pt_tx.ps_packets)
		PKTGEN_LOG(sh->sh_tc, "main_thread", "%s takes no packet: is "
		    "its link up?", sh->sh_po->po_if[0]);
	else if (sh->sh_po->po_verbose > 0)
		PKTGEN_LOG(sh->sh_tc, "main_thread", "%ju times the interface "
		    "was full, %.3f s behind the rate", (uintmax_t)refused,
		    (double)now->pt_behind / 1e9);
}

void
pktgen_report(struct pktgen_show *sh, const struct pktgen_stats *old,
    const struct pktgen_stats *now)
{
	struct out *o = sh->sh_tc->tc_o;
	uint64_t ns = now->pt_now - old->pt_now;
	struct show_speed rx, tx;

	show_speed(sh, &old->pt_tx, &now->pt_tx, ns, &tx);
	show_speed(sh, &old->pt_rx, &now->pt_rx, ns, &rx);
	out_open(o, "pkt-gen");
	out_open(o, "report");
	out_put(o, "time-ns", json_integer((json_int_t)(now->pt_now -
	    sh->sh_start)));
	out_put(o, "interval-ns", json_integer((json_int_t)ns));
	if (sh->sh_po->po_mode == PKTGEN_TX) {
		show_line(sh, "", &tx);
		show_side_json(sh, "sent", &tx);
	} else if (sh->sh_po->po_mode != PKTGEN_PING)
		show_line(sh, "", &rx);
	if (sh->sh_po->po_mode != PKTGEN_TX ||
	    now->pt_rx.ps_packets != old->pt_rx.ps_packets)
		show_side_json(sh, "received", &rx);
	if (sh->sh_po->po_mode != PKTGEN_PING &&
	    sh->sh_po->po_mode != PKTGEN_PONG) {
		if (sh->sh_both)
			show_line(sh, "received: ", &rx);
		show_sequence(sh, old, now);
		show_times(sh, false, &now->pt_interval);
	}
	show_trouble(sh, old, now);
	out_close(o);
	out_close(o);
	if (sh->sh_csv != NULL)
		show_csv(sh, old, now, &tx, &rx);
}

void
pktgen_report_ping(struct pktgen_show *sh, const struct pktgen_stats *now,
    const json_t *powers)
{
	const struct pktgen_times *pt = &now->pt_interval;
	size_t low, high, k;
	char buf[512];
	int off = 0;

	if (pt->pt_count == 0 || out_json(sh->sh_tc->tc_o))
		return;
	PKTGEN_LOG(sh->sh_tc, "ping_body", "count %ju RTT: min %ju av %ju ns",
	    (uintmax_t)pt->pt_count, (uintmax_t)pt->pt_min,
	    (uintmax_t)pt->pt_avg);
	high = json_array_size(powers);
	if (high == 0)
		return;
	for (low = 0; low + 1 < high && json_integer_value(
	    json_array_get(powers, low)) == 0; low++)
		continue;
	buf[0] = '\0';
	for (k = low; k < high && off < (int)sizeof(buf) - 24; k++)
		off += snprintf(buf + off, sizeof(buf) - (size_t)off,
		    " %5ju", (uintmax_t)json_integer_value(
		    json_array_get(powers, k)));
	PKTGEN_LOG(sh->sh_tc, "ping_body", "k: %ju .. %ju\n\t%s",
	    (uintmax_t)1 << low, (uintmax_t)1 << (high - 1), buf);
}

/* ---- Frames ---- */

static void
show_frame(struct out *o, const char *hex)
{
	size_t len = strlen(hex) / 2, at, i;
	unsigned int byte;

	for (at = 0; at < len; at += 16) {
		out_text(o, "%5zx:", at);
		for (i = at; i < at + 16; i++)
			out_text(o, i < len ? " %.2s" : "   ", i < len ?
			    hex + 2 * i : "");
		out_text(o, "  ");
		for (i = at; i < at + 16 && i < len; i++)
			if (sscanf(hex + 2 * i, "%2x", &byte) == 1)
				out_text(o, "%c", byte >= 0x20 && byte < 0x7f ?
				    (int)byte : '.');
		out_text(o, "\n");
	}
}

void
pktgen_frames(struct pktgen_show *sh, const json_t *frames)
{
	struct out *o = sh->sh_tc->tc_o;
	const json_t *f;
	size_t i;

	if (json_array_size(frames) == 0)
		return;
	out_open(o, "pkt-gen");
	out_put(o, "frames", json_deep_copy(frames));
	json_array_foreach(frames, i, f) {
		out_text(o, "%s %jd bytes\n", js_bool(f, "sent") ? "sent" :
		    "received", (intmax_t)js_int(f, "length"));
		show_frame(o, js_str(f, "data"));
	}
	out_close(o);
	/* A line of JSON of their own: a report would take their place. */
	(void)out_flush(o);
}

/* ---- Totals ---- */

static void
show_total(struct pktgen_show *sh, const char *verb, const char *key,
    const struct pktgen_side *ps, long long size)
{
	bool raw = sh->sh_po->po_raw;
	double secs = (double)(ps->ps_last - ps->ps_first) / 1e9;
	double bits, rawbits, pps;
	struct out *o = sh->sh_tc->tc_o;
	char a[32], b[32], c[32];
	double batch = ps->ps_bursts == 0 ? 0 :
	    (double)ps->ps_packets / (double)ps->ps_bursts;

	if (ps->ps_packets == 0) {
		out_text(o, "%s nothing.\n", verb);
		out_put(o, key, json_pack("{si si}", "packets", 0, "bytes",
		    0));
		return;
	}
	if (size == 0)
		size = (long long)(ps->ps_bytes / ps->ps_packets);
	/* Of what came at one moment no speed can be told. */
	pps = secs > 0 ? (double)ps->ps_packets / secs : 0;
	bits = secs > 0 ? 8.0 * (double)ps->ps_bytes / secs : 0;
	rawbits = bits + 8.0 * pps * (double)show_framing(sh);
	out_text(o, "%s %ju packets %ju bytes %ju events %lld bytes each in "
	    "%.2f seconds.\n", verb, (uintmax_t)ps->ps_packets,
	    (uintmax_t)ps->ps_bytes, (uintmax_t)ps->ps_bursts, size, secs);
	out_text(o, "Speed: %spps Bandwidth: %sbps (raw %sbps). Average "
	    "batch: %.2f pkts\n",
	    pktgen_norm(a, sizeof(a), pps, raw),
	    pktgen_norm(b, sizeof(b), bits, raw),
	    pktgen_norm(c, sizeof(c), rawbits, raw), batch);
	out_put(o, key, json_pack("{sI sI sI sI sf sf sf sf sf}",
	    "packets", (json_int_t)ps->ps_packets,
	    "bytes", (json_int_t)ps->ps_bytes,
	    "events", (json_int_t)ps->ps_bursts,
	    "bytes-each", (json_int_t)size, "seconds", secs,
	    "packets-per-second", pps, "bits-per-second", bits,
	    "raw-bits-per-second", rawbits, "average-batch", batch));
}

/* The rate that was asked for, and whether the sender kept it. */
static void
show_rate(struct pktgen_show *sh, const struct pktgen_stats *st)
{
	struct out *o = sh->sh_tc->tc_o;
	char a[32];

	if (sh->sh_po->po_rate == 0 || sh->sh_po->po_mode != PKTGEN_TX)
		return;
	out_open(o, "rate");
	out_put(o, "asked-packets-per-second",
	    json_integer((json_int_t)sh->sh_po->po_rate));
	out_put(o, "behind-seconds",
	    json_real((double)st->pt_behind / 1e9));
	out_put(o, "kept", json_boolean(pktgen_kept(st)));
	out_close(o);
	if (!pktgen_kept(st))
		out_text(o, "The rate of %spps was not kept: %.3f seconds "
		    "behind at the end.\n", pktgen_norm(a, sizeof(a),
		    (double)sh->sh_po->po_rate, sh->sh_po->po_raw),
		    (double)st->pt_behind / 1e9);
}

/* What went in and did not come out, where both ends are ours. */
static void
show_path(struct pktgen_show *sh, const struct pktgen_stats *st)
{
	const struct pktgen_opts *po = sh->sh_po;
	uint64_t sent = st->pt_tx.ps_packets, seen = st->pt_stamped, lost;
	long long len = po->po_minlen != 0 ? po->po_minlen : po->po_len;

	seen -= st->pt_duplicates < seen ? st->pt_duplicates : seen;
	/* Frames without a number are as many as came. */
	if (po->po_pcap != NULL ||
	    (len != 0 && len < (po->po_v6 ? PKTGEN_LEN6 : PKTGEN_LEN)))
		seen = st->pt_rx.ps_packets;
	lost = sent > seen ? sent - seen : 0;
	out_text(sh->sh_tc->tc_o, "Lost %ju of %ju packets (%.4f %%)\n",
	    (uintmax_t)lost, (uintmax_t)sent,
	    sent != 0 ? 100.0 * (double)lost / (double)sent : 0.0);
	out_put(sh->sh_tc->tc_o, "lost", json_integer((json_int_t)lost));
}

void
pktgen_summary(struct pktgen_show *sh, const struct pktgen_stats *st,
    long long size)
{
	const struct pktgen_opts *po = sh->sh_po;
	struct out *o = sh->sh_tc->tc_o;

	out_open(o, "pkt-gen");
	out_open(o, "summary");
	if (po->po_mode == PKTGEN_TX || po->po_mode == PKTGEN_PING)
		show_total(sh, "Sent", "sent", &st->pt_tx, size);
	if (po->po_mode != PKTGEN_TX || sh->sh_both)
		show_total(sh, "Received", "received", &st->pt_rx, 0);
	if (st->pt_refused != 0)
		PKTGEN_LOG(sh->sh_tc, "main_thread", "%ju times the interface "
		    "was full", (uintmax_t)st->pt_refused);
	show_rate(sh, st);
	if (po->po_verify) {
		out_text(o, "Wrong checksums: %ju\n", (uintmax_t)st->pt_bad);
		out_put(o, "wrong-checksums",
		    json_integer((json_int_t)st->pt_bad));
	}
	if (sh->sh_both)
		show_path(sh, st);
	if (po->po_mode == PKTGEN_PING && st->pt_latency.pt_count != 0 &&
	    !out_json(o))
		PKTGEN_LOG(sh->sh_tc, "ping_body", "RTT over %ju packets: min "
		    "%ju av %ju ns", (uintmax_t)st->pt_latency.pt_count,
		    (uintmax_t)st->pt_latency.pt_min,
		    (uintmax_t)st->pt_latency.pt_avg);
	if (po->po_mode != PKTGEN_PONG) {
		show_sequence(sh, NULL, st);
		show_times(sh, true, &st->pt_latency);
	}
	out_close(o);
	out_close(o);
}
