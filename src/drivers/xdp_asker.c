/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The child that asks what XDP programs are called: see the header.  One
 * request, a program's id, and one answer over a pair of sockets, under
 * asker_sx (x), which is taken after a configuration lock and before none.
 * The child has no other fd, so that neither locks nor pipes of its parent
 * live on in it, and ends when it reads that the parent has gone.
 */
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "drivers/xdp_asker.h"
#include "sys/lock.h"

#define	ASKER_TIMEOUT_S	5

static_assert(XDP_NAME_LEN == BPF_OBJ_NAME_LEN, "the kernel's");

struct asker_answer {
	int32_t		 aa_error;
	char		 aa_name[XDP_NAME_LEN];
};

static struct sx asker_sx;
static int	 asker_fd = -1;		/* (c) -1: no child was made */
static bool	 asker_lost;		/* (x) the child does not answer */

/* What needs the capability. */
static int
asker_do(uint32_t progid, char name[XDP_NAME_LEN])
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);
	int error, fd;

	fd = bpf_prog_get_fd_by_id(progid);
	if (fd < 0)
		return (-fd);
	error = -bpf_obj_get_info_by_fd(fd, &info, &len);
	close(fd);
	if (error == 0)
		snprintf(name, XDP_NAME_LEN, "%s", info.name);
	return (error);
}

/*
 * The child.
 */
static void __attribute__((noreturn))
asker_main(int fd, int (*confine)(void))
{
	struct asker_answer aa;
	uint32_t progid;
	ssize_t n;

	(void)prctl(PR_SET_NAME, "netepochd asker", 0, 0, 0);
	if (fd > 0)
		(void)close_range(0, (unsigned int)fd - 1, 0);
	(void)close_range((unsigned int)fd + 1, UINT_MAX, 0);
	libbpf_set_print(NULL);
	if (confine() != 0)
		_exit(1);
	for (;;) {
		n = recv(fd, &progid, sizeof(progid), 0);
		if (n == -1 && errno == EINTR)
			continue;
		if (n != (ssize_t)sizeof(progid))
			_exit(0);
		memset(&aa, 0, sizeof(aa));
		aa.aa_error = asker_do(progid, aa.aa_name);
		if (send(fd, &aa, sizeof(aa), MSG_NOSIGNAL) == -1)
			_exit(0);
	}
}

int
xdp_asker_start(int (*confine)(void))
{
	struct timeval limit = { .tv_sec = ASKER_TIMEOUT_S };
	int error = 0, fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == -1)
		return (errno);
	if (setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &limit,
	    sizeof(limit)) == -1) {
		error = errno;
		goto close_pair;
	}
	pid = fork();
	if (pid == -1) {
		error = errno;
		goto close_pair;
	}
	if (pid == 0)
		asker_main(fds[1], confine);
	close(fds[1]);
	sx_init(&asker_sx, "xdp asker");
	asker_fd = fds[0];
	return (0);
close_pair:
	close(fds[0]);
	close(fds[1]);
	return (error);
}

/*
 * The parent.
 */

/* Ask the child; false: there is none, or none any more. */
static bool
asker_child(uint32_t progid, struct asker_answer *aa)
{
	bool lost;

	if (asker_fd == -1)
		return (false);
	sx_xlock(&asker_sx);
	/* A late answer must not be taken for the next one's: no next one. */
	if (!asker_lost &&
	    (send(asker_fd, &progid, sizeof(progid), MSG_NOSIGNAL) !=
	    (ssize_t)sizeof(progid) ||
	    recv(asker_fd, aa, sizeof(*aa), 0) != (ssize_t)sizeof(*aa)))
		asker_lost = true;
	lost = asker_lost;
	sx_xunlock(&asker_sx);
	return (!lost);
}

int
xdp_asker_name(uint32_t progid, char name[XDP_NAME_LEN])
{
	struct asker_answer aa;

	if (!asker_child(progid, &aa))
		return (asker_do(progid, name));
	if (aa.aa_error == 0) {
		aa.aa_name[XDP_NAME_LEN - 1] = '\0';
		memcpy(name, aa.aa_name, XDP_NAME_LEN);
	}
	return (aa.aa_error);
}
