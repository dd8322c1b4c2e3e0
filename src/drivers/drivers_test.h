/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * For the tests of the drivers: vnets with real ithreads and callouts, and
 * link types whose input is a function of the test.
 */
#ifndef _DRIVERS_DRIVERS_TEST_H_
#define	_DRIVERS_DRIVERS_TEST_H_

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "drivers/drv.h"
#include "ifnet/if_clone.h"
#include "ifnet/if_var.h"
#include "intr/callout.h"
#include "intr/intr_var.h"
#include "sys/thread.h"
#include "wire/ether.h"

#define	TEST_NMBUFS	16384

/* What the link types below hand packets to; consumes them. */
static if_burst_fn *test_input;

static void
test_lt_input(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{

	test_input(ifp, m, n);
}

static const struct if_linktype test_ether = {
	.lt_type = IFT_ETHER,
	.lt_input = test_lt_input,
	.lt_minlen = 0,
};
static const struct if_linktype test_loop = {
	.lt_type = IFT_LOOP,
	.lt_input = test_lt_input,
	.lt_minlen = 0,
};

static inline struct vnet *
test_vnet(int ncpus)
{
	int cpus[16], n;
	struct vnet *vnet;

	if (mbuf_nframes() == 0)
		assert_int_equal(mbuf_init(TEST_NMBUFS), 0);
	vnet = vnet_alloc();
	assert_non_null(vnet);
	n = thread_cpus(cpus, 16);
	for (int i = n; i < ncpus; i++)
		cpus[i] = cpus[i % n];
	assert_int_equal(intr_domain_alloc(cpus, ncpus, &vnet->v_intr), 0);
	assert_int_equal(callout_wheel_create("callout", &vnet->v_callouts),
	    0);
	assert_int_equal(if_linktype_register(vnet, &test_ether), 0);
	assert_int_equal(if_linktype_register(vnet, &test_loop), 0);
	return (vnet);
}

static inline void
test_vnet_free(struct vnet *vnet)
{

	NET_EPOCH_DRAIN_CALLBACKS();
	callout_wheel_free(vnet->v_callouts);
	intr_domain_free(vnet->v_intr);
	vnet_free(vnet);
}

/* Create as ifconfig does: NULL and *error, err filled. */
static inline struct ifnet *
test_create(struct vnet *vnet, const struct if_driver *drv, const char *name,
    const char *spec, int *error, char *err, size_t errlen)
{
	struct ifnet *ifp = NULL;
	struct if_spec sp;

	err[0] = '\0';
	*error = if_spec_parse(spec, &sp, err, errlen);
	if (*error != 0)
		return (NULL);
	VNET_CONFIG_LOCK(vnet);
	*error = drv->drv_create(vnet, name, &sp, &ifp, err, errlen);
	if (*error == 0)
		assert_int_equal(if_setflags(ifp, IFF_UP, 0), 0);
	VNET_CONFIG_UNLOCK(vnet);
	return (*error == 0 ? ifp : NULL);
}

static inline void
test_destroy(struct ifnet *ifp)
{
	struct vnet *vnet = ifp->if_vnet;

	VNET_CONFIG_LOCK(vnet);
	ifp->if_driver->drv_destroy(ifp);
	VNET_CONFIG_UNLOCK(vnet);
}

/* Wait until *cell is at least want; fails the test after ten seconds. */
static inline void
test_wait(_Atomic uint64_t *cell, uint64_t want)
{

	for (int i = 0; i < 100000 && atomic_load(cell) < want; i++)
		usleep(100);
	assert_true(atomic_load(cell) >= want);
}

/* All frames are free again: nothing is held by anybody. */
static inline void
test_no_leak(void)
{

	NET_EPOCH_DRAIN_CALLBACKS();
	assert_int_equal(mbuf_nfree(), mbuf_nframes());
}

#endif /* _DRIVERS_DRIVERS_TEST_H_ */
