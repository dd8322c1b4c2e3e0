/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/* Flags of a route as route and netstat name them; values of FreeBSD. */
#ifndef _TOOLS_ROUTE_FLAGS_H_
#define	_TOOLS_ROUTE_FLAGS_H_

#define	ROUTE_GATEWAY	0x2
#define	ROUTE_HOST	0x4
#define	ROUTE_DONE	0x40		/* of an answer, not of a route */

struct route_flag {
	unsigned int	 rf_bit;
	char		 rf_letter;	/* netstat -r; '\0': none */
	const char	*rf_name;	/* route get */
};

/* In netstat's order of letters; ends with a bit of 0. */
extern const struct route_flag route_flags[];

#endif /* _TOOLS_ROUTE_FLAGS_H_ */
