/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the files of the stack room share.
 */
#ifndef _STACK_STACK_PRIVATE_H_
#define	_STACK_STACK_PRIVATE_H_

struct machine;

/* machine_sysctl.c: kern.epoch.*, kern.ipc.*, kern.features.*; errno value. */
int	machine_sysctl_attach(struct machine *ma);

#endif /* _STACK_STACK_PRIVATE_H_ */
