/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The inside of a neighbour table, for the files that implement it.
 * Keys: c = the configuration lock, l = lt_mtx, e = net epoch.
 */
#ifndef _ROUTE_LLTABLE_PRIVATE_H_
#define	_ROUTE_LLTABLE_PRIVATE_H_

#include "route/route_private.h"
#include "sys/lock.h"

#define	LLTABLE_BITS	13
#define	LLTABLE_BUCKETS	(1u << LLTABLE_BITS)
#define	LLTABLE_SECOND	UINT64_C(1000000000)	/* ns */

struct lltable {
	struct mtx	 lt_mtx;
	struct ifnet	*lt_ifp;	/* (c) that this is the table of */
	uint32_t	 lt_seed;	/* (c) odd; strangers cannot guess it */
	uint32_t	 lt_count;	/* (l) entries */
	uint32_t	 lt_nheld;	/* (l) packets waiting in all of them */
	uint32_t	 lt_expired;	/* (l) in this tick, not yet told */
	uint32_t	 lt_cursor;	/* (l) where to look for a victim */
	struct llentry	*lt_gone;	/* (l) unlinked, by lle_gone */
	bool		 lt_dead;	/* (l) drained: takes no entry more */
	uint8_t		 lt_lladdr[ETHER_ADDR_LEN]; /* (l) of lt_ifp */
	struct epoch_context lt_ctx;	/* (o) */
	_Atomic(struct llentry *) lt_hash[LLTABLE_BUCKETS]; /* (e/l) */
};

/* Packets that have to go somewhere once lt_mtx is free: by m_nextpkt. */
struct llpackets {
	struct mbuf	*lp_first;
	struct mbuf	**lp_last;
};

static inline void
llpackets_init(struct llpackets *lp)
{
	lp->lp_first = NULL;
	lp->lp_last = &lp->lp_first;
}

/* The table of an interface; NULL: it has none, or not any more. */
static inline struct lltable *
lltable_of(const struct ifnet *ifp)
{
	return (atomic_load_explicit(&ifp->if_lltable, memory_order_acquire));
}

static inline unsigned int
lltable_bucket(const struct lltable *lt, struct in_addr addr)
{
	return (addr.s_addr * lt->lt_seed >> (32 - LLTABLE_BITS));
}

static inline void
lle_set_flags(struct llentry *lle, uint32_t flags)
{
	atomic_fetch_or_explicit(&lle->lle_flags, flags,
	    memory_order_release);
}

static inline uint32_t
lle_get_flags(struct llentry *lle)
{
	return (atomic_load_explicit(&lle->lle_flags, memory_order_acquire));
}

/* With lt_mtx held. */
struct llentry *lle_find_locked(struct lltable *lt, struct in_addr addr);
struct llentry *lle_alloc(struct lltable *lt, struct in_addr addr);
void	lle_fill_locked(struct llentry *lle, const uint8_t *mac);
void	lle_link_locked(struct lltable *lt, struct llentry *lle);
void	lle_unlink_locked(struct llentry *lle, struct llpackets *out);
bool	lle_evict_locked(struct lltable *lt, struct llpackets *out);
bool	lle_hold_locked(struct llentry *lle, struct mbuf *m, int maxhold,
	    struct llpackets *out);
void	lle_take_locked(struct llentry *lle, struct llpackets *out);

/* Gives the mtx up, and then the references of what was unlinked. */
void	lltable_unlock(struct lltable *lt);

/* Without it; the packets are consumed. */
void	llpackets_drop(struct ifnet *ifp, struct llpackets *lp,
	    enum if_drop why);
void	llpackets_fail(struct ifnet *ifp, struct in_addr addr,
	    struct llpackets *lp);
void	llpackets_send(struct ifnet *ifp, const uint8_t *hdr,
	    struct llpackets *lp);

const struct lltable_proto *lltable_proto(const struct ifnet *ifp);
int	lltable_param(const _Atomic int *param);

#endif /* _ROUTE_LLTABLE_PRIVATE_H_ */
