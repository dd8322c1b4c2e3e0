/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * nghook: a hook of the graph on standard input and output.  A line of the
 * input is a packet; a packet is written as it is, or as rows of hex.  One
 * thread, which waits for both.
 */

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netgraph/ng_socket.h>

#include "tools/cmds.h"
#include "tools/ngctl.h"
#include "tools/ngtool.h"
#include "tools/tool.h"

#define	NGHOOK_OURS	"hook"		/* our end */
#define	NGHOOK_PEER	"debug"		/* theirs, unless it is given */
#define	NGHOOK_MAX	65536		/* bytes of a packet */

struct nghook {
	struct tool_ctx	*nk_tc;
	bool		 nk_ascii;	/* -a */
	bool		 nk_loop;	/* -l */
	bool		 nk_noinput;	/* -n */
	bool		 nk_single;	/* -s */
	int		 nk_debug;	/* -d */
	const char	*nk_msg;	/* -m, or NULL */
	int		 nk_cs;
	int		 nk_ds;
	size_t		 nk_len;	/* bytes gathered in nk_buf */
	unsigned char	 nk_buf[NGHOOK_MAX];
};

static int
nghook_send(struct nghook *nk, const unsigned char *buf, size_t len)
{

	if (NgSendData(nk->nk_ds, NGHOOK_OURS, buf, len) == 0)
		return (0);
	return (tool_fail(nk->nk_tc, EX_OSERR, "send data: %s",
	    strerror(errno)));
}

/* Send the whole lines that have been gathered; all of it if last. */
static int
nghook_lines(struct nghook *nk, bool last)
{
	const unsigned char *end;
	size_t len, off = 0;
	int status = 0;

	while (status == 0 && off < nk->nk_len) {
		len = nk->nk_len - off;
		end = memchr(nk->nk_buf + off, '\n', len);
		if (nk->nk_single)
			end = NULL;
		if (end == NULL && !last && len < NGHOOK_MAX)
			break;
		if (end != NULL)
			len = (size_t)(end - (nk->nk_buf + off)) + 1;
		else if (len == NGHOOK_MAX && nk->nk_single && !last)
			return (tool_fail(nk->nk_tc, EX_DATAERR,
			    "more than %d bytes in a packet", NGHOOK_MAX - 1));
		status = nghook_send(nk, nk->nk_buf + off, len);
		off += len;
	}
	nk->nk_len -= off;
	memmove(nk->nk_buf, nk->nk_buf + off, nk->nk_len);
	return (status);
}

/* Input is there.  At its end *done is set. */
static int
nghook_input(struct nghook *nk, bool *done)
{
	ssize_t n;

	n = read(STDIN_FILENO, nk->nk_buf + nk->nk_len,
	    NGHOOK_MAX - nk->nk_len);
	if (n == -1 && errno == EINTR)
		return (0);
	if (n == -1)
		return (tool_fail(nk->nk_tc, EX_IOERR, "read: %s",
		    strerror(errno)));
	nk->nk_len += (size_t)n;
	*done = n == 0;
	return (nghook_lines(nk, n == 0));
}

/* A packet is there.  When the node has gone *done is set. */
static int
nghook_packet(struct nghook *nk, bool *done)
{
	FILE *f = nk->nk_tc->tc_out;
	unsigned char *buf;
	int n, status = 0;

	if ((n = NgAllocRecvData(nk->nk_ds, &buf, NULL)) < 0)
		return (tool_fail(nk->nk_tc, EX_OSERR, "receive data: %s",
		    strerror(errno)));
	*done = n == 0;
	if (nk->nk_ascii)
		ngctl_dump(nk->nk_tc->tc_o, buf, (size_t)n);
	else
		(void)fwrite(buf, 1, (size_t)n, f);
	if (fflush(f) != 0)
		status = tool_fail(nk->nk_tc, EX_IOERR, "write: %s",
		    strerror(errno));
	else if (nk->nk_loop && n > 0)
		status = nghook_send(nk, buf, (size_t)n);
	free(buf);
	return (status);
}

/*
 * Copy until the input ends (without -n) or the node has gone.  A hook that is
 * taken away ends it too: then nothing will ever come.
 */
static int
nghook_copy(struct nghook *nk)
{
	struct pollfd pfd[2] = { { .fd = nk->nk_ds, .events = POLLIN },
	    { .fd = nk->nk_noinput ? -1 : STDIN_FILENO, .events = POLLIN } };
	bool done = false;
	int status = 0;

	while (status == 0 && !done) {
		if (poll(pfd, 2, -1) == -1) {
			if (errno == EINTR)
				continue;
			return (tool_fail(nk->nk_tc, EX_OSERR, "poll: %s",
			    strerror(errno)));
		}
		if (pfd[0].revents != 0)
			status = nghook_packet(nk, &done);
		else if (pfd[1].revents != 0)
			status = nghook_input(nk, &done);
	}
	return (status);
}

static int
nghook_connect(struct nghook *nk, const char *path, const char *peerhook)
{
	struct ngm_connect con;

	memset(&con, 0, sizeof(con));
	(void)snprintf(con.path, sizeof(con.path), "%s", path);
	(void)snprintf(con.ourhook, sizeof(con.ourhook), "%s", NGHOOK_OURS);
	(void)snprintf(con.peerhook, sizeof(con.peerhook), "%s", peerhook);
	if (NgSendMsg(nk->nk_cs, ".", NGM_GENERIC_COOKIE, NGM_CONNECT, &con,
	    sizeof(con)) < 0)
		return (tool_fail(nk->nk_tc, EX_OSERR, "can't connect to "
		    "\"%s\", hook \"%s\": %s", path, peerhook,
		    strerror(errno)));
	if (nk->nk_msg != NULL &&
	    NgSendAsciiMsg(nk->nk_cs, NGHOOK_OURS, "%s", nk->nk_msg) < 0)
		return (tool_fail(nk->nk_tc, EX_OSERR, "send msg: %s",
		    strerror(errno)));
	/* A hook without its peer is none: the node then ends. */
	if (NgSendMsg(nk->nk_cs, ".", NGM_SOCKET_COOKIE,
	    NGM_SOCK_CMD_NOLINGER, NULL, 0) < 0)
		return (tool_fail(nk->nk_tc, EX_OSERR, "send msg: %s",
		    strerror(errno)));
	return (0);
}

static int
nghook_options(struct nghook *nk, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "+:adlm:ns")) != -1) {
		switch (c) {
		case 'a':
			nk->nk_ascii = true;
			break;
		case 'd':
			nk->nk_debug++;
			break;
		case 'l':
			nk->nk_loop = true;
			break;
		case 'm':
			nk->nk_msg = optarg;
			break;
		case 'n':
			nk->nk_noinput = true;
			break;
		case 's':
			nk->nk_single = true;
			break;
		default:
			return (tool_badopt(nk->nk_tc, c));
		}
	}
	if (argc - optind < 1 || argc - optind > 2)
		return (tool_usage(nk->nk_tc));
	return (0);
}

static int
nghook_main(struct tool_ctx *tc, int argc, char **argv)
{
	struct nghook *nk;
	char name[NG_NODESIZ];
	int status;

	if (tc->tc_local)
		return (tool_fail(tc, EX_USAGE, "not from a file of commands"));
	if ((nk = calloc(1, sizeof(*nk))) == NULL)
		return (tool_fail(tc, EX_OSERR, "out of memory"));
	nk->nk_tc = tc;
	status = nghook_options(nk, argc, argv);
	(void)snprintf(name, sizeof(name), "nghook%d", (int)getpid());
	if (status == 0)
		status = ngtool_open(tc, name, nk->nk_debug, &nk->nk_cs,
		    &nk->nk_ds);
	if (status == 0) {
		status = nghook_connect(nk, argv[optind], optind + 1 < argc ?
		    argv[optind + 1] : NGHOOK_PEER);
		if (status == 0)
			status = nghook_copy(nk);
		(void)close(nk->nk_ds);
		(void)close(nk->nk_cs);
	}
	free(nk);
	return (status);
}

const struct tool tool_nghook = {
	.tl_name = "nghook",
	.tl_synopsis = "[-adlns] [-m msg] path [hookname]",
	.tl_manual = "netepoch-nghook(8)",
	.tl_bytes = true,		/* names of nodes may be any bytes */
	.tl_descr = "a hook of the graph on standard input and output",
	.tl_fn = nghook_main,
};
