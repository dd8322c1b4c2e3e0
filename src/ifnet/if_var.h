/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Network interfaces.
 *
 * Life: if_alloc() by a driver, which fills in its methods; if_attach() links
 * it; packets flow; if_detach() unlinks it, waits for the epoch, and replaces
 * the methods by dead ones; if_free() gives up the creator's reference.  The
 * last reference frees it a grace period later.  In a section an ifnet that
 * was found stays valid to the section's end; to keep it longer use
 * if_try_ref(), which fails once it is dying.
 *
 * Packets go up through if_input (set by the link type) and down through
 * if_transmit(); both take bursts and consume every mbuf.
 *
 * Keys: c = the configuration lock (vnet.h), e = net epoch; the table of keys
 * is in docs/architecture.md.
 */
#ifndef _IFNET_IF_VAR_H_
#define	_IFNET_IF_VAR_H_

#include <ck_queue.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <netepoch/epoch.h>

#include "ifnet/if_drop.h"
#include "ifnet/vnet.h"
#include "mbuf/mbuf.h"
#include "sys/counter.h"

#define	IFNAMLEN	16		/* with the NUL: 15 characters */

/*
 * if_flags, with FreeBSD's values.  The Linux header of interface flags must
 * not be included together with this one; see drivers/linux_if.h.
 */
#define	IFF_UP		0x1		/* (user) */
#define	IFF_BROADCAST	0x2
#define	IFF_DEBUG	0x4		/* (user) */
#define	IFF_LOOPBACK	0x8
#define	IFF_POINTOPOINT	0x10
#define	IFF_NEEDSEPOCH	0x20		/* driver calls if_input outside */
#define	IFF_RUNNING	0x40		/* driver has its resources */
#define	IFF_NOARP	0x80		/* (user) */
#define	IFF_PROMISC	0x100		/* in effect */
#define	IFF_ALLMULTI	0x200
#define	IFF_OACTIVE	0x400
#define	IFF_SIMPLEX	0x800
#define	IFF_LINK0	0x1000		/* (user) */
#define	IFF_LINK1	0x2000		/* (user) */
#define	IFF_LINK2	0x4000		/* (user) */
#define	IFF_MULTICAST	0x8000
#define	IFF_PPROMISC	0x20000		/* (user) asked for PROMISC */
#define	IFF_MONITOR	0x40000		/* (user) input is dropped */
#define	IFF_STATICARP	0x80000		/* (user) */
#define	IFF_DYING	0x200000

#define	IFF_USERFLAGS	(IFF_UP | IFF_DEBUG | IFF_NOARP | IFF_LINK0 |	\
			IFF_LINK1 | IFF_LINK2 | IFF_PPROMISC |		\
			IFF_MONITOR | IFF_STATICARP)

/* if_capabilities and if_capenable: ifconfig's options= bits. */
#define	IFCAP_RXCSUM		0x1	/* input may say CSUM_VALID */
#define	IFCAP_TXCSUM		0x2	/* takes CSUM_PARTIAL on output */
#define	IFCAP_VLAN_MTU		0x8
#define	IFCAP_VLAN_HWTAGGING	0x10	/* takes M_VLANTAG on output */
#define	IFCAP_JUMBO_MTU		0x20
#define	IFCAP_LINKSTATE		0x80000

/* IFT_PROPVIRTUAL: no link header, and no neighbours to ask for. */
enum if_type { IFT_ETHER = 0x06, IFT_LOOP = 0x18, IFT_PROPVIRTUAL = 0x35 };
enum if_link { IF_LINK_UNKNOWN, IF_LINK_DOWN, IF_LINK_UP };

/* Cells of if_counters, in this order, then IFD_COUNT drop reasons. */
enum if_counter {
	IFC_IPACKETS, IFC_IBYTES, IFC_IMCASTS, IFC_IERRORS, IFC_IQDROPS,
	IFC_OPACKETS, IFC_OBYTES, IFC_OMCASTS, IFC_OERRORS, IFC_OQDROPS,
	IFC_COLLISIONS, IFC_NOPROTO,
	IFC_DROPS,			/* first drop reason */
	IFC_COUNT = IFC_DROPS + IFD_COUNT
};

/* An address of an interface; in a section found by walking if_addrs. */
struct ifaddr {
	CK_STAILQ_ENTRY(ifaddr) ifa_link; /* (e/c) */
	struct ifnet	*ifa_ifp;	/* (c) holds a reference */
	int		 ifa_family;	/* (c) AF_INET or AF_INET6 */
	int		 ifa_plen;	/* (c) prefix length, bits */
	struct in_addr	 ifa_addr;	/* (c) for AF_INET, network order */
	struct in_addr	 ifa_mask;	/* (c) */
	struct in_addr	 ifa_broadaddr;	/* (c) 0 if there is none */
	struct in_addr	 ifa_dstaddr;	/* (c) point-to-point peer or 0 */
	struct in6_addr	 ifa_addr6;	/* (c) for AF_INET6 */
	_Atomic unsigned int ifa_refs;	/* (r) */
	struct epoch_context ifa_ctx;	/* (o) */
};

/*
 * Is an address that was found by walking if_addrs in the epoch an IPv4 one?
 * The acquire pairs with the release of if_addr_add(): the list's own order is
 * made of instructions that the thread sanitizer does not see.
 */
static inline bool
ifa_is_inet(const struct ifaddr *ifa)
{

	(void)atomic_load_explicit(&ifa->ifa_refs, memory_order_acquire);
	return (ifa->ifa_family == AF_INET);
}

struct if_linktype;
struct lltable;

/* n <= MBUF_BURST packets, all consumed.  Inside the epoch. */
typedef void if_burst_fn(struct ifnet *ifp, struct mbuf **m, unsigned int n);

/*
 * Places on a packet's way where somebody may take it; the stack does not see
 * it again unless it is handed back by a function that goes on behind the
 * place.  Tap: every frame received by an interface that is up, before
 * anything is done to it (ether_input_tapped() goes on).  Lower: every frame
 * received (ether_demux() goes on).  Upper: every frame that if_transmit() is
 * given (if_transmit_lower() goes on).  Orphans: received frames that no
 * protocol wants, whole again.
 *
 * Frames come as on the wire from their first byte, but for what stands beside
 * them: a VLAN tag (M_VLANTAG) and a checksum yet to be finished
 * (CSUM_PARTIAL), which whoever moves the front of the frame or takes it to a
 * place that does not know of it must finish (m_cksum_finish()).
 */
enum if_hookpoint { IFH_LOWER, IFH_UPPER, IFH_ORPHANS, IFH_TAP, IFH_COUNT };

/* Part of a larger object, which is freed a grace period after removal. */
struct if_hook {
	/* Consumes the packets; inside the epoch. */
	void	(*ih_fn)(struct if_hook *ih, struct ifnet *ifp,
		    struct mbuf **m, unsigned int n);
};

struct ifnet {
	/* First line: read for every burst, written by configuration only. */
	_Atomic uint32_t if_flags;	/* (a) relaxed; writers hold c */
	uint32_t	 if_index;	/* (c) from 1; reused late */
	_Atomic(if_burst_fn *) if_input; /* (e/c) link type's, or dead */
	_Atomic(if_burst_fn *) if_output; /* (e/c) driver's, or dead; use
					   if_transmit() */
	void		*if_softc;	/* (c) driver's */
	_Atomic(struct vnet *) if_vnet;	/* (e/c) */
	counter_t	 if_counters;	/* (c) IFC_COUNT cells */
	_Atomic uint32_t if_mtu;	/* (a) relaxed; writers hold c */
	_Atomic uint32_t if_capenable;	/* (a) relaxed; writers hold c */
	_Atomic uint32_t if_hooks;	/* (a) relaxed; writers hold c: IFH_*
					   bits that somebody has taken */
	_Atomic uint64_t if_lladdr48;	/* (a) relaxed: the MAC as it lies in
					   a frame, 6 bytes and two zeros */

	/* Second line on. */
	uint8_t		 if_lladdr[6];	/* (c) the same MAC; set both with
					   if_setlladdr() */
	_Atomic(struct lltable *) if_lltable; /* (e/c) route's neighbours */
	CK_STAILQ_HEAD(, ifaddr) if_addrs; /* (e/c) */
	CK_STAILQ_ENTRY(ifnet) if_link;	/* (e/c) v_ifnets */
	char		 if_name[IFNAMLEN]; /* (c) */
	enum if_type	 if_type;	/* (c) */
	const struct if_linktype *if_linktype; /* (c) */
	const struct if_driver *if_driver; /* (c) NULL: not made by create */
	char		 if_spec[128];	/* (c) "xdp:veth1,...": how it was
					   made */
	uint8_t		 if_hwaddr[6];	/* (c) burnt-in MAC */
	uint32_t	 if_capabilities; /* (c) */
	uint32_t	 if_mtu_min;	/* (c) limits of the driver */
	uint32_t	 if_mtu_max;	/* (c) */
	uint32_t	 if_metric;	/* (c) */
	_Atomic int	 if_linkstate;	/* (a) relaxed: enum if_link */
	char		 if_descr[64];	/* (e/c) */
	char		 if_media[64];	/* (e/c) what the driver says of its
					   mode: "xdp native copy" */
	uint64_t	 if_baudrate;	/* (c) bits a second, 0: unknown */
	_Atomic int	 if_promisc;	/* (c) requesters of IFF_PROMISC */
	int		 if_allmulti;	/* (c) requesters of IFF_ALLMULTI */
	bool		 if_attached;	/* (c) on v_ifnets */
	bool		 if_isnode;	/* (c) a graph node's own interface */
	_Atomic bool	 if_gone;	/* (a) relaxed: its device vanished */
	_Atomic unsigned int if_refs;	/* (r) */
	struct epoch_context if_ctx;	/* (o) */
	_Atomic(struct if_hook *) if_hook[IFH_COUNT]; /* (e/c) NULL: free */

	/* Driver methods: configuration lock held, outside the epoch.  All
	 * may be NULL.  errno values. */
	int	(*if_init)(struct ifnet *ifp);	/* becoming up */
	void	(*if_stop)(struct ifnet *ifp);	/* becoming down */
	int	(*if_setmtu)(struct ifnet *ifp, uint32_t mtu);
	int	(*if_setlladdr)(struct ifnet *ifp, const uint8_t *lladdr);
	int	(*if_setpromisc)(struct ifnet *ifp, bool on);
	int	(*if_setallmulti)(struct ifnet *ifp, bool on);
} __cacheline_aligned;

static_assert(offsetof(struct ifnet, if_lladdr) == CACHE_LINE_SIZE,
    "a burst reads one line of an ifnet");

/* What a link layer does for its interfaces; registered per vnet. */
struct if_linktype {
	enum if_type	 lt_type;
	if_burst_fn	*lt_input;
	uint32_t	 lt_minlen;	/* shorter frames are padded, bytes */
};
int	if_linktype_register(struct vnet *vnet, const struct if_linktype *lt);

/*
 * A new interface of a vnet, with one reference that the caller owns; not yet
 * visible.  name: 1..15 characters of [A-Za-z0-9_.:-].  EINVAL, ENOMEM.
 * Configuration (configuration lock held), outside the epoch.
 */
int	if_alloc(struct vnet *vnet, enum if_type type, const char *name,
	    struct ifnet **ifpp);
/* Link it: EEXIST (name taken), ENOMEM (index).  Then it can be found. */
int	if_attach(struct ifnet *ifp);
/*
 * Unlink, wait for the epoch and its callbacks, put dead methods, tell the
 * upper rooms, drop addresses.  The driver must have stopped its events
 * before.  Packets that still come are counted as IFD_NOIF.
 */
void	if_detach(struct ifnet *ifp);
void	if_free(struct ifnet *ifp);	/* the creator's reference */
void	if_ref(struct ifnet *ifp);	/* only with a reference in hand */
bool	if_try_ref(struct ifnet *ifp);	/* in the epoch; false: dying */
void	if_rele(struct ifnet *ifp);

/* NULL: there is none.  By name with the configuration lock held; by index
 * in the epoch as well. */
struct ifnet *if_byname(struct vnet *vnet, const char *name);
struct ifnet *if_byindex(struct vnet *vnet, uint32_t index);

/*
 * Take and give back a place; configuration lock held.  EBUSY: somebody else
 * has it.  Readers may still call ih until the end of their section.
 */
int	if_hook_add(struct ifnet *ifp, enum if_hookpoint hp,
	    struct if_hook *ih);
void	if_hook_remove(struct ifnet *ifp, enum if_hookpoint hp,
	    struct if_hook *ih);

static inline bool
if_hooked(const struct ifnet *ifp, enum if_hookpoint hp)
{

	return ((atomic_load_explicit(
	    &((struct ifnet *)(uintptr_t)ifp)->if_hooks,
	    memory_order_relaxed) & 1u << hp) != 0);
}

/*
 * Give packets to whoever has the place.  False: nobody any more, the caller
 * has them still.  Inside the epoch.
 */
bool	if_hook_call(struct ifnet *ifp, enum if_hookpoint hp,
	    struct mbuf **m, unsigned int n);

/* Configuration; configuration lock held, outside the epoch; errno values. */
int	if_setflags(struct ifnet *ifp, uint32_t set, uint32_t clear);
int	if_setmtu(struct ifnet *ifp, uint32_t mtu);	/* EINVAL: range */
int	if_setlladdr(struct ifnet *ifp, const uint8_t *lladdr);
int	if_rename(struct ifnet *ifp, const char *name);	/* EEXIST, EINVAL */
int	if_promisc(struct ifnet *ifp, bool on);	/* counts requesters */
int	if_set_allmulti(struct ifnet *ifp, bool on); /* as well */
int	if_moveto(struct ifnet *ifp, struct vnet *vnet); /* EEXIST, EBUSY */
/*
 * Driver: carrier changed.  Takes the configuration lock, so not from a
 * thread that drv_destroy waits for, and outside the epoch.
 */
void	if_link_state(struct ifnet *ifp, enum if_link state);

/*
 * Addresses (IPv4 here; configuration lock held).  addr and broadcast in
 * network order; broadcast 0: the prefix's all-ones address.  EEXIST, EINVAL,
 * ENOMEM.
 */
int	if_addr_add(struct ifnet *ifp, struct in_addr addr, int plen,
	    struct in_addr broadcast, struct in_addr dst);
int	if_addr_del(struct ifnet *ifp, struct in_addr addr); /* ENOENT */
/*
 * A reference on an address: taken with one in hand, or with the
 * configuration lock held while the address is on its list.  Given up on any
 * thread; the last one frees it a grace period later.
 */
void	ifa_ref(struct ifaddr *ifa);
void	ifa_rele(struct ifaddr *ifa);
/* In the epoch: the interface's best source address for dst, or NULL. */
const struct ifaddr *if_addr_for(struct ifnet *ifp, struct in_addr dst);
/* In the epoch: is addr one of this vnet's own?  On which interface. */
const struct ifaddr *if_addr_own(struct vnet *vnet, struct in_addr addr);

/*
 * For readers in the epoch that walk v_ifnets: what was written to ifp before
 * it was linked is seen.  ck's lists order that already; this pairs with a
 * release before the insertion, costs nothing on x86, and is what the thread
 * sanitizer can follow, which knows nothing of ck's assembly.
 */
static inline void
if_seen(const struct ifnet *ifp)
{

	(void)atomic_load_explicit(&((struct ifnet *)(uintptr_t)ifp)->if_flags,
	    memory_order_acquire);
}

/* Counting: any thread. */
static inline void
if_inc(struct ifnet *ifp, enum if_counter c, uint64_t n)
{

	counter_add(ifp->if_counters + c, n);
}
uint64_t if_counter(struct ifnet *ifp, enum if_counter c);
/* The sum over a vnet's interfaces, with those that are gone; configuration
 * lock held. */
uint64_t vnet_counter(struct vnet *vnet, enum if_counter c);

/*
 * Drop: counts the reason on ifp, frees the packet.  Also counts IERRORS,
 * IQDROPS or OQDROPS where netstat's column is meant to show it.
 */
void	if_drop(struct ifnet *ifp, struct mbuf *m, enum if_drop why);
void	if_drop_burst(struct ifnet *ifp, struct mbuf **m, unsigned int n,
	    enum if_drop why);
/* Count only: n packets that never became mbufs, or that live on. */
void	if_count_drop(struct ifnet *ifp, enum if_drop why, uint64_t n);

/*
 * A driver could not send packets that if_transmit() gave it: they are dropped
 * and taken back out of the output counters.
 */
void	if_output_drop(struct ifnet *ifp, struct mbuf **m, unsigned int n,
	    enum if_drop why);
/* Count only: n packets of bytes together, which are gone already. */
void	if_output_failed(struct ifnet *ifp, unsigned int n, uint64_t bytes,
	    enum if_drop why);
/*
 * Packets that this thread gave to if_transmit() and that did not get out,
 * since it began: a sender that takes the difference around a call knows how
 * many of a burst's last ones were refused.
 */
extern _Thread_local unsigned int if_output_refused;

/*
 * Hand a burst (n <= MBUF_BURST) to the driver; consumes all of it.  Inside
 * the epoch.  Each m is a whole frame with its link header; partial checksums
 * are finished and tags put into the frame where the driver cannot take them,
 * short frames are padded with zeros.  Counts output.
 */
void	if_transmit(struct ifnet *ifp, struct mbuf **m, unsigned int n);
/*
 * The same behind the upper place: for who has taken the frame there.
 * ENETDOWN: the interface is down; ENOBUFS: the driver dropped some, or all.
 */
int	if_transmit_lower(struct ifnet *ifp, struct mbuf **m, unsigned int n);

/*
 * Packets of one input burst that leave through several interfaces: collect
 * per interface, send as bursts.  Lives on the stack of one section.
 *
 * An interface has a home slot by its index, so that packets which alternate
 * between interfaces do not cost a branch that nobody can predict.  The second
 * of two with the same home goes to the next slot that is free.
 */
#define	IF_TXBURST_SLOTS	8	/* a power of two */
struct if_txburst {
	struct ifnet	*tb_ifp[IF_TXBURST_SLOTS]; /* NULL: never used */
	unsigned int	 tb_n[IF_TXBURST_SLOTS];
	struct mbuf	*tb_m[IF_TXBURST_SLOTS][MBUF_BURST];
};

static inline void
if_txburst_init(struct if_txburst *tb)
{

	for (int i = 0; i < IF_TXBURST_SLOTS; i++) {
		tb->tb_ifp[i] = NULL;
		tb->tb_n[i] = 0;
	}
}

unsigned int if_txburst_slot(struct if_txburst *tb, struct ifnet *ifp);
void	if_txburst_flush(struct if_txburst *tb);

static inline void
if_txburst_add(struct if_txburst *tb, struct ifnet *ifp, struct mbuf *m)
{
	unsigned int i = ifp->if_index % IF_TXBURST_SLOTS;

	if (__predict_false(tb->tb_ifp[i] != ifp ||
	    tb->tb_n[i] == MBUF_BURST))
		i = if_txburst_slot(tb, ifp);
	tb->tb_m[i][tb->tb_n[i]++] = m;
}

#endif /* _IFNET_IF_VAR_H_ */
