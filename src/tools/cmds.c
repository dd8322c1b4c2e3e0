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
	&tool_list,
	&tool_shell,
	&tool_batch_tool,
	&tool_ifconfig,
	&tool_route,
	&tool_netstat,
	&tool_arp,
	&tool_sysctl,
	&tool_vmstat,
	&tool_systat,
	&tool_pktgen,
	&tool_ngctl,
	&tool_nghook,
	&tool_kldstat,
	&tool_kldload,
	&tool_kldunload,
	&tool_help,
	NULL
};
