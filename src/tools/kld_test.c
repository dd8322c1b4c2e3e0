/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* The kld tools and vmstat -i. */

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

#define	MODULES	"{\"modules\":["					\
	"{\"id\":1,\"refs\":3,\"size\":2097152,\"name\":\"kernel\"},"	\
	"{\"id\":2,\"refs\":1,\"size\":4096,\"name\":\"if_epair\"}]}"

static void
test_kldstat(void **state)
{
	fake_reply("kld.list", MODULES);
	fake_check("kldstat", 0,
	    "Id Refs Address                Size     Name\n"
	    " 1    3 -                    200000 kernel\n"
	    " 2    1 -                      1000 if_epair.ko\n", "",
	    "kld.list {}\n");
	fake_check("kldstat -h -n if_epair.ko", 0,
	    "Id Refs Address                Size     Name\n"
	    " 2    1 -                      4.0K if_epair.ko\n", "", NULL);
	fake_check("kldstat -m if_epair", 0,
	    "Id  Refs Name\n  2    1 if_epair\n", "", NULL);
	fake_check("kldstat -q -m if_epair", 0, "", "", NULL);
	fake_check("kldstat -q -m ng_ether", 1, "", "", NULL);
	fake_check("kldstat -m ng_ether", 1, "", "kldstat: can't find module "
	    "ng_ether: No such file or directory\n", NULL);
	fake_reply("kld.list", "{\"modules\":[{\"id\":1,\"refs\":1,"
	    "\"size\":0,\"name\":\"if_tap\"}]}");
	fake_check("kldstat -h", 0,
	    "Id Refs Address                Size     Name\n"
	    " 1    1 -                         - if_tap.ko\n", "", NULL);
	fake_check("kldstat --libxo json", 0,
	    "{\"kldstat\":{\"file\":[{\"id\":1,\"refs\":1,"
	    "\"name\":\"if_tap\"}]}}\n", "", NULL);
	fake_reply("kld.list", MODULES);
	fake_check("kldstat -i 9", 1, "",
	    "kldstat: can't find file with id 9\n", NULL);
	fake_check("kldstat --libxo json -i 2", 0,
	    "{\"kldstat\":{\"file\":[{\"id\":2,\"refs\":1,\"size\":4096,"
	    "\"name\":\"if_epair\"}]}}\n", "", NULL);
}

static void
test_kldload(void **state)
{
	fake_reply("kld.load", "{\"id\":5}");
	fake_check("kldload -v /boot/kernel/ng_ether.ko", 0,
	    "Loaded /boot/kernel/ng_ether.ko, id=5\n", "",
	    "kld.load {\"name\":\"ng_ether\"}\n");
	fake_fail("kld.load", EEXIST, "name", "is there");
	fake_check("kldload a b", 1, "", "kldload: can't load a: module "
	    "already loaded or in kernel\nkldload: can't load b: module "
	    "already loaded or in kernel\n", NULL);
	fake_check("kldload -n a", 0, "", "", NULL);
	fake_fail("kld.load", ENOENT, "name", "none");
	fake_check("kldload a", 1, "",
	    "kldload: can't load a: No such file or directory\n", NULL);
	assert_int_equal(fake_run("kldload")->fr_status, 64);
}

static void
test_kldunload(void **state)
{
	fake_reply("kld.list", MODULES);
	fake_check("kldunload -v if_epair.ko", 0,
	    "Unloading if_epair, id=2\n", "",
	    "kld.list {}\nkld.unload {\"name\":\"if_epair\"}\n");
	fake_check("kldunload -i 2", 0, "", "",
	    "kld.list {}\nkld.unload {\"name\":\"if_epair\"}\n");
	fake_check("kldunload ng_x", 1, "",
	    "kldunload: can't find file ng_x\n", "kld.list {}\n");
	fake_check("kldunload -i two", 64, "",
	    "kldunload: two: expected an id\n", "");
	fake_fail("kld.unload", EBUSY, "name", "in use");
	fake_check("kldunload if_epair", 1, "",
	    "kldunload: can't unload file: Device busy\n", NULL);
}

static void
test_vmstat(void **state)
{
	fake_reply("intr.list", "{\"events\":[{\"name\":\"em0:rxq0\","
	    "\"cpu\":0,\"total\":2000,\"runs\":3000,\"storms\":0},"
	    "{\"name\":\"epair0a:rxq0\",\"cpu\":1,\"total\":0,\"runs\":0,"
	    "\"storms\":0}],\"totals\":{\"entries\":9},"
	    "\"uptime_ns\":2000000000}");
	fake_check("vmstat -i", 0,
	    "interrupt                total       rate\n"
	    "em0:rxq0                  2000       1000\n"
	    "Total                     2000       1000\n", "",
	    "intr.list {}\n");
	fake_check("vmstat -ia", 0,
	    "interrupt                   total       rate\n"
	    "em0:rxq0                     2000       1000\n"
	    "epair0a:rxq0                    0          0\n"
	    "Total                        2000       1000\n", "", NULL);
	fake_check("vmstat --libxo json -i", 0,
	    "{\"interrupt-statistics\":{\"interrupt\":[{\"name\":\"em0:rxq0\","
	    "\"total\":2000,\"rate\":1000,\"cpu\":0,\"runs\":3000,"
	    "\"storms\":0}],\"total-interrupts\":2000,\"total-rate\":1000,"
	    "\"totals\":{\"entries\":9}}}\n", "", NULL);
	/* The second table is about the time between the two: none passed. */
	fake_check("vmstat -i -c 2", 0,
	    "interrupt                total       rate\n"
	    "em0:rxq0                  2000       1000\n"
	    "Total                     2000       1000\n"
	    "interrupt                total       rate\n"
	    "em0:rxq0                  2000          0\n"
	    "Total                     2000          0\n", "",
	    "intr.list {}\nintr.list {}\n");
	assert_int_equal(fake_run("vmstat")->fr_status, 64);
	assert_int_equal(fake_run("vmstat -i -c 0")->fr_status, 64);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_kldstat, setup),
		cmocka_unit_test_setup(test_kldload, setup),
		cmocka_unit_test_setup(test_kldunload, setup),
		cmocka_unit_test_setup(test_vmstat, setup),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
