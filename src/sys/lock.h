/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Two kinds of lock, as FreeBSD has them.  A struct mtx protects a few
 * instructions and may be taken inside an epoch section.  A struct sx may be
 * held across system calls and waits, so taking one inside a section is an
 * error that debug builds report through the hook below, which the intr room
 * points at libepoch (this room lies below it).
 *
 * Lock order of the whole project: the configuration sx of a vnet, then any
 * one mtx; an mtx is never held while an sx is taken.
 */
#ifndef _SYS_LOCK_H_
#define	_SYS_LOCK_H_

#include <pthread.h>
#include <stdbool.h>

#include "sys/defs.h"

struct mtx {
	pthread_mutex_t	 mtx_lock;
	const char	*mtx_name;	/* (c) */
	_Atomic(pthread_t) mtx_owner;	/* (a) relaxed, for assertions */
};

struct sx {
	pthread_mutex_t	 sx_lock;
	const char	*sx_name;	/* (c) */
	_Atomic(pthread_t) sx_owner;	/* (a) relaxed, for assertions */
	unsigned int	 sx_depth;	/* (x) recursion of the owner */
};

/*
 * Called in debug builds before anything that may sleep: what is about to
 * sleep, and where.  NULL: nobody checks.
 */
extern void	(*sleep_check_hook)(const char *what, const char *file,
		    int line);

#ifdef INVARIANTS
#define	MAY_SLEEP(what) do {						\
	if (sleep_check_hook != NULL)					\
		sleep_check_hook((what), __FILE__, __LINE__);		\
} while (0)
#else
#define	MAY_SLEEP(what)	do { } while (0)
#endif

void	mtx_init(struct mtx *mtx, const char *name);
void	mtx_destroy(struct mtx *mtx);
void	mtx_lock(struct mtx *mtx);
/* False: somebody has it, perhaps the caller. */
bool	mtx_trylock(struct mtx *mtx);
void	mtx_unlock(struct mtx *mtx);
bool	mtx_owned(struct mtx *mtx);

/* An sx is recursive: control calls nest. */
void	sx_init(struct sx *sx, const char *name);
void	sx_destroy(struct sx *sx);
void	sx_xlock_at(struct sx *sx, const char *file, int line);
void	sx_xunlock(struct sx *sx);
bool	sx_xlocked(struct sx *sx);

#define	sx_xlock(sx)	sx_xlock_at((sx), __FILE__, __LINE__)

#define	MTX_ASSERT(mtx)	KASSERT(mtx_owned(mtx), "%s not held", (mtx)->mtx_name)
#define	SX_ASSERT(sx)	KASSERT(sx_xlocked(sx), "%s not held", (sx)->sx_name)

#endif /* _SYS_LOCK_H_ */
