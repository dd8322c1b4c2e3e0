/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What others' XDP programs are called.  The kernel tells CAP_SYS_ADMIN alone,
 * which is too much for a process that handles packets to keep, even if it
 * were switched on for one call only: a child that does nothing else keeps it.
 *
 * Any thread that may block.
 */
#ifndef _DRIVERS_XDP_ASKER_H_
#define	_DRIVERS_XDP_ASKER_H_

#include <stdint.h>

#define	XDP_NAME_LEN	16		/* BPF_OBJ_NAME_LEN */

/*
 * Start the child, before the first thread and before CAP_SYS_ADMIN goes; it
 * ends with us.  confine() runs in it, takes all other rights away and returns
 * 0, or the child ends.  Without a child xdp_asker_name() tries by itself.
 * Returns errno values.
 */
int	xdp_asker_start(int (*confine)(void));
/* A program's name.  EPERM; ENOENT: it has gone. */
int	xdp_asker_name(uint32_t progid, char name[XDP_NAME_LEN]);

#endif /* _DRIVERS_XDP_ASKER_H_ */
