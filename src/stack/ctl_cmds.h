/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The control commands of a machine: their handlers, listed in ctl_cmds.c,
 * and what several of them need.  docs/control.md is their contract.
 *
 * A handler (ctl_handler_fn, its arg the machine) first takes its arguments,
 * then the configuration lock, and then looks at the machine: it checks
 * everything that can be checked before it changes anything, and undoes what
 * it did when a later step fails.  Handlers run on the control thread or on
 * the thread that reads netepochd's file, never in the epoch.
 */
#ifndef _STACK_CTL_CMDS_H_
#define	_STACK_CTL_CMDS_H_

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "ctl/ctl.h"

struct ifnet;
struct machine;
struct vnet;

#define	CMD_ADDRLEN	16		/* "255.255.255.255" and the NUL */
#define	CMD_MACLEN	18		/* "02:00:00:00:00:01" and the NUL */

ctl_handler_fn	cmd_machine_info;
ctl_handler_fn	cmd_if_list, cmd_if_create, cmd_if_destroy, cmd_if_set,
		cmd_if_addr_add, cmd_if_addr_del, cmd_if_cloners;
ctl_handler_fn	cmd_route_add, cmd_route_change, cmd_route_del,
		cmd_route_get, cmd_route_list, cmd_route_flush;
ctl_handler_fn	cmd_arp_list, cmd_arp_set, cmd_arp_del;
ctl_handler_fn	cmd_sysctl_list, cmd_sysctl_set;
ctl_handler_fn	cmd_intr_list, cmd_stats_get, cmd_stats_zero, cmd_drops_list;
ctl_handler_fn	cmd_graph_sockets;
ctl_handler_fn	cmd_graph_list;
ctl_handler_fn	cmd_gen_start, cmd_gen_stats, cmd_gen_done, cmd_gen_stop;
ctl_handler_fn	cmd_kld_list, cmd_kld_load, cmd_kld_unload;

/*
 * Arguments of the kinds that the machine knows; as ctl_arg_*, 0 or the
 * request has failed.  *present says whether the member was there; NULL: it
 * must be.
 */
int	cmd_arg_addr(struct ctl_req *cr, const char *name,
	    struct in_addr *addr, bool *present);
int	cmd_arg_mac(struct ctl_req *cr, const char *name, uint8_t *mac,
	    bool *present);
/* The name of an interface, well formed; it need not exist. */
int	cmd_arg_ifname(struct ctl_req *cr, const char *name,
	    const char **ifname, bool *present);

/*
 * The interface of that name, which field gave, or ENXIO and the request has
 * failed.  Configuration lock held.
 */
int	cmd_ifp(struct ctl_req *cr, struct vnet *vnet, const char *field,
	    const char *ifname, struct ifnet **ifpp);
/* An array for the result called name, borrowed; NULL: the request failed. */
json_t	*cmd_array(struct ctl_req *cr, const char *name);
/* Put elem (consumed, NULL: no memory) at the array's end; 0 or ENOMEM. */
int	cmd_append(json_t *array, json_t *elem);
/* Fail the request for want of memory; returns ENOMEM. */
int	cmd_nomem(struct ctl_req *cr);

const char *cmd_addr_text(struct in_addr addr, char *buf); /* CMD_ADDRLEN */
const char *cmd_mac_text(const uint8_t *mac, char *buf);   /* CMD_MACLEN */
struct in_addr cmd_mask(int plen);

#endif /* _STACK_CTL_CMDS_H_ */
