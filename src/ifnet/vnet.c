/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Vnets: the index of interfaces and the events that tell upper rooms of
 * changes.  Everything here is configuration (lock: vnet_config_sx) but
 * if_byindex(), which readers call in the epoch.
 *
 * An index is taken in vi_used when the interface is attached and given back
 * by the callback that frees the interface, a grace period after the last
 * reference went: (index) cannot mean another interface within one section.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ifnet/if_private.h"

struct sx vnet_config_sx = {
	.sx_lock = PTHREAD_MUTEX_INITIALIZER,
	.sx_name = "configuration lock",
};

const struct if_drop_info if_drop_info[IFD_COUNT] = {
#define	X(id, name, text)	[IFD_##id] = { name, text },
	IF_DROPS(X)
#undef X
};

struct vnet *
vnet_alloc(void)
{
	struct vnet *vnet;

	if ((vnet = calloc(1, sizeof(*vnet))) == NULL)
		return (NULL);
	if (counter_alloc(IFC_COUNT, &vnet->v_retired) != 0)
		goto free_vnet;
	if ((vnet->v_index = calloc(1, sizeof(*vnet->v_index))) == NULL)
		goto free_counters;
	CK_STAILQ_INIT(&vnet->v_ifnets);
	return (vnet);
free_counters:
	counter_free(vnet->v_retired, IFC_COUNT);
free_vnet:
	free(vnet);
	return (NULL);
}

void
vnet_free(struct vnet *vnet)
{

	KASSERT(CK_STAILQ_EMPTY(&vnet->v_ifnets), "vnet with interfaces");
	/* Deferred frees of interfaces still give their index back. */
	NET_EPOCH_DRAIN_CALLBACKS();
	counter_free(vnet->v_retired, IFC_COUNT);
	free(vnet->v_index);
	free(vnet);
}

void
if_event_register(struct vnet *vnet, if_event_fn *fn, void *arg)
{

	for (int i = 0; i < VNET_EVENTS; i++)
		if (vnet->v_events[i].ev_fn == NULL) {
			vnet->v_events[i].ev_fn = fn;
			vnet->v_events[i].ev_arg = arg;
			return;
		}
	ne_panic(__FILE__, __LINE__, "more than %d event functions",
	    VNET_EVENTS);
}

int
if_linktype_register(struct vnet *vnet, const struct if_linktype *lt)
{

	for (int i = 0; i < VNET_LINKTYPES; i++)
		if (vnet->v_linktypes[i] == NULL) {
			vnet->v_linktypes[i] = lt;
			return (0);
		}
	return (ENOSPC);
}

const struct if_linktype *
vnet_linktype(const struct vnet *vnet, enum if_type type)
{

	for (int i = 0; i < VNET_LINKTYPES; i++)
		if (vnet->v_linktypes[i] != NULL &&
		    vnet->v_linktypes[i]->lt_type == type)
			return (vnet->v_linktypes[i]);
	return (NULL);
}

/* The event that takes another one back. */
static enum if_event
event_opposite(enum if_event ev)
{

	return (ev == IF_EVENT_ATTACH ? IF_EVENT_DETACH : IF_EVENT_ADDR_DEL);
}

/* Functions n-1 down to 0: those that tear down go in reverse. */
static void
vnet_event_reverse(struct vnet *vnet, int n, struct ifnet *ifp,
    enum if_event ev, struct ifaddr *ifa)
{

	while (--n >= 0)
		if (vnet->v_events[n].ev_fn != NULL)
			(void)vnet->v_events[n].ev_fn(vnet->v_events[n].ev_arg,
			    ifp, ev, ifa);
}

int
vnet_event(struct ifnet *ifp, enum if_event ev, struct ifaddr *ifa)
{
	struct vnet *vnet = ifp->if_vnet;
	int error;

	VNET_CONFIG_ASSERT(vnet);
	NET_EPOCH_ASSERT_NOT();

	switch (ev) {
	case IF_EVENT_DETACH:
	case IF_EVENT_DEPARTED:
	case IF_EVENT_ADDR_DEL:
		vnet_event_reverse(vnet, VNET_EVENTS, ifp, ev, ifa);
		return (0);
	default:
		break;
	}
	for (int i = 0; i < VNET_EVENTS; i++) {
		if (vnet->v_events[i].ev_fn == NULL)
			break;
		error = vnet->v_events[i].ev_fn(vnet->v_events[i].ev_arg, ifp,
		    ev, ifa);
		if (error != 0 && (ev == IF_EVENT_ATTACH ||
		    ev == IF_EVENT_ADDR_ADD)) {
			vnet_event_reverse(vnet, i, ifp, event_opposite(ev),
			    ifa);
			return (error);
		}
	}
	return (0);
}

/* The lowest free index, marked as used. */
int
vnet_index_take(struct vnet *vnet, uint32_t *index)
{
	struct vnet_index *vi = vnet->v_index;

	VNET_CONFIG_ASSERT(vnet);

	for (uint32_t i = 1; i < VNET_IF_MAX; i++)
		if (!atomic_load_explicit(&vi->vi_used[i],
		    memory_order_acquire)) {
			atomic_store_explicit(&vi->vi_used[i], true,
			    memory_order_relaxed);
			*index = i;
			return (0);
		}
	return (ENOSPC);
}

/* Any thread: also from the callback that frees an interface. */
void
vnet_index_give(struct vnet *vnet, uint32_t index)
{

	atomic_store_explicit(&vnet->v_index->vi_used[index], false,
	    memory_order_release);
}

struct ifnet *
if_byindex(struct vnet *vnet, uint32_t index)
{

	if (index == 0 || index >= VNET_IF_MAX)
		return (NULL);
	return (atomic_load_explicit(&vnet->v_index->vi_ifp[index],
	    memory_order_acquire));
}

struct ifnet *
if_byname(struct vnet *vnet, const char *name)
{
	struct ifnet *ifp;

	VNET_CONFIG_ASSERT(vnet);

	CK_STAILQ_FOREACH(ifp, &vnet->v_ifnets, if_link)
		if (strcmp(ifp->if_name, name) == 0)
			return (ifp);
	return (NULL);
}

/*
 * The sum of a counter over the interfaces of the vnet, those included that
 * are gone; an interface that is just being freed is missing for a moment.
 */
uint64_t
vnet_counter(struct vnet *vnet, enum if_counter c)
{
	struct ifnet *ifp;
	uint64_t sum;

	VNET_CONFIG_ASSERT(vnet);

	sum = counter_fetch(vnet->v_retired + c);
	CK_STAILQ_FOREACH(ifp, &vnet->v_ifnets, if_link)
		sum += if_counter(ifp, c);
	return (sum);
}
