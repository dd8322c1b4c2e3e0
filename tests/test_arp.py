# SPDX-License-Identifier: BSD-2-Clause
"""ARP: what the machine asks, answers, learns, and does not believe."""

import re

import pytest
from scapy.layers.inet import UDP
from scapy.layers.l2 import ARP, Ether

import netns
import rig

ZERO = "00:00:00:00:00:00"
H, H_MAC, NEW_MAC = "192.0.2.70", "02:00:00:00:0d:01", "02:00:00:00:0d:02"


@pytest.fixture(scope="module")
def router(isolation):
    with netns.Lab() as lab:
        made = rig.Router(lab, "packet-packet", config="""
ifconfig p0 inet 10.0.0.1/24 alias
sysctl net.link.ether.inet.max_log_per_second=1000
""")
        yield made
        made.stop()


@pytest.fixture(autouse=True)
def forget(router):
    """Each story begins with H unknown."""
    router.m.try_tool("arp", "-d", H)


def arp(op, hwsrc, psrc, pdst, hwdst=ZERO, dst=rig.BROADCAST, src=None):
    return Ether(src=src or hwsrc, dst=dst) / ARP(
        op=op, hwsrc=hwsrc, psrc=psrc, hwdst=hwdst, pdst=pdst)


def answered(router, *frames):
    """The ARP that these frames cause, up to the answer to a last request."""
    router.w0.flush()
    router.w0.send(*frames, arp(1, "02:00:00:00:0e:01", "192.0.2.99", rig.R0))
    seen = router.w0.until(lambda f: ARP in f and f[ARP].pdst == "192.0.2.99")
    return [f for f in seen if ARP in f and f[ARP].hwdst != router.gen.mac(
        "g0")]


def entry(router, addr):
    p = router.m.try_tool("arp", "-n", addr)
    return p.stdout if p.returncode == 0 else None


def test_request(router):
    """Answered to the one who asked, with our MAC; and he is learned."""
    reply, = answered(router, arp(1, H_MAC, H, rig.R0))
    assert reply.dst == H_MAC and reply[ARP].op == 2
    assert (reply[ARP].hwsrc, reply[ARP].psrc) == (router.macs[0], rig.R0)
    assert (reply[ARP].hwdst, reply[ARP].pdst) == (H_MAC, H)
    assert re.fullmatch(rf"\? \({H}\) at {H_MAC} on p0 expires in \d+ seconds "
                        r"\[ethernet\]\n", entry(router, H))


def test_probe(router):
    """A host that asks whether our address is free is told, not learned."""
    reply, = answered(router, arp(1, H_MAC, "0.0.0.0", rig.R0))
    assert reply[ARP].op == 2 and reply[ARP].psrc == rig.R0
    assert entry(router, "0.0.0.0") is None


def test_move(router):
    """A known host announces another MAC: believed, and logged."""
    answered(router, arp(1, H_MAC, H, rig.R0))
    assert answered(router, arp(1, NEW_MAC, H, H)) == []
    assert NEW_MAC in entry(router, H)
    line = f"{H} moved from {H_MAC} to {NEW_MAC} on p0"
    netns.wait_for(lambda: line in router.m.text())


def test_log_off(router):
    router.m.tool("sysctl net.link.ether.inet.log_arp_movements=0")
    before = router.m.text().count("moved from")
    answered(router, arp(1, H_MAC, H, rig.R0), arp(1, NEW_MAC, H, H))
    router.m.tool("sysctl net.link.ether.inet.log_arp_movements=1")
    assert NEW_MAC in entry(router, H)
    assert router.m.text().count("moved from") == before


def test_conflict(router):
    """Another claims our address: counted, logged, and not believed."""
    before = router.stats("arp")
    answered(router, arp(2, H_MAC, rig.R0, rig.R0))
    assert router.stats("arp") != before
    assert entry(router, rig.R0) is None or H_MAC not in entry(router, rig.R0)
    assert H_MAC in router.m.text()
    rig.ping(router.gen, rig.R0)


@pytest.mark.parametrize("frame", [
    arp(1, rig.BROADCAST, "192.0.2.77", rig.R0, src=H_MAC),
    arp(1, "03:00:00:00:00:01", "192.0.2.77", rig.R0, src=H_MAC),
    arp(2, H_MAC, "192.0.2.255", rig.R0),
    arp(2, H_MAC, "224.0.0.5", rig.R0),
    arp(2, H_MAC, "127.0.0.1", rig.R0),
    arp(2, H_MAC, "192.0.2.77", "192.0.2.78"),
], ids=["broadcast-mac", "multicast-mac", "from-broadcast", "from-multicast",
        "from-loopback", "of-others"])
def test_not_believed(router, frame):
    """No reply, no entry."""
    before = router.m.call("arp.list")["entries"]
    addresses = {e["addr"] for e in before}
    assert answered(router, frame) == []
    after = router.m.call("arp.list")["entries"]
    assert {e["addr"] for e in after} <= addresses | {"192.0.2.99"}


def test_stranger(router):
    """One from another network is answered, but not learned."""
    reply, = answered(router, arp(1, H_MAC, "10.9.8.7", rig.R0))
    assert (reply.dst, reply[ARP].psrc) == (H_MAC, rig.R0)
    assert entry(router, "10.9.8.7") is None


@pytest.mark.parametrize("field,value", [
    ("hwtype", 6), ("ptype", 0x86dd), ("hwlen", 8), ("plen", 16),
    ("op", 0), ("op", 3), ("op", 9)])
def test_wrong_format(router, field, value):
    raw = bytearray(bytes(arp(1, H_MAC, H, rig.R0)))
    at, size = {"hwtype": (14, 2), "ptype": (16, 2), "hwlen": (18, 1),
                "plen": (19, 1), "op": (20, 2)}[field]
    raw[at:at + size] = value.to_bytes(size, "big")
    before = router.drops("p0")
    assert answered(router, bytes(raw)) == []
    assert entry(router, H) is None
    assert sum((router.drops("p0") - before).values()) == 1


def test_sender_address(router):
    """A question is asked from our address in the network of the answer."""
    router.w0.flush()
    router.w0.send(router.udp(dst="10.0.0.7"))
    asked = router.w0.wait(lambda f: ARP in f and f[ARP].pdst == "10.0.0.7")
    assert (asked[ARP].op, asked[ARP].psrc) == (1, "10.0.0.1")
    assert asked[ARP].hwsrc == router.macs[0]


def test_held_packets(router):
    """Packets for a host being asked for wait, and go out when it answers."""
    router.w0.flush()
    router.w0.send(*(router.udp(b"%d" % i, dst="10.0.0.8") for i in range(3)))
    router.w0.wait(lambda f: ARP in f and f[ARP].pdst == "10.0.0.8")
    router.w0.send(arp(2, H_MAC, "10.0.0.8", "10.0.0.1",
                       hwdst=router.macs[0], dst=router.macs[0]))
    got = []
    router.w0.until(lambda f: UDP in f and f.dst == H_MAC and
                    got.append(bytes(f[UDP].payload)[:1]) or len(got) == 3)
    assert got == [b"0", b"1", b"2"]


def test_static(router):
    """What was set by hand is not changed by the wire; the log says who
    tried.  Setting is silent, deleting is not."""
    assert router.m.tool(f"arp -s {H} {H_MAC}") == ""
    answered(router, arp(1, NEW_MAC, H, H))
    line = f"arp: {NEW_MAC} attempts to modify permanent entry for {H} on p0"
    netns.wait_for(lambda: line in router.m.text())
    assert entry(router, H).startswith(
        f"? ({H}) at {H_MAC} on p0 permanent [ethernet]")
    assert router.m.tool(f"arp -nd {H}") == f"{H} ({H}) deleted\n"
    p = router.m.try_tool("arp", "-n", H)
    assert (p.returncode, p.stdout) == (1, f"{H} ({H}) -- no entry\n")


def test_static_zero(router):
    """Also one whose MAC is zero survives an announcement."""
    router.m.tool(f"arp -s {H} {ZERO}")
    answered(router, arp(1, H_MAC, H, H))
    assert f"at {ZERO} on p0 permanent" in entry(router, H)


def test_interface_goes_with_questions_open(router):
    """Many silent hosts are asked for when the interface is destroyed."""
    m = router.m
    router.lab.veth(router.gen, "g5", router.router, "r5")
    m.tool("ifconfig p5 create packet:r5")
    m.tool("ifconfig p5 inet 10.5.0.1/24 up")
    router.out(*(bytes(router.udp(dst=f"10.5.0.{i}"))
                 for i in range(2, 201)))
    assert "(10.5.0.100) at (incomplete) on p5" in m.tool("arp -an")
    m.tool("ifconfig p5 destroy")
    assert "10.5.0" not in m.tool("arp -an")
    rig.ping(router.gen, rig.SINK)


def test_announcements(router):
    """A new address is announced as often as asked."""
    router.m.tool("sysctl net.link.ether.inet.garp_rexmit_count=1")
    router.w0.flush()
    router.m.tool("ifconfig p0 inet 10.0.7.1/24 alias")
    for _ in range(2):
        frame = router.w0.wait(lambda f: ARP in f and
                               f[ARP].pdst == "10.0.7.1")
        assert (frame[ARP].psrc, frame.dst) == ("10.0.7.1", rig.BROADCAST)
    router.m.tool("sysctl net.link.ether.inet.garp_rexmit_count=0")
    router.m.tool("ifconfig p0 inet 10.0.7.1 delete")
