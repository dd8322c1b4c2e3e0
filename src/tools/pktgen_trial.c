/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The throughput of RFC 2544, 26.1: the highest rate at which no packet is
 * lost, or no greater part than was allowed.  Binary search between what was
 * carried and what was not; a trial sends at one rate for some seconds and
 * waits for the last packets.  The first one sends as fast as it can.
 */

#include "tools/out.h"
#include "tools/pktgen.h"

#define	TRIAL_SETTLE_MS	500
#define	TRIAL_GRACE_MS	20		/* for the last burst of a rate */
#define	TRIAL_PART	0.01		/* the search ends so close */
#define	TRIAL_MAX	24

struct trial {
	double		 tr_offered;	/* pps; 0: as fast as possible */
	double		 tr_sent;	/* pps */
	uint64_t	 tr_packets;
	uint64_t	 tr_lost;
	bool		 tr_kept;	/* what was offered was sent */
	struct pktgen_times tr_latency;
};

/* What was sent and did not come. */
static uint64_t
trial_lost(const struct pktgen_stats *st)
{
	uint64_t seen = st->pt_stamped - st->pt_duplicates;

	return (st->pt_tx.ps_packets > seen ? st->pt_tx.ps_packets - seen :
	    0);
}

/* The sender's end: what it has sent, and how fast. */
static int
trial_stop(struct pktgen *pg, struct trial *tr)
{
	json_int_t rx = pg->pg_id[1];
	struct pktgen_stats st;
	uint64_t ns;
	int status;

	pg->pg_id[1] = 0;
	status = pktgen_ask(pg, "gen.stop", &st);
	pg->pg_id[1] = rx;
	ns = st.pt_tx.ps_last - st.pt_tx.ps_first;
	tr->tr_packets = st.pt_tx.ps_packets;
	tr->tr_sent = (double)tr->tr_packets * 1e9 / (double)(ns + 1);
	/* The last burst goes as soon as its first packet is due. */
	if (tr->tr_offered > 0 && tr->tr_sent > tr->tr_offered)
		tr->tr_sent = tr->tr_offered;
	tr->tr_kept = pktgen_kept(&st);
	return (status);
}

static int
trial_run(struct pktgen *pg, double rate, struct trial *tr)
{
	long long ms = (long long)(pg->pg_po.po_trial_s * 1e3), count = 0;
	struct pktgen_stats st;
	int status, stopped;

	*tr = (struct trial){ .tr_offered = rate };
	if (rate > 0)
		count = (long long)(rate * pg->pg_po.po_trial_s);
	status = pktgen_start(pg, 1, PKTGEN_RX, 0, 0);
	if (status == 0)
		status = pktgen_start(pg, 0, PKTGEN_TX, (long long)rate,
		    count > 0 ? count : rate > 0 ? 1 : 0);
	if (status == 0)
		pktgen_sleep_ms(rate > 0 ? ms + TRIAL_GRACE_MS : ms);
	/* Who cannot keep the rate is given no more time: it shows. */
	if (status == 0)
		status = trial_stop(pg, tr);
	if (status == 0)
		pktgen_sleep_ms(TRIAL_SETTLE_MS);
	stopped = pktgen_ask(pg, "gen.stop", &st);
	if (status == 0)
		status = stopped;
	st.pt_tx.ps_packets = tr->tr_packets;
	tr->tr_lost = trial_lost(&st);
	tr->tr_latency = st.pt_latency;
	return (status);
}

static bool
trial_passed(const struct pktgen *pg, const struct trial *tr)
{

	return (tr->tr_packets != 0 && (double)tr->tr_lost <=
	    pg->pg_po.po_loss * (double)tr->tr_packets);
}

static void
trial_show(struct pktgen *pg, int n, const struct trial *tr)
{
	struct out *o = pg->pg_tc->tc_o;
	char a[32], b[32];

	out_open(o, "pkt-gen");
	out_open(o, "trial");
	out_put(o, "offered-pps", json_real(tr->tr_offered));
	out_put(o, "sent-pps", json_real(tr->tr_sent));
	out_put(o, "kept", json_boolean(tr->tr_kept));
	out_put(o, "packets", json_integer((json_int_t)tr->tr_packets));
	out_put(o, "lost", json_integer((json_int_t)tr->tr_lost));
	out_text(o, "Trial %d: offered %s%s sent %spps, lost %ju of %ju "
	    "packets: %s\n", n, tr->tr_offered > 0 ? pktgen_norm(a, sizeof(a),
	    tr->tr_offered, pg->pg_po.po_raw) : "all",
	    tr->tr_offered > 0 ? "pps," : ",",
	    pktgen_norm(b, sizeof(b), tr->tr_sent, pg->pg_po.po_raw),
	    (uintmax_t)tr->tr_lost, (uintmax_t)tr->tr_packets,
	    trial_passed(pg, tr) ? "passed" : "failed");
	out_close(o);
	out_close(o);
	(void)out_flush(o);
	(void)fflush(pg->pg_tc->tc_out);
}

static void
trial_result(struct pktgen *pg, const struct trial *best)
{
	const struct pktgen_times *pt = &best->tr_latency;
	struct out *o = pg->pg_tc->tc_o;
	char a[32], b[32];
	double bits = 8.0 * best->tr_sent * (double)pg->pg_len;

	out_open(o, "pkt-gen");
	out_open(o, "throughput");
	out_put(o, "packets-per-second", json_real(best->tr_sent));
	out_put(o, "bits-per-second", json_real(bits));
	out_text(o, "Throughput: %spps Bandwidth: %sbps\n",
	    pktgen_norm(a, sizeof(a), best->tr_sent, pg->pg_po.po_raw),
	    pktgen_norm(b, sizeof(b), bits, pg->pg_po.po_raw));
	if (pt->pt_count != 0) {
		out_put(o, "latency-median-ns",
		    json_integer((json_int_t)pt->pt_p50));
		out_put(o, "latency-p99-ns",
		    json_integer((json_int_t)pt->pt_p99));
		out_put(o, "latency-max-ns",
		    json_integer((json_int_t)pt->pt_max));
		out_text(o, "latency min %.3f median %.3f 99%% %.3f 99.9%% "
		    "%.3f max %.3f us\n", (double)pt->pt_min / 1e3,
		    (double)pt->pt_p50 / 1e3, (double)pt->pt_p99 / 1e3,
		    (double)pt->pt_p999 / 1e3, (double)pt->pt_max / 1e3);
	}
	out_close(o);
	out_close(o);
}

int
pktgen_throughput(struct pktgen *pg)
{
	struct trial best = { .tr_sent = 0 }, tr;
	double high, low = 0, rate = 0;
	int n, status;

	high = (double)pg->pg_po.po_rate;
	for (n = 1; n <= TRIAL_MAX; n++) {
		if (n == 1)
			rate = high;
		status = trial_run(pg, rate, &tr);
		if (status != 0)
			return (status);
		if (pktgen_interrupted())
			break;
		trial_show(pg, n, &tr);
		if (trial_passed(pg, &tr)) {
			if (tr.tr_sent > best.tr_sent)
				best = tr;
			/* More than it sent it cannot send. */
			low = tr.tr_sent < rate || rate <= 0 ? tr.tr_sent :
			    rate;
			if (n == 1)
				break;
		} else
			high = rate > 0 ? rate : tr.tr_sent;
		if (high - low <= TRIAL_PART * high || high < 2)
			break;
		rate = (low + high) / 2;
	}
	if (best.tr_packets == 0)
		return (tool_fail(pg->pg_tc, 1, "no trial passed"));
	trial_result(pg, &best);
	return (0);
}
