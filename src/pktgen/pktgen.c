/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * netepoch-pkt-gen: pkt-gen on Linux devices and in memory, with no machine
 * running.  A machine of its own is started in this process, and the tool
 * talks to it without a socket; it is gone with the process.
 *
 * One thread besides the machine's own, which are started with all signals
 * blocked.
 */
#include <signal.h>
#include <stdio.h>
#include <sysexits.h>

#include "ctl/ctl.h"
#include "stack/machine.h"
#include "sys/log.h"
#include "sys/stdfd.h"
#include "tools/tool.h"

static char pktgen_name[] = "pkt-gen";

int
main(int argc, char **argv)
{
	const struct machine_config mc = { .mc_name = "pkt-gen" };
	struct ctl_client *cl;
	struct machine *ma;
	char err[256];
	int status;

	if (argc < 1 || stdfd_open(false) != 0)
		return (EX_USAGE);
	argv[0] = pktgen_name;
	(void)signal(SIGPIPE, SIG_IGN);
	log_level(LOG_WARNING);
	if (machine_start(&mc, &ma, err, sizeof(err)) != 0) {
		(void)fprintf(stderr, "pkt-gen: %s\n", err);
		return (EX_OSERR);
	}
	status = EX_OSERR;
	cl = ctl_connect_local(machine_commands, machine_ncommands, ma);
	if (cl != NULL)
		status = tool_run(cl, argc, argv);
	ctl_close(cl);
	machine_stop(ma);
	return (status);
}
