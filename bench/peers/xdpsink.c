/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * xdpsink: drop what an interface receives before the kernel sees it.
 *
 *	xdpsink interface
 *
 * Attaches by a link, so the program goes when the process does, prints
 * "ready" and waits for a signal.  One thread; needs root.
 */
#include <err.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/if_link.h>

#include "xdpsink.skel.h"

int
main(int argc, char **argv)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = XDP_FLAGS_DRV_MODE);
	struct xdpsink_bpf *skel;
	unsigned int ifindex;
	int link;

	if (argc != 2)
		errx(EX_USAGE, "usage: xdpsink interface");
	ifindex = if_nametoindex(argv[1]);
	if (ifindex == 0)
		err(EX_NOINPUT, "%s", argv[1]);
	skel = xdpsink_bpf__open_and_load();
	if (skel == NULL)
		err(EX_OSERR, "load");
	link = bpf_link_create(bpf_program__fd(skel->progs.xdpsink_drop),
	    (int)ifindex, BPF_XDP, &opts);
	if (link < 0) {
		errno = -link;
		err(EX_OSERR, "attach to %s", argv[1]);
	}
	puts("ready");
	fflush(stdout);
	pause();
	return (0);
}
