/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The figures of systat -ifstat, without a screen: samples of the interfaces'
 * counters, rates and peaks, the lines to show, and the commands that choose.
 */
#ifndef _TOOLS_IFSTAT_H_
#define	_TOOLS_IFSTAT_H_

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define	IFSTAT_LINE	96		/* bytes of a line with its NUL */

extern const char ifstat_header[];	/* the columns' names */

enum ifstat_dir { IFSTAT_IN, IFSTAT_OUT };

struct ifstat_row {
	char		 ir_name[16];
	int64_t		 ir_index;	/* another one: another interface */
	uint64_t	 ir_bytes[2];	/* by enum ifstat_dir */
	uint64_t	 ir_packets[2];
	double		 ir_brate[2];	/* bytes a second */
	double		 ir_bpeak[2];
	double		 ir_prate[2];	/* packets a second */
	double		 ir_ppeak[2];
};

struct ifstat {
	struct ifstat_row *is_rows;	/* newest interface first */
	size_t		 is_nrows;
	double		 is_when;	/* seconds; 0: no sample yet */
	int		 is_scale;
	bool		 is_pps;
	bool		 is_all;
	char		 is_match[256];	/* patterns, "" for none */
};

void	ifstat_init(struct ifstat *is);
void	ifstat_fini(struct ifstat *is);
/*
 * Take a sample: interfaces as if.list gives them, now in seconds of any
 * clock that does not jump.  ENOMEM.
 */
int	ifstat_sample(struct ifstat *is, const json_t *interfaces, double now);
bool	ifstat_visible(const struct ifstat *is, const struct ifstat_row *ir);
/* The line of one direction, without a newline. */
void	ifstat_line(const struct ifstat *is, const struct ifstat_row *ir,
	    enum ifstat_dir dir, char buf[IFSTAT_LINE]);
/*
 * A command of this display: scale, match, all, pps.  msg is what to tell,
 * or "".  false: not one of them.
 */
bool	ifstat_command(struct ifstat *is, const char *word, const char *arg,
	    char *msg, size_t len);

#endif /* _TOOLS_IFSTAT_H_ */
