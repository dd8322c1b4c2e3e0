/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* Output as text and as JSON, numbers and addresses in text. */

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/addr.h"
#include "tools/out.h"
#include "tools/tool.h"

/* One walk, whose output is compared in both forms. */
static void
walk(struct out *o)
{
	out_open(o, "statistics");
	out_text(o, "Name   N\n");
	out_list(o, "row");
	out_instance(o);
	out_str(o, "name", "em0", "%-6s", "em0");
	out_int(o, "n", 7, "%2d\n", 7);
	out_put(o, "more", json_true());
	out_close(o);
	out_str(o, NULL, "plain", "plain\n");
	out_close(o);
	out_close(o);
}

static void
test_walk(void **state)
{
	char buf[256] = "";
	struct out *o;
	FILE *f;

	f = fmemopen(buf, sizeof(buf), "w");
	assert_non_null(o = out_alloc(f, false, false));
	walk(o);
	assert_int_equal(out_flush(o), 0);
	out_free(o);
	(void)fclose(f);
	assert_string_equal(buf, "Name   N\nem0    7\nplain\n");

	f = fmemopen(buf, sizeof(buf), "w");
	assert_non_null(o = out_alloc(f, true, false));
	walk(o);
	assert_int_equal(out_flush(o), 0);
	walk(o);
	assert_int_equal(out_flush(o), 0);
	assert_int_equal(out_flush(o), 0);
	out_free(o);
	(void)fclose(f);
	assert_string_equal(buf,
	    "{\"statistics\":{\"row\":[{\"name\":\"em0\",\"n\":7,"
	    "\"more\":true},\"plain\"]}}\n"
	    "{\"statistics\":{\"row\":[{\"name\":\"em0\",\"n\":7,"
	    "\"more\":true},\"plain\"]}}\n");
}

/* A string that JSON cannot hold makes the flush fail, not the walk. */
static void
test_failed(void **state)
{
	char buf[64] = "";
	struct out *o;
	FILE *f;

	f = fmemopen(buf, sizeof(buf), "w");
	assert_non_null(o = out_alloc(f, true, false));
	out_str(o, "name", "\xff\xfe", "x");
	out_put(o, "n", json_integer(1));
	assert_int_not_equal(out_flush(o), 0);
	out_put(o, "n", json_integer(1));
	assert_int_equal(out_flush(o), 0);
	out_free(o);
	(void)fclose(f);
	assert_string_equal(buf, "{\"n\":1}\n");
}

/* A full disk is named, also if stdio met it before the flush did. */
static void
test_full(void **state)
{
	struct out *o;
	FILE *f;
	int i;

	for (i = 0; i < 2; i++) {
		f = fopen("/dev/full", "w");
		assert_non_null(f);
		assert_non_null(o = out_alloc(f, i == 1, false));
		out_str(o, "name", "a", "a\n");
		assert_int_equal(out_flush(o), ENOSPC);
		out_free(o);
		(void)fclose(f);
	}
	f = fopen("/dev/full", "w");
	assert_non_null(f);
	(void)setvbuf(f, NULL, _IONBF, 0);
	assert_non_null(o = out_alloc(f, false, false));
	out_text(o, "nothing of this is left to flush\n");
	assert_int_not_equal(out_flush(o), 0);
	out_free(o);
	(void)fclose(f);
}

static void
test_bits(void **state)
{
	static const struct out_name names[] = {
		{ 0x1, "UP" }, { 0x10, "POINTOPOINT" }, OUT_NAMES_END
	};
	char buf[64], small[8];

	out_bits(buf, sizeof(buf), 0, names);
	assert_string_equal(buf, "0<>");
	out_bits(buf, sizeof(buf), 0x8011, names);
	assert_string_equal(buf, "8011<UP,POINTOPOINT>");
	out_bits(small, sizeof(small), 0x8011, names);
	assert_string_equal(small, "8011<UP");
}

static void
test_numbers(void **state)
{
	static const struct {
		uint64_t	 n;
		const char	*text;
	} human[] = {
		{ 0, "0" }, { 999, "999" }, { 1000, "1.0K" },
		{ 9999, "9.9K" }, { 12345, "12K" }, { 999999, "999K" },
		{ 1500000, "1.5M" }, { 18446744073709551615u, "18E" },
	};
	char buf[32];
	size_t i;

	for (i = 0; i < nitems(human); i++) {
		out_human(buf, sizeof(buf), human[i].n);
		assert_string_equal(buf, human[i].text);
	}
	out_thousands(buf, sizeof(buf), "0");
	assert_string_equal(buf, "0");
	out_thousands(buf, sizeof(buf), "-123456");
	assert_string_equal(buf, "-123,456");
	out_thousands(buf, sizeof(buf), "1234567");
	assert_string_equal(buf, "1,234,567");
}

static void
test_tool_number(void **state)
{
	long long val;

	assert_true(tool_number("0x10", 0, 16, &val));
	assert_int_equal(val, 16);
	assert_true(tool_number("-5", -5, 5, &val));
	assert_false(tool_number("", 0, 9, &val));
	assert_false(tool_number(" 1", 0, 9, &val));
	assert_false(tool_number("1x", 0, 9, &val));
	assert_false(tool_number("10", 0, 9, &val));
	assert_false(tool_number("99999999999999999999", 0, INT64_MAX, &val));
}

static void
test_prefix(void **state)
{
	static const char *const bad[] = { "", "/", "10", "10/", "/8",
	    "10.0.0.0.0/8", "10/33", "256/8", "10./8", "10/8x", "a/8",
	    "1000/8", "10/-1" };
	struct in_addr in;
	int plen;
	size_t i;

	assert_true(addr_prefix_parse("10/8", &in, &plen));
	assert_int_equal(ntohl(in.s_addr), 0x0a000000);
	assert_int_equal(plen, 8);
	assert_true(addr_prefix_parse("192.0.2.77/32", &in, &plen));
	assert_int_equal(ntohl(in.s_addr), 0xc000024d);
	for (i = 0; i < nitems(bad); i++)
		assert_false(addr_prefix_parse(bad[i], &in, &plen));
}

static void
test_mask(void **state)
{
	static const char *const bad[] = { "", "0x", "0xfffffff0f", "0xg",
	    "0xff00ff00", "255.0.255.0", "255.255.255", "24" };
	char text[16];
	int plen, want;
	struct in_addr in;
	size_t i;

	for (want = 0; want <= 32; want++) {
		in = addr_mask(want);
		assert_true(addr_mask_parse(inet_ntoa(in), &plen));
		assert_int_equal(plen, want);
		(void)snprintf(text, sizeof(text), "0x%08x",
		    ntohl(in.s_addr));
		assert_true(addr_mask_parse(text, &plen));
		assert_int_equal(plen, want);
	}
	assert_int_equal(addr_mask(-1).s_addr, 0);
	assert_int_equal(addr_mask(40).s_addr, 0xffffffff);
	for (i = 0; i < nitems(bad); i++)
		assert_false(addr_mask_parse(bad[i], &plen));
}

static void
test_mac(void **state)
{
	static const char *const bad[] = { "", "02:00:00:00:00",
	    "02:00:00:00:00:01:", "02:00:00:00:00:01:02", "002:0:0:0:0:1",
	    "02:00:00:00:00:0g", "020000000001", "02::00:00:00:01" };
	char text[MAC_STRLEN];
	uint8_t mac[6];
	size_t i;

	assert_true(mac_parse("2:0-A:bC:ff:1", mac));
	mac_format(mac, ':', text);
	assert_string_equal(text, "02:00:0a:bc:ff:01");
	mac_format(mac, '-', text);
	assert_string_equal(text, "02-00-0a-bc-ff-01");
	for (i = 0; i < nitems(bad); i++)
		assert_false(mac_parse(bad[i], mac));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_failed),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_bits),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_tool_number),
		cmocka_unit_test(test_prefix),
		cmocka_unit_test(test_mask),
		cmocka_unit_test(test_mac),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
