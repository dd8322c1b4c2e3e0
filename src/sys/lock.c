/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Locks and the panic that assertions end in.  No state but the locks
 * themselves; any thread.  An sx runs the sleep check first, so taking one
 * inside an epoch section is found even when it is free.
 */
#include "sys/lock.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

void	(*sleep_check_hook)(const char *what, const char *file, int line);

_Noreturn void
ne_panic(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "panic: %s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}

void
mtx_init(struct mtx *mtx, const char *name)
{

	pthread_mutex_init(&mtx->mtx_lock, NULL);
	mtx->mtx_name = name;
	atomic_init(&mtx->mtx_owner, 0);
}

void
mtx_destroy(struct mtx *mtx)
{

	pthread_mutex_destroy(&mtx->mtx_lock);
}

void
mtx_lock(struct mtx *mtx)
{

	KASSERT(!mtx_owned(mtx), "%s: locked again by its owner",
	    mtx->mtx_name);
	pthread_mutex_lock(&mtx->mtx_lock);
	atomic_store_explicit(&mtx->mtx_owner, pthread_self(),
	    memory_order_relaxed);
}

bool
mtx_trylock(struct mtx *mtx)
{

	if (pthread_mutex_trylock(&mtx->mtx_lock) != 0)
		return (false);
	atomic_store_explicit(&mtx->mtx_owner, pthread_self(),
	    memory_order_relaxed);
	return (true);
}

void
mtx_unlock(struct mtx *mtx)
{

	MTX_ASSERT(mtx);
	atomic_store_explicit(&mtx->mtx_owner, 0, memory_order_relaxed);
	pthread_mutex_unlock(&mtx->mtx_lock);
}

bool
mtx_owned(struct mtx *mtx)
{

	return (atomic_load_explicit(&mtx->mtx_owner, memory_order_relaxed) ==
	    pthread_self());
}

void
sx_init(struct sx *sx, const char *name)
{

	pthread_mutex_init(&sx->sx_lock, NULL);
	sx->sx_name = name;
	atomic_init(&sx->sx_owner, 0);
	sx->sx_depth = 0;
}

void
sx_destroy(struct sx *sx)
{

	pthread_mutex_destroy(&sx->sx_lock);
}

void
sx_xlock_at(struct sx *sx, const char *file, int line)
{

#ifdef INVARIANTS
	if (sleep_check_hook != NULL)
		sleep_check_hook(sx->sx_name, file, line);
#else
	(void)file;
	(void)line;
#endif
	if (!sx_xlocked(sx)) {
		pthread_mutex_lock(&sx->sx_lock);
		atomic_store_explicit(&sx->sx_owner, pthread_self(),
		    memory_order_relaxed);
	}
	sx->sx_depth++;
}

void
sx_xunlock(struct sx *sx)
{

	SX_ASSERT(sx);
	if (--sx->sx_depth == 0) {
		atomic_store_explicit(&sx->sx_owner, 0, memory_order_relaxed);
		pthread_mutex_unlock(&sx->sx_lock);
	}
}

bool
sx_xlocked(struct sx *sx)
{

	return (atomic_load_explicit(&sx->sx_owner, memory_order_relaxed) ==
	    pthread_self());
}
