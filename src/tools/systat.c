/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * systat -ifstat: traffic of the interfaces on a screen, or once as plain
 * lines where there is no terminal.
 *
 * One thread: it waits for a key or the next refresh, whichever comes first.
 * Signals that end it are noted and acted upon in the loop, so that the
 * terminal is always given back.
 */

#include <curses.h>
#include <getopt.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/cmds.h"
#include "tools/ifstat.h"
#include "tools/out.h"
#include "tools/tool.h"

#define	SYSTAT_TOP	4		/* first row of data */
#define	SYSTAT_INTERVAL	5.0		/* seconds */
#define	KEY_CTRL(c)	((c) & 0x1f)

struct systat {
	struct tool_ctx	*sy_tc;
	struct ifstat	 sy_if;
	double		 sy_interval;	/* seconds */
	bool		 sy_restart;	/* the interval has changed */
	bool		 sy_stopped;
	bool		 sy_quit;
	bool		 sy_editing;	/* the last row has a command */
	char		 sy_cmd[72];
	size_t		 sy_cmdlen;
	char		 sy_msg[160];	/* in the last row */
};

static volatile sig_atomic_t systat_signal;

static void
systat_onsignal(int sig)
{
	systat_signal = sig;
}

static double
systat_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((double)ts.tv_sec + (double)ts.tv_nsec / 1e9);
}

/* ce is set when the machine cannot be asked. */
static int
systat_sample(struct systat *sy, struct ctl_error *ce)
{
	json_t *res;
	int error;

	error = tool_call(sy->sy_tc, "if.list", NULL, &res, ce);
	if (error != 0)
		return (error);
	error = ifstat_sample(&sy->sy_if, js_get(res, "interfaces"),
	    systat_now());
	if (error != 0)
		(void)snprintf(ce->ce_text, sizeof(ce->ce_text),
		    "out of memory");
	json_decref(res);
	return (error);
}

/* ---- Without a terminal ---- */

static void
systat_json(struct out *o, const struct ifstat_row *ir)
{
	static const char *const dirs[] = { "in", "out" };
	int d;

	out_instance(o);
	out_put(o, "name", json_string(ir->ir_name));
	for (d = 0; d < 2; d++) {
		out_open(o, dirs[d]);
		out_put(o, "bytes", json_integer(
		    (json_int_t)ir->ir_bytes[d]));
		out_put(o, "packets", json_integer(
		    (json_int_t)ir->ir_packets[d]));
		out_put(o, "bytes-per-second", json_real(ir->ir_brate[d]));
		out_put(o, "packets-per-second", json_real(ir->ir_prate[d]));
		out_close(o);
	}
	out_close(o);
}

static int
systat_snapshot(struct systat *sy)
{
	const struct ifstat_row *ir;
	struct out *o = sy->sy_tc->tc_o;
	struct ctl_error ce;
	char line[IFSTAT_LINE];
	size_t i;

	if (systat_sample(sy, &ce) != 0)
		return (tool_callfail(sy->sy_tc, &ce));
	tool_sleep(sy->sy_interval);
	if (systat_sample(sy, &ce) != 0)
		return (tool_callfail(sy->sy_tc, &ce));
	out_text(o, "%s\n", ifstat_header);
	out_list(o, "ifstat");
	for (i = 0; i < sy->sy_if.is_nrows; i++) {
		ir = &sy->sy_if.is_rows[i];
		if (!ifstat_visible(&sy->sy_if, ir))
			continue;
		if (out_json(o)) {
			systat_json(o, ir);
			continue;
		}
		ifstat_line(&sy->sy_if, ir, IFSTAT_IN, line);
		out_text(o, "%s\n", line);
		ifstat_line(&sy->sy_if, ir, IFSTAT_OUT, line);
		out_text(o, "%s\n\n", line);
	}
	out_close(o);
	return (0);
}

/* ---- The screen ---- */

static void
systat_draw_load(void)
{
	static const char scale[] = "/0   /1   /2   /3   /4   /5   /6   /7"
	    "   /8   /9   /10";
	char bar[51] = "";
	double load = 0;
	int n;

	(void)getloadavg(&load, 1);
	mvaddnstr(0, 20, scale, COLS - 20);
	mvaddnstr(1, 5, "Load Average", COLS - 5);
	n = (int)lround(load * 5);
	memset(bar, '|', (size_t)(n < 50 ? n : 50));
	mvaddnstr(1, 20, bar, COLS - 20);
	if (n > 50 && COLS > 76)
		mvprintw(1, 70, ">%.1f", load);
}

static void
systat_draw_cmdline(const struct systat *sy)
{
	move(LINES - 1, 0);
	clrtoeol();
	if (sy->sy_editing)
		printw(":%s", sy->sy_cmd);
	else
		addnstr(sy->sy_msg, COLS - 1);
}

static void
systat_draw(const struct systat *sy)
{
	const struct ifstat_row *ir;
	char line[IFSTAT_LINE];
	int row = SYSTAT_TOP, hidden = 0;
	size_t i;

	erase();
	systat_draw_load();
	mvaddnstr(3, 0, ifstat_header, COLS);
	for (i = 0; i < sy->sy_if.is_nrows; i++) {
		ir = &sy->sy_if.is_rows[i];
		if (!ifstat_visible(&sy->sy_if, ir))
			continue;
		if (row + 1 >= LINES - 1) {
			hidden++;
			continue;
		}
		ifstat_line(&sy->sy_if, ir, IFSTAT_IN, line);
		mvaddnstr(row, 0, line, COLS);
		ifstat_line(&sy->sy_if, ir, IFSTAT_OUT, line);
		mvaddnstr(row + 1, 0, line, COLS);
		row += 3;
	}
	if (hidden > 0 && row - 1 < LINES - 1)
		mvprintw(row - 1, 0, "%15s  %d more: enlarge, or choose "
		    "with :match", "", hidden);
	systat_draw_cmdline(sy);
	refresh();
}

/* "start", "stop", a number and the other words of every display. */
static void
systat_global(struct systat *sy, const char *word, const char *arg)
{
	char *end;
	double load[3] = { 0 }, val;

	if (strcmp(word, "quit") == 0 || strcmp(word, "q") == 0)
		sy->sy_quit = true;
	else if (strcmp(word, "stop") == 0)
		sy->sy_stopped = true;
	else if (strcmp(word, "help") == 0 || strcmp(word, "?") == 0)
		(void)snprintf(sy->sy_msg, sizeof(sy->sy_msg), "ifstat help "
		    "load quit start stop scale match all pps");
	else if (strcmp(word, "load") == 0) {
		(void)getloadavg(load, 3);
		(void)snprintf(sy->sy_msg, sizeof(sy->sy_msg),
		    "%4.2f, %4.2f, %4.2f", load[0], load[1], load[2]);
	} else if (strcmp(word, "ifstat") != 0) {
		if (strcmp(word, "start") == 0) {
			sy->sy_stopped = false;
			word = arg;
			if (*word == '\0')
				return;
		}
		val = strtod(word, &end);
		if (end == word || *end != '\0')
			(void)snprintf(sy->sy_msg, sizeof(sy->sy_msg),
			    "%s: Unknown command.", word);
		else if (!(val >= 0.1 && val <= 86400))
			(void)snprintf(sy->sy_msg, sizeof(sy->sy_msg),
			    "bad interval: %s", word);
		else {
			sy->sy_interval = val;
			sy->sy_restart = true;
			sy->sy_stopped = false;
		}
	}
}

static void
systat_command(struct systat *sy)
{
	char *word = sy->sy_cmd, *arg;

	sy->sy_msg[0] = '\0';
	word += strspn(word, " ");
	arg = word + strcspn(word, " ");
	if (*arg != '\0')
		*arg++ = '\0';
	arg += strspn(arg, " ");
	if (*word != '\0' && !ifstat_command(&sy->sy_if, word, arg,
	    sy->sy_msg, sizeof(sy->sy_msg)))
		systat_global(sy, word, arg);
}

static void
systat_edit(struct systat *sy, int c)
{
	if (c == '\n' || c == '\r' || c == KEY_ENTER) {
		sy->sy_editing = false;
		systat_command(sy);
	} else if (c == KEY_BACKSPACE || c == 0x7f || c == '\b') {
		if (sy->sy_cmdlen > 0)
			sy->sy_cmd[--sy->sy_cmdlen] = '\0';
		else
			sy->sy_editing = false;
	} else if (c == 0x1b)
		sy->sy_editing = false;
	else if (c == KEY_CTRL('u')) {
		sy->sy_cmdlen = 0;
		sy->sy_cmd[0] = '\0';
	} else if (c >= ' ' && c < 0x7f &&
	    sy->sy_cmdlen + 1 < sizeof(sy->sy_cmd)) {
		sy->sy_cmd[sy->sy_cmdlen++] = (char)c;
		sy->sy_cmd[sy->sy_cmdlen] = '\0';
	}
}

static void
systat_key(struct systat *sy, int c)
{
	if (c == KEY_CTRL('l'))
		(void)clearok(curscr, TRUE);
	else if (c == KEY_RESIZE)
		return;			/* ncurses knows; drawing follows */
	else if (sy->sy_editing)
		systat_edit(sy, c);
	else if (c == KEY_CTRL('g'))
		(void)snprintf(sy->sy_msg, sizeof(sy->sy_msg),
		    "Showing ifstat, refresh every %g seconds.",
		    sy->sy_interval);
	else if (c == 'q')
		sy->sy_quit = true;
	else if (c == ':') {
		sy->sy_editing = true;
		sy->sy_cmdlen = 0;
		sy->sy_cmd[0] = '\0';
	}
}

/* Until the user or a signal ends it; errno value when the machine is gone. */
static int
systat_loop(struct systat *sy, struct ctl_error *ce)
{
	struct pollfd pfd = { .fd = STDIN_FILENO, .events = POLLIN };
	double next, left;
	int c, error;

	/* Rates need a second sample; do not let a long interval delay it. */
	next = systat_now() + (sy->sy_interval < 1 ? sy->sy_interval : 1);
	while (!sy->sy_quit && systat_signal == 0) {
		left = next - systat_now();
		if (!sy->sy_stopped && left <= 0) {
			if ((error = systat_sample(sy, ce)) != 0)
				return (error);
			next = systat_now() + sy->sy_interval;
			left = sy->sy_interval;
		}
		systat_draw(sy);
		if (sy->sy_stopped)
			left = 1;
		(void)poll(&pfd, 1, (int)(left * 1000) + 1);
		if ((pfd.revents & (POLLHUP | POLLERR)) != 0)
			break;
		while ((c = getch()) != ERR)
			systat_key(sy, c);
		if (sy->sy_restart)
			next = systat_now() + sy->sy_interval;
		sy->sy_restart = false;
	}
	return (0);
}

static int
systat_screen(struct systat *sy)
{
	static const int sigs[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = systat_onsignal }, old[3];
	struct ctl_error ce;
	SCREEN *scr;
	int error, i;

	/* The first sample before the screen: an error is then plain text. */
	if (systat_sample(sy, &ce) != 0)
		return (tool_callfail(sy->sy_tc, &ce));
	if ((scr = newterm(NULL, stdout, stdin)) == NULL)
		return (systat_snapshot(sy));
	systat_signal = 0;
	for (i = 0; i < 3; i++)
		(void)sigaction(sigs[i], &sa, &old[i]);
	(void)cbreak();
	(void)noecho();
	(void)nodelay(stdscr, TRUE);
	(void)keypad(stdscr, TRUE);
	(void)set_escdelay(50);
	(void)curs_set(0);
	error = systat_loop(sy, &ce);
	(void)endwin();
	delscreen(scr);
	for (i = 0; i < 3; i++)
		(void)sigaction(sigs[i], &old[i], NULL);
	if (error != 0)
		return (tool_callfail(sy->sy_tc, &ce));
	return (systat_signal == 0 || systat_signal == SIGINT ? 0 :
	    128 + systat_signal);
}

/* "-ifstat" or the start of it, and an interval. */
static int
systat_main(struct tool_ctx *tc, int argc, char **argv)
{
	struct systat sy = { .sy_tc = tc };
	bool screen;
	char *end;
	int status;

	ifstat_init(&sy.sy_if);
	screen = !tc->tc_local && tc->tc_out == stdout && !out_json(tc->tc_o) &&
	    isatty(STDOUT_FILENO) == 1 && isatty(STDIN_FILENO) == 1;
	sy.sy_interval = screen ? SYSTAT_INTERVAL : 1;
	for (argv++; *argv != NULL; argv++) {
		if (**argv == '-') {
			if ((*argv)[1] == '\0' || strncmp("ifstat", *argv + 1,
			    strlen(*argv + 1)) != 0) {
				tool_warn(tc, "%s: there is no such display",
				    *argv);
				return (tool_usage(tc));
			}
			continue;
		}
		sy.sy_interval = strtod(*argv, &end);
		if (end == *argv || *end != '\0' || !(sy.sy_interval >= 0.1 &&
		    sy.sy_interval <= 86400))
			return (tool_fail(tc, EX_USAGE, "%s: expected an "
			    "interval of 0.1 to 86400 seconds", *argv));
	}
	status = screen ? systat_screen(&sy) : systat_snapshot(&sy);
	ifstat_fini(&sy.sy_if);
	return (status);
}

const struct tool tool_systat = {
	.tl_name = "systat",
	.tl_synopsis = "[-ifstat] [interval]",
	.tl_manual = "netepoch-systat(1)",
	.tl_descr = "watch the traffic of the interfaces",
	.tl_fn = systat_main,
};
