/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The measured loops, once for each inclusion.  Before including, define
 *	SMR		the scheme's name in identifiers
 *	SMR_DECL	declarations for the loop, if any
 *	SMR_ENTER, SMR_EXIT	a section; for quiescent-state schemes
 *			nothing and the report
 *	SMR_ONLINE, SMR_OFFLINE	around a whole loop
 *	SMR_INNER_ENTER, SMR_INNER_EXIT	a section inside a section
 * No include guard, by intention; they are undefined at the end.
 */
#ifndef SMR_PASTE
#define	SMR_PASTE2(a, b)	a##_##b
#define	SMR_PASTE(a, b)		SMR_PASTE2(a, b)
#endif
#define	SMR_FN(name)		SMR_PASTE(SMR, name)

static __attribute__((noinline)) void
SMR_FN(pairs)(long n)
{
	SMR_DECL;

	SMR_ONLINE;
	for (; n > 0; n--) {
		SMR_ENTER;
		__asm__ volatile("" ::: "memory");
		SMR_EXIT;
	}
	SMR_OFFLINE;
}

static __attribute__((noinline)) void
SMR_FN(nested)(long n)
{
	SMR_DECL;

	SMR_ONLINE;
	SMR_ENTER;
	for (; n > 0; n--) {
		SMR_INNER_ENTER;
		__asm__ volatile("" ::: "memory");
		SMR_INNER_EXIT;
	}
	SMR_EXIT;
	SMR_OFFLINE;
}

static __attribute__((noinline)) uint64_t
SMR_FN(sections)(uint64_t cycles, const int *stop)
{
	uint64_t n = 0, start;
	SMR_DECL;

	SMR_ONLINE;
	while (__atomic_load_n(stop, __ATOMIC_RELAXED) == 0) {
		SMR_ENTER;
		start = smr_tsc();
		while (smr_tsc() - start < cycles)
			continue;
		SMR_EXIT;
		n++;
	}
	SMR_OFFLINE;
	return (n);
}

static __attribute__((noinline)) uint64_t
SMR_FN(packets)(int batch, const int *stop)
{
	int i, size = batch == SMR_BATCH_NESTED ? 1000 : batch;
	struct smr_table *t;
	unsigned int x = 0;
	uint64_t n = 0;
	SMR_DECL;

	SMR_ONLINE;
	while (__atomic_load_n(stop, __ATOMIC_RELAXED) == 0) {
		SMR_ENTER;
		if (batch == SMR_BATCH_NESTED) {
			for (i = 0; i < size; i++) {
				SMR_INNER_ENTER;
				t = __atomic_load_n(&smr_table,
				    __ATOMIC_ACQUIRE);
				smr_packet_work(&smr_packets[x], t);
				x = (x + 1) % SMR_PACKETS;
				SMR_INNER_EXIT;
			}
		} else {
			t = __atomic_load_n(&smr_table, __ATOMIC_ACQUIRE);
			for (i = 0; i < size; i++) {
				smr_packet_work(&smr_packets[x], t);
				x = (x + 1) % SMR_PACKETS;
			}
		}
		SMR_EXIT;
		n += (uint64_t)size;
	}
	SMR_OFFLINE;
	return (n);
}

#ifndef SMR_LOOPS
#define	SMR_LOOPS(scheme)						\
	.s_pairs = scheme##_pairs,					\
	.s_nested = scheme##_nested,					\
	.s_sections = scheme##_sections,				\
	.s_packets = scheme##_packets
#endif

#undef SMR
#undef SMR_DECL
#undef SMR_ENTER
#undef SMR_EXIT
#undef SMR_ONLINE
#undef SMR_OFFLINE
#undef SMR_INNER_ENTER
#undef SMR_INNER_EXIT
#undef SMR_FN
