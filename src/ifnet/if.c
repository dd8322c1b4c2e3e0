/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The life of an interface and its settings.
 *
 * Everything runs under the configuration lock, outside the epoch, but for
 * reference counting (any thread) and if_free_cb() (reclaim thread).  Packets
 * meet an interface through the index, a nexthop or a burst's rcvif, always
 * in a section; if_detach() unlinks it from the first two, makes its methods
 * dead and waits for the sections that still have it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ifnet/if_private.h"
#include "sys/log.h"

/* The methods of a detached interface: packets are counted and freed. */
static void
if_dead(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{

	if_drop_burst(ifp, m, n, IFD_NOIF);
}

static void
if_dead_output(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{

	if_output_drop(ifp, m, n, IFD_NOIF);
}

static bool
if_name_ok(const char *name)
{
	size_t len = strlen(name);

	if (len == 0 || len >= IFNAMLEN)
		return (false);
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) &&
		    strchr("_.:-", name[i]) == NULL)
			return (false);
	return (true);
}

int
if_alloc(struct vnet *vnet, enum if_type type, const char *name,
    struct ifnet **ifpp)
{
	struct ifnet *ifp;
	int error;

	VNET_CONFIG_ASSERT(vnet);

	if (!if_name_ok(name) || vnet_linktype(vnet, type) == NULL)
		return (EINVAL);
	ifp = aligned_alloc(CACHE_LINE_SIZE, sizeof(*ifp));
	if (ifp == NULL)
		return (ENOMEM);
	memset(ifp, 0, sizeof(*ifp));
	error = counter_alloc(IFC_COUNT, &ifp->if_counters);
	if (error != 0) {
		free(ifp);
		return (error);
	}
	snprintf(ifp->if_name, sizeof(ifp->if_name), "%s", name);
	atomic_init(&ifp->if_vnet, vnet);
	atomic_init(&ifp->if_input, if_dead);
	atomic_init(&ifp->if_output, if_dead_output);
	atomic_init(&ifp->if_refs, 1);
	atomic_init(&ifp->if_mtu, 1500);
	ifp->if_type = type;
	ifp->if_linktype = vnet_linktype(vnet, type);
	ifp->if_mtu_min = 72;
	ifp->if_mtu_max = 1500;
	CK_STAILQ_INIT(&ifp->if_addrs);
	*ifpp = ifp;
	return (0);
}

/* Put ifp into its vnet's tables; the index is already its own. */
static int
if_link_in(struct ifnet *ifp)
{
	struct vnet *vnet = ifp->if_vnet;
	int error;

	/* Pairs with if_seen(). */
	atomic_fetch_or_explicit(&ifp->if_flags, 0, memory_order_release);
	CK_STAILQ_INSERT_TAIL(&vnet->v_ifnets, ifp, if_link);
	ifp->if_attached = true;
	error = vnet_event(ifp, IF_EVENT_ATTACH, NULL);
	if (error != 0) {
		CK_STAILQ_REMOVE(&vnet->v_ifnets, ifp, ifnet, if_link);
		ifp->if_attached = false;
		return (error);
	}
	atomic_store_explicit(&ifp->if_input, ifp->if_linktype->lt_input,
	    memory_order_release);
	atomic_store_explicit(&vnet->v_index->vi_ifp[ifp->if_index], ifp,
	    memory_order_release);
	return (0);
}

int
if_attach(struct ifnet *ifp)
{
	struct vnet *vnet = ifp->if_vnet;
	int error;

	VNET_CONFIG_ASSERT(vnet);
	KASSERT(!ifp->if_attached, "%s: attached twice", ifp->if_name);

	if (if_byname(vnet, ifp->if_name) != NULL)
		return (EEXIST);
	error = vnet_index_take(vnet, &ifp->if_index);
	if (error != 0)
		return (error);
	error = if_link_in(ifp);
	if (error != 0) {
		vnet_index_give(vnet, ifp->if_index);
		ifp->if_index = 0;
	}
	return (error);
}

/*
 * Out of the tables, with everything that hangs on the interface, and wait
 * for the readers.  The wait is under the configuration lock, which no reader
 * and no callback takes.
 */
static void
if_unlink(struct ifnet *ifp, if_burst_fn *output)
{
	struct vnet *vnet = ifp->if_vnet;

	CK_STAILQ_REMOVE(&vnet->v_ifnets, ifp, ifnet, if_link);
	ifp->if_attached = false;
	atomic_store_explicit(&vnet->v_index->vi_ifp[ifp->if_index], NULL,
	    memory_order_release);
	atomic_store_explicit(&ifp->if_input, if_dead, memory_order_release);
	atomic_store_explicit(&ifp->if_output, output, memory_order_release);
	if_addr_purge(ifp);
	(void)vnet_event(ifp, IF_EVENT_DETACH, NULL);
	NET_EPOCH_WAIT();
	NET_EPOCH_DRAIN_CALLBACKS();
	(void)vnet_event(ifp, IF_EVENT_DEPARTED, NULL);
}

void
if_detach(struct ifnet *ifp)
{

	VNET_CONFIG_ASSERT(ifp->if_vnet);
	NET_EPOCH_ASSERT_NOT();

	if (!ifp->if_attached)
		return;
	atomic_fetch_or_explicit(&ifp->if_flags, IFF_DYING,
	    memory_order_release);
	atomic_fetch_and_explicit(&ifp->if_flags,
	    ~(uint32_t)(IFF_UP | IFF_RUNNING), memory_order_relaxed);
	if_unlink(ifp, if_dead_output);
}

static void
if_free_cb(epoch_context_t ctx)
{
	struct ifnet *ifp;

	ifp = __containerof(ctx, struct ifnet, if_ctx);
	if (ifp->if_index != 0) {
		vnet_index_give(ifp->if_vnet, ifp->if_index);
		/* What it dropped stays dropped in the machine's sums. */
		for (unsigned int c = 0; c < IFC_COUNT; c++)
			counter_add(ifp->if_vnet->v_retired + c,
			    if_counter(ifp, (enum if_counter)c));
	}
	counter_free(ifp->if_counters, IFC_COUNT);
	free(ifp);
}

void
if_free(struct ifnet *ifp)
{

	KASSERT(!ifp->if_attached, "%s: freed while attached", ifp->if_name);
	atomic_fetch_or_explicit(&ifp->if_flags, IFF_DYING,
	    memory_order_release);
	if_rele(ifp);
}

void
if_ref(struct ifnet *ifp)
{
	unsigned int refs;

	refs = atomic_fetch_add_explicit(&ifp->if_refs, 1,
	    memory_order_relaxed);
	KASSERT(refs != 0, "%s: reference taken from zero", ifp->if_name);
	(void)refs;
}

bool
if_try_ref(struct ifnet *ifp)
{
	unsigned int refs;

	NET_EPOCH_ASSERT();

	if ((atomic_load_explicit(&ifp->if_flags, memory_order_acquire) &
	    IFF_DYING) != 0)
		return (false);
	refs = atomic_load_explicit(&ifp->if_refs, memory_order_relaxed);
	do {
		if (refs == 0)
			return (false);
	} while (!atomic_compare_exchange_weak_explicit(&ifp->if_refs, &refs,
	    refs + 1, memory_order_acquire, memory_order_relaxed));
	return (true);
}

void
if_rele(struct ifnet *ifp)
{
	unsigned int refs;

	refs = atomic_fetch_sub_explicit(&ifp->if_refs, 1,
	    memory_order_acq_rel);
	KASSERT(refs != 0, "%s: released below zero", ifp->if_name);
	if (refs == 1)
		NET_EPOCH_CALL(if_free_cb, &ifp->if_ctx);
}

/* Start or stop the driver as IFF_UP goes up or down. */
static int
if_updown(struct ifnet *ifp, bool up)
{
	int error;

	if (up) {
		error = ifp->if_init != NULL ? ifp->if_init(ifp) : 0;
		if (error != 0)
			return (error);
		atomic_fetch_or_explicit(&ifp->if_flags, IFF_UP | IFF_RUNNING,
		    memory_order_relaxed);
	} else {
		atomic_fetch_and_explicit(&ifp->if_flags,
		    ~(uint32_t)(IFF_UP | IFF_RUNNING), memory_order_relaxed);
		if (ifp->if_stop != NULL)
			ifp->if_stop(ifp);
	}
	(void)vnet_event(ifp, IF_EVENT_LINK, NULL);
	return (0);
}

int
if_setflags(struct ifnet *ifp, uint32_t set, uint32_t clear)
{
	uint32_t old, new;
	int error = 0;

	VNET_CONFIG_ASSERT(ifp->if_vnet);
	NET_EPOCH_ASSERT_NOT();

	if (((set | clear) & ~(uint32_t)IFF_USERFLAGS) != 0 ||
	    (set & clear) != 0)
		return (EINVAL);
	old = atomic_load_explicit(&ifp->if_flags, memory_order_relaxed);
	new = (old | set) & ~clear;
	if (((old ^ new) & IFF_PPROMISC) != 0) {
		error = if_promisc(ifp, (new & IFF_PPROMISC) != 0);
		if (error != 0)
			return (error);
	}
	if (((old ^ new) & IFF_UP) != 0) {
		error = if_updown(ifp, (new & IFF_UP) != 0);
		if (error != 0) {
			if (((old ^ new) & IFF_PPROMISC) != 0)
				(void)if_promisc(ifp,
				    (old & IFF_PPROMISC) != 0);
			return (error);
		}
	}
	atomic_fetch_or_explicit(&ifp->if_flags, set & ~(uint32_t)IFF_UP,
	    memory_order_relaxed);
	atomic_fetch_and_explicit(&ifp->if_flags, ~(clear & ~(uint32_t)IFF_UP),
	    memory_order_relaxed);
	return (0);
}

/* A request more or less for a flag that a driver may have to hear of. */
static int
if_request(struct ifnet *ifp, int have, bool on, uint32_t flag,
    int (*method)(struct ifnet *, bool), int *want)
{
	int error;

	VNET_CONFIG_ASSERT(ifp->if_vnet);

	*want = have + (on ? 1 : -1);
	if (*want < 0)
		return (EINVAL);
	if ((have == 0) == (*want == 0))
		return (0);
	error = method != NULL ? method(ifp, on) : 0;
	if (error != 0)
		return (error);
	if (on)
		atomic_fetch_or_explicit(&ifp->if_flags, flag,
		    memory_order_relaxed);
	else
		atomic_fetch_and_explicit(&ifp->if_flags, ~flag,
		    memory_order_relaxed);
	return (0);
}

int
if_promisc(struct ifnet *ifp, bool on)
{
	int error, want;

	error = if_request(ifp, ifp->if_promisc, on, IFF_PROMISC,
	    ifp->if_setpromisc, &want);
	if (error == 0)
		ifp->if_promisc = want;
	return (error);
}

int
if_set_allmulti(struct ifnet *ifp, bool on)
{
	int error, want;

	error = if_request(ifp, ifp->if_allmulti, on, IFF_ALLMULTI,
	    ifp->if_setallmulti, &want);
	if (error == 0)
		ifp->if_allmulti = want;
	return (error);
}

int
if_setmtu(struct ifnet *ifp, uint32_t mtu)
{
	int error;

	VNET_CONFIG_ASSERT(ifp->if_vnet);

	if (mtu < ifp->if_mtu_min || mtu > ifp->if_mtu_max)
		return (EINVAL);
	if (ifp->if_setmtu != NULL) {
		error = ifp->if_setmtu(ifp, mtu);
		if (error != 0)
			return (error);
	}
	atomic_store_explicit(&ifp->if_mtu, mtu, memory_order_relaxed);
	if (ifp->if_attached)
		(void)vnet_event(ifp, IF_EVENT_MTU, NULL);
	return (0);
}

int
if_setlladdr(struct ifnet *ifp, const uint8_t *lladdr)
{
	static const uint8_t zero[6];
	uint64_t word = 0;
	int error;

	VNET_CONFIG_ASSERT(ifp->if_vnet);

	if ((lladdr[0] & 1) != 0 || memcmp(lladdr, zero, sizeof(zero)) == 0)
		return (EINVAL);
	if (ifp->if_attached && ifp->if_setlladdr != NULL) {
		error = ifp->if_setlladdr(ifp, lladdr);
		if (error != 0)
			return (error);
	}
	memcpy(ifp->if_lladdr, lladdr, sizeof(ifp->if_lladdr));
	memcpy(&word, lladdr, sizeof(ifp->if_lladdr));
	atomic_store_explicit(&ifp->if_lladdr48, word, memory_order_relaxed);
	if (ifp->if_attached)
		(void)vnet_event(ifp, IF_EVENT_LLADDR, NULL);
	else
		memcpy(ifp->if_hwaddr, lladdr, sizeof(ifp->if_hwaddr));
	return (0);
}

int
if_rename(struct ifnet *ifp, const char *name)
{

	VNET_CONFIG_ASSERT(ifp->if_vnet);

	if (!if_name_ok(name))
		return (EINVAL);
	if (if_byname(ifp->if_vnet, name) != NULL)
		return (EEXIST);
	snprintf(ifp->if_name, sizeof(ifp->if_name), "%s", name);
	(void)vnet_event(ifp, IF_EVENT_RENAME, NULL);
	return (0);
}

/*
 * Out of one vnet and into another, without its addresses.  While it is in
 * neither, packets that come or go are counted as having no interface.
 */
int
if_moveto(struct ifnet *ifp, struct vnet *vnet)
{
	struct vnet *from = ifp->if_vnet;
	if_burst_fn *output = ifp->if_output;
	uint32_t index;
	int error;

	VNET_CONFIG_ASSERT(vnet);
	NET_EPOCH_ASSERT_NOT();

	if (!ifp->if_attached)
		return (EBUSY);
	if (vnet == from)
		return (0);
	if (if_byname(vnet, ifp->if_name) != NULL)
		return (EEXIST);
	error = vnet_index_take(vnet, &index);
	if (error != 0)
		return (error);

	if_unlink(ifp, if_dead_output);
	vnet_index_give(from, ifp->if_index);
	ifp->if_index = index;
	atomic_store_explicit(&ifp->if_vnet, vnet, memory_order_release);
	error = if_link_in(ifp);
	if (error != 0)
		return (error);
	atomic_store_explicit(&ifp->if_output, output, memory_order_release);
	return (0);
}

void
if_link_state(struct ifnet *ifp, enum if_link state)
{
	int old;

	NET_EPOCH_ASSERT_NOT();

	old = atomic_exchange_explicit(&ifp->if_linkstate, (int)state,
	    memory_order_relaxed);
	if (old == (int)state)
		return;
	VNET_CONFIG_LOCK(ifp->if_vnet);
	if (ifp->if_attached) {
		log_msg(LOG_NOTICE, "%s: link state changed to %s",
		    ifp->if_name, state == IF_LINK_UP ? "UP" :
		    state == IF_LINK_DOWN ? "DOWN" : "UNKNOWN");
		(void)vnet_event(ifp, IF_EVENT_LINK, NULL);
	}
	VNET_CONFIG_UNLOCK(ifp->if_vnet);
}
