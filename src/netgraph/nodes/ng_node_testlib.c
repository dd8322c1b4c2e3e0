/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the tests of node types share; see the header.
 */
#include "netgraph/nodes/ng_node_testlib.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/random_testlib.h"
#include "sys/thread.h"

void
ngt_make(const char *type, const char *name, const char *hook)
{

	assert_int_equal(ngt_mkpeer(".", type, hook, hook), 0);
	assert_int_equal(ngt_name(hook, name), 0);
}

void
ngt_join(const char *name, const char *hook)
{
	char path[NG_NODESIZ + 1];

	snprintf(path, sizeof(path), "%s:", name);
	assert_int_equal(ngt_connect(".", path, hook, hook), 0);
}

uint64_t
ngt_random(void)
{
	static bool seeded;

	if (!seeded)
		(void)test_seed();
	seeded = true;
	return (test_rand());
}

/* ---- Frames ---- */

static void
frame_fill(uint8_t *frame, uint64_t dst, uint64_t src)
{

	memset(frame, 0, NGT_FRAME);
	for (int i = 0; i < 6; i++) {
		frame[i] = (uint8_t)(dst >> (40 - 8 * i));
		frame[6 + i] = (uint8_t)(src >> (40 - 8 * i));
	}
	frame[12] = 8;
}

const uint8_t *
ngt_frame(uint64_t dst, uint64_t src)
{
	static uint8_t frame[NGT_FRAME];

	frame_fill(frame, dst, src);
	return (frame);
}

int
ngt_send_frame(const char *hook, uint64_t dst, uint64_t src)
{

	return (ngt_send(hook, ngt_frame(dst, src), NGT_FRAME));
}

int
ngt_send_frames(const char *hook, const uint64_t *dst, const uint64_t *src,
    unsigned int n)
{
	struct epoch_tracker et;
	struct ng_item it;
	int error;

	for (it.it_n = 0; it.it_n < n; it.it_n++) {
		it.it_m[it.it_n] = m_devget(ngt_frame(dst[it.it_n],
		    src[it.it_n]), NGT_FRAME);
		assert_non_null(it.it_m[it.it_n]);
	}
	NET_EPOCH_ENTER(et);
	error = ng_fwd_item(&it, ng_findhook(ngt_probe(), hook));
	NET_EPOCH_EXIT(et);
	return (error);
}

void
ngt_wait_count(const char *hook, unsigned int n)
{
	uint64_t end = time_ns() + NGT_PATIENCE;

	while (ngt_count(hook) < n) {
		assert_true(time_ns() < end);
		sched_yield();
	}
}

/* ---- Messages ---- */

void
ngt_get(const char *path, uint32_t cookie, uint32_t cmd, const void *arg,
    size_t arglen, void *to, size_t len)
{

	assert_int_equal(ngt_msg(path, cookie, cmd, arg, arglen), 0);
	assert_non_null(ngt_reply());
	assert_int_equal(ngt_reply()->header.arglen, len);
	memcpy(to, ngt_reply()->data, len);
}

const char *
ngt_text(const char *path, const char *command)
{

	assert_int_equal(ngt_ascii(path, command), 0);
	assert_non_null(ngt_reply_text());
	return (ngt_reply_text());
}

void
ngt_roundtrip(const char *path, uint32_t cookie, uint32_t cmd, uint32_t flags,
    const void *arg, size_t len)
{
	const struct ng_mesg *back;
	struct ng_mesg *msg, *text;
	size_t textlen;

	msg = ng_mkmessage(cookie, cmd, arg, len);
	assert_non_null(msg);
	msg->header.flags = flags;
	assert_int_equal(ngt_msg(path, NGM_GENERIC_COOKIE, NGM_BINARY2ASCII,
	    msg, sizeof(*msg) + len), 0);
	assert_non_null(ngt_reply());
	textlen = ngt_reply()->header.arglen;
	text = malloc(textlen);
	assert_non_null(text);
	memcpy(text, ngt_reply()->data, textlen);
	assert_int_equal(ngt_msg(path, NGM_GENERIC_COOKIE, NGM_ASCII2BINARY,
	    text, textlen), 0);
	assert_non_null(ngt_reply());
	back = (const struct ng_mesg *)(const void *)ngt_reply()->data;
	assert_int_equal(back->header.typecookie, cookie);
	assert_int_equal(back->header.cmd, cmd);
	assert_int_equal(back->header.flags, flags);
	/* A struct is filled up to its alignment. */
	assert_in_range(back->header.arglen, len, (len + 7) / 8 * 8);
	assert_memory_equal(back->data, arg, len);
	for (size_t i = len; i < back->header.arglen; i++)
		assert_int_equal(back->data[i], 0);
	free(text);
	free(msg);
}

int
ngt_nodeinfo(const char *path, struct nodeinfo *ni)
{
	int error;

	error = ngt_msg(path, NGM_GENERIC_COOKIE, NGM_NODEINFO, NULL, 0);
	if (error == 0) {
		assert_non_null(ngt_reply());
		memcpy(ni, ngt_reply()->data, sizeof(*ni));
	}
	return (error);
}

/* ---- Interfaces ---- */

struct ifnet *
ngt_find_if(const char *name)
{
	struct ifnet *ifp;

	VNET_CONFIG_LOCK(ngt_vnet());
	ifp = if_byname(ngt_vnet(), name);
	VNET_CONFIG_UNLOCK(ngt_vnet());
	return (ifp);
}

void
ngt_set_flags(struct ifnet *ifp, uint32_t set, uint32_t clear)
{

	VNET_CONFIG_LOCK(ngt_vnet());
	assert_int_equal(if_setflags(ifp, set, clear), 0);
	VNET_CONFIG_UNLOCK(ngt_vnet());
}

uint64_t
ngt_drops(struct ifnet *ifp, enum if_drop why)
{

	return (if_counter(ifp, IFC_DROPS + (enum if_counter)why));
}

/* ---- Senders beside control work ---- */

struct racer {
	const char	*ra_hook;
	uint64_t	 ra_seed;
	_Atomic uint64_t ra_sent;
	struct thread	*ra_thread;
};

static _Atomic bool race_over;

static void
race_send(void *arg)
{
	struct racer *ra = arg;
	uint8_t frame[NGT_FRAME];
	struct epoch_tracker et;
	struct ng_item it;
	unsigned int n;

	while (!atomic_load_explicit(&race_over, memory_order_relaxed)) {
		n = 1 + (unsigned int)(test_next(&ra->ra_seed) % 8);
		for (it.it_n = 0; it.it_n < n; it.it_n++) {
			frame_fill(frame,
			    NGT_HOST(test_next(&ra->ra_seed) % 32),
			    NGT_HOST(test_next(&ra->ra_seed) % 32));
			it.it_m[it.it_n] = m_devget(frame, sizeof(frame));
			if (it.it_m[it.it_n] == NULL)
				break;
		}
		if (it.it_n == 0)
			continue;
		atomic_fetch_add(&ra->ra_sent, it.it_n);
		NET_EPOCH_ENTER(et);
		(void)ng_fwd_item(&it, ng_findhook(ngt_probe(),
		    ra->ra_hook));
		NET_EPOCH_EXIT(et);
	}
	m_cache_drain();
}

void
ngt_race_unsettled(const char *hook1, const char *hook2,
    void (*churn)(unsigned int), unsigned int rounds)
{
	struct racer ra[2] = {
		{ .ra_hook = hook1, .ra_seed = ngt_random() },
		{ .ra_hook = hook2, .ra_seed = ngt_random() },
	};

	atomic_store(&race_over, false);
	for (int i = 0; i < 2; i++)
		assert_int_equal(thread_create(&ra[i].ra_thread, "sender",
		    THREAD_ANY_CPU, race_send, &ra[i]), 0);
	/* On a busy machine they may come late. */
	for (int i = 0; i < 2; i++)
		while (atomic_load(&ra[i].ra_sent) == 0)
			sched_yield();
	for (unsigned int i = 0; i < rounds; i++)
		churn(i);
	atomic_store(&race_over, true);
	for (int i = 0; i < 2; i++)
		thread_join(ra[i].ra_thread);
}

void
ngt_race(const char *hook1, const char *hook2, void (*churn)(unsigned int),
    unsigned int rounds)
{

	ngt_race_unsettled(hook1, hook2, churn, rounds);
	ngt_settle();
}
