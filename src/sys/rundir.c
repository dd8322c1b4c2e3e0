/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The run directory as those see it who look for a machine.  Making and
 * locking a machine's directory is the daemon's part (ctl/ctl_run.c).
 *
 * The lock is an open file description lock: it goes when its holder dies,
 * and a reader can ask for it without taking it, so that listing machines
 * never gets in the way of one that starts.
 *
 * No state in memory: any thread.  Nothing of the project is needed to link
 * it, so that libnetgraph can have it.
 */

#include <sys/stat.h>
#include <sys/un.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/rundir.h"

bool
rundir_name_ok(const char *name)
{
	size_t len;

	len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789_-");
	return (len > 0 && len < RUNDIR_NAMESIZ && name[len] == '\0');
}

/* A variable of the environment; NULL if it is not set, or empty. */
static const char *
rundir_env(const char *name)
{
	const char *val;

	val = getenv(name);
	return (val != NULL && val[0] != '\0' ? val : NULL);
}

int
rundir_get(char *buf, size_t len)
{
	const char *env;
	int n;

	if ((env = rundir_env("NETEPOCH_RUNDIR")) != NULL)
		n = snprintf(buf, len, "%s", env);
	else if (geteuid() == 0)
		n = snprintf(buf, len, "/run/netepoch");
	else if ((env = rundir_env("XDG_RUNTIME_DIR")) != NULL)
		n = snprintf(buf, len, "%s/netepoch", env);
	else
		n = snprintf(buf, len, "/tmp/netepoch-%u",
		    (unsigned int)geteuid());
	return (n < 0 || (size_t)n >= len ? ENAMETOOLONG : 0);
}

/* The place in /tmp is anybody's to make: it must be ours. */
int
rundir_check(const char *dir)
{
	struct stat sb;

	if (rundir_env("NETEPOCH_RUNDIR") != NULL || geteuid() == 0 ||
	    rundir_env("XDG_RUNTIME_DIR") != NULL)
		return (0);
	if (lstat(dir, &sb) != 0)
		return (0);
	if (S_ISDIR(sb.st_mode) && sb.st_uid == geteuid() &&
	    (sb.st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return (0);
	return (EACCES);
}

int
rundir_path(const char *name, const char *file, char *buf, size_t len)
{
	char dir[PATH_MAX];
	int error, n;

	if (!rundir_name_ok(name))
		return (EINVAL);
	error = rundir_get(dir, sizeof(dir));
	if (error != 0)
		return (error);
	if (file != NULL)
		n = snprintf(buf, len, "%s/%s/%s", dir, name, file);
	else
		n = snprintf(buf, len, "%s/%s", dir, name);
	return (n < 0 || (size_t)n >= len ? ENAMETOOLONG : 0);
}

int
rundir_socket(const char *name, const char *file, char *buf, size_t len)
{
	struct sockaddr_un sun;
	int error;

	error = rundir_path(name, file, buf, len);
	if (error == 0 && strlen(buf) >= sizeof(sun.sun_path))
		error = ENAMETOOLONG;
	return (error);
}

/* Does somebody hold the machine's lock? */
static bool
rundir_alive(const char *name)
{
	struct flock fl = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	char path[PATH_MAX];
	bool alive;
	int fd;

	if (rundir_path(name, "lock", path, sizeof(path)) != 0)
		return (false);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd == -1)
		return (errno == EACCES);
	alive = fcntl(fd, F_OFD_GETLK, &fl) == 0 && fl.l_type != F_UNLCK;
	(void)close(fd);
	return (alive);
}

static int
rundir_name_cmp(const void *a, const void *b)
{

	return (strcmp(a, b));
}

int
rundir_machines(char (*names)[RUNDIR_NAMESIZ], int max)
{
	char dir[PATH_MAX];
	struct dirent *de;
	DIR *d;
	int n = 0;

	if (rundir_get(dir, sizeof(dir)) != 0)
		return (0);
	d = opendir(dir);
	if (d == NULL)
		return (0);
	while (n < max && (de = readdir(d)) != NULL) {
		if (!rundir_name_ok(de->d_name) || !rundir_alive(de->d_name))
			continue;
		(void)snprintf(names[n], RUNDIR_NAMESIZ, "%.*s",
		    RUNDIR_NAMESIZ - 1, de->d_name);
		n++;
	}
	(void)closedir(d);
	qsort(names, (size_t)n, sizeof(names[0]), rundir_name_cmp);
	return (n);
}

int
rundir_choose(const char *machine, char *name)
{
	char names[2][RUNDIR_NAMESIZ];

	if (machine == NULL)
		machine = rundir_env("NETEPOCH_MACHINE");
	if (machine == NULL) {
		switch (rundir_machines(names, 2)) {
		case 0:
			return (ENOENT);
		case 1:
			memcpy(name, names[0], RUNDIR_NAMESIZ);
			return (0);
		default:
			return (ENOTUNIQ);
		}
	}
	if (!rundir_name_ok(machine))
		return (EINVAL);
	(void)snprintf(name, RUNDIR_NAMESIZ, "%s", machine);
	return (0);
}
