/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * netgraph, for authors of node types.  Programs that talk to a graph from
 * outside include <netgraph.h> instead.  netgraph(9) says all of this at more
 * length, with an example.
 *
 * A graph belongs to a machine.  A node has a type, an ID, perhaps a name, and
 * hooks; a hook has exactly one peer.  Two things reach a node:
 *
 * Data: rcvdata(hook, item).  An item is a burst of 1 to NG_BURST packets
 * which lies on the sender's stack.  rcvdata runs inside the net epoch, in
 * parallel with itself and with the node's control methods, and must not
 * sleep.  It consumes every packet of the item, on every path, and not the
 * item itself.  What it reads of the node's configuration is behind one atomic
 * pointer or in relaxed atomics; or the type sets NGTF_EXCLUSIVE, and then the
 * base runs it under the node's lock, one thread at a time.
 *
 * Control: all other methods.  They run outside the epoch, one at a time in
 * the whole process (under its configuration lock), and may sleep, allocate,
 * and call every control function below.  A type with NGTF_EXCLUSIVE takes
 * ng_node_lock() around what its data method touches.  While one control
 * method of a node is on the stack no other is called, but for newhook and
 * connect if it asks to be joined: messages and disconnects wait until it is
 * over.
 *
 * Removal: a hook that goes is unlinked first, on both ends: whoever sends
 * into it then gets ENETDOWN.  Then the base waits for a grace period, so that
 * no data method runs any more that was called with the hook, and calls
 * disconnect() on both ends.  Data methods called with other hooks of the node
 * may have found a pointer to it before disconnect() took it out of the type's
 * tables: it stays valid to the end of their section.  A node that is shut
 * down loses its hooks that way and shutdown() is called last, when no data
 * method of the node runs or ever will: it frees the private data as it is.
 * What a type shares with data methods of nodes that live on (a table it
 * swapped) is freed by NET_EPOCH_CALL().
 *
 * FreeBSD's netgraph(4) is the model; the differences are that control is
 * never excluded by data, that an item is a burst, and who frees when.
 */
#ifndef _NETGRAPH_NETGRAPH_H_
#define	_NETGRAPH_NETGRAPH_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <netgraph/ng_message.h>
#include <netgraph/ng_parse.h>

struct ifnet;
struct mbuf;
struct mtx;
struct ng_item;
struct ng_request;
struct vnet;

typedef struct ng_node *node_p;
typedef struct ng_hook *hook_p;
typedef struct ng_item *item_p;

#define	NG_ABI_VERSION	1
#define	NG_BURST	64		/* packets in an item, at most */

struct ng_item {
	unsigned int	 it_n;		/* packets, 1..NG_BURST */
	struct mbuf	*it_m[NG_BURST];
};

/* ---- A type ---- */

/*
 * 0 or an errno value: the node is not made, and no other method called.  It
 * has a number, and no name or hooks yet.
 */
typedef int	ng_constructor_t(node_p node);
/*
 * A message that is not generic (or a generic one of the text kind, or a
 * response: NGF_RESP).  It may come from anybody, with any argument.  The
 * result goes to the sender.  lasthook: the node's hook by which the message's
 * path came in, or NULL.
 */
typedef int	ng_rcvmsg_t(node_p node, struct ng_request *rq,
		    hook_p lasthook);
/* Called first when the node is shut down, with all hooks there. */
typedef void	ng_close_t(node_p node);
/*
 * Called last.  Free the private data; or ng_node_revive() a node that stays
 * (unless ng_node_must_die()).
 */
typedef void	ng_shutdown_t(node_p node);
/*
 * May the hook exist?  It has no peer yet.  errno value: it is freed at once,
 * so that no pointer to it may remain.
 */
typedef int	ng_newhook_t(node_p node, hook_p hook, const char *name);
/*
 * The hook has its peer now; packets may already come.  errno value: both
 * hooks are taken away, by disconnect.
 */
typedef int	ng_connect_t(hook_p hook);
/* Consumes the packets.  errno value, which goes back to the sender. */
typedef int	ng_rcvdata_t(hook_p hook, item_p item);
/*
 * The hook has ended: no data method runs that was called with it.  Once for
 * each hook that newhook let be, also if connect was not called or failed.
 */
typedef void	ng_disconnect_t(hook_p hook);
/* The type is registered with, or leaves, a machine's graph.  Control. */
typedef int	ng_attach_t(struct vnet *vnet);
typedef void	ng_detach_t(struct vnet *vnet);
/*
 * Something happened to an interface: enum if_event of ifnet/vnet.h.  For
 * types of this tree: that header is not installed.  The result is not looked
 * at.
 */
typedef int	ng_ifevent_t(struct vnet *vnet, struct ifnet *ifp, int event);

#define	NGTF_EXCLUSIVE	0x1	/* data methods run one at a time per node */
#define	NGTF_PERSISTENT	0x2	/* nodes stay when their last hook goes */
#define	NGTF_NOMKPEER	0x4	/* nodes are not made by mkpeer: EINVAL */

struct ng_type {
	uint32_t	 version;	/* NG_ABI_VERSION */
	uint32_t	 flags;		/* NGTF_* */
	const char	*name;		/* 1..NG_TYPESIZ-1 bytes */
	/* All methods may be NULL. */
	ng_constructor_t *constructor;
	ng_rcvmsg_t	*rcvmsg;	/* NULL: swallows, 0 */
	ng_close_t	*close;
	ng_shutdown_t	*shutdown;
	ng_newhook_t	*newhook;
	ng_connect_t	*connect;
	ng_rcvdata_t	*rcvdata;	/* NULL: drops, 0 */
	ng_disconnect_t	*disconnect;
	const struct ng_cmdlist *cmdlist; /* ends with a NULL name, or NULL */
	ng_attach_t	*attach;
	ng_detach_t	*detach;
	ng_ifevent_t	*ifevent;
};

/*
 * A type in a shared object: kldload looks up this symbol.  Built-in types
 * stand in a table instead.
 */
#define	NETGRAPH_MODULE(t)						\
	extern const struct ng_type *const netgraph_module_type;	\
	const struct ng_type *const netgraph_module_type = &(t)

/* ---- Nodes and hooks: any thread that may hold the pointer ---- */

/*
 * A node is there until its shutdown method is over, and for data methods to
 * the end of their section.  Private pointers are the type's, which frees what
 * they point at; read with acquire, set with release.
 */
void	*ng_node_private(node_p node);
void	ng_node_set_private(node_p node, void *priv);
uint32_t ng_node_id(node_p node);	/* never 0 */
const char *ng_node_name(node_p node);	/* "" if it has none; control */
struct vnet *ng_node_vnet(node_p node);
unsigned int ng_node_numhooks(node_p node); /* control */
bool	ng_node_valid(node_p node);	/* not being shut down */
/*
 * NGTF_EXCLUSIVE types only.  Not around what sends a message, removes a hook
 * or waits for the epoch: data methods wait for the lock in the epoch.
 */
void	ng_node_lock(node_p node);
void	ng_node_unlock(node_p node);
struct mtx *ng_node_mtx(node_p node);	/* the same lock, for callouts */

void	*ng_hook_private(hook_p hook);
void	ng_hook_set_private(hook_p hook, void *priv);
const char *ng_hook_name(hook_p hook);
/*
 * In newhook(): the hook shall have another name than was asked for.  EINVAL;
 * EEXIST: a hook of the node has it.
 */
int	ng_hook_set_name(hook_p hook, const char *name);
node_p	ng_hook_node(hook_p hook);
/*
 * NULL: none.  Outside control work it may go at any time: in the epoch only.
 */
hook_p	ng_hook_peer(hook_p hook);
bool	ng_hook_valid(hook_p hook);	/* not taken off yet */
/*
 * Own methods for what comes by this hook, instead of the type's; in newhook
 * or connect.  A data method is not NULL; rcvmsg of NULL is the type's.
 */
void	ng_hook_set_rcvdata(hook_p hook, ng_rcvdata_t *fn);
void	ng_hook_set_rcvmsg(hook_p hook, ng_rcvmsg_t *fn);
/* Data to this hook is always queued to a worker; in newhook or connect. */
void	ng_hook_force_queue(hook_p hook);
/* Data to this hook is queued when it comes from the stack's output. */
void	ng_hook_set_to_inbound(hook_p hook);

/* ---- Data: inside the epoch ---- */

/*
 * Send the item's packets out of hook, to its peer; consumes the packets.
 * NULL hook: they are dropped, ENOTCONN.  0 also when they were queued.
 * ENETDOWN: no peer any more; EIO: the peer's node is dying; ENOMEM: queues
 * are full (net.graph.maxdata); else what the receiver says.  What is in the
 * item afterwards is not to be looked at.
 */
int	ng_fwd_item(item_p item, hook_p hook);
int	ng_send_data(hook_p hook, struct mbuf *m);	/* one packet */
void	ng_item_free(item_p item);	/* drop all packets */
/*
 * Send a copy of all packets out of hook; the item stays the caller's.
 * ENOBUFS: out of mbufs, but what could be copied was sent; else as
 * ng_fwd_item().
 */
int	ng_send_copy(const struct ng_item *item, hook_p hook);

/*
 * Call fn(arg) inside the epoch; what it returns.  For a thread of a type's
 * own that brings packets from outside of the stack, from a socket say, and
 * for control work that sends packets.  All others that send are inside
 * already.
 */
int	ng_net_run(int (*fn)(void *arg), void *arg);

/*
 * Packets of a burst that go different ways: put each into the burst of its
 * hook; a hook's packets stay in order.  Lives on the stack.
 */
#define	NG_SCATTER_SLOTS 8
struct ng_scatter {
	int		 sc_error;	/* of the last send that failed */
	unsigned int	 sc_used;
	hook_p		 sc_hook[NG_SCATTER_SLOTS];
	struct ng_item	 sc_item[NG_SCATTER_SLOTS];
};

static inline void
ng_scatter_init(struct ng_scatter *sc)
{

	sc->sc_error = 0;
	sc->sc_used = 0;
}

/* ng_scatter_add() when a burst has to be sent or begun. */
void	ng_scatter_put(struct ng_scatter *sc, hook_p hook, struct mbuf *m);
/* Send what is left; the last error, or 0. */
int	ng_scatter_flush(struct ng_scatter *sc);

/*
 * Consumes m, and may send a burst that is full.  NULL hook: m is dropped,
 * which counts as ENOTCONN.
 */
static inline void
ng_scatter_add(struct ng_scatter *sc, hook_p hook, struct mbuf *m)
{
	unsigned int i;

	for (i = 0; i < sc->sc_used; i++)
		if (sc->sc_hook[i] == hook) {
			if (sc->sc_item[i].it_n == NG_BURST)
				break;
			sc->sc_item[i].it_m[sc->sc_item[i].it_n++] = m;
			return;
		}
	ng_scatter_put(sc, hook, m);
}

/*
 * The calling thread is on the stack's way out (between enter and exit): hooks
 * set to_inbound queue what comes.  Nest.
 */
void	ng_outbound_enter(void);
void	ng_outbound_exit(void);

/* ---- Messages ---- */

/* The message of a request; the base frees it. */
struct ng_mesg *ng_request_msg(const struct ng_request *rq);
/* The ID of the node that sent it, 0: nobody waits for a response. */
uint32_t ng_request_from(const struct ng_request *rq);
/*
 * Answer rq with len bytes (of an argument; NULL and 0: none).  EINVAL: the
 * requester is gone; ENOBUFS: it has no room; ENOMEM.  The method returns the
 * result.  Control.
 */
int	ng_respond(struct ng_request *rq, const void *arg, size_t len);
/*
 * The same later, in control work, and from the node whose ID is from: keep
 * what ng_request_from() gave, for to, and a copy of the header.
 */
int	ng_respond_later(struct vnet *vnet, uint32_t to, uint32_t from,
	    const struct ng_msghdr *hdr, const void *arg, size_t len);
/*
 * A message with an argument of len bytes, zero if arg is NULL, malloc'ed.
 * NULL: no memory.
 */
struct ng_mesg *ng_mkmessage(uint32_t cookie, uint32_t cmd, const void *arg,
	    size_t len);
/*
 * Send msg (consumed, not NULL) from node to the node at path, or to the peer
 * of hook.  In control work it is delivered at once and the result is the
 * receiver's, or 0 if that is in a method.  EINVAL, ENOENT, ENXIO: of the
 * path; EINVAL: the receiver is dying; ENOTCONN: hook is NULL or has no peer;
 * ENOMEM.  Outside of control work, and inside the epoch, it is queued: 0 or
 * ENOMEM (also for more than net.graph.maxalloc of them).
 */
int	ng_send_msg_path(node_p from, struct ng_mesg *msg, const char *path);
int	ng_send_msg_hook(node_p from, struct ng_mesg *msg, hook_p hook);
/* LINK_IS_UP and the like (NGM_FLOW_COOKIE) to the peer of hook. */
int	ng_send_flow(node_p from, hook_p hook, uint32_t cmd);

/* ---- Control ---- */

/*
 * Begin and end control work outside of methods: interface events, timers.
 * Outside the epoch; nest.  ng_ctl_exit() runs what the work has caused.
 */
void	ng_ctl_enter(struct vnet *vnet);
void	ng_ctl_exit(struct vnet *vnet);

/*
 * A node without hooks, of a type that mkpeer may not make, say.  ENXIO: the
 * type is not known, and is not loaded; ENOMEM; or what the constructor says.
 */
int	ng_make_node(struct vnet *vnet, const char *type, node_p *nodep);
int	ng_name_node(node_p node, const char *name); /* EINVAL, EADDRINUSE */
/* NULL: there is none. */
hook_p	ng_findhook(node_p node, const char *name); /* in the epoch as well */
node_p	ng_findnode(struct vnet *vnet, const char *name); /* control */
/* Hooks of a node, newest first; NULL starts, NULL ends.  Control. */
hook_p	ng_hook_next(node_p node, hook_p hook);
/*
 * Shut node down, take hook and its peer away: in control work when that is
 * over, before its ng_ctl_exit() returns; else soon.  Any thread, inside or
 * outside the epoch, as often as one likes; cannot fail.
 */
void	ng_rmnode_self(node_p node);
void	ng_rmhook_self(hook_p hook);
/* In shutdown(): the node lives on, without hooks, unless it must die. */
void	ng_node_revive(node_p node);
/* True when the machine ends, and after ng_node_set_must_die(). */
bool	ng_node_must_die(node_p node);
void	ng_node_set_must_die(node_p node);
/* This node stays when its last hook goes, or not unless its type says so. */
void	ng_node_set_persistent(node_p node, bool on);
/*
 * In close(): join the peers of two hooks of the node.  Packets that are in
 * the node still leave it.  Nothing, if one has no peer or they are each
 * other's.
 */
void	ng_bypass(hook_p one, hook_p two);
/*
 * Call fn(node, arg) as control work, soon; not if the node dies before, so
 * that somebody else must own what arg points at.  Any thread, inside or
 * outside the epoch.  ENOMEM.
 */
typedef void	ng_fn_t(node_p node, void *arg);
int	ng_send_fn(node_p node, ng_fn_t *fn, void *arg);

#endif /* _NETGRAPH_NETGRAPH_H_ */
