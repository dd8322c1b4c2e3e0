/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the files of the ifnet room share.
 */
#ifndef _IFNET_IF_PRIVATE_H_
#define	_IFNET_IF_PRIVATE_H_

#include "ifnet/if_var.h"

struct vnet_index {
	_Atomic(struct ifnet *) vi_ifp[VNET_IF_MAX]; /* (e/c) */
	_Atomic bool	 vi_used[VNET_IF_MAX]; /* (a) taken under c, given
						  back by a callback */
};

const struct if_linktype *vnet_linktype(const struct vnet *vnet,
	    enum if_type type);
int	vnet_event(struct ifnet *ifp, enum if_event ev, struct ifaddr *ifa);
int	vnet_index_take(struct vnet *vnet, uint32_t *index);
void	vnet_index_give(struct vnet *vnet, uint32_t index);
/* if_addr.c: drop all addresses of ifp. */
void	if_addr_purge(struct ifnet *ifp);

#endif /* _IFNET_IF_PRIVATE_H_ */
