/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * What the library makes of messages and packets, whole and broken ones, of
 * conversions to and from text, and what it says about them.
 */
#include "libnetgraph/libnetgraph_test.h"

#define	BIG		(100 << 10)	/* more than fits a packet */

static struct test_node node;
static int cs, ds;			/* the program's ends */

/* ---- Messages ---- */

/* A message with arglen bytes of argument behind a header that says so. */
static size_t
make_mesg(struct ng_mesg *mesg, uint32_t cmd, uint32_t arglen)
{

	memset(mesg, 0, sizeof(*mesg));
	mesg->header.version = NG_VERSION;
	mesg->header.typecookie = NGM_GENERIC_COOKIE;
	mesg->header.cmd = cmd;
	mesg->header.flags = NGF_RESP;
	mesg->header.arglen = arglen;
	memset(mesg->data, 'd', arglen);
	return (sizeof(*mesg) + arglen);
}

static union {
	struct ng_mesg	mesg;
	char		room[sizeof(struct ng_mesg) + BIG + 1];
} out, in;

/* To the program: ctl, path and len bytes of the message in out. */
static void
send_packet(const struct ngs_ctl *ctl, const char *path, size_t len, int fd)
{
	static char buf[sizeof(struct ngs_ctl) + NGS_PATHSIZ + NGS_INLINE_MAX];
	size_t off = sizeof(*ctl);

	memcpy(buf, ctl, sizeof(*ctl));
	memcpy(buf + off, path, strlen(path));
	off += strlen(path);
	memcpy(buf + off, &out, len);
	test_send(node.cs, buf, off + len, &fd, fd != -1 ? 1 : 0);
}

static void
send_mesg(const char *path, size_t len)
{
	struct ngs_ctl ctl = {
		.magic = NGS_CTL_MAGIC,
		.pathlen = (uint32_t)strlen(path),
		.msglen = (uint32_t)len,
	};

	if (len <= NGS_INLINE_MAX) {
		send_packet(&ctl, path, len, -1);
		return;
	}
	ctl.flags = NGS_CTL_MEMFD;
	send_packet(&ctl, path, 0, test_memfd(&out, len));
}

static void
test_messages(void **state)
{
	static const uint32_t sizes[] = { 0, 1, 40, 65480, 65481, BIG };
	char path[NG_PATHSIZ];
	struct ng_mesg *mp;
	size_t i, len;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		len = make_mesg(&out.mesg, 77, sizes[i]);
		send_mesg("[1a]:", len);
		errno = EDOM;
		assert_int_equal(NgRecvMsg(cs, &in.mesg, sizeof(in), path),
		    len);
		assert_int_equal(errno, EDOM);
		assert_string_equal(path, "[1a]:");
		assert_memory_equal(&in, &out, len);

		send_mesg("", len);
		assert_int_equal(NgAllocRecvMsg(cs, &mp, path), len);
		assert_int_equal(errno, EDOM);
		assert_string_equal(path, "");
		assert_memory_equal(mp, &out, len);
		assert_int_equal(((char *)mp)[len], 0);
		free(mp);

		/* A longer one is cut; nobody wants the path. */
		send_mesg("[2]:", len);
		memset(&in, 'x', sizeof(in));
		assert_int_equal(NgRecvMsg(cs, &in.mesg, 50, NULL), 50);
		assert_memory_equal(&in, &out, 50);
		assert_int_equal(in.room[50], 'x');
		send_mesg("[2]:", len);
		assert_int_equal(NgAllocRecvMsg(cs, &mp, NULL), len);
		free(mp);
	}
}

static void
test_broken_messages(void **state)
{
	static const struct {
		uint32_t magic, flags, pathlen, msglen;
		uint32_t arglen;	/* what the header says */
		size_t	 len;		/* bytes that are sent */
		int	 fdlen;		/* bytes in the file; -1: none */
	} cases[] = {
		{ 1, 0, 4, 60, 4, 60, -1 },		/* no magic */
		{ NGS_CTL_MAGIC, 0, 4, 60, 4, 59, -1 },	/* too short */
		{ NGS_CTL_MAGIC, 0, 4, 60, 4, 61, -1 },	/* too long */
		{ NGS_CTL_MAGIC, 0, 4, 60, 5, 60, -1 },	/* arglen */
		{ NGS_CTL_MAGIC, 0, 4, 60, UINT32_MAX, 60, -1 },
		{ NGS_CTL_MAGIC, 0, 4, 55, 0, 55, -1 },	/* no header */
		{ NGS_CTL_MAGIC, 0, 4, UINT32_MAX, 0, 60, -1 },
		{ NGS_CTL_MAGIC, 0, 512, 60, 4, 60, -1 },
		{ NGS_CTL_MAGIC, 0, UINT32_MAX, 60, 4, 60, -1 },
		{ NGS_CTL_MAGIC, 0, 65, 60, 4, 60, -1 },
		{ NGS_CTL_MAGIC, NGS_CTL_MEMFD, 4, 60, 4, 0, -1 },
		{ NGS_CTL_MAGIC, NGS_CTL_MEMFD, 4, 60, 4, 0, 59 },
		{ NGS_CTL_MAGIC, NGS_CTL_MEMFD, 4, 60, 5, 0, 60 },
		{ NGS_CTL_MAGIC, NGS_CTL_MEMFD, 4, NGS_MESG_MAX + 1, 4, 0,
		    60 },
	};
	struct ngs_ctl ctl;
	char path[NG_PATHSIZ];
	struct ng_mesg *mp;
	int fd, fds = test_open_fds();
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		(void)make_mesg(&out.mesg, 77, 100);
		out.mesg.header.arglen = cases[i].arglen;
		ctl = (struct ngs_ctl){ cases[i].magic, cases[i].flags,
		    cases[i].pathlen, cases[i].msglen };
		fd = cases[i].fdlen != -1 ?
		    test_memfd(&out, (size_t)cases[i].fdlen) : -1;
		send_packet(&ctl, "[1]:", cases[i].len, fd);
		assert_int_equal(NgAllocRecvMsg(cs, &mp, path), -1);
		assert_int_equal(errno, EBADMSG);
		assert_null(mp);
		assert_int_equal(test_open_fds(), fds);
	}
	/* Not even its own header. */
	test_send(node.cs, &ctl, 7, NULL, 0);
	assert_int_equal(NgRecvMsg(cs, &in.mesg, sizeof(in), path), -1);
	assert_int_equal(errno, EBADMSG);
	/* Descriptors that nobody asked for. */
	fd = test_memfd("x", 1);
	(void)make_mesg(&out.mesg, 77, 0);
	ctl = (struct ngs_ctl){ NGS_CTL_MAGIC, 0, 4, 56 };
	send_packet(&ctl, "[1]:", 56, fd);
	assert_int_equal(NgRecvMsg(cs, &in.mesg, sizeof(in), path), 56);
	assert_int_equal(test_open_fds(), fds);
	/* Nothing there, for a program that does not wait. */
	assert_int_equal(fcntl(cs, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(NgRecvMsg(cs, &in.mesg, sizeof(in), path), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(fcntl(cs, F_SETFL, 0), 0);
}

/* ---- Packets ---- */

static void
send_data(const void *buf, size_t len, const char *hook, size_t hooklen)
{
	int fd = hook != NULL ? test_memfd(hook, hooklen) : -1;

	test_send(node.ds, buf, len, &fd, fd != -1 ? 1 : 0);
}

static void
test_data(void **state)
{
	static const char full[NG_HOOKSIZ + 8] =
	    "0123456789012345678901234567890123456789";
	static const char left[NG_HOOKSIZ] = "left";
	unsigned char buf[100], *bp;
	char hook[NG_HOOKSIZ + 1];
	int fds = test_open_fds();

	hook[NG_HOOKSIZ] = 'x';
	send_data("abcde", 5, left, sizeof(left));
	errno = EDOM;
	assert_int_equal(NgRecvData(ds, buf, sizeof(buf), hook), 5);
	assert_memory_equal(buf, "abcde", 5);
	assert_string_equal(hook, "left");
	send_data("abcde", 5, "left", 4);
	assert_int_equal(NgAllocRecvData(ds, &bp, hook), 5);
	assert_memory_equal(bp, "abcde", 5);
	assert_string_equal(hook, "left");
	free(bp);
	/* Cut to the room that there is; no hook wanted. */
	send_data("abcde", 5, "left", 4);
	buf[3] = 'x';
	assert_int_equal(NgRecvData(ds, buf, 3, NULL), 3);
	assert_memory_equal(buf, "abcx", 4);
	/* Hooks: none, without an end, empty. */
	send_data("a", 1, NULL, 0);
	assert_int_equal(NgRecvData(ds, buf, sizeof(buf), hook), 1);
	assert_string_equal(hook, "");
	send_data("a", 1, full, sizeof(full));
	assert_int_equal(NgRecvData(ds, buf, sizeof(buf), hook), 1);
	assert_memory_equal(hook, full, NG_HOOKSIZ - 1);
	assert_int_equal(hook[NG_HOOKSIZ - 1], '\0');
	assert_int_equal(hook[NG_HOOKSIZ], 'x');
	send_data("a", 1, "", 0);
	assert_int_equal(NgRecvData(ds, buf, sizeof(buf), hook), 1);
	assert_string_equal(hook, "");
	/* A program's own recv(2) gets the packet alone. */
	send_data("abcde", 5, "left", 4);
	assert_int_equal(recv(ds, buf, sizeof(buf), 0), 5);
	/* An empty packet has a hook; the end has not. */
	send_data("", 0, "left", 4);
	assert_int_equal(NgAllocRecvData(ds, &bp, hook), 0);
	assert_null(bp);
	assert_string_equal(hook, "left");
	assert_int_equal(errno, EDOM);
	assert_int_equal(test_open_fds(), fds);
}

static void
test_end(void **state)
{
	unsigned char buf[4];
	char hook[NG_HOOKSIZ] = "x";

	/* A send that was never read resets us; what came before is kept. */
	assert_int_equal(send(ds, "z", 1, 0), 1);
	assert_int_equal(send(cs, "z", 1, 0), 1);
	send_data("last", 4, "left", 4);
	send_mesg("[1]:", make_mesg(&out.mesg, 77, 0));
	test_node_close(&node);
	errno = EDOM;
	assert_int_equal(NgRecvData(ds, buf, sizeof(buf), hook), 4);
	assert_string_equal(hook, "left");
	assert_int_equal(NgRecvData(ds, buf, sizeof(buf), hook), 0);
	assert_int_equal(errno, EDOM);
	assert_string_equal(hook, "");
	assert_int_equal(NgRecvMsg(cs, &in.mesg, sizeof(in), NULL), 56);
	assert_int_equal(NgRecvMsg(cs, &in.mesg, sizeof(in), NULL), -1);
	assert_int_equal(errno, ENOTCONN);
}

/* ---- Text ---- */

/* How the machine converts: badly, in most ways that there are. */
enum convert { CV_RIGHT, CV_ERROR, CV_STRANGER, CV_TOKEN, CV_SHORT, CV_LONG,
	CV_NOT_TEXT, CV_EMPTY };

struct converter {
	enum convert	 how;
	int		 sends;		/* how many it gets */
	char		 text[64];	/* what a command came with */
	struct ng_msghdr last;		/* of the last send */
	pthread_t	 thread;
};

/* The answer to a conversion: inner is at out.mesg.data. */
static void
convert_reply(const struct ng_mesg *ask, enum convert how)
{
	struct ng_mesg *inner = (struct ng_mesg *)(void *)out.mesg.data;
	const char *text = ask->header.cmd == NGM_ASCII2BINARY ? "BINARY" :
	    "{ n=5 }";

	out.mesg.header = ask->header;
	out.mesg.header.flags = NGF_RESP;
	memcpy(inner, ask->data, sizeof(*inner));
	inner->header.typecookie = 4711;
	inner->header.cmd = 12;
	inner->header.arglen = (uint32_t)strlen(text) + 1;
	memcpy(inner->data, text, strlen(text) + 1);
	if (how == CV_NOT_TEXT)
		inner->data[strlen(text)] = 'x';
	if (how == CV_EMPTY)
		inner->header.arglen = 0;
	out.mesg.header.arglen = (uint32_t)sizeof(*inner) +
	    inner->header.arglen;
	if (how == CV_TOKEN)
		out.mesg.header.token++;
	if (how == CV_SHORT)
		out.mesg.header.arglen = sizeof(*inner) - 1;
	if (how == CV_LONG)
		inner->header.arglen++;
	if (how == CV_STRANGER)
		(void)make_mesg(&out.mesg, NGM_SHUTDOWN, 80);
	send_mesg("[5]:", sizeof(struct ng_mesg) + out.mesg.header.arglen);
}

static void *
converter(void *arg)
{
	static _Alignas(8) char buf[4096], mesg[4096];
	struct converter *cv = arg;
	struct ngs_result res = { NGS_RESULT_MAGIC, 0 };
	struct ng_mesg *ask = (struct ng_mesg *)(void *)mesg;
	struct ngs_ctl ctl;
	int fds[2], i;

	for (i = 0; i < cv->sends; i++) {
		(void)test_recv(node.cs, buf, sizeof(buf), fds);
		memcpy(&ctl, buf, sizeof(ctl));
		memcpy(mesg, buf + sizeof(ctl) + ctl.pathlen, ctl.msglen);
		cv->last = ask->header;
		if (ask->header.cmd == NGM_ASCII2BINARY) {
			(void)snprintf(cv->text, sizeof(cv->text),
			    "%.31s|%.30s",
			    ask->data + offsetof(struct ng_msghdr, cmdstr),
			    ask->data + sizeof(struct ng_mesg));
		}
		res.error = cv->how == CV_ERROR ? ENOSYS : 0;
		if (cv->how != CV_ERROR &&
		    (ask->header.cmd & NGM_HASREPLY) != 0)
			convert_reply(ask, cv->how);
		assert_int_equal(send(fds[0], &res, sizeof(res),
		    MSG_NOSIGNAL), sizeof(res));
		(void)close(fds[0]);
	}
	return (NULL);
}

static void
converter_start(struct converter *cv, enum convert how, int sends)
{

	memset(cv, 0, sizeof(*cv));
	cv->how = how;
	cv->sends = sends;
	assert_int_equal(pthread_create(&cv->thread, NULL, converter, cv), 0);
}

static void
converter_wait(struct converter *cv)
{

	assert_int_equal(pthread_join(cv->thread, NULL), 0);
}

static void
test_send_text(void **state)
{
	static const struct {
		enum convert	how;
		int		want;
	} cases[] = {
		{ CV_ERROR, ENOSYS }, { CV_STRANGER, EBADMSG },
		{ CV_TOKEN, EBADMSG }, { CV_SHORT, EBADMSG },
		{ CV_LONG, EBADMSG },
	};
	struct converter cv;
	size_t i;
	int token;

	converter_start(&cv, CV_RIGHT, 2);
	token = NgSendAsciiMsg(cs, "br:", "  %s \t { a=%d }", "setconfig", 5);
	assert_int_equal(errno, 0);
	converter_wait(&cv);
	assert_string_equal(cv.text, "setconfig|{ a=5 }");
	assert_int_equal(cv.last.token, token);
	assert_int_equal(cv.last.typecookie, 4711);
	assert_int_equal(cv.last.cmd, 12);
	assert_int_equal(cv.last.flags, NGF_ORIG);
	assert_int_equal(cv.last.arglen, 7);
	assert_string_equal((char *)cv.last.cmdstr, "setconfig");

	converter_start(&cv, CV_RIGHT, 2);
	assert_int_equal(NgSendAsciiMsg(cs, "br:", "reset"), token + 2);
	converter_wait(&cv);
	assert_string_equal(cv.text, "reset|");

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		converter_start(&cv, cases[i].how, 1);
		assert_int_equal(NgSendAsciiMsg(cs, "br:", "reset"), -1);
		assert_int_equal(errno, cases[i].want);
		converter_wait(&cv);
	}
	/* No command has a name that long: nobody needs to be asked. */
	assert_int_equal(NgSendAsciiMsg(cs, "br:",
	    "a-command-with-32-bytes-in-its-nm { }"), -1);
	assert_int_equal(errno, ENOSYS);
}

static void
test_recv_text(void **state)
{
	static const struct {
		enum convert	how;
		int		want;
	} cases[] = {
		{ CV_ERROR, ENOSYS }, { CV_STRANGER, EBADMSG },
		{ CV_NOT_TEXT, EBADMSG }, { CV_EMPTY, EBADMSG },
	};
	char path[NG_PATHSIZ];
	struct converter cv;
	struct ng_mesg *mp;
	size_t i;

	send_mesg("[5]:", make_mesg(&out.mesg, 12, 4));
	converter_start(&cv, CV_RIGHT, 1);
	errno = EDOM;
	assert_int_equal(NgRecvAsciiMsg(cs, &in.mesg, sizeof(in), path), 0);
	assert_int_equal(errno, EDOM);
	converter_wait(&cv);
	assert_string_equal(path, "[5]:");
	assert_string_equal(in.mesg.data, "{ n=5 }");
	assert_int_equal(in.mesg.header.cmd, 12);
	assert_int_equal(cv.last.cmd, NGM_BINARY2ASCII);
	assert_int_equal(cv.last.arglen, 56 + 4);

	send_mesg("[5]:", make_mesg(&out.mesg, 12, 4));
	converter_start(&cv, CV_RIGHT, 1);
	assert_int_equal(NgAllocRecvAsciiMsg(cs, &mp, path), 0);
	assert_int_equal(errno, EDOM);
	converter_wait(&cv);
	assert_string_equal(mp->data, "{ n=5 }");
	free(mp);
	/* One byte too few. */
	send_mesg("[5]:", make_mesg(&out.mesg, 12, 4));
	converter_start(&cv, CV_RIGHT, 1);
	assert_int_equal(NgRecvAsciiMsg(cs, &in.mesg, 56 + 7, path), -1);
	assert_int_equal(errno, ERANGE);
	converter_wait(&cv);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		send_mesg("[5]:", make_mesg(&out.mesg, 12, 4));
		converter_start(&cv, cases[i].how, 1);
		assert_int_equal(NgAllocRecvAsciiMsg(cs, &mp, path), -1);
		assert_int_equal(errno, cases[i].want);
		assert_null(mp);
		converter_wait(&cv);
	}
}

/* ---- What it says ---- */

static char said[20000];
static int said_errno;

static void __attribute__((__format__(__printf__, 1, 2)))
say(const char *fmt, ...)
{
	size_t off = strlen(said);
	va_list ap;

	said_errno = errno;
	va_start(ap, fmt);
	(void)vsnprintf(said + off, sizeof(said) - off - 1, fmt, ap);
	va_end(ap);
	(void)strcat(said, "\n");
	errno = ERANGE;			/* must not be seen by the caller */
}

static void
test_debug(void **state)
{
	static const struct ngm_mkpeer mkpeer = {
		.type = "hub",
		.ourhook = "a\"b",
		.peerhook = "\001",
	};
	struct converter cv;
	char hook[NG_HOOKSIZ];
	unsigned char buf[8];

	assert_int_equal(NgSetDebug(-1), 0);
	assert_int_equal(NgSetDebug(3), 0);
	assert_int_equal(NgSetDebug(-1), 3);
	NgSetErrLog(say, say);
	converter_start(&cv, CV_RIGHT, 1);
	assert_true(NgSendMsg(cs, ".:", NGM_GENERIC_COOKIE, NGM_MKPEER,
	    &mkpeer, sizeof(mkpeer)) >= 0);
	assert_int_equal(errno, 0);
	converter_wait(&cv);
	assert_non_null(strstr(said, "message to \".:\": generic (1137070366), "
	    "mkpeer (2), token "));
	assert_non_null(strstr(said, ", 96 bytes\n"));
	assert_non_null(strstr(said, "{ type=\"hub\" ourhook=\"a\\\"b\" "
	    "peerhook=\"\\x01\" }"));

	said[0] = '\0';
	send_mesg("[5]:", make_mesg(&out.mesg, 77, 600));
	errno = EDOM;
	assert_int_equal(NgRecvMsg(cs, &in.mesg, sizeof(in), NULL), 656);
	assert_int_equal(errno, EDOM);
	assert_non_null(strstr(said, "reply from \"[5]:\": generic"));
	assert_non_null(strstr(said, " 01f0:  64 64 64"));
	assert_non_null(strstr(said, "dddddddddddddddd\n"));
	assert_non_null(strstr(said, "and 88 bytes more"));

	said[0] = '\0';
	send_data("ab\n", 3, "left", 4);
	assert_int_equal(NgRecvData(ds, buf, sizeof(buf), hook), 3);
	assert_int_equal(errno, EDOM);
	assert_non_null(strstr(said, "NgRecvData from \"left\": 3 bytes"));
	assert_non_null(strstr(said, "61 62 0a"));
	assert_non_null(strstr(said, "ab.\n"));

	/* Level 1 has errors only, with their errno; 0 has nothing. */
	said[0] = '\0';
	assert_int_equal(NgSetDebug(1), 3);
	send_data("ab\n", 3, "left", 4);
	assert_int_equal(NgRecvData(ds, buf, sizeof(buf), hook), 3);
	assert_string_equal(said, "");
	assert_int_equal(NgRecvData(-1, buf, sizeof(buf), hook), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(said_errno, EBADF);
	assert_string_equal(said, "NgRecvData\n");
	said[0] = '\0';
	assert_int_equal(NgSetDebug(0), 1);
	assert_int_equal(NgRecvData(-1, buf, sizeof(buf), hook), -1);
	assert_string_equal(said, "");
	NgSetErrLog(NULL, NULL);
}

/* ---- */

static int
group_setup(void **state)
{

	if (mkdtemp(test_dir) == NULL)
		return (-1);
	unsetenv("NETEPOCH_MACHINE");
	return (setenv("NETEPOCH_RUNDIR", test_dir, 1));
}

static int
group_teardown(void **state)
{

	return (rmdir(test_dir));
}

static int
setup(void **state)
{

	test_machine_start();
	test_node_open(&node, &cs, &ds);
	return (0);
}

static int
teardown(void **state)
{

	(void)close(cs);
	(void)close(ds);
	test_node_close(&node);
	test_machine_stop();
	return (0);
}

#define	TEST(fn)	cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_messages),
		TEST(test_broken_messages),
		TEST(test_data),
		TEST(test_end),
		TEST(test_send_text),
		TEST(test_recv_text),
		TEST(test_debug),
	};

	return (cmocka_run_group_tests(tests, group_setup, group_teardown));
}
