/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * How a driver's handler hands packets up, as the interface's options say.
 * No state of its own; the handler's thread.
 */
#ifndef _DRIVERS_DRV_INPUT_H_
#define	_DRIVERS_DRV_INPUT_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "ifnet/if_var.h"

struct if_spec;

/*
 * The options needsepoch and burst=N, for measuring what the epoch costs: the
 * interface's handlers run outside it, and ether_input() enters it each time;
 * packets are handed up at most N at a time.
 */
struct drv_input {
	bool		 di_needsepoch;
	unsigned int	 di_burst;	/* 1 to MBUF_BURST */
};
int	drv_option_input(struct if_spec *sp, struct drv_input *di, char *err,
	    size_t errlen);
/* Flag an interface that is not attached yet; the type of its handlers. */
int	drv_input_init(const struct drv_input *di, struct ifnet *ifp);

/* Hand n packets up.  Inside the epoch unless di_needsepoch. */
static inline void
drv_input(const struct drv_input *di, struct ifnet *ifp, struct mbuf **m,
    unsigned int n)
{
	unsigned int k;

	for (; n != 0; n -= k, m += k) {
		k = n < di->di_burst ? n : di->di_burst;
		atomic_load_explicit(&ifp->if_input, memory_order_acquire)
		    (ifp, m, k);
	}
}

#endif /* _DRIVERS_DRV_INPUT_H_ */
