/*
 * SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The netepoch authors
 *
 * The header's inline functions as symbols, for programs that cannot use
 * them: other languages, dlsym(3), and C compiled with EPOCH_EXTERN.  A
 * debug build checks them like the macros; places have no line.
 */
#define	EPOCH_EXTERN
#ifdef EPOCH_HAVE_SDT
#define	EPOCH_PROBES
#endif

#include "epoch_private.h"

#ifdef INVARIANTS

#define	PLACE	"a call out of line", 0

void
epoch_enter(epoch_t e)
{
	epoch_enter_debug(e, PLACE);
}

void
epoch_exit(epoch_t e)
{
	epoch_exit_debug(e, PLACE);
}

void
epoch_enter_preempt(epoch_t e, epoch_tracker_t et)
{
	epoch_enter_preempt_debug(e, et, PLACE);
}

void
epoch_exit_preempt(epoch_t e, epoch_tracker_t et)
{
	epoch_exit_preempt_debug(e, et, PLACE);
}

void
epoch_call(epoch_t e, epoch_callback_t cb, epoch_context_t ctx)
{
	epoch_call_debug(e, cb, ctx, PLACE);
}

#else

void
epoch_enter(epoch_t e)
{
	epoch_enter_raw(e);
}

void
epoch_exit(epoch_t e)
{
	epoch_exit_raw(e);
}

void
epoch_enter_preempt(epoch_t e, epoch_tracker_t et)
{
	(void)et;
	epoch_enter_raw(e);
}

void
epoch_exit_preempt(epoch_t e, epoch_tracker_t et)
{
	(void)et;
	epoch_exit_raw(e);
}

void
epoch_call(epoch_t e, epoch_callback_t cb, epoch_context_t ctx)
{
	epoch_call_raw(e, cb, ctx);
}

#endif /* INVARIANTS */

int
in_epoch(epoch_t e)
{
	return (e != NULL && epoch_section_inside(epoch_section_self(e)));
}
