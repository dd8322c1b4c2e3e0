/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * What broke other reclamation libraries: references from zero, reclaiming
 * inside a section, waits among idle and busy readers.
 */
#include "epoch_test_util.h"

static uint64_t seed;

/*
 * An object is found by index in a section and then referenced, while
 * its owner drops the last reference and defers the free.
 */
struct k03_object {
	uint32_t	 o_refs;
	uint32_t	 o_dead;
	struct epoch_context o_ctx;
};

static struct k03_object *k03_table[16];
static int k03_stop;

static bool
k03_tryref(struct k03_object *o)
{
	uint32_t refs = __atomic_load_n(&o->o_refs, __ATOMIC_RELAXED);

	do {
		if (refs == 0)
			return (false);
	} while (!__atomic_compare_exchange_n(&o->o_refs, &refs, refs + 1,
	    true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
	return (true);
}

static void
k03_free_cb(epoch_context_t ctx)
{
	struct k03_object *o = __containerof(ctx, struct k03_object, o_ctx);

	assert_int_equal(__atomic_load_n(&o->o_refs, __ATOMIC_RELAXED), 0);
	o->o_dead = 1;
	free(o);
}

static void
k03_rele(struct k03_object *o)
{
	if (__atomic_sub_fetch(&o->o_refs, 1, __ATOMIC_ACQ_REL) == 0)
		NET_EPOCH_CALL(k03_free_cb, &o->o_ctx);
}

static void *
k03_writer(void *arg)
{
	struct k03_object *o, *old;
	unsigned int i;

	(void)arg;
	for (i = 0; i < 100000 / SLOW; i++) {
		o = calloc(1, sizeof(*o));
		o->o_refs = 1;
		old = __atomic_exchange_n(&k03_table[i % 16], o,
		    __ATOMIC_ACQ_REL);
		if (old != NULL)
			k03_rele(old);
	}
	STORE(&k03_stop, 1);
	return (NULL);
}

static void
test_k03(void **state)
{
	unsigned long found = 0, none = 0, i;
	struct k03_object *o;
	struct epoch_tracker et;
	pthread_t t;
	bool held;

	(void)state;
	spawn(&t, k03_writer, NULL);
	for (i = 0; i < 1000000 / SLOW || LOAD(&k03_stop) == 0 || found == 0;
	    i++) {
		NET_EPOCH_ENTER(et);
		o = __atomic_load_n(&k03_table[i % 16], __ATOMIC_ACQUIRE);
		held = o != NULL && k03_tryref(o);
		NET_EPOCH_EXIT(et);
		if (!held) {
			none++;
			continue;
		}
		found++;
		assert_int_equal(o->o_dead, 0);
		k03_rele(o);
	}
	join(t);
	for (i = 0; i < 16; i++) {
		if (k03_table[i] != NULL)
			k03_rele(k03_table[i]);
		k03_table[i] = NULL;
	}
	NET_EPOCH_DRAIN_CALLBACKS();
	print_message("%lu lookups found an object, %lu none\n", found, none);
}

/* The refusal itself, without luck: unlinked, at zero, still in a section. */
static void
test_k03_zero(void **state)
{
	struct epoch_tracker et;
	struct k03_object *o;

	(void)state;
	o = calloc(1, sizeof(*o));
	assert_non_null(o);
	o->o_refs = 1;
	NET_EPOCH_ENTER(et);
	assert_true(k03_tryref(o));
	k03_rele(o);
	k03_rele(o);			/* the last: deferred */
	assert_false(k03_tryref(o));	/* and the object is still there */
	NET_EPOCH_EXIT(et);
	NET_EPOCH_DRAIN_CALLBACKS();
}

/* Polling in a section never runs what the section may hold. */
struct k07_object {
	uint64_t	 o_canary[8];
	struct epoch_context o_ctx;
};

static struct epoch *k07_epoch;
static int k07_stop;
static unsigned int k07_freed;

static void
k07_free_cb(epoch_context_t ctx)
{
	struct k07_object *o = __containerof(ctx, struct k07_object, o_ctx);

	(void)memset(o->o_canary, 0xdd, sizeof(o->o_canary));
	(void)__atomic_fetch_add(&k07_freed, 1, __ATOMIC_SEQ_CST);
	free(o);
}

static void *
k07_other(void *arg)
{
	(void)arg;
	while (LOAD(&k07_stop) == 0) {
		epoch_enter(k07_epoch);
		epoch_exit(k07_epoch);
		(void)epoch_poll(k07_epoch);
	}
	return (NULL);
}

static void
k07(unsigned int flags)
{
	struct k07_object *o;
	pthread_t t;
	int i, j;

	k07_epoch = epoch_alloc("k07", flags);
	STORE(&k07_stop, 0);
	STORE(&k07_freed, 0);
	spawn(&t, k07_other, NULL);
	for (i = 0; i < 300; i++) {
		o = malloc(sizeof(*o));
		assert_non_null(o);
		for (j = 0; j < 8; j++)
			o->o_canary[j] = 0x1234567 + (uint64_t)j;
		epoch_enter(k07_epoch);
		epoch_call(k07_epoch, k07_free_cb, &o->o_ctx);
		for (j = 0; j < 100; j++)
			assert_int_equal(epoch_poll(k07_epoch), 0);
		if (i % 10 == 0)
			nap(300);
		for (j = 0; j < 8; j++)
			assert_int_equal(o->o_canary[j],
			    0x1234567 + (uint64_t)j);
		epoch_exit(k07_epoch);
		if (i % 16 == 0)
			(void)epoch_poll(k07_epoch);
	}
	STORE(&k07_stop, 1);
	join(t);
	epoch_free(k07_epoch);
	assert_int_equal(k07_freed, 300);
}

static void
test_k07(void **state)
{
	(void)state;
	k07(EPOCH_POLLED);
	k07(EPOCH_POLLED | EPOCH_ASYMMETRIC);
	k07(0);
}

/*
 * Idle and busy records mixed; the wait is never early.  One reader
 * numbers its sections: what it was in when the wait began must be over.
 */
struct k08 {
	epoch_t		 k_epoch;
	uint64_t	 k_inside;	/* number of the open section, or 0 */
	uint64_t	 k_seed;
	int		 k_stop;
	int		 k_ready;
};

static void *
k08_idle(void *arg)
{
	struct k08 *k = arg;

	epoch_enter(k->k_epoch);
	epoch_exit(k->k_epoch);
	(void)__atomic_add_fetch(&k->k_ready, 1, __ATOMIC_SEQ_CST);
	while (LOAD(&k->k_stop) == 0)
		nap(1000);
	return (NULL);
}

static void *
k08_busy(void *arg)
{
	struct k08 *k = arg;
	uint64_t state = seed ^ (uintptr_t)&state;
	unsigned int n;

	(void)__atomic_add_fetch(&k->k_ready, 1, __ATOMIC_SEQ_CST);
	while (LOAD(&k->k_stop) == 0) {
		epoch_enter(k->k_epoch);
		for (n = (unsigned int)(rnd(&state) % 64); n > 0; n--)
			__asm__ volatile("" ::: "memory");
		epoch_exit(k->k_epoch);
		if (rnd(&state) % 64 == 0)
			nap((long)(rnd(&state) % 100));
	}
	return (NULL);
}

static void *
k08_long(void *arg)
{
	struct k08 *k = arg;
	uint64_t number = 0, state = k->k_seed;
	uint64_t end;

	(void)__atomic_add_fetch(&k->k_ready, 1, __ATOMIC_SEQ_CST);
	while (LOAD(&k->k_stop) == 0) {
		epoch_enter(k->k_epoch);
		STORE(&k->k_inside, ++number);
		end = now_ns() + rnd(&state) % 20000;
		while (now_ns() < end)
			continue;
		STORE(&k->k_inside, 0);
		epoch_exit(k->k_epoch);
		end = now_ns() + rnd(&state) % 5000;
		while (now_ns() < end)
			continue;
	}
	return (NULL);
}

static void
k08(unsigned int flags, unsigned int rounds)
{
	struct k08 k = { epoch_alloc("k08", flags), 0, seed | 1, 0, 0 };
	uint64_t before, state = seed | 1;
	unsigned int i, caught = 0;
	pthread_t t[8];

	for (i = 0; i < 4; i++)
		spawn(&t[i], k08_idle, &k);
	for (; i < 7; i++)
		spawn(&t[i], k08_busy, &k);
	spawn(&t[7], k08_long, &k);
	while (LOAD(&k.k_ready) != 8)
		nap(100);
	/* At least one round begins in a section. */
	for (i = 0; i < rounds || caught == 0; i++) {
		before = LOAD(&k.k_inside);
		epoch_wait(k.k_epoch);
		if (before != 0) {
			caught++;
			assert_int_not_equal(LOAD(&k.k_inside), before);
		}
		if (rnd(&state) % 8 == 0)
			nap((long)(rnd(&state) % 50));
	}
	STORE(&k.k_stop, 1);
	for (i = 0; i < 8; i++)
		join(t[i]);
	epoch_free(k.k_epoch);
	print_message("%u of %u rounds began in a section\n", caught, i);
}

static void
test_k08(void **state)
{
	(void)state;
	k08(0, 10000 / SLOW);
	k08(EPOCH_ASYMMETRIC, 2000 / SLOW);
}

/* The 50 ms section as it stands in the case, once. */
static void *
k08_50ms(void *arg)
{
	struct k08 *k = arg;

	epoch_enter(k->k_epoch);
	STORE(&k->k_ready, 1);
	nap(50000);
	STORE(&k->k_inside, 2);
	epoch_exit(k->k_epoch);
	return (NULL);
}

static void
test_k08_50ms(void **state)
{
	struct k08 k = { epoch_alloc("k08", 0), 1, 1, 0, 0 };
	struct epoch_stats st;
	pthread_t t;

	(void)state;
	spawn(&t, k08_50ms, &k);
	while (LOAD(&k.k_ready) == 0)
		nap(100);
	epoch_wait(k.k_epoch);
	assert_int_equal(LOAD(&k.k_inside), 2);
	join(t);
	epoch_stats_get(k.k_epoch, &st);
	assert_true(st.es_longest_grace > 30000000);
	assert_true(st.es_longest_section > 30000000);
	assert_int_equal(st.es_nblocked, 1);
	epoch_free(k.k_epoch);
}

static int
start(void **state)
{
	(void)state;
	seed = seed_get();
	return (0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_k03),
		cmocka_unit_test(test_k03_zero),
		cmocka_unit_test(test_k07),
		cmocka_unit_test(test_k08),
		cmocka_unit_test(test_k08_50ms),
	};

	return (cmocka_run_group_tests(tests, start, NULL));
}
