/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * For tests on real Linux devices: veth pairs and TAP devices in a network
 * namespace of the test's own, which goes with it.  Needs root or unprivileged
 * user namespaces; in the latter XDP programs cannot be loaded.
 *
 * The other end of a device is a packet socket on the veth's peer (for tap on
 * the device itself), which can send unfinished checksums, large frames and
 * tags by its virtio header.
 */
#ifndef _DRIVERS_DEVICE_TEST_H_
#define	_DRIVERS_DEVICE_TEST_H_

#include "drivers/drivers_test.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sched.h>

#include "drivers/linux_if.h"
#include "drivers/vhdr.h"
#include "wire/in_cksum.h"
#include "wire/in_l4.h"
#include "wire/ip.h"
#include "wire/tcp.h"

#define	KEEP_MAX	256		/* packets kept by the input */
#define	TEST_SKIP	77		/* meson's exit status */

static struct vnet *vnet;
static _Atomic uint64_t got;
static struct mbuf *kept[KEEP_MAX];
static _Atomic bool keep;
static bool	 have_bpf;		/* XDP programs may be loaded */
static uint8_t	 frame[65600];

/* A way to open a device; tests get theirs as cmocka's initial state. */
struct backend {
	const char	*be_spec;
	const struct if_driver *be_driver;
	bool		 be_xdp;
	bool		 be_tap;
};
static inline void
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

static inline void
forget_kept(void)
{
	uint64_t n = atomic_load(&got);

	for (uint64_t i = 0; i < n && i < KEEP_MAX && atomic_load(&keep); i++)
		m_freem(kept[i]);
	atomic_store(&got, 0);
}

static inline void
run(const char *cmd)
{

	if (system(cmd) != 0)
		fail_msg("%s", cmd);
}

/* dv0, ours, and dv1, the others' end; a tap makes its own device. */
static inline void
make_devices(const struct backend *be)
{

	if (be->be_tap)
		return;
	run("ip link add dv0 type veth peer name dv1");
	run("ip link set dv1 up");
}

static inline void
remove_devices(void)
{

	(void)!system("ip link del dv0 2>/dev/null");
}

static inline struct ifnet *
make(const struct backend *be)
{
	char err[256];
	struct ifnet *ifp;
	int error, tries = 0;

	/* On a busy machine a closed socket's queue is held for seconds. */
	do {
		ifp = test_create(vnet, be->be_driver, "dev", be->be_spec,
		    &error, err, sizeof(err));
	} while (ifp == NULL && be->be_xdp && error == EBUSY && ++tries < 5);
	if (ifp == NULL)
		fail_msg("%s: %s", be->be_spec, err);
	if (be->be_tap)
		run("ip link set dv0 up");
	return (ifp);
}

/* A packet socket on the other end that talks with virtio headers. */
static inline int
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

/* Send one frame to the peer; false: refused. */
static inline bool
peer_try(int fd, const struct virtio_net_hdr *vh, const void *data,
    size_t len)
{
	static const struct virtio_net_hdr none;
	struct iovec iov[2] = {
		{ (void *)(uintptr_t)(vh != NULL ? vh : &none), sizeof(*vh) },
		{ (void *)(uintptr_t)data, len },
	};

	return (writev(fd, iov, 2) == (ssize_t)(sizeof(*vh) + len));
}

static inline void
peer_send(int fd, const struct virtio_net_hdr *vh, const void *data,
    size_t len)
{

	assert_true(peer_try(fd, vh, data, len));
}

/*
 * An Ethernet frame with a TCP packet of paylen bytes; its checksum field is
 * the pseudo-header sum, as a sender that counts on offload leaves it.
 */
static inline uint32_t
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
static inline bool
sum_right(const void *p, uint32_t len)
{
	const uint8_t *l3 = (const uint8_t *)p + ETHER_HDR_LEN;
	struct in_l4 l4;

	return (in_l4_find(l3, len - ETHER_HDR_LEN, &l4) &&
	    in_cksum_finish(in_cksum_partial(in_l4_pseudo(l3, &l4, l4.l4_len),
	    l3 + l4.l4_off, l4.l4_len, 0)) == 0);
}

static inline int
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

static inline int
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

static inline void
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

/*
 * Start-up.
 */
static inline void
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
static inline bool
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

static inline bool
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

/* Go there; false, with a line that says why, where that is forbidden. */
static inline bool
test_namespace(void)
{

	if (!enter_namespace()) {
		printf("skipped: no permission to make a network namespace\n");
		return (false);
	}
	have_bpf = try_bpf();
	if (!have_bpf)
		printf("no permission to load XDP programs: no xdp tests\n");
	return (true);
}

#endif /* _DRIVERS_DEVICE_TEST_H_ */
