/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The drivers that are built in.  One table, not registration by linker
 * section: that is lost in static archives.
 */
#include "drivers/drv.h"
#include "ifnet/if_clone.h"
#include "stack/machine.h"
#include "sys/defs.h"

const struct if_driver *const machine_drivers[] = {
	&epair_driver,
	&loop_driver,
	&null_driver,
	&packet_driver,
	&tap_driver,
	&xdp_driver,
};
const size_t machine_ndrivers = nitems(machine_drivers);
