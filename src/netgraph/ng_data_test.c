/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Data: delivery, loops, what is queued and why, which methods run in the
 * epoch, items for many hooks, and senders while nodes come and go.
 */
#include "netgraph/ng_base_testlib.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "netgraph/ng_private.h"
#include "netgraph/ng_var.h"
#include "sys/thread.h"

/* Every packet out of all other hooks, as copies. */
static int
fan_rcvdata(hook_p hook, item_p it)
{
	node_p node = ng_hook_node(hook);
	hook_p other;
	char name[8];

	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		other = ng_findhook(node, name);
		if (other != NULL && other != hook)
			(void)ng_send_copy(it, other);
	}
	ng_item_free(it);
	return (0);
}

static const struct ng_type fan_type = {
	.version = NG_ABI_VERSION,
	.name = "fan",
	.rcvdata = fan_rcvdata,
};

/* ---- A type whose methods say where they run ---- */

enum method { RCVMSG, NEWHOOK, FN, RCVDATA, NMETHODS };
enum where { HERE, WORKER };

#define	PLACE_COOKIE	8

static pthread_t tester;
/* Runs of each method, on which thread, outside and inside of a section. */
static _Atomic unsigned int ran[NMETHODS][2][2];

/* Control work may sleep, and does; it is in no section afterwards either. */
static void
place_note(enum method method)
{
	enum where where;
	bool inside;

	where = pthread_equal(pthread_self(), tester) ? HERE : WORKER;
	inside = in_epoch(net_epoch_preempt) != 0;
	if (method != RCVDATA) {
		(void)usleep(1000);
		inside = inside || in_epoch(net_epoch_preempt) != 0;
	}
	atomic_fetch_add(&ran[method][where][inside], 1);
}

static int
place_rcvmsg(node_p node, struct ng_request *rq, hook_p lasthook)
{

	place_note(RCVMSG);
	return (0);
}

static int
place_newhook(node_p node, hook_p hook, const char *name)
{

	place_note(NEWHOOK);
	return (0);
}

static void
place_fn(node_p node, void *arg)
{

	place_note(FN);
}

/* Ask for one of each control method: a message, a new node, a function. */
static void
place_ask(node_p node)
{
	static _Atomic unsigned int names;
	struct ngm_mkpeer mp = { .type = "place", .peerhook = "x" };
	struct ng_mesg *msg;

	msg = ng_mkmessage(PLACE_COOKIE, 1, NULL, 0);
	assert_non_null(msg);
	assert_int_equal(ng_send_msg_path(ngt_probe(), msg, "place:"), 0);
	snprintf(mp.ourhook, sizeof(mp.ourhook), "p%u",
	    atomic_fetch_add(&names, 1));
	msg = ng_mkmessage(NGM_GENERIC_COOKIE, NGM_MKPEER, &mp, sizeof(mp));
	assert_non_null(msg);
	assert_int_equal(ng_send_msg_path(ngt_probe(), msg, ".:"), 0);
	assert_int_equal(ng_send_fn(node, place_fn, NULL), 0);
}

static int
place_rcvdata(hook_p hook, item_p it)
{

	place_note(RCVDATA);
	place_ask(ng_hook_node(hook));
	ng_item_free(it);
	return (0);
}

static const struct ng_type place_type = {
	.version = NG_ABI_VERSION,
	.name = "place",
	.rcvmsg = place_rcvmsg,
	.newhook = place_newhook,
	.rcvdata = place_rcvdata,
};

const struct ng_type *const ngt_types[] = {
	&relay_type, &exclusive_type, &fan_type, &place_type, NULL,
};

static void
test_relay(void **state)
{
	struct ng_node *node;

	assert_int_equal(ngt_mkpeer(".", "relay", "a", "x1"), 0);
	assert_int_equal(ngt_connect(".", "a", "b", "x2"), 0);
	assert_int_equal(ngt_send_burst("a", "01234567", 8, NG_BURST), 0);
	assert_int_equal(ngt_count("b"), NG_BURST);
	assert_int_equal(ngt_send("b", "x", 1), 0);
	assert_int_equal(ngt_count("a"), 1);
	node = ng_hook_node(ng_hook_peer(ng_findhook(ngt_probe(), "a")));
	assert_int_equal(counter_fetch(node->nd_packets), NG_BURST + 1);
}

/*
 * What comes by x1 leaves by x2, comes by y1, leaves by y2 and comes by x1:
 * the send returns, the packet circles, and the node can go.
 */
static void
loop_with(const char *type)
{
	struct epoch_tracker et;
	struct ng_node *node;
	uint64_t before, end;
	int error;

	assert_int_equal(ngt_mkpeer(".", type, "a", "hold"), 0);
	assert_int_equal(ngt_name("a", "loop"), 0);
	assert_int_equal(ngt_connect("loop:", "loop:", "x1", "y2"), 0);
	assert_int_equal(ngt_connect("loop:", "loop:", "x2", "y1"), 0);
	NET_EPOCH_ENTER(et);
	node = ng_findnode(ngt_vnet(), "loop");
	error = ng_send_data(ng_findhook(node, "y2"), m_devget("round", 5));
	NET_EPOCH_EXIT(et);
	assert_int_equal(error, 0);
	before = counter_fetch(node->nd_packets);
	end = time_ns() + UINT64_C(10000000000);
	while (counter_fetch(node->nd_packets) < before + 1000)
		assert_true(time_ns() < end);
	assert_int_equal(ngt_shutdown("loop:"), 0);
	ngt_settle();
	assert_int_equal(nodes(), 1);
}

static void
test_loop(void **state)
{

	loop_with("relay");
}

static void
test_loop_exclusive(void **state)
{

	loop_with("exclusive");
}

/*
 * Two hubs joined five times: a packet becomes 4 at each of 16 levels, and
 * one call would never end.
 */
static void
test_fan(void **state)
{
	struct epoch_stats es;
	char name[8];

	assert_int_equal(ngt_mkpeer(".", "fan", "a", "f0"), 0);
	assert_int_equal(ngt_name("a", "one"), 0);
	assert_int_equal(ngt_mkpeer("one:", "fan", "f1", "f1"), 0);
	assert_int_equal(ngt_name("one:f1", "two"), 0);
	for (int i = 2; i < 6; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		assert_int_equal(ngt_connect("one:", "two:", name, name), 0);
	}
	assert_int_equal(ngt_send("a", "x", 1), 0);
	assert_int_equal(ngt_shutdown("one:"), 0);
	assert_int_equal(nodes(), 1);
	ngt_settle();
	epoch_stats_get(net_epoch_preempt, &es);
	assert_int_equal(es.es_stalls, 0);
}

static uint64_t
drops(enum ng_drop why)
{

	return (counter_fetch(ngt_vnet()->v_netgraph->ng_drops + why));
}

/* A hook that queues: in order, bounded, and thrown away with the node. */
static void
test_queue(void **state)
{
	struct netgraph *ng = ngt_vnet()->v_netgraph;
	uint64_t full = drops(NGD_QUEUE);
	unsigned int sent = 0;
	hook_p in;
	int error;

	assert_int_equal(ngt_mkpeer(".", "exclusive", "a", "x1"), 0);
	assert_int_equal(ngt_name("a", "q"), 0);
	assert_int_equal(ngt_connect(".", "q:", "b", "x2"), 0);
	in = ng_findhook(ng_findnode(ngt_vnet(), "q"), "x1");
	/* While the node is busy all is queued, up to the limit. */
	ng_node_lock(ng_hook_node(in));
	while ((error = ngt_send_burst("a", "x", 1, NG_BURST)) == 0)
		sent += NG_BURST;
	assert_int_equal(error, ENOMEM);
	assert_int_equal(sent, atomic_load(&ng->ng_maxdata));
	assert_int_equal(drops(NGD_QUEUE) - full, NG_BURST);
	ng_node_unlock(ng_hook_node(in));
	ngt_settle();
	assert_int_equal(ngt_count("b"), sent);

	ng_node_lock(ng_hook_node(in));
	assert_int_equal(ngt_send_burst("a", "x", 1, NG_BURST), 0);
	ng_node_unlock(ng_hook_node(in));
	ngt_settle();
	ng_hook_force_queue(in);
	assert_int_equal(ngt_send("a", "x", 1), 0);
	assert_int_equal(ngt_rmhook("q:", "x1"), 0);
	ngt_settle();
}

/* To a hook that says so, what comes from the stack's output is queued. */
static void
test_outbound(void **state)
{
	hook_p in;

	assert_int_equal(ngt_mkpeer(".", "relay", "a", "x1"), 0);
	assert_int_equal(ngt_connect(".", "a", "b", "x2"), 0);
	in = ng_hook_peer(ng_findhook(ngt_probe(), "a"));
	ng_hook_set_to_inbound(in);
	assert_int_equal(ngt_send("a", "x", 1), 0);
	assert_int_equal(ngt_count("b"), 1);
	ng_outbound_enter();
	assert_int_equal(ngt_send("a", "x", 1), 0);
	ng_outbound_exit();
	ngt_settle();
	assert_int_equal(ngt_count("b"), 2);
}

/* Wait until each control method ran n times on a worker. */
static void
place_wait(unsigned int n)
{
	uint64_t end = time_ns() + NGT_PATIENCE;

	for (int i = RCVMSG; i <= FN; i++)
		while (atomic_load(&ran[i][WORKER][false]) +
		    atomic_load(&ran[i][WORKER][true]) < n) {
			assert_true(time_ns() < end);
			sched_yield();
		}
}

/* Runs of control methods and of the data method, all where they belong. */
static void
place_expect(unsigned int ctl_here, unsigned int ctl_worker,
    unsigned int data_here, unsigned int data_worker)
{

	for (int i = 0; i < NMETHODS; i++) {
		bool data = i == RCVDATA;

		assert_int_equal(ran[i][HERE][data],
		    data ? data_here : ctl_here);
		assert_int_equal(ran[i][WORKER][data],
		    data ? data_worker : ctl_worker);
		assert_int_equal(ran[i][HERE][!data], 0);
		assert_int_equal(ran[i][WORKER][!data], 0);
	}
}

/*
 * Messages, new hooks and queued functions never run in the epoch, whether the
 * asking thread runs them itself, or a worker does because that thread is in a
 * section: of its own, of a data method, of a worker's data method.  Data runs
 * in the epoch, on both.
 */
static void
test_places(void **state)
{
	struct epoch_tracker et;
	node_p node;
	hook_p in;

	tester = pthread_self();
	assert_int_equal(ngt_mkpeer(".", "place", "a", "x"), 0);
	assert_int_equal(ngt_name("a", "place"), 0);
	node = ng_findnode(ngt_vnet(), "place");
	in = ng_hook_peer(ng_findhook(ngt_probe(), "a"));
	memset(ran, 0, sizeof(ran));

	ng_ctl_enter(ngt_vnet());
	place_ask(node);
	ng_ctl_exit(ngt_vnet());
	place_expect(1, 0, 0, 0);

	NET_EPOCH_ENTER(et);
	place_ask(node);
	NET_EPOCH_EXIT(et);
	place_wait(1);
	place_expect(1, 1, 0, 0);

	assert_int_equal(ngt_send("a", "x", 1), 0);
	place_wait(2);
	place_expect(1, 2, 1, 0);

	ng_hook_force_queue(in);
	assert_int_equal(ngt_send("a", "x", 1), 0);
	place_wait(3);
	place_expect(1, 3, 1, 1);
}

static void
test_scatter(void **state)
{
	struct epoch_tracker et;
	struct ng_scatter sc;
	hook_p hook[12];
	char name[NG_HOOKSIZ];

	for (int i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		assert_int_equal(ngt_connect(".", ".", name,
		    name[1] == '1' && i > 9 ? (i == 10 ? "r10" : "r11") :
		    (char[]){ 'r', (char)('0' + i), '\0' }), 0);
		hook[i] = ng_findhook(ngt_probe(), name);
	}
	NET_EPOCH_ENTER(et);
	ng_scatter_init(&sc);
	for (int i = 0; i < 1200; i++)
		ng_scatter_add(&sc, hook[i % 12], m_devget("x", 1));
	assert_int_equal(ng_scatter_flush(&sc), 0);
	ng_scatter_init(&sc);
	ng_scatter_add(&sc, NULL, m_devget("x", 1));
	ng_scatter_add(&sc, hook[0], m_devget("x", 1));
	assert_int_equal(ng_scatter_flush(&sc), ENOTCONN);
	NET_EPOCH_EXIT(et);
	assert_int_equal(ngt_count("r0"), 101);
	assert_int_equal(ngt_count("r5"), 100);
	assert_int_equal(ngt_count("r11"), 100);
}

/* ---- Two threads ---- */

static _Atomic bool stop_sending;
static _Atomic uint64_t sent_ok, sent_lost;

static void
sender(void *arg)
{
	struct epoch_tracker et;
	struct ng_item it;
	unsigned int n;
	hook_p hook;

	while (!atomic_load(&stop_sending)) {
		NET_EPOCH_ENTER(et);
		n = m_get_burst(it.it_m, 8);
		for (unsigned int i = 0; i < n; i++)
			it.it_m[i]->m_len = it.it_m[i]->m_pkthdr.len = 60;
		it.it_n = n;
		hook = ng_findhook(ngt_probe(), arg);
		if (n != 0) {
			if (ng_fwd_item(&it, hook) == 0)
				atomic_fetch_add(&sent_ok, n);
			else
				atomic_fetch_add(&sent_lost, n);
		}
		NET_EPOCH_EXIT(et);
	}
	m_cache_drain();
}

/* Nodes come and go under senders; nothing is leaked or touched after. */
static void
test_churn(void **state)
{
	struct thread *td[2];

	stop_sending = false;
	sent_ok = sent_lost = 0;
	assert_int_equal(ngt_connect(".", ".", "keep", "kept"), 0);
	assert_int_equal(thread_create(&td[0], "sender", THREAD_ANY_CPU,
	    sender, (void *)(uintptr_t)"a"), 0);
	assert_int_equal(thread_create(&td[1], "sender", THREAD_ANY_CPU,
	    sender, (void *)(uintptr_t)"b"), 0);
	for (int i = 0; i < 2000; i++) {
		const char *type = i % 3 == 0 ? "exclusive" : "relay";

		assert_int_equal(ngt_mkpeer(".", type, "a", "x1"), 0);
		assert_int_equal(ngt_connect(".", "a", "b", "x2"), 0);
		switch (i % 4) {
		case 0:
			assert_int_equal(ngt_shutdown("a"), 0);
			break;
		case 1:
			assert_int_equal(ngt_rmhook(".", "a"), 0);
			assert_int_equal(ngt_rmhook(".", "b"), 0);
			break;
		case 2:
			assert_int_equal(ngt_rmhook("a", "x2"), 0);
			assert_int_equal(ngt_rmhook("a", "x1"), 0);
			break;
		case 3:
			assert_int_equal(ngt_mkpeer("a", "relay", "y1",
			    "y2"), 0);
			assert_int_equal(ngt_shutdown("a"), 0);
			break;
		}
		assert_null(ng_findhook(ngt_probe(), "a"));
		assert_null(ng_findhook(ngt_probe(), "b"));
	}
	atomic_store(&stop_sending, true);
	thread_join(td[0]);
	thread_join(td[1]);
	printf("%ju packets sent, %ju with an error\n",
	    (uintmax_t)sent_ok, (uintmax_t)sent_lost);
	ngt_settle();
}

#define	T(fn)	cmocka_unit_test_setup(fn, clean)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_relay), T(test_loop), T(test_loop_exclusive),
		T(test_fan), T(test_queue), T(test_outbound),
		T(test_places), T(test_scatter), T(test_churn), T(clean_last),
	};

	return (cmocka_run_group_tests(tests, ngt_group_start, ngt_group_stop));
}
