/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What is netepoch's own: help, the list of machines, and a shell in which
 * the tools have their plain names and speak to one machine.
 */

#include <sys/wait.h>

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/rundir.h"
#include "tools/cmds.h"
#include "tools/out.h"
#include "tools/tool.h"

#define	LIST_MAX	256		/* machines shown */
#define	SHELL_DIR	256		/* bytes of the links' directory */

/* ---- help ---- */

static int
help_main(struct tool_ctx *tc, int argc, char **argv)
{
	const struct tool *const *tp;
	const struct tool *tl;
	const char *line;
	size_t n;

	if (argc > 2)
		return (tool_usage(tc));
	if (argc == 2) {
		if ((tl = tool_find(argv[1])) == NULL)
			return (tool_fail(tc, EX_USAGE,
			    "there is no tool '%s'", argv[1]));
		out_text(tc->tc_o, "%s: %s\n", tl->tl_name, tl->tl_descr);
		for (line = tl->tl_synopsis;; line += n + 1) {
			n = strcspn(line, "\n");
			out_text(tc->tc_o, "\t%s %.*s\n", tl->tl_name, (int)n,
			    line);
			if (line[n] == '\0')
				break;
		}
		out_text(tc->tc_o, "Manual: %s\n", tl->tl_manual);
		return (0);
	}
	out_text(tc->tc_o, "usage: netepoch [-M machine] tool [argument ...]"
	    "\n\n");
	for (tp = tools; *tp != NULL; tp++)
		out_text(tc->tc_o, "  %-10s %s\n", (*tp)->tl_name,
		    (*tp)->tl_descr);
	out_text(tc->tc_o, "\nThe machine is the one that -M or "
	    "NETEPOCH_MACHINE names, else the only one\nthat runs.  "
	    "netepoch help TOOL shows a tool's words; with --libxo json its\n"
	    "output is JSON.\n");
	return (0);
}

/* ---- list ---- */

static void
list_uptime(char *buf, size_t len, int64_t ns)
{
	int64_t s = ns / 1000000000;

	if (s >= 86400)
		(void)snprintf(buf, len, "%jdd%02jdh", (intmax_t)(s / 86400),
		    (intmax_t)(s % 86400 / 3600));
	else if (s >= 3600)
		(void)snprintf(buf, len, "%jdh%02jdm", (intmax_t)(s / 3600),
		    (intmax_t)(s % 3600 / 60));
	else if (s >= 60)
		(void)snprintf(buf, len, "%jdm%02jds", (intmax_t)(s / 60),
		    (intmax_t)(s % 60));
	else
		(void)snprintf(buf, len, "%jds", (intmax_t)s);
}

/* A machine that cannot be asked is shown with the reason. */
static int
list_row(struct out *o, const char *name)
{
	char why[256], uptime[32];
	struct ctl_error ce;
	struct ctl_client *cl;
	json_t *res = NULL;
	int error;

	if ((cl = ctl_connect(name, &error, why, sizeof(why))) == NULL)
		(void)snprintf(ce.ce_text, sizeof(ce.ce_text), "%s", why);
	else if (ctl_call(cl, "machine.info", NULL, &res, &ce) != 0)
		res = NULL;
	out_instance(o);
	out_str(o, "name", name, "%-16s ", name);
	if (res != NULL) {
		list_uptime(uptime, sizeof(uptime), js_int(res, "uptime_ns"));
		out_int(o, "pid", js_int(res, "pid"), "%8jd ",
		    (intmax_t)js_int(res, "pid"));
		out_int(o, "uptime", js_int(res, "uptime_ns") / 1000000000,
		    "%9s ", uptime);
		out_str(o, "version", js_str(res, "version"), "%s\n",
		    js_str(res, "version"));
	} else
		out_str(o, "error", ce.ce_text, "%8s %9s %s\n", "-", "-",
		    ce.ce_text);
	out_close(o);
	error = res != NULL ? 0 : EX_UNAVAILABLE;
	json_decref(res);
	if (cl != NULL)
		ctl_close(cl);
	return (error);
}

static int
list_main(struct tool_ctx *tc, int argc, char **argv)
{
	char (*names)[RUNDIR_NAMESIZ];
	struct out *o = tc->tc_o;
	int c, error, i, n, status = 0;
	bool json = false;

	while ((c = getopt(argc, argv, "+:j")) != -1) {
		if (c != 'j')
			return (tool_badopt(tc, c));
		json = true;
	}
	if (optind != argc)
		return (tool_usage(tc));
	if ((names = calloc(LIST_MAX, sizeof(*names))) == NULL)
		return (tool_fail(tc, EX_OSERR, "out of memory"));
	if (json)
		o = out_alloc(tc->tc_out, true, false);
	n = o != NULL ? rundir_machines(names, LIST_MAX) : -1;
	if (n < 0) {
		status = tool_fail(tc, EX_OSERR, "cannot list the machines: %s",
		    strerror(errno));
		goto done;
	}
	if (n > 0)
		out_text(o, "%-16s %8s %9s %s\n", "Machine", "Pid", "Uptime",
		    "Version");
	else
		out_text(o, "no machine is running\n");
	out_list(o, "machines");
	for (i = 0; i < n && i < LIST_MAX; i++)
		if (list_row(o, names[i]) != 0)
			status = EX_UNAVAILABLE;
	out_close(o);
	if (json && (error = out_flush(o)) != 0)
		status = tool_fail(tc, EX_IOERR, "cannot write: %s",
		    strerror(error));
done:
	if (json)
		out_free(o);
	free(names);
	return (status);
}

/* ---- shell ---- */

/* A private directory of links named as the tools, to be found on PATH. */
static int
shell_links(const char *dir)
{
	char self[PATH_MAX], path[PATH_MAX];
	const struct tool *const *tp;
	ssize_t n;

	if ((n = readlink("/proc/self/exe", self, sizeof(self) - 1)) == -1)
		return (errno);
	self[n] = '\0';
	for (tp = tools; *tp != NULL; tp++) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir,
		    (*tp)->tl_name);
		/* These would hide other programs' commands. */
		if (*tp == &tool_help || *tp == &tool_list ||
		    *tp == &tool_shell || *tp == &tool_batch_tool)
			continue;
		if (symlink(self, path) != 0)
			return (errno);
	}
	(void)snprintf(path, sizeof(path), "%s/netepoch", dir);
	return (symlink(self, path) == 0 ? 0 : errno);
}

static void
shell_cleanup(const char *dir)
{
	char path[PATH_MAX];
	const struct tool *const *tp;

	for (tp = tools; *tp != NULL; tp++) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir,
		    (*tp)->tl_name);
		(void)unlink(path);
	}
	(void)snprintf(path, sizeof(path), "%s/bashrc", dir);
	(void)unlink(path);
	(void)snprintf(path, sizeof(path), "%s/netepoch", dir);
	(void)unlink(path);
	(void)rmdir(dir);
}

/* bash sets its prompt from its start-up file, so it gets one of ours. */
static int
shell_bashrc(const char *path)
{
	FILE *f;

	if ((f = fopen(path, "wex")) == NULL)
		return (errno);
	(void)fprintf(f, "[ -r ~/.bashrc ] && . ~/.bashrc\n"
	    "PATH=$NETEPOCH_BIN:$PATH\n"
	    "PS1='('$NETEPOCH_MACHINE') '${PS1:-'\\$ '}\n");
	return (fclose(f) == 0 ? 0 : errno);
}

static _Noreturn void
shell_exec(const char *dir, const char *machine, char **argv)
{
	char newpath[2 * PATH_MAX], rc[PATH_MAX], prompt[64];
	const char *shell, *path, *base;

	shell = getenv("SHELL");
	path = getenv("PATH");
	if (shell == NULL || *shell == '\0')
		shell = "/bin/sh";
	base = strrchr(shell, '/');
	base = base != NULL ? base + 1 : shell;
	(void)snprintf(newpath, sizeof(newpath), "%s:%s", dir,
	    path != NULL ? path : "/usr/bin:/bin");
	(void)snprintf(prompt, sizeof(prompt), "(%s) $ ", machine);
	(void)snprintf(rc, sizeof(rc), "%s/bashrc", dir);
	(void)setenv("PATH", newpath, 1);
	(void)setenv("NETEPOCH_MACHINE", machine, 1);
	(void)setenv("NETEPOCH_BIN", dir, 1);
	(void)setenv("PS1", prompt, 1);
	if (argv[0] != NULL)
		(void)execvp(argv[0], argv);
	else if (strcmp(base, "bash") == 0 && shell_bashrc(rc) == 0)
		(void)execlp(shell, base, "--rcfile", rc, "-i", (char *)NULL);
	else
		(void)execlp(shell, base, "-i", (char *)NULL);
	(void)fprintf(stderr, "shell: cannot run %s: %s\n",
	    argv[0] != NULL ? argv[0] : shell, strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* Run the child, with the keyboard's signals for it alone. */
static int
shell_run(struct tool_ctx *tc, const char *dir, const char *machine,
    char **argv)
{
	struct sigaction ign = { .sa_handler = SIG_IGN }, oint, oquit;
	int wstatus, status;
	pid_t pid;

	(void)fflush(NULL);
	(void)sigaction(SIGINT, &ign, &oint);
	(void)sigaction(SIGQUIT, &ign, &oquit);
	if ((pid = fork()) == 0) {
		(void)sigaction(SIGINT, &oint, NULL);
		(void)sigaction(SIGQUIT, &oquit, NULL);
		shell_exec(dir, machine, argv);
	}
	if (pid == -1)
		status = tool_fail(tc, EX_OSERR, "fork: %s", strerror(errno));
	else {
		while (waitpid(pid, &wstatus, 0) == -1 && errno == EINTR)
			continue;
		status = WIFEXITED(wstatus) ? WEXITSTATUS(wstatus) :
		    128 + WTERMSIG(wstatus);
	}
	(void)sigaction(SIGINT, &oint, NULL);
	(void)sigaction(SIGQUIT, &oquit, NULL);
	return (status);
}

static int
shell_main(struct tool_ctx *tc, int argc, char **argv)
{
	const char *tmp;
	char dir[SHELL_DIR], machine[RUNDIR_NAMESIZ];
	int c, error, status;
	json_t *res;

	if ((c = getopt(argc, argv, "+:")) != -1)
		return (tool_badopt(tc, c));
	if (tc->tc_local)
		return (tool_fail(tc, EX_USAGE, "not from a file of commands"));
	argv += optind;
	if (argv[0] != NULL)
		tc->tc_machine = *argv++;
	if ((status = tool_do(tc, "machine.info", NULL, &res)) != 0)
		return (status);
	(void)snprintf(machine, sizeof(machine), "%s", js_str(res, "name"));
	json_decref(res);
	tmp = getenv("TMPDIR");
	if (tmp == NULL || *tmp != '/' || strlen(tmp) > SHELL_DIR / 2)
		tmp = "/tmp";
	(void)snprintf(dir, sizeof(dir), "%s/netepoch-shell-XXXXXX", tmp);
	if (mkdtemp(dir) == NULL)
		return (tool_fail(tc, EX_CANTCREAT, "%s: %s", dir,
		    strerror(errno)));
	if ((error = shell_links(dir)) != 0)
		status = tool_fail(tc, EX_CANTCREAT, "%s: %s", dir,
		    strerror(error));
	else
		status = shell_run(tc, dir, machine, argv);
	shell_cleanup(dir);
	return (status);
}

const struct tool tool_help = {
	.tl_name = "help",
	.tl_synopsis = "[tool]",
	.tl_manual = "netepoch(1)",
	.tl_descr = "this list, or a tool's arguments",
	.tl_fn = help_main,
};

const struct tool tool_list = {
	.tl_name = "list",
	.tl_synopsis = "[-j]",
	.tl_manual = "netepoch(1)",
	.tl_descr = "list the machines that run",
	.tl_fn = list_main,
};

const struct tool tool_shell = {
	.tl_name = "shell",
	.tl_synopsis = "[machine [command ...]]",
	.tl_manual = "netepoch(1)",
	.tl_descr = "a shell with the tools on its PATH, for one machine",
	.tl_fn = shell_main,
};
