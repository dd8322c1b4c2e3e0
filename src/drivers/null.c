/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Interfaces that lead nowhere: what is sent is counted and freed, and nothing
 * is ever received.  For measuring what a sender can do, and as a sink.  No
 * state; packets inside the epoch, the rest under the configuration lock.
 */
#include <stdio.h>
#include <string.h>

#include "drivers/drv.h"
#include "ifnet/if_clone.h"
#include "ifnet/if_var.h"

#define	NULL_MTU_MAX	9000u		/* bytes */

static void
null_output(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{

	NET_EPOCH_ASSERT();

	m_free_burst(m, n);
}

static int
null_create(struct vnet *vnet, const char *name, struct if_spec *sp,
    struct ifnet **ifpp, char *err, size_t errlen)
{
	uint8_t mac[6];
	struct ifnet *ifp;
	int error;

	VNET_CONFIG_ASSERT(vnet);

	error = if_spec_unused(sp, err, errlen);
	if (error != 0)
		return (error);
	error = if_alloc(vnet, IFT_ETHER, name, &ifp);
	if (error != 0)
		goto fail;
	atomic_init(&ifp->if_output, null_output);
	ifp->if_driver = &null_driver;
	snprintf(ifp->if_spec, sizeof(ifp->if_spec), "null");
	snprintf(ifp->if_media, sizeof(ifp->if_media), "nowhere");
	atomic_init(&ifp->if_flags,
	    IFF_BROADCAST | IFF_SIMPLEX | IFF_MULTICAST);
	atomic_init(&ifp->if_linkstate, IF_LINK_UP);
	ifp->if_mtu_max = NULL_MTU_MAX;
	ifp->if_capabilities = IFCAP_TXCSUM | IFCAP_VLAN_MTU |
	    IFCAP_VLAN_HWTAGGING | IFCAP_JUMBO_MTU | IFCAP_LINKSTATE;
	atomic_init(&ifp->if_capenable, ifp->if_capabilities);
	drv_random_mac(mac);
	error = if_setlladdr(ifp, mac);
	if (error == 0)
		error = if_attach(ifp);
	if (error != 0)
		goto free_ifp;
	*ifpp = ifp;
	return (0);
free_ifp:
	if_free(ifp);
fail:
	return (drv_error(error, err, errlen, "%s: %s", name,
	    strerror(error)));
}

static void
null_destroy(struct ifnet *ifp)
{

	if_detach(ifp);
	if_free(ifp);
}

const struct if_driver null_driver = {
	.drv_name = "null",
	.drv_descr = "interface that sends to nowhere",
	.drv_create = null_create,
	.drv_destroy = null_destroy,
};
