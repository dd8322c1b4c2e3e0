/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the library tells about itself: errors, then messages and packets,
 * then what is in them.  All of it is made from what is at hand: nothing is
 * asked of the machine, so that no reply gets lost.  One call of the log
 * function is one line.  errno is the caller's.
 */

#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <netgraph.h>

#include <netgraph/ng_bpf.h>
#include <netgraph/ng_bridge.h>
#include <netgraph/ng_car.h>
#include <netgraph/ng_echo.h>
#include <netgraph/ng_eiface.h>
#include <netgraph/ng_etf.h>
#include <netgraph/ng_ether.h>
#include <netgraph/ng_hole.h>
#include <netgraph/ng_hub.h>
#include <netgraph/ng_iface.h>
#include <netgraph/ng_ksocket.h>
#include <netgraph/ng_macfilter.h>
#include <netgraph/ng_netflow.h>
#include <netgraph/ng_one2many.h>
#include <netgraph/ng_patch.h>
#include <netgraph/ng_pipe.h>
#include <netgraph/ng_socket.h>
#include <netgraph/ng_source.h>
#include <netgraph/ng_split.h>
#include <netgraph/ng_tee.h>
#include <netgraph/ng_vlan.h>
#include <netgraph/ng_vlan_rotate.h>

#include "libnetgraph/nglib.h"

#define	NGLIB_HEX_MAX	512		/* bytes that are shown */
#define	NGLIB_HEX_LINE	16

typedef void nglib_log_fn(const char *, ...);

/* (a) relaxed: each is right by itself. */
static _Atomic int nglib_level;
static _Atomic(nglib_log_fn *) nglib_log = warn;
static _Atomic(nglib_log_fn *) nglib_logx = warnx;

static const struct {
	uint32_t	 cookie;
	const char	*name;
} nglib_cookies[] = {
	{ NGM_GENERIC_COOKIE, "generic" },
	{ NGM_FLOW_COOKIE, "flow" },
	{ NGM_BPF_COOKIE, NG_BPF_NODE_TYPE },
	{ NGM_BRIDGE_COOKIE, NG_BRIDGE_NODE_TYPE },
	{ NGM_CAR_COOKIE, NG_CAR_NODE_TYPE },
	{ NGM_ECHO_COOKIE, NG_ECHO_NODE_TYPE },
	{ NGM_EIFACE_COOKIE, NG_EIFACE_NODE_TYPE },
	{ NGM_ETF_COOKIE, NG_ETF_NODE_TYPE },
	{ NGM_ETHER_COOKIE, NG_ETHER_NODE_TYPE },
	{ NGM_HOLE_COOKIE, NG_HOLE_NODE_TYPE },
	{ NGM_HUB_COOKIE, NG_HUB_NODE_TYPE },
	{ NGM_IFACE_COOKIE, NG_IFACE_NODE_TYPE },
	{ NGM_KSOCKET_COOKIE, NG_KSOCKET_NODE_TYPE },
	{ NGM_MACFILTER_COOKIE, NG_MACFILTER_NODE_TYPE },
	{ NGM_NETFLOW_COOKIE, NG_NETFLOW_NODE_TYPE },
	{ NGM_ONE2MANY_COOKIE, NG_ONE2MANY_NODE_TYPE },
	{ NGM_PATCH_COOKIE, NG_PATCH_NODE_TYPE },
	{ NGM_PIPE_COOKIE, NG_PIPE_NODE_TYPE },
	{ NGM_SOCKET_COOKIE, NG_SOCKET_NODE_TYPE },
	{ NGM_SOURCE_COOKIE, NG_SOURCE_NODE_TYPE },
	{ NGM_SPLIT_COOKIE, NG_SPLIT_NODE_TYPE },
	{ NGM_TEE_COOKIE, NG_TEE_NODE_TYPE },
	{ NGM_VLAN_COOKIE, NG_VLAN_NODE_TYPE },
	{ NGM_VLANROTATE_COOKIE, NG_VLANROTATE_NODE_TYPE },
};

/* Names of the generic commands, by their low byte. */
static const char *const nglib_generic[] = {
	NULL, "shutdown", "mkpeer", "connect", "name", "rmhook", "nodeinfo",
	"listhooks", "listnames", "listnodes", "listtypes", "textstatus",
	"binary2ascii", "ascii2binary", "textconfig",
};

int
NgSetDebug(int level)
{

	if (level < 0)
		return (atomic_load_explicit(&nglib_level,
		    memory_order_relaxed));
	return (atomic_exchange_explicit(&nglib_level, level,
	    memory_order_relaxed));
}

void
NgSetErrLog(nglib_log_fn *log, nglib_log_fn *logx)
{

	atomic_store_explicit(&nglib_log, log != NULL ? log : warn,
	    memory_order_relaxed);
	atomic_store_explicit(&nglib_logx, logx != NULL ? logx : warnx,
	    memory_order_relaxed);
}

static bool
nglib_level_is(int level)
{

	return (atomic_load_explicit(&nglib_level, memory_order_relaxed) >=
	    level);
}

/* One line that is no error. */
static void __attribute__((__format__(__printf__, 1, 2)))
nglib_say(const char *fmt, ...)
{
	char line[256];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	atomic_load_explicit(&nglib_logx, memory_order_relaxed)("%s", line);
}

void
nglib_debug_error(int error, const char *fmt, ...)
{
	int saved = errno;
	char line[256];
	va_list ap;

	if (!nglib_level_is(1))
		return;
	va_start(ap, fmt);
	(void)vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	errno = error;
	atomic_load_explicit(&nglib_log, memory_order_relaxed)("%s", line);
	errno = saved;
}

/* ---- Contents ---- */

static void
nglib_say_hex(const void *buf, size_t len)
{
	char hex[NGLIB_HEX_LINE * 3 + 1], text[NGLIB_HEX_LINE + 1];
	const unsigned char *p = buf;
	size_t i, n, off;

	for (off = 0; off < len && off < NGLIB_HEX_MAX; off += n) {
		n = len - off < NGLIB_HEX_LINE ? len - off : NGLIB_HEX_LINE;
		for (i = 0; i < n; i++) {
			(void)snprintf(hex + 3 * i, 4, " %02x", p[off + i]);
			text[i] = isprint(p[off + i]) ? (char)p[off + i] : '.';
		}
		text[n] = '\0';
		nglib_say("  %04zx: %-*s  %s", off, NGLIB_HEX_LINE * 3, hex,
		    text);
	}
	if (off < len)
		nglib_say("  and %zu bytes more", len - off);
}

/* A field of size bytes, which may hold anything, as a quoted string. */
static const char *
nglib_quote(char *buf, size_t buflen, const char *field, size_t size)
{
	size_t i, n = 0;

	buf[n++] = '"';
	for (i = 0; i < size && field[i] != '\0' && n + 6 < buflen; i++) {
		unsigned char c = (unsigned char)field[i];

		if (c == '"' || c == '\\')
			buf[n++] = '\\';
		if (isprint(c))
			buf[n++] = (char)c;
		else
			n += (size_t)snprintf(buf + n, 5, "\\x%02x", c);
	}
	buf[n++] = '"';
	buf[n] = '\0';
	return (buf);
}

/* The arguments of the generic requests that have names in them. */
static bool
nglib_say_names(const struct ng_msghdr *hdr, const void *arg, size_t len)
{
	const struct ngm_connect *con = arg;
	const struct ngm_mkpeer *mkp = arg;
	const struct ngm_name *nm = arg;
	const struct ngm_rmhook *rm = arg;
	char b1[80], b2[80], b3[80];

#define	QUOTE(buf, field) nglib_quote(buf, sizeof(buf), field, sizeof(field))
	if (hdr->typecookie != NGM_GENERIC_COOKIE ||
	    (hdr->flags & NGF_RESP) != 0)
		return (false);
	if (hdr->cmd == NGM_MKPEER && len == sizeof(*mkp))
		nglib_say("  { type=%s ourhook=%s peerhook=%s }",
		    QUOTE(b1, mkp->type), QUOTE(b2, mkp->ourhook),
		    QUOTE(b3, mkp->peerhook));
	else if (hdr->cmd == NGM_CONNECT && len == sizeof(*con))
		nglib_say("  { path=%s ourhook=%s peerhook=%s }",
		    QUOTE(b1, con->path), QUOTE(b2, con->ourhook),
		    QUOTE(b3, con->peerhook));
	else if (hdr->cmd == NGM_NAME && len == sizeof(*nm))
		nglib_say("  { name=%s }", QUOTE(b1, nm->name));
	else if (hdr->cmd == NGM_RMHOOK && len == sizeof(*rm))
		nglib_say("  { hook=%s }", QUOTE(b1, rm->ourhook));
	else
		return (false);
#undef QUOTE
	return (true);
}

void
nglib_debug_mesg(const char *what, const char *path,
    const struct ng_msghdr *hdr, const void *arg, size_t arglen)
{
	char cmdstr[NG_CMDSTRSIZ];
	const char *cmd = cmdstr, *cookie = "unknown";
	int saved = errno;
	uint32_t low;
	size_t i;

	if (!nglib_level_is(2))
		return;
	for (i = 0; i < sizeof(nglib_cookies) / sizeof(nglib_cookies[0]); i++)
		if (nglib_cookies[i].cookie == hdr->typecookie)
			cookie = nglib_cookies[i].name;
	(void)snprintf(cmdstr, sizeof(cmdstr), "%.*s", NG_CMDSTRSIZ - 1,
	    (const char *)hdr->cmdstr);
	low = hdr->cmd & ~(uint32_t)(NGM_READONLY | NGM_HASREPLY);
	if (hdr->typecookie == NGM_GENERIC_COOKIE && low > 0 &&
	    low < sizeof(nglib_generic) / sizeof(nglib_generic[0]))
		cmd = nglib_generic[low];
	nglib_say("%s %s \"%s\": %s (%u), %s (%u), token %u, %zu bytes",
	    (hdr->flags & NGF_RESP) != 0 ? "reply" : "message", what, path,
	    cookie, hdr->typecookie, cmd, low, hdr->token, arglen);
	if (nglib_level_is(3) && arglen > 0 &&
	    !nglib_say_names(hdr, arg, arglen))
		nglib_say_hex(arg, arglen);
	errno = saved;
}

void
nglib_debug_data(const char *what, const char *hook, const void *buf,
    size_t len)
{
	int saved = errno;

	if (!nglib_level_is(2))
		return;
	nglib_say("%s \"%s\": %zu bytes", what, hook, len);
	if (nglib_level_is(3))
		nglib_say_hex(buf, len);
	errno = saved;
}
