/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Where machines live: the run directory, a machine's directory in it, and
 * which machines are alive.
 *
 *	RUNDIR/NAME/lock	locked by the daemon; its text is the pid
 *	RUNDIR/NAME/ctl		the control socket
 *	RUNDIR/NAME/netgraph	the netgraph socket
 *
 * For the daemon, the tools and libnetgraph, which is no part of a machine:
 * this file stands alone.  Functions return 0 or an errno value, never touch
 * the packet path, and may be called from any thread.
 */
#ifndef _SYS_RUNDIR_H_
#define	_SYS_RUNDIR_H_

#include <stdbool.h>
#include <stddef.h>

#define	RUNDIR_NAMESIZ	32	/* name of a machine, with its NUL */

/* 1..31 characters of [A-Za-z0-9_-]. */
bool	rundir_name_ok(const char *name);
/*
 * $NETEPOCH_RUNDIR, else /run/netepoch for root, else
 * $XDG_RUNTIME_DIR/netepoch, else /tmp/netepoch-UID.  ENAMETOOLONG.
 */
int	rundir_get(char *buf, size_t len);
/*
 * EACCES if dir, as rundir_get() has it, is the one in /tmp and somebody else
 * made it or may write into it; 0 otherwise, also when it is not there.
 */
int	rundir_check(const char *dir);
/* RUNDIR/name/file, or RUNDIR/name if file is NULL.  ENAMETOOLONG, EINVAL. */
int	rundir_path(const char *name, const char *file, char *buf,
	    size_t len);
/* The same for a socket, whose path must fit into a sockaddr_un. */
int	rundir_socket(const char *name, const char *file, char *buf,
	    size_t len);
/*
 * Names of the machines that are alive (their lock is held), sorted; one
 * whose lock we may not look at counts as alive.  Fills at most max, returns
 * how many that were.
 */
int	rundir_machines(char (*names)[RUNDIR_NAMESIZ], int max);
/*
 * The machine to talk to: machine, else (NULL) $NETEPOCH_MACHINE, else the
 * only one that is alive; its name is left in name (RUNDIR_NAMESIZ bytes).
 * ENOENT: none is alive; ENOTUNIQ: several are; EINVAL: no machine's name.
 */
int	rundir_choose(const char *machine, char *name);

#endif /* _SYS_RUNDIR_H_ */
