/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Pairs of Ethernet interfaces in memory, after epair(4): what goes out at
 * one end comes in at the other.  For tests, benchmarks, and for linking the
 * machines of one process.
 *
 * A pair is one allocation with both ends.  An end's queue holds what it will
 * receive, so a sender touches its peer's; it does so inside the epoch and
 * looks at the queue's closed flag first.  Nothing is copied: mbufs change
 * their owner, with tags and partial checksums beside them as they are.
 *
 * Destroying an end takes the other along, wherever it is.  An end that was
 * moved to another vnet keeps its interrupt event, so its input still runs on
 * the threads of the vnet in which the pair was made.
 *
 * No lock of its own: creating, moving and destroying happen under the
 * configuration lock.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/burstq.h"
#include "drivers/drv.h"
#include "ifnet/if_clone.h"
#include "ifnet/if_var.h"
#include "intr/intr_var.h"
#include "wire/ether.h"

#define	EPAIR_MTU_MAX	9000u		/* bytes; in chains where needed */

struct epair_end {
	struct burstq	 ee_rxq;	/* what this end receives */
	struct epair_end *ee_peer;	/* (c) */
	struct epair	*ee_pair;	/* (c) */
	struct ifnet	*ee_ifp;	/* (c) */
};

struct epair {
	struct epair_end ep_end[2];	/* a and b */
};

static void
epair_transmit(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	struct epair_end *ee = ifp->if_softc;
	struct burstq *bq = &ee->ee_peer->ee_rxq;
	unsigned int done;

	NET_EPOCH_ASSERT();

	done = burstq_put(bq, m, n);
	if (__predict_false(done < n))
		if_output_drop(ifp, m + done, n - done,
		    burstq_closed(bq) ? IFD_NOIF : IFD_TXRING);
}

/* An end's interface, not yet visible. */
static int
epair_end_alloc(struct vnet *vnet, struct epair *ep, unsigned int side,
    const char *name, uint8_t *mac, int cpu)
{
	struct epair_end *ee = &ep->ep_end[side];
	struct ifnet *ifp;
	int error;

	error = if_alloc(vnet, IFT_ETHER, name, &ifp);
	if (error != 0)
		return (error);
	ee->ee_ifp = ifp;
	ee->ee_pair = ep;
	ee->ee_peer = &ep->ep_end[side ^ 1];
	ifp->if_softc = ee;
	atomic_init(&ifp->if_output, epair_transmit);
	ifp->if_driver = &epair_driver;
	snprintf(ifp->if_spec, sizeof(ifp->if_spec), "epair");
	snprintf(ifp->if_media, sizeof(ifp->if_media), "pair in memory");
	atomic_init(&ifp->if_flags,
	    IFF_BROADCAST | IFF_SIMPLEX | IFF_MULTICAST);
	atomic_init(&ifp->if_linkstate, IF_LINK_UP);
	ifp->if_mtu_max = EPAIR_MTU_MAX;
	ifp->if_capabilities = IFCAP_RXCSUM | IFCAP_TXCSUM | IFCAP_VLAN_MTU |
	    IFCAP_VLAN_HWTAGGING | IFCAP_JUMBO_MTU | IFCAP_LINKSTATE;
	atomic_init(&ifp->if_capenable, ifp->if_capabilities);
	ifp->if_baudrate = 10000000000;
	mac[5] = (uint8_t)(0x0a + side);
	error = if_setlladdr(ifp, mac);
	if (error == 0)
		error = burstq_init(&ee->ee_rxq, vnet->v_intr, cpu, ifp, true);
	if (error != 0)
		if_free(ifp);
	return (error);
}

/* Undo epair_end_alloc() of an end that was not attached. */
static void
epair_end_free(struct epair_end *ee)
{

	burstq_close(&ee->ee_rxq);
	NET_EPOCH_WAIT();
	burstq_fini(&ee->ee_rxq);
	if_free(ee->ee_ifp);
}

/*
 * The names of both ends, IFNAMLEN bytes each: "epair" takes the lowest free
 * unit, "epair3" and "epair3a" that one, and any other name is the pair's.
 */
static int
epair_names(struct vnet *vnet, const char *name, char *a, char *b,
    char *err, size_t errlen)
{
	size_t len = strlen(name);
	const char *taken;

	if (strcmp(name, "epair") == 0) {
		for (unsigned int unit = 0; unit < VNET_IF_MAX; unit++) {
			snprintf(a, IFNAMLEN, "epair%ua", unit);
			snprintf(b, IFNAMLEN, "epair%ub", unit);
			if (if_byname(vnet, a) == NULL &&
			    if_byname(vnet, b) == NULL)
				return (0);
		}
		return (drv_error(ENOSPC, err, errlen,
		    "epair: no unit is free"));
	}
	if (strncmp(name, "epair", 5) == 0 && len > 6 && name[len - 1] == 'a')
		len--;
	if (len > IFNAMLEN - 2)
		return (drv_error(EINVAL, err, errlen, "%s: expected at most "
		    "%d characters, for an a or b follows", name,
		    IFNAMLEN - 2));
	snprintf(a, IFNAMLEN, "%.*sa", (int)len, name);
	snprintf(b, IFNAMLEN, "%.*sb", (int)len, name);
	taken = if_byname(vnet, a) != NULL ? a :
	    if_byname(vnet, b) != NULL ? b : NULL;
	if (taken != NULL)
		return (drv_error(EEXIST, err, errlen,
		    "interface %s already exists", taken));
	return (0);
}

static int
epair_create(struct vnet *vnet, const char *name, struct if_spec *sp,
    struct ifnet **ifpp, char *err, size_t errlen)
{
	char names[2][IFNAMLEN];
	uint8_t mac[ETHER_ADDR_LEN];
	struct epair *ep;
	int cpu, error;

	VNET_CONFIG_ASSERT(vnet);

	error = drv_option_cpu(sp, vnet, &cpu, err, errlen);
	if (error == 0)
		error = if_spec_unused(sp, err, errlen);
	if (error == 0)
		error = epair_names(vnet, name, names[0], names[1], err,
		    errlen);
	if (error != 0)
		return (error);
	ep = aligned_alloc(CACHE_LINE_SIZE, sizeof(*ep));
	if (ep == NULL)
		return (drv_error(ENOMEM, err, errlen, "%s: no memory", name));
	memset(ep, 0, sizeof(*ep));
	drv_random_mac(mac);
	error = epair_end_alloc(vnet, ep, 0, names[0], mac, cpu);
	if (error != 0)
		goto free_pair;
	/* On one CPU: what goes to and fro need not cross. */
	cpu = intr_event_cpu(ep->ep_end[0].ee_rxq.bq_ie);
	error = epair_end_alloc(vnet, ep, 1, names[1], mac, cpu);
	if (error != 0)
		goto free_a;
	error = if_attach(ep->ep_end[0].ee_ifp);
	if (error != 0)
		goto free_b;
	error = if_attach(ep->ep_end[1].ee_ifp);
	if (error != 0)
		goto detach_a;
	*ifpp = ep->ep_end[0].ee_ifp;
	return (0);
detach_a:
	if_detach(ep->ep_end[0].ee_ifp);
free_b:
	epair_end_free(&ep->ep_end[1]);
free_a:
	epair_end_free(&ep->ep_end[0]);
free_pair:
	free(ep);
	return (drv_error(error, err, errlen, "%s: %s", name,
	    strerror(error)));
}

static void
epair_destroy(struct ifnet *ifp)
{
	struct epair_end *ee = ifp->if_softc;
	struct epair *ep = ee->ee_pair;

	VNET_CONFIG_ASSERT(ifp->if_vnet);

	for (unsigned int i = 0; i < 2; i++)
		burstq_close(&ep->ep_end[i].ee_rxq);
	for (unsigned int i = 0; i < 2; i++)
		if_detach(ep->ep_end[i].ee_ifp);
	for (unsigned int i = 0; i < 2; i++) {
		burstq_fini(&ep->ep_end[i].ee_rxq);
		if_free(ep->ep_end[i].ee_ifp);
	}
	free(ep);
}

const struct if_driver epair_driver = {
	.drv_name = "epair",
	.drv_descr = "pair of Ethernet interfaces in memory",
	.drv_create = epair_create,
	.drv_destroy = epair_destroy,
};
