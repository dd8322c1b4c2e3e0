# SPDX-License-Identifier: BSD-2-Clause
"""A router on a stick, and what netstat counts, from zero on and exactly."""

import pytest
from scapy.layers.inet import ICMP, IP, IPOption_Stream_Id
from scapy.layers.l2 import Ether
from scapy.packet import Raw

import netns
import rig

NEAR, OTHER, MAC = "192.0.2.3", "192.0.2.4", "02:00:00:00:0a:03"


class Stick:
    """A machine with one interface, 192.0.2.2/29, of a host at .1."""

    def __init__(self, lab):
        self.host, ns = lab.ns("host"), lab.ns("jail")
        lab.veth(self.host, "h0", ns, "j0")
        self.host.ip("addr add 192.0.2.1/29 dev h0")
        self.m = lab.machine(ns, config="""
ifconfig p0 create packet:j0
ifconfig p0 inet 192.0.2.2/29
sysctl net.inet.ip.forwarding=1
sysctl net.inet.ip.redirect=0
""")
        ether, = [line.split()[1] for line in
                  self.m.tool("ifconfig p0").splitlines()
                  if line.split()[0] == "ether"]
        self.mac, self.wire = ether, rig.Wire(self.host, "h0")
        rig.ping(self.host, "192.0.2.2", count=1)

    def through(self, dst, **ip):
        """An echo request of NEAR's comes back, one hop older."""
        sent = Ether(src=self.host.mac("h0"), dst=self.mac) / IP(
            src=NEAR, dst=dst, ttl=64, **ip) / ICMP(id=1) / Raw(b"x" * 40)
        self.wire.send(sent)
        back = self.wire.wait(lambda f: IP in f and f[IP].src == NEAR)
        assert (back.src, back.dst) == (self.mac, self.host.mac("h0"))
        assert len(back) == len(sent) and back[IP].ttl == 63
        assert back[IP].dst == dst
        assert bytes(back[ICMP]) == bytes(sent[ICMP])
        return back

    def counted(self, line):
        text = self.m.tool("netstat -sp ip")
        assert f"\t{line}\n" in text, text


@pytest.fixture
def stick(lab):
    made = Stick(lab)
    yield made
    assert made.m.stop() == 0


def test_fast(stick):
    stick.through("192.0.2.1")
    stick.counted("1 packet forwarded (1 packet fast forwarded)")


def test_gateway(stick):
    stick.m.tool(f"route add -host {OTHER} 192.0.2.1")
    stick.through(OTHER)
    stick.counted("1 packet forwarded (1 packet fast forwarded)")


def test_slow(stick):
    """With an option it takes the long way, and the option along."""
    back = stick.through("192.0.2.1",
                         options=[IPOption_Stream_Id(security=7)])
    assert back[IP].options[0].security == 7
    stick.counted("1 packet forwarded (0 packets fast forwarded)")


def test_blackhole(stick):
    stick.host.ip("route add 198.51.100.0/24 via 192.0.2.2")
    stick.counted("0 packets not forwardable")
    stick.m.tool("route add 198.51.100.1 -blackhole -fib 0")
    for n, options in ((1, ["-R"]), (2, [])):
        p = stick.host.run(["ping", "-c", "1", "-W", "1", *options,
                            "198.51.100.1"], check=False)
        assert p.returncode == 1
        stick.counted(f"{n} packet{'s' * (n > 1)} not forwardable")
