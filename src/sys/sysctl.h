/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * One tree of tunables and counters per machine.  A leaf has a dotted name,
 * a description, a type and where its value lives.  Adding, reading and
 * setting take the tree's lock: control plane only; the packet path reads the
 * variables themselves (relaxed atomics).
 */
#ifndef _SYS_SYSCTL_H_
#define	_SYS_SYSCTL_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/counter.h"

struct sysctl_tree;

#define	CTLFLAG_RD	0x1		/* may be read */
#define	CTLFLAG_WR	0x2		/* may be set */
#define	CTLFLAG_RW	(CTLFLAG_RD | CTLFLAG_WR)
#define	CTLFLAG_TUN	0x4		/* set at start only, when without WR */

enum sysctl_type {
	SYSCTL_INT,			/* _Atomic int, with limits */
	SYSCTL_COUNTER,			/* counter_t, read only or zeroable */
	SYSCTL_U64,			/* a function gives it */
	SYSCTL_STRING,			/* functions give and take it */
};

/* Fill buf (len bytes) with the value as text.  errno value. */
typedef int sysctl_get_fn(void *arg, char *buf, size_t len);
/* Take the text; EINVAL if it does not fit, then err says what was expected. */
typedef int sysctl_set_fn(void *arg, const char *text, char *err, size_t len);
typedef uint64_t sysctl_u64_fn(void *arg);

struct sysctl_tree *sysctl_tree_alloc(void);
void	sysctl_tree_free(struct sysctl_tree *tree);

/* All: 0, EEXIST, ENOMEM.  Strings are not copied: they must stay. */
int	sysctl_add_int(struct sysctl_tree *tree, const char *name, int flags,
	    _Atomic int *ptr, int min, int max, const char *descr);
int	sysctl_add_counter(struct sysctl_tree *tree, const char *name,
	    int flags, counter_t c, const char *descr);
int	sysctl_add_u64(struct sysctl_tree *tree, const char *name,
	    sysctl_u64_fn *fn, void *arg, const char *descr);
int	sysctl_add_string(struct sysctl_tree *tree, const char *name,
	    int flags, sysctl_get_fn *get, sysctl_set_fn *set, void *arg,
	    const char *descr);

/* A leaf as the tools see it; strings live as long as the tree. */
struct sysctl_info {
	const char	*si_name;
	const char	*si_descr;
	enum sysctl_type si_type;
	int		 si_flags;
};

/* The value as text.  ENOENT, ENAMETOOLONG. */
int	sysctl_get(struct sysctl_tree *tree, const char *name, char *buf,
	    size_t len);
/* ENOENT, EPERM (read only), EINVAL with err telling what was expected. */
int	sysctl_set(struct sysctl_tree *tree, const char *name,
	    const char *text, char *err, size_t errlen);
/*
 * Call fn for each leaf named prefix or below "prefix." (all, if prefix is
 * ""), in name order; stops when fn returns non-zero and returns that.
 */
int	sysctl_walk(struct sysctl_tree *tree, const char *prefix,
	    int (*fn)(const struct sysctl_info *si, void *arg), void *arg);

#endif /* _SYS_SYSCTL_H_ */
