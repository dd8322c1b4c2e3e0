# SPDX-License-Identifier: BSD-2-Clause
"""The router that most stories use, and packets put on its wires.

    gen g0 192.0.2.10 ---- p0 [machine] p1 ---- s0 198.51.100.10 sink

gen and sink are Linux hosts.  On the same wires stand stations that exist
only as frames of the stories: A (192.0.2.66) beside gen, C (198.51.100.66)
beside sink, static neighbours of the machine; 203.0.113.0/24 is behind C.
Linux ignores their frames, which are not for its MAC.

What must not come out is told from what is late by markers: packets that do
come out, sent last.  They have an IP option, because packets that are not
plain are the last of their burst.
"""

import collections
import select
import socket
import struct
import subprocess
import time

from scapy.layers.inet import (ICMP, IP, UDP, IPOption_EOL, IPOption_NOP)
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

import netns

SOL_PACKET, PACKET_AUXDATA, PACKET_VNET_HDR = 263, 8, 15
PACKET_IGNORE_OUTGOING, SO_RCVBUFFORCE = 23, 33
ETH_P_ALL, TP_STATUS_CSUMNOTREADY, TP_STATUS_VLAN_VALID = 3, 8, 16
VIRTIO_NEEDS_CSUM, VIRTIO_GSO_TCPV4 = 1, 1

GEN, SINK = "192.0.2.10", "198.51.100.10"
R0, R1 = "192.0.2.1", "198.51.100.1"
A, A_MAC = "192.0.2.66", "02:00:00:00:0a:01"
C, C_MAC = "198.51.100.66", "02:00:00:00:0c:01"
FAR = "203.0.113.5"
NOPS = [IPOption_NOP(), IPOption_NOP(), IPOption_NOP(), IPOption_EOL()]
BROADCAST = "ff:ff:ff:ff:ff:ff"

# What a router is made of; the names of the drivers are the stories' ids.
DRIVERS = ("packet", "xdp", "tap")
PAIRS = ("packet-packet", "xdp-xdp", "tap-tap", "packet-xdp", "xdp-packet",
         "tap-packet")


def sum16(data):
    """The Internet checksum of data."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def pseudo(src, dst, proto, length):
    """The folded sum of a pseudo header, as unfinished checksums hold it."""
    return sum16(socket.inet_aton(src) + socket.inet_aton(dst) +
                 struct.pack("!HH", proto, length))


def finish(data):
    """What hardware does to a frame with an unfinished checksum: only ever
    one whose field holds the sum of the pseudo header."""
    at = 14 + (data[14] & 15) * 4
    end = 14 + int.from_bytes(data[16:18], "big")
    field = at + {6: 16, 17: 6}[data[23]]
    want = sum16(data[26:34] + struct.pack("!HH", data[23], end - at))
    assert int.from_bytes(data[field:field + 2], "big") == want
    total = ~sum16(data[at:end]) & 0xffff or 0xffff
    return data[:field] + total.to_bytes(2, "big") + data[field + 2:]


class Wire:
    """A raw socket on a device: what comes to it, and frames to send."""

    def __init__(self, ns, dev):
        self.ns, self.dev = ns, dev
        self.s = ns.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.s.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        self.s.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        try:
            self.s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)
        except PermissionError:         # root of a user namespace
            self.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
        self.s.bind((dev, ETH_P_ALL))
        self.s.setblocking(False)
        self.partial = None

    def send(self, *frames):
        for frame in frames:
            self.s.send(bytes(frame))

    def send_offload(self, frame, start, offset, mss=0, headers=0):
        """A frame whose TCP or UDP checksum is for the receiver to finish;
        with mss also one that is for it to cut."""
        if self.partial is None:
            self.partial = self.ns.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                          0)
            self.partial.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
            self.partial.bind((self.dev, 0))
        self.partial.send(struct.pack(
            "=BBHHHH", VIRTIO_NEEDS_CSUM, VIRTIO_GSO_TCPV4 if mss else 0,
            headers, mss, start, offset) + bytes(frame))

    def receive(self):
        """One frame's bytes, or None.  As on a wire: a VLAN tag that Linux
        keeps beside it is put back, a checksum it left for later finished.
        """
        try:
            data, anc, _, _ = self.s.recvmsg(70000, 256)
        except BlockingIOError:
            return None
        for level, kind, aux in anc:
            if (level, kind) != (SOL_PACKET, PACKET_AUXDATA):
                continue
            status, _, _, _, _, tci, tpid = struct.unpack("=IIIHHHH", aux)
            if status & TP_STATUS_CSUMNOTREADY:
                data = finish(data)
            if status & TP_STATUS_VLAN_VALID:
                data = data[:12] + struct.pack("!HH", tpid, tci) + data[12:]
        return data

    def until_bytes(self, last, timeout=20):
        """Frames up to the one for which last is true, without it; bytes."""
        end, seen = time.monotonic() + timeout, []
        while time.monotonic() < end:
            data = self.receive()
            if data is None:
                select.select([self.s], [], [], 0.2)
            elif last(data):
                return seen
            else:
                seen.append(data)
        raise netns.Failed(f"{self.dev}: the awaited frame did not come; " +
                           "; ".join(Ether(f).summary() for f in seen[-8:]))

    def until(self, last, timeout=20):
        """The same, dissected."""
        return [Ether(f) for f in
                self.until_bytes(lambda f: last(Ether(f)), timeout)]

    def wait(self, wanted, timeout=20):
        """The first frame for which wanted is true."""
        found = []
        self.until(lambda f: wanted(f) and not found.append(f), timeout)
        return found[0]

    def flush(self):
        try:
            while True:
                self.s.recv(1)
        except BlockingIOError:
            pass


class Router:
    """The machine and its surroundings; see above."""

    def __init__(self, lab, pair="packet-packet", args=(), options=("", ""),
                 config="", cpus=None):
        self.lab, self.pair = lab, pair
        self.drivers = pair.split("-")
        self.gen, self.router, self.sink = (
            lab.ns(n) for n in ("gen", "router", "sink"))
        self.sides = ((self.gen, "g0", "r0"), (self.sink, "s0", "r1"))
        for driver, (ns, dev, mine) in zip(self.drivers, self.sides):
            if driver != "tap":
                lab.veth(ns, dev, self.router, mine)
        specs = [self.spec(i) + options[i] for i in (0, 1)]
        self.config = f"""
ifconfig p0 create {specs[0]}
ifconfig p0 inet {R0}/24 up
ifconfig p1 create {specs[1]}
ifconfig p1 inet {R1}/24 up
sysctl net.inet.ip.forwarding=1
arp -s {A} {A_MAC}
arp -s {C} {C_MAC}
route add -net 203.0.113.0/24 {C}
{config}"""
        self.m = lab.machine(self.router, config=self.config, args=args)
        self.hosts()
        self.w0, self.w1 = (Wire(ns, dev) for ns, dev, _ in self.sides)
        self.macs = [self.mac("p0"), self.mac("p1")]
        self.host_macs = [bytes.fromhex(ns.mac(dev).replace(":", ""))
                          for ns, dev, _ in self.sides]
        self.mark = 0

    def stop(self):
        """The machine ends well, and had nothing to complain of."""
        assert self.m.stop(60) == 0, self.m.text()
        for word in ("Sanitizer", "runtime error", "panic", "assertion"):
            assert word not in self.m.text(), self.m.text()

    def spec(self, side):
        """What to create the interface of that side from."""
        _, dev, mine = self.sides[side]
        driver = self.drivers[side]
        return f"tap:{dev}" if driver == "tap" else f"{driver}:{mine}"

    def hosts(self):
        """Give the hosts their devices, addresses and routes."""
        for driver, (ns, dev, _), addr, via in zip(
                self.drivers, self.sides, (GEN, SINK), (R0, R1)):
            if driver == "tap":
                self.router.ip(f"link set {dev} netns {ns.name}")
                ns.ip(f"link set {dev} up")
            ns.ip(f"addr add {addr}/24 dev {dev}")
            ns.ip(f"route add default via {via}")

    def mac(self, name):
        return self.m.call("if.list", {"name": name})["interfaces"][0][
            "ether"]

    def stats(self, proto="ip"):
        """A protocol's counters by name."""
        rows = self.m.call("stats.get", {"proto": proto})["protocols"][proto]
        return {r["name"]: r["value"] for r in rows}

    def drops(self, name=None):
        """Drops by reason, of one interface or of all."""
        args = {"interface": name} if name else {}
        count = collections.Counter()
        for d in self.m.call("drops.list", args)["drops"]:
            count[d["name"]] += d["count"]
        return count

    def a(self, **ip):
        """A frame of A's for the router, its IP header as given."""
        ip.setdefault("dst", FAR)
        return Ether(src=A_MAC, dst=self.macs[0]) / IP(src=A, **ip)

    def udp(self, data=b"netepoch", sport=4000, dport=5000, **ip):
        return self.a(**ip) / UDP(sport=sport, dport=dport) / Raw(data)

    def marker(self):
        """What comes out at p1 as it is, and back at p0 as a reply."""
        self.mark += 1
        text = b"marker %d." % self.mark
        self.w0.send(self.udp(text, options=NOPS),
                     self.a(dst=R0, options=NOPS) / ICMP() / Raw(text))
        return text

    def out_bytes(self, *frames, send=None):
        """What comes out at p0 and at p1 after these frames at p0, of the
        stations' traffic: the machine and the hosts talk ARP as they like."""
        self.w0.flush()
        self.w1.flush()
        if send is not None:
            send()
        self.w0.send(*frames)
        text = self.marker()
        # An error about a marker is none, and quotes it.
        return tuple(
            [f for f in wire.until_bytes(lambda f: text in f and
                                         f[14] == 0x46)
             if f[12:14] != b"\x08\x06" and f[:6] not in self.host_macs]
            for wire in (self.w0, self.w1))

    def out(self, *frames, **kw):
        """The same, dissected."""
        return tuple([Ether(f) for f in side]
                     for side in self.out_bytes(*frames, **kw))

    def echo(self, **ip):
        """A's echo request to the machine, or as ip says."""
        ip.setdefault("dst", R0)
        return self.a(**ip) / ICMP() / Raw(b"0123456789")


class Flow:
    """UDP from gen to a port of sink that nobody listens on, at a rate, until
    the end of the `with`; both ends count."""

    def __init__(self, router, rate):
        self.router, self.rate = router, rate

    def __enter__(self):
        self.before = self.router.sink.snmp("Udp")["NoPorts"]
        self.process = self.router.gen.popen(
            [netns.BUILD / "tests/flood", "g0", self.router.mac("p0"), GEN,
             SINK, 600, self.rate], stdout=subprocess.PIPE)
        netns.wait_for(lambda: self.arrived() > 0, 20)
        return self

    def arrived(self):
        return self.router.sink.snmp("Udp")["NoPorts"] - self.before

    def __exit__(self, *exc):
        self.process.terminate()
        self.sent = int(self.process.communicate(timeout=20)[0].split()[1])

    def lost(self):
        """Packets that have not come, with time for the last ones."""
        end = time.monotonic() + 10
        while self.arrived() < self.sent and time.monotonic() < end:
            time.sleep(0.05)
        return self.sent - self.arrived()


def ping(ns, dst, *options, count=3):
    """The hosts' own ping: what it says.  Failed unless count replies came."""
    return ns.run(["ping", "-c", count, "-i", "0.05", "-w", "20", *options,
                   dst])


def arp_request(src_mac, src, dst, eth_dst=BROADCAST):
    return Ether(src=src_mac, dst=eth_dst) / ARP(
        op=1, hwsrc=src_mac, psrc=src, pdst=dst)


def icmp_of(frames, kind, code=None):
    """The ICMP messages of a type among frames."""
    return [f for f in frames if ICMP in f and f[ICMP].type == kind and
            code in (None, f[ICMP].code)]
