/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The other control commands against a machine in memory: each as it is meant,
 * and each misuse with the member that it names; and all of them from several
 * threads.
 */
#include "stack/ctl_test.h"

#include "stack/ctl_stat.h"

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
	json_int_t id;
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
	r = ok("kld.load", "{ss}", "name", "ng_hub");
	id = num(r, "id");
	json_decref(r);
	bad(EEXIST, "name", "can't load ng_hub: module already loaded or in "
	    "kernel", "kld.load", "{ss}", "name", "ng_hub");
	r = ok("kld.list", "{}");
	m = json_array_get(json_object_get(r, "modules"), json_array_size(
	    json_object_get(r, "modules")) - 1);
	assert_string_equal(str(m, "name"), "ng_hub");
	assert_int_equal(num(m, "refs"), 1);
	assert_int_equal(num(m, "id"), id);
	json_decref(r);
	r = ok("kld.unload", "{ss}", "name", "ng_hub");
	assert_int_equal(num(r, "id"), id);
	json_decref(r);
	bad(ENOENT, "name", "can't find file ng_hub", "kld.unload", "{ss}",
	    "name", "ng_hub");
	bad(EBUSY, "name", "can't unload file: Device busy", "kld.unload",
	    "{ss}", "name", "ng_socket");
	bad(EEXIST, "name", "can't load if_epair: module already loaded or in "
	    "kernel", "kld.load", "{ss}", "name", "if_epair");
	bad(ENOENT, "name", "can't load ng_nosuch: No such file or directory",
	    "kld.load", "{ss}", "name", "ng_nosuch");
	bad(EBUSY, "name", "can't unload file: Device busy", "kld.unload",
	    "{ss}", "name", "if_epair");
	bad(ENOENT, "name", "can't find file ng_nosuch", "kld.unload", "{ss}",
	    "name", "ng_nosuch");
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
	    "sysctl.list", "machine.info", "graph.sockets" };
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
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machine_info),
		cmocka_unit_test(test_sysctl),
		PAIR(test_intr_list),
		cmocka_unit_test(test_stat_table),
		PAIR(test_stats_and_drops),
		PAIR(test_kld),
		cmocka_unit_test(test_threads),
	};

	return (cmocka_run_group_tests(tests, group_setup, group_teardown));
}
