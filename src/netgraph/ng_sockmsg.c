/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What a program sent on its sockets (wire/ngsock.h), checked before it is
 * believed.  Functions without state; any thread.
 */
#include <errno.h>
#include <string.h>

#include "netgraph/ng_sock.h"

/* The name may fill its field, but must end in it. */
int
ng_sockmsg_make(const void *buf, size_t len, struct ngs_make *mk)
{

	if (len != sizeof(*mk))
		return (EINVAL);
	memcpy(mk, buf, sizeof(*mk));
	if (mk->magic != NGS_MAKE_MAGIC || mk->version != NGS_VERSION ||
	    (mk->flags & ~NGS_MAKE_DATA) != 0 ||
	    memchr(mk->name, '\0', sizeof(mk->name)) == NULL)
		return (EINVAL);
	return (0);
}

int
ng_sockmsg_ctl(const void *buf, size_t len, unsigned int nfds,
    struct ng_sockmsg *sm)
{
	const char *p = buf;
	struct ngs_ctl nc;

	memset(sm, 0, sizeof(*sm));
	if (len < sizeof(nc))
		return (EINVAL);
	memcpy(&nc, p, sizeof(nc));
	p += sizeof(nc);
	len -= sizeof(nc);
	sm->sm_reply = (nc.flags & NGS_CTL_REPLY) != 0 && nfds > 0;
	sm->sm_memfd = (nc.flags & NGS_CTL_MEMFD) != 0;
	if (nc.magic != NGS_CTL_MAGIC ||
	    (nc.flags & ~(NGS_CTL_REPLY | NGS_CTL_MEMFD)) != 0 ||
	    nfds != ((nc.flags & NGS_CTL_REPLY) != 0) +
	    (unsigned int)sm->sm_memfd)
		return (EINVAL);
	if (nc.pathlen >= NGS_PATHSIZ || nc.pathlen > len ||
	    memchr(p, '\0', nc.pathlen) != NULL)
		return (EINVAL);
	memcpy(sm->sm_path, p, nc.pathlen);
	p += nc.pathlen;
	len -= nc.pathlen;
	if (nc.msglen > NGS_MESG_MAX)
		return (EMSGSIZE);
	if (nc.msglen < sizeof(struct ng_mesg) ||
	    len != (sm->sm_memfd ? 0 : nc.msglen))
		return (EINVAL);
	sm->sm_len = nc.msglen;
	sm->sm_mesg = p;
	return (0);
}

int
ng_sockmsg_mesg(struct ng_mesg *msg, size_t len)
{

	if (len < sizeof(*msg) || msg->header.version != NG_VERSION ||
	    msg->header.arglen != len - sizeof(*msg))
		return (EINVAL);
	msg->header.cmdstr[sizeof(msg->header.cmdstr) - 1] = '\0';
	return (0);
}
