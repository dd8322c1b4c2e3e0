/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Small words that every room uses: likely branches, containers, assertions
 * that exist in debug builds only.
 */
#ifndef _SYS_DEFS_H_
#define	_SYS_DEFS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define	CACHE_LINE_SIZE		64
#define	__cacheline_aligned	__attribute__((aligned(CACHE_LINE_SIZE)))
#define	__printflike(f, a)	__attribute__((format(printf, f, a)))

#ifndef __predict_true
#define	__predict_true(x)	__builtin_expect(!!(x), 1)
#define	__predict_false(x)	__builtin_expect(!!(x), 0)
#endif

#ifndef __containerof
#define	__containerof(p, type, member)					\
	((type *)(void *)((char *)(p) - offsetof(type, member)))
#endif

#ifndef nitems
#define	nitems(a)		(sizeof(a) / sizeof((a)[0]))
#endif

/* Like abort(3), after naming the place: an invariant of ours is broken. */
_Noreturn void	ne_panic(const char *file, int line, const char *fmt, ...)
		    __printflike(3, 4);

#ifdef INVARIANTS
#define	KASSERT(exp, ...) do {						\
	if (__predict_false(!(exp)))					\
		ne_panic(__FILE__, __LINE__, __VA_ARGS__);		\
} while (0)
#else
#define	KASSERT(exp, ...) do { (void)sizeof(!(exp)); } while (0)
#endif

#endif /* _SYS_DEFS_H_ */
