/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Filter programs: check and machine; see the header.
 */
#include "netgraph/nodes/ng_bpf_prog.h"

#include <endian.h>
#include <string.h>

#include "mbuf/mbuf.h"

/* Class, then size and mode of loads, or operation and operand of others. */
enum { BPF_LD, BPF_LDX, BPF_ST, BPF_STX, BPF_ALU, BPF_JMP, BPF_RET,
	BPF_MISC };
enum { BPF_W = 0x00, BPF_H = 0x08, BPF_B = 0x10 };
enum { BPF_IMM = 0x00, BPF_ABS = 0x20, BPF_IND = 0x40, BPF_MEM = 0x60,
	BPF_LEN = 0x80, BPF_MSH = 0xa0 };
enum { BPF_ADD = 0x00, BPF_SUB = 0x10, BPF_MUL = 0x20, BPF_DIV = 0x30,
	BPF_OR = 0x40, BPF_AND = 0x50, BPF_LSH = 0x60, BPF_RSH = 0x70,
	BPF_NEG = 0x80, BPF_MOD = 0x90, BPF_XOR = 0xa0 };
enum { BPF_JA = 0x00, BPF_JEQ = 0x10, BPF_JGT = 0x20, BPF_JGE = 0x30,
	BPF_JSET = 0x40 };
enum { BPF_K = 0x00, BPF_X = 0x08, BPF_A = 0x10 };
enum { BPF_TAX = 0x00, BPF_TXA = 0x80 };

#define	BPF_CLASS(code)	((code) & 0x07)
#define	BPF_OP(code)	((code) & 0xf0)
#define	BPF_MEMWORDS	16

/* ---- Check ---- */

static bool
bpf_check_load(const struct ng_bpf_insn *in)
{

	switch (in->code) {
	case BPF_LD | BPF_W | BPF_ABS:
	case BPF_LD | BPF_H | BPF_ABS:
	case BPF_LD | BPF_B | BPF_ABS:
	case BPF_LD | BPF_W | BPF_IND:
	case BPF_LD | BPF_H | BPF_IND:
	case BPF_LD | BPF_B | BPF_IND:
	case BPF_LD | BPF_W | BPF_LEN:
	case BPF_LD | BPF_IMM:
	case BPF_LDX | BPF_W | BPF_IMM:
	case BPF_LDX | BPF_W | BPF_LEN:
	case BPF_LDX | BPF_B | BPF_MSH:
		return (true);
	case BPF_LD | BPF_MEM:
	case BPF_LDX | BPF_W | BPF_MEM:
	case BPF_ST:
	case BPF_STX:
		return (in->k < BPF_MEMWORDS);
	default:
		return (false);
	}
}

static bool
bpf_check_alu(const struct ng_bpf_insn *in)
{

	if (in->code == (BPF_ALU | BPF_NEG))
		return (true);
	if ((in->code & ~0xffu) != 0 || BPF_OP(in->code) == BPF_NEG ||
	    BPF_OP(in->code) > BPF_XOR)
		return (false);
	if ((in->code & BPF_X) != 0)
		return (true);
	switch (BPF_OP(in->code)) {
	case BPF_DIV:
	case BPF_MOD:
		return (in->k != 0);
	case BPF_LSH:
	case BPF_RSH:
		return (in->k < 32);
	default:
		return (true);
	}
}

/* left: instructions behind this one. */
static bool
bpf_check_jump(const struct ng_bpf_insn *in, size_t left)
{

	if (in->code == (BPF_JMP | BPF_JA))
		return (in->k < left);
	if ((in->code & ~0xffu) != 0 || BPF_OP(in->code) == BPF_JA ||
	    BPF_OP(in->code) > BPF_JSET)
		return (false);
	return (in->jt < left && in->jf < left);
}

bool
ng_bpf_check(const struct ng_bpf_insn *insn, size_t n)
{
	const struct ng_bpf_insn *in;
	bool ok;

	if (n == 0 || n > NG_BPF_MAXINSNS)
		return (false);
	for (size_t i = 0; i < n; i++) {
		in = &insn[i];
		switch (BPF_CLASS(in->code)) {
		case BPF_ALU:
			ok = bpf_check_alu(in);
			break;
		case BPF_JMP:
			ok = bpf_check_jump(in, n - 1 - i);
			break;
		case BPF_RET:
			ok = in->code == (BPF_RET | BPF_K) ||
			    in->code == (BPF_RET | BPF_A);
			break;
		case BPF_MISC:
			ok = in->code == (BPF_MISC | BPF_TAX) ||
			    in->code == (BPF_MISC | BPF_TXA);
			break;
		default:
			ok = bpf_check_load(in);
			break;
		}
		if (!ok)
			return (false);
	}
	return (BPF_CLASS(insn[n - 1].code) == BPF_RET);
}

/* ---- Machine ---- */

struct bpf_regs {
	uint32_t	 a;
	uint32_t	 x;
	uint32_t	 mem[BPF_MEMWORDS];
};

/* size bytes at off to *value.  False: the packet has them not. */
static inline bool
bpf_load(const struct mbuf *m, uint64_t off, uint32_t size, uint32_t *value)
{
	uint32_t word = 0;

	if (off + size > m->m_pkthdr.len)
		return (false);
	if (__predict_true(off + size <= m->m_len))
		memcpy((char *)&word + sizeof(word) - size, m->m_data + off,
		    size);
	else
		m_copydata(m, (uint32_t)off, size,
		    (char *)&word + sizeof(word) - size);
	*value = be32toh(word);
	return (true);
}

/* Loads into A and X and from them.  False: behind the packet's end. */
static inline bool
bpf_run_load(const struct ng_bpf_insn *in, const struct mbuf *m,
    struct bpf_regs *r)
{
	const uint64_t ind = (uint64_t)r->x + in->k;
	uint32_t byte;

	switch (in->code) {
	case BPF_LD | BPF_W | BPF_ABS:
		return (bpf_load(m, in->k, 4, &r->a));
	case BPF_LD | BPF_H | BPF_ABS:
		return (bpf_load(m, in->k, 2, &r->a));
	case BPF_LD | BPF_B | BPF_ABS:
		return (bpf_load(m, in->k, 1, &r->a));
	case BPF_LD | BPF_W | BPF_IND:
		return (bpf_load(m, ind, 4, &r->a));
	case BPF_LD | BPF_H | BPF_IND:
		return (bpf_load(m, ind, 2, &r->a));
	case BPF_LD | BPF_B | BPF_IND:
		return (bpf_load(m, ind, 1, &r->a));
	case BPF_LDX | BPF_B | BPF_MSH:
		if (!bpf_load(m, in->k, 1, &byte))
			return (false);
		r->x = (byte & 0xf) << 2;
		return (true);
	case BPF_LD | BPF_W | BPF_LEN:
		r->a = m->m_pkthdr.len;
		return (true);
	case BPF_LDX | BPF_W | BPF_LEN:
		r->x = m->m_pkthdr.len;
		return (true);
	case BPF_LD | BPF_IMM:
		r->a = in->k;
		return (true);
	case BPF_LDX | BPF_IMM:
		r->x = in->k;
		return (true);
	case BPF_LD | BPF_MEM:
		r->a = r->mem[in->k];
		return (true);
	case BPF_LDX | BPF_MEM:
		r->x = r->mem[in->k];
		return (true);
	case BPF_ST:
		r->mem[in->k] = r->a;
		return (true);
	default:
		r->mem[in->k] = r->x;
		return (true);
	}
}

/* False: division by 0. */
static inline bool
bpf_run_alu(uint16_t code, uint32_t *a, uint32_t b)
{

	switch (BPF_OP(code)) {
	case BPF_ADD:
		*a += b;
		return (true);
	case BPF_SUB:
		*a -= b;
		return (true);
	case BPF_MUL:
		*a *= b;
		return (true);
	case BPF_DIV:
		if (b != 0)
			*a /= b;
		return (b != 0);
	case BPF_MOD:
		if (b != 0)
			*a %= b;
		return (b != 0);
	case BPF_OR:
		*a |= b;
		return (true);
	case BPF_AND:
		*a &= b;
		return (true);
	case BPF_XOR:
		*a ^= b;
		return (true);
	case BPF_LSH:
		*a = b < 32 ? *a << b : 0;
		return (true);
	case BPF_RSH:
		*a = b < 32 ? *a >> b : 0;
		return (true);
	default:
		*a = -*a;
		return (true);
	}
}

/* How many instructions are passed over. */
static inline uint32_t
bpf_run_jump(const struct ng_bpf_insn *in, uint32_t a, uint32_t b)
{
	bool yes;

	switch (BPF_OP(in->code)) {
	case BPF_JA:
		return (in->k);
	case BPF_JEQ:
		yes = a == b;
		break;
	case BPF_JGT:
		yes = a > b;
		break;
	case BPF_JGE:
		yes = a >= b;
		break;
	default:
		yes = (a & b) != 0;
		break;
	}
	return (yes ? in->jt : in->jf);
}

uint32_t
ng_bpf_run(const struct ng_bpf_insn *insn, const struct mbuf *m)
{
	struct bpf_regs r = { 0 };
	uint32_t b;

	for (;; insn++) {
		b = (insn->code & BPF_X) != 0 ? r.x : insn->k;
		switch (BPF_CLASS(insn->code)) {
		case BPF_ALU:
			if (!bpf_run_alu(insn->code, &r.a, b))
				return (0);
			break;
		case BPF_JMP:
			insn += bpf_run_jump(insn, r.a, b);
			break;
		case BPF_RET:
			return ((insn->code & BPF_A) != 0 ? r.a : insn->k);
		case BPF_MISC:
			if ((insn->code & BPF_TXA) != 0)
				r.a = r.x;
			else
				r.x = r.a;
			break;
		default:
			if (!bpf_run_load(insn, m, &r))
				return (0);
			break;
		}
	}
}
