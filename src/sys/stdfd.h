/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The standard descriptors 0, 1 and 2, which whoever starts a program may
 * have closed.
 */
#ifndef _SYS_STDFD_H_
#define	_SYS_STDFD_H_

#include <stdbool.h>

/*
 * Give each of them that is closed to /dev/null, so that the next socket or
 * file does not become what we print to.  With discard, nothing is read and
 * what is written is lost; without, they are opened the wrong way round, and
 * reading 0 or writing 1 or 2 fails with EBADF, as it would have.  First
 * thing in main(), before anything is opened.  0 or an errno value.
 */
int	stdfd_open(bool discard);

#endif /* _SYS_STDFD_H_ */
