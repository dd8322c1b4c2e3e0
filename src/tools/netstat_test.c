/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* netstat: the widths, orders and plurals that scripts match. */

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

#define	COUNTERS "{\"ipackets\":1000,\"ibytes\":60000,\"ierrors\":1,"	\
	"\"idrops\":2,\"opackets\":900,\"obytes\":54000,\"oerrors\":3,"	\
	"\"odrops\":4,\"collisions\":0}"
#define	EM0	"{\"name\":\"em0\",\"index\":3,\"flags\":34883," \
	"\"mtu\":1500,\"ether\":\"02:00:00:00:00:01\",\"addrs\":["	\
	"{\"family\":\"inet\",\"addr\":\"192.0.2.1\",\"plen\":24}],"	\
	"\"counters\":" COUNTERS "}"
#define	EP0	"{\"name\":\"epair0a\",\"index\":4,\"flags\":34882,"	\
	"\"mtu\":1500,\"ether\":\"02:00:00:00:00:02\",\"addrs\":[],"	\
	"\"counters\":{}}"
#define	LO0	"{\"name\":\"lo0\",\"index\":1,\"flags\":32841," \
	"\"mtu\":16384,\"ether\":\"\",\"addrs\":[],\"counters\":{}}"
#define	IFS(x)	"{\"interfaces\":[" x "]}"

static void
test_ifaces(void **state)
{
	fake_reply("if.list", IFS(EM0));
	fake_check("netstat -in", 0,
	    "Name     Mtu Network       Address              Ipkts Ierrs Idrop"
	    "    Opkts Oerrs  Coll\n"
	    "em0     1500 <Link#3>      02:00:00:00:00:01     1000     1     2"
	    "      900     3     0\n"
	    "em0        - 192.0.2.0/24  192.0.2.1                -     -     -"
	    "        -     -     -\n", "", "if.list {}\n");
	fake_check("netstat -f link -I em0 -bd", 0,
	    "Name     Mtu Network       Address              Ipkts Ierrs Idrop"
	    "     Ibytes    Opkts Oerrs     Obytes  Coll  Drop\n"
	    "em0     1500 <Link#3>      02:00:00:00:00:01     1000     1     2"
	    "      60000      900     3      54000     0     4\n", "", NULL);
	fake_reply("if.list", IFS(LO0 "," EP0));
	fake_check("netstat -ih", 0,
	    "Name        Mtu Network       Address              Ipkts Ierrs "
	    "Idrop    Opkts Oerrs  Coll\n"
	    "lo0       16384 <Link#1>      lo0                      0     0 "
	    "    0        0     0     0\n"
	    "epair0a*   1500 <Link#4>      02:00:00:00:00:02        0     0 "
	    "    0        0     0     0\n", "", NULL);
}

/* Tests of FreeBSD take field 8 of the link row for the packets sent. */
static void
test_ifaces_wide(void **state)
{
	char line[256], *field, *rest;
	const char *row;
	int i;

	fake_reply("if.list", IFS(EM0));
	row = strchr(fake_run("netstat -Wf link -I em0")->fr_out, '\n');
	assert_non_null(row);
	(void)strncpy(line, row + 1, sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	field = strtok_r(line, " ", &rest);
	for (i = 1; i < 8; i++)
		field = strtok_r(NULL, " ", &rest);
	assert_string_equal(field, "900");
}

static void
test_ifaces_json(void **state)
{
	fake_reply("if.list", IFS(EM0));
	fake_check("netstat --libxo json -I em0 -f link", 0,
	    "{\"statistics\":{\"interface\":[{\"name\":\"em0\",\"mtu\":1500,"
	    "\"network\":\"<Link#3>\",\"address\":\"02:00:00:00:00:01\","
	    "\"received-packets\":1000,\"received-errors\":1,"
	    "\"dropped-packets\":2,\"received-bytes\":60000,"
	    "\"sent-packets\":900,\"send-errors\":3,\"sent-bytes\":54000,"
	    "\"collisions\":0,\"output-drops\":4}]}}\n", "", NULL);
}

static void
test_watch(void **state)
{
	fake_reply("if.list", IFS(EM0));
	fake_check("netstat -w 1 -q 1 -I em0", 0,
	    "            input           em0            output\n"
	    "   packets  errs idrops      bytes    packets  errs      bytes "
	    "colls\n"
	    "         0     0     0          0          0     0          0 "
	    "    0\n", "", NULL);
	assert_int_equal(fake_run("netstat -w 0")->fr_status, 64);
	assert_int_equal(fake_run("netstat -w 1 -q x")->fr_status, 64);
	fake_fail("if.list", ENXIO, "name", "no");
	fake_check("netstat -w 1 -I nope", 65, "",
	    "netstat: unknown interface nope\n", NULL);
}

#define	ROUTES	"{\"routes\":["						\
	"{\"dst\":\"0.0.0.0\",\"plen\":0,\"gateway\":\"192.0.2.254\","	\
	"\"interface\":\"em0\",\"flags\":2051,\"nhop\":3,\"mtu\":1500}," \
	"{\"dst\":\"192.0.2.0\",\"plen\":24,\"gateway\":\"link#3\","	\
	"\"interface\":\"em0\",\"flags\":1,\"nhop\":1,\"mtu\":1500},"	\
	"{\"dst\":\"192.0.2.1\",\"plen\":32,\"gateway\":\"link#3\","	\
	"\"interface\":\"lo0\",\"flags\":2053,\"nhop\":2,\"mtu\":16384}]}"

static void
test_routes(void **state)
{
	fake_reply("route.list", ROUTES);
	fake_check("netstat -rn", 0,
	    "Routing tables\n\nInternet:\n"
	    "Destination        Gateway            Flags     Netif Expire\n"
	    "default            192.0.2.254        UGS         em0\n"
	    "192.0.2.0/24       link#3             U           em0\n"
	    "192.0.2.1          link#3             UHS         lo0\n", "",
	    "route.list {}\n");
	fake_check("netstat -rnW -f inet -F 0", 0,
	    "Routing tables\n\nInternet:\n"
	    "Destination        Gateway            Flags   Nhop#    Mtu"
	    "      Netif Expire\n"
	    "default            192.0.2.254        UGS         3   1500"
	    "        em0\n"
	    "192.0.2.0/24       link#3             U           1   1500"
	    "        em0\n"
	    "192.0.2.1          link#3             UHS         2  16384"
	    "        lo0\n", "", NULL);
	fake_check("netstat -rn -F 7", 64, "", "netstat: 7: invalid fib\n",
	    "");
}

/* A table that does not fit one reply comes in pages. */
static void
test_route_pages(void **state)
{
	const struct fake_run *fr;

	fake_reply("route.list", "{\"next\":\"192.0.2.0/24\",\"routes\":["
	    "{\"dst\":\"10.0.0.0\",\"plen\":8,\"gateway\":\"link#3\","
	    "\"interface\":\"em0\",\"flags\":1}]}");
	fake_then("route.list", ROUTES);
	fr = fake_run("netstat -rn");
	assert_string_equal(fr->fr_out,
	    "Routing tables\n\nInternet:\n"
	    "Destination        Gateway            Flags     Netif Expire\n"
	    "10.0.0.0/8         link#3             U           em0\n"
	    "default            192.0.2.254        UGS         em0\n"
	    "192.0.2.0/24       link#3             U           em0\n"
	    "192.0.2.1          link#3             UHS         lo0\n");
	assert_string_equal(fr->fr_calls, "route.list {}\n"
	    "route.list {\"from\":\"192.0.2.0/24\"}\n");
}

static void
test_route_flags(void **state)
{
	fake_reply("route.list", "{\"routes\":[{\"dst\":\"10.0.0.0\","
	    "\"plen\":8,\"gateway\":\"\",\"interface\":\"lo0\","
	    "\"flags\":127}]}");
	assert_non_null(strstr(fake_run("netstat -rn")->fr_out,
	    "UGHRDMd"));
	fake_reply("route.list", "{\"routes\":[{\"dst\":\"10.0.0.0\","
	    "\"plen\":8,\"gateway\":\"\",\"interface\":\"lo0\","
	    "\"flags\":4511745}]}");
	assert_non_null(strstr(fake_run("netstat -rn")->fr_out, "US123Bb"));
}

#define	STATS	"{\"protocols\":{\"ip\":["				\
	"{\"name\":\"forward\",\"value\":1,\"text\":\"packets forwarded\"}," \
	"{\"name\":\"other\",\"value\":4,\"text\":\"packets eaten\"},"	\
	"{\"name\":\"total\",\"value\":7,"				\
	"\"text\":\"total packets received\"},"				\
	"{\"name\":\"fast\",\"value\":1,"				\
	"\"text\":\"packets fast forwarded\"},"				\
	"{\"name\":\"badsum\",\"value\":1,"				\
	"\"text\":\"bad header checksums\"},"				\
	"{\"name\":\"opts\",\"value\":0,\"text\":\"with bad options\"}]," \
	"\"arp\":[{\"name\":\"timeouts\",\"value\":1,"			\
	"\"text\":\"ARP entrys timed out\"},{\"name\":\"rx\",\"value\":1," \
	"\"text\":\"ARP replies received\"}]}}"

static void
test_stats(void **state)
{
	fake_reply("stats.get", STATS);
	fake_check("netstat -s", 0,
	    "ip:\n\t7 total packets received\n\t1 bad header checksum\n"
	    "\t0 with bad options\n"
	    "\t1 packet forwarded (1 packet fast forwarded)\n"
	    "\t4 packets eaten\n"
	    "arp:\n\t1 ARP reply received\n\t1 ARP entry timed out\n"
	    "drop:\n", "", "stats.get {}\ndrops.list {}\n");
	assert_null(strstr(fake_run("netstat -s -s")->fr_out, "options"));
	fake_check("netstat -sz -p ip", 0, fake_run("netstat -s -p ip")->fr_out,
	    "", NULL);
	assert_string_equal(fake_run("netstat -sz -p ip")->fr_calls,
	    "stats.get {\"proto\":\"ip\"}\nstats.zero {\"proto\":\"ip\"}\n");
	fake_check("netstat -sz -p drop", 64, "", "netstat: -z: drops are "
	    "cleared with their protocols\n", "");
	fake_fail("stats.get", EPROTONOSUPPORT, "proto", "no such protocol");
	fake_check("netstat -p ipx", 1, "", "netstat: ipx: unknown or "
	    "uninstrumented protocol\n", NULL);
}

static void
test_drops(void **state)
{
	fake_reply("drops.list", "{\"drops\":[{\"interface\":\"em0\","
	    "\"name\":\"ip-ttl\",\"text\":\"whose time to live ran out\","
	    "\"count\":3},{\"interface\":\"em1\",\"name\":\"ip-ttl\","
	    "\"text\":\"whose time to live ran out\",\"count\":4},"
	    "{\"interface\":\"em1\",\"name\":\"runt\","
	    "\"text\":\"shorter than their header\",\"count\":1}]}");
	fake_check("netstat -s -p drop", 0,
	    "drop:\n\t7 whose time to live ran out (ip-ttl)\n"
	    "\t1 shorter than their header (runt)\n", "", "drops.list {}\n");
	fake_check("netstat --libxo json -s -p drop -I em1", 0,
	    "{\"statistics\":{\"drop\":[{\"interface\":\"em0\","
	    "\"name\":\"ip-ttl\",\"text\":\"whose time to live ran out\","
	    "\"count\":3},{\"interface\":\"em1\",\"name\":\"ip-ttl\","
	    "\"text\":\"whose time to live ran out\",\"count\":4},"
	    "{\"interface\":\"em1\",\"name\":\"runt\","
	    "\"text\":\"shorter than their header\",\"count\":1}]}}\n", "",
	    "if.list {\"name\":\"em1\"}\n"
	    "drops.list {\"interface\":\"em1\"}\n");
}

static void
test_graph(void **state)
{
	fake_reply("graph.sockets", "{\"sockets\":[{\"id\":31,\"name\":"
	    "\"test hub\",\"hooks\":2,\"data\":false,\"recvq\":0,"
	    "\"sendq\":56},{\"id\":31,\"name\":\"\",\"hooks\":12,"
	    "\"data\":true,\"recvq\":768,\"sendq\":0}]}");
	fake_check("netstat -f netgraph", 0,
	    "Netgraph sockets\n"
	    "Type  Recv-Q Send-Q Node Address         #Hooks\n"
	    "ctrl       0     56 [1f]:test hub            2\n"
	    "data     768      0 [1f]:                   12\n", "",
	    "graph.sockets {}\n");
	fake_check("netstat --libxo json -f netgraph", 0,
	    "{\"statistics\":{\"socket\":[{\"type\":\"ctrl\","
	    "\"receive-bytes-waiting\":0,\"send-bytes-waiting\":56,"
	    "\"address\":\"[1f]:test hub\",\"hooks\":2},"
	    "{\"type\":\"data\",\"receive-bytes-waiting\":768,"
	    "\"send-bytes-waiting\":0,\"address\":\"[1f]:\","
	    "\"hooks\":12}]}}\n", "", NULL);
	fake_reply("graph.sockets", "{\"sockets\":[]}");
	fake_check("netstat -f netgraph", 0, "", "", NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_ifaces, setup),
		cmocka_unit_test_setup(test_ifaces_wide, setup),
		cmocka_unit_test_setup(test_ifaces_json, setup),
		cmocka_unit_test_setup(test_watch, setup),
		cmocka_unit_test_setup(test_routes, setup),
		cmocka_unit_test_setup(test_route_flags, setup),
		cmocka_unit_test_setup(test_route_pages, setup),
		cmocka_unit_test_setup(test_stats, setup),
		cmocka_unit_test_setup(test_drops, setup),
		cmocka_unit_test_setup(test_graph, setup),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
