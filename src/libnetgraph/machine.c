/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * From the environment to the machine whose graph it is.  To a program a
 * machine that is not there looks like a kernel without netgraph; which one
 * it would have been is told at debug level 1.
 */

#include <sys/socket.h>
#include <sys/un.h>

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "libnetgraph/nglib.h"
#include "sys/rundir.h"
#include "wire/ngsock.h"

/* The maker's address.  EAFNOSUPPORT, EPERM. */
static int
nglib_address(struct sockaddr_un *sun)
{
	char dir[PATH_MAX], name[RUNDIR_NAMESIZ];
	int error;

	error = rundir_choose(NULL, name);
	if (error != 0) {
		nglib_debug_error(error, "%s", error == ENOENT ?
		    "no machine is running" : error == ENOTUNIQ ?
		    "several machines are running" :
		    "NETEPOCH_MACHINE is no machine's name");
		return (EAFNOSUPPORT);
	}
	error = rundir_socket(name, NGS_SOCKET, sun->sun_path,
	    sizeof(sun->sun_path));
	if (error == 0)
		error = rundir_get(dir, sizeof(dir));
	if (error != 0) {
		nglib_debug_error(error, "machine %s", name);
		return (EAFNOSUPPORT);
	}
	error = rundir_check(dir);
	if (error != 0) {
		nglib_debug_error(error, "%s is somebody else's", dir);
		return (EPERM);
	}
	return (0);
}

int
nglib_connect(int *sp)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int error, rc, s;

	error = nglib_address(&sun);
	if (error != 0)
		return (error);
	s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (s == -1)
		return (errno);
	do {
		rc = connect(s, (const struct sockaddr *)&sun, sizeof(sun));
	} while (rc == -1 && errno == EINTR);
	if (rc == -1) {
		error = errno;
		(void)close(s);
		nglib_debug_error(error, "%s", sun.sun_path);
		switch (error) {
		case EACCES:
		case EPERM:
			return (EPERM);
		case ENOENT:
		case ENOTDIR:
		case ECONNREFUSED:
			return (EAFNOSUPPORT);
		default:
			return (error);
		}
	}
	*sp = s;
	return (0);
}
