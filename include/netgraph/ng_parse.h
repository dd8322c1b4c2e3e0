/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The text form of control messages, for authors of node types.
 *
 * A parse type says how a value lies in memory and how it reads as text; a
 * node type lists its commands with the parse types of their arguments and
 * replies, and the base converts.  Types are constant and made from those
 * below: scalars as they are, structs and arrays by naming a supertype and an
 * info, anything else by methods of one's own.
 *
 *	static int
 *	hosts_length(const struct ng_parse_type *type,
 *	    const unsigned char *start, const unsigned char *buf)
 *	{
 *		uint32_t n;
 *
 *		memcpy(&n, start, sizeof(n));
 *		return (n > INT_MAX ? -1 : (int)n);
 *	}
 *
 *	static const struct ng_parse_array_info hosts_info = {
 *		.elementType = &host_type, .getLength = hosts_length,
 *	};
 *	static const struct ng_parse_type hosts_type = {
 *		.supertype = &ng_parse_array_type, .info = &hosts_info,
 *	};
 *	static const struct ng_parse_struct_field table_fields[] = {
 *		{ "numHosts", &ng_parse_uint32_type, 0 },
 *		{ "hosts", &hosts_type, 0 },
 *		{ NULL, NULL, 0 },
 *	};
 *	static const struct ng_parse_type table_type = {
 *		.supertype = &ng_parse_struct_type, .info = table_fields,
 *	};
 *
 * All functions are pure: no state, no lock, inside or outside the epoch (they
 * allocate, so outside is better), on any thread.  Errors are errno values;
 * what they mean is said at ng_parse() and ng_unparse().
 */

#ifndef _NETGRAPH_NG_PARSE_H_
#define	_NETGRAPH_NG_PARSE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ng_mesg;
struct ng_parse_type;

#define	NG_PARSE_BUFSIZ	(20 * 1024)	/* longest text, largest binary */
#define	NG_PARSE_DEPTH	16		/* types within types */

/* ---- Types and their methods ---- */

/*
 * Turn the text at s + *off into binary at buf, which has room for *buflen
 * bytes; the text ends with NUL.  start is where the outermost value begins:
 * the bytes from start to buf are final.  On success *off is behind the text
 * and *buflen is what was written.
 */
typedef int ng_parse_t(const struct ng_parse_type *type, const char *s,
    size_t *off, const unsigned char *start, unsigned char *buf,
    size_t *buflen);

/*
 * Turn the binary at data + *off into text with its NUL at cbuf, which has
 * room for cbuflen bytes.  The outermost value is data, datalen bytes, of
 * which nobody has checked anything.  On success *off is behind the value.
 */
typedef int ng_unparse_t(const struct ng_parse_type *type,
    const unsigned char *data, size_t datalen, size_t *off, char *cbuf,
    size_t cbuflen);

/*
 * Write the default value to buf, *buflen bytes of room and then what was
 * written.  When a value is compared with its default, buf is not behind
 * start: use start alone.
 */
typedef int ng_getDefault_t(const struct ng_parse_type *type,
    const unsigned char *start, unsigned char *buf, size_t *buflen);

/* The alignment in bytes, a power of two. */
typedef int ng_getAlign_t(const struct ng_parse_type *type);

/*
 * A missing method or info is that of the nearest supertype that has one.
 * Without parse or unparse the direction fails with EINVAL, without getDefault
 * the value cannot be left out, without getAlign the alignment is 1.
 */
struct ng_parse_type {
	const struct ng_parse_type *supertype;
	const void	*info;		/* what the supertype asks for */
	void		*priv;		/* the author's own */
	ng_parse_t	*parse;
	ng_unparse_t	*unparse;
	ng_getDefault_t	*getDefault;
	ng_getAlign_t	*getAlign;
};

/* The nearest info of type and its supertypes, NULL if there is none. */
const void	*ng_parse_info(const struct ng_parse_type *type);

/* ---- Scalars: info is not used ---- */

/*
 * Integers in host order: decimal, unsigned decimal, hexadecimal when printed.
 * All take the signed and the unsigned range of their width, except that 64
 * bits end at 2^63 - 1, to which a larger number is cut.
 */
extern const struct ng_parse_type ng_parse_int8_type;
extern const struct ng_parse_type ng_parse_uint8_type;
extern const struct ng_parse_type ng_parse_hint8_type;
extern const struct ng_parse_type ng_parse_int16_type;
extern const struct ng_parse_type ng_parse_uint16_type;
extern const struct ng_parse_type ng_parse_hint16_type;
extern const struct ng_parse_type ng_parse_int32_type;
extern const struct ng_parse_type ng_parse_uint32_type;
extern const struct ng_parse_type ng_parse_hint32_type;
extern const struct ng_parse_type ng_parse_int64_type;
extern const struct ng_parse_type ng_parse_uint64_type;
extern const struct ng_parse_type ng_parse_hint64_type;

/* An IPv4 address in network order, and an Ethernet address. */
extern const struct ng_parse_type ng_parse_ipaddr_type;
extern const struct ng_parse_type ng_parse_enaddr_type;

/* ---- Strings ---- */

/* Bytes and a NUL, as long as the string is. */
extern const struct ng_parse_type ng_parse_string_type;

/* A 16-bit length in host order, not aligned, and so many bytes. */
extern const struct ng_parse_type ng_parse_sizedstring_type;

/* A buffer filled up with zeros, at least one; info is this struct. */
struct ng_parse_fixedstring_info {
	int	bufSize;		/* bytes, with the NUL */
};
extern const struct ng_parse_type ng_parse_fixedstring_type;

/* Fixed strings of the sizes of <netgraph/ng_message.h>. */
extern const struct ng_parse_type ng_parse_nodebuf_type;
extern const struct ng_parse_type ng_parse_hookbuf_type;
extern const struct ng_parse_type ng_parse_pathbuf_type;
extern const struct ng_parse_type ng_parse_typebuf_type;
extern const struct ng_parse_type ng_parse_cmdbuf_type;

/* ---- Structs and arrays ---- */

/* A struct's info is an array of these; the last has no name. */
struct ng_parse_struct_field {
	const char	*name;
	const struct ng_parse_type *type;
	int		 alignment;	/* bytes, 0 is the type's own */
};
extern const struct ng_parse_type ng_parse_struct_type;

/*
 * The number of elements of the array at buf.  It may read the bytes from
 * start to buf, no others: these are there, though their values may lie.  A
 * negative number, or one that the data has no room for, is an error.
 */
typedef int ng_parse_array_getLength_t(const struct ng_parse_type *type,
    const unsigned char *start, const unsigned char *buf);

/* Like ng_getDefault_t, for one element. */
typedef int ng_parse_array_getDefault_t(const struct ng_parse_type *type,
    int index, const unsigned char *start, unsigned char *buf,
    size_t *buflen);

/*
 * Without getLength the array takes the rest of the data, and from text as
 * many elements as that has.  Without getDefault an element's default is its
 * type's.
 */
struct ng_parse_array_info {
	const struct ng_parse_type *elementType;
	ng_parse_array_getLength_t *getLength;
	ng_parse_array_getDefault_t *getDefault;
};
extern const struct ng_parse_type ng_parse_array_type;

struct ng_parse_fixedarray_info {
	const struct ng_parse_type *elementType;
	int		 length;
	ng_parse_array_getDefault_t *getDefault;
};
extern const struct ng_parse_type ng_parse_fixedarray_type;

/*
 * Bytes, as a string or an array of numbers.  info is a getLength, cast to
 * const void *; without it the bytes are the rest of the data.
 */
extern const struct ng_parse_type ng_parse_bytearray_type;

/* ---- Generic messages ---- */

extern const struct ng_parse_type ng_parse_ng_mesg_type;
extern const struct ng_parse_type ng_parse_mkpeer_type;
extern const struct ng_parse_type ng_parse_connect_type;
extern const struct ng_parse_type ng_parse_name_type;
extern const struct ng_parse_type ng_parse_rmhook_type;
extern const struct ng_parse_type ng_parse_nodeinfo_type;
extern const struct ng_parse_type ng_parse_hooklist_type;
extern const struct ng_parse_type ng_parse_namelist_type;
extern const struct ng_parse_type ng_parse_typelist_type;

/* ---- Conversion ---- */

/*
 * Text to binary: string + *off to buf, which has room for *buflen bytes.  On
 * success *off is behind the value (text that follows is not looked at) and
 * *buflen is the binary's length.  On failure buf has no meaning.
 *
 * EINVAL	the text is no such value, or the type is nested too deep
 * ENOENT	a struct has no such field
 * EALREADY	a field or element is there twice
 * E2BIG	an index is beyond the array, a string longer than its buffer
 * EOPNOTSUPP	a field or element without default is left out
 * ERANGE	the binary does not fit
 * ENOMEM	no memory
 */
int	ng_parse(const struct ng_parse_type *type, const char *string,
	    size_t *off, unsigned char *buf, size_t *buflen);

/*
 * Binary to text: data, datalen bytes of any content, to cbuf, which has room
 * for cbuflen bytes with the NUL.  Bytes behind the value are not looked at.
 *
 * EINVAL	data ends before the value does, a length in it is wrong, or
 *		the type is nested too deep
 * ERANGE	the text does not fit
 */
int	ng_unparse(const struct ng_parse_type *type, const void *data,
	    size_t datalen, char *cbuf, size_t cbuflen);

/* ---- Commands ---- */

/* A node type's list ends with an entry that has no name. */
struct ng_cmdlist {
	uint32_t	 cookie;
	uint32_t	 cmd;
	const char	*name;		/* in text */
	const struct ng_parse_type *mesgType; /* NULL: no argument */
	const struct ng_parse_type *respType; /* NULL: the reply has none */
};

/* The commands that every node understands. */
extern const struct ng_cmdlist ng_generic_cmds[];

/*
 * A command of typelist, which may be NULL, or else of the generic ones; NULL
 * if neither has it.  The result is as constant as the lists.
 */
const struct ng_cmdlist *ng_cmd_by_name(const struct ng_cmdlist *typelist,
	    const char *name);
const struct ng_cmdlist *ng_cmd_by_number(const struct ng_cmdlist *typelist,
	    uint32_t cookie, uint32_t cmd);

/*
 * What NGM_ASCII2BINARY and NGM_BINARY2ASCII do with the message that is their
 * argument: in, of which inlen bytes are there (header and data, unchecked).
 * With NGF_RESP in its flags it is a reply of that command.  On success *out
 * is the converted message, its data behind the header; the caller frees it.
 *
 * EINVAL	in is cut short, or its data is wrong
 * ENOSYS	the command is not known
 * ENOMEM	no memory
 * others	as ng_parse() and ng_unparse()
 */
int	ng_msg_ascii2binary(const struct ng_cmdlist *typelist,
	    const struct ng_mesg *in, size_t inlen, struct ng_mesg **out);
int	ng_msg_binary2ascii(const struct ng_cmdlist *typelist,
	    const struct ng_mesg *in, size_t inlen, struct ng_mesg **out);

/* ---- For methods of one's own ---- */

enum ng_parse_token {
	NG_TOKEN_EOF,
	NG_TOKEN_LBRACE,
	NG_TOKEN_RBRACE,
	NG_TOKEN_LBRACKET,
	NG_TOKEN_RBRACKET,
	NG_TOKEN_EQUALS,
	NG_TOKEN_STRING,		/* with its quotes */
	NG_TOKEN_WORD,
	NG_TOKEN_ERROR			/* a string that does not end */
};

/*
 * The token at s + *off: moves *off over white space to its first byte and
 * sets *len to its length.
 */
enum ng_parse_token ng_parse_get_token(const char *s, size_t *off,
	    size_t *len);

/*
 * Move *off behind one value of any type.  A word and a string without white
 * space between them are one value.  EINVAL if there is none.
 */
int	ng_parse_skip_value(const char *s, size_t *off);

/*
 * Decode the quoted string at s + *off into buf, bufsize bytes: *slen bytes
 * without a NUL, which may be among them.  Moves *off behind it.  EINVAL if
 * there is no string, ERANGE if buf is too small.
 */
int	ng_parse_string(const char *s, size_t *off, char *buf, size_t bufsize,
	    size_t *slen);

/* Write slen bytes at s as a quoted string.  ERANGE if it does not fit. */
int	ng_unparse_string(const void *s, size_t slen, char *cbuf,
	    size_t cbuflen);

/*
 * Print to *cbufp, *cbuflenp bytes of room, and move both behind the text, to
 * its NUL.  ERANGE if it does not fit.
 */
int	ng_parse_append(char **cbufp, size_t *cbuflenp, const char *fmt, ...)
	    __attribute__((__format__(__printf__, 3, 4)));

#ifdef __cplusplus
}
#endif

#endif /* _NETGRAPH_NG_PARSE_H_ */
