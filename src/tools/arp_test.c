/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* arp: its lines, what it sets and deletes. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/tool_fake.h"

static int
setup(void **state)
{
	fake_reset();
	return (0);
}

#define	ENTRY	"{\"addr\":\"198.51.100.2\","				\
	"\"ether\":\"90:10:00:01:02:03\",\"interface\":\"epair0a\","	\
	"\"state\":\"reachable\",\"flags\":0,"

static void
test_show(void **state)
{
	fake_reply("arp.list", "{\"entries\":["
	    ENTRY "\"expire_s\":1187,\"permanent\":false,"
	    "\"published\":false,\"type\":\"ethernet\"},"
	    ENTRY "\"expire_s\":0,\"permanent\":true,\"published\":true,"
	    "\"type\":\"ethernet\"},"
	    "{\"addr\":\"198.51.100.3\",\"ether\":\"\",\"interface\":\"em0\","
	    "\"state\":\"incomplete\",\"expire_s\":0}]}");
	fake_check("arp -an", 0,
	    "? (198.51.100.2) at 90:10:00:01:02:03 on epair0a expires in "
	    "1187 seconds [ethernet]\n"
	    "? (198.51.100.2) at 90:10:00:01:02:03 on epair0a permanent "
	    "published [ethernet]\n"
	    "? (198.51.100.3) at (incomplete) on em0 expired [ethernet]\n",
	    "", "arp.list {}\n");
	assert_string_equal(fake_run("arp -n -i em0 -a")->fr_calls,
	    "arp.list {\"interface\":\"em0\"}\n");
	fake_reply("arp.list", "{\"entries\":[" ENTRY "\"expire_s\":7}]}");
	fake_check("arp --libxo json -n 198.51.100.2", 0,
	    "{\"arp\":{\"arp-cache\":[{\"hostname\":\"?\","
	    "\"ip-address\":\"198.51.100.2\","
	    "\"mac-address\":\"90:10:00:01:02:03\","
	    "\"interface\":\"epair0a\",\"expires\":7,\"type\":\"ethernet\","
	    "\"state\":\"reachable\"}]}}\n", "",
	    "arp.list {\"addr\":\"198.51.100.2\"}\n");
	fake_reply("arp.list", "{\"entries\":[]}");
	fake_check("arp -n 198.51.100.9", 1,
	    "198.51.100.9 (198.51.100.9) -- no entry\n", "", NULL);
	fake_check("arp -n -i em0 198.51.100.9", 1,
	    "198.51.100.9 (198.51.100.9) -- no entry on em0\n", "", NULL);
}

static void
test_delete(void **state)
{
	fake_reply("arp.del", "{\"deleted\":[\"198.51.100.2\"]}");
	fake_check("arp -nd 198.51.100.2", 0,
	    "198.51.100.2 (198.51.100.2) deleted\n", "",
	    "arp.del {\"addr\":\"198.51.100.2\"}\n");
	fake_check("arp -d -a -i em0", 0,
	    "198.51.100.2 (198.51.100.2) deleted\n", "",
	    "arp.del {\"all\":true,\"interface\":\"em0\"}\n");
	fake_reply("arp.del", "{\"deleted\":[]}");
	fake_check("arp -d 198.51.100.2", 1, "",
	    "arp: delete: cannot locate 198.51.100.2\n", NULL);
	fake_fail("arp.del", ENOENT, "addr", "no entry");
	fake_check("arp -d 198.51.100.2", 1, "",
	    "arp: delete: cannot locate 198.51.100.2\n", NULL);
}

static void
test_set(void **state)
{
	fake_check("arp -s 198.51.100.2 90:10:0:1:2:3", 0, "", "",
	    "arp.set {\"addr\":\"198.51.100.2\","
	    "\"ether\":\"90:10:00:01:02:03\"}\n");
	fake_reply("arp.del", "{\"deleted\":[\"198.51.100.2\"]}");
	fake_check("arp -S 198.51.100.2 90:10:0:1:2:3 temp pub only", 0,
	    "198.51.100.2 (198.51.100.2) deleted\n", "",
	    "arp.del {\"addr\":\"198.51.100.2\"}\n"
	    "arp.set {\"addr\":\"198.51.100.2\","
	    "\"ether\":\"90:10:00:01:02:03\",\"pub\":true,\"temp\":true}\n");
	fake_fail("arp.del", ENOENT, "addr", "no entry");
	fake_check("arp -S 198.51.100.2 90:10:0:1:2:3", 0, "", "",
	    "arp.del {\"addr\":\"198.51.100.2\"}\n"
	    "arp.set {\"addr\":\"198.51.100.2\","
	    "\"ether\":\"90:10:00:01:02:03\"}\n");
	fake_reply("route.get", "{\"interface\":\"em0\"}");
	fake_reply("if.list", "{\"interfaces\":[{\"ether\":"
	    "\"02:00:00:00:00:07\"}]}");
	fake_check("arp -s 198.51.100.2 auto pub", 0, "", "",
	    "route.get {\"addr\":\"198.51.100.2\"}\n"
	    "if.list {\"name\":\"em0\"}\n"
	    "arp.set {\"addr\":\"198.51.100.2\","
	    "\"ether\":\"02:00:00:00:00:07\",\"pub\":true}\n");
	fake_fail("arp.set", ENETUNREACH, "addr", "no network");
	fake_check("arp -s 198.51.100.2 90:10:0:1:2:3", 1, "",
	    "arp: cannot intuit interface index and type for 198.51.100.2\n",
	    NULL);
}

static void
test_refusals(void **state)
{
	fake_check("arp -i em0 -s 198.51.100.2 90:10:0:1:2:3", 1, "",
	    "arp: -i not applicable to this operation\n", "");
	fake_check("arp -s 198.51.100.2 90:10:0:1:2", 1, "",
	    "arp: invalid Ethernet address '90:10:0:1:2'\n", "");
	fake_check("arp -s 198.51.100.2 90:10:0:1:2:3 blackhole reject", 64,
	    "", "arp: choose one of blackhole or reject, not both\n", "");
	fake_check("arp -n 198.51.100", 1, "",
	    "arp: 198.51.100: unknown host\n", "");
	assert_int_equal(fake_run("arp")->fr_status, 64);
	assert_int_equal(fake_run("arp -s 198.51.100.2")->fr_status, 64);
	assert_int_equal(fake_run("arp -ds 198.51.100.2")->fr_status, 64);
	fake_check("arp -f /nonexistent/arps", 66, "", "arp: cannot open "
	    "/nonexistent/arps: No such file or directory\n", "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_show, setup),
		cmocka_unit_test_setup(test_delete, setup),
		cmocka_unit_test_setup(test_set, setup),
		cmocka_unit_test_setup(test_refusals, setup),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
