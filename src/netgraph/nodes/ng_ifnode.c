/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Nodes that are an interface.  A number stays with its node when the interface
 * is renamed or moved to another vnet, so the list counts, not the interfaces'
 * names alone.  Control work, under the configuration lock.
 */
#include "netgraph/nodes/ng_ifnode.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sys/log.h"

#define	IFNODE_NUMBERS	65536

/* name, of IFNAMLEN bytes, becomes prefix and number. */
static int
ifnode_take_number(struct ng_ifnodes *all, struct ng_ifnode *in, node_p node,
    const char *prefix, char *name)
{
	struct ng_ifnode *next = LIST_FIRST(all), *prev = NULL;
	struct vnet *vnet = ng_node_vnet(node);
	bool used;

	VNET_CONFIG_ASSERT(vnet);

	for (unsigned int number = 0; number < IFNODE_NUMBERS; number++) {
		used = false;
		for (; next != NULL && next->in_number <= number;
		    next = LIST_NEXT(next, in_link)) {
			used |= ng_node_vnet(next->in_node) == vnet;
			prev = next;
		}
		if (used)
			continue;
		snprintf(name, IFNAMLEN, "%s%u", prefix, number);
		if (if_byname(vnet, name) != NULL)
			continue;
		in->in_node = node;
		in->in_number = number;
		if (prev == NULL)
			LIST_INSERT_HEAD(all, in, in_link);
		else
			LIST_INSERT_AFTER(prev, in, in_link);
		return (0);
	}
	return (ENOSPC);
}

int
ng_ifnode_alloc(struct ng_ifnodes *all, struct ng_ifnode *in, node_p node,
    const char *prefix, uint8_t iftype)
{
	char name[IFNAMLEN];
	int error;

	error = ifnode_take_number(all, in, node, prefix, name);
	if (error != 0)
		return (error);
	error = if_alloc(ng_node_vnet(node), iftype, name, &in->in_ifp);
	if (error != 0)
		LIST_REMOVE(in, in_link);
	return (error);
}

int
ng_ifnode_attach(struct ng_ifnode *in)
{
	const char *name = in->in_ifp->if_name;

	if (ng_name_node(in->in_node, name) != 0)
		log_msg(LOG_WARNING, "can't acquire netgraph name %s", name);
	return (if_attach(in->in_ifp));
}

void
ng_ifnode_free(struct ng_ifnode *in)
{

	if_free(in->in_ifp);
	LIST_REMOVE(in, in_link);
}

void
ng_ifnode_send(struct ifnet *ifp, hook_p hook, struct mbuf **m, unsigned int n)
{
	uint64_t bytes = 0;
	struct ng_item it;

	for (unsigned int i = 0; i < n; i++)
		bytes += m[i]->m_pkthdr.len;
	it.it_n = n;
	memcpy(it.it_m, m, n * sizeof(m[0]));
	if (__predict_false(ng_fwd_item(&it, hook) != 0))
		if_output_failed(ifp, n, bytes, IFD_GRAPH);
}

static const struct ng_parse_fixedstring_info ifname_info = {
	.bufSize = IFNAMLEN,
};
const struct ng_parse_type ng_ifname_type = {
	.supertype = &ng_parse_fixedstring_type,
	.info = &ifname_info,
};
