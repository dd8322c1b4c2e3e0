/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * ngctl at the keyboard: lines with editing, history and completion by
 * libedit.  While a line is typed both descriptors of the node are watched,
 * in the function by which libedit reads a character: what arrives is printed
 * above the line.  One thread; libedit's signal handlers put the terminal
 * back.
 */

#include <errno.h>
#include <histedit.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "tools/ngctl.h"
#include "tools/out.h"
#include "tools/tool.h"

#define	EDIT_HISTORY	100		/* lines remembered */
#define	EDIT_COLUMNS	72		/* of a list of completions */
#define	EDIT_BLANKS	" \t"

struct edit {
	struct ngctl	*ed_ng;
	EditLine	*ed_el;
	History		*ed_hist;
	bool		 ed_prompt;	/* the prompt is showing */
	bool		 ed_end;	/* the data descriptor has ended */
	mbstate_t	 ed_mbs;	/* of a character half read */
};

/* Words that may stand where the cursor is; no memory: fewer of them. */
struct edit_words {
	char		**ew_word;
	size_t		 ew_n;
	const char	*ew_start;	/* what they have to start with */
};

/* ---- What arrives ---- */

static void
edit_newline(struct edit *ed)
{

	if (ed->ed_prompt)
		(void)fputc('\n', ed->ed_ng->ng_tc->tc_out);
	ed->ed_prompt = false;
}

/* A descriptor says error: that is the end, and why. */
static void
edit_ended(struct edit *ed, int error)
{

	edit_newline(ed);
	ed->ed_end = true;
	if (error == ENOTCONN)
		(void)ngctl_fail(ed->ed_ng, "the node has been shut down");
	else
		(void)ngctl_fail(ed->ed_ng, "receive: %s", strerror(error));
}

/* Print the messages that wait. */
static void
edit_mesgs(struct edit *ed)
{
	struct ngctl *ng = ed->ed_ng;
	struct ngctl_mesg *nm;

	while ((nm = ngctl_next(ng, -1)) != NULL) {
		edit_newline(ed);
		ngctl_mesg_print(ng, nm);
		ngctl_mesg_free(nm);
	}
	if (errno != 0)
		edit_ended(ed, errno);
	(void)out_flush(ng->ng_o);
}

static void
edit_data(struct edit *ed)
{
	struct ngctl *ng = ed->ed_ng;
	char hook[NG_HOOKSIZ] = "";
	unsigned char *buf = NULL;
	int n;

	n = NgAllocRecvData(ng->ng_ds, &buf, hook);
	if (n > 0) {
		edit_newline(ed);
		out_text(ng->ng_o, "Rec'd data packet on hook \"%s\":\n",
		    hook);
		ngctl_dump(ng->ng_o, buf, (size_t)n);
	} else
		edit_ended(ed, n < 0 ? errno : ENOTCONN);
	free(buf);
	(void)out_flush(ng->ng_o);
}

/* Wait for the keyboard; false: the node has ended. */
static bool
edit_wait(struct edit *ed)
{
	struct ngctl *ng = ed->ed_ng;
	struct pollfd pfd[3] = { { .fd = STDIN_FILENO, .events = POLLIN },
	    { .fd = ng->ng_cs, .events = POLLIN },
	    { .fd = ng->ng_ds, .events = POLLIN } };
	bool showing;

	for (;;) {
		if (poll(pfd, 3, -1) == -1) {
			if (errno == EINTR)
				continue;
			return (false);
		}
		showing = ed->ed_prompt;
		if (pfd[1].revents != 0)
			edit_mesgs(ed);
		if (pfd[2].revents != 0 && !ed->ed_end)
			edit_data(ed);
		if (ed->ed_end)
			return (false);
		if (showing && !ed->ed_prompt) {
			ed->ed_prompt = true;
			(void)el_set(ed->ed_el, EL_REFRESH);
		}
		if (pfd[0].revents != 0)
			return (true);
	}
}

/* libedit's next character: 1, 0 at the end, -1. */
static int
edit_getc(EditLine *el, wchar_t *wc)
{
	struct edit *ed;
	ssize_t n;
	size_t len;
	char c;

	(void)el_get(el, EL_CLIENTDATA, &ed);
	for (;;) {
		if (!edit_wait(ed))
			return (0);
		if ((n = read(STDIN_FILENO, &c, 1)) != 1)
			return (n == 0 ? 0 : -1);
		len = mbrtowc(wc, &c, 1, &ed->ed_mbs);
		if (len == (size_t)-2)
			continue;	/* there is more of it */
		if (len == (size_t)-1) {
			memset(&ed->ed_mbs, 0, sizeof(ed->ed_mbs));
			*wc = L'?';
		}
		return (1);
	}
}

static char *
edit_prompt(EditLine *el)
{
	static char prompt[] = "+ ";
	struct edit *ed;

	(void)el_get(el, EL_CLIENTDATA, &ed);
	ed->ed_prompt = true;
	return (prompt);
}

/* ---- Completion ---- */

/* Take head and word together if they fit; case counts but for commands. */
static void
edit_offer(struct edit_words *ew, const char *head, const char *word,
    const char *tail, bool nocase)
{
	size_t len = strlen(ew->ew_start);
	char **more, *all;

	if (strpbrk(word, EDIT_BLANKS) != NULL ||
	    asprintf(&all, "%s%s%s", head, word, tail) == -1)
		return;
	more = NULL;
	if (nocase ? strncasecmp(all, ew->ew_start, len) == 0 :
	    strncmp(all, ew->ew_start, len) == 0)
		more = realloc(ew->ew_word, (ew->ew_n + 1) * sizeof(*more));
	if (more == NULL) {
		free(all);
		return;
	}
	ew->ew_word = more;
	ew->ew_word[ew->ew_n++] = all;
}

static void
edit_free(struct edit_words *ew)
{

	while (ew->ew_n > 0)
		free(ew->ew_word[--ew->ew_n]);
	free(ew->ew_word);
	ew->ew_word = NULL;
}

static int
edit_compare(const void *a, const void *b)
{

	return (strcmp(*(char *const *)a, *(char *const *)b));
}

static void
edit_sort(struct edit_words *ew)
{
	size_t i, n = 0;

	if (ew->ew_n == 0)
		return;
	qsort(ew->ew_word, ew->ew_n, sizeof(*ew->ew_word), edit_compare);
	for (i = 1; i < ew->ew_n; i++) {
		if (strcmp(ew->ew_word[n], ew->ew_word[i]) == 0)
			free(ew->ew_word[i]);
		else
			ew->ew_word[++n] = ew->ew_word[i];
	}
	ew->ew_n = n + 1;
}

static void
edit_commands(struct edit_words *ew)
{
	const struct ngctl_cmd *const *ncp;
	int i;

	for (ncp = ngctl_cmds; *ncp != NULL; ncp++)
		edit_offer(ew, "", (*ncp)->nc_name, "", true);
	for (ncp = ngctl_cmds; ew->ew_n == 0 && *ncp != NULL; ncp++)
		for (i = 0; (*ncp)->nc_alias[i] != NULL; i++)
			edit_offer(ew, "", (*ncp)->nc_alias[i], "", true);
}

/* Hooks of the node at path, each behind head. */
static void
edit_hooks(struct ngctl *ng, struct edit_words *ew, const char *path,
    const char *head)
{
	const struct hooklist *hl;
	struct ng_mesg *rep;
	uint32_t i;

	if ((hl = ngctl_hooks(ng, path, &rep)) == NULL)
		return;
	for (i = 0; i < hl->nodeinfo.hooks; i++)
		edit_offer(ew, head, hl->link[i].ourhook, "", false);
	free(rep);
}

static void
edit_nodes(struct ngctl *ng, struct edit_words *ew)
{
	const struct namelist *nl;
	struct ng_mesg *rep;
	char addr[NGCTL_ID];
	uint32_t i;

	if ((nl = ngctl_nodes(ng, &rep)) == NULL)
		return;
	for (i = 0; i < nl->numnames; i++) {
		(void)snprintf(addr, sizeof(addr), "[%x]",
		    nl->nodeinfo[i].id);
		edit_offer(ew, "", nl->nodeinfo[i].name[0] != '\0' ?
		    nl->nodeinfo[i].name : addr, ":", false);
	}
	free(rep);
}

/* Addresses: a node, or one hook further from where the word has got to. */
static void
edit_paths(struct ngctl *ng, struct edit_words *ew)
{
	char head[NG_PATHSIZ], path[NG_PATHSIZ];
	const char *word = ew->ew_start;
	size_t n;

	for (n = strlen(word); n > 0; n--)
		if (word[n - 1] == ':' || word[n - 1] == '.')
			break;
	if (n >= sizeof(head))
		return;
	(void)snprintf(head, sizeof(head), "%.*s", (int)n, word);
	(void)snprintf(path, sizeof(path), "%s", head);
	if (n > 0 && path[n - 1] == '.')
		path[n - 1] = '\0';
	edit_hooks(ng, ew, path[0] != '\0' ? path : ".", head);
	if (n == 0)
		edit_nodes(ng, ew);
}

static void
edit_types(struct ngctl *ng, struct edit_words *ew)
{
	const struct typelist *tl;
	struct ng_mesg *rep;
	uint32_t i;

	if ((tl = ngctl_types(ng, &rep)) == NULL)
		return;
	for (i = 0; i < tl->numtypes; i++)
		edit_offer(ew, "", tl->typeinfo[i].type_name, "", false);
	free(rep);
}

/* Words for where the cursor is; argc words are in front of it. */
static void
edit_words(struct ngctl *ng, struct edit_words *ew, int argc, char **argv)
{
	const struct ngctl_cmd *nc;
	bool many;

	nc = argc > 0 ? ngctl_find(argv[0], &many) : NULL;
	if (argc == 0 || (nc != NULL && strcmp(nc->nc_name, "help") == 0))
		edit_commands(ew);
	else if (nc != NULL) {
		edit_paths(ng, ew);
		if (argc > 1)
			edit_hooks(ng, ew, argv[1], "");
		if (strcmp(nc->nc_name, "mkpeer") == 0)
			edit_types(ng, ew);
	}
	edit_sort(ew);
}

/* How many bytes the words have in common at their start. */
static size_t
edit_common(const struct edit_words *ew)
{
	size_t i, n = strlen(ew->ew_word[0]);

	for (i = 1; i < ew->ew_n; i++)
		while (strncmp(ew->ew_word[0], ew->ew_word[i], n) != 0)
			n--;
	return (n);
}

static void
edit_show(struct edit *ed, const struct edit_words *ew)
{
	FILE *f = ed->ed_ng->ng_tc->tc_out;
	size_t col = 0, i, width = 0;

	for (i = 0; i < ew->ew_n; i++)
		if (strlen(ew->ew_word[i]) > width)
			width = strlen(ew->ew_word[i]);
	(void)fputc('\n', f);
	for (i = 0; i < ew->ew_n; i++) {
		if (col > 0 && col + width + 2 > EDIT_COLUMNS) {
			(void)fputc('\n', f);
			col = 0;
		}
		(void)fprintf(f, "%-*s  ", (int)width, ew->ew_word[i]);
		col += width + 2;
	}
	(void)fputc('\n', f);
	(void)fflush(f);
}

/* Put what is certain in place of the word's len bytes. */
static unsigned char
edit_insert(EditLine *el, const struct edit_words *ew, size_t len)
{
	size_t n = edit_common(ew);
	unsigned char res;
	char *text;

	if (asprintf(&text, "%.*s%s", (int)n, ew->ew_word[0],
	    ew->ew_n == 1 && ew->ew_word[0][n - 1] != ':' ? " " : "") == -1)
		return (CC_ERROR);
	el_deletestr(el, (int)len);
	res = el_insertstr(el, text) == 0 ? CC_REFRESH : CC_ERROR;
	free(text);
	return (res);
}

/* The tabulator. */
static unsigned char
edit_complete(EditLine *el, int ch)
{
	char *argv[NGCTL_WORDS + 1], line[NGCTL_LINE + 1];
	struct edit_words ew = { .ew_n = 0 };
	unsigned char res = CC_ERROR;
	const LineInfo *li;
	struct edit *ed;
	size_t len;
	int argc;

	(void)el_get(el, EL_CLIENTDATA, &ed);
	li = el_line(el);
	len = (size_t)(li->cursor - li->buffer);
	if (len >= sizeof(line))
		return (CC_ERROR);
	memcpy(line, li->buffer, len);
	line[len] = '\0';
	while (len > 0 && strchr(EDIT_BLANKS, line[len - 1]) == NULL)
		len--;
	if ((ew.ew_start = strdup(line + len)) == NULL)
		return (CC_ERROR);
	line[len] = '\0';
	argc = ngctl_split(line, argv);
	len = strlen(ew.ew_start);
	if (argc >= 0)
		edit_words(ed->ed_ng, &ew, argc, argv);
	if (ew.ew_n == 1 || (ew.ew_n > 1 && edit_common(&ew) > len))
		res = edit_insert(el, &ew, len);
	else if (ew.ew_n > 1) {
		edit_show(ed, &ew);
		res = CC_REDISPLAY;
	}
	edit_free(&ew);
	free((char *)(uintptr_t)ew.ew_start);
	return (res);
}

/* ---- The loop ---- */

static bool
edit_init(struct edit *ed)
{
	struct ngctl *ng = ed->ed_ng;
	HistEvent ev;

	ed->ed_hist = history_init();
	ed->ed_el = el_init("ngctl", stdin, ng->ng_tc->tc_out,
	    ng->ng_tc->tc_err);
	if (ed->ed_hist == NULL || ed->ed_el == NULL)
		return (false);
	(void)history(ed->ed_hist, &ev, H_SETSIZE, EDIT_HISTORY);
	(void)el_set(ed->ed_el, EL_CLIENTDATA, ed);
	(void)el_set(ed->ed_el, EL_PROMPT, edit_prompt);
	(void)el_set(ed->ed_el, EL_EDITOR, "emacs");
	(void)el_set(ed->ed_el, EL_SIGNAL, 1);
	(void)el_set(ed->ed_el, EL_HIST, history, ed->ed_hist);
	(void)el_set(ed->ed_el, EL_GETCFN, edit_getc);
	(void)el_set(ed->ed_el, EL_ADDFN, "ngctl-complete",
	    "complete a command, an address or a hook", edit_complete);
	(void)el_set(ed->ed_el, EL_BIND, "^I", "ngctl-complete", NULL);
	(void)el_source(ed->ed_el, NULL);
	return (true);
}

/* One line; false: that was the last. */
static bool
edit_line(struct edit *ed)
{
	char line[NGCTL_LINE + 2];
	HistEvent ev;
	const char *s;
	int len;

	(void)fflush(ed->ed_ng->ng_tc->tc_out);
	s = el_gets(ed->ed_el, &len);
	if (s == NULL || len <= 0) {
		if (!ed->ed_end)
			(void)fputc('\n', ed->ed_ng->ng_tc->tc_out);
		return (false);
	}
	ed->ed_prompt = false;
	if (s[strspn(s, " \t\r\n")] == '\0')
		return (true);
	(void)history(ed->ed_hist, &ev, H_ENTER, s);
	if ((size_t)len >= sizeof(line)) {
		(void)ngctl_fail(ed->ed_ng, "more than %d bytes in the line",
		    NGCTL_LINE);
		return (true);
	}
	memcpy(line, s, (size_t)len);
	line[len] = '\0';
	if (ngctl_line(ed->ed_ng, line, (size_t)len) == NGCTL_QUIT)
		return (false);
	edit_mesgs(ed);
	return (true);
}

int
ngctl_interactive(struct ngctl *ng)
{
	struct edit ed = { .ed_ng = ng };
	char help[] = "help", *argv[] = { help, NULL };
	int status = 0;

	if (edit_init(&ed)) {
		(void)ngctl_run(ng, 1, argv);
		while (!ed.ed_end && edit_line(&ed))
			continue;
		status = ed.ed_end ? EX_OSERR : 0;
	} else
		status = tool_fail(ng->ng_tc, EX_OSERR, "cannot read lines");
	if (ed.ed_el != NULL)
		el_end(ed.ed_el);
	if (ed.ed_hist != NULL)
		history_end(ed.ed_hist);
	return (status);
}
