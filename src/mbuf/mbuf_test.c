/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Tests of packet buffers: no frame is lost or given out twice, whatever
 * thread frees it; chains are compared with a flat buffer over random
 * operations (NETEPOCH_SEED replays a run).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mbuf/mbuf.h"
#include "sys/random_testlib.h"
#include "sys/thread.h"
#include "wire/in_cksum.h"

#define	NFRAMES	2048
#define	FLATMAX	20000

static void
test_init(void **state)
{
	void *base;
	size_t len;

	assert_int_equal(mbuf_init(0), EINVAL);
	assert_int_equal(mbuf_init(NFRAMES - 5), 0);
	assert_int_equal(mbuf_init(NFRAMES), EALREADY);
	assert_int_equal(mbuf_nframes(), NFRAMES);
	assert_int_equal(mbuf_nfree(), NFRAMES);
	mbuf_region(&base, &len);
	assert_int_equal(len, NFRAMES * MBUF_FRAME_SIZE);
	assert_int_equal((uintptr_t)base % MBUF_FRAME_SIZE, 0);
	assert_ptr_equal(base, mbuf_frames);
}

/* Every frame once, then none; a failure gives nothing and is counted. */
static void
test_exhaust(void **state)
{
	static struct mbuf *all[NFRAMES];
	struct mbuf *m[2];
	uint64_t failed = mbuf_nofree();
	char *seen;
	void *base;
	size_t len, i;

	mbuf_region(&base, &len);
	seen = calloc(NFRAMES, 1);
	for (i = 0; i < NFRAMES; i += 64)
		assert_int_equal(m_get_burst(&all[i], 64), 64);
	for (i = 0; i < NFRAMES; i++) {
		size_t at = (size_t)(all[i]->m_data - (char *)base) /
		    MBUF_FRAME_SIZE;

		assert_int_equal(seen[at], 0);
		seen[at] = 1;
		assert_ptr_equal(m_frame(all[i]),
		    (char *)base + at * MBUF_FRAME_SIZE);
		assert_ptr_equal(m_of_frame(all[i]->m_data), all[i]);
		assert_ptr_equal(m_of_frame(m_frame(all[i]) +
		    MBUF_FRAME_SIZE - 1), all[i]);
		assert_int_equal((uintptr_t)all[i]->m_data % CACHE_LINE_SIZE,
		    0);
		assert_true(m_leadingspace(all[i]) >= MBUF_HEADROOM);
		assert_true(m_trailingspace(all[i]) >= MBUF_DATA_SIZE);
		assert_int_equal(m_leadingspace(all[i]) +
		    m_trailingspace(all[i]), MBUF_FRAME_SIZE);
	}
	assert_int_equal(mbuf_nfree(), 0);
	assert_null(m_gethdr());
	assert_int_equal(m_get_burst(m, 2), 0);
	assert_int_equal(mbuf_nofree(), failed + 2);
	m_free_burst(all, 64);
	assert_int_equal(m_get_burst(m, 2), 2);
	m_free_burst(m, 2);
	for (i = 64; i < NFRAMES; i += 64)
		m_free_burst(&all[i], 64);
	assert_int_equal(mbuf_nfree(), NFRAMES);
	free(seen);
}

/* One thread takes, another frees: frames come round for ever. */
struct handover {
	struct mbuf	*_Atomic ho_slot[256];
	_Atomic bool	 ho_stop;
};

static void
free_main(void *arg)
{
	struct handover *ho = arg;
	struct mbuf *m;
	bool stop;

	do {
		stop = ho->ho_stop;
		for (size_t i = 0; i < nitems(ho->ho_slot); i++)
			if ((m = atomic_exchange(&ho->ho_slot[i], NULL)) !=
			    NULL)
				m_freem(m);
	} while (!stop);
}

static void
test_two_threads(void **state)
{
	static struct handover ho;
	struct thread *td;
	struct mbuf *m;
	uint64_t passed = 0;

	assert_int_equal(thread_create(&td, "free", THREAD_ANY_CPU, free_main,
	    &ho), 0);
	while (passed < 20 * NFRAMES) {
		if ((m = m_gethdr()) == NULL)
			continue;
		m = atomic_exchange(&ho.ho_slot[passed % 256], m);
		if (m != NULL)
			m_freem(m);
		passed++;
	}
	ho.ho_stop = true;
	thread_join(td);
	assert_int_equal(mbuf_nfree(), NFRAMES);
}

/* A packet of len random bytes, cut into mbufs at random; flat has them. */
static struct mbuf *
random_packet(uint32_t len, uint8_t *flat)
{
	struct mbuf *m = m_gethdr(), *n;
	uint32_t piece, done = 0;

	assert_non_null(m);
	for (uint32_t i = 0; i < len; i++)
		flat[i] = (uint8_t)rand();
	while (done < len) {
		piece = 1 + (uint32_t)rand() % (rand() % 4 == 0 ? 3000 : 60);
		if (piece > len - done)
			piece = len - done;
		n = m_devget(flat + done, piece);
		assert_non_null(n);
		if (rand() % 2 == 0 && done != 0) {
			m_cat(m, n);
		} else {
			assert_int_equal(m_append(m, piece, flat + done), 0);
			m_freem(n);
		}
		done += piece;
	}
	return (m);
}

static void
check_packet(const struct mbuf *m, const uint8_t *flat, uint32_t len)
{
	static uint8_t got[2 * FLATMAX];
	uint32_t sum = 0;

	assert_int_equal(m->m_pkthdr.len, len);
	for (const struct mbuf *n = m; n != NULL; n = n->m_next)
		sum += n->m_len;
	assert_int_equal(sum, len);
	m_copydata(m, 0, len, got);
	assert_memory_equal(got, flat, len);
}

static void
one_round(void)
{
	static uint8_t flat[2 * FLATMAX];
	struct mbuf *m, *n;
	uint32_t len = 1 + (uint32_t)rand() % FLATMAX, k, off;

	m = random_packet(len, flat);
	check_packet(m, flat, len);
	off = (uint32_t)rand() % len;
	k = (uint32_t)rand() % (len - off + 1);
	assert_int_equal(in_cksum_finish(m_cksum(m, off, k)),
	    in_cksum(flat + off, k));
	switch (rand() % 6) {
	case 0:
		k = (uint32_t)rand() % 100;
		m = m_pullup(m, k);
		if (k > len) {
			assert_null(m);
			return;
		}
		assert_true(m->m_len >= k);
		break;
	case 1:
		k = (uint32_t)rand() % (len + 1);
		m_adj(m, (int)k);
		len -= k;
		memmove(flat, flat + k, len);
		break;
	case 2:
		k = (uint32_t)rand() % (len + 1);
		m_adj(m, -(int)k);
		len -= k;
		break;
	case 3:
		if (len == 1)
			break;
		k = 1 + (uint32_t)rand() % (len - 1);
		n = m_split(m, k);
		assert_non_null(n);
		check_packet(m, flat, k);
		check_packet(n, flat + k, len - k);
		m_cat(m, n);
		break;
	case 4:
		n = m_dup(m);
		assert_non_null(n);
		m_freem(m);
		m = n;
		break;
	case 5:
		k = 1 + (uint32_t)rand() % MBUF_DATA_SIZE;
		m = m_prepend(m, k);
		assert_non_null(m);
		assert_true(m->m_len >= k);
		memmove(flat + k, flat, len);
		memset(flat, 0xa5, k);
		memset(m->m_data, 0xa5, k);
		len += k;
		break;
	}
	if (len > 0)
		check_packet(m, flat, len);
	m_freem(m);
}

static void
test_chains(void **state)
{

	for (int i = 0; i < 3000; i++)
		one_round();
	assert_int_equal(mbuf_nfree(), NFRAMES);
}

/* A partial sum is finished alike in one piece and cut at every byte. */
static void
test_cksum_finish(void **state)
{
	uint8_t flat[200], out[200];
	struct mbuf *m, *tail;
	uint16_t want = 0;

	for (uint32_t cut = 0; cut < sizeof(flat); cut++) {
		for (uint32_t i = 0; i < sizeof(flat); i++)
			flat[i] = (uint8_t)(i * 7);
		m = m_devget(flat, sizeof(flat));
		if (cut != 0) {
			tail = m_split(m, cut);
			m_cat(m, tail);
		}
		m->m_pkthdr.csum_flags = CSUM_PARTIAL;
		m->m_pkthdr.csum_start = 35;
		m->m_pkthdr.csum_offset = 16;
		assert_true(m_cksum_finish(m));
		assert_int_equal(m->m_pkthdr.csum_flags, 0);
		m_copydata(m, 0, sizeof(out), out);
		if (cut == 0)
			memcpy(&want, out + 51, 2);
		assert_memory_equal(out + 51, &want, 2);
		memcpy(flat + 51, &want, 2);
		assert_memory_equal(out, flat, sizeof(out));
		m_freem(m);
	}
	m = m_devget(flat, 60);
	m->m_pkthdr.csum_flags = CSUM_PARTIAL;
	m->m_pkthdr.csum_start = 50;
	m->m_pkthdr.csum_offset = 9;
	assert_false(m_cksum_finish(m));
	m_freem(m);
	assert_int_equal(mbuf_nfree(), NFRAMES);
}

/* Appending is all or nothing when frames run out. */
static void
test_append_nomem(void **state)
{
	static struct mbuf *all[NFRAMES];
	static uint8_t big[8000];
	struct mbuf *m;
	size_t n = 0;

	m = m_devget(big, 100);
	while (n < NFRAMES - 2 && m_get_burst(&all[n], 1) == 1)
		n++;
	assert_int_equal(m_append(m, sizeof(big), big), ENOBUFS);
	assert_int_equal(m->m_pkthdr.len, 100);
	assert_null(m->m_next);
	for (size_t i = 0; i < n; i++)
		m_freem(all[i]);
	m_freem(m);
	assert_int_equal(mbuf_nfree(), NFRAMES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_init),
		cmocka_unit_test(test_exhaust),
		cmocka_unit_test(test_two_threads),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_cksum_finish),
		cmocka_unit_test(test_append_nomem),
	};

	srand((unsigned int)test_seed());
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
