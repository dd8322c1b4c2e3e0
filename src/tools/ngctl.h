/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * ngctl's files among themselves.  A command is a function of words; it asks
 * the graph through the program's own socket node and prints to ng_o.  One
 * thread.
 */
#ifndef _TOOLS_NGCTL_H_
#define	_TOOLS_NGCTL_H_

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <netgraph.h>

#include "sys/defs.h"

struct out;
struct tool_ctx;

#define	NGCTL_WORDS	511		/* most words of a line */
#define	NGCTL_LINE	2047		/* most bytes of a line */
#define	NGCTL_DATA	8192		/* most bytes that write sends */
#define	NGCTL_ID	16		/* bytes of "[ffffffff]:" */

/* A message read while another was awaited. */
struct ngctl_mesg {
	struct ngctl_mesg *nm_next;
	struct ng_mesg	*nm_msg;	/* from malloc(3) */
	char		 nm_from[NG_PATHSIZ];
};

/* One run of ngctl. */
struct ngctl {
	struct tool_ctx	*ng_tc;
	struct out	*ng_o;		/* of the command in work */
	int		 ng_cs;		/* control descriptor */
	int		 ng_ds;		/* data descriptor */
	int		 ng_reading;	/* files that read one another */
	int		 ng_status;	/* 0, or what ngctl ends with */
	struct ngctl_mesg *ng_queue;	/* oldest first */
};

enum ngctl_result {
	NGCTL_OK,
	NGCTL_USAGE,			/* wrong words */
	NGCTL_ERROR,			/* said so already */
	NGCTL_QUIT
};

struct ngctl_cmd {
	const char	*nc_name;
	const char	*nc_args;	/* words after the name */
	const char	*nc_summary;
	const char	*nc_descr;	/* more, or NULL */
	const char	*nc_alias[3];	/* ends with NULL */
	/* argv[0] is the command as it was typed. */
	enum ngctl_result (*nc_fn)(struct ngctl *ng, int argc, char **argv);
};

/* ---- ngctl.c: lines and the table ---- */

extern const struct ngctl_cmd *const ngctl_cmds[];	/* ends with NULL */

/*
 * The command that word names: a name, an alias, or the start of one of
 * these and of no other command's.  NULL: *many says whether there are
 * several or none.
 */
const struct ngctl_cmd *ngctl_find(const char *word, bool *many);
/*
 * Cut line up in place.  argv gets at most NGCTL_WORDS pointers and a NULL.
 * Their number, or -1: there are more.
 */
int	ngctl_split(char *line, char *argv[NGCTL_WORDS + 1]);
/* Run one command. */
enum ngctl_result ngctl_run(struct ngctl *ng, int argc, char **argv);
/* Run a line of len bytes, which is cut up; a blank one is OK. */
enum ngctl_result ngctl_line(struct ngctl *ng, char *line, size_t len);
/* Run the lines of f up to the first that is not OK. */
enum ngctl_result ngctl_file(struct ngctl *ng, FILE *f);
/* The command's output is JSON from here to its end; false: no memory. */
bool	ngctl_json(struct ngctl *ng);
/* "send msg: " and why errno says; NGCTL_ERROR. */
enum ngctl_result ngctl_sendfail(struct ngctl *ng);
/* A warning; NGCTL_ERROR. */
enum ngctl_result ngctl_fail(struct ngctl *ng, const char *fmt, ...)
	    __printflike(2, 3);

/* ---- ngctl_mesg.c: asking ---- */

/*
 * Send a message that is replied to and wait for that reply; others that
 * come are kept for ngctl_next().  0 and *rep (from malloc(3), its length
 * checked), or -1 and errno.
 */
int	ngctl_ask(struct ngctl *ng, const char *path, uint32_t cookie,
	    uint32_t cmd, const void *arg, size_t len, struct ng_mesg **rep);
/*
 * The first message that waits, the reply to token before others (-1: any).
 * NULL: none waits, or the descriptor has failed and errno is not 0.
 */
struct ngctl_mesg *ngctl_next(struct ngctl *ng, int token);
void	ngctl_mesg_free(struct ngctl_mesg *nm);
/*
 * The text of a response; NULL: nm is NULL, or no response (a node that has
 * no answer of its own may be ngctl's: then it is the request), or no text.
 */
const char *ngctl_mesg_text(const struct ngctl_mesg *nm);
/* Drop all that were kept. */
void	ngctl_mesg_drop(struct ngctl *ng);
/* A message in a reply's data, or NULL: it is not whole. */
const struct ng_mesg *ngctl_inner(const struct ng_mesg *rep);
/*
 * The message of a command and its arguments as text, converted by the node
 * at path.  0 and *rep, whose ngctl_inner() it is; or -1 and errno.
 */
int	ngctl_binary(struct ngctl *ng, const char *path, const char *cmd,
	    const char *args, struct ng_mesg **rep);
/* Print a message that came. */
void	ngctl_mesg_print(struct ngctl *ng, const struct ngctl_mesg *nm);
/* Rows of 16 bytes in hex and as text. */
void	ngctl_dump(struct out *o, const void *data, size_t len);
/* A string of bytes that may not be UTF-8: then they are Latin-1. */
json_t	*ngctl_text(const char *s);
/*
 * Text in netgraph's language as JSON: objects, arrays (elements left out
 * are null), strings and whole numbers; other words are strings.  NULL: it
 * is none, or it nests deeper than 32.
 */
json_t	*ngctl_parse(const char *text);

/* ---- ngctl_print.c: what there is ---- */

/* Replies whose counts fit their length; NULL and errno. */
struct namelist *ngctl_nodes(struct ngctl *ng, struct ng_mesg **rep);
struct hooklist *ngctl_hooks(struct ngctl *ng, const char *path,
	    struct ng_mesg **rep);
struct typelist *ngctl_types(struct ngctl *ng, struct ng_mesg **rep);

extern const struct ngctl_cmd ngctl_list;
extern const struct ngctl_cmd ngctl_show;
extern const struct ngctl_cmd ngctl_typescmd;
extern const struct ngctl_cmd ngctl_dot;
extern const struct ngctl_cmd ngctl_status;
extern const struct ngctl_cmd ngctl_config;

/* ---- ngctl_cmds.c: changing it ---- */

extern const struct ngctl_cmd ngctl_connect;
extern const struct ngctl_cmd ngctl_debug;
extern const struct ngctl_cmd ngctl_mkpeer;
extern const struct ngctl_cmd ngctl_msg;
extern const struct ngctl_cmd ngctl_name;
extern const struct ngctl_cmd ngctl_rmhook;
extern const struct ngctl_cmd ngctl_shutdown;
extern const struct ngctl_cmd ngctl_write;

/* ---- ngctl_apply.c ---- */

extern const struct ngctl_cmd ngctl_apply;

/* ---- ngctl_edit.c: a person at the keyboard ---- */

/* Until quit, end of file or the end of the node; the exit status. */
int	ngctl_interactive(struct ngctl *ng);

#endif /* _TOOLS_NGCTL_H_ */
