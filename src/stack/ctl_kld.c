/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The kld.* commands.  The modules are the built-in drivers, "if_" in front
 * of their names, and "netgraph", which are there from the start and stay;
 * and the node types that were loaded, "ng_" in front (kld_ng.c).  A module's
 * size is that of the program, which holds nearly all of them, so 0 for each.
 * Control plane only; the loaded ones are listed under the configuration lock.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ifnet/if_clone.h"
#include "ifnet/if_var.h"
#include "stack/ctl_cmds.h"
#include "stack/machine.h"
#include "stack/stack_private.h"

#define	KLD_NAMELEN	32
#define	KLD_NETGRAPH	"netgraph"

static const char *
kld_name(const struct if_driver *drv, char *buf)
{

	(void)snprintf(buf, KLD_NAMELEN, "if_%s", drv->drv_name);
	return (buf);
}

/* Is it one that is always there? */
static bool
kld_stays(const char *name)
{
	char buf[KLD_NAMELEN];
	size_t i;

	for (i = 0; i < machine_ndrivers; i++)
		if (strcmp(kld_name(machine_drivers[i], buf), name) == 0)
			return (true);
	return (strcmp(name, KLD_NETGRAPH) == 0);
}

/* Interfaces that the driver serves. */
static int
kld_refs(struct vnet *vnet, const struct if_driver *drv)
{
	struct ifnet *ifp;
	int n = 0;

	VNET_CONFIG_ASSERT(vnet);

	CK_STAILQ_FOREACH(ifp, &vnet->v_ifnets, if_link)
		n += ifp->if_driver == drv;
	return (n);
}

struct kld_list {
	json_t		*kl_modules;
	unsigned int	 kl_types;
	int		 kl_error;
};

static void
kld_append(struct kld_list *kl, int id, int refs, const char *name)
{

	if (kl->kl_error == 0)
		kl->kl_error = cmd_append(kl->kl_modules,
		    json_pack("{si si si ss}", "id", id, "refs", refs,
		    "size", 0, "name", name));
}

/* Types come after the drivers and netgraph. */
static int
kld_type_id(int id)
{

	return ((int)machine_ndrivers + 1 + id);
}

static void
kld_append_type_cb(int id, const char *name, unsigned int nodes, void *arg)
{

	kld_append(arg, kld_type_id(id), 1 + (int)nodes, name);
}

static void
kld_count_type_cb(int id, const char *name, unsigned int nodes, void *arg)
{
	struct kld_list *kl = arg;

	kl->kl_types++;
}

int
cmd_kld_list(struct ctl_req *cr, void *arg)
{
	struct machine *ma = arg;
	struct kld_list kl = { 0 };
	char name[KLD_NAMELEN];
	size_t i;
	int error;

	if ((error = ctl_args_done(cr)) != 0)
		return (error);
	kl.kl_modules = cmd_array(cr, "modules");
	if (kl.kl_modules == NULL)
		return (ENOMEM);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	for (i = 0; i < machine_ndrivers; i++)
		kld_append(&kl, (int)i + 1, 1 + kld_refs(ma->ma_vnet,
		    machine_drivers[i]), kld_name(machine_drivers[i], name));
	kld_ng_walk(ma->ma_vnet, kld_count_type_cb, &kl);
	kld_append(&kl, (int)machine_ndrivers + 1, 1 + (int)kl.kl_types,
	    KLD_NETGRAPH);
	kld_ng_walk(ma->ma_vnet, kld_append_type_cb, &kl);
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	return (kl.kl_error != 0 ? cmd_nomem(cr) : 0);
}

static int
kld_arg_name(struct ctl_req *cr, const char **name)
{
	int error;

	if ((error = ctl_arg_string(cr, "name", name)) != 0)
		return (error);
	return (ctl_args_done(cr));
}

int
cmd_kld_load(struct ctl_req *cr, void *arg)
{
	struct machine *ma = arg;
	const char *name;
	int error, id;

	if ((error = kld_arg_name(cr, &name)) != 0)
		return (error);
	error = kld_stays(name) ? EEXIST :
	    kld_ng_load_id(ma->ma_vnet, name, &id);
	switch (error) {
	case 0:
		return (ctl_result(cr, "id", json_integer(kld_type_id(id))));
	case EEXIST:
		return (ctl_fail(cr, error, "name", "can't load %s: module "
		    "already loaded or in kernel", name));
	default:
		return (ctl_fail(cr, error, "name", "can't load %s: %s", name,
		    strerror(error)));
	}
}

int
cmd_kld_unload(struct ctl_req *cr, void *arg)
{
	struct machine *ma = arg;
	const char *name;
	int error, id;

	if ((error = kld_arg_name(cr, &name)) != 0)
		return (error);
	error = kld_stays(name) ? EBUSY :
	    kld_ng_unload(ma->ma_vnet, name, &id);
	switch (error) {
	case 0:
		return (ctl_result(cr, "id", json_integer(kld_type_id(id))));
	case ENOENT:
		return (ctl_fail(cr, error, "name", "can't find file %s",
		    name));
	default:
		return (ctl_fail(cr, error, "name", "can't unload file: %s",
		    error == EBUSY ? "Device busy" : strerror(error)));
	}
}
