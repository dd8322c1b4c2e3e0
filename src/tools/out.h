/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Output as text or as JSON from one walk.
 *
 * A tool opens containers, lists and instances and puts fields into them.  In
 * text mode the fields' formatted text is printed and the rest does nothing;
 * in JSON mode the text is not printed and a tree grows, which out_flush()
 * prints.  Keys are those that FreeBSD's tools use with libxo(3), where they
 * have one.  Memory that runs out is remembered and makes out_flush() fail.
 */
#ifndef _TOOLS_OUT_H_
#define	_TOOLS_OUT_H_

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sys/defs.h"

struct out;

/* NULL: no memory.  f stays the caller's. */
struct out *out_alloc(FILE *f, bool json, bool pretty);
void	out_free(struct out *o);
bool	out_json(const struct out *o);
/* Print what JSON was gathered and start anew.  0, ENOMEM or EIO. */
int	out_flush(struct out *o);

void	out_open(struct out *o, const char *key);	/* "key": { */
void	out_list(struct out *o, const char *key);	/* "key": [ */
void	out_instance(struct out *o);			/* { in a list */
void	out_close(struct out *o);			/* any of them */

/* Text only. */
void	out_text(struct out *o, const char *fmt, ...) __printflike(2, 3);
/* JSON only; val is consumed; in a list key is not used. */
void	out_put(struct out *o, const char *key, json_t *val);
/* Both: the value for JSON, the format and the rest for the text. */
void	out_str(struct out *o, const char *key, const char *val,
	    const char *fmt, ...) __printflike(4, 5);
void	out_int(struct out *o, const char *key, json_int_t val,
	    const char *fmt, ...) __printflike(4, 5);

/* ---- Helpers of format ---- */

#define	OUT_NAMES_END	{ 0, NULL }
struct out_name {
	uint64_t	 on_bit;
	const char	*on_name;
};
/* "8843<UP,BROADCAST>": val in hex, then the names of its bits. */
void	out_bits(char *buf, size_t len, uint64_t val,
	    const struct out_name *names);
/* An array of the names of val's bits. */
json_t	*out_bits_json(uint64_t val, const struct out_name *names);
/*
 * A number in at most 5 columns with a unit of powers of 1000: "0", "999",
 * "12K", "1.5M", as netstat -h prints.
 */
void	out_human(char *buf, size_t len, uint64_t val);
/* "12,345,678" */
void	out_thousands(char *buf, size_t len, const char *digits);

/* ---- Members of what the daemon sent; absent ones give "", 0, false ---- */

const char *js_str(const json_t *obj, const char *key);
int64_t	js_int(const json_t *obj, const char *key);
bool	js_bool(const json_t *obj, const char *key);
bool	js_has(const json_t *obj, const char *key);
const json_t *js_get(const json_t *obj, const char *key);

#endif /* _TOOLS_OUT_H_ */
