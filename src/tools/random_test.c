/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Lines of random words: whatever is typed, a tool ends with a status it may
 * have, says on stderr what it did not like, and has changed nothing when it
 * did not understand the line.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "sys/defs.h"
#include "sys/random_testlib.h"
#include "tools/tool_fake.h"

#define	RUNS	20000

static const char *const tool_words[] = { "ifconfig", "route", "arp",
	"sysctl", "kldstat", "kldload", "kldunload", "netstat", "vmstat" };
static const char *const words[] = {
	"-", "--", "-a", "-l", "-d", "-u", "-n", "-q", "-s", "-S", "-i", "-x",
	"-net", "-host", "-iface", "-netmask", "-prefixlen", "-mtu", "-ifp",
	"-fib", "-blackhole", "-reject", "-proto3", "-gateway", "-dst", "-6",
	"--libxo", "--libxo=json", "--libxo:J", "json", "-M", "M1", "-M1",
	"add", "change", "delete", "del", "get", "flush", "default",
	"em0", "lo0", "create", "destroy", "up", "down", "alias", "-alias",
	"inet", "inet6", "netmask", "broadcast", "mtu", "name", "ether",
	"random", "description", "rxcsum", "-arp", "promisc", "metric",
	"10.0.0.0/8", "10/8", "192.0.2.1", "192.0.2.1/33", "1.2.3",
	"255.255.255.0", "0xffffff00", "0xff00ff00", "24", "-1", "0",
	"99999999999999999999", "02:00:00:00:00:01", "2:0:0:0:0", "auto",
	"temp", "pub", "only", "blackhole", "reject", "all", "''",
	"hw.ncpu", "hw.ncpu=1", "hw", "=", "=1", ":", "a=b=c", "a.b.c",
	"xdp:veth0,mode=generic", "epair", "\xff", "\xc3\xa4", "%s%n",
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
};
static const char *const changes[] = { "if.create", "if.destroy", "if.set",
	"if.addr", "route.add", "route.change", "route.del", "route.flush",
	"arp.set", "arp.del", "sysctl.set", "kld.load", "kld.unload" };

static unsigned int
pick(unsigned int *seed, size_t n)
{
	return ((unsigned int)rand_r(seed) % (unsigned int)n);
}

static void
make_line(unsigned int *seed, char *line, size_t len)
{
	unsigned int i, n = pick(seed, 8);
	size_t off;

	off = (size_t)snprintf(line, len, "%s",
	    tool_words[pick(seed, nitems(tool_words))]);
	for (i = 0; i < n && off < len; i++)
		off += (size_t)snprintf(line + off, len - off, " %s",
		    words[pick(seed, nitems(words))]);
}

static void
check_run(const char *line, const struct fake_run *fr)
{
	static const int may[] = { 0, 1, 2, 3, 4, 5, 6, 7, 64, 65, 66, 68, 69,
	    255 };
	bool quiet = strstr(line, "-q") != NULL ||
	    strstr(fr->fr_out, "no entry") != NULL ||
	    strstr(fr->fr_out, "fib 0:") != NULL ||
	    strstr(fr->fr_out, "\"error\"") != NULL ||
	    strstr(fr->fr_out, "\"arp-cache\":[]") != NULL;
	size_t i;

	for (i = 0; i < nitems(may) && may[i] != fr->fr_status; i++)
		continue;
	if (i == nitems(may) || (fr->fr_status != 0 && *fr->fr_err == '\0' &&
	    !quiet))
		fail_msg("%s: status %d, stderr: %s", line, fr->fr_status,
		    fr->fr_err);
	for (i = 0; fr->fr_status == 64 && i < nitems(changes); i++)
		if (strstr(fr->fr_calls, changes[i]) != NULL)
			fail_msg("%s: usage, but called %s", line,
			    fr->fr_calls);
}

static void
test_random(void **state)
{
	unsigned int seed = (unsigned int)test_seed();
	char line[1024];
	int i;

	fake_reset();
	fake_reply("if.list", "{\"interfaces\":[{\"name\":\"em0\","
	    "\"ether\":\"02:00:00:00:00:01\",\"addrs\":[{\"addr\":\"x\"},7]},"
	    "null,{\"name\":5}]}");
	fake_reply("if.create", "{\"name\":\"em1\"}");
	fake_reply("route.get", "{\"gateway\":\"192.0.2.1\",\"plen\":-7,"
	    "\"flags\":-1,\"dst\":[]}");
	fake_reply("route.list", "{\"routes\":[{},3,{\"plen\":99}]}");
	fake_reply("route.flush", "{\"routes\":{}}");
	fake_reply("sysctl.list", "{\"oids\":[{\"name\":\"hw.ncpu\","
	    "\"value\":\"2\",\"type\":\"int\",\"writable\":true}]}");
	fake_reply("sysctl.set", "{\"old\":\"2\",\"new\":\"1\"}");
	fake_reply("kld.list", "{\"modules\":[{\"id\":1,\"name\":\"em0\"},0]}");
	fake_reply("intr.list", "{\"events\":[[],{\"total\":-1}]}");
	for (i = 0; i < RUNS; i++) {
		make_line(&seed, line, sizeof(line));
		check_run(line, fake_run(line));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
