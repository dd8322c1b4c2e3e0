/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the files of pkt-gen share: its options, what it reads from a machine,
 * and how that is shown.  One run at a time, on the caller's thread.
 */
#ifndef _TOOLS_PKTGEN_H_
#define	_TOOLS_PKTGEN_H_

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sys/defs.h"
#include "tools/tool.h"

#define	PKTGEN_WINDOW	15		/* reports that -A looks back */
#define	PKTGEN_FRAMING	24		/* bytes that -B adds to a packet */
#define	PKTGEN_LEN	60		/* bytes; shorter ones have no number */
#define	PKTGEN_LEN6	80

enum pktgen_mode { PKTGEN_TX, PKTGEN_RX, PKTGEN_PING, PKTGEN_PONG };

struct pktgen_opts {
	const char	*po_if[2];	/* the second one receives */
	int		 po_nif;
	enum pktgen_mode po_mode;
	long long	 po_count, po_rate;
	long long	 po_len, po_minlen; /* 0: not given */
	long long	 po_burst;
	long long	 po_threads;
	long long	 po_cpu, po_cpus; /* -1: not given */
	long long	 po_report_ms;
	long long	 po_wait_s;	/* -1: not given */
	const char	*po_src, *po_dst, *po_smac, *po_dmac;
	char		*po_pcap;	/* allocated, or NULL */
	bool		 po_v6, po_srcrandom, po_dstrandom;
	bool		 po_raw, po_silence, po_window, po_framing;
	bool		 po_dump, po_verify, po_throughput, po_nolive;
	int		 po_verbose;
	double		 po_trial_s;	/* of --throughput */
	double		 po_loss;	/* part that may be lost in a trial */
	const char	*po_csv;
};

/* What one generator says, or the difference of two such. */
struct pktgen_side {
	uint64_t	 ps_packets, ps_bytes, ps_bursts;
	uint64_t	 ps_first, ps_last; /* ns */
};

struct pktgen_times {
	uint64_t	 pt_count, pt_min, pt_avg, pt_p50, pt_p99, pt_p999;
	uint64_t	 pt_max;	/* ns */
};

struct pktgen_stats {
	uint64_t	 pt_now;	/* ns, of the machine */
	bool		 pt_done, pt_gone;
	struct pktgen_side pt_tx, pt_rx;
	uint64_t	 pt_refused, pt_bad;
	uint64_t	 pt_behind;	/* ns, of the rate that was asked for */
	uint64_t	 pt_stamped, pt_lost, pt_reordered, pt_duplicates;
	uint64_t	 pt_late;
	struct pktgen_times pt_latency, pt_interval;
};

/* pktgen_opts.c */

/* 0, or the status to end with, all said; -1: help was asked for. */
int	pktgen_options(struct tool_ctx *tc, struct pktgen_opts *po, int argc,
	    char **argv);
/*
 * "10.0.0.1:2000-10.0.0.9:2005" as members of a request: end, end_to,
 * end_port, end_port_to.  False: it is not of that form.
 */
bool	pktgen_range(json_t *args, const char *end, const char *text);
/* "xdp:veth1", "mem", "null": made for the run; not a machine's. */
bool	pktgen_is_device(const char *ifname);

/* pktgen_show.c */

struct pktgen_show {
	struct tool_ctx	*sh_tc;
	const struct pktgen_opts *sh_po;
	FILE		*sh_csv;	/* or NULL */
	bool		 sh_both;	/* the path's other end is ours, too */
	uint64_t	 sh_start;	/* ns: of the first report */
	double		 sh_window[PKTGEN_WINDOW]; /* pps */
	unsigned int	 sh_nwindow;
};

/* "1.234 M": value with a unit of powers of 1000; raw: "%.0f". */
const char *pktgen_norm(char *buf, size_t len, double value, bool raw);
/*
 * A line on the error stream: "SSS.UUUUUU function [line] text".  The function
 * is the one that netmap's pkt-gen names there, which scripts look for.
 */
void	pktgen_log(struct tool_ctx *tc, const char *fn, int line,
	    const char *fmt, ...) __printflike(4, 5);
#define	PKTGEN_LOG(tc, fn, ...)						\
	pktgen_log((tc), (fn), __LINE__, __VA_ARGS__)

void	pktgen_stats_read(const json_t *res, struct pktgen_stats *st);
/* One interval, in all forms that were asked for. */
void	pktgen_report(struct pktgen_show *sh, const struct pktgen_stats *old,
	    const struct pktgen_stats *now);
void	pktgen_report_ping(struct pktgen_show *sh,
	    const struct pktgen_stats *now, const json_t *powers);
void	pktgen_frames(struct pktgen_show *sh, const json_t *frames);
/* The rate was kept within 1 % of the time that it took. */
bool	pktgen_kept(const struct pktgen_stats *st);
/* The totals; size: bytes of a frame, 0: they differ. */
void	pktgen_summary(struct pktgen_show *sh, const struct pktgen_stats *st,
	    long long size);
void	pktgen_csv_head(struct pktgen_show *sh);

/* pktgen_trial.c */

/* RFC 2544, 26.1: the highest rate without loss; an exit status. */
struct pktgen;
int	pktgen_throughput(struct pktgen *pg);

/* pktgen.c */

struct pktgen {
	struct tool_ctx	*pg_tc;
	struct pktgen_opts pg_po;
	struct pktgen_show pg_show;
	char		 pg_name[2][32];	/* the machine's interfaces */
	int		 pg_nif;
	json_int_t	 pg_id[2];		/* generators; 0: none */
	long long	 pg_len;		/* bytes of a frame */
};

/* Start one; rate and count instead of the options' when not negative. */
int	pktgen_start(struct pktgen *pg, int i, enum pktgen_mode mode,
	    long long rate, long long count);
/* Numbers of all generators, added; cmd gen.stats or gen.stop. */
int	pktgen_ask(struct pktgen *pg, const char *cmd,
	    struct pktgen_stats *st);
bool	pktgen_interrupted(void);
/* Sleep, but not over a signal. */
void	pktgen_sleep_ms(long long ms);

#endif /* _TOOLS_PKTGEN_H_ */
