/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * The client: which machine it chooses and what it says when there is none,
 * several, a dead one or one that it may not use; calls, errors, and daemons
 * that answer with something else than a reply.
 */
#include "ctl/ctl_test.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <grp.h>

#include "ctl/ctl_private.h"
#include "sys/thread.h"

struct machine_of_test {
	const char	*name;
	int		 lock;
	struct ctl_server *server;
	_Atomic int	 count;
};

static void
machine_up(struct machine_of_test *ma, const char *name)
{
	char err[256], path[128];
	int error;

	ma->name = name;
	ma->count = 0;
	ma->lock = ctl_machine_lock(name, &error, err, sizeof(err));
	assert_int_not_equal(ma->lock, -1);
	assert_int_equal(ctl_socket_path(name, path, sizeof(path)), 0);
	assert_int_equal(ctl_server_start(path, test_commands,
	    nitems(test_commands), &ma->count, &ma->server, err,
	    sizeof(err)), 0);
}

static void
machine_down(struct machine_of_test *ma)
{

	ctl_server_stop(ma->server);
	ctl_machine_unlock(ma->name, ma->lock);
}

static void
expect_no_client(const char *machine, int wanted, const char *text)
{
	char err[256];
	int error = 0;

	assert_null(ctl_connect(machine, &error, err, sizeof(err)));
	assert_int_equal(error, wanted);
	assert_string_equal(err, text);
}

static void
test_none(void **state)
{

	expect_no_client(NULL, ENOENT, "no machine is running; start one with "
	    "netepochd -M NAME");
	expect_no_client("M9", ENOENT, "machine M9 is not running; start it "
	    "with netepochd -M M9");
	expect_no_client("a/b", EINVAL, "machine name \"a/b\": expected 1 to "
	    "31 of A-Z a-z 0-9 _ -");
	setenv("NETEPOCH_MACHINE", "x y", 1);
	expect_no_client(NULL, EINVAL, "NETEPOCH_MACHINE: machine name "
	    "\"x y\": expected 1 to 31 of A-Z a-z 0-9 _ -");
	unsetenv("NETEPOCH_MACHINE");
}

static void
test_choice(void **state)
{
	struct machine_of_test m1, m2;
	struct ctl_client *cl;
	char err[256];
	int error;

	machine_up(&m1, "M1");
	cl = ctl_connect(NULL, &error, err, sizeof(err));
	assert_non_null(cl);
	assert_string_equal(ctl_client_machine(cl), "M1");
	ctl_close(cl);
	expect_no_client("M9", ENOENT, "machine M9 is not running; running: "
	    "M1");

	machine_up(&m2, "M2");
	expect_no_client(NULL, ENOTUNIQ, "several machines run: M1 M2; choose "
	    "with -M");
	setenv("NETEPOCH_MACHINE", "M2", 1);
	cl = ctl_connect(NULL, &error, err, sizeof(err));
	assert_non_null(cl);
	assert_string_equal(ctl_client_machine(cl), "M2");
	ctl_close(cl);
	cl = ctl_connect("M1", &error, err, sizeof(err));
	assert_non_null(cl);
	assert_string_equal(ctl_client_machine(cl), "M1");
	ctl_close(cl);
	unsetenv("NETEPOCH_MACHINE");
	machine_down(&m2);
	machine_down(&m1);
}

/* The socket is there, nobody listens, nobody holds the lock. */
static void
test_dead_daemon(void **state)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char dir[64];
	int fd;

	(void)snprintf(dir, sizeof(dir), "%s/M1", test_dir);
	assert_int_equal(mkdir(dir, 0755), 0);
	(void)snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/ctl", dir);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	(void)close(fd);
	expect_no_client("M1", ENOENT, "machine M1 is not running; start it "
	    "with netepochd -M M1");
	expect_no_client(NULL, ENOENT, "no machine is running; start one with "
	    "netepochd -M NAME");
	assert_int_equal(unlink(sun.sun_path), 0);
	assert_int_equal(rmdir(dir), 0);
}

/* As nobody, in a process of its own: the path and the group are named. */
static void
test_no_permission(void **state)
{
	struct machine_of_test m1;
	char err[256], want[256];
	struct group *gr;
	int error, status;
	pid_t pid;

	if (geteuid() != 0)
		skip();
	machine_up(&m1, "M1");
	assert_int_equal(chmod(test_dir, 0755), 0);
	gr = getgrgid(getegid());
	assert_non_null(gr);
	(void)snprintf(want, sizeof(want), "no permission for %s/M1/ctl: it "
	    "is for the group %s", test_dir, gr->gr_name);
	pid = fork();
	assert_int_not_equal(pid, -1);
	if (pid == 0) {
		if (setgroups(0, NULL) != 0 || setgid(65534) != 0 ||
		    setuid(65534) != 0)
			_exit(2);
		if (ctl_connect(NULL, &error, err, sizeof(err)) != NULL)
			_exit(3);
		_exit(error == EACCES && strcmp(err, want) == 0 ? 0 : 4);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	machine_down(&m1);
}

/* The same calls through a socket and within the process. */
static void
calls(struct ctl_client *cl)
{
	struct ctl_error ce;
	json_t *result;
	int i;

	assert_int_equal(ctl_call(cl, "echo", json_pack("{ss}", "text",
	    "h\xc3\xa9llo\n"), &result, &ce), 0);
	assert_string_equal(json_string_value(json_object_get(result,
	    "text")), "h\xc3\xa9llo\n");
	json_decref(result);
	for (i = 1; i < 4; i++) {
		assert_int_equal(ctl_call(cl, "count", NULL, &result, &ce),
		    0);
		assert_int_equal(json_integer_value(json_object_get(result,
		    "count")), i);
		json_decref(result);
	}
	assert_int_equal(ctl_call(cl, "count", NULL, NULL, &ce), 0);

	assert_int_equal(ctl_call(cl, "fail", json_pack("{siss ss}", "errno",
	    EEXIST, "field", "name", "text", "interface x already exists"),
	    &result, &ce), EEXIST);
	assert_null(result);
	assert_int_equal(ce.ce_errno, EEXIST);
	assert_string_equal(ce.ce_text, "interface x already exists");
	assert_string_equal(ce.ce_field, "name");
	assert_int_equal(ctl_call(cl, "fail", json_pack("{si}", "errno",
	    ENOMEM), &result, &ce), ENOMEM);
	assert_string_equal(ce.ce_field, "");
	assert_int_equal(ctl_call(cl, "nope", NULL, &result, &ce),
	    EOPNOTSUPP);
	assert_string_equal(ce.ce_text, "unknown command \"nope\"");
	assert_string_equal(ce.ce_field, "cmd");
	/* And the connection is as good as before. */
	assert_int_equal(ctl_call(cl, "count", NULL, &result, &ce), 0);
	assert_int_equal(json_integer_value(json_object_get(result,
	    "count")), 5);
	json_decref(result);
}

static void
test_calls(void **state)
{
	struct machine_of_test m1;
	struct ctl_client *cl;
	struct ctl_error ce;
	json_t *result;
	char err[256];
	int error;

	machine_up(&m1, "M1");
	cl = ctl_connect(NULL, &error, err, sizeof(err));
	assert_non_null(cl);
	calls(cl);
	/* A reply of megabytes; one that is too long. */
	assert_int_equal(ctl_call(cl, "echo", json_pack("{sssi}", "text",
	    "0123456789", "n", 400000), &result, &ce), 0);
	assert_int_equal(json_string_length(json_object_get(result, "text")),
	    4000000);
	json_decref(result);
	assert_int_equal(ctl_call(cl, "echo", json_pack("{sssi}", "text",
	    "0123456789", "n", 500000), &result, &ce), EMSGSIZE);
	assert_int_equal(ctl_call(cl, "count", NULL, NULL, &ce), 0);
	ctl_close(cl);
	machine_down(&m1);
}

static void
test_local(void **state)
{
	struct ctl_client *cl;
	_Atomic int count = 0;

	cl = ctl_connect_local(test_commands, nitems(test_commands), &count);
	assert_non_null(cl);
	assert_string_equal(ctl_client_machine(cl), "");
	calls(cl);
	ctl_close(cl);
	ctl_close(NULL);
}

static void
test_gone(void **state)
{
	struct machine_of_test m1;
	struct ctl_client *cl;
	struct ctl_error ce;
	char err[256];
	int error;

	machine_up(&m1, "M1");
	cl = ctl_connect("M1", &error, err, sizeof(err));
	assert_non_null(cl);
	assert_int_equal(ctl_call(cl, "count", NULL, NULL, &ce), 0);
	machine_down(&m1);
	assert_int_equal(ctl_call(cl, "count", NULL, NULL, &ce), EPIPE);
	assert_string_equal(ce.ce_text, "machine M1 has gone");
	assert_int_equal(ctl_call(cl, "count", json_object(), NULL, &ce),
	    EPIPE);
	ctl_close(cl);
}

/* The 257th client gets the reason through ctl_call. */
static void
test_turned_away(void **state)
{
	struct ctl_client *cls[CTL_CLIENTS_MAX + 1];
	struct machine_of_test m1;
	struct ctl_error ce;
	char err[256];
	int error, i;

	machine_up(&m1, "M1");
	for (i = 0; i <= CTL_CLIENTS_MAX; i++) {
		cls[i] = ctl_connect("M1", &error, err, sizeof(err));
		assert_non_null(cls[i]);
		error = ctl_call(cls[i], "count", NULL, NULL, &ce);
		assert_int_equal(error, i < CTL_CLIENTS_MAX ? 0 : EAGAIN);
	}
	assert_string_equal(ce.ce_text, "too many clients on this socket");
	for (i = 0; i <= CTL_CLIENTS_MAX; i++)
		ctl_close(cls[i]);
	machine_down(&m1);
}

/* ---- A daemon that is none ---- */

static const char *const bad_replies[] = {
	"nonsense\n",
	"[]\n",
	"{}\n",
	"{\"id\":1,\"ok\":true}\n",
	"{\"id\":1,\"ok\":true,\"result\":5}\n",
	"{\"id\":2,\"ok\":true,\"result\":{}}\n",
	"{\"id\":\"1\",\"ok\":true,\"result\":{}}\n",
	"{\"id\":1,\"ok\":1,\"result\":{}}\n",
	"{\"id\":1,\"ok\":false}\n",
	"{\"id\":1,\"ok\":false,\"errno\":0,\"error\":\"x\"}\n",
	"{\"id\":1,\"ok\":false,\"errno\":1,\"error\":5}\n",
	"{\"id\":1,\"ok\":false,\"errno\":1,\"error\":\"x\",\"field\":5}\n",
	"{\"id\":2,\"ok\":false,\"errno\":1,\"error\":\"x\"}\n",
	"{\"id\":1,\"id\":1,\"ok\":true,\"result\":{}}\n",
	/* Two replies to one request. */
	"{\"id\":1,\"ok\":true,\"result\":{}}\n{}\n",
};

/* Takes a client, waits for its request, says what it has to say. */
static void
impostor(void *arg)
{
	char buf[512];
	const char *text;
	size_t i;
	int fd, lfd = *(int *)arg;

	for (i = 0; i < nitems(bad_replies); i++) {
		text = bad_replies[i];
		fd = accept(lfd, NULL, NULL);
		if (fd == -1 || recv(fd, buf, sizeof(buf), 0) <= 0 ||
		    send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
			ne_panic(__FILE__, __LINE__, "impostor");
		(void)close(fd);
	}
	/* At last half a reply, and the end. */
	fd = accept(lfd, NULL, NULL);
	if (fd == -1 || recv(fd, buf, sizeof(buf), 0) <= 0 ||
	    send(fd, "{\"id\":1,", 8, MSG_NOSIGNAL) < 0)
		ne_panic(__FILE__, __LINE__, "impostor");
	(void)close(fd);
}

static void
test_impostor(void **state)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct ctl_client *cl;
	struct ctl_error ce;
	struct thread *td;
	json_t *result;
	char dir[64], err[256];
	size_t i;
	int error, fd;

	(void)snprintf(dir, sizeof(dir), "%s/M1", test_dir);
	assert_int_equal(mkdir(dir, 0755), 0);
	(void)snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/ctl", dir);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	assert_int_equal(listen(fd, 5), 0);
	assert_int_equal(thread_create(&td, "impostor", THREAD_ANY_CPU,
	    impostor, &fd), 0);
	for (i = 0; i <= nitems(bad_replies); i++) {
		cl = ctl_connect("M1", &error, err, sizeof(err));
		assert_non_null(cl);
		error = i < nitems(bad_replies) ? EPROTO : EPIPE;
		assert_int_equal(ctl_call(cl, "count", NULL, &result, &ce),
		    error);
		assert_null(result);
		assert_int_equal(ce.ce_errno, error);
		/* Nothing more is to be had from it. */
		assert_int_equal(ctl_call(cl, "count", NULL, &result, &ce),
		    error);
		ctl_close(cl);
	}
	thread_join(td);
	(void)close(fd);
	assert_int_equal(unlink(sun.sun_path), 0);
	assert_int_equal(rmdir(dir), 0);
}

/* A daemon that takes requests and says nothing. */
static void
test_silence(void **state)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct ctl_client *cl;
	struct ctl_error ce;
	char dir[64], err[256];
	int error, fd;

	(void)snprintf(dir, sizeof(dir), "%s/M1", test_dir);
	assert_int_equal(mkdir(dir, 0755), 0);
	(void)snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/ctl", dir);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	assert_int_equal(listen(fd, 5), 0);
	ctl_call_ns = 50000000;
	cl = ctl_connect("M1", &error, err, sizeof(err));
	ctl_call_ns = CTL_CALL_S * 1000000000ull;
	assert_non_null(cl);
	assert_int_equal(ctl_call(cl, "count", NULL, NULL, &ce), ETIMEDOUT);
	assert_string_equal(ce.ce_text, "machine M1 does not answer");
	assert_int_equal(ctl_call(cl, "count", NULL, NULL, &ce), ETIMEDOUT);
	ctl_close(cl);
	(void)close(fd);
	assert_int_equal(unlink(sun.sun_path), 0);
	assert_int_equal(rmdir(dir), 0);
}

/* Text that JSON cannot carry is the caller's error, not the daemon's. */
static void
test_bad_text(void **state)
{
	struct ctl_client *cl;
	struct ctl_error ce;
	_Atomic int count = 0;

	cl = ctl_connect_local(test_commands, nitems(test_commands), &count);
	assert_non_null(cl);
	assert_int_equal(ctl_call(cl, "h\xff", NULL, NULL, &ce), EINVAL);
	assert_int_equal(ctl_call(cl, "count", NULL, NULL, &ce), 0);
	ctl_close(cl);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_dead_daemon),
		cmocka_unit_test(test_no_permission),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_local),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_turned_away),
		cmocka_unit_test(test_impostor),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_bad_text),
	};

	return (cmocka_run_group_tests(tests, test_rundir_setup,
	    test_rundir_teardown));
}
