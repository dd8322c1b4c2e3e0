/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What structs, arrays and conversion share: any type's methods, padding, and
 * whether a value is the default.  Arguments are those of the methods; errors
 * are theirs.
 */
#ifndef _NETGRAPH_NG_PARSE_PRIVATE_H_
#define	_NETGRAPH_NG_PARSE_PRIVATE_H_

#include <stdbool.h>

#include <netgraph/ng_parse.h>

#define	NGP_DEFAULT_MAX	1024		/* longest default of one scalar */

/* A method of type or its supertypes; EINVAL, EOPNOTSUPP (default): none. */
int	ngp_parse(const struct ng_parse_type *type, const char *s, size_t *off,
	    const unsigned char *start, unsigned char *buf, size_t *buflen);
int	ngp_unparse(const struct ng_parse_type *type,
	    const unsigned char *data, size_t datalen, size_t *off, char *cbuf,
	    size_t cbuflen);
int	ngp_default(const struct ng_parse_type *type,
	    const unsigned char *start, unsigned char *buf, size_t *buflen);
size_t	ngp_align(const struct ng_parse_type *type);

/* Write zeros up to the alignment; *used bytes of size are written so far. */
int	ngp_pad_write(unsigned char *buf, size_t size, size_t *used,
	    size_t align);
/* Skip to the alignment, counted from begin on; false if it is not there. */
bool	ngp_pad_skip(size_t datalen, size_t begin, size_t *off, size_t align);

/* If the value at data + *off is the default one, move *off behind it. */
bool	ngp_is_default(const struct ng_parse_type *type,
	    const unsigned char *data, size_t datalen, size_t *off);
/* The same, if its bytes are those that buf has. */
bool	ngp_same_bytes(const unsigned char *data, size_t datalen, size_t *off,
	    const unsigned char *buf, size_t len);

/* ng_parse_array.c: ngp_is_default() of an array. */
bool	ngp_array_is_default(const struct ng_parse_type *type,
	    const unsigned char *data, size_t datalen, size_t *off);
/* Which of the built-in arrays type is made from, NULL if from none. */
const struct ng_parse_type *ngp_array_kind(const struct ng_parse_type *type);

#endif /* _NETGRAPH_NG_PARSE_PRIVATE_H_ */
