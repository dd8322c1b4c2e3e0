/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * A dictionary that is read without locks while it is reloaded: four threads
 * look words up, the main thread replaces the whole table a thousand times.
 * The old table goes through epoch_call(), so the reload never waits.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netepoch/epoch.h>

#define	WORDS	64
#define	RELOADS	1000
#define	READERS	4

struct table {
	int		 t_edition;
	int		 t_words[WORDS];	/* all equal the edition */
	struct epoch_context t_ctx;
};

static _Atomic(struct table *) current;
static atomic_int stop, torn, tables;
static epoch_t words_epoch;

static struct table *
table_make(int edition)
{
	struct table *t;
	int i;

	t = malloc(sizeof(*t));
	if (t == NULL)
		abort();
	memset(&t->t_ctx, 0, sizeof(t->t_ctx));
	t->t_edition = edition;
	for (i = 0; i < WORDS; i++)
		t->t_words[i] = edition;
	atomic_fetch_add(&tables, 1);
	return (t);
}

/* No reader can see the table any more. */
static void
table_free_cb(epoch_context_t ctx)
{
	struct table *t;

	t = (struct table *)(void *)((char *)ctx -
	    offsetof(struct table, t_ctx));
	memset(t->t_words, -1, sizeof(t->t_words));
	free(t);
	atomic_fetch_sub(&tables, 1);
}

static void *
reader(void *arg)
{
	unsigned long *lookups = arg;
	struct table *t;
	int i;

	while (atomic_load(&stop) == 0) {
		epoch_enter(words_epoch);
		t = atomic_load(&current);
		for (i = 0; i < WORDS; i++)
			if (t->t_words[i] != t->t_edition)
				atomic_fetch_add(&torn, 1);
		epoch_exit(words_epoch);
		++*lookups;
	}
	return (NULL);
}

int
main(void)
{
	unsigned long lookups[READERS] = { 0 }, sum = 0;
	struct table *old;
	pthread_t threads[READERS];
	int i;

	words_epoch = epoch_alloc("words", 0);
	if (words_epoch == NULL)
		return (1);
	atomic_store(&current, table_make(0));
	for (i = 0; i < READERS; i++)
		if (pthread_create(&threads[i], NULL, reader,
		    &lookups[i]) != 0)
			return (1);
	for (i = 1; i <= RELOADS; i++) {
		old = atomic_exchange(&current, table_make(i));
		epoch_call(words_epoch, table_free_cb, &old->t_ctx);
	}
	epoch_wait(words_epoch);
	atomic_store(&stop, 1);
	for (i = 0; i < READERS; i++) {
		pthread_join(threads[i], NULL);
		sum += lookups[i];
	}
	epoch_drain_callbacks(words_epoch);
	epoch_free(words_epoch);
	printf("%d reloads, %lu lookups, %d torn, %d tables left\n", RELOADS,
	    sum, atomic_load(&torn), atomic_load(&tables));
	free(atomic_load(&current));
	return (atomic_load(&torn) == 0 && atomic_load(&tables) == 1 ? 0 : 1);
}
