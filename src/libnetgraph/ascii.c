/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Messages as text.  Only a node knows what its arguments look like, so it is
 * asked: the generic commands ascii2binary and binary2ascii carry a message
 * each way.  The answer is the next message on the control descriptor; a
 * stranger's message that is already there is taken for it, refused with
 * EBADMSG, and lost.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netgraph.h>

#include "libnetgraph/nglib.h"

#define	NGLIB_BLANKS	" \t\r\n\v\f"

/*
 * Have the node at path convert a message of len bytes.  The result is in
 * *outp, inside of *replyp, which the caller frees.
 */
static int
nglib_convert(int cs, const char *path, uint32_t cmd, const struct ng_mesg *in,
    size_t len, struct ng_mesg **replyp, struct ng_mesg **outp)
{
	struct ng_mesg *out, *reply;
	struct ng_msghdr hdr;
	char from[NG_PATHSIZ];
	size_t replylen;
	int error;

	nglib_request(&hdr, NGM_GENERIC_COOKIE, cmd);
	(void)snprintf((char *)hdr.cmdstr, sizeof(hdr.cmdstr), "%s",
	    cmd == NGM_ASCII2BINARY ? "ascii2binary" : "binary2ascii");
	error = nglib_deliver(cs, path, &hdr, in, len);
	if (error == 0)
		error = nglib_take(cs, &reply, &replylen, from);
	if (error != 0)
		return (error);
	out = (struct ng_mesg *)(void *)reply->data;
	if (reply->header.typecookie != hdr.typecookie ||
	    reply->header.cmd != hdr.cmd || reply->header.token != hdr.token ||
	    (reply->header.flags & NGF_RESP) == 0 ||
	    reply->header.arglen < sizeof(*out) ||
	    out->header.arglen > reply->header.arglen - sizeof(*out)) {
		free(reply);
		return (EBADMSG);
	}
	*replyp = reply;
	*outp = out;
	return (0);
}

/* A message for ascii2binary, made of "command arguments". */
static int
nglib_text_mesg(const char *text, struct ng_mesg **mesgp, size_t *lenp)
{
	struct ng_mesg *mesg;
	size_t arglen, wordlen;
	const char *word;

	word = text + strspn(text, NGLIB_BLANKS);
	wordlen = strcspn(word, NGLIB_BLANKS);
	if (wordlen >= sizeof(mesg->header.cmdstr))
		return (ENOSYS);	/* no command has such a name */
	text = word + wordlen;
	text += strspn(text, NGLIB_BLANKS);
	arglen = strlen(text) + 1;
	mesg = calloc(1, sizeof(*mesg) + arglen);
	if (mesg == NULL)
		return (ENOMEM);
	mesg->header.version = NG_VERSION;
	mesg->header.arglen = (uint32_t)arglen;
	memcpy(mesg->header.cmdstr, word, wordlen);
	memcpy(mesg->data, text, arglen);
	*mesgp = mesg;
	*lenp = sizeof(*mesg) + arglen;
	return (0);
}

static int
nglib_send_text(int cs, const char *path, const char *text, uint32_t *tokenp)
{
	struct ng_mesg *binary, *mesg, *reply;
	struct ng_msghdr hdr;
	size_t len;
	int error;

	error = nglib_text_mesg(text, &mesg, &len);
	if (error != 0)
		return (error);
	error = nglib_convert(cs, path, NGM_ASCII2BINARY, mesg, len, &reply,
	    &binary);
	free(mesg);
	if (error != 0)
		return (error);
	nglib_request(&hdr, binary->header.typecookie, binary->header.cmd);
	memcpy(hdr.cmdstr, binary->header.cmdstr, sizeof(hdr.cmdstr));
	*tokenp = hdr.token;
	error = nglib_deliver(cs, path, &hdr, binary->data,
	    binary->header.arglen);
	free(reply);
	return (error);
}

int
NgSendAsciiMsg(int cs, const char *path, const char *fmt, ...)
{
	uint32_t token = 0;
	char *text;
	va_list ap;
	int error;

	va_start(ap, fmt);
	error = vasprintf(&text, fmt, ap) == -1 ? ENOMEM : 0;
	va_end(ap);
	if (error == 0) {
		error = nglib_send_text(cs, path, text, &token);
		free(text);
	}
	if (error != 0)
		nglib_debug_error(error, "NgSendAsciiMsg: %s",
		    path != NULL ? path : "no path");
	return (nglib_return(error, (int)token, 0));
}

/*
 * Take a message and have its sender turn it into text.  The text is in
 * *outp, inside of *replyp, which the caller frees.
 */
static int
nglib_take_text(int cs, struct ng_mesg **replyp, struct ng_mesg **outp,
    char *path)
{
	char from[NG_PATHSIZ];
	struct ng_mesg *mesg;
	size_t len;
	int error;

	if (path == NULL)
		path = from;
	error = nglib_take(cs, &mesg, &len, path);
	if (error != 0)
		return (error);
	error = nglib_convert(cs, path, NGM_BINARY2ASCII, mesg, len, replyp,
	    outp);
	free(mesg);
	if (error == 0 && ((*outp)->header.arglen == 0 ||
	    (*outp)->data[(*outp)->header.arglen - 1] != '\0')) {
		free(*replyp);
		error = EBADMSG;
	}
	return (error);
}

int
NgRecvAsciiMsg(int cs, struct ng_mesg *rep, size_t replen, char *path)
{
	int error, saved = errno;
	struct ng_mesg *reply, *text;
	size_t len;

	error = nglib_take_text(cs, &reply, &text, path);
	if (error == 0) {
		len = sizeof(*text) + text->header.arglen;
		if (len <= replen)
			memcpy(rep, text, len);
		else
			error = ERANGE;
		free(reply);
	}
	if (error != 0)
		nglib_debug_error(error, "NgRecvAsciiMsg");
	return (nglib_return(error, 0, saved));
}

int
NgAllocRecvAsciiMsg(int cs, struct ng_mesg **rep, char *path)
{
	int error, saved = errno;
	struct ng_mesg *reply, *text;
	size_t len;

	error = nglib_take_text(cs, &reply, &text, path);
	if (error == 0) {
		/* The caller frees what it gets: move the text to the front. */
		len = sizeof(*text) + text->header.arglen;
		memmove(reply, text, len);
		*rep = reply;
	} else {
		*rep = NULL;
		nglib_debug_error(error, "NgAllocRecvAsciiMsg");
	}
	return (nglib_return(error, 0, saved));
}
