/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Tests of packet, xdp and tap on real Linux devices, every case on each: both
 * ways, tags, checksums, large frames, devices that go down or away, and
 * interfaces that come and go under traffic.
 */
#include "drivers/device_test.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <dirent.h>
#include <signal.h>

/* The back-end under test, from cmocka's initial state. */
static struct backend backends[] = {
	{ "packet:dv0", &packet_driver, false, false },
	{ "xdp:dv0,mode=native", &xdp_driver, true, false },
	{ "xdp:dv0,mode=generic", &xdp_driver, true, false },
	{ "xdp:dv0,busypoll=64", &xdp_driver, true, false },
	{ "packet:dv0,needsepoch,burst=1", &packet_driver, false, false },
	{ "xdp:dv0,needsepoch,burst=1", &xdp_driver, true, false },
	{ "tap:dv0", &tap_driver, false, true },
};

/* Both ways, bursts of all sizes; our counters agree. */
static void
test_traffic(void **state)
{
	struct backend *be = *state;
	char buf[2048];
	struct mbuf *m[MBUF_BURST];
	struct epoch_tracker et;
	struct ifnet *ifp;
	uint64_t sent = 0;
	uint32_t len;
	ssize_t n;
	int fd;

	SKIP_WITHOUT_BPF(be);
	ifp = make(be);
	fd = peer_open(be);
	len = make_partial(20);
	for (int i = 0; i < 1000; i++) {
		peer_send(fd, NULL, frame, len);
		/* Silence between: nothing may wait for the next packet. */
		if (i % 100 < 10)
			test_wait(&got, (uint64_t)i + 1);
	}
	test_wait(&got, 1000);
	assert_int_equal(atomic_load(&got), 1000);

	for (unsigned int k = 1; k <= MBUF_BURST; k++) {
		assert_int_equal(m_get_burst(m, k), k);
		for (unsigned int i = 0; i < k; i++)
			assert_int_equal(m_append(m[i], len, frame), 0);
		NET_EPOCH_ENTER(et);
		if_transmit(ifp, m, k);
		NET_EPOCH_EXIT(et);
		for (unsigned int i = 0; i < k; i++) {
			n = read(fd, buf, sizeof(buf));
			assert_int_equal(n, len +
			    sizeof(struct virtio_net_hdr));
			assert_memory_equal(buf +
			    sizeof(struct virtio_net_hdr), frame, len);
			sent++;
		}
	}
	assert_int_equal(if_counter(ifp, IFC_OPACKETS), sent);
	assert_int_equal(if_counter(ifp, IFC_OERRORS), 0);
	close(fd);
	test_destroy(ifp);
}

/* The tag beside the frame, wherever the driver had it. */
static void
take_tag(struct mbuf *m)
{
	struct ether_vlan_header *evl = mtod(m, struct ether_vlan_header *);

	if ((m->m_flags & M_VLANTAG) != 0 ||
	    !ether_type_is_vlan(ntohs(evl->evl_encap_proto)))
		return;
	m->m_flags |= M_VLANTAG;
	m->m_pkthdr.ether_vproto = ntohs(evl->evl_encap_proto);
	m->m_pkthdr.ether_vtag = ntohs(evl->evl_tag);
	memmove((char *)evl + ETHER_VLAN_ENCAP_LEN, evl, 12);
	m_adj(m, ETHER_VLAN_ENCAP_LEN);
}

/* Put four bytes of tag after the addresses of the frame. */
static uint32_t
push_tag(uint32_t len, uint16_t proto, uint16_t tag)
{
	uint16_t words[2] = { htons(proto), htons(tag) };

	memmove(frame + 16, frame + 12, len - 12);
	memcpy(frame + 12, words, sizeof(words));
	return (len + ETHER_VLAN_ENCAP_LEN);
}

/* Tags look the same on every back-end, beside the frame. */
static void
test_tags(void **state)
{
	const struct {
		uint16_t	 proto, tag;
		bool		 inner;
	} tags[] = {
		{ ETHERTYPE_VLAN, 3 << 13, false },
		{ ETHERTYPE_VLAN, 100, false },
		{ ETHERTYPE_QINQ, 10, true },
	};
	struct backend *be = *state;
	struct ifnet *ifp;
	uint32_t len, inside;
	struct mbuf *m;
	int fd;

	SKIP_WITHOUT_BPF(be);
	ifp = make(be);
	fd = peer_open(be);
	atomic_store(&keep, true);
	for (size_t i = 0; i < nitems(tags); i++) {
		len = make_partial(20);
		memset(frame + 50, 0x5a, 2);	/* a wrong sum, not partial */
		if (tags[i].inner)
			len = push_tag(len, ETHERTYPE_VLAN, 100);
		inside = len;
		len = push_tag(len, tags[i].proto, tags[i].tag);
		peer_send(fd, NULL, frame, len);
		test_wait(&got, i + 1);
		m = kept[i];
		take_tag(m);
		assert_int_equal(m->m_flags & M_VLANTAG, M_VLANTAG);
		assert_int_equal(m->m_pkthdr.ether_vproto, tags[i].proto);
		assert_int_equal(m->m_pkthdr.ether_vtag, tags[i].tag);
		assert_int_equal(m->m_pkthdr.len, inside);
		assert_memory_equal(m->m_data + 12, frame + 16, inside - 12);
	}
	close(fd);
	test_destroy(ifp);
}

/* Transport checksums: finished where it is unfinished, never repaired. */
static void
test_partial(void **state)
{
	struct backend *be = *state;
	struct virtio_net_hdr vh = {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.csum_start = ETHER_HDR_LEN + sizeof(struct ip),
		.csum_offset = 16,
	};
	struct ifnet *ifp;
	uint32_t len;
	int fd;

	SKIP_WITHOUT_BPF(be);
	ifp = make(be);
	fd = peer_open(be);
	atomic_store(&keep, true);
	len = make_partial(100);
	peer_send(fd, &vh, frame, len);
	test_wait(&got, 1);
	if ((kept[0]->m_pkthdr.csum_flags & CSUM_PARTIAL) != 0)
		assert_true(m_cksum_finish(kept[0]));
	assert_int_equal(kept[0]->m_pkthdr.len, len);
	assert_true(sum_right(kept[0]->m_data, len));

	/* A truly wrong one stays as it is. */
	len = make_partial(100);
	frame[50] = 0xba;
	frame[51] = 0xad;
	peer_send(fd, NULL, frame, len);
	test_wait(&got, 2);
	assert_int_equal(kept[1]->m_pkthdr.csum_flags & CSUM_PARTIAL, 0);
	assert_memory_equal(kept[1]->m_data, frame, len);
	close(fd);
	test_destroy(ifp);
}

/* Sends m with a partial checksum; the other side gets it right or told. */
static void
test_partial_out(void **state)
{
	struct backend *be = *state;
	char buf[2048];
	struct virtio_net_hdr *vh = (void *)buf;
	struct epoch_tracker et;
	struct ifnet *ifp;
	struct mbuf *m;
	uint32_t len;
	int fd;

	SKIP_WITHOUT_BPF(be);
	ifp = make(be);
	fd = peer_open(be);
	len = make_partial(100);
	assert_non_null(m = m_gethdr());
	assert_int_equal(m_append(m, len, frame), 0);
	m->m_pkthdr.csum_flags = CSUM_PARTIAL;
	m->m_pkthdr.csum_start = ETHER_HDR_LEN + sizeof(struct ip);
	m->m_pkthdr.csum_offset = 16;
	NET_EPOCH_ENTER(et);
	if_transmit(ifp, &m, 1);
	NET_EPOCH_EXIT(et);
	assert_int_equal(read(fd, buf, sizeof(buf)), len + sizeof(*vh));
	if ((vh->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) != 0) {
		assert_int_equal(vh->csum_start, 34);
		assert_int_equal(vh->csum_offset, 16);
		assert_memory_equal(buf + sizeof(*vh), frame, len);
	} else
		assert_true(sum_right(buf + sizeof(*vh), len));
	close(fd);
	test_destroy(ifp);
}

/* What is larger than the MTU arrives whole, in pieces. */
static void
test_large(void **state)
{
	struct backend *be = *state;
	struct virtio_net_hdr vh = {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
		.hdr_len = 54,
		.gso_size = 1460,
		.csum_start = ETHER_HDR_LEN + sizeof(struct ip),
		.csum_offset = 16,
	};
	const uint32_t total = 53000;
	struct ifnet *ifp;
	uint32_t at = 0, len;
	uint64_t n;
	int fd;

	SKIP_WITHOUT_BPF(be);
	if (be->be_driver == &xdp_driver &&
	    strstr(be->be_spec, "generic") != NULL)
		skip();		/* documented: counted, and told to the log */
	ifp = make(be);
	fd = peer_open(be);
	atomic_store(&keep, true);
	len = make_partial(total);
	peer_send(fd, &vh, frame, len);
	n = (total + 1459) / 1460;
	test_wait(&got, n);
	for (uint64_t i = 0; i < n; i++) {
		uint32_t pay = kept[i]->m_pkthdr.len - 54;

		if ((kept[i]->m_pkthdr.csum_flags & CSUM_PARTIAL) != 0)
			assert_true(m_cksum_finish(kept[i]));
		assert_true(pay <= 1460);
		assert_true(sum_right(kept[i]->m_data, pay + 54));
		assert_memory_equal(kept[i]->m_data + 54, frame + 54 + at,
		    pay);
		at += pay;
	}
	assert_int_equal(at, total);
	close(fd);
	test_destroy(ifp);
}

/* Frames of all lengths, in slots of the ring and beside it: in order. */
static void
test_order(void **state)
{
	const uint32_t pays[] = { 20, 8900, 1, 1900, 1919, 3000, 20, 5000 };
	struct backend *be = *state;
	struct ifnet *ifp;
	uint32_t len, sent[KEEP_MAX];
	uint8_t *p, want[9000], whole[9000];
	int fd;

	run("ip link set dv0 mtu 9000");
	run("ip link set dv1 mtu 9000");
	ifp = make(be);
	fd = peer_open(be);
	atomic_store(&keep, true);
	for (unsigned int i = 0; i < KEEP_MAX; i++) {
		sent[i] = len = make_partial(pays[i % nitems(pays)]);
		frame[len - 1] = (uint8_t)i;
		peer_send(fd, NULL, frame, len);
	}
	test_wait(&got, KEEP_MAX);
	for (unsigned int i = 0; i < KEEP_MAX; i++) {
		assert_int_equal(kept[i]->m_pkthdr.len, sent[i]);
		len = make_partial(pays[i % nitems(pays)]);
		memcpy(want, frame, len);
		want[len - 1] = (uint8_t)i;
		p = whole;
		for (struct mbuf *m = kept[i]; m != NULL; m = m->m_next) {
			memcpy(p, m->m_data, m->m_len);
			p += m->m_len;
		}
		assert_memory_equal(whole, want, len);
	}
	close(fd);
	test_destroy(ifp);
}

static _Atomic bool stalled;

static void
stalling_input(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{

	while (atomic_load(&stalled))
		usleep(1000);
	keep_input(ifp, m, n);
}

/* More than the buffers take: each frame comes whole or is counted. */
static void
test_overrun(void **state)
{
	struct backend *be = *state;
	struct virtio_net_hdr vh = {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
		.hdr_len = 54,
		.gso_size = 1000,
		.csum_start = ETHER_HDR_LEN + sizeof(struct ip),
		.csum_offset = 16,
	};
	const uint64_t count = 1000, segs = 60;
	struct ifnet *ifp;
	uint64_t lost;
	uint32_t len;
	int fd;

	test_input = stalling_input;
	atomic_store(&stalled, true);
	ifp = make(be);
	fd = peer_open(be);
	len = make_partial(1000 * (uint32_t)segs);
	for (uint64_t i = 0; i < count; i++)
		peer_send(fd, &vh, frame, len);
	atomic_store(&stalled, false);
	for (int i = 0; i < 10000; i++) {
		lost = if_counter(ifp, IFC_DROPS + IFD_RXRING);
		if (atomic_load(&got) == (count - lost) * segs)
			break;
		usleep(1000);
	}
	assert_in_range(lost, 1, count - 1);
	assert_int_equal(atomic_load(&got), (count - lost) * segs);
	assert_int_equal(if_counter(ifp, IFC_DROPS + IFD_RXERR), 0);
	assert_int_equal(if_counter(ifp, IFC_DROPS + IFD_NOMBUF), 0);
	peer_send(fd, &vh, frame, len);
	test_wait(&got, (count - lost + 1) * segs);
	close(fd);
	test_destroy(ifp);
}

/* The device goes, comes back; the interface says so and can be remade. */
static void
test_vanish(void **state)
{
	struct backend *be = *state;
	char err[256];
	struct epoch_tracker et;
	struct ifnet *ifp;
	struct mbuf *m;
	int error;

	SKIP_WITHOUT_BPF(be);
	ifp = make(be);
	for (int i = 0; i < 10000 &&
	    atomic_load(&ifp->if_linkstate) != IF_LINK_UP; i++)
		usleep(1000);
	assert_int_equal(atomic_load(&ifp->if_linkstate), IF_LINK_UP);
	assert_false(atomic_load(&ifp->if_gone));
	run("ip link del dv0");
	for (int i = 0; i < 10000 &&
	    (atomic_load(&ifp->if_linkstate) != IF_LINK_DOWN ||
	    !atomic_load(&ifp->if_gone)); i++)
		usleep(1000);
	assert_true(atomic_load(&ifp->if_gone));
	assert_int_equal(atomic_load(&ifp->if_linkstate), IF_LINK_DOWN);
	assert_non_null(m = m_gethdr());
	assert_int_equal(m_append(m, 60, frame), 0);
	NET_EPOCH_ENTER(et);
	if_transmit(ifp, &m, 1);
	NET_EPOCH_EXIT(et);
	assert_int_equal(if_counter(ifp, IFC_DROPS + IFD_TXERR), 1);
	test_destroy(ifp);
	if (!be->be_tap) {
		assert_null(test_create(vnet, be->be_driver, "dev",
		    be->be_spec, &error, err, sizeof(err)));
		assert_int_equal(error, ENODEV);
		assert_non_null(strstr(err, "no Linux device dv0"));
	}
	make_devices(be);
	test_destroy(make(be));
}

/* A device that is only down wakes nobody for ever, and works again. */
static void
test_down_up(void **state)
{
	struct backend *be = *state;
	struct intr_totals before, after;
	socklen_t errlen = sizeof(int);
	struct ifnet *ifp;
	uint32_t len;
	int error, fd;

	SKIP_WITHOUT_BPF(be);
	ifp = make(be);
	fd = peer_open(be);
	run("ip link set dv0 down");
	usleep(50000);
	intr_totals(vnet->v_intr, &before);
	usleep(200000);
	intr_totals(vnet->v_intr, &after);
	assert_in_range(after.it_runs - before.it_runs, 0, 2000);
	run("ip link set dv0 up");
	len = make_partial(20);
	(void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &errlen);
	forget_kept();
	/* Linux says when: what comes earlier is refused, or lost. */
	for (int i = 0; i < 1000 && atomic_load(&got) == 0; i++) {
		(void)peer_try(fd, NULL, frame, len);
		usleep(10000);
	}
	assert_true(atomic_load(&got) != 0);
	close(fd);
	test_destroy(ifp);
}

static unsigned int
count_entries(const char *dir)
{
	struct dirent *de;
	unsigned int n = 0;
	DIR *d;

	assert_non_null(d = opendir(dir));
	while ((de = readdir(d)) != NULL)
		n++;
	closedir(d);
	return (n);
}

static unsigned int
count_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned int n = 0;
	int c;

	assert_non_null(f);
	while ((c = getc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return (n);
}

/* A process of its own sends to the device as fast as it can. */
static pid_t
flood_start(const struct backend *be)
{
	uint32_t len = make_partial(20);
	struct virtio_net_hdr vh = { 0 };
	struct iovec iov[2] = { { &vh, sizeof(vh) }, { frame, len } };
	pid_t pid;
	int fd;

	fd = peer_open(be);
	pid = fork();
	if (pid == 0) {
		/* It ends with us, whatever becomes of us. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(60);
		for (;;)
			(void)!writev(fd, iov, 2);
	}
	assert_true(pid > 0);
	close(fd);
	return (pid);
}

/* Created and destroyed under traffic: no fd, map or mbuf is left. */
static void
test_churn(void **state)
{
	struct backend *be = *state;
	unsigned int fds, maps;
	pid_t pid = 0;

	SKIP_WITHOUT_BPF(be);
	if (!be->be_tap)
		pid = flood_start(be);
	for (int i = 0; i < 5; i++)
		test_destroy(make(be));
	NET_EPOCH_DRAIN_CALLBACKS();
	fds = count_entries("/proc/self/fd");
	maps = count_maps();
	/* The kernel takes its time with XDP. */
	for (int i = 0; i < (be->be_xdp ? 15 : 100); i++) {
		struct ifnet *ifp = make(be);

		if (i % 5 == 0)
			usleep(10000);
		if (i == 0 && pid != 0)
			test_wait(&got, 1);
		test_destroy(ifp);
	}
	NET_EPOCH_DRAIN_CALLBACKS();
	if (pid != 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	assert_int_equal(count_entries("/proc/self/fd"), fds);
	assert_in_range(count_maps(), 0, maps + 8);
}

/* Linux's device is promiscuous as long as the interface is. */
static void
test_promisc(void **state)
{
	struct backend *be = *state;
	struct ifnet *ifp;

	SKIP_WITHOUT_BPF(be);
	ifp = make(be);
	assert_int_not_equal(system("ip -d link show dv0 | "
	    "grep -q 'promiscuity 1'"), 0);
	VNET_CONFIG_LOCK(vnet);
	assert_int_equal(if_setflags(ifp, IFF_PPROMISC, 0), 0);
	run("ip -d link show dv0 | grep -q 'promiscuity 1'");
	assert_int_equal(if_setflags(ifp, 0, IFF_PPROMISC), 0);
	run("ip -d link show dv0 | grep -q 'promiscuity 0'");
	assert_int_equal(if_setflags(ifp, IFF_PPROMISC, 0), 0);
	VNET_CONFIG_UNLOCK(vnet);
	test_destroy(ifp);
	run("ip -d link show dv0 | grep -q 'promiscuity 0'");
}

/* It takes frames to all groups as long as somebody asks for that. */
static void
test_allmulti(void **state)
{
	static const char on[] = "ip -d link show dv0 | "
	    "grep -q 'allmulti 1'", off[] = "ip -d link show dv0 | "
	    "grep -q 'allmulti 0'";
	struct backend *be = *state;
	struct ifnet *ifp;

	SKIP_WITHOUT_BPF(be);
	ifp = make(be);
	run(off);
	VNET_CONFIG_LOCK(vnet);
	assert_int_equal(if_set_allmulti(ifp, false), EINVAL);
	assert_int_equal(if_set_allmulti(ifp, true), 0);
	assert_int_equal(if_set_allmulti(ifp, true), 0);
	assert_int_equal(if_set_allmulti(ifp, false), 0);
	run(on);
	assert_int_equal(if_set_allmulti(ifp, false), 0);
	run(off);
	assert_int_equal(if_set_allmulti(ifp, true), 0);
	VNET_CONFIG_UNLOCK(vnet);
	test_destroy(ifp);
	run(off);
}

/* A device is one interface, whichever drivers are asked for. */
static void
test_twice(void **state)
{
	struct backend *be = *state;
	struct ifnet *ifp;

	SKIP_WITHOUT_BPF(be);
	ifp = make(be);
	refuse(&packet_driver, "packet:dv0", EBUSY,
	    "packet:dv0: dv0 is already attached as dev");
	refuse(&xdp_driver, "xdp:dv0", EBUSY,
	    "xdp:dv0: dv0 is already attached as dev");
	test_destroy(ifp);
	if (!be->be_tap)
		test_destroy(make(be));
}

/* What cannot be is said in one line that names the device. */
static void
test_refusals(void **state)
{

	refuse(&packet_driver, "packet:none0", ENODEV, "no Linux device");
	refuse(&packet_driver, "packet:lo,x=1", EINVAL, "x");
	refuse(&packet_driver, "packet:0123456789abcdefg", ENAMETOOLONG,
	    "no Linux device");
	refuse(&packet_driver, "packet:lo,cpu=9", EINVAL, "cpu");
	refuse(&tap_driver, "tap:dv0,fd=0", EINVAL, "fd=0");
	refuse(&tap_driver, "tap:lo", EBUSY, "already");
	refuse(&tap_driver, "tap:0123456789abcdef", ENAMETOOLONG,
	    "expected a device name of 1 to 15 characters");
}

#define	T(f, b)								\
	cmocka_unit_test_prestate_setup_teardown(f, setup, teardown,	\
	    &backends[b])
#define	ALL(f)	T(f, 0), T(f, 1), T(f, 2), T(f, 3)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ALL(test_traffic), ALL(test_tags), ALL(test_partial),
		ALL(test_partial_out), ALL(test_large), ALL(test_vanish),
		ALL(test_down_up), ALL(test_churn), T(test_promisc, 0),
		T(test_promisc, 1), T(test_allmulti, 0), T(test_order, 0),
		T(test_overrun, 0), T(test_twice, 0), T(test_twice, 1),
		T(test_twice, 6),
		T(test_traffic, 4), T(test_churn, 4), T(test_order, 4),
		T(test_traffic, 5), T(test_churn, 5),
		T(test_refusals, 0),
	};

	if (!test_namespace())
		return (TEST_SKIP);
	return (cmocka_run_group_tests_name("devices", tests, NULL, NULL));
}
