/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The gen.* commands: traffic generators on the machine's interfaces.
 *
 * A generator that was started over the socket goes with the connection that
 * started it, so that a tool which dies leaves no traffic behind; one started
 * within the process stays until gen.stop.  Only the connection that started a
 * generator may stop it or ask for its numbers.
 *
 * On the control thread, or the one that runs a command within the process;
 * the list of generators is under the configuration lock.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "gen/gen_var.h"
#include "ifnet/if_var.h"
#include "intr/intr_var.h"
#include "stack/ctl_cmds.h"
#include "stack/machine.h"
#include "sys/thread.h"

#define	GEN_BURST_MAX	4096
#define	GEN_BURST	512

/* ---- Start ---- */

static int
gen_arg_mode(struct ctl_req *cr, enum gen_mode *mode)
{
	static const char *const names[] = { "tx", "rx", "ping", "pong" };
	const char *text;
	size_t i;
	int error;

	if ((error = ctl_arg_string(cr, "mode", &text)) != 0)
		return (error);
	for (i = 0; i < nitems(names); i++)
		if (strcmp(text, names[i]) == 0) {
			*mode = (enum gen_mode)i;
			return (0);
		}
	return (ctl_fail(cr, EINVAL, "mode", "mode: expected tx, rx, ping or "
	    "pong, got \"%s\"", text));
}

/* The name of a member of one end, "src_to". */
static const char *
gen_member(const char *end, const char *what, char *buf, size_t len)
{

	(void)snprintf(buf, len, "%s%s", end, what);
	return (buf);
}

/* One address in the family of the frames. */
static int
gen_arg_addr(struct ctl_req *cr, const char *name, bool v6, const char *def,
    struct in6_addr *addr6, uint32_t *addr)
{
	const char *text;
	int error;

	if ((error = ctl_arg_string_opt(cr, name, def, &text)) != 0)
		return (error);
	memset(addr6, 0, sizeof(*addr6));
	if (inet_pton(v6 ? AF_INET6 : AF_INET, text, addr6) != 1)
		return (ctl_fail(cr, EINVAL, name, "%s: expected an IPv%d "
		    "address, got \"%s\"", name, v6 ? 6 : 4, text));
	memcpy(addr, addr6->s6_addr + (v6 ? 12 : 0), sizeof(*addr));
	*addr = ntohl(*addr);
	return (0);
}

/* end: "src" or "dst". */
static int
gen_arg_end(struct ctl_req *cr, const char *end, bool v6, const char *def,
    struct frame_end *fe)
{
	char name[16], text[INET6_ADDRSTRLEN];
	struct in6_addr to;
	long port;
	int error;

	error = gen_arg_addr(cr, end, v6, def, &fe->fe_addr6, &fe->fe_from);
	if (error != 0)
		return (error);
	(void)inet_ntop(v6 ? AF_INET6 : AF_INET, &fe->fe_addr6, text,
	    sizeof(text));
	error = gen_arg_addr(cr, gen_member(end, "_to", name, sizeof(name)),
	    v6, text, &to, &fe->fe_to);
	if (error != 0)
		return (error);
	if ((v6 && memcmp(&to, &fe->fe_addr6, 12) != 0) ||
	    fe->fe_to < fe->fe_from)
		return (ctl_fail(cr, EINVAL, name, "%s: expected an address "
		    "not below %s%s", name, text, v6 ? ", other in the last "
		    "32 bits only" : ""));
	error = ctl_arg_int_opt(cr, gen_member(end, "_port", name,
	    sizeof(name)), 0, UINT16_MAX, 1234, &port);
	if (error != 0)
		return (error);
	fe->fe_port_from = (uint16_t)port;
	error = ctl_arg_int_opt(cr, gen_member(end, "_port_to", name,
	    sizeof(name)), fe->fe_port_from, UINT16_MAX, port, &port);
	if (error != 0)
		return (error);
	fe->fe_port_to = (uint16_t)port;
	return (ctl_arg_bool_opt(cr, gen_member(end, "_random", name,
	    sizeof(name)), false, &fe->fe_random));
}

/* A MAC, also one of a group. */
static int
gen_arg_mac(struct ctl_req *cr, const char *name, uint8_t *mac, bool *given)
{
	unsigned int v[6];
	const char *text;
	int error, end = 0;

	*given = ctl_arg_present(cr, name);
	if (!*given)
		return (0);
	if ((error = ctl_arg_string(cr, name, &text)) != 0)
		return (error);
	if (strlen(text) > 17 || sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n",
	    &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &end) != 6 ||
	    text[end] != '\0')
		return (ctl_fail(cr, EINVAL, name, "%s: expected a MAC as "
		    "02:00:00:00:00:01, got \"%s\"", name, text));
	for (int i = 0; i < 6; i++)
		mac[i] = (uint8_t)v[i];
	return (0);
}

static int
gen_arg_frame(struct ctl_req *cr, struct frame_conf *fc, bool *smac)
{
	static const uint8_t broadcast[6] = { 255, 255, 255, 255, 255, 255 };
	bool dmac;
	long len, minlen, seed;
	int error;

	if ((error = ctl_arg_bool_opt(cr, "v6", false, &fc->fc_v6)) != 0 ||
	    (error = gen_arg_end(cr, "src", fc->fc_v6,
	    fc->fc_v6 ? "fd00::1" : "10.0.0.1", &fc->fc_src)) != 0 ||
	    (error = gen_arg_end(cr, "dst", fc->fc_v6,
	    fc->fc_v6 ? "fd00:1::1" : "10.1.0.1", &fc->fc_dst)) != 0 ||
	    (error = gen_arg_mac(cr, "dst_mac", fc->fc_dmac, &dmac)) != 0 ||
	    (error = gen_arg_mac(cr, "src_mac", fc->fc_smac, smac)) != 0)
		return (error);
	if (!dmac)
		memcpy(fc->fc_dmac, broadcast, sizeof(broadcast));
	if ((error = ctl_arg_int_opt(cr, "length", frame_min(fc->fc_v6),
	    FRAME_MAX, fc->fc_v6 ? frame_stamped_min(true) : 60, &len)) != 0 ||
	    (error = ctl_arg_int_opt(cr, "min_length", frame_min(fc->fc_v6),
	    len, len, &minlen)) != 0 ||
	    (error = ctl_arg_int_opt(cr, "seed", 0, INT64_MAX,
	    (long)(time_ns() & INT64_MAX), &seed)) != 0)
		return (error);
	fc->fc_len = (uint32_t)len;
	fc->fc_minlen = minlen == len ? 0 : (uint32_t)minlen;
	fc->fc_seed = (uint64_t)seed;
	return (0);
}

static int
gen_arg_conf(struct ctl_req *cr, struct gen_conf *gc, int ncpus)
{
	long threads, cpu, cpus, count, rate, burst, start;
	int error;

	if ((error = gen_arg_mode(cr, &gc->gc_mode)) != 0 ||
	    (error = ctl_arg_int_opt(cr, "threads", 1, GEN_THREADS_MAX, 1,
	    &threads)) != 0 ||
	    (error = ctl_arg_int_opt(cr, "cpu", 0, ncpus - 1, -1,
	    &cpu)) != 0 ||
	    (error = ctl_arg_int_opt(cr, "cpus", 1, ncpus, ncpus,
	    &cpus)) != 0 ||
	    (error = ctl_arg_int_opt(cr, "count", 0, INT64_MAX, 0,
	    &count)) != 0 ||
	    (error = ctl_arg_int_opt(cr, "rate", 0, INT64_MAX, 0,
	    &rate)) != 0 ||
	    (error = ctl_arg_int_opt(cr, "burst", 1, GEN_BURST_MAX, GEN_BURST,
	    &burst)) != 0 ||
	    (error = ctl_arg_int_opt(cr, "start_ns", 0, INT64_MAX, 0,
	    &start)) != 0 ||
	    (error = ctl_arg_bool_opt(cr, "verify", false,
	    &gc->gc_verify)) != 0 ||
	    (error = ctl_arg_bool_opt(cr, "dump", false, &gc->gc_dump)) != 0 ||
	    (error = ctl_arg_bool_opt(cr, "live", false, &gc->gc_live)) != 0 ||
	    (error = ctl_arg_string_opt(cr, "pcap", NULL,
	    &gc->gc_pcap)) != 0)
		return (error);
	gc->gc_threads = (unsigned int)threads;
	gc->gc_cpu = (int)cpu;
	gc->gc_ncpus = (int)cpus;
	gc->gc_count = (uint64_t)count;
	gc->gc_rate = (uint64_t)rate;
	gc->gc_burst = (uint32_t)burst;
	gc->gc_start = (uint64_t)start;
	return (0);
}

/* The connection has closed: server's thread. */
static void
gen_peer_gone(void *arg, uint64_t id)
{
	struct machine *ma = arg;

	VNET_CONFIG_LOCK(ma->ma_vnet);
	gen_owner_gone(ma->ma_gens, id);
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
}

static int
gen_started(struct ctl_req *cr, const struct gen *g, struct ifnet *ifp,
    const struct gen_conf *gc)
{
	char mac[CMD_MACLEN], dmac[CMD_MACLEN];
	int error;

	if ((error = ctl_result(cr, "id", json_integer(gen_id(g)))) != 0 ||
	    (error = ctl_result(cr, "src_mac", json_string(cmd_mac_text(
	    gc->gc_frame.fc_smac, mac)))) != 0 ||
	    (error = ctl_result(cr, "dst_mac", json_string(cmd_mac_text(
	    gc->gc_frame.fc_dmac, dmac)))) != 0 ||
	    (error = ctl_result(cr, "media",
	    ctl_text(ifp->if_media))) != 0 ||
	    (error = ctl_result(cr, "live",
	    json_boolean(gen_is_live(g)))) != 0 ||
	    (error = ctl_result(cr, "length",
	    json_integer(gc->gc_frame.fc_len))) != 0 ||
	    (error = ctl_result(cr, "threads",
	    json_integer(gc->gc_mode == GEN_TX ? (int)gc->gc_threads :
	    1))) != 0)
		return (error);
	return (ctl_result(cr, "cpus", json_integer(gc->gc_ncpus)));
}

int
cmd_gen_start(struct ctl_req *cr, void *arg)
{
	struct machine *ma = arg;
	int ncpus = intr_domain_ncpus(ma->ma_vnet->v_intr), error;
	struct gen_conf gc = { .gc_cpu = -1 };
	const char *ifname;
	struct ifnet *ifp;
	struct gen *g;
	char err[256];
	bool smac;

	if ((error = cmd_arg_ifname(cr, "interface", &ifname, NULL)) != 0 ||
	    (error = gen_arg_conf(cr, &gc, ncpus)) != 0 ||
	    (error = gen_arg_frame(cr, &gc.gc_frame, &smac)) != 0 ||
	    (error = ctl_args_done(cr)) != 0)
		return (error);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	error = cmd_ifp(cr, ma->ma_vnet, "interface", ifname, &ifp);
	if (error != 0)
		goto unlock;
	if (!smac)
		memcpy(gc.gc_frame.fc_smac, ifp->if_lladdr, 6);
	error = gen_start(ma->ma_gens, ifp, &gc,
	    cr->cr_peer != NULL ? cr->cr_peer->cp_id : 0, &g, err,
	    sizeof(err));
	if (error != 0) {
		(void)ctl_fail(cr, error, gc.gc_pcap != NULL ? "pcap" :
		    "interface", "%s", err);
		goto unlock;
	}
	if (cr->cr_peer != NULL) {
		cr->cr_peer->cp_gone = gen_peer_gone;
		cr->cr_peer->cp_arg = ma;
	}
	error = gen_started(cr, g, ifp, &gc);
	if (error != 0)
		gen_free(g);
unlock:
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	return (error);
}

/* ---- Numbers ---- */

static json_t *
gen_latency(const struct hist_copy *hc)
{

	return (json_pack("{sI sI sI sI sI sI sI}",
	    "count", (json_int_t)hc->hc_count,
	    "min", (json_int_t)(hc->hc_count != 0 ? hc->hc_min : 0),
	    "avg", (json_int_t)(hc->hc_count != 0 ?
	    hc->hc_sum / hc->hc_count : 0),
	    "p50", (json_int_t)hist_quantile(hc, 0.5),
	    "p99", (json_int_t)hist_quantile(hc, 0.99),
	    "p999", (json_int_t)hist_quantile(hc, 0.999),
	    "max", (json_int_t)hc->hc_max));
}

/* How many values have their highest bit at place k, as an array over k. */
static json_t *
gen_powers(const struct hist_copy *hc)
{
	uint64_t sum[64] = { 0 };
	json_t *array;
	int top = 0;

	for (unsigned int i = 0; i < HIST_CELLS; i++)
		if (hc->hc_cell[i] != 0) {
			top = 63 - __builtin_clzll(hist_cell_low(i) | 1);
			sum[top] += hc->hc_cell[i];
		}
	if ((array = json_array()) == NULL)
		return (NULL);
	for (int k = 0; k <= top; k++)
		(void)json_array_append_new(array,
		    json_integer((json_int_t)sum[k]));
	return (array);
}

static json_t *
gen_dumps(struct gen *g)
{
	static const char digits[] = "0123456789abcdef";
	struct gen_frame_dump gd[GEN_DUMP_MAX];
	char hex[2 * GEN_DUMP_LEN + 1];
	unsigned int n = gen_dump_take(g, gd, GEN_DUMP_MAX);
	json_t *array;

	if ((array = json_array()) == NULL)
		return (NULL);
	for (unsigned int i = 0; i < n; i++) {
		for (uint32_t k = 0; k < gd[i].gd_kept; k++) {
			hex[2 * k] = digits[gd[i].gd_data[k] >> 4];
			hex[2 * k + 1] = digits[gd[i].gd_data[k] & 15];
		}
		hex[2 * gd[i].gd_kept] = '\0';
		(void)json_array_append_new(array, json_pack("{sb si ss}",
		    "sent", gd[i].gd_sent, "length", (int)gd[i].gd_len,
		    "data", hex));
	}
	return (array);
}

static int
gen_result(struct ctl_req *cr, struct gen *g)
{
	struct gen_stats st;
	int error;

	gen_stats_get(g, &st);
	if ((error = ctl_result(cr, "done", json_boolean(st.gs_done))) != 0 ||
	    (error = ctl_result(cr, "gone", json_boolean(st.gs_gone))) != 0 ||
	    (error = ctl_result(cr, "now_ns",
	    json_integer((json_int_t)time_ns()))) != 0 ||
	    (error = ctl_result(cr, "tx", json_pack("{sI sI sI sI sI sI sI}",
	    "packets", (json_int_t)st.gs_tx_packets,
	    "bytes", (json_int_t)st.gs_tx_bytes,
	    "bursts", (json_int_t)st.gs_tx_bursts,
	    "refused", (json_int_t)st.gs_tx_refused,
	    "behind_ns", (json_int_t)st.gs_tx_behind,
	    "first_ns", (json_int_t)st.gs_tx_first,
	    "last_ns", (json_int_t)st.gs_tx_last))) != 0 ||
	    (error = ctl_result(cr, "rx", json_pack("{sI sI sI sI sI sI}",
	    "packets", (json_int_t)st.gs_rx_packets,
	    "bytes", (json_int_t)st.gs_rx_bytes,
	    "bursts", (json_int_t)st.gs_rx_bursts,
	    "bad", (json_int_t)st.gs_rx_bad,
	    "first_ns", (json_int_t)st.gs_rx_first,
	    "last_ns", (json_int_t)st.gs_rx_last))) != 0 ||
	    (error = ctl_result(cr, "sequence", json_pack("{sI sI sI sI sI}",
	    "packets", (json_int_t)st.gs_stamped,
	    "lost", (json_int_t)st.gs_lost,
	    "reordered", (json_int_t)st.gs_reordered,
	    "duplicates", (json_int_t)st.gs_duplicates,
	    "late", (json_int_t)st.gs_late))) != 0 ||
	    (error = ctl_result(cr, "latency",
	    gen_latency(&st.gs_latency))) != 0 ||
	    (error = ctl_result(cr, "interval",
	    gen_latency(&st.gs_interval))) != 0 ||
	    (error = ctl_result(cr, "powers",
	    gen_powers(&st.gs_interval))) != 0)
		return (error);
	return (ctl_result(cr, "frames", gen_dumps(g)));
}

/* The generator called id, which must be the asker's; NULL: it is not. */
static struct gen *
gen_arg_gen(struct ctl_req *cr, struct machine *ma, long id)
{
	struct gen *g;

	g = gen_find(ma->ma_gens, (uint32_t)id);
	if (g == NULL || gen_owner(g) !=
	    (cr->cr_peer != NULL ? cr->cr_peer->cp_id : 0)) {
		(void)ctl_fail(cr, ENOENT, "id", "this connection has no "
		    "generator %ld", id);
		return (NULL);
	}
	return (g);
}

int
cmd_gen_stats(struct ctl_req *cr, void *arg)
{
	struct machine *ma = arg;
	struct gen *g;
	long id;
	int error;

	if ((error = ctl_arg_int(cr, "id", 1, UINT32_MAX, &id)) != 0 ||
	    (error = ctl_args_done(cr)) != 0)
		return (error);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	g = gen_arg_gen(cr, ma, id);
	error = g != NULL ? gen_result(cr, g) : ENOENT;
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	return (error);
}

/* Is it at its end?  For those who wait: cheaper than all numbers. */
int
cmd_gen_done(struct ctl_req *cr, void *arg)
{
	struct machine *ma = arg;
	bool done = false;
	struct gen *g;
	long id;
	int error;

	if ((error = ctl_arg_int(cr, "id", 1, UINT32_MAX, &id)) != 0 ||
	    (error = ctl_args_done(cr)) != 0)
		return (error);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	g = gen_arg_gen(cr, ma, id);
	if (g != NULL)
		done = gen_done(g);
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	return (g != NULL ? ctl_result(cr, "done", json_boolean(done)) :
	    ENOENT);
}

int
cmd_gen_stop(struct ctl_req *cr, void *arg)
{
	struct machine *ma = arg;
	struct gen *g;
	long id;
	int error;

	if ((error = ctl_arg_int(cr, "id", 1, UINT32_MAX, &id)) != 0 ||
	    (error = ctl_args_done(cr)) != 0)
		return (error);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	error = ENOENT;
	g = gen_arg_gen(cr, ma, id);
	if (g != NULL) {
		gen_stop(g);
		error = gen_result(cr, g);
		gen_free(g);
	}
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	return (error);
}
