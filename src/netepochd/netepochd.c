/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * netepochd: one machine as a process.
 *
 * The main thread takes the machine's name, gives up the capabilities that
 * nothing needs (before any other thread exists: they are a thread's, and
 * inherited), starts the machine, runs the lines of the file, starts the
 * control server, and then sleeps until a signal ends it.  The signals are
 * blocked in all other threads.  It never enters the epoch.
 *
 * While the file is run the signals have their default action, so that a line
 * that does not end can be interrupted; what is left of a process that ends
 * so, a directory with its files, the next one of its name takes over.
 */

#include <sys/resource.h>

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "drivers/xdp_asker.h"
#include "mbuf/mbuf.h"
#include "netepochd/notify.h"
#include "netepochd/privilege.h"
#include "stack/machine.h"
#include "sys/log.h"
#include "sys/rundir.h"
#include "sys/stdfd.h"
#include "sys/thread.h"
#include "tools/tool.h"
#include "wire/ngsock.h"

#define	DAEMON_CPUS	64		/* as many as a machine takes */
#define	DAEMON_MIB_MAX	4095		/* of packets: offsets have 32 bits */
#define	DAEMON_ERRLEN	256

struct daemon {
	const char	*da_name;	/* of the machine */
	const char	*da_file;	/* lines to run, or NULL */
	FILE		*da_in;		/* da_file, open */
	int		 da_cpus[DAEMON_CPUS];
	int		 da_ncpus;	/* 0: all that are allowed */
	uint32_t	 da_nmbufs;	/* 0: the default */
	int		 da_lock;	/* holds the name */
	struct machine	*da_ma;
	struct ctl_server *da_server;
};

static int __printflike(2, 3)
daemon_fail(int status, const char *fmt, ...)
{
	va_list ap;

	(void)fputs("netepochd: ", stderr);
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
	return (status);
}

/* What an errno value means to whoever started us. */
static int
daemon_status(int error)
{

	switch (error) {
	case EACCES:
	case EPERM:
	case EROFS:
		return (EX_NOPERM);
	case EEXIST:
	case EAGAIN:
	case EBUSY:
		return (EX_TEMPFAIL);
	case EINVAL:
		return (EX_USAGE);
	default:
		return (EX_OSERR);
	}
}

/* ---- Options ---- */

static int
daemon_usage(void)
{

	(void)fputs("usage: netepochd [-Fv] [-c cpus] [-f file] [-M machine] "
	    "[-m mebibytes]\n       netepochd -V\n", stderr);
	return (EX_USAGE);
}

/* A number from *textp on, in min..max; *textp is left behind it. */
static bool
daemon_number(const char **textp, long min, long max, long *np)
{
	char *end;

	if (**textp < '0' || **textp > '9')
		return (false);
	errno = 0;
	*np = strtol(*textp, &end, 10);
	*textp = end;
	return (errno == 0 && *np >= min && *np <= max);
}

static bool
daemon_cpu_add(struct daemon *da, int cpu, const int *allowed, int nallowed)
{
	int i;

	for (i = 0; i < nallowed && allowed[i] != cpu; i++)
		continue;
	if (i == nallowed || da->da_ncpus == DAEMON_CPUS)
		return (false);
	for (i = 0; i < da->da_ncpus; i++)
		if (da->da_cpus[i] == cpu)
			return (false);
	da->da_cpus[da->da_ncpus++] = cpu;
	return (true);
}

/* "0-3,6": CPUs that we may run on, each once. */
static int
daemon_cpus(struct daemon *da, const char *list)
{
	int allowed[1024], n;
	const char *p = list;
	long from, to;

	n = thread_cpus(allowed, (int)nitems(allowed));
	da->da_ncpus = 0;
	for (;;) {
		if (!daemon_number(&p, 0, 1 << 20, &from))
			break;
		to = from;
		if (*p == '-') {
			p++;
			if (!daemon_number(&p, from, 1 << 20, &to))
				break;
		}
		for (; from <= to; from++)
			if (!daemon_cpu_add(da, (int)from, allowed, n))
				return (daemon_fail(EX_USAGE, "-c %s: CPU %ld "
				    "is not allowed to us, named twice, or "
				    "the %dth", list, from, DAEMON_CPUS + 1));
		if (*p == '\0')
			return (0);
		if (*p++ != ',')
			break;
	}
	return (daemon_fail(EX_USAGE, "-c %s: expected a list of CPUs as "
	    "0-3,6", list));
}

static int
daemon_memory(struct daemon *da, const char *arg)
{
	const char *p = arg;
	long mib;

	if (!daemon_number(&p, 1, DAEMON_MIB_MAX, &mib) || *p != '\0')
		return (daemon_fail(EX_USAGE, "-m %s: expected 1..%d MiB",
		    arg, DAEMON_MIB_MAX));
	da->da_nmbufs = (uint32_t)((uint64_t)mib * (1 << 20) /
	    MBUF_FRAME_SIZE);
	return (0);
}

/* 0, or the status to exit with; -1: exit with 0. */
static int
daemon_options(struct daemon *da, int argc, char **argv)
{
	int c, status = 0;

	while (status == 0 && (c = getopt(argc, argv, "c:Ff:M:m:Vv")) != -1) {
		switch (c) {
		case 'c':
			status = daemon_cpus(da, optarg);
			break;
		case 'F':
			break;		/* we stay in the foreground anyway */
		case 'f':
			da->da_file = optarg;
			break;
		case 'M':
			da->da_name = optarg;
			break;
		case 'm':
			status = daemon_memory(da, optarg);
			break;
		case 'V':
			(void)puts("netepochd " NETEPOCH_VERSION);
			return (-1);
		case 'v':
			log_level(LOG_DEBUG);
			break;
		default:
			return (daemon_usage());
		}
	}
	if (status == 0 && optind != argc)
		status = daemon_usage();
	return (status);
}

/* ---- The file ---- */

/* Opened before privileges go: it may be root's alone. */
static int
daemon_file_open(struct daemon *da)
{

	if (da->da_file == NULL)
		return (0);
	if (strcmp(da->da_file, "-") == 0) {
		da->da_in = stdin;
		return (0);
	}
	da->da_in = fopen(da->da_file, "re");
	if (da->da_in == NULL)
		return (daemon_fail(EX_NOINPUT, "%s: %s", da->da_file,
		    strerror(errno)));
	return (0);
}

static int
daemon_file_run(struct daemon *da)
{
	struct ctl_client *cl;
	int status;

	if (da->da_in == NULL)
		return (0);
	cl = ctl_connect_local(machine_commands, machine_ncommands,
	    da->da_ma);
	if (cl == NULL)
		return (daemon_fail(EX_OSERR, "no memory"));
	status = tool_batch(cl, da->da_in, da->da_file, stdout, stderr);
	(void)fflush(stdout);
	ctl_close(cl);
	(void)fclose(da->da_in);
	da->da_in = NULL;
	if (status != 0)
		return (EX_CONFIG);
	log_msg(LOG_INFO, "%s: configuration read", da->da_file);
	return (0);
}

/* ---- Start and stop ---- */

/*
 * Programs that have nodes cost descriptors: as many as we may have.  Nothing
 * here uses select(2).
 */
static void
daemon_descriptors(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) != 0 || rl.rlim_cur == rl.rlim_max)
		return;
	rl.rlim_cur = rl.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &rl) != 0)
		log_msg(LOG_WARNING, "cannot have %ju descriptors: %s",
		    (uintmax_t)rl.rlim_max, strerror(errno));
}

static int
daemon_start_machine(struct daemon *da)
{
	const struct machine_config mc = {
		.mc_name = da->da_name,
		.mc_cpus = da->da_ncpus > 0 ? da->da_cpus : NULL,
		.mc_ncpus = da->da_ncpus,
		.mc_nmbufs = da->da_nmbufs,
	};
	char err[DAEMON_ERRLEN];
	int error;

	error = machine_start(&mc, &da->da_ma, err, sizeof(err));
	if (error != 0)
		return (daemon_fail(daemon_status(error), "%s", err));
	return (0);
}

/* Before the file is run: its lines may ask for nodes. */
static int
daemon_serve_graph(struct daemon *da)
{
	char err[DAEMON_ERRLEN], path[DAEMON_ERRLEN];
	int error;

	error = rundir_socket(da->da_name, NGS_SOCKET, path, sizeof(path));
	if (error != 0)
		return (daemon_fail(EX_USAGE, "the run directory's name is "
		    "too long"));
	error = machine_serve_graph(da->da_ma, path, err, sizeof(err));
	if (error != 0)
		return (daemon_fail(daemon_status(error), "%s", err));
	return (0);
}

static int
daemon_start_server(struct daemon *da)
{
	char err[DAEMON_ERRLEN], path[DAEMON_ERRLEN];
	int error;

	error = ctl_socket_path(da->da_name, path, sizeof(path));
	if (error != 0)
		return (daemon_fail(EX_USAGE, "the run directory's name is "
		    "too long"));
	error = ctl_server_start(path, machine_commands, machine_ncommands,
	    da->da_ma, &da->da_server, err, sizeof(err));
	if (error != 0)
		return (daemon_fail(daemon_status(error), "%s", err));
	log_msg(LOG_INFO, "machine %s is ready, control socket %s",
	    da->da_name, path);
	return (0);
}

/*
 * The signals that end us, into set, and blocked.  A hangup that nohup(1) has
 * us ignore is not among them: blocked, it would be kept for sigwait().
 */
static void
daemon_signals(sigset_t *set)
{
	struct sigaction sa;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigemptyset(set);
	if (sigaction(SIGHUP, NULL, &sa) != 0 || sa.sa_handler != SIG_IGN)
		(void)sigaddset(set, SIGHUP);
	(void)sigaddset(set, SIGINT);
	(void)sigaddset(set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, set, NULL);
}

/* Until a signal says to end. */
static void
daemon_wait(const sigset_t *set)
{
	int error, sig;

	notify_ready();
	do {
		error = sigwait(set, &sig);
	} while (error == EINTR);
	log_msg(LOG_INFO, "%s: stopping", strsignal(sig));
	notify_stopping();
}

/* The machine, with the signals in set blocked for all but its file. */
static int
daemon_run(struct daemon *da, const sigset_t *set)
{
	int status;

	daemon_descriptors();
	status = daemon_start_machine(da);
	if (status != 0)
		return (status);
	status = daemon_serve_graph(da);
	if (status == 0) {
		(void)sigprocmask(SIG_UNBLOCK, set, NULL);
		status = daemon_file_run(da);
		(void)sigprocmask(SIG_BLOCK, set, NULL);
	}
	if (status == 0)
		status = daemon_start_server(da);
	if (status == 0) {
		daemon_wait(set);
		ctl_server_stop(da->da_server);
	}
	machine_stop(da->da_ma);
	return (status);
}

int
main(int argc, char **argv)
{
	struct daemon da = { .da_name = "M1", .da_lock = -1 };
	char err[DAEMON_ERRLEN], ident[64];
	int error, status;
	sigset_t set;

	error = stdfd_open(true);
	if (error != 0)
		return (daemon_status(error));
	status = daemon_options(&da, argc, argv);
	if (status == 0)
		status = daemon_file_open(&da);
	if (status != 0)
		return (status == -1 ? 0 : status);
	daemon_signals(&set);
	da.da_lock = ctl_machine_lock(da.da_name, &error, err, sizeof(err));
	if (da.da_lock == -1)
		return (daemon_fail(daemon_status(error), "%s", err));
	/* After the lock: who may not run needs no child. */
	if (privilege_can_ask()) {
		error = xdp_asker_start(privilege_asker);
		if (error != 0)
			log_msg(LOG_WARNING, "cannot start the child that "
			    "asks about XDP programs: %s", strerror(error));
	}
	error = privilege_reduce();
	if (error != 0) {
		status = daemon_fail(EX_OSERR, "cannot give up capabilities: "
		    "%s", strerror(error));
		goto unlock;
	}
	(void)snprintf(ident, sizeof(ident), "netepochd %s", da.da_name);
	error = log_start(ident);
	if (error != 0) {
		status = daemon_fail(EX_OSERR, "cannot start logging: %s",
		    strerror(error));
		goto unlock;
	}
	status = daemon_run(&da, &set);
	log_stop();
unlock:
	ctl_machine_unlock(da.da_name, da.da_lock);
	return (status);
}
