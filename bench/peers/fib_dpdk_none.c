/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* bench_fib where DPDK is not installed: no rivals. */
#include <stddef.h>

#include "fib_subject.h"

const struct fib_subject *const fib_dpdk[] = { NULL };
