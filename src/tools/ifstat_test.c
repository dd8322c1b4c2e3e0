/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* Rates, peaks, scales and choices of systat -ifstat. */

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/ifstat.h"

struct port {
	const char	*p_name;
	int		 p_index;
	json_int_t	 p_ib, p_ip, p_ob, p_op;
};

static void
sample(struct ifstat *is, const struct port *ports, size_t n, double now)
{
	json_t *ifs = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		(void)json_array_append_new(ifs, json_pack(
		    "{s:s, s:i, s:{s:I, s:I, s:I, s:I}}", "name",
		    ports[i].p_name, "index", ports[i].p_index, "counters",
		    "ibytes", ports[i].p_ib, "ipackets", ports[i].p_ip,
		    "obytes", ports[i].p_ob, "opackets", ports[i].p_op));
	assert_int_equal(ifstat_sample(is, ifs, now), 0);
	json_decref(ifs);
}

static void
check_line(const struct ifstat *is, size_t row, enum ifstat_dir dir,
    const char *want)
{
	char line[IFSTAT_LINE];

	ifstat_line(is, &is->is_rows[row], dir, line);
	assert_string_equal(line, want);
}

static void
test_rates(void **state)
{
	const struct port one[] = { { "em0", 2, 0, 0, 1024, 1 } };
	const struct port two[] = { { "em0", 2, 20480, 20, 1024, 1 },
	    { "em1", 5, 7, 1, 0, 0 } };
	const struct port three[] = { { "em0", 2, 22528, 22, 1024, 1 },
	    { "em1", 5, 7, 1, 0, 0 } };
	struct ifstat is;

	ifstat_init(&is);
	sample(&is, one, 1, 100);
	check_line(&is, 0, IFSTAT_OUT,
	    "                 out     0.000 KB/s          0.000 KB/s"
	    "            1.000 KB");
	assert_false(ifstat_visible(&is, &is.is_rows[0]));
	sample(&is, two, 2, 102);
	/* The newest interface first. */
	assert_string_equal(is.is_rows[0].ir_name, "em1");
	check_line(&is, 1, IFSTAT_IN,
	    "            em0  in     10.000 KB/s         10.000 KB/s"
	    "           20.000 KB");
	sample(&is, three, 2, 104);
	check_line(&is, 1, IFSTAT_IN,
	    "            em0  in      1.000 KB/s         10.000 KB/s"
	    "           22.000 KB");
	is.is_pps = true;
	is.is_rows[0].ir_prate[IFSTAT_OUT] = 14880952.4;
	check_line(&is, 0, IFSTAT_OUT,
	    "                 out  14880952 p/s           0.000 p/s"
	    "                 0 p");
	check_line(&is, 1, IFSTAT_IN,
	    "            em0  in      1.000 p/s          10.000 p/s"
	    "                22 p");
	ifstat_fini(&is);
}

/* Same name, other index: another interface, without the old one's peak. */
static void
test_reborn(void **state)
{
	const struct port old[] = { { "p1", 2, 100, 1, 0, 0 } };
	const struct port more[] = { { "p1", 2, 5000, 1, 0, 0 } };
	const struct port new[] = { { "p1", 9, 300, 3, 0, 0 } };
	const struct port cleared[] = { { "p1", 9, 10, 1, 0, 0 } };
	struct ifstat is;

	ifstat_init(&is);
	sample(&is, old, 1, 1);
	sample(&is, more, 1, 2);
	assert_true(is.is_rows[0].ir_bpeak[IFSTAT_IN] > 4899);
	sample(&is, new, 1, 3);
	assert_true(is.is_rows[0].ir_bpeak[IFSTAT_IN] < 1);
	/* Counters that were cleared are no rate. */
	sample(&is, cleared, 1, 4);
	assert_true(is.is_rows[0].ir_brate[IFSTAT_IN] < 1);
	sample(&is, NULL, 0, 5);
	assert_int_equal(is.is_nrows, 0);
	ifstat_fini(&is);
}

static void
test_scales(void **state)
{
	static const struct {
		const char	*scale;
		const char	*total;
	} scales[] = {
		{ "auto", "       2.000 GB" }, { "byte", "2147483648.000  B" },
		{ "kbyte", " 2097152.000 KB" }, { "mbyte", "    2048.000 MB" },
		{ "gbyte", "       2.000 GB" }, { "tbyte", "       0.002 TB" },
		{ "bit", "17179869184.000  b" }, { "kbit", "17179869.184 Kb" },
		{ "mbit", "   17179.869 Mb" }, { "gbit", "      17.180 Gb" },
		{ "TBIT", "       0.017 Tb" },
	};
	const struct port port[] = { { "em0", 1, 2147483648, 1, 0, 0 } };
	char line[IFSTAT_LINE], msg[128];
	struct ifstat is;
	size_t i;

	ifstat_init(&is);
	sample(&is, port, 1, 1);
	for (i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
		assert_true(ifstat_command(&is, "scale", scales[i].scale, msg,
		    sizeof(msg)));
		assert_string_equal(msg, "");
		ifstat_line(&is, &is.is_rows[0], IFSTAT_IN, line);
		assert_string_equal(line + 60, scales[i].total);
	}
	assert_true(ifstat_command(&is, "scale", "cubit", msg, sizeof(msg)));
	assert_string_equal(msg, "what scale? byte, kbyte, mbyte, gbyte, "
	    "tbyte, bit, kbit, mbit, gbit, tbit, auto");
	ifstat_fini(&is);
}

static void
test_choice(void **state)
{
	const struct port ports[] = { { "em0", 2, 1, 1, 0, 0 },
	    { "tap7", 1, 0, 0, 5, 1 } };
	struct ifstat is;
	char msg[128];

	ifstat_init(&is);
	sample(&is, ports, 2, 1);
	assert_true(ifstat_visible(&is, &is.is_rows[0]));
	assert_false(ifstat_visible(&is, &is.is_rows[1]));
	assert_true(ifstat_command(&is, "all", "", msg, sizeof(msg)));
	assert_true(ifstat_visible(&is, &is.is_rows[1]));
	assert_true(ifstat_command(&is, "match", "lo*;TAP? x", msg,
	    sizeof(msg)));
	assert_false(ifstat_visible(&is, &is.is_rows[0]));
	assert_true(ifstat_visible(&is, &is.is_rows[1]));
	assert_true(ifstat_command(&is, "match", "*", msg, sizeof(msg)));
	assert_true(ifstat_visible(&is, &is.is_rows[0]));
	assert_true(ifstat_command(&is, "pps", "", msg, sizeof(msg)));
	assert_true(is.is_pps);
	assert_false(ifstat_command(&is, "quit", "", msg, sizeof(msg)));
	ifstat_fini(&is);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_reborn),
		cmocka_unit_test(test_scales),
		cmocka_unit_test(test_choice),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
