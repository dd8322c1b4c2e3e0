/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Node types as modules: "ng_TYPE" is one of the table in ng_types.c, or a
 * shared object ng_TYPE.so in $NETEPOCH_MODULES, else in the directory that
 * was chosen when netepoch was built.  A graph knows a type once its module is
 * loaded, by kldload or because a node of it was asked for.
 *
 * What is loaded, for all machines of the process, is a list under the
 * configuration lock, which is the process's as well.  A shared object is
 * unmapped after its type has left the graph and the epoch's callbacks, some
 * of which may be its own, have run.  One whose type the graph refused stays
 * mapped: nobody knows what it has begun.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netepoch/epoch.h>
#include <netgraph/ng_socket.h>
#include <netgraph/netgraph.h>

#include "ifnet/vnet.h"
#include "netgraph/ng_var.h"
#include "stack/machine.h"
#include "stack/stack_private.h"
#include "sys/log.h"

#define	KLD_NG_PREFIX	"ng_"
#define	KLD_NG_SYMBOL	"netgraph_module_type"

struct kld_ng {
	struct kld_ng	*kn_next;	/* newer */
	struct vnet	*kn_vnet;
	const struct ng_type *kn_type;
	void		*kn_handle;	/* of dlopen(3), NULL: built in */
	int		 kn_id;
	char		 kn_name[NG_TYPESIZ + sizeof(KLD_NG_PREFIX)];
};

/* By the configuration lock. */
static struct kld_ng *kld_ngs;
static int	 kld_ng_lastid;

static struct kld_ng **
kld_ng_find(struct vnet *vnet, const char *name)
{
	struct kld_ng **knp;

	VNET_CONFIG_ASSERT(vnet);

	for (knp = &kld_ngs; *knp != NULL; knp = &(*knp)->kn_next)
		if ((*knp)->kn_vnet == vnet &&
		    strcmp((*knp)->kn_name, name) == 0)
			break;
	return (knp);
}

/* In the order of loading. */
static void
kld_ng_insert(struct kld_ng *kn)
{
	struct kld_ng **knp = &kld_ngs;

	VNET_CONFIG_LOCK(kn->kn_vnet);
	while (*knp != NULL && (*knp)->kn_id < kn->kn_id)
		knp = &(*knp)->kn_next;
	kn->kn_next = *knp;
	*knp = kn;
	VNET_CONFIG_UNLOCK(kn->kn_vnet);
}

/* "ng_" and a type's name that is a plain file's. */
static bool
kld_ng_name_ok(const char *name)
{
	size_t len = strlen(name);

	if (strncmp(name, KLD_NG_PREFIX, strlen(KLD_NG_PREFIX)) != 0 ||
	    len == strlen(KLD_NG_PREFIX) ||
	    len >= NG_TYPESIZ + strlen(KLD_NG_PREFIX))
		return (false);
	for (; *name != '\0'; name++)
		if (!isalnum((unsigned char)*name) && *name != '_' &&
		    *name != '-')
			return (false);
	return (true);
}

static const struct ng_type *
kld_ng_builtin(const char *name)
{

	for (size_t i = 0; i < machine_nng_types; i++)
		if (strcmp(machine_ng_types[i]->name,
		    name + strlen(KLD_NG_PREFIX)) == 0)
			return (machine_ng_types[i]);
	return (NULL);
}

/* The type in a shared object: ENOENT, ENOEXEC. */
static int
kld_ng_open(const char *name, void **handlep, const struct ng_type **typep)
{
	const struct ng_type *const *sym;
	const char *dir = secure_getenv("NETEPOCH_MODULES");
	char path[4096];
	void *handle;

	if (snprintf(path, sizeof(path), "%s/%s.so", dir != NULL &&
	    dir[0] != '\0' ? dir : NETEPOCH_MODULE_DIR, name) >=
	    (int)sizeof(path) || access(path, F_OK) != 0)
		return (ENOENT);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL) {
		log_msg(LOG_ERR, "%s", dlerror());
		return (ENOEXEC);
	}
	sym = dlsym(handle, KLD_NG_SYMBOL);
	if (sym == NULL || *sym == NULL ||
	    (*sym)->version != NG_ABI_VERSION || (*sym)->name == NULL ||
	    strcmp((*sym)->name, name + strlen(KLD_NG_PREFIX)) != 0) {
		log_msg(LOG_ERR, "%s: no node type %s of version %d", path,
		    name + strlen(KLD_NG_PREFIX), NG_ABI_VERSION);
		(void)dlclose(handle);
		return (ENOEXEC);
	}
	*handlep = handle;
	*typep = *sym;
	return (0);
}

int
kld_ng_load_id(struct vnet *vnet, const char *name, int *id)
{
	struct kld_ng *kn = NULL;
	int error = ENOENT;

	VNET_CONFIG_LOCK(vnet);
	if (*kld_ng_find(vnet, name) != NULL)
		error = EEXIST;
	else if (!kld_ng_name_ok(name))
		error = ENOENT;
	else if ((kn = calloc(1, sizeof(*kn))) == NULL)
		error = ENOMEM;
	else {
		kn->kn_type = kld_ng_builtin(name);
		error = kn->kn_type != NULL ? 0 :
		    kld_ng_open(name, &kn->kn_handle, &kn->kn_type);
		if (error == 0)
			error = ng_type_register(vnet, kn->kn_type, kn);
	}
	if (error == 0) {
		kn->kn_vnet = vnet;
		*id = kn->kn_id = ++kld_ng_lastid;
		snprintf(kn->kn_name, sizeof(kn->kn_name), "%s", name);
		kld_ng_insert(kn);
	} else
		free(kn);
	VNET_CONFIG_UNLOCK(vnet);
	return (error);
}

/* Also the loader of ng_set_loader(): inside of control work. */
int
kld_ng_load(struct vnet *vnet, const char *name)
{
	int id;

	return (kld_ng_load_id(vnet, name, &id));
}

int
kld_ng_unload(struct vnet *vnet, const char *name, int *id)
{
	struct kld_ng *kn, **knp;
	int error = 0;

	VNET_CONFIG_LOCK(vnet);
	knp = kld_ng_find(vnet, name);
	kn = *knp;
	if (kn == NULL)
		error = ENOENT;
	else if (strcmp(kn->kn_type->name, NG_SOCKET_NODE_TYPE) == 0)
		error = EBUSY;
	else
		*knp = kn->kn_next;	/* ours alone */
	VNET_CONFIG_UNLOCK(vnet);
	if (error != 0)
		return (error);
	/* Without the lock, since it waits for callbacks. */
	error = ng_type_unregister(vnet, kn->kn_type->name);
	if (error != 0) {
		kld_ng_insert(kn);
		return (error);
	}
	*id = kn->kn_id;
	if (kn->kn_handle != NULL)
		(void)dlclose(kn->kn_handle);
	free(kn);
	return (0);
}

void
kld_ng_walk(struct vnet *vnet, void (*fn)(int id, const char *name,
    unsigned int nodes, void *arg), void *arg)
{
	struct kld_ng *kn;

	VNET_CONFIG_ASSERT(vnet);

	for (kn = kld_ngs; kn != NULL; kn = kn->kn_next)
		if (kn->kn_vnet == vnet)
			fn(kn->kn_id, kn->kn_name,
			    ng_type_nodes(vnet, kn->kn_type->name), arg);
}

int
kld_ng_init(struct vnet *vnet)
{

	ng_set_loader(vnet, kld_ng_load);
	return (kld_ng_load(vnet, KLD_NG_PREFIX NG_SOCKET_NODE_TYPE));
}

void
kld_ng_fini(struct vnet *vnet)
{
	struct kld_ng *kn, **knp, *gone = NULL;

	VNET_CONFIG_LOCK(vnet);
	for (knp = &kld_ngs; (kn = *knp) != NULL; )
		if (kn->kn_vnet == vnet) {
			*knp = kn->kn_next;
			kn->kn_next = gone;
			gone = kn;
		} else
			knp = &kn->kn_next;
	VNET_CONFIG_UNLOCK(vnet);
	NET_EPOCH_DRAIN_CALLBACKS();
	while ((kn = gone) != NULL) {
		gone = kn->kn_next;
		if (kn->kn_handle != NULL)
			(void)dlclose(kn->kn_handle);
		free(kn);
	}
}
