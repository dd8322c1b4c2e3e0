/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The tools' side: find a machine, call its commands.
 *
 * A client belongs to one thread at a time.  Calls block, for at most
 * CTL_CALL_S seconds without an answer.
 */

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "ctl/ctl_private.h"
#include "sys/defs.h"
#include "sys/rundir.h"

#define	CTL_MACHINES_SHOWN	16	/* in an error */
#define	CTL_NS			1000000000ull

struct ctl_client {
	char		 cl_machine[RUNDIR_NAMESIZ];
	int		 cl_fd;		/* -1: within the process, or dead */
	int		 cl_dead;	/* why no call works any more */
	long		 cl_id;		/* of the last request */
	char		*cl_in;		/* CTL_LINE_MAX bytes at most */
	size_t		 cl_inlen;
	size_t		 cl_insize;
	const struct ctl_command *cl_cmds; /* within the process */
	size_t		 cl_ncmds;
	void		*cl_arg;
};

uint64_t ctl_call_ns = CTL_CALL_S * CTL_NS;

/* ---- Finding a machine ---- */

/* " M1 M2" of the machines that are alive; returns how many there are. */
static int
ctl_machines_text(char *buf, size_t len)
{
	char names[CTL_MACHINES_SHOWN + 1][RUNDIR_NAMESIZ];
	size_t off = 0;
	int i, n;

	buf[0] = '\0';
	n = rundir_machines(names, CTL_MACHINES_SHOWN + 1);
	for (i = 0; i < n && off < len; i++)
		off += (size_t)snprintf(buf + off, len - off, " %s",
		    i < CTL_MACHINES_SHOWN ? names[i] : "...");
	return (n);
}

/* The machine to talk to, as rundir_choose() has it; err says why not. */
static int
ctl_machine_choose(const char *machine, char *name, char *err, size_t errlen)
{
	char text[(CTL_MACHINES_SHOWN + 1) * (RUNDIR_NAMESIZ + 1)];
	int error;

	error = rundir_choose(machine, name);
	switch (error) {
	case ENOENT:
		ctl_err(err, errlen, "no machine is running; start one with "
		    "netepochd -M NAME");
		break;
	case ENOTUNIQ:
		(void)ctl_machines_text(text, sizeof(text));
		ctl_err(err, errlen, "several machines run:%s; choose with "
		    "-M", text);
		break;
	case EINVAL:
		ctl_err(err, errlen, "%smachine name \"%s\": expected 1 to %d "
		    "of A-Z a-z 0-9 _ -",
		    machine != NULL ? "" : "NETEPOCH_MACHINE: ",
		    machine != NULL ? machine : getenv("NETEPOCH_MACHINE"),
		    RUNDIR_NAMESIZ - 1);
		break;
	}
	return (error);
}

static void
ctl_not_running(const char *name, char *err, size_t errlen)
{
	char text[(CTL_MACHINES_SHOWN + 1) * (RUNDIR_NAMESIZ + 1)];

	if (ctl_machines_text(text, sizeof(text)) > 0)
		ctl_err(err, errlen, "machine %s is not running; running:%s",
		    name, text);
	else
		ctl_err(err, errlen, "machine %s is not running; start it "
		    "with netepochd -M %s", name, name);
}

static void
ctl_no_permission(const char *path, char *err, size_t errlen)
{
	struct group *gr;
	struct stat sb;

	if (stat(path, &sb) != 0) {
		ctl_err(err, errlen, "no permission for %s", path);
		return;
	}
	gr = getgrgid(sb.st_gid);
	if (gr != NULL)
		ctl_err(err, errlen, "no permission for %s: it is for the "
		    "group %s", path, gr->gr_name);
	else
		ctl_err(err, errlen, "no permission for %s: it is for the "
		    "group %u", path, (unsigned int)sb.st_gid);
}

/* A connected socket, or -1. */
static int
ctl_socket_connect(const char *name, int *error, char *err, size_t errlen)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	const struct timeval tv = {
		.tv_sec = (time_t)(ctl_call_ns / CTL_NS),
		.tv_usec = (suseconds_t)(ctl_call_ns % CTL_NS / 1000),
	};
	char dir[PATH_MAX];
	int fd;

	*error = rundir_get(dir, sizeof(dir));
	if (*error == 0)
		*error = ctl_socket_path(name, sun.sun_path,
		    sizeof(sun.sun_path));
	if (*error != 0) {
		ctl_err(err, errlen, "the run directory's name is too long");
		return (-1);
	}
	*error = ctl_rundir_check(dir, err, errlen);
	if (*error != 0)
		return (-1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd != -1 &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)) == 0 &&
	    connect(fd, (struct sockaddr *)&sun, sizeof(sun)) == 0)
		return (fd);
	*error = errno;
	if (*error == ENOENT || *error == ENOTDIR || *error == ECONNREFUSED) {
		*error = ENOENT;
		ctl_not_running(name, err, errlen);
	} else if (*error == EACCES || *error == EPERM)
		ctl_no_permission(sun.sun_path, err, errlen);
	else
		ctl_err(err, errlen, "%s: %s", sun.sun_path,
		    strerror(*error));
	if (fd != -1)
		(void)close(fd);
	return (-1);
}

struct ctl_client *
ctl_connect(const char *machine, int *error, char *err, size_t errlen)
{
	struct ctl_client *cl;

	cl = calloc(1, sizeof(*cl));
	if (cl == NULL) {
		*error = ENOMEM;
		ctl_err(err, errlen, "no memory");
		return (NULL);
	}
	*error = ctl_machine_choose(machine, cl->cl_machine, err, errlen);
	if (*error != 0)
		goto free_client;
	cl->cl_fd = ctl_socket_connect(cl->cl_machine, error, err, errlen);
	if (cl->cl_fd == -1)
		goto free_client;
	return (cl);
free_client:
	free(cl);
	return (NULL);
}

struct ctl_client *
ctl_connect_local(const struct ctl_command *cmds, size_t n, void *arg)
{
	struct ctl_client *cl;

	cl = calloc(1, sizeof(*cl));
	if (cl == NULL)
		return (NULL);
	cl->cl_fd = -1;
	cl->cl_cmds = cmds;
	cl->cl_ncmds = n;
	cl->cl_arg = arg;
	return (cl);
}

const char *
ctl_client_machine(const struct ctl_client *cl)
{

	return (cl->cl_machine);
}

void
ctl_close(struct ctl_client *cl)
{

	if (cl == NULL)
		return;
	if (cl->cl_fd != -1)
		(void)close(cl->cl_fd);
	free(cl->cl_in);
	free(cl);
}

/* ---- Calling ---- */

static int __printflike(3, 4)
ctl_error(struct ctl_error *ce, int error, const char *fmt, ...)
{
	va_list ap;

	ce->ce_errno = error;
	ce->ce_field[0] = '\0';
	va_start(ap, fmt);
	(void)vsnprintf(ce->ce_text, sizeof(ce->ce_text), fmt, ap);
	va_end(ap);
	return (error);
}

/* The connection is of no use any more. */
static int
ctl_client_dead(struct ctl_client *cl, struct ctl_error *ce, int error)
{

	cl->cl_dead = error;
	switch (error) {
	case EPIPE:
		return (ctl_error(ce, error, "machine %s has gone",
		    cl->cl_machine));
	case ETIMEDOUT:
		return (ctl_error(ce, error, "machine %s does not answer",
		    cl->cl_machine));
	default:
		return (ctl_error(ce, error, "machine %s sent no proper reply",
		    cl->cl_machine));
	}
}

/*
 * EPIPE, ETIMEDOUT.  A daemon that turns us away closes before it has read
 * our request: its reason may be waiting nevertheless, so a broken pipe is
 * left for the read to find.
 */
static int
ctl_client_send(struct ctl_client *cl, const char *line, size_t len)
{
	ssize_t n;

	while (len > 0) {
		n = send(cl->cl_fd, line, len, MSG_NOSIGNAL);
		if (n < 0) {
			if (errno == EINTR)
				continue;
			return (errno == EAGAIN ? ETIMEDOUT : 0);
		}
		line += n;
		len -= (size_t)n;
	}
	return (0);
}

static int
ctl_client_grow(struct ctl_client *cl)
{
	size_t size;
	char *in;

	if (cl->cl_inlen < cl->cl_insize)
		return (0);
	if (cl->cl_insize >= CTL_LINE_MAX)
		return (EPROTO);
	size = cl->cl_insize == 0 ? 4096 : 2 * cl->cl_insize;
	in = realloc(cl->cl_in, size);
	if (in == NULL)
		return (ENOMEM);
	cl->cl_in = in;
	cl->cl_insize = size;
	return (0);
}

/* Read one line; its length with the newline in *lenp. */
static int
ctl_client_recv(struct ctl_client *cl, size_t *lenp)
{
	const char *nl;
	ssize_t n;
	int error;

	cl->cl_inlen = 0;		/* one reply a request: no rest */
	for (;;) {
		error = ctl_client_grow(cl);
		if (error != 0)
			return (error);
		n = recv(cl->cl_fd, cl->cl_in + cl->cl_inlen,
		    cl->cl_insize - cl->cl_inlen, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return (ETIMEDOUT);
		if (n <= 0)
			return (EPIPE);
		nl = memchr(cl->cl_in + cl->cl_inlen, '\n', (size_t)n);
		cl->cl_inlen += (size_t)n;
		if (nl == NULL)
			continue;
		*lenp = (size_t)(nl - cl->cl_in) + 1;
		return (*lenp == cl->cl_inlen ? 0 : EPROTO);
	}
}

/* The request's line, through the daemon or this process, to a reply. */
static int
ctl_client_exchange(struct ctl_client *cl, const char *line, size_t len,
    json_t **replyp)
{
	size_t inlen;
	int error;

	if (cl->cl_cmds != NULL) {
		*replyp = ctl_dispatch(cl->cl_cmds, cl->cl_ncmds, cl->cl_arg,
		    line, len);
		return (*replyp != NULL ? 0 : ENOMEM);
	}
	error = ctl_client_send(cl, line, len);
	if (error == 0)
		error = ctl_client_recv(cl, &inlen);
	if (error != 0)
		return (error);
	*replyp = json_loadb(cl->cl_in, inlen, JSON_REJECT_DUPLICATES, NULL);
	return (*replyp != NULL ? 0 : EPROTO);
}

/* A failed reply to ce.  EPROTO if it is none. */
static int
ctl_reply_failed(json_t *reply, struct ctl_error *ce)
{
	const char *field = "", *text;
	int error;

	if (json_unpack(reply, "{sisss?s}", "errno", &error, "error", &text,
	    "field", &field) != 0 || error <= 0)
		return (EPROTO);
	(void)ctl_error(ce, error, "%s", text);
	(void)snprintf(ce->ce_field, sizeof(ce->ce_field), "%s", field);
	return (0);
}

/*
 * Take a reply apart.  EPROTO if it is not one to our request; a null id is
 * that of a daemon that did not get as far as reading ours.
 */
static int
ctl_reply_take(struct ctl_client *cl, json_t *reply, json_t **result,
    struct ctl_error *ce)
{
	json_t *id, *ok, *res;

	id = json_object_get(reply, "id");
	ok = json_object_get(reply, "ok");
	if (!json_is_boolean(ok))
		return (EPROTO);
	if (json_is_false(ok)) {
		if (!json_is_null(id) && json_integer_value(id) != cl->cl_id)
			return (EPROTO);
		return (ctl_reply_failed(reply, ce));
	}
	res = json_object_get(reply, "result");
	if (!json_is_integer(id) || json_integer_value(id) != cl->cl_id ||
	    !json_is_object(res))
		return (EPROTO);
	if (result != NULL)
		*result = json_incref(res);
	return (0);
}

int
ctl_call(struct ctl_client *cl, const char *cmd, json_t *args,
    json_t **result, struct ctl_error *ce)
{
	json_t *reply = NULL, *request;
	char *line = NULL;
	size_t len;
	int error;

	*ce = (struct ctl_error){ .ce_errno = 0 };
	if (result != NULL)
		*result = NULL;
	if (cl->cl_dead != 0) {
		json_decref(args);
		return (ctl_client_dead(cl, ce, cl->cl_dead));
	}
	request = json_pack("{sIsssO*}", "id", (json_int_t)++cl->cl_id,
	    "cmd", cmd, "args", args);
	json_decref(args);
	if (request != NULL)
		line = ctl_line(request, &len);
	json_decref(request);
	if (line == NULL)
		return (ctl_error(ce, EINVAL, "no memory for the request, or "
		    "text in it that is not UTF-8"));
	error = ctl_client_exchange(cl, line, len, &reply);
	free(line);
	if (error == 0)
		error = ctl_reply_take(cl, reply, result, ce);
	json_decref(reply);
	if (error == ENOMEM) {
		if (cl->cl_fd != -1)	/* half a reply may be left */
			cl->cl_dead = EPROTO;
		return (ctl_error(ce, error, "no memory for the reply"));
	}
	if (error != 0)
		return (ctl_client_dead(cl, ce, error));
	return (ce->ce_errno);
}
