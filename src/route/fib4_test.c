/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The trie of control and the trie of lookups, both against a list of prefixes
 * that is searched from end to end.
 */

#include "route/route_test.h"

#include <arpa/inet.h>
#include <sys/resource.h>
#include <errno.h>
#include <pthread.h>

#include <netepoch/epoch.h>

#include "mbuf/mbuf.h"
#include "route/fib4.h"
#include "route/radix.h"

#define	MAXROUTES	200
#define	MAXIDX		2000u

/* The list: rt_idx 0 is a free place. */
struct ref_route {
	uint32_t	rt_key;
	int		rt_plen;
	uint32_t	rt_idx;
};
static struct ref_route ref[MAXROUTES];

static struct ref_route *
ref_find(uint32_t key, int plen)
{
	size_t i;

	for (i = 0; i < MAXROUTES; i++)
		if (ref[i].rt_idx != 0 && ref[i].rt_key == key &&
		    ref[i].rt_plen == plen)
			return (&ref[i]);
	return (NULL);
}

/* The longest prefix below maxlen + 1 bits that holds addr. */
static struct ref_route *
ref_match(uint32_t addr, int maxlen)
{
	struct ref_route *best = NULL;
	size_t i;

	for (i = 0; i < MAXROUTES; i++)
		if (ref[i].rt_idx != 0 && ref[i].rt_plen <= maxlen &&
		    ((addr ^ ref[i].rt_key) & radix_mask(ref[i].rt_plen)) ==
		    0 && (best == NULL || ref[i].rt_plen > best->rt_plen))
			best = &ref[i];
	return (best);
}

/* A prefix in a crowded corner, so that prefixes nest and blocks are shared. */
static uint32_t
random_key(int *plen)
{
	uint32_t key;

	key = 0x0a000000 | (uint32_t)(test_rand() & 0x00030303);
	if (test_rand() % 4 == 0)
		key |= (uint32_t)(test_rand() & 0xff);
	if (test_rand() % 16 == 0)
		key = (uint32_t)test_rand();
	*plen = (int)(test_rand() % 33);
	if (test_rand() % 2 == 0)
		*plen = (int[]){ 15, 16, 17, 23, 24, 25, 31, 32 }
		    [test_rand() % 8];
	if (*plen < 10 && test_rand() % 8 != 0)
		*plen += 10;		/* a short one is many stores */
	return (key & radix_mask(*plen));
}

/* An address at or beside a prefix's edge, or anywhere. */
static uint32_t
random_addr(void)
{
	const struct ref_route *rt = &ref[test_rand() % MAXROUTES];

	switch (test_rand() % 5) {
	case 0:
		return (rt->rt_key);
	case 1:
		return (rt->rt_key | ~radix_mask(rt->rt_plen));
	case 2:
		return (rt->rt_key - 1);
	case 3:
		return ((rt->rt_key | ~radix_mask(rt->rt_plen)) + 1);
	default:
		return (0x0a000000 | (uint32_t)(test_rand() & 0x03030303));
	}
}

/* ---- Radix ---- */

/* Nexthops are only compared here, never looked into: any address does. */
static struct nhop *
fake_nhop(uint32_t idx)
{
	return ((struct nhop *)(uintptr_t)((uintptr_t)idx << 6));
}

static fib4_nhop_slot nhops[MAXIDX];

static void
fake_nhops_init(void)
{
	uint32_t i;

	for (i = 0; i < MAXIDX; i++)
		atomic_init(&nhops[i], fake_nhop(i));
}

static void
check_radix_order(struct rt_node *root)
{
	const struct rt_node *last = NULL, *rn;
	size_t have = 0, i, want = 0;

	for (rn = root; rn != NULL; rn = radix_next(rn)) {
		if (rn->rn_nh == NULL)
			continue;
		if (last != NULL)
			assert_true(last->rn_key < rn->rn_key ||
			    (last->rn_key == rn->rn_key &&
			    last->rn_plen < rn->rn_plen));
		last = rn;
		have++;
	}
	for (i = 0; i < MAXROUTES; i++)
		want += ref[i].rt_idx != 0;
	assert_int_equal(have, want);
}

/* The first route that is not before a random prefix. */
static void
check_radix_seek(struct rt_node *root)
{
	const struct ref_route *best = NULL;
	struct rt_node *rn;
	uint32_t key;
	int plen;
	size_t i;

	key = random_key(&plen);
	for (i = 0; i < MAXROUTES; i++) {
		if (ref[i].rt_idx == 0 || ref[i].rt_key < key ||
		    (ref[i].rt_key == key && ref[i].rt_plen < plen))
			continue;
		if (best == NULL || ref[i].rt_key < best->rt_key ||
		    (ref[i].rt_key == best->rt_key &&
		    ref[i].rt_plen < best->rt_plen))
			best = &ref[i];
	}
	rn = radix_seek(root, key, plen);
	while (rn != NULL && rn->rn_nh == NULL)
		rn = radix_next(rn);
	assert_int_equal(rn != NULL, best != NULL);
	if (rn != NULL) {
		assert_int_equal(rn->rn_key, best->rt_key);
		assert_int_equal(rn->rn_plen, best->rt_plen);
	}
}

static void
check_radix(struct rt_node *root)
{
	const struct ref_route *rt;
	const struct rt_node *rn;
	uint32_t addr;

	addr = random_addr();
	rt = ref_match(addr, 32);
	rn = radix_match(root, addr);
	assert_int_equal(rn != NULL, rt != NULL);
	if (rn == NULL)
		return;
	assert_int_equal(rn->rn_key, rt->rt_key);
	assert_int_equal(rn->rn_plen, rt->rt_plen);
	assert_ptr_equal(rn->rn_nh, fake_nhop(rt->rt_idx));
	rt = rt->rt_plen == 0 ? NULL : ref_match(rt->rt_key, rt->rt_plen - 1);
	rn = radix_cover(rn);
	assert_int_equal(rn != NULL, rt != NULL);
	if (rn != NULL)
		assert_ptr_equal(rn->rn_nh, fake_nhop(rt->rt_idx));
}

static void
test_radix(void **state)
{
	struct rt_node *next, *rn, *root = NULL;
	struct ref_route *rt;
	uint32_t key;
	int plen, round;

	memset(ref, 0, sizeof(ref));
	for (round = 0; round < 40000; round++) {
		rt = &ref[test_rand() % MAXROUTES];
		if (rt->rt_idx != 0) {
			rn = radix_find(root, rt->rt_key, rt->rt_plen);
			assert_non_null(rn);
			radix_remove(&root, rn);
			rt->rt_idx = 0;
			assert_null(radix_find(root, rt->rt_key,
			    rt->rt_plen));
		} else {
			key = random_key(&plen);
			if (ref_find(key, plen) != NULL)
				continue;
			assert_null(radix_find(root, key, plen));
			rn = radix_insert(&root, key, plen);
			assert_non_null(rn);
			*rt = (struct ref_route){ key, plen,
			    1 + (uint32_t)(test_rand() % 1000) };
			rn->rn_nh = fake_nhop(rt->rt_idx);
		}
		check_radix(root);
		check_radix_seek(root);
		if (round % 500 == 0)
			check_radix_order(root);
	}
	/* Removing while walking, as a flush does. */
	for (rn = root; rn != NULL; rn = next) {
		next = radix_next(rn);
		if (rn->rn_nh != NULL)
			radix_remove(&root, rn);
	}
	assert_null(root);
}

/* ---- Lookups ---- */

/* Compare a burst of random length with the list. */
static void
check_fib(void *priv)
{
	const struct ref_route *rt;
	in_addr_t dst[MBUF_BURST];
	const struct nhop *nh[MBUF_BURST + 1];
	unsigned int i, n;

	n = 1 + (unsigned int)(test_rand() % MBUF_BURST);
	for (i = 0; i < n; i++)
		dst[i] = htonl(random_addr());
	nh[n] = fake_nhop(MAXIDX);
	fib4_trie.fm_lookup(priv, nhops, dst, nh, n);
	for (i = 0; i < n; i++) {
		rt = ref_match(ntohl(dst[i]), 32);
		assert_ptr_equal(nh[i],
		    rt == NULL ? NULL : fake_nhop(rt->rt_idx));
	}
	assert_ptr_equal(nh[n], fake_nhop(MAXIDX));
}

static void
fib_delete(void *priv, struct ref_route *rt)
{
	const struct ref_route *cover;

	cover = rt->rt_plen == 0 ? NULL :
	    ref_match(rt->rt_key, rt->rt_plen - 1);
	fib4_trie.fm_delete(priv, rt->rt_key, rt->rt_plen,
	    cover == NULL ? 0 : cover->rt_idx,
	    cover == NULL ? 0 : cover->rt_plen);
	rt->rt_idx = 0;
}

/* One random change of a random route. */
static void
fib_step(void *priv)
{
	struct ref_route *rt = &ref[test_rand() % MAXROUTES];
	uint32_t idx = 1 + (uint32_t)(test_rand() % (MAXIDX - 1));
	uint32_t key;
	int plen;

	if (rt->rt_idx == 0) {
		key = random_key(&plen);
		if (ref_find(key, plen) != NULL)
			return;
		assert_int_equal(fib4_trie.fm_add(priv, key, plen, idx), 0);
		*rt = (struct ref_route){ key, plen, idx };
	} else if (test_rand() % 3 == 0) {
		fib4_trie.fm_change(priv, rt->rt_key, rt->rt_plen, idx);
		rt->rt_idx = idx;
	} else
		fib_delete(priv, rt);
}

static void
test_fib(void **state)
{
	struct epoch_tracker et;
	size_t memory = 0;
	void *priv;
	int i, round;

	memset(ref, 0, sizeof(ref));
	assert_int_equal(fib4_trie.fm_init(&priv), 0);
	for (round = 0; round < 8000; round++) {
		fib_step(priv);
		NET_EPOCH_ENTER(et);
		check_fib(priv);
		NET_EPOCH_EXIT(et);
	}
	/* Empty it, fill it, empty it: blocks come back, nothing stays. */
	for (round = 0; round < 3; round++) {
		for (i = 0; i < MAXROUTES; i++)
			if (ref[i].rt_idx != 0)
				fib_delete(priv, &ref[i]);
		NET_EPOCH_ENTER(et);
		for (i = 0; i < 100; i++)
			check_fib(priv);
		NET_EPOCH_EXIT(et);
		NET_EPOCH_DRAIN_CALLBACKS();
		if (round > 0)
			assert_int_equal(fib4_trie.fm_memory(priv), memory);
		memory = fib4_trie.fm_memory(priv);
		for (i = 0; i < 2000; i++)
			fib_step(priv);
	}
	NET_EPOCH_DRAIN_CALLBACKS();
	fib4_trie.fm_fini(priv);
}

/* ---- Readers while the table changes ---- */

/*
 * 64 stable /24 under 10/8, each with its own number; between and inside them
 * prefixes that come and go, so that blocks are made, dropped and used again
 * for other prefixes all the time.
 */
#define	STABLE		64
#define	STABLE_KEY(i)	(0x0a000000 | (uint32_t)(i) << 14)
#define	FLAP_IDX	1000u	/* numbers of the flapping ones start here */
#define	CHURN_ROUNDS	40000

static _Atomic bool churn_stop;
static _Atomic unsigned int churn_wrong;
static _Atomic uint64_t churn_lookups;

static void *
churn_reader(void *priv)
{
	struct epoch_tracker et;
	in_addr_t dst[MBUF_BURST];
	const struct nhop *nh[MBUF_BURST];
	uint32_t s;
	uint64_t seed = (uintptr_t)&et;
	unsigned int i;

	while (!atomic_load_explicit(&churn_stop, memory_order_relaxed)) {
		for (i = 0; i < MBUF_BURST; i++) {
			s = (uint32_t)(test_next(&seed) % STABLE);
			/* The lower half: no flapping prefix lies there. */
			dst[i] = htonl(STABLE_KEY(s) |
			    (uint32_t)(test_next(&seed) & 0x7f));
		}
		/* One in eight from the upper half, where some do. */
		for (i = 0; i < MBUF_BURST; i += 8)
			dst[i] |= htonl(0x80);
		NET_EPOCH_ENTER(et);
		fib4_trie.fm_lookup(priv, nhops, dst, nh, MBUF_BURST);
		NET_EPOCH_EXIT(et);
		for (i = 0; i < MBUF_BURST; i++) {
			s = (ntohl(dst[i]) >> 14 & 0x3f) + 1;
			if (nh[i] != fake_nhop(s) && ((i & 7) != 0 ||
			    nh[i] != fake_nhop(FLAP_IDX + s)))
				atomic_fetch_add(&churn_wrong, 1);
		}
		atomic_fetch_add(&churn_lookups, MBUF_BURST);
	}
	return (NULL);
}

/* Toggle one of the prefixes that nobody's stable answer depends on. */
static void
churn_toggle(void *priv, bool *on)
{
	unsigned int s = (unsigned int)(test_rand() % STABLE);
	uint32_t key;
	int plen;

	/*
	 * Beside the stable /24, in its upper half, and above all of them (a
	 * store to every entry: now and then).
	 */
	switch (test_rand() % 64) {
	case 0 ... 15:
		s += STABLE;
		key = STABLE_KEY(s % STABLE) | 0x100;
		plen = 24;
		break;
	case 16 ... 31:
		s += 2 * STABLE;
		key = STABLE_KEY(s % STABLE) | 0x200 | 0x40;
		plen = 26;
		break;
	case 32:
		s = 3 * STABLE;
		key = 0x0a000000;
		plen = 8;
		break;
	default:
		key = STABLE_KEY(s) | 0x80;
		plen = 25;
		break;
	}
	if (!on[s])
		assert_int_equal(fib4_trie.fm_add(priv, key, plen,
		    FLAP_IDX + s % STABLE + 1), 0);
	else if (plen == 25)
		fib4_trie.fm_delete(priv, key, plen, s % STABLE + 1, 24);
	else
		fib4_trie.fm_delete(priv, key, plen,
		    plen > 8 && on[3 * STABLE] ? FLAP_IDX + 1 : 0,
		    plen > 8 && on[3 * STABLE] ? 8 : 0);
	on[s] = !on[s];
}

static void
test_fib_churn(void **state)
{
	bool on[3 * STABLE + 1] = { false };
	double end = test_clock() + CHURN_SECONDS;
	pthread_t td[2];
	void *priv;
	int i;

	assert_int_equal(fib4_trie.fm_init(&priv), 0);
	for (i = 0; i < STABLE; i++)
		assert_int_equal(fib4_trie.fm_add(priv, STABLE_KEY(i), 24,
		    (uint32_t)i + 1), 0);
	churn_stop = false;
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&td[i], NULL, churn_reader,
		    priv), 0);
	for (i = 0; test_churn_more(i, CHURN_ROUNDS, end, &churn_lookups);
	    i++)
		churn_toggle(priv, on);
	printf("%d changes\n", i);
	atomic_store(&churn_stop, true);
	for (i = 0; i < 2; i++)
		pthread_join(td[i], NULL);
	printf("%ju lookups\n", (uintmax_t)churn_lookups);
	assert_true(churn_lookups > 0);
	assert_int_equal(churn_wrong, 0);
	NET_EPOCH_DRAIN_CALLBACKS();
	fib4_trie.fm_fini(priv);
}

/* ---- No memory ---- */

/* Let the process grow no more (or again), as far as its own data go. */
static void
limit_data(bool on)
{
	struct rlimit rl;

	assert_int_equal(getrlimit(RLIMIT_DATA, &rl), 0);
	rl.rlim_cur = on ? 4096 : rl.rlim_max;	/* 0 would be no limit */
	assert_int_equal(setrlimit(RLIMIT_DATA, &rl), 0);
}

/* The number that priv has for the first address of key. */
static const struct nhop *
fib_one(void *priv, uint32_t key)
{
	const in_addr_t dst = htonl(key);
	struct epoch_tracker et;
	const struct nhop *nh;

	NET_EPOCH_ENTER(et);
	fib4_trie.fm_lookup(priv, nhops, &dst, &nh, 1);
	NET_EPOCH_EXIT(et);
	return (nh);
}

/*
 * A prefix that needs memory which is not there is refused, and the table is
 * as it was; with memory it is taken.
 */
static void
test_fib_nomem(void **state)
{
	const uint32_t base = 0x20000000;
	uint32_t i, n;
	int error = 0;
	void *priv;

	assert_int_equal(fib4_trie.fm_init(&priv), 0);
	assert_int_equal(fib4_trie.fm_add(priv, 0, 0, 1), 0);
	limit_data(true);
	/* Two blocks for each: far below what the reserved space could hold. */
	for (n = 0; n < 20000; n++) {
		error = fib4_trie.fm_add(priv, base + (n << 16), 32, 2);
		if (error != 0)
			break;
	}
	limit_data(false);
	assert_int_equal(error, ENOMEM);
	for (i = 0; i < n; i++) {
		assert_ptr_equal(fib_one(priv, base + (i << 16)),
		    fake_nhop(2));
		assert_ptr_equal(fib_one(priv, base + (i << 16) + 1),
		    fake_nhop(1));
	}
	assert_ptr_equal(fib_one(priv, base + (n << 16)), fake_nhop(1));
	for (i = n; i < n + 3000; i++)
		assert_int_equal(fib4_trie.fm_add(priv, base + (i << 16), 32,
		    2), 0);
	assert_ptr_equal(fib_one(priv, base + (n << 16)), fake_nhop(2));
	for (i = 0; i < n + 3000; i++)
		fib4_trie.fm_delete(priv, base + (i << 16), 32, 1, 0);
	assert_ptr_equal(fib_one(priv, base), fake_nhop(1));
	NET_EPOCH_DRAIN_CALLBACKS();
	fib4_trie.fm_fini(priv);
}

/* ---- Numbers ---- */

static void
test_idxpool(void **state)
{
	struct idxpool ip;
	bool used[64] = { false };
	uint32_t have[64], idx, n = 0;
	int round;

	assert_int_equal(idxpool_init(&ip, 1, 64), 0);
	for (round = 0; round < 20000; round++) {
		if (test_rand() % 2 == 0) {
			if (idxpool_alloc(&ip, &idx) != 0) {
				assert_int_equal(n, 63);
				continue;
			}
			assert_in_range(idx, 1, 63);
			assert_false(used[idx]);
			used[idx] = true;
			have[n++] = idx;
		} else if (n != 0) {
			idx = (uint32_t)(test_rand() % n);
			used[have[idx]] = false;
			idxpool_free(&ip, have[idx]);
			have[idx] = have[--n];
		}
	}
	idxpool_fini(&ip);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_radix),
		cmocka_unit_test(test_idxpool),
		cmocka_unit_test(test_fib),
		cmocka_unit_test(test_fib_nomem),
		cmocka_unit_test(test_fib_churn),
	};

	test_seed();
	fake_nhops_init();
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
