/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Numbers of the interfaces that nodes make.  A number stays with its node
 * when the interface is renamed or moved to another vnet, so the list counts,
 * not the interfaces' names alone.
 */
#include "netgraph/nodes/ng_unit.h"

#include <errno.h>
#include <stdio.h>

#include "ifnet/if_var.h"

#define	NG_UNITS	65536

int
ng_unit_take(struct ng_units *units, node_p node, const char *prefix,
    struct ng_unit *nu, char *name)
{
	struct ng_unit *next = LIST_FIRST(units), *prev = NULL;
	struct vnet *vnet = ng_node_vnet(node);
	bool used;

	VNET_CONFIG_ASSERT(vnet);

	for (unsigned int number = 0; number < NG_UNITS; number++) {
		used = false;
		for (; next != NULL && next->nu_number <= number;
		    next = LIST_NEXT(next, nu_link)) {
			used |= ng_node_vnet(next->nu_node) == vnet;
			prev = next;
		}
		if (used)
			continue;
		snprintf(name, IFNAMLEN, "%s%u", prefix, number);
		if (if_byname(vnet, name) != NULL)
			continue;
		nu->nu_node = node;
		nu->nu_number = number;
		if (prev == NULL)
			LIST_INSERT_HEAD(units, nu, nu_link);
		else
			LIST_INSERT_AFTER(prev, nu, nu_link);
		return (0);
	}
	return (ENOSPC);
}

void
ng_unit_give(struct ng_unit *nu)
{

	LIST_REMOVE(nu, nu_link);
}
