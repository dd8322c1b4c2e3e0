/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * car: limits the rate of each direction, from lower to upper (upstream) and
 * back, by token buckets.
 *
 * A packet is green, yellow or red, and the configuration says what happens
 * to each.  Single rate is RFC 2697: the committed bucket is filled at cir,
 * what it has no room for fills the excess bucket.  Double rate is RFC 2698:
 * the second bucket is of the peak rate, filled at pir, and red is what it has
 * no tokens for.  RED is single rate, but the less there is in the excess
 * bucket the likelier a packet is red instead of yellow.  Shaping delays what
 * is not green in a queue (yellow), from which more and more packets are
 * dropped (red) as it grows.  Packets have no colour before.
 *
 * With the option to count packets a rate is in packets a second and a burst
 * in packets: each counts as if it had CAR_PACKET bytes.
 *
 * The node is exclusive: data methods, the callouts and control work take its
 * lock for everything here.  Callouts run in the net epoch.
 */
#include <netgraph/ng_car.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netepoch/epoch.h>

#include "ifnet/vnet.h"
#include "intr/callout.h"
#include "netgraph/nodes/ng_nodes.h"
#include "netgraph/nodes/ng_stat.h"
#include "sys/defs.h"
#include "sys/thread.h"

#define	CAR_PACKET	128		/* bytes that a packet counts as */
#define	CAR_RATE_MAX	UINT64_C(1000000000)
#define	CAR_BURST_MAX	UINT64_C(1000000000)	/* bytes; more is cut */
#define	CAR_QUEUE	100		/* packets; the field's length */
#define	CAR_QUEUE_MIN	8		/* up to here none is dropped */

/* The order of struct ng_car_hookstats. */
enum { CAR_PASSED, CAR_DROPPED, CAR_GREEN, CAR_YELLOW, CAR_RED, CAR_ERRORS,
	CAR_STATS };

enum car_way { CAR_UP, CAR_DOWN, CAR_WAYS };

/* Tokens are counted in nanobits: a bit a second for a nanosecond. */
#define	CAR_BYTE	UINT64_C(8000000000)

struct car_bucket {
	uint64_t	 cb_tokens;
	uint64_t	 cb_size;
};

struct car_dir {
	struct ng_car_hookconf cd_conf;	/* written by control work only */
	hook_p		 cd_out;	/* where it leads, or NULL */
	struct car_bucket cd_c;		/* committed */
	struct car_bucket cd_e;		/* excess, or peak */
	uint64_t	 cd_last;	/* ns: when they were filled */
	uint64_t	 cd_random;
	struct ng_stat	 cd_stat;
	struct callout	 cd_callout;	/* armed while packets wait */
	struct mbuf	*cd_queue;	/* by m_nextpkt */
	struct mbuf	**cd_queue_end;
	unsigned int	 cd_nqueue;
};

/* All of it under the node's lock. */
struct car {
	struct car_dir	 ca_dir[CAR_WAYS];
};

static inline void
car_count(struct car_dir *cd, unsigned int what)
{

	ng_stat_add(&cd->cd_stat, what, 1);
}

/* True in num of den cases. */
static bool
car_chance(struct car_dir *cd, uint64_t num, uint64_t den)
{

	cd->cd_random ^= cd->cd_random << 13;
	cd->cd_random ^= cd->cd_random >> 7;
	cd->cd_random ^= cd->cd_random << 17;
	return (den != 0 && cd->cd_random % den < num);
}

/* ---- Buckets ---- */

/* Fill for ns nanoseconds at rate bit/s; ns for which there was no room. */
static uint64_t
car_fill(struct car_bucket *cb, uint64_t rate, uint64_t ns)
{
	uint64_t full;

	if (rate == 0)
		return (0);
	full = (cb->cb_size - cb->cb_tokens + rate - 1) / rate;
	if (ns < full) {
		cb->cb_tokens += ns * rate;
		return (0);
	}
	cb->cb_tokens = cb->cb_size;
	return (ns - full);
}

static uint64_t
car_rate(const struct car_dir *cd, uint64_t rate)
{

	return ((cd->cd_conf.opt & NG_CAR_COUNT_PACKETS) != 0 ?
	    rate * CAR_PACKET * 8 : rate);
}

static void
car_refill(struct car_dir *cd, uint64_t now)
{
	uint64_t cir = car_rate(cd, cd->cd_conf.cir), rest;

	if (now <= cd->cd_last)
		return;
	rest = car_fill(&cd->cd_c, cir, now - cd->cd_last);
	if (cd->cd_conf.mode == NG_CAR_DOUBLE_RATE)
		(void)car_fill(&cd->cd_e, car_rate(cd, cd->cd_conf.pir),
		    now - cd->cd_last);
	else
		(void)car_fill(&cd->cd_e, cir, rest);
	cd->cd_last = now;
}

static uint64_t
car_cost(const struct car_dir *cd, const struct mbuf *m)
{

	return ((cd->cd_conf.opt & NG_CAR_COUNT_PACKETS) != 0 ?
	    CAR_PACKET * CAR_BYTE : m->m_pkthdr.len * CAR_BYTE);
}

static bool
car_take(struct car_bucket *cb, uint64_t cost)
{

	if (cb->cb_tokens < cost)
		return (false);
	cb->cb_tokens -= cost;
	return (true);
}

/* Which counter: green, yellow or red. */
static unsigned int
car_colour(struct car_dir *cd, const struct mbuf *m)
{
	uint64_t cost = car_cost(cd, m);

	if (cd->cd_conf.mode == NG_CAR_DOUBLE_RATE) {
		if (!car_take(&cd->cd_e, cost))
			return (CAR_RED);
		return (car_take(&cd->cd_c, cost) ? CAR_GREEN : CAR_YELLOW);
	}
	if (car_take(&cd->cd_c, cost))
		return (CAR_GREEN);
	if (cd->cd_conf.mode == NG_CAR_RED && car_chance(cd,
	    cd->cd_e.cb_size - cd->cd_e.cb_tokens, cd->cd_e.cb_size))
		return (CAR_RED);
	return (car_take(&cd->cd_e, cost) ? CAR_YELLOW : CAR_RED);
}

/* ---- Shaping ---- */

static struct mbuf *
car_queue_pop(struct car_dir *cd)
{
	struct mbuf *m = cd->cd_queue;

	cd->cd_queue = m->m_nextpkt;
	if (cd->cd_queue == NULL)
		cd->cd_queue_end = &cd->cd_queue;
	cd->cd_nqueue--;
	return (m);
}

static void
car_queue_flush(struct car_dir *cd)
{

	while (cd->cd_queue != NULL) {
		m_freem(car_queue_pop(cd));
		car_count(cd, CAR_DROPPED);
	}
}

/* Tokens that the first packet of the queue waits for. */
static uint64_t
car_queue_need(const struct car_dir *cd)
{
	uint64_t cost = car_cost(cd, cd->cd_queue);

	return (cost < cd->cd_c.cb_size ? cost : cd->cd_c.cb_size);
}

/*
 * May it go?  If it costs more than the bucket holds, the bucket is filled the
 * later for it.
 */
static bool
car_queue_take(struct car_dir *cd, uint64_t now)
{
	uint64_t need = car_queue_need(cd);

	if (now < cd->cd_last || !car_take(&cd->cd_c, need))
		return (false);
	cd->cd_last += (car_cost(cd, cd->cd_queue) - need) /
	    car_rate(cd, cd->cd_conf.cir);
	return (true);
}

static int
car_send(struct car_dir *cd, item_p it)
{
	int error;

	if (it->it_n == 0)
		return (0);
	ng_stat_add(&cd->cd_stat, CAR_PASSED, it->it_n);
	error = ng_fwd_item(it, cd->cd_out);
	if (error != 0)
		car_count(cd, CAR_ERRORS);
	return (error);
}

static void	car_timer(void *arg);

/* When the first packet of the queue has its tokens. */
static void
car_schedule(struct car_dir *cd)
{
	uint64_t rate = car_rate(cd, cd->cd_conf.cir), now = time_ns();
	uint64_t need = car_queue_need(cd), ns = 0;

	if (need > cd->cd_c.cb_tokens)
		ns = (need - cd->cd_c.cb_tokens + rate - 1) / rate;
	if (cd->cd_last + ns > now)
		(void)callout_reset(&cd->cd_callout, cd->cd_last + ns - now,
		    car_timer, cd);
	else
		(void)callout_reset(&cd->cd_callout, 0, car_timer, cd);
}

static void
car_timer(void *arg)
{
	struct car_dir *cd = arg;
	struct ng_item it = { .it_n = 0 };
	uint64_t now = time_ns();

	NET_EPOCH_ASSERT();

	car_refill(cd, now);
	while (cd->cd_queue != NULL && it.it_n < NG_BURST &&
	    car_queue_take(cd, now))
		it.it_m[it.it_n++] = car_queue_pop(cd);
	(void)car_send(cd, &it);
	if (cd->cd_queue != NULL)
		car_schedule(cd);
}

/* Green, or into the queue, or nowhere.  True: m is to be sent. */
static bool
car_shape(struct car_dir *cd, struct mbuf *m)
{

	if (cd->cd_queue == NULL && car_take(&cd->cd_c, car_cost(cd, m))) {
		car_count(cd, CAR_GREEN);
		return (true);
	}
	if (cd->cd_nqueue >= CAR_QUEUE - 1 ||
	    (cd->cd_nqueue > CAR_QUEUE_MIN && car_chance(cd,
	    cd->cd_nqueue - CAR_QUEUE_MIN, CAR_QUEUE - CAR_QUEUE_MIN))) {
		car_count(cd, CAR_RED);
		car_count(cd, CAR_DROPPED);
		m_freem(m);
		return (false);
	}
	car_count(cd, CAR_YELLOW);
	m->m_nextpkt = NULL;
	*cd->cd_queue_end = m;
	cd->cd_queue_end = &m->m_nextpkt;
	if (cd->cd_nqueue++ == 0)
		car_schedule(cd);
	return (false);
}

/* ---- Data ---- */

/* What becomes of a packet of that colour.  True: m is to be sent. */
static bool
car_act(struct car_dir *cd, struct mbuf *m, unsigned int colour)
{
	uint8_t action = colour == CAR_GREEN ? cd->cd_conf.green_action :
	    colour == CAR_YELLOW ? cd->cd_conf.yellow_action :
	    cd->cd_conf.red_action;

	car_count(cd, colour);
	switch (action) {
	case NG_CAR_ACTION_MARK:
		car_count(cd, CAR_ERRORS);	/* there is no mark */
		return (true);
	case NG_CAR_ACTION_FORWARD:
		return (true);
	default:
		car_count(cd, CAR_DROPPED);
		m_freem(m);
		return (false);
	}
}

static int
ng_car_rcvdata(hook_p hook, item_p item)
{
	struct car_dir *cd = ng_hook_private(hook);
	unsigned int n = item->it_n;
	struct mbuf *m;
	bool pass;

	NET_EPOCH_ASSERT();

	if (cd->cd_out == NULL)
		return (ng_fwd_item(item, NULL));
	car_refill(cd, time_ns());
	item->it_n = 0;
	for (unsigned int i = 0; i < n; i++) {
		m = item->it_m[i];
		pass = cd->cd_conf.mode == NG_CAR_SHAPE ? car_shape(cd, m) :
		    car_act(cd, m, car_colour(cd, m));
		if (pass)
			item->it_m[item->it_n++] = m;
	}
	return (car_send(cd, item));
}

/* ---- Configuration ---- */

static void
car_bucket_set(struct car_bucket *cb, uint64_t burst, bool packets)
{

	if (burst > CAR_BURST_MAX)
		burst = CAR_BURST_MAX;
	if (packets)
		burst = burst > CAR_BURST_MAX / CAR_PACKET ? CAR_BURST_MAX :
		    burst * CAR_PACKET;
	cb->cb_size = cb->cb_tokens = burst * CAR_BYTE;
}

static void
car_set(struct car_dir *cd, const struct ng_car_hookconf *conf)
{
	bool packets = (conf->opt & NG_CAR_COUNT_PACKETS) != 0;

	/* With the padding, which is sent back. */
	memcpy(&cd->cd_conf, conf, sizeof(*conf));
	car_bucket_set(&cd->cd_c, conf->cbs, packets);
	car_bucket_set(&cd->cd_e, conf->ebs, packets);
	cd->cd_last = time_ns();
	if (cd->cd_queue == NULL)
		return;
	if (conf->mode == NG_CAR_SHAPE)
		car_schedule(cd);
	else
		car_queue_flush(cd);
}

static bool
car_conf_ok(const struct ng_car_hookconf *conf)
{

	return (conf->cir <= CAR_RATE_MAX && conf->pir <= CAR_RATE_MAX &&
	    (conf->cbs != 0 || conf->ebs != 0) &&
	    conf->mode <= NG_CAR_SHAPE &&
	    (conf->mode != NG_CAR_SHAPE || conf->cir != 0));
}

static int
car_setconf(node_p node, const struct ng_mesg *msg)
{
	struct car *ca = ng_node_private(node);
	struct ng_car_bulkconf conf;

	if (msg->header.arglen != sizeof(conf))
		return (EINVAL);
	memcpy(&conf, msg->data, sizeof(conf));
	if (!car_conf_ok(&conf.upstream) || !car_conf_ok(&conf.downstream))
		return (EINVAL);
	ng_node_lock(node);
	car_set(&ca->ca_dir[CAR_UP], &conf.upstream);
	car_set(&ca->ca_dir[CAR_DOWN], &conf.downstream);
	ng_node_unlock(node);
	return (0);
}

static int
car_getconf(node_p node, struct ng_request *rq)
{
	struct car *ca = ng_node_private(node);
	struct ng_car_bulkconf conf;

	/* Only control work writes it. */
	memcpy(&conf.upstream, &ca->ca_dir[CAR_UP].cd_conf,
	    sizeof(conf.upstream));
	memcpy(&conf.downstream, &ca->ca_dir[CAR_DOWN].cd_conf,
	    sizeof(conf.downstream));
	return (ng_respond(rq, &conf, sizeof(conf)));
}

static int
car_stats(struct car *ca, struct ng_request *rq)
{
	uint32_t cmd = ng_request_msg(rq)->header.cmd;
	uint64_t st[CAR_WAYS][CAR_STATS];

	for (int way = 0; way < CAR_WAYS; way++)
		ng_stat_read(&ca->ca_dir[way].cd_stat, st[way],
		    cmd != NGM_CAR_GET_STATS);
	return (cmd == NGM_CAR_CLR_STATS ? 0 :
	    ng_respond(rq, st, sizeof(st)));
}

static int
ng_car_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{
	const struct ng_mesg *msg = ng_request_msg(rq);

	(void)lasthook;
	if (msg->header.typecookie != NGM_CAR_COOKIE)
		return (EINVAL);
	if (msg->header.cmd == NGM_CAR_SET_CONF)
		return (car_setconf(node, msg));
	if (msg->header.arglen != 0)
		return (EINVAL);
	switch (msg->header.cmd) {
	case NGM_CAR_GET_STATS:
	case NGM_CAR_CLR_STATS:
	case NGM_CAR_GETCLR_STATS:
		return (car_stats(ng_node_private(node), rq));
	case NGM_CAR_GET_CONF:
		return (car_getconf(node, rq));
	default:
		return (EINVAL);
	}
}

/* ---- Life ---- */

static void
car_free(struct car *ca)
{

	for (int way = 0; way < CAR_WAYS; way++)
		ng_stat_fini(&ca->ca_dir[way].cd_stat);
	free(ca);
}

static int
ng_car_constructor(node_p node)
{
	static const struct ng_car_hookconf dflt = {
		.cbs = NG_CAR_CBS_MIN, .ebs = NG_CAR_EBS_MIN,
		.cir = NG_CAR_CIR_DFLT,
		.green_action = NG_CAR_ACTION_FORWARD,
		.yellow_action = NG_CAR_ACTION_FORWARD,
		.red_action = NG_CAR_ACTION_DROP,
		.mode = NG_CAR_SINGLE_RATE,
	};
	struct car_dir *cd;
	struct car *ca;

	if ((ca = calloc(1, sizeof(*ca))) == NULL)
		return (ENOMEM);
	for (int way = 0; way < CAR_WAYS; way++) {
		cd = &ca->ca_dir[way];
		if (ng_stat_init(&cd->cd_stat, CAR_STATS) != 0) {
			car_free(ca);
			return (ENOMEM);
		}
		cd->cd_queue_end = &cd->cd_queue;
		cd->cd_random = time_ns() | 1;
		callout_init(&cd->cd_callout, ng_node_vnet(node)->v_callouts,
		    CALLOUT_NET, ng_node_mtx(node));
		car_set(cd, &dflt);
	}
	ng_node_set_private(node, ca);
	return (0);
}

/* A hook's private is the direction that begins there. */
static int
ng_car_newhook(node_p node, hook_p hook, const char *name)
{
	struct car *ca = ng_node_private(node);

	if (strcmp(name, NG_CAR_HOOK_LOWER) == 0)
		ng_hook_set_private(hook, &ca->ca_dir[CAR_UP]);
	else if (strcmp(name, NG_CAR_HOOK_UPPER) == 0)
		ng_hook_set_private(hook, &ca->ca_dir[CAR_DOWN]);
	else
		return (EINVAL);
	return (0);
}

static struct car_dir *
car_dir_to(hook_p hook)
{
	struct car *ca = ng_node_private(ng_hook_node(hook));

	return (ng_hook_private(hook) == &ca->ca_dir[CAR_UP] ?
	    &ca->ca_dir[CAR_DOWN] : &ca->ca_dir[CAR_UP]);
}

static int
ng_car_connect(hook_p hook)
{

	ng_node_lock(ng_hook_node(hook));
	car_dir_to(hook)->cd_out = hook;
	ng_node_unlock(ng_hook_node(hook));
	return (0);
}

static void
ng_car_disconnect(hook_p hook)
{
	struct car_dir *cd = car_dir_to(hook);

	ng_node_lock(ng_hook_node(hook));
	cd->cd_out = NULL;
	car_queue_flush(cd);
	ng_node_unlock(ng_hook_node(hook));
}

static void
ng_car_shutdown(node_p node)
{
	struct car *ca = ng_node_private(node);

	for (int way = 0; way < CAR_WAYS; way++)
		callout_drain(&ca->ca_dir[way].cd_callout);
	car_free(ca);
}

/* ---- Text ---- */

static const struct ng_parse_struct_field car_hookstats_fields[] = {
	{ "passed", &ng_parse_uint64_type, 0 },
	{ "dropped", &ng_parse_uint64_type, 0 },
	{ "green", &ng_parse_uint64_type, 0 },
	{ "yellow", &ng_parse_uint64_type, 0 },
	{ "red", &ng_parse_uint64_type, 0 },
	{ "errors", &ng_parse_uint64_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type car_hookstats_type = {
	.supertype = &ng_parse_struct_type, .info = car_hookstats_fields,
};
static const struct ng_parse_struct_field car_bulkstats_fields[] = {
	{ "upstream", &car_hookstats_type, 0 },
	{ "downstream", &car_hookstats_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type car_bulkstats_type = {
	.supertype = &ng_parse_struct_type, .info = car_bulkstats_fields,
};

static const struct ng_parse_struct_field car_hookconf_fields[] = {
	{ "cbs", &ng_parse_uint64_type, 0 },
	{ "ebs", &ng_parse_uint64_type, 0 },
	{ "cir", &ng_parse_uint64_type, 0 },
	{ "pir", &ng_parse_uint64_type, 0 },
	{ "greenAction", &ng_parse_uint8_type, 0 },
	{ "yellowAction", &ng_parse_uint8_type, 0 },
	{ "redAction", &ng_parse_uint8_type, 0 },
	{ "mode", &ng_parse_uint8_type, 0 },
	{ "opt", &ng_parse_uint8_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type car_hookconf_type = {
	.supertype = &ng_parse_struct_type, .info = car_hookconf_fields,
};
static const struct ng_parse_struct_field car_bulkconf_fields[] = {
	{ "upstream", &car_hookconf_type, 0 },
	{ "downstream", &car_hookconf_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type car_bulkconf_type = {
	.supertype = &ng_parse_struct_type, .info = car_bulkconf_fields,
};

static const struct ng_cmdlist ng_car_cmds[] = {
	{ NGM_CAR_COOKIE, NGM_CAR_GET_STATS, "getstats", NULL,
	    &car_bulkstats_type },
	{ NGM_CAR_COOKIE, NGM_CAR_CLR_STATS, "clrstats", NULL, NULL },
	{ NGM_CAR_COOKIE, NGM_CAR_GETCLR_STATS, "getclrstats", NULL,
	    &car_bulkstats_type },
	{ NGM_CAR_COOKIE, NGM_CAR_GET_CONF, "getconf", NULL,
	    &car_bulkconf_type },
	{ NGM_CAR_COOKIE, NGM_CAR_SET_CONF, "setconf", &car_bulkconf_type,
	    NULL },
	{ .name = NULL },
};

const struct ng_type ng_car_type = {
	.version = NG_ABI_VERSION,
	.flags = NGTF_EXCLUSIVE,
	.name = NG_CAR_NODE_TYPE,
	.constructor = ng_car_constructor,
	.rcvmsg = ng_car_rcvmsg,
	.shutdown = ng_car_shutdown,
	.newhook = ng_car_newhook,
	.connect = ng_car_connect,
	.rcvdata = ng_car_rcvdata,
	.disconnect = ng_car_disconnect,
	.cmdlist = ng_car_cmds,
};
