/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the daemon may do once it has its name.
 */
#ifndef _NETEPOCHD_PRIVILEGE_H_
#define	_NETEPOCHD_PRIVILEGE_H_

#include <stdbool.h>

/*
 * Give up every capability but those that interfaces made later need.  Before
 * the first thread: capabilities are a thread's.  An errno value.
 */
int	privilege_reduce(void);
/* Is there anything for privilege_asker() to keep? */
bool	privilege_can_ask(void);
/* Give up every capability but CAP_SYS_ADMIN: for the child that asks. */
int	privilege_asker(void);

#endif /* _NETEPOCHD_PRIVILEGE_H_ */
