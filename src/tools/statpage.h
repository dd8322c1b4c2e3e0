/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A display of systat: what it asks the machine, what it shows, what commands
 * it has.  It knows no screen: it gives blocks of lines, and systat puts them
 * on the terminal or prints them.
 *
 * One thread, and one page at a time; a page's state begins zeroed.
 */
#ifndef _TOOLS_STATPAGE_H_
#define	_TOOLS_STATPAGE_H_

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctl_error;
struct out;
struct tool_ctx;

#define	STATPAGE_LINE	96		/* bytes of a line with its NUL */

/* n lines that are shown together or not at all; the first block always is. */
typedef void statpage_block_fn(void *arg, const char *const *lines, int n);

struct statpage {
	const char	*sp_name;	/* "ifstat" */
	const char	*sp_commands;	/* its own, for help; "" if none */
	const char	*sp_more;	/* what to do when not all fits */
	size_t		 sp_size;	/* bytes of its state */
	void		(*sp_init)(void *pg);
	void		(*sp_fini)(void *pg);
	/* now: seconds of a clock that does not jump.  An errno value and ce. */
	int		(*sp_sample)(void *pg, struct tool_ctx *tc, double now,
			    struct ctl_error *ce);
	void		(*sp_blocks)(const void *pg, statpage_block_fn *fn,
			    void *arg);
	void		(*sp_json)(const void *pg, struct out *o);
	/* False: it is no command of this page.  NULL: there is none. */
	bool		(*sp_command)(void *pg, const char *word,
			    const char *arg, char *msg, size_t len);
};

extern const struct statpage statpage_ifstat, statpage_epoch, statpage_intr,
	    statpage_graph;

/*
 * Two samples of one reply, for the pages that show rates of its members.
 * The newer is owned, and so is the older.
 */
struct statpair {
	json_t		*pr_now, *pr_old; /* NULL: none yet */
	double		 pr_when;	/* seconds, of pr_now */
	double		 pr_elapsed;	/* seconds between them, 0: one only */
};

void	statpair_fini(struct statpair *pr);
/* Call cmd with args (consumed) and take its result as the newer one. */
int	statpair_sample(struct statpair *pr, struct tool_ctx *tc,
	    const char *cmd, json_t *args, double now, struct ctl_error *ce);
/* Per second, from two values of a counter; 0 if it went back. */
double	statpair_rate(const struct statpair *pr, int64_t now, int64_t old);

/* One line as a block. */
void	statpage_line(statpage_block_fn *fn, void *arg, const char *fmt, ...)
	    __attribute__((format(printf, 3, 4)));

#endif /* _TOOLS_STATPAGE_H_ */
