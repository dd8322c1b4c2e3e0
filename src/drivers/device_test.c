/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Tests of packet, xdp and tap on real Linux devices: veth pairs in a network
 * namespace of this program's own, which goes with it.  Needs root or
 * unprivileged user namespaces; in the latter XDP programs cannot be loaded
 * and their tests are skipped.
 *
 * The other end of a device is a packet socket on the veth's peer (for tap on
 * the device itself), which can send unfinished checksums, large frames and
 * tags by its virtio header.
 */
#include "drivers/drivers_test.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <sched.h>
#include <signal.h>

#include "drivers/linux_if.h"
#include "drivers/vhdr.h"
#include "wire/in_cksum.h"
#include "wire/in_l4.h"
#include "wire/ip.h"
#include "wire/tcp.h"

#define	KEEP_MAX	256		/* packets kept by the input */
#define	HOLD_FD		100		/* where the holder says it holds */
#define	TEST_SKIP	77		/* meson's exit status */

static struct vnet *vnet;
static _Atomic uint64_t got;
static struct mbuf *kept[KEEP_MAX];
static _Atomic bool keep;
static bool	 have_bpf;		/* XDP programs may be loaded */
static uint8_t	 frame[65600];

/* The back-end under test, from cmocka's initial state. */
struct backend {
	const char	*be_spec;
	const struct if_driver *be_driver;
	bool		 be_xdp;
	bool		 be_tap;
};
static struct backend backends[] = {
	{ "packet:dv0", &packet_driver, false, false },
	{ "xdp:dv0,mode=native", &xdp_driver, true, false },
	{ "xdp:dv0,mode=generic", &xdp_driver, true, false },
	{ "tap:dv0", &tap_driver, false, true },
};

static void
keep_input(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	uint64_t at;

	for (unsigned int i = 0; i < n; i++) {
		at = atomic_load(&got);
		if (atomic_load(&keep) && at < KEEP_MAX)
			kept[at] = m[i];
		else
			m_freem(m[i]);
		atomic_store(&got, at + 1);
	}
}

static void
forget_kept(void)
{
	uint64_t n = atomic_load(&got);

	for (uint64_t i = 0; i < n && i < KEEP_MAX && atomic_load(&keep); i++)
		m_freem(kept[i]);
	atomic_store(&got, 0);
}

static void
run(const char *cmd)
{

	if (system(cmd) != 0)
		fail_msg("%s", cmd);
}

/* dv0, ours, and dv1, the others' end; a tap makes its own device. */
static void
make_devices(const struct backend *be)
{

	if (be->be_tap)
		return;
	run("ip link add dv0 type veth peer name dv1");
	run("ip link set dv1 up");
}

static void
remove_devices(void)
{

	(void)!system("ip link del dv0 2>/dev/null");
}

static struct ifnet *
make(const struct backend *be)
{
	char err[256];
	struct ifnet *ifp;
	int error;

	ifp = test_create(vnet, be->be_driver, "dev", be->be_spec, &error,
	    err, sizeof(err));
	if (ifp == NULL)
		fail_msg("%s: %s", be->be_spec, err);
	if (be->be_tap)
		run("ip link set dv0 up");
	return (ifp);
}

/* A packet socket on the other end that talks with virtio headers. */
static int
peer_open(const struct backend *be)
{
	struct sockaddr_ll sll = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
	};
	struct linux_if li;
	int fd, one = 1;

	assert_int_equal(linux_if_get(be->be_tap ? "dv0" : "dv1", &li), 0);
	sll.sll_ifindex = li.li_index;
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one,
	    sizeof(one)), 0);
	assert_int_equal(setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &one,
	    sizeof(one)), 0);
	assert_int_equal(setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING,
	    &one, sizeof(one)), 0);
	assert_int_equal(bind(fd, (void *)&sll, sizeof(sll)), 0);
	return (fd);
}

static void
peer_send(int fd, const struct virtio_net_hdr *vh, const void *data,
    size_t len)
{
	static const struct virtio_net_hdr none;
	struct iovec iov[2] = {
		{ (void *)(uintptr_t)(vh != NULL ? vh : &none), sizeof(*vh) },
		{ (void *)(uintptr_t)data, len },
	};

	assert_int_equal(writev(fd, iov, 2), sizeof(*vh) + len);
}

/*
 * An Ethernet frame with a TCP packet of paylen bytes; its checksum field is
 * the pseudo-header sum, as a sender that counts on offload leaves it.
 */
static uint32_t
make_partial(uint32_t paylen)
{
	struct ip *ip = (void *)(frame + ETHER_HDR_LEN);
	struct tcphdr *th = (void *)(frame + ETHER_HDR_LEN + sizeof(*ip));
	struct in_l4 l4;
	uint16_t sum;

	memset(frame, 0, 128);
	memset(frame, 0x02, 12);
	frame[12] = 0x08;
	frame[ETHER_HDR_LEN] = 0x45;
	ip->ip_len = htons((uint16_t)(sizeof(*ip) + sizeof(*th) + paylen));
	ip->ip_ttl = 64;
	ip->ip_p = IPPROTO_TCP;
	ip->ip_src.s_addr = htonl(0xc0000201);
	ip->ip_dst.s_addr = htonl(0xc633640a);
	ip->ip_sum = in_cksum(ip, sizeof(*ip));
	frame[ETHER_HDR_LEN + sizeof(*ip) + 12] = 5 << 4;
	for (uint32_t i = 0; i < paylen; i++)
		frame[ETHER_HDR_LEN + sizeof(*ip) + sizeof(*th) + i] =
		    (uint8_t)(i * 7 + i / 256);
	assert_true(in_l4_find(ip, sizeof(*ip) + sizeof(*th) + paylen, &l4));
	sum = (uint16_t)in_l4_pseudo(ip, &l4, l4.l4_len);
	memcpy((char *)th + l4.l4_sumoff, &sum, sizeof(sum));
	return (ETHER_HDR_LEN + (uint32_t)(sizeof(*ip) + sizeof(*th)) +
	    paylen);
}

/* Is the transport checksum of the frame at p right? */
static bool
sum_right(const void *p, uint32_t len)
{
	const uint8_t *l3 = (const uint8_t *)p + ETHER_HDR_LEN;
	struct in_l4 l4;

	return (in_l4_find(l3, len - ETHER_HDR_LEN, &l4) &&
	    in_cksum_finish(in_cksum_partial(in_l4_pseudo(l3, &l4, l4.l4_len),
	    l3 + l4.l4_off, l4.l4_len, 0)) == 0);
}

static int
setup(void **state)
{
	struct backend *be = *state;

	if (be->be_xdp && !have_bpf)
		return (0);
	vnet = test_vnet(2);
	test_input = keep_input;
	atomic_store(&got, 0);
	atomic_store(&keep, false);
	make_devices(be);
	return (0);
}

static int
teardown(void **state)
{
	struct backend *be = *state;

	if (be->be_xdp && !have_bpf)
		return (0);
	forget_kept();
	remove_devices();
	test_vnet_free(vnet);
	test_no_leak();
	return (0);
}

#define	SKIP_WITHOUT_BPF(be)	do {					\
	if ((be)->be_xdp && !have_bpf)					\
		skip();							\
} while (0)

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

/* Case K24. */
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

/* Case K25: finished where it is unfinished, never repaired. */
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

/* Case K26: what is larger than the MTU arrives whole, in pieces. */
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
	usleep(100000);
	len = make_partial(20);
	(void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &errlen);
	forget_kept();
	peer_send(fd, NULL, frame, len);
	test_wait(&got, 1);
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
	if (pid == 0)
		for (;;)
			(void)!writev(fd, iov, 2);
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
		test_destroy(ifp);
	}
	NET_EPOCH_DRAIN_CALLBACKS();
	if (pid != 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		assert_true(atomic_load(&got) > 0);
	}
	assert_int_equal(count_entries("/proc/self/fd"), fds);
	assert_in_range(count_maps(), 0, maps + 8);
}

static void
refuse(const struct if_driver *drv, const char *spec, int want,
    const char *text)
{
	char err[256];
	int error;

	assert_null(test_create(vnet, drv, "dev", spec, &error, err,
	    sizeof(err)));
	if (error != want || strstr(err, text) == NULL)
		fail_msg("%s: %d, %s", spec, error, err);
}

/* Where XDP is forbidden the error names the way out. */
static void
test_xdp_forbidden(void **state)
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

/* What cannot be is said in one line that names the device. */
static void
test_refusals(void **state)
{
	struct backend *be = *state;

	SKIP_WITHOUT_BPF(be);
	refuse(&packet_driver, "packet:none0", ENODEV, "no Linux device");
	refuse(&packet_driver, "packet:lo,x=1", EINVAL, "x");
	refuse(&packet_driver, "packet:0123456789abcdefg", ENAMETOOLONG,
	    "no Linux device");
	refuse(&packet_driver, "packet:lo,cpu=9", EINVAL, "cpu");
	refuse(&tap_driver, "tap:dv0,fd=0", EINVAL, "fd=0");
	refuse(&tap_driver, "tap:lo", EBUSY, "already");
	if (!be->be_xdp)
		return;
	refuse(&xdp_driver, "xdp:none0", ENODEV, "no Linux device");
	refuse(&xdp_driver, "xdp:dv0,mode=fast", EINVAL, "native or generic");
	refuse(&xdp_driver, "xdp:dv0,copy,zerocopy", EINVAL, "exclude");
	refuse(&xdp_driver, "xdp:dv0,queues=9", EINVAL, "at most 1");
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
		if (dup2(ready[1], HOLD_FD) == HOLD_FD)
			execl("/proc/self/exe", "device_test", "hold", spec,
			    (char *)NULL);
		_exit(1);
	}
	assert_true(pid > 0);
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return (pid);
}

/* Case K27. */
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
		refuse(&xdp_driver, "xdp:dv0", EBUSY, "another process");
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

/*
 * Start-up.
 */
static void
write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd != -1) {
		(void)!write(fd, text, strlen(text));
		close(fd);
	}
}

/*
 * A network namespace, with what a user needs to be root in it, and without
 * IPv6, whose greetings would come between the tests' packets.
 */
static bool
enter_namespace(void)
{
	char map[64];
	unsigned int gid = getgid(), uid = getuid();

	if (unshare(uid == 0 ? CLONE_NEWNET : CLONE_NEWUSER | CLONE_NEWNET) !=
	    0)
		return (false);
	if (uid != 0) {
		write_file("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "0 %u 1", uid);
		write_file("/proc/self/uid_map", map);
		snprintf(map, sizeof(map), "0 %u 1", gid);
		write_file("/proc/self/gid_map", map);
	}
	write_file("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
	write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
	return (true);
}

static bool
try_bpf(void)
{
	struct bpf_insn insns[2] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd;

	fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "try", "GPL", insns, 2, NULL);
	if (fd >= 0)
		close(fd);
	return (fd >= 0);
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

#define	T(f, b)								\
	cmocka_unit_test_prestate_setup_teardown(f, setup, teardown,	\
	    &backends[b])
#define	ALL(f)	T(f, 0), T(f, 1), T(f, 2), T(f, 3)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		ALL(test_traffic), ALL(test_tags), ALL(test_partial),
		ALL(test_partial_out), ALL(test_large), ALL(test_vanish),
		ALL(test_down_up), ALL(test_churn),
		T(test_xdp_forbidden, 0),
		T(test_refusals, 0), T(test_refusals, 1),
		T(test_program_stays, 1), T(test_program_stays, 2),
		T(test_program_foreign, 1),
	};

	if (argc == 3 && strcmp(argv[1], "hold") == 0)
		return (hold(argv[2]));
	if (!enter_namespace()) {
		printf("skipped: no permission to make a network namespace\n");
		return (TEST_SKIP);
	}
	have_bpf = try_bpf();
	if (!have_bpf)
		printf("no permission to load XDP programs: no xdp tests\n");
	return (cmocka_run_group_tests_name("devices", tests, NULL, NULL));
}
