/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * One reclamation scheme as bench_epoch sees it.  The loops are made for each
 * scheme from epoch_smr_loops.h, so that entering and leaving are inlined
 * wherever the scheme's header has inline functions.
 */
#ifndef EPOCH_SMR_H
#define	EPOCH_SMR_H

#include <stdint.h>

#define	SMR_PACKETS	8192U
#define	SMR_ROUTES	65536U
#define	SMR_BATCH_NESTED (-1)	/* batches of 1000, a section a packet inside */

struct smr_node {
	uint64_t	 n_hook[3];	/* the library's context */
	uint64_t	 n_magic;
	uint64_t	 n_pad[4];
};

struct smr {
	const char	*s_name;
	void		(*s_thread_init)(void);
	void		(*s_thread_fini)(void);
	/* n pairs; nested: inside one section. */
	void		(*s_pairs)(long n);
	void		(*s_nested)(long n);
	/* Sections of so many TSC cycles until *stop; how many. */
	uint64_t	(*s_sections)(uint64_t cycles, const int *stop);
	/* Packets in sections of a batch until *stop; how many. */
	uint64_t	(*s_packets)(int batch, const int *stop);
	void		(*s_sync)(void);
	/* Callbacks; NULL where the scheme has none of its own. */
	void		(*s_defer)(struct smr_node *);
	void		(*s_poll)(void);
	void		(*s_barrier)(void);
};

extern const struct smr smr_none, smr_epoch, smr_epoch_asym;
extern const struct smr smr_epoch_thread;	/* with the reclaim thread */
extern const struct smr smr_ck, smr_urcu_memb, smr_urcu_bp, smr_urcu_qsbr;
extern const struct smr smr_rte;

/* For the packet loop: frames, and the table that a writer swaps. */
struct smr_packet {
	uint8_t		 p_frame[64];
};

struct smr_table {
	uint8_t		 t_route[SMR_ROUTES];
	uint64_t	 t_hits[256];
};

extern struct smr_packet *smr_packets;
extern struct smr_table *smr_table;		/* (a) */
extern uint64_t smr_flows[4096];

/* The callback's work: check, count, and free when objects come from malloc. */
void	 smr_consume(struct smr_node *);

void	 smr_epoch_init(void);
void	 smr_rte_init(char *program);

static inline uint64_t
smr_tsc(void)
{
	return (__builtin_ia32_rdtsc());
}

/* About 5 ns: check the header, count a flow, look a route up, age. */
static inline void
smr_packet_work(struct smr_packet *p, struct smr_table *t)
{
	uint8_t *ip = p->p_frame + 14;
	uint32_t src, dst, ports, hash;
	uint16_t sum;

	if (__builtin_expect(ip[0] != 0x45, 0))
		return;
	__builtin_memcpy(&src, ip + 12, sizeof(src));
	__builtin_memcpy(&dst, ip + 16, sizeof(dst));
	__builtin_memcpy(&ports, ip + 20, sizeof(ports));
	hash = (src ^ dst * 0x9e3779b1U ^ ports) * 0x85ebca6bU;
	smr_flows[hash >> 20]++;
	t->t_hits[t->t_route[dst % SMR_ROUTES]]++;
	__builtin_memcpy(&sum, ip + 10, sizeof(sum));
	sum = (uint16_t)(sum + 1);
	__builtin_memcpy(ip + 10, &sum, sizeof(sum));
	ip[8] = (uint8_t)(ip[8] - 1);
}

#endif /* EPOCH_SMR_H */
