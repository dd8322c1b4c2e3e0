/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * libepoch in a shared object that is loaded at run time: host.c loads this
 * and calls plugin_run() on several threads.
 */
#include <stdlib.h>

#include <netepoch/epoch.h>

int	plugin_run(int rounds);

static void
free_cb(epoch_context_t ctx)
{
	free(ctx);
}

/* Enter, defer, wait: returns the number of callbacks that this call queued. */
int
plugin_run(int rounds)
{
	struct epoch_tracker et;
	struct epoch_context *ctx;
	int i;

	for (i = 0; i < rounds; i++) {
		ctx = calloc(1, sizeof(*ctx));
		if (ctx == NULL)
			return (i);
		NET_EPOCH_ENTER(et);
		NET_EPOCH_CALL(free_cb, ctx);
		NET_EPOCH_EXIT(et);
	}
	NET_EPOCH_WAIT();
	NET_EPOCH_DRAIN_CALLBACKS();
	return (rounds);
}
