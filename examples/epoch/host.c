/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * Loads plugin.so, and libepoch with it, after threads have started; uses it
 * on all of them; unloads it.  The library stays, because its reclaim thread
 * may still run.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#define	THREADS	3
#define	ROUNDS	1000

static pthread_barrier_t loaded;
static int (*run)(int);

static void *
worker(void *arg)
{
	(void)arg;
	(void)pthread_barrier_wait(&loaded);
	return (run(ROUNDS) == ROUNDS ? NULL : (void *)&run);
}

int
main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	void *plugin, *failed;
	int i, bad = 0;

	if (pthread_barrier_init(&loaded, NULL, THREADS + 1) != 0)
		return (1);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, worker, NULL) != 0)
			return (1);
	plugin = dlopen(argc > 1 ? argv[1] : "./plugin.so", RTLD_NOW);
	if (plugin == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		return (1);
	}
	*(void **)&run = dlsym(plugin, "plugin_run");
	if (run == NULL)
		return (1);
	(void)pthread_barrier_wait(&loaded);
	for (i = 0; i < THREADS; i++) {
		(void)pthread_join(threads[i], &failed);
		bad += failed != NULL;
	}
	if (run(ROUNDS) != ROUNDS)
		bad++;
	(void)dlclose(plugin);
	printf("%d threads used a plugin, %d failed\n", THREADS + 1, bad);
	return (bad);
}
