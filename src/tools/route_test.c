/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* route: the words it takes, its answers, its exit statuses. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/tool_fake.h"

static int
setup(void **state)
{
	fake_reset();
	return (0);
}

static void
test_add(void **state)
{
	fake_check("route add -net 10.0.0.0/8 192.0.2.1", 0,
	    "add net 10.0.0.0/8: gateway 192.0.2.1\n", "",
	    "route.add {\"dst\":\"10.0.0.0\",\"gateway\":\"192.0.2.1\","
	    "\"plen\":8}\n");
	fake_check("route add default 192.0.2.1", 0,
	    "add net default: gateway 192.0.2.1\n", "",
	    "route.add {\"dst\":\"0.0.0.0\",\"gateway\":\"192.0.2.1\","
	    "\"plen\":0}\n");
	fake_check("route -n add 10.1.2.3 192.0.2.1", 0,
	    "add host 10.1.2.3: gateway 192.0.2.1\n", "",
	    "route.add {\"dst\":\"10.1.2.3\",\"gateway\":\"192.0.2.1\","
	    "\"plen\":32}\n");
	/* Host bits are no part of a net. */
	fake_check("route add -net 10.1.2.3 -netmask 255.255.0.0 192.0.2.1 "
	    "-mtu 1400 -proto2", 0,
	    "add net 10.1.2.3: gateway 192.0.2.1\n", "",
	    "route.add {\"dst\":\"10.1.0.0\",\"gateway\":\"192.0.2.1\","
	    "\"mtu\":1400,\"plen\":16,\"proto\":2}\n");
	fake_check("route add -net 10.1.0.0 192.0.2.1 0xffff0000", 0,
	    "add net 10.1.0.0: gateway 192.0.2.1\n", "", NULL);
	fake_check("route add 10/8 -iface em0", 0,
	    "add net 10/8: gateway em0\n", "", "if.list {\"name\":\"em0\"}\n"
	    "route.add {\"dst\":\"10.0.0.0\",\"interface\":\"em0\","
	    "\"plen\":8}\n");
	fake_check("route add 10/8 127.0.0.1 -blackhole", 0,
	    "add net 10/8: gateway 127.0.0.1\n", "",
	    "route.add {\"blackhole\":true,\"dst\":\"10.0.0.0\",\"plen\":8}\n");
	fake_check("route -q add 10/8 -reject -nostatic", 0, "", "",
	    "route.add {\"dst\":\"10.0.0.0\",\"plen\":8,\"reject\":true,"
	    "\"static\":false}\n");
	fake_check("route change 10/8 192.0.2.2 -fib 0", 0,
	    "change net 10/8: gateway 192.0.2.2\n", "",
	    "route.change {\"dst\":\"10.0.0.0\",\"gateway\":\"192.0.2.2\","
	    "\"plen\":8}\n");
}

static void
test_add_fails(void **state)
{
	fake_fail("route.add", EEXIST, "dst", "route exists");
	fake_check("route add 10/8 192.0.2.1", 1, "add net 10/8: gateway "
	    "192.0.2.1 fib 0: route already in table\n", "", NULL);
	fake_fail("route.add", ENETUNREACH, "gateway", "no route to it");
	fake_check("route add 10/8 192.0.2.1", 1, "add net 10/8: gateway "
	    "192.0.2.1 fib 0: Network is unreachable\n", "route: writing to "
	    "routing socket: Network is unreachable\n", NULL);
	fake_fail("route.add", EINVAL, "gateway", "gateway: our own address");
	fake_check("route --libxo json add 10/8 192.0.2.1", 1,
	    "{\"route\":{\"command\":\"add\",\"type\":\"net\","
	    "\"destination\":\"10/8\",\"gateway\":\"192.0.2.1\",\"fib\":0,"
	    "\"error\":\"Invalid argument\"}}\n",
	    "route: gateway: our own address\n", NULL);
}

static void
test_delete(void **state)
{
	fake_check("route delete 10/8", 0, "delete net 10/8\n", "",
	    "route.del {\"dst\":\"10.0.0.0\",\"plen\":8}\n");
	fake_reply("route.get", "{\"gateway\":\"192.0.2.1\"}");
	fake_check("route del 10/8 192.0.2.1", 0,
	    "delete net 10/8: gateway 192.0.2.1\n", "",
	    "route.get {\"addr\":\"10.0.0.0\",\"plen\":8}\n"
	    "route.del {\"dst\":\"10.0.0.0\",\"plen\":8}\n");
	/* Another route than the one meant stays. */
	fake_check("route del 10/8 192.0.2.9", 1,
	    "delete net 10/8: gateway 192.0.2.9 fib 0: not in table\n",
	    "route: route has not been found\n",
	    "route.get {\"addr\":\"10.0.0.0\",\"plen\":8}\n");
	fake_fail("route.del", ESRCH, "dst", "no");
	fake_check("route delete 10/8", 1,
	    "delete net 10/8 fib 0: not in table\n",
	    "route: route has not been found\n", NULL);
}

static void
test_get(void **state)
{
	fake_reply("route.get", "{\"dst\":\"192.0.2.0\",\"plen\":24,"
	    "\"gateway\":\"198.51.100.1\",\"interface\":\"em0\","
	    "\"flags\":2051,\"nhop\":3,\"mtu\":1500}");
	fake_check("route -n get 192.0.2.9", 0,
	    "   route to: 192.0.2.9\n"
	    "destination: 192.0.2.0\n"
	    "       mask: 255.255.255.0\n"
	    "    gateway: 198.51.100.1\n"
	    "        fib: 0\n"
	    "  interface: em0\n"
	    "      flags: <UP,GATEWAY,DONE,STATIC>\n"
	    " recvpipe  sendpipe  ssthresh  rtt,msec    mtu        weight"
	    "    expire\n"
	    "       0         0         0         0      1500         1"
	    "         0 \n", "", "route.get {\"addr\":\"192.0.2.9\"}\n");
	fake_reply("route.get", "{\"dst\":\"10.0.0.1\",\"plen\":32,"
	    "\"gateway\":\"link#1\",\"interface\":\"lo0\","
	    "\"flags\":2099205,\"nhop\":1,\"mtu\":16384}");
	fake_check("route -n get 10.0.0.1", 0,
	    "   route to: 10.0.0.1\n"
	    "destination: 10.0.0.1\n"
	    "        fib: 0\n"
	    "  interface: lo0\n"
	    "      flags: <UP,HOST,DONE,STATIC,LOCAL>\n"
	    " recvpipe  sendpipe  ssthresh  rtt,msec    mtu        weight"
	    "    expire\n"
	    "       0         0         0         0     16384         1"
	    "         0 \n", "", NULL);
	fake_fail("route.get", ESRCH, "addr", "no");
	fake_check("route -n get 10.0.0.1", 255, "",
	    "route: route has not been found\n", NULL);
}

static void
test_get_default(void **state)
{
	fake_reply("route.get", "{\"dst\":\"0.0.0.0\",\"plen\":0,"
	    "\"gateway\":\"192.0.2.1\",\"interface\":\"em0\","
	    "\"flags\":2051,\"nhop\":3,\"mtu\":1500}");
	assert_non_null(strstr(fake_run("route get default")->fr_out,
	    "   route to: default\ndestination: default\n"
	    "       mask: default\n    gateway: 192.0.2.1\n"));
	assert_non_null(strstr(fake_run("route -n get default")->fr_out,
	    "   route to: 0.0.0.0\ndestination: 0.0.0.0\n"
	    "       mask: 0.0.0.0\n"));
}

static void
test_flush(void **state)
{
	fake_reply("route.flush", "{\"routes\":[{\"dst\":\"0.0.0.0\","
	    "\"plen\":0,\"gateway\":\"192.0.2.1\"},{\"dst\":\"10.0.0.0\","
	    "\"plen\":8,\"gateway\":\"192.0.2.1\"}]}");
	fake_check("route flush", 0,
	    "default              192.0.2.1            -fib 0   done\n"
	    "10.0.0.0/8           192.0.2.1            -fib 0   done\n", "",
	    "route.flush {}\n");
	fake_reply("route.flush", "{\"count\":10000,\"routes\":[{\"dst\":"
	    "\"10.0.0.1\",\"plen\":32,\"gateway\":\"192.0.2.1\"}]}");
	fake_check("route flush", 0,
	    "10.0.0.1             192.0.2.1            -fib 0   done\n"
	    "and 9999 more   done\n", "", NULL);
	fake_check("route -q flush -inet", 0, "", "", "route.flush {}\n");
}

static void
test_words(void **state)
{
	const struct fake_run *fr;

	fr = fake_run("route add 10/8 -wobble 1");
	assert_int_equal(fr->fr_status, 64);
	assert_non_null(strstr(fr->fr_err, "route: bad keyword: wobble\n"));
	assert_int_equal(fake_run("route frob")->fr_status, 64);
	assert_int_equal(fake_run("route add 10/8")->fr_status, 64);
	assert_int_equal(fake_run("route add")->fr_status, 64);
	fake_check("route add 10.0.0/33 192.0.2.1", 68, "",
	    "route: bad address: 10.0.0/33\n", "");
	fake_check("route add 10/8 192.0.2.300", 68, "",
	    "route: bad address: 192.0.2.300\n", "");
	fake_check("route add -net 10.0.0.0 192.0.2.1", 64, "",
	    "route: -net 10.0.0.0: needs a length or a mask\n", "");
	fake_check("route add 10/8 192.0.2.1 -mtu 1", 64, "",
	    "route: -mtu 1: expected 68..65535\n", "");
	fake_check("route add 10/8 192.0.2.1 -fib 3", 64, "",
	    "route: -fib 3: this machine has fib 0 only\n", "");
	fake_check("route add -6 fe80::1 fe80::2", 69, "",
	    "route: IPv6 routes are not supported\n", "");
	fake_check("route monitor", 69, "",
	    "route: monitor is not supported\n", "");
	fake_fail("if.list", ENXIO, "name", "no");
	fake_check("route add 10/8 -interface nope", 65, "",
	    "route: interface 'nope' does not exist\n", NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_add, setup),
		cmocka_unit_test_setup(test_add_fails, setup),
		cmocka_unit_test_setup(test_delete, setup),
		cmocka_unit_test_setup(test_get, setup),
		cmocka_unit_test_setup(test_get_default, setup),
		cmocka_unit_test_setup(test_flush, setup),
		cmocka_unit_test_setup(test_words, setup),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
