/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The kld.* commands.  The modules are the built-in drivers, "if_" in front
 * of their names; they are there from the start and stay.  A module's size is
 * that of the program, which holds them all, so 0 for each.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ifnet/if_clone.h"
#include "ifnet/if_var.h"
#include "stack/ctl_cmds.h"
#include "stack/machine.h"

#define	KLD_NAMELEN	32

static const char *
kld_name(const struct if_driver *drv, char *buf)
{

	(void)snprintf(buf, KLD_NAMELEN, "if_%s", drv->drv_name);
	return (buf);
}

/* The module's id, from 1; 0: there is none of that name. */
static int
kld_find(const char *name)
{
	char buf[KLD_NAMELEN];
	size_t i;

	for (i = 0; i < machine_ndrivers; i++)
		if (strcmp(kld_name(machine_drivers[i], buf), name) == 0)
			return ((int)i + 1);
	return (0);
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

int
cmd_kld_list(struct ctl_req *cr, void *arg)
{
	struct machine *ma = arg;
	const struct if_driver *drv;
	char name[KLD_NAMELEN];
	json_t *modules;
	size_t i;
	int error;

	if ((error = ctl_args_done(cr)) != 0)
		return (error);
	modules = cmd_array(cr, "modules");
	if (modules == NULL)
		return (ENOMEM);
	VNET_CONFIG_LOCK(ma->ma_vnet);
	for (i = 0; error == 0 && i < machine_ndrivers; i++) {
		drv = machine_drivers[i];
		error = cmd_append(modules, json_pack("{si si si ss}",
		    "id", (int)i + 1,
		    "refs", 1 + kld_refs(ma->ma_vnet, drv),
		    "size", 0,
		    "name", kld_name(drv, name)));
	}
	VNET_CONFIG_UNLOCK(ma->ma_vnet);
	return (error != 0 ? cmd_nomem(cr) : 0);
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
	const char *name;
	int error;

	if ((error = kld_arg_name(cr, &name)) != 0)
		return (error);
	if (kld_find(name) != 0)
		return (ctl_fail(cr, EEXIST, "name", "can't load %s: module "
		    "already loaded or in kernel", name));
	return (ctl_fail(cr, ENOENT, "name", "can't load %s: No such file or "
	    "directory", name));
}

int
cmd_kld_unload(struct ctl_req *cr, void *arg)
{
	const char *name;
	int error;

	if ((error = kld_arg_name(cr, &name)) != 0)
		return (error);
	if (kld_find(name) == 0)
		return (ctl_fail(cr, ENOENT, "name", "can't find file %s",
		    name));
	return (ctl_fail(cr, EBUSY, "name", "can't unload file: Device "
	    "busy"));
}
