/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the files of this room share.
 */
#ifndef _CTL_CTL_PRIVATE_H_
#define	_CTL_CTL_PRIVATE_H_

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl/ctl.h"

/*
 * CTL_STALL_S and CTL_CALL_S as the code has them; tests make them short
 * before they start a server or connect.
 */
extern uint64_t	ctl_stall_ns;
extern uint64_t	ctl_call_ns;

/*
 * A request or reply as a line with its newline and no NUL, to be freed.
 * NULL: no memory, or text that is not UTF-8.
 */
char	*ctl_line(const json_t *j, size_t *lenp);
/*
 * A reply as such a line; at most CTL_LINE_MAX
 * bytes: a longer one becomes an EMSGSIZE reply.  reply is consumed, NULL
 * means that there was no memory for it.  NULL: no memory here either.
 */
char	*ctl_reply_line(json_t *reply, size_t *lenp);
/* The reply to a request that never became one.  NULL: no memory. */
json_t	*ctl_reply_error(int error, const char *text);

/* ctl_dispatch() for a connection. */
json_t	*ctl_dispatch_peer(const struct ctl_command *cmds, size_t n,
	    void *arg, const char *line, size_t len, struct ctl_peer *peer);

/* rundir_check(), with err saying why if that fails. */
int	ctl_rundir_check(const char *dir, char *err, size_t errlen);
/* Put text or what fits of it in err; errlen 0 and err NULL are fine. */
void	ctl_err(char *err, size_t errlen, const char *fmt, ...)
	    __attribute__((format(printf, 3, 4)));

#endif /* _CTL_CTL_PRIVATE_H_ */
