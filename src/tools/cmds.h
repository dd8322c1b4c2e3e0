/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* The tools, each in the file of its name; the table is in cmds.c. */
#ifndef _TOOLS_CMDS_H_
#define	_TOOLS_CMDS_H_

struct tool;

extern const struct tool tool_arp;
extern const struct tool tool_batch_tool;
extern const struct tool tool_help;
extern const struct tool tool_ifconfig;
extern const struct tool tool_kldload;
extern const struct tool tool_kldstat;
extern const struct tool tool_kldunload;
extern const struct tool tool_list;
extern const struct tool tool_netstat;
extern const struct tool tool_ngctl;
extern const struct tool tool_nghook;
extern const struct tool tool_pktgen;
extern const struct tool tool_route;
extern const struct tool tool_shell;
extern const struct tool tool_sysctl;
extern const struct tool tool_systat;
extern const struct tool tool_vmstat;

#endif /* _TOOLS_CMDS_H_ */
