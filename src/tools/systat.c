/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * systat: what a machine does, on a screen, or once as plain lines where there
 * is no terminal.  What is shown are the pages of statpage.h.
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
#include "tools/out.h"
#include "tools/statpage.h"
#include "tools/tool.h"

#define	SYSTAT_TOP	3		/* first row of the page */
#define	SYSTAT_INTERVAL	5.0		/* seconds */
#define	KEY_CTRL(c)	((c) & 0x1f)

struct systat {
	struct tool_ctx	*sy_tc;
	const struct statpage *sy_page;
	void		*sy_pg;		/* the page's state */
	double		 sy_interval;	/* seconds */
	bool		 sy_restart;	/* the interval has changed */
	bool		 sy_switched;	/* to another page */
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

/* ---- Pages ---- */

static const struct statpage *const systat_pages[] = {
	&statpage_ifstat, &statpage_epoch, &statpage_intr, &statpage_graph,
};

/* By name or the start of it; NULL: there is none. */
static const struct statpage *
systat_page(const char *name)
{
	size_t i;

	for (i = 0; *name != '\0' && i < nitems(systat_pages); i++)
		if (strncmp(systat_pages[i]->sp_name, name,
		    strlen(name)) == 0)
			return (systat_pages[i]);
	return (NULL);
}

static void
systat_close(struct systat *sy)
{
	if (sy->sy_pg != NULL)
		sy->sy_page->sp_fini(sy->sy_pg);
	free(sy->sy_pg);
	sy->sy_pg = NULL;
}

/* Show another page from now on.  False: no memory, the old one stays. */
static bool
systat_open(struct systat *sy, const struct statpage *page)
{
	void *pg;

	if ((pg = calloc(1, page->sp_size)) == NULL)
		return (false);
	systat_close(sy);
	sy->sy_page = page;
	sy->sy_pg = pg;
	if (page->sp_init != NULL)
		page->sp_init(pg);
	return (true);
}

/* ce is set when the machine cannot be asked. */
static int
systat_sample(struct systat *sy, struct ctl_error *ce)
{
	return (sy->sy_page->sp_sample(sy->sy_pg, sy->sy_tc, systat_now(),
	    ce));
}

/* ---- Without a terminal ---- */

static void
systat_print(void *arg, const char *const *lines, int n)
{
	for (int i = 0; i < n; i++)
		out_text(arg, "%s\n", lines[i]);
}

static int
systat_snapshot(struct systat *sy)
{
	struct out *o = sy->sy_tc->tc_o;
	struct ctl_error ce;

	if (systat_sample(sy, &ce) != 0)
		return (tool_callfail(sy->sy_tc, &ce));
	tool_sleep(sy->sy_interval);
	if (systat_sample(sy, &ce) != 0)
		return (tool_callfail(sy->sy_tc, &ce));
	if (out_json(o))
		sy->sy_page->sp_json(sy->sy_pg, o);
	else
		sy->sy_page->sp_blocks(sy->sy_pg, systat_print, o);
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
	if (COLS <= 20)
		return;
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

struct systat_rows {
	int		 sr_row;	/* the next */
	int		 sr_end;	/* the first that is not the page's */
	int		 sr_hidden;	/* blocks that did not fit */
	bool		 sr_draw;	/* or only see what fits */
};

static void
systat_draw_block(void *arg, const char *const *lines, int n)
{
	struct systat_rows *sr = arg;
	int i, shown = n;

	while (shown > 1 && lines[shown - 1][0] == '\0')
		shown--;		/* a blank one need not fit */
	/* Behind one that did not fit nothing is shown: it would seem next. */
	if (sr->sr_hidden != 0 || sr->sr_row + shown > sr->sr_end) {
		sr->sr_hidden++;
		return;
	}
	for (i = 0; sr->sr_draw && i < shown; i++)
		mvaddnstr(sr->sr_row + i, 0, lines[i], COLS);
	sr->sr_row += n;
}

static void
systat_draw(const struct systat *sy)
{
	struct systat_rows sr = { .sr_row = SYSTAT_TOP, .sr_end = LINES - 1 };
	char text[STATPAGE_LINE];

	erase();
	systat_draw_load();
	sy->sy_page->sp_blocks(sy->sy_pg, systat_draw_block, &sr);
	/* What does not fit is said in a row of the page's own. */
	sr = (struct systat_rows){ .sr_row = SYSTAT_TOP, .sr_draw = true,
	    .sr_end = sr.sr_hidden > 0 ? LINES - 2 : LINES - 1 };
	sy->sy_page->sp_blocks(sy->sy_pg, systat_draw_block, &sr);
	if (sr.sr_hidden > 0 && LINES - 2 >= SYSTAT_TOP) {
		(void)snprintf(text, sizeof(text), "%15s  %d more: %s", "",
		    sr.sr_hidden, sy->sy_page->sp_more);
		mvaddnstr(LINES - 2, 0, text, COLS);
	}
	systat_draw_cmdline(sy);
	refresh();
}

/* "start", "stop", a number and the other words of every display. */
static void
systat_global(struct systat *sy, const char *word, const char *arg)
{
	const struct statpage *page;
	double load[3] = { 0 }, val;
	char *end;

	if (strcmp(word, "quit") == 0 || strcmp(word, "q") == 0)
		sy->sy_quit = true;
	else if (strcmp(word, "stop") == 0)
		sy->sy_stopped = true;
	else if (strcmp(word, "help") == 0 || strcmp(word, "?") == 0)
		(void)snprintf(sy->sy_msg, sizeof(sy->sy_msg), "ifstat epoch "
		    "intr graph help load quit start stop%s",
		    sy->sy_page->sp_commands);
	else if (strcmp(word, "load") == 0) {
		(void)getloadavg(load, 3);
		(void)snprintf(sy->sy_msg, sizeof(sy->sy_msg),
		    "%4.2f, %4.2f, %4.2f", load[0], load[1], load[2]);
	} else if ((page = systat_page(word)) != NULL) {
		if (!systat_open(sy, page))
			(void)snprintf(sy->sy_msg, sizeof(sy->sy_msg),
			    "out of memory");
		sy->sy_switched = true;
	} else {
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
	if (*word != '\0' && (sy->sy_page->sp_command == NULL ||
	    !sy->sy_page->sp_command(sy->sy_pg, word, arg, sy->sy_msg,
	    sizeof(sy->sy_msg))))
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
		    "Showing %s, refresh every %g seconds.",
		    sy->sy_page->sp_name, sy->sy_interval);
	else if (c == 'q')
		sy->sy_quit = true;
	else if (c == ':') {
		sy->sy_editing = true;
		sy->sy_cmdlen = 0;
		sy->sy_cmd[0] = '\0';
	}
}

/*
 * When to sample a page that has one sample: rates need a second one, which a
 * long interval must not delay.
 */
static double
systat_soon(const struct systat *sy)
{
	return (systat_now() + (sy->sy_interval < 1 ? sy->sy_interval : 1));
}

/* Until the user or a signal ends it; errno value when the machine is gone. */
static int
systat_loop(struct systat *sy, struct ctl_error *ce)
{
	struct pollfd pfd = { .fd = STDIN_FILENO, .events = POLLIN };
	double next, left;
	int c, error;

	next = systat_soon(sy);
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
		if (sy->sy_switched) {
			if ((error = systat_sample(sy, ce)) != 0)
				return (error);
			next = systat_soon(sy);
		} else if (sy->sy_restart)
			next = systat_now() + sy->sy_interval;
		sy->sy_switched = sy->sy_restart = false;
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

/* "-page" or the start of it, and an interval. */
static int
systat_main(struct tool_ctx *tc, int argc, char **argv)
{
	const struct statpage *page = &statpage_ifstat;
	struct systat sy = { .sy_tc = tc };
	bool screen;
	char *end;
	int status;

	screen = !tc->tc_local && tc->tc_out == stdout && !out_json(tc->tc_o) &&
	    isatty(STDOUT_FILENO) == 1 && isatty(STDIN_FILENO) == 1;
	sy.sy_interval = screen ? SYSTAT_INTERVAL : 1;
	for (argv++; *argv != NULL; argv++) {
		if (**argv == '-') {
			page = systat_page(*argv + 1);
			if (page == NULL) {
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
	if (!systat_open(&sy, page))
		return (tool_fail(tc, EX_OSERR, "out of memory"));
	status = screen ? systat_screen(&sy) : systat_snapshot(&sy);
	systat_close(&sy);
	return (status);
}

const struct tool tool_systat = {
	.tl_name = "systat",
	.tl_synopsis = "[-ifstat | -epoch | -intr | -graph] [interval]",
	.tl_manual = "netepoch-systat(1)",
	.tl_descr = "watch interfaces, epoch, interrupts or graph",
	.tl_fn = systat_main,
};
