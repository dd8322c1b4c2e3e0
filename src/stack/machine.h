/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A machine: a vnet with its threads, tunables and tables, wired together.
 * This is the only room that knows all others, and the public face of
 * libnetepoch for the daemon, benchmarks and tests.
 */
#ifndef _STACK_MACHINE_H_
#define	_STACK_MACHINE_H_

#include <stddef.h>
#include <stdint.h>

#include "ctl/ctl.h"

struct gen_set;
struct if_driver;
struct ifnet;
struct ng_sockserv;
struct ng_type;
struct vnet;

struct machine_config {
	const char	*mc_name;	/* "M1" */
	const int	*mc_cpus;	/* for ithreads; NULL: all allowed */
	int		 mc_ncpus;
	uint32_t	 mc_nmbufs;	/* frames for the process; 0: default */
};

struct machine {
	char		 ma_name[32];	/* (c) */
	struct vnet	*ma_vnet;	/* (c) */
	uint64_t	 ma_start;	/* (c) time_ns() */
	struct ng_sockserv *ma_ngserv;	/* (c) or NULL */
	struct gen_set	*ma_gens;	/* (c) traffic generators */
};

/* Threads, tables and lo0; no other interface.  errno value, err says why. */
int	machine_start(const struct machine_config *mc, struct machine **map,
	    char *err, size_t errlen);
/*
 * Serve programs that have nodes in the machine's graph, at the socket path;
 * until machine_stop().
 */
int	machine_serve_graph(struct machine *ma, const char *path, char *err,
	    size_t errlen);
/* Destroys its nodes and interfaces, drains the epoch, joins all threads. */
void	machine_stop(struct machine *ma);

/*
 * ifconfig's create: name "epair" picks a unit.  The configuration lock is
 * taken inside.  The first name made is put in made[IFNAMLEN].
 */
int	machine_if_create(struct machine *ma, const char *name,
	    const char *spec, char *made, char *err, size_t errlen);
int	machine_if_destroy(struct machine *ma, const char *name, char *err,
	    size_t errlen);

/* The control commands of docs/control.md; their arg is the machine. */
extern const struct ctl_command machine_commands[];
extern const size_t machine_ncommands;

/* The built-in drivers; the table is in stack/drivers.c. */
extern const struct if_driver *const machine_drivers[];
extern const size_t machine_ndrivers;

/* The built-in node types; the table is in stack/ng_types.c. */
extern const struct ng_type *const machine_ng_types[];
extern const size_t machine_nng_types;

#endif /* _STACK_MACHINE_H_ */
