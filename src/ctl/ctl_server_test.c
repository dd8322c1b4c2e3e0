/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The server against clients as they are and as they should not be: half
 * messages, several in one write, lines too long, readers that do not read,
 * too many clients, clients that close in the middle; and its socket: mode,
 * stale, not a socket.
 */
#include "ctl/ctl_test.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <fcntl.h>

#include "ctl/ctl_private.h"
#include "sys/thread.h"

static char path[64];
static struct ctl_server *server;
static _Atomic int count;

static int
setup(void **state)
{
	char err[256];

	count = 0;
	(void)snprintf(path, sizeof(path), "%s/ctl", test_dir);
	return (ctl_server_start(path, test_commands, nitems(test_commands),
	    &count, &server, err, sizeof(err)));
}

static int
teardown(void **state)
{

	ctl_server_stop(server);
	/* Nothing stays behind. */
	return (access(path, F_OK) == -1 && errno == ENOENT ? 0 : -1);
}

static int
dial(void)
{
	const struct timeval tv = { .tv_sec = 20 };
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd;

	(void)snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_not_equal(fd, -1);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv,
	    sizeof(tv)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	return (fd);
}

static void
put(int fd, const char *text)
{

	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL),
	    strlen(text));
}

/* Read one line, byte by byte so that nothing of the next is taken. */
static void
get(int fd, char *line, size_t len)
{
	size_t n = 0;

	do {
		assert_true(n < len - 1);
		assert_int_equal(recv(fd, line + n, 1, 0), 1);
	} while (line[n++] != '\n');
	line[n - 1] = '\0';
}

static void
expect(int fd, const char *wanted)
{
	char line[512];

	get(fd, line, sizeof(line));
	assert_string_equal(line, wanted);
}

#define	COUNT	"{\"id\":1,\"cmd\":\"count\"}\n"

static void
expect_count(int fd, int n)
{
	char wanted[128];

	(void)snprintf(wanted, sizeof(wanted),
	    "{\"id\":1,\"ok\":true,\"result\":{\"count\":%d}}", n);
	expect(fd, wanted);
}

static void
expect_eof(int fd)
{
	char c;

	assert_int_equal(recv(fd, &c, 1, 0), 0);
}

static void
test_socket_mode(void **state)
{
	struct stat sb;

	assert_int_equal(stat(path, &sb), 0);
	assert_true(S_ISSOCK(sb.st_mode));
	assert_int_equal(sb.st_mode & 07777, 0660);
}

static void
test_one_by_one(void **state)
{
	int fd, i;

	fd = dial();
	for (i = 1; i <= 100; i++) {
		put(fd, COUNT);
		expect_count(fd, i);
	}
	(void)close(fd);
}

/* A request in pieces, a byte at a time. */
static void
test_half_messages(void **state)
{
	const char *p;
	int fd;

	fd = dial();
	for (p = COUNT; *p != '\0'; p++) {
		assert_int_equal(count, 0);
		assert_int_equal(send(fd, p, 1, MSG_NOSIGNAL), 1);
		if (p[1] == '\0')
			break;
		usleep(500);
	}
	expect_count(fd, 1);
	(void)close(fd);
}

/* Many requests in one write: all replies, in order. */
static void
test_pipeline(void **state)
{
	char buf[200 * sizeof(COUNT)];
	int fd, i;

	buf[0] = '\0';
	for (i = 0; i < 200; i++)
		(void)strcat(buf, COUNT);
	fd = dial();
	put(fd, buf);
	for (i = 1; i <= 200; i++)
		expect_count(fd, i);
	(void)close(fd);
}

/* Nonsense is answered, and the next request works. */
static void
test_nonsense(void **state)
{
	char line[512];
	int fd;

	fd = dial();
	put(fd, "nonsense\n\n" COUNT);
	get(fd, line, sizeof(line));
	assert_non_null(strstr(line, "\"ok\":false,\"errno\":22"));
	get(fd, line, sizeof(line));
	assert_non_null(strstr(line, "\"ok\":false,\"errno\":22"));
	expect_count(fd, 1);
	/* Bytes that are no text. */
	assert_int_equal(send(fd, "\0\xff\x80\n", 4, MSG_NOSIGNAL), 4);
	get(fd, line, sizeof(line));
	assert_non_null(strstr(line, "\"ok\":false,\"errno\":22"));
	put(fd, COUNT);
	expect_count(fd, 2);
	(void)close(fd);
}

/* The longest request works; one byte more is skipped with an error. */
static void
test_longest_request(void **state)
{
	static const char head[] = "{\"id\":1,\"cmd\":\"count\",\"args\":"
	    "{\"x\":\"", tail[] = "\"}}\n";
	char *line;
	int fd, over;

	line = malloc(CTL_REQUEST_MAX + 2);
	assert_non_null(line);
	fd = dial();
	for (over = 0; over <= 1; over++) {
		memset(line, 'x', CTL_REQUEST_MAX + 1);
		memcpy(line, head, sizeof(head) - 1);
		memcpy(line + CTL_REQUEST_MAX + over - (sizeof(tail) - 1),
		    tail, sizeof(tail));
		put(fd, line);
		if (over == 0)
			expect_count(fd, 1);
		else
			expect(fd, "{\"id\":null,\"ok\":false,\"errno\":90,"
			    "\"error\":\"the request is too long\"}");
	}
	put(fd, COUNT);
	expect_count(fd, 2);
	free(line);
	(void)close(fd);
}

/* Megabytes without a newline: skipped, and the client is in step again. */
static void
test_huge_line(void **state)
{
	char buf[10000];
	int fd, i;

	memset(buf, '{', sizeof(buf));
	fd = dial();
	for (i = 0; i < 800; i++)
		assert_int_equal(send(fd, buf, sizeof(buf), MSG_NOSIGNAL),
		    sizeof(buf));
	put(fd, "\n" COUNT);
	expect(fd, "{\"id\":null,\"ok\":false,\"errno\":90,"
	    "\"error\":\"the request is too long\"}");
	expect_count(fd, 1);
	(void)close(fd);
}

/*
 * A client that asks for much and reads nothing: the others are served, its
 * own next request is not worked on, and when it reads it gets everything.
 */
static void
test_slow_reader(void **state)
{
	static char buf[65536];
	size_t got = 0, len = 3000000;
	char line[256];
	int fast, i, slow;
	ssize_t n = 0;

	slow = dial();
	(void)snprintf(line, sizeof(line), "{\"id\":1,\"cmd\":\"echo\","
	    "\"args\":{\"text\":\"abc\",\"n\":%zu}}\n" COUNT, len / 3);
	put(slow, line);
	fast = dial();
	for (i = 1; i <= 50; i++) {
		put(fast, COUNT);
		expect_count(fast, i);
	}
	len += strlen("{\"id\":1,\"ok\":true,\"result\":{\"text\":\"\"}}\n");
	while (got < len) {
		n = recv(slow, buf, len - got < sizeof(buf) ? len - got :
		    sizeof(buf), 0);
		assert_true(n > 0);
		got += (size_t)n;
	}
	assert_int_equal(buf[n - 1], '\n');
	expect_count(slow, 51);
	(void)close(slow);
	(void)close(fast);
}

/* The reply is longer than a line may be. */
static void
test_long_reply(void **state)
{
	int fd;

	fd = dial();
	put(fd, "{\"id\":1,\"cmd\":\"echo\",\"args\":{\"text\":\"x\","
	    "\"n\":5000000}}\n" COUNT);
	expect(fd, "{\"id\":null,\"ok\":false,\"errno\":90,\"error\":"
	    "\"the reply is too long for a line: ask for less\"}");
	expect_count(fd, 1);
	(void)close(fd);
}

/* CTL_CLIENTS_MAX are served, the next is told why it is not. */
static void
test_many_clients(void **state)
{
	int fds[CTL_CLIENTS_MAX], extra, i;

	for (i = 0; i < CTL_CLIENTS_MAX; i++) {
		fds[i] = dial();
		put(fds[i], COUNT);
		expect_count(fds[i], i + 1);
	}
	extra = dial();
	expect(extra, "{\"id\":null,\"ok\":false,\"errno\":11,"
	    "\"error\":\"too many clients on this socket\"}");
	expect_eof(extra);
	(void)close(extra);

	/* The others still are, and a place that gets free is given away. */
	put(fds[7], COUNT);
	expect_count(fds[7], CTL_CLIENTS_MAX + 1);
	(void)close(fds[3]);
	put(fds[9], COUNT);
	expect_count(fds[9], CTL_CLIENTS_MAX + 2);
	fds[3] = dial();
	put(fds[3], COUNT);
	expect_count(fds[3], CTL_CLIENTS_MAX + 3);
	for (i = 0; i < CTL_CLIENTS_MAX; i++)
		(void)close(fds[i]);
}

/* Closing at every moment leaves the server whole. */
static void
test_close_in_the_middle(void **state)
{
	static const char request[] = "{\"id\":1,\"cmd\":\"echo\",\"args\":"
	    "{\"text\":\"abc\",\"n\":300000}}\n";
	size_t i;
	int fd;

	for (i = 0; i <= sizeof(request) - 1; i++) {
		fd = dial();
		assert_int_equal(send(fd, request, i, MSG_NOSIGNAL), i);
		(void)close(fd);
	}
	/* With the reply on its way. */
	for (i = 0; i < 20; i++) {
		char c;

		fd = dial();
		put(fd, request);
		assert_int_equal(recv(fd, &c, 1, 0), 1);
		(void)close(fd);
	}
	fd = dial();
	put(fd, COUNT);
	expect_count(fd, 1);
	(void)close(fd);
}

/* A client that has said all it wants still gets its replies, then the end. */
static void
test_half_close(void **state)
{
	int fd;

	fd = dial();
	put(fd, COUNT COUNT COUNT "{\"cmd\":\"cou");
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	expect_count(fd, 1);
	expect_count(fd, 2);
	expect_count(fd, 3);
	expect_eof(fd);
	assert_int_equal(count, 3);
	(void)close(fd);
}

/* Stopping with clients in every state. */
static void
test_stop_with_clients(void **state)
{
	char err[256];
	int fds[3];

	fds[0] = dial();
	put(fds[0], COUNT);
	expect_count(fds[0], 1);	/* it was accepted */
	fds[1] = dial();
	put(fds[1], "{\"half\":");
	fds[2] = dial();
	put(fds[2], "{\"id\":1,\"cmd\":\"echo\",\"args\":{\"text\":\"abc\","
	    "\"n\":300000}}\n");
	ctl_server_stop(server);
	expect_eof(fds[0]);
	assert_int_equal(ctl_server_start(path, test_commands,
	    nitems(test_commands), &count, &server, err, sizeof(err)), 0);
	(void)close(fds[0]);
	(void)close(fds[1]);
	(void)close(fds[2]);
}

/* Clients on many threads, each in order. */
#define	CALLERS	8
static void
caller(void *arg)
{
	char line[256], wanted[256];
	int fd, i;

	fd = dial();
	for (i = 0; i < 200; i++) {
		(void)snprintf(line, sizeof(line), "{\"id\":%d,\"cmd\":"
		    "\"echo\",\"args\":{\"text\":\"%p\"}}\n", i, arg);
		put(fd, line);
		(void)snprintf(wanted, sizeof(wanted), "{\"id\":%d,\"ok\":"
		    "true,\"result\":{\"text\":\"%p\"}}", i, arg);
		get(fd, line, sizeof(line));
		if (strcmp(line, wanted) != 0)
			ne_panic(__FILE__, __LINE__, "%s", line);
	}
	(void)close(fd);
}

static void
test_threads(void **state)
{
	struct thread *td[CALLERS];
	int i;

	for (i = 0; i < CALLERS; i++)
		assert_int_equal(thread_create(&td[i], "caller",
		    THREAD_ANY_CPU, caller, &td[i]), 0);
	for (i = 0; i < CALLERS; i++)
		thread_join(td[i]);
}

/* A client that leaves its reply unread for too long is cut off. */
static void
test_stalled_reader(void **state)
{
	static char buf[65536];
	size_t got = 0;
	uint64_t start;
	int fast, i, slow;
	ssize_t n;

	slow = dial();
	put(slow, "{\"id\":1,\"cmd\":\"echo\",\"args\":{\"text\":\"abc\","
	    "\"n\":1000000}}\n" COUNT);
	fast = dial();
	put(fast, COUNT);
	expect_count(fast, 1);		/* then the slow one's turn is over */
	start = time_ns();
	for (i = 2; time_ns() - start < 2 * ctl_stall_ns; i++) {
		usleep(20000);
		put(fast, COUNT);
		expect_count(fast, i);
	}
	/* The server has looked since. */
	for (int end = i + 2; i < end; i++) {
		put(fast, COUNT);
		expect_count(fast, i);
	}
	while ((n = recv(slow, buf, sizeof(buf), 0)) > 0)
		got += (size_t)n;
	assert_true(n == 0 || errno == ECONNRESET);
	assert_true(got < 3000000);
	/* What it asked for next was not worked on. */
	put(fast, COUNT);
	expect_count(fast, i);
	(void)close(slow);
	(void)close(fast);
}

static int
stall_setup(void **state)
{

	ctl_stall_ns = 200000000;
	return (setup(state));
}

static int
stall_teardown(void **state)
{

	int error;

	error = teardown(state);
	ctl_stall_ns = CTL_STALL_S * 1000000000ull;
	return (error);
}

/* Out of file descriptors: the next client waits, the others go on. */
static void
test_no_fds(void **state)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct rlimit few, rl;
	int fd, old;

	old = dial();
	put(old, COUNT);
	expect_count(old, 1);
	(void)snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_not_equal(fd, -1);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &rl), 0);
	few = rl;
	few.rlim_cur = (rlim_t)fd;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	put(fd, COUNT);
	put(old, COUNT);
	expect_count(old, 2);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &rl), 0);
	expect_count(fd, 3);
	(void)close(fd);
	(void)close(old);
}

/* ---- The socket itself ---- */

static void
test_stale_socket(void **state)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd;

	/* What a killed daemon leaves: a socket that nobody listens on. */
	(void)snprintf(path, sizeof(path), "%s/ctl", test_dir);
	(void)snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	(void)close(fd);
	assert_int_equal(setup(state), 0);
	fd = dial();
	put(fd, COUNT);
	expect_count(fd, 1);
	(void)close(fd);
	assert_int_equal(teardown(state), 0);
}

static void
test_not_a_socket(void **state)
{
	char err[256], want[300];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/ctl", test_dir);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_int_not_equal(fd, -1);
	(void)close(fd);
	assert_int_equal(ctl_server_start(path, test_commands,
	    nitems(test_commands), &count, &server, err, sizeof(err)),
	    EEXIST);
	(void)snprintf(want, sizeof(want), "%s is in the way and is no socket",
	    path);
	assert_string_equal(err, want);
	/* It is not ours to remove. */
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(unlink(path), 0);
}

static void
test_bad_paths(void **state)
{
	char err[256], longpath[200];

	memset(longpath, 'x', sizeof(longpath) - 1);
	longpath[sizeof(longpath) - 1] = '\0';
	assert_int_equal(ctl_server_start(longpath, test_commands,
	    nitems(test_commands), &count, &server, err, sizeof(err)),
	    ENAMETOOLONG);
	assert_non_null(strstr(err, "longer than a socket's path may be"));
	assert_int_equal(ctl_server_start("/nonexistent/ctl", test_commands,
	    nitems(test_commands), &count, &server, err, sizeof(err)),
	    ENOENT);
	assert_string_equal(err, "cannot listen on /nonexistent/ctl: "
	    "No such file or directory");
}

int
main(void)
{
#define	T(fn)	cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_socket_mode),
		T(test_one_by_one),
		T(test_half_messages),
		T(test_pipeline),
		T(test_nonsense),
		T(test_longest_request),
		T(test_huge_line),
		T(test_slow_reader),
		T(test_long_reply),
		T(test_many_clients),
		T(test_close_in_the_middle),
		T(test_half_close),
		T(test_stop_with_clients),
		T(test_threads),
		T(test_no_fds),
		cmocka_unit_test_setup_teardown(test_stalled_reader,
		    stall_setup, stall_teardown),
		cmocka_unit_test(test_stale_socket),
		cmocka_unit_test(test_not_a_socket),
		cmocka_unit_test(test_bad_paths),
	};
#undef T

	return (cmocka_run_group_tests(tests, test_rundir_setup,
	    test_rundir_teardown));
}
