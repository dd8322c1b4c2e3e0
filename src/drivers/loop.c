/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * lo0, after lo(4): what is sent to it comes back as input, through a
 * software interrupt, so that a packet to an own address does not recurse.
 * Packets have no link header; the vnet's loopback link type takes them.
 *
 * The softc is the queue alone.  The first one of a vnet becomes its v_loif.
 * Partial checksums stay partial: nothing has happened to them on the way.
 *
 * Made and destroyed under the configuration lock; packets are sent on any
 * thread and come back on the ithread of the queue, both inside the epoch.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/burstq.h"
#include "drivers/drv.h"
#include "ifnet/if_clone.h"
#include "ifnet/if_var.h"

#define	LOOP_MTU	16384u		/* bytes */
#define	LOOP_MTU_MAX	65535u

static void
loop_output(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	struct burstq *bq = ifp->if_softc;
	unsigned int done;

	NET_EPOCH_ASSERT();

	done = burstq_put(bq, m, n);
	if (__predict_false(done < n))
		if_output_drop(ifp, m + done, n - done,
		    burstq_closed(bq) ? IFD_NOIF : IFD_TXRING);
}

static int
loop_create(struct vnet *vnet, const char *name, struct if_spec *sp,
    struct ifnet **ifpp, char *err, size_t errlen)
{
	struct burstq *bq;
	struct ifnet *ifp;
	int cpu, error;

	VNET_CONFIG_ASSERT(vnet);

	error = drv_option_cpu(sp, vnet, &cpu, err, errlen);
	if (error == 0)
		error = if_spec_unused(sp, err, errlen);
	if (error != 0)
		return (error);
	error = if_alloc(vnet, IFT_LOOP, name, &ifp);
	if (error != 0)
		goto fail;
	bq = aligned_alloc(CACHE_LINE_SIZE, sizeof(*bq));
	if (bq == NULL) {
		error = ENOMEM;
		goto free_ifp;
	}
	ifp->if_softc = bq;
	atomic_init(&ifp->if_output, loop_output);
	ifp->if_driver = &loop_driver;
	snprintf(ifp->if_spec, sizeof(ifp->if_spec), "lo");
	atomic_init(&ifp->if_flags, IFF_LOOPBACK | IFF_MULTICAST);
	atomic_init(&ifp->if_linkstate, IF_LINK_UP);
	atomic_init(&ifp->if_mtu, LOOP_MTU);
	ifp->if_mtu_max = LOOP_MTU_MAX;
	ifp->if_capabilities = IFCAP_RXCSUM | IFCAP_TXCSUM | IFCAP_LINKSTATE;
	atomic_init(&ifp->if_capenable, ifp->if_capabilities);
	error = burstq_init(bq, vnet->v_intr, cpu, ifp, false);
	if (error != 0)
		goto free_queue;
	error = if_attach(ifp);
	if (error != 0)
		goto close_queue;
	if (vnet->v_loif == NULL)
		vnet->v_loif = ifp;
	*ifpp = ifp;
	return (0);
close_queue:
	burstq_close(bq);
	burstq_fini(bq);
free_queue:
	free(bq);
free_ifp:
	if_free(ifp);
fail:
	return (drv_error(error, err, errlen, "%s: %s", name,
	    strerror(error)));
}

static void
loop_destroy(struct ifnet *ifp)
{
	struct burstq *bq = ifp->if_softc;
	struct vnet *vnet = ifp->if_vnet;

	VNET_CONFIG_ASSERT(vnet);

	if (vnet->v_loif == ifp)
		vnet->v_loif = NULL;
	burstq_close(bq);
	if_detach(ifp);
	burstq_fini(bq);
	free(bq);
	if_free(ifp);
}

const struct if_driver loop_driver = {
	.drv_name = "lo",
	.drv_descr = "loopback interface",
	.drv_create = loop_create,
	.drv_destroy = loop_destroy,
};
