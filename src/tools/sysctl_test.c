/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* sysctl: its forms of a value, setting, what it refuses. */

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

#define	BATCH	"{\"name\":\"hw.intr_epoch_batch\",\"value\":\"1000\","	\
	"\"type\":\"int\",\"descr\":\"handler runs per section\","	\
	"\"writable\":true,\"tunable\":false}"
#define	CALLS	"{\"name\":\"kern.epoch.stats.epoch_calls\","		\
	"\"value\":\"1234567\",\"type\":\"u64\",\"descr\":\"callbacks\"," \
	"\"writable\":false,\"tunable\":false}"
#define	QLEN	"{\"name\":\"net.link.ifqmaxlen\",\"value\":\"50\","	\
	"\"type\":\"int\",\"descr\":\"queue length\","			\
	"\"writable\":false,\"tunable\":true}"
#define	REPLY	"{\"name\":\"net.inet.icmp.reply_src\",\"value\":\"\","	\
	"\"type\":\"string\",\"descr\":\"answer from\","		\
	"\"writable\":true,\"tunable\":false}"
#define	OIDS(x)	"{\"oids\":[" x "]}"

static void
test_show(void **state)
{
	fake_reply("sysctl.list", OIDS(BATCH));
	fake_check("sysctl hw.intr_epoch_batch", 0,
	    "hw.intr_epoch_batch: 1000\n", "",
	    "sysctl.list {\"prefix\":\"hw.intr_epoch_batch\"}\n");
	fake_check("sysctl -n hw.intr_epoch_batch", 0, "1000\n", "", NULL);
	fake_check("sysctl -e hw.intr_epoch_batch", 0,
	    "hw.intr_epoch_batch=1000\n", "", NULL);
	fake_check("sysctl -x hw.intr_epoch_batch", 0,
	    "hw.intr_epoch_batch: 0x3e8\n", "", NULL);
	fake_check("sysctl -d hw.intr_epoch_batch", 0,
	    "hw.intr_epoch_batch: handler runs per section\n", "", NULL);
	fake_check("sysctl -t hw.intr_epoch_batch", 0,
	    "hw.intr_epoch_batch: integer\n", "", NULL);
	fake_reply("sysctl.list", OIDS(BATCH "," CALLS "," QLEN "," REPLY));
	fake_check("sysctl -aN", 0, "hw.intr_epoch_batch\n"
	    "kern.epoch.stats.epoch_calls\nnet.link.ifqmaxlen\n"
	    "net.inet.icmp.reply_src\n", "", "sysctl.list {}\n");
	fake_check("sysctl -ah", 0, "hw.intr_epoch_batch: 1,000\n"
	    "kern.epoch.stats.epoch_calls: 1,234,567\n"
	    "net.link.ifqmaxlen: 50\nnet.inet.icmp.reply_src: \n", "", NULL);
	fake_check("sysctl -aNW", 0,
	    "hw.intr_epoch_batch\nnet.inet.icmp.reply_src\n", "", NULL);
	fake_check("sysctl -aNT", 0, "net.link.ifqmaxlen\n", "", NULL);
	fake_check("sysctl --libxo json -a", 0,
	    "{\"sysctl\":{\"hw.intr_epoch_batch\":1000,"
	    "\"kern.epoch.stats.epoch_calls\":1234567,"
	    "\"net.link.ifqmaxlen\":50,\"net.inet.icmp.reply_src\":\"\"}}\n",
	    "", NULL);
}

static void
test_set(void **state)
{
	static const char calls[] =
	    "sysctl.list {\"prefix\":\"hw.intr_epoch_batch\"}\n"
	    "sysctl.set {\"name\":\"hw.intr_epoch_batch\",\"value\":\"32\"}\n";

	fake_reply("sysctl.list", OIDS(BATCH));
	fake_reply("sysctl.set", "{\"old\":\"1000\",\"new\":\"32\"}");
	fake_check("sysctl hw.intr_epoch_batch=32", 0,
	    "hw.intr_epoch_batch: 1000 -> 32\n", "", calls);
	fake_check("sysctl -w hw.intr_epoch_batch = 32", 0,
	    "hw.intr_epoch_batch: 1000 -> 32\n", "", calls);
	fake_check("sysctl 'hw.intr_epoch_batch:\"32\"'", 0,
	    "hw.intr_epoch_batch: 1000 -> 32\n", "", calls);
	fake_check("sysctl -n hw.intr_epoch_batch=32", 0, "1000 -> 32\n", "",
	    calls);
	fake_check("sysctl --libxo json hw.intr_epoch_batch=32", 0,
	    "{\"sysctl\":{\"hw.intr_epoch_batch\":{\"old\":\"1000\","
	    "\"new\":\"32\"}}}\n", "", calls);
}

static void
test_refusals(void **state)
{
	fake_reply("sysctl.list", OIDS(BATCH));
	fake_check("sysctl hw.intr_epoch_batch=abc", 1, "",
	    "sysctl: invalid integer 'abc'\n", NULL);
	fake_check("sysctl hw=1", 1, "",
	    "sysctl: oid 'hw' isn't a leaf node\n", NULL);
	fake_fail("sysctl.set", EINVAL, "value", "expected 1 to 65536, got 0");
	fake_check("sysctl hw.intr_epoch_batch=0", 1, "",
	    "sysctl: hw.intr_epoch_batch=0: Invalid argument (expected 1 to "
	    "65536, got 0)\n", NULL);
	fake_reply("sysctl.list", OIDS(CALLS));
	fake_check("sysctl kern.epoch.stats.epoch_calls=1", 1, "", "sysctl: "
	    "oid 'kern.epoch.stats.epoch_calls' is read only\n", NULL);
	fake_reply("sysctl.list", OIDS(QLEN));
	fake_check("sysctl net.link.ifqmaxlen=1", 1, "", "sysctl: oid "
	    "'net.link.ifqmaxlen' is a read only tunable\nsysctl: Tunable "
	    "values are set in /boot/loader.conf\n", NULL);
	assert_int_equal(fake_run("sysctl -nN a")->fr_status, 1);
	assert_int_equal(fake_run("sysctl")->fr_status, 1);
}

/* The exit status counts the failures. */
static void
test_unknown(void **state)
{
	fake_fail("sysctl.list", ENOENT, "prefix", "none");
	fake_check("sysctl a.b c.d=1", 2, "",
	    "sysctl: unknown oid 'a.b'\nsysctl: unknown oid 'c.d'\n", NULL);
	fake_check("sysctl -i a.b c.d=1", 0, "", "", NULL);
	fake_check("sysctl -q a.b", 1, "", "", NULL);
	fake_reply("sysctl.list", OIDS(""));
	fake_check("sysctl a.b", 1, "", "sysctl: unknown oid 'a.b'\n", NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_show, setup),
		cmocka_unit_test_setup(test_set, setup),
		cmocka_unit_test_setup(test_refusals, setup),
		cmocka_unit_test_setup(test_unknown, setup),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
