/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Making a node of type socket: its descriptors come from the machine, bound
 * to its name, and closing them is all that ends it.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include <netgraph.h>

#include "libnetgraph/nglib.h"
#include "wire/ngsock.h"

/* Ask over the maker connection s; the node's descriptors are left in fds. */
static int
nglib_make(int s, const char *name, bool data, int fds[NGLIB_FDS])
{
	struct ngs_make make = {
		.magic = NGS_MAKE_MAGIC,
		.version = NGS_VERSION,
		.flags = data ? NGS_MAKE_DATA : 0,
	};
	struct ngs_made made;
	const struct iovec out = { &make, sizeof(make) };
	const struct iovec in = { &made, sizeof(made) };
	size_t len;
	int error;

	if (name != NULL)
		(void)snprintf(make.name, sizeof(make.name), "%s", name);
	error = nglib_send(s, &out, 1, NULL, 0);
	if (error == 0)
		error = nglib_recv(s, &in, 1, &len, fds);
	if (error != 0)
		return (error == EPIPE ? ENETDOWN : error);
	if (len == 0)
		error = ENETDOWN;
	else if (len != sizeof(made) || made.error < 0)
		error = EBADMSG;
	else if (made.error != 0)
		error = made.error;
	else if (fds[0] == -1 || (fds[1] != -1) != data)
		error = EBADMSG;
	if (error != 0)
		nglib_close(fds);
	return (error);
}

int
NgMkSockNode(const char *name, int *csp, int *dsp)
{
	int error, fds[NGLIB_FDS], s;

	error = nglib_connect(&s);
	if (error == 0) {
		error = nglib_make(s, name, dsp != NULL, fds);
		(void)close(s);
	}
	if (error != 0) {
		nglib_debug_error(error, "NgMkSockNode: \"%s\"",
		    name != NULL ? name : "");
		errno = error;
		return (-1);
	}
	if (dsp != NULL)
		*dsp = fds[1];
	if (csp != NULL)
		*csp = fds[0];
	else
		(void)close(fds[0]);	/* the other holds the node */
	return (0);
}

int
NgNameNode(int cs, const char *path, const char *fmt, ...)
{
	struct ngm_name arg = { .name = "" };
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(arg.name, sizeof(arg.name), fmt, ap);
	va_end(ap);
	return (NgSendMsg(cs, path, NGM_GENERIC_COOKIE, NGM_NAME, &arg,
	    sizeof(arg)) == -1 ? -1 : 0);
}
