/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * echo: packets and messages come back.
 */
#include "netgraph/nodes/ng_node_testlib.h"

#include <errno.h>

#include <netgraph/ng_echo.h>

#include "netgraph/nodes/ng_nodes.h"

const struct ng_type *const ngt_types[] = { &ng_echo_type, NULL };

static void
make_echo(void)
{

	assert_int_equal(ngt_mkpeer(".", "echo", "a", "x"), 0);
	assert_int_equal(ngt_name("a", "e"), 0);
	assert_int_equal(ngt_connect(".", "e:", "b", "any name"), 0);
}

static void
test_data(void **state)
{
	struct nodeinfo ni;
	struct mbuf *m;

	make_echo();
	m = m_devget("hello", 5);
	assert_non_null(m);
	assert_int_equal(ngt_send_mbuf("a", m), 0);
	assert_ptr_equal(ngt_last("a"), m);
	assert_int_equal(ngt_send_burst("b", "hello", 5, NG_BURST), 0);
	assert_int_equal(ngt_count("a"), 1);
	assert_int_equal(ngt_count("b"), NG_BURST);
	assert_int_equal(ngt_rmhook(".", "a"), 0);
	assert_int_equal(ngt_rmhook(".", "b"), 0);
	assert_int_equal(ngt_nodeinfo("e:", &ni), ENOENT);
}

static void
test_messages(void **state)
{
	uint8_t data[300];

	make_echo();
	for (unsigned int i = 0; i < 100; i++) {
		uint32_t cookie = 1 + (uint32_t)(ngt_random() >> 33);
		uint32_t cmd = (uint32_t)ngt_random();
		size_t len = ngt_random() % (sizeof(data) + 1);

		for (size_t j = 0; j < len; j++)
			data[j] = (uint8_t)ngt_random();
		if (cookie == NGM_GENERIC_COOKIE)
			continue;
		assert_int_equal(ngt_msg(i % 2 == 0 ? "e:" : "a", cookie, cmd,
		    data, len), 0);
		assert_non_null(ngt_reply());
		assert_int_equal(ngt_reply()->header.flags, NGF_RESP);
		assert_int_equal(ngt_reply()->header.typecookie, cookie);
		assert_int_equal(ngt_reply()->header.cmd, cmd);
		assert_int_equal(ngt_reply()->header.arglen, len);
		assert_memory_equal(ngt_reply()->data, data, len);
	}
	/* The base answers what is generic; there is no text. */
	assert_int_equal(ngt_msg("e:", NGM_GENERIC_COOKIE, 99, NULL, 0),
	    EINVAL);
	assert_int_equal(ngt_ascii("e:", "getstats"), ENOSYS);
}

static void
churn(unsigned int round)
{

	if (round % 2 == 0)
		assert_int_equal(ngt_rmhook("e:", "x"), 0);
	else
		assert_int_equal(ngt_connect(".", "e:", "a", "x"), 0);
}

static void
test_race(void **state)
{

	make_echo();
	ngt_race("a", "b", churn, 300);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_data, ngt_test_reset),
		cmocka_unit_test_teardown(test_messages, ngt_test_reset),
		cmocka_unit_test_teardown(test_race, ngt_test_reset),
	};

	return (cmocka_run_group_tests(tests, ngt_group_start, ngt_group_stop));
}
