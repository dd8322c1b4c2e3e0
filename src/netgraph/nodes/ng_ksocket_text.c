/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The text of the ksocket node: the hook's name, which says what socket it is,
 * socket addresses, and commands.  Pure functions.
 *
 * An address of the Internet reads "inet/1.2.3.4:80", the port may be missing;
 * a path `local/"/tmp/x"`; any other is a struct of length, family and bytes.
 */
#include <sys/un.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <netgraph/ng_ksocket.h>

#include "netgraph/nodes/ng_ksocket_private.h"
#include "sys/defs.h"

#define	KS_ADDR_MAX	sizeof(struct sockaddr_storage)
#define	KS_PATH_OFF	offsetof(struct sockaddr_un, sun_path)

/* ---- Names ---- */

struct ks_alias {
	const char	*ka_name;
	int		 ka_value;
};

static const struct ks_alias ks_families[] = {
	{ "local", AF_UNIX },
	{ "inet", AF_INET },
	{ "inet6", AF_INET6 },
	{ "atm", AF_ATMPVC },
	{ NULL, 0 },
};
static const struct ks_alias ks_types[] = {
	{ "stream", SOCK_STREAM },
	{ "dgram", SOCK_DGRAM },
	{ "raw", SOCK_RAW },
	{ "rdm", SOCK_RDM },
	{ "seqpacket", SOCK_SEQPACKET },
	{ NULL, 0 },
};
/* Of the Internet; the numbers are IANA's. */
static const struct ks_alias ks_protos[] = {
	{ "ip", IPPROTO_IP },
	{ "raw", IPPROTO_RAW },
	{ "icmp", IPPROTO_ICMP },
	{ "igmp", IPPROTO_IGMP },
	{ "tcp", IPPROTO_TCP },
	{ "udp", IPPROTO_UDP },
	{ "gre", IPPROTO_GRE },
	{ "esp", IPPROTO_ESP },
	{ "ah", IPPROTO_AH },
	{ "swipe", 53 },
	{ "encap", IPPROTO_ENCAP },
	{ "divert", 258 },
	{ "pim", IPPROTO_PIM },
	{ NULL, 0 },
};
static const struct ks_alias ks_none[] = { { NULL, 0 } };

/* The value of one part of the name: of the list, or a number; -1. */
static int
ks_alias_value(const struct ks_alias *ka, const char *s, size_t len)
{
	char part[NG_HOOKSIZ], *end;
	long n;

	if (len == 0 || len >= sizeof(part))
		return (-1);
	memcpy(part, s, len);
	part[len] = '\0';
	for (; ka->ka_name != NULL; ka++)
		if (strcmp(ka->ka_name, part) == 0)
			return (ka->ka_value);
	if (part[0] < '0' || part[0] > '9')
		return (-1);
	n = strtol(part, &end, 10);
	/* Linux has flags above the type. */
	return (*end == '\0' && n <= UINT8_MAX ? (int)n : -1);
}

int
ng_ksocket_parse_name(const char *name, int *family, int *type, int *proto)
{
	const char *t, *p;

	t = strchr(name, '/');
	p = t != NULL ? strchr(t + 1, '/') : NULL;
	if (p == NULL)
		return (EINVAL);
	*family = ks_alias_value(ks_families, name, (size_t)(t - name));
	*type = ks_alias_value(ks_types, t + 1, (size_t)(p - t - 1));
	if (*type > SOCK_SEQPACKET)
		return (EINVAL);
	*proto = ks_alias_value(*family == AF_INET ? ks_protos : ks_none,
	    p + 1, strlen(p + 1));
	return (*family < 0 || *type < 0 || *proto < 0 ? EINVAL : 0);
}

/* ---- Addresses ---- */

int
ng_ksocket_check_addr(const void *addr, size_t len)
{
	sa_family_t family;
	size_t least = sizeof(family);

	if (len < sizeof(family) || len > KS_ADDR_MAX)
		return (EINVAL);
	memcpy(&family, addr, sizeof(family));
	if (family == AF_INET)
		least = sizeof(struct sockaddr_in);
	else if (family == AF_INET6)
		least = sizeof(struct sockaddr_in6);
	return (len < least ? EINVAL : 0);
}

/* { len family data }: the length counts all three. */
static int
ks_data_length(const struct ng_parse_type *type, const unsigned char *start,
    const unsigned char *buf)
{

	(void)type;
	(void)buf;
	return (start[0] - 2);
}

static const struct ng_parse_type ks_data_type = {
	.supertype = &ng_parse_bytearray_type,
	.info = (const void *)ks_data_length,
};
static const struct ng_parse_struct_field ks_generic_fields[] = {
	{ "len", &ng_parse_uint8_type, 0 },
	{ "family", &ng_parse_uint8_type, 0 },
	{ "data", &ks_data_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ks_generic_type = {
	.supertype = &ng_parse_struct_type, .info = ks_generic_fields,
};

static int
ks_parse_generic(const char *s, size_t *off, struct sockaddr_storage *ss,
    size_t *len)
{
	unsigned char tmp[KS_ADDR_MAX];
	int error;

	*len = sizeof(tmp);
	error = ng_parse(&ks_generic_type, s, off, tmp, len);
	if (error != 0)
		return (error);
	ss->ss_family = tmp[1];
	memcpy((char *)ss + sizeof(ss->ss_family), tmp + 2, *len - 2);
	return (0);
}

/* s + *off is behind "inet/". */
static int
ks_parse_inet(const char *s, size_t *off, size_t toklen,
    struct sockaddr_storage *ss, size_t *len)
{
	struct sockaddr_in *sin = (void *)ss;
	char buf[INET_ADDRSTRLEN + 6], *port, *end;
	unsigned long n;

	if (toklen >= sizeof(buf))
		return (EINVAL);
	memcpy(buf, s + *off, toklen);
	buf[toklen] = '\0';
	*off += toklen;
	port = strchr(buf, ':');
	if (port != NULL) {
		*port++ = '\0';
		if (*port < '0' || *port > '9')
			return (EINVAL);
		n = strtoul(port, &end, 10);
		if (*end != '\0' || n > UINT16_MAX)
			return (EINVAL);
		sin->sin_port = htons((uint16_t)n);
	}
	sin->sin_family = AF_INET;
	*len = sizeof(*sin);
	return (inet_pton(AF_INET, buf, &sin->sin_addr) == 1 ? 0 : EINVAL);
}

static int
ks_parse_local(const char *s, size_t *off, struct sockaddr_storage *ss,
    size_t *len)
{
	struct sockaddr_un *sun = (void *)ss;
	size_t n;
	int error;

	sun->sun_family = AF_UNIX;
	error = ng_parse_string(s, off, sun->sun_path,
	    sizeof(sun->sun_path) - 1, &n);
	if (error != 0)
		return (error);
	if (n == 0 || memchr(sun->sun_path, '\0', n) != NULL)
		return (EINVAL);
	*len = KS_PATH_OFF + n + 1;
	return (0);
}

static int
ks_addr_parse(const struct ng_parse_type *type, const char *s, size_t *off,
    const unsigned char *start, unsigned char *buf, size_t *buflen)
{
	struct sockaddr_storage ss = { 0 };
	size_t len, toklen;
	int error = EINVAL;

	(void)type;
	(void)start;
	switch (ng_parse_get_token(s, off, &toklen)) {
	case NG_TOKEN_LBRACE:
		error = ks_parse_generic(s, off, &ss, &len);
		break;
	case NG_TOKEN_WORD:
		if (strncmp(s + *off, "inet/", 5) == 0) {
			*off += 5;
			error = ks_parse_inet(s, off, toklen - 5, &ss, &len);
		} else if (strncmp(s + *off, "local/", 6) == 0) {
			*off += 6;
			error = ks_parse_local(s, off, &ss, &len);
		}
		break;
	default:
		break;
	}
	if (error != 0)
		return (error);
	if (len > *buflen)
		return (ERANGE);
	memcpy(buf, &ss, len);
	*buflen = len;
	return (0);
}

static int
ks_unparse_inet(const struct sockaddr_storage *ss, char *cbuf, size_t cbuflen)
{
	const struct sockaddr_in *sin = (const void *)ss;
	char buf[INET_ADDRSTRLEN];

	(void)inet_ntop(AF_INET, &sin->sin_addr, buf, sizeof(buf));
	if (sin->sin_port == 0)
		return (ng_parse_append(&cbuf, &cbuflen, "inet/%s", buf));
	return (ng_parse_append(&cbuf, &cbuflen, "inet/%s:%u", buf,
	    ntohs(sin->sin_port)));
}

static int
ks_unparse_generic(const struct sockaddr_storage *ss, size_t len, char *cbuf,
    size_t cbuflen)
{
	unsigned char tmp[KS_ADDR_MAX];

	if (ss->ss_family > UINT8_MAX)
		return (EINVAL);
	tmp[0] = (unsigned char)len;
	tmp[1] = (unsigned char)ss->ss_family;
	memcpy(tmp + 2, (const char *)ss + 2, len - 2);
	return (ng_unparse(&ks_generic_type, tmp, len, cbuf, cbuflen));
}

/* An address is the last of its message: one of unknown family is the rest. */
static int
ks_addr_unparse(const struct ng_parse_type *type, const unsigned char *data,
    size_t datalen, size_t *off, char *cbuf, size_t cbuflen)
{
	struct sockaddr_storage ss = { 0 };
	const struct sockaddr_un *sun = (const void *)&ss;
	size_t len = datalen - *off, n;
	int error;

	(void)type;
	if (len > sizeof(ss))
		len = sizeof(ss);
	error = ng_ksocket_check_addr(data + *off, len);
	if (error != 0)
		return (error);
	memcpy(&ss, data + *off, len);
	n = ss.ss_family == AF_UNIX ? strnlen(sun->sun_path,
	    sizeof(sun->sun_path)) : 0;
	if (ss.ss_family == AF_INET) {
		len = sizeof(struct sockaddr_in);
		error = ks_unparse_inet(&ss, cbuf, cbuflen);
	} else if (n != 0 && KS_PATH_OFF + n < len) {
		len = KS_PATH_OFF + n + 1;
		error = ng_parse_append(&cbuf, &cbuflen, "local/");
		if (error == 0)
			error = ng_unparse_string(sun->sun_path, n, cbuf,
			    cbuflen);
	} else {
		if (ss.ss_family == AF_INET6)
			len = sizeof(struct sockaddr_in6);
		error = ks_unparse_generic(&ss, len, cbuf, cbuflen);
	}
	*off += len;
	return (error);
}

static const struct ng_parse_type ks_addr_type = {
	.parse = ks_addr_parse,
	.unparse = ks_addr_unparse,
};

/* ---- Commands ---- */

static const struct ng_parse_struct_field ks_accept_fields[] = {
	{ "nodeid", &ng_parse_uint32_type, 0 },
	{ "addr", &ks_addr_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ks_accept_type = {
	.supertype = &ng_parse_struct_type, .info = ks_accept_fields,
};
static const struct ng_parse_struct_field ks_sockopt_fields[] = {
	{ "level", &ng_parse_int32_type, 0 },
	{ "name", &ng_parse_int32_type, 0 },
	{ "value", &ng_parse_bytearray_type, 0 },
	{ NULL, NULL, 0 },
};
static const struct ng_parse_type ks_sockopt_type = {
	.supertype = &ng_parse_struct_type, .info = ks_sockopt_fields,
};

const struct ng_cmdlist ng_ksocket_cmds[] = {
	{ NGM_KSOCKET_COOKIE, NGM_KSOCKET_BIND, "bind", &ks_addr_type, NULL },
	{ NGM_KSOCKET_COOKIE, NGM_KSOCKET_LISTEN, "listen",
	    &ng_parse_int32_type, NULL },
	{ NGM_KSOCKET_COOKIE, NGM_KSOCKET_ACCEPT, "accept", NULL,
	    &ks_accept_type },
	{ NGM_KSOCKET_COOKIE, NGM_KSOCKET_CONNECT, "connect", &ks_addr_type,
	    &ng_parse_int32_type },
	{ NGM_KSOCKET_COOKIE, NGM_KSOCKET_GETNAME, "getname", NULL,
	    &ks_addr_type },
	{ NGM_KSOCKET_COOKIE, NGM_KSOCKET_GETPEERNAME, "getpeername", NULL,
	    &ks_addr_type },
	{ NGM_KSOCKET_COOKIE, NGM_KSOCKET_SETOPT, "setopt", &ks_sockopt_type,
	    NULL },
	{ NGM_KSOCKET_COOKIE, NGM_KSOCKET_GETOPT, "getopt", &ks_sockopt_type,
	    &ks_sockopt_type },
	{ .name = NULL },
};
