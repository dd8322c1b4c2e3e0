/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * A machine's directory as the daemon makes it (sys/rundir.h says what is in
 * it), and the lock that says that the machine is alive.
 *
 * The lock is an open file description lock: it goes when its holder dies.  A
 * daemon that was killed leaves its files; the next one of its name takes
 * them over.
 *
 * No state in memory: any thread.
 */

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "ctl/ctl_private.h"
#include "sys/defs.h"
#include "sys/rundir.h"

#define	CTL_LOCK_TRIES	100		/* races with a daemon that ends */

void
ctl_err(char *err, size_t errlen, const char *fmt, ...)
{
	va_list ap;

	if (errlen == 0)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(err, errlen, fmt, ap);
	va_end(ap);
}

int
ctl_socket_path(const char *name, char *buf, size_t len)
{

	return (rundir_socket(name, "ctl", buf, len));
}

/* EACCES with err, unless the run directory is as rundir_check() wants it. */
int
ctl_rundir_check(const char *dir, char *err, size_t errlen)
{
	int error;

	error = rundir_check(dir);
	if (error != 0)
		ctl_err(err, errlen, "%s is not a directory of yours alone; "
		    "set XDG_RUNTIME_DIR or NETEPOCH_RUNDIR", dir);
	return (error);
}

/* Make dir unless it is there; the one in /tmp for its owner only. */
static int
ctl_mkdir(const char *dir, char *err, size_t errlen)
{
	mode_t mode;
	int error;

	mode = strncmp(dir, "/tmp/netepoch-", 14) == 0 ? 0700 : 0755;
	if (mkdir(dir, mode) == 0 || errno == EEXIST)
		return (0);
	error = errno;
	ctl_err(err, errlen, "cannot make the directory %s: %s", dir,
	    strerror(error));
	return (error);
}

/* Who holds the lock, for the error. */
static int
ctl_lock_taken(const char *name, int fd, char *err, size_t errlen)
{
	char pid[16] = "";
	ssize_t n;

	n = pread(fd, pid, sizeof(pid) - 1, 0);
	if (n < 0)
		n = 0;
	pid[n] = '\0';
	pid[strspn(pid, "0123456789")] = '\0';
	if (pid[0] != '\0')
		ctl_err(err, errlen, "machine %s is already running, pid %s",
		    name, pid);
	else
		ctl_err(err, errlen, "machine %s is already running", name);
	return (EEXIST);
}

/*
 * One attempt: EAGAIN if the file was removed by the daemon before us while
 * we were about to lock it.
 */
static int
ctl_lock_try(const char *name, const char *path, int *fdp, char *err,
    size_t errlen)
{
	struct flock fl = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct stat sb, sbfd;
	int error, fd;

	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW |
	    O_NONBLOCK, 0660);
	if (fd == -1) {
		error = errno;
		if (error == ENOENT)
			return (EAGAIN);	/* the directory went */
		ctl_err(err, errlen, "cannot open %s: %s", path,
		    strerror(error));
		return (error);
	}
	if (fcntl(fd, F_OFD_SETLK, &fl) != 0) {
		error = errno;
		if (error == EAGAIN || error == EACCES)
			error = ctl_lock_taken(name, fd, err, errlen);
		else
			ctl_err(err, errlen, "cannot lock %s: %s", path,
			    strerror(error));
		goto close_fd;
	}
	error = EAGAIN;
	if (fstat(fd, &sbfd) != 0 || stat(path, &sb) != 0 ||
	    sb.st_ino != sbfd.st_ino || sb.st_dev != sbfd.st_dev)
		goto close_fd;
	*fdp = fd;
	return (0);
close_fd:
	(void)close(fd);
	return (error);
}

static int
ctl_lock_write_pid(int fd, const char *path, char *err, size_t errlen)
{
	char pid[16];
	int error, n;

	n = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
	if (ftruncate(fd, 0) == 0 && pwrite(fd, pid, (size_t)n, 0) == n)
		return (0);
	error = errno != 0 ? errno : EIO;
	ctl_err(err, errlen, "cannot write %s: %s", path, strerror(error));
	return (error);
}

/* The directories, and then the file in them, locked. */
static int
ctl_machine_claim(const char *name, int *fdp, char *err, size_t errlen)
{
	char dir[PATH_MAX], path[PATH_MAX], run[PATH_MAX];
	int error, i;

	if (rundir_get(run, sizeof(run)) != 0 ||
	    rundir_path(name, NULL, dir, sizeof(dir)) != 0 ||
	    rundir_path(name, "lock", path, sizeof(path)) != 0) {
		ctl_err(err, errlen, "the run directory's name is too long");
		return (ENAMETOOLONG);
	}
	error = ctl_mkdir(run, err, errlen);
	if (error == 0)
		error = ctl_rundir_check(run, err, errlen);
	for (i = 0; error == 0 && i < CTL_LOCK_TRIES; i++) {
		error = ctl_mkdir(dir, err, errlen);
		if (error == 0)
			error = ctl_lock_try(name, path, fdp, err, errlen);
		if (error == 0)
			return (ctl_lock_write_pid(*fdp, path, err, errlen));
		if (error != EAGAIN)
			return (error);
		error = 0;
	}
	if (error == 0) {
		error = EAGAIN;
		ctl_err(err, errlen, "cannot lock %s: it keeps going away",
		    path);
	}
	return (error);
}

int
ctl_machine_lock(const char *name, int *error, char *err, size_t errlen)
{
	int fd = -1;

	if (!rundir_name_ok(name)) {
		*error = EINVAL;
		ctl_err(err, errlen, "machine name \"%s\": expected 1 to %d "
		    "of A-Z a-z 0-9 _ -", name, RUNDIR_NAMESIZ - 1);
		return (-1);
	}
	*error = ctl_machine_claim(name, &fd, err, errlen);
	if (*error != 0 && fd != -1) {
		ctl_machine_unlock(name, fd);
		fd = -1;
	}
	return (fd);
}

void
ctl_machine_unlock(const char *name, int fd)
{
	static const char *const files[] = { "ctl", "netgraph", "lock" };
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < nitems(files); i++)
		if (rundir_path(name, files[i], path, sizeof(path)) == 0)
			(void)unlink(path);
	if (rundir_path(name, NULL, path, sizeof(path)) == 0)
		(void)rmdir(path);
	(void)close(fd);		/* the lock goes with it */
}
