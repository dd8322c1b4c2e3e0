/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Packets out of and into the node.  What is on the data socket from the
 * machine is the packet alone, so that recv(2) works; the name of the hook is
 * in a small file whose descriptor comes along.
 */

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netgraph.h>

#include "libnetgraph/nglib.h"
#include "wire/ngsock.h"

int
NgSendData(int ds, const char *hook, const unsigned char *buf, size_t len)
{
	struct ngs_data hdr = { .hook = "" };
	const struct iovec iov[2] = {
		{ &hdr, sizeof(hdr) },
		{ (void *)(uintptr_t)buf, len },
	};
	int error, saved = errno;

	if (hook == NULL)
		hook = "";
	if (strlen(hook) >= sizeof(hdr.hook))
		error = EINVAL;
	else if (len > NGS_DATA_MAX)
		error = EMSGSIZE;
	else {
		memcpy(hdr.hook, hook, strlen(hook));
		nglib_debug_data("NgSendData to", hook, buf, len);
		error = nglib_call(ds, iov, 2, -1);
	}
	if (error != 0)
		nglib_debug_error(error, "NgSendData: hook \"%s\"", hook);
	return (nglib_return(error, 0, saved));
}

/* The hook's name from the file fd, -1: none; "" if there is no name in it. */
static void
nglib_hook_name(int fd, char *hook)
{
	ssize_t n = 0;

	if (fd != -1)
		n = pread(fd, hook, NG_HOOKSIZ - 1, 0);
	hook[n > 0 ? n : 0] = '\0';
}

int
NgRecvData(int ds, unsigned char *buf, size_t len, char *hook)
{
	const struct iovec iov = { buf, len };
	char name[NG_HOOKSIZ] = "";
	int error, fds[NGLIB_FDS], saved = errno;
	size_t n = 0;

	error = nglib_recv(ds, &iov, 1, &n, fds);
	if (error == 0) {
		nglib_hook_name(fds[0], name);
		nglib_close(fds);
		if (hook != NULL)
			memcpy(hook, name, sizeof(name));
		nglib_debug_data("NgRecvData from", name, buf, n);
	} else
		nglib_debug_error(error, "NgRecvData");
	return (nglib_return(error, (int)n, saved));
}

int
NgAllocRecvData(int ds, unsigned char **buf, char *hook)
{
	unsigned char *fit, *room;
	int len, saved = errno;

	room = malloc(NGS_DATA_MAX);
	if (room == NULL)
		return (-1);
	len = NgRecvData(ds, room, NGS_DATA_MAX, hook);
	if (len <= 0) {
		saved = errno;
		free(room);
		*buf = NULL;
	} else {
		fit = realloc(room, (size_t)len);
		*buf = fit != NULL ? fit : room;
	}
	errno = saved;
	return (len);
}
