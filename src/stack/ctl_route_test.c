/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The route.* and arp.* commands against a machine in memory: each as it is
 * meant, and each misuse with the member that it names.
 */
#include "stack/ctl_test.h"

/* ---- routes ---- */

static int
net_setup(void **state)
{

	(void)pair_setup(state);
	DO("if.addr.add", "{sssssi}", "name", "epair0a", "addr", "192.0.2.1",
	    "plen", 24);
	return (0);
}

static void
test_route_add(void **state)
{
	json_t *r;

	DO("route.add", "{sssiss}", "dst", "10.0.0.0", "plen", 8, "gateway",
	    "192.0.2.9");
	r = ok("route.get", "{ss}", "addr", "10.1.2.3");
	assert_string_equal(str(r, "dst"), "10.0.0.0");
	assert_int_equal(num(r, "plen"), 8);
	assert_string_equal(str(r, "gateway"), "192.0.2.9");
	assert_string_equal(str(r, "interface"), "epair0a");
	assert_int_equal(num(r, "flags"), 0x1 | 0x2 | 0x800);
	assert_int_equal(num(r, "mtu"), 1500);
	assert_true(num(r, "nhop") > 0);
	assert_int_equal(num(r, "packets"), 0);
	assert_int_equal(num(r, "bytes"), 0);
	json_decref(r);
	DO("route.change", "{sssisssisbsi}", "dst", "10.0.0.0", "plen", 8,
	    "gateway", "192.0.2.10", "mtu", 1000, "static", 0, "proto", 1);
	r = ok("route.get", "{sssi}", "addr", "10.0.0.0", "plen", 8);
	assert_string_equal(str(r, "gateway"), "192.0.2.10");
	assert_int_equal(num(r, "flags"), 0x1 | 0x2 | 0x8000);
	assert_int_equal(num(r, "mtu"), 1000);
	json_decref(r);
	r = ok("route.del", "{sssi}", "dst", "10.0.0.0", "plen", 8);
	assert_string_equal(str(r, "gateway"), "192.0.2.10");
	json_decref(r);
	assert_false(has_route("10.0.0.0", 8));

	/* To an interface, and to nowhere. */
	DO("route.add", "{sssiss}", "dst", "203.0.113.5", "plen", 32,
	    "interface", "epair0b");
	r = ok("route.del", "{sssi}", "dst", "203.0.113.5", "plen", 32);
	assert_int_equal(json_object_size(r), 0);
	json_decref(r);
	DO("route.add", "{sssisb}", "dst", "10.0.0.0", "plen", 8,
	    "blackhole", 1);
	r = ok("route.get", "{ss}", "addr", "10.9.9.9");
	assert_true((num(r, "flags") & 0x1000) != 0);
	json_decref(r);
	DO("route.change", "{sssisb}", "dst", "10.0.0.0", "plen", 8,
	    "reject", 1);
	DO("route.del", "{sssi}", "dst", "10.0.0.0", "plen", 8);
}

static void
test_route_connected(void **state)
{
	char link[32];
	json_t *r;

	(void)snprintf(link, sizeof(link), "link#%d",
	    (int)ifnum("epair0a", "index"));
	r = ok("route.get", "{ss}", "addr", "192.0.2.77");
	assert_string_equal(str(r, "gateway"), link);
	assert_string_equal(str(r, "interface"), "epair0a");
	json_decref(r);
	/* Our own address: a host route through lo0, on its link. */
	r = ok("route.get", "{ss}", "addr", "192.0.2.1");
	assert_int_equal(num(r, "plen"), 32);
	assert_string_equal(str(r, "gateway"), link);
	assert_string_equal(str(r, "interface"), "lo0");
	assert_int_equal(num(r, "flags") & (0x1 | 0x4 | 0x800),
	    0x1 | 0x4 | 0x800);
	json_decref(r);
}

static void
test_route_misuse(void **state)
{

	DO("route.add", "{sssiss}", "dst", "10.0.0.0", "plen", 8, "gateway",
	    "192.0.2.9");
	bad(EEXIST, "dst", "10.0.0.0/8: route already in table", "route.add",
	    "{sssiss}", "dst", "10.0.0.0", "plen", 8, "gateway",
	    "192.0.2.9");
	bad(ENETUNREACH, "gateway", "203.0.113.1 is on no connected network",
	    "route.add", "{sssiss}", "dst", "11.0.0.0", "plen", 8, "gateway",
	    "203.0.113.1");
	bad(EINVAL, "dst", "expected 10.0.0.0 for a length of 8, got 10.0.0.1",
	    "route.add", "{sssiss}", "dst", "10.0.0.1", "plen", 8, "gateway",
	    "192.0.2.9");
	bad(EINVAL, "gateway", "expected it, or interface, blackhole or",
	    "route.add", "{sssi}", "dst", "11.0.0.0", "plen", 8);
	bad(EINVAL, "reject", "not together", "route.add", "{sssisbsb}",
	    "dst", "11.0.0.0", "plen", 8, "blackhole", 1, "reject", 1);
	bad(ENXIO, "interface", "interface ixl9 does not exist", "route.add",
	    "{sssiss}", "dst", "11.0.0.0", "plen", 8, "interface", "ixl9");
	bad(EINVAL, "plen", "expected 0..32, got 33", "route.add",
	    "{sssiss}", "dst", "11.0.0.0", "plen", 33, "gateway",
	    "192.0.2.9");
	bad(EINVAL, "plen", "got nothing", "route.add", "{ssss}", "dst",
	    "11.0.0.0", "gateway", "192.0.2.9");
	bad(EINVAL, "dst", "expected an IPv4 address", "route.add", "{sssi}",
	    "dst", "default", "plen", 0);
	bad(EINVAL, "mtu", "expected 68..65535", "route.add", "{sssisssi}",
	    "dst", "11.0.0.0", "plen", 8, "gateway", "192.0.2.9", "mtu", 67);
	bad(EINVAL, "proto", "expected 0..3", "route.add", "{sssisssi}",
	    "dst", "11.0.0.0", "plen", 8, "gateway", "192.0.2.9", "proto", 4);
	bad(EINVAL, "gw", "unknown argument", "route.add", "{sssissss}",
	    "dst", "11.0.0.0", "plen", 8, "gateway", "192.0.2.9", "gw", "x");
	bad(ESRCH, "dst", "11.0.0.0/8: not in table", "route.change",
	    "{sssiss}", "dst", "11.0.0.0", "plen", 8, "gateway",
	    "192.0.2.9");
	bad(EPERM, "dst", "192.0.2.0/24: the route is an interface's own",
	    "route.change", "{sssiss}", "dst", "192.0.2.0", "plen", 24,
	    "gateway", "192.0.2.9");
	bad(ESRCH, "dst", "not in table", "route.del", "{sssi}", "dst",
	    "11.0.0.0", "plen", 8);
	bad(EPERM, "dst", "an interface's own", "route.del", "{sssi}", "dst",
	    "192.0.2.0", "plen", 24);
	bad(ESRCH, "addr", "not in table", "route.get", "{ss}", "addr",
	    "11.0.0.1");
	bad(ESRCH, "addr", "not in table", "route.get", "{sssi}", "addr",
	    "10.0.0.0", "plen", 9);
	bad(EINVAL, "addr", "expected an IPv4 address", "route.get", "{ss}",
	    "addr", "::1");
	assert_false(has_route("11.0.0.0", 8));
	DO("route.del", "{sssi}", "dst", "10.0.0.0", "plen", 8);
}

/* Pages of every size join to the same list. */
static void
test_route_pages(void **state)
{
	const char *from = NULL;
	json_t *all, *list, *next, *r;
	char dst[32];
	int i, limit;

	for (i = 0; i < 50; i++) {
		(void)snprintf(dst, sizeof(dst), "10.%d.0.0", i);
		DO("route.add", "{sssiss}", "dst", dst, "plen", 16,
		    "gateway", "192.0.2.9");
		DO("route.add", "{sssiss}", "dst", dst, "plen", 17,
		    "gateway", "192.0.2.9");
	}
	all = ok("route.list", "{}");
	assert_null(json_object_get(all, "next"));
	list = json_object_get(all, "routes");
	assert_true(json_array_size(list) > 100);
	for (limit = 1; limit < 120; limit += 7) {
		json_t *joined = json_array();

		from = "0.0.0.0/0";
		r = NULL;
		do {
			next = ok("route.list", "{sssi}", "from", from,
			    "limit", limit);
			json_decref(r);
			r = next;
			assert_true(json_array_size(json_object_get(r,
			    "routes")) <= (size_t)limit);
			json_array_extend(joined, json_object_get(r,
			    "routes"));
			from = json_string_value(json_object_get(r, "next"));
		} while (from != NULL);
		json_decref(r);
		assert_true(json_equal(joined, list));
		json_decref(joined);
	}
	json_decref(all);

	bad(EINVAL, "from", "expected a prefix", "route.list", "{ss}", "from",
	    "10.0.0.0");
	bad(EINVAL, "from", "expected a prefix", "route.list", "{ss}", "from",
	    "10.0.0.0/33");
	bad(EINVAL, "from", "expected a prefix", "route.list", "{ss}", "from",
	    "10.0.0.0/-1");
	bad(EINVAL, "from", "expected a prefix", "route.list", "{ss}", "from",
	    "10.0.0/8");
	bad(EINVAL, "from", "expected a prefix", "route.list", "{ss}", "from",
	    "255.255.255.2555/8");
	bad(EINVAL, "limit", "expected 1..10000", "route.list", "{si}",
	    "limit", 0);

	r = ok("route.flush", "{}");
	assert_int_equal(num(r, "count"), 100);
	assert_int_equal(json_array_size(json_object_get(r, "routes")), 100);
	json_decref(r);
	assert_true(has_route("192.0.2.0", 24));
	r = ok("route.flush", "{}");
	assert_int_equal(num(r, "count"), 0);
	json_decref(r);
}

/* ---- neighbours ---- */

/* The only entry for an address, or NULL; the caller's. */
static json_t *
arp_entry(const char *addr)
{
	json_t *e, *r;

	r = ok("arp.list", "{ss}", "addr", addr);
	assert_true(json_array_size(json_object_get(r, "entries")) <= 1);
	e = json_incref(json_array_get(json_object_get(r, "entries"), 0));
	json_decref(r);
	return (e);
}

static void
test_arp(void **state)
{
	json_t *e, *r;

	r = ok("arp.set", "{ssss}", "addr", "192.0.2.9", "ether",
	    "90:10:00:01:02:03");
	assert_string_equal(str(r, "interface"), "epair0a");
	json_decref(r);
	e = arp_entry("192.0.2.9");
	assert_string_equal(str(e, "ether"), "90:10:00:01:02:03");
	assert_string_equal(str(e, "interface"), "epair0a");
	assert_string_equal(str(e, "type"), "ethernet");
	assert_true(json_is_true(json_object_get(e, "permanent")));
	assert_true(json_is_false(json_object_get(e, "published")));
	json_decref(e);

	DO("arp.set", "{sssssbss}", "addr", "192.0.2.10", "ether",
	    "90:10:00:01:02:04", "temp", 1, "interface", "epair0a");
	e = arp_entry("192.0.2.10");
	assert_true(json_is_false(json_object_get(e, "permanent")));
	assert_in_range(num(e, "expire_s"), 1100, 1200);
	json_decref(e);
	DO("arp.set", "{sssssb}", "addr", "192.0.2.11", "ether",
	    "90:10:00:01:02:05", "pub", 1);
	e = arp_entry("192.0.2.11");
	assert_true(json_is_true(json_object_get(e, "published")));
	json_decref(e);

	r = ok("arp.del", "{ss}", "addr", "192.0.2.9");
	assert_string_equal(json_string_value(json_array_get(json_object_get(
	    r, "deleted"), 0)), "192.0.2.9");
	json_decref(r);
	assert_null(arp_entry("192.0.2.9"));
	r = ok("arp.del", "{sbss}", "all", 1, "interface", "epair0b");
	assert_int_equal(json_array_size(json_object_get(r, "deleted")), 0);
	json_decref(r);
	r = ok("arp.del", "{sb}", "all", 1);
	assert_int_equal(json_array_size(json_object_get(r, "deleted")), 2);
	json_decref(r);
	assert_null(arp_entry("192.0.2.10"));
	assert_null(arp_entry("192.0.2.11"));
}

static void
test_arp_misuse(void **state)
{

	bad(EINVAL, "addr", "expected an IPv4 address", "arp.set", "{ssss}",
	    "addr", "host", "ether", "90:10:00:01:02:03");
	bad(EINVAL, "ether", "expected a MAC", "arp.set", "{ssss}", "addr",
	    "192.0.2.9", "ether", "x");
	bad(EINVAL, "ether", "expected a station's MAC", "arp.set", "{ssss}",
	    "addr", "192.0.2.9", "ether", "ff:ff:ff:ff:ff:ff");
	bad(EINVAL, "ether", "got nothing", "arp.set", "{ss}", "addr",
	    "192.0.2.9");
	bad(ENETUNREACH, "addr", "203.0.113.1 is on no connected network",
	    "arp.set", "{ssss}", "addr", "203.0.113.1", "ether",
	    "90:10:00:01:02:03");
	bad(EEXIST, "addr", "192.0.2.1 is an address of this machine",
	    "arp.set", "{ssss}", "addr", "192.0.2.1", "ether",
	    "90:10:00:01:02:03");
	bad(ENXIO, "interface", "interface ixl9 does not exist", "arp.set",
	    "{ssssss}", "addr", "192.0.2.9", "ether", "90:10:00:01:02:03",
	    "interface", "ixl9");
	bad(EINVAL, "interface", "lo0 is no Ethernet interface", "arp.set",
	    "{ssssss}", "addr", "192.0.2.9", "ether", "90:10:00:01:02:03",
	    "interface", "lo0");
	bad(EINVAL, "reject", "not together", "arp.set", "{sssssbsb}", "addr",
	    "192.0.2.9", "ether", "90:10:00:01:02:03", "blackhole", 1,
	    "reject", 1);
	bad(EINVAL, "mac", "unknown argument", "arp.set", "{ssssss}", "addr",
	    "192.0.2.9", "ether", "90:10:00:01:02:03", "mac", "x");

	bad(ENOENT, "addr", "cannot locate 192.0.2.9", "arp.del", "{ss}",
	    "addr", "192.0.2.9");
	bad(EPERM, "addr", "192.0.2.1 is an address of this machine",
	    "arp.del", "{ss}", "addr", "192.0.2.1");
	bad(EINVAL, "addr", "expected either it or all", "arp.del", "{}");
	bad(EINVAL, "addr", "expected either it or all", "arp.del", "{sssb}",
	    "addr", "192.0.2.9", "all", 1);
	bad(ENXIO, "interface", "does not exist", "arp.del", "{sbss}", "all",
	    1, "interface", "ixl9");
	bad(ENXIO, "interface", "does not exist", "arp.list", "{ss}",
	    "interface", "ixl9");
	bad(EINVAL, "addr", "expected a string", "arp.list", "{si}",
	    "addr", 5);
}

int
main(void)
{
#define	NET(fn)								\
	cmocka_unit_test_setup_teardown(fn, net_setup, pair_teardown)
	const struct CMUnitTest tests[] = {
		NET(test_route_add),
		NET(test_route_connected),
		NET(test_route_misuse),
		NET(test_route_pages),
		NET(test_arp),
		NET(test_arp_misuse),
	};
#undef NET

	return (cmocka_run_group_tests(tests, group_setup, group_teardown));
}
