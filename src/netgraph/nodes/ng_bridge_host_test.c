/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The bridge's table of hosts, beside a plain one, over random operations; and
 * what becomes of the seconds, of which a slot has 16 bits.
 */
#include "netgraph/nodes/ng_bridge_private.h"
#include "netgraph/nodes/ng_node_testlib.h"
#include "netgraph/ng_private.h"

#define	KEYS		400
#define	LINKS		3
#define	OPERATIONS	200000

const struct ng_type *const ngt_types[] = { NULL };

static struct ng_hook hook[LINKS] = {
	{ .hk_name = "link0" }, { .hk_name = "link1" }, { .hk_name = "link2" },
};
static struct bridge_link link[LINKS] = {
	{ .bl_hook = &hook[0] }, { .bl_hook = &hook[1] },
	{ .bl_hook = &hook[2] },
};

/* What the table should know of each key. */
static struct plain {
	uint64_t	 p_key;
	struct bridge_link *p_link;	/* NULL: not known */
	uint32_t	 p_seen;
} plain[KEYS];

static struct bridge_hosts hosts;
static struct ng_bridge_host list[KEYS];

static unsigned int
number(unsigned int below)
{

	return ((unsigned int)(ngt_random() % below));
}

/* The lowest and the highest address that a host may have are among them. */
static void
make_keys(void)
{
	static const uint8_t last[8] = { 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff };

	for (unsigned int i = 0; i < KEYS; i++)
		plain[i].p_key = (uint64_t)i << 8;
	plain[1].p_key = bridge_key(last);
}

static struct plain *
plain_of(const struct ng_bridge_host *bh)
{
	uint8_t addr[8] = { 0 };

	memcpy(addr, bh->addr, sizeof(bh->addr));
	for (unsigned int i = 0; i < KEYS; i++)
		if (plain[i].p_key == bridge_key(addr))
			return (&plain[i]);
	fail_msg("an address that nobody has");
	return (NULL);
}

/* The list has all that is known, and says where and for how long. */
static void
check_list(uint32_t now)
{
	unsigned int known = 0, n;
	struct plain *p;

	for (unsigned int i = 0; i < KEYS; i++)
		known += plain[i].p_link != NULL;
	n = bridge_hosts_list(&hosts, now, list, KEYS);
	assert_int_equal(n, known);
	assert_int_equal(n, hosts.bs_n);
	for (unsigned int i = 0; i < n; i++) {
		p = plain_of(&list[i]);
		assert_non_null(p->p_link);
		assert_string_equal(list[i].hook,
		    bridge_link_name(p->p_link));
		assert_int_equal(list[i].staleness, now - p->p_seen);
	}
}

static void
hear(struct plain *p, uint32_t now)
{
	struct bridge_host *bh;

	bh = bridge_host_find(bridge_table(&hosts), p->p_key);
	assert_int_equal(bh != NULL, p->p_link != NULL);
	if (bh == NULL) {
		p->p_link = &link[number(LINKS)];
		assert_int_equal(bridge_host_insert(&hosts, p->p_key,
		    p->p_link, now), 0);
	} else {
		assert_ptr_equal(bridge_host_link(bh), p->p_link);
		bridge_host_see(bh, p->p_key, now);
	}
	p->p_seen = now;
}

static void
forget(struct bridge_link *bl)
{

	bridge_hosts_forget(&hosts, bl);
	for (unsigned int i = 0; i < KEYS; i++)
		if (bl == NULL || plain[i].p_link == bl)
			plain[i].p_link = NULL;
}

static void
age(uint32_t now, uint32_t limit)
{

	bridge_hosts_age(&hosts, now, limit);
	for (unsigned int i = 0; i < KEYS; i++)
		if (plain[i].p_link != NULL && now - plain[i].p_seen > limit)
			plain[i].p_link = NULL;
}

static void
test_random(void **state)
{
	uint32_t now = 0xfff0;		/* and soon past 16 bits */
	unsigned int what;

	(void)state;
	make_keys();
	assert_int_equal(bridge_hosts_init(&hosts), 0);
	mtx_lock(&hosts.bs_mtx);
	for (unsigned int i = 0; i < OPERATIONS; i++) {
		what = number(1000);
		if (what == 0)
			forget(&link[number(LINKS)]);
		else if (what == 1)
			forget(NULL);
		else if (what < 20)
			age(++now, number(100));
		else if (what < 25)
			check_list(now);
		else
			hear(&plain[number(KEYS)], now);
	}
	check_list(now);
	mtx_unlock(&hosts.bs_mtx);
	bridge_hosts_fini(&hosts);
}

/* Silent for longer than can be said: such a host does not seem new again. */
static void
test_silent(void **state)
{
	uint64_t key = UINT64_C(0x1200);
	uint32_t now = 5;

	(void)state;
	assert_int_equal(bridge_hosts_init(&hosts), 0);
	mtx_lock(&hosts.bs_mtx);
	assert_int_equal(bridge_host_insert(&hosts, key, &link[0], now), 0);
	while (now < 200000) {
		bridge_hosts_age(&hosts, ++now, UINT32_MAX);
		assert_int_equal(bridge_hosts_list(&hosts, now, list, KEYS),
		    1);
		assert_int_equal(list[0].staleness, now - 5 <
		    BRIDGE_STALE_MAX ? now - 5 : BRIDGE_STALE_MAX);
	}
	/* A packet that is counted early is no silence. */
	bridge_host_see(bridge_host_lookup(&hosts, key), key, now + 1);
	bridge_hosts_age(&hosts, now, 0);
	assert_int_equal(bridge_hosts_list(&hosts, now, list, KEYS), 1);
	assert_int_equal(list[0].staleness, 0);
	bridge_hosts_age(&hosts, now + 2, 0);
	assert_int_equal(hosts.bs_n, 0);
	assert_null(bridge_host_lookup(&hosts, key));
	mtx_unlock(&hosts.bs_mtx);
	bridge_hosts_fini(&hosts);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_silent),
	};

	return (cmocka_run_group_tests(tests, ngt_group_start,
	    ngt_group_stop));
}
