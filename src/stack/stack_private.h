/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the files of the stack room share.
 */
#ifndef _STACK_STACK_PRIVATE_H_
#define	_STACK_STACK_PRIVATE_H_

#include <stdbool.h>

struct machine;
struct vnet;

/* machine_sysctl.c: kern.epoch.*, kern.ipc.*, kern.features.*; errno value. */
int	machine_sysctl_attach(struct machine *ma);

/*
 * kld_ng.c: node types as modules, "ng_TYPE", built in or shared objects.
 * errno values.  kld_ng_init() follows ng_vnet_init(), kld_ng_fini() follows
 * ng_vnet_fini().
 */
int	kld_ng_init(struct vnet *vnet);
void	kld_ng_fini(struct vnet *vnet);
/*
 * EEXIST: loaded already; ENOENT: there is no such module; ENOEXEC: it is no
 * node type, or one for another version; else what its attach method says.
 */
int	kld_ng_load(struct vnet *vnet, const char *name);
int	kld_ng_load_id(struct vnet *vnet, const char *name, int *id);
/* ENOENT: it is not loaded; EBUSY: it has nodes, or stays. */
int	kld_ng_unload(struct vnet *vnet, const char *name, int *id);
/* What is loaded, oldest first; with the configuration lock. */
void	kld_ng_walk(struct vnet *vnet, void (*fn)(int id, const char *name,
	    unsigned int nodes, void *arg), void *arg);

#endif /* _STACK_STACK_PRIVATE_H_ */
