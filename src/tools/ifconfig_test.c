/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* ifconfig: what it prints, what it asks the machine, what it refuses. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/tool_fake.h"

#define	LO0	"{\"name\":\"lo0\",\"index\":1,\"flags\":32841,\"mtu\":16384," \
	"\"metric\":0,\"options\":0,\"capabilities\":0,\"ether\":\"\"," \
	"\"hwaddr\":\"\",\"driver\":\"\",\"status\":\"\",\"addrs\":[" \
	"{\"family\":\"inet\",\"addr\":\"127.0.0.1\",\"plen\":8," \
	"\"mask\":\"255.0.0.0\",\"broadcast\":\"\",\"dst\":\"\"}]}"
#define	EM0	"{\"name\":\"em0\",\"index\":3,\"flags\":34883,\"mtu\":1500," \
	"\"metric\":0,\"options\":8,\"capabilities\":12," \
	"\"ether\":\"02:00:00:00:00:01\",\"hwaddr\":\"02:00:00:00:00:99\"," \
	"\"description\":\"to the lab\",\"driver\":\"xdp\"," \
	"\"spec\":\"xdp:veth2\",\"media\":\"xdp native copy\"," \
	"\"status\":\"active\",\"addrs\":[" \
	"{\"family\":\"inet\",\"addr\":\"192.0.2.1\",\"plen\":24," \
	"\"mask\":\"255.255.255.0\",\"broadcast\":\"192.0.2.255\"," \
	"\"dst\":\"\"}]}"
#define	EP0	"{\"name\":\"epair0a\",\"index\":4,\"flags\":34882," \
	"\"mtu\":1500,\"metric\":2,\"options\":0,\"capabilities\":0," \
	"\"ether\":\"02:00:00:00:00:02\",\"hwaddr\":\"02:00:00:00:00:02\"," \
	"\"driver\":\"epair\",\"status\":\"\",\"addrs\":[]}"
#define	IFS(x)	"{\"interfaces\":[" x "]}"

static int
setup(void **state)
{
	fake_reset();
	fake_reply("if.list", IFS(LO0 "," EM0 "," EP0));
	return (0);
}

static const char em0_text[] =
    "em0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 "
    "mtu 1500\n"
    "\tdescription: to the lab\n"
    "\toptions=8<VLAN_MTU>\n"
    "\tether 02:00:00:00:00:01\n"
    "\thwaddr 02:00:00:00:00:99\n"
    "\tinet 192.0.2.1 netmask 0xffffff00 broadcast 192.0.2.255\n"
    "\tgroups: xdp\n"
    "\tmedia: xdp native copy\n"
    "\tstatus: active\n";

static void
test_block(void **state)
{
	fake_reply("if.list", IFS(EM0));
	fake_check("ifconfig em0", 0, em0_text, "",
	    "if.list {\"name\":\"em0\"}\n");
	fake_check("ifconfig em0 ether", 0,
	    "em0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> "
	    "metric 0 mtu 1500\n\tdescription: to the lab\n"
	    "\toptions=8<VLAN_MTU>\n\tether 02:00:00:00:00:01\n"
	    "\thwaddr 02:00:00:00:00:99\n\tgroups: xdp\n"
	    "\tmedia: xdp native copy\n\tstatus: active\n", "", NULL);
	fake_check("ifconfig -f inet:cidr,ether:dash em0 inet", 0,
	    "em0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> "
	    "metric 0 mtu 1500\n\tdescription: to the lab\n"
	    "\toptions=8<VLAN_MTU>\n"
	    "\tinet 192.0.2.1/24 broadcast 192.0.2.255\n", "", NULL);
	fake_reply("if.list", IFS(EP0));
	fake_check("ifconfig -m epair0a", 0,
	    "epair0a: flags=8842<BROADCAST,RUNNING,SIMPLEX,MULTICAST> "
	    "metric 2 mtu 1500\n\tether 02:00:00:00:00:02\n"
	    "\tgroups: epair\n", "", NULL);
}

static void
test_lists(void **state)
{
	fake_check("ifconfig -l", 0, "lo0 em0 epair0a\n", "", "if.list {}\n");
	fake_check("ifconfig -u -l ether", 0, "em0\n", "", NULL);
	fake_check("ifconfig -d -l", 0, "epair0a\n", "", NULL);
	fake_check("ifconfig -l inet", 0, "lo0 em0\n", "", NULL);
	fake_check("ifconfig -g epair", 0, "epair0a\n", "", NULL);
	assert_int_equal(fake_run("ifconfig -l -a")->fr_status, 1);
	assert_int_equal(fake_run("ifconfig -d -u")->fr_status, 1);
	assert_non_null(strstr(fake_run("ifconfig -l -m")->fr_err,
	    "usage: ifconfig"));
	fake_reply("if.cloners", "{\"drivers\":[{\"name\":\"epair\"},"
	    "{\"name\":\"tap\"}]}");
	fake_check("ifconfig -C", 0, "epair tap\n", "", NULL);
	assert_non_null(strstr(fake_run("ifconfig")->fr_out, em0_text));
	assert_string_equal(fake_run("ifconfig -a inet")->fr_out,
	    "lo0: flags=8049<UP,LOOPBACK,RUNNING,MULTICAST> metric 0 "
	    "mtu 16384\n\tinet 127.0.0.1 netmask 0xff000000\n"
	    "em0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> "
	    "metric 0 mtu 1500\n\tdescription: to the lab\n"
	    "\toptions=8<VLAN_MTU>\n\tinet 192.0.2.1 netmask 0xffffff00 "
	    "broadcast 192.0.2.255\n");
}

static void
test_json(void **state)
{
	fake_reply("if.list", IFS(EP0));
	fake_check("ifconfig --libxo json epair0a", 0,
	    "{\"ifconfig\":{\"interface\":[{\"name\":\"epair0a\",\"flags\":"
	    "[\"BROADCAST\",\"RUNNING\",\"SIMPLEX\",\"MULTICAST\"],"
	    "\"metric\":2,\"mtu\":1500,\"ether\":\"02:00:00:00:00:02\","
	    "\"inet\":[],\"groups\":\"epair\",\"driver\":\"epair\","
	    "\"spec\":\"\"}]}}\n", "", NULL);
	fake_check("ifconfig --libxo=json -l", 0,
	    "{\"ifconfig\":{\"interface\":[\"epair0a\"]}}\n", "", NULL);
}

static void
test_create(void **state)
{
	fake_reply("if.create", "{\"name\":\"epair0a\"}");
	fake_check("ifconfig epair create", 0, "epair0a\n", "",
	    "if.create {\"name\":\"epair\"}\n");
	fake_reply("if.create", "{\"name\":\"p0\"}");
	fake_check("ifconfig p0 create xdp:veth2,mode=generic up", 0, "", "",
	    "if.create {\"name\":\"p0\",\"spec\":\"xdp:veth2,mode=generic\"}\n"
	    "if.set {\"flags_set\":1,\"name\":\"p0\"}\n");
	fake_reply("if.cloners", "{\"drivers\":[{\"name\":\"epair\"}]}");
	fake_check("ifconfig p0 create epair", 0, "", "",
	    "if.cloners {}\n"
	    "if.create {\"name\":\"p0\",\"spec\":\"epair\"}\n");
	fake_fail("if.create", EEXIST, "name", "text");
	fake_check("ifconfig p0 create", 1, "",
	    "ifconfig: interface p0 already exists\n", NULL);
	fake_fail("if.create", ENOENT, "spec", "xdp: veth9 does not exist");
	fake_check("ifconfig p0 create xdp:veth9", 1, "",
	    "ifconfig: xdp: veth9 does not exist\n", NULL);
	fake_check("ifconfig a23456789012345b create", 1, "", "ifconfig: "
	    "interface name 'a23456789012345b': expected 1 to 15 characters\n",
	    "");
}

static void
test_flags(void **state)
{
	fake_check("ifconfig em0 -arp promisc up debug link0 mtu 9000 down", 0,
	    "", "", "if.list {\"name\":\"em0\"}\n"
	    "if.set {\"flags_set\":135301,\"name\":\"em0\"}\n"
	    "if.set {\"mtu\":9000,\"name\":\"em0\"}\n"
	    "if.set {\"flags_clear\":1,\"name\":\"em0\"}\n");
	fake_check("ifconfig em0 up down", 0, "", "",
	    "if.list {\"name\":\"em0\"}\n"
	    "if.set {\"flags_clear\":1,\"name\":\"em0\"}\n");
	fake_check("ifconfig em0 metric 3 description 'a b' -description "
	    "-rxcsum vlanmtu", 0, "", "", "if.list {\"name\":\"em0\"}\n"
	    "if.set {\"metric\":3,\"name\":\"em0\"}\n"
	    "if.set {\"description\":\"a b\",\"name\":\"em0\"}\n"
	    "if.set {\"description\":\"\",\"name\":\"em0\"}\n"
	    "if.set {\"cap_clear\":1,\"name\":\"em0\"}\n"
	    "if.set {\"cap_set\":8,\"name\":\"em0\"}\n");
	/* What it cannot do is passed over, as long as that is it. */
	fake_fail("if.set", EINVAL, "cap_clear", "cap_clear: text");
	fake_check("ifconfig em0 -tso4 up", 1, "",
	    "ifconfig: cap_clear: text\n",
	    "if.list {\"name\":\"em0\"}\n"
	    "if.set {\"cap_clear\":256,\"name\":\"em0\"}\n"
	    "if.set {\"flags_set\":1,\"name\":\"em0\"}\n");
	fake_check("ifconfig em0 -tso -vlanhwfilter", 0, "", "",
	    "if.list {\"name\":\"em0\"}\n"
	    "if.set {\"cap_clear\":256,\"name\":\"em0\"}\n"
	    "if.set {\"cap_clear\":512,\"name\":\"em0\"}\n"
	    "if.set {\"cap_clear\":65536,\"name\":\"em0\"}\n");
	fake_check("ifconfig em0 lro", 1, "", "ifconfig: cap_clear: text\n",
	    "if.list {\"name\":\"em0\"}\n"
	    "if.set {\"cap_set\":1024,\"name\":\"em0\"}\n");
	fake_reply("if.set", "{}");
	fake_check("ifconfig em0 lladdr 2-0-0-A:b:cc", 0, "", "",
	    "if.list {\"name\":\"em0\"}\n"
	    "if.set {\"ether\":\"02:00:00:0a:0b:cc\",\"name\":\"em0\"}\n");
	fake_check("ifconfig em0 name wan0 up", 0, "wan0\n", "",
	    "if.list {\"name\":\"em0\"}\n"
	    "if.set {\"name\":\"em0\",\"newname\":\"wan0\"}\n"
	    "if.set {\"flags_set\":1,\"name\":\"wan0\"}\n");
	fake_check("ifconfig em0 destroy", 0, "", "",
	    "if.list {\"name\":\"em0\"}\nif.destroy {\"name\":\"em0\"}\n");
}

static void
test_random_mac(void **state)
{
	const struct fake_run *fr = fake_run("ifconfig em0 ether random");
	const char *mac = strstr(fr->fr_calls, "\"ether\":\"");

	assert_int_equal(fr->fr_status, 0);
	assert_non_null(mac);
	/* A station's address of local administration. */
	assert_non_null(strchr("26ae", mac[10]));
}

static void
test_inet(void **state)
{
	fake_check("ifconfig em0 inet 192.0.2.1/24", 0, "", "",
	    "if.list {\"name\":\"em0\"}\nif.addr.add {\"addr\":\"192.0.2.1\","
	    "\"name\":\"em0\",\"plen\":24}\n");
	fake_check("ifconfig em0 192.0.2.1 netmask 0xffffffe0 broadcast "
	    "192.0.2.31 alias up", 0, "", "", "if.list {\"name\":\"em0\"}\n"
	    "if.set {\"flags_set\":1,\"name\":\"em0\"}\n"
	    "if.addr.add {\"addr\":\"192.0.2.1\",\"alias\":true,"
	    "\"broadcast\":\"192.0.2.31\",\"name\":\"em0\",\"plen\":27}\n");
	fake_check("ifconfig em0 inet 10.0.0.1 10.0.0.2 netmask "
	    "255.255.255.255", 0, "", "", "if.list {\"name\":\"em0\"}\n"
	    "if.addr.add {\"addr\":\"10.0.0.1\",\"dst\":\"10.0.0.2\","
	    "\"name\":\"em0\",\"plen\":32}\n");
	fake_check("ifconfig em0 inet 172.16.0.1", 0, "", "ifconfig: "
	    "172.16.0.1: no mask given, taking /16\n",
	    "if.list {\"name\":\"em0\"}\nif.addr.add {\"addr\":\"172.16.0.1\","
	    "\"name\":\"em0\",\"plen\":16}\n");
	fake_check("ifconfig em0 inet 192.0.2.1 -alias", 0, "", "",
	    "if.list {\"name\":\"em0\"}\n"
	    "if.addr.del {\"addr\":\"192.0.2.1\",\"name\":\"em0\"}\n");
	fake_check("ifconfig em0 delete", 0, "", "",
	    "if.list {\"name\":\"em0\"}\nif.addr.del {\"name\":\"em0\"}\n");
}

static void
test_refusals(void **state)
{
	fake_check("ifconfig em0 mtu big", 1, "",
	    "ifconfig: big: bad value\n", "if.list {\"name\":\"em0\"}\n");
	fake_check("ifconfig em0 blah", 1, "",
	    "ifconfig: blah: bad value\n", NULL);
	fake_check("ifconfig em0 192.0.2.1/33", 1, "",
	    "ifconfig: 192.0.2.1/33: bad value\n", NULL);
	fake_check("ifconfig em0 inet 192.0.2.1 netmask 255.0.255.0", 1, "",
	    "ifconfig: 255.0.255.0: bad value\n", NULL);
	fake_check("ifconfig em0 ether 02:00:00:00:00", 1, "",
	    "ifconfig: 02:00:00:00:00: bad value\n", NULL);
	fake_check("ifconfig em0 mtu", 1, "",
	    "ifconfig: 'mtu' requires argument\n", NULL);
	fake_check("ifconfig em0 vlan 5", 1, "",
	    "ifconfig: vlan: not supported\n", NULL);
	/* The first that fails ends the run, what came before is done. */
	fake_fail("if.set", EINVAL, "mtu", "mtu: expected 72..9000, got 1");
	fake_check("ifconfig em0 mtu 1 up", 1, "", "ifconfig: ioctl "
	    "SIOCSIFMTU (set mtu): Invalid argument (mtu: expected 72..9000, "
	    "got 1)\n", "if.list {\"name\":\"em0\"}\n"
	    "if.set {\"mtu\":1,\"name\":\"em0\"}\n");
	fake_fail("if.destroy", EINVAL, "name", "");
	fake_check("ifconfig lo0 destroy", 1, "",
	    "ifconfig: SIOCIFDESTROY: Invalid argument\n", NULL);
	/* What JSON cannot hold must not turn into another request. */
	fake_check("ifconfig \xff\xfe", 65, "",
	    "ifconfig: argument 1 is not UTF-8 text\n", "");
	fake_fail("if.list", ENXIO, "name", "interface nope does not exist");
	fake_check("ifconfig nope", 1, "",
	    "ifconfig: interface nope does not exist\n", NULL);
	fake_check("ifconfig nope up", 1, "",
	    "ifconfig: interface nope does not exist\n",
	    "if.list {\"name\":\"nope\"}\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_block, setup),
		cmocka_unit_test_setup(test_lists, setup),
		cmocka_unit_test_setup(test_json, setup),
		cmocka_unit_test_setup(test_create, setup),
		cmocka_unit_test_setup(test_flags, setup),
		cmocka_unit_test_setup(test_random_mac, setup),
		cmocka_unit_test_setup(test_inet, setup),
		cmocka_unit_test_setup(test_refusals, setup),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
