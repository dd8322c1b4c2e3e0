/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Standard descriptors that were closed.  No state; called once, by main().
 */

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "sys/stdfd.h"

int
stdfd_open(bool discard)
{
	int fd, mode;

	/* The lowest free one is what open() takes: go upwards. */
	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) != -1)
			continue;
		if (discard)
			mode = O_RDWR;
		else
			mode = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
		if (open("/dev/null", mode) == -1)
			return (errno);
	}
	return (0);
}
