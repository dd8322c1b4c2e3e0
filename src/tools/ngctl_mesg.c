/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Requests, replies and how a message looks.  The answer to a request is
 * known by its token, not by its turn: whatever else arrives in the meantime
 * waits in a queue.  What nodes send is not believed before its length is
 * checked.
 */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "tools/ngctl.h"
#include "tools/out.h"
#include "tools/tool.h"

#define	NGCTL_WAIT_MS	5000		/* for a reply that was promised */
#define	NGCTL_FILL	1024		/* more than a socket holds */
#define	NGCTL_DUMP	16		/* bytes of a row */

/* ---- Receiving ---- */

void
ngctl_mesg_free(struct ngctl_mesg *nm)
{
	if (nm == NULL)
		return;
	free(nm->nm_msg);
	free(nm);
}

const char *
ngctl_mesg_text(const struct ngctl_mesg *nm)
{
	const struct ng_mesg *m;

	if (nm == NULL)
		return (NULL);
	m = nm->nm_msg;
	if ((m->header.flags & NGF_RESP) == 0 ||
	    memchr(m->data, '\0', m->header.arglen) == NULL)
		return (NULL);
	return (m->data);
}

void
ngctl_mesg_drop(struct ngctl *ng)
{
	struct ngctl_mesg *nm;

	while ((nm = ng->ng_queue) != NULL) {
		ng->ng_queue = nm->nm_next;
		ngctl_mesg_free(nm);
	}
}

/* Whether the control descriptor has something within ms. */
static bool
ngctl_readable(struct ngctl *ng, int ms)
{
	struct pollfd pfd = { .fd = ng->ng_cs, .events = POLLIN };

	while (poll(&pfd, 1, ms) == -1)
		if (errno != EINTR)
			return (false);
	return (pfd.revents != 0);
}

/* Take one message off the descriptor; NULL and errno. */
static struct ngctl_mesg *
ngctl_recv(struct ngctl *ng)
{
	struct ngctl_mesg *nm;
	int error, n;

	if ((nm = calloc(1, sizeof(*nm))) == NULL)
		return (NULL);
	n = NgAllocRecvMsg(ng->ng_cs, &nm->nm_msg, nm->nm_from);
	if (n >= (int)sizeof(struct ng_mesg) &&
	    nm->nm_msg->header.arglen <= (size_t)n - sizeof(struct ng_mesg))
		return (nm);
	error = n < 0 ? errno : n == 0 ? ENOTCONN : EBADMSG;
	ngctl_mesg_free(nm);
	errno = error;
	return (NULL);
}

static bool
ngctl_answers(const struct ngctl_mesg *nm, int token)
{
	return ((nm->nm_msg->header.flags & NGF_RESP) != 0 &&
	    nm->nm_msg->header.token == (uint32_t)token);
}

/*
 * Everything that waits into the queue, but not what somebody sends all the
 * while.  0, or -1 and errno.
 */
static int
ngctl_fill(struct ngctl *ng)
{
	struct ngctl_mesg **nmp, *nm;
	int n;

	for (nmp = &ng->ng_queue; *nmp != NULL; nmp = &(*nmp)->nm_next)
		continue;
	for (n = 0; n < NGCTL_FILL && ngctl_readable(ng, 0); n++) {
		if ((nm = ngctl_recv(ng)) == NULL)
			return (-1);
		*nmp = nm;
		nmp = &nm->nm_next;
	}
	return (0);
}

/* Take the reply to token out of the queue. */
static struct ngctl_mesg *
ngctl_take(struct ngctl *ng, int token)
{
	struct ngctl_mesg **nmp, *nm;

	for (nmp = &ng->ng_queue; (nm = *nmp) != NULL; nmp = &nm->nm_next) {
		if (!ngctl_answers(nm, token))
			continue;
		*nmp = nm->nm_next;
		nm->nm_next = NULL;
		return (nm);
	}
	return (NULL);
}

struct ngctl_mesg *
ngctl_next(struct ngctl *ng, int token)
{
	struct ngctl_mesg *nm;

	if ((token != -1 || ng->ng_queue == NULL) && ngctl_fill(ng) == -1)
		return (NULL);
	errno = 0;
	if (token != -1 && (nm = ngctl_take(ng, token)) != NULL)
		return (nm);
	if ((nm = ng->ng_queue) == NULL)
		return (NULL);
	ng->ng_queue = nm->nm_next;
	nm->nm_next = NULL;
	return (nm);
}

/* ---- Asking ---- */

int
ngctl_ask(struct ngctl *ng, const char *path, uint32_t cookie, uint32_t cmd,
    const void *arg, size_t len, struct ng_mesg **rep)
{
	struct ngctl_mesg *nm;
	int ms, token;

	token = NgSendMsg(ng->ng_cs, path, (int)cookie, (int)cmd, arg, len);
	if (token < 0)
		return (-1);
	for (ms = 0; (nm = ngctl_take(ng, token)) == NULL;
	    ms = NGCTL_WAIT_MS) {
		if (ms != 0 && !ngctl_readable(ng, ms)) {
			errno = ETIMEDOUT;
			return (-1);
		}
		if (ngctl_fill(ng) == -1)
			return (-1);
	}
	*rep = nm->nm_msg;
	free(nm);
	return (0);
}

const struct ng_mesg *
ngctl_inner(const struct ng_mesg *rep)
{
	const struct ng_mesg *in = (const struct ng_mesg *)rep->data;

	if (rep->header.arglen < sizeof(*in) ||
	    in->header.arglen > rep->header.arglen - sizeof(*in))
		return (NULL);
	return (in);
}

/* The same for a message that must hold text with its NUL. */
static const struct ng_mesg *
ngctl_inner_text(const struct ng_mesg *rep)
{
	const struct ng_mesg *in;

	if ((in = ngctl_inner(rep)) == NULL || in->header.arglen == 0 ||
	    memchr(in->data, '\0', in->header.arglen) == NULL)
		return (NULL);
	return (in);
}

int
ngctl_binary(struct ngctl *ng, const char *path, const char *cmd,
    const char *args, struct ng_mesg **rep)
{
	size_t len = strlen(args) + 1;
	struct ng_mesg *m;
	int error;

	if ((m = calloc(1, sizeof(*m) + len)) == NULL)
		return (-1);
	m->header.version = NG_VERSION;
	m->header.arglen = (uint32_t)len;
	(void)snprintf((char *)m->header.cmdstr, sizeof(m->header.cmdstr),
	    "%s", cmd);
	memcpy(m->data, args, len);
	error = ngctl_ask(ng, path, NGM_GENERIC_COOKIE, NGM_ASCII2BINARY, m,
	    sizeof(*m) + len, rep);
	free(m);
	if (error == 0 && ngctl_inner(*rep) == NULL) {
		free(*rep);
		errno = EBADMSG;
		error = -1;
	}
	return (error);
}

/* ---- Showing ---- */

void
ngctl_dump(struct out *o, const void *data, size_t len)
{
	const unsigned char *p = data;
	size_t i, off;

	for (off = 0; off < len; off += NGCTL_DUMP) {
		out_text(o, "%04zx:  ", off);
		for (i = off; i < off + NGCTL_DUMP; i++)
			if (i < len)
				out_text(o, "%02x ", p[i]);
			else
				out_text(o, "   ");
		out_text(o, " ");
		for (i = off; i < off + NGCTL_DUMP && i < len; i++)
			out_text(o, "%c", p[i] >= 0x20 && p[i] < 0x7f ?
			    p[i] : '.');
		out_text(o, "\n");
	}
}

json_t *
ngctl_text(const char *s)
{
	size_t i, len = strlen(s), n = 0;
	json_t *val;
	char *utf8;

	if ((val = json_string(s)) != NULL ||
	    (utf8 = malloc(2 * len + 1)) == NULL)
		return (val);
	for (i = 0; i < len; i++) {
		if ((unsigned char)s[i] < 0x80) {
			utf8[n++] = s[i];
			continue;
		}
		utf8[n++] = (char)(0xc0 | (unsigned char)s[i] >> 6);
		utf8[n++] = (char)(0x80 | ((unsigned char)s[i] & 0x3f));
	}
	val = json_stringn(utf8, n);
	free(utf8);
	return (val);
}

static json_t *
ngctl_hex(const void *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *p = data;
	char *hex;
	json_t *val;
	size_t i;

	if ((hex = malloc(2 * len + 1)) == NULL)
		return (NULL);
	for (i = 0; i < len; i++) {
		hex[2 * i] = digits[p[i] >> 4];
		hex[2 * i + 1] = digits[p[i] & 15];
	}
	val = json_stringn(hex, 2 * len);
	free(hex);
	return (val);
}

static void
ngctl_mesg_raw(struct out *o, const struct ng_mesg *m, const char *from)
{
	out_text(o, "Rec'd %s %d from \"%s\":\n",
	    (m->header.flags & NGF_RESP) != 0 ? "response" : "command",
	    (int)m->header.cmd, from);
	if (m->header.arglen == 0)
		out_text(o, "No arguments\n");
	ngctl_dump(o, m->data, m->header.arglen);
	if (out_json(o))
		out_put(o, "bytes", ngctl_hex(m->data, m->header.arglen));
}

static void
ngctl_mesg_ascii(struct out *o, const struct ng_mesg *m, const char *from)
{
	char name[NG_CMDSTRSIZ];
	json_t *val;

	(void)snprintf(name, sizeof(name), "%.*s", NG_CMDSTRSIZ - 1,
	    (const char *)m->header.cmdstr);
	out_text(o, "Rec'd %s \"%s\" (%d) from \"%s\":\n",
	    (m->header.flags & NGF_RESP) != 0 ? "response" : "command",
	    name, (int)m->header.cmd, from);
	if (m->data[0] == '\0')
		out_text(o, "No arguments\n");
	else
		out_text(o, "Args:\t%s\n", m->data);
	if (!out_json(o))
		return;
	out_put(o, "command", ngctl_text(name));
	out_put(o, "args", ngctl_text(m->data));
	if ((val = ngctl_parse(m->data)) != NULL)
		out_put(o, "value", val);
}

void
ngctl_mesg_print(struct ngctl *ng, const struct ngctl_mesg *nm)
{
	const struct ng_mesg *m = nm->nm_msg, *text = NULL;
	struct ng_mesg *rep = NULL;
	struct out *o = ng->ng_o;

	if (ngctl_ask(ng, nm->nm_from, NGM_GENERIC_COOKIE, NGM_BINARY2ASCII,
	    m, sizeof(*m) + m->header.arglen, &rep) == 0)
		text = ngctl_inner_text(rep);
	out_open(o, "message");
	out_put(o, "response",
	    json_boolean((m->header.flags & NGF_RESP) != 0));
	out_put(o, "from", ngctl_text(nm->nm_from));
	out_put(o, "cookie", json_integer(m->header.typecookie));
	out_put(o, "cmd", json_integer((int)m->header.cmd));
	if (text != NULL)
		ngctl_mesg_ascii(o, text, nm->nm_from);
	else
		ngctl_mesg_raw(o, m, nm->nm_from);
	out_close(o);
	free(rep);
}
