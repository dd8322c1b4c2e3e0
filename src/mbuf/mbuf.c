/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The memory of packets: the region, the depot and the caches.
 *
 * depot[] holds the free frames that are in no cache, under mbuf_mtx.  A
 * cache belongs to its thread (t); it exchanges MCACHE_BLOCK frames with the
 * depot at a time, so the lock is taken once per so many packets, and only on
 * the way of frames from one thread to another.  Caches are last in, first
 * out, to hand out lines that are still warm.  A thread's end gives its cache
 * back.
 *
 * In builds with the address sanitizer the data of free frames is poisoned;
 * in debug builds M_FREE finds a frame freed twice.
 */
#include "mbuf/mbuf.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define	MBUF_ASAN	1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define	MBUF_ASAN	1
#endif
#endif
#ifdef MBUF_ASAN
#include <sanitizer/asan_interface.h>
#define	frame_poison(m)							\
	ASAN_POISON_MEMORY_REGION(m_frame(m), MBUF_FRAME_SIZE)
#define	frame_unpoison(m)						\
	ASAN_UNPOISON_MEMORY_REGION(m_frame(m), MBUF_FRAME_SIZE)
#else
#define	frame_poison(m)		((void)(m))
#define	frame_unpoison(m)	((void)(m))
#endif

#define	HUGEPAGE	((size_t)2 << 20)
#define	PAGES(bytes)	(((bytes) + 4095) & ~(size_t)4095)
#define	MCACHE_BLOCK	128	/* frames exchanged at a time */
#define	MCACHE_MAX	(4 * MCACHE_BLOCK)

struct mcache {
	_Atomic uint32_t mc_n;		/* (t) written; read by mbuf_nfree() */
	struct mcache	*mc_next;	/* (mbuf_mtx) */
	struct mbuf	*mc_m[MCACHE_MAX]; /* (t) */
};

char		*mbuf_frames;
struct mbuf	*mbuf_headers;

static pthread_mutex_t mbuf_mtx = PTHREAD_MUTEX_INITIALIZER;
static uint32_t	 nframes;		/* (c) */
static struct mbuf **depot;		/* (mbuf_mtx) */
static uint32_t	 ndepot;		/* (mbuf_mtx) */
static struct mcache *caches;		/* (mbuf_mtx) */
static _Atomic uint64_t nofree;		/* (a) relaxed */
static pthread_key_t cache_key;
static _Thread_local struct mcache *mcache; /* (t) */

static void	mcache_release(void *arg);

static uint32_t
mcache_count(const struct mcache *mc)
{

	return (atomic_load_explicit(&mc->mc_n, memory_order_relaxed));
}

static void
mcache_set(struct mcache *mc, uint32_t n)
{

	atomic_store_explicit(&mc->mc_n, n, memory_order_relaxed);
}

/*
 * Zeroed pages that begin at a multiple of HUGEPAGE, in huge pages when there
 * are some: a wish, not a need.  NULL if there is no memory.
 */
static void *
pages_alloc(size_t bytes)
{
	size_t skip;
	char *p;

	p = mmap(NULL, bytes + HUGEPAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return (NULL);
	skip = -(uintptr_t)p & (HUGEPAGE - 1);
	if (skip != 0)
		(void)munmap(p, skip);
	p += skip;
	(void)munmap(p + bytes, HUGEPAGE - skip);
	(void)madvise(p, bytes, MADV_HUGEPAGE);
	return (p);
}

int
mbuf_init(uint32_t want)
{
	size_t bytes;
	int error;

	if (mbuf_frames != NULL)
		return (EALREADY);
	want = (want + MCACHE_BLOCK - 1) / MCACHE_BLOCK * MCACHE_BLOCK;
	if (want == 0 || want > UINT32_MAX / MBUF_FRAME_SIZE)
		return (EINVAL);
	error = pthread_key_create(&cache_key, mcache_release);
	if (error != 0)
		return (error);
	bytes = (size_t)want * MBUF_FRAME_SIZE;
	if ((depot = calloc(want, sizeof(*depot))) == NULL)
		goto free_key;
	mbuf_headers = pages_alloc(PAGES(want * sizeof(*mbuf_headers)));
	if (mbuf_headers == NULL)
		goto free_depot;
	if ((mbuf_frames = pages_alloc(bytes)) == NULL)
		goto free_headers;
	nframes = want;
	for (uint32_t i = 0; i < want; i++) {
		/* The lowest address on top. */
		depot[i] = &mbuf_headers[want - 1 - i];
#if defined(INVARIANTS) || defined(MBUF_ASAN)
		depot[i]->m_flags = M_FREE;
#endif
		frame_poison(depot[i]);
	}
	ndepot = want;
	return (0);
free_headers:
	(void)munmap(mbuf_headers, PAGES(want * sizeof(*mbuf_headers)));
	mbuf_headers = NULL;
free_depot:
	free(depot);
	depot = NULL;
free_key:
	pthread_key_delete(cache_key);
	return (ENOMEM);
}

void
mbuf_region(void **base, size_t *len)
{

	*base = mbuf_frames;
	*len = (size_t)nframes * MBUF_FRAME_SIZE;
}

uint32_t
mbuf_nframes(void)
{

	return (nframes);
}

uint32_t
mbuf_nfree(void)
{
	uint32_t n;

	pthread_mutex_lock(&mbuf_mtx);
	n = ndepot;
	for (struct mcache *mc = caches; mc != NULL; mc = mc->mc_next)
		n += mcache_count(mc);
	pthread_mutex_unlock(&mbuf_mtx);
	return (n);
}

uint64_t
mbuf_nofree(void)
{

	return (atomic_load_explicit(&nofree, memory_order_relaxed));
}

/* This thread's cache, made at first use; NULL if there is no memory. */
static __attribute__((noinline)) struct mcache *
mcache_attach(void)
{
	struct mcache *mc;

	if ((mc = malloc(sizeof(*mc))) == NULL)
		return (NULL);
	atomic_init(&mc->mc_n, 0);
	if (pthread_setspecific(cache_key, mc) != 0) {
		free(mc);
		return (NULL);
	}
	pthread_mutex_lock(&mbuf_mtx);
	mc->mc_next = caches;
	caches = mc;
	pthread_mutex_unlock(&mbuf_mtx);
	mcache = mc;
	return (mc);
}

static inline struct mcache *
mcache_get(void)
{

	return (__predict_true(mcache != NULL) ? mcache : mcache_attach());
}

/* Give the top n frames of the cache to the depot. */
static void
mcache_flush(struct mcache *mc, uint32_t n)
{
	uint32_t have = mcache_count(mc);

	pthread_mutex_lock(&mbuf_mtx);
	memcpy(&depot[ndepot], &mc->mc_m[have - n], n * sizeof(depot[0]));
	ndepot += n;
	mcache_set(mc, have - n);
	pthread_mutex_unlock(&mbuf_mtx);
}

/* Fetch frames until the cache has at least want.  False: there are not. */
static bool
mcache_fill(struct mcache *mc, uint32_t want)
{
	uint32_t have = mcache_count(mc), n;

	pthread_mutex_lock(&mbuf_mtx);
	n = MCACHE_BLOCK < ndepot ? MCACHE_BLOCK : ndepot;
	memcpy(&mc->mc_m[have], &depot[ndepot - n], n * sizeof(depot[0]));
	ndepot -= n;
	mcache_set(mc, have + n);
	pthread_mutex_unlock(&mbuf_mtx);
	return (have + n >= want);
}

static void
mcache_release(void *arg)
{
	struct mcache *mc = arg, **prev;

	mcache_flush(mc, mcache_count(mc));
	pthread_mutex_lock(&mbuf_mtx);
	for (prev = &caches; *prev != mc; prev = &(*prev)->mc_next)
		continue;
	*prev = mc->mc_next;
	pthread_mutex_unlock(&mbuf_mtx);
	mcache = NULL;
	free(mc);
}

void
m_cache_drain(void)
{

	if (mcache != NULL)
		mcache_flush(mcache, mcache_count(mcache));
}

/*
 * Frames leave a cache or the depot, or come back.  In release builds there
 * is nothing to do, and the loops vanish.
 */
static inline void
frames_taken(struct mbuf **m, unsigned int n)
{

#if defined(INVARIANTS) || defined(MBUF_ASAN)
	for (unsigned int i = 0; i < n; i++) {
		KASSERT((m[i]->m_flags & M_FREE) != 0,
		    "mbuf %p: taken, not free", (void *)m[i]);
		frame_unpoison(m[i]);
		m[i]->m_flags = 0;
	}
#endif
}

static inline void
frames_given(struct mbuf **m, unsigned int n)
{

#if defined(INVARIANTS) || defined(MBUF_ASAN)
	for (unsigned int i = 0; i < n; i++) {
		KASSERT((m[i]->m_flags & M_FREE) == 0,
		    "mbuf %p: freed twice", (void *)m[i]);
		KASSERT(m[i] >= mbuf_headers &&
		    m[i] < mbuf_headers + nframes,
		    "mbuf %p: not of the region", (void *)m[i]);
		m[i]->m_flags = M_FREE;
		frame_poison(m[i]);
	}
#endif
}

unsigned int
m_get_raw(struct mbuf **m, unsigned int n)
{
	struct mcache *mc = mcache_get();
	uint32_t have;

	KASSERT(n <= MCACHE_BLOCK, "%u frames at a time", n);
	if (__predict_false(mc == NULL))
		goto none;
	have = mcache_count(mc);
	if (__predict_false(have < n)) {
		if (!mcache_fill(mc, n))
			goto none;
		have = mcache_count(mc);
	}
	have -= n;
	memcpy(m, &mc->mc_m[have], n * sizeof(*m));
	frames_taken(m, n);
	mcache_set(mc, have);
	return (n);
none:
	atomic_fetch_add_explicit(&nofree, 1, memory_order_relaxed);
	return (0);
}

void
m_free_raw(struct mbuf **m, unsigned int n)
{
	struct mcache *mc = mcache_get();
	uint32_t have;

	KASSERT(n <= MCACHE_BLOCK, "%u frames at a time", n);
	if (__predict_false(mc == NULL)) {
		/* A thread without a cache gives them to the depot itself. */
		frames_given(m, n);
		pthread_mutex_lock(&mbuf_mtx);
		memcpy(&depot[ndepot], m, n * sizeof(*m));
		ndepot += n;
		pthread_mutex_unlock(&mbuf_mtx);
		return;
	}
	have = mcache_count(mc);
	if (__predict_false(have + n > MCACHE_MAX)) {
		mcache_flush(mc, 2 * MCACHE_BLOCK);
		have = mcache_count(mc);
	}
	frames_given(m, n);
	memcpy(&mc->mc_m[have], m, n * sizeof(*m));
	mcache_set(mc, have + n);
}

unsigned int
m_get_burst(struct mbuf **m, unsigned int n)
{

	if (m_get_raw(m, n) != n)
		return (0);
	for (unsigned int i = 0; i < n; i++)
		m_init(m[i], m_dataspace(m[i]), 0);
	return (n);
}

struct mbuf *
m_gethdr(void)
{
	struct mbuf *m;

	return (m_get_burst(&m, 1) == 1 ? m : NULL);
}

void
m_freem(struct mbuf *m)
{
	struct mbuf *next;

	for (; m != NULL; m = next) {
		next = m->m_next;
		m_free_raw(&m, 1);
	}
}

void
m_free_burst(struct mbuf **m, unsigned int n)
{
	uintptr_t chains = 0;

	for (unsigned int i = 0; i < n; i++)
		chains |= (uintptr_t)m[i]->m_next;
	if (__predict_false(chains != 0)) {
		for (unsigned int i = 0; i < n; i++)
			m_freem(m[i]);
		return;
	}
	m_free_raw(m, n);
}
