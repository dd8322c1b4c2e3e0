/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the tests of the text language share.  Buffers are of the exact size, so
 * that the sanitizers see a byte too far.
 */

#ifndef _NETGRAPH_NG_PARSE_TESTLIB_H_
#define	_NETGRAPH_NG_PARSE_TESTLIB_H_

#include <stddef.h>
#include <stdint.h>

#include <netgraph/ng_parse.h>

#define	nitems(a)	(sizeof(a) / sizeof((a)[0]))
#define	TEXT_MAX	(256 * 1024)
#define	INT_CASES	12

/* An integer type with an extreme value of it. */
struct int_case {
	const struct ng_parse_type *type;
	size_t		 size;
	const char	*text;		/* as printed */
	uint64_t	 value;
};

extern const struct int_case int_cases[INT_CASES];

/* A value in host order, in the first bytes. */
union host_int {
	uint8_t		u8;
	uint16_t	u16;
	uint32_t	u32;
	uint64_t	u64;
};

extern char text[TEXT_MAX];		/* of the last unparse_exact() */

union host_int host_int(uint64_t v, size_t size);

/* Parse into a buffer of just room bytes, which out then has. */
int	parse_room(const struct ng_parse_type *type, const char *s,
	    size_t room, unsigned char *out, size_t *len);

/* Unparse from a buffer of just len bytes into one of room. */
int	unparse_exact(const struct ng_parse_type *type, const void *data,
	    size_t len, size_t room);

/* The text is that error. */
void	fails(const struct ng_parse_type *type, const char *s, int error);

/* The text is these len bytes, and they need their room. */
void	reads(const struct ng_parse_type *type, const char *s,
	    const void *bytes, size_t len);

/* These bytes are the text, and it needs its room. */
void	prints(const struct ng_parse_type *type, const void *bytes,
	    size_t len, const char *s);

/* Less than these bytes are no value. */
void	cuts(const struct ng_parse_type *type, const void *bytes, size_t len);

/* Read and printed. */
void	both(const struct ng_parse_type *type, const char *s,
	    const void *bytes, size_t len);

#endif /* _NETGRAPH_NG_PARSE_TESTLIB_H_ */
