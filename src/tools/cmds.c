/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* The table of tools, in the order in which help shows them. */

#include <stddef.h>

#include "tools/cmds.h"
#include "tools/tool.h"

const struct tool *const tools[] = {
	&tool_batch_tool,
	NULL
};
