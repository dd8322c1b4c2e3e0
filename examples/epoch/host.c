/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * Loads plugin.so, and libepoch with it, after threads have started; uses it
 * on all of them; unloads it while they live; loads it again.  The library
 * stays: its reclaim thread may run, and the threads' ends are still to come.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#define	THREADS	3
#define	ROUNDS	1000

static pthread_barrier_t loaded, used, unloaded;
static int (*run)(int);

static void *
worker(void *arg)
{
	int done;

	(void)arg;
	(void)pthread_barrier_wait(&loaded);
	done = run(ROUNDS);
	(void)pthread_barrier_wait(&used);
	(void)pthread_barrier_wait(&unloaded);
	return (done == ROUNDS ? NULL : (void *)&run);
}

static void *
load(const char *path)
{
	void *plugin;

	plugin = dlopen(path, RTLD_NOW);
	if (plugin != NULL)
		*(void **)&run = dlsym(plugin, "plugin_run");
	if (plugin == NULL || run == NULL)
		fprintf(stderr, "%s\n", dlerror());
	return (run != NULL ? plugin : NULL);
}

int
main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "./plugin.so";
	pthread_t threads[THREADS];
	void *plugin, *failed;
	int i, bad = 0;

	if (pthread_barrier_init(&loaded, NULL, THREADS + 1) != 0 ||
	    pthread_barrier_init(&used, NULL, THREADS + 1) != 0 ||
	    pthread_barrier_init(&unloaded, NULL, THREADS + 1) != 0)
		return (1);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, worker, NULL) != 0)
			return (1);
	plugin = load(path);
	if (plugin == NULL)
		return (1);
	(void)pthread_barrier_wait(&loaded);
	bad += run(ROUNDS) != ROUNDS;
	(void)pthread_barrier_wait(&used);
	run = NULL;
	bad += dlclose(plugin) != 0;
	bad += dlopen(path, RTLD_NOW | RTLD_NOLOAD) != NULL;	/* it is gone */
	(void)pthread_barrier_wait(&unloaded);
	for (i = 0; i < THREADS; i++) {
		(void)pthread_join(threads[i], &failed);
		bad += failed != NULL;
	}
	plugin = load(path);
	if (plugin == NULL)
		return (1);
	bad += run(ROUNDS) != ROUNDS;
	bad += dlclose(plugin) != 0;
	printf("%d threads used a plugin, %d failed\n", THREADS + 1, bad);
	return (bad);
}
