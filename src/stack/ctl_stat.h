/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The lines of netstat -s, each from a cell of the ip room or from reasons
 * why packets were dropped.  A test checks that every cell and every reason
 * of a protocol is in exactly one line.
 */
#ifndef _STACK_CTL_STAT_H_
#define	_STACK_CTL_STAT_H_

#include <stddef.h>

#include "ifnet/if_drop.h"
#include "ip/ip_var.h"

#define	STAT_DROPS	5		/* reasons in a line, with the end */

struct stat_line {
	const char	*sl_proto;	/* "ip" */
	const char	*sl_name;	/* "bad-checksum" */
	const char	*sl_text;	/* after the number; NULL: the cell's */
	enum ip_stat	 sl_stat;	/* IPS_COUNT: the reasons instead */
	enum if_drop	 sl_drops[STAT_DROPS]; /* up to IFD_COUNT */
};

extern const struct stat_line stat_lines[];
extern const size_t stat_nlines;

#endif /* _STACK_CTL_STAT_H_ */
