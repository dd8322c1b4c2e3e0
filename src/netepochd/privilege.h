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

/*
 * Give up every capability but those that interfaces made later need.  Before
 * the first thread: capabilities are a thread's.  An errno value.
 */
int	privilege_reduce(void);

#endif /* _NETEPOCHD_PRIVILEGE_H_ */
