/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * source: sends the packets that came by its input, over and over.
 *
 * While it runs, a callout sends copies out of output once a tick: as many as
 * are kept (or SOURCE_IFQ, if it knows an interface to have a queue), but no
 * more than the rate allows for the time since it began.  Timestamps and
 * counters are written into the copies.
 *
 * The node is exclusive: data methods, the callout and control work take its
 * lock for everything here.  The callout runs in the net epoch.
 */
#include <netgraph/ng_source.h>

#include <sys/time.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netepoch/epoch.h>
#include <netgraph/ng_ether.h>

#include "ifnet/if_var.h"
#include "ifnet/vnet.h"
#include "intr/callout.h"
#include "netgraph/nodes/ng_nodes.h"
#include "netgraph/nodes/ng_source_private.h"
#include "sys/thread.h"

#define	SOURCE_TICK	UINT64_C(1000000)	/* ns */
#define	SOURCE_QUEUE	2048		/* packets kept, at most */
#define	SOURCE_IFQ	1024		/* packets a tick to an interface */

/* All of it under the node's lock. */
struct source {
	node_p		 so_node;
	hook_p		 so_output;	/* or NULL */
	bool		 so_iface;	/* there is an interface below */
	bool		 so_running;
	struct callout	 so_callout;
	struct mbuf	*so_queue;	/* kept, by m_nextpkt */
	struct mbuf	**so_queue_end;
	struct mbuf	*so_next;	/* of the queue to be sent next */
	unsigned int	 so_max;	/* of the queue */
	uint64_t	 so_left;	/* packets to send until it stops */
	uint64_t	 so_since;	/* ns: the rate counts from here */
	uint64_t	 so_paced;	/* packets sent since then */
	struct ng_source_stats so_stats;
	struct ng_source_embed_info so_stamp;
	struct ng_source_embed_cnt_info so_counter[NG_SOURCE_COUNTERS];
};

static int
ng_source_constructor(node_p node)
{
	struct source *so;

	if ((so = calloc(1, sizeof(*so))) == NULL)
		return (ENOMEM);
	so->so_node = node;
	so->so_queue_end = &so->so_queue;
	so->so_max = mbuf_nframes() / 8;
	if (so->so_max > SOURCE_QUEUE)
		so->so_max = SOURCE_QUEUE;
	for (int i = 0; i < NG_SOURCE_COUNTERS; i++) {
		so->so_counter[i].width = 4;
		so->so_counter[i].index = (uint8_t)i;
	}
	callout_init(&so->so_callout, ng_node_vnet(node)->v_callouts,
	    CALLOUT_NET, ng_node_mtx(node));
	ng_node_set_private(node, so);
	return (0);
}

/* ---- The packets that are sent ---- */

/* Write len bytes at off, if the packet has them. */
static void
source_write(struct mbuf *m, uint32_t off, const void *from, uint32_t len)
{
	const char *p = from;
	uint32_t n;

	if (off > m->m_pkthdr.len || len > m->m_pkthdr.len - off)
		return;
	for (; len != 0; m = m->m_next) {
		if (off >= m->m_len) {
			off -= m->m_len;
			continue;
		}
		n = m->m_len - off < len ? m->m_len - off : len;
		memcpy(m->m_data + off, p, n);
		p += n;
		len -= n;
		off = 0;
	}
}

static void
source_put_stamp(struct source *so, struct mbuf *m)
{
	struct timeval tv;
	uint32_t field[4] = { 0 };

	gettimeofday(&tv, NULL);
	field[0] = htonl((uint32_t)((uint64_t)tv.tv_sec >> 32));
	field[1] = htonl((uint32_t)tv.tv_sec);
	field[3] = htonl((uint32_t)tv.tv_usec);
	source_write(m, so->so_stamp.offset, field, sizeof(field));
}

/* From one value to the next, and from one end of the range to the other. */
static void
source_count(struct ng_source_embed_cnt_info *ec)
{
	int64_t next = (int64_t)ec->next_val + ec->increment;

	if (ec->increment >= 0 && next > ec->max_val)
		next = ec->min_val;
	else if (ec->increment < 0 && next < ec->min_val)
		next = ec->max_val;
	ec->next_val = (uint32_t)next;
}

static void
source_put_counter(struct ng_source_embed_cnt_info *ec, struct mbuf *m,
    bool last)
{
	uint32_t v = htonl(ec->next_val);

	source_write(m, ec->offset, (const char *)&v + sizeof(v) - ec->width,
	    ec->width);
	if ((ec->flags & NGM_SOURCE_INC_CNT_PER_LIST) == 0 || last)
		source_count(ec);
}

/* A copy of the next packet; NULL: no mbufs. */
static struct mbuf *
source_packet(struct source *so)
{
	struct mbuf *kept = so->so_next, *m;
	bool last = kept->m_nextpkt == NULL;

	m = m_dup(kept);
	if (m == NULL)
		return (NULL);
	if ((so->so_stamp.flags & NGM_SOURCE_EMBED_ENABLE) != 0)
		source_put_stamp(so, m);
	for (int i = 0; i < NG_SOURCE_COUNTERS; i++)
		if ((so->so_counter[i].flags & NGM_SOURCE_EMBED_ENABLE) != 0)
			source_put_counter(&so->so_counter[i], m, last);
	so->so_next = last ? so->so_queue : kept->m_nextpkt;
	return (m);
}

/* Send n packets, in bursts; fewer when mbufs are short. */
static void
source_send(struct source *so, uint64_t n)
{
	struct ng_item it;
	struct mbuf *m;
	uint64_t octets, sent;

	for (; n != 0; n -= sent) {
		octets = 0;
		for (it.it_n = 0; it.it_n < NG_BURST && it.it_n < n;
		    it.it_n++) {
			m = source_packet(so);
			if (m == NULL)
				break;
			octets += m->m_pkthdr.len;
			it.it_m[it.it_n] = m;
		}
		sent = it.it_n;
		if (sent == 0)
			return;
		so->so_stats.outFrames += sent;
		so->so_stats.outOctets += octets;
		so->so_left -= sent;
		so->so_paced += sent;
		(void)ng_fwd_item(&it, so->so_output);
	}
}

/* How many does the rate allow now? */
static uint64_t
source_allowed(const struct source *so, uint64_t now)
{
	uint64_t n = so->so_iface ? SOURCE_IFQ : so->so_stats.queueFrames;
	uint64_t ns = now - so->so_since, due;

	if (so->so_stats.maxPps != 0) {
		/* Without an overflow for 136 years. */
		due = ns / 1000000000 * so->so_stats.maxPps +
		    ns % 1000000000 * so->so_stats.maxPps / 1000000000;
		due = due > so->so_paced ? due - so->so_paced : 0;
		n = n < due ? n : due;
	}
	return (n < so->so_left ? n : so->so_left);
}

static void
source_stop(struct source *so)
{

	if (!so->so_running)
		return;
	so->so_running = false;
	(void)callout_stop(&so->so_callout);
	gettimeofday(&so->so_stats.endTime, NULL);
	timersub(&so->so_stats.endTime, &so->so_stats.startTime,
	    &so->so_stats.elapsedTime);
}

static void
source_tick(void *arg)
{
	struct source *so = arg;

	NET_EPOCH_ASSERT();

	if (so->so_queue != NULL && so->so_output != NULL) {
		source_send(so, source_allowed(so, time_ns()));
		gettimeofday(&so->so_stats.lastTime, NULL);
	}
	if (so->so_left == 0)
		source_stop(so);
	else
		(void)callout_reset(&so->so_callout, SOURCE_TICK, source_tick,
		    so);
}

/* ---- The packets that are kept ---- */

static int
ng_source_rcvdata(hook_p hook, item_p item)
{
	struct source *so = ng_node_private(ng_hook_node(hook));
	struct mbuf *m;
	int error = 0;

	NET_EPOCH_ASSERT();

	for (unsigned int i = 0; i < item->it_n; i++) {
		m = item->it_m[i];
		if (so->so_stats.queueFrames == so->so_max) {
			m_freem(m);
			error = ENOBUFS;
			continue;
		}
		m->m_nextpkt = NULL;
		*so->so_queue_end = m;
		so->so_queue_end = &m->m_nextpkt;
		if (so->so_next == NULL)
			so->so_next = m;
		so->so_stats.queueFrames++;
		so->so_stats.queueOctets += m->m_pkthdr.len;
	}
	return (error);
}

/* What comes by the output goes nowhere. */
static int
ng_source_rcvdata_output(hook_p hook, item_p item)
{

	(void)hook;
	ng_item_free(item);
	return (0);
}

static void
source_clear(struct source *so)
{
	struct mbuf *m;

	while ((m = so->so_queue) != NULL) {
		so->so_queue = m->m_nextpkt;
		m_freem(m);
	}
	so->so_queue_end = &so->so_queue;
	so->so_next = NULL;
	so->so_stats.queueFrames = so->so_stats.queueOctets = 0;
}

/* ---- Hooks ---- */

static int
ng_source_newhook(node_p node, hook_p hook, const char *name)
{

	(void)node;
	if (strcmp(name, NG_SOURCE_HOOK_OUTPUT) == 0)
		ng_hook_set_rcvdata(hook, ng_source_rcvdata_output);
	else if (strcmp(name, NG_SOURCE_HOOK_INPUT) != 0)
		return (EINVAL);
	return (0);
}

static bool
source_is_output(hook_p hook)
{

	return (strcmp(ng_hook_name(hook), NG_SOURCE_HOOK_OUTPUT) == 0);
}

/* Ask what is below which interface it is; ether nodes will answer. */
static int
ng_source_connect(hook_p hook)
{
	node_p node = ng_hook_node(hook);
	struct source *so = ng_node_private(node);
	struct ng_mesg *msg;

	if (!source_is_output(hook))
		return (0);
	ng_node_lock(node);
	so->so_output = hook;
	ng_node_unlock(node);
	msg = ng_mkmessage(NGM_ETHER_COOKIE, NGM_ETHER_GET_IFNAME, NULL, 0);
	if (msg == NULL)
		return (ENOMEM);
	(void)ng_send_msg_hook(node, msg, hook);
	return (0);
}

static void
ng_source_disconnect(hook_p hook)
{
	node_p node = ng_hook_node(hook);
	struct source *so = ng_node_private(node);

	if (!source_is_output(hook))
		return;
	ng_node_lock(node);
	so->so_output = NULL;
	source_stop(so);
	ng_node_unlock(node);
	ng_rmnode_self(node);
}

static void
ng_source_shutdown(node_p node)
{
	struct source *so = ng_node_private(node);

	callout_drain(&so->so_callout);
	source_clear(so);
	free(so);
}

/* ---- Messages ---- */

static int
source_setiface(node_p node, const struct ng_mesg *msg)
{
	struct source *so = ng_node_private(node);
	struct vnet *vnet = ng_node_vnet(node);

	if (msg->header.arglen == 0 ||
	    memchr(msg->data, '\0', msg->header.arglen) == NULL ||
	    if_byname(vnet, msg->data) == NULL)
		return (EINVAL);
	ng_node_lock(node);
	so->so_iface = true;
	ng_node_unlock(node);
	return (0);
}

/* The ether node below has said which interface it is. */
static int
source_ether_answer(node_p node, const struct ng_mesg *answer)
{
	struct source *so = ng_node_private(node);
	uint32_t off = 0;
	struct ng_mesg *msg;
	int error;

	if (answer->header.cmd != NGM_ETHER_GET_IFNAME)
		return (0);
	error = source_setiface(node, answer);
	if (error != 0 || so->so_output == NULL)
		return (error);
	/* The packets have their source addresses. */
	msg = ng_mkmessage(NGM_ETHER_COOKIE, NGM_ETHER_SET_AUTOSRC, &off,
	    sizeof(off));
	return (msg == NULL ? ENOMEM :
	    ng_send_msg_hook(node, msg, so->so_output));
}

static int
source_stats(struct source *so, struct ng_request *rq)
{
	uint32_t cmd = ng_request_msg(rq)->header.cmd;
	struct ng_source_stats st, *now = &so->so_stats;
	struct timeval tv;

	ng_node_lock(so->so_node);
	memcpy(&st, now, sizeof(st));	/* with the padding */
	if (so->so_running) {
		gettimeofday(&tv, NULL);
		timersub(&tv, &st.startTime, &st.elapsedTime);
	}
	if (cmd != NGM_SOURCE_GET_STATS) {
		now->outOctets = now->outFrames = 0;
		timerclear(&now->endTime);
		timerclear(&now->elapsedTime);
		timerclear(&now->lastTime);
		if (!so->so_running)
			timerclear(&now->startTime);
	}
	ng_node_unlock(so->so_node);
	return (cmd == NGM_SOURCE_CLR_STATS ? 0 :
	    ng_respond(rq, &st, sizeof(st)));
}

static void
source_pace(struct source *so)
{

	so->so_since = time_ns();
	so->so_paced = 0;
}

static int
source_start(struct source *so, const struct ng_mesg *msg)
{
	uint64_t packets;
	int error = 0;

	if (msg->header.arglen != sizeof(packets))
		return (EINVAL);
	memcpy(&packets, msg->data, sizeof(packets));
	ng_node_lock(so->so_node);
	if (!so->so_iface && so->so_stats.maxPps == 0)
		error = ENXIO;
	else if (so->so_running)
		error = EBUSY;
	else {
		so->so_running = true;
		so->so_left = packets;
		source_pace(so);
		gettimeofday(&so->so_stats.startTime, NULL);
		timerclear(&so->so_stats.endTime);
		timerclear(&so->so_stats.elapsedTime);
		(void)callout_reset(&so->so_callout, 0, source_tick, so);
	}
	ng_node_unlock(so->so_node);
	return (error);
}

static int
source_setpps(struct source *so, const struct ng_mesg *msg)
{
	uint32_t pps;

	if (msg->header.arglen != sizeof(pps))
		return (EINVAL);
	memcpy(&pps, msg->data, sizeof(pps));
	ng_node_lock(so->so_node);
	so->so_stats.maxPps = pps;
	source_pace(so);
	ng_node_unlock(so->so_node);
	return (0);
}

static int
source_setstamp(struct source *so, const struct ng_mesg *msg)
{

	if (msg->header.arglen != sizeof(so->so_stamp))
		return (EINVAL);
	ng_node_lock(so->so_node);
	memcpy(&so->so_stamp, msg->data, sizeof(so->so_stamp));
	ng_node_unlock(so->so_node);
	return (0);
}

static int
source_setcounter(struct source *so, const struct ng_mesg *msg)
{
	struct ng_source_embed_cnt_info ec;

	if (msg->header.arglen != sizeof(ec))
		return (EINVAL);
	memcpy(&ec, msg->data, sizeof(ec));
	if (ec.index >= NG_SOURCE_COUNTERS ||
	    (ec.width != 1 && ec.width != 2 && ec.width != 4))
		return (EINVAL);
	ng_node_lock(so->so_node);
	memcpy(&so->so_counter[ec.index], &ec, sizeof(ec));
	ng_node_unlock(so->so_node);
	return (0);
}

static int
source_getcounter(struct source *so, struct ng_request *rq)
{
	const struct ng_mesg *msg = ng_request_msg(rq);
	struct ng_source_embed_cnt_info ec;
	uint8_t index;

	if (msg->header.arglen != sizeof(index))
		return (EINVAL);
	index = (uint8_t)msg->data[0];
	if (index >= NG_SOURCE_COUNTERS)
		return (EINVAL);
	ng_node_lock(so->so_node);
	memcpy(&ec, &so->so_counter[index], sizeof(ec));
	ng_node_unlock(so->so_node);
	return (ng_respond(rq, &ec, sizeof(ec)));
}

/* Messages without an argument. */
static int
source_simple(struct source *so, struct ng_request *rq)
{
	const struct ng_mesg *msg = ng_request_msg(rq);

	if (msg->header.arglen != 0)
		return (EINVAL);
	switch (msg->header.cmd) {
	case NGM_SOURCE_GET_STATS:
	case NGM_SOURCE_CLR_STATS:
	case NGM_SOURCE_GETCLR_STATS:
		return (source_stats(so, rq));
	case NGM_SOURCE_GET_TIMESTAMP:
		return (ng_respond(rq, &so->so_stamp, sizeof(so->so_stamp)));
	case NGM_SOURCE_STOP:
		ng_node_lock(so->so_node);
		source_stop(so);
		ng_node_unlock(so->so_node);
		return (0);
	case NGM_SOURCE_CLR_DATA:
		ng_node_lock(so->so_node);
		source_clear(so);
		ng_node_unlock(so->so_node);
		return (0);
	default:
		return (EINVAL);
	}
}

static int
ng_source_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	struct source *so = ng_node_private(node);
	const struct ng_mesg *msg = ng_request_msg(rq);

	(void)lasthook;
	if (msg->header.typecookie == NGM_ETHER_COOKIE &&
	    (msg->header.flags & NGF_RESP) != 0)
		return (source_ether_answer(node, msg));
	if (msg->header.typecookie != NGM_SOURCE_COOKIE)
		return (EINVAL);
	switch (msg->header.cmd) {
	case NGM_SOURCE_START:
		return (source_start(so, msg));
	case NGM_SOURCE_SETIFACE:
		return (source_setiface(node, msg));
	case NGM_SOURCE_SETPPS:
		return (source_setpps(so, msg));
	case NGM_SOURCE_SET_TIMESTAMP:
		return (source_setstamp(so, msg));
	case NGM_SOURCE_SET_COUNTER:
		return (source_setcounter(so, msg));
	case NGM_SOURCE_GET_COUNTER:
		return (source_getcounter(so, rq));
	default:
		return (source_simple(so, rq));
	}
}

const struct ng_type ng_source_type = {
	.version = NG_ABI_VERSION,
	.flags = NGTF_EXCLUSIVE,
	.name = NG_SOURCE_NODE_TYPE,
	.constructor = ng_source_constructor,
	.rcvmsg = ng_source_rcvmsg,
	.shutdown = ng_source_shutdown,
	.newhook = ng_source_newhook,
	.connect = ng_source_connect,
	.rcvdata = ng_source_rcvdata,
	.disconnect = ng_source_disconnect,
	.cmdlist = ng_source_cmds,
};
