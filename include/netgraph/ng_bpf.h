/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The bpf node: a filter program for each hook.  Any hook name, which is also
 * the argument (char[NG_HOOKSIZ]) of all commands but the first.
 *
 * The instructions are libpcap's struct bpf_insn if its header was included
 * before this one, and a structure of the same layout if not.
 */
#ifndef NETGRAPH_NG_BPF_H
#define	NETGRAPH_NG_BPF_H

#include <netgraph/ng_message.h>

#define	NG_BPF_NODE_TYPE	"bpf"
#define	NGM_BPF_COOKIE		944100792

enum {
	NGM_BPF_SET_PROGRAM = 1,	/* struct ng_bpf_hookprog */
	NGM_BPF_GET_PROGRAM = 2,	/* reply: the same */
	NGM_BPF_GET_STATS = 3,		/* reply: struct ng_bpf_hookstat */
	NGM_BPF_CLR_STATS = 4,
	NGM_BPF_GETCLR_STATS = 5	/* reply: as GET_STATS */
};

#ifdef lib_pcap_bpf_h
#define	NG_BPF_INSN	struct bpf_insn
#else
#define	NG_BPF_INSN	struct ng_bpf_insn
#endif

struct ng_bpf_insn {
	uint16_t	code;
	uint8_t		jt;
	uint8_t		jf;
	uint32_t	k;
};
NG_ASSERT_SIZE(struct ng_bpf_insn, 8);
NG_ASSERT_SIZE(NG_BPF_INSN, 8);

struct ng_bpf_hookprog {
	char		thisHook[NG_HOOKSIZ];	/* whose program it is */
	char		ifMatch[NG_HOOKSIZ];	/* where matches go; or "" */
	char		ifNotMatch[NG_HOOKSIZ];	/* where all else goes */
	int32_t		bpf_prog_len;		/* instructions */
	NG_BPF_INSN	bpf_prog[];
};
NG_ASSERT_SIZE(struct ng_bpf_hookprog, 100);

/* Bytes of a struct ng_bpf_hookprog with n instructions. */
#define	NG_BPF_HOOKPROG_SIZE(n) \
	(sizeof(struct ng_bpf_hookprog) + (n) * sizeof(NG_BPF_INSN))

struct ng_bpf_hookstat {
	uint64_t	recvFrames;
	uint64_t	recvOctets;
	uint64_t	recvMatchFrames;
	uint64_t	recvMatchOctets;
	uint64_t	xmitFrames;
	uint64_t	xmitOctets;
};
NG_ASSERT_SIZE(struct ng_bpf_hookstat, 48);

#endif /* NETGRAPH_NG_BPF_H */
