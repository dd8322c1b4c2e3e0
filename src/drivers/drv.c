/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Small helpers of the drivers.  No state; configuration threads only,
 * outside the epoch.
 */
#include "drivers/drv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "drivers/drv_input.h"
#include "ifnet/if_clone.h"
#include "ifnet/if_var.h"
#include "intr/intr_var.h"
#include "sys/thread.h"
#include "wire/ether.h"

void
drv_random_mac(uint8_t *mac)
{
	uint64_t now;

	/* Early in a boot there may be no randomness yet: use the time. */
	if (getrandom(mac, ETHER_ADDR_LEN, GRND_NONBLOCK) != ETHER_ADDR_LEN) {
		now = time_ns();
		memcpy(mac, &now, ETHER_ADDR_LEN);
	}
	mac[0] = (uint8_t)((mac[0] & ~0x01) | 0x02);
}

int
drv_error(int error, char *err, size_t errlen, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, errlen, fmt, ap);
	va_end(ap);
	return (error);
}

int
drv_option_int(struct if_spec *sp, const char *name, long min, long max,
    long def, long *val, char *err, size_t errlen)
{
	const char *text;
	char *end;

	*val = def;
	text = if_spec_option(sp, name);
	if (text == NULL)
		return (0);
	errno = 0;
	*val = strtol(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || *val < min ||
	    *val > max)
		return (drv_error(EINVAL, err, errlen,
		    "%s: expected a number from %ld to %ld, got \"%s\"", name,
		    min, max, text));
	return (0);
}

int
drv_option_cpu(struct if_spec *sp, struct vnet *vnet, int *cpu, char *err,
    size_t errlen)
{
	long val;
	int error;

	error = drv_option_int(sp, "cpu", 0,
	    intr_domain_ncpus(vnet->v_intr) - 1, -1, &val, err, errlen);
	*cpu = (int)val;
	return (error);
}

int
drv_option_input(struct if_spec *sp, struct drv_input *di, char *err,
    size_t errlen)
{
	long val;
	int error;

	error = drv_option_int(sp, "burst", 1, MBUF_BURST, MBUF_BURST, &val,
	    err, errlen);
	di->di_burst = (unsigned int)val;
	di->di_needsepoch = if_spec_option(sp, "needsepoch") != NULL;
	return (error);
}

int
drv_input_init(const struct drv_input *di, struct ifnet *ifp)
{

	if (!di->di_needsepoch)
		return (INTR_TYPE_NET);
	atomic_fetch_or_explicit(&ifp->if_flags, IFF_NEEDSEPOCH,
	    memory_order_relaxed);
	return (0);
}
