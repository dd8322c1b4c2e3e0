/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The commands that show counters: interrupts, protocols, drops.
 *
 * A protocol's statistics are cells of the ip room, and drops that interfaces
 * count by reason: the sum is over all that the vnet has had.  The table below
 * says which reasons make up which line, in the order of netstat -s.
 *
 * No state; interfaces are walked under the configuration lock.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ifnet/if_var.h"
#include "intr/intr_var.h"
#include "ip/ip_var.h"
#include "stack/ctl_cmds.h"
#include "stack/ctl_stat.h"
#include "stack/machine.h"
#include "sys/thread.h"

#define	INTR_SLACK	16		/* events that may come meanwhile */

/* ---- Interrupts ---- */

/* All events, to be freed; NULL: no memory. */
static struct intr_stat *
intr_rows(struct intr_domain *id, int *np)
{
	struct intr_stat *rows = NULL, *more;
	int max, n;

	n = intr_stats(id, NULL, 0);
	do {
		max = n + INTR_SLACK;
		more = realloc(rows, (size_t)max * sizeof(*rows));
		if (more == NULL) {
			free(rows);
			return (NULL);
		}
		rows = more;
		n = intr_stats(id, rows, max);
	} while (n > max);
	*np = n;
	return (rows);
}

static int
intr_list_events(struct ctl_req *cr, struct intr_domain *id)
{
	struct intr_stat *rows;
	json_t *events;
	int i, error = 0, n;

	events = cmd_array(cr, "events");
	if (events == NULL)
		return (ENOMEM);
	rows = intr_rows(id, &n);
	if (rows == NULL)
		return (cmd_nomem(cr));
	for (i = 0; error == 0 && i < n; i++)
		error = cmd_append(events, json_pack("{so si sI sI sI}",
		    "name", ctl_text(rows[i].is_name),
		    "cpu", rows[i].is_cpu,
		    "total", (json_int_t)rows[i].is_total,
		    "runs", (json_int_t)rows[i].is_runs,
		    "storms", (json_int_t)rows[i].is_storms));
	free(rows);
	return (error != 0 ? cmd_nomem(cr) : 0);
}

int
cmd_intr_list(struct ctl_req *cr, void *arg)
{
	const struct machine *ma = arg;
	struct intr_domain *id = ma->ma_vnet->v_intr;
	struct intr_totals it;
	int error;

	if ((error = ctl_args_done(cr)) != 0 ||
	    (error = intr_list_events(cr, id)) != 0)
		return (error);
	intr_totals(id, &it);
	error = ctl_result(cr, "totals", json_pack("{sI sI sI sI sI sI}",
	    "interrupts", (json_int_t)it.it_interrupts,
	    "runs", (json_int_t)it.it_runs,
	    "entries", (json_int_t)it.it_entries,
	    "reentries", (json_int_t)it.it_reentries,
	    "sleeps", (json_int_t)it.it_sleeps,
	    "spins", (json_int_t)it.it_spins));
	if (error != 0)
		return (error);
	return (ctl_result(cr, "uptime_ns",
	    json_integer((json_int_t)(time_ns() - ma->ma_start))));
}

/* ---- Protocols ---- */

#define	STAT(id, proto, name)						\
	{ proto, name, NULL, id, { IFD_COUNT } }
#define	DROP(proto, name, text, ...)					\
	{ proto, name, text, IPS_COUNT, { __VA_ARGS__, IFD_COUNT } }

const struct stat_line stat_lines[] = {
	STAT(IPS_TOTAL, "ip", "received"),
	DROP("ip", "bad-checksum", "bad header checksums", IFD_IPSUM),
	DROP("ip", "too-small", "with size smaller than minimum",
	    IFD_IPTOOSMALL),
	DROP("ip", "too-short", "with data size < data length", IFD_IPSHORT),
	DROP("ip", "bad-header-length", "with header length < data size",
	    IFD_IPHLEN),
	DROP("ip", "bad-length", "with data length < header length",
	    IFD_IPLEN),
	DROP("ip", "bad-options", "with bad options", IFD_IPOPT),
	DROP("ip", "bad-version", "with incorrect version number",
	    IFD_IPVERS),
	STAT(IPS_FRAGMENTS, "ip", "fragments"),
	DROP("ip", "fragments-dropped",
	    "fragments dropped (dup or out of space)", IFD_IPFRAG,
	    IFD_IPFRAGLIMIT),
	DROP("ip", "fragments-timeout", "fragments dropped after timeout",
	    IFD_IPFRAGTIME),
	STAT(IPS_REASSEMBLED, "ip", "reassembled"),
	STAT(IPS_DELIVERED, "ip", "delivered"),
	DROP("ip", "no-protocol", "packets for unknown/unsupported protocol",
	    IFD_IPPROTO),
	STAT(IPS_FORWARD, "ip", "forwarded"),
	STAT(IPS_FASTFORWARD, "ip", "fast-forwarded"),
	DROP("ip", "not-forwardable", "packets not forwardable",
	    IFD_IPNOFORWARD, IFD_IPBLACKHOLE, IFD_IPREJECT, IFD_IPBCAST),
	DROP("ip", "no-multicast-group",
	    "packets received for unknown multicast group", IFD_IPMCAST),
	STAT(IPS_REDIRECTS, "ip", "redirects"),
	STAT(IPS_LOCALOUT, "ip", "sent"),
	DROP("ip", "no-route", "output packets discarded due to no route",
	    IFD_IPNOROUTE),
	STAT(IPS_FRAGMENTED, "ip", "fragmented"),
	STAT(IPS_OFRAGMENTS, "ip", "fragments-created"),
	DROP("ip", "cannot-fragment", "datagrams that can't be fragmented",
	    IFD_IPCANTFRAG),
	DROP("ip", "bad-address", "datagrams with bad address in header",
	    IFD_IPADDR),
	DROP("ip", "source-route", "packets with a source route, not allowed",
	    IFD_IPSRCRT),
	DROP("ip", "time-exceeded", "packets whose time to live ran out",
	    IFD_IPTTL),

	STAT(ICPS_ERRORS, "icmp", "errors"),
	STAT(ICPS_LIMITED, "icmp", "errors-limited"),
	STAT(ICPS_NOTWANTED, "icmp", "errors-not-generated"),
	STAT(ICPS_NOMBUF, "icmp", "errors-no-mbuf"),
	STAT(ICPS_ECHO, "icmp", "echo"),
	STAT(ICPS_OUT_UNREACH, "icmp", "sent-unreachable"),
	STAT(ICPS_OUT_TIMXCEED, "icmp", "sent-time-exceeded"),
	STAT(ICPS_OUT_PARAMPROB, "icmp", "sent-parameter-problem"),
	DROP("icmp", "bad", "messages with a bad format or checksum",
	    IFD_ICMPBAD),
	DROP("icmp", "ignored", "messages of no use to a router",
	    IFD_ICMPIGN),

	STAT(ARPS_TXREQUESTS, "arp", "sent-requests"),
	STAT(ARPS_TXREPLIES, "arp", "sent-replies"),
	STAT(ARPS_RXREQUESTS, "arp", "received-requests"),
	STAT(ARPS_RXREPLIES, "arp", "received-replies"),
	STAT(ARPS_RECEIVED, "arp", "received"),
	DROP("arp", "no-entry", "total packets dropped due to no ARP entry",
	    IFD_ARPHOLD, IFD_ARPFAIL),
	STAT(ARPS_TIMEOUTS, "arp", "timeouts"),
	STAT(ARPS_DUPIPS, "arp", "duplicate-ips"),
	DROP("arp", "bad", "packets with a wrong format", IFD_ARPBAD),
	DROP("arp", "bad-address", "packets with an impossible address",
	    IFD_ARPADDR),
	DROP("arp", "other", "packets not concerning us", IFD_ARPOTHER),

	DROP("udp", "bad", "datagrams with a bad length or checksum",
	    IFD_UDPBAD),
	DROP("udp", "no-port", "datagrams to a closed port", IFD_UDPPORT),
	STAT(TCPS_RESETS, "tcp", "resets"),
	STAT(TCPS_LIMITED, "tcp", "resets-limited"),
	DROP("tcp", "bad", "segments with a bad length or checksum",
	    IFD_TCPBAD),
	DROP("tcp", "no-port", "segments to a closed port", IFD_TCPPORT),
};
const size_t stat_nlines = nitems(stat_lines);

#undef STAT
#undef DROP

/* The value of a line: one cell, or reasons summed over the interfaces. */
static uint64_t
stat_value(struct vnet *vnet, const struct stat_line *sl)
{
	const enum if_drop *why;
	uint64_t n = 0;

	if (sl->sl_stat != IPS_COUNT)
		return (ip_stat(vnet, sl->sl_stat));
	for (why = sl->sl_drops; *why != IFD_COUNT; why++)
		n += vnet_counter(vnet, (enum if_counter)(IFC_DROPS + *why));
	return (n);
}

static void
stat_zero(struct vnet *vnet, const struct stat_line *sl)
{
	const enum if_drop *why;
	struct ifnet *ifp;

	if (sl->sl_stat != IPS_COUNT) {
		ip_stat_zero(vnet, sl->sl_stat);
		return;
	}
	for (why = sl->sl_drops; *why != IFD_COUNT; why++) {
		counter_zero(vnet->v_retired + IFC_DROPS + *why);
		CK_STAILQ_FOREACH(ifp, &vnet->v_ifnets, if_link)
			counter_zero(ifp->if_counters + IFC_DROPS + *why);
	}
}

/* proto, which must be one of the table's; NULL: all. */
static int
stat_arg_proto(struct ctl_req *cr, const char **proto)
{
	size_t i;
	int error;

	if ((error = ctl_arg_string_opt(cr, "proto", NULL, proto)) != 0 ||
	    (error = ctl_args_done(cr)) != 0 || *proto == NULL)
		return (error);
	for (i = 0; i < stat_nlines; i++)
		if (strcmp(stat_lines[i].sl_proto, *proto) == 0)
			return (0);
	return (ctl_fail(cr, EPROTONOSUPPORT, "proto", "proto: expected ip, "
	    "icmp, arp, udp or tcp, got \"%s\"", *proto));
}

/* The protocol's array, made at its first line; borrowed. */
static json_t *
stat_array(json_t *protocols, const char *proto)
{
	json_t *array;

	array = json_object_get(protocols, proto);
	if (array != NULL)
		return (array);
	array = json_array();
	return (json_object_set_new(protocols, proto, array) == 0 ? array :
	    NULL);
}

static int
stat_get_locked(struct vnet *vnet, const char *proto, json_t *protocols)
{
	const struct stat_line *sl;
	json_t *array;
	size_t i;

	for (i = 0; i < stat_nlines; i++) {
		sl = &stat_lines[i];
		if (proto != NULL && strcmp(proto, sl->sl_proto) != 0)
			continue;
		array = stat_array(protocols, sl->sl_proto);
		if (array == NULL || cmd_append(array, json_pack("{ss sI ss}",
		    "name", sl->sl_name,
		    "value", (json_int_t)stat_value(vnet, sl),
		    "text", sl->sl_text != NULL ? sl->sl_text :
		    ip_stat_info[sl->sl_stat].is_text)) != 0)
			return (ENOMEM);
	}
	return (0);
}

int
cmd_stats_get(struct ctl_req *cr, void *arg)
{
	struct machine *ma = arg;
	json_t *protocols;
	const char *proto;
	int error;

	error = stat_arg_proto(cr, &proto);
	if (error != 0)
		return (error);
	protocols = json_object();
	error = ctl_result(cr, "protocols", protocols);
	if (error != 0)
		return (error);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	error = stat_get_locked(ma->ma_vnet, proto, protocols);
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	return (error != 0 ? cmd_nomem(cr) : 0);
}

int
cmd_stats_zero(struct ctl_req *cr, void *arg)
{
	struct machine *ma = arg;
	const char *proto;
	size_t i;
	int error;

	error = stat_arg_proto(cr, &proto);
	if (error != 0)
		return (error);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	for (i = 0; i < stat_nlines; i++)
		if (proto == NULL ||
		    strcmp(proto, stat_lines[i].sl_proto) == 0)
			stat_zero(ma->ma_vnet, &stat_lines[i]);
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	return (0);
}

/* ---- Drops ---- */

/* The name that stands for all interfaces that are gone. */
#define	DROPS_GONE	"-"

static int
drops_append(json_t *drops, const char *name, counter_t counters)
{
	uint64_t n;
	int i;

	for (i = 0; i < IFD_COUNT; i++) {
		n = counter_fetch(counters + IFC_DROPS + (counter_t)i);
		if (n != 0 && cmd_append(drops, json_pack("{ss ss ss sI}",
		    "interface", name,
		    "name", if_drop_info[i].fd_name,
		    "text", if_drop_info[i].fd_text,
		    "count", (json_int_t)n)) != 0)
			return (ENOMEM);
	}
	return (0);
}

static int
drops_list_locked(struct ctl_req *cr, struct vnet *vnet, const char *ifname,
    json_t *drops)
{
	struct ifnet *ifp;
	int error;

	if (ifname != NULL) {
		error = cmd_ifp(cr, vnet, "interface", ifname, &ifp);
		if (error == 0 && drops_append(drops, ifp->if_name,
		    ifp->if_counters) != 0)
			error = cmd_nomem(cr);
		return (error);
	}
	CK_STAILQ_FOREACH(ifp, &vnet->v_ifnets, if_link)
		if (drops_append(drops, ifp->if_name, ifp->if_counters) != 0)
			return (cmd_nomem(cr));
	if (drops_append(drops, DROPS_GONE, vnet->v_retired) != 0)
		return (cmd_nomem(cr));
	return (0);
}

int
cmd_drops_list(struct ctl_req *cr, void *arg)
{
	struct machine *ma = arg;
	const char *ifname;
	json_t *drops;
	bool given;
	int error;

	if ((error = cmd_arg_ifname(cr, "interface", &ifname, &given)) != 0 ||
	    (error = ctl_args_done(cr)) != 0)
		return (error);
	drops = cmd_array(cr, "drops");
	if (drops == NULL)
		return (ENOMEM);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	error = drops_list_locked(cr, ma->ma_vnet, ifname, drops);
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	return (error);
}
