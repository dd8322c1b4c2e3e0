/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Tests of what only the xdp driver has: its program, which must never stay
 * behind and never push another's away, and its many ways to say
 * no.
 */
#include "drivers/device_test.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <signal.h>

#include "drivers/xdp_private.h"

#define	HOLD_FD		100		/* where the holder says it holds */

/* The back-end under test, from cmocka's initial state. */
static struct backend native = {
	"xdp:dv0,mode=native", &xdp_driver, true, false
};
static struct backend generic = {
	"xdp:dv0,mode=generic", &xdp_driver, true, false
};
/* For the test of what happens without permission. */
static struct backend any = { "xdp:dv0", &xdp_driver, false, false };

/* Where XDP is forbidden the error names the way out. */
static void
test_forbidden(void **state)
{
	char err[256];
	int error;

	if (have_bpf)
		skip();
	assert_null(test_create(vnet, &xdp_driver, "dev", "xdp:dv0", &error,
	    err, sizeof(err)));
	assert_true(error == EPERM || error == ENOBUFS);
	assert_non_null(strstr(err, "use packet:dv0 instead"));
}

/* What cannot be is said in one line, with the cause and the way out. */
static void
test_refusals(void **state)
{

	SKIP_WITHOUT_BPF((struct backend *)*state);
	refuse(&xdp_driver, "xdp:none0", ENODEV, "no Linux device");
	refuse(&xdp_driver, "xdp:dv0,mode=fast", EINVAL, "native or generic");
	refuse(&xdp_driver, "xdp:dv0,copy,zerocopy", EINVAL, "exclude");
	refuse(&xdp_driver, "xdp:dv0,queues=9", EINVAL, "at most 1");
	refuse(&xdp_driver, "xdp:dv0,busypoll=1025", EINVAL, "busypoll");
	refuse(&xdp_driver, "xdp:dv0,zerocopy", EOPNOTSUPP, "packet:dv0");
	run("ip link set dv0 mtu 9000");
	refuse(&xdp_driver, "xdp:dv0", EMSGSIZE, "1770 at most");
	run("ip link set dv0 mtu 1500");
	run("ip link set dv1 mtu 9000");
	refuse(&xdp_driver, "xdp:dv0,mode=native", ERANGE, "Peer MTU");
	run("ip link set dv1 mtu 1500");
}

static uint32_t
prog_on(const char *dev)
{
	struct linux_if li;
	uint32_t id = 0;

	assert_int_equal(linux_if_get(dev, &li), 0);
	assert_int_equal(bpf_xdp_query_id(li.li_index, 0, &id), 0);
	return (id);
}

/* A child that has the device until it is killed. */
static pid_t
hold_device(const char *spec)
{
	int ready[2];
	char c;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (dup2(ready[1], HOLD_FD) == HOLD_FD)
			execl("/proc/self/exe", "xdp_test", "hold", spec,
			    (char *)NULL);
		_exit(1);
	}
	assert_true(pid > 0);
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return (pid);
}

/* After SIGKILL, a clean stop, SIGKILL again, in another mode. */
static void
test_program_stays(void **state)
{
	struct backend *be = *state;
	struct ifnet *ifp;
	pid_t pid;

	SKIP_WITHOUT_BPF(be);
	for (int i = 0; i < 3; i++) {
		pid = hold_device("xdp:dv0,mode=native");
		assert_int_not_equal(prog_on("dv0"), 0);
		refuse(&xdp_driver, "xdp:dv0", EBUSY, "process of netepoch's");
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		ifp = make(be);
		assert_non_null(strstr(ifp->if_media,
		    strstr(be->be_spec, "generic") != NULL ? "generic" :
		    "native"));
		test_destroy(ifp);
		assert_int_equal(prog_on("dv0"), 0);
	}
}

/* A device in use here is refused with its interface's name, also by force. */
static void
test_attached(void **state)
{
	struct backend *be = *state;
	char err[256];
	struct ifnet *again, *ifp;
	int error;

	SKIP_WITHOUT_BPF(be);
	ifp = make(be);
	refuse(&xdp_driver, "xdp:dv0", EBUSY,
	    "xdp:dv0: dv0 is already attached as dev");
	refuse(&xdp_driver, "xdp:dv0,force", EBUSY, "already attached as dev");
	assert_int_not_equal(prog_on("dv0"), 0);
	/* When the device has gone another may have its name. */
	remove_devices();
	make_devices(be);
	for (int i = 0; i < 10000 && !atomic_load(&ifp->if_gone); i++)
		usleep(1000);
	again = test_create(vnet, &xdp_driver, "again", "xdp:dv0", &error,
	    err, sizeof(err));
	if (again == NULL)
		fail_msg("%d, %s", error, err);
	else
		test_destroy(again);
	test_destroy(ifp);
}

/* Another's program is named, and goes only when we are told to. */
static void
test_program_foreign(void **state)
{
	struct bpf_insn insns[2] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct backend *be = *state;
	struct linux_if li;
	char err[256];
	struct ifnet *ifp;
	int error, fd;

	SKIP_WITHOUT_BPF(be);
	fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "stranger", "GPL", insns, 2,
	    NULL);
	assert_true(fd >= 0);
	assert_int_equal(linux_if_get("dv0", &li), 0);
	assert_int_equal(bpf_xdp_attach(li.li_index, fd, XDP_FLAGS_DRV_MODE,
	    NULL), 0);
	refuse(&xdp_driver, "xdp:dv0", EBUSY, "stranger");
	assert_int_not_equal(prog_on("dv0"), 0);
	ifp = test_create(vnet, &xdp_driver, "dev", "xdp:dv0,force", &error,
	    err, sizeof(err));
	if (ifp == NULL)
		fail_msg("%d, %s", error, err);
	else
		test_destroy(ifp);
	assert_int_equal(prog_on("dv0"), 0);
	close(fd);
}

/* All queues receive, each by an interrupt of its own. */
static void
test_queues(void **state)
{
	struct backend *be = *state;
	struct intr_stat is[8];
	struct ifnet *ifp;
	uint32_t len;
	int fd;

	SKIP_WITHOUT_BPF(be);
	remove_devices();
	run("ip link add dv0 numrxqueues 2 numtxqueues 2 type veth "
	    "peer name dv1 numrxqueues 2 numtxqueues 2");
	run("ip link set dv1 up");
	ifp = make(be);
	assert_non_null(strstr(ifp->if_media, "2 queues"));
	assert_int_equal(intr_stats(vnet->v_intr, is, 8), 2);
	assert_string_equal(is[0].is_name, "dev:rxq0");
	assert_string_equal(is[1].is_name, "dev:rxq1");
	fd = peer_open(be);
	len = make_partial(20);
	for (int cpu = 0; cpu < 2; cpu++) {
		cpu_set_t set;

		/* veth's queue is the sender's CPU's. */
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		(void)sched_setaffinity(0, sizeof(set), &set);
		for (int i = 0; i < 100; i++)
			peer_send(fd, NULL, frame, len);
		test_wait(&got, 100 * ((uint64_t)cpu + 1));
	}
	close(fd);
	test_destroy(ifp);
}

/* The child of hold_device(): in its parent's namespace. */
static int
hold(const char *spec)
{
	char err[256];
	int error;

	vnet = test_vnet(1);
	test_input = keep_input;
	if (test_create(vnet, &xdp_driver, "held", spec, &error, err,
	    sizeof(err)) == NULL) {
		fprintf(stderr, "%s\n", err);
		return (1);
	}
	(void)!write(HOLD_FD, "x", 1);
	for (;;)
		pause();
}

/* As a kernel that sends 32 frames at a kick and cannot be told otherwise. */
static void
test_small_budget(void **state)
{
	const struct timeval tv = { .tv_sec = 10 };
	const uint32_t budget = 32;
	struct backend *be = *state;
	struct mbuf *m[MBUF_BURST];
	struct epoch_tracker et;
	struct xdp_softc *sc;
	struct ifnet *ifp;
	char buf[2048];
	uint32_t len;
	int fd;

	SKIP_WITHOUT_BPF(be);
	ifp = make(be);
	sc = ifp->if_softc;
	if (setsockopt(sc->sc_queues[0].xq_fd, SOL_XDP,
	    XDP_MAX_TX_SKB_BUDGET, &budget, sizeof(budget)) != 0)
		assert_int_equal(errno, ENOPROTOOPT);	/* it is one */
	fd = peer_open(be);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv,
	    sizeof(tv)), 0);
	len = make_partial(20);
	/* More than the ring has places. */
	for (unsigned int burst = 0; burst < 50; burst++) {
		assert_int_equal(m_get_burst(m, MBUF_BURST), MBUF_BURST);
		for (unsigned int i = 0; i < MBUF_BURST; i++)
			assert_int_equal(m_append(m[i], len, frame), 0);
		NET_EPOCH_ENTER(et);
		if_transmit(ifp, m, MBUF_BURST);
		NET_EPOCH_EXIT(et);
		for (unsigned int i = 0; i < MBUF_BURST; i++)
			assert_int_equal(read(fd, buf, sizeof(buf)),
			    len + sizeof(struct virtio_net_hdr));
	}
	assert_int_equal(if_counter(ifp, IFC_DROPS + IFD_TXRING), 0);
	close(fd);
	test_destroy(ifp);
}

#define	T(f, be)							\
	cmocka_unit_test_prestate_setup_teardown(f, setup, teardown, (be))

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		T(test_forbidden, &any), T(test_refusals, &native),
		T(test_program_stays, &native),
		T(test_program_stays, &generic),
		T(test_attached, &native), T(test_program_foreign, &native),
		T(test_queues, &native), T(test_queues, &generic),
		T(test_small_budget, &native),
	};

	if (argc == 3 && strcmp(argv[1], "hold") == 0)
		return (hold(argv[2]));
	if (!test_namespace())
		return (TEST_SKIP);
	return (cmocka_run_group_tests_name("xdp", tests, NULL, NULL));
}
