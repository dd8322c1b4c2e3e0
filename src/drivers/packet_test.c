/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Tests of how packet sends: frames in the ring and beside it, in order, whole
 * or counted.
 */
#include "drivers/device_test.h"

#include "sys/thread.h"

static struct backend veth = { "packet:dv0", &packet_driver, false, false };

/* A frame of len bytes that says its number, in mbufs of at most piece. */
static struct mbuf *
numbered(uint32_t len, uint32_t number, uint32_t piece)
{
	uint8_t data[9100];
	struct mbuf *m, *last, *next;
	uint32_t at, n;

	(void)make_partial(20);
	memcpy(data, frame, ETHER_HDR_LEN);
	for (at = ETHER_HDR_LEN; at < len; at++)
		data[at] = (uint8_t)(at * 7 + number);
	for (m = last = NULL, at = 0; at < len; at += n) {
		n = len - at < piece ? len - at : piece;
		assert_non_null(next = m_gethdr());
		memcpy(next->m_data, data + at, n);
		next->m_len = n;
		if (last == NULL)
			m = next;
		else
			last->m_next = next;
		last = next;
	}
	m->m_pkthdr.len = len;
	return (m);
}

static void
transmit(struct ifnet *ifp, struct mbuf **m, unsigned int n)
{
	struct epoch_tracker et;

	NET_EPOCH_ENTER(et);
	if_transmit(ifp, m, n);
	NET_EPOCH_EXIT(et);
}

/* The next frame at fd is the one numbered() made. */
static void
expect(int fd, uint32_t len, uint32_t number)
{
	static uint8_t buf[10000];
	const uint8_t *p = buf + sizeof(struct virtio_net_hdr);

	assert_int_equal(read(fd, buf, sizeof(buf)),
	    len + sizeof(struct virtio_net_hdr));
	for (uint32_t at = ETHER_HDR_LEN; at < len; at++)
		if (p[at] != (uint8_t)(at * 7 + number))
			fail_msg("frame %u of %u bytes: byte %u", number, len,
			    at);
}

/* All lengths around what a slot holds, in one piece and in several. */
static void
test_lengths(void **state)
{
	const uint32_t lens[] = {
		14, 60, 1514, 2005, 2006, 2007, 2008, 60, 9014, 9000, 61,
	};
	struct backend *be = *state;
	struct mbuf *m[nitems(lens)];
	struct ifnet *ifp;
	uint32_t number = 0;
	int fd;

	run("ip link set dv0 mtu 9000");
	run("ip link set dv1 mtu 9000");
	ifp = make(be);
	fd = peer_open(be);
	/* More often than there are slots. */
	for (unsigned int round = 0; round < 60; round++) {
		for (unsigned int i = 0; i < nitems(lens); i++)
			m[i] = numbered(lens[i], number + i,
			    round % 2 == 0 ? MBUF_DATA_SIZE : 300);
		transmit(ifp, m, nitems(lens));
		for (unsigned int i = 0; i < nitems(lens); i++)
			expect(fd, lens[i], number++);
	}
	assert_int_equal(if_counter(ifp, IFC_OPACKETS), number);
	assert_int_equal(if_counter(ifp, IFC_OERRORS), 0);
	close(fd);
	test_destroy(ifp);
}

/* What cannot be sent is counted, and the frames beside it go. */
static void
test_short(void **state)
{
	struct backend *be = *state;
	struct ifnet *ifp;
	struct mbuf *m[5];
	int fd;

	ifp = make(be);
	fd = peer_open(be);
	for (unsigned int i = 0; i < nitems(m); i++)
		m[i] = numbered(i == 1 || i == 3 ? 10 : 60, i, MBUF_DATA_SIZE);
	transmit(ifp, m, nitems(m));
	expect(fd, 60, 0);
	expect(fd, 60, 2);
	expect(fd, 60, 4);
	assert_int_equal(if_counter(ifp, IFC_DROPS + IFD_TXERR), 2);
	m[0] = numbered(60, 5, MBUF_DATA_SIZE);
	transmit(ifp, m, 1);
	expect(fd, 60, 5);
	close(fd);
	test_destroy(ifp);
}

/* Linux makes the MTU smaller behind our back: what is longer is counted. */
static void
test_mtu_behind(void **state)
{
	struct backend *be = *state;
	struct ifnet *ifp;
	struct mbuf *m[3];
	uint64_t sent;
	int fd;

	ifp = make(be);
	fd = peer_open(be);
	run("ip link set dv0 mtu 1000");
	for (sent = 0; if_counter(ifp, IFC_DROPS + IFD_TOOBIG) == 0; sent++) {
		assert_true(sent < 10000);
		m[0] = numbered(1100, 0, MBUF_DATA_SIZE);
		transmit(ifp, m, 1);
		usleep(1000);
	}
	while (--sent != 0)
		expect(fd, 1100, 0);
	m[0] = numbered(1014, 1, MBUF_DATA_SIZE);
	m[1] = numbered(1015 + ETHER_VLAN_ENCAP_LEN, 2, MBUF_DATA_SIZE);
	m[2] = numbered(1013, 3, MBUF_DATA_SIZE);
	transmit(ifp, m, nitems(m));
	expect(fd, 1014, 1);
	expect(fd, 1013, 3);
	assert_int_equal(if_counter(ifp, IFC_DROPS + IFD_TOOBIG), 2);
	close(fd);
	test_destroy(ifp);
}

/* A TAP device that nobody reads takes no more: the rest is counted, and its frames are whole. */
static void
test_full(void **state)
{
	static struct backend tap = { "packet:dv9", &packet_driver, false,
	    false };
	const unsigned int bursts = 40;
	struct ifnet *ifp;
	struct mbuf *m[MBUF_BURST];
	uint8_t buf[2048], *p = buf + sizeof(struct virtio_net_hdr);
	uint64_t lost, passed = 0;
	int fd;

	assert_int_equal(linux_tap_open("dv9", &fd), 0);
	run("ip link set dv9 up txqueuelen 500");
	ifp = make(&tap);
	for (unsigned int b = 0; b < bursts; b++) {
		for (unsigned int i = 0; i < MBUF_BURST; i++)
			m[i] = numbered(200, b * MBUF_BURST + i,
			    MBUF_DATA_SIZE);
		transmit(ifp, m, MBUF_BURST);
	}
	lost = if_counter(ifp, IFC_DROPS + IFD_TXRING);
	assert_in_range(lost, 1, bursts * MBUF_BURST - 1);
	assert_int_equal(if_counter(ifp, IFC_OPACKETS) + lost,
	    bursts * MBUF_BURST);
	while (read(fd, buf, sizeof(buf)) == 200 + (p - buf)) {
		for (uint32_t at = ETHER_HDR_LEN; at < 200; at++)
			assert_int_equal(p[at], (uint8_t)(at * 7 + passed));
		passed++;
	}
	assert_int_equal(passed + lost, bursts * MBUF_BURST);
	test_destroy(ifp);
	close(fd);
}

/*
 * Two threads at one interface.
 */
#define	SENDERS		2
#define	SENDER_BURSTS	300u

struct sender {
	struct thread	*s_td;
	struct ifnet	*s_ifp;
	uint8_t		 s_id;
};

/* A frame's last bytes are its sender and its place among the sender's. */
static void
sender_main(void *arg)
{
	struct sender *s = arg;
	struct mbuf *m[16];
	uint8_t data[60] = { 0x02, 0, 0, 0, 0, 2, 0x02, 0, 0, 0, 0, 1, 0x88,
	    0xb5 };
	uint32_t number = 0;

	for (unsigned int b = 0; b < SENDER_BURSTS; b++) {
		if (m_get_burst(m, nitems(m)) != nitems(m))
			ne_panic(__FILE__, __LINE__, "no mbufs");
		for (unsigned int i = 0; i < nitems(m); i++, number++) {
			data[50] = s->s_id;
			memcpy(data + 52, &number, sizeof(number));
			(void)m_append(m[i], sizeof(data), data);
		}
		transmit(s->s_ifp, m, nitems(m));
	}
}

static void
test_senders(void **state)
{
	const uint32_t each = SENDER_BURSTS * 16;
	struct backend *be = *state;
	struct sender s[SENDERS];
	uint32_t next[SENDERS] = { 0 }, number;
	uint8_t buf[2048], *p = buf + sizeof(struct virtio_net_hdr);
	struct ifnet *ifp;
	int fd, size = 64 << 20;

	ifp = make(be);
	fd = peer_open(be);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size,
	    sizeof(size)) != 0)
		size = 0;		/* not privileged: some may be lost */
	for (unsigned int i = 0; i < SENDERS; i++) {
		s[i].s_ifp = ifp;
		s[i].s_id = (uint8_t)i;
		assert_int_equal(thread_create(&s[i].s_td, "sender",
		    THREAD_ANY_CPU, sender_main, &s[i]), 0);
	}
	for (unsigned int i = 0; i < SENDERS; i++)
		thread_join(s[i].s_td);
	assert_int_equal(if_counter(ifp, IFC_OPACKETS), SENDERS * each);
	while (recv(fd, buf, sizeof(buf), MSG_DONTWAIT) > 0) {
		assert_in_range(p[50], 0, SENDERS - 1);
		memcpy(&number, p + 52, sizeof(number));
		assert_true(number >= next[p[50]]);
		if (size != 0)
			assert_int_equal(number, next[p[50]]);
		next[p[50]] = number + 1;
	}
	for (unsigned int i = 0; size != 0 && i < SENDERS; i++)
		assert_int_equal(next[i], each);
	close(fd);
	test_destroy(ifp);
}

#define	T(f)								\
	cmocka_unit_test_prestate_setup_teardown(f, setup, teardown, &veth)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_lengths), T(test_short), T(test_mtu_behind),
		T(test_full), T(test_senders),
	};

	if (!test_namespace())
		return (TEST_SKIP);
	return (cmocka_run_group_tests_name("packet", tests, NULL, NULL));
}
