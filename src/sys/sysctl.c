/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The tree of tunables: a sorted array of leaves under one mutex.  Control
 * plane only.  The variables behind integer leaves are atomics that the
 * packet path reads by itself.
 */
#include "sys/sysctl.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sysctl_oid {
	struct sysctl_info so_info;	/* (c) */
	_Atomic int	*so_int;	/* (c) SYSCTL_INT */
	int		 so_min, so_max; /* (c) */
	counter_t	 so_counter;	/* (c) SYSCTL_COUNTER */
	sysctl_u64_fn	*so_u64;	/* (c) SYSCTL_U64 */
	sysctl_get_fn	*so_get;	/* (c) SYSCTL_STRING */
	sysctl_set_fn	*so_set;	/* (c) or NULL */
	void		*so_arg;	/* (c) */
};

struct sysctl_tree {
	pthread_mutex_t	 st_mtx;	/* t */
	struct sysctl_oid *st_oid;	/* (t) sorted by name */
	size_t		 st_n;		/* (t) */
	size_t		 st_room;	/* (t) */
};

struct sysctl_tree *
sysctl_tree_alloc(void)
{
	struct sysctl_tree *tree;

	if ((tree = calloc(1, sizeof(*tree))) == NULL)
		return (NULL);
	pthread_mutex_init(&tree->st_mtx, NULL);
	return (tree);
}

void
sysctl_tree_free(struct sysctl_tree *tree)
{

	if (tree == NULL)
		return;
	pthread_mutex_destroy(&tree->st_mtx);
	free(tree->st_oid);
	free(tree);
}

/* Where name is or belongs; *found says which. */
static size_t
sysctl_place(const struct sysctl_tree *tree, const char *name, bool *found)
{
	size_t lo = 0, hi = tree->st_n, mid;
	int c;

	*found = false;
	while (lo < hi) {
		mid = (lo + hi) / 2;
		c = strcmp(tree->st_oid[mid].so_info.si_name, name);
		if (c == 0) {
			*found = true;
			return (mid);
		}
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (lo);
}

static int
sysctl_add(struct sysctl_tree *tree, const struct sysctl_oid *oid)
{
	struct sysctl_oid *more;
	size_t at, room;
	bool found;
	int error = 0;

	pthread_mutex_lock(&tree->st_mtx);
	at = sysctl_place(tree, oid->so_info.si_name, &found);
	if (found) {
		error = EEXIST;
		goto out;
	}
	if (tree->st_n == tree->st_room) {
		room = tree->st_room == 0 ? 64 : 2 * tree->st_room;
		more = realloc(tree->st_oid, room * sizeof(*more));
		if (more == NULL) {
			error = ENOMEM;
			goto out;
		}
		tree->st_oid = more;
		tree->st_room = room;
	}
	memmove(&tree->st_oid[at + 1], &tree->st_oid[at],
	    (tree->st_n - at) * sizeof(*oid));
	tree->st_oid[at] = *oid;
	tree->st_n++;
out:
	pthread_mutex_unlock(&tree->st_mtx);
	return (error);
}

int
sysctl_add_int(struct sysctl_tree *tree, const char *name, int flags,
    _Atomic int *ptr, int min, int max, const char *descr)
{
	struct sysctl_oid oid = {
		.so_info = { name, descr, SYSCTL_INT, flags },
		.so_int = ptr, .so_min = min, .so_max = max,
	};

	return (sysctl_add(tree, &oid));
}

int
sysctl_add_counter(struct sysctl_tree *tree, const char *name, int flags,
    counter_t c, const char *descr)
{
	struct sysctl_oid oid = {
		.so_info = { name, descr, SYSCTL_COUNTER, flags },
		.so_counter = c,
	};

	return (sysctl_add(tree, &oid));
}

int
sysctl_add_u64(struct sysctl_tree *tree, const char *name, sysctl_u64_fn *fn,
    void *arg, const char *descr)
{
	struct sysctl_oid oid = {
		.so_info = { name, descr, SYSCTL_U64, CTLFLAG_RD },
		.so_u64 = fn, .so_arg = arg,
	};

	return (sysctl_add(tree, &oid));
}

int
sysctl_add_string(struct sysctl_tree *tree, const char *name, int flags,
    sysctl_get_fn *get, sysctl_set_fn *set, void *arg, const char *descr)
{
	struct sysctl_oid oid = {
		.so_info = { name, descr, SYSCTL_STRING, flags },
		.so_get = get, .so_set = set, .so_arg = arg,
	};

	return (sysctl_add(tree, &oid));
}

/* A copy of the leaf, so that its functions run without the tree's lock. */
static int
sysctl_find(struct sysctl_tree *tree, const char *name,
    struct sysctl_oid *oid)
{
	size_t at;
	bool found;

	pthread_mutex_lock(&tree->st_mtx);
	at = sysctl_place(tree, name, &found);
	if (found)
		*oid = tree->st_oid[at];
	pthread_mutex_unlock(&tree->st_mtx);
	return (found ? 0 : ENOENT);
}

int
sysctl_get(struct sysctl_tree *tree, const char *name, char *buf, size_t len)
{
	struct sysctl_oid oid;
	int error, n;

	error = sysctl_find(tree, name, &oid);
	if (error != 0)
		return (error);
	switch (oid.so_info.si_type) {
	case SYSCTL_INT:
		n = snprintf(buf, len, "%d", atomic_load_explicit(oid.so_int,
		    memory_order_relaxed));
		break;
	case SYSCTL_COUNTER:
		n = snprintf(buf, len, "%" PRIu64,
		    counter_fetch(oid.so_counter));
		break;
	case SYSCTL_U64:
		n = snprintf(buf, len, "%" PRIu64, oid.so_u64(oid.so_arg));
		break;
	default:
		return (oid.so_get(oid.so_arg, buf, len));
	}
	return (n < 0 || (size_t)n >= len ? ENAMETOOLONG : 0);
}

/* A whole decimal, hex (0x) or octal (0) number within the leaf's limits. */
static int
sysctl_set_int(const struct sysctl_oid *oid, const char *text, char *err,
    size_t errlen)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(text, &end, 0);
	if (end == text || *end != '\0' || errno != 0) {
		snprintf(err, errlen, "expected an integer from %d to %d",
		    oid->so_min, oid->so_max);
		return (EINVAL);
	}
	if (v < oid->so_min || v > oid->so_max) {
		snprintf(err, errlen, "expected %d to %d, got %ld",
		    oid->so_min, oid->so_max, v);
		return (EINVAL);
	}
	atomic_store_explicit(oid->so_int, (int)v, memory_order_relaxed);
	return (0);
}

int
sysctl_set(struct sysctl_tree *tree, const char *name, const char *text,
    char *err, size_t errlen)
{
	struct sysctl_oid oid;
	int error;

	error = sysctl_find(tree, name, &oid);
	if (error != 0) {
		snprintf(err, errlen, "unknown oid '%s'", name);
		return (error);
	}
	if ((oid.so_info.si_flags & CTLFLAG_WR) == 0) {
		snprintf(err, errlen, "oid '%s' is read only%s", name,
		    (oid.so_info.si_flags & CTLFLAG_TUN) != 0 ?
		    " tunable" : "");
		return (EPERM);
	}
	switch (oid.so_info.si_type) {
	case SYSCTL_INT:
		return (sysctl_set_int(&oid, text, err, errlen));
	case SYSCTL_COUNTER:
		if (strcmp(text, "0") != 0) {
			snprintf(err, errlen,
			    "expected 0: a counter can only be cleared");
			return (EINVAL);
		}
		counter_zero(oid.so_counter);
		return (0);
	case SYSCTL_STRING:
		return (oid.so_set(oid.so_arg, text, err, errlen));
	default:
		snprintf(err, errlen, "oid '%s' is read only", name);
		return (EPERM);
	}
}

/* name is prefix, or lies below it. */
static bool
sysctl_below(const char *name, const char *prefix, size_t len)
{

	return (len == 0 || (strncmp(name, prefix, len) == 0 &&
	    (name[len] == '\0' || name[len] == '.')));
}

int
sysctl_walk(struct sysctl_tree *tree, const char *prefix,
    int (*fn)(const struct sysctl_info *si, void *arg), void *arg)
{
	struct sysctl_info *info;
	size_t n = 0, len = strlen(prefix);
	int error = 0;

	/* fn may read values, which takes the lock: walk over a copy. */
	pthread_mutex_lock(&tree->st_mtx);
	info = calloc(tree->st_n + 1, sizeof(*info));
	if (info != NULL)
		for (size_t i = 0; i < tree->st_n; i++)
			if (sysctl_below(tree->st_oid[i].so_info.si_name,
			    prefix, len))
				info[n++] = tree->st_oid[i].so_info;
	pthread_mutex_unlock(&tree->st_mtx);
	if (info == NULL)
		return (ENOMEM);
	for (size_t i = 0; i < n && error == 0; i++)
		error = fn(&info[i], arg);
	free(info);
	return (error);
}
