/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the library does when the machine is missing, dies in the middle,
 * answers nothing, too little or nonsense; errno after every call; signals;
 * threads; descriptors that must not leak.
 */
#include "libnetgraph/libnetgraph_test.h"

#include <sys/time.h>

#include <signal.h>

#define	THREADS		4
#define	ROUNDS		200

static int open_fds;			/* before the test */

/* ---- Making a node ---- */

static void
test_no_machine(void **state)
{
	char path[100];
	int cs = 77, ds = 78;

	/* Nobody there at all. */
	assert_int_equal(NgMkSockNode("n", &cs, &ds), -1);
	assert_int_equal(errno, EAFNOSUPPORT);
	/* A name that is not running, one that is none. */
	setenv("NETEPOCH_MACHINE", "M9", 1);
	assert_int_equal(NgMkSockNode("n", &cs, &ds), -1);
	assert_int_equal(errno, EAFNOSUPPORT);
	setenv("NETEPOCH_MACHINE", "M/9", 1);
	assert_int_equal(NgMkSockNode("n", &cs, &ds), -1);
	assert_int_equal(errno, EAFNOSUPPORT);
	unsetenv("NETEPOCH_MACHINE");
	/* A machine whose socket is there, but nobody listens. */
	test_machine_start();
	(void)close(test_listen);
	assert_int_equal(NgMkSockNode("n", &cs, &ds), -1);
	assert_int_equal(errno, EAFNOSUPPORT);
	/* One that has no netgraph. */
	test_path(NGS_SOCKET, path, sizeof(path));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(NgMkSockNode("n", &cs, &ds), -1);
	assert_int_equal(errno, EAFNOSUPPORT);
	assert_int_equal(mknod(path, S_IFREG | 0600, 0), 0);
	test_machine_stop();
	assert_int_equal(cs, 77);
	assert_int_equal(ds, 78);
}

static void
test_make(void **state)
{
	struct test_node tn = {
		.madelen = sizeof(struct ngs_made),
		.nfds = -1,
	};
	int cs = -1, ds = -1;

	test_machine_start();
	test_maker_start(&tn);
	assert_int_equal(NgMkSockNode("a name of more than 31 bytes, cut",
	    &cs, &ds), 0);
	test_maker_wait(&tn);
	assert_int_equal(tn.make.magic, NGS_MAKE_MAGIC);
	assert_int_equal(tn.make.version, NGS_VERSION);
	assert_int_equal(tn.make.flags, NGS_MAKE_DATA);
	assert_string_equal(tn.make.name, "a name of more than 31 bytes, c");
	assert_int_equal(fcntl(cs, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(ds, F_GETFD), FD_CLOEXEC);
	(void)close(cs);
	(void)close(ds);
	test_node_close(&tn);

	/* Without data, and without control but for making it. */
	test_maker_start(&tn);
	assert_int_equal(NgMkSockNode(NULL, &cs, NULL), 0);
	test_maker_wait(&tn);
	assert_int_equal(tn.make.flags, 0);
	assert_string_equal(tn.make.name, "");
	(void)close(cs);
	test_node_close(&tn);
	test_maker_start(&tn);
	assert_int_equal(NgMkSockNode(NULL, NULL, &ds), 0);
	test_maker_wait(&tn);
	assert_int_equal(read(tn.cs, &cs, sizeof(cs)), 0);
	(void)close(ds);
	test_node_close(&tn);
	test_machine_stop();
}

static void
test_make_errors(void **state)
{
	static const struct {
		size_t	 len;
		int	 error, nfds, want;
	} cases[] = {
		{ sizeof(struct ngs_made), EADDRINUSE, 0, EADDRINUSE },
		{ sizeof(struct ngs_made), EINVAL, 2, EINVAL },
		{ 0, 0, 0, ENETDOWN },
		{ 5, 0, 2, EBADMSG },
		{ sizeof(struct ngs_made), -5, 2, EBADMSG },
		{ sizeof(struct ngs_made), 0, 0, EBADMSG },
		{ sizeof(struct ngs_made), 0, 1, EBADMSG },
	};
	struct test_node tn;
	int cs, ds, fds;
	size_t i;

	test_machine_start();
	fds = test_open_fds();
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(&tn, 0, sizeof(tn));
		tn.madelen = cases[i].len;
		tn.made.error = cases[i].error;
		tn.nfds = cases[i].nfds;
		test_maker_start(&tn);
		assert_int_equal(NgMkSockNode("x", &cs, &ds), -1);
		assert_int_equal(errno, cases[i].want);
		test_maker_wait(&tn);
		test_node_close(&tn);
		assert_int_equal(test_open_fds(), fds);
	}
	/* More descriptors than were asked for are not kept. */
	memset(&tn, 0, sizeof(tn));
	tn.madelen = sizeof(tn.made);
	tn.nfds = 4;
	test_maker_start(&tn);
	if (NgMkSockNode("x", &cs, &ds) == 0) {
		(void)close(cs);
		(void)close(ds);
	}
	test_maker_wait(&tn);
	test_node_close(&tn);
	assert_int_equal(test_open_fds(), fds);
	test_machine_stop();
}

static void
test_bad_descriptor(void **state)
{
	unsigned char buf[4], *bufp;
	char hook[NG_HOOKSIZ], path[NG_PATHSIZ];
	struct ng_mesg mesg = { .header = { .version = NG_VERSION } }, *mp;

	assert_int_equal(NgSendMsg(-1, "x:", NGM_GENERIC_COOKIE, NGM_SHUTDOWN,
	    NULL, 0), -1);
	assert_int_equal(errno, EBADF);
	errno = 0;
	assert_int_equal(NgSendAsciiMsg(-1, "x:", "nodeinfo"), -1);
	assert_int_equal(errno, EBADF);
	errno = 0;
	assert_int_equal(NgSendReplyMsg(-1, "x:", &mesg, NULL, 0), -1);
	assert_int_equal(errno, EBADF);
	errno = 0;
	assert_int_equal(NgNameNode(-1, ".:", "n%d", 1), -1);
	assert_int_equal(errno, EBADF);
	errno = 0;
	assert_int_equal(NgRecvMsg(-1, &mesg, sizeof(mesg), path), -1);
	assert_int_equal(errno, EBADF);
	errno = 0;
	assert_int_equal(NgAllocRecvMsg(-1, &mp, path), -1);
	assert_int_equal(errno, EBADF);
	errno = 0;
	assert_int_equal(NgRecvAsciiMsg(-1, &mesg, sizeof(mesg), path), -1);
	assert_int_equal(errno, EBADF);
	errno = 0;
	assert_int_equal(NgAllocRecvAsciiMsg(-1, &mp, path), -1);
	assert_int_equal(errno, EBADF);
	errno = 0;
	assert_int_equal(NgSendData(-1, "a", buf, sizeof(buf)), -1);
	assert_int_equal(errno, EBADF);
	errno = 0;
	assert_int_equal(NgRecvData(-1, buf, sizeof(buf), hook), -1);
	assert_int_equal(errno, EBADF);
	errno = 0;
	assert_int_equal(NgAllocRecvData(-1, &bufp, hook), -1);
	assert_int_equal(errno, EBADF);
}

/* ---- Results of sends ---- */

/* What the machine does with n sends; each answer in turn. */
struct answer {
	int		 s;		/* where they come in */
	int		 n;
	const void	*buf;		/* the answer, NULL: only close */
	size_t		 len;
	_Alignas(8) char got[NGS_INLINE_MAX + 600]; /* the last one */
	size_t		 gotlen;
	int		 memfd;		/* of the last one, or -1 */
	atomic_int	*signals;	/* unless NULL, answer after two */
	pthread_t	 thread;
};

static void *
answerer(void *arg)
{
	struct answer *an = arg;
	int fds[2], i;

	for (i = 0; i < an->n; i++) {
		an->gotlen = test_recv(an->s, an->got, sizeof(an->got), fds);
		assert_int_not_equal(fds[0], -1);
		an->memfd = fds[1];
		while (an->signals != NULL && atomic_load(an->signals) < 2)
			(void)usleep(1000);
		if (an->buf != NULL)
			assert_int_equal(send(fds[0], an->buf, an->len,
			    MSG_NOSIGNAL), an->len);
		(void)close(fds[0]);
	}
	return (NULL);
}

static void
answer_start(struct answer *an, int s, const void *buf, size_t len)
{

	an->s = s;
	an->n = 1;
	an->buf = buf;
	an->len = len;
	an->signals = NULL;
	assert_int_equal(pthread_create(&an->thread, NULL, answerer, an), 0);
}

static void
answer_wait(struct answer *an)
{

	assert_int_equal(pthread_join(an->thread, NULL), 0);
}

static struct answer an;		/* too large for a stack */

static const struct ngs_result result_ok = { NGS_RESULT_MAGIC, 0 };

static void
test_results(void **state)
{
	const struct {
		struct ngs_result	 res;
		size_t			 len;
		int			 want;
	} cases[] = {
		{ { NGS_RESULT_MAGIC, 0 }, sizeof(struct ngs_result), 0 },
		{ { NGS_RESULT_MAGIC, ELOOP }, sizeof(struct ngs_result),
		    ELOOP },
		{ { NGS_RESULT_MAGIC, -1 }, sizeof(struct ngs_result),
		    EBADMSG },
		{ { NGS_RESULT_MAGIC + 1, 0 }, sizeof(struct ngs_result),
		    EBADMSG },
		{ { NGS_RESULT_MAGIC, 0 }, 4, EBADMSG },
		{ { 0, 0 }, 0, ENETDOWN },
	};
	const unsigned char data[5] = "abcd";
	struct test_node tn;
	int cs, ds, fds, rc;
	size_t i;

	test_machine_start();
	test_node_open(&tn, &cs, &ds);
	fds = test_open_fds();
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		answer_start(&an, tn.cs, cases[i].len > 0 ? &cases[i].res :
		    NULL, cases[i].len);
		errno = EDOM;
		rc = NgSendMsg(cs, "hub:", NGM_GENERIC_COOKIE, NGM_SHUTDOWN,
		    NULL, 0);
		assert_int_equal(errno, cases[i].want);
		assert_int_equal(rc == -1, cases[i].want != 0);
		answer_wait(&an);

		answer_start(&an, tn.ds, cases[i].len > 0 ? &cases[i].res :
		    NULL, cases[i].len);
		errno = EDOM;
		rc = NgSendData(ds, "a", data, sizeof(data));
		assert_int_equal(errno, cases[i].want == 0 ? EDOM :
		    cases[i].want);
		assert_int_equal(rc == -1, cases[i].want != 0);
		answer_wait(&an);
		assert_int_equal(test_open_fds(), fds);
	}
	/* The machine dies with a send in its queue, and then before one. */
	test_node_close(&tn);
	assert_int_equal(NgSendMsg(cs, "hub:", NGM_GENERIC_COOKIE,
	    NGM_SHUTDOWN, NULL, 0), -1);
	assert_int_equal(errno, ENOTCONN);
	assert_int_equal(NgSendData(ds, "a", data, sizeof(data)), -1);
	assert_int_equal(errno, ENOTCONN);
	(void)close(cs);
	(void)close(ds);
	test_machine_stop();
}

static void *
closer(void *arg)
{
	struct test_node *tn = arg;
	char c;

	/* Wait until the send is in the queue, and leave it there. */
	while (recv(tn->cs, &c, 1, MSG_PEEK) == -1 && errno == EINTR)
		continue;
	test_node_close(tn);
	return (NULL);
}

static void
test_dies_in_call(void **state)
{
	struct test_node tn;
	pthread_t td;
	int cs, ds;

	test_machine_start();
	test_node_open(&tn, &cs, &ds);
	assert_int_equal(pthread_create(&td, NULL, closer, &tn), 0);
	assert_int_equal(NgSendMsg(cs, "hub:", NGM_GENERIC_COOKIE,
	    NGM_NODEINFO, NULL, 0), -1);
	assert_int_equal(errno, ENETDOWN);
	assert_int_equal(pthread_join(td, NULL), 0);
	(void)close(cs);
	(void)close(ds);
	test_machine_stop();
}

/* What a send is made of, as the machine gets it. */
static void
test_send_contents(void **state)
{
	static char big[100000];
	const unsigned char data[5] = "abcd";
	char longpath[600], name[NG_NODESIZ];
	struct test_node tn;
	struct ngs_ctl ctl;
	struct ng_mesg mesg;
	int cs, ds, token;

	test_machine_start();
	test_node_open(&tn, &cs, &ds);
	answer_start(&an, tn.cs, &result_ok, sizeof(result_ok));
	assert_int_equal(NgNameNode(cs, "[1f]:a.b", "%s-%d",
	    "a name that is too long for nodes", 7), 0);
	assert_int_equal(errno, 0);
	answer_wait(&an);
	memcpy(&ctl, an.got, sizeof(ctl));
	assert_int_equal(ctl.magic, NGS_CTL_MAGIC);
	assert_int_equal(ctl.flags, NGS_CTL_REPLY);
	assert_int_equal(ctl.pathlen, 8);
	assert_int_equal(ctl.msglen, 56 + 32);
	assert_int_equal(an.gotlen, sizeof(ctl) + 8 + 56 + 32);
	assert_memory_equal(an.got + sizeof(ctl), "[1f]:a.b", 8);
	memcpy(&mesg, an.got + sizeof(ctl) + 8, sizeof(mesg));
	assert_int_equal(mesg.header.version, NG_VERSION);
	assert_int_equal(mesg.header.arglen, 32);
	assert_int_equal(mesg.header.cmd, NGM_NAME);
	assert_int_equal(mesg.header.flags, NGF_ORIG);
	assert_int_equal(mesg.header.typecookie, NGM_GENERIC_COOKIE);
	assert_string_equal((char *)mesg.header.cmdstr, "cmd4");
	memcpy(name, an.got + sizeof(ctl) + 8 + 56, sizeof(name));
	assert_string_equal(name, "a name that is too long for nod");

	/* Tokens follow each other; a path is cut; a large argument. */
	token = (int)mesg.header.token;
	memset(longpath, 'p', sizeof(longpath) - 1);
	longpath[sizeof(longpath) - 1] = '\0';
	memset(big, 'B', sizeof(big));
	answer_start(&an, tn.cs, &result_ok, sizeof(result_ok));
	assert_int_equal(NgSendMsg(cs, longpath, 5, 6, big, sizeof(big)),
	    token + 1);
	assert_int_equal(errno, 0);
	answer_wait(&an);
	memcpy(&ctl, an.got, sizeof(ctl));
	assert_int_equal(ctl.flags, NGS_CTL_REPLY | NGS_CTL_MEMFD);
	assert_int_equal(ctl.pathlen, NG_PATHSIZ - 1);
	assert_int_equal(ctl.msglen, 56 + sizeof(big));
	assert_int_equal(an.gotlen, sizeof(ctl) + NG_PATHSIZ - 1);
	assert_int_not_equal(an.memfd, -1);
	assert_int_equal(lseek(an.memfd, 0, SEEK_END), 56 + sizeof(big));
	assert_int_equal(pread(an.memfd, &mesg, 56, 0), 56);
	assert_int_equal(mesg.header.arglen, sizeof(big));
	assert_int_equal(mesg.header.token, token + 1);
	(void)close(an.memfd);
	assert_int_equal(NgSendMsg(cs, ".:", 5, 6, big, 17u << 20), -1);
	assert_int_equal(errno, EMSGSIZE);

	/* A reply has the header of the request. */
	mesg.header.cmd = 9;
	answer_start(&an, tn.cs, &result_ok, sizeof(result_ok));
	assert_int_equal(NgSendReplyMsg(cs, "[2]:", &mesg, "hi", 3), 0);
	assert_int_equal(errno, 0);
	answer_wait(&an);
	memcpy(&mesg, an.got + sizeof(ctl) + 4, sizeof(mesg));
	assert_int_equal(mesg.header.flags, NGF_RESP);
	assert_int_equal(mesg.header.token, token + 1);
	assert_int_equal(mesg.header.cmd, 9);
	assert_int_equal(mesg.header.arglen, 3);

	/* Data has the hook's name in front. */
	answer_start(&an, tn.ds, &result_ok, sizeof(result_ok));
	assert_int_equal(NgSendData(ds, NULL, data, sizeof(data)), 0);
	answer_wait(&an);
	assert_int_equal(an.gotlen, sizeof(struct ngs_data) + 5);
	assert_string_equal(an.got, "");
	answer_start(&an, tn.ds, &result_ok, sizeof(result_ok));
	assert_int_equal(NgSendData(ds, "left", data, sizeof(data)), 0);
	answer_wait(&an);
	assert_string_equal(an.got, "left");
	assert_memory_equal(an.got + sizeof(struct ngs_data), data, 5);
	assert_int_equal(NgSendData(ds, "a-hook-whose-name-is-as-long-as-32",
	    data, 1), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(NgSendData(ds, "a", (unsigned char *)big,
	    sizeof(big)), -1);
	assert_int_equal(errno, EMSGSIZE);
	assert_int_equal(NgSendMsg(cs, NULL, 5, 6, NULL, 0), -1);
	assert_int_equal(errno, EDESTADDRREQ);
	(void)close(cs);
	(void)close(ds);
	test_node_close(&tn);
	test_machine_stop();
}

/* ---- Signals, threads, non-blocking descriptors ---- */

static atomic_int signals;

static void
on_alarm(int sig)
{

	atomic_fetch_add(&signals, 1);
}

static void
test_signals(void **state)
{
	const struct itimerval every = { { 0, 2000 }, { 0, 2000 } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	struct sigaction sa = { .sa_handler = on_alarm };
	sigset_t alarm_only, before;
	struct test_node tn;
	int cs, ds;

	test_machine_start();
	test_node_open(&tn, &cs, &ds);
	/* The program's thread gets them, not the machine's. */
	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &alarm_only, &before), 0);
	an.s = tn.cs;
	an.n = 1;
	an.buf = &result_ok;
	an.len = sizeof(result_ok);
	an.signals = &signals;
	assert_int_equal(pthread_create(&an.thread, NULL, answerer, &an), 0);
	assert_int_equal(sigaction(SIGALRM, &sa, NULL), 0);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
	assert_true(NgSendMsg(cs, ".:", NGM_GENERIC_COOKIE, NGM_SHUTDOWN,
	    NULL, 0) >= 0);
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_int_equal(errno, 0);
	answer_wait(&an);
	(void)close(cs);
	(void)close(ds);
	test_node_close(&tn);
	test_machine_stop();
}

static int shared_cs, shared_ds;
static atomic_uchar token_seen[THREADS * ROUNDS];
static int token_first;

static void *
sender(void *arg)
{
	const unsigned char data[5] = "abcd";
	int i, token;

	for (i = 0; i < ROUNDS; i++) {
		token = NgSendMsg(shared_cs, ".:", 1, 2, "x", 1);
		assert_int_equal(errno, 0);
		assert_true(token >= token_first &&
		    token < token_first + THREADS * ROUNDS);
		assert_int_equal(atomic_fetch_add(
		    &token_seen[token - token_first], 1), 0);
		errno = EDOM;
		assert_int_equal(NgSendData(shared_ds, "a", data, 5), 0);
		assert_int_equal(errno, EDOM);
	}
	return (NULL);
}

static void
test_threads(void **state)
{
	static struct answer other;
	pthread_t td[THREADS];
	struct test_node tn;
	int cs, ds, i;

	test_machine_start();
	test_node_open(&tn, &cs, &ds);
	/* Non-blocking is for receiving: sends still get their results. */
	assert_int_equal(fcntl(cs, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(fcntl(ds, F_SETFL, O_NONBLOCK), 0);
	answer_start(&an, tn.cs, &result_ok, sizeof(result_ok));
	token_first = NgSendMsg(cs, ".:", 1, 2, NULL, 0) + 1;
	assert_true(token_first > 0);
	answer_wait(&an);
	shared_cs = cs;
	shared_ds = ds;
	an.n = other.n = THREADS * ROUNDS;
	other.s = tn.ds;
	other.buf = &result_ok;
	other.len = sizeof(result_ok);
	assert_int_equal(pthread_create(&an.thread, NULL, answerer, &an), 0);
	assert_int_equal(pthread_create(&other.thread, NULL, answerer,
	    &other), 0);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&td[i], NULL, sender, NULL),
		    0);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(td[i], NULL), 0);
	answer_wait(&an);
	answer_wait(&other);
	(void)close(cs);
	(void)close(ds);
	test_node_close(&tn);
	test_machine_stop();
}

/* ---- */

static int
setup(void **state)
{

	if (mkdtemp(test_dir) == NULL)
		return (-1);
	unsetenv("NETEPOCH_MACHINE");
	return (setenv("NETEPOCH_RUNDIR", test_dir, 1));
}

static int
teardown(void **state)
{

	return (rmdir(test_dir));
}

static int
count_fds(void **state)
{

	open_fds = test_open_fds();
	return (0);
}

static int
check_fds(void **state)
{

	return (test_open_fds() == open_fds ? 0 : -1);
}

#define	TEST(fn)							\
	cmocka_unit_test_setup_teardown(fn, count_fds, check_fds)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_no_machine),
		TEST(test_make),
		TEST(test_make_errors),
		TEST(test_bad_descriptor),
		TEST(test_results),
		TEST(test_dies_in_call),
		TEST(test_send_contents),
		TEST(test_signals),
		TEST(test_threads),
	};

	return (cmocka_run_group_tests(tests, setup, teardown));
}
