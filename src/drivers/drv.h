/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The built-in drivers, and what several of them need to make an interface.
 * All functions: configuration, outside the epoch.
 */
#ifndef _DRIVERS_DRV_H_
#define	_DRIVERS_DRV_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/defs.h"

struct if_driver;
struct if_spec;
struct ifnet;
struct vnet;

extern const struct if_driver epair_driver;
extern const struct if_driver loop_driver;
extern const struct if_driver null_driver;
extern const struct if_driver packet_driver;
extern const struct if_driver tap_driver;
extern const struct if_driver xdp_driver;

/* A random unicast address from the locally administered range. */
void	drv_random_mac(uint8_t *mac);
/*
 * The option's value as a number from min to max, or def if it is not given.
 * EINVAL with err naming the option and what was expected.
 */
int	drv_option_int(struct if_spec *sp, const char *name, long min,
	    long max, long def, long *val, char *err, size_t errlen);
/* The option cpu=N: which ithread serves the interface; -1: not given. */
int	drv_option_cpu(struct if_spec *sp, struct vnet *vnet, int *cpu,
	    char *err, size_t errlen);
/* Put text into err; returns error. */
int	drv_error(int error, char *err, size_t errlen, const char *fmt, ...)
	    __printflike(4, 5);

#endif /* _DRIVERS_DRV_H_ */
