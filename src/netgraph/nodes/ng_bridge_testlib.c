/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the tests of bridge share; see the header.
 */
#include "netgraph/nodes/ng_bridge_testlib.h"

#include <string.h>

void
make_bridge(const char *ours, const char *link)
{

	assert_int_equal(ngt_mkpeer(".", "bridge", ours, link), 0);
	assert_int_equal(ngt_name(ours, "br"), 0);
}

void
add_link(const char *ours, const char *link)
{

	assert_int_equal(ngt_connect(".", "br:", ours, link), 0);
}

void
make_abc(void)
{

	make_bridge("a", "link0");
	add_link("b", "link1");
	add_link("c", "link2");
}

const struct ng_bridge_host_ary *
table(void)
{
	const struct ng_bridge_host_ary *ary;

	assert_int_equal(ngt_msg("br:", NGM_BRIDGE_COOKIE,
	    NGM_BRIDGE_GET_TABLE, NULL, 0), 0);
	assert_non_null(ngt_reply());
	ary = (const void *)ngt_reply()->data;
	assert_int_equal(ngt_reply()->header.arglen,
	    sizeof(*ary) + ary->numHosts * sizeof(ary->hosts[0]));
	return (ary);
}

const struct ng_bridge_host *
host(uint64_t addr)
{
	const struct ng_bridge_host_ary *ary = table();

	for (uint32_t i = 0; i < ary->numHosts; i++)
		if (memcmp(ary->hosts[i].addr, ngt_frame(addr, 0), 6) == 0)
			return (&ary->hosts[i]);
	return (NULL);
}

struct ng_bridge_link_stats
stats(int32_t link)
{
	struct ng_bridge_link_stats st;

	ngt_get("br:", NGM_BRIDGE_COOKIE, NGM_BRIDGE_GET_STATS, &link,
	    sizeof(link), &st, sizeof(st));
	return (st);
}

void
setconfig(uint8_t debug, uint32_t timeout, uint32_t staleness, uint32_t age)
{
	struct ng_bridge_config conf;

	memset(&conf, 0, sizeof(conf));
	conf.debugLevel = debug;
	conf.loopTimeout = timeout;
	conf.maxStaleness = staleness;
	conf.minStableAge = age;
	assert_int_equal(ngt_msg("br:", NGM_BRIDGE_COOKIE,
	    NGM_BRIDGE_SET_CONFIG, &conf, sizeof(conf)), 0);
}
