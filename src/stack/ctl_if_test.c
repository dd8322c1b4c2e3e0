/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The if.* commands against a machine in memory: each as it is meant, and each
 * misuse with the member that it names.  Where a driver has to refuse
 * something, an epair's method is replaced by one that does.
 */
#include "stack/ctl_test.h"

/* ---- interfaces ---- */

static void
test_if_list(void **state)
{
	json_t *lo, *r;

	r = ok("if.list", "{}");
	assert_int_equal(json_array_size(json_object_get(r, "interfaces")),
	    1);
	json_decref(r);
	lo = ifobj("lo0");
	assert_string_equal(str(lo, "type"), "loop");
	assert_string_equal(str(lo, "ether"), "");
	assert_true((num(lo, "flags") & IFF_UP) != 0);
	assert_true((num(lo, "flags") & IFF_LOOPBACK) != 0);
	assert_true(json_is_false(json_object_get(lo, "gone")));
	assert_int_equal(num(json_object_get(lo, "counters"), "ipackets"), 0);
	assert_int_equal(json_object_size(json_object_get(lo, "drops")), 0);
	json_decref(lo);
	expect_addrs("lo0", "127.0.0.1/8");

	bad(ENXIO, "name", "interface ixl9 does not exist", "if.list",
	    "{ss}", "name", "ixl9");
	bad(EINVAL, "name", "expected 1 to 15 of", "if.list", "{ss}", "name",
	    "");
	bad(EINVAL, "name", "expected a string", "if.list", "{si}", "name",
	    1);
	bad(EINVAL, "nam", "unknown argument", "if.list", "{ss}", "nam",
	    "lo0");
}

static void
test_if_create(void **state)
{
	json_t *r;

	r = ok("if.create", "{ss}", "name", "epair");
	assert_string_equal(str(r, "name"), "epair0a");
	json_decref(r);
	expect_ifstr("epair0a", "driver", "epair");
	expect_ifstr("epair0a", "type", "ether");
	expect_ifstr("epair0b", "status", "active");
	r = ok("if.create", "{ss}", "name", "epair");
	assert_string_equal(str(r, "name"), "epair1a");
	json_decref(r);

	bad(EEXIST, "name", "interface epair0a already exists", "if.create",
	    "{ss}", "name", "epair0a");
	bad(EEXIST, "name", "interface lo0 already exists", "if.create",
	    "{ssss}", "name", "lo0", "spec", "epair");
	bad(EINVAL, "spec", "no driver 'nope'; there are:", "if.create",
	    "{ssss}", "name", "x0", "spec", "nope:veth0");
	bad(EINVAL, "name", "no driver 'nope'", "if.create", "{ss}", "name",
	    "nope0");
	bad(EINVAL, "spec", "no device", "if.create", "{ssss}", "name", "x0",
	    "spec", "epair:");
	bad(EINVAL, "spec", "has no option 'colour'", "if.create", "{ssss}",
	    "name", "epair7", "spec", "epair,colour=red");
	bad(EINVAL, "name", "expected 1 to 15", "if.create", "{ss}", "name",
	    "a-name-too-long-");
	bad(EINVAL, "name", "expected 1 to 15", "if.create", "{ss}", "name",
	    "a/b");
	bad(EINVAL, "name", "expected a string", "if.create", "{}");
	bad(EINVAL, "spec", "expected a string", "if.create", "{sssb}",
	    "name", "epair", "spec", 1);
	bad(EINVAL, "y", "unknown argument", "if.create", "{sssi}", "name",
	    "epair", "y", 1);

	/* Both ends go as one, whichever is named. */
	DO("if.destroy", "{ss}", "name", "epair0b");
	DO("if.destroy", "{ss}", "name", "epair1a");
	bad(ENXIO, "name", "interface epair0a does not exist", "if.destroy",
	    "{ss}", "name", "epair0a");
	bad(ENXIO, "name", "interface epair1b does not exist", "if.destroy",
	    "{ss}", "name", "epair1b");
	bad(EINVAL, "name", "lo0", "if.destroy", "{ss}", "name", "lo0");
	bad(EINVAL, "name", "expected a string", "if.destroy", "{}");
}

static void
test_if_cloners(void **state)
{
	json_t *drv, *r;
	bool found = false;
	size_t i;

	r = ok("if.cloners", "{}");
	json_array_foreach(json_object_get(r, "drivers"), i, drv) {
		assert_true(strlen(str(drv, "descr")) > 0);
		if (strcmp(str(drv, "name"), "epair") == 0) {
			found = true;
			assert_true(json_is_false(json_object_get(drv,
			    "device")));
		}
	}
	assert_true(found);
	json_decref(r);
}

static void
test_if_set(void **state)
{
	json_t *r;

	r = ok("if.set", "{sssisisssssi}", "name", "epair0a", "flags_set",
	    IFF_UP | IFF_PPROMISC, "mtu", 1400, "ether", "02:00:00:00:00:0A",
	    "description", "to the sink", "metric", 7);
	assert_string_equal(str(r, "name"), "epair0a");
	json_decref(r);
	assert_int_equal(ifnum("epair0a", "mtu"), 1400);
	assert_int_equal(ifnum("epair0a", "metric"), 7);
	expect_ifstr("epair0a", "ether", "02:00:00:00:00:0a");
	expect_ifstr("epair0a", "description", "to the sink");
	assert_int_equal(ifnum("epair0a", "flags") & (IFF_UP | IFF_PPROMISC |
	    IFF_PROMISC), IFF_UP | IFF_PPROMISC | IFF_PROMISC);

	DO("if.set", "{sssi}", "name", "epair0a", "flags_clear", IFF_PPROMISC);
	assert_int_equal(ifnum("epair0a", "flags") & (IFF_UP | IFF_PPROMISC |
	    IFF_PROMISC), IFF_UP);
	r = ok("if.set", "{ssss}", "name", "epair0a", "newname", "p1");
	assert_string_equal(str(r, "name"), "p1");
	json_decref(r);
	bad(ENXIO, "name", "interface epair0a does not exist", "if.set",
	    "{ssss}", "name", "epair0a", "newname", "p2");
	DO("if.set", "{ssss}", "name", "p1", "newname", "epair0a");
	/* Nothing asked for is nothing done. */
	DO("if.set", "{ss}", "name", "epair0a");
}

static void
test_if_set_caps(void **state)
{
	json_int_t caps;
	long bit;

	caps = ifnum("epair0a", "capabilities");
	for (bit = 1; bit < 1L << 32; bit <<= 1) {
		if ((caps & bit) == 0) {
			bad(EINVAL, "cap_set", "expected bits of", "if.set",
			    "{sssI}", "name", "epair0a", "cap_set",
			    (json_int_t)bit);
			continue;
		}
		DO("if.set", "{sssI}", "name", "epair0a", "cap_clear",
		    (json_int_t)bit);
		assert_int_equal(ifnum("epair0a", "options") & bit, 0);
		DO("if.set", "{sssI}", "name", "epair0a", "cap_set",
		    (json_int_t)bit);
		assert_int_equal(ifnum("epair0a", "options") & bit, bit);
	}
}

/* Each of these changes nothing at all, whatever else it asks for. */
static void
test_if_set_misuse(void **state)
{
	json_t *after, *before;
	char text[65];

	before = ifobj("epair0a");
	bad(EINVAL, "flags_set", "expected bits of", "if.set", "{sssisi}",
	    "name", "epair0a", "flags_set", IFF_LOOPBACK, "metric", 5);
	bad(EINVAL, "flags_clear", "expected bits of", "if.set", "{sssisi}",
	    "name", "epair0a", "flags_clear", IFF_RUNNING, "metric", 5);
	bad(EINVAL, "flags_clear", "to be set as well", "if.set", "{sssisi}",
	    "name", "epair0a", "flags_set", IFF_UP, "flags_clear", IFF_UP);
	bad(EINVAL, "flags_set", "expected 0..4294967295", "if.set",
	    "{sssi}", "name", "epair0a", "flags_set", -1);
	bad(EINVAL, "mtu", "expected 72..", "if.set", "{sssisi}", "name",
	    "epair0a", "flags_set", IFF_UP, "mtu", 71);
	bad(EINVAL, "mtu", "expected", "if.set", "{sssi}", "name", "epair0a",
	    "mtu", 65536);
	bad(EINVAL, "mtu", "expected an integer", "if.set", "{ssss}", "name",
	    "epair0a", "mtu", "1500");
	bad(EINVAL, "ether", "expected a station's MAC", "if.set",
	    "{sssssi}", "name", "epair0a", "ether", "01:00:5e:00:00:01",
	    "metric", 5);
	bad(EINVAL, "ether", "expected a station's MAC", "if.set", "{ssss}",
	    "name", "epair0a", "ether", "00:00:00:00:00:00");
	bad(EINVAL, "ether", "expected a MAC as", "if.set", "{ssss}", "name",
	    "epair0a", "ether", "02:00:00:00:00");
	bad(EINVAL, "ether", "expected a MAC as", "if.set", "{ssss}", "name",
	    "epair0a", "ether", "02:00:00:00:00:0g");
	bad(EINVAL, "ether", "expected a MAC as", "if.set", "{ssss}", "name",
	    "epair0a", "ether", "02:00:00:00:00:01:");
	bad(EINVAL, "ether", "lo0 is no Ethernet", "if.set", "{ssss}", "name",
	    "lo0", "ether", "02:00:00:00:00:01");
	bad(EEXIST, "newname", "interface epair0b already exists", "if.set",
	    "{sssssi}", "name", "epair0a", "newname", "epair0b", "mtu",
	    1400);
	bad(EINVAL, "newname", "expected 1 to 15", "if.set", "{ssss}", "name",
	    "epair0a", "newname", "x y");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	bad(EINVAL, "description", "expected at most 63", "if.set", "{ssss}",
	    "name", "epair0a", "description", text);
	bad(EINVAL, "metric", "expected 0..", "if.set", "{sssi}", "name",
	    "epair0a", "metric", -2);
	bad(EINVAL, "speed", "unknown argument", "if.set", "{sssisi}", "name",
	    "epair0a", "mtu", 1400, "speed", 10);
	bad(EINVAL, "name", "expected a string", "if.set", "{si}", "mtu",
	    1400);
	after = ifobj("epair0a");
	assert_true(json_equal(before, after));
	json_decref(before);
	json_decref(after);
}

/* A driver that refuses the last step: the steps before it are undone. */
static void
test_if_set_undo(void **state)
{
	struct ifnet *ifp = ifnet_of("epair0a");
	int (*init)(struct ifnet *) = ifp->if_init;
	json_t *after, *before;

	before = ifobj("epair0a");
	ifp->if_init = refuse_init;
	bad(EIO, "flags_set", "epair0a refused: Input/output error",
	    "if.set", "{sssisssisssi}", "name", "epair0a", "mtu", 1400,
	    "ether", "02:00:00:00:00:0b", "flags_set", IFF_UP, "newname",
	    "p1", "metric", 3);
	ifp->if_init = init;
	after = ifobj("epair0a");
	assert_true(json_equal(before, after));
	json_decref(before);
	json_decref(after);
}

/* ---- addresses ---- */

static void
test_addr_add(void **state)
{
	json_t *a, *obj;

	DO("if.addr.add", "{sssssi}", "name", "epair0a", "addr", "192.0.2.1",
	    "plen", 24);
	expect_addrs("epair0a", "192.0.2.1/24");
	obj = ifobj("epair0a");
	assert_true((num(obj, "flags") & IFF_UP) != 0);
	a = json_array_get(json_object_get(obj, "addrs"), 0);
	assert_string_equal(str(a, "family"), "inet");
	assert_string_equal(str(a, "mask"), "255.255.255.0");
	assert_string_equal(str(a, "broadcast"), "192.0.2.255");
	assert_string_equal(str(a, "dst"), "");
	json_decref(obj);
	assert_true(has_route("192.0.2.0", 24));
	assert_true(has_route("192.0.2.1", 32));

	/* Without alias the first is replaced, with it one more comes. */
	DO("if.addr.add", "{sssssi}", "name", "epair0a", "addr", "192.0.2.2",
	    "plen", 24);
	expect_addrs("epair0a", "192.0.2.2/24");
	assert_true(has_route("192.0.2.0", 24));
	assert_true(has_route("192.0.2.2", 32));
	assert_false(has_route("192.0.2.1", 32));
	DO("if.addr.add", "{sssssisssb}", "name", "epair0a", "addr",
	    "198.51.100.1", "plen", 30, "broadcast", "198.51.100.3", "alias",
	    1);
	expect_addrs("epair0a", "192.0.2.2/24 198.51.100.1/30");

	/* The same address with another mask; and once more as it is. */
	DO("if.addr.add", "{sssssi}", "name", "epair0a", "addr", "192.0.2.2",
	    "plen", 25);
	expect_addrs("epair0a", "198.51.100.1/30 192.0.2.2/25");
	assert_false(has_route("192.0.2.0", 24));
	assert_true(has_route("192.0.2.0", 25));
	DO("if.addr.add", "{sssssi}", "name", "epair0a", "addr",
	    "198.51.100.1", "plen", 30);

	DO("if.addr.del", "{ss}", "name", "epair0a");
	DO("if.addr.del", "{ss}", "name", "epair0a");
	expect_addrs("epair0a", "");
	assert_false(has_route("192.0.2.0", 25));
}

static void
test_addr_dst(void **state)
{
	json_t *obj;

	DO("if.addr.add", "{sssssiss}", "name", "epair0a", "addr",
	    "192.0.2.1", "plen", 32, "dst", "192.0.2.9");
	obj = ifobj("epair0a");
	assert_string_equal(str(json_array_get(json_object_get(obj, "addrs"),
	    0), "dst"), "192.0.2.9");
	json_decref(obj);
}

static void
test_addr_misuse(void **state)
{

	DO("if.addr.add", "{sssssi}", "name", "epair0a", "addr", "192.0.2.1",
	    "plen", 24);
	bad(EEXIST, "addr", "192.0.2.1 is an address of this machine already",
	    "if.addr.add", "{sssssisb}", "name", "epair0a", "addr",
	    "192.0.2.1", "plen", 24, "alias", 1);
	bad(EEXIST, "addr", "already", "if.addr.add", "{sssssi}", "name",
	    "epair0b", "addr", "192.0.2.1", "plen", 24);
	bad(EINVAL, "addr", "192.0.2.0/24 cannot be an interface's address",
	    "if.addr.add", "{sssssi}", "name", "epair0a", "addr", "192.0.2.0",
	    "plen", 24);
	bad(EINVAL, "addr", "cannot be", "if.addr.add", "{sssssi}", "name",
	    "epair0a", "addr", "192.0.2.255", "plen", 24);
	bad(EINVAL, "addr", "cannot be", "if.addr.add", "{sssssi}", "name",
	    "epair0a", "addr", "224.0.0.1", "plen", 24);
	bad(EINVAL, "addr", "expected an IPv4 address, got \"192.0.2\"",
	    "if.addr.add", "{sssssi}", "name", "epair0a", "addr", "192.0.2",
	    "plen", 24);
	bad(EINVAL, "plen", "expected 1..32", "if.addr.add", "{sssssi}",
	    "name", "epair0a", "addr", "192.0.2.7", "plen", 33);
	bad(EINVAL, "plen", "expected 1..32", "if.addr.add", "{sssssi}",
	    "name", "epair0a", "addr", "192.0.2.7", "plen", 0);
	bad(EINVAL, "plen", "got nothing", "if.addr.add", "{ssss}", "name",
	    "epair0a", "addr", "192.0.2.7");
	bad(EINVAL, "broadcast", "own network", "if.addr.add", "{sssssiss}",
	    "name", "epair0a", "addr", "192.0.2.7", "plen", 24, "broadcast",
	    "192.0.3.255");
	bad(EINVAL, "dst", "expected an IPv4 address", "if.addr.add",
	    "{sssssiss}", "name", "epair0a", "addr", "192.0.2.7", "plen", 24,
	    "dst", "x");
	bad(EINVAL, "alias", "expected true or false", "if.addr.add",
	    "{sssssisi}", "name", "epair0a", "addr", "192.0.2.7", "plen", 24,
	    "alias", 1);
	bad(EINVAL, "mask", "unknown argument", "if.addr.add", "{sssssiss}",
	    "name", "epair0a", "addr", "192.0.2.7", "plen", 24, "mask", "x");
	bad(ENXIO, "name", "does not exist", "if.addr.add", "{sssssi}",
	    "name", "ixl9", "addr", "192.0.2.7", "plen", 24);
	expect_addrs("epair0a", "192.0.2.1/24");

	bad(EADDRNOTAVAIL, "addr", "epair0a has no address 192.0.2.7",
	    "if.addr.del", "{ssss}", "name", "epair0a", "addr", "192.0.2.7");
	DO("if.addr.del", "{ssss}", "name", "epair0a", "addr", "192.0.2.1");
	bad(EADDRNOTAVAIL, "name", "epair0a has no IPv4 address",
	    "if.addr.del", "{ss}", "name", "epair0a");
	bad(ENXIO, "name", "does not exist", "if.addr.del", "{ss}", "name",
	    "ixl9");
}

/* The interface does not come up: the addresses are as before. */
static void
test_addr_undo(void **state)
{
	struct ifnet *ifp = ifnet_of("epair0a");
	int (*init)(struct ifnet *) = ifp->if_init;

	DO("if.addr.add", "{sssssi}", "name", "epair0a", "addr", "192.0.2.1",
	    "plen", 24);
	DO("if.set", "{sssi}", "name", "epair0a", "flags_clear", IFF_UP);
	ifp->if_init = refuse_init;
	bad(EIO, "name", "epair0a does not come up", "if.addr.add",
	    "{sssssi}", "name", "epair0a", "addr", "192.0.2.2", "plen", 24);
	expect_addrs("epair0a", "192.0.2.1/24");
	bad(EIO, "name", "epair0a does not come up", "if.addr.add",
	    "{sssssi}", "name", "epair0a", "addr", "192.0.2.1", "plen", 25);
	expect_addrs("epair0a", "192.0.2.1/24");
	ifp->if_init = init;
	assert_int_equal(ifnum("epair0a", "flags") & IFF_UP, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_if_list),
		cmocka_unit_test(test_if_create),
		cmocka_unit_test(test_if_cloners),
		PAIR(test_if_set),
		PAIR(test_if_set_caps),
		PAIR(test_if_set_misuse),
		PAIR(test_if_set_undo),
		PAIR(test_addr_add),
		PAIR(test_addr_dst),
		PAIR(test_addr_misuse),
		PAIR(test_addr_undo),
	};

	return (cmocka_run_group_tests(tests, group_setup, group_teardown));
}
