/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* Tests of SCTP checksums: values that others publish, and what is left. */

#include "wire/wire_test.h"

#include "wire/in_sctp.h"

/* From RFC 3720 B.4, and the check value of the polynomial. */
static void
test_values(void **state)
{
	uint8_t b[32] = { 0 };

	assert_int_equal(crc32c("123456789", 9), 0xe3069283);
	assert_int_equal(crc32c("", 0), 0);
	assert_int_equal(crc32c(b, 32), 0x8a9136aa);
	memset(b, 0xff, 32);
	assert_int_equal(crc32c(b, 32), 0x62a8ab43);
	for (int i = 0; i < 32; i++)
		b[i] = (uint8_t)i;
	assert_int_equal(crc32c(b, 32), 0x46dd794e);
}

/* An SCTP packet of paylen bytes behind its header, its checksum zero. */
static size_t
make(uint8_t *p, int v, size_t paylen)
{
	size_t len, off = v == 4 ? 20 : 40;

	len = test_packet(p, v, 17, 0, paylen + 4);
	p[v == 4 ? 9 : 6] = 132;
	memset(p + off + SCTP_SUMOFF, 0, 4);
	return (len);
}

static void
test_finish(void **state)
{
	uint8_t p[1600], want[1600], *tight;
	size_t cut, len, off, pad;
	uint32_t crc;

	for (int round = 0; round < 2000; round++) {
		off = round % 2 == 0 ? 20 : 40;
		len = make(p, round % 2 == 0 ? 4 : 6, test_rand() % 1400);
		memcpy(want, p, len);
		crc = crc32c(want + off, len - off);
		for (int i = 0; i < 4; i++)
			want[off + SCTP_SUMOFF + (size_t)i] =
			    (uint8_t)(crc >> 8 * i);
		pad = test_rand() % 20;
		test_fill(p + len, pad);
		assert_true(in_sctp_finish(p, len + pad));
		assert_memory_equal(p, want, len);
		/* Once only: it is not zero any more. */
		assert_false(in_sctp_finish(p, len + pad));
		assert_memory_equal(p, want, len);
	}
	/* Fragments, other protocols, and any cut, are left as they are. */
	len = make(p, 4, 50);
	p[6] = 0x20;
	assert_false(in_sctp_finish(p, len));
	p[6] = 0;
	p[9] = 17;
	assert_false(in_sctp_finish(p, len));
	p[9] = 132;
	for (cut = 0; cut < len; cut++) {
		assert_non_null(tight = malloc(cut != 0 ? cut : 1));
		memcpy(tight, p, cut);
		assert_false(in_sctp_finish(tight, cut));
		free(tight);
	}
	assert_true(in_sctp_finish(p, len));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_finish),
	};

	test_seed();
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
