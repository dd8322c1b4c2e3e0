/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * A table that is destroyed while it grows under a reader, which another
 * library's table answered with a deadlock.  The table here is what a user of
 * libepoch would write: an array of entries that doubles, old arrays go by
 * epoch_call(), and the table itself, too.  It is destroyed from outside a
 * section, from inside one, and from a callback, while its writer is at any
 * point of a growth and a reader is inside.
 */
#include "epoch_test_util.h"

#define	ENTRIES		(200000U / SLOW)
#define	FIRST_SIZE	8U

struct entry {
	uint64_t	 e_key;
	struct epoch_context e_ctx;
};

struct array {
	size_t		 a_size;
	struct epoch_context a_ctx;
	struct entry	*a_slots[];	/* (a) */
};

struct table {
	epoch_t		 t_epoch;
	pthread_mutex_t	 t_lock;	/* of writers */
	struct array	*t_array;	/* (a) */
	size_t		 t_used;	/* (t_lock) */
	bool		 t_dying;	/* (t_lock) */
	struct epoch_context t_ctx;
};

static struct table *published;		/* (a) */
static int stop, grown, destroyed;	/* (a) */
static int entries, arrays, tables;	/* (a) that exist */

static void
entry_free_cb(epoch_context_t ctx)
{
	struct entry *e = __containerof(ctx, struct entry, e_ctx);

	e->e_key = UINT64_MAX;
	free(e);
	(void)__atomic_sub_fetch(&entries, 1, __ATOMIC_RELAXED);
}

static void
array_free_cb(epoch_context_t ctx)
{
	struct array *a = __containerof(ctx, struct array, a_ctx);

	a->a_size = SIZE_MAX / 2;
	free(a);
	(void)__atomic_sub_fetch(&arrays, 1, __ATOMIC_RELAXED);
}

static struct array *
array_make(size_t size)
{
	struct array *a;

	a = calloc(1, sizeof(*a) + size * sizeof(a->a_slots[0]));
	assert_non_null(a);
	a->a_size = size;
	(void)__atomic_add_fetch(&arrays, 1, __ATOMIC_RELAXED);
	return (a);
}

static struct table *
table_make(epoch_t e)
{
	struct table *t;

	t = calloc(1, sizeof(*t));
	assert_non_null(t);
	t->t_epoch = e;
	(void)pthread_mutex_init(&t->t_lock, NULL);
	t->t_array = array_make(FIRST_SIZE);
	(void)__atomic_add_fetch(&tables, 1, __ATOMIC_RELAXED);
	return (t);
}

/* Twice the size; readers may still be in the old array. */
static void
table_grow(struct table *t)
{
	struct array *old = t->t_array, *a = array_make(old->a_size * 2);
	size_t i;

	for (i = 0; i < old->a_size; i++)
		a->a_slots[i] = old->a_slots[i];
	__atomic_store_n(&t->t_array, a, __ATOMIC_RELEASE);
	epoch_call(t->t_epoch, array_free_cb, &old->a_ctx);
	(void)__atomic_add_fetch(&grown, 1, __ATOMIC_RELAXED);
}

/* False when the table is being destroyed. */
static bool
table_add(struct table *t, uint64_t key)
{
	struct entry *e;
	bool alive;

	(void)pthread_mutex_lock(&t->t_lock);
	alive = !t->t_dying;
	if (alive) {
		e = calloc(1, sizeof(*e));
		assert_non_null(e);
		e->e_key = key;
		(void)__atomic_add_fetch(&entries, 1, __ATOMIC_RELAXED);
		if (t->t_used == t->t_array->a_size)
			table_grow(t);
		__atomic_store_n(&t->t_array->a_slots[t->t_used++], e,
		    __ATOMIC_RELEASE);
	}
	(void)pthread_mutex_unlock(&t->t_lock);
	return (alive);
}

/* Half of what is there, from the end. */
static void
table_shrink(struct table *t)
{
	struct entry *e;
	size_t n;

	(void)pthread_mutex_lock(&t->t_lock);
	for (n = t->t_used / 2; n > 0 && !t->t_dying; n--) {
		e = t->t_array->a_slots[--t->t_used];
		__atomic_store_n(&t->t_array->a_slots[t->t_used], NULL,
		    __ATOMIC_RELEASE);
		epoch_call(t->t_epoch, entry_free_cb, &e->e_ctx);
	}
	(void)pthread_mutex_unlock(&t->t_lock);
}

/* No writer has come since t_dying was set, and no reader is left. */
static void
table_free_cb(epoch_context_t ctx)
{
	struct table *t = __containerof(ctx, struct table, t_ctx);
	size_t i;

	for (i = 0; i < t->t_used; i++)
		entry_free_cb(&t->t_array->a_slots[i]->e_ctx);
	array_free_cb(&t->t_array->a_ctx);
	(void)pthread_mutex_destroy(&t->t_lock);
	free(t);
	(void)__atomic_sub_fetch(&tables, 1, __ATOMIC_RELAXED);
}

/* Unlink, and defer the rest; from any context, since it never waits. */
static void
table_destroy(struct table *t)
{
	__atomic_store_n(&published, NULL, __ATOMIC_RELEASE);
	(void)pthread_mutex_lock(&t->t_lock);
	t->t_dying = true;
	(void)pthread_mutex_unlock(&t->t_lock);
	epoch_call(t->t_epoch, table_free_cb, &t->t_ctx);
	STORE(&destroyed, 1);
}

/* The writer's references to the table are sections, too. */
static void *
writer(void *arg)
{
	struct table *t;
	uint64_t key = 0;
	epoch_t e = arg;
	bool alive = true;

	while (alive && LOAD(&stop) == 0) {
		epoch_enter(e);
		t = __atomic_load_n(&published, __ATOMIC_ACQUIRE);
		alive = t != NULL && table_add(t, key++);
		if (alive && key % 4096 == 0)
			table_shrink(t);
		epoch_exit(e);
	}
	return (NULL);
}

static void *
reader(void *arg)
{
	const struct array *a;
	const struct entry *en;
	struct table *t;
	epoch_t e = arg;
	size_t i;

	while (LOAD(&stop) == 0) {
		epoch_enter(e);
		t = __atomic_load_n(&published, __ATOMIC_ACQUIRE);
		if (t != NULL) {
			a = __atomic_load_n(&t->t_array, __ATOMIC_ACQUIRE);
			for (i = 0; i < a->a_size && i < 512; i++) {
				en = __atomic_load_n(&a->a_slots[i],
				    __ATOMIC_ACQUIRE);
				if (en != NULL)
					assert_true(en->e_key < UINT64_MAX);
			}
		}
		epoch_exit(e);
	}
	return (NULL);
}

struct order {
	struct epoch_context o_ctx;
	struct table	*o_table;
};

static void
destroy_cb(epoch_context_t ctx)
{
	table_destroy(__containerof(ctx, struct order, o_ctx)->o_table);
}

enum where { OUTSIDE, INSIDE, CALLBACK };

static void
destroy_from(enum where where, epoch_t e, struct table *t, struct order *o)
{
	switch (where) {
	case OUTSIDE:
		table_destroy(t);
		break;
	case INSIDE:
		epoch_enter(e);
		table_destroy(t);
		assert_int_equal(t->t_dying, true);	/* still there */
		epoch_exit(e);
		break;
	case CALLBACK:
		o->o_table = t;
		epoch_call(e, destroy_cb, &o->o_ctx);
		break;
	}
}

static void
round_of(enum where where, epoch_t e, int until)
{
	struct order o = { .o_table = NULL };
	struct table *t = table_make(e);
	pthread_t w, r;

	STORE(&stop, 0);
	STORE(&grown, 0);
	STORE(&destroyed, 0);
	__atomic_store_n(&published, t, __ATOMIC_RELEASE);
	spawn(&r, reader, e);
	spawn(&w, writer, e);
	while (LOAD(&grown) < until)
		(void)sched_yield();
	destroy_from(where, e, t, &o);
	join(w);		/* it has seen the table die */
	while (LOAD(&destroyed) == 0) {
		epoch_drain_callbacks(e);
		nap(100);
	}
	STORE(&stop, 1);
	join(r);
	while (LOAD(&tables) != 0)
		epoch_drain_callbacks(e);
	epoch_drain_callbacks(e);
	assert_int_equal(LOAD(&entries), 0);
	assert_int_equal(LOAD(&arrays), 0);
}

static void
rounds(unsigned int flags)
{
	epoch_t e = epoch_alloc("table", flags);
	int i;

	alarm(30);		/* a deadlock ends here */
	for (i = 0; i < 30; i++)
		round_of((enum where)(i % 3), e, 1 + i % 10);
	alarm(0);
	epoch_free(e);
}

static void
test_k09(void **state)
{
	(void)state;
	rounds(0);
	rounds(EPOCH_ASYMMETRIC);
}

/* The whole of 200,000 entries, and a section open over the destruction. */
static void
test_k09_large(void **state)
{
	epoch_t e = epoch_alloc("large table", 0);
	struct table *t = table_make(e);
	struct reader r;
	uint64_t key;

	(void)state;
	alarm(30);
	reader_start(&r, e);
	for (key = 0; key < ENTRIES; key++)
		assert_true(table_add(t, key));
	table_destroy(t);
	assert_false(table_add(t, key));	/* refused */
	assert_int_equal(LOAD(&tables), 1);	/* the reader keeps it */
	reader_stop(&r);
	epoch_drain_callbacks(e);
	assert_int_equal(LOAD(&entries), 0);
	assert_int_equal(LOAD(&arrays), 0);
	assert_int_equal(LOAD(&tables), 0);
	alarm(0);
	epoch_free(e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_k09),
		cmocka_unit_test(test_k09_large),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
