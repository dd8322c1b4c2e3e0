/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Filter programs of the Berkeley packet filter, as libpcap compiles them
 * (McCanne and Jacobson, "The BSD Packet Filter", 1993): the check that makes
 * them safe to run, and the machine that runs them on a packet as it lies.
 *
 * libpcap's own pair is for programs that it made: its check lets through
 * operations that its machine aborts on, and jumps back.  Here programs come
 * from strangers.
 *
 * No state: any thread, inside or outside the epoch.
 */
#ifndef _NETGRAPH_NODES_NG_BPF_PROG_H_
#define	_NETGRAPH_NODES_NG_BPF_PROG_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <netgraph/ng_bpf.h>

#define	NG_BPF_MAXINSNS	512
#define	NG_BPF_RET_K	0x06		/* return a constant */

struct mbuf;

/*
 * May these n instructions be run?  Every operation is known, every jump goes
 * forward and stays inside, as do the memory's indices; nothing is divided by
 * a constant 0 or shifted by a constant of 32 or more; the last one returns.
 */
bool	ng_bpf_check(const struct ng_bpf_insn *insn, size_t n);

/*
 * What a checked program returns for the packet: how many bytes of it are
 * wanted, 0: none.  A load from behind its end returns 0.
 */
uint32_t ng_bpf_run(const struct ng_bpf_insn *insn, const struct mbuf *m);

#endif /* _NETGRAPH_NODES_NG_BPF_PROG_H_ */
