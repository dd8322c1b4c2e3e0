/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Copyright (c) 2026 The netepoch authors
 */

/*
 * Linux's devices by rtnetlink (libmnl), ethtool and TUNSETIFF.  No state: a
 * request opens its own socket, so calls on different threads do not meet.
 * Control threads and the device watcher only; blocks for a round trip to the
 * kernel.  What netlink says is checked before use: attributes by type and
 * length, strings for their end.
 */
#include "drivers/linux_if.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define	LINUX_MSG_MAX	32768		/* bytes of one netlink answer */

static_assert(LINUX_IFNAMSIZ == IFNAMSIZ, "Linux's own");

/*
 * Names.
 */
static int
linux_ifreq(const char *name, struct ifreq *ifr)
{

	memset(ifr, 0, sizeof(*ifr));
	if (strlen(name) >= sizeof(ifr->ifr_name))
		return (ENAMETOOLONG);
	memcpy(ifr->ifr_name, name, strlen(name));
	return (0);
}

static int
linux_ethtool(const char *name, void *cmd)
{
	struct ifreq ifr;
	int error, fd;

	error = linux_ifreq(name, &ifr);
	if (error != 0)
		return (error);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd == -1)
		return (errno);
	ifr.ifr_data = cmd;
	error = ioctl(fd, SIOCETHTOOL, &ifr) == -1 ? errno : 0;
	close(fd);
	return (error);
}

void
linux_if_driver(const char *name, char *buf, size_t len)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };

	if (linux_ethtool(name, &info) != 0)
		info.driver[0] = '\0';
	info.driver[sizeof(info.driver) - 1] = '\0';
	snprintf(buf, len, "%s", info.driver);
}

uint32_t
linux_if_queues(const char *name)
{
	struct ethtool_channels ch = { .cmd = ETHTOOL_GCHANNELS };
	uint32_t n;

	if (linux_ethtool(name, &ch) != 0)
		return (1);
	n = ch.rx_count > ch.tx_count ? ch.rx_count : ch.tx_count;
	n += ch.combined_count;
	return (n != 0 ? n : 1);
}

/*
 * Netlink.
 */
static int
linux_link_attr(const struct nlattr *attr, void *data)
{
	struct linux_if *li = data;

	switch (mnl_attr_get_type(attr)) {
	case IFLA_IFNAME:
		if (mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) == 0)
			snprintf(li->li_name, sizeof(li->li_name), "%s",
			    mnl_attr_get_str(attr));
		break;
	case IFLA_ADDRESS:
		if (mnl_attr_get_payload_len(attr) == sizeof(li->li_mac))
			memcpy(li->li_mac, mnl_attr_get_payload(attr),
			    sizeof(li->li_mac));
		break;
	case IFLA_MTU:
		if (mnl_attr_validate(attr, MNL_TYPE_U32) == 0)
			li->li_mtu = mnl_attr_get_u32(attr);
		break;
	case IFLA_MAX_MTU:
		if (mnl_attr_validate(attr, MNL_TYPE_U32) == 0)
			li->li_mtu_max = mnl_attr_get_u32(attr);
		break;
	}
	return (MNL_CB_OK);
}

/* False: the message is not about a device. */
static bool
linux_link_parse(const struct nlmsghdr *nlh, struct linux_if *li)
{
	const struct ifinfomsg *ifi;

	if (nlh->nlmsg_type != RTM_NEWLINK && nlh->nlmsg_type != RTM_DELLINK)
		return (false);
	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*ifi))
		return (false);
	ifi = mnl_nlmsg_get_payload(nlh);
	/* A bridge tells of its ports' state in messages of its own family. */
	if (ifi->ifi_family != AF_UNSPEC)
		return (false);
	memset(li, 0, sizeof(*li));
	li->li_index = ifi->ifi_index;
	li->li_gone = nlh->nlmsg_type == RTM_DELLINK;
	li->li_ether = ifi->ifi_type == ARPHRD_ETHER;
	li->li_up = (ifi->ifi_flags & IFF_UP) != 0;
	li->li_carrier = li->li_up && (ifi->ifi_flags & IFF_LOWER_UP) != 0 &&
	    (ifi->ifi_flags & IFF_RUNNING) != 0;
	return (mnl_attr_parse(nlh, sizeof(*ifi), linux_link_attr, li) >= 0);
}

static int
linux_link_cb(const struct nlmsghdr *nlh, void *data)
{

	return (linux_link_parse(nlh, data) ? MNL_CB_OK : MNL_CB_ERROR);
}

/*
 * Send the request in buf (size bytes of room) and take the answer: a device
 * into li, or an acknowledgement when li is NULL.
 */
static int
linux_request(void *buf, size_t size, struct linux_if *li)
{
	struct nlmsghdr *nlh = buf;
	struct mnl_socket *nl;
	unsigned int portid;
	ssize_t len;
	int error = 0, r;

	nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (nl == NULL)
		return (errno);
	if (mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) == -1) {
		error = errno;
		goto close_socket;
	}
	portid = mnl_socket_get_portid(nl);
	nlh->nlmsg_seq = 1;
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) == -1) {
		error = errno;
		goto close_socket;
	}
	len = mnl_socket_recvfrom(nl, buf, size);
	if (len == -1) {
		error = errno;
		goto close_socket;
	}
	errno = 0;
	r = mnl_cb_run(buf, (size_t)len, 1, portid,
	    li != NULL ? linux_link_cb : NULL, li);
	if (r == MNL_CB_ERROR)
		error = errno != 0 ? errno : EPROTO;
close_socket:
	mnl_socket_close(nl);
	return (error);
}

static struct ifinfomsg *
linux_link_msg(void *buf, uint16_t type, uint16_t flags, int index)
{
	struct ifinfomsg *ifi;
	struct nlmsghdr *nlh;

	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	ifi->ifi_family = AF_UNSPEC;
	ifi->ifi_index = index;
	return (ifi);
}

int
linux_if_get(const char *name, struct linux_if *li)
{
	_Alignas(struct nlmsghdr) char buf[LINUX_MSG_MAX];

	if (strlen(name) >= LINUX_IFNAMSIZ)
		return (ENAMETOOLONG);
	linux_link_msg(buf, RTM_GETLINK, 0, 0);
	mnl_attr_put_strz((void *)buf, IFLA_IFNAME, name);
	return (linux_request(buf, sizeof(buf), li));
}

int
linux_if_get_index(int index, struct linux_if *li)
{
	_Alignas(struct nlmsghdr) char buf[LINUX_MSG_MAX];

	linux_link_msg(buf, RTM_GETLINK, 0, index);
	return (linux_request(buf, sizeof(buf), li));
}

int
linux_if_setmtu(int index, uint32_t mtu)
{
	_Alignas(struct nlmsghdr) char buf[LINUX_MSG_MAX];

	linux_link_msg(buf, RTM_NEWLINK, NLM_F_ACK, index);
	mnl_attr_put_u32((void *)buf, IFLA_MTU, mtu);
	return (linux_request(buf, sizeof(buf), NULL));
}

int
linux_if_setmac(int index, const uint8_t *mac)
{
	_Alignas(struct nlmsghdr) char buf[LINUX_MSG_MAX];

	linux_link_msg(buf, RTM_NEWLINK, NLM_F_ACK, index);
	mnl_attr_put((void *)buf, IFLA_ADDRESS, 6, mac);
	return (linux_request(buf, sizeof(buf), NULL));
}

int
linux_if_setup(int index, bool up)
{
	_Alignas(struct nlmsghdr) char buf[LINUX_MSG_MAX];
	struct ifinfomsg *ifi;

	ifi = linux_link_msg(buf, RTM_NEWLINK, NLM_F_ACK, index);
	ifi->ifi_flags = up ? IFF_UP : 0;
	ifi->ifi_change = IFF_UP;
	return (linux_request(buf, sizeof(buf), NULL));
}

/* A device's mode, held as long as the socket is open. */
static int
linux_if_mode(int index, unsigned short mode, int *fdp)
{
	struct packet_mreq mr = {
		.mr_ifindex = index,
		.mr_type = mode,
	};
	int error, fd;

	/* Protocol 0: the socket itself receives nothing. */
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd == -1)
		return (errno);
	if (setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &mr,
	    sizeof(mr)) == -1) {
		error = errno;
		close(fd);
		return (error);
	}
	*fdp = fd;
	return (0);
}

int
linux_if_promisc(int index, int *fdp)
{

	return (linux_if_mode(index, PACKET_MR_PROMISC, fdp));
}

int
linux_if_allmulti(int index, int *fdp)
{

	return (linux_if_mode(index, PACKET_MR_ALLMULTI, fdp));
}

int
linux_monitor_open(int *fdp)
{
	struct sockaddr_nl snl = {
		.nl_family = AF_NETLINK,
		.nl_groups = RTMGRP_LINK,
	};
	int fd;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    NETLINK_ROUTE);
	if (fd == -1)
		return (errno);
	if (bind(fd, (void *)&snl, sizeof(snl)) == -1) {
		int error = errno;

		close(fd);
		return (error);
	}
	*fdp = fd;
	return (0);
}

int
linux_monitor_read(int fd, linux_if_fn *fn, void *arg)
{
	_Alignas(struct nlmsghdr) char buf[LINUX_MSG_MAX];
	struct sockaddr_nl from;
	const struct nlmsghdr *nlh;
	struct linux_if li;
	socklen_t fromlen;
	ssize_t n;
	int len;

	for (;;) {
		fromlen = sizeof(from);
		n = recvfrom(fd, buf, sizeof(buf), MSG_DONTWAIT,
		    (void *)&from, &fromlen);
		if (n == -1)
			return (errno == EAGAIN || errno == EINTR ? 0 : errno);
		/* Other processes may send here: only the kernel is heard. */
		if (fromlen != sizeof(from) || from.nl_pid != 0)
			continue;
		len = (int)n;
		for (nlh = (void *)buf; mnl_nlmsg_ok(nlh, len);
		    nlh = mnl_nlmsg_next(nlh, &len))
			if (linux_link_parse(nlh, &li))
				fn(arg, &li);
	}
}

/*
 * TAP.
 */
static int
linux_tap_modes(int fd)
{
	int hdrlen = LINUX_TAP_HDRLEN;

	if (ioctl(fd, TUNSETVNETHDRSZ, &hdrlen) == -1)
		return (errno);
	if (ioctl(fd, TUNSETOFFLOAD,
	    TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN) == -1)
		return (errno);
	if (fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK) == -1 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) == -1)
		return (errno);
	return (0);
}

int
linux_tap_open(const char *name, int *fdp)
{
	struct ifreq ifr;
	int error, fd;

	error = linux_ifreq(name, &ifr);
	if (error != 0)
		return (error);
	fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return (errno);
	ifr.ifr_flags = (short)(IFF_TAP | IFF_NO_PI | IFF_VNET_HDR |
	    IFF_TUN_EXCL);
	if (ioctl(fd, TUNSETIFF, &ifr) == -1)
		error = errno;
	else
		error = linux_tap_modes(fd);
	if (error != 0) {
		close(fd);
		return (error);
	}
	*fdp = fd;
	return (0);
}

int
linux_tap_take(int fd, char *name)
{
	struct ifreq ifr;

	memset(&ifr, 0, sizeof(ifr));
	if (ioctl(fd, TUNGETIFF, &ifr) == -1)
		return (errno == EBADF ? EBADF : EINVAL);
	if ((ifr.ifr_flags & IFF_TAP) == 0 ||
	    (ifr.ifr_flags & IFF_NO_PI) == 0 ||
	    (ifr.ifr_flags & IFF_VNET_HDR) == 0)
		return (EINVAL);
	snprintf(name, LINUX_IFNAMSIZ, "%.*s", IFNAMSIZ - 1, ifr.ifr_name);
	return (linux_tap_modes(fd));
}

bool
linux_tap_exists(int fd)
{
	struct ifreq ifr;

	memset(&ifr, 0, sizeof(ifr));
	return (ioctl(fd, TUNGETIFF, &ifr) == 0);
}
