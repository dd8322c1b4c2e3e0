/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The control commands against a machine in memory: each command as it is
 * meant, and each misuse with the member that it names.  Interfaces are
 * epairs; where a driver has to refuse something, its method is replaced by
 * one that does.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ctl/ctl.h"
#include "ifnet/if_var.h"
#include "stack/ctl_stat.h"
#include "stack/machine.h"
#include "sys/sysctl.h"
#include "sys/thread.h"

static struct machine *machine;
static struct ctl_client *client;

static int
group_setup(void **state)
{
	struct machine_config mc = { .mc_name = "T1", .mc_nmbufs = 4096 };
	char err[256];
	int cpu[8];

	(void)thread_cpus(cpu, (int)nitems(cpu));
	mc.mc_cpus = cpu;
	mc.mc_ncpus = 1;
	if (machine_start(&mc, &machine, err, sizeof(err)) != 0) {
		(void)fprintf(stderr, "%s\n", err);
		return (-1);
	}
	client = ctl_connect_local(machine_commands, machine_ncommands,
	    machine);
	return (client != NULL ? 0 : -1);
}

static int
group_teardown(void **state)
{

	ctl_close(client);
	machine_stop(machine);
	return (0);
}

/* ---- Calling ---- */

/* Call, expect success; the result is the caller's. */
static json_t *
ok(const char *cmd, const char *fmt, ...)
{
	struct ctl_error ce;
	json_t *args, *result;
	va_list ap;

	va_start(ap, fmt);
	args = json_vpack_ex(NULL, 0, fmt, ap);
	va_end(ap);
	assert_non_null(args);
	if (ctl_call(client, cmd, args, &result, &ce) != 0)
		fail_msg("%s: %s", cmd, ce.ce_text);
	return (result);
}

/* The same for its effect only. */
#define	DO(...)		json_decref(ok(__VA_ARGS__))

/* Call, expect an error, the member it names, and words of its text. */
static void
bad(int error, const char *field, const char *words, const char *cmd,
    const char *fmt, ...)
{
	struct ctl_error ce;
	json_t *args, *result;
	va_list ap;

	va_start(ap, fmt);
	args = json_vpack_ex(NULL, 0, fmt, ap);
	va_end(ap);
	assert_non_null(args);
	if (ctl_call(client, cmd, args, &result, &ce) == 0)
		fail_msg("%s: no error, wanted \"%s\"", cmd, words);
	if (strstr(ce.ce_text, words) == NULL)
		fail_msg("%s: \"%s\" is not in \"%s\"", cmd, words,
		    ce.ce_text);
	assert_string_equal(ce.ce_field, field);
	assert_int_equal(ce.ce_errno, error);
	assert_null(result);
}

static const char *
str(const json_t *obj, const char *name)
{

	assert_true(json_is_string(json_object_get(obj, name)));
	return (json_string_value(json_object_get(obj, name)));
}

static json_int_t
num(const json_t *obj, const char *name)
{

	assert_true(json_is_integer(json_object_get(obj, name)));
	return (json_integer_value(json_object_get(obj, name)));
}

/* An interface's object; the caller's. */
static json_t *
ifobj(const char *name)
{
	json_t *obj, *result;

	result = ok("if.list", "{ss}", "name", name);
	assert_int_equal(json_array_size(json_object_get(result,
	    "interfaces")), 1);
	obj = json_incref(json_array_get(json_object_get(result,
	    "interfaces"), 0));
	json_decref(result);
	return (obj);
}

static json_int_t
ifnum(const char *name, const char *member)
{
	json_t *obj;
	json_int_t n;

	obj = ifobj(name);
	n = num(obj, member);
	json_decref(obj);
	return (n);
}

static void
expect_ifstr(const char *name, const char *member, const char *wanted)
{
	json_t *obj;

	obj = ifobj(name);
	assert_string_equal(str(obj, member), wanted);
	json_decref(obj);
}

/* The addresses of an interface as "A/L A/L". */
static void
expect_addrs(const char *name, const char *wanted)
{
	char buf[256] = "", one[32];
	json_t *a, *obj;
	size_t i;

	obj = ifobj(name);
	json_array_foreach(json_object_get(obj, "addrs"), i, a) {
		(void)snprintf(one, sizeof(one), "%s%s/%d", i > 0 ? " " : "",
		    str(a, "addr"), (int)num(a, "plen"));
		(void)strcat(buf, one);
	}
	assert_string_equal(buf, wanted);
	json_decref(obj);
}

static bool
has_route(const char *dst, int plen)
{
	struct ctl_error ce;
	json_t *result;

	if (ctl_call(client, "route.get", json_pack("{sssi}", "addr", dst,
	    "plen", plen), &result, &ce) != 0)
		return (false);
	json_decref(result);
	return (true);
}

static struct ifnet *
ifnet_of(const char *name)
{
	struct ifnet *ifp;

	VNET_CONFIG_LOCK(machine->ma_vnet);
	ifp = if_byname(machine->ma_vnet, name);
	VNET_CONFIG_UNLOCK(machine->ma_vnet);
	assert_non_null(ifp);
	return (ifp);
}

static int
refuse_init(struct ifnet *ifp)
{

	return (EIO);
}

/* ---- A pair for a test: epair0a, epair0b ---- */

static int
pair_setup(void **state)
{

	DO("if.create", "{ss}", "name", "epair0");
	return (0);
}

static int
pair_teardown(void **state)
{

	DO("if.destroy", "{ss}", "name", "epair0a");
	return (0);
}

/* ---- machine ---- */

static void
test_machine_info(void **state)
{
	json_t *r;

	r = ok("machine.info", "{}");
	assert_string_equal(str(r, "name"), "T1");
	assert_int_equal(num(r, "pid"), getpid());
	assert_true(strlen(str(r, "version")) > 0);
	assert_true(num(r, "uptime_ns") > 0);
	assert_int_equal(num(r, "cpus"), 1);
	assert_true(num(r, "mbufs") >= 4096);
	assert_true(num(r, "mbufs_free") > 0);
	assert_true(num(r, "mbufs_free") <= num(r, "mbufs"));
	assert_int_equal(num(r, "mbufs_failed"), 0);
	assert_true(num(r, "memory_bytes") > 1000000);
	json_decref(r);
	bad(EINVAL, "x", "unknown argument \"x\"", "machine.info", "{si}",
	    "x", 1);
}

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
	char dst[16];
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

/* ---- sysctl ---- */

static void
test_sysctl(void **state)
{
	json_t *oid, *r;
	size_t i;

	r = ok("sysctl.list", "{}");
	assert_true(json_array_size(json_object_get(r, "oids")) > 10);
	json_array_foreach(json_object_get(r, "oids"), i, oid) {
		assert_true(strlen(str(oid, "name")) > 0);
		assert_true(strlen(str(oid, "descr")) > 0);
		assert_true(strcmp(str(oid, "type"), "string") == 0 ||
		    strlen(str(oid, "value")) > 0);
		assert_true(json_is_boolean(json_object_get(oid,
		    "writable")));
		assert_true(json_is_boolean(json_object_get(oid, "tunable")));
	}
	json_decref(r);
	r = ok("sysctl.list", "{ss}", "prefix", "hw.intr_epoch_batch");
	assert_int_equal(json_array_size(json_object_get(r, "oids")), 1);
	oid = json_array_get(json_object_get(r, "oids"), 0);
	assert_string_equal(str(oid, "type"), "int");
	assert_true(json_is_true(json_object_get(oid, "writable")));
	json_decref(r);

	r = ok("sysctl.set", "{ssss}", "name", "hw.intr_epoch_batch",
	    "value", "32");
	assert_string_equal(str(r, "new"), "32");
	json_decref(r);
	r = ok("sysctl.set", "{ssss}", "name", "hw.intr_epoch_batch",
	    "value", "1000");
	assert_string_equal(str(r, "old"), "32");
	assert_string_equal(str(r, "new"), "1000");
	json_decref(r);

	bad(ENOENT, "prefix", "unknown oid 'nope'", "sysctl.list", "{ss}",
	    "prefix", "nope");
	bad(ENOENT, "name", "unknown oid 'nope'", "sysctl.set", "{ssss}",
	    "name", "nope", "value", "1");
	bad(ENOENT, "name", "unknown oid 'hw'", "sysctl.set", "{ssss}",
	    "name", "hw", "value", "1");
	bad(EINVAL, "value", "", "sysctl.set", "{ssss}", "name",
	    "hw.intr_epoch_batch", "value", "abc");
	bad(EINVAL, "value", "", "sysctl.set", "{ssss}", "name",
	    "hw.intr_epoch_batch", "value", "-5");
	bad(EPERM, "name", "oid 'hw.ncpu' is read only", "sysctl.set",
	    "{ssss}", "name", "hw.ncpu", "value", "1");
	bad(EINVAL, "value", "expected a string", "sysctl.set", "{sssi}",
	    "name", "hw.intr_epoch_batch", "value", 5);
	bad(EINVAL, "value", "got nothing", "sysctl.set", "{ss}", "name",
	    "hw.intr_epoch_batch");
}

/* ---- counters ---- */

static void
test_intr_list(void **state)
{
	json_t *ev, *r, *totals;
	size_t i;

	r = ok("intr.list", "{}");
	json_array_foreach(json_object_get(r, "events"), i, ev) {
		assert_true(strlen(str(ev, "name")) > 0);
		assert_int_equal(num(ev, "cpu"), 0);
		assert_true(num(ev, "runs") >= 0);
		assert_true(num(ev, "total") >= 0);
		assert_int_equal(num(ev, "storms"), 0);
	}
	assert_true(i >= 2);		/* one for each end of the pair */
	totals = json_object_get(r, "totals");
	assert_true(num(totals, "entries") >= num(totals, "reentries"));
	assert_true(num(totals, "interrupts") >= 0);
	assert_true(num(totals, "runs") >= 0);
	assert_true(num(totals, "sleeps") >= 0);
	assert_true(num(totals, "spins") >= 0);
	assert_true(num(r, "uptime_ns") > 0);
	json_decref(r);
}

/* Every cell and every protocol's reason is in one line, names are unique. */
static void
test_stat_table(void **state)
{
	int drops[IFD_COUNT] = { 0 }, stats[IPS_COUNT] = { 0 };
	const struct stat_line *sl;
	const enum if_drop *why;
	const char *name;
	size_t i, j;

	for (i = 0; i < stat_nlines; i++) {
		sl = &stat_lines[i];
		if (sl->sl_stat != IPS_COUNT) {
			stats[sl->sl_stat]++;
			assert_string_equal(sl->sl_proto,
			    ip_stat_info[sl->sl_stat].is_proto);
		} else
			assert_non_null(sl->sl_text);
		for (why = sl->sl_drops; *why != IFD_COUNT; why++)
			drops[*why]++;
		for (j = 0; j < i; j++)
			assert_false(strcmp(sl->sl_proto,
			    stat_lines[j].sl_proto) == 0 &&
			    strcmp(sl->sl_name, stat_lines[j].sl_name) == 0);
	}
	for (i = 0; i < IPS_COUNT; i++)
		assert_int_equal(stats[i], 1);
	for (i = 0; i < IFD_COUNT; i++) {
		name = if_drop_info[i].fd_name;
		assert_int_equal(drops[i], strncmp(name, "ip-", 3) == 0 ||
		    strncmp(name, "icmp-", 5) == 0 ||
		    strncmp(name, "arp-", 4) == 0 ||
		    strncmp(name, "udp-", 4) == 0 ||
		    strncmp(name, "tcp-", 4) == 0);
	}
}

static json_int_t
stat_value(const char *proto, const char *name)
{
	json_int_t value = -1;
	json_t *line, *r;
	size_t i;

	r = ok("stats.get", "{ss}", "proto", proto);
	assert_int_equal(json_object_size(json_object_get(r, "protocols")),
	    1);
	json_array_foreach(json_object_get(json_object_get(r, "protocols"),
	    proto), i, line)
		if (strcmp(str(line, "name"), name) == 0) {
			value = num(line, "value");
			assert_true(strlen(str(line, "text")) > 0);
		}
	json_decref(r);
	return (value);
}

static void
test_stats_and_drops(void **state)
{
	struct ifnet *a = ifnet_of("epair0a"), *b = ifnet_of("epair0b");
	json_t *d, *r;

	if_count_drop(a, IFD_IPTTL, 2);
	if_count_drop(b, IFD_IPTTL, 3);
	if_count_drop(b, IFD_ARPFAIL, 4);
	if_count_drop(b, IFD_RUNT, 5);
	assert_int_equal(stat_value("ip", "time-exceeded"), 5);
	assert_int_equal(stat_value("arp", "no-entry"), 4);
	r = ok("stats.get", "{}");
	assert_int_equal(json_object_size(json_object_get(r, "protocols")),
	    5);
	json_decref(r);

	r = ok("drops.list", "{ss}", "interface", "epair0a");
	assert_int_equal(json_array_size(json_object_get(r, "drops")), 1);
	d = json_array_get(json_object_get(r, "drops"), 0);
	assert_string_equal(str(d, "interface"), "epair0a");
	assert_string_equal(str(d, "name"), "ip-ttl");
	assert_string_equal(str(d, "text"), "whose time to live ran out");
	assert_int_equal(num(d, "count"), 2);
	json_decref(r);
	r = ok("drops.list", "{}");
	assert_int_equal(json_array_size(json_object_get(r, "drops")), 4);
	json_decref(r);
	r = ifobj("epair0b");
	assert_int_equal(num(json_object_get(r, "drops"), "runt"), 5);
	assert_int_equal(json_object_size(json_object_get(r, "drops")), 3);
	json_decref(r);

	/* Zeroing one protocol leaves the others and the link's reasons. */
	DO("stats.zero", "{ss}", "proto", "ip");
	assert_int_equal(stat_value("ip", "time-exceeded"), 0);
	assert_int_equal(stat_value("arp", "no-entry"), 4);
	DO("stats.zero", "{}");
	assert_int_equal(stat_value("arp", "no-entry"), 0);
	r = ok("drops.list", "{}");
	assert_int_equal(json_array_size(json_object_get(r, "drops")), 1);
	json_decref(r);

	bad(EPROTONOSUPPORT, "proto", "expected ip, icmp, arp, udp or tcp",
	    "stats.get", "{ss}", "proto", "sctp");
	bad(EPROTONOSUPPORT, "proto", "expected ip", "stats.zero", "{ss}",
	    "proto", "");
	bad(EINVAL, "proto", "expected a string", "stats.get", "{si}",
	    "proto", 4);
	bad(ENXIO, "interface", "does not exist", "drops.list", "{ss}",
	    "interface", "ixl9");
}

/* ---- modules ---- */

static void
test_kld(void **state)
{
	json_t *m, *r;
	bool found = false;
	size_t i;

	r = ok("kld.list", "{}");
	json_array_foreach(json_object_get(r, "modules"), i, m) {
		assert_int_equal(num(m, "id"), i + 1);
		assert_int_equal(num(m, "size"), 0);
		if (strcmp(str(m, "name"), "if_epair") != 0)
			continue;
		found = true;
		assert_int_equal(num(m, "refs"), 3);	/* and two ends */
	}
	assert_true(found);
	json_decref(r);
	bad(EEXIST, "name", "can't load if_epair: module already loaded or in "
	    "kernel", "kld.load", "{ss}", "name", "if_epair");
	bad(ENOENT, "name", "can't load ng_ether: No such file or directory",
	    "kld.load", "{ss}", "name", "ng_ether");
	bad(EBUSY, "name", "can't unload file: Device busy", "kld.unload",
	    "{ss}", "name", "if_epair");
	bad(ENOENT, "name", "can't find file ng_ether", "kld.unload", "{ss}",
	    "name", "ng_ether");
	bad(EINVAL, "name", "got nothing", "kld.load", "{}");
	bad(EINVAL, "name", "got nothing", "kld.unload", "{}");
	bad(EINVAL, "id", "unknown argument", "kld.unload", "{sssi}", "name",
	    "if_epair", "id", 1);
}

/* ---- from several threads ---- */

#define	CHURNS	60

static void
churn(void *arg)
{
	const char *name = arg;
	char line[256];
	json_t *r;
	int i;
	static const char *const fmt[] = {
		"{\"cmd\":\"if.create\",\"args\":{\"name\":\"%s\"}}",
		"{\"cmd\":\"if.addr.add\",\"args\":{\"name\":\"%sa\","
		"\"addr\":\"198.51.%s.1\",\"plen\":24}}",
		"{\"cmd\":\"route.add\",\"args\":{\"dst\":\"10.%s.0.0\","
		"\"plen\":16,\"gateway\":\"198.51.%s.9\"}}",
		"{\"cmd\":\"if.destroy\",\"args\":{\"name\":\"%sa\"}}",
	};
	const char *unit = name + strlen("epair");

	for (i = 0; i < CHURNS * (int)nitems(fmt); i++) {
		switch (i % (int)nitems(fmt)) {
		case 1:
			(void)snprintf(line, sizeof(line), fmt[1], name, unit);
			break;
		case 2:
			(void)snprintf(line, sizeof(line), fmt[2], unit, unit);
			break;
		default:
			(void)snprintf(line, sizeof(line),
			    i % (int)nitems(fmt) == 0 ? fmt[0] : fmt[3], name);
		}
		r = ctl_dispatch(machine_commands, machine_ncommands, machine,
		    line, strlen(line));
		if (r == NULL || !json_is_true(json_object_get(r, "ok")))
			ne_panic(__FILE__, __LINE__, "%s: %s", line,
			    r == NULL ? "no memory" :
			    json_string_value(json_object_get(r, "error")));
		json_decref(r);
	}
}

static _Atomic bool watching;

static void
watch(void *arg)
{
	static const char *const cmds[] = { "if.list", "route.list",
	    "arp.list", "drops.list", "stats.get", "intr.list", "kld.list",
	    "sysctl.list", "machine.info" };
	char line[64];
	json_t *r;
	size_t i;

	for (i = 0; watching; i++) {
		(void)snprintf(line, sizeof(line), "{\"cmd\":\"%s\"}",
		    cmds[i % nitems(cmds)]);
		r = ctl_dispatch(machine_commands, machine_ncommands, machine,
		    line, strlen(line));
		if (r == NULL || !json_is_true(json_object_get(r, "ok")))
			ne_panic(__FILE__, __LINE__, "%s", line);
		json_decref(r);
	}
}

static void
test_threads(void **state)
{
	char names[2][IFNAMLEN] = { "epair3", "epair4" };
	struct thread *td[2], *watcher;

	watching = true;
	assert_int_equal(thread_create(&watcher, "watch", THREAD_ANY_CPU,
	    watch, NULL), 0);
	assert_int_equal(thread_create(&td[0], "churn", THREAD_ANY_CPU, churn,
	    names[0]), 0);
	assert_int_equal(thread_create(&td[1], "churn", THREAD_ANY_CPU, churn,
	    names[1]), 0);
	thread_join(td[0]);
	thread_join(td[1]);
	watching = false;
	thread_join(watcher);
	assert_false(has_route("10.3.0.0", 16));
	assert_false(has_route("198.51.3.0", 24));
}

int
main(void)
{
#define	PAIR(fn)							\
	cmocka_unit_test_setup_teardown(fn, pair_setup, pair_teardown)
#define	NET(fn)								\
	cmocka_unit_test_setup_teardown(fn, net_setup, pair_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machine_info),
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
		NET(test_route_add),
		NET(test_route_connected),
		NET(test_route_misuse),
		NET(test_route_pages),
		NET(test_arp),
		NET(test_arp_misuse),
		cmocka_unit_test(test_sysctl),
		PAIR(test_intr_list),
		cmocka_unit_test(test_stat_table),
		PAIR(test_stats_and_drops),
		PAIR(test_kld),
		cmocka_unit_test(test_threads),
	};
#undef PAIR
#undef NET

	return (cmocka_run_group_tests(tests, group_setup, group_teardown));
}
