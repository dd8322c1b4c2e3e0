/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Telling systemd how far we are; nothing where libsystemd was not found.
 */
#ifndef _NETEPOCHD_NOTIFY_H_
#define	_NETEPOCHD_NOTIFY_H_

#ifdef HAVE_LIBSYSTEMD
#include <systemd/sd-daemon.h>

static inline void
notify_ready(void)
{

	(void)sd_notify(0, "READY=1\nSTATUS=Forwarding");
}

static inline void
notify_stopping(void)
{

	(void)sd_notify(0, "STOPPING=1");
}
#else
static inline void
notify_ready(void)
{
}

static inline void
notify_stopping(void)
{
}
#endif

#endif /* _NETEPOCHD_NOTIFY_H_ */
