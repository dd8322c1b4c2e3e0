/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Capabilities: of those we were started with, the ones that a later
 * "ifconfig create" needs are kept, all others go, also from the bounding
 * set.  A machine without any (in memory only) runs as well.
 *
 * The child that asks about XDP programs keeps CAP_SYS_ADMIN, which we do not.
 *
 * Called on the only thread there is.
 */

#include <sys/prctl.h>

#include <cap-ng.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netepochd/privilege.h"
#include "sys/defs.h"

static const unsigned int privilege_kept[] = {
	CAP_NET_ADMIN,		/* TAP devices, XDP links, MTU, promiscuous */
	CAP_NET_RAW,		/* AF_PACKET and AF_XDP sockets */
	CAP_BPF,		/* XDP programs and their maps */
	CAP_IPC_LOCK,		/* packet memory as UMEM beyond the limit */
	CAP_SYS_NICE,		/* ithreads of a higher priority */
};

static const unsigned int privilege_asking[] = {
	CAP_SYS_ADMIN,		/* the names of others' XDP programs */
};

static int
privilege_keep(const unsigned int *kept, size_t n)
{
	uint64_t have = 0;
	size_t i;

	if (capng_get_caps_process() != 0)
		return (EPERM);
	for (i = 0; i < n; i++)
		if (capng_have_capability(CAPNG_PERMITTED, kept[i]) != 0)
			have |= UINT64_C(1) << i;
	capng_clear(CAPNG_SELECT_BOTH);
	for (i = 0; i < n; i++)
		if ((have >> i & 1) != 0 && capng_update(CAPNG_ADD,
		    CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_BOUNDING_SET,
		    kept[i]) != 0)
			return (EINVAL);
	/* No program that we might run gets more. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return (errno);
	/* The bounding set is root's to change: for others it is moot. */
	(void)capng_apply(CAPNG_SELECT_BOUNDS);
	if (capng_apply(CAPNG_SELECT_CAPS) != 0)
		return (EPERM);
	return (0);
}

int
privilege_reduce(void)
{

	return (privilege_keep(privilege_kept, nitems(privilege_kept)));
}

bool
privilege_can_ask(void)
{

	return (capng_get_caps_process() == 0 &&
	    capng_have_capability(CAPNG_EFFECTIVE, CAP_SYS_ADMIN) != 0);
}

int
privilege_asker(void)
{

	return (privilege_keep(privilege_asking, nitems(privilege_asking)));
}
