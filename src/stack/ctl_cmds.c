/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The table of control commands, and the helpers of their handlers.  No
 * state.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ifnet/if_var.h"
#include "intr/intr_var.h"
#include "mbuf/mbuf.h"
#include "stack/ctl_cmds.h"
#include "stack/machine.h"
#include "sys/thread.h"

/* ---- Arguments ---- */

int
cmd_arg_addr(struct ctl_req *cr, const char *name, struct in_addr *addr,
    bool *present)
{
	const char *text;
	int error;

	addr->s_addr = INADDR_ANY;
	if (present != NULL) {
		*present = ctl_arg_present(cr, name);
		if (!*present)
			return (0);
	}
	error = ctl_arg_string(cr, name, &text);
	if (error == 0 && inet_pton(AF_INET, text, addr) != 1)
		error = ctl_fail(cr, EINVAL, name, "%s: expected an IPv4 "
		    "address, got \"%s\"", name, text);
	return (error);
}

/* Six bytes of two hexadecimal digits, with colons between. */
static bool
cmd_mac_parse(const char *text, uint8_t *mac)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *hi, *lo;
	int i;

	for (i = 0; i < 6; i++, text += 3) {
		if (text[0] == '\0' || text[1] == '\0')
			return (false);
		hi = strchr(digits, text[0]);
		lo = strchr(digits, text[1]);
		if (hi == NULL || lo == NULL ||
		    text[2] != (i < 5 ? ':' : '\0'))
			return (false);
		mac[i] = (uint8_t)(((hi - digits) & 15) << 4 |
		    ((lo - digits) & 15));
	}
	return (true);
}

int
cmd_arg_mac(struct ctl_req *cr, const char *name, uint8_t *mac, bool *present)
{
	const char *text;
	int error;

	if (present != NULL) {
		*present = ctl_arg_present(cr, name);
		if (!*present)
			return (0);
	}
	error = ctl_arg_string(cr, name, &text);
	if (error != 0)
		return (error);
	if (!cmd_mac_parse(text, mac))
		return (ctl_fail(cr, EINVAL, name, "%s: expected a MAC as "
		    "02:00:00:00:00:01, got \"%s\"", name, text));
	if ((mac[0] & 1) != 0)
		return (ctl_fail(cr, EINVAL, name, "%s: expected a station's "
		    "MAC, got %s", name, text));
	return (0);
}

int
cmd_arg_ifname(struct ctl_req *cr, const char *name, const char **ifname,
    bool *present)
{
	size_t len;
	int error;

	*ifname = NULL;
	if (present != NULL) {
		*present = ctl_arg_present(cr, name);
		if (!*present)
			return (0);
	}
	error = ctl_arg_string(cr, name, ifname);
	if (error != 0)
		return (error);
	len = strspn(*ifname, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789_.:-");
	if (len == 0 || len >= IFNAMLEN || (*ifname)[len] != '\0')
		return (ctl_fail(cr, EINVAL, name, "%s: expected 1 to %d of "
		    "A-Z a-z 0-9 _ . : -, got \"%s\"", name, IFNAMLEN - 1,
		    *ifname));
	return (0);
}

int
cmd_ifp(struct ctl_req *cr, struct vnet *vnet, const char *field,
    const char *ifname, struct ifnet **ifpp)
{

	VNET_CONFIG_ASSERT(vnet);

	*ifpp = if_byname(vnet, ifname);
	if (*ifpp == NULL)
		return (ctl_fail(cr, ENXIO, field, "interface %s does not "
		    "exist", ifname));
	return (0);
}

/* ---- Results ---- */

int
cmd_nomem(struct ctl_req *cr)
{

	return (ctl_fail(cr, ENOMEM, "", "no memory for the reply"));
}

json_t *
cmd_array(struct ctl_req *cr, const char *name)
{
	json_t *array;

	array = json_array();
	return (ctl_result(cr, name, array) == 0 ? array : NULL);
}

int
cmd_append(json_t *array, json_t *elem)
{

	return (json_array_append_new(array, elem) == 0 ? 0 : ENOMEM);
}

const char *
cmd_addr_text(struct in_addr addr, char *buf)
{

	return (inet_ntop(AF_INET, &addr, buf, CMD_ADDRLEN));
}

const char *
cmd_mac_text(const uint8_t *mac, char *buf)
{

	(void)snprintf(buf, CMD_MACLEN, "%02x:%02x:%02x:%02x:%02x:%02x",
	    mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
	return (buf);
}

struct in_addr
cmd_mask(int plen)
{
	struct in_addr mask;

	mask.s_addr = plen == 0 ? 0 : htonl(~(uint32_t)0 << (32 - plen));
	return (mask);
}

/* ---- The machine itself ---- */

/* Bytes of memory this process has in use; 0: /proc does not tell. */
static uint64_t
cmd_memory(void)
{
	unsigned long pages = 0;
	FILE *f;

	f = fopen("/proc/self/statm", "re");
	if (f == NULL)
		return (0);
	if (fscanf(f, "%*u %lu", &pages) != 1)
		pages = 0;
	(void)fclose(f);
	return ((uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE));
}

int
cmd_machine_info(struct ctl_req *cr, void *arg)
{
	const struct machine *ma = arg;
	int error;

	if ((error = ctl_args_done(cr)) != 0)
		return (error);
	if ((error = ctl_result(cr, "name", ctl_text(ma->ma_name))) != 0 ||
	    (error = ctl_result(cr, "pid", json_integer(getpid()))) != 0 ||
	    (error = ctl_result(cr, "version",
	    json_string(NETEPOCH_VERSION))) != 0 ||
	    (error = ctl_result(cr, "uptime_ns",
	    json_integer((json_int_t)(time_ns() - ma->ma_start)))) != 0 ||
	    (error = ctl_result(cr, "cpus",
	    json_integer(intr_domain_ncpus(ma->ma_vnet->v_intr)))) != 0 ||
	    (error = ctl_result(cr, "mbufs",
	    json_integer(mbuf_nframes()))) != 0 ||
	    (error = ctl_result(cr, "mbufs_free",
	    json_integer(mbuf_nfree()))) != 0 ||
	    (error = ctl_result(cr, "mbufs_failed",
	    json_integer((json_int_t)mbuf_nofree()))) != 0)
		return (error);
	return (ctl_result(cr, "memory_bytes",
	    json_integer((json_int_t)cmd_memory())));
}

/* ---- The table ---- */

const struct ctl_command machine_commands[] = {
	{ "machine.info",	cmd_machine_info },
	{ "if.list",		cmd_if_list },
	{ "if.create",		cmd_if_create },
	{ "if.destroy",		cmd_if_destroy },
	{ "if.set",		cmd_if_set },
	{ "if.addr.add",	cmd_if_addr_add },
	{ "if.addr.del",	cmd_if_addr_del },
	{ "if.cloners",		cmd_if_cloners },
	{ "route.add",		cmd_route_add },
	{ "route.change",	cmd_route_change },
	{ "route.del",		cmd_route_del },
	{ "route.get",		cmd_route_get },
	{ "route.list",		cmd_route_list },
	{ "route.flush",	cmd_route_flush },
	{ "arp.list",		cmd_arp_list },
	{ "arp.set",		cmd_arp_set },
	{ "arp.del",		cmd_arp_del },
	{ "sysctl.list",	cmd_sysctl_list },
	{ "sysctl.set",		cmd_sysctl_set },
	{ "intr.list",		cmd_intr_list },
	{ "stats.get",		cmd_stats_get },
	{ "stats.zero",		cmd_stats_zero },
	{ "drops.list",		cmd_drops_list },
	{ "graph.sockets",	cmd_graph_sockets },
	{ "graph.list",		cmd_graph_list },
	{ "gen.start",		cmd_gen_start },
	{ "gen.stats",		cmd_gen_stats },
	{ "gen.done",		cmd_gen_done },
	{ "gen.stop",		cmd_gen_stop },
	{ "kld.list",		cmd_kld_list },
	{ "kld.load",		cmd_kld_load },
	{ "kld.unload",		cmd_kld_unload },
};
const size_t machine_ncommands = nitems(machine_commands);
